//! The tree against the declared keys: everything that can be said about one value at a time.
//!
//! What relates several values is in `check.rs`.

use super::diagnostic::{Diagnostic, MOST_REPORTED, Place, listing, nearest};
use super::files::Files;
use super::first_order::root_table;
use super::spec::{Choice, Field, Keys, Kind, Reference, Table, Variant};
use super::tree::{Entry, Node, Value};
use super::wrong::{explain, in_range, mismatch, missing, suggestion, unknown_key, unknown_word};

/// What the walk came across that later checks need.
#[derive(Default)]
pub struct Facts {
    /// Well-formed vectors and their lengths.
    pub vectors: Vec<Found<usize>>,
    /// Texts that refer to nodes.
    pub references: Vec<Found<(Reference, String)>>,
}

/// Something and where it stands.
pub struct Found<T> {
    /// The thing.
    pub what: T,
    /// Its key path.
    pub path: String,
    /// Its place.
    pub place: Place,
}

/// All that is wrong with single values of the tree. Without `files` paths are not followed.
pub fn validate(root: &Node, files: Option<&Files>) -> (Vec<Diagnostic>, Facts) {
    let mut walk = Walk { files, diagnostics: Vec::new(), facts: Facts::default() };
    walk.table(root_table(root), root, "");
    (walk.diagnostics, walk.facts)
}

/// `path` with one more key, which is quoted where TOML would have it so.
pub fn join(path: &str, key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let key = if bare { key.to_string() } else { format!("{key:?}") };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

/// `path` of the entry number `index` of an array of tables, by name where it has one.
pub fn join_item(path: &str, item: &Node, index: usize) -> String {
    match item.get("name").and_then(Node::text) {
        Some(name) => join(path, name),
        None => format!("{path}[{index}]"),
    }
}

struct Walk<'a> {
    files: Option<&'a Files>,
    diagnostics: Vec<Diagnostic>,
    facts: Facts,
}

impl Walk<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MOST_REPORTED {
            self.diagnostics.push(diagnostic);
        }
    }

    fn table(&mut self, table: &'static Table, node: &Node, path: &str) {
        let keys = table.keys(node);
        let tag = table.tag();
        // A misspelt key is reported as such, not once more as missing.
        let mut meant = Vec::new();
        for entry in node.entries() {
            let path = join(path, &entry.key);
            let decides = tag.as_ref().filter(|(tag, _)| tag.name == entry.key);
            match (decides, keys.fields.iter().find(|field| field.name == entry.key)) {
                (Some((tag, variants)), _) => self.tag(tag, variants, &entry.node, &path),
                (None, Some(field)) => self.value(field, &entry.node, &path),
                (None, None) => {
                    meant.extend(nearest(&entry.key, keys.names(table)));
                    self.report(unknown_key(table, &keys, entry, &path));
                }
            }
        }
        let absent = |key| node.get(key).is_none() && !meant.contains(&key);
        if let Some((tag, variants)) = tag.filter(|(tag, _)| tag.required() && absent(tag.name)) {
            let help = format!("`{}` is one of {}", tag.name, listing(variants.iter().map(|v| v.name)));
            self.report(missing(&keys, node, path, tag.name).help(help));
        }
        if !keys.certain {
            return;
        }
        for field in keys.fields.iter().filter(|field| field.required() && absent(field.name)) {
            self.report(missing(&keys, node, path, field.name).help(explain(field)));
        }
        for group in &keys.one_of {
            if !group.iter().any(|key| meant.contains(key)) {
                self.exactly_one(group, &keys, node, path);
            }
        }
    }

    fn exactly_one(&mut self, group: &[&str], keys: &Keys, node: &Node, path: &str) {
        let present: Vec<&Entry> = node.entries().iter().filter(|e| group.contains(&e.key.as_str())).collect();
        let built = keys.fields.iter().filter(|f| group.contains(&f.name));
        let names = built.map(|field| field.name).collect::<Vec<_>>();
        let names = format!("{}{}", if names.len() > 1 { "exactly one of " } else { "" }, listing(names));
        match present.as_slice() {
            [_] => {}
            [] => {
                let message = format!("{} needs {names}", keys.title);
                self.report(Diagnostic::new(&node.place, path, message, "has none"));
            }
            [first, rest @ ..] => {
                for entry in rest {
                    let message = format!("{} takes {names}", keys.title);
                    let label = format!("there is `{}` already", first.key);
                    self.report(Diagnostic::new(&entry.place, &join(path, &entry.key), message, label));
                }
            }
        }
    }

    fn tag(&mut self, tag: &Field, variants: &[Variant], node: &Node, path: &str) {
        let built = || variants.iter().filter(|v| !v.name.is_empty()).map(|v| v.name);
        let help = format!("`{}` is one of {}", tag.name, listing(built()));
        let Some(name) = node.text() else {
            let message = format!("`{path}` must be a text");
            self.report(Diagnostic::new(&node.place, path, message, format!("found {}", node.describe())).help(help));
            return;
        };
        match variants.iter().find(|variant| variant.name == name && !name.is_empty()) {
            Some(_) => {}
            None => self.report(unknown_word(node, path, name, built()).help(help)),
        }
    }

    fn value(&mut self, field: &Field, node: &Node, path: &str) {
        let wrong = |node: &Node| mismatch(field, node, path);
        match (field.kind, &node.value) {
            (Kind::Number(range), _) | (Kind::NumberOr(range, _), Value::Integer(_) | Value::Float(_)) => {
                if !in_range(node, range) {
                    self.report(wrong(node));
                }
            }
            // What is still a text has passed as an expression.
            (Kind::NumberOfTime | Kind::NumberOfPlace | Kind::OfSystem(_), Value::Text(_))
            | (Kind::Constants, Value::Table(_)) => {}
            (Kind::NumberOfTime | Kind::NumberOfPlace | Kind::OfSystem(_), _) => {
                if node.number().is_none() {
                    self.report(wrong(node));
                }
            }
            (Kind::Integer(min, max), Value::Integer(value)) if (min..=max).contains(value) => {}
            (Kind::Integer(..), Value::Float(value)) if value.fract() == 0.0 && value.abs() < 1e15 => {
                self.report(wrong(node).help(format!("write it without point and exponent: {value}")));
            }
            (Kind::Flag, Value::Flag(_)) => {}
            (Kind::Text | Kind::Name | Kind::Path | Kind::Ref(_), Value::Text(text)) => {
                self.text(field, node, path, text)
            }
            (Kind::Word(choices) | Kind::WordOrInteger(choices, ..), Value::Text(word)) => {
                self.word(choices, node, path, word)
            }
            (Kind::WordOrInteger(_, min, max), Value::Integer(value)) if (min..=max).contains(value) => {}
            (Kind::Vector | Kind::VectorOfTime, Value::List(items)) => {
                if self.vector(field, node, items, path) {
                    self.facts.vectors.push(Found { what: items.len(), path: path.into(), place: node.place.clone() });
                }
            }
            (Kind::Nested(table) | Kind::Function(table), Value::Table(_))
            | (Kind::OffOr(table), Value::Table(_))
            | (Kind::NumberOr(_, table), Value::Table(_)) => self.table(table, node, path),
            (Kind::OffOr(_), Value::Flag(false)) => {}
            (Kind::Tables(table), Value::Table(_)) => {
                self.report(wrong(node).help(format!("write {} with double brackets", table.title)));
            }
            (Kind::Map(table), Value::Table(entries)) => {
                for entry in entries {
                    self.inner_table(table, &entry.node, &join(path, &entry.key));
                }
            }
            (Kind::Motions(keys, table), Value::Table(entries)) => {
                let tag = table.tag().map_or("", |(tag, _)| tag.name);
                if let Some(entry) = entries.iter().find(|entry| entry.key == tag) {
                    let message = format!("`{path}` does not say along what");
                    let label = format!("belongs one level deeper, under {}", listing(keys.iter().copied()));
                    let help =
                        format!("write `{} = {{ {} = {{ {tag} = … }} }}`", field.name, keys[keys.len().min(2) - 1]);
                    self.report(Diagnostic::new(&entry.place, &join(path, tag), message, label).help(help));
                    return;
                }
                for entry in entries {
                    let path = join(path, &entry.key);
                    if keys.contains(&entry.key.as_str()) {
                        self.inner_table(table, &entry.node, &path);
                    } else {
                        let message = format!("unknown key `{}` in `{}`", entry.key, field.name);
                        let help = format!("allowed keys: {}", listing(keys.iter().copied()));
                        let label = suggestion(&entry.key, keys.iter().copied());
                        self.report(Diagnostic::new(&entry.place, &path, message, label).help(help));
                    }
                }
            }
            (_, Value::List(items)) => self.list(field, node, items, path),
            _ => self.report(wrong(node)),
        }
    }

    fn list(&mut self, field: &Field, node: &Node, items: &[Node], path: &str) {
        let item_path = |index: usize| format!("{path}[{index}]");
        match field.kind {
            Kind::Tables(table) => {
                for (index, item) in items.iter().enumerate() {
                    self.inner_table(table, item, &join_item(path, item, index));
                }
            }
            Kind::Refs(_, min, max) if (min..=max).contains(&items.len()) => {
                for (index, item) in items.iter().enumerate() {
                    match item.text() {
                        Some(text) => self.text(field, item, &item_path(index), text),
                        None => self.report(Diagnostic::new(
                            &item.place,
                            path,
                            format!("`{}` must be a text", item_path(index)),
                            format!("found {}", item.describe()),
                        )),
                    }
                }
            }
            Kind::Words(choices) if items.len() <= choices.len() => {
                for (index, item) in items.iter().enumerate() {
                    match item.text() {
                        Some(word) if items[..index].iter().any(|earlier| earlier.text() == Some(word)) => {
                            let message = format!("`{path}` names `{word}` twice");
                            self.report(Diagnostic::new(&item.place, path, message, "once is enough"));
                        }
                        Some(word) => self.word(choices, item, &item_path(index), word),
                        None => self.report(mismatch(field, item, path)),
                    }
                }
            }
            Kind::Vectors(min, max) if (min..=max).contains(&items.len()) => {
                for (index, item) in items.iter().enumerate() {
                    let path = item_path(index);
                    if !matches!(item.value, Value::List(_)) {
                        let message = format!("`{path}` must be {}", Kind::Vector.describe());
                        self.report(Diagnostic::new(&item.place, &path, message, format!("found {}", item.describe())));
                    } else if self.vector(field, item, item.items(), &path) {
                        self.facts.vectors.push(Found { what: item.items().len(), path, place: item.place.clone() });
                    }
                }
            }
            Kind::Integers(count, min, max) => {
                let fits = |item: &Node| matches!(item.value, Value::Integer(value) if (min..=max).contains(&value));
                if items.len() != count || !items.iter().all(fits) {
                    self.report(mismatch(field, node, path));
                }
            }
            Kind::List(inner) => {
                for (index, item) in items.iter().enumerate() {
                    self.value(&Field { kind: *inner, ..*field }, item, &item_path(index));
                }
            }
            Kind::Within => {
                let end = |node: &Node| match node.text() {
                    Some("inf") => Some(f64::INFINITY),
                    Some("-inf") => Some(f64::NEG_INFINITY),
                    _ => node.number(),
                };
                let ends: Option<Vec<f64>> = items.iter().map(end).collect();
                if !matches!(ends.as_deref(), Some([low, high]) if low < high && *low < f64::INFINITY) {
                    self.report(mismatch(field, node, path));
                }
            }
            Kind::Interval => {
                let ordered = matches!(node.vector().as_deref(), Some([low, high]) if low < high);
                if items.len() != 2 || (self.numbers(items, path) && !ordered) {
                    self.report(mismatch(field, node, path));
                }
            }
            _ => self.report(mismatch(field, node, path)),
        }
    }

    fn inner_table(&mut self, table: &'static Table, node: &Node, path: &str) {
        if matches!(node.value, Value::Table(_)) {
            self.table(table, node, path);
        } else {
            let message = format!("`{path}` must be a table");
            self.report(Diagnostic::new(&node.place, path, message, format!("found {}", node.describe())));
        }
    }

    /// Reports what is wrong with a vector; true if nothing is.
    fn vector(&mut self, field: &Field, node: &Node, items: &[Node], path: &str) -> bool {
        if !(1..=2).contains(&items.len()) {
            let message = format!("`{path}` must be {}", Kind::Vector.describe());
            let label = if items.is_empty() { "empty".into() } else { format!("{} entries", items.len()) };
            let help = format!("`{}`: {}", field.name, field.doc);
            self.report(Diagnostic::new(&node.place, path, message, label).help(help));
            return false;
        }
        match field.kind {
            Kind::VectorOfTime => {
                let wrong = items.iter().filter(|item| item.number().is_none() && item.text().is_none());
                let wrong: Vec<&Node> = wrong.collect();
                wrong.iter().for_each(|item| self.report(mismatch(field, item, path)));
                wrong.is_empty()
            }
            _ => self.numbers(items, path),
        }
    }

    /// Reports every item that is no finite number; true if there is none.
    fn numbers(&mut self, items: &[Node], path: &str) -> bool {
        for (index, item) in items.iter().enumerate().filter(|(_, item)| item.number().is_none()) {
            let message = format!("`{path}[{index}]` must be a finite number");
            self.report(Diagnostic::new(&item.place, path, message, format!("found {}", item.describe())));
        }
        items.iter().all(|item| item.number().is_some())
    }

    fn text(&mut self, field: &Field, node: &Node, path: &str, text: &str) {
        if text.chars().any(char::is_control) {
            let message = format!("`{path}` must be a text on one line");
            self.report(Diagnostic::new(&node.place, path, message, "has a line break or a control character"));
            return;
        }
        match field.kind {
            Kind::Name => {
                let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
                let label = match text.chars().find(|c| !allowed(*c)) {
                    Some(c) => format!("`{c}` is not allowed"),
                    None if text.is_empty() => "empty".into(),
                    None => return,
                };
                let help = "names become column names: ASCII letters, digits, `-` and `_`";
                let message = format!("{text:?} cannot be a name");
                self.report(Diagnostic::new(&node.place, path, message, label).help(help));
            }
            Kind::Path => {
                if let Some(Err(problem)) = self.files.map(|files| files.resolve(text)) {
                    let message = format!("`{path}`: {}", problem.message);
                    let diagnostic = Diagnostic::new(&node.place, path, message, problem.label);
                    self.report(Diagnostic { help: problem.help, ..diagnostic });
                }
            }
            Kind::Ref(reference) | Kind::Refs(reference, ..) => {
                let what = (reference, text.to_string());
                self.facts.references.push(Found { what, path: path.into(), place: node.place.clone() });
            }
            _ => {}
        }
    }

    fn word(&mut self, choices: &[Choice], node: &Node, path: &str, word: &str) {
        let built = || choices.iter().map(|c| c.name);
        let help = format!("allowed: {}", listing(built()));
        match choices.iter().find(|choice| choice.name == word) {
            Some(_) => {}
            None => self.report(unknown_word(node, path, word, built()).help(help)),
        }
    }
}
