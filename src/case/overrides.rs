//! `--set PATH=VALUE`: replaces what stands at a path of the tree.
//!
//! An override is one line of TOML, `time.step = 1e-4`, except that entries of an array of tables are addressed
//! by their `name`. It knows trees; it must not know which keys exist.

use super::diagnostic::{Diagnostic, Place, Source, listing, nearest};
use super::tree::{self, Entry, Node, Value};
use toml::de::{DeTable, DeValue};

/// Applies the `index`-th override `text` to the tree.
pub fn apply(root: &mut Node, text: &str, index: usize) -> Result<(), Vec<Diagnostic>> {
    let place = |span| Place { source: Source::Set(index), span };
    let table = DeTable::parse(text).map_err(|error| vec![explain(text, &error, place)])?;
    let malformed = || {
        let diagnostic = Diagnostic::new(&place(0..text.len()), "", "--set takes one PATH=VALUE", "not of that form");
        vec![diagnostic.help("for example --set time.step=1e-4")]
    };

    let mut path = Vec::new();
    let mut level = table.get_ref();
    let value = loop {
        let mut entries = level.iter();
        let (Some((key, value)), None) = (entries.next(), entries.next()) else { return Err(malformed()) };
        path.push((key.get_ref().to_string(), place(key.span())));
        match value.get_ref() {
            // A table that dotted keys imply stands at its key; a written one behind the equals sign.
            DeValue::Table(inner) if value.span() == key.span() => level = inner,
            _ => break value,
        }
    };
    // A [header] would be legal TOML too.
    if text.trim_start().starts_with('[') {
        return Err(malformed());
    }
    let mut diagnostics = Vec::new();
    let node = Node { value: tree::read_value(value, &place, &mut diagnostics), place: place(value.span()) };
    if diagnostics.is_empty() { replace(root, &path, node).map_err(|d| vec![*d]) } else { Err(diagnostics) }
}

/// Why an override is no TOML; a bare word is the usual reason.
fn explain(text: &str, error: &toml::de::Error, place: impl Fn(std::ops::Range<usize>) -> Place) -> Diagnostic {
    let Some((path, value)) = text.split_once('=') else {
        let diagnostic = Diagnostic::new(&place(0..text.len()), "", "--set takes PATH=VALUE", "no `=` in here");
        return diagnostic.help("for example --set time.step=1e-4");
    };
    let value = value.trim();
    let bare = !value.is_empty() && !value.contains(['"', '\'', '[', '{', '\n', '\\']);
    let quoted = format!("{}=\"{value}\"", path.trim());
    if bare && DeTable::parse(&quoted).is_ok() {
        let start = text.len() - text[path.len() + 1..].trim_start().len();
        let message = format!("`{value}` is not a TOML value");
        let label = "a text needs quotes";
        return Diagnostic::new(&place(start..start + value.len()), path.trim(), message, label)
            .help(format!("write --set '{quoted}'"));
    }
    tree::syntax(error, place)
}

/// Puts `node` at `path`, whatever stood there; missing tables are created.
fn replace(root: &mut Node, path: &[(String, Place)], node: Node) -> Result<(), Box<Diagnostic>> {
    let mut target = root;
    for (depth, (key, place)) in path.iter().enumerate() {
        let so_far = path[..depth].iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(".");
        let found = target.describe();
        target = match &mut target.value {
            Value::Table(entries) => {
                let position = entries.iter().position(|entry| entry.key == *key).unwrap_or_else(|| {
                    let empty = Node { value: Value::Table(Vec::new()), place: place.clone() };
                    entries.push(Entry { key: key.clone(), place: place.clone(), node: empty });
                    entries.len() - 1
                });
                if depth + 1 == path.len() {
                    entries[position].place = place.clone();
                }
                &mut entries[position].node
            }
            Value::List(items) => {
                let names: Vec<String> =
                    items.iter().filter_map(|i| Some(i.get("name")?.text()?.to_string())).collect();
                match items.iter().position(|item| item.get("name").and_then(Node::text) == Some(key)) {
                    Some(position) => &mut items[position],
                    None => {
                        let message = format!("`{so_far}` has no entry named `{key}`");
                        let known = names.iter().map(String::as_str);
                        let label = nearest(key, known.clone())
                            .map_or("no such name".into(), |name| format!("did you mean `{name}`?"));
                        let help = if names.is_empty() {
                            format!("no entry of `{so_far}` has a name")
                        } else {
                            format!("names in `{so_far}`: {}", listing(known))
                        };
                        return Err(Box::new(Diagnostic::new(place, &so_far, message, label).help(help)));
                    }
                }
            }
            _ => {
                let message = format!("`{so_far}` is {found} and has no keys");
                let label = "cannot be reached";
                let help = format!("replace it whole: --set '{so_far}={{ {key} = … }}'");
                return Err(Box::new(Diagnostic::new(place, &so_far, message, label).help(help)));
            }
        };
    }
    *target = node;
    Ok(())
}
