//! Instants of a run: equal steps, and between them those at which data jump.

use super::step::Stride;
use crate::case::data::Case;
use crate::march::Grid as Equal;

/// Instants nearer than this to each other, of the step, are one.
const SAME: f64 = 1e-9;
/// Data before a jump are taken this much before it, of the time: a few units in the last place.
const BEFORE: f64 = 4.0 * f64::EPSILON;

/// The grid of a case.
pub struct Grid {
    fixed: Equal,
    jumps: Vec<f64>,
    near: f64,
}

/// A step of the grid.
pub struct Next {
    /// Size and end.
    pub stride: Stride,
    /// Number of the equal steps that are complete at its end.
    pub reached: u64,
    /// Whether data jump where it begins.
    pub after_jump: bool,
}

impl Grid {
    /// The grid of a case.
    pub fn new(case: &Case) -> Grid {
        let time = &case.time;
        let fixed = Equal::new(time.end, time.step).starting(time.first_step.unwrap_or(time.step));
        let jumps = case.first_order.jumps.as_ref().map_or(Vec::new(), |jumps| jumps.at.clone());
        Grid { fixed, jumps, near: SAME * time.step }
    }

    /// Number of equal steps.
    pub fn count(&self) -> u64 {
        self.fixed.count()
    }

    /// The step after so many equal steps and from that instant, or none at the end of time.
    pub fn next(&self, reached: u64, time: f64) -> Option<Next> {
        if reached >= self.fixed.count() {
            return None;
        }
        let end = self.fixed.instant(reached + 1);
        let jump_at = |t: f64| self.jumps.iter().any(|jump| (jump - t).abs() <= self.near);
        let between = self.jumps.iter().copied().find(|&jump| jump > time + self.near && jump < end - self.near);
        let data = |end: f64| if jump_at(end) { end - BEFORE * end } else { end };
        let after_jump = jump_at(time) && time > 0.0;
        let whole = time == self.fixed.instant(reached);
        let (stride, reached) = match between {
            Some(jump) => (Stride { h: jump - time, end: jump, data: data(jump) }, reached),
            None => {
                let h = if whole { self.fixed.size(reached + 1) } else { end - time };
                (Stride { h, end, data: data(end) }, reached + 1)
            }
        };
        Some(Next { stride, reached, after_jump })
    }
}
