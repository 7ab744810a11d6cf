//! Guards as named thresholds of the case file, and models that are refused before they run.

use super::common::runs::{cases, shipped};
use super::{Nothing, contents};
use carom::checkpoint::Checkpoint;
use carom::run::{self, Manner};
use carom::{Error, case};

/// How a shipped case with these overrides fails when it runs.
fn failure(name: &str, set: &[&str]) -> (Error, Checkpoint) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let manner = Manner { force: false, from: None, stop: &|| None, extra: &mut Nothing };
    let error = run::run(&shipped(name, set), &out, manner).expect_err("a guard trips");
    assert!(!contents(&out).contains_key("summary.json"), "a run that failed looks complete");
    let checkpoint = Checkpoint::read(&out).expect("the last good state is kept");
    (error, checkpoint)
}

#[test]
fn a_contact_residual_beyond_its_guard_ends_the_run() {
    // No solver gets below this; the first contact of the bar is in step 250.
    let (error, checkpoint) = failure("impacting-bar", &["guards.contact={ residual = 1e-300 }"]);
    let message = error.to_string();
    assert_eq!(error.exit_code(), 4, "{message}");
    assert!(message.starts_with("guard `contact`: the contact conditions are missed by "), "{message}");
    assert!(message.contains("in step ") && message.contains("set guards.contact"), "{message}");
    assert!(checkpoint.state.step >= 249 && checkpoint.state.energy.total().is_finite());
    let off = shipped("impacting-bar", &["guards.contact=false", "time.end=0.6"]);
    run::measure(&off, None, &|| None).unwrap();
}

#[test]
fn a_step_beyond_the_reach_of_newton_ends_the_run() {
    let (error, _) = failure("rotating-beam", &["guards.newton={ reach = 1e-12 }"]);
    let message = error.to_string();
    assert_eq!(error.exit_code(), 4, "{message}");
    assert!(message.starts_with("guard `newton`: step ") && message.contains("body `beam`, node "), "{message}");
    assert!(message.contains("take a smaller step, or set guards.newton"), "{message}");
    // A linear model has no Newton iteration to run away.
    let linear = shipped("impacting-bar", &["guards.newton={ reach = 1e-12 }", "time.end=0.6"]);
    run::measure(&linear, None, &|| None).unwrap();
}

#[test]
fn a_number_that_is_none_ends_the_step_that_made_it() {
    // A load that is beyond all numbers at once, after a while.
    let ramp = "time = { kind = \"ramp\", to = 1e10, start = 0.01, end = 0.0101 }";
    for (name, node, place) in [
        ("impacting-bar", "bar.end", "body `bar`, node 0 at (5)"),
        ("bouncing-ball", "ball", "body `ball`, node 0 at (1)"),
    ] {
        let load = format!("load=[{{ name = \"l\", nodes = \"{node}\", force = [1.7e308], {ramp} }}]");
        let (error, checkpoint) = failure(name, &[&load]);
        let message = error.to_string();
        assert_eq!(error.exit_code(), 5, "{message}");
        assert!(message.starts_with("the displacement became inf in step "), "{message}");
        assert!(message.contains(&format!("at {place}, component x")), "{message}");
        assert!(checkpoint.state.q.iter().all(|q| q.is_finite()), "the last good state");
    }
}

#[test]
fn thresholds_are_spelled_out_in_the_resolved_case() {
    let guards = |set: &[&str]| serde_json::to_value(&shipped("impacting-bar", set).case.guards).unwrap();
    assert_eq!(guards(&[])["contact"]["residual"], 1e-6);
    assert_eq!(guards(&["solver.contact.tolerance=1e-5"])["contact"]["residual"], 100.0 * 1e-5);
    assert_eq!(guards(&[])["newton"]["reach"], 1.0);
    assert_eq!(guards(&["guards.newton=false"])["newton"], false);
}

#[test]
fn models_that_cannot_work_are_named_before_the_run() {
    for (name, set, what) in [
        (
            "impacting-bar",
            "contact.wall.plane.point=[6.0]",
            "contact `wall` begins with body `bar`, node 0 at (5) a depth of 1.000e0 behind the obstacle, against the \
             normal (1); at most 5.000e-2 is allowed",
        ),
        ("rotating-beam", "contact.wall.plane.point=[3.0, 0.0]", "begins with body `beam`, node "),
        ("impacting-bar", "body.bar.line.elements=0", "body.bar.line.elements"),
        ("impacting-bar", "time.step=4.0", "`time.step` must not exceed `time.end`"),
        ("impacting-bar", "body.bar.material.density=0.0", "body.bar.material.density"),
    ] {
        let file = cases().join(format!("{name}.toml"));
        let error = case::load(&file, &[set.into()], false).and_then(|loaded| run::prepare(&loaded).map(|_| ()));
        let error = error.expect_err(set);
        assert_eq!(error.exit_code(), 3, "{set}: {error}");
        assert!(error.to_string().contains(what), "{set}: {error}");
    }
}
