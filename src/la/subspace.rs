//! Lowest eigenpairs of K x = λ M x by subspace iteration with a shift; multiple eigenvalues are found in full.

use super::{Factor, Singular, Symmetric};
use nalgebra::{Cholesky, DMatrix, SymmetricEigen};

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
    // The first shift only has to make K + σM regular; the second sits at the scale of what is looked for.
    let crude = ratio_of_diagonals(stiffness, mass, n);
    let first = iterate(stiffness, mass, n, count, crude * 1e-6, 4)?;
    let scale = first.last().map_or(0.0, |(value, _)| value.abs()).max(crude * 1e-14);
    iterate(stiffness, mass, n, count, scale, 300)
}

/// Largest K_ii / M_ii.
fn ratio_of_diagonals(stiffness: &Symmetric, mass: &Symmetric, n: usize) -> f64 {
    let diagonal = |matrix: &Symmetric, i: usize| matrix.values[matrix.pattern.starts[i + 1] as usize - 1];
    let ratio = (0..n).map(|i| diagonal(stiffness, i) / diagonal(mass, i)).fold(0.0, f64::max);
    if ratio > 0.0 { ratio } else { 1.0 }
}

fn iterate(
    stiffness: &Symmetric,
    mass: &Symmetric,
    n: usize,
    count: usize,
    shift: f64,
    most: usize,
) -> Result<Vec<(f64, Vec<f64>)>, Singular> {
    let total = mass.pattern.n;
    let mut shifted = stiffness.clone();
    for (value, m) in shifted.values.iter_mut().zip(&mass.values) {
        *value += shift * m;
    }
    let mut factor = Factor::new(&mass.pattern, n);
    factor.factor(&shifted)?;
    let p = n.min((2 * count).max(count + 8));
    // A fixed irregular start; no mode of a regular mesh is orthogonal to it.
    let mut basis = DMatrix::from_fn(n, p, |i, j| ((i * (j + 1) + j * j) as f64 * 0.618_033_988_749_895).fract() - 0.5);
    let mut values = vec![f64::INFINITY; p];
    let (mut column, mut image) = (vec![0.0; total], vec![0.0; total]);
    let times_mass = |x: &DMatrix<f64>, column: &mut [f64], image: &mut [f64]| {
        let mut product = DMatrix::zeros(n, p);
        for j in 0..p {
            column[..n].copy_from_slice(x.column(j).as_slice());
            mass.multiply(column, image);
            product.column_mut(j).copy_from_slice(&image[..n]);
        }
        product
    };
    for _ in 0..most {
        let right = times_mass(&basis, &mut column, &mut image);
        let mut solved = right.clone();
        for j in 0..p {
            factor.solve(solved.column_mut(j).as_mut_slice());
        }
        let projected = solved.tr_mul(&right);
        let projected = (&projected + projected.transpose()) * 0.5;
        let metric = solved.tr_mul(&times_mass(&solved, &mut column, &mut image));
        let Some(cholesky) = Cholesky::new((&metric + metric.transpose()) * 0.5) else { break };
        let inverse = cholesky.inverse();
        let lower = cholesky.l();
        // L⁻¹ P L⁻ᵀ by two triangular solves.
        let half = lower.solve_lower_triangular(&projected).unwrap_or_else(|| &inverse * &projected);
        let reduced = lower.solve_lower_triangular(&half.transpose()).unwrap_or(half);
        let eigen = SymmetricEigen::new((&reduced + reduced.transpose()) * 0.5);
        let mut order: Vec<usize> = (0..p).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
        let vectors = lower.transpose().solve_upper_triangular(&eigen.eigenvectors).unwrap_or(eigen.eigenvectors);
        let turn = DMatrix::from_fn(p, p, |i, j| vectors[(i, order[j])]);
        basis = solved * turn;
        let new: Vec<f64> = order.iter().map(|&k| eigen.eigenvalues[k]).collect();
        let change = (0..count).map(|k| ((new[k] - values[k]) / new[k]).abs()).fold(0.0, f64::max);
        values = new;
        if change < 1e-13 {
            break;
        }
    }
    Ok((0..count).map(|k| (values[k] - shift, basis.column(k).iter().copied().collect())).collect())
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
