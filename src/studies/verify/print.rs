//! The book as text for a terminal, as JSON, and as Markdown.

use super::{Book, Chapter, Criterion, Row};
use serde_json::{Value, json};
use std::fmt::Write;

impl Book {
    /// Rows that pass, and rows that do not.
    pub fn counts(&self) -> [usize; 2] {
        let all = || self.chapters.iter().flat_map(|chapter| &chapter.rows);
        let passed = all().filter(|row| row.holds()).count();
        [passed, all().count() - passed]
    }

    /// For a terminal: a line per problem and quantity, all rows that fail, or every row if `verbose`.
    pub fn table(&self, verbose: bool) -> String {
        let mut text = String::new();
        let mut line = |words: String| writeln!(text, "{}", words.trim_end()).expect("writing to a string cannot fail");
        for chapter in &self.chapters {
            line(chapter.title.into());
            for quantity in chapter.quantities() {
                let rows = || chapter.rows.iter().filter(|row| row.quantity == quantity);
                let (all, good) = (rows().count(), rows().filter(|row| row.holds()).count());
                let values = || rows().map(|row| row.measured).filter(|value| !value.is_nan());
                let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
                let range = if low < high {
                    format!("{} … {}", short(low), short(high))
                } else if low == high {
                    short(low)
                } else {
                    String::new()
                };
                let mark = if good == all { "ok" } else { "FAILED" };
                line(format!("  {quantity:<22} {good:>3} of {all:<3} {mark:<7} {range}"));
                for row in rows().filter(|row| verbose || !row.holds()) {
                    let mark = if row.holds() { "ok" } else { "FAILED" };
                    let (measured, wanted) = (format!("{:.6e}", row.measured), words(row.criterion));
                    let failure = row.failure.as_deref().unwrap_or_default();
                    line(format!("      {:<28} {measured:>14}  wanted {wanted:<24} {mark} {failure}", row.scheme));
                }
            }
        }
        let [passed, failed] = self.counts();
        text + &format!("\n{passed} passed, {failed} failed\n")
    }

    /// Every row with all its digits.
    pub fn json(&self) -> Value {
        let row = |row: &Row| {
            json!({
                "scheme": row.scheme, "quantity": row.quantity, "measured": row.measured,
                "criterion": words(row.criterion), "holds": row.holds(), "failure": row.failure,
            })
        };
        let chapter = |chapter: &Chapter| json!({ "problem": chapter.title, "reference": chapter.text, "rows": chapter.rows.iter().map(row).collect::<Vec<_>>() });
        let [passed, failed] = self.counts();
        json!({
            "version": env!("CARGO_PKG_VERSION"), "passed": passed, "failed": failed,
            "chapters": self.chapters.iter().map(chapter).collect::<Vec<_>>(),
        })
    }

    /// As a page, with figures below `figures`. The same on every machine: round-off is shown as its limit.
    pub fn markdown(&self, figures: &str) -> String {
        let [passed, failed] = self.counts();
        let mut text = format!(
            "# Verification\n\n\
             Written by `carom verify --markdown docs`; do not edit. Every scheme on every problem with an exact or \
             independent\nsolution: {passed} rows pass, {failed} fail. A row passes if its value meets the criterion in \
             brackets; round-off differs\nbetween machines and is shown as the limit that it keeps (`carom verify -v` prints \
             it). The command exits with 7 if\na row fails.\n\n\
             *Ledger*: what the energy ledger misses in a step and in sum, of the energy scale, (T10). *Contact law*: residual \
             of\nthe complementarity conditions. *Storage*: what the identity of the storage function misses, (T22).\n\n\
             What else is tested, and by what, is in [tests.md](tests.md); the claims of the source paper are in\n\
             [paper-figures.md](paper-figures.md) and [rotating-beam.md](rotating-beam.md).\n"
        );
        for chapter in &self.chapters {
            write!(text, "\n## {}\n\n{}\n\n", chapter.title, wrapped(chapter.text))
                .expect("writing to a string cannot fail");
            text += &chapter.markdown();
            if let Some((name, plot)) = &chapter.figure {
                write!(text, "\n![{}]({figures}/{name}.svg)\n", plot.title).expect("writing to a string cannot fail");
            }
        }
        text
    }
}

impl Chapter {
    /// Quantities in the order of their first row.
    fn quantities(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for row in &self.rows {
            if !names.contains(&row.quantity) {
                names.push(row.quantity);
            }
        }
        names
    }

    /// A table with a line per scheme and a column per quantity.
    fn markdown(&self) -> String {
        let quantities = self.quantities();
        let mut schemes: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !schemes.contains(&row.scheme.as_str()) {
                schemes.push(&row.scheme);
            }
        }
        let mut text = format!("| | {} |\n|---|{}\n", quantities.join(" | "), "---|".repeat(quantities.len()));
        for scheme in schemes {
            let cell = |quantity: &&str| {
                let row = self.rows.iter().find(|row| row.scheme == scheme && row.quantity == *quantity);
                row.map_or(String::new(), document)
            };
            let cells: Vec<String> = quantities.iter().map(cell).collect();
            writeln!(text, "| {scheme} | {} |", cells.join(" | ")).expect("writing to a string cannot fail");
        }
        text
    }
}

/// A cell of a document: few digits, the criterion in brackets, and a word if it is not met.
fn document(row: &Row) -> String {
    let fails = if row.holds() { "" } else { " **fails**" };
    let text = match row.criterion {
        Criterion::Near(value, tolerance) => {
            // One digit more than the tolerance has; beyond ten digits it is round-off.
            let digits = (1.0 - tolerance.log10().floor()).clamp(0.0, 10.0) as usize;
            // Minus zero is zero.
            let measured = if row.measured.abs() < 0.5 * tolerance { 0.0 } else { row.measured };
            format!("{} ({} ± {})", trimmed(measured, digits), trimmed(value, digits), size(tolerance))
        }
        Criterion::Below(limit) => format!("{} (< {})", brief(row.measured), size(limit)),
        Criterion::RoundOff(limit) if row.holds() => format!("< {limit:e}"),
        Criterion::RoundOff(limit) => format!("{:.0e} (< {limit:e})", row.measured),
    };
    text.replace('-', "−") + fails
}

/// Two digits of a number.
fn brief(value: f64) -> String {
    match value.abs() {
        size if size >= 10.0 => format!("{value:.0}"),
        size if size >= 1.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        size if size >= 0.01 => format!("{value:.3}"),
        _ => format!("{value:.1e}"),
    }
}

/// A limit or a tolerance.
fn size(value: f64) -> String {
    if value < 1e-3 { format!("{value:e}") } else { value.to_string() }
}

/// So many decimals at most, without zeros at the end.
fn trimmed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

fn words(criterion: Criterion) -> String {
    match criterion {
        Criterion::Near(value, tolerance) => format!("{value} ± {}", size(tolerance)),
        Criterion::Below(limit) => format!("< {}", size(limit)),
        Criterion::RoundOff(limit) => format!("< {limit:e}"),
    }
}

fn short(value: f64) -> String {
    if value != 0.0 && !(1e-2..1e4).contains(&value.abs()) { format!("{value:.1e}") } else { format!("{value:.3}") }
}

/// Lines of at most 120 characters.
fn wrapped(text: &str) -> String {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > 120 {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    lines.push(line);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book() -> Book {
        let rows = vec![
            Row::new("a", "order", 1.96, Criterion::Near(2.0, 0.1)),
            Row::new("b", "order", 1.7, Criterion::Near(2.0, 0.1)),
            Row::new("a", "ledger", 3e-16, Criterion::RoundOff(1e-11)),
            Row { failure: Some("no luck".into()), ..Row::new("b", "runs", f64::NAN, Criterion::Below(0.0)) },
        ];
        Book { chapters: vec![Chapter { title: "T", text: "words", rows, figure: None }] }
    }

    #[test]
    fn what_fails_is_seen_everywhere() {
        let book = book();
        assert_eq!(book.counts(), [2, 2]);
        let table = book.table(false);
        assert!(table.contains("  order                    1 of 2   FAILED  1.700 … 1.960\n"), "{table}");
        assert!(table.contains("no luck") && table.ends_with("\n2 passed, 2 failed\n"), "{table}");
        assert!(!table.contains("1.960000e0"), "what holds is told with -v only: {table}");
        let page = book.markdown("figures");
        assert!(page.contains("| a | 1.96 (2 ± 0.1) | < 1e−11 |  |\n| b | 1.7 (2 ± 0.1) **fails** |"), "{page}");
        assert_eq!(book.json()["chapters"][0]["rows"][1]["holds"], false);
    }
}
