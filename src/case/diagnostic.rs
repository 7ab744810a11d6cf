//! What is wrong with a case, where, and what to do about it; and how that looks on a terminal.
//!
//! It knows texts and spans; it must not know what a case means.

use annotate_snippets::{AnnotationKind, Group, Level, Origin as Location, Renderer, Snippet};
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
    /// Bytes of the text; empty for a JSON file, where the key path says the place.
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
}

impl Sources {
    /// The place in words for use inside a sentence, for example `line 12`.
    pub fn locate(&self, place: &Place, path: &str) -> String {
        match (place.source, self.format) {
            (Source::Set(index), _) => format!("--set '{}'", self.set[index]),
            (Source::File, Format::Json) => format!("`{path}`"),
            (Source::File, Format::Toml) => {
                let end = place.span.start.min(self.text.len());
                format!("line {}", 1 + self.text.as_bytes()[..end].iter().filter(|&&byte| byte == b'\n').count())
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

    /// The same with help.
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

/// A file full of errors is no help when it fills the terminal.
const MOST_SHOWN: usize = 50;
/// Longer lines are named, not shown.
const LONGEST_LINE: usize = 4000;

impl Failure {
    /// Sorts the diagnostics into the order of the text.
    pub fn new(sources: Sources, mut diagnostics: Vec<Diagnostic>) -> Failure {
        diagnostics.sort_by_key(|diagnostic| (diagnostic.place.source, diagnostic.place.span.start));
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
        if count > MOST_SHOWN {
            text += &format!("… and {} more\n", count - MOST_SHOWN);
        }
        text + &format!("{count} error{} in {}", if count == 1 { "" } else { "s" }, self.sources.file)
    }

    fn group<'a>(&'a self, diagnostic: &'a Diagnostic) -> Group<'a> {
        let group = Group::with_title(Level::ERROR.primary_title(&diagnostic.message));
        let group = match (diagnostic.place.source, self.sources.format) {
            (Source::File, Format::Json) if diagnostic.path.is_empty() => {
                group.element(Location::path(&self.sources.file)).element(Level::NOTE.message(&diagnostic.label))
            }
            (Source::File, Format::Json) => group
                .element(Location::path(format!("{}: {}", self.sources.file, diagnostic.path)))
                .element(Level::NOTE.message(&diagnostic.label)),
            (Source::File, Format::Toml) => underline(group, &self.sources.text, &self.sources.file, diagnostic),
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

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

/// `a`, `b` or `c`, each in backquotes.
pub fn listing<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The candidate nearest to `word`, if near enough to be what was meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Text of hostile length would make the distance a matter of minutes.
    if word.len() > 100 {
        return None;
    }
    let length = word.chars().count();
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| {
            let longest = length.max(candidate.chars().count());
            *distance <= (longest / 3).max(1) && *distance < longest
        })
        // Among equals, the one that shares the longer beginning.
        .min_by(|(d1, c1), (d2, c2)| {
            d1.cmp(d2).then(strsim::jaro_winkler(word, c2).total_cmp(&strsim::jaro_winkler(word, c1)))
        })
        .map(|(_, candidate)| candidate)
}
