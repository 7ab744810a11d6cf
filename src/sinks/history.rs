//! The table of a run, `history.csv` or `history.npy`: one row per accepted step.
//!
//! As text a number has 17 significant digits, and a cell is empty where there is no value; as binary a number is 64
//! bits, and NaN where there is none.

use super::columns::Columns;
use super::{Record, Sink, npy, pack, unpack};
use crate::Result;
use crate::case::data::{HistoryFormat, HistoryOutput};
use crate::files::Growing;
use std::path::{Path, PathBuf};

/// A table of numbers on the disk that grows row by row, whatever its columns are.
pub struct Sheet {
    path: PathBuf,
    format: HistoryFormat,
    file: Option<Growing>,
    names: Vec<String>,
    /// Which of them hold whole numbers.
    whole: Vec<bool>,
    row: Vec<u8>,
}

impl Sheet {
    /// A table with these columns in the directory, some of which hold whole numbers.
    pub fn new(dir: &Path, names: &[String], whole: &[bool], format: HistoryFormat) -> Sheet {
        Sheet {
            path: dir.join(format.file()),
            format,
            file: None,
            names: names.to_vec(),
            whole: whole.to_vec(),
            row: Vec::new(),
        }
    }

    /// Opens the file; `saved` is what [`Sheet::save`] gave if the run goes on.
    pub fn begin(&mut self, saved: Option<&[u8]>) -> Result<()> {
        let length = saved.map(unpack).transpose()?;
        let file = self.file.insert(Growing::open(&self.path, length)?);
        match (length, self.format) {
            (None, HistoryFormat::Csv) => file.append((self.names.join(",") + "\n").as_bytes()),
            (None, HistoryFormat::Npy) => file.append(&npy::front(&self.names, 0)),
            (Some(_), _) => Ok(()),
        }
    }

    /// Appends a row.
    pub fn append(&mut self, values: &[f64]) -> Result<()> {
        self.row.clear();
        match self.format {
            HistoryFormat::Csv => self.write_text(values),
            HistoryFormat::Npy => self.row.extend(values.iter().flat_map(|value| value.to_le_bytes())),
        }
        self.file.as_mut().map_or(Ok(()), |file| file.append(&self.row))
    }

    fn write_text(&mut self, values: &[f64]) {
        use std::io::Write;
        for (k, &value) in values.iter().enumerate() {
            if k > 0 {
                self.row.push(b',');
            }
            let written = match value {
                v if v.is_nan() => Ok(()),
                v if self.whole[k] => write!(self.row, "{v}"),
                v => write!(self.row, "{v:.16e}"),
            };
            written.expect("writing to memory cannot fail");
        }
        self.row.push(b'\n');
    }

    /// Brings all rows to the disk; returns what is needed to go on from here.
    pub fn save(&mut self) -> Result<Vec<u8>> {
        let Some(file) = &mut self.file else { return Ok(pack(&0u64)) };
        if self.format == HistoryFormat::Npy {
            // The number of rows stands in front.
            let front = npy::front(&self.names, 0).len() as u64;
            let rows = (file.length() - front) / (8 * self.names.len() as u64);
            file.patch(0, &npy::front(&self.names, rows))?;
        }
        Ok(pack(&file.sync()?))
    }
}

/// Writer of the table of a structure.
pub struct History<'a> {
    sheet: Sheet,
    columns: &'a Columns,
    every: u64,
    end: f64,
    values: Vec<f64>,
}

impl<'a> History<'a> {
    /// Rows come as often as the settings say, and at time `end`.
    pub fn new(dir: &Path, columns: &'a Columns, settings: &HistoryOutput, end: f64) -> History<'a> {
        let sheet = Sheet::new(dir, columns.names(), columns.whole(), settings.format);
        History { sheet, columns, every: settings.every as u64, end, values: Vec::new() }
    }
}

impl Sink for History<'_> {
    fn begin(&mut self, saved: Option<&[u8]>) -> Result<()> {
        self.sheet.begin(saved)
    }

    fn record(&mut self, record: &Record) -> Result<()> {
        // Every row includes those between instants of the grid.
        if self.every > 1 && !record.is_due(self.every, self.end) {
            return Ok(());
        }
        self.columns.fill(record, &mut self.values);
        self.sheet.append(&self.values)
    }

    fn save(&mut self) -> Result<Vec<u8>> {
        self.sheet.save()
    }

    fn finish(&mut self) -> Result<()> {
        self.save().map(|_| ())
    }
}
