//! The pace of every run: a grid of equal steps, and a binary ladder of smaller ones below it.
//!
//! A step that fails is redone in halves, quarters, …, and the full step comes back where the grid allows. With a
//! [`Control`] the same ladder adapts steps to their errors. Powers of two keep the number of different step sizes, and so
//! of factorizations, small, and instants of the grid are always met.

use super::adaptive::{Control, Decision};
use super::{Cuts, Grid, Pace, Stride, Verdict};
use crate::methods::Attempt;
use crate::sinks::{pack, unpack};
use crate::state::State;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Steps of a grid, halved as often as failures or errors ask for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ladder {
    grid: Grid,
    /// Grid step under way, from 1.
    target: u64,
    /// Position within it, in units of 2^-level of the step.
    part: u64,
    level: u32,
    most: u32,
    guard_cuts: u32,
    cuts: Cuts,
    control: Option<Control>,
}

impl Ladder {
    /// Divides the steps of `grid` by at most `finest`, and halves them at most `guard_cuts` times for a guard.
    pub fn new(grid: Grid, finest: f64, guard_cuts: u32) -> Ladder {
        // The slack keeps a quotient of exactly two to some power on its side of it.
        let most = (finest.log2() + 1e-9).floor().clamp(0.0, 40.0) as u32;
        Ladder { grid, target: 1, part: 0, level: 0, most, guard_cuts, cuts: Cuts::default(), control: None }
    }

    /// What a pace saved that had another end or other limits, as this one would have saved it there.
    pub fn take_over(&self, saved: &[u8]) -> Result<Vec<u8>> {
        let Ladder { target, part, level, cuts, control, .. } = unpack(saved)?;
        let control = control.zip(self.control.clone()).map(|(old, new)| new.after(&old)).or(self.control.clone());
        Ok(pack(&Ladder { target, part, level, cuts, control, grid: self.grid.clone(), ..*self }))
    }

    /// This ladder with steps that adapt to their errors.
    pub fn adapting(self, control: Control) -> Ladder {
        Ladder { control: Some(control), ..self }
    }

    /// End of part `part` (counted from 1) of the grid step under way: one expression for every instant, because step sizes
    /// that differ in their last bits would each want a factor of their own.
    fn end(&self, part: u64) -> f64 {
        let parts = 1u64 << self.level;
        if part >= parts {
            return self.grid.instant(self.target);
        }
        self.grid.instant(self.target - 1) + self.grid.size(self.target) * (part as f64 / parts as f64)
    }

    /// Halves the step so many times.
    fn descend(&mut self, rungs: u32) {
        self.level += rungs;
        self.part <<= rungs;
    }

    /// Goes on behind an accepted part; where parts fit, the step is doubled, at most so many times.
    fn advance(&mut self, rungs: u32) {
        self.part += 1;
        if self.part == 1 << self.level {
            (self.target, self.part) = (self.target + 1, 0);
        }
        for _ in 0..rungs.min(self.level) {
            if !self.part.is_multiple_of(2) {
                break;
            }
            (self.part, self.level) = (self.part / 2, self.level - 1);
        }
    }

    fn cut(&mut self, error: Error) -> Result<Verdict> {
        let guard = matches!(error, Error::Guard(_));
        let most = if guard { self.most.min(self.guard_cuts) } else { self.most };
        if self.level >= most {
            return Err(error);
        }
        self.descend(1);
        *(if guard { &mut self.cuts.guards } else { &mut self.cuts.solvers }) += 1;
        Ok(Verdict::Retry)
    }
}

impl Pace for Ladder {
    fn propose(&mut self, from: &State) -> Option<Stride> {
        if self.target > self.grid.count() {
            return None;
        }
        // A method that arrived early, and was then told to take smaller steps, may be beyond some of them.
        let whole = self.grid.size(self.target) / (1u64 << self.level) as f64;
        let rounding = 1e-9 * whole;
        while from.time >= self.end(self.part + 1) - rounding {
            self.part += 1;
        }
        let (start, end) = (self.end(self.part), self.end(self.part + 1));
        let h = if from.time > start + rounding { end - from.time } else { whole };
        let grid = (self.part + 1 == 1 << self.level).then_some(self.target);
        Some(Stride { h, end, grid })
    }

    fn judge(&mut self, from: &State, outcome: Result<&Attempt>) -> Result<Verdict> {
        let attempt = match outcome {
            Ok(attempt) => attempt,
            Err(error) => return self.cut(error),
        };
        // As far as the grid allows, unless errors have a say.
        let mut rungs = u32::MAX;
        if let Some(control) = &mut self.control {
            match control.judge(from, attempt, self.most - self.level) {
                Decision::Halve(rungs) => {
                    self.descend(rungs);
                    return Ok(Verdict::Retry);
                }
                Decision::Go(up) => rungs = up,
            }
        }
        if attempt.state.time >= self.end(self.part + 1) {
            self.advance(rungs);
        }
        Ok(Verdict::Accept)
    }

    fn cuts(&self) -> Cuts {
        let (rejected, forced) = self.control.as_ref().map_or((0, 0), Control::counts);
        Cuts { rejected, forced, ..self.cuts }
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
    use crate::case::data::Adaptive;
    use crate::methods::Estimate;

    /// Ends of all accepted steps if the attempts with these numbers fail.
    fn walk(fails: &[usize], finest: f64) -> Result<Vec<f64>> {
        let mut pace = Ladder::new(Grid::new(3.0, 1.0), 1.0 / finest, 8);
        let mut attempt = Attempt::default();
        let (mut state, mut ends, mut count) = (State::default(), Vec::new(), 0);
        while let Some(stride) = pace.propose(&state) {
            assert!((state.time + stride.h - stride.end).abs() < 1e-15);
            assert_eq!(stride.grid.is_some(), stride.end.fract() == 0.0);
            count += 1;
            attempt.state.time = stride.end;
            let failed = || Err(Error::Solver("test".into()));
            let outcome = if fails.contains(&count) { failed() } else { Ok(&attempt) };
            if pace.judge(&state, outcome)? == Verdict::Accept {
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

    #[test]
    fn a_method_that_arrives_early_gets_the_rest() {
        let mut pace = Ladder::new(Grid::new(2.0, 1.0), 16.0, 8);
        let (mut state, mut attempt) = (State::default(), Attempt::default());
        attempt.state.time = 0.7;
        assert_eq!(pace.propose(&state), Some(Stride { h: 1.0, end: 1.0, grid: Some(1) }));
        assert_eq!(pace.judge(&state, Ok(&attempt)).unwrap(), Verdict::Accept);
        state.time = 0.7;
        assert_eq!(pace.propose(&state), Some(Stride { h: 1.0 - 0.7, end: 1.0, grid: Some(1) }));
        // A cut there halves what is left of the halves of the grid step.
        pace.judge(&state, Err(Error::Solver("test".into()))).unwrap();
        assert_eq!(pace.propose(&state), Some(Stride { h: 1.0 - 0.7, end: 1.0, grid: Some(1) }));
        pace.judge(&state, Err(Error::Solver("test".into()))).unwrap();
        assert_eq!(pace.propose(&state), Some(Stride { h: 0.75 - 0.7, end: 0.75, grid: None }));
    }

    /// Level after steps with these errors over the tolerance, from the top of a ladder of four rungs.
    fn adapt(errors: &[f64]) -> (u32, u64, Cuts) {
        let control = Control::new(1.0, &Adaptive { tolerance: 1.0, ..Default::default() });
        let mut pace = Ladder::new(Grid::new(8.0, 1.0), 16.0, 8).adapting(control);
        let (mut state, mut attempt) = (State::default(), Attempt::default());
        for &error in errors {
            let stride = pace.propose(&state).unwrap();
            attempt.state.time = stride.end;
            attempt.error = Some(Estimate { smooth: error, order: 2, ..Default::default() });
            if pace.judge(&state, Ok(&attempt)).unwrap() == Verdict::Accept {
                state.time = stride.end;
            }
        }
        (pace.level, pace.target, pace.cuts())
    }

    #[test]
    fn errors_move_the_ladder() {
        assert_eq!(adapt(&[0.01, 0.01]), (0, 3, Cuts::default()));
        // One jump by as many rungs as the order needs: 2^(3·2) = 64.
        assert_eq!(adapt(&[60.0]), (2, 1, Cuts { rejected: 1, ..Default::default() }));
        // Up again one rung at a time, where parts fit.
        assert_eq!(adapt(&[60.0, 0.05, 0.05]).0, 1);
        assert_eq!(adapt(&[60.0, 0.05, 0.05, 0.05]).0, 0);
        assert_eq!(adapt(&[60.0, 0.5, 0.5, 0.5, 0.5, 0.5]).0, 2, "an eighth of the limit is needed to grow");
        let (level, _, cuts) = adapt(&[1e9, 5.0, 5.0]);
        assert_eq!((level, cuts.forced, cuts.rejected), (4, 2, 1));
    }
}
