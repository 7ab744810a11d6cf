//! Writing files so that a reader never meets half of one.
//!
//! Knows paths and bytes, and nothing of what the bytes mean.

#[doc(hidden)]
pub mod faults;

use faults::{Operation, allowance, check};
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::error::{Error, Result};

/// Replaces the content of `path`: at every instant, and after a crash, it holds the old bytes or all of the new ones.
///
/// The bytes go to the hidden neighbour `.<name>.tmp`, reach the disk, and then take over the name. The neighbour's name
/// is fixed, so what a killed process left there is overwritten by the next one; two writers of one path are not
/// supported. On failure `path` is as it was and the neighbour is gone.
///
/// ```
/// let directory = tempfile::tempdir().unwrap();
/// let path = directory.path().join("summary.json");
/// carom::files::write_atomically(&path, b"{}").unwrap();
/// assert_eq!(std::fs::read(&path).unwrap(), b"{}");
/// ```
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    replace(path, bytes, true).map_err(Error::io("write", path))
}

/// The same for files that come by the hundred: whole for every reader and after the death of the process, but on the
/// disk only with the next [`sync_below`].
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    replace(path, bytes, false).map_err(Error::io("write", path))
}

/// Brings all that was written in a directory and below it to the disk.
pub fn sync_below(dir: &Path) -> Result<()> {
    let sync = || {
        check(Operation::Sync)?;
        let handle = fs::File::open(dir)?;
        // One call for the whole file system is far cheaper than one for each of hundreds of small files.
        #[cfg(target_os = "linux")]
        rustix::fs::syncfs(&handle)?;
        #[cfg(not(target_os = "linux"))]
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            if path.is_file() {
                fs::File::open(&path)?.sync_all()?;
            }
        }
        handle.sync_all()
    };
    sync().map_err(Error::io("sync", dir))
}

/// Removes a file, and what a process that was killed while replacing it left beside it.
pub fn remove(path: &Path) -> Result<()> {
    let leftover = temporary(path).map_err(Error::io("remove", path))?;
    if leftover.exists() {
        fs::remove_file(&leftover).map_err(Error::io("remove", &leftover))?;
    }
    fs::remove_file(path).map_err(Error::io("remove", path))
}

/// The hidden neighbour in which the next content of a file is made.
fn temporary(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".tmp");
    Ok(path.with_file_name(hidden))
}

fn replace(path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    let temporary = temporary(path)?;
    let replaced = write_file(&temporary, bytes, sync)
        .and_then(|()| check(Operation::Rename))
        .and_then(|()| fs::rename(&temporary, path));
    if replaced.is_err() {
        // The first failure is the one worth telling; often there is no file to remove.
        let _ = fs::remove_file(&temporary);
    }
    replaced
}

fn write_file(path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    let mut file = File::open(OpenOptions::new().write(true).create(true).truncate(true), path)?;
    file.write_all(bytes)?;
    if sync { file.sync() } else { Ok(()) }
}

/// The same way of opening, but not through a link: what is written stays in its directory.
pub(crate) fn no_links(how: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(how, rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    how
}

/// Replaces the content of a file that is not ours: like [`write_atomically`], with the permissions that it has. A file
/// with several names is refused, because the others would keep the old content.
pub fn rewrite(path: &Path, bytes: &[u8]) -> Result<()> {
    let now = fs::metadata(path).map_err(Error::io("find", path))?;
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(&now) > 1 {
        let names = io::Error::other("it has several names (hard links), and the others would keep the old content");
        return Err(Error::io("replace", path)(names));
    }
    let temporary = temporary(path).map_err(Error::io("write", path))?;
    // The permissions come before the content, so that nobody can read what they may not.
    let begun = write_file(&temporary, b"", false).and_then(|()| fs::set_permissions(&temporary, now.permissions()));
    begun.and_then(|()| replace(path, bytes, true)).map_err(|error| {
        let _ = fs::remove_file(&temporary);
        Error::io("write", path)(error)
    })
}

/// A file for writing whose operations can be made to fail.
#[derive(Debug)]
struct File(fs::File);

impl File {
    fn open(how: &OpenOptions, path: &Path) -> io::Result<File> {
        check(Operation::Open)?;
        no_links(&mut how.clone()).open(path).map(File)
    }

    fn sync(&self) -> io::Result<()> {
        check(Operation::Sync)?;
        self.0.sync_all()
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(&bytes[..allowance(bytes.len())?])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A file that grows, and that can be cut back to where it was and grow on.
#[derive(Debug)]
pub struct Growing {
    path: PathBuf,
    file: BufWriter<File>,
    length: u64,
    flushed: Instant,
}

impl Growing {
    /// Opens the file empty, or cut to `length` if it is to go on.
    pub fn open(path: &Path, length: Option<u64>) -> Result<Growing> {
        let fail = Error::io("open", path);
        let open = || {
            let Some(length) = length else {
                return File::open(OpenOptions::new().write(true).create(true).truncate(true), path);
            };
            let mut file = File::open(OpenOptions::new().write(true), path)?;
            if file.0.metadata()?.len() < length {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the file is shorter than its checkpoint says",
                ));
            }
            file.0.set_len(length)?;
            file.0.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = BufWriter::with_capacity(1 << 16, open().map_err(fail)?);
        Ok(Growing { path: path.to_path_buf(), file, length: length.unwrap_or(0), flushed: Instant::now() })
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
            file.0.seek(SeekFrom::Start(at))?;
            file.write_all(bytes)?;
            file.0.seek(SeekFrom::End(0)).map(|_| ())
        };
        write().map_err(Error::io("write", &self.path))
    }

    /// Bytes so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Brings everything to the disk and returns the length.
    pub fn sync(&mut self) -> Result<u64> {
        self.file.flush().map_err(Error::io("write", &self.path))?;
        self.file.get_ref().sync().map_err(Error::io("sync", &self.path))?;
        Ok(self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn replaces_longer_content_and_leaves_no_other_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        write_atomically(&path, b"the first and longer content").unwrap();
        write_atomically(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(names(directory.path()), ["a.txt"]);
    }

    #[test]
    fn overwrites_what_a_killed_process_left() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(".a.txt.tmp"), "half of something long").unwrap();
        write_atomically(&directory.path().join("a.txt"), b"whole").unwrap();
        assert_eq!(fs::read(directory.path().join("a.txt")).unwrap(), b"whole");
        assert_eq!(names(directory.path()), ["a.txt"]);
    }

    #[test]
    fn a_file_goes_with_what_was_left_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        write_atomically(&path, b"whole").unwrap();
        fs::write(directory.path().join(".a.txt.tmp"), "half").unwrap();
        remove(&path).unwrap();
        assert!(names(directory.path()).is_empty());
        assert_eq!(remove(&path).unwrap_err().exit_code(), 6);
    }

    #[test]
    fn a_failed_rename_removes_the_temporary_and_names_the_path() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("taken");
        fs::create_dir(&path).unwrap();
        let error = write_atomically(&path, b"x").unwrap_err();
        assert_eq!(names(directory.path()), ["taken"]);
        assert_eq!(error.exit_code(), 6);
        assert!(error.to_string().starts_with(&format!("cannot write {}: ", path.display())), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn rewriting_keeps_permissions_and_parts_no_hard_links() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mine.toml");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        rewrite(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        fs::hard_link(&path, directory.path().join("other.toml")).unwrap();
        let error = rewrite(&path, b"newer").unwrap_err();
        assert!(error.exit_code() == 6 && error.to_string().contains("several names"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["mine.toml", "other.toml"]);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let mine = directory.path().join("mine");
        fs::write(&mine, "mine").unwrap();
        for name in ["history.csv", ".a.txt.tmp"] {
            std::os::unix::fs::symlink(&mine, directory.path().join(name)).unwrap();
        }
        for length in [None, Some(2)] {
            assert_eq!(Growing::open(&directory.path().join("history.csv"), length).unwrap_err().exit_code(), 6);
        }
        assert_eq!(write_atomically(&directory.path().join("a.txt"), b"x").unwrap_err().exit_code(), 6);
        assert_eq!(fs::read(&mine).unwrap(), b"mine");
    }

    #[test]
    fn a_missing_directory_and_a_path_without_a_name_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("absent/a.txt");
        let error = write_atomically(&path, b"x").unwrap_err();
        assert!(matches!(&error, Error::Io { action: "write", path: p, .. } if *p == path), "{error:?}");
        let error = write_atomically(Path::new(".."), b"x").unwrap_err();
        assert_eq!(error.to_string(), "cannot write ..: the path names no file");
    }
}
