//! Finds what is near: nodes against the segments and ends of other bodies, and against rigid polylines.
//!
//! How far a body looks follows from its own speed and size; a grid of cells says who may be near.

use super::candidate::{Candidate, Corner};
use super::grid::Grid;
use super::shape::Shape;
use crate::model::references::diagonal;
use crate::model::{Body, Component, Law, Model, Touched};
use crate::nodes::Nodes;
use crate::obstacles::{Facing, Obstacle};
use crate::plane::{direction, inner, minus};
use crate::state::Key;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Part of the model's length below which a difference of places is rounding.
const ROUNDING: f64 = 1e-9;

/// Part of its body's length by which a free end without thickness reaches further: a body that bends draws its end back, and
/// what is exactly above it is to meet it all the same.
const FREE_END: f64 = 1e-4;

/// Part of its own size within which a body looks around, whatever the speed.
const NEAR: f64 = 0.02;

/// Scratch of a search that lives from step to step.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    grid: Grid,
    /// How far each body of the model looks.
    reach: Vec<f64>,
}

/// Who owns which node, how large bodies are and how fast.
#[derive(Clone, Debug, Default)]
pub(super) struct Bodies {
    /// Body of every node.
    pub of_node: Vec<u32>,
    /// Diagonals of the boxes around their reference places.
    pub sizes: Vec<f64>,
}

impl Bodies {
    /// The bodies of a model.
    pub fn new(model: &Model) -> Bodies {
        let mut of_node = vec![u32::MAX; model.places.len()];
        for (b, body) in model.bodies.iter().enumerate() {
            body.nodes.clone().for_each(|node| of_node[node] = b as u32);
        }
        let size = |body: &Body| diagonal(model.places[body.nodes.clone()].iter().copied());
        Bodies { of_node, sizes: model.bodies.iter().map(size).collect() }
    }
}

/// Where nodes are and how far a search must look.
pub(super) struct View<'a> {
    pub nodes: &'a Nodes,
    /// Places of all nodes.
    pub places: &'a [[f64; 2]],
    /// Displacement of the obstacle.
    pub shift: [f64; 2],
    /// Bodies, and the speed of the fastest node of each.
    pub bodies: &'a Bodies,
    pub speeds: &'a [f64],
    /// Speed of the obstacle.
    pub obstacle_speed: f64,
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
    /// Length of the model.
    length: f64,
    /// Places nearer than this are the same but for rounding.
    slack: f64,
    shortest: Vec<f64>,
    kind: Kind,
}

enum Kind {
    Rigid {
        nodes: Vec<usize>,
        obstacle: Arc<dyn Obstacle>,
    },
    Bodies {
        sides: Vec<Side>,
        /// Body of every line of the model.
        owners: Vec<u32>,
        initial: Vec<[f64; 2]>,
    },
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
        let kind = match &contact.touched {
            Touched::Rigid(obstacle) if obstacle.facing() == Facing::Several => {
                Kind::Rigid { nodes: contact.nodes.clone(), obstacle: obstacle.clone() }
            }
            Touched::Bodies { others } => {
                let mut sides = vec![Side::new(model, nodes, &contact.nodes, others)];
                if *others != contact.nodes {
                    sides.push(Side::new(model, nodes, others, &contact.nodes));
                }
                let initial = model.places.iter().zip(&model.displacement);
                let initial = initial.map(|(x, u)| [x[0] + u[0], x[1] + u[1]]).collect();
                let own = |(b, one): (usize, &Body)| std::iter::repeat_n(b as u32, one.lines.len());
                let owners = model.bodies.iter().enumerate().flat_map(own).collect();
                Kind::Bodies { sides, owners, initial }
            }
            _ => return None,
        };
        // Bodies are each as thick as the contact says.
        let thickness = if matches!(kind, Kind::Bodies { .. }) { 2.0 * contact.radius } else { contact.radius };
        let (length, slack) = (model.length, ROUNDING * model.length);
        Some(Search {
            group: group as u32,
            law: contact.law,
            thickness,
            length,
            slack,
            shortest: shortest.to_vec(),
            kind,
        })
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

    /// How far each body looks: as far as two steps carry it, or as an impact of the fastest could, but not beyond its own
    /// size, and a little further. What touches in a step is then found whoever pushes, and the number of neighbours does
    /// not grow with the model. Nodes without any size take the length of the model for it.
    fn reaches(&self, view: &View, reach: &mut Vec<f64>) {
        let two_steps = 2.0 * view.velocity.1;
        let fastest = view.speeds.iter().fold(0.0, |most: f64, &speed| most.max(speed));
        let radius = if matches!(self.kind, Kind::Bodies { .. }) { 0.5 * self.thickness } else { self.thickness };
        reach.clear();
        reach.extend(view.bodies.sizes.iter().zip(view.speeds).map(|(&size, &speed)| {
            // A single node without radius has no size of its own; at rest it would find nothing, not even what it touches.
            let size = if size + radius > 0.0 { size + 2.0 * radius } else { self.length };
            (two_steps * speed).max((two_steps * fastest).min(size)) + NEAR * size
        }));
    }

    /// Adds all candidates that are near.
    pub fn find(&self, view: &View, Scratch { grid, reach }: &mut Scratch, found: &mut Vec<Candidate>) {
        self.reaches(view, reach);
        let reach = |node: usize| reach[view.bodies.of_node[node] as usize];
        match &self.kind {
            Kind::Rigid { nodes, obstacle } => {
                let moved = 2.0 * view.velocity.1 * view.obstacle_speed;
                for &node in nodes {
                    let place = minus(view.places[node], view.shift);
                    let limit = reach(node) + moved + self.thickness;
                    obstacle.surfaces(place, limit, &mut |feature, surface| {
                        let key = Key { group: self.group, node: node as u32, feature };
                        let corner = Corner::new(view.nodes, node);
                        let mut candidate = Candidate::rigid(key, self.law, corner, self.thickness, view.nodes.free);
                        candidate.adjacent = self.shortest[node];
                        candidate.face(surface);
                        found.push(candidate);
                    });
                }
            }
            Kind::Bodies { sides, owners, initial } => {
                for (k, side) in sides.iter().enumerate() {
                    let around = |places: [[f64; 2]; 2], by: f64| {
                        let [a, b] = places;
                        [[0, 1].map(|k| a[k].min(b[k]) - by), [0, 1].map(|k| a[k].max(b[k]) + by)]
                    };
                    let lines = side.lines.iter().map(|line| {
                        let beyond = line.beyond[0].max(line.beyond[1]).max(0.0);
                        let by = reach(line.ends[0]) + self.thickness + beyond;
                        around(line.ends.map(|node| view.places[node]), by)
                    });
                    // Points without thickness cannot touch each other.
                    let ends = side.ends.iter().filter(|_| self.thickness > 0.0);
                    let points = ends.map(|(node, _)| around([view.places[*node]; 2], reach(*node) + self.thickness));
                    grid.sort(lines.chain(points));
                    for &node in &side.nodes {
                        let own = reach(node);
                        grid.each_near(view.places[node], own, |near| {
                            let other = side
                                .lines
                                .get(near)
                                .map_or_else(|| side.ends[near - side.lines.len()].0, |l| l.ends[0]);
                            let limit = own + reach(other) + self.thickness;
                            self.against_bodies([node, near], limit, (sides, k), owners, initial, view, found);
                        });
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

    /// A node and a line or an end that may be near it, by its number.
    #[allow(clippy::too_many_arguments, reason = "one call, all of one search")]
    fn against_bodies(
        &self,
        [node, near]: [usize; 2],
        limit: f64,
        (sides, k): (&[Side], usize),
        owners: &[u32],
        initial: &[[f64; 2]],
        view: &View,
        found: &mut Vec<Candidate>,
    ) {
        let (side, body) = (&sides[k], &view.bodies.of_node);
        let place = view.places[node];
        let own = Corner::new(view.nodes, node);
        let joined = |other: usize| own.joined(&Corner::new(view.nodes, other));
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
            let same = |number: u32| owners[number as usize] == body[line[0]];
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
        } else {
            let (end, neighbours) = &side.ends[near - side.lines.len()];
            let distance = direction(minus(place, view.places[*end])).0;
            let apart = || body[node] != body[*end] && !joined(*end);
            if distance > limit || !apart() || !faces(place, *end, neighbours, view.places) {
                return;
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
