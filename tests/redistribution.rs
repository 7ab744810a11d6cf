//! Massless contact nodes: mass matrices, the step against an independent implementation, the energy identity on random
//! problems, and bars and beams against the figures of that implementation.

mod common;

use carom::case::data::{self, MasslessLaw};
use carom::contact::{Candidate, Contacts, Group};
use carom::la::Symmetric;
use carom::march::Method;
use carom::schemes;
use carom::step::{Settings, Stepper};
use carom::system::System;
use carom::system::redistribution::Redistribution;
use common::history;
use common::runs::{self, Run};
use serde_json::Value;

fn settings() -> Settings {
    Settings {
        forecast: 0.5,
        position: data::Position::Half,
        newton: data::Newton::default(),
        contact: data::ContactSolver { tolerance: 1e-15, method: data::ContactMethod::Lemke, ..Default::default() },
    }
}

fn tableau(name: &str, keys: &[(&str, f64)]) -> schemes::Tableau {
    schemes::find(name).unwrap().tableau(&keys.iter().map(|(k, v)| (k.to_string(), *v)).collect())
}

fn entry(matrix: &Symmetric, i: usize, j: usize) -> f64 {
    matrix.pattern.position(i, j).map_or(0.0, |k| matrix.values[k])
}

/// Every row that massless nodes go with, and whether it goes with damping.
const ROWS: &[(&str, &[(&str, f64)], bool)] = &[
    ("newmark", &[], true),
    ("newmark", &[("gamma", 1.0), ("beta", 0.5625)], true),
    ("hht", &[("alpha", 0.1)], true),
    ("generalized-alpha", &[("rho_inf", 0.0)], true),
    ("generalized-alpha", &[("rho_inf", 0.5)], true),
    ("generalized-alpha", &[("rho_inf", 0.8)], true),
    ("generalized-alpha", &[("rho_inf", 1.0)], true),
    ("moreau-jean", &[("theta", 0.5)], true),
    ("moreau-jean", &[("theta", 0.7)], true),
    ("moreau-jean", &[("theta", 1.0)], true),
    ("moreau-jean-dissipative", &[("theta", 0.8)], false),
];

const SMALL: &str = r#"format = 1
gravity = [-0.5]
time = { end = 4.0, step = 0.1 }
scheme = { name = "newmark" }
[[body]]
name = "bar"
element = "bar"
line = { from = [0.13], to = [4.13], elements = 4 }
material = { young = 4.0, density = 1.0 }
section = { area = 1.0 }
velocity = [-1.0]
[[contact]]
name = "wall"
nodes = "bar.start"
plane = { point = [0.0], normal = [1.0] }
mass = "redistributed"
"#;

/// States, forces and works of `golden-mrm.json` to 1e-9, which leaves room for another order of operations.
#[test]
fn the_reference_bar_step_by_step() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/golden-mrm.json");
    let reference: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let lumped = ["body.bar.mass_matrix=\"lumped\"", "contact.wall.rule=\"const\""];
    let linear = ["body.bar.mass_matrix=\"consistent\"", "contact.wall.rule=\"lin\""];
    for (label, set, row) in [
        ("lump/const/trap", lumped, tableau("newmark", &[])),
        ("lump/const/ga.8", lumped, tableau("generalized-alpha", &[("rho_inf", 0.8)])),
        ("cons/lin/trap", linear, tableau("newmark", &[])),
        ("cons/lin/ga.8", linear, tableau("generalized-alpha", &[("rho_inf", 0.8)])),
    ] {
        let (_, system) = history::build(SMALL, &set).unwrap();
        let run = &reference[label];
        for i in 0..5 {
            for j in 0..5 {
                let theirs = run["M"][i][j].as_f64().unwrap();
                assert!((entry(&system.mass, i, j) - theirs).abs() < 1e-15, "{label} M[{i}][{j}]");
            }
        }
        let mut stepper = Stepper::new(&system, row, settings()).unwrap();
        let mut attempt = stepper.initial_attempt(0.1).unwrap();
        let mut state = attempt.state.clone();
        for (k, step) in run["steps"].as_array().unwrap().iter().enumerate() {
            stepper.attempt(&state, 0.1, (k + 1) as f64 * 0.1, &mut attempt).unwrap();
            let to = &attempt.state;
            let close = |what: &str, ours: f64, theirs: &Value| {
                let theirs = theirs.as_f64().unwrap();
                assert!((ours - theirs).abs() <= 1e-9 * theirs.abs().max(1.0), "{label} {k} {what}: {ours} {theirs}");
            };
            for i in 0..5 {
                close("q", to.q[i], &step["q"][i]);
                close("v", to.v[i], &step["v"][i]);
                close("a", to.a[i], &step["a"][i]);
            }
            close("force", to.force[0], &step["lam"][0]);
            close("impulse", to.impulse[0] / 0.1, &step["lam"][0]);
            // There gravity is an external force and not a potential.
            let gravity = state.energy.potential - to.energy.potential;
            close("E", to.energy.kinetic + to.energy.strain, &step["E"]);
            close("external", attempt.balance.external + gravity, &step["ext"]);
            close("damping", attempt.balance.damping, &step["damp"]);
            close("contact", attempt.balance.contact, &step["contact"]);
            close("support", attempt.balance.support, &step["support"]);
            close("scheme", attempt.balance.scheme, &step["num"]);
            assert!(attempt.balance.defect.abs() < 1e-14, "{label} {k} {:e}", attempt.balance.defect);
            assert!(attempt.complementarity < 1e-15, "{label} {k}");
            std::mem::swap(&mut state, &mut attempt.state);
        }
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        low + (high - low) * (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Ten unknowns with full matrices, three of them massless, oscillating loads, and gaps that mix massive and massless
/// unknowns. Springs and dashpots between all nodes give K and C.
fn random_system(random: &mut Random, damped: bool, law: MasslessLaw) -> System {
    const N: usize = 10;
    let mut text = String::from("format = 1\ntime = { end = 1.0, step = 0.1 }\nscheme = { name = \"newmark\" }\n");
    for i in 0..=N {
        text += &format!("[[body]]\nname = \"m{i}\"\nelement = \"mass\"\nat = [{i}.0]\nmass = 1.0\n");
        if i < N {
            text += &format!("velocity = [{}]\n", random.next(-1.0, 1.0));
        }
    }
    for i in 0..=N {
        for j in 0..i {
            let (k, c) = (random.next(5.0, 50.0), if damped { random.next(0.05, 0.5) } else { 0.0 });
            text += &format!(
                "[[body]]\nname = \"s{i}-{j}\"\nelement = \"spring\"\nbetween = [\"m{i}\", \"m{j}\"]\nstiffness = {k}\n\
                 damping = {c:?}\n"
            );
        }
    }
    text += &format!("[[support]]\nname = \"ground\"\nnodes = \"m{N}\"\nfix = [\"x\"]\n");
    for i in 0..N {
        text += &format!(
            "[[load]]\nname = \"f{i}\"\nnodes = \"m{i}\"\nforce = [{}]\ntime = {{ kind = \"harmonic\", frequency = {} }}\n",
            random.next(-60.0, 60.0),
            random.next(0.2, 1.5)
        );
    }
    let (_, mut system) = history::build(&text, &[]).unwrap();
    let massless = [2, 5, 8];
    let rows: Vec<(usize, Vec<(usize, f64)>)> = massless.iter().map(|&c| (c, vec![(c + 1, 1.0)])).collect();
    let factor: Vec<Vec<f64>> = (0..N).map(|_| (0..N).map(|_| random.next(-0.5, 0.5)).collect()).collect();
    for i in 0..N {
        for j in i..N {
            let gram: f64 = (0..N).map(|k| factor[i][k] * factor[j][k]).sum();
            let value = if massless.contains(&i) || massless.contains(&j) { 0.0 } else { gram };
            let place = system.mass.pattern.position(i, j).unwrap();
            system.mass.values[place] = value + if i == j && value != 0.0 { 0.5 } else { 0.0 };
        }
    }
    let candidates = massless.iter().map(|&c| {
        let other = random.next(-0.5, 0.5);
        Candidate::affine(random.next(0.0, 0.2), &[(c as u32, 1.0), ((c - 1) as u32, other)], 0.0)
    });
    system.contacts =
        Contacts { groups: vec![Group { name: "all".into(), range: 0..3 }], candidates: candidates.collect() };
    system.redistribution = Some(Redistribution::new(system.nodes.total, &rows, law));
    system
}

/// The ledger, the law, and the equilibrium of massless rows to round-off; contacts close and open, damping acts on
/// massless unknowns.
#[test]
fn random_problems_close_their_ledgers() {
    let mut random = Random(11);
    let (mut worst, mut law, mut balance) = (0.0_f64, 0.0_f64, 0.0_f64);
    let mut openings = [0; 2];
    for trial in 0..20 {
        let damped = trial % 2 == 0;
        let system = random_system(&mut random, damped, MasslessLaw::Position);
        assert_eq!(system.damped, damped);
        for (name, keys, with_damping) in ROWS {
            if damped && !with_damping {
                continue;
            }
            let h = 0.02;
            let mut stepper = Stepper::new(&system, tableau(name, keys), settings()).unwrap();
            let mut attempt = stepper.initial_attempt(h).unwrap();
            let mut state = attempt.state.clone();
            for k in 1..=150 {
                stepper.attempt(&state, h, k as f64 * h, &mut attempt).unwrap();
                let to = &attempt.state;
                let scale = to.energy.kinetic + to.energy.strain;
                worst = worst.max(attempt.balance.defect.abs() / scale.max(1.0));
                law = law.max(attempt.complementarity);
                for c in [2, 5, 8] {
                    let pushes = system.contacts.candidates.iter().zip(&to.force).map(|(g, f)| f * g.gradient(c));
                    let rest = to.internal[c] + to.viscous[c] - to.applied[c] - pushes.sum::<f64>();
                    balance = balance.max(rest.abs());
                    assert_eq!(to.a[c], 0.0);
                }
                for i in 0..3 {
                    openings[damped as usize] += usize::from(state.force[i] > 0.0 && to.force[i] == 0.0);
                }
                std::mem::swap(&mut state, &mut attempt.state);
            }
        }
    }
    println!("defect {worst:e}, law {law:e}, massless rows {balance:e}, openings {openings:?}");
    assert!(openings[0] > 100 && openings[1] > 100, "{openings:?}");
    // Forces are of size 100.
    assert!(worst < 1e-13 && law < 1e-14 && balance < 1e-11);
}

/// The bar of 10 with E = 900, falling at 10 on a wall; the exact force is 300 and the energy 500.
fn bar(elements: usize, h: f64, phase: f64, set: &[String]) -> Run {
    let from = 5.0 + phase * h * 10.0;
    let mut all = vec![
        format!("body.bar.line={{ from = [{from:?}], to = [{:?}], elements = {elements} }}", from + 10.0),
        format!("time={{ end = 1.5, step = {h:?} }}"),
        "expect={}".to_string(),
    ];
    all.extend_from_slice(set);
    let set: Vec<&str> = all.iter().map(String::as_str).collect();
    runs::run(runs::shipped("impacting-bar", &set))
}

fn choose(mass: &str, rule: &str, scheme: &str) -> Vec<String> {
    let mut set = vec![format!("body.bar.mass_matrix={mass:?}"), format!("scheme={scheme}")];
    if rule != "kept" {
        set.extend(["contact.wall.mass=\"redistributed\"".to_string(), format!("contact.wall.rule={rule:?}")]);
    }
    set
}

const TRAPEZOID: &str = r#"{ name = "newmark" }"#;
const MOREAU: &str = r#"{ name = "moreau-jean" }"#;

fn loss(run: &Run) -> f64 {
    1.0 - run.last().energy.total() / 500.0
}

/// Mean and largest loss of energy over twelve phases of the impact within a step.
fn losses(elements: usize, h: f64, set: &[String]) -> [f64; 2] {
    let all: Vec<f64> = (0..12).map(|k| loss(&bar(elements, h, k as f64 / 12.0, set))).collect();
    [all.iter().sum::<f64>() / 12.0, all.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
}

/// Standard deviation of the force within an interval, over 300.
fn scatter(run: &Run, from: f64, to: f64) -> f64 {
    let forces: Vec<f64> = run.steps.iter().filter(|s| s.time > from && s.time < to).map(|s| run.force(s)).collect();
    let mean = forces.iter().sum::<f64>() / forces.len() as f64;
    (forces.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / forces.len() as f64).sqrt() / 300.0
}

#[test]
fn energy_lost_over_twelve_phases() {
    for n in [50, 100, 200, 400] {
        let h = 0.5 * 10.0 / n as f64 / 30.0;
        let a = losses(n, h, &choose("lumped", "const", TRAPEZOID));
        let b = losses(n, h, &choose("lumped", "const", r#"{ name = "generalized-alpha", rho_inf = 0.8 }"#));
        let c = losses(n, h, &choose("consistent", "kept", MOREAU));
        println!("{n}: {a:?} {b:?} {c:?}");
    }
    for (mass, rule) in [("lumped", "const"), ("consistent", "const")] {
        println!("{mass} {:?} {:?}", losses(200, 2e-3, &choose(mass, rule, TRAPEZOID)), losses(200, 0.5 * 0.05/30.0, &choose(mass, rule, TRAPEZOID)));
    }
}

#[test]
fn aligned() {
    for n in [50, 100, 200, 400] {
        let h = 0.5 * 10.0 / n as f64 / 30.0;
        for (mass, rule, scheme) in [("lumped", "const", TRAPEZOID), ("consistent", "lin", TRAPEZOID), ("consistent", "const", TRAPEZOID), ("lumped", "const", r#"{ name = "generalized-alpha", rho_inf = 0.6 }"#), ("consistent", "kept", MOREAU), ("lumped", "kept", MOREAU)] {
            let run = bar(n, h, 0.0, &choose(mass, rule, scheme));
            let last = run.steps.iter().filter(|s| s.impulse[0] > 0.0).last().unwrap().time;
            let peak = run.steps.iter().map(|s| run.force(s)).fold(0.0, f64::max);
            println!("{n} {mass} {rule}: E {:.6} std {:.2e} inner {:.2e} last {last:.4} peak {peak:.0} defect {:.1e} law {:.1e}", 1.0 - loss(&run), scatter(&run, 0.55, 1.1167), scatter(&run, 0.6, 1.0667), run.arrival.ledger.worst_step, run.digest.complementarity);
        }
    }
}

#[test]
fn mid_velocity() {
    for (h, phase) in [(0.52 * 0.05 / 30.0, 0.37), (2.04e-3, 0.37)] {
        let mut set = choose("lumped", "const", MOREAU);
        set.push("contact.wall.law=\"mid-velocity\"".into());
        let run = bar(200, h, phase, &set);
        let worst = run.steps.iter().skip(1).map(|s| (s.balance.contact).abs()).fold(0.0, f64::max);
        println!("E-1 {:e} per step contact {worst:e} defect {:e} std {:e} penetration {} law {:e}", -loss(&run), run.arrival.ledger.worst_step, scatter(&run, 0.55, 1.1167), run.digest.penetration, run.digest.complementarity);
    }
}

/// The rotating beam, from the state just before its first impact at 0.3302 in steps of 2e-6.
fn rebound(elements: usize, rule: &str, end: f64) -> (Vec<[f64; 2]>, f64, f64, f64, usize) {
    let text = carom::cases::find("rotating-beam").unwrap().text;
    let line = format!("body.beam.line={{ from = [0.0, 0.0], to = [1.0, 0.0], elements = {elements} }}");
    let set = [line.as_str(), "contact.wall.restitution=0", "expect={}", rule];
    let (_, system) = history::build(text, &set).unwrap();
    let mut settings = settings();
    settings.contact = Default::default();
    let row = tableau("generalized-alpha", &[("rho_inf", 0.9)]);
    let mut stepper = Stepper::new(&system, row, settings).unwrap();
    let mut attempt = stepper.initial_attempt(1e-4).unwrap();
    let mut state = attempt.state.clone();
    let (mut impulses, mut defect, mut law, mut passes) = (Vec::new(), 0.0_f64, 0.0_f64, 0);
    let mut k = 0;
    while state.time < end {
        let (h, t1) = if k < 3298 { (1e-4, (k + 1) as f64 * 1e-4) } else { (2e-6, 0.3298 + (k - 3297) as f64 * 2e-6) };
        stepper.attempt(&state, h, t1, &mut attempt).unwrap();
        k += 1;
        defect = defect.max(attempt.balance.defect.abs());
        law = law.max(attempt.complementarity);
        passes += attempt.passes;
        impulses.push([t1, attempt.state.impulse[0]]);
        std::mem::swap(&mut state, &mut attempt.state);
    }
    println!("{elements}: E {} contact.. defect {defect:e} law {law:e} passes/step {}", state.energy.total(), passes as f64 / k as f64);
    (impulses, state.energy.total(), defect, law, passes)
}

#[test]
fn rotating() {
    for n in [8, 16, 32] {
        let (impulses, ..) = rebound(n, "contact.wall.mass=\"redistributed\"", 0.333);
        let first = impulses.iter().find(|[_, p]| *p > 0.0).unwrap()[0];
        let sum = |d: f64| impulses.iter().filter(|[t, _]| *t < first + d).map(|[_, p]| p).sum::<f64>();
        println!("{n} first {first} J1 {} J2 {}", sum(1e-3), sum(2e-3));
    }
}

#[test]
fn midphase() {
    for (h) in [0.52 * 0.05 / 30.0, 2.04e-3] {
        for k in 0..12 {
        let mut set = choose("lumped", "const", MOREAU);
        set.push("contact.wall.law=\"mid-velocity\"".into());
        let run = bar(200, h, k as f64 / 12.0, &set);
        println!("{k} E-1 {:e} std {:e} penetration/hv {}", -loss(&run), scatter(&run, 0.55, 1.1167), run.digest.penetration / (10.0 * h));
        }
    }
}
