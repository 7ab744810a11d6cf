//! Finds what is near: nodes against the segments and ends of other bodies, and against rigid polylines.
//!
//! Broad phase by a sweep: boxes sorted along one axis, so that a node looks only at those that can be near it.

use super::candidate::{Candidate, Corner, Key, Law};
use super::shape::{Shape, direction, inner, minus};
use crate::model::references::diagonal;
use crate::model::{Body, Component, Model, Obstacle};
use crate::system::Nodes;
use std::collections::BTreeMap;

/// Part of the model's length below which a difference of places is rounding.
const ROUNDING: f64 = 1e-9;

/// Part of its body's length by which a free end without thickness reaches further: a body that bends draws its end back, and
/// what is exactly above it is to meet it all the same.
const FREE_END: f64 = 1e-4;

/// Boxes along one axis, sorted by their lower ends.
#[derive(Clone, Debug, Default)]
struct Sweep {
    lower: Vec<(f64, u32)>,
    widest: f64,
}

impl Sweep {
    fn sort(&mut self, ends: impl Iterator<Item = [f64; 2]>) {
        self.lower.clear();
        self.widest = 0.0;
        for (i, [low, high]) in ends.enumerate() {
            self.lower.push((low, i as u32));
            self.widest = self.widest.max(high - low);
        }
        self.lower.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    }

    /// Boxes that may reach within `reach` of `x`.
    fn near(&self, x: f64, reach: f64) -> impl Iterator<Item = u32> {
        let first = self.lower.partition_point(|&(low, _)| low < x - reach - self.widest);
        self.lower[first..].iter().take_while(move |&&(low, _)| low <= x + reach).map(|&(_, i)| i)
    }
}

/// Scratch of a search that lives from step to step.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    sweep: Sweep,
}

/// Where nodes are and how far a search must look.
pub(super) struct View<'a> {
    pub nodes: &'a Nodes,
    /// Places of all nodes.
    pub places: &'a [[f64; 2]],
    /// Displacement of the obstacle.
    pub shift: [f64; 2],
    /// Gaps beyond this are of no interest.
    pub reach: f64,
    /// Axis along which the model is longest.
    pub axis: usize,
    /// Velocity at the start of the step, over all degrees of freedom, and the length of the step.
    pub velocity: (&'a [f64], f64),
    /// What the search of the last step found, in order; none before the first step.
    pub known: Option<&'a [(Key, u32)]>,
}

impl View<'_> {
    /// How far a node moves along a direction against another one until it crosses the line through that one, from which it is
    /// `signed` away to the left; none unless it does so within two steps.
    fn crossing(&self, [node, end]: [usize; 2], along: [f64; 2], signed: f64) -> Option<f64> {
        let (v, h) = self.velocity;
        let w = minus(self.nodes.translation(node, v), self.nodes.translation(end, v));
        let time = -signed / (w[1] * along[0] - w[0] * along[1]);
        (time.abs() <= 2.0 * h).then(|| time * inner(w, along))
    }

    /// Whether a node can have come to the far side of a line through it: it was above a line of the same body, which `same`
    /// tells by its number, in the last step, or begins there. Any other node went round an end.
    fn crossed(&self, group: u32, node: usize, same: impl Fn(u32) -> bool) -> bool {
        self.known.is_none_or(|known| {
            let at = (group, node as u32);
            let first = known.partition_point(|(key, _)| (key.group, key.node) < at);
            let mut own = known[first..].iter().take_while(|(key, _)| (key.group, key.node) == at);
            own.any(|(key, _)| key.feature % 2 == 0 && same(key.feature / 2))
        })
    }
}

/// A `[[contact]]` whose candidates change from step to step.
pub(super) struct Search {
    group: u32,
    law: Law,
    thickness: f64,
    /// Places nearer than this are the same but for rounding.
    slack: f64,
    shortest: Vec<f64>,
    kind: Kind,
}

enum Kind {
    Polyline { nodes: Vec<usize>, line: Polyline },
    Bodies { sides: Vec<Side>, owners: Owners, initial: Vec<[f64; 2]> },
}

/// Bodies of nodes, and of lines by their numbers in the model.
struct Owners {
    node: Vec<u32>,
    line: Vec<u32>,
}

/// Who looks at what: nodes, and the lines and nodes that they may touch.
struct Side {
    nodes: Vec<usize>,
    lines: Vec<Line>,
    /// Nodes with their neighbours along those lines.
    ends: Vec<(usize, Vec<usize>)>,
}

/// A line that may be touched.
struct Line {
    /// Number in the model.
    number: u32,
    /// Its ends.
    ends: [usize; 2],
    /// How far it reaches beyond its ends. Where lines meet, one of them reaches over the place by rounding, and the others
    /// stay behind by as much; a free end belongs to the line however little it moves.
    beyond: [f64; 2],
}

impl Search {
    /// The search of a contact; none for obstacles whose candidates are always there.
    pub fn new(model: &Model, nodes: &Nodes, group: usize, shortest: &[f64]) -> Option<Search> {
        let contact = &model.contacts[group];
        let kind = match &contact.obstacle {
            Obstacle::Polyline { points } => {
                Kind::Polyline { nodes: contact.nodes.clone(), line: Polyline::new(points) }
            }
            Obstacle::Bodies { others } => {
                let mut sides = vec![Side::new(model, nodes, &contact.nodes, others)];
                if *others != contact.nodes {
                    sides.push(Side::new(model, nodes, others, &contact.nodes));
                }
                let mut body = vec![u32::MAX; model.places.len()];
                for (b, one) in model.bodies.iter().enumerate() {
                    one.nodes.clone().for_each(|node| body[node] = b as u32);
                }
                let initial = model.places.iter().zip(&model.displacement);
                let initial = initial.map(|(x, u)| [x[0] + u[0], x[1] + u[1]]).collect();
                let own = |(b, one): (usize, &Body)| std::iter::repeat_n(b as u32, one.lines.len());
                let line = model.bodies.iter().enumerate().flat_map(own).collect();
                Kind::Bodies { sides, owners: Owners { node: body, line }, initial }
            }
            _ => return None,
        };
        // Bodies are each as thick as the contact says.
        let thickness = if matches!(kind, Kind::Bodies { .. }) { 2.0 * contact.radius } else { contact.radius };
        let slack = ROUNDING * model.length;
        Some(Search { group: group as u32, law: contact.law, thickness, slack, shortest: shortest.to_vec(), kind })
    }

    /// The contact of the case that it belongs to.
    pub fn group(&self) -> usize {
        self.group as usize
    }

    /// Coefficient of restitution of its candidates.
    pub fn restitution(&self) -> f64 {
        self.law.restitution
    }

    /// Whether its candidates slide with friction.
    pub fn rough(&self) -> bool {
        self.law.friction > 0.0
    }

    /// Adds all candidates that are near.
    pub fn find(&self, view: &View, scratch: &mut Scratch, found: &mut Vec<Candidate>) {
        match &self.kind {
            Kind::Polyline { nodes, line } => {
                let ends = |j: usize| line.segment(j).map(|p| p[view.axis] + view.shift[view.axis]);
                scratch.sweep.sort((0..line.segments()).map(|j| ordered(ends(j))));
                for &node in nodes {
                    self.against_polyline(node, line, view, scratch, found);
                }
            }
            Kind::Bodies { sides, owners, initial } => {
                for (k, side) in sides.iter().enumerate() {
                    let spans = side.lines.iter().map(|line| line.ends.map(|node| view.places[node][view.axis]));
                    let points = side.ends.iter().map(|(node, _)| [view.places[*node][view.axis]; 2]);
                    scratch.sweep.sort(spans.chain(points).map(ordered));
                    for &node in &side.nodes {
                        self.against_bodies(node, (sides, k), owners, initial, view, scratch, found);
                    }
                }
            }
        }
    }

    fn push(
        &self,
        node: usize,
        feature: u32,
        shape: Shape,
        touched: &[usize],
        view: &View,
        found: &mut Vec<Candidate>,
    ) {
        let mut corners = [Corner::new(view.nodes, node); 3];
        let mut adjacent = self.shortest[node];
        for (corner, &other) in corners[1..].iter_mut().zip(touched) {
            *corner = Corner::new(view.nodes, other);
            adjacent = adjacent.min(self.shortest[other]);
        }
        let key = Key { group: self.group, node: node as u32, feature };
        let mut candidate = Candidate::shaped(key, self.law, shape, corners, self.thickness, view.nodes.free);
        candidate.adjacent = adjacent;
        found.push(candidate);
    }

    #[allow(clippy::too_many_arguments, reason = "one call, all of one search")]
    fn against_bodies(
        &self,
        node: usize,
        (sides, k): (&[Side], usize),
        owners: &Owners,
        initial: &[[f64; 2]],
        view: &View,
        scratch: &Scratch,
        found: &mut Vec<Candidate>,
    ) {
        let (side, body) = (&sides[k], &owners.node);
        let place = view.places[node];
        let limit = view.reach + self.thickness;
        let own = Corner::new(view.nodes, node);
        let joined = |other: usize| own.joined(&Corner::new(view.nodes, other));
        for near in scratch.sweep.near(place[view.axis], limit) {
            let near = near as usize;
            if let Some(&Line { number, ends: line, beyond }) = side.lines.get(near) {
                let [a, b] = line.map(|node| view.places[node]);
                let (length, along) = direction(minus(b, a));
                let offset = minus(place, a);
                let signed = offset[1] * along[0] - offset[0] * along[1];
                let apart = body[node] != body[line[0]] && !line.into_iter().any(joined);
                // A body without thickness is touched from the side where the node was at the start.
                let side = match self.thickness > 0.0 {
                    true => 0.0,
                    false => side_of(initial[node], line.map(|end| initial[end])),
                };
                let distance = if side == 0.0 { signed.abs() } else { side * signed };
                let s = inner(offset, along);
                let same = |number: u32| owners.line[number as usize] == body[line[0]];
                let known = || view.crossed(self.group, node, same);
                let above = match self.thickness > 0.0 {
                    // Round its ends a thick body is a matter of points.
                    true => s > 0.0 && s < length,
                    false => {
                        let inside = |s: f64, by: f64| s >= -beyond[0] - by && s <= length + beyond[1] + by;
                        // Beyond a tilted end: what rests on it, or is about to cross the line where the line is.
                        inside(s, 0.0) || {
                            let end = usize::from(s > 0.0);
                            let crossing = || view.crossing([node, line[end]], along, signed);
                            let near = || crossing().is_some_and(|way| inside(s + way, 0.0));
                            beyond[end] > 0.0 && ((known() && inside(s, signed.abs())) || near())
                        }
                    }
                };
                let in_front = distance >= -self.slack || known();
                if apart && above && in_front && distance.abs() <= limit && length > 0.0 {
                    self.push(node, 2 * number, Shape::Segment { side }, &line, view, found);
                }
            } else if self.thickness > 0.0 {
                // Points without thickness cannot touch each other.
                let (end, neighbours) = &side.ends[near - side.lines.len()];
                let distance = direction(minus(place, view.places[*end])).0;
                let apart = || body[node] != body[*end] && !joined(*end);
                if distance > limit || !apart() || !faces(place, *end, neighbours, view.places) {
                    continue;
                }
                // Two ends that face each other are found from both sides; once is enough.
                let other = if sides.len() == 1 { side } else { &sides[1 - k] };
                let mirrored = other.ends.binary_search_by_key(&node, |(n, _)| *n).is_ok_and(|i| {
                    let (_, neighbours) = &other.ends[i];
                    other.nodes.binary_search(end).is_ok() && faces(view.places[*end], node, neighbours, view.places)
                });
                if !mirrored || node < *end {
                    self.push(node, 2 * *end as u32 + 1, Shape::Point, &[*end], view, found);
                }
            }
        }
    }

    fn against_polyline(
        &self,
        node: usize,
        line: &Polyline,
        view: &View,
        scratch: &Scratch,
        found: &mut Vec<Candidate>,
    ) {
        let place = minus(view.places[node], view.shift);
        let limit = view.reach + self.thickness;
        let mut nearest: Option<(f64, Feature)> = None;
        // Segments have even numbers, their starts odd ones; more than a few at once are not near one node.
        let (mut features, mut count) = ([0; 8], 0);
        let mut add = |feature: usize| {
            if count < features.len() {
                features[count] = feature;
                count += 1;
            }
        };
        for j in scratch.sweep.near(view.places[node][view.axis], limit) {
            let j = j as usize;
            let near = line.measure(j, place);
            if near.closest > limit {
                continue;
            }
            if nearest.is_none_or(|(best, _)| near.closest < best) {
                nearest = Some((near.closest, near.feature));
            }
            match near.feature {
                // In front of a segment: it can be touched, whatever else is near.
                Feature::Inside if near.signed >= 0.0 => add(2 * j),
                Feature::Inside => {}
                Feature::Start if line.is_corner(j, place) => add(2 * j + 1),
                Feature::End if line.is_last(j) => add(2 * j + 3),
                Feature::Start | Feature::End => {}
            }
        }
        // Behind the polyline: the nearest segment, and with it the next one where they form a hollow.
        let behind = scratch.sweep.near(view.places[node][view.axis], limit).map(|j| j as usize);
        let behind = behind.filter(|&j| {
            let near = line.measure(j, place);
            near.feature == Feature::Inside
                && near.signed < 0.0
                && near.closest <= limit
                && nearest.is_some_and(|(best, _)| near.closest == best || line.hollow_with_nearest(j, place, best))
        });
        for j in behind {
            add(2 * j);
        }
        for &feature in &features[..count] {
            let centre = line.points[feature / 2];
            self.push(node, feature as u32, Shape::Circle { centre, radius: 0.0, inside: false }, &[], view, found);
            if feature % 2 == 0
                && let Some(candidate) = found.last_mut()
            {
                candidate.lean(line.straight(feature / 2));
            }
        }
    }
}

impl Side {
    fn new(model: &Model, numbers: &Nodes, nodes: &[usize], others: &[usize]) -> Side {
        let mut among = vec![false; model.places.len()];
        others.iter().for_each(|&node| among[node] = true);
        let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); model.places.len()];
        // Ends that a joint makes one have the same unknowns.
        let mut taken = BTreeMap::new();
        let (mut lines, mut number) = (Vec::new(), 0);
        for body in &model.bodies {
            for &line in &body.lines {
                // Springs join bodies and are none themselves.
                if !body.nodes.is_empty() && line.into_iter().all(|node| among[node]) {
                    for (end, node) in line.into_iter().enumerate() {
                        let meeting: &mut Vec<(usize, usize)> =
                            taken.entry(numbers.dof(node, Component::X)).or_default();
                        meeting.push((lines.len(), end));
                    }
                    lines.push(Line { number, ends: line, beyond: [-ROUNDING * model.length; 2] });
                    neighbours[line[0]].push(line[1]);
                    neighbours[line[1]].push(line[0]);
                }
                number += 1;
            }
        }
        for meeting in taken.values() {
            let (line, end) = meeting[0];
            let body = model.body_of(lines[line].ends[end]);
            let free = FREE_END * diagonal(model.places[body.nodes.clone()].iter().copied());
            lines[line].beyond[end] = if meeting.len() == 1 { free } else { ROUNDING * model.length };
        }
        let mut ends: Vec<(usize, Vec<usize>)> =
            others.iter().map(|&node| (node, std::mem::take(&mut neighbours[node]))).collect();
        ends.sort_by_key(|(node, _)| *node);
        let mut nodes = nodes.to_vec();
        nodes.sort_unstable();
        Side { nodes, lines, ends }
    }
}

/// Whether a place lies beyond a node as seen along all its lines, so that the node is what is nearest there.
fn faces(place: [f64; 2], node: usize, neighbours: &[usize], places: &[[f64; 2]]) -> bool {
    let away = minus(place, places[node]);
    neighbours.iter().all(|&next| inner(away, minus(places[next], places[node])) <= 0.0)
}

fn side_of(place: [f64; 2], [a, b]: [[f64; 2]; 2]) -> f64 {
    let (along, offset) = (minus(b, a), minus(place, a));
    1.0_f64.copysign(offset[1] * along[0] - offset[0] * along[1])
}

fn ordered([a, b]: [f64; 2]) -> [f64; 2] {
    [a.min(b), a.max(b)]
}

/// A rigid polyline: the body is on its left, the solid on its right.
struct Polyline {
    points: Vec<[f64; 2]>,
    closed: bool,
}

/// Which part of a segment is nearest.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Feature {
    Inside,
    Start,
    End,
}

struct Near {
    feature: Feature,
    /// Distance from the line, positive on the left.
    signed: f64,
    /// Distance from the nearest point of the segment.
    closest: f64,
}

impl Polyline {
    fn new(points: &[[f64; 2]]) -> Polyline {
        Polyline { points: points.to_vec(), closed: points.len() > 3 && points.first() == points.last() }
    }

    fn segments(&self) -> usize {
        self.points.len() - 1
    }

    fn segment(&self, j: usize) -> [[f64; 2]; 2] {
        [self.points[j], self.points[j + 1]]
    }

    fn straight(&self, j: usize) -> ([f64; 2], [f64; 2]) {
        let [a, b] = self.segment(j);
        let (_, along) = direction(minus(b, a));
        (a, [-along[1], along[0]])
    }

    fn measure(&self, j: usize, place: [f64; 2]) -> Near {
        let [a, b] = self.segment(j);
        let (length, along) = direction(minus(b, a));
        let offset = minus(place, a);
        let s = inner(offset, along);
        let signed = offset[1] * along[0] - offset[0] * along[1];
        let (feature, closest) = if s <= 0.0 {
            (Feature::Start, direction(offset).0)
        } else if s >= length {
            (Feature::End, direction(minus(place, b)).0)
        } else {
            (Feature::Inside, signed.abs())
        };
        Near { feature, signed, closest }
    }

    fn previous(&self, j: usize) -> Option<usize> {
        if j > 0 { Some(j - 1) } else { self.closed.then(|| self.segments() - 1) }
    }

    fn is_last(&self, j: usize) -> bool {
        !self.closed && j + 1 == self.segments()
    }

    /// Turn from one segment to another, positive to the left.
    fn turn(&self, from: usize, to: usize) -> f64 {
        let [a, b] = [from, to].map(|j| direction(minus(self.points[j + 1], self.points[j])).1);
        a[0] * b[1] - a[1] * b[0]
    }

    /// Whether the start of segment `j` is what a place beyond it touches: a free end, or a corner that sticks out.
    fn is_corner(&self, j: usize, place: [f64; 2]) -> bool {
        match self.previous(j) {
            None => true,
            Some(before) => self.turn(before, j) < 0.0 && self.measure(before, place).feature == Feature::End,
        }
    }

    /// Whether segment `j` forms a hollow with a neighbour that is the nearest of all.
    fn hollow_with_nearest(&self, j: usize, place: [f64; 2], best: f64) -> bool {
        let next = if j + 1 < self.segments() { Some(j + 1) } else { self.closed.then_some(0) };
        let before = self.previous(j).filter(|&k| self.turn(k, j) > 0.0);
        let next = next.filter(|&k| self.turn(j, k) > 0.0);
        [before, next].into_iter().flatten().any(|k| self.measure(k, place).closest == best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_finds_what_a_look_at_everything_finds() {
        let mut seed: u64 = 11;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64
        };
        let boxes: Vec<[f64; 2]> = (0..300).map(|_| [random(), 0.1 * random()]).map(|[a, b]| [a, a + b]).collect();
        let mut sweep = Sweep::default();
        sweep.sort(boxes.iter().copied());
        for _ in 0..100 {
            let (x, reach) = (random(), 0.05 * random());
            let wanted = |i: usize| boxes[i][0] <= x + reach && boxes[i][1] >= x - reach;
            let found: Vec<usize> = sweep.near(x, reach).map(|i| i as usize).collect();
            assert!((0..300).filter(|&i| wanted(i)).all(|i| found.contains(&i)));
        }
    }

    /// Nodes around a step with a corner that sticks out and one that is hollow; the solid is on the right.
    #[test]
    fn a_polyline_is_touched_where_it_is_seen() {
        let line = Polyline::new(&[[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [2.0, 0.0]]);
        let inside = |j: usize, place: [f64; 2]| line.measure(j, place).feature == Feature::Inside;
        assert!(inside(0, [0.5, 1.2]) && line.measure(0, [0.5, 1.2]).signed > 0.0);
        // Above right of the edge: the corner, from both segments' ends.
        assert!(line.is_corner(1, [1.1, 1.1]) && !inside(0, [1.1, 1.1]) && !inside(1, [1.1, 1.1]));
        // In the hollow both segments are in front.
        assert!(inside(1, [1.1, 0.1]) && inside(2, [1.1, 0.1]));
        assert!(line.turn(0, 1) < 0.0 && line.turn(1, 2) > 0.0);
        // Just below the top, near the edge: the top is nearest; the side does not form a hollow with it.
        let place = [0.9, 0.999];
        assert!(!line.hollow_with_nearest(1, place, line.measure(0, place).closest));
    }
}
