//! What makes steps, as `march` sees it: the trait [`Method`] and the [`Attempt`] that it returns.
//!
//! A method computes and never commits; it must not know who judges its steps, or what is kept of them.

mod doubling;
mod embedded;
pub mod line;
mod registry;
pub mod statics;
pub mod tableau;
mod two_step;

pub use doubling::Doubling;
pub use embedded::Embedded;
pub use registry::{Facts, METHODS, MethodKind, find, method};

use crate::Result;
use crate::laws::Solver;
use crate::ledger::Balance;
use crate::relations::Scene;
use crate::state::{Key, State};
use serde::{Deserialize, Serialize};

/// Makes steps: a scheme, or a search for equilibrium.
pub trait Method {
    /// The state at t = 0 in the form of a finished step; `h` is the size of the first step.
    fn initial_attempt(&mut self, h: f64) -> Result<Attempt>;

    /// Makes the step from `from` to time `t1 = from.time + h`; `to` is overwritten.
    fn attempt(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) -> Result<()>;

    /// What the next step depends on beyond the state.
    fn kept(&self) -> KeptFactors;

    /// Takes up what [`Method::kept`] gave.
    fn restore(&mut self, kept: KeptFactors) -> Result<()>;

    /// Which factorization its matrix gets.
    fn factorization(&self) -> &'static str;
}

/// What a method remembers beyond the state: the step size of the factor that it keeps, and the step that made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptFactors {
    /// Step size and number of the step.
    pub factored: Option<(f64, u64)>,
    /// Begin and end of the second half of a step whose first half was the last step.
    pub due: Option<[f64; 2]>,
}

/// Error of a step, as norms that know no tolerance: lengths, or roots of energies; the violation is a length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Of the smooth motion.
    pub smooth: f64,
    /// Of impulses, which are placed in time to half a step.
    pub contact: f64,
    /// Penetration that the step added.
    pub violation: f64,
    /// Power of h with which the error of the smooth motion falls over a run.
    pub order: u32,
}

/// Something that happened at an instant within a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub time: f64,
    /// Who touches what.
    pub contact: Key,
    /// What happened.
    pub kind: EventKind,
    /// Relative velocity before: along the normal, at slips along the tangent.
    pub rate: f64,
    /// Normal impulse.
    pub impulse: f64,
}

/// What can happen at a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventKind {
    /// It closed, with an impulse.
    Impact,
    /// Its force vanished, and it opened.
    Release,
    /// Sliding ended.
    Stick,
    /// Sliding began.
    Slip,
}

/// One finished, uncommitted step.
#[derive(Clone, Debug, Default)]
pub struct Attempt {
    /// The state at its end.
    pub state: State,
    /// Its works.
    pub balance: Balance,
    /// What could touch in it.
    pub scene: Scene,
    /// Gap of every candidate at the end.
    pub gaps: Vec<f64>,
    /// What contact may bring in at most while its law holds, beside `support`, (T26).
    pub granted: f64,
    /// Work that reactions of driven supports do in the weights of the scheme beyond that of both ends, (T15).
    pub reweighed: f64,
    /// Weights of the old internal forces and loads, and of the old damping forces, in the mean over the step that reactions
    /// take, (T45); zero for an equilibrium.
    pub old_weights: [f64; 2],
    /// Number of contacts that took part.
    pub active: usize,
    /// Newton passes.
    pub passes: usize,
    /// Numerical factorizations.
    pub factorizations: usize,
    /// Sweeps or pivots of the contact solver.
    pub sweeps: usize,
    /// Natural-map residual of (T4) at the final velocities, of the largest relative velocity; of (T92) at the final gaps,
    /// of the length of the model.
    pub complementarity: f64,
    /// Contact solver that was used.
    pub method: Solver,
    /// Its error, where the pace asks for it.
    pub error: Option<Estimate>,
    /// What happened in it at instants of its own, in the order of time.
    pub events: Vec<Event>,
    /// Independent motions along which an equilibrium is unstable; none in a transient.
    pub unstable: usize,
}
