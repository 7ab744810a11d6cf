//! From the first instant to the last: attempt, judge, commit or retry.
//!
//! A [`Pace`] decides about step sizes and never touches a scheme; a [`Sink`] keeps what it
//! wants of every accepted step.

mod fixed;
mod guards;
mod ladder;

pub use fixed::Fixed;
pub use guards::{Guards, ROUNDING};
pub use ladder::Ladder;

use crate::checkpoint::{Checkpoint, Keeper};
use crate::ledger::Ledger;
use crate::methods::Method;
use crate::sinks::{Record, Sink};
use crate::state::{Energy, State};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Chooses step sizes.
pub trait Pace {
    /// Size and end of the next step, or `None` at the end of time.
    fn next(&mut self, state: &State) -> Option<Stride>;

    /// Judges a step that failed: `Ok` asks for another try (with what [`Pace::next`] then says), `Err` ends the run.
    fn failed(&mut self, error: Error) -> Result<()>;

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
}

/// How often steps were halved, by what asked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cuts {
    /// Guards on energy, penetration and numbers that are none: errors of exit code 5.
    pub guards: u64,
    /// Solvers that did not converge, or missed what their guards ask: errors of exit code 4.
    pub solvers: u64,
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
pub struct Escort<'a> {
    /// Writes checkpoints.
    pub keeper: Option<&'a mut Keeper>,
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
    escort: Escort,
) -> Result<Arrival> {
    let Escort { mut keeper, from, stop } = escort;
    let mut attempt = method.initial_attempt(pace.next(&State::default()).map_or(0.0, |stride| stride.h))?;
    let mut ledger = Ledger::new(&attempt.state);
    let mut start = attempt.state.energy;
    if let Some(from) = from {
        (attempt.state, ledger, start) = (from.state, from.ledger, from.start);
        method.recall(from.memory)?;
        pace.restore(&from.pace)?;
        for (sink, saved) in sinks.iter_mut().zip(&from.sinks) {
            sink.begin(Some(saved))?;
        }
    } else {
        for sink in sinks.iter_mut() {
            sink.begin(None)?;
            sink.record(&Record { h: 0.0, attempt: &attempt, ledger: &ledger })?;
        }
        if keeper.as_ref().is_some_and(|keeper| keeper.early()) {
            keep(&mut keeper, start, &attempt.state, &ledger, method, pace, sinks)?;
        }
    }
    let mut stopwatch = Stopwatch::default();
    let mut state = attempt.state.clone();
    while let Some(stride) = pace.next(&state) {
        // A function without a value at some instant has none in shorter steps either.
        if let Err(error) = guards.check_functions(stride.end) {
            keep(&mut keeper, start, &state, &ledger, method, pace, sinks)?;
            return Err(error);
        }
        let result = stopwatch.measure(|| {
            method.attempt(&state, stride.h, stride.end, &mut attempt)?;
            guards.check(&state, &attempt, &ledger)
        });
        if let Err(error) = result {
            if let Err(error) = pace.failed(error) {
                keep(&mut keeper, start, &state, &ledger, method, pace, sinks)?;
                return Err(error);
            }
            continue;
        }
        ledger.add(&attempt.balance, &attempt.state);
        for sink in sinks.iter_mut() {
            sink.record(&Record { h: stride.h, attempt: &attempt, ledger: &ledger })?;
        }
        std::mem::swap(&mut state, &mut attempt.state);
        let stopped = stop();
        if stopped.is_some() || keeper.as_mut().is_some_and(|keeper| keeper.due()) {
            keep(&mut keeper, start, &state, &ledger, method, pace, sinks)?;
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
    keeper: &mut Option<&mut Keeper>,
    start: Energy,
    state: &State,
    ledger: &Ledger,
    method: &dyn Method,
    pace: &dyn Pace,
    sinks: &mut [&mut dyn Sink],
) -> Result<()> {
    let Some(keeper) = keeper else { return Ok(()) };
    keeper.keep(|identity| {
        // Sinks first: what the checkpoint says is on the disk must be there before it.
        let sinks = sinks.iter_mut().map(|sink| sink.save()).collect::<Result<_>>()?;
        Ok(Checkpoint {
            identity,
            start,
            state: state.clone(),
            ledger: ledger.clone(),
            memory: method.memory(),
            pace: pace.save(),
            sinks,
        })
    })
}
