//! Products with a constant matrix whose entries lie on the diagonal and, most of the others, at one distance from it:
//! masses, which couple equal components of neighbours.

use super::symmetric::Symmetric;
use pulp::{Arch, Simd, WithSimd};

/// A symmetric matrix, written for products.
#[derive(Clone, Debug)]
pub struct Band {
    /// Diagonal.
    pub diagonal: Vec<f64>,
    /// Distance of the band from the diagonal.
    pub reach: usize,
    /// Entries (i, i + reach).
    pub beside: Vec<f64>,
    /// All other entries above the diagonal.
    pub rest: Vec<(u32, u32, f64)>,
    arch: Arch,
}

impl Band {
    /// The same matrix without its zeros.
    pub fn of(matrix: &Symmetric) -> Band {
        let (pattern, n) = (&matrix.pattern, matrix.pattern.n);
        let mut diagonal = vec![0.0; n];
        let mut entries = Vec::new();
        for j in 0..n {
            for k in pattern.starts[j] as usize..pattern.starts[j + 1] as usize {
                match (pattern.rows[k], matrix.values[k]) {
                    (i, value) if i as usize == j => diagonal[j] = value,
                    (_, 0.0) => {}
                    (i, value) => entries.push((i, j as u32, value)),
                }
            }
        }
        let mut counts = vec![0; n];
        entries.iter().for_each(|&(i, j, _)| counts[(j - i) as usize] += 1);
        // The nearest of the fullest bands; with no entry at all, one of length zero.
        let reach = (1..n).rev().max_by_key(|&reach| counts[reach]).unwrap_or(n);
        let mut beside = vec![0.0; n - reach];
        entries.retain(|&(i, j, value)| {
            let near = (j - i) as usize == reach;
            if near {
                beside[i as usize] = value;
            }
            !near
        });
        Band { diagonal, reach, beside, rest: entries, arch: Arch::new() }
    }

    /// y = A x.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        self.arch.dispatch(Product { band: self, x, y });
        for &(i, j, value) in &self.rest {
            y[i as usize] += value * x[j as usize];
            y[j as usize] += value * x[i as usize];
        }
    }
}

/// The product with diagonal and band.
struct Product<'a> {
    band: &'a Band,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Band { diagonal, reach, beside, .. } = self.band;
        let (n, reach) = (diagonal.len(), *reach);
        let (x, y) = (&self.x[..n], &mut self.y[..n]);
        // Rows with neighbours on both sides are from `first` to `last`.
        let (first, last) = (reach.min(n), beside.len().max(reach).min(n));
        for i in (0..first).chain(last..n) {
            y[i] = diagonal[i] * x[i];
            if let Some(b) = beside.get(i) {
                y[i] += b * x[i + reach];
            }
            if i >= reach {
                y[i] += beside[i - reach] * x[i - reach];
            }
        }
        if first < last {
            let count = last - first;
            let (d, own, y) = (&diagonal[first..last], &x[first..last], &mut y[first..last]);
            let (b, x_before) = (&beside[..count], &x[..count]);
            let (c, x_after) = (&beside[first..last], &x[first + reach..last + reach]);
            for i in 0..count {
                y[i] = d[i] * own[i] + b[i] * x_before[i] + c[i] * x_after[i];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::la::Pattern;

    #[test]
    fn products_are_those_of_the_sparse_matrix() {
        let cliques: [&[u32]; 5] = [&[0, 3], &[1, 4], &[2, 5, 0], &[3, 6], &[4, 7]];
        let mut a = Symmetric::zeros(Pattern::from_cliques(8, cliques.iter().copied()).into());
        for (k, value) in a.values.iter_mut().enumerate() {
            *value = if k == 4 { 0.0 } else { 1.0 + k as f64 };
        }
        let lonely = Symmetric { values: vec![2.0; 3], pattern: Pattern::from_cliques(3, [].into_iter()).into() };
        let one = Symmetric { values: vec![2.0], pattern: Pattern::from_cliques(1, [].into_iter()).into() };
        for a in [a, lonely, one] {
            let n = a.pattern.n;
            let x: Vec<f64> = (0..n).map(|i| (i as f64 + 0.3).sin()).collect();
            let (mut y, mut z) = (vec![9.0; n], vec![0.0; n]);
            Band::of(&a).multiply(&x, &mut y);
            a.multiply(&x, &mut z);
            assert!(y.iter().zip(&z).all(|(y, z)| (y - z).abs() < 1e-13), "{y:?} {z:?}");
        }
    }
}
