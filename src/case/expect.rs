//! The `[expect]` table: which quantities it may name and how it may bound them.

use super::check::At;
use super::columns::{COLUMNS, Column, ENDINGS, FAMILIES, When, family};
use super::diagnostic::{Diagnostic, MOST_REPORTED, Source, listing, nearest};
use super::tables::CASE;
use super::tree::Value;
use super::validate::join;
use std::collections::BTreeSet;

/// Quantities of a contact that are no column.
const CONTACT_EVENTS: &[&str] = &["release", "plateau", "peak", "episodes"];
/// Quantities that are no column of their own.
const WHOLE: &[&str] = &["defect.max", "penetration.max"];
/// Which keys `[expect]` has.
fn forms() -> &'static str {
    CASE.fields.iter().find(|field| field.name == "expect").map_or("", |field| field.doc)
}

/// All that is wrong with the expectations of a case.
pub(super) fn check(root: &At, dimension: Option<usize>) -> Vec<Diagnostic> {
    let Some(expect) = root.get("expect") else { return Vec::new() };
    let mut diagnostics = Vec::new();
    for entry in expect.node.entries() {
        if diagnostics.len() >= MOST_REPORTED {
            break;
        }
        let at = At { node: &entry.node, path: join(&expect.path, &entry.key) };
        if let Err((message, label, help)) = quantity(root, &entry.key, dimension) {
            let diagnostic = Diagnostic::new(&entry.place, &at.path, message, label);
            diagnostics.push(diagnostic.help(help.unwrap_or_else(|| format!("`expect`: {}", forms()))));
        }
        diagnostics.extend(bounds(&at));
    }
    diagnostics
}

/// The contacts, probes, supports or sections of a case.
fn owners<'a>(root: &At<'a>, kind: &str) -> Vec<At<'a>> {
    match kind {
        "section" => root.get("output").map_or(Vec::new(), |output| output.tables("sections")),
        kind => root.tables(kind),
    }
}

/// Message, label and, unless it is the list of forms, help.
type Problem = (String, String, Option<String>);

/// Whether `key` names a quantity of this case.
fn quantity(root: &At, key: &str, dimension: Option<usize>) -> Result<(), Problem> {
    if WHOLE.contains(&key) {
        return Ok(());
    }
    // A misspelt kind is what is wrong, whatever follows it.
    if let [kind, owner, rest] = key.splitn(3, '.').collect::<Vec<_>>()[..]
        && family(kind).is_none()
        && let Some(near) = nearest(kind, FAMILIES.iter().map(|(kind, _)| *kind))
    {
        return Err((format!("`{key}` is not a quantity"), format!("did you mean `{near}.{owner}.{rest}`?"), None));
    }
    if let Some((name, event)) = key.strip_prefix("contact.").and_then(|rest| rest.split_once('.'))
        && CONTACT_EVENTS.contains(&event)
    {
        return known(root, "contact", name).map(|_| ());
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
        return column(root, name, dimension);
    }
    match key.rsplit_once('.') {
        Some((name, ending)) if ENDINGS.contains(&ending) => column(root, name, dimension),
        Some((name, ending)) => {
            let events = if name.starts_with("contact.") { CONTACT_EVENTS } else { &[] };
            let label = nearest(ending, ENDINGS.iter().chain(events).copied());
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
fn column(root: &At, name: &str, dimension: Option<usize>) -> Result<(), Problem> {
    if COLUMNS.iter().any(|column| column.name == name) {
        return Ok(());
    }
    let parts = name.split_once('.').and_then(|(kind, rest)| Some((kind, family(kind)?, rest.split_once('.')?)));
    let Some((kind, columns, (owner, part))) = parts else {
        let every = || COLUMNS.iter().map(|column| column.name);
        let label = nearest(name, every().chain(["penetration"]));
        let label = label.map_or("no such column".into(), |column| format!("did you mean `{column}`?"));
        let kinds: Vec<String> = FAMILIES.iter().map(|(kind, _)| format!("`{kind}.<name>.<…>`")).collect();
        let help = format!("columns: {}, {}", listing(every()), kinds.join(", "));
        return Err((format!("there is no column `{name}`"), label, Some(help)));
    };
    // A name that is missing has been reported.
    let Some(owner_at) = known(root, kind, owner)? else { return Ok(()) };
    let there = |column: &&Column| match column.when {
        When::Always => true,
        When::Plane => dimension != Some(1),
        When::Asked(word) => asks(&owner_at, word),
        When::AskedInPlane(word) => dimension != Some(1) && asks(&owner_at, word),
    };
    let node = part.strip_prefix("node").and_then(|rest| rest.strip_suffix(".force"));
    let of_a_node = kind == "contact" && node.is_some_and(|digits| digits.parse::<u32>().is_ok());
    if columns.iter().filter(there).any(|column| column.name == part) || (of_a_node && flag(&owner_at, "per_node")) {
        return Ok(());
    }
    let why = match columns.iter().find(|column| column.name == part).map(|column| column.when) {
        Some(When::Asked(word) | When::AskedInPlane(word)) if !asks(&owner_at, word) => {
            Some(format!("the probe needs `columns = [\"{word}\"]`"))
        }
        _ => of_a_node.then(|| "the contact needs `per_node = true`".to_string()),
    };
    // Compared as a whole: of a column with one letter, a wrong letter leaves nothing to go by.
    let whole: Vec<String> =
        columns.iter().filter(there).map(|column| format!("{kind}.{owner}.{}", column.name)).collect();
    let near = || nearest(name, whole.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
    let label = why.or_else(near).unwrap_or("no such column".into());
    let help = format!("columns of a {kind} here: {}", listing(columns.iter().filter(there).map(|column| column.name)));
    Err((format!("there is no column `{name}`"), label, Some(help)))
}

/// Whether a probe asks for columns by this word.
fn asks(probe: &At, word: &str) -> bool {
    let columns = probe.node.get("columns");
    columns.is_some_and(|columns| columns.items().iter().any(|item| item.text() == Some(word)))
}

/// Whether a flag is set.
fn flag(at: &At, key: &str) -> bool {
    at.node.get(key).is_some_and(|node| matches!(node.value, Value::Flag(true)))
}

/// The contact, probe, support or section of that name; none where one has no name, which has been reported.
fn known<'a>(root: &At<'a>, kind: &str, name: &str) -> Result<Option<At<'a>>, Problem> {
    let all = owners(root, kind);
    let Some(names) = all.iter().map(|at| at.text("name")).collect::<Option<BTreeSet<&str>>>() else { return Ok(None) };
    if let Some(at) = all.iter().position(|at| at.text("name") == Some(name)) {
        return Ok(all.into_iter().nth(at));
    }
    let label = nearest(name, names.iter().copied());
    let label = label.map_or("no such name".into(), |near| format!("did you mean `{near}`?"));
    let table = if kind == "section" { "output.sections".to_string() } else { format!("[[{kind}]]") };
    let help = if names.is_empty() {
        format!("this case has no {table}")
    } else {
        format!("names of {table}: {}", listing(names.iter().copied()))
    };
    Err((format!("there is no {kind} named `{name}`"), label, Some(help)))
}

/// Whether the keys of one expectation make sense together.
pub(super) fn bounds(at: &At) -> Option<Diagnostic> {
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
