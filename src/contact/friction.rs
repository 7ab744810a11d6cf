//! Coulomb friction in the plane, (T57)–(T58): Gauss–Seidel on blocks of normal and tangential rows, with a ladder of
//! variants behind it, because each of them cycles on some problems.

use super::delassus::Delassus;
use super::solver::{Method, Outcome};
use crate::case::data::ContactSolver;
use nalgebra::{DMatrix, DVector};

/// Problems up to this size are solved by trying all states when every variant fails.
const ENUMERATED: usize = 6;

/// A contact of the problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rough {
    /// Its normal row; with friction the tangential row is the next.
    pub row: usize,
    /// Coefficient of friction.
    pub friction: f64,
}

/// u = W r + b with 0 ≤ u_N ⊥ r_N ≥ 0 and |r_T| ≤ μ r_N, r_T = −μ r_N sign(u_T) where something slides. Vectors run over
/// all rows.
pub struct Frictional<'a> {
    /// Operator.
    pub delassus: &'a Delassus,
    /// Contacts that take part.
    pub contacts: &'a [Rough],
    /// Velocity without impulse, plus restitution.
    pub b: &'a [f64],
}

/// How one contact is solved while the others stand still.
#[derive(Clone, Copy, PartialEq)]
enum Local {
    /// Normal and tangent together: open, stick, slip one way or the other.
    Block,
    /// The normal first, then the tangent.
    Apart,
}

/// Variants in the order in which they are tried, with their relaxation.
const LADDER: [(Local, f64); 4] = [(Local::Block, 1.0), (Local::Apart, 1.0), (Local::Block, 0.5), (Local::Apart, 0.3)];

impl Frictional<'_> {
    /// Solves for `r`, which holds the warm start; `u` becomes W r + b. `blocks` is scratch.
    pub fn solve(&self, settings: &ContactSolver, r: &mut [f64], u: &mut [f64], blocks: &mut Vec<[f64; 4]>) -> Outcome {
        let mut outcome = Outcome { method: Method::Pgs, ..Default::default() };
        blocks.clear();
        blocks.extend(self.contacts.iter().map(|contact| self.block(contact)));
        for (rung, (local, relaxation)) in LADDER.into_iter().enumerate() {
            if rung > 0 {
                self.contacts.iter().for_each(|contact| self.rows(contact).for_each(|row| r[row] = 0.0));
            }
            outcome.residual = self.residual(r, u, blocks);
            let mut sweeps = 0;
            while outcome.residual > settings.tolerance && sweeps < settings.sweeps {
                for (contact, block) in self.contacts.iter().zip(&*blocks) {
                    self.relax(contact, block, local, relaxation, r, u);
                }
                sweeps += 1;
                outcome.residual = self.residual(r, u, blocks);
            }
            outcome.sweeps += sweeps;
            outcome.converged = outcome.residual <= settings.tolerance;
            if outcome.converged {
                return outcome;
            }
        }
        if self.contacts.len() <= ENUMERATED && self.enumerate(settings.tolerance, r, u, blocks) {
            outcome.method = Method::Enumeration;
            outcome.residual = self.residual(r, u, blocks);
            outcome.converged = outcome.residual <= settings.tolerance;
        }
        outcome
    }

    fn rows(&self, contact: &Rough) -> std::ops::Range<usize> {
        contact.row..contact.row + 1 + usize::from(contact.friction > 0.0)
    }

    /// W of a contact on itself: NN, NT, TN, TT.
    fn block(&self, contact: &Rough) -> [f64; 4] {
        let n = contact.row;
        let entry = |column: usize, row: usize| {
            self.delassus.column(column).iter().find(|(i, _)| *i as usize == row).map_or(0.0, |(_, w)| *w)
        };
        if contact.friction > 0.0 {
            [entry(n, n), entry(n + 1, n), entry(n, n + 1), entry(n + 1, n + 1)]
        } else {
            [entry(n, n), 0.0, 0.0, 1.0]
        }
    }

    /// One contact with the others as they are.
    fn relax(&self, contact: &Rough, w: &[f64; 4], local: Local, relaxation: f64, r: &mut [f64], u: &mut [f64]) {
        let (n, mu) = (contact.row, contact.friction);
        let old = [r[n], if mu > 0.0 { r[n + 1] } else { 0.0 }];
        let speed = [u[n], if mu > 0.0 { u[n + 1] } else { 0.0 }];
        let block = (local == Local::Block && mu > 0.0).then(|| solve_block(w, mu, old, speed)).flatten();
        let mut new = block.unwrap_or_else(|| {
            let normal = (old[0] - speed[0] / w[0]).max(0.0);
            // The change of the normal part moves the contact along the tangent as well.
            let sliding = speed[1] + w[2] * (normal - old[0]);
            [normal, (old[1] - sliding / w[3]).clamp(-mu * normal, mu * normal)]
        });
        if relaxation != 1.0 {
            new[0] = old[0] + relaxation * (new[0] - old[0]);
            let bound = mu * new[0];
            new[1] = (old[1] + relaxation * (new[1] - old[1])).clamp(-bound, bound);
        }
        for k in self.rows(contact) {
            let step = new[k - n] - old[k - n];
            if step != 0.0 {
                r[k] = new[k - n];
                for &(j, entry) in self.delassus.column(k) {
                    u[j as usize] += entry * step;
                }
            }
        }
    }

    /// Overwrites u with W r + b and returns the natural-map residual in velocities, (T58), over max |b|.
    pub fn residual(&self, r: &[f64], u: &mut [f64], blocks: &[[f64; 4]]) -> f64 {
        for contact in self.contacts {
            self.rows(contact).for_each(|row| u[row] = self.b[row]);
        }
        for contact in self.contacts {
            for row in self.rows(contact).filter(|&row| r[row] != 0.0) {
                for &(j, entry) in self.delassus.column(row) {
                    u[j as usize] += entry * r[row];
                }
            }
        }
        let (mut worst, mut scale) = (0.0_f64, 0.0_f64);
        for (contact, w) in self.contacts.iter().zip(blocks) {
            let natural = natural_map(contact, w, r, u);
            worst = if natural.is_nan() { f64::INFINITY } else { worst.max(natural) };
            self.rows(contact).for_each(|row| scale = scale.max(self.b[row].abs()));
        }
        if worst == 0.0 { 0.0 } else { worst / scale }
    }

    /// Tries all states of all contacts: open, sticking, sliding either way.
    fn enumerate(&self, tolerance: f64, r: &mut [f64], u: &mut [f64], blocks: &[[f64; 4]]) -> bool {
        let states: Vec<u32> = self.contacts.iter().map(|c| if c.friction > 0.0 { 4 } else { 2 }).collect();
        for mut code in 0..states.iter().product::<u32>() {
            // Unknowns: (column combination, row that vanishes).
            let mut unknowns: Vec<(Vec<(usize, f64)>, usize)> = Vec::new();
            for (contact, count) in self.contacts.iter().zip(&states) {
                let (n, state) = (contact.row, code % count);
                code /= count;
                match state {
                    0 => {}
                    1 if contact.friction > 0.0 => unknowns.extend([(vec![(n, 1.0)], n), (vec![(n + 1, 1.0)], n + 1)]),
                    1 => unknowns.push((vec![(n, 1.0)], n)),
                    side => {
                        let sign = if side == 2 { -1.0 } else { 1.0 };
                        unknowns.push((vec![(n, 1.0), (n + 1, sign * contact.friction)], n));
                    }
                }
            }
            let k = unknowns.len();
            let mut matrix = DMatrix::zeros(k, k);
            for (j, (columns, _)) in unknowns.iter().enumerate() {
                for &(column, factor) in columns {
                    for (i, (_, row)) in unknowns.iter().enumerate() {
                        let entry = self.delassus.column(column).iter().find(|(at, _)| *at as usize == *row);
                        matrix[(i, j)] += factor * entry.map_or(0.0, |(_, w)| *w);
                    }
                }
            }
            let right = DVector::from_fn(k, |i, _| -self.b[unknowns[i].1]);
            let Some(solution) = (if k == 0 { Some(right) } else { matrix.lu().solve(&right) }) else { continue };
            self.contacts.iter().for_each(|contact| self.rows(contact).for_each(|row| r[row] = 0.0));
            for (value, (columns, _)) in solution.iter().zip(&unknowns) {
                columns.iter().for_each(|&(column, factor)| r[column] += factor * value);
            }
            if self.residual(r, u, blocks) <= tolerance {
                return true;
            }
        }
        false
    }
}

/// How far a contact is from its law, as a velocity.
#[inline]
pub fn natural_map(contact: &Rough, w: &[f64; 4], r: &[f64], u: &[f64]) -> f64 {
    let n = contact.row;
    let normal = (w[0].abs() * r[n]).min(u[n]).abs();
    if contact.friction == 0.0 {
        return normal;
    }
    let bound = contact.friction * r[n].max(0.0);
    let tangential = w[3].abs() * (r[n + 1] - (r[n + 1] - u[n + 1] / w[3].abs()).clamp(-bound, bound)).abs();
    normal.max(tangential)
}

/// Solves one contact exactly while the others stand still; `None` where no state fits.
fn solve_block(w: &[f64; 4], mu: f64, r: [f64; 2], u: [f64; 2]) -> Option<[f64; 2]> {
    let [nn, nt, tn, tt] = *w;
    let b = [u[0] - nn * r[0] - nt * r[1], u[1] - tn * r[0] - tt * r[1]];
    if b[0] >= 0.0 {
        return Some([0.0, 0.0]);
    }
    let determinant = nn * tt - nt * tn;
    let stick = [(nt * b[1] - tt * b[0]) / determinant, (tn * b[0] - nn * b[1]) / determinant];
    if stick[1].abs() <= mu * stick[0] {
        return Some(stick);
    }
    [1.0, -1.0].into_iter().find_map(|sign| {
        let denominator = nn - sign * mu * nt;
        let normal = -b[0] / denominator;
        let tangent = -sign * mu * normal;
        let sliding = b[1] + tn * normal + tt * tangent;
        (denominator > 0.0 && sign * sliding >= 0.0).then_some([normal, tangent])
    })
}
