//! `carom new`.

use super::{Manners, output};
use crate::{Error, Result, cases};
use clap::Args;
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
            return Err(Error::Usage(format!(
                "there is no shipped case `{}`; there are: {}",
                self.from,
                names.join(", ")
            )));
        };
        let path = PathBuf::from(self.name.strip_suffix(".toml").unwrap_or(&self.name)).with_extension("toml");
        if path.exists() {
            return Err(Error::Usage(format!("{} exists already; choose another name", path.display())));
        }
        std::fs::write(&path, case.text).map_err(Error::io("write", &path))?;
        if !manners.quiet {
            output::say(&format!("wrote {}; run it with: carom run {}", path.display(), path.display()));
        }
        Ok(())
    }
}
