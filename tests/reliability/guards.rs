//! Guards as named thresholds of the case file, and models that are refused before they run.

use super::Nothing;
use super::common::program::contents;
use super::common::{at_root, shipped};
use carom::checkpoint::Checkpoint;
use carom::growth::{Quantity, Theorem};
use carom::march::{self, Guards, RunControl};
use carom::methods::{Attempt, KeptFactors, Method};
use carom::run::{self, RunOptions};
use carom::state::State;
use carom::{Error, Result, case};

/// How a shipped case with these overrides fails when it runs.
fn failure(name: &str, set: &[&str]) -> (Error, Checkpoint) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let options = RunOptions { force: false, from: None, branch: None, stop: &|| None, extra: &mut Nothing };
    let error = run::run(&shipped(name, set), &out, options).expect_err("a guard trips");
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

/// A method whose memory is damaged: in one step it begins with velocities that are a little too large.
struct Damaged<'a>(Box<dyn Method + 'a>, u64);

impl Method for Damaged<'_> {
    fn initial_attempt(&mut self, h: f64) -> Result<Attempt> {
        self.0.initial_attempt(h)
    }

    fn attempt(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) -> Result<()> {
        let mut from = from.clone();
        if from.step == self.1 {
            from.v.iter_mut().for_each(|v| *v *= 1.01);
        }
        self.0.attempt(&from, h, t1, to)
    }

    fn kept(&self) -> KeptFactors {
        self.0.kept()
    }

    fn restore(&mut self, kept: KeptFactors) -> Result<()> {
        self.0.restore(kept)
    }

    fn factorization(&self) -> &'static str {
        self.0.factorization()
    }
}

/// Where a theorem forbids growth, one per cent of the velocity is noticed; elsewhere it is not.
#[test]
fn what_cannot_grow_is_watched_tightly() {
    let mj = r#"{ name = "moreau-jean", theta = "#;
    let rows = [
        ("impacting-bar", format!("{mj} 0.5 }}"), Some(Quantity::Energy)),
        ("impacting-bar", format!("{mj} 0.8 }}"), Some(Quantity::Energy)),
        ("impacting-oscillator", format!("{mj} 0.5 }}"), Some(Quantity::Energy)),
        ("impacting-oscillator", r#"{ name = "moreau-jean-dissipative" }"#.into(), Some(Quantity::Energy)),
        ("impacting-bar", r#"{ name = "newmark" }"#.into(), Some(Quantity::Storage)),
        ("truss", r#"{ name = "hht", alpha = 0.1 }"#.into(), Some(Quantity::Storage)),
        ("impacting-bar", r#"{ name = "generalized-alpha", rho_inf = 0.9 }"#.into(), Some(Quantity::Storage)),
        // Restitution 0.8: proven up to theta = 1/1.8.
        ("impacting-oscillator", format!("{mj} 0.6 }}"), None),
        ("impacting-bar", r#"{ name = "newmark", gamma = 0.6, beta = 0.25 }"#.into(), None),
        ("impacting-bar", r#"{ name = "generalized-alpha", rho_inf = 0.9, position = "ggl" }"#.into(), None),
        ("rotating-beam", format!("{mj} 0.5 }}"), None),
    ];
    for (name, scheme, quantity) in rows {
        let loaded = shipped(name, &[&format!("scheme={scheme}"), "time.end=0.05", "expect={}"]);
        let prepared = run::prepare(&loaded).unwrap();
        let (case, system) = (&loaded.case, &prepared.system);
        assert_eq!(Theorem::of(case, system).map(|theorem| theorem.quantity), quantity, "{name} {scheme}");
        let mut damaged = Damaged(run::method(case, system).unwrap(), 3);
        let guards = Guards::new(case, system);
        let control = RunControl { checkpointer: None, from: None, stop: &|| None };
        let result = march::march(&mut damaged, &mut run::pace(case, &prepared.system), &guards, &mut [], control);
        let Some(quantity) = quantity else {
            assert!(result.is_ok(), "{name} {scheme}");
            continue;
        };
        let error = result.err().unwrap_or_else(|| panic!("{name} {scheme}: nothing noticed"));
        assert_eq!(error.exit_code(), 5);
        let message = error.to_string();
        assert!(message.starts_with(&format!("guard `energy`: the {} grew by ", quantity.name())), "{message}");
        assert!(message.contains("in step 4 ") && message.contains("set guards.energy"), "{message}");
    }
}

/// Impulses that Gauss–Seidel left unfinished give energy; with the tolerance spelled out the guard says so.
#[test]
fn impulses_that_give_energy_are_noticed() {
    let solver = "solver.contact={ method = \"pgs\", tolerance = 1e-1 }";
    let set = ["scheme={ name = \"moreau-jean\" }", solver, "guards.contact=false"];
    let (error, _) = failure("newtons-cradle", &[&set[..], &["guards.energy.proven=1e-9"]].concat());
    let message = error.to_string();
    assert!(message.starts_with("guard `energy`: the energy grew by "), "{message}");
    assert!(message.contains("take a smaller solver.contact.tolerance"), "{message}");
    // By default the guard asks for no more than the solver was asked for.
    run::measure(&shipped("newtons-cradle", &set), None, &|| None).unwrap();
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
    // In lanes infinities of both signs meet.
    for (name, node, what, place) in [
        ("impacting-bar", "bar.end", "NaN", "body `bar`, node 0 at (5)"),
        ("bouncing-ball", "ball", "inf", "body `ball`, node 0 at (1)"),
    ] {
        let load = format!("load=[{{ name = \"l\", nodes = \"{node}\", force = [1.7e308], {ramp} }}]");
        let (error, checkpoint) = failure(name, &[&load]);
        let message = error.to_string();
        assert_eq!(error.exit_code(), 5, "{message}");
        assert!(message.starts_with(&format!("the displacement became {what} in step ")), "{message}");
        assert!(message.contains(&format!("at {place}, component x")), "{message}");
        assert!(checkpoint.state.q.iter().all(|q| q.is_finite()), "the last good state");
    }
}

#[test]
fn thresholds_are_spelled_out_in_the_resolved_case() {
    let guards = |set: &[&str]| serde_json::to_value(&shipped("impacting-bar", set).case.guards).unwrap();
    assert_eq!(guards(&[])["contact"]["residual"], 1e-6);
    assert_eq!(guards(&["solver.contact.tolerance=1e-5"])["contact"]["residual"], 100.0 * 1e-5);
    assert_eq!(guards(&[])["energy"]["proven"], 1e-9);
    assert_eq!(guards(&["solver.contact.tolerance=1e-5"])["energy"]["proven"], 100.0 * 1e-5);
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
        let file = at_root("cases").join(format!("{name}.toml"));
        let error = case::load(&file, &[set.into()], false).and_then(|loaded| run::prepare(&loaded).map(|_| ()));
        let error = error.expect_err(set);
        assert_eq!(error.exit_code(), 3, "{set}: {error}");
        assert!(error.to_string().contains(what), "{set}: {error}");
    }
}
