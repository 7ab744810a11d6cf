//! The vocabulary in which the keys of a case file are declared: tables, fields, kinds, ranges.
//!
//! The declarations are in `registry.rs`; the validator, the JSON schema and the reference page read them.
//! Nothing here knows a case.

use super::tree::{Node, Value};

/// The keys that a table may have.
pub struct Table {
    /// How messages call it, for example `[time]`.
    pub title: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Fields that it always has.
    pub fields: &'static [Field],
    /// Groups of keys of which exactly one must be there.
    pub one_of: &'static [&'static [&'static str]],
    /// The key that decides on further fields.
    pub tag: Option<Tag>,
}

/// A key whose value decides which further keys a table has.
pub struct Tag {
    /// The key.
    pub key: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// What the table is without the key; `None` if the key is required.
    pub absent: Option<&'static str>,
    /// The variants; a function because they come from other registries.
    pub variants: fn() -> Vec<Variant>,
}

/// One value of a tag, with the fields that go with it.
pub struct Variant {
    /// Value of the tag.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Fields besides those of the table.
    pub fields: Vec<Field>,
    /// Groups of keys of which exactly one must be there.
    pub one_of: Vec<Vec<&'static str>>,
}

/// A key.
#[derive(Clone, Copy)]
pub struct Field {
    /// The key itself.
    pub name: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// What holds if it is absent.
    pub need: Need,
    /// What it is; a sentence without its full stop.
    pub doc: &'static str,
}

/// What holds if a key is absent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Need {
    /// That is an error.
    Required,
    /// There is no such thing, or another key of a group stands for it.
    Optional,
    /// This value, as it would be written, or a rule in words.
    Default(&'static str),
    /// This number.
    Number(f64),
}

/// What a value must be.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A finite number in a range.
    Number(Range),
    /// A whole number between bounds, both included.
    Integer(i64, i64),
    /// Any text.
    Text,
    /// A name of the user's own: ASCII letters, digits, `-` and `_`.
    Name,
    /// A path relative to the case file.
    Path,
    /// A text that names nodes.
    Ref(Reference),
    /// Between so many and so many such texts.
    Refs(Reference, usize, usize),
    /// true or false.
    Flag,
    /// One of some words.
    Word(&'static [Choice]),
    /// A list of different words.
    Words(&'static [Choice]),
    /// One number per dimension of the model: one or two.
    Vector,
    /// Between so many and so many vectors.
    Vectors(usize, usize),
    /// Two numbers, the second larger.
    Interval,
    /// A table.
    Nested(&'static Table),
    /// An array of tables.
    Tables(&'static Table),
    /// `false`, or a table.
    OffOr(&'static Table),
    /// A number, or a table.
    NumberOr(Range, &'static Table),
    /// A table whose keys are free, each with such a table.
    Map(&'static Table),
    /// A function of time: such a table, or a text with an expression of `t`.
    Function(&'static Table),
    /// A table with some of these keys, each with a function of time.
    Motions(&'static [&'static str], &'static Table),
    /// A finite number, or a text with an expression of `t`.
    NumberOfTime,
    /// One such per dimension of the model: one or two.
    VectorOfTime,
    /// A finite number, or a text with an expression of `x`, `y` and `s`.
    NumberOfPlace,
    /// A table whose keys are the names of constants.
    Constants,
}

/// What a node reference may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A body, a set, or a part of a body such as `bar.start`.
    Nodes,
    /// The same, with exactly one node.
    Node,
    /// A body or a set.
    Region,
    /// A body.
    Body,
}

/// A word that a key may have as value.
#[derive(Clone, Copy)]
pub struct Choice {
    /// The word.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// An interval of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lower end.
    pub min: f64,
    /// Upper end.
    pub max: f64,
    /// Whether the lower end is allowed itself.
    pub min_included: bool,
    /// Whether the upper end is allowed itself.
    pub max_included: bool,
}

/// Every finite number.
pub const ANY: Range = Range { min: f64::NEG_INFINITY, max: f64::INFINITY, min_included: false, max_included: false };
/// Above zero.
pub const POSITIVE: Range = Range { min: 0.0, ..ANY };
/// Zero and above.
pub const NON_NEGATIVE: Range = Range { min_included: true, ..POSITIVE };

/// From `min` to `max`, both included.
pub const fn between(min: f64, max: f64) -> Range {
    Range { min, max, min_included: true, max_included: true }
}

/// From `min` to `max`, both excluded.
pub const fn inside(min: f64, max: f64) -> Range {
    Range { min, max, min_included: false, max_included: false }
}

/// A key that must be there.
pub const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Field {
    Field { name, kind, need: Need::Required, doc }
}

/// A key that may be absent.
pub const fn optional(name: &'static str, kind: Kind, doc: &'static str) -> Field {
    Field { name, kind, need: Need::Optional, doc }
}

/// A key with a default.
pub const fn default(name: &'static str, kind: Kind, value: &'static str, doc: &'static str) -> Field {
    Field { name, kind, need: Need::Default(value), doc }
}

/// A word that works.
pub const fn word(name: &'static str, doc: &'static str) -> Choice {
    Choice { name, doc }
}

/// A table of these fields.
pub const fn table(title: &'static str, doc: &'static str, fields: &'static [Field]) -> Table {
    Table { title, doc, fields, one_of: &[], tag: None }
}

/// A variant that works, without groups.
pub fn variant(name: &'static str, doc: &'static str, fields: Vec<Field>) -> Variant {
    Variant { name, doc, fields, one_of: Vec::new() }
}

impl Range {
    /// Whether the number lies in the range.
    pub fn contains(&self, x: f64) -> bool {
        x.is_finite()
            && (x > self.min || (self.min_included && x == self.min))
            && (x < self.max || (self.max_included && x == self.max))
    }

    /// In words: `a positive number`, `a number in [0, 1]`.
    pub fn describe(&self) -> String {
        if *self == ANY {
            "a finite number".into()
        } else if *self == POSITIVE {
            "a positive number".into()
        } else if self.max == f64::INFINITY {
            format!("a number {} {}", if self.min_included { ">=" } else { ">" }, self.min)
        } else {
            let (open, close) = (if self.min_included { '[' } else { '(' }, if self.max_included { ']' } else { ')' });
            format!("a number in {open}{}, {}{close}", self.min, self.max)
        }
    }
}

impl Kind {
    /// The table inside.
    pub fn table(&self) -> Option<&'static Table> {
        match self {
            Kind::Nested(table)
            | Kind::Tables(table)
            | Kind::OffOr(table)
            | Kind::NumberOr(_, table)
            | Kind::Map(table)
            | Kind::Function(table)
            | Kind::Motions(_, table) => Some(table),
            _ => None,
        }
    }

    /// In words, as in "`step` must be …".
    pub fn describe(&self) -> String {
        let words = |choices: &[Choice]| {
            let built = choices.iter();
            built.map(|choice| format!("{:?}", choice.name)).collect::<Vec<_>>()
        };
        let count = |min: usize, max: usize| match (min, max) {
            (min, max) if min == max => format!("{min} "),
            (0 | 1, usize::MAX) => String::new(),
            (min, usize::MAX) => format!("at least {min} "),
            (min, max) => format!("{min} to {max} "),
        };
        match self {
            Kind::Number(range) => range.describe(),
            Kind::Integer(min, max) if min == max => format!("{min}"),
            Kind::Integer(min, max) => format!("an integer from {min} to {max}"),
            Kind::Text => "a text".into(),
            Kind::Name => "a name of letters, digits, `-` and `_`".into(),
            Kind::Path => "a path relative to the case file".into(),
            Kind::Ref(reference) => reference.describe().into(),
            Kind::Refs(reference, min, max) => {
                format!("a list of {}texts, each {}", count(*min, *max), reference.describe())
            }
            Kind::Flag => "true or false".into(),
            Kind::Word(choices) => match words(choices).as_slice() {
                [only] => only.clone(),
                several => format!("one of {}", several.join(", ")),
            },
            Kind::Words(choices) => format!("a list of {}", words(choices).join(", ")),
            Kind::Vector => "a list of one or two numbers".into(),
            Kind::Vectors(min, max) => format!("a list of {}points", count(*min, *max)),
            Kind::Interval => "a list of two numbers, the second larger".into(),
            Kind::Nested(_) | Kind::Map(_) | Kind::Motions(..) => "a table".into(),
            Kind::Function(_) => "a table, or a text with an expression of `t`".into(),
            Kind::NumberOfTime => "a finite number, or a text with an expression of `t`".into(),
            Kind::VectorOfTime => "a list of one or two numbers, or texts with expressions of `t`".into(),
            Kind::NumberOfPlace => "a finite number, or a text with an expression of `x`, `y` and `s`".into(),
            Kind::Constants => "a table of numbers, or texts with expressions of earlier ones".into(),
            Kind::Tables(table) => format!("an array of tables, {}", table.title),
            Kind::OffOr(_) => "false or a table".into(),
            Kind::NumberOr(range, _) => format!("{}, or a table", range.describe()),
        }
    }
}

impl Reference {
    /// In words.
    pub fn describe(&self) -> &'static str {
        match self {
            Reference::Nodes => "a body, a set, or a part of a body such as `bar.start`",
            Reference::Node => "a single node, such as `bar.start`",
            Reference::Region => "a body or a set",
            Reference::Body => "a body",
        }
    }
}

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
    /// The names of all keys of `table`, its tag included.
    pub fn names(&self, table: &Table) -> impl Iterator<Item = &'static str> {
        table.tag.iter().map(|tag| tag.key).chain(self.fields.iter().map(|field| field.name))
    }
}

impl Table {
    /// The keys that this very table of a case may have.
    pub fn keys(&'static self, node: &Node) -> Keys {
        let mut keys = Keys {
            title: self.title.to_string(),
            fields: self.fields.to_vec(),
            one_of: self.one_of.iter().map(|group| group.to_vec()).collect(),
            certain: true,
        };
        let Some(tag) = &self.tag else { return keys };
        let variants = (tag.variants)();
        let given = match node.get(tag.key).map(|node| &node.value) {
            Some(Value::Text(name)) => Some(name.as_str()),
            Some(_) => None,
            None => tag.absent,
        };
        match variants.iter().find(|v| Some(v.name) == given) {
            Some(variant) => {
                if node.get(tag.key).is_some() {
                    keys.title = format!("{} with {} = {:?}", self.title, tag.key, variant.name);
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
