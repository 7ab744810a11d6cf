//! Second pass of a step over the unknowns of a line, in blocks that stay in the cache: the accelerations and the motion,
//! then the sums of the ledger.

use super::FEW;
use super::line::{BLOCK, Lanes, Line, after, before, settle};
use crate::la::lanes::{LANES, Number, Processor, Row, Task};
use crate::schemes::Tableau;
use std::ops::Range;

/// Sums over all unknowns of a finished step; products of two vectors are with the mass or the stiffness matrix.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums<R = f64> {
    pub kinetic: R,
    pub strain: R,
    /// dq·K dq.
    pub drift: R,
    /// a1·M a1, and with da = a1 − a0: (v0 + v1)·M da, a1·M da, da·M da.
    pub inertia: R,
    pub rate_change: R,
    pub inertia_change: R,
    pub change: R,
    /// Filter z: z1·K z1 and dz·K dz.
    pub filter: R,
    pub filter_change: R,
    /// Gravity times q1, and times dq.
    pub height: R,
    pub fall: R,
}

impl Sums<Row> {
    /// Over all lanes, and what is behind them.
    fn total(&self, tail: &Sums) -> Sums {
        let sum = |lanes: &Row, tail: f64| tail + lanes.iter().sum::<f64>();
        Sums {
            kinetic: sum(&self.kinetic, tail.kinetic),
            strain: sum(&self.strain, tail.strain),
            drift: sum(&self.drift, tail.drift),
            inertia: sum(&self.inertia, tail.inertia),
            rate_change: sum(&self.rate_change, tail.rate_change),
            inertia_change: sum(&self.inertia_change, tail.inertia_change),
            change: sum(&self.change, tail.change),
            filter: sum(&self.filter, tail.filter),
            filter_change: sum(&self.filter_change, tail.filter_change),
            height: sum(&self.height, tail.height),
            fall: sum(&self.fall, tail.fall),
        }
    }
}

/// Vectors of a state; `z` is empty without a filter.
#[derive(Clone, Copy, Default)]
pub(super) struct Motion<T> {
    pub q: T,
    pub v: T,
    pub a: T,
    pub z: T,
}

impl<'a> Motion<&'a [f64]> {
    fn rows<const FILTER: bool>(&self, range: &Range<usize>) -> Motion<&'a [Row]> {
        let Motion { q, v, a, z } = self;
        let z = if FILTER { rows(z, range) } else { &[] };
        Motion { q: rows(q, range), v: rows(v, range), a: rows(a, range), z }
    }

    fn row<const FILTER: bool>(&self, j: usize) -> Motion<Row> {
        let rows = self.rows::<FILTER>(&(j..j + 1));
        Motion { q: rows.q[0], v: rows.v[0], a: rows.a[0], z: if FILTER { rows.z[0] } else { [0.0; LANES] } }
    }

    /// Numbers behind all rows.
    fn behind<const FILTER: bool>(&self, range: &Range<usize>) -> Motion<&'a [f64]> {
        let Motion { q, v, a, z } = self;
        let z = if FILTER { &z[range.clone()] } else { &[] };
        Motion { q: &q[range.clone()], v: &v[range.clone()], a: &a[range.clone()], z }
    }
}

impl Motion<&mut [f64]> {
    fn get(&self) -> Motion<&[f64]> {
        Motion { q: self.q, v: self.v, a: self.a, z: self.z }
    }

    fn rows<const FILTER: bool>(&mut self, range: &Range<usize>) -> Motion<&mut [Row]> {
        let Motion { q, v, a, z } = self;
        let z = if FILTER { rows_mut(z, range) } else { &mut [] };
        Motion { q: rows_mut(q, range), v: rows_mut(v, range), a: rows_mut(a, range), z }
    }

    fn behind<const FILTER: bool>(&mut self, range: &Range<usize>) -> Motion<&mut [f64]> {
        let Motion { q, v, a, z } = self;
        let z = if FILTER { &mut z[range.clone()] } else { &mut [] };
        Motion { q: &mut q[range.clone()], v: &mut v[range.clone()], a: &mut a[range.clone()], z }
    }
}

impl Motion<Row> {
    /// The same for the next lanes.
    fn shifted(self) -> Motion<Row> {
        let Motion { q, v, a, z } = self;
        Motion { q: before(&q), v: before(&v), a: before(&a), z: before(&z) }
    }

    fn last_lane(self) -> Motion<f64> {
        let Motion { q, v, a, z } = self;
        Motion { q: q[LANES - 1], v: v[LANES - 1], a: a[LANES - 1], z: z[LANES - 1] }
    }
}

/// Some rows of an array.
fn rows<'a>(x: &'a [f64], range: &Range<usize>) -> &'a [Row] {
    x[LANES * range.start..LANES * range.end].as_chunks().0
}

fn rows_mut<'a>(x: &'a mut [f64], range: &Range<usize>) -> &'a mut [Row] {
    x[LANES * range.start..LANES * range.end].as_chunks_mut().0
}

/// From the eliminated right-hand side in `a` of the new motion, with the separators solved, to the end of the step.
/// `CARRIES`: old accelerations matter; `LOSES`: the scheme dissipates by itself; `FILTER`: there is one.
pub(super) fn up<const CARRIES: bool, const LOSES: bool, const FILTER: bool>(
    processor: Processor,
    (line, factor, row): (&Line, &Lanes, &Tableau),
    (separators, impulse): (Row, &[f64]),
    old: Motion<&[f64]>,
    mut new: Motion<&mut [f64]>,
) -> Sums {
    let (n, length) = (line.n, line.weave.rows);
    let weights = Weights::new(row, factor.h);
    // The row of the separators has unit pivots and no multipliers.
    new.a[..LANES].copy_from_slice(&separators);
    let next = after(&separators, 0.0);
    let (mut carry, mut sums, mut few) = ([0.0; LANES], Sums::default(), Sums::default());
    let pressed = || impulse.iter().zip(&factor.responses).filter(|(p, _)| **p != 0.0).map(|(p, r)| (*p, r));
    // Of the jumps of every contact, how many rows have been added.
    let mut done = [0; FEW];
    let mut from = 0;
    while from < length {
        let range = from..(from + BLOCK).min(length);
        let part = Moving {
            old: old.rows::<FILTER>(&range),
            new: new.rows::<FILTER>(&range),
            lower: rows(&factor.lower, &range),
            pivot: rows(&factor.pivot, &range),
            fill: rows(&factor.fill, &range),
            weights: &weights,
            next: &next,
        };
        let carry = &mut carry;
        if range.end > factor.filled_from {
            processor.run(Advance::<CARRIES, FILTER, true> { part, carry });
        } else {
            processor.run(Advance::<CARRIES, FILTER, false> { part, carry });
        }
        settle(carry);
        for ((p, response), done) in pressed().zip(&mut done) {
            let jump = response.jump.until(*done, range.end);
            *done += jump.len();
            if !jump.is_empty() {
                processor.run(Push::<FILTER> { jump, p, new: new.rows::<FILTER>(&(0..length)), weights: &weights });
            }
        }
        // What is before the separators is known in the last block only.
        let whole = range.end - range.start == length;
        let own = if whole { range.clone() } else { range.start.max(1)..range.end };
        let before = if whole { length - 1 } else { own.start - 1 };
        let mut before = [old, new.get()].map(|motion| motion.row::<FILTER>(before));
        if whole {
            before = before.map(Motion::shifted);
        }
        let part = Booking::rows::<FILTER>(line, [old, new.get()], &own);
        processor.run(Book::<CARRIES, LOSES, FILTER> { part, before, sums: &mut sums });
        from = range.end;
    }
    let last = [old, new.get()].map(|motion| motion.row::<FILTER>(length - 1));
    if length > BLOCK {
        let part = Booking::rows::<FILTER>(line, [old, new.get()], &(0..1));
        processor.run(Book::<CARRIES, LOSES, FILTER> { part, before: last.map(Motion::shifted), sums: &mut sums });
    }
    // The unknowns behind all rows.
    let behind = LANES * length..n;
    if !behind.is_empty() {
        let [lower, pivot, fill] = [&factor.lower, &factor.pivot, &factor.fill].map(|x| &x[behind.clone()]);
        let (from, to) = (old.behind::<FILTER>(&behind), new.behind::<FILTER>(&behind));
        let part = Moving { old: from, new: to, lower, pivot, fill, weights: &weights, next: &0.0 };
        part.advance::<f64, CARRIES, FILTER, false>((), &mut carry[LANES - 1]);
        for (p, response) in pressed() {
            let mut to = new.behind::<FILTER>(&behind);
            let jump = response.jump.tail[..behind.len()].iter().enumerate();
            jump.for_each(|(j, w)| push::<f64, FILTER>((), j, w, p, &weights, &mut to));
        }
        let part = Booking::behind::<FILTER>(line, [old, new.get()], &behind);
        part.book::<f64, CARRIES, LOSES, FILTER>((), last.map(Motion::last_lane), &mut few);
    }
    // The edge after the last unknown.
    if line.last_stiffness != 0.0 {
        let squares = |old: &[f64], new: &[f64]| {
            let (new, change) = (new[n - 1], new[n - 1] - old[n - 1]);
            [new * new, change * change].map(|x| line.last_stiffness * x)
        };
        let [strain, drift] = squares(old.q, new.q);
        (few.strain, few.drift) = (few.strain + strain, few.drift + drift);
        if FILTER {
            let [filter, change] = squares(old.z, new.z);
            (few.filter, few.filter_change) = (few.filter + filter, few.filter_change + change);
        }
    }
    sums.total(&few)
}

/// Numbers of (T1), (T2) and of the filter.
struct Weights {
    h: f64,
    /// Old and new acceleration in the velocity and in the place, a jump in the place.
    g: [f64; 2],
    b: [f64; 2],
    c: f64,
    /// Old filter and increment of the place in the new filter.
    filter: [f64; 2],
}

impl Weights {
    fn new(row: &Tableau, h: f64) -> Weights {
        let scale = 1.0 / (1.0 - row.alpha_m);
        Weights {
            h,
            g: [h * row.g0, h * row.g1],
            b: [h * h * row.b0, h * h * row.b1],
            c: h * row.c,
            filter: [-row.alpha_m * scale, (row.alpha_f - row.alpha_m) * scale],
        }
    }
}

/// Arrays of some rows, or of some numbers, that are moved.
struct Moving<'a, R> {
    old: Motion<&'a [R]>,
    /// Its accelerations hold the eliminated right-hand side.
    new: Motion<&'a mut [R]>,
    lower: &'a [R],
    pivot: &'a [R],
    fill: &'a [R],
    weights: &'a Weights,
    /// Accelerations of the next separators.
    next: &'a R,
}

impl<R: Copy> Moving<'_, R> {
    /// Accelerations and motion; `carry` is the acceleration of the row before.
    #[inline(always)]
    fn advance<N: Number<Row = R>, const CARRIES: bool, const FILTER: bool, const FILLED: bool>(
        self,
        set: N::Set,
        carry: &mut R,
    ) {
        let load = |row: &R| N::load(set, row);
        let Weights { h, g, b, filter, .. } = self.weights;
        let h = N::splat(set, *h);
        let [g, b, filter] = [g, b, filter].map(|pair| pair.map(|x| N::splat(set, x)));
        let len = self.lower.len();
        let (q0, v0, a0) = (&self.old.q[..len], &self.old.v[..len], &self.old.a[..len]);
        let (q1, v1, a1) = (&mut self.new.q[..len], &mut self.new.v[..len], &mut self.new.a[..len]);
        let (lower, pivot, fill) = (&self.lower[..len], &self.pivot[..len], &self.fill[..len]);
        let filtered = if FILTER { len } else { 0 };
        let (z0, z1) = (&self.old.z[..filtered], &mut self.new.z[..filtered]);
        let (next, mut a) = (load(self.next), load(carry));
        for j in 0..len {
            let mut own = load(&pivot[j]) * load(&a1[j]);
            if FILLED {
                own = load(&fill[j]).take_from(next, own);
            }
            a = load(&lower[j]).take_from(a, own);
            a.store(&mut a1[j]);
            let (old_q, old_v) = (load(&q0[j]), load(&v0[j]));
            let (mut q, mut v) = (h.mul_add(old_v, old_q), old_v);
            if CARRIES {
                let old_a = load(&a0[j]);
                (q, v) = (b[0].mul_add(old_a, q), g[0].mul_add(old_a, v));
            }
            (q, v) = (b[1].mul_add(a, q), g[1].mul_add(a, v));
            q.store(&mut q1[j]);
            v.store(&mut v1[j]);
            if FILTER {
                filter[1].mul_add(q - old_q, filter[0] * load(&z0[j])).store(&mut z1[j]);
            }
        }
        a.store(carry);
    }
}

struct Advance<'a, const CARRIES: bool, const FILTER: bool, const FILLED: bool> {
    part: Moving<'a, Row>,
    carry: &'a mut Row,
}

impl<const CARRIES: bool, const FILTER: bool, const FILLED: bool> Task for Advance<'_, CARRIES, FILTER, FILLED> {
    type Output = ();

    #[inline(always)]
    fn run<N: Number<Row = Row>>(self, set: N::Set) {
        self.part.advance::<N, CARRIES, FILTER, FILLED>(set, self.carry);
    }
}

/// What the jump w of impulse p does to a row, or to a number.
#[inline(always)]
fn push<N: Number, const FILTER: bool>(
    set: N::Set,
    row: usize,
    w: &N::Row,
    p: f64,
    weights: &Weights,
    new: &mut Motion<&mut [N::Row]>,
) {
    let jump = N::load(set, w) * N::splat(set, p);
    let shift = jump * N::splat(set, weights.c);
    (N::load(set, &new.v[row]) + jump).store(&mut new.v[row]);
    (N::load(set, &new.q[row]) + shift).store(&mut new.q[row]);
    if FILTER {
        let weight = N::splat(set, weights.filter[1]);
        weight.mul_add(shift, N::load(set, &new.z[row])).store(&mut new.z[row]);
    }
}

struct Push<'a, const FILTER: bool> {
    jump: &'a [(u32, Row)],
    p: f64,
    new: Motion<&'a mut [Row]>,
    weights: &'a Weights,
}

impl<const FILTER: bool> Task for Push<'_, FILTER> {
    type Output = ();

    #[inline(always)]
    fn run<N: Number<Row = Row>>(mut self, set: N::Set) {
        for (row, w) in self.jump {
            push::<N, FILTER>(set, *row as usize, w, self.p, self.weights, &mut self.new);
        }
    }
}

/// Arrays of some rows, or of some numbers, that are booked.
#[derive(Clone, Copy)]
struct Booking<'a, R> {
    old: Motion<&'a [R]>,
    new: Motion<&'a [R]>,
    stiffness: &'a [R],
    mass: &'a [R],
    coupling: &'a [R],
    /// Empty where there is none.
    gravity: &'a [R],
}

impl<'a> Booking<'a, Row> {
    fn rows<const FILTER: bool>(line: &'a Line, motions: [Motion<&'a [f64]>; 2], range: &Range<usize>) -> Self {
        let [old, new] = motions.map(|motion| motion.rows::<FILTER>(range));
        let [stiffness, mass, coupling] = [&line.stiffness, &line.mass, &line.coupling].map(|x| rows(x, range));
        let gravity = if line.gravity.is_empty() { &[] } else { rows(&line.gravity, range) };
        Booking { old, new, stiffness, mass, coupling, gravity }
    }
}

impl<'a> Booking<'a, f64> {
    fn behind<const FILTER: bool>(line: &'a Line, motions: [Motion<&'a [f64]>; 2], range: &Range<usize>) -> Self {
        let [old, new] = motions.map(|motion| motion.behind::<FILTER>(range));
        let [stiffness, mass, coupling] = [&line.stiffness, &line.mass, &line.coupling].map(|x| &x[range.clone()]);
        let gravity = if line.gravity.is_empty() { &[] } else { &line.gravity[range.clone()] };
        Booking { old, new, stiffness, mass, coupling, gravity }
    }
}

impl<R: Copy> Booking<'_, R> {
    /// Adds the terms of all rows; `before` is the row before them, old and new.
    #[inline(always)]
    fn book<N: Number<Row = R>, const CARRIES: bool, const LOSES: bool, const FILTER: bool>(
        self,
        set: N::Set,
        before: [Motion<R>; 2],
        sums: &mut Sums<R>,
    ) {
        if CARRIES {
            self.inertia_changes::<N>(set, &before, sums);
        }
        let [old_before, new_before] = before;
        let load = |row: &R| N::load(set, row);
        let len = self.stiffness.len();
        let (stiffness, mass, coupling) = (&self.stiffness[..len], &self.mass[..len], &self.coupling[..len]);
        let (q0, q1) = (&self.old.q[..len], &self.new.q[..len]);
        let (v1, a1) = (&self.new.v[..len], &self.new.a[..len]);
        let filtered = if FILTER { len } else { 0 };
        let (z0, z1) = (&self.old.z[..filtered], &self.new.z[..filtered]);
        let (mut kinetic, mut inertia) = (load(&sums.kinetic), load(&sums.inertia));
        let (mut strain, mut drift) = (load(&sums.strain), load(&sums.drift));
        let (mut filter, mut filter_change) = (load(&sums.filter), load(&sums.filter_change));
        // Of the row before: velocity, acceleration, place, filter, and changes of the last two.
        let (mut v_before, mut a_before) = (load(&new_before.v), load(&new_before.a));
        let (mut q_before, mut z_before) = (load(&new_before.q), load(&new_before.z));
        let (mut dq_before, mut dz_before) = (q_before - load(&old_before.q), z_before - load(&old_before.z));
        for j in 0..len {
            let (k, q) = (load(&stiffness[j]), load(&q1[j]));
            let stretch = q - q_before;
            strain = (k * stretch).mul_add(stretch, strain);
            q_before = q;
            if LOSES {
                let dq = q - load(&q0[j]);
                let stretched = dq - dq_before;
                drift = (k * stretched).mul_add(stretched, drift);
                dq_before = dq;
            }
            if FILTER {
                let z = load(&z1[j]);
                let dz = z - load(&z0[j]);
                let (own, stretched) = (z - z_before, dz - dz_before);
                filter = (k * own).mul_add(own, filter);
                filter_change = (k * stretched).mul_add(stretched, filter_change);
                (z_before, dz_before) = (z, dz);
            }
            if !CARRIES {
                let (m, c, v) = (load(&mass[j]), load(&coupling[j]), load(&v1[j]));
                kinetic = v.mul_add(m.mul_add(v, c * (v_before + v_before)), kinetic);
                v_before = v;
                if LOSES {
                    let a = load(&a1[j]);
                    inertia = a.mul_add(m.mul_add(a, c * (a_before + a_before)), inertia);
                    a_before = a;
                }
            }
        }
        kinetic.store(&mut sums.kinetic);
        inertia.store(&mut sums.inertia);
        strain.store(&mut sums.strain);
        drift.store(&mut sums.drift);
        filter.store(&mut sums.filter);
        filter_change.store(&mut sums.filter_change);
        self.fall::<N>(set, sums);
    }

    /// Adds all products with the mass matrix in a loop of their own, because the sums of one loop must fit the registers.
    #[inline(always)]
    fn inertia_changes<N: Number<Row = R>>(self, set: N::Set, before: &[Motion<R>; 2], sums: &mut Sums<R>) {
        let load = |row: &R| N::load(set, row);
        let len = self.mass.len();
        let (mass, coupling) = (&self.mass[..len], &self.coupling[..len]);
        let (v0, a0) = (&self.old.v[..len], &self.old.a[..len]);
        let (v1, a1) = (&self.new.v[..len], &self.new.a[..len]);
        let (mut kinetic, mut inertia) = (load(&sums.kinetic), load(&sums.inertia));
        let (mut rate_change, mut inertia_change) = (load(&sums.rate_change), load(&sums.inertia_change));
        let mut change = load(&sums.change);
        // Of the row before: velocity, acceleration, sum of both velocities, change of acceleration.
        let [old_before, new_before] = before;
        let (mut v_before, mut a_before) = (load(&new_before.v), load(&new_before.a));
        let (mut mean_before, mut da_before) = (load(&old_before.v) + v_before, a_before - load(&old_before.a));
        for j in 0..len {
            let (m, c, v, a) = (load(&mass[j]), load(&coupling[j]), load(&v1[j]), load(&a1[j]));
            kinetic = v.mul_add(m.mul_add(v, c * (v_before + v_before)), kinetic);
            inertia = a.mul_add(m.mul_add(a, c * (a_before + a_before)), inertia);
            let (da, mean) = (a - load(&a0[j]), load(&v0[j]) + v);
            let (pushed, back) = (m.mul_add(da, c * da_before), c * da);
            rate_change = mean.mul_add(pushed, mean_before.mul_add(back, rate_change));
            inertia_change = a.mul_add(pushed, a_before.mul_add(back, inertia_change));
            change = da.mul_add(pushed, da_before.mul_add(back, change));
            (v_before, a_before, mean_before, da_before) = (v, a, mean, da);
        }
        kinetic.store(&mut sums.kinetic);
        inertia.store(&mut sums.inertia);
        rate_change.store(&mut sums.rate_change);
        inertia_change.store(&mut sums.inertia_change);
        change.store(&mut sums.change);
    }

    /// Adds products with gravity.
    #[inline(always)]
    fn fall<N: Number<Row = R>>(self, set: N::Set, sums: &mut Sums<R>) {
        let load = |row: &R| N::load(set, row);
        let (mut height, mut fall) = (load(&sums.height), load(&sums.fall));
        for (j, weight) in self.gravity.iter().enumerate() {
            let (weight, q) = (load(weight), load(&self.new.q[j]));
            height = weight.mul_add(q, height);
            fall = weight.mul_add(q - load(&self.old.q[j]), fall);
        }
        height.store(&mut sums.height);
        fall.store(&mut sums.fall);
    }
}

struct Book<'a, const CARRIES: bool, const LOSES: bool, const FILTER: bool> {
    part: Booking<'a, Row>,
    before: [Motion<Row>; 2],
    sums: &'a mut Sums<Row>,
}

impl<const CARRIES: bool, const LOSES: bool, const FILTER: bool> Task for Book<'_, CARRIES, LOSES, FILTER> {
    type Output = ();

    #[inline(always)]
    fn run<N: Number<Row = Row>>(self, set: N::Set) {
        self.part.book::<N, CARRIES, LOSES, FILTER>(set, self.before, self.sums);
    }
}
