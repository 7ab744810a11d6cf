//! What is wrong with a case, where, and what to do about it; and how that looks on a terminal.
//!
//! It knows texts and spans; it must not know what a case means.

pub use crate::nearest::{listing, nearest};
use annotate_snippets::{AnnotationKind, Group, Level, Origin as Location, Renderer, Snippet};
use serde_json::{Value, json};
use std::ops::Range;

/// Which text a span belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The case file.
    File,
    /// The `--set` of that number, from 0.
    Set(usize),
}

/// A stretch of one of the texts that make up a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The text.
    pub source: Source,
    /// Bytes of the text; empty for a value in a JSON file, where the key path says the place.
    pub span: Range<usize>,
}

impl Place {
    /// These bytes of the case file.
    pub fn file(span: Range<usize>) -> Place {
        Place { source: Source::File, span }
    }
}

/// Notation of a case file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML, with line and column in every message.
    Toml,
    /// JSON, with the key path in every message.
    Json,
}

/// The texts that make up a case.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Name of the file, as the user gave it.
    pub file: String,
    /// Notation of the file.
    pub format: Format,
    /// Content of the file, without a byte order mark.
    pub text: String,
    /// The `--set` arguments.
    pub set: Vec<String>,
    /// Where the lines of the file end.
    line_ends: Vec<usize>,
}

impl Sources {
    /// The texts with a table of lines; a byte order mark is dropped.
    pub fn new(file: &str, format: Format, text: &str, set: &[String]) -> Sources {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).to_string();
        let line_ends = text.match_indices('\n').map(|(end, _)| end).collect();
        Sources { file: file.to_string(), format, text, set: set.to_vec(), line_ends }
    }

    /// The place in words for use inside a sentence, for example `line 12`.
    pub fn locate(&self, place: &Place, path: &str) -> String {
        match (place.source, self.format) {
            (Source::Set(index), _) => format!("--set '{}'", self.set[index]),
            (Source::File, Format::Json) => format!("`{path}`"),
            (Source::File, Format::Toml) => {
                format!("line {}", 1 + self.line_ends.partition_point(|&end| end < place.span.start))
            }
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The headline: what is wrong.
    pub message: String,
    /// Short text beside the underlined place.
    pub label: String,
    /// The place to underline.
    pub place: Place,
    /// Dotted key path, for example `body.bar.line.elements`; empty for the file as a whole.
    pub path: String,
    /// What is allowed, or what to write instead.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic without help.
    pub fn new(place: &Place, path: &str, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic {
            message: message.into(),
            label: label.into(),
            place: place.clone(),
            path: path.to_string(),
            help: None,
        }
    }

    /// Adds what to do about it.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }
}

/// All that is wrong with a case, with the texts that the places refer to.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The texts.
    pub sources: Box<Sources>,
    /// What is wrong, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Further errors are not looked at: a generated file may have millions.
pub const MOST_REPORTED: usize = 1000;
/// A file full of errors is no help when it fills the terminal.
const MOST_SHOWN: usize = 50;
/// Longer lines are named, not shown.
const LONGEST_LINE: usize = 4000;

impl Failure {
    /// Sorts the diagnostics into the order of the text and keeps the first [`MOST_REPORTED`].
    pub fn new(sources: Sources, mut diagnostics: Vec<Diagnostic>) -> Failure {
        diagnostics.sort_by_key(|diagnostic| (diagnostic.place.source, diagnostic.place.span.start));
        diagnostics.truncate(MOST_REPORTED);
        Failure { sources: Box::new(sources), diagnostics }
    }

    /// Every diagnostic with its place underlined, closed by a line with their number. `color` adds terminal
    /// escapes.
    pub fn render(&self, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let mut text = String::new();
        for diagnostic in self.diagnostics.iter().take(MOST_SHOWN) {
            text += &renderer.render(&[self.group(diagnostic)]);
            text += "\n\n";
        }
        let count = self.diagnostics.len();
        let more = if count >= MOST_REPORTED { " or more" } else { "" };
        if count > MOST_SHOWN {
            text += &format!("… and {}{more} others\n", count - MOST_SHOWN);
        }
        text + &format!("{count}{more} error{} in {}", if count == 1 { "" } else { "s" }, self.sources.file)
    }

    /// Every diagnostic as data, for editors and scripts: where, what, and what to write instead. A place in a JSON file
    /// is its key path alone; one in a `--set` has its column in that argument.
    pub fn json(&self) -> Value {
        let entry = |diagnostic: &Diagnostic| {
            let span = &diagnostic.place.span;
            let (set, text) = match diagnostic.place.source {
                Source::File => (None, &self.sources.text),
                Source::Set(index) => (Some(&self.sources.set[index]), &self.sources.set[index]),
            };
            let placed = !(set.is_none() && self.sources.format == Format::Json && span.is_empty());
            let (line, column) = position(text, span.start);
            json!({
                "file": self.sources.file,
                "set": set,
                "line": placed.then_some(line),
                "column": placed.then_some(column),
                "path": diagnostic.path,
                "message": diagnostic.message,
                "detail": diagnostic.label,
                "suggestion": suggestion(&diagnostic.label),
                "help": diagnostic.help,
            })
        };
        self.diagnostics.iter().map(entry).collect()
    }

    fn group<'a>(&'a self, diagnostic: &'a Diagnostic) -> Group<'a> {
        let group = Group::with_title(Level::ERROR.primary_title(&diagnostic.message));
        let group = match (diagnostic.place.source, self.sources.format) {
            (Source::File, Format::Json) if diagnostic.place.span.is_empty() => {
                let colon = if diagnostic.path.is_empty() { "" } else { ": " };
                let location = format!("{}{colon}{}", self.sources.file, diagnostic.path);
                group.element(Location::path(location)).element(Level::NOTE.message(&diagnostic.label))
            }
            (Source::File, _) => underline(group, &self.sources.text, &self.sources.file, diagnostic),
            (Source::Set(index), _) => {
                let text = &self.sources.set[index];
                underline(group, text, &format!("--set '{}'", first_line(text)), diagnostic)
            }
        };
        match &diagnostic.help {
            Some(help) => group.element(Level::HELP.message(help)),
            None => group,
        }
    }
}

/// Adds the line of `text` that holds the start of the place, underlined. Only this line is handed over: the
/// renderer would split the whole file anew for every diagnostic.
fn underline<'a>(group: Group<'a>, text: &'a str, name: &str, diagnostic: &'a Diagnostic) -> Group<'a> {
    let span = &diagnostic.place.span;
    // Errors at the end of the text point past it, or at a last newline.
    let mut start = span.start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line = first_line(&text[line_start..]);
    let number = 1 + text[..line_start].matches('\n').count();
    if line.len() > LONGEST_LINE {
        let column = text[line_start..start].chars().count() + 1;
        return group
            .element(Location::path(name.to_string()).line(number).char_column(column))
            .element(Level::NOTE.message(&diagnostic.label));
    }
    let from = (start - line_start).min(line.len());
    let mut to = span.end.saturating_sub(line_start).clamp(from, line.len());
    while !line.is_char_boundary(to) {
        to += 1;
    }
    group.element(
        Snippet::source(line)
            .line_start(number)
            .path(name.to_string())
            .annotation(AnnotationKind::Primary.span(from..to).label(&diagnostic.label)),
    )
}

/// Line and column of a byte, both from 1; columns count characters.
fn position(text: &str, byte: usize) -> (usize, usize) {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    let before = &text[..byte];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (1 + before.matches('\n').count(), 1 + before[line_start..].chars().count())
}

/// The word that a label proposes.
fn suggestion(label: &str) -> Option<&str> {
    label.strip_prefix("did you mean `")?.strip_suffix("`?")
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}
