//! Cases given as text, run in memory with every column of the history kept.

pub use super::{load, shipped};
use carom::Result;
use carom::advice;
use carom::case::{Case, Loaded};
use carom::ledger::Ledger;
use carom::model::Model;
use carom::run::{Prepared, march, prepare};
use carom::sinks::columns::Columns;
use carom::sinks::digest::Digest;
use carom::sinks::{Record, Sink};
use carom::system::System;

/// Model and equations of a case.
pub fn build(text: &str, set: &[&str]) -> Result<(Model, System)> {
    let loaded = load(text, set);
    let model = Model::new(&loaded.case, &|name| loaded.path(name))?;
    let system = System::assemble(&model)?;
    Ok((model, system))
}

/// The history of a run: row 0 is the initial state.
#[derive(Default)]
pub struct History {
    pub names: Vec<String>,
    pub rows: Vec<Vec<f64>>,
    /// Works at the end.
    pub ledger: Ledger,
    /// What is said of contacts without any force, after a run that reached its end.
    pub silent: Vec<String>,
}

impl History {
    /// A whole column.
    pub fn column(&self, name: &str) -> Vec<f64> {
        let k = self.names.iter().position(|n| n == name).unwrap_or_else(|| panic!("no column {name}"));
        self.rows.iter().map(|row| row[k]).collect()
    }

    /// The last value of a column.
    pub fn last(&self, name: &str) -> f64 {
        *self.column(name).last().unwrap()
    }

    /// The value of a column at an instant of the grid.
    pub fn at(&self, name: &str, time: f64) -> f64 {
        let instants = self.column("time");
        let row = instants.iter().position(|t| (t - time).abs() < 1e-9).unwrap_or_else(|| panic!("no instant {time}"));
        self.column(name)[row]
    }

    /// The least value of a column.
    pub fn min(&self, name: &str) -> f64 {
        self.column(name).into_iter().fold(f64::INFINITY, f64::min)
    }

    /// The largest value of a column.
    pub fn max(&self, name: &str) -> f64 {
        self.column(name).into_iter().fold(f64::NEG_INFINITY, f64::max)
    }
}

struct Recorder<'a> {
    columns: &'a Columns,
    history: &'a mut History,
}

impl Sink for Recorder<'_> {
    fn record(&mut self, record: &Record) -> Result<()> {
        let mut row = Vec::new();
        self.columns.fill(record, &mut row);
        self.history.rows.push(row);
        self.history.ledger = record.ledger.clone();
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Runs a case; what was recorded before an error is kept beside it.
pub fn try_run(loaded: &Loaded) -> (History, Result<()>) {
    let mut history = History::default();
    let result = prepare(loaded).and_then(|prepared| run_prepared(&loaded.case, &prepared, &mut history));
    (history, result)
}

fn run_prepared(case: &Case, prepared: &Prepared, history: &mut History) -> Result<()> {
    let columns = Columns::new(&prepared.model, &prepared.system);
    history.names = columns.names().to_vec();
    let (mut recorder, mut digest) = (Recorder { columns: &columns, history }, Digest::new(&prepared.system));
    march(case, prepared, &mut [&mut recorder, &mut digest])?;
    let silent = advice::silent_contacts(&prepared.system, &digest).into_iter().map(|advice| advice.text);
    history.silent = silent.collect();
    Ok(())
}

/// Runs a case that must succeed.
pub fn run(text: &str, set: &[&str]) -> History {
    let (history, result) = try_run(&load(text, set));
    result.unwrap_or_else(|error| panic!("{error}"));
    history
}

/// Runs a shipped case that must succeed, its expectations aside.
pub fn run_shipped(name: &str, set: &[&str]) -> History {
    let (history, result) = try_run(&shipped(name, &[&["expect={}"], set].concat()));
    result.unwrap_or_else(|error| panic!("{name} {set:?}: {error}"));
    history
}

/// Runs a case with a model that was changed in a way that no case file can say.
pub fn run_edited(text: &str, set: &[&str], edit: impl FnOnce(&mut Model)) -> History {
    let loaded = load(text, set);
    let mut model = Model::new(&loaded.case, &|name| loaded.path(name)).unwrap();
    edit(&mut model);
    let system = System::assemble(&model).unwrap();
    let mut history = History::default();
    run_prepared(&loaded.case, &Prepared { model, system, advice: vec![] }, &mut history).unwrap();
    history
}
