//! The Delassus operator W by columns, found when a contact is first active and kept while the matrices stand.

use crate::relations::Candidate;
use crate::relations::candidate::Row;

/// Columns of W over all rows of a scene; entries too small to matter are left out.
#[derive(Default)]
pub struct Delassus {
    columns: Vec<Vec<(u32, f64)>>,
    known: Vec<bool>,
    diagonal: Vec<f64>,
    /// Stamp of the factor that the columns belong to.
    stamp: u64,
}

impl Delassus {
    /// All columns of a full matrix given by rows.
    pub fn full(matrix: &[Vec<f64>]) -> Delassus {
        let mut delassus = Delassus::default();
        delassus.resize(matrix.len());
        for j in 0..matrix.len() {
            delassus.insert_entries(j, matrix[j][j], (0..matrix.len()).map(|i| (i as u32, matrix[i][j])));
        }
        delassus
    }

    /// Makes room for so many rows; columns that are known stay.
    pub fn resize(&mut self, rows: usize) {
        if self.columns.len() < rows {
            self.columns.resize_with(rows, Vec::new);
        }
        self.known.resize(rows, false);
        self.diagonal.resize(rows, 0.0);
    }

    /// Forgets all columns unless they belong to the factor with this stamp.
    pub fn keep_for(&mut self, stamp: u64) {
        if self.stamp != stamp {
            self.clear();
            self.stamp = stamp;
        }
    }

    /// Forgets all columns, but not the room that they took.
    pub fn clear(&mut self) {
        self.known.fill(false);
    }

    /// Whether the column of a row is known.
    pub fn knows(&self, row: usize) -> bool {
        self.known[row]
    }

    /// Stores the column of a candidate's row: `rate` is the velocity along a row for a unit impulse along that one.
    pub fn insert<'a>(
        &mut self,
        (column, own): (usize, &Row),
        candidates: impl Iterator<Item = &'a Candidate>,
        rate: impl Fn(&Row) -> f64,
    ) {
        let rows = candidates.flat_map(|candidate| candidate.rows_of());
        self.insert_entries(column, rate(own), rows.map(|(row, entries)| (row as u32, rate(entries))));
    }

    /// Stores a column entry by entry, with its diagonal entry.
    pub fn insert_entries(&mut self, column: usize, own: f64, entries: impl Iterator<Item = (u32, f64)>) {
        // W decays along a body; what is below the round-off of the diagonal changes no digit of a velocity.
        let floor = 1e-18 * own.abs();
        let place = &mut self.columns[column];
        place.clear();
        place.extend(entries.filter(|(_, w)| w.abs() > floor));
        self.known[column] = true;
        self.diagonal[column] = own;
    }

    /// Notes what size the diagonal entry of a column has that nobody needs.
    pub fn estimate(&mut self, row: usize, size: f64) {
        if !self.known[row] {
            self.diagonal[row] = size;
        }
    }

    /// A known column.
    ///
    /// # Panics
    /// If the column was never stored.
    pub fn column(&self, row: usize) -> &[(u32, f64)] {
        assert!(self.known[row], "columns of active contacts are found before the solve");
        &self.columns[row]
    }

    /// Diagonal entry of a known column.
    pub fn diagonal(&self, row: usize) -> f64 {
        self.diagonal[row]
    }

    /// y += s W z.
    pub fn add_product(&self, s: f64, z: &[f64], y: &mut [f64]) {
        for (i, &zi) in z.iter().enumerate().filter(|(_, zi)| **zi != 0.0) {
            for &(j, a) in self.column(i) {
                y[j as usize] += s * a * zi;
            }
        }
    }
}
