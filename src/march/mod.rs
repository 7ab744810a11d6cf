//! From the first instant to the last: attempt, judge, commit or retry.
//!
//! A [`Pace`] decides about step sizes and never touches a scheme; a [`Sink`] keeps what it
//! wants of every accepted step.

mod adaptive;
mod grid;
mod guards;
mod ladder;

pub use adaptive::Control;
pub use grid::Grid;
pub use guards::{Guards, ROUNDING};
pub use ladder::Ladder;

use crate::checkpoint::{Checkpoint, Checkpointer, Identity};
use crate::ledger::Ledger;
use crate::methods::{Attempt, Method};
use crate::sinks::{Record, Sink};
use crate::state::{Energy, State};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Chooses step sizes.
pub trait Pace {
    /// Size and end of the next step, or `None` at the end of time.
    fn propose(&mut self, from: &State) -> Option<Stride>;

    /// Judges a step that was made, or the error for which it was not: it is accepted, or tried again with what
    /// [`Pace::propose`] then says. An error ends the run. A step that ends before its stride does is followed by the rest.
    fn judge(&mut self, from: &State, outcome: Result<&Attempt>) -> Result<Verdict>;

    /// How often steps were cut so far.
    fn cuts(&self) -> Cuts {
        Cuts::default()
    }

    /// What the pace remembers, as bytes.
    fn save(&self) -> Vec<u8>;

    /// Takes up what [`Pace::save`] gave.
    fn restore(&mut self, saved: &[u8]) -> Result<()>;
}

/// Size and end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stride {
    /// Step size.
    pub h: f64,
    /// Instant at its end; given, because sums of step sizes would drift.
    pub end: f64,
    /// Number of that instant in the grid of outputs, if it is one of it.
    pub grid: Option<u64>,
}

/// What becomes of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is taken.
    Accept,
    /// It is made again, with another size.
    Retry,
}

/// How often steps were made again with a smaller size, by what asked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cuts {
    /// Guards on energy, penetration and numbers that are none: errors of exit code 5.
    pub guards: u64,
    /// Solvers that did not converge, or missed what their guards ask: errors of exit code 4.
    pub solvers: u64,
    /// Steps made again for their error, where steps adapt.
    pub rejected: u64,
    /// Steps of the smallest size that were taken in spite of their error.
    pub forced: u64,
}

/// What a march leaves behind.
pub struct Arrival {
    /// Energies at the start.
    pub start: Energy,
    /// The state at the end.
    pub state: State,
    /// All works.
    pub ledger: Ledger,
    /// How often steps were cut.
    pub cuts: Cuts,
    /// Time spent in steps alone.
    pub stepping: Duration,
}

/// What goes along with a march beside its steps.
pub struct RunControl<'a> {
    /// Writes checkpoints.
    pub checkpointer: Option<&'a mut Checkpointer>,
    /// Where to go on from, instead of the start.
    pub from: Option<Checkpoint>,
    /// Asked after every step whether to stop, and why.
    pub stop: &'a dyn Fn() -> Option<Error>,
}

/// Marches to the end of time; every accepted step goes to all sinks, the initial state first.
pub fn march(
    method: &mut dyn Method,
    pace: &mut dyn Pace,
    guards: &Guards,
    sinks: &mut [&mut dyn Sink],
    control: RunControl,
) -> Result<Arrival> {
    let RunControl { mut checkpointer, from, stop } = control;
    let mut attempt = method.initial_attempt(pace.propose(&State::default()).map_or(0.0, |stride| stride.h))?;
    let mut ledger = Ledger::new(&attempt.state);
    let mut start = attempt.state.energy;
    if let Some(from) = from {
        (attempt.state, ledger, start) = (from.state, from.ledger, from.start);
        method.restore(from.kept)?;
        pace.restore(&from.pace)?;
        for (sink, saved) in sinks.iter_mut().zip(&from.sinks) {
            sink.begin(Some(saved))?;
        }
        // A run from another's checkpoint has none of its own yet.
        if from.identity.origin.is_some() {
            keep(&mut checkpointer, start, &attempt.state, &ledger, method, pace, sinks)?;
        }
    } else {
        for sink in sinks.iter_mut() {
            sink.begin(None)?;
            sink.record(&Record { h: 0.0, grid: Some(0), from: &attempt.state, attempt: &attempt, ledger: &ledger })?;
        }
        if checkpointer.as_ref().is_some_and(|checkpointer| checkpointer.early()) {
            keep(&mut checkpointer, start, &attempt.state, &ledger, method, pace, sinks)?;
        }
    }
    let mut stopwatch = Stopwatch::default();
    let mut state = attempt.state.clone();
    while let Some(stride) = pace.propose(&state) {
        if let Some(checkpointer) = checkpointer.as_mut().filter(|checkpointer| checkpointer.is_last(stride.end)) {
            checkpointer.keep_last(|identity| checkpoint(identity, start, &state, &ledger, method, pace, sinks))?;
        }
        // A function without a value at some instant has none in shorter steps either.
        if let Err(error) = guards.check_functions(stride.end) {
            keep(&mut checkpointer, start, &state, &ledger, method, pace, sinks)?;
            return Err(error);
        }
        let result = stopwatch.measure(|| {
            method.attempt(&state, stride.h, stride.end, &mut attempt)?;
            guards.check(&state, &attempt, &ledger)
        });
        match pace.judge(&state, result.map(|()| &attempt)) {
            Ok(Verdict::Accept) => {}
            Ok(Verdict::Retry) => continue,
            Err(error) => {
                keep(&mut checkpointer, start, &state, &ledger, method, pace, sinks)?;
                return Err(error);
            }
        }
        // A method may arrive early.
        let arrived = attempt.state.time >= stride.end;
        let (h, grid) = if arrived { (stride.h, stride.grid) } else { (attempt.state.time - state.time, None) };
        attempt.state.h = h;
        ledger.add(&attempt.balance, &attempt.state);
        for sink in sinks.iter_mut() {
            sink.record(&Record { h, grid, from: &state, attempt: &attempt, ledger: &ledger })?;
        }
        std::mem::swap(&mut state, &mut attempt.state);
        let stopped = stop();
        if stopped.is_some() || checkpointer.as_mut().is_some_and(|checkpointer| checkpointer.due()) {
            keep(&mut checkpointer, start, &state, &ledger, method, pace, sinks)?;
        }
        if let Some(error) = stopped {
            return Err(error);
        }
    }
    Ok(Arrival { start, state, ledger, cuts: pace.cuts(), stepping: stopwatch.total })
}

/// Steps shorter than this are measured now and then only, because the clock takes its time too.
const SHORT: Duration = Duration::from_micros(5);

/// Of short steps one in so many is measured, and counts for all.
const SAMPLE: u32 = 64;

/// Time spent in steps.
#[derive(Default)]
struct Stopwatch {
    total: Duration,
    /// Measurements so far, and the steps to come that the last one stands for.
    count: u32,
    left: u32,
}

impl Stopwatch {
    fn measure<T>(&mut self, step: impl FnOnce() -> T) -> T {
        if self.left > 0 {
            self.left -= 1;
            return step();
        }
        let clock = Instant::now();
        let result = step();
        let time = clock.elapsed();
        // The first steps are slower than the rest and stand for themselves.
        self.count = self.count.saturating_add(1);
        self.left = if time < SHORT { (self.count / 16).min(SAMPLE - 1) } else { 0 };
        self.total += time * (self.left + 1);
        result
    }
}

/// Writes a checkpoint, if somebody keeps them.
fn keep(
    checkpointer: &mut Option<&mut Checkpointer>,
    start: Energy,
    state: &State,
    ledger: &Ledger,
    method: &dyn Method,
    pace: &dyn Pace,
    sinks: &mut [&mut dyn Sink],
) -> Result<()> {
    let Some(checkpointer) = checkpointer else { return Ok(()) };
    checkpointer.keep(|identity| checkpoint(identity, start, state, ledger, method, pace, sinks))
}

/// All that the run needs to go on from a state.
fn checkpoint(
    identity: Identity,
    start: Energy,
    state: &State,
    ledger: &Ledger,
    method: &dyn Method,
    pace: &dyn Pace,
    sinks: &mut [&mut dyn Sink],
) -> Result<Checkpoint> {
    // Sinks first: what the checkpoint says is on the disk must be there before it.
    let sinks = sinks.iter_mut().map(|sink| sink.save()).collect::<Result<_>>()?;
    Ok(Checkpoint {
        identity,
        start,
        state: state.clone(),
        ledger: ledger.clone(),
        kept: method.kept(),
        pace: pace.save(),
        sinks,
    })
}
