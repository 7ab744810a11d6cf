//! Limits that a step must respect; a run gone wrong stops here instead of looking right.

use crate::case::data::{Analysis, Case, Position};
use crate::growth::Theorem;
use crate::ledger::{self, Ledger};
use crate::methods::Attempt;
use crate::relations::{Candidate, Scene};
use crate::state::State;
use crate::system::System;
use crate::{Error, Result};

/// A body at rest has no energy to measure by; what its weight and loads would do along this part of the model, or of the
/// way that they would make in the step, is rounding.
const REST: f64 = 1e-12;

/// Rounding of a force, of the stiffness times the size of what it is a difference of.
pub const ROUNDING: f64 = 1e-15;

/// Thresholds of a run.
pub struct Guards<'a> {
    gain: Option<f64>,
    /// Largest gain since the start.
    total: Option<f64>,
    /// What cannot grow, and the growth that counts as rounding.
    proven: Option<(Theorem, f64)>,
    residual: Option<f64>,
    /// Longest way of a node in a step beyond what its velocity makes.
    reach: Option<f64>,
    /// Sum of all weights.
    weight: f64,
    /// Part of the shortest adjacent element, or of the thickness of the body or of the obstacle, that may be penetrated.
    fraction: Option<f64>,
    /// Whether a contact may not be passed through within one step.
    crossing: bool,
    /// Whether positions are corrected and contacts rebound, which together gain energy.
    corrected_rebound: bool,
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
            total: energy.map(|guard| guard.total),
            proven: energy.and_then(|guard| Some((Theorem::of(case, system)?, guard.proven?))),
            residual: settings.contact.get().and_then(|guard| guard.residual),
            reach: reach.map(|reach| reach * system.length),
            weight: sizes(&system.gravity),
            fraction: settings.penetration.get().map(|guard| guard.fraction),
            crossing: settings.crossing && moving,
            corrected_rebound: case.scheme.position == Position::Ggl && system.contacts.restitution() > 0.0,
            system,
        }
    }

    /// Refuses a model that begins beyond the depth that a step may reach.
    pub fn check_start(&self) -> Result<()> {
        let (system, Some(fraction)) = (self.system, self.fraction) else { return Ok(()) };
        let mut scene = Scene::new(&system.contacts, &system.nodes);
        scene.look_at(&system.contacts, &system.nodes, &system.initial_motion());
        for candidate in &scene.candidates {
            let gap = candidate.gap_at_end(&system.q0);
            let depth = fraction * self.thickness(&scene, candidate, &system.q0, -gap / fraction);
            if candidate.responds && gap < -depth {
                let [x, y] = candidate.normal;
                let along = if system.nodes.dimension == 1 { format!("({x})") } else { format!("({x}, {y})") };
                let contact = self.contact(candidate);
                let text = format!(
                    "contact `{contact}` begins with {} a depth of {:.3e} behind the obstacle, against the normal {along}; at \
                     most {depth:.3e} is allowed: move the body or the obstacle, or set guards.penetration",
                    system.describe_node(candidate.key.node as usize),
                    -gap
                );
                return Err(Error::Value { path: format!("contact.{contact}"), text });
            }
        }
        Ok(())
    }

    /// What the depth of a candidate is measured by: the length of an element or the thickness of what touches or is touched, whichever
    /// is smaller, at least up to `limit`.
    fn thickness(&self, scene: &Scene, candidate: &Candidate, q: &[f64], limit: f64) -> f64 {
        candidate.adjacent.min(scene.middle_depth(&self.system.contacts, candidate, q, limit))
    }

    fn contact(&self, candidate: &Candidate) -> &str {
        &self.system.contacts.groups[candidate.key.group as usize].name
    }

    /// Refuses an instant at which an expression of time has no finite value.
    pub fn check_functions(&self, t: f64) -> Result<()> {
        self.system.check_expressions(t)
    }

    /// Checks a finished step against the thresholds.
    pub fn check(&self, from: &State, attempt: &Attempt, ledger: &Ledger) -> Result<()> {
        self.check_solver(from, attempt)?;
        self.check_energy(from, attempt, ledger)?;
        self.check_crossing(from, attempt)?;
        let Some(fraction) = self.fraction else { return Ok(()) };
        let state = &attempt.state;
        for (&gap, candidate) in attempt.gaps.iter().zip(&attempt.scene.candidates).filter(|(gap, _)| **gap < 0.0) {
            let depth = -fraction * self.thickness(&attempt.scene, candidate, &attempt.state.q, -gap / fraction);
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

    fn check_crossing(&self, from: &State, attempt: &Attempt) -> Result<()> {
        let system = self.system;
        let Attempt { state, scene, gaps, .. } = attempt;
        let passage =
            self.crossing.then(|| scene.passage(&system.contacts, &system.nodes, [from, state], gaps)).flatten();
        let Some(passage) = passage else { return Ok(()) };
        let enough = passage.part * (state.time - from.time);
        Err(Error::Guard(format!(
            "guard `crossing`: {} passes through contact `{}` in step {} (t = {}) without any force; a step of {enough:.1e} \
             would do: take time.step or time.min_step smaller, or set guards.crossing",
            system.describe_node(passage.node as usize),
            system.contacts.groups[passage.group as usize].name,
            state.step,
            state.time
        )))
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
        // A scheme that weighs the ends of the step otherwise than the ledger books a part of the work from outside under
        // `scheme`; what comes in from outside in a step is therefore no gain from nothing. Reactions jump where a
        // prescribed motion has a corner, and what the scheme makes of that comes back in the steps behind it.
        let outside = works.support.abs() + works.external.abs() + attempt.reweighed.abs();
        let free = limit * scale + outside;
        // Only asked where it matters: it is a sum over all unknowns.
        let rest = || self.rounding(from, state);
        if gained > free && gained > free + rest() {
            return Err(Error::Guard(format!(
                "guard `energy`: step {} (t = {}) gained {gained:.3e} without work from outside, more than {limit} \
                 of the energy scale {scale:.3e} (contact {:.3e}, scheme {:.3e}, curvature {:.3e}); take a smaller \
                 step, a scheme within its dissipation range, or set guards.energy",
                state.step, state.time, works.contact, works.scheme, works.curvature
            )));
        }
        self.check_total(from, attempt, ledger, [scale, outside])?;
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

impl Guards<'_> {
    /// Gains far below the limit of a step add up over many; where a storage function exists, energy itself swings
    /// within what that holds, and the sum is one of its growth.
    fn check_total(&self, from: &State, attempt: &Attempt, ledger: &Ledger, [scale, outside]: [f64; 2]) -> Result<()> {
        let Some(limit) = self.total else { return Ok(()) };
        let (state, gained) = (&attempt.state, ledger.grown + ledger::growth(&attempt.balance, &attempt.state));
        let scale = scale + ledger.sum.external.abs() + ledger.sum.support.abs();
        // What a step books under `scheme` of the work from outside, the next ones give back.
        if gained <= limit * scale + outside || gained <= self.rounding(from, state) * state.step as f64 {
            return Ok(());
        }
        let hint = if self.corrected_rebound {
            "scheme.position = \"ggl\" with restitution > 0 does that: take position = \"half\", or restitution = 0"
        } else {
            "take a smaller step, a scheme within its dissipation range, or set guards.energy.total"
        };
        Err(Error::Guard(format!(
            "guard `energy`: up to step {} (t = {}) the run gained {gained:.3e} in all without work from outside, more than \
             {limit} of the energy scale {scale:.3e}; {hint}",
            state.step, state.time
        )))
    }

    /// Work that rounding may do in a step: of weights and loads, and of forces that are small differences of large
    /// displacements in stiff elements.
    fn rounding(&self, from: &State, to: &State) -> f64 {
        let (nodes, h) = (&self.system.nodes, to.time - from.time);
        let (mut far, mut way) = ([self.system.length, 0.0], [0.0_f64; 2]);
        for dof in 0..nodes.total {
            let class = usize::from(nodes.is_rotation(dof));
            far[class] = f64::max(far[class], to.q[dof].abs());
            let carried = h * to.v[dof].abs() + h * h * to.a[dof].abs();
            way[class] = way[class].max((to.q[dof] - from.q[dof]).abs()).max(carried);
        }
        let weights = REST * (self.system.length + way[0]) * (self.weight + sizes(&to.applied));
        let stiffest = self.system.stiffest(&to.q);
        weights + (0..2).map(|class| ROUNDING * stiffest[class].0 * far[class] * way[class]).sum::<f64>()
    }
}

fn sizes(forces: &[f64]) -> f64 {
    forces.iter().map(|f| f.abs()).sum()
}
