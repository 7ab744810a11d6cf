//! One place where something may touch: its gap, the rows of its gradient, and its law.

use super::shape::{Measure, Shape, inner, tangent};
use crate::system::Nodes;
use serde::{Deserialize, Serialize};

/// A row of the contact matrix G: the few degrees of freedom that take part in one relative velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Row {
    length: usize,
    entries: [(u32, f64); 6],
}

impl Row {
    /// A row of up to six entries.
    ///
    /// # Panics
    /// For more.
    pub fn new(entries: &[(u32, f64)]) -> Row {
        let mut row = Row { length: entries.len(), ..Default::default() };
        row.entries[..entries.len()].copy_from_slice(entries);
        row
    }

    /// The entries: degree of freedom and coefficient.
    pub fn entries(&self) -> &[(u32, f64)] {
        &self.entries[..self.length]
    }

    /// Row times vector.
    pub fn times(&self, x: &[f64]) -> f64 {
        self.entries().iter().map(|&(dof, part)| part * x[dof as usize]).sum()
    }

    /// f += p row.
    pub fn push(&self, p: f64, f: &mut [f64]) {
        for &(dof, part) in self.entries() {
            f[dof as usize] += p * part;
        }
    }
}

/// Who touches what: the same from step to step, and the order of candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// Contact of the case.
    pub group: u32,
    /// The node that touches.
    pub node: u32,
    /// What it touches, as its search numbers it.
    pub feature: u32,
}

/// A node that takes part: its reference place and its translations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Corner {
    node: u32,
    place: [f64; 2],
    dofs: [u32; 2],
}

impl Corner {
    /// A node of a system.
    pub fn new(nodes: &Nodes, node: usize) -> Corner {
        use crate::model::Component::{X, Y};
        let y = if nodes.dimension > 1 { nodes.dof(node, Y) } else { u32::MAX };
        Corner { node: node as u32, place: nodes.place[node], dofs: [nodes.dof(node, X), y] }
    }

    /// Its place at displacement `q`.
    pub fn at(&self, q: &[f64]) -> [f64; 2] {
        let y = if self.dofs[1] == u32::MAX { 0.0 } else { q[self.dofs[1] as usize] };
        [self.place[0] + q[self.dofs[0] as usize], self.place[1] + y]
    }

    /// Whether both are the same place of the structure, by a joint or because they are one node.
    pub fn joined(&self, other: &Corner) -> bool {
        self.dofs == other.dofs
    }
}

/// How a contact answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Law {
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Whether the coefficient acts on sliding velocities as well (Moreau's law).
    pub moreau: bool,
    /// Coefficient of friction.
    pub friction: f64,
}

/// A gap and its gradient, (T50): frozen during a step, so that the same G stands in U0, U1 and p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Who touches what.
    pub key: Key,
    /// Law of the contact.
    pub law: Law,
    /// What is touched.
    pub shape: Shape,
    /// First of its rows among all: the normal one; with friction the next is the tangential one.
    pub row: usize,
    /// Direction in which a positive impulse pushes the node.
    pub normal: [f64; 2],
    /// Gradient of the gap.
    pub gap_row: Row,
    /// Gradient of the sliding; empty without friction.
    pub slip_row: Row,
    /// Length of the shortest element at that node; infinite without one.
    pub adjacent: f64,
    /// Whether an impulse can move anything at all. Where supports hold or drive a node along the normal, they carry
    /// what the obstacle would, and the contact takes no part.
    pub responds: bool,
    /// Velocity of the obstacle along the normal and along the tangent, at the start and at the end of the step.
    pub drift: [[f64; 2]; 2],
    /// Displacement of the obstacle at the start and at the end of the step.
    pub shift: [[f64; 2]; 2],
    offset: f64,
    thickness: f64,
    corners: [Corner; 3],
    weights: [f64; 3],
    free: usize,
}

impl Candidate {
    /// A candidate of any affine gap, for systems that do not come from a model.
    pub fn affine(offset: f64, gradient: &[(u32, f64)], restitution: f64) -> Candidate {
        Candidate {
            key: Key::default(),
            law: Law { restitution, ..Default::default() },
            shape: Shape::Affine,
            row: 0,
            normal: [0.0; 2],
            gap_row: Row::new(gradient),
            slip_row: Row::default(),
            adjacent: f64::INFINITY,
            responds: true,
            drift: [[0.0; 2]; 2],
            shift: [[0.0; 2]; 2],
            offset,
            thickness: 0.0,
            corners: [Corner::default(); 3],
            weights: [0.0; 3],
            free: 0,
        }
    }

    /// A node against a straight rigid line: gap = normal·(place − point) − thickness.
    pub fn plane(key: Key, law: Law, nodes: &Nodes, plane: ([f64; 2], [f64; 2]), thickness: f64) -> Candidate {
        let corner = Corner::new(nodes, key.node as usize);
        let mut candidate = Candidate {
            key,
            law,
            thickness,
            corners: [corner, Corner::default(), Corner::default()],
            free: nodes.free,
            ..Candidate::affine(0.0, &[], 0.0)
        };
        candidate.lean(plane);
        candidate
    }

    /// Turns the candidate to a straight rigid line.
    pub fn lean(&mut self, (point, normal): ([f64; 2], [f64; 2])) {
        let place = self.corners[0].place;
        self.shape = Shape::Affine;
        self.offset = inner(normal, [place[0] - point[0], place[1] - point[1]]) - self.thickness;
        self.turn(&Measure { distance: 0.0, normal, weights: [1.0, 0.0, 0.0] });
    }

    /// A candidate with a shape of its own; call [`Candidate::freeze`] before use.
    pub fn shaped(key: Key, law: Law, shape: Shape, corners: [Corner; 3], thickness: f64, free: usize) -> Candidate {
        Candidate { key, law, shape, corners, thickness, free, ..Candidate::affine(0.0, &[], 0.0) }
    }

    /// In one dimension: a node and the one that it stays above.
    pub fn above(key: Key, law: Law, corners: [Corner; 2], thickness: f64, free: usize) -> Candidate {
        let offset = corners[0].place[0] - corners[1].place[0] - thickness;
        let mut candidate = Candidate {
            key,
            law,
            thickness,
            corners: [corners[0], corners[1], Corner::default()],
            free,
            ..Candidate::affine(offset, &[], 0.0)
        };
        candidate.turn(&Measure { distance: 0.0, normal: [1.0, 0.0], weights: [1.0, -1.0, 0.0] });
        candidate
    }

    /// Fixes the gradient at displacement `q` and displacement `shift` of the obstacle; affine gaps have theirs.
    pub fn freeze(&mut self, q: &[f64], shift: [f64; 2]) {
        if !self.shape.is_affine() {
            self.turn(&self.shape.measure(&self.places(q, shift)));
        }
    }

    fn turn(&mut self, measure: &Measure) {
        (self.normal, self.weights) = (measure.normal, measure.weights);
        self.gap_row = self.rows(measure.normal, measure.weights);
        self.slip_row = match self.law.friction > 0.0 {
            true => self.rows(tangent(measure.normal), measure.weights),
            false => Row::default(),
        };
        self.responds = self.gap_row.entries().iter().any(|&(dof, part)| (dof as usize) < self.free && part != 0.0);
    }

    fn rows(&self, direction: [f64; 2], weights: [f64; 3]) -> Row {
        let mut row = Row::default();
        for (corner, weight) in self.corners.iter().zip(weights).filter(|(_, weight)| *weight != 0.0) {
            for (dof, part) in corner.dofs.into_iter().zip(direction).filter(|(dof, _)| *dof != u32::MAX) {
                row.entries[row.length] = (dof, weight * part);
                row.length += 1;
            }
        }
        row
    }

    /// Places of the nodes as the obstacle sees them.
    fn places(&self, q: &[f64], shift: [f64; 2]) -> [[f64; 2]; 3] {
        let [x, y] = self.corners[0].at(q);
        let mut places = [[x - shift[0], y - shift[1]], [0.0; 2], [0.0; 2]];
        match self.shape {
            Shape::Segment { .. } => [places[1], places[2]] = [self.corners[1].at(q), self.corners[2].at(q)],
            Shape::Point => places[1] = self.corners[1].at(q),
            Shape::Affine | Shape::Circle { .. } => {}
        }
        places
    }

    /// Place of the node that touches.
    pub fn place(&self, q: &[f64]) -> [f64; 2] {
        self.corners[0].at(q)
    }

    /// Gap at displacement `q`, the obstacle displaced by `shift`.
    pub fn gap(&self, q: &[f64], shift: [f64; 2]) -> f64 {
        match self.shape {
            Shape::Affine => self.offset + self.gap_row.times(q) - inner(self.normal, shift),
            _ => self.shape.measure(&self.places(q, shift)).distance - self.thickness,
        }
    }

    /// Gap at displacement `q` at the end of the step.
    pub fn gap_at_end(&self, q: &[f64]) -> f64 {
        self.gap(q, self.shift[1])
    }

    /// Gradient of the gap times `x`: the relative velocity Gᵀv, motion of the obstacle apart.
    pub fn rate(&self, x: &[f64]) -> f64 {
        self.gap_row.times(x)
    }

    /// Entry of the gradient for one degree of freedom.
    pub fn gradient(&self, dof: usize) -> f64 {
        self.gap_row.entries().iter().filter(|(d, _)| *d as usize == dof).map(|(_, part)| part).sum()
    }

    /// f += p G.
    pub fn push(&self, p: f64, f: &mut [f64]) {
        self.gap_row.push(p, f);
    }

    /// Its rows: normal, and tangential with friction.
    pub fn rows_of(&self) -> impl Iterator<Item = (usize, &Row)> {
        [Some((self.row, &self.gap_row)), self.slides().then_some((self.row + 1, &self.slip_row))].into_iter().flatten()
    }

    /// Whether it has a tangential row.
    pub fn slides(&self) -> bool {
        self.law.friction > 0.0
    }

    /// Coefficient of restitution of a row: that of the contact, for sliding in Moreau's law alone.
    pub fn restitution_of(&self, row: usize) -> f64 {
        if row == self.row || self.law.moreau { self.law.restitution } else { 0.0 }
    }

    /// Velocity of the obstacle along a row at the start (0) and at the end (1) of the step.
    pub fn drift_of(&self, row: usize, end: usize) -> f64 {
        self.drift[end][row - self.row]
    }

    /// What the values of its rows push with on each node, into `f`.
    pub fn each_force(&self, values: &[f64], mut f: impl FnMut(usize, [f64; 2])) {
        let (n, t) = (self.normal, tangent(self.normal));
        let slip = if self.slides() { values[self.row + 1] } else { 0.0 };
        if values[self.row] == 0.0 && slip == 0.0 {
            return;
        }
        let force = [0, 1].map(|k| values[self.row] * n[k] + slip * t[k]);
        for (corner, weight) in self.corners.iter().zip(self.weights).filter(|(_, weight)| *weight != 0.0) {
            f(corner.node as usize, force.map(|part| weight * part));
        }
    }

    /// Second derivatives of the gap as entries (dof, dof, value) of the nodes that can move, into `f`.
    pub fn each_curvature(&self, q: &[f64], shift: [f64; 2], mut f: impl FnMut(usize, usize, f64)) {
        if self.shape.is_affine() {
            return;
        }
        let hessian = self.shape.hessian(&self.places(q, shift));
        for i in 0..6 {
            for j in 0..6 {
                let (a, b) = (self.corners[i / 2].dofs[i % 2], self.corners[j / 2].dofs[j % 2]);
                if hessian[(i, j)] != 0.0 {
                    f(a as usize, b as usize, hessian[(i, j)]);
                }
            }
        }
    }
}
