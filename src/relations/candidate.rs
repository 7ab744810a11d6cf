//! One place where something may touch: its gap, the rows of its gradient, and its law.

pub use super::corner::Corner;

use super::shape::{Measure, Shape};
use crate::model::Law;
use crate::nodes::NONE;
use crate::obstacles::Surface;
use crate::plane::{inner, minus, tangent};
use crate::state::Key;

/// Part of the positions of bodies below which a path of them relative to each other is too short to tell how a gap bends.
const SHORT_PATH: f64 = 1e-10;

/// Levers of points without arms.
const NO_LEVERS: [[f64; 2]; 3] = [[0.0; 2]; 3];

/// A row of the contact matrix G: the few degrees of freedom that take part in one relative velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Row {
    length: usize,
    entries: [(u32, f64); 9],
}

impl Row {
    /// A row of up to nine entries: three points with x, y and rotation.
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
    /// Length of the shortest element at that node or twice the radius of the contact, whichever is smaller; infinite without
    /// both.
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

    /// A node against something rigid, which [`Candidate::face`] gives it.
    pub fn rigid(key: Key, law: Law, corner: Corner, thickness: f64, free: usize) -> Candidate {
        let corners = [corner, Corner::default(), Corner::default()];
        Candidate { key, law, thickness, corners, free, ..Candidate::affine(0.0, &[], 0.0) }
    }

    /// Turns the candidate to a rigid surface; call [`Candidate::freeze`] before use if that is round
    /// or the point has an arm.
    pub fn face(&mut self, surface: Surface) {
        match surface {
            // gap = normal·(place − point) − thickness
            Surface::Straight { point, normal } => {
                if self.corners[0].arm != [0.0; 2] {
                    self.shape = Shape::Straight { point, normal };
                    return;
                }
                self.shape = Shape::Affine;
                self.offset = inner(normal, minus(self.corners[0].place, point)) - self.thickness;
                self.turn(&Measure { distance: 0.0, normal, weights: [1.0, 0.0, 0.0] }, NO_LEVERS);
            }
            Surface::Round { centre, radius, inside } => self.shape = Shape::Circle { centre, radius, inside },
        }
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
        candidate.turn(&Measure { distance: 0.0, normal: [1.0, 0.0], weights: [1.0, -1.0, 0.0] }, NO_LEVERS);
        candidate
    }

    /// Fixes the gradient at displacement `q` and displacement `shift` of the obstacle; affine gaps have theirs.
    pub fn freeze(&mut self, q: &[f64], shift: [f64; 2]) {
        if !self.shape.is_affine() {
            let levers = self.corners.each_ref().map(|corner| corner.lever(q));
            self.turn(&self.shape.measure(&self.places(q, shift)), levers);
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
        let levers = self.corners.each_ref().map(|corner| corner.mean_lever(q0, q1));
        self.turn(&self.shape.measure(&middle), levers);
        let [start, end] = ends.map(|places| self.shape.measure(&places).distance);
        let along: f64 = (0..3).map(|i| self.weights[i] * inner(self.normal, path[i])).sum();
        let moving = |i: &usize| self.weights[*i] != 0.0;
        // A motion that all points have in common changes no gap between them and takes no part, so that the gradient leaves
        // momentum alone. A rigid obstacle is at rest here.
        let count = (0..3).filter(moving).count();
        let common = [0, 1].map(|k| match count {
            0 | 1 => 0.0,
            _ => (0..3).filter(moving).map(|i| path[i][k]).sum::<f64>() / count as f64,
        });
        let relative = path.map(|step| minus(step, common));
        let length2: f64 = (0..3).filter(moving).map(|i| inner(relative[i], relative[i])).sum();
        let missing = end - start - along;
        // Below that it is the rounding of the gaps, or between bodies that of the positions, which a short path would make large.
        let far = (0..3).filter(moving).flat_map(|i| ends[0][i]).fold(0.0, |far: f64, x| far.max(x.abs()));
        let is_short = count > 1 && length2 <= (SHORT_PATH * far).powi(2);
        let is_rounding = is_short || missing.abs() <= 1e-15 * (start.abs() + self.thickness);
        let share = if is_rounding { 0.0 } else { missing / length2 };
        let mut entries = self.gap_row.entries.iter_mut();
        for i in (0..3).filter(moving) {
            let steps = [relative[i][0], relative[i][1], inner(levers[i], relative[i])];
            for (dof, step) in self.corners[i].dofs.into_iter().zip(steps).filter(|(dof, _)| *dof != NONE) {
                let entry = entries.next().expect("the row was made from the same corners");
                debug_assert_eq!(entry.0, dof);
                entry.1 += share * step;
            }
        }
        let carried = minus(self.shift[1], self.shift[0]);
        self.offset = start
            - self.thickness
            - self.gap_row.times(q0)
            - inner([0, 1].map(|k| self.normal[k] + share * relative[0][k]), carried);
    }

    /// By how much the gap at the end of the step differs from the one that the discrete gradient promised.
    pub fn strays(&self, q1: &[f64]) -> f64 {
        if self.shape.is_affine() { 0.0 } else { self.gap_at_end(q1) - self.offset - self.gap_row.times(q1) }
    }

    fn turn(&mut self, measure: &Measure, levers: [[f64; 2]; 3]) {
        (self.normal, self.weights) = (measure.normal, measure.weights);
        self.gap_row = self.rows(measure.normal, measure.weights, levers, 0.0);
        self.slip_row = match self.law.friction > 0.0 {
            true => self.rows(tangent(measure.normal), measure.weights, levers, 1.0),
            false => Row::default(),
        };
        self.responds = self.gap_row.entries().iter().any(|&(dof, part)| (dof as usize) < self.free && part != 0.0);
    }

    /// The row of a direction. Along the tangent the rim of a disc counts: the point of it that touches is −r n from its
    /// middle, or r n on the other side, and turning by one moves it by r along the tangent.
    fn rows(&self, direction: [f64; 2], weights: [f64; 3], levers: [[f64; 2]; 3], rim: f64) -> Row {
        let mut row = Row::default();
        for (i, (corner, weight)) in self.corners.iter().zip(weights).enumerate().filter(|(_, (_, w))| *w != 0.0) {
            for (dof, part) in corner.dofs.into_iter().zip(direction).filter(|(dof, _)| *dof != NONE) {
                row.entries[row.length] = (dof, weight * part);
                row.length += 1;
            }
            if corner.dofs[2] != NONE {
                let part = weight * inner(direction, levers[i]) + weight.abs() * rim * corner.disc;
                row.entries[row.length] = (corner.dofs[2], part);
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
            Shape::Affine | Shape::Straight { .. } | Shape::Circle { .. } => {}
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
            Shape::Affine => self.level(shift) + self.gap_row.times(q),
            _ => self.shape.measure(&self.places(q, shift)).distance - self.thickness,
        }
    }

    /// An affine gap without displacement of the nodes; not a number for a curved one.
    pub fn level(&self, shift: [f64; 2]) -> f64 {
        if self.shape.is_affine() { self.offset - inner(self.normal, shift) } else { f64::NAN }
    }

    /// Gap at displacement `q` at the end of the step.
    pub fn gap_at_end(&self, q: &[f64]) -> f64 {
        self.gap(q, self.shift[1])
    }

    /// The radius of the disc that the node touches, and where the node is at the start and at the end of the step, seen from the middle of
    /// the disc; none for other shapes.
    pub(super) fn path_at_disc(&self, q0: &[f64], q1: &[f64]) -> Option<(f64, [[f64; 2]; 2])> {
        let ends = || [self.places(q0, self.shift[0]), self.places(q1, self.shift[1])];
        match self.shape {
            Shape::Circle { centre, radius, inside: false } => {
                Some((radius + self.thickness, ends().map(|places| minus(places[0], centre))))
            }
            Shape::Point => Some((self.thickness, ends().map(|places| minus(places[0], places[1])))),
            _ => None,
        }
    }

    /// Whether both candidates have a node in common.
    pub(super) fn shares_node(&self, other: &Candidate) -> bool {
        let nodes = |candidate: &Candidate| {
            let count = match candidate.shape {
                Shape::Segment { .. } => 3,
                Shape::Point => 2,
                _ => 1,
            };
            candidate.corners.map(|corner| corner.node).into_iter().take(count)
        };
        nodes(self).any(|node| nodes(other).any(|other| other == node))
    }

    /// How thick the node is for this contact.
    pub(super) fn thickness(&self) -> f64 {
        self.thickness
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
        let places = self.places(q, shift);
        let hessian = self.shape.hessian(&places);
        for i in 0..6 {
            for j in 0..6 {
                let (a, b) = (self.corners[i / 2].dofs[i % 2], self.corners[j / 2].dofs[j % 2]);
                if hessian[(i, j)] != 0.0 {
                    f(a as usize, b as usize, hessian[(i, j)]);
                }
            }
        }
        if self.corners.iter().all(|corner| corner.dofs[2] == NONE) {
            return;
        }
        // The chain rule through ∂p/∂θ, and −(n·R s) for the second derivative of the place itself.
        let measure = self.shape.measure(&places);
        let levers = self.corners.each_ref().map(|corner| corner.lever(q));
        for (i, own) in self.corners.iter().enumerate().filter(|(_, corner)| corner.dofs[2] != NONE) {
            let turn = own.dofs[2] as usize;
            let bent = |column: usize| inner(levers[i], [hessian[(2 * i, column)], hessian[(2 * i + 1, column)]]);
            for (j, other) in self.corners.iter().enumerate() {
                let across = [bent(2 * j), bent(2 * j + 1)];
                for (dof, part) in other.dofs.into_iter().zip(across).filter(|(_, part)| *part != 0.0) {
                    f(turn, dof as usize, part);
                    f(dof as usize, turn, part);
                }
                if other.dofs[2] != NONE {
                    f(turn, other.dofs[2] as usize, inner(across, levers[j]));
                }
            }
            f(turn, turn, -measure.weights[i] * inner(measure.normal, own.arm_at(q)));
        }
    }
}

#[cfg(test)]
mod tests;
