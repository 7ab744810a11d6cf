//! Chains: maximal lines of elements that follow each other, as contours with two sides.

use crate::contour::{Contour, Projection, VertexKind};
use crate::nodes::{Component, Nodes};
use crate::plane::{direction, inner, minus, quarter};
use std::collections::BTreeMap;

/// Sine of an angle below which two segments are one straight line.
const STRAIGHT: f64 = 1e-9;

/// The segments of all chains that a set of nodes makes.
pub(super) struct Chains {
    pub segments: Vec<ChainSegment>,
    /// Rounding of a position.
    tolerance: f64,
    /// Whether bodies without thickness may touch them.
    is_thin: bool,
}

/// An element as a part of a chain.
pub(super) struct ChainSegment {
    /// Number of the line in the model.
    pub number: u32,
    /// Its nodes as the model orders them.
    pub line: [usize; 2],
    /// Whether the chain goes from the second node to the first.
    pub reversed: bool,
    /// The chain that it belongs to.
    pub chain: u32,
    /// What meets it at its start and at its end along the chain.
    meeting: [Meeting; 2],
}

/// What meets a segment at one of its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meeting {
    /// Nothing. Without thickness the segment reaches farther by this length: a body that bends draws its end back, and
    /// what is exactly above it is to touch it all the same.
    Nothing(f64),
    /// The segment with this number, with or without the border between both regions.
    Segment(usize, bool),
    /// Several segments, with or without the border between all regions.
    Branches(bool),
}

impl ChainSegment {
    /// Its nodes along the chain.
    pub fn nodes(&self) -> [usize; 2] {
        let [a, b] = self.line;
        if self.reversed { [b, a] } else { [a, b] }
    }

    /// Its side of the line, for a side of the chain.
    pub fn side_of_line(&self, side: f64) -> f64 {
        if self.reversed { -side } else { side }
    }

    /// Its length at a part of a step, by the positions of nodes there.
    pub fn length_at(&self, part: f64, at: &dyn Fn(usize, f64) -> [f64; 2]) -> f64 {
        let [a, b] = self.nodes().map(|node| at(node, part));
        direction(minus(b, a)).0
    }

    /// Projection of a position on it at a part of a step, positive on the given side of the chain.
    pub fn project_at(
        &self,
        position: [f64; 2],
        part: f64,
        side: f64,
        at: &dyn Fn(usize, f64) -> [f64; 2],
    ) -> Projection {
        let [a, b] = self.nodes().map(|node| at(node, part));
        let (length, along) = direction(minus(b, a));
        let offset = minus(position, a);
        Projection::new(side * inner(offset, quarter(along)), inner(offset, along), length)
    }

    /// Whether one other segment follows at one of its ends.
    pub fn has_next(&self, end: usize) -> bool {
        matches!(self.meeting[end], Meeting::Segment(..))
    }

    /// Whether nothing follows at one of its ends.
    pub fn is_free(&self, end: usize) -> bool {
        matches!(self.meeting[end], Meeting::Nothing(_))
    }

    /// By how much a thin segment reaches beyond one of its ends where that is free.
    pub fn overhang(&self, end: usize) -> f64 {
        if let Meeting::Nothing(length) = self.meeting[end] { length } else { 0.0 }
    }
}

impl Chains {
    /// Chains of the elements between nodes of a set; their numbers begin at `first`. Elements whose ends share their unknowns
    /// follow each other, whatever bodies they belong to. The length of [`Meeting::Nothing`] is the part `overhang` of the length
    /// of a chain.
    pub fn new(
        nodes: &Nodes,
        lines: &[(u32, [usize; 2])],
        first: u32,
        tolerance: f64,
        is_thin: bool,
        overhang: f64,
    ) -> Chains {
        let mut meeting: BTreeMap<u32, Vec<(usize, usize)>> = BTreeMap::new();
        let unknown = |node: usize| nodes.dof(node, Component::X);
        for (j, (_, line)) in lines.iter().enumerate() {
            for (end, &node) in line.iter().enumerate() {
                meeting.entry(unknown(node)).or_default().push((j, end));
            }
        }
        let met = |j: usize, end: usize| &meeting[&unknown(lines[j].1[end])];
        // The other segment at an end, and which of its ends it is.
        let next = |j: usize, end: usize| match met(j, end)[..] {
            [a, b] => Some(if a == (j, end) { b } else { a }),
            _ => None,
        };
        let mut placed: Vec<Option<(u32, bool)>> = vec![None; lines.len()];
        let mut chain = first;
        let starts = (0..lines.len()).flat_map(|j| [(j, 0), (j, 1)]).filter(|&(j, end)| next(j, end).is_none());
        // What is left when all chains with ends are placed are closed ones.
        let closed = (0..lines.len()).map(|j| (j, 0));
        for (start, end) in starts.chain(closed) {
            let (mut j, mut end) = (start, end);
            let before = chain;
            while placed[j].is_none() {
                placed[j] = Some((before, end == 1));
                chain = before + 1;
                let Some((other, at)) = next(j, 1 - end) else { break };
                (j, end) = (other, at);
            }
        }
        let mut lengths = vec![0.0; (chain - first) as usize];
        for (&(_, line), placed) in lines.iter().zip(&placed) {
            let (chain, _) = placed.expect("every segment is on a chain");
            lengths[(chain - first) as usize] += nodes.line(line).0;
        }
        let segment = |j: usize| {
            let (chain, reversed) = placed[j].expect("every segment is on a chain");
            let (number, line) = lines[j];
            let meeting = [0, 1].map(|k| {
                let end = if reversed { 1 - k } else { k };
                let all = met(j, end);
                let has_border = all[0] == (j, end);
                match (all.len(), next(j, end)) {
                    (1, _) => Meeting::Nothing(overhang * lengths[(chain - first) as usize]),
                    (_, Some((other, _))) => Meeting::Segment(other, has_border),
                    _ => Meeting::Branches(has_border),
                }
            });
            ChainSegment { number, line, reversed, chain, meeting }
        };
        Chains { segments: (0..lines.len()).map(segment).collect(), tolerance, is_thin }
    }
}

/// A chain as a node sees it from one side, the nodes at given positions.
pub(super) struct ChainContour<'a> {
    pub chains: &'a Chains,
    pub positions: &'a [[f64; 2]],
    /// The side of the node: 1 on the left of the chain, −1 on its right.
    pub side: f64,
    /// Its segments that are near.
    pub near: &'a [u32],
}

impl ChainContour<'_> {
    fn ends(&self, j: usize) -> [[f64; 2]; 2] {
        self.chains.segments[j].nodes().map(|node| self.positions[node])
    }

    /// The nearest segment to a position, with the projection on it.
    pub fn nearest(&self, position: [f64; 2]) -> Option<(usize, Projection)> {
        let mut best: Option<(usize, Projection)> = None;
        for &j in self.near {
            let on = self.project(j as usize, position);
            if best.is_none_or(|(_, other)| on.closest < other.closest) {
                best = Some((j as usize, on));
            }
        }
        best
    }
}

impl Contour for ChainContour<'_> {
    fn each_near(&self, position: [f64; 2], limit: f64, see: &mut dyn FnMut(usize, Projection)) {
        for &j in self.near {
            let on = self.project(j as usize, position);
            if on.closest <= limit {
                see(j as usize, on);
            }
        }
    }

    /// The signs of both distances beyond the ends are those by which a vertex is found, so that exactly one of them is found.
    fn project(&self, j: usize, position: [f64; 2]) -> Projection {
        let [a, b] = self.ends(j);
        let way = minus(b, a);
        let (length, along) = direction(way);
        let [from_a, from_b] = [minus(position, a), minus(position, b)];
        let beyond = [-inner(from_a, way) / length, inner(from_b, way) / length];
        let signed = self.side * inner(from_a, quarter(along));
        Projection { signed, beyond, closest: signed.hypot(beyond[0].max(beyond[1]).max(0.0)) }
    }

    fn corner(&self, j: usize, end: usize) -> VertexKind {
        let other = match self.chains.segments[j].meeting[end] {
            Meeting::Nothing(_) => return VertexKind::Free,
            Meeting::Branches(_) => return VertexKind::Straight,
            Meeting::Segment(other, _) => other,
        };
        let [own, other] = [j, other].map(|k| {
            let [a, b] = self.ends(k);
            direction(minus(b, a)).1
        });
        let [before, after] = if end == 0 { [other, own] } else { [own, other] };
        let (sine, cosine) = (self.side * inner(quarter(before), after), inner(before, after));
        if sine > STRAIGHT {
            VertexKind::Reentrant
        } else if sine < -STRAIGHT || cosine < 0.0 {
            VertexKind::Convex
        } else {
            VertexKind::Straight
        }
    }

    fn neighbour(&self, j: usize, end: usize) -> usize {
        match self.chains.segments[j].meeting[end] {
            Meeting::Segment(other, _) => other,
            _ => j,
        }
    }

    fn margin(&self, j: usize, end: usize, behind: bool) -> f64 {
        let border = match self.chains.segments[j].meeting[end] {
            Meeting::Nothing(length) if self.chains.is_thin => return length,
            // A vertex with thickness has the border itself.
            _ if !self.chains.is_thin && !behind => return -f64::MIN_POSITIVE,
            Meeting::Nothing(_) => return 0.0,
            Meeting::Segment(_, border) | Meeting::Branches(border) => border,
        };
        let has_border = border || self.corner(j, end) == VertexKind::Reentrant;
        if has_border { self.chains.tolerance } else { -self.chains.tolerance }
    }

    fn is_at(&self, j: usize, end: usize, position: [f64; 2]) -> bool {
        let away = minus(position, self.ends(j)[end]);
        inner(away, away) <= self.chains.tolerance * self.chains.tolerance
    }

    fn tolerance(&self) -> f64 {
        self.chains.tolerance
    }
}
