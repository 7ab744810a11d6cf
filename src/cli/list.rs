//! `carom list`.

use super::output;
use crate::{Result, cases, elements, schemes};
use clap::{Args, ValueEnum};
use schemes::KeyDefault;
use std::fmt::Write;

#[derive(Args)]
pub struct List {
    /// What to list; everything unless given.
    what: Option<What>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    Schemes,
    Elements,
    Contacts,
    Cases,
}

impl List {
    pub fn execute(&self) -> Result<()> {
        let mut text = String::new();
        for what in [What::Schemes, What::Elements, What::Contacts, What::Cases] {
            if self.what.is_none_or(|wanted| wanted == what) {
                let (heading, rows) = rows(what);
                if self.what.is_none() {
                    writeln!(text, "{heading}").expect("writing to a string cannot fail");
                }
                for (name, words) in rows {
                    writeln!(text, "  {name:<29}{words}").expect("writing to a string cannot fail");
                }
            }
        }
        output::print(&text)
    }
}

fn rows(what: What) -> (&'static str, Vec<(String, String)>) {
    match what {
        What::Schemes => {
            let mut rows = Vec::new();
            for kind in schemes::SCHEMES {
                rows.push((kind.name.to_string(), kind.summary.to_string()));
                for key in kind.keys {
                    let default = match &key.default {
                        KeyDefault::Required => "required".to_string(),
                        KeyDefault::Value(value) => format!("default {value}"),
                        KeyDefault::Rule(rule, _) => format!("default {rule}"),
                    };
                    let range = format!("in [{:.4}, {:.4}], {default}", key.min, key.max);
                    rows.push((format!("  {}", key.name), format!("  {}; {range}", key.doc)));
                }
            }
            ("schemes", rows)
        }
        What::Elements => {
            let rows = elements::ELEMENTS.iter().map(|kind| (kind.name.to_string(), kind.summary.to_string()));
            ("elements", rows.collect())
        }
        What::Contacts => {
            let rows = CONTACTS.iter().map(|(name, summary)| (name.to_string(), summary.to_string()));
            ("contacts", rows.collect())
        }
        What::Cases => {
            let rows = cases::CASES.iter().map(|case| (case.name.to_string(), case.title().to_string()));
            ("cases", rows.collect())
        }
    }
}

/// What nodes may touch, as a contact of the case names it.
const CONTACTS: &[(&str, &str)] = &[
    ("plane", "nodes against a rigid plane: point, normal"),
    ("half_plane", "nodes against a rigid half plane with an end: point, normal, direction"),
    ("circle", "nodes against a rigid circle, from outside or from inside: centre, radius, inside"),
    ("polyline", "nodes against a rigid polyline, with the body on its left: points"),
    ("between", "bodies or node sets against each other, found by a search in every step"),
];
