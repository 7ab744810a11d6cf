//! The mechanical description: what there is, where, how it is held, loaded and touched.
//!
//! A `Model` is made from a case and the meshes and tables that it names. It must not know time schemes,
//! numbering of unknowns or output.

mod build;
pub mod function;
mod law;
mod order;
pub mod points;
pub(crate) mod references;
pub mod section;
mod sections;

pub use crate::elements::{Body, Properties};
pub use crate::nodes::Component;
pub use law::Law;

use crate::case::data;
use crate::obstacles::{Facing, Obstacle, Surface, Window};
use function::Function;
use points::Point;
use std::sync::Arc;

/// Degrees of freedom held or driven.
#[derive(Clone, Debug)]
pub struct Support {
    /// Name in the case.
    pub name: String,
    /// Nodes.
    pub nodes: Vec<usize>,
    /// Components held at their reference value.
    pub fix: Vec<Component>,
    /// Components that follow a function of time, as a displacement from the reference place.
    pub motion: Vec<(Component, Function)>,
}

/// Two nodes at one place that move together.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Name in the case; none for members that meet in a mesh.
    pub name: Option<String>,
    /// The nodes.
    pub nodes: [usize; 2],
    /// Whether rotations are shared too.
    pub kind: data::JointKind,
}

/// Forces on nodes with one factor over time.
#[derive(Clone, Debug)]
pub struct Load {
    /// Name in the case.
    pub name: String,
    /// Node, component and value at factor one.
    pub forces: Vec<(usize, Component, f64)>,
    /// Factor over time.
    pub time: Function,
    /// Whether the load acts along a body, and so follows its mass where that is redistributed.
    pub along_body: bool,
}

/// A unilateral contact.
#[derive(Clone, Debug)]
pub struct Contact {
    /// Name in the case.
    pub name: String,
    /// Nodes that may touch.
    pub nodes: Vec<usize>,
    /// What they may touch.
    pub touched: Touched,
    /// Thickness of the body at its nodes.
    pub radius: f64,
    /// Restitution and friction.
    pub law: Law,
    /// Motion of the obstacle: directions, and how far along each.
    pub motion: Vec<([f64; 2], Function)>,
    /// How its nodes become massless, if they do.
    pub massless: Option<Massless>,
    /// Whether the force of every node is recorded.
    pub per_node: bool,
}

/// How the nodes of a contact become massless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Massless {
    /// Where the mass goes; by element unless given.
    pub rule: Option<data::MassRule>,
    /// Contact law.
    pub law: data::MasslessLaw,
}

/// What nodes may touch.
#[derive(Clone, Debug)]
pub enum Touched {
    /// A rigid obstacle.
    Rigid(Arc<dyn Obstacle>),
    /// In one dimension, bodies that keep their order.
    Neighbours {
        /// A node and the one that it stays above.
        pairs: Vec<[usize; 2]>,
    },
    /// Other bodies.
    Bodies {
        /// Their nodes.
        others: Vec<usize>,
    },
}

impl Contact {
    /// Its obstacle; none between bodies.
    pub fn rigid(&self) -> Option<&dyn Obstacle> {
        if let Touched::Rigid(obstacle) = &self.touched { Some(obstacle.as_ref()) } else { None }
    }

    /// Point and normal of its obstacle, if that is a plane.
    pub fn plane(&self) -> Option<([f64; 2], [f64; 2])> {
        let obstacle = self.rigid().filter(|obstacle| obstacle.facing() == Facing::Always)?;
        let mut plane = None;
        obstacle.surfaces([0.0; 2], 0.0, &mut |_, surface| {
            if let Surface::Straight { point, normal } = surface {
                plane = Some((point, normal));
            }
        });
        plane
    }

    /// The material points that may touch: its nodes, without arms as long as no key of a case gives them any.
    pub fn points(&self) -> impl Iterator<Item = Point> {
        self.nodes.iter().map(|&node| Point::node(node))
    }

    /// All nodes that take part, on both sides.
    pub fn all_nodes(&self) -> impl Iterator<Item = usize> + Clone {
        let others = if let Touched::Bodies { others } = &self.touched { &others[..] } else { &[] };
        self.nodes.iter().chain(others).copied()
    }
}

/// A node whose motion is recorded.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Name in the case.
    pub name: String,
    /// The node.
    pub node: usize,
    /// Whether displacements are recorded too.
    pub displacement: bool,
    /// Whether accelerations are recorded too.
    pub acceleration: bool,
}

/// A section whose forces are recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Name in the case.
    pub name: String,
    /// The body.
    pub body: usize,
    /// Which of its elements.
    pub element: usize,
    /// Distance from the middle of the element.
    pub beyond: f64,
}

/// The mechanical description of a case.
pub struct Model {
    /// One or two.
    pub dimension: usize,
    /// Reference places of all nodes; in one dimension the second coordinate is zero.
    pub places: Vec<[f64; 2]>,
    /// Bodies in the order of the case.
    pub bodies: Vec<Body>,
    /// Acceleration of gravity.
    pub gravity: [f64; 2],
    /// Supports.
    pub supports: Vec<Support>,
    /// Hinges and welds.
    pub joints: Vec<Joint>,
    /// Loads.
    pub loads: Vec<Load>,
    /// Contacts.
    pub contacts: Vec<Contact>,
    /// Probes.
    pub probes: Vec<Probe>,
    /// Sections whose forces are recorded.
    pub sections: Vec<Section>,
    /// Initial displacement of every node: x, y, rotation.
    pub displacement: Vec<[f64; 3]>,
    /// Initial velocity of every node.
    pub velocity: Vec<[f64; 3]>,
    /// Diagonal of the box around all reference nodes and obstacle points.
    pub length: f64,
}

impl Model {
    fn diagonal(&self) -> f64 {
        references::diagonal(self.points())
    }

    /// Reference places and the points of obstacles.
    fn points(&self) -> impl Iterator<Item = [f64; 2]> {
        let obstacles = self.contacts.iter().filter_map(Contact::rigid).flat_map(|obstacle| obstacle.points());
        self.places.iter().copied().chain(obstacles)
    }

    /// What a picture of the model shows.
    pub fn window(&self) -> Window {
        let [low, high] = references::bounds(self.places.iter().copied());
        Window { centre: [0, 1].map(|k| 0.5 * (low[k] + high[k])), size: self.length }
    }

    /// The body that owns a node.
    pub fn body_of(&self, node: usize) -> &Body {
        self.bodies.iter().find(|body| body.nodes.contains(&node)).expect("every node belongs to a body")
    }
}
