//! Contact as a force on massless nodes, (T92)–(T98): λ stands among the forces of (T3), and the law is one of gaps.
//!
//! ```text
//! (T92)  massive rows   M* a_m = α_f r0 + (1−α_f) r1,   r = F + f_g − f_int − d + G λ
//!        massless rows  r1 = 0
//!        0 ≤ g(q1) ⊥ λ1 ≥ 0 on all contacts
//! (T97)  mid-velocity: G λ with weight one in every row, 0 ≤ g(q1) − g(q0) ⊥ λ ≥ 0 on active contacts
//! ```

use super::core::{Core, Equations};
use super::step::Form;
use super::velocity_law::{accept, begin_contact};
use super::{ACTIVATION, Settings};
use crate::case::data::{ContactSolver, MasslessLaw, Position};
use crate::laws::{Closing, Complementarity, Delassus, close};
use crate::ledger::{Pressed, Works};
use crate::methods::Attempt;
use crate::plane::{inner, minus};
use crate::relations::Scene;
use crate::relations::candidate::Row;
use crate::schemes::Tableau;
use crate::state::State;
use crate::system::System;
use crate::{Error, Result};

/// A gap this much below zero, of the length of the model, belongs to a contact that is missing in the solve.
const MISSING: f64 = 1e-14;

/// Contact by forces.
pub(super) struct Force {
    pub law: MasslessLaw,
    /// Weights of the old and the new contact force in (T3).
    weights: [f64; 2],
    /// Gap by force at the end of the step, A of (T93).
    compliance: Delassus,
    /// Gradients and normals at the start of the step.
    before: Vec<(Row, [f64; 2])>,
    /// Gaps at the start of the step, and those of the pass without contact; for the mid-velocity law less the former.
    start: Vec<f64>,
    free: Vec<f64>,
    /// Whether a contact may take part, and which do.
    eligible: Vec<bool>,
    active: Vec<u32>,
    /// Forces and gaps of the solve.
    z: Vec<f64>,
    y: Vec<f64>,
    /// Place of a pass, and a column or the response of its accelerations.
    position: Vec<f64>,
    response: Vec<f64>,
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

impl Form for Force {
    const SHIFTS: bool = false;
    const STORAGE: bool = false;

    fn new(system: &System, row: &Tableau, _: &Settings, scene: &Scene) -> Result<Force> {
        let law = system.redistribution.as_ref().map_or(MasslessLaw::Position, |redistribution| redistribution.law);
        let (n, m) = (system.nodes.total, scene.candidates.len());
        let mut compliance = Delassus::default();
        compliance.resize(m);
        Ok(Force {
            law,
            weights: match law {
                MasslessLaw::Position => [row.alpha_f, 1.0 - row.alpha_f],
                MasslessLaw::MidVelocity => [0.0, 1.0],
            },
            compliance,
            before: vec![Default::default(); m],
            start: vec![0.0; m],
            free: vec![0.0; m],
            eligible: vec![false; m],
            active: Vec::with_capacity(m),
            z: vec![0.0; m],
            y: vec![0.0; m],
            position: vec![0.0; n],
            response: vec![0.0; n],
        })
    }

    fn is_affine(&self, system: &System) -> bool {
        system.contacts.steady()
    }

    /// Gaps at the start and contacts that may take part; the forces of the last step are the first guess of the solve.
    fn activate(&mut self, core: &Core, from: &State, h: f64, t1: f64, to: &mut Attempt) {
        let Equations { system, row, .. } = &core.equations;
        self.active.clear();
        if !system.contacts.is_empty() {
            begin_contact(system, row, from, t1, to);
        }
        to.active = 0;
        for (i, candidate) in to.scene.candidates.iter().enumerate() {
            let gap = candidate.gap(&from.q, candidate.shift[0]);
            let mut there = *candidate;
            there.freeze(&from.q, candidate.shift[0]);
            self.before[i] = (there.gap_row, there.normal);
            let near = gap + 0.5 * h * from.mean_rate[i] <= ACTIVATION * system.length;
            self.start[i] = gap;
            self.eligible[i] = candidate.responds && (self.law == MasslessLaw::Position || near);
            self.z[i] = if self.eligible[i] { from.force[i] } else { 0.0 };
        }
        to.state.force.fill(0.0);
    }

    /// Old contact forces, and equilibrium in massless rows, (T92).
    fn add_load(&self, core: &Core, from: &State, to: &mut State) {
        let system = core.equations.system;
        let [old, new] = self.weights;
        for ((row, _), &pushed) in self.before.iter().zip(&from.force).filter(|(_, pushed)| **pushed != 0.0) {
            for &(dof, part) in row.entries().iter().filter(|(dof, _)| (*dof as usize) < system.nodes.free) {
                to.a[dof as usize] += old * pushed * part;
            }
        }
        for &i in self.massless(system) {
            to.a[i] = new * (to.applied[i] + system.gravity[i] - to.internal[i] - to.viscous[i]);
        }
    }

    /// Gradients of curved gaps where the law takes them, at the end of the step or over it; with them the contact forces in the
    /// residual of (T3), and equilibrium in its massless rows, (T92).
    fn add_forces(&mut self, core: &mut Core, from: &State, to: &mut Attempt) -> bool {
        let system = core.equations.system;
        if !system.contacts.steady() {
            for candidate in &mut to.scene.candidates {
                match self.law {
                    MasslessLaw::Position => candidate.freeze(&to.state.q, candidate.shift[1]),
                    MasslessLaw::MidVelocity => candidate.secant(&from.q, &to.state.q),
                }
            }
            to.scene.pack();
            self.compliance.clear();
        }
        self.add_residual(system, from, to, &mut core.residual);
        true
    }

    fn add_reactions(&self, core: &mut Core, from: &State, to: &Attempt) {
        self.add_residual(core.equations.system, from, to, &mut core.residual);
    }

    /// What the curvature of the gaps makes of the forces, in the matrix of the step.
    fn add_curvature(&self, equations: &Equations, h: f64, to: &Attempt, add: &mut dyn FnMut(usize, usize, f64)) {
        // A discrete gradient follows the end of the step by half.
        let part = if self.law == MasslessLaw::Position { 1.0 } else { 0.5 };
        let scale = part * self.weights[1] * h * h * equations.row.b1;
        for (candidate, &force) in to.scene.candidates.iter().zip(&to.state.force).filter(|(_, force)| **force != 0.0) {
            candidate.each_curvature(&to.state.q, candidate.shift[1], |i, j, bend| add(i, j, -scale * force * bend));
        }
    }

    fn bends(&self, system: &System) -> bool {
        !system.contacts.steady()
    }

    /// Solves the law for the forces of this pass, (T93), and lets the acceleration respond: Â δa = (weight) G δλ.
    fn solve(&mut self, core: &mut Core, h: f64, to: &mut Attempt) -> Result<()> {
        let Core { equations, motion, settings, .. } = core;
        let (system, row, count) = (equations.system, equations.row, to.scene.candidates.len());
        self.compliance.keep_for(equations.factor.stamp);
        for contact in (0..count).filter(|&i| to.state.force[i] != 0.0) {
            self.find_column(equations, contact, h, &to.scene)?;
        }
        motion.position(&row, h, system.nodes.free, &to.state, &mut self.position);
        for (i, candidate) in to.scene.candidates.iter().enumerate() {
            self.free[i] = candidate.gap_at_end(&self.position) - self.reference(i);
        }
        self.compliance.add_product(-1.0, &to.state.force, &mut self.free);
        let mut active = std::mem::take(&mut self.active);
        active.clear();
        for i in 0..count {
            // An open gap may still be closed by the push of another contact; that is found below.
            if self.eligible[i] && (self.free[i] < 0.0 || to.state.force[i] != 0.0) {
                active.push(i as u32);
            } else {
                self.z[i] = 0.0;
            }
        }
        let solved =
            close(&mut Pushes { form: self, equations, settings: &settings.contact, h, to }, count, &mut active);
        self.active = active;
        solved?;
        to.active = self.active.len();
        if self.z != to.state.force {
            let weight = self.weights[1];
            self.response.fill(0.0);
            add_forces(&to.scene, weight, &self.z, &mut self.response);
            add_forces(&to.scene, -weight, &to.state.force, &mut self.response);
            equations.solve(&mut self.response);
            for i in 0..system.nodes.free {
                to.state.a[i] += self.response[i];
            }
            for (i, &z) in self.z.iter().enumerate() {
                (to.state.force[i], to.state.impulse[i]) = (z, h * z);
            }
        }
        Ok(())
    }

    fn residuals(&mut self, core: &Core, to: &Attempt) -> [f64; 2] {
        let residual = self.residual(core.equations.system, to);
        [residual, if self.bends(core.equations.system) { residual } else { 0.0 }]
    }

    /// Work of the contact forces, (T95), (T98), and the reset of massless velocities and accelerations, (T94).
    fn finish(&mut self, core: &Core, from: &State, h: f64, to: &mut Attempt, works: &mut Works) {
        let Equations { system, row, .. } = &core.equations;
        to.complementarity = self.residual(system, to);
        let (state, dq) = (&mut to.state, &mut self.response);
        to.scene.gaps(&state.q, 1, &mut to.gaps);
        to.granted = 0.0;
        for i in 0..dq.len() {
            dq[i] = state.q[i] - from.q[i];
        }
        let mut pressed = Pressed::default();
        for (i, candidate) in to.scene.candidates.iter().enumerate() {
            let carried = minus(candidate.shift[1], candidate.shift[0]);
            let (gradient, normal) = &self.before[i];
            // Works of the old and of the new force over the step, and of the obstacle in them.
            let old = [gradient.times(dq), inner(*normal, carried)].map(|path| from.force[i] * path);
            let new = [candidate.rate(dq), inner(candidate.normal, carried)].map(|path| state.force[i] * path);
            let [work, obstacle] = match self.law {
                MasslessLaw::Position => {
                    pressed.scheme -= (row.alpha_f - 0.5) * (new[0] - old[0]);
                    [0, 1].map(|k| 0.5 * (old[k] + new[k]))
                }
                // Along a discrete gradient the rest of the work is what the gap feels.
                MasslessLaw::MidVelocity => [new[0], new[0] - state.force[i] * (to.gaps[i] - self.start[i])],
            };
            pressed.contact += work - obstacle;
            pressed.obstacles += obstacle;
            state.mean_rate[i] = (to.gaps[i] - self.start[i]) / h;
        }
        works.pressed = pressed;
        for &i in self.massless(system) {
            (state.a[i], state.v[i]) = (0.0, self.response[i] / h);
        }
    }
}

impl Force {
    /// Degrees of freedom in equilibrium at the end of the step.
    fn massless<'s>(&self, system: &'s System) -> &'s [usize] {
        match (&system.redistribution, self.law) {
            (Some(moved), MasslessLaw::Position) => moved.massless(),
            _ => &[],
        }
    }

    /// The gap from which that of a contact is measured in its law.
    fn reference(&self, contact: usize) -> f64 {
        if self.law == MasslessLaw::Position { 0.0 } else { self.start[contact] }
    }

    fn add_residual(&self, system: &System, from: &State, to: &Attempt, residual: &mut [f64]) {
        let ([old, new], state) = (self.weights, &to.state);
        for ((row, _), &pushed) in self.before.iter().zip(&from.force).filter(|(_, pushed)| **pushed != 0.0) {
            row.push(-old * pushed, residual);
        }
        for &i in self.massless(system) {
            residual[i] = new * (state.internal[i] + state.viscous[i] - state.applied[i] - system.gravity[i]);
        }
        add_forces(&to.scene, -new, &state.force, residual);
    }

    /// Worst residual of the law at a state, of the length of the model.
    fn residual(&self, system: &System, to: &Attempt) -> f64 {
        let (state, mut worst) = (&to.state, 0.0_f64);
        for (i, candidate) in to.scene.candidates.iter().enumerate().filter(|&(i, _)| self.eligible[i]) {
            let gap = candidate.gap_at_end(&state.q) - self.reference(i);
            let push = if state.force[i] == 0.0 { 0.0 } else { self.compliance.diagonal(i).abs() * state.force[i] };
            let natural = gap.min(push).abs();
            worst = if natural.is_nan() { f64::INFINITY } else { worst.max(natural) };
        }
        worst / system.length
    }

    /// Column of A, (T93), unless it is known: h² b1 (weight) Gᵀ Â⁻¹ G.
    fn find_column(&mut self, equations: &mut Equations, contact: usize, h: f64, scene: &Scene) -> Result<()> {
        if self.compliance.knows(contact) {
            return Ok(());
        }
        let (candidates, system, column) = (&scene.candidates, equations.system, &mut self.response);
        column.fill(0.0);
        candidates[contact].push(1.0, column);
        column[system.nodes.free..].fill(0.0);
        equations.solve(column);
        let scale = h * h * equations.row.b1 * self.weights[1];
        let own = (contact, &candidates[contact].gap_row);
        self.compliance.insert(own, candidates.iter(), |row| scale * row.times(column));
        let entry = self.compliance.diagonal(contact);
        if entry > 0.0 || !system.linear {
            return Ok(());
        }
        Err(Error::Solver(format!(
            "a force at node {} of a contact does not open its gap (compliance {entry:e})",
            candidates[contact].key.node
        )))
    }
}

/// The forces of a pass.
struct Pushes<'b, 'a> {
    form: &'b mut Force,
    equations: &'b mut Equations<'a>,
    settings: &'b ContactSolver,
    h: f64,
    to: &'b mut Attempt,
}

impl Closing for Pushes<'_, '_> {
    fn column(&mut self, contact: usize) -> Result<()> {
        self.form.find_column(self.equations, contact, self.h, &self.to.scene)
    }

    fn solve(&mut self, active: &[u32]) -> Result<()> {
        let Force { compliance, free, z, y, .. } = &mut *self.form;
        let outcome = Complementarity { delassus: compliance, active, b: free }.solve(self.settings, z, y);
        y.copy_from_slice(free);
        compliance.add_product(1.0, z, y);
        accept(outcome, active, self.equations.system, self.settings.tolerance, self.to)
    }

    fn is_missing(&self, contact: usize) -> bool {
        self.form.eligible[contact] && self.form.y[contact] < -MISSING * self.equations.system.length
    }
}

/// f += s G λ.
pub(super) fn add_forces(scene: &Scene, s: f64, forces: &[f64], f: &mut [f64]) {
    for (candidate, &force) in scene.candidates.iter().zip(forces).filter(|(_, force)| **force != 0.0) {
        candidate.push(s * force, f);
    }
}
