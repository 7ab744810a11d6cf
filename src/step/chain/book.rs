//! Sums of the ledger over a finished step, row by row or number by number along the line.

use crate::la::lanes::{Number, Row};

/// Sums over all unknowns; products of two vectors are with the mass or the stiffness matrix.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums<R = f64> {
    pub kinetic: R,
    /// a1·M a1, and with da = a1 − a0: (v0 + v1)·M da, a1·M da.
    pub inertia: R,
    pub rate_change: R,
    pub inertia_change: R,
    pub strain: R,
    /// dq·K dq, and with the old filter z0·K dq.
    pub drift: R,
    pub filter_drift: R,
    /// Gravity times q1, and times dq.
    pub height: R,
    pub fall: R,
}

impl Sums<Row> {
    /// Over all lanes, and what is behind them.
    // A call, because numbers picked out of vectors would pull the loops before it apart.
    #[inline(never)]
    pub fn total(&self, tail: &Sums) -> Sums {
        let sum = |lanes: &Row, tail: f64| tail + lanes.iter().sum::<f64>();
        Sums {
            kinetic: sum(&self.kinetic, tail.kinetic),
            inertia: sum(&self.inertia, tail.inertia),
            rate_change: sum(&self.rate_change, tail.rate_change),
            inertia_change: sum(&self.inertia_change, tail.inertia_change),
            strain: sum(&self.strain, tail.strain),
            drift: sum(&self.drift, tail.drift),
            filter_drift: sum(&self.filter_drift, tail.filter_drift),
            height: sum(&self.height, tail.height),
            fall: sum(&self.fall, tail.fall),
        }
    }
}

impl Sums {
    /// da·M da, with the old a0·M a0.
    pub fn change(&self, inertia: f64) -> f64 {
        2.0 * self.inertia_change - self.inertia + inertia
    }

    /// z1·K z1 and dz·K dz of the filter z1 = keep z0 + gain dq, with the old z0·K z0.
    pub fn filter(&self, [keep, gain]: [f64; 2], filter: f64) -> [f64; 2] {
        let (drift, mixed) = (gain * gain * self.drift, 2.0 * gain * self.filter_drift);
        [keep, keep - 1.0].map(|part| part * (part * filter + mixed) + drift)
    }
}

/// New velocity and acceleration, the sum of both velocities, the change of acceleration.
#[derive(Clone, Copy, Default)]
pub(super) struct Rates<N> {
    pub v: N,
    pub a: N,
    pub mean: N,
    pub da: N,
}

/// New place, its change, and the old filter.
#[derive(Clone, Copy, Default)]
pub(super) struct Places<N> {
    pub q: N,
    pub dq: N,
    pub z: N,
}

impl<N> Rates<N> {
    #[inline(always)]
    pub fn map<T>(self, f: impl Fn(N) -> T) -> Rates<T> {
        Rates { v: f(self.v), a: f(self.a), mean: f(self.mean), da: f(self.da) }
    }
}

impl<N> Places<N> {
    #[inline(always)]
    pub fn map<T>(self, f: impl Fn(N) -> T) -> Places<T> {
        Places { q: f(self.q), dq: f(self.dq), z: f(self.z) }
    }
}

/// Sums so far, and the row before the next one.
#[derive(Clone, Copy)]
pub(super) struct Booking<N> {
    pub sums: Sums<N>,
    pub rates: Rates<N>,
    pub places: Places<N>,
}

impl<N: Number> Booking<N> {
    /// Without sums, after a row.
    #[inline(always)]
    pub fn after(set: N::Set, rates: Rates<N>, places: Places<N>) -> Booking<N> {
        let zero = N::splat(set, 0.0);
        let sums = Sums {
            kinetic: zero,
            inertia: zero,
            rate_change: zero,
            inertia_change: zero,
            strain: zero,
            drift: zero,
            filter_drift: zero,
            height: zero,
            fall: zero,
        };
        Booking { sums, rates, places }
    }

    /// Adds the products of a row, whose stiffness k to the row before, mass m and coupling c to the row before are given.
    #[inline(always)]
    pub fn add<const CARRIES: bool, const LOSES: bool, const FILTER: bool>(
        &mut self,
        constants: [N; 3],
        (rates, places): (Rates<N>, Places<N>),
    ) {
        self.add_rates::<CARRIES, LOSES>(constants, rates);
        self.add_places::<LOSES, FILTER>(constants[0], places);
    }

    /// Those with the mass matrix.
    #[inline(always)]
    pub fn add_rates<const CARRIES: bool, const LOSES: bool>(&mut self, [_, m, c]: [N; 3], own: Rates<N>) {
        let (sums, before) = (&mut self.sums, std::mem::replace(&mut self.rates, own));
        sums.kinetic = own.v.mul_add(m.mul_add(own.v, c * (before.v + before.v)), sums.kinetic);
        if LOSES {
            sums.inertia = own.a.mul_add(m.mul_add(own.a, c * (before.a + before.a)), sums.inertia);
        }
        if CARRIES {
            let (pushed, back) = (m.mul_add(own.da, c * before.da), c * own.da);
            let along = |own: N, before: N, sum: N| own.mul_add(pushed, before.mul_add(back, sum));
            sums.rate_change = along(own.mean, before.mean, sums.rate_change);
            sums.inertia_change = along(own.a, before.a, sums.inertia_change);
        }
    }

    /// Those with the stiffness matrix.
    #[inline(always)]
    pub fn add_places<const LOSES: bool, const FILTER: bool>(&mut self, k: N, own: Places<N>) {
        let (sums, before) = (&mut self.sums, std::mem::replace(&mut self.places, own));
        let stretch = own.q - before.q;
        sums.strain = (k * stretch).mul_add(stretch, sums.strain);
        if LOSES {
            let drift = own.dq - before.dq;
            let tension = k * drift;
            sums.drift = tension.mul_add(drift, sums.drift);
            if FILTER {
                sums.filter_drift = tension.mul_add(own.z - before.z, sums.filter_drift);
            }
        }
    }

    /// Those of gravity with the place and its change.
    #[inline(always)]
    pub fn add_weight(&mut self, weight: N, [q, dq]: [N; 2]) {
        let sums = &mut self.sums;
        sums.height = weight.mul_add(q, sums.height);
        sums.fall = weight.mul_add(dq, sums.fall);
    }
}

impl<N: Number<Row = Row>> Booking<N> {
    /// The sums of all lanes, in memory.
    #[inline(always)]
    pub fn stored(&self) -> Sums<Row> {
        let sums = &self.sums;
        Sums {
            kinetic: sums.kinetic.row(),
            inertia: sums.inertia.row(),
            rate_change: sums.rate_change.row(),
            inertia_change: sums.inertia_change.row(),
            strain: sums.strain.row(),
            drift: sums.drift.row(),
            filter_drift: sums.filter_drift.row(),
            height: sums.height.row(),
            fall: sums.fall.row(),
        }
    }
}
