//! `history.csv`: one row per accepted step, 17 significant digits, an empty cell where there is no value.

use super::columns::{COUNTS, Columns};
use super::{Record, Sink};
use crate::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writer of `history.csv`.
pub struct History<'a> {
    path: PathBuf,
    file: BufWriter<File>,
    columns: &'a Columns,
    counts: Vec<bool>,
    every: u64,
    end: f64,
    values: Vec<f64>,
    line: String,
}

impl<'a> History<'a> {
    /// Creates the file with its header; rows come every `every` steps and at time `end`.
    pub fn create(path: &Path, columns: &'a Columns, every: usize, end: f64) -> Result<History<'a>> {
        let file = File::create(path).map_err(Error::io("create", path))?;
        let mut history = History {
            path: path.to_path_buf(),
            file: BufWriter::with_capacity(1 << 16, file),
            counts: columns.names().iter().map(|name| COUNTS.contains(&name.as_str())).collect(),
            columns,
            every: every as u64,
            end,
            values: Vec::new(),
            line: String::new(),
        };
        history.line = columns.names().join(",");
        history.write_line()?;
        Ok(history)
    }

    fn write_line(&mut self) -> Result<()> {
        self.line.push('\n');
        self.file.write_all(self.line.as_bytes()).map_err(Error::io("write", &self.path))
    }
}

impl Sink for History<'_> {
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

    fn finish(&mut self) -> Result<()> {
        self.file.flush().map_err(Error::io("write", &self.path))?;
        self.file.get_ref().sync_all().map_err(Error::io("sync", &self.path))
    }
}
