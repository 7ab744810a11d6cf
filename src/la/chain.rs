//! Block-tridiagonal LDLᵀ for chains: bars (1×1), truss chains (2×2), beams (3×3).
//!
//! A chain is the common body in impact problems; on it this factor costs a few nanoseconds per row, and keeps
//! the natural order of the nodes.

use super::factor::Singular;
use super::symmetric::Pattern;
use nalgebra::{SMatrix, SVector};

/// Factor of a symmetric block-tridiagonal matrix with blocks of order `B`.
pub struct Chain<const B: usize> {
    n: usize,
    /// Rows before the first one, so that a chain that lost its first rows to a support keeps its blocks.
    offset: usize,
    /// Inverse pivots.
    pivots: Vec<SMatrix<f64, B, B>>,
    /// L_i = U_iᵀ P_i⁻¹, the multipliers from block i to block i + 1.
    lower: Vec<SMatrix<f64, B, B>>,
    /// Upper coupling blocks U_i, scratch of the factorization.
    upper: Vec<SMatrix<f64, B, B>>,
}

impl<const B: usize> Chain<B> {
    /// The chain form of the leading `n` rows of a pattern, if it has one with this block size.
    pub fn recognise(pattern: &Pattern, n: usize) -> Option<Chain<B>> {
        (0..B).find(|offset| fits(pattern, n, B, *offset)).map(|offset| {
            let blocks = (n + offset).div_ceil(B);
            Chain {
                n,
                offset,
                pivots: vec![SMatrix::zeros(); blocks],
                lower: vec![SMatrix::zeros(); blocks.saturating_sub(1)],
                upper: vec![SMatrix::zeros(); blocks.saturating_sub(1)],
            }
        })
    }

    /// Factors the leading rows of the matrix with these values.
    pub fn factor(&mut self, pattern: &Pattern, values: &[f64]) -> Result<(), Singular> {
        self.load(pattern, values);
        for i in 0..self.pivots.len() {
            if i > 0 {
                let fill = self.lower[i - 1] * self.upper[i - 1];
                self.pivots[i] -= fill;
            }
            self.pivots[i] =
                invert(&self.pivots[i]).ok_or(Singular { row: (i * B).saturating_sub(self.offset).min(self.n - 1) })?;
            if i < self.lower.len() {
                self.lower[i] = self.upper[i].transpose() * self.pivots[i];
            }
        }
        Ok(())
    }

    /// Solves in place.
    pub fn solve(&self, b: &mut [f64]) {
        let blocks = self.pivots.len();
        let mut previous = SVector::<f64, B>::zeros();
        for i in 0..blocks {
            let mut y = self.get(b, i);
            if i > 0 {
                y -= self.lower[i - 1] * previous;
            }
            self.set(b, i, &y);
            previous = y;
        }
        let mut next = SVector::<f64, B>::zeros();
        for i in (0..blocks).rev() {
            let mut x = self.pivots[i] * self.get(b, i);
            if i + 1 < blocks {
                x -= self.lower[i].tr_mul(&next);
            }
            self.set(b, i, &x);
            next = x;
        }
    }

    fn load(&mut self, pattern: &Pattern, values: &[f64]) {
        self.pivots.fill(SMatrix::zeros());
        self.upper.fill(SMatrix::zeros());
        // Rows that pad the first and the last block are decoupled and have unit pivots.
        let last = self.pivots.len() - 1;
        for k in 0..self.offset {
            self.pivots[0][(k, k)] = 1.0;
        }
        for k in self.n + self.offset..(last + 1) * B {
            self.pivots[last][(k - last * B, k - last * B)] = 1.0;
        }
        for j in 0..self.n {
            let (bj, rj) = ((j + self.offset) / B, (j + self.offset) % B);
            for k in pattern.starts[j] as usize..pattern.starts[j + 1] as usize {
                let i = pattern.rows[k] as usize + self.offset;
                let (bi, ri) = (i / B, i % B);
                if bi == bj {
                    self.pivots[bj][(ri, rj)] = values[k];
                    self.pivots[bj][(rj, ri)] = values[k];
                } else {
                    self.upper[bi][(ri, rj)] = values[k];
                }
            }
        }
    }

    fn get(&self, b: &[f64], block: usize) -> SVector<f64, B> {
        let start = block * B;
        if start >= self.offset && start + B <= self.n + self.offset {
            return SVector::from_column_slice(&b[start - self.offset..start - self.offset + B]);
        }
        SVector::from_fn(|r, _| {
            let row = start + r;
            if row >= self.offset && row < self.n + self.offset { b[row - self.offset] } else { 0.0 }
        })
    }

    fn set(&self, b: &mut [f64], block: usize, x: &SVector<f64, B>) {
        let start = block * B;
        if start >= self.offset && start + B <= self.n + self.offset {
            b[start - self.offset..start - self.offset + B].copy_from_slice(x.as_slice());
            return;
        }
        for r in 0..B {
            let row = start + r;
            if row >= self.offset && row < self.n + self.offset {
                b[row - self.offset] = x[r];
            }
        }
    }
}

fn fits(pattern: &Pattern, n: usize, block: usize, offset: usize) -> bool {
    (0..n).all(|j| {
        // Rows ascend, so the first entry of a column is the farthest from the diagonal.
        let first = pattern.rows[pattern.starts[j] as usize] as usize;
        (j + offset) / block - (first + offset) / block <= 1
    })
}

/// Inverse of a small symmetric matrix; `None` if it is singular to working accuracy.
fn invert<const B: usize>(a: &SMatrix<f64, B, B>) -> Option<SMatrix<f64, B, B>> {
    if B == 1 {
        let pivot = a[(0, 0)];
        return (pivot != 0.0 && pivot.is_finite()).then(|| SMatrix::from_element(1.0 / pivot));
    }
    // Gauss–Jordan without pivoting: the pivots of a positive definite block are positive, and a vanishing one
    // is judged against the diagonal entry that it came from, which is free of units.
    let mut m = *a;
    let mut inverse = SMatrix::<f64, B, B>::identity();
    for k in 0..B {
        let pivot = m[(k, k)];
        if !(pivot.is_finite() && pivot.abs() > 1e-14 * a[(k, k)].abs()) {
            return None;
        }
        let scale = 1.0 / pivot;
        for c in 0..B {
            m[(k, c)] *= scale;
            inverse[(k, c)] *= scale;
        }
        for r in 0..B {
            if r != k {
                let factor = m[(r, k)];
                for c in 0..B {
                    m[(r, c)] -= factor * m[(k, c)];
                    inverse[(r, c)] -= factor * inverse[(k, c)];
                }
            }
        }
    }
    Some(inverse)
}
