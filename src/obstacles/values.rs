//! The words in which an obstacle declares its keys, and the values that a case gives them.

use crate::plane::direction;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A key of an obstacle.
#[derive(Clone, Copy)]
pub struct Key {
    /// The key itself.
    pub name: &'static str,
    /// What its value is.
    pub wanted: Wanted,
    /// What it is; a sentence without its full stop.
    pub doc: &'static str,
}

/// What the value of a key must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A point.
    Point,
    /// A vector whose length does not matter, but which must have one.
    Direction,
    /// Such a vector, or none.
    DirectionOrNone,
    /// A positive number.
    Length,
    /// Any number, in radians.
    Angle,
    /// True or false; false unless given.
    Flag,
    /// Two points or more.
    Points,
}

/// A key that must be there, but for flags and directions that say otherwise.
pub(super) const fn key(name: &'static str, wanted: Wanted, doc: &'static str) -> Key {
    Key { name, wanted, doc }
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// True or false.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A vector of one or two numbers.
    Vector(Vec<f64>),
    /// Several of them.
    Points(Vec<Vec<f64>>),
}

/// The table of an obstacle in a case. What is absent reads as zero, so that checks may ask before all is there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Values(pub BTreeMap<String, Value>);

/// Something wrong between the values of an obstacle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key to mark.
    pub key: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to write beside the value.
    pub label: String,
}

impl Values {
    /// A point, or a vector; in one dimension its second number is zero.
    pub fn point(&self, key: &str) -> [f64; 2] {
        if let Some(Value::Vector(vector)) = self.0.get(key) { flat(vector) } else { [0.0; 2] }
    }

    /// Unit vector; none where the key is absent.
    pub fn direction(&self, key: &str) -> Option<[f64; 2]> {
        self.0.contains_key(key).then(|| direction(self.point(key)).1)
    }

    /// A number.
    pub fn number(&self, key: &str) -> f64 {
        if let Some(Value::Number(number)) = self.0.get(key) { *number } else { 0.0 }
    }

    /// A flag.
    pub fn flag(&self, key: &str) -> bool {
        self.0.get(key) == Some(&Value::Flag(true))
    }

    /// Several points.
    pub fn points(&self, key: &str) -> Vec<[f64; 2]> {
        if let Some(Value::Points(points)) = self.0.get(key) {
            points.iter().map(|p| flat(p)).collect()
        } else {
            vec![]
        }
    }

    /// Whether all of these keys are there.
    pub fn have(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.0.contains_key(*key))
    }

    /// Length of its vectors; zero if it has none.
    pub fn dimension(&self) -> usize {
        let size = |value: &Value| match value {
            Value::Vector(vector) => vector.len(),
            Value::Points(points) => points.first().map_or(0, Vec::len),
            Value::Flag(_) | Value::Number(_) => 0,
        };
        self.0.values().map(size).find(|&n| n > 0).unwrap_or(0)
    }

    /// Spells out the flags that are absent.
    pub fn complete(&mut self, keys: &[Key]) {
        for key in keys.iter().filter(|key| key.wanted == Wanted::Flag) {
            self.0.entry(key.name.into()).or_insert(Value::Flag(false));
        }
    }
}

fn flat(vector: &[f64]) -> [f64; 2] {
    [vector.first().copied().unwrap_or(0.0), vector.get(1).copied().unwrap_or(0.0)]
}
