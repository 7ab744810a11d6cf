//! `carom list`.

use super::output;
use crate::case::columns::{COLUMNS, FAMILIES};
use crate::obstacles::{OBSTACLES, ObstacleKind};
use crate::{Result, cases, elements, schemes};
use clap::{Args, ValueEnum};
use schemes::Allowed;
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
    Columns,
}

impl List {
    pub fn execute(&self) -> Result<()> {
        let mut text = String::new();
        for what in [What::Schemes, What::Elements, What::Contacts, What::Cases, What::Columns] {
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
                    let allowed = match key.allowed {
                        Allowed::Between(min, max) => format!("in [{min:.4}, {max:.4}]"),
                        Allowed::Positive => "positive".to_string(),
                        Allowed::Words(words) => words.iter().map(|choice| choice.name).collect::<Vec<_>>().join(" | "),
                        Allowed::Flag => "true | false".to_string(),
                    };
                    let words = format!("  {}; {allowed}, {}", key.doc, key.default.text());
                    rows.push((format!("  {}", key.name), words));
                }
            }
            let words = "first-order systems: weights theta and, for multipliers, omega at the end of the step";
            rows.push(("theta".into(), words.into()));
            ("schemes", rows)
        }
        What::Elements => {
            let rows = elements::ELEMENTS.iter().map(|kind| (kind.name.to_string(), kind.summary.to_string()));
            ("elements", rows.collect())
        }
        What::Contacts => {
            let row = |kind: &&ObstacleKind| {
                let keys: Vec<&str> = kind.keys.iter().map(|key| key.name).collect();
                (kind.name.to_string(), format!("{}: {}", kind.doc, keys.join(", ")))
            };
            let between = "Bodies or node sets against each other, found by a search in every step";
            let mut rows: Vec<_> = OBSTACLES.iter().map(row).collect();
            rows.push(("between".into(), between.into()));
            ("contacts", rows)
        }
        What::Cases => {
            let rows = cases::CASES.iter().map(|case| (case.name.to_string(), case.title().to_string()));
            ("cases", rows.collect())
        }
        What::Columns => {
            let every = COLUMNS.iter().map(|column| (column.name.to_string(), column.about.to_string()));
            let own = FAMILIES.iter().flat_map(|(kind, columns)| {
                columns.iter().map(move |column| (format!("{kind}.<name>.{}", column.name), column.about.to_string()))
            });
            ("columns of the history", every.chain(own).collect())
        }
    }
}
