//! What provably cannot grow in a step, section 7 of `docs/theory.md`: which quantity it is, and by how much it grew.

use crate::case::data::{Analysis, Case, MasslessLaw, Position};
use crate::methods::Attempt;
use crate::schemes::{self, Tableau};
use crate::state::State;
use crate::system::System;

/// A quantity that cannot grow beyond the work from outside and [`Attempt::granted`], (T26).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The energy.
    Energy,
    /// The storage function ℋ.
    Storage,
}

/// The theorem that holds in the steps of a run.
#[derive(Clone, Copy, Debug)]
pub struct Theorem {
    /// What it is about.
    pub quantity: Quantity,
    row: Tableau,
}

impl Theorem {
    /// The theorem for a case and its system, if there is one.
    pub fn of(case: &Case, system: &System) -> Option<Theorem> {
        let mut row = schemes::find(&case.scheme.name)?.tableau(&case.scheme.parameters)?;
        if case.time.adaptive.is_some() && row.storage {
            // Of steps of unequal size only the trapezoidal rule proves something: of the energy itself.
            if [row.g1, row.b1, row.alpha_m, row.alpha_f] != [0.5, 0.25, 0.0, 0.0] {
                return None;
            }
            row.storage = false;
        }
        let proven = match system.redistribution.as_ref().map(|redistribution| redistribution.law) {
            // Its contacts do no work, and know no restitution.
            Some(MasslessLaw::MidVelocity) => row.cannot_grow(0.0),
            Some(MasslessLaw::Position) => false,
            None => case.scheme.position == Position::Half && row.cannot_grow(system.contacts.restitution()),
        };
        let moves = case.analysis == Analysis::Dynamic && system.linear && system.drives.is_empty();
        let quantity = if row.storage { Quantity::Storage } else { Quantity::Energy };
        (moves && proven).then_some(Theorem { quantity, row })
    }

    /// Growth in a step beyond the work from outside, less what contacts may bring in.
    pub fn growth(&self, system: &System, from: &State, attempt: &Attempt) -> f64 {
        let (to, works) = (&attempt.state, &attempt.balance);
        let growth = match self.quantity {
            Quantity::Storage => to.storage.as_ref().map_or(0.0, |storage| storage.growth) - works.support,
            Quantity::Energy => {
                // The scheme weighs loads otherwise than the ledger.
                let shifted = |i: usize| (to.applied[i] - from.applied[i]) * (to.q[i] - from.q[i]);
                let loads = if system.is_loaded() { (0..to.q.len()).map(shifted).sum() } else { 0.0 };
                works.gained() - (0.5 - self.row.alpha_f) * loads
            }
        };
        growth - attempt.granted
    }
}

impl Quantity {
    /// Its value at an instant, potential apart.
    pub fn value(self, state: &State) -> f64 {
        let storage = state.storage.as_ref().filter(|_| self == Quantity::Storage);
        storage.map_or(state.energy.kinetic + state.energy.strain, |storage| storage.value)
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Energy => "energy",
            Quantity::Storage => "storage function",
        }
    }
}
