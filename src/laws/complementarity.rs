//! Problems in which every contact is unilateral: 0 ≤ y = W z + b ⊥ z ≥ 0, (T52). They need no law and run in plain loops.

use super::solvers::{dense, lemke, pgs};
use super::{Delassus, Outcome, Solver};
use crate::case::data::{ContactMethod, ContactSolver};

/// Sweeps after which Gauss–Seidel is interrupted by an active set.
const FEW: usize = 100;

/// Problems up to this size may have their W factored.
const DENSE_LIMIT: usize = 1000;

/// Problems up to this size may go to Lemke's dense tableau; beyond, its memory and time grow too fast.
const LEMKE_LIMIT: usize = 300;

/// A complementarity problem on some rows; all arrays run over all rows.
pub struct Complementarity<'a> {
    /// Operator.
    pub delassus: &'a Delassus,
    /// Rows that take part.
    pub active: &'a [u32],
    /// Velocity without impulse, plus restitution.
    pub b: &'a [f64],
}

impl Complementarity<'_> {
    /// Solves for `z`, which holds the warm start; `y` becomes W z + b. One contact is solved in closed form. More go to
    /// projected Gauss–Seidel; where a hundred sweeps do not get there, to an active set on W, to the rest of the
    /// sweeps, and to Lemke's method, as far as their sizes allow.
    pub fn solve(&self, settings: &ContactSolver, z: &mut [f64], y: &mut [f64]) -> Outcome {
        let m = self.active.len();
        if m == 0 {
            return Outcome { converged: true, ..Default::default() };
        }
        if m == 1 && settings.method == ContactMethod::Auto {
            return self.closed(settings, z, y);
        }
        let mut outcome = Outcome::default();
        for rung in ladder(settings.method, m) {
            self.climb(*rung, settings, z, y, &mut outcome);
            outcome.residual = self.residual(z, y);
            if within(outcome.residual, settings.tolerance) {
                break;
            }
        }
        outcome.residual = self.residual(z, y);
        outcome.converged = within(outcome.residual, settings.tolerance);
        outcome
    }

    /// The only active contact, in closed form.
    fn closed(&self, settings: &ContactSolver, z: &mut [f64], y: &mut [f64]) -> Outcome {
        let i = self.active[0] as usize;
        let (w, b) = (self.delassus.diagonal(i), self.b[i]);
        z[i] = (-b / w).max(0.0);
        y[i] = b + w * z[i];
        let natural = (w.abs() * z[i]).min(y[i]).abs();
        let residual = if natural == 0.0 { 0.0 } else { natural / b.abs() };
        let converged = within(residual, settings.tolerance);
        Outcome { method: Solver::Closed, residual, converged, ..Default::default() }
    }

    fn climb(&self, rung: Solver, settings: &ContactSolver, z: &mut [f64], y: &mut [f64], outcome: &mut Outcome) {
        match rung {
            Solver::Pgs => {
                // On the first rung a few sweeps show whether Gauss–Seidel gets there at all.
                let few = outcome.sweeps == 0 && settings.method != ContactMethod::Pgs;
                let sweeps = if few { settings.sweeps.min(FEW) } else { settings.sweeps };
                outcome.sweeps += pgs::solve(self, settings, sweeps, z, y);
                outcome.method = Solver::Pgs;
            }
            Solver::ActiveSet => {
                if let Some(passes) = dense::solve(self, settings.tolerance, z, y) {
                    outcome.sweeps += passes;
                    outcome.method = Solver::ActiveSet;
                }
            }
            _ => {
                if let Some(pivots) = lemke::solve(self, z) {
                    outcome.sweeps += pivots;
                    outcome.method = Solver::Lemke;
                }
            }
        }
    }

    /// Overwrites y with W z + b and returns the natural-map residual max |min(|W_ii| z_i, y_i)| over max |b|.
    pub fn residual(&self, z: &[f64], y: &mut [f64]) -> f64 {
        self.product(z, y);
        let (mut worst, mut scale) = (0.0_f64, 0.0_f64);
        for &i in self.active {
            let i = i as usize;
            let natural = (self.delassus.diagonal(i).abs() * z[i]).min(y[i]).abs();
            worst = if natural.is_nan() { f64::INFINITY } else { worst.max(natural) };
            scale = scale.max(self.b[i].abs());
        }
        if worst == 0.0 { 0.0 } else { worst / scale }
    }

    /// Overwrites y with W z + b on the active contacts.
    pub fn product(&self, z: &[f64], y: &mut [f64]) {
        for &i in self.active {
            y[i as usize] = self.b[i as usize];
        }
        for &i in self.active {
            let zi = z[i as usize];
            if zi != 0.0 {
                for &(j, w) in self.delassus.column(i as usize) {
                    y[j as usize] += w * zi;
                }
            }
        }
    }
}

/// What is tried in turn.
fn ladder(method: ContactMethod, m: usize) -> &'static [Solver] {
    use Solver::{ActiveSet, Lemke, Pgs};
    match method {
        ContactMethod::Pgs => &[Pgs],
        ContactMethod::Lemke => &[Lemke],
        ContactMethod::Auto | ContactMethod::ActiveSet if m <= LEMKE_LIMIT => &[Pgs, ActiveSet, Pgs, Lemke],
        ContactMethod::Auto | ContactMethod::ActiveSet if m <= DENSE_LIMIT => &[Pgs, ActiveSet, Pgs],
        ContactMethod::Auto | ContactMethod::ActiveSet => &[Pgs, Pgs],
    }
}

fn within(residual: f64, tolerance: f64) -> bool {
    residual <= tolerance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    /// Exact solution by trying all sets of closed contacts.
    fn enumerate(w: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
        let m = b.len();
        (0..1u32 << m)
            .find_map(|mask| {
                let closed: Vec<usize> = (0..m).filter(|i| mask >> i & 1 == 1).collect();
                let k = closed.len();
                let a = nalgebra::DMatrix::from_fn(k, k, |i, j| w[closed[i]][closed[j]]);
                let rhs = nalgebra::DVector::from_fn(k, |i, _| -b[closed[i]]);
                let solution = if k == 0 { rhs } else { a.lu().solve(&rhs)? };
                let mut z = vec![0.0; m];
                closed.iter().enumerate().for_each(|(i, &c)| z[c] = solution[i]);
                let feasible = (0..m).all(|i| {
                    let y = b[i] + (0..m).map(|j| w[i][j] * z[j]).sum::<f64>();
                    z[i] >= 0.0 && (z[i] > 0.0 || y >= 0.0)
                });
                feasible.then_some(z)
            })
            .unwrap()
    }

    #[test]
    fn gauss_seidel_and_lemke_agree_with_enumeration() {
        let mut seed = 7;
        for trial in 0..500 {
            let m = 1 + trial % 7;
            let factor: Vec<Vec<f64>> = (0..m).map(|_| (0..m + 2).map(|_| random(&mut seed)).collect()).collect();
            let w: Vec<Vec<f64>> = (0..m)
                .map(|i| (0..m).map(|j| factor[i].iter().zip(&factor[j]).map(|(a, b)| a * b).sum::<f64>()).collect())
                .collect();
            let b: Vec<f64> = (0..m).map(|_| random(&mut seed) - 0.2).collect();
            let delassus = Delassus::full(&w);
            let active: Vec<u32> = (0..m as u32).collect();
            let problem = Complementarity { delassus: &delassus, active: &active, b: &b };
            let exact = enumerate(&w, &b);
            let size = exact.iter().fold(1.0_f64, |a, x| a.max(*x));
            for method in [ContactMethod::Auto, ContactMethod::Pgs, ContactMethod::Lemke] {
                let settings = ContactSolver { method, sweeps: 1_000_000, tolerance: 1e-13, ..Default::default() };
                let (mut z, mut y) = (vec![0.0; m], vec![0.0; m]);
                let outcome = problem.solve(&settings, &mut z, &mut y);
                assert!(outcome.converged, "{method:?} {outcome:?}");
                // A residual of 1e-13 leaves an error of that over the smallest eigenvalue of W.
                let worst = (0..m).map(|i| (z[i] - exact[i]).abs()).fold(0.0, f64::max);
                assert!(worst < 1e-7 * size, "{method:?} trial {trial}: {worst}");
            }
        }
    }

    #[test]
    fn too_few_sweeps_are_reported_and_not_hidden() {
        // Two nearly dependent contacts: Gauss–Seidel crawls.
        let delassus = Delassus::full(&[vec![1.0, 0.9999], vec![0.9999, 1.0]]);
        let problem = Complementarity { delassus: &delassus, active: &[0, 1], b: &[-1.0, -1.00001] };
        let settings = ContactSolver { method: ContactMethod::Pgs, sweeps: 3, ..Default::default() };
        let (mut z, mut y) = (vec![0.0; 2], vec![0.0; 2]);
        let outcome = problem.solve(&settings, &mut z, &mut y);
        assert!(!outcome.converged && outcome.sweeps == 3);
        let auto = ContactSolver { method: ContactMethod::Auto, ..settings };
        let outcome = problem.solve(&auto, &mut z, &mut y);
        assert!(outcome.converged && outcome.method == Solver::ActiveSet, "{outcome:?}");
    }
}
