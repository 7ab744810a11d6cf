//! Lines of unknowns in whatever order: the graph is walked, and the factor is that of a chain.

use super::chain::Chain;
use super::factor::Singular;
use super::symmetric::Pattern;

const NONE: u32 = u32::MAX;

/// Factor of a matrix whose graph consists of paths.
pub struct Paths {
    /// Rows in the order of the walk.
    order: Vec<u32>,
    /// Entries of the matrix in the order of the walk, and the pattern that they have there.
    entries: Vec<u32>,
    pattern: Pattern,
    chain: Chain<1>,
    values: Vec<f64>,
    scratch: Vec<f64>,
}

impl Paths {
    /// The walk through a pattern, if no row has more than two neighbours and there is no ring.
    pub fn recognise(pattern: &Pattern) -> Option<Paths> {
        let n = pattern.n;
        // Neighbours of every row, with the entries that join them; and the diagonal entries.
        let mut neighbours = vec![[(NONE, NONE); 2]; n];
        let mut diagonal = vec![NONE; n];
        for column in 0..n {
            for k in pattern.starts[column]..pattern.starts[column + 1] {
                let row = pattern.rows[k as usize] as usize;
                if row == column {
                    diagonal[row] = k;
                    continue;
                }
                for (a, b) in [(row, column), (column, row)] {
                    let place = neighbours[a].iter_mut().find(|(to, _)| *to == NONE)?;
                    *place = (b as u32, k);
                }
            }
        }
        let (mut order, mut entries, mut rows, mut starts) = (Vec::with_capacity(n), Vec::new(), Vec::new(), vec![0]);
        let mut seen = vec![false; n];
        for end in (0..n).filter(|&row| neighbours[row][1].0 == NONE) {
            let (mut here, mut from) = (end, NONE);
            while !seen[here] {
                seen[here] = true;
                let place = order.len() as u32;
                order.push(here as u32);
                if from != NONE {
                    entries.push(from);
                    rows.push(place - 1);
                }
                entries.push(diagonal[here]);
                rows.push(place);
                starts.push(rows.len() as u32);
                let Some(&(next, edge)) = neighbours[here].iter().find(|(to, edge)| *to != NONE && *edge != from)
                else {
                    break;
                };
                (here, from) = (next as usize, edge);
            }
        }
        // Rings have no ends to begin at.
        if order.len() < n || entries.contains(&NONE) {
            return None;
        }
        let pattern = Pattern { n, starts, rows };
        let chain = Chain::recognise(&pattern, n)?;
        Some(Paths { order, values: vec![0.0; entries.len()], scratch: vec![0.0; n], entries, pattern, chain })
    }

    /// Numerical factorization.
    pub fn factor(&mut self, values: &[f64]) -> Result<(), Singular> {
        for (own, &k) in self.values.iter_mut().zip(&self.entries) {
            *own = values[k as usize];
        }
        let factored = self.chain.factor(&self.pattern, &self.values);
        factored.map_err(|singular| Singular { row: self.order[singular.row] as usize })
    }

    /// Number of negative eigenvalues of the matrix that was factored.
    pub fn negative(&self) -> usize {
        self.chain.negative()
    }

    /// Solves in place.
    pub fn solve(&mut self, b: &mut [f64]) {
        for (x, &row) in self.scratch.iter_mut().zip(&self.order) {
            *x = b[row as usize];
        }
        self.chain.solve(&mut self.scratch);
        for (x, &row) in self.scratch.iter().zip(&self.order) {
            b[row as usize] = *x;
        }
    }
}
