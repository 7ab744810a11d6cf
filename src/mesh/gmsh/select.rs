//! From the content of a file to a mesh: which lines, in which order, under which names.

use std::collections::{BTreeMap, BTreeSet};

use super::cursor::Cursor;
use super::sections::{Content, Element, noun};
use super::types;
use crate::mesh::Mesh;
use crate::{Error, Result};

/// The mesh of the lines in `group`, or of all lines; the cursor words the errors.
pub(super) fn mesh(content: &Content, group: Option<&str>, cursor: &Cursor) -> Result<Mesh> {
    let chosen = choose(content, group, cursor)?;
    let mut order = order_of_appearance(content, &chosen);
    let mut numbers = numbering(content, &order);
    let mut lines: Vec<[usize; 2]> = chosen.iter().map(|line| line.nodes.map(|node| numbers[node])).collect();
    let mut sets = BTreeMap::new();
    if let Some(path) = chain(&lines, &tags(content, &order)) {
        order = path.iter().map(|&i| order[i]).collect();
        numbers = numbering(content, &order);
        lines = (1..order.len()).map(|i| [i - 1, i]).collect();
        sets.insert("start".to_owned(), vec![0]);
        sets.insert("end".to_owned(), vec![order.len() - 1]);
    }
    sets.extend(groups(content, &numbers));
    let nodes = order.iter().map(|&node| [content.nodes[node].place[0], content.nodes[node].place[1]]).collect();
    Ok(Mesh { nodes, lines, sets, tags: tags(content, &order) })
}

/// The lines that make the mesh, checked one by one.
fn choose<'a>(content: &'a Content, group: Option<&str>, cursor: &Cursor) -> Result<Vec<&'a Element>> {
    let chosen: Vec<&Element> = match group {
        None => content.curves.iter().collect(),
        Some(group) => {
            let curves: BTreeSet<i32> = content
                .groups
                .keys()
                .filter(|&&(dimension, entity)| dimension == 1 && content.names_of(1, entity).any(|name| name == group))
                .map(|&(_, entity)| entity)
                .collect();
            content.curves.iter().filter(|element| curves.contains(&element.entity)).collect()
        }
    };
    if chosen.is_empty() {
        return Err(nothing_chosen(content, group, cursor));
    }
    if group.is_none()
        && let (count, Some(first)) = &content.solids
    {
        let text = format!(
            "element {} is a {}, one of {count} on surfaces or in volumes: the lines around them are a boundary, not \
             members; name the lines that are meant as a physical group, and that group in `group`",
            first.tag, first.kind.name
        );
        return Err(cursor.error(first.at, text));
    }
    if group.is_none()
        && let Some(orphan) = content.nodes.iter().find(|node| !node.used)
    {
        return Err(cursor.error(orphan.at, format!("node {} is an orphan: no element uses it", orphan.tag)));
    }
    for line in &chosen {
        check(content, line, cursor)?;
    }
    Ok(chosen)
}

/// Refuses an element that is no line of the plane.
fn check(content: &Content, line: &Element, cursor: &Cursor) -> Result<()> {
    let Element { tag, kind, .. } = line;
    if kind.number != types::LINE {
        let text = format!(
            "element {tag} is a {} (type {}); only 2-node lines (type {}) can be read, so mesh with element order 1",
            kind.name,
            kind.number,
            types::LINE
        );
        return Err(cursor.error(line.at, text));
    }
    let [a, b] = line.nodes.map(|node| &content.nodes[node]);
    for node in [a, b] {
        if node.place[2] != 0.0 {
            let text = format!("node {} lies at z = {}; meshes are plane, z must be 0", node.tag, node.place[2]);
            return Err(cursor.error(node.at, text));
        }
    }
    if a.place == b.place {
        let text = format!("element {tag} has no length: its nodes {} and {} lie in one place", a.tag, b.tag);
        return Err(cursor.error(line.at, text));
    }
    Ok(())
}

/// Why there are no lines: an unknown or unfit group, or an empty one.
fn nothing_chosen(content: &Content, group: Option<&str>, cursor: &Cursor) -> Error {
    let Some(group) = group else {
        return cursor.file_error("the file holds no lines");
    };
    let named = |wanted: i32| {
        content.names.iter().filter(move |((dimension, _), _)| *dimension == wanted).map(|(_, name)| name.as_str())
    };
    if named(1).any(|name| name == group) {
        return cursor.file_error(format!("group `{group}` holds no lines"));
    }
    let lines: BTreeSet<&str> = named(1).collect();
    let list = if lines.is_empty() {
        "the file names no groups of lines".to_owned()
    } else {
        let quoted: Vec<String> = lines.iter().map(|name| format!("`{name}`")).collect();
        format!("the groups of lines are {}", quoted.join(", "))
    };
    if let Some(other) = [0, 2, 3].into_iter().find(|&other| named(other).any(|name| name == group)) {
        return cursor.file_error(format!("group `{group}` is one of {}s, not of lines; {list}", noun(other)));
    }
    // One slip in three letters is a typing error. Lengths first: a name from the file may be long.
    let slips = (group.len() / 3).max(1);
    let hint = lines
        .iter()
        .filter(|name| name.len().abs_diff(group.len()) <= slips)
        .map(|name| (strsim::damerau_levenshtein(name, group), name))
        .filter(|(distance, _)| *distance <= slips)
        .min()
        .map_or(String::new(), |(_, name)| format!(" (did you mean `{name}`?)"));
    cursor.file_error(format!("there is no group `{group}`{hint}; {list}"))
}

/// The nodes of the lines as they first appear.
fn order_of_appearance(content: &Content, lines: &[&Element]) -> Vec<usize> {
    let mut seen = vec![false; content.nodes.len()];
    let all = lines.iter().flat_map(|line| line.nodes);
    all.filter(|&node| !std::mem::replace(&mut seen[node], true)).collect()
}

/// Number of a node that no chosen line uses.
const ABSENT: usize = usize::MAX;

/// The inverse of `order`.
fn numbering(content: &Content, order: &[usize]) -> Vec<usize> {
    let mut numbers = vec![ABSENT; content.nodes.len()];
    for (number, &node) in order.iter().enumerate() {
        numbers[node] = number;
    }
    numbers
}

/// The Gmsh tags of the nodes in `order`.
fn tags(content: &Content, order: &[usize]) -> Vec<u64> {
    order.iter().map(|&node| content.nodes[node].tag).collect()
}

/// The nodes along the lines, from the end with the smaller tag, if the lines form one open chain.
fn chain(lines: &[[usize; 2]], tags: &[u64]) -> Option<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); tags.len()];
    for &[a, b] in lines {
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    if neighbours.iter().any(|near| near.len() > 2) {
        return None;
    }
    // A walk from a free end meets each node once: to come back to one, it would need a third neighbour there.
    let start = (0..tags.len()).filter(|&i| neighbours[i].len() == 1).min_by_key(|&i| tags[i])?;
    let mut path = vec![start];
    let mut last = None;
    while let Some(&next) = neighbours[path[path.len() - 1]].iter().find(|&&near| Some(near) != last) {
        last = path.last().copied();
        path.push(next);
    }
    (path.len() == tags.len()).then_some(path)
}

/// The named groups as node sets, restricted to nodes with a number.
fn groups(content: &Content, numbers: &[usize]) -> BTreeMap<String, Vec<usize>> {
    let mut sets: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for element in content.points.iter().chain(&content.curves) {
        let kept = element.nodes.map(|node| numbers[node]).into_iter().filter(|&number| number != ABSENT);
        for name in content.names_of(element.kind.dimension, element.entity) {
            sets.entry(name).or_default().extend(kept.clone());
        }
    }
    let sets = sets.into_iter().filter(|(_, set)| !set.is_empty());
    sets.map(|(name, mut set)| {
        set.sort_unstable();
        set.dedup();
        (name.to_owned(), set)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_one_open_path() {
        let tags = [5, 6, 7, 8, 1, 2];
        assert_eq!(chain(&[[2, 3], [4, 0], [0, 2], [1, 3], [5, 1]], &tags), Some(vec![4, 0, 2, 3, 1, 5]));
        // A loop with a tail beside a lone line: a walk through the branch would take six steps, as many as nodes.
        assert_eq!(chain(&[[0, 1], [1, 2], [2, 3], [3, 1], [4, 5]], &[1, 2, 3, 4, 5, 6]), None);
        // A path beside a loop has as many lines as a chain of all nodes.
        assert_eq!(chain(&[[0, 1], [1, 2], [3, 4], [4, 5], [5, 3]], &tags), None);
        assert_eq!(chain(&[[0, 1], [1, 0]], &[1, 2]), None);
    }
}
