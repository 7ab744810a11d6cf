//! Every call to the file system: reading, and writing so that a reader never meets half of a file.
//!
//! Knows paths and bytes, and nothing of what the bytes mean. What a promise rests on is brought to the disk in this
//! order: the bytes of a file, its name, and then the directory that holds the name.

#[doc(hidden)]
pub mod faults;
mod growing;

pub use growing::Growing;

use faults::{Call, perform};
use std::ffi::OsString;
use std::fs::{self, FileType, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The bytes of a file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    perform(|| Call::Look(path.into()), || fs::read(path)).map_err(Error::io("read", path))
}

/// The bytes of a file of at most `most` bytes; of a longer one so many and one more.
pub fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>> {
    let read = || {
        let mut bytes = Vec::new();
        fs::File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    perform(|| Call::Look(path.into()), read).map_err(Error::io("open", path))
}

/// The bytes of a file, or nothing if there is no such file. One that cannot be read is an error, not absent.
pub fn find(path: &Path) -> Result<Option<Vec<u8>>> {
    match read(path) {
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// The text of a file.
pub fn read_text(path: &Path) -> Result<String> {
    let broken = |error: std::string::FromUtf8Error| {
        Error::Input(format!("{}: not UTF-8 at byte {}", path.display(), error.utf8_error().valid_up_to()))
    };
    String::from_utf8(read(path)?).map_err(broken)
}

/// A file open for reading piece by piece.
#[derive(Debug)]
pub struct Reading {
    file: fs::File,
    path: PathBuf,
}

/// Opens a file that is too large to be read at once.
pub fn open(path: &Path) -> io::Result<Reading> {
    let file = perform(|| Call::Look(path.into()), || fs::File::open(path))?;
    Ok(Reading { file, path: path.into() })
}

impl Read for Reading {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        perform(|| Call::Look(self.path.clone()), || self.file.read(bytes))
    }
}

/// Bytes of a file; none if there is no such file.
pub fn length(path: &Path) -> Result<u64> {
    match perform(|| Call::Look(path.into()), || fs::metadata(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        other => other.map(|file| file.len()).map_err(Error::io("find", path)),
    }
}

/// Whether there is something of that name. A disk that does not answer is an error.
pub fn exists(path: &Path) -> Result<bool> {
    perform(|| Call::Look(path.into()), || path.try_exists()).map_err(Error::io("find", path))
}

/// The paths of what is in a directory, in their order.
pub fn list(dir: &Path) -> Result<Vec<PathBuf>> {
    let look = || fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>();
    let mut paths = perform(|| Call::Look(dir.into()), look).map_err(Error::io("read", dir))?;
    paths.sort();
    Ok(paths)
}

/// What is in a directory, by name and in its order. A link is a link, whatever it leads to.
pub fn entries(dir: &Path) -> Result<Vec<(String, FileType)>> {
    let entry = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.file_name().to_string_lossy().into_owned(), entry.file_type()?))
    };
    let look = || fs::read_dir(dir)?.map(entry).collect::<io::Result<Vec<_>>>();
    let mut all = perform(|| Call::Look(dir.into()), look).map_err(Error::io("read", dir))?;
    all.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(all)
}

/// Makes a directory and those above it that are missing; they are there after a power cut too.
pub fn make_directories(dir: &Path) -> Result<()> {
    let there = || perform(|| Call::Look(dir.into()), || dir.try_exists()).map_err(Error::io("create", dir));
    if dir.as_os_str().is_empty() || there()? {
        return Ok(());
    }
    dir.parent().map_or(Ok(()), make_directories)?;
    let made = perform(|| Call::MakeDirectory(dir.into()), || fs::create_dir(dir));
    // Runs of a sweep make the directory above them at the same time.
    let made = made.or_else(|error| if dir.is_dir() { Ok(()) } else { Err(error) });
    made.and_then(|()| sync_parent(dir)).map_err(Error::io("create", dir))
}

/// Replaces the content of `path`: at every instant, and after a crash, it holds the old bytes or all of the new ones;
/// the new ones once this returns.
///
/// The bytes go to the hidden neighbour `.<name>.tmp`, reach the disk, and then take over the name. The neighbour's name
/// is fixed, so what a killed process left there is overwritten by the next one; two writers of one path are not
/// supported. On failure the neighbour is gone, and `path` is as it was, unless only the very last thing failed, to make
/// the new name last.
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

/// Writes or replaces a file that comes by the hundred: whole for every reader and after the death of the process, but on
/// the disk only with the next [`sync_below`].
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    replace(path, bytes, false).map_err(Error::io("write", path))
}

/// Writes a file that is not there yet, and tells whether that is so; one that is there stays as it is.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<bool> {
    let mut file = match File::open(OpenOptions::new().write(true).create_new(true), path, false) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        opened => opened.map_err(Error::io("create", path))?,
    };
    let written = file.write_all(bytes).and_then(|()| file.sync()).and_then(|()| sync_parent(path));
    if written.is_err() {
        // The first failure is the one worth telling.
        let _ = remove_file(path);
    }
    written.map(|()| true).map_err(Error::io("write", path))
}

/// Brings all that was written in a directory and below it to the disk.
pub fn sync_below(dir: &Path) -> Result<()> {
    let sync = || {
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
    faults::sync(|| Call::SyncAll(dir.into()), sync).map_err(Error::io("sync", dir))
}

/// Removes a file for good, and what a process that was killed while replacing it left beside it.
pub fn remove(path: &Path) -> Result<()> {
    let leftover = temporary(path).map_err(Error::io("remove", path))?;
    if exists(&leftover)? {
        remove_file(&leftover)?;
    }
    remove_file(path)?;
    sync_parent(path).map_err(Error::io("remove", path))
}

/// Removes a file; a power cut may bring it back until its directory is synced.
pub fn remove_file(path: &Path) -> Result<()> {
    perform(|| Call::Remove(path.into()), || fs::remove_file(path)).map_err(Error::io("remove", path))
}

/// Removes a directory if nothing is in it; what somebody keeps in it stays. A power cut may bring it back until the
/// directory above is synced.
pub fn remove_if_empty(dir: &Path) -> Result<()> {
    match perform(|| Call::RemoveDirectory(dir.into()), || fs::remove_dir(dir)) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        other => other.map_err(Error::io("remove", dir)),
    }
}

/// Makes last what was made, renamed and removed in a directory.
pub fn sync_directory(dir: &Path) -> Result<()> {
    sync_names(dir).map_err(Error::io("sync", dir))
}

fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), sync_names)
}

fn sync_names(dir: &Path) -> io::Result<()> {
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    // Elsewhere a directory cannot be opened, and its names need no sync.
    let sync = || if cfg!(unix) { fs::File::open(dir)?.sync_all() } else { Ok(()) };
    faults::sync(|| Call::SyncDirectory(dir.into()), sync)
}

/// The hidden neighbour in which the next content of a file is made.
fn temporary(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".tmp");
    Ok(path.with_file_name(hidden))
}

fn replace(path: &Path, bytes: &[u8], lasting: bool) -> io::Result<()> {
    let temporary = temporary(path)?;
    let rename = || Call::Rename { from: temporary.clone(), to: path.into() };
    let replaced =
        write_file(&temporary, bytes, lasting).and_then(|()| perform(rename, || fs::rename(&temporary, path)));
    if replaced.is_err() {
        // The first failure is the one worth telling; often there is no file to remove.
        let _ = remove_file(&temporary);
    }
    replaced?;
    if lasting { sync_parent(path) } else { Ok(()) }
}

fn write_file(path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    if sync { file.sync() } else { Ok(()) }
}

/// Does not open through a link: what is written stays in its directory.
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
        let _ = remove_file(&temporary);
        Error::io("write", path)(error)
    })
}

/// A file open for writing that knows its place, for the record of its calls.
#[derive(Debug)]
struct File {
    file: fs::File,
    path: PathBuf,
    at: u64,
}

impl File {
    /// Opens a file empty.
    fn create(path: &Path) -> io::Result<File> {
        File::open(OpenOptions::new().write(true).create(true).truncate(true), path, true)
    }

    fn open(how: &OpenOptions, path: &Path, truncate: bool) -> io::Result<File> {
        let call = || Call::Open { path: path.into(), truncate };
        Ok(File { file: perform(call, || no_links(&mut how.clone()).open(path))?, path: path.into(), at: 0 })
    }

    fn sync(&self) -> io::Result<()> {
        faults::sync(|| Call::Sync(self.path.clone()), || self.file.sync_all())
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let call = || Call::Write { path: self.path.clone(), at: self.at, bytes: bytes.into() };
        let written = faults::write(call, bytes, |bytes| self.file.write(bytes))?;
        self.at += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = self.file.seek(to)?;
        Ok(self.at)
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
