//! `carom new`.

use super::{Manners, output};
use crate::case::diagnostic::nearest;
use crate::case::{Format, parse};
use crate::{Error, Result, cases};
use clap::Args;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

#[derive(Args)]
pub struct New {
    /// Name of the new case; the file is NAME.toml.
    name: String,
    /// Shipped case to start from.
    #[arg(long, default_value = "impacting-bar")]
    from: String,
}

impl New {
    pub fn execute(&self, manners: &Manners) -> Result<()> {
        let Some(case) = cases::find(&self.from) else {
            let names: Vec<&str> = cases::CASES.iter().map(|case| case.name).collect();
            let guess = nearest(&self.from, names.iter().copied());
            return Err(Error::Usage(format!(
                "there is no shipped case `{}`{}; there are: {}",
                self.from,
                guess.map_or(String::new(), |name| format!(" (did you mean `{name}`?)")),
                names.join(", ")
            )));
        };
        let path = PathBuf::from(format!("{}.toml", self.name.strip_suffix(".toml").unwrap_or(&self.name)));
        let mut file = File::create_new(&path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Error::Usage(format!("{} exists already; choose another name", path.display())),
            _ => Error::io("create", &path)(error),
        })?;
        file.write_all(case.text.as_bytes()).map_err(Error::io("write", &path))?;
        if !manners.quiet {
            output::say(&format!("wrote {}; run it with: carom run {}", path.display(), path.display()));
            // Meshes and tables are not built in: they stay beside the original.
            for needed in parse(case.text, case.name, Format::Toml, &[]).iter().flat_map(|case| case.files()) {
                output::say(&format!("it reads {needed}, which is yours to provide"));
            }
        }
        Ok(())
    }
}
