//! Rows of a sweep under way, in the order in which they are finished: one line each, kept through any kill.
//!
//! A line that is not whole (a kill in the middle of writing, a power cut) is where the journal ends; what comes after
//! it is run again.

use super::Row;
use crate::files::Growing;
use crate::{Error, Result};
use std::path::Path;

/// File name in the output directory; gone when the table is there.
pub const FILE: &str = "rows.journal";

/// The open journal.
pub struct Journal {
    file: Growing,
}

impl Journal {
    /// Opens the journal of a directory with the rows that it has.
    pub fn open(dir: &Path) -> Result<(Journal, Vec<Row>)> {
        let path = dir.join(FILE);
        let bytes = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            other => Some(other.map_err(Error::io("read", &path))?),
        };
        let (rows, length) = bytes.as_deref().map_or((Vec::new(), None), |bytes| {
            let (rows, length) = whole(bytes);
            (rows, Some(length))
        });
        Ok((Journal { file: Growing::open(&path, length)? }, rows))
    }

    /// Adds rows; they are on the disk when this returns.
    pub fn add(&mut self, rows: &[Row]) -> Result<()> {
        for row in rows {
            self.file.append(line(row).as_bytes())?;
        }
        self.file.sync().map(|_| ())
    }
}

/// Removes the journal of a sweep whose table is written.
pub(super) fn remove(dir: &Path) -> Result<()> {
    crate::files::remove(&dir.join(FILE))
}

/// A row as a line of JSON.
pub(super) fn line(row: &Row) -> String {
    serde_json::to_string(row).expect("a row is plain data") + "\n"
}

/// The rows of all whole lines from the start, and their length.
fn whole(bytes: &[u8]) -> (Vec<Row>, u64) {
    let mut rows = Vec::new();
    let mut length = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n")) {
        let Ok(row) = serde_json::from_slice(line) else { break };
        rows.push(row);
        length += line.len() as u64;
    }
    (rows, length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    fn row(run: usize) -> Row {
        let parameters: Map<_, _> = [("a".to_string(), (0.1 * run as f64).into())].into_iter().collect();
        Row { run, parameters, status: "completed".into(), code: 0, error: None, figures: Map::new() }
    }

    #[test]
    fn a_torn_line_is_forgotten_and_the_journal_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let (mut journal, rows) = Journal::open(dir.path()).unwrap();
        assert_eq!(rows, []);
        journal.add(&[row(3), row(1)]).unwrap();
        drop(journal);
        let path = dir.path().join(FILE);
        let good = std::fs::read(&path).unwrap();
        for cut in 0..=good.len() {
            std::fs::write(&path, &good[..cut]).unwrap();
            let (mut journal, rows) = Journal::open(dir.path()).unwrap();
            let kept = good[..cut].iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(rows, [row(3), row(1)][..kept], "cut at {cut}");
            journal.add(&[row(2)]).unwrap();
            assert_eq!(Journal::open(dir.path()).unwrap().1.last(), Some(&row(2)));
        }
        // Zeros in place of what a power cut took.
        let mut holes = good.clone();
        holes.extend([0; 20]);
        holes.extend(&good);
        std::fs::write(&path, &holes).unwrap();
        assert_eq!(Journal::open(dir.path()).unwrap().1.len(), 2);
    }
}
