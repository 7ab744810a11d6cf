//! `carom test`.

use super::{Manners, output, pool};
use crate::case::{self, data::Analysis};
use crate::expect::{Tracker, Verdict, Watch, bless, junit};
use crate::files::{list, read_text, rewrite, write_atomically};
use crate::sinks::columns::Columns;
use crate::sinks::digest::Digest;
use crate::{Error, Result, first_order, run};
use clap::Args;
use rayon::prelude::*;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Args)]
pub struct Test {
    /// Case files, or directories whose case files are taken.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Write the results as JUnit XML, for a CI server.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write measured values into the case files where `value` does not hold, and show the diff; bounds are left as
    /// they are.
    #[arg(long)]
    bless: bool,
}

/// A case that was tested.
struct Tested {
    file: PathBuf,
    /// Wall-clock seconds.
    seconds: f64,
    /// Verdicts of its expectations, or why it could not be run.
    outcome: Result<Vec<Verdict>>,
}

impl Test {
    pub fn execute(&self, manners: &Manners, threads: Option<usize>) -> Result<()> {
        let mut files = Vec::new();
        for path in &self.paths {
            collect(path, &mut files)?;
        }
        // The order of the results is that of the files, whatever the number of threads.
        let mut tested: Vec<Tested> = pool(threads)?.install(|| files.into_par_iter().map(judge).collect());
        let diffs =
            if self.bless { tested.iter_mut().map(blessed).collect::<Result<String>>()? } else { String::new() };
        if let Some(file) = &self.junit {
            let names: Vec<String> = tested.iter().map(|case| case.file.display().to_string()).collect();
            let suites: Vec<junit::Suite> = tested
                .iter()
                .zip(&names)
                .map(|(case, file)| junit::Suite { file, seconds: case.seconds, outcome: &case.outcome })
                .collect();
            write_atomically(file, junit::xml(&suites).as_bytes())?;
        }
        let all = || tested.iter().filter_map(|case| case.outcome.as_ref().ok()).flatten();
        let missed = all().filter(|verdict| !verdict.holds).count();
        let held = all().count() - missed;
        let text = table(&tested, manners.verbose);
        let mut broken: Vec<(PathBuf, Error)> =
            tested.into_iter().filter_map(|case| Some((case.file, case.outcome.err()?))).collect();
        output::print(&format!("{diffs}{text}\n{held} passed, {} failed\n", missed + broken.len()))?;
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
        let blessing =
            if self.bless { "; only a `value` that was measured can be blessed, bounds are yours" } else { "" };
        match missed {
            0 if held == 0 => Err(Error::Usage("no case with an [expect] table was found".into())),
            0 => Ok(()),
            1 => Err(Error::Expectation(format!("1 expectation does not hold{blessing}"))),
            _ => Err(Error::Expectation(format!("{missed} expectations do not hold{blessing}"))),
        }
    }
}

/// A file as it is, or the case files of a directory by name.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    let found = list(path)?;
    files.extend(found.into_iter().filter(|file| file.extension().is_some_and(|extension| extension == "toml")));
    Ok(())
}

fn judge(file: PathBuf) -> Tested {
    let clock = Instant::now();
    let verdicts = || {
        let loaded = case::load(&file, &[], false)?;
        if loaded.case.analysis == Analysis::FirstOrder {
            let system = first_order::files::prepare(&loaded)?;
            let mut tracker = Tracker::new(&loaded.case.expect, &first_order::record::names(&system));
            let (_, course, _) = first_order::files::watch(&loaded, &mut tracker)?;
            let worst = course.worst[0];
            return Ok(tracker.judge(&loaded.case.expect, &|key| (key == "defect.max").then_some(worst)));
        }
        let prepared = run::prepare(&loaded)?;
        let columns = Columns::new(&prepared.model, &prepared.system);
        let mut digest = Digest::new(&prepared.system);
        let mut watch = Watch::new(&loaded.case.expect, &columns);
        let (arrival, _) = run::march(&loaded.case, &prepared, &mut [&mut digest, &mut watch])?;
        Ok(watch.judge(&loaded.case.expect, &digest, &arrival))
    };
    let outcome = verdicts();
    Tested { file, seconds: clock.elapsed().as_secs_f64(), outcome }
}

/// Writes the remedies of a case into its file, marks what they mend, and returns the diff.
fn blessed(tested: &mut Tested) -> Result<String> {
    let Ok(verdicts) = &mut tested.outcome else { return Ok(String::new()) };
    let values: Vec<(String, f64)> = verdicts.iter().filter_map(|v| Some((v.key.clone(), v.remedy?))).collect();
    if values.is_empty() {
        return Ok(String::new());
    }
    let name = tested.file.display();
    if tested.file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        return Err(Error::Usage(format!("{name}: --bless rewrites TOML files only")));
    }
    // The file itself, not a link to it.
    let path = tested.file.canonicalize().map_err(Error::io("find", &tested.file))?;
    let old = read_text(&path)?;
    let new = bless::bless(&old, &values)?;
    rewrite(&path, new.as_bytes())?;
    for verdict in verdicts.iter_mut().filter(|verdict| verdict.remedy.is_some()) {
        verdict.holds = true;
    }
    Ok(bless::diff(&name.to_string(), &old, &new) + "\n")
}

/// One line per case, and one for every expectation that does not hold, or for all if `verbose`.
fn table(tested: &[Tested], verbose: bool) -> String {
    let mut text = String::new();
    let mut line = |words: String| writeln!(text, "{words}").expect("writing to a string cannot fail");
    for Tested { file, outcome, .. } in tested {
        let Ok(verdicts) = outcome else {
            line(format!("{:<48} did not run       FAILED", file.display()));
            continue;
        };
        let all = verdicts.iter().all(|verdict| verdict.holds);
        let new = verdicts.iter().filter(|verdict| verdict.holds && verdict.remedy.is_some()).count();
        let blessed = if new > 0 { format!(", {new} blessed") } else { String::new() };
        let state = if all { "ok" } else { "FAILED" };
        line(format!("{:<48} {:>3} expectations  {state}{blessed}", file.display(), verdicts.len()));
        for verdict in verdicts.iter().filter(|verdict| verbose || !verdict.holds) {
            let mark = if verdict.holds { "ok    " } else { "FAILED" };
            line(format!("    {mark} {:<32} {:.10e}  wanted {}", verdict.key, verdict.measured, verdict.wanted));
        }
    }
    text
}
