//! The keys of obstacles as the registry of keys wants them, and what must hold among them.
//!
//! All of it comes from [`OBSTACLES`]; no obstacle is named here.

use super::check::At;
use super::diagnostic::Diagnostic;
use super::tree::{self, Node};
use super::validate::join;
use crate::keys::{ANY, Field, KeyValue, Kind, POSITIVE, Table, default, optional, required, table};
use crate::obstacles::{Fault, Key, OBSTACLES, ObstacleKind, Value, Values, Wanted};
use std::collections::BTreeMap;

/// Number of obstacles.
pub(super) const COUNT: usize = OBSTACLES.len();
/// Keys of one obstacle at most.
const MOST_KEYS: usize = 8;
const NO_FIELD: Field = optional("", Kind::Flag, "");

static FIELDS: [[Field; MOST_KEYS]; COUNT] = {
    let mut fields = [[NO_FIELD; MOST_KEYS]; COUNT];
    let mut i = 0;
    while i < COUNT {
        let mut k = 0;
        while k < OBSTACLES[i].keys.len() {
            fields[i][k] = field(&OBSTACLES[i].keys[k]);
            k += 1;
        }
        i += 1;
    }
    fields
};

static TABLES: [Table; COUNT] = {
    let mut tables = [const { table("", "", &[]) }; COUNT];
    let mut i = 0;
    while i < COUNT {
        tables[i].title = OBSTACLES[i].name;
        tables[i].doc = OBSTACLES[i].doc;
        tables[i].fields = FIELDS[i].split_at(OBSTACLES[i].keys.len()).0;
        i += 1;
    }
    tables
};

const fn field(key: &Key) -> Field {
    let &Key { name, wanted, doc } = key;
    match wanted {
        Wanted::Point | Wanted::Direction => required(name, Kind::Vector, doc),
        Wanted::DirectionOrNone => optional(name, Kind::Vector, doc),
        Wanted::Length => required(name, Kind::Number(POSITIVE), doc),
        Wanted::Angle => required(name, Kind::Number(ANY), doc),
        Wanted::Flag => default(name, Kind::Flag, "false", doc),
        Wanted::Points => required(name, Kind::Vectors(2, usize::MAX), doc),
    }
}

/// Keys of `[[contact]]` that give an obstacle.
pub(super) fn fields() -> Vec<Field> {
    let field = |(kind, table): (&&'static ObstacleKind, &'static Table)| {
        optional(kind.name, Kind::Nested(table), kind.summary)
    };
    OBSTACLES.iter().zip(&TABLES).map(field).collect()
}

impl KeyValue for BTreeMap<String, Values> {
    const KIND: Kind = Kind::More(fields);

    fn left_out(&self) -> bool {
        self.is_empty()
    }

    fn missing() -> Option<Self> {
        Some(BTreeMap::new())
    }
}

/// Names of all obstacles, and one more.
pub(super) const fn names_and(last: &'static str) -> [&'static str; COUNT + 1] {
    let mut names = [last; COUNT + 1];
    let mut i = 0;
    while i < COUNT {
        names[i] = OBSTACLES[i].name;
        i += 1;
    }
    names
}

/// The obstacles of a contact: one in a sound case.
pub(super) fn of<'a>(contact: &'a At) -> impl Iterator<Item = &'static ObstacleKind> + 'a {
    OBSTACLES.iter().copied().filter(|kind| contact.has(kind.name))
}

/// What is wrong with an obstacle of a contact, apart from single values.
pub(super) fn check(contact: &At, kind: &ObstacleKind, dimension: Option<usize>, statics: bool) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let name = kind.name;
    let Some(at) = contact.get(name) else { return diagnostics };
    for Key { name, wanted, .. } in kind.keys {
        let direction = matches!(wanted, Wanted::Direction | Wanted::DirectionOrNone);
        if direction && at.vector(name).is_some_and(|v| !v.is_empty() && v.iter().all(|&x| x == 0.0)) {
            let message = format!("`{}` must not be zero", join(&at.path, name));
            diagnostics.push(at.wrong(name, message, "has no direction"));
        }
    }
    if let Some(Fault { key, message, label }) = (kind.check)(&values(at.node, kind.keys)) {
        diagnostics.push(at.wrong(key, message, label));
    }
    if !kind.in_one_dimension && dimension == Some(1) {
        diagnostics.push(contact.wrong(name, format!("`{name}` needs two dimensions"), "in a model of one dimension"));
    }
    if kind.searched && statics {
        diagnostics.push(no_statics(contact, name));
    }
    diagnostics
}

/// What is searched for has no place in statics.
pub(super) fn no_statics(contact: &At, key: &str) -> Diagnostic {
    let message = format!("`{key}` has no static analysis: what touches is searched for from step to step");
    contact.wrong(key, message, "take planes or circles, or run a dynamic analysis with damping")
}

/// The values of an obstacle that are as they should be.
fn values(node: &Node, keys: &[Key]) -> Values {
    let value = |key: &Key| {
        let node = node.get(key.name)?;
        let value = match key.wanted {
            Wanted::Point | Wanted::Direction | Wanted::DirectionOrNone => Value::Vector(node.vector()?),
            Wanted::Length | Wanted::Angle => Value::Number(node.number()?),
            Wanted::Flag => Value::Flag(matches!(node.value, tree::Value::Flag(true))),
            Wanted::Points => Value::Points(node.items().iter().map(Node::vector).collect::<Option<_>>()?),
        };
        Some((key.name.to_string(), value))
    };
    Values(keys.iter().filter_map(value).collect())
}
