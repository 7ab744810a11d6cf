//! What is said about a bad file, to the letter.

use carom::mesh::gmsh;

use super::{BAR, binary_bar, special};

fn refusal(bytes: &[u8], group: Option<&str>) -> String {
    let error = gmsh::parse(bytes, "bar.msh", group).unwrap_err();
    assert_eq!(error.exit_code(), 3);
    error.to_string()
}

#[test]
fn an_unreadable_file_is_an_io_error() {
    let error = gmsh::read(&special("absent.msh"), None).unwrap_err();
    assert_eq!(error.exit_code(), 6);
    assert!(error.to_string().starts_with("cannot read tests/data/absent.msh: "), "{error}");
}

#[test]
fn special_files_are_refused_with_reasons() {
    for (name, group, message) in [
        (
            "plate-quadratic.msh",
            Some("edge"),
            "line 113: element 2 is a 3-node line (type 8); only 2-node lines (type 1) can be read, \
             so mesh with element order 1",
        ),
        (
            "plate-version-2.msh",
            None,
            "line 2: MSH version `2.2` cannot be read; save the mesh as version 4.1 (gmsh -format msh41)",
        ),
        (
            "plate-partitioned.msh",
            Some("edge"),
            "line 87: element 1 lies on point 7, which is not in $Entities; \
             if the mesh is partitioned, save it without partitions",
        ),
    ] {
        let path = special(name);
        let error = gmsh::read(&path, group).unwrap_err().to_string();
        assert_eq!(error, format!("{}, {message}", path.display()));
    }
}

#[test]
fn every_fault_in_a_text_file_has_its_message() {
    let huge = u64::MAX.to_string();
    let huge_nodes = format!("3 {huge} 1 4\n");
    let many_groups = format!("2 3 0 0 65{}\n", " 1".repeat(65));
    // What is replaced, by what, the chosen group, the message.
    let table: &[(&str, &str, Option<&str>, &str)] = &[
        (
            "$MeshFormat\n",
            "solid bar\n",
            None,
            "bar.msh, line 1: not a Gmsh MSH file: it begins with `solid`, expected $MeshFormat",
        ),
        (
            "4.1 0 8",
            "4 0 8",
            None,
            "bar.msh, line 2: MSH version `4` cannot be read; save the mesh as version 4.1 (gmsh -format msh41)",
        ),
        ("4.1 0 8", "4.1 2 8", None, "bar.msh, line 2: the file type is `2`, expected 0 (text) or 1 (binary)"),
        (
            "4.1 0 8",
            "4.1 1 4",
            None,
            "bar.msh, line 2: the data size of a binary file is `4`, expected 8; save the mesh as text",
        ),
        (
            "4.1 0 8",
            "4.1 1 8",
            None,
            "bar.msh, line 3: the bytes [36, 69, 110, 100] are not the number one in either byte order; is this file binary?",
        ),
        (
            "$EndMeshFormat\n",
            "",
            None,
            "bar.msh, line 3: expected $EndMeshFormat, found `$PhysicalNames`: $MeshFormat does not hold what it declares",
        ),
        ("$PhysicalNames\n", "", None, "bar.msh, line 4: expected a section such as $Nodes, found `3`"),
        ("0 1 \"foot\"", "0 1 foot", None, "bar.msh, line 6: expected the name of a physical group in double quotes"),
        ("0 1 \"foot\"", "4 1 \"foot\"", None, "bar.msh, line 6: group `foot` has dimension 4, expected 0 to 3"),
        (
            "0 1 \"foot\"",
            "1 2 \"foot\"",
            None,
            "bar.msh, line 7: tag 2 of group `bar` is taken by group `foot` of the same dimension",
        ),
        ("2 3 0 0 0\n", "1 3 0 0 0\n", None, "bar.msh, line 13: point 1 stands in $Entities twice"),
        ("2 3 0 0 0\n", &many_groups, None, "bar.msh, line 13: point 2 is in 65 physical groups, at most 64 are read"),
        (
            "2 1 0 0\n",
            "2 1000 0 0\n",
            None,
            "bar.msh, line 11: the number of curves is 1000, more than the remaining 216 bytes can hold",
        ),
        (
            "3 4 1 4\n",
            &huge_nodes,
            None,
            "bar.msh, line 17: the number of nodes is 18446744073709551615, more than the remaining 141 bytes can hold",
        ),
        ("3 4 1 4\n", "3 5 1 4\n", None, "bar.msh, line 17: $Nodes declares 5 nodes, its blocks hold 4"),
        (
            "3 4 1 4\n",
            "2 2 1 4\n",
            None,
            "bar.msh, line 24: expected $EndNodes, found `1`: $Nodes does not hold what it declares",
        ),
        ("1 1 0 2\n", "4 1 0 2\n", None, "bar.msh, line 24: the dimension of a block is 4, expected 0 to 3"),
        ("1 1 0 2\n", "1 1 2 2\n", None, "bar.msh, line 24: the parametric flag is 2, expected 0 or 1"),
        ("3\n4\n1 0 0\n", "3\n1\n1 0 0\n", None, "bar.msh, line 26: node tag 1 stands in $Nodes twice"),
        (
            "3\n4\n1 0 0\n",
            "3\n-4\n1 0 0\n",
            None,
            "bar.msh, line 26: a node tag is `-4`, expected an integer, zero or more",
        ),
        ("3\n4\n1 0 0\n", "3\n4\n1,5 0 0\n", None, "bar.msh, line 27: x of a node is `1,5`, expected a finite number"),
        ("3\n4\n1 0 0\n", "3\n4\n1 nan 0\n", None, "bar.msh, line 27: y of a node is NaN, expected a finite number"),
        (
            "3\n4\n1 0 0\n",
            "3\n4\n1 -1e999 0\n",
            None,
            "bar.msh, line 27: y of a node is -inf, expected a finite number",
        ),
        (
            "3\n4\n1 0 0\n",
            "3\n4\n1 0 0.5\n",
            None,
            "bar.msh, line 27: node 3 lies at z = 0.5; meshes are plane, z must be 0",
        ),
        (
            "3\n4\n1 0 0\n",
            "3\n4\n2 0 0\n",
            None,
            "bar.msh, line 36: element 3 has no length: its nodes 3 and 4 lie in one place",
        ),
        (
            "3 3 4\n",
            "3 3 3\n",
            Some("bar"),
            "bar.msh, line 36: element 3 has no length: its nodes 3 and 3 lie in one place",
        ),
        ("3 3 4\n4 4 2\n", "3 3 2\n4 3 2\n", None, "bar.msh, line 28: node 4 is an orphan: no element uses it"),
        ("3 3 4\n", "3 3 9\n", None, "bar.msh, line 36: element 3 refers to node 9, which is not in $Nodes"),
        ("3 3 4\n", "2 3 4\n", None, "bar.msh, line 36: element tag 2 stands in $Elements twice"),
        ("2 4 1 4\n", "2 5 1 4\n", None, "bar.msh, line 31: $Elements declares 5 elements, its blocks hold 4"),
        (
            "1 1 1 3\n",
            "1 1 1 30\n",
            None,
            "bar.msh, line 34: the number of elements in a block is 30, more than the remaining 32 bytes can hold",
        ),
        ("1 1 1 3\n", "1 1 99 3\n", None, "bar.msh, line 34: element type 99 is not one that Gmsh documents"),
        ("1 1 1 3\n", "2 1 1 3\n", None, "bar.msh, line 34: elements of type 1 (2-node line) cannot lie on a surface"),
        (
            "1 1 1 3\n",
            "1 5 1 3\n",
            None,
            "bar.msh, line 35: element 2 lies on curve 5, which is not in $Entities; if the mesh is partitioned, save it without partitions",
        ),
        (
            "$EndElements\n",
            "",
            None,
            "bar.msh, line 38: the file ends where $EndElements should stand; is it truncated?",
        ),
        (
            "$EndElements\n",
            "$EndElements\n$Periodic\n",
            None,
            "bar.msh, line 39: section $Periodic has no end; is the file truncated?",
        ),
        ("$EndElements\n", "$EndElements\n$Nodes\n", None, "bar.msh, line 39: section $Nodes stands in the file twice"),
        ("", "", Some("bra"), "bar.msh: there is no group `bra` (did you mean `bar`?); the groups of lines are `bar`"),
        ("", "", Some("girder"), "bar.msh: there is no group `girder`; the groups of lines are `bar`"),
        ("", "", Some("foot"), "bar.msh: group `foot` is one of points, not of lines; the groups of lines are `bar`"),
        (
            "",
            "",
            Some("plate"),
            "bar.msh: group `plate` is one of surfaces, not of lines; the groups of lines are `bar`",
        ),
        ("1 2 \"bar\"", "1 3 \"bar\"", Some("bar"), "bar.msh: group `bar` holds no lines"),
        (
            "1 2 \"bar\"",
            "2 2 \"bar\"",
            Some("bars"),
            "bar.msh: there is no group `bars`; the file names no groups of lines",
        ),
    ];
    for &(from, to, group, message) in table {
        assert!(BAR.contains(from), "{from:?} is not in the file");
        assert_eq!(refusal(BAR.replacen(from, to, 1).as_bytes(), group), message);
    }
}

#[test]
fn missing_sections_are_named() {
    let (head, rest) = BAR.split_once("$Nodes").unwrap();
    let (nodes, elements) = rest.split_once("$Elements").unwrap();
    for (text, message) in [
        (String::new(), "bar.msh: the file is empty, expected a Gmsh MSH 4.1 file"),
        (head.to_owned(), "bar.msh: section $Nodes is missing; is the file truncated?"),
        (format!("{head}$Nodes{nodes}"), "bar.msh: section $Elements is missing; is the file truncated?"),
        (format!("{head}$Elements{elements}"), "bar.msh, line 16: section $Nodes must stand before $Elements"),
        (format!("{head}$Nodes{nodes}$Elements\n0 0 0 0\n$EndElements"), "bar.msh: the file holds no lines"),
    ] {
        assert_eq!(refusal(text.as_bytes(), None), message);
    }
}

#[test]
fn faults_in_a_binary_file_have_byte_offsets() {
    let bytes = binary_bar(false);
    let nodes = find(&bytes, b"$Nodes\n") + 7;

    let mut huge = bytes.clone();
    huge[nodes + 8..nodes + 16].copy_from_slice(&u64::MAX.to_le_bytes());
    let left = bytes.len() - nodes - 16;
    assert_eq!(
        refusal(&huge, None),
        format!(
            "bar.msh, byte {}: the number of nodes is {}, more than the remaining {left} bytes can hold",
            nodes + 8,
            u64::MAX
        )
    );

    // Four sizes of the section, then three integers, a size and a tag before the first coordinate.
    let x = nodes + 32 + 20 + 8;
    let mut nan = bytes.clone();
    nan[x..x + 8].copy_from_slice(&f64::NAN.to_le_bytes());
    assert_eq!(refusal(&nan, None), format!("bar.msh, byte {x}: x of a node is NaN, expected a finite number"));

    let end = find(&bytes, b"\n$EndElements");
    let cut = end - 3;
    assert_eq!(
        refusal(&bytes[..cut], None),
        format!(
            "bar.msh, byte {}: the number of elements in a block is 3, more than the remaining 69 bytes can hold",
            end - 80
        )
    );
    assert_eq!(
        refusal(&bytes[..end], None),
        format!("bar.msh, byte {end}: the file ends where $EndElements should stand; is it truncated?")
    );
}

fn find(bytes: &[u8], mark: &[u8]) -> usize {
    bytes.windows(mark.len()).position(|window| window == mark).unwrap()
}
