//! What every step asks of every candidate, packed: a candidate itself is ten times as long, and thousands of them at rest
//! would be read from memory again and again for a few numbers each.

use super::candidate::Candidate;
use crate::state::Key;
use std::ops::Range;

/// Rows and gaps of the candidates of a scene. What is asked for together lies together.
#[derive(Clone, Debug, Default)]
pub(super) struct Packed {
    pub contacts: Vec<Contact>,
    /// Who touches what.
    pub keys: Vec<Key>,
    /// Rows of the contact matrix, and one more.
    lines: Vec<Line>,
    /// Entries of rows beyond their first.
    others: Vec<(u32, f64)>,
    /// Coefficients of restitution of the rows.
    pub restitution: Vec<f64>,
    /// Velocities of obstacles along the rows at the start and at the end of the step, and whether all of them are zero.
    drift: Vec<[f64; 2]>,
    still: bool,
    /// Whether every candidate is a row with one entry and a flat gap, and no obstacle moves: nothing else to look for.
    simple: bool,
}

/// A candidate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    /// Gap without displacement, at the start and at the end of the step; not a number where the gap is curved.
    pub level: [f64; 2],
    row: u32,
    rows: u8,
    /// Whether an impulse can move anything.
    pub responds: bool,
}

/// A row of the contact matrix. Most have one entry: a degree of freedom and its coefficient.
#[derive(Clone, Copy, Debug)]
struct Line {
    part: f64,
    dof: u32,
    /// Place of the other entries, which end where those of the next row begin.
    others: u32,
}

impl Packed {
    /// Takes up the candidates as they stand.
    pub fn pack(&mut self, candidates: &[Candidate]) {
        let Packed { contacts, keys, lines, others, restitution, drift, still, simple } = self;
        contacts.clear();
        keys.clear();
        lines.clear();
        others.clear();
        restitution.clear();
        drift.clear();
        *still = true;
        for candidate in candidates {
            let row = lines.len() as u32;
            for (row, entries) in candidate.rows_of() {
                let restituted = row == candidate.row || candidate.law.moreau;
                restitution.push(if restituted { candidate.law.restitution } else { 0.0 });
                let rates = [0, 1].map(|end| candidate.drift_of(row, end));
                *still &= rates == [0.0; 2];
                drift.push(rates);
                let mut moving = entries.entries().iter().filter(|(_, part)| *part != 0.0);
                let &(dof, part) = moving.next().unwrap_or(&(0, 0.0));
                lines.push(Line { dof, part, others: others.len() as u32 });
                others.extend(moving);
            }
            let (rows, level) = (lines.len() as u32 - row, candidate.shift.map(|shift| candidate.level(shift)));
            contacts.push(Contact { level, row, rows: rows as u8, responds: candidate.responds });
            keys.push(candidate.key);
        }
        let flat = contacts.iter().all(|contact| contact.rows == 1 && !contact.level[0].is_nan());
        *simple = *still && others.is_empty() && flat;
        lines.push(Line { dof: 0, part: 0.0, others: others.len() as u32 });
    }

    /// Rows of a candidate: normal, and tangential with friction.
    #[inline]
    pub fn rows_of(&self, candidate: usize) -> Range<usize> {
        let &Contact { row, rows, .. } = &self.contacts[candidate];
        row as usize..row as usize + rows as usize
    }

    /// Velocity of the obstacle along a row at the start and at the end of the step.
    #[inline]
    pub fn drift(&self, row: usize) -> [f64; 2] {
        if self.still { [0.0; 2] } else { self.drift[row] }
    }

    /// A row of G times a vector, given by its entries.
    #[inline]
    pub fn rate(&self, row: usize, x: impl Fn(usize) -> f64) -> f64 {
        if self.simple {
            let Line { dof, part, .. } = self.lines[row];
            return part * x(dof as usize);
        }
        let &[Line { dof, part, others: begin }, Line { others: end, .. }] = &self.lines[row..row + 2] else {
            return 0.0;
        };
        let mut rate = part * x(dof as usize);
        if begin < end {
            for &(dof, part) in &self.others[begin as usize..end as usize] {
                rate += part * x(dof as usize);
            }
        }
        rate
    }

    /// Relative velocities along all rows for the velocities `v` at the start (0) or at the end (1) of the step.
    pub fn rates(&self, v: &[f64], end: usize, rates: &mut [f64]) {
        if self.simple {
            let lines = self.lines.iter();
            rates.iter_mut().zip(lines).for_each(|(rate, line)| *rate = line.part * v[line.dof as usize]);
        } else {
            let rate = |row| self.rate(row, |dof| v[dof]) - self.drift(row)[end];
            rates.iter_mut().enumerate().for_each(|(row, value)| *value = rate(row));
        }
    }

    /// Overwrites `gaps` with those of all candidates at displacement `q`, the obstacles where they are at the start (0) or at
    /// the end (1) of the step; `curved` gives those that are not flat.
    pub fn gaps(&self, q: &[f64], end: usize, curved: impl Fn(usize) -> f64, gaps: &mut Vec<f64>) {
        gaps.clear();
        if self.simple {
            let candidates = self.contacts.iter().zip(&self.lines);
            gaps.extend(candidates.map(|(contact, line)| contact.level[end] + line.part * q[line.dof as usize]));
            return;
        }
        gaps.extend(self.contacts.iter().enumerate().map(|(candidate, contact)| {
            let level = contact.level[end];
            if level.is_nan() { curved(candidate) } else { level + self.rate(contact.row as usize, |dof| q[dof]) }
        }));
    }

    /// f += G p.
    pub fn push(&self, p: &[f64], f: &mut [f64]) {
        if self.simple {
            return self.lines.iter().zip(p).for_each(|(line, p)| f[line.dof as usize] += p * line.part);
        }
        for (lines, &p) in self.lines.windows(2).zip(p).filter(|(_, p)| **p != 0.0) {
            f[lines[0].dof as usize] += p * lines[0].part;
            for &(dof, part) in &self.others[lines[0].others as usize..lines[1].others as usize] {
                f[dof as usize] += p * part;
            }
        }
    }
}
