//! Cost of Newton's method on exact beams: a step of the rotating beam as a user gets it, and a pass per node of long
//! free beams, of equal elements, whose constants are kept once, and of unequal ones.
//!
//! ```text
//! cargo bench --bench beam
//! ```

use carom::case::data::{Case, HistoryOutput};
use carom::case::{Format, parse};
use carom::cases;
use carom::methods::tableau::{Passes, Settings};
use carom::model::Model;
use carom::run::{self, Prepared};
use carom::schemes;
use carom::sinks::columns::Columns;
use carom::sinks::digest::Digest;
use carom::sinks::history::History;
use carom::sinks::{Record, Sink};
use carom::system::System;
use std::time::{Duration, Instant};

/// Every figure is the best of what fits into this time, and of three at least: noise only ever adds.
const PATIENCE: Duration = Duration::from_secs(3);

/// Steps of the rotating beam in a stretch; all 3,000 are a multiple of it.
const STRETCH: usize = 50;

fn main() {
    let (step, passes) = rotating();
    println!("rotating beam, 4 elements, with ledger, guards, digest and a history line every 100 steps:");
    println!("{:>10.2} us per step, {passes:.2} passes per step", step * 1e6);
    println!("\nfree beam in large rotation, ns per node and pass; in brackets that over 100 elements");
    table("equal", 1.0);
    table("unequal", 1.1);
}

/// A line for every size; `grading` is the length of the last element over that of the first.
fn table(title: &str, grading: f64) {
    println!("{title:>10} {:>14} {:>14} {:>14} {:>14}", "pass, scalar", "pass, lanes", "step, scalar", "step, lanes");
    let mut first = None;
    for elements in [100, 2_000, 20_000] {
        let [scalar, lanes] = flying(elements, grading);
        let each = [scalar[0], lanes[0], scalar[1], lanes[1]];
        let first = *first.get_or_insert(each);
        print!("{elements:>10}");
        (0..4).for_each(|k| print!(" {:>7.1} ({:.2})", each[k] * 1e9, each[k] / first[k]));
        println!();
    }
}

fn prepare(text: &str, set: &[String]) -> (Case, Prepared) {
    let case = parse(text, "beam", Format::Toml, set).unwrap_or_else(|bad| panic!("{}", bad.render(false)));
    let model = Model::new(&case, &|name| name.into()).expect("the case is sound");
    let system = System::assemble(&model).expect("the case is sound");
    (case, Prepared { model, system, advice: Vec::new() })
}

/// Seconds and passes per step of the shipped case. Its steps differ, so each stretch of them is timed by itself.
fn rotating() -> (f64, f64) {
    let (case, prepared) = prepare(cases::find("rotating-beam").expect("it ships").text, &[]);
    let columns = Columns::new(&prepared.model, &prepared.system);
    let directory = tempfile::tempdir().expect("a directory for the history");
    let settings = HistoryOutput { every: 100, ..case.output.history.clone() };
    let mut watch = Watch { begun: Instant::now(), best: Vec::new() };
    let mut counts = [0; 2];
    let (clock, mut runs) = (Instant::now(), 0);
    while clock.elapsed() < PATIENCE || runs < 3 {
        let mut history = History::new(directory.path(), &columns, &settings, case.time.end);
        let mut digest = Digest::new(&prepared.system);
        let sinks: &mut [&mut dyn Sink] = &mut [&mut digest, &mut history, &mut watch];
        run::march(&case, &prepared, sinks).expect("the case runs");
        counts = [digest.passes, digest.steps];
        runs += 1;
    }
    let [passes, steps] = counts.map(|count| count as f64);
    (watch.best.iter().sum::<f64>() / steps, passes / steps)
}

/// The best time of every stretch of a run, over all runs.
struct Watch {
    begun: Instant,
    best: Vec<f64>,
}

impl Sink for Watch {
    fn record(&mut self, record: &Record) -> carom::Result<()> {
        let step = record.attempt.state.step as usize;
        if step.is_multiple_of(STRETCH) {
            if let Some(stretch) = (step / STRETCH).checked_sub(1) {
                self.best.resize(self.best.len().max(stretch + 1), f64::INFINITY);
                self.best[stretch] = self.best[stretch].min(self.begun.elapsed().as_secs_f64());
            }
            self.begun = Instant::now();
        }
        Ok(())
    }
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

/// Seconds per node and pass of a free beam that spins, in scalar code and in lanes: of a pass alone, and of a whole step
/// with its ledger over its passes.
fn flying(elements: usize, grading: f64) -> [[f64; 2]; 2] {
    let line = format!("{{ from = [0.0, 0.0], to = [10.0, 0.0], elements = {elements}, grading = {grading} }}");
    let set = [format!("body.beam.line={line}")];
    let (case, prepared) = prepare(FREE, &set);
    let row =
        schemes::find(&case.scheme.name).expect("it is there").tableau(&case.scheme.parameters).expect("it is a row");
    let settings = Settings {
        forecast: case.scheme.forecast,
        position: case.scheme.position,
        newton: case.solver.newton.clone(),
        contact: case.solver.contact.clone(),
    };
    let mut best = [[f64::INFINITY; 2]; 2];
    let (h, nodes) = (case.time.step, (elements + 1) as f64);
    let clock = Instant::now();
    let mut steppers = [false, true].map(|lanes| {
        let mut passes = Passes::new(&prepared.system, row, settings.clone(), lanes).expect("the case is sound");
        let attempt = passes.method().initial_attempt(h).expect("the case runs");
        let state = attempt.state.clone();
        (passes, attempt, state)
    });
    while clock.elapsed() < PATIENCE {
        for ((passes, attempt, state), best) in steppers.iter_mut().zip(&mut best) {
            for _ in 0..(2_000 / elements).clamp(1, 10) {
                let begun = Instant::now();
                passes.method().attempt(state, h, (state.step + 1) as f64 * h, attempt).expect("the case runs");
                best[1] = best[1].min(begun.elapsed().as_secs_f64() / (attempt.passes as f64 * nodes));
                // Once more from where the step ended; a first pass is always made.
                attempt.passes = 0;
                let begun = Instant::now();
                passes.pass(state, h, attempt).expect("the case runs");
                best[0] = best[0].min(begun.elapsed().as_secs_f64() / nodes);
                std::mem::swap(state, &mut attempt.state);
            }
        }
    }
    best
}
