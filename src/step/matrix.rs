//! The matrix of a pass, Â = m M + c C + k K, and its factor: of chains of beams without assembly, else sparse.

use super::beams::Beams;
use crate::la::{Factor, Singular, Symmetric};
use crate::system::System;

/// Forces of the elements, their tangent in Â, and solutions with it.
pub(super) struct Matrix {
    free: usize,
    assembled: Symmetric,
    factor: Factor,
    /// The faster pass of systems that are chains of beams.
    pub beams: Option<Box<Beams>>,
    /// Factors of M, C and K in the last preparation.
    weights: [f64; 3],
    /// Whether the chain has the factor, and whether the assembled matrix is that of the last preparation.
    chained: bool,
    current: bool,
}

impl Matrix {
    pub fn new(system: &System) -> Matrix {
        Matrix {
            free: system.nodes.free,
            assembled: Symmetric::zeros(system.mass.pattern.clone()),
            factor: Factor::new(&system.mass.pattern, system.nodes.free),
            beams: Beams::of(system, true).map(Box::new),
            weights: [0.0; 3],
            chained: false,
            current: false,
        }
    }

    /// Overwrites `internal` with the internal force at `q`; returns the strain energy.
    pub fn internal(&mut self, system: &System, q: &[f64], internal: &mut [f64]) -> f64 {
        match &mut self.beams {
            Some(beams) => beams.internal(q, internal),
            None => system.internal(q, internal),
        }
    }

    /// Factors Â at `q`, where the internal force has been found last; `b` is for the next correction. `bend` adds to the
    /// matrix, not of chains, what comes from elsewhere.
    pub fn prepare(
        &mut self,
        system: &System,
        q: &[f64],
        weights: [f64; 3],
        b: &[f64],
        bend: impl FnOnce(&mut Symmetric),
    ) -> Result<(), Singular> {
        self.weights = weights;
        self.current = false;
        let [m, c, k] = weights;
        self.chained = self.beams.as_mut().is_some_and(|beams| beams.factor_for(b, m, c, k));
        if self.chained {
            return Ok(());
        }
        // Either there is no chain, or its matrix is singular and the general factor says where.
        self.assemble(system, q);
        bend(&mut self.assembled);
        self.factor.factor(&self.assembled)
    }

    /// The assembled matrix of the last preparation, which was at `q`.
    pub fn assemble(&mut self, system: &System, q: &[f64]) -> &Symmetric {
        if !self.current {
            let [m, c, k] = self.weights;
            system.effective(q, m, c, k, &mut self.assembled);
            self.current = true;
        }
        &self.assembled
    }

    /// Solves in place; held degrees of freedom are left alone.
    pub fn solve(&mut self, b: &mut [f64]) {
        match &mut self.beams {
            Some(beams) if self.chained => beams.solve(b),
            _ => self.factor.solve(b),
        }
    }

    /// a −= Â⁻¹ b, with the `b` of the preparation if there was one since; `scratch` may be used.
    pub fn correct(&mut self, b: &[f64], a: &mut [f64], scratch: &mut [f64]) {
        match &mut self.beams {
            Some(beams) if self.chained => beams.correct(b, a),
            _ => {
                scratch.copy_from_slice(b);
                self.factor.solve(scratch);
                a.iter_mut().zip(scratch).take(self.free).for_each(|(a, x)| *a -= *x);
            }
        }
    }

    /// Solves in place where the right-hand side is zero but for parts with these rows.
    pub fn solve_at(&mut self, rows: impl Iterator<Item = usize>, b: &mut [f64]) {
        match &mut self.beams {
            Some(beams) if self.chained => beams.solve(b),
            _ => self.factor.solve_at(rows, b),
        }
    }

    /// Which factorization it gets.
    pub fn name(&self) -> &'static str {
        self.factor.name()
    }
}
