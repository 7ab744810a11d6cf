//! `carom converge`.

use super::{CaseArgs, Manners, StudyArgs, output, pool, write_figure, write_in};
use crate::studies::converge::{self, mesh_overrides};
use crate::{Error, Result};
use clap::Args;

#[derive(Args)]
pub struct Converge {
    #[command(flatten)]
    case: CaseArgs,
    /// Step sizes.
    #[arg(long, value_name = "H,…", value_delimiter = ',', required_unless_present = "elements")]
    steps: Vec<f64>,
    /// Numbers of elements, for every line and polyline of the case; with --steps, level by level.
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    elements: Vec<usize>,
    /// Run every step on N grids that are shifted against each other by a shorter first step: impacts then fall
    /// everywhere within a step, and the fit of the orders goes through all.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "steps")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=50))]
    shifts: u8,
    #[command(flatten)]
    study: StudyArgs,
}

impl Converge {
    pub fn execute(&self, manners: &Manners, threads: Option<usize>) -> Result<()> {
        let base = self.case.load(manners)?;
        let variants = self.overrides(&base.case)?.into_iter().map(|more| self.case.load_with(&more, manners));
        let variants = variants.collect::<Result<Vec<_>>>()?;
        let wish = self.study.wish();
        // Before the directory is claimed: a wrong name must not cost the user an earlier study.
        crate::studies::prospect(&base, &wish)?;
        let (out, _owner) =
            self.study.claim(&format!("{}-converge", base.name), &["converge.csv"], &["error", "work"])?;
        let by_mesh = self.steps.is_empty();
        let study = pool(threads)?.install(|| converge::converge(&variants, &wish, by_mesh))?;
        write_in(&out, "converge.csv", &study.csv())?;
        for (name, plot) in study.figures() {
            write_figure(&out, name, &plot)?;
        }
        output::print(&study.table())?;
        if !manners.quiet {
            output::say(&format!("files: {}", out.join("{converge.csv, {error, work}.{svg, png}}").display()));
        }
        super::failures(study.failures(), study.levels.len())
    }

    /// The `--set` arguments of every level.
    fn overrides(&self, case: &crate::case::Case) -> Result<Vec<Vec<String>>> {
        let (steps, elements) = (&self.steps, &self.elements);
        if !steps.is_empty() && !elements.is_empty() && steps.len() != elements.len() {
            return Err(Error::Usage(format!(
                "--steps has {} values and --elements {}; given together they go level by level",
                steps.len(),
                elements.len()
            )));
        }
        if !elements.is_empty() && mesh_overrides(case, 1).is_empty() {
            return Err(Error::Usage("--elements needs a body with a line or a polyline; this case has none".into()));
        }
        let level = |(k, shift): (usize, u8)| {
            let step = steps.get(k).map(|h| format!("time.step={h:e}"));
            let first = steps.get(k).filter(|_| shift > 0);
            let first = first.map(|h| {
                let share = 1.0 - f64::from(shift) / f64::from(self.shifts);
                format!("time.first_step={:e}", h * share)
            });
            let mesh = elements.get(k).map(|&n| mesh_overrides(case, n)).unwrap_or_default();
            step.into_iter().chain(first).chain(mesh).collect()
        };
        let levels = (0..steps.len().max(elements.len())).flat_map(|k| (0..self.shifts).map(move |shift| (k, shift)));
        Ok(levels.map(level).collect())
    }
}
