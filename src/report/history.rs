//! The table of a run, read back from `history.csv` or `history.npy` row by row: it is never in memory as a whole.

use crate::case::data::HistoryFormat;
use crate::sinks::npy;
use crate::{Error, Result, files};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Longest first line that is read, in bytes; far beyond any table of ours.
const LONGEST: usize = 1 << 24;
/// Longest cell of a row; a number has 24 characters.
const CELL: usize = 64;

/// The table of a run on disk; NaN where a cell is empty.
pub struct Table {
    path: PathBuf,
    format: HistoryFormat,
    names: Vec<String>,
}

/// What keeps a table from being read: the disk, or its own content at a line (none in a binary table).
#[derive(Debug)]
pub enum Trouble {
    /// The disk failed.
    Io(io::Error),
    /// The content is wrong.
    Content(Option<u64>, String),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Io(error)
    }
}

impl Table {
    /// Finds the table of the run in `dir` and reads the names of its columns.
    pub fn open(dir: &Path) -> Result<Table> {
        let binary = dir.join(HistoryFormat::Npy.file());
        let (path, format) = match files::exists(&binary)? {
            true => (binary, HistoryFormat::Npy),
            false => (dir.join(HistoryFormat::Csv.file()), HistoryFormat::Csv),
        };
        let mut table = Table { path, format, names: Vec::new() };
        let names = Rows::new(table.file()?, format).map(|rows| rows.names);
        table.names = names.map_err(|trouble| table.error(trouble))?;
        Ok(table)
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Place of the column of that name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Shows every row in turn; messages name the file, the line and the cell.
    pub fn each_row(&self, visit: &mut dyn FnMut(&[f64])) -> Result<()> {
        let mut read = || -> std::result::Result<bool, Trouble> {
            let mut rows = Rows::new(files::open(&self.path)?, self.format)?;
            let same = rows.names == self.names;
            while let Some(row) = rows.next()?.filter(|_| same) {
                visit(row);
            }
            Ok(same)
        };
        match read() {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.changed()),
            Err(trouble) => Err(self.error(trouble)),
        }
    }

    /// The error of a table that somebody writes while it is read.
    pub fn changed(&self) -> Error {
        Error::Input(format!("{}: changed while it was read; is the run still going on?", self.path.display()))
    }

    fn file(&self) -> Result<files::Reading> {
        files::open(&self.path).map_err(Error::io("read", &self.path))
    }

    fn error(&self, trouble: Trouble) -> Error {
        let name = self.path.display();
        match trouble {
            Trouble::Io(error) => Error::io("read", &self.path)(error),
            Trouble::Content(Some(line), what) => Error::Input(format!("{name}:{line}: {what}")),
            Trouble::Content(None, what) => Error::Input(format!("{name}: {what}")),
        }
    }
}

/// The rows of a table as they are read, at least one; it holds one of them at a time.
pub struct Rows<R> {
    input: BufReader<R>,
    format: HistoryFormat,
    names: Vec<String>,
    /// Rows that have been read, and those that a binary table announces.
    read: u64,
    announced: u64,
    bytes: Vec<u8>,
    values: Vec<f64>,
}

impl<R: Read> Rows<R> {
    /// Reads the names of the columns.
    pub fn new(input: R, format: HistoryFormat) -> std::result::Result<Rows<R>, Trouble> {
        let input = BufReader::with_capacity(1 << 16, input);
        let (names, bytes, values) = (Vec::new(), Vec::new(), Vec::new());
        let mut rows = Rows { input, format, names, read: 0, announced: 0, bytes, values };
        let line = match format {
            HistoryFormat::Csv => {
                rows.names = rows.first_line()?;
                Some(1)
            }
            HistoryFormat::Npy => {
                (rows.names, rows.announced) = rows.front()?;
                None
            }
        };
        if rows.names.iter().any(|name| name == "time") {
            return Ok(rows);
        }
        let must = if line.is_some() { "; the first line must name the columns" } else { "" };
        Err(Trouble::Content(line, format!("there is no column `time`{must}")))
    }

    fn first_line(&mut self) -> std::result::Result<Vec<String>, Trouble> {
        self.line(LONGEST)?;
        let text = std::str::from_utf8(&self.bytes);
        let text = text.map_err(|e| Trouble::Content(Some(1), format!("not UTF-8 at byte {}", e.valid_up_to())))?;
        Ok(text.split(',').map(String::from).collect())
    }

    fn front(&mut self) -> std::result::Result<(Vec<String>, u64), Trouble> {
        let broken = |what: String| Trouble::Content(None, what);
        let mut start = [0; npy::START];
        self.bytes.clear();
        (&mut self.input).take(npy::START as u64).read_to_end(&mut self.bytes)?;
        let short = || broken("cut off before its first row".into());
        start.copy_from_slice(self.bytes.get(..npy::START).ok_or_else(short)?);
        let length = npy::front_length(&start).map_err(broken)?;
        (&mut self.input).take((length - npy::START) as u64).read_to_end(&mut self.bytes)?;
        if self.bytes.len() < length {
            return Err(short());
        }
        npy::parse_front(&self.bytes).map_err(broken)
    }

    /// The next row, if there is one.
    #[allow(clippy::should_implement_trait)] // a row is lent, which an iterator cannot do
    pub fn next(&mut self) -> std::result::Result<Option<&[f64]>, Trouble> {
        let found = match self.format {
            HistoryFormat::Csv => self.text_row()?,
            HistoryFormat::Npy => self.binary_row()?,
        };
        if !found && self.read == 0 {
            let line = (self.format == HistoryFormat::Csv).then_some(2);
            return Err(Trouble::Content(line, "there is no row of numbers".into()));
        }
        self.read += u64::from(found);
        Ok(found.then_some(&self.values[..]))
    }

    fn text_row(&mut self) -> std::result::Result<bool, Trouble> {
        if !self.line(self.names.len().saturating_mul(CELL + 1))? {
            return Ok(false);
        }
        let at = Some(self.read + 2);
        self.values.clear();
        for (k, cell) in self.bytes.split(|&byte| byte == b',').enumerate() {
            let number = || std::str::from_utf8(cell).ok()?.parse().ok();
            let value = if cell.is_empty() { Some(f64::NAN) } else { number() };
            self.values.push(value.ok_or_else(|| {
                let column = self.names.get(k).map_or("", String::as_str);
                let text = String::from_utf8_lossy(&cell[..cell.len().min(CELL)]);
                Trouble::Content(at, format!("`{text}` in column `{column}` is not a number"))
            })?);
        }
        let (found, named) = (self.values.len(), self.names.len());
        if found != named {
            return Err(Trouble::Content(at, format!("{found} cells, but the first line names {named} columns")));
        }
        Ok(true)
    }

    /// Reads a line of at most so many bytes, without its end; false at the end of the file.
    fn line(&mut self, longest: usize) -> std::result::Result<bool, Trouble> {
        self.bytes.clear();
        let read = (&mut self.input).take(longest as u64 + 2).read_until(b'\n', &mut self.bytes)?;
        for end in [b'\n', b'\r'] {
            self.bytes.pop_if(|byte| *byte == end);
        }
        if self.bytes.len() > longest {
            let line = if self.names.is_empty() { 1 } else { self.read + 2 };
            return Err(Trouble::Content(Some(line), format!("a line of more than {longest} bytes")));
        }
        Ok(read > 0)
    }

    fn binary_row(&mut self) -> std::result::Result<bool, Trouble> {
        if self.read == self.announced {
            return Ok(false);
        }
        let length = 8 * self.names.len();
        self.bytes.clear();
        (&mut self.input).take(length as u64).read_to_end(&mut self.bytes)?;
        if self.bytes.len() < length {
            let (announced, read) = (self.announced, self.read);
            let what = format!("{announced} rows are announced, but the file ends in row {}", read + 1);
            return Err(Trouble::Content(None, what));
        }
        self.values.clear();
        self.values.extend(self.bytes.as_chunks::<8>().0.iter().map(|number| f64::from_le_bytes(*number)));
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All rows of a table, or what is wrong with it.
    fn read(bytes: &[u8], format: HistoryFormat) -> std::result::Result<Vec<Vec<f64>>, (Option<u64>, String)> {
        let told = |trouble| match trouble {
            Trouble::Content(line, what) => (line, what),
            Trouble::Io(error) => panic!("{error}"),
        };
        let mut rows = Rows::new(bytes, format).map_err(told)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next().map_err(told)? {
            all.push(row.to_vec());
        }
        Ok(all)
    }

    #[test]
    fn empty_cells_are_no_values() {
        let rows = read(b"step,time,storage\n0,0.0e0,\r\n1,5.0e-1,2.5", HistoryFormat::Csv).unwrap();
        assert_eq!(rows[1], [1.0, 0.5, 2.5]);
        assert!(rows[0][2].is_nan() && rows.len() == 2);
    }

    #[test]
    fn what_is_broken_is_named_with_its_line() {
        let long = "7".repeat(200);
        for (text, line, what) in [
            ("", 1, "there is no column `time`; the first line must name the columns"),
            ("step,time\n", 2, "there is no row of numbers"),
            ("step,time\n0,0\n1,x\n", 3, "`x` in column `time` is not a number"),
            ("step,time\n0,0\n1\n", 3, "1 cells, but the first line names 2 columns"),
            ("step,time\n0,0,7\n", 2, "3 cells, but the first line names 2 columns"),
            (&format!("step,time\n0,{long}\n"), 2, "a line of more than 130 bytes"),
        ] {
            assert_eq!(read(text.as_bytes(), HistoryFormat::Csv), Err((Some(line), what.to_string())));
        }
    }

    #[test]
    fn a_binary_table_without_time_or_rows_is_refused_and_does_not_panic() {
        let table = |name: &str, announced: u64, rows: usize| {
            let mut bytes = npy::front(&["step".into(), name.into()], announced);
            bytes.extend((0..2 * rows).flat_map(|k| (k as f64).to_le_bytes()));
            read(&bytes, HistoryFormat::Npy)
        };
        assert_eq!(table("time", 2, 2), Ok(vec![vec![0.0, 1.0], vec![2.0, 3.0]]));
        let refused = |what: &str| Err((None, what.to_string()));
        assert_eq!(table("energy", 2, 2), refused("there is no column `time`"));
        assert_eq!(table("time", 0, 0), refused("there is no row of numbers"));
        assert_eq!(table("time", 2, 1), refused("2 rows are announced, but the file ends in row 2"));
        assert_eq!(
            table("time", u64::MAX, 1),
            refused(&format!("{} rows are announced, but the file ends in row 2", u64::MAX))
        );
        assert_eq!(read(b"\x93NUMPY", HistoryFormat::Npy), refused("cut off before its first row"));
    }
}
