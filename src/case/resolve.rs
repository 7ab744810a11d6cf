//! Texts that stand for numbers: constants, and expressions of them, become the numbers that they are.
//!
//! It walks the tree along the declared keys before anything is checked, so that all later steps see numbers. What depends on
//! time or place stays a text, but its names and its grammar are checked here, where its place in the file is known.

use super::diagnostic::{Diagnostic, MOST_REPORTED, Place, Source, Sources};
use super::first_order::{is_first_order, root_table, variables};
use super::spec::{Kind, Scope, Table};
use super::tree::{Entry, Node, Value};
use super::validate::{join, join_item};
use crate::expression::{Expression, Vocabulary, check_name};

/// The variable of loads and motions.
pub const TIME: &[&str] = &["t"];
/// The variables of initial fields: place of the node, and its distance from the first node.
pub const PLACE: &[&str] = &["x", "y", "s"];
/// Names that mean something in some places only.
const ELSEWHERE: &[(&str, &str)] = &[
    ("t", "`t` is known in `force`, `moment`, `per_length`, `time` and `motion`"),
    ("x", "`x` is known in fields of [[initial]]"),
    ("y", "`y` is known in fields of [[initial]]"),
    ("s", "`s` is known in fields of [[initial]]"),
];
/// Longer texts are not repeated in a message.
const SHOWN: usize = 60;

/// What is wrong, and the texts that it is about: what else is said of these is a consequence.
#[derive(Default)]
pub struct Resolved {
    /// What is wrong with constants and expressions.
    pub diagnostics: Vec<Diagnostic>,
    failed: Vec<(Place, String)>,
}

impl Resolved {
    /// Whether a diagnostic of a later step is about a text that is wrong already.
    pub fn explains(&self, diagnostic: &Diagnostic) -> bool {
        self.failed.iter().any(|(place, path)| *place == diagnostic.place && *path == diagnostic.path)
    }
}

/// Puts numbers in place of constants and expressions of constants.
pub fn resolve(root: &mut Node, sources: &Sources) -> Resolved {
    let system = is_first_order(root).then(|| SCOPES.map(|scope| (scope, variables(root, scope))));
    let mut walk = Walk { sources, constants: Vec::new(), system, result: Resolved::default() };
    if let Value::Table(entries) = &mut root.value
        && let Some(constants) = entries.iter_mut().find(|entry| entry.key == "constants")
        && let Value::Table(constants) = &mut constants.node.value
    {
        constants.iter_mut().for_each(|entry| walk.constant(entry));
    }
    walk.table(root_table(root), root, "");
    walk.result
}

struct Walk<'a> {
    sources: &'a Sources,
    /// Those known so far; not a number for those that are wrong.
    constants: Vec<(String, f64)>,
    /// What expressions of a first-order system may use.
    system: Option<[(Scope, Vec<String>); 5]>,
    result: Resolved,
}

const SCOPES: [Scope; 5] = [Scope::Time, Scope::States, Scope::Stored, Scope::Laws, Scope::Ends];

impl Walk<'_> {
    fn constant(&mut self, entry: &mut Entry) {
        let path = join("constants", &entry.key);
        if let Err(why) = check_name(&entry.key, TIME) {
            let message = format!("a constant cannot be called `{}`", entry.key);
            self.report(Diagnostic::new(&entry.place, &path, message, why));
            return;
        }
        if entry.node.text().is_some() {
            self.number(&mut entry.node, &path, &path, &[]);
        } else if entry.node.number().is_none() {
            let message =
                format!("`{path}` must be a finite number, or a text with an expression of earlier constants");
            let label = format!("found {}", entry.node.describe());
            self.report(Diagnostic::new(&entry.node.place, &path, message, label));
        }
        self.constants.push((entry.key.clone(), entry.node.number().unwrap_or(f64::NAN)));
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.result.diagnostics.len() < MOST_REPORTED {
            self.result.diagnostics.push(diagnostic);
        }
    }

    fn table(&mut self, table: &'static Table, node: &mut Node, path: &str) {
        let keys = table.keys(node);
        let Value::Table(entries) = &mut node.value else { return };
        for entry in entries {
            if let Some(field) = keys.fields.iter().find(|field| field.name == entry.key) {
                self.value(field.kind, &mut entry.node, &join(path, &entry.key));
            }
        }
    }

    fn value(&mut self, kind: Kind, node: &mut Node, path: &str) {
        match (kind, &mut node.value) {
            (Kind::Number(_) | Kind::NumberOr(..), Value::Text(_)) => self.number(node, path, path, &[]),
            (Kind::NumberOfTime, Value::Text(_)) => self.number(node, path, path, TIME),
            (Kind::NumberOfPlace, Value::Text(_)) => self.number(node, path, path, PLACE),
            (Kind::OfSystem(scope), Value::Text(_)) => {
                let known = self.system.iter().flatten().find(|(known, _)| *known == scope);
                let names = known.map_or(Vec::new(), |(_, names)| names.clone());
                self.number(node, path, path, &names.iter().map(String::as_str).collect::<Vec<_>>());
            }
            (Kind::Within, Value::List(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    match &item.value {
                        Value::Float(value) if value.is_infinite() => {
                            item.value = Value::Text(if *value > 0.0 { "inf".into() } else { "-inf".into() });
                        }
                        Value::Text(text) if text != "inf" && text != "-inf" => {
                            self.number(item, &format!("{path}[{index}]"), path, &[]);
                        }
                        _ => {}
                    }
                }
            }
            (Kind::List(inner), Value::List(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.value(*inner, item, &format!("{path}[{index}]"));
                }
            }
            (Kind::Function(_), Value::Text(_)) => self.function(node, path),
            (Kind::Vector | Kind::Interval | Kind::VectorOfTime, Value::List(items)) => {
                let variables = if matches!(kind, Kind::VectorOfTime) { TIME } else { &[] };
                for (index, item) in items.iter_mut().enumerate().filter(|(_, item)| item.text().is_some()) {
                    self.number(item, &format!("{path}[{index}]"), path, variables);
                }
            }
            (Kind::Vectors(..), Value::List(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.value(Kind::Vector, item, &format!("{path}[{index}]"));
                }
            }
            (
                Kind::Nested(table) | Kind::OffOr(table) | Kind::NumberOr(_, table) | Kind::Function(table),
                Value::Table(_),
            ) => self.table(table, node, path),
            (Kind::Tables(table), Value::List(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    let path = join_item(path, item, index);
                    self.table(table, item, &path);
                }
            }
            (Kind::Map(table), Value::Table(entries)) => {
                entries.iter_mut().for_each(|entry| self.table(table, &mut entry.node, &join(path, &entry.key)));
            }
            (Kind::Motions(keys, table), Value::Table(entries)) => {
                for entry in entries.iter_mut().filter(|entry| keys.contains(&entry.key.as_str())) {
                    self.value(Kind::Function(table), &mut entry.node, &join(path, &entry.key));
                }
            }
            _ => {}
        }
    }

    /// A function of time that is a text is short for a table with that expression.
    fn function(&mut self, node: &mut Node, path: &str) {
        self.number(node, path, path, TIME);
        let entry = |key: &str, value: Value| Entry {
            key: key.into(),
            place: node.place.clone(),
            node: Node { value, place: node.place.clone() },
        };
        let kind = entry("kind", Value::Text("expression".into()));
        node.value = Value::Table(vec![kind, entry("value", node.value.clone())]);
    }

    /// A number in place of the text, unless it needs one of `variables`. `shown` is how messages call the value, `path`
    /// what they are filed under.
    fn number(&mut self, node: &mut Node, shown: &str, path: &str, variables: &[&str]) {
        let Some(text) = node.text() else { return };
        // A first-order system has variables of its own.
        // `x@start` is read as `x_start`.
        let spoken = if self.system.is_some() { text.replace('@', "_") } else { text.to_string() };
        let elsewhere = if self.system.is_none() { ELSEWHERE } else { &[] };
        let refused: Vec<_> = elsewhere.iter().copied().filter(|(name, _)| !variables.contains(name)).collect();
        let names = Vocabulary { variables, constants: &self.constants, refused: &refused };
        let (message, label, at, help) = match Expression::parse(&spoken, &names) {
            Ok(expression) => match expression.constant() {
                None => return,
                Some(value) if value.is_finite() => {
                    node.value = Value::Float(value);
                    return;
                }
                // A constant that is wrong has been reported.
                Some(_) if self.constants.iter().any(|(_, value)| value.is_nan()) => {
                    self.result.failed.push((node.place.clone(), path.to_string()));
                    return;
                }
                Some(value) => {
                    let what = if value.is_nan() { "not a number" } else { "infinite" };
                    (format!("`{shown}` must be a finite number"), format!("this is {what}"), 0..text.len(), None)
                }
            },
            Err(fault) => {
                let of = if text.len() <= SHOWN { format!(" of {text:?}") } else { String::new() };
                let message = format!("`{shown}`: {} (column {}{of})", fault.message, fault.column());
                (message, fault.label, fault.at, fault.help)
            }
        };
        let place = within(self.sources, &node.place, text, at);
        self.result.failed.push((node.place.clone(), path.to_string()));
        let diagnostic = Diagnostic::new(&place, path, message, label);
        self.report(Diagnostic { help, ..diagnostic });
    }
}

/// The place of some bytes of a text in the file, if it stands there as it is: escapes would shift it.
pub(super) fn within(sources: &Sources, place: &Place, text: &str, at: std::ops::Range<usize>) -> Place {
    let source = match place.source {
        Source::File => &sources.text,
        Source::Set(index) => &sources.set[index],
    };
    let written = source.get(place.span.clone()).and_then(|written| written.find(text));
    match written.filter(|_| !text.is_empty()) {
        Some(offset) => {
            let start = place.span.start + offset;
            Place { source: place.source, span: start + at.start..start + at.end.max(at.start + 1) }
        }
        None => place.clone(),
    }
}

/// Whether a value is a text that depends on time or place: every other one has become a number.
pub fn varies(node: &Node) -> bool {
    match &node.value {
        Value::Text(_) => true,
        Value::List(items) => items.iter().any(varies),
        _ => false,
    }
}
