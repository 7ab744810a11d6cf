//! One face for all factorizations: chains by our own block-tridiagonal LDLᵀ, everything else by faer.

use super::chain::Chain;
use super::paths::Paths;
use super::strands::Strands;
use super::symmetric::{Pattern, Symmetric};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::ldlt::factor::LdltRegularization;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LdltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side, Spec};
use std::ops::Range;

/// A pivot vanished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Singular {
    /// A row at which it did.
    pub row: usize,
}

/// Factor of the leading rows of a symmetric matrix. The order of elimination depends on the pattern alone.
pub struct Factor {
    n: usize,
    /// Blocks along the diagonal that do not couple, each factored by itself.
    parts: Vec<Part>,
    /// Part of every row.
    owner: Vec<u32>,
}

struct Part {
    rows: Range<usize>,
    /// Its entries in the values of the whole.
    entries: Range<usize>,
    pattern: Pattern,
    kind: Kind,
}

enum Kind {
    Bar(Chain<1>),
    Bars(Box<Paths>),
    Truss(Chain<2>),
    Beam(Chain<3>),
    Beams(Box<Strands>),
    General(Box<General>),
}

impl Factor {
    /// Symbolic work for the leading `n` rows of a pattern.
    pub fn new(pattern: &Pattern, n: usize) -> Factor {
        let parts: Vec<Part> = blocks(pattern, n).into_iter().map(|rows| Part::new(pattern, rows)).collect();
        let mut owner = vec![0; n];
        for (k, part) in parts.iter().enumerate() {
            owner[part.rows.clone()].fill(k as u32);
        }
        Factor { n, parts, owner }
    }

    /// Bytes that the factor of such a pattern takes; none of its numbers are made.
    pub fn bytes(pattern: &Pattern, n: usize) -> u64 {
        let part = |rows: Range<usize>| {
            let (_, own) = cut_out(pattern, &rows);
            let numbers = match chain(&own) {
                // Pivots, multipliers and couplings.
                Some(Kind::Bar(_)) => 24 * own.n,
                // The same, and the order, the entries and their pattern.
                Some(Kind::Bars(_)) => 40 * own.n + 16 * own.len(),
                Some(Kind::Truss(_)) => 48 * own.n,
                Some(Kind::Beam(_) | Kind::Beams(_)) => 72 * own.n,
                Some(Kind::General(_)) | None => General::bytes(&own),
            };
            (size_of::<Part>() + numbers + 4 * own.len() + 4 * own.n) as u64
        };
        4 * n as u64 + blocks(pattern, n).into_iter().map(part).sum::<u64>()
    }

    /// Which kind was recognised, for `check` and for tests: that of the most general part.
    pub fn name(&self) -> &'static str {
        let rank = |part: &Part| match part.kind {
            Kind::Bar(_) | Kind::Bars(_) => 1,
            Kind::Truss(_) => 2,
            Kind::Beam(_) | Kind::Beams(_) => 3,
            Kind::General(_) => 4,
        };
        let names = ["none", "chain of 1x1 blocks", "chain of 2x2 blocks", "chain of 3x3 blocks", "sparse LDL"];
        names[self.parts.iter().map(rank).max().unwrap_or(0)]
    }

    /// Numerical factorization.
    pub fn factor(&mut self, matrix: &Symmetric) -> Result<(), Singular> {
        self.parts.iter_mut().try_for_each(|part| part.factor(&matrix.values))
    }

    /// Number of negative eigenvalues of the matrix that was factored, by Sylvester's law of inertia: that of its pivots.
    pub fn negative(&self) -> usize {
        let count = |part: &Part| match &part.kind {
            Kind::Bar(chain) => chain.negative(),
            Kind::Bars(paths) => paths.negative(),
            Kind::Truss(chain) => chain.negative(),
            Kind::Beam(chain) => chain.negative(),
            Kind::Beams(strands) => strands.negative(),
            Kind::General(general) => general.negative(),
        };
        self.parts.iter().map(count).sum()
    }

    /// Solves in place; entries beyond the leading rows are left alone.
    pub fn solve(&mut self, b: &mut [f64]) {
        debug_assert!(b.len() >= self.n);
        self.parts.iter_mut().for_each(|part| part.solve(b));
    }

    /// Solves in place where the right-hand side is zero but for parts with these rows.
    pub fn solve_at(&mut self, rows: impl Iterator<Item = usize>, b: &mut [f64]) {
        // A contact touches three points at most, with three rows each.
        let (mut done, mut count) = ([u32::MAX; 9], 0);
        for row in rows.filter(|&row| row < self.n) {
            let part = self.owner[row];
            if !done[..count].contains(&part) {
                self.parts[part as usize].solve(b);
                done[count] = part;
                count += 1;
            }
        }
    }
}

/// The blocks along the diagonal that do not couple, of the leading `n` rows.
fn blocks(pattern: &Pattern, n: usize) -> Vec<Range<usize>> {
    let mut starts = Vec::new();
    let mut reach = usize::MAX;
    for column in (0..n).rev() {
        reach = reach.min(pattern.rows[pattern.starts[column] as usize] as usize);
        if reach >= column {
            starts.push(column);
        }
    }
    starts.reverse();
    let ends = starts.iter().skip(1).copied().chain([n]);
    starts.iter().zip(ends).map(|(&start, end)| start..end).collect()
}

/// A block along the diagonal: its entries in the values of the whole, and its own pattern.
fn cut_out(whole: &Pattern, rows: &Range<usize>) -> (Range<usize>, Pattern) {
    let entries = whole.starts[rows.start] as usize..whole.starts[rows.end] as usize;
    let (n, first) = (rows.len(), rows.start as u32);
    let pattern = Pattern {
        n,
        starts: whole.starts[rows.start..=rows.end].iter().map(|s| s - entries.start as u32).collect(),
        rows: whole.rows[entries.clone()].iter().map(|row| row - first).collect(),
    };
    (entries, pattern)
}

/// The chain that a pattern is, if it is one.
fn chain(pattern: &Pattern) -> Option<Kind> {
    let n = pattern.n;
    let chain = Chain::recognise(pattern, n).map(Kind::Bar);
    let chain = chain.or_else(|| Paths::recognise(pattern).map(|paths| Kind::Bars(Box::new(paths))));
    let chain = chain.or_else(|| Chain::recognise(pattern, n).map(Kind::Truss));
    let chain = chain.or_else(|| Strands::recognise(pattern).map(|strands| Kind::Beams(Box::new(strands))));
    chain.or_else(|| Chain::recognise(pattern, n).map(Kind::Beam))
}

impl Part {
    fn new(whole: &Pattern, rows: Range<usize>) -> Part {
        let (entries, pattern) = cut_out(whole, &rows);
        let kind = chain(&pattern).unwrap_or_else(|| Kind::General(Box::new(General::new(&pattern, rows.len()))));
        Part { rows, entries, pattern, kind }
    }

    fn factor(&mut self, values: &[f64]) -> Result<(), Singular> {
        let values = &values[self.entries.clone()];
        match &mut self.kind {
            Kind::Bar(chain) => chain.factor(&self.pattern, values),
            Kind::Bars(paths) => paths.factor(values),
            Kind::Truss(chain) => chain.factor(&self.pattern, values),
            Kind::Beam(chain) => chain.factor(&self.pattern, values),
            Kind::Beams(strands) => strands.factor(&self.pattern, values),
            Kind::General(general) => general.factor(&self.pattern, values),
        }
        .map_err(|singular| Singular { row: self.rows.start + singular.row })
    }

    fn solve(&mut self, b: &mut [f64]) {
        let b = &mut b[self.rows.clone()];
        match &mut self.kind {
            Kind::Bar(chain) => chain.solve(b),
            Kind::Bars(paths) => paths.solve(b),
            Kind::Truss(chain) => chain.solve(b),
            Kind::Beam(chain) => chain.solve(b),
            Kind::Beams(strands) => strands.solve(b),
            Kind::General(general) => general.solve(b),
        }
    }
}

/// faer's sparse LDLᵀ with minimum-degree ordering.
struct General {
    n: usize,
    symbolic: SymbolicCholesky<u32>,
    values: Vec<f64>,
    memory: MemBuffer,
}

impl General {
    fn new(pattern: &Pattern, n: usize) -> General {
        let (symbolic, scratch) = General::symbolic(pattern, n);
        General { n, values: vec![0.0; symbolic.len_val()], symbolic, memory: MemBuffer::new(scratch) }
    }

    /// Bytes of the factor, its structure and its scratch.
    fn bytes(pattern: &Pattern) -> usize {
        let (symbolic, scratch) = General::symbolic(pattern, pattern.n);
        8 * symbolic.len_val() + scratch.unaligned_bytes_required() + 32 * pattern.n
    }

    /// The structure of the factor, and the scratch that it needs.
    fn symbolic(pattern: &Pattern, n: usize) -> (SymbolicCholesky<u32>, StackReq) {
        let matrix = leading(pattern, n);
        // Supernodes pay off on frames beyond a few hundred unknowns; below, the simplicial code is leaner.
        let threshold =
            if n < 300 { SupernodalThreshold::FORCE_SIMPLICIAL } else { SupernodalThreshold::FORCE_SUPERNODAL };
        let parameters = CholeskySymbolicParams { supernodal_flop_ratio_threshold: threshold, ..Default::default() };
        let symbolic = factorize_symbolic_cholesky(matrix, Side::Upper, SymmetricOrdering::Amd, parameters)
            .expect("only running out of memory fails here, and that aborts");
        let scratch = StackReq::any_of(&[
            symbolic.factorize_numeric_ldlt_scratch::<f64>(Par::Seq, Spec::default()),
            symbolic.solve_in_place_scratch::<f64>(1, Par::Seq),
        ]);
        (symbolic, scratch)
    }

    fn factor(&mut self, pattern: &Pattern, values: &[f64]) -> Result<(), Singular> {
        let end = pattern.starts[self.n] as usize;
        let matrix = SparseColMatRef::<u32, f64>::new(leading(pattern, self.n), &values[..end]);
        self.symbolic
            .factorize_numeric_ldlt(
                &mut self.values,
                matrix,
                Side::Upper,
                LdltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut self.memory),
                Spec::default(),
            )
            .map(|_| ())
            .map_err(|_| Singular { row: 0 })?;
        // A NaN or an infinite value passes through the elimination without an error.
        if self.values.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Singular { row: 0 }) }
    }

    /// D stands on the diagonal of L.
    fn negative(&self) -> usize {
        let negative = |place: usize| usize::from(self.values[place] < 0.0);
        match self.symbolic.raw() {
            SymbolicCholeskyRaw::Simplicial(symbolic) => {
                symbolic.col_ptr()[..self.n].iter().map(|&start| negative(start as usize)).sum()
            }
            SymbolicCholeskyRaw::Supernodal(symbolic) => {
                let starts = symbolic.col_ptr_for_val().windows(2).map(|pair| [pair[0] as usize, pair[1] as usize]);
                let columns = symbolic.supernode_begin().iter().zip(symbolic.supernode_end());
                let nodes = starts.zip(columns.map(|(&begin, &end)| (end - begin) as usize));
                // A supernode is a full matrix, column by column.
                let count = |([start, end], columns): ([usize; 2], usize)| {
                    let rows = (end - start) / columns.max(1);
                    (0..columns).map(|k| negative(start + k * (rows + 1))).sum::<usize>()
                };
                nodes.map(count).sum()
            }
        }
    }

    fn solve(&mut self, b: &mut [f64]) {
        let n = b.len();
        LdltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(b, n, 1),
            Par::Seq,
            MemStack::new(&mut self.memory),
        );
    }
}

/// The leading block, as faer sees it: upper triangle only, because its natural ordering reads nothing else.
fn leading(pattern: &Pattern, n: usize) -> SymbolicSparseColMatRef<'_, u32> {
    let end = pattern.starts[n] as usize;
    SymbolicSparseColMatRef::new_checked(n, n, &pattern.starts[..n + 1], None, &pattern.rows[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// A chain of `nodes` nodes with `per` unknowns each, without its first `skip` unknowns, with random SPD blocks.
    fn chain(nodes: usize, per: usize, skip: usize) -> Symmetric {
        let n = nodes * per - skip;
        let mut cliques: Vec<Vec<u32>> = Vec::new();
        for e in 0..nodes - 1 {
            cliques.push((e * per..(e + 2) * per).filter(|&i| i >= skip).map(|i| (i - skip) as u32).collect());
        }
        let pattern = Arc::new(Pattern::from_cliques(n, cliques.iter().map(|c| c.as_slice())));
        let mut a = Symmetric::zeros(pattern);
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as f64 / (1u64 << 31) as f64 - 0.5
        };
        for clique in &cliques {
            let x: Vec<f64> = clique.iter().map(|_| random()).collect();
            for (i, &r) in clique.iter().enumerate() {
                for (j, &c) in clique.iter().enumerate() {
                    if r <= c {
                        a.add(r as usize, c as usize, x[i] * x[j] + if r == c { 1.0 } else { 0.0 });
                    }
                }
            }
        }
        a
    }

    fn residual(a: &Symmetric, factor: &mut Factor) -> f64 {
        let n = a.pattern.n;
        let b: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin() + 0.1).collect();
        let mut x = b.clone();
        factor.factor(a).unwrap();
        factor.solve(&mut x);
        let mut r = vec![0.0; n];
        a.multiply(&x, &mut r);
        r.iter().zip(&b).map(|(u, v)| (u - v).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn chains_are_recognised_and_solved() {
        for (per, name) in [(1, "chain of 1x1 blocks"), (2, "chain of 2x2 blocks"), (3, "chain of 3x3 blocks")] {
            for skip in 0..per {
                for nodes in [2, 3, 17] {
                    let a = chain(nodes, per, skip);
                    let mut factor = Factor::new(&a.pattern, a.pattern.n);
                    if nodes == 17 {
                        assert_eq!(factor.name(), name, "skip {skip}");
                    }
                    assert!(residual(&a, &mut factor) < 1e-13);
                }
            }
        }
    }

    #[test]
    fn paths_in_any_order_are_walked() {
        // Two lines, their rows dealt out like cards, and one row by itself.
        let lines = [vec![0, 7, 3, 9, 5, 1], vec![8, 2, 6], vec![4]];
        let cliques: Vec<Vec<u32>> = lines.iter().flat_map(|line| line.windows(2).map(<[u32]>::to_vec)).collect();
        let alone = vec![vec![4]];
        let pattern = Pattern::from_cliques(10, cliques.iter().chain(&alone).map(Vec::as_slice));
        let mut a = Symmetric::zeros(Arc::new(pattern));
        (0..10).for_each(|i| a.add(i, i, 2.5 + i as f64));
        for (k, pair) in cliques.iter().enumerate() {
            a.add(pair[0].min(pair[1]) as usize, pair[0].max(pair[1]) as usize, -0.3 - k as f64 * 0.1);
        }
        let mut factor = Factor::new(&a.pattern, 10);
        assert_eq!(factor.name(), "chain of 1x1 blocks");
        assert!(residual(&a, &mut factor) < 1e-15);
        let ring = Pattern::from_cliques(4, [[0, 1], [1, 2], [2, 3], [0, 3]].iter().map(|pair| pair.as_slice()));
        assert_ne!(Factor::new(&ring, 4).name(), "chain of 1x1 blocks");
    }

    #[test]
    fn general_matrices_go_to_faer_and_agree() {
        for nodes in [5, 150] {
            let a = chain(nodes, 4, 0);
            let mut factor = Factor::new(&a.pattern, a.pattern.n);
            assert_eq!(factor.name(), "sparse LDL");
            assert!(residual(&a, &mut factor) < 1e-12);
        }
    }

    #[test]
    fn a_leading_block_is_solved_alone() {
        let a = chain(6, 3, 0);
        let mut factor = Factor::new(&a.pattern, 12);
        factor.factor(&a).unwrap();
        let mut b = vec![1.0; 18];
        factor.solve(&mut b);
        assert_eq!(b[12..], [1.0; 6]);
        b[12..].fill(0.0);
        let mut y = vec![0.0; 18];
        a.multiply(&b, &mut y);
        assert!(y[..12].iter().all(|v| (v - 1.0).abs() < 1e-13));
    }

    /// Random symmetric matrices of every kind, shifted into the middle of their spectra: pivots against eigenvalues.
    #[test]
    fn negative_pivots_are_negative_eigenvalues() {
        for (nodes, per) in [2, 3, 17, 40].into_iter().flat_map(|nodes| [1, 2, 3, 4].map(|per| (nodes, per))) {
            for skip in 0..per {
                let mut a = chain(nodes, per, skip);
                let n = a.pattern.n;
                // Without this most eigenvalues are one or two.
                (0..n).for_each(|i| a.add(i, i, 2.0 + 2.0 * (i as f64 * 0.7).sin()));
                let full = |a: &Symmetric| {
                    nalgebra::DMatrix::from_fn(n, n, |i, j| {
                        a.pattern.position(i.min(j), i.max(j)).map_or(0.0, |k| a.values[k])
                    })
                };
                let mut eigenvalues: Vec<f64> = full(&a).symmetric_eigenvalues().iter().copied().collect();
                eigenvalues.sort_by(f64::total_cmp);
                for count in [0, 1, n / 3, n - 1] {
                    let shift = if count == 0 { 0.0 } else { 0.5 * (eigenvalues[count - 1] + eigenvalues[count]) };
                    (0..n).for_each(|i| a.add(i, i, -shift));
                    let wanted = eigenvalues.iter().filter(|value| **value < shift).count();
                    let mut factor = Factor::new(&a.pattern, n);
                    factor.factor(&a).unwrap();
                    assert_eq!(factor.negative(), wanted, "{} {nodes} {per} {skip}", factor.name());
                    (0..n).for_each(|i| a.add(i, i, shift));
                }
            }
        }
        // Large enough for supernodes.
        let mut a = chain(100, 4, 0);
        (0..200).for_each(|i| a.add(i, i, -20.0));
        let mut factor = Factor::new(&a.pattern, 400);
        factor.factor(&a).unwrap();
        let mut blocks = Factor::new(&a.pattern, 200);
        blocks.factor(&a).unwrap();
        assert_eq!((blocks.negative(), factor.negative()), (200, 200));
    }

    #[test]
    fn singular_matrices_are_errors() {
        for per in [1, 2, 3, 4] {
            let mut a = chain(40, per, 0);
            a.values.fill(0.0);
            let mut factor = Factor::new(&a.pattern, a.pattern.n);
            assert!(factor.factor(&a).is_err(), "{}", factor.name());
            a.values.fill(f64::NAN);
            assert!(factor.factor(&a).is_err(), "NaN in {}", factor.name());
        }
    }
}
