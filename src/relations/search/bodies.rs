//! Nodes against the elements and ends of other bodies.

use super::chain::{ChainContour, Chains};
use super::{FREE_END, ROUNDING, Scratch, Search, View};
use crate::contour::{self, Contour, Feature, Projection, VertexKind};
use crate::model::Model;
use crate::nodes::Nodes;
use crate::obstacles::Region;
use crate::plane::{direction, inner, minus, quarter};
use crate::relations::candidate::{Candidate, Corner};
use crate::relations::shape::Shape;
use crate::relations::sides::stored_for;
use crate::state::{Key, StoredSide};

/// Part of the speeds of two points below which their relative velocity is rounding; also of accelerations.
const AT_REST: f64 = 1e-9;

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
struct Seeker<'a> {
    node: usize,
    corner: Corner,
    /// Position at the middle of the step.
    position: [f64; 2],
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
    fn is_apart(&self, seeker: &Seeker, line: [usize; 2], view: &View) -> bool {
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

/// A search of one node along one chain.
struct ChainSearch<'a> {
    search: &'a Search,
    view: &'a View<'a>,
    chains: &'a Chains,
    /// Segments of the chain that may be near.
    near: &'a [u32],
    limit: f64,
    /// Depth that a node may have beyond that.
    depth: f64,
}

impl<'a> ChainSearch<'a> {
    fn contour(&self, positions: &'a [[f64; 2]], side: i8) -> ChainContour<'a> {
        ChainContour { chains: self.chains, positions, side: f64::from(side), near: self.near }
    }

    /// Adds the candidates of a node at this chain. Returns the side of the node, zero while it is undecided, and how deep it is
    /// behind the chain if the side is to be stored.
    fn find(
        &self,
        seeker: &Seeker,
        stored: Option<&StoredSide>,
        features: &mut Vec<Feature>,
        found: &mut Vec<Candidate>,
    ) -> (i8, Option<f64>) {
        let is_decided = |stored: &&StoredSide| stored.side != 0;
        let mut side = match stored.filter(is_decided) {
            Some(stored) => stored.side,
            None => match self.side_at_start(seeker.node, stored.is_some()) {
                Some(side) => side,
                None => return (0, None),
            },
        };
        if side == 0 {
            return (0, Some(0.0));
        }
        let mut region = self.features(seeker, side, features);
        if matches!(region, Region::Behind(_)) && self.went_around(seeker.node, side) {
            side = -side;
            region = self.features(seeker, side, features);
        }
        let contour = self.contour(self.view.positions, side);
        let mut is_over_end = false;
        for &feature in features.iter() {
            match feature {
                Feature::Segment(j) => self.push(seeker, j, side, found),
                // At the edge itself both sides of it hold; elsewhere it is a point, which has no gap without thickness.
                Feature::Vertex(j, end) if !self.chains.segments[j].is_free(end) => {
                    if contour.is_at(j, end, seeker.position) {
                        [j, contour.neighbour(j, end)].into_iter().for_each(|j| self.push(seeker, j, side, found));
                    }
                }
                Feature::Vertex(j, end) => {
                    if self.search.thickness == 0.0 && self.is_before_end(seeker, j, end, side, stored.is_some()) {
                        is_over_end = true;
                        self.push(seeker, j, side, found);
                    }
                }
            }
        }
        let depth = match region {
            Region::Front => Some(0.0),
            Region::Behind(depth) => Some(depth),
            Region::Beyond => is_over_end.then_some(0.0),
            Region::Far => None,
        };
        (side, depth)
    }

    /// Features of the chain at the middle of the step, as seen from one side.
    fn features(&self, seeker: &Seeker, side: i8, features: &mut Vec<Feature>) -> Region {
        features.clear();
        let contour = self.contour(self.view.positions, side);
        let mut region =
            contour::in_front(&contour, seeker.position, self.limit, &mut |feature| features.push(feature));
        if region == Region::Far && self.depth > 0.0 {
            // What was stopped behind a surface is slow, and may be deeper than a slow body looks.
            let farther = contour::in_front(&contour, seeker.position, self.limit + self.depth, &mut |_| ());
            region = if let Region::Behind(_) = farther { farther } else { Region::Far };
        }
        if let Region::Behind(nearest) = region {
            contour::behind(&contour, seeker.position, nearest, &mut |j| features.push(Feature::Segment(j)));
        }
        region
    }

    fn push(&self, seeker: &Seeker, j: usize, side: i8, found: &mut Vec<Candidate>) {
        let segment = &self.chains.segments[j];
        if self.search.is_apart(seeker, segment.line, self.view) {
            let shape = Shape::Segment { side: segment.side_of_line(f64::from(side)) };
            self.search.push(seeker.node, 2 * segment.number, shape, &segment.line, self.view, found);
        }
    }

    /// The side of a node at the start of the step by its position, zero if that does not tell; none if it is far.
    /// `was_undecided` says that it was on the chain before: any motion of a node on a line is towards it, because a body
    /// that leaves and one that arrives on the other side have the same position and velocity.
    fn side_at_start(&self, node: usize, was_undecided: bool) -> Option<i8> {
        let contour = self.contour(self.view.starts, 1);
        let (j, on) = contour.nearest(self.view.starts[node])?;
        let past = (0..2).find(|&end| on.beyond[end] > 0.0);
        let kind = past.map(|end| contour.corner(j, end));
        let signed = match kind {
            Some(VertexKind::Convex) => on.closest,
            Some(VertexKind::Reentrant) => -on.closest,
            _ => on.signed,
        };
        let sign = if signed > 0.0 { 1 } else { -1 };
        if signed.abs() > contour.tolerance() {
            let left = was_undecided && kind != Some(VertexKind::Free);
            return Some(if left { -sign } else { sign });
        }
        let motion = self.first_motion(node, j, &on);
        // On the middle of a thick body either side is as good, but the depth must be seen.
        Some(if motion == 0 && self.search.thickness > 0.0 { 1 } else { -motion })
    }

    /// The side to which a node on a segment moves first: 1 if its relative velocity leads to the left of the chain, −1 if it leads
    /// to the right; if the velocity is zero to rounding, by the relative acceleration.
    fn first_motion(&self, node: usize, j: usize, on: &Projection) -> i8 {
        let contour = self.contour(self.view.starts, 1);
        let along = |j: usize| {
            let [a, b] = self.chains.segments[j].nodes();
            direction(minus(self.view.starts[b], self.view.starts[a]))
        };
        let (length, own) = along(j);
        let xi = (-on.beyond[0] / length).clamp(0.0, 1.0);
        let [a, b] = self.chains.segments[j].nodes();
        let at = (0..2).find(|&end| contour.is_at(j, end, self.view.starts[node]));
        // At a vertex both segments tell which side it is.
        let other = at.map_or(own, |end| along(contour.neighbour(j, end)).1);
        let is_reentrant = at.is_some_and(|end| contour.corner(j, end) == VertexKind::Reentrant);
        for field in [self.view.velocity, self.view.acceleration] {
            let parts = [(node, 1.0), (a, xi - 1.0), (b, -xi)].map(|(node, weight)| {
                let [x, y] = self.view.nodes.translation(node, field);
                [weight * x, weight * y]
            });
            let relative = [0, 1].map(|k| parts.iter().map(|part| part[k]).sum());
            let scale: f64 = parts.iter().map(|part| part[0].hypot(part[1])).sum();
            let [one, two] = [own, other].map(|along| inner(relative, quarter(along)));
            let left = if is_reentrant { one.min(two) } else { one.max(two) };
            if left.abs() > AT_REST * scale {
                return if left > 0.0 { 1 } else { -1 };
            }
        }
        0
    }

    /// Whether a node that was beyond a free end at the start of the step came behind the chain around it.
    fn went_around(&self, node: usize, side: i8) -> bool {
        let start = self.contour(self.view.starts, side);
        let Region::Beyond = contour::in_front(&start, self.view.starts[node], self.limit, &mut |_| ()) else {
            return false;
        };
        let middle = self.contour(self.view.positions, side);
        let Some((j, after)) = middle.nearest(self.view.positions[node]) else { return false };
        let before = start.project(j, self.view.starts[node]);
        if before.signed < -start.tolerance() {
            return true;
        }
        // Where the path meets the line of the segment, in the coordinates of the segment.
        let part = before.signed / (before.signed - after.signed);
        (0..2).any(|end| {
            let beyond = before.beyond[end] + part * (after.beyond[end] - before.beyond[end]);
            self.chains.segments[j].is_free(end) && beyond > middle.margin(j, end, false)
        })
    }

    /// Whether a node beyond the free end of a thin segment touches it all the same: it rests on an end that is tilted, or is about
    /// to cross the line where the segment is.
    fn is_before_end(&self, seeker: &Seeker, j: usize, end: usize, side: i8, is_stored: bool) -> bool {
        let contour = self.contour(self.view.positions, side);
        let on = contour.project(j, seeker.position);
        let overhang = self.chains.segments[j].overhang(end);
        if on.signed < -contour.tolerance() && !is_stored {
            return false;
        }
        if is_stored && on.beyond[end] <= overhang + on.signed.abs() {
            return true;
        }
        // On the line itself the instant at which it crosses the line is rounding.
        if on.signed.abs() <= contour.tolerance() {
            return false;
        }
        let [a, b] = self.chains.segments[j].nodes();
        let (_, along) = direction(minus(self.view.positions[b], self.view.positions[a]));
        let [own, other] = [seeker.node, [a, b][end]].map(|node| self.view.nodes.translation(node, self.view.velocity));
        let relative = minus(own, other);
        let rate = f64::from(side) * inner(relative, quarter(along));
        let time = -on.signed / rate;
        let moved = time * inner(relative, along) * if end == 0 { -1.0 } else { 1.0 };
        let inside = on.beyond[end] + moved <= overhang && on.beyond[1 - end] - moved <= 0.0;
        time.abs() <= 2.0 * self.view.step && inside
    }
}

/// Whether a position lies beyond a node as seen along all its lines, so that the node is what is nearest there.
fn faces(position: [f64; 2], node: usize, neighbours: &[usize], positions: &[[f64; 2]]) -> bool {
    let away = minus(position, positions[node]);
    neighbours.iter().all(|&next| inner(away, minus(positions[next], positions[node])) <= 0.0)
}
