//! The lock of an output directory: a file that its owner holds locked, with the owner's name in it.
//!
//! The operating system gives the lock back when the process ends, however it ends, so that a file that a kill left
//! behind keeps nobody out. The owner removes the file while it still holds the lock; who then gets the lock of a file
//! that is no longer there tries again with the one that is.

use crate::files::faults::{Call, perform};
use crate::shell;
use crate::{Error, Result, files};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// File name in the directory, while there is an owner.
pub(super) const FILE: &str = ".carom.lock";

/// Tries for a file that others remove at the same time: each lost one means that another process got through.
const TRIES: usize = 1000;

/// Longest name of an owner in bytes.
const LONGEST: usize = 400;

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    /// Open, and so locked.
    _file: File,
}

impl Lock {
    /// Locks a directory, or says who owns it.
    pub(super) fn take(dir: &Path) -> Result<Lock> {
        let path = dir.join(FILE);
        for _ in 0..TRIES {
            let mut how = OpenOptions::new();
            files::no_links(how.read(true).write(true).create(true).truncate(false));
            let call = || Call::Open { path: path.clone(), truncate: false };
            let mut file = perform(call, || how.open(&path)).map_err(Error::io("lock", dir))?;
            if !try_lock(&file, dir)? {
                return Err(owned(dir, &mut file));
            }
            if is_at(&file, &path).map_err(Error::io("lock", dir))? {
                let owner = owner();
                let call = || Call::Write { path: path.clone(), at: 0, bytes: owner.as_bytes().into() };
                let write = || {
                    file.set_len(0)?;
                    file.rewind()?;
                    file.write_all(owner.as_bytes())
                };
                let written = perform(call, write);
                written.map_err(Error::io("write", &path))?;
                return Ok(Lock { path, _file: file });
            }
        }
        Err(Error::io("lock", dir)(io::Error::other("it changes hands too fast")))
    }

    /// Refuses a directory that has an owner now. Nothing is written; what counts is the lock itself, later.
    pub(super) fn demand_free(dir: &Path) -> Result<()> {
        // Write access, because some network file systems give no lock without it.
        let path = dir.join(FILE);
        let open = || files::no_links(OpenOptions::new().read(true).write(true)).open(&path);
        match perform(|| Call::Look(path.clone()), open) {
            Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => Ok(()),
            Err(error) => Err(Error::io("lock", dir)(error)),
            Ok(mut file) => {
                if try_lock(&file, dir)? {
                    Ok(())
                } else {
                    Err(owned(dir, &mut file))
                }
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Before the lock goes with the file. One that stays is taken over by the next owner.
        let _ = files::remove_file(&self.path);
    }
}

/// Whether this process has the lock of a file now.
fn try_lock(file: &File, dir: &Path) -> Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => {
            let why =
                format!("{error}; carom writes only where files can be locked: choose another file system with -o");
            Err(Error::io("lock", dir)(io::Error::new(error.kind(), why)))
        }
    }
}

/// Whether a path still leads to an open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let open = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a path still leads to an open file; elsewhere an open file cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// This process in words.
fn owner() -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let place = if host.trim().is_empty() { String::new() } else { format!(" on {}", host.trim()) };
    let words: Vec<String> = std::env::args_os().map(|word| shell::quoted(Path::new(&word))).collect();
    let mut text = format!("process {}{place}: {}", std::process::id(), words.join(" "));
    while text.len() > LONGEST {
        text.pop();
    }
    text + "\n"
}

/// The error of a directory that another process owns, with its name.
fn owned(dir: &Path, file: &mut File) -> Error {
    let mut name = String::new();
    // An owner that has only just come may not have written its name yet.
    for _ in 0..20 {
        let mut bytes = Vec::new();
        let read = file.rewind().and_then(|()| file.take(LONGEST as u64).read_to_end(&mut bytes));
        name = String::from_utf8_lossy(&bytes).trim().chars().filter(|c| !c.is_control()).collect();
        if read.is_err() || !name.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let name = if name.is_empty() { "another process".to_string() } else { name };
    Error::io("use", dir)(io::Error::new(io::ErrorKind::ResourceBusy, format!("it is in use by {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_owner_is_refused_and_told_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let lock = Lock::take(dir.path()).unwrap();
        for error in [Lock::take(dir.path()).unwrap_err(), Lock::demand_free(dir.path()).unwrap_err()] {
            assert_eq!(error.exit_code(), 6);
            let wanted = format!("in use by process {}", std::process::id());
            assert!(error.to_string().contains(&wanted), "{error}");
        }
        drop(lock);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "no lock stays behind");
        Lock::demand_free(dir.path()).unwrap();
        Lock::take(dir.path()).unwrap();
    }

    #[test]
    fn a_lock_that_a_kill_left_keeps_nobody_out() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(FILE), "process 1: carom run long-gone.toml with more words than the next one\n")
            .unwrap();
        Lock::demand_free(dir.path()).unwrap();
        let lock = Lock::take(dir.path()).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join(FILE)).unwrap(), owner());
        drop(lock);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_of_a_file_that_was_replaced_is_no_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        let file = File::create(&path).unwrap();
        assert!(is_at(&file, &path).unwrap());
        fs::remove_file(&path).unwrap();
        assert!(!is_at(&file, &path).unwrap(), "gone");
        let _other = File::create(&path).unwrap();
        assert!(!is_at(&file, &path).unwrap(), "another file of the same name");
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_is_not_written_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let mine = dir.path().join("mine");
        fs::write(&mine, "mine").unwrap();
        fs::create_dir(dir.path().join("out")).unwrap();
        std::os::unix::fs::symlink(&mine, dir.path().join("out").join(FILE)).unwrap();
        assert_eq!(Lock::take(&dir.path().join("out")).unwrap_err().exit_code(), 6);
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    }
}
