//! A look at every call to the file system, for tests: calls of this thread, and of the threads that it starts for
//! writing, are recorded, and one of them can fail or be the last before a kill.
//!
//! Nothing is watched in a program; the cost there is one look at a thread's own variable per call. While a thread is
//! watched nothing is brought to the disk, only recorded as if it were: what a power cut leaves is computed from the
//! record.

use rustix::io::Errno;
use std::cell::RefCell;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// One call to the file system, with all that it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Reads a file or a directory, or asks whether there is one.
    Look(PathBuf),
    /// Opens a file for writing; makes it if there is none.
    Open {
        /// The file.
        path: PathBuf,
        /// Whether what is in it goes.
        truncate: bool,
    },
    /// Writes bytes into an open file.
    Write {
        /// The file.
        path: PathBuf,
        /// Place of the first byte.
        at: u64,
        /// What is written.
        bytes: Vec<u8>,
    },
    /// Cuts a file.
    Truncate {
        /// The file.
        path: PathBuf,
        /// Bytes that stay.
        length: u64,
    },
    /// Brings the bytes of a file to the disk.
    Sync(PathBuf),
    /// Brings the names in a directory to the disk: what was made, renamed and removed there.
    SyncDirectory(PathBuf),
    /// Brings everything on the file system of a directory to the disk.
    SyncAll(PathBuf),
    /// Gives a file another name, in place of the one that had it.
    Rename {
        /// Name until now.
        from: PathBuf,
        /// Name from now on.
        to: PathBuf,
    },
    /// Removes a file.
    Remove(PathBuf),
    /// Removes an empty directory.
    RemoveDirectory(PathBuf),
    /// Makes a directory.
    MakeDirectory(PathBuf),
}

impl Call {
    fn syncs(&self) -> bool {
        matches!(self, Call::Sync(_) | Call::SyncDirectory(_) | Call::SyncAll(_))
    }

    /// Whether it may need space on the disk.
    fn fills(&self) -> bool {
        use Call::{MakeDirectory, Open, Rename, Write};
        self.syncs() || matches!(self, Open { .. } | Write { .. } | Rename { .. } | MakeDirectory(_))
    }
}

/// What happens at the chosen call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The process is killed just before: neither this call nor any later one does anything.
    Kill,
    /// The process is killed in the middle of the call: half of the bytes are written if it is a write.
    KillHalfWay,
    /// The disk is full from here on (ENOSPC): half of a write, then nothing that needs space.
    Full,
    /// The disk does not answer, once (EIO).
    Broken,
    /// Permission is denied, once (EACCES).
    Denied,
    /// A signal interrupts the call before it has done anything (EINTR); made again it works.
    Interrupted,
    /// Of the bytes to be written half are taken; other calls are not touched.
    Short,
}

/// Faults that a program must tell, with exit code 6.
pub const ERRORS: [Fault; 3] = [Fault::Full, Fault::Broken, Fault::Denied];

/// Faults that a program must get over by itself.
pub const TRIFLES: [Fault; 2] = [Fault::Interrupted, Fault::Short];

/// Records calls and lets one of them go wrong.
#[derive(Debug)]
pub struct Watch {
    /// Number of the chosen call, from 0, and what happens to it.
    fault: Option<(usize, Fault)>,
    calls: Mutex<Vec<Call>>,
}

thread_local! {
    static WATCH: RefCell<Option<Arc<Watch>>> = const { RefCell::new(None) };
}

/// Runs `work` with the fault at its call of that number, from 0, or with none. Returns what `work` gave, and all calls
/// that were tried.
pub fn with<T>(fault: Option<(usize, Fault)>, work: impl FnOnce() -> T) -> (T, Vec<Call>) {
    let watch = Arc::new(Watch { fault, calls: Mutex::new(Vec::new()) });
    let before = inherit();
    adopt(Some(watch.clone()));
    let result = work();
    adopt(before);
    let calls = std::mem::take(&mut *watch.calls.lock().unwrap_or_else(PoisonError::into_inner));
    (result, calls)
}

/// What watches this thread, for a thread that it starts.
pub(crate) fn inherit() -> Option<Arc<Watch>> {
    WATCH.with(|watch| watch.borrow().clone())
}

/// Takes over what watches another thread.
pub(crate) fn adopt(other: Option<Arc<Watch>>) {
    WATCH.with(|watch| *watch.borrow_mut() = other);
}

/// What is to become of a call.
enum Verdict {
    Go,
    /// Half of the bytes, then the error if there is one.
    Half(Option<Errno>),
    Fail(Errno),
}

impl Watch {
    fn judge(&self, call: Call) -> Verdict {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let number = calls.len();
        let (fills, writes) = (call.fills(), matches!(&call, Call::Write { bytes, .. } if bytes.len() > 1));
        calls.push(call);
        let Some((chosen, fault)) = self.fault.filter(|(chosen, _)| number >= *chosen) else { return Verdict::Go };
        let first = number == chosen;
        match fault {
            Fault::KillHalfWay if first && writes => Verdict::Half(Some(Errno::IO)),
            Fault::Kill | Fault::KillHalfWay => Verdict::Fail(Errno::IO),
            Fault::Full if first && writes => Verdict::Half(None),
            Fault::Full if fills => Verdict::Fail(Errno::NOSPC),
            Fault::Broken if first => Verdict::Fail(Errno::IO),
            Fault::Denied if first => Verdict::Fail(Errno::ACCESS),
            Fault::Interrupted if first => Verdict::Fail(Errno::INTR),
            Fault::Short if first && writes => Verdict::Half(None),
            _ => Verdict::Go,
        }
    }
}

/// Makes a call, again if a signal interrupts it.
pub(crate) fn perform<T>(call: impl Fn() -> Call, mut act: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        let verdict = inherit().map_or(Verdict::Go, |watch| watch.judge(call()));
        let result = if let Verdict::Fail(error) = verdict { Err(error.into()) } else { act() };
        match result {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            other => return other,
        }
    }
}

/// Brings something to the disk; if it is watched, on paper only.
pub(crate) fn sync(call: impl Fn() -> Call, mut act: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    perform(call, || if inherit().is_some() { Ok(()) } else { act() })
}

/// Writes some of the bytes and tells how many, as [`io::Write::write`] does.
pub(crate) fn write(
    call: impl FnOnce() -> Call,
    bytes: &[u8],
    mut act: impl FnMut(&[u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let Some(watch) = inherit() else { return act(bytes) };
    match watch.judge(call()) {
        Verdict::Go => act(bytes),
        Verdict::Half(None) => act(&bytes[..bytes.len() / 2]),
        Verdict::Half(Some(error)) => {
            act(&bytes[..bytes.len() / 2])?;
            Err(error.into())
        }
        Verdict::Fail(error) => Err(error.into()),
    }
}
