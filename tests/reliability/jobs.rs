//! Short commands that write every kind of file, with what a user does after one of them was cut short.

use super::common::cases::{Altered, BAR};
use super::common::program::{self, Place};
use carom::case;
use carom::checkpoint::Checkpoint;
use carom::files::faults;
use carom::run::{self, RunOptions};
use carom::sweep::{self, Sweep, SweepOptions};
use carom::{Error, Result, film, report};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A run with several checkpoints.
fn case_text() -> String {
    BAR.altered("end = 0.5", "end = 0.12")
        .altered("vtk = { every = 20 }", "vtk = { every = 3 }\ncheckpoint = { steps = 4 }")
}

/// A film at the end of the run, and no report.
const FILM: &str =
    "output={ vtk = false, report = false, checkpoint = { steps = 4 }, film = { frames = 3, size = [64, 64] } }";
/// Five pictures at the end of the run; `carom film` makes three larger ones of them.
const PICTURES: &str = "output={ vtk = false, film = { format = \"png\", frames = 5, size = [64, 64] } }";

/// What a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// `carom run`.
    Run,
    /// `carom run --force` over an earlier run.
    Replace,
    /// `carom resume` of a run.
    Resume,
    /// `carom sweep`.
    Sweep,
    /// `carom merge`.
    Merge,
    /// `carom report`.
    Report,
    /// `carom film`.
    Film,
}

/// A command in a directory of its own.
pub struct Job {
    /// For messages.
    pub name: &'static str,
    /// What it is.
    pub command: Command,
    /// Files below [`Job::out`] when it begins.
    pub before: BTreeMap<String, Vec<u8>>,
    /// What [`contents`] has of them.
    pub earlier: BTreeMap<String, Vec<u8>>,
    /// Files below [`Job::out`] when it was left in peace.
    pub good: BTreeMap<String, Vec<u8>>,
    place: Place,
    set: Vec<String>,
    keep_runs: bool,
}

impl Job {
    /// All jobs.
    pub fn all() -> Vec<Job> {
        let npy = "output={ history = { format = \"npy\" }, vtk = false, checkpoint = { steps = 4 } }";
        let surface = "output={ vtk = { every = 5, surface = true }, report = false, checkpoint = { steps = 4 } }";
        vec![
            Job::new("run", Command::Run, &[], false),
            Job::new("run without frames", Command::Run, &[npy], false),
            Job::new("run over an earlier one", Command::Replace, &[npy], false),
            Job::new("resume", Command::Resume, &[], false),
            Job::new("resume with a surface", Command::Resume, &[surface], false),
            Job::new("sweep", Command::Sweep, &[], false),
            Job::new("sweep with files", Command::Sweep, &[npy], true),
            Job::new("merge", Command::Merge, &[], false),
            Job::new("report", Command::Report, &[], false),
            Job::new("run with a film", Command::Run, &[FILM], false),
            Job::new("film", Command::Film, &[], false),
            Job::new("pictures in place of earlier ones", Command::Film, &[PICTURES], false),
        ]
    }

    fn new(name: &'static str, command: Command, set: &[&str], keep_runs: bool) -> Job {
        // Thousands of short runs need no disk.
        let place = Place::in_memory().with("short.toml", &case_text());
        let set = set.iter().map(|text| text.to_string()).collect();
        let [before, earlier, good] = [0; 3].map(|_| BTreeMap::new());
        let mut job = Job { name, command, before, earlier, good, place, set, keep_runs };
        job.prepare().unwrap();
        job.lay();
        job.calmly(|job| job.start()).unwrap();
        job.good = contents(&job.out());
        job
    }

    /// What must be there before the command.
    fn prepare(&mut self) -> Result<()> {
        let out = self.out();
        match self.command {
            Command::Run | Command::Sweep => return Ok(()),
            Command::Resume => drop(self.run(None, &super::after(6)).unwrap_err()),
            Command::Report | Command::Film => self.run(None, &|| None)?,
            Command::Replace => {
                let set = std::mem::take(&mut self.set);
                self.run(None, &|| None)?;
                self.set = set;
            }
            Command::Merge => {
                for part in [1, 2] {
                    let sweep = self.sweep([part, 2])?;
                    sweep.run(&self.place.path(&format!("part-{part}")), false, &|| None, &|_| ())?;
                }
                return Ok(());
            }
        }
        (self.before, self.earlier) = (raw(&out), contents(&out));
        Ok(())
    }

    /// Where the files go.
    pub fn out(&self) -> PathBuf {
        self.place.path("out")
    }

    /// The directory that is there before anything.
    pub fn root(&self) -> &Path {
        self.place.root()
    }

    /// Makes the directory what it was before the command.
    pub fn lay(&self) {
        lay(&self.out(), &self.before);
    }

    /// Runs something with nothing brought to the disk, on one thread, so that it is quick and its calls are in order.
    pub fn calmly<T: Send>(&self, work: impl FnOnce(&Job) -> T + Send) -> T {
        self.watched(None, work).0
    }

    /// Runs something with a fault at a call, from 0; returns all calls.
    pub fn watched<T: Send>(
        &self,
        fault: Option<(usize, faults::Fault)>,
        work: impl FnOnce(&Job) -> T + Send,
    ) -> (T, Vec<faults::Call>) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| faults::with(fault, || work(self)))
    }

    /// The command.
    pub fn start(&self) -> Result<()> {
        let out = self.out();
        match self.command {
            Command::Run | Command::Replace => self.run(None, &|| None),
            Command::Resume => self.run(Some(Checkpoint::read(&out)?), &|| None),
            Command::Sweep => self.sweep([1, 1])?.run(&out, false, &|| None, &|_| ()).map(|_| ()),
            Command::Merge => self.merge(false),
            Command::Report => report::rebuild(&out),
            Command::Film => self.film(),
        }
    }

    /// What a user does who does not know how far it came.
    pub fn restart(&self) -> Result<()> {
        let out = self.out();
        match self.command {
            Command::Run | Command::Replace | Command::Resume if out.join("checkpoint.bin").exists() => {
                self.run(Some(Checkpoint::read(&out)?), &|| None)
            }
            // The run is complete.
            Command::Run | Command::Resume if out.join("summary.json").exists() => Ok(()),
            Command::Run | Command::Replace | Command::Resume => self.run(None, &|| None),
            Command::Sweep => {
                let force = !out.join("sweep.json").exists();
                self.sweep([1, 1])?.run(&out, force, &|| None, &|_| ()).map(|_| ())
            }
            Command::Merge => self.merge(true),
            Command::Report => report::rebuild(&out),
            Command::Film => self.film(),
        }
    }

    fn run(&self, from: Option<Checkpoint>, stop: &dyn Fn() -> Option<Error>) -> Result<()> {
        let loaded = case::load(&self.place.path("short.toml"), &self.set, false)?;
        let options = RunOptions { force: from.is_none(), from, branch: None, stop, extra: &mut super::Nothing };
        run::run(&loaded, &self.out(), options).map(|_| ())
    }

    fn sweep(&self, shard: [usize; 2]) -> Result<Sweep> {
        Sweep::new(&SweepOptions {
            case: self.place.path("short.toml"),
            set: self.set.clone(),
            allow_outside: false,
            vary: vec!["scheme.rho_inf=0.5,0.6,0.7".into()],
            plot: None,
            keep_runs: self.keep_runs,
            shard,
        })
    }

    fn film(&self) -> Result<()> {
        let wish = film::FilmOptions { format: None, frames: Some(3), size: Some([80, 64]) };
        film::make(&self.out(), &wish).map(|_| ())
    }

    fn merge(&self, force: bool) -> Result<()> {
        let parts = [1, 2].map(|part| self.place.path(&format!("part-{part}")));
        sweep::merge(&parts, Some(&self.out()), force).map(|_| ())
    }
}

/// Makes a directory hold these files and no others.
fn lay(dir: &Path, files: &BTreeMap<String, Vec<u8>>) {
    if dir.exists() {
        std::fs::remove_dir_all(dir).unwrap();
    }
    for (name, bytes) in files {
        let path = dir.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// All files below a directory, summaries without their timing, but for locks: one that a kill left keeps nobody out.
pub fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    without_locks(program::contents(dir))
}

/// A file of a film that the manifest beside it does not list; nobody would ever remove it.
pub fn unlisted(found: &BTreeMap<String, Vec<u8>>) -> Option<&String> {
    let text = found.get("manifest.json").map_or("{}".into(), |bytes| String::from_utf8_lossy(bytes));
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let listed = |name: &str| manifest["files"].as_array().is_some_and(|files| files.iter().any(|file| file == name));
    let whole = |name: &str| name.replace("/.", "/").trim_start_matches('.').trim_end_matches(".tmp").to_string();
    found.keys().find(|name| whole(name).starts_with("film") && !listed(&whole(name)))
}

/// All files below a directory as they are, but for locks.
fn raw(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    without_locks(program::files(dir))
}

fn without_locks(mut files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    files.retain(|name, _| !name.ends_with(".carom.lock"));
    files
}
