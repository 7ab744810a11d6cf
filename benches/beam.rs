//! Cost of Newton's method on exact beams: a step of the rotating beam as a user gets it, and a pass per node of long
//! free beams.
//!
//! ```text
//! cargo bench --bench beam
//! ```

use carom::case::data::{Case, HistoryOutput};
use carom::case::{Format, parse};
use carom::cases;
use carom::model::Model;
use carom::run::{self, Prepared};
use carom::sinks::Sink;
use carom::sinks::columns::Columns;
use carom::sinks::digest::Digest;
use carom::sinks::history::History;
use carom::system::System;
use std::time::{Duration, Instant};

/// Every figure is the best of what fits into this time, and of three at least: noise only ever adds.
const PATIENCE: Duration = Duration::from_secs(3);

fn main() {
    let (step, passes) = rotating();
    println!("rotating beam, 4 elements, with ledger, guards, digest and a history line every 100 steps:");
    println!("{:>10.2} us per step, {passes:.2} passes per step", step * 1e6);
    println!("\nfree beam in large rotation, whole step over its passes");
    println!("{:>10} {:>22} {:>8}", "elements", "ns per node and pass", "ratio");
    let mut first = None;
    for elements in [100, 2_000, 20_000] {
        let each = flying(elements);
        println!("{elements:>10} {:>22.1} {:>8.2}", each * 1e9, each / *first.get_or_insert(each));
    }
}

fn prepare(text: &str, set: &[String]) -> (Case, Prepared) {
    let case = parse(text, "beam", Format::Toml, set).unwrap_or_else(|bad| panic!("{}", bad.render(false)));
    let model = Model::new(&case, &|name| name.into()).expect("the case is sound");
    let system = System::assemble(&model).expect("the case is sound");
    (case, Prepared { model, system, advice: Vec::new() })
}

/// Seconds and passes per step of the shipped case.
fn rotating() -> (f64, f64) {
    let (case, prepared) = prepare(cases::find("rotating-beam").expect("it ships").text, &[]);
    let columns = Columns::new(&prepared.model, &prepared.system);
    let directory = tempfile::tempdir().expect("a directory for the history");
    let settings = HistoryOutput { every: 100, ..case.output.history.clone() };
    let (mut best, mut passes) = (f64::INFINITY, 0.0);
    let (clock, mut runs) = (Instant::now(), 0);
    while clock.elapsed() < PATIENCE || runs < 3 {
        let mut history = History::new(directory.path(), &columns, &settings, case.time.end);
        let mut digest = Digest::new(&prepared.system);
        let begun = Instant::now();
        let sinks: &mut [&mut dyn Sink] = &mut [&mut digest, &mut history];
        run::march(&case, &prepared, sinks).expect("the case runs");
        best = best.min(begun.elapsed().as_secs_f64() / digest.steps as f64);
        passes = digest.passes as f64 / digest.steps as f64;
        runs += 1;
    }
    (best, passes)
}

const FREE: &str = r#"format = 1
[time]
end = 1.0
step = 1e-4
[scheme]
name = "generalized-alpha"
rho_inf = 0.8
[[body]]
name = "beam"
element = "beam"
line = { from = [0.0, 0.0], to = [10.0, 0.0], elements = 10 }
material = { young = 2.1e11, poisson = 0.3, density = 7800.0 }
section = { shape = "rectangle", width = 0.1, height = 0.1 }
spin = 20.0
"#;

/// Seconds per node and pass of a free beam that spins.
fn flying(elements: usize) -> f64 {
    let set = [format!("body.beam.line.elements={elements}")];
    let (case, prepared) = prepare(FREE, &set);
    let mut method = run::method(&case, &prepared.system).expect("the case is sound");
    let h = case.time.step;
    let mut attempt = method.initial_attempt(h).expect("the case runs");
    let mut state = attempt.state.clone();
    let (mut best, clock, mut steps) = (f64::INFINITY, Instant::now(), 0);
    while clock.elapsed() < PATIENCE || steps < 10 {
        let begun = Instant::now();
        method.attempt(&state, h, (state.step + 1) as f64 * h, &mut attempt).expect("the case runs");
        let elapsed = begun.elapsed().as_secs_f64();
        std::mem::swap(&mut state, &mut attempt.state);
        steps += 1;
        best = best.min(elapsed / (attempt.passes * (elements + 1)) as f64);
    }
    best
}
