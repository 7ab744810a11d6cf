//! Active sets inside the factorization: contacts that each act on one degree of freedom, where W = s GᵀA⁻¹G + ρ GᵀM⁻¹G. Where
//! ρ is not zero the matrix is doubled beforehand, and axes of nodes are turned to tilted normals.
//!
//! The contacts taken as closed become rows with a prescribed velocity, their impulses are the reactions, and the set is
//! corrected until nothing contradicts it, (T62). No W, no tolerance, and a cost per pass like that of a step. On stiff beams
//! the set may cycle; an interior point on the same matrix then finds a better one.

use super::doubled::Doubled;
use super::{Outcome, Solver};
use crate::la::{Bands, CHUNK, Factor, Symmetric, larger};
use crate::relations::turn::{Turn, Turned};
use std::ops::Range;

/// Passes without fewer contradictions after which the interior point is asked.
const PATIENCE: usize = 10;

/// Passes after which the search is given up.
const PASSES: usize = 200;

/// A contact on one degree of freedom, along the axis that this is turned to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Its row.
    pub row: usize,
    /// The degree of freedom.
    pub dof: usize,
    /// Its coefficient in the gradient.
    pub part: f64,
}

/// A [`Bound`] in the order and the sizes that the search needs.
#[derive(Clone, Copy)]
struct Held {
    row: u32,
    dof: u32,
    part: f64,
    /// Diagonal entry of W, as far as the diagonal of the matrix alone gives it.
    answer: f64,
}

/// The solver with its factor, which stays while the matrix and the set do.
pub struct ActiveSet {
    doubled: Option<Doubled>,
    turned: Option<Turned>,
    /// W is this times GᵀA⁻¹G of the matrix that is factored.
    scale: f64,
    /// The matrix that is factored, for products, while it is known.
    bands: Bands,
    known: bool,
    masked: Symmetric,
    factor: Factor,
    free: usize,
    /// All contacts, on the unknowns of the matrix that is factored, and which of them are closed.
    contacts: Vec<Held>,
    closed: Vec<bool>,
    /// Closed contacts that the factor belongs to, if there is one; the same one after the other, and their unknowns from the
    /// first to the last.
    factored: Vec<bool>,
    valid: bool,
    shut: Vec<Held>,
    span: Range<usize>,
    /// Prescribed velocities of these, their signs turned; zero elsewhere.
    held: Vec<f64>,
    marks: Vec<bool>,
    x: Vec<f64>,
    image: Vec<f64>,
}

impl ActiveSet {
    /// For matrices on the pattern of a mass matrix with so many free rows, shares s and ρ in W, contacts, and axes turned
    /// where these need it; `None` if the pattern does not let them be turned.
    pub fn new(
        mass: &Symmetric,
        free: usize,
        [s, rho]: [f64; 2],
        bounds: &[Bound],
        turns: &[Turn],
    ) -> Option<ActiveSet> {
        let doubled = (rho != 0.0).then(|| Doubled::new(mass, [s, rho]));
        let (matrix, fold, scale) = doubled.as_ref().map_or((mass, 1, s), |doubled| (doubled.like(), 2, 1.0));
        let turns: Vec<Turn> =
            turns.iter().map(|turn| Turn { dofs: turn.dofs.map(|dof| fold * dof), ..*turn }).collect();
        let (n, free) = (matrix.pattern.n, fold * free);
        let contact =
            |b: &Bound| Held { row: b.row as u32, dof: (fold * b.dof) as u32, part: b.part, answer: f64::NAN };
        Some(ActiveSet {
            turned: if turns.is_empty() { None } else { Some(Turned::new(matrix, &turns)?) },
            scale,
            bands: Bands::new(&matrix.pattern),
            known: false,
            masked: Symmetric::zeros(matrix.pattern.clone()),
            factor: Factor::new(&matrix.pattern, free),
            free,
            contacts: bounds.iter().map(contact).collect(),
            closed: vec![false; bounds.len()],
            factored: vec![false; bounds.len()],
            valid: false,
            shut: Vec::with_capacity(bounds.len()),
            span: 0..0,
            held: vec![0.0; n],
            marks: vec![false; n],
            x: vec![0.0; n],
            image: vec![0.0; n],
            doubled,
        })
    }

    /// The matrix has changed.
    pub fn clear(&mut self) {
        self.valid = false;
        self.known = false;
        self.doubled.iter_mut().for_each(Doubled::clear);
        self.turned.iter_mut().for_each(Turned::clear);
    }

    /// Velocities that the impulses of the last solve made, in every row; unknown in turned axes and on a doubled matrix.
    pub fn change(&self) -> Option<&[f64]> {
        (self.turned.is_none() && self.doubled.is_none()).then_some(&self.x)
    }

    /// Solves 0 ≤ y = W p + b ⊥ p ≥ 0 with W = s GᵀA⁻¹G + ρ GᵀM⁻¹G on the contacts `active`; `p` holds the warm start, rows
    /// of other contacts stay as they are. `answers` is told the diagonal of a new W, as far as diagonals alone give it.
    pub fn solve(
        &mut self,
        matrix: &Symmetric,
        active: &[u32],
        b: &[f64],
        p: &mut [f64],
        mut answers: impl FnMut(usize, f64),
    ) -> Outcome {
        // Taken out for the while, because the search changes everything else.
        let (mut doubled, mut turned) = (self.doubled.take(), self.turned.take());
        let matrix = doubled.as_mut().map_or(matrix, |doubled| doubled.of(matrix));
        let matrix = turned.as_mut().map_or(matrix, |turned| turned.of(matrix));
        if !self.known {
            self.known = true;
            self.bands.take(matrix);
            for contact in &mut self.contacts {
                contact.answer = self.scale * contact.part * contact.part / diagonal(matrix, contact.dof as usize);
                answers(contact.row as usize, contact.answer);
            }
        }
        let outcome = self.search(matrix, active, b, p);
        (self.doubled, self.turned) = (doubled, turned);
        outcome
    }

    fn search(&mut self, matrix: &Symmetric, active: &[u32], b: &[f64], p: &mut [f64]) -> Outcome {
        let mut outcome = Outcome { method: Solver::ActiveSet, ..Default::default() };
        let (mut size, mut warm) = (0.0, false);
        self.closed.fill(false);
        // Slices of its own here and below: what a vector keeps of itself would be read again behind every number written.
        let (contacts, closed) = (&self.contacts[..], &mut self.closed[..]);
        for &i in active {
            let row = contacts[i as usize].row as usize;
            size = larger(size, b[row].abs());
            closed[i as usize] = p[row] > 0.0;
            warm |= p[row] > 0.0;
        }
        if !warm {
            let row = |i: u32| self.contacts[i as usize].row as usize;
            active.iter().for_each(|&i| self.closed[i as usize] = b[row(i)] < 0.0);
        }
        let slack = 1e-14 * size;
        let (mut best, mut patience, mut helped) = (usize::MAX, PATIENCE, false);
        while outcome.sweeps < PASSES {
            outcome.sweeps += 1;
            if !self.equilibrate(matrix, b) {
                break;
            }
            let (wrong, worst) = self.judge(active, b, p, slack);
            outcome.residual = if worst == 0.0 { 0.0 } else { worst / size };
            if wrong == 0 {
                outcome.converged = true;
                return outcome;
            }
            patience = if wrong < best { PATIENCE } else { patience - 1 };
            best = best.min(wrong);
            if patience == 0 {
                if helped {
                    break;
                }
                outcome.sweeps += self.interior_point(matrix, active, b, size);
                (best, patience, helped) = (usize::MAX, PATIENCE, true);
            }
        }
        outcome
    }

    /// Velocities with the closed contacts at rest, and the forces that hold them there.
    fn equilibrate(&mut self, matrix: &Symmetric, b: &[f64]) -> bool {
        let known = self.valid && self.factored == self.closed;
        if !known && !self.factorize(matrix) {
            return false;
        }
        let (shut, held) = (&self.shut[..], &mut self.held[..]);
        for &Held { row, dof, part, .. } in shut {
            held[dof as usize] = b[row as usize] / part;
        }
        let (Range { start, end }, reach) = (self.span.clone(), self.bands.reach());
        let near = start.saturating_sub(reach)..(end + reach).min(self.free);
        self.x[..near.start].fill(0.0);
        self.x[near.end..].fill(0.0);
        for rows in chunks(near) {
            self.bands.rows_times(rows.clone(), [&self.held], [&mut self.x[rows]]);
        }
        let (held, x) = (&self.held[..], &mut self.x[..]);
        for contact in shut {
            let dof = contact.dof as usize;
            x[dof] = -held[dof];
        }
        self.factor.solve(&mut self.x);
        self.x[self.free..].fill(0.0);
        for rows in chunks(start..end) {
            self.bands.rows_times(rows.clone(), [&self.x], [&mut self.image[rows]]);
        }
        true
    }

    /// Factors the matrix with the closed contacts as equations of their own.
    fn factorize(&mut self, matrix: &Symmetric) -> bool {
        self.marks.fill(false);
        self.held.fill(0.0);
        self.shut.clear();
        self.shut
            .extend(self.contacts.iter().zip(&self.closed).filter(|(_, closed)| **closed).map(|(contact, _)| *contact));
        let dofs = || self.shut.iter().map(|contact| contact.dof as usize);
        self.span = dofs().min().map_or(0..0, |first| first..dofs().max().map_or(first, |last| last + 1));
        dofs().for_each(|dof| self.marks[dof] = true);
        self.masked.values.copy_from_slice(&matrix.values);
        let pattern = &matrix.pattern;
        for column in 0..self.free {
            for k in pattern.starts[column] as usize..pattern.starts[column + 1] as usize {
                let row = pattern.rows[k] as usize;
                if self.marks[row] || self.marks[column] {
                    self.masked.values[k] = if row == column { 1.0 } else { 0.0 };
                }
            }
        }
        self.factored.copy_from_slice(&self.closed);
        self.valid = self.factor.factor(&self.masked).is_ok();
        self.valid
    }

    /// Impulses of the closed contacts, and what contradicts the set: it is taken out or in. Returns how much, and the
    /// largest entry of the natural map.
    fn judge(&mut self, active: &[u32], b: &[f64], p: &mut [f64], slack: f64) -> (usize, f64) {
        let (contacts, closed) = (&self.contacts[..], &mut self.closed[..]);
        let (x, image, scale) = (&self.x[..], &self.image[..], self.scale);
        let (mut wrong, mut worst) = (0, 0.0);
        for &i in active {
            let (contact, closed) = (&contacts[i as usize], &mut closed[i as usize]);
            let (row, dof, part) = (contact.row as usize, contact.dof as usize, contact.part);
            let y = b[row] + part * x[dof];
            let force = if *closed { image[dof] / (scale * part) } else { 0.0 };
            p[row] = force;
            let contradicted = if *closed { force < 0.0 } else { y < -slack };
            wrong += usize::from(contradicted);
            *closed ^= contradicted;
            let push = contact.answer * force;
            worst = larger(worst, if push < y { push.abs() } else { y.abs() });
        }
        (wrong, worst)
    }

    /// Sets `closed` from an interior point: impulses and gaps both positive, their products driven to zero together.
    /// Returns the number of its passes.
    fn interior_point(&mut self, matrix: &Symmetric, active: &[u32], b: &[f64], size: f64) -> usize {
        self.valid = false;
        let (m, scale) = (active.len(), self.scale);
        let bound = |&i: &u32| {
            let Held { row, dof, part, .. } = self.contacts[i as usize];
            Bound { row: row as usize, dof: dof as usize, part }
        };
        let bounds: Vec<Bound> = active.iter().map(bound).collect();
        let stiff: Vec<f64> = active.iter().map(|&i| 1.0 / self.contacts[i as usize].answer).collect();
        let mut y = vec![size; m];
        let mut p: Vec<f64> = stiff.iter().map(|k| k * size).collect();
        let mut x = vec![0.0; matrix.pattern.n];
        for pass in 1..=60 {
            let mean = (0..m).map(|i| y[i] * p[i] / (stiff[i] * size * size)).sum::<f64>() / m as f64;
            matrix.multiply(&x, &mut self.image);
            self.masked.values.copy_from_slice(&matrix.values);
            self.x.fill(0.0);
            for i in 0..self.free {
                self.x[i] = -self.image[i];
            }
            let target = |i: usize| 0.1 * mean * stiff[i] * size * size;
            for (i, bound) in bounds.iter().enumerate() {
                // dp = (target − y p − p dy)/y with dy = part dx + (b + part x − y).
                let missing = b[bound.row] + bound.part * x[bound.dof] - y[i];
                let step = (target(i) - p[i] * missing) / y[i];
                self.x[bound.dof] += scale * bound.part * step;
                self.masked.add(bound.dof, bound.dof, scale * bound.part * bound.part * p[i] / y[i]);
            }
            if self.factor.factor(&self.masked).is_err() {
                return pass;
            }
            self.factor.solve(&mut self.x);
            self.x[self.free..].fill(0.0);
            let mut length = 1.0_f64;
            let mut steps = Vec::with_capacity(m);
            for (i, bound) in bounds.iter().enumerate() {
                let dy = bound.part * (self.x[bound.dof] + x[bound.dof]) + b[bound.row] - y[i];
                let dp = (target(i) - y[i] * p[i] - p[i] * dy) / y[i];
                for (value, step) in [(y[i], dy), (p[i], dp)] {
                    if step < 0.0 {
                        length = length.min(-0.99 * value / step);
                    }
                }
                steps.push((dy, dp));
            }
            for (i, (dy, dp)) in steps.into_iter().enumerate() {
                y[i] += length * dy;
                p[i] += length * dp;
            }
            for i in 0..self.free {
                x[i] += length * self.x[i];
            }
            if mean < 1e-12 {
                self.choose(active, &stiff, &y, &p);
                return pass;
            }
        }
        self.choose(active, &stiff, &y, &p);
        60
    }

    fn choose(&mut self, active: &[u32], stiff: &[f64], y: &[f64], p: &[f64]) {
        for (i, &contact) in active.iter().enumerate() {
            self.closed[contact as usize] = p[i] > stiff[i] * y[i];
        }
    }
}

/// Rows in pieces that suit products with bands.
fn chunks(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    rows.clone().step_by(CHUNK).map(move |start| start..(start + CHUNK).min(rows.end))
}

/// Diagonal entry of a matrix.
pub fn diagonal(matrix: &Symmetric, i: usize) -> f64 {
    // The diagonal is the last entry of a column of the upper triangle.
    matrix.values[matrix.pattern.starts[i + 1] as usize - 1]
}
