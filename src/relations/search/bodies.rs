//! Nodes against the elements and ends of other bodies.

use super::chain::{ChainContour, Chains};
use super::one_chain::ChainSearch;
use super::{FREE_END, Kind, ROUNDING, Scratch, Search, View};
use crate::contour::{Contour, VertexKind};
use crate::model::Model;
use crate::nodes::Nodes;
use crate::plane::{direction, inner, minus};
use crate::relations::candidate::{Candidate, Corner};
use crate::relations::passage::GRAZING;
use crate::relations::shape::Shape;
use crate::relations::sides::stored_for;
use crate::state::{Key, StoredSide};

/// Who looks at what: nodes, and the elements and nodes that they may touch.
pub(super) struct Side {
    nodes: Vec<usize>,
    chains: Chains,
    ends: Vec<TouchedNode>,
}

/// A node that may be touched.
struct TouchedNode {
    node: usize,
    /// Its neighbours along the elements that may be touched.
    neighbours: Vec<usize>,
    /// A segment that it belongs to, and at which end of it, if it is a vertex between two segments.
    vertex: Option<(u32, usize)>,
}

impl Side {
    /// `first` is the number of the first chain.
    pub fn new(model: &Model, numbers: &Nodes, nodes: &[usize], others: &[usize], first: u32, is_thin: bool) -> Side {
        let mut among = vec![false; model.places.len()];
        others.iter().for_each(|&node| among[node] = true);
        let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); model.places.len()];
        let (mut lines, mut number) = (Vec::new(), 0);
        for body in &model.bodies {
            for &line in &body.lines {
                // Springs join bodies; nothing can touch them.
                if !body.nodes.is_empty() && line.into_iter().all(|node| among[node]) {
                    lines.push((number, line));
                    neighbours[line[0]].push(line[1]);
                    neighbours[line[1]].push(line[0]);
                }
                number += 1;
            }
        }
        let chains = Chains::new(numbers, &lines, first, ROUNDING * model.length, is_thin, FREE_END);
        let mut vertices = vec![None; model.places.len()];
        for (j, segment) in chains.segments.iter().enumerate() {
            for (end, node) in segment.nodes().into_iter().enumerate().filter(|(end, _)| segment.has_next(*end)) {
                vertices[node] = Some((j as u32, end));
            }
        }
        let mut ends: Vec<TouchedNode> = others
            .iter()
            .map(|&node| TouchedNode {
                node,
                neighbours: std::mem::take(&mut neighbours[node]),
                vertex: vertices[node],
            })
            .collect();
        ends.sort_by_key(|end| end.node);
        let mut nodes = nodes.to_vec();
        nodes.sort_unstable();
        Side { nodes, chains, ends }
    }

    /// The number after that of its last chain.
    pub fn next_chain(&self, first: u32) -> u32 {
        self.chains.segments.iter().map(|segment| segment.chain + 1).max().unwrap_or(first)
    }
}

/// A node and another one that may be near it.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearPoint {
    /// Which of both sides the node belongs to.
    side: u32,
    node: u32,
    /// The other one, by its number among the ends of that side.
    number: u32,
    /// Distance within which they are near.
    limit: f64,
}

/// A node in a search.
pub(super) struct Seeker<'a> {
    pub node: usize,
    pub corner: Corner,
    /// Position at the middle of the step.
    pub position: [f64; 2],
    /// How far it looks.
    reach: f64,
    stored: &'a [StoredSide],
}

impl Search {
    /// Adds candidates of all nodes, and the sides on which they are.
    pub(super) fn find_near_bodies(
        &self,
        sides: &[Side],
        view: &View,
        scratch: &mut Scratch,
        found: &mut Vec<Candidate>,
        stored: &mut Vec<StoredSide>,
    ) {
        let first = stored.len();
        scratch.points.clear();
        (0..sides.len()).for_each(|k| self.find_on_chains((sides, k), view, scratch, found, stored));
        let own = &mut stored[first..];
        own.sort_unstable_by_key(|stored| stored.key);
        for &near in &scratch.points {
            self.find_point(sides, near, own, view, found);
        }
    }

    /// Adds candidates of nodes of `sides[k].nodes` at chains, and the sides on which they are; lists the points that are near.
    fn find_on_chains(
        &self,
        (sides, k): (&[Side], usize),
        view: &View,
        scratch: &mut Scratch,
        found: &mut Vec<Candidate>,
        stored: &mut Vec<StoredSide>,
    ) {
        let side = &sides[k];
        let Scratch { grid, reach, near, points, features } = scratch;
        let reach = |node: usize| reach[view.bodies.of_node[node] as usize];
        let around =
            |[a, b]: [[f64; 2]; 2], by: f64| [[0, 1].map(|k| a[k].min(b[k]) - by), [0, 1].map(|k| a[k].max(b[k]) + by)];
        let segments = &side.chains.segments;
        let lines = segments.iter().map(|segment| {
            let overhang = segment.overhang(0).max(segment.overhang(1));
            let by = reach(segment.line[0]) + self.thickness + overhang;
            around(segment.line.map(|node| view.positions[node]), by)
        });
        // Points without thickness cannot touch each other.
        let ends = side.ends.iter().filter(|_| self.thickness > 0.0);
        let boxes = ends.map(|end| around([view.positions[end.node]; 2], reach(end.node) + self.thickness));
        grid.sort(lines.chain(boxes));
        for &node in &side.nodes {
            let own = stored_for(view.sides, self.group, node);
            let depth = own.iter().map(|stored| stored.depth).fold(0.0, f64::max);
            let seeker = Seeker {
                node,
                corner: Corner::new(view.nodes, node),
                position: view.positions[node],
                reach: reach(node),
                stored: own,
            };
            near.clear();
            grid.each_near(seeker.position, seeker.reach + depth, |number| match segments.get(number) {
                Some(segment) if self.is_apart(&seeker, segment.line, view) => near.push(number as u32),
                Some(_) => {}
                None => {
                    let number = number - segments.len();
                    let limit = seeker.reach + reach(side.ends[number].node) + self.thickness;
                    points.push(NearPoint { side: k as u32, node: node as u32, number: number as u32, limit });
                }
            });
            near.sort_unstable_by_key(|&j| (segments[j as usize].chain, j));
            near.dedup();
            let mut rest = &near[..];
            while let Some(&first) = rest.first() {
                let chain = segments[first as usize].chain;
                let count = rest.iter().take_while(|&&j| segments[j as usize].chain == chain).count();
                let farthest = rest[..count].iter().map(|&j| reach(segments[j as usize].line[0])).fold(0.0, f64::max);
                let limit = seeker.reach + farthest + self.thickness;
                let (chains, near) = (&side.chains, &rest[..count]);
                let chain_view = ChainSearch { search: self, view, chains, near, limit, depth };
                let known = seeker.stored.iter().find(|stored| stored.key.feature == chain);
                let (side, depth) = chain_view.find(&seeker, known, features, found);
                if let Some(depth) = depth {
                    let [own, other] = [node, segments[first as usize].line[0]].map(|node| view.speed_of(node));
                    let path = view.step * (own + other);
                    let key = Key { group: self.group, node: node as u32, feature: chain };
                    stored.push(StoredSide { key, side, depth: depth + path });
                }
                rest = &rest[count..];
            }
        }
    }

    /// Whether a node and an element are not of one body and do not meet in a joint.
    pub(super) fn is_apart(&self, seeker: &Seeker, line: [usize; 2], view: &View) -> bool {
        let body = &view.bodies.of_node;
        let joined = |other: usize| seeker.corner.joined(&Corner::new(view.nodes, other));
        body[seeker.node] != body[line[0]] && !line.into_iter().any(joined)
    }

    /// A node against another node that has thickness: the end of a chain, an edge, or a body without elements.
    fn find_point(
        &self,
        sides: &[Side],
        near: NearPoint,
        stored: &[StoredSide],
        view: &View,
        found: &mut Vec<Candidate>,
    ) {
        let (side, node) = (&sides[near.side as usize], near.node as usize);
        let other = &sides[sides.len() - 1 - near.side as usize];
        let TouchedNode { node: end, neighbours, .. } = &side.ends[near.number as usize];
        let [position, touched] = [node, *end].map(|node| view.positions[node]);
        let apart = || {
            let [own, other] = [node, *end].map(|node| Corner::new(view.nodes, node));
            view.bodies.of_node[node] != view.bodies.of_node[*end] && !own.joined(&other)
        };
        if direction(minus(position, touched)).0 > near.limit || !apart() {
            return;
        }
        if !faces(position, *end, neighbours, view.positions) {
            return;
        }
        // Two ends that face each other are found from both sides; once is enough.
        let own = other.ends.binary_search_by_key(&node, |end| end.node).ok().map(|i| &other.ends[i]);
        let mirrored = own.is_some_and(|own| {
            other.nodes.binary_search(end).is_ok() && faces(touched, node, &own.neighbours, view.positions)
        });
        let is_pushed_through =
            self.is_pushed_through(node, &side.chains, &side.ends[near.number as usize], stored, view)
                || own.is_some_and(|own| self.is_pushed_through(*end, &other.chains, own, stored, view));
        if !is_pushed_through && (!mirrored || node < *end) {
            self.push(node, 2 * *end as u32 + 1, Shape::Point, &[*end], view, found);
        }
    }

    /// True if a node has penetrated the chain of a vertex beyond its middle, so that the segments hold it and not the vertex, or if the
    /// vertex is re-entrant as the node sees it.
    fn is_pushed_through(
        &self,
        node: usize,
        chains: &Chains,
        end: &TouchedNode,
        stored: &[StoredSide],
        view: &View,
    ) -> bool {
        let Some((j, at)) = end.vertex else { return false };
        let (j, chain) = (j as usize, chains.segments[j as usize].chain);
        let mut own = stored_for(stored, self.group, node).iter();
        let Some(own) = own.find(|stored| stored.key.feature == chain) else { return false };
        let contour = ChainContour { chains, positions: view.positions, side: f64::from(own.side), near: &[] };
        match contour.corner(j, at) {
            VertexKind::Reentrant => true,
            VertexKind::Straight => contour.project(j, view.positions[node]).signed < -contour.tolerance(),
            _ => false,
        }
    }
}

impl Search {
    /// Half of the part of a step that a node was behind a chain at whose stored side it began, if its path leads through a segment and,
    /// unless the node is lost, ends beyond a free end, (T138). The path begins with the step, or `ratio` of it before if the node is
    /// behind the segment then; `at` gives positions of nodes at parts of the step.
    pub fn part_behind_chain(
        &self,
        stored: &StoredSide,
        ratio: f64,
        is_lost: bool,
        at: &dyn Fn(usize, f64) -> [f64; 2],
    ) -> Option<f64> {
        let Kind::Bodies(sides) = &self.kind else { return None };
        let (node, chain) = (stored.key.node as usize, stored.key.feature);
        let own = || sides.iter().flat_map(|side| &side.chains.segments).filter(|segment| segment.chain == chain);
        let size: f64 = own().map(|segment| segment.length_at(0.0, at)).sum();
        own().find_map(|segment| {
            let project = |part: f64| segment.project_at(at(node, part), part, f64::from(stored.side), at);
            let begin = if project(0.0).signed < 0.0 { -ratio } else { 0.0 };
            let [before, after] = [begin, 1.0].map(project);
            if before.signed < 0.0 || after.signed >= 0.0 {
                return None;
            }
            let part = before.signed / (before.signed - after.signed);
            let is_inside = (0..2).all(|end| {
                let beyond = before.beyond[end] + part * (after.beyond[end] - before.beyond[end]);
                beyond <= if segment.is_free(end) { -GRAZING * size } else { 0.0 }
            });
            let is_beyond = (0..2).any(|end| segment.is_free(end) && after.beyond[end] > 0.0);
            (is_inside && (is_lost || is_beyond)).then_some(0.5 * (1.0 - part) * (1.0 - begin))
        })
    }
}

/// Whether a position lies beyond a node as seen along all its lines, so that the node is what is nearest there.
fn faces(position: [f64; 2], node: usize, neighbours: &[usize], positions: &[[f64; 2]]) -> bool {
    let away = minus(position, positions[node]);
    neighbours.iter().all(|&next| inner(away, minus(positions[next], positions[node])) <= 0.0)
}
