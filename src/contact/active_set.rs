//! Active sets inside the factorization: contacts that each act on one degree of freedom, where W = s GᵀA⁻¹G + ρ GᵀM⁻¹G. Where
//! ρ is not zero the matrix is doubled beforehand, and axes of nodes are turned to tilted normals.
//!
//! The contacts taken as closed become rows with a prescribed velocity, their impulses are the reactions, and the set is
//! corrected until nothing contradicts it, (T62). No W, no tolerance, and a cost per pass like that of a step. On stiff beams
//! the set may cycle; an interior point on the same matrix then finds a better one.

use super::doubled::Doubled;
use super::solver::{Method, Outcome};
use super::turn::{Turn, Turned};
use crate::la::{Factor, Symmetric};

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

/// The solver with its factor, which stays while the matrix and the set do.
pub struct ActiveSet {
    doubled: Option<Doubled>,
    turned: Option<Turned>,
    /// W is this times GᵀA⁻¹G of the matrix that is factored.
    scale: f64,
    masked: Symmetric,
    factor: Factor,
    free: usize,
    /// Closed contacts that the factor belongs to, by degree of freedom.
    factored: Option<Vec<bool>>,
    closed: Vec<bool>,
    x: Vec<f64>,
    image: Vec<f64>,
}

impl ActiveSet {
    /// For matrices on the pattern of a mass matrix with so many free rows, shares s and ρ in W, and axes turned where
    /// contacts need it; `None` if the pattern does not let them be turned.
    pub fn new(mass: &Symmetric, free: usize, [s, rho]: [f64; 2], turns: &[Turn]) -> Option<ActiveSet> {
        let doubled = (rho != 0.0).then(|| Doubled::new(mass, [s, rho]));
        let (matrix, fold, scale) = doubled.as_ref().map_or((mass, 1, s), |doubled| (doubled.like(), 2, 1.0));
        let turns: Vec<Turn> =
            turns.iter().map(|turn| Turn { dofs: turn.dofs.map(|dof| fold * dof), ..*turn }).collect();
        let (n, free) = (matrix.pattern.n, fold * free);
        Some(ActiveSet {
            turned: if turns.is_empty() { None } else { Some(Turned::new(matrix, &turns)?) },
            scale,
            masked: Symmetric::zeros(matrix.pattern.clone()),
            factor: Factor::new(&matrix.pattern, free),
            free,
            factored: None,
            closed: vec![false; n],
            x: vec![0.0; n],
            image: vec![0.0; n],
            doubled,
        })
    }

    /// The matrix has changed.
    pub fn clear(&mut self) {
        self.factored = None;
        self.doubled.iter_mut().for_each(Doubled::clear);
        self.turned.iter_mut().for_each(Turned::clear);
    }

    /// Solves 0 ≤ y = W p + b ⊥ p ≥ 0 with W = s GᵀA⁻¹G + ρ GᵀM⁻¹G; `p` holds the warm start. Rows that are not in
    /// `bounds` stay as they are, the degrees of freedom of these become those of the matrix that is factored. `answers` is
    /// told the diagonal of W, as far as diagonals alone give it.
    pub fn solve(
        &mut self,
        matrix: &Symmetric,
        bounds: &mut [Bound],
        b: &[f64],
        p: &mut [f64],
        mut answers: impl FnMut(usize, f64),
    ) -> Outcome {
        // Taken out for the while, because the search changes everything else.
        let (mut doubled, mut turned) = (self.doubled.take(), self.turned.take());
        let fold = if doubled.is_some() { 2 } else { 1 };
        let matrix = doubled.as_mut().map_or(matrix, |doubled| doubled.of(matrix));
        let matrix = turned.as_mut().map_or(matrix, |turned| turned.of(matrix));
        for bound in bounds.iter_mut() {
            bound.dof *= fold;
            answers(bound.row, self.scale * bound.part * bound.part / diagonal(matrix, bound.dof));
        }
        let outcome = self.search(matrix, self.scale, bounds, b, p);
        (self.doubled, self.turned) = (doubled, turned);
        outcome
    }

    fn search(&mut self, matrix: &Symmetric, scale: f64, bounds: &[Bound], b: &[f64], p: &mut [f64]) -> Outcome {
        let mut outcome = Outcome { method: Method::ActiveSet, ..Default::default() };
        let size = bounds.iter().fold(0.0_f64, |size, bound| size.max(b[bound.row].abs()));
        let slack = 1e-14 * size;
        let warm = bounds.iter().any(|bound| p[bound.row] > 0.0);
        self.closed.fill(false);
        for bound in bounds {
            self.closed[bound.dof] = if warm { p[bound.row] > 0.0 } else { b[bound.row] < 0.0 };
        }
        let (mut best, mut patience, mut helped) = (usize::MAX, PATIENCE, false);
        while outcome.sweeps < PASSES {
            outcome.sweeps += 1;
            if !self.equilibrate(matrix, bounds, b) {
                break;
            }
            let (mut wrong, mut worst) = (0, 0.0_f64);
            for bound in bounds {
                let y = b[bound.row] + bound.part * self.x[bound.dof];
                let closed = self.closed[bound.dof];
                p[bound.row] = if closed { self.image[bound.dof] / (scale * bound.part) } else { 0.0 };
                let contradicted = if closed { p[bound.row] < 0.0 } else { y < -slack };
                wrong += usize::from(contradicted);
                self.closed[bound.dof] = closed != contradicted;
                let push = scale * bound.part * bound.part / diagonal(matrix, bound.dof) * p[bound.row];
                worst = worst.max(push.min(y).abs());
            }
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
                outcome.sweeps += self.interior_point(matrix, scale, bounds, b, size);
                (best, patience, helped) = (usize::MAX, PATIENCE, true);
            }
        }
        outcome
    }

    /// Velocities with the closed contacts at rest, and the forces that keep them there.
    fn equilibrate(&mut self, matrix: &Symmetric, bounds: &[Bound], b: &[f64]) -> bool {
        if self.factored.as_ref() != Some(&self.closed) {
            self.masked.values.copy_from_slice(&matrix.values);
            let pattern = &matrix.pattern;
            for column in 0..self.free {
                for k in pattern.starts[column] as usize..pattern.starts[column + 1] as usize {
                    let row = pattern.rows[k] as usize;
                    if self.closed[row] || self.closed[column] {
                        self.masked.values[k] = if row == column { 1.0 } else { 0.0 };
                    }
                }
            }
            if self.factor.factor(&self.masked).is_err() {
                self.factored = None;
                return false;
            }
            self.factored.get_or_insert_default().clone_from(&self.closed);
        }
        self.x.fill(0.0);
        for bound in bounds.iter().filter(|bound| self.closed[bound.dof]) {
            self.x[bound.dof] = -b[bound.row] / bound.part;
        }
        matrix.multiply(&self.x, &mut self.image);
        for i in 0..self.free {
            if !self.closed[i] {
                self.x[i] = -self.image[i];
            }
        }
        self.factor.solve(&mut self.x);
        self.x[self.free..].fill(0.0);
        matrix.multiply(&self.x, &mut self.image);
        true
    }

    /// Sets `closed` from an interior point: impulses and gaps both positive, their products driven to zero together.
    /// Returns the number of its passes.
    fn interior_point(&mut self, matrix: &Symmetric, scale: f64, bounds: &[Bound], b: &[f64], size: f64) -> usize {
        self.factored = None;
        let m = bounds.len();
        let stiff: Vec<f64> = bounds.iter().map(|c| diagonal(matrix, c.dof) / (scale * c.part * c.part)).collect();
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
                self.choose(bounds, &stiff, &y, &p);
                return pass;
            }
        }
        self.choose(bounds, &stiff, &y, &p);
        60
    }

    fn choose(&mut self, bounds: &[Bound], stiff: &[f64], y: &[f64], p: &[f64]) {
        for (i, bound) in bounds.iter().enumerate() {
            self.closed[bound.dof] = p[i] > stiff[i] * y[i];
        }
    }
}

/// Diagonal entry of a matrix.
pub fn diagonal(matrix: &Symmetric, i: usize) -> f64 {
    // The diagonal is the last entry of a column of the upper triangle.
    matrix.values[matrix.pattern.starts[i + 1] as usize - 1]
}
