//! Contact within a pass: impulses from (T4), or impulses and position corrections from (T7).

use super::{ACTIVATION, Stepper};
use crate::case::data::{ContactMethod, Position};
use crate::contact::active_set::{ActiveSet, Bound};
use crate::contact::candidate::Row;
use crate::contact::delassus::Delassus;
use crate::contact::friction::{Frictional, Rough};
use crate::contact::solver::{Method, Outcome, Problem};
use crate::contact::turn::Turn;
use crate::contact::{Candidate, Scene};
use crate::methods::Attempt;
use crate::model::Component;
use crate::schemes::Tableau;
use crate::{Error, Result};

/// From so many contacts on active sets are faster than Gauss–Seidel on columns of W.
pub(super) const MANY: usize = 16;

/// Rounds in which corrections and impulses of the position-corrected form may find each other.
const ROUNDS: usize = 100;

/// The answers of the step to unit impulses and, for the position-corrected form, to unit corrections.
pub(super) struct Operators {
    /// Velocity by impulse: the Delassus operator W of (T5).
    pub velocity: Delassus,
    /// Further operators of the position-corrected form, (T8).
    pub corrected: Option<Corrected>,
}

/// Operators of the position-corrected form.
#[derive(Default)]
pub(super) struct Corrected {
    /// Gap by correction.
    pub gap: Delassus,
    /// Gap by impulse; zero without damping.
    pub gap_by_impulse: Delassus,
    /// Velocity by correction.
    pub velocity_by_correction: Delassus,
}

impl Operators {
    /// Empty ones for a scene of so many rows.
    pub fn new(position: Position, rows: usize) -> Operators {
        let corrected = (position == Position::Ggl).then(Corrected::default);
        let mut operators = Operators { velocity: Delassus::default(), corrected };
        operators.resize(rows);
        operators
    }

    fn each(&mut self, f: impl Fn(&mut Delassus)) {
        f(&mut self.velocity);
        if let Some(corrected) = &mut self.corrected {
            f(&mut corrected.gap);
            f(&mut corrected.gap_by_impulse);
            f(&mut corrected.velocity_by_correction);
        }
    }

    /// Makes room for the rows of a scene.
    pub fn resize(&mut self, rows: usize) {
        self.each(|operator| operator.resize(rows));
    }

    /// Forgets all columns: the matrix of the step has changed, or the rows have.
    pub fn clear(&mut self) {
        self.each(Delassus::clear);
    }
}

impl Stepper<'_> {
    /// Solves for the impulses (and corrections) of this pass and lets the step answer them. `delta` has been added to
    /// the acceleration already.
    pub(super) fn solve_contact(&mut self, h: f64, to: &mut Attempt) -> Result<()> {
        if to.scene.candidates.is_empty() {
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
        let wanted = match self.settings.contact.method {
            ContactMethod::Auto => self.work.active.len() >= MANY,
            method => method == ContactMethod::ActiveSet,
        };
        if wanted && self.active_set.is_some() {
            let outcome = self.solve_bounds(h, to);
            to.sweeps += outcome.sweeps;
            to.method = outcome.method;
            if outcome.converged {
                return Ok(());
            }
        }
        self.active_columns(h, to)?;
        self.velocities(h, to);
        let work = &mut self.work;
        for row in work.active.iter().flat_map(|&i| to.scene.rows_of(i as usize)) {
            work.b[row] = to.scene.law_rate(row, to.scene.rate(row, |dof| work.first[dof]), &work.u0);
        }
        add_product(&self.operators.velocity, -1.0, &to.state.impulse, &mut work.b);
        let outcome = self.solve_law(&to.scene);
        self.count(outcome, to)
    }

    /// Columns of W of the active contacts, as far as they are not known.
    pub(super) fn active_columns(&mut self, h: f64, to: &Attempt) -> Result<()> {
        for k in 0..self.work.active.len() {
            let contact = self.work.active[k] as usize;
            if !self.operators.velocity.knows(to.scene.candidates[contact].row) {
                self.impulse_columns(contact, h, to)?;
            }
        }
        Ok(())
    }

    /// The same on active sets inside the factorization, without W, (T62).
    fn solve_bounds(&mut self, h: f64, to: &Attempt) -> Outcome {
        let (Some(active_set), velocity) = (&mut self.active_set, &mut self.operators.velocity) else {
            return Outcome::default();
        };
        let (work, scene, free) = (&mut self.work, &to.scene, self.system.nodes.free);
        let [s, rho] = shares(&self.row);
        // Impulses of earlier passes are in the velocities and have to be taken out again.
        let pressed = work.jumped;
        if pressed {
            work.second.fill(0.0);
            scene.push(&to.state.impulse, &mut work.second);
            work.second[free..].fill(0.0);
            work.third.copy_from_slice(&work.second);
            self.matrix.solve(&mut work.second);
            self.mass_factor.solve(&mut work.third);
            (0..free).for_each(|i| work.second[i] = work.jump[i] - (s * work.second[i] + rho * work.third[i]));
        }
        let (v, factor) = (&to.state.v[free..], h * self.row.g1);
        let (v_free, a, earlier) = (&work.v_free[..free], &to.state.a[..free], &work.second[..free]);
        let (u0, b) = (&work.u0[..], &mut work.b[..]);
        for &i in &work.active {
            let row = scene.rows_of(i as usize).start;
            let rate = scene.rate(row, |dof| {
                let rate = if dof < free { v_free[dof] + factor * a[dof] } else { v[dof - free] };
                if pressed && dof < free { rate + earlier[dof] } else { rate }
            });
            b[row] = scene.law_rate(row, rate, u0);
        }
        let answers = |row: usize, answer: f64| velocity.estimate(row, answer);
        let effective = self.matrix.assemble(self.system, &to.state.q);
        let outcome = active_set.solve(effective, &work.active, &work.b, &mut work.impulse, answers);
        work.answered = outcome.converged && self.system.linear;
        outcome
    }

    /// Solves the law of the active contacts for the impulses, with the right-hand side in `b`.
    pub(super) fn solve_law(&mut self, scene: &Scene) -> Outcome {
        let (work, settings) = (&mut self.work, &self.settings.contact);
        let delassus = &self.operators.velocity;
        let candidates = || work.active.iter().map(|&i| &scene.candidates[i as usize]);
        if self.system.contacts.rough() && candidates().any(Candidate::slides) {
            work.rough.clear();
            work.rough.extend(candidates().map(|c| Rough { row: c.row, friction: c.law.friction }));
            let problem = Frictional { delassus, contacts: &work.rough, b: &work.b };
            problem.solve(settings, &mut work.impulse, &mut work.y, &mut work.blocks)
        } else {
            work.rows.clear();
            work.rows.extend(work.active.iter().map(|&i| scene.rows_of(i as usize).start as u32));
            let problem = Problem { delassus, active: &work.rows, b: &work.b };
            problem.solve(settings, &mut work.impulse, &mut work.y)
        }
    }

    /// (T7): gaps by corrections, velocities by impulses. Without damping and friction the first do not depend on the second.
    fn solve_corrected(&mut self, h: f64, to: &mut Attempt) -> Result<()> {
        let system = self.system;
        for contact in 0..to.scene.candidates.len() {
            let candidate = &to.scene.candidates[contact];
            let pressed = |(row, _)| self.work.correction_so_far[row] != 0.0 || to.state.impulse[row] != 0.0;
            if candidate.rows_of().any(pressed) && !self.operators.velocity.knows(candidate.row) {
                self.corrected_columns(contact, h, to)?;
            }
        }
        self.velocities(h, to);
        let work = &mut self.work;
        for i in 0..system.nodes.free {
            work.second[i] = work.q_free[i] + h * h * self.row.b1 * to.state.a[i] + work.shift[i];
        }
        work.second[system.nodes.free..].copy_from_slice(&to.state.q[system.nodes.free..]);
        // Gaps and velocities that the pass would have without any contact.
        for candidate in &to.scene.candidates {
            work.gap_free[candidate.row] = candidate.gap_at_end(&work.second);
            for (row, entries) in candidate.rows_of() {
                work.rate_free[row] = to.scene.law_rate(row, entries.times(&work.first), &work.u0);
            }
        }
        if let Some(corrected) = &self.operators.corrected {
            let (gaps, rates) = (&mut work.gap_free, &mut work.rate_free);
            add_product(&corrected.gap, -1.0, &work.correction_so_far, gaps);
            add_product(&corrected.gap_by_impulse, -1.0, &to.state.impulse, gaps);
            add_product(&corrected.velocity_by_correction, -1.0, &work.correction_so_far, rates);
            add_product(&self.operators.velocity, -1.0, &to.state.impulse, rates);
        }
        work.active.clear();
        work.closing.clear();
        work.corrected.clear();
        // A model of one point has no length, but the step carries it some way.
        let tolerance = |gap_free: f64, start: f64| ACTIVATION * (system.length + (gap_free - start).abs());
        for (i, candidate) in to.scene.candidates.iter().enumerate() {
            let gap = work.gap_free[candidate.row];
            if candidate.responds && gap <= tolerance(gap, to.gaps[i]) {
                work.active.push(i as u32);
                work.closing.push(candidate.row as u32);
                work.corrected.push(i as u32);
            }
        }
        work.impulse.fill(0.0);
        work.correction.fill(0.0);
        to.active = work.active.len();
        for k in 0..self.work.active.len() {
            let contact = self.work.active[k] as usize;
            if !self.operators.velocity.knows(to.scene.candidates[contact].row) {
                self.corrected_columns(contact, h, to)?;
            }
        }
        loop {
            self.alternate(to)?;
            // A correction may close a contact that was open without it.
            let work = &mut self.work;
            work.y.copy_from_slice(&work.gap_free);
            if let Some(corrected) = &self.operators.corrected {
                add_product(&corrected.gap, 1.0, &work.correction, &mut work.y);
                add_product(&corrected.gap_by_impulse, 1.0, &work.impulse, &mut work.y);
            }
            let before = self.work.closing.len();
            for contact in 0..to.scene.candidates.len() {
                let candidate = &to.scene.candidates[contact];
                let limit = tolerance(self.work.gap_free[candidate.row], to.gaps[contact]);
                let missing = candidate.responds && self.work.y[candidate.row] < -limit;
                if missing && !self.work.closing[..before].contains(&(candidate.row as u32)) {
                    self.work.closing.push(candidate.row as u32);
                    self.work.corrected.push(contact as u32);
                    if !self.operators.velocity.knows(candidate.row) {
                        self.corrected_columns(contact, h, to)?;
                    }
                }
            }
            if self.work.closing.len() == before {
                return Ok(());
            }
        }
    }

    /// Corrections for given impulses, impulses for given corrections, until both laws hold.
    fn alternate(&mut self, to: &mut Attempt) -> Result<()> {
        let coupled = self.system.damped || self.system.contacts.rough();
        for round in 0..ROUNDS {
            let Some(corrected) = &self.operators.corrected else { return Ok(()) };
            let work = &mut self.work;
            let settings = &self.settings.contact;
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
            let velocities = self.solve_law(&to.scene);
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
        let active = || self.work.active.iter().map(|&i| &to.scene.candidates[i as usize]);
        let start = format!("contact not solved in step {} (t = {})", to.state.step, to.state.time);
        let newton = active().any(|c| c.slides() && c.law.restitution > 0.0 && !c.law.moreau);
        let law = "restitution = { e = …, law = \"moreau\" } or restitution = 0";
        if outcome.impossible {
            let cure = if newton { law } else { "a smaller step" };
            return Error::Solver(format!(
                "{start}: friction with these velocities has no solution; all states of its {} contacts (open, sticking, \
                 sliding either way) contradict the law; take {cure}",
                active().count()
            ));
        }
        let cure = match (active().any(Candidate::slides), newton) {
            (true, true) => format!("allow more sweeps, or take {law}: with Newton's law there may be no solution"),
            (true, false) => "allow more sweeps, or take a smaller step".to_string(),
            (false, _) => "allow more sweeps or choose solver.contact.method = \"lemke\"".to_string(),
        };
        Error::Solver(format!(
            "{start}: {} active contacts, {} sweeps, residual {:.3e} above the tolerance {:.3e}; {cure}",
            active().count(),
            outcome.sweeps,
            outcome.residual,
            self.settings.contact.tolerance
        ))
    }

    /// Columns of W for the rows of a contact, (T5): GᵀÂ⁻¹[(1−α_m) M + (1−α_f) h² (b1 − g1 c) K] M⁻¹ G.
    pub(super) fn impulse_columns(&mut self, contact: usize, h: f64, to: &Attempt) -> Result<()> {
        let (system, row, work) = (self.system, &self.row, &mut self.work);
        let free = system.nodes.free;
        let candidates = &to.scene.candidates;
        for own in candidates[contact].rows_of() {
            work.delta.fill(0.0);
            own.1.push(1.0, &mut work.delta);
            work.delta[free..].fill(0.0);
            work.first.fill(0.0);
            for i in 0..free {
                work.first[i] = (1.0 - row.alpha_m) * work.delta[i];
            }
            let stiffness = (1.0 - row.alpha_f) * h * h * (row.b1 - row.g1 * row.c);
            let touched = || own.1.entries().iter().map(|(dof, _)| *dof as usize);
            if stiffness != 0.0 {
                self.mass_factor.solve_at(touched(), &mut work.delta);
                system.add_stiffness_times(&to.state.q, &work.delta, stiffness, &mut work.second, &mut work.first);
            }
            self.matrix.solve_at(touched(), &mut work.first);
            work.first[free..].fill(0.0);
            let column = &work.first;
            let velocity = &mut self.operators.velocity;
            if system.contacts.steady() {
                velocity.insert(own, candidates.iter(), |entries| entries.times(column));
            } else {
                // Such a column lives for this pass only, and nobody asks it for more.
                let active = work.active.iter().map(|&i| &candidates[i as usize]);
                velocity.insert(own, active, |entries| entries.times(column));
            }
        }
        self.check_diagonal(&candidates[contact])
    }

    /// Columns of the position-corrected form, (T8), with x = M⁻¹G:
    /// gap by correction GᵀÂ⁻¹[(1−α_m) G + (1−α_c) h g1 C x], gap by impulse −h² b1 (1−α_c) GᵀÂ⁻¹C x,
    /// velocity by correction −h g1 (1−α_f) GᵀÂ⁻¹K x, velocity by impulse Gᵀ[x − h g1 (1−α_c) Â⁻¹C x].
    /// A tangential impulse moves positions by h c x as well: its columns have both answers in one.
    fn corrected_columns(&mut self, contact: usize, h: f64, to: &Attempt) -> Result<()> {
        let (system, row, work) = (self.system, &self.row, &mut self.work);
        let free = system.nodes.free;
        let (candidates, q) = (&to.scene.candidates, &to.state.q);
        let Some(corrected) = &mut self.operators.corrected else { return Ok(()) };
        let (x, y, z, scratch) = (&mut work.delta, &mut work.first, &mut work.third, &mut work.second);
        for own in candidates[contact].rows_of() {
            let unit = |vector: &mut Vec<f64>, size: f64| {
                vector.fill(0.0);
                own.1.push(size, vector);
                vector[free..].fill(0.0);
            };
            let moves = if own.0 == candidates[contact].row { 0.0 } else { h * row.c };
            unit(x, 1.0);
            self.mass_factor.solve(x);
            // y becomes Â⁻¹[(1−α_m) G + (1−α_c) h g1 C x], the motion by a correction.
            unit(y, 1.0 - row.alpha_m);
            system.add_damping_times(q, x, (1.0 - row.alpha_c) * h * row.g1, y);
            self.matrix.solve(y);
            y[free..].fill(0.0);
            corrected.gap.insert(own, candidates.iter(), |entries| entries.times(y));
            // z becomes (1−α_c) Â⁻¹C x, and after it y (1−α_f) Â⁻¹K x.
            z.fill(0.0);
            system.add_damping_times(q, x, 1.0 - row.alpha_c, z);
            self.matrix.solve(z);
            z[free..].fill(0.0);
            let gap = |entries: &Row| moves * entries.times(y) - h * h * row.b1 * entries.times(z);
            corrected.gap_by_impulse.insert(own, candidates.iter(), gap);
            y.fill(0.0);
            system.add_stiffness_times(q, x, 1.0 - row.alpha_f, scratch, y);
            self.matrix.solve(y);
            y[free..].fill(0.0);
            let by_correction = |entries: &Row| -h * row.g1 * entries.times(y);
            corrected.velocity_by_correction.insert(own, candidates.iter(), by_correction);
            let velocity =
                |entries: &Row| entries.times(x) - h * row.g1 * entries.times(z) + moves * by_correction(entries);
            self.operators.velocity.insert(own, candidates.iter(), velocity);
        }
        self.check_diagonal(&candidates[contact])
    }

    fn check_diagonal(&self, candidate: &Candidate) -> Result<()> {
        let entry = self.operators.velocity.diagonal(candidate.row);
        // The tangent of a nonlinear pass far from the solution proves nothing.
        if entry > 0.0 || !self.system.linear {
            return Ok(());
        }
        let node = candidate.key.node as usize;
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
        to.state.impulse.copy_from_slice(&work.impulse);
        work.jumped = true;
        let answered = std::mem::take(&mut work.answered);
        let change = self.active_set.as_ref().filter(|_| answered).and_then(ActiveSet::change);
        if let Some(change) = change {
            // The only pass of the step: there is no jump yet. The velocities that the active set changed are w + h g1 δa.
            to.scene.push(&work.impulse, &mut work.jump);
            work.jump[free..].fill(0.0);
            self.mass_factor.solve(&mut work.jump);
            let (change, w, a) = (&change[..free], &work.jump[..free], &mut to.state.a[..free]);
            let rate = 1.0 / (h * row.g1);
            (0..free).for_each(|i| a[i] += (change[i] - w[i]) * rate);
            return;
        }
        work.first.fill(0.0);
        to.scene.push(&work.impulse, &mut work.first);
        self.mass_factor.solve(&mut work.first);
        work.first[free..].fill(0.0);
        // first becomes δw, second δu.
        for i in 0..n {
            let old = std::mem::replace(&mut work.jump[i], work.first[i]);
            work.first[i] -= old;
        }
        if self.settings.position == Position::Ggl {
            // Normal rows by ν, tangential ones by the half rule, (T7): what sticks must not creep.
            work.moved.copy_from_slice(&work.correction);
            for (row, _) in to.scene.candidates.iter().flat_map(|c| c.rows_of().skip(1)) {
                work.moved[row] = h * self.row.c * work.impulse[row];
            }
            work.second.fill(0.0);
            to.scene.push(&work.moved, &mut work.second);
            self.mass_factor.solve(&mut work.second);
            work.second[free..].fill(0.0);
            for i in 0..n {
                let old = std::mem::replace(&mut work.shift[i], work.second[i]);
                work.second[i] -= old;
            }
            work.correction_so_far.copy_from_slice(&work.correction);
        } else {
            (0..n).for_each(|i| work.second[i] = h * row.c * work.first[i]);
        }
        work.delta.fill(0.0);
        let scratch = &mut work.third;
        system.add_stiffness_times(&to.state.q, &work.second, -(1.0 - row.alpha_f), scratch, &mut work.delta);
        system.add_damping_times(&to.state.q, &work.first, -(1.0 - row.alpha_c), &mut work.delta);
        self.matrix.solve(&mut work.delta);
        for i in 0..free {
            to.state.a[i] += work.delta[i];
        }
    }
}

/// Shares s and ρ of W = s GᵀÂ⁻¹G + ρ GᵀM⁻¹G, (T64), which (T5) is without damping, or with ρ = 0.
pub(super) fn shares(row: &Tableau) -> [f64; 2] {
    let rho = if row.alpha_f == 1.0 { 0.0 } else { (row.b1 - row.g1 * row.c) / row.b1 };
    // Parameters with 2β = γ need not be so to the last digit.
    let rho = if rho.abs() < 1e-12 { 0.0 } else { rho };
    [(1.0 - rho) * (1.0 - row.alpha_m), rho]
}

/// A contact as a bound on one free degree of freedom, if that is all that it is, and how axes must be turned for that.
pub(super) fn bound(candidate: &Candidate, free: usize) -> Option<(Bound, Option<Turn>)> {
    let entries = candidate.gap_row.entries().iter();
    let mut moving = entries.filter(|&&(dof, part)| (dof as usize) < free && part != 0.0);
    let (&(dof, part), second, None) = (moving.next()?, moving.next(), moving.next()) else { return None };
    let plain = !candidate.slides() && candidate.shape.is_affine();
    let Some(&(across, other)) = second else {
        return plain.then_some((Bound { row: candidate.row, dof: dof as usize, part }, None));
    };
    let size = part.hypot(other);
    let turn = Turn { dofs: [dof as usize, across as usize], along: [part / size, other / size] };
    plain.then_some((Bound { row: candidate.row, dof: dof as usize, part: size }, Some(turn)))
}

/// y += s A z.
pub(super) fn add_product(operator: &Delassus, s: f64, z: &[f64], y: &mut [f64]) {
    for (i, &zi) in z.iter().enumerate().filter(|(_, zi)| **zi != 0.0) {
        for &(j, a) in operator.column(i) {
            y[j as usize] += s * a * zi;
        }
    }
}
