//! One exit code for each kind of trouble; a failed run never exits with 0 and never leaves a summary.

use super::{Answer, BAR, Place, tree};
use crate::common::cases::Altered;

/// A ball falls into a groove and meets both sides at once: two coupled contacts.
const GROOVE: &str = r#"format = 1
time = { end = 0.5, step = 1e-2 }
scheme = { name = "moreau-jean" }
[[body]]
name = "ball"
element = "mass"
at = [0.0, 1.0]
mass = 1.0
velocity = [0.0, -3.0]
[[contact]]
name = "left"
nodes = "ball"
plane = { point = [0.0, 0.0], normal = [0.5, 0.8660254037844386] }
[[contact]]
name = "right"
nodes = "ball"
plane = { point = [0.0, 0.0], normal = [-0.5, 0.8660254037844386] }
[output]
vtk = false
"#;

/// Moreau–Jean far beyond its dissipation range: the first step doubles the energy, 0.5 to 1, as computed by hand
/// (q = 0.1, v = 1, impulse 3).
const GAINING: &str = r#"format = 1
time = { end = 1.0, step = 0.1, min_step = 0.1 }
scheme = { name = "moreau-jean", theta = 1.0 }
[[body]]
name = "ball"
element = "mass"
at = [0.0]
mass = 1.0
velocity = [-1.0]
[[body]]
name = "anchor"
element = "mass"
at = [1.0]
mass = 1.0
[[body]]
name = "link"
element = "spring"
between = ["ball", "anchor"]
stiffness = 100.0
rest_length = 1.0
[[support]]
name = "hold"
nodes = "anchor"
fix = ["x"]
[[contact]]
name = "wall"
nodes = "ball"
plane = { point = [0.0], normal = [1.0] }
restitution = 1.0
"#;

/// A mass that is above a peg at one instant and below it at the next.
const PEG: &str = r#"format = 1
time = { end = 0.01, step = 1e-3, min_step = 1e-3 }
scheme = { name = "moreau-jean" }
[[body]]
name = "shot"
element = "mass"
at = [0.0, 0.48]
velocity = [0.0, -90.0]
mass = 1.0
[[contact]]
name = "peg"
nodes = "shot"
circle = { centre = [0.0, 0.0], radius = 0.02 }
"#;

/// The bar from a mesh, with a load that follows a table.
const MESHED: &str = r#"format = 1
time = { end = 0.1, step = 1e-2 }
scheme = { name = "moreau-jean" }
[[body]]
name = "bar"
element = "bar"
mesh = "../meshes/bar.msh"
group = "bar"
material = { young = 900.0, density = 1.0 }
section = { area = 1.0 }
[[support]]
name = "wall"
nodes = "bar.start"
fix = ["x"]
[[load]]
name = "pull"
nodes = "bar.end"
force = [1.0]
time = { kind = "table", file = "pull.csv" }
"#;

const MESH: &str = include_str!("../../meshes/bar.msh");

fn with_mesh(mesh: &str, table: &str) -> Place {
    let place = Place::empty();
    place.write("cases/meshed.toml", MESHED);
    place.write("meshes/bar.msh", mesh);
    place.write("cases/pull.csv", table);
    place
}

#[test]
fn code_0_for_what_is_fine() {
    let place = with_mesh(MESH, "0,0\n0.1,1\n");
    place.good(&["run", "cases/meshed.toml"]);
    place.write("groove.toml", GROOVE);
    place.good(&["run", "groove.toml"]);
}

#[test]
fn code_2_for_usage() {
    let place = Place::with_bar();
    for (arguments, words) in [
        (&[][..], "Usage: carom"),
        (&["run"], "<CASE>"),
        (&["run", "bar.toml", "--colour"], "unexpected argument '--colour'"),
        (&["chek", "bar.toml"], "'check'"),
        (&["list", "schems"], "a similar value exists: 'schemes'"),
        (&["run", "bar.toml", "--color", "sometimes"], "[possible values: auto, always, never]"),
        (&["modes", "bar.toml", "--count", "0"], "0 is not in 1..=1000"),
    ] {
        let answer = place.carom(arguments);
        assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{arguments:?}");
        assert!(answer.err.contains(words), "{arguments:?}: {}", answer.err);
    }
    let answer = place.carom(&["test", "bar.toml"]);
    assert_eq!((answer.code, answer.err.as_str()), (2, "error: no case with an [expect] table was found\n"));
    assert_eq!(tree(place.root()), ["bar.toml"]);
}

#[test]
fn code_2_for_a_directory_that_is_not_empty() {
    let place = Place::with_bar();
    place.write("mine/notes.txt", "keep");
    let message = place.bad(2, &["run", "bar.toml", "-o", "mine"]);
    assert_eq!(
        message,
        "error: mine is not empty; choose another directory with -o, or replace the earlier run with --force\n"
    );
    assert_eq!(tree(&place.path("mine")), ["notes.txt"]);
    // What carom never wrote to is nothing that it may clear.
    let message = place.bad(2, &["run", "bar.toml", "-o", "mine", "--force"]);
    assert!(message.contains("not the directory of an earlier run"), "{message}");
    assert_eq!(tree(&place.path("mine")), ["notes.txt"]);
}

#[test]
fn code_3_for_a_bad_case_with_all_its_errors() {
    let place = Place::empty();
    place.write("bad.toml", &BAR.altered("step = 1e-2", "step = -1e-2").altered("young", "yung"));
    let message = place.bad(3, &["run", "bad.toml"]);
    assert!(message.contains("bad.toml:6:"), "{message}");
    assert!(message.contains("bad.toml:16:") && message.contains("did you mean `young`?"), "{message}");
    assert!(!place.path("out").exists());
    let message = place.bad(3, &["check", "bad.toml", "--set", "time.step=1e-2", "--set", "body.bar.sectoin=1"]);
    assert!(message.contains("--set 'body.bar.sectoin=1'") && message.contains("did you mean `section`?"), "{message}");
    assert!(!message.contains("bad.toml:6:"), "replaced by --set: {message}");
    // Too stiff for an explicit step: only the assembled model can tell.
    let set = ["--set", "scheme={ name = \"central-difference\" }", "--set", "time.step=0.1"];
    place.write("bar.toml", BAR);
    let message = place.bad(3, &[&["run", "bar.toml"][..], &set].concat());
    assert!(message.contains("time.step = 0.1 is unstable for scheme `central-difference`"), "{message}");
    assert!(!place.path("out").exists());
}

#[test]
fn code_3_for_a_bad_mesh_a_missing_group_and_a_bad_table() {
    let half = &MESH[..MESH.len() / 2];
    let message = with_mesh(half, "0,0\n").bad(3, &["run", "cases/meshed.toml"]);
    assert!(message.contains("meshes/bar.msh, line ") && message.contains("truncated"), "{message}");

    let place = with_mesh(MESH, "0,0\n0.1,1\n");
    let message = place.bad(3, &["run", "cases/meshed.toml", "--set", "body.bar.group=\"baar\""]);
    assert!(message.contains("there is no group `baar` (did you mean `bar`?)"), "{message}");
    let message = place.bad(3, &["run", "cases/meshed.toml", "--set", "body.bar.mesh=\"../meshes/none.msh\""]);
    assert!(message.contains("there is no file") && message.contains("none.msh"), "{message}");
    place.write("below/cases/meshed.toml", MESHED);
    place.write("below/cases/pull.csv", "0,0\n0.1,1\n");
    let outside = ["check", "below/cases/meshed.toml", "--set", "body.bar.mesh=\"../../meshes/bar.msh\""];
    let message = place.bad(3, &outside);
    assert!(message.contains("leads out of the directory above the case file's"), "{message}");
    place.good(&[&outside[..], &["--allow-outside"]].concat());

    let message = with_mesh(MESH, "0,0\n1,1\n1,2\n").bad(3, &["run", "cases/meshed.toml"]);
    assert!(message.contains("pull.csv:3: the first column must ascend, but 1 does not"), "{message}");
}

#[test]
fn a_case_that_cannot_run_costs_no_earlier_results() {
    let place = with_mesh(MESH, "0,0\n0.1,1\n");
    place.good(&["run", "cases/meshed.toml", "-o", "out"]);
    let before = tree(&place.path("out"));
    place.write("meshes/bar.msh", &MESH[..MESH.len() / 2]);
    place.bad(3, &["run", "cases/meshed.toml", "-o", "out", "--force"]);
    assert_eq!(tree(&place.path("out")), before);
}

#[test]
fn code_4_when_contact_is_not_solved() {
    let place = Place::empty();
    place.write("groove.toml", GROOVE);
    let one = "solver.contact={ method = \"pgs\", sweeps = 1 }";
    let message = place.bad(4, &["run", "groove.toml", "--set", one]);
    assert!(
        message.contains("contact not solved in step ") && message.contains("2 active contacts, 1 sweeps"),
        "{message}"
    );
    assert!(message.ends_with("  up to there: out/groove/history.csv\n"), "{message}");
    assert_eq!(tree(&place.path("out/groove")), ["animation.json", "checkpoint.bin", "history.csv", "manifest.json"]);
    // The last row is the last accepted step, before the groove at t = 1/3.
    let history = place.read("out/groove/history.csv");
    let time: f64 = history.lines().last().unwrap().split(',').nth(1).unwrap().parse().unwrap();
    assert!((0.3..=1.0 / 3.0 + 0.01).contains(&time), "{time}");
}

#[test]
fn code_5_when_a_guard_trips() {
    let place = Place::with_bar();
    place.write("gaining.toml", GAINING);
    let message = place.bad(5, &["run", "gaining.toml"]);
    assert!(message.contains("guard `energy`: step 1 (t = 0.1) gained 5.000e-1"), "{message}");
    assert!(message.contains("of the energy scale 1.000e0"), "{message}");
    assert!(!place.path("out/gaining/summary.json").exists());
    assert_eq!(place.read("out/gaining/history.csv").lines().count(), 2, "header and initial state");

    let moved = ["--set", "contact.wall.plane={ point = [-1.0], normal = [1.0] }", "--set", "time.min_step=1e-2"];
    let tight = ["--set", "guards.penetration={ fraction = 1e-3 }"];
    let message = place.bad(5, &[&["run", "bar.toml"][..], &moved, &tight].concat());
    assert!(message.contains("guard `penetration`: gap -") && message.contains("of contact `wall`"), "{message}");
    assert!(!place.path("out/bar/summary.json").exists());
    let loose = ["--set", "guards.penetration=false", "--force"];
    place.good(&[&["run", "bar.toml"][..], &moved, &loose].concat());

    place.write("peg.toml", PEG);
    let message = place.bad(5, &["run", "peg.toml"]);
    let words = "guard `crossing`: body `shot`, node 0 at (0, 0.48) passes through contact `peg` in step 6 (t = 0.006)";
    assert!(message.contains(words) && message.contains("a step of 2.2e-4 would do"), "{message}");
    assert!(!place.path("out/peg/summary.json").exists());
    place.good(&["run", "peg.toml", "--force", "--set", "time.step=2.2e-4", "--set", "time.min_step=2.2e-4"]);
    assert!(place.read("out/peg/summary.json").contains("\"episodes\": 1"));
}

#[test]
fn code_6_for_input_and_output() {
    let place = Place::with_bar();
    let message = place.bad(6, &["run", "absent.toml"]);
    assert!(message.starts_with("error: cannot open absent.toml: "), "{message}");
    let message = place.bad(6, &["run", "bar.toml", "-o", "bar.toml/below"]);
    assert!(message.starts_with("error: cannot create bar.toml/below: "), "{message}");
    let message = place.bad(6, &["new", "absent/first"]);
    assert!(message.starts_with("error: cannot create absent/first.toml: "), "{message}");
    assert_eq!(tree(place.root()), ["bar.toml"]);
}

/// A limit on the size of files stands for a disk that fills up: the frames fit, the history does not.
#[cfg(unix)]
#[test]
fn code_6_when_the_disk_is_full_in_the_middle_of_a_run() {
    let place = Place::with_bar();
    // With the signal ignored, a write beyond the limit is an error like any other.
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" run bar.toml --set time.step=1e-4";
    let answer = Answer::of(place.script(script).output().unwrap());
    assert_eq!((answer.code, answer.out.as_str()), (6, ""), "{}", answer.err);
    assert!(answer.err.starts_with("error: cannot write out/bar/"), "{}", answer.err);
    let left = tree(&place.path("out/bar"));
    assert!(!left.contains(&"summary.json".to_string()) && !left.iter().any(|name| name.ends_with(".tmp")), "{left:?}");
    let series = place.read("out/bar/series.pvd");
    assert!(series.ends_with("</VTKFile>\n"), "{series}");
    for (_, file) in super::files::frames(&series) {
        assert!(left.contains(&file), "{file} is listed but missing");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn code_6_when_standard_output_is_full() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let answer = Answer::of(Place::empty().command(&["list"]).stdout(full).output().unwrap());
    assert_eq!(answer.code, 6);
    assert!(answer.err.starts_with("error: cannot write standard output: "), "{}", answer.err);
}

#[test]
fn code_7_for_an_expectation_that_does_not_hold() {
    let place = Place::empty();
    place.write("a.toml", &format!("{BAR}\n[expect]\n\"energy@0\" = {{ value = 501.0, rel = 1e-6 }}\n"));
    let answer = place.carom(&["test", "a.toml"]);
    assert_eq!((answer.code, answer.err.as_str()), (7, "error: 1 expectation does not hold\n"));
    assert!(
        answer.out.contains("    FAILED energy@0 ") && answer.out.ends_with("\n0 passed, 1 failed\n"),
        "{}",
        answer.out
    );

    // The other cases are tested all the same; a broken one is counted and explained.
    place.write("b.toml", "fromat = 1\n");
    place.write("c.toml", &format!("{BAR}\n[expect]\n\"defect.max\" = {{ below = 1e-11 }}\n"));
    let answer = place.carom(&["test", "a.toml", "b.toml", "c.toml"]);
    assert_eq!(answer.code, 7);
    assert!(answer.out.ends_with("\n1 passed, 2 failed\n"), "{}", answer.out);
    assert!(
        answer.err.starts_with("b.toml:\nerror: ") && answer.err.contains("did you mean `format`?"),
        "{}",
        answer.err
    );
    assert!(answer.err.ends_with("\nerror: 1 expectation does not hold\n"), "{}", answer.err);
}

#[test]
fn a_case_that_cannot_be_tested_lends_its_own_code() {
    let place = Place::empty();
    place.write("bad.toml", "fromat = 1\n");
    place.write("gaining.toml", GAINING);
    for (code, file) in [(3, "bad.toml"), (5, "gaining.toml"), (6, "absent.toml")] {
        let answer = place.carom(&["test", file]);
        assert_eq!(answer.code, code, "{}", answer.err);
        assert!(answer.out.ends_with("did not run       FAILED\n\n0 passed, 1 failed\n"), "{}", answer.out);
        assert!(answer.err.starts_with(&format!("{file}:\nerror: ")), "{}", answer.err);
    }
}
