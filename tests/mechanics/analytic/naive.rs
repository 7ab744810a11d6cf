//! Why contact impulses stand apart from accelerations: Newmark's scheme with the contact force inside the acceleration
//! re-injects it in the next step, and its force grows like 1/h. Not a scheme of carom; a ball on a floor suffices.

use crate::common::runs::{load, run};

const GRAVITY: f64 = 9.81;
const RESTITUTION: f64 = 0.9;
const END: f64 = 3.0;

/// Where the naive scheme imposes the contact law.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    /// 0 ≤ v1 + e v0 ⊥ λ ≥ 0 once the forecast position is below the floor.
    Velocity,
    /// 0 ≤ q1 ⊥ λ ≥ 0.
    Position,
}

/// What the naive scheme makes of a ball of mass one, dropped from rest.
struct Outcome {
    /// Contact force at the first impact.
    force: f64,
    /// Velocities after that step and the next.
    after: [f64; 2],
    /// Largest height after the first impact.
    height: f64,
    /// Largest energy, of the initial one.
    energy: f64,
}

/// q1 = q0 + h v0 + h² ((½−β) a0 + β a1), v1 = v0 + h ((1−γ) a0 + γ a1), a = λ − g.
fn naive(level: Level, (gamma, beta): (f64, f64), height: f64, h: f64) -> Outcome {
    let (mut q, mut v, mut a) = (height, 0.0, -GRAVITY);
    let mut outcome = Outcome { force: 0.0, after: [0.0; 2], height: f64::NEG_INFINITY, energy: 0.0 };
    let mut since = None;
    for _ in 0..(END / h).round() as usize {
        let q_free = q + h * v + h * h * ((0.5 - beta) * a - beta * GRAVITY);
        let v_free = v + h * ((1.0 - gamma) * a - gamma * GRAVITY);
        let force = match level {
            Level::Velocity if q + 0.5 * h * v <= 0.0 => (-(v_free + RESTITUTION * v) / (h * gamma)).max(0.0),
            Level::Velocity => 0.0,
            Level::Position => (-q_free / (h * h * beta)).max(0.0),
        };
        (q, v, a) = (q_free + h * h * beta * force, v_free + h * gamma * force, force - GRAVITY);
        if since.is_none() && force > 0.0 {
            (since, outcome.force) = (Some(0), force);
        }
        if let Some(steps) = &mut since {
            if *steps < 2 {
                outcome.after[*steps] = v;
            }
            *steps += 1;
            outcome.height = outcome.height.max(q);
        }
        outcome.energy = outcome.energy.max((0.5 * v * v + GRAVITY * q) / (GRAVITY * height));
    }
    outcome
}

/// Agreement to the digits that the reference gives.
fn digits(what: &str, ours: f64, reference: f64, last: f64) {
    assert!((ours - reference).abs() <= 0.501 * last, "{what}: {ours} for {reference}");
}

/// The numbers are those of an independent implementation, with as many digits as it printed.
#[test]
fn velocity_level_blows_up_unless_fully_implicit() {
    let consistent = naive(Level::Velocity, (1.0, 0.5), 1.0, 1e-3);
    digits("force", consistent.force, 8434.6, 0.1);
    digits("first velocity", consistent.after[0], 3.991, 1e-3);
    digits("second velocity", consistent.after[1], 3.981, 1e-3);
    digits("height", consistent.height, 0.8094, 1e-4);
    digits("energy", consistent.energy, 1.0, 1e-2);

    let blown_up = naive(Level::Velocity, (0.5, 0.25), 1.0, 1e-3);
    digits("force", blown_up.force, 16869.0, 1.0);
    digits("first velocity", blown_up.after[0], 3.991, 1e-3);
    digits("second velocity", blown_up.after[1], 12.416, 1e-3);
    digits("height", blown_up.height, 7.862, 1e-3);
    digits("energy", blown_up.energy, 61.7, 0.1);
}

#[test]
fn position_level_has_a_restitution_that_depends_on_the_step() {
    for (parameters, height, h, force, after, (top, last), energy) in [
        ((1.0, 0.5), 1.0, 1e-3, 4222.0, -0.212, (0.0023, 1e-4), 1.0),
        ((1.0, 0.5), 1.0, 5e-4, 16889.0, 4.010, (0.8197, 1e-4), 1.0),
        ((1.0, 0.5), 1.01, 1e-3, 1998.0, -2.456, (0.307, 1e-3), 1.0),
        ((1.0, 0.5), 1.01, 5e-4, 7992.0, -0.458, (0.011, 1e-3), 1.0),
        ((0.5, 0.25), 1.0, 1e-3, 8444.0, -0.212, (5.88, 1e-2), 5.9),
        ((0.5, 0.25), 1.0, 5e-4, 33778.0, 4.010, (7.90, 1e-2), 55.6),
    ] {
        let outcome = naive(Level::Position, parameters, height, h);
        let what = |part: &str| format!("{part} of {parameters:?} from {height} with {h}");
        digits(&what("force"), outcome.force, force, 1.0);
        digits(&what("velocity"), outcome.after[0], after, 1e-3);
        digits(&what("height"), outcome.height, top, last);
        digits(&what("energy"), outcome.energy, energy, 0.1);
    }
}

/// The nonsmooth Newmark on the same ball: one impulse, no blow-up, whatever its parameters.
#[test]
fn nonsmooth_newmark_rebounds_as_it_should() {
    for (gamma, beta) in [(0.5, 0.25), (1.0, 0.5)] {
        let run = run(load(
            &format!(
                r#"
            format = 1
            gravity = [-{GRAVITY}]
            time = {{ end = {END}, step = 1e-3 }}
            scheme = {{ name = "newmark", gamma = {gamma:?}, beta = {beta} }}
            [[body]]
            name = "ball"
            element = "mass"
            at = [1.0]
            mass = 1.0
            [[contact]]
            name = "floor"
            nodes = "ball"
            plane = {{ point = [0.0], normal = [1.0] }}
            restitution = {RESTITUTION}
            "#
            ),
            &[],
        ));
        let first = run.steps.iter().position(|step| step.impulse[0] > 0.0).unwrap();
        digits("impulse", run.steps[first].impulse[0], 8.4346, 1e-4);
        let height = run.steps[first..].iter().map(|step| run.place(step, 0, 0)).fold(0.0, f64::max);
        digits("height", height, 0.80938, 1e-5);
        // Energy is counted from the initial place here, so that none may be gained.
        let energy = run.steps.iter().map(|step| step.energy.total()).fold(f64::NEG_INFINITY, f64::max);
        assert!(energy < 1e-10, "({gamma}, {beta}): {energy}");
    }
}
