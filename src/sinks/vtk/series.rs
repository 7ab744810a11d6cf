//! A directory of frames with the list that ParaView opens.
//!
//! Knows file names and their order; must not know the content of a frame.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Frame, encode};
use crate::case::data::Encoding;
use crate::error::{Error, Result};
use crate::files::{sync_below, write_whole};

const OPENING: &str = concat!(
    "<?xml version=\"1.0\"?>\n",
    "<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n",
    "  <Collection>\n"
);
const CLOSING: &str = "  </Collection>\n</VTKFile>\n";

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
/// assert!(directory.path().join("frames/000000.vtu").is_file());
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Debug)]
pub struct Series {
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

impl Series {
    /// Starts a series in `directory`, which is made if need be: an empty list, no frames.
    ///
    /// Frames of an earlier series stay where they are until a new one takes their name; the list forgets them at once.
    pub fn create(directory: &Path, encoding: Encoding) -> Result<Series> {
        Series::named(directory, ["series.pvd", ""], encoding)
    }

    /// The same with another name of the list, and with frames whose names begin with something.
    pub fn named(directory: &Path, names: [&str; 2], encoding: Encoding) -> Result<Series> {
        let frames = directory.join("frames");
        fs::create_dir_all(&frames).map_err(Error::io("create", &frames))?;
        let list = [OPENING, CLOSING].concat();
        let series = Series {
            directory: directory.to_path_buf(),
            names: names.map(str::to_string),
            encoding,
            frames: 0,
            list,
            bytes: Vec::new(),
        };
        series.write_list()?;
        Ok(series)
    }

    /// Goes on with a series that had this many frames in this list, as [`Series::place`] told.
    pub fn go_on(&mut self, (frames, list): (usize, String)) -> Result<()> {
        (self.frames, self.list) = (frames, list);
        self.write_list()
    }

    /// Brings all frames to the disk and tells how far the series is: what [`Series::go_on`] needs.
    pub fn place(&self) -> Result<(usize, String)> {
        sync_below(&self.directory.join("frames"))?;
        sync_below(&self.directory)?;
        Ok((self.frames, self.list.clone()))
    }

    /// Writes the next frame, then the list with its name and time, which ParaView shows.
    pub fn push(&mut self, time: f64, frame: &Frame) -> Result<()> {
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
