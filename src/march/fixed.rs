//! Equal steps: instants are k·h, and the last one is the end of time.

use super::{Pace, Stride};
use crate::sinks::{pack, unpack};
use crate::state::State;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Steps of one size; only the last may be shorter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fixed {
    end: f64,
    step: f64,
    count: u64,
    /// Number of the grid instant that was reached.
    reached: u64,
}

impl Fixed {
    /// Steps of `step` until `end`. If `end` is a multiple of `step` to 1e-9, all steps are equal; otherwise the last
    /// one is shortened.
    pub fn new(end: f64, step: f64) -> Fixed {
        let rounded = (end / step).round();
        let exact = (rounded * step - end).abs() <= 1e-9 * end;
        let count = if exact { rounded } else { (end / step).ceil() };
        Fixed { end, step, count: count as u64, reached: 0 }
    }

    /// Number of steps.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Instant number `k` of the grid.
    pub fn instant(&self, k: u64) -> f64 {
        if k >= self.count { self.end } else { k as f64 * self.step }
    }

    /// Size of the step that ends at instant `k`.
    pub fn size(&self, k: u64) -> f64 {
        let before = (k - 1) as f64 * self.step;
        // A remainder of almost a whole step is a whole one: the factor stays, and the instants are right anyway.
        if k < self.count || (self.end - before - self.step).abs() <= 1e-9 * self.end {
            self.step
        } else {
            self.end - before
        }
    }
}

impl Pace for Fixed {
    fn next(&mut self, state: &State) -> Option<Stride> {
        self.reached = state.step;
        let k = self.reached + 1;
        (k <= self.count).then(|| Stride { h: self.size(k), end: self.instant(k) })
    }

    fn failed(&mut self, error: Error) -> Result<()> {
        Err(error)
    }

    fn save(&self) -> Vec<u8> {
        pack(self)
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        *self = unpack(saved)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(end: f64, step: f64) -> Vec<Stride> {
        let mut pace = Fixed::new(end, step);
        let mut state = State::default();
        let mut strides = Vec::new();
        while let Some(stride) = pace.next(&state) {
            strides.push(stride);
            state.step += 1;
            state.time = stride.end;
        }
        strides
    }

    #[test]
    fn instants_are_multiples_and_the_last_is_the_end() {
        let strides = walk(3.0, 2e-3);
        assert_eq!(strides.len(), 1500);
        assert!(strides.iter().all(|s| s.h == 2e-3));
        assert_eq!(strides[699].end, 700.0 * 2e-3);
        assert_eq!(strides[1499].end, 3.0);
    }

    #[test]
    fn the_last_step_is_shortened() {
        let strides = walk(1.0, 0.3);
        assert_eq!(strides.len(), 4);
        assert!((strides[3].h - 0.1).abs() < 1e-15 && strides[3].end == 1.0);
        assert_eq!(walk(1.0, 1.0).len(), 1);
        assert_eq!(walk(0.1 + 0.2, 0.1).len(), 3, "0.30000000000000004 is three steps");
    }
}
