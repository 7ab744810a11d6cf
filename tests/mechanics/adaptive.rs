//! Steps that adapt: against runs of an independent code, the order under changing steps, ledgers, and what must not change.

use crate::common::runs::{Run, SECOND_ORDER, run};
use crate::common::{load, reference, shipped};
use carom::case::Loaded;
use carom::exact::{BouncingBall, ImpactingOscillator};
use serde_json::Value;

fn adapting(name: &str, set: &[String], adaptive: &str) -> Loaded {
    let mut all: Vec<&str> = set.iter().map(String::as_str).collect();
    let adaptive = format!("time.adaptive={{ {adaptive} }}");
    all.extend(["expect={}", &adaptive]);
    shipped(name, &all)
}

/// Attempts of a run: steps taken and rejected; with doubling three for every pair.
fn work(run: &Run, doubling: bool) -> f64 {
    let (taken, again) = (run.steps.len() as f64 - 1.0, run.arrival.cuts.rejected as f64);
    if doubling { 3.0 * (0.5 * taken + again) } else { taken + again }
}

/// Relative L1 error of a place at the instants of the coarse grid.
fn error(run: &Run, node: usize, exact: impl Fn(f64) -> f64) -> f64 {
    let (step, count) = (run.case.time.step, (run.case.time.end / run.case.time.step).round() as usize);
    let (mut wrong, mut all) = (0.0, 0.0);
    for k in 0..=count {
        let t = k as f64 * step;
        let at = run.steps.iter().find(|it| (it.time - t).abs() < 1e-9 * t).unwrap_or_else(|| &run.steps[0]);
        assert!((at.time - t).abs() <= 1e-9 * t, "the instant {t} of the grid is met");
        wrong += (run.place(at, node, 0) - exact(t)).abs();
        all += exact(t).abs();
    }
    wrong / all
}

/// Rows of `adaptive.json`: errors within a factor of two, attempts within 15 %.
#[test]
fn small_problems_take_the_steps_of_an_independent_code() {
    let file = reference("adaptive.json");
    let ball = BouncingBall { gravity: 2.0, restitution: 0.5, height: 1.0 };
    let oscillator = ImpactingOscillator { stiffness: 39.47841760435743, mass: 1.0, restitution: 0.8, amplitude: 1.0 };
    for (problem, case, node) in [("ball", "bouncing-ball", 0), ("oscillator", "impacting-oscillator", 1)] {
        let data = &file["adaptive"][problem];
        let (step, end) = (data["step"].as_f64().unwrap(), data["end"].as_f64().unwrap());
        // The file also has constant steps, for comparison.
        let rows: Vec<&Value> =
            data["rows"].as_array().unwrap().iter().filter(|row| row["tolerance"].is_f64()).collect();
        assert_eq!(rows.len(), 8);
        for row in rows {
            let doubling = row["estimate"] == "double";
            let estimate = if doubling { "doubling" } else { "embedded" };
            let set = [
                format!("time.step={step:?}"),
                format!("time.end={end:?}"),
                format!("time.min_step={:?}", step / 131072.0),
            ];
            let keys = format!(
                "tolerance = {:?}, estimate = \"{estimate}\", length = 1.0",
                row["tolerance"].as_f64().unwrap()
            );
            let run = run(adapting(case, &set, &keys));
            let exact = |t: f64| if problem == "ball" { ball.position(t) } else { oscillator.position(t) };
            let (got, want) = (error(&run, node, exact), row["L1_q"].as_f64().unwrap());
            let (steps, counted) = (work(&run, doubling), row["inner_steps"].as_f64().unwrap());
            assert!(got < 2.0 * want && want < 2.0 * got, "{problem} {row}: {got:e}");
            assert!((steps / counted - 1.0).abs() < 0.15, "{problem} {row}: {steps}");
            assert_eq!(run.arrival.cuts.forced, 0);
            let worst = run.steps.iter().map(|step| step.balance.defect.abs()).fold(0.0, f64::max);
            assert!(worst < 1e-12, "{problem} {row}: defect {worst:e}");
        }
    }
}

/// A free oscillation under steps h, h/2, h/4, h/8, h/8, …: without the shift of accelerations generalized-alpha and HHT
/// would be of first order.
#[test]
fn second_order_survives_changing_steps() {
    use carom::march::{self, Guards, Pace, RunControl, Stride, Verdict};
    use carom::methods::Attempt;
    use carom::state::State;

    struct Pattern {
        h: f64,
        count: usize,
        end: f64,
    }
    impl Pace for Pattern {
        fn propose(&mut self, from: &State) -> Option<Stride> {
            let h = self.h * [1.0, 0.5, 0.25, 0.125, 0.125][self.count % 5];
            (from.time < self.end - 1e-9).then_some(Stride { h, end: from.time + h, grid: None })
        }
        fn judge(&mut self, _: &State, outcome: carom::Result<&Attempt>) -> carom::Result<Verdict> {
            outcome?;
            self.count += 1;
            Ok(Verdict::Accept)
        }
        fn save(&self) -> Vec<u8> {
            Vec::new()
        }
        fn restore(&mut self, _: &[u8]) -> carom::Result<()> {
            Ok(())
        }
    }
    for scheme in SECOND_ORDER {
        let text = format!(
            "format = 1\n[time]\nend = 4.0\nstep = 0.1\n[scheme]\n{}\n[[body]]\nname = \"ground\"\nelement = \"mass\"\nat = [0.0]\n\
             mass = 1.0\n[[body]]\nname = \"ball\"\nelement = \"mass\"\nat = [1.5]\nmass = 1.0\n[[body]]\nname = \"spring\"\n\
             element = \"spring\"\nbetween = [\"ground\", \"ball\"]\nstiffness = 4.0\nrest_length = 1.0\n[[support]]\nname = \"s\"\n\
             nodes = \"ground\"\nfix = [\"x\"]\n",
            scheme.trim_matches(['{', '}', ' ']).replace(", ", "\n")
        );
        let errors: Vec<f64> = [0.08, 0.04, 0.02]
            .iter()
            .map(|&h| {
                let loaded = load(&text, &["time.adaptive={}"]);
                let prepared = carom::run::prepare(&loaded).unwrap();
                let mut method = carom::run::method(&loaded.case, &prepared.system).unwrap();
                let guards = Guards::new(&loaded.case, &prepared.system);
                let control = RunControl { checkpointer: None, from: None, stop: &|| None };
                let mut pace = Pattern { h, count: 0, end: 4.0 };
                let state = march::march(method.as_mut(), &mut pace, &guards, &mut [], control).unwrap().state;
                // From 1.5, half a unit beyond the rest length, with ω = 2.
                (state.q[0] - 0.5 * ((2.0 * state.time).cos() - 1.0)).abs()
            })
            .collect();
        let order = (errors[0] / errors[2]).log2() / 2.0;
        assert!(order > 1.9, "{scheme}: order {order}, {errors:?}");
    }
}

/// Where errors are small, the ladder stays at its top, and the motion is that of constant steps to the bit (there is no storage function).
#[test]
fn nothing_changes_where_errors_are_small() {
    for scheme in ["newmark", "moreau-jean"] {
        let set = [format!("scheme={{ name = \"{scheme}\" }}"), "time.end=0.5".into()];
        let plain: Vec<&str> = set.iter().map(String::as_str).chain(["expect={}"]).collect();
        let constant = run(shipped("impacting-bar", &plain));
        let adaptive = run(adapting("impacting-bar", &set, "length = 1e9"));
        assert_eq!(constant.steps.len(), adaptive.steps.len());
        for (one, two) in constant.steps.iter().zip(&adaptive.steps) {
            assert!(one.q == two.q && one.v == two.v, "{scheme} at {}", one.time);
        }
    }
}

/// The tolerance means the same on every mesh: attempts on the impacting bar, against 158, 165, 169 and 170 of an independent
/// code.
#[test]
fn refinement_of_the_mesh_costs_no_steps() {
    for (elements, counted) in [(50, 158.0), (100, 165.0), (200, 169.0), (400, 170.0)] {
        let set = ["time.end=3.008".into(), "time.step=0.064".into(), format!("body.bar.line.elements={elements}")];
        let run = run(adapting("impacting-bar", &set, "tolerance = 1e-3, length = 10.0"));
        let steps = work(&run, false);
        assert!((steps / counted - 1.0).abs() < 0.1, "{elements} elements: {steps} attempts");
        assert_eq!(run.arrival.cuts.forced, 0);
        let worst = run.steps.iter().map(|step| step.balance.defect.abs()).fold(0.0, f64::max);
        assert!(worst < 1e-11 * 500.0, "defect {worst:e}");
    }
}

/// Violation is an increment: no step is forced while a contact lasts, and steps grow inside it.
#[test]
fn a_lasting_contact_does_not_lock_the_ladder() {
    let set = ["time.step=0.064".into(), "time.end=5.312".into(), "guards.penetration=false".into()];
    let run = run(adapting("bouncing-bar", &set, "tolerance = 3e-3"));
    assert_eq!(run.arrival.cuts.forced, 0);
    let grows = |pair: &[crate::common::runs::Step]| {
        pair.iter().all(|step| step.impulse.iter().any(|&p| p > 0.0)) && pair[1].h > pair[0].h
    };
    assert!(run.steps.windows(2).any(grows));
    assert!(run.steps.len() < 400, "{} steps", run.steps.len());
}
