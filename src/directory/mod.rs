//! The output directory of a run: owned by one process at a time, and never mixed with an earlier run.
//!
//! Whoever writes into a directory takes it first, and holds it until the last file is written; another process is
//! refused with the owner's name. Only files that the [`Manifest`] of an earlier run lists are ever removed, and nothing
//! is written or removed through a link within the directory. The directory itself may be reached by one.

mod lock;
mod manifest;

pub use manifest::Manifest;

use crate::{Error, Result, files};
use lock::Lock;
use manifest::{RUNS, whole_name};
use std::collections::BTreeSet;
use std::fs::FileType;
use std::io;
use std::path::{Path, PathBuf};

/// An output directory that belongs to this process until this is dropped.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    _lock: Lock,
}

impl Directory {
    /// Makes a directory if it is not there, and takes it.
    pub fn make(path: &Path) -> Result<Directory> {
        files::make_directories(path)?;
        Directory::enter(path)
    }

    /// Takes a directory that is there.
    pub fn enter(path: &Path) -> Result<Directory> {
        Ok(Directory { path: path.to_path_buf(), _lock: Lock::take(path)? })
    }

    /// Empties the directory of an earlier run, if there is one and `force` is given, and writes the manifest of the
    /// next. What the earlier manifest does not list stays; if it would be in the way, nothing is removed at all. `stop`
    /// is asked before every file, and what is left then is still a directory of ours.
    pub fn begin(&self, manifest: &Manifest, force: bool, stop: &dyn Fn() -> Option<Error>) -> Result<()> {
        let dir = &self.path;
        let refuse = |why: String| Err(Error::Usage(format!("{} {why}", dir.display())));
        if entries(dir)?.iter().all(|(name, kind)| kind.is_file() && whole_name(name) == manifest::FILE) {
            return manifest.write(dir);
        }
        if !force {
            return refuse(
                "is not empty; choose another directory with -o, or replace the earlier run with --force".into(),
            );
        }
        let Some(earlier) = Manifest::of_earlier(dir)? else {
            return refuse(
                "is not empty, and not the directory of an earlier run: it has no manifest.json, summary.json or \
                 checkpoint.bin of carom; choose another with -o, or empty it yourself"
                    .into(),
            );
        };
        let contents = Contents::of(dir, &earlier.clone().complete(dir)?, manifest)?;
        if let Some(name) = contents.others.iter().find(|name| manifest.needs(name)) {
            return refuse(format!(
                "has `{name}`, which the earlier run did not write, where the next one writes; nothing was removed: move \
                 it, or choose another directory with -o"
            ));
        }
        // From here on the directory must be known as ours until its last file is gone.
        earlier.write(dir)?;
        contents.remove(dir, stop).map_err(|error| match error {
            Error::Stopped { code, .. } => {
                let what = format!("stopped while an earlier run was removed from {}", dir.display());
                Error::Stopped { code, text: format!("{what}; the same command goes on with that") }
            }
            other => other,
        })?;
        // Before the next manifest: what it does not list could never be removed if a power cut brought it back.
        files::sync_directory(dir)?;
        manifest.write(dir)
    }

    /// Goes on with what was begun: refuses links where files are to be written.
    pub fn go_on(&self, manifest: &Manifest) -> Result<()> {
        let dir = &self.path;
        let check = |name: &str, kind: &FileType| {
            let path = dir.join(name);
            let link = io::Error::other("it is a link, and carom writes through none within an output directory");
            if kind.is_symlink() && manifest.needs(name) { Err(Error::io("write", &path)(link)) } else { Ok(()) }
        };
        for (name, kind) in entries(dir)? {
            check(&name, &kind)?;
            if kind.is_dir() && (manifest.holds(&name) || (manifest.has_runs() && name == RUNS)) {
                for (below, kind) in entries(&dir.join(&name))? {
                    check(&format!("{name}/{below}"), &kind)?;
                }
            }
        }
        manifest.write(dir)
    }

    /// Removes files by their names for good, with what a killed process left of their next content. One that is not there
    /// is no error, nor is a directory.
    pub fn remove(&self, names: &BTreeSet<&str>) -> Result<()> {
        let folders: BTreeSet<&str> =
            names.iter().map(|name| name.rsplit_once('/').map_or("", |(dir, _)| dir)).collect();
        for folder in folders {
            let path = self.path.join(folder);
            if !files::exists(&path)? {
                continue;
            }
            for (name, _) in entries(&path)?.into_iter().filter(|(_, kind)| kind.is_file()) {
                let whole = whole_name(&if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") });
                if names.contains(whole.as_str()) {
                    files::remove_file(&path.join(name))?;
                }
            }
            files::sync_directory(&path)?;
        }
        Ok(())
    }
}

/// Refuses a directory that another process owns now, before any work is done for it.
pub fn demand_free(dir: &Path) -> Result<()> {
    Lock::demand_free(dir)
}

/// What is in a directory that its manifest does not list, by name; directories end with a slash.
pub fn others(dir: &Path) -> Result<Vec<String>> {
    match Manifest::of_earlier(dir)? {
        Some(manifest) => Ok(Contents::of(dir, &manifest, &manifest)?.others),
        None => Ok(Vec::new()),
    }
}

/// Files without which a run can neither be taken for complete nor go on, in the order in which they are removed: rows
/// before the plan that they belong to.
const FIRST: [&str; 5] = ["summary.json", "checkpoint.bin", "table.jsonl", "rows.journal", "sweep.json"];

/// What is in a directory, told apart.
#[derive(Default)]
struct Contents {
    /// Files of the earlier run, [`FIRST`] first.
    ours: Vec<String>,
    /// Directories for such files, the inner ones first.
    folders: Vec<String>,
    /// Runs of an earlier sweep.
    runs: Vec<(String, Contents)>,
    /// Everything else.
    others: Vec<String>,
}

impl Contents {
    /// Looks at what an earlier run left, and into the directories that the next one will use.
    fn of(dir: &Path, earlier: &Manifest, next: &Manifest) -> Result<Contents> {
        let mut found = Contents::default();
        for (name, kind) in entries(dir)? {
            if kind.is_dir() && name == RUNS && (earlier.has_runs() || next.has_runs()) {
                found.look_at_runs(dir, earlier)?;
            } else if kind.is_dir() && (earlier.holds(&name) || next.holds(&name)) {
                for (below, kind) in entries(&dir.join(&name))? {
                    found.add(format!("{name}/{below}"), &kind, earlier);
                }
                found.folders.push(name);
            } else if whole_name(&name) != manifest::FILE || !kind.is_file() {
                found.add(name, &kind, earlier);
            }
        }
        found.ours.sort_by_key(|name| FIRST.iter().position(|file| file == name).unwrap_or(FIRST.len()));
        Ok(found)
    }

    fn add(&mut self, name: String, kind: &FileType, earlier: &Manifest) {
        let listed = kind.is_file() && earlier.lists(&whole_name(&name));
        let slash = if kind.is_dir() { "/" } else { "" };
        if listed { self.ours.push(name) } else { self.others.push(name + slash) }
    }

    fn look_at_runs(&mut self, dir: &Path, earlier: &Manifest) -> Result<()> {
        for (name, kind) in entries(&dir.join(RUNS))? {
            let (name, path) = (format!("{RUNS}/{name}"), dir.join(RUNS).join(&name));
            let run = if kind.is_dir() && earlier.is_run(&name) { Manifest::of_earlier(&path)? } else { None };
            match run {
                // A run of a sweep has no runs of its own, whatever it says.
                Some(run) => {
                    let run = run.complete(&path)?.with_runs(0);
                    self.runs.push((name, Contents::of(&path, &run, &Manifest::default())?));
                }
                None if kind.is_dir() && earlier.is_run(&name) && entries(&path)?.is_empty() => self.folders.push(name),
                None => self.add(name, &kind, earlier),
            }
        }
        for (name, run) in &self.runs {
            self.others.extend(run.others.iter().map(|other| format!("{name}/{other}")));
        }
        self.folders.push(RUNS.into());
        Ok(())
    }

    fn remove(&self, dir: &Path, stop: &dyn Fn() -> Option<Error>) -> Result<()> {
        for name in &self.ours {
            if let Some(error) = stop() {
                return Err(error);
            }
            let path = dir.join(name);
            files::remove_file(&path)?;
            // No power cut may bring one of these back when files that it counts on are gone.
            if FIRST.contains(&name.as_str()) {
                files::sync_directory(dir)?;
            }
        }
        for (name, run) in &self.runs {
            let path = dir.join(name);
            {
                let _lock = Lock::take(&path)?;
                run.remove(&path, stop)?;
                if run.others.is_empty() {
                    let list = path.join(manifest::FILE);
                    if files::exists(&list)? {
                        files::remove_file(&list)?;
                    }
                }
            }
            files::remove_if_empty(&path)?;
        }
        self.folders.iter().map(|name| dir.join(name)).try_for_each(|folder| {
            files::sync_directory(&folder)?;
            files::remove_if_empty(&folder)
        })
    }
}

/// What is in a directory, by name, without the lock.
fn entries(dir: &Path) -> Result<Vec<(String, FileType)>> {
    let mut all = files::entries(dir)?;
    all.retain(|(name, kind)| name != lock::FILE || !kind.is_file());
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn begin(dir: &Path, manifest: &Manifest, force: bool) -> Result<()> {
        Directory::make(dir)?.begin(manifest, force, &|| None)
    }

    fn put(dir: &Path, names: &[&str]) {
        for name in names {
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
    }

    fn all(dir: &Path) -> Vec<String> {
        let mut names = Vec::new();
        for (name, kind) in entries(dir).unwrap() {
            if kind.is_dir() {
                names.extend(all(&dir.join(&name)).iter().map(|below| format!("{name}/{below}")));
            } else {
                names.push(name);
            }
        }
        names
    }

    fn run() -> Manifest {
        let case = serde_json::json!({ "output": { "vtk": { "surface": false }, "report": true } });
        Manifest::of_case(&case)
    }

    #[test]
    fn force_removes_only_what_the_manifest_lists() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("out");
        begin(&dir, &run(), false).unwrap();
        let own =
            ["history.csv", ".checkpoint.bin.tmp", "checkpoint.bin", "frames/000000.vtu", "frames/.000001.vtu.tmp"];
        let others =
            ["notes.txt", "animation.gif", "checkpoint.pt", "energy.png", "frames/mine.vtu", "000001/table.csv"];
        put(&dir, &own);
        put(&dir, &others);
        let error = begin(&dir, &run(), false).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("--force"), "{error}");
        begin(&dir, &run(), true).unwrap();
        let mut wanted: Vec<&str> = others.iter().copied().chain(["manifest.json"]).collect();
        wanted.sort();
        assert_eq!(all(&dir), wanted);
        assert_eq!(super::others(&dir).unwrap().len(), others.len());
    }

    #[test]
    fn a_directory_that_is_not_ours_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), &["history.csv", "summary.json", "frames/000000.vtu"]);
        let error = begin(root.path(), &run(), true).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("not the directory of an earlier run"), "{error}");
        assert_eq!(all(root.path()), ["frames/000000.vtu", "history.csv", "summary.json"]);
    }

    #[test]
    fn what_is_in_the_way_of_the_next_run_keeps_the_earlier_one_whole() {
        let root = tempfile::tempdir().unwrap();
        begin(root.path(), &Manifest::new(&["compare.csv"]), false).unwrap();
        put(root.path(), &["compare.csv", "frames/000007.vtu"]);
        let error = begin(root.path(), &run(), true).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("has `frames/000007.vtu`"), "{error}");
        assert_eq!(all(root.path()), ["compare.csv", "frames/000007.vtu", "manifest.json"]);
    }

    #[test]
    fn frames_of_a_complete_run_are_those_of_its_list() {
        let root = tempfile::tempdir().unwrap();
        begin(root.path(), &run(), false).unwrap();
        put(root.path(), &["summary.json", "frames/000000.vtu", "frames/000500.vtu"]);
        fs::write(root.path().join("series.pvd"), "<DataSet file=\"frames/000000.vtu\"/>").unwrap();
        let error = begin(root.path(), &run(), true).unwrap_err();
        assert!(error.to_string().contains("has `frames/000500.vtu`"), "{error}");
        // With a checkpoint it is not complete: its list may lag behind its frames.
        put(root.path(), &["checkpoint.bin"]);
        begin(root.path(), &run(), true).unwrap();
        assert_eq!(all(root.path()), ["manifest.json"]);
    }

    #[test]
    fn a_removal_that_is_stopped_goes_on_with_the_same_command() {
        let root = tempfile::tempdir().unwrap();
        begin(root.path(), &run(), false).unwrap();
        put(root.path(), &["summary.json", "history.csv", "report.html"]);
        let left = std::cell::Cell::new(2);
        let stop = || {
            left.set(left.get() - 1);
            (left.get() == 0).then(|| Error::Stopped { code: 130, text: String::new() })
        };
        let error = Directory::make(root.path()).unwrap().begin(&run(), true, &stop).unwrap_err();
        assert_eq!(error.exit_code(), 130);
        assert!(error.to_string().contains("the same command goes on"), "{error}");
        assert_eq!(all(root.path()), ["history.csv", "manifest.json", "report.html"], "the summary goes first");
        begin(root.path(), &run(), true).unwrap();
        assert_eq!(all(root.path()), ["manifest.json"]);
    }

    #[test]
    fn runs_of_a_sweep_go_by_their_own_manifests() {
        let root = tempfile::tempdir().unwrap();
        let sweep = Manifest::new(&["sweep.json", "table.csv"]).with_runs(3);
        begin(root.path(), &sweep, false).unwrap();
        for name in ["runs/000000", "runs/000001", "runs/000009"] {
            begin(&root.path().join(name), &run(), false).unwrap();
            put(&root.path().join(name), &["history.csv"]);
        }
        fs::create_dir(root.path().join("runs/000002")).unwrap();
        put(root.path(), &["sweep.json", "table.csv", "unfinished-000002/checkpoint.bin", "runs/000001/mine.txt"]);
        put(root.path(), &["unfinished-000007/checkpoint.bin"]);
        begin(root.path(), &Manifest::new(&["compare.csv"]), true).unwrap();
        let wanted = [
            "manifest.json",
            "runs/000001/manifest.json",
            "runs/000001/mine.txt",
            "runs/000009/history.csv",
            "runs/000009/manifest.json",
            "unfinished-000007/checkpoint.bin",
        ];
        assert_eq!(all(root.path()), wanted);
    }

    #[test]
    fn a_run_of_a_sweep_that_is_in_use_keeps_the_sweep() {
        let root = tempfile::tempdir().unwrap();
        let sweep = Manifest::new(&["sweep.json"]).with_runs(1);
        begin(root.path(), &sweep, false).unwrap();
        let run_dir = root.path().join("runs/000000");
        begin(&run_dir, &run(), false).unwrap();
        put(&run_dir, &["history.csv"]);
        let _owner = Directory::enter(&run_dir).unwrap();
        let error = begin(root.path(), &sweep, true).unwrap_err();
        assert_eq!(error.exit_code(), 6, "{error}");
        assert!(run_dir.join("history.csv").exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_neither_followed_nor_removed() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let (dir, elsewhere) = (root.path().join("out"), root.path().join("elsewhere"));
        put(&elsewhere, &["000000.vtu", "history.csv"]);
        // A directory that is reached by a link is as good as any.
        fs::create_dir(root.path().join("real")).unwrap();
        symlink(root.path().join("real"), &dir).unwrap();
        begin(&dir, &run(), false).unwrap();
        for (link, to) in [("runs", "."), ("000000", "."), ("frames", "../elsewhere")] {
            symlink(to, dir.join(link)).unwrap();
        }
        begin(&dir, &Manifest::new(&["compare.csv"]), true).unwrap();
        assert_eq!(all(&elsewhere), ["000000.vtu", "history.csv"]);
        let error = begin(&dir, &run(), true).unwrap_err();
        assert!(error.exit_code() == 2 && error.to_string().contains("has `frames`"), "{error}");
        let error = Directory::enter(&dir).unwrap().go_on(&run()).unwrap_err();
        assert!(error.exit_code() == 6 && error.to_string().contains("out/frames: it is a link"), "{error}");
        assert_eq!(all(&dir), ["000000", "frames", "manifest.json", "runs"]);
    }

    #[test]
    fn directories_of_the_first_edition_are_known_by_summary_checkpoint_and_plan() {
        let summary = r#"{ "schema": 1, "case": { "output": { "history": { "format": "npy" }, "vtk": false, "report": false } } }"#;
        let plan = r#"{ "identity": {}, "vary": ["a=1,2"] }"#;
        let files = ["history.csv", "history.npy", "report.html", "table.csv", "mine.txt"];
        for (name, bytes, left) in [
            ("summary.json", summary, &["history.csv", "mine.txt", "report.html", "table.csv"][..]),
            ("checkpoint.bin", "carom-checkpoint-2 00\n", &["mine.txt", "table.csv"]),
            ("sweep.json", plan, &["history.csv", "history.npy", "mine.txt", "report.html"]),
        ] {
            let root = tempfile::tempdir().unwrap();
            put(root.path(), &files);
            fs::write(root.path().join(name), bytes).unwrap();
            begin(root.path(), &Manifest::new(&["compare.csv"]), true).unwrap();
            let found = all(root.path());
            assert_eq!(found.iter().filter(|name| *name != "manifest.json").collect::<Vec<_>>(), left, "{name}");
        }
    }
}
