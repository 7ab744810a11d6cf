//! Linear algebra behind one small face: symmetric sparse matrices with a fixed pattern, and their factors.
//!
//! Nothing here knows mechanics. Patterns are found once; numbers are refreshed in place, without allocation.

mod bands;
mod chain;
mod factor;
pub mod lanczos;
pub mod lanes;
pub mod number;
mod paths;
mod rows;
pub mod small;
mod strands;
pub mod subspace;
mod symmetric;
mod vector;

pub use bands::{Bands, CHUNK};
pub use factor::{Factor, Singular};
pub use symmetric::{Pattern, Symmetric};
pub use vector::Vector;

/// The larger of two numbers, the first if the second is none: half the work of `f64::max`, which asks both.
#[inline]
pub fn larger(x: f64, y: f64) -> f64 {
    if y > x { y } else { x }
}

/// Sum of products. The bits of a result depend on the model alone.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len().min(y.len());
    let (x, y) = (&x[..n], &y[..n]);
    sum(n, |i| x[i] * y[i])
}

/// f(0) + f(1) + … + f(n − 1), in four sums side by side: one alone would wait for each of its additions.
#[inline]
pub fn sum(n: usize, f: impl Fn(usize) -> f64) -> f64 {
    let mut sums = [0.0; 4];
    let mut i = 0;
    while i + 4 <= n {
        for k in 0..4 {
            sums[k] += f(i + k);
        }
        i += 4;
    }
    for k in 0..n - i {
        sums[k] += f(i + k);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Largest modulus; NaN if there is one, so that no guard overlooks it.
pub fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, v| if v.is_nan() { f64::NAN } else { m.max(v.abs()) })
}
