//! `carom test`.

use super::{Manners, output, pool};
use crate::case::{self, Loaded};
use crate::expect::{Verdict, Watch};
use crate::sinks::columns::Columns;
use crate::sinks::digest::Digest;
use crate::{Error, Result, run};
use clap::Args;
use rayon::prelude::*;
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct Test {
    /// Case files, or directories whose case files are taken.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
}

/// Verdicts of one case, or why it could not be run.
type Outcome = std::result::Result<Vec<Verdict>, Error>;

impl Test {
    pub fn execute(&self, manners: &Manners, threads: Option<usize>) -> Result<()> {
        let mut files = Vec::new();
        for path in &self.paths {
            collect(path, &mut files)?;
        }
        // The order of the results is that of the files, whatever the number of threads.
        let outcomes: Vec<Outcome> = pool(threads)?.install(|| files.par_iter().map(|file| judge(file)).collect());
        let text = table(&files, &outcomes, manners.verbose);
        let count = |holds| outcomes.iter().flatten().flatten().filter(|verdict| verdict.holds == holds).count();
        let (held, missed) = (count(true), count(false));
        let mut broken: Vec<(PathBuf, Error)> =
            files.into_iter().zip(outcomes).filter_map(|(file, outcome)| Some((file, outcome.err()?))).collect();
        output::print(&format!("{text}\n{held} passed, {} failed\n", missed + broken.len()))?;
        // A case that cannot run lends its exit code, unless an expectation has a word to say.
        let last = if missed == 0 { broken.pop() } else { None };
        for (file, error) in &broken {
            output::say(&format!("{}:", file.display()));
            output::report(error);
        }
        if let Some((file, error)) = last {
            output::say(&format!("{}:", file.display()));
            return Err(error);
        }
        match missed {
            0 if held == 0 => Err(Error::Usage("no case with an [expect] table was found".into())),
            0 => Ok(()),
            1 => Err(Error::Expectation("1 expectation does not hold".into())),
            _ => Err(Error::Expectation(format!("{missed} expectations do not hold"))),
        }
    }
}

/// A file as it is, or the case files of a directory by name.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(Error::io("read", path))? {
        let file = entry.map_err(Error::io("read", path))?.path();
        if file.extension().is_some_and(|extension| extension == "toml") {
            found.push(file);
        }
    }
    found.sort();
    files.extend(found);
    Ok(())
}

fn judge(file: &Path) -> Outcome {
    let loaded: Loaded = case::load(file, &[], false)?;
    let prepared = run::prepare(&loaded)?;
    let columns = Columns::new(&prepared.model, &prepared.system);
    let mut digest = Digest::new(&prepared.system);
    let mut watch = Watch::new(&loaded.case.expect, &columns);
    let (arrival, _) = run::march(&loaded.case, &prepared, &mut [&mut digest, &mut watch])?;
    Ok(watch.judge(&loaded.case.expect, &digest, &arrival))
}

/// One line per case, and one for every expectation that does not hold, or for all if `verbose`.
fn table(files: &[PathBuf], outcomes: &[Outcome], verbose: bool) -> String {
    let mut text = String::new();
    let mut line = |words: String| writeln!(text, "{words}").expect("writing to a string cannot fail");
    for (file, outcome) in files.iter().zip(outcomes) {
        let Ok(verdicts) = outcome else {
            line(format!("{:<48} did not run       FAILED", file.display()));
            continue;
        };
        let state = if verdicts.iter().all(|verdict| verdict.holds) { "ok" } else { "FAILED" };
        line(format!("{:<48} {:>3} expectations  {state}", file.display(), verdicts.len()));
        for verdict in verdicts.iter().filter(|verdict| verbose || !verdict.holds) {
            let mark = if verdict.holds { "ok    " } else { "FAILED" };
            line(format!("    {mark} {:<32} {:.10e}  wanted {}", verdict.key, verdict.measured, verdict.wanted));
        }
    }
    text
}
