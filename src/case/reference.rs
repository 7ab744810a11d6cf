//! The reference page of the case file, in Markdown, from the registry of keys.

use super::registry::CASE;
use super::spec::{Choice, Field, Kind, Need, Status, Table};
use std::fmt::Write;

/// Every key of a case file.
pub fn reference() -> String {
    let mut page = Page { text: String::new() };
    page.text += "# Case file reference\n\nEvery key of a case file, made by `carom` from the registry that also \
                  checks case files.\nA key without default and not required may be absent. \
                  Keys marked *not built yet* are reserved and refused.\n";
    page.table(&CASE, "", "## Top level");
    page.text
}

struct Page {
    text: String,
}

impl Page {
    /// The section of a table, then those of the tables inside it.
    fn table(&mut self, table: &Table, path: &str, heading: &str) {
        let _ = write!(self.text, "\n{heading}\n\n{}.\n", table.doc);
        for group in table.one_of {
            let names = group.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let _ = write!(self.text, "Exactly one of {names}.\n");
        }
        self.fields(table.fields);
        let variants = table.tag.as_ref().map(|tag| (tag, (tag.variants)()));
        if let Some((tag, variants)) = &variants {
            for variant in variants {
                let title = match tag.absent == Some(variant.name) {
                    true => format!("Without `{}`: {}", tag.key, variant.doc),
                    false if variant.doc.is_empty() => format!("`{} = \"{}\"`", tag.key, variant.name),
                    false => format!("`{} = \"{}\"`: {}", tag.key, variant.name, variant.doc),
                };
                let _ = write!(self.text, "\n**{title}**\n");
                if variant.status == Status::Planned {
                    self.text += "\n*Not built yet.*\n";
                    continue;
                }
                for group in &variant.one_of {
                    let names = group.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                    let _ = write!(self.text, "\nExactly one of {names}.\n");
                }
                self.fields(&variant.fields);
            }
        }
        let mut inner: Vec<Field> = table.fields.to_vec();
        for field in variants.iter().flat_map(|(_, variants)| variants).flat_map(|variant| &variant.fields) {
            if inner.iter().all(|known| known.name != field.name || nested(known).is_none()) {
                inner.push(*field);
            }
        }
        for field in &inner {
            if let Some(table) = nested(field) {
                let path = if path.is_empty() { field.name.to_string() } else { format!("{path}.{}", field.name) };
                let heading = match field.kind {
                    Kind::Tables(_) => format!("## `[[{path}]]`"),
                    Kind::Map(_) => format!("## `[{path}]`"),
                    _ if path.contains('.') => format!("### `{path}`"),
                    _ => format!("## `[{path}]`"),
                };
                self.table(table, &path, &heading);
            }
        }
    }

    fn fields(&mut self, fields: &[Field]) {
        if fields.is_empty() {
            return;
        }
        self.text += "\n| key | value | default | meaning |\n|---|---|---|---|\n";
        for field in fields {
            let default = match field.need {
                Need::Required => "required".to_string(),
                Need::Optional => String::new(),
                Need::Default(text) => format!("`{text}`"),
                Need::Number(value) => format!("`{value:?}`"),
            };
            let note = if field.status == Status::Planned { " (*not built yet*)" } else { "" };
            let value = field.kind.describe().replace('|', "\\|");
            let meaning = field.doc.replace('|', "\\|");
            let _ = writeln!(self.text, "| `{}` | {value} | {default} | {meaning}{}{note} |", field.name, words(field));
        }
    }
}

/// The table inside a field.
fn nested(field: &Field) -> Option<&'static Table> {
    match field.kind {
        Kind::Nested(table)
        | Kind::Tables(table)
        | Kind::OffOr(table)
        | Kind::NumberOr(_, table)
        | Kind::Map(table)
        | Kind::Keyed(_, table) => Some(table),
        _ => None,
    }
}

/// What each word of a choice means.
fn words(field: &Field) -> String {
    let (Kind::Word(choices) | Kind::Words(choices)) = field.kind else { return String::new() };
    let word = |choice: &Choice| {
        let note = if choice.status == Status::Planned { " (*not built yet*)" } else { "" };
        format!("`{}` {}{note}", choice.name, choice.doc)
    };
    format!(": {}", choices.iter().map(word).collect::<Vec<_>>().join("; "))
}
