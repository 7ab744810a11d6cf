//! The files of a run: names, columns, times, digits, and the same bytes every time.

use super::{BAR, Place, tree};
use serde_json::Value;

/// Columns that every run has, as documented in `docs/cli.md`.
const COLUMNS: &str = "step,time,h,kinetic,strain,potential,energy,work_external,work_damping,work_support,work_contact,\
                       work_friction,work_scheme,work_curvature,defect,storage,storage_defect,min_gap,active,impulse,\
                       newton,factorizations,sweeps,complementarity";
const COUNTS: [&str; 6] = ["step", "active", "newton", "factorizations", "sweeps", "contact.wall.count"];

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
    if cell.is_empty() { f64::NAN } else { cell.parse().unwrap() }
}

#[test]
fn the_columns_of_a_history() {
    let place = Place::with_bar();
    place.good(&["run", "bar.toml"]);
    let text = place.read("out/bar/history.csv");
    let own = "contact.wall.impulse,contact.wall.force,contact.wall.gap,probe.foot.x,probe.foot.vx,contact.wall.count";
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
        let first = *name == "h";
        assert!(rows.iter().enumerate().all(|(i, row)| row[k].is_empty() == (empty || (first && i == 0))), "{name}");
    }
    // Positions, not displacements: the ball starts at (1, 2) with velocity (3, 0) and falls freely.
    let last = rows.last().unwrap();
    let [x, y, vx, vy] = [24, 25, 26, 27].map(|k| number(last[k]));
    for (found, exact) in [(x, 1.3), (y, 2.0 - 0.05), (vx, 3.0), (vy, -1.0)] {
        assert!((found - exact).abs() < 1e-14, "{found} {exact}");
    }
}

const PLANE: &str = r#"format = 1
gravity = [0.0, -10.0]
time = { end = 0.1, step = 1e-2 }
scheme = { name = "moreau-jean" }
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
        // No step led to the first row.
        let filled = header.iter().zip(row).filter(|(name, _)| k > 0 || **name != "h");
        for (name, cell) in filled {
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
    let mut files = ["animation.json", "checkpoint.last.bin"].map(String::from).to_vec();
    files.extend(frames.into_iter().map(|(_, file)| file));
    // The wall is at rest and has one frame.
    files.push("frames/obstacles-000000.vtu".into());
    files.extend(["history.csv", "manifest.json", "obstacles.pvd", "report.html"].map(String::from));
    files.extend(["series.pvd", "summary.json"].map(String::from));
    assert_eq!(tree(&place.path("out/bar")), files);

    // A second run leaves none of the first one's frames behind.
    place.good(&["run", "bar.toml", "--force", "--set", "output.vtk={ frames = 1 }"]);
    assert_eq!(tree(&place.path("out/bar/frames")), ["000000.vtu", "000001.vtu", "obstacles-000000.vtu"]);
    place.good(&["run", "bar.toml", "--force", "--set", "output={ vtk = false, report = false }"]);
    assert_eq!(tree(&place.path("out/bar")), ["checkpoint.last.bin", "history.csv", "manifest.json", "summary.json"]);
}

#[test]
fn the_summary_of_a_run() {
    let place = Place::with_bar();
    place.good(&["run", "bar.toml"]);
    let summary: Value = serde_json::from_str(&place.read("out/bar/summary.json")).unwrap();
    let keys: Vec<&str> = summary.as_object().unwrap().keys().map(String::as_str).collect();
    let wanted = "schema status version title hashes case nodes elements dofs candidates factorization steps energy \
                  defect penetration complementarity closings contacts unstable counts key_results probes bodies advice timing";
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
    // Key results of every column, from the table itself.
    assert_eq!(summary["key_results"].as_object().unwrap().len(), header.len());
    for (k, name) in header.iter().enumerate().filter(|(_, name)| !name.starts_with("storage")) {
        let column: Vec<f64> = rows.iter().map(|row| number(row[k])).collect();
        let result = |ending: &str| summary["key_results"][*name][ending].as_f64().unwrap();
        let max = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let min = column.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!((result("max"), result("min"), result("final")), (max, min, *column.last().unwrap()), "{name}");
        let when = |value: f64| number(rows[column.iter().position(|x| *x == value).unwrap()][1]);
        assert_eq!((result("max_time"), result("min_time")), (when(max), when(min)), "{name}");
        // Steps are equal.
        let mean = column[1..].iter().map(|x| x * x).sum::<f64>() / (column.len() - 1) as f64;
        assert!((result("rms") - mean.sqrt()).abs() <= 1e-12 * mean.sqrt(), "{name}");
    }
    // The bar closes the contact once; its first episode is all there is.
    let wall = &summary["contacts"]["wall"];
    let first = &wall["first"][0];
    assert_eq!((first["peak"].as_f64(), wall["first"].as_array().unwrap().len()), (wall["peak"].as_f64(), 1));
    assert!((first["impulse"].as_f64().unwrap() - wall["impulse"].as_f64().unwrap()).abs() < 1e-10);
}

/// A clamped beam with a load, and expectations of all that can be asked of a support, a section, a probe and a contact.
const CLAMPED: &str = r#"format = 1
gravity = [0.0, -10.0]
[time]
end = 0.2
step = 1e-3
[scheme]
name = "moreau-jean"
[[body]]
name = "beam"
element = "linear-beam"
line = { from = [0.0, 0.0], to = [1.0, 0.0], elements = 4 }
material = { young = 2.1e8, poisson = 0.3, density = 7800.0 }
section = { shape = "rectangle", width = 0.02, height = 0.04 }
[[support]]
name = "clamp"
nodes = "beam.start"
fix = ["x", "y", "theta"]
[[contact]]
name = "stop"
nodes = "beam.end"
plane = { point = [0.0, -0.005], normal = [0.0, 1.0] }
per_node = true
[[probe]]
name = "tip"
node = "beam.end"
columns = ["u", "a"]
[output]
sections = [{ name = "root", body = "beam", distance = 0.0 }]
[expect]
"support.clamp.fy.max" = { above = 62.4 }
"support.clamp.moment.max_time" = { between = [0.0, 0.2] }
"section.root.M.rms" = { above = 0.0 }
"section.root.stress.max" = { above = 0.0 }
"probe.tip.uy.min" = { value = -0.005, rel = 0.3 }
"probe.tip.ay.final" = { above = -1e9 }
"contact.stop.node0.force.max" = { above = 0.0 }
"contact.stop.tangent.max" = { value = 0.0, abs = 0.0 }
"contact.stop.count.max" = { value = 1.0, abs = 0.0 }
"contact.stop.episodes" = { above = 0.5 }
"#;

#[test]
fn expectations_and_sweeps_know_every_column() {
    let place = Place::empty();
    place.write("beam.toml", CLAMPED);
    let out = place.good(&["test", "beam.toml", "-v"]);
    assert!(out.contains("10 expectations  ok"), "{out}");
    let plot = "section.root.M.min_time";
    let sweep = |plot: &str, out: &str| {
        place.good(&["sweep", "beam.toml", "--vary", "time.step=1e-3,5e-4", "--plot", plot, "-o", out, "-q"])
    };
    sweep(plot, "sweep");
    let table = place.read("sweep/table.csv");
    let header: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    for name in ["support.clamp.fx.max", "support.clamp.moment.rms", plot, "probe.tip.uy.min", "defect.max"] {
        assert!(header.contains(&name), "{name}: {header:?}");
    }
    // Of the whole model only what is asked for.
    assert!(!header.contains(&"kinetic.max"));
    sweep("kinetic.max", "kinetic");
    assert!(place.read("kinetic/table.csv").lines().next().unwrap().contains(",kinetic.max"));
}

#[test]
fn columns_that_are_not_there_are_refused_with_the_reason() {
    let place = Place::empty();
    for (before, after, words) in [
        ("columns = [\"u\", \"a\"]", "columns = [\"u\"]", "the probe needs `columns = [\"a\"]`"),
        ("columns = [\"u\", \"a\"]", "columns = [\"w\"]", "columns[0]"),
        ("per_node = true", "per_node = false", "the contact needs `per_node = true`"),
        ("support.clamp.fy.max", "support.clam.fy.max", "did you mean `clamp`?"),
        ("section.root.stress.max", "section.root.stres.max", "did you mean `section.root.stress`?"),
        ("section.root.M.rms", "section.root.M.rsm", "did you mean `section.root.M.rms`?"),
        ("distance = 0.0", "distance = 1.5", "1.5 is beyond the end of `beam`, which is 1 long"),
        ("body = \"beam\", distance", "body = \"bean\", distance", "did you mean `beam`?"),
        (
            "sections = [{",
            "sections = [{ name = \"root\", body = \"beam\", distance = 1.0 }, {",
            "names are unique among sections",
        ),
    ] {
        assert!(CLAMPED.contains(before), "{before}");
        place.write("bad.toml", &CLAMPED.replace(before, after));
        let answer = place.carom(&["check", "bad.toml"]);
        assert!(answer.code == 3 && answer.err.contains(words), "{after}: {} {}", answer.code, answer.err);
        assert!(answer.err.contains("bad.toml:"), "{}", answer.err);
    }
}

#[test]
fn two_runs_write_the_same_bytes() {
    let place = Place::with_bar();
    for out in ["one", "two"] {
        place.good(&["run", "bar.toml", "-o", out, "--set", "output.vtk.encoding=\"lz4\""]);
    }
    place.same_bytes("one", "two");
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
