//! A directory of frames with the list that ParaView opens.
//!
//! Knows file names and their order; must not know the content of a frame. Frames are encoded and written by a thread of
//! their own, one after the other, so that a run does not wait for the disk; no more than [`WAITING`] of them are held.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::snapshot::Snapshot;
use super::{Frame, encode};
use crate::case::data::Encoding;
use crate::error::{Error, Result};
use crate::files::{faults, make_directories, sync_below, write_whole};

const OPENING: &str = concat!(
    "<?xml version=\"1.0\"?>\n",
    "<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n",
    "  <Collection>\n"
);
const CLOSING: &str = "  </Collection>\n</VTKFile>\n";

/// Frames that wait for the disk before the run does.
const WAITING: usize = 2;

/// The files `series.pvd` and `frames/NNNNNN.vtu` of a run, or another list beside them.
///
/// At every instant the list is complete XML and each file that it names is there and whole.
///
/// ```
/// use carom::case::data::Encoding;
/// use carom::sinks::vtk::{Frame, Series};
///
/// let directory = tempfile::tempdir().unwrap();
/// let mut series = Series::create(directory.path(), Encoding::Raw)?;
/// let frame = Frame {
///     points: &[[0.0; 3]],
///     lines: &[],
///     quads: &[],
///     vertices: &[0],
///     point_data: &[],
///     cell_data: &[],
///     field_data: &[("TimeValue", 0.5)],
/// };
/// series.push(0.5, &frame)?;
/// series.place()?;
/// assert!(directory.path().join("frames/000000.vtu").is_file());
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Debug)]
pub struct Series {
    stage: Stage,
    directory: PathBuf,
}

/// A thread is started for the first frame, and not before.
#[derive(Debug)]
enum Stage {
    Idle(Disk),
    Busy(Desk),
    /// Its thread failed, and the error was told.
    Failed,
}

/// The near end of the writing thread.
#[derive(Debug)]
struct Desk {
    jobs: SyncSender<Job>,
    /// Snapshots that were written and can be filled again.
    spare: Receiver<Snapshot>,
    thread: JoinHandle<Result<()>>,
}

#[derive(Debug)]
enum Job {
    Frame(f64, Snapshot),
    /// Asks for the place once all frames before are on the disk.
    Place(SyncSender<(usize, String)>),
}

impl Series {
    /// Starts a series in `directory`, which is made if need be: an empty list, no frames.
    ///
    /// Frames of an earlier series stay where they are until a new one takes their name; the list forgets them at once.
    pub fn create(directory: &Path, encoding: Encoding) -> Result<Series> {
        Series::named(directory, ["series.pvd", ""], encoding)
    }

    /// Starts a series like [`Series::create`], with the name of its list and the beginning of the names of its frames.
    pub fn named(directory: &Path, names: [&str; 2], encoding: Encoding) -> Result<Series> {
        let disk = Disk::new(directory, names, encoding)?;
        Ok(Series { stage: Stage::Idle(disk), directory: directory.to_path_buf() })
    }

    /// Goes on with a series that had this many frames in this list, as [`Series::place`] told; before its first frame.
    pub fn go_on(&mut self, (frames, list): (usize, String)) -> Result<()> {
        let Stage::Idle(disk) = &mut self.stage else { panic!("a series goes on before its first frame") };
        (disk.frames, disk.list) = (frames, list);
        disk.write_list()
    }

    /// Brings all frames to the disk and tells how far the series is: what [`Series::go_on`] needs.
    pub fn place(&mut self) -> Result<(usize, String)> {
        match &self.stage {
            Stage::Idle(disk) => disk.place(),
            Stage::Busy(desk) => {
                let (answer, place) = sync_channel(1);
                let sent = desk.jobs.send(Job::Place(answer)).is_ok();
                let place = if sent { place.recv().ok() } else { None };
                place.map_or_else(|| Err(self.failure()), Ok)
            }
            Stage::Failed => Err(self.failure()),
        }
    }

    /// Writes the next frame, then the list with its name and time, which ParaView shows: soon, by another thread. An
    /// error of the disk is told by one of the next calls, at the latest by [`Series::place`].
    pub fn push(&mut self, time: f64, frame: &Frame) -> Result<()> {
        frame.check()?;
        if let Stage::Idle(_) = self.stage {
            self.start()?;
        }
        let Stage::Busy(desk) = &self.stage else { return Err(self.failure()) };
        let mut snapshot = desk.spare.try_recv().unwrap_or_default();
        snapshot.fill(frame);
        let sent = desk.jobs.send(Job::Frame(time, snapshot)).is_ok();
        if sent { Ok(()) } else { Err(self.failure()) }
    }

    fn start(&mut self) -> Result<()> {
        let Stage::Idle(mut disk) = std::mem::replace(&mut self.stage, Stage::Failed) else { return Ok(()) };
        let (jobs, waiting) = sync_channel(WAITING);
        let (written, spare) = sync_channel(WAITING + 1);
        let plan = faults::inherit();
        let thread = std::thread::Builder::new().spawn(move || {
            faults::adopt(plan);
            for job in waiting {
                match job {
                    Job::Frame(time, snapshot) => {
                        snapshot.with_frame(|frame| disk.push(time, frame))?;
                        // More snapshots than places cannot be: memory is bounded by the two channels.
                        let _ = written.try_send(snapshot);
                    }
                    Job::Place(answer) => {
                        let place = disk.place()?;
                        let _ = answer.send(place);
                    }
                }
            }
            Ok(())
        });
        let thread = thread.map_err(Error::io("start a thread for frames in", &self.directory))?;
        self.stage = Stage::Busy(Desk { jobs, spare, thread });
        Ok(())
    }

    /// What the thread failed with.
    fn failure(&mut self) -> Error {
        let gone = || std::io::Error::other("an earlier frame could not be written");
        let unknown = Error::io("write", &self.directory);
        match std::mem::replace(&mut self.stage, Stage::Failed) {
            Stage::Busy(Desk { jobs, thread, .. }) => {
                drop(jobs);
                match thread.join() {
                    Ok(Err(error)) => error,
                    Ok(Ok(())) => unknown(gone()),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            _ => unknown(gone()),
        }
    }
}

impl Drop for Series {
    fn drop(&mut self) {
        if let Stage::Busy(Desk { jobs, thread, .. }) = std::mem::replace(&mut self.stage, Stage::Failed) {
            drop(jobs);
            // Who wants to know of failures asks for the place.
            let _ = thread.join();
        }
    }
}

/// The far end: files.
#[derive(Debug)]
struct Disk {
    directory: PathBuf,
    /// Name of the list, and what the names of its frames begin with.
    names: [String; 2],
    encoding: Encoding,
    frames: usize,
    /// The list as it stands on disk, closing tags included.
    list: String,
    /// The bytes of a frame; kept for its memory.
    bytes: Vec<u8>,
}

impl Disk {
    fn new(directory: &Path, names: [&str; 2], encoding: Encoding) -> Result<Disk> {
        let frames = directory.join("frames");
        make_directories(&frames)?;
        let disk = Disk {
            directory: directory.to_path_buf(),
            names: names.map(str::to_string),
            encoding,
            frames: 0,
            list: [OPENING, CLOSING].concat(),
            bytes: Vec::new(),
        };
        disk.write_list()?;
        Ok(disk)
    }

    fn place(&self) -> Result<(usize, String)> {
        sync_below(&self.directory.join("frames"))?;
        sync_below(&self.directory)?;
        Ok((self.frames, self.list.clone()))
    }

    fn push(&mut self, time: f64, frame: &Frame) -> Result<()> {
        let file = format!("frames/{}{:06}.vtu", self.names[1], self.frames);
        encode(frame, self.encoding, &mut self.bytes)?;
        write_whole(&self.directory.join(&file), &self.bytes)?;

        // `{:?}` is the shortest text that reads back as the same number.
        self.list.truncate(self.list.len() - CLOSING.len());
        write!(self.list, "    <DataSet timestep=\"{time:?}\" part=\"0\" file=\"{file}\"/>\n{CLOSING}")
            .expect("writing to memory does not fail");
        self.frames += 1;
        self.write_list()
    }

    fn write_list(&self) -> Result<()> {
        write_whole(&self.directory.join(&self.names[0]), self.list.as_bytes())
    }
}
