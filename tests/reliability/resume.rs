//! Runs in two pieces, and runs whose steps are all made twice, leave the bytes of a run in one piece.

use super::common::program::{contents, demand_same};
use super::common::shipped;
use super::{after, run_into, thinned};
use carom::case::Loaded;
use carom::case::data::Encoding;
use carom::cases::CASES;
use carom::march::{self, Grid, Guards, Ladder, Pace, RunControl, Stride, Verdict};
use carom::methods::{Attempt, KeptFactors, Method};
use carom::sinks::Sink;
use carom::sinks::columns::Columns;
use carom::sinks::digest::Digest;
use carom::sinks::frames::Frames;
use carom::sinks::history::History;
use carom::state::State;
use carom::{Error, Result, run};
use std::path::Path;

#[test]
fn every_case_stopped_half_way_goes_on_to_the_same_bytes() {
    // A boundary value problem has nothing to go on from; `tests/first_order` stops one.
    for case in CASES.iter().filter(|case| !case.text.contains("[boundary]")) {
        let loaded = thinned(case.name);
        let dir = tempfile::tempdir().unwrap();
        let (whole, parts) = (dir.path().join("whole"), dir.path().join("parts"));
        let summary = run_into(&loaded, &whole, &|| None).unwrap();
        let half = summary.steps / 2;
        let error = run_into(&loaded, &parts, &after(half)).unwrap_err();
        assert_eq!(error.exit_code(), 143, "{}: {error}", case.name);
        assert!(!parts.join("summary.json").exists(), "{}", case.name);
        assert_eq!(run_into(&loaded, &parts, &|| None).unwrap().steps, summary.steps);
        demand_same(case.name, &contents(&whole), &contents(&parts));
    }
}

#[test]
fn a_binary_history_and_other_rhythms_go_on_too() {
    let set = ["output.history={ format = \"npy\", every = 7 }", "output.vtk={ every = 11, surface = true }"];
    for name in ["rotating-beam", "truss"] {
        let loaded = shipped(name, &set);
        let dir = tempfile::tempdir().unwrap();
        let (whole, parts) = (dir.path().join("whole"), dir.path().join("parts"));
        let steps = run_into(&loaded, &whole, &|| None).unwrap().steps;
        // Many pieces, the last of them of a single step.
        for piece in [1, 2, 600, steps - 604] {
            run_into(&loaded, &parts, &after(piece)).unwrap_err();
        }
        run_into(&loaded, &parts, &|| None).unwrap();
        demand_same(name, &contents(&whole), &contents(&parts));
    }
}

/// A method that finds every step good only the second time.
struct Fickle<'a> {
    inner: Box<dyn Method + 'a>,
    rejected: bool,
    rejections: u64,
}

impl Method for Fickle<'_> {
    fn initial_attempt(&mut self, h: f64) -> Result<Attempt> {
        self.inner.initial_attempt(h)
    }

    fn attempt(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) -> Result<()> {
        self.inner.attempt(from, h, t1, to)?;
        self.rejected = !self.rejected;
        self.rejections += u64::from(self.rejected);
        if self.rejected { Err(Error::Solver("rejected by a test".into())) } else { Ok(()) }
    }

    fn kept(&self) -> KeptFactors {
        self.inner.kept()
    }

    fn restore(&mut self, kept: KeptFactors) -> Result<()> {
        self.inner.restore(kept)
    }

    fn factorization(&self) -> &'static str {
        self.inner.factorization()
    }
}

/// A pace that tries the same step again, whatever happened.
struct Patient(Ladder);

impl Pace for Patient {
    fn propose(&mut self, from: &State) -> Option<Stride> {
        self.0.propose(from)
    }

    fn judge(&mut self, from: &State, outcome: Result<&Attempt>) -> Result<Verdict> {
        if outcome.is_err() { Ok(Verdict::Retry) } else { self.0.judge(from, outcome) }
    }

    fn save(&self) -> Vec<u8> {
        self.0.save()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        self.0.restore(saved)
    }
}

/// Runs into files with every step rejected once, or none; returns how many were.
fn march(loaded: &Loaded, dir: &Path, fickle: bool) -> u64 {
    std::fs::create_dir_all(dir).unwrap();
    let (case, prepared) = (&loaded.case, run::prepare(loaded).unwrap());
    let columns = Columns::new(&prepared.model, &prepared.system);
    let mut history = History::new(dir, &columns, &case.output.history, case.time.end);
    let mut frames = Frames::new(dir, &prepared.model, &prepared.system, (10, case.time.end, Encoding::Raw));
    let mut digest = Digest::new(&prepared.system);
    let mut sinks: [&mut dyn Sink; 3] = [&mut history, &mut frames, &mut digest];
    let mut pace = Patient(Ladder::new(Grid::new(case.time.end, case.time.step), 1.0, 0));
    let guards = Guards::new(case, &prepared.system);
    let control = RunControl { checkpointer: None, from: None, stop: &|| None };
    let mut inner = run::method(case, &prepared.system).unwrap();
    let rejections = if fickle {
        let mut method = Fickle { inner, rejected: false, rejections: 0 };
        march::march(&mut method, &mut pace, &guards, &mut sinks, control).unwrap();
        method.rejections
    } else {
        march::march(inner.as_mut(), &mut pace, &guards, &mut sinks, control).unwrap();
        0
    };
    sinks.iter_mut().for_each(|sink| sink.finish().unwrap());
    std::fs::write(dir.join("digest"), digest.save().unwrap()).unwrap();
    rejections
}

#[test]
fn every_step_rejected_once_and_redone_gives_the_same_bytes() {
    for case in CASES.iter().filter(|case| !case.is_first_order()) {
        let loaded = thinned(case.name);
        // Their largest step runs into a guard, and this pace takes no other.
        if loaded.case.time.adaptive.is_some() || case.name == "shot-at-plate" {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let (once, twice) = (dir.path().join("once"), dir.path().join("twice"));
        march(&loaded, &once, false);
        let rejections = march(&loaded, &twice, true);
        let grid = Grid::new(loaded.case.time.end, loaded.case.time.step).count();
        assert_eq!(rejections, grid, "{}", case.name);
        demand_same(case.name, &contents(&once), &contents(&twice));
    }
}
