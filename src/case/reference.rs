//! The reference page of the case file, in Markdown, from the declared keys.

use super::diagnostic::listing;
use super::spec::{Choice, Field, Kind, Table, Variant};
use super::tables::CASE;
use std::fmt::Write;

/// Every key of a case file.
pub fn reference() -> String {
    let mut page = Page { text: String::new(), known: Vec::new() };
    page.text += "# Case file reference\n\nEvery key of a case file, made by `carom` from the registry that also \
                  checks case files.\nA key without default and not required may be absent.\n\n\
                  Every number that is no integer may also be a text with an expression of `[constants]`, as in \
                  `step = \"T/200\"`; where it may also use `t`, or `x`, `y` and `s`, the key says so. \
                  What expressions can do: [expressions.md](expressions.md).\n";
    page.table(CASE, "", "## Top level");
    page.table(&super::first_order::FIRST_ORDER, "", "## First-order systems");
    page.text
}

struct Page {
    text: String,
    /// Tables that have a section, and its path.
    known: Vec<(&'static Table, String)>,
}

impl Page {
    /// The section of a table, then those of the tables inside it.
    fn table(&mut self, table: &'static Table, path: &str, heading: &str) {
        let _ = writeln!(self.text, "\n{heading}\n");
        if let Some((_, elsewhere)) = self.known.iter().find(|(known, _)| std::ptr::eq(*known, table)) {
            let _ = writeln!(self.text, "The same keys as `{elsewhere}`.");
            return;
        }
        self.known.push((table, path.to_string()));
        let _ = writeln!(self.text, "{}.", table.doc);
        self.groups(table.one_of.iter().copied());
        let mut inner = table.common(&[]);
        match table.tag() {
            None => self.fields(&inner),
            Some((tag, variants)) => {
                inner = table.common(&variants);
                self.fields(&[&[*tag], inner.as_slice()].concat());
                for variant in variants {
                    self.variant(tag, &variant);
                    let new =
                        |f: &&Field| inner.iter().all(|known| known.name != f.name || known.kind.table().is_none());
                    let new: Vec<Field> = variant.fields.iter().filter(new).copied().collect();
                    inner.extend(new);
                }
            }
        }
        for field in inner.iter() {
            if let Some(table) = field.kind.table() {
                let path = if path.is_empty() { field.name.to_string() } else { format!("{path}.{}", field.name) };
                let heading = match field.kind {
                    Kind::Motions(keys, _) => format!(
                        "### `{path}`\n\nOne function of time per key, {}: `{} = {{ {} = … }}`. Each of them is a text with an \
                         expression of `t`, or a table:",
                        listing(keys.iter().copied()),
                        field.name,
                        keys[0]
                    ),
                    Kind::Tables(_) => format!("## `[[{path}]]`"),
                    _ if path.contains('.') => format!("### `{path}`"),
                    _ => format!("## `[{path}]`"),
                };
                self.table(table, &path, &heading);
            }
        }
    }

    fn variant(&mut self, tag: &Field, variant: &Variant) {
        let title = match variant.name {
            "" => format!("Without `{}`", tag.name),
            name => format!("`{} = \"{name}\"`", tag.name),
        };
        let _ = writeln!(self.text, "\n**{title}** {}", variant.doc);
        self.groups(variant.one_of.iter().map(Vec::as_slice));
        self.fields(&variant.fields);
    }

    fn groups<'a>(&mut self, groups: impl Iterator<Item = &'a [&'static str]>) {
        for group in groups {
            let _ = writeln!(self.text, "\nExactly one of {}.", listing(group.iter().copied()));
        }
    }

    fn fields(&mut self, fields: &[Field]) {
        if fields.is_empty() {
            return;
        }
        self.text += "\n| key | value | default | meaning |\n|---|---|---|---|\n";
        for field in fields {
            let default = field.default_text().map(|text| format!("`{text}`"));
            let default = default.unwrap_or(if field.required() { "required".into() } else { String::new() });
            let meaning = format!("{}{}", field.doc, words(field));
            let cells = [format!("`{}`", field.name), field.kind.describe(), default, meaning];
            // A bar would end the cell.
            let _ = writeln!(self.text, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
        }
    }
}

/// What each word of a choice means.
fn words(field: &Field) -> String {
    let (Kind::Word(choices) | Kind::WordOrInteger(choices, ..) | Kind::Words(choices)) = field.kind else {
        return String::new();
    };
    let word = |choice: &Choice| format!("`{}` {}", choice.name, choice.doc);
    format!(": {}", choices.iter().map(word).collect::<Vec<_>>().join("; "))
}
