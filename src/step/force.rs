//! Contact as a force on massless nodes, (T92)–(T98): λ stands among the forces of (T3), and the law is one of gaps.
//!
//! ```text
//! (T92)  massive rows   M* a_m = α_f r0 + (1−α_f) r1,   r = F + f_g − f_int − d + G λ
//!        massless rows  r1 = 0
//!        0 ≤ g(q1) ⊥ λ1 ≥ 0 on all contacts
//! (T97)  mid-velocity: G λ with weight one in every row, 0 ≤ g(q1) − g(q0) ⊥ λ ≥ 0 on active contacts
//! ```

use super::contact::add_product;
use super::{ACTIVATION, Stepper};
use crate::case::data::{MasslessLaw, Position};
use crate::contact::Scene;
use crate::contact::candidate::Row;
use crate::contact::delassus::Delassus;
use crate::contact::shape::{inner, minus};
use crate::contact::solver::Problem;
use crate::la::{Factor, Symmetric};
use crate::methods::Attempt;
use crate::schemes::Tableau;
use crate::state::State;
use crate::system::System;
use crate::{Error, Result};

/// A gap this much below zero, of the length of the model, belongs to a contact that is missing in the solve.
const MISSING: f64 = 1e-14;

/// Passes of the static start of a nonlinear model; its massless nodes are few and near their places.
const STATIC_PASSES: usize = 30;

/// What the force form keeps from step to step.
pub(super) struct Force {
    law: MasslessLaw,
    /// Gap by force at the end of the step, A of (T93).
    compliance: Delassus,
    /// Gradients and normals at the start of the step.
    before: Vec<(Row, [f64; 2])>,
    /// Gaps at the start of the step, and those of the pass without contact; for the mid-velocity law less the former.
    start: Vec<f64>,
    free: Vec<f64>,
    /// Whether a contact may take part.
    eligible: Vec<bool>,
    /// Forces and gaps of the solve.
    z: Vec<f64>,
    y: Vec<f64>,
}

impl Force {
    /// `None` for systems that keep all mass.
    pub fn of(system: &System) -> Option<Force> {
        let redistribution = system.redistribution.as_ref()?;
        let m = system.contacts.len();
        let mut compliance = Delassus::default();
        compliance.resize(m);
        Some(Force {
            law: redistribution.law,
            compliance,
            before: vec![Default::default(); m],
            start: vec![0.0; m],
            free: vec![0.0; m],
            eligible: vec![false; m],
            z: vec![0.0; m],
            y: vec![0.0; m],
        })
    }

    /// Forgets all columns: the matrix of the step has changed.
    pub fn clear(&mut self) {
        self.compliance.clear();
    }

    /// Adds what the curvature of the gaps makes of the forces to the matrix of the step.
    pub fn curve(&self, h: f64, row: &Tableau, free: usize, to: &Attempt, matrix: &mut Symmetric) {
        let [_, weight] = self.weights(row);
        // A discrete gradient follows the end of the step by half.
        let part = if self.law == MasslessLaw::Position { 1.0 } else { 0.5 };
        let scale = part * weight * h * h * row.b1;
        for (candidate, &force) in to.scene.candidates.iter().zip(&to.state.force).filter(|(_, force)| **force != 0.0) {
            candidate.each_curvature(&to.state.q, candidate.shift[1], |i, j, bend| {
                if i <= j && j < free {
                    matrix.add(i, j, -scale * force * bend);
                }
            });
        }
    }

    /// Weights of the old and the new contact force in (T3).
    fn weights(&self, row: &Tableau) -> [f64; 2] {
        match self.law {
            MasslessLaw::Position => [row.alpha_f, 1.0 - row.alpha_f],
            MasslessLaw::MidVelocity => [0.0, 1.0],
        }
    }
}

/// Refuses schemes that massless nodes do not go with.
pub fn admit(row: &Tableau, position: Position, system: &System) -> Result<()> {
    let Some(redistribution) = &system.redistribution else { return Ok(()) };
    let refuse = |reason: &str| Err(Error::Input(format!("mass = \"redistributed\" {reason}")));
    if position == Position::Ggl {
        return refuse(
            "does not go with scheme.position = \"ggl\": its law is one of positions already; take \"half\"",
        );
    }
    if row.b1 == 0.0 {
        return refuse(
            "needs an implicit scheme: massless nodes follow from equilibrium at the end of the step; allowed: all \
             schemes but central-difference and newmark with beta = 0",
        );
    }
    if redistribution.law == MasslessLaw::MidVelocity {
        let midpoint = row.g0 == 0.0 && row.b1 == 0.5 && row.alpha_f == 0.5 && row.alpha_c == 0.5;
        if !midpoint {
            return refuse("with law = \"mid-velocity\" needs the scheme moreau-jean with theta = 0.5");
        }
        if !system.linear {
            return refuse("with law = \"mid-velocity\" is for linear models; take law = \"position\"");
        }
    }
    if row.alpha_c != row.alpha_f && system.damped {
        return refuse(
            "does not go with damping and a scheme that weighs damping otherwise than the other forces \
             (moreau-jean-dissipative)",
        );
    }
    Ok(())
}

impl Stepper<'_> {
    /// Gaps at the start and contacts that may take part; the forces of the last step are the first guess.
    pub(super) fn begin_force(&mut self, from: &State, h: f64, to: &mut Attempt) {
        let Some(force) = &mut self.force else { return };
        for (i, candidate) in to.scene.candidates.iter().enumerate() {
            let gap = candidate.gap(&from.q, candidate.shift[0]);
            let mut there = *candidate;
            there.freeze(&from.q, candidate.shift[0]);
            force.before[i] = (there.gap_row, there.normal);
            let near = gap + 0.5 * h * from.mean_rate[i] <= ACTIVATION * self.system.length;
            force.start[i] = gap;
            force.eligible[i] = candidate.responds && (force.law == MasslessLaw::Position || near);
            force.z[i] = if force.eligible[i] { from.force[i] } else { 0.0 };
        }
        to.state.force.fill(0.0);
    }

    /// Gradients of curved gaps where the law takes them: at the end of the step, or over it.
    pub(super) fn bend_forces(&mut self, from: &State, to: &mut Attempt) {
        let Some(force) = &mut self.force else { return };
        if self.system.contacts.steady() {
            return;
        }
        let q = &to.state.q;
        for candidate in &mut to.scene.candidates {
            match force.law {
                MasslessLaw::Position => candidate.freeze(q, candidate.shift[1]),
                MasslessLaw::MidVelocity => candidate.secant(&from.q, q),
            }
        }
        to.scene.pack();
        force.compliance.clear();
    }

    /// Contact forces in the residual of (T3), and equilibrium in its massless rows, (T92).
    pub(super) fn force_residual(&mut self, from: &State, to: &Attempt) {
        let Some(force) = &self.force else { return };
        let (system, state, residual) = (self.system, &to.state, &mut self.work.residual);
        let [old, new] = force.weights(&self.row);
        for ((row, _), &pushed) in force.before.iter().zip(&from.force).filter(|(_, pushed)| **pushed != 0.0) {
            row.push(-old * pushed, residual);
        }
        if let (Some(moved), MasslessLaw::Position) = (&system.redistribution, force.law) {
            for &i in moved.massless() {
                residual[i] = new * (state.internal[i] + state.viscous[i] - state.applied[i] - system.gravity[i]);
            }
        }
        add_forces(&to.scene, -new, &state.force, residual);
    }

    /// Solves the law for the forces of this pass, (T93), and lets the acceleration answer them.
    pub(super) fn solve_forces(&mut self, h: f64, to: &mut Attempt) -> Result<()> {
        let system = self.system;
        let count = to.scene.candidates.len();
        for contact in (0..count).filter(|&i| to.state.force[i] != 0.0) {
            self.compliance_column(contact, h, &to.scene)?;
        }
        let Some(force) = &mut self.force else { return Ok(()) };
        let work = &mut self.work;
        work.second.copy_from_slice(&to.state.q);
        for i in 0..system.nodes.free {
            work.second[i] = work.q_free[i] + h * h * self.row.b1 * to.state.a[i];
        }
        for (i, candidate) in to.scene.candidates.iter().enumerate() {
            let from = if force.law == MasslessLaw::Position { 0.0 } else { force.start[i] };
            force.free[i] = candidate.gap_at_end(&work.second) - from;
        }
        add_product(&force.compliance, -1.0, &to.state.force, &mut force.free);
        work.active.clear();
        for i in 0..count {
            // An open gap may still be closed by the push of another contact; that is found below.
            if force.eligible[i] && (force.free[i] < 0.0 || to.state.force[i] != 0.0) {
                work.active.push(i as u32);
            } else {
                force.z[i] = 0.0;
            }
        }
        loop {
            for k in 0..self.work.active.len() {
                self.compliance_column(self.work.active[k] as usize, h, &to.scene)?;
            }
            let (Some(force), work) = (&mut self.force, &mut self.work) else { return Ok(()) };
            let problem = Problem { delassus: &force.compliance, active: &work.active, b: &force.free };
            let outcome = problem.solve(&self.settings.contact, &mut force.z, &mut force.y);
            force.y.copy_from_slice(&force.free);
            add_product(&force.compliance, 1.0, &force.z, &mut force.y);
            let before = work.active.len();
            for i in (0..count).filter(|&i| force.eligible[i] && force.y[i] < -MISSING * system.length) {
                if !work.active[..before].contains(&(i as u32)) {
                    work.active.push(i as u32);
                }
            }
            let complete = work.active.len() == before;
            self.count(outcome, to)?;
            if complete {
                break;
            }
        }
        self.answer_forces(h, to);
        Ok(())
    }

    /// The acceleration for the new forces: Â δa = (weight) G δλ.
    fn answer_forces(&mut self, h: f64, to: &mut Attempt) {
        let Some(force) = &self.force else { return };
        let (system, work) = (self.system, &mut self.work);
        to.active = work.active.len();
        if force.z == to.state.force {
            return;
        }
        let [_, weight] = force.weights(&self.row);
        work.delta.fill(0.0);
        add_forces(&to.scene, weight, &force.z, &mut work.delta);
        add_forces(&to.scene, -weight, &to.state.force, &mut work.delta);
        self.matrix.solve(&mut work.delta);
        for i in 0..system.nodes.free {
            to.state.a[i] += work.delta[i];
        }
        for (i, &z) in force.z.iter().enumerate() {
            (to.state.force[i], to.state.impulse[i]) = (z, h * z);
        }
    }

    /// Column of A, (T93): h² b1 (weight) Gᵀ Â⁻¹ G.
    fn compliance_column(&mut self, contact: usize, h: f64, scene: &Scene) -> Result<()> {
        let Some(force) = &mut self.force else { return Ok(()) };
        if force.compliance.knows(contact) {
            return Ok(());
        }
        let (system, column) = (self.system, &mut self.work.first);
        let (candidates, free) = (&scene.candidates, system.nodes.free);
        column.fill(0.0);
        candidates[contact].push(1.0, column);
        column[free..].fill(0.0);
        self.matrix.solve(column);
        let [_, weight] = force.weights(&self.row);
        let scale = h * h * self.row.b1 * weight;
        let own = (contact, &candidates[contact].gap_row);
        force.compliance.insert(own, candidates.iter(), |row| scale * row.times(column));
        let entry = force.compliance.diagonal(contact);
        if entry > 0.0 || !system.linear {
            return Ok(());
        }
        Err(Error::Solver(format!(
            "a force at node {} of a contact does not open its gap (compliance {entry:e})",
            candidates[contact].key.node
        )))
    }

    /// Worst residual of the law at a state, of the length of the model.
    pub(super) fn force_gap_residual(&self, to: &Attempt) -> f64 {
        let Some(force) = &self.force else { return 0.0 };
        let (state, mut worst) = (&to.state, 0.0_f64);
        for (i, candidate) in to.scene.candidates.iter().enumerate().filter(|&(i, _)| force.eligible[i]) {
            let from = if force.law == MasslessLaw::Position { 0.0 } else { force.start[i] };
            let gap = candidate.gap_at_end(&state.q) - from;
            let push = if state.force[i] == 0.0 { 0.0 } else { force.compliance.diagonal(i).abs() * state.force[i] };
            let natural = gap.min(push).abs();
            worst = if natural.is_nan() { f64::INFINITY } else { worst.max(natural) };
        }
        worst / self.system.length
    }

    /// Work of the contact forces, (T95), (T98), and the reset of massless velocities and accelerations, (T94).
    pub(super) fn finish_force(&mut self, from: &State, h: f64, to: &mut Attempt) {
        let Some(force) = &self.force else { return };
        let (system, dq) = (self.system, &mut self.work.first);
        let state = &mut to.state;
        for i in 0..dq.len() {
            dq[i] = state.q[i] - from.q[i];
        }
        let (mut contact, mut support, mut drift) = (0.0, 0.0, 0.0);
        for (i, candidate) in to.scene.candidates.iter().enumerate() {
            let carried = minus(candidate.shift[1], candidate.shift[0]);
            let (row, normal) = &force.before[i];
            // Works of the old and of the new force over the step, and of the obstacle in them.
            let old = [row.times(dq), inner(*normal, carried)].map(|path| from.force[i] * path);
            let new = [candidate.rate(dq), inner(candidate.normal, carried)].map(|path| state.force[i] * path);
            let [work, obstacle] = match force.law {
                MasslessLaw::Position => {
                    drift -= (self.row.alpha_f - 0.5) * (new[0] - old[0]);
                    [0, 1].map(|k| 0.5 * (old[k] + new[k]))
                }
                // Along a discrete gradient the rest of the work is what the gap feels.
                MasslessLaw::MidVelocity => [new[0], new[0] - state.force[i] * (to.gaps[i] - force.start[i])],
            };
            contact += work - obstacle;
            support += obstacle;
            state.mean_rate[i] = (to.gaps[i] - force.start[i]) / h;
        }
        to.balance.contact = contact;
        to.balance.support += support;
        to.balance.scheme += drift;
        to.balance.defect -= contact + support + drift;
        if let (Some(moved), MasslessLaw::Position) = (&system.redistribution, force.law) {
            for &i in moved.massless() {
                (state.a[i], state.v[i]) = (0.0, dq[i] / h);
            }
        }
    }

    /// Static start, (T96): massless degrees of freedom and contact forces in equilibrium with the others, then the
    /// acceleration of the massive ones.
    pub(super) fn settle(&mut self, state: &mut State) -> Result<()> {
        let Some(moved) = &self.system.redistribution else { return Ok(()) };
        let system = self.system;
        let mut scene = Scene::new(system);
        let count = scene.candidates.len();
        let law = moved.law;
        let mut matrix = Symmetric::zeros(system.mass.pattern.clone());
        let mut factor = Factor::new(&matrix.pattern, system.nodes.free);
        let (mut residual, mut gaps) = (vec![0.0; state.q.len()], vec![0.0; count]);
        let mut y = gaps.clone();
        // Only massless motions answer here.
        let masked = |x: &mut [f64]| {
            for i in (0..x.len()).filter(|&i| !moved.is_massless(i)) {
                x[i] = 0.0;
            }
        };
        let mut moves = f64::INFINITY;
        for _ in 0..STATIC_PASSES {
            self.forces(state);
            scene.look_at(system, state);
            let candidates = &scene.candidates;
            system.massless_stiffness(&state.q, &mut matrix);
            factor.factor(&matrix).map_err(|s| {
                Error::Solver(format!("a massless node has no stiffness near {}", system.describe(s.row)))
            })?;
            for i in 0..residual.len() {
                residual[i] = state.applied[i] + system.gravity[i] - state.internal[i] - state.viscous[i];
            }
            masked(&mut residual);
            factor.solve(&mut residual);
            let before: Vec<f64> = moved.massless().iter().map(|&i| state.q[i]).collect();
            // Gaps along the tangents at this place, where passes end.
            for (gap, candidate) in gaps.iter_mut().zip(candidates) {
                *gap = candidate.gap_at_end(&state.q) + candidate.rate(&residual);
            }
            moved.massless().iter().for_each(|&i| state.q[i] += residual[i]);
            let mut compliance = Delassus::default();
            compliance.resize(count);
            let mut all = Vec::new();
            for (i, candidate) in candidates.iter().enumerate() {
                residual.fill(0.0);
                candidate.push(1.0, &mut residual);
                masked(&mut residual);
                factor.solve(&mut residual);
                compliance.insert((i, &candidate.gap_row), candidates.iter(), |row| row.times(&residual));
                // The mid-velocity law knows no force at an instant.
                if candidate.responds && compliance.diagonal(i) > 0.0 && law == MasslessLaw::Position {
                    all.push(i as u32);
                }
            }
            let problem = Problem { delassus: &compliance, active: &all, b: &gaps };
            let outcome = problem.solve(&self.settings.contact, &mut state.force, &mut y);
            if !outcome.converged {
                return Err(Error::Solver("the contacts of massless nodes have no equilibrium at the start".into()));
            }
            residual.fill(0.0);
            add_forces(&scene, 1.0, &state.force, &mut residual);
            masked(&mut residual);
            factor.solve(&mut residual);
            moved.massless().iter().for_each(|&i| state.q[i] += residual[i]);
            let last = moves;
            let change = moved.massless().iter().zip(before).map(|(&i, old)| (state.q[i] - old).abs());
            moves = change.fold(0.0, f64::max) / system.length;
            // Passes that no longer help have reached rounding.
            if (system.linear && system.contacts.steady()) || moves <= 1e-15 || (moves <= 1e-11 && moves > 0.25 * last)
            {
                moves = 0.0;
                break;
            }
        }
        if moves > 0.0 {
            return Err(Error::Solver(format!(
                "no equilibrium of the massless nodes at the start (moves {moves:.1e})"
            )));
        }
        for (rate, candidate) in state.mean_rate.iter_mut().zip(&scene.candidates) {
            *rate = candidate.rate(&state.v);
        }
        self.forces(state);
        self.accelerate(state, &scene.candidates);
        self.initial_reactions(state, &scene.candidates);
        self.energies(state);
        Ok(())
    }
}

/// f += s G λ.
pub(super) fn add_forces(scene: &Scene, s: f64, forces: &[f64], f: &mut [f64]) {
    for (candidate, &force) in scene.candidates.iter().zip(forces).filter(|(_, force)| **force != 0.0) {
        candidate.push(s * force, f);
    }
}
