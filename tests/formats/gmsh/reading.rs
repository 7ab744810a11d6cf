//! What comes out of a good file: numbering, node sets, encodings.

use crate::common::cases::Altered;
use carom::mesh::{Mesh, gmsh};

use super::{BAR, binary_bar, special};

fn parse(text: &str, group: Option<&str>) -> Mesh {
    gmsh::parse(text.as_bytes(), "bar.msh", group).unwrap()
}

#[test]
fn big_endian_files_are_read() {
    assert_eq!(gmsh::parse(&binary_bar(false), "bar.msh", Some("bar")).unwrap(), parse(BAR, Some("bar")));
    assert_eq!(gmsh::parse(&binary_bar(true), "bar.msh", Some("bar")).unwrap(), parse(BAR, Some("bar")));
}

#[test]
fn a_chain_runs_from_its_end_with_the_smaller_tag_whatever_the_order_of_its_lines() {
    let straight = parse(BAR, None);
    assert_eq!(straight.tags, [1, 3, 4, 2]);
    assert_eq!(straight.sets["foot"], [0]);

    let shuffled = BAR.altered("2 1 3\n3 3 4\n4 4 2\n", "2 4 3\n3 2 4\n4 1 3\n");
    assert_eq!(parse(&shuffled, None), straight);
}

#[test]
fn loops_branches_and_gaps_keep_the_order_of_the_file() {
    let lines = "2 1 3\n3 3 4\n4 4 2\n";
    let looped = BAR.altered("1 1 1 3\n", "1 1 1 4\n").altered("2 4 1 4\n", "2 5 1 5\n");
    let looped = parse(&looped.altered(lines, &format!("{lines}5 2 1\n")), None);
    assert_eq!(looped.tags, [1, 3, 4, 2]);
    assert_eq!(looped.lines, [[0, 1], [1, 2], [2, 3], [3, 0]]);

    let branched = parse(&BAR.altered(lines, "2 4 3\n3 3 1\n4 2 3\n"), None);
    assert_eq!(branched.tags, [4, 3, 1, 2]);
    assert_eq!(branched.lines, [[0, 1], [1, 2], [3, 1]]);

    let two = BAR.altered("1 1 1 3\n", "1 1 1 2\n").altered("2 4 1 4\n", "2 3 1 3\n");
    let two = parse(&two.altered(lines, "2 4 3\n3 2 1\n"), None);
    assert_eq!(two.tags, [4, 3, 2, 1]);
    assert_eq!(two.lines, [[0, 1], [2, 3]]);

    for mesh in [looped, branched, two] {
        assert_eq!((mesh.sets.get("start"), mesh.sets.get("end")), (None, None));
    }
}

#[test]
fn unnamed_groups_make_no_set_and_equal_names_are_joined() {
    let unnamed = BAR.altered("3\n0 1 \"foot\"\n", "2\n");
    assert_eq!(parse(&unnamed, None).sets.keys().collect::<Vec<_>>(), ["bar", "end", "start"]);

    // Points and lines may share a name; a group called `start` wins over the end of the chain.
    let joined = BAR.altered("foot", "bar");
    assert_eq!(parse(&joined, Some("bar")).sets["bar"], [0, 1, 2, 3]);
    let own = BAR.altered("foot", "start").altered("1 0 0 0 1 1\n", "1 0 0 0 0\n").altered("2 3 0 0 0", "2 3 0 0 1 1");
    assert_eq!(parse(&own.altered("0 1 15 1\n1 1\n", "0 2 15 1\n1 2\n"), None).sets["start"], [3]);
}

#[test]
fn line_ends_marks_and_other_sections_do_not_matter() {
    let plain = parse(BAR, Some("bar"));
    let comment = "$Comments\n$Nodes are not here\n$EndComments\n$Entities\n";
    for (label, text) in [
        ("CRLF", BAR.replace('\n', "\r\n")),
        ("CR", BAR.replace('\n', "\r")),
        ("byte order mark", format!("\u{feff}{BAR}")),
        ("no final newline", BAR.trim_end().to_owned()),
        ("comment", BAR.altered("$Entities\n", comment)),
        ("box without bounds", BAR.altered("1 0 0 0 3 0 0", "1 1e22 inf 1.797693134862316e+308 -1 -1 -1")),
        ("parametric", BAR.altered("1 1 0 2\n", "1 1 1 2\n").altered("1 0 0\n2 0 0\n", "1 0 0 0.1\n2 0 0 0.2\n")),
    ] {
        assert_eq!(parse(&text, Some("bar")), plain, "{label}");
    }
}

#[test]
fn surfaces_around_the_group_are_ignored() {
    let mesh = gmsh::read(&special("plate.msh"), Some("edge")).unwrap();
    assert_eq!(mesh.tags, [1, 5, 2]);
    // The point `far` is on no line, the surface `plate` no set.
    assert_eq!(mesh.sets.keys().collect::<Vec<_>>(), ["edge", "end", "start"]);
}
