//! Reader of Gmsh meshes: MSH 4.1, text and binary of either byte order.
//!
//! Takes two-node lines and names of node sets out of a file and passes over the rest. It knows
//! nothing of bodies or case files. Nothing in a file can make it panic, hang or reserve memory
//! beyond a fixed multiple of the file's own size.

mod cursor;
mod sections;
mod select;
mod types;

use std::path::Path;

use cursor::{Cursor, shorten};

use super::Mesh;
use crate::Result;

/// Reads the lines of the physical group `group`, or all lines, from the file at `path`.
///
/// See [`parse`] for what comes out.
///
/// # Errors
///
/// [`Error::Io`](crate::Error::Io) if the file cannot be read, [`Error::Input`](crate::Error::Input) if it holds no such mesh.
pub fn read(path: &Path, group: Option<&str>) -> Result<Mesh> {
    let bytes = crate::files::read(path)?;
    parse(&bytes, &path.display().to_string(), group)
}

/// The mesh in `bytes`, the content of the file called `name`.
///
/// The lines are those of the physical group `group` of dimension 1, or all of the file; the nodes
/// are those the lines use, with their Gmsh tags. If the lines form one open chain, nodes and lines
/// are numbered along it, from the end whose node has the smaller tag, and the sets `start` and
/// `end` hold its two ends. Otherwise nodes are numbered as they first appear and lines keep the
/// file's order and direction.
///
/// Every named physical group of points or lines becomes a node set, restricted to the nodes of
/// the mesh and left out if none remains; groups of one name are joined, and a group called `start`
/// or `end` takes the place of that end of the chain.
///
/// # Errors
///
/// [`Error::Input`](crate::Error::Input), with the line (text) or byte offset (binary), if the bytes are not a complete
/// and consistent MSH 4.1 file, the group is unknown or empty or holds other than two-node lines,
/// a line has no length, a node lies off the plane z = 0, or, without `group`, the file holds
/// surface or volume elements, whose boundary is no structure, or no element uses a node of the file.
///
/// ```
/// let file = br#"$MeshFormat
/// 4.1 0 8
/// $EndMeshFormat
/// $Nodes
/// 1 3 1 3
/// 1 1 0 3
/// 1
/// 2
/// 3
/// 0 0 0
/// 2 0 0
/// 1 0 0
/// $EndNodes
/// $Elements
/// 1 2 1 2
/// 1 1 1 2
/// 1 3 2
/// 2 1 3
/// $EndElements
/// "#;
/// let mesh = carom::mesh::gmsh::parse(file, "bar.msh", None)?;
/// assert_eq!(mesh.nodes, [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]);
/// assert_eq!(mesh.lines, [[0, 1], [1, 2]]);
/// assert_eq!(mesh.tags, [1, 3, 2]);
/// # Ok::<(), carom::Error>(())
/// ```
pub fn parse(bytes: &[u8], name: &str, group: Option<&str>) -> Result<Mesh> {
    let mut cursor = Cursor::new(bytes, name);
    enter(&mut cursor)?;
    let content = sections::Content::read(&mut cursor)?;
    select::mesh(&content, group, &cursor)
}

/// Reads $MeshFormat, which must come first and tells how the rest is written.
fn enter(cursor: &mut Cursor) -> Result<()> {
    // Some editors put a byte order mark in front of text.
    cursor.pass(b"\xEF\xBB\xBF");
    if !cursor.more() {
        return Err(cursor.file_error("the file is empty, expected a Gmsh MSH 4.1 file"));
    }
    let start = cursor.at();
    let word = cursor.word("$MeshFormat")?;
    if word != "$MeshFormat" {
        let text = format!("not a Gmsh MSH file: it begins with `{}`, expected $MeshFormat", shorten(&word));
        return Err(cursor.error(start, text));
    }
    let start = cursor.at();
    let version = cursor.word("the MSH version")?;
    if version != "4.1" {
        let text = format!(
            "MSH version `{}` cannot be read; save the mesh as version 4.1 (gmsh -format msh41)",
            shorten(&version)
        );
        return Err(cursor.error(start, text));
    }
    let start = cursor.at();
    let binary = match &*cursor.word("the file type")? {
        "0" => false,
        "1" => true,
        other => {
            let text = format!("the file type is `{}`, expected 0 (text) or 1 (binary)", shorten(other));
            return Err(cursor.error(start, text));
        }
    };
    let start = cursor.at();
    let size = cursor.word("the data size")?;
    if binary && size != "8" {
        let text = format!("the data size of a binary file is `{}`, expected 8; save the mesh as text", shorten(&size));
        return Err(cursor.error(start, text));
    }
    if binary {
        cursor.enter_binary()?;
    }
    sections::end(cursor, "MeshFormat")
}
