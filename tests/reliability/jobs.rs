//! Short commands that write every kind of file, with what a user does after one of them was cut short.

use carom::case;
use carom::checkpoint::Checkpoint;
use carom::files::faults;
use carom::run::{self, Manner};
use carom::sweep::{self, Sweep, Wish};
use carom::{Error, Result, report};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A run with several checkpoints.
const CASE: &str = r#"format = 1
[time]
end = 0.12
step = 1e-2
[scheme]
name = "generalized-alpha"
rho_inf = 0.6
[[body]]
name = "bar"
element = "bar"
line = { from = [0.0], to = [10.0], elements = 10 }
material = { young = 900.0, density = 1.0 }
section = { area = 1.0 }
velocity = [-10.0]
[[contact]]
name = "wall"
nodes = "bar.start"
plane = { point = [0.0], normal = [1.0] }
[output]
vtk = { every = 3 }
checkpoint = { steps = 4 }
"#;

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
}

/// A command in a directory of its own.
pub struct Job {
    /// For messages.
    pub name: &'static str,
    /// What it is.
    pub command: Command,
    /// Files below [`Job::out`] when it begins.
    pub before: BTreeMap<String, Vec<u8>>,
    /// The same as [`contents`] has them.
    pub earlier: BTreeMap<String, Vec<u8>>,
    /// Files below [`Job::out`] when it was left in peace.
    pub good: BTreeMap<String, Vec<u8>>,
    root: TempDir,
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
        ]
    }

    fn new(name: &'static str, command: Command, set: &[&str], keep_runs: bool) -> Job {
        // In memory where that can be had: thousands of short runs need no disk.
        let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        std::fs::write(root.path().join("short.toml"), CASE).unwrap();
        let set = set.iter().map(|text| text.to_string()).collect();
        let [before, earlier, good] = [0; 3].map(|_| BTreeMap::new());
        let mut job = Job { name, command, before, earlier, good, root, set, keep_runs };
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
            Command::Report => self.run(None, &|| None)?,
            Command::Replace => {
                let set = std::mem::take(&mut self.set);
                self.run(None, &|| None)?;
                self.set = set;
            }
            Command::Merge => {
                for part in [1, 2] {
                    let sweep = self.sweep([part, 2])?;
                    sweep.run(&self.root.path().join(format!("part-{part}")), false, &|| None, &|_| ())?;
                }
                return Ok(());
            }
        }
        (self.before, self.earlier) = (raw(&out), contents(&out));
        Ok(())
    }

    /// Where the files go.
    pub fn out(&self) -> PathBuf {
        self.root.path().join("out")
    }

    /// The directory that is there before anything.
    pub fn root(&self) -> &Path {
        self.root.path()
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
        }
    }

    fn run(&self, from: Option<Checkpoint>, stop: &dyn Fn() -> Option<Error>) -> Result<()> {
        let loaded = case::load(&self.root.path().join("short.toml"), &self.set, false)?;
        let manner = Manner { force: from.is_none(), from, stop, extra: &mut super::Nothing };
        run::run(&loaded, &self.out(), manner).map(|_| ())
    }

    fn sweep(&self, shard: [usize; 2]) -> Result<Sweep> {
        Sweep::new(&Wish {
            case: self.root.path().join("short.toml"),
            set: self.set.clone(),
            allow_outside: false,
            vary: vec!["scheme.rho_inf=0.5,0.6,0.7".into()],
            plot: None,
            keep_runs: self.keep_runs,
            shard,
        })
    }

    fn merge(&self, force: bool) -> Result<()> {
        let parts = [1, 2].map(|part| self.root.path().join(format!("part-{part}")));
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

/// All files below a directory as [`super::contents`] has them, but for locks: one that a kill left keeps nobody out.
pub fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = super::contents(dir);
    found.retain(|name, _| !name.ends_with(".carom.lock"));
    found
}

/// All files below a directory as they are.
fn raw(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for name in contents(dir).into_keys() {
        let bytes = std::fs::read(dir.join(&name)).unwrap();
        found.insert(name, bytes);
    }
    found
}
