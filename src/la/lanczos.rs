//! Largest eigenvalues of a symmetric operator by Lanczos' method with full reorthogonalisation.

use nalgebra::{DMatrix, SymmetricEigen};

/// Largest eigenvalues and their vectors of an operator that is symmetric in the inner product of `metric`.
///
/// `operator` overwrites its second argument with the image of the first, `metric` likewise with the image under
/// the inner product's matrix. At most `count` pairs, largest first; the Krylov space has `dimension` vectors.
pub fn largest(
    n: usize,
    count: usize,
    dimension: usize,
    mut operator: impl FnMut(&[f64], &mut [f64]),
    mut metric: impl FnMut(&[f64], &mut [f64]),
) -> Vec<(f64, Vec<f64>)> {
    let dimension = dimension.min(n);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut images: Vec<Vec<f64>> = Vec::new();
    let (mut diagonal, mut off) = (Vec::new(), Vec::new());
    // A fixed irregular start: no mode of a regular mesh is orthogonal to it.
    let mut w: Vec<f64> = (0..n).map(|i| 1.0 + ((i * i + 3 * i) as f64 * 0.618_033_988_749_895).fract()).collect();
    let mut scratch = vec![0.0; n];
    let mut largest_norm = 0.0_f64;
    for _ in 0..dimension {
        // Two passes of Gram–Schmidt keep the basis orthogonal to round-off.
        for _ in 0..2 {
            for (v, image) in basis.iter().zip(&images) {
                let overlap = super::dot(&w, image);
                for i in 0..n {
                    w[i] -= overlap * v[i];
                }
            }
        }
        metric(&w, &mut scratch);
        let norm = super::dot(&w, &scratch).max(0.0).sqrt();
        largest_norm = largest_norm.max(norm);
        if norm == 0.0 || norm < 1e-13 * largest_norm {
            break;
        }
        if !basis.is_empty() {
            off.push(norm);
        }
        basis.push(w.iter().map(|x| x / norm).collect());
        images.push(scratch.iter().map(|x| x / norm).collect());
        let last = basis.len() - 1;
        operator(&basis[last], &mut w);
        diagonal.push(super::dot(&w, &images[last]));
    }
    let m = basis.len();
    let projected = DMatrix::from_fn(m, m, |i, j| match i.abs_diff(j) {
        0 => diagonal[i],
        1 => off[i.min(j)],
        _ => 0.0,
    });
    let eigen = SymmetricEigen::new(projected);
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    order
        .into_iter()
        .take(count)
        .map(|k| {
            let mut vector = vec![0.0; n];
            for (i, v) in basis.iter().enumerate() {
                let c = eigen.eigenvectors[(i, k)];
                for (x, b) in vector.iter_mut().zip(v) {
                    *x += c * b;
                }
            }
            (eigen.eigenvalues[k], vector)
        })
        .collect()
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
        let pairs = largest(n, 3, n, second_difference, |x, y| y.copy_from_slice(x));
        for (k, (value, vector)) in pairs.iter().enumerate() {
            let exact = 2.0 - 2.0 * ((n - k) as f64 * std::f64::consts::PI / (n + 1) as f64).cos();
            assert!((value - exact).abs() < 1e-12, "{value} {exact}");
            let mut image = vec![0.0; n];
            second_difference(vector, &mut image);
            assert!((0..n).all(|i| (image[i] - value * vector[i]).abs() < 1e-10));
        }
    }
}
