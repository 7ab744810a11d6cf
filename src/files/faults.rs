//! Faults on demand, for tests: one chosen operation of this thread, and of the threads that it starts for writing,
//! fails as on a full or broken disk.
//!
//! Nothing is armed in a program; the cost there is one look at a thread's own variable per system call.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is about to be done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Make or open a file for writing.
    Open,
    /// Hand bytes to the operating system; the first failing one takes half of them, as a disk does that gets full.
    Write,
    /// Bring bytes to the disk.
    Sync,
    /// Give a complete file its name.
    Rename,
}

/// All operations.
pub const OPERATIONS: [Operation; 4] = [Operation::Open, Operation::Write, Operation::Sync, Operation::Rename];

/// Counts operations of one kind and lets one of them, and all after it, fail.
#[derive(Debug)]
pub struct Plan {
    operation: Operation,
    /// Number of the first one that fails, from 1.
    fatal: u64,
    seen: AtomicU64,
}

thread_local! {
    static ARMED: RefCell<Option<Arc<Plan>>> = const { RefCell::new(None) };
}

/// Runs `work` with the operation number `fatal` (from 1) of a kind failing, and all later ones of it: a disk that is
/// full stays full. Returns what `work` gave and how many such operations there were.
pub fn with<T>(operation: Operation, fatal: u64, work: impl FnOnce() -> T) -> (T, u64) {
    let plan = Arc::new(Plan { operation, fatal, seen: AtomicU64::new(0) });
    adopt(Some(plan.clone()));
    let result = work();
    adopt(None);
    (result, plan.seen.load(Ordering::SeqCst))
}

/// The plan of this thread, for a thread that it starts.
pub(crate) fn inherit() -> Option<Arc<Plan>> {
    ARMED.with(|armed| armed.borrow().clone())
}

/// Takes over the plan of another thread.
pub(crate) fn adopt(plan: Option<Arc<Plan>>) {
    ARMED.with(|armed| *armed.borrow_mut() = plan);
}

/// Whether an operation may go ahead.
pub(crate) fn check(operation: Operation) -> io::Result<()> {
    if excess(operation).is_some() { Err(full()) } else { Ok(()) }
}

/// How many of so many bytes may be written.
pub(crate) fn allowance(bytes: usize) -> io::Result<usize> {
    match excess(Operation::Write) {
        None => Ok(bytes),
        Some(0) if bytes > 1 => Ok(bytes / 2),
        Some(_) => Err(full()),
    }
}

/// How many operations after the fatal one this is, if it is one that fails.
fn excess(operation: Operation) -> Option<u64> {
    ARMED.with(|armed| {
        let armed = armed.borrow();
        let plan = armed.as_ref().filter(|plan| plan.operation == operation)?;
        (plan.seen.fetch_add(1, Ordering::SeqCst) + 1).checked_sub(plan.fatal)
    })
}

fn full() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "no space left (a test)")
}
