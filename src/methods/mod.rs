//! What makes steps, as `march` sees it: the trait [`Method`] and the [`Attempt`] that it returns.
//!
//! A method computes and never commits; it must not know who judges its steps, or what is kept of them.

use crate::Result;
use crate::contact::Scene;
use crate::contact::solver::Method as ContactMethod;
use crate::ledger::Balance;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// Makes steps: a scheme, or a search for equilibrium.
pub trait Method {
    /// The state at t = 0 in the form of a finished step; `h` is the size of the first step.
    fn initial_attempt(&mut self, h: f64) -> Result<Attempt>;

    /// Makes the step from `from` to time `t1 = from.time + h`; `to` is overwritten.
    fn attempt(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) -> Result<()>;

    /// What the next step depends on beyond the state.
    fn memory(&self) -> Memory;

    /// Takes up what [`Method::memory`] gave.
    fn recall(&mut self, memory: Memory) -> Result<()>;

    /// Which factorization its matrix gets.
    fn factorization(&self) -> &'static str;
}

/// What a method remembers beyond the state: the step size of the factor that it keeps, and the step that made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Step size and number of the step.
    pub factored: Option<(f64, u64)>,
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
    pub method: ContactMethod,
    /// Independent motions along which an equilibrium is unstable; none in a transient.
    pub unstable: usize,
}
