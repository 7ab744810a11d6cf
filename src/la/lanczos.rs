//! Eigenvalues by Lanczos' method: the lowest pairs of K x = λ M x, and the largest value of a symmetric operator.

use super::{Bands, Factor, Singular, Symmetric, dot};
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul;
use faer::{Accum, ColMut, ColRef, Mat, MatRef, Par, Spec};

/// The `count` lowest eigenvalues of K x = λ M x and their M-orthonormal vectors, lowest first, on the leading `n` rows.
///
/// K may be singular or indefinite; M must be positive definite there. Multiple eigenvalues are found in full: the number of
/// eigenvalues below the last one is that of the negative pivots of K − λM, and what is missing is looked for again.
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
    let mut pencil = Pencil::new(stiffness, mass, n);
    let shift = pencil.shift_for(count)?;
    pencil.factor(shift)?;
    let mut found: Vec<(f64, Vec<f64>)> = Vec::new();
    let mut wanted = count;
    for start in 0.. {
        let new = pencil.lowest_besides(&found, wanted, start);
        let lowest_new = new.iter().map(|pair| pair.0).fold(f64::INFINITY, f64::min);
        found.extend(new.into_iter().map(|(value, vector)| (value - shift, vector)));
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        if found.len() < count {
            wanted = count - found.len();
            continue;
        }
        // Those that have the last one's value to this accuracy are as good as it.
        let last = found[count - 1].0;
        let below = last - SAME * (last + shift);
        if found.len() == n || (start > 0 && lowest_new - shift >= below) {
            break;
        }
        let known = found.iter().filter(|pair| pair.0 < below).count();
        // Where rounding does not tell, as among rigid motions, another start does.
        wanted = pencil.count_below(below).map_or(count, |all| all.saturating_sub(known).min(count));
        if wanted == 0 {
            break;
        }
        pencil.factor(shift)?;
    }
    found.truncate(count);
    Ok(found)
}

/// Eigenvalues that agree to this part of their distance from the shift are taken for equal.
const SAME: f64 = 1e-8;

/// Residual of an eigenpair of (K + σM)⁻¹ M, as a part of its value, at which it is found: the error of a vector is as large,
/// that of its value the square.
const FOUND: f64 = 1e-11;

/// K and M, and a factor of K + σM.
struct Pencil<'a> {
    stiffness: &'a Symmetric,
    mass: &'a Symmetric,
    product: Bands,
    n: usize,
    factor: Factor,
    shifted: Symmetric,
}

impl<'a> Pencil<'a> {
    fn new(stiffness: &'a Symmetric, mass: &'a Symmetric, n: usize) -> Pencil<'a> {
        let factor = Factor::new(&mass.pattern, n);
        Pencil { stiffness, mass, product: Bands::of(mass), n, factor, shifted: stiffness.clone() }
    }

    /// Factors K + σM.
    fn factor(&mut self, shift: f64) -> Result<(), Singular> {
        for ((value, k), m) in self.shifted.values.iter_mut().zip(&self.stiffness.values).zip(&self.mass.values) {
            *value = k + shift * m;
        }
        self.factor.factor(&self.shifted)
    }

    /// Number of eigenvalues below this one. Where it is an eigenvalue itself, one slightly above.
    fn count_below(&mut self, value: f64) -> Result<usize, Singular> {
        let mut tried = self.factor(-value);
        for k in 1..4 {
            if tried.is_ok() {
                break;
            }
            tried = self.factor(-value * (1.0 + 1e-9 * f64::from(k)));
        }
        tried.map(|()| self.factor.negative())
    }

    /// A shift at which K + σM is positive definite and below which in size the `count` lowest eigenvalues lie, by no more
    /// than a few decades: far above them all of them look alike, and far below rounding is large.
    fn shift_for(&mut self, count: usize) -> Result<f64, Singular> {
        let diagonal = |matrix: &Symmetric, i: usize| matrix.values[matrix.pattern.starts[i + 1] as usize - 1];
        let crude = (0..self.n).map(|i| diagonal(self.stiffness, i) / diagonal(self.mass, i)).fold(0.0, f64::max);
        let crude = if crude > 0.0 { crude } else { 1.0 };
        // Of a bar, so many lie below a value as its root says.
        let (mut value, mut below, mut rises) = (1.37e-6 * crude, self.count_below(1.37e-6 * crude)?, false);
        loop {
            let ratio = count as f64 / below as f64;
            if below < count {
                (rises, value) = (true, value * if below == 0 { 100.0 } else { 2.0 * ratio * ratio });
                below = self.count_below(value)?;
            } else if below > 4 * count && !rises {
                let lower = value * 4.0 * ratio * ratio;
                // Rigid motions are below any value; where rounding does not tell them apart, it goes no further.
                match self.count_below(lower) {
                    Ok(fewer) if lower > 1e-12 * crude => (value, below) = (lower, fewer),
                    _ => break,
                }
            } else {
                break;
            }
        }
        let mut shift = 0.1 * value;
        loop {
            match self.count_below(-shift) {
                Ok(0) => return Ok(shift),
                Err(singular) if shift.is_nan() || shift >= crude => return Err(singular),
                _ => shift *= 10.0,
            }
        }
    }

    /// y = M x in the leading rows.
    fn multiply(&self, x: &[f64], y: &mut [f64]) {
        self.product.multiply(x, y);
        y[self.n..].fill(0.0);
    }

    /// The `wanted` lowest eigenvalues of K + σM against M among vectors orthogonal to those `besides`, with their vectors;
    /// fewer where the Krylov space of the start ends before. Vectors are orthogonalised against all before them.
    fn lowest_besides(&mut self, besides: &[(f64, Vec<f64>)], wanted: usize, start: usize) -> Vec<(f64, Vec<f64>)> {
        let (n, all, known) = (self.n, self.mass.pattern.n, besides.len());
        // Vectors one after the other: those besides, then those of the Krylov space.
        let mut basis: Vec<f64> = besides.iter().flat_map(|(_, vector)| vector).copied().collect();
        let (mut diagonal, mut off) = (Vec::new(), Vec::new());
        // A fixed irregular start; no mode of a regular mesh is orthogonal to it.
        let irregular =
            |i: usize| ((i * i + (start + 1) * (3 * i + start)) as f64 * 0.618_033_988_749_895).fract() - 0.5;
        let mut w: Vec<f64> = (0..all).map(|i| if i < n { irregular(i) } else { 0.0 }).collect();
        let (mut image, mut largest, mut check) = (vec![0.0; all], 0.0_f64, wanted + 8);
        loop {
            let norm = self.orthogonalise(&basis, &mut w, &mut image);
            let dimension = diagonal.len();
            // Nothing new but rounding: the space is complete.
            let ends = known + dimension == n || norm <= 1e-13 * largest || norm == 0.0;
            if ends || dimension == check {
                let last = if ends { 0.0 } else { norm };
                if let Some(pairs) = ritz_pairs(&diagonal, &off, last, wanted, ends) {
                    let krylov = MatRef::from_column_major_slice(&basis[known * n..], n, dimension);
                    return pairs
                        .into_iter()
                        .map(|(value, weights)| (1.0 / value, combine(krylov, &weights)))
                        .collect();
                }
                check = dimension + 4 + dimension / 8;
            }
            if dimension > 0 {
                off.push(norm);
            }
            w.iter_mut().chain(&mut image).for_each(|x| *x /= norm);
            basis.extend_from_slice(&w[..n]);
            // w becomes the image of v under (K + σM)⁻¹ M, less its parts along the last two vectors.
            w.copy_from_slice(&image);
            self.factor.solve(&mut w);
            let quotient = dot(&w, &image);
            largest = largest.max(quotient.abs());
            for k in dimension.saturating_sub(1)..=dimension {
                let part = if k == dimension { quotient } else { off[dimension - 1] };
                let v = &basis[(known + k) * n..][..n];
                (0..n).for_each(|i| w[i] -= part * v[i]);
            }
            diagonal.push(quotient);
        }
    }

    /// Takes what of w lies along the basis out of it; leaves M w in `image`, and returns the norm.
    fn orthogonalise(&self, basis: &[f64], w: &mut [f64], image: &mut [f64]) -> f64 {
        self.multiply(w, image);
        let mut norm = dot(w, image).max(0.0).sqrt();
        let basis = MatRef::from_column_major_slice(basis, self.n, basis.len() / self.n);
        let mut parts = vec![0.0; basis.ncols()];
        // Where much is taken out, what is left has rounding along the basis, and that is taken out again.
        for _ in 0..4 {
            let before = norm;
            let row = ColRef::from_slice(&image[..self.n]);
            matmul(ColMut::from_slice_mut(&mut parts), Accum::Replace, basis.transpose(), row, 1.0, Par::Seq);
            let column = ColMut::from_slice_mut(&mut w[..self.n]);
            matmul(column, Accum::Add, basis, ColRef::from_slice(&parts), -1.0, Par::Seq);
            self.multiply(w, image);
            norm = dot(w, image).max(0.0).sqrt();
            if norm > 0.5 * before {
                break;
            }
        }
        norm
    }
}

/// The `wanted` largest eigenvalues of a tridiagonal matrix and their vectors, if all of them are found to accuracy where the
/// matrix goes on with `next`; all that there are where it `ends`.
fn ritz_pairs(diagonal: &[f64], off: &[f64], next: f64, wanted: usize, ends: bool) -> Option<Vec<(f64, Vec<f64>)>> {
    let m = diagonal.len();
    if m == 0 {
        return ends.then(Vec::new);
    }
    let (values, vectors) = tridiagonal_eigen(diagonal, off);
    let rounding = 4.0 * f64::EPSILON * values[m - 1].abs();
    let kept = (m.saturating_sub(wanted)..m).rev();
    let is_found = |k: usize| (next * vectors[(m - 1, k)]).abs() <= (FOUND * values[k]).max(rounding);
    let complete = ends || (m >= wanted && kept.clone().all(is_found));
    complete.then(|| kept.map(|k| (values[k], vectors.col_as_slice(k).to_vec())).collect())
}

/// The sum of columns with weights.
fn combine(columns: MatRef<f64>, weights: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; columns.nrows()];
    matmul(ColMut::from_slice_mut(&mut sum), Accum::Replace, columns, ColRef::from_slice(weights), 1.0, Par::Seq);
    sum
}

/// Eigenvalues of a symmetric tridiagonal matrix, ascending, and its vectors.
fn tridiagonal_eigen(diagonal: &[f64], off: &[f64]) -> (Diag<f64>, Mat<f64>) {
    let m = diagonal.len();
    let matrix = Mat::from_fn(m, m, |i, j| match i.abs_diff(j) {
        0 => diagonal[i],
        1 => off[i.min(j)],
        _ => 0.0,
    });
    let (mut values, mut vectors) = (Diag::zeros(m), Mat::zeros(m, m));
    let scratch = self_adjoint_evd_scratch::<f64>(m, ComputeEigenvectors::Yes, Par::Seq, Spec::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    self_adjoint_evd(matrix.as_ref(), values.as_mut(), Some(vectors.as_mut()), Par::Seq, stack, Spec::default())
        .expect("the values of a finite tridiagonal matrix converge within a few iterations each");
    (values, vectors)
}

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
        let norm = dot(&w, &image).max(0.0).sqrt();
        largest_norm = largest_norm.max(norm);
        if norm == 0.0 || norm < 1e-13 * largest_norm {
            break;
        }
        std::mem::swap(&mut v, &mut previous);
        (0..n).for_each(|i| v[i] = w[i] / norm);
        operator(&v, &mut w);
        let quotient = dot(&w, &image) / norm;
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
    let (values, _) = tridiagonal_eigen(&diagonal, &off);
    values[m - 1].max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::la::Pattern;
    use std::sync::Arc;

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

    #[test]
    fn finds_more_rigid_motions_than_are_asked_for() {
        // Twenty pairs of unit masses, their springs from 1e6 on: as many zeros, then twice the stiffness.
        let cliques: Vec<[u32; 2]> = (0..20).map(|k| [2 * k, 2 * k + 1]).collect();
        let pattern = Arc::new(Pattern::from_cliques(40, cliques.iter().map(|c| c.as_slice())));
        let (mut stiffness, mut mass) = (Symmetric::zeros(pattern.clone()), Symmetric::zeros(pattern));
        let spring = |k: usize| 1e6 * (1.0 + k as f64);
        for k in 0..20 {
            for (i, j, sign) in [(0, 0, 1.0), (1, 1, 1.0), (0, 1, -1.0)] {
                stiffness.add(2 * k + i, 2 * k + j, sign * spring(k));
            }
        }
        (0..40).for_each(|i| mass.add(i, i, 1.0));
        for count in [1, 12, 25, 40] {
            let pairs = lowest(&stiffness, &mass, 40, count).unwrap();
            assert_eq!(pairs.len(), count);
            for (k, (value, vector)) in pairs.iter().enumerate() {
                let exact = if k < 20 { 0.0 } else { 2.0 * spring(k - 20) };
                assert!((value - exact).abs() < 1e-9 * spring(19), "{count}, {k}: {value} {exact}");
                for (j, (_, other)) in pairs.iter().enumerate() {
                    let expected = if j == k { 1.0 } else { 0.0 };
                    assert!((dot(vector, other) - expected).abs() < 1e-10, "{count}: {j} and {k}");
                }
            }
        }
    }
}
