//! What carom says of a run: words, counts, pictures and advice that misled.

use crate::common::cases::{self, Altered};
use crate::common::history::{load, shipped, try_run};
use crate::common::program::Place;
use carom::run::{RunOptions, prepare, run};
use carom::sinks::{Record, Sink};
use carom::studies::Wish;
use carom::studies::compare::compare;
use carom::summary::Summary;

/// A bar of ten elements that flies against a wall.
fn bar() -> String {
    cases::BAR
        .altered("name = \"generalized-alpha\"\nrho_inf = 0.6", "name = \"newmark\"")
        .altered("from = [0.0], to = [10.0]", "from = [0.05], to = [10.05]")
        .altered("vtk = { every = 20 }", "")
}

/// A ball that falls beside or on something; what it is follows.
const BALL: &str = r#"
    format = 1
    gravity = [0.0, -10.0]
    time = { end = 1.0, step = 1e-2 }
    scheme = { name = "moreau-jean" }
    [[body]]
    name = "ball"
    element = "mass"
    at = [0.0, 1.0]
    mass = 1.0
    velocity = [1e-3, 0.0]
    [[probe]]
    name = "ball"
    node = "ball"
"#;

struct Nothing;

impl Sink for Nothing {
    fn record(&mut self, _: &Record) -> carom::Result<()> {
        Ok(())
    }
}

/// Summary and report of a run.
fn summary(text: &str, set: &[&str]) -> (Summary, String) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let options = RunOptions { force: false, from: None, branch: None, stop: &|| None, extra: &mut Nothing };
    let summary = run(&load(text, set), &out, options).unwrap_or_else(|error| panic!("{error}"));
    (summary, std::fs::read_to_string(out.join("report.html")).unwrap())
}

/// The line of a table that begins with a label.
fn line<'a>(table: &'a str, label: &str) -> &'a str {
    let found = table.lines().find_map(|line| line.trim().strip_prefix(label));
    found.unwrap_or_else(|| panic!("no `{label}` in\n{table}")).trim()
}

#[test]
fn verbose_counted_no_active_set_solves() {
    let place = Place::empty().with("bar.toml", &bar());
    let text = place.good(&["run", "bar.toml", "-v", "--set", "solver.contact.method='active-set'"]);
    let solves = line(&text, "contact solves");
    assert!(
        solves.starts_with("closed form 0, Gauss-Seidel 0, active set 50") && solves.contains("enumeration 0"),
        "{solves}"
    );
}

/// Two balls of radius 0.1 that meet head-on: no node is declared, a search finds the pair.
#[test]
fn contacts_that_are_searched_for_were_no_candidates() {
    let text = format!(
        "{BALL}
        [[body]]
        name = \"other\"
        element = \"mass\"
        at = [0.0, 0.0]
        mass = 1.0
        velocity = [0.0, 1.0]
        [[contact]]
        name = \"pair\"
        between = [\"ball\", \"other\"]
        radius = 0.1
        "
    );
    assert_eq!(summary(&text, &[]).0.candidates, 1);
    assert_eq!(summary(&bar(), &[]).0.candidates, 1, "declared ones count as before");
    assert_eq!(summary(BALL, &[]).0.candidates, 0);
}

/// With e = 0.5 and steps of 1e-2 a ball bounces several times for one step each and then stays: the longest episode is the
/// last one with the weight 10 as its plateau, the global peak is that of the first impact.
#[test]
fn the_contact_line_gave_the_longest_episode_the_peak_of_another() {
    let floor = "[[contact]]\nname = \"floor\"\nnodes = \"ball\"\nplane = { point = [0.0, 0.0], normal = [0.0, 1.0] }\n\
                 restitution = 0.5\n";
    let (summary, report) = summary(&format!("{BALL}\n{floor}"), &["time.end=4.0"]);
    let contact = &summary.contacts["floor"];
    let number = |key: &str| contact[key].as_f64().unwrap();
    let episodes = contact["episodes"].as_u64().unwrap();
    assert!(episodes > 3, "{contact}");
    // m (1 + e) √(2 g H) / h, H the height of the fall; the fall lasts up to a step longer.
    assert!((number("peak") - 1.5 * 20f64.sqrt() / 1e-2).abs() < 1.5 * 10.0, "{contact}");
    assert!((number("peak_time") - 0.2f64.sqrt()).abs() < 2e-2, "{contact}");
    assert!(number("longest_peak") < 0.1 * number("peak") && number("release") == 4.0, "{contact}");
    let table = summary.table();
    let said = line(&table, "contact floor");
    assert!(said.starts_with(&format!("closed {episodes} times, the longest ")), "{said}");
    assert!(said.contains(" with a peak of "), "{said}");
    assert!(line(&table, "force").starts_with("peak 6") && line(&table, "force").contains(" at 0.4"), "{table}");
    assert!(report.contains(&format!("Contact floor closed {episodes} times, the longest from ")), "no such finding");
    let expected = load(
        &format!("{BALL}\n{floor}\n[expect]\n\"contact.floor.episodes\" = {{ value = {episodes}, abs = 0 }}"),
        &["time.end=4.0"],
    );
    assert_eq!(expected.case.expect.len(), 1, "episodes can be expected");
}

/// The tip load 1e-3 follows a jack that lowers the tip: the load gives, the support takes.
#[test]
fn a_loss_to_supports_was_called_from_supports() {
    let text = r#"
        format = 1
        analysis = "static"
        time = { end = 1.0, step = 0.25 }
        scheme = { name = "newmark" }
        [[body]]
        name = "beam"
        element = "linear-beam"
        line = { from = [0.0, 0.0], to = [1.0, 0.0], elements = 3 }
        material = { young = 1.0, shear = 1.0, density = 1.0 }
        section = { area = 1e4, inertia = 1.0, shear_area = 20.0 }
        [[support]]
        name = "clamp"
        nodes = "beam.start"
        fix = ["x", "y", "theta"]
        [[support]]
        name = "jack"
        nodes = "beam.end"
        motion = { y = { kind = "ramp", to = -1e-5, end = 1.0 } }
        [[load]]
        name = "tip"
        nodes = "beam.end"
        force = [0.0, -1e-3]
        "#;
    let (summary, report) = summary(text, &[]);
    let table = summary.table();
    assert!(summary.energy["work_support"].as_f64().unwrap() < 0.0, "{}", summary.energy);
    assert!(line(&table, "from loads").starts_with("1.0000e-8"), "{table}");
    assert!(!line(&table, "to supports").starts_with('-'), "{table}");
    assert!(report.contains(" came from loads, ") && report.contains(" went to supports"), "the report too");
}

/// With γ = ½ and β > ¼ the energy lags by ¼ h² (2β − γ) M a²: a mass released on its spring has gained that by the time its
/// acceleration vanishes.
#[test]
fn compare_called_a_gain_a_loss() {
    let text = r#"
        format = 1
        time = { end = 1.6, step = 0.1 }
        scheme = { name = "newmark", gamma = 0.5, beta = 0.4 }
        [[body]]
        name = "anchor"
        element = "mass"
        at = [0.0]
        mass = 1.0
        [[body]]
        name = "mass"
        element = "mass"
        at = [1.0]
        mass = 1.0
        displacement = [0.1]
        [[body]]
        name = "spring"
        element = "spring"
        between = ["anchor", "mass"]
        stiffness = 1.0
        [[support]]
        name = "fixed"
        nodes = "anchor"
        fix = ["x"]
        [[probe]]
        name = "mass"
        node = "mass"
    "#;
    let study = compare(&[load(text, &[])], &["".into()], &Wish::default()).unwrap();
    let table = study.table();
    // ¼ h² (2β − γ) k² δ² / m = ¼ · 0.01 · 0.3 · 0.01
    assert!(line(&table, "gained from the scheme").starts_with("7.49"), "{table}");
}

#[test]
fn cuts_of_steps_by_guards_were_not_told() {
    let (summary, report) = summary(&bar(), &["guards.penetration={ fraction = 5e-3 }", "body.bar.line.from=[0.08]"]);
    let cuts = summary.counts["cuts"]["guards"].as_u64().unwrap();
    assert!(cuts > 0 && summary.counts["cuts"]["solvers"] == 0, "{}", summary.counts);
    let table = summary.table();
    let said = line(&table, "steps");
    assert!(said.ends_with(&format!("; cut {cuts} times by guards")), "{said}");
    assert!(report.contains(&format!("Steps were cut {cuts} times by guards.")), "the report too");
    let (plain, report) = self::summary(&bar(), &[]);
    assert_eq!(line(&plain.table(), "steps"), "50");
    assert!(!report.contains("Steps were cut"));
}

/// Contacts without a plane, and none at all: the ball moves along y, and x was drawn.
#[test]
fn compare_drew_x_where_the_contact_acts_along_y() {
    let peg = "[[contact]]\nname = \"peg\"\nnodes = \"ball\"\ncircle = { centre = [0.0, 0.0], radius = 0.5 }\n";
    for more in [peg, ""] {
        let case = load(&format!("{BALL}\n{more}"), &["time.end=0.5"]);
        let study = compare(&[case], &["".into()], &Wish::default()).unwrap();
        assert!(study.table().contains("\nprobe.ball.y; "), "{}", study.table());
    }
    let case = load(&format!("{BALL}\n{peg}"), &["time.end=0.5"]);
    let asked = compare(&[case], &["".into()], &Wish(Some("ball.x".into()))).unwrap();
    assert!(asked.table().contains("\nprobe.ball.x; "), "what was asked for stays");
}

/// The position-corrected form gains energy step by step with e > 0 (corrections 2).
#[test]
fn check_recommended_ggl_where_it_harms() {
    let advice = |restitution: &str| {
        let set = ["time.step=0.2", "time.end=1.0", restitution];
        prepare(&load(&bar(), &set))
            .unwrap()
            .advice
            .iter()
            .map(|advice| advice.text.clone())
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert!(advice("contact.wall.restitution=0.0").contains("scheme.position = \"ggl\""));
    let harmful = advice("contact.wall.restitution=0.5");
    assert!(harmful.contains("1 - gamma/(2 beta)") && !harmful.contains("ggl"), "{harmful}");
}

/// A column of EI = 1 and length 1 under 2.467 t = π²/4 t at its free top: t is the load over Euler's.
const COLUMN: &str = r#"
    format = 1
    analysis = "static"
    time = { end = 1.152, step = 0.048 }
    scheme = { name = "newmark" }
    [[body]]
    name = "column"
    element = "beam"
    line = { from = [0.0, 0.0], to = [0.0, 1.0], elements = 20 }
    material = { young = 1.0, shear = 1.0, density = 1.0 }
    section = { area = 1e6, inertia = 1.0, shear_area = 1e6 }
    [[support]]
    name = "clamp"
    nodes = "column.start"
    fix = ["x", "y", "theta"]
    [[load]]
    name = "weight"
    nodes = "column.end"
    force = [0.0, -2.4674011002723395]
    time = { kind = "ramp", to = 2.0, end = 2.0 }
    [[probe]]
    name = "top"
    node = "column.end"
"#;

/// Two short arms that hang from the top, and that nothing loads, make the column a frame.
const ARMS: &str = r#"
    [[body]]
    name = "left"
    element = "beam"
    line = { from = [0.0, 1.0], to = [-0.05, 0.9], elements = 2 }
    material = { young = 1.0, shear = 1.0, density = 1.0 }
    section = { area = 1e6, inertia = 1.0, shear_area = 1e6 }
    [[body]]
    name = "right"
    element = "beam"
    line = { from = [0.0, 1.0], to = [0.05, 0.9], elements = 2 }
    material = { young = 1.0, shear = 1.0, density = 1.0 }
    section = { area = 1e6, inertia = 1.0, shear_area = 1e6 }
    [[joint]]
    name = "left"
    kind = "weld"
    between = ["column.end", "left.start"]
    [[joint]]
    name = "right"
    kind = "weld"
    between = ["column.end", "right.start"]
"#;

/// The elastica: P/P_cr = (2 K(sin α/2)/π)², which is 1.152 for an angle α = 60.05° at the top.
#[test]
fn an_equilibrium_on_an_unstable_branch_looked_sound() {
    let frame = format!("{COLUMN}{ARMS}");
    for (text, elements, factorization) in [
        (COLUMN, 20, "chain of 3x3 blocks"),
        (COLUMN, 100, "chain of 3x3 blocks"),
        (&frame, 20, "sparse LDL"),
        (&frame, 120, "sparse LDL"),
    ] {
        let elements = format!("body.column.line.elements={elements}");
        let (found, report) = summary(text, &[&elements]);
        assert_eq!(found.factorization, factorization);
        let branch = found.unstable.expect("the straight column is unstable");
        assert_eq!((branch.from, branch.to, branch.most), (1.008, 1.152, 1), "Euler's load is passed at 1");
        let wanted = "the equilibrium is unstable from t = 1.008 on: the tangent stiffness has 1 negative pivot there";
        let advice = found.advice.iter().find(|advice| advice.starts_with(wanted)).expect("advice on it");
        assert!(report.contains(wanted), "the report too");
        let (_, load) = advice.split_once("force = ").unwrap();
        let (force, place) = load.split_once(" on ").unwrap();
        let (place, _) = place.split_once(", with smaller steps").unwrap();
        assert!(place.starts_with("body `column`, node ") && place.ends_with("at (0, 1)"), "{advice}");
        // 1e-4 of 1.152 π²/4, across the column.
        assert!(force.starts_with("[2.842e-4, ") || force.starts_with("[-2.842e-4, "), "{advice}");
        // The load that it suggests leads to the stable branch.
        let nudge = format!("[[load]]\nname = \"nudge\"\nnodes = \"column.end\"\nforce = {force}\n");
        let (stable, _) = summary(&format!("{text}\n{nudge}"), &[&elements, "time.step=0.006"]);
        let turned = stable.probes["top"]["theta"].as_f64().unwrap().abs().to_degrees();
        assert!(stable.unstable.is_none() && (turned - 60.05).abs() < 0.3, "{turned} {:?}", stable.advice);
    }
}

/// A shallow clamped arch under a force at its crown. With few passes Newton's method does not reach the far side.
#[test]
fn beyond_a_limit_point_smaller_steps_were_advised() {
    let text = r#"
        format = 1
        analysis = "static"
        time = { end = 1.0, step = 0.05 }
        scheme = { name = "newmark" }
        [solver]
        newton = { passes = 10 }
        [[body]]
        name = "arch"
        element = "beam"
        polyline = { points = [[-1.0, 0.0], [-0.5, 0.1293], [0.0, 0.1755], [0.5, 0.1293], [1.0, 0.0]], elements = 40 }
        material = { young = 2.1e11, poisson = 0.3, density = 7800.0 }
        section = { shape = "rectangle", width = 0.02, height = 0.02 }
        [[set]]
        name = "crown"
        nearest = [0.0, 0.1755]
        [[support]]
        name = "ends"
        nodes = "ends"
        fix = ["x", "y", "theta"]
        [[set]]
        name = "ends"
        nodes = ["arch.start", "arch.end"]
        [[load]]
        name = "push"
        nodes = "crown"
        force = [0.0, -200000.0]
        time = { kind = "ramp", end = 1.0 }
    "#;
    let (_, result) = try_run(&load(text, &[]));
    let error = result.expect_err("there is no equilibrium nearby");
    assert_eq!(error.exit_code(), 4);
    let message = error.to_string();
    assert!(message.contains("a limit point lies between t = 0.0"), "{message}");
    assert!(message.contains("analysis = \"dynamic\"") && message.contains("`motion`"), "{message}");
    assert!(!message.contains("smaller steps"), "{message}");
}

/// A wall holds the top of the column; static contact needs a structure that is stable without it.
#[test]
fn a_column_that_a_wall_holds_was_told_to_take_smaller_steps() {
    let wall = "[[contact]]\nname = \"wall\"\nnodes = \"column.end\"\n\
                plane = { point = [0.0, 0.0], normal = [-1.0, 0.0] }\n";
    let (_, result) = try_run(&load(&format!("{COLUMN}\n{wall}"), &["load.weight.force=[1e-2, -2.4674011002723395]"]));
    let message = result.expect_err("beyond Euler's load").to_string();
    assert!(
        message.contains("without its closed contacts the structure loses its stability near t = 1.00"),
        "{message}"
    );
}

/// A mass that hits both sides of a wedge at once: with friction and Newton's e > 0 all sixteen states contradict the law.
#[test]
fn a_wedge_without_a_solution_was_told_to_take_more_sweeps() {
    let text = r#"
        format = 1
        time = { end = 0.1, step = 1e-2 }
        scheme = { name = "moreau-jean" }
        [[body]]
        name = "mass"
        element = "mass"
        at = [0.0, 0.0]
        mass = 1.0
        velocity = [0.6, -0.84]
        [[contact]]
        name = "left"
        nodes = "mass"
        plane = { point = [0.0, 0.0], normal = [0.7, 0.72] }
        friction = 1.15
        restitution = 0.5
        [[contact]]
        name = "right"
        nodes = "mass"
        plane = { point = [0.0, 0.0], normal = [-0.7, 0.72] }
        friction = 1.15
        restitution = 0.5
    "#;
    let (_, result) = try_run(&load(text, &[]));
    let message = result.expect_err("no state fits").to_string();
    assert!(message.contains("friction with these velocities has no solution"), "{message}");
    assert!(message.contains("law = \"moreau\""), "{message}");
    assert!(!message.contains("sweeps") && !message.contains("lemke"), "{message}");
    // What it suggests runs.
    let law = |name: &str| format!("contact.{name}.restitution={{ e = 0.5, law = 'moreau' }}");
    let (_, result) = try_run(&load(text, &[&law("left"), &law("right")]));
    result.unwrap();
}

/// `docs/paper-figures.md` gave the peaks of the runs as the forces of their first contact steps.
#[test]
fn the_forces_of_the_first_contact_steps_were_peaks() {
    let page = include_str!("../../docs/paper-figures.md").replace('\n', " ");
    let list = |after: &str| -> Vec<f64> {
        let (_, rest) = page.split_once(after).unwrap_or_else(|| panic!("the page does not say `{after}`"));
        let text = rest.trim_start().replace(" and ", ", ");
        let number = |x: &str| x.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap();
        text.split(", ").take(3).map(number).collect()
    };
    let first = list("force of the first contact step is an impulse over h:");
    let peaks = list("the largest forces of these runs are");
    let schemes = [
        "name = 'generalized-alpha', rho_inf = 0.6",
        "name = 'moreau-jean', theta = 1.0",
        "name = 'newmark', gamma = 1.0, beta = 0.5625",
    ];
    for (k, scheme) in schemes.into_iter().enumerate() {
        let (history, result) = try_run(&shipped("impacting-bar", &[&format!("scheme={{ {scheme} }}")]));
        result.unwrap();
        let force = history.column("contact.wall.force");
        assert_eq!(force.iter().find(|force| **force > 0.0).unwrap().round(), first[k], "{scheme}");
        assert_eq!(history.max("contact.wall.force").round(), peaks[k], "{scheme}");
    }
}

const FALL: &str = r#"format = 1
gravity = [0.0, -10.0]
time = { end = 0.5, step = 1e-3 }
scheme = { name = "moreau-jean" }
[[body]]
name = "stone"
element = "mass"
at = [0.1, 0.3]
mass = 1.0
[[contact]]
name = "floor"
nodes = "stone"
polyline = { points = [[1.0, 0.0], [-1.0, 0.0]] }
[[contact]]
name = "wall"
nodes = "stone"
plane = { point = [-2.0, 0.0], normal = [1.0, 0.0] }
"#;

/// A contact without any force that something came through from behind, or entered, was "never closed", and the run looked sound.
#[test]
fn what_fell_through_a_floor_from_behind_never_closed() {
    let place = Place::empty().with("fall.toml", FALL);
    let said = |set: &[&str]| {
        let answer = place.carom(&[&["run", "fall.toml", "--force"], set].concat());
        assert_eq!(answer.code, 0, "{}", answer.err);
        let report = place.read("out/fall/report.html");
        (answer.out + &answer.err, place.read("out/fall/summary.json"), report)
    };
    let warning = "contact `floor`: body `stone`, node 0 at (0.1, 0.3) came through from behind at t = 0.246";
    let (terminal, summary, report) = said(&[]);
    assert!(terminal.contains("line 10: ") && terminal.contains(warning), "{terminal}");
    assert!(summary.contains(warning) && report.contains(warning));
    assert!(!report.contains("Looks sound"));
    // A far contact says how near it came.
    assert!(terminal.contains("never closed, least gap 2.10000 at 0.000000"), "{terminal}");
    assert!(report.contains("Contact wall: never closed, least gap 2.1 at 0."));
    // The other way round it holds, and says nothing.
    let turned = "contact.floor.polyline.points=[[-1.0, 0.0], [1.0, 0.0]]";
    let (terminal, _, report) = said(&["--set", turned]);
    assert!(terminal.contains("closed once") && !terminal.contains("from behind"), "{terminal}");
    assert!(report.contains("Looks sound"));
}

/// What begins inside an obstacle and leaves it is no warning, what enters it without a force is one.
#[test]
fn a_contact_that_was_entered_without_a_force_is_named() {
    let place = Place::empty().with("fall.toml", FALL);
    let ends = ["--set", "contact.floor.polyline.points=[[-1.0, 0.0], [1.0, 0.0]]", "--set"];
    // The first instant below the floor is the last of the run; the law of the next step would hold the stone.
    let answer = place.carom(&[&["run", "fall.toml"], &ends[..], &["time.end=0.245"]].concat());
    let said = answer.out + &answer.err;
    assert!(
        said.contains("line 10: contact `floor` was entered 1.250e-4 deep") && said.contains("no force was felt"),
        "{said}"
    );
}
