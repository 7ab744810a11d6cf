//! `carom compare`.

use super::{CaseArgs, Manners, StudyArgs, output, pool, write_figure, write_in};
use crate::Result;
use crate::case::Loaded;
use crate::studies::compare::{self, overrides};
use clap::Args;

#[derive(Args)]
pub struct Compare {
    #[command(flatten)]
    case: CaseArgs,
    /// A scheme: its name, or the text of its table; after a semicolon, overrides for this entry alone. Repeat it.
    #[arg(long, value_name = "SPEC")]
    scheme: Vec<String>,
    #[command(flatten)]
    study: StudyArgs,
}

impl Compare {
    pub fn execute(&self, manners: &Manners, threads: Option<usize>) -> Result<()> {
        let base = self.case.load(manners)?;
        let wish = self.study.wish();
        let (specs, variants) = self.entries(&base, manners)?;
        let figures = ["position", "velocity", "force", "energy"];
        let (out, _owner) =
            self.study.claim(&format!("{}-compare", base.name), &["compare.csv", "compare.html"], &figures)?;
        let study = pool(threads)?.install(|| compare::compare(&variants, &specs, &wish))?;
        write_in(&out, "compare.csv", &study.csv())?;
        for (name, plot) in study.figures() {
            write_figure(&out, name, &plot)?;
        }
        write_in(&out, "compare.html", &study.page())?;
        output::print(&study.table())?;
        if !manners.quiet {
            let files = "{compare.html, compare.csv, {position, velocity, force, energy}.{svg, png}}";
            output::say(&format!("files: {}", out.join(files).display()));
        }
        super::failures(study.failures(), study.entries.len())
    }

    /// Specifications and what becomes of the case with each.
    fn entries(&self, base: &Loaded, manners: &Manners) -> Result<(Vec<String>, Vec<Loaded>)> {
        // Asked in any case: it finds out whether the study can follow what it is told to.
        let usual = compare::usual(base, &self.study.wish())?;
        let load = |spec: &str| self.case.load_with(&overrides(spec), manners);
        if !self.scheme.is_empty() {
            let variants = self.scheme.iter().map(|spec| load(spec)).collect::<Result<_>>()?;
            return Ok((self.scheme.clone(), variants));
        }
        let (mut specs, mut variants) = (Vec::new(), Vec::<Loaded>::new());
        for spec in usual {
            let loaded = load(spec)?;
            // The case's own scheme may be one of the others.
            if variants.iter().all(|other| other.case != loaded.case) {
                specs.push(spec.to_string());
                variants.push(loaded);
            }
        }
        Ok((specs, variants))
    }
}
