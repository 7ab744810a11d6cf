//! Nodes, lines between them, and named node sets.
//!
//! A mesh knows places and names only; what a line is made of is the model's business.

use std::collections::BTreeMap;

pub mod generate;
pub mod gmsh;

/// Nodes, two-node lines and named node sets, before any material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Places of the nodes; in one dimension the second coordinate is zero.
    pub nodes: Vec<[f64; 2]>,
    /// Two-node lines, as node indices.
    pub lines: Vec<[usize; 2]>,
    /// Named node sets (`start`, `end`, Gmsh groups), each sorted and without repetition.
    pub sets: BTreeMap<String, Vec<usize>>,
}
