//! The same bytes for any number of threads, and from the case that a summary records.

use super::common::runs::cases;
use super::{contents, demand_same, run_into, thinned};
use assert_cmd::cargo::cargo_bin_cmd;
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
    let dir = tempfile::tempdir().unwrap();
    let case = |name: &str| cases().join(format!("{name}.toml")).display().to_string();
    let (bar, beam) = (case("impacting-bar"), case("rotating-beam"));
    let commands: [&[&str]; 4] = [
        &["run", &beam],
        &["sweep", &bar, "--vary", "scheme.rho_inf=0:1:6", "--vary", "time.step=2e-3,1e-3", "--keep-runs"],
        &["compare", &bar, "--set", "time.step=4e-3"],
        &["converge", &case("bouncing-ball"), "--steps", "1.2e-2,6e-3,3e-3"],
    ];
    for (k, command) in commands.iter().enumerate() {
        let hashes = [1, 2, 4].map(|threads| {
            let out = dir.path().join(format!("{k}-{threads}"));
            let mut carom = cargo_bin_cmd!("carom");
            carom.args(*command).args(["-q", "--threads", &threads.to_string(), "-o"]).arg(&out);
            assert!(carom.output().unwrap().status.success(), "{command:?}");
            hash(&out)
        });
        assert!(hashes.iter().all(|one| *one == hashes[0]), "{command:?}: {hashes:?}");
    }
}

#[test]
fn the_resolved_case_of_a_summary_reproduces_the_run() {
    for shipped_case in CASES {
        // Beside the meshes, as the case itself is.
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("cases");
        std::fs::create_dir(&place).unwrap();
        let meshes = cases().join("../meshes");
        std::fs::create_dir(root.path().join("meshes")).unwrap();
        for entry in std::fs::read_dir(meshes).unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, root.path().join("meshes").join(path.file_name().unwrap())).unwrap();
        }
        let (first, second) = (root.path().join("first"), root.path().join("second"));
        let summary = run_into(&thinned(shipped_case.name), &first, &|| None).unwrap();
        let file = place.join("resolved.json");
        std::fs::write(&file, summary.case.to_string()).unwrap();
        let loaded = case::load(&file, &[], false).unwrap_or_else(|error| panic!("{}: {error}", shipped_case.name));
        let again = run_into(&loaded, &second, &|| None).unwrap();
        assert_eq!(summary.hashes, again.hashes, "{}", shipped_case.name);
        demand_same(shipped_case.name, &contents(&first), &contents(&second));
    }
}
