//! Films, made by the real program: what they show, that their bytes are always the same, which files they leave and
//! remove, and clear words where there is nothing to be filmed.

use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};
use tiny_skia::Pixmap;

/// A bar that hits a wall at t = 0.1 and leaves it 2 L/c = 2/3 later, small enough to run in a moment.
const BAR: &str = r#"
format = 1
title = "A bar"
[time]
end = 1.0
step = 2e-3
[scheme]
name = "generalized-alpha"
rho_inf = 0.6
[[body]]
name = "bar"
element = "bar"
line = { from = [1.0], to = [11.0], elements = 100 }
material = { young = 900.0, density = 1.0 }
section = { area = 1.0 }
velocity = [-10.0]
[[contact]]
name = "wall"
nodes = "bar.start"
plane = { point = [0.0], normal = [1.0] }
"#;

/// A clamped beam, and a ball that flies away, a hundred times as far as the beam is long.
const LOST: &str = r#"
format = 1
[time]
end = 1.0
step = 1e-2
[scheme]
name = "generalized-alpha"
rho_inf = 0.6
[[body]]
name = "beam"
element = "beam"
line = { from = [0.0, 0.0], to = [1.0, 0.0], elements = 4 }
material = { young = 2.1e11, poisson = 0.3, density = 7800.0 }
section = { shape = "rectangle", width = 0.01, height = 0.01 }
[[body]]
name = "ball"
element = "mass"
at = [0.5, 0.2]
mass = 1.0
velocity = [100.0, 30.0]
[[support]]
name = "clamp"
nodes = "beam.start"
fix = ["x", "y", "theta"]
[output]
vtk = false
"#;

/// Colour of contact forces.
const FORCE: [u8; 3] = [0x9c, 0x36, 0xb5];
/// Colour of what is in the middle of a scale.
const MIDDLE: [u8; 3] = [0xc5, 0xcc, 0xd6];

fn carom(arguments: &[&str], dir: &Path) -> (i32, String) {
    let mut command = Command::cargo_bin("carom").unwrap();
    let output = command.args(arguments).current_dir(dir).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn good(arguments: &[&str], dir: &Path) {
    let (code, words) = carom(arguments, dir);
    assert_eq!(code, 0, "{arguments:?}: {words}");
}

/// Runs a case into `out` of a fresh directory.
fn run(case: &str, extra: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("case.toml"), case).unwrap();
    good(&[&["run", "case.toml", "-q", "-o", "out", "--set", "output.vtk=false"], extra].concat(), dir.path());
    let out = dir.path().join("out");
    (dir, out)
}

/// Names in a directory.
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn listed(out: &Path) -> Vec<String> {
    let manifest: serde_json::Value = serde_json::from_slice(&fs::read(out.join("manifest.json")).unwrap()).unwrap();
    let files = manifest["files"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_string());
    files.filter(|name| name.starts_with("film")).collect()
}

/// Columns in which a picture has a colour, and in how many pixels.
fn columns(picture: &Pixmap, color: [u8; 3]) -> (Vec<usize>, usize) {
    let pixels = picture.pixels().iter().enumerate();
    let same = pixels.filter(|(_, pixel)| [pixel.red(), pixel.green(), pixel.blue()] == color);
    let mut found: Vec<usize> = same.map(|(k, _)| k % picture.width() as usize).collect();
    let count = found.len();
    found.sort();
    found.dedup();
    (found, count)
}

fn picture(out: &Path, k: usize) -> Pixmap {
    Pixmap::load_png(out.join(format!("film/{k:06}.png"))).unwrap()
}

#[test]
fn a_gif_moves_and_has_the_same_bytes_every_time() {
    let (dir, out) = run(BAR, &[]);
    let (code, words) = carom(&["film", "out"], dir.path());
    assert_eq!((code, words.as_str()), (0, "wrote out/film.gif\n"));
    let bytes = fs::read(out.join("film.gif")).unwrap();
    let mut decoder = gif::DecodeOptions::new().read_info(&bytes[..]).unwrap();
    assert_eq!((decoder.width(), decoder.height(), decoder.repeat()), (800, 450, gif::Repeat::Infinite));
    let (mut count, mut hundredths, mut moving) = (0, 0, 0);
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        (count, hundredths) = (count + 1, hundredths + u32::from(frame.delay));
        moving += u32::from(frame.width > 100 && frame.height > 20);
    }
    // Six seconds, and a pause at the end.
    assert_eq!((count, hundredths), (120, 700));
    assert!(moving > 110, "{moving}");
    assert!(bytes.len() < 1_000_000, "{}", bytes.len());
    good(&["film", "out", "-q"], dir.path());
    assert!(bytes == fs::read(out.join("film.gif")).unwrap(), "the second film differs");
    let (_other, again) = run(BAR, &["--set", "output.film={}", "--set", "output.report=false"]);
    assert!(bytes == fs::read(again.join("film.gif")).unwrap(), "the film of the run differs");
    let files = ["animation.json", "checkpoint.last.bin", "film.gif", "history.csv", "manifest.json", "summary.json"];
    assert_eq!(names(&again), files, "a film needs no report");
}

#[test]
fn pictures_show_the_motion_and_the_force() {
    let (dir, out) = run(BAR, &[]);
    good(&["film", "out", "-q", "--format", "png", "--frames", "11", "--size", "1000x500"], dir.path());
    assert_eq!(names(&out.join("film")).len(), 11);
    let first = picture(&out, 0);
    assert_eq!((first.width(), first.height()), (1000, 500));
    // The bar is without force at first, at its place, and as long as it is: ten of the eleven units between the wall and
    // its end.
    let (bar, _) = columns(&first, MIDDLE);
    let bar: Vec<usize> = bar.windows(2).filter(|pair| pair[1] == pair[0] + 1).map(|pair| pair[0]).collect();
    let (left, right) = (bar[0].min(*bar.last().unwrap()), *bar.last().unwrap());
    assert!(right > left + 400, "{left} {right}");
    // A force at t = 0.2 to 0.7, not at 0 and 1; all are means over the time since the frame before.
    for (k, pushed) in [(0, false), (2, true), (4, true), (7, true), (10, false)] {
        let (_, count) = columns(&picture(&out, k), FORCE);
        assert_eq!(count > 100, pushed, "picture {k}: {count} pixels of force");
    }
}

#[test]
fn a_ball_that_flies_away_does_not_make_the_structure_small() {
    let (dir, out) = run(LOST, &[]);
    good(&["film", "out", "-q", "--format", "png", "--frames", "3"], dir.path());
    for k in 0..3 {
        let (beam, _) = columns(&picture(&out, k), MIDDLE);
        let wide = beam.last().unwrap() - beam[0];
        assert!(wide > 250, "picture {k}: the beam is {wide} pixels long");
    }
}

#[test]
fn a_film_takes_the_place_of_the_last_one_and_force_removes_it() {
    let (dir, out) = run(BAR, &[]);
    let base = names(&out);
    good(&["film", "out", "-q", "--format", "png", "--frames", "5", "--size", "64x64"], dir.path());
    good(&["film", "out", "-q", "--frames", "2", "--size", "64x64"], dir.path());
    fs::write(out.join("film/mine.png"), "mine").unwrap();
    // What a killed process left of a picture goes with it.
    fs::write(out.join("film/.000004.png.tmp"), "half").unwrap();
    assert_eq!(listed(&out).len(), 6);
    good(&["film", "out", "-q", "--format", "png", "--frames", "3", "--size", "64x64"], dir.path());
    assert_eq!(names(&out.join("film")), ["000000.png", "000001.png", "000002.png", "mine.png"]);
    assert_eq!(listed(&out), ["film.gif", "film/000000.png", "film/000001.png", "film/000002.png"]);
    good(&["run", "case.toml", "-q", "-o", "out", "--force", "--set", "output.vtk=false"], dir.path());
    assert_eq!(names(&out.join("film")), ["mine.png"]);
    fs::remove_dir_all(out.join("film")).unwrap();
    assert_eq!(names(&out), base);
}

#[test]
fn what_cannot_be_filmed_is_refused_with_its_reason() {
    let (dir, out) = run(BAR, &[]);
    let root = dir.path();
    let refused = |code: i32, arguments: &[&str], wanted: &str| {
        let (found, words) = carom(arguments, root);
        assert_eq!(found, code, "{arguments:?}: {words}");
        assert!(words.contains(wanted), "{arguments:?}: {words}");
    };
    refused(6, &["film", "nowhere"], "nowhere");
    fs::create_dir(root.join("empty")).unwrap();
    refused(3, &["film", "empty"], "empty/summary.json: there is no such file, so that this is no complete run");
    for size in ["800", "63x64", "800x4097", "ax9", "-3x4"] {
        refused(2, &["film", "out", &format!("--size={size}")], "each from 64 to 4096 pixels, as in 800x450");
    }
    refused(2, &["film", "out", "--frames", "1"], "an integer from 2 to 10000");
    refused(2, &["film", "out", "--format", "mp4"], "[possible values: gif, png]");
    let short = ["run", "case.toml", "-q", "--max-wall", "0", "-o"];
    assert_eq!(carom(&[&short[..], &["stopped"]].concat(), root).0, 8);
    refused(3, &["film", "stopped"], "stopped/summary.json: there is no such file");
    good(&["run", "case.toml", "-q", "-o", "bare", "--set", "output.report=false", "--set", "output.vtk=false"], root);
    refused(
        3,
        &["film", "bare"],
        "bare/animation.json: there is no such file: the run was made with output.report = false",
    );
    // A film of the user's own stays.
    fs::write(out.join("film.gif"), "mine").unwrap();
    refused(2, &["film", "out"], "out/film.gif is there, and carom did not write it");
    assert_eq!(fs::read(out.join("film.gif")).unwrap(), b"mine");
    fs::remove_file(out.join("film.gif")).unwrap();
    let text = fs::read_to_string(out.join("animation.json")).unwrap();
    for (from, to, wanted) in [
        ("\"dimension\":1", "\"dimension\":3", "`dimension` is 3"),
        ("\"u\":\"AAAA", "\"u\":\"!AAA", "frame 0: `u`: Invalid symbol"),
        ("\"nodes\":[0,101]", "\"nodes\":[1,101]", "body `bar` has 101 nodes from 1 on, but there are 101"),
        ("\"t\":0.0", "\"t\":7.0", "frame 1: its time"),
        ("]}\n", "", "EOF"),
    ] {
        assert!(text.contains(from), "{from}");
        fs::write(out.join("animation.json"), text.replacen(from, to, 1)).unwrap();
        refused(3, &["film", "out"], wanted);
        refused(3, &["film", "out"], "out/animation.json: ");
    }
    assert_eq!(listed(&out), [""; 0], "nothing is listed that was not made");
}

#[test]
fn a_case_says_what_its_film_is() {
    let set = "output.film={ format = \"png\", frames = 4, size = [120, 80] }";
    let (dir, out) = run(BAR, &["--set", set]);
    assert_eq!(names(&out.join("film")), [0, 1, 2, 3].map(|k| format!("{k:06}.png")));
    let before = fs::read(out.join("film/000002.png")).unwrap();
    good(&["film", "out", "-q"], dir.path());
    assert!(before == fs::read(out.join("film/000002.png")).unwrap(), "made as the case says");
    assert!(!out.join("film.gif").exists());
    for (film, wanted) in [
        ("{ size = [10, 10] }", "`output.film.size` must be a list of 2 integers from 64 to 4096"),
        ("{ size = [100] }", "`output.film.size` must be a list of 2 integers"),
        ("{ frames = 1 }", "`output.film.frames` must be an integer from 2 to 10000"),
        ("{ format = \"mp4\" }", "`gif`, `png`"),
    ] {
        let (code, words) = carom(&["check", "case.toml", "--set", &format!("output.film={film}")], dir.path());
        assert_eq!(code, 3, "{words}");
        assert!(words.contains(wanted), "{words}");
    }
}
