//! What `summary.json` and the terminal say of a run.

mod extremes;

use crate::advice::{self, Advice};
use crate::case::Loaded;
use crate::case::columns::ENDINGS;
use crate::checkpoint::{Origin, hex};
use crate::laws::SOLVERS;
use crate::march::Arrival;
use crate::methods::statics::UnstableBranch;
use crate::model::{Component, Model};
use crate::sinks::digest::Digest;
use crate::sinks::episodes::ContactDigest;
use crate::sinks::key_results::{KeyResult, KeyResults};
use crate::system::System;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// Version of the layout of `summary.json`.
pub(crate) const SCHEMA: u32 = 1;

/// A run in numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Version of this layout.
    pub schema: u32,
    /// `completed`; a run that fails writes no summary.
    pub status: &'static str,
    /// Version of carom.
    pub version: &'static str,
    /// Title of the case.
    pub title: String,
    /// SHA-256 of the resolved case and of every file that it names.
    pub hashes: Map<String, Value>,
    /// The case with every default spelled out.
    pub case: Value,
    /// Sizes of the model.
    pub nodes: usize,
    /// Number of elements.
    pub elements: usize,
    /// Unknowns.
    pub dofs: usize,
    /// Largest number of contact candidates in a step: those of declared nodes and those that searches found near.
    pub candidates: usize,
    /// Factorization of the step's matrix.
    pub factorization: &'static str,
    /// Accepted steps.
    pub steps: u64,
    /// Energies at the start and the end, and where the difference went.
    pub energy: Value,
    /// Largest defects, of the energy scale.
    pub defect: Value,
    /// Deepest penetration.
    pub penetration: f64,
    /// Worst complementarity residual.
    pub complementarity: f64,
    /// Closings of contacts, over all candidates.
    pub closings: u64,
    /// Contacts by name.
    pub contacts: Map<String, Value>,
    /// Where a static path is unstable: load parameters and the number of negative pivots; null where it is not.
    pub unstable: Option<UnstableBranch>,
    /// Solver counts.
    pub counts: Value,
    /// Largest and least value of every column with their instants, root mean square and last value.
    pub key_results: Map<String, Value>,
    /// Every probe: index of its point in the frames, position and velocity at the end.
    pub probes: Map<String, Value>,
    /// What every column comes down to, in a first-order system.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub columns: Map<String, Value>,
    /// Length of the way of the states of a first-order system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variation: Option<f64>,
    /// Cells of every body in the frames.
    pub bodies: Vec<Value>,
    /// The run that this one came from, if it did not begin at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Advice given for this case.
    pub advice: Vec<String>,
    /// Advice with the lines of the case file that it is about, for the terminal: files do not depend on how a case is written.
    #[serde(skip)]
    pub placed_advice: Vec<String>,
    /// Labels and values for the terminal in place of those of a structure.
    #[serde(skip)]
    pub lines: Option<Vec<[String; 2]>>,
    /// Wall-clock times in seconds; the only part that differs from run to run.
    pub timing: Timing,
}

/// Wall-clock times in seconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Timing {
    /// From the case file to the first step.
    pub setup_s: f64,
    /// In the step loop alone: no output.
    pub steps_s: f64,
    /// Everything else, but for the report, which is made from the summary.
    pub output_s: f64,
    /// All together, but for the report.
    pub total_s: f64,
}

impl Timing {
    /// Times from those of the set-up, of the steps and of all; a clock that steps back makes no negative ones.
    pub fn new(setup: Duration, steps: Duration, total: Duration) -> Timing {
        Timing {
            setup_s: setup.as_secs_f64(),
            steps_s: steps.as_secs_f64(),
            output_s: total.saturating_sub(setup).saturating_sub(steps).as_secs_f64(),
            total_s: total.as_secs_f64(),
        }
    }

    fn words(&self) -> String {
        format!("{:.3} s ({:.3} s in steps)", self.total_s, self.steps_s)
    }
}

/// What a run was made of.
pub struct Parts<'a> {
    /// The case.
    pub loaded: &'a Loaded,
    /// SHA-256 of every file that the case names.
    pub files: &'a BTreeMap<String, String>,
    /// Its model.
    pub model: &'a Model,
    /// Its equations.
    pub system: &'a System,
    /// What was collected on the way.
    pub collected: Collected<'a>,
    /// The end.
    pub arrival: &'a Arrival,
    /// Which factorization.
    pub factorization: &'static str,
    /// Advice given for this case.
    pub advice: Vec<Advice>,
}

/// What was collected on the way.
pub struct Collected<'a> {
    /// Contact episodes, counts and worst values.
    pub digest: &'a Digest,
    /// Extremes of all columns.
    pub results: &'a KeyResults<'a>,
}

impl Summary {
    /// Draws up the summary of a completed run.
    pub fn new(parts: Parts, timing: Timing) -> Summary {
        let Parts { loaded, files, model, system, collected, arrival, factorization, advice } = parts;
        let digest = collected.digest;
        let (sum, start, end) = (&arrival.ledger.sum, &arrival.start, &arrival.state.energy);
        let case = serde_json::to_value(&loaded.case).expect("a case is plain data");
        let mut contacts = Map::new();
        for contact in &digest.contacts {
            let longest = contact.longest();
            contacts.insert(
                contact.name.clone(),
                json!({
                    "closed": longest.map(|e| e.start),
                    "release": longest.map(|e| e.end),
                    "episodes": contact.count,
                    "impulse": contact.impulse,
                    "longest_peak": longest.map(|e| e.peak),
                    "peak": contact.peak,
                    "penetration": contact.penetration,
                    "peak_time": contact.peak_time,
                    "plateau": longest.and_then(|e| e.plateau()),
                    "roughness": contact.longest().and_then(|episode| episode.roughness()),
                    "first": first_episodes(contact),
                }),
            );
        }
        let solvers = SOLVERS.iter().zip(digest.methods);
        let solvers: Map<String, Value> = solvers.map(|((_, key, _), n)| (key.to_string(), n.into())).collect();
        Summary {
            schema: SCHEMA,
            status: "completed",
            version: env!("CARGO_PKG_VERSION"),
            title: loaded.case.title.clone(),
            hashes: hashes(loaded, files, &case),
            case,
            nodes: model.places.len(),
            elements: system.elements.iter().map(|e| e.block().len()).sum(),
            dofs: system.nodes.free,
            candidates: digest.candidates,
            factorization,
            steps: digest.steps,
            energy: json!({
                "initial": start.total(),
                "final": end.total(),
                "kinetic": end.kinetic,
                "strain": end.strain,
                "potential": end.potential,
                "scale": arrival.ledger.scale,
                "work_external": sum.external,
                "work_damping": sum.damping,
                "work_support": sum.support,
                "work_contact": sum.contact,
                "work_friction": sum.friction,
                "work_scheme": sum.scheme,
                "work_curvature": sum.curvature,
                "defect": sum.defect,
            }),
            defect: json!({ "step": arrival.ledger.worst_step, "run": arrival.ledger.worst_sum }),
            penetration: digest.penetration,
            complementarity: digest.complementarity,
            closings: digest.closings,
            contacts,
            unstable: digest.unstable,
            counts: json!({
                "newton": digest.passes,
                "factorizations": digest.factorizations,
                "sweeps": digest.sweeps,
                "cuts": arrival.cuts,
                "solver": solvers,
            }),
            key_results: collected.results.all().map(|(name, result)| (name.into(), plain(&result))).collect(),
            probes: model.probes.iter().map(|p| (p.name.clone(), ending(model, system, p.node, arrival))).collect(),
            columns: Map::new(),
            variation: None,
            lines: None,
            bodies: bodies(model),
            origin: None,
            placed_advice: advice::placed(&advice, loaded),
            advice: advice.into_iter().map(|advice| advice.text).collect(),
            timing,
        }
    }

    /// The table that a run ends with in the terminal.
    pub fn table(&self) -> String {
        let number = |key: &str| self.energy[key].as_f64().unwrap_or(f64::NAN);
        let mut text = String::new();
        let mut line = |label: &str, value: String| {
            writeln!(text, "  {label:<24}{value}").expect("writing to a string cannot fail");
        };
        if let Some(lines) = &self.lines {
            lines.iter().for_each(|[label, value]| line(label, value.clone()));
            line("time", self.timing.words());
            return text;
        }
        for (name, contact) in &self.contacts {
            let value = |key: &str| contact[key].as_f64().map_or("-".to_string(), figure);
            let idle = || {
                let gap = self.key_results.get(&format!("contact.{name}.gap"));
                never_closed(contact, gap.unwrap_or(&Value::Null), figure)
            };
            line(&format!("contact {name}"), closed_words(contact).unwrap_or_else(idle));
            if !contact["closed"].is_null() {
                line(
                    "  force",
                    format!(
                        "peak {} at {}, plateau {}, roughness {}",
                        value("peak"),
                        value("peak_time"),
                        value("plateau"),
                        value("roughness")
                    ),
                );
                line("  impulse", value("impulse"));
            }
        }
        if let Some(Origin { directory, step, time }) = &self.origin {
            line("goes on from", format!("{directory}, step {step}, time {}", figure(*time)));
        }
        for (label, words) in extremes::lines(&self.key_results) {
            line(&label, words);
        }
        line("model", format!("{} nodes, {} elements, {} unknowns", self.nodes, self.elements, self.dofs));
        line(
            "steps",
            format!("{}{}", self.steps, cut_words(&self.counts["cuts"]).map_or(String::new(), |w| format!("; {w}"))),
        );
        line("energy at the start", figure(number("initial")));
        line("energy at the end", figure(number("final")));
        for (key, _) in WORKS {
            let work = number(key);
            if work != 0.0 {
                line(&format!("  {}", way(key, work)), figure(work.abs()));
            }
        }
        line(
            "worst defect",
            format!("{:.1e} of the energy scale in a step, {:.1e} in all", self.number("step"), self.number("run")),
        );
        if !self.contacts.is_empty() {
            line("deepest penetration", figure(self.penetration));
            line("worst complementarity", format!("{:.1e}", self.complementarity));
        }
        line("time", self.timing.words());
        text
    }

    fn number(&self, key: &str) -> f64 {
        self.defect[key].as_f64().unwrap_or(f64::NAN)
    }
}

/// Endings of key results and their values; null where there is none.
fn plain(result: &KeyResult) -> Value {
    ENDINGS.iter().map(|ending| (ending.to_string(), json!(result.get(ending)))).collect::<Map<_, _>>().into()
}

/// Episodes of a contact that the summary tells one by one.
const EPISODES: usize = 20;

/// The first episodes of a contact.
fn first_episodes(contact: &ContactDigest) -> Vec<Value> {
    let spans = contact.spans.iter().take(EPISODES);
    spans
        .map(|span| {
            json!({ "start": span.start, "duration": span.end - span.start, "peak": span.peak, "impulse": span.impulse })
        })
        .collect()
}

/// Works of a run: key in `energy`, and what gave or took the energy.
pub(crate) const WORKS: [(&str, &str); 6] = [
    ("work_external", "loads"),
    ("work_support", "supports"),
    ("work_damping", "damping"),
    ("work_contact", "contact"),
    ("work_scheme", "the scheme"),
    ("work_curvature", "curvature"),
];

/// Which way the energy of a work went, by its sign: `from loads`, `to the scheme`. Its size is then told without a sign.
pub(crate) fn way(key: &str, work: f64) -> String {
    let source = WORKS.iter().find(|(known, _)| *known == key).map_or(key, |(_, source)| source);
    format!("{} {source}", if work > 0.0 { "from" } else { "to" })
}

/// How often steps were cut, from `counts.cuts` of a summary; nothing where none was.
pub(crate) fn cut_words(cuts: &Value) -> Option<String> {
    let count = |key: &str| cuts[key].as_u64().unwrap_or(0);
    let causes = ["guards", "solvers"].into_iter().filter(|cause| count(cause) > 0);
    let parts: Vec<String> = causes.map(|cause| format!("{} by {cause}", times(count(cause)))).collect();
    (!parts.is_empty()).then(|| format!("cut {}", parts.join(", ")))
}

/// How often a contact closed, and its longest episode with that episode's own peak; nothing where it never closed.
pub(crate) fn closed_words(contact: &Value) -> Option<String> {
    let number = |key: &str| contact[key].as_f64();
    let (from, to, peak) = (number("closed")?, number("release")?, number("longest_peak")?);
    let span = format!("{} to {} ({})", figure(from), figure(to), figure(to - from));
    Some(match contact["episodes"].as_u64()? {
        1 => format!("closed once, {span}"),
        n => format!("closed {}, the longest {span} with a peak of {}", times(n), figure(peak)),
    })
}

/// What to say of a contact that never closed, by its entry in the summary and by the key results of its gap.
pub(crate) fn never_closed(contact: &Value, gap: &Value, figure: fn(f64) -> String) -> String {
    let depth = contact["penetration"].as_f64().unwrap_or(0.0);
    // What lies behind an obstacle is not open.
    match (gap["min"].as_f64(), gap["min_time"].as_f64()) {
        _ if depth > 0.0 => format!("no force, though {} deep", figure(depth)),
        (Some(gap), Some(time)) => format!("never closed, least gap {} at {}", figure(gap), figure(time)),
        _ => "never closed, nothing came near".into(),
    }
}

fn times(n: u64) -> String {
    if n == 1 { "once".into() } else { format!("{n} times") }
}

/// Six digits are enough for the eye; the files have them all.
pub(crate) fn figure(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e6).contains(&size) {
        let digits = if size >= 1.0 { 5 - size.log10().floor() as i32 } else { 6 };
        format!("{value:.*}", digits.max(0) as usize)
    } else {
        format!("{value:.4e}")
    }
}

/// Where a probe is in the frames, and where it ends.
fn ending(model: &Model, system: &System, node: usize, arrival: &Arrival) -> Value {
    let mut found = Map::new();
    found.insert("point".into(), node.into());
    for component in [Component::X, Component::Y, Component::Theta] {
        if let Some(dof) = system.nodes.find(node, component) {
            let place = if component == Component::Theta { 0.0 } else { model.places[node][component as usize] };
            found.insert(component.name().into(), (place + arrival.state.q[dof]).into());
            found.insert(format!("v{}", component.name()), arrival.state.v[dof].into());
        }
    }
    found.into()
}

fn bodies(model: &Model) -> Vec<Value> {
    let mut cell = 0;
    let mut point = model.bodies.iter().map(|body| body.lines.len()).sum();
    model
        .bodies
        .iter()
        .map(|body| {
            let (counter, cells) = if body.lines.is_empty() { (&mut point, 1) } else { (&mut cell, body.lines.len()) };
            let first: usize = *counter;
            *counter += cells;
            json!({
                "name": body.name,
                "element": body.kind.name,
                "first_cell": first,
                "cells": cells,
                "axial_stiffness": body.properties.axial,
            })
        })
        .collect()
}

/// SHA-256 of the resolved case and of every file that it names.
pub(crate) fn hashes(loaded: &Loaded, files: &BTreeMap<String, String>, case: &Value) -> Map<String, Value> {
    let case = ("case".to_string(), hex(case.to_string().as_bytes()).into());
    let hash = |name: &str| Some((name.to_string(), files.get(name)?.clone().into()));
    std::iter::once(case).chain(loaded.case.files().into_iter().filter_map(hash)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_steps_back_ends_no_run() {
        let [short, long] = [1, 3].map(Duration::from_secs);
        assert_eq!(Timing::new(short, short, long).output_s, 1.0);
        assert_eq!(Timing::new(long, short, short).output_s, 0.0);
    }
}
