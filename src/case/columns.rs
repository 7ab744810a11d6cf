//! Names of the columns of a history, each declared once with what it means.
//!
//! Expectations are checked against these lists and `carom list columns` prints them; the values come from
//! [`crate::sinks::columns`], which finds its columns here by name.

/// A column, or a family of columns with one for every contact, support, section or probe of a case.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name; of a family the part behind `contact.<name>.` and the like.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Whether its values are whole numbers.
    pub whole: bool,
    /// When a family has it.
    pub when: When,
}

/// When a column exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// In every model.
    Always,
    /// In the plane, and of rotations only where nodes have one.
    Plane,
    /// If the probe has this word in its `columns`.
    Asked(&'static str),
    /// In the plane, if the probe has this word in its `columns`.
    AskedInPlane(&'static str),
}

const fn number(name: &'static str, about: &'static str) -> Column {
    Column { name, about, whole: false, when: When::Always }
}

const fn count(name: &'static str, about: &'static str) -> Column {
    Column { name, about, whole: true, when: When::Always }
}

const fn planar(name: &'static str, about: &'static str) -> Column {
    Column { name, about, whole: false, when: When::Plane }
}

/// Columns that every history has, in this order.
pub const COLUMNS: &[Column] = &[
    count("step", "number of the accepted step; row 0 is the initial state"),
    number("time", "instant"),
    number("h", "size of the step that led to the row; empty in the first"),
    number("kinetic", "kinetic energy"),
    number("strain", "strain energy"),
    number("potential", "potential of gravity, zero in the reference configuration"),
    number("energy", "kinetic, strain and potential energy together"),
    number("work_external", "work of loads since t = 0"),
    number("work_damping", "work of damping"),
    number("work_support", "work of moving supports and obstacles"),
    number("work_contact", "work of contact, friction included"),
    number("work_friction", "the part of work_contact along tangents"),
    number("work_scheme", "energy that the scheme takes or gives"),
    number("work_curvature", "what the trapezoidal rule leaves of a nonlinear strain energy"),
    number("defect", "what the ledger does not explain: round-off"),
    number("storage", "storage function of the scheme, where it has one"),
    number("storage_defect", "what its identity does not explain"),
    number("min_gap", "least gap of all contact candidates"),
    count("active", "contacts that took part in the step"),
    number("impulse", "normal impulse of all contacts in the step"),
    count("newton", "Newton passes"),
    count("factorizations", "numerical factorizations"),
    count("sweeps", "sweeps or pivots of the contact solver"),
    number("complementarity", "residual of the contact law, scaled"),
];

/// What has columns of its own: the word in front of the name, and the columns.
pub const FAMILIES: &[(&str, &[Column])] = &[
    (
        "contact",
        &[
            number("impulse", "normal impulse in the step, over all nodes"),
            number("force", "the impulse over the step size: the mean normal force"),
            number("gap", "least gap"),
            planar("tangent", "mean tangential force, along the normal turned clockwise"),
            count("count", "closed candidates"),
        ],
    ),
    (
        "probe",
        &[
            number("x", "position"),
            planar("y", "position"),
            planar("theta", "rotation"),
            number("vx", "velocity"),
            planar("vy", "velocity"),
            planar("vtheta", "angular velocity"),
            Column { when: When::Asked("u"), ..number("ux", "displacement from the reference place") },
            Column { when: When::AskedInPlane("u"), ..number("uy", "displacement from the reference place") },
            Column {
                when: When::Asked("a"),
                ..number("ax", "change of velocity over the step size, impacts included")
            },
            Column {
                when: When::AskedInPlane("a"),
                ..number("ay", "change of velocity over the step size, impacts included")
            },
        ],
    ),
    (
        "support",
        &[
            number("fx", "mean force of the support on the structure over the step, impacts included"),
            planar("fy", "mean force of the support on the structure over the step, impacts included"),
            planar("moment", "mean moment of the support on the rotations that it holds"),
        ],
    ),
    (
        "section",
        &[
            number("N", "axial force, tension positive"),
            number("V", "shear force"),
            number("M", "bending moment"),
            number("stress", "normal stress of largest modulus"),
        ],
    ),
];

/// Values of a column that a run is asked for: behind the name of the column.
pub const ENDINGS: &[&str] = &["final", "min", "max", "min_time", "max_time", "rms"];

/// The columns of a family.
pub fn family(kind: &str) -> Option<&'static [Column]> {
    FAMILIES.iter().find(|(name, _)| *name == kind).map(|(_, columns)| *columns)
}
