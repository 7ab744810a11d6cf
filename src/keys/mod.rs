//! The vocabulary in which the keys of a case file are declared: tables, fields, kinds, ranges.
//!
//! A table is declared once, with the macros of `declare.rs`, and that declaration is all of it: the type that holds its
//! values, what the checker accepts, the defaults, the JSON schema and the reference page. Nothing here knows a case, so that
//! elements and other registries can declare keys of their own.

mod declare;
mod range;
mod value;

pub(crate) use declare::{kind, need, table, value, variants, words};
pub use range::{ANY, NON_NEGATIVE, POSITIVE, Range, between, inside};
pub use value::{Amount, Given, KeyValue, NumberOr, Switch, Tabular, empty, key_name, none, written};

/// The keys that a table may have.
pub struct Table {
    /// How messages call it, for example `[time]`.
    pub title: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its keys as declared; [`Table::common`] are those that it has.
    pub fields: &'static [Field],
    /// Groups of keys of which exactly one must be there.
    pub one_of: &'static [&'static [&'static str]],
}

/// One value of a tag, with the fields that go with it.
pub struct Variant {
    /// Value of the tag; empty for a table without it.
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
#[derive(Clone, Copy)]
pub enum Need {
    /// That is an error.
    Required,
    /// There is no such thing, or another key of a group stands for it.
    Optional,
    /// This value, as it would be written, or a rule in words.
    Default(&'static str),
    /// This number.
    Number(f64),
    /// The value of an expression, as it would be written; nothing if it is an empty list or table of the user's own.
    Value(fn() -> Option<String>),
}

/// What a value must be.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A finite number in a range.
    Number(Range),
    /// A whole number between bounds, both included.
    Integer(i64, i64),
    /// So many whole numbers between bounds, both included.
    Integers(usize, i64, i64),
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
    /// One of some words, or an integer between two.
    WordOrInteger(&'static [Choice], i64, i64),
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
    /// A finite number, or a text with an expression of what a first-order system knows.
    OfSystem(Scope),
    /// Two numbers, the second larger, or infinite: `inf`, in JSON `"inf"`.
    Within,
    /// A list of such values.
    List(&'static Kind),
    /// A text that decides which further keys the table has; the variants come from a function because other registries
    /// have a say in them.
    Tag(fn() -> Vec<Variant>),
    /// No key itself: the place of keys that a registry declares.
    More(fn() -> Vec<Field>),
}

/// What an expression of a first-order system may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// `t`.
    Time,
    /// `t` and states.
    States,
    /// States alone.
    Stored,
    /// `t`, states and multipliers.
    Laws,
    /// States at both ends of time, as `x@start` and `x@end`.
    Ends,
}

impl Scope {
    fn describe(&self) -> &'static str {
        match self {
            Scope::Time => "`t`",
            Scope::States => "`t` and states",
            Scope::Stored => "states",
            Scope::Laws => "`t`, states and multipliers",
            Scope::Ends => "states as `x@start` and `x@end`",
        }
    }
}

/// What a node reference may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A body, a set, or a part of a body such as `bar.start`.
    Nodes,
    /// A single node, such as `bar.start`.
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
    Table { title, doc, fields, one_of: &[] }
}

/// A variant that works, without groups.
pub fn variant(name: &'static str, doc: &'static str, fields: Vec<Field>) -> Variant {
    Variant { name, doc, fields, one_of: Vec::new() }
}

impl Table {
    /// The table with groups of keys of which exactly one must be there.
    pub const fn with_groups(self, one_of: &'static [&'static [&'static str]]) -> Table {
        Table { one_of, ..self }
    }

    /// The key that decides on further keys, with its variants.
    pub fn tag(&self) -> Option<(&'static Field, Vec<Variant>)> {
        let tagged = |field: &'static Field| match field.kind {
            Kind::Tag(variants) => Some((field, variants())),
            _ => None,
        };
        self.fields.iter().find_map(tagged)
    }

    /// The keys that belong to none of these variants, the tag aside.
    pub fn common(&self, variants: &[Variant]) -> Vec<Field> {
        let chosen = |name: &str| variants.iter().flat_map(|variant| &variant.fields).any(|field| field.name == name);
        let own = |field: &Field| match field.kind {
            Kind::Tag(_) => Vec::new(),
            Kind::More(fields) => fields(),
            _ => vec![*field],
        };
        self.fields.iter().flat_map(own).filter(|field| !chosen(field.name)).collect()
    }

    /// The variant of that name that takes its keys from this table: `required` ones, of which `a|b` means exactly one of
    /// the alternatives, and `optional` ones. A key among `own` goes before that of the table.
    pub fn variant(
        &self,
        (name, doc): (&'static str, &'static str),
        (required, optional): (&[&'static str], &[&'static str]),
        own: &'static [Field],
    ) -> Variant {
        let find = |key: &&str| {
            let mut known = own.iter().chain(self.fields).filter(|field| field.name == *key);
            *known.next().expect("a variant asks for keys of its table, tested in case/tables")
        };
        let (groups, single): (Vec<&str>, Vec<&str>) = required.iter().partition(|key| key.contains('|'));
        let one_of: Vec<Vec<&'static str>> = groups.iter().map(|group| group.split('|').collect()).collect();
        let needed = single.iter().map(|key| Field { need: Need::Required, ..find(key) });
        let fields = needed.chain(one_of.iter().flatten().map(find)).chain(optional.iter().map(find)).collect();
        Variant { name, doc, fields, one_of }
    }
}

impl Field {
    /// Whether the key must be there.
    pub fn required(&self) -> bool {
        matches!(self.need, Need::Required)
    }

    /// The value of the key where it is absent, as it would be written, or a rule in words.
    pub fn default_text(&self) -> Option<String> {
        match self.need {
            Need::Default(text) => Some(text.to_string()),
            Need::Number(value) => Some(format!("{value:?}")),
            Need::Value(text) => text(),
            Need::Required | Need::Optional => None,
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
            Kind::Integers(count, min, max) => format!("a list of {count} integers from {min} to {max}"),
            Kind::Text | Kind::Tag(_) => "a text".into(),
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
            Kind::WordOrInteger(choices, min, max) => {
                format!("{}, or an integer from {min} to {max}", words(choices).join(", "))
            }
            Kind::Words(choices) => format!("a list of {}", words(choices).join(", ")),
            Kind::Vector => "a list of one or two numbers".into(),
            Kind::Vectors(min, max) => format!("a list of {}points", count(*min, *max)),
            Kind::Interval => "a list of two numbers, the second larger".into(),
            Kind::Nested(_) | Kind::Map(_) | Kind::Motions(..) | Kind::More(_) => "a table".into(),
            Kind::Function(_) => "a table, or a text with an expression of `t`".into(),
            Kind::NumberOfTime => "a finite number, or a text with an expression of `t`".into(),
            Kind::VectorOfTime => "a list of one or two numbers, or texts with expressions of `t`".into(),
            Kind::NumberOfPlace => "a finite number, or a text with an expression of `x`, `y` and `s`".into(),
            Kind::OfSystem(scope) => format!("a finite number, or a text with an expression of {}", scope.describe()),
            Kind::Within => "a list of two numbers, the second larger; `-inf` and `inf` are allowed".into(),
            Kind::List(inner) => format!("a list, each entry {}", inner.describe()),
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
