//! The `[[body]]` table of the registry, with its inner tables.

use super::spec::*;
use crate::elements::{ELEMENTS, ElementKind};
use Kind::{Flag, Integer, Name, Nested, Number, Path, Refs, Text, Vector, Vectors, Word};

/// Bounds the memory that one line of a case can ask for.
pub(super) const MOST_ELEMENTS: i64 = 10_000_000;

/// A body.
pub(super) static BODY: Table = Table {
    title: "[[body]]",
    doc: "A body: where it is, what it is made of, how it moves at the start",
    fields: &[required("name", Name, "Unique among bodies and sets")],
    one_of: &[],
    tag: Some(Tag { key: "element", doc: "What the body is made of", absent: None, variants: elements }),
};

/// Every key that an element may ask for.
const BODY_KEYS: &[Field] = &[
    optional("line", Nested(&LINE), "Straight line of elements"),
    optional("polyline", Nested(&POLYLINE), "Several straight pieces"),
    optional("mesh", Path, "Gmsh file"),
    optional("group", Text, "Physical group of lines in the mesh; all lines unless given"),
    optional("at", Vector, "Place of the mass"),
    optional("between", Refs(Reference::Node, 2, 2), "The two nodes that are joined"),
    optional("material", Nested(&MATERIAL), "Linear elastic material"),
    optional("section", Nested(&SECTION), "Cross-section"),
    default("mass_matrix", Word(MASS_MATRICES), "\"consistent\"", "Mass matrix of the elements"),
    default("shear_correction", Flag, "false", "Residual bending flexibility of the one-point beam"),
    optional("mass", Number(POSITIVE), "Mass"),
    optional("stiffness", Number(NON_NEGATIVE), "Spring stiffness"),
    optional("damping", Nested(&RAYLEIGH), "Rayleigh damping"),
    optional("rest_length", Number(ANY), "Unstretched length, signed in one dimension; the initial one unless given"),
    optional("displacement", Vector, "Uniform initial displacement"),
    optional("velocity", Vector, "Uniform initial velocity"),
    optional("spin", Number(ANY), "Initial angular velocity, counter-clockwise"),
    optional("spin_centre", Vector, "Centre of the spin; the origin unless given"),
];

/// Damping of elements that join two nodes.
const DASHPOT: Field = optional("damping", Number(NON_NEGATIVE), "Dashpot constant");

fn elements() -> Vec<Variant> {
    let variants = ELEMENTS.iter().map(|kind| {
        let (groups, single): (Vec<&str>, Vec<&str>) = kind.required.iter().partition(|key| key.contains('|'));
        let one_of: Vec<Vec<&'static str>> = groups.iter().map(|group| group.split('|').collect()).collect();
        let alternatives = one_of.iter().flatten().map(|key| body_key(kind, key));
        let required = single.iter().map(|key| Field { need: Need::Required, ..body_key(kind, key) });
        let optional = kind.optional.iter().map(|key| body_key(kind, key));
        let fields = required.chain(alternatives).chain(optional).collect();
        Variant { name: kind.name, doc: kind.summary, fields, one_of }
    });
    variants.collect()
}

fn body_key(element: &ElementKind, name: &str) -> Field {
    if name == "damping" && element.required.contains(&"between") {
        return DASHPOT;
    }
    *BODY_KEYS.iter().find(|field| field.name == name).expect("elements ask for keys in BODY_KEYS, tested below")
}

static LINE: Table = table(
    "line",
    "Straight line of elements",
    &[
        required("from", Vector, "First node"),
        required("to", Vector, "Last node"),
        required("elements", Integer(1, MOST_ELEMENTS), "Number of elements"),
        default("grading", Number(POSITIVE), "1.0", "Length of the last element over that of the first"),
    ],
);

static POLYLINE: Table = table(
    "polyline",
    "Several straight pieces",
    &[
        required("points", Vectors(2, usize::MAX), "Corner points"),
        required("elements", Integer(1, MOST_ELEMENTS), "Elements of the whole line, shared out by length"),
    ],
);

static MATERIAL: Table = table(
    "material",
    "Linear elastic material",
    &[
        required("young", Number(POSITIVE), "Young's modulus"),
        optional(
            "poisson",
            Number(Range { min: -1.0, max: 0.5, min_included: false, max_included: true }),
            "Poisson's ratio, for beams",
        ),
        optional("shear", Number(POSITIVE), "Shear modulus instead of Poisson's ratio"),
        required("density", Number(POSITIVE), "Mass density"),
    ],
);

static SECTION: Table = Table {
    title: "section",
    doc: "Cross-section, by shape or, without `shape`, by its values",
    fields: &[optional(
        "shear_factor",
        Number(POSITIVE),
        "Overrides the shape's shear factor: 5/6 for a rectangle; for circle and tube Cowper's \
         6(1+ν)(1+m²)²/((7+6ν)(1+m²)² + (20+12ν)m²) with m inner over outer radius and ν from `poisson`, or \
         `young`/(2 `shear`) − 1; web·height/area for an I",
    )],
    one_of: &[],
    tag: Some(Tag { key: "shape", doc: "Shape; absent for direct values", absent: Some(DIRECT), variants: shapes }),
};

/// The variant of a section without shape; no word that could be written as a shape.
const DIRECT: &str = "";

fn shapes() -> Vec<Variant> {
    let length = |name, doc| required(name, Number(POSITIVE), doc);
    vec![
        variant(
            DIRECT,
            "direct values",
            vec![
                length("area", "Area"),
                optional("inertia", Number(POSITIVE), "Second moment of area, for beams"),
                optional("shear_area", Number(POSITIVE), "Shear area, for beams"),
            ],
        ),
        variant(
            "rectangle",
            "full rectangle",
            vec![length("width", "Width"), length("height", "Height, in the plane")],
        ),
        variant("circle", "full circle", vec![length("radius", "Radius")]),
        variant("tube", "circular tube", vec![length("radius", "Outer radius"), length("thickness", "Wall thickness")]),
        variant(
            "i",
            "doubly symmetric I",
            vec![
                length("width", "Width of the flanges"),
                length("height", "Height over all, in the plane"),
                length("web", "Thickness of the web"),
                length("flange", "Thickness of a flange"),
            ],
        ),
    ]
}

const MASS_MATRICES: &[Choice] = &[word("consistent", "from the shape functions"), word("lumped", "diagonal")];

static RAYLEIGH: Table = table(
    "damping",
    "Rayleigh damping",
    &[
        default("mass", Number(NON_NEGATIVE), "0.0", "Times the mass matrix"),
        default("stiffness", Number(NON_NEGATIVE), "0.0", "Times the stiffness, on strain rates"),
    ],
);
