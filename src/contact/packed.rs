//! What every step asks of every candidate, packed: a candidate itself is ten times as long, and thousands of them at rest
//! would be read from memory again and again for a few numbers each.

use super::candidate::{Candidate, Key};
use std::ops::Range;

/// Rows and gaps of the candidates of a scene.
#[derive(Clone, Debug, Default)]
pub(super) struct Packed {
    /// First row of every candidate, and the number of all rows.
    rows: Vec<u32>,
    /// Start of every row in `entries`.
    starts: Vec<u32>,
    /// Degrees of freedom and coefficients that are not zero.
    entries: Vec<(u32, f64)>,
    /// Coefficient of restitution of every row.
    restitution: Vec<f64>,
    /// Velocity of the obstacle along every row at the start and at the end of the step.
    drift: Vec<[f64; 2]>,
    /// Gap of every candidate without displacement, at the start and at the end; not a number where the gap is curved.
    level: Vec<[f64; 2]>,
    responds: Vec<bool>,
    keys: Vec<Key>,
}

impl Packed {
    /// Takes up the candidates as they stand.
    pub fn pack(&mut self, candidates: &[Candidate]) {
        self.rows.clear();
        self.starts.clear();
        self.entries.clear();
        self.restitution.clear();
        self.drift.clear();
        self.level.clear();
        self.responds.clear();
        self.keys.clear();
        for candidate in candidates {
            self.rows.push(candidate.row as u32);
            self.level.push(candidate.shift.map(|shift| candidate.level(shift)));
            self.responds.push(candidate.responds);
            self.keys.push(candidate.key);
            for (row, entries) in candidate.rows_of() {
                self.starts.push(self.entries.len() as u32);
                self.entries.extend(entries.entries().iter().filter(|(_, part)| *part != 0.0));
                let restituted = row == candidate.row || candidate.law.moreau;
                self.restitution.push(if restituted { candidate.law.restitution } else { 0.0 });
                self.drift.push([0, 1].map(|end| candidate.drift_of(row, end)));
            }
        }
        self.rows.push(self.starts.len() as u32);
        self.starts.push(self.entries.len() as u32);
    }

    /// Rows of a candidate: normal, and tangential with friction.
    #[inline]
    pub fn rows_of(&self, candidate: usize) -> Range<usize> {
        self.rows[candidate] as usize..self.rows[candidate + 1] as usize
    }

    /// A row of G times a vector, given by its entries.
    #[inline]
    pub fn rate(&self, row: usize, x: impl Fn(usize) -> f64) -> f64 {
        let entries = &self.entries[self.starts[row] as usize..self.starts[row + 1] as usize];
        entries.iter().map(|&(dof, part)| part * x(dof as usize)).sum()
    }

    /// f += G p.
    pub fn push(&self, p: &[f64], f: &mut [f64]) {
        for (row, &p) in p.iter().enumerate().filter(|(_, p)| **p != 0.0) {
            for &(dof, part) in &self.entries[self.starts[row] as usize..self.starts[row + 1] as usize] {
                f[dof as usize] += p * part;
            }
        }
    }

    #[inline]
    pub fn restitution(&self, row: usize) -> f64 {
        self.restitution[row]
    }

    #[inline]
    pub fn drift(&self, row: usize) -> [f64; 2] {
        self.drift[row]
    }

    #[inline]
    pub fn level(&self, candidate: usize) -> [f64; 2] {
        self.level[candidate]
    }

    #[inline]
    pub fn key(&self, candidate: usize) -> Key {
        self.keys[candidate]
    }

    #[inline]
    pub fn responds(&self, candidate: usize) -> bool {
        self.responds[candidate]
    }
}
