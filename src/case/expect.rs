//! The `[expect]` table: which quantities it may name and how it may bound them.

use super::check::At;
use super::diagnostic::{Diagnostic, MOST_REPORTED, Source, listing, nearest};
use super::validate::join;
use std::collections::BTreeSet;

/// Columns that every history has, in this order.
pub const COLUMNS: &[&str] = &[
    "step",
    "time",
    "kinetic",
    "strain",
    "potential",
    "energy",
    "work_external",
    "work_damping",
    "work_support",
    "work_contact",
    "work_friction",
    "work_scheme",
    "work_curvature",
    "defect",
    "storage",
    "storage_defect",
    "min_gap",
    "active",
    "impulse",
    "newton",
    "factorizations",
    "sweeps",
    "complementarity",
];
/// Columns of each contact, after `contact.<name>.`.
pub const CONTACT_COLUMNS: &[&str] = &["impulse", "force", "gap"];
/// Columns of each probe, after `probe.<name>.`; which of them exist depends on the node.
pub const PROBE_COLUMNS: &[&str] = &["x", "y", "theta", "vx", "vy", "vtheta"];

/// What has columns of its own.
const KINDS: &[&str] = &["contact", "probe"];
/// Quantities of a contact that are no column.
const CONTACT_EVENTS: &[&str] = &["release", "plateau", "peak", "episodes"];
const ENDINGS: &[&str] = &["final", "min", "max"];
/// Quantities that are no column of their own.
const WHOLE: &[&str] = &["defect.max", "penetration.max"];
/// Which keys `[expect]` has.
pub(super) const FORMS: &str = "Expectations for `carom test`; keys are `<column>.final`, `.min` or `.max`, \
                                `<column>@<time>`, `contact.<name>.release`, `.plateau`, `.peak` or `.episodes`, \
                                `defect.max` (relative), `penetration.max`";

/// All that is wrong with the expectations of a case.
pub(super) fn check(root: &At, dimension: Option<usize>) -> Vec<Diagnostic> {
    let Some(expect) = root.get("expect") else { return Vec::new() };
    let names = Names { contacts: names(root, "contact"), probes: names(root, "probe") };
    let mut diagnostics = Vec::new();
    for entry in expect.node.entries() {
        if diagnostics.len() >= MOST_REPORTED {
            break;
        }
        let at = At { node: &entry.node, path: join(&expect.path, &entry.key) };
        if let Err((message, label, help)) = quantity(root, &names, &entry.key, dimension) {
            let diagnostic = Diagnostic::new(&entry.place, &at.path, message, label);
            diagnostics.push(diagnostic.help(help.unwrap_or_else(|| format!("`expect`: {FORMS}"))));
        }
        diagnostics.extend(bounds(&at));
    }
    diagnostics
}

/// What may be named; `None` where a name is missing, which has been reported.
struct Names<'a> {
    contacts: Option<BTreeSet<&'a str>>,
    probes: Option<BTreeSet<&'a str>>,
}

fn names<'a>(root: &At<'a>, kind: &str) -> Option<BTreeSet<&'a str>> {
    root.tables(kind).iter().map(|at| at.text("name")).collect()
}

/// Message, label and, unless it is the list of forms, help.
type Problem = (String, String, Option<String>);

/// Whether `key` names a quantity of this case.
fn quantity(root: &At, names: &Names, key: &str, dimension: Option<usize>) -> Result<(), Problem> {
    if WHOLE.contains(&key) {
        return Ok(());
    }
    // A misspelt kind is what is wrong, whatever follows it.
    if let [kind, owner, rest] = key.splitn(3, '.').collect::<Vec<_>>()[..]
        && !KINDS.contains(&kind)
        && let Some(near) = nearest(kind, KINDS.iter().copied())
    {
        return Err((format!("`{key}` is not a quantity"), format!("did you mean `{near}.{owner}.{rest}`?"), None));
    }
    if let Some((name, event)) = key.strip_prefix("contact.").and_then(|rest| rest.split_once('.'))
        && CONTACT_EVENTS.contains(&event)
    {
        return known("contact", &names.contacts, name);
    }
    if let Some((name, time)) = key.split_once('@') {
        // A run that `--set` makes shorter than its file says is not the one that the expectations are about.
        let end = root.get("time").and_then(|time| time.node.get("end")).filter(|end| end.place.source == Source::File);
        let end = end.and_then(|end| end.number()).unwrap_or(f64::INFINITY);
        match time.parse::<f64>() {
            Ok(time) if (0.0..=end).contains(&time) => {}
            Ok(_) => return Err((format!("{time} is not a time of this run"), format!("not in [0, {end}]"), None)),
            Err(_) => return Err((format!("{time:?} is not a time"), "a number must follow the `@`".into(), None)),
        }
        return column(names, name, dimension);
    }
    match key.rsplit_once('.') {
        Some((name, ending)) if ENDINGS.contains(&ending) => column(names, name, dimension),
        Some((name, ending)) => {
            let endings: &[&str] = match name.split_once('.') {
                Some(("contact", _)) => &["final", "min", "max", "release", "plateau", "peak"],
                _ => ENDINGS,
            };
            let label = nearest(ending, endings.iter().copied());
            let label =
                label.map_or(format!("`{ending}` is none of its endings"), |e| format!("did you mean `{name}.{e}`?"));
            Err((format!("`{key}` is not a quantity"), label, None))
        }
        None => {
            let label = "no `.final`, `.min`, `.max` or `@<time>`".into();
            Err((format!("`{key}` does not say which value of the column"), label, None))
        }
    }
}

/// Whether the history of this case has such a column.
fn column(names: &Names, name: &str, dimension: Option<usize>) -> Result<(), Problem> {
    let parts: Vec<&str> = name.split('.').collect();
    let (kind, owner, part, columns): (&str, &str, &str, Vec<&str>) = match parts.as_slice() {
        [single] if COLUMNS.contains(single) => return Ok(()),
        ["contact", owner, part] => ("contact", owner, part, CONTACT_COLUMNS.to_vec()),
        ["probe", owner, part] => {
            let line = dimension == Some(1);
            (
                "probe",
                owner,
                part,
                PROBE_COLUMNS.iter().copied().filter(|c| !line || matches!(*c, "x" | "vx")).collect(),
            )
        }
        _ => {
            let label = nearest(name, COLUMNS.iter().copied().chain(["penetration"]));
            let label = label.map_or("no such column".into(), |column| format!("did you mean `{column}`?"));
            let help =
                format!("columns: {}, `contact.<name>.<…>`, `probe.<name>.<…>`", listing(COLUMNS.iter().copied()));
            return Err((format!("there is no column `{name}`"), label, Some(help)));
        }
    };
    known(kind, if kind == "contact" { &names.contacts } else { &names.probes }, owner)?;
    if columns.contains(&part) {
        return Ok(());
    }
    // Compared as a whole: of a column with one letter, a wrong letter leaves nothing to go by.
    let whole: Vec<String> = columns.iter().map(|column| format!("{kind}.{owner}.{column}")).collect();
    let label = nearest(name, whole.iter().map(String::as_str));
    let label = label.map_or("no such column".into(), |near| format!("did you mean `{near}`?"));
    let help = format!("columns of a {kind} here: {}", listing(columns));
    Err((format!("there is no column `{name}`"), label, Some(help)))
}

/// Whether there is a contact or probe of that name.
fn known(kind: &str, names: &Option<BTreeSet<&str>>, name: &str) -> Result<(), Problem> {
    let Some(names) = names.as_ref().filter(|names| !names.contains(name)) else { return Ok(()) };
    let label = nearest(name, names.iter().copied());
    let label = label.map_or("no such name".into(), |near| format!("did you mean `{near}`?"));
    let help = if names.is_empty() {
        format!("this case has no [[{kind}]]")
    } else {
        format!("names of [[{kind}]]: {}", listing(names.iter().copied()))
    };
    Err((format!("there is no {kind} named `{name}`"), label, Some(help)))
}

/// Whether the keys of one expectation make sense together.
fn bounds(at: &At) -> Option<Diagnostic> {
    let given: Vec<&str> = at.node.entries().iter().map(|entry| entry.key.as_str()).collect();
    // A misspelt key has been reported.
    if given.iter().any(|key| !["value", "rel", "abs", "below", "above", "between"].contains(key)) {
        return None;
    }
    let any = |keys: &[&str]| keys.iter().any(|key| given.contains(key));
    let good = if any(&["value"]) {
        any(&["rel", "abs"]) && !any(&["below", "above", "between"])
    } else if any(&["between"]) {
        !any(&["rel", "abs", "below", "above"])
    } else {
        any(&["below", "above"]) && !any(&["rel", "abs"])
    };
    let help = "`value` with `rel` and/or `abs`; or `below` and/or `above`; or `between`";
    if !good {
        let message = format!("`{}` bounds nothing, or too much", at.path);
        let label = if given.is_empty() { "empty".into() } else { format!("has {}", listing(given)) };
        return Some(Diagnostic::new(&at.node.place, &at.path, message, label).help(help));
    }
    match (at.number("above"), at.number("below")) {
        (Some(above), Some(below)) if above >= below => {
            let message = format!("nothing is above {above} and below {below}");
            Some(at.wrong("above", message, "larger than `below`"))
        }
        _ => None,
    }
}
