//! The verification book: it passes, and `docs/verification.md` is what it says.

use super::Place;
use crate::common::at_root;
use serde_json::Value;
use std::path::Path;

#[test]
fn the_book_passes_and_the_page_is_up_to_date() {
    let place = Place::empty();
    let answer = place.carom(&["verify", "--json", "--markdown", "."]);
    let book: Value = serde_json::from_str(&answer.out).unwrap();
    let rows = || book["chapters"].as_array().unwrap().iter().flat_map(|chapter| chapter["rows"].as_array().unwrap());
    let failing: Vec<&Value> = rows().filter(|row| row["holds"] != true).collect();
    assert!(failing.is_empty() && answer.code == 0, "{failing:#?}");
    assert_eq!(book["passed"].as_u64().unwrap() as usize, rows().count());
    // The counterexample is in it, with the energy that theory.md computes by hand.
    let gain = rows().find(|row| row["quantity"] == "example of theory.md" && row["scheme"] == "e = 1, θ = 1").unwrap();
    assert!((gain["measured"].as_f64().unwrap() - 0.5).abs() < 1e-12, "{gain}");

    let docs = at_root("docs");
    let page = |dir: &Path| std::fs::read_to_string(dir.join("verification.md")).unwrap();
    assert!(page(place.root()) == page(&docs), "run: carom verify --markdown docs");
    for entry in std::fs::read_dir(place.path("verification")).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(docs.join("verification").join(&name).is_file(), "{name:?}: run: carom verify --markdown docs");
    }
}
