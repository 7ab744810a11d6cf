//! What README and docs say can be typed: commands of carom run or are understood, tests and scripts that are named exist,
//! links lead somewhere.

use super::Place;
use crate::common::at_root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// README and all pages of `docs`.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![at_root("README.md")];
    for dir in [at_root("docs"), at_root("docs/decisions")] {
        let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        pages.extend(entries.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    }
    pages.sort();
    pages
}

fn read(page: &Path) -> String {
    std::fs::read_to_string(page).unwrap()
}

/// Lines of code blocks, fenced or indented, without comments, lines that end with `\` joined.
fn block_lines(text: &str) -> Vec<String> {
    let (mut fenced, mut lines) = (false, Vec::<String>::new());
    let mut open = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") || open {
            let line = line.trim().split("  #").next().unwrap().trim_end();
            let (part, goes_on) = line.strip_suffix('\\').map_or((line, false), |part| (part, true));
            match lines.last_mut().filter(|_| open) {
                Some(last) => last.push_str(part),
                None => lines.push(part.to_string()),
            }
            open = goes_on;
        }
    }
    lines
}

/// Pieces of code within sentences and tables.
fn spans(text: &str) -> Vec<String> {
    let mut fenced = false;
    let prose: Vec<&str> = text
        .lines()
        .filter(|line| {
            let fence = line.trim_start().starts_with("```");
            fenced ^= fence;
            !fenced && !fence && !line.starts_with("    ")
        })
        .collect();
    // A span may go over the end of a line, but not out of its paragraph.
    let paragraphs = prose.join("\n");
    let paragraphs = paragraphs.split("\n\n").flat_map(|paragraph| {
        if paragraph.trim_start().starts_with('|') { paragraph.lines().collect() } else { vec![paragraph] }
    });
    paragraphs.flat_map(|text| text.split('`').skip(1).step_by(2).map(|span| span.replace('\n', " "))).collect()
}

/// Words as a shell takes them: quotes group, and are gone.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quote, mut inside) = (vec![String::new()], None, false);
    for c in line.chars() {
        match (c, quote) {
            ('\'' | '"', None) => (quote, inside) = (Some(c), true),
            (c, Some(q)) if c == q => quote = None,
            (' ', None) if inside || !words.last().unwrap().is_empty() => {
                words.push(String::new());
                inside = false;
            }
            (' ', None) => {}
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Every command with its options, by name, as `--help` lists them.
fn options() -> BTreeMap<String, BTreeSet<String>> {
    let place = Place::empty();
    let help = place.good(&["--help"]);
    let listed = help.split("Commands:\n").nth(1).expect("--help lists commands").split("\n\n").next().unwrap();
    let names = listed.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).filter(|n| !n.is_empty());
    let flags = |text: &str| -> BTreeSet<String> {
        let ends = |c: char| !c.is_ascii_alphanumeric() && c != '-';
        text.split(ends).filter(|word| word.starts_with('-') && word.len() > 1).map(String::from).collect()
    };
    names.map(|name| (name.to_string(), flags(&place.carom(&[name, "--help"]).out))).collect()
}

/// All commands that stand in code blocks and name what there is run as they stand, page by page, in a directory with the
/// shipped cases and meshes.
#[test]
fn commands_of_code_blocks_run() {
    let place = Place::empty().with_copy("cases").with_copy("meshes");
    // What the pages take for granted: a case of one's own, a finished run, shards of a sweep.
    place.write("cases/mine.toml", &read(&at_root("cases/impacting-bar.toml")));
    place.good(&["run", "cases/bouncing-ball.toml", "-q", "-o", "finished"]);
    for shard in ["1/2", "2/2"] {
        let out = format!("out/big/shard-{}", &shard[..1]);
        let vary = ["--vary", "scheme.rho_inf=0,1", "--shard", shard, "-q", "-o", &out];
        place.good(&[&["sweep", "cases/impacting-bar.toml"], &vary[..]].concat());
    }
    let shards = ["out/big/shard-1".to_string(), "out/big/shard-2".to_string()];
    let mut ran = BTreeSet::new();
    for page in pages() {
        for line in block_lines(&read(&page)) {
            let line = line.replace("cargo run --release -- ", "carom ");
            // The book is a test of its own, next door.
            if !line.starts_with("carom ") || line.starts_with("carom verify") || !ran.insert(line.clone()) {
                continue;
            }
            let mut arguments = words(&line.replace(" DIR", " finished"));
            if let Some(k) = arguments.iter().position(|word| word == "out/big/shard-*") {
                arguments.splice(k..=k, shards.clone());
            }
            let arguments: Vec<&str> = arguments[1..].iter().map(String::as_str).collect();
            // Each stands for itself: but for the shards nothing is there yet.
            for entry in std::fs::read_dir(place.path("out")).unwrap().map(|entry| entry.unwrap()) {
                if entry.file_name() != "big" {
                    std::fs::remove_dir_all(entry.path()).unwrap();
                }
            }
            let answer = place.carom(&arguments);
            assert_eq!(answer.code, 0, "{}: {line}\n{}", page.display(), answer.err);
        }
    }
    assert!(ran.len() >= 15, "only {} commands found: {ran:#?}", ran.len());
}

/// Commands within sentences, and options that stand alone, exist.
#[test]
fn commands_and_options_of_sentences_exist() {
    let options = options();
    assert!(options.len() >= 12 && options["run"].contains("--set"), "{options:?}");
    let known = |flag: &str| options.values().any(|flags| flags.contains(flag));
    // Options of cargo, rustc and of scripts that pages name.
    let foreign = ["--bench", "--lib", "--nocapture", "--remap-path-prefix", "--seed", "--test"];
    let (mut commands, mut wrong) = (0, Vec::new());
    for page in pages().iter().filter(|page| !page.starts_with(at_root("docs/decisions"))) {
        let text = read(page);
        for code in spans(&text).into_iter().chain(block_lines(&text)) {
            let code = code.replace(['[', ']', '…'], " ");
            let mut words = words(&code).into_iter().peekable();
            let bare = words.peek().is_some_and(|word| word.starts_with("--") && word != "-->");
            let command =
                words.next_if(|word| word == "carom").and_then(|_| words.next()).filter(|name| name != "COMMAND");
            if command.is_none() && !bare {
                continue;
            }
            commands += usize::from(command.is_some());
            if let Some(name) = command.as_ref().filter(|name| !options.contains_key(name.as_str())) {
                wrong.push(format!("{}: there is no command `{name}`: {code}", page.display()));
                continue;
            }
            for word in words.filter(|word| word.starts_with('-') && word.len() > 1) {
                let flag = word.split('=').next().unwrap();
                let number = flag[1..].starts_with(|c: char| c.is_ascii_digit() || c == '.');
                let there = command.as_ref().map_or_else(|| known(flag), |name| options[name].contains(flag));
                let theirs = bare && foreign.contains(&flag);
                if !(number || there || theirs) {
                    wrong.push(format!("{}: there is no option `{flag}`: {code}", page.display()));
                }
            }
        }
    }
    assert!(commands >= 60, "only {commands} commands found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Names of tests with their modules, in the files of a test binary or of the library.
fn tests_below(path: &Path, module: &str, found: &mut Vec<String>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_string();
            let root = ["mod", "main", "lib"].contains(&stem.as_str());
            let name = if root { module.to_string() } else { format!("{module}{stem}::") };
            tests_below(&path, &name, found);
        }
    } else if path.extension().is_some_and(|ending| ending == "rs") {
        let text = read(path);
        let mut lines = text.lines().map(str::trim);
        while let Some(line) = lines.next() {
            if line == "#[test]"
                && let Some(function) = lines.find_map(|line| line.strip_prefix("fn "))
            {
                found.push(format!("{module}{}", function.split('(').next().unwrap()));
            }
        }
    }
}

/// Every `cargo test` of the pages names a binary that there is and meets at least one test in it; benches and scripts exist.
#[test]
fn tests_benches_and_scripts_that_pages_name_exist() {
    let (mut seen, mut wrong) = (0, Vec::new());
    for page in pages() {
        let text = read(&page);
        for code in spans(&text).into_iter().chain(block_lines(&text)) {
            let words = words(&code);
            let mut lost = |what: String| wrong.push(format!("{}: {what}: {code}", page.display()));
            let (mut places, mut filters, mut tests) = (Vec::new(), Vec::new(), false);
            let mut ahead = words.iter().map(String::as_str).skip_while(|word| word.contains('=')).peekable();
            if ahead.next_if_eq(&"cargo").is_some() {
                tests = ahead.next_if_eq(&"test").is_some();
            } else if ahead.peek() == Some(&"--test") {
                tests = true;
            }
            while let Some(word) = ahead.next() {
                let named = |dir: &str, name: &str| {
                    let file = at_root(&format!("{dir}/{name}.rs"));
                    if file.exists() { file } else { at_root(&format!("{dir}/{name}")) }
                };
                match word {
                    "--" | "…" => break,
                    "--profile" => drop(ahead.next()),
                    "--lib" if tests => places.push(at_root("src")),
                    "--test" if tests => places.push(named("tests", ahead.next().unwrap_or_default())),
                    "--bench" => {
                        let name = ahead.next().unwrap_or_default();
                        if !named("benches", name).exists() {
                            lost(format!("no bench `{name}`"));
                        }
                    }
                    _ if tests && !word.starts_with('-') => filters.push(word),
                    _ => {}
                }
            }
            for word in &words {
                let word = word.trim_end_matches([',', '.', ':']);
                let file =
                    ["tests/", "benches/", "scripts/", "examples/", "src/"].iter().any(|dir| word.starts_with(dir));
                if file && !word.contains(['{', '*', '<']) {
                    seen += 1;
                    let word = word.split(['#', ':']).next().unwrap();
                    if !at_root(word).exists() && !at_root(&format!("{word}.rs")).exists() {
                        lost(format!("no file `{word}`"));
                    }
                }
            }
            if !tests {
                continue;
            }
            seen += 1;
            if let Some(absent) = places.iter().find(|place| !place.exists()) {
                lost(format!("no test binary {}", absent.display()));
                continue;
            }
            let places = if places.is_empty() { vec![at_root("tests"), at_root("src")] } else { places };
            let mut found = Vec::new();
            places.iter().for_each(|place| tests_below(place, "", &mut found));
            for filter in filters {
                if !found.iter().any(|name| name.contains(filter)) {
                    lost(format!("no test `{filter}`"));
                }
            }
        }
    }
    assert!(seen > 60, "only {seen} names found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tables of `reliability.md` that are headed so: a promise has a command, or it is not written.
#[test]
fn every_promise_of_reliability_has_a_command() {
    let text = read(&at_root("docs/reliability.md"));
    let (mut inside, mut promises) = (false, 0);
    for line in text.lines() {
        inside = line.starts_with('|') && (inside || line == "| promise | shown by |");
        if !inside || line == "| promise | shown by |" || line.starts_with("|---") {
            continue;
        }
        let (promise, shown) = line.trim_matches(['|', ' ']).rsplit_once(" | ").unwrap();
        let command =
            |code: &str| ["cargo ", "tests/external/", "CAROM_", "--test "].iter().any(|word| code.starts_with(word));
        let same = shown == "the same" && promises > 0;
        assert!(same || spans(shown).iter().any(|code| command(code)), "no command shows it: {promise}");
        promises += 1;
    }
    assert!(promises > 30, "only {promises} promises found");
}

/// The name that a heading has in a link.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_lead_somewhere() {
    let (mut seen, mut wrong) = (0, Vec::new());
    for page in pages() {
        let text = read(&page);
        for rest in text.split("](").skip(1) {
            let target = rest.split(')').next().unwrap();
            if target.contains("://") || target.contains(char::is_whitespace) {
                continue;
            }
            seen += 1;
            let (file, place) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let headings = |path: &Path| {
                let text = read(path);
                text.lines()
                    .filter(|line| line.starts_with('#'))
                    .any(|line| anchor(line.trim_start_matches('#')) == place)
            };
            if !path.exists() || !place.is_empty() && !headings(&path) {
                wrong.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(seen > 80, "only {seen} links found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
