//! Coulomb friction in the plane, (T57)–(T58): Gauss–Seidel on blocks of normal and tangential rows, with a ladder of
//! variants behind it, because each of them cycles on some problems.

use super::delassus::Delassus;
use super::solver::{Method, Outcome};
use crate::case::data::ContactSolver;
use nalgebra::{DMatrix, DVector};

/// Problems up to this size are solved by trying all states when every variant fails.
const ENUMERATED: usize = 6;

/// A law that is missed by this part of the largest velocity is missed, whatever the rounding.
const MARGIN: f64 = 1e-6;

/// Singular values below this part of the largest are zero.
const RANK: f64 = 1e-10;

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
        if self.contacts.len() <= ENUMERATED {
            if self.enumerate(settings.tolerance, r, u, blocks) {
                outcome.method = Method::Enumeration;
                outcome.residual = self.residual(r, u, blocks);
                outcome.converged = outcome.residual <= settings.tolerance;
            } else {
                outcome.impossible = self.refute(r, u, blocks);
            }
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
        (0..self.states()).any(|code| {
            let state = self.state(code);
            let right = state.right(self.b);
            let solution = if state.rows.is_empty() { Some(right) } else { state.matrix.clone().lu().solve(&right) };
            solution.is_some_and(|solution| {
                self.set(&state, &solution, r);
                self.residual(r, u, blocks) <= tolerance
            })
        })
    }

    /// Whether no state of the contacts has a solution, by a margin far above rounding. Every solution belongs to a state, and
    /// a state whose equations are regular has one candidate. Where they are singular, either they contradict each other, or
    /// impulses that do nothing are left free; then only what does not depend on these can refute the state.
    fn refute(&self, r: &mut [f64], u: &mut [f64], blocks: &[[f64; 4]]) -> bool {
        let scale = self.contacts.iter().flat_map(|c| self.rows(c)).map(|row| self.b[row].abs()).fold(0.0, f64::max);
        (0..self.states()).all(|code| {
            let state = self.state(code);
            let right = state.right(self.b);
            if state.rows.is_empty() {
                self.set(&state, &right, r);
                return self.residual(r, u, blocks) > MARGIN;
            }
            let svd = state.matrix.clone().svd(true, true);
            let floor = RANK * svd.singular_values.amax();
            let Ok(solution) = svd.solve(&right, floor) else { return false };
            if (&state.matrix * &solution - &right).amax() > MARGIN * scale {
                return true;
            }
            self.set(&state, &solution, r);
            let residual = self.residual(r, u, blocks);
            let Some(v_t) = svd.v_t.as_ref().filter(|_| svd.singular_values.amin() <= floor) else {
                return residual > MARGIN;
            };
            // Velocities are the same for all solutions if the free impulses move nothing.
            let (speeds, mut idle) = (u.to_vec(), true);
            for k in (0..svd.singular_values.len()).filter(|&k| svd.singular_values[k] <= floor) {
                let more = &solution + v_t.row(k).transpose() * (1.0 + solution.amax());
                self.set(&state, &more, r);
                self.residual(r, u, blocks);
                let rows = || self.contacts.iter().flat_map(|c| self.rows(c));
                idle &= rows().all(|row| (u[row] - speeds[row]).abs() <= MARGIN * scale);
            }
            let penetrates = |contact: &Rough| speeds[contact.row] < -MARGIN * scale;
            idle && self.contacts.iter().any(penetrates)
        })
    }

    /// Number of combinations of states.
    fn states(&self) -> u32 {
        self.contacts.iter().map(|contact| if contact.friction > 0.0 { 4 } else { 2 }).product()
    }

    /// The combination of states with this number.
    fn state(&self, mut code: u32) -> State {
        let (mut columns, mut rows) = (Vec::new(), Vec::new());
        for contact in self.contacts {
            let count = if contact.friction > 0.0 { 4 } else { 2 };
            let (n, state) = (contact.row, code % count);
            code /= count;
            match state {
                0 => {}
                1 if contact.friction > 0.0 => {
                    columns.extend([vec![(n, 1.0)], vec![(n + 1, 1.0)]]);
                    rows.extend([n, n + 1]);
                }
                1 => {
                    columns.push(vec![(n, 1.0)]);
                    rows.push(n);
                }
                side => {
                    let sign = if side == 2 { -1.0 } else { 1.0 };
                    columns.push(vec![(n, 1.0), (n + 1, sign * contact.friction)]);
                    rows.push(n);
                }
            }
        }
        let mut matrix = DMatrix::zeros(rows.len(), rows.len());
        for (j, combination) in columns.iter().enumerate() {
            for &(column, factor) in combination {
                for (i, &row) in rows.iter().enumerate() {
                    let entry = self.delassus.column(column).iter().find(|(at, _)| *at as usize == row);
                    matrix[(i, j)] += factor * entry.map_or(0.0, |(_, w)| *w);
                }
            }
        }
        State { columns, rows, matrix }
    }

    /// Overwrites the impulses by those of a state.
    fn set(&self, state: &State, solution: &DVector<f64>, r: &mut [f64]) {
        self.contacts.iter().for_each(|contact| self.rows(contact).for_each(|row| r[row] = 0.0));
        for (value, combination) in solution.iter().zip(&state.columns) {
            combination.iter().for_each(|&(column, factor)| r[column] += factor * value);
        }
    }
}

/// What every contact does, and the equations of that: unknowns are combinations of impulses, and some rows must vanish.
struct State {
    columns: Vec<Vec<(usize, f64)>>,
    rows: Vec<usize>,
    matrix: DMatrix<f64>,
}

impl State {
    fn right(&self, b: &[f64]) -> DVector<f64> {
        DVector::from_fn(self.rows.len(), |i, _| -b[self.rows[i]])
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

/// Part of its diagonal below which the determinant of a block is rounding.
const SINGULAR: f64 = 1e-12;

/// Solves one contact exactly while the others stand still; `None` where no state fits, and where the node can move in one
/// direction only, so that sticking leaves the impulses undetermined.
fn solve_block(w: &[f64; 4], mu: f64, r: [f64; 2], u: [f64; 2]) -> Option<[f64; 2]> {
    let [nn, nt, tn, tt] = *w;
    let b = [u[0] - nn * r[0] - nt * r[1], u[1] - tn * r[0] - tt * r[1]];
    if b[0] >= 0.0 {
        return Some([0.0, 0.0]);
    }
    let determinant = nn * tt - nt * tn;
    if determinant.abs() <= SINGULAR * (nn * tt).abs() {
        return None;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let contacts = [0, 2].map(|row| Rough { row, friction: mu });
        let problem = Frictional { delassus: &delassus, contacts: &contacts, b };
        let settings = ContactSolver { sweeps: 2000, tolerance: 1e-10, ..Default::default() };
        problem.solve(&settings, &mut [0.0; 4], &mut [0.0; 4], &mut Vec::new())
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
