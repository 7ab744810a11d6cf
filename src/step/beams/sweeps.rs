//! The sweeps over a chain of beams, in scalar code or in lanes: strains and forces, factor, solution.
//!
//! Every array has a row per node (or element), a few numbers per row, and each number once per lane. Lanes work on
//! stretches of the chain side by side. The first node of a stretch is a separator: all others are eliminated from the
//! end of the stretch to its beginning, which fills the block between them and the separator of the next stretch.
//! One lane is the plain block LDLᵀ.

use super::constants::{self, Kinds, Tangent};
use super::reduced::Reduced;
use crate::elements::section::half_turn;
use crate::la::number::{Number, Wide, load, rows, rows_mut, store};
use crate::la::small::{
    Full, Pivot, Upper, backward, flat, forward, full, halves, minus_columns, minus_product, minus_rows, minus_times,
    pivot, scale, transposed,
};
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Fill below this part of what it began with changes no digit; it is left out, before it becomes subnormal.
const NEGLIGIBLE: f64 = 1e-40;

/// Elements whose sines are found together: shorter loops, more of which the processor has at hand at once.
const CHUNK: usize = 16;

/// Rows between two looks at the fill.
const LOOK: usize = 32;

#[inline(always)]
fn sum_of<const N: usize, S: Simd>(mut a: [Wide<S>; N], b: [Wide<S>; N]) -> [Wide<S>; N] {
    for k in 0..N {
        a[k] = a[k] + b[k];
    }
    a
}

/// A symmetric block and a diagonal.
#[inline(always)]
fn with_diagonal<N: Number>(a: Upper<N>, [x, y, t]: [N; 3]) -> Upper<N> {
    [a[0] + x, a[1], a[2], a[3] + y, a[4], a[5] + t]
}

/// A place that vectors like. As an argument of a function it is in memory, and then the stack of the caller is aligned: else
/// half of the vectors that do not fit the registers would lie across two lines of the cache.
#[repr(align(32))]
struct Aligned<S: Simd>(Wide<S>);

/// Sum of all lanes. A function of its own, because a use of single lanes would turn the loop around it into scalar code.
#[inline(never)]
fn sum<S: Simd>(x: Aligned<S>) -> f64 {
    x.0.sum()
}

/// Largest lane of all.
#[inline(never)]
fn most<S: Simd>(x: Aligned<S>) -> f64 {
    x.0.most()
}

/// Largest entry of a block in every lane.
#[inline(always)]
fn modulus<N: Number>(a: &Full<N>) -> N {
    let mut size = a[0][0].size();
    for x in &flat(a)[1..] {
        size = size.larger(x.size());
    }
    size
}

/// Strains and internal forces of some rows at the displacements `q`, which have a row more. Returns the strain energy.
pub(super) struct Strain<'a> {
    pub kinds: Kinds<'a>,
    pub q: &'a [f64],
    pub strains: &'a mut [f64],
    pub forces: &'a mut [f64],
    /// Forces of the elements before on the first nodes, and then of the last ones on the nodes of the row behind.
    pub carried: &'a mut [f64],
}

impl WithSimd for Strain<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let constants = constants::Rows::new(simd, self.kinds);
        let count = constants.count();
        let q = &rows::<3, S>(self.q)[..count + 1];
        let strains = &mut rows_mut::<4, S>(self.strains)[..count];
        let forces = &mut rows_mut::<3, S>(self.forces)[..count];
        let behind = &mut rows_mut::<3, S>(self.carried)[0];
        let (mut energy, mut carried) = (Wide::splat(simd, 0.0), load(simd, behind));
        let mut a = load(simd, &q[0]);
        for from in (0..count).step_by(CHUNK) {
            let chunk = from..(from + CHUNK).min(count);
            for j in chunk.clone() {
                let [sine, cosine] = half_turn(Wide::new(simd, q[j][2]), Wide::new(simd, q[j + 1][2]));
                (strains[j][2], strains[j][3]) = (sine.value, cosine.value);
            }
            for j in chunk {
                let (b, section, turn) = (load(simd, &q[j + 1]), constants.section(j), &strains[j]);
                let state = section.strains_at(&a, &b, [Wide::new(simd, turn[2]), Wide::new(simd, turn[3])]);
                let (own, [first, second]) = section.forces(&state);
                energy = energy + own;
                forces[j] = store(sum_of(carried, first));
                strains[j] = store([state.values[0], state.values[1], state.angle[0], state.angle[1]]);
                (carried, a) = (second, b);
            }
        }
        *behind = store(carried);
        sum(Aligned(energy))
    }
}

/// What the tangents of the elements are found from.
#[derive(Clone, Copy)]
pub(super) struct Elements<'a> {
    pub kinds: Kinds<'a>,
    pub strains: &'a [f64],
}

/// Factor of m M + c C + k K at the last strains.
pub(super) struct Factorize<'a> {
    pub elements: Elements<'a>,
    pub pivot: &'a mut [f64],
    /// Multipliers of a row for the one before it. Lanes have none of it: they read less when they find them again.
    pub lower: &'a mut [f64],
    pub fill: &'a mut [f64],
    pub reduced: &'a mut Reduced,
    /// Right-hand side, in which it eliminates on the way.
    pub x: &'a mut [f64],
}

/// Blocks of one element: first node, coupling, second node.
struct Blocks<N>(Upper<N>, Full<N>, Upper<N>);

impl WithSimd for Factorize<'_> {
    /// First row with fill, if the matrix is regular.
    type Output = Option<usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<usize> {
        let links = Links::new(simd, self.elements);
        let count = links.constants.count();
        let mut rows = Rows {
            simd,
            links,
            pivots: &mut rows_mut::<6, S>(self.pivot)[..count + 1],
            lower: rows_mut::<9, S>(self.lower),
            fill: &mut rows_mut::<9, S>(self.fill)[..count],
            x: &mut rows_mut::<3, S>(self.x)[..count + 1],
        };
        let zero = Wide::splat(simd, 0.0);
        let (last, lanes) = (count - 1, S::F64_LANES > 1);
        let Blocks(first, fill, next) = rows.links.blocks::<true>(last);
        let mut front = Front {
            own: first,
            right: load(simd, &rows.x[last]),
            loss: zero,
            fill: transposed(&fill),
            next,
            beyond: [zero; 3],
        };
        let floor = if lanes { NEGLIGIBLE * most(Aligned(modulus(&fill))) } else { 0.0 };
        let (mut filled_from, mut end) = (if lanes { 1 } else { count }, count);
        while end > 1 {
            let begin = end.saturating_sub(LOOK).max(1);
            // In scalar code every row asks: without that branch the compiler pairs numbers, which is slower by a third.
            let held = !lanes || self.elements.kinds.held[begin - 1..end].contains(&true);
            let filling = filled_from < end;
            front = match (held, filling) {
                (false, false) => rows.eliminate::<false, false>(begin..end, front),
                (false, true) => rows.eliminate::<false, true>(begin..end, front),
                (true, false) => rows.eliminate::<true, false>(begin..end, front),
                (true, true) => rows.eliminate::<true, true>(begin..end, front),
            };
            if filling && most(Aligned(modulus(&front.fill))) <= floor {
                (filled_from, front.fill) = (begin, [[zero; 3]; 3]);
            }
            end = begin;
        }
        (rows.x[0], rows.x[count]) = (store(front.right), store(front.beyond));
        (rows.pivots[0], rows.pivots[count]) = (store(front.own), store(front.next));
        rows.fill[0] = store(flat(&front.fill));
        let regular = most(Aligned(front.loss)) < 1.0;
        (self.reduced.factor(self.pivot, self.fill, self.x) && regular).then_some(filled_from)
    }
}

/// What elimination has come to.
struct Front<N> {
    /// Block and right-hand side of the row that is next, without what the element before it adds.
    own: Upper<N>,
    right: [N; 3],
    /// Below one while all pivots are regular.
    loss: N,
    /// Coupling of that row with the separator of the next stretch, by rows of the latter; what elimination adds to the
    /// block and to the right-hand side there.
    fill: Full<N>,
    next: Upper<N>,
    beyond: [N; 3],
}

/// The rows of all arrays.
struct Rows<'a, S: Simd> {
    simd: S,
    links: Links<'a, S>,
    pivots: &'a mut [[S::f64s; 6]],
    lower: &'a mut [[S::f64s; 9]],
    fill: &'a mut [[S::f64s; 9]],
    x: &'a mut [[S::f64s; 3]],
}

impl<S: Simd> Rows<'_, S> {
    /// Eliminates rows from the last to the first.
    #[inline(always)]
    fn eliminate<const HELD: bool, const FILL: bool>(
        &mut self,
        rows: Range<usize>,
        front: Front<Wide<S>>,
    ) -> Front<Wide<S>> {
        let simd = self.simd;
        let Front { mut own, mut right, mut loss, mut fill, mut next, mut beyond } = front;
        for j in rows.rev() {
            let Blocks(first, upper, second) = self.links.blocks::<HELD>(j - 1);
            let (eliminated, lost) = pivot(&sum_of(own, second));
            loss = loss.larger(lost);
            let (half, multiplier) = halves(&upper, &eliminated);
            own = minus_product(&first, &multiplier, &half);
            self.pivots[j] = store(eliminated);
            if S::F64_LANES == 1 {
                self.lower[j] = store(flat(&multiplier));
            }
            let y = forward(&eliminated, &right);
            self.x[j] = store(scale(&eliminated, &y));
            right = minus_rows(&load(simd, &self.x[j - 1]), &multiplier, &y);
            if FILL {
                let (half, g) = halves(&fill, &eliminated);
                next = minus_product(&next, &half, &g);
                fill = minus_times(&half, &multiplier);
                beyond = minus_rows(&beyond, &g, &y);
                self.fill[j] = store(flat(&g));
            }
        }
        Front { own, right, loss, fill, next, beyond }
    }
}

/// Rows of [`Elements`].
struct Links<'a, S: Simd> {
    simd: S,
    constants: constants::Rows<'a, S>,
    strains: &'a [[S::f64s; 4]],
}

impl<'a, S: Simd> Links<'a, S> {
    #[inline(always)]
    fn new(simd: S, elements: Elements<'a>) -> Links<'a, S> {
        let constants = constants::Rows::new(simd, elements.kinds);
        Links { simd, constants, strains: &rows::<_, S>(elements.strains)[..constants.count()] }
    }

    /// Blocks of an element, with the inertia at its first node and between both.
    #[inline(always)]
    fn blocks<const HELD: bool>(&self, e: usize) -> Blocks<Wide<S>> {
        let Tangent(rigidity, [mx, my, mt], own) = self.constants.tangent(e);
        let [stretch, slip, cosine, sine] = load(self.simd, &self.strains[e]);
        let t = rigidity.tangent([stretch, slip], [cosine, sine]);
        let ([xx, xy, yy], [x, y]) = (t.places, t.mixed);
        let mut blocks = Blocks(
            [xx, xy, -x, yy, -y, t.own],
            [[mx - xx, -xy, -x], [-xy, my - yy, -y], [x, y, mt + t.cross]],
            [xx, xy, x, yy, y, t.own],
        );
        if HELD && self.constants.is_held(e) {
            hold(&mut blocks, &self.constants.keep(e), &self.constants.keep(e + 1));
        }
        blocks.0 = with_diagonal(blocks.0, own);
        blocks
    }
}

/// Takes held degrees of freedom out of the blocks of an element.
#[inline(always)]
fn hold<N: Number>(blocks: &mut Blocks<N>, first: &[N; 3], second: &[N; 3]) {
    let Blocks(a, b, c) = blocks;
    for (place, (i, j)) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].into_iter().enumerate() {
        a[place] = a[place] * first[i] * first[j];
        c[place] = c[place] * second[i] * second[j];
    }
    for i in 0..3 {
        for j in 0..3 {
            b[i][j] = b[i][j] * first[i] * second[j];
        }
    }
}

/// A factor.
#[derive(Clone, Copy)]
pub(super) struct Factor<'a> {
    pub elements: Elements<'a>,
    pub pivot: &'a [f64],
    pub lower: &'a [f64],
    pub fill: &'a [f64],
    /// First row with fill.
    pub filled_from: usize,
}

/// Its rows.
struct Factors<'a, S: Simd> {
    simd: S,
    links: Links<'a, S>,
    pivots: &'a [[S::f64s; 6]],
    lower: &'a [[S::f64s; 9]],
    fill: &'a [[S::f64s; 9]],
    filled_from: usize,
}

impl<'a, S: Simd> Factors<'a, S> {
    #[inline(always)]
    fn new(simd: S, factor: Factor<'a>) -> Factors<'a, S> {
        let links = Links::new(simd, factor.elements);
        let count = links.constants.count();
        Factors {
            simd,
            links,
            pivots: &rows::<6, S>(factor.pivot)[..count],
            lower: rows::<9, S>(factor.lower),
            fill: &rows::<9, S>(factor.fill)[..count],
            filled_from: factor.filled_from,
        }
    }

    #[inline(always)]
    fn pivot(&self, j: usize) -> Pivot<Wide<S>> {
        load(self.simd, &self.pivots[j])
    }

    /// Multipliers of a row for the one before it.
    #[inline(always)]
    fn multiplier(&self, j: usize, pivot: &Pivot<Wide<S>>) -> Full<Wide<S>> {
        if S::F64_LANES == 1 {
            full(&load(self.simd, &self.lower[j]))
        } else {
            halves(&self.links.blocks::<true>(j - 1).1, pivot).1
        }
    }

    /// Those for the separator of the next stretch, if there are any.
    #[inline(always)]
    fn fill(&self, j: usize) -> Option<Full<Wide<S>>> {
        (j >= self.filled_from).then(|| full(&load(self.simd, &self.fill[j])))
    }
}

/// Elimination in a right-hand side.
pub(super) struct Eliminate<'a> {
    pub factor: Factor<'a>,
    pub x: &'a mut [f64],
}

impl WithSimd for Eliminate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let factor = Factors::new(simd, self.factor);
        let count = factor.pivots.len();
        let x = &mut rows_mut::<3, S>(self.x)[..count + 1];
        let (mut right, mut beyond) = (load(simd, &x[count - 1]), [Wide::splat(simd, 0.0); 3]);
        for j in (1..count).rev() {
            let pivot = factor.pivot(j);
            let y = forward(&pivot, &right);
            x[j] = store(scale(&pivot, &y));
            right = minus_rows(&load(simd, &x[j - 1]), &factor.multiplier(j, &pivot), &y);
            if let Some(fill) = factor.fill(j) {
                beyond = minus_rows(&beyond, &fill, &y);
            }
        }
        (x[0], x[count]) = (store(right), store(beyond));
    }
}

/// Substitution in some rows of what elimination left, behind those that are done.
pub(super) struct Substitute<'a> {
    pub factor: Factor<'a>,
    pub rows: Range<usize>,
    pub x: &'a mut [f64],
}

impl WithSimd for Substitute<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let factor = Factors::new(simd, self.factor);
        let count = factor.pivots.len();
        let x = &mut rows_mut::<3, S>(self.x)[..count + 1];
        let (mut before, next) = (load(simd, &x[self.rows.start - 1]), load(simd, &x[count]));
        for j in self.rows {
            let (mut own, pivot) = (load(simd, &x[j]), factor.pivot(j));
            if let Some(fill) = factor.fill(j) {
                own = minus_columns(&own, &fill, &next);
            }
            own = minus_columns(&own, &factor.multiplier(j, &pivot), &before);
            before = backward(&pivot, &own);
            x[j] = store(before);
        }
    }
}
