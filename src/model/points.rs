//! Material points: a node, and an arm that turns with it.

use crate::nodes::Nodes;

/// A place of a body that a node carries along: p = place of the node + (q_x, q_y) + R(q_θ) s.
///
/// ```
/// use carom::model::points::Point;
/// let node = Point::node(3);
/// assert_eq!((node.node, node.arm), (3, [0.0, 0.0]));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// The node.
    pub node: usize,
    /// The arm s from the node to the point, in the axes of the reference configuration; zero for the node itself.
    pub arm: [f64; 2],
}

impl Point {
    /// A node itself.
    pub fn node(node: usize) -> Point {
        Point { node, ..Default::default() }
    }

    /// A point at a reference place that moves with a node.
    pub fn at(nodes: &Nodes, node: usize, place: [f64; 2]) -> Point {
        let own = nodes.place[node];
        Point { node, arm: [place[0] - own[0], place[1] - own[1]] }
    }

    /// Its reference place.
    pub fn place(&self, nodes: &Nodes) -> [f64; 2] {
        let own = nodes.place[self.node];
        [own[0] + self.arm[0], own[1] + self.arm[1]]
    }
}
