//! The sections of an MSH 4.1 file, read into plain lists.
//!
//! Checks what concerns the file alone (tags, counts, references); which lines make the mesh is
//! decided afterwards.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::cursor::{Cursor, shorten};
use super::types::{self, ElementType};
use crate::Result;

/// Physical groups that one entity may be in. Each adds the entity's nodes to a set, so that
/// without a limit a small file could ask for memory without end.
const MOST_GROUPS: usize = 64;

/// A node as the file has it.
pub(super) struct Node {
    /// Gmsh's number.
    pub(super) tag: u64,
    /// Its place.
    pub(super) place: [f64; 3],
    /// Whether any element of the file uses it.
    pub(super) used: bool,
    /// Where its coordinates stand in the file.
    pub(super) at: usize,
}

/// An element on a point or a curve.
pub(super) struct Element {
    /// Gmsh's number.
    pub(super) tag: u64,
    /// The point or curve it lies on.
    pub(super) entity: i32,
    /// Its type.
    pub(super) kind: &'static ElementType,
    /// Its first two nodes, the ends of a line, as indices; a point has the same twice.
    pub(super) nodes: [usize; 2],
    /// Where it stands in the file.
    pub(super) at: usize,
}

/// All that the file says and a mesh of lines can use.
#[derive(Default)]
pub(super) struct Content {
    /// Names of the physical groups, by dimension and tag.
    pub(super) names: BTreeMap<(i32, i32), String>,
    /// Physical groups of each entity, by dimension and tag of the entity.
    pub(super) groups: BTreeMap<(i32, i32), Vec<i32>>,
    /// All nodes, in the file's order.
    pub(super) nodes: Vec<Node>,
    /// The elements on points (dimension 0).
    pub(super) points: Vec<Element>,
    /// The elements on curves (dimension 1).
    pub(super) curves: Vec<Element>,
    /// How many elements lie on surfaces and volumes (dimensions 2 and 3), and the first of them.
    pub(super) solids: (usize, Option<Element>),
    /// Index of each node tag.
    index: HashMap<u64, usize>,
}

impl Content {
    /// Reads the sections after $MeshFormat.
    pub(super) fn read(cursor: &mut Cursor) -> Result<Content> {
        let mut content = Content::default();
        let mut seen = BTreeSet::new();
        while cursor.more() {
            let start = cursor.at();
            let word = cursor.word("a section")?;
            let Some(section) = word.strip_prefix('$').filter(|name| (1..=127).contains(&name.len())) else {
                let text = format!("expected a section such as $Nodes, found `{}`", shorten(&word));
                return Err(cursor.error(start, text));
            };
            cursor.enter_section();
            let read = match section {
                "PhysicalNames" => Content::read_names,
                "Entities" => Content::read_entities,
                "Nodes" => Content::read_nodes,
                "Elements" => Content::read_elements,
                _ => {
                    if !cursor.pass_until(&format!("$End{section}")) {
                        let text = format!("section ${} has no end; is the file truncated?", shorten(section));
                        return Err(cursor.error(start, text));
                    }
                    continue;
                }
            };
            if section == "Elements" && !seen.contains("Nodes") {
                return Err(cursor.error(start, "section $Nodes must stand before $Elements"));
            }
            if !seen.insert(section.to_owned()) {
                return Err(cursor.error(start, format!("section ${section} stands in the file twice")));
            }
            read(&mut content, cursor)?;
            end(cursor, section)?;
        }
        for section in ["Nodes", "Elements"] {
            if !seen.contains(section) {
                return Err(cursor.file_error(format!("section ${section} is missing; is the file truncated?")));
            }
        }
        if seen.contains("Entities") {
            content.check_entities(cursor)?;
        }
        Ok(content)
    }

    /// Names of the groups that an entity is in.
    pub(super) fn names_of(&self, dimension: i32, entity: i32) -> impl Iterator<Item = &str> {
        let groups = self.groups.get(&(dimension, entity)).map_or(&[][..], Vec::as_slice);
        groups.iter().filter_map(move |&group| self.names.get(&(dimension, group)).map(String::as_str))
    }

    fn read_names(&mut self, cursor: &mut Cursor) -> Result<()> {
        // This section is text in binary files too.
        let count: u64 = cursor.decimal("the number of physical names", "an integer, zero or more")?;
        for _ in 0..count {
            let start = cursor.at();
            let dimension = cursor.decimal("the dimension of a physical group", "0, 1, 2 or 3")?;
            let tag = cursor.decimal("the tag of a physical group", "an integer")?;
            let name = cursor.quoted("the name of a physical group")?;
            if !(0..=3).contains(&dimension) {
                return Err(cursor.error(start, format!("group `{name}` has dimension {dimension}, expected 0 to 3")));
            }
            if let Some(other) = self.names.insert((dimension, tag), name.to_owned()) {
                let text = format!("tag {tag} of group `{name}` is taken by group `{other}` of the same dimension");
                return Err(cursor.error(start, text));
            }
        }
        Ok(())
    }

    fn read_entities(&mut self, cursor: &mut Cursor) -> Result<()> {
        let counts = [
            cursor.count("the number of points", 1, 4)?,
            cursor.count("the number of curves", 1, 8)?,
            cursor.count("the number of surfaces", 1, 8)?,
            cursor.count("the number of volumes", 1, 8)?,
        ];
        for (dimension, count) in (0..).zip(counts) {
            for _ in 0..count {
                self.read_entity(dimension, cursor)?;
            }
        }
        Ok(())
    }

    fn read_entity(&mut self, dimension: i32, cursor: &mut Cursor) -> Result<()> {
        let start = cursor.at();
        let tag = cursor.int("the tag of an entity")?;
        // A place or a box around the entity: unused, so that it need not be finite.
        for _ in 0..if dimension == 0 { 3 } else { 6 } {
            cursor.any_real("a bound of an entity")?;
        }
        let count = cursor.count("the number of physical groups of an entity", 1, 0)?;
        if count > MOST_GROUPS {
            let text =
                format!("{} {tag} is in {count} physical groups, at most {MOST_GROUPS} are read", noun(dimension));
            return Err(cursor.error(start, text));
        }
        let mut groups = Vec::with_capacity(count);
        for _ in 0..count {
            // The sign tells an orientation, which node sets and bars have no use for.
            groups.push(cursor.int("the tag of a physical group")?.saturating_abs());
        }
        if dimension > 0 {
            for _ in 0..cursor.count("the number of bounding entities", 1, 0)? {
                cursor.int("the tag of a bounding entity")?;
            }
        }
        if self.groups.insert((dimension, tag), groups).is_some() {
            return Err(cursor.error(start, format!("{} {tag} stands in $Entities twice", noun(dimension))));
        }
        Ok(())
    }

    fn read_nodes(&mut self, cursor: &mut Cursor) -> Result<()> {
        let blocks = cursor.count("the number of node blocks", 3, 1)?;
        let start = cursor.at();
        let total = cursor.count("the number of nodes", 0, 4)?;
        cursor.size("the smallest node tag")?;
        cursor.size("the largest node tag")?;
        for _ in 0..blocks {
            self.read_node_block(cursor)?;
        }
        let found = self.nodes.len();
        if found != total {
            return Err(cursor.error(start, format!("$Nodes declares {total} nodes, its blocks hold {found}")));
        }
        Ok(())
    }

    fn read_node_block(&mut self, cursor: &mut Cursor) -> Result<()> {
        let dimension = dimension(cursor)?;
        cursor.int("the entity of a node block")?;
        let start = cursor.at();
        let parameters = match cursor.int("the parametric flag of a node block")? {
            0 => 0,
            1 => dimension,
            other => {
                return Err(cursor.error(start, format!("the parametric flag is {other}, expected 0 or 1")));
            }
        };
        let count = cursor.count("the number of nodes in a block", 0, 4)?;
        let first = self.nodes.len();
        for i in 0..count {
            let at = cursor.at();
            let tag = cursor.size("a node tag")?;
            if self.index.insert(tag, first + i).is_some() {
                return Err(cursor.error(at, format!("node tag {tag} stands in $Nodes twice")));
            }
            self.nodes.push(Node { tag, place: [0.0; 3], used: false, at });
        }
        for node in &mut self.nodes[first..] {
            node.at = cursor.at();
            node.place = [cursor.real("x of a node")?, cursor.real("y of a node")?, cursor.real("z of a node")?];
            for _ in 0..parameters {
                cursor.any_real("a parametric coordinate of a node")?;
            }
        }
        Ok(())
    }

    fn read_elements(&mut self, cursor: &mut Cursor) -> Result<()> {
        let blocks = cursor.count("the number of element blocks", 3, 1)?;
        let start = cursor.at();
        let total = cursor.count("the number of elements", 0, 2)?;
        cursor.size("the smallest element tag")?;
        cursor.size("the largest element tag")?;
        let mut tags = HashSet::new();
        for _ in 0..blocks {
            self.read_element_block(&mut tags, cursor)?;
        }
        let found = tags.len();
        if found != total {
            return Err(cursor.error(start, format!("$Elements declares {total} elements, its blocks hold {found}")));
        }
        Ok(())
    }

    fn read_element_block(&mut self, tags: &mut HashSet<u64>, cursor: &mut Cursor) -> Result<()> {
        let start = cursor.at();
        let dimension = dimension(cursor)?;
        let entity = cursor.int("the entity of an element block")?;
        let number = cursor.int("an element type")?;
        let Some(kind) = types::find(number) else {
            return Err(cursor.error(start, format!("element type {number} is not one that Gmsh documents")));
        };
        if kind.dimension != dimension {
            let text = format!("elements of type {number} ({}) cannot lie on a {}", kind.name, noun(dimension));
            return Err(cursor.error(start, text));
        }
        for _ in 0..cursor.count("the number of elements in a block", 0, 1 + kind.nodes)? {
            let at = cursor.at();
            let tag = cursor.size("an element tag")?;
            if !tags.insert(tag) {
                return Err(cursor.error(at, format!("element tag {tag} stands in $Elements twice")));
            }
            let mut nodes = [0; 2];
            for place in 0..kind.nodes {
                let node = cursor.size("a node of an element")?;
                let Some(&index) = self.index.get(&node) else {
                    let text = format!("element {tag} refers to node {node}, which is not in $Nodes");
                    return Err(cursor.error(at, text));
                };
                self.nodes[index].used = true;
                if place < 2 {
                    nodes[place..].fill(index);
                }
            }
            let element = Element { tag, entity, kind, nodes, at };
            match dimension {
                0 => self.points.push(element),
                1 => self.curves.push(element),
                _ => {
                    self.solids.0 += 1;
                    self.solids.1.get_or_insert(element);
                }
            }
        }
        Ok(())
    }

    /// Without its entity an element would silently drop out of its groups.
    fn check_entities(&self, cursor: &Cursor) -> Result<()> {
        for element in self.points.iter().chain(&self.curves) {
            let Element { tag, entity, kind, at, .. } = element;
            if !self.groups.contains_key(&(kind.dimension, *entity)) {
                let noun = noun(kind.dimension);
                let text = format!(
                    "element {tag} lies on {noun} {entity}, which is not in $Entities; \
                     if the mesh is partitioned, save it without partitions"
                );
                return Err(cursor.error(*at, text));
            }
        }
        Ok(())
    }
}

/// Passes the end mark of a section.
pub(super) fn end(cursor: &mut Cursor, section: &str) -> Result<()> {
    let mark = format!("$End{section}");
    cursor.more();
    let start = cursor.at();
    let word = cursor.word(&mark)?;
    if word == mark {
        return Ok(());
    }
    Err(cursor.error(
        start,
        format!("expected {mark}, found `{}`: ${section} does not hold what it declares", shorten(&word)),
    ))
}

/// The dimension of a block's entity.
fn dimension(cursor: &mut Cursor) -> Result<i32> {
    let start = cursor.at();
    match cursor.int("the dimension of a block")? {
        dimension @ 0..=3 => Ok(dimension),
        other => Err(cursor.error(start, format!("the dimension of a block is {other}, expected 0 to 3"))),
    }
}

/// What Gmsh calls an entity of this dimension.
pub(super) fn noun(dimension: i32) -> &'static str {
    ["point", "curve", "surface"].get(dimension as usize).copied().unwrap_or("volume")
}
