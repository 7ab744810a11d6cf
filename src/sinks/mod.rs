//! What is kept of a run: the trait [`Sink`] and its implementors, one per kind of file.

pub mod animation;
pub mod columns;
pub mod digest;
pub mod episodes;
pub mod frames;
pub mod history;
pub mod key_results;
pub mod npy;
pub mod obstacles;
mod reactions;
pub mod surface;
pub mod vtk;

use crate::ledger::Ledger;
use crate::methods::Attempt;
use crate::state::State;
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// One accepted step, or the initial state.
pub struct Record<'a> {
    /// Size of the step; zero for the initial state.
    pub h: f64,
    /// Number of the instant of the output grid that it reached, if it did.
    pub grid: Option<u64>,
    /// The state that the step began with; the initial state itself before the first step.
    pub from: &'a State,
    /// The step with its final state.
    pub attempt: &'a Attempt,
    /// Works up to its end.
    pub ledger: &'a Ledger,
}

impl Record<'_> {
    /// Whether an output that comes with every so many steps of the grid, and at time `end`, comes now.
    pub fn is_due(&self, every: u64, end: f64) -> bool {
        self.grid.is_some_and(|k| k.is_multiple_of(every)) || self.attempt.state.time >= end
    }
}

/// Keeps what it wants of a run.
pub trait Sink {
    /// Opens what is to be written; `saved` is what [`Sink::save`] gave if the run goes on after an interruption.
    /// A sink in memory that need not survive leaves this and the next two as they are.
    fn begin(&mut self, _saved: Option<&[u8]>) -> Result<()> {
        Ok(())
    }

    /// Takes one accepted step.
    fn record(&mut self, record: &Record) -> Result<()>;

    /// Brings everything to the disk; returns what the sink must know to go on from here.
    fn save(&mut self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    /// Completes what was begun, after the last step.
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

/// What a sink saves, as bytes.
pub(crate) fn pack<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_stdvec(value).expect("plain data always fits into bytes")
}

/// What a sink saved. Checkpoints are checked as a whole, so bytes that do not fit are another version's.
pub(crate) fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|error| Error::Input(format!("the checkpoint cannot be read: {error}")))
}
