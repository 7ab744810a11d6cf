//! Numbers that a tape can be evaluated with: plain ones, and ones that carry derivatives.
//!
//! It knows the chain rule; it must not know functions or texts.

/// A number with as many derivatives as its type carries.
pub(super) trait Scalar: Copy {
    /// A number that depends on nothing.
    fn constant(value: f64) -> Self;

    /// The number without its derivatives.
    fn value(self) -> f64;

    /// The sign that the number has, or is about to take as its variable grows if it is zero now. Several variables have
    /// no such direction: for them a zero stays a zero.
    fn ahead(self) -> f64;

    /// f(a), from its value and, if they are wanted, f' and f''.
    fn through(self, value: f64, slopes: impl FnOnce() -> [f64; 2]) -> Self;

    /// f(a, b), from its value and, if they are wanted, f_a, f_b, f_aa, f_ab and f_bb.
    fn through_two(self, other: Self, value: f64, slopes: impl FnOnce() -> [f64; 5]) -> Self;
}

/// A product in which zero wins: what does not change has no derivative, however steep the function is that it goes
/// through.
pub(super) fn times(slope: f64, change: f64) -> f64 {
    if change == 0.0 { 0.0 } else { slope * change }
}

impl Scalar for f64 {
    fn constant(value: f64) -> f64 {
        value
    }

    fn value(self) -> f64 {
        self
    }

    fn ahead(self) -> f64 {
        self
    }

    fn through(self, value: f64, _: impl FnOnce() -> [f64; 2]) -> f64 {
        value
    }

    fn through_two(self, _: f64, value: f64, _: impl FnOnce() -> [f64; 5]) -> f64 {
        value
    }
}

/// Variables of one pass over the tape; longer gradients take several.
pub(super) const LANES: usize = 4;

/// A number with its first derivatives in a few variables.
#[derive(Clone, Copy)]
pub(super) struct Dual {
    /// The number.
    pub value: f64,
    /// Its derivatives.
    pub slopes: [f64; LANES],
}

impl Scalar for Dual {
    fn constant(value: f64) -> Dual {
        Dual { value, slopes: [0.0; LANES] }
    }

    fn value(self) -> f64 {
        self.value
    }

    fn ahead(self) -> f64 {
        self.value
    }

    fn through(self, value: f64, slopes: impl FnOnce() -> [f64; 2]) -> Dual {
        let [first, _] = slopes();
        Dual { value, slopes: self.slopes.map(|slope| times(first, slope)) }
    }

    fn through_two(self, other: Dual, value: f64, slopes: impl FnOnce() -> [f64; 5]) -> Dual {
        let [a, b, ..] = slopes();
        Dual { value, slopes: std::array::from_fn(|k| times(a, self.slopes[k]) + times(b, other.slopes[k])) }
    }
}

/// A number with its first and second derivative in one variable.
#[derive(Clone, Copy)]
pub(super) struct Jet {
    /// The number.
    pub value: f64,
    /// Its first derivative.
    pub first: f64,
    /// Its second derivative.
    pub second: f64,
}

impl Scalar for Jet {
    fn constant(value: f64) -> Jet {
        Jet { value, first: 0.0, second: 0.0 }
    }

    fn value(self) -> f64 {
        self.value
    }

    fn ahead(self) -> f64 {
        [self.value, self.first, self.second].into_iter().find(|x| *x != 0.0).unwrap_or(0.0)
    }

    fn through(self, value: f64, slopes: impl FnOnce() -> [f64; 2]) -> Jet {
        let [first, second] = slopes();
        Jet {
            value,
            first: times(first, self.first),
            second: times(second, self.first * self.first) + times(first, self.second),
        }
    }

    fn through_two(self, other: Jet, value: f64, slopes: impl FnOnce() -> [f64; 5]) -> Jet {
        let [a, b, aa, ab, bb] = slopes();
        let (da, db) = (self.first, other.first);
        Jet {
            value,
            first: times(a, da) + times(b, db),
            second: times(aa, da * da)
                + 2.0 * times(ab, da * db)
                + times(bb, db * db)
                + times(a, self.second)
                + times(b, other.second),
        }
    }
}
