//! Power cuts in the strict model: what was made, renamed or removed lasts once its directory was synced after it, bytes
//! once their file was; of everything else any part may be lost. The calls of a command are recorded, and the disk is
//! cut after every one of them.
//!
//! `CAROM_POWER_CUTS=n` asks for n random losses at every call, beside the extreme ones.

use super::common::random::Random;
use super::jobs::{Command, Job, contents, unlisted};
use carom::checkpoint::Checkpoint;
use carom::files::faults::Call;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// What becomes of a change that no sync covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Lost,
    Half,
    Kept,
}

/// Something with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Directory,
    File(usize),
}

#[derive(Clone, Debug)]
enum Naming {
    Add(PathBuf, Node),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf, Node),
}

impl Naming {
    fn apply(&self, names: &mut BTreeMap<PathBuf, Node>) {
        match self {
            Naming::Add(path, node) => drop(names.insert(path.clone(), *node)),
            Naming::Remove(path) => drop(names.remove(path)),
            Naming::Rename(from, to, node) => {
                names.remove(from);
                names.insert(to.clone(), *node);
            }
        }
    }

    /// The directory whose sync makes it last.
    fn directory(&self) -> &Path {
        let (Naming::Add(path, _) | Naming::Remove(path) | Naming::Rename(_, path, _)) = self;
        path.parent().unwrap()
    }
}

#[derive(Clone, Debug)]
enum Change {
    Write(u64, Vec<u8>),
    Truncate(u64),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>, fate: Fate) {
        match self {
            Change::Truncate(length) => bytes.resize(*length as usize, 0),
            Change::Write(at, new) => {
                let new = if fate == Fate::Half { &new[..new.len() / 2] } else { new };
                let (start, end) = (*at as usize, *at as usize + new.len());
                bytes.resize(bytes.len().max(end), 0);
                bytes[start..end].copy_from_slice(new);
            }
        }
    }
}

/// A disk with what lasts, and what does not last yet.
struct Disk {
    /// Names as the program sees them, and as they last.
    seen: BTreeMap<PathBuf, Node>,
    lasting: BTreeMap<PathBuf, Node>,
    namings: Vec<Naming>,
    files: Vec<(Vec<u8>, Vec<Change>)>,
}

impl Disk {
    fn new(out: &Path, files: &BTreeMap<String, Vec<u8>>) -> Disk {
        let mut disk = Disk { seen: BTreeMap::new(), lasting: BTreeMap::new(), namings: vec![], files: vec![] };
        for (name, bytes) in files {
            let path = out.join(name);
            for above in path.ancestors().skip(1).take_while(|above| above.starts_with(out)) {
                disk.lasting.insert(above.into(), Node::Directory);
            }
            disk.lasting.insert(path, Node::File(disk.files.len()));
            disk.files.push((bytes.clone(), vec![]));
        }
        disk.seen = disk.lasting.clone();
        disk
    }

    fn change(&mut self, path: &Path, change: Change) {
        let Some(Node::File(file)) = self.seen.get(path) else { panic!("{} is not open", path.display()) };
        self.files[*file].1.push(change);
    }

    fn name(&mut self, naming: Naming) {
        naming.apply(&mut self.seen);
        self.namings.push(naming);
    }

    fn sync_file(&mut self, file: usize) {
        let (bytes, changes) = &mut self.files[file];
        changes.drain(..).for_each(|change| change.apply(bytes, Fate::Kept));
    }

    fn apply(&mut self, call: &Call) {
        match call {
            Call::Look(_) => (),
            Call::Open { path, truncate } => {
                if !self.seen.contains_key(path) {
                    self.files.push((vec![], vec![]));
                    self.name(Naming::Add(path.clone(), Node::File(self.files.len() - 1)));
                } else if *truncate {
                    self.change(path, Change::Truncate(0));
                }
            }
            Call::Write { path, at, bytes } => self.change(path, Change::Write(*at, bytes.clone())),
            Call::Truncate { path, length } => self.change(path, Change::Truncate(*length)),
            Call::Sync(path) => {
                let Some(Node::File(file)) = self.seen.get(path) else { panic!("{} is not open", path.display()) };
                self.sync_file(*file);
            }
            Call::SyncDirectory(path) => {
                for naming in self.namings.extract_if(.., |naming| naming.directory() == path) {
                    naming.apply(&mut self.lasting);
                }
            }
            Call::SyncAll(_) => {
                self.namings.drain(..).for_each(|naming| naming.apply(&mut self.lasting));
                (0..self.files.len()).for_each(|file| self.sync_file(file));
            }
            Call::Rename { from, to } => {
                let node = self.seen[from];
                self.name(Naming::Rename(from.clone(), to.clone(), node));
            }
            Call::Remove(path) | Call::RemoveDirectory(path) => self.name(Naming::Remove(path.clone())),
            Call::MakeDirectory(path) => self.name(Naming::Add(path.clone(), Node::Directory)),
        }
    }

    /// What is below `out` after a cut; names end with a slash where they are those of directories.
    fn cut(&self, out: &Path, mut fate: impl FnMut(bool) -> Fate) -> BTreeMap<String, Vec<u8>> {
        let mut names = self.lasting.clone();
        for naming in &self.namings {
            if fate(true) != Fate::Lost {
                naming.apply(&mut names);
            }
        }
        let mut files = self.files.clone();
        for (bytes, changes) in &mut files {
            for change in changes.drain(..) {
                match fate(false) {
                    Fate::Lost => (),
                    fate => change.apply(bytes, fate),
                }
            }
        }
        let reachable = |path: &Path| {
            let mut above = path.ancestors().skip(1).take_while(|above| above.starts_with(out));
            above.all(|above| names.get(above) == Some(&Node::Directory))
        };
        let mut found = BTreeMap::new();
        for (path, node) in names.iter().filter(|(path, _)| path.starts_with(out) && reachable(path)) {
            let name = path.strip_prefix(out).unwrap().to_str().unwrap();
            match node {
                Node::Directory => drop(found.insert(format!("{name}/"), vec![])),
                Node::File(file) => drop(found.insert(name.into(), files[*file].0.clone())),
            }
        }
        found
    }
}

/// Makes the directory what the cut left.
fn lay(out: &Path, image: &BTreeMap<String, Vec<u8>>) {
    let _ = std::fs::remove_dir_all(out);
    for directory in image.keys().filter_map(|name| name.strip_suffix('/')) {
        std::fs::create_dir_all(out.join(directory)).unwrap();
    }
    for (name, bytes) in image.iter().filter(|(name, _)| !name.ends_with('/')) {
        std::fs::write(out.join(name), bytes).unwrap();
    }
}

/// What a command has told its user so far, by its returning from a call.
#[derive(Clone, Copy, Debug, Default)]
struct Promise {
    /// A checkpoint or a summary.
    begun: bool,
    /// What is swept.
    plan: bool,
    /// Finished rows.
    rows: usize,
    /// All of it.
    done: bool,
}

/// The promise after so many calls. A name is promised once something else is done after the sync of its directory, rows
/// once their journal, or the table, is touched again.
fn promise(job: &Job, calls: &[Call], count: usize) -> Promise {
    let out = job.out();
    let journal = out.join("rows.journal");
    let mut promise =
        Promise { begun: job.command == Command::Resume, done: count == calls.len(), ..Promise::default() };
    let (mut written, mut synced) = (0, 0);
    for (k, call) in calls[..count].iter().enumerate() {
        let moved_on = calls[k + 1..count].iter().any(|call| !matches!(call, Call::SyncDirectory(_) | Call::Look(_)));
        match call {
            Call::Rename { to, .. } if moved_on => {
                promise.begun |= *to == out.join("checkpoint.bin");
                promise.plan |= *to == out.join("sweep.json");
            }
            Call::Write { path, bytes, .. } if *path == journal => {
                promise.rows = synced;
                written += bytes.iter().filter(|&&byte| byte == b'\n').count();
            }
            Call::Sync(path) if *path == journal => synced = written,
            Call::Open { path, .. } if path.file_name().unwrap() == ".table.csv.tmp" => promise.rows = synced,
            _ => (),
        }
    }
    promise
}

/// What is wrong with what the cut left, before and after the user goes on.
fn fault(job: &Job, image: &BTreeMap<String, Vec<u8>>, promise: Promise) -> Option<String> {
    let out = job.out();
    lay(&out, image);
    let found = if out.exists() { contents(&out) } else { BTreeMap::new() };
    let has = |name: &str| found.contains_key(name);
    let rows = |name: &str| found.get(name).map_or(0, |bytes| bytes.iter().filter(|&&byte| byte == b'\n').count());
    let finals = [
        "manifest.json",
        "report.html",
        "summary.json",
        "sweep.json",
        "table.csv",
        "table.jsonl",
        "figure.svg",
        "figure.png",
        "film.gif",
    ];
    if let Some(name) = unlisted(&found) {
        return Some(format!("{name} is not listed"));
    }
    // The manifest lists both films while one takes the place of the other.
    for name in finals.into_iter().filter(|name| *name != "manifest.json" || job.command != Command::Film) {
        if found
            .get(name)
            .is_some_and(|bytes| job.good.get(name) != Some(bytes) && job.earlier.get(name) != Some(bytes))
        {
            return Some(format!("{name} is not whole"));
        }
    }
    if let Some(bytes) = found.get("checkpoint.bin")
        && let Err(what) = Checkpoint::parse(bytes)
    {
        return Some(format!("checkpoint.bin: {what}"));
    }
    if promise.begun && !has("checkpoint.bin") && !has("summary.json") {
        return Some("neither checkpoint nor summary".into());
    }
    if (promise.plan || rows("rows.journal") > 0 || has("table.jsonl")) && !has("sweep.json") {
        return Some("no sweep.json".into());
    }
    if promise.rows > rows("rows.journal").max(rows("table.jsonl")) {
        return Some(format!("{} rows were finished", promise.rows));
    }
    let complete =
        has("summary.json") && !has("checkpoint.bin") && ![Command::Report, Command::Film].contains(&job.command);
    // An earlier run is there with all its files, or not at all.
    let earlier = || job.earlier.iter().all(|(name, bytes)| name == "manifest.json" || found.get(name) == Some(bytes));
    let whole = found == job.good || (job.command == Command::Replace && !promise.done && earlier());
    if (promise.done || complete) && !whole {
        return Some("complete, but not the files of a run in one piece".into());
    }
    if let Err(error) = job.calmly(|job| job.restart()) {
        return Some(format!("cannot go on: {error}"));
    }
    let found = contents(&out);
    let names = || found.keys().chain(job.good.keys());
    let other = names().find(|name| found.get(*name) != job.good.get(*name));
    other.map(|name| format!("{name} differs after going on"))
}

#[test]
fn a_power_cut_after_any_call_loses_nothing_that_was_promised() {
    let random: u64 = std::env::var("CAROM_POWER_CUTS").map_or(1, |text| text.parse().unwrap());
    let mut dice = Random::new(16);
    let (mut all, mut broken) = (0, 0);
    let mut words = BTreeMap::new();
    for job in Job::all() {
        job.lay();
        let (result, calls) = job.watched(None, |job| job.start());
        result.unwrap();
        let mut disk = Disk::new(&job.out(), &job.before);
        let mut judged: HashMap<Vec<(String, Vec<u8>)>, Option<String>> = HashMap::new();
        let (mut cuts, mut bad) = (0, 0);
        for count in 0..=calls.len() {
            if count > 0 {
                disk.apply(&calls[count - 1]);
                if matches!(calls[count - 1], Call::Look(_)) && count < calls.len() {
                    continue;
                }
            }
            let promise = promise(&job, &calls, count);
            let mut losses: Vec<Box<dyn FnMut(bool) -> Fate + '_>> = vec![
                Box::new(|_| Fate::Lost),
                Box::new(|_| Fate::Kept),
                Box::new(|naming| if naming { Fate::Kept } else { Fate::Lost }),
                Box::new(|naming| if naming { Fate::Lost } else { Fate::Kept }),
            ];
            for _ in 0..random {
                let mut dice = Random::new(dice.bits());
                losses.push(Box::new(move |_| dice.pick(&[Fate::Lost, Fate::Half, Fate::Kept])));
            }
            for loss in losses {
                let image = disk.cut(&job.out(), loss);
                let key = format!("{promise:?}");
                let key = std::iter::once((key, vec![])).chain(image.clone()).collect();
                let what = judged.entry(key).or_insert_with(|| fault(&job, &image, promise));
                cuts += 1;
                if let Some(what) = what {
                    bad += 1;
                    *words.entry(format!("{}: {what}", job.name)).or_insert(0) += 1;
                }
            }
        }
        println!("{}: {} calls, {cuts} cuts, {} of them different, {bad} broken", job.name, calls.len(), judged.len());
        (all, broken) = (all + cuts, broken + bad);
    }
    println!("{all} cuts, {broken} broken");
    assert!(all >= 300, "only {all} cuts");
    assert!(broken == 0, "{broken} of {all} power cuts: {words:#?}");
}
