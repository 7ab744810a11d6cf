//! Sums over all unknowns that a step needs, in vectors as wide as the processor has them.

use crate::la::number::{Number, Wide};
use crate::system::Nodes;
use pulp::{Scalar, Simd, WithSimd};
use std::ops::Range;

/// Residual of (T3) in the rows of a piece, and its sizes. Forces and moments have different units and are summed apart.
pub(super) struct Residual<'a, P> {
    /// Ranges of rows.
    pub piece: P,
    /// They know which rows are rotations.
    pub nodes: &'a Nodes,
    /// The part of (T3) that the step cannot change.
    pub known: &'a [f64],
    pub internal: &'a [f64],
    /// Empty without damping.
    pub viscous: &'a [f64],
    /// Factors of inertia, internal and damping forces.
    pub weights: [f64; 3],
    pub q0: &'a [f64],
    pub q1: &'a [f64],
    /// M a1; overwritten with the residual.
    pub residual: &'a mut [f64],
}

/// Sums of squares, of forces and of moments, over the free rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    pub inertia: [f64; 2],
    pub internal: [f64; 2],
    pub residual: [f64; 2],
    /// Work of inertia and of the residual over the step.
    pub work: [f64; 2],
    /// Largest displacement.
    pub farthest: f64,
}

impl Sizes {
    /// Takes those of other rows in.
    pub fn add(&mut self, other: &Sizes) {
        for k in 0..2 {
            self.inertia[k] += other.inertia[k];
            self.internal[k] += other.internal[k];
            self.residual[k] += other.residual[k];
            self.work[k] += other.work[k];
        }
        self.farthest = self.farthest.max(other.farthest);
    }
}

/// The same in lanes: inertia, internal force and residual as forces, as moments, then works, then the displacement.
type Lanes<S> = [Wide<S>; 9];

impl<P: Iterator<Item = Range<usize>> + Clone> WithSimd for Residual<'_, P> {
    type Output = Sizes;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> Sizes {
        let (mut wide, mut rest) = ([Wide::splat(simd, 0.0); 9], [Wide::splat(Scalar, 0.0); 9]);
        for rows in self.piece.clone() {
            let turns = self.nodes.turns(rows.clone());
            let whole = rows.len() - rows.len() % S::F64_LANES;
            let (turns, left) = turns.split_at(whole);
            self.rows(simd, rows.start..rows.start + whole, turns, &mut wide);
            self.rows(Scalar, rows.start + whole..rows.end, left, &mut rest);
        }
        sizes(&wide, &rest)
    }
}

impl<P> Residual<'_, P> {
    #[inline(always)]
    fn rows<S: Simd>(&mut self, simd: S, rows: Range<usize>, turns: &[f64], sums: &mut Lanes<S>) {
        let Range { start: from, end: to } = rows;
        let (turns, known) = (S::as_simd_f64s(turns).0, part::<S>(self.known, from, to));
        let internal = part::<S>(self.internal, from, to);
        let damped = !self.viscous.is_empty();
        let viscous = if damped { part::<S>(self.viscous, from, to) } else { known };
        let (q0, q1) = (part::<S>(self.q0, from, to), part::<S>(self.q1, from, to));
        let residual = S::as_mut_simd_f64s(&mut self.residual[from..to]).0;
        let [mass, elastic, drag] = self.weights;
        let (mass, elastic, drag) = (Wide::splat(simd, mass), Wide::splat(simd, elastic), Wide::splat(simd, drag));
        let one = Wide::splat(simd, 1.0);
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut work, mut left, mut far] = *sums;
        for i in 0..residual.len() {
            let turn = Wide::new(simd, turns[i]);
            let straight = one - turn;
            let inertia = mass * Wide::new(simd, residual[i]);
            let force = Wide::new(simd, internal[i]);
            let mut sum = elastic.times_plus(force, Wide::new(simd, known[i]));
            if damped {
                sum = drag.times_plus(Wide::new(simd, viscous[i]), sum);
            }
            let sum = inertia + sum;
            residual[i] = sum.value;
            let q = Wide::new(simd, q1[i]);
            let dq = q - Wide::new(simd, q0[i]);
            (work, left) = (inertia.times_plus(dq, work), sum.times_plus(dq, left));
            far = far.larger((straight * q).size());
            let (x, y, z) = (inertia * inertia, force * force, sum * sum);
            (a, b) = (straight.times_plus(x, a), turn.times_plus(x, b));
            (c, d) = (straight.times_plus(y, c), turn.times_plus(y, d));
            (e, f) = (straight.times_plus(z, e), turn.times_plus(z, f));
        }
        *sums = [a, b, c, d, e, f, work, left, far];
    }
}

#[inline(always)]
fn part<S: Simd>(x: &[f64], from: usize, to: usize) -> &[S::f64s] {
    S::as_simd_f64s(&x[from..to]).0
}

/// Over all lanes. A function of its own, because single lanes in it would turn the loops into scalar code.
#[inline(never)]
fn sizes<S: Simd>(wide: &Lanes<S>, rest: &Lanes<Scalar>) -> Sizes {
    let mut sums = [0.0; 8];
    for k in 0..8 {
        sums[k] = wide[k].sum() + rest[k].value;
    }
    let [a, b, c, d, e, f, work, left] = sums;
    let farthest = wide[8].most().max(rest[8].value);
    Sizes { inertia: [a, b], internal: [c, d], residual: [e, f], work: [work, left], farthest }
}
