//! Case files with `analysis = "first-order"`: their data, their keys, and what must hold between these.
//!
//! ```text
//! x' = f(t, x) + B(t, x) u,    w = dual(t, x, u),    within[0] ≤ u ≤ within[1],    and constraints g(t, x) ≥ 0
//! ```
//!
//! It knows names, numbers and texts of expressions; it must not know how such a system is solved.

mod check;
mod keys;

pub use check::columns;
pub(super) use check::{check, variables};
pub(super) use keys::FIRST_ORDER;

use super::data::Amount;
use super::spec::Table;
use super::tree::Node;
use crate::keys::{KeyValue, Kind};
use serde::{Deserialize, Serialize};

/// The keys of a case whose root this is.
pub(super) fn root_table(root: &Node) -> &'static Table {
    if is_first_order(root) { &FIRST_ORDER } else { super::tables::CASE }
}

/// Whether a case is a first-order system.
pub(super) fn is_first_order(root: &Node) -> bool {
    root.get("analysis").and_then(Node::text) == Some("first-order")
}

/// A first-order system as the case file describes it; empty in any other analysis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FirstOrder {
    /// The states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<StateVariable>,
    /// Laws, one multiplier each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub law: Vec<MultiplierLaw>,
    /// Constraints on the states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraint: Vec<Constraint>,
    /// Stored energy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<StorageFunction>,
    /// Instants at which data jump.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jumps: Option<Jumps>,
    /// States and laws as matrices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linear: Option<LinearSystem>,
    /// Conditions at both ends of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boundary: Option<BoundaryConditions>,
}

impl KeyValue for FirstOrder {
    const KIND: Kind = Kind::More(Vec::new);

    fn missing() -> Option<Self> {
        Some(FirstOrder::default())
    }
}

/// One state and its rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateVariable {
    /// Name in expressions and columns.
    pub name: String,
    /// Value at t = 0; the first guess of a boundary value problem.
    pub start: f64,
    /// Rate, an expression of `t`, states and multipliers.
    pub rate: Amount,
    /// The exact solution as an expression of `t`, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<Amount>,
}

/// One multiplier u with its dual w.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MultiplierLaw {
    /// Name of the multiplier in expressions and columns.
    pub name: String,
    /// Bounds of the multiplier.
    #[serde(default)]
    pub within: Within,
    /// What is zero between the bounds, not negative at the lower and not positive at the upper one.
    pub dual: Amount,
}

/// Bounds of a multiplier.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "[End; 2]", into = "[End; 2]")]
pub struct Within(pub [f64; 2]);

impl Default for Within {
    fn default() -> Self {
        Within([0.0, f64::INFINITY])
    }
}

/// A bound in a file: JSON knows no infinite numbers.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum End {
    Finite(f64),
    Infinite(String),
}

impl From<[End; 2]> for Within {
    fn from(ends: [End; 2]) -> Within {
        Within(ends.map(|end| match end {
            End::Finite(value) => value,
            End::Infinite(text) if text.starts_with('-') => f64::NEG_INFINITY,
            End::Infinite(_) => f64::INFINITY,
        }))
    }
}

impl From<Within> for [End; 2] {
    fn from(within: Within) -> [End; 2] {
        within.0.map(|value| match value {
            f64::INFINITY => End::Infinite("inf".into()),
            f64::NEG_INFINITY => End::Infinite("-inf".into()),
            value => End::Finite(value),
        })
    }
}

/// A set that the states must not leave: exactly one of its shapes is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constraint {
    /// Name in columns.
    pub name: String,
    /// An expression that is not negative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<Amount>,
    /// A ball.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ball: Option<BallSet>,
    /// A box.
    #[serde(default, rename = "box", skip_serializing_if = "Option::is_none")]
    pub cuboid: Option<BoxSet>,
}

/// A ball in the space of some states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BallSet {
    /// The states.
    pub states: Vec<String>,
    /// Centre, one expression of `t` per state.
    pub centre: Vec<Amount>,
    /// Radius.
    pub radius: Amount,
}

/// A box in the space of some states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoxSet {
    /// The states.
    pub states: Vec<String>,
    /// Lower ends, one expression of `t` per state.
    pub from: Vec<Amount>,
    /// Upper ends.
    pub to: Vec<Amount>,
}

/// Stored energy of the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StorageFunction {
    /// An expression of the states.
    pub value: Amount,
}

/// Instants at which data jump.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Jumps {
    /// The instants.
    pub at: Vec<f64>,
}

/// States and laws as matrices: x' = A x + B u + E, w = C x + D u + a, u ≥ 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinearSystem {
    /// Names of the states.
    pub states: Vec<String>,
    /// Names of the multipliers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub laws: Vec<String>,
    /// Values of the states at t = 0.
    pub start: Vec<f64>,
    /// A.
    pub rate: Vec<Vec<Amount>>,
    /// B.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input: Vec<Vec<Amount>>,
    /// C.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<Vec<Amount>>,
    /// D.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedthrough: Vec<Vec<Amount>>,
    /// E.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source: Vec<Amount>,
    /// a.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offset: Vec<Amount>,
}

/// Conditions at both ends of time in place of initial values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundaryConditions {
    /// Expressions that are zero, of `<state>@start` and `<state>@end`; as many as states.
    pub equations: Vec<Amount>,
}
