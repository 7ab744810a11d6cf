//! Measured values written back into a case file: nothing but the digits of `value` changes, and a diff shows it.
//!
//! It knows texts; it must not know runs.

use crate::{Error, Result};
use std::fmt::Write;
use std::ops::Range;
use toml_edit::Document;

/// The text of a case with new values of expectations, by key. All other bytes stay.
///
/// ```
/// let text = "[expect]\n\"energy.final\" = { value = 1.0, rel = 0.1 } # mine\n";
/// let new = carom::expect::bless::bless(text, &[("energy.final".into(), 2.0)])?;
/// assert_eq!(new, "[expect]\n\"energy.final\" = { value = 2.0, rel = 0.1 } # mine\n");
/// # Ok::<(), carom::Error>(())
/// ```
pub fn bless(text: &str, values: &[(String, f64)]) -> Result<String> {
    // Spans count from behind a byte order mark.
    let mark = text.len() - text.trim_start_matches('\u{feff}').len();
    let document = Document::parse(&text[mark..]).map_err(|error| Error::Input(error.to_string()))?;
    let expect = document.get("expect").and_then(|item| item.as_table_like());
    let item = |key: &str| expect?.get(key)?.as_table_like()?.get("value");
    let mut changes = Vec::new();
    for (key, value) in values {
        let item = item(key);
        if item.is_some_and(|item| item.is_str()) {
            let message =
                format!("`value` of \"{key}\" is an expression, which a number would not replace: edit it by hand");
            return Err(Error::Input(message));
        }
        let span = item.and_then(|item| item.span());
        let span = span.ok_or_else(|| Error::Input(format!("there is no `value` of \"{key}\" to replace")))?;
        changes.push((span, value));
    }
    changes.sort_by_key(|(span, _)| span.start);
    let mut new = text.to_string();
    // From the end, so that the places before stay where they are.
    for (span, value) in changes.into_iter().rev() {
        new.replace_range(span.start + mark..span.end + mark, &written(*value));
    }
    Ok(new)
}

/// The shortest text that reads back as the same number, always a float in TOML.
fn written(value: f64) -> String {
    format!("{value:?}")
}

/// Lines around a change that are shown with it.
const CONTEXT: usize = 3;

/// What changed, as a unified diff; both texts have the same number of lines.
pub fn diff(file: &str, old: &str, new: &str) -> String {
    let lines: Vec<(&str, &str)> = old.lines().zip(new.lines()).collect();
    let mut text = format!("--- {file}\n+++ {file}\n");
    for Range { start, end } in hunks(&lines) {
        let count = end - start;
        let mut put = |words: std::fmt::Arguments| text.write_fmt(words).expect("writing to a string cannot fail");
        put(format_args!("@@ -{0},{count} +{0},{count} @@\n", start + 1));
        let mut k = start;
        while k < end {
            let same = lines[k].0 == lines[k].1;
            let run = (k..end).take_while(|&i| (lines[i].0 == lines[i].1) == same).count();
            let block = &lines[k..k + run];
            if same {
                block.iter().for_each(|(line, _)| put(format_args!(" {line}\n")));
            } else {
                block.iter().for_each(|(line, _)| put(format_args!("-{line}\n")));
                block.iter().for_each(|(_, line)| put(format_args!("+{line}\n")));
            }
            k += run;
        }
    }
    text
}

/// Stretches of lines around changes; those that meet are one.
fn hunks(lines: &[(&str, &str)]) -> Vec<Range<usize>> {
    let mut hunks: Vec<Range<usize>> = Vec::new();
    for (k, _) in lines.iter().enumerate().filter(|(_, (old, new))| old != new) {
        let (start, end) = (k.saturating_sub(CONTEXT), (k + CONTEXT + 1).min(lines.len()));
        match hunks.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => hunks.push(start..end),
        }
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_writing_a_value_is_found_and_the_rest_stays() {
        let text = "\u{feff}# head\r\n[expect]\r\n'a.final'  =  { rel=1e-3,value = 1 , abs = 2 }# x\r\n\"b.min\".value = 2.50\r\n\
                    [expect.\"c@1.5\"] # c\r\n  value = -1e3 # old\r\n  abs = 1\r\n";
        let values = [("c@1.5".into(), 1e-7), ("a.final".into(), 4.0), ("b.min".into(), -0.25)];
        let wanted = text.replace("value = 1 ,", "value = 4.0 ,").replace("2.50", "-0.25").replace("-1e3", "1e-7");
        assert_eq!(bless(text, &values).unwrap(), wanted);
    }

    #[test]
    fn a_missing_value_is_an_error() {
        let error = bless("[expect]\n\"a.final\" = { below = 1.0 }\n", &[("a.final".into(), 1.0)]).unwrap_err();
        assert_eq!(error.to_string(), "there is no `value` of \"a.final\" to replace");
    }

    #[test]
    fn an_expression_is_not_blessed_away() {
        let error =
            bless("[expect]\n\"a.final\" = { value = \"2*a\", abs = 1.0 }\n", &[("a.final".into(), 1.0)]).unwrap_err();
        assert!(error.to_string().contains("`value` of \"a.final\" is an expression"), "{error}");
    }

    #[test]
    fn diffs_join_near_changes_and_part_far_ones() {
        let old: Vec<String> = (1..=20).map(|k| format!("line {k}")).collect();
        let mut new = old.clone();
        for k in [1, 2, 18] {
            new[k] = format!("new {}", k + 1);
        }
        let text = diff("a.toml", &(old.join("\n") + "\n"), &(new.join("\n") + "\n"));
        let wanted = "--- a.toml\n+++ a.toml\n@@ -1,6 +1,6 @@\n line 1\n-line 2\n-line 3\n+new 2\n+new 3\n line 4\n line 5\n \
                      line 6\n@@ -16,5 +16,5 @@\n line 16\n line 17\n line 18\n-line 19\n+new 19\n line 20\n";
        assert_eq!(text, wanted);
    }
}
