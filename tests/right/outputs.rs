//! Outputs of one run against each other: the summary is recomputed from the history.

use crate::common::program::Place;

/// A block on a floor under a load that changes, and a shot at a thin peg for whose sake steps are cut meanwhile.
const CUT: &str = r#"format = 1
gravity = [0.0, -10.0]
time = { end = 0.03, step = 1e-3 }
scheme = { name = "moreau-jean" }
[[body]]
name = "block"
element = "mass"
at = [5.0, 0.0]
mass = 1.0
[[body]]
name = "shot"
element = "mass"
at = [0.0, 1.0]
velocity = [0.0, -90.0]
mass = 0.1
[[load]]
name = "press"
nodes = "block"
force = [0.0, "-50 * sin(100 * t)"]
[[contact]]
name = "floor"
nodes = "block"
plane = { point = [0.0, 0.0], normal = [0.0, 1.0] }
[[contact]]
name = "peg"
nodes = "shot"
circle = { centre = [0.0, 0.0], radius = 2e-3 }
restitution = 1.0
"#;

/// Episodes, plateau, roughness, peak and impulse are what the rows of the history say, each row counted by its time; cuts falsified
/// them.
#[test]
fn outputs_of_a_run_with_cuts_agree_with_its_history() {
    let place = Place::empty().with("cut.toml", CUT);
    let answer = place.carom(&["run", "cut.toml"]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let summary: serde_json::Value = serde_json::from_str(&place.read("out/cut/summary.json")).unwrap();
    assert!(summary["counts"]["cuts"]["guards"].as_u64().unwrap() >= 3, "{}", summary["counts"]);
    let history = place.read("out/cut/history.csv");
    let names: Vec<&str> = history.lines().next().unwrap().split(',').collect();
    let column = |name: &str| -> Vec<f64> {
        let k = names.iter().position(|other| *other == name).unwrap();
        history.lines().skip(1).map(|row| row.split(',').nth(k).unwrap().parse().unwrap_or(f64::NAN)).collect()
    };
    let time = column("time");
    let impulse = column("contact.floor.impulse");
    // Runs of consecutive rows with an impulse.
    let mut episodes: Vec<Vec<usize>> = vec![];
    for row in (1..time.len()).filter(|&row| impulse[row] > 0.0) {
        match episodes.last_mut() {
            Some(last) if last.last() == Some(&(row - 1)) => last.push(row),
            _ => episodes.push(vec![row]),
        }
    }
    let floor = &summary["contacts"]["floor"];
    assert_eq!(floor["episodes"].as_u64().unwrap() as usize, episodes.len());
    let duration = |rows: &Vec<usize>| time[rows[rows.len() - 1]] - time[rows[0] - 1];
    let longest = episodes.iter().max_by(|a, b| duration(a).total_cmp(&duration(b))).unwrap();
    let (start, whole) = (time[longest[0] - 1], duration(longest));
    let (begin, end) = (start + 0.1 * whole, start + 0.9 * whole);
    let parts: Vec<(f64, f64)> = longest
        .iter()
        .map(|&row| {
            let h = time[row] - time[row - 1];
            ((time[row].min(end) - time[row - 1].max(begin)).max(0.0), impulse[row] / h)
        })
        .collect();
    let sum = |f: &dyn Fn(f64) -> f64| parts.iter().map(|&(h, force)| h * f(force)).sum::<f64>() / (end - begin);
    let mean = sum(&|force| force);
    let deviation = sum(&|force| (force - mean) * (force - mean)).sqrt();
    let equal = |key: &str, wanted: f64| {
        let found = floor[key].as_f64().unwrap();
        assert!((found - wanted).abs() <= 1e-9 * wanted.abs(), "{key}: {found}, the history has {wanted}");
    };
    equal("plateau", mean);
    equal("roughness", deviation / mean);
    equal("impulse", impulse.iter().sum());
    equal("closed", start);
    equal("release", start + whole);
    let forces = (1..time.len()).map(|row| impulse[row] / (time[row] - time[row - 1]));
    equal("peak", forces.fold(0.0, f64::max));
}
