//! Key results of a run as a table of the page: what, how much, when.
//!
//! Knows the keys of `summary.json`; must not know how the table is styled.

use super::{escape, short};
use crate::summary::never_closed;
use serde_json::Value;
use std::ops::Range;

/// Rows that are shown at once; the others unfold.
const SHOWN: usize = 14;

/// Turns, and parts of the largest motion, that are round-off.
const ROUND_OFF: f64 = 1e-12;

/// Columns of a kind, and words for each.
type Words = &'static [(&'static str, &'static str)];

/// What is told of a kind: its columns, with words for each, and whether by the largest modulus or by the range.
const KINDS: [(&str, Words, bool); 3] = [
    ("support", &[("fx", "reaction along x"), ("fy", "reaction along y"), ("moment", "reaction moment")], true),
    (
        "section",
        &[("N", "axial force N"), ("V", "shear force V"), ("M", "bending moment M"), ("stress", "extreme stress")],
        true,
    ),
    ("probe", &[("x", "place along x"), ("y", "place along y"), ("theta", "rotation")], false),
];

/// One key result: whose, which, the value in words, and the instant to show.
struct Key {
    owner: String,
    what: String,
    value: String,
    time: Option<f64>,
}

/// The table, or nothing where a run has no key results.
pub(super) fn table(summary: &Value) -> String {
    let keys: Vec<Key> = contacts(summary).into_iter().chain(columns(&summary["key_results"])).collect();
    if keys.is_empty() {
        return String::new();
    }
    let row = |k: usize| {
        let key = &keys[k];
        let when = key.time.map_or(String::new(), |time| {
            let button = format!("<button type=\"button\" data-time=\"{time:e}\" title=\"Show this instant\">");
            format!("{button}t = {}</button>", short(time))
        });
        // The name of an owner stands in its first row.
        let owner = if k > 0 && keys[k - 1].owner == key.owner { "" } else { &key.owner };
        let [owner, what, value] = [owner, &key.what, &key.value].map(escape);
        format!("<tr><th>{owner}</th><td>{what}</td><td class=\"value\">{value}</td><td>{when}</td></tr>\n")
    };
    let rows = |range: Range<usize>| range.map(row).collect::<String>();
    let shown = keys.len().min(SHOWN);
    let folded = match keys.len() - shown {
        0 => String::new(),
        n => format!("<details><summary>{n} more</summary><table>\n{}</table></details>\n", rows(shown..keys.len())),
    };
    let all = rows(0..shown);
    format!("<section class=\"card keys\">\n<h2>Key results</h2>\n<table>\n{all}</table>\n{folded}</section>\n")
}

/// Episodes, peak and impulse of every contact that closed.
fn contacts(summary: &Value) -> Vec<Key> {
    let mut keys = Vec::new();
    for (name, contact) in summary["contacts"].as_object().into_iter().flatten() {
        let owner = format!("contact {name}");
        let number = |key: &str| contact[key].as_f64();
        let (Some(from), Some(to)) = (number("closed"), number("release")) else {
            let gap = &summary["key_results"][format!("contact.{name}.gap")];
            let what = never_closed(contact, gap, short);
            keys.push(Key { owner, what, value: String::new(), time: gap["min_time"].as_f64() });
            continue;
        };
        let times = contact["episodes"].as_u64().unwrap_or(0);
        let what = if times == 1 { "closed once".into() } else { format!("closed {times} times, the longest") };
        keys.push(Key { owner: owner.clone(), what, value: format!("for {}", short(to - from)), time: Some(from) });
        if let Some(peak) = number("peak") {
            keys.push(Key {
                owner: owner.clone(),
                what: "peak force".into(),
                value: short(peak),
                time: number("peak_time"),
            });
        }
        if let Some(impulse) = number("impulse") {
            keys.push(Key { owner, what: "impulse in all".into(), value: short(impulse), time: None });
        }
    }
    keys
}

/// Extremes of supports, sections and probes.
fn columns(results: &Value) -> Vec<Key> {
    let all = || results.as_object().into_iter().flatten();
    let range = |result: &Value| Some([result["min"].as_f64()?, result["max"].as_f64()?]);
    let moved = all().filter(|(column, _)| column.starts_with("probe.") && !column.ends_with("theta"));
    let lengths = moved.filter_map(|(_, result)| range(result)).map(|[min, max]| max - min).fold(0.0, f64::max);
    let mut keys = Vec::new();
    for (kind, parts, by_modulus) in KINDS {
        for (column, result) in all() {
            let rest = column.strip_prefix(kind).and_then(|rest| rest.strip_prefix('.'));
            let Some((owner, part)) = rest.and_then(|rest| rest.split_once('.')) else { continue };
            let Some((_, words)) = parts.iter().find(|(name, _)| *name == part) else { continue };
            let Some([min, max]) = range(result) else { continue };
            let negative = min.abs() > max.abs();
            let time = result[if negative { "min_time" } else { "max_time" }].as_f64();
            let value = if by_modulus {
                short(if negative { min } else { max })
            } else {
                format!("{} to {}", short(min), short(max))
            };
            let noise = ROUND_OFF * if part == "theta" { 1.0 } else { lengths };
            let nothing = if by_modulus { min == 0.0 && max == 0.0 } else { max - min <= noise };
            if !nothing {
                keys.push(Key { owner: format!("{kind} {owner}"), what: words.to_string(), value, time });
            }
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn extremes_with_their_instants_and_no_round_off() {
        let summary = json!({
            "contacts": { "wall": { "closed": 0.5, "release": 1.5, "episodes": 1, "longest_peak": 3.0, "peak": 3.0,
                                    "peak_time": 0.75, "impulse": 2.0 }, "far": { "closed": null } },
            "key_results": {
                "energy": { "min": 0.0, "max": 1.0, "min_time": 0.0, "max_time": 1.0 },
                "support.a<b.fy": { "min": -8.0, "max": 3.0, "min_time": 0.25, "max_time": 1.0 },
                "support.a<b.fx": { "min": 0.0, "max": 0.0, "min_time": 0.0, "max_time": 0.0 },
                "probe.tip.x": { "min": 1.0, "max": 2.0, "min_time": 0.0, "max_time": 0.125 },
                "probe.tip.y": { "min": 0.0, "max": 1e-17, "min_time": 0.0, "max_time": 1.0 },
            },
        });
        let table = table(&summary);
        assert_eq!(table.matches("<tr>").count(), 6, "{table}");
        for row in [
            "<th></th><td>peak force</td><td class=\"value\">3</td><td><button type=\"button\" data-time=\"7.5e-1\"",
            "<th>support a&lt;b</th><td>reaction along y</td><td class=\"value\">-8</td><td><button type=\"button\" data-time=\"2.5e-1\"",
            "<th>contact wall</th><td>closed once</td><td class=\"value\">for 1</td>",
            "<td class=\"value\">1 to 2</td>",
            "<th>contact far</th><td>never closed, nothing came near</td>",
        ] {
            assert!(table.contains(row), "{row}\n{table}");
        }
        assert_eq!(super::table(&json!({})), "");
    }
}
