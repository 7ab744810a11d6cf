//! The Delassus operator W by columns, found when a contact is first active and kept while the matrices stand.

/// Columns of W over all candidates; entries too small to matter are left out.
pub struct Delassus {
    columns: Vec<Option<Vec<(u32, f64)>>>,
    diagonal: Vec<f64>,
}

impl Delassus {
    /// No column known yet.
    pub fn new(candidates: usize) -> Delassus {
        Delassus { columns: vec![None; candidates], diagonal: vec![0.0; candidates] }
    }

    /// Forgets all columns.
    pub fn clear(&mut self) {
        self.columns.fill(None);
    }

    /// Whether the column of a candidate is known.
    pub fn knows(&self, candidate: usize) -> bool {
        self.columns[candidate].is_some()
    }

    /// Stores a column: `rate(j)` is the velocity at candidate j for a unit impulse at `candidate`.
    pub fn insert(&mut self, candidate: usize, rate: impl Fn(usize) -> f64) {
        let own = rate(candidate);
        // W decays along a body; what is below the round-off of the diagonal changes no digit of a velocity.
        let floor = 1e-18 * own.abs();
        let entries = (0..self.columns.len()).map(|j| (j as u32, rate(j))).filter(|(_, w)| w.abs() > floor);
        self.columns[candidate] = Some(entries.collect());
        self.diagonal[candidate] = own;
    }

    /// A known column.
    ///
    /// # Panics
    /// If the column was never stored.
    pub fn column(&self, candidate: usize) -> &[(u32, f64)] {
        self.columns[candidate].as_deref().expect("columns of active contacts are found before the solve")
    }

    /// Diagonal entry of a known column.
    pub fn diagonal(&self, candidate: usize) -> f64 {
        self.diagonal[candidate]
    }
}
