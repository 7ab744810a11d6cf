//! Fewer nodes for the eye: chains of two-node elements with only some of their nodes.
//!
//! Knows nodes and lines; must not know what is drawn of them.

/// Segments of a thinned body, in the order in which its chains were walked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thinned {
    /// Ends of every segment, as nodes of the model.
    pub segments: Vec<[usize; 2]>,
    /// Lines that every segment stands for.
    pub lines: Vec<Vec<usize>>,
    /// Nodes that are not kept, each with the kept one next to it.
    pub dropped: Vec<(usize, usize)>,
}

/// Thins the lines of one body to about `limit` segments.
///
/// Ends of chains, junctions and every node for which `keep` holds stay; between them every k-th node does, k being the
/// same for the whole body. A body that is all junctions cannot be thinned without tearing it, and stays as it is.
pub fn thin(lines: &[[usize; 2]], limit: usize, keep: &dyn Fn(usize) -> bool) -> Thinned {
    let stride = lines.len().div_ceil(limit.max(1));
    let mut thinned = Thinned::default();
    for chain in chains(lines, keep) {
        let mut from = chain.start;
        let mut part = Vec::new();
        let mut passed = Vec::new();
        for (k, &(line, node)) in chain.links.iter().enumerate() {
            part.push(line);
            if (k + 1) % stride != 0 && k + 1 != chain.links.len() {
                passed.push(node);
                continue;
            }
            let middle = passed.len() / 2;
            thinned
                .dropped
                .extend(passed.drain(..).enumerate().map(|(i, n)| (n, if i < middle { from } else { node })));
            thinned.segments.push([from, node]);
            thinned.lines.push(std::mem::take(&mut part));
            from = node;
        }
    }
    thinned
}

/// A walk from one fixed node to the next.
struct Chain {
    start: usize,
    /// Line walked and node arrived at.
    links: Vec<(usize, usize)>,
}

/// The walks that cover every line once: first those between fixed nodes, then closed rings, which begin anywhere.
fn chains(lines: &[[usize; 2]], keep: &dyn Fn(usize) -> bool) -> Vec<Chain> {
    let Some(low) = lines.iter().flatten().copied().min() else { return Vec::new() };
    let high = lines.iter().flatten().copied().max().unwrap_or(low);
    let mut at_node = vec![Vec::new(); high - low + 1];
    for (index, line) in lines.iter().enumerate() {
        line.iter().for_each(|&node| at_node[node - low].push(index));
    }
    let fixed = |node: usize| keep(node) || at_node[node - low].len() != 2;
    let ends = (low..=high).filter(|&node| fixed(node));
    let ends = ends.flat_map(|node| at_node[node - low].iter().map(move |&line| (node, line)));
    let rings = lines.iter().enumerate().map(|(index, line)| (line[0], index));
    let mut walked = vec![false; lines.len()];
    let mut all = Vec::new();
    for (start, first) in ends.chain(rings) {
        let mut links = Vec::new();
        let (mut node, mut next) = (start, Some(first).filter(|&line| !walked[line]));
        while let Some(line) = next {
            walked[line] = true;
            let [a, b] = lines[line];
            node = if a == node { b } else { a };
            links.push((line, node));
            next = at_node[node - low].iter().copied().find(|&onward| !walked[onward] && !fixed(node));
        }
        if !links.is_empty() {
            all.push(Chain { start, links });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(n: usize) -> Vec<[usize; 2]> {
        (0..n).map(|k| [k, k + 1]).collect()
    }

    #[test]
    fn a_chain_keeps_its_ends_and_the_nodes_asked_for() {
        let thinned = thin(&chain(10), 4, &|node| node == 5);
        // Three lines to a segment, counted anew from node 5.
        assert_eq!(thinned.segments, [[0, 3], [3, 5], [5, 8], [8, 10]]);
        assert_eq!(thinned.lines, [vec![0, 1, 2], vec![3, 4], vec![5, 6, 7], vec![8, 9]]);
        assert_eq!(thinned.dropped, [(1, 0), (2, 3), (4, 5), (6, 5), (7, 8), (9, 10)]);
    }

    #[test]
    fn nothing_is_dropped_below_the_limit() {
        let thinned = thin(&chain(3), 3, &|_| false);
        assert_eq!(thinned.segments, chain(3));
        assert!(thinned.dropped.is_empty());
    }

    #[test]
    fn junctions_stay_and_rings_close() {
        // A star of three arms of two lines, and apart from it a ring of four lines.
        let star = [[0, 1], [1, 2], [0, 3], [3, 4], [0, 5], [5, 6]];
        let ring = [[7, 8], [8, 9], [9, 10], [10, 7]];
        let thinned = thin(&[&star[..], &ring[..]].concat(), 5, &|_| false);
        assert_eq!(thinned.segments, [[0, 2], [0, 4], [0, 6], [7, 9], [9, 7]]);
        let mut lines = thinned.lines.concat();
        lines.sort();
        assert_eq!(lines, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn lines_may_point_either_way() {
        let thinned = thin(&[[1, 0], [1, 2], [3, 2]], 1, &|_| false);
        assert_eq!(thinned.segments, [[0, 3]]);
    }
}
