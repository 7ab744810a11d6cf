//! Where the energy goes: the [`Balance`] of one step, from (T10)–(T16), and the [`Ledger`] that adds them up.
//!
//! Every term has its own formula and none is the remainder, so the defect is a check of the step and not a
//! bookkeeping trick.

use crate::la::{dot, sum};
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
    /// Velocity jump w, if there is one.
    pub jump: Option<&'a [f64]>,
    /// Position correction u, where it is not h c w.
    pub shift: Option<&'a [f64]>,
    /// Relative velocities along the contact rows at the start and at the end.
    pub rates: [&'a [f64]; 2],
    /// M a at the start, where the scheme carries the acceleration on, and at the end.
    pub inertia: [&'a [f64]; 2],
}

impl Passage<'_> {
    /// Sum of forces times d = `drift` + u/h − w/2, (T13), what cancels in d taken together.
    fn lag(&self, n: usize, force: impl Fn(usize) -> f64, drift: impl Fn(usize) -> f64) -> f64 {
        let (excess, frequency) = (self.row.c - 0.5, 1.0 / self.h);
        match (self.jump.map(|jump| &jump[..n]), self.shift.map(|shift| &shift[..n])) {
            (None, _) => sum(n, |i| force(i) * drift(i)),
            (Some(jump), None) => sum(n, |i| force(i) * (drift(i) + excess * jump[i])),
            (Some(jump), Some(shift)) => sum(n, |i| force(i) * (drift(i) + (shift[i] * frequency - 0.5 * jump[i]))),
        }
    }
}

/// Balance of the step from `from` to `to`, (T10). Works on the energies of both states, which must be set.
pub fn balance(system: &System, from: &State, to: &State, passage: &Passage) -> Balance {
    let Passage { row, h, rates, inertia, .. } = *passage;
    let n = system.nodes.total;
    let [(q0, v0, a0), (q1, v1, a1)] = [from, to].map(|s| (&s.q[..n], &s.v[..n], &s.a[..n]));
    let [(f0, p0, d0), (f1, p1, d1)] = [from, to].map(|s| (&s.internal[..n], &s.applied[..n], &s.viscous[..n]));
    let (m0, m1) = (&inertia[0][..n], &inertia[1][..n]);

    // h v_m·M(a_g − a_m) − h a_m·M d, (T13).
    let excess = [row.g0 - row.alpha_m, row.g1 - (1.0 - row.alpha_m)];
    let mut scheme = 0.0;
    if excess != [0.0; 2] {
        scheme += 0.5 * h * sum(n, |i| (v0[i] + v1[i]) * (excess[0] * m0[i] + excess[1] * m1[i]));
    }
    let lag = [row.b0 - 0.5 * row.g0, row.b1 - 0.5 * row.g1];
    scheme -= h * if row.carries_acceleration() {
        let mean = |i: usize| row.alpha_m * m0[i] + (1.0 - row.alpha_m) * m1[i];
        passage.lag(n, mean, |i| h * (lag[0] * a0[i] + lag[1] * a1[i]))
    } else {
        passage.lag(n, |i| m1[i], |i| h * lag[1] * a1[i])
    };
    let path = |i: usize| q1[i] - q0[i];
    if row.alpha_f != 0.5 {
        scheme += (row.alpha_f - 0.5) * sum(n, |i| (f1[i] - f0[i]) * path(i));
    }
    let mut balance = Balance { scheme, ..Default::default() };
    // Sums of what is zero throughout are left out.
    if system.is_loaded() {
        balance.external = 0.5 * sum(n, |i| (p0[i] + p1[i]) * path(i));
        balance.scheme -= (row.alpha_f - 0.5) * sum(n, |i| (p1[i] - p0[i]) * path(i));
    }
    if system.damped {
        balance.damping = -0.5 * sum(n, |i| (d0[i] + d1[i]) * path(i));
        balance.scheme += (row.alpha_c - 0.5) * sum(n, |i| (d1[i] - d0[i]) * path(i));
    }
    if !system.linear {
        let trapezoid = 0.5 * sum(n, |i| (f0[i] + f1[i]) * path(i));
        balance.curvature = to.energy.strain - from.energy.strain - trapezoid;
    }
    balance.contact = 0.5 * sum(rates[0].len(), |i| (rates[0][i] + rates[1][i]) * to.impulse[i]);
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
pub fn advance_storage(system: &System, from: &State, to: &mut State, passage: &Passage, contact: f64) -> f64 {
    let Passage { row, h, inertia: [m0, m1], .. } = *passage;
    let (Some(old), Some(new)) = (&from.storage, &mut to.storage) else { return 0.0 };
    let n = system.nodes.total;
    let gamma = row.g1;
    let gain = (row.alpha_f - row.alpha_m) / (1.0 - row.alpha_m);
    let keep = row.alpha_m / (1.0 - row.alpha_m);
    let filter = |increment: f64, old: f64| gain * increment - keep * old;
    let (mut supply, mut viscous, mut dq_norm, mut dz_norm, mut z_norm) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for i in 0..n {
        let dq = to.q[i] - from.q[i];
        let stiffness_dq = to.internal[i] - from.internal[i];
        new.z[i] = filter(dq, old.z[i]);
        new.stiffness_z[i] = filter(stiffness_dq, old.stiffness_z[i]);
        supply += dq * system.gravity[i];
        dq_norm += dq * stiffness_dq;
        dz_norm += (new.z[i] - old.z[i]) * (new.stiffness_z[i] - old.stiffness_z[i]);
        z_norm += new.z[i] * new.stiffness_z[i];
    }
    // The filter of a force, and the work of what it leaves over the step.
    let advance = |force: [&[f64]; 2], old: &[f64], new: &mut [f64]| {
        let mut work = 0.0;
        for i in 0..n {
            new[i] = filter(force[1][i] - force[0][i], old[i]);
            let left = (1.0 - gamma) * (force[0][i] - old[i]) + gamma * (force[1][i] - new[i]);
            work += left * (to.q[i] - from.q[i]);
        }
        work
    };
    if system.is_loaded() {
        supply += advance([&from.applied, &to.applied], &old.load, &mut new.load);
    }
    if system.damped {
        viscous += advance([&from.viscous, &to.viscous], &old.damping_x, &mut new.damping_x);
    }
    let a_norm = dot(&to.a, m1);
    new.power = dot(&to.v, m1);
    let da_norm = sum(n, |i| (to.a[i] - from.a[i]) * (m1[i] - m0[i]));
    let position = -h * passage.lag(n, |i| (1.0 - gamma) * m0[i] + gamma * m1[i], |_| 0.0);
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

/// Sets ℋ before the first step, where all filters are zero; `inertia` is M a.
pub fn initial_storage(state: &mut State, inertia: &[f64], row: &Tableau, h: f64) {
    let Some(storage) = &mut state.storage else { return };
    (storage.h, storage.inertia, storage.power) = (h, dot(&state.a, inertia), dot(&state.v, inertia));
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
