//! The law of contact in velocities, (T4), on the contacts that are active in a step: 0 ≤ U1 + e U0 ⊥ p ≥ 0, or that with
//! friction.

use super::{ACTIVATION, Settings};
use crate::case::data::ContactSolver;
use crate::la::{Sum, larger};
use crate::laws::{Delassus, Local, Outcome, Problem, Scratch, Solver, Unilateral, law_of};
use crate::ledger::Works;
use crate::methods::Attempt;
use crate::model::Component;
use crate::relations::candidate::Row;
use crate::relations::{Candidate, Scene};
use crate::schemes::Tableau;
use crate::state::State;
use crate::system::System;
use crate::{Error, Result};

/// Scaled residual of the law below which a nonlinear pass may be the last; the law is linear in a pass, so it is met to
/// round-off as soon as a pass found an answer.
pub(super) const CONTACT: f64 = 1e-10;

/// The law with its velocities and impulses along all rows of the scene.
pub(in crate::methods) struct VelocityLaw {
    /// Relative velocities at the start and at the end of the step.
    pub u0: Vec<f64>,
    pub u1: Vec<f64>,
    /// Velocities without impulse, plus restitution; and those with the impulses of the solve.
    pub b: Vec<f64>,
    y: Vec<f64>,
    /// Impulses of the solve; before it, its warm start.
    pub impulse: Vec<f64>,
    /// Contacts that take part.
    pub active: Vec<u32>,
    /// Velocity by impulse: the Delassus operator W of (T5).
    pub delassus: Delassus,
    locals: Vec<Local>,
    scratch: Scratch,
}

impl VelocityLaw {
    pub fn new(scene: &Scene) -> VelocityLaw {
        let (rows, contacts) = (scene.rows, scene.candidates.len());
        let zeros = || vec![0.0; rows];
        let mut delassus = Delassus::default();
        delassus.resize(rows);
        VelocityLaw {
            u0: zeros(),
            u1: zeros(),
            b: zeros(),
            y: zeros(),
            impulse: zeros(),
            active: Vec::with_capacity(contacts),
            delassus,
            locals: Vec::with_capacity(contacts),
            scratch: Scratch::new(contacts),
        }
    }

    /// Looks around before a step: what may touch, with its gaps and velocities at the start, and the warm start of the solve.
    /// Nothing is active yet.
    pub fn begin(&mut self, system: &System, row: &Tableau, from: &State, t1: f64, to: &mut Attempt) {
        self.active.clear();
        if system.contacts.is_empty() {
            return;
        }
        begin_contact(system, row, from, t1, to);
        if !system.contacts.steady() {
            self.delassus.clear();
            self.delassus.resize(to.scene.rows);
            for vector in [&mut self.u0, &mut self.u1, &mut self.b, &mut self.y] {
                clear(vector, to.scene.rows);
            }
        }
        to.scene.recall(from, &mut self.impulse);
        to.scene.rates(&from.v, 0, &mut self.u0);
    }

    /// Makes contacts active whose gap closes by the forecast, (T51).
    pub fn activate(&mut self, system: &System, settings: &Settings, h: f64, to: &mut Attempt) {
        let (u0, ahead, scene) = (&self.u0[..], settings.forecast * h, &to.scene);
        for (i, gap) in to.gaps.iter().enumerate() {
            let rows = scene.rows_of(i);
            let (rate, drift) = (u0[rows.start], scene.drift(rows.start)[0]);
            let forecast = gap + ahead * rate;
            // A point on the point of its plane has no length, but it moves.
            let path = h * larger((rate + drift).abs(), drift.abs());
            if scene.responds(i) && forecast <= ACTIVATION * (system.length + path) {
                self.active.push(i as u32);
            } else {
                self.impulse[rows].fill(0.0);
            }
        }
        to.active = self.active.len();
    }

    /// Sets the velocities that active contacts would have without impulse, from the entries of the velocity of the pass.
    pub fn set_free_rates(&mut self, scene: &Scene, v: impl Fn(usize) -> f64) {
        for row in self.active.iter().flat_map(|&i| scene.rows_of(i as usize)) {
            self.b[row] = scene.law_rate(row, scene.rate(row, &v), &self.u0);
        }
    }

    /// Solves the law of the active contacts for the impulses, with the velocities without impulse in `b`.
    pub fn solve(&mut self, rough: bool, settings: &ContactSolver, scene: &Scene) -> Outcome {
        let VelocityLaw { delassus, active, locals, scratch, b, y, impulse, .. } = self;
        locals.clear();
        // Without friction candidates, which are long, need not be read.
        locals.extend(active.iter().map(|&i| match rough {
            true => local(&scene.candidates[i as usize]),
            false => Local { row: scene.rows_of(i as usize).start, law: &Unilateral, constant: 0.0 },
        }));
        Problem { delassus, contacts: locals, b }.solve(settings, scratch, impulse, y)
    }

    /// Relative velocities along all rows at the end of the step.
    pub fn update_end_rates(&mut self, to: &Attempt) {
        to.scene.rates(&to.state.v, 1, &mut self.u1);
    }

    /// Worst residual of the law at the velocities of the end, of the largest relative velocity, or of the velocities that
    /// it is a difference of, where it is no more than their rounding.
    pub fn residual(&self, to: &Attempt) -> f64 {
        let (scene, mut worst, mut scale) = (&to.scene, 0.0_f64, 0.0_f64);
        let law = |row: usize| self.u1[row] + scene.restitution(row) * self.u0[row];
        for &i in &self.active {
            let rows = scene.rows_of(i as usize);
            for row in rows.clone() {
                scale = larger(larger(scale, self.u0[row].abs()), larger(self.u1[row].abs(), self.b[row].abs()));
            }
            let natural = if rows.len() == 1 {
                let push = self.delassus.diagonal(rows.start).abs() * to.state.impulse[rows.start];
                push.min(law(rows.start)).abs()
            } else {
                let (mut u, mut r, mut w) = ([0.0; 2], [0.0; 2], [0.0, 0.0, 0.0, 1.0]);
                for (k, row) in rows.enumerate() {
                    (u[k], r[k], w[3 * k]) = (law(row), to.state.impulse[row], self.delassus.diagonal(row));
                }
                let local = Local { row: 0, ..local(&scene.candidates[i as usize]) };
                local.law.residual(&local.site(&w, &r, &u))
            };
            worst = if natural.is_nan() { f64::INFINITY } else { larger(worst, natural) };
        }
        if worst == 0.0 {
            return 0.0;
        }
        // What moves along with its obstacle has relative velocities that are rounding.
        if worst > CONTACT * scale {
            scale = larger(scale, self.speed(to));
        }
        worst / scale
    }

    /// Largest velocity of an active contact, of its nodes and of the obstacle each by itself.
    fn speed(&self, to: &Attempt) -> f64 {
        let speed = |(row, entries): (usize, &Row)| {
            let nodes: f64 = entries.entries().iter().map(|&(dof, part)| (part * to.state.v[dof as usize]).abs()).sum();
            nodes + to.scene.drift(row)[1].abs()
        };
        let active = self.active.iter().map(|&i| &to.scene.candidates[i as usize]);
        active.flat_map(|candidate| candidate.rows_of().map(speed)).fold(0.0, f64::max)
    }

    /// Gaps and velocities of the finished step, and the works of its impulses.
    pub fn finish(&mut self, rough: bool, c: f64, to: &mut Attempt, works: &mut Works) {
        self.update_end_rates(to);
        let (scene, state, u0, u1) = (&to.scene, &to.state, &self.u0[..], &self.u1[..]);
        scene.gaps(&state.q, 1, &mut to.gaps);
        let (mut obstacles, mut granted) = (0.0, 0.0);
        for (row, &impulse) in state.impulse.iter().enumerate().filter(|(_, impulse)| **impulse != 0.0) {
            let drift = scene.drift(row);
            obstacles += 0.5 * (drift[0] + drift[1]) * impulse;
            let receding = (1.0 - c * (1.0 + scene.restitution(row))) * u0[row] * impulse;
            granted += larger(0.0, receding) + (c - 0.5) * (drift[1] - drift[0]) * impulse;
        }
        let mut contact = Sum::default();
        contact.add([u0, u1, &state.impulse], |[u0, u1, p]| (u0 + u1) * p);
        if rough {
            let sliding = scene.candidates.iter().filter(|candidate| candidate.slides()).map(|c| c.row + 1);
            works.friction = sliding.map(|t| 0.5 * (u0[t] + u1[t]) * state.impulse[t]).sum();
        }
        (works.contact, works.obstacles, to.granted) = (0.5 * contact.total(), obstacles, granted);
    }
}

/// Looks around before a step: what may touch, and its gaps at the start. The step begins without impulse.
pub(super) fn begin_contact(system: &System, row: &Tableau, from: &State, t1: f64, to: &mut Attempt) {
    to.scene.look(&system.contacts, &system.nodes, from, t1, row.c);
    clear(&mut to.state.impulse, to.scene.rows);
    to.scene.note(&mut to.state);
    to.scene.end_rates(&mut to.state.obstacle_rates);
    to.scene.gaps(&from.q, 0, &mut to.gaps);
}

/// Zeros for so many rows.
pub(super) fn clear(vector: &mut Vec<f64>, rows: usize) {
    vector.clear();
    vector.resize(rows, 0.0);
}

fn local(candidate: &Candidate) -> Local {
    let (law, constant) = law_of(&candidate.law);
    Local { row: candidate.row, law, constant }
}

/// Counts a solve, and refuses one that failed.
pub(in crate::methods) fn accept(
    outcome: Outcome,
    active: &[u32],
    system: &System,
    tolerance: f64,
    to: &mut Attempt,
) -> Result<()> {
    to.sweeps += outcome.sweeps;
    to.method = outcome.method;
    // Far from the solution of a nonlinear step a single contact may have no answer; the next pass asks again, and
    // no step is accepted before the law holds.
    let provisional = !system.linear && outcome.method == Solver::Closed;
    if outcome.converged || provisional { Ok(()) } else { Err(unsolved(outcome, active, tolerance, to)) }
}

/// The error of a contact solve that failed.
pub(super) fn unsolved(outcome: Outcome, active: &[u32], tolerance: f64, to: &Attempt) -> Error {
    let active = || active.iter().map(|&i| &to.scene.candidates[i as usize]);
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
        "{start}: {} active contacts, {} sweeps, residual {:.3e} above the tolerance {tolerance:.3e}; {cure}",
        active().count(),
        outcome.sweeps,
        outcome.residual,
    ))
}

/// Refuses an impulse that does not separate its contact.
pub(super) fn check_diagonal(system: &System, delassus: &Delassus, candidate: &Candidate) -> Result<()> {
    let entry = delassus.diagonal(candidate.row);
    // The tangent of a nonlinear pass far from the solution proves nothing.
    if entry > 0.0 || !system.linear {
        return Ok(());
    }
    let node = candidate.key.node as usize;
    Err(Error::Solver(format!(
        "an impulse at {} does not separate the contact (Delassus entry {entry:e}): the node is held, or the step is \
         too large for this scheme; take a smaller step, parameters with 2 beta >= gamma, or position = \"ggl\"",
        system.describe(system.nodes.dof(node, Component::X) as usize),
    )))
}
