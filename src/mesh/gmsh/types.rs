//! The element types that Gmsh documents: what a reader must know to pass over them.

/// One element type.
pub(super) struct ElementType {
    /// Gmsh's number for it.
    pub(super) number: i32,
    /// Dimension of the entities it lies on.
    pub(super) dimension: i32,
    /// Nodes per element.
    pub(super) nodes: usize,
    /// What Gmsh's manual calls it.
    pub(super) name: &'static str,
}

/// Number of the point type, which makes node sets.
pub(super) const POINT: i32 = 15;

/// Number of the two-node line, which makes meshes.
pub(super) const LINE: i32 = 1;

/// The type with this number, if it is known.
pub(super) fn find(number: i32) -> Option<&'static ElementType> {
    TYPES.iter().find(|entry| entry.number == number)
}

const fn entry(number: i32, dimension: i32, nodes: usize, name: &'static str) -> ElementType {
    ElementType { number, dimension, nodes, name }
}

/// Section "MSH file format" of the Gmsh reference manual.
const TYPES: &[ElementType] = &[
    entry(LINE, 1, 2, "2-node line"),
    entry(2, 2, 3, "3-node triangle"),
    entry(3, 2, 4, "4-node quadrangle"),
    entry(4, 3, 4, "4-node tetrahedron"),
    entry(5, 3, 8, "8-node hexahedron"),
    entry(6, 3, 6, "6-node prism"),
    entry(7, 3, 5, "5-node pyramid"),
    entry(8, 1, 3, "3-node line"),
    entry(9, 2, 6, "6-node triangle"),
    entry(10, 2, 9, "9-node quadrangle"),
    entry(11, 3, 10, "10-node tetrahedron"),
    entry(12, 3, 27, "27-node hexahedron"),
    entry(13, 3, 18, "18-node prism"),
    entry(14, 3, 14, "14-node pyramid"),
    entry(POINT, 0, 1, "1-node point"),
    entry(16, 2, 8, "8-node quadrangle"),
    entry(17, 3, 20, "20-node hexahedron"),
    entry(18, 3, 15, "15-node prism"),
    entry(19, 3, 13, "13-node pyramid"),
    entry(20, 2, 9, "9-node triangle"),
    entry(21, 2, 10, "10-node triangle"),
    entry(22, 2, 12, "12-node triangle"),
    entry(23, 2, 15, "15-node triangle"),
    entry(24, 2, 15, "15-node triangle"),
    entry(25, 2, 21, "21-node triangle"),
    entry(26, 1, 4, "4-node line"),
    entry(27, 1, 5, "5-node line"),
    entry(28, 1, 6, "6-node line"),
    entry(29, 3, 20, "20-node tetrahedron"),
    entry(30, 3, 35, "35-node tetrahedron"),
    entry(31, 3, 56, "56-node tetrahedron"),
    entry(92, 3, 64, "64-node hexahedron"),
    entry(93, 3, 125, "125-node hexahedron"),
];
