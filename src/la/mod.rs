//! Linear algebra behind one small face: symmetric sparse matrices with a fixed pattern, and their factors.
//!
//! Nothing here knows mechanics. Patterns are found once; numbers are refreshed in place, without allocation.

mod band;
mod chain;
mod factor;
pub mod lanczos;
pub mod number;
pub mod small;
pub mod subspace;
mod symmetric;

pub use band::Band;
pub use factor::{Factor, Singular};
pub use symmetric::{Pattern, Symmetric};

/// Sum of products, in index order (the bits of a result depend on the model alone).
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

/// Largest modulus; NaN if there is one, so that no guard overlooks it.
pub fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, v| if v.is_nan() { f64::NAN } else { m.max(v.abs()) })
}
