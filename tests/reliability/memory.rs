//! Memory: what a run takes, what check says it takes, and what a report may take.

use super::common::program::Place;
use allocation_counter::measure;
use carom::memory::{Limit, Sizes};
use carom::{report, run};
use std::fmt::Write;
use std::path::Path;

/// A finished run of a small model with as many rows in its table as wanted.
fn finished(dir: &Path, rows: usize) {
    let case = carom::cases::find("two-ball-oscillator").unwrap();
    std::fs::write(dir.join("case.toml"), case.text).unwrap();
    let set = ["output.vtk=false".to_string(), "expect={}".to_string()];
    let loaded = carom::case::load(&dir.join("case.toml"), &set, false).unwrap();
    let out = dir.join("out");
    super::run_into(&loaded, &out, &|| None).unwrap();
    let text = std::fs::read_to_string(out.join("history.csv")).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let mut long = format!("{first}\n");
    for line in rest.lines().cycle().take(rows) {
        writeln!(long, "{line}").unwrap();
    }
    std::fs::write(out.join("history.csv"), long).unwrap();
}

#[test]
fn the_report_holds_the_whole_table_in_memory() {
    let peak = |rows: usize| {
        let dir = tempfile::tempdir().unwrap();
        finished(dir.path(), rows);
        let before = std::fs::metadata(dir.path().join("out/history.csv")).unwrap().len();
        let used = measure(|| report::rebuild(&dir.path().join("out")).unwrap()).bytes_max;
        (before, used)
    };
    let ((_, small), (size, large)) = (peak(10_000), peak(100_000));
    // Ten times the rows, the same page: what grows is not held.
    assert!(large < small + (1 << 20), "{small} bytes for 10,000 rows, {large} for 100,000");
    assert!(large < size / 2, "{large} bytes for a table of {size}");
}

/// A shipped case with overrides.
fn sized(name: &str, set: &[&str]) -> carom::case::Loaded {
    let mut all = vec!["expect={}", "output.vtk=false", "output.report=false"];
    all.extend(set);
    super::common::shipped(name, &all)
}

#[test]
fn check_says_a_third_of_what_a_run_takes() {
    // What is asked for at a time is deterministic; what is resident is compared in tests/external/memory.py.
    let rough = "time.step=1e-6";
    for (name, set) in [
        ("impacting-bar", vec!["body.bar.line.elements=20000", rough, "time.end=2e-6"]),
        ("rotating-beam", vec!["body.beam.line.elements=20000", rough, "time.end=2e-6"]),
        ("cantilever-tip-load", vec!["body.beam.line.elements=20000"]),
    ] {
        let loaded = sized(name, &set);
        let prepared = run::prepare(&loaded).unwrap();
        let nothing = Sizes::default().bytes();
        let said = Sizes::of_system(&loaded, &prepared.model, &prepared.system).unwrap().bytes() - nothing;
        drop(prepared);
        let dir = tempfile::tempdir().unwrap();
        let took = measure(|| {
            super::run_into(&loaded, &dir.path().join("out"), &|| None).unwrap();
        });
        let ratio = said as f64 / took.bytes_max as f64;
        println!("{name}: {said} bytes said, {} asked for, {ratio:.2}", took.bytes_max);
        assert!((0.7..1.4).contains(&ratio), "{name}: {said} bytes said, {} asked for", took.bytes_max);
    }
}

#[test]
fn ten_million_elements_are_built_before_they_are_refused() {
    let loaded = sized("impacting-bar", &["body.bar.line.elements=10000000"]);
    let limit = Limit::given(1_000_000_000);
    let mut answer = String::new();
    let took = measure(|| answer = run::prepare_within(&loaded, Some(&limit)).err().unwrap().to_string());
    assert!(took.bytes_max < 1 << 20, "{} bytes to refuse", took.bytes_max);
    for words in ["would take about ", "but 1000 MB (--max-memory) is the limit", "10000000 elements", "fewer elements"]
    {
        assert!(answer.contains(words), "{words}: {answer}");
    }
}

#[test]
fn a_limit_of_memory_is_taken_for_a_wish() {
    let place = Place::empty();
    let case = super::common::at_root("cases/impacting-bar.toml");
    let run = |limit, elements| {
        let run = ["run", case.to_str().unwrap(), "-q", "-o", "out", "--max-memory", limit, "--set", "expect={}"];
        [&run[..], &["--set", elements]].concat()
    };
    let words = place.bad(3, &run("100MB", "body.bar.line.elements=1000000"));
    assert!(words.contains("but 100 MB (--max-memory) is the limit"), "{words}");
    assert!(!place.path("out").exists(), "nothing is begun");
    let words = place.bad(2, &run("7", "body.bar.line.elements=10"));
    assert!(words.contains("as in 800MB"), "{words}");
    place.good(&run("100MB", "body.bar.line.elements=10"));
}
