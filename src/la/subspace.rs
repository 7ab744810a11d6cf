//! Lowest eigenpairs of K x = λ M x by subspace iteration with a shift; multiple eigenvalues are found in full.

use super::{Factor, Singular, Symmetric};
use nalgebra::{DMatrix, SymmetricEigen};

/// The `count` lowest eigenvalues and their M-orthonormal vectors, lowest first, on the leading `n` rows.
///
/// K may be singular; M must be positive definite there.
pub fn lowest(
    stiffness: &Symmetric,
    mass: &Symmetric,
    n: usize,
    count: usize,
) -> Result<Vec<(f64, Vec<f64>)>, Singular> {
    let count = count.min(n);
    if count == 0 {
        return Ok(Vec::new());
    }
    let p = n.min((2 * count).max(count + 8));
    // A fixed irregular start; no mode of a regular mesh is orthogonal to it.
    let mut basis = DMatrix::from_fn(n, p, |i, j| ((i * (j + 1) + j * j) as f64 * 0.618_033_988_749_895).fract() - 0.5);
    // The first shift only has to make K + σM regular; the last one is at the scale of what is looked for. Far above it all
    // of the lowest modes look alike, and the iteration would end before it tells them apart.
    let crude = ratio_of_diagonals(stiffness, mass, n);
    let mut shift = crude * 1e-6;
    for _ in 0..SHIFTS {
        let values = iterate(stiffness, mass, &mut basis, count, shift, 6)?;
        let scale = values[count - 1].abs().max(crude * 1e-14);
        let found = (0.1..10.0).contains(&(scale / shift));
        shift = scale;
        if found {
            break;
        }
    }
    let values = iterate(stiffness, mass, &mut basis, count, shift, 300)?;
    Ok(values.into_iter().enumerate().map(|(k, value)| (value, basis.column(k).iter().copied().collect())).collect())
}

/// Shifts that are tried; each comes nearer by decades.
const SHIFTS: usize = 30;

/// Largest K_ii / M_ii.
fn ratio_of_diagonals(stiffness: &Symmetric, mass: &Symmetric, n: usize) -> f64 {
    let diagonal = |matrix: &Symmetric, i: usize| matrix.values[matrix.pattern.starts[i + 1] as usize - 1];
    let ratio = (0..n).map(|i| diagonal(stiffness, i) / diagonal(mass, i)).fold(0.0, f64::max);
    if ratio > 0.0 { ratio } else { 1.0 }
}

/// Improves a basis by up to `most` steps with one shift; returns the `count` lowest values, and leaves M-orthonormal columns
/// in their order.
fn iterate(
    stiffness: &Symmetric,
    mass: &Symmetric,
    basis: &mut DMatrix<f64>,
    count: usize,
    shift: f64,
    most: usize,
) -> Result<Vec<f64>, Singular> {
    let (n, p) = basis.shape();
    let mut shifted = stiffness.clone();
    for (value, m) in shifted.values.iter_mut().zip(&mass.values) {
        *value += shift * m;
    }
    let mut factor = Factor::new(&mass.pattern, n);
    factor.factor(&shifted)?;
    let mut values = vec![f64::INFINITY; p];
    for _ in 0..most {
        let image = orthonormalise(basis, mass);
        let mut solved = image.clone();
        for j in 0..p {
            factor.solve(solved.column_mut(j).as_mut_slice());
        }
        // Eigenvalues of the inverse, 1/(λ + σ): the lowest modes come out with the most digits.
        let projected = image.tr_mul(&solved);
        let eigen = SymmetricEigen::new((&projected + projected.transpose()) * 0.5);
        let largest = eigen.eigenvalues.amax();
        let value = |k: usize| {
            let inverse = eigen.eigenvalues[k];
            // What is lost in the rounding of the largest has no sign of its own: it lies far above.
            if inverse.abs() > 1e-15 * largest { 1.0 / inverse } else { f64::INFINITY }
        };
        let mut order: Vec<usize> = (0..p).collect();
        order.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
        *basis = solved * DMatrix::from_fn(p, p, |i, j| eigen.eigenvectors[(i, order[j])]);
        let new: Vec<f64> = order.into_iter().map(value).collect();
        let change = (0..count).map(|k| ((new[k] - values[k]) / new[k]).abs()).fold(0.0, f64::max);
        values = new;
        if change < 1e-13 {
            break;
        }
    }
    orthonormalise(basis, mass);
    Ok((0..count).map(|k| values[k] - shift).collect())
}

/// Makes the columns M-orthonormal, each against those before it, and returns their images under M. Columns may depend
/// on each other up to rounding, as all do in a small model with a wide spectrum: what is left of such a column is
/// scaled up and cleaned again.
fn orthonormalise(basis: &mut DMatrix<f64>, mass: &Symmetric) -> DMatrix<f64> {
    let (n, p) = basis.shape();
    let (mut padded, mut product) = (vec![0.0; mass.pattern.n], vec![0.0; mass.pattern.n]);
    let mut images = DMatrix::zeros(n, p);
    for j in 0..p {
        let mut column = basis.column(j).clone_owned();
        for _ in 0..3 {
            for k in 0..j {
                let overlap = images.column(k).dot(&column);
                column.axpy(-overlap, &basis.column(k), 1.0);
            }
            padded[..n].copy_from_slice(column.as_slice());
            mass.multiply(&padded, &mut product);
            let norm = super::dot(&padded, &product).sqrt();
            if norm > 0.0 {
                column /= norm;
                (0..n).for_each(|i| images[(i, j)] = product[i] / norm);
            }
        }
        basis.set_column(j, &column);
    }
    images
}

#[cfg(test)]
mod tests {
    use super::super::Pattern;
    use super::*;
    use std::sync::Arc;

    #[test]
    fn finds_the_bottom_of_a_free_chain_with_its_rigid_mode_and_pairs() {
        // Two equal separate chains of unit springs and masses: every eigenvalue 2 - 2 cos(k pi / n) twice.
        let n = 20;
        let cliques: Vec<Vec<u32>> =
            (0..2 * n - 1).filter(|i| i + 1 != n).map(|i| vec![i as u32, i as u32 + 1]).collect();
        let pattern = Arc::new(Pattern::from_cliques(2 * n, cliques.iter().map(|c| c.as_slice())));
        let (mut stiffness, mut mass) = (Symmetric::zeros(pattern.clone()), Symmetric::zeros(pattern));
        for clique in &cliques {
            let (a, b) = (clique[0] as usize, clique[1] as usize);
            stiffness.add(a, a, 1.0);
            stiffness.add(b, b, 1.0);
            stiffness.add(a, b, -1.0);
        }
        (0..2 * n).for_each(|i| mass.add(i, i, 1.0));
        let pairs = lowest(&stiffness, &mass, 2 * n, 6).unwrap();
        for (k, (value, vector)) in pairs.iter().enumerate() {
            let exact = 2.0 - 2.0 * ((k / 2) as f64 * std::f64::consts::PI / n as f64).cos();
            assert!((value - exact).abs() < 1e-12, "{k}: {value} {exact}");
            let mut image = vec![0.0; 2 * n];
            stiffness.multiply(vector, &mut image);
            assert!((0..2 * n).all(|i| (image[i] - exact * vector[i]).abs() < 1e-6));
        }
    }
}
