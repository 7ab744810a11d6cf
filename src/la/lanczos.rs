//! Largest eigenvalue of a symmetric operator by Lanczos' method.

use nalgebra::{DMatrix, SymmetricEigen};

/// Largest eigenvalue of an operator that is symmetric in the inner product of `metric`.
///
/// `operator` overwrites its second argument with the image of the first, `metric` likewise with the image under
/// the inner product's matrix. The Krylov space has up to `dimension` vectors, of which two are kept: what they lose of
/// their orthogonality shows eigenvalues twice, and the largest is the same.
pub fn largest(
    n: usize,
    dimension: usize,
    mut operator: impl FnMut(&[f64], &mut [f64]),
    mut metric: impl FnMut(&[f64], &mut [f64]),
) -> f64 {
    let (mut diagonal, mut off) = (Vec::new(), Vec::new());
    // A fixed irregular start: no mode of a regular mesh is orthogonal to it.
    let mut w: Vec<f64> = (0..n).map(|i| 1.0 + ((i * i + 3 * i) as f64 * 0.618_033_988_749_895).fract()).collect();
    let (mut v, mut previous, mut image) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let mut largest_norm = 0.0_f64;
    for _ in 0..dimension.min(n) {
        metric(&w, &mut image);
        let norm = super::dot(&w, &image).max(0.0).sqrt();
        largest_norm = largest_norm.max(norm);
        if norm == 0.0 || norm < 1e-13 * largest_norm {
            break;
        }
        std::mem::swap(&mut v, &mut previous);
        (0..n).for_each(|i| v[i] = w[i] / norm);
        operator(&v, &mut w);
        let quotient = super::dot(&w, &image) / norm;
        let before = if diagonal.is_empty() { 0.0 } else { norm };
        (0..n).for_each(|i| w[i] -= quotient * v[i] + before * previous[i]);
        if !diagonal.is_empty() {
            off.push(norm);
        }
        diagonal.push(quotient);
    }
    let m = diagonal.len();
    if m == 0 {
        return 0.0;
    }
    let projected = DMatrix::from_fn(m, m, |i, j| match i.abs_diff(j) {
        0 => diagonal[i],
        1 => off[i.min(j)],
        _ => 0.0,
    });
    SymmetricEigen::new(projected).eigenvalues.iter().copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_top_of_a_known_spectrum() {
        // Second difference matrix: eigenvalues 2 - 2 cos(k pi / (n + 1)).
        let n = 60;
        let second_difference = |x: &[f64], y: &mut [f64]| {
            for i in 0..n {
                let left = if i > 0 { x[i - 1] } else { 0.0 };
                let right = if i + 1 < n { x[i + 1] } else { 0.0 };
                y[i] = 2.0 * x[i] - left - right;
            }
        };
        let exact = 2.0 - 2.0 * (n as f64 * std::f64::consts::PI / (n + 1) as f64).cos();
        let value = largest(n, n, second_difference, |x, y| y.copy_from_slice(x));
        assert!((value - exact).abs() < 1e-12, "{value} {exact}");
        // Twice the metric halves the operator that belongs to the same quadratic form.
        let half = |x: &[f64], y: &mut [f64]| {
            second_difference(x, y);
            y.iter_mut().for_each(|y| *y *= 0.5);
        };
        let twice = |x: &[f64], y: &mut [f64]| (0..n).for_each(|i| y[i] = 2.0 * x[i]);
        assert!((largest(n, n, half, twice) - 0.5 * exact).abs() < 1e-12);
        assert_eq!(largest(0, 10, half, twice), 0.0);
    }
}
