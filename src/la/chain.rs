//! Block-tridiagonal LDLᵀ for chains: bars (1×1), truss chains (2×2), beams (3×3).
//!
//! A chain is the common body in impact problems; on it this factor costs a few nanoseconds per row, and keeps
//! the natural order of the nodes. Elimination runs from both ends to the middle: a recurrence waits for its own last
//! result most of the time, and two of them wait together.

use super::Processor;
use super::factor::Singular;
use super::symmetric::Pattern;
use nalgebra::{SMatrix, SVector};
use pulp::{Simd, WithSimd};

/// Factor of a symmetric block-tridiagonal matrix with blocks of order `B`.
pub struct Chain<const B: usize> {
    n: usize,
    /// Rows before the first one, so that a chain that lost its first rows to a support keeps its blocks.
    offset: usize,
    /// Inverse pivots.
    pivots: Vec<SMatrix<f64, B, B>>,
    /// Multipliers from a block to its neighbour on the way to the middle, U_iᵀ P_i⁻¹ before it and U_{i−1} P_i⁻¹ behind;
    /// zero in the middle.
    lower: Vec<SMatrix<f64, B, B>>,
    /// Coupling blocks U_i of blocks i and i + 1, scratch of the factorization.
    upper: Vec<SMatrix<f64, B, B>>,
    arch: Processor,
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
                lower: vec![SMatrix::zeros(); blocks],
                upper: vec![SMatrix::zeros(); blocks.saturating_sub(1)],
                arch: Processor::new(),
            }
        })
    }

    /// Rows before the first one.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Factors the leading rows of the matrix with these values.
    pub fn factor(&mut self, pattern: &Pattern, values: &[f64]) -> Result<(), Singular> {
        self.load(pattern, values);
        let (last, middle) = self.ends();
        for i in 0..middle {
            let upper = self.upper[i];
            self.invert(i)?;
            self.lower[i] = upper.tr_mul(&self.pivots[i]);
            self.pivots[i + 1] -= self.lower[i] * upper;
        }
        for i in (middle + 1..=last).rev() {
            let upper = self.upper[i - 1];
            self.invert(i)?;
            self.lower[i] = upper * self.pivots[i];
            self.pivots[i - 1] -= self.lower[i] * upper.transpose();
        }
        self.invert(middle)
    }

    /// Number of negative eigenvalues of the matrix that was factored, by Sylvester's law of inertia: that of its pivots.
    pub fn negative(&self) -> usize {
        self.pivots.iter().map(negative).sum()
    }

    /// Solves in place.
    pub fn solve(&self, b: &mut [f64]) {
        self.arch.dispatch(Solve { chain: self, b });
    }

    /// The last block and the middle one.
    fn ends(&self) -> (usize, usize) {
        let last = self.pivots.len() - 1;
        (last, last / 2)
    }

    fn invert(&mut self, i: usize) -> Result<(), Singular> {
        let row = (i * B).saturating_sub(self.offset).min(self.n - 1);
        self.pivots[i] = invert(&self.pivots[i]).ok_or(Singular { row })?;
        Ok(())
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

    #[inline(always)]
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

    #[inline(always)]
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

/// A solve, compiled for what the processor has.
struct Solve<'a, const B: usize> {
    chain: &'a Chain<B>,
    b: &'a mut [f64],
}

impl<const B: usize> WithSimd for Solve<'_, B> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Solve { chain, b } = self;
        let (last, middle) = chain.ends();
        // The first blocks have none before them: zero times whatever stands there.
        let (mut x, mut z) = (SVector::zeros(), SVector::zeros());
        for k in 0..middle {
            x = chain.gather::<S>(k, k.max(1) - 1, x, b);
            z = chain.gather::<S>(last - k, (last - k + 1).min(last), z, b);
        }
        if last - middle > middle {
            z = chain.gather::<S>(middle + 1, (middle + 2).min(last), z, b);
        }
        chain.gather::<S>(middle, middle.max(1) - 1, x, b);
        chain.gather::<S>(middle, (middle + 1).min(last), z, b);
        x = chain.spread::<S>(middle, SVector::zeros(), b);
        z = x;
        if last - middle > middle {
            z = chain.spread::<S>(middle + 1, z, b);
        }
        for k in (0..middle).rev() {
            x = chain.spread::<S>(k, x, b);
            z = chain.spread::<S>(last - k, z, b);
        }
    }
}

// Not closures: one that is not inlined would not be compiled for what the processor has.
impl<const B: usize> Chain<B> {
    /// Right-hand side of a block less what block `before` on the way to it brings.
    #[inline(always)]
    fn gather<S: Simd>(&self, i: usize, before: usize, x: SVector<f64, B>, b: &mut [f64]) -> SVector<f64, B> {
        let mut y = self.get(b, i);
        let lower = &self.lower[before];
        for c in 0..B {
            for r in 0..B {
                y[r] = fma::<S>(-lower[(r, c)], x[c], y[r]);
            }
        }
        self.set(b, i, &y);
        y
    }

    /// Solution of a block from its eliminated right-hand side and the solution of its neighbour towards the middle.
    #[inline(always)]
    fn spread<S: Simd>(&self, i: usize, x: SVector<f64, B>, b: &mut [f64]) -> SVector<f64, B> {
        let (pivot, lower, y) = (&self.pivots[i], &self.lower[i], self.get(b, i));
        let mut own = SVector::<f64, B>::zeros();
        for c in 0..B {
            for r in 0..B {
                own[r] = fma::<S>(pivot[(r, c)], y[c], own[r]);
            }
        }
        for c in 0..B {
            for r in 0..B {
                own[r] = fma::<S>(-lower[(c, r)], x[c], own[r]);
            }
        }
        self.set(b, i, &own);
        own
    }
}

/// a b + c, fused where the processor can; where it cannot, fusing would be a slow call.
#[inline(always)]
fn fma<S: Simd>(a: f64, b: f64, c: f64) -> f64 {
    if S::IS_SCALAR { a * b + c } else { a.mul_add(b, c) }
}

fn fits(pattern: &Pattern, n: usize, block: usize, offset: usize) -> bool {
    (0..n).all(|j| {
        // Rows ascend, so the first entry of a column is the farthest from the diagonal.
        let first = pattern.rows[pattern.starts[j] as usize] as usize;
        (j + offset) / block - (first + offset) / block <= 1
    })
}

/// Number of negative eigenvalues of a small symmetric matrix, from the pivots of its elimination.
fn negative<const B: usize>(a: &SMatrix<f64, B, B>) -> usize {
    let mut m = *a;
    let mut count = 0;
    for k in 0..B {
        let pivot = m[(k, k)];
        count += usize::from(pivot < 0.0);
        for r in k + 1..B {
            let factor = m[(r, k)] / pivot;
            (k + 1..B).for_each(|c| m[(r, c)] -= factor * m[(k, c)]);
        }
    }
    count
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
