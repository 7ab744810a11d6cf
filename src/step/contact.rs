//! Contact within a pass: impulses from (T4), or impulses and position corrections from (T7).

use super::{ACTIVATION, Attempt, Stepper};
use crate::case::data::Position;
use crate::contact::delassus::Delassus;
use crate::contact::solver::{Method, Outcome, Problem};
use crate::model::Component;
use crate::{Error, Result};

/// The answers of the step to unit impulses and, for the position-corrected form, to unit corrections.
pub(super) struct Operators {
    /// Velocity by impulse: the Delassus operator W of (T5).
    pub velocity: Delassus,
    /// Further operators of the position-corrected form, (T8).
    pub corrected: Option<Corrected>,
}

/// Operators of the position-corrected form.
pub(super) struct Corrected {
    /// Gap by correction.
    pub gap: Delassus,
    /// Gap by impulse; zero without damping.
    pub gap_by_impulse: Delassus,
    /// Velocity by correction.
    pub velocity_by_correction: Delassus,
}

impl Operators {
    pub fn new(candidates: usize, position: Position) -> Operators {
        let corrected = (position == Position::Ggl).then(|| Corrected {
            gap: Delassus::new(candidates),
            gap_by_impulse: Delassus::new(candidates),
            velocity_by_correction: Delassus::new(candidates),
        });
        Operators { velocity: Delassus::new(candidates), corrected }
    }

    /// Forgets all columns: the matrix of the step has changed.
    pub fn clear(&mut self) {
        self.velocity.clear();
        if let Some(corrected) = &mut self.corrected {
            corrected.gap.clear();
            corrected.gap_by_impulse.clear();
            corrected.velocity_by_correction.clear();
        }
    }
}

impl Stepper<'_> {
    /// Solves for the impulses (and corrections) of this pass and lets the step answer them. `delta` has been added to
    /// the acceleration already.
    pub(super) fn solve_contact(&mut self, h: f64, to: &mut Attempt) -> Result<()> {
        if self.system.contacts.is_empty() {
            return Ok(());
        }
        match self.settings.position {
            Position::Half => self.solve_impulses(h, to)?,
            Position::Ggl => self.solve_corrected(h, to)?,
        }
        let work = &self.work;
        let silent = |new: &[f64], old: &[f64]| new.iter().chain(old).all(|&x| x == 0.0);
        if silent(&work.impulse, &to.state.impulse) && silent(&work.correction, &work.correction_so_far) {
            return Ok(());
        }
        self.answer(h, to);
        Ok(())
    }

    /// (T4) on the contacts that the forecast made active.
    fn solve_impulses(&mut self, h: f64, to: &mut Attempt) -> Result<()> {
        if self.work.active.is_empty() {
            return Ok(());
        }
        for k in 0..self.work.active.len() {
            let contact = self.work.active[k] as usize;
            if !self.operators.velocity.knows(contact) {
                self.impulse_column(contact, h, &to.state.q)?;
            }
        }
        self.velocities(h, to);
        let (system, work) = (self.system, &mut self.work);
        for &i in &work.active {
            let i = i as usize;
            let candidate = &system.contacts.candidates[i];
            work.b[i] = candidate.rate(&work.first) + candidate.restitution * work.u0[i];
        }
        add_product(&self.operators.velocity, -1.0, &to.state.impulse, &mut work.b);
        let problem = Problem { delassus: &self.operators.velocity, active: &work.active, b: &work.b };
        let outcome = problem.solve(&self.settings.contact, &mut work.impulse, &mut work.y);
        self.count(outcome, to)
    }

    /// (T7): gaps by corrections, velocities by impulses. Without damping the first do not depend on the second.
    fn solve_corrected(&mut self, h: f64, to: &mut Attempt) -> Result<()> {
        let system = self.system;
        let tolerance = ACTIVATION * system.length;
        for contact in 0..system.contacts.len() {
            let pressed = self.work.correction_so_far[contact] != 0.0 || to.state.impulse[contact] != 0.0;
            if pressed && !self.operators.velocity.knows(contact) {
                self.corrected_columns(contact, h, &to.state.q)?;
            }
        }
        self.velocities(h, to);
        let work = &mut self.work;
        for i in 0..system.nodes.free {
            work.second[i] = work.q_free[i] + h * h * self.row.b1 * to.state.a[i] + work.shift[i];
        }
        work.second[system.nodes.free..].copy_from_slice(&to.state.q[system.nodes.free..]);
        // Gaps and velocities that the pass would have without any contact.
        for (i, candidate) in system.contacts.candidates.iter().enumerate() {
            work.gap_free[i] = candidate.gap(&work.second);
            work.rate_free[i] = candidate.rate(&work.first) + candidate.restitution * work.u0[i];
        }
        if let Some(corrected) = &self.operators.corrected {
            let (gaps, rates) = (&mut work.gap_free, &mut work.rate_free);
            add_product(&corrected.gap, -1.0, &work.correction_so_far, gaps);
            add_product(&corrected.gap_by_impulse, -1.0, &to.state.impulse, gaps);
            add_product(&corrected.velocity_by_correction, -1.0, &work.correction_so_far, rates);
            add_product(&self.operators.velocity, -1.0, &to.state.impulse, rates);
        }
        work.active.clear();
        let near = |&i: &u32| system.contacts.candidates[i as usize].responds && work.gap_free[i as usize] <= tolerance;
        work.active.extend((0..work.gap_free.len() as u32).filter(near));
        work.closing.clear();
        work.closing.extend_from_slice(&work.active);
        work.impulse.fill(0.0);
        work.correction.fill(0.0);
        to.active = work.active.len();
        loop {
            for k in 0..self.work.closing.len() {
                let contact = self.work.closing[k] as usize;
                if !self.operators.velocity.knows(contact) {
                    self.corrected_columns(contact, h, &to.state.q)?;
                }
            }
            self.alternate(to)?;
            // A correction may close a contact that was open without it.
            let work = &mut self.work;
            work.y.copy_from_slice(&work.gap_free);
            if let Some(corrected) = &self.operators.corrected {
                add_product(&corrected.gap, 1.0, &work.correction, &mut work.y);
                add_product(&corrected.gap_by_impulse, 1.0, &work.impulse, &mut work.y);
            }
            let before = work.closing.len();
            for i in 0..work.y.len() {
                let responds = system.contacts.candidates[i].responds;
                if responds && work.y[i] < -tolerance && !work.closing[..before].contains(&(i as u32)) {
                    work.closing.push(i as u32);
                }
            }
            if work.closing.len() == before {
                return Ok(());
            }
        }
    }

    /// Corrections for given impulses, impulses for given corrections, until both laws hold.
    fn alternate(&mut self, to: &mut Attempt) -> Result<()> {
        let Some(corrected) = &self.operators.corrected else { return Ok(()) };
        let work = &mut self.work;
        let settings = &self.settings.contact;
        let coupled = self.system.damped;
        for round in 0..50 {
            work.gap_b.copy_from_slice(&work.gap_free);
            add_product(&corrected.gap_by_impulse, 1.0, &work.impulse, &mut work.gap_b);
            let problem = Problem { delassus: &corrected.gap, active: &work.closing, b: &work.gap_b };
            // After the first round the corrections may already fit the new impulses.
            if round > 0 && problem.residual(&work.correction, &mut work.y) <= settings.tolerance {
                return Ok(());
            }
            let positions = problem.solve(settings, &mut work.correction, &mut work.y);
            work.b.copy_from_slice(&work.rate_free);
            add_product(&corrected.velocity_by_correction, 1.0, &work.correction, &mut work.b);
            let problem = Problem { delassus: &self.operators.velocity, active: &work.active, b: &work.b };
            let velocities = problem.solve(settings, &mut work.impulse, &mut work.y);
            to.sweeps += positions.sweeps + velocities.sweeps;
            to.method = velocities.method;
            let worst = if positions.converged { velocities } else { positions };
            if !worst.converged {
                return Err(self.unsolved(worst, to));
            }
            if !coupled {
                return Ok(());
            }
        }
        Err(Error::Solver(format!(
            "positions and velocities of the contacts could not be reconciled in step {} (t = {})",
            to.state.step, to.state.time
        )))
    }

    /// Velocity of the pass so far, into `first`.
    fn velocities(&mut self, h: f64, to: &Attempt) {
        let (free, work) = (self.system.nodes.free, &mut self.work);
        for i in 0..free {
            work.first[i] = work.v_free[i] + h * self.row.g1 * to.state.a[i] + work.jump[i];
        }
        work.first[free..].copy_from_slice(&to.state.v[free..]);
    }

    pub(super) fn count(&self, outcome: Outcome, to: &mut Attempt) -> Result<()> {
        to.sweeps += outcome.sweeps;
        to.method = outcome.method;
        // Far from the solution of a nonlinear step a single contact may have no answer; the next pass asks again, and
        // no step is accepted before the law holds.
        let provisional = !self.system.linear && outcome.method == Method::Closed;
        if outcome.converged || provisional { Ok(()) } else { Err(self.unsolved(outcome, to)) }
    }

    fn unsolved(&self, outcome: Outcome, to: &Attempt) -> Error {
        Error::Solver(format!(
            "contact not solved in step {} (t = {}): {} active contacts, {} sweeps, residual {:.3e} above the tolerance \
             {:.3e}; allow more sweeps or choose solver.contact.method = \"lemke\"",
            to.state.step,
            to.state.time,
            self.work.active.len(),
            outcome.sweeps,
            outcome.residual,
            self.settings.contact.tolerance
        ))
    }

    /// Column of W, (T5): GᵀÂ⁻¹[(1−α_m) M + (1−α_f) h² (b1 − g1 c) K] M⁻¹ G.
    pub(super) fn impulse_column(&mut self, contact: usize, h: f64, q: &[f64]) -> Result<()> {
        let (system, row, work) = (self.system, &self.row, &mut self.work);
        let free = system.nodes.free;
        let candidates = &system.contacts.candidates;
        work.delta.fill(0.0);
        candidates[contact].push(1.0, &mut work.delta);
        work.delta[free..].fill(0.0);
        work.first.fill(0.0);
        for i in 0..free {
            work.first[i] = (1.0 - row.alpha_m) * work.delta[i];
        }
        let stiffness = (1.0 - row.alpha_f) * h * h * (row.b1 - row.g1 * row.c);
        if stiffness != 0.0 {
            self.mass_factor.solve(&mut work.delta);
            system.add_stiffness_times(q, &work.delta, stiffness, &mut work.second, &mut work.first);
        }
        self.factor.solve(&mut work.first);
        work.first[free..].fill(0.0);
        let column = &work.first;
        self.operators.velocity.insert(contact, |j| candidates[j].rate(column));
        self.check_diagonal(contact)
    }

    /// Columns of the position-corrected form, (T8), with x = M⁻¹G:
    /// gap by correction GᵀÂ⁻¹[(1−α_m) G + (1−α_c) h g1 C x], gap by impulse −h² b1 (1−α_c) GᵀÂ⁻¹C x,
    /// velocity by correction −h g1 (1−α_f) GᵀÂ⁻¹K x, velocity by impulse Gᵀ[x − h g1 (1−α_c) Â⁻¹C x].
    fn corrected_columns(&mut self, contact: usize, h: f64, q: &[f64]) -> Result<()> {
        let (system, row, work) = (self.system, &self.row, &mut self.work);
        let free = system.nodes.free;
        let candidates = &system.contacts.candidates;
        let Some(corrected) = &mut self.operators.corrected else { return Ok(()) };
        let (x, y, scratch) = (&mut work.delta, &mut work.first, &mut work.second);
        let unit = |vector: &mut Vec<f64>, size: f64| {
            vector.fill(0.0);
            candidates[contact].push(size, vector);
            vector[free..].fill(0.0);
        };
        unit(x, 1.0);
        self.mass_factor.solve(x);
        unit(y, 1.0 - row.alpha_m);
        system.add_damping_times(q, x, (1.0 - row.alpha_c) * h * row.g1, y);
        self.factor.solve(y);
        y[free..].fill(0.0);
        corrected.gap.insert(contact, |j| candidates[j].rate(y));
        y.fill(0.0);
        system.add_damping_times(q, x, 1.0 - row.alpha_c, y);
        self.factor.solve(y);
        y[free..].fill(0.0);
        corrected.gap_by_impulse.insert(contact, |j| -h * h * row.b1 * candidates[j].rate(y));
        let velocity = |j: usize| candidates[j].rate(x) - h * row.g1 * candidates[j].rate(y);
        self.operators.velocity.insert(contact, velocity);
        y.fill(0.0);
        system.add_stiffness_times(q, x, 1.0 - row.alpha_f, scratch, y);
        self.factor.solve(y);
        y[free..].fill(0.0);
        corrected.velocity_by_correction.insert(contact, |j| -h * row.g1 * candidates[j].rate(y));
        self.check_diagonal(contact)
    }

    fn check_diagonal(&self, contact: usize) -> Result<()> {
        let entry = self.operators.velocity.diagonal(contact);
        // The tangent of a nonlinear pass far from the solution proves nothing.
        if entry > 0.0 || !self.system.linear {
            return Ok(());
        }
        let node = self.system.contacts.candidates[contact].node;
        Err(Error::Solver(format!(
            "an impulse at {} does not separate the contact (Delassus entry {entry:e}): the node is held, or the step is \
             too large for this scheme; take a smaller step, parameters with 2 beta >= gamma, or position = \"ggl\"",
            self.system.describe(self.system.nodes.dof(node, Component::X) as usize),
        )))
    }

    /// w = M⁻¹G p and u from the new impulses and corrections, and the acceleration that answers their change:
    /// Â δa = −(1−α_f) K δu − (1−α_c) C δw.
    fn answer(&mut self, h: f64, to: &mut Attempt) {
        let (system, row, work) = (self.system, &self.row, &mut self.work);
        let (n, free) = (system.nodes.total, system.nodes.free);
        let candidates = &system.contacts.candidates;
        to.state.impulse.copy_from_slice(&work.impulse);
        work.first.fill(0.0);
        for (candidate, &p) in candidates.iter().zip(&work.impulse) {
            if p != 0.0 {
                candidate.push(p, &mut work.first);
            }
        }
        self.mass_factor.solve(&mut work.first);
        work.first[free..].fill(0.0);
        // first becomes δw, second δu.
        for i in 0..n {
            let old = std::mem::replace(&mut work.jump[i], work.first[i]);
            work.first[i] -= old;
        }
        if self.settings.position == Position::Ggl {
            work.second.fill(0.0);
            for (candidate, &nu) in candidates.iter().zip(&work.correction) {
                if nu != 0.0 {
                    candidate.push(nu, &mut work.second);
                }
            }
            self.mass_factor.solve(&mut work.second);
            work.second[free..].fill(0.0);
            for i in 0..n {
                let old = std::mem::replace(&mut work.shift[i], work.second[i]);
                work.second[i] -= old;
            }
            work.correction_so_far.copy_from_slice(&work.correction);
        } else {
            for i in 0..n {
                work.second[i] = h * row.c * work.first[i];
                work.shift[i] = h * row.c * work.jump[i];
            }
        }
        work.delta.fill(0.0);
        let scratch = &mut work.third;
        system.add_stiffness_times(&to.state.q, &work.second, -(1.0 - row.alpha_f), scratch, &mut work.delta);
        system.add_damping_times(&to.state.q, &work.first, -(1.0 - row.alpha_c), &mut work.delta);
        self.factor.solve(&mut work.delta);
        for i in 0..free {
            to.state.a[i] += work.delta[i];
        }
    }
}

/// y += s A z.
pub(super) fn add_product(operator: &Delassus, s: f64, z: &[f64], y: &mut [f64]) {
    for (i, &zi) in z.iter().enumerate().filter(|(_, zi)| **zi != 0.0) {
        for &(j, a) in operator.column(i) {
            y[j as usize] += s * a * zi;
        }
    }
}
