//! What is wrong with the text of an expression, and at which character.

use crate::error::Error;
use std::fmt;
use std::ops::Range;

/// Why a text is no expression here.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The text.
    pub text: String,
    /// The bytes that are wrong.
    pub at: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// Short text for beside the place.
    pub label: String,
    /// What is allowed, or what to write instead.
    pub help: Option<String>,
}

impl Fault {
    /// The column of the first wrong character, from 1; columns count characters.
    pub fn column(&self) -> usize {
        1 + self.text[..self.at.start].chars().count()
    }

    /// Adds what is allowed, or what to write instead.
    pub(super) fn help(mut self, text: impl Into<String>) -> Fault {
        self.help = Some(text.into());
        self
    }
}

/// Longer texts are not shown as a whole.
const SHOWN: usize = 60;

impl fmt::Display for Fault {
    /// The message, the text with a caret under the place, and the help. Of a long text the part around the place is
    /// shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = self.column();
        writeln!(f, "{} (column {column})", self.message)?;
        let first = (column - 1).saturating_sub(SHOWN / 2);
        let part: String =
            self.text.chars().skip(first).take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let cut = if first > 0 { "…" } else { "" };
        let rest = if self.text.chars().count() > first + SHOWN { "…" } else { "" };
        let wide = self.text[self.at.clone()].chars().count().clamp(1, SHOWN - (column - 1 - first).min(SHOWN - 1));
        let before = " ".repeat(column - 1 - first + cut.chars().count());
        write!(f, "    {cut}{part}{rest}\n    {before}{} {}", "^".repeat(wide), self.label)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "\n  help: {help}"))
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        Error::Input(fault.to_string())
    }
}
