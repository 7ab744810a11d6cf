//! Sweeps: one case run with every combination of some values, one row of a table each.
//!
//! Runs are independent and go to all cores; a row depends on its own parameters alone, so the table has the same bytes
//! for any number of threads, in one piece or in shards, and after any kill. Finished rows go to a journal at once and
//! are not run again; a run that fails is a row too. What a run costs is no part of the table.

mod axis;
mod journal;
mod row;
mod table;

pub use axis::Axis;
pub use row::Row;
pub use table::Table;

use crate::case::{self, Loaded};
use crate::checkpoint::{Checkpoint, Identity};
use crate::directory::{self, Directory, Manifest};
use crate::files::{self, faults, write_atomically};
use crate::run::{self, RunOptions};
use crate::sinks::{Record, Sink};
use crate::summary::Summary;
use crate::{Error, Result, shell};
use journal::Journal;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

/// What is to be run, as `sweep.json` keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The case with its own overrides; the resolved one is that of the first run.
    pub identity: Identity,
    /// The `--vary` arguments.
    pub vary: Vec<String>,
    /// The figure that is drawn and shown.
    pub plot: String,
    /// Whether every run keeps its files.
    pub keep_runs: bool,
    /// Which part of the runs, from 1, and of how many.
    pub shard: [usize; 2],
}

/// File name of the plan in the output directory.
const PLAN: &str = "sweep.json";
/// Whole rows; there when the sweep, or the shard, is complete.
const LINES: &str = "table.jsonl";

/// What the names of directories with checkpoints of runs under way begin with; the number of the run follows.
const UNFINISHED: &str = "unfinished-";

/// Figure that is drawn unless another is asked for.
pub const FIGURE: &str = "energy.final";

/// What a user asks for.
#[derive(Clone, Debug)]
pub struct SweepOptions {
    /// Case file.
    pub case: PathBuf,
    /// The `--set` arguments.
    pub set: Vec<String>,
    /// Whether files outside the tree are allowed.
    pub allow_outside: bool,
    /// The `--vary` arguments.
    pub vary: Vec<String>,
    /// The figure that is drawn and shown; [`FIGURE`] unless given.
    pub plot: Option<String>,
    /// Whether every run keeps its files.
    pub keep_runs: bool,
    /// Which part of the runs, from 1, and of how many.
    pub shard: [usize; 2],
}

/// A sweep that was checked and can run.
pub struct Sweep {
    /// What is run.
    pub plan: Plan,
    axes: Vec<Axis>,
    runs: usize,
}

/// What came of a sweep.
pub struct Outcome {
    /// All rows of this shard, in order.
    pub rows: Vec<Row>,
    /// Rows that were there before.
    pub kept: usize,
    /// Time in steps, of all runs of this time together, in seconds.
    pub stepping: f64,
}

impl Sweep {
    /// Checks every run of a sweep as `carom check` would check its case, before anything runs.
    pub fn new(wish: &SweepOptions) -> Result<Sweep> {
        Sweep::checked(wish, &|| None)
    }

    /// Checks every run like [`Sweep::new`], and asks `stop` before each of them.
    pub fn checked(wish: &SweepOptions, stop: &(dyn Fn() -> Option<Error> + Sync)) -> Result<Sweep> {
        let (axes, runs) = axis::axes(&wish.vary)?;
        if axes.is_empty() {
            return Err(Error::Usage("a sweep varies something; give --vary PATH=a,b,c or PATH=from:to:n".into()));
        }
        let [part, parts] = wish.shard;
        if part < 1 || part > parts {
            return Err(Error::Usage(format!("--shard {part}/{parts}: the first number goes from 1 to the second")));
        }
        let mut sweep = Sweep {
            plan: Plan {
                identity: Identity {
                    case_file: wish.case.clone(),
                    overrides: wish.set.clone(),
                    allow_outside: wish.allow_outside,
                    ..Identity::default()
                },
                vary: wish.vary.clone(),
                plot: wish.plot.clone().unwrap_or(FIGURE.into()),
                keep_runs: wish.keep_runs,
                shard: wish.shard,
            },
            axes,
            runs,
        };
        let files = |run| match stop() {
            // A time limit is one for runs: a sweep whose check takes all of it would never begin.
            Some(Error::Stopped { code, .. }) if code != 8 => {
                let text = "stopped while the runs were checked, before anything was written; start it again".into();
                Err(Error::Stopped { code, text })
            }
            _ => sweep.load(run).and_then(|loaded| Identity::new(&loaded)).map(|identity| identity.files),
        };
        let files: Vec<_> = (0..runs).into_par_iter().map(files).collect::<Result<_>>()?;
        let mut identity = Identity::new(&sweep.load(0)?)?;
        // All files of all runs, so that a change of any of them is noticed.
        identity.files.extend(files.into_iter().flatten());
        identity.overrides = wish.set.clone();
        sweep.plan.identity = identity;
        sweep.demand_figure()?;
        Ok(sweep)
    }

    /// The sweep in a directory, as it was begun; `stop` is asked before every run that is checked.
    pub fn reopen(dir: &Path, stop: &(dyn Fn() -> Option<Error> + Sync)) -> Result<Sweep> {
        let plan = Plan::read(dir)?;
        let wish = SweepOptions {
            case: plan.identity.case_file.clone(),
            set: plan.identity.overrides.clone(),
            allow_outside: plan.identity.allow_outside,
            vary: plan.vary.clone(),
            plot: Some(plan.plot.clone()),
            keep_runs: plan.keep_runs,
            shard: plan.shard,
        };
        let now = Sweep::checked(&wish, stop)?;
        plan.identity.demand(&now.plan.identity)?;
        Ok(now)
    }

    /// Whether there is a sweep in a directory.
    pub fn lives_in(dir: &Path) -> Result<bool> {
        files::exists(&dir.join(PLAN))
    }

    /// The name of the case.
    pub fn name(&self) -> String {
        self.plan.name()
    }

    /// Numbers of the runs of this shard. Neighbours go to different shards, because they tend to take as long.
    fn numbers(&self) -> impl Iterator<Item = usize> + use<> {
        let [part, parts] = self.plan.shard;
        (part - 1..self.runs).step_by(parts)
    }

    /// How many runs this shard has.
    pub fn count(&self) -> usize {
        self.numbers().count()
    }

    /// Places of a run's values on their axes; the last axis turns fastest.
    fn places(&self, run: usize) -> Vec<usize> {
        let mut rest = run;
        let mut places: Vec<usize> = self
            .axes
            .iter()
            .rev()
            .map(|axis| {
                let place = rest % axis.texts.len();
                rest /= axis.texts.len();
                place
            })
            .collect();
        places.reverse();
        places
    }

    fn load(&self, run: usize) -> Result<Loaded> {
        let Identity { case_file, overrides, allow_outside, .. } = &self.plan.identity;
        let values = self.axes.iter().zip(self.places(run)).map(|(axis, k)| format!("{}={}", axis.path, axis.texts[k]));
        case::load(case_file, &overrides.iter().cloned().chain(values).collect::<Vec<_>>(), *allow_outside)
    }

    fn row(&self, run: usize, outcome: &Result<Summary>) -> Row {
        let values = self.axes.iter().zip(self.places(run));
        let parameters: Map<_, _> = values.map(|(axis, k)| (axis.path.clone(), axis.values[k].clone())).collect();
        Row::new(run, parameters, outcome, &self.plan.plot)
    }

    /// The figure must be one that the first run has; its first step shows them all.
    fn demand_figure(&self) -> Result<()> {
        let mut first = self.load(0)?;
        first.case.time.end = first.case.time.step;
        // A run that fails will say so in its row.
        let summary = match run::measure(&first, None, &|| None) {
            Ok(summary) => summary,
            Err(error @ Error::Io { .. }) => return Err(error),
            Err(_) => return Ok(()),
        };
        let figures = row::figures(&summary, &self.plan.plot);
        if figures.contains_key(&self.plan.plot) {
            return Ok(());
        }
        let names: Vec<&str> = figures.keys().map(String::as_str).collect();
        Err(Error::Usage(format!("there is no figure `{}`\n  allowed: {}", self.plan.plot, names.join(", "))))
    }

    /// Runs what is not yet done and writes the table into `out`. The same sweep in the same directory goes on; another
    /// one needs `force`. `stop` is asked after every step of every run; `seen` is told of every finished row.
    pub fn run(
        &self,
        out: &Path,
        force: bool,
        stop: &(dyn Fn() -> Option<Error> + Sync),
        seen: &(dyn Fn(&Row) + Sync),
    ) -> Result<Outcome> {
        let directory = Directory::make(out)?;
        let manifest = self.plan.manifest(self.runs);
        if Sweep::lives_in(out)? && !force {
            Plan::read(out)?.demand(&self.plan)?;
            directory.go_on(&manifest)?;
        } else {
            directory.begin(&manifest, force, stop)?;
            self.plan.write(out)?;
        }
        if files::exists(&out.join(LINES))? {
            let rows = read_rows(out)?;
            if !rows.iter().map(|row| row.run).eq(self.numbers()) {
                let (path, there, due) = (out.join(LINES), rows.len(), self.count());
                let what = format!("{}: {there} rows, but this is not one for each of {due} runs", path.display());
                return Err(Error::Input(what));
            }
            journal::clear(out)?;
            return Ok(Outcome { kept: rows.len(), rows, stepping: 0.0 });
        }
        let (mut journal, mut rows) = Journal::open(out)?;
        let mut done = vec![false; self.runs];
        rows.retain(|row| row.run < self.runs && !std::mem::replace(&mut done[row.run], true));
        let kept = rows.len();
        let missing: Vec<usize> = self.numbers().filter(|&run| !done[run]).collect();
        let (finished, arriving) = channel();
        let (worked, written) = std::thread::scope(|scope| {
            // The journal waits for the disk, so that the runs need not.
            let plan = faults::inherit();
            let writer = std::thread::Builder::new().spawn_scoped(scope, || {
                faults::adopt(plan);
                write_rows(&mut journal, arriving, seen)
            });
            let writer = match writer {
                Ok(writer) => writer,
                Err(error) => return (Ok(()), Err(Error::io("start a thread for", &out.join(journal::FILE))(error))),
            };
            let worked = missing.par_iter().with_max_len(1).try_for_each_with(finished, |finished, &run| {
                let outcome = self.run_one(run, out, stop)?;
                let time = outcome.as_ref().map_or(0.0, |summary| summary.timing.steps_s);
                // Nobody listens if the journal failed; that error is told below.
                finished.send((self.row(run, &outcome), time)).map_err(|_| Error::Study("no journal".into()))
            });
            (worked, writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let (more, stepping) = written?;
        worked?;
        rows.extend(more);
        rows.sort_by_key(|row| row.run);
        write_table(out, &self.plan, &rows)?;
        journal::clear(out)?;
        Ok(Outcome { rows, kept, stepping })
    }

    /// One run: its summary, or how it failed. The outer error is for what ends the sweep: a stop, or a broken disk.
    fn run_one(&self, run: usize, out: &Path, stop: &dyn Fn() -> Option<Error>) -> Result<Result<Summary>> {
        if let Some(error) = stop() {
            return Err(error);
        }
        // Every run was checked before: what cannot be read now is no fault of its own, and no row.
        let loaded = self.load(run)?;
        let outcome = if self.plan.keep_runs {
            let dir = out.join(format!("runs/{run:06}"));
            let from = Checkpoint::usable(&dir)?;
            run::run(&loaded, &dir, RunOptions { force: from.is_none(), from, branch: None, stop, extra: &mut Nothing })
        } else {
            run::measure(&loaded, Some(&out.join(format!("{UNFINISHED}{run:06}"))), stop)
        };
        match outcome {
            // No run is wrong by its directory, or by a disk that does not answer.
            Err(error @ (Error::Io { .. } | Error::Stopped { .. } | Error::Usage(_))) => Err(error),
            other => Ok(other),
        }
    }
}

/// Keeps nothing.
struct Nothing;

impl Sink for Nothing {
    fn record(&mut self, _record: &Record) -> Result<()> {
        Ok(())
    }
}

/// Journals rows as they come, all that wait at once; returns them with the time that their steps took.
fn write_rows(
    journal: &mut Journal,
    arriving: Receiver<(Row, f64)>,
    seen: &(dyn Fn(&Row) + Sync),
) -> Result<(Vec<Row>, f64)> {
    let (mut rows, mut stepping) = (Vec::new(), 0.0);
    while let Ok(first) = arriving.recv() {
        let start = rows.len();
        for (row, time) in std::iter::once(first).chain(arriving.try_iter()) {
            rows.push(row);
            stepping += time;
        }
        journal.add(&rows[start..])?;
        rows[start..].iter().for_each(seen);
    }
    Ok((rows, stepping))
}

/// Writes what a complete sweep, or shard, leaves; the lines last, because they say that all is there.
fn write_table(out: &Path, plan: &Plan, rows: &[Row]) -> Result<()> {
    let (axes, _) = axis::axes(&plan.vary)?;
    let table = Table { axes: &axes, rows };
    write_atomically(&out.join("table.csv"), table.csv().as_bytes())?;
    // A part of a picture is none.
    if plan.shard[1] == 1
        && let Some((svg, png)) = table.figure(&plan.title(), &plan.plot)
    {
        write_atomically(&out.join("figure.svg"), svg.as_bytes())?;
        write_atomically(&out.join("figure.png"), &png)?;
    }
    write_atomically(&out.join(LINES), table.lines().as_bytes())
}

fn read_rows(dir: &Path) -> Result<Vec<Row>> {
    let path = dir.join(LINES);
    let text = files::read_text(&path)?;
    let row = |(k, line): (usize, &str)| {
        let again = format!("delete {LINES}, and `carom resume {}` makes it again", shell::argument(dir));
        Row::parse(line).map_err(|what| Error::Input(format!("{}:{}: {what}; {again}", path.display(), k + 1)))
    };
    text.lines().enumerate().map(row).collect()
}

impl Plan {
    fn read(dir: &Path) -> Result<Plan> {
        let path = dir.join(PLAN);
        let Some(text) = files::find(&path)? else {
            return Err(Error::Input(format!("{} is not the directory of a sweep", dir.display())));
        };
        serde_json::from_slice(&text).map_err(|error| Error::Input(format!("{}: {error}", path.display())))
    }

    fn write(&self, dir: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self).expect("a plan is plain data") + "\n";
        write_atomically(&dir.join(PLAN), text.as_bytes())
    }

    /// What a sweep of so many runs, or a shard of it, writes.
    fn manifest(&self, runs: usize) -> Manifest {
        let mut files = vec![PLAN, journal::FILE, "table.csv", LINES];
        // A part of a picture is none.
        if self.shard[1] == 1 {
            files.extend(["figure.svg", "figure.png"]);
        }
        Manifest::new(&files).with_runs(runs)
    }

    /// What was varied.
    pub fn axes(&self) -> Result<Vec<Axis>> {
        Ok(axis::axes(&self.vary)?.0)
    }

    /// Title of the case, or its name.
    fn title(&self) -> String {
        let case: serde_json::Value = serde_json::from_str(&self.identity.case).unwrap_or_default();
        let title = case["title"].as_str().unwrap_or_default();
        if title.is_empty() { self.name() } else { title.to_string() }
    }

    /// Name of the case.
    fn name(&self) -> String {
        self.identity.case_file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Refuses to go on with anything but what was begun.
    fn demand(&self, now: &Plan) -> Result<()> {
        self.identity.demand(&now.identity)?;
        let difference = match (self, now) {
            (a, b) if a.identity.overrides != b.identity.overrides => "other --set arguments",
            (a, b) if a.vary != b.vary => "other --vary arguments",
            (a, b) if a.shard != b.shard => "another --shard",
            (a, b) if a.keep_runs != b.keep_runs => "another choice of --keep-runs",
            (a, b) if a.plot != b.plot => "another --plot",
            _ => return Ok(()),
        };
        Err(Error::Usage(format!(
            "the sweep in this directory was begun with {difference}; choose another directory with -o, or replace it \
             with --force"
        )))
    }
}

/// Joins the shards of a sweep; the files in `out` are those of the sweep in one piece.
pub fn merge(dirs: &[PathBuf], out: Option<&Path>, force: bool) -> Result<(Plan, Vec<Row>, PathBuf)> {
    let wrong = |dir: &Path, what: &str| Err(Error::Input(format!("{}: {what}", dir.display())));
    let mut rows = Vec::new();
    let mut plans: Vec<Plan> = Vec::new();
    for dir in dirs {
        directory::demand_free(dir)?;
        let plan = Plan::read(dir)?;
        if !files::exists(&dir.join(LINES))? {
            return wrong(
                dir,
                &format!("this shard is not complete; go on with: carom resume {}", shell::argument(dir)),
            );
        }
        if let Some(first) = plans.first() {
            first.demand(&Plan { shard: first.shard, ..plan.clone() }).map_err(|error| {
                Error::Input(format!("{} is of another sweep than {}: {error}", dir.display(), dirs[0].display()))
            })?;
            if plan.shard[1] != first.shard[1] {
                return wrong(dir, &format!("one of {} shards, but the first is of {}", plan.shard[1], first.shard[1]));
            }
            if plans.iter().any(|other| other.shard == plan.shard) {
                return wrong(dir, &format!("shard {} is given twice", plan.shard[0]));
            }
        }
        rows.extend(read_rows(dir)?);
        if Plan::read(dir)? != plan {
            return wrong(dir, "another sweep was begun here while it was read");
        }
        plans.push(plan);
    }
    let Some(first) = plans.first() else { return Err(Error::Usage("there is nothing to merge".into())) };
    let missing: Vec<String> = (1..=first.shard[1])
        .filter(|part| plans.iter().all(|plan| plan.shard[0] != *part))
        .map(|part| format!("{part}/{}", first.shard[1]))
        .collect();
    if !missing.is_empty() {
        return Err(Error::Input(format!("the sweep is not complete: shard {} is missing", missing.join(", "))));
    }
    let plan = Plan { shard: [1, 1], ..first.clone() };
    rows.sort_by_key(|row| row.run);
    let (_, runs) = axis::axes(&plan.vary)?;
    if !rows.iter().map(|row| row.run).eq(0..runs) {
        return Err(Error::Input(format!("the shards have {} rows, but the sweep has {runs} runs", rows.len())));
    }
    let out = out.map_or_else(|| PathBuf::from("out").join(plan.name() + "-sweep"), Path::to_path_buf);
    let directory = Directory::make(&out)?;
    directory.begin(&plan.manifest(runs), force, &|| None)?;
    plan.write(&out)?;
    write_table(&out, &plan, &rows)?;
    Ok((plan, rows, out))
}
