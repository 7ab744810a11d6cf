//! Every key of a case file, declared once.
//!
//! Schemes and elements come from their own registries.

use super::registry_body::{BODY, MOST_ELEMENTS};
use super::spec::*;
use crate::schemes::{KeyDefault, SCHEMES};
use Kind::{
    Constants, Flag, Function, Integer, Interval, Map, Motions, Name, Nested, Number, NumberOfPlace, NumberOfTime,
    NumberOr, OffOr, Path, Ref, Refs, Tables, Text, Vector, VectorOfTime, Vectors, Word, Words,
};

/// Beyond this many steps a number is a slip.
const MOST_STEPS: i64 = 1_000_000_000;

/// The whole file.
pub static CASE: Table = table(
    "the case",
    "Keys outside of all tables, and the tables themselves",
    &[
        required("format", Integer(1, 1), "Version of the file format; only 1 exists"),
        default("title", Text, "\"\"", "One line for summaries and reports"),
        default("analysis", Word(ANALYSES), "\"dynamic\"", "Kind of analysis"),
        optional("constants", Constants, "Names for expressions: numbers, or texts with expressions of earlier ones"),
        optional("gravity", Vector, "Acceleration of gravity; none unless given"),
        required("time", Nested(&TIME), "End and step of the time axis"),
        required("scheme", Nested(&SCHEME), "Time scheme"),
        default("solver", Nested(&SOLVER), "{}", "Tolerances of the nonlinear and the contact solver"),
        required("body", Tables(&BODY), "Bodies"),
        optional("set", Tables(&SET), "Named node sets"),
        optional("initial", Tables(&INITIAL), "Initial fields beyond a body's uniform ones"),
        optional("support", Tables(&SUPPORT), "Supports"),
        optional("joint", Tables(&JOINT), "Hinges and welds"),
        optional("load", Tables(&LOAD), "Loads"),
        optional("contact", Tables(&CONTACT), "Unilateral contacts"),
        optional("probe", Tables(&PROBE), "Nodes whose motion goes into the history"),
        default("guards", Nested(&GUARDS), "{}", "Limits that stop a run gone wrong"),
        default("output", Nested(&OUTPUT), "{}", "What a run writes"),
        optional("expect", Map(&EXPECT), super::expect::FORMS),
    ],
);

const ANALYSES: &[Choice] =
    &[word("dynamic", "transient"), word("static", "equilibrium path; `[time]` is the load parameter")];

static TIME: Table = table(
    "[time]",
    "End and step of the time axis",
    &[
        required("end", Number(POSITIVE), "Last instant"),
        required("step", Number(POSITIVE), "Step size; the last step is shortened where the end asks for it"),
        default("min_step", Number(POSITIVE), "step / 1024", "Floor of step cuts"),
        default(
            "first_step",
            Number(POSITIVE),
            "step",
            "Size of the first step, at most `step`: shifts all later instants, as error studies need it",
        ),
    ],
);

static SCHEME: Table = Table {
    title: "[scheme]",
    doc: "Time scheme: a name, the keys of that scheme, and two common ones",
    fields: &[
        default("position", Word(POSITIONS), "\"half\"", "How an impact moves positions"),
        default(
            "forecast",
            Number(between(0.0, 1.0)),
            "0.5",
            "Activation: a contact acts if gap + forecast·h·rate ≤ 0",
        ),
    ],
    one_of: &[],
    tag: Some(Tag { key: "name", doc: "Name of the scheme", absent: None, variants: schemes }),
};

const POSITIONS: &[Choice] =
    &[word("half", "half of the velocity jump times the step"), word("ggl", "corrected: no penetration")];

fn schemes() -> Vec<Variant> {
    let field = |key: &'static crate::schemes::Key| {
        let kind = Number(between(key.min, key.max));
        match &key.default {
            KeyDefault::Required => required(key.name, kind, key.doc),
            KeyDefault::Value(value) => Field { need: Need::Number(*value), ..optional(key.name, kind, key.doc) },
            KeyDefault::Rule(rule, _) => default(key.name, kind, rule, key.doc),
        }
    };
    SCHEMES.iter().map(|scheme| variant(scheme.name, scheme.summary, scheme.keys.iter().map(field).collect())).collect()
}

static SOLVER: Table = table(
    "[solver]",
    "Tolerances of the nonlinear and the contact solver",
    &[
        default("newton", Nested(&NEWTON), "{}", "Newton iteration"),
        default("contact", Nested(&CONTACT_SOLVER), "{}", "Contact solver"),
    ],
);

static NEWTON: Table = table(
    "solver.newton",
    "Newton iteration",
    &[
        default("tolerance", Number(inside(0.0, 1.0)), "1e-11", "Relative tolerance on the residual"),
        default("passes", Integer(1, 10_000), "40", "Most passes before the step is cut"),
    ],
);

static CONTACT_SOLVER: Table = table(
    "solver.contact",
    "Contact solver",
    &[
        default("method", Word(METHODS), "\"auto\"", "Which solver"),
        default("tolerance", Number(inside(0.0, 1.0)), "1e-11", "Tolerance on the scaled natural-map residual"),
        default("sweeps", Integer(1, 1_000_000_000), "1000", "Most sweeps"),
        default("relaxation", Number(inside(0.0, 2.0)), "1.0", "Over-relaxation of Gauss–Seidel"),
    ],
);

const METHODS: &[Choice] = &[
    word("auto", "chosen by a stated rule"),
    word("pgs", "projected Gauss–Seidel"),
    word("active-set", "active sets inside the factorization, for many planes"),
    word("lemke", "Lemke's pivoting, exact"),
];

static SET: Table = Table {
    title: "[[set]]",
    doc: "A named node set",
    fields: &[
        required("name", Name, "Unique among bodies and sets"),
        optional("nearest", Vector, "The node nearest to this point"),
        optional("nodes", Refs(Reference::Nodes, 1, usize::MAX), "Union of bodies, earlier sets and parts"),
        optional("box", Vectors(2, 2), "All nodes inside a box given by two corners"),
        default("every", Integer(1, MOST_ELEMENTS), "1", "Keeps one of every n of these nodes, the first included"),
    ],
    one_of: &[&["nearest", "nodes", "box"]],
    tag: None,
};

static INITIAL: Table = table(
    "[[initial]]",
    "An initial field on a body or a set",
    &[
        required("nodes", Ref(Reference::Region), "Where"),
        optional("displacement", Nested(&FIELD), "Displacement field"),
        optional("velocity", Nested(&FIELD), "Velocity field"),
    ],
);

static FIELD: Table = Table {
    title: "the field",
    doc: "A field along a body",
    fields: &[],
    one_of: &[],
    tag: Some(Tag { key: "kind", doc: "Kind of field", absent: None, variants: fields }),
};

fn fields() -> Vec<Variant> {
    vec![
        variant(
            "pulse",
            "raised cosine, amplitude·½(1 + cos(π s/width)) for |s| < width, s measured from the centre",
            vec![
                required("direction", Vector, "Direction of the field"),
                required("amplitude", Number(ANY), "Peak value"),
                required("centre", Number(ANY), "Place of the peak: distance along the body from its first node"),
                required("width", Number(POSITIVE), "Half width"),
            ],
        ),
        variant("table", "columns `distance, x[, y]`, linear between rows", vec![required("file", Path, "CSV file")]),
        variant(
            "expression",
            "expressions of the place `x`, `y` of a node, undeformed, and its distance `s` from the first node",
            vec![
                default("x", NumberOfPlace, "0.0", "First component"),
                default("y", NumberOfPlace, "0.0", "Second component; in the plane only"),
            ],
        ),
    ]
}

static SUPPORT: Table = table(
    "[[support]]",
    "A support",
    &[
        required("name", Name, "Unique among supports"),
        required("nodes", Ref(Reference::Nodes), "Nodes that are held"),
        optional("fix", Words(COMPONENTS), "Components held at their reference value"),
        optional("motion", Motions(&["x", "y", "theta"], &FUNCTION), "Prescribed motion per component"),
    ],
);

const COMPONENTS: &[Choice] = &[word("x", "first place"), word("y", "second place"), word("theta", "rotation")];

static JOINT: Table = table(
    "[[joint]]",
    "A joint of coinciding nodes",
    &[
        required("name", Name, "Unique among joints"),
        required("kind", Word(JOINTS), "What is shared"),
        required("between", Refs(Reference::Node, 2, 2), "The two nodes"),
    ],
);

const JOINTS: &[Choice] = &[word("hinge", "place shared, rotations apart"), word("weld", "place and rotation shared")];

static LOAD: Table = table(
    "[[load]]",
    "A load: `nodes` with `force` and/or `moment`, or `body` with `per_length`",
    &[
        required("name", Name, "Unique among loads"),
        optional("nodes", Ref(Reference::Nodes), "Nodes that carry the force, each of them"),
        optional("body", Ref(Reference::Body), "Body that carries `per_length`"),
        optional("force", VectorOfTime, "Force per node"),
        optional("moment", NumberOfTime, "Moment per node"),
        optional("per_length", VectorOfTime, "Force per length of the body"),
        default(
            "time",
            Function(&FUNCTION),
            "{ kind = \"constant\" }",
            "Factor over time; not beside a force or moment that is an expression of `t` itself",
        ),
    ],
);

static FUNCTION: Table = Table {
    title: "the time function",
    doc: "A function of time",
    fields: &[],
    one_of: &[],
    tag: Some(Tag { key: "kind", doc: "Kind of function", absent: None, variants: functions }),
};

fn functions() -> Vec<Variant> {
    vec![
        variant("constant", "1 at all times", vec![]),
        variant(
            "ramp",
            "linear from one value to another, constant outside",
            vec![
                default("from", Number(ANY), "0.0", "Value up to `start`"),
                default("to", Number(ANY), "1.0", "Value from `end` on"),
                default("start", Number(ANY), "0.0", "Start of the ramp"),
                required("end", Number(ANY), "End of the ramp"),
            ],
        ),
        variant(
            "harmonic",
            "amplitude·sin(2π frequency t + phase)",
            vec![
                default("amplitude", Number(ANY), "1.0", "Peak value"),
                required("frequency", Number(NON_NEGATIVE), "Cycles per unit of time"),
                default("phase", Number(ANY), "0.0", "Phase in radians"),
            ],
        ),
        variant(
            "table",
            "columns `time, value`, linear between rows, constant outside",
            vec![required("file", Path, "CSV file")],
        ),
        variant(
            "expression",
            "an expression of `t` with its first two derivatives; a text in place of the table is short for it",
            vec![required("value", NumberOfTime, "The expression")],
        ),
    ]
}

static CONTACT: Table = Table {
    title: "[[contact]]",
    doc: "A unilateral contact of nodes with one obstacle, or between bodies",
    fields: &[
        required("name", Name, "Unique among contacts"),
        optional("nodes", Ref(Reference::Nodes), "Nodes that may touch; not with `between`"),
        default("radius", Number(NON_NEGATIVE), "0.0", "Thickness of the body at its nodes; of both with `between`"),
        optional("plane", Nested(&PLANE), "Rigid plane"),
        optional("half_plane", Nested(&HALF_PLANE), "Rigid half plane with an end"),
        optional("circle", Nested(&CIRCLE), "Rigid circle"),
        optional("polyline", Nested(&OBSTACLE), "Rigid polyline"),
        optional("between", Refs(Reference::Nodes, 2, 2), "Two bodies or node sets; twice the same for all in it"),
        default("restitution", NumberOr(between(0.0, 1.0), &RESTITUTION), "0.0", "Coefficient of restitution"),
        default("friction", Number(NON_NEGATIVE), "0.0", "Coefficient of friction"),
        optional(
            "motion",
            Motions(&["normal", "tangent", "x", "y"], &FUNCTION),
            "Motion of the obstacle; `normal` and `tangent` of planes only",
        ),
        default("mass", Word(MASSES), "\"kept\"", "Mass of the contact nodes"),
        optional("rule", Word(RULES), "How the mass is redistributed; by default `const` on bars, `full` on beams"),
        optional("law", Word(LAWS), "Contact law of massless nodes; by default `position`"),
    ],
    one_of: &[&["plane", "half_plane", "circle", "polyline", "between"]],
    tag: None,
};

const MASSES: &[Choice] = &[word("kept", "as it is"), word("redistributed", "moved off the contact nodes")];
const RULES: &[Choice] = &[
    word("const", "an end of a bar moves like its neighbour"),
    word("lin", "an end of a bar moves as two neighbours extrapolate"),
    word("full", "the node of a beam, its rotation included, as rigid motions ask"),
];
const LAWS: &[Choice] = &[
    word("position", "gap and force: no penetration"),
    word("mid-velocity", "mean rate and impulse: exact energy, some penetration; moreau-jean with theta = 1/2"),
];

static PLANE: Table = table(
    "plane",
    "A rigid plane; the body stays on the side of the normal",
    &[
        required("point", Vector, "A point of the plane"),
        required("normal", Vector, "Normal towards the body; its length does not matter"),
    ],
);

static HALF_PLANE: Table = table(
    "half_plane",
    "A rigid half plane; beyond its end there is a corner",
    &[
        required("point", Vector, "Its end"),
        required("normal", Vector, "Normal towards the body; its length does not matter"),
        optional("direction", Vector, "From the end along the surface; the normal turned clockwise unless given"),
    ],
);

static CIRCLE: Table = table(
    "circle",
    "A rigid circle",
    &[
        required("centre", Vector, "Centre"),
        required("radius", Number(POSITIVE), "Radius"),
        default("inside", Flag, "false", "Whether the body is inside"),
    ],
);

static OBSTACLE: Table = table(
    "polyline",
    "A rigid polyline; the body is on its left",
    &[required("points", Vectors(2, usize::MAX), "Corner points")],
);

static RESTITUTION: Table = table(
    "restitution",
    "Coefficient and law of restitution",
    &[
        required("e", Number(between(0.0, 1.0)), "Coefficient of restitution"),
        default("law", Word(RESTITUTION_LAWS), "\"newton\"", "Which velocities the coefficient relates"),
    ],
);

const RESTITUTION_LAWS: &[Choice] = &[word("newton", "normal"), word("moreau", "normal and sliding")];

static PROBE: Table = table(
    "[[probe]]",
    "A node whose motion goes into the history",
    &[required("name", Name, "Unique among probes"), required("node", Ref(Reference::Node), "The node")],
);

static GUARDS: Table = table(
    "[guards]",
    "Limits that stop a run gone wrong",
    &[
        default("energy", OffOr(&ENERGY_GUARD), "{}", "Energy gained beyond external and support work"),
        default("penetration", OffOr(&PENETRATION_GUARD), "{}", "Depth of penetration"),
        default("contact", OffOr(&CONTACT_GUARD), "{}", "Contact conditions that are not met"),
        default("newton", OffOr(&NEWTON_GUARD), "{}", "A nonlinear step that lands far away"),
    ],
);

static ENERGY_GUARD: Table = table(
    "guards.energy",
    "Guard against energy gained from nothing",
    &[
        default("gain", Number(POSITIVE), "0.1", "Largest gain in one step, of the energy scale"),
        default("total", Number(POSITIVE), "0.1", "Largest gain since the start, of the energy scale"),
        default(
            "proven",
            Number(POSITIVE),
            "1e-9, or 100 solver.contact.tolerance if that is more",
            "Largest growth in one step of what the scheme provably cannot let grow, of the energy scale",
        ),
        default("cuts", Integer(0, 60), "8", "How often the step is halved before the run stops"),
    ],
);

static PENETRATION_GUARD: Table = table(
    "guards.penetration",
    "Guard against penetration",
    &[default("fraction", Number(POSITIVE), "1.0", "Largest depth, of the shortest adjacent element")],
);

static CONTACT_GUARD: Table = table(
    "guards.contact",
    "Guard against contact conditions that are not met",
    &[default(
        "residual",
        Number(POSITIVE),
        "1e-6, or 100 solver.contact.tolerance if that is more",
        "Largest scaled residual of a step, the column `complementarity`",
    )],
);

static NEWTON_GUARD: Table = table(
    "guards.newton",
    "Guard against a Newton iteration that runs away, or ends on another branch",
    &[default(
        "reach",
        Number(POSITIVE),
        "1.0",
        "Longest way of a node in a step beyond what its velocity makes, of the length of the model",
    )],
);

static OUTPUT: Table = table(
    "[output]",
    "What a run writes",
    &[
        default("vtk", OffOr(&VTK), "{}", "ParaView frames"),
        default("history", Nested(&HISTORY), "{}", "The table of every step"),
        default("report", Flag, "true", "Whether report.html is written"),
        default("checkpoint", Nested(&CHECKPOINT), "{ wall = 30.0 }", "How often a checkpoint is written"),
    ],
);

static VTK: Table = table(
    "output.vtk",
    "ParaView frames; `frames` or `every`, not both",
    &[
        default("frames", Integer(1, MOST_STEPS), "200", "About this many frames over the run"),
        optional("every", Integer(1, MOST_STEPS), "One frame every so many steps"),
        default("encoding", Word(ENCODINGS), "\"raw\"", "Encoding of the arrays"),
        default("surface", Flag, "false", "Also the deformed bodies with their height, as surface.pvd"),
    ],
);

const ENCODINGS: &[Choice] = &[word("raw", "raw bytes: fast"), word("lz4", "compressed: small")];

const HISTORY_FORMATS: &[Choice] =
    &[word("csv", "comma-separated values"), word("npy", "binary, read by `numpy.load`: many times faster")];

static HISTORY: Table = table(
    "output.history",
    "The table of every step",
    &[
        default("every", Integer(1, MOST_STEPS), "1", "One row every so many steps; the last is always there"),
        default("format", Word(HISTORY_FORMATS), "\"csv\"", "File format"),
    ],
);

static CHECKPOINT: Table = Table {
    title: "output.checkpoint",
    doc: "How often a checkpoint is written",
    fields: &[
        optional("wall", Number(POSITIVE), "Seconds between checkpoints"),
        optional("steps", Integer(1, MOST_STEPS), "Steps between checkpoints"),
    ],
    one_of: &[&["wall", "steps"]],
    tag: None,
};

static EXPECT: Table = table(
    "[expect]",
    "One expectation: `value` with `rel` and/or `abs`; or `below` and/or `above`; or `between`",
    &[
        optional("value", Number(ANY), "Expected value"),
        optional("rel", Number(NON_NEGATIVE), "Relative tolerance"),
        optional("abs", Number(NON_NEGATIVE), "Absolute tolerance"),
        optional("below", Number(ANY), "Upper bound"),
        optional("above", Number(ANY), "Lower bound"),
        optional("between", Interval, "Both bounds"),
    ],
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Format, parse, tree};
    use serde_json::Value;

    const SAMPLE: &str = r#"
        format = 1
        time = { end = 1, step = 1e-3 }
        scheme = { name = "moreau-jean" }
        [[body]]
        name = "bar"
        element = "bar"
        line = { from = [0], to = [1], elements = 2 }
        material = { young = 1, density = 1 }
        section = { area = 1 }
        damping = {}
        [[set]]
        name = "all"
        nodes = ["bar"]
        [[load]]
        name = "pull"
        nodes = "bar.end"
        force = [1]
        [[contact]]
        name = "wall"
        nodes = "bar.start"
        plane = { point = [0], normal = [1] }
    "#;

    /// Keys with a default that a case does not keep, or keeps only where it differs.
    const NOT_KEPT: &[&str] = &["format", "mass_matrix"];

    /// Compares the default of every absent key with what the case makes of it; returns how many.
    fn compare(table: &'static Table, given: &tree::Node, case: &Value) -> usize {
        let mut compared = 0;
        for field in table.keys(given).fields.iter() {
            let here = given.get(field.name);
            let empty = tree::from_toml("").unwrap();
            match (field.kind, here, field.need) {
                (Nested(inner) | OffOr(inner), here, Need::Default("{}")) => {
                    compared += compare(inner, here.unwrap_or(&empty), &case[field.name]);
                }
                (Nested(inner) | Function(inner), Some(here), _) => compared += compare(inner, here, &case[field.name]),
                (Tables(inner), Some(here), _) => compared += compare(inner, &here.items()[0], &case[field.name][0]),
                (_, None, Need::Default(text)) if !NOT_KEPT.contains(&field.name) => {
                    // Rules such as `step / 1024` are no TOML; other tests compute them.
                    let Ok(default) = toml::from_str::<Value>(&format!("x = {text}")) else { continue };
                    assert_eq!(default["x"], case[field.name], "{} of {}", field.name, table.title);
                    compared += 1;
                }
                (_, None, Need::Number(value)) => {
                    assert_eq!(case[field.name], value, "{} of {}", field.name, table.title);
                    compared += 1;
                }
                _ => {}
            }
        }
        compared
    }

    #[test]
    fn declared_defaults_are_the_defaults_of_the_case() {
        let case = parse(SAMPLE, "x.toml", Format::Toml, &[]).unwrap_or_else(|f| panic!("{}", f.render(false)));
        let compared = compare(&CASE, &tree::from_toml(SAMPLE).unwrap(), &serde_json::to_value(&case).unwrap());
        assert!(compared >= 24, "only {compared} defaults were compared");
    }

    #[test]
    fn every_table_declares_each_key_once() {
        fn visit(fields: &[Field], title: &str) -> usize {
            for (i, field) in fields.iter().enumerate() {
                assert!(fields[..i].iter().all(|other| other.name != field.name), "{} twice in {title}", field.name);
                assert!(!field.doc.is_empty() && !field.doc.ends_with('.'), "{}", field.name);
            }
            fields.iter().map(|field| 1 + field.kind.table().map_or(0, tables)).sum()
        }
        fn tables(table: &'static Table) -> usize {
            let variants = table.tag.as_ref().map(|tag| (tag.variants)()).unwrap_or_default();
            let fields = variants.iter().map(|variant| {
                let all: Vec<Field> = table.fields.iter().chain(&variant.fields).copied().collect();
                visit(&all, table.title)
            });
            let fields: Vec<usize> = fields.collect();
            if fields.is_empty() { visit(table.fields, table.title) } else { fields.iter().sum() }
        }
        // Also shows that every key that an element asks for is declared.
        assert!(tables(&CASE) > 150);
    }
}
