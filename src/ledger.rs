//! Where the energy goes: the [`Balance`] of one step, from (T10)–(T16), and the [`Ledger`] that adds them up.
//!
//! Every term has its own formula and none is the remainder, so the defect is a check of the step and not a
//! bookkeeping trick.

mod tally;

use crate::la::dot;
use crate::schemes::Tableau;
use crate::state::{Energy, State, Storage};
use serde::{Deserialize, Serialize};
pub use tally::{Passage, Piece, Tally, filter, weighs_inertia};

/// Works of one step; positive enters the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Balance {
    /// Applied loads, gravity apart.
    pub external: f64,
    /// Damping.
    pub damping: f64,
    /// Moving supports and obstacles.
    pub support: f64,
    /// Contact, friction included.
    pub contact: f64,
    /// Friction alone.
    pub friction: f64,
    /// Numerical dissipation of the scheme.
    pub scheme: f64,
    /// Difference between strain energy and the trapezoidal work of the internal forces; zero when linear.
    pub curvature: f64,
    /// Change of energy not explained by the above: round-off.
    pub defect: f64,
    /// Change of the storage function not explained by its own identity; zero without one.
    pub storage_defect: f64,
}

impl Balance {
    /// Change of energy beyond the work of loads and supports.
    pub fn gained(&self) -> f64 {
        self.damping + self.contact + self.scheme + self.curvature + self.defect
    }

    /// The defect: the change of energy less all works.
    pub fn close(&mut self, from: &State, to: &State) {
        self.defect = (to.energy.kinetic - from.energy.kinetic)
            + (to.energy.strain - from.energy.strain)
            + (to.energy.potential - from.energy.potential)
            - (self.external + self.damping + self.support + self.contact + self.scheme + self.curvature);
    }
}

/// Sums over all unknowns that make up the change of ℋ.
pub struct StorageSums {
    /// Work of loads and gravity.
    pub supply: f64,
    /// Work of damping, its sign turned.
    pub viscous: f64,
    /// Increment of displacement, squared with the stiffness.
    pub dq: f64,
    /// Increment of the filter z, squared with the stiffness.
    pub dz: f64,
    /// New filter z, squared with the stiffness.
    pub z: f64,
    /// New acceleration, squared with the mass.
    pub a: f64,
    /// Increment of acceleration, squared with the mass.
    pub da: f64,
    /// What position shifts add.
    pub position: f64,
}

/// Sets ℋ at the end of a step and returns the defect of its identity, (T20)–(T22).
pub fn close_storage(
    row: &Tableau,
    h: f64,
    energy: &Energy,
    contact: f64,
    sums: &StorageSums,
    old: &Storage,
    new: &mut Storage,
) -> f64 {
    let (gamma, spread) = (row.g1, row.alpha_f - row.alpha_m);
    // Without a spread of the weights the filter is zero and its terms, which divide by it, are absent.
    let (stored, dissipated) = if spread == 0.0 {
        (0.0, 0.0)
    } else {
        let weight = (1.0 - row.alpha_m - gamma) / spread;
        (0.5 * weight * sums.z, weight * (0.5 - row.alpha_m) * sums.dz)
    };
    let inertia = 2.0 * row.b1 - gamma;
    (new.h, new.inertia, new.filter) = (h, sums.a, sums.z);
    new.value = energy.kinetic + energy.strain + 0.25 * h * h * inertia * sums.a + stored;
    // The identity is one of a step and its size; where the size has changed, so has ℋ at the start.
    let before = old.value + 0.25 * (h * h - old.h * old.h) * inertia * old.inertia;
    new.growth = new.value - before - sums.supply + sums.viscous;
    let explained = contact + sums.position
        - (gamma - 0.5 - spread) * sums.dq
        - dissipated
        - 0.5 * h * h * inertia * (gamma - 0.5) * sums.da;
    new.growth - explained
}

/// Sets ℋ before the first step, where all filters are zero; M a must be set.
pub fn initial_storage(state: &mut State, row: &Tableau, h: f64) {
    let State { a, v, inertia, storage: Some(storage), energy, .. } = state else { return };
    (storage.h, storage.inertia, storage.power) = (h, dot(a, inertia), dot(v, inertia));
    let inertia = 0.25 * h * h * (2.0 * row.b1 - row.g1) * storage.inertia;
    storage.value = energy.kinetic + energy.strain + inertia;
}

/// What a step gained beyond the work from outside: of the storage function where the scheme has one, since energy swings
/// within it, else of the energy.
pub fn growth(balance: &Balance, to: &State) -> f64 {
    to.storage.as_ref().map_or(balance.gained(), |storage| storage.growth - balance.support)
}

/// Works since the start, and the worst that was seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Sum of the balances.
    pub sum: Balance,
    /// Sum of the works of contact over the steps in which contact gave energy.
    pub gained: f64,
    /// Sum of [`growth`].
    pub grown: f64,
    /// Largest kinetic plus strain energy so far: the measure of defects.
    pub scale: f64,
    /// Largest defect of one step, of the scale at that step.
    pub worst_step: f64,
    /// Largest cumulative defect, of the scale at that step.
    pub worst_sum: f64,
}

impl Ledger {
    /// A ledger that begins at a state.
    pub fn new(start: &State) -> Ledger {
        Ledger { scale: start.energy.kinetic + start.energy.strain, ..Default::default() }
    }

    /// Adds the balance of a step that ends in `state`.
    pub fn add(&mut self, balance: &Balance, state: &State) {
        let sum = &mut self.sum;
        for (total, value) in [
            (&mut sum.external, balance.external),
            (&mut sum.damping, balance.damping),
            (&mut sum.support, balance.support),
            (&mut sum.contact, balance.contact),
            (&mut sum.friction, balance.friction),
            (&mut sum.scheme, balance.scheme),
            (&mut sum.curvature, balance.curvature),
            (&mut sum.defect, balance.defect),
            (&mut sum.storage_defect, balance.storage_defect),
        ] {
            *total += value;
        }
        self.gained += balance.contact.max(0.0);
        self.grown += growth(balance, state);
        self.scale = self.scale.max(state.energy.kinetic + state.energy.strain);
        if self.scale > 0.0 {
            self.worst_step = self.worst_step.max(balance.defect.abs() / self.scale);
            self.worst_sum = self.worst_sum.max(self.sum.defect.abs() / self.scale);
        }
    }
}
