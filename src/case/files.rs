//! Files that a case names: relative to the case file, and not outside of the directory above it.

use std::path::{Component, Path, PathBuf};

/// Where the files of a case may be.
#[derive(Clone, Debug)]
pub struct Files {
    /// Directory of the case file.
    pub dir: PathBuf,
    /// Whether a path may lead anywhere.
    pub allow_outside: bool,
}

/// Why a path is refused.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// What is wrong.
    pub message: String,
    /// What is wrong in a few words, to stand under the path.
    pub label: String,
    /// The way out, if there is one.
    pub help: Option<String>,
}

impl Files {
    /// The file at `relative`, symlinks resolved.
    pub fn resolve(&self, relative: &str) -> Result<PathBuf, Refusal> {
        resolve_path(&self.dir, relative, self.allow_outside)
    }
}

/// The file at `relative` to the directory `dir` of the case, symlinks resolved. Refused if there is no such
/// file, or if it lies outside of the directory above `dir` and `allow_outside` is not set.
pub fn resolve_path(dir: &Path, relative: &str, allow_outside: bool) -> Result<PathBuf, Refusal> {
    let refuse = |message: String, label: &str, help: Option<&str>| {
        Err(Refusal { message, label: label.into(), help: help.map(Into::into) })
    };
    let way_out = Some("--allow-outside lifts this restriction");
    if relative.is_empty() {
        return refuse("the path is empty".into(), "empty", None);
    }
    if !allow_outside
        && Path::new(relative).components().any(|c| matches!(c, Component::RootDir | Component::Prefix(_)))
    {
        return refuse(format!("{relative:?} is not relative to the case file"), "absolute path", way_out);
    }
    let joined = dir.join(relative);
    let home = match dir.canonicalize() {
        Ok(home) => home,
        Err(error) => return refuse(format!("cannot enter {}: {error}", dir.display()), "not reachable", None),
    };
    let root = home.parent().unwrap_or(&home);
    let file = match joined.canonicalize() {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return refuse(format!("there is no file {}", joined.display()), "not found", None);
        }
        Err(error) => return refuse(format!("cannot open {}: {error}", joined.display()), "not readable", None),
    };
    if !allow_outside && !file.starts_with(root) {
        let message = format!("{relative:?} leads out of the directory above the case file's");
        return refuse(message, "outside", way_out);
    }
    if !file.is_file() {
        return refuse(format!("{} is not a file", joined.display()), "not a file", None);
    }
    Ok(file)
}
