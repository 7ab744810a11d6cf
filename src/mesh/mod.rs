//! Nodes, lines between them, and named node sets.
//!
//! A mesh knows places and names only; what a line is made of is the model's business.

use std::collections::BTreeMap;

pub mod generate;
pub mod gmsh;

/// Nodes, two-node lines and named node sets, before any material.
///
/// ```
/// use carom::mesh::generate;
///
/// let bar = generate::line([5.0, 0.0], [15.0, 0.0], 4, 1.0);
/// assert_eq!(bar.nodes[1], [7.5, 0.0]);
/// assert_eq!(bar.lines, [[0, 1], [1, 2], [2, 3], [3, 4]]);
/// assert_eq!(bar.sets["end"], [4]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Places of the nodes; in one dimension the second coordinate is zero.
    pub nodes: Vec<[f64; 2]>,
    /// Two-node lines, as node indices.
    pub lines: Vec<[usize; 2]>,
    /// Named node sets (`start`, `end`, Gmsh groups), each sorted and without repetition.
    pub sets: BTreeMap<String, Vec<usize>>,
    /// Gmsh tags of the nodes, one per node, by which bodies made from one file share nodes;
    /// empty for generated meshes.
    pub tags: Vec<u64>,
}
