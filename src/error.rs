//! The one error type; each variant knows its exit code (table in `docs/cli.md`).

use std::fmt;
use std::path::{Path, PathBuf};

/// Result with carom's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong, with what the user needs to act on it.
#[derive(Debug)]
pub enum Error {
    /// Some runs of a study failed; exit code 1.
    Study(String),
    /// Bad command line; exit code 2.
    Usage(String),
    /// Bad case, mesh or table; the text is complete, with file, line and what is allowed. Exit code 3.
    Input(String),
    /// A value of the case that turns out wrong in the model. Who has the text of the case turns it into
    /// [`Error::Input`] with the line. Exit code 3.
    Value {
        /// Key path of the value, such as `contact.floor.radius`.
        path: String,
        /// What is wrong with it, and what is allowed.
        text: String,
    },
    /// Newton or contact not converged, or a singular matrix; exit code 4.
    Solver(String),
    /// A guard tripped (NaN, energy gain, penetration); exit code 5.
    Guard(String),
    /// Stopped from outside after an accepted step, with a checkpoint: a signal or the time limit.
    Stopped {
        /// Exit code: 130, 143 or 8.
        code: u8,
        /// Why, and how to go on.
        text: String,
    },
    /// An expectation does not hold; exit code 7.
    Expectation(String),
    /// Reading or writing failed; exit code 6.
    Io {
        /// What was attempted, for example "write".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },
}

impl Error {
    /// Wraps an operating-system error with what was attempted and where.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io { action, path, source }
    }

    /// An error of input with the key path of the value that led to it; other errors stay as they are.
    pub(crate) fn at(self, path: &str) -> Error {
        match self {
            Error::Input(text) => Error::Value { path: path.to_string(), text },
            other => other,
        }
    }

    /// Process exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Study(_) => 1,
            Error::Usage(_) => 2,
            Error::Input(_) | Error::Value { .. } => 3,
            Error::Solver(_) => 4,
            Error::Guard(_) => 5,
            Error::Io { .. } => 6,
            Error::Expectation(_) => 7,
            Error::Stopped { code, .. } => *code,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Study(text)
            | Error::Usage(text)
            | Error::Input(text)
            | Error::Solver(text)
            | Error::Guard(text)
            | Error::Expectation(text)
            | Error::Value { text, .. }
            | Error::Stopped { text, .. } => f.write_str(text),
            Error::Io { action, path, source } => write!(f, "cannot {action} {}: {source}", path.display()),
        }
    }
}

impl std::error::Error for Error {}
