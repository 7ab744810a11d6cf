//! Cost of a step per unknown, as a ratio to that of the smallest model: a step is linear in the number of elements.
//!
//! ```text
//! cargo bench --bench step
//! ```
//!
//! Ratios rather than times, because only they mean the same on every machine; the best of many short stretches,
//! because noise only ever adds, and a short stretch has a chance to miss it. Large models no longer fit the caches: a ratio above 1 that levels off is the price
//! of memory, one that keeps growing would be an algorithm that is not linear.

use carom::case::{Format, parse};
use carom::cases;
use carom::model::Model;
use carom::run;
use carom::system::System;
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
}

/// A step of the shipped beam of 2,000 nodes with every node on the floor, over one of the same beam in free flight.
fn floor() {
    let text = cases::find("beam-on-floor").expect("it ships").text;
    let time = |set: &[String], active: usize| {
        let case =
            parse(text, "beam-on-floor", Format::Toml, set).unwrap_or_else(|bad| panic!("{}", bad.render(false)));
        let model = Model::new(&case, &|name| name.into()).expect("the case ships");
        let system = System::assemble(&model).expect("the case ships");
        let mut method = run::method(&case, &system).expect("the case ships");
        let h = case.time.step;
        let mut attempt = method.initial_attempt(h).expect("the case runs");
        let mut state = attempt.state.clone();
        let (mut best, clock, mut steps) = (f64::INFINITY, Instant::now(), 0);
        while clock.elapsed() < PATIENCE || steps < 30 {
            let begun = Instant::now();
            method.attempt(&state, h, (state.step + 1) as f64 * h, &mut attempt).expect("the case runs");
            let elapsed = begun.elapsed().as_secs_f64();
            std::mem::swap(&mut state, &mut attempt.state);
            steps += 1;
            if steps > 5 {
                assert_eq!(attempt.active, active, "contacts");
                best = best.min(elapsed);
            }
        }
        best
    };
    let lying = "body.beam.line={ from = [0.0, 0.0], to = [20.0, 0.0], elements = 1999 }".to_string();
    let flying = "contact.floor.plane={ point = [0.0, -1e9], normal = [0.0, 1.0] }".to_string();
    let still = "body.beam.velocity=[0.0, 0.0]".to_string();
    let rest = "expect={}".to_string();
    // The same beam, floor and weight, turned by the angle of a triangle with sides 3, 4 and 5.
    let turned = [
        "body.beam.line={ from = [0.0, 0.0], to = [16.0, 12.0], elements = 1999 }",
        "contact.floor.plane={ point = [0.0, 0.0], normal = [-0.6, 0.8] }",
        "gravity=[5.886, -7.848]",
    ];
    let tilted: Vec<String> = turned.map(String::from).into_iter().chain([still.clone(), rest.clone()]).collect();
    let alpha = "scheme={ name = \"generalized-alpha\", rho_inf = 0.8 }".to_string();
    let both = time(&[lying.clone(), still.clone(), rest.clone(), alpha], 2000);
    let (closed, tilted) = (time(&[lying, still, rest.clone()], 2000), time(&tilted, 2000));
    let free = time(&[flying, rest], 0);
    println!(
        "\nbeam of 2,000 nodes, moreau-jean: a step with 2,000 closed contacts over a free one: {:.2}",
        closed / free
    );
    println!("{:>10.1} us, {:.1} us", closed * 1e6, free * 1e6);
    println!("on a tilted floor {:.2}, with generalized-alpha {:.2}", tilted / free, both / free);
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
