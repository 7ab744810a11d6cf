//! Expectations of a case against what a run gave: the regression test of `carom test`.

pub mod bless;
pub mod junit;

use crate::Result;
use crate::case::data::Expect;
use crate::first_order::record::{Reader, Row};
use crate::march::Arrival;
use crate::sinks::columns::Columns;
use crate::sinks::digest::Digest;
use crate::sinks::key_results::KeyResults;
use crate::sinks::{Record, Sink};
use std::collections::BTreeMap;

/// Watches what the expectations name.
pub struct Watch<'a> {
    results: KeyResults<'a>,
    /// Previous row, for values between instants.
    before: Vec<f64>,
    instants: Vec<Instant>,
}

/// The value of a column at an instant.
struct Instant {
    key: String,
    column: usize,
    time: f64,
    value: f64,
}

/// Follows what expectations name through the rows of a run, whatever its columns are.
pub struct Tracker {
    /// Previous row, for values between instants.
    before: Vec<f64>,
    wanted: Vec<Wanted>,
}

struct Wanted {
    key: String,
    column: usize,
    part: Part,
    value: f64,
}

enum Part {
    Final,
    Min,
    Max,
    At(f64),
}

/// How one expectation turned out.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Its key.
    pub key: String,
    /// What the run gave; NaN if it has no such value.
    pub measured: f64,
    /// What was asked, in words.
    pub wanted: String,
    /// Whether it holds.
    pub holds: bool,
    /// If it does not: the `value` that would make it hold, where one can.
    pub remedy: Option<f64>,
}

impl<'a> Watch<'a> {
    /// Watches what `expect` names among the columns.
    pub fn new(expect: &BTreeMap<String, Expect>, columns: &'a Columns) -> Watch<'a> {
        let instants = expect.keys().filter_map(|key| {
            let (name, time) = key.split_once('@')?;
            Some(Instant { key: key.clone(), column: columns.find(name)?, time: time.parse().ok()?, value: f64::NAN })
        });
        Watch { instants: instants.collect(), results: KeyResults::new(columns), before: Vec::new() }
    }

    /// Judges all expectations after the run.
    pub fn judge(&self, expect: &BTreeMap<String, Expect>, digest: &Digest, arrival: &Arrival) -> Vec<Verdict> {
        verdicts(expect, |key| self.measured(key, digest, arrival))
    }

    fn measured(&self, key: &str, digest: &Digest, arrival: &Arrival) -> f64 {
        match key {
            // The largest defect of a step, of the energy scale; a column would give it in the user's units.
            "defect.max" => return arrival.ledger.worst_step,
            "penetration.max" => return digest.penetration,
            _ => {}
        }
        if let Some(instant) = self.instants.iter().find(|instant| instant.key == key) {
            return instant.value;
        }
        if let Some((name, ending)) = key.rsplit_once('.')
            && let Some(value) = self.results.of(name).and_then(|result| result.get(ending))
        {
            return value;
        }
        let event = key.strip_prefix("contact.").and_then(|rest| rest.rsplit_once('.'));
        let found = event.and_then(|(name, event)| {
            let contact = digest.contacts.iter().find(|contact| contact.name == name)?;
            match event {
                "release" => contact.longest().map(|episode| episode.end),
                "plateau" => contact.longest().and_then(|episode| episode.plateau()),
                "peak" => Some(contact.peak),
                "episodes" => Some(contact.count as f64),
                _ => None,
            }
        });
        found.unwrap_or(f64::NAN)
    }
}

impl Sink for Watch<'_> {
    fn record(&mut self, record: &Record) -> Result<()> {
        self.before.clear();
        self.before.extend_from_slice(self.results.row());
        self.results.record(record)?;
        let time = record.attempt.state.time;
        for instant in self.instants.iter_mut().filter(|instant| instant.value.is_nan() && time >= instant.time) {
            let now = self.results.row()[instant.column];
            let start = time - record.h;
            let share = if record.h > 0.0 { ((instant.time - start) / record.h).clamp(0.0, 1.0) } else { 1.0 };
            let old = self.before.get(instant.column).copied().unwrap_or(now);
            instant.value = old + share * (now - old);
        }
        Ok(())
    }
}

impl Tracker {
    /// Follows what `expect` names among the columns.
    pub fn new(expect: &BTreeMap<String, Expect>, names: &[String]) -> Tracker {
        let wanted = expect.keys().filter_map(|key| {
            let (name, part) = match key.split_once('@') {
                Some((name, time)) => (name, Part::At(time.parse().ok()?)),
                None => {
                    let (name, ending) = key.rsplit_once('.')?;
                    let part = match ending {
                        "final" => Part::Final,
                        "min" => Part::Min,
                        "max" => Part::Max,
                        _ => return None,
                    };
                    (name, part)
                }
            };
            let column = names.iter().position(|column| column == name)?;
            Some(Wanted { key: key.clone(), column, part, value: f64::NAN })
        });
        Tracker { wanted: wanted.collect(), before: Vec::new() }
    }

    /// Takes a row.
    pub fn see(&mut self, time: f64, h: f64, values: &[f64]) {
        for wanted in &mut self.wanted {
            let now = values[wanted.column];
            match wanted.part {
                Part::Final => wanted.value = now,
                Part::Min => wanted.value = wanted.value.min(now),
                Part::Max => wanted.value = wanted.value.max(now),
                Part::At(t) if wanted.value.is_nan() && time >= t => {
                    let start = time - h;
                    let share = if h > 0.0 { ((t - start) / h).clamp(0.0, 1.0) } else { 1.0 };
                    let old = self.before.get(wanted.column).copied().unwrap_or(now);
                    wanted.value = old + share * (now - old);
                }
                Part::At(_) => {}
            }
        }
        self.before.clear();
        self.before.extend_from_slice(values);
    }

    /// What a key came to, if it names a column.
    fn value(&self, key: &str) -> Option<f64> {
        self.wanted.iter().find(|wanted| wanted.key == key).map(|wanted| wanted.value)
    }

    /// Judges all expectations after the run; `other` knows what no column shows.
    pub fn judge(&self, expect: &BTreeMap<String, Expect>, other: &dyn Fn(&str) -> Option<f64>) -> Vec<Verdict> {
        verdicts(expect, |key| other(key).or_else(|| self.value(key)).unwrap_or(f64::NAN))
    }
}

impl Reader for Tracker {
    fn take(&mut self, row: &Row) -> Result<()> {
        self.see(row.time, row.h, row.values);
        Ok(())
    }
}

/// How all expectations turn out for what their keys came to.
fn verdicts(expect: &BTreeMap<String, Expect>, measured: impl Fn(&str) -> f64) -> Vec<Verdict> {
    let judge = |(key, expect): (&String, &Expect)| {
        let measured = measured(key);
        let holds = holds(expect, measured);
        let remedy = if holds { None } else { remedy(expect, measured) };
        Verdict { key: key.clone(), measured, wanted: words(expect), holds, remedy }
    };
    expect.iter().map(judge).collect()
}

fn holds(expect: &Expect, measured: f64) -> bool {
    let near = expect.value.is_none_or(|value| {
        let relative = expect.rel.map_or(0.0, |rel| rel * value.abs());
        (measured - value).abs() <= relative.max(expect.abs.unwrap_or(0.0))
    });
    let [low, high] = expect.between.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    !measured.is_nan()
        && near
        && expect.below.is_none_or(|limit| measured < limit)
        && expect.above.is_none_or(|limit| measured > limit)
        && (low..=high).contains(&measured)
}

/// The measured value, with as few digits as leave the tolerance almost whole: what `--bless` writes. `None` without a
/// `value` to replace, and without a measurement.
fn remedy(expect: &Expect, measured: f64) -> Option<f64> {
    expect.value?;
    let tolerance = (expect.rel.unwrap_or(0.0) * measured.abs()).max(expect.abs.unwrap_or(0.0));
    let rounded = (1..17).map(|digits| format!("{measured:.digits$e}").parse().unwrap_or(measured));
    rounded.chain([measured]).find(|value: &f64| (value - measured).abs() <= 0.01 * tolerance)
}

fn words(expect: &Expect) -> String {
    let mut parts = Vec::new();
    if let Some(value) = expect.value {
        let mut text = format!("{value}");
        for (name, tolerance) in [("rel", expect.rel), ("abs", expect.abs)] {
            if let Some(tolerance) = tolerance {
                text += &format!(" {name} {tolerance:e}");
            }
        }
        parts.push(text);
    }
    parts.extend(expect.below.map(|limit| format!("below {limit:e}")));
    parts.extend(expect.above.map(|limit| format!("above {limit:e}")));
    parts.extend(expect.between.map(|[low, high]| format!("between {low:e} and {high:e}")));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds() {
        let expect = |edit: fn(&mut Expect)| {
            let mut e = Expect::default();
            edit(&mut e);
            e
        };
        let near = expect(|e| (e.value, e.rel) = (Some(-2.0), Some(0.1)));
        assert!(holds(&near, -2.19) && !holds(&near, -2.21) && !holds(&near, f64::NAN));
        let loose = expect(|e| (e.value, e.rel, e.abs) = (Some(0.0), Some(0.1), Some(1e-3)));
        assert!(holds(&loose, 1e-3) && !holds(&loose, 2e-3));
        assert!(holds(&expect(|e| e.below = Some(1.0)), 0.5) && !holds(&expect(|e| e.below = Some(1.0)), 1.0));
        assert!(!holds(&expect(|e| e.above = Some(1.0)), 0.5));
        assert!(!holds(&expect(|e| e.between = Some([0.0, 1.0])), 1.5));
        assert!(!holds(&expect(|e| e.below = Some(1.0)), f64::NAN), "no value is no success");
        assert_eq!(words(&near), "-2 rel 1e-1");
    }

    #[test]
    fn a_remedy_is_short_and_holds() {
        let near = Expect { value: Some(490.0), rel: Some(1e-3), ..Default::default() };
        assert_eq!(remedy(&near, 494.431272), Some(494.43));
        let tight = Expect { rel: None, abs: Some(0.0), ..near.clone() };
        assert_eq!(remedy(&tight, 0.1 + 0.2), Some(0.1 + 0.2), "no tolerance, all digits");
        assert_eq!(remedy(&near, f64::NAN), None);
        assert_eq!(remedy(&Expect { below: Some(1.0), ..Default::default() }, 2.0), None, "no value to replace");
    }
}
