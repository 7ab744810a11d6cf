//! The table of a run, read back from `history.csv` or `history.npy`.

use crate::case::data::HistoryFormat;
use crate::sinks::npy;
use crate::{Error, Result};
use std::path::Path;

/// Columns of a run by name; NaN where a cell is empty.
pub struct Table {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

impl Table {
    /// Reads the table of the run in `dir`; messages name the file, the line and the cell.
    pub fn read(dir: &Path) -> Result<Table> {
        let binary = dir.join(HistoryFormat::Npy.file());
        if binary.exists() {
            let bytes = std::fs::read(&binary).map_err(Error::io("read", &binary))?;
            let broken = |what| Error::Input(format!("{}: {what}", binary.display()));
            let (names, columns) = npy::parse(&bytes).map_err(broken)?;
            return Ok(Table { names, columns });
        }
        let path = &dir.join(HistoryFormat::Csv.file());
        let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
        let name = path.display();
        let text = String::from_utf8(bytes)
            .map_err(|e| Error::Input(format!("{name}: not UTF-8 at byte {}", e.utf8_error().valid_up_to())))?;
        Table::parse(&text).map_err(|(line, what)| Error::Input(format!("{name}:{line}: {what}")))
    }

    fn parse(text: &str) -> std::result::Result<Table, (usize, String)> {
        let mut lines = text.lines();
        let names: Vec<String> = lines.next().unwrap_or("").split(',').map(String::from).collect();
        if !names.iter().any(|name| name == "time") {
            return Err((1, "there is no column `time`; the first line must name the columns".into()));
        }
        let mut columns = vec![Vec::new(); names.len()];
        for (index, line) in lines.enumerate() {
            let at = index + 2;
            let mut cells = 0;
            for cell in line.split(',') {
                let value = match cell {
                    "" => f64::NAN,
                    _ => cell.parse().map_err(|_| {
                        let column = names.get(cells).map_or("", String::as_str);
                        (at, format!("`{cell}` in column `{column}` is not a number"))
                    })?,
                };
                if let Some(column) = columns.get_mut(cells) {
                    column.push(value);
                }
                cells += 1;
            }
            if cells != names.len() {
                return Err((at, format!("{cells} cells, but the first line names {} columns", names.len())));
            }
        }
        if columns[0].is_empty() {
            return Err((2, "there is no row of numbers".into()));
        }
        Ok(Table { names, columns })
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let index = self.names.iter().position(|known| known == name)?;
        Some(&self.columns[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_cells_are_no_values() {
        let table = Table::parse("step,time,storage\n0,0.0e0,\n1,5.0e-1,2.5\n").unwrap();
        assert_eq!(table.column("time"), Some(&[0.0, 0.5][..]));
        assert!(table.column("storage").unwrap()[0].is_nan());
        assert_eq!(table.column("gap"), None);
    }

    #[test]
    fn what_is_broken_is_named_with_its_line() {
        for (text, line, what) in [
            ("", 1, "there is no column `time`; the first line must name the columns"),
            ("step,time\n", 2, "there is no row of numbers"),
            ("step,time\n0,0\n1,x\n", 3, "`x` in column `time` is not a number"),
            ("step,time\n0,0\n1\n", 3, "1 cells, but the first line names 2 columns"),
            ("step,time\n0,0,7\n", 2, "3 cells, but the first line names 2 columns"),
        ] {
            let error = Table::parse(text).err().unwrap();
            assert_eq!(error, (line, what.to_string()));
        }
    }
}
