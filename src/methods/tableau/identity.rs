//! The energy identity of a tableau, (T10)–(T16), and that of its storage function, (T20)–(T22): sums over all unknowns, taken
//! up piece by piece, so that what one of them has read is near when the next one reads it.

use crate::la::{Sum, dot};
use crate::ledger::Works;
use crate::schemes::Tableau;
use crate::state::{Energy, State, Storage};
use crate::system::System;
use pulp::{Simd, WithSimd};
use std::ops::Range;

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
    /// M a at the start, where the scheme carries the acceleration on.
    pub inertia: &'a [f64],
}

impl Passage<'_> {
    /// Weights in which inertia forces differ between velocities and forces, and accelerations between positions and
    /// velocities, (T13).
    fn mismatch(row: &Tableau) -> [[f64; 2]; 2] {
        let excess = [row.g0 - row.alpha_m, row.g1 - (1.0 - row.alpha_m)];
        [excess, [row.b0 - 0.5 * row.g0, row.b1 - 0.5 * row.g1]]
    }

    /// Whether a jump moves positions otherwise than it would as a mean velocity.
    fn jolts(&self) -> bool {
        self.jump.is_some() && (self.row.c != 0.5 || self.shift.is_some())
    }
}

/// Whether the balance of a scheme asks for M a; positions may be corrected by themselves.
pub fn weighs_inertia(row: &Tableau, corrected: bool) -> bool {
    Passage::mismatch(row) != [[0.0; 2]; 2] || row.c != 0.5 || corrected
}

/// The sums so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Works of inertia forces: those of their mismatch, and over the lag of positions.
    excess: Sum,
    lag: Sum,
    /// Works of internal, applied and damping forces over the step: of both ends together, and of their change.
    both: [Sum; 3],
    change: [Sum; 3],
    /// Of the storage function, as [`StorageSums`] has them.
    supply: Sum,
    viscous: Sum,
    dq: Sum,
    dz: Sum,
    z: Sum,
    a: Sum,
    da: Sum,
    position: Sum,
    power: Sum,
}

/// Some rows of a step, to be tallied; the filters of the storage function go on there.
pub struct Piece<'a> {
    /// The sums.
    pub tally: &'a mut Tally,
    /// The system.
    pub system: &'a System,
    /// Both ends of the step, M a of the second set in these rows if it matters.
    pub from: &'a State,
    /// The second.
    pub to: &'a mut State,
    /// The step.
    pub passage: &'a Passage<'a>,
    /// The rows.
    pub rows: Range<usize>,
}

impl WithSimd for Piece<'_> {
    type Output = ();

    // Plain loops, for the vectors that the processor has.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Piece { tally, system, from, to, passage, rows } = self;
        tally.works(system, [from, to], passage, rows.clone());
        if from.storage.is_some() {
            tally.norms([from, to], passage, rows.clone());
            tally.filters(system, from, to, passage.row, rows);
        }
    }
}

impl Tally {
    #[inline(always)]
    fn works(&mut self, system: &System, ends: [&State; 2], passage: &Passage, rows: Range<usize>) {
        let row = passage.row;
        let [q0, q1] = ends.map(|state| &state.q[rows.clone()]);
        let [excess, lag] = Passage::mismatch(row);
        if excess != [0.0; 2] {
            let [v0, v1] = ends.map(|state| &state.v[rows.clone()]);
            let [m0, m1] = [passage.inertia, &ends[1].inertia].map(|inertia| &inertia[rows.clone()]);
            self.excess.add([v0, v1, m0, m1], |[v0, v1, m0, m1]| (v0 + v1) * (excess[0] * m0 + excess[1] * m1));
        }
        if lag != [0.0; 2] || passage.jolts() {
            let weights = [row.alpha_m, 1.0 - row.alpha_m];
            over_lag(&mut self.lag, ends, passage, weights, lag.map(|lag| passage.h * lag), rows.clone());
        }
        // Sums of what is zero throughout are left out.
        let forces = ends.map(|state| &state.internal[rows.clone()]);
        if !system.linear {
            over_path(&mut self.both[0], forces, 1.0, [q0, q1]);
        }
        if row.alpha_f != 0.5 {
            over_path(&mut self.change[0], forces, -1.0, [q0, q1]);
        }
        if system.is_loaded() {
            let forces = ends.map(|state| &state.applied[rows.clone()]);
            over_path(&mut self.both[1], forces, 1.0, [q0, q1]);
            over_path(&mut self.change[1], forces, -1.0, [q0, q1]);
        }
        if system.damped {
            let forces = ends.map(|state| &state.viscous[rows.clone()]);
            over_path(&mut self.both[2], forces, 1.0, [q0, q1]);
            over_path(&mut self.change[2], forces, -1.0, [q0, q1]);
        }
    }

    /// Norms and power of the acceleration, and what position shifts add to the storage function.
    #[inline(always)]
    fn norms(&mut self, ends: [&State; 2], passage: &Passage, rows: Range<usize>) {
        let gamma = passage.row.g1;
        let [a0, a1] = ends.map(|state| &state.a[rows.clone()]);
        let [m0, m1] = [passage.inertia, &ends[1].inertia].map(|inertia| &inertia[rows.clone()]);
        self.a.add([a1, m1], |[a, m]| a * m);
        self.power.add([&ends[1].v[rows.clone()], m1], |[v, m]| v * m);
        self.da.add([a0, a1, m0, m1], |[a0, a1, m0, m1]| (a1 - a0) * (m1 - m0));
        if passage.jolts() {
            over_lag(&mut self.position, ends, passage, [1.0 - gamma, gamma], [0.0; 2], rows);
        }
    }

    /// The filters of (T21) and their sums.
    #[inline(always)]
    fn filters(&mut self, system: &System, from: &State, to: &mut State, row: &Tableau, rows: Range<usize>) {
        let (Some(old), Some(new)) = (&from.storage, &mut to.storage) else { return };
        let gamma = row.g1;
        let weights = row.filter();
        let (q0, q1) = (&from.q[rows.clone()], &to.q[rows.clone()]);
        let (f0, f1) = (&from.internal[rows.clone()], &to.internal[rows.clone()]);
        let (z0, z1) = (&old.z[rows.clone()], &mut new.z[rows.clone()]);
        let (kz0, kz1) = (&old.stiffness_z[rows.clone()], &mut new.stiffness_z[rows.clone()]);
        filter(weights, [q0, q1], z0, z1);
        filter(weights, [f0, f1], kz0, kz1);
        self.supply.add([q0, q1, &system.gravity[rows.clone()]], |[q0, q1, g]| (q1 - q0) * g);
        self.dq.add([q0, q1, f0, f1], |[q0, q1, f0, f1]| (q1 - q0) * (f1 - f0));
        self.dz.add([z0, z1, kz0, kz1], |[z0, z1, kz0, kz1]| (z1 - z0) * (kz1 - kz0));
        self.z.add([z1, kz1], |[z, kz]| z * kz);
        // The filter of a force, and the work of what it leaves over the step.
        let advance = |sum: &mut Sum, forces: [&[f64]; 2], old: &[f64], new: &mut [f64]| {
            let ([p0, p1], old, new) = (forces.map(|p| &p[rows.clone()]), &old[rows.clone()], &mut new[rows.clone()]);
            filter(weights, [p0, p1], old, new);
            sum.add([p0, p1, old, new, q0, q1], |[p0, p1, old, new, q0, q1]| {
                ((1.0 - gamma) * (p0 - old) + gamma * (p1 - new)) * (q1 - q0)
            });
        };
        if system.is_loaded() {
            advance(&mut self.supply, [&from.applied, &to.applied], &old.load, &mut new.load);
        }
        if system.damped {
            advance(&mut self.viscous, [&from.viscous, &to.viscous], &old.damping_x, &mut new.damping_x);
        }
    }

    /// Works of the whole step but for those of contact and supports, (T10); the energies of both states must be set.
    pub fn works_of(&self, system: &System, ends: [&State; 2], passage: &Passage) -> Works {
        let (row, h) = (passage.row, passage.h);
        let (both, change) = (self.both.map(|sum| sum.total()), self.change.map(|sum| sum.total()));
        // h v_m·M(a_g − a_m) − h a_m·M d, (T13).
        let inertia = 0.5 * h * self.excess.total() - h * self.lag.total();
        let weighed = (row.alpha_f - 0.5) * (change[0] - change[1]) + (row.alpha_c - 0.5) * change[2];
        let strained = ends[1].energy.strain - ends[0].energy.strain - 0.5 * both[0];
        Works {
            external: 0.5 * both[1],
            // Subtracted from zero, because minus zero would be printed as such.
            damping: 0.0 - 0.5 * both[2],
            scheme: inertia + weighed,
            curvature: if system.linear { 0.0 } else { strained },
            ..Default::default()
        }
    }

    /// Sets ℋ of the state at the end and returns the defect of its identity, (T20)–(T22); both states must have storage.
    pub fn storage(&self, from: &State, to: &mut State, passage: &Passage, contact: f64) -> f64 {
        let (Some(old), Some(new)) = (&from.storage, &mut to.storage) else { return 0.0 };
        new.power = self.power.total();
        let sums = StorageSums {
            supply: self.supply.total(),
            viscous: self.viscous.total(),
            dq: self.dq.total(),
            dz: self.dz.total(),
            z: self.z.total(),
            a: self.a.total(),
            da: self.da.total(),
            position: -passage.h * self.position.total(),
        };
        close_storage(passage.row, passage.h, &to.energy, contact, &sums, old, new)
    }
}

/// Adds the work of the new force and of the old one, times a factor, over the path.
#[inline(always)]
fn over_path(sum: &mut Sum, force: [&[f64]; 2], old: f64, q: [&[f64]; 2]) {
    sum.add([force[0], force[1], q[0], q[1]], |[f0, f1, q0, q1]| (f1 + old * f0) * (q1 - q0));
}

/// Adds inertia forces times d = drift + u/h − w/2, (T13), what cancels in d taken together; forces and drift are those of
/// both ends in these weights.
#[inline(always)]
fn over_lag(sum: &mut Sum, ends: [&State; 2], passage: &Passage, force: [f64; 2], drift: [f64; 2], rows: Range<usize>) {
    let (excess, frequency) = (passage.row.c - 0.5, 1.0 / passage.h);
    let [a0, a1] = ends.map(|state| &state.a[rows.clone()]);
    let [m0, m1] = [passage.inertia, &ends[1].inertia].map(|inertia| &inertia[rows.clone()]);
    let [jump, shift] = [passage.jump, passage.shift].map(|vector| vector.map(|vector| &vector[rows.clone()]));
    let force = |m0: f64, m1: f64| force[0] * m0 + force[1] * m1;
    let drift = |a0: f64, a1: f64| drift[0] * a0 + drift[1] * a1;
    match (jump, shift) {
        (None, _) => sum.add([m0, m1, a0, a1], |[m0, m1, a0, a1]| force(m0, m1) * drift(a0, a1)),
        (Some(jump), None) => {
            sum.add([m0, m1, a0, a1, jump], |[m0, m1, a0, a1, jump]| force(m0, m1) * (drift(a0, a1) + excess * jump))
        }
        (Some(jump), Some(shift)) => sum.add([m0, m1, a0, a1, jump, shift], |[m0, m1, a0, a1, jump, shift]| {
            force(m0, m1) * (drift(a0, a1) + (shift * frequency - 0.5 * jump))
        }),
    }
}

/// The next values of a filter of increments, (T21).
#[inline(always)]
pub fn filter([keep, gain]: [f64; 2], x: [&[f64]; 2], old: &[f64], new: &mut [f64]) {
    let n = new.len();
    let (x0, x1, old) = (&x[0][..n], &x[1][..n], &old[..n]);
    for i in 0..n {
        new[i] = gain * (x1[i] - x0[i]) + keep * old[i];
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
