//! `carom run`.

use super::{CaseArgs, Manners, output};
use crate::summary::Summary;
use crate::{Error, Result, run};
use clap::Args;
use std::path::PathBuf;

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
}

impl Run {
    pub fn execute(&self, manners: &Manners) -> Result<()> {
        let loaded = self.case.load(manners)?;
        let out = self.output.clone().unwrap_or_else(|| PathBuf::from("out").join(&loaded.name));
        let mut progress = output::Progress::new(loaded.case.time.end, manners.quiet);
        let summary = run::run(&loaded, &out, self.force, &mut progress).map_err(|error| with_place(error, &out))?;
        if !manners.quiet {
            for advice in &summary.advice {
                output::say(&format!("advice: {advice}"));
            }
            let title = if summary.title.is_empty() { &loaded.name } else { &summary.title };
            let more = if manners.verbose { counts(&summary) } else { String::new() };
            output::print(&format!(
                "{title}\n{}{more}  {:<24}{}\n",
                summary.table(),
                "files",
                out.join("{history.csv, series.pvd, summary.json}").display()
            ))?;
            if loaded.case.output.report {
                output::print(&format!("  {:<24}{}\n", "report", out.join("report.html").display()))?;
            }
        }
        Ok(())
    }
}

/// What `-v` adds to the table: how the work was done.
fn counts(summary: &Summary) -> String {
    let (counts, solver) = (&summary.counts, &summary.counts["solver"]);
    format!(
        "  {:<24}{}, {} factorizations, {} Newton passes\n  {:<24}closed form {}, Gauss-Seidel {}, Lemke {}; {} sweeps\n",
        "linear solver",
        summary.factorization,
        counts["factorizations"],
        counts["newton"],
        "contact solves",
        solver["closed"],
        solver["pgs"],
        solver["lemke"],
        counts["sweeps"]
    )
}

/// A run that stops half-way has left its history; say where.
fn with_place(error: Error, out: &std::path::Path) -> Error {
    let place = format!("\n  up to there: {}", out.join("history.csv").display());
    match error {
        Error::Solver(text) => Error::Solver(text + &place),
        Error::Guard(text) => Error::Guard(text + &place),
        other => other,
    }
}
