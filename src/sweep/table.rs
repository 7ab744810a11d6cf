//! The table of a sweep: as CSV, as JSON lines, for the terminal, and as a figure.

use super::{Axis, Row};
use crate::plot::{self, Curve, Heat, Plot};
use crate::summary::figure;
use serde_json::Value;
use std::collections::BTreeSet;

/// Rows that a terminal is shown.
const SHOWN: usize = 40;

/// All rows of a sweep, or of a shard, in order.
pub struct Table<'a> {
    /// What was varied.
    pub axes: &'a [Axis],
    /// Rows in the order of their numbers.
    pub rows: &'a [Row],
}

impl Table<'_> {
    /// One JSON object per line, each with a checksum of its own.
    pub fn lines(&self) -> String {
        self.rows.iter().map(Row::line).collect()
    }

    /// Names of all figures, in the order of their first appearance.
    fn figures(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        self.rows
            .iter()
            .flat_map(|row| row.figures.keys())
            .map(String::as_str)
            .filter(|name| seen.insert(*name))
            .collect()
    }

    /// Comma-separated values: parameters by their path, status, exit code, error, figures; numbers with all digits.
    pub fn csv(&self) -> String {
        let figures = self.figures();
        let mut text = String::from("run");
        let paths = self.axes.iter().map(|axis| axis.path.as_str());
        for name in paths.chain(["status", "code", "error"]).chain(figures.iter().copied()) {
            text.push(',');
            text += &quoted(name);
        }
        text.push('\n');
        for row in self.rows {
            text += &row.run.to_string();
            for axis in self.axes {
                text.push(',');
                text += &cell(row.parameters.get(&axis.path));
            }
            text += &format!(",{},{},{}", row.status, row.code, quoted(row.error.as_deref().unwrap_or("")));
            for name in &figures {
                text.push(',');
                text += &cell(row.figures.get(*name));
            }
            text.push('\n');
        }
        text
    }

    /// The first rows for the eye, with one figure.
    pub fn text(&self, column: &str) -> String {
        let header: Vec<String> = std::iter::once("run".to_string())
            .chain(self.axes.iter().map(|axis| axis.path.clone()))
            .chain([column.to_string(), "status".to_string()])
            .collect();
        let body = self.rows.iter().take(SHOWN).map(|row| {
            let value = row.figure(column).map_or("-".to_string(), figure);
            let status =
                row.error.as_ref().map_or(row.status.clone(), |error| format!("failed ({}): {error}", row.code));
            std::iter::once(row.run.to_string())
                .chain(self.axes.iter().map(|axis| row.parameters.get(&axis.path).map_or(String::new(), short)))
                .chain([value, status])
                .collect()
        });
        let lines: Vec<Vec<String>> = std::iter::once(header).chain(body).collect();
        let width = |k: usize| lines.iter().map(|line| line[k].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.axes.len() + 2).map(width).collect();
        let mut text = String::new();
        for line in &lines {
            for (cell, width) in line.iter().zip(&widths) {
                text += &format!("{cell:>width$}  ");
            }
            text += &line[widths.len()];
            text.push('\n');
        }
        if self.rows.len() > SHOWN {
            text += &format!("… and {} more in table.csv\n", self.rows.len() - SHOWN);
        }
        text
    }

    /// A curve over one parameter, or a map over two, as SVG and as PNG; more than two make no picture.
    pub fn figure(&self, title: &str, column: &str) -> Option<(String, Vec<u8>)> {
        let value = |row: &Row| row.figure(column).unwrap_or(f64::NAN);
        match self.axes {
            [axis] => {
                // Values that are no numbers are counted.
                let numbers = axis.numbers();
                let label = match &numbers {
                    Some(_) => axis.path.clone(),
                    None => format!("{} ({})", axis.path, numbered(axis)),
                };
                let place = |k: usize| numbers.as_ref().map_or((k + 1) as f64, |numbers| numbers[k]);
                let points = self.rows.iter().enumerate().map(|(k, row)| [place(k), value(row)]).collect();
                let curve = Curve { marks: true, ..Curve::new(column, points) };
                let (x, y) = (plot::Axis::linear(&label), plot::Axis::linear(column));
                let plot = Plot { title: title.into(), x, y, curves: vec![curve] };
                Some((plot.svg(), plot.png()))
            }
            [first, second] => {
                let across = second.texts.len();
                let rows = self.rows.chunks(across).map(|rows| rows.iter().map(value).collect()).collect();
                let ticks = |axis: &Axis| axis.values.iter().map(short).collect();
                let map = Heat {
                    title: title.into(),
                    quantity: column.into(),
                    x: (second.path.clone(), ticks(second)),
                    y: (first.path.clone(), ticks(first)),
                    values: rows,
                };
                Some((map.svg(), map.png()))
            }
            _ => None,
        }
    }
}

fn numbered(axis: &Axis) -> String {
    let names = axis.values.iter().enumerate().map(|(k, value)| format!("{}: {}", k + 1, short(value)));
    names.collect::<Vec<_>>().join(", ")
}

/// A parameter in few letters.
fn short(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::Number(number)) if number.is_f64() => format!("{:.16e}", number.as_f64().unwrap_or(f64::NAN)),
        Some(Value::Number(number)) => number.to_string(),
        Some(other) => quoted(&short(other)),
    }
}

/// A text as a cell. One that a spreadsheet would take for a formula gets an apostrophe in front, which says that it is a
/// text; `table.jsonl` has it as it is.
fn quoted(text: &str) -> String {
    let text = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { &format!("'{text}") } else { text };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}
