//! Expressions in cases: constants, numbers as texts, functions of time and place, and what is said about wrong ones.

use crate::common::cases::Altered;
use crate::common::history::{History, build, load, run, shipped, try_run};
use crate::common::program::Place;
use carom::case::{Format, parse};
use carom::cases;

/// A mass on a spring, driven at its foot and pulled at.
const CASE: &str = r#"
format = 1
gravity = [0.0, "-g"]
[constants]
g = 10
m = 2.0
omega = "2*pi*f0"
[time]
end = "3/f0"
step = "1/(200*f0)"
[scheme]
name = "newmark"
[[body]]
name = "ball"
element = "mass"
at = [0.0, "R/2"]
mass = "m"
[[body]]
name = "foot"
element = "mass"
at = [0.0, 0.0]
mass = 1.0
[[body]]
name = "spring"
element = "spring"
between = ["foot", "ball"]
stiffness = "m*omega^2"
[[support]]
name = "drive"
nodes = "foot"
motion = { x = "0", y = "0.1*sin(2*t)" }
[[load]]
name = "pull"
nodes = "ball"
force = ["0.3*m*cos(3*t)", 2.5]
[[probe]]
name = "ball"
node = "ball"
"#;

/// The case above with its two missing constants where they belong.
fn sound() -> String {
    CASE.altered("m = 2.0\n", "m = 2.0\nf0 = 1.5\nR = 3.0\n")
}

/// Every column of two histories.
fn same(a: &History, b: &History) {
    assert_eq!(a.names, b.names);
    for (one, other) in a.rows.iter().zip(&b.rows) {
        for ((name, x), y) in a.names.iter().zip(one).zip(other) {
            // Reactions of driven supports are second differences of their motion, and round like it over the square of a step.
            let rounding = if name.starts_with("support.") { 1e-10 } else { 1e-12 };
            let same = (x - y).abs() <= rounding * (1.0 + x.abs()) || (x.is_nan() && y.is_nan());
            assert!(same, "{name}: {x} {y}");
        }
    }
    assert_eq!(a.rows.len(), b.rows.len());
}

/// What is wrong: line, column, message, label.
fn wrong(text: &str, set: &[&str]) -> Vec<(u64, u64, String, String)> {
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    let failure = parse(text, "x.toml", Format::Toml, &set).expect_err("must be refused");
    assert!(!failure.render(false).contains("carom itself"), "{}", failure.render(false));
    let entries = failure.json();
    let number = |entry: &serde_json::Value, key: &str| entry[key].as_u64().unwrap_or(0);
    let word = |entry: &serde_json::Value, key: &str| entry[key].as_str().unwrap_or_default().to_string();
    let entries = entries.as_array().unwrap().iter();
    entries.map(|e| (number(e, "line"), number(e, "column"), word(e, "message"), word(e, "detail"))).collect()
}

#[test]
fn texts_of_constants_are_the_numbers_that_they_make() {
    let case = load(&sound(), &[]).case;
    let omega = 2.0 * std::f64::consts::PI * 1.5;
    assert_eq!(case.gravity, [0.0, -10.0]);
    assert_eq!((case.time.end, case.time.step), (2.0, 1.0 / 300.0));
    assert_eq!(case.body[0].at.as_deref(), Some(&[0.0, 1.5][..]));
    assert_eq!(case.body[2].stiffness, Some(2.0 * (omega * omega)));
    assert_eq!(case.constants["omega"], omega);
}

#[test]
fn the_resolved_case_holds_numbers_and_keeps_expressions_of_time() {
    let json = serde_json::to_value(&load(&sound(), &[]).case).unwrap();
    assert_eq!(json["time"]["step"], 1.0 / 300.0);
    assert_eq!(json["load"][0]["force"], serde_json::json!(["0.3*m*cos(3*t)", 2.5]));
    assert_eq!(json["support"][0]["motion"]["y"], serde_json::json!({ "kind": "expression", "value": "0.1*sin(2*t)" }));
    assert_eq!(json["constants"]["g"], 10.0);
    // What is resolved means the same when it is read again, and a case without constants says nothing of them.
    let again = parse(&json.to_string(), "x.json", Format::Json, &[]).unwrap_or_else(|f| panic!("{}", f.render(false)));
    assert_eq!(serde_json::to_value(&again).unwrap(), json);
    let plain = serde_json::to_value(&shipped("shaker", &[]).case).unwrap();
    assert!(plain.get("constants").is_none());
}

#[test]
fn a_case_of_expressions_runs_like_the_same_case_of_numbers() {
    let text = shipped("thrown-mass", &[]).text;
    let t1 = (-9.81f64 / (0.02 * 1600.0)).acos() / 40.0;
    assert_eq!(load(&text, &[]).case.constants["t1"], t1);
    // A driven support and a load that the tables of before can say as well.
    let wave = |amplitude: f64, rate: f64, phase: f64| {
        let frequency = rate / std::f64::consts::TAU;
        format!("{{ kind = \"harmonic\", amplitude = {amplitude}, frequency = {frequency}, phase = {phase} }}")
    };
    let numbers = sound()
        .altered("y = \"0.1*sin(2*t)\"", &format!("y = {}", wave(0.1, 2.0, 0.0)))
        .altered("motion = { x = \"0\",", &format!("motion = {{ x = {},", wave(0.0, 1.0, 0.0)))
        .altered(
            "force = [\"0.3*m*cos(3*t)\", 2.5]",
            "force = [0.0, 2.5]\n[[load]]\nname = \"side\"\nnodes = \"ball\"\nforce = [0.6, 0.0]\ntime = WAVE",
        )
        .altered("WAVE", &wave(1.0, 3.0, std::f64::consts::FRAC_PI_2));
    let (one, other) = (run(&sound(), &[]), run(&numbers, &[]));
    same(&one, &other);
    assert!(one.max("probe.ball.x") > 1e-2 && one.last("work_external").abs() > 1e-3, "the load must matter");
}

#[test]
fn driven_supports_start_with_both_derivatives_of_their_expression() {
    let (_, system) = build(&sound(), &["support.drive.motion={ x = \"0\", y = \"0.2 + 3*t + 4*t^2\" }"]).unwrap();
    let (_, drive) = &system.drives[1];
    assert_eq!((drive.value(0.5), drive.rate(0.5), drive.second_rate(0.5)), (2.7, 7.0, 8.0));
    assert_eq!((drive.value(0.0), drive.rate(0.0), drive.second_rate(0.0)), (0.2, 3.0, 8.0));
}

#[test]
fn moments_lengths_and_factors_may_be_expressions_of_time() {
    let beam = r#"
        format = 1
        constants = { q = 3.0 }
        time = { end = 0.1, step = 0.01 }
        scheme = { name = "newmark" }
        [[body]]
        name = "beam"
        element = "linear-beam"
        line = { from = [0.0, 0.0], to = [2.0, 0.0], elements = 2 }
        material = { young = 1e6, poisson = 0.3, density = 1000.0 }
        section = { shape = "rectangle", width = 0.1, height = 0.1 }
        [[support]]
        name = "clamp"
        nodes = "beam.start"
        fix = ["x", "y", "theta"]
        LOADS
        "#;
    let expressions = r#"
        [[load]]
        name = "tip"
        nodes = "beam.end"
        force = [0.5, "q*sin(t)"]
        moment = "2*q*t"
        [[load]]
        name = "snow"
        body = "beam"
        per_length = ["-t^2", 4.0]
        [[load]]
        name = "wind"
        nodes = "beam.end"
        force = [0.0, 7.0]
        time = "1 + t/2"
        "#;
    let (model, system) = build(&beam.altered("LOADS", expressions), &[]).unwrap();
    let (t, n) = (0.3f64, system.nodes.total);
    let mut applied = vec![0.0; n];
    system.applied(t, &mut applied);
    let last = model.places.len() - 1;
    let at = |component| applied[system.nodes.dof(last, component) as usize];
    use carom::model::Component::{Theta, X, Y};
    // Half of the last element's length, which is 1, belongs to the end.
    assert!((at(X) - (0.5 - 0.5 * t * t)).abs() < 1e-15, "{}", at(X));
    assert!((at(Y) - (3.0 * t.sin() + 0.5 * 4.0 + 7.0 * (1.0 + t / 2.0))).abs() < 1e-14, "{}", at(Y));
    assert!((at(Theta) - 6.0 * t).abs() < 1e-15);
    let twice =
        beam.altered("LOADS", "[[load]]\nname = \"a\"\nnodes = \"beam.end\"\nforce = [0.0, \"t\"]\ntime = \"t\"");
    let found = wrong(&twice, &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].2, "`load.a` has a factor over time twice");
}

#[test]
fn initial_fields_are_expressions_of_place() {
    let bar = r#"
        format = 1
        constants = { L = 2.0 }
        time = { end = 0.1, step = 0.01 }
        scheme = { name = "newmark" }
        [[body]]
        name = "bar"
        element = "bar"
        line = { from = [1.0, 1.0], to = [1.0, 3.0], elements = 4 }
        material = { young = 1.0, density = 1.0 }
        section = { area = 1.0 }
        [[initial]]
        nodes = "bar"
        displacement = { kind = "expression", y = "0.1*sin(pi*s/L)" }
        velocity = { kind = "expression", x = "x - y", y = 0.5 }
        "#;
    let (model, _) = build(bar, &[]).unwrap();
    for (node, place) in model.places.iter().enumerate() {
        let s = place[1] - 1.0;
        assert_eq!(model.displacement[node], [0.0, 0.1 * (std::f64::consts::PI * s / 2.0).sin(), 0.0]);
        assert_eq!(model.velocity[node], [1.0 - place[1], 0.5, 0.0]);
    }
    let error = build(&bar.altered("x - y", "1/(y - 2)"), &[]).err().unwrap().to_string();
    assert_eq!(error, "`1/(y - 2)`, its value or a derivative, is infinite at y = 2.0");
    let found = wrong(&bar.altered("x - y", "x - t").altered("L = 2.0", "L = 2.0, s = 1.0"), &[]);
    assert!(
        found[0].2.contains("`s` means two things here") && found[1].2.contains("`t` has no meaning here"),
        "{found:?}"
    );
}

#[test]
fn a_function_without_a_value_stops_the_run_with_its_text_and_the_instant() {
    for (set, message) in [
        (
            "load.pull.force=[\"sqrt(t - 1)\", 0.0]",
            "`sqrt(t - 1)`, its value or a derivative, is not a number at t = 0.0",
        ),
        (
            "support.drive.motion={ x = \"0\", y = \"sqrt(t)\" }",
            "`sqrt(t)`, its value or a derivative, is infinite at t = 0.0",
        ),
    ] {
        let error = try_run(&load(&sound(), &[set])).1.unwrap_err();
        assert_eq!(error.exit_code(), 3);
        assert!(error.to_string().contains(message), "{error}");
    }
    let (history, result) = try_run(&load(&sound(), &["load.pull.force=[\"sqrt(1 - t)\", 0.0]"]));
    let error = result.unwrap_err();
    assert_eq!(error.exit_code(), 3);
    let message = "`sqrt(1 - t)`, its value or a derivative, is not a number at t = 1.00";
    assert!(error.to_string().starts_with(message), "{error}");
    assert!((history.last("time") - 1.0).abs() < 0.01, "the run stops there, with what it has");
}

#[test]
fn errors_point_into_the_text() {
    // Line and column of the first wrong character, both in the file.
    for (from, to, line, column, message, label) in [
        (
            "mass = \"m\"",
            "mass = \"2*mm\"",
            19,
            11,
            "there is no constant or variable `mm` here (column 3 of \"2*mm\")",
            "did you mean `m`?",
        ),
        (
            "mass = \"m\"",
            "mass = \"2*\"",
            19,
            11,
            "this expression ends too early (column 3 of \"2*\")",
            "must stand here",
        ),
        ("mass = \"m\"", "mass = \"m*t\"", 19, 11, "`t` has no meaning here (column 3 of \"m*t\")", "not here"),
        ("mass = \"m\"", "mass = \"m - 2\"", 19, 8, "`body.ball.mass` must be a positive number", "found 0.0"),
        ("mass = \"m\"", "mass = \"1/(m - 2)\"", 19, 9, "`body.ball.mass` must be a finite number", "this is infinite"),
        ("0.1*sin(2*t)", "0.1*sin(2*x)", 33, 36, "`x` has no meaning here (column 11 of \"0.1*sin(2*x)\")", "not here"),
        ("\"R/2\"]", "\"R*t\"]", 18, 15, "`body.ball.at[1]`: `t` has no meaning here", "not here"),
        ("\"R/2\"]", "\"R/\"]", 18, 15, "`body.ball.at[1]`: this expression ends too early", "must stand here"),
        (
            "name = \"newmark\"",
            "name = \"newmark\"\nforecast = \"2*m\"",
            15,
            12,
            "`scheme.forecast` must be a number in",
            "found 4.0",
        ),
    ] {
        let found = wrong(&sound().replacen(from, to, 1), &[]);
        assert_eq!(found.len(), 1, "{to}: {found:?}");
        let (at_line, at_column, text, detail) = &found[0];
        assert!(text.contains(message) && detail.contains(label), "{to}: {found:?}");
        assert_eq!((*at_line, *at_column), (line, column), "{to}: {found:?}");
    }
    // A function one level too high is told as such, not as an expression called `harmonic`.
    let found = wrong(&sound(), &["support.drive.motion={ kind = \"harmonic\", frequency = 1.0 }"]);
    assert!(found.len() == 1 && found[0].2.contains("does not say along what"), "{found:?}");
    let found = wrong(&sound(), &["time.step=\"1/(20*ff0)\""]);
    assert_eq!((found.len(), found[0].1), (1, 18), "{found:?}");
    assert!(found[0].2.contains("`ff0`") && found[0].3.contains("did you mean `f0`?"), "{found:?}");
    // JSON has no columns of its own: those in the text are told.
    let json = r#"{ "format": 1, "time": { "end": 1, "step": "1/zz" } }"#;
    let failure = parse(json, "x.json", Format::Json, &[]).unwrap_err().render(false);
    assert!(failure.contains("x.json: time.step") && failure.contains("(column 3 of \"1/zz\")"), "{failure}");
    assert!(!failure.contains("found a text"), "{failure}");
}

#[test]
fn constants_have_sound_names_and_use_earlier_ones_only() {
    for (line, message) in [
        ("sin = 1.0", "a constant cannot be called `sin`"),
        ("pi = 3.0", "a constant cannot be called `pi`"),
        ("t = 3.0", "a constant cannot be called `t`"),
        ("\"a-b\" = 3.0", "a constant cannot be called `a-b`"),
        ("k = true", "`constants.k` must be a finite number, or a text with an expression of earlier constants"),
        ("k = [1.0]", "`constants.k` must be a finite number"),
        ("k = nan", "`constants.k` must be a finite number"),
        ("k = \"1/0\"", "`constants.k` must be a finite number"),
        ("k = \"2*omega\"", "`constants.k`: there is no constant or variable `omega` here"),
        ("k = \"k\"", "`constants.k`: there is no constant or variable `k` here"),
    ] {
        let found = wrong(&sound().altered("m = 2.0\n", &format!("m = 2.0\n{line}\n")), &[]);
        assert!(found.len() == 1 && found[0].2.contains(message), "{line}: {found:?}");
        assert_eq!(found[0].0, 7, "{line}: {found:?}");
    }
    // Two that are missing are told once each where they are used; what follows from them is not told again.
    let found = wrong(CASE, &[]);
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn integers_and_names_are_never_expressions() {
    for (set, message) in [
        ("body.bar.line.elements=\"100\"", "must be an integer"),
        ("output.history.every=\"2\"", "must be an integer"),
        ("format=\"1\"", "must be 1"),
    ] {
        let text = cases::find("impacting-bar").unwrap().text;
        let found = wrong(text, &[set]);
        assert!(found.len() == 1 && found[0].2.contains(message), "{set}: {found:?}");
    }
    let named = load(&sound().altered("name = \"ball\"", "name = \"m\"").altered("\"ball\"", "\"m\""), &[]);
    assert_eq!(named.case.body[0].name, "m");
}

#[test]
fn overrides_reach_constants_and_what_depends_on_them() {
    let case = shipped("thrown-mass", &["constants.a=0.03", "constants.omega=\"10*pi\""]).case;
    assert_eq!(case.constants["turn"], 2.0 * std::f64::consts::PI / (10.0 * std::f64::consts::PI));
    assert_eq!(case.expect["probe.mass.y.final"].value, Some(0.06));
    let found = wrong(&shipped("thrown-mass", &[]).text, &["constants.sin=1"]);
    assert_eq!(found[0].2, "a constant cannot be called `sin`");
}

#[test]
fn a_sweep_over_a_constant_meets_expectations_that_use_it() {
    let place = Place::empty().with("thrown-mass.toml", cases::find("thrown-mass").unwrap().text);
    place.good(&["test", "thrown-mass.toml"]);
    place.good(&["sweep", "thrown-mass.toml", "--vary", "constants.a=0.02,0.03", "-q"]);
    let message = place.bad(3, &["run", "thrown-mass.toml", "--set", "constants.a=1/3"]);
    assert!(message.contains("a text needs quotes"), "{message}");
}

#[test]
fn a_run_with_expressions_goes_on_to_the_same_bytes() {
    let place = Place::empty().with("thrown-mass.toml", cases::find("thrown-mass").unwrap().text);
    let set = ["--set", "output.checkpoint={ steps = 50 }", "--set", "constants.a=0.025"];
    place.good(&[&["run", "thrown-mass.toml", "-o", "whole"][..], &set].concat());
    place.bad(8, &[&["run", "thrown-mass.toml", "-o", "parts", "--max-wall", "0"][..], &set].concat());
    place.bad(8, &["resume", "parts", "--max-wall", "0"]);
    place.good(&["resume", "parts"]);
    assert!(place.read("whole/history.csv").len() > 10_000);
    place.same_bytes("whole", "parts");
}
