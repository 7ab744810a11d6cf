//! The keys that a table of a case file may have, once its tag is known.

pub use crate::keys::*;

use super::tree::{Node, Value};

/// The keys of a table once its tag is known.
pub struct Keys {
    /// How messages call the table, with its variant.
    pub title: String,
    /// All fields.
    pub fields: Vec<Field>,
    /// Groups of keys of which exactly one must be there.
    pub one_of: Vec<Vec<&'static str>>,
    /// Whether the variant is known; if not, `fields` are those of all variants and none is missed.
    pub certain: bool,
}

impl Keys {
    /// The names of all keys of `table`, its tag first.
    pub fn names(&self, table: &'static Table) -> impl Iterator<Item = &'static str> {
        let tag = table.fields.iter().filter(|field| matches!(field.kind, Kind::Tag(_)));
        tag.chain(&self.fields).map(|field| field.name).collect::<Vec<_>>().into_iter()
    }
}

impl Table {
    /// The keys that this very table of a case may have.
    pub fn keys(&'static self, node: &Node) -> Keys {
        let one_of = || self.one_of.iter().map(|group| group.to_vec()).collect();
        let title = self.title.to_string();
        let Some((tag, variants)) = self.tag() else {
            return Keys { title, fields: self.common(&[]), one_of: one_of(), certain: true };
        };
        let mut keys = Keys { title, fields: self.common(&variants), one_of: one_of(), certain: true };
        let given = match node.get(tag.name).map(|node| &node.value) {
            Some(Value::Text(name)) => Some(name.as_str()),
            Some(_) => None,
            None => (!tag.required()).then_some(""),
        };
        match variants.iter().find(|v| Some(v.name) == given) {
            Some(variant) => {
                if node.get(tag.name).is_some() {
                    keys.title = format!("{} with {} = {:?}", self.title, tag.name, variant.name);
                }
                keys.fields.extend(&variant.fields);
                keys.one_of.extend(variant.one_of.iter().cloned());
            }
            None => {
                keys.certain = false;
                for field in variants.iter().flat_map(|variant| &variant.fields) {
                    if keys.fields.iter().all(|known| known.name != field.name) {
                        keys.fields.push(*field);
                    }
                }
            }
        }
        keys
    }
}
