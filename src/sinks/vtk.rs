//! ParaView files: one unstructured grid (`.vtu`) per frame, and the series that lists them.
//!
//! Knows points, cells, named arrays and the VTK file format; must not know what the numbers mean or where they come
//! from. Both encodings share one XML skeleton and differ only in where the numbers of an array stand: behind the XML
//! as raw bytes, or inside it, compressed block by block and as base64.

mod series;
mod snapshot;

use std::fmt;
use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::case::data::Encoding;
use crate::error::{Error, Result};

pub use series::Series;

/// One named array of point or cell data.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    /// Name shown in ParaView; any text without control characters.
    pub name: &'a str,
    /// Numbers per point or cell, at least 1.
    pub components: usize,
    /// The numbers, those of one point or cell side by side.
    pub values: &'a [f64],
}

/// One instant, ready to be written: a view of arrays that somebody else owns.
///
/// ```
/// use carom::case::data::Encoding;
/// use carom::sinks::vtk::{Array, Frame, encode};
///
/// let frame = Frame {
///     points: &[[0.0; 3], [2.0, 0.0, 0.0]],
///     lines: &[[0, 1]],
///     quads: &[],
///     vertices: &[],
///     point_data: &[Array { name: "displacement", components: 3, values: &[0.0, 0.0, 0.0, 0.5, 0.0, 0.0] }],
///     cell_data: &[Array { name: "N", components: 1, values: &[225.0] }],
///     field_data: &[("TimeValue", 0.25)],
/// };
/// let mut bytes = Vec::new();
/// encode(&frame, Encoding::Raw, &mut bytes)?;
/// assert!(bytes.starts_with(b"<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\""));
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Reference coordinates.
    pub points: &'a [[f64; 3]],
    /// The first cells: lines, each between two points.
    pub lines: &'a [[u32; 2]],
    /// The cells that follow: quadrilaterals, for surfaces.
    pub quads: &'a [[u32; 4]],
    /// The last cells: single points, for point masses.
    pub vertices: &'a [u32],
    /// Arrays with one entry per point.
    pub point_data: &'a [Array<'a>],
    /// Arrays with one entry per cell: lines, quadrilaterals, vertices.
    pub cell_data: &'a [Array<'a>],
    /// Numbers of the whole frame; `TimeValue` is the one ParaView knows.
    pub field_data: &'a [(&'a str, f64)],
}

/// Writes `frame` as one complete VTU file into `out`, whose former content is dropped and whose memory is reused.
///
/// Equal frames give equal bytes. Fails when the frame contradicts itself: an array of the wrong length, a cell
/// with a point that does not exist, a name that XML cannot hold.
pub fn encode(frame: &Frame, encoding: Encoding, out: &mut Vec<u8>) -> Result<()> {
    frame.check()?;
    out.clear();
    match encoding {
        Encoding::Raw => encode_raw(frame, out),
        Encoding::Lz4 => encode_lz4(frame, out),
    }
    Ok(())
}

fn encode_raw(frame: &Frame, out: &mut Vec<u8>) {
    let mut offset = 0;
    let mut appended = Vec::new();
    write_xml(frame, "", out, |out, values| {
        put(out, format_args!(" format=\"appended\" offset=\"{offset}\"/>\n"));
        offset += size_of::<u64>() + values.byte_count();
        appended.push(values);
    });
    put(out, format_args!("  <AppendedData encoding=\"raw\">\n_"));
    out.reserve(offset);
    for values in &appended {
        out.extend_from_slice(&(values.byte_count() as u64).to_le_bytes());
        values.append_to(out);
    }
    put(out, format_args!("\n  </AppendedData>\n</VTKFile>\n"));
}

fn encode_lz4(frame: &Frame, out: &mut Vec<u8>) {
    let mut bytes = Vec::new();
    let mut text = String::new();
    write_xml(frame, " compressor=\"vtkLZ4DataCompressor\"", out, |out, values| {
        bytes.clear();
        values.append_to(&mut bytes);
        // The last block is what fills no whole one, and may be empty: VTK allows that, and other readers count on it.
        let (whole, rest) = bytes.as_chunks::<BLOCK>();
        let blocks = whole.iter().map(<[u8; BLOCK]>::as_slice).chain([rest]);
        let blocks: Vec<Vec<u8>> = blocks.map(lz4_flex::block::compress).collect();
        // Number of blocks, their size before compression and that of the last one, then all sizes after it.
        let sizes = [blocks.len(), BLOCK, rest.len()].into_iter().chain(blocks.iter().map(Vec::len));
        let header: Vec<u8> = sizes.flat_map(|size| (size as u64).to_le_bytes()).collect();
        text.clear();
        BASE64_STANDARD.encode_string(header, &mut text);
        BASE64_STANDARD.encode_string(blocks.concat(), &mut text);
        put(out, format_args!(" format=\"binary\">\n{text}\n        </DataArray>\n"));
    });
    put(out, format_args!("</VTKFile>\n"));
}

/// Bytes that are compressed together; VTK's own writer takes as many.
const BLOCK: usize = 32768;

/// The XML up to the end of the grid. `finish` completes an opened `<DataArray` tag with the place of its values.
fn write_xml<'a>(
    frame: &Frame<'a>,
    compressor: &str,
    out: &mut Vec<u8>,
    mut finish: impl FnMut(&mut Vec<u8>, Values<'a>),
) {
    let mut array = |out: &mut Vec<u8>, name: &str, components: usize, values: Values<'a>| {
        let kind = values.kind();
        put(out, format_args!("        <DataArray type=\"{kind}\" Name=\"{}\"", Escaped(name)));
        put(out, format_args!(" NumberOfComponents=\"{components}\""));
        if let Values::Single(_) = values {
            put(out, format_args!(" NumberOfTuples=\"1\""));
        }
        finish(out, values);
    };
    let shapes = Cells { lines: frame.lines, quads: frame.quads, vertices: frame.vertices };

    put(out, format_args!("<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\""));
    put(out, format_args!(" byte_order=\"LittleEndian\" header_type=\"UInt64\"{compressor}>\n"));
    put(out, format_args!("  <UnstructuredGrid>\n    <FieldData>\n"));
    for &(name, value) in frame.field_data {
        array(out, name, 1, Values::Single(value));
    }
    let (points, cells) = (frame.points.len(), frame.cells());
    put(out, format_args!("    </FieldData>\n    <Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\">\n"));
    put(out, format_args!("      <PointData>\n"));
    for a in frame.point_data {
        array(out, a.name, a.components, Values::Floats(a.values));
    }
    put(out, format_args!("      </PointData>\n      <CellData>\n"));
    for a in frame.cell_data {
        array(out, a.name, a.components, Values::Floats(a.values));
    }
    put(out, format_args!("      </CellData>\n      <Points>\n"));
    array(out, "Points", 3, Values::Floats(frame.points.as_flattened()));
    put(out, format_args!("      </Points>\n      <Cells>\n"));
    array(out, "connectivity", 1, Values::Connectivity(shapes));
    array(out, "offsets", 1, Values::Offsets(shapes));
    array(out, "types", 1, Values::Types(shapes));
    put(out, format_args!("      </Cells>\n    </Piece>\n  </UnstructuredGrid>\n"));
}

/// The numbers of one array; those of the cells are made while they are written.
enum Values<'a> {
    Single(f64),
    Floats(&'a [f64]),
    Connectivity(Cells<'a>),
    Offsets(Cells<'a>),
    Types(Cells<'a>),
}

/// The cells of a frame, kind by kind.
#[derive(Clone, Copy)]
struct Cells<'a> {
    lines: &'a [[u32; 2]],
    quads: &'a [[u32; 4]],
    vertices: &'a [u32],
}

const VTK_VERTEX: u8 = 1;
const VTK_LINE: u8 = 3;
const VTK_QUAD: u8 = 9;

impl<'a> Cells<'a> {
    fn count(&self) -> usize {
        self.lines.len() + self.quads.len() + self.vertices.len()
    }

    fn points(self) -> impl Iterator<Item = u32> + 'a {
        self.lines.as_flattened().iter().chain(self.quads.as_flattened()).chain(self.vertices).copied()
    }

    fn connectivity(self) -> impl Iterator<Item = i64> + 'a {
        self.points().map(i64::from)
    }

    /// Where each cell ends in the connectivity.
    fn offsets(self) -> impl Iterator<Item = i64> {
        let sizes = [(self.lines.len(), 2), (self.quads.len(), 4), (self.vertices.len(), 1)];
        let sizes = sizes.into_iter().flat_map(|(count, size)| std::iter::repeat_n(size, count));
        sizes.scan(0, |end, size| {
            *end += size;
            Some(*end)
        })
    }

    fn types(self) -> impl Iterator<Item = u8> {
        let kinds = [(self.lines.len(), VTK_LINE), (self.quads.len(), VTK_QUAD), (self.vertices.len(), VTK_VERTEX)];
        kinds.into_iter().flat_map(|(count, kind)| std::iter::repeat_n(kind, count))
    }
}

impl Values<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Values::Single(_) | Values::Floats(_) => "Float64",
            Values::Connectivity(_) | Values::Offsets(_) => "Int64",
            Values::Types(_) => "UInt8",
        }
    }

    fn byte_count(&self) -> usize {
        match *self {
            Values::Single(_) => 8,
            Values::Floats(values) => 8 * values.len(),
            Values::Connectivity(cells) => 8 * (2 * cells.lines.len() + 4 * cells.quads.len() + cells.vertices.len()),
            Values::Offsets(cells) => 8 * cells.count(),
            Values::Types(cells) => cells.count(),
        }
    }

    /// Appends [`Self::byte_count`] little-endian bytes.
    fn append_to(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + self.byte_count(), 0);
        let bytes = &mut out[start..];
        // Filling fixed slots compiles to a copy; pushing number by number does not.
        match *self {
            Values::Single(value) => bytes.copy_from_slice(&value.to_le_bytes()),
            Values::Floats(values) => fill(bytes, values.iter().map(|v| v.to_le_bytes())),
            Values::Connectivity(cells) => fill(bytes, cells.connectivity().map(i64::to_le_bytes)),
            Values::Offsets(cells) => fill(bytes, cells.offsets().map(i64::to_le_bytes)),
            Values::Types(cells) => fill(bytes, cells.types().map(|kind| [kind])),
        }
    }
}

fn fill<const N: usize>(bytes: &mut [u8], items: impl Iterator<Item = [u8; N]>) {
    bytes.as_chunks_mut().0.iter_mut().zip(items).for_each(|(slot, item)| *slot = item);
}

fn put(out: &mut Vec<u8>, text: fmt::Arguments) {
    out.write_fmt(text).expect("writing to memory does not fail");
}

/// Text for an XML attribute in double quotes.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            _ => fmt::Write::write_char(f, c),
        })
    }
}

impl Frame<'_> {
    /// Number of cells of all kinds.
    pub fn cells(&self) -> usize {
        self.shapes().count()
    }

    fn shapes(&self) -> Cells<'_> {
        Cells { lines: self.lines, quads: self.quads, vertices: self.vertices }
    }

    fn check(&self) -> Result<()> {
        check_arrays(self.point_data, self.points.len(), "points")?;
        check_arrays(self.cell_data, self.cells(), "cells")?;
        self.field_data.iter().try_for_each(|&(name, _)| check_name(name))?;
        let points = self.points.len();
        match self.shapes().points().find(|&point| point as usize >= points) {
            Some(point) => {
                Err(Error::Input(format!("VTK frame: a cell uses point {point}, but there are {points} points")))
            }
            None => Ok(()),
        }
    }
}

fn check_arrays(arrays: &[Array], entries: usize, what: &str) -> Result<()> {
    arrays.iter().try_for_each(|&Array { name, components, values }| {
        check_name(name)?;
        if components == 0 || values.len() != components * entries {
            let found = values.len();
            return Err(Error::Input(format!(
                "VTK array `{name}`: {found} values do not make {components} components for each of {entries} {what}"
            )));
        }
        Ok(())
    })
}

fn check_name(name: &str) -> Result<()> {
    if name.chars().any(char::is_control) {
        return Err(Error::Input(format!("VTK array {name:?}: control characters are not allowed in a name")));
    }
    Ok(())
}
