//! `history.csv`: one row per accepted step, 17 significant digits, an empty cell where there is no value.

use super::columns::{COUNTS, Columns};
use super::{Record, Sink, pack, unpack};
use crate::Result;
use crate::files::Growing;
use std::path::{Path, PathBuf};

/// Writer of `history.csv`.
pub struct History<'a> {
    path: PathBuf,
    file: Option<Growing>,
    columns: &'a Columns,
    counts: Vec<bool>,
    every: u64,
    end: f64,
    values: Vec<f64>,
    line: String,
}

impl<'a> History<'a> {
    /// Rows come every `every` steps and at time `end`.
    pub fn new(path: &Path, columns: &'a Columns, every: usize, end: f64) -> History<'a> {
        History {
            path: path.to_path_buf(),
            file: None,
            counts: columns.names().iter().map(|name| COUNTS.contains(&name.as_str())).collect(),
            columns,
            every: every as u64,
            end,
            values: Vec::new(),
            line: String::new(),
        }
    }

    fn write_line(&mut self) -> Result<()> {
        self.line.push('\n');
        self.file.as_mut().map_or(Ok(()), |file| file.append(self.line.as_bytes()))
    }
}

impl Sink for History<'_> {
    fn begin(&mut self, saved: Option<&[u8]>) -> Result<()> {
        let length = saved.map(unpack).transpose()?;
        self.file = Some(Growing::open(&self.path, length)?);
        if length.is_none() {
            self.line = self.columns.names().join(",");
            self.write_line()?;
        }
        Ok(())
    }

    fn record(&mut self, record: &Record) -> Result<()> {
        use std::fmt::Write;
        let state = &record.attempt.state;
        if !state.step.is_multiple_of(self.every) && state.time < self.end {
            return Ok(());
        }
        self.columns.fill(record, &mut self.values);
        self.line.clear();
        for (k, &value) in self.values.iter().enumerate() {
            if k > 0 {
                self.line.push(',');
            }
            let written = match value {
                v if v.is_nan() => Ok(()),
                v if self.counts[k] => write!(self.line, "{v}"),
                v => write!(self.line, "{v:.16e}"),
            };
            written.expect("writing to a string cannot fail");
        }
        self.write_line()
    }

    fn save(&mut self) -> Result<Vec<u8>> {
        let length = self.file.as_mut().map_or(Ok(0), Growing::sync)?;
        Ok(pack(&length))
    }

    fn finish(&mut self) -> Result<()> {
        self.save().map(|_| ())
    }
}
