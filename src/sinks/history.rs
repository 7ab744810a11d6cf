//! The table of a run, `history.csv` or `history.npy`: one row per accepted step.
//!
//! As text a number has 17 significant digits, and a cell is empty where there is no value; as binary a number is 64
//! bits, and NaN where there is none.

use super::columns::{COUNTS, Columns};
use super::{Record, Sink, npy, pack, unpack};
use crate::Result;
use crate::case::data::{HistoryFormat, HistoryOutput};
use crate::files::Growing;
use std::path::{Path, PathBuf};

/// Writer of the table.
pub struct History<'a> {
    path: PathBuf,
    format: HistoryFormat,
    file: Option<Growing>,
    columns: &'a Columns,
    counts: Vec<bool>,
    every: u64,
    end: f64,
    values: Vec<f64>,
    row: Vec<u8>,
}

impl<'a> History<'a> {
    /// Rows come as often as the settings say, and at time `end`.
    pub fn new(dir: &Path, columns: &'a Columns, settings: &HistoryOutput, end: f64) -> History<'a> {
        History {
            path: dir.join(settings.format.file()),
            format: settings.format,
            file: None,
            counts: columns.names().iter().map(|name| COUNTS.contains(&name.as_str())).collect(),
            columns,
            every: settings.every as u64,
            end,
            values: Vec::new(),
            row: Vec::new(),
        }
    }

    fn write_text(&mut self) {
        use std::io::Write;
        for (k, &value) in self.values.iter().enumerate() {
            if k > 0 {
                self.row.push(b',');
            }
            let written = match value {
                v if v.is_nan() => Ok(()),
                v if self.counts[k] => write!(self.row, "{v}"),
                v => write!(self.row, "{v:.16e}"),
            };
            written.expect("writing to memory cannot fail");
        }
        self.row.push(b'\n');
    }
}

impl Sink for History<'_> {
    fn begin(&mut self, saved: Option<&[u8]>) -> Result<()> {
        let length = saved.map(unpack).transpose()?;
        let file = self.file.insert(Growing::open(&self.path, length)?);
        match (length, self.format) {
            (None, HistoryFormat::Csv) => file.append((self.columns.names().join(",") + "\n").as_bytes()),
            (None, HistoryFormat::Npy) => file.append(&npy::front(self.columns.names(), 0)),
            (Some(_), _) => Ok(()),
        }
    }

    fn record(&mut self, record: &Record) -> Result<()> {
        let state = &record.attempt.state;
        if !state.step.is_multiple_of(self.every) && state.time < self.end {
            return Ok(());
        }
        self.columns.fill(record, &mut self.values);
        self.row.clear();
        match self.format {
            HistoryFormat::Csv => self.write_text(),
            HistoryFormat::Npy => self.row.extend(self.values.iter().flat_map(|value| value.to_le_bytes())),
        }
        self.file.as_mut().map_or(Ok(()), |file| file.append(&self.row))
    }

    fn save(&mut self) -> Result<Vec<u8>> {
        let Some(file) = &mut self.file else { return Ok(pack(&0u64)) };
        if self.format == HistoryFormat::Npy {
            // The number of rows stands in front.
            let names = self.columns.names();
            let front = npy::front(names, 0).len() as u64;
            let rows = (file.length() - front) / (8 * names.len() as u64);
            file.patch(0, &npy::front(names, rows))?;
        }
        Ok(pack(&file.sync()?))
    }

    fn finish(&mut self) -> Result<()> {
        self.save().map(|_| ())
    }
}
