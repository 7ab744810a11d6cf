//! Every scheme against `golden-small.json`: 60 steps of a problem with three unknowns and two contacts, computed by
//! an independent implementation that solves the complementarity problem by enumeration (see `data/README.md`).

use crate::common::{dense, numbers, reference, tableau};
use carom::case::data;
use carom::methods::tableau::{Settings, delassus_matrix, stepper};
use carom::schemes::Tableau;
use carom::state::State;
use carom::system::System;
use serde_json::Value;

/// The references agree among themselves to about 1e-12; this leaves room for another order of operations.
const TOLERANCE: f64 = 1e-10;

const HALF: data::Position = data::Position::Half;

/// Name in the file, scheme, its keys, the activation forecast, and the position rule.
type Run = (&'static str, &'static str, &'static [(&'static str, f64)], f64, data::Position);

/// All runs of the file that carom has a scheme for.
const RUNS: &[Run] = &[
    ("MJ theta=0.5", "moreau-jean", &[("theta", 0.5)], 0.5, HALF),
    ("MJ theta=0.6", "moreau-jean", &[("theta", 0.6)], 0.5, HALF),
    ("MJ theta=1 gact=1", "moreau-jean", &[("theta", 1.0)], 1.0, HALF),
    ("MJ variant theta=0.8", "moreau-jean-dissipative", &[("theta", 0.8)], 0.5, HALF),
    ("Newmark 1,.5625", "newmark", &[("gamma", 1.0), ("beta", 0.5625)], 0.5, HALF),
    ("Newmark .5,.25", "newmark", &[], 0.5, HALF),
    ("HHT .1", "hht", &[("alpha", 0.1)], 0.5, HALF),
    ("HHT .1 g=1 b=.5", "hht", &[("alpha", -0.1), ("gamma", 1.0), ("beta", 0.5)], 0.5, HALF),
    ("GenAlpha .6 half", "generalized-alpha", &[("rho_inf", 0.6)], 0.5, HALF),
    ("GenAlpha .6 GGL free-forecast", "generalized-alpha", &[("rho_inf", 0.6)], 0.5, data::Position::Ggl),
];

fn settings(forecast: f64, position: data::Position) -> Settings {
    let contact = data::ContactSolver { method: data::ContactMethod::Lemke, ..Default::default() };
    Settings { forecast, position, newton: data::Newton::default(), contact }
}

fn close(what: &str, ours: f64, theirs: f64) {
    assert!((ours - theirs).abs() <= TOLERANCE * theirs.abs().max(1.0), "{what}: {ours:.15e} against {theirs:.15e}");
}

fn close_all(what: &str, ours: &[f64], theirs: &Value) {
    let theirs = numbers(theirs);
    assert_eq!(ours.len(), theirs.len(), "{what}: how many there are");
    for (k, (x, y)) in ours.iter().zip(theirs).enumerate() {
        close(&format!("{what}[{k}]"), *x, y);
    }
}

/// Calls `check(step index, from, attempt, reference step)` along a run.
fn along(
    system: &System,
    (row, forecast, position): (Tableau, f64, data::Position),
    run: &Value,
    mut check: impl FnMut(usize, &State, &carom::methods::Attempt, &Value),
) {
    let h = 0.01;
    let mut stepper = stepper(system, row, settings(forecast, position)).unwrap();
    let mut attempt = stepper.initial_attempt(h).unwrap();
    let mut state = attempt.state.clone();
    for (k, step) in run["steps"].as_array().unwrap().iter().enumerate() {
        stepper.attempt(&state, h, (k + 1) as f64 * h, &mut attempt).unwrap();
        check(k, &state, &attempt, step);
        std::mem::swap(&mut state, &mut attempt.state);
    }
}

#[test]
fn states_impulses_and_ledgers_of_every_scheme() {
    let reference = reference("golden-small.json");
    let system = dense::golden();
    for &(label, name, keys, forecast, position) in RUNS {
        let mut impulses = 0;
        along(&system, (tableau(name, keys), forecast, position), &reference[label], |k, _, attempt, step| {
            let what = |part: &str| format!("{label} step {k} {part}");
            let (state, balance, ledger) = (&attempt.state, &attempt.balance, &step["ledger"]);
            close(&what("t"), state.time, step["t"].as_f64().unwrap());
            close_all(&what("q"), &state.q, &step["q"]);
            close_all(&what("v"), &state.v, &step["v"]);
            close_all(&what("P"), &state.impulse, &step["P"]);
            if let Some(a) = step.get("a") {
                close_all(&what("a"), &state.a, a);
            }
            if let (Some(storage), Some(z)) = (&state.storage, step.get("z")) {
                close_all(&what("z"), &storage.z, z);
            }
            for (column, ours) in [
                ("kinetic", state.energy.kinetic),
                ("strain", state.energy.strain),
                ("external", balance.external),
                ("damping", balance.damping),
                ("contact", balance.contact),
                ("scheme", balance.scheme),
            ] {
                close(&what(column), ours, ledger[column].as_f64().unwrap());
            }
            assert!(balance.defect.abs() < 1e-14, "{} {:e}", what("defect"), balance.defect);
            assert!(balance.storage_defect.abs() < 1e-13, "{} {:e}", what("storage"), balance.storage_defect);
            // Corrections and impulses are reconciled to the solver's tolerance; impulses alone are exact.
            let limit = if position == HALF { 1e-13 } else { 1e-11 };
            assert!(attempt.complementarity < limit, "{} {:e}", what("residual"), attempt.complementarity);
            impulses += state.impulse.iter().filter(|p| **p > 0.0).count();
        });
        assert!(impulses > 5, "{label}: the run must meet contact, {impulses}");
    }
}

#[test]
fn storage_functions_change_as_the_sources_say() {
    let reference = reference("golden-small.json");
    let system = dense::golden();
    for &(label, name, keys, forecast, position) in &RUNS[4..] {
        along(&system, (tableau(name, keys), forecast, position), &reference[label], |k, from, attempt, step| {
            let before = from.storage.as_ref().unwrap().value;
            let after = attempt.state.storage.as_ref().unwrap().value;
            let theirs = step["energy_storage"]["delta"].as_f64().unwrap();
            close(&format!("{label} step {k} storage"), after - before, theirs);
        });
    }
}

/// The groupings of the sources: other splits of the same sum, (T17)–(T19).
#[test]
fn energy_groupings_of_the_sources() {
    let reference = reference("golden-small.json");
    let system = dense::golden();
    let mut mass_times = vec![0.0; 3];
    for &(label, name, keys, forecast, position) in RUNS {
        let row = tableau(name, keys);
        let h = 0.01;
        along(&system, (row, forecast, position), &reference[label], |k, from, attempt, step| {
            let to = &attempt.state;
            let blend = |s: f64, x0: &[f64], x1: &[f64]| -> Vec<f64> {
                x0.iter().zip(x1).map(|(a, b)| (1.0 - s) * a + s * b).collect()
            };
            let minus = |x: &[f64], y: &[f64]| -> Vec<f64> { x.iter().zip(y).map(|(a, b)| a - b).collect() };
            let dot = carom::la::dot;
            let dq = minus(&to.q, &from.q);
            let dv = minus(&to.v, &from.v);
            let rates = |s: &State| -> Vec<f64> { system.contacts.candidates.iter().map(|c| c.rate(&s.v)).collect() };
            let dq_k = dot(&dq, &minus(&to.internal, &from.internal));
            let check = |block: &str, name: &str, ours: f64| {
                close(&format!("{label} step {k} {block}.{name}"), ours, step[block][name].as_f64().unwrap());
            };
            let half_power = dot(&blend(0.5, &rates(from), &rates(to)), &to.impulse);
            if row.storage {
                let s = 1.0 - row.alpha_f;
                let da = minus(&to.a, &from.a);
                let (gamma, beta) = (row.g1, row.b1);
                system.mass.multiply(&da, &mut mass_times);
                let dq_da = dot(&dq, &mass_times);
                let a_gamma = blend(gamma, &from.a, &to.a);
                let da_a = dot(&a_gamma, &mass_times);
                check("energy_onestep", "ext", dot(&dq, &blend(s, &from.applied, &to.applied)));
                check("energy_onestep", "damp", -dot(&dq, &blend(s, &from.viscous, &to.viscous)));
                check("energy_onestep", "imp", half_power);

                let numerical = -(0.5 - row.alpha_f) * dq_k
                    - (1.0 - row.alpha_m - gamma) * dq_da
                    - 0.5 * h * h * (2.0 * beta - gamma) * da_a;
                check("energy_onestep", "num", numerical);
            } else {
                let theta = 1.0 - row.alpha_f;
                let kinematic = row.b1;
                system.mass.multiply(&dv, &mut mass_times);
                let dv_m = dot(&dv, &mass_times);
                let mean = blend(kinematic, &from.v, &to.v);
                let drag = blend(kinematic, &from.viscous, &to.viscous);
                check("energy", "ext", h * dot(&mean, &blend(theta, &from.applied, &to.applied)));
                check("energy", "damp", -h * dot(&mean, &drag));
                check("energy", "imp", dot(&blend(kinematic, &rates(from), &rates(to)), &to.impulse));
                check("energy", "num", (0.5 - kinematic) * dv_m + (0.5 - theta) * dq_k);
            }
        });
    }
}

#[test]
fn delassus_operators() {
    let reference = reference("golden-small.json");
    let system = dense::golden();
    for &(label, name, keys, forecast, position) in RUNS {
        if position != HALF {
            continue;
        }
        let (row, settings) = (tableau(name, keys), settings(forecast, HALF));
        let start = stepper(&system, row, settings.clone()).unwrap().initial_attempt(0.01).unwrap().state;
        let w = delassus_matrix(&system, row, settings, &start, 0.01).unwrap();
        let theirs = reference[label]["W"].as_array().unwrap();
        assert_eq!(w.len(), theirs.len(), "{label} W");
        for (i, row) in theirs.iter().enumerate() {
            close_all(&format!("{label} W[{i}]"), &w[i], row);
        }
    }
}
