//! One row of a sweep's table: what was varied, how it went, and the figures of the run.

use crate::Error;
use crate::checkpoint::hex;
use crate::summary::Summary;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What stands between a row and its checksum.
const SUM: &str = ",\"sum\":\"";

/// Sixteen digits, so that a line stays readable.
fn checksum(text: &str) -> String {
    hex(text.as_bytes())[..16].to_string()
}

/// A finished run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Number of the run in the whole sweep, from 0; the last parameter varies fastest.
    pub run: usize,
    /// What was varied, by path.
    pub parameters: Map<String, Value>,
    /// `completed` or `failed`.
    pub status: String,
    /// The exit code that the run alone would have had.
    pub code: u8,
    /// The first line of what went wrong.
    pub error: Option<String>,
    /// Figures of a completed run.
    pub figures: Map<String, Value>,
}

impl Row {
    /// A row of a run that came to its end, or failed by itself; `plot` is a figure that it must have if the run can.
    pub fn new(run: usize, parameters: Map<String, Value>, outcome: &Result<Summary, Error>, plot: &str) -> Row {
        let (status, code, error, figures) = match outcome {
            Ok(summary) => (summary.status, 0, None, figures(summary, plot)),
            Err(error) => ("failed", error.exit_code(), Some(first_line(error)), Map::new()),
        };
        Row { run, parameters, status: status.into(), code, error, figures }
    }

    /// The row as a line of JSON whose last key is a checksum of all before it.
    pub(super) fn line(&self) -> String {
        let text = serde_json::to_string(self).expect("a row is plain data");
        let open = text.strip_suffix('}').expect("a row is an object");
        format!("{open}{SUM}{}\"}}\n", checksum(&text))
    }

    /// The row of a line; the error says what is wrong with it.
    pub(super) fn parse(line: &str) -> std::result::Result<Row, String> {
        let sealed = line.trim_end().strip_suffix("\"}").and_then(|line| line.rsplit_once(SUM));
        let Some((text, sum)) = sealed else { return Err("the row has no checksum at its end".into()) };
        let text = format!("{text}}}");
        if checksum(&text) != sum {
            return Err("the row does not fit its checksum; it was changed after carom wrote it".into());
        }
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    /// Whether the run failed.
    pub fn failed(&self) -> bool {
        self.code != 0
    }

    /// A figure, if the run has it.
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.figures.get(name).and_then(Value::as_f64)
    }
}

fn first_line(error: &Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_string()
}

/// The figures of a summary under flat names: key results of all columns of contacts, probes, supports and sections, and of
/// others the one that is plotted.
pub fn figures(summary: &Summary, plot: &str) -> Map<String, Value> {
    let mut all = Map::new();
    let mut put = |name: String, value: &Value| all.insert(name, value.clone());
    put("steps".into(), &summary.steps.into());
    for (key, value) in summary.energy.as_object().into_iter().flatten() {
        match key.as_str() {
            "initial" | "final" | "scale" => put(format!("energy.{key}"), value),
            _ => put(key.clone(), value),
        };
    }
    for (key, value) in summary.defect.as_object().into_iter().flatten() {
        put(format!("defect.{key}"), value);
    }
    put("penetration".into(), &summary.penetration.into());
    put("complementarity".into(), &summary.complementarity.into());
    put("closings".into(), &summary.closings.into());
    for key in ["newton", "factorizations", "sweeps"] {
        put(key.into(), &summary.counts[key]);
    }
    for (name, entry) in &summary.columns {
        for (key, value) in entry.as_object().into_iter().flatten() {
            put(format!("{name}.{key}"), value);
        }
    }
    for (kind, entries) in [("contact", &summary.contacts), ("probe", &summary.probes)] {
        for (name, entry) in entries {
            for (key, value) in
                entry.as_object().into_iter().flatten().filter(|(key, _)| !["point", "first"].contains(&key.as_str()))
            {
                put(format!("{kind}.{name}.{key}"), value);
            }
        }
    }
    // That of a step, of the energy scale, as expectations have it; the column is in the user's units.
    all.insert("defect.max".into(), summary.defect["step"].clone());
    for (column, results) in &summary.key_results {
        for (ending, value) in results.as_object().into_iter().flatten() {
            let name = format!("{column}.{ending}");
            if column.contains('.') || (name == plot && !all.contains_key(plot)) {
                all.insert(name, value.clone());
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_with_any_letter_changed_is_refused() {
        let figures: Map<_, _> = [("energy.final".to_string(), 494.43.into())].into_iter().collect();
        let row = Row { run: 7, parameters: Map::new(), status: "completed".into(), code: 0, error: None, figures };
        let line = row.line();
        assert_eq!(Row::parse(&line), Ok(row));
        assert!(serde_json::from_str::<Value>(&line).unwrap()["sum"].is_string(), "{line}");
        for k in 0..line.trim_end().len() {
            for flip in [1, 2, 4, 8, 16, 32, 64] {
                let mut bytes = line.clone().into_bytes();
                bytes[k] ^= flip;
                let flipped = String::from_utf8(bytes).unwrap();
                assert!(Row::parse(&flipped).is_err(), "{flipped}");
            }
        }
        assert!(Row::parse("{\"run\":7}\n").unwrap_err().contains("no checksum"));
    }
}
