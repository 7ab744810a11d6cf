//! Sums of the ledger over a finished step, row by row or number by number along the line.

use crate::la::lanes::Row;
use crate::la::number::Number;

/// Sums begin with this, which is taken out in the end: squares of small numbers far ahead of a wave, added to zero, would be
/// subnormal.
const SEED: f64 = 1e-290;

/// Sums over all unknowns; products of two vectors are with the mass or the stiffness matrix.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums<R = f64> {
    /// ½ v1·M v1.
    pub kinetic: R,
    /// ½ a1·M a1, ½ da·M da with da = a1 − a0, and v1·M a1.
    pub inertia: R,
    pub change: R,
    pub power: R,
    /// q1·K q1 and dq·K dq.
    pub strain: R,
    pub drift: R,
    /// Gravity times q1, and times dq.
    pub height: R,
    pub fall: R,
}

impl Sums<Row> {
    /// Over all lanes, and what is behind them.
    // A call, because numbers picked out of vectors would pull the loops before it apart.
    #[inline(never)]
    pub fn total(&self, tail: &Sums) -> Sums {
        let sum = |lanes: &Row, tail: f64| (tail - SEED) + lanes.iter().map(|lane| lane - SEED).sum::<f64>();
        Sums {
            kinetic: sum(&self.kinetic, tail.kinetic),
            inertia: sum(&self.inertia, tail.inertia),
            change: sum(&self.change, tail.change),
            power: sum(&self.power, tail.power),
            strain: sum(&self.strain, tail.strain),
            drift: sum(&self.drift, tail.drift),
            height: sum(&self.height, tail.height),
            fall: sum(&self.fall, tail.fall),
        }
    }
}

/// New velocity, new acceleration and its change.
#[derive(Clone, Copy, Default)]
pub(super) struct Rates<N> {
    pub v: N,
    pub a: N,
    pub da: N,
}

/// New place and its change.
#[derive(Clone, Copy, Default)]
pub(super) struct Places<N> {
    pub q: N,
    pub dq: N,
}

impl<N> Rates<N> {
    #[inline(always)]
    pub fn map<T>(self, f: impl Fn(N) -> T) -> Rates<T> {
        Rates { v: f(self.v), a: f(self.a), da: f(self.da) }
    }
}

impl<N> Places<N> {
    #[inline(always)]
    pub fn map<T>(self, f: impl Fn(N) -> T) -> Places<T> {
        Places { q: f(self.q), dq: f(self.dq) }
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
    /// Before the first sum, after a row.
    #[inline(always)]
    pub fn after(set: N::Set, rates: Rates<N>, places: Places<N>) -> Booking<N> {
        let seed = N::splat(set, SEED);
        let sums = Sums {
            kinetic: seed,
            inertia: seed,
            change: seed,
            power: seed,
            strain: seed,
            drift: seed,
            height: seed,
            fall: seed,
        };
        Booking { sums, rates, places }
    }

    /// Adds the products of a row, whose stiffness k to the row before, half mass m and coupling c to the row before are given.
    #[inline(always)]
    pub fn add<const CARRIES: bool, const LOSES: bool>(
        &mut self,
        constants: [N; 3],
        (rates, places): (Rates<N>, Places<N>),
    ) {
        self.add_rates::<CARRIES, LOSES>(constants, rates);
        self.add_places::<LOSES>(constants[0], places);
    }

    /// Those with the mass matrix.
    #[inline(always)]
    pub fn add_rates<const CARRIES: bool, const LOSES: bool>(&mut self, [_, m, c]: [N; 3], own: Rates<N>) {
        let (sums, before) = (&mut self.sums, std::mem::replace(&mut self.rates, own));
        // Half of a product with M goes to its own row: x·M y is the sum of x·half(y) + y·half(x).
        let half = |own: N, before: N| m.mul_add(own, c * before);
        let moved = half(own.v, before.v);
        sums.kinetic = own.v.mul_add(moved, sums.kinetic);
        if LOSES {
            let forced = half(own.a, before.a);
            sums.inertia = own.a.mul_add(forced, sums.inertia);
            if CARRIES {
                sums.power = own.v.mul_add(forced, own.a.mul_add(moved, sums.power));
                sums.change = own.da.mul_add(half(own.da, before.da), sums.change);
            }
        }
    }

    /// Those with the stiffness matrix.
    #[inline(always)]
    pub fn add_places<const LOSES: bool>(&mut self, k: N, own: Places<N>) {
        let (sums, before) = (&mut self.sums, std::mem::replace(&mut self.places, own));
        let stretch = own.q - before.q;
        sums.strain = (k * stretch).mul_add(stretch, sums.strain);
        if LOSES {
            let drift = own.dq - before.dq;
            sums.drift = (k * drift).mul_add(drift, sums.drift);
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
            change: sums.change.row(),
            power: sums.power.row(),
            strain: sums.strain.row(),
            drift: sums.drift.row(),
            height: sums.height.row(),
            fall: sums.fall.row(),
        }
    }
}
