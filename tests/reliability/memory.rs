//! Memory: what a run takes, what check says it takes, and what a report may take.

use allocation_counter::measure;
use carom::report;
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
