//! The program as its users meet it: the real binary, each test in a directory of its own.

mod commands;
mod exit_codes;
mod files;
mod regression;
mod stopping;
mod sweep;
mod typos;

use assert_cmd::cargo::cargo_bin_cmd;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A bar of ten elements that touches the wall when the run begins: small, and every column is in use.
const BAR: &str = r#"format = 1
title = "short bar"

[time]
end = 0.5
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

[[probe]]
name = "foot"
node = "bar.start"

[output]
vtk = { every = 20 }
"#;

/// A directory that vanishes with the test.
struct Place(TempDir);

/// What a command left: exit code and both streams.
struct Answer {
    code: i32,
    out: String,
    err: String,
}

impl Place {
    /// An empty directory.
    fn empty() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    /// A directory with the short bar in `bar.toml`.
    fn with_bar() -> Place {
        let place = Place::empty();
        place.write("bar.toml", BAR);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The program, in this directory, with no word from outside about colours.
    fn command(&self, arguments: &[&str]) -> assert_cmd::Command {
        let mut command = cargo_bin_cmd!("carom");
        command.current_dir(self.0.path()).env_remove("NO_COLOR").args(arguments);
        command
    }

    /// Runs the program.
    fn carom(&self, arguments: &[&str]) -> Answer {
        answer(self.command(arguments).output().unwrap())
    }

    /// Runs the program and demands success; returns what it printed.
    fn good(&self, arguments: &[&str]) -> String {
        let answer = self.carom(arguments);
        assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{arguments:?}: {}", answer.out);
        answer.out
    }

    /// Runs the program and demands this exit code with nothing but a message, which it returns.
    fn bad(&self, code: i32, arguments: &[&str]) -> String {
        let answer = self.carom(arguments);
        assert_eq!((answer.code, answer.out.as_str()), (code, ""), "{arguments:?}: {}", answer.err);
        assert!(answer.err.starts_with("error"), "{}", answer.err);
        answer.err
    }
}

fn answer(output: std::process::Output) -> Answer {
    Answer {
        code: output.status.code().expect("ended by itself"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The files below a directory, by relative name.
fn tree(dir: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if path.is_dir() {
            names.extend(tree(&path).iter().map(|below| format!("{name}/{below}")));
        } else {
            names.push(name);
        }
    }
    names.sort();
    names
}
