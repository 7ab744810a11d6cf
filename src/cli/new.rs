//! `carom new`.

use super::{Manners, output};
use crate::case::diagnostic::nearest;
use crate::files::write_new;
use crate::{Error, Result, cases, shell};
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
            let guess = nearest(&self.from, names.iter().copied());
            return Err(Error::Usage(format!(
                "there is no shipped case `{}`{}; there are: {}",
                self.from,
                guess.map_or(String::new(), |name| format!(" (did you mean `{name}`?)")),
                names.join(", ")
            )));
        };
        let path = PathBuf::from(format!("{}.toml", self.name.strip_suffix(".toml").unwrap_or(&self.name)));
        let mut text = case.text.to_string();
        let meshes: Vec<_> = cases::MESHES.iter().filter(|mesh| case.text.contains(mesh.path)).collect();
        // Beside the new case, so that it stands on its own.
        meshes.iter().for_each(|mesh| text = text.replace(mesh.path, mesh.name));
        if !write_new(&path, text.as_bytes())? {
            return Err(Error::Usage(format!("{} exists already; choose another name", path.display())));
        }
        for mesh in meshes {
            // What is there already is somebody's.
            write_new(&path.with_file_name(mesh.name), mesh.bytes)?;
        }
        if !manners.quiet {
            output::say(&format!("wrote {}; run it with: carom run {}", path.display(), shell::argument(&path)));
        }
        Ok(())
    }
}
