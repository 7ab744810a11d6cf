//! The operator of any system: elements one after the other, and a sparse or chained factor.

use super::System;
use super::operator::{Entries, Factored, Fields, Operator, Pass};
use crate::la::{CHUNK, Factor, Singular, Symmetric};
use std::ops::Range;

/// The assembled equations with their factors.
pub struct General<'a> {
    system: &'a System,
    mass: Factor,
    /// The matrix that was prepared last, its weights and its factor.
    matrix: Symmetric,
    weights: [f64; 3],
    factor: Factor,
    last: Factored,
    /// Whether the factor and the assembled matrix are those of the last preparation.
    kept: bool,
    assembled: bool,
    scratch: Vec<f64>,
}

impl<'a> General<'a> {
    /// Factors the mass matrix.
    pub fn new(system: &'a System) -> Result<General<'a>, Singular> {
        let mut mass = Factor::new(&system.mass.pattern, system.nodes.free);
        mass.factor(&system.regular_mass())?;
        Ok(General { mass, ..General::without_mass(system) })
    }

    /// For analyses without inertia, which never ask for the factor of the mass matrix.
    pub fn without_mass(system: &'a System) -> General<'a> {
        let pattern = &system.mass.pattern;
        General {
            system,
            mass: Factor::new(pattern, 0),
            matrix: Symmetric::zeros(pattern.clone()),
            weights: [0.0; 3],
            factor: Factor::new(pattern, system.nodes.free),
            last: Factored::MASS,
            kept: false,
            assembled: false,
            scratch: vec![0.0; system.nodes.total],
        }
    }

    /// Counts a factor that was made elsewhere as the last one.
    pub(super) fn skip(&mut self, weights: [f64; 3]) -> Factored {
        (self.weights, self.kept, self.assembled) = (weights, false, false);
        self.last.stamp += 1;
        self.last
    }

    pub(super) fn last(&self) -> Factored {
        self.last
    }

    pub(super) fn damped(&self) -> bool {
        self.system.damped
    }

    /// Overwrites damping forces if anything damps.
    pub(super) fn viscous(&self, q: &[f64], v: &[f64], viscous: &mut [f64]) {
        if self.system.damped {
            self.system.viscous(q, v, viscous);
        }
    }

    /// The free rows in pieces that fit the cache.
    pub(super) fn chunks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let free = self.system.nodes.free;
        (0..free).step_by(CHUNK).map(move |start| start..free.min(start + CHUNK))
    }

    /// Number of negative pivots of the last factor.
    pub fn negative(&self) -> usize {
        self.factor.negative()
    }

    fn factor(&mut self, factor: Factored) -> &mut Factor {
        if factor == Factored::MASS { &mut self.mass } else { &mut self.factor }
    }
}

impl Operator for General<'_> {
    fn forces(&mut self, fields: Fields) -> f64 {
        self.viscous(fields.q, fields.v, fields.viscous);
        self.system.internal(fields.q, fields.internal)
    }

    fn sweep(&mut self, pass: &mut dyn Pass) -> f64 {
        for rows in self.chunks() {
            pass.place(rows);
        }
        let energy = self.forces(pass.fields());
        for rows in self.chunks() {
            pass.complete(&[rows]);
        }
        energy
    }

    fn prepare(&mut self, q: &[f64], weights: [f64; 3], extra: Option<Entries>) -> Result<Factored, Singular> {
        if self.kept && self.weights == weights && extra.is_none() {
            return Ok(self.last);
        }
        self.skip(weights);
        self.matrix(q);
        if let Some(entries) = extra {
            let (matrix, free) = (&mut self.matrix, self.system.nodes.free);
            entries(&mut |i, j, value| {
                if i <= j && j < free {
                    matrix.add(i, j, value);
                }
            });
        }
        self.factor.factor(&self.matrix)?;
        self.kept = self.system.linear && extra.is_none();
        Ok(self.last)
    }

    fn solve(&mut self, factor: Factored, x: &mut [f64]) {
        self.factor(factor).solve(x);
    }

    fn solve_at(&mut self, factor: Factored, rows: &mut dyn Iterator<Item = usize>, x: &mut [f64]) {
        self.factor(factor).solve_at(rows, x);
    }

    fn correct(&mut self, b: &[f64], a: &mut [f64]) {
        self.scratch.copy_from_slice(b);
        self.factor.solve(&mut self.scratch);
        a.iter_mut().zip(&self.scratch).take(self.system.nodes.free).for_each(|(a, x)| *a -= *x);
    }

    fn matrix(&mut self, q: &[f64]) -> &Symmetric {
        if !self.assembled {
            let [m, c, k] = self.weights;
            self.system.effective(q, m, c, k, &mut self.matrix);
            self.assembled = true;
        }
        &self.matrix
    }

    fn factorization(&self) -> &'static str {
        self.factor.name()
    }
}
