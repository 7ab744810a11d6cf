//! Rows of a symmetric matrix in full: a product reads each of them once and writes each value once.

use super::symmetric::Symmetric;

/// Rows of a symmetric matrix, both triangles, without the entries that are zero.
#[derive(Default)]
pub struct Rows {
    starts: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
    /// Next free place of every row while they are filled.
    next: Vec<u32>,
}

impl Rows {
    /// All rows of a matrix.
    pub fn of(matrix: &Symmetric) -> Rows {
        let mut rows = Rows::default();
        rows.take(matrix);
        rows
    }

    /// Becomes the rows of another matrix.
    pub fn take(&mut self, matrix: &Symmetric) {
        let pattern = &*matrix.pattern;
        // Columns ascend within a row: those of its own column of the triangle come first, then those of later ones.
        let each = |visit: &mut dyn FnMut(usize, usize, f64)| {
            for j in 0..pattern.n {
                for k in pattern.starts[j] as usize..pattern.starts[j + 1] as usize {
                    let (i, value) = (pattern.rows[k] as usize, matrix.values[k]);
                    if value != 0.0 {
                        visit(j, i, value);
                    }
                    if value != 0.0 && i != j {
                        visit(i, j, value);
                    }
                }
            }
        };
        self.starts.clear();
        self.starts.resize(pattern.n + 1, 0);
        each(&mut |row, _, _| self.starts[row + 1] += 1);
        (0..pattern.n).for_each(|row| self.starts[row + 1] += self.starts[row]);
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
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[i] as usize..self.starts[i + 1] as usize;
        self.columns[range.clone()].iter().zip(&self.values[range]).map(|(&column, &value)| (column as usize, value))
    }

    /// A row times a vector.
    #[inline]
    pub fn times(&self, i: usize, x: &[f64]) -> f64 {
        self.row(i).map(|(column, value)| value * x[column]).sum()
    }

    /// A row times two vectors side by side.
    #[inline]
    pub fn times_both(&self, i: usize, xy: &[[f64; 2]]) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for (column, value) in self.row(i) {
            let pair = xy[column];
            sums = [sums[0] + value * pair[0], sums[1] + value * pair[1]];
        }
        sums
    }

    /// y = A x.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        for (i, y) in y.iter_mut().enumerate() {
            *y = self.times(i, x);
        }
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
        let (x, y) = ([1.0, -2.0, 3.0, 0.5, 7.0], [0.25, 1.0, -1.0, 4.0, 2.0]);
        let [mut ax, mut ay, mut product] = [[0.0; 5]; 3];
        a.multiply(&x, &mut ax);
        a.multiply(&y, &mut ay);
        let rows = Rows::of(&a);
        rows.multiply(&x, &mut product);
        assert_eq!(product, ax);
        assert_eq!(rows.times_both(2, &[0, 1, 2, 3, 4].map(|i| [x[i], y[i]])), [ax[2], ay[2]]);
        assert!(rows.row(2).map(|(column, _)| column).is_sorted());
    }
}
