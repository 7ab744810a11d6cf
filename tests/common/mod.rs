//! One harness for all tests: cases as text, runs in memory, the real program in a directory of its own, reference numbers.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod cases;
pub mod dense;
pub mod history;
pub mod program;
pub mod random;
pub mod runs;

use carom::case::{Format, Loaded, parse};
use carom::schemes::{self, Tableau};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A path below the root of the repository.
pub fn at_root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A case from its text, in the place of the shipped ones, so that it may name `../meshes`.
pub fn load(text: &str, set: &[&str]) -> Loaded {
    let overrides: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    let case = parse(text, "test.toml", Format::Toml, &overrides);
    let case = case.unwrap_or_else(|failure| panic!("{}", failure.render(false)));
    let (dir, file) = (at_root("cases"), at_root("cases/test.toml"));
    Loaded { case, file, dir, name: "test".into(), text: text.into(), overrides, allow_outside: true }
}

/// A shipped case with overrides.
pub fn shipped(name: &str, set: &[&str]) -> Loaded {
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    let file = at_root("cases").join(format!("{name}.toml"));
    carom::case::load(&file, &set, false).unwrap_or_else(|error| panic!("{error}"))
}

/// Reference numbers of `tests/data`; their origin is in the README there.
pub fn reference(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(at_root("tests/data").join(name)).unwrap()).unwrap()
}

/// A list of reference numbers.
pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// The row of numbers of a scheme.
pub fn tableau(name: &str, keys: &[(&str, f64)]) -> Tableau {
    let given = keys.iter().map(|(k, v)| (k.to_string(), schemes::Value::Number(*v))).collect();
    schemes::find(name).unwrap().tableau(&given).unwrap()
}
