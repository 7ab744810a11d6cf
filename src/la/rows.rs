//! Rows of a symmetric matrix in full: a product reads each of them once.

use super::symmetric::Symmetric;
use std::ops::Range;

/// Rows of a symmetric matrix, both triangles, without the entries that are zero.
#[derive(Default)]
pub struct Rows {
    starts: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
    /// Rows that have entries.
    filled: Vec<u32>,
    /// Next free place of every row while they are filled.
    next: Vec<u32>,
}

impl Rows {
    /// Becomes the rows of a matrix, its entries at these distances from the diagonal.
    pub fn take(&mut self, matrix: &Symmetric, wanted: impl Fn(usize) -> bool) {
        let pattern = &*matrix.pattern;
        // Columns ascend within a row: those of its own column of the triangle come first, then those of later ones.
        let each = |visit: &mut dyn FnMut(usize, usize, f64)| {
            for j in 0..pattern.n {
                for k in pattern.starts[j] as usize..pattern.starts[j + 1] as usize {
                    let (i, value) = (pattern.rows[k] as usize, matrix.values[k]);
                    if value == 0.0 || !wanted(j - i) {
                        continue;
                    }
                    visit(j, i, value);
                    if i != j {
                        visit(i, j, value);
                    }
                }
            }
        };
        self.starts.clear();
        self.starts.resize(pattern.n + 1, 0);
        each(&mut |row, _, _| self.starts[row + 1] += 1);
        (0..pattern.n).for_each(|row| self.starts[row + 1] += self.starts[row]);
        self.filled.clear();
        self.filled
            .extend((0..pattern.n as u32).filter(|&row| self.starts[row as usize] < self.starts[row as usize + 1]));
        self.next.clone_from(&self.starts);
        let count = self.starts[pattern.n] as usize;
        self.columns.resize(count, 0);
        self.values.resize(count, 0.0);
        each(&mut |row, column, value| {
            let slot = self.next[row] as usize;
            (self.columns[slot], self.values[slot]) = (column as u32, value);
            self.next[row] += 1;
        });
    }

    /// Columns and values of a row.
    #[inline]
    fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[i] as usize..self.starts[i + 1] as usize;
        self.columns[range.clone()].iter().zip(&self.values[range]).map(|(&column, &value)| (column as usize, value))
    }

    /// A row times a vector.
    #[inline]
    pub fn times(&self, i: usize, x: &[f64]) -> f64 {
        self.row(i).map(|(column, value)| value * x[column]).sum()
    }

    /// Those of some rows that have entries.
    pub fn filled(&self, rows: Range<usize>) -> &[u32] {
        let place = |row: usize| self.filled.partition_point(|&filled| (filled as usize) < row);
        &self.filled[place(rows.start)..place(rows.end)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::la::Pattern;
    use std::sync::Arc;

    #[test]
    fn rows_give_the_product_of_the_matrix() {
        let cliques: [&[u32]; 3] = [&[0, 2, 3], &[1, 3], &[2, 4]];
        let mut a = Symmetric::zeros(Arc::new(Pattern::from_cliques(5, cliques.iter().copied())));
        a.values.iter_mut().enumerate().for_each(|(k, value)| *value = (k % 3) as f64);
        let (x, mut ax) = ([1.0, -2.0, 3.0, 0.5, 7.0], [0.0; 5]);
        a.multiply(&x, &mut ax);
        let mut rows = Rows::default();
        rows.take(&a, |_| true);
        assert_eq!([0, 1, 2, 3, 4].map(|row| rows.times(row, &x)), ax);
        assert!(rows.row(2).map(|(column, _)| column).is_sorted());
        rows.take(&a, |distance| distance > 1);
        assert_eq!(rows.row(3).map(|(column, _)| column).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((rows.filled(0..5), rows.filled(1..3)), (&[0, 1, 2, 3, 4][..], &[1, 2][..]));
        rows.take(&a, |distance| distance > 2);
        assert_eq!((rows.filled(0..5), rows.filled(1..3)), (&[0, 3][..], &[][..]));
    }
}
