//! Linear algebra behind one small face: symmetric sparse matrices with a fixed pattern, and their factors.
//!
//! Nothing here knows mechanics. Patterns are found once; numbers are refreshed in place, without allocation.

mod bands;
pub(crate) mod blocks;
mod chain;
mod factor;
pub mod lanczos;
pub mod lanes;
pub mod number;
mod paths;
mod processor;
pub mod repeats;
mod rows;
pub mod small;
mod strands;
mod symmetric;
mod vector;

pub use bands::{Bands, CHUNK};
pub use factor::{Factor, Singular};
pub use processor::Processor;
pub use symmetric::{Pattern, Symmetric};
pub use vector::Vector;

/// The larger of two numbers, the first if the second is none: half the work of `f64::max`, which asks both.
#[inline]
pub fn larger(x: f64, y: f64) -> f64 {
    if y > x { y } else { x }
}

/// Sum of products. The bits of a result depend on the model alone.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sum = Sum::default();
    sum.add([x, y], |[x, y]| x * y);
    sum.total()
}

/// A sum that is taken up piece by piece, in four sums side by side: one alone would wait for each of its additions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum([f64; 4]);

impl Sum {
    /// Adds f of what vectors have at the same place, as far as the shortest goes. All pieces but the last should have a
    /// multiple of four places, so that they do not change the order of the additions.
    #[inline(always)]
    pub fn add<const N: usize>(&mut self, x: [&[f64]; N], f: impl Fn([f64; N]) -> f64) {
        let mut n = x[0].len();
        for s in 1..N {
            n = n.min(x[s].len());
        }
        // Loops where `map` would do: that is not inlined.
        let mut rows: [&[[f64; 4]]; N] = [&[]; N];
        for s in 0..N {
            rows[s] = &x[s].as_chunks().0[..n / 4];
        }
        let mut sums = self.0;
        for i in 0..n / 4 {
            let mut at = [[0.0; N]; 4];
            for s in 0..N {
                for k in 0..4 {
                    at[k][s] = rows[s][i][k];
                }
            }
            for k in 0..4 {
                sums[k] += f(at[k]);
            }
        }
        for k in 0..n % 4 {
            let mut at = [0.0; N];
            for s in 0..N {
                at[s] = x[s][n - n % 4 + k];
            }
            sums[k] += f(at);
        }
        self.0 = sums;
    }

    /// The sum.
    pub fn total(&self) -> f64 {
        let [a, b, c, d] = self.0;
        (a + b) + (c + d)
    }
}

/// Largest modulus; NaN if there is one, so that no guard overlooks it.
pub fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, v| if v.is_nan() { f64::NAN } else { m.max(v.abs()) })
}
