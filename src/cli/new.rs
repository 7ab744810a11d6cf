//! `carom new`.

use super::{Manners, output};
use crate::case::diagnostic::nearest;
use crate::{Error, Result, cases, shell};
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
        let mut text = case.text.to_string();
        for mesh in cases::MESHES.iter().filter(|mesh| case.text.contains(mesh.path)) {
            // Beside the new case, so that it stands on its own; what is there already is somebody's.
            text = text.replace(mesh.path, mesh.name);
            let beside = path.with_file_name(mesh.name);
            match File::create_new(&beside) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => {
                    let written = made.and_then(|mut file| file.write_all(mesh.bytes));
                    written.map_err(Error::io("write", &beside))?;
                }
            }
        }
        file.write_all(text.as_bytes()).map_err(Error::io("write", &path))?;
        if !manners.quiet {
            output::say(&format!("wrote {}; run it with: carom run {}", path.display(), shell::argument(&path)));
        }
        Ok(())
    }
}
