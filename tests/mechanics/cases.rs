//! Every shipped case: its expectations, and every scheme on it with default guards.

use crate::common::at_root;
use crate::common::runs::{scheme, shipped};
use carom::cases::CASES;
use carom::expect::Watch;
use carom::schemes::SCHEMES;
use carom::sinks::columns::Columns;
use carom::sinks::digest::Digest;
use carom::{Error, run};

/// Cases whose step is too long for an explicit scheme, and one that is short enough: the limit is 9.62e-4.
const TOO_LONG: &[(&str, &str)] =
    &[("impacting-bar", "time.step=9.6e-4"), ("bouncing-bar", "time.step=9.6e-4"), ("bar-gmsh", "time.step=9.6e-4")];

/// Cases whose whole length with every scheme would take too long here, and what is enough of them.
const LONG: &[(&str, &str)] = &[("crowd", "time.end=0.12"), ("peg-board", "time.end=0.4")];

/// Cases with beams or stiff springs, whose waves an explicit scheme would have to resolve.
const BEAMS: &[&str] = &[
    "rotating-beam",
    "beam-on-stop",
    "portal-frame",
    "swing",
    "whisker",
    "crossed-beams",
    "peg-board",
    "portal-frame-impact",
    "beam-on-floor",
    "crowd",
];

/// Cases whose largest step is beyond what an explicit scheme can make, and is rarely taken.
const ADAPTIVE: &[&str] = &["bouncing-ball-adaptive", "bar-adaptive", "drop-test-adaptive"];

/// Cases in which guards make steps smaller.
const CUT: &[&str] = &["shot-at-plate"];

/// Cases with massless nodes, which no explicit scheme can move.
const MASSLESS: &[&str] = &["impacting-bar-redistributed"];

#[test]
fn the_list_is_the_directory() {
    let mut files: Vec<String> = std::fs::read_dir(at_root("cases"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let mut listed: Vec<String> = CASES.iter().map(|case| case.name.to_string()).collect();
    files.sort();
    listed.sort();
    assert_eq!(files, listed);
}

#[test]
fn headers_tell_what_is_in_the_case() {
    for case in CASES {
        let header: Vec<&str> = case.text.lines().take_while(|line| line.starts_with('#')).collect();
        assert_eq!(header[0], format!("# {}", case.title()), "{}", case.name);
        let command = format!("# Run:      carom run cases/{}.toml", case.name);
        for part in [command.as_str(), "# Look at:  ", "# Expect:   "] {
            assert!(header.iter().any(|line| line.starts_with(part)), "{}: no `{part}`", case.name);
        }
        assert!(header.len() > 6, "{}: no picture", case.name);
    }
}

#[test]
fn expectations_hold() {
    for case in CASES.iter().filter(|case| !case.is_first_order()) {
        let loaded = shipped(case.name, &[]);
        let prepared = run::prepare(&loaded).unwrap();
        let columns = Columns::new(&prepared.model, &prepared.system);
        let mut digest = Digest::new(&prepared.system);
        let mut watch = Watch::new(&loaded.case.expect, &columns);
        let (arrival, _) = run::march(&loaded.case, &prepared, &mut [&mut digest, &mut watch]).unwrap();
        let verdicts = watch.judge(&loaded.case.expect, &digest, &arrival);
        assert!(verdicts.len() >= 5, "{} expects too little", case.name);
        for verdict in verdicts {
            assert!(verdict.holds, "{}: {} is {}, wanted {}", case.name, verdict.key, verdict.measured, verdict.wanted);
        }
    }
}

/// The same bar, generated and read from a file of Gmsh: places, velocities and impulses of all steps.
#[test]
fn a_mesh_from_gmsh_gives_the_same_run() {
    let [generated, read] = ["impacting-bar", "bar-gmsh"].map(|name| crate::common::runs::run(shipped(name, &[])));
    assert_eq!(generated.steps.len(), read.steps.len());
    // Gmsh numbers the two ends first, so nodes are matched by their places.
    let order = |run: &crate::common::runs::Run| {
        let mut nodes: Vec<usize> = (0..run.model.places.len()).collect();
        nodes.sort_by(|&a, &b| run.model.places[a][0].total_cmp(&run.model.places[b][0]));
        nodes
    };
    let (ours, theirs) = (order(&generated), order(&read));
    for (a, b) in generated.steps.iter().zip(&read.steps) {
        // Of the largest place, 19, the speed, 10, and the first impulse, below 1.
        assert!((a.impulse[0] - b.impulse[0]).abs() < 1e-9, "impulse at {}", a.time);
        for (&m, &n) in ours.iter().zip(&theirs) {
            assert!((generated.place(a, m, 0) - read.place(b, n, 0)).abs() < 1e-9 * 19.0, "place at {}", a.time);
            assert!(
                (generated.velocity(a, m, 0) - read.velocity(b, n, 0)).abs() < 1e-9 * 10.0,
                "velocity at {}",
                a.time
            );
        }
    }
}

#[test]
fn explicit_schemes_are_refused_where_the_step_is_too_long() {
    for case in CASES.iter().filter(|case| !case.is_first_order() && !ADAPTIVE.contains(&case.name)) {
        let loaded = shipped(case.name, &["scheme={ name = \"central-difference\" }"]);
        let result = run::prepare(&loaded);
        let too_long = TOO_LONG.iter().any(|(name, _)| *name == case.name);
        if too_long || BEAMS.contains(&case.name) {
            let Err(Error::Input(message)) = result else { panic!("{}: not refused", case.name) };
            assert!(message.contains("is unstable for scheme `central-difference`"), "{message}");
            assert!(!too_long || message.contains("allowed: time.step below 9.62"), "{message}");
        } else if MASSLESS.contains(&case.name) {
            let Err(Error::Input(message)) = result else { panic!("{}: not refused", case.name) };
            assert!(message.contains("needs an implicit scheme"), "{message}");
        } else {
            assert!(result.is_ok(), "{}", case.name);
        }
    }
}

/// Ledger, complementarity and work counts: what is promised of every step of every case with every scheme.
#[test]
fn every_scheme_runs_every_case_with_a_closed_ledger() {
    for case in CASES.iter().filter(|case| !case.is_first_order()) {
        for kind in SCHEMES.iter().filter(|kind| kind.row.is_some()) {
            let implicit = [BEAMS, MASSLESS, ADAPTIVE].iter().any(|names| names.contains(&case.name));
            if kind.name == "central-difference" && implicit {
                continue;
            }
            let what = format!("{} with {}", case.name, kind.name);
            let mut set = vec![format!("scheme={}", scheme(kind)), "expect={}".to_string()];
            set.extend(LONG.iter().filter(|(name, _)| *name == case.name).map(|(_, end)| end.to_string()));
            if kind.name == "central-difference" {
                set.extend(TOO_LONG.iter().filter(|(name, _)| *name == case.name).map(|(_, step)| step.to_string()));
            }
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            let loaded = shipped(case.name, &set);
            let prepared = run::prepare(&loaded).unwrap_or_else(|error| panic!("{what}: {error}"));
            let mut digest = Digest::new(&prepared.system);
            let (arrival, _) = run::march(&loaded.case, &prepared, &mut [&mut digest])
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            let (step, whole) = if prepared.system.linear { (1e-11, 1e-10) } else { (1e-10, 1e-9) };
            let ledger = &arrival.ledger;
            assert!(ledger.worst_step <= step, "{what}: defect of a step {:e}", ledger.worst_step);
            assert!(ledger.worst_sum <= whole, "{what}: defect of the run {:e}", ledger.worst_sum);
            assert!(digest.complementarity <= 1e-10, "{what}: complementarity {:e}", digest.complementarity);
            assert_eq!(arrival.state.time, loaded.case.time.end, "{what}");
            let whole_steps = (loaded.case.time.end / loaded.case.time.step).round();
            if prepared.system.linear && ![ADAPTIVE, CUT].iter().any(|names| names.contains(&case.name)) {
                assert!(
                    (digest.steps as f64 - whole_steps).abs() <= 1.0,
                    "{what}: {} steps, so some were cut",
                    digest.steps
                );
                let shortened = digest.steps as f64 * loaded.case.time.step > loaded.case.time.end * (1.0 + 1e-9);
                assert_eq!(digest.factorizations, 1 + u64::from(shortened), "{what}");
                assert_eq!(digest.passes, digest.steps, "{what}: one pass per step");
            }
            if !prepared.system.contacts.is_empty() {
                assert!(digest.closings > 0, "{what}: nothing touched");
            }
        }
    }
}
