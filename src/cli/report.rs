//! `carom report`.

use super::{Manners, output};
use crate::directory::Directory;
use crate::{Result, report};
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct Report {
    /// Directory of a finished run.
    dir: PathBuf,
}

impl Report {
    pub fn execute(&self, manners: &Manners) -> Result<()> {
        let _owner = Directory::enter(&self.dir)?;
        report::rebuild(&self.dir)?;
        if !manners.quiet {
            output::say(&format!("wrote {}", self.dir.join("report.html").display()));
        }
        Ok(())
    }
}
