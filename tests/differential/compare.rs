//! The history of a run beside that of the dense code, column by column and step by step.
//!
//! Rule: a value may differ by [`LINEAR`] or [`CURVED`] of the scale of its kind, the largest value of that kind up to the
//! step. The first value that differs by more ends the comparison of a model: as a **difference**, or as **cut short** if
//! what happens in that step is for round-off or for another convention to decide: a forecast that the dense code finds at
//! its threshold, a law with several solutions, a beam whose sections turn far in a step, or curved gaps that are corrected and of which other ones are active
//! (see [`excuse`]).

use super::books::{self, Record};
use super::common::history::History;
use super::generator::Model;
use super::problem::Problem;
use carom::case::{Format, Loaded, parse};
use std::collections::BTreeMap;

/// Growth of round-off over some forty steps with impacts, of the scale of a column.
const LINEAR: f64 = 1e-9;
/// The same with what Newton's method leaves, where forces or gaps are curved.
const CURVED: f64 = 1e-8;

/// Columns that say how a program came to its result.
const EFFORT: [&str; 4] = ["newton", "factorizations", "sweeps", "complementarity"];

/// What came of one model.
#[derive(Debug)]
pub enum Outcome {
    /// Equal in all steps: the largest difference in parts of the scale, and what carom says of contacts without any force.
    Equal(f64, Vec<String>),
    /// Equal until a decision that round-off makes.
    CutShort(String),
    /// Equal until one of the programs gave up: carom would cut the step, which these cases forbid.
    Stopped(String),
    /// carom does not accept the model.
    Refused(String),
    Different(String),
}

/// Runs carom on a model, its tables in a directory of their own.
fn carom(model: &Model) -> Result<(History, Option<String>), String> {
    let dir = tempfile::tempdir().expect("a directory for tables");
    for (name, content) in &model.files {
        std::fs::write(dir.path().join(name), content).expect("a table is written");
    }
    let case = parse(&model.case, "model.toml", Format::Toml, &[]).map_err(|failure| failure.render(false))?;
    let loaded = Loaded {
        case,
        file: dir.path().join("model.toml"),
        dir: dir.path().into(),
        name: "model".into(),
        text: model.case.clone(),
        overrides: vec![],
        allow_outside: true,
    };
    let (history, result) = super::common::history::try_run(&loaded);
    match result {
        Err(error) if history.rows.is_empty() => Err(error.to_string()),
        result => Ok((history, result.err().map(|error| error.to_string()))),
    }
}

/// Kinds of columns that share a scale.
fn kind(name: &str) -> &'static str {
    let last = name.rsplit('.').next().unwrap_or(name);
    match name {
        "step" | "active" => "count",
        "time" => "time",
        "min_gap" => "length",
        "impulse" => "impulse",
        _ if name.starts_with("probe.") => match last {
            "theta" => "angle",
            "vtheta" => "spin",
            "x" | "y" => "length",
            _ => "speed",
        },
        _ if name.starts_with("contact.") => match last {
            "gap" => "length",
            "impulse" => "impulse",
            _ => "force",
        },
        _ => "energy",
    }
}

/// Runs both programs and compares.
pub fn compare(model: &Model) -> Outcome {
    let (history, failed) = match carom(model) {
        Ok(done) => done,
        Err(refusal) => return Outcome::Refused(refusal),
    };
    let problem = Problem::read(&model.case, &model.files);
    let (records, stuck) = books::run(&problem);
    let allowed = if problem.linear && !problem.ggl { LINEAR } else { CURVED };
    let mut scales: BTreeMap<&str, f64> = BTreeMap::new();
    let mass: f64 = problem.mass.diagonal().sum();
    let step = problem.instants[1];
    let (mut worst, mut before) = (0.0_f64, 0.0_f64);
    for (k, (row, record)) in history.rows.iter().zip(&records).enumerate() {
        // The scale of a kind is its largest value so far, with floors that make zero comparable.
        for (name, &value) in history.names.iter().zip(row) {
            let scale = scales.entry(kind(name)).or_insert(0.0);
            *scale = scale.max(if value.is_nan() { 0.0 } else { value.abs() });
        }
        let speed = scales.get("speed").copied().unwrap_or(0.0).max(1e-3 * problem.length / step);
        for (kind, floor) in [
            ("length", problem.length),
            ("speed", speed),
            ("angle", 1.0),
            ("spin", speed / problem.length),
            ("impulse", 0.1 * mass * speed),
            ("force", 0.1 * mass * speed / step),
            ("energy", 0.1 * mass * speed * speed),
        ] {
            scales.entry(kind).and_modify(|scale| *scale = scale.max(floor));
        }
        let mut differences: Vec<(f64, String)> = vec![];
        for (name, &value) in history.names.iter().zip(row) {
            let Some(&dense) = record.values.get(name) else { continue };
            if EFFORT.contains(&name.as_str()) {
                continue;
            }
            let difference = difference(value, dense) / scales[kind(name)].max(f64::MIN_POSITIVE);
            differences.push((difference, format!("{name} is {value:e}, the dense code has {dense:e}")));
        }
        differences.sort_by(|a, b| b.0.total_cmp(&a.0));
        let largest = differences.first().map_or(0.0, |(difference, _)| *difference);
        if largest > allowed {
            let active = history.names.iter().position(|name| name == "active").map(|column| row[column]);
            let other = active.is_some_and(|active| active != record.values.get("active").copied().unwrap_or(active));
            return excuse(&problem, k, record, before, other)
                .unwrap_or_else(|| Outcome::Different(different(&problem, k, record, before, &differences)));
        }
        before = largest;
        worst = worst.max(before);
    }
    if let Some(reason) = stuck.filter(|_| history.rows.len() >= records.len()) {
        let who = failed.map_or("the dense code alone".into(), |error| format!("both; carom: {error}"));
        return Outcome::Stopped(format!("step {}: {reason}: {who}", records.len()));
    }
    if let Some(error) = failed {
        return Outcome::Stopped(format!("carom alone: {error}"));
    }
    if history.rows.len() != records.len() {
        return Outcome::Different(format!("{} rows, the dense code has {}", history.rows.len(), records.len()));
    }
    Outcome::Equal(worst, history.silent)
}

fn difference(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0.0,
        (false, false) => (a - b).abs(),
        _ => f64::INFINITY,
    }
}

/// What excuses a difference; `other` says that other contacts are active.
///
/// With position correction a contact is active if its gap would be closed without any contact. The dense code makes the
/// step without contact to see it; carom takes the gap of the last pass less what contact did to it in that pass, which
/// is the same for straight gaps only.
fn excuse(problem: &Problem, k: usize, record: &Record, before: f64, other: bool) -> Option<Outcome> {
    let why = if record.margin <= 4e-12 + 10.0 * before {
        format!("a forecast within {:.1e} of its threshold", record.margin)
    } else if let Some(doubt) = record.doubt {
        doubt.into()
    } else if other && problem.ggl && problem.is_curved() {
        "corrected contacts of curved gaps, of which other ones are active".into()
    } else {
        return None;
    };
    Some(Outcome::CutShort(format!("step {k}: {why}")))
}

/// The values that differ most.
fn different(problem: &Problem, k: usize, record: &Record, before: f64, differences: &[(f64, String)]) -> String {
    let steps = problem.instants.len() - 1;
    let most: Vec<String> = differences.iter().take(8).map(|(part, what)| format!("{what} ({part:.1e})")).collect();
    format!(
        "step {k} of {steps}: {}; in the step before {before:.1e}; nearest threshold {:.1e}",
        most.join("; "),
        record.margin
    )
}
