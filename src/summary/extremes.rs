//! The extremes of supports, sections and probes in words, for the terminal.

use super::figure;
use serde_json::{Map, Value};

/// Supports, sections or probes that the terminal is shown; the summary has them all.
const SHOWN: usize = 8;

/// Turns, and parts of the largest motion, that are round-off.
const ROUND_OFF: f64 = 1e-12;

/// What is told of each kind: its word, and which columns, of which forces by their largest modulus and others by their range.
const KINDS: [(&str, &[&str], bool); 3] = [
    ("support", &["fx", "fy", "moment"], true),
    ("section", &["N", "V", "M", "stress"], true),
    ("probe", &["x", "y", "theta", "ux", "uy", "ax", "ay"], false),
];

/// Labels and words, one for each support, section and probe.
pub(super) fn lines(results: &Map<String, Value>) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let span = |result: &Value| Some(result["max"].as_f64()? - result["min"].as_f64()?);
    let moved = results.iter().filter(|(column, _)| column.starts_with("probe.") && !column.ends_with("theta"));
    let lengths = moved.filter_map(|(_, result)| span(result)).fold(0.0, f64::max);
    for (kind, parts, by_modulus) in KINDS {
        let mut owners: Vec<(&str, Vec<String>)> = Vec::new();
        for (column, result) in results {
            let Some((owner, part)) =
                column.strip_prefix(kind).and_then(|rest| rest.strip_prefix('.')).and_then(|rest| rest.split_once('.'))
            else {
                continue;
            };
            if !owners.iter().any(|(known, _)| *known == owner) {
                owners.push((owner, Vec::new()));
            }
            let words = if by_modulus { largest(part, result) } else { range(part, result, lengths) };
            if let (true, Some(words), Some((_, own))) =
                (parts.contains(&part), words, owners.iter_mut().find(|(known, _)| *known == owner))
            {
                own.push(words);
            }
        }
        let more = owners.len().saturating_sub(SHOWN);
        for (owner, words) in owners.into_iter().take(SHOWN) {
            let words = if words.is_empty() {
                if by_modulus { "no force" } else { "does not move" }.to_string()
            } else {
                words.join(", ")
            };
            lines.push((format!("{kind} {owner}"), words));
        }
        if more > 0 {
            lines.push((String::new(), format!("… and {more} more {kind}s in summary.json")));
        }
    }
    lines
}

/// The value of largest modulus and when; nothing of a column that is zero throughout.
fn largest(part: &str, result: &Value) -> Option<String> {
    let number = |key: &str| result[key].as_f64();
    let (max, min) = (number("max")?, number("min")?);
    let (value, time) = if min.abs() > max.abs() { (min, number("min_time")?) } else { (max, number("max_time")?) };
    (value != 0.0).then(|| format!("{part} {} at {}", figure(value), figure(time)))
}

/// Least and largest value and when; nothing of a column that only has round-off to show, beside places that move by `lengths`.
fn range(part: &str, result: &Value, lengths: f64) -> Option<String> {
    let number = |key: &str| result[key].as_f64();
    let (max, min) = (number("max")?, number("min")?);
    let at = |value: f64, key: &str| Some(format!("{} at {}", figure(value), figure(number(key)?)));
    let (low, high) = (at(min, "min_time")?, at(max, "max_time")?);
    let nothing = ROUND_OFF * if part == "theta" { 1.0 } else { lengths };
    (max - min > nothing).then(|| format!("{part} {low} to {high}"))
}
