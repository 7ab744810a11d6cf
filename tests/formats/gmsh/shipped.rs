//! The meshes that the cases use, against another reader and against what their .geo files say.

use std::collections::BTreeMap;

use carom::mesh::{generate, gmsh};

use super::shipped;

/// Places and lines by node tag as mshio reads them: tags run from 1 in the order of the blocks.
fn oracle(bytes: &[u8]) -> (BTreeMap<u64, [f64; 2]>, Vec<[u64; 2]>) {
    let data = mshio::parse_msh_bytes(bytes).unwrap().data;
    let nodes = data.nodes.unwrap().node_blocks;
    assert!(nodes.iter().all(|block| block.node_tags.is_none()), "tags are dense");
    let places = nodes.iter().flat_map(|block| &block.nodes).map(|node| [node.x, node.y]);
    let blocks = data.elements.unwrap().element_blocks;
    let lines = blocks.iter().filter(|block| block.element_type == mshio::ElementType::Lin2);
    let lines = lines.flat_map(|block| &block.elements).map(|line| [line.nodes[0], line.nodes[1]]);
    ((1..).zip(places).collect(), lines.collect())
}

/// Lines as pairs of places, each with its smaller end first, sorted: free of numbering and order.
fn by_place(lines: impl Iterator<Item = [[f64; 2]; 2]>) -> Vec<[[f64; 2]; 2]> {
    let mut lines: Vec<_> = lines.map(|[a, b]| if a < b { [a, b] } else { [b, a] }).collect();
    lines.sort_by(|a, b| a.partial_cmp(b).unwrap());
    lines
}

#[test]
fn mshio_reads_the_same_nodes_and_lines() {
    for name in ["bar.msh", "bar-binary.msh", "portal.msh", "truss.msh"] {
        let bytes = std::fs::read(shipped(name)).unwrap();
        let (places, lines) = oracle(&bytes);
        let mesh = gmsh::read(&shipped(name), None).unwrap();

        let ours: BTreeMap<u64, [f64; 2]> = mesh.tags.iter().copied().zip(mesh.nodes.iter().copied()).collect();
        assert_eq!(ours, places, "{name}");
        let ours = by_place(mesh.lines.iter().map(|line| line.map(|i| mesh.nodes[i])));
        assert_eq!(ours, by_place(lines.iter().map(|line| line.map(|tag| places[&tag]))), "{name}");
    }
}

#[test]
fn text_and_binary_of_the_bar_are_one_mesh() {
    let text = gmsh::read(&shipped("bar.msh"), Some("bar")).unwrap();
    let binary = gmsh::read(&shipped("bar-binary.msh"), Some("bar")).unwrap();
    assert_eq!((&text.lines, &text.sets, &text.tags), (&binary.lines, &binary.sets, &binary.tags));
    for (a, b) in text.nodes.iter().zip(&binary.nodes) {
        // Gmsh writes 16 digits in text: an error of at most 1e-15 of numbers below 15.
        assert!((a[0] - b[0]).abs() <= 15e-15 && a[1] == b[1], "{a:?} {b:?}");
    }
}

#[test]
fn the_bar_is_numbered_along_x_though_gmsh_puts_the_ends_first() {
    let mesh = gmsh::read(&shipped("bar-binary.msh"), None).unwrap();
    assert!(mesh.nodes.windows(2).all(|pair| pair[0][0] < pair[1][0]));
    assert_eq!((mesh.tags[0], mesh.tags[1], mesh.tags[200]), (1, 3, 2));

    let generated = generate::line([5.0, 0.0], [15.0, 0.0], 200, 1.0);
    assert_eq!(mesh.lines, generated.lines);
    for (a, b) in mesh.nodes.iter().zip(&generated.nodes) {
        assert!((a[0] - b[0]).abs() <= 15e-15 && a[1] == b[1], "{a:?} {b:?}");
    }
    for (name, nodes) in [("start", [0]), ("foot", [0]), ("end", [200]), ("head", [200])] {
        assert_eq!(mesh.sets[name], nodes, "{name}");
    }
    assert_eq!(mesh.sets["bar"], (0..=200).collect::<Vec<_>>());
    assert_eq!(mesh.sets.len(), 5);
}

#[test]
fn the_portal_is_a_chain_as_a_whole_and_in_its_girder_but_not_in_its_columns() {
    let whole = gmsh::read(&shipped("portal.msh"), None).unwrap();
    assert_eq!(whole.nodes.len(), 25);
    assert_eq!((whole.nodes[0], whole.nodes[24]), ([0.0, 0.0], [4.0, 0.0]));
    assert_eq!(whole.sets["feet"], [0, 24]);
    assert_eq!((&whole.sets["left-knee"], &whole.sets["right-knee"]), (&vec![8], &vec![16]));
    assert_eq!(whole.sets["girder"], (8..=16).collect::<Vec<_>>());

    let girder = gmsh::read(&shipped("portal.msh"), Some("girder")).unwrap();
    assert_eq!((girder.nodes[0], girder.nodes[8]), ([0.0, 3.0], [4.0, 3.0]));
    // The girder shares its end nodes with the columns, which are a set of it too; the feet are not.
    assert_eq!(girder.sets["columns"], [0, 8]);
    assert_eq!(girder.sets.get("feet"), None);

    let columns = gmsh::read(&shipped("portal.msh"), Some("columns")).unwrap();
    assert_eq!((columns.nodes.len(), columns.lines.len()), (18, 16));
    assert_eq!((columns.sets.get("start"), columns.sets.get("end")), (None, None));
    assert_eq!(columns.sets["feet"], [0, 17]);
    // Nodes are shared by tag.
    assert_eq!(columns.tags.iter().filter(|tag| girder.tags.contains(tag)).count(), 2);
}

#[test]
fn the_truss_is_a_tilted_rectangle_above_the_floor() {
    let mesh = gmsh::read(&shipped("truss.msh"), Some("truss")).unwrap();
    assert_eq!(mesh, gmsh::read(&shipped("truss.msh"), None).unwrap());
    assert_eq!((mesh.nodes.len(), mesh.lines.len()), (6, 11));
    assert_eq!(mesh.nodes[mesh.sets["corner"][0]], [0.0, 1.0]);
    let lowest = mesh.nodes.iter().map(|node| node[1]).fold(f64::INFINITY, f64::min);
    assert_eq!(lowest, 1.0);
    for (group, lines) in [("chords", 4), ("webs", 7)] {
        assert_eq!(gmsh::read(&shipped("truss.msh"), Some(group)).unwrap().lines.len(), lines, "{group}");
    }
    let lengths = mesh.lines.iter().map(|line| line.map(|i| mesh.nodes[i]));
    let mut lengths: Vec<f64> = lengths.map(|[a, b]| (b[0] - a[0]).hypot(b[1] - a[1])).collect();
    lengths.sort_by(f64::total_cmp);
    for (i, length) in lengths.iter().enumerate() {
        let expected = if i < 7 { 2.0 } else { 8.0_f64.sqrt() };
        assert!((length - expected).abs() < 1e-14, "{lengths:?}");
    }
}
