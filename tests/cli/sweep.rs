//! Sweeps: the table in order, the same bytes however it came about, and clear words before anything runs.

use super::{Place, tree};
use crate::common::cases::Altered;
use serde_json::Value;
use sha2::{Digest, Sha256};

const TWO: [&str; 4] = ["--vary", "scheme.rho_inf=0:1:5", "--vary", "body.bar.line.elements=5,10,20"];

/// What a complete sweep leaves.
const FILES: [&str; 6] = ["figure.png", "figure.svg", "manifest.json", "sweep.json", "table.csv", "table.jsonl"];

fn sweep<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["sweep", "bar.toml"], &TWO[..], more].concat()
}

/// Runs the program and demands success; without the word on where files went.
fn good(place: &Place, arguments: &[&str]) -> String {
    place.good(&[arguments, &["-q"]].concat())
}

/// Header and cells; no cell of these tables needs quotes.
fn cells(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split(',').map(String::from).collect()).collect()
}

#[test]
fn a_table_of_all_combinations_in_order() {
    let place = Place::with_bar();
    let out = good(&place, &sweep(&[]));
    assert!(out.starts_with("run  scheme.rho_inf  body.bar.line.elements  energy.final  status\n"), "{out}");
    let dir = "out/bar-sweep";
    assert_eq!(tree(&place.path(dir)), FILES);
    let table = cells(&place.read(&format!("{dir}/table.csv")));
    assert_eq!(table[0][..6], ["run", "scheme.rho_inf", "body.bar.line.elements", "status", "code", "error"]);
    assert_eq!(table.len(), 16);
    let lines: Vec<Value> =
        place.read(&format!("{dir}/table.jsonl")).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 15);
    for (k, (row, line)) in table[1..].iter().zip(&lines).enumerate() {
        // The last parameter varies fastest.
        assert_eq!((row[0].clone(), &line["run"]), (k.to_string(), &k.into()));
        assert_eq!(line["parameters"]["body.bar.line.elements"], [5, 10, 20][k % 3]);
        assert_eq!(line["parameters"]["scheme.rho_inf"].as_f64(), Some(0.25 * (k / 3) as f64));
        assert_eq!((row[3].as_str(), row[4].as_str(), row[5].as_str()), ("completed", "0", ""));
        // Both tables hold the same numbers, to the last bit.
        for (name, cell) in table[0].iter().zip(row).skip(6) {
            let number = &line["figures"][name];
            assert_eq!(cell.parse::<f64>().ok(), number.as_f64(), "{name}");
        }
    }
    // A row has the figures of the run that it stands for.
    let set = ["--set", "scheme.rho_inf=0.5", "--set", "body.bar.line.elements=10"];
    good(&place, &[&["run", "bar.toml", "-o", "alone"], &set[..]].concat());
    let summary: Value = serde_json::from_str(&place.read("alone/summary.json")).unwrap();
    let row = &lines[7]["figures"];
    assert_eq!(row["energy.final"], summary["energy"]["final"]);
    assert_eq!(row["work_contact"], summary["energy"]["work_contact"]);
    assert_eq!(row["defect.step"], summary["defect"]["step"]);
    assert_eq!(row["penetration"], summary["penetration"]);
    assert_eq!(row["contact.wall.release"], summary["contacts"]["wall"]["release"]);
    assert_eq!(row["probe.foot.vx"], summary["probes"]["foot"]["vx"]);
    let svg = place.read(&format!("{dir}/figure.svg"));
    assert!(svg.contains("scheme.rho_inf") && svg.contains("energy.final"), "{svg}");
    let png = std::fs::read(place.path(&format!("{dir}/figure.png"))).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.ends_with(b"IEND\xaeB`\x82"));
}

#[test]
fn threads_shards_and_pieces_give_the_same_bytes() {
    let place = Place::with_bar();
    good(&place, &sweep(&["-o", "whole", "--threads", "1"]));
    good(&place, &sweep(&["-o", "four", "--threads", "4"]));
    same_tables(&place, "whole", "four");
    for shard in ["3/4", "1/4", "4/4", "2/4"] {
        good(&place, &sweep(&["-o", &format!("part-{}", &shard[..1]), "--shard", shard]));
    }
    assert_eq!(tree(&place.path("part-4")), ["manifest.json", "sweep.json", "table.csv", "table.jsonl"]);
    good(&place, &["merge", "part-2", "part-1", "part-3", "part-4", "-o", "merged"]);
    same_tables(&place, "whole", "merged");
    // Without a name the parts and the whole find their own places.
    good(&place, &sweep(&["--shard", "1/2"]));
    good(&place, &sweep(&["--shard", "2/2"]));
    good(&place, &["merge", "out/bar-sweep-1of2", "out/bar-sweep-2of2"]);
    same_tables(&place, "whole", "out/bar-sweep");
    // A time limit of zero ends before the first run; the same command goes on.
    let message = place.bad(8, &sweep(&["-o", "pieces", "--max-wall", "0"]));
    assert_eq!(message, "error: the time limit is reached; go on with: carom resume pieces\n");
    good(&place, &sweep(&["-o", "pieces"]));
    same_tables(&place, "whole", "pieces");
    // Once complete it is told again, and nothing runs.
    let clock = std::fs::metadata(place.path("pieces/table.csv")).unwrap().modified().unwrap();
    good(&place, &["resume", "pieces"]);
    assert_eq!(std::fs::metadata(place.path("pieces/table.csv")).unwrap().modified().unwrap(), clock);
}

fn same_tables(place: &Place, one: &str, two: &str) {
    assert_eq!(tree(&place.path(one)), tree(&place.path(two)));
    for name in tree(&place.path(one)) {
        let bytes = |dir: &str| std::fs::read(place.path(dir).join(&name)).unwrap();
        assert!(bytes(one) == bytes(two), "{name} of {two} differs");
    }
}

/// A changed row with the checksum that fits it: the first sixteen digits of the SHA-256 of the object without it.
fn sealed(row: &str) -> String {
    let text = format!("{}}}", row.split(",\"sum\"").next().unwrap());
    let sum: String = Sha256::digest(&text).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{},\"sum\":\"{sum}\"}}", &text[..text.len() - 1])
}

#[test]
fn a_flipped_digit_in_a_shard_or_a_table_is_found_with_its_line() {
    let place = Place::with_bar();
    for shard in ["1/2", "2/2"] {
        good(&place, &sweep(&["-o", &format!("part-{}", &shard[..1]), "--shard", shard]));
    }
    good(&place, &["merge", "part-1", "part-2", "-o", "whole"]);
    for dir in ["part-2", "whole"] {
        let text = place.read(&format!("{dir}/table.jsonl"));
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        let digit = lines[2].find("\"energy.final\":").unwrap() + 17;
        let other = if lines[2].as_bytes()[digit] == b'3' { "4" } else { "3" };
        lines[2].replace_range(digit..=digit, other);
        assert!(serde_json::from_str::<Value>(&lines[2]).is_ok(), "{}", lines[2]);
        place.write(&format!("{dir}/table.jsonl"), &(lines.join("\n") + "\n"));
    }
    let message = place.bad(3, &["merge", "part-1", "part-2", "-o", "again"]);
    assert!(message.starts_with("error: part-2/table.jsonl:3: the row does not fit its checksum"), "{message}");
    assert!(!place.path("again").exists(), "nothing is written");
    let message = place.bad(3, &["resume", "whole"]);
    assert!(message.starts_with("error: whole/table.jsonl:3: the row does not fit its checksum"), "{message}");
    // The message says the way out.
    std::fs::remove_file(place.path("part-2/table.jsonl")).unwrap();
    good(&place, &["resume", "part-2"]);
    good(&place, &["merge", "part-1", "part-2", "-o", "again"]);
    std::fs::remove_file(place.path("whole/table.jsonl")).unwrap();
    good(&place, &["resume", "whole"]);
    same_tables(&place, "whole", "again");
}

#[test]
fn a_journal_beside_a_complete_table_goes() {
    let place = Place::with_bar();
    good(&place, &sweep(&["-o", "whole"]));
    // What a kill between the table and the removal of the journal leaves.
    place.write("whole/rows.journal", &place.read("whole/table.jsonl"));
    good(&place, &["resume", "whole"]);
    assert_eq!(tree(&place.path("whole")), FILES);
}

#[test]
fn finished_rows_are_not_run_again() {
    let place = Place::with_bar();
    good(&place, &sweep(&["-o", "whole"]));
    // What a killed sweep leaves: a plan, and a journal with a row and a half.
    std::fs::create_dir(place.path("killed")).unwrap();
    place.write("killed/sweep.json", &place.read("whole/sweep.json"));
    let lines = place.read("whole/table.jsonl");
    let mut rows: Vec<&str> = lines.lines().collect();
    // A mark that only a row that was kept can have.
    let marked = sealed(&rows[4].altered("\"closings\":", "\"closings\":99"));
    rows[4] = &marked;
    place.write("killed/rows.journal", &format!("{}\n{}", rows[4], &rows[2][..40]));
    let answer = good(&place, &["resume", "killed"]);
    assert!(answer.contains("run  scheme.rho_inf"), "{answer}");
    assert_eq!(place.read("killed/table.jsonl"), rows.join("\n") + "\n");
    assert_eq!(tree(&place.path("killed")), FILES);
}

#[test]
fn a_long_run_goes_on_from_its_checkpoint() {
    let place = Place::with_bar();
    let long = ["sweep", "bar.toml", "--vary", "scheme.rho_inf=0.5,0.6", "--set", "time.step=2e-6", "--threads", "1"];
    good(&place, &[&long[..], &["-o", "whole"]].concat());
    let checkpoint = || tree(&place.path("pieces")).iter().any(|name| name.ends_with("/checkpoint.bin"));
    // A machine may be so slow that the time is up before the first step, but not again and again.
    let mut wall = 0.02;
    while !place.path("pieces").exists() || !checkpoint() {
        let limit = format!("{wall:.3}");
        place.bad(8, &[&long[..], &["-o", "pieces", "--max-wall", &limit]].concat());
        wall *= 1.5;
    }
    assert!(!place.path("pieces/table.jsonl").exists());
    good(&place, &["resume", "pieces"]);
    same_tables(&place, "whole", "pieces");
}

#[test]
fn runs_keep_their_files_if_asked() {
    let place = Place::with_bar();
    good(&place, &["sweep", "bar.toml", "--vary", "scheme.rho_inf=0.5,0.6", "--keep-runs", "-o", "kept"]);
    good(&place, &["run", "bar.toml", "-o", "alone", "--set", "scheme.rho_inf=0.6"]);
    place.same_bytes("alone", "kept/runs/000001");
    assert_eq!(tree(&place.path("kept/runs/000000")), tree(&place.path("alone")));
}

#[test]
fn code_1_for_runs_that_fail_and_the_table_says_which() {
    let place = Place::with_bar();
    // The second value allows less penetration than there is.
    let vary = "guards.penetration.fraction=1.0,1e-3";
    let moved = ["--set", "contact.wall.plane={ point = [-1.0], normal = [1.0] }", "--set", "time.min_step=1e-2"];
    let arguments = [&["sweep", "bar.toml", "--vary", vary][..], &moved].concat();
    let answer = place.carom(&arguments);
    assert_eq!(answer.code, 1, "{}", answer.err);
    assert!(answer.err.contains("error: 1 of 2 runs failed; the table says which\n"), "{}", answer.err);
    let lines = place.read("out/bar-sweep/table.jsonl");
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&rows[0]["status"], &rows[0]["code"]), (&"completed".into(), &0.into()));
    assert_eq!((&rows[1]["status"], &rows[1]["code"]), (&"failed".into(), &5.into()));
    assert!(rows[1]["error"].as_str().unwrap().starts_with("guard `penetration`"), "{}", rows[1]);
    assert!(answer.out.contains("failed (5): guard `penetration`"), "{}", answer.out);
    let csv = place.read("out/bar-sweep/table.csv");
    assert!(csv.lines().nth(2).unwrap().contains(",failed,5,"), "{csv}");
    // The same again says the same.
    assert_eq!(place.carom(&arguments).code, 1);
}

#[test]
fn codes_2_and_3_before_anything_runs() {
    let place = Place::with_bar();
    for (code, vary, what) in [
        (2, "scheme.rho_inf", "there is no `=`"),
        (2, "scheme.rho_inf=0:1:0", "a range has at least 2"),
        (2, "scheme.name=newmark", "a text needs quotes"),
        (3, "scheme.rho_inv=0.5,0.6", "did you mean `rho_inf`?"),
        (3, "body.bat.line.elements=5,6", "did you mean `bar`?"),
        (3, "scheme.rho_inf=0.5,1.5", "scheme.rho_inf"),
        (3, "body.bar.line.elements=5:10:3", "body.bar.line.elements"),
        (3, "time.step=0.1,1.0", "must not exceed `time.end`"),
    ] {
        let message = place.bad(code, &["sweep", "bar.toml", "--vary", vary]);
        assert!(message.contains(what), "{vary}: {message}");
    }
    let message = place.bad(2, &["sweep", "bar.toml", "--vary", "time.step=1e-2,5e-3", "--plot", "energy"]);
    assert!(message.contains("there is no figure `energy`") && message.contains("energy.final"), "{message}");
    for shard in ["0/4", "5/4", "x", "1/0"] {
        let answer = place.carom(&sweep(&["--shard", shard]));
        assert_eq!(answer.code, 2);
        assert!(answer.err.contains("a shard is i/n"), "{}", answer.err);
    }
    assert!(!place.path("out").exists(), "nothing ran");
}

#[test]
fn another_sweep_is_not_mixed_with_an_earlier_one() {
    let place = Place::with_bar();
    let one = ["sweep", "bar.toml", "-o", "s", "--vary", "scheme.rho_inf=0.5,0.6"];
    good(&place, &one);
    let message = place.bad(2, &["sweep", "bar.toml", "-o", "s", "--vary", "scheme.rho_inf=0.5,0.7"]);
    assert!(message.contains("other --vary arguments") && message.contains("--force"), "{message}");
    good(&place, &["sweep", "bar.toml", "-o", "s", "--vary", "scheme.rho_inf=0.5,0.7", "--force"]);
    place.write("bar.toml", &place.read("bar.toml").altered("young = 900.0", "young = 800.0"));
    let message = place.bad(3, &["resume", "s"]);
    assert!(message.contains("was 900.0, is 800.0"), "{message}");
    // Nor with files of somebody else.
    std::fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/notes.txt", "x");
    place.bad(2, &["sweep", "bar.toml", "-o", "mine", "--vary", "scheme.rho_inf=0.5,0.6"]);
}

#[test]
fn shards_that_do_not_fit_are_not_merged() {
    let place = Place::with_bar();
    good(&place, &sweep(&["-o", "a", "--shard", "1/2"]));
    good(&place, &sweep(&["-o", "b", "--shard", "2/2", "--set", "scheme.forecast=0.4"]));
    place.bad(8, &sweep(&["-o", "c", "--shard", "2/2", "--max-wall", "0"]));
    good(&place, &sweep(&["-o", "d", "--shard", "2/3"]));
    for (dirs, what) in [
        (&["a"][..], "shard 2/2 is missing"),
        (&["a", "a"], "shard 1 is given twice"),
        (&["a", "b"], "is of another sweep than a"),
        (&["a", "c"], "not complete; go on with: carom resume c"),
        (&["a", "d"], "one of 3 shards"),
        (&["absent"], "not the directory of a sweep"),
    ] {
        let message = place.bad(3, &[&["merge"], dirs, &["-o", "m"]].concat());
        assert!(message.contains(what), "{message}");
    }
    assert!(!place.path("m").exists());
}
