//! The sweeps over a chain of beams, in scalar code or in lanes: strains and forces, factor, solution.
//!
//! Every array has a row per node (or element), a few numbers per row, and each number once per lane. Lanes work on
//! stretches of the chain side by side, see [`crate::la::blocks`].

use super::constants::{self, Kinds, Tangent};
use crate::elements::section::half_turn;
use crate::la::blocks::{self, Blocks, Given, Links};
use crate::la::lanes::Task;
use crate::la::number::{Number, groups, groups_mut, load, store};
use crate::la::small::{Full, Pivot, Upper, backward, forward, full, halves, minus_columns, minus_rows, scale};
use std::ops::Range;

/// Elements whose sines are found together: shorter loops, more of which the processor has at hand at once.
const CHUNK: usize = 16;

#[inline(always)]
fn sum_of<const K: usize, N: Number>(mut a: [N; K], b: [N; K]) -> [N; K] {
    for k in 0..K {
        a[k] = a[k] + b[k];
    }
    a
}

/// A symmetric block and a diagonal.
#[inline(always)]
fn with_diagonal<N: Number>(a: Upper<N>, [x, y, t]: [N; 3]) -> Upper<N> {
    [a[0] + x, a[1], a[2], a[3] + y, a[4], a[5] + t]
}

/// Sum of all lanes. A function of its own, because a use of single lanes would turn the loop around it into scalar code.
#[inline(never)]
fn sum<N: Number>(x: N) -> f64 {
    x.sum()
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

impl<R> Task<R> for Strain<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<N: Number<Row = R>>(self, set: N::Set) -> f64 {
        let constants = constants::Rows::new(set, self.kinds);
        let count = constants.count();
        let q = &groups::<3, N>(self.q)[..count + 1];
        let strains = &mut groups_mut::<4, N>(self.strains)[..count];
        let forces = &mut groups_mut::<3, N>(self.forces)[..count];
        let behind = &mut groups_mut::<3, N>(self.carried)[0];
        let (mut energy, mut carried) = (N::splat(set, 0.0), load(set, behind));
        let mut a = load(set, &q[0]);
        for from in (0..count).step_by(CHUNK) {
            let chunk = from..(from + CHUNK).min(count);
            for j in chunk.clone() {
                let [sine, cosine] = half_turn(N::load(set, &q[j][2]), N::load(set, &q[j + 1][2]));
                (strains[j][2], strains[j][3]) = (sine.row(), cosine.row());
            }
            for j in chunk {
                let (b, section, turn) = (load(set, &q[j + 1]), constants.section(j), &strains[j]);
                let state = section.strains_at(&a, &b, [N::load(set, &turn[2]), N::load(set, &turn[3])]);
                let (own, [first, second]) = section.forces(&state);
                energy = energy + own;
                forces[j] = store(sum_of(carried, first));
                strains[j] = store([state.values[0], state.values[1], state.angle[0], state.angle[1]]);
                (carried, a) = (second, b);
            }
        }
        *behind = store(carried);
        sum(energy)
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
    /// Its multipliers are kept in plain code. Lanes have none of them: they read less when they find them again.
    pub factor: blocks::Factorize<'a>,
}

impl<R> Task<R> for Factorize<'_> {
    /// First row with fill, if the matrix is regular.
    type Output = Option<usize>;

    #[inline(always)]
    fn run<N: Number<Row = R>>(self, set: N::Set) -> Option<usize> {
        let elements = ElementRows::<N>::new(set, self.elements);
        let count = elements.constants.count();
        self.factor.run::<true, N, _>(set, elements, count)
    }
}

/// Rows of [`Elements`].
struct ElementRows<'a, N: Number> {
    set: N::Set,
    constants: constants::Rows<'a, N>,
    strains: &'a [[N::Row; 4]],
}

impl<'a, N: Number> ElementRows<'a, N> {
    #[inline(always)]
    fn new(set: N::Set, elements: Elements<'a>) -> ElementRows<'a, N> {
        let constants = constants::Rows::new(set, elements.kinds);
        ElementRows { set, constants, strains: &groups::<_, N>(elements.strains)[..constants.count()] }
    }
}

impl<N: Number> Links<N> for ElementRows<'_, N> {
    const KEEPS: bool = N::LANES == 1;

    #[inline(always)]
    fn holds(&self, links: Range<usize>) -> bool {
        self.constants.holds(links)
    }

    /// Blocks of an element, with the inertia at its first node and between both.
    #[inline(always)]
    fn blocks<const HELD: bool>(&self, _: Given<N>, e: usize) -> Blocks<N> {
        let Tangent(rigidity, [mx, my, mt], own) = self.constants.tangent(e);
        let [stretch, slip, cosine, sine] = load(self.set, &self.strains[e]);
        let t = rigidity.tangent([stretch, slip], [cosine, sine]);
        let ([xx, xy, yy], [x, y]) = (t.places, t.mixed);
        let mut blocks = Blocks(
            [xx, xy, -x, yy, -y, t.own],
            [[mx - xx, -xy, -x], [-xy, my - yy, -y], [x, y, mt + t.cross]],
            Some([xx, xy, x, yy, y, t.own]),
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
    let Blocks(a, b, Some(c)) = blocks else { return };
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
struct Factors<'a, N: Number> {
    set: N::Set,
    links: ElementRows<'a, N>,
    pivots: &'a [[N::Row; 6]],
    lower: &'a [[N::Row; 9]],
    fill: &'a [[N::Row; 9]],
    filled_from: usize,
}

impl<'a, N: Number> Factors<'a, N> {
    #[inline(always)]
    fn new(set: N::Set, factor: Factor<'a>) -> Factors<'a, N> {
        let links = ElementRows::new(set, factor.elements);
        let count = links.constants.count();
        Factors {
            set,
            links,
            pivots: &groups::<6, N>(factor.pivot)[..count],
            lower: groups::<9, N>(factor.lower),
            fill: &groups::<9, N>(factor.fill)[..count],
            filled_from: factor.filled_from,
        }
    }

    #[inline(always)]
    fn pivot(&self, j: usize) -> Pivot<N> {
        load(self.set, &self.pivots[j])
    }

    /// Multipliers of a row for the one before it.
    #[inline(always)]
    fn multiplier(&self, j: usize, pivot: &Pivot<N>) -> Full<N> {
        if N::LANES == 1 {
            full(&load(self.set, &self.lower[j]))
        } else {
            halves(&self.links.blocks::<true>(Given { pivots: &[], lower: &[] }, j - 1).1, pivot).1
        }
    }

    /// Those for the separator of the next stretch, if there are any.
    #[inline(always)]
    fn fill(&self, j: usize) -> Option<Full<N>> {
        (j >= self.filled_from).then(|| full(&load(self.set, &self.fill[j])))
    }
}

/// Elimination in a right-hand side.
pub(super) struct Eliminate<'a> {
    pub factor: Factor<'a>,
    pub x: &'a mut [f64],
}

impl<R> Task<R> for Eliminate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<N: Number<Row = R>>(self, set: N::Set) {
        let factor = Factors::<N>::new(set, self.factor);
        let count = factor.pivots.len();
        let x = &mut groups_mut::<3, N>(self.x)[..count + 1];
        let (mut right, mut beyond) = (load(set, &x[count - 1]), [N::splat(set, 0.0); 3]);
        for j in (1..count).rev() {
            let pivot = factor.pivot(j);
            let y = forward(&pivot, &right);
            x[j] = store(scale(&pivot, &y));
            right = minus_rows(&load(set, &x[j - 1]), &factor.multiplier(j, &pivot), &y);
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

impl<R> Task<R> for Substitute<'_> {
    type Output = ();

    #[inline(always)]
    fn run<N: Number<Row = R>>(self, set: N::Set) {
        let factor = Factors::<N>::new(set, self.factor);
        let count = factor.pivots.len();
        let x = &mut groups_mut::<3, N>(self.x)[..count + 1];
        let (mut before, next) = (load(set, &x[self.rows.start - 1]), load(set, &x[count]));
        for j in self.rows {
            let (mut own, pivot) = (load(set, &x[j]), factor.pivot(j));
            if let Some(fill) = factor.fill(j) {
                own = minus_columns(&own, &fill, &next);
            }
            own = minus_columns(&own, &factor.multiplier(j, &pivot), &before);
            before = backward(&pivot, &own);
            x[j] = store(before);
        }
    }
}
