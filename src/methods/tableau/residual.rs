//! Sums over all unknowns that a step needs, in vectors as wide as the processor has them.

use crate::la::lanes::{LANES, Row, Task};
use crate::la::number::Number;
use crate::system::Nodes;
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

/// [`Sizes`] in lanes: inertia, internal force and residual as forces, as moments, then works, then the displacement.
type Sums<N> = [N; 9];

impl<P: Iterator<Item = Range<usize>> + Clone> Task for Residual<'_, P> {
    type Output = Sizes;

    #[inline(always)]
    fn run<N: Number<Row = Row>>(mut self, set: N::Set) -> Sizes {
        let (mut wide, mut rest) = ([N::splat(set, 0.0); 9], [0.0; 9]);
        for rows in self.piece.clone() {
            let turns = self.nodes.turns(rows.clone());
            let whole = rows.len() - rows.len() % LANES;
            let (turns, left) = turns.split_at(whole);
            self.rows::<N>(set, rows.start..rows.start + whole, turns, &mut wide);
            self.rows::<f64>((), rows.start + whole..rows.end, left, &mut rest);
        }
        sizes(&wide, &rest)
    }
}

impl<P> Residual<'_, P> {
    #[inline(always)]
    fn rows<N: Number>(&mut self, set: N::Set, rows: Range<usize>, turns: &[f64], sums: &mut Sums<N>) {
        let Range { start: from, end: to } = rows;
        let (turns, known) = (N::rows(turns), N::rows(&self.known[from..to]));
        let internal = N::rows(&self.internal[from..to]);
        let damped = !self.viscous.is_empty();
        let viscous = if damped { N::rows(&self.viscous[from..to]) } else { known };
        let (q0, q1) = (N::rows(&self.q0[from..to]), N::rows(&self.q1[from..to]));
        let residual = N::rows_mut(&mut self.residual[from..to]);
        let [mass, elastic, drag] = self.weights;
        let (mass, elastic, drag) = (N::splat(set, mass), N::splat(set, elastic), N::splat(set, drag));
        let one = N::splat(set, 1.0);
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut work, mut left, mut far] = *sums;
        for i in 0..residual.len() {
            let turn = N::load(set, &turns[i]);
            let straight = one - turn;
            let inertia = mass * N::load(set, &residual[i]);
            let force = N::load(set, &internal[i]);
            let mut sum = elastic.mul_add(force, N::load(set, &known[i]));
            if damped {
                sum = drag.mul_add(N::load(set, &viscous[i]), sum);
            }
            let sum = inertia + sum;
            sum.store(&mut residual[i]);
            let q = N::load(set, &q1[i]);
            let dq = q - N::load(set, &q0[i]);
            (work, left) = (inertia.mul_add(dq, work), sum.mul_add(dq, left));
            far = far.larger((straight * q).size());
            let (x, y, z) = (inertia * inertia, force * force, sum * sum);
            (a, b) = (straight.mul_add(x, a), turn.mul_add(x, b));
            (c, d) = (straight.mul_add(y, c), turn.mul_add(y, d));
            (e, f) = (straight.mul_add(z, e), turn.mul_add(z, f));
        }
        *sums = [a, b, c, d, e, f, work, left, far];
    }
}

/// Over all lanes. A function of its own, because single lanes in it would turn the loops into scalar code.
#[inline(never)]
fn sizes<N: Number>(wide: &Sums<N>, rest: &Sums<f64>) -> Sizes {
    let mut sums = [0.0; 8];
    for k in 0..8 {
        sums[k] = wide[k].sum() + rest[k];
    }
    let [a, b, c, d, e, f, work, left] = sums;
    let farthest = wide[8].most().max(rest[8]);
    Sizes { inertia: [a, b], internal: [c, d], residual: [e, f], work: [work, left], farthest }
}
