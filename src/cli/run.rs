//! `carom run` and `carom resume`.

use super::{CaseArgs, Manners, output, stop, sweep};
use crate::case::Loaded;
use crate::checkpoint::Checkpoint;
use crate::laws::SOLVERS;
use crate::summary::Summary;
use crate::sweep::Sweep;
use crate::{Error, Result, case, directory, memory, run};
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    case: CaseArgs,
    /// Output directory; `out/<case name>` unless given.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace the files of an earlier run in the output directory.
    #[arg(long)]
    force: bool,
    /// Stop after this time with a checkpoint and exit code 8: seconds, or with a unit as in 90s, 15m, 2h.
    #[arg(long, value_name = "T", value_parser = stop::seconds)]
    max_wall: Option<f64>,
    /// Refuse a run that would take more memory (exit code 3), as in 800MB, 4GB, 2GiB; what the machine has unless given.
    #[arg(long, value_name = "SIZE", value_parser = memory::parse_size)]
    max_memory: Option<u64>,
    /// Draw the energies in the terminal after the run.
    #[arg(long)]
    plot: bool,
}

#[derive(Args)]
pub struct Resume {
    /// Output directory of the interrupted run or sweep; with -o of any run.
    dir: PathBuf,
    /// Leave DIR as it is and write a run of its own here, from the last checkpoint of DIR.
    #[arg(short, long, value_name = "NEW")]
    output: Option<PathBuf>,
    /// End of the new run, in place of `time.end`.
    #[arg(long, value_name = "T", requires = "output")]
    until: Option<f64>,
    /// Change a value of the new run: time.end, or one of solver, guards, expect; may be repeated.
    #[arg(long, value_name = "PATH=VALUE", requires = "output")]
    set: Vec<String>,
    /// Stop after this time with a checkpoint and exit code 8.
    #[arg(long, value_name = "T", value_parser = stop::seconds)]
    max_wall: Option<f64>,
    /// Refuse a run that would take more memory (exit code 3); what the machine has unless given.
    #[arg(long, value_name = "SIZE", value_parser = memory::parse_size)]
    max_memory: Option<u64>,
}

impl Run {
    pub fn execute(&self, manners: &Manners) -> Result<()> {
        let loaded = self.case.load(manners)?;
        let out = self.output.clone().unwrap_or_else(|| PathBuf::from("out").join(&loaded.name));
        directory::demand_free(&out)?;
        let done = complete(
            &loaded,
            &out,
            manners,
            Start {
                force: self.force,
                from: None,
                branch: None,
                max_wall: self.max_wall,
                max_memory: self.max_memory,
                plot: self.plot,
            },
        );
        if self.force {
            output::say_what_stays(&out, manners);
        }
        done
    }
}

impl Resume {
    pub fn execute(&self, manners: &Manners, threads: Option<usize>) -> Result<()> {
        directory::demand_free(&self.dir)?;
        if let Some(new) = &self.output {
            return self.branch(new, manners);
        }
        if Sweep::lives_in(&self.dir)? {
            return sweep::resume(&self.dir, self.max_wall, manners, threads);
        }
        let checkpoint = Checkpoint::read(&self.dir)?;
        let identity = &checkpoint.identity;
        let loaded = case::load(&identity.case_file, &identity.overrides, identity.allow_outside)?;
        complete(
            &loaded,
            &self.dir,
            manners,
            Start {
                force: false,
                from: Some(checkpoint),
                branch: None,
                max_wall: self.max_wall,
                max_memory: self.max_memory,
                plot: false,
            },
        )
    }
}

impl Resume {
    /// A new run from the last checkpoint of another.
    fn branch(&self, new: &Path, manners: &Manners) -> Result<()> {
        if Sweep::lives_in(&self.dir)? {
            return Err(Error::Usage(format!("{} is a sweep; -o goes with a single run", self.dir.display())));
        }
        directory::demand_free(new)?;
        let checkpoint = Checkpoint::read_for_branch(&self.dir)?;
        let identity = &checkpoint.identity;
        let until = self.until.map(|end| format!("time.end={end:?}"));
        let set: Vec<String> = identity.overrides.iter().chain(&self.set).cloned().chain(until).collect();
        let loaded = case::load(&identity.case_file, &set, identity.allow_outside)?;
        if loaded.case.time.end <= checkpoint.state.time {
            return Err(Error::Usage(format!(
                "the checkpoint of {} is at time {}; the new run must end behind it, not at {} (--until)",
                self.dir.display(),
                checkpoint.state.time,
                loaded.case.time.end
            )));
        }
        let start = Start {
            force: false,
            from: None,
            branch: Some((&self.dir, checkpoint)),
            max_wall: self.max_wall,
            max_memory: self.max_memory,
            plot: false,
        };
        complete(&loaded, new, manners, start)
    }
}

/// How a run starts and how long it may take.
struct Start<'a> {
    force: bool,
    from: Option<Checkpoint>,
    branch: Option<(&'a Path, Checkpoint)>,
    max_wall: Option<f64>,
    max_memory: Option<u64>,
    plot: bool,
}

fn complete(loaded: &Loaded, out: &Path, manners: &Manners, start: Start) -> Result<()> {
    let mut progress = output::Progress::new(loaded.case.time.end, manners.quiet);
    if start.plot {
        progress = progress.with_sketch();
    }
    let stop = stop::watch(start.max_wall, out)?;
    let options = run::RunOptions {
        force: start.force,
        from: start.from,
        branch: start.branch,
        stop: &stop,
        extra: &mut progress,
    };
    let summary = run::run_within(loaded, out, start.max_memory, options)
        .map_err(|error| with_place(error, &out.join(loaded.case.output.history.format.file())))?;
    if !manners.quiet {
        for advice in &summary.placed_advice {
            output::say(&format!("advice: {advice}"));
        }
        let title = if summary.title.is_empty() { &loaded.name } else { &summary.title };
        let settings = &loaded.case.output;
        let frames = settings.vtk.get().map_or("", |_| "series.pvd, ");
        let more = if manners.verbose { counts(&summary) } else { String::new() };
        output::print(&format!(
            "{title}\n{}{more}  {:<24}{}\n",
            summary.table(),
            "files",
            out.join(format!("{{{}, {}summary.json}}", settings.history.format.file(), frames)).display()
        ))?;
        if let Some(film) = &settings.film {
            let files = film.files();
            let more = if files.len() > 1 { " and so on" } else { "" };
            output::print(&format!("  {:<24}{}{more}\n", "film", out.join(&files[0]).display()))?;
        }
        if settings.report {
            output::print(&format!("  {:<24}{}\n", "report", out.join("report.html").display()))?;
        }
    }
    match &progress.sketch {
        Some(sketch) => output::print(&format!("\n{}", sketch.text("energy"))),
        None => Ok(()),
    }
}

/// What `-v` adds to the table: how the work was done.
fn counts(summary: &Summary) -> String {
    let counts = &summary.counts;
    let solvers = SOLVERS.iter().map(|(_, key, words)| format!("{words} {}", counts["solver"][key]));
    format!(
        "  {:<24}{}, {} factorizations, {} Newton passes\n  {:<24}{}; {} sweeps; candidates {} at most\n",
        "linear solver",
        summary.factorization,
        counts["factorizations"],
        counts["newton"],
        "contact solves",
        solvers.collect::<Vec<_>>().join(", "),
        counts["sweeps"],
        summary.candidates
    )
}

/// A run that stops half-way has left its history; say where.
fn with_place(error: Error, history: &Path) -> Error {
    let place = format!("\n  up to there: {}", history.display());
    match error {
        Error::Solver(text) => Error::Solver(text + &place),
        Error::Guard(text) => Error::Guard(text + &place),
        other => other,
    }
}
