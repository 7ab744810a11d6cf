//! Small tables of numbers from CSV files: time functions and initial fields.

use crate::{Error, Result};
use std::ops::RangeInclusive;
use std::path::Path;

/// Rows of a CSV file with as many numbers as `columns` allows, the same in every row; the first column must ascend. Lines
/// that are empty or begin with `#`, and one header line, are passed over.
pub fn read(path: &Path, columns: RangeInclusive<usize>) -> Result<Vec<Vec<f64>>> {
    let bytes = crate::files::read(path)?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    parse(&bytes, &name, columns)
}

/// Rows of a CSV file given as bytes, by the rules of [`read`]; `name` stands in messages.
pub fn parse(bytes: &[u8], name: &str, columns: RangeInclusive<usize>) -> Result<Vec<Vec<f64>>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes)
        .map_err(|e| Error::Input(format!("{name}: not UTF-8 at byte {}", e.valid_up_to())))?;
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut header_allowed = true;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fail = |what: String| Err(Error::Input(format!("{name}:{}: {what}", index + 1)));
        let mut row = Vec::new();
        let mut bad = None;
        for cell in line.split(',').map(str::trim) {
            match cell.parse::<f64>() {
                Ok(value) if value.is_finite() => row.push(value),
                _ => bad = bad.or(Some(cell)),
            }
        }
        if let Some(cell) = bad {
            // One header line of words may come first; `nan` and `inf` are no words.
            if header_allowed && row.is_empty() && cell.parse::<f64>().is_err() {
                header_allowed = false;
                continue;
            }
            return fail(format!("`{cell}` is not a finite number"));
        }
        header_allowed = false;
        if row.len() < *columns.start() {
            return fail(format!("{} columns, but {} are needed", row.len(), columns.start()));
        }
        // Which of them was meant is not for the program to guess.
        if row.len() > *columns.end() {
            return fail(format!("{} columns, but only {} are read: remove the others", row.len(), columns.end()));
        }
        if rows.first().is_some_and(|first| first.len() != row.len()) {
            return fail(format!("{} columns, but the rows before have {}", row.len(), rows[0].len()));
        }
        if rows.last().is_some_and(|last| last[0] >= row[0]) {
            return fail(format!("the first column must ascend, but {} does not", row[0]));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(Error::Input(format!("{name}: no rows of numbers")));
    }
    Ok(rows)
}

/// Piecewise linear interpolation of (abscissa, value) rows, constant outside.
pub fn interpolate(rows: &[[f64; 2]], x: f64) -> f64 {
    let next = rows.partition_point(|row| row[0] <= x);
    if next == 0 {
        return rows[0][1];
    }
    let [x0, y0] = rows[next - 1];
    match rows.get(next) {
        Some(&[x1, y1]) => y0 + (y1 - y0) * ((x - x0) / (x1 - x0)),
        None => y0,
    }
}

/// Slope of the piece that contains or begins at `x`; zero outside.
pub fn slope(rows: &[[f64; 2]], x: f64) -> f64 {
    let next = rows.partition_point(|row| row[0] <= x);
    match (next.checked_sub(1).map(|k| rows[k]), rows.get(next)) {
        (Some([x0, y0]), Some(&[x1, y1])) => (y1 - y0) / (x1 - x0),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_after_a_header_and_comments() {
        let rows = parse(b"\xef\xbb\xbf# a table\r\ntime, value\r\n0, 1.5\r\n\r\n2e0, -3\r\n", "t.csv", 2..=2).unwrap();
        assert_eq!(rows, [[0.0, 1.5], [2.0, -3.0]]);
    }

    #[test]
    fn errors_name_file_line_and_value() {
        for (text, message) in [
            ("0,1\n1,x\n", "t.csv:2: `x` is not a finite number"),
            ("0,nan\n", "t.csv:1: `nan` is not a finite number"),
            ("0,1\n1\n", "t.csv:2: 1 columns, but 2 are needed"),
            ("0,1,7\n", "t.csv:1: 3 columns, but only 2 are read: remove the others"),
            ("0,1\n0,2\n", "t.csv:2: the first column must ascend, but 0 does not"),
            ("a,b\nc,d\n", "t.csv:2: `c` is not a finite number"),
            ("", "t.csv: no rows of numbers"),
        ] {
            assert_eq!(parse(text.as_bytes(), "t.csv", 2..=2).unwrap_err().to_string(), message);
        }
        assert_eq!(parse(b"0,\xff", "t.csv", 2..=2).unwrap_err().to_string(), "t.csv: not UTF-8 at byte 2");
    }
}
