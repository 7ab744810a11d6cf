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
use carom::run::{self, Manner};
use carom::sinks::{Record, Sink};
use carom::summary::Summary;
use carom::{Error, Result};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;

/// A shipped case, with fewer rows where its table would be tens of megabytes.
fn thinned(name: &str) -> Loaded {
    let set: &[&str] = if name == "two-ball-oscillator-stiff" { &["output.history.every=50"] } else { &[] };
    common::runs::shipped(name, set)
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
    run::run(loaded, dir, Manner { force: from.is_none(), from, stop, extra: &mut Nothing })
}

/// All files below a directory, by relative name; a summary without its timing.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if path.is_dir() {
            found.extend(contents(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
            continue;
        }
        let mut bytes = std::fs::read(&path).unwrap();
        if name == "summary.json"
            && let Some(end) = bytes.windows(8).rposition(|word| word == b"\"timing\"")
        {
            bytes.truncate(end);
        }
        found.insert(name, bytes);
    }
    found
}

/// Demands the same files with the same bytes.
fn demand_same(what: &str, expected: &BTreeMap<String, Vec<u8>>, found: &BTreeMap<String, Vec<u8>>) {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(expected), names(found), "{what}");
    for (name, bytes) in expected {
        assert!(*bytes == found[name], "{what}: {name} differs");
    }
}
