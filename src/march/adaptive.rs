//! Steps that adapt: what the error of a step says about its size, and about that of the next.
//!
//! The norms of an [`Estimate`] come from the method and know no tolerance; they are divided by it here. Violation counts as
//! far as the step added to it: a contact that closed with some penetration keeps it, and could never be accepted again.

use crate::case::data::{Adaptive, ErrorNorm};
use crate::methods::{Attempt, Estimate};
use crate::state::State;
use serde::{Deserialize, Serialize};

/// A step may grow if the error of one twice as long would stay below this part of the tolerance.
const ROOM: f64 = 0.8;

/// Judges steps by their errors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Control {
    tolerance: f64,
    length: f64,
    norm: ErrorNorm,
    /// Order that is assumed instead of the guess of each step.
    order: Option<u32>,
    violation: bool,
    hold: bool,
    /// Largest kinetic and strain energy so far, the measure of errors in energy.
    energy: f64,
    /// How often the step may be doubled after the last one that was judged.
    room: u32,
    rejected: u64,
    forced: u64,
}

/// What the error of a step asks for.
pub enum Decision {
    /// The step again, halved so many times.
    Halve(u32),
    /// The next step, doubled at most so many times.
    Go(u32),
}

impl Control {
    /// Judges with these settings in a model of this length.
    pub fn new(length: f64, settings: &Adaptive) -> Control {
        Control {
            tolerance: settings.tolerance,
            length,
            norm: settings.norm,
            order: settings.order.forced(),
            violation: settings.violation,
            hold: settings.hold,
            energy: 0.0,
            room: 0,
            rejected: 0,
            forced: 0,
        }
    }

    /// This control after steps that another one has judged.
    pub fn after(self, other: &Control) -> Control {
        Control { energy: other.energy, room: other.room, rejected: other.rejected, forced: other.forced, ..self }
    }

    /// Steps that were rejected for their error, and those that were accepted at the floor in spite of it.
    pub fn counts(&self) -> (u64, u64) {
        (self.rejected, self.forced)
    }

    /// Judges a finished step that may be halved `left` times more.
    pub fn judge(&mut self, from: &State, attempt: &Attempt, left: u32) -> Decision {
        // The second half of a step that was judged as a whole brings none.
        let Some(estimate) = &attempt.error else { return Decision::Go(self.room) };
        let state = &attempt.state;
        for energy in [from.energy, state.energy] {
            self.energy = self.energy.max(energy.kinetic + energy.strain);
        }
        let (error, order) = self.error(estimate);
        // An error that is no number is none that could be accepted.
        let missed = error > 1.0 || error.is_nan();
        if missed && left > 0 {
            self.rejected += 1;
            let rungs = (error.log2() / f64::from(order + 1)).ceil();
            return Decision::Halve(if rungs.is_finite() { (rungs as u32).clamp(1, left) } else { left });
        }
        self.forced += u64::from(missed);
        let held = self.hold && state.impulse.iter().any(|&impulse| impulse != 0.0);
        self.room = u32::from(error * f64::from(1u32 << (order + 1)) < ROOM && !held);
        Decision::Go(self.room)
    }

    /// Error over the tolerance, and the order with which it falls: 0 where contact or violation dominates.
    fn error(&self, estimate: &Estimate) -> (f64, u32) {
        let scale = match self.norm {
            ErrorNorm::Position => self.length,
            ErrorNorm::Energy => self.energy.sqrt(),
        };
        // Where there is no scale yet, there is no motion, and nothing to miss.
        let of = |x: f64, scale: f64| if x == 0.0 { 0.0 } else { x / (self.tolerance * scale) };
        let motion = of(estimate.smooth + estimate.contact, scale);
        let violation = if self.violation { of(estimate.violation, self.length) } else { 0.0 };
        let event = estimate.contact > estimate.smooth || violation > motion;
        let error = if violation > motion { violation } else { motion };
        (error, self.order.unwrap_or(if event { 0 } else { estimate.order }))
    }
}
