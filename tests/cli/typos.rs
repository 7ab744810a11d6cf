//! One letter changed in any key of any shipped case: refused, with the line and the key that was meant.

use super::Place;
use carom::case::{Format, parse};
use carom::cases::CASES;
use std::collections::BTreeMap;

/// A key where it stands in a text.
struct Key {
    start: usize,
    line: usize,
    name: String,
    /// Whether it is the name of a constant, which its author may spell at will.
    own: bool,
}

/// Every key of a TOML text, table headings included. Knows no more of TOML than the shipped cases use.
fn keys(text: &str) -> Vec<Key> {
    let mut found = Vec::new();
    let mut offset = 0;
    let mut constants = false;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let code = line.split('#').next().unwrap();
        let mut quoted = false;
        let mut start = None;
        let heading = code.starts_with('[');
        constants = if heading { code.starts_with("[constants]") } else { constants };
        for (at, letter) in code.char_indices() {
            let quote = letter == '"';
            quoted ^= quote;
            let part = letter.is_ascii_alphanumeric() || letter == '_' || letter == '-' || (quoted && !quote);
            match (part, start) {
                (true, None) => start = Some(at),
                (false, Some(from)) => {
                    let rest = code[at..].trim_start_matches(['"', ' ']);
                    if heading || rest.starts_with('=') {
                        let name = code[from..at].to_string();
                        found.push(Key { start: offset + from, line: number + 1, name, own: constants && !heading });
                    }
                    start = None;
                }
                _ => {}
            }
        }
        offset += line.len();
    }
    found
}

/// The text with one letter of a key replaced by `q`, which no neighbouring key differs by.
fn mistyped(text: &str, key: &Key, at: usize) -> String {
    let place = key.start + at;
    let other = if &text[place..=place] == "q" { "x" } else { "q" };
    [&text[..place], other, &text[place + 1..]].concat()
}

/// Whether a message offers the key; for an expectation, whose key is a path, that it offers something will do, because
/// `probe.tip.qx` may have been `x` or `vx`. A key of one letter leaves nothing to guess from; it must be listed.
fn suggests(message: &str, key: &str) -> bool {
    if key.len() == 1 {
        return message.contains("allowed keys:") && message.contains(&format!("`{key}`"));
    }
    let mut offers = message.split("did you mean `").skip(1).filter_map(|rest| rest.split('`').next());
    offers.any(|offer| offer == key || key.contains(['.', '@']))
}

fn shipped() -> impl Iterator<Item = (&'static str, &'static str)> {
    CASES.iter().filter(|case| !case.text.trim().is_empty()).map(|case| (case.name, case.text))
}

#[test]
fn the_scanner_finds_every_key() {
    let text = "a = 1 # b = 2\n[[c]]\nd = { e = [1.0], f_g = \"h = i\" }\n[expect]\n\"j.final\" = { k = 1 }\n";
    let names: Vec<(usize, String)> = keys(text).into_iter().map(|key| (key.line, key.name)).collect();
    let wanted = [(1, "a"), (2, "c"), (3, "d"), (3, "e"), (3, "f_g"), (4, "expect"), (5, "j.final"), (5, "k")];
    assert_eq!(names, wanted.map(|(line, name)| (line, name.to_string())));
}

#[test]
fn every_letter_of_every_key_of_every_shipped_case() {
    let (mut tried, mut silent) = (0, Vec::new());
    for (name, text) in shipped() {
        let mut often: BTreeMap<String, usize> = BTreeMap::new();
        for key in keys(text) {
            // In a case with two hundred bodies the tenth `material` teaches nothing new.
            let times = often.entry(key.name.clone()).or_default();
            *times += 1;
            if *times > 9 {
                continue;
            }
            for at in (0..key.name.len()).filter(|&at| key.name.as_bytes()[at].is_ascii_alphabetic()) {
                let wrong = mistyped(text, &key, at);
                let failure = parse(&wrong, name, Format::Toml, &[]).expect_err(&format!("{name}:{}", key.line));
                let line = format!("line {}", key.line);
                // A constant of another name is missed where it is used.
                let missed = format!("there is no constant or variable `{}` here", key.name);
                let named = failure.diagnostics.iter().any(|wrong| {
                    if key.own {
                        return wrong.message.contains(&missed);
                    }
                    let words = format!("{} {}", wrong.label, wrong.help.as_deref().unwrap_or(""));
                    failure.sources.locate(&wrong.place, &wrong.path) == line && suggests(&words, &key.name)
                });
                if !named {
                    silent.push(failure.render(false));
                }
                tried += 1;
            }
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n\n"));
    // The impacting bar alone has more than this.
    assert!(tried > 150, "{tried}");
}

#[test]
fn the_program_says_so_too() {
    let place = Place::empty();
    for (name, text) in shipped() {
        let keys: Vec<Key> = keys(text).into_iter().filter(|key| !key.own).collect();
        for key in [&keys[0], &keys[keys.len() / 2], &keys[keys.len() - 1]] {
            place.write("cases/typo.toml", &mistyped(text, key, key.name.len() / 2));
            for command in ["check", "run", "modes"] {
                let message = place.bad(3, &[command, "cases/typo.toml"]);
                assert!(message.contains(&format!("cases/typo.toml:{}:", key.line)), "{name}: {message}");
                assert!(suggests(&message, &key.name), "{name}: {message}");
            }
        }
    }
    assert!(!place.path("out").exists());
}
