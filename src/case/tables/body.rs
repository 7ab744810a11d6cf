//! `[[body]]`, with the tables inside it.
//!
//! Which of its keys a body has, its element says: see [`ELEMENTS`].

use super::{MOST_ELEMENTS, Section};
use crate::elements::ELEMENTS;
use crate::keys::*;

table! {
    /// A body: where it is, what it is made of, how it moves at the start
    Body("[[body]]") {
        /// Unique among bodies and sets
        name: String as Name;
        /// What the body is made of
        element: String as Tag(elements);
        /// Straight line of elements
        line: Option<Line>;
        /// Several straight pieces
        polyline: Option<Polyline>;
        /// Gmsh file
        mesh: Option<String> as Path;
        /// Physical group of lines in the mesh; all lines unless given
        group: Option<String>;
        /// Place of the mass
        at: Option<Vec<f64>>;
        /// The two nodes that are joined
        between: Option<Vec<String>> as Refs(Reference::Node, 2, 2);
        /// Linear elastic material
        material: Option<Material>;
        /// Cross-section
        section: Option<Section>;
        /// Mass matrix of the elements
        mass_matrix: Option<MassMatrix> => "\"consistent\"";
        /// Residual bending flexibility of the one-point beam
        shear_correction: Option<bool> => "false";
        /// Mass
        mass: Option<f64> as Number(POSITIVE);
        /// Spring stiffness
        stiffness: Option<f64> as Number(NON_NEGATIVE);
        /// Rayleigh damping
        damping: Option<NumberOr<Rayleigh>> as Nested(Rayleigh::TABLE);
        /// Unstretched length, signed in one dimension; the initial one unless given
        rest_length: Option<f64>;
        /// Uniform initial displacement
        displacement: Option<Vec<f64>>;
        /// Uniform initial velocity
        velocity: Option<Vec<f64>>;
        /// Initial angular velocity, counter-clockwise
        spin: Option<f64>;
        /// Centre of the spin; the origin unless given
        spin_centre: Option<Vec<f64>>;
    }
}

fn elements() -> Vec<Variant> {
    let variant = |kind: &crate::elements::ElementKind| {
        Body::TABLE.variant((kind.name, kind.summary), (kind.required, kind.optional), kind.own)
    };
    ELEMENTS.iter().map(variant).collect()
}

table! {
    /// Straight line of elements
    Line("line") {
        /// First node
        from: Vec<f64>;
        /// Last node
        to: Vec<f64>;
        /// Number of elements
        elements: usize as Integer(1, MOST_ELEMENTS);
        /// Length of the last element over that of the first
        grading: f64 as Number(POSITIVE) = 1.0;
    }
}

table! {
    /// Several straight pieces
    Polyline("polyline") {
        /// Corner points
        points: Vec<Vec<f64>> as Vectors(2, usize::MAX);
        /// Elements of the whole line, shared out by length
        elements: usize as Integer(1, MOST_ELEMENTS);
    }
}

table! {
    /// Linear elastic material
    Material("material") {
        /// Young's modulus
        young: f64 as Number(POSITIVE);
        /// Poisson's ratio, for beams
        poisson: Option<f64> as Number(Range { min: -1.0, max: 0.5, min_included: false, max_included: true });
        /// Shear modulus instead of Poisson's ratio
        shear: Option<f64> as Number(POSITIVE);
        /// Mass density
        density: f64 as Number(POSITIVE);
    }
}

words! {
    /// Mass matrix of a body's elements
    MassMatrix {
        /// from the shape functions
        Consistent = "consistent",
        /// diagonal
        Lumped = "lumped",
    }
}

table! {
    /// Rayleigh damping
    Rayleigh("damping") {
        /// Times the mass matrix
        mass: f64 as Number(NON_NEGATIVE) = 0.0;
        /// Times the stiffness, on strain rates
        stiffness: f64 as Number(NON_NEGATIVE) = 0.0;
    }
}
