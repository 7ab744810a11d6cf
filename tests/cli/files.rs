//! The files of a run: names, columns, times, digits, and the same bytes every time.

use super::{BAR, Place, tree};
use serde_json::Value;

/// Columns that every run has, as documented in `docs/cli.md`.
const COLUMNS: &str = "step,time,kinetic,strain,potential,energy,work_external,work_damping,work_support,work_contact,\
                       work_friction,work_scheme,work_curvature,defect,storage,storage_defect,min_gap,active,impulse,\
                       newton,factorizations,sweeps,complementarity";
const COUNTS: [&str; 5] = ["step", "active", "newton", "factorizations", "sweeps"];

/// Time and file of every frame in a list.
pub fn frames(series: &str) -> Vec<(f64, String)> {
    let value =
        |line: &str, key: &str| line.split_once(&format!("{key}=\"")).unwrap().1.split('"').next().unwrap().to_string();
    let lines = series.lines().filter(|line| line.contains("<DataSet "));
    lines.map(|line| (value(line, "timestep").parse().unwrap(), value(line, "file"))).collect()
}

/// Header and cells of a history.
fn history(text: &str) -> (Vec<&str>, Vec<Vec<&str>>) {
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    (rows.next().unwrap(), rows.collect())
}

fn number(cell: &str) -> f64 {
    cell.parse().unwrap()
}

#[test]
fn the_columns_of_a_history() {
    let place = Place::with_bar();
    place.good(&["run", "bar.toml"]);
    let text = place.read("out/bar/history.csv");
    let own = "contact.wall.impulse,contact.wall.force,contact.wall.gap,probe.foot.x,probe.foot.vx";
    assert_eq!(text.lines().next().unwrap(), format!("{COLUMNS},{own}"));
    // In the plane a probe has both components.
    place.write("ball.toml", PLANE);
    let answer = place.carom(&["run", "ball.toml"]);
    assert!(answer.code == 0 && answer.err.contains("nothing holds `ball`"), "it falls for ever: {}", answer.err);
    let text = place.read("out/ball/history.csv");
    assert_eq!(text.lines().next().unwrap(), format!("{COLUMNS},probe.p.x,probe.p.y,probe.p.vx,probe.p.vy"));
    // Without contact there is no gap, and this scheme has no storage function: empty cells, not zeros.
    let (header, rows) = history(&text);
    for (k, name) in header.iter().enumerate() {
        let empty = ["storage", "storage_defect", "min_gap"].contains(name);
        assert!(rows.iter().all(|row| row[k].is_empty() == empty), "{name}");
    }
    // Positions, not displacements: the ball starts at (1, 2) with velocity (3, 0) and falls freely.
    let last = rows.last().unwrap();
    let [x, y, vx, vy] = [23, 24, 25, 26].map(|k| number(last[k]));
    for (found, exact) in [(x, 1.3), (y, 2.0 - 0.05), (vx, 3.0), (vy, -1.0)] {
        assert!((found - exact).abs() < 1e-14, "{found} {exact}");
    }
}

const PLANE: &str = r#"format = 1
gravity = [0.0, -10.0]
[time]
end = 0.1
step = 1e-2
[scheme]
name = "moreau-jean"
[[body]]
name = "ball"
element = "mass"
at = [1.0, 2.0]
mass = 2.0
velocity = [3.0, 0.0]
[[probe]]
name = "p"
node = "ball"
"#;

#[test]
fn the_rows_of_a_history() {
    let place = Place::with_bar();
    place.good(&["run", "bar.toml"]);
    let text = place.read("out/bar/history.csv");
    let (header, rows) = history(&text);
    assert_eq!(rows.len(), 51);
    for (k, row) in rows.iter().enumerate() {
        assert_eq!(row[0], k.to_string());
        assert_eq!(number(row[1]), k as f64 * 1e-2, "multiples of the step, not sums");
        for (name, cell) in header.iter().zip(row) {
            if COUNTS.contains(name) {
                assert!(cell.parse::<u64>().is_ok(), "{name}: {cell}");
            } else {
                let (digits, exponent) = cell.trim_start_matches('-').split_once('e').unwrap();
                assert_eq!(digits.len(), 18, "{name}: {cell} has not 17 digits");
                assert!(exponent.parse::<i32>().is_ok(), "{name}: {cell}");
                assert!(number(cell).is_finite(), "{name}: {cell}");
            }
        }
    }
    // Row 0 is the initial state: 500 of kinetic energy, nothing happened yet.
    let cell = |row: &Vec<&str>, name: &str| number(row[header.iter().position(|h| *h == name).unwrap()]);
    assert!((cell(&rows[0], "kinetic") - 500.0).abs() < 1e-10);
    for name in header.iter().filter(|name| name.starts_with("work_") || name.contains("impulse")) {
        assert_eq!(cell(&rows[0], name), 0.0, "{name}");
    }
    assert_eq!(cell(&rows[0], "probe.foot.vx"), -10.0);
    // The identity of the ledger, term by term, in every row.
    let works = ["work_external", "work_damping", "work_support", "work_contact", "work_scheme", "work_curvature"];
    for row in &rows {
        let sum: f64 = works.iter().map(|name| cell(row, name)).sum();
        let change = cell(row, "energy") - cell(&rows[0], "energy");
        assert!((change - sum - cell(row, "defect")).abs() < 1e-10, "{row:?}");
        assert_eq!(
            cell(row, "contact.wall.force"),
            if cell(row, "time") > 0.0 { cell(row, "impulse") / 1e-2 } else { 0.0 }
        );
    }
}

#[test]
fn the_last_row_is_at_the_end_of_time() {
    let place = Place::with_bar();
    place.good(&["run", "bar.toml", "--set", "time.end=0.105", "--set", "output.history={ every = 4 }"]);
    let text = place.read("out/bar/history.csv");
    let times: Vec<f64> = history(&text).1.iter().map(|row| number(row[1])).collect();
    assert_eq!(times, [0.0, 0.04, 0.08, 0.105]);
}

#[test]
fn the_frames_of_a_run() {
    let place = Place::with_bar();
    place.good(&["run", "bar.toml"]);
    let frames = frames(&place.read("out/bar/series.pvd"));
    let wanted = [
        (0.0, "frames/000000.vtu"),
        (0.2, "frames/000001.vtu"),
        (0.4, "frames/000002.vtu"),
        (0.5, "frames/000003.vtu"),
    ];
    assert_eq!(frames, wanted.map(|(time, file)| (time, file.to_string())));
    let mut files = vec!["animation.json".to_string()];
    files.extend(frames.into_iter().map(|(_, file)| file));
    files.extend(["history.csv", "manifest.json", "report.html", "series.pvd", "summary.json"].map(String::from));
    assert_eq!(tree(&place.path("out/bar")), files);

    // A second run leaves none of the first one's frames behind.
    place.good(&["run", "bar.toml", "--force", "--set", "output.vtk={ frames = 1 }"]);
    assert_eq!(tree(&place.path("out/bar/frames")), ["000000.vtu", "000001.vtu"]);
    place.good(&["run", "bar.toml", "--force", "--set", "output={ vtk = false, report = false }"]);
    assert_eq!(tree(&place.path("out/bar")), ["history.csv", "manifest.json", "summary.json"]);
}

#[test]
fn the_summary_of_a_run() {
    let place = Place::with_bar();
    place.good(&["run", "bar.toml"]);
    let summary: Value = serde_json::from_str(&place.read("out/bar/summary.json")).unwrap();
    let keys: Vec<&str> = summary.as_object().unwrap().keys().map(String::as_str).collect();
    let wanted = "schema status version title hashes case nodes elements dofs candidates factorization steps energy \
                  defect penetration complementarity closings contacts unstable counts probes bodies advice timing";
    assert_eq!(keys, wanted.split_whitespace().collect::<Vec<_>>());
    assert_eq!((&summary["schema"], &summary["status"]), (&1.into(), &"completed".into()));
    assert_eq!((&summary["steps"], &summary["dofs"]), (&50.into(), &11.into()));
    assert_eq!(summary["counts"]["factorizations"], 1, "a linear run factors once");
    assert_eq!(summary["case"]["time"]["min_step"], 1e-2 / 1024.0, "defaults are spelled out");
    assert_eq!(summary["hashes"]["case"].as_str().unwrap().len(), 64);
    let timing: Vec<&str> = summary["timing"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(timing, ["setup_s", "steps_s", "output_s", "total_s"]);
    // The same numbers as in the last row of the history.
    let text = place.read("out/bar/history.csv");
    let (header, rows) = history(&text);
    let last = |name: &str| number(rows.last().unwrap()[header.iter().position(|h| *h == name).unwrap()]);
    for name in ["kinetic", "strain", "potential", "work_contact", "work_scheme", "defect"] {
        assert_eq!(summary["energy"][name].as_f64().unwrap(), last(name), "{name}");
    }
    assert_eq!(summary["energy"]["final"].as_f64().unwrap(), last("energy"));
}

#[test]
fn two_runs_write_the_same_bytes() {
    let place = Place::with_bar();
    for out in ["one", "two"] {
        place.good(&["run", "bar.toml", "-o", out, "--set", "output.vtk.encoding=\"lz4\""]);
    }
    same_bytes(&place, "one", "two");
}

/// Demands that two runs left the same bytes, the timing of their summaries aside.
pub fn same_bytes(place: &Place, one: &str, two: &str) {
    let names = tree(&place.path(one));
    assert_eq!(names, tree(&place.path(two)));
    for name in names.iter().filter(|name| *name != "summary.json") {
        let [a, b] = [one, two].map(|out| std::fs::read(place.path(out).join(name)).unwrap());
        assert!(a == b, "{name} differs");
    }
    let [a, b] = [one, two].map(|out| {
        let text = place.read(&format!("{out}/summary.json"));
        text[..text.find("\"timing\"").unwrap()].to_string()
    });
    assert_eq!(a, b);
}

#[test]
fn the_same_case_as_json_gives_the_same_history() {
    let place = Place::with_bar();
    let mut table: Value = toml::from_str(BAR).unwrap();
    table["title"] = "as JSON".into();
    place.write("same.json", &table.to_string());
    place.good(&["run", "bar.toml"]);
    place.good(&["run", "same.json"]);
    assert!(place.read("out/bar/history.csv") == place.read("out/same/history.csv"));
}
