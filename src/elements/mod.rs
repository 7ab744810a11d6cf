//! What bodies are made of: the trait [`Element`], and the registry [`ELEMENTS`].
//!
//! An `Element` is all elements of one body at once, so that the loops over them are plain code. It knows its
//! degrees of freedom and constants; it must not know time, schemes or contact.

mod bar;
mod beam;
mod body;
mod linear_beam;
mod mass;
pub mod section;
mod spring;

pub use body::{Body, Properties, SectionValues};

use crate::keys::Field;
use crate::nodes::{Component, Nodes};
use nalgebra::SMatrix;
use section::Section;

/// Matrix of one element; rows beyond the element's own are zero.
pub type Local = SMatrix<f64, 6, 6>;

/// All elements of one body.
pub trait Element: Send + Sync {
    /// Degrees of freedom and what holds for the body as a whole.
    fn block(&self) -> &Block;

    /// Constant mass matrix of one element.
    fn mass(&self, e: usize) -> Local;

    /// Adds the internal forces at `q` to `f` and returns the strain energy, both from the same strains.
    fn internal(&self, q: &[f64], f: &mut [f64]) -> f64;

    /// Stiffness ∂f/∂q and damping ∂f_d/∂v of one element at `q`; the damping force is f_d = damping(q)·v.
    fn tangent(&self, e: usize, q: &[f64]) -> Tangent;

    /// Section forces of one element at `q`.
    fn resultants(&self, e: usize, q: &[f64]) -> Resultants;
}

/// Stiffness and damping of one element.
pub struct Tangent {
    /// ∂f/∂q.
    pub stiffness: Local,
    /// ∂f_d/∂v.
    pub damping: Local,
}

/// Section forces of one element.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resultants {
    /// Axial force, tension positive.
    pub axial: f64,
    /// Shear force.
    pub shear: f64,
    /// Bending moment.
    pub moment: f64,
}

/// What every body's elements have in common.
#[derive(Clone, Debug)]
pub struct Block {
    /// Degrees of freedom per element.
    pub per: usize,
    /// Degrees of freedom of all elements, `per` each.
    pub dofs: Vec<u32>,
    /// Whether forces are affine in q and damping is constant.
    pub linear: bool,
    /// Whether any element has damping of its own.
    pub damped: bool,
    /// Nodes of one element.
    pub nodes_per_element: usize,
    /// Forces, and moments, in which the rounding of a strain shows: EA and EA times a length.
    pub floor: [f64; 2],
    /// Length of the shortest element: differences of displacement over it are strains.
    pub shortest: f64,
    /// Elements that are geometrically exact beams, all or none.
    pub sections: Vec<Section<f64>>,
    /// Damping of their strain rates, of their stiffness.
    pub rate: f64,
}

impl Block {
    /// Block of elements over groups of nodes; each node gives the components in the order of the list.
    pub fn new<'a>(
        nodes: &Nodes,
        elements: impl Iterator<Item = &'a [usize]>,
        components: &[Component],
        nodes_per_element: usize,
    ) -> Block {
        let mut dofs = Vec::new();
        for element in elements {
            for &node in element {
                dofs.extend(components.iter().map(|&c| nodes.dof(node, c)));
            }
        }
        Block {
            per: components.len() * nodes_per_element,
            dofs,
            linear: true,
            damped: false,
            nodes_per_element,
            floor: [0.0; 2],
            shortest: f64::INFINITY,
            sections: Vec::new(),
            rate: 0.0,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.dofs.len() / self.per
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.dofs.is_empty()
    }

    /// Degrees of freedom of one element.
    pub fn element(&self, e: usize) -> &[u32] {
        &self.dofs[e * self.per..(e + 1) * self.per]
    }
}

/// One entry of the registry.
pub struct ElementKind {
    /// Name in case files.
    pub name: &'static str,
    /// One line for `carom list`.
    pub summary: &'static str,
    /// Keys of a `[[body]]` with this element that must be there (besides `name` and `element`); a key with `|`
    /// means that exactly one of the alternatives is needed.
    pub required: &'static [&'static str],
    /// Further keys that may be there.
    pub optional: &'static [&'static str],
    /// Keys among these that mean something else here than in other bodies.
    pub own: &'static [Field],
    /// What its nodes are.
    pub extent: Extent,
    /// Whether it knows rotations of any size; others know small ones only.
    pub turns: bool,
    /// Components that a node of this element has, in a model of one or two dimensions.
    pub components: fn(usize) -> &'static [Component],
    /// Makes the elements of a body.
    pub build: fn(&Body, &Nodes) -> Box<dyn Element>,
}

/// What the nodes of a body are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Its own, along lines.
    Line,
    /// Two of other bodies, which it joins.
    Link,
    /// Its own, a single one.
    Point,
}

impl ElementKind {
    /// Whether its nodes have rotations: it needs two dimensions, and a section with inertia.
    pub fn bends(&self) -> bool {
        (self.components)(2).contains(&Component::Theta)
    }

    /// Whether it carries axial forces alone, and knows small rotations only.
    pub fn is_bar(&self) -> bool {
        self.extent == Extent::Line && !self.bends() && !self.turns
    }
}

/// Every element that carom has.
pub const ELEMENTS: &[ElementKind] = &[bar::KIND, beam::KIND, linear_beam::KIND, spring::KIND, mass::KIND];

/// The registry entry of that name.
pub fn find(name: &str) -> Option<&'static ElementKind> {
    ELEMENTS.iter().find(|kind| kind.name == name)
}

/// Components of places only.
fn translations(dimension: usize) -> &'static [Component] {
    &[Component::X, Component::Y][..dimension]
}

/// Components of a planar beam; beams exist in the plane only.
fn planar_beam(_: usize) -> &'static [Component] {
    &[Component::X, Component::Y, Component::Theta]
}

/// Values of an element's six degrees of freedom.
#[inline]
fn gather(dofs: &[u32], q: &[f64]) -> [f64; 6] {
    std::array::from_fn(|k| q[dofs[k] as usize])
}

/// Turns (x, y, θ) of both nodes into the axes of a line with this unit vector.
fn in_plane_frame([c, s]: [f64; 2]) -> Local {
    let mut frame = Local::identity();
    for k in [0, 3] {
        (frame[(k, k)], frame[(k, k + 1)]) = (c, s);
        (frame[(k + 1, k)], frame[(k + 1, k + 1)]) = (-s, c);
    }
    frame
}

/// Mass matrix of a two-node element with `per_node` components of equal density, (T31).
fn two_node_mass(total: f64, per_node: usize, lumped: bool) -> Local {
    let (own, cross) = if lumped { (total / 2.0, 0.0) } else { (total / 3.0, total / 6.0) };
    let mut m = Local::zeros();
    for c in 0..per_node {
        m[(c, c)] = own;
        m[(per_node + c, per_node + c)] = own;
        m[(c, per_node + c)] = cross;
        m[(per_node + c, c)] = cross;
    }
    m
}
