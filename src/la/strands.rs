//! Block-tridiagonal LDLᵀ of long beams: the chain is cut into strands, which the lanes of a vector work on side by side.
//!
//! The first block of a strand is a separator: all others are eliminated from the end of the strand to its beginning, which
//! fills the block between them and the separator of the next strand. The separators are solved last. Right-hand sides
//! keep the order of the chain; they are turned into lanes and back while they are read and written.

#[cfg(test)]
mod tests;

use super::Processor;
use super::chain::Chain;
use super::factor::Singular;
use super::number::{Number, Wide, load, rows, rows_mut, store};
use super::small::{Full, PLACE, Pivot, Upper, flat, full, minus_product, minus_rows, pivot, solve, transposed};
use super::symmetric::Pattern;
use pulp::bytemuck::cast;
use pulp::{Simd, WithSimd};

/// Strands, one per lane.
const LANES: usize = 4;

/// Blocks from which on lanes are faster than plain code.
pub const LONG: usize = 28;

/// What level chains keep of a pivot and of a multiplier.
const LEVEL_PIVOT: [usize; 4] = [2, 3, 4, 5];
const LEVEL_LOWER: [usize; 5] = [0, 4, 5, 7, 8];

/// Fill below this part of what it began with changes no digit; it is left out, before it becomes subnormal.
const NEGLIGIBLE: f64 = 1e-40;

/// Blocks between two looks at the fill.
const LOOK: usize = 8;

/// Factor of a symmetric block-tridiagonal matrix with blocks of order three. Every array has a row per place in a strand,
/// a few numbers per row, and each number once per lane.
pub struct Strands {
    n: usize,
    /// Rows before the first one, so that a chain that lost its first rows to a support keeps its blocks.
    offset: usize,
    /// Blocks of a strand.
    count: usize,
    /// Factors of the pivots; first the blocks on the diagonal.
    pivot: Vec<f64>,
    /// Multipliers U P⁻¹ of a block for the one before it; first the couplings U of these two.
    lower: Vec<f64>,
    /// Transposed P⁻¹ F, where F couples a block with the separator of the next strand.
    fill: Vec<f64>,
    filled_from: usize,
    /// Whether the first unknowns of the blocks couple with each other alone, as in a level beam: pivots and multipliers are then
    /// stored without the zeros, four and five numbers per row.
    level: bool,
    reduced: Reduced,
    y: Vec<f64>,
    arch: Processor,
}

/// The separators, block by block.
#[derive(Default)]
struct Reduced {
    pivots: [Pivot<f64>; LANES],
    /// Transposed coupling of a separator with the next.
    coupling: [Full<f64>; LANES],
}

/// Number of lanes that the processor has.
struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;

    fn with_simd<S: Simd>(self, _: S) -> usize {
        S::F64_LANES
    }
}

impl Strands {
    /// The strands of a pattern, if it is a chain of blocks of order three that is long enough for the processor's lanes.
    pub fn recognise(pattern: &Pattern) -> Option<Strands> {
        let (n, arch) = (pattern.n, Processor::new());
        if n < 3 * LONG || arch.dispatch(Lanes) != LANES {
            return None;
        }
        let offset = Chain::<3>::recognise(pattern, n)?.offset();
        let count = (n + offset).div_ceil(3).div_ceil(LANES);
        let numbers = |per: usize| vec![0.0; per * count * LANES];
        Some(Strands {
            n,
            offset,
            count,
            pivot: numbers(6),
            lower: numbers(9),
            fill: numbers(9),
            filled_from: count,
            level: false,
            reduced: Reduced::default(),
            y: numbers(3),
            arch,
        })
    }

    /// Factors the matrix with these values.
    pub fn factor(&mut self, pattern: &Pattern, values: &[f64]) -> Result<(), Singular> {
        self.load(pattern, values);
        for k in 0..9 {
            // The coupling behind the last block of a strand stands before the first block of the next.
            for lane in 0..LANES {
                let next = k * LANES + lane + 1;
                self.fill[next - 1] = if lane + 1 < LANES { self.lower[next] } else { 0.0 };
            }
        }
        let Strands { pivot, lower, fill, reduced, .. } = self;
        let filled_from = self.arch.dispatch(Factorize { pivot, lower, fill, reduced });
        self.filled_from = filled_from.ok_or_else(|| {
            // Plain code says where.
            let plain =
                Chain::<3>::recognise(pattern, self.n).and_then(|mut chain| chain.factor(pattern, values).err());
            plain.unwrap_or(Singular { row: 0 })
        })?;
        // Before the first block there is no multiplier.
        let zeros = |x: &[f64], per: usize, none: &[usize]| {
            let mut rows = x.chunks_exact(per * LANES).skip(1);
            rows.all(|row| none.iter().all(|k| row[k * LANES..(k + 1) * LANES] == [0.0; LANES]))
        };
        self.level = zeros(&self.pivot, 6, &[0, 1]) && zeros(&self.lower, 9, &[1, 2, 3, 6]);
        if self.level {
            narrow(&mut self.pivot, 6, &LEVEL_PIVOT);
            narrow(&mut self.lower, 9, &LEVEL_LOWER);
        }
        Ok(())
    }

    fn load(&mut self, pattern: &Pattern, values: &[f64]) {
        self.pivot.fill(0.0);
        self.lower.fill(0.0);
        let (count, offset) = (self.count, self.offset);
        // Where the numbers of a block begin that has so many.
        let start = |block: usize, per: usize| (block % count) * per * LANES + block / count;
        // Rows that pad the first block and the end are decoupled and have unit pivots.
        for i in (0..offset).chain(self.n + offset..3 * count * LANES) {
            self.pivot[start(i / 3, 6) + PLACE[i % 3][i % 3] * LANES] = 1.0;
        }
        for column in 0..self.n {
            let (block, c) = ((column + offset) / 3, (column + offset) % 3);
            let [own, coupled] = [6, 9].map(|per| start(block, per));
            for k in pattern.starts[column] as usize..pattern.starts[column + 1] as usize {
                let row = pattern.rows[k] as usize + offset;
                if row >= 3 * block {
                    self.pivot[own + PLACE[row - 3 * block][c] * LANES] = values[k];
                } else {
                    self.lower[coupled + (3 * (row + 3 - 3 * block) + c) * LANES] = values[k];
                }
            }
        }
    }

    /// Number of negative eigenvalues of the matrix that was factored: of the inverse pivots of all blocks but the first of
    /// each strand, and of those of the separators.
    pub fn negative(&self) -> usize {
        let per = if self.level { LEVEL_PIVOT.len() } else { 6 };
        let rows = self.pivot.chunks_exact(per * LANES).take(self.count).skip(1);
        // The last three numbers of a pivot are the inverse of D.
        let inner = rows.flat_map(|row| &row[(per - 3) * LANES..]);
        let separators = self.reduced.pivots.iter().flat_map(|pivot| &pivot[3..]);
        inner.chain(separators).filter(|d| **d < 0.0).count()
    }

    /// Solves in place.
    pub fn solve(&mut self, b: &mut [f64]) {
        let chain = Layout { n: self.n, offset: self.offset, count: self.count };
        let Strands { pivot, lower, fill, filled_from, level, reduced, y, .. } = self;
        let solve = Solve { chain, pivot, lower, fill, from: *filled_from, reduced, y, b };
        if *level { self.arch.dispatch(Level(solve)) } else { self.arch.dispatch(solve) }
    }
}

/// Keeps these numbers of every row, and moves the rows together.
fn narrow(x: &mut [f64], per: usize, kept: &[usize]) {
    for row in 0..x.len() / (per * LANES) {
        for (k, &from) in kept.iter().enumerate() {
            let (to, from) = ((row * kept.len() + k) * LANES, (row * per + from) * LANES);
            x.copy_within(from..from + LANES, to);
        }
    }
}

/// B A⁻¹.
#[inline(always)]
fn over<N: Number>(b: &Full<N>, a: &Pivot<N>) -> Full<N> {
    [solve(a, &b[0]), solve(a, &b[1]), solve(a, &b[2])]
}

/// Largest entry of a block in all lanes; not inlined, because single lanes would turn the loop around it into scalar code.
#[inline(never)]
fn largest<S: Simd>(simd: S, block: &[S::f64s; 9]) -> f64 {
    let sizes = block.iter().map(|x| simd.reduce_max_f64s(simd.abs_f64s(*x)));
    sizes.fold(0.0, f64::max)
}

struct Factorize<'a> {
    pivot: &'a mut [f64],
    lower: &'a mut [f64],
    fill: &'a mut [f64],
    reduced: &'a mut Reduced,
}

impl WithSimd for Factorize<'_> {
    /// First row with fill, if the matrix is regular.
    type Output = Option<usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<usize> {
        let pivots = rows_mut::<6, S>(self.pivot);
        let count = pivots.len();
        let (lower, fill) = (&mut rows_mut::<9, S>(self.lower)[..count], &mut rows_mut::<9, S>(self.fill)[..count]);
        let zero = Wide::splat(simd, 0.0);
        let mut loss = zero;
        let (mut own, mut next) = (load(simd, &pivots[count - 1]), [zero; 6]);
        // F by columns.
        let mut columns = transposed(&full(&load(simd, &fill[0])));
        let floor = NEGLIGIBLE * largest(simd, &fill[0]);
        let (mut filling, mut filled_from) = (true, 1);
        for j in (1..count).rev() {
            let upper = full(&load(simd, &lower[j]));
            let (eliminated, lost) = pivot(&own);
            loss = loss.larger(lost);
            let multiplier = over(&upper, &eliminated);
            own = minus_product(&load(simd, &pivots[j - 1]), &multiplier, &upper);
            pivots[j] = store(eliminated);
            lower[j] = store(flat(&multiplier));
            if filling {
                let g = over(&columns, &eliminated);
                next = minus_product(&next, &columns, &g);
                for k in 0..3 {
                    columns[k] = minus_rows(&[zero; 3], &upper, &g[k]);
                }
                fill[j] = store(flat(&g));
                if j % LOOK == 0 && largest(simd, &store(flat(&columns))) <= floor {
                    (filling, filled_from, columns) = (false, j, [[zero; 3]; 3]);
                }
            }
        }
        let regular = simd.reduce_max_f64s(loss.value) < 1.0;
        pivots[0] = store(own);
        lower[0] = store(flat(&columns));
        fill[0][..6].copy_from_slice(&store(next));
        let (own, next, coupling) = (&self.pivot[..], &self.fill[..], &self.lower[..]);
        (self.reduced.factor(own, next, coupling) && regular).then_some(filled_from)
    }
}

impl Reduced {
    /// From the separators' own blocks, what the strands before add to them, and the transposed couplings; `false` if
    /// singular.
    #[inline(never)]
    fn factor(&mut self, own: &[f64], next: &[f64], coupling: &[f64]) -> bool {
        let mut regular = true;
        for lane in 0..LANES {
            let mut block: Upper<f64> = std::array::from_fn(|k| own[k * LANES + lane]);
            self.coupling[lane] = full(&std::array::from_fn(|k| coupling[k * LANES + lane]));
            if let Some(before) = lane.checked_sub(1) {
                let coupled = &self.coupling[before];
                let sum = std::array::from_fn(|k| block[k] + next[k * LANES + before]);
                block = minus_product(&sum, &over(coupled, &self.pivots[before]), coupled);
            }
            let (eliminated, loss) = pivot(&block);
            regular &= loss < 1.0 && eliminated.iter().all(|x| x.is_finite());
            self.pivots[lane] = eliminated;
        }
        regular
    }

    /// Overwrites the right-hand sides `x` of the separators with their solution, and `next`, what the strands before leave
    /// for them, with the solution of the next separator.
    #[inline(never)]
    fn solve(&self, x: &mut [[f64; LANES]; 3], next: &mut [[f64; LANES]; 3]) {
        let at = |x: &[[f64; LANES]; 3], lane: usize| [0, 1, 2].map(|k| x[k][lane]);
        let put = |x: &mut [[f64; LANES]; 3], lane: usize, z: [f64; 3]| (0..3).for_each(|k| x[k][lane] = z[k]);
        for lane in 1..LANES {
            let before = solve(&self.pivots[lane - 1], &at(x, lane - 1));
            let (own, left) = (at(x, lane), at(next, lane - 1));
            put(x, lane, minus_rows(&[0, 1, 2].map(|k| own[k] + left[k]), &self.coupling[lane - 1], &before));
        }
        let mut after = [0.0; 3];
        for lane in (0..LANES).rev() {
            let own = minus_rows(&at(x, lane), &transposed(&self.coupling[lane]), &after);
            put(next, lane, after);
            after = solve(&self.pivots[lane], &own);
            put(x, lane, after);
        }
    }
}

/// Where blocks are in a vector along the chain.
#[derive(Clone, Copy)]
struct Layout {
    n: usize,
    offset: usize,
    count: usize,
}

impl Layout {
    /// Strands have whole blocks in all lanes from their second place on, up to this one.
    fn whole(&self) -> usize {
        (self.n + self.offset) / 3 - (LANES - 1) * self.count
    }

    /// Place in the vector of the second block of a strand.
    fn second(&self, lane: usize) -> usize {
        3 * (lane * self.count + 1) - self.offset
    }

    /// Calls `visit` for all numbers at a place of the strands: component, lane, row of the vector.
    #[inline(always)]
    fn each(&self, j: usize, mut visit: impl FnMut(usize, usize, usize)) {
        for lane in 0..LANES {
            for k in 0..3 {
                let row = 3 * (lane * self.count + j) + k;
                if row >= self.offset && row < self.n + self.offset {
                    visit(k, lane, row - self.offset);
                }
            }
        }
    }

    /// Numbers at a place of the strands, zero beyond the ends.
    #[inline(never)]
    fn get(&self, b: &[f64], j: usize) -> [[f64; LANES]; 3] {
        let mut x = [[0.0; LANES]; 3];
        self.each(j, |k, lane, row| x[k][lane] = b[row]);
        x
    }

    #[inline(never)]
    fn set(&self, b: &mut [f64], j: usize, x: &[[f64; LANES]; 3]) {
        self.each(j, |k, lane, row| b[row] = x[k][lane]);
    }
}

struct Solve<'a> {
    chain: Layout,
    pivot: &'a [f64],
    lower: &'a [f64],
    fill: &'a [f64],
    from: usize,
    reduced: &'a Reduced,
    y: &'a mut [f64],
    b: &'a mut [f64],
}

impl WithSimd for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.run::<6, 9, S>(simd);
    }
}

/// The same with a factor without zeros.
struct Level<'a>(Solve<'a>);

impl WithSimd for Level<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.0.run::<4, 5, S>(simd);
    }
}

impl Solve<'_> {
    /// With so many numbers to a pivot and to a multiplier.
    #[inline(always)]
    fn run<const P: usize, const L: usize, S: Simd>(self, simd: S) {
        let Solve { chain, b, .. } = self;
        let count = chain.count;
        let (pivots, lower) = (&rows::<P, S>(self.pivot)[..count], &rows::<L, S>(self.lower)[..count]);
        let fill = &rows::<9, S>(self.fill)[..count];
        let factor = Blocks { simd, pivots, lower, fill, from: self.from };
        let y = &mut rows_mut::<3, S>(self.y)[..count];
        let whole = chain.whole().clamp(1, count);
        let zero = Wide::splat(simd, 0.0);
        let (mut next, mut own) = ([zero; 3], [zero; 3]);
        for j in (whole..count).rev() {
            own = factor.eliminate(j, wide(simd, &chain.get(b, j)), own, &mut next);
            y[j] = store(own);
        }
        let parts: [&[[f64; 3]]; LANES] =
            std::array::from_fn(|lane| &b[chain.second(lane)..].as_chunks().0[..whole - 1]);
        for j in (1..whole).rev() {
            let [p, q, r, s] = [parts[0][j - 1], parts[1][j - 1], parts[2][j - 1], parts[3][j - 1]];
            let x = [[p[0], q[0], r[0], s[0]], [p[1], q[1], r[1], s[1]], [p[2], q[2], r[2], s[2]]];
            own = factor.eliminate(j, wide(simd, &x), own, &mut next);
            y[j] = store(own);
        }
        own = minus_multiplier(&wide(simd, &chain.get(b, 0)), &load(simd, &lower[1]), &own);
        let (mut first, mut after) = (numbers(own), numbers(next));
        self.reduced.solve(&mut first, &mut after);
        chain.set(b, 0, &first);
        let (mut x, next) = (wide(simd, &first), wide(simd, &after));
        let mut rest = &mut b[chain.second(0)..];
        let parts: [&mut [[f64; 3]]; LANES] = std::array::from_fn(|_| {
            let length = rest.len().min(3 * count);
            let part = rest.split_off_mut(..length).unwrap_or_default();
            &mut part.as_chunks_mut().0[..whole - 1]
        });
        for j in 1..whole {
            x = factor.spread(j, &y[j], x, &next);
            let [p, q, r] = numbers(x);
            for lane in 0..LANES {
                parts[lane][j - 1] = [p[lane], q[lane], r[lane]];
            }
        }
        for j in whole..count {
            x = factor.spread(j, &y[j], x, &next);
            chain.set(b, j, &numbers(x));
        }
    }
}

/// The factor in vectors.
struct Blocks<'a, const P: usize, const L: usize, S: Simd> {
    simd: S,
    pivots: &'a [[S::f64s; P]],
    lower: &'a [[S::f64s; L]],
    fill: &'a [[S::f64s; 9]],
    /// First row with fill.
    from: usize,
}

// Not closures: one that is not inlined would not be compiled for what the processor has.
impl<const P: usize, const L: usize, S: Simd> Blocks<'_, P, L, S> {
    /// Right-hand side of a block less what the block behind it brings; and what it leaves for the next separator.
    #[inline(always)]
    fn eliminate(&self, j: usize, x: [Wide<S>; 3], behind: [Wide<S>; 3], next: &mut [Wide<S>; 3]) -> [Wide<S>; 3] {
        // Behind the last block there is none: zero times whatever stands there.
        let lower = &self.lower[(j + 1).min(self.lower.len() - 1)];
        let own = minus_multiplier(&x, &load(self.simd, lower), &behind);
        if j >= self.from {
            *next = minus_rows(next, &full(&load(self.simd, &self.fill[j])), &own);
        }
        own
    }

    /// Solution of a block from its eliminated right-hand side, that of the block before it and that of the next separator.
    #[inline(always)]
    fn spread(&self, j: usize, y: &[S::f64s; 3], before: [Wide<S>; 3], next: &[Wide<S>; 3]) -> [Wide<S>; 3] {
        let mut own = solve_pivot(&load(self.simd, &self.pivots[j]), &load(self.simd, y));
        if j >= self.from {
            own = minus_rows(&own, &transposed(&full(&load(self.simd, &self.fill[j]))), next);
        }
        minus_transposed(&own, &load(self.simd, &self.lower[j]), &before)
    }
}

/// y − A x with a multiplier A, of nine numbers or of five.
#[inline(always)]
fn minus_multiplier<const L: usize, N: Number>(y: &[N; 3], a: &[N; L], x: &[N; 3]) -> [N; 3] {
    if let Some(a) = a.first_chunk::<9>() {
        return minus_rows(y, &full(a), x);
    }
    let first = (-a[0]).times_plus(x[0], y[0]);
    let second = (-a[2]).times_plus(x[2], (-a[1]).times_plus(x[1], y[1]));
    [first, second, (-a[4]).times_plus(x[2], (-a[3]).times_plus(x[1], y[2]))]
}

/// y − Aᵀ x with the same.
#[inline(always)]
fn minus_transposed<const L: usize, N: Number>(y: &[N; 3], a: &[N; L], x: &[N; 3]) -> [N; 3] {
    if let Some(a) = a.first_chunk::<9>() {
        return minus_rows(y, &transposed(&full(a)), x);
    }
    minus_multiplier(y, &[a[0], a[1], a[3], a[2], a[4]], x)
}

/// A⁻¹ x with a pivot of six numbers or of four.
#[inline(always)]
fn solve_pivot<const P: usize, N: Number>(a: &[N; P], x: &[N; 3]) -> [N; 3] {
    if let Some(a) = a.first_chunk::<6>() {
        return solve(a, x);
    }
    let last = a[3] * (-a[0]).times_plus(x[1], x[2]);
    [a[1] * x[0], (-a[0]).times_plus(last, a[2] * x[1]), last]
}

#[inline(always)]
fn wide<S: Simd>(simd: S, x: &[[f64; LANES]; 3]) -> [Wide<S>; 3] {
    [Wide::new(simd, cast(x[0])), Wide::new(simd, cast(x[1])), Wide::new(simd, cast(x[2]))]
}

#[inline(always)]
fn numbers<S: Simd>(x: [Wide<S>; 3]) -> [[f64; LANES]; 3] {
    [cast(x[0].value), cast(x[1].value), cast(x[2].value)]
}
