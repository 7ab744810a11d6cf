//! `[time]` and `[scheme]`.

use crate::keys::*;
use crate::schemes::{Allowed, Key, KeyDefault, Parameters, SCHEMES};
use serde::{Deserialize, Serialize};

table! {
    /// End and step of the time axis
    Time("[time]") {
        /// Last instant
        end: f64 as Number(POSITIVE);
        /// Step size; the last step is shortened where the end asks for it
        step: f64 as Number(POSITIVE);
        /// Floor of step cuts
        min_step: Option<f64> as Number(POSITIVE) => "step / 1024";
        /// Size of the first step, at most `step`: shifts all later instants, as error studies need it
        first_step: Option<f64> as Number(POSITIVE) => "step";
        /// Steps that adapt to their errors; `step` is then the largest one, and the grid of outputs
        adaptive: Option<Adaptive>;
    }
}

table! {
    /// How steps adapt to their errors
    Adaptive("time.adaptive") {
        /// Error that a step may make, of the length of the model or of the root of its energy
        tolerance: f64 as Number(inside(0.0, 1.0)) = 1e-4;
        /// What errors are measured in
        norm: ErrorNorm = ErrorNorm::Position;
        /// How the error of a step is found
        estimate: ErrorEstimate = ErrorEstimate::Embedded;
        /// Order with which errors are taken to fall
        order: ErrorOrder = ErrorOrder::Guessed(Guess::Auto);
        /// Whether penetration that a step adds counts as an error
        violation: bool = true;
        /// Whether steps may not grow while a contact pushes
        hold: bool = false;
        /// Length that errors are measured by
        length: Option<f64> as Number(POSITIVE) => "that of the model";
    }
}

impl Default for Adaptive {
    fn default() -> Adaptive {
        empty()
    }
}

words! {
    /// What the error of a step is measured in
    ErrorNorm {
        /// positions, weighed by mass
        Position = "position",
        /// the root of an energy
        Energy = "energy",
    }
}

words! {
    /// How the error of a step is found
    ErrorEstimate {
        /// from the step itself: changes of acceleration and of impulses
        Embedded = "embedded",
        /// by comparison with two half steps
        Doubling = "doubling",
    }
}

words! {
    /// The word for an order that each step guesses
    Guess {
        /// that of the scheme, and 0 where contact dominates
        Auto = "auto",
    }
}

/// Order with which the error of a step is taken to fall: a guess of each step, or always the same
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ErrorOrder {
    /// That of the scheme, and 0 where contact dominates.
    Guessed(Guess),
    /// This one in every step.
    Forced(u32),
}

impl KeyValue for ErrorOrder {
    const KIND: Kind = Kind::WordOrInteger(&[word("auto", "that of the scheme, and 0 where contact dominates")], 0, 2);
}

impl ErrorOrder {
    /// The order that is taken in every step, if one is.
    pub fn forced(self) -> Option<u32> {
        match self {
            ErrorOrder::Guessed(_) => None,
            ErrorOrder::Forced(order) => Some(order),
        }
    }
}

table! {
    /// Time scheme: a name, the keys of that scheme, and two common ones
    Scheme("[scheme]") {
        /// Name of the scheme
        name: String as Tag(schemes);
        /// How an impact moves positions
        position: Position = Position::Half;
        /// Activation: a contact acts if gap + forecast·h·rate ≤ 0
        forecast: f64 as Number(between(0.0, 2.0)) = 0.5;
        /// The scheme's own keys (`theta`, `rho_inf`, …), declared in [`SCHEMES`] and chosen by `name`
        [flatten] parameters: Parameters as More(Vec::new);
    }
}

words! {
    /// How an impact moves positions
    Position {
        /// half of the velocity jump times the step
        Half = "half",
        /// corrected: no penetration
        Ggl = "ggl",
    }
}

fn schemes() -> Vec<Variant> {
    let field = |key: &'static Key| {
        let kind = match key.allowed {
            Allowed::Between(min, max) => Kind::Number(between(min, max)),
            Allowed::Positive => Kind::Number(POSITIVE),
            Allowed::Words(words) => Kind::Word(words),
            Allowed::Flag => Kind::Flag,
        };
        match &key.default {
            KeyDefault::Required => required(key.name, kind, key.doc),
            KeyDefault::Value(value) => Field { need: Need::Number(*value), ..required(key.name, kind, key.doc) },
            KeyDefault::Rule(rule, _) | KeyDefault::Word(rule) | KeyDefault::Absent(rule) => {
                default(key.name, kind, rule, key.doc)
            }
            KeyDefault::Flag(flag) => default(key.name, kind, if *flag { "true" } else { "false" }, key.doc),
        }
    };
    SCHEMES.iter().map(|scheme| variant(scheme.name, scheme.summary, scheme.keys.iter().map(field).collect())).collect()
}
