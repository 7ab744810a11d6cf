//! Block-tridiagonal LDLᵀ along a chain of blocks of order three, in plain code or in lanes.
//!
//! Every array has a row per block, a few numbers per row, and each number once per lane. Lanes work on stretches of the
//! chain side by side. The first block of a stretch is a separator: all others are eliminated from the end of the stretch to
//! its beginning, which fills the block between them and the separator of the next stretch. The equations of the separators
//! are solved last. One lane is the plain block LDLᵀ.
//!
//! Pivots are LDLᵀ themselves, and multipliers are U L⁻ᵀ D⁻¹, halfway to U P⁻¹: the whole is the LDLᵀ of a band. Knows nothing of
//! where the blocks come from.

use super::number::{Number, groups_mut, load, store};
use super::small::{
    Full, Pivot, Upper, backward, flat, forward, halves, minus_columns, minus_product, minus_rows, minus_times, pivot,
    scale, transposed,
};
use std::ops::Range;

/// Fill below this part of what it began with changes no digit; it is left out, before it becomes subnormal.
const NEGLIGIBLE: f64 = 1e-40;

/// Rows between two looks at the fill.
const LOOK: usize = 32;

/// What a link between two neighbours adds: to the block of the first, between them, and to the block of the second.
pub struct Blocks<N>(pub Upper<N>, pub Full<N>, pub Option<Upper<N>>);

/// Where the blocks of a chain come from. Link e is between the rows e and e + 1; the last one is between the last row and the
/// separator of the next stretch.
pub trait Links<N: Number> {
    /// Whether multipliers are kept; else they have to be found again from blocks and pivots.
    const KEEPS: bool;

    /// The blocks of a link; where they are in memory, `given` has what stands in place of pivots and multipliers.
    fn blocks<const HELD: bool>(&self, given: Given<N>, e: usize) -> Blocks<N>;

    /// Whether any of these links has to ask what is held.
    fn holds(&self, links: Range<usize>) -> bool;
}

/// Rows that are not eliminated yet.
#[derive(Clone, Copy)]
pub struct Given<'a, N: Number> {
    /// Blocks on the diagonal.
    pub pivots: &'a [[N::Row; 6]],
    /// Couplings of a row with the one before it.
    pub lower: &'a [[N::Row; 9]],
}

/// Arrays of a factor; all but `lower` and `fill` have a row more than there are blocks in a stretch, for the next separator.
pub struct Factorize<'a> {
    /// Factors of the pivots.
    pub pivot: &'a mut [f64],
    /// Multipliers of a row for the one before it, if they are kept.
    pub lower: &'a mut [f64],
    /// Multipliers of a row for the separator of the next stretch.
    pub fill: &'a mut [f64],
    /// The separators.
    pub reduced: &'a mut Reduced,
    /// Right-hand side, in which it eliminates on the way; empty if there is none.
    pub x: &'a mut [f64],
}

impl Factorize<'_> {
    /// Eliminates all rows of stretches of so many; returns the first row with fill, if the matrix is regular. `RIGHT`: there is
    /// a right-hand side.
    #[inline(always)]
    pub fn run<const RIGHT: bool, N: Number, L: Links<N>>(self, set: N::Set, links: L, count: usize) -> Option<usize> {
        let mut rows = Rows {
            set,
            links,
            pivots: &mut groups_mut::<6, N>(self.pivot)[..count + 1],
            lower: groups_mut::<9, N>(self.lower),
            fill: &mut groups_mut::<9, N>(self.fill)[..count],
            x: groups_mut::<3, N>(self.x),
        };
        if RIGHT {
            rows.x = &mut rows.x[..count + 1];
        }
        let zero = N::splat(set, 0.0);
        let (last, lanes) = (count - 1, N::LANES > 1);
        let Blocks(first, fill, next) = rows.blocks::<true>(last);
        let mut front = Front {
            own: first,
            right: if RIGHT { load(set, &rows.x[last]) } else { [zero; 3] },
            loss: zero,
            fill: transposed(&fill),
            next: next.unwrap_or([zero; 6]),
            beyond: [zero; 3],
        };
        let floor = if lanes { NEGLIGIBLE * most(modulus(&fill)) } else { 0.0 };
        let (mut filled_from, mut end) = (if lanes { 1 } else { count }, count);
        while end > 1 {
            let begin = end.saturating_sub(LOOK).max(1);
            // In plain code every row asks: without that branch the compiler pairs numbers, which is slower by a third.
            let held = !lanes || rows.links.holds(begin - 1..end);
            let filling = filled_from < end;
            front = match (held, filling) {
                (false, false) => rows.eliminate::<RIGHT, false, false>(begin..end, front),
                (false, true) => rows.eliminate::<RIGHT, false, true>(begin..end, front),
                (true, false) => rows.eliminate::<RIGHT, true, false>(begin..end, front),
                (true, true) => rows.eliminate::<RIGHT, true, true>(begin..end, front),
            };
            if filling && most(modulus(&front.fill)) <= floor {
                (filled_from, front.fill) = (begin, [[zero; 3]; 3]);
            }
            end = begin;
        }
        if RIGHT {
            (rows.x[0], rows.x[count]) = (store(front.right), store(front.beyond));
        }
        (rows.pivots[0], rows.pivots[count]) = (store(front.own), store(front.next));
        rows.fill[0] = store(flat(&front.fill));
        let regular = most(front.loss) < 1.0;
        let separated = self.reduced.factor(&self.pivot[..6 * N::LANES * (count + 1)], self.fill);
        if RIGHT {
            self.reduced.eliminate(self.x);
        }
        (separated && regular).then_some(filled_from)
    }
}

/// Largest lane of all. A function of its own, because a use of single lanes would turn the loop around it into scalar code.
#[inline(never)]
fn most<N: Number>(x: N) -> f64 {
    x.most()
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

/// What elimination has come to.
struct Front<N> {
    /// Block and right-hand side of the row that is next, without what the link before it adds.
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
struct Rows<'a, N: Number, L> {
    set: N::Set,
    links: L,
    pivots: &'a mut [[N::Row; 6]],
    lower: &'a mut [[N::Row; 9]],
    fill: &'a mut [[N::Row; 9]],
    x: &'a mut [[N::Row; 3]],
}

impl<N: Number, L: Links<N>> Rows<'_, N, L> {
    #[inline(always)]
    fn blocks<const HELD: bool>(&self, e: usize) -> Blocks<N> {
        self.links.blocks::<HELD>(Given { pivots: self.pivots, lower: self.lower }, e)
    }

    /// Eliminates rows from the last to the first.
    #[inline(always)]
    fn eliminate<const RIGHT: bool, const HELD: bool, const FILL: bool>(
        &mut self,
        rows: Range<usize>,
        front: Front<N>,
    ) -> Front<N> {
        let set = self.set;
        let Front { mut own, mut right, mut loss, mut fill, mut next, mut beyond } = front;
        for j in rows.rev() {
            let Blocks(first, upper, second) = self.blocks::<HELD>(j - 1);
            if let Some(second) = second {
                for k in 0..6 {
                    own[k] = own[k] + second[k];
                }
            }
            let (eliminated, lost) = pivot(&own);
            loss = loss.larger(lost);
            let (half, multiplier) = halves(&upper, &eliminated);
            own = minus_product(&first, &multiplier, &half);
            self.pivots[j] = store(eliminated);
            if L::KEEPS {
                self.lower[j] = store(flat(&multiplier));
            }
            let y = forward(&eliminated, &right);
            if RIGHT {
                self.x[j] = store(scale(&eliminated, &y));
                right = minus_rows(&load(set, &self.x[j - 1]), &multiplier, &y);
            }
            if FILL {
                let (half, g) = halves(&fill, &eliminated);
                next = minus_product(&next, &half, &g);
                fill = minus_times(&half, &multiplier);
                if RIGHT {
                    beyond = minus_rows(&beyond, &g, &y);
                }
                self.fill[j] = store(flat(&g));
            }
        }
        Front { own, right, loss, fill, next, beyond }
    }
}

/// Factor of the equations of the separators, which are left when all other blocks are eliminated: block tridiagonal, with as
/// many blocks as there are lanes.
pub struct Reduced {
    pivots: Vec<Pivot<f64>>,
    /// Multipliers of a separator in the equations of the next.
    lower: Vec<Full<f64>>,
}

impl Reduced {
    /// For so many lanes.
    pub fn new(lanes: usize) -> Reduced {
        Reduced { pivots: vec![[0.0; 6]; lanes], lower: vec![[[0.0; 3]; 3]; lanes] }
    }

    /// From the separators' own blocks in the first row, what the stretches before add to them in the last one, and the
    /// couplings with the next; `false` if singular.
    #[inline(never)]
    fn factor(&mut self, blocks: &[f64], coupling: &[f64]) -> bool {
        let lanes = self.pivots.len();
        let next = &blocks[blocks.len() - 6 * lanes..];
        let (mut regular, mut change) = (true, [0.0; 6]);
        for lane in 0..lanes {
            let mut block = change;
            for k in 0..6 {
                block[k] += blocks[k * lanes + lane];
                if lane > 0 {
                    block[k] += next[k * lanes + lane - 1];
                }
            }
            let (eliminated, loss) = pivot(&block);
            regular &= loss < 1.0 && eliminated.iter().all(|x| x.is_finite());
            self.pivots[lane] = eliminated;
            let mut coupled = [[0.0; 3]; 3];
            for i in 0..3 {
                for j in 0..3 {
                    coupled[i][j] = coupling[(3 * i + j) * lanes + lane];
                }
            }
            let (half, multiplier) = halves(&coupled, &eliminated);
            change = minus_product(&[0.0; 6], &multiplier, &half);
            self.lower[lane] = multiplier;
        }
        regular
    }

    /// Number of negative pivots.
    pub fn negative(&self) -> usize {
        self.pivots.iter().flat_map(|pivot| &pivot[3..]).filter(|d| **d < 0.0).count()
    }

    /// Eliminates in the separators of `x`, in its first row, with what the stretches before leave for them in the last.
    #[inline(never)]
    pub fn eliminate(&self, x: &mut [f64]) {
        let (lanes, beyond) = (self.pivots.len(), x.len() - 3 * self.pivots.len());
        let mut before = [0.0; 3];
        for lane in 0..lanes {
            let mut y = at(x, 0, lane, lanes);
            if lane > 0 {
                let left = at(x, beyond, lane - 1, lanes);
                y = minus_rows(&[y[0] + left[0], y[1] + left[1], y[2] + left[2]], &self.lower[lane - 1], &before);
            }
            before = forward(&self.pivots[lane], &y);
            put(x, 0, lane, lanes, scale(&self.pivots[lane], &before));
        }
    }

    /// The separators from what elimination left; the last row is overwritten with those of the next stretches.
    #[inline(never)]
    pub fn substitute(&self, x: &mut [f64]) {
        let (lanes, beyond) = (self.pivots.len(), x.len() - 3 * self.pivots.len());
        let mut next = [0.0; 3];
        for lane in (0..lanes).rev() {
            put(x, beyond, lane, lanes, next);
            let own = minus_columns(&at(x, 0, lane, lanes), &self.lower[lane], &next);
            next = backward(&self.pivots[lane], &own);
            put(x, 0, lane, lanes, next);
        }
    }
}

#[inline(always)]
fn at(x: &[f64], first: usize, lane: usize, lanes: usize) -> [f64; 3] {
    [x[first + lane], x[first + lanes + lane], x[first + 2 * lanes + lane]]
}

#[inline(always)]
fn put(x: &mut [f64], first: usize, lane: usize, lanes: usize, [a, b, c]: [f64; 3]) {
    (x[first + lane], x[first + lanes + lane], x[first + 2 * lanes + lane]) = (a, b, c);
}
