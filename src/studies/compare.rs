//! Schemes side by side on one case: what each loses, how rough its forces are, how far off it is.

use super::known::{IMPACTING_BAR, Known};
use super::{Outcome, Reference, Track, Wish, cell, first_line, graph_of, prospect, run, with_axis};
use crate::canvas::escape;
use crate::case::Loaded;
use crate::case::data::Analysis;
use crate::norms;
use crate::plot::{Axis, Curve, Plot};
use crate::summary::figure;
use crate::{Result, schemes};
use rayon::prelude::*;
use std::fmt::Write;

/// Quantities of a scheme: column of `compare.csv`, and words.
const QUANTITIES: [(&str, &str); 15] = [
    ("energy_final", "energy at the end"),
    ("lost_contact", "lost to contact"),
    ("lost_scheme", "lost to the scheme"),
    ("force_peak", "peak force"),
    ("force_plateau", "plateau of the force"),
    ("force_roughness", "roughness of the force"),
    ("force_l1", "force error, L1"),
    ("release", "release"),
    ("penetration", "deepest penetration"),
    ("position_l1", "position error, L1"),
    ("position_graph", "position error, graph"),
    ("velocity_l1", "velocity error, L1"),
    ("velocity_graph", "velocity error, graph"),
    ("steps", "steps"),
    ("passes_per_step", "Newton passes per step"),
];

/// A scheme and how it did.
pub struct Entry {
    /// Name with all parameters.
    pub label: String,
    /// Its run, or why there is none.
    pub result: Result<Run>,
}

/// A run of a scheme.
pub struct Run {
    /// Values of the quantities; NaN where there is none.
    values: [f64; QUANTITIES.len()],
    track: Track,
    /// Wall-clock microseconds per step; never written to files.
    pub micros: f64,
}

/// Schemes side by side.
pub struct Comparison {
    title: String,
    column: String,
    /// Exact curves of position, velocity and force, where known.
    exact: [Option<Curve>; 3],
    against: Option<&'static str>,
    /// The schemes as they were given.
    pub entries: Vec<Entry>,
}

/// `--set` arguments of a specification: a scheme by name or as the text of its table, and after semicolons overrides
/// of this entry alone. Without a scheme the case's own stays.
///
/// ```
/// use carom::studies::compare::overrides;
///
/// assert_eq!(overrides("moreau-jean"), ["scheme={ name = \"moreau-jean\" }"]);
/// assert_eq!(overrides("; time.step=1e-4"), ["time.step=1e-4"]);
/// ```
pub fn overrides(spec: &str) -> Vec<String> {
    let mut parts = spec.split(';').map(str::trim);
    let scheme = match parts.next().unwrap_or_default() {
        "" => None,
        table if table.contains('=') => Some(format!("scheme={{ {table} }}")),
        name => Some(format!("scheme={{ name = \"{name}\" }}")),
    };
    scheme.into_iter().chain(parts.filter(|part| !part.is_empty()).map(str::to_string)).collect()
}

/// The schemes of the source paper for the bar on a wall, its Figures 8 and 9; the last two show what finer steps bring.
const PAPER_BAR: &[&str] = &[
    "name = \"generalized-alpha\", rho_inf = 0.6",
    "name = \"moreau-jean\", theta = 1.0",
    "name = \"newmark\", gamma = 1.0, beta = 0.5625",
    "name = \"moreau-jean\", theta = 1.0; time.step=2e-4",
    "name = \"moreau-jean\", theta = 1.0; time.step=2e-5",
];

/// The schemes of the source paper for the rotating beam, its Figures 10 and 11; the last two show what finer steps bring.
const PAPER_BEAM: &[&str] = &[
    "name = \"generalized-alpha\", rho_inf = 0.65",
    "name = \"moreau-jean\", theta = 1.0",
    "name = \"newmark\", gamma = 1.0, beta = 0.5625",
    "name = \"moreau-jean\", theta = 1.0; time.step=2e-5",
    "name = \"moreau-jean\", theta = 1.0; time.step=1e-5",
];

/// Implicit, of second order, and with multipliers of the end alone, as other programs have them.
const THETAS: &[&str] = &[
    "",
    "name = \"theta\", theta = 1.0",
    "name = \"theta\", theta = 0.5",
    "name = \"theta\", theta = 0.5, omega = 1.0",
];

/// Specifications that are compared if none is given: those of the source paper for a bar on a wall and for the case
/// `rotating-beam`, otherwise the case's own with two that frame it.
pub fn usual(loaded: &Loaded, wish: &Wish) -> Result<Vec<&'static str>> {
    let (_, known) = prospect(loaded, wish)?;
    Ok(match known {
        Some(Known { problem: IMPACTING_BAR, .. }) => PAPER_BAR.to_vec(),
        _ if loaded.name == "rotating-beam" => PAPER_BEAM.to_vec(),
        _ if loaded.case.analysis == Analysis::FirstOrder => THETAS.to_vec(),
        _ => vec!["", "name = \"moreau-jean\", theta = 1.0", "newmark"],
    })
}

/// Runs all variants on the threads of the current pool.
pub fn compare(variants: &[Loaded], specs: &[String], wish: &Wish) -> Result<Comparison> {
    let wish = &with_axis(&variants[0], wish)?;
    let (column, known) = prospect(&variants[0], wish)?;
    let result = |loaded: &Loaded| run(loaded, wish).map(|outcome| measure(outcome, loaded.case.time.end));
    let results: Vec<Result<Run>> = variants.par_iter().map(result).collect();
    let entries = results.into_iter().zip(variants.iter().zip(specs));
    let end = variants[0].case.time.end;
    let curve = |f: &dyn Fn(f64) -> f64| {
        let points = graph_of(f, end, 1e-4).points().to_vec();
        Curve { color: None, dashed: true, ..Curve::new("exact", points) }
    };
    Ok(Comparison {
        title: variants[0].case.title.clone(),
        column,
        against: known.as_ref().map(|known| known.problem),
        exact: match &known {
            Some(known) => {
                let force = known.force.as_ref().map(|force| curve(force));
                [Some(curve(&known.position)), Some(curve(&known.velocity)), force]
            }
            None => [None, None, None],
        },
        entries: entries.map(|(result, (loaded, spec))| Entry { label: label(loaded, spec), result }).collect(),
    })
}

/// Scheme with its parameters in the order of the registry, and what else is particular to the entry.
fn label(loaded: &Loaded, spec: &str) -> String {
    let scheme = &loaded.case.scheme;
    let mut text = scheme.name.clone();
    if loaded.case.analysis == Analysis::FirstOrder {
        text = scheme.parameters.iter().fold(text, |text, (key, value)| format!("{text} {key}={value}"));
    }
    for key in schemes::find(&scheme.name).map_or(&[][..], |kind| kind.keys) {
        if let Some(value) = scheme.parameters.get(key.name) {
            text += &match value {
                schemes::Value::Number(x) => format!(" {}={}", key.name, (x * 1e6).round() / 1e6),
                word => format!(" {}={word}", key.name),
            };
        }
    }
    if scheme.position == crate::case::data::Position::Ggl {
        text += " ggl";
    }
    let more = spec.split(';').skip(1).map(str::trim).filter(|part| !part.is_empty());
    more.fold(text, |text, part| format!("{text}; {part}"))
}

fn measure(outcome: Outcome, end: f64) -> Run {
    let Outcome { track, digest, energy, ledger, stepping, known, .. } = outcome;
    // The contact that was closed longest speaks for all.
    let span =
        |c: &&crate::sinks::episodes::ContactDigest| c.longest().map_or(0.0, |episode| episode.end - episode.start);
    let contact = digest.contacts.iter().max_by(|a, b| span(a).total_cmp(&span(b)));
    let longest = contact.and_then(|contact| contact.longest());
    let or_none = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let errors = known.as_ref().map(|known| Reference::exact(known, end).errors(&track));
    let error = |part: usize, graph: bool| or_none(errors.map(|e| if graph { e[part].graph } else { e[part].l1 }));
    let force = known.as_ref().and_then(|known| known.force.as_ref()).map(|force| {
        // The force of a step is its mean over the step: measured at the middle.
        let middle = |pair: &[f64]| force(0.5 * (pair[0] + pair[1]));
        let exact: Vec<f64> = track.times.windows(2).map(middle).collect();
        norms::relative_l1(&track.force[1..], &exact)
    });
    let steps = digest.steps as f64;
    let values = [
        energy,
        -ledger.sum.contact,
        -ledger.sum.scheme,
        or_none(contact.map(|contact| contact.peak)),
        or_none(longest.and_then(|episode| episode.plateau())),
        or_none(contact.and_then(|contact| contact.longest()?.roughness())),
        or_none(force),
        or_none(longest.map(|episode| episode.end)),
        if digest.contacts.is_empty() { f64::NAN } else { digest.penetration },
        error(0, false),
        error(0, true),
        error(1, false),
        error(1, true),
        steps,
        digest.passes as f64 / steps,
    ];
    Run { values, track, micros: 1e6 * stepping.as_secs_f64() / steps }
}

impl Comparison {
    /// Number of runs that failed.
    pub fn failures(&self) -> usize {
        self.entries.iter().filter(|entry| entry.result.is_err()).count()
    }

    /// The table for the terminal, with wall-clock times: a column per scheme.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n{}\n\n", self.title, self.measure());
        let mut line = |words: String| writeln!(text, "{}", words.trim_end()).expect("writing to a string cannot fail");
        for (letter, entry) in letters().zip(&self.entries) {
            match &entry.result {
                Ok(_) => line(format!("{letter:>4}  {}", entry.label)),
                Err(error) => line(format!("{letter:>4}  {}  failed: {}", entry.label, first_line(error))),
            }
        }
        let cells = |cells: Vec<String>| cells.iter().map(|cell| format!("{cell:>13}")).collect::<String>();
        line(String::new());
        line(format!("{:<24}{}", "", cells(letters().take(self.entries.len()).collect())));
        for (words, values) in self.rows() {
            line(format!("{words:<24}{}", cells(values)));
        }
        let micros = |entry: &Entry| entry.result.as_ref().map_or("failed".into(), |run| format!("{:.1}", run.micros));
        line(format!("{:<24}{}", "microseconds per step", cells(self.entries.iter().map(micros).collect())));
        text
    }

    /// `compare.csv`: a row per scheme.
    pub fn csv(&self) -> String {
        let mut text = format!("scheme,status,{}\n", QUANTITIES.map(|(key, _)| key).join(","));
        for entry in &self.entries {
            let row = match &entry.result {
                Ok(run) => format!("ok,{}", run.values.map(cell).join(",")),
                Err(_) => format!("failed{}", ",".repeat(QUANTITIES.len())),
            };
            let label = entry.label.replace('"', "\"\"");
            writeln!(text, "\"{label}\",{row}").expect("writing to a string cannot fail");
        }
        text
    }

    /// Position, velocity, force and energy, each with the name of its file.
    pub fn figures(&self) -> [(&'static str, Plot); 4] {
        let plot = |what: &str, y: &str, values: fn(&Track) -> &[f64], exact: &Option<Curve>| {
            let curves = self.entries.iter().enumerate().filter_map(|(k, entry)| {
                let track = &entry.result.as_ref().ok()?.track;
                let points = track.times.iter().zip(values(track)).map(|(&t, &x)| [t, x]).collect();
                Some(Curve { color: Some(k), ..Curve::new(&entry.label, points) })
            });
            Plot {
                title: format!("{}: {what}", self.title),
                x: Axis::linear("time"),
                y: Axis::linear(y),
                curves: curves.chain(exact.clone()).collect(),
            }
        };
        let [position, velocity, force] = &self.exact;
        let rate = format!("velocity of {}", self.column);
        let mut forces = plot("contact force", "force", |track| &track.force, force);
        // The impulse that stops the first node makes a peak that grows with 1/h and would hide all others.
        if let Some(exact) = force {
            let top = 1.5 * exact.points.iter().map(|point| point[1]).fold(0.0, f64::max);
            forces.y = Axis { most: Some(top), ..Axis::linear("force (higher peaks are cut)") };
        }
        [
            ("position", plot("position", &self.column, |track| &track.position, position)),
            ("velocity", plot("velocity", &rate, |track| &track.velocity, velocity)),
            ("force", forces),
            ("energy", plot("energy", "total energy", |track| &track.energy, &None)),
        ]
    }

    /// `compare.html`: table and figures on one page that needs nothing else.
    pub fn page(&self) -> String {
        let title = escape(&self.title);
        let mut text = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}: schemes compared</title>\n\
             <style>{STYLE}</style>\n<h1>{title}</h1>\n<p>{}</p>\n<div class=\"wide\"><table>\n<tr><th></th>",
            escape(&self.measure())
        );
        let mut put = |words: String| text.push_str(&words);
        for entry in &self.entries {
            put(format!("<th>{}</th>", escape(&entry.label)));
        }
        put("</tr>\n".into());
        for (words, values) in self.rows() {
            let cells: String = values.iter().map(|value| format!("<td>{value}</td>")).collect();
            put(format!("<tr><th>{words}</th>{cells}</tr>\n"));
        }
        put("</table></div>\n".into());
        for entry in &self.entries {
            if let Err(error) = &entry.result {
                put(format!("<p class=\"bad\">{} failed: {}</p>\n", escape(&entry.label), escape(&first_line(error))));
            }
        }
        put("<div class=\"figures\">\n".into());
        for (_, plot) in self.figures() {
            put(format!("<figure>\n{}</figure>\n", plot.svg()));
        }
        text + "</div>\n</html>\n"
    }

    fn measure(&self) -> String {
        match self.against {
            Some(problem) => format!("{}; errors against the exact solution ({problem})", self.column),
            None => format!("{}; no exact solution is known for this case", self.column),
        }
    }

    /// Words and formatted values of the quantities that any scheme has.
    fn rows(&self) -> Vec<(String, Vec<String>)> {
        let value = |k: usize| {
            move |entry: &Entry| match &entry.result {
                Err(_) => "failed".to_string(),
                Ok(run) if run.values[k].is_nan() => "-".to_string(),
                Ok(run) => short(QUANTITIES[k].0, run.values[k]),
            }
        };
        let told = |k: &usize| {
            let mut runs = self.entries.iter().filter_map(|entry| entry.result.as_ref().ok());
            runs.any(|run| !run.values[*k].is_nan())
        };
        let row = |k: usize| match QUANTITIES[k] {
            ("lost_contact", _) => self.work("contact", k),
            ("lost_scheme", _) => self.work("the scheme", k),
            (_, words) => (words.to_string(), self.entries.iter().map(value(k)).collect()),
        };
        (0..QUANTITIES.len()).filter(told).map(row).collect()
    }

    /// A row of works in words that fit their signs: what all schemes lose, what all gain, or a mixture with signs.
    fn work(&self, source: &str, k: usize) -> (String, Vec<String>) {
        let lost: Vec<Option<f64>> =
            self.entries.iter().map(|entry| entry.result.as_ref().ok().map(|run| run.values[k])).collect();
        let all = |fits: fn(f64) -> bool| lost.iter().flatten().all(|&lost| fits(lost));
        let (words, sign) = match (all(|lost| lost >= 0.0), all(|lost| lost <= 0.0)) {
            (true, _) => (format!("lost to {source}"), 1.0),
            (_, true) => (format!("gained from {source}"), -1.0),
            _ => (format!("work of {source}"), -1.0),
        };
        // No signs on zeros.
        let told = |lost: &Option<f64>| lost.map_or("failed".to_string(), |lost| figure(sign * lost + 0.0));
        (words, lost.iter().map(told).collect())
    }
}

/// Counts as such, errors with three digits, everything else with six.
fn short(key: &str, value: f64) -> String {
    match key {
        "steps" => format!("{value}"),
        "passes_per_step" => format!("{value:.2}"),
        "force_roughness" | "penetration" => format!("{value:.2e}"),
        _ if key.ends_with("_l1") || key.ends_with("_graph") => format!("{value:.2e}"),
        _ => figure(value),
    }
}

/// A, B, …, Z, then numbers.
fn letters() -> impl Iterator<Item = String> {
    ('A'..='Z').map(String::from).chain((27..).map(|k: usize| k.to_string()))
}

/// Full width, two figures side by side where there is room, and dark where the reader's system is: the figures are drawn
/// for white paper, so that they are turned over as a whole.
const STYLE: &str = ":root { color-scheme: light dark; --page: #f4f6f9; --card: #fff; --ink: #1b2430; --line: #d8dee7; --bad: #c0282d; } \
body { margin: 0; padding: 16px 24px; background: var(--page); color: var(--ink); \
font: 15px/1.45 system-ui, 'DejaVu Sans', sans-serif; } h1 { font-size: 24px; margin: 0; } \
.wide { overflow-x: auto; } table { border-collapse: collapse; background: var(--card); font-size: 13px; } \
th, td { border: 1px solid var(--line); padding: 3px 8px; text-align: right; font-variant-numeric: tabular-nums; } \
th { font-weight: 600; max-width: 12em; } tr > th:first-child { text-align: left; max-width: none; white-space: nowrap; } \
.bad { color: var(--bad); } .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 560px), 1fr)); \
gap: 16px; margin-top: 16px; } figure { margin: 0; } \
svg { display: block; width: 100%; height: auto; border: 1px solid var(--line); border-radius: 8px; } \
@media (prefers-color-scheme: dark) { :root { --page: #10141a; --card: #191f28; --ink: #e7ebf1; --line: #313b49; --bad: #ff8589; } \
svg { filter: invert(0.9) hue-rotate(180deg); } } \
@media print { :root { --page: #fff; --card: #fff; --ink: #1b2430; } body { padding: 0; } figure { break-inside: avoid; } svg { filter: none; } }";
