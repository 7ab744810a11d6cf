//! The scheme of Schatzman and Paoli: its identity in all weights, its order, what it keeps, and what it refuses.

use crate::common::runs::{Run, run, try_run};
use crate::common::{reference, shipped};
use carom::exact::BouncingBall;

/// With restitution the second of two impulses may give energy, which is the law and not a fault of the step.
const GUARDS: &str = "guards.energy=false";

/// Rows of `adaptive.json`, an independent code: sums of impulses, and how many steps have one.
#[test]
fn impulses_are_those_of_an_independent_code() {
    let file = reference("adaptive.json");
    let rows = file["schatzman-paoli"].as_array().unwrap();
    assert!(rows.len() >= 9);
    for row in rows.iter().filter(|row| row["case"] == "oscillator") {
        let (theta, symmetric) = (row["theta"].as_f64().unwrap(), row["symmetric"].as_bool().unwrap());
        let step = format!("time.step={:?}", 2.2 / row["steps"].as_f64().unwrap());
        let scheme = format!("scheme={{ name = \"schatzman-paoli\", theta = {theta:?}, symmetric = {symmetric} }}");
        let set = ["time.end=2.2", &step, &scheme, GUARDS, "guards.penetration=false", "expect={}"];
        let run = run(shipped("impacting-oscillator", &set));
        let impulses: Vec<f64> = run.steps.iter().map(|step| step.impulse.iter().sum()).collect();
        let (sum, wanted) = (impulses.iter().sum::<f64>(), row["impulses"].as_f64().unwrap());
        assert!((sum - wanted).abs() < 1e-9 * wanted, "{row}: {sum}");
        let count = impulses.iter().filter(|&&impulse| impulse > 0.0).count() as u64;
        assert_eq!(Some(count), row["impulse_steps"].as_u64(), "{row}");
        assert!(run.arrival.ledger.worst_step < 1e-12);
    }
}

/// An impacting bar with this scheme, damped and loaded unless it is to keep its energy.
fn bar(theta: f64, symmetric: bool, driven: bool) -> Run {
    let scheme = format!("scheme={{ name = \"schatzman-paoli\", theta = {theta:?}, symmetric = {symmetric} }}");
    let mut set = vec![scheme, "body.bar.line.elements=40".into(), "time.step=1e-3".into(), "expect={}".into()];
    if driven {
        set.push("body.bar.damping={ mass = 0.1, stiffness = 1e-4 }".into());
        set.push("load=[{ name = \"push\", nodes = \"bar.end\", force = [\"-20*sin(3*t)\"] }]".into());
    }
    run(shipped("impacting-bar", &set.iter().map(String::as_str).collect::<Vec<_>>()))
}

/// (T132) closes to round-off in every step, whatever the weights, with contact, damping and loads.
#[test]
fn the_identity_closes_in_all_weights() {
    for (theta, symmetric) in [(0.0, false), (0.25, false), (0.5, false), (1.0, false), (0.25, true), (0.5, true)] {
        let run = bar(theta, symmetric, true);
        let ledger = &run.arrival.ledger;
        assert!(ledger.worst_step < 1e-12, "theta {theta}, {symmetric}: {:e}", ledger.worst_step);
        assert!(ledger.worst_sum < 1e-11, "theta {theta}, {symmetric}: {:e}", ledger.worst_sum);
        assert!(ledger.sum.contact != 0.0 && ledger.sum.external != 0.0 && ledger.sum.damping < 0.0);
    }
}

/// With theta = 1/4 on both sides the scheme takes no energy but in its first step; plain weights damp.
#[test]
fn the_symmetric_quarter_takes_nothing() {
    let run = bar(0.25, true, false);
    let scale = run.arrival.ledger.scale;
    assert!(run.steps[2..].iter().all(|step| step.balance.scheme.abs() < 1e-14 * scale));
    let plain = bar(0.5, false, false);
    assert!(plain.arrival.ledger.sum.scheme < -1e-3 * scale, "{}", plain.arrival.ledger.sum.scheme);
}

/// L1 errors of the place of the ball at t = 0 … (N−1)h, as the mean over five nearby grids: those of the specification, 5.3e-2
/// with 100 steps and order 1.00 up to 1600 steps (an independent code).
#[test]
fn the_ball_is_of_first_order() {
    let exact = BouncingBall { gravity: 2.0, restitution: 0.5, height: 1.0 };
    let error = |steps: usize| {
        let mean = [0, 1, 2, 3, 4].map(|more| {
            let n = steps + more;
            let step = format!("time.step={:?}", 3.5 / n as f64);
            let run = run(shipped("bouncing-ball-two-step", &["time.end=3.5", &step, GUARDS, "expect={}"]));
            let (mut wrong, mut all) = (0.0, 0.0);
            for step in &run.steps[..n] {
                wrong += (run.place(step, 0, 0) - exact.position(step.time)).abs();
                all += exact.position(step.time).abs();
            }
            (wrong / all).ln()
        });
        (mean.iter().sum::<f64>() / 5.0).exp()
    };
    let [coarse, fine] = [100, 1600].map(error);
    let order = (coarse / fine).ln() / 16f64.ln();
    assert!((order - 1.0).abs() < 0.15, "{order} from {coarse:e} to {fine:e}");
    assert!((0.5..2.0).contains(&(coarse / 5.3e-2)), "{coarse:e}");
}

/// What it does not know it refuses, by name.
#[test]
fn what_does_not_fit_is_refused() {
    for (case, set, word) in [
        ("bouncing-ball-two-step", "time.adaptive={}", "adapt"),
        ("bouncing-ball-two-step", "time.step=7e-3", "multiple"),
        ("rotating-beam", "scheme={ name = \"schatzman-paoli\" }", "nonlinear"),
        ("impacting-bar-redistributed", "scheme={ name = \"schatzman-paoli\", theta = 1 }", "redistributed"),
    ] {
        let error = try_run(shipped(case, &[set, "expect={}"])).err().expect("refused").to_string();
        assert!(error.contains("schatzman-paoli") && error.contains(word), "{case}: {error}");
    }
}
