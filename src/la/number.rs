//! One source for plain code and for vectors: formulas over [`Number`], which a plain number is and a row of four is too.
//!
//! Vector operations are fast only inside the function that was chosen for the processor. So everything that works on
//! numbers is inlined, and there are loops where closures would read better: those cannot be told to be inlined.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// One number or a row of them, in the instructions `Set`. Products with sums are fused where the instructions can.
pub trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// Token that the instructions exist.
    type Set: Copy;
    /// What it is in memory.
    type Row: Copy;
    /// Numbers in a row.
    const LANES: usize;

    /// A number in all places.
    fn splat(set: Self::Set, x: f64) -> Self;
    /// From memory.
    fn load(set: Self::Set, row: &Self::Row) -> Self;
    /// What it is in memory.
    fn row(self) -> Self::Row;
    /// To memory.
    #[inline(always)]
    fn store(self, row: &mut Self::Row) {
        *row = self.row();
    }
    /// A slice as rows; what fills none at its end is left out.
    fn rows(x: &[f64]) -> &[Self::Row];
    /// A slice as rows to be written; what fills none at its end is left out.
    fn rows_mut(x: &mut [f64]) -> &mut [Self::Row];

    /// A number in all places, in the instructions of `self`.
    fn like(self, x: f64) -> Self;
    /// self·b + c.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// c − self·b.
    fn take_from(self, b: Self, c: Self) -> Self;
    /// Modulus.
    fn size(self) -> Self;
    /// The larger one, place by place; the other one if it is no number.
    fn larger(self, other: Self) -> Self;
    /// Zero where it is below the last digit of `dust`, else itself.
    #[inline(always)]
    fn without(self, dust: Self) -> Self {
        (self + dust) - dust
    }

    /// Sum of all places. This and [`Number::most`] inside a loop over vectors turn all of it into scalar code.
    fn sum(self) -> f64;
    /// Largest of all places.
    fn most(self) -> f64;
}

impl Number for f64 {
    type Set = ();
    type Row = f64;
    const LANES: usize = 1;

    #[inline(always)]
    fn splat((): (), x: f64) -> f64 {
        x
    }

    #[inline(always)]
    fn load((): (), row: &f64) -> f64 {
        *row
    }

    #[inline(always)]
    fn row(self) -> f64 {
        self
    }

    #[inline(always)]
    fn rows(x: &[f64]) -> &[f64] {
        x
    }

    #[inline(always)]
    fn rows_mut(x: &mut [f64]) -> &mut [f64] {
        x
    }

    #[inline(always)]
    fn like(self, x: f64) -> f64 {
        x
    }

    #[inline(always)]
    fn mul_add(self, b: f64, c: f64) -> f64 {
        // Not the method of f64, which is a call of a slow routine where the processor has no such instruction.
        self * b + c
    }

    #[inline(always)]
    fn take_from(self, b: f64, c: f64) -> f64 {
        c - self * b
    }

    #[inline(always)]
    fn size(self) -> f64 {
        self.abs()
    }

    #[inline(always)]
    fn larger(self, other: f64) -> f64 {
        if self > other { self } else { other }
    }

    #[inline(always)]
    fn sum(self) -> f64 {
        self
    }

    #[inline(always)]
    fn most(self) -> f64 {
        self
    }
}

/// Rows in memory, K to a group.
#[inline(always)]
pub fn groups<const K: usize, N: Number>(x: &[f64]) -> &[[N::Row; K]] {
    N::rows(x).as_chunks().0
}

/// Rows in memory to be written, K to a group.
#[inline(always)]
pub fn groups_mut<const K: usize, N: Number>(x: &mut [f64]) -> &mut [[N::Row; K]] {
    N::rows_mut(x).as_chunks_mut().0
}

/// A group from memory.
#[inline(always)]
pub fn load<const K: usize, N: Number>(set: N::Set, group: &[N::Row; K]) -> [N; K] {
    let mut x = [N::load(set, &group[0]); K];
    for k in 1..K {
        x[k] = N::load(set, &group[k]);
    }
    x
}

/// A group for memory.
#[inline(always)]
pub fn store<const K: usize, N: Number>(x: [N; K]) -> [N::Row; K] {
    let mut group = [x[0].row(); K];
    for k in 1..K {
        group[k] = x[k].row();
    }
    group
}

/// π/2 in three parts; the first two have 33 bits, so that their products with the number of quarter turns are exact.
const QUARTER: [f64; 3] = [1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21];

/// Adding this rounds to a whole number; subtracting it again leaves that.
const ROUND: f64 = 6755399441055744.0;

/// Polynomials of Sun's fdlibm on ±π/4.
const SINE: [f64; 6] = [
    1.58969099521155e-10,
    -2.5050760253406863e-08,
    2.7557313707070068e-06,
    -0.0001984126982985795,
    0.00833333333332249,
    -0.16666666666666632,
];
const COSINE: [f64; 6] = [
    -1.1359647557788195e-11,
    2.087572321298175e-09,
    -2.7557314351390663e-07,
    2.480158728947673e-05,
    -0.001388888888887411,
    0.0416666666666666,
];

/// Sine and cosine without branches and without a library, so that the bits depend on the processor's kind alone.
/// Errors stay below 3e-16; beyond a million quarter turns they are those of the rounding of the angle itself.
#[inline(always)]
pub fn sin_cos<N: Number>(x: N) -> (N, N) {
    let (one, round) = (x.like(1.0), x.like(ROUND));
    let turns = x.mul_add(x.like(std::f64::consts::FRAC_2_PI), round) - round;
    let [first, second, third] = QUARTER;
    let small = turns.mul_add(x.like(third), turns * x.like(second));
    let r = turns.take_from(x.like(first), x) - small;
    let z = r * r;
    let (sine, cosine) = (polynomial(&SINE, z), polynomial(&COSINE, z));
    let sine = (z * r).mul_add(sine, r);
    let half = x.like(0.5) * z;
    let main = one - half;
    let cosine = main + (z * z).mul_add(cosine, (one - main) - half);
    // The remainder of the quarter turns by four, −2 to 2, turns the pair by factors of 0 and ±1.
    let left = turns - x.like(4.0) * (turns.mul_add(x.like(0.25), round) - round);
    let (along, across) = (one - left.size(), left * (x.like(2.0) - left.size()));
    (along.mul_add(sine, across * cosine), along.mul_add(cosine, -(across * sine)))
}

/// Polynomial of fifth degree, highest power first, by pairs: they do not wait for each other.
#[inline(always)]
fn polynomial<N: Number>(c: &[f64; 6], z: N) -> N {
    let pair = z * z;
    let (a, b, c) = (
        z.mul_add(z.like(c[0]), z.like(c[1])),
        z.mul_add(z.like(c[2]), z.like(c[3])),
        z.mul_add(z.like(c[4]), z.like(c[5])),
    );
    a.mul_add(pair, b).mul_add(pair, c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::la::Processor;
    use crate::la::lanes::{Row, Task};

    struct Vectors<'a>(&'a mut [f64], &'a mut [f64]);

    impl Task for Vectors<'_> {
        type Output = ();

        #[inline(always)]
        fn run<N: Number<Row = Row>>(self, set: N::Set) {
            let (sines, cosines) = (N::rows_mut(self.0), N::rows_mut(self.1));
            for i in 0..sines.len() {
                let (s, c) = sin_cos(N::load(set, &sines[i]));
                (sines[i], cosines[i]) = (s.row(), c.row());
            }
        }
    }

    #[test]
    fn sine_and_cosine_agree_with_the_library() {
        let mut angles: Vec<f64> = (0..40_000).map(|k| (k as f64 - 20_000.0) * 0.00731).collect();
        angles.extend((0..4_000).map(|k| (k as f64).powi(2) * 0.3));
        angles.extend((0..400).map(|k| f64::from(k - 200) * std::f64::consts::FRAC_PI_4));
        angles.extend([0.0, -0.0, 1e-300, 1e-9, -1e-9, 1e-20]);
        angles.resize(angles.len().next_multiple_of(4), 0.5);
        let (mut sines, mut cosines) = (angles.clone(), angles.clone());
        Processor::new().run(Vectors(&mut sines, &mut cosines));
        for (i, &x) in angles.iter().enumerate() {
            let (s, c) = sin_cos(x);
            for (ours, exact) in [(s, x.sin()), (c, x.cos()), (sines[i], x.sin()), (cosines[i], x.cos())] {
                // Above 1e6 an angle is known to no better than this.
                assert!((ours - exact).abs() < 3e-16 * x.abs().max(1e6) * 1e-6, "{x}: {ours} {exact}");
            }
            if x.abs() < 0.7 {
                assert!((s - x.sin()).abs() <= 3e-16 * x.abs(), "relative at {x}: {s}");
            }
        }
        assert!(sin_cos(f64::NAN).0.is_nan() && sin_cos(f64::INFINITY).1.is_nan());
    }
}
