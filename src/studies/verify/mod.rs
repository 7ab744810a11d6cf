//! The verification book: every scheme on every problem with an exact or independent solution, each row with a stated
//! criterion.
//!
//! Chapters are problems; they make rows and, some of them, a figure. Rows are independent of each other and are made in
//! parallel, in an order that does not depend on it.

mod bars;
mod dissipation;
mod first_order;
mod points;
mod print;
mod saint_venant;
mod structures;

use super::{Outcome, Wish, first_line, run_prepared};
use crate::Result;
use crate::case::{self, Format, Loaded};
use crate::plot::{Axis, Curve, Plot};
use crate::run;
use crate::sinks::{Record, Sink};
use rayon::prelude::*;
use std::path::PathBuf;

/// A scheme with parameters.
pub struct Scheme {
    /// Name in tables.
    pub label: &'static str,
    /// Value of `scheme` in a case.
    pub table: &'static str,
    /// Order on smooth motions.
    pub order: u8,
}

/// The schemes of the book: every family, at the ends and in the middle of its range.
pub const SCHEMES: &[Scheme] = &[
    Scheme { label: "Moreau–Jean θ=½", table: r#"{ name = "moreau-jean", theta = 0.5 }"#, order: 2 },
    Scheme { label: "Moreau–Jean θ=1", table: r#"{ name = "moreau-jean", theta = 1.0 }"#, order: 1 },
    Scheme { label: "dissipative θ=½", table: r#"{ name = "moreau-jean-dissipative", theta = 0.5 }"#, order: 2 },
    Scheme { label: "dissipative θ=1", table: r#"{ name = "moreau-jean-dissipative", theta = 1.0 }"#, order: 1 },
    Scheme { label: "Newmark ½, ¼", table: r#"{ name = "newmark", gamma = 0.5, beta = 0.25 }"#, order: 2 },
    Scheme { label: "Newmark 1, 9/16", table: r#"{ name = "newmark", gamma = 1.0, beta = 0.5625 }"#, order: 1 },
    Scheme { label: "HHT 0.05", table: r#"{ name = "hht", alpha = 0.05 }"#, order: 2 },
    Scheme { label: "HHT 0.3", table: r#"{ name = "hht", alpha = 0.3 }"#, order: 2 },
    Scheme { label: "generalized-α 0", table: r#"{ name = "generalized-alpha", rho_inf = 0.0 }"#, order: 2 },
    Scheme { label: "generalized-α 0.6", table: r#"{ name = "generalized-alpha", rho_inf = 0.6 }"#, order: 2 },
    Scheme { label: "generalized-α 0.9", table: r#"{ name = "generalized-alpha", rho_inf = 0.9 }"#, order: 2 },
    Scheme { label: "generalized-α 1", table: r#"{ name = "generalized-alpha", rho_inf = 1.0 }"#, order: 2 },
    Scheme { label: "central differences", table: r#"{ name = "central-difference" }"#, order: 2 },
];

impl Scheme {
    fn explicit(&self) -> bool {
        self.table.contains("central-difference")
    }

    /// The `--set` argument.
    fn set(&self) -> String {
        format!("scheme={}", self.table)
    }
}

/// What a row must fulfil.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion {
    /// Within a tolerance of a value.
    Near(f64, f64),
    /// Smaller than a limit.
    Below(f64),
    /// Round-off: smaller than a limit, and different on other machines, so that documents show the limit alone.
    RoundOff(f64),
}

impl Criterion {
    fn holds(self, measured: f64) -> bool {
        match self {
            Criterion::Near(value, tolerance) => (measured - value).abs() <= tolerance,
            Criterion::Below(limit) | Criterion::RoundOff(limit) => measured < limit,
        }
    }
}

/// One thing that was verified.
#[derive(Clone, Debug)]
pub struct Row {
    /// What made it: a scheme, or a variant of the problem.
    pub scheme: String,
    /// What was measured.
    pub quantity: &'static str,
    /// Its value; NaN if the run failed.
    pub measured: f64,
    /// What it must fulfil.
    pub criterion: Criterion,
    /// Why there is no value.
    pub failure: Option<String>,
}

impl Row {
    fn new(scheme: &str, quantity: &'static str, measured: f64, criterion: Criterion) -> Row {
        Row { scheme: scheme.into(), quantity, measured, criterion, failure: None }
    }

    /// Whether the criterion is met; a value that is not a number meets none.
    pub fn holds(&self) -> bool {
        self.criterion.holds(self.measured)
    }
}

/// What a job gives: rows, and curves for the figure of its chapter.
#[derive(Default)]
struct Part {
    rows: Vec<Row>,
    curves: Vec<Curve>,
}

type Job = Box<dyn Fn() -> Result<Part> + Send + Sync>;

/// A problem before its jobs are done.
struct Plan {
    title: &'static str,
    text: &'static str,
    figure: Option<(&'static str, [Axis; 2])>,
    /// Names of the jobs, for those that fail.
    jobs: Vec<(String, Job)>,
}

impl Plan {
    /// A plan with one job per scheme.
    fn schemes(title: &'static str, text: &'static str, job: fn(&'static Scheme) -> Result<Part>) -> Plan {
        let jobs = SCHEMES.iter().map(|scheme| (scheme.label.to_string(), Box::new(move || job(scheme)) as Job));
        Plan { title, text, figure: None, jobs: jobs.collect() }
    }

    fn figure(self, name: &'static str, axes: [Axis; 2]) -> Plan {
        Plan { figure: Some((name, axes)), ..self }
    }
}

/// A problem with all that was verified on it.
pub struct Chapter {
    /// Heading.
    pub title: &'static str,
    /// What the problem is and where the reference comes from.
    pub text: &'static str,
    /// What was verified.
    pub rows: Vec<Row>,
    /// Name of a file, and the figure.
    pub figure: Option<(&'static str, Plot)>,
}

/// The whole book.
pub struct Book {
    /// Its chapters.
    pub chapters: Vec<Chapter>,
}

/// Runs everything, on the threads of the current pool.
pub fn verify() -> Book {
    let all = [
        points::plans(),
        bars::plans(),
        saint_venant::plans(),
        structures::plans(),
        dissipation::plans(),
        first_order::plans(),
    ];
    let plans = all.into_iter().flatten();
    let plans: Vec<Plan> = plans.collect();
    let parts: Vec<Vec<Part>> = plans
        .par_iter()
        .map(|plan| {
            plan.jobs.par_iter().map(|(name, job)| job().unwrap_or_else(|error| failed(name, &error))).collect()
        })
        .collect();
    let chapter = |(plan, parts): (Plan, Vec<Part>)| {
        let (mut rows, mut curves) = (Vec::new(), Vec::new());
        for part in parts {
            rows.extend(part.rows);
            curves.extend(part.curves);
        }
        let colored = curves.iter().filter(|curve: &&Curve| curve.color.is_some()).count();
        let mut colors = 0..colored;
        for curve in curves.iter_mut().filter(|curve| curve.color.is_some()) {
            curve.color = colors.next();
        }
        let figure = plan.figure.map(|(name, [x, y])| (name, Plot { title: plan.title.into(), x, y, curves }));
        Chapter { title: plan.title, text: plan.text, rows, figure }
    };
    Book { chapters: plans.into_iter().zip(parts).map(chapter).collect() }
}

fn failed(name: &str, error: &crate::Error) -> Part {
    let row = Row::new(name, "runs", f64::NAN, Criterion::Below(0.0));
    Part { rows: vec![Row { failure: Some(first_line(error)), ..row }], curves: Vec::new() }
}

/// A case from its text and overrides, without files.
fn case(text: &str, set: &[String]) -> Result<Loaded> {
    let case = case::parse(text, "verification", Format::Toml, set);
    let case = case.map_err(|failure| crate::Error::Input(failure.render(false)))?;
    Ok(Loaded {
        case,
        file: PathBuf::new(),
        dir: PathBuf::new(),
        name: "verification".into(),
        text: text.into(),
        overrides: set.to_vec(),
        allow_outside: false,
    })
}

/// A shipped case with overrides.
fn shipped(name: &str, set: &[String]) -> Result<Loaded> {
    let text = crate::cases::find(name).expect("the book names cases that ship").text;
    let set: Vec<String> = set.iter().cloned().chain(["expect={}".into()]).collect();
    case(text, &set)
}

/// What must hold in every step of every run, beside the solution itself.
#[derive(Default)]
struct Oracle {
    /// Largest defect of the storage identity; `None` without storage.
    storage_defect: Option<f64>,
    /// Largest growth of energy and of the storage function in a step.
    gains: [f64; 2],
    energy: f64,
}

impl Sink for Oracle {
    fn record(&mut self, record: &Record) -> Result<()> {
        let attempt = record.attempt;
        let storage = attempt.state.storage.as_ref();
        let energy = attempt.state.energy.total();
        if record.h > 0.0 {
            let growth = storage.map_or(0.0, |storage| storage.growth);
            self.gains = [self.gains[0].max(energy - self.energy), self.gains[1].max(growth)];
            if storage.is_some() {
                let defect = attempt.balance.storage_defect.abs();
                self.storage_defect = Some(self.storage_defect.unwrap_or(0.0).max(defect));
            }
        }
        self.energy = energy;
        Ok(())
    }
}

/// A run with its oracles.
struct Watched {
    outcome: Outcome,
    oracle: Oracle,
    linear: bool,
}

/// Runs a case; `more` sees every step too.
fn watch(loaded: &Loaded, probe: Option<&str>, more: &mut dyn Sink) -> Result<Watched> {
    let prepared = run::prepare(loaded)?;
    let mut oracle = Oracle::default();
    let wish = Wish(probe.map(str::to_string));
    let outcome = run_prepared(loaded, &prepared, &wish, &mut [&mut oracle, more])?;
    Ok(Watched { outcome, oracle, linear: prepared.system.linear })
}

/// Nobody else looks on.
struct Nobody;

impl Sink for Nobody {
    fn record(&mut self, _: &Record) -> Result<()> {
        Ok(())
    }
}

impl Watched {
    /// Rows of the identities that every run keeps.
    fn identities(&self, scheme: &Scheme) -> Vec<Row> {
        let (step, sum) = if self.linear { (1e-11, 1e-10) } else { (1e-10, 1e-9) };
        let ledger = &self.outcome.ledger;
        let row = |quantity, measured, limit| Row::new(scheme.label, quantity, measured, Criterion::RoundOff(limit));
        let mut rows = vec![row("ledger, a step", ledger.worst_step, step), row("ledger, sum", ledger.worst_sum, sum)];
        if !self.outcome.digest.contacts.is_empty() {
            rows.push(row("contact law", self.outcome.digest.complementarity, 1e-10));
        }
        if let Some(defect) = self.oracle.storage_defect.filter(|_| self.linear) {
            rows.push(row("storage, a step", defect / ledger.scale, 1e-11));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_is_in_the_book() {
        for kind in crate::schemes::SCHEMES.iter().filter(|kind| kind.row.is_some()) {
            let name = format!("name = \"{}\"", kind.name);
            assert!(SCHEMES.iter().any(|scheme| scheme.table.contains(&name)), "{name}");
        }
    }

    #[test]
    fn nothing_holds_without_a_value() {
        for criterion in [Criterion::Near(1.0, 1e9), Criterion::Below(1.0), Criterion::RoundOff(1.0)] {
            assert!(!criterion.holds(f64::NAN));
        }
        assert!(Criterion::Near(2.0, 0.1).holds(2.05) && !Criterion::Near(2.0, 0.1).holds(2.2));
    }
}
