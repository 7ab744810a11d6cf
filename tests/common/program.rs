//! The real program, in a directory that vanishes with the test.

use assert_cmd::cargo::cargo_bin;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A directory that vanishes with the test.
pub struct Place(TempDir);

/// What a command left: exit code and both streams.
#[derive(Debug)]
pub struct Answer {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Answer {
    /// Fails if the command was ended by a signal.
    pub fn of(output: Output) -> Answer {
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        let code = output.status.code().unwrap_or_else(|| panic!("ended by a signal: {err}"));
        Answer { code, out, err }
    }
}

impl Place {
    /// An empty directory.
    pub fn empty() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    /// A directory in memory where that can be had: for tests that are not about the disk.
    pub fn in_memory() -> Place {
        Place(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    /// The directory with one more file.
    pub fn with(self, name: &str, text: &str) -> Place {
        self.write(name, text);
        self
    }

    /// The directory with a copy of one of the repository's.
    pub fn with_copy(self, dir: &str) -> Place {
        std::fs::create_dir_all(self.path(dir)).unwrap();
        for entry in std::fs::read_dir(super::at_root(dir)).unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, self.path(dir).join(path.file_name().unwrap())).unwrap();
        }
        self
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The program, in this directory, with no word from outside about colours.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo_bin!("carom"));
        command.current_dir(self.root()).env_remove("NO_COLOR").args(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A shell script with the program as its `$0`.
    pub fn script(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(cargo_bin!("carom")).current_dir(self.root());
        command
    }

    /// Runs the program.
    pub fn carom(&self, arguments: &[&str]) -> Answer {
        Answer::of(self.command(arguments).output().unwrap())
    }

    /// Runs the program and demands success without a word on standard error; returns what it printed.
    pub fn good(&self, arguments: &[&str]) -> String {
        let answer = self.carom(arguments);
        assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{arguments:?}: {}", answer.out);
        answer.out
    }

    /// Runs the program and demands this exit code with nothing but a message, which it returns.
    pub fn bad(&self, code: i32, arguments: &[&str]) -> String {
        let answer = self.carom(arguments);
        assert_eq!((answer.code, answer.out.as_str()), (code, ""), "{arguments:?}: {}", answer.err);
        assert!(answer.err.starts_with("error"), "{}", answer.err);
        answer.err
    }

    /// Demands that two directories hold the same files with the same bytes, times apart.
    pub fn same_bytes(&self, one: &str, two: &str) {
        demand_same(two, &contents(&self.path(one)), &contents(&self.path(two)));
    }
}

/// All files below a directory, by relative name.
pub fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            found.insert(name, std::fs::read(&path).unwrap());
        }
    }
    found
}

/// The names of all files below a directory.
pub fn tree(dir: &Path) -> Vec<String> {
    files(dir).into_keys().collect()
}

/// All files below a directory; summaries without their timing.
pub fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = files(dir);
    for (_, bytes) in found.iter_mut().filter(|(name, _)| name.ends_with("summary.json")) {
        if let Some(end) = bytes.windows(8).rposition(|word| word == b"\"timing\"") {
            bytes.truncate(end);
        }
    }
    found
}

/// Demands the same files with the same bytes.
pub fn demand_same(what: &str, expected: &BTreeMap<String, Vec<u8>>, found: &BTreeMap<String, Vec<u8>>) {
    assert!(!expected.is_empty(), "{what}: nothing to compare with");
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(expected), names(found), "{what}");
    for (name, bytes) in expected {
        assert!(*bytes == found[name], "{what}: {name} differs");
    }
}
