//! Shipped cases with one thing wrong: a clear error or a run, never a panic, and no run that breaks its own promises.

use super::after;
use super::common::at_root;
use carom::case::{Format, Loaded, parse};
use carom::cases::CASES;
use carom::{Error, run};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Steps of a mutant that runs; what is wrong from the start shows early.
const STEPS: u64 = 12;

/// What stands in place of a number.
const NUMBERS: [&str; 6] = ["nan", "inf", "0", "-1", "1e308", "\"text\""];

/// Texts with one key misspelt, one number replaced, or one line deleted, and what was done.
fn mutants(text: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut seen = HashSet::new();
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let (range, content) = (begin..begin + line.len(), line.split('#').next().unwrap_or(line));
        begin = range.end;
        // A line that differs from an earlier one in its numbers alone would teach nothing new.
        let shape: String = content.chars().filter(|c| !c.is_ascii_digit()).collect();
        if content.trim().is_empty() || !seen.insert(shape) {
            continue;
        }
        let with = |from: usize, to: usize, new: &str| {
            format!("{}{new}{}", &text[..range.start + from], &text[range.start + to..])
        };
        all.push((format!("without `{}`", content.trim()), with(0, line.len(), "")));
        for (from, to) in words(content) {
            let word = &content[from..to];
            if content[to..].trim_start().starts_with('=') {
                all.push((format!("key `{word}` misspelt"), with(to - 1, to, "")));
                all.push((format!("key `{word}` misspelt"), with(to, to, "x")));
            } else if word.parse::<f64>().is_ok() {
                all.extend(
                    NUMBERS.map(|new| (format!("`{}` with {new} for {word}", content.trim()), with(from, to, new))),
                );
            }
        }
    }
    all
}

/// A shipped case made small: what goes wrong in it goes wrong with few bodies and elements too, and sooner.
fn small(text: &str) -> String {
    let end = text.match_indices("[[body]]").nth(12).map_or(text.len(), |(k, _)| k);
    text[..end].replace("elements = 1999", "elements = 39")
}

/// Bare words outside of quotes: keys and numbers.
fn words(content: &str) -> Vec<(usize, usize)> {
    let bare = |c: char| c.is_ascii_alphanumeric() || "_-+.".contains(c);
    let (mut found, mut start, mut quoted) = (Vec::new(), None, false);
    for (k, c) in content.char_indices().chain([(content.len(), '\n')]) {
        quoted ^= c == '"';
        match start {
            None if !quoted && bare(c) => start = Some(k),
            Some(from) if quoted || !bare(c) => {
                found.push((from, k));
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// How a mutant ended.
enum End {
    Refused,
    Stopped(u8),
    Ran,
}

fn live(text: &str) -> Result<End, String> {
    let case = match parse(text, "mutant.toml", Format::Toml, &[]) {
        Ok(case) => case,
        Err(failure) => {
            let message = failure.render(false);
            // A message says where and what.
            let clear = message.starts_with("error: ") && message.contains("--> mutant.toml:");
            return if clear { Ok(End::Refused) } else { Err(format!("unclear: {message}")) };
        }
    };
    let (file, dir) = (at_root("cases/mutant.toml"), at_root("cases"));
    let loaded =
        Loaded { case, file, dir, name: "mutant".into(), text: text.into(), overrides: vec![], allow_outside: false };
    match run::measure(&loaded, None, &after(STEPS)) {
        Err(Error::Stopped { .. }) => Ok(End::Ran),
        Ok(summary) => {
            let worst = summary.defect["step"].as_f64().unwrap_or(f64::NAN);
            // Ten times what a nonlinear run promises, because what a mutant is scaled by may be odd.
            if worst <= 1e-9 { Ok(End::Ran) } else { Err(format!("a defect of {worst:e} in silence")) }
        }
        Err(error) => {
            // A message says what or when, by a name or a number.
            let message = error.to_string();
            let clear = message.contains('`') || message.contains(|c: char| c.is_ascii_digit());
            let code = error.exit_code();
            if clear && [3, 4, 5].contains(&code) {
                Ok(End::Stopped(code))
            } else {
                Err(format!("unclear: {code} {message}"))
            }
        }
    }
}

#[test]
fn one_thing_wrong_is_an_error_or_a_run() {
    let (mut refused, mut stopped, mut ran) = (0, [0; 9], 0);
    let mut wrong = Vec::new();
    for case in CASES {
        for (what, text) in mutants(&small(case.text)) {
            match catch_unwind(AssertUnwindSafe(|| live(&text))) {
                Ok(Ok(End::Refused)) => refused += 1,
                Ok(Ok(End::Stopped(code))) => stopped[code as usize] += 1,
                Ok(Ok(End::Ran)) => ran += 1,
                Ok(Err(message)) => wrong.push(format!("{}, {what}: {message}", case.name)),
                Err(_) => wrong.push(format!("{}, {what}: panic", case.name)),
            }
        }
    }
    let all = refused + ran + stopped.iter().sum::<i32>() + wrong.len() as i32;
    println!("{all} mutants: {refused} refused by the checker, {ran} ran, by exit code {stopped:?}");
    assert!(wrong.is_empty(), "{} of {all}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(all > 4000, "only {all} mutants");
    assert!(refused > all / 2 && ran > 100, "{refused} {ran}");
}
