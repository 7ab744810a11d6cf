//! Where the energy goes: the [`Balance`] of one step, from (T10)–(T16), and the [`Ledger`] that adds them up.
//!
//! Every term has its own formula and none is the remainder, so the defect is a check of the step and not a
//! bookkeeping trick.

use crate::la::dot;
use crate::schemes::Tableau;
use crate::state::{Energy, State, Storage};
use crate::system::System;
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

/// What the balance needs to know of a step beyond its two end states.
pub struct Passage<'a> {
    /// The scheme.
    pub row: &'a Tableau,
    /// Step size.
    pub h: f64,
    /// Velocity jump w.
    pub jump: &'a [f64],
    /// Position correction u.
    pub shift: &'a [f64],
    /// Relative velocities along the contact rows at the start and at the end.
    pub rates: [&'a [f64]; 2],
}

/// Scratch vectors of the balance.
pub struct Scratch {
    x: Vec<f64>,
    image: Vec<f64>,
    second: Vec<f64>,
}

impl Scratch {
    /// For systems with `n` degrees of freedom.
    pub fn new(n: usize) -> Scratch {
        Scratch { x: vec![0.0; n], image: vec![0.0; n], second: vec![0.0; n] }
    }
}

/// Balance of the step from `from` to `to`, (T10). Works on the energies of both states, which must be set.
pub fn balance(system: &System, from: &State, to: &State, passage: &Passage, scratch: &mut Scratch) -> Balance {
    let Passage { row, h, jump, shift, rates } = *passage;
    let Scratch { x, image, second } = scratch;
    let n = system.nodes.total;
    let (mut external, mut damping, mut force_drift, mut damping_drift, mut trapezoid) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for i in 0..n {
        let dq = to.q[i] - from.q[i];
        let f = [0, 1].map(|end| if end == 0 { from } else { to }).map(|s| s.internal[i] - s.applied[i]);
        external += 0.5 * (from.applied[i] + to.applied[i]) * dq;
        damping -= 0.5 * (from.viscous[i] + to.viscous[i]) * dq;
        force_drift += (f[1] - f[0]) * dq;
        damping_drift += (to.viscous[i] - from.viscous[i]) * dq;
        trapezoid += 0.5 * (from.internal[i] + to.internal[i]) * dq;
    }
    let contact: f64 = (0..rates[0].len()).map(|i| 0.5 * (rates[0][i] + rates[1][i]) * to.impulse[i]).sum();

    // h v_m·M(a_g − a_m) − h a_m·M d, (T13).
    let (g, b) = ([row.g0, row.g1], [row.b0, row.b1]);
    let mean = |i: usize| row.alpha_m * from.a[i] + (1.0 - row.alpha_m) * to.a[i];
    for i in 0..n {
        x[i] = g[0] * from.a[i] + g[1] * to.a[i] - mean(i);
    }
    system.mass.multiply(x, image);
    let mut scheme = 0.0;
    for i in 0..n {
        scheme += h * 0.5 * (from.v[i] + to.v[i]) * image[i];
        x[i] = mean(i);
    }
    system.mass.multiply(x, image);
    for i in 0..n {
        let ag = g[0] * from.a[i] + g[1] * to.a[i];
        let ab = b[0] * from.a[i] + b[1] * to.a[i];
        second[i] = h * (ab - 0.5 * ag) + (shift[i] / h - 0.5 * jump[i]);
    }
    scheme -= h * dot(image, second);
    scheme += (row.alpha_f - 0.5) * force_drift + (row.alpha_c - 0.5) * damping_drift;

    let curvature = if system.linear { 0.0 } else { to.energy.strain - from.energy.strain - trapezoid };
    let mut balance = Balance { external, damping, contact, scheme, curvature, ..Default::default() };
    balance.close(from, to);
    balance
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

/// Updates the filters of `to` and its storage function ℋ, and returns the defect of its identity, (T20)–(T22).
/// Both states must have storage.
pub fn advance_storage(
    system: &System,
    from: &State,
    to: &mut State,
    passage: &Passage,
    contact: f64,
    scratch: &mut Scratch,
) -> f64 {
    let Passage { row, h, jump, shift, .. } = *passage;
    let (Some(old), Some(new)) = (&from.storage, &mut to.storage) else { return 0.0 };
    let n = system.nodes.total;
    let gamma = row.g1;
    let spread = row.alpha_f - row.alpha_m;
    let filter = |increment: f64, old: f64| (spread * increment - row.alpha_m * old) / (1.0 - row.alpha_m);
    let (mut supply, mut viscous) = (0.0, 0.0);
    let (mut dq_norm, mut dz_norm, mut z_norm) = (0.0, 0.0, 0.0);
    for i in 0..n {
        let dq = to.q[i] - from.q[i];
        let stiffness_dq = to.internal[i] - from.internal[i];
        new.z[i] = filter(dq, old.z[i]);
        new.stiffness_z[i] = filter(stiffness_dq, old.stiffness_z[i]);
        new.damping_x[i] = filter(to.viscous[i] - from.viscous[i], old.damping_x[i]);
        new.load[i] = filter(to.applied[i] - from.applied[i], old.load[i]);
        let g = system.gravity[i];
        let load = |s: &State, y: f64| g + s.applied[i] - y;
        let drag = |s: &State, x: f64| s.viscous[i] - x;
        supply += dq * ((1.0 - gamma) * load(from, old.load[i]) + gamma * (g + to.applied[i] - new.load[i]));
        viscous += dq * ((1.0 - gamma) * drag(from, old.damping_x[i]) + gamma * (to.viscous[i] - new.damping_x[i]));
        dq_norm += dq * stiffness_dq;
        dz_norm += (new.z[i] - old.z[i]) * (new.stiffness_z[i] - old.stiffness_z[i]);
        z_norm += new.z[i] * new.stiffness_z[i];
    }
    let Scratch { x, image, .. } = scratch;
    system.mass.multiply(&to.a, image);
    let a_norm = dot(&to.a, image);
    for i in 0..n {
        x[i] = to.a[i] - from.a[i];
    }
    system.mass.multiply(x, image);
    let da_norm = dot(x, image);
    for i in 0..n {
        x[i] = (1.0 - gamma) * from.a[i] + gamma * to.a[i];
    }
    system.mass.multiply(x, image);
    let position: f64 = -(0..n).map(|i| (shift[i] - 0.5 * h * jump[i]) * image[i]).sum::<f64>();
    let sums = StorageSums { supply, viscous, dq: dq_norm, dz: dz_norm, z: z_norm, a: a_norm, da: da_norm, position };
    close_storage(row, h, &to.energy, contact, &sums, old, new)
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
    (new.h, new.inertia) = (h, sums.a);
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

/// Sets ℋ before the first step, where all filters are zero.
pub fn initial_storage(system: &System, state: &mut State, row: &Tableau, h: f64, scratch: &mut Scratch) {
    let Some(storage) = &mut state.storage else { return };
    system.mass.multiply(&state.a, &mut scratch.image);
    (storage.h, storage.inertia) = (h, dot(&state.a, &scratch.image));
    let inertia = 0.25 * h * h * (2.0 * row.b1 - row.g1) * storage.inertia;
    storage.value = state.energy.kinetic + state.energy.strain + inertia;
}

/// Works since the start, and the worst that was seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Sum of the balances.
    pub sum: Balance,
    /// Sum of the works of contact over the steps in which contact gave energy.
    pub gained: f64,
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
        self.scale = self.scale.max(state.energy.kinetic + state.energy.strain);
        if self.scale > 0.0 {
            self.worst_step = self.worst_step.max(balance.defect.abs() / self.scale);
            self.worst_sum = self.worst_sum.max(self.sum.defect.abs() / self.scale);
        }
    }
}
