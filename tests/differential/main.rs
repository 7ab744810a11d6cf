//! Random models, run by carom and by a slow dense implementation that shares no code with it, and compared in every
//! column of the history.
//!
//! `DIFFERENTIAL_MODELS` and `DIFFERENTIAL_SEED` ask for other models than those of every day, `DIFFERENTIAL_CASE` for one
//! case file; see `docs/tests.md`.

#[path = "../common/mod.rs"]
mod common;

mod assembly;
mod books;
mod compare;
mod elements;
mod generator;
mod generator_contacts;
mod law;
mod massless;
mod obstacles;
mod problem;
mod sides;
mod step;
mod touching;
mod trial;
mod values;

use compare::{Outcome, compare};
use generator::Model;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Part of the models that must be equal in all their steps.
const EQUAL: f64 = 0.96;

/// Part of the equal models about which carom may say that a contact felt no force though something entered it or came from behind.
const SILENT: f64 = 0.01;

/// What three hundred models must hold between them.
const FEATURES: [&str; 47] = [
    "element bar",
    "element linear-beam",
    "element beam",
    "element mass",
    "spring in 1 d",
    "spring in 2 d",
    "dashpot",
    "lumped bar",
    "lumped linear-beam",
    "lumped beam",
    "damping of bar",
    "damping of linear-beam",
    "damping of beam",
    "shear correction",
    "section rectangle",
    "section circle",
    "section tube",
    "section i",
    "section direct",
    "joint hinge",
    "joint weld",
    "scheme moreau-jean",
    "scheme moreau-jean-dissipative",
    "scheme newmark",
    "scheme hht",
    "scheme generalized-alpha",
    "scheme central-difference",
    "position ggl",
    "held support",
    "driven support",
    "load on a node",
    "load per length",
    "moment",
    "gravity",
    "law newton",
    "law moreau",
    "friction",
    "between in 1 d",
    "between in 2 d",
    "moving plane",
    "moving half_plane",
    "moving circle",
    "moving bowl",
    "moving polyline",
    "massless nodes of bar",
    "massless nodes of linear-beam",
    "massless nodes of beam",
];

fn asked(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn equal_models(tally: &BTreeMap<&str, usize>) -> f64 {
    tally.get("equal").copied().unwrap_or(0) as f64
}

/// What came of the model of a seed; a panic of either program is a difference.
fn outcome(seed: u64) -> Outcome {
    std::panic::catch_unwind(|| compare(&generator::model(seed)))
        .unwrap_or_else(|_| Outcome::Different("panic, see above".into()))
}

/// Writes a model for `DIFFERENTIAL_CASE`.
fn keep(dir: &Path, seed: u64) {
    let Model { mut case, files, .. } = generator::model(seed);
    for (name, content) in files {
        let own = format!("model-{seed}-{name}");
        case = case.replace(&format!("\"{name}\""), &format!("\"{own}\""));
        std::fs::write(dir.join(own), content).expect("DIFFERENTIAL_KEEP is a directory");
    }
    std::fs::write(dir.join(format!("model-{seed}.toml")), case).expect("DIFFERENTIAL_KEEP is a directory");
}

/// One case file that somebody wonders about, with the tables beside it.
#[test]
fn a_case_on_demand_gives_the_columns_of_the_dense_code() {
    let Ok(path) = std::env::var("DIFFERENTIAL_CASE") else { return };
    let case = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let dir = Path::new(&path).parent().unwrap_or(Path::new("."));
    let quoted: Vec<&str> = case.split('"').collect();
    let tables = quoted.iter().filter(|word| word.ends_with(".csv"));
    let files = tables.map(|name| (name.to_string(), std::fs::read_to_string(dir.join(name)).expect("a table")));
    let outcome = compare(&Model { files: files.collect(), case, features: BTreeSet::new() });
    println!("{outcome:?}");
    assert!(!matches!(outcome, Outcome::Different(_)), "{outcome:?}");
}

#[test]
fn random_models_give_the_columns_of_the_dense_code() {
    let (count, seed) = (asked("DIFFERENTIAL_MODELS", 300), asked("DIFFERENTIAL_SEED", 1));
    let outcomes: Vec<(u64, Outcome)> = (seed..seed + count).into_par_iter().map(|i| (i, outcome(i))).collect();
    let (mut tally, mut features) = (BTreeMap::<&str, usize>::new(), BTreeMap::<String, usize>::new());
    let (mut worst, mut wrong, mut silent) = (0.0_f64, vec![], vec![]);
    for (seed, outcome) in &outcomes {
        let (kind, what) = match outcome {
            Outcome::Equal(difference, said) => {
                silent.extend(said.iter().map(|text| format!("model {seed}: {text}")));
                worst = worst.max(*difference);
                generator::model(*seed).features.into_iter().for_each(|it| *features.entry(it).or_default() += 1);
                ("equal", "")
            }
            Outcome::CutShort(what) => ("cut short", what.as_str()),
            Outcome::Stopped(what) => ("stopped", what.as_str()),
            Outcome::Refused(what) => ("refused", what.as_str()),
            Outcome::Different(what) => ("different", what.as_str()),
        };
        *tally.entry(kind).or_default() += 1;
        if kind != "equal" {
            println!("model {seed} {kind}: {what}");
            if let Ok(dir) = std::env::var("DIFFERENTIAL_KEEP") {
                keep(Path::new(&dir), *seed);
            }
        }
        if kind == "different" {
            wrong.push(*seed);
        }
    }
    println!("what was in equal models: {features:?}");
    println!("{count} models from seed {seed}: {tally:?}, largest difference {worst:.1e} of the scale");
    silent.iter().for_each(|said| println!("{said}"));
    println!("{} warnings of contacts without any force", silent.len());
    assert!(wrong.is_empty(), "models {wrong:?} differ");
    assert!(silent.len() as f64 <= SILENT * equal_models(&tally), "{silent:#?}");
    // Models that end the comparison early show little: they must stay rare.
    let equal = equal_models(&tally);
    assert!(equal >= EQUAL * count as f64, "only {equal} of {count} models were compared to their end");
    let missing: Vec<&&str> = FEATURES.iter().filter(|it| !features.contains_key(**it)).collect();
    assert!(count < 300 || missing.is_empty(), "no model was compared to its end with {missing:?}");
}
