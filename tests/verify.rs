//! The verification book: it passes, and `docs/verification.md` is what it says.

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use std::path::Path;

#[test]
fn the_book_passes_and_the_page_is_up_to_date() {
    let dir = tempfile::tempdir().unwrap();
    let output = cargo_bin_cmd!("carom").args(["verify", "--json", "--markdown"]).arg(dir.path()).output().unwrap();
    let book: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = || book["chapters"].as_array().unwrap().iter().flat_map(|chapter| chapter["rows"].as_array().unwrap());
    let failing: Vec<&Value> = rows().filter(|row| row["holds"] != true).collect();
    assert!(failing.is_empty() && output.status.success(), "{failing:#?}");
    assert_eq!(book["passed"].as_u64().unwrap() as usize, rows().count());
    // The counterexample is in it, with the energy that theory.md computes by hand.
    let gain = rows().find(|row| row["quantity"] == "example of theory.md" && row["scheme"] == "e = 1, θ = 1").unwrap();
    assert!((gain["measured"].as_f64().unwrap() - 0.5).abs() < 1e-12, "{gain}");

    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let page = |dir: &Path| std::fs::read_to_string(dir.join("verification.md")).unwrap();
    assert!(page(dir.path()) == page(&docs), "run: carom verify --markdown docs");
    for entry in std::fs::read_dir(dir.path().join("verification")).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(docs.join("verification").join(&name).is_file(), "{name:?}: run: carom verify --markdown docs");
    }
}
