//! One place where something may touch: its gap, the rows of its gradient, and its law.

use super::shape::{Measure, Shape, inner, minus, tangent};
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

    /// Takes the discrete gradient over the step from `q0` to `q1`, (T63): along it the gap changes as it truly does.
    pub fn secant(&mut self, q0: &[f64], q1: &[f64]) {
        if self.shape.is_affine() {
            return;
        }
        let ends = [self.places(q0, self.shift[0]), self.places(q1, self.shift[1])];
        let path = [0, 1, 2].map(|i| minus(ends[1][i], ends[0][i]));
        let middle = [0, 1, 2].map(|i| [0, 1].map(|k| 0.5 * (ends[0][i][k] + ends[1][i][k])));
        self.turn(&self.shape.measure(&middle));
        let [start, end] = ends.map(|places| self.shape.measure(&places).distance);
        let along: f64 = (0..3).map(|i| self.weights[i] * inner(self.normal, path[i])).sum();
        let moving = |i: &usize| self.weights[*i] != 0.0;
        let length2: f64 = (0..3).filter(moving).map(|i| inner(path[i], path[i])).sum();
        let missing = end - start - along;
        // Below that it is the rounding of the gaps, which a short path would make large.
        let share = if missing.abs() > 1e-15 * (start.abs() + self.thickness) { missing / length2 } else { 0.0 };
        let mut entries = self.gap_row.entries.iter_mut();
        for i in (0..3).filter(moving) {
            for (dof, step) in self.corners[i].dofs.into_iter().zip(path[i]).filter(|(dof, _)| *dof != u32::MAX) {
                let entry = entries.next().expect("the row was made from the same corners");
                debug_assert_eq!(entry.0, dof);
                entry.1 += share * step;
            }
        }
        let carried = minus(self.shift[1], self.shift[0]);
        self.offset = start
            - self.thickness
            - self.gap_row.times(q0)
            - inner([0, 1].map(|k| self.normal[k] + share * path[0][k]), carried);
    }

    /// By how much the gap at the end of the step differs from the one that the discrete gradient promised.
    pub fn strays(&self, q1: &[f64]) -> f64 {
        if self.shape.is_affine() { 0.0 } else { self.gap_at_end(q1) - self.offset - self.gap_row.times(q1) }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    /// A node and the two that it may touch, with six degrees of freedom of their own.
    fn candidate(shape: Shape) -> Candidate {
        let place = [[0.1, 0.9], [-0.7, -0.1], [0.8, 0.2]];
        let corners = [0, 1, 2].map(|i| Corner { node: i, place: place[i as usize], dofs: [2 * i, 2 * i + 1] });
        let law = Law { friction: 0.3, ..Default::default() };
        Candidate {
            shift: [[0.01, -0.02], [0.05, 0.03]],
            ..Candidate::shaped(Key::default(), law, shape, corners, 0.1, 6)
        }
    }

    /// Along a discrete gradient the gap changes as it does, for every kind, however long the step; over short steps it is
    /// the gradient, with an error that falls like the square of the step.
    #[test]
    fn discrete_gradients_are_exact_over_a_step() {
        let mut seed = 5;
        for shape in [
            Shape::Circle { centre: [0.3, -0.2], radius: 0.5, inside: false },
            Shape::Circle { centre: [0.3, -0.2], radius: 2.0, inside: true },
            Shape::Segment { side: 1.0 },
            Shape::Segment { side: 0.0 },
            Shape::Point,
        ] {
            let mut errors = [0.0_f64; 2];
            for _ in 0..50 {
                let mut candidate = candidate(shape);
                let q0: Vec<f64> = (0..6).map(|_| 0.2 * random(&mut seed)).collect();
                let step: Vec<f64> = (0..6).map(|_| 0.4 * random(&mut seed)).collect();
                for (error, part) in errors.iter_mut().zip([1e-1, 1e-2]) {
                    candidate.shift[1] = [0, 1].map(|k| candidate.shift[0][k] + part * 0.04);
                    let q1: Vec<f64> = q0.iter().zip(&step).map(|(q, s)| q + part * s).collect();
                    candidate.secant(&q0, &q1);
                    assert!(candidate.strays(&q1).abs() < 1e-14, "{shape:?}: {:e}", candidate.strays(&q1));
                    let discrete = candidate.gap_row;
                    let middle: Vec<f64> = q0.iter().zip(&q1).map(|(a, b)| 0.5 * (a + b)).collect();
                    candidate.freeze(&middle, [0, 1].map(|k| 0.5 * (candidate.shift[0][k] + candidate.shift[1][k])));
                    let pairs = discrete.entries().iter().zip(candidate.gap_row.entries());
                    *error = pairs.map(|(a, b)| (a.1 - b.1).abs()).fold(*error, f64::max);
                }
            }
            assert!(errors[1] < 0.02 * errors[0] && errors[1] > 0.0, "{shape:?}: {errors:?}");
            let mut still = candidate(shape);
            still.shift[1] = still.shift[0];
            still.secant(&[0.0; 6], &[0.0; 6]);
            assert!(still.gap_row.entries().iter().all(|(_, part)| part.is_finite()), "a step without motion");
        }
    }
}
