//! `report.html`: one self-contained page on a run, from the run's files alone.
//!
//! The words on the page are made here, the pictures by the scripts beside this file. The page holds no times of day
//! and no wall-clock times: the same run gives the same bytes.

mod curves;
pub(crate) mod decimate;
pub mod history;
mod keys;
pub mod quality;

use crate::canvas::escape;
use crate::files::{read_text, write_atomically};
use crate::sinks::animation::Scene;
use crate::sinks::animation::recording::Recording;
use crate::summary::figure;
use crate::{Error, Result};
use curves::Plots;
use history::Table;
use quality::{Finding, Level};
use serde_json::Value;
use std::path::Path;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
const SCRIPTS: [&str; 4] =
    [include_str!("common.js"), include_str!("plot.js"), include_str!("stage.js"), include_str!("app.js")];

/// What stands in place of the animation where there is none.
const NO_STAGE: &str = include_str!("no-stage.js");

/// Writes `report.html` of the finished run in `dir`, from its `summary.json`, its history and `animation.json`.
pub fn rebuild(dir: &Path) -> Result<()> {
    let path = dir.join("summary.json");
    let summary = read_text(&path)?;
    write(dir, &summary)
}

/// Writes `report.html` of a run whose summary is at hand as text; its table and frames are read from `dir`.
pub fn write(dir: &Path, summary: &str) -> Result<()> {
    let broken = |name: &str, what: String| Error::Input(format!("{}: {what}", dir.join(name).display()));
    let summary: Value = serde_json::from_str(summary).map_err(|e| broken("summary.json", e.to_string()))?;
    if summary["schema"] != 1 {
        let found = &summary["schema"];
        return Err(broken("summary.json", format!("`schema` is {found}, but this version reads 1")));
    }
    let plots = Plots::new(&Table::open(dir)?)?;
    if summary["case"]["analysis"] == "first-order" {
        let page = page(&summary, &plots, None, "null");
        return write_atomically(&dir.join("report.html"), page.as_bytes());
    }
    let (recording, frames) = Recording::read(dir)?;
    let page = page(&summary, &plots, Some(&recording.scene), &frames);
    write_atomically(&dir.join("report.html"), page.as_bytes())
}

fn page(summary: &Value, plots: &Plots, scene: Option<&Scene>, frames: &str) -> String {
    let plots = serde_json::to_string(plots).expect("plots are plain data");
    let title = summary["title"].as_str().filter(|title| !title.is_empty()).unwrap_or("A run of carom");
    let findings = match scene {
        Some(scene) => quality::findings(summary, scene.length),
        None => quality::first_order_findings(summary),
    };
    let case = toml::to_string(&summary["case"]).unwrap_or_else(|_| format!("{:#}", summary["case"]));
    let worst = findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Good);
    let verdict = match worst {
        Level::Good => "Looks sound",
        Level::Watch => "Look closer",
        Level::Bad => "Do not trust",
    };
    let mut scripts = SCRIPTS;
    if scene.is_none() {
        scripts[2] = NO_STAGE;
    }
    let script = scripts.join("\n");
    fill(PAGE, &|key| match key {
        "title" => escape(title),
        "style" => STYLE.to_string(),
        "facts" => escape(&facts(summary)),
        "level" => class(worst).to_string(),
        "verdict" => verdict.to_string(),
        "keys" => keys::table(summary),
        "findings" => findings.iter().map(item).collect(),
        "case" => escape(&case),
        "version" => escape(summary["version"].as_str().unwrap_or("")),
        "hash" => escape(summary["hashes"]["case"].as_str().unwrap_or("")),
        "plots" => inert(&plots),
        "animation" => inert(frames),
        "script" => script.clone(),
        other => unreachable!("the page asks for `{other}`"),
    })
}

/// What ran, in one line.
fn facts(summary: &Value) -> String {
    let case = &summary["case"];
    let count = |key: &str| summary[key].as_u64().unwrap_or(0);
    let mut scheme = case["scheme"]["name"].as_str().unwrap_or("").to_string();
    for (key, value) in case["scheme"].as_object().into_iter().flatten() {
        if let (false, Some(value)) = (key == "forecast", value.as_f64()) {
            scheme += &format!(", {key} = {value}");
        }
    }
    let time = |key: &str| case["time"][key].as_f64().map_or("?".to_string(), short);
    let size = match case["analysis"] == "first-order" {
        true => format!("states {}", count("dofs")),
        false => format!("{} elements, {} unknowns", count("elements"), count("dofs")),
    };
    format!("{size} · {scheme} · {} steps of {} to time {}", count("steps"), time("step"), time("end"))
}

/// A number as the summary writes it, without zeros at the end of its digits.
fn short(value: f64) -> String {
    let text = figure(value);
    let (digits, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_string() + exponent,
        false => text,
    }
}

fn item(finding: &Finding) -> String {
    format!("<li class=\"{}\">{}</li>\n", class(finding.level), escape(&finding.text))
}

fn class(level: Level) -> &'static str {
    match level {
        Level::Good => "good",
        Level::Watch => "watch",
        Level::Bad => "bad",
    }
}

/// Replaces every `{{key}}` of the template, in one pass: what is put in is never searched.
fn fill(template: &str, value: &dyn Fn(&str) -> String) -> String {
    let mut text = String::with_capacity(template.len());
    let mut parts = template.split("{{");
    text.push_str(parts.next().unwrap_or(""));
    for part in parts {
        let (key, rest) = part.split_once("}}").expect("every key of the template is closed");
        text.push_str(&value(key));
        text.push_str(rest);
    }
    text
}

/// JSON that cannot end the script element around it; `<` stands in strings only.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_not_searched_again() {
        let filled = fill("<h1>{{title}}</h1>{{case}}.", &|key| match key {
            "title" => "{{case}}".to_string(),
            _ => "x".to_string(),
        });
        assert_eq!(filled, "<h1>{{case}}</h1>x.");
    }

    #[test]
    fn numbers_end_where_they_end() {
        for (value, text) in
            [(3.0, "3"), (0.002, "0.002"), (100.0, "100"), (5e-4, "5e-4"), (12345678.0, "1.2346e7"), (0.0, "0")]
        {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn data_cannot_end_the_script_that_holds_it() {
        assert_eq!(inert("\"</script>\""), "\"\\u003c/script>\"");
    }
}
