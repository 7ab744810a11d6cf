//! Random models, run by carom and by a slow dense implementation that shares no code with it, and compared in every
//! column of the history.
//!
//! `DIFFERENTIAL_MODELS` and `DIFFERENTIAL_SEED` ask for other models than those of every day, `DIFFERENTIAL_CASE` for one
//! case file; see `docs/testing.md`.

#[path = "../common/mod.rs"]
mod common;

mod books;
mod compare;
mod elements;
mod generator;
mod law;
mod obstacles;
mod problem;
mod step;

use compare::{Outcome, compare};
use rayon::prelude::*;
use generator::Model;
use std::collections::{BTreeMap, BTreeSet};

fn asked(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// What came of the model of a seed; a panic of either program is a difference.
fn outcome(seed: u64) -> Outcome {
    std::panic::catch_unwind(|| compare(&generator::model(seed)))
        .unwrap_or_else(|_| Outcome::Different("panic, see above".into()))
}

/// One case file that somebody wonders about; its tables are not read.
#[test]
fn a_case_on_demand_gives_the_columns_of_the_dense_code() {
    let Ok(path) = std::env::var("DIFFERENTIAL_CASE") else { return };
    let case = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let outcome = compare(&Model { case, files: BTreeMap::new(), features: BTreeSet::new() });
    assert!(matches!(outcome, Outcome::Equal(_)), "{outcome:?}");
}

#[test]
fn random_models_give_the_columns_of_the_dense_code() {
    let (count, seed) = (asked("DIFFERENTIAL_MODELS", 300), asked("DIFFERENTIAL_SEED", 1));
    let outcomes: Vec<(u64, Outcome)> = (seed..seed + count).into_par_iter().map(|i| (i, outcome(i))).collect();
    let mut tally: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut worst, mut wrong) = (0.0_f64, vec![]);
    for (seed, outcome) in &outcomes {
        let kind = match outcome {
            Outcome::Equal(difference) => {
                worst = worst.max(*difference);
                "equal"
            }
            Outcome::CutShort(..) => "cut short",
            Outcome::Stopped(_) => "stopped",
            Outcome::Refused(_) => "refused",
            Outcome::Different(_) => "different",
        };
        *tally.entry(kind).or_default() += 1;
        if kind != "equal" {
            println!("model {seed}: {outcome:?} {:?}", generator::model(*seed).features);
        }
        if kind == "different" {
            wrong.push(*seed);
        }
    }
    println!("{count} models from seed {seed}: {tally:?}, largest difference {worst:.1e} of the scale");
    assert!(wrong.is_empty(), "models {wrong:?} differ");
}
