//! `report.html`: one self-contained page on a run, from the run's files alone.
//!
//! The words on the page are made here, the pictures by the scripts beside this file. The page holds no times of day
//! and no wall-clock times: the same run gives the same bytes.

mod curves;
pub(crate) mod decimate;
pub mod history;
pub mod quality;

use crate::files::{exists, read_text, write_atomically};
use crate::sinks::animation::{Scene, Still};
use crate::summary::figure;
use crate::{Error, Result};
use curves::Plots;
use history::Table;
use quality::{Finding, Level};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
const SCRIPTS: [&str; 4] =
    [include_str!("common.js"), include_str!("plot.js"), include_str!("stage.js"), include_str!("app.js")];

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
    let path = dir.join("animation.json");
    if !exists(&path)? {
        let cause = "the run was made with output.report = false; run the case again without that";
        return Err(broken("animation.json", format!("there is no such file: {cause}")));
    }
    let frames = read_text(&path)?;
    let film: Film = serde_json::from_str(&frames).map_err(|e| broken("animation.json", e.to_string()))?;
    film.check().map_err(|what| broken("animation.json", what))?;
    let page = page(&summary, &plots, &film.scene, &frames);
    write_atomically(&dir.join("report.html"), page.as_bytes())
}

/// `animation.json` as a whole.
#[derive(Deserialize)]
struct Film {
    scene: Scene,
    frames: Vec<Still>,
}

impl Film {
    fn check(&self) -> std::result::Result<(), String> {
        let nodes = self.scene.places.len();
        if self.frames.is_empty() {
            return Err("there is no frame".into());
        }
        if let Some(node) = self.scene.segments.iter().flatten().find(|&&node| node >= nodes) {
            return Err(format!("a segment ends at node {node}, but there are {nodes} nodes"));
        }
        let mut numbered = self.frames.iter().enumerate();
        numbered.try_for_each(|(k, still)| self.scene.accepts(still).map_err(|what| format!("frame {k}: {what}")))
    }
}

fn page(summary: &Value, plots: &Plots, scene: &Scene, frames: &str) -> String {
    let plots = serde_json::to_string(plots).expect("plots are plain data");
    let title = summary["title"].as_str().filter(|title| !title.is_empty()).unwrap_or("A run of carom");
    let findings = quality::findings(summary, scene.length);
    let case = toml::to_string(&summary["case"]).unwrap_or_else(|_| format!("{:#}", summary["case"]));
    let worst = findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Good);
    let verdict = match worst {
        Level::Good => "Looks sound",
        Level::Watch => "Look closer",
        Level::Bad => "Do not trust",
    };
    let script = SCRIPTS.join("\n");
    fill(PAGE, &|key| match key {
        "title" => escape(title),
        "style" => STYLE.to_string(),
        "facts" => escape(&facts(summary)),
        "level" => class(worst).to_string(),
        "verdict" => verdict.to_string(),
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
    format!(
        "{} elements, {} unknowns · {scheme} · {} steps of {} to time {}",
        count("elements"),
        count("dofs"),
        count("steps"),
        time("step"),
        time("end")
    )
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

pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
    fn names_cannot_become_markup() {
        assert_eq!(escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
        assert_eq!(inert("\"</script>\""), "\"\\u003c/script>\"");
    }
}
