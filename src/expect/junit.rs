//! Verdicts as JUnit XML, which CI servers read: a suite per case, a test per expectation.

use super::Verdict;
use crate::Error;
use crate::canvas::escape;
use std::fmt::Write;

/// One case: its file, how long it took, and its verdicts or why there are none.
pub struct Suite<'a> {
    /// Case file, as it was named.
    pub file: &'a str,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Verdicts of its expectations, or why it could not run.
    pub outcome: &'a Result<Vec<Verdict>, Error>,
}

impl Suite<'_> {
    /// Tests, failures and errors; a case that does not run is one test.
    fn counts(&self) -> [usize; 3] {
        match self.outcome {
            Ok(verdicts) => [verdicts.len(), verdicts.iter().filter(|verdict| !verdict.holds).count(), 0],
            Err(_) => [1, 0, 1],
        }
    }
}

/// The whole file.
pub fn xml(suites: &[Suite]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let mut put = |words: std::fmt::Arguments| text.write_fmt(words).expect("writing to a string cannot fail");
    let [tests, failures, errors] = suites.iter().fold([0; 3], |sum, suite| {
        let counts = suite.counts();
        [0, 1, 2].map(|k| sum[k] + counts[k])
    });
    let seconds: f64 = suites.iter().map(|suite| suite.seconds).sum();
    put(format_args!(
        "<testsuites name=\"carom\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{seconds:.3}\">\n"
    ));
    for suite in suites {
        let [tests, failures, errors] = suite.counts();
        let (file, seconds) = (attribute(suite.file), suite.seconds);
        put(format_args!(
            "  <testsuite name=\"{file}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\" \
             time=\"{seconds:.3}\">\n"
        ));
        match suite.outcome {
            Ok(verdicts) => {
                for verdict in verdicts {
                    let (name, measured) = (attribute(&verdict.key), verdict.measured);
                    put(format_args!("    <testcase classname=\"{file}\" name=\"{name}\" time=\"0\""));
                    if verdict.holds {
                        put(format_args!("/>\n"));
                    } else {
                        let message = attribute(&format!("{measured:.10e}, wanted {}", verdict.wanted));
                        put(format_args!(
                            ">\n      <failure type=\"expectation\" message=\"{message}\"/>\n    </testcase>\n"
                        ));
                    }
                }
            }
            Err(error) => {
                let words = error.to_string();
                let message = attribute(words.lines().next().unwrap_or_default());
                put(format_args!(
                    "    <testcase classname=\"{file}\" name=\"runs\" time=\"{seconds:.3}\">\n      \
                     <error type=\"exit code {}\" message=\"{message}\">{}</error>\n    </testcase>\n",
                    error.exit_code(),
                    attribute(&words)
                ));
            }
        }
        put(format_args!("  </testsuite>\n"));
    }
    text + "</testsuites>\n"
}

/// Escaped, without the characters that XML cannot hold at all.
fn attribute(text: &str) -> String {
    let allowed = |c: &char| matches!(c, '\t' | '\n' | ' '..) && !matches!(c, '\u{fffe}' | '\u{ffff}');
    escape(&text.chars().filter(allowed).collect::<String>())
}
