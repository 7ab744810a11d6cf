//! Errors of steps of a tableau from the steps themselves, (T110)–(T113): a [`Method`] around a method.
//!
//! The change of acceleration stands for the error of the smooth motion, the change of impulses for that of their instants;
//! no second integration is needed. Must not know the tolerance, nor what becomes of the step.

use super::{Attempt, Estimate, KeptFactors, Method};
use crate::case::data::ErrorNorm;
use crate::la::{Factor, dot};
use crate::schemes::Tableau;
use crate::state::State;
use crate::system::System;
use crate::{Error, Result};

/// A method whose steps come with an estimate of their error.
pub struct Embedded<'a> {
    inner: Box<dyn Method + 'a>,
    row: Tableau,
    measure: Measure<'a>,
    /// The start of a step whose size is not that of the last.
    start: State,
    /// Impulses of the last step in the rows of this one.
    before: Vec<f64>,
    vector: Vec<f64>,
}

impl<'a> Embedded<'a> {
    /// Estimates for the steps of `inner`, which takes this row of the tableau on this system.
    pub fn new(inner: Box<dyn Method + 'a>, row: Tableau, system: &'a System, norm: ErrorNorm) -> Result<Embedded<'a>> {
        let vector = vec![0.0; system.nodes.total];
        let measure = Measure::new(system, norm)?;
        Ok(Embedded { inner, row, measure, start: State::default(), before: Vec::new(), vector })
    }

    /// Instants of accelerations lag behind their steps by this part of them.
    fn lag(&self) -> f64 {
        self.row.alpha_f - self.row.alpha_m
    }

    /// Whether the acceleration at the start must be moved where the size of steps changes, (T113).
    fn shifts(&self) -> bool {
        self.lag() != 0.0 && self.row.g0 != 0.0
    }

    /// A copy of the start for a step of another size: with accelerations at the instant that the row takes them for, and
    /// impulses of that many forces, from which the search for new ones begins.
    fn start_for(&mut self, from: &State, h: f64) {
        self.start.copy_from(from);
        let ratio = h / from.h;
        self.start.impulse.iter_mut().for_each(|impulse| *impulse *= ratio);
        if self.shifts() {
            let exact = &mut self.vector;
            self.measure.acceleration(from, exact);
            self.start.a.iter_mut().zip(exact).for_each(|(a, exact)| *a = *exact + ratio * (*a - *exact));
            // M a belongs to the acceleration that was there.
            self.start.inertia.clear();
        }
    }

    fn estimate(&mut self, from: &State, h: f64, before: f64, to: &Attempt) -> Estimate {
        let (row, lag) = (&self.row, self.lag());
        let sum = row.b0 + row.b1;
        // After the shift both accelerations lag by the same time.
        let last = if self.shifts() { h } else { before };
        let apart = h * (1.0 - lag) + last * lag;
        let first = h * h * (0.5 - sum);
        let jerk = (first * lag * last + h.powi(3) * (1.0 / 6.0 + sum * lag - row.b1)) / apart;
        let velocity = if row.order() == 2 { 0.0 } else { h * h * (0.5 + lag - row.g1) / apart };
        let change = |weights: [f64; 2], vector: &mut [f64]| {
            for ((x, a0), a1) in vector.iter_mut().zip(&from.a[..]).zip(&to.state.a[..]) {
                *x = weights[0] * a0 + weights[1] * (a1 - a0);
            }
        };
        change([first, jerk], &mut self.vector);
        let mut smooth = self.measure.of_positions(&to.state.q, &mut self.vector);
        if velocity != 0.0 {
            change([0.0, velocity], &mut self.vector);
            smooth = self.measure.with_velocities(smooth, h, &mut self.vector);
        }
        to.scene.recall(from, &mut self.before);
        self.before.iter_mut().zip(&to.state.impulse).for_each(|(before, impulse)| *before = impulse - *before);
        let contact = self.measure.of_impulses(&to.state.q, h, to, &self.before, &mut self.vector);
        Estimate { smooth, contact, violation: self.measure.violation(from, to), order: self.row.order() }
    }
}

impl Method for Embedded<'_> {
    fn initial_attempt(&mut self, h: f64) -> Result<Attempt> {
        self.inner.initial_attempt(h)
    }

    fn attempt(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) -> Result<()> {
        let before = if from.h > 0.0 { from.h } else { h };
        if before != h {
            self.start_for(from, h);
            let start = std::mem::take(&mut self.start);
            let result = self.inner.attempt(&start, h, t1, to);
            to.error = result.is_ok().then(|| self.estimate(&start, h, before, to));
            self.start = start;
            return result;
        }
        self.inner.attempt(from, h, t1, to)?;
        to.error = Some(self.estimate(from, h, before, to));
        Ok(())
    }

    fn kept(&self) -> KeptFactors {
        self.inner.kept()
    }

    fn restore(&mut self, kept: KeptFactors) -> Result<()> {
        self.inner.restore(kept)
    }

    fn factorization(&self) -> &'static str {
        self.inner.factorization()
    }
}

/// Norms of errors: of positions by mass, or of energies.
pub(super) struct Measure<'a> {
    system: &'a System,
    norm: ErrorNorm,
    mass: Factor,
    /// Root of the mass that moves.
    root_mass: f64,
    gaps: Vec<f64>,
    product: Vec<f64>,
    scratch: Vec<f64>,
}

impl<'a> Measure<'a> {
    pub fn new(system: &'a System, norm: ErrorNorm) -> Result<Measure<'a>> {
        let n = system.nodes.total;
        let mut mass = Factor::new(&system.mass.pattern, system.nodes.free);
        mass.factor(&system.regular_mass())
            .map_err(|s| Error::Solver(format!("the mass matrix is singular near {}", system.describe(s.row))))?;
        let mut product = vec![0.0; n];
        // What supports hold makes no error, and has no share in its mean.
        let moves = |dof| dof < system.nodes.free && !system.nodes.is_rotation(dof);
        let ones: Vec<f64> = (0..n).map(|dof| f64::from(moves(dof))).collect();
        system.inertia.multiply(&ones, &mut product);
        let root_mass = (dot(&ones, &product) / system.nodes.dimension as f64).sqrt();
        Ok(Measure { system, norm, mass, root_mass, gaps: Vec::new(), product, scratch: vec![0.0; n] })
    }

    /// Of an error `x` of positions at `q`; held degrees of freedom are where they must be.
    pub fn of_positions(&mut self, q: &[f64], x: &mut [f64]) -> f64 {
        x[self.system.nodes.free..].fill(0.0);
        match self.norm {
            ErrorNorm::Position => self.by_mass(x) / self.root_mass,
            ErrorNorm::Energy => {
                self.product.fill(0.0);
                self.system.add_stiffness_times(q, x, 1.0, &mut self.scratch, &mut self.product);
                (0.5 * dot(x, &self.product)).max(0.0).sqrt()
            }
        }
    }

    /// That of positions together with an error `x` of velocities.
    fn with_velocities(&mut self, positions: f64, h: f64, x: &mut [f64]) -> f64 {
        x[self.system.nodes.free..].fill(0.0);
        match self.norm {
            ErrorNorm::Position => positions + h * self.by_mass(x) / self.root_mass,
            ErrorNorm::Energy => positions.hypot(f64::sqrt(0.5) * self.by_mass(x)),
        }
    }

    fn by_mass(&mut self, x: &[f64]) -> f64 {
        self.system.inertia.multiply(x, &mut self.product);
        dot(x, &self.product).max(0.0).sqrt()
    }

    /// Of impulses of which so much was not there in the last step: they are placed in time to half a step, (T112). Contact
    /// on massless nodes is a force that acts through the elements, and shows in the accelerations.
    fn of_impulses(&mut self, q: &[f64], h: f64, to: &Attempt, change: &[f64], x: &mut [f64]) -> f64 {
        if self.system.redistribution.is_some() || change.iter().all(|&part| part == 0.0) {
            return 0.0;
        }
        let free = self.system.nodes.free;
        x.fill(0.0);
        to.scene.push(change, x);
        x[free..].fill(0.0);
        self.scratch.copy_from_slice(x);
        self.mass.solve(x);
        match self.norm {
            ErrorNorm::Position => 0.5 * h * dot(x, &self.scratch).max(0.0).sqrt() / self.root_mass,
            ErrorNorm::Energy => 0.5 * h * self.of_positions(q, x),
        }
    }

    /// Penetration that a step added at any of its contacts.
    pub fn violation(&mut self, from: &State, to: &Attempt) -> f64 {
        to.scene.gaps(&from.q, 0, &mut self.gaps);
        let mut worst = 0.0_f64;
        for (contact, (before, after)) in self.gaps.iter().zip(&to.gaps).enumerate() {
            if to.scene.responds(contact) {
                worst = worst.max(before.min(0.0) - after.min(0.0));
            }
        }
        worst
    }

    /// Overwrites `a` with the acceleration that balances all forces of a state but those of contact.
    fn acceleration(&mut self, state: &State, a: &mut [f64]) {
        let (system, free) = (self.system, self.system.nodes.free);
        a.fill(0.0);
        for (dof, function) in &system.drives {
            a[*dof] = function.second_rate(state.time);
        }
        system.inertia.multiply(a, &mut self.product);
        system.internal(&state.q, &mut self.scratch);
        for i in 0..free {
            a[i] = system.gravity[i] - self.scratch[i] - self.product[i];
        }
        if system.is_loaded() {
            system.applied(state.time, &mut self.scratch);
            (0..free).for_each(|i| a[i] += self.scratch[i]);
        }
        if system.damped {
            system.viscous(&state.q, &state.v, &mut self.scratch);
            (0..free).for_each(|i| a[i] -= self.scratch[i]);
        }
        system.redistribution.iter().flat_map(|r| r.massless()).for_each(|&i| a[i] = 0.0);
        self.mass.solve(a);
    }
}
