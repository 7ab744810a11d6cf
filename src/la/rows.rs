//! Rows of a symmetric matrix in full: a product reads each of them once and writes each value once.

use super::symmetric::{Pattern, Symmetric};

/// Some entries of a symmetric matrix by rows, both triangles.
pub struct Rows {
    starts: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
    /// Where the values stand in the matrix.
    places: Vec<u32>,
}

impl Rows {
    /// Entries of a pattern that `keep` wants, given its row and its place in the value array; all values are zero.
    pub fn new(pattern: &Pattern, keep: impl Fn(usize, usize) -> bool) -> Rows {
        // By rows and, within a row, by columns: those of the own column first, then those of later ones.
        let each = |visit: &mut dyn FnMut(usize, usize, usize)| {
            for j in 0..pattern.n {
                for k in pattern.starts[j] as usize..pattern.starts[j + 1] as usize {
                    let i = pattern.rows[k] as usize;
                    if keep(j, k) {
                        visit(j, i, k);
                    }
                    if i != j && keep(i, k) {
                        visit(i, j, k);
                    }
                }
            }
        };
        let mut starts = vec![0_u32; pattern.n + 1];
        each(&mut |row, _, _| starts[row + 1] += 1);
        (0..pattern.n).for_each(|row| starts[row + 1] += starts[row]);
        let count = starts[pattern.n] as usize;
        let (mut columns, mut places, mut next) = (vec![0; count], vec![0; count], starts.clone());
        each(&mut |row, column, place| {
            let slot = next[row] as usize;
            (columns[slot], places[slot]) = (column as u32, place as u32);
            next[row] += 1;
        });
        Rows { starts, columns, values: vec![0.0; count], places }
    }

    /// All entries of a matrix that are not zero.
    pub fn of(matrix: &Symmetric) -> Rows {
        let mut rows = Rows::new(&matrix.pattern, |_, place| matrix.values[place] != 0.0);
        rows.refresh(matrix);
        rows
    }

    /// Takes the values of a matrix on the same pattern.
    pub fn refresh(&mut self, matrix: &Symmetric) {
        for (value, &place) in self.values.iter_mut().zip(&self.places) {
            *value = matrix.values[place as usize];
        }
    }

    /// Columns and values of a row.
    #[inline]
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[i] as usize..self.starts[i + 1] as usize;
        self.columns[range.clone()].iter().zip(&self.values[range]).map(|(&column, &value)| (column as usize, value))
    }

    /// A row times some vectors.
    #[inline]
    pub fn times<const N: usize>(&self, i: usize, x: [&[f64]; N]) -> [f64; N] {
        let mut sums = [0.0; N];
        for (column, value) in self.row(i) {
            for k in 0..N {
                sums[k] += value * x[k][column];
            }
        }
        sums
    }

    /// y = A x.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        for (i, y) in y.iter_mut().enumerate() {
            [*y] = self.times(i, [x]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let mut some = Rows::new(&a.pattern, |row, _| row == 2);
        some.refresh(&a);
        assert_eq!(some.times(2, [&x, &y]), [ax[2], ay[2]]);
        assert_eq!(some.times(3, [&x]), [0.0]);
        assert!(rows.row(2).map(|(column, _)| column).is_sorted());
    }
}
