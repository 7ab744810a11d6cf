//! Kills and faults at every call to the file system.
//!
//! Kills are made within the process: from the chosen call on no call does anything, so that the disk is what a killed
//! process leaves. `tests/external/kill_resume.py` kills the real program.

use super::common::program::demand_same;
use super::jobs::{Command, Job, contents, unlisted};
use carom::checkpoint::Checkpoint;
use carom::files::faults::{Call, ERRORS, Fault, TRIFLES};
use carom::{Error, Result};
use std::path::Path;

/// The path in an error of code 6 is that of a file that the command works with.
fn demand_io(what: &str, error: &Error, job: &Job) {
    assert_eq!(error.exit_code(), 6, "{what}: {error}");
    let Error::Io { path, .. } = error else { panic!("{what}: {error}") };
    assert!(path.starts_with(job.root()), "{what}: {error}");
    assert!(error.to_string().contains(&path.display().to_string()), "{what}: {error}");
}

/// What is under a final name is whole: the very bytes of the good run, or for files that grow, their beginning.
fn demand_whole(what: &str, dir: &Path, job: &Job) {
    let good = &job.good;
    let found = contents(dir);
    assert_eq!(unlisted(&found), None, "{what}");
    for (name, bytes) in found {
        let base = name.split('/').next_back().unwrap();
        match base {
            "checkpoint.bin" | "checkpoint.last.bin" => {
                drop(Checkpoint::parse(&bytes).unwrap_or_else(|e| panic!("{what}: {e}")))
            }
            "history.csv" => assert!(good[&name].starts_with(&bytes), "{what}: {name}"),
            // Rows come in the order in which they are finished.
            "rows.journal" => (),
            // A run that failed closes it where it can, so that it can be looked at.
            "animation.json" => {
                let closed = serde_json::from_slice::<serde_json::Value>(&bytes).is_ok();
                assert!(closed || good[&name].starts_with(&bytes), "{what}: {name}");
            }
            // The number of rows stands in front; those rows are there.
            "history.npy" => {
                let front = 12 + u32::from_le_bytes(good[&name][8..12].try_into().unwrap()) as usize;
                assert!(good[&name][front..].starts_with(&bytes[front.min(bytes.len())..]), "{what}: {name}");
            }
            "series.pvd" | "surface.pvd" | "obstacles.pvd" => {
                let text = String::from_utf8(bytes).unwrap();
                assert!(text.ends_with("</VTKFile>\n"), "{what}: {text}");
                for file in text.split("file=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
                    assert!(dir.join(file).is_file(), "{what}: {file} is listed but missing");
                }
            }
            base if base.starts_with('.') => panic!("{what}: the temporary file {name} stays"),
            // Those of an earlier film, and a list of both, until the next one is there.
            _ if job.command == Command::Film
                && (job.earlier.get(&name) == Some(&bytes) || base == "manifest.json") => {}
            _ => assert!(good.get(&name) == Some(&bytes), "{what}: {name} is not whole"),
        }
    }
}

/// Goes on as a user would, to the bytes of a command that was left in peace.
fn demand_restart(what: &str, job: &Job) {
    job.calmly(|job| job.restart()).unwrap_or_else(|error| panic!("{what}: cannot go on: {error}"));
    demand_same(what, &job.good, &contents(&job.out()));
}

/// Lets a fault happen at every call in turn; `check` looks at what it left. Returns how many calls there are.
fn every(job: &Job, fault: Fault, mut check: impl FnMut(&str, &Call, Result<()>)) -> usize {
    for n in 0.. {
        job.lay();
        let (result, calls) = job.watched(Some((n, fault)), |job| job.start());
        let Some(call) = calls.get(n) else {
            result.unwrap_or_else(|error| panic!("{}: fails although nothing was wrong: {error}", job.name));
            return n;
        };
        // Bytes are many, and say little.
        let words = format!("{call:?}");
        check(
            &format!("{}: {fault:?} at call {n}, {}", job.name, words.split(", bytes").next().unwrap()),
            call,
            result,
        );
    }
    unreachable!("a command has an end")
}

#[test]
fn a_kill_at_any_call_is_made_good_by_going_on() {
    let mut kills = 0;
    for job in Job::all() {
        for fault in [Fault::Kill, Fault::KillHalfWay] {
            every(&job, fault, |what, call, result| {
                // A kill at the very end, when the lock goes, comes too late to be noticed.
                let Err(error) = result else { return demand_restart(what, &job) };
                // Between two writes it makes no difference which half of them was killed.
                if fault == Fault::KillHalfWay && !matches!(call, Call::Write { .. }) {
                    return;
                }
                demand_io(what, &error, &job);
                demand_restart(what, &job);
                kills += 1;
            });
        }
    }
    println!("{kills} kills");
    assert!(kills >= 300, "only {kills}");
}

#[test]
fn a_fault_at_any_call_is_told_and_costs_nothing() {
    let (mut faults, mut without_report) = (0, 0);
    for job in Job::all() {
        for fault in ERRORS {
            let calls = every(&job, fault, |what, call, result| {
                // A full disk does not mind being read, and files being removed; a lock that stays keeps nobody out.
                let Err(error) = result else {
                    let unlock = matches!(call, Call::Remove(path) if path.ends_with(".carom.lock"));
                    assert!(fault == Fault::Full || unlock, "{what}: the fault is not told");
                    demand_same(what, &job.good, &contents(&job.out()));
                    return;
                };
                demand_io(what, &error, &job);
                // A report that fails costs nothing but itself.
                if error.to_string().contains("the run itself is complete") && job.command != Command::Sweep {
                    assert!(job.out().join("summary.json").exists(), "{what}: {error}");
                    without_report += 1;
                }
                // What is left of an earlier run is whole in another way.
                if job.out().exists() && job.command != Command::Replace {
                    demand_whole(what, &job.out(), &job);
                }
                let complete = job.out().join("summary.json").exists() && !job.out().join("checkpoint.bin").exists();
                if complete && [Command::Run, Command::Resume].contains(&job.command) {
                    demand_same(&format!("{what}: looks complete"), &job.good, &contents(&job.out()));
                }
                demand_restart(what, &job);
                faults += 1;
            });
            println!("{}: {fault:?} at each of {calls} calls", job.name);
        }
    }
    println!("{faults} faults, {without_report} of them in reports");
    assert!(faults >= 300, "only {faults}");
    // Open, write, sync and rename of the page.
    assert!(without_report >= 4, "only {without_report} had no report");
}

#[test]
fn interrupted_calls_and_short_writes_are_gone_on_with() {
    for job in Job::all() {
        for fault in TRIFLES {
            every(&job, fault, |what, _, result| {
                result.unwrap_or_else(|error| panic!("{what}: {error}"));
                demand_same(what, &job.good, &contents(&job.out()));
            });
        }
    }
}

/// What a line of the program may not say outside of `files.rs`, where calls can be watched.
const CALLS: [&str; 4] = ["fs::", "File::", "OpenOptions", ".exists()"];

#[test]
fn every_call_to_the_file_system_goes_through_one_door() {
    fn sources(dir: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { sources(&path, found) } else { found.push(path) }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut lines = 0;
    for path in files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
        let name = path.strip_prefix(&root).unwrap();
        // The door; a lock, which watches its own calls; and what the system says of its memory.
        let apart = ["files.rs", "directory/lock.rs", "memory/limit.rs"];
        if name.starts_with("files") || apart.iter().any(|file| name == Path::new(file)) {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        for line in text.split("#[cfg(test)]").next().unwrap().lines().filter(|line| !line.contains("/proc/")) {
            // Names of ours that end alike, and a type.
            let code = line.split("//").next().unwrap();
            let code = ["dofs::", "files::", "std::fs::FileType"]
                .iter()
                .fold(code.to_string(), |code, name| code.replace(name, ""));
            let found = CALLS.iter().find(|call| code.contains(**call));
            assert!(found.is_none(), "{}: {line}", name.display());
            lines += 1;
        }
    }
    assert!(lines > 10_000, "only {lines} lines were read");
}
