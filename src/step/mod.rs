//! One step of any scheme: the only place with the algebra of a step.
//!
//! ```text
//! (T1)  v1 = v0 + h (g0 a0 + g1 a1) + w
//! (T2)  q1 = q0 + h v0 + h² (b0 a0 + b1 a1) + u,                   u = h c w
//! (T3)  M [α_m a0 + (1−α_m) a1] + [α_f f0 + (1−α_f) f1] + [α_c d0 + (1−α_c) d1] = 0
//! (T4)  M w = G p,   0 ≤ U1 + e U0 ⊥ p ≥ 0 on active contacts
//! (T7)  position-corrected: M u = G ν instead of u = h c w,   0 ≤ g(q1) ⊥ ν ≥ 0 on all contacts
//! ```
//!
//! f is the internal force less loads and gravity, d the damping force. Newton's method on (T3) is exact after one
//! pass when both are affine: a linear model differs only in that its factor and Delassus operator are kept.

mod beams;
mod chain;
mod contact;
mod force;
mod matrix;
mod motion;
mod newton;
mod sums;
mod touch;
mod work;

use crate::case::data::{self, ContactMethod, Position};
use crate::contact::active_set::ActiveSet;
use crate::contact::{Candidate, Scene};
use crate::la::{Factor, Processor, Symmetric};
use crate::ledger;
use crate::methods::{Attempt, Memory, Method};
use crate::schemes::Tableau;
use crate::state::State;
use crate::system::System;
use crate::{Error, Result};
use beams::Beams;
use chain::Chain;
use contact::Operators;
use force::Force;
pub use force::admit;
use matrix::Matrix;
pub(crate) use newton::{STALLED, newton_limit, squares};
pub(crate) use sums::Sizes;
use touch::active_set;
pub(crate) use touch::active_set_bytes;
use work::Work;

/// Tolerance on gaps at activation, of the length of the model: closed contacts sit at round-off on either side.
const ACTIVATION: f64 = 1e-11;

/// Settings of the stepper beyond the tableau.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Activation forecast γ_a.
    pub forecast: f64,
    /// How an impact moves positions.
    pub position: Position,
    /// Newton iteration.
    pub newton: data::Newton,
    /// Contact solver.
    pub contact: data::ContactSolver,
}

/// Makes steps of one scheme on one system.
pub struct Stepper<'a> {
    system: &'a System,
    row: Tableau,
    settings: Settings,
    arch: Processor,
    mass_factor: Factor,
    matrix: Matrix,
    /// Step size that the factor belongs to, and the step that made it, while it is valid.
    factored: Option<(f64, u64)>,
    operators: Operators,
    /// Solver for many contacts, where each is a bound on one degree of freedom.
    active_set: Option<ActiveSet>,
    /// What contact as a force needs, where nodes are massless.
    force: Option<Force>,
    /// The faster step of systems that are a line of unknowns.
    chain: Option<Box<Chain>>,
    work: Work,
}

impl<'a> Stepper<'a> {
    /// A stepper; factors the mass matrix.
    pub fn new(system: &'a System, row: Tableau, settings: Settings) -> Result<Stepper<'a>> {
        let n = system.nodes.total;
        let scene = Scene::new(system);
        let m = scene.rows;
        admit(&row, settings.position, system)?;
        let mut mass_factor = Factor::new(&system.mass.pattern, system.nodes.free);
        mass_factor
            .factor(&system.regular_mass())
            .map_err(|s| Error::Solver(format!("the mass matrix is singular near {}", system.describe(s.row))))?;
        Ok(Stepper {
            row,
            arch: Processor::new(),
            mass_factor,
            matrix: Matrix::new(system),
            factored: None,
            operators: Operators::new(settings.position, m),
            active_set: match active_set(system, &scene, &row, &settings) {
                Ok(active_set) => active_set,
                Err(reason) if settings.contact.method == ContactMethod::ActiveSet => {
                    return Err(Error::Input(format!(
                        "solver.contact.method = \"active-set\" does not fit: {reason}; take \"auto\""
                    )));
                }
                Err(_) => None,
            },
            force: Force::of(system),
            chain: Chain::of(system, &row, &settings).map(Box::new),
            work: Work::new(n, m),
            settings,
            system,
        })
    }

    /// The state at t = 0: the acceleration balances all forces but those of contact.
    pub fn start(&mut self, h: f64) -> State {
        let system = self.system;
        let mut state = State::zeros(system, self.has_storage());
        state.q.copy_from_slice(&system.q0);
        state.v.copy_from_slice(&system.v0);
        system.applied(0.0, &mut state.applied);
        self.forces(&mut state);
        self.accelerate(&mut state, &[]);
        self.initial_reactions(&mut state, &[]);
        self.energies(&mut state);
        ledger::initial_storage(&mut state, &self.row, h);
        state
    }

    /// The acceleration at t = 0 from the forces of a state, those of contact included; zero where there is no mass.
    fn accelerate(&mut self, state: &mut State, candidates: &[Candidate]) {
        let (system, work) = (self.system, &mut self.work);
        state.a.fill(0.0);
        for (dof, function) in &system.drives {
            state.a[*dof] = function.second_rate(0.0);
        }
        system.inertia.multiply(&state.a, &mut work.first);
        work.second.fill(0.0);
        for (candidate, &force) in candidates.iter().zip(&state.force) {
            candidate.push(force, &mut work.second);
        }
        for i in 0..system.nodes.free {
            let force = system.gravity[i] + state.applied[i] - state.internal[i] - state.viscous[i] + work.second[i];
            state.a[i] = force - work.first[i];
        }
        system.redistribution.iter().flat_map(|r| r.massless()).for_each(|&i| state.a[i] = 0.0);
        self.mass_factor.solve(&mut state.a);
    }

    /// An attempt of the right size for [`Stepper::attempt`].
    pub fn attempt_for(&self) -> Attempt {
        Attempt {
            state: State::zeros(self.system, self.has_storage()),
            scene: Scene::new(self.system),
            gaps: vec![0.0; self.system.contacts.len()],
            ..Default::default()
        }
    }

    /// Whether the storage function and its identity hold for this run: they need a linear system on
    /// supports at rest, and contact as impulses.
    fn has_storage(&self) -> bool {
        self.row.storage && self.system.linear && self.system.drives.is_empty() && self.force.is_none()
    }

    /// Whether one pass is not enough: something is not affine, forces or gaps that must vanish.
    fn iterates(&self) -> bool {
        let positions = self.settings.position == Position::Ggl || self.force.is_some();
        !self.system.linear || (positions && !self.system.contacts.steady())
    }

    /// Whether a step is one pass from no acceleration.
    fn is_plain(&self) -> bool {
        !self.iterates() && self.system.drives.is_empty() && self.force.is_none()
    }

    /// Factor and Delassus columns for this pass; kept from step to step in linear runs.
    fn prepare(&mut self, h: f64, to: &mut Attempt) -> Result<()> {
        let (system, row) = (self.system, &self.row);
        let curved = self.force.is_some() && !system.contacts.steady();
        let known = self.factored.filter(|_| system.linear && !curved).is_some_and(|(size, _)| size == h);
        if !known {
            let weights = [1.0 - row.alpha_m, (1.0 - row.alpha_c) * h * row.g1, (1.0 - row.alpha_f) * h * h * row.b1];
            let bent = self.force.as_ref().filter(|_| curved);
            let bend = |matrix: &mut Symmetric| {
                if let Some(force) = bent {
                    force.curve(h, row, system.nodes.free, to, matrix);
                }
            };
            self.matrix.prepare(system, &to.state.q, weights, &self.work.residual, bend).map_err(|s| {
                Error::Solver(format!("the matrix of the step is singular near {}", system.describe(s.row)))
            })?;
            if !system.linear {
                to.factorizations += 1;
            }
            self.factored = Some((h, to.state.step));
            self.operators.clear();
            if let Some(active_set) = &mut self.active_set {
                active_set.clear();
            }
            self.force.iter_mut().for_each(Force::clear);
        }
        // A factor that is kept counts for the step that made it, also if that step has to be made again.
        if system.linear && self.factored.is_some_and(|(_, step)| step == to.state.step) {
            to.factorizations = 1;
        }
        Ok(())
    }

    /// The whole Delassus operator at a state, row by row: for tests and diagnostics.
    pub fn delassus_matrix(&mut self, at: &State, h: f64) -> Result<Vec<Vec<f64>>> {
        let mut attempt = self.attempt_for();
        attempt.state.q.copy_from_slice(&at.q);
        self.forces(&mut attempt.state);
        self.prepare(h, &mut attempt)?;
        attempt.scene.look(self.system, at, at.time + h, self.row.c);
        let m = attempt.scene.rows;
        self.operators.resize(m);
        let mut rows = vec![vec![0.0; m]; m];
        self.work.active.clear();
        self.work.active.extend(0..attempt.scene.candidates.len() as u32);
        for contact in 0..attempt.scene.candidates.len() {
            self.impulse_columns(contact, h, &attempt)?;
            for (column, _) in attempt.scene.candidates[contact].rows_of() {
                for &(row, value) in self.operators.velocity.column(column) {
                    rows[row as usize][column] = value;
                }
            }
        }
        Ok(rows)
    }

    /// Motion, forces and residual at the current acceleration and, unless they say that the step is done, a pass from
    /// there; returns whether it is done. Public for benches.
    pub fn iterate(&mut self, from: &State, h: f64, to: &mut Attempt) -> Result<bool> {
        if self.is_plain() {
            self.foresee(&mut to.state);
            self.prepare(h, to)?;
            self.accelerate_freely(from, &mut to.state);
            self.solve_contact(h, to)?;
            to.passes += 1;
            return Ok(false);
        }
        let sizes = if self.iterates() {
            self.look(from, h, to)
        } else {
            self.foresee(&mut to.state);
            self.bend_forces(from, to);
            self.residual(from, to)
        };
        if self.converged(from, to, sizes)? {
            return Ok(true);
        }
        self.bend(from, to);
        self.prepare(h, to)?;
        self.pass(h, to)?;
        to.passes += 1;
        Ok(false)
    }

    /// Lets chains of beams go without lanes: for tests and benches.
    pub fn narrow(&mut self) {
        self.matrix.beams = Beams::of(self.system, false).map(Box::new);
    }

    /// One Newton pass: the acceleration without further impulses, then contact and the answer to it.
    fn pass(&mut self, h: f64, to: &mut Attempt) -> Result<()> {
        let work = &mut self.work;
        self.matrix.correct(&work.residual, &mut to.state.a, &mut work.delta);
        if self.force.is_some() { self.solve_forces(h, to) } else { self.solve_contact(h, to) }
    }

    /// Energies, gaps, balance and complementarity of the finished step.
    fn finish(&mut self, from: &State, h: f64, to: &mut Attempt) -> Result<()> {
        if !self.asks_for_rates() {
            self.rates(h, &mut to.state);
        }
        let tally = self.tally(from, h, &mut to.state);
        let obstacles = self.finish_contact(to);
        let (system, work, passage) = (self.system, &self.work, self.passage(from, h));
        to.balance = tally.balance(system, [from, &to.state], &passage, [&work.u0, &work.u1]);
        to.balance.support += obstacles;
        to.balance.defect -= obstacles;
        if system.contacts.rough() {
            let sliding = to.scene.candidates.iter().filter(|candidate| candidate.slides()).map(|c| c.row + 1);
            to.balance.friction = sliding.map(|t| 0.5 * (work.u0[t] + work.u1[t]) * to.state.impulse[t]).sum();
        }
        if from.storage.is_some() {
            let contact = to.balance.contact + obstacles;
            to.balance.storage_defect = tally.storage(from, &mut to.state, &passage, contact);
        }
        if !system.drives.is_empty() {
            self.support_work(from, to);
        }
        self.finish_force(from, h, to);
        self.finite(&to.state)
    }

    /// Work of moving supports, (T15): reactions over the path, and what of M w a support takes over as an impulse.
    /// Where the scheme carries accelerations, reactions are those of both ends, (T29), so that schemes which make the same
    /// motion book the same work; what their weighted mean does beyond that belongs to the scheme.
    fn support_work(&mut self, from: &State, to: &mut Attempt) {
        self.reactions(from, to);
        let (system, row, work, free) = (self.system, &self.row, &mut self.work, self.system.nodes.free);
        let weighted = &work.residual[free..];
        let instant = row.carries_acceleration();
        for ((new, old), weighted) in to.state.reaction.iter_mut().zip(&from.reaction).zip(weighted) {
            *new = if instant { (weighted - row.alpha_f * old) / (1.0 - row.alpha_f) } else { *weighted };
        }
        system.inertia.multiply(&work.jump, &mut work.first);
        work.second.fill(0.0);
        if self.force.is_none() {
            to.scene.push(&to.state.impulse, &mut work.second);
        }
        let (mut support, mut scheme) = (0.0, 0.0);
        for &(d, _) in &system.drives {
            let path = to.state.q[d] - from.q[d];
            let impulse = work.first[d] - work.second[d];
            let (before, after) = (from.reaction[d - free], to.state.reaction[d - free]);
            let mean = if instant { 0.5 * (before + after) } else { after };
            support += mean * path + 0.5 * (from.v[d] + to.state.v[d]) * impulse;
            scheme += (work.residual[d] - mean) * path;
        }
        to.balance.support += support;
        to.balance.scheme += scheme;
        to.balance.defect -= support + scheme;
        to.reweighed = scheme;
    }

    /// Reactions of supports at the start: all forces in their rows, those of contact included.
    fn initial_reactions(&mut self, state: &mut State, candidates: &[Candidate]) {
        let (system, work, free) = (self.system, &mut self.work, self.system.nodes.free);
        system.inertia.multiply(&state.a, &mut work.first);
        work.second.fill(0.0);
        for (candidate, &force) in candidates.iter().zip(&state.force) {
            candidate.push(force, &mut work.second);
        }
        for (reaction, i) in state.reaction.iter_mut().zip(free..) {
            let load = system.gravity[i] + state.applied[i] + work.second[i];
            *reaction = work.first[i] + state.internal[i] + state.viscous[i] - load;
        }
    }

    /// Stops at the step that made a NaN or an infinity, and says where.
    fn finite(&self, state: &State) -> Result<()> {
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
                    self.system.describe(dof)
                )));
            }
        }
        Err(Error::Guard(format!("the energy became infinite in step {} (t = {})", state.step, state.time)))
    }
}

impl Method for Stepper<'_> {
    fn initial_attempt(&mut self, h: f64) -> Result<Attempt> {
        let mut attempt = self.attempt_for();
        attempt.state = self.start(h);
        self.settle(&mut attempt.state)?;
        if self.chain.is_some() {
            attempt.state = attempt.state.without_forces(self.system);
        }
        attempt.scene.look_at(self.system, &attempt.state);
        attempt.gaps.clear();
        attempt.gaps.extend(attempt.scene.candidates.iter().map(|candidate| candidate.gap_at_end(&attempt.state.q)));
        attempt.state.impulse.resize(attempt.scene.rows, 0.0);
        attempt.scene.note(&mut attempt.state.found);
        Ok(attempt)
    }

    fn attempt(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) -> Result<()> {
        if let Some(mut chain) = self.chain.take() {
            let result = self.attempt_chain(&mut chain, from, h, t1, to);
            self.chain = Some(chain);
            return result;
        }
        self.begin(from, h, t1, to);
        while !self.iterate(from, h, to)? {
            if !self.iterates() {
                self.place(h, &mut to.state);
                break;
            }
        }
        self.finish(from, h, to)
    }

    fn memory(&self) -> Memory {
        Memory { factored: self.factored }
    }

    fn recall(&mut self, memory: Memory) -> Result<()> {
        if let Some((h, step)) = memory.factored.filter(|_| self.system.linear) {
            let mut attempt = self.attempt_for();
            attempt.state.step = step;
            self.prepare(h, &mut attempt)?;
        }
        self.factored = memory.factored;
        Ok(())
    }

    fn factorization(&self) -> &'static str {
        self.matrix.name()
    }
}
