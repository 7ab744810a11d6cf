//! `carom converge` and `carom compare` as users meet them: the real binary, small settings.

use super::{Answer, Place};
use crate::common::at_root;
use crate::common::program::{files, tree};

/// Runs the program on a shipped case.
fn carom(place: &Place, command: &str, case: &str, arguments: &[&str]) -> Answer {
    let case = at_root("cases").join(case);
    place.carom(&[&[command, case.to_str().unwrap()], arguments].concat())
}

/// Rows of a CSV file without quotes in numbers; the first is the header.
fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split(',').map(str::to_string).collect()).collect()
}

/// The number in the row that begins with `key`, in the column of that name.
fn number(text: &str, key: &str, column: &str) -> f64 {
    let rows = rows(text);
    let k = rows[0].iter().position(|name| name == column).expect(column);
    let row = rows.iter().find(|row| row[0] == key).expect(key);
    row[k].parse().unwrap_or_else(|_| panic!("{key}, {column}: `{}`", row[k]))
}

/// The lowest wave of a free bar, smooth everywhere: the shape of a pulse that is as wide as the bar is long.
const STANDING_WAVE: &str = "initial=[{ nodes = \"bar\", displacement = { kind = \"pulse\", direction = [1.0], \
                             amplitude = 0.1, centre = 0.0, width = 10.0 } }]";

/// The trapezoidal rule with step and mesh refined together is of order two; the staircase of the velocity is of order
/// one.
#[test]
fn a_smooth_problem_shows_order_two() {
    let dir = Place::empty();
    let lists = ["--steps", "5e-2,2.5e-2,1.25e-2", "--elements", "20,40,80", "--set", STANDING_WAVE, "-o", "study"];
    let answer = carom(&dir, "converge", "free-bar.toml", &lists);
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert!(answer.out.contains("probe.left.x against the exact solution (free bar)"), "{}", answer.out);
    let csv = dir.read("study/converge.csv");
    for column in ["position_l1", "position_l2", "position_max", "position_graph", "velocity_l2", "velocity_max"] {
        let order = number(&csv, "order", column);
        assert!((order - 2.0).abs() < 0.1, "{column}: {order}\n{csv}");
    }
    let staircase = number(&csv, "order", "velocity_graph");
    assert!((staircase - 1.0).abs() < 0.1, "{staircase}");
    assert_eq!(number(&csv, "2", "elements"), 40.0);
    let names: Vec<String> = tree(&dir.path("study"));
    assert_eq!(names, ["converge.csv", "error.png", "error.svg", "manifest.json", "work.png", "work.svg"]);
    assert!(dir.read("study/error.svg").contains("position L2 (order "));
}

/// Impacts fall inside steps: order one, also in the distance of graphs, while the largest error of the velocity stays
/// of the size of the jump.
#[test]
fn impacts_cost_an_order_but_graphs_converge() {
    let dir = Place::empty();
    let answer = carom(&dir, "converge", "impacting-oscillator.toml", &["--steps", "1.7e-2,7.3e-3,3.1e-3,1.3e-3"]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let csv = dir.read("out/impacting-oscillator-converge/converge.csv");
    for column in ["position_l1", "position_graph", "velocity_graph"] {
        let order = number(&csv, "order", column);
        assert!((0.6..1.5).contains(&order), "{column}: {order}\n{csv}");
    }
    // A jump is (1 + e) omega at the first impact; one instant late is wrong by most of it.
    assert!(number(&csv, "4", "velocity_max") > 1.0, "{csv}");
    assert!(number(&csv, "4", "velocity_graph") < 0.1, "{csv}");
}

#[test]
fn without_an_exact_solution_the_finest_run_is_the_reference() {
    let dir = Place::empty();
    let steps = ["--steps", "4e-3,2e-3,5e-4", "--set", "body.ball.velocity=[0.1]"];
    let answer = carom(&dir, "converge", "bouncing-ball.toml", &steps);
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert!(answer.out.contains("probe.ball.x against the finest run"), "{}", answer.out);
    assert!(answer.out.contains("(reference)"), "{}", answer.out);
    let csv = dir.read("out/bouncing-ball-converge/converge.csv");
    assert!(number(&csv, "1", "position_l1") > number(&csv, "2", "position_l1"));
    assert_eq!(rows(&csv)[3][7], "", "the reference has no error");
}

/// Central differences are unstable beyond the transit time of an element, 5e-3 at most.
#[test]
fn a_run_that_fails_does_not_stop_the_others() {
    let dir = Place::empty();
    let scheme = "scheme={ name = \"central-difference\" }";
    let lists = ["--steps", "1e-2,1e-3,5e-4", "--set", scheme, "--set", "time.end=0.2", "--set", "expect={}"];
    let answer = carom(&dir, "converge", "free-bar.toml", &lists);
    assert_eq!(answer.code, 1, "{}", answer.err);
    assert!(
        answer.out.contains("failed: time.step = 0.01 is unstable for scheme `central-difference`"),
        "{}",
        answer.out
    );
    assert!(answer.err.contains("error: 1 of 3 runs failed; the table says which"), "{}", answer.err);
    let csv = rows(&dir.read("out/free-bar-converge/converge.csv"));
    assert_eq!([&csv[1][1], &csv[2][1], &csv[3][1]], ["failed", "ok", "ok"]);
    assert!(csv.iter().all(|row| row.len() == csv[0].len()), "{csv:?}");

    let schemes = ["--scheme", "newmark", "--scheme", "central-difference", "--set", "time.step=1e-2", "-o", "two"];
    let answer = carom(&dir, "compare", "free-bar.toml", &schemes);
    assert_eq!(answer.code, 1, "{}", answer.err);
    assert!(answer.out.contains("   B  central-difference  failed: time.step"), "{}", answer.out);
    assert!(dir.read("two/compare.html").contains("central-difference failed: time.step"));
}

/// Coarse, so that it is quick: a hundred elements, and a step of about a transit time.
const COARSE: [&str; 4] = ["--set", "body.bar.line.elements=100", "--set", "time.step=3.1e-3"];

#[test]
fn schemes_stand_side_by_side() {
    let dir = Place::empty();
    let schemes = ["--scheme", "moreau-jean", "--scheme", "name = \"generalized-alpha\", rho_inf = 0.6", "-o", "c"];
    let answer = carom(&dir, "compare", "impacting-bar.toml", &[&COARSE[..], &schemes].concat());
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert!(answer.out.contains("errors against the exact solution (bar hits a wall)"), "{}", answer.out);
    assert!(
        answer.out.contains("   A  moreau-jean theta=0.5\n   B  generalized-alpha rho_inf=0.6\n"),
        "{}",
        answer.out
    );
    assert!(answer.out.contains("microseconds per step"));
    let csv = dir.read("c/compare.csv");
    let value = |scheme: &str, column| number(&csv, scheme, column);
    let (plain, damped) = ("\"moreau-jean theta=0.5\"", "\"generalized-alpha rho_inf=0.6\"");
    // Exact: the midpoint rule loses nothing itself, and every joule is accounted for: 500 at the start.
    assert!(value(plain, "lost_scheme").abs() < 1e-9);
    for scheme in [plain, damped] {
        let lost = value(scheme, "lost_contact") + value(scheme, "lost_scheme");
        assert!((500.0 - lost - value(scheme, "energy_final")).abs() < 1e-8);
    }
    // Exact: 300 until 7/6. The damped scheme follows it; the midpoint rule rings.
    assert!((value(damped, "force_plateau") - 300.0).abs() < 1.0);
    assert!(value(plain, "force_roughness") > 10.0 * value(damped, "force_roughness"));
    assert!(value(plain, "force_l1") < 0.05 && value(damped, "force_l1") < 0.05);
    assert!((value(damped, "release") - 7.0 / 6.0).abs() < 0.02);
    // Late by at most two steps and slower by at most 2 % from then on, over 1.8.
    assert!(value(damped, "position_graph") < 0.062 + 0.36);
    let names: Vec<String> = tree(&dir.path("c"));
    assert_eq!(
        names,
        [
            "compare.csv",
            "compare.html",
            "energy.png",
            "energy.svg",
            "force.png",
            "force.svg",
            "manifest.json",
            "position.png",
            "position.svg",
            "velocity.png",
            "velocity.svg"
        ]
    );
    let page = dir.read("c/compare.html");
    assert!(page.matches("<svg ").count() == 4 && !page.contains("microseconds"));
    assert!(dir.read("c/force.svg").contains(">exact</text>"));
}

#[test]
fn without_schemes_the_bar_gets_those_of_the_paper() {
    let dir = Place::empty();
    let answer = carom(
        &dir,
        "compare",
        "impacting-bar.toml",
        &[&COARSE[..], &["--set", "time.end=0.7", "--set", "expect={}"]].concat(),
    );
    assert_eq!(answer.code, 0, "{}", answer.err);
    let csv = rows(&dir.read("out/impacting-bar-compare/compare.csv"));
    let schemes: Vec<&str> = csv[1..].iter().map(|row| row[0].trim_matches('"')).collect();
    assert_eq!(
        schemes,
        [
            "generalized-alpha rho_inf=0.6",
            "moreau-jean theta=1",
            "newmark gamma=1 beta=0.5625",
            "moreau-jean theta=1; time.step=2e-4",
            "moreau-jean theta=1; time.step=2e-5"
        ]
    );
    let other =
        carom(&dir, "compare", "free-bar.toml", &["--set", "time.end=0.05", "--set", "expect={}", "-o", "free"]);
    assert!(other.out.contains("   A  newmark gamma=0.5 beta=0.25\n   B  moreau-jean theta=1\n\n"), "{}", other.out);
}

#[test]
fn an_entry_may_have_overrides_of_its_own() {
    let dir = Place::empty();
    let schemes = ["--scheme", "; time.step=4e-3", "--scheme", "moreau-jean; time.step=2e-3", "-o", "o"];
    let answer = carom(&dir, "compare", "bouncing-ball.toml", &schemes);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let csv = dir.read("o/compare.csv");
    assert_eq!(number(&csv, "\"moreau-jean theta=0.5; time.step=4e-3\"", "steps"), 900.0);
    assert_eq!(number(&csv, "\"moreau-jean theta=0.5; time.step=2e-3\"", "steps"), 1800.0);
}

#[test]
fn the_files_do_not_depend_on_the_number_of_threads() {
    let dir = Place::empty();
    let ball = ["--steps", "2e-2,1.1e-2,6e-3"];
    for threads in ["1", "2"] {
        let out = format!("c{threads}");
        let steps = [&ball[..], &["--threads", threads, "-o", &out]].concat();
        assert_eq!(carom(&dir, "converge", "bouncing-ball.toml", &steps).code, 0);
        let out = format!("s{threads}");
        let schemes = ["--threads", threads, "-o", &out, "--set", "time.end=0.6", "--set", "expect={}"];
        assert_eq!(carom(&dir, "compare", "impacting-bar.toml", &[&COARSE[..], &schemes].concat()).code, 0);
    }
    assert_eq!(files(&dir.path("c1")), files(&dir.path("c2")));
    assert_eq!(files(&dir.path("s1")), files(&dir.path("s2")));
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let dir = Place::empty();
    let told = |code: i32, command: &str, case: &str, arguments: &[&str]| {
        let answer = carom(&dir, command, case, arguments);
        assert_eq!((answer.code, answer.out.as_str()), (code, ""), "{arguments:?}: {}", answer.err);
        answer.err
    };
    let typo = told(3, "compare", "impacting-bar.toml", &["--scheme", "newmark", "--scheme", "moreau-jaen"]);
    assert!(typo.contains("did you mean `moreau-jean`?"), "{typo}");
    let key = told(3, "compare", "impacting-bar.toml", &["--scheme", "name = \"newmark\", gama = 1.0"]);
    assert!(key.contains("did you mean `gamma`?"), "{key}");
    let probe = told(2, "converge", "free-bar.toml", &["--steps", "1e-2", "--probe", "top"]);
    assert!(probe.contains("there is no probe `top`\n  allowed: left, right, bump"), "{probe}");
    let step = told(3, "converge", "free-bar.toml", &["--steps", "1e-2,-1"]);
    assert!(step.contains("time.step"), "{step}");
    told(2, "converge", "free-bar.toml", &[]);
    told(2, "converge", "free-bar.toml", &["--steps", "x"]);
    let mesh = told(2, "converge", "bouncing-ball.toml", &["--elements", "2,4"]);
    assert!(mesh.contains("--elements needs a body with a line"), "{mesh}");
    let uneven = told(2, "converge", "free-bar.toml", &["--steps", "1e-2,1e-3", "--elements", "10"]);
    assert!(uneven.contains("--steps has 2 values and --elements 1"), "{uneven}");
    assert_eq!(std::fs::read_dir(dir.root()).unwrap().count(), 0, "nothing was written");
}

#[test]
fn an_earlier_study_is_replaced_only_by_force() {
    let dir = Place::empty();
    let arguments = ["--steps", "2e-2,1e-2", "-o", "s"];
    assert_eq!(carom(&dir, "converge", "bouncing-ball.toml", &arguments).code, 0);
    let refused = carom(&dir, "converge", "bouncing-ball.toml", &arguments);
    assert!(refused.code == 2 && refused.err.contains("--force"), "{}", refused.err);
    assert_eq!(carom(&dir, "converge", "bouncing-ball.toml", &[&arguments[..], &["--force"]].concat()).code, 0);
}

#[test]
fn without_schemes_the_rotating_beam_gets_those_of_the_paper() {
    let dir = Place::empty();
    let answer = carom(&dir, "compare", "rotating-beam.toml", &["--set", "time.end=2e-3", "--set", "expect={}"]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let csv = rows(&dir.read("out/rotating-beam-compare/compare.csv"));
    let schemes: Vec<&str> = csv[1..].iter().map(|row| row[0].trim_matches('"')).collect();
    assert_eq!(
        schemes,
        [
            "generalized-alpha rho_inf=0.65",
            "moreau-jean theta=1",
            "newmark gamma=1 beta=0.5625",
            "moreau-jean theta=1; time.step=2e-5",
            "moreau-jean theta=1; time.step=1e-5"
        ]
    );
}

/// On one grid the error of the oscillator depends on where in a step its impacts fall; shifted grids take the mean.
#[test]
fn shifted_grids_show_order_one() {
    let dir = Place::empty();
    let lists = ["--steps", "1.1e-2,5.5e-3,2.7e-3,1.4e-3", "--shifts", "8"];
    let answer = carom(&dir, "converge", "impacting-oscillator.toml", &lists);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let csv = dir.read("out/impacting-oscillator-converge/converge.csv");
    for column in ["position_l1", "position_l2", "velocity_graph"] {
        let order = number(&csv, "order", column);
        assert!((order - 1.0).abs() < 0.15, "{column}: {order}\n{csv}");
    }
    assert_eq!(rows(&csv).len(), 1 + 4 * 8 + 1);
    for (level, first) in [("1", 1.0), ("3", 0.75), ("9", 1.0)] {
        assert!((number(&csv, level, "first") - first).abs() < 1e-12, "{csv}");
    }
    assert_eq!(number(&csv, "3", "step"), 1.1e-2);
}

#[test]
fn pictures_are_png_and_the_same_for_any_number_of_threads() {
    let dir = Place::empty();
    let run = |threads: &str, out: &str| {
        let set = ["--set", "time.end=0.05", "--set", "expect={}", "--threads", threads, "-o", out];
        assert_eq!(carom(&dir, "compare", "free-bar.toml", &set).code, 0);
        files(&dir.path(out))
    };
    let (one, two) = (run("1", "one"), run("2", "two"));
    assert_eq!(one, two);
    let picture = &one.iter().find(|file| file.0 == "energy.png").unwrap().1;
    assert_eq!(picture[..8], *b"\x89PNG\r\n\x1a\n");
    // Width at twice the 760 units of the SVG.
    assert_eq!(u32::from_be_bytes(picture[16..20].try_into().unwrap()), 1520);
}
