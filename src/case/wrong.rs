//! What is wrong with one value or key, in words that are the same everywhere.

use super::diagnostic::{Diagnostic, listing, nearest};
use super::spec::{Field, Keys, Range, Table};
use super::tree::{Entry, Node};

pub(super) fn in_range(node: &Node, range: Range) -> bool {
    node.number().is_some_and(|value| range.contains(value))
}

/// The field in one line, for help.
pub(super) fn explain(field: &Field) -> String {
    format!("`{}`: {} ({})", field.name, field.doc, field.kind.describe())
}

pub(super) fn mismatch(field: &Field, node: &Node, path: &str) -> Diagnostic {
    let message = format!("`{path}` must be {}", field.kind.describe());
    Diagnostic::new(&node.place, path, message, format!("found {}", node.describe()))
        .help(format!("`{}`: {}", field.name, field.doc))
}

pub(super) fn missing(keys: &Keys, node: &Node, path: &str, key: &str) -> Diagnostic {
    let message = format!("missing key `{key}` in {}", keys.title);
    Diagnostic::new(&node.place, path, message, format!("needs `{key}`"))
}

pub(super) fn unknown_word<'a>(
    node: &Node,
    path: &str,
    word: &str,
    known: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    Diagnostic::new(&node.place, path, format!("`{path}` cannot be {word:?}"), suggestion(word, known))
}

pub(super) fn unknown_key(table: &'static Table, keys: &Keys, entry: &Entry, path: &str) -> Diagnostic {
    let message = format!("unknown key `{}` in {}", entry.key, keys.title);
    Diagnostic::new(&entry.place, path, message, suggestion(&entry.key, keys.names(table)))
        .help(format!("allowed keys: {}", listing(keys.names(table))))
}

pub(super) fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or("not known here".into(), |name| format!("did you mean `{name}`?"))
}
