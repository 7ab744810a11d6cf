//! Limits that a step must respect; a run gone wrong stops here instead of looking right.

use crate::case::data::{Analysis, Case};
use crate::ledger::Ledger;
use crate::step::Attempt;
use crate::system::System;
use crate::{Error, Result};

/// A body at rest has no energy to measure by; what its weight and loads would do along this part of the model is rounding.
const REST: f64 = 1e-12;

/// Thresholds of a run.
pub struct Guards {
    gain: Option<f64>,
    /// Length of the model, and the sum of all weights.
    length: f64,
    weight: f64,
    /// Part of the shortest adjacent element that may be penetrated.
    fraction: Option<f64>,
    /// Names of the contacts.
    contacts: Vec<String>,
}

impl Guards {
    /// Thresholds of a case on its system.
    pub fn new(case: &Case, system: &System) -> Guards {
        let settings = &case.guards;
        // Only motion can gain energy from nowhere; an equilibrium path has none to keep.
        let moving = case.analysis == Analysis::Dynamic;
        Guards {
            gain: settings.energy.get().filter(|_| moving).map(|guard| guard.gain),
            length: system.length,
            weight: sizes(&system.gravity),
            fraction: settings.penetration.get().map(|guard| guard.fraction),
            contacts: system.contacts.groups.iter().map(|group| group.name.clone()).collect(),
        }
    }

    /// Checks a finished step against the thresholds.
    pub fn check(&self, attempt: &Attempt, ledger: &Ledger) -> Result<()> {
        let (state, works) = (&attempt.state, &attempt.balance);
        if let Some(limit) = self.gain {
            let gained = works.damping + works.contact + works.scheme + works.curvature + works.defect;
            let scale = ledger.scale.max(state.energy.kinetic + state.energy.strain);
            // A scheme that takes reactions at the end of the step books up to their whole work of the step under
            // `scheme`; what comes in from outside in a step is therefore no gain from nothing.
            let outside = works.support.abs() + works.external.abs();
            let free = limit * scale + outside;
            // Only asked where it matters: it is a sum over all unknowns.
            let rest = || REST * self.length * (self.weight + sizes(&state.applied));
            if gained > free && gained > free + rest() {
                return Err(Error::Guard(format!(
                    "guard `energy`: step {} (t = {}) gained {gained:.3e} without work from outside, more than {limit} \
                     of the energy scale {scale:.3e} (contact {:.3e}, scheme {:.3e}, curvature {:.3e}); take a smaller \
                     step, a scheme within its dissipation range, or set guards.energy",
                    state.step, state.time, works.contact, works.scheme, works.curvature
                )));
            }
        }
        let Some(fraction) = self.fraction else { return Ok(()) };
        for (&gap, candidate) in attempt.gaps.iter().zip(&attempt.scene.candidates) {
            let depth = -fraction * candidate.adjacent;
            if gap < depth {
                let contact = &self.contacts[candidate.key.group as usize];
                return Err(Error::Guard(format!(
                    "guard `penetration`: gap {gap:.3e} of contact `{contact}` in step {} (t = {}) is deeper than {depth:.3e}; \
                     take a smaller step, or set guards.penetration",
                    state.step, state.time
                )));
            }
        }
        Ok(())
    }
}

fn sizes(forces: &[f64]) -> f64 {
    forces.iter().map(|f| f.abs()).sum()
}
