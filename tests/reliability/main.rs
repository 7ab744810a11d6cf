//! What docs/reliability.md promises: nothing lost, nothing wrong in silence.

#[path = "../common/mod.rs"]
mod common;
mod faults;
mod guards;
mod jobs;
mod memory;
mod mutants;
mod owners;
mod power;
mod resume;
mod same_bytes;

use carom::case::Loaded;
use carom::checkpoint::Checkpoint;
use carom::run::{self, RunOptions};
use carom::sinks::{Record, Sink};
use carom::summary::Summary;
use carom::{Error, Result};
use std::cell::Cell;
use std::path::Path;

/// A shipped case, with fewer rows where its table would be tens of megabytes.
fn thinned(name: &str) -> Loaded {
    let set: &[&str] = if name == "two-ball-oscillator-stiff" { &["output.history.every=50"] } else { &[] };
    common::shipped(name, set)
}

/// Keeps nothing.
struct Nothing;

impl Sink for Nothing {
    fn record(&mut self, _: &Record) -> Result<()> {
        Ok(())
    }
}

/// Asks a run to stop after so many steps, as a signal would.
fn after(steps: u64) -> impl Fn() -> Option<Error> {
    let left = Cell::new(steps);
    move || {
        left.set(left.get().saturating_sub(1));
        (left.get() == 0).then(|| Error::Stopped { code: 143, text: "stopped by a test".into() })
    }
}

/// Runs a case into a directory; goes on with what is there if there is a checkpoint.
fn run_into(loaded: &Loaded, dir: &Path, stop: &dyn Fn() -> Option<Error>) -> Result<Summary> {
    let from = dir.join("checkpoint.bin").exists().then(|| Checkpoint::read(dir)).transpose()?;
    run::run(loaded, dir, RunOptions { force: from.is_none(), from, branch: None, stop, extra: &mut Nothing })
}
