//! What every step asks of every candidate, packed: a candidate itself is ten times as long, and thousands of them at rest
//! would be read from memory again and again for a few numbers each.

use super::candidate::{Candidate, Key, Row};
use std::ops::Range;

/// Rows and gaps of the candidates of a scene.
#[derive(Clone, Debug, Default)]
pub(super) struct Packed {
    pub contacts: Vec<Contact>,
    pub lines: Vec<Line>,
    /// Entries of rows beyond their first.
    others: Vec<(u32, f64)>,
}

/// A candidate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    row: u32,
    end: u32,
    /// Whether an impulse can move anything.
    pub responds: bool,
    /// Gap without displacement, at the start and at the end of the step; not a number where the gap is curved.
    pub level: [f64; 2],
    pub key: Key,
}

/// A row of the contact matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Most rows have one entry: a degree of freedom and its coefficient.
    dof: u32,
    part: f64,
    /// Place of the others, if there are any.
    others: [u32; 2],
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Velocity of the obstacle along the row at the start and at the end of the step.
    pub drift: [f64; 2],
}

impl Packed {
    /// Takes up the candidates as they stand.
    pub fn pack(&mut self, candidates: &[Candidate]) {
        self.contacts.clear();
        self.lines.clear();
        self.others.clear();
        for candidate in candidates {
            let row = self.lines.len() as u32;
            for (row, entries) in candidate.rows_of() {
                let restituted = row == candidate.row || candidate.law.moreau;
                let restitution = if restituted { candidate.law.restitution } else { 0.0 };
                let drift = [0, 1].map(|end| candidate.drift_of(row, end));
                self.add(entries, restitution, drift);
            }
            self.contacts.push(Contact {
                row,
                end: self.lines.len() as u32,
                responds: candidate.responds,
                level: candidate.shift.map(|shift| candidate.level(shift)),
                key: candidate.key,
            });
        }
    }

    fn add(&mut self, entries: &Row, restitution: f64, drift: [f64; 2]) {
        let mut moving = entries.entries().iter().filter(|(_, part)| *part != 0.0);
        let &(dof, part) = moving.next().unwrap_or(&(0, 0.0));
        let begin = self.others.len() as u32;
        self.others.extend(moving);
        self.lines.push(Line { dof, part, others: [begin, self.others.len() as u32], restitution, drift });
    }

    /// Rows of a candidate: normal, and tangential with friction.
    #[inline]
    pub fn rows_of(&self, candidate: usize) -> Range<usize> {
        let contact = &self.contacts[candidate];
        contact.row as usize..contact.end as usize
    }

    /// A row of G times a vector, given by its entries.
    #[inline]
    pub fn rate(&self, row: usize, x: impl Fn(usize) -> f64) -> f64 {
        let &Line { dof, part, others: [begin, end], .. } = &self.lines[row];
        let mut rate = part * x(dof as usize);
        if begin < end {
            for &(dof, part) in &self.others[begin as usize..end as usize] {
                rate += part * x(dof as usize);
            }
        }
        rate
    }

    /// f += G p.
    pub fn push(&self, p: &[f64], f: &mut [f64]) {
        for (line, &p) in self.lines.iter().zip(p).filter(|(_, p)| **p != 0.0) {
            f[line.dof as usize] += p * line.part;
            for &(dof, part) in &self.others[line.others[0] as usize..line.others[1] as usize] {
                f[dof as usize] += p * part;
            }
        }
    }
}
