//! Checkpoints: everything that a run needs to go on as if it had never stopped.
//!
//! One file, `checkpoint.bin`: a line of text with the format's version and the SHA-256 of the rest, then the rest. It
//! is replaced atomically, so that there is always a whole one. The result of a resumed run is byte-identical to that
//! of an uninterrupted one, because all that a step depends on is here or is computed from it again.

use crate::case::{Case, Loaded};
use crate::files::{self, write_atomically};
use crate::ledger::Ledger;
use crate::methods::KeptFactors;
use crate::state::{Energy, State};
use crate::{Error, Result, shell};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// File name in the output directory.
pub const FILE: &str = "checkpoint.bin";

/// The checkpoint before the last step of a complete run, from which another run may go beyond its end.
pub const LAST: &str = "checkpoint.last.bin";

/// First word of the file, with the version of the layout.
const MAGIC: &str = "carom-checkpoint-8";

/// A run at the end of an accepted step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// What was run.
    pub identity: Identity,
    /// Energies at the start of the run.
    pub start: Energy,
    /// The state.
    pub state: State,
    /// Works up to there.
    pub ledger: Ledger,
    /// What the method remembers beyond the state.
    pub kept: KeptFactors,
    /// What the pace remembers.
    pub pace: Vec<u8>,
    /// What every sink remembers, in their order.
    pub sinks: Vec<Vec<u8>>,
}

/// What was run, so that another case, mesh or version is not mistaken for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// Version of carom.
    pub version: String,
    /// The case file, as an absolute path.
    #[serde(with = "path_as_text")]
    pub case_file: PathBuf,
    /// The `--set` arguments.
    pub overrides: Vec<String>,
    /// Whether files outside the tree are allowed.
    pub allow_outside: bool,
    /// The resolved case as JSON.
    pub case: String,
    /// SHA-256 of every file that the case names.
    pub files: BTreeMap<String, String>,
    /// The run that this one came from, if it did not begin at the start.
    #[serde(default)]
    pub origin: Option<Origin>,
}

/// Where a run came from that did not begin at the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Directory of the earlier run, as it was given.
    pub directory: String,
    /// Number of the last step that was taken over.
    pub step: u64,
    /// Its instant.
    pub time: f64,
}

/// Keys of a case that may differ in a run from another's checkpoint: none of them changes what a state means.
const FREE: [&str; 4] = ["time.end", "solver", "guards", "expect"];

impl Identity {
    /// The identity of a loaded case.
    pub fn new(loaded: &Loaded) -> Result<Identity> {
        let mut files = BTreeMap::new();
        for name in loaded.case.files() {
            let path = loaded.path(name);
            files.insert(name.to_string(), hex(&files::read(&path)?));
        }
        Ok(Identity {
            version: env!("CARGO_PKG_VERSION").to_string(),
            case_file: loaded.file.clone(),
            overrides: loaded.overrides.clone(),
            allow_outside: loaded.allow_outside,
            case: serde_json::to_string(&loaded.case).expect("a case is plain data"),
            files,
            origin: None,
        })
    }

    /// Refuses another case than the one that was begun, where more than the end of time, solver, guards or expectations
    /// differ; the message names the first difference.
    pub fn demand_branch(&self, now: &Identity) -> Result<()> {
        let without = |identity: &Identity| {
            let mut case: serde_json::Value = serde_json::from_str(&identity.case).unwrap_or_default();
            for key in FREE {
                let (table, key) = key.split_once('.').unwrap_or(("", key));
                let table = if table.is_empty() { case.as_object_mut() } else { case[table].as_object_mut() };
                table.map(|table| table.remove(key));
            }
            Identity { case: case.to_string(), ..identity.clone() }
        };
        let (before, now) = (without(self), without(now));
        if before.case != now.case {
            let difference = first_difference(&before, &now);
            return Err(Error::Input(format!(
                "cannot go on with another model: {difference}; a run from a checkpoint may change {}, nothing else",
                FREE.join(", ")
            )));
        }
        before.demand(&now)
    }

    /// Refuses to go on with anything but what was begun; the message names the difference.
    pub fn demand(&self, now: &Identity) -> Result<()> {
        let differs = |what: String| {
            Err(Error::Input(format!("cannot resume: {what}; start anew with `carom run`, or restore what was there")))
        };
        if self.version != now.version {
            return differs(format!("the checkpoint is of carom {}, this is {}", self.version, now.version));
        }
        if self.case != now.case {
            return differs(format!(
                "{} has changed since ({})",
                self.case_file.display(),
                first_difference(self, now)
            ));
        }
        for (name, hash) in &self.files {
            if now.files.get(name) != Some(hash) {
                return differs(format!("the file `{name}` has changed since"));
            }
        }
        Ok(())
    }
}

/// The first key in which two resolved cases differ.
fn first_difference(before: &Identity, now: &Identity) -> String {
    fn walk(path: &str, a: &serde_json::Value, b: &serde_json::Value) -> Option<String> {
        use serde_json::Value::{Array, Object};
        match (a, b) {
            (Object(a), Object(b)) => {
                let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
                keys.into_iter().find_map(|key| {
                    let nothing = serde_json::Value::Null;
                    let (x, y) = (a.get(key).unwrap_or(&nothing), b.get(key).unwrap_or(&nothing));
                    walk(&format!("{path}.{key}"), x, y)
                })
            }
            (Array(a), Array(b)) if a.len() == b.len() => {
                a.iter().zip(b).enumerate().find_map(|(i, (x, y))| walk(&format!("{path}[{i}]"), x, y))
            }
            _ if a == b => None,
            _ => Some(format!("{} was {a}, is {b}", path.trim_start_matches('.'))),
        }
    }
    let parse = |identity: &Identity| serde_json::from_str(&identity.case).unwrap_or_default();
    walk("", &parse(before), &parse(now)).unwrap_or_else(|| "in its order".to_string())
}

impl Checkpoint {
    /// Writes the checkpoint into a directory; the former one stays until this one is complete.
    pub fn write(&self, dir: &Path) -> Result<()> {
        self.write_as(dir, FILE)
    }

    fn write_as(&self, dir: &Path, name: &str) -> Result<()> {
        let body = postcard::to_stdvec(self).expect("plain data always fits into bytes");
        let mut bytes = format!("{MAGIC} {}\n", hex(&body)).into_bytes();
        bytes.extend_from_slice(&body);
        write_atomically(&dir.join(name), &bytes)
    }

    /// Reads the checkpoint from which another run may begin: that of an interrupted run, or the last one of a complete run.
    pub fn read_for_branch(dir: &Path) -> Result<Checkpoint> {
        if let Some(checkpoint) = Checkpoint::find(dir, FILE)? {
            return Ok(checkpoint);
        }
        Checkpoint::find(dir, LAST)?.ok_or_else(|| {
            Error::Input(format!("cannot go on from {}: there is neither {FILE} nor {LAST}", dir.display()))
        })
    }

    /// Reads the checkpoint of a directory.
    pub fn read(dir: &Path) -> Result<Checkpoint> {
        if let Some(checkpoint) = Checkpoint::find(dir, FILE)? {
            return Ok(checkpoint);
        }
        let there = |name: &str| files::exists(&dir.join(name));
        let why = match (there("summary.json")?, there("manifest.json")?) {
            (true, _) => "the run is complete; a longer one goes on with: -o NEW --until T".to_string(),
            // It is written before the first step, but assembling a large model takes its time.
            (false, true) => format!(
                "there is no checkpoint, because the run ended before its first step; start it again with: carom run \
                 CASE -o {} --force",
                shell::argument(dir)
            ),
            (false, false) => "there is no checkpoint; start anew with `carom run`".to_string(),
        };
        Err(Error::Input(format!("cannot resume {}: {why}", dir.display())))
    }

    /// The checkpoint of that name in a directory if there is one.
    fn find(dir: &Path, name: &str) -> Result<Option<Checkpoint>> {
        let path = dir.join(name);
        let Some(bytes) = files::find(&path)? else { return Ok(None) };
        let broken = |what| Error::Input(format!("{}: {what}", path.display()));
        Checkpoint::parse(&bytes).map(Some).map_err(broken)
    }

    /// The checkpoint of a directory if there is one that can be used. A damaged one is no loss but time; a disk that
    /// does not answer is an error.
    pub fn usable(dir: &Path) -> Result<Option<Checkpoint>> {
        match Checkpoint::find(dir, FILE) {
            Err(Error::Input(_)) => Ok(None),
            other => other,
        }
    }

    /// Reads a checkpoint from bytes; the error says what is wrong with them.
    pub fn parse(bytes: &[u8]) -> std::result::Result<Checkpoint, String> {
        let line = bytes.iter().position(|&b| b == b'\n').filter(|&end| end < 200);
        let Some(end) = line else { return Err("not a checkpoint of carom".into()) };
        let header = String::from_utf8_lossy(&bytes[..end]);
        let Some((magic, hash)) = header.split_once(' ') else { return Err("not a checkpoint of carom".into()) };
        if magic != MAGIC {
            return Err(format!("a checkpoint of another version (`{magic}`, this version reads `{MAGIC}`)"));
        }
        let body = &bytes[end + 1..];
        if hex(body) != hash {
            return Err("the checkpoint is damaged: its checksum does not fit".into());
        }
        postcard::from_bytes(body).map_err(|error| format!("the checkpoint cannot be read: {error}"))
    }
}

/// Writes checkpoints now and then.
pub struct Checkpointer {
    dir: PathBuf,
    identity: Identity,
    rhythm: Rhythm,
    last: Instant,
    since: u64,
    early: bool,
    /// Before a step to this instant the last checkpoint is due, which stays.
    last_before: Option<f64>,
    /// Steps until the clock is read again, out of how many, and when it was read last.
    blind: u64,
    stride: u64,
    looked: Instant,
}

/// The clock of checkpoints is read about this often.
const GLANCE: Duration = Duration::from_millis(10);

/// When a checkpoint is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rhythm {
    /// After so many seconds.
    Wall(f64),
    /// After so many steps.
    Steps(u64),
}

impl Rhythm {
    /// How often a case wants checkpoints.
    pub fn of(case: &Case) -> Rhythm {
        let wish = &case.output.checkpoint;
        wish.steps.map_or(Rhythm::Wall(wish.wall.unwrap_or(30.0)), Rhythm::Steps)
    }
}

impl Checkpointer {
    /// Keeps checkpoints of a run in its directory, one before the first step.
    pub fn new(dir: &Path, identity: Identity, rhythm: Rhythm) -> Checkpointer {
        let now = Instant::now();
        Checkpointer {
            dir: dir.to_path_buf(),
            identity,
            rhythm,
            last: now,
            since: 0,
            early: true,
            last_before: None,
            blind: 0,
            stride: 1,
            looked: now,
        }
    }

    /// Keeps checkpoints of a run that writes none before its first step, in a directory that is made if it comes to that:
    /// for runs by the thousand, most of which are over before they are worth a file.
    pub fn late(dir: &Path, identity: Identity, rhythm: Rhythm) -> Checkpointer {
        Checkpointer { early: false, ..Checkpointer::new(dir, identity, rhythm) }
    }

    /// Also keeps one before the step to time `end`, which stays when the run is complete.
    pub fn until(self, end: f64) -> Checkpointer {
        Checkpointer { last_before: Some(end), ..self }
    }

    /// Whether the last checkpoint is due before a step to time `end`.
    pub fn is_last(&self, end: f64) -> bool {
        self.last_before.is_some_and(|last| end >= last)
    }

    /// Writes the last checkpoint, once.
    pub fn keep_last(&mut self, make: impl FnOnce(Identity) -> Result<Checkpoint>) -> Result<()> {
        self.last_before = None;
        make(self.identity.clone())?.write_as(&self.dir, LAST)
    }

    /// Whether one is written before the first step.
    pub fn early(&self) -> bool {
        self.early
    }

    /// Counts a step; whether a checkpoint is due after it.
    pub fn due(&mut self) -> bool {
        self.since += 1;
        match self.rhythm {
            Rhythm::Wall(_) if self.blind > 0 => {
                self.blind -= 1;
                false
            }
            Rhythm::Wall(seconds) => {
                let now = Instant::now();
                // Clocks of some machines step back.
                let since = |then| now.saturating_duration_since(then);
                self.stride = if since(self.looked) < GLANCE { self.stride.saturating_mul(2) } else { 1 };
                (self.blind, self.looked) = (self.stride - 1, now);
                since(self.last).as_secs_f64() >= seconds
            }
            Rhythm::Steps(steps) => self.since >= steps,
        }
    }

    /// Writes a checkpoint; its identity is put in here.
    pub fn keep(&mut self, make: impl FnOnce(Identity) -> Result<Checkpoint>) -> Result<()> {
        if !self.early {
            files::make_directories(&self.dir)?;
        }
        make(self.identity.clone())?.write(&self.dir)?;
        (self.last, self.since) = (Instant::now(), 0);
        Ok(())
    }

    /// Removes the checkpoint of a run that is complete.
    pub fn done(&self) -> Result<()> {
        if self.early {
            return files::remove(&self.dir.join(FILE));
        }
        // Most such runs never come to a checkpoint.
        if files::exists(&self.dir)? { discard(&self.dir) } else { Ok(()) }
    }
}

/// Removes a directory with nothing but a checkpoint, or what a kill left of one; what somebody else keeps there stays.
/// A power cut may bring it back until the directory above is synced.
pub(crate) fn discard(dir: &Path) -> Result<()> {
    for (name, kind) in files::entries(dir)? {
        if kind.is_file() && (name == FILE || name == format!(".{FILE}.tmp")) {
            files::remove_file(&dir.join(name))?;
        }
    }
    files::remove_if_empty(dir)
}

/// A path as a text in files. One that is no text stands as its bytes in hexadecimal after a NUL, which no path has.
mod path_as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::path::{Path, PathBuf};

    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => {
                let bytes = path.as_os_str().as_encoded_bytes();
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                serializer.serialize_str(&format!("\0{digits}"))
            }
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(deserializer)?;
        let Some(digits) = text.strip_prefix('\0') else { return Ok(text.into()) };
        let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes = digits.as_bytes().chunks(2).map(pair).collect::<Option<Vec<u8>>>();
        bytes.and_then(from_bytes).ok_or_else(|| D::Error::custom("a path that cannot be read"))
    }

    #[cfg(unix)]
    fn from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
        use std::os::unix::ffi::OsStringExt;
        Some(std::ffi::OsString::from_vec(bytes).into())
    }

    #[cfg(not(unix))]
    fn from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
        String::from_utf8(bytes).ok().map(PathBuf::from)
    }
}

/// The SHA-256 of some bytes.
pub(crate) fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity {
            version: "1".into(),
            case_file: "x.toml".into(),
            overrides: vec![],
            allow_outside: false,
            case: r#"{"time":{"end":1.0},"body":[{"name":"a"}]}"#.into(),
            files: [("m.msh".to_string(), "00".to_string())].into(),
            origin: None,
        }
    }

    #[test]
    fn differences_are_named() {
        let before = identity();
        before.demand(&identity()).unwrap();
        let message = |edit: fn(&mut Identity)| {
            let mut now = identity();
            edit(&mut now);
            before.demand(&now).unwrap_err().to_string()
        };
        assert!(message(|i| i.version = "2".into()).contains("carom 1, this is 2"));
        let changed = message(|i| i.case = i.case.replace("1.0", "2.0"));
        assert!(changed.contains("time.end was 1.0, is 2.0"), "{changed}");
        let renamed = message(|i| i.case = i.case.replace("\"a\"", "\"b\""));
        assert!(renamed.contains("body[0].name was \"a\", is \"b\""), "{renamed}");
        assert!(message(|i| i.files.clear()).contains("`m.msh` has changed"));
        let longer = Identity { case: before.case.replace("1.0", "2.0"), ..identity() };
        before.demand_branch(&longer).unwrap();
        let other = Identity { case: before.case.replace("\"a\"", "\"b\""), ..identity() };
        assert!(before.demand_branch(&other).unwrap_err().to_string().contains("body[0].name was \"a\", is \"b\""));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_text_comes_back() {
        use std::os::unix::ffi::OsStringExt;
        for name in [&b"plain"[..], b"f\xc3\xbcr", b"no\xfftext", b""] {
            let case_file: PathBuf = std::ffi::OsString::from_vec(name.to_vec()).into();
            let before = Identity { case_file, ..identity() };
            let json = serde_json::to_string(&before).unwrap();
            assert_eq!(serde_json::from_str::<Identity>(&json).unwrap(), before);
            let bytes = postcard::to_stdvec(&before).unwrap();
            assert_eq!(postcard::from_bytes::<Identity>(&bytes).unwrap(), before);
        }
        assert!(
            serde_json::from_str::<Identity>(
                &serde_json::to_string(&identity()).unwrap().replace("x.toml", "\\u0000zz")
            )
            .is_err()
        );
    }

    #[test]
    fn damage_is_noticed() {
        let checkpoint = Checkpoint {
            identity: identity(),
            start: Energy::default(),
            state: State::default(),
            ledger: Ledger::default(),
            kept: KeptFactors::default(),
            pace: vec![1],
            sinks: vec![vec![2]],
        };
        let dir = tempfile::tempdir().unwrap();
        checkpoint.write(dir.path()).unwrap();
        let bytes = std::fs::read(dir.path().join(FILE)).unwrap();
        assert_eq!(Checkpoint::parse(&bytes).unwrap().sinks, [[2]]);
        for k in 0..bytes.len() {
            assert!(Checkpoint::parse(&bytes[..k]).is_err(), "cut at {k}");
            let mut bad = bytes.clone();
            bad[k] ^= 1;
            assert!(Checkpoint::parse(&bad).is_err(), "bit flipped at {k}");
        }
        assert!(Checkpoint::parse(b"carom-checkpoint-9 00\n").unwrap_err().contains("another version"));
    }
}
