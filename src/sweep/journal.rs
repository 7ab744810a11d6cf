//! Rows of a sweep under way, in the order in which they are finished: one line each, kept through any kill.
//!
//! A line that is not whole (a kill in the middle of writing, a power cut) is where the journal ends; what comes after
//! it is run again. A whole line that does not fit its checksum was changed by something else, and is an error.

use super::{Row, UNFINISHED};
use crate::files::{self, Growing};
use crate::{Error, Result, checkpoint};
use serde_json::Value;
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
        let (rows, length) = match files::find(&path)? {
            Some(bytes) => whole(&bytes, &path).map(|(rows, length)| (rows, Some(length)))?,
            None => (Vec::new(), None),
        };
        Ok((Journal { file: Growing::open(&path, length)? }, rows))
    }

    /// Adds rows; they are on the disk when this returns.
    pub fn add(&mut self, rows: &[Row]) -> Result<()> {
        for row in rows {
            self.file.append(row.line().as_bytes())?;
        }
        self.file.sync().map(|_| ())
    }
}

/// Removes what a sweep keeps beside its table while it is under way: the journal, and checkpoints of runs. A kill or a
/// power cut can leave any of it beside a table that is complete.
pub(super) fn clear(dir: &Path) -> Result<()> {
    let mut cleared = false;
    for (name, kind) in files::entries(dir)? {
        let number = name.strip_prefix(UNFINISHED).unwrap_or_default();
        if name == FILE && kind.is_file() {
            files::remove_file(&dir.join(name))?;
        } else if kind.is_dir() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
            checkpoint::discard(&dir.join(name))?;
        } else {
            continue;
        }
        cleared = true;
    }
    if cleared { files::sync_directory(dir) } else { Ok(()) }
}

/// The rows of all whole lines from the start, and their length.
fn whole(bytes: &[u8], path: &Path) -> Result<(Vec<Row>, u64)> {
    let mut rows = Vec::new();
    let mut length = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n")) {
        if serde_json::from_slice::<Value>(line).is_err() {
            break;
        }
        let damaged = |what: String| {
            let (name, line) = (path.display(), rows.len() + 1);
            Error::Input(format!("{name}:{line}: {what}; delete this line, and the same command makes the row again"))
        };
        rows.push(Row::parse(&String::from_utf8_lossy(line)).map_err(damaged)?);
        length += line.len() as u64;
    }
    Ok((rows, length))
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

    #[test]
    fn a_flipped_digit_is_no_row() {
        let dir = tempfile::tempdir().unwrap();
        let (mut journal, _) = Journal::open(dir.path()).unwrap();
        journal.add(&[row(3), row(1)]).unwrap();
        drop(journal);
        let path = dir.path().join(FILE);
        let good = std::fs::read_to_string(&path).unwrap();
        let bad = good.replace("\"a\":0.1", "\"a\":0.2");
        assert_ne!(bad, good);
        std::fs::write(&path, &bad).unwrap();
        let error = Journal::open(dir.path()).map(|_| ()).unwrap_err();
        assert_eq!(error.exit_code(), 3);
        let place = format!("{}:2: the row does not fit its checksum", path.display());
        assert!(error.to_string().starts_with(&place), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), bad, "what is damaged is left as it is");
    }

    #[test]
    fn what_a_kill_left_beside_a_complete_table_goes_but_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("unfinished-000001")).unwrap();
        std::fs::create_dir(dir.path().join("unfinished-000002")).unwrap();
        let own = [FILE, "unfinished-000001/checkpoint.bin", "unfinished-000001/.checkpoint.bin.tmp"];
        for name in own.into_iter().chain(["table.jsonl", "unfinished-000002/mine.txt", "unfinished-plans"]) {
            std::fs::write(dir.path().join(name), "x").unwrap();
        }
        clear(dir.path()).unwrap();
        let names: Vec<_> = files::entries(dir.path()).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["table.jsonl", "unfinished-000002", "unfinished-plans"]);
    }
}
