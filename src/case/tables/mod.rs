//! Every table of a case file, each key declared once: as data a [`Case`], as keys its table.
//!
//! It knows names, numbers and paths; it must not know matrices or degrees of freedom. A case has every default spelled out;
//! serialised, it is the *resolved case* of `summary.json`: a case file that runs to the same result.

mod body;
mod contact;
mod field;
mod guards;
mod load;
mod nodes;
mod output;
mod section;
mod solver;
#[cfg(test)]
mod tests;
mod time;

pub use crate::keys::{Amount, NumberOr, Switch};

use super::first_order::FirstOrder;
pub use body::*;
pub use contact::*;
pub use field::*;
pub use guards::*;
pub use load::*;
pub use nodes::*;
pub use output::*;
pub use section::*;
pub use solver::*;
pub use time::*;

use crate::keys::{Table, Tabular, empty, none, table, words};
use std::collections::BTreeMap;

/// Beyond this many steps a number is a slip.
const MOST_STEPS: i64 = 1_000_000_000;

/// Bounds the memory that one line of a case can ask for.
const MOST_ELEMENTS: i64 = 10_000_000;

/// The keys of a whole case file.
pub static CASE: &Table = Case::TABLE;

table! {
    /// Keys outside of all tables, and the tables themselves
    Case("the case") {
        /// Version of the file format; only 1 exists
        format: u32 as Integer(1, 1);
        /// One line for summaries and reports
        title: String = String::new();
        /// Kind of analysis
        analysis: Analysis = Analysis::Dynamic;
        /// Names for expressions: numbers, or texts with expressions of earlier ones
        constants: BTreeMap<String, f64> = none();
        /// Acceleration of gravity; none unless given
        gravity: Vec<f64> = none();
        /// End and step of the time axis
        time: Time;
        /// Time scheme
        scheme: Scheme;
        /// Tolerances of the nonlinear and the contact solver
        solver: Solver = empty();
        /// Bodies
        body: Vec<Body>;
        /// Named node sets
        set: Vec<Set> = none();
        /// Initial fields beyond a body's uniform ones
        initial: Vec<Initial> = none();
        /// Supports
        support: Vec<Support> = none();
        /// Hinges and welds
        joint: Vec<Joint> = none();
        /// Loads
        load: Vec<Load> = none();
        /// Unilateral contacts
        contact: Vec<Contact> = none();
        /// Nodes whose motion goes into the history
        probe: Vec<Probe> = none();
        /// States, laws and constraints, with `analysis = "first-order"`
        [flatten] first_order: FirstOrder as More(Vec::new);
        /// Limits that stop a run gone wrong
        guards: Guards = empty();
        /// What a run writes
        output: Output = empty();
        /// Expectations for `carom test`; keys are `<column>.final`, `.min`, `.max`, `.min_time`, `.max_time` or `.rms`,
        /// `<column>@<time>`, `contact.<name>.release`, `.plateau`, `.peak` or `.episodes`, `defect.max` (relative), `penetration.max`
        expect: BTreeMap<String, Expect> = none();
    }
}

words! {
    /// Kind of analysis
    Analysis {
        /// transient
        Dynamic = "dynamic",
        /// equilibrium path; `[time]` is the load parameter
        Static = "static",
        /// states, laws and constraints, with keys of their own: below
        FirstOrder = "first-order",
    }
}

impl Case {
    /// Every file that the case names, in order, each once.
    pub fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = self.body.iter().filter_map(|body| body.mesh.as_deref()).collect();
        let times = self.load.iter().map(|load| &load.time);
        let supports = self.support.iter().flat_map(|support| support.motion.values());
        let obstacles = self.contact.iter().flat_map(|contact| contact.motion.values());
        for function in times.chain(supports).chain(obstacles) {
            if let Function::Table { file } = function {
                files.push(file);
            }
        }
        for field in self.initial.iter().flat_map(|initial| [&initial.displacement, &initial.velocity]) {
            if let Some(Field::Table { file }) = field {
                files.push(file);
            }
        }
        files.sort_unstable();
        files.dedup();
        files
    }
}
