//! The sweeps over a chain of beams, in scalar code or in lanes: strains and forces, factor, solution.
//!
//! Every array has a row per node (or element), a few numbers per row, and each number once per lane. Lanes work on
//! stretches of the chain side by side. The first node of a stretch is a separator: all others are eliminated from the
//! end of the stretch to its beginning, which fills the block between them and the separator of the next stretch.
//! One lane is the plain block LDLᵀ.

use super::Reduced;
use crate::elements::section::{Section, Strains};
use crate::la::number::{Number, Wide};
use crate::la::small::{
    Full, Upper, minus_product, minus_rows, minus_times, pivot, solve, solve_columns, solve_rows, transposed,
};
use pulp::{Simd, WithSimd};

/// Fill below this part of what it began with changes no digit; it is left out, before it becomes subnormal.
const NEGLIGIBLE: f64 = 1e-40;

/// Rows between two looks at the fill.
const LOOK: usize = 8;

/// Constants of the elements: length, 1/length, direction, stiffnesses, damping of strain rates.
pub(super) const CONSTANTS: usize = 8;

#[inline(always)]
fn rows<const N: usize, S: Simd>(x: &[f64]) -> &[[S::f64s; N]] {
    S::as_simd_f64s(x).0.as_chunks().0
}

#[inline(always)]
fn rows_mut<const N: usize, S: Simd>(x: &mut [f64]) -> &mut [[S::f64s; N]] {
    S::as_mut_simd_f64s(x).0.as_chunks_mut().0
}

#[inline(always)]
fn load<const N: usize, S: Simd>(simd: S, row: &[S::f64s; N]) -> [Wide<S>; N] {
    let mut x = [Wide::new(simd, row[0]); N];
    for k in 1..N {
        x[k] = Wide::new(simd, row[k]);
    }
    x
}

#[inline(always)]
fn store<const N: usize, S: Simd>(x: [Wide<S>; N]) -> [S::f64s; N] {
    let mut row = [x[0].value; N];
    for k in 1..N {
        row[k] = x[k].value;
    }
    row
}

#[inline(always)]
fn flat<T: Copy>(a: &Full<T>) -> [T; 9] {
    [a[0][0], a[0][1], a[0][2], a[1][0], a[1][1], a[1][2], a[2][0], a[2][1], a[2][2]]
}

#[inline(always)]
fn full<T: Copy>(a: &[T; 9]) -> Full<T> {
    [[a[0], a[1], a[2]], [a[3], a[4], a[5]], [a[6], a[7], a[8]]]
}

#[inline(always)]
fn section<S: Simd>(simd: S, row: &[S::f64s; CONSTANTS]) -> (Section<Wide<S>>, Wide<S>) {
    let [length, per_length, x, y, axial, shear, bending, rate] = load(simd, row);
    (Section { length, per_length, direction: [x, y], stiffness: [axial, shear, bending] }, rate)
}

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

/// Sum of all lanes. A function of its own, because a use of single lanes would turn the loop around it into scalar code.
#[inline(never)]
fn sum<S: Simd>(simd: S, x: S::f64s) -> f64 {
    simd.reduce_sum_f64s(x)
}

/// Largest lane of all.
#[inline(never)]
fn largest<S: Simd>(simd: S, x: S::f64s) -> f64 {
    simd.reduce_max_f64s(x)
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

/// Strains and internal forces at the displacements `q`, which have a row more: the separators of the next stretches.
/// Returns the strain energy; the last row of `forces` belongs to those separators.
pub(super) struct Strain<'a> {
    pub constants: &'a [f64],
    pub q: &'a [f64],
    pub strains: &'a mut [f64],
    pub forces: &'a mut [f64],
}

impl WithSimd for Strain<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let constants = rows::<CONSTANTS, S>(self.constants);
        let count = constants.len();
        let q = &rows::<3, S>(self.q)[..count + 1];
        let strains = &mut rows_mut::<4, S>(self.strains)[..count];
        let forces = &mut rows_mut::<3, S>(self.forces)[..count + 1];
        let zero = Wide::splat(simd, 0.0);
        let (mut energy, mut carried) = (zero, [zero; 3]);
        let mut a = load(simd, &q[0]);
        for j in 0..count {
            let b = load(simd, &q[j + 1]);
            let (section, _) = section(simd, &constants[j]);
            let state = section.strains(&a, &b);
            let (own, [first, second]) = section.forces(&state);
            energy = energy + own;
            forces[j] = store(sum_of(carried, first));
            strains[j] = store([state.values[0], state.values[1], state.angle[0], state.angle[1]]);
            (carried, a) = (second, b);
        }
        forces[count] = store(carried);
        sum(simd, energy.value)
    }
}

/// Factor of m M + c C + k K at the last strains, where `inertia` and `coupling` hold m M + c C.
pub(super) struct Factorize<'a> {
    pub constants: &'a [f64],
    pub strains: &'a [f64],
    pub inertia: &'a [f64],
    pub coupling: &'a [f64],
    /// Whether a row of nodes has held degrees of freedom, and zeros for them among ones.
    pub held: &'a [bool],
    pub keep: &'a [f64],
    /// Factors of the damping of strain rates and of the stiffness.
    pub c: f64,
    pub k: f64,
    pub pivot: &'a mut [f64],
    pub lower: &'a mut [f64],
    pub fill: &'a mut [f64],
    pub reduced: &'a mut Reduced,
}

/// Blocks of one element: first node, coupling, second node.
struct Blocks<N>(Upper<N>, Full<N>, Upper<N>);

impl WithSimd for Factorize<'_> {
    /// First row with fill, if the matrix is regular.
    type Output = Option<usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<usize> {
        let rows_of = Rows {
            simd,
            constants: rows::<CONSTANTS, S>(self.constants),
            strains: rows::<4, S>(self.strains),
            coupling: rows::<3, S>(self.coupling),
            held: self.held,
            keep: rows::<3, S>(self.keep),
            c: Wide::splat(simd, self.c),
            k: Wide::splat(simd, self.k),
        };
        let count = rows_of.constants.len();
        let inertia = &rows::<3, S>(self.inertia)[..count];
        let pivots = &mut rows_mut::<6, S>(self.pivot)[..count];
        let lower = &mut rows_mut::<9, S>(self.lower)[..count];
        let filled = &mut rows_mut::<9, S>(self.fill)[..count];
        let zero = Wide::splat(simd, 0.0);
        let last = count - 1;
        let Blocks(first, mut fill, mut next) = rows_of.blocks(last);
        let mut own = with_diagonal(first, load(simd, &inertia[last]));
        let mut flaw = zero.like(f64::NEG_INFINITY);
        let lanes = S::F64_LANES > 1;
        let floor = if lanes { NEGLIGIBLE * largest(simd, modulus(&fill).value) } else { 0.0 };
        let (mut filling, mut filled_from) = (lanes, 1);
        for e in (0..last).rev() {
            let j = e + 1;
            let Blocks(first, upper, second) = rows_of.blocks(e);
            let (eliminated, flawed) = pivot(&sum_of(own, second));
            flaw = flaw.larger(flawed);
            let multiplier = solve_rows(&upper, &eliminated);
            own = minus_product(&with_diagonal(first, load(simd, &inertia[e])), &multiplier, &upper);
            pivots[j] = store(eliminated);
            lower[j] = store(flat(&multiplier));
            if filling {
                let g = solve_columns(&eliminated, &fill);
                next = minus_product(&next, &transposed(&fill), &transposed(&g));
                fill = minus_times(&upper, &g);
                filled[j] = store(flat(&g));
                if j % LOOK == 0 && largest(simd, modulus(&fill).value) <= floor {
                    (filling, filled_from, fill) = (false, j, [[zero; 3]; 3]);
                }
            }
        }
        pivots[0] = store(own);
        lower[0] = store(flat(&fill));
        filled[0][..6].copy_from_slice(&store(next));
        let regular = largest(simd, flaw.value) < 0.0;
        let (own, next, fill) = (&self.pivot[..], &self.fill[..], &self.lower[..]);
        (self.reduced.factor(S::F64_LANES, own, next, fill) && regular).then_some(if lanes {
            filled_from
        } else {
            count
        })
    }
}

/// What the blocks of an element come from.
struct Rows<'a, S: Simd> {
    simd: S,
    constants: &'a [[S::f64s; CONSTANTS]],
    strains: &'a [[S::f64s; 4]],
    coupling: &'a [[S::f64s; 3]],
    held: &'a [bool],
    keep: &'a [[S::f64s; 3]],
    c: Wide<S>,
    k: Wide<S>,
}

impl<S: Simd> Rows<'_, S> {
    #[inline(always)]
    fn blocks(&self, e: usize) -> Blocks<Wide<S>> {
        let simd = self.simd;
        let (section, rate) = section(simd, &self.constants[e]);
        let [stretch, slip, cosine, sine] = load(simd, &self.strains[e]);
        // The tangent does not depend on the curvature.
        let state = Strains { values: [stretch, slip, slip], angle: [cosine, sine] };
        let t = section.tangent(&state, self.c.times_plus(rate, self.k), self.k);
        let ([xx, xy, yy], [x, y]) = (t.places, t.mixed);
        let [mx, my, mt] = load(simd, &self.coupling[e]);
        let mut blocks = Blocks(
            [xx, xy, -x, yy, -y, t.own],
            [[mx - xx, -xy, -x], [-xy, my - yy, -y], [x, y, mt + t.cross]],
            [xx, xy, x, yy, y, t.own],
        );
        if self.held[e] || self.held[e + 1] {
            hold(&mut blocks, &load(simd, &self.keep[e]), &load(simd, &self.keep[e + 1]));
        }
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

/// Solution in place of the right-hand side.
pub(super) struct Solve<'a> {
    pub pivot: &'a [f64],
    pub lower: &'a [f64],
    pub fill: &'a [f64],
    pub filled_from: usize,
    pub reduced: &'a Reduced,
    pub x: &'a mut [f64],
}

impl WithSimd for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let pivots = rows::<6, S>(self.pivot);
        let count = pivots.len();
        let lower = &rows::<9, S>(self.lower)[..count];
        let fill = &rows::<9, S>(self.fill)[..count];
        let x = &mut rows_mut::<3, S>(self.x)[..count + 1];
        let from = self.filled_from.min(count);
        let zero = Wide::splat(simd, 0.0);
        let mut next = [zero; 3];
        let mut y = load(simd, &x[count - 1]);
        for j in (1..count).rev() {
            if j >= from {
                next = minus_rows(&next, &transposed(&full(&load(simd, &fill[j]))), &y);
            }
            y = minus_rows(&load(simd, &x[j - 1]), &full(&load(simd, &lower[j])), &y);
            x[j - 1] = store(y);
        }
        x[count] = store(next);
        self.reduced.solve(S::F64_LANES, self.x);
        let x = &mut rows_mut::<3, S>(self.x)[..count + 1];
        let mut before = load(simd, &x[0]);
        let next = load(simd, &x[count]);
        for j in 1..count {
            let mut own = solve(&load(simd, &pivots[j]), &load(simd, &x[j]));
            if j >= from {
                own = minus_rows(&own, &full(&load(simd, &fill[j])), &next);
            }
            before = minus_rows(&own, &transposed(&full(&load(simd, &lower[j]))), &before);
            x[j] = store(before);
        }
    }
}
