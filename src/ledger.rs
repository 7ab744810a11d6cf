//! Where the energy goes: the [`Balance`] of one step, from (T10)–(T16), and the [`Ledger`] that adds them up. How a step was
//! made is not known here; a method gives its [`Works`].
//!
//! Every term has its own formula and none is the remainder, so the defect is a check of the step and not a
//! bookkeeping trick.

use crate::state::{Energy, State};
use serde::{Deserialize, Serialize};

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

/// Works of a finished step by who does them, each from its own formula; what a step does not have is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Works {
    /// Applied loads, gravity apart.
    pub external: f64,
    /// Damping.
    pub damping: f64,
    /// Weights of the scheme, (T13).
    pub scheme: f64,
    /// Strain energy beyond the trapezoidal work of the internal forces.
    pub curvature: f64,
    /// Impulses of contact on relative velocities, friction included.
    pub contact: f64,
    /// Friction alone, a part of contact.
    pub friction: f64,
    /// Impulses of contact on moving obstacles.
    pub obstacles: f64,
    /// Reactions of driven supports over their path.
    pub supports: f64,
    /// What these reactions do in the weights of the scheme beyond that, (T15).
    pub reweighed: f64,
    /// Contact as a force.
    pub pressed: Pressed,
    /// Change of the storage function that its own identity does not explain; zero without one.
    pub storage_defect: f64,
}

/// Works of contact forces, (T95), (T98).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pressed {
    /// On relative motions.
    pub contact: f64,
    /// On moving obstacles.
    pub obstacles: f64,
    /// In the weights of the scheme.
    pub scheme: f64,
}

impl Balance {
    /// The balance of a step between two energies: the defect is the change that no work explains.
    pub fn close(from: &Energy, to: &Energy, works: &Works) -> Balance {
        let Works { external, damping, scheme, curvature, contact, .. } = *works;
        let Pressed { contact: pressed, obstacles, scheme: drift } = works.pressed;
        let change = (to.kinetic - from.kinetic) + (to.strain - from.strain) + (to.potential - from.potential);
        let defect = change
            - (external + damping + contact + scheme + curvature)
            - works.obstacles
            - (works.supports + works.reweighed)
            - (pressed + obstacles + drift);
        Balance {
            external,
            damping,
            support: works.obstacles + works.supports + obstacles,
            contact: contact + pressed,
            friction: works.friction,
            scheme: scheme + works.reweighed + drift,
            curvature,
            defect,
            storage_defect: works.storage_defect,
        }
    }

    /// Change of energy beyond the work of loads and supports.
    pub fn gained(&self) -> f64 {
        self.damping + self.contact + self.scheme + self.curvature + self.defect
    }
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
