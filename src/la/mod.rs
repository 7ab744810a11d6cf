//! Linear algebra behind one small face: symmetric sparse matrices with a fixed pattern, and their factors.
//!
//! Nothing here knows mechanics. Patterns are found once; numbers are refreshed in place, without allocation.

mod band;
mod chain;
mod factor;
pub mod lanczos;
pub mod lanes;
pub mod number;
mod paths;
pub mod small;
pub mod subspace;
mod symmetric;

pub use band::Band;
pub use factor::{Factor, Singular};
pub use symmetric::{Pattern, Symmetric};

/// Sum of products, in four sums of every fourth (the bits of a result depend on the model alone).
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let (x, x_rest) = x.as_chunks::<4>();
    let (y, y_rest) = y.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (x, y) in x.iter().zip(y) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// Largest modulus; NaN if there is one, so that no guard overlooks it.
pub fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, v| if v.is_nan() { f64::NAN } else { m.max(v.abs()) })
}
