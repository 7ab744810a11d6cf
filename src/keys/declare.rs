//! The three macros that declare what a case file may have: a table, a table of variants, a choice of words.
//!
//! ```text
//! table! {
//!     /// End and step of the time axis                        what the table is
//!     Time("[time]") {                                         its type, and how messages call it
//!         /// Last instant                                     what the key is, a sentence without its full stop
//!         end: f64 as Number(POSITIVE);                        required, as it has neither default nor Option
//!         /// Floor of step cuts
//!         min_step: Option<f64> as Number(POSITIVE) => "step / 1024";    may be absent; a default in words
//!         /// Which solver
//!         method: ContactMethod = ContactMethod::Auto;         a default, also what the reference page says
//!     }
//! }
//! ```
//!
//! The type of a key says what its value must be ([`KeyValue::KIND`](super::KeyValue)), and `as` says more where the type does
//! not know it: a range, a name, a reference. Behind the title there may be `one_of: &[&["a", "b"]]`.
//!
//! Keys of which a registry elsewhere decides have one line `[flatten] parameters: Type as More(function);`: the type holds
//! their values, the function gives their declarations.

/// Declares a table of a case file.
macro_rules! table {
    (
        $(#[doc = $about:literal])+
        $name:ident ( $title:literal $(, one_of: $groups:expr)? ) {
            $(
                $(#[doc = $doc:literal])+
                $([$flatten:ident])?
                $key:ident : $ty:ty $(as $kind:ident $(( $($bound:tt)* ))?)? $(= $default:expr)? $(=> $rule:literal)? ;
            )*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        pub struct $name {
            $(
                $(#[doc = $doc])+
                #[serde(skip_serializing_if = "crate::keys::KeyValue::left_out" $(, $flatten)?)]
                pub $key: $ty,
            )*
        }

        impl $crate::keys::Tabular for $name {
            const TABLE: &'static $crate::keys::Table = {
                static TABLE: $crate::keys::Table = $crate::keys::table(
                    $title,
                    concat!($($about),+).trim_ascii(),
                    &[$(
                        $crate::keys::Field {
                            name: $crate::keys::key_name(stringify!($key)),
                            kind: $crate::keys::kind!($ty $(, $kind $(( $($bound)* ))?)?),
                            need: $crate::keys::need!($ty $(, = $default)? $(, => $rule)?),
                            doc: concat!($($doc),+).trim_ascii(),
                        },
                    )*],
                )
                $(.with_groups($groups))?;
                &TABLE
            };
        }

        impl $crate::keys::KeyValue for $name {
            const KIND: $crate::keys::Kind = $crate::keys::Kind::Nested(<$name as $crate::keys::Tabular>::TABLE);
        }

        const _: () = {
            #[derive(serde::Deserialize)]
            struct Written {
                $(
                    #[serde(default $(, $flatten)?)]
                    $key: $crate::keys::Given<$ty>,
                )*
            }

            impl<'de> serde::Deserialize<'de> for $name {
                fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
                    let written = Written::deserialize(from)?;
                    Ok($name {
                        $($key: $crate::keys::value!(written.$key, $key, $ty $(, = $default)?),)*
                    })
                }
            }
        };
    };
}

/// Declares a table whose keys depend on the value of one key, as a type with a variant for each.
macro_rules! variants {
    (
        $(#[doc = $about:literal])+
        $name:ident ( $title:literal, $tag:literal : $tag_doc:literal ) {
            $(
                $(#[doc = $doc:literal])+
                $variant:ident = $word:literal $({
                    $(
                        $(#[doc = $key_doc:literal])+
                        $key:ident : $ty:ty $(as $kind:ident $(( $($bound:tt)* ))?)? $(= $default:expr)? $(=> $rule:literal)? ;
                    )*
                })?
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[serde(tag = $tag)]
        pub enum $name {
            $(
                $(#[doc = $doc])+
                #[serde(rename = $word)]
                $variant $({
                    $(
                        $(#[doc = $key_doc])+
                        #[serde(skip_serializing_if = "crate::keys::KeyValue::left_out")]
                        $key: $ty,
                    )*
                })?,
            )+
        }

        impl $crate::keys::Tabular for $name {
            const TABLE: &'static $crate::keys::Table = {
                fn variants() -> Vec<$crate::keys::Variant> {
                    vec![$(
                        $crate::keys::Variant {
                            name: $word,
                            doc: concat!($($doc),+).trim_ascii(),
                            fields: vec![$($(
                                $crate::keys::Field {
                                    name: $crate::keys::key_name(stringify!($key)),
                                    kind: $crate::keys::kind!($ty $(, $kind $(( $($bound)* ))?)?),
                                    need: $crate::keys::need!($ty $(, = $default)? $(, => $rule)?),
                                    doc: concat!($($key_doc),+).trim_ascii(),
                                },
                            )*)?],
                            one_of: Vec::new(),
                        },
                    )+]
                }
                static TABLE: $crate::keys::Table = $crate::keys::table(
                    $title,
                    concat!($($about),+).trim_ascii(),
                    &[$crate::keys::required($tag, $crate::keys::Kind::Tag(variants), $tag_doc)],
                );
                &TABLE
            };
        }

        impl $crate::keys::KeyValue for $name {
            const KIND: $crate::keys::Kind = $crate::keys::Kind::Nested(<$name as $crate::keys::Tabular>::TABLE);
        }

        const _: () = {
            #[derive(serde::Deserialize)]
            #[serde(tag = $tag)]
            enum Written {
                $(
                    #[serde(rename = $word)]
                    $variant $({ $(#[serde(default)] $key: $crate::keys::Given<$ty>,)* })?,
                )+
            }

            impl<'de> serde::Deserialize<'de> for $name {
                fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
                    Ok(match Written::deserialize(from)? {
                        $(
                            Written::$variant $({ $($key),* })? => $name::$variant $({
                                $($key: $crate::keys::value!($key, $key, $ty $(, = $default)?),)*
                            })?,
                        )+
                    })
                }
            }
        };
    };
}

/// Declares a choice of words.
macro_rules! words {
    (
        $(#[doc = $about:literal])+
        $name:ident {
            $( $(#[doc = $doc:literal])+ $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $(
                $(#[doc = $doc])+
                #[serde(rename = $word)]
                $variant,
            )+
        }

        impl $crate::keys::KeyValue for $name {
            const KIND: $crate::keys::Kind =
                $crate::keys::Kind::Word(&[$($crate::keys::word($word, concat!($($doc),+).trim_ascii())),+]);
        }
    };
}

/// What the value of a key must be: by its type, or as declared.
macro_rules! kind {
    ($ty:ty) => { <$ty as $crate::keys::KeyValue>::KIND };
    ($ty:ty, $kind:ident $($bound:tt)?) => { $crate::keys::Kind::$kind $($bound)? };
}

/// What holds without a key: by its type, a default, or a rule.
macro_rules! need {
    ($ty:ty) => {
        <$ty as $crate::keys::KeyValue>::NEED
    };
    ($ty:ty, = $default:expr) => {
        $crate::keys::Need::Value(|| {
            let default: $ty = $default;
            $crate::keys::written(&default)
        })
    };
    ($ty:ty, => $rule:literal) => {
        $crate::keys::Need::Default($rule)
    };
}

/// The value of a key: what is written, or what holds without it.
macro_rules! value {
    ($written:expr, $key:ident, $ty:ty) => {
        match $written.0.or_else(<$ty as $crate::keys::KeyValue>::missing) {
            Some(value) => value,
            None => {
                return Err(serde::de::Error::missing_field($crate::keys::key_name(stringify!($key))));
            }
        }
    };
    ($written:expr, $key:ident, $ty:ty, = $default:expr) => {
        match $written.0 {
            Some(value) => value,
            None => $default,
        }
    };
}

pub(crate) use {kind, need, table, value, variants, words};
