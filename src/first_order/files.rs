//! A run from a loaded case to its files, or to its summary alone.

use super::march::{Company, Course, march};
use super::record::{Reader, Row, names};
use super::solvability;
use super::system::System;
use crate::advice::{self, Advice};
use crate::case::Loaded;
use crate::case::data::Case;
use crate::checkpoint::{Checkpoint, Checkpointer, Identity, Rhythm};
use crate::directory::{Directory, Manifest};
use crate::files::write_atomically;
use crate::ledger::Ledger;
use crate::methods::{Attempt, KeptFactors};
use crate::sinks::history::Sheet;
use crate::sinks::{Record, Sink, pack, unpack};
use crate::state::{Energy, State};
use crate::summary::{SCHEMA, Summary, Timing, figure, hashes};
use crate::{Error, Result};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// Columns that hold whole numbers.
const COUNTS: [&str; 4] = ["step", "active", "newton", "sweeps"];

/// How a run is made, beside its case.
pub struct Request<'a> {
    /// Whether an earlier run in the directory is removed.
    pub force: bool,
    /// Whether the run goes on from the checkpoint in its directory.
    pub resume: bool,
    /// Asked after every step whether to stop, and why.
    pub stop: &'a dyn Fn() -> Option<Error>,
    /// Sees the time of every accepted step (a progress bar).
    pub extra: &'a mut dyn Sink,
    /// Makes the page of a run whose summary is written.
    pub page: &'a dyn Fn(&str) -> Result<()>,
}

/// The system of a case, with what is wrong told with its line.
pub fn prepare(loaded: &Loaded) -> Result<System> {
    System::new(&loaded.case).map_err(|error| loaded.placed(error))
}

/// Runs a case and writes its files into `out`.
pub fn run(loaded: &Loaded, out: &Path, request: Request) -> Result<Summary> {
    let clock = Instant::now();
    let case = &loaded.case;
    let system = prepare(loaded)?;
    // What cannot even start must not cost the user the results of an earlier run.
    let start = super::march::start(&system).map_err(|error| loaded.placed(error))?;
    solvability::refuse_degree(&system, &start.point).map_err(|error| loaded.placed(error))?;
    let identity = Identity::new(loaded)?;
    let manifest = Manifest::of_first_order(&resolved(case));
    let directory = if request.resume { Directory::enter(out)? } else { Directory::make(out)? };
    let from = match request.resume {
        false => {
            directory.begin(&manifest, request.force, request.stop)?;
            None
        }
        true => {
            let checkpoint = Checkpoint::read(out)?;
            checkpoint.identity.demand(&identity)?;
            directory.go_on(&manifest)?;
            Some(checkpoint)
        }
    };
    let columns = names(&system);
    let settings = &case.output.history;
    let whole: Vec<bool> = columns.iter().map(|name| COUNTS.contains(&name.as_str())).collect();
    let mut sheet = Sheet::new(out, &columns, &whole, settings.format);
    let saved = from.as_ref().map(|checkpoint| &checkpoint.sinks);
    sheet.begin(saved.and_then(|saved| saved.get(1)).map(Vec::as_slice))?;
    let from = saved.and_then(|saved| saved.first()).map(|bytes| unpack::<Course>(bytes)).transpose()?;
    let files = identity.files.clone();
    let mut checkpointer = Checkpointer::new(out, identity, Rhythm::of(case));
    let mut history = HistoryRows { sheet, every: settings.every as u64, count: super::grid::Grid::new(case).count() };
    let mut bar = Bar { extra: request.extra, attempt: Attempt::default() };
    let setup = clock.elapsed();
    let mut after = |course: &Course, readers: &mut [&mut dyn Reader]| {
        let stopped = (request.stop)();
        if course.step == 0 || stopped.is_some() || checkpointer.due() {
            checkpointer.keep(|identity| checkpoint(identity, course, readers))?;
        }
        stopped.map_or(Ok(()), Err)
    };
    let company = Company { readers: vec![&mut history, &mut bar], from, after: &mut after };
    let result = march(&system, case, company);
    // What was recorded before a failure is worth keeping, and complete up to there.
    let finished = history.sheet.save().and(bar.extra.finish());
    let (course, stepping) = result.map_err(|error| loaded.placed(error))?;
    finished?;
    let timing = Timing::new(setup, stepping, clock.elapsed());
    let summary = summary(loaded, &system, &course, (timing, &files));
    let text = serde_json::to_string_pretty(&summary).expect("a summary is plain data");
    write_atomically(&out.join("summary.json"), text.as_bytes())?;
    if case.output.report {
        (request.page)(&text)?;
    }
    checkpointer.done()?;
    Ok(summary)
}

/// Runs a case for its summary alone; a checkpoint is kept in `dir` if the run lasts or is stopped.
pub fn measure(loaded: &Loaded, dir: Option<&Path>, stop: &dyn Fn() -> Option<Error>) -> Result<Summary> {
    let clock = Instant::now();
    let system = prepare(loaded)?;
    let identity = Identity::new(loaded)?;
    let from = dir.map(Checkpoint::usable).transpose()?.flatten().filter(|it| it.identity.demand(&identity).is_ok());
    let from = from.as_ref().and_then(|it| it.sinks.first()).map(|bytes| unpack::<Course>(bytes)).transpose()?;
    let files = identity.files.clone();
    let mut checkpointer = dir.map(|dir| Checkpointer::late(dir, identity, Rhythm::of(&loaded.case)));
    let setup = clock.elapsed();
    let mut after = |course: &Course, readers: &mut [&mut dyn Reader]| {
        let stopped = stop();
        if let Some(checkpointer) = &mut checkpointer
            && (checkpointer.due() || stopped.is_some())
        {
            checkpointer.keep(|identity| checkpoint(identity, course, readers))?;
        }
        stopped.map_or(Ok(()), Err)
    };
    let company = Company { readers: Vec::new(), from, after: &mut after };
    let (course, stepping) = march(&system, &loaded.case, company).map_err(|error| loaded.placed(error))?;
    checkpointer.map_or(Ok(()), |checkpointer| checkpointer.done())?;
    let timing = Timing { output_s: 0.0, ..Timing::new(setup, stepping, clock.elapsed()) };
    Ok(summary(loaded, &system, &course, (timing, &files)))
}

/// Runs a case without files; `reader` sees every row. The time spent in steps comes back too.
pub fn watch(loaded: &Loaded, reader: &mut dyn Reader) -> Result<(System, Course, Duration)> {
    let system = prepare(loaded)?;
    let company = Company { readers: vec![reader], from: None, after: &mut |_, _| Ok(()) };
    let (course, stepping) = march(&system, &loaded.case, company).map_err(|error| loaded.placed(error))?;
    Ok((system, course, stepping))
}

/// A checkpoint: the run itself stands where sinks save what they know, as the first of them.
fn checkpoint(identity: Identity, course: &Course, readers: &mut [&mut dyn Reader]) -> Result<Checkpoint> {
    let mut sinks = vec![pack(course)];
    for reader in readers {
        sinks.push(reader.save()?);
    }
    let (start, state, ledger, kept) = (Energy::default(), State::default(), Ledger::default(), KeptFactors::default());
    Ok(Checkpoint { identity, start, state, ledger, kept, pace: Vec::new(), sinks })
}

/// Rows for the history, one in so many equal steps.
struct HistoryRows {
    sheet: Sheet,
    every: u64,
    count: u64,
}

impl Reader for HistoryRows {
    fn take(&mut self, row: &Row) -> Result<()> {
        let wanted = self.every == 1 || row.reached.is_multiple_of(self.every) || row.reached == self.count;
        if wanted { self.sheet.append(row.values) } else { Ok(()) }
    }

    fn save(&mut self) -> Result<Vec<u8>> {
        self.sheet.save()
    }
}

/// A progress bar, which asks for the time and the stored energy.
struct Bar<'a> {
    extra: &'a mut dyn Sink,
    attempt: Attempt,
}

impl Reader for Bar<'_> {
    fn take(&mut self, row: &Row) -> Result<()> {
        self.attempt.state.time = row.time;
        self.attempt.state.energy.strain = if row.values[3].is_nan() { 0.0 } else { row.values[3] };
        let (attempt, ledger) = (&self.attempt, &Ledger::default());
        self.extra.record(&Record { h: row.h, grid: Some(row.reached), from: &attempt.state, attempt, ledger })
    }
}

/// The case with every default spelled out, as a case file that runs to the same result: what only structures have is
/// left out.
pub fn resolved(case: &Case) -> Value {
    let mut value = serde_json::to_value(case).expect("a case is plain data");
    let object = value.as_object_mut().expect("a case is a table");
    object.remove("guards");
    for (table, keys) in [("scheme", &["position", "forecast"][..]), ("solver", &["contact"])] {
        if let Some(table) = object.get_mut(table).and_then(Value::as_object_mut) {
            keys.iter().for_each(|key| {
                table.remove(*key);
            });
        }
    }
    value
}

type Measured<'a> = (Timing, &'a std::collections::BTreeMap<String, String>);

fn summary(loaded: &Loaded, system: &System, course: &Course, (timing, files): Measured) -> Summary {
    let case = resolved(&loaded.case);
    let advice: Vec<Advice> = super::review::advise(&loaded.case, system);
    let sum = &course.sum;
    let energy = match system.stores() {
        false => json!({}),
        true => json!({
            "initial": course.start,
            "final": course.point.stored,
            "scale": course.scale,
            "work_smooth": sum.smooth,
            "work_source": sum.source,
            "work_law": sum.law,
            "work_jump": sum.jump,
            "work_scheme": sum.scheme,
            "work_curvature": sum.curvature,
            "defect": sum.defect,
            "law_leak": sum.leak,
        }),
    };
    let levels: Vec<Value> =
        course.levels.iter().map(|[steps, passes]| json!({ "steps": steps, "passes": passes })).collect();
    let mut counts = json!({ "newton": course.all_passes, "factorizations": 0, "sweeps": course.all_pivots });
    if !levels.is_empty() {
        counts["levels"] = levels.into();
    }
    Summary {
        schema: SCHEMA,
        status: "completed",
        version: env!("CARGO_PKG_VERSION"),
        title: loaded.case.title.clone(),
        hashes: hashes(loaded, files, &case),
        case,
        nodes: 0,
        elements: 0,
        dofs: system.size(),
        candidates: 0,
        factorization: "dense",
        steps: course.step,
        energy,
        defect: json!({ "step": course.worst[0], "run": course.worst[1] }),
        penetration: 0.0,
        complementarity: course.worst_complementarity,
        closings: 0,
        contacts: Map::new(),
        unstable: None,
        counts,
        probes: Map::new(),
        key_results: Map::new(),
        origin: None,
        columns: course.extremes.json(&names(system)),
        variation: Some(course.variation),
        bodies: Vec::new(),
        placed_advice: advice::placed(&advice, loaded),
        advice: advice.into_iter().map(|advice| advice.text).collect(),
        lines: Some(lines(system, course)),
        timing,
    }
}

/// What a run ends with in the terminal.
fn lines(system: &System, course: &Course) -> Vec<[String; 2]> {
    let (states, laws, rows) = (system.size(), system.laws.len(), system.constraints.len());
    let mut lines = vec![
        ["model".to_string(), format!("states {states}, laws {laws}, constraints {rows}")],
        ["steps".into(), course.step.to_string()],
    ];
    if system.stores() {
        lines.push(["stored at the start".into(), figure(course.start)]);
        lines.push(["stored at the end".into(), figure(course.point.stored)]);
        let sum = &course.sum;
        for (work, what) in [
            (sum.smooth, "the smooth part"),
            (sum.source, "sources"),
            (sum.law, "laws"),
            (sum.jump, "constraints"),
            (sum.scheme, "the scheme"),
            (sum.curvature, "curvature"),
        ] {
            if work != 0.0 {
                let way = if work > 0.0 { "from" } else { "to" };
                lines.push([format!("  {way} {what}"), figure(work.abs())]);
            }
        }
        let words = format!("{:.1e} of the storage in a step, {:.1e} in all", course.worst[0], course.worst[1]);
        lines.push(["worst defect".into(), words]);
    }
    for (name, x) in system.states.iter().zip(&course.point.x) {
        lines.push([format!("{name} at the end"), figure(*x)]);
    }
    if !system.rows.is_empty() {
        lines.push(["way of the states".into(), figure(course.variation)]);
    }
    for [steps, passes] in &course.levels {
        lines.push([format!("{steps} steps"), format!("{passes} Newton passes")]);
    }
    lines.push(["worst complementarity".into(), format!("{:.1e}", course.worst_complementarity)]);
    lines
}
