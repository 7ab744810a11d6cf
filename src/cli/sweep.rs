//! `carom sweep` and `carom merge`.

use super::{CaseArgs, Manners, failures, output, pool, stop};
use crate::sweep::{self, Plan, Row, Sweep, SweepOptions, Table};
use crate::{Error, Result, directory, files};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Args)]
pub struct Command {
    #[command(flatten)]
    case: CaseArgs,
    /// A path into the case and its values: a,b,c or from:to:n. Repeat it for every combination.
    #[arg(long, value_name = "PATH=VALUES", required = true)]
    vary: Vec<String>,
    /// Run a part only: the i-th of n shards, from 1. `carom merge` joins them.
    #[arg(long, value_name = "i/n", value_parser = shard, default_value = "1/1")]
    shard: Shard,
    /// Figure to show and to draw; `energy.final` unless given.
    #[arg(long, value_name = "NAME")]
    plot: Option<String>,
    /// Keep all files of every run, in `runs/<number>` of the output directory.
    #[arg(long)]
    keep_runs: bool,
    /// Output directory; `out/<case name>-sweep` unless given, with `-<i>of<n>` for a shard.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace what an earlier sweep left in the output directory.
    #[arg(long)]
    force: bool,
    /// Stop after this time with exit code 8: seconds, or with a unit as in 90s, 15m, 2h. The same command goes on.
    #[arg(long, value_name = "T", value_parser = stop::seconds)]
    max_wall: Option<f64>,
}

#[derive(Args)]
pub struct Merge {
    /// Directories of all shards of a sweep.
    #[arg(required = true)]
    dirs: Vec<PathBuf>,
    /// Output directory; `out/<case name>-sweep` unless given.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace what an earlier sweep left in the output directory.
    #[arg(long)]
    force: bool,
}

type Shard = [usize; 2];

fn shard(text: &str) -> std::result::Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some([i.parse().ok()?, n.parse().ok()?]));
    let whole = parts.filter(|&[i, n]: &Shard| i >= 1 && i <= n);
    whole.ok_or_else(|| "a shard is i/n with i from 1 to n, as in 2/4".into())
}

impl Command {
    pub fn execute(&self, manners: &Manners, threads: Option<usize>) -> Result<()> {
        let wish = SweepOptions {
            case: self.case.case.clone(),
            set: self.case.set.clone(),
            allow_outside: self.case.allow_outside,
            vary: self.vary.clone(),
            plot: self.plot.clone(),
            keep_runs: self.keep_runs,
            shard: self.shard,
        };
        let [part, parts] = self.shard;
        let suffix = if parts == 1 { String::new() } else { format!("-{part}of{parts}") };
        let name = self.case.case.file_stem().unwrap_or_default().to_string_lossy();
        let usual = || PathBuf::from("out").join(format!("{name}-sweep{suffix}"));
        let out = self.output.clone().unwrap_or_else(usual);
        directory::demand_free(&out)?;
        // Before the runs are checked, which may take its time.
        let stop = stop::watch(self.max_wall, &out)?;
        let done =
            pool(threads)?.install(|| complete(&Sweep::checked(&wish, &stop)?, &out, self.force, &stop, manners));
        if self.force {
            output::say_what_stays(&out, manners);
        }
        done
    }
}

/// Goes on with the sweep in a directory.
pub fn resume(dir: &Path, max_wall: Option<f64>, manners: &Manners, threads: Option<usize>) -> Result<()> {
    let stop = stop::watch(max_wall, dir)?;
    pool(threads)?.install(|| complete(&Sweep::reopen(dir, &stop)?, dir, false, &stop, manners))
}

fn complete(
    sweep: &Sweep,
    out: &Path,
    force: bool,
    stop: &(dyn Fn() -> Option<Error> + Sync),
    manners: &Manners,
) -> Result<()> {
    let shown = !manners.quiet && output::stderr_is_terminal();
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template("  {bar:40} {pos} of {len} runs  {elapsed} gone, {eta} left")
        .expect("the template is well-formed");
    let bar = ProgressBar::with_draw_target(Some(sweep.count() as u64), target).with_style(style);
    let clock = Instant::now();
    let outcome = sweep.run(out, force, stop, &|_| bar.inc(1));
    bar.finish_and_clear();
    let outcome = outcome?;
    if manners.verbose {
        let (runs, wall) = (outcome.rows.len() - outcome.kept, clock.elapsed().as_secs_f64());
        let threads = rayon::current_num_threads();
        output::say(&format!(
            "{runs} runs on {threads} threads in {wall:.3} s, {:.3} s of steps; {} rows were there",
            outcome.stepping, outcome.kept
        ));
    }
    tell(&sweep.plan, &outcome.rows, out, manners)
}

fn tell(plan: &Plan, rows: &[Row], out: &Path, manners: &Manners) -> Result<()> {
    output::print(&Table { axes: &plan.axes()?, rows }.text(&plan.plot))?;
    if !manners.quiet {
        let figure = if files::exists(&out.join("figure.svg"))? { ", figure.{svg, png}" } else { "" };
        output::say(&format!("files: {}", out.join(format!("{{table.csv, table.jsonl{figure}}}")).display()));
    }
    failures(rows.iter().filter(|row| row.failed()).count(), rows.len())
}

impl Merge {
    pub fn execute(&self, manners: &Manners) -> Result<()> {
        let (plan, rows, out) = sweep::merge(&self.dirs, self.output.as_deref(), self.force)?;
        if self.force {
            output::say_what_stays(&out, manners);
        }
        tell(&plan, &rows, &out, manners)
    }
}
