//! Symmetric sparse matrices: upper triangle by columns, one pattern shared by all matrices of a system.

use nalgebra_sparse::{CooMatrix, CscMatrix};
use std::sync::Arc;

/// Places of the entries of the upper triangle, diagonal included, by columns.
#[derive(Debug, PartialEq)]
pub struct Pattern {
    /// Order of the matrix.
    pub n: usize,
    /// Start of each column in `rows`.
    pub starts: Vec<u32>,
    /// Row of each entry, ascending within a column.
    pub rows: Vec<u32>,
}

impl Pattern {
    /// Pattern of a matrix assembled from cliques: every pair within a clique of indices is an entry, and so is
    /// the whole diagonal.
    pub fn from_cliques<'a>(n: usize, cliques: impl Iterator<Item = &'a [u32]>) -> Pattern {
        let mut coo = CooMatrix::new(n, n);
        for i in 0..n {
            coo.push(i, i, 0.0);
        }
        for clique in cliques {
            for (k, &a) in clique.iter().enumerate() {
                for &b in &clique[k + 1..] {
                    if a != b {
                        coo.push(a.min(b) as usize, a.max(b) as usize, 0.0);
                    }
                }
            }
        }
        let csc = CscMatrix::<f64>::from(&coo);
        Pattern {
            n,
            starts: csc.col_offsets().iter().map(|&i| i as u32).collect(),
            rows: csc.row_indices().iter().map(|&i| i as u32).collect(),
        }
    }

    /// Position of entry (i, j) in the value array; the order of i and j does not matter.
    pub fn position(&self, i: usize, j: usize) -> Option<usize> {
        let (row, column) = (i.min(j) as u32, i.max(j));
        let range = self.starts[column] as usize..self.starts[column + 1] as usize;
        self.rows[range.clone()].binary_search(&row).ok().map(|k| range.start + k)
    }

    /// Number of stored entries.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the matrix has no entries.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// A symmetric matrix on a shared pattern.
///
/// ```
/// use carom::la::{Pattern, Symmetric};
/// let mut a = Symmetric::zeros(Pattern::from_cliques(2, [[0u32, 1].as_slice()].into_iter()).into());
/// a.add(0, 0, 2.0);
/// a.add(0, 1, 1.0);
/// let mut y = [0.0; 2];
/// a.multiply(&[1.0, 3.0], &mut y);
/// assert_eq!(y, [5.0, 1.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Symmetric {
    /// Where the entries are.
    pub pattern: Arc<Pattern>,
    /// Their values, in the pattern's order.
    pub values: Vec<f64>,
}

impl Symmetric {
    /// The zero matrix.
    pub fn zeros(pattern: Arc<Pattern>) -> Symmetric {
        Symmetric { values: vec![0.0; pattern.len()], pattern }
    }

    /// Adds to entry (i, j), and so to (j, i).
    ///
    /// # Panics
    /// If the entry is not in the pattern.
    pub fn add(&mut self, i: usize, j: usize, value: f64) {
        let k = self.pattern.position(i, j).expect("entries are added within the pattern of their cliques");
        self.values[k] += value;
    }

    /// y = A x.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        self.multiply_add(1.0, x, y);
    }

    /// y += s A x.
    pub fn multiply_add(&self, s: f64, x: &[f64], y: &mut [f64]) {
        let Pattern { n, starts, rows } = &*self.pattern;
        for j in 0..*n {
            let (begin, end) = (starts[j] as usize, starts[j + 1] as usize);
            let xj = s * x[j];
            // The diagonal is the last entry of its column.
            let mut yj = self.values[end - 1] * xj;
            for k in begin..end - 1 {
                let i = rows[k] as usize;
                y[i] += self.values[k] * xj;
                yj += self.values[k] * (s * x[i]);
            }
            y[j] += yj;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn product_agrees_with_the_dense_one() {
        let cliques: [&[u32]; 3] = [&[0, 2, 3], &[1, 3], &[2, 0]];
        let mut a = Symmetric::zeros(Arc::new(Pattern::from_cliques(4, cliques.iter().copied())));
        let mut dense = [[0.0; 4]; 4];
        for (k, (i, j)) in [(0, 0), (0, 2), (2, 3), (1, 3), (3, 3), (0, 3), (2, 2)].into_iter().enumerate() {
            let value = 1.0 + k as f64;
            a.add(j, i, value);
            dense[i][j] += value;
            if i != j {
                dense[j][i] += value;
            }
        }
        let x = [1.0, -2.0, 3.0, 0.5];
        let mut y = [10.0; 4];
        a.multiply_add(2.0, &x, &mut y);
        for i in 0..4 {
            let expected: f64 = 10.0 + 2.0 * (0..4).map(|j| dense[i][j] * x[j]).sum::<f64>();
            assert_eq!(y[i], expected);
        }
        assert_eq!(a.pattern.position(1, 2), None);
    }
}
