//! Every subcommand and every option that all of them share.

use super::{BAR, Place};
use crate::common::cases::Altered;
use carom::{cases, elements, obstacles, schemes};
use serde_json::Value;

#[test]
fn run_ends_with_a_table_on_standard_output() {
    let place = Place::with_bar();
    let out = place.good(&["run", "bar.toml"]);
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some("short bar"));
    let labels: Vec<&str> = lines.map(|line| line[..26].trim()).collect();
    assert_eq!(
        labels,
        [
            "contact wall",
            "force",
            "impulse",
            "probe foot",
            "model",
            "steps",
            "energy at the start",
            "energy at the end",
            "to contact",
            "to the scheme",
            "worst defect",
            "deepest penetration",
            "worst complementarity",
            "time",
            "files",
            "report"
        ]
    );
    // 11 nodes, half of 10 kg at 10 m/s squared.
    assert!(out.contains("\n  model                   11 nodes, 10 elements, 11 unknowns\n"), "{out}");
    assert!(out.contains("\n  energy at the start     500.000\n"), "{out}");
    assert!(out.contains("out/bar/{history.csv, series.pvd, summary.json}"), "{out}");
    assert!(place.path("out/bar/summary.json").is_file());
}

#[test]
fn quiet_says_nothing_and_verbose_says_more() {
    let place = Place::with_bar();
    assert_eq!(place.good(&["-q", "run", "bar.toml"]), "");
    assert!(place.path("out/bar/summary.json").is_file());
    let out = place.good(&["run", "bar.toml", "--force", "-v"]);
    assert!(
        out.contains("\n  linear solver           chain of 1x1 blocks, 1 factorizations, 50 Newton passes\n"),
        "{out}"
    );
    assert!(out.contains("\n  contact solves          closed form "), "{out}");
}

#[test]
fn set_replaces_values_and_output_chooses_the_directory() {
    let place = Place::with_bar();
    let scheme = "scheme={ name = \"moreau-jean\", theta = 0.5 }";
    let sets = ["--set", "time.step=5e-3", "--set", "body.bar.line.elements=20", "--set", scheme];
    let out = place.good(&[&["run", "bar.toml", "-o", "there/fine"][..], &sets].concat());
    assert!(out.contains("21 nodes, 20 elements") && out.contains("\n  steps                   100\n"), "{out}");
    let summary: Value = serde_json::from_str(&place.read("there/fine/summary.json")).unwrap();
    assert_eq!(summary["case"]["scheme"]["name"], "moreau-jean");
}

#[test]
fn check_gives_sizes_and_writes_nothing() {
    let place = Place::with_bar();
    let out = place.good(&["check", "bar.toml"]);
    assert!(out.starts_with("bar.toml: no errors\n"), "{out}");
    assert!(out.contains("\n  courant                     0.300000\n"), "{out}");
    let figures: Value = serde_json::from_str(&place.good(&["check", "bar.toml", "--json"])).unwrap();
    for (key, wanted) in [("nodes", 11), ("elements", 10), ("unknowns", 11), ("contact_candidates", 1), ("steps", 50)] {
        assert_eq!(figures[key], wanted, "{key}");
    }
    // Wave speed 30, elements of 1, steps of 1/100; consistent mass: omega = sqrt(12) c / l.
    assert!((figures["courant"].as_f64().unwrap() - 0.3).abs() < 1e-12);
    let period = std::f64::consts::TAU / (12f64.sqrt() * 30.0);
    assert!((figures["shortest_period"].as_f64().unwrap() / period - 1.0).abs() < 1e-6, "{figures}");
    assert_eq!(super::tree(place.root()), ["bar.toml"]);
}

#[test]
fn advice_goes_to_standard_error() {
    let place = Place::with_bar();
    for command in ["check", "run"] {
        let answer = place.carom(&[command, "bar.toml", "--set", "contact.wall.restitution=0.5"]);
        assert_eq!(answer.code, 0);
        let text = if command == "run" { answer.err } else { answer.out };
        let place = "advice: --set 'contact.wall.restitution=0.5': ";
        assert!(text.contains(&format!("{place}contact `wall`: restitution = 0.5 on a flexible body")), "{text}");
    }
}

#[test]
fn check_tells_errors_as_json_too() {
    let place = Place::empty();
    place.write("bad.toml", &BAR.altered("nodes = \"bar.start\"", "ndoes = \"bar.start\"").altered("1e-2", "-1.0"));
    let answer = place.carom(&["check", "bad.toml", "--json"]);
    assert_eq!(answer.code, 3);
    let told: Value = serde_json::from_str(&answer.out).unwrap();
    let errors = told["errors"].as_array().unwrap();
    let step = errors.iter().find(|error| error["path"] == "time.step").unwrap();
    assert_eq!(
        (step["file"].as_str(), step["line"].as_u64(), step["column"].as_u64()),
        (Some("bad.toml"), Some(6), Some(8))
    );
    let typo = errors.iter().find(|error| error["suggestion"] == "nodes").unwrap();
    assert_eq!(typo["line"], 1 + BAR.lines().position(|line| line.starts_with("nodes")).unwrap());
    assert!(answer.err.contains("bad.toml"), "messages stay: {}", answer.err);
    let missing = place.carom(&["check", "absent.toml", "--json"]);
    let told: Value = serde_json::from_str(&missing.out).unwrap();
    assert_eq!((missing.code, told["errors"][0]["file"].as_str()), (6, Some("absent.toml")));
}

#[test]
fn run_draws_the_energies_on_request() {
    let place = Place::with_bar();
    let out = place.good(&["run", "bar.toml", "-q", "--plot"]);
    assert!(out.starts_with("\n") && out.contains("energy: * total, k kinetic, s strain\n"), "{out}");
    assert!(out.lines().any(|line| line.trim_start().starts_with("500.000 |***")), "{out}");
    assert!(out.is_ascii() && out.contains("time 0.500000"), "no colours: {out}");
    let out = place.good(&["run", "bar.toml", "--force"]);
    assert!(!out.contains("energy: *"), "{out}");
}

#[test]
fn test_counts_expectations_over_files_and_directories() {
    let place = Place::empty();
    place.write("some/a.toml", &format!("{BAR}\n[expect]\n\"defect.max\" = {{ below = 1e-11 }}\n"));
    place.write(
        "some/b.toml",
        &format!("{BAR}\n[expect]\n\"step.final\" = {{ value = 50, abs = 0 }}\n\"energy@0\" = {{ value = 500.0, rel = 1e-12 }}\n"),
    );
    place.write("some/notes.txt", "not a case");
    let out = place.good(&["test", "some", "--threads", "2"]);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("some/a.toml ") && lines[0].ends_with("  1 expectations  ok"), "{out}");
    assert!(lines[1].starts_with("some/b.toml ") && lines[1].ends_with("  2 expectations  ok"), "{out}");
    assert_eq!(lines[2..], ["", "3 passed, 0 failed"]);
    let more = place.good(&["test", "some/b.toml", "-v"]);
    assert!(more.contains("    ok     energy@0 "), "{more}");
    assert_eq!(super::tree(place.root()).len(), 3, "a test leaves no files");
}

#[test]
fn list_knows_what_the_registries_know() {
    let place = Place::empty();
    let first_words = |topic: &str| -> Vec<String> {
        let out = place.good(&["list", topic]);
        out.lines().map(|line| line.split_whitespace().next().unwrap().to_string()).collect()
    };
    let mut wanted = Vec::new();
    for kind in schemes::SCHEMES {
        wanted.push(kind.name);
        wanted.extend(kind.keys.iter().map(|key| key.name));
    }
    wanted.push("theta");
    assert_eq!(first_words("schemes"), wanted);
    assert_eq!(first_words("elements"), elements::ELEMENTS.iter().map(|kind| kind.name).collect::<Vec<_>>());
    assert_eq!(first_words("cases"), cases::CASES.iter().map(|case| case.name).collect::<Vec<_>>());
    let rigid = obstacles::OBSTACLES.iter().map(|kind| kind.name);
    assert_eq!(first_words("contacts"), rigid.chain(["between"]).collect::<Vec<_>>());
    let all = place.good(&["list"]);
    let headings: Vec<&str> = all.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(headings, ["schemes", "elements", "contacts", "cases", "columns of the history"]);
}

#[test]
fn schema_is_json_with_every_table() {
    let schema: Value = serde_json::from_str(&Place::empty().good(&["schema"])).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let keys = schema["properties"].as_object().unwrap();
    for key in ["format", "title", "time", "scheme", "body", "contact", "support", "load", "output", "expect"] {
        assert!(keys.contains_key(key), "{key}");
    }
}

#[test]
fn new_writes_a_shipped_case_and_never_over_a_file() {
    let place = Place::empty();
    let answer = place.carom(&["new", "first"]);
    assert_eq!((answer.code, answer.out.as_str()), (0, ""));
    assert_eq!(answer.err, "wrote first.toml; run it with: carom run first.toml\n");
    assert_eq!(place.read("first.toml"), cases::find("impacting-bar").unwrap().text);
    place.good(&["check", "first.toml"]);
    assert_eq!(place.bad(2, &["new", "first"]), "error: first.toml exists already; choose another name\n");
    place.good(&["new", "-q", "v1.5"]);
    assert!(place.path("v1.5.toml").is_file(), "a point in a name is no extension");
    let message = place.bad(2, &["new", "second", "--from", "impacting-bra"]);
    assert!(message.contains("there is no shipped case `impacting-bra` (did you mean `impacting-bar`?)"), "{message}");
    // Every shipped case stands on its own wherever it is started, its mesh beside it.
    for case in cases::CASES {
        place.good(&["new", "-q", case.name, "--from", case.name]);
        place.good(&["check", &format!("{}.toml", case.name)]);
    }
    assert!(place.path("portal.msh").is_file());
}

#[test]
fn modes_finds_the_frequencies_of_a_free_bar() {
    let place = Place::with_bar();
    let fine = ["--set", "body.bar.line.elements=20"];
    let answer = place.carom(&[&["modes", "bar.toml", "--count", "3", "-o", "modes"][..], &fine].concat());
    assert_eq!((answer.code, answer.err.as_str()), (0, "shapes: modes/series.pvd\n"));
    let rows: Vec<Vec<&str>> = answer.out.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0][..2], ["1", "0"]);
    // Consistent mass, n elements: omega = c/l sqrt(6 (1 - cos a) / (2 + cos a)), a = k pi / n.
    for k in [1, 2] {
        let a = k as f64 * std::f64::consts::PI / 20.0;
        let omega = 30.0 / 0.5 * (6.0 * (1.0 - a.cos()) / (2.0 + a.cos())).sqrt();
        let found: f64 = rows[k][1].parse().unwrap();
        assert!((found / omega - 1.0).abs() < 1e-9, "{found} {omega}");
    }
}

#[test]
fn version_and_help_are_answers() {
    let place = Place::empty();
    // With the commit behind it, unless the build is an incremental one or outside of a checkout.
    let version = place.good(&["--version"]);
    let rest =
        version.strip_prefix(&format!("carom {}", env!("CARGO_PKG_VERSION"))).unwrap_or_else(|| panic!("{version}"));
    let commit = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(")\n"));
    assert!(rest == "\n" || commit.is_some_and(|hex| hex.chars().all(|c| c.is_ascii_hexdigit())), "{version}");
    let help = place.good(&["--help"]);
    for command in ["run", "resume", "check", "test", "report", "modes", "list", "schema", "new"] {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
        let of_command = place.good(&[command, "--help"]);
        assert!(of_command.contains(&format!("Usage: carom {command}")), "{of_command}");
    }
}

#[test]
fn colours_only_where_they_are_wanted() {
    let place = Place::empty();
    place.write("bad.toml", "fromat = 1\n");
    let plain = place.bad(3, &["check", "bad.toml"]);
    assert!(!plain.contains('\u{1b}'), "a pipe is no terminal");
    assert_eq!(place.bad(3, &["check", "bad.toml", "--color", "never"]), plain);
    let coloured = place.carom(&["check", "bad.toml", "--color", "always"]).err;
    assert!(coloured.starts_with('\u{1b}'), "{coloured}");
    let without = |text: &str| {
        let mut parts = text.split('\u{1b}');
        let first = parts.next().unwrap().to_string();
        parts.fold(first, |all, part| all + part.split_once('m').unwrap().1)
    };
    assert_eq!(without(&coloured), plain);
    let quiet = place.command(&["check", "bad.toml"]).env("NO_COLOR", "1").output().unwrap();
    assert_eq!(String::from_utf8(quiet.stderr).unwrap(), plain);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let mut child = Place::empty().command(&["schema"]).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = Place::empty().good(&["completions", shell]);
        assert!(script.contains("converge") && script.contains("probe"), "{shell}");
    }
    let unknown = Place::empty().bad(2, &["completions", "bsh"]);
    assert!(unknown.contains("'bash'"), "{unknown}");
}
