//! Whether references to nodes name something, as far as can be told without reading meshes.

use super::At;
use crate::case::diagnostic::{Diagnostic, Place, listing, nearest};
use crate::case::spec::Reference;
use crate::case::validate::Found;
use std::collections::BTreeMap;

/// The names that a reference may use.
pub(super) struct Scope<'a> {
    /// Bodies by name.
    pub bodies: BTreeMap<&'a str, &'a At<'a>>,
    /// Sets and their numbers in the order of the file.
    pub sets: BTreeMap<&'a str, usize>,
}

impl Scope<'_> {
    /// What is wrong with a reference, as far as can be told without reading meshes.
    pub fn problem(&self, reference: &Found<(Reference, String)>) -> Option<Diagnostic> {
        let (kind, text) = &reference.what;
        let (owner, part) = match text.split_once('.') {
            Some((owner, part)) => (owner, Some(part)),
            None => (text.as_str(), None),
        };
        let wrong =
            |message: String, label: String| Some(Diagnostic::new(&reference.place, &reference.path, message, label));
        let Some(body) = self.bodies.get(owner) else {
            let set = *kind != Reference::Body && self.sets.contains_key(owner);
            return match part {
                None if set => None,
                Some(_) if set => wrong(format!("the set `{owner}` has no parts"), format!("write `{owner}`")),
                _ => Some(self.unknown(*kind, owner, &reference.place, &reference.path)),
            };
        };
        let lines = body.has("line") || body.has("polyline");
        match (kind, part) {
            _ if body.has("between") => {
                wrong(format!("`{owner}` has no nodes of its own"), "it joins nodes of others".into())
            }
            (Reference::Region | Reference::Body, Some(_)) => {
                wrong(format!("`{text}` must be {}", kind.describe()), "a part of a body".into())
            }
            (_, Some(_)) if body.has("at") => {
                wrong(format!("`{owner}` is a single node and has no parts"), format!("write `{owner}`"))
            }
            (_, Some(part)) if lines && !matches!(part, "start" | "end") => {
                let label = nearest(part, ["start", "end"]);
                let label = label.map_or("no such part".into(), |name| format!("did you mean `{owner}.{name}`?"));
                let help = format!("parts of `{owner}`: `{owner}.start`, `{owner}.end`");
                wrong(format!("`{owner}` has no part `{part}`"), label).map(|diagnostic| diagnostic.help(help))
            }
            (_, Some("")) => wrong(format!("`{text}` names no part"), "nothing after the dot".into()),
            (Reference::Node, None) if lines => {
                let help = format!("a single node: `{owner}.start`, `{owner}.end`, or a set with `nearest`");
                wrong(format!("`{owner}` has many nodes"), "one is needed".into()).map(|d| d.help(help))
            }
            _ => None,
        }
    }

    fn unknown(&self, kind: Reference, name: &str, place: &Place, path: &str) -> Diagnostic {
        let sets = self.sets.keys().filter(|_| kind != Reference::Body);
        let known = || self.bodies.keys().chain(sets.clone()).copied();
        let what = if kind == Reference::Body { "body" } else { "body or set" };
        let label = nearest(name, known());
        let label = label.map_or("no such name".into(), |near| format!("did you mean `{near}`?"));
        Diagnostic::new(place, path, format!("there is no {what} named `{name}`"), label)
            .help(format!("known names: {}", listing(known())))
    }
}
