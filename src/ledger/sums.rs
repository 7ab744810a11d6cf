//! Sums of the balance over all degrees of freedom, in one sweep and in vectors as wide as the processor has them.

use super::Passage;
use crate::la::Band;
use crate::la::number::{Number, Wide};
use crate::state::State;
use pulp::{Scalar, Simd, WithSimd};

/// The two ends of a step; products of two vectors are with the mass matrix.
pub(super) struct Sweep<'a> {
    pub inertia: &'a Band,
    pub gravity: &'a [f64],
    pub from: &'a State,
    pub to: &'a State,
    pub passage: &'a Passage<'a>,
}

/// What comes out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    /// Twice the kinetic energy at the end, and the potential with its sign turned.
    pub kinetic: f64,
    pub height: f64,
    /// (f1 − f0)·dq and (f0 + f1)·dq of the internal forces.
    pub drift: f64,
    pub path: f64,
    /// (v0 + v1)·M (a_g − a_m) and a_m·M d, (T13).
    pub rate: f64,
    pub position: f64,
}

/// Factors of a0 and a1 in a_g − a_m, a_m and h (a_b − a_g/2), and those of the position shift and of the jump.
struct Factors<N> {
    excess: [N; 2],
    mean: [N; 2],
    lag: [N; 2],
    shift: N,
    jump: N,
}

/// At one degree of freedom: v1, v0 + v1, a_g − a_m, a_m, d.
type Motion<N> = [N; 5];

impl WithSimd for Sweep<'_> {
    type Output = Sums;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Sums {
        let n = self.gravity.len();
        let inner = self.inertia.beside.len();
        let whole = inner - inner % S::F64_LANES;
        let (mut wide, mut rest) = ([Wide::splat(simd, 0.0); 6], [Wide::splat(Scalar, 0.0); 6]);
        self.rows::<S, true>(simd, 0, whole, &mut wide);
        self.rows::<Scalar, true>(Scalar, whole, inner, &mut rest);
        let end = n - (n - inner) % S::F64_LANES;
        self.rows::<S, false>(simd, inner, end, &mut wide);
        self.rows::<Scalar, false>(Scalar, end, n, &mut rest);
        let factors = self.factors(Scalar);
        for &(i, j, mass) in &self.inertia.rest {
            let [a, b] = [i, j].map(|i| self.motion(Scalar, &factors, self.one(i as usize), 0));
            pair(&mut rest, Wide::splat(Scalar, mass), &a, &b);
        }
        let mut sums = [0.0; 6];
        for k in 0..6 {
            sums[k] = total(simd, wide[k].value) + rest[k].value;
        }
        let [kinetic, height, drift, path, rate, position] = sums;
        Sums { kinetic, height, drift, path, rate, position }
    }
}

/// v0, v1, a0, a1, shift and jump of some degrees of freedom.
type Rows<'a, S> = [&'a [<S as Simd>::f64s]; 6];

impl Sweep<'_> {
    #[inline(always)]
    fn factors<S: Simd>(&self, simd: S) -> Factors<Wide<S>> {
        let Passage { row, h, .. } = *self.passage;
        let pair = |old: f64, new: f64| [Wide::splat(simd, old), Wide::splat(simd, new)];
        Factors {
            excess: pair(row.g0 - row.alpha_m, row.g1 - (1.0 - row.alpha_m)),
            mean: pair(row.alpha_m, 1.0 - row.alpha_m),
            lag: pair(h * (row.b0 - 0.5 * row.g0), h * (row.b1 - 0.5 * row.g1)),
            shift: Wide::splat(simd, 1.0 / h),
            jump: Wide::splat(simd, -0.5),
        }
    }

    #[inline(always)]
    fn slices<S: Simd>(&self, from: usize, to: usize) -> Rows<'_, S> {
        let Passage { jump, shift, .. } = *self.passage;
        [
            part::<S>(&self.from.v, from, to),
            part::<S>(&self.to.v, from, to),
            part::<S>(&self.from.a, from, to),
            part::<S>(&self.to.a, from, to),
            part::<S>(shift, from, to),
            part::<S>(jump, from, to),
        ]
    }

    fn one(&self, i: usize) -> Rows<'_, Scalar> {
        self.slices::<Scalar>(i, i + 1)
    }

    #[inline(always)]
    fn motion<S: Simd>(&self, simd: S, f: &Factors<Wide<S>>, rows: Rows<S>, i: usize) -> Motion<Wide<S>> {
        let [v0, v1, a0, a1, shift, jump] = rows;
        let (v1, a0, a1) = (Wide::new(simd, v1[i]), Wide::new(simd, a0[i]), Wide::new(simd, a1[i]));
        let shifted = f.shift.times_plus(Wide::new(simd, shift[i]), f.jump * Wide::new(simd, jump[i]));
        [
            v1,
            Wide::new(simd, v0[i]) + v1,
            f.excess[0].times_plus(a0, f.excess[1] * a1),
            f.mean[0].times_plus(a0, f.mean[1] * a1),
            f.lag[0].times_plus(a0, f.lag[1].times_plus(a1, shifted)),
        ]
    }

    /// Adds what degrees of freedom have by themselves and, if they are `COUPLED`, with those in the band.
    #[inline(always)]
    fn rows<S: Simd, const COUPLED: bool>(&self, simd: S, from: usize, to: usize, sums: &mut [Wide<S>; 6]) {
        let factors = self.factors(simd);
        let (reach, own) = (self.inertia.reach, self.slices::<S>(from, to));
        let other = if COUPLED { self.slices::<S>(from + reach, to + reach) } else { own };
        let diagonal = part::<S>(&self.inertia.diagonal, from, to);
        let beside = if COUPLED { part::<S>(&self.inertia.beside, from, to) } else { diagonal };
        let (q0, q1) = (part::<S>(&self.from.q, from, to), part::<S>(&self.to.q, from, to));
        let (f0, f1) = (part::<S>(&self.from.internal, from, to), part::<S>(&self.to.internal, from, to));
        let gravity = part::<S>(self.gravity, from, to);
        let mut local = *sums;
        for i in 0..diagonal.len() {
            let mass = Wide::new(simd, diagonal[i]);
            let a @ [v, both, excess, mean, off] = self.motion(simd, &factors, own, i);
            let (old, new) = (Wide::new(simd, f0[i]), Wide::new(simd, f1[i]));
            let q = Wide::new(simd, q1[i]);
            let dq = q - Wide::new(simd, q0[i]);
            local[0] = (mass * v).times_plus(v, local[0]);
            local[1] = q.times_plus(Wide::new(simd, gravity[i]), local[1]);
            local[2] = (new - old).times_plus(dq, local[2]);
            local[3] = (old + new).times_plus(dq, local[3]);
            local[4] = (mass * both).times_plus(excess, local[4]);
            local[5] = (mass * mean).times_plus(off, local[5]);
            if COUPLED {
                let b = self.motion(simd, &factors, other, i);
                pair(&mut local, Wide::new(simd, beside[i]), &a, &b);
            }
        }
        *sums = local;
    }
}

/// Adds the products of two degrees of freedom with a mass between them.
#[inline(always)]
fn pair<N: Number>(sums: &mut [N; 6], mass: N, a: &Motion<N>, b: &Motion<N>) {
    let twice = mass + mass;
    sums[0] = (twice * a[0]).times_plus(b[0], sums[0]);
    sums[4] = mass.times_plus(a[1].times_plus(b[2], b[1] * a[2]), sums[4]);
    sums[5] = mass.times_plus(a[3].times_plus(b[4], b[3] * a[4]), sums[5]);
}

#[inline(always)]
fn part<S: Simd>(x: &[f64], from: usize, to: usize) -> &[S::f64s] {
    S::as_simd_f64s(&x[from..to]).0
}

/// Sum of all lanes; a function of its own, because single lanes in it would turn the loop into scalar code.
#[inline(never)]
fn total<S: Simd>(simd: S, x: S::f64s) -> f64 {
    simd.reduce_sum_f64s(x)
}
