//! Every key of a case with `analysis = "first-order"`.

use crate::case::spec::Kind::{
    Constants, Flag, Integer, List, Map, Name, Nested, Number, NumberOfTime, OfSystem, OffOr, Tables, Text, Within,
    Word,
};
use crate::case::spec::*;
use crate::case::tables::{CheckpointOutput, Expect, HistoryOutput, Newton, VtkOutput};
use crate::keys::Tabular;

/// The whole file.
pub static FIRST_ORDER: Table = table(
    "the case with analysis = \"first-order\"",
    "A first-order system `x' = f(t, x) + B(t, x) u` with laws between multipliers `u` and their duals, and with \
     constraints on the states: see [first-order.md](first-order.md)",
    &[
        required("format", Integer(1, 1), "Version of the file format; only 1 exists"),
        default("title", Text, "\"\"", "One line for summaries and reports"),
        required(
            "analysis",
            Word(&[word("first-order", "states, laws and constraints instead of bodies")]),
            "Kind of analysis",
        ),
        optional("constants", Constants, "Names for expressions: numbers, or texts with expressions of earlier ones"),
        required("time", Nested(&TIME), "End and step of the time axis"),
        required("scheme", Nested(&SCHEME), "Time scheme"),
        default("solver", Nested(&SOLVER), "{}", "Tolerances of the step"),
        optional("state", Tables(&STATE), "States, in the order of the columns"),
        optional("law", Tables(&LAW), "Laws: one multiplier each"),
        optional("constraint", Tables(&CONSTRAINT), "Sets that the states must not leave; several are an intersection"),
        optional("storage", Nested(&STORAGE), "Stored energy: turns the energy ledger on"),
        optional("jumps", Nested(&JUMPS), "Instants at which data jump"),
        optional("linear", Nested(&LINEAR), "States and laws as matrices, instead of [[state]] and [[law]]"),
        optional("boundary", Nested(&BOUNDARY), "Conditions at both ends of time instead of initial values"),
        default("output", Nested(&OUTPUT), "{}", "What a run writes"),
        optional(
            "expect",
            Map(Expect::TABLE),
            "Expectations for `carom test`; keys are `<column>.final`, `.min` or `.max`, `<column>@<time>`, `defect.max` (relative)",
        ),
    ],
);

static TIME: Table = table(
    "[time]",
    "End and step of the time axis",
    &[
        required("end", Number(POSITIVE), "Last instant"),
        required("step", Number(POSITIVE), "Step size; the last step is shortened where the end asks for it"),
        default(
            "first_step",
            Number(POSITIVE),
            "step",
            "Size of the first step, at most `step`: shifts all later instants, as error studies need it",
        ),
    ],
);

static SCHEME: Table = table("[scheme]", "Time scheme", &[required("name", Kind::Tag(schemes), "Name of the scheme")]);

fn schemes() -> Vec<Variant> {
    vec![variant(
        "theta",
        "weights theta at the end and 1 - theta at the start of the step",
        vec![
            default("theta", Number(between(0.0, 1.0)), "1.0", "0 explicit, 1/2 second order, 1 fully implicit"),
            optional(
                "omega",
                Number(between(0.0, 1.0)),
                "Weight of the multipliers at the end of the step; unless given, theta where the laws allow it and 1 elsewhere. \
                 A value that is given holds in every step, and so does theta then",
            ),
        ],
    )]
}

static SOLVER: Table =
    table("[solver]", "Tolerances of the step", &[default("newton", Nested(Newton::TABLE), "{}", "Newton iteration")]);

static STATE: Table = table(
    "[[state]]",
    "A state",
    &[
        required("name", Name, "Unique among states and laws; a name for expressions"),
        required("start", Number(ANY), "Value at t = 0; with [boundary] the first guess"),
        required("rate", OfSystem(Scope::Laws), "Rate of change; linear in the multipliers"),
        optional("exact", OfSystem(Scope::Time), "Exact solution, for `carom converge` and `carom compare`"),
    ],
);

static LAW: Table = table(
    "[[law]]",
    "A law: the multiplier of that name stays `within` its bounds; its `dual` is zero between them, not negative where the \
     multiplier is at the lower bound, not positive where it is at the upper one",
    &[
        required("name", Name, "Unique among states and laws; a name for expressions"),
        default(
            "within",
            Within,
            "[0, inf]",
            "Bounds of the multiplier: [0, inf] complementarity, [-1, 1] a relay, [-inf, inf] an equation",
        ),
        required("dual", OfSystem(Scope::Laws), "The dual"),
    ],
);

static CONSTRAINT: Table = table(
    "[[constraint]]",
    "A set that the states must not leave; its multiplier acts on the rates along the gradient, as an impulse",
    &[
        required("name", Name, "Unique among constraints"),
        optional("above", OfSystem(Scope::States), "What must not be negative"),
        optional("ball", Nested(&BALL), "A ball that some states stay in"),
        optional("box", Nested(&BOX), "A box that some states stay in"),
    ],
)
.with_groups(&[&["above", "ball", "box"]]);

static BALL: Table = table(
    "ball",
    "A ball in the space of some states",
    &[
        required("states", List(&Name), "The states"),
        required("centre", List(&OfSystem(Scope::Time)), "Centre, one entry per state"),
        required("radius", OfSystem(Scope::Time), "Radius; positive at all times"),
    ],
);

static BOX: Table = table(
    "box",
    "A box in the space of some states",
    &[
        required("states", List(&Name), "The states"),
        required("from", List(&OfSystem(Scope::Time)), "Lower ends, one entry per state"),
        required("to", List(&OfSystem(Scope::Time)), "Upper ends, one entry per state"),
    ],
);

static STORAGE: Table = table(
    "[storage]",
    "Stored energy of the system",
    &[required("value", OfSystem(Scope::Stored), "Stored energy; does not depend on time")],
);

static JUMPS: Table = table(
    "[jumps]",
    "Instants at which data jump: a step ends there with the data before, and the next one is fully implicit",
    &[required("at", List(&Number(POSITIVE)), "The instants, ascending")],
);

static LINEAR: Table = table(
    "[linear]",
    "States and laws as matrices, `x' = A x + B u + E`, `w = C x + D u + a` with `0 <= u`, `0 <= w` and `u w = 0`. Entries are \
     numbers or expressions of `t`",
    &[
        required("states", List(&Name), "Names of the states"),
        optional("laws", List(&Name), "Names of the multipliers"),
        required("start", List(&Number(ANY)), "Values of the states at t = 0"),
        required("rate", List(&List(&NumberOfTime)), "A, row by row"),
        optional("input", List(&List(&NumberOfTime)), "B: a row per state"),
        optional("output", List(&List(&NumberOfTime)), "C: a row per law"),
        optional("feedthrough", List(&List(&NumberOfTime)), "D: a row per law; zero unless given"),
        optional("source", List(&NumberOfTime), "E; zero unless given"),
        optional("offset", List(&NumberOfTime), "a; zero unless given"),
    ],
);

static BOUNDARY: Table = table(
    "[boundary]",
    "Conditions at both ends of time",
    &[required(
        "equations",
        List(&OfSystem(Scope::Ends)),
        "Expressions that are zero, linear in `<state>@start` and `<state>@end`; as many as states",
    )],
);

static OUTPUT: Table = table(
    "[output]",
    "What a run writes",
    &[
        default(
            "vtk",
            OffOr(VtkOutput::TABLE),
            "false",
            "ParaView frames; a first-order system has no shape, so that only `false` is allowed",
        ),
        default("history", Nested(HistoryOutput::TABLE), "{}", "The table of every step"),
        default("report", Flag, "true", "Whether report.html is written"),
        default("checkpoint", Nested(CheckpointOutput::TABLE), "{ wall = 30.0 }", "How often a checkpoint is written"),
    ],
);
