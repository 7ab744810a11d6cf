//! Intervals of numbers.

/// An interval of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lower end.
    pub min: f64,
    /// Upper end.
    pub max: f64,
    /// Whether the lower end is allowed itself.
    pub min_included: bool,
    /// Whether the upper end is allowed itself.
    pub max_included: bool,
}

/// Every finite number.
pub const ANY: Range = Range { min: f64::NEG_INFINITY, max: f64::INFINITY, min_included: false, max_included: false };
/// Above zero.
pub const POSITIVE: Range = Range { min: 0.0, ..ANY };
/// Zero and above.
pub const NON_NEGATIVE: Range = Range { min_included: true, ..POSITIVE };

/// From `min` to `max`, both included.
pub const fn between(min: f64, max: f64) -> Range {
    Range { min, max, min_included: true, max_included: true }
}

/// From `min` to `max`, both excluded.
pub const fn inside(min: f64, max: f64) -> Range {
    Range { min, max, min_included: false, max_included: false }
}

impl Range {
    /// Whether the number lies in the range.
    pub fn contains(&self, x: f64) -> bool {
        x.is_finite()
            && (x > self.min || (self.min_included && x == self.min))
            && (x < self.max || (self.max_included && x == self.max))
    }

    /// In words: `a positive number`, `a number in [0, 1]`.
    pub fn describe(&self) -> String {
        if *self == ANY {
            "a finite number".into()
        } else if *self == POSITIVE {
            "a positive number".into()
        } else if self.max == f64::INFINITY {
            format!("a number {} {}", if self.min_included { ">=" } else { ">" }, self.min)
        } else {
            let (open, close) = (if self.min_included { '[' } else { '(' }, if self.max_included { ']' } else { ')' });
            format!("a number in {open}{}, {}{close}", self.min, self.max)
        }
    }
}
