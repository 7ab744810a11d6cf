//! The same bytes for any number of threads, and from the case that a summary records.

use super::common::at_root;
use super::common::program::{Place, contents, demand_same};
use super::{run_into, thinned};
use carom::case;
use carom::cases::CASES;
use sha2::{Digest, Sha256};
use std::path::Path;

/// SHA-256 of all files below a directory, names included.
fn hash(dir: &Path) -> String {
    let mut hasher = Sha256::new();
    for (name, bytes) in contents(dir) {
        hasher.update(name);
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn one_two_and_four_threads_give_the_same_hashes() {
    let place = Place::empty();
    let case = |name: &str| at_root("cases").join(format!("{name}.toml")).display().to_string();
    let (bar, beam) = (case("impacting-bar"), case("rotating-beam"));
    let commands: [&[&str]; 4] = [
        &["run", &beam],
        &["sweep", &bar, "--vary", "scheme.rho_inf=0:1:6", "--vary", "time.step=2e-3,1e-3", "--keep-runs"],
        &["compare", &bar, "--set", "time.step=4e-3"],
        &["converge", &case("bouncing-ball"), "--steps", "1.2e-2,6e-3,3e-3"],
    ];
    for (k, command) in commands.iter().enumerate() {
        let hashes = [1, 2, 4].map(|threads| {
            let out = format!("{k}-{threads}");
            place.good(&[command, &["-q", "--threads", &threads.to_string(), "-o", &out][..]].concat());
            hash(&place.path(&out))
        });
        assert!(hashes.iter().all(|one| *one == hashes[0]), "{command:?}: {hashes:?}");
    }
}

#[test]
fn the_resolved_case_of_a_summary_reproduces_the_run() {
    for shipped_case in CASES {
        // Beside the meshes, as the case itself is.
        let place = Place::empty().with_copy("meshes");
        let (first, second) = (place.path("first"), place.path("second"));
        let summary = run_into(&thinned(shipped_case.name), &first, &|| None).unwrap();
        place.write("cases/resolved.json", &summary.case.to_string());
        let loaded = case::load(&place.path("cases/resolved.json"), &[], false)
            .unwrap_or_else(|error| panic!("{}: {error}", shipped_case.name));
        let again = run_into(&loaded, &second, &|| None).unwrap();
        assert_eq!(summary.hashes, again.hashes, "{}", shipped_case.name);
        // The last checkpoint names its case file, which is another one.
        let results = |dir| contents(dir).into_iter().filter(|(name, _)| name != "checkpoint.last.bin").collect();
        demand_same(shipped_case.name, &results(&first), &results(&second));
    }
}
