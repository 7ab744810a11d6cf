//! Files that grow.

use super::faults::{Call, perform};
use super::{File, sync_parent};
use crate::error::{Error, Result};
use std::fs::OpenOptions;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A file that grows, and that can be cut back to where it was and grow on.
#[derive(Debug)]
pub struct Growing {
    path: PathBuf,
    file: BufWriter<File>,
    length: u64,
    flushed: Instant,
    /// Whether its name is on the disk.
    lasting: bool,
}

impl Growing {
    /// Opens the file empty, or cut to `length` if it is to go on.
    pub fn open(path: &Path, length: Option<u64>) -> Result<Growing> {
        let fail = Error::io("open", path);
        let open = || {
            let Some(length) = length else { return File::create(path) };
            let mut file = File::open(OpenOptions::new().write(true), path, false)?;
            if perform(|| Call::Look(path.into()), || file.file.metadata())?.len() < length {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the file is shorter than its checkpoint says",
                ));
            }
            perform(|| Call::Truncate { path: path.into(), length }, || file.file.set_len(length))?;
            file.seek(SeekFrom::Start(length))?;
            Ok(file)
        };
        let file = BufWriter::with_capacity(1 << 16, open().map_err(fail)?);
        let (path, length) = (path.to_path_buf(), length.unwrap_or(0));
        Ok(Growing { path, file, length, flushed: Instant::now(), lasting: false })
    }

    /// Copies a file that may be large.
    pub fn copy(from: &Path, to: &Path) -> Result<()> {
        let fail = |error| Error::io("read", from)(error);
        let mut source = super::open(from).map_err(fail)?;
        let mut copy = Growing::open(to, None)?;
        let mut bytes = vec![0; 1 << 16];
        loop {
            match source.read(&mut bytes).map_err(fail)? {
                0 => return copy.sync().map(|_| ()),
                n => copy.append(&bytes[..n])?,
            }
        }
    }

    /// Appends bytes; they reach the disk within a second or so, as long as more of them come.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.length += bytes.len() as u64;
        let mut write = || {
            self.file.write_all(bytes)?;
            if self.flushed.elapsed().as_millis() >= 500 {
                self.file.flush()?;
                self.file.get_ref().sync()?;
                self.flushed = Instant::now();
            }
            Ok(())
        };
        write().map_err(Error::io("write", &self.path))
    }

    /// Writes over the bytes from `at` on; what was appended stays the end.
    pub fn patch(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let mut write = || {
            self.file.flush()?;
            let file = self.file.get_mut();
            file.seek(SeekFrom::Start(at))?;
            file.write_all(bytes)?;
            file.seek(SeekFrom::Start(self.length)).map(|_| ())
        };
        write().map_err(Error::io("write", &self.path))
    }

    /// Bytes so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Brings everything to the disk, the first time with the name of the file, and returns the length.
    pub fn sync(&mut self) -> Result<u64> {
        self.file.flush().map_err(Error::io("write", &self.path))?;
        self.file.get_ref().sync().map_err(Error::io("sync", &self.path))?;
        if !self.lasting {
            sync_parent(&self.path).map_err(Error::io("sync", &self.path))?;
            self.lasting = true;
        }
        Ok(self.length)
    }
}
