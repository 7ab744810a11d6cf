//! One source for scalar and vector code: [`Number`], which a plain number is and [`Wide`], one number per lane, is too.
//!
//! Vector operations are fast only inside the function that was chosen for the processor. So everything that works on
//! numbers is inlined, and there are loops where closures would read better: those cannot be told to be inlined.

use pulp::Simd;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// What formulas need of a number.
pub trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// This value, in the shape of `self`.
    fn like(self, value: f64) -> Self;

    /// `self · factor + term`, in one operation where the processor of the surrounding function has it.
    fn times_plus(self, factor: Self, term: Self) -> Self;

    /// Modulus.
    fn size(self) -> Self;

    /// The larger one.
    fn larger(self, other: Self) -> Self;
}

impl Number for f64 {
    #[inline(always)]
    fn like(self, value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn times_plus(self, factor: f64, term: f64) -> f64 {
        // Not `mul_add`: outside a function for such processors that is a call of a slow routine.
        self * factor + term
    }

    #[inline(always)]
    fn size(self) -> f64 {
        self.abs()
    }

    #[inline(always)]
    fn larger(self, other: f64) -> f64 {
        if self > other { self } else { other }
    }
}

/// One number per lane of a vector.
#[derive(Clone, Copy)]
pub struct Wide<S: Simd> {
    simd: S,
    /// The lanes.
    pub value: S::f64s,
}

impl<S: Simd> Wide<S> {
    /// The numbers of a vector.
    #[inline(always)]
    pub fn new(simd: S, value: S::f64s) -> Wide<S> {
        Wide { simd, value }
    }

    /// One number in all lanes.
    #[inline(always)]
    pub fn splat(simd: S, value: f64) -> Wide<S> {
        Wide { simd, value: simd.splat_f64s(value) }
    }
}

impl<S: Simd> Wide<S> {
    /// Sum of all lanes. This and [`Wide::most`] in a loop over vectors turn all of it into scalar code.
    #[inline(always)]
    pub fn sum(self) -> f64 {
        self.simd.reduce_sum_f64s(self.value)
    }

    /// Largest lane.
    #[inline(always)]
    pub fn most(self) -> f64 {
        self.simd.reduce_max_f64s(self.value)
    }
}

macro_rules! operation {
    ($operation:ident, $name:ident, $vector:ident) => {
        impl<S: Simd> $operation for Wide<S> {
            type Output = Wide<S>;

            #[inline(always)]
            fn $name(self, other: Wide<S>) -> Wide<S> {
                Wide { value: self.simd.$vector(self.value, other.value), ..self }
            }
        }
    };
}

operation!(Add, add, add_f64s);
operation!(Sub, sub, sub_f64s);
operation!(Mul, mul, mul_f64s);
operation!(Div, div, div_f64s);

impl<S: Simd> Neg for Wide<S> {
    type Output = Wide<S>;

    #[inline(always)]
    fn neg(self) -> Wide<S> {
        Wide { value: self.simd.neg_f64s(self.value), ..self }
    }
}

impl<S: Simd> Number for Wide<S> {
    #[inline(always)]
    fn like(self, value: f64) -> Wide<S> {
        Wide::splat(self.simd, value)
    }

    #[inline(always)]
    fn times_plus(self, factor: Wide<S>, term: Wide<S>) -> Wide<S> {
        Wide { value: self.simd.mul_add_e_f64s(self.value, factor.value, term.value), ..self }
    }

    #[inline(always)]
    fn size(self) -> Wide<S> {
        Wide { value: self.simd.abs_f64s(self.value), ..self }
    }

    #[inline(always)]
    fn larger(self, other: Wide<S>) -> Wide<S> {
        Wide { value: self.simd.max_f64s(self.value, other.value), ..self }
    }
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
    let turns = x.times_plus(x.like(std::f64::consts::FRAC_2_PI), round) - round;
    let [first, second, third] = QUARTER;
    let small = turns.times_plus(x.like(third), turns * x.like(second));
    let r = (-turns).times_plus(x.like(first), x) - small;
    let z = r * r;
    let (sine, cosine) = (polynomial(&SINE, z), polynomial(&COSINE, z));
    let sine = (z * r).times_plus(sine, r);
    let half = x.like(0.5) * z;
    let main = one - half;
    let cosine = main + (z * z).times_plus(cosine, (one - main) - half);
    // The remainder of the quarter turns by four, −2 to 2, turns the pair by factors of 0 and ±1.
    let left = turns - x.like(4.0) * (turns.times_plus(x.like(0.25), round) - round);
    let (along, across) = (one - left.size(), left * (x.like(2.0) - left.size()));
    (along.times_plus(sine, across * cosine), along.times_plus(cosine, -(across * sine)))
}

/// Polynomial of fifth degree, highest power first, by pairs: they do not wait for each other.
#[inline(always)]
fn polynomial<N: Number>(c: &[f64; 6], z: N) -> N {
    let pair = z * z;
    let (a, b, c) = (
        z.times_plus(z.like(c[0]), z.like(c[1])),
        z.times_plus(z.like(c[2]), z.like(c[3])),
        z.times_plus(z.like(c[4]), z.like(c[5])),
    );
    a.times_plus(pair, b).times_plus(pair, c)
}

/// Vectors in memory, so many to a row.
#[inline(always)]
pub fn rows<const N: usize, S: Simd>(x: &[f64]) -> &[[S::f64s; N]] {
    S::as_simd_f64s(x).0.as_chunks().0
}

/// The same to be written.
#[inline(always)]
pub fn rows_mut<const N: usize, S: Simd>(x: &mut [f64]) -> &mut [[S::f64s; N]] {
    S::as_mut_simd_f64s(x).0.as_chunks_mut().0
}

/// A row from memory.
#[inline(always)]
pub fn load<const N: usize, S: Simd>(simd: S, row: &[S::f64s; N]) -> [Wide<S>; N] {
    let mut x = [Wide::new(simd, row[0]); N];
    for k in 1..N {
        x[k] = Wide::new(simd, row[k]);
    }
    x
}

/// A row for memory.
#[inline(always)]
pub fn store<const N: usize, S: Simd>(x: [Wide<S>; N]) -> [S::f64s; N] {
    let mut row = [x[0].value; N];
    for k in 1..N {
        row[k] = x[k].value;
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::la::Processor;
    use pulp::WithSimd;

    struct Vectors<'a>(&'a mut [f64], &'a mut [f64]);

    impl WithSimd for Vectors<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let (sines, cosines) = (S::as_mut_simd_f64s(self.0).0, S::as_mut_simd_f64s(self.1).0);
            for i in 0..sines.len() {
                let (s, c) = sin_cos(Wide::new(simd, sines[i]));
                (sines[i], cosines[i]) = (s.value, c.value);
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
        Processor::new().dispatch(Vectors(&mut sines, &mut cosines));
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
