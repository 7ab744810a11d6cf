//! The mechanical description: what there is, where, how it is held, loaded and touched.
//!
//! A `Model` is made from a case and the meshes and tables that it names. It must not know time schemes,
//! numbering of unknowns or output.

mod build;
pub mod function;
pub(crate) mod references;
pub mod section;

use crate::case::data;
use crate::contact::Law;
use crate::elements::ElementKind;
use function::Function;
use section::SectionValues;
use std::ops::Range;

/// A component of a node's motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Component {
    /// Along x.
    X,
    /// Along y.
    Y,
    /// Rotation, counter-clockwise.
    Theta,
}

impl Component {
    /// Name in case files and columns.
    pub fn name(self) -> &'static str {
        ["x", "y", "theta"][self as usize]
    }

    /// The component of that name.
    pub fn find(name: &str) -> Option<Component> {
        [Component::X, Component::Y, Component::Theta].into_iter().find(|c| c.name() == name)
    }
}

/// A body: its elements and what they are made of.
#[derive(Clone)]
pub struct Body {
    /// Unique name.
    pub name: String,
    /// What its elements are.
    pub kind: &'static ElementKind,
    /// Its own nodes; none for a spring.
    pub nodes: Range<usize>,
    /// Two-node elements, as nodes of the model; none for a point mass.
    pub lines: Vec<[usize; 2]>,
    /// Constants of its elements.
    pub properties: Properties,
}

/// Constants of a body's elements; zero where they have no meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Properties {
    /// Axial stiffness EA.
    pub axial: f64,
    /// Bending stiffness EI.
    pub bending: f64,
    /// Shear stiffness GA_s.
    pub shear: f64,
    /// Mass per length ρA.
    pub line_mass: f64,
    /// Rotary inertia per length ρI.
    pub line_inertia: f64,
    /// Half the height of the section.
    pub half_height: f64,
    /// Section values as such, for stresses.
    pub section: SectionValues,
    /// Diagonal mass matrix.
    pub lumped: bool,
    /// Residual bending flexibility of the one-point beam.
    pub shear_correction: bool,
    /// Rayleigh damping per mass.
    pub mass_damping: f64,
    /// Rayleigh damping per stiffness.
    pub stiffness_damping: f64,
    /// Point mass.
    pub mass: f64,
    /// Spring stiffness.
    pub stiffness: f64,
    /// Dashpot constant.
    pub dashpot: f64,
    /// Unstretched length of a spring.
    pub rest_length: f64,
}

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
    pub obstacle: Obstacle,
    /// Thickness of the body at its nodes.
    pub radius: f64,
    /// Restitution and friction.
    pub law: Law,
    /// Motion of the obstacle: directions, and how far along each.
    pub motion: Vec<([f64; 2], Function)>,
    /// How its nodes become massless, if they do.
    pub massless: Option<Massless>,
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
#[derive(Clone, Debug, PartialEq)]
pub enum Obstacle {
    /// A rigid plane.
    Plane {
        /// A point of the plane.
        point: [f64; 2],
        /// Unit normal towards the body.
        normal: [f64; 2],
    },
    /// A rigid half plane with an end.
    HalfPlane {
        /// Its end.
        point: [f64; 2],
        /// Unit normal towards the body.
        normal: [f64; 2],
        /// Unit vector from the end along the surface.
        direction: [f64; 2],
    },
    /// A rigid circle.
    Circle {
        /// Its centre.
        centre: [f64; 2],
        /// Its radius.
        radius: f64,
        /// Whether the body is inside.
        inside: bool,
    },
    /// A rigid polyline with the body on its left.
    Polyline {
        /// Its corners.
        points: Vec<[f64; 2]>,
    },
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

impl Obstacle {
    /// Points that belong to the model's size.
    fn points(&self) -> Vec<[f64; 2]> {
        match self {
            Obstacle::Plane { point, .. } | Obstacle::HalfPlane { point, .. } => vec![*point],
            &Obstacle::Circle { centre: [x, y], radius, .. } => {
                vec![[x - radius, y - radius], [x + radius, y + radius]]
            }
            Obstacle::Polyline { points } => points.clone(),
            Obstacle::Neighbours { .. } | Obstacle::Bodies { .. } => Vec::new(),
        }
    }

    /// Point and normal, if it is a plane.
    pub fn plane(&self) -> Option<([f64; 2], [f64; 2])> {
        match *self {
            Obstacle::Plane { point, normal } => Some((point, normal)),
            _ => None,
        }
    }
}

/// A node whose motion is recorded.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Name in the case.
    pub name: String,
    /// The node.
    pub node: usize,
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
    /// Initial displacement of every node: x, y, rotation.
    pub displacement: Vec<[f64; 3]>,
    /// Initial velocity of every node.
    pub velocity: Vec<[f64; 3]>,
    /// Diagonal of the box around all reference nodes and obstacle points.
    pub length: f64,
}

impl Model {
    fn diagonal(&self) -> f64 {
        let obstacles = self.contacts.iter().flat_map(|contact| contact.obstacle.points());
        references::diagonal(self.places.iter().copied().chain(obstacles))
    }

    /// The body that owns a node.
    pub fn body_of(&self, node: usize) -> &Body {
        self.bodies.iter().find(|body| body.nodes.contains(&node)).expect("every node belongs to a body")
    }
}
