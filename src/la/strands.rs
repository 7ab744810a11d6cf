//! Block-tridiagonal LDLᵀ of long beams: the chain is cut into strands, which the lanes of a vector work on side by side.
//!
//! Factor and separators are those of [`super::blocks`]. Right-hand sides keep the order of the chain; they are turned into
//! lanes and back while they are read and written.

#[cfg(test)]
mod tests;

use super::Processor;
use super::blocks::{self, Blocks, Given, Links, Reduced};
use super::chain::Chain;
use super::factor::Singular;
use super::lanes::{LANES, Row, Task};
use super::number::{Number, groups, groups_mut, load, store};
use super::small::{PLACE, backward, forward, full, minus_columns, minus_rows};
use super::symmetric::Pattern;

/// Blocks from which on lanes are faster than plain code.
pub const LONG: usize = 28;

/// What level chains keep of a pivot and of a multiplier.
const LEVEL_PIVOT: [usize; 4] = [2, 3, 4, 5];
const LEVEL_LOWER: [usize; 5] = [0, 4, 5, 7, 8];

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
    /// Multipliers of a block for the one before it; first the couplings of these two.
    lower: Vec<f64>,
    /// Multipliers of a block for the separator of the next strand.
    fill: Vec<f64>,
    filled_from: usize,
    /// Whether the first unknowns of the blocks couple with each other alone, as in a level beam: pivots and multipliers are then
    /// stored without the zeros, four and five numbers per row.
    level: bool,
    reduced: Reduced,
    y: Vec<f64>,
    arch: Processor,
}

impl Strands {
    /// The strands of a pattern, if it is a chain of blocks of order three that is long enough for the processor's lanes.
    pub fn recognise(pattern: &Pattern) -> Option<Strands> {
        let (n, arch) = (pattern.n, Processor::new());
        if n < 3 * LONG || !arch.has_vectors() {
            return None;
        }
        let offset = Chain::<3>::recognise(pattern, n)?.offset();
        let count = (n + offset).div_ceil(3).div_ceil(LANES);
        let numbers = |per: usize, rows: usize| vec![0.0; per * rows * LANES];
        Some(Strands {
            n,
            offset,
            count,
            pivot: numbers(6, count + 1),
            lower: numbers(9, count + 1),
            fill: numbers(9, count),
            filled_from: count,
            level: false,
            reduced: Reduced::new(LANES),
            y: numbers(3, count + 1),
            arch,
        })
    }

    /// Factors the matrix with these values.
    pub fn factor(&mut self, pattern: &Pattern, values: &[f64]) -> Result<(), Singular> {
        self.load(pattern, values);
        let (before, behind) = self.lower.split_at_mut(9 * self.count * LANES);
        for k in 0..9 {
            // The coupling behind the last block of a strand stands before the first block of the next.
            for lane in 0..LANES - 1 {
                behind[k * LANES + lane] = before[k * LANES + lane + 1];
            }
        }
        let Strands { pivot, lower, fill, reduced, count, arch, .. } = &mut *self;
        let factor = blocks::Factorize { pivot, lower, fill, reduced, x: &mut [] };
        let filled_from = arch.run(Factorize { count: *count, factor });
        self.filled_from = filled_from.ok_or_else(|| {
            // Plain code says where.
            let plain =
                Chain::<3>::recognise(pattern, self.n).and_then(|mut chain| chain.factor(pattern, values).err());
            plain.unwrap_or(Singular { row: 0 })
        })?;
        // Before the first block there is no multiplier.
        let zeros = |x: &[f64], per: usize, none: &[usize]| {
            let mut rows = x.chunks_exact(per * LANES).take(self.count).skip(1);
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
        let inner = rows.flat_map(|row| &row[(per - 3) * LANES..]).filter(|d| **d < 0.0).count();
        inner + self.reduced.negative()
    }

    /// Solves in place.
    pub fn solve(&mut self, b: &mut [f64]) {
        let chain = Layout { n: self.n, offset: self.offset, count: self.count };
        let Strands { pivot, lower, fill, filled_from, level, reduced, y, .. } = self;
        let solve = Solve { chain, pivot, lower, fill, from: *filled_from, reduced, y, b };
        if *level { self.arch.run(Level(solve)) } else { self.arch.run(solve) }
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

/// Blocks that stand where their factor will: links bring the block of their first row and the coupling.
struct Stored<N: Number>(N::Set);

impl<N: Number> Links<N> for Stored<N> {
    const KEEPS: bool = true;

    #[inline(always)]
    fn blocks<const HELD: bool>(&self, given: Given<N>, e: usize) -> Blocks<N> {
        Blocks(load(self.0, &given.pivots[e]), full(&load(self.0, &given.lower[e + 1])), None)
    }

    #[inline(always)]
    fn holds(&self, _: std::ops::Range<usize>) -> bool {
        false
    }
}

struct Factorize<'a> {
    count: usize,
    factor: blocks::Factorize<'a>,
}

impl Task for Factorize<'_> {
    /// First row with fill, if the matrix is regular.
    type Output = Option<usize>;

    #[inline(always)]
    fn run<N: Number<Row = Row>>(self, set: N::Set) -> Option<usize> {
        self.factor.run::<false, N, _>(set, Stored(set), self.count)
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
    fn get(&self, b: &[f64], j: usize) -> [Row; 3] {
        let mut x = [[0.0; LANES]; 3];
        self.each(j, |k, lane, row| x[k][lane] = b[row]);
        x
    }

    #[inline(never)]
    fn set(&self, b: &mut [f64], j: usize, x: &[Row; 3]) {
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

impl Task for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run<N: Number<Row = Row>>(self, set: N::Set) {
        self.solve::<6, 9, N>(set);
    }
}

/// A solution with a factor that is stored without zeros.
struct Level<'a>(Solve<'a>);

impl Task for Level<'_> {
    type Output = ();

    #[inline(always)]
    fn run<N: Number<Row = Row>>(self, set: N::Set) {
        self.0.solve::<4, 5, N>(set);
    }
}

impl Solve<'_> {
    /// With so many numbers to a pivot and to a multiplier.
    #[inline(always)]
    fn solve<const P: usize, const L: usize, N: Number<Row = Row>>(self, set: N::Set) {
        let Solve { chain, b, .. } = self;
        let count = chain.count;
        let (pivots, lower) = (&groups::<P, N>(self.pivot)[..count], &groups::<L, N>(self.lower)[..count]);
        let fill = &groups::<9, N>(self.fill)[..count];
        let factor = Kept { set, pivots, lower, fill, from: self.from };
        let y = &mut groups_mut::<3, N>(self.y)[..count + 1];
        let whole = chain.whole().clamp(1, count);
        let zero = N::splat(set, 0.0);
        let (mut next, mut own) = ([zero; 3], [zero; 3]);
        for j in (whole..count).rev() {
            (own, y[j]) = factor.eliminate(j, load(set, &chain.get(b, j)), own, &mut next);
        }
        let parts: [&[[f64; 3]]; LANES] =
            std::array::from_fn(|lane| &b[chain.second(lane)..].as_chunks().0[..whole - 1]);
        for j in (1..whole).rev() {
            let [p, q, r, s] = [parts[0][j - 1], parts[1][j - 1], parts[2][j - 1], parts[3][j - 1]];
            let x = [[p[0], q[0], r[0], s[0]], [p[1], q[1], r[1], s[1]], [p[2], q[2], r[2], s[2]]];
            (own, y[j]) = factor.eliminate(j, load(set, &x), own, &mut next);
        }
        own = minus_multiplier(&load(set, &chain.get(b, 0)), &load(set, &lower[1]), &own);
        (y[0], y[count]) = (store(own), store(next));
        self.reduced.eliminate(self.y);
        self.reduced.substitute(self.y);
        let y = &groups::<3, N>(self.y)[..count + 1];
        chain.set(b, 0, &y[0]);
        let (mut x, next) = (load(set, &y[0]), load(set, &y[count]));
        let mut rest = &mut b[chain.second(0)..];
        let parts: [&mut [[f64; 3]]; LANES] = std::array::from_fn(|_| {
            let length = rest.len().min(3 * count);
            let part = rest.split_off_mut(..length).unwrap_or_default();
            &mut part.as_chunks_mut().0[..whole - 1]
        });
        for j in 1..whole {
            x = factor.spread(j, &y[j], x, &next);
            let [p, q, r] = store(x);
            for lane in 0..LANES {
                parts[lane][j - 1] = [p[lane], q[lane], r[lane]];
            }
        }
        for j in whole..count {
            x = factor.spread(j, &y[j], x, &next);
            chain.set(b, j, &store(x));
        }
    }
}

/// The factor in vectors.
struct Kept<'a, const P: usize, const L: usize, N: Number> {
    set: N::Set,
    pivots: &'a [[N::Row; P]],
    lower: &'a [[N::Row; L]],
    fill: &'a [[N::Row; 9]],
    /// First row with fill.
    from: usize,
}

// Not closures: one that is not inlined would not be compiled for what the processor has.
impl<const P: usize, const L: usize, N: Number> Kept<'_, P, L, N> {
    /// L⁻¹ times the right-hand side of a block, less what the block behind it brings, and D⁻¹ times that; and what it leaves
    /// for the next separator.
    #[inline(always)]
    fn eliminate(&self, j: usize, x: [N; 3], behind: [N; 3], next: &mut [N; 3]) -> ([N; 3], [N::Row; 3]) {
        // Behind the last block there is none: zero times whatever stands there.
        let lower = &self.lower[(j + 1).min(self.lower.len() - 1)];
        let pivot = load(self.set, &self.pivots[j]);
        let y = forward_through(&pivot, &minus_multiplier(&x, &load(self.set, lower), &behind));
        if j >= self.from {
            *next = minus_rows(next, &full(&load(self.set, &self.fill[j])), &y);
        }
        let [.., d0, d1, d2] = pivot[..] else { unreachable!("a pivot has four or six numbers") };
        (y, store([d0 * y[0], d1 * y[1], d2 * y[2]]))
    }

    /// Solution of a block from its eliminated right-hand side, that of the block before it and that of the next separator.
    #[inline(always)]
    fn spread(&self, j: usize, y: &[N::Row; 3], before: [N; 3], next: &[N; 3]) -> [N; 3] {
        let mut own = load(self.set, y);
        if j >= self.from {
            own = minus_columns(&own, &full(&load(self.set, &self.fill[j])), next);
        }
        own = minus_transposed(&own, &load(self.set, &self.lower[j]), &before);
        backward_through(&load(self.set, &self.pivots[j]), &own)
    }
}

/// y − A x with a multiplier A, of nine numbers or of five.
#[inline(always)]
fn minus_multiplier<const L: usize, N: Number>(y: &[N; 3], a: &[N; L], x: &[N; 3]) -> [N; 3] {
    if let Some(a) = a.first_chunk::<9>() {
        return minus_rows(y, &full(a), x);
    }
    let first = a[0].take_from(x[0], y[0]);
    let second = a[2].take_from(x[2], a[1].take_from(x[1], y[1]));
    [first, second, a[4].take_from(x[2], a[3].take_from(x[1], y[2]))]
}

/// y − Aᵀ x with a multiplier A, of nine numbers or of five.
#[inline(always)]
fn minus_transposed<const L: usize, N: Number>(y: &[N; 3], a: &[N; L], x: &[N; 3]) -> [N; 3] {
    if let Some(a) = a.first_chunk::<9>() {
        return minus_columns(y, &full(a), x);
    }
    minus_multiplier(y, &[a[0], a[1], a[3], a[2], a[4]], x)
}

/// L⁻¹ x with a pivot of six numbers or of four.
#[inline(always)]
fn forward_through<const P: usize, N: Number>(a: &[N; P], x: &[N; 3]) -> [N; 3] {
    if let Some(a) = a.first_chunk::<6>() {
        return forward(a, x);
    }
    [x[0], x[1], a[0].take_from(x[1], x[2])]
}

/// L⁻ᵀ x with a pivot of six numbers or of four.
#[inline(always)]
fn backward_through<const P: usize, N: Number>(a: &[N; P], x: &[N; 3]) -> [N; 3] {
    if let Some(a) = a.first_chunk::<6>() {
        return backward(a, x);
    }
    [x[0], a[0].take_from(x[2], x[1]), x[2]]
}
