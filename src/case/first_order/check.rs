//! What must hold between the values of a first-order case: names, sizes, what expressions may use.

use crate::case::check::At;
use crate::case::diagnostic::{Diagnostic, MOST_REPORTED, Sources, listing, nearest};
use crate::case::expect;
use crate::case::spec::Scope;
use crate::case::tree::{Node, Value};
use crate::case::validate::join;
use crate::expression::{Expression, Vocabulary, check_name};
use std::collections::BTreeMap;

/// Columns that every history of a first-order system has, in this order.
pub const COLUMNS: &[&str] = &[
    "step",
    "time",
    "h",
    "storage",
    "work_smooth",
    "work_source",
    "work_law",
    "work_jump",
    "work_scheme",
    "work_curvature",
    "defect",
    "active",
    "newton",
    "sweeps",
    "complementarity",
];

/// The names that expressions of a scope may use, in the order of their values.
pub(in crate::case) fn variables(root: &Node, scope: Scope) -> Vec<String> {
    let root = At { node: root, path: String::new() };
    let states = names(&root, "state", "states");
    match scope {
        Scope::Time => vec!["t".into()],
        Scope::States => [vec!["t".into()], states].concat(),
        Scope::Stored => states,
        Scope::Laws => [vec!["t".into()], states, names(&root, "law", "laws")].concat(),
        Scope::Ends => {
            let end = |end: &str| states.iter().map(|name| format!("{name}_{end}")).collect::<Vec<_>>();
            [end("start"), end("end")].concat()
        }
    }
}

/// Names of the entries of `[[kind]]`, or of the list of `[linear]` that stands for them.
fn names(root: &At, kind: &str, list: &str) -> Vec<String> {
    let own = root.tables(kind).iter().filter_map(|at| at.text("name").map(String::from)).collect();
    let linear = root.get("linear").and_then(|linear| linear.get(list));
    let linear =
        linear.map_or(Vec::new(), |list| list.node.items().iter().filter_map(Node::text).map(String::from).collect());
    [own, linear].concat()
}

/// All that is wrong between the values of the tree.
pub(in crate::case) fn check(root: &Node, sources: &Sources) -> Vec<Diagnostic> {
    let root = At { node: root, path: String::new() };
    let mut check = Check { root: &root, sources, diagnostics: Vec::new() };
    check.names();
    check.system();
    check.time();
    check.scopes();
    check.expectations();
    check.diagnostics
}

struct Check<'a, 'b> {
    root: &'b At<'a>,
    sources: &'b Sources,
    diagnostics: Vec<Diagnostic>,
}

impl Check<'_, '_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MOST_REPORTED {
            self.diagnostics.push(diagnostic);
        }
    }

    fn names(&mut self) {
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        for entry in self.root.node.get("constants").map_or(&[][..], Node::entries) {
            seen.insert(entry.key.clone(), self.sources.locate(&entry.place, &join("constants", &entry.key)));
        }
        let mut all: Vec<(&Node, String)> = Vec::new();
        for kind in ["state", "law"] {
            for at in self.root.tables(kind) {
                all.extend(at.node.get("name").map(|node| (node, join(&at.path, "name"))));
            }
        }
        if let Some(linear) = self.root.get("linear") {
            for at in ["states", "laws"].into_iter().filter_map(|key| linear.get(key)) {
                all.extend(at.node.items().iter().map(|node| (node, at.path.clone())));
            }
        }
        for (node, path) in all {
            let Some(name) = node.text() else { continue };
            if let Err(why) = check_name(name, &["t"]) {
                let message = format!("a state or law cannot be called `{name}`");
                self.report(Diagnostic::new(&node.place, &path, message, why));
            } else if let Some(first) = seen.get(name) {
                let message = format!("the name `{name}` is taken");
                let label = format!("first used in {first}");
                let help = "names are unique among constants, states and laws";
                self.report(Diagnostic::new(&node.place, &path, message, label).help(help));
            }
            seen.insert(name.into(), self.sources.locate(&node.place, &path));
        }
        let mut constraints: Vec<&str> = Vec::new();
        for at in self.root.tables("constraint") {
            let Some(name) = at.text("name") else { continue };
            if constraints.contains(&name) {
                let message = format!("the name `{name}` is taken");
                self.report(at.wrong("name", message, "by an earlier constraint"));
            }
            constraints.push(name);
        }
    }

    fn system(&mut self) {
        let root = self.root;
        let states = names(root, "state", "states");
        match (root.has("state"), root.get("linear")) {
            (true, Some(linear)) => {
                let message = "a system has [[state]] or [linear], not both";
                self.report(Diagnostic::new(&linear.node.place, "linear", message, "there is [[state]] already"));
            }
            (false, Some(linear)) => self.linear(&linear),
            (_, None) if states.is_empty() => {
                let message = "a first-order system needs at least one [[state]], or [linear]";
                self.report(Diagnostic::new(&root.node.place, "state", message, "none here"));
            }
            _ => {}
        }
        if root.has("law") && root.has("linear") {
            self.report(root.wrong("law", "laws of [linear] stand in its `laws`", "[[law]] beside [linear]"));
        }
        for constraint in root.tables("constraint") {
            for (shape, lists) in [("ball", &["centre"][..]), ("box", &["from", "to"])] {
                let Some(set) = constraint.get(shape) else { continue };
                for item in set.node.get("states").map_or(&[][..], Node::items) {
                    let name = item.text().unwrap_or_default();
                    if !states.iter().any(|state| state == name) {
                        let label = nearest(name, states.iter().map(String::as_str));
                        let label = label.map_or("no such state".into(), |near| format!("did you mean `{near}`?"));
                        let message = format!("there is no state `{name}`");
                        let help = format!("states: {}", listing(states.iter().map(String::as_str)));
                        self.report(Diagnostic::new(&item.place, &set.path, message, label).help(help));
                    }
                }
                let count = set.node.get("states").map_or(0, |list| list.items().len());
                for list in lists {
                    self.length(&set, list, count, "one entry per state");
                }
            }
        }
        if let Some(boundary) = root.get("boundary") {
            self.length(&boundary, "equations", states.len(), "as many equations as states");
        }
    }

    /// Complains if a list does not have so many entries.
    fn length(&mut self, table: &At, key: &str, count: usize, why: &str) {
        let Some(list) = table.node.get(key) else { return };
        let found = list.items().len();
        if matches!(list.value, Value::List(_)) && found != count {
            let message = format!("`{}` must have {count} entries, {why}", join(&table.path, key));
            self.report(table.wrong(key, message, format!("{found} entries")));
        }
    }

    fn linear(&mut self, linear: &At) {
        let count = |key: &str| linear.node.get(key).map_or(0, |list| list.items().len());
        let (n, m) = (count("states"), count("laws"));
        for (key, rows, columns) in [
            ("rate", n, n),
            ("input", n, m),
            ("output", m, n),
            ("feedthrough", m, m),
            ("source", n, 0),
            ("offset", m, 0),
            ("start", n, 0),
        ] {
            let Some(at) = linear.get(key) else { continue };
            let found = at.node.items().len();
            if found != rows {
                let message = format!("`{}` must have {rows} rows", at.path);
                self.report(linear.wrong(key, message, format!("{found} rows")));
            }
            for row in at.node.items().iter().filter(|row| columns > 0 && row.items().len() != columns) {
                let message = format!("a row of `{}` must have {columns} entries", at.path);
                self.report(Diagnostic::new(&row.place, &at.path, message, format!("{} entries", row.items().len())));
            }
        }
        for key in ["input", "output"].into_iter().filter(|key| m > 0 && !linear.has(key)) {
            let message = format!("`laws` of [linear] need `{key}`");
            self.report(Diagnostic::new(&linear.node.place, &linear.path, message, format!("no `{key}`")));
        }
    }

    fn time(&mut self) {
        let Some(time) = self.root.get("time") else { return };
        let (end, step) = (time.number("end"), time.number("step"));
        let (Some(end), Some(step)) = (end, step) else { return };
        if step > end {
            self.report(time.wrong("step", "`time.step` must not exceed `time.end`", format!("larger than {end}")));
        } else if end / step > 1e10 {
            self.report(time.wrong("step", "this is more than 1e10 steps", "too small"));
        }
        if time.number("first_step").is_some_and(|first| first > step) {
            let message = "`time.first_step` must not exceed `time.step`";
            self.report(time.wrong("first_step", message, format!("larger than {step}")));
        }
        if let Some(jumps) = self.root.get("jumps") {
            let at = jumps.vector("at").unwrap_or_default();
            if at.windows(2).any(|pair| pair[0] >= pair[1]) {
                self.report(jumps.wrong("at", "`jumps.at` must ascend", "does not"));
            }
            if at.last().is_some_and(|&last| last >= end) {
                self.report(jumps.wrong("at", "jumps must lie before `time.end`", format!("the end is {end}")));
            }
        }
        if let Some(vtk) = self.root.get("output").and_then(|output| output.get("vtk"))
            && !matches!(vtk.node.value, Value::Flag(false))
        {
            let message = "a first-order system has no shape in space, so that there are no ParaView frames of it";
            self.report(Diagnostic::new(&vtk.node.place, &vtk.path, message, "leave it out, or write false"));
        }
        if self.root.has("boundary") {
            for (table, key, why) in [
                ("time", "first_step", "a boundary value problem has equal steps"),
                ("jumps", "at", "a boundary value problem has no jumps"),
            ] {
                if let Some(at) = self.root.get(table).filter(|at| at.has(key)) {
                    self.report(at.wrong(key, format!("`{table}.{key}` cannot stand beside [boundary]"), why));
                }
            }
            if let Some(scheme) =
                self.root.get("scheme").filter(|at| at.number("omega").is_some_and(|omega| omega < 1.0))
            {
                let message = "with [boundary] multipliers act with their value at the end of the step alone";
                self.report(scheme.wrong("omega", message, "must be 1, or absent"));
            }
        }
    }

    /// Where expressions must be linear.
    fn scopes(&mut self) {
        let states = names(self.root, "state", "states").len();
        let all = variables(self.root.node, Scope::Laws);
        let laws: Vec<usize> = (1 + states..all.len()).collect();
        for at in self.root.tables("state") {
            self.linear_in(at.get("rate"), &all, &laws);
        }
        let ends = variables(self.root.node, Scope::Ends);
        let everything: Vec<usize> = (0..ends.len()).collect();
        if let Some(list) = self.root.get("boundary").and_then(|at| at.get("equations")) {
            for (index, node) in list.node.items().iter().enumerate() {
                let at = At { node, path: format!("{}[{index}]", list.path) };
                self.linear_in(Some(at), &ends, &everything);
            }
        }
    }

    fn linear_in(&mut self, at: Option<At>, names: &[String], laws: &[usize]) {
        let Some(at) = at else { return };
        let Some(text) = at.node.text() else { return };
        let constants: Vec<(String, f64)> = (self.root.node.get("constants").map_or(&[][..], Node::entries).iter())
            .filter_map(|entry| Some((entry.key.clone(), entry.node.number()?)))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let vocabulary = Vocabulary { variables: &names, constants: &constants, refused: &[] };
        // A text that is no expression has been reported.
        let Ok(expression) = Expression::parse(&text.replace('@', "_"), &vocabulary) else { return };
        if let Err(fault) = expression.check_affine(laws) {
            let place = crate::case::resolve::within(self.sources, &at.node.place, text, fault.at.clone());
            let diagnostic =
                Diagnostic::new(&place, &at.path, format!("`{}`: {}", at.path, fault.message), fault.label);
            self.report(Diagnostic { help: fault.help, ..diagnostic });
        }
    }

    fn expectations(&mut self) {
        let Some(table) = self.root.get("expect") else { return };
        let columns = self.columns();
        for entry in table.node.entries() {
            let at = At { node: &entry.node, path: join(&table.path, &entry.key) };
            if let Err((message, label)) = quantity(&entry.key, &columns) {
                let help = format!("columns: {}", listing(columns.iter().map(String::as_str)));
                self.report(Diagnostic::new(&entry.place, &at.path, message, label).help(help));
            }
            if let Some(diagnostic) = expect::bounds(&at) {
                self.report(diagnostic);
            }
        }
    }

    fn columns(&self) -> Vec<String> {
        let constraints = self.root.tables("constraint");
        let constraints = constraints.iter().filter_map(|at| at.text("name").map(String::from));
        columns(names(self.root, "state", "states"), names(self.root, "law", "laws"), constraints.collect())
    }
}

/// The columns of a history.
pub fn columns(states: Vec<String>, laws: Vec<String>, constraints: Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = COLUMNS.iter().map(|name| name.to_string()).collect();
    all.extend(states.iter().map(|name| format!("state.{name}")));
    all.extend(laws.iter().flat_map(|name| ["u", "w", "impulse"].map(|part| format!("law.{name}.{part}"))));
    all.extend(constraints.iter().flat_map(|name| ["gap", "impulse"].map(|part| format!("constraint.{name}.{part}"))));
    all
}

/// Whether `key` names a value of some column; if not, message and label.
fn quantity(key: &str, columns: &[String]) -> Result<(), (String, String)> {
    let endings = ["final", "min", "max"];
    let name = match (key.split_once('@'), key.rsplit_once('.')) {
        (Some((name, time)), _) => match time.parse::<f64>() {
            Ok(time) if time >= 0.0 => name,
            _ => return Err((format!("{time:?} is not a time"), "a number must follow the `@`".into())),
        },
        (None, Some((name, ending))) if endings.contains(&ending) => name,
        (None, Some((name, ending))) if nearest(ending, endings).is_some() => {
            let near = nearest(ending, endings).unwrap_or_default();
            return Err((format!("`{key}` is not a quantity"), format!("did you mean `{name}.{near}`?")));
        }
        _ => {
            let label = "no `.final`, `.min`, `.max` or `@<time>`".into();
            return Err((format!("`{key}` does not say which value of the column"), label));
        }
    };
    if columns.iter().any(|column| column == name) {
        return Ok(());
    }
    let near = nearest(name, columns.iter().map(String::as_str));
    let label = near.map_or("no such column".into(), |near| format!("did you mean `{near}`?"));
    Err((format!("there is no column `{name}`"), label))
}
