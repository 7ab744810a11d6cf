//! Cost of a step per unknown, as a ratio to that of the smallest model: a step is linear in the number of elements.
//!
//! ```text
//! cargo bench --bench step
//! ```
//!
//! Ratios rather than times, because only they mean the same on every machine; the best of many short stretches,
//! because noise only ever adds, and a short stretch has a chance to miss it. Large models no longer fit the caches: a ratio above 1 that levels off is the price
//! of memory, one that keeps growing would be an algorithm that is not linear.

use carom::case::data::Case;
use carom::case::{Format, parse};
use carom::cases;
use carom::la::{Factor, Symmetric};
use carom::model::Model;
use carom::run;
use carom::system::System;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Steps per run; the bar stays in contact for 333 of them, whatever its number of elements.
const STEPS: usize = 200;
/// Steps in a stretch times elements: a millisecond or so.
const STRETCH: usize = 40_000;
/// Runs are repeated for this long, and at least three times.
const PATIENCE: Duration = Duration::from_secs(2);

fn main() {
    println!("impacting bar in contact, generalized-alpha, the best stretch of a run");
    println!("{:>10} {:>16} {:>22} {:>8}", "elements", "us per step", "ns per step, unknown", "ratio");
    let mut first = None;
    for elements in [200, 2_000, 20_000, 200_000] {
        let (step, unknowns) = seconds_per_step(elements);
        let each = step / unknowns as f64;
        let ratio = each / *first.get_or_insert(each);
        println!("{elements:>10} {:>16.2} {:>22.2} {ratio:>8.2}", step * 1e6, each * 1e9);
    }
    floor();
    frame();
}

/// A settled step of the shipped beam with every node on the floor, over one of the same beam in free flight.
fn floor() {
    println!("\nbeam with every node on the floor, moreau-jean, over the same beam in free flight");
    println!(
        "{:>10} {:>12} {:>12} {:>8} {:>8} {:>8} {:>12}",
        "nodes", "us, closed", "us, free", "ratio", "tilted", "gen-a", "residual"
    );
    let text = cases::find("beam-on-floor").expect("it ships").text;
    for nodes in [2_000, 10_000] {
        let line = |y: f64| {
            let (end, elements) = (0.01 * nodes as f64, nodes - 1);
            format!("body.beam.line={{ from = [0.0, {y:?}], to = [{end:?}, {y:?}], elements = {elements} }}")
        };
        let rest = "expect={}".to_string();
        let still = "body.beam.velocity=[0.0, 0.0]".to_string();
        let time = |set: &[String], active: usize| {
            let case =
                parse(text, "beam-on-floor", Format::Toml, set).unwrap_or_else(|bad| panic!("{}", bad.render(false)));
            settled(&case, &|name| name.into(), active)
        };
        // The same beam, floor and weight, turned by the angle of a triangle with sides 3, 4 and 5.
        let [x, y] = [0.008, 0.006].map(|part| part * nodes as f64);
        let turned = [
            format!("body.beam.line={{ from = [0.0, 0.0], to = [{x:?}, {y:?}], elements = {} }}", nodes - 1),
            "contact.floor.plane={ point = [0.0, 0.0], normal = [-0.6, 0.8] }".to_string(),
            "gravity=[5.886, -7.848]".to_string(),
            still.clone(),
            rest.clone(),
        ];
        let alpha = "scheme={ name = \"generalized-alpha\", rho_inf = 0.8 }".to_string();
        let doubled = time(&[line(0.0), still.clone(), rest.clone(), alpha], nodes);
        let (closed, tilted) = (time(&[line(0.0), still, rest.clone()], nodes), time(&turned, nodes));
        let free = time(&[line(1e9), rest], 0);
        println!(
            "{nodes:>10} {:>12.1} {:>12.1} {:>8.2} {:>8.2} {:>8.2} {:>12.1e}",
            closed.step * 1e6,
            free.step * 1e6,
            closed.step / free.step,
            tilted.step / free.step,
            doubled.step / free.step,
            closed.complementarity
        );
    }
}

/// A step of a plane frame of 100 × 100 nodes, over faer's solve with the matrix of its step alone.
fn frame() {
    const SIDE: usize = 100;
    let dir = tempfile::tempdir().expect("a place for the mesh");
    std::fs::write(dir.path().join("frame.msh"), grid(SIDE)).expect("the mesh can be written");
    let path = |name: &str| dir.path().join(name);
    println!("\nframe of {SIDE} x {SIDE} nodes under its weight, over the solve of its step alone");
    println!("{:>20} {:>16} {:>16} {:>8}", "scheme", "us per step", "us per solve", "ratio");
    for scheme in ["name = \"moreau-jean\"", "name = \"generalized-alpha\", rho_inf = 0.6"] {
        let case = parse(FRAME, "frame", Format::Toml, &[format!("scheme={{ {scheme} }}")])
            .unwrap_or_else(|bad| panic!("{}", bad.render(false)));
        let [step, solve] = beside_solve(&case, &path);
        println!("{:>20} {:>16.1} {:>16.1} {:>8.2}", case.scheme.name, step * 1e6, solve * 1e6, step / solve);
    }
}

/// Members of unit length between the nodes of a square grid, held at its foot.
const FRAME: &str = r#"
format = 1
title = "frame"
gravity = [0.0, -9.81]
time = { end = 1.0, step = 1e-3 }
scheme = { name = "moreau-jean" }

[[body]]
name = "frame"
element = "linear-beam"
mesh = "frame.msh"
material = { young = 2.1e11, poisson = 0.3, density = 7850.0 }
section = { shape = "rectangle", width = 0.1, height = 0.1 }

[[set]]
name = "feet"
box = [[0.0, 0.0], [1e3, 0.0]]

[[support]]
name = "ground"
nodes = "feet"
fix = ["x", "y", "theta"]
"#;

/// A Gmsh file of a square grid of nodes with a line between neighbours.
fn grid(side: usize) -> String {
    let count = side * side;
    let mut lines = Vec::new();
    for (i, j) in (0..count).map(|k| (k % side, k / side)) {
        let node = 1 + j * side + i;
        lines.extend((i + 1 < side).then_some([node, node + 1]));
        lines.extend((j + 1 < side).then_some([node, node + side]));
    }
    let mut text = format!("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 {count} 1 {count}\n1 1 0 {count}\n");
    (1..=count).for_each(|node| text += &format!("{node}\n"));
    (0..count).for_each(|k| text += &format!("{} {} 0\n", k % side, k / side));
    let count = lines.len();
    text += &format!("$EndNodes\n$Elements\n1 {count} 1 {count}\n1 1 1 {count}\n");
    for (k, [a, b]) in lines.into_iter().enumerate() {
        text += &format!("{} {a} {b}\n", k + 1);
    }
    text + "$EndElements\n"
}

/// What a settled step is like.
struct Settled {
    step: f64,
    complementarity: f64,
}

/// The best step of a case after its first five, with so many active contacts; and its worst residual.
fn settled(case: &Case, path: &dyn Fn(&str) -> PathBuf, active: usize) -> Settled {
    let model = Model::new(case, path).expect("the case is sound");
    let system = System::assemble(&model).expect("the case is sound");
    let mut method = run::method(case, &system).expect("the case is sound");
    let h = case.time.step;
    let mut attempt = method.initial_attempt(h).expect("the case runs");
    let mut state = attempt.state.clone();
    let (mut settled, clock, mut steps) = (Settled { step: f64::INFINITY, complementarity: 0.0 }, Instant::now(), 0);
    while clock.elapsed() < PATIENCE || steps < 30 {
        let begun = Instant::now();
        method.attempt(&state, h, (state.step + 1) as f64 * h, &mut attempt).expect("the case runs");
        let elapsed = begun.elapsed().as_secs_f64();
        std::mem::swap(&mut state, &mut attempt.state);
        steps += 1;
        if steps > 5 {
            assert_eq!(attempt.active, active, "contacts");
            settled.step = settled.step.min(elapsed);
            settled.complementarity = settled.complementarity.max(attempt.complementarity);
        }
    }
    settled
}

/// The best step of a case, and the best solve with its effective matrix, in turns: both see the same neighbours.
fn beside_solve(case: &Case, path: &dyn Fn(&str) -> PathBuf) -> [f64; 2] {
    let model = Model::new(case, path).expect("the case is sound");
    let system = System::assemble(&model).expect("the case is sound");
    let mut method = run::method(case, &system).expect("the case is sound");
    let h = case.time.step;
    let mut matrix = Symmetric::zeros(system.mass.pattern.clone());
    system.effective(&system.q0, 1.0, 0.0, 0.25 * h * h, &mut matrix);
    let mut factor = Factor::new(&matrix.pattern, system.nodes.free);
    assert_eq!(factor.name(), "sparse LDL");
    factor.factor(&matrix).expect("the matrix is regular");
    let mut attempt = method.initial_attempt(h).expect("the case runs");
    let (mut state, mut x) = (attempt.state.clone(), system.gravity.clone());
    let (mut best, clock) = ([f64::INFINITY; 2], Instant::now());
    while clock.elapsed() < 2 * PATIENCE {
        let begun = Instant::now();
        method.attempt(&state, h, (state.step + 1) as f64 * h, &mut attempt).expect("the case runs");
        best[0] = best[0].min(begun.elapsed().as_secs_f64());
        std::mem::swap(&mut state, &mut attempt.state);
        x.copy_from_slice(&state.internal);
        let begun = Instant::now();
        factor.solve(&mut x);
        best[1] = best[1].min(begun.elapsed().as_secs_f64());
    }
    best
}

/// Time of a step of the bar that touches the wall from the beginning, at the Courant number of the shipped case; and
/// its number of unknowns.
fn seconds_per_step(elements: usize) -> (f64, usize) {
    let text = cases::find("impacting-bar").expect("it ships").text;
    let h = 0.4 / elements as f64;
    let set = [
        format!("body.bar.line={{ from = [0.0], to = [10.0], elements = {elements} }}"),
        format!("time={{ end = 3.0, step = {h:e} }}"),
    ];
    let case = parse(text, "impacting-bar", Format::Toml, &set).unwrap_or_else(|bad| panic!("{}", bad.render(false)));
    let model = Model::new(&case, &|name| name.into()).expect("the case ships");
    let system = System::assemble(&model).expect("the case ships");
    let mut method = run::method(&case, &system).expect("the case ships");
    let stretch = (STRETCH / elements).clamp(1, STEPS);
    let mut best = f64::INFINITY;
    let clock = Instant::now();
    let mut repetitions = 0;
    while repetitions < 3 || clock.elapsed() < PATIENCE {
        let mut attempt = method.initial_attempt(h).expect("the case runs");
        let mut state = attempt.state.clone();
        let mut walk = |steps: usize| {
            let begun = Instant::now();
            for _ in 0..steps {
                method.attempt(&state, h, (state.step + 1) as f64 * h, &mut attempt).expect("the case runs");
                std::mem::swap(&mut state, &mut attempt.state);
            }
            assert_eq!(attempt.active, 1, "the bar must be in contact");
            begun.elapsed().as_secs_f64() / steps as f64
        };
        // The first step factors and meets the wall.
        walk(1);
        for _ in 0..STEPS / stretch {
            best = best.min(walk(stretch));
        }
        repetitions += 1;
    }
    (best, system.nodes.free)
}
