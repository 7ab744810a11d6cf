//! Equilibrium paths: f_int(q) = F(t) + G λ with 0 ≤ g(q) ⊥ λ ≥ 0, (T60), where t is the load parameter.
//!
//! The same elements, contacts and sinks as in a transient; inertia and damping are absent.

mod stability;

pub use stability::unstable_advice;

use crate::case::data::ContactSolver;
use crate::contact::Scene;
use crate::contact::active_set::diagonal;
use crate::contact::delassus::Delassus;
use crate::contact::shape::{inner, minus};
use crate::contact::solver::{Method as Solver, Problem};
use crate::la::{Factor, Symmetric, dot};
use crate::ledger::Balance;
use crate::methods::{Attempt, Memory, Method};
use crate::state::State;
use crate::step::{STALLED, Settings, Sizes, newton_limit, squares};
use crate::system::System;
use crate::{Error, Result};

/// Solves for equilibrium at given loads.
pub struct Statics<'a> {
    system: &'a System,
    passes: usize,
    tolerance: f64,
    contact: ContactSolver,
    tangent: Symmetric,
    factor: Factor,
    factored: Option<(f64, u64)>,
    compliance: Delassus,
    residual: Vec<f64>,
    delta: Vec<f64>,
    push: Vec<f64>,
    /// Contact forces at the last equilibrium and at this one, and how obstacles stood and leaned at the last.
    pushed: [Vec<f64>; 2],
    shifts: Vec<[f64; 2]>,
    normals: Vec<[f64; 2]>,
    gaps: Vec<f64>,
    force: Vec<f64>,
    y: Vec<f64>,
    closing: Vec<u32>,
    /// Whether the tangent of a pass of this attempt was singular or had negative pivots.
    turned: bool,
}

impl<'a> Statics<'a> {
    /// A solver with the tolerances of a stepper.
    pub fn new(system: &'a System, settings: &Settings) -> Statics<'a> {
        let (n, m) = (system.nodes.total, system.contacts.len());
        Statics {
            system,
            passes: settings.newton.passes,
            tolerance: settings.newton.tolerance,
            contact: settings.contact.clone(),
            tangent: Symmetric::zeros(system.mass.pattern.clone()),
            factor: Factor::new(&system.mass.pattern, system.nodes.free),
            factored: None,
            compliance: Delassus::default(),
            residual: vec![0.0; n],
            delta: vec![0.0; n],
            push: vec![0.0; n],
            pushed: [vec![0.0; n], vec![0.0; n]],
            shifts: Vec::new(),
            normals: Vec::new(),
            gaps: vec![0.0; m],
            force: vec![0.0; m],
            y: vec![0.0; m],
            closing: Vec::new(),
            turned: false,
        }
    }

    /// Sizes of the residual and below what they may be left.
    fn sizes(&self, state: &State) -> ([f64; 2], [f64; 2]) {
        let system = self.system;
        let places = (0..system.nodes.free).filter(|&i| !system.nodes.is_rotation(i));
        let sizes = Sizes {
            internal: squares(system, |i| state.internal[i]),
            residual: squares(system, |i| self.residual[i]),
            farthest: places.map(|i| state.q[i].abs()).fold(0.0, f64::max),
            ..Default::default()
        };
        let load = squares(system, |i| state.applied[i] + system.gravity[i]);
        newton_limit(system, &sizes, load, self.tolerance)
    }

    /// Newton's method at the loads of `to.state.time`, from the places in `to.state.q`.
    fn equilibrate(&mut self, to: &mut Attempt) -> Result<()> {
        let system = self.system;
        (to.passes, to.factorizations, to.sweeps, to.method) = (0, 0, 0, Solver::None);
        self.turned = false;
        system.applied(to.state.time, &mut to.state.applied);
        self.force.copy_from_slice(&to.state.force);
        self.compliance.resize(self.force.len());
        let mut last = f64::INFINITY;
        loop {
            to.state.energy.strain = system.internal(&to.state.q, &mut to.state.internal);
            to.scene.look_at(system, &to.state);
            self.out_of_balance(to);
            let (residual, limit) = self.sizes(&to.state);
            let worst =
                (0..2).map(|c| if residual[c] > 0.0 { residual[c] / limit[c] } else { 0.0 }).fold(0.0, f64::max);
            let law = self.contact_residual(to);
            // Near the limit passes go on while they help: few steps carry the whole path, and each is to be exact.
            let settled = worst > 0.25 * last || worst == 0.0 || to.passes >= self.passes;
            if worst <= STALLED && law <= 1e-10 && settled {
                to.complementarity = law;
                return Ok(());
            }
            if to.passes >= self.passes || worst.is_nan() || residual.iter().any(|r| r.is_nan()) {
                return Err(Error::Solver(format!(
                    "no equilibrium found in step {} (t = {}) after {} passes (residual {worst:.1e} times its limit, \
                     contact {law:.1e}); apply the load in smaller steps",
                    to.state.step, to.state.time, to.passes
                )));
            }
            last = worst;
            self.pass(to, worst)?;
            to.passes += 1;
        }
    }

    /// Residual f_int − F − G λ, free rows first.
    fn out_of_balance(&mut self, to: &Attempt) {
        let (system, state) = (self.system, &to.state);
        self.push.fill(0.0);
        to.scene.push(&self.force, &mut self.push);
        for i in 0..system.nodes.total {
            self.residual[i] = state.internal[i] - state.applied[i] - system.gravity[i] - self.push[i];
        }
    }

    /// Worst gap of a pressed contact, or penetration of another, of the length of the model.
    fn contact_residual(&self, to: &Attempt) -> f64 {
        let mut worst = 0.0_f64;
        for (i, candidate) in to.scene.candidates.iter().enumerate().filter(|(_, c)| c.responds) {
            let gap = candidate.gap_at_end(&to.state.q);
            let natural = if self.force[i] > 0.0 { gap.abs() } else { (-gap).max(0.0) };
            worst = worst.max(natural / self.system.length);
        }
        worst
    }

    fn pass(&mut self, to: &mut Attempt, worst: f64) -> Result<()> {
        let system = self.system;
        let free = system.nodes.free;
        let steady = system.linear && system.contacts.steady();
        if self.factored.is_none() || !steady {
            system.effective(&to.state.q, 0.0, 0.0, 1.0, &mut self.tangent);
            self.bend(to);
            let factored = self.factor.factor(&self.tangent);
            self.turned |= factored.is_err() || self.factor.negative() > 0;
            factored.map_err(|s| mechanism(system, s.row))?;
            self.factored = Some((0.0, to.state.step));
            if !steady {
                to.factorizations += 1;
            }
            self.compliance.clear();
        }
        if steady && self.factored.is_some_and(|(_, step)| step == to.state.step) {
            to.factorizations = 1;
        }
        // The forces are found anew below, so the structure moves as if there were none.
        for i in 0..free {
            self.residual[i] += self.push[i];
            self.delta[i] = -self.residual[i];
        }
        self.delta[free..].fill(0.0);
        self.factor.solve(&mut self.delta);
        // A residual near its floor is noise itself and says nothing about the matrix.
        if worst > 1e6 {
            self.refine()?;
        }
        // Gaps along their tangents: where a gap is curved, the next pass looks again.
        for (gap, candidate) in self.gaps.iter_mut().zip(&to.scene.candidates) {
            *gap = candidate.gap_at_end(&to.state.q) + candidate.rate(&self.delta);
        }
        for i in 0..free {
            to.state.q[i] += self.delta[i];
        }
        self.solve_contact(to)
    }

    /// Curved gaps under force turn the force as the node moves: K − λ ∂²g/∂q², (T56).
    fn bend(&mut self, to: &Attempt) {
        let free = self.system.nodes.free;
        for (candidate, &force) in to.scene.candidates.iter().zip(&self.force).filter(|(_, force)| **force != 0.0) {
            candidate.each_curvature(&to.state.q, candidate.shift[1], |i, j, value| {
                if i <= j && j < free {
                    self.tangent.add(i, j, -force * value);
                }
            });
        }
    }

    /// Refines the solution of this pass. A stiff matrix loses digits that refinement brings back; one that is singular
    /// up to rounding has a factor too, but its solutions are noise that does not settle.
    fn refine(&mut self) -> Result<()> {
        let free = self.system.nodes.free;
        let size = self.residual[..free].iter().fold(0.0_f64, |a, r| a.max(r.abs()));
        let mut worst = (0, 0.0);
        for _ in 0..6 {
            self.tangent.multiply(&self.delta, &mut self.push);
            worst = (0, 0.0);
            for i in 0..free {
                self.push[i] = -(self.push[i] + self.residual[i]);
                if self.push[i].abs() > worst.1 || self.push[i].is_nan() {
                    worst = (i, self.push[i].abs());
                }
            }
            if worst.1 <= 1e-9 * size {
                return Ok(());
            }
            self.factor.solve(&mut self.push);
            for i in 0..free {
                self.delta[i] += self.push[i];
            }
        }
        if worst.1 <= 1e-6 * size { Ok(()) } else { Err(mechanism(self.system, worst.0)) }
    }

    /// Contact forces for the gaps of this pass; contacts that others close are added until none is missing.
    fn solve_contact(&mut self, to: &mut Attempt) -> Result<()> {
        let system = self.system;
        let candidates = &to.scene.candidates;
        if candidates.is_empty() {
            return Ok(());
        }
        self.closing.clear();
        let near = |&i: &u32| candidates[i as usize].responds && self.gaps[i as usize] < 0.0;
        self.closing.extend((0..candidates.len() as u32).filter(near));
        self.force.fill(0.0);
        loop {
            for k in 0..self.closing.len() {
                let contact = self.closing[k] as usize;
                if !self.compliance.knows(contact) {
                    self.push.fill(0.0);
                    candidates[contact].push(1.0, &mut self.push);
                    self.push[system.nodes.free..].fill(0.0);
                    self.factor.solve(&mut self.push);
                    let column = &self.push;
                    let own = (contact, &candidates[contact].gap_row);
                    self.compliance.insert(own, candidates.iter(), |row| row.times(column));
                }
            }
            let problem = Problem { delassus: &self.compliance, active: &self.closing, b: &self.gaps };
            let outcome = problem.solve(&self.contact, &mut self.force, &mut self.y);
            to.sweeps += outcome.sweeps;
            to.method = outcome.method;
            if !outcome.converged {
                return Err(Error::Solver(format!(
                    "contact not solved at t = {}: residual {:.3e} above the tolerance {:.3e}",
                    to.state.time, outcome.residual, self.contact.tolerance
                )));
            }
            self.push.fill(0.0);
            to.scene.push(&self.force, &mut self.push);
            self.push[system.nodes.free..].fill(0.0);
            self.factor.solve(&mut self.push);
            let before = self.closing.len();
            for (i, candidate) in candidates.iter().enumerate() {
                let missing = candidate.responds && self.gaps[i] + candidate.rate(&self.push) < -1e-12 * system.length;
                if missing && !self.closing[..before].contains(&(i as u32)) {
                    self.closing.push(i as u32);
                }
            }
            if self.closing.len() == before {
                break;
            }
        }
        for i in 0..system.nodes.free {
            to.state.q[i] += self.push[i];
        }
        Ok(())
    }

    /// Energies, gaps and works of a finished step, (T61).
    fn finish(&mut self, from: Option<&State>, h: f64, to: &mut Attempt) {
        let system = self.system;
        let state = &mut to.state;
        state.energy.potential = 0.0 - dot(&system.gravity, &state.q);
        state.force.copy_from_slice(&self.force);
        state.impulse.resize(self.force.len(), 0.0);
        to.gaps.clear();
        for (i, candidate) in to.scene.candidates.iter().enumerate() {
            state.impulse[i] = h * self.force[i];
            to.gaps.push(candidate.gap_at_end(&state.q));
        }
        to.unstable = self.unstable();
        to.active = self.force.iter().filter(|f| **f > 0.0).count();
        to.balance = Balance::default();
        self.pushed.swap(0, 1);
        self.pushed[1].fill(0.0);
        to.scene.push(&self.force, &mut self.pushed[1]);
        let Some(from) = from else { return };
        let (mut external, mut trapezoid, mut along) = (0.0, 0.0, 0.0);
        for i in 0..system.nodes.total {
            let dq = state.q[i] - from.q[i];
            external += 0.5 * (from.applied[i] + state.applied[i]) * dq;
            trapezoid += 0.5 * (from.internal[i] + state.internal[i]) * dq;
            along += 0.5 * (self.pushed[0][i] + self.pushed[1][i]) * dq;
        }
        let (mut contact, mut support) = (0.0, 0.0);
        for (i, candidate) in to.scene.candidates.iter().enumerate() {
            let mean = 0.5 * (from.force[i] + state.force[i]);
            contact += mean * (to.gaps[i] - candidate.gap(&from.q, self.shifts[i]));
            let moved = minus(candidate.shift[1], self.shifts[i]);
            let normals = [self.normals[i], candidate.normal];
            support += 0.5 * (from.force[i] * inner(normals[0], moved) + state.force[i] * inner(normals[1], moved));
        }
        // What a curved gap adds is curvature like that of the strain energy.
        let bent = if system.contacts.steady() { 0.0 } else { along - contact - support };
        for &(d, _) in &system.drives {
            let reaction = |s: &State, pushed: &[f64]| s.internal[d] - s.applied[d] - system.gravity[d] - pushed[d];
            let mean = 0.5 * (reaction(from, &self.pushed[0]) + reaction(state, &self.pushed[1]));
            support += mean * (state.q[d] - from.q[d]);
        }
        let strained = if system.linear { 0.0 } else { state.energy.strain - from.energy.strain - trapezoid };
        let change = state.energy.strain - from.energy.strain + (state.energy.potential - from.energy.potential);
        let curvature = strained + bent;
        let defect = change - (external + contact + support + curvature);
        to.balance = Balance { external, contact, support, curvature, defect, ..Default::default() };
    }

    /// Takes up the contact forces of an earlier equilibrium, as they stand there.
    fn stand(&mut self, from: &State, to: &mut Attempt) {
        to.scene.look_at(self.system, from);
        self.pushed[1].fill(0.0);
        to.scene.push(&from.force, &mut self.pushed[1]);
        self.shifts.clear();
        self.shifts.extend(to.scene.candidates.iter().map(|candidate| candidate.shift[1]));
        self.normals.clear();
        self.normals.extend(to.scene.candidates.iter().map(|candidate| candidate.normal));
    }
}

impl Method for Statics<'_> {
    fn initial_attempt(&mut self, _: f64) -> Result<Attempt> {
        let system = self.system;
        let mut attempt =
            Attempt { state: State::zeros(system, false), scene: Scene::new(system), ..Default::default() };
        attempt.state.q.copy_from_slice(&system.q0);
        self.equilibrate(&mut attempt)?;
        self.finish(None, 0.0, &mut attempt);
        Ok(attempt)
    }

    fn attempt(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) -> Result<()> {
        self.stand(from, to);
        to.state.step = from.step + 1;
        to.state.time = t1;
        to.state.q.copy_from_slice(&from.q);
        to.state.force.copy_from_slice(&from.force);
        for (dof, function) in &self.system.drives {
            to.state.q[*dof] = function.value(t1);
        }
        if let Err(error) = self.equilibrate(to) {
            return Err(self.lost_stiffness(from, to).unwrap_or(error));
        }
        self.finish(Some(from), h, to);
        Ok(())
    }

    fn memory(&self) -> Memory {
        Memory { factored: self.factored }
    }

    fn recall(&mut self, memory: Memory) -> Result<()> {
        // The initial equilibrium has made the factor of a linear system anew.
        self.factored = memory.factored.filter(|_| self.factored.is_some());
        Ok(())
    }

    fn factorization(&self) -> &'static str {
        self.factor.name()
    }
}

/// Refuses a structure that can move without strain, and names what moves most. Such a motion shows in inverse iteration on
/// the stiffness as one whose energy is rounding.
pub fn refuse_mechanism(system: &System) -> Result<()> {
    let free = system.nodes.free;
    let mut stiffness = Symmetric::zeros(system.mass.pattern.clone());
    system.effective(&system.q0, 0.0, 0.0, 1.0, &mut stiffness);
    let diagonal: Vec<f64> = (0..free).map(|i| diagonal(&stiffness, i)).collect();
    let loose = |dof: usize| {
        Err(Error::Input(format!(
            "the structure has no static equilibrium: {} moves without strain; support it, or run a transient",
            system.describe(dof)
        )))
    };
    if let Some(dof) = diagonal.iter().position(|d| *d == 0.0) {
        return loose(dof);
    }
    let mut shifted = stiffness.clone();
    (0..free).for_each(|i| shifted.add(i, i, ROUNDING * diagonal[i]));
    let mut factor = Factor::new(&shifted.pattern, free);
    // What has no factor is found by the first step.
    if factor.factor(&shifted).is_err() {
        return Ok(());
    }
    let (mut x, mut image) = (vec![0.0; system.nodes.total], vec![0.0; system.nodes.total]);
    (0..free).for_each(|i| x[i] = (1.0 + (i % 7) as f64) / diagonal[i].sqrt());
    let mut ratio = f64::INFINITY;
    for _ in 0..3 {
        let size = (0..free).map(|i| diagonal[i] * x[i] * x[i]).sum::<f64>().sqrt();
        (0..free).for_each(|i| x[i] *= diagonal[i] / size);
        factor.solve(&mut x);
        let size: f64 = (0..free).map(|i| diagonal[i] * x[i] * x[i]).sum();
        stiffness.multiply(&x, &mut image);
        ratio = dot(&x[..free], &image[..free]) / size;
    }
    if ratio > ROUNDING {
        return Ok(());
    }
    let most = |rotation: bool| {
        let dofs = (0..free).filter(|&i| system.nodes.is_rotation(i) == rotation && x[i] != 0.0);
        dofs.max_by(|&i, &j| x[i].abs().total_cmp(&x[j].abs()))
    };
    most(false).or_else(|| most(true)).map_or(Ok(()), loose)
}

/// Energy of a motion, of what its parts alone would cost, below which it is rounding.
const ROUNDING: f64 = 1e-15;

fn mechanism(system: &System, dof: usize) -> Error {
    Error::Solver(format!(
        "the structure has no static equilibrium: its stiffness is singular near {}; support it, or run a transient",
        system.describe(dof)
    ))
}
