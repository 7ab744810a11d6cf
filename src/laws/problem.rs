//! Contact problems of any laws: Gauss–Seidel on the local problems, with a ladder of variants behind it, because each of them
//! cycles on some problems, (T57)–(T58), and the enumeration of all states behind that.

use super::solvers::enumerate;
use super::{Complementarity, Delassus, Law, Outcome, Relaxation, Site, Solver};
use crate::case::data::ContactSolver;
use std::ops::Range;

/// Problems up to this size are solved by trying all states when every variant fails.
const ENUMERATED: usize = 6;

/// Variants of Gauss–Seidel in the order in which they are tried.
const VARIANTS: [Relaxation; 4] = [
    Relaxation { together: true, part: 1.0 },
    Relaxation { together: false, part: 1.0 },
    Relaxation { together: true, part: 0.5 },
    Relaxation { together: false, part: 0.3 },
];

/// A contact of a problem.
#[derive(Clone, Copy)]
pub struct Local {
    /// Its normal row; the tangential row is the next, if it has one.
    pub row: usize,
    /// Its law.
    pub law: &'static dyn Law,
    /// The constant of that law.
    pub constant: f64,
}

impl Local {
    /// Its rows.
    pub fn rows(&self) -> Range<usize> {
        self.row..self.row + self.law.rows()
    }

    /// Its part of impulses and velocities.
    #[inline]
    pub fn site(&self, w: &[f64; 4], r: &[f64], u: &[f64]) -> Site {
        let pair = |x: &[f64]| [x[self.row], if self.law.rows() > 1 { x[self.row + 1] } else { 0.0 }];
        Site { w: *w, constant: self.constant, r: pair(r), u: pair(u) }
    }
}

/// u = W r + b, where every contact obeys its law. Vectors run over all rows.
pub struct Problem<'a> {
    /// Operator.
    pub delassus: &'a Delassus,
    /// Contacts that take part.
    pub contacts: &'a [Local],
    /// Velocity without impulse, plus restitution.
    pub b: &'a [f64],
}

/// Room for the solution of problems.
#[derive(Default)]
pub struct Scratch {
    rows: Vec<u32>,
    blocks: Vec<[f64; 4]>,
}

impl Scratch {
    /// For problems of so many contacts.
    pub fn new(contacts: usize) -> Scratch {
        Scratch { rows: Vec::with_capacity(contacts), blocks: Vec::with_capacity(contacts) }
    }
}

impl Problem<'_> {
    /// Solves for `r`, which holds the warm start; `u` becomes W r + b. Where all contacts are unilateral, it is a
    /// [`Complementarity`].
    pub fn solve(&self, settings: &ContactSolver, scratch: &mut Scratch, r: &mut [f64], u: &mut [f64]) -> Outcome {
        let Scratch { rows, blocks } = scratch;
        if self.contacts.iter().all(|contact| contact.law.rows() == 1) {
            rows.clear();
            rows.extend(self.contacts.iter().map(|contact| contact.row as u32));
            let problem = Complementarity { delassus: self.delassus, active: rows, b: self.b };
            return problem.solve(settings, r, u);
        }
        blocks.clear();
        blocks.extend(self.contacts.iter().map(|contact| self.block(contact)));
        let mut outcome = Outcome { method: Solver::Pgs, ..Default::default() };
        for (rung, how) in VARIANTS.into_iter().enumerate() {
            if rung > 0 {
                self.contacts.iter().for_each(|contact| r[contact.rows()].fill(0.0));
            }
            outcome.residual = self.residual(r, u, blocks);
            let mut sweeps = 0;
            while outcome.residual > settings.tolerance && sweeps < settings.sweeps {
                for (contact, block) in self.contacts.iter().zip(&*blocks) {
                    self.relax(contact, block, how, r, u);
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
        if self.contacts.len() <= ENUMERATED {
            if enumerate::solve(self, settings.tolerance, r, u, blocks) {
                outcome.method = Solver::Enumeration;
                outcome.residual = self.residual(r, u, blocks);
                outcome.converged = outcome.residual <= settings.tolerance;
            } else {
                outcome.impossible = enumerate::refute(self, r, u, blocks);
            }
        }
        outcome
    }

    /// W of a contact on itself: NN, NT, TN, TT.
    fn block(&self, contact: &Local) -> [f64; 4] {
        let n = contact.row;
        let entry = |column: usize, row: usize| {
            self.delassus.column(column).iter().find(|(i, _)| *i as usize == row).map_or(0.0, |(_, w)| *w)
        };
        if contact.law.rows() > 1 {
            [entry(n, n), entry(n + 1, n), entry(n, n + 1), entry(n + 1, n + 1)]
        } else {
            [entry(n, n), 0.0, 0.0, 1.0]
        }
    }

    /// Solves one contact with the others as they are, and lets all of them feel it.
    fn relax(&self, contact: &Local, block: &[f64; 4], how: Relaxation, r: &mut [f64], u: &mut [f64]) {
        let site = contact.site(block, r, u);
        let new = contact.law.relax(&site, how);
        for (k, row) in contact.rows().enumerate() {
            let step = new[k] - site.r[k];
            if step != 0.0 {
                r[row] = new[k];
                for &(j, entry) in self.delassus.column(row) {
                    u[j as usize] += entry * step;
                }
            }
        }
    }

    /// Overwrites u with W r + b and returns the worst residual of a law, (T58), over max |b|.
    pub(super) fn residual(&self, r: &[f64], u: &mut [f64], blocks: &[[f64; 4]]) -> f64 {
        for contact in self.contacts {
            contact.rows().for_each(|row| u[row] = self.b[row]);
        }
        for contact in self.contacts {
            for row in contact.rows().filter(|&row| r[row] != 0.0) {
                for &(j, entry) in self.delassus.column(row) {
                    u[j as usize] += entry * r[row];
                }
            }
        }
        let (mut worst, mut scale) = (0.0_f64, 0.0_f64);
        for (contact, block) in self.contacts.iter().zip(blocks) {
            let natural = contact.law.residual(&contact.site(block, r, u));
            worst = if natural.is_nan() { f64::INFINITY } else { worst.max(natural) };
            contact.rows().for_each(|row| scale = scale.max(self.b[row].abs()));
        }
        if worst == 0.0 { 0.0 } else { worst / scale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Coulomb;

    /// A mass of one in a wedge of two planes, turned from the vertical by ±angle, that hits both at once with velocity `v`:
    /// W and b of Newton's law with restitution e.
    fn wedge(angle: f64, v: [f64; 2], e: f64) -> (Vec<Vec<f64>>, Vec<f64>) {
        let (s, c) = angle.sin_cos();
        let rows = [[c, s], [s, -c], [-c, s], [s, c]];
        let times = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
        let w = rows.iter().map(|a| rows.iter().map(|b| times(*a, *b)).collect()).collect();
        let b = (0..4).map(|k| times(rows[k], v) * if k % 2 == 0 { 1.0 + e } else { 1.0 });
        (w, b.collect())
    }

    fn solve(w: &[Vec<f64>], b: &[f64], mu: f64) -> Outcome {
        let delassus = Delassus::full(w);
        let contacts = [0, 2].map(|row| Local { row, law: &Coulomb, constant: mu });
        let problem = Problem { delassus: &delassus, contacts: &contacts, b };
        let settings = ContactSolver { sweeps: 2000, tolerance: 1e-10, ..Default::default() };
        problem.solve(&settings, &mut Scratch::default(), &mut [0.0; 4], &mut [0.0; 4])
    }

    #[test]
    fn problems_without_a_solution_are_proven_to_have_none() {
        let mut seed = 5_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut counts = [0; 3];
        for _ in 0..2000 {
            let (angle, mu) = (0.05 + 1.4 * random(), 1.5 * random());
            let (v, e) = ([2.0 * random() - 1.0, -random()], random());
            let (w, b) = wedge(angle, v, e);
            let outcome = solve(&w, &b, mu);
            assert!(!(outcome.converged && outcome.impossible));
            counts[if outcome.converged { 0 } else { 1 + usize::from(outcome.impossible) }] += 1;
            // With e = 0 the mass at rest between the planes is a solution, or one of them is left.
            let (w, b) = wedge(angle, v, 0.0);
            assert!(!solve(&w, &b, mu).impossible, "{angle} {mu} {v:?}");
        }
        // Solved, undecided, impossible.
        assert!(counts[0] > 1000 && counts[1] == 0 && counts[2] > 100, "{counts:?}");
    }
}
