//! Finds what is near: nodes against the segments and ends of other bodies, and against rigid polylines.
//!
//! How far a body looks follows from its own speed and size; a grid of cells says who may be near.

mod bodies;
mod chain;
mod one_chain;

use super::candidate::{Candidate, Corner};
use super::deepest;
use super::grid::Grid;
use super::shape::Shape;
use super::sides::{Path, side_at_obstacle, stored_for};
use crate::contour::Feature;
use crate::model::references::diagonal;
use crate::model::{Body, Law, Model, Touched};
use crate::nodes::Nodes;
use crate::obstacles::{Facing, Obstacle, Region, Surface};
use crate::plane::minus;
use crate::state::{Key, StoredSide};
use bodies::{NearPoint, Side};
use std::sync::Arc;

/// Part of the model's length below which a difference of positions is rounding.
const ROUNDING: f64 = 1e-9;

/// Part of the length of its chain by which a free end without thickness reaches further: a body that bends draws its end back, and
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
    /// Segments that are near a node, by their numbers.
    near: Vec<u32>,
    /// Points that are near nodes.
    points: Vec<NearPoint>,
    features: Vec<Feature>,
}

/// Who owns which node, how large bodies are and how fast.
#[derive(Clone, Debug, Default)]
pub(super) struct Bodies {
    /// Body of every node.
    pub of_node: Vec<u32>,
    /// Diagonals of the boxes around their reference positions.
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
    /// Positions of all nodes at the start of the step, and at its middle.
    pub starts: &'a [[f64; 2]],
    pub positions: &'a [[f64; 2]],
    /// Displacement of the obstacle at the start, at the middle and at the end of the step.
    pub shifts: [[f64; 2]; 3],
    /// Bodies, and the speed of the fastest node of each.
    pub bodies: &'a Bodies,
    pub speeds: &'a [f64],
    /// Speed of the obstacle.
    pub obstacle_speed: f64,
    /// Velocity and acceleration at the start of the step, over all degrees of freedom.
    pub velocity: &'a [f64],
    pub acceleration: &'a [f64],
    /// Length of the step.
    pub step: f64,
    /// Sides of the last step, in the order of their keys; `is_first` where there was none.
    pub sides: &'a [StoredSide],
    pub is_first: bool,
}

impl View<'_> {
    /// Speed of the fastest node of the body of a node.
    fn speed_of(&self, node: usize) -> f64 {
        self.speeds[self.bodies.of_node[node] as usize]
    }
}

/// A `[[contact]]` whose candidates change from step to step.
pub(super) struct Search {
    group: u32,
    law: Law,
    thickness: f64,
    /// Length of the model.
    length: f64,
    shortest: Vec<f64>,
    kind: Kind,
}

enum Kind {
    Rigid { nodes: Vec<usize>, obstacle: Arc<dyn Obstacle> },
    Bodies(Vec<Side>),
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
                let is_thin = contact.radius == 0.0;
                let mut sides = vec![Side::new(model, nodes, &contact.nodes, others, 0, is_thin)];
                if *others != contact.nodes {
                    let first = sides[0].next_chain(0);
                    sides.push(Side::new(model, nodes, others, &contact.nodes, first, is_thin));
                }
                Kind::Bodies(sides)
            }
            _ => return None,
        };
        // Bodies are each as thick as the contact says.
        let thickness = if matches!(kind, Kind::Bodies(_)) { 2.0 * contact.radius } else { contact.radius };
        let (group, law, length) = (group as u32, contact.law, model.length);
        Some(Search { group, law, thickness, length, shortest: shortest.to_vec(), kind })
    }

    /// The contact of the case that it belongs to.
    pub fn group(&self) -> usize {
        self.group as usize
    }

    /// The nodes at a rigid obstacle, with that and how thick they are; none between bodies.
    pub fn at_obstacle(&self) -> Option<(&[usize], &dyn Obstacle, f64)> {
        match &self.kind {
            Kind::Rigid { nodes, obstacle } => Some((nodes, obstacle.as_ref(), self.thickness)),
            Kind::Bodies(_) => None,
        }
    }

    /// Half of the thickness of its obstacle at a candidate, if that is within `limit`; else infinite.
    pub fn half_thickness(&self, candidate: &Candidate, position: [f64; 2], limit: f64) -> f64 {
        match &self.kind {
            Kind::Rigid { obstacle, .. } => obstacle.half_thickness(candidate.key.feature, position, limit),
            Kind::Bodies(_) => f64::INFINITY,
        }
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
    /// size, and a little further. What touches in a step is then found whichever body moves, and the number of neighbours does
    /// not grow with the model. Nodes without any size take the length of the model for it.
    fn reaches(&self, view: &View, reach: &mut Vec<f64>) {
        let two_steps = 2.0 * view.step;
        let fastest = view.speeds.iter().fold(0.0, |most: f64, &speed| most.max(speed));
        let radius = if matches!(self.kind, Kind::Bodies(_)) { 0.5 * self.thickness } else { self.thickness };
        reach.clear();
        reach.extend(view.bodies.sizes.iter().zip(view.speeds).map(|(&size, &speed)| {
            // A single node without radius has no size of its own; at rest it would find nothing, not even what it touches.
            let size = if size + radius > 0.0 { size + 2.0 * radius } else { self.length };
            (two_steps * speed).max((two_steps * fastest).min(size)) + NEAR * size
        }));
    }

    /// Adds all candidates that are near, and the sides on which nodes are.
    pub fn find(&self, view: &View, scratch: &mut Scratch, found: &mut Vec<Candidate>, stored: &mut Vec<StoredSide>) {
        self.reaches(view, &mut scratch.reach);
        match &self.kind {
            Kind::Rigid { nodes, obstacle } => {
                nodes.iter().for_each(|&node| self.find_near_obstacle(node, obstacle, view, scratch, found, stored));
            }
            Kind::Bodies(sides) => self.find_near_bodies(sides, view, scratch, found, stored),
        }
    }

    /// Adds candidates of a node at a rigid obstacle, and the side on which it is.
    fn find_near_obstacle(
        &self,
        node: usize,
        obstacle: &Arc<dyn Obstacle>,
        view: &View,
        scratch: &Scratch,
        found: &mut Vec<Candidate>,
        stored: &mut Vec<StoredSide>,
    ) {
        let known = stored_for(view.sides, self.group, node).first();
        let way = minus(view.shifts[2], view.shifts[0]);
        let moved = 2.0 * (view.step * view.obstacle_speed).max(way[0].hypot(way[1]));
        let reach = scratch.reach[view.bodies.of_node[node] as usize];
        let depth = known.map_or(0.0, |known| known.depth);
        let limit = reach + moved + self.thickness;
        let mut see = |feature: u32, surface: Surface| {
            let key = Key { group: self.group, node: node as u32, feature };
            let corner = Corner::new(view.nodes, node);
            let mut candidate = Candidate::rigid(key, self.law, corner, self.thickness, view.nodes.free);
            candidate.adjacent = deepest(self.shortest[node], self.thickness);
            candidate.face(surface);
            found.push(candidate);
        };
        let (start, middle) = (view.starts[node], view.positions[node]);
        let end = [0, 1].map(|k| 2.0 * middle[k] - start[k]);
        let path = Path::new([start, middle, end], view.shifts);
        let mut region = obstacle.surfaces(path.middle, limit, &mut see);
        if region == Region::Far && depth > 0.0 {
            // What was stopped behind a surface is slow, and may be deeper than a slow body looks.
            let farther = obstacle.surfaces(path.middle, limit + depth, &mut |_, _| ());
            region = if let Region::Behind(_) = farther { farther } else { Region::Far };
        }
        let side = side_at_obstacle(obstacle.as_ref(), &path, region, limit + depth, known, view.is_first);
        if let (Region::Behind(nearest), 1) = (region, side) {
            obstacle.surfaces_behind(path.middle, nearest, &mut see);
        }
        if side != 0 {
            let depth = if let Region::Behind(depth) = region { depth } else { 0.0 };
            let depth = depth + view.step * view.speed_of(node) + moved;
            let key = Key { group: self.group, node: node as u32, feature: 0 };
            stored.push(StoredSide { key, side, depth });
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
        candidate.adjacent = deepest(adjacent, 0.5 * self.thickness);
        found.push(candidate);
    }
}
