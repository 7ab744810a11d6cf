//! A case as a tree of values, each with the place where it was written; read from TOML or JSON.
//!
//! It knows notations; it must not know which keys exist.

use super::diagnostic::{Diagnostic, Place};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use toml::de::{DeTable, DeValue};

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it stands; a table under a `[header]` stands at the header.
    pub place: Place,
}

/// What a node holds.
#[derive(Clone, Debug)]
pub enum Value {
    /// A string.
    Text(String),
    /// A number without point and exponent.
    Integer(i64),
    /// Any other number, not-a-number and infinities included.
    Float(f64),
    /// true or false.
    Flag(bool),
    /// A TOML date or time, for which carom has no use.
    Date(String),
    /// An array, also an array of tables.
    List(Vec<Node>),
    /// A table, in the order of the text.
    Table(Vec<Entry>),
}

/// A key of a table and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub place: Place,
    /// Its value.
    pub node: Node,
}

impl Node {
    /// The value under that key, if this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The entries of a table; none for anything else.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; none for anything else.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// A finite number, written with or without a point.
    pub fn number(&self) -> Option<f64> {
        match self.value {
            Value::Integer(value) => Some(value as f64),
            Value::Float(value) if value.is_finite() => Some(value),
            _ => None,
        }
    }

    /// A string.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A list of finite numbers.
    pub fn vector(&self) -> Option<Vec<f64>> {
        match &self.value {
            Value::List(items) => items.iter().map(Node::number).collect(),
            _ => None,
        }
    }

    /// What the value is, for messages: `a text`, `a list`, the number itself.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Text(_) => "a text".into(),
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
            Value::Flag(value) => value.to_string(),
            Value::Date(_) => "a date".into(),
            Value::List(items) if items.is_empty() => "an empty list".into(),
            Value::List(items) if items.iter().all(|item| matches!(item.value, Value::Table(_))) => {
                "a list of tables".into()
            }
            Value::List(_) => "a list".into(),
            Value::Table(_) => "a table".into(),
        }
    }

    /// This value without places, for serde. Only called on checked trees, whose numbers are finite.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Text(text) | Value::Date(text) => text.as_str().into(),
            Value::Integer(value) => (*value).into(),
            Value::Float(value) => (*value).into(),
            Value::Flag(value) => (*value).into(),
            Value::List(items) => items.iter().map(Node::to_json).collect(),
            Value::Table(entries) => entries.iter().map(|e| (e.key.clone(), e.node.to_json())).collect(),
        }
    }
}

/// Reads a TOML text; every syntax error is reported.
pub fn from_toml(text: &str) -> Result<Node, Vec<Diagnostic>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut diagnostics: Vec<_> = errors.iter().map(|error| syntax(error, Place::file)).collect();
    let root = Node { value: read_table(table.get_ref(), &Place::file, &mut diagnostics), place: Place::file(0..0) };
    if diagnostics.is_empty() { Ok(root) } else { Err(diagnostics) }
}

/// A TOML syntax error; `place` turns its span into a place.
pub fn syntax(error: &toml::de::Error, place: impl Fn(std::ops::Range<usize>) -> Place) -> Diagnostic {
    let message = error.message().lines().next().unwrap_or("not valid TOML");
    Diagnostic::new(&place(error.span().unwrap_or(0..0)), "", format!("not valid TOML: {message}"), "here")
}

/// A parsed TOML table, its entries back in the order of the text; numbers that do not fit are reported.
pub fn read_table(
    table: &DeTable<'_>,
    place: &dyn Fn(std::ops::Range<usize>) -> Place,
    diagnostics: &mut Vec<Diagnostic>,
) -> Value {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            place: place(key.span()),
            node: Node { value: read_value(value, place, diagnostics), place: place(value.span()) },
        })
        .collect();
    entries.sort_by_key(|entry| entry.place.span.start);
    Value::Table(entries)
}

/// A parsed TOML value.
pub fn read_value(
    value: &toml::Spanned<DeValue<'_>>,
    place: &dyn Fn(std::ops::Range<usize>) -> Place,
    diagnostics: &mut Vec<Diagnostic>,
) -> Value {
    match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(value) => Value::Integer(value),
            Err(_) => {
                let label = "does not fit into 64 bits";
                diagnostics.push(Diagnostic::new(&place(value.span()), "", "this integer is too large", label));
                Value::Integer(0)
            }
        },
        // Too large a float becomes infinite here and is refused with the range of its key.
        DeValue::Float(digits) => Value::Float(digits.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(value) => Value::Flag(*value),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .map(|item| Node { value: read_value(item, place, diagnostics), place: place(item.span()) })
                .collect(),
        ),
        DeValue::Table(table) => read_table(table, place, diagnostics),
    }
}

/// Reads a JSON text.
pub fn from_json(text: &str) -> Result<Node, Vec<Diagnostic>> {
    serde_json::from_str(text).map_err(|error| {
        let whole = error.to_string();
        // serde_json ends its message with " at line L column C"; the place is told once, in front.
        let what = whole.split(" at line ").next().unwrap_or(&whole);
        let message = format!("not a valid JSON case: {what}");
        let line: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let start = line + error.column().saturating_sub(1);
        vec![Diagnostic::new(&Place::file(start..start + 1), "", message, "here")]
    })
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        let value = deserializer.deserialize_any(JsonValue)?;
        Ok(Node { value, place: Place::file(0..0) })
    }
}

/// Unlike `serde_json::Value`, refuses a key that stands twice in one table.
struct JsonValue;

impl<'de> Visitor<'de> for JsonValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text, true, false, a list or a table")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Flag(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        i64::try_from(value).map(Value::Integer).map_err(|_| E::custom("this integer is too large"))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut seen = std::collections::HashSet::new();
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if !seen.insert(key.clone()) {
                return Err(de::Error::custom(format!("duplicate key `{key}`")));
            }
            entries.push(Entry { key, place: Place::file(0..0), node: map.next_value()? });
        }
        Ok(Value::Table(entries))
    }
}
