//! What bodies are made of: the trait [`Element`] and the registry [`ELEMENTS`].

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
}

/// Every element that carom has.
pub const ELEMENTS: &[ElementKind] = &[
    ElementKind {
        name: "bar",
        summary: "axial bar in one dimension, or truss member in the plane (small rotations)",
        required: &["line|polyline|mesh", "material", "section"],
        optional: &["group", "mass_matrix", "damping", "displacement", "velocity", "spin", "spin_centre"],
    },
    ElementKind {
        name: "spring",
        summary: "spring and dashpot between two nodes",
        required: &["between", "stiffness"],
        optional: &["damping", "rest_length"],
    },
    ElementKind {
        name: "mass",
        summary: "point mass",
        required: &["at", "mass"],
        optional: &["displacement", "velocity"],
    },
];
