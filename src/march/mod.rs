//! From the first instant to the last: attempt, judge, commit or retry.
//!
//! A [`Pace`] decides about step sizes and never touches a scheme; a [`Sink`] keeps what it
//! wants of every accepted step.

mod fixed;
mod guards;
mod ladder;

pub use fixed::Fixed;
pub use guards::Guards;
pub use ladder::Ladder;

use crate::ledger::Ledger;
use crate::sinks::{Record, Sink};
use crate::state::{Energy, State};
use crate::step::Attempt;
use crate::{Error, Result};
use std::time::{Duration, Instant};

/// Makes steps: a scheme, or a search for equilibrium.
pub trait Method {
    /// The state at t = 0 in the form of a finished step; `h` is the size of the first step.
    fn initial_attempt(&mut self, h: f64) -> Result<Attempt>;

    /// Makes the step from `from` to time `t1 = from.time + h`; `to` is overwritten.
    fn attempt(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) -> Result<()>;

    /// Which factorization its matrix gets.
    fn factorization(&self) -> &'static str;
}

/// Chooses step sizes.
pub trait Pace {
    /// Size and end of the next step, or `None` at the end of time.
    fn next(&mut self, state: &State) -> Option<Stride>;

    /// Judges a step that failed: `Ok` asks for another try (with what [`Pace::next`] then says), `Err` ends the run.
    fn failed(&mut self, error: Error) -> Result<()>;
}

/// Size and end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stride {
    /// Step size.
    pub h: f64,
    /// Instant at its end; given, because sums of step sizes would drift.
    pub end: f64,
}

/// What a march leaves behind.
pub struct Arrival {
    /// Energies at the start.
    pub start: Energy,
    /// The state at the end.
    pub state: State,
    /// All works.
    pub ledger: Ledger,
    /// Time spent in steps alone.
    pub stepping: Duration,
}

/// Marches to the end of time; every accepted step goes to all sinks, the initial state first.
pub fn march(
    method: &mut dyn Method,
    pace: &mut dyn Pace,
    guards: &Guards,
    sinks: &mut [&mut dyn Sink],
) -> Result<Arrival> {
    let mut attempt = method.initial_attempt(pace.next(&State::default()).map_or(0.0, |stride| stride.h))?;
    let mut ledger = Ledger::new(&attempt.state);
    let start = attempt.state.energy;
    let mut stepping = Duration::ZERO;
    for sink in sinks.iter_mut() {
        sink.record(&Record { h: 0.0, attempt: &attempt, ledger: &ledger })?;
    }
    let mut state = attempt.state.clone();
    while let Some(stride) = pace.next(&state) {
        let clock = Instant::now();
        let result = method.attempt(&state, stride.h, stride.end, &mut attempt);
        let result = result.and_then(|()| guards.check(&attempt, &ledger));
        if let Err(error) = result {
            pace.failed(error)?;
            stepping += clock.elapsed();
            continue;
        }
        ledger.add(&attempt.balance, &attempt.state);
        stepping += clock.elapsed();
        for sink in sinks.iter_mut() {
            sink.record(&Record { h: stride.h, attempt: &attempt, ledger: &ledger })?;
        }
        std::mem::swap(&mut state, &mut attempt.state);
    }
    Ok(Arrival { start, state, ledger, stepping })
}
