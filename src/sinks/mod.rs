//! What is kept of a run: the trait [`Sink`] and its implementors, one per kind of file.

pub mod columns;
pub mod digest;
pub mod frames;
pub mod history;
pub mod surface;
pub mod vtk;

use crate::Result;
use crate::ledger::Ledger;
use crate::step::Attempt;

/// One accepted step, or the initial state.
pub struct Record<'a> {
    /// Size of the step; zero for the initial state.
    pub h: f64,
    /// The step with its final state.
    pub attempt: &'a Attempt,
    /// Works up to its end.
    pub ledger: &'a Ledger,
}

/// Keeps what it wants of a run.
pub trait Sink {
    /// Takes one accepted step.
    fn record(&mut self, record: &Record) -> Result<()>;

    /// Completes what was begun, after the last step.
    fn finish(&mut self) -> Result<()>;
}
