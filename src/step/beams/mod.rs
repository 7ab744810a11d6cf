//! The fast pass of chains of geometrically exact beams: forces, tangent, factor and solution without a sparse matrix.
//!
//! A chain is a sequence of nodes with a place and a rotation each, joined by elements in that order; where bodies end, an
//! element without stiffness joins them. Long chains are cut into stretches that the lanes of vectors work on side by side.
//! The equations are those of the general pass; loads, damping forces and contact stay outside.

mod constants;
mod layout;
mod reduced;
mod sweeps;
#[cfg(test)]
mod tests;

use crate::elements::section::Section;
use crate::la::Symmetric;
use crate::system::System;
use constants::{CONSTANTS, Constants, Kinds, TANGENT};
use layout::{Aligned, Interleave, Layout, Separate};
use pulp::{Arch, Scalar, Simd, WithSimd};
use reduced::Reduced;
use sweeps::{Elements, Factorize, Solve, Strain};

/// Nodes from which on lanes are faster than plain code.
const LONG: usize = 20;

/// No place in the chain.
const NOWHERE: usize = usize::MAX;

/// Number of lanes that the processor has and that the layout knows.
struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;

    fn with_simd<S: Simd>(self, _: S) -> usize {
        if [2, 4].contains(&S::F64_LANES) { S::F64_LANES } else { 1 }
    }
}

/// A sweep in scalar code, with the instructions of the processor but the bits of any.
struct Plain<T>(T);

impl<T: WithSimd> WithSimd for Plain<T> {
    type Output = T::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> T::Output {
        self.0.with_simd(Scalar)
    }
}

/// A chain of beams, and what its last evaluation and factorization left.
pub(super) struct Beams {
    arch: Arch,
    lanes: usize,
    /// Rows of nodes; a lane has so many of the chain.
    rows: usize,
    free: usize,
    /// Stretches of numbers that follow each other both along the chain and among the degrees of freedom; a single one if
    /// nothing is held.
    runs: Vec<Run>,
    /// Kind of every row: rows with the same constants are of one kind, and most of a body is.
    kinds: Vec<u32>,
    held: Vec<bool>,
    /// Constants of the kinds, and those of their tangents in m M + c C + k K with these three factors.
    constants: Aligned,
    tangents: Aligned,
    factors: Option<[f64; 3]>,
    line: Vec<f64>,
    x: Aligned,
    y: Aligned,
    strains: Aligned,
    pivot: Aligned,
    fill: Aligned,
    filled_from: usize,
    reduced: Reduced,
    /// Whether `x` is the right-hand side of the next correction, eliminated.
    eliminated: bool,
}

struct Run {
    line: usize,
    dof: usize,
    length: usize,
}

impl Beams {
    /// The chain form of a system, if it has one; in lanes if it is long enough and they are `wanted`.
    pub fn of(system: &System, wanted: bool) -> Option<Beams> {
        if system.linear || system.redistribution.is_some() {
            return None;
        }
        let (nodes, elements) = chain(system)?;
        let (count, free) = (nodes.len(), system.nodes.free);
        let arch = Arch::new();
        let lanes = if wanted && count >= LONG { arch.dispatch(Lanes) } else { 1 };
        let rows = count.div_ceil(lanes);
        let layout = Layout { lanes, rows };
        let dofs: Vec<usize> = nodes.as_flattened().to_vec();
        let mut runs: Vec<Run> = Vec::new();
        for (line, &dof) in dofs.iter().enumerate() {
            match runs.last_mut() {
                // Runs end where supports begin, so that a run is free or held as a whole.
                Some(run) if run.dof + run.length == dof && dof != free => run.length += 1,
                _ => runs.push(Run { line, dof, length: 1 }),
            }
        }
        let nothing: (Section<f64>, f64) =
            (Section { length: 1.0, per_length: 1.0, direction: [1.0, 0.0], stiffness: [0.0; 3] }, 0.0);
        let is_held = |node: usize, k: usize| nodes.get(node).is_none_or(|dofs| dofs[k] >= free);
        let inertia = |matrix: &Symmetric, node: usize, k: usize| {
            let entry = |i: usize, j: usize| matrix.pattern.position(i, j).map_or(0.0, |k| matrix.values[k]);
            let own = if is_held(node, k) { 0.0 } else { entry(nodes[node][k], nodes[node][k]) };
            let beside = nodes.get(node).zip(nodes.get(node + 1)).map_or(0.0, |(a, b)| entry(a[k], b[k]));
            [own, beside]
        };
        let constants = |node: usize| {
            let (section, rate) = elements.get(node).copied().flatten().unwrap_or(nothing);
            let mass = [0, 1, 2].map(|k| inertia(&system.mass, node, k));
            let damping = [0, 1, 2].map(|k| system.damping.as_ref().map_or([0.0; 2], |c| inertia(c, node, k)));
            let keep = [0, 1, 2].map(|k| if is_held(node, k) { 0.0 } else { 1.0 });
            Constants { section, rate, mass, damping, keep }.numbers()
        };
        // Places beyond the chain have nothing that would have to be taken out.
        let holds = |node: usize| node < count && (0..3).any(|k| is_held(node, k));
        let held = (0..rows + 1).map(|row| (0..lanes).any(|lane| holds(lane * rows + row))).collect();
        let (kinds, constants) = layout.kinds(rows + 1, constants);
        let numbers = |per: usize, rows: usize| Aligned::zeros(per * rows * lanes);
        Some(Beams {
            arch,
            lanes,
            rows,
            free,
            runs,
            tangents: numbers(TANGENT, constants.len() / (CONSTANTS * lanes)),
            kinds,
            held,
            constants,
            factors: None,
            line: vec![0.0; 3 * count],
            x: numbers(3, rows + 1),
            y: numbers(3, rows + 1),
            strains: numbers(4, rows),
            pivot: numbers(6, rows + 1),
            fill: numbers(9, rows),
            filled_from: rows,
            reduced: Reduced::new(lanes),
            eliminated: false,
        })
    }

    fn dispatch<T: WithSimd>(arch: Arch, lanes: usize, sweep: T) -> T::Output {
        if lanes == 1 { arch.dispatch(Plain(sweep)) } else { arch.dispatch(sweep) }
    }

    /// Overwrites `internal` with the internal force at `q`; returns the strain energy.
    pub fn internal(&mut self, q: &[f64], internal: &mut [f64]) -> f64 {
        let alone = self.runs.len() == 1;
        self.eliminated = false;
        if alone {
            self.arch.dispatch(Interleave { lanes: self.lanes, line: q, rows: &mut self.x });
        } else {
            self.runs.iter().for_each(|run| run.fetch(q, &mut self.line));
            self.arch.dispatch(Interleave { lanes: self.lanes, line: &self.line, rows: &mut self.x });
        }
        let kinds = Kinds { of: &self.kinds, held: &self.held, constants: &self.constants, tangents: &self.tangents };
        let sweep = Strain { kinds, q: &self.x, strains: &mut self.strains, forces: &mut self.y };
        let energy = Self::dispatch(self.arch, self.lanes, sweep);
        let beyond = 3 * self.rows * self.lanes;
        for k in 0..3 {
            for lane in 1..self.lanes {
                self.y[k * self.lanes + lane] += self.y[beyond + k * self.lanes + lane - 1];
            }
        }
        if alone {
            self.arch.dispatch(Separate::<false> { lanes: self.lanes, rows: &self.y, line: internal });
        } else {
            self.arch.dispatch(Separate::<false> { lanes: self.lanes, rows: &self.y, line: &mut self.line });
            self.runs.iter().for_each(|run| run.send(&self.line, internal));
        }
        energy
    }

    /// Factors m M + c C + k K at the displacements of the last evaluation; `false` if that is singular.
    pub fn factor(&mut self, m: f64, c: f64, k: f64) -> bool {
        if self.factors != Some([m, c, k]) {
            self.combine(m, c, k);
        }
        let kinds = Kinds { of: &self.kinds, held: &self.held, constants: &self.constants, tangents: &self.tangents };
        let sweep = Factorize {
            elements: Elements { kinds, strains: &self.strains },
            pivot: &mut self.pivot,
            fill: &mut self.fill,
            reduced: &mut self.reduced,
            x: &mut self.x,
        };
        let filled_from = Self::dispatch(self.arch, self.lanes, sweep);
        self.filled_from = filled_from.unwrap_or(self.rows);
        filled_from.is_some()
    }

    /// The same, and eliminates in `b` on the way, which the next correction is for.
    pub fn factor_for(&mut self, b: &[f64], m: f64, c: f64, k: f64) -> bool {
        self.bring(b);
        self.eliminated = self.factor(m, c, k);
        self.eliminated
    }

    fn combine(&mut self, m: f64, c: f64, k: f64) {
        let lanes = self.lanes;
        for kind in 0..self.constants.len() / (CONSTANTS * lanes) {
            for lane in 0..lanes {
                let numbers = std::array::from_fn(|i| self.constants[(kind * CONSTANTS + i) * lanes + lane]);
                for (i, x) in Constants::of(numbers).tangent(m, c, k).into_iter().enumerate() {
                    self.tangents[(kind * TANGENT + i) * lanes + lane] = x;
                }
            }
        }
        self.factors = Some([m, c, k]);
    }

    /// Solves in place; held degrees of freedom are left alone.
    pub fn solve(&mut self, b: &mut [f64]) {
        self.bring(b);
        self.sweep::<false>();
        self.sweep::<true>();
        self.take::<false>(b);
    }

    /// Subtracts the solution for `b` from `a`; held degrees of freedom are left alone.
    pub fn correct(&mut self, b: &[f64], a: &mut [f64]) {
        if !std::mem::take(&mut self.eliminated) {
            self.bring(b);
            self.sweep::<false>();
        }
        self.sweep::<true>();
        self.take::<true>(a);
    }

    /// Turns a right-hand side into lanes.
    fn bring(&mut self, b: &[f64]) {
        let free = self.free;
        self.eliminated = false;
        if self.runs.len() == 1 {
            self.arch.dispatch(Interleave { lanes: self.lanes, line: &b[..free], rows: &mut self.x });
        } else {
            self.line.fill(0.0);
            self.runs.iter().filter(|run| run.dof < free).for_each(|run| run.fetch(b, &mut self.line));
            self.arch.dispatch(Interleave { lanes: self.lanes, line: &self.line, rows: &mut self.x });
        }
    }

    /// Half of a solution.
    fn sweep<const BACK: bool>(&mut self) {
        let kinds = Kinds { of: &self.kinds, held: &self.held, constants: &self.constants, tangents: &self.tangents };
        let sweep = Solve::<BACK> {
            elements: Elements { kinds, strains: &self.strains },
            pivot: &self.pivot,
            fill: &self.fill,
            filled_from: self.filled_from,
            reduced: &self.reduced,
            x: &mut self.x,
        };
        Self::dispatch(self.arch, self.lanes, sweep);
    }

    /// Gives the solution, or its subtraction, to the free part of `x`.
    fn take<const SUBTRACT: bool>(&mut self, x: &mut [f64]) {
        let free = self.free;
        if self.runs.len() == 1 {
            return self.arch.dispatch(Separate::<SUBTRACT> { lanes: self.lanes, rows: &self.x, line: &mut x[..free] });
        }
        if SUBTRACT {
            self.runs.iter().for_each(|run| run.fetch(x, &mut self.line));
        }
        self.arch.dispatch(Separate::<SUBTRACT> { lanes: self.lanes, rows: &self.x, line: &mut self.line });
        self.runs.iter().filter(|run| run.dof < free).for_each(|run| run.send(&self.line, x));
    }
}

impl Run {
    fn fetch(&self, x: &[f64], line: &mut [f64]) {
        line[self.line..self.line + self.length].copy_from_slice(&x[self.dof..self.dof + self.length]);
    }

    fn send(&self, line: &[f64], x: &mut [f64]) {
        x[self.dof..self.dof + self.length].copy_from_slice(&line[self.line..self.line + self.length]);
    }
}

/// An element of the chain with its damping, or none where bodies only follow each other.
type Link = Option<(Section<f64>, f64)>;

/// Degrees of freedom of the nodes along a chain, and the elements between them.
fn chain(system: &System) -> Option<(Vec<[usize; 3]>, Vec<Link>)> {
    let (mut nodes, mut links): (Vec<[usize; 3]>, Vec<Link>) = (Vec::new(), Vec::new());
    let mut place = vec![NOWHERE; system.nodes.total];
    for element in &system.elements {
        let block = element.block();
        for e in 0..block.len() {
            let dofs = block.element(e);
            let Some(section) = block.sections.get(e) else {
                // Point masses are in the mass matrix, and nothing else of them is anywhere.
                let tangent = element.tangent(e, &system.q0);
                let bare = tangent.stiffness.iter().chain(&tangent.damping).all(|&x| x == 0.0);
                if !bare || !block.linear {
                    return None;
                }
                continue;
            };
            let ends = [0, 3].map(|k| [dofs[k], dofs[k + 1], dofs[k + 2]].map(|dof| dof as usize));
            if nodes.last() != Some(&ends[0]) {
                if !nodes.is_empty() {
                    links.push(None);
                }
                add(ends[0], &mut nodes, &mut place)?;
            }
            add(ends[1], &mut nodes, &mut place)?;
            links.push(Some((*section, block.rate)));
        }
    }
    let whole = !place.contains(&NOWHERE);
    let simple = |matrix: &Symmetric| {
        (0..system.nodes.total).all(|j| {
            let entries = matrix.pattern.starts[j] as usize..matrix.pattern.starts[j + 1] as usize;
            entries.clone().all(|k| {
                let (a, b) = (place[matrix.pattern.rows[k] as usize], place[j]);
                matrix.values[k] == 0.0 || a == b || a.abs_diff(b) == 3
            })
        })
    };
    (whole && simple(&system.mass) && system.damping.as_ref().is_none_or(simple)).then_some((nodes, links))
}

/// Adds a node to the chain; none of its degrees of freedom may be there already.
fn add(dofs: [usize; 3], nodes: &mut Vec<[usize; 3]>, place: &mut [usize]) -> Option<()> {
    for (k, dof) in dofs.into_iter().enumerate() {
        if std::mem::replace(&mut place[dof], 3 * nodes.len() + k) != NOWHERE {
            return None;
        }
    }
    nodes.push(dofs);
    Some(())
}
