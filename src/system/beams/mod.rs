//! The fast pass of chains of geometrically exact beams: forces, tangent, factor and solution without a sparse matrix.
//!
//! A chain is a sequence of nodes with a place and a rotation each, joined by elements in that order; where bodies end, an
//! element without stiffness joins them. Long chains are cut into stretches that the lanes of vectors work on side by side.
//! The equations are those of the general pass; loads, damping forces and contact stay outside.

mod constants;
mod layout;
mod sweeps;
#[cfg(test)]
mod tests;

use crate::elements::section::Section;
use crate::la::blocks::{self, Reduced};
use crate::la::lanes::{LANES, Row, Task};
use crate::la::{Processor, Symmetric, Vector};
use crate::system::System;
use constants::{CONSTANTS, Constants, TANGENT, Table};
use layout::{Interleave, Layout, Separate};
use std::ops::Range;
use sweeps::{Elements, Eliminate, Factor, Factorize, Strain, Substitute};

/// Nodes from which on lanes are faster than plain code.
const LONG: usize = 20;

/// Rows of a piece: what they need stays in the second cache, and the loops over them are long enough.
const PIECE: usize = 84;

/// No place in the chain.
const NOWHERE: usize = usize::MAX;

/// A chain of beams, and what its last evaluation and factorization left.
pub(super) struct Beams {
    arch: Processor,
    layout: Layout,
    free: usize,
    /// Stretches of numbers that follow each other both along the chain and among the degrees of freedom; a single one if
    /// nothing is held.
    runs: Vec<Run>,
    table: Table,
    /// Displacements and forces along the chain, where it is not alone.
    line: [Vec<f64>; 2],
    /// Displacements and forces of a piece.
    places: Vector,
    forces: Vector,
    carried: Vector,
    x: Vector,
    strains: Vector,
    pivot: Vector,
    lower: Vector,
    fill: Vector,
    filled_from: usize,
    reduced: Reduced,
    /// Whether the strains are still those of the factor.
    factored: bool,
    /// Whether `x` is the right-hand side of the next correction, in lanes and then eliminated.
    brought: bool,
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
        let arch = Processor::new();
        let lanes = if wanted && count >= LONG && arch.has_vectors() { LANES } else { 1 };
        let rows = count.div_ceil(lanes);
        let layout = Layout { lanes, rows, nodes: count };
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
        let tangents = Vector::zeros(constants.len() / CONSTANTS * TANGENT);
        let table = Table { lanes, kinds, held, constants, tangents, factors: None };
        let numbers = |per: usize, rows: usize| Vector::zeros(per * rows * lanes);
        Some(Beams {
            arch,
            layout,
            free,
            table,
            line: [0, 1].map(|_| vec![0.0; if runs.len() > 1 { 3 * count } else { 0 }]),
            places: numbers(3, PIECE + 1),
            forces: numbers(3, PIECE),
            carried: numbers(3, 1),
            x: numbers(3, rows + 1),
            strains: numbers(4, rows),
            pivot: numbers(6, rows + 1),
            lower: numbers(9, if lanes == 1 { rows } else { 0 }),
            fill: numbers(9, rows),
            filled_from: rows,
            reduced: Reduced::new(lanes),
            runs,
            factored: false,
            brought: false,
            eliminated: false,
        })
    }

    fn run<O, T: Task<Row, Output = O> + Task<f64, Output = O>>(&self, sweep: T) -> O {
        run(self.arch, self.layout, sweep)
    }

    /// Whether the chain is all degrees of freedom in their order.
    fn is_alone(&self) -> bool {
        self.runs.len() == 1
    }

    /// Whether all of a pass can go piece by piece, and is worth it.
    pub fn goes_by_pieces(&self) -> bool {
        self.is_alone() && self.layout.rows > PIECE
    }

    /// Rows that are taken together, so that what they need stays near.
    pub fn pieces(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let rows = self.layout.rows;
        (0..rows).step_by(PIECE).map(move |start| start..rows.min(start + PIECE))
    }

    /// Where the numbers of some rows of a chain that is alone are.
    pub fn ranges(&self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> + Clone + use<> {
        self.layout.ranges(rows.start..rows.end.min(self.layout.rows))
    }

    /// Overwrites `internal` with the internal force at `q`; returns the strain energy.
    pub fn internal(&mut self, q: &[f64], internal: &mut [f64]) -> f64 {
        if self.is_alone() {
            return self.pieces().map(|rows| self.strain(rows, q, internal)).sum();
        }
        let [mut places, mut forces] = std::mem::take(&mut self.line);
        self.runs.iter().for_each(|run| run.fetch(q, &mut places));
        let energy = self.pieces().map(|rows| self.strain(rows, &places, &mut forces)).sum();
        self.runs.iter().for_each(|run| run.send(&forces, internal));
        self.line = [places, forces];
        energy
    }

    /// Overwrites `internal` in the rows of a piece, which come one after the other, where `q` is known there and in the
    /// next row; returns their strain energy. The first row of all is complete after the last piece.
    pub fn strain(&mut self, rows: Range<usize>, q: &[f64], internal: &mut [f64]) -> f64 {
        let Layout { lanes, rows: all, .. } = self.layout;
        let Range { start, end } = rows;
        (self.factored, self.brought, self.eliminated) = (false, false, false);
        if start == 0 {
            self.carried.fill(0.0);
        }
        let (arch, layout, count) = (self.arch, self.layout, (end - start) * lanes);
        let (places, forces) = (&mut self.places[..3 * (count + lanes)], &mut self.forces[..3 * count]);
        arch.dispatch(Interleave { layout, line: q, first: start, rows: places });
        let sweep = Strain {
            kinds: self.table.rows(start..end),
            q: places,
            strains: &mut self.strains[4 * start * lanes..4 * end * lanes],
            forces,
            carried: &mut self.carried,
        };
        let energy = run(arch, layout, sweep);
        arch.dispatch(Separate::<false> { layout, rows: forces, first: start, line: internal });
        if end == all {
            for (lane, range) in layout.ranges(0..1).enumerate().skip(1) {
                for (k, force) in internal[range].iter_mut().enumerate() {
                    *force += self.carried[k * lanes + lane - 1];
                }
            }
        }
        energy
    }

    /// Factors m M + c C + k K at the displacements of the last evaluation; `false` if that is singular.
    pub fn factor(&mut self, m: f64, c: f64, k: f64) -> bool {
        self.table.combine([m, c, k]);
        let sweep = Factorize {
            elements: Elements { kinds: self.table.rows(0..self.layout.rows), strains: &self.strains },
            factor: blocks::Factorize {
                pivot: &mut self.pivot,
                lower: &mut self.lower,
                fill: &mut self.fill,
                reduced: &mut self.reduced,
                x: &mut self.x,
            },
        };
        let filled_from = run(self.arch, self.layout, sweep);
        self.filled_from = filled_from.unwrap_or(self.layout.rows);
        self.factored = filled_from.is_some();
        self.brought = false;
        self.factored
    }

    /// Factors m M + c C + k K, and eliminates in `b` on the way, which the next correction is for.
    pub fn factor_for(&mut self, b: &[f64], m: f64, c: f64, k: f64) -> bool {
        if !self.brought {
            self.bring(b);
        }
        self.eliminated = self.factor(m, c, k);
        self.eliminated
    }

    /// Solves in place; held degrees of freedom are left alone.
    pub fn solve(&mut self, b: &mut [f64]) {
        self.bring(b);
        self.eliminate();
        self.reduced.substitute(&mut self.x);
        self.substitute(1..self.layout.rows);
        self.take::<false>(b);
    }

    /// Subtracts the solution for `b` from `a`; held degrees of freedom are left alone.
    pub fn correct(&mut self, b: &[f64], a: &mut [f64]) {
        if !std::mem::take(&mut self.eliminated) {
            self.bring(b);
            self.eliminate();
        }
        self.reduced.substitute(&mut self.x);
        if !self.is_alone() {
            self.substitute(1..self.layout.rows);
            return self.take::<true>(a);
        }
        let (layout, width) = (self.layout, 3 * self.layout.lanes);
        for Range { start, end } in self.pieces() {
            self.substitute(start.max(1)..end);
            let rows = &self.x[start * width..end * width];
            self.arch.dispatch(Separate::<true> { layout, rows, first: start, line: &mut a[..self.free] });
        }
    }

    /// Turns a right-hand side into lanes.
    fn bring(&mut self, b: &[f64]) {
        if self.is_alone() {
            self.bring_rows(0..self.layout.rows, b);
        } else {
            let [mut line, other] = std::mem::take(&mut self.line);
            line.fill(0.0);
            self.runs.iter().filter(|run| run.dof < self.free).for_each(|run| run.fetch(b, &mut line));
            self.bring_rows(0..self.layout.rows, &line);
            self.line = [line, other];
        }
        self.brought = false;
    }

    /// Takes some rows of a right-hand side that is for the next factor.
    pub fn bring_rows(&mut self, rows: Range<usize>, b: &[f64]) {
        let (layout, width) = (self.layout, 3 * self.layout.lanes);
        let x = &mut self.x[rows.start * width..rows.end * width];
        self.arch.dispatch(Interleave { layout, line: b, first: rows.start, rows: x });
        (self.brought, self.eliminated) = (true, false);
    }

    /// The factor, part of which are the strains that it was found at.
    fn as_factor(&self) -> Factor<'_> {
        assert!(self.factored, "strains are not those of the factor any more");
        let elements = Elements { kinds: self.table.rows(0..self.layout.rows), strains: &self.strains };
        let Beams { pivot, lower, fill, filled_from, .. } = self;
        Factor { elements, pivot, lower, fill, filled_from: *filled_from }
    }

    fn eliminate(&mut self) {
        let mut x = std::mem::take(&mut self.x);
        self.run(Eliminate { factor: self.as_factor(), x: &mut x });
        self.reduced.eliminate(&mut x);
        self.x = x;
    }

    fn substitute(&mut self, rows: Range<usize>) {
        let mut x = std::mem::take(&mut self.x);
        self.run(Substitute { factor: self.as_factor(), rows, x: &mut x });
        self.x = x;
    }

    /// Gives the solution, or its subtraction, to the free part of `x`.
    fn take<const SUBTRACT: bool>(&mut self, x: &mut [f64]) {
        let (layout, free) = (self.layout, self.free);
        let rows = &self.x[..3 * layout.rows * layout.lanes];
        if self.is_alone() {
            return self.arch.dispatch(Separate::<SUBTRACT> { layout, rows, first: 0, line: &mut x[..free] });
        }
        let line = &mut self.line[0];
        if SUBTRACT {
            self.runs.iter().for_each(|run| run.fetch(x, line));
        }
        self.arch.dispatch(Separate::<SUBTRACT> { layout, rows, first: 0, line });
        self.runs.iter().filter(|run| run.dof < free).for_each(|run| run.send(line, x));
    }
}

/// A sweep in lanes or, of one lane, in scalar code.
fn run<O, T: Task<Row, Output = O> + Task<f64, Output = O>>(arch: Processor, layout: Layout, sweep: T) -> O {
    if layout.lanes == 1 { arch.run_one_by_one(sweep) } else { arch.run(sweep) }
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
