//! The two passes of a step over the unknowns of a line, in blocks that stay in the cache.
//!
//! Down: the right-hand side of (T3), and its elimination from the ends of the segments to their beginnings. Up: the
//! accelerations, the motion, the forces, and all sums of the ledger. Recurrences run side by side in the segments, all
//! else along the unknowns in vectors as wide as the processor has them.

use super::line::{Line, SEGMENTS, Segments};
use crate::schemes::Tableau;
use pulp::{Scalar, Simd, WithSimd};

/// Unknowns of a segment in a block.
const BLOCK: usize = 128;

/// A carried value below this is zero: far ahead of a wave it would decay into subnormal numbers and stay there.
const VANISHED: f64 = 1e-200;

/// a b + c, fused where the processor can.
#[inline(always)]
fn fma<S: Simd>(a: f64, b: f64, c: f64) -> f64 {
    if S::IS_SCALAR { a * b + c } else { a.mul_add(b, c) }
}

/// The same block of all segments.
#[inline(always)]
fn blocks(y: &mut [f64], length: usize, from: usize, to: usize) -> [&mut [f64]; SEGMENTS] {
    let (a, rest) = y.split_at_mut(length);
    let (b, rest) = rest.split_at_mut(length);
    let (c, d) = rest.split_at_mut(length);
    [&mut a[from..to], &mut b[from..to], &mut c[from..to], &mut d[from..to]]
}

/// Zero for a carried value that has vanished.
#[inline(always)]
fn settled(x: f64) -> f64 {
    if x.abs() < VANISHED { 0.0 } else { x }
}

/// Elimination of a block; `lower` begins one place later than the block. Returns what goes to the next separators.
#[inline(always)]
fn eliminate<S: Simd, const FILLED: bool>(
    [a, b, c, d]: [&mut [f64]; SEGMENTS],
    lower: &[[f64; SEGMENTS]],
    fill: &[[f64; SEGMENTS]],
    carry: [f64; SEGMENTS],
    filled: [f64; SEGMENTS],
) -> ([f64; SEGMENTS], [f64; SEGMENTS]) {
    // One local for each, because an array of them would live in memory and add its latency to every step.
    let ([mut x, mut y, mut z, mut w], [mut fx, mut fy, mut fz, mut fw]) = (carry, filled);
    let len = lower.len();
    let (a, b, c, d) = (&mut a[..len], &mut b[..len], &mut c[..len], &mut d[..len]);
    let fill = if FILLED { &fill[..len] } else { fill };
    for j in (0..len).rev() {
        let l = &lower[j];
        x = fma::<S>(-l[0], x, a[j]);
        y = fma::<S>(-l[1], y, b[j]);
        z = fma::<S>(-l[2], z, c[j]);
        w = fma::<S>(-l[3], w, d[j]);
        (a[j], b[j], c[j], d[j]) = (x, y, z, w);
        if FILLED {
            let f = &fill[j];
            (fx, fy) = (fma::<S>(f[0], x, fx), fma::<S>(f[1], y, fy));
            (fz, fw) = (fma::<S>(f[2], z, fz), fma::<S>(f[3], w, fw));
        }
    }
    ([settled(x), settled(y), settled(z), settled(w)], [fx, fy, fz, fw])
}

/// Accelerations of a block.
#[inline(always)]
fn substitute<S: Simd, const FILLED: bool>(
    [a, b, c, d]: [&mut [f64]; SEGMENTS],
    lower: &[[f64; SEGMENTS]],
    pivot: &[[f64; SEGMENTS]],
    fill: &[[f64; SEGMENTS]],
    next: [f64; SEGMENTS],
    carry: [f64; SEGMENTS],
) -> [f64; SEGMENTS] {
    let [mut x, mut y, mut z, mut w] = carry;
    let len = lower.len();
    let (a, b, c, d) = (&mut a[..len], &mut b[..len], &mut c[..len], &mut d[..len]);
    let pivot = &pivot[..len];
    let fill = if FILLED { &fill[..len] } else { fill };
    for j in 0..len {
        let (l, p) = (&lower[j], &pivot[j]);
        let mut own = [p[0] * a[j], p[1] * b[j], p[2] * c[j], p[3] * d[j]];
        if FILLED {
            own = std::array::from_fn(|s| fma::<S>(-fill[j][s], next[s], own[s]));
        }
        x = fma::<S>(-l[0], x, own[0]);
        y = fma::<S>(-l[1], y, own[1]);
        z = fma::<S>(-l[2], z, own[2]);
        w = fma::<S>(-l[3], w, own[3]);
        (a[j], b[j], c[j], d[j]) = (x, y, z, w);
    }
    [settled(x), settled(y), settled(z), settled(w)]
}

/// First pass: leaves the eliminated right-hand side in `y` and returns what is left for the separators.
pub(super) struct Down<'a> {
    pub line: &'a Line,
    pub factor: &'a Segments,
    pub row: &'a Tableau,
    pub q: &'a [f64],
    pub v: &'a [f64],
    pub a: &'a [f64],
    pub y: &'a mut [f64],
}

impl WithSimd for Down<'_> {
    type Output = [f64; SEGMENTS];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [f64; SEGMENTS] {
        let Down { line, factor, row, q, v, a, y } = self;
        let (n, length) = (line.n, factor.length);
        let old = Old { line, row, h: factor.h, q: &q[..n], v: &v[..n], a: &a[..n] };
        let y = &mut y[..n];
        let extra = SEGMENTS * length;
        old.right_hand_side::<S>(extra, &mut y[extra..]);
        let mut carry = [0.0; SEGMENTS];
        for i in (extra..n).rev() {
            carry[SEGMENTS - 1] = y[i] - factor.lower[i + 1] * carry[SEGMENTS - 1];
            y[i] = carry[SEGMENTS - 1];
        }
        let mut filled = [0.0; SEGMENTS];
        for block in (0..length.div_ceil(BLOCK)).rev() {
            let (from, to) = (block * BLOCK, ((block + 1) * BLOCK).min(length));
            let mut parts = blocks(y, length, from, to);
            for (s, part) in parts.iter_mut().enumerate() {
                old.right_hand_side::<S>(s * length + from, part);
            }
            let (lower, fill) = (&factor.rows.lower[from + 1..to + 1], &factor.rows.fill[from..to]);
            (carry, filled) = if to > factor.filled_from {
                eliminate::<S, true>(parts, lower, fill, carry, filled)
            } else {
                eliminate::<S, false>(parts, lower, fill, carry, filled)
            };
        }
        std::array::from_fn(|s| carry[s] - if s > 0 { filled[s - 1] } else { 0.0 })
    }
}

/// The state before the step.
struct Old<'a> {
    line: &'a Line,
    row: &'a Tableau,
    h: f64,
    q: &'a [f64],
    v: &'a [f64],
    a: &'a [f64],
}

impl Old<'_> {
    /// −K [q0 + (1−α_f) (h v0 + h² b0 a0)] − α_m M a0 + gravity from unknown `first` on.
    #[inline(always)]
    fn right_hand_side<S: Simd>(&self, first: usize, y: &mut [f64]) {
        let (line, row, h, len) = (self.line, self.row, self.h, y.len());
        // Beyond the ends of the line all is at rest.
        let mut place = [0.0; BLOCK + 2];
        let (from, to) = (first.saturating_sub(1), (first + len + 1).min(line.n));
        let place = &mut place[..len + 2];
        let inner = &mut place[from + 1 - first..][..to - from];
        let (cv, ca) = ((1.0 - row.alpha_f) * h, (1.0 - row.alpha_f) * h * h * row.b0);
        let (q, v, a) = (&self.q[from..to], &self.v[from..to], &self.a[from..to]);
        if ca != 0.0 {
            for i in 0..inner.len() {
                inner[i] = fma::<S>(ca, a[i], fma::<S>(cv, v[i], q[i]));
            }
        } else {
            for i in 0..inner.len() {
                inner[i] = fma::<S>(cv, v[i], q[i]);
            }
        }
        let k = &line.stiffness[first..first + len + 1];
        for i in 0..len {
            y[i] = fma::<S>(k[i + 1], place[i + 2] - place[i + 1], -(k[i] * (place[i + 1] - place[i])));
        }
        if row.alpha_m != 0.0 {
            place[0] = 0.0;
            place[len + 1] = 0.0;
            let inner = &mut place[from + 1 - first..][..to - from];
            for i in 0..inner.len() {
                inner[i] = row.alpha_m * a[i];
            }
            let (own, cross) = (&line.mass[first..first + len], &line.coupling[first..first + len + 1]);
            for i in 0..len {
                let beside = fma::<S>(cross[i], place[i], cross[i + 1] * place[i + 2]);
                y[i] -= fma::<S>(own[i], place[i + 1], beside);
            }
        }
        if let Some(gravity) = &line.gravity {
            let gravity = &gravity[first..first + len];
            for i in 0..len {
                y[i] += gravity[i];
            }
        }
    }
}

/// Sums over all unknowns of a finished step; products of two vectors are with the mass or the stiffness matrix.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub kinetic: f64,
    pub strain: f64,
    /// dq·K dq.
    pub drift: f64,
    /// a1·M a1, and with da = a1 − a0: (v0 + v1)·M da, a1·M da, da·M da.
    pub inertia: f64,
    pub rate_change: f64,
    pub inertia_change: f64,
    pub change: f64,
    /// Filter z: z1·K z1 and dz·K dz.
    pub filter: f64,
    pub filter_change: f64,
    /// Gravity times q1, and times dq.
    pub height: f64,
    pub fall: f64,
}

/// The sums that need neighbours, in vectors.
#[derive(Clone, Copy)]
struct Wide<S: Simd>([S::f64s; 9]);

/// Second pass: from the eliminated right-hand side in `a1`, with the separators solved, to the end of the step.
pub(super) struct Up<'a, const CARRIES: bool, const FILTER: bool> {
    pub line: &'a Line,
    pub factor: &'a Segments,
    pub row: &'a Tableau,
    pub separators: [f64; SEGMENTS],
    /// Impulses of all contact rows.
    pub impulse: &'a [f64],
    pub old: Motion<&'a [f64]>,
    pub new: Motion<&'a mut [f64]>,
    pub internal: &'a mut [f64],
    pub stiffness_z: &'a mut [f64],
}

/// Vectors of a state; `z` is empty without a filter.
pub(super) struct Motion<T> {
    pub q: T,
    pub v: T,
    pub a: T,
    pub z: T,
}

impl<const CARRIES: bool, const FILTER: bool> WithSimd for Up<'_, CARRIES, FILTER> {
    type Output = Sums;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> Sums {
        let factor = self.factor;
        let (n, length, z) = (self.line.n, factor.length, self.separators);
        for s in 0..SEGMENTS {
            self.new.a[s * length] = z[s];
        }
        let next: [f64; SEGMENTS] = std::array::from_fn(|s| if s + 1 < SEGMENTS { z[s + 1] } else { 0.0 });
        let mut wide = Wide([simd.splat_f64s(0.0); 9]);
        let mut rest = Wide::<Scalar>([0.0; 9]);
        let mut sums = Sums::default();
        let mut carry = [0.0; SEGMENTS];
        // Separators are booked last, when both their neighbours are known.
        let mut booked: [usize; SEGMENTS] = std::array::from_fn(|s| s * length + 1);
        for block in 0..length.div_ceil(BLOCK) {
            let (from, to) = (block * BLOCK, ((block + 1) * BLOCK).min(length));
            let parts = blocks(self.new.a, length, from, to);
            let rows = &factor.rows;
            let (lower, pivot, fill) = (&rows.lower[from..to], &rows.pivot[from..to], &rows.fill[from..to]);
            carry = if to > factor.filled_from {
                substitute::<S, true>(parts, lower, pivot, fill, next, carry)
            } else {
                substitute::<S, false>(parts, lower, pivot, fill, next, carry)
            };
            for s in 0..SEGMENTS {
                self.advance::<S>(s * length + from, s * length + to, &mut sums);
            }
            for s in 0..SEGMENTS {
                let end = s * length + to - 1;
                self.book(simd, booked[s], end, &mut wide, &mut rest);
                booked[s] = end.max(booked[s]);
            }
        }
        for i in SEGMENTS * length..n {
            carry[SEGMENTS - 1] = factor.pivot[i] * self.new.a[i] - factor.lower[i] * carry[SEGMENTS - 1];
            self.new.a[i] = carry[SEGMENTS - 1];
        }
        self.advance::<S>(SEGMENTS * length, n, &mut sums);
        for s in 0..SEGMENTS {
            let end = if s + 1 < SEGMENTS { (s + 1) * length } else { n - 1 };
            self.book(simd, booked[s], end, &mut wide, &mut rest);
        }
        for i in (0..SEGMENTS).map(|s| s * length).chain([n - 1]) {
            self.book_one(i, &mut rest);
        }
        let sum: [f64; 9] = std::array::from_fn(|k| simd.reduce_sum_f64s(wide.0[k]) + rest.0[k]);
        let [kinetic, strain, drift, inertia, rate_change, inertia_change, change, filter, filter_change] = sum;
        Sums { kinetic, strain, drift, inertia, rate_change, inertia_change, change, filter, filter_change, ..sums }
    }
}

impl<const CARRIES: bool, const FILTER: bool> Up<'_, CARRIES, FILTER> {
    /// (T1), (T2) and the filter from the new accelerations.
    #[inline(always)]
    fn advance<S: Simd>(&mut self, from: usize, to: usize, sums: &mut Sums) {
        let (row, h) = (self.row, self.factor.h);
        let (q0, v0, a0) = (&self.old.q[from..to], &self.old.v[from..to], &self.old.a[from..to]);
        let (q1, v1, a1) = (&mut self.new.q[from..to], &mut self.new.v[from..to], &self.new.a[from..to]);
        let (cb0, cb1, cg0, cg1) = (h * h * row.b0, h * h * row.b1, h * row.g0, h * row.g1);
        for i in 0..q0.len() {
            let (mut q, mut v) = (fma::<S>(h, v0[i], q0[i]), v0[i]);
            if CARRIES {
                (q, v) = (fma::<S>(cb0, a0[i], q), fma::<S>(cg0, a0[i], v));
            }
            (q1[i], v1[i]) = (fma::<S>(cb1, a1[i], q), fma::<S>(cg1, a1[i], v));
        }
        for (&p, response) in self.impulse.iter().zip(&self.factor.responses) {
            if p != 0.0 {
                response.jump.add(p, from, v1);
                response.jump.add(h * row.c * p, from, q1);
            }
        }
        if FILTER {
            let (z0, z1) = (&self.old.z[from..to], &mut self.new.z[from..to]);
            let scale = 1.0 / (1.0 - row.alpha_m);
            let (new, old) = ((row.alpha_f - row.alpha_m) * scale, -row.alpha_m * scale);
            for i in 0..z0.len() {
                z1[i] = fma::<S>(new, q1[i] - q0[i], old * z0[i]);
            }
        }
        if let Some(gravity) = &self.line.gravity {
            let gravity = &gravity[from..to];
            for i in 0..gravity.len() {
                sums.height += gravity[i] * q1[i];
                sums.fall += gravity[i] * (q1[i] - q0[i]);
            }
        }
    }

    /// Internal force and terms of the sums for the unknowns `from..to` and the edges after them; all their neighbours
    /// exist and are known.
    #[inline(always)]
    fn book<S: Simd>(&mut self, simd: S, from: usize, to: usize, wide: &mut Wide<S>, rest: &mut Wide<Scalar>) {
        if from >= to {
            return;
        }
        let end = to - (to - from) % S::F64_LANES;
        self.terms(simd, from, end, wide);
        self.terms(Scalar, end, to, rest);
    }

    #[inline(always)]
    fn terms<S: Simd>(&mut self, simd: S, from: usize, to: usize, sums: &mut Wide<S>) {
        let (line, old, new) = (self.line, &self.old, &self.new);
        let here = |x| vectors::<S>(x, from, to);
        let after = |x| vectors::<S>(x, from + 1, to + 1);
        let before = |x| vectors::<S>(x, from - 1, to - 1);
        let (k0, k1) = (here(&line.stiffness), after(&line.stiffness));
        let (own, cross) = (here(&line.mass), after(&line.coupling));
        let (q_before, q, q_after) = (before(new.q), here(new.q), after(new.q));
        let (q0, q0_after) = (here(old.q), after(old.q));
        let (v, v_after, a, a_after) = (here(new.v), after(new.v), here(new.a), after(new.a));
        let (v0, v0_after, a0, a0_after) = (here(old.v), after(old.v), here(old.a), after(old.a));
        let internal = S::as_mut_simd_f64s(&mut self.internal[from..to]).0;
        let count = internal.len();
        let (add, sub, mul) = (|a, b| simd.add_f64s(a, b), |a, b| simd.sub_f64s(a, b), |a, b| simd.mul_f64s(a, b));
        let fma = |a, b, c| simd.mul_add_e_f64s(a, b, c);
        let [kinetic, strain, drift, inertia, rate_change, inertia_change, change, filter, filter_change] = &mut sums.0;
        for i in 0..count {
            let stretch = sub(q_after[i], q[i]);
            let force = mul(k1[i], stretch);
            internal[i] = sub(mul(k0[i], sub(q[i], q_before[i])), force);
            *strain = fma(force, stretch, *strain);
            let stretched = sub(stretch, sub(q0_after[i], q0[i]));
            *drift = fma(mul(k1[i], stretched), stretched, *drift);
            let (m, c) = (own[i], cross[i]);
            let twice = add(c, c);
            *kinetic = fma(v[i], fma(m, v[i], mul(twice, v_after[i])), *kinetic);
            *inertia = fma(a[i], fma(m, a[i], mul(twice, a_after[i])), *inertia);
            if CARRIES {
                let (da, da_after) = (sub(a[i], a0[i]), sub(a_after[i], a0_after[i]));
                let pushed = fma(m, da, mul(c, da_after));
                let back = mul(c, da);
                *rate_change = fma(add(v0[i], v[i]), pushed, *rate_change);
                *rate_change = fma(add(v0_after[i], v_after[i]), back, *rate_change);
                *inertia_change = fma(a_after[i], back, fma(a[i], pushed, *inertia_change));
                *change = fma(da_after, back, fma(da, pushed, *change));
            }
        }
        if FILTER {
            let (z_before, z, z_after) = (before(new.z), here(new.z), after(new.z));
            let (z0, z0_after) = (here(old.z), after(old.z));
            let stiffness_z = S::as_mut_simd_f64s(&mut self.stiffness_z[from..to]).0;
            for i in 0..count {
                let stretch = sub(z_after[i], z[i]);
                let force = mul(k1[i], stretch);
                stiffness_z[i] = sub(mul(k0[i], sub(z[i], z_before[i])), force);
                *filter = fma(force, stretch, *filter);
                let stretched = sub(stretch, sub(z0_after[i], z0[i]));
                *filter_change = fma(mul(k1[i], stretched), stretched, *filter_change);
            }
        }
    }

    /// The same for one unknown that may be at an end of the line; the edge before the first one is its business too.
    #[inline(never)]
    fn book_one(&mut self, i: usize, sums: &mut Wide<Scalar>) {
        let (line, old, new) = (self.line, &self.old, &self.new);
        let before = |x: &[f64]| if i > 0 { x[i - 1] } else { 0.0 };
        let after = |x: &[f64]| if i + 1 < line.n { x[i + 1] } else { 0.0 };
        let (k0, k1, m) = (line.stiffness[i], line.stiffness[i + 1], line.mass[i]);
        let c = if i + 1 < line.n { line.coupling[i + 1] } else { 0.0 };
        let [kinetic, strain, drift, inertia, rate_change, inertia_change, change, filter, filter_change] = &mut sums.0;
        // (energy, change of energy) of the edges after this unknown and, at the beginning, before it.
        let stretches = |new: &[f64], old: &[f64]| {
            let [x1, x0] = [new, old].map(|x| after(x) - x[i]);
            let (mut sum, mut change) = (k1 * x1 * x1, k1 * (x1 - x0) * (x1 - x0));
            if i == 0 {
                sum += k0 * new[0] * new[0];
                change += k0 * (new[0] - old[0]) * (new[0] - old[0]);
            }
            (sum, change, k0 * (new[i] - before(new)) - k1 * x1)
        };
        let (energy, drifted, force) = stretches(new.q, old.q);
        (*strain, *drift, self.internal[i]) = (*strain + energy, *drift + drifted, force);
        let form = |x: [f64; 2], y: [f64; 2]| x[0] * (m * y[0] + c * y[1]) + x[1] * c * y[0];
        let pair = |x: &[f64]| [x[i], after(x)];
        let [v1, v0, a1, a0] = [new.v, old.v, new.a, old.a].map(pair);
        *kinetic += form(v1, v1);
        *inertia += form(a1, a1);
        if CARRIES {
            let da = [a1[0] - a0[0], a1[1] - a0[1]];
            *rate_change += form([v0[0] + v1[0], v0[1] + v1[1]], da);
            *inertia_change += form(a1, da);
            *change += form(da, da);
        }
        if FILTER {
            let (energy, drifted, force) = stretches(new.z, old.z);
            (*filter, *filter_change, self.stiffness_z[i]) = (*filter + energy, *filter_change + drifted, force);
        }
    }
}

#[inline(always)]
fn vectors<S: Simd>(x: &[f64], from: usize, to: usize) -> &[S::f64s] {
    S::as_simd_f64s(&x[from..to]).0
}
