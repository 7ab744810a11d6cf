//! Step cuts: a step that fails is redone in halves, quarters, …, and the full step comes back where the grid allows.

use super::{Cuts, Fixed, Pace, Stride};
use crate::sinks::{pack, unpack};
use crate::state::State;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Equal steps, with a binary ladder of smaller ones for trouble. Powers of two keep the number of different step
/// sizes, and so of factorizations, small.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ladder {
    grid: Fixed,
    /// Grid step under way, from 1.
    target: u64,
    /// Position within it, in units of 2^-level of the step.
    part: u64,
    level: u32,
    most: u32,
    guard_cuts: u32,
    cuts: Cuts,
}

impl Ladder {
    /// Divides the steps of `grid` by at most `finest`, and halves them at most `guard_cuts` times for a guard.
    pub fn new(grid: Fixed, finest: f64, guard_cuts: u32) -> Ladder {
        // The slack keeps a quotient of exactly two to some power on its side of it.
        let most = (finest.log2() + 1e-9).floor().clamp(0.0, 40.0) as u32;
        Ladder { grid, target: 0, part: 0, level: 0, most, guard_cuts, cuts: Cuts::default() }
    }
}

impl Pace for Ladder {
    fn next(&mut self, state: &State) -> Option<Stride> {
        // A call without progress since the last one is a retry or a look ahead; otherwise move on.
        if self.target == 0 {
            self.target = 1;
        } else if state.time >= self.end(self.part + 1) {
            self.part += 1;
            while self.level > 0 && self.part.is_multiple_of(2) {
                self.part /= 2;
                self.level -= 1;
            }
            if self.level == 0 && self.part == 1 {
                self.part = 0;
                self.target += 1;
            }
        }
        let parts = if self.level == 0 { 1.0 } else { 1.0 / (1u64 << self.level) as f64 };
        (self.target <= self.grid.count())
            .then(|| Stride { h: self.grid.size(self.target) * parts, end: self.end(self.part + 1) })
    }

    fn failed(&mut self, error: Error) -> Result<()> {
        let guard = matches!(error, Error::Guard(_));
        let most = if guard { self.most.min(self.guard_cuts) } else { self.most };
        if self.level >= most {
            return Err(error);
        }
        self.level += 1;
        self.part *= 2;
        *(if guard { &mut self.cuts.guards } else { &mut self.cuts.solvers }) += 1;
        Ok(())
    }

    fn cuts(&self) -> Cuts {
        self.cuts
    }

    fn save(&self) -> Vec<u8> {
        pack(self)
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        *self = unpack(saved)?;
        Ok(())
    }
}

impl Ladder {
    /// End of part `part` (counted from 1) of the grid step under way.
    fn end(&self, part: u64) -> f64 {
        let parts = 1u64 << self.level;
        if part >= parts {
            return self.grid.instant(self.target);
        }
        self.grid.instant(self.target - 1) + self.grid.size(self.target) * (part as f64 / parts as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends of all accepted steps if the attempts with these numbers fail.
    fn walk(fails: &[usize], finest: f64) -> Result<Vec<f64>> {
        let mut pace = Ladder::new(Fixed::new(3.0, 1.0), 1.0 / finest, 8);
        let mut state = State::default();
        let mut ends = Vec::new();
        let mut attempt = 0;
        while let Some(stride) = pace.next(&state) {
            assert!((state.time + stride.h - stride.end).abs() < 1e-15);
            attempt += 1;
            if fails.contains(&attempt) {
                pace.failed(Error::Solver("test".into()))?;
            } else {
                state.time = stride.end;
                ends.push(stride.end);
            }
        }
        Ok(ends)
    }

    #[test]
    fn without_failures_it_is_the_grid() {
        assert_eq!(walk(&[], 1e-3).unwrap(), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn cuts_are_halves_and_the_grid_comes_back() {
        assert_eq!(walk(&[2], 1e-3).unwrap(), [1.0, 1.5, 2.0, 3.0]);
        assert_eq!(walk(&[2, 3], 1e-3).unwrap(), [1.0, 1.25, 1.5, 2.0, 3.0]);
        assert_eq!(walk(&[2, 4], 1e-3).unwrap(), [1.0, 1.5, 1.75, 2.0, 3.0]);
    }

    #[test]
    fn the_floor_ends_the_run() {
        assert!(walk(&[1, 2, 3], 0.25).is_err());
        assert_eq!(walk(&[1, 2], 0.25).unwrap()[..2], [0.25, 0.5]);
    }
}
