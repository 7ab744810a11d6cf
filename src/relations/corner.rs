//! Material points that take part in a contact: places as functions of degrees of freedom, with their derivatives.

use crate::model::points::Point;
use crate::nodes::Component::{Theta, X, Y};
use crate::nodes::{NONE, Nodes};
use crate::plane::{quarter, turned};

/// A material point that takes part: its reference place, its translations and, where it has an arm or rolls, its rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    pub(super) node: u32,
    pub(super) place: [f64; 2],
    /// x, y, rotation; [`NONE`] where it has none, or none that matters.
    pub(super) dofs: [u32; 3],
    /// Arm from the node to the point, in the axes of the reference configuration.
    pub(super) arm: [f64; 2],
    /// Radius of the disc around the point that turns with it; zero where only its middle is felt.
    pub(super) disc: f64,
}

impl Default for Corner {
    fn default() -> Corner {
        Corner { node: 0, place: [0.0; 2], dofs: [0, 0, NONE], arm: [0.0; 2], disc: 0.0 }
    }
}

impl Corner {
    /// A node of a system.
    pub fn new(nodes: &Nodes, node: usize) -> Corner {
        let y = if nodes.dimension > 1 { nodes.dof(node, Y) } else { NONE };
        Corner {
            node: node as u32,
            place: nodes.place[node],
            dofs: [nodes.dof(node, X), y, NONE],
            ..Default::default()
        }
    }

    /// A material point; without arm it is its node.
    pub fn of(nodes: &Nodes, point: Point) -> Corner {
        let node = Corner::new(nodes, point.node);
        if point.arm == [0.0; 2] {
            return node;
        }
        let turn = nodes.find(point.node, Theta).map_or(NONE, |dof| dof as u32);
        Corner { place: point.place(nodes), dofs: [node.dofs[0], node.dofs[1], turn], arm: point.arm, ..node }
    }

    /// The point as the middle of a rigid disc that turns with its node: sliding is felt at the rim, so that discs roll.
    pub fn rolling(self, nodes: &Nodes, radius: f64) -> Corner {
        let turn = nodes.find(self.node as usize, Theta).map_or(NONE, |dof| dof as u32);
        Corner { dofs: [self.dofs[0], self.dofs[1], turn], disc: radius, ..self }
    }

    /// Its place at displacement `q`.
    pub fn at(&self, q: &[f64]) -> [f64; 2] {
        let y = if self.dofs[1] == NONE { 0.0 } else { q[self.dofs[1] as usize] };
        let place = [self.place[0] + q[self.dofs[0] as usize], self.place[1] + y];
        if self.dofs[2] == NONE {
            return place;
        }
        // (R − I) s, without the cancellation of 1 − cos.
        let half = (0.5 * q[self.dofs[2] as usize]).sin();
        let turn = turned(quarter(self.arm), 0.5 * q[self.dofs[2] as usize]);
        [place[0] + 2.0 * half * turn[0], place[1] + 2.0 * half * turn[1]]
    }

    /// Whether both are the same place of the structure, by a joint or because they are one node.
    pub fn joined(&self, other: &Corner) -> bool {
        self.dofs[..2] == other.dofs[..2] && self.arm == other.arm
    }

    /// The arm at displacement `q`, as it has turned.
    pub(super) fn arm_at(&self, q: &[f64]) -> [f64; 2] {
        if self.dofs[2] == NONE { [0.0; 2] } else { turned(self.arm, q[self.dofs[2] as usize]) }
    }

    /// Derivative of its place with respect to the rotation.
    pub(super) fn lever(&self, q: &[f64]) -> [f64; 2] {
        quarter(self.arm_at(q))
    }

    /// Lever of a finite step: the place moves by that of the node and this times the rotation, exactly.
    pub(super) fn mean_lever(&self, q0: &[f64], q1: &[f64]) -> [f64; 2] {
        if self.dofs[2] == NONE {
            return [0.0; 2];
        }
        let [from, to] = [q0, q1].map(|q| q[self.dofs[2] as usize]);
        let half = 0.5 * (to - from);
        // sin(x)/x, by its series where both are small.
        let share = if half.abs() < 1e-4 { 1.0 - half * half / 6.0 } else { half.sin() / half };
        quarter(turned(self.arm, 0.5 * (from + to))).map(|x| share * x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point moves with its node and turns around it; without arm it is the node, and it rolls only if told to.
    #[test]
    fn corners_are_material_points() {
        let nodes = Nodes::new(2, vec![[1.0, 2.0], [0.0; 2]], vec![[0, 1, 2], [3, 4, NONE]], [5, 5], None);
        let q = [0.1, -0.2, 0.7, 0.0, 0.0];
        let (sine, cosine) = 0.7_f64.sin_cos();
        let corner = Corner::of(&nodes, Point::at(&nodes, 0, [1.5, 2.25]));
        let expected = [1.1 + 0.5 * cosine - 0.25 * sine, 1.8 + 0.5 * sine + 0.25 * cosine];
        assert!((0..2).all(|k| (corner.at(&q)[k] - expected[k]).abs() < 1e-15), "{:?}", corner.at(&q));
        assert_eq!(Corner::of(&nodes, Point::node(0)), Corner::new(&nodes, 0));
        assert!(!corner.joined(&Corner::new(&nodes, 0)) && corner.joined(&corner.rolling(&nodes, 0.1)));
        assert_eq!(Corner::new(&nodes, 0).rolling(&nodes, 0.1).dofs, [0, 1, 2]);
        assert_eq!(Corner::new(&nodes, 1).rolling(&nodes, 0.1).dofs, [3, 4, NONE]);
    }
}
