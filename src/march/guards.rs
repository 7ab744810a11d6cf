//! Limits that a step must respect; a run gone wrong stops here instead of looking right.

use crate::case::data::{Analysis, Case};
use crate::contact::{Candidate, Scene};
use crate::growth::Theorem;
use crate::ledger::Ledger;
use crate::state::State;
use crate::step::Attempt;
use crate::system::System;
use crate::{Error, Result};

/// A body at rest has no energy to measure by; what its weight and loads would do along this part of the model is rounding.
const REST: f64 = 1e-12;

/// Thresholds of a run.
pub struct Guards<'a> {
    gain: Option<f64>,
    /// What cannot grow, and the growth that counts as rounding.
    proven: Option<(Theorem, f64)>,
    residual: Option<f64>,
    /// Longest way of a node in a step beyond what its velocity makes.
    reach: Option<f64>,
    /// Sum of all weights.
    weight: f64,
    /// Part of the shortest adjacent element that may be penetrated.
    fraction: Option<f64>,
    system: &'a System,
}

impl Guards<'_> {
    /// Thresholds of a case on its system.
    pub fn new<'a>(case: &Case, system: &'a System) -> Guards<'a> {
        let settings = &case.guards;
        // Only motion can gain energy from nowhere; an equilibrium path has none to keep, and may jump.
        let moving = case.analysis == Analysis::Dynamic;
        let reach = settings.newton.get().filter(|_| moving && !system.linear).map(|guard| guard.reach);
        let energy = settings.energy.get().filter(|_| moving);
        Guards {
            gain: energy.map(|guard| guard.gain),
            proven: energy.and_then(|guard| Some((Theorem::of(case, system)?, guard.proven?))),
            residual: settings.contact.get().and_then(|guard| guard.residual),
            reach: reach.map(|reach| reach * system.length),
            weight: sizes(&system.gravity),
            fraction: settings.penetration.get().map(|guard| guard.fraction),
            system,
        }
    }

    /// Refuses a model that begins beyond the depth that a step may reach.
    pub fn check_start(&self) -> Result<()> {
        let (system, Some(fraction)) = (self.system, self.fraction) else { return Ok(()) };
        let mut scene = Scene::new(system);
        let start = State { q: system.q0[..].into(), v: system.v0[..].into(), ..Default::default() };
        scene.look_at(system, &start);
        for candidate in &scene.candidates {
            let (gap, depth) = (candidate.gap_at_end(&system.q0), fraction * candidate.adjacent);
            if candidate.responds && gap < -depth {
                let [x, y] = candidate.normal;
                let along = if system.nodes.dimension == 1 { format!("({x})") } else { format!("({x}, {y})") };
                return Err(Error::Input(format!(
                    "contact `{}` begins with {} a depth of {:.3e} behind the obstacle, against the normal {along}; at \
                     most {depth:.3e} is allowed: move the body or the obstacle, or set guards.penetration",
                    self.contact(candidate),
                    system.describe_node(candidate.key.node as usize),
                    -gap
                )));
            }
        }
        Ok(())
    }

    fn contact(&self, candidate: &Candidate) -> &str {
        &self.system.contacts.groups[candidate.key.group as usize].name
    }

    /// Checks a finished step against the thresholds.
    pub fn check(&self, from: &State, attempt: &Attempt, ledger: &Ledger) -> Result<()> {
        let state = &attempt.state;
        self.check_solver(from, attempt)?;
        self.check_energy(from, attempt, ledger)?;
        let Some(fraction) = self.fraction else { return Ok(()) };
        for (&gap, candidate) in attempt.gaps.iter().zip(&attempt.scene.candidates).filter(|(gap, _)| **gap < 0.0) {
            let depth = -fraction * candidate.adjacent;
            if gap < depth {
                let contact = self.contact(candidate);
                return Err(Error::Guard(format!(
                    "guard `penetration`: gap {gap:.3e} of contact `{contact}` in step {} (t = {}) is deeper than {depth:.3e}; \
                     take a smaller step, or set guards.penetration",
                    state.step, state.time
                )));
            }
        }
        Ok(())
    }

    fn check_solver(&self, from: &State, attempt: &Attempt) -> Result<()> {
        let state = &attempt.state;
        if let Some(limit) = self.residual
            && attempt.complementarity > limit
        {
            return Err(Error::Solver(format!(
                "guard `contact`: the contact conditions are missed by {:.3e} in step {} (t = {}), more than {limit:e}; \
                 take a smaller step, more solver.contact.sweeps, or set guards.contact",
                attempt.complementarity, state.step, state.time
            )));
        }
        let Some(reach) = self.reach else { return Ok(()) };
        let h = state.time - from.time;
        let nodes = &self.system.nodes;
        for dof in (0..nodes.free).filter(|&dof| !nodes.is_rotation(dof)) {
            let way = (state.q[dof] - from.q[dof]).abs();
            if way > reach + 2.0 * h * from.v[dof].abs() {
                return Err(Error::Solver(format!(
                    "guard `newton`: step {} (t = {}) moves {} by {way:.3e}, far beyond its velocity {:.3e} and {reach:.3e}; \
                     Newton's method ran away or found another branch: take a smaller step, or set guards.newton",
                    state.step,
                    state.time,
                    self.system.describe(dof),
                    from.v[dof]
                )));
            }
        }
        Ok(())
    }

    fn check_energy(&self, from: &State, attempt: &Attempt, ledger: &Ledger) -> Result<()> {
        let (state, works) = (&attempt.state, &attempt.balance);
        let Some(limit) = self.gain else { return Ok(()) };
        let gained = works.gained();
        let scale = ledger.scale.max(state.energy.kinetic + state.energy.strain);
        // A scheme that takes reactions at the end of the step books up to their whole work of the step under
        // `scheme`; what comes in from outside in a step is therefore no gain from nothing.
        let outside = works.support.abs() + works.external.abs();
        let free = limit * scale + outside;
        // Only asked where it matters: it is a sum over all unknowns.
        let rest = || REST * self.system.length * (self.weight + sizes(&state.applied));
        if gained > free && gained > free + rest() {
            return Err(Error::Guard(format!(
                "guard `energy`: step {} (t = {}) gained {gained:.3e} without work from outside, more than {limit} \
                 of the energy scale {scale:.3e} (contact {:.3e}, scheme {:.3e}, curvature {:.3e}); take a smaller \
                 step, a scheme within its dissipation range, or set guards.energy",
                state.step, state.time, works.contact, works.scheme, works.curvature
            )));
        }
        let Some((theorem, limit)) = &self.proven else { return Ok(()) };
        let growth = theorem.growth(self.system, from, attempt);
        let scale = scale.max(theorem.quantity.value(state)) + outside;
        if growth > limit * scale && growth > limit * scale + rest() {
            return Err(Error::Guard(format!(
                "guard `energy`: the {} grew by {growth:.3e} in step {} (t = {}) beyond the work from outside, more than \
                 {limit:e} of the energy scale {scale:.3e}, although the scheme cannot let it grow; take a smaller \
                 solver.contact.tolerance or a smaller step, or set guards.energy",
                theorem.quantity.name(),
                state.step,
                state.time
            )));
        }
        Ok(())
    }
}

fn sizes(forces: &[f64]) -> f64 {
    forces.iter().map(|f| f.abs()).sum()
}
