//! A disk that fails at the n-th operation, for every n of a short run: exit code 6 with a path, nothing truncated under
//! a final name, and the run goes on from its checkpoint once the disk is well again.

use super::{contents, run_into};
use carom::case::{Format, Loaded, parse};
use carom::checkpoint::Checkpoint;
use carom::files::faults::{self, OPERATIONS, Operation};
use carom::sweep::{Sweep, Wish};
use carom::{Error, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A short run that writes every kind of file, and several checkpoints.
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

fn loaded(history: &str) -> Loaded {
    let set = [format!("output.history={{ format = \"{history}\" }}")];
    let case = parse(CASE, "short.toml", Format::Toml, &set).unwrap_or_else(|f| panic!("{}", f.render(false)));
    let file = PathBuf::from("short.toml");
    let (dir, name, text) = (PathBuf::from("."), "short".into(), CASE.into());
    Loaded { case, file, dir, name, text, overrides: set.to_vec(), allow_outside: false }
}

/// The path in an error of code 6 is one below the output directory.
fn demand_io(what: &str, error: &Error, dir: &Path) {
    assert_eq!(error.exit_code(), 6, "{what}: {error}");
    let Error::Io { path, .. } = error else { panic!("{what}: {error}") };
    assert!(path.starts_with(dir), "{what}: {error}");
    assert!(error.to_string().contains(&path.display().to_string()), "{what}: {error}");
}

/// What is under a final name is whole: the very bytes of the good run, or for files that grow, their beginning.
fn demand_whole(what: &str, dir: &Path, good: &BTreeMap<String, Vec<u8>>) {
    for (name, bytes) in contents(dir) {
        match name.as_str() {
            "checkpoint.bin" => drop(Checkpoint::parse(&bytes).unwrap_or_else(|e| panic!("{what}: {e}"))),
            "history.csv" => assert!(good[&name].starts_with(&bytes), "{what}: {name}"),
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
            "series.pvd" => {
                let text = String::from_utf8(bytes).unwrap();
                assert!(text.ends_with("</VTKFile>\n"), "{what}: {text}");
                for file in text.split("file=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
                    assert!(dir.join(file).is_file(), "{what}: {file} is listed but missing");
                }
            }
            name if name.split('/').next_back().unwrap().starts_with('.') => {
                panic!("{what}: the temporary file {name} stays")
            }
            _ => assert!(good[&name] == bytes, "{what}: {name} is not whole"),
        }
    }
}

/// Lets every operation of a kind fail in turn; `work` is the run, `check` looks at what it left.
fn every(operation: Operation, mut work: impl FnMut() -> Result<()>, mut check: impl FnMut(&str, Result<()>)) -> u64 {
    for n in 1.. {
        let what = format!("{operation:?} {n}");
        let (result, seen) = faults::with(operation, n, &mut work);
        if seen < n {
            result.unwrap_or_else(|error| panic!("{what}: fails although nothing was wrong: {error}"));
            return seen;
        }
        check(&what, result);
    }
    unreachable!("a run has an end")
}

#[test]
fn every_operation_of_a_run_fails_once() {
    for format in ["csv", "npy"] {
        let loaded = loaded(format);
        let root = tempfile::tempdir().unwrap();
        let (whole, out) = (root.path().join("whole"), root.path().join("out"));
        run_into(&loaded, &whole, &|| None).unwrap();
        let good = contents(&whole);
        let (mut resumed, mut without_report) = (0, 0);
        for operation in OPERATIONS {
            let work = || {
                let _ = std::fs::remove_dir_all(&out);
                run_into(&loaded, &out, &|| None).map(|_| ())
            };
            let count = every(operation, work, |what, result| {
                let error = result.expect_err(what);
                demand_io(what, &error, &out);
                demand_whole(what, &out, &good);
                // A report that fails costs nothing but itself.
                let complete = out.join("summary.json").exists();
                assert_eq!(complete, error.to_string().contains("the run itself is complete"), "{what}: {error}");
                without_report += u64::from(complete);
                resumed += u64::from(out.join("checkpoint.bin").exists());
                run_into(&loaded, &out, &|| None).unwrap_or_else(|error| panic!("{what}: cannot go on: {error}"));
                assert!(contents(&out) == good, "{what}: other bytes after going on");
            });
            // Frames, lists, checkpoints, tables, summary and report: none of these numbers is small by accident.
            assert!(count >= 4, "{operation:?}: only {count}");
            println!("{format}: {operation:?}: {count} faults");
        }
        assert!(resumed > 20, "only {resumed} went on from a checkpoint");
        // Open, write, sync and rename of the page.
        assert!(without_report >= 4, "only {without_report} had no report");
    }
}

#[test]
fn every_operation_of_a_sweep_fails_once() {
    let root = tempfile::tempdir().unwrap();
    let (case, whole, out) = (root.path().join("short.toml"), root.path().join("whole"), root.path().join("out"));
    std::fs::write(&case, CASE).unwrap();
    let wish = Wish {
        case,
        set: vec![],
        allow_outside: false,
        vary: vec!["scheme.rho_inf=0.5,0.6,0.7".into()],
        plot: None,
        keep_runs: false,
        shard: [1, 1],
    };
    let sweep = Sweep::new(&wish).unwrap();
    let go = |dir: &Path| sweep.run(dir, false, &|| None, &|_| ()).map(|_| ());
    go(&whole).unwrap();
    let good = contents(&whole);
    for operation in OPERATIONS {
        let work = || {
            let _ = std::fs::remove_dir_all(&out);
            go(&out)
        };
        let count = every(operation, work, |what, result| {
            demand_io(what, &result.expect_err(what), &out);
            for (name, bytes) in contents(&out).iter().filter(|(name, _)| *name != "rows.journal") {
                assert!(good[name] == *bytes, "{what}: {name} is not whole");
            }
            go(&out).unwrap_or_else(|error| panic!("{what}: cannot go on: {error}"));
            assert!(contents(&out) == good, "{what}: other bytes after going on");
        });
        assert!(count >= 4, "{operation:?}: only {count}");
    }
}
