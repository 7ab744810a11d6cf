//! One step of a tableau, from top to bottom: predict, activate, solve for accelerations and contact, finish.
//!
//! ```text
//! (T1)  v1 = v0 + h (g0 a0 + g1 a1) + w
//! (T2)  q1 = q0 + h v0 + h² (b0 a0 + b1 a1) + u
//! (T3)  M [α_m a0 + (1−α_m) a1] + [α_f f0 + (1−α_f) f1] + [α_c d0 + (1−α_c) d1] = 0
//! (T4)  M w = G p,   0 ≤ U1 + e U0 ⊥ p ≥ 0 on active contacts,   u = h c w             Impulse
//! (T7)  M w = G p,   M u = G ν,   0 ≤ g(q1) ⊥ ν ≥ 0 on all contacts                     Corrected
//! (T92) G λ among the forces of (T3),   0 ≤ g(q1) ⊥ λ ≥ 0 on all contacts               Force
//! ```
//!
//! f is the internal force less loads and gravity, d the damping force. Newton's method on (T3) is exact after one pass
//! when everything is affine; such a step is one pass from the prediction.

use super::Settings;
use super::core::{Core, Equations};
use super::newton::{Newton, squares};
use super::velocity_law::clear;
use crate::la::CHUNK;
use crate::laws::Delassus;
use crate::ledger::{Balance, Works};
use crate::methods::{Attempt, KeptFactors, Method};
use crate::relations::Scene;
use crate::schemes::Tableau;
use crate::state::State;
use crate::system::System;
use crate::system::operator::Operator;
use crate::{Error, Result};

/// A form of contact in a step, with scratch of its own. What only forces of contact need has a default.
pub(in crate::methods) trait Form: Sized {
    /// Whether positions have a law of their own.
    const SHIFTS: bool;
    /// Whether the storage function of a scheme holds with this contact.
    const STORAGE: bool;

    /// Room for the contacts of a scene.
    fn new(system: &System, row: &Tableau, settings: &Settings, scene: &Scene) -> Result<Self>;

    /// Whether the law is affine in a step, so that one pass solves it.
    fn is_affine(&self, system: &System) -> bool;

    /// Looks around before a step: what may touch, and what of it is active.
    fn activate(&mut self, core: &Core, from: &State, h: f64, t1: f64, to: &mut Attempt);

    /// Adds known contact forces to the right-hand side at the prediction, which stands in place of the acceleration.
    fn add_load(&self, _: &Core, _: &State, _: &mut State) {}

    /// Adds contact forces to the residual of a pass; whether there can be any.
    fn add_forces(&mut self, _: &mut Core, _: &State, _: &mut Attempt) -> bool {
        false
    }

    /// Adds contact forces to the residual in the rows of supports, at the end of a step.
    fn add_reactions(&self, _: &mut Core, _: &State, _: &Attempt) {}

    /// Takes gradients anew for the coming pass.
    fn update_gradients(&mut self, _: &Core, _: &State, _: &mut Attempt) {}

    /// Whether contact changes the matrix of a pass, and what it adds.
    fn bends(&self, _: &System) -> bool {
        false
    }

    /// Adds entries to the matrix of a pass.
    fn add_curvature(&self, _: &Equations, _: f64, _: &Attempt, _: &mut dyn FnMut(usize, usize, f64)) {}

    /// Solves the law of a pass, whose acceleration is that without further contact, and lets the step respond.
    fn solve(&mut self, core: &mut Core, h: f64, to: &mut Attempt) -> Result<()>;

    /// Scaled residuals of the laws at the current state: in velocities, and in gaps.
    fn residuals(&mut self, core: &Core, to: &Attempt) -> [f64; 2];

    /// Gaps and complementarity of the finished step, and the works of contact.
    fn finish(&mut self, core: &Core, from: &State, h: f64, to: &mut Attempt, works: &mut Works);

    /// The whole velocity by impulse, where that is what the form is about.
    fn velocity_operator(&mut self, _: &mut Core, _: f64, _: &mut Attempt) -> Result<&Delassus> {
        Err(Error::Input("only contact by impulses has a Delassus operator".into()))
    }
}

/// Makes steps of one scheme on one system, with one form of contact.
pub(in crate::methods) struct Stepper<'a, F> {
    pub core: Core<'a>,
    pub form: F,
    newton: Newton,
    /// Whether one pass is enough.
    affine: bool,
    /// M w and G p in the rows of supports.
    jumps: [Vec<f64>; 2],
}

impl<'a, F: Form> Stepper<'a, F> {
    pub fn new(
        system: &'a System,
        row: Tableau,
        settings: Settings,
        operator: Box<dyn Operator + 'a>,
    ) -> Result<Stepper<'a, F>> {
        let scene = Scene::new(&system.contacts, &system.nodes);
        let form = F::new(system, &row, &settings, &scene)?;
        let driven = if system.drives.is_empty() { 0 } else { system.nodes.total };
        Ok(Stepper {
            core: Core::new(Equations::new(system, row, operator), settings, F::SHIFTS, F::STORAGE),
            affine: system.linear && form.is_affine(system),
            form,
            newton: Newton::new(),
            jumps: [(); 2].map(|()| vec![0.0; driven]),
        })
    }

    /// An attempt of the right size.
    pub fn attempt_for(&self) -> Attempt {
        let system = self.core.equations.system;
        Attempt {
            state: system.state(self.core.has_storage),
            scene: Scene::new(&system.contacts, &system.nodes),
            gaps: vec![0.0; system.contacts.len()],
            old_weights: self.core.equations.row.mean_weights(),
            ..Default::default()
        }
    }

    /// The one pass of an affine step, from the forces at the prediction.
    fn direct_pass(&mut self, from: &State, h: f64, to: &mut Attempt) -> Result<()> {
        let Stepper { core, form, .. } = self;
        core.forces_at_prediction(&mut to.state);
        core.equations.prepare(h, None, to)?;
        core.load_at_prediction(from, &mut to.state);
        form.add_load(core, from, &mut to.state);
        core.equations.solve(&mut to.state.a);
        form.solve(core, h, to)?;
        to.passes = 1;
        core.place(h, &mut to.state);
        Ok(())
    }

    /// Motion, forces and residual at the current acceleration and, unless they say that the step is done, a pass of Newton's
    /// method from there; whether it is done.
    pub fn newton_pass(&mut self, from: &State, h: f64, to: &mut Attempt) -> Result<bool> {
        let Stepper { core, form, newton, .. } = self;
        let system = core.equations.system;
        let mut sizes = core.residual_at(from, h, &mut to.state);
        if form.add_forces(core, from, to) {
            let (residual, q0, q1) = (&core.residual, &from.q, &to.state.q);
            sizes.residual = squares(system, |i| residual[i]);
            sizes.work[1] = (0..system.nodes.free).map(|i| residual[i] * (q1[i] - q0[i])).sum();
        }
        if to.passes == 0 {
            newton.begin(system, &to.state);
        } else {
            let laws = form.residuals(core, to);
            if newton.is_done(core, from, to, &sizes, laws)? {
                return Ok(true);
            }
        }
        form.update_gradients(core, from, to);
        self.prepare(h, to)?;
        self.core.equations.operator.correct(&self.core.residual, &mut to.state.a);
        self.form.solve(&mut self.core, h, to)?;
        to.passes += 1;
        Ok(false)
    }

    fn prepare(&mut self, h: f64, to: &mut Attempt) -> Result<()> {
        let Stepper { core, form, .. } = self;
        if !form.bends(core.equations.system) {
            return core.equations.prepare(h, None, to);
        }
        let mut entries = std::mem::take(&mut core.entries);
        entries.clear();
        form.add_curvature(&core.equations, h, to, &mut |i, j, value| entries.push((i, j, value)));
        let given = |add: &mut dyn FnMut(usize, usize, f64)| entries.iter().for_each(|&(i, j, value)| add(i, j, value));
        let prepared = core.equations.prepare(h, Some(&given), to);
        core.entries = entries;
        prepared
    }

    /// Energies, gaps, balance and complementarity of the finished step.
    fn finish(&mut self, from: &State, h: f64, to: &mut Attempt) -> Result<()> {
        let Stepper { core, form, .. } = self;
        let system = core.equations.system;
        let tally = core.tally(from, h, &mut to.state);
        let mut works = tally.works_of(system, [from, &to.state], &core.passage(from, h));
        form.finish(core, from, h, to, &mut works);
        if from.storage.is_some() {
            let contact = works.contact + works.obstacles;
            works.storage_defect = tally.storage(from, &mut to.state, &core.passage(from, h), contact);
        }
        self.support_works(from, h, to, &mut works);
        to.balance = Balance::close(&from.energy, &to.state.energy, &works);
        to.reweighed = works.reweighed;
        finite(system, &to.state)
    }

    /// Work of moving supports, (T15): reactions over the path, and what of M w a support takes over as an impulse.
    /// Where the scheme carries accelerations, reactions are those of both ends, (T29), so that schemes which make the same
    /// motion book the same work; what their weighted mean does beyond that belongs to the scheme.
    fn support_works(&mut self, from: &State, h: f64, to: &mut Attempt, works: &mut Works) {
        let Stepper { core, form, jumps: [momentum, pushed], .. } = self;
        let (system, row) = (core.equations.system, core.equations.row);
        let (free, total) = (system.nodes.free, system.nodes.total);
        if system.drives.is_empty() {
            return;
        }
        core.residual_of_supports(from, h, &to.state);
        form.add_reactions(core, from, to);
        let instant = row.carries_acceleration();
        for ((new, old), weighted) in to.state.reaction.iter_mut().zip(&from.reaction).zip(&core.residual[free..]) {
            *new = if instant { (weighted - row.alpha_f * old) / (1.0 - row.alpha_f) } else { *weighted };
        }
        momentum[free..].fill(0.0);
        pushed.fill(0.0);
        if core.motion.jumped {
            for start in (free..total).step_by(CHUNK) {
                let rows = start..total.min(start + CHUNK);
                system.inertia.rows_times(rows.clone(), [&core.motion.jump], [&mut momentum[rows]]);
            }
            to.scene.push(&to.state.impulse, pushed);
        }
        for &(d, _) in &system.drives {
            let path = to.state.q[d] - from.q[d];
            let impulse = momentum[d] - pushed[d];
            let (before, after) = (from.reaction[d - free], to.state.reaction[d - free]);
            let mean = if instant { 0.5 * (before + after) } else { after };
            works.supports += mean * path + 0.5 * (from.v[d] + to.state.v[d]) * impulse;
            works.reweighed += (core.residual[d] - mean) * path;
        }
    }

    /// The whole Delassus operator at a state, row by row: for tests and diagnostics.
    pub fn delassus_matrix(&mut self, at: &State, h: f64) -> Result<Vec<Vec<f64>>> {
        let mut attempt = self.attempt_for();
        attempt.state.q.copy_from_slice(&at.q);
        let Stepper { core, form, .. } = self;
        core.forces(&mut attempt.state);
        core.equations.prepare(h, None, &mut attempt)?;
        let system = core.equations.system;
        attempt.scene.look(&system.contacts, &system.nodes, at, at.time + h, core.equations.row.c);
        let m = attempt.scene.rows;
        let operator = form.velocity_operator(core, h, &mut attempt)?;
        let mut rows = vec![vec![0.0; m]; m];
        for column in 0..m {
            for &(row, value) in operator.column(column) {
                rows[row as usize][column] = value;
            }
        }
        Ok(rows)
    }
}

/// Stops at the step that made a NaN or an infinity, and says where.
pub(in crate::methods) fn finite(system: &System, state: &State) -> Result<()> {
    if state.energy.total().is_finite() {
        return Ok(());
    }
    for (quantity, values) in [("displacement", &state.q), ("velocity", &state.v), ("acceleration", &state.a)] {
        if let Some(dof) = values.iter().position(|x| !x.is_finite()) {
            return Err(Error::Guard(format!(
                "the {quantity} became {} in step {} (t = {}) at {}",
                values[dof],
                state.step,
                state.time,
                system.describe(dof)
            )));
        }
    }
    Err(Error::Guard(format!("the energy became infinite in step {} (t = {})", state.step, state.time)))
}

impl<F: Form> Method for Stepper<'_, F> {
    fn initial_attempt(&mut self, h: f64) -> Result<Attempt> {
        let mut attempt = self.attempt_for();
        self.core.start(h, &mut attempt.state)?;
        show(self.core.equations.system, &mut attempt);
        Ok(attempt)
    }

    fn attempt(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) -> Result<()> {
        self.core.predict(from, h, t1, to);
        self.form.activate(&self.core, from, h, t1, to);
        if self.affine {
            self.direct_pass(from, h, to)?;
        } else {
            self.core.guess(from, &mut to.state);
            while !self.newton_pass(from, h, to)? {}
        }
        self.finish(from, h, to)
    }

    fn kept(&self) -> KeptFactors {
        KeptFactors { factored: self.core.equations.made, due: None }
    }

    fn restore(&mut self, kept: KeptFactors) -> Result<()> {
        self.core.equations.restore(kept.factored)
    }

    fn factorization(&self) -> &'static str {
        self.core.equations.operator.factorization()
    }
}

/// What touches in the state of an attempt.
pub(in crate::methods) fn show(system: &System, attempt: &mut Attempt) {
    attempt.scene.look_at(&system.contacts, &system.nodes, &attempt.state);
    attempt.gaps.clear();
    attempt.gaps.extend(attempt.scene.candidates.iter().map(|candidate| candidate.gap_at_end(&attempt.state.q)));
    clear(&mut attempt.state.impulse, attempt.scene.rows);
    attempt.scene.note(&mut attempt.state);
}
