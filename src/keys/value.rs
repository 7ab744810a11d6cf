//! Types that a key of a case file may have: what they look like in a file, and what their absence means.

use super::{ANY, Kind, Need, Reference, Table};
use serde::de::DeserializeOwned;
use serde::de::value::{Error, MapDeserializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A type that a key may have.
pub trait KeyValue: Sized {
    /// What the value must be, unless the declaration of the key says more with `as`.
    const KIND: Kind;
    /// What holds without the key, unless the declaration has a default.
    const NEED: Need = Need::Required;

    /// The value without the key, where it needs none.
    fn missing() -> Option<Self> {
        None
    }

    /// Whether the resolved case leaves the key out.
    fn left_out(&self) -> bool {
        false
    }
}

/// What a table of a case file has for a key, if anything. Unlike an option it hides no error in what is there.
pub struct Given<T>(pub Option<T>);

impl<T> Default for Given<T> {
    fn default() -> Self {
        Given(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Given<T> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(from).map(|value| Given(Some(value)))
    }
}

/// A type that is a table of a case file.
pub trait Tabular {
    /// Its keys.
    const TABLE: &'static Table;
}

/// Settings, or `false` for off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Switch<T> {
    /// `false`.
    Flag(bool),
    /// A table of settings.
    On(T),
}

impl<T> Switch<T> {
    /// The settings, if on.
    pub fn get(&self) -> Option<&T> {
        match self {
            Switch::On(settings) => Some(settings),
            Switch::Flag(_) => None,
        }
    }
}

/// A number, or a table that says more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NumberOr<T> {
    /// The number alone.
    Number(f64),
    /// The table.
    Table(T),
}

/// A number, or an expression that makes one of time or place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Amount {
    /// A number.
    Number(f64),
    /// The text of an expression.
    Expression(String),
}

/// Types whose kind is all that there is to say.
macro_rules! plain {
    ($($ty:ty: $kind:expr;)*) => {
        $(impl KeyValue for $ty {
            const KIND: Kind = $kind;
        })*
    };
}

plain! {
    bool: Kind::Flag;
    f64: Kind::Number(ANY);
    u32: Kind::Integer(0, u32::MAX as i64);
    u64: Kind::Integer(0, i64::MAX);
    usize: Kind::Integer(0, i64::MAX);
    String: Kind::Text;
    Amount: Kind::NumberOfTime;
    Vec<Amount>: Kind::VectorOfTime;
    Vec<Vec<f64>>: Kind::Vectors(1, usize::MAX);
    Vec<String>: Kind::Refs(Reference::Nodes, 0, usize::MAX);
    [String; 2]: Kind::Refs(Reference::Nodes, 2, 2);
    [f64; 2]: Kind::Interval;
    [u32; 2]: Kind::Integers(2, 0, u32::MAX as i64);
}

impl<T: KeyValue> KeyValue for Option<T> {
    const KIND: Kind = T::KIND;
    const NEED: Need = Need::Optional;

    fn missing() -> Option<Self> {
        Some(None)
    }

    fn left_out(&self) -> bool {
        self.is_none()
    }
}

impl KeyValue for Vec<f64> {
    const KIND: Kind = Kind::Vector;

    fn left_out(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Tabular> KeyValue for Vec<T> {
    const KIND: Kind = Kind::Tables(T::TABLE);

    // The checker refuses what must be there; a first-order system has no bodies.
    fn missing() -> Option<Self> {
        Some(Vec::new())
    }

    fn left_out(&self) -> bool {
        self.is_empty()
    }
}

impl KeyValue for BTreeMap<String, f64> {
    const KIND: Kind = Kind::Constants;

    fn left_out(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Tabular> KeyValue for BTreeMap<String, T> {
    const KIND: Kind = Kind::Map(T::TABLE);

    fn left_out(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Tabular> KeyValue for Switch<T> {
    const KIND: Kind = Kind::OffOr(T::TABLE);
}

impl<T: Tabular> KeyValue for NumberOr<T> {
    const KIND: Kind = Kind::NumberOr(ANY, T::TABLE);
}

/// A default: the table `{}`, every key of which has a default.
pub fn empty<T: DeserializeOwned>() -> T {
    let nothing = std::iter::empty::<(String, String)>();
    T::deserialize(MapDeserializer::<_, Error>::new(nothing)).expect("every key of this table has a default")
}

/// A default: no entries.
pub fn none<T: Default>() -> T {
    T::default()
}

/// A default as it would be written in a case file; nothing if a case leaves it out.
pub fn written<T: KeyValue + Serialize + DeserializeOwned + PartialEq>(value: &T) -> Option<String> {
    fn toml(value: &Value) -> String {
        let Value::Object(entries) = value else { return value.to_string() };
        let entries = entries.iter().map(|(key, value)| format!("{key} = {}", toml(value)));
        format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
    }
    if value.left_out() {
        return None;
    }
    let plain = serde_json::from_str::<T>("{}").is_ok_and(|plain| plain == *value);
    Some(if plain { "{}".into() } else { toml(&serde_json::to_value(value).unwrap_or_default()) })
}

/// A key by the name of its field, which is raw where the key is a word of Rust.
pub const fn key_name(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}
