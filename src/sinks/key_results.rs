//! What every column of a run comes down to: largest and least value with their instants, root mean square, last value.

use super::columns::Columns;
use super::{Record, Sink, pack, unpack};
use crate::Result;
use serde::{Deserialize, Serialize};

/// Collects the key results of all columns.
pub struct KeyResults<'a> {
    columns: &'a Columns,
    row: Vec<f64>,
    found: Found,
}

#[derive(Default, Serialize, Deserialize)]
struct Found {
    results: Vec<KeyResult>,
    /// Time since the start, as the sum of step sizes.
    duration: f64,
}

/// What a column comes down to; NaN where it has no value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyResult {
    /// Largest value.
    pub max: f64,
    /// When it was first taken.
    pub max_time: f64,
    /// Least value.
    pub min: f64,
    /// When it was first taken.
    pub min_time: f64,
    /// Root mean square, each row weighted by the step that led to it.
    pub rms: f64,
    /// Last value.
    pub last: f64,
}

impl KeyResult {
    const NONE: KeyResult = KeyResult {
        max: f64::NAN,
        max_time: f64::NAN,
        min: f64::NAN,
        min_time: f64::NAN,
        // The sum of weighted squares, until the end.
        rms: 0.0,
        last: f64::NAN,
    };

    /// The value with an ending of [`crate::case::columns::ENDINGS`].
    pub fn get(&self, ending: &str) -> Option<f64> {
        Some(match ending {
            "max" => self.max,
            "max_time" => self.max_time,
            "min" => self.min,
            "min_time" => self.min_time,
            "rms" => self.rms,
            "final" => self.last,
            _ => return None,
        })
    }
}

impl<'a> KeyResults<'a> {
    /// For the columns of a run.
    pub fn new(columns: &'a Columns) -> KeyResults<'a> {
        let results = vec![KeyResult::NONE; columns.names().len()];
        KeyResults { columns, row: Vec::new(), found: Found { results, duration: 0.0 } }
    }

    /// The last row.
    pub fn row(&self) -> &[f64] {
        &self.row
    }

    /// Names of the columns and what they come down to, in their order.
    pub fn all(&self) -> impl Iterator<Item = (&str, KeyResult)> {
        let duration = self.found.duration;
        let mean = move |result: &KeyResult| {
            let rms = if duration > 0.0 { (result.rms / duration).sqrt() } else { result.last.abs() };
            KeyResult { rms: if result.last.is_nan() && result.max.is_nan() { f64::NAN } else { rms }, ..*result }
        };
        self.columns.names().iter().map(String::as_str).zip(self.found.results.iter().map(mean))
    }

    /// What the column of that name comes down to.
    pub fn of(&self, name: &str) -> Option<KeyResult> {
        self.all().find(|(column, _)| *column == name).map(|(_, result)| result)
    }
}

impl Sink for KeyResults<'_> {
    fn begin(&mut self, saved: Option<&[u8]>) -> Result<()> {
        if let Some(saved) = saved {
            self.found = unpack(saved)?;
        }
        Ok(())
    }

    fn record(&mut self, record: &Record) -> Result<()> {
        self.columns.fill(record, &mut self.row);
        let (time, h) = (record.attempt.state.time, record.h);
        self.found.duration += h;
        for (result, &value) in self.found.results.iter_mut().zip(&self.row) {
            result.last = value;
            // A column without a value now, and one without a value so far.
            if value.is_nan() {
                continue;
            }
            if result.max.is_nan() {
                (result.max, result.max_time, result.min, result.min_time) = (value, time, value, time);
            } else if value > result.max {
                (result.max, result.max_time) = (value, time);
            } else if value < result.min {
                (result.min, result.min_time) = (value, time);
            }
            result.rms += h * (value * value);
        }
        Ok(())
    }

    fn save(&mut self) -> Result<Vec<u8>> {
        Ok(pack(&self.found))
    }
}
