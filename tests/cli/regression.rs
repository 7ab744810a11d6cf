//! `carom test --junit` and `--bless`: what a CI server and a user rely on.

use super::{BAR, Place};
use crate::common::at_root;
use crate::common::cases::Altered;
use std::collections::BTreeMap;

/// Names of elements with their attributes, and whether the text is well-formed to its end.
fn elements(xml: &str) -> Vec<(String, BTreeMap<String, String>)> {
    let document = roxmltree::Document::parse(xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
    let attributes = |node: roxmltree::Node| node.attributes().map(|a| (a.name().into(), a.value().into())).collect();
    let nodes = document.descendants().filter(|node| node.is_element());
    nodes.map(|node| (node.tag_name().name().to_string(), attributes(node))).collect()
}

fn with(expect: &str) -> String {
    format!("{BAR}\n[expect]\n{expect}")
}

#[test]
fn junit_tells_what_held_what_failed_and_what_did_not_run() {
    let place = Place::empty();
    place.write("c/a.toml", &with("\"energy@0\" = { value = 500.0, rel = 1e-12 }\n\"energy.max\" = { below = 1.0 }\n"));
    // A control character and markup in the message of a case that does not load.
    place.write("c/b.toml", "format = 1\ntitle = \"<&\u{1}\"\n");
    let answer = place.carom(&["test", "c", "--junit", "out.xml"]);
    assert_eq!(answer.code, 7, "{}", answer.err);
    assert!(answer.out.ends_with("\n1 passed, 2 failed\n"), "{}", answer.out);
    let xml = place.read("out.xml");
    let all = elements(&xml);
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["testsuites", "testsuite", "testcase", "failure", "testcase", "testsuite", "testcase", "error"],
        "{xml}"
    );
    let counts = |k: usize| ["tests", "failures", "errors"].map(|key| all[k].1[key].as_str());
    assert_eq!((counts(0), counts(1), counts(5)), (["3", "1", "1"], ["2", "1", "0"], ["1", "0", "1"]));
    assert_eq!((all[1].1["name"].as_str(), all[5].1["name"].as_str()), ("c/a.toml", "c/b.toml"));
    assert_eq!((all[2].1["name"].as_str(), all[4].1["name"].as_str()), ("energy.max", "energy@0"));
    let failure = &all[3].1["message"];
    assert!(failure.ends_with(", wanted below 1e0"), "{failure}");
    assert_eq!(all[7].1["type"], "exit code 3");
    assert!(xml.contains("&lt;&amp;"), "{xml}");
}

/// The cases of `tests/external/history_hashes.py` that no shipped case covers have expectations of their own.
#[test]
fn cases_for_hashes_hold_their_expectations() {
    let answer = Place::empty().carom(&["test", at_root("tests/data/hashed").to_str().unwrap()]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
}

#[test]
fn junit_into_a_missing_directory_is_an_error() {
    let place = Place::empty();
    place.write("a.toml", &with("\"energy@0\" = { value = 500.0, rel = 1e-12 }\n"));
    let error = place.bad(6, &["test", "a.toml", "--junit", "absent/out.xml"]);
    assert!(error.contains("cannot write absent/out.xml"), "{error}");
}

#[test]
fn bless_changes_the_wrong_values_alone_and_shows_them() {
    let place = Place::empty();
    let before = with(
        "# exact\n\"energy@0\" = { value = 500.0, rel = 1e-3 } # stays\n'step.final'   =   { abs=0,value = 49 }  # was wrong\n",
    );
    place.write("a.toml", &before);
    assert_eq!(place.carom(&["test", "a.toml"]).code, 7);
    assert_eq!(place.read("a.toml"), before, "never without being asked");
    let out = place.good(&["test", "a.toml", "--bless"]);
    assert!(out.starts_with("--- a.toml\n+++ a.toml\n@@ "), "{out}");
    assert!(out.contains("\n-'step.final'   =   { abs=0,value = 49 }  # was wrong\n"), "{out}");
    assert!(out.contains("\n+'step.final'   =   { abs=0,value = 50.0 }  # was wrong\n"), "{out}");
    assert!(out.contains("  2 expectations  ok, 1 blessed\n") && out.ends_with("\n2 passed, 0 failed\n"), "{out}");
    assert_eq!(place.read("a.toml"), before.altered("value = 49 ", "value = 50.0 "));
    let again = place.good(&["test", "a.toml", "--bless"]);
    assert!(!again.contains("---") && !again.contains("blessed"), "nothing left to change: {again}");
}

#[test]
fn bless_leaves_bounds_and_says_so() {
    let place = Place::empty();
    let text = with(
        "\"energy.max\" = { below = 1.0 }\n\"energy.min\" = { between = [0.0, 1.0] }\n\"time.final\" = { above = 9 }\n\
         \"contact.wall.release\" = { value = 9.0, abs = 1e-9 }\n",
    );
    // The wall is out of reach: no release to write.
    let text = text.altered("point = [0.0]", "point = [-100.0]");
    place.write("a.toml", &text);
    let answer = place.carom(&["test", "a.toml", "--bless"]);
    assert_eq!(answer.code, 7);
    assert!(answer.out.ends_with("\n0 passed, 4 failed\n"), "{}", answer.out);
    assert!(answer.err.contains("only a `value` that was measured can be blessed"), "{}", answer.err);
    assert_eq!(place.read("a.toml"), text);
}

#[test]
fn bless_refuses_json_and_leaves_cases_that_do_not_run() {
    let place = Place::empty();
    let json = serde_json::json!({
        "format": 1, "time": { "end": 0.1, "step": 0.01 }, "scheme": { "name": "moreau-jean" },
        "body": [{ "name": "m", "element": "mass", "at": [0.0], "mass": 1.0 }],
        "expect": { "step.final": { "value": 9.0, "abs": 0.0 } }
    });
    place.write("a.json", &json.to_string());
    let error = place.bad(2, &["test", "a.json", "--bless"]);
    assert!(error.contains("a.json: --bless rewrites TOML files only"), "{error}");
    place.write("b.toml", "format = 2\n");
    assert_eq!(place.carom(&["test", "b.toml", "--bless"]).code, 3);
    assert_eq!(place.read("b.toml"), "format = 2\n");
}
