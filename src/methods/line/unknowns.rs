//! A system as a line of unknowns, each coupled to its neighbours alone: its arrays, and the factor of its matrix.
//!
//! All arrays are woven, see [`crate::la::lanes`].

use super::kick::Answers;
use crate::la::Symmetric;
use crate::la::lanes::{LANES, Row, Weave};
use crate::la::repeats::stretch;
use crate::relations::Scene;
use crate::schemes::Tableau;
use crate::system::System;
use aligned_vec::AVec;
use std::ops::Range;

/// Entries below this part of the largest change no digit; they are left out, before they become subnormal.
pub(super) const NEGLIGIBLE: f64 = 1e-20;

/// Rows in a block.
pub(super) const BLOCK: usize = 64;

/// Values that go on from one piece of the line to the next are zero below 1e-16 of this: far ahead of a wave they would
/// decay into subnormal numbers, with which some processors take a hundred times longer.
pub(super) const DUST: f64 = 1e-80;

/// The rows of a woven array, and what is behind them.
#[inline(always)]
pub(super) fn split(x: &[f64], n: usize) -> (&[Row], &[f64]) {
    x[..n].as_chunks()
}

#[inline(always)]
pub(super) fn split_mut(x: &mut [f64], n: usize) -> (&mut [Row], &mut [f64]) {
    x[..n].as_chunks_mut()
}

/// The values of the unknowns after those of the last row: in the next lane, or behind all rows.
#[inline(always)]
pub(super) fn after(first: &Row, behind: f64) -> Row {
    [first[1], first[2], first[3], behind]
}

/// The values of the unknowns before those of the first row.
#[inline(always)]
pub(super) fn before(last: &Row) -> Row {
    [0.0, last[0], last[1], last[2]]
}

/// The last number in the rows of an array, and then those behind them; zeros if it is absent.
#[inline(always)]
pub(super) fn from_last_lane(rows: &[Row], tail: &[f64]) -> Row {
    let [a, b, c] = [0, 1, 2].map(|k| tail.get(k).copied().unwrap_or(0.0));
    [rows.last().map_or(0.0, |row| row[LANES - 1]), a, b, c]
}

/// Masses and stiffnesses.
pub(super) struct Line {
    pub n: usize,
    pub weave: Weave,
    /// Diagonal of the mass matrix.
    pub mass: Vec<f64>,
    /// Entries of the mass matrix, and stiffnesses, between an unknown and the one before it. The first unknown may have
    /// a support before it.
    pub coupling: Vec<f64>,
    pub stiffness: Vec<f64>,
    /// Stiffness between the last unknown and a support after it.
    pub last_stiffness: f64,
    /// Diagonal of the damping matrix and its entries between an unknown and the one before it; empty if there is none.
    pub damping: [Vec<f64>; 2],
    /// Force of gravity; empty if there is none.
    pub gravity: Vec<f64>,
}

impl Line {
    /// The line form of a system, if it has one.
    pub fn recognise(system: &System) -> Option<Line> {
        let (n, total) = (system.nodes.free, system.nodes.total);
        let weave = system.nodes.weave?;
        if !system.linear {
            return None;
        }
        let mut offset = vec![0.0; total];
        system.internal(&vec![0.0; total], &mut offset);
        if offset.iter().any(|&f| f != 0.0) {
            return None;
        }
        let gravity = &system.gravity[..n];
        let mut line = Line {
            n,
            weave,
            mass: vec![0.0; n],
            coupling: vec![0.0; n],
            stiffness: vec![0.0; n],
            last_stiffness: 0.0,
            damping: system.damping.as_ref().map_or(Some([const { Vec::new() }; 2]), |c| tridiagonal(c, n, weave))?,
            gravity: if gravity.iter().any(|&f| f != 0.0) { gravity.to_vec() } else { Vec::new() },
        };
        let mut held = [None; 2];
        for element in &system.elements {
            let block = element.block();
            for e in 0..block.len() {
                let (mass, stiffness) = (element.mass(e), element.tangent(e, &system.q0).stiffness);
                let dofs = block.element(e);
                for (i, &dof) in dofs.iter().enumerate().filter(|(_, dof)| (**dof as usize) < n) {
                    line.mass[dof as usize] += mass[(i, i)];
                }
                match *dofs {
                    [_] if stiffness[(0, 0)] == 0.0 => {}
                    [a, b] => {
                        let k = stiffness[(0, 0)];
                        if stiffness[(0, 1)] != -k || stiffness[(1, 0)] != -k || stiffness[(1, 1)] != k {
                            return None;
                        }
                        line.join([a, b].map(|dof| dof as usize), k, mass[(0, 1)], &mut held)?;
                    }
                    _ => return None,
                }
            }
        }
        Some(line)
    }

    /// Adds an element; `held` are the supports beyond the ends.
    fn join(&mut self, dofs: [usize; 2], k: f64, m: f64, held: &mut [Option<usize>; 2]) -> Option<()> {
        let n = self.n;
        let [a, b] = dofs.map(|dof| if dof < n { self.weave.unknown(dof) } else { dof });
        let (low, high) = (a.min(b), a.max(b));
        if low >= n || (k == 0.0 && m == 0.0) {
            return Some(());
        }
        if high < n {
            let place = self.weave.place(high);
            self.stiffness[place] += k;
            self.coupling[place] += m;
            return (high == low + 1).then_some(());
        }
        let end = match low {
            0 => 0,
            _ if low == n - 1 => 1,
            _ => return None,
        };
        *(if end == 0 { &mut self.stiffness[0] } else { &mut self.last_stiffness }) += k;
        (*held[end].get_or_insert(high) == high).then_some(())
    }

    /// Stiffness between unknown i of the line and the one before it.
    pub fn stiffness_before(&self, i: usize) -> f64 {
        if i < self.n { self.stiffness[self.weave.place(i)] } else { self.last_stiffness }
    }
}

/// Diagonal of a matrix, and its entries between an unknown and the one before, if it has no others.
fn tridiagonal(matrix: &Symmetric, n: usize, weave: Weave) -> Option<[Vec<f64>; 2]> {
    let [mut own, mut coupling] = [(); 2].map(|()| vec![0.0; n]);
    let pattern = &matrix.pattern;
    for column in 0..n {
        for k in pattern.starts[column] as usize..pattern.starts[column + 1] as usize {
            let [a, b] = [pattern.rows[k] as usize, column].map(|dof| weave.unknown(dof));
            match a.abs_diff(b) {
                0 => own[column] = matrix.values[k],
                1 => coupling[weave.place(a.max(b))] = matrix.values[k],
                _ if matrix.values[k] == 0.0 => {}
                _ => return None,
            }
        }
    }
    Some([own, coupling])
}

/// Factor of Â. The first unknown of each lane is a separator and is eliminated after all others, which are eliminated
/// from the end of their lane to its beginning. An unknown is eliminated from the one before it with `lower` of its own,
/// and from the next separator with `fill`.
pub(super) struct Lanes {
    pub weave: Weave,
    pub weights: Weights,
    /// Of every unknown the stiffness to the one before and `lower`; half its mass, coupling to the one before, and pivot. What is
    /// read together lies together: with more streams than the first cache has ways, they would push each other out.
    pub edges: Woven<2>,
    pub masses: Woven<3>,
    /// From the row on before which there is none.
    pub fill: AVec<Row>,
    /// All rows in order, the first one apart.
    pub pieces: Vec<Piece>,
    /// Inverse of the matrix of the separators, by columns: a product waits less than a recurrence, and passes wait for it.
    reduced: [Row; LANES],
}

/// Constants of all unknowns: of rows, and of those behind all rows.
pub(super) struct Woven<const K: usize> {
    pub rows: AVec<[Row; K]>,
    pub tail: Vec<[f64; K]>,
}

impl<const K: usize> Woven<K> {
    fn of(arrays: [&[f64]; K]) -> Woven<K> {
        let split = arrays.map(|x| split(x, x.len()));
        let [(rows, tail), ..] = &split[..] else { return Woven { rows: AVec::new(0), tail: Vec::new() } };
        Woven {
            rows: AVec::from_iter(0, (0..rows.len()).map(|j| split.map(|x| x.0[j]))),
            tail: (0..tail.len()).map(|j| split.map(|x| x.1[j])).collect(),
        }
    }

    /// Constant k of the unknown at a place.
    fn at(&self, place: usize, k: usize) -> f64 {
        let behind = LANES * self.rows.len();
        if place < behind { self.rows[place / LANES][k][place % LANES] } else { self.tail[place - behind][k] }
    }
}

/// Numbers of (T27) for a step size.
pub(super) struct Weights {
    pub h: f64,
    /// Old acceleration and x in the velocity and in the place, a jump in the place.
    pub g: [f64; 2],
    pub b: [f64; 2],
    pub c: f64,
    /// Old velocity and acceleration in the place that counts for forces; old acceleration in the velocity that counts.
    pub middle: [f64; 2],
    pub middle_rate: f64,
    /// Old acceleration in x.
    pub old: f64,
}

impl Weights {
    fn new(row: &Tableau, h: f64) -> Weights {
        let old = row.alpha_m / (1.0 - row.alpha_m);
        let g = [h * (row.g0 - row.g1 * old), h * row.g1];
        let b = [h * h * (row.b0 - row.b1 * old), h * h * row.b1];
        let late = 1.0 - row.alpha_f;
        Weights { h, g, b, c: h * row.c, middle: [late * h, late * b[0]], middle_rate: (1.0 - row.alpha_c) * g[0], old }
    }
}

/// Rows that are treated alike, few enough to stay in the cache.
pub(super) struct Piece {
    pub rows: Range<usize>,
    /// First of the rows that their constants are read from: their own, or earlier ones that have the same.
    pub constants: usize,
    /// Whether there is `fill` in them: the place of the first one in it.
    pub filled: Option<usize>,
    /// Whether impulses reach them: the place of the first one in every [`Response`].
    pub reached: Option<usize>,
}

impl Lanes {
    /// Factor for a step size, with the answers to all contacts of a scene. Pivots of a matrix that the general factor
    /// accepted are taken as they are.
    pub fn new(
        line: &Line,
        row: &Tableau,
        h: f64,
        scene: &Scene,
        solve_mass: &mut dyn FnMut(&mut Vec<f64>),
    ) -> (Lanes, Answers) {
        let (n, weave) = (line.n, line.weave);
        let (m, k) = (1.0 - row.alpha_m, (1.0 - row.alpha_f) * h * h * row.b1);
        let stiff = |i: usize| line.stiffness_before(i) + line.stiffness_before(i + 1);
        let drag = |part: usize, place: usize| {
            line.damping[part].get(place).map_or(0.0, |c| (1.0 - row.alpha_c) * h * row.g1 * c)
        };
        let own = |i: usize, place: usize| m * line.mass[place] + k * stiff(i) + drag(0, place);
        let mut diagonal: Vec<f64> = (0..n).map(|i| own(i, weave.place(i))).collect();
        let beside = |place: usize| m * line.coupling[place] - k * line.stiffness[place] + drag(1, place);
        let off = |i: usize| beside(weave.place(i));
        let [mut lower, mut fills, mut pivot] = [0.0, 0.0, 1.0].map(|x| vec![x; n]);
        let mut couplings = [0.0; LANES];
        let mut added = [0.0; LANES + 1];
        let mut filled_from = weave.rows;
        for lane in 0..LANES {
            let (begin, end) = range(n, lane);
            let mut fill = if lane + 1 < LANES { off(end) } else { 0.0 };
            for i in (begin + 1..end).rev() {
                let place = weave.place(i);
                pivot[place] = 1.0 / diagonal[i];
                lower[place] = off(i) * pivot[place];
                diagonal[i - 1] -= lower[place] * off(i);
                if fill != 0.0 {
                    fills[place] = fill * pivot[place];
                    filled_from = filled_from.min(i - begin);
                    added[lane + 1] -= fills[place] * fill;
                }
                fill *= -lower[place];
                if fill.abs() < NEGLIGIBLE * diagonal[i - 1].abs() {
                    fill = 0.0;
                }
            }
            couplings[lane] = fill;
        }
        let reduced = inverse(std::array::from_fn(|s| diagonal[range(n, s).0] + added[s]), couplings);
        let halves: Vec<f64> = line.mass.iter().map(|mass| 0.5 * mass).collect();
        let mut this = Lanes {
            weave,
            weights: Weights::new(row, h),
            edges: Woven::of([&line.stiffness, &lower]),
            masses: Woven::of([&halves, &line.coupling, &pivot]),
            fill: AVec::from_slice(0, &split(&fills, n).0[filled_from..]),
            pieces: Vec::new(),
            reduced,
        };
        let moves = [(1.0 - row.alpha_f) * h * row.c, 1.0 - row.alpha_c];
        let answers = Answers::new(&this, line, moves, scene, solve_mass);
        let (edges, masses) = (&this.edges.rows, &this.masses.rows);
        let alike = stretch(weave.rows, 1, |j| edges[j] == edges[j + 1] && masses[j] == masses[j + 1]);
        this.pieces = pieces(&answers.reached, filled_from, &alike);
        (this, answers)
    }

    /// Multiplier, fill and pivot at a place.
    pub fn at(&self, place: usize) -> [f64; 3] {
        let [row, lane] = [place / LANES, place % LANES];
        let filled = (row + self.fill.len()).checked_sub(self.weave.rows).and_then(|k| self.fill.get(k));
        [self.edges.at(place, 1), filled.map_or(0.0, |row| row[lane]), self.masses.at(place, 2)]
    }

    /// Eliminates all but the separators from a right-hand side along the line and returns what is left for them.
    pub fn eliminate(&self, y: &mut [f64]) -> Row {
        let mut left = [0.0; LANES];
        for lane in 0..LANES {
            let (begin, end) = range(y.len(), lane);
            for i in (begin + 1..end).rev() {
                let [lower, fill, _] = self.at(self.weave.place(i));
                y[i - 1] -= lower * y[i];
                if lane + 1 < LANES {
                    left[lane + 1] -= fill * y[i];
                }
            }
            left[lane] += y[begin];
        }
        left
    }

    /// x of (T27) at the separators from what is left for them.
    pub fn separators(&self, left: &Row) -> Row {
        let [a, b, c, d] = &self.reduced;
        std::array::from_fn(|s| (a[s] * left[0] + b[s] * left[1]) + (c[s] * left[2] + d[s] * left[3]))
    }

    /// x of (T27) at one place from the eliminated right-hand side, without that of all before it: only those are found
    /// again that still matter there.
    pub fn solution(&self, place: usize, y: &[f64], separators: &Row) -> f64 {
        if place < LANES {
            return separators[place];
        }
        let weave = self.weave;
        let i = weave.unknown(place);
        let lane = (i / weave.rows).min(LANES - 1);
        let begin = lane * weave.rows;
        let (mut from, mut reach) = (i, 1.0);
        while from > begin && reach > NEGLIGIBLE {
            reach *= self.at(weave.place(from))[0].abs();
            from -= 1;
        }
        let next = if lane + 1 < LANES { separators[lane + 1] } else { 0.0 };
        let mut x = if from == begin { separators[lane] } else { 0.0 };
        for place in (from + 1..=i).map(|j| weave.place(j)) {
            let [lower, fill, pivot] = self.at(place);
            x = pivot * y[place] - lower * x - fill * next;
        }
        x
    }
}

/// Columns of the inverse of a symmetric tridiagonal matrix; `off` are its entries after the diagonal.
fn inverse(diagonal: Row, off: Row) -> [Row; LANES] {
    let (mut pivot, mut lower) = (diagonal, [0.0; LANES]);
    for s in 1..LANES {
        lower[s] = off[s - 1] / pivot[s - 1];
        pivot[s] -= lower[s] * off[s - 1];
    }
    std::array::from_fn(|column| {
        let mut z = [0.0; LANES];
        z[column] = 1.0;
        for s in 1..LANES {
            z[s] -= lower[s] * z[s - 1];
        }
        z[LANES - 1] /= pivot[LANES - 1];
        for s in (0..LANES - 1).rev() {
            z[s] = z[s] / pivot[s] - lower[s + 1] * z[s + 1];
        }
        z
    })
}

/// First unknown of a lane of n unknowns and the one after its last; the last lane goes on behind the rows.
fn range(n: usize, lane: usize) -> (usize, usize) {
    let rows = n / LANES;
    (lane * rows, if lane + 1 == LANES { n } else { (lane + 1) * rows })
}

/// Cuts all rows behind the first one where they begin or cease to be reached, where `fill` begins, and into blocks; in
/// some of them all constants are `alike`.
fn pieces(reached: &[bool], filled_from: usize, alike: &Range<usize>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut begin, mut places) = (0, 0);
    while begin < reached.len() {
        let longest = if begin == 0 { 1 } else { BLOCK };
        let same = |row: &usize| reached[*row] == reached[begin] && (*row >= filled_from) == (begin >= filled_from);
        let end = begin + (begin..reached.len()).take(longest).take_while(same).count();
        let place = reached[begin].then_some(places);
        places += place.map_or(0, |_| end - begin);
        let constants = if alike.start <= begin && end <= alike.end { alike.start } else { begin };
        pieces.push(Piece { rows: begin..end, constants, filled: begin.checked_sub(filled_from), reached: place });
        begin = end;
    }
    pieces
}
