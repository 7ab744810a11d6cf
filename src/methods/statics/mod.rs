//! Equilibrium paths: f_int(q) = F(t) + G λ with 0 ≤ g(q) ⊥ λ ≥ 0, (T60), where t is the load parameter.
//!
//! Elements, contacts and sinks are those of a transient; inertia and damping are absent.

mod stability;

pub use stability::{UnstableBranch, unstable_advice};

use super::tableau::{STALLED, Settings, Sizes, newton_limit, squares};
use super::{Attempt, KeptFactors, Method};
use crate::case::data::ContactSolver;
use crate::la::{Factor, Symmetric, dot};
use crate::laws::solvers::active_set::diagonal;
use crate::laws::{Closing, Complementarity, Delassus, close};
use crate::ledger::{Balance, Works};
use crate::plane::{inner, minus};
use crate::relations::{Candidate, Scene};
use crate::state::State;
use crate::system::System;
use crate::system::general::General;
use crate::system::operator::{Factored, Operator};
use crate::{Error, Result};

/// Solves for equilibrium at given loads.
pub struct Statics<'a> {
    system: &'a System,
    passes: usize,
    tolerance: f64,
    contact: ContactSolver,
    operator: General<'a>,
    /// Factor of the tangent, and the step that made it.
    factor: Factored,
    factored: Option<(f64, u64)>,
    residual: Vec<f64>,
    delta: Vec<f64>,
    push: Vec<f64>,
    refinement: Vec<f64>,
    /// Contact forces at the last equilibrium and at this one, and how obstacles stood and leaned at the last.
    pushed: [Vec<f64>; 2],
    shifts: Vec<[f64; 2]>,
    normals: Vec<[f64; 2]>,
    presses: Presses,
    closing: Vec<u32>,
    /// Whether the tangent of a pass of this attempt was singular or had negative pivots.
    turned: bool,
}

/// Contact forces of a pass.
struct Presses {
    /// Gap by force.
    compliance: Delassus,
    /// Gaps without contact, forces, and gaps with them.
    gaps: Vec<f64>,
    force: Vec<f64>,
    y: Vec<f64>,
    /// Motion by the forces.
    moved: Vec<f64>,
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
            operator: General::without_mass(system),
            factor: Factored::MASS,
            factored: None,
            residual: vec![0.0; n],
            delta: vec![0.0; n],
            push: vec![0.0; n],
            refinement: vec![0.0; n],
            pushed: [vec![0.0; n], vec![0.0; n]],
            shifts: Vec::new(),
            normals: Vec::new(),
            presses: Presses {
                compliance: Delassus::default(),
                gaps: vec![0.0; m],
                force: vec![0.0; m],
                y: vec![0.0; m],
                moved: vec![0.0; n],
            },
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
        (to.passes, to.factorizations, to.sweeps, to.method) = (0, 0, 0, Default::default());
        self.turned = false;
        system.applied(to.state.time, &mut to.state.applied);
        self.presses.force.copy_from_slice(&to.state.force);
        self.presses.compliance.resize(to.state.force.len());
        let mut last = f64::INFINITY;
        loop {
            to.state.energy.strain = system.internal(&to.state.q, &mut to.state.internal);
            to.scene.look_at(&system.contacts, &system.nodes, &to.state);
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
        to.scene.push(&self.presses.force, &mut self.push);
        for i in 0..system.nodes.total {
            self.residual[i] = state.internal[i] - state.applied[i] - system.gravity[i] - self.push[i];
        }
    }

    /// Worst gap of a pressed contact, or penetration of another, of the length of the model.
    fn contact_residual(&self, to: &Attempt) -> f64 {
        let mut worst = 0.0_f64;
        for (i, candidate) in to.scene.candidates.iter().enumerate().filter(|(_, c)| c.responds) {
            let gap = candidate.gap_at_end(&to.state.q);
            let natural = if self.presses.force[i] > 0.0 { gap.abs() } else { (-gap).max(0.0) };
            worst = worst.max(natural / self.system.length);
        }
        worst
    }

    fn pass(&mut self, to: &mut Attempt, worst: f64) -> Result<()> {
        self.prepare(to)?;
        let free = self.system.nodes.free;
        // The forces are found anew below, so the structure moves as if there were none.
        for i in 0..free {
            self.residual[i] += self.push[i];
            self.delta[i] = -self.residual[i];
        }
        self.delta[free..].fill(0.0);
        self.operator.solve(self.factor, &mut self.delta);
        // A residual near its floor is noise itself and says nothing about the matrix.
        if worst > 1e6 {
            self.refine(&to.state.q)?;
        }
        // Gaps along their tangents: where a gap is curved, the next pass looks again.
        for (gap, candidate) in self.presses.gaps.iter_mut().zip(&to.scene.candidates) {
            *gap = candidate.gap_at_end(&to.state.q) + candidate.rate(&self.delta);
        }
        for i in 0..free {
            to.state.q[i] += self.delta[i];
        }
        self.solve_contact(to)
    }

    /// Factors the tangent unless it is kept. Curved gaps under force turn the force as the node moves: K − λ ∂²g/∂q², (T56).
    fn prepare(&mut self, to: &mut Attempt) -> Result<()> {
        let system = self.system;
        let steady = system.linear && system.contacts.steady();
        let (candidates, forces, q) = (&to.scene.candidates, &self.presses.force, &to.state.q);
        let curved = |add: &mut dyn FnMut(usize, usize, f64)| {
            for (candidate, &force) in candidates.iter().zip(forces).filter(|(_, force)| **force != 0.0) {
                candidate.each_curvature(q, candidate.shift[1], |i, j, value| add(i, j, -force * value));
            }
        };
        let extra = (!system.contacts.steady()).then_some(&curved as &dyn Fn(&mut dyn FnMut(usize, usize, f64)));
        let factored = self.operator.prepare(q, [0.0, 0.0, 1.0], extra);
        if !steady || factored.is_ok_and(|factor| factor != self.factor) || factored.is_err() {
            self.turned |= factored.is_err() || self.operator.negative() > 0;
            self.factor = factored.map_err(|s| mechanism(system, s.row))?;
            self.factored = Some((0.0, to.state.step));
            to.factorizations += 1;
        }
        if steady && self.factored.is_some_and(|(_, step)| step == to.state.step) {
            to.factorizations = 1;
        }
        self.presses.compliance.keep_for(self.factor.stamp);
        Ok(())
    }

    /// Refines the solution of this pass. A stiff matrix loses digits that refinement brings back; one that is singular
    /// up to rounding has a factor too, but its solutions are noise that does not settle.
    fn refine(&mut self, q: &[f64]) -> Result<()> {
        let (free, left) = (self.system.nodes.free, &mut self.refinement);
        let size = self.residual[..free].iter().fold(0.0_f64, |a, r| a.max(r.abs()));
        let mut worst = (0, 0.0);
        for _ in 0..6 {
            self.operator.matrix(q).multiply(&self.delta, left);
            worst = (0, 0.0);
            for i in 0..free {
                left[i] = -(left[i] + self.residual[i]);
                if left[i].abs() > worst.1 || left[i].is_nan() {
                    worst = (i, left[i].abs());
                }
            }
            if worst.1 <= 1e-9 * size {
                return Ok(());
            }
            self.operator.solve(self.factor, left);
            for i in 0..free {
                self.delta[i] += left[i];
            }
        }
        if worst.1 <= 1e-6 * size { Ok(()) } else { Err(mechanism(self.system, worst.0)) }
    }

    /// Contact forces for the gaps of this pass, and the motion by them.
    fn solve_contact(&mut self, to: &mut Attempt) -> Result<()> {
        let Statics { system, operator, factor, contact, presses, closing, .. } = self;
        let candidates = &to.scene.candidates;
        if candidates.is_empty() {
            return Ok(());
        }
        closing.clear();
        let near = |&i: &u32| candidates[i as usize].responds && presses.gaps[i as usize] < 0.0;
        closing.extend((0..candidates.len() as u32).filter(near));
        presses.force.fill(0.0);
        let count = candidates.len();
        close(&mut Pass { system, operator, factor: *factor, settings: contact, presses, to }, count, closing)?;
        for i in 0..self.system.nodes.free {
            to.state.q[i] += self.presses.moved[i];
        }
        Ok(())
    }

    /// Energies, gaps and works of a finished step, (T61).
    fn finish(&mut self, from: Option<&State>, h: f64, to: &mut Attempt) {
        let system = self.system;
        let state = &mut to.state;
        state.energy.potential = 0.0 - dot(&system.gravity, &state.q);
        state.force.copy_from_slice(&self.presses.force);
        state.impulse.resize(self.presses.force.len(), 0.0);
        to.gaps.clear();
        for (i, candidate) in to.scene.candidates.iter().enumerate() {
            state.impulse[i] = h * self.presses.force[i];
            to.gaps.push(candidate.gap_at_end(&state.q));
        }
        to.unstable = self.unstable();
        to.active = self.presses.force.iter().filter(|f| **f > 0.0).count();
        to.balance = Balance::default();
        self.pushed.swap(0, 1);
        self.pushed[1].fill(0.0);
        to.scene.push(&self.presses.force, &mut self.pushed[1]);
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
        let works = Works { external, contact, supports: support, curvature: strained + bent, ..Default::default() };
        to.balance = Balance::close(&from.energy, &state.energy, &works);
    }

    /// Takes up the contact forces of an earlier equilibrium, as they stand there.
    fn stand(&mut self, from: &State, to: &mut Attempt) {
        to.scene.look_at(&self.system.contacts, &self.system.nodes, from);
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
        let mut attempt = Attempt {
            state: system.state(false),
            scene: Scene::new(&system.contacts, &system.nodes),
            ..Default::default()
        };
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

    fn kept(&self) -> KeptFactors {
        KeptFactors { factored: self.factored, due: None }
    }

    fn restore(&mut self, kept: KeptFactors) -> Result<()> {
        // The initial equilibrium has made the factor of a linear system anew.
        self.factored = kept.factored.filter(|_| self.factored.is_some());
        Ok(())
    }

    fn factorization(&self) -> &'static str {
        self.operator.factorization()
    }
}

/// The contact forces of a pass.
struct Pass<'b, 'a> {
    system: &'a System,
    operator: &'b mut General<'a>,
    factor: Factored,
    settings: &'b ContactSolver,
    presses: &'b mut Presses,
    to: &'b mut Attempt,
}

impl Pass<'_, '_> {
    /// Overwrites `moved` with the motion by forces.
    fn respond(&mut self, push: impl Fn(&Presses, &Scene, &mut [f64])) {
        let mut moved = std::mem::take(&mut self.presses.moved);
        moved.fill(0.0);
        push(self.presses, &self.to.scene, &mut moved);
        moved[self.system.nodes.free..].fill(0.0);
        self.operator.solve(self.factor, &mut moved);
        self.presses.moved = moved;
    }

    fn candidate(&self, contact: usize) -> &Candidate {
        &self.to.scene.candidates[contact]
    }
}

impl Closing for Pass<'_, '_> {
    fn column(&mut self, contact: usize) -> Result<()> {
        if !self.presses.compliance.knows(contact) {
            self.respond(|_, scene, push| scene.candidates[contact].push(1.0, push));
            let (candidates, Presses { compliance, moved, .. }) = (&self.to.scene.candidates, &mut *self.presses);
            let own = (contact, &candidates[contact].gap_row);
            compliance.insert(own, candidates.iter(), |row| row.times(moved));
        }
        Ok(())
    }

    fn solve(&mut self, active: &[u32]) -> Result<()> {
        let Presses { compliance, gaps, force, y, .. } = &mut *self.presses;
        let outcome = Complementarity { delassus: compliance, active, b: gaps }.solve(self.settings, force, y);
        self.to.sweeps += outcome.sweeps;
        self.to.method = outcome.method;
        if !outcome.converged {
            return Err(Error::Solver(format!(
                "contact not solved at t = {}: residual {:.3e} above the tolerance {:.3e}",
                self.to.state.time, outcome.residual, self.settings.tolerance
            )));
        }
        self.respond(|presses, scene, push| scene.push(&presses.force, push));
        Ok(())
    }

    fn is_missing(&self, contact: usize) -> bool {
        let (presses, candidate) = (&self.presses, self.candidate(contact));
        let gap = presses.gaps[contact] + candidate.rate(&presses.moved);
        candidate.responds && gap < -1e-12 * self.system.length
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
