//! First-order systems: reference numbers, orders, ledgers, boundary values, bad input, and every command.

mod boundary;
mod circuits;
mod commands;
mod refused;
mod sets;

use carom::case::{Format, Loaded, parse};
use carom::first_order::files::watch;
use carom::first_order::march::Course;
use carom::first_order::record::{Reader, Row, names};
use carom::first_order::system::System;
use serde_json::Value;
use std::path::PathBuf;

/// A run with all its rows.
struct Run {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
    course: Course,
}

struct Rows(Vec<Vec<f64>>);

impl Reader for Rows {
    fn take(&mut self, row: &Row) -> carom::Result<()> {
        self.0.push(row.values.to_vec());
        Ok(())
    }
}

impl Run {
    fn column(&self, name: &str) -> Vec<f64> {
        let k = self.names.iter().position(|known| known == name).unwrap_or_else(|| panic!("no column {name}"));
        self.rows.iter().map(|row| row[k]).collect()
    }

    fn last(&self, name: &str) -> f64 {
        *self.column(name).last().expect("a run has rows")
    }

    /// Largest difference of a column from a function of time.
    fn error(&self, name: &str, exact: impl Fn(f64) -> f64) -> f64 {
        self.column("time").iter().zip(self.column(name)).map(|(&t, x)| (x - exact(t)).abs()).fold(0.0, f64::max)
    }
}

fn loaded(text: &str, set: &[String]) -> Loaded {
    let case = parse(text, "test.toml", Format::Toml, set).unwrap_or_else(|bad| panic!("{}", bad.render(false)));
    Loaded {
        case,
        file: PathBuf::from("test.toml"),
        dir: PathBuf::new(),
        name: "test".into(),
        text: text.into(),
        overrides: set.to_vec(),
        allow_outside: false,
    }
}

fn try_run(text: &str, set: &[&str]) -> carom::Result<Run> {
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    let mut rows = Rows(Vec::new());
    let (system, course, _): (System, Course, _) = watch(&loaded(text, &set), &mut rows)?;
    Ok(Run { names: names(&system), rows: rows.0, course })
}

fn run(text: &str, set: &[&str]) -> Run {
    try_run(text, set).unwrap_or_else(|error| panic!("{error}"))
}

fn shipped(name: &str, set: &[&str]) -> Run {
    let set: Vec<&str> = set.iter().copied().chain(["expect={}"]).collect();
    run(carom::cases::find(name).expect("it ships").text, &set)
}

/// Numbers of an independent prototype; `tests/data/README.md` says where they come from.
fn reference() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/first-order.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// Slopes of log error between neighbouring levels, each with half the step.
fn orders(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect()
}

fn near(found: f64, wanted: f64, share: f64) {
    assert!((found - wanted).abs() <= share * wanted.abs(), "{found:e} is not {wanted:e}");
}
