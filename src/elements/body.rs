//! A body as its elements see it: nodes, lines and constants.

use super::ElementKind;
use std::ops::Range;

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

/// What an element needs to know of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SectionValues {
    /// Area.
    pub area: f64,
    /// Second moment of area about the axis normal to the plane.
    pub inertia: f64,
    /// Shear area.
    pub shear_area: f64,
    /// Half the height in the plane.
    pub half_height: f64,
}
