//! Keys of schemes and their values: numbers, words, true or false. What they mean is not known here.

use crate::keys::{Choice, KeyValue, Kind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Gives the value of a key.
pub type Lookup<'a> = &'a dyn Fn(&str) -> f64;

/// Parameters of a scheme by name.
pub type Parameters = BTreeMap<String, Value>;

/// A key of a scheme, with what it may be.
pub struct Key {
    /// Name in case files.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// What it may be.
    pub allowed: Allowed,
    /// What holds if the key is absent.
    pub default: KeyDefault,
}

/// What the value of a key may be.
pub enum Allowed {
    /// A number between bounds, both included.
    Between(f64, f64),
    /// A positive number.
    Positive,
    /// One of some words.
    Words(&'static [Choice]),
    /// true or false.
    Flag,
}

/// Value of a key: a number, a word, or true or false.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// true or false.
    Flag(bool),
    /// A number.
    Number(f64),
    /// One of the words that the key allows.
    Word(String),
}

impl KeyValue for Parameters {
    const KIND: Kind = Kind::Constants;

    fn left_out(&self) -> bool {
        self.is_empty()
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Value::Flag(flag) => flag.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::Word(word) => word.fmt(f),
        }
    }
}

/// The number that a key has, if it has one.
pub fn number(parameters: &Parameters, key: &str) -> Option<f64> {
    match parameters.get(key) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    }
}

/// The word that a key has, empty without one.
pub fn word<'a>(parameters: &'a Parameters, key: &str) -> &'a str {
    match parameters.get(key) {
        Some(Value::Word(word)) => word,
        _ => "",
    }
}

/// Whether a key is true.
pub fn flag(parameters: &Parameters, key: &str) -> bool {
    parameters.get(key) == Some(&Value::Flag(true))
}

/// What holds if a key is absent.
pub enum KeyDefault {
    /// The key must be given.
    Required,
    /// A number.
    Value(f64),
    /// A formula in the earlier keys, and its text.
    Rule(&'static str, fn(Lookup) -> f64),
    /// A word.
    Word(&'static str),
    /// true or false.
    Flag(bool),
    /// Nothing; what that means, in words.
    Absent(&'static str),
}

impl KeyDefault {
    /// The default in words.
    pub fn text(&self) -> String {
        match self {
            KeyDefault::Required => "required".to_string(),
            KeyDefault::Value(value) => format!("default {value}"),
            KeyDefault::Rule(rule, _) => format!("default {rule}"),
            KeyDefault::Word(word) => format!("default {word}"),
            KeyDefault::Flag(flag) => format!("default {flag}"),
            KeyDefault::Absent(meaning) => format!("default {meaning}"),
        }
    }
}
