//! Equal steps: instants are k·h, and the last one is the end of time.

use serde::{Deserialize, Serialize};

/// Steps of one size; only the first, if it is told to, and the last may be shorter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Grid {
    end: f64,
    step: f64,
    first: f64,
    count: u64,
}

impl Grid {
    /// Steps of `step` until `end`. If `end` is a multiple of `step` to 1e-9, all steps are equal; otherwise the last
    /// one is shortened.
    pub fn new(end: f64, step: f64) -> Grid {
        Grid { end, step, first: step, count: fitting(end, step, end) }
    }

    /// Begins with a step of `first`, at most `step`: all other instants move with it.
    pub fn starting(self, first: f64) -> Grid {
        if first == self.step {
            return self;
        }
        let rest = (self.end - first).max(0.0);
        Grid { first, count: 1 + fitting(rest, self.step, self.end), ..self }
    }

    /// Number of steps.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Instant number `k` of the grid.
    pub fn instant(&self, k: u64) -> f64 {
        match k {
            0 => 0.0,
            k if k >= self.count => self.end,
            // Without a shift these are exact multiples.
            k if self.first == self.step => k as f64 * self.step,
            k => self.first + (k - 1) as f64 * self.step,
        }
    }

    /// Size of the step that ends at instant `k`.
    pub fn size(&self, k: u64) -> f64 {
        let usual = if k == 1 { self.first } else { self.step };
        let before = self.instant(k - 1);
        // A remainder of almost a whole step is a whole one: the factor stays, and the instants are right anyway.
        if k < self.count || (self.end - before - usual).abs() <= 1e-9 * self.end { usual } else { self.end - before }
    }
}

/// Number of steps that fill `length`; of the last one, less than 1e-9 of `scale` is not worth a step of its own.
fn fitting(length: f64, step: f64, scale: f64) -> u64 {
    let rounded = (length / step).round();
    let exact = (rounded * step - length).abs() <= 1e-9 * scale;
    (if exact { rounded } else { (length / step).ceil() }) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(end: f64, step: f64) -> Vec<(f64, f64)> {
        strides(Grid::new(end, step))
    }

    /// Size and end of every step.
    fn strides(grid: Grid) -> Vec<(f64, f64)> {
        (1..=grid.count()).map(|k| (grid.size(k), grid.instant(k))).collect()
    }

    #[test]
    fn instants_are_multiples_and_the_last_is_the_end() {
        let strides = walk(3.0, 2e-3);
        assert_eq!(strides.len(), 1500);
        assert!(strides.iter().all(|s| s.0 == 2e-3));
        assert_eq!(strides[699].1, 700.0 * 2e-3);
        assert_eq!(strides[1499].1, 3.0);
    }

    #[test]
    fn a_shorter_first_step_shifts_the_grid() {
        let strides = strides(Grid::new(1.0, 0.25).starting(0.1));
        let ends: Vec<f64> = strides.iter().map(|stride| stride.1).collect();
        assert_eq!(ends, [0.1, 0.35, 0.6, 0.1 + 3.0 * 0.25, 1.0]);
        assert_eq!(strides[..4].iter().map(|stride| stride.0).collect::<Vec<_>>(), [0.1, 0.25, 0.25, 0.25]);
        assert!((strides[4].0 - 0.15).abs() < 1e-15);
        assert_eq!(super::tests::strides(Grid::new(0.1, 0.25).starting(0.2)).len(), 1);
        let whole = Grid::new(1.0, 0.25);
        assert_eq!(super::tests::strides(whole.clone().starting(0.25)), super::tests::strides(whole));
    }

    #[test]
    fn the_last_step_is_shortened() {
        let strides = walk(1.0, 0.3);
        assert_eq!(strides.len(), 4);
        assert!((strides[3].0 - 0.1).abs() < 1e-15 && strides[3].1 == 1.0);
        assert_eq!(walk(1.0, 1.0).len(), 1);
        assert_eq!(walk(0.1 + 0.2, 0.1).len(), 3, "0.30000000000000004 is three steps");
    }
}
