//! `report.html`, made by the real program: written or not, self-contained, the same bytes however it is made, and
//! clear words when the files of a run are broken.

use crate::common::cases::{Altered, BAR};
use crate::common::program::Place;
use std::fs;
use std::path::{Path, PathBuf};

/// A bar that hits a wall, small enough to run in a moment; its title would break a page that trusts it.
fn bar() -> String {
    BAR.altered("short bar", "A bar </script><b>&amp; {{plots}}")
        .altered("end = 0.5\nstep = 1e-2", "end = 1.0\nstep = 2e-3")
        .altered("from = [0.0], to = [10.0], elements = 10", "from = [1.0], to = [11.0], elements = 100")
        .altered("vtk = { every = 20 }", "")
}

/// Runs the bar into `out` of a fresh directory.
fn run(extra: &[&str]) -> (Place, PathBuf) {
    let place = Place::empty().with("bar.toml", &bar());
    place.good(&[&["run", "bar.toml", "-q", "-o", "out"], extra].concat());
    let out = place.path("out");
    (place, out)
}

fn page(out: &Path) -> String {
    fs::read_to_string(out.join("report.html")).unwrap()
}

#[test]
fn a_run_leaves_one_self_contained_page() {
    let (_dir, out) = run(&[]);
    let page = page(&out);
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    // The name space of SVG is a name, not an address that is fetched.
    let addresses: Vec<&str> =
        page.match_indices("http").map(|(at, _)| page[at..].split('"').next().unwrap()).collect();
    assert_eq!(addresses, ["http://www.w3.org/2000/svg"]);
    for fetching in ["@import", "url(h", "url(/", "src=", "fetch(", "XMLHttpRequest", "import("] {
        assert!(!page.contains(fetching), "{fetching}");
    }
    assert_eq!(page.matches("</script>").count(), 3, "the title must not end a script");
    assert!(page.contains("<h1>A bar &lt;/script&gt;&lt;b&gt;&amp;amp; {{plots}}</h1>"));
    for words in ["Looks sound", "The energy ledger closes to round-off", "generalized-alpha, rho_inf = 0.6"] {
        assert!(page.contains(words), "{words}");
    }
    for plot in ["energy", "ledger", "force", "gap", "probe-x", "probe-vx", "phase", "solver", "defect"] {
        assert!(page.contains(&format!("{{\"id\":\"{plot}\"")), "{plot}");
    }
}

#[test]
fn the_same_run_gives_the_same_bytes_and_so_does_the_report_command() {
    let ((_first, a), (dir, b)) = (run(&[]), run(&[]));
    assert!(page(&a) == page(&b), "two runs differ");
    assert_eq!(fs::read(a.join("animation.json")).unwrap(), fs::read(b.join("animation.json")).unwrap());
    fs::remove_file(b.join("report.html")).unwrap();
    let answer = dir.carom(&["report", "out"]);
    assert_eq!((answer.code, answer.err.trim_end()), (0, "wrote out/report.html"));
    assert!(page(&a) == page(&b), "the rebuilt page differs");
}

#[test]
fn without_frames_for_paraview_there_is_still_a_page() {
    let (dir, out) = run(&["--set", "output.vtk=false"]);
    assert!(!out.join("series.pvd").exists());
    let before = page(&out);
    assert_eq!(dir.carom(&["report", "out"]).code, 0);
    assert!(before == page(&out));
}

#[test]
fn the_report_can_be_switched_off() {
    let (dir, out) = run(&["--set", "output.report=false"]);
    assert!(!out.join("report.html").exists() && !out.join("animation.json").exists());
    assert_eq!(
        dir.bad(3, &["report", "out"]).trim_end(),
        "error: out/animation.json: there is no such file: the run was made with output.report = false; run the case \
         again without that"
    );
}

#[test]
fn broken_files_are_named() {
    let (dir, out) = run(&[]);
    let refuse = |name: &str, content: Option<&str>, code: i32, words: &str| {
        let path = out.join(name);
        let whole = fs::read(&path).unwrap();
        match content {
            Some(text) => fs::write(&path, text).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        assert_eq!(dir.bad(code, &["report", "out"]).trim_end(), format!("error: {words}"));
        fs::write(&path, whole).unwrap();
    };
    let absent = "No such file or directory (os error 2)";
    refuse("summary.json", None, 6, &format!("cannot read out/summary.json: {absent}"));
    refuse("history.csv", None, 6, &format!("cannot read out/history.csv: {absent}"));
    refuse("summary.json", Some("{"), 3, "out/summary.json: EOF while parsing an object at line 1 column 1");
    refuse("summary.json", Some("{}"), 3, "out/summary.json: `schema` is null, but this version reads 1");
    refuse("history.csv", Some("time\n0\nx\n"), 3, "out/history.csv:3: `x` in column `time` is not a number");
    let frames = fs::read_to_string(out.join("animation.json")).unwrap();
    let words = "out/animation.json: EOF while parsing a value at line 1 column 9";
    refuse("animation.json", Some(&frames[..9]), 3, words);
    let short = frames.replacen("\"u\":\"AAAA", "\"u\":\"", 1);
    let words = "out/animation.json: frame 0: `u` has 536 characters, but 540 are needed";
    refuse("animation.json", Some(&short), 3, words);
}

#[test]
fn frames_keep_the_impact_however_short() {
    // Of 10,000 steps one has the impact; the frames must show its impulse all the same.
    let ball = r#"
        format = 1
        time = { end = 1.0, step = 1e-4 }
        scheme = { name = "moreau-jean" }
        [[body]]
        name = "ball"
        element = "mass"
        at = [0.50005]
        mass = 2.0
        velocity = [-1.0]
        [[contact]]
        name = "wall"
        nodes = "ball"
        plane = { point = [0.0], normal = [1.0] }
        restitution = 0.5
    "#;
    let place = Place::empty().with("ball.toml", ball);
    place.good(&["run", "ball.toml", "-q", "-o", "out"]);
    let film: serde_json::Value = serde_json::from_str(&place.read("out/animation.json")).unwrap();
    let frames = film["frames"].as_array().unwrap();
    assert!((200..=300).contains(&frames.len()), "{} frames", frames.len());
    assert_eq!(frames.last().unwrap()["t"], 1.0);
    // The impulse is mass times velocity jump, 2·(1 + 0.5).
    let mut impulse = 0.0;
    for pair in frames.windows(2) {
        let span = pair[1]["t"].as_f64().unwrap() - pair[0]["t"].as_f64().unwrap();
        let pushes = pair[1]["c"].as_array().unwrap();
        impulse += pushes.iter().map(|push| push[1].as_f64().unwrap() * span).sum::<f64>();
    }
    assert!((impulse - 3.0).abs() < 1e-6, "{impulse}");
}
