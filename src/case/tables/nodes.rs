//! What names nodes: `[[set]]`, `[[support]]`, `[[joint]]`, `[[probe]]`.

use super::{Function, MOST_ELEMENTS};
use crate::keys::*;
use std::collections::BTreeMap;

table! {
    /// A named node set
    Set("[[set]]", one_of: &[&["nearest", "nodes", "box"]]) {
        /// Unique among bodies and sets
        name: String as Name;
        /// The node nearest to this point
        nearest: Option<Vec<f64>>;
        /// Union of bodies, earlier sets and parts
        nodes: Option<Vec<String>> as Refs(Reference::Nodes, 1, usize::MAX);
        /// All nodes inside a box given by two corners
        r#box: Option<Vec<Vec<f64>>> as Vectors(2, 2);
        /// Keeps one of every n of these nodes, the first included
        every: usize as Integer(1, MOST_ELEMENTS) = 1;
    }
}

table! {
    /// A support
    Support("[[support]]") {
        /// Unique among supports
        name: String as Name;
        /// Nodes that are held
        nodes: String as Ref(Reference::Nodes);
        /// Components held at their reference value
        fix: Vec<String> as Words(COMPONENTS) = none();
        /// Prescribed motion per component
        motion: BTreeMap<String, Function> as Motions(&["x", "y", "theta"], Function::TABLE) = none();
    }
}

const COMPONENTS: &[Choice] = &[word("x", "first place"), word("y", "second place"), word("theta", "rotation")];

table! {
    /// A joint of coinciding nodes
    Joint("[[joint]]") {
        /// Unique among joints
        name: String as Name;
        /// What is shared
        kind: JointKind;
        /// The two nodes
        between: Vec<String> as Refs(Reference::Node, 2, 2);
    }
}

words! {
    /// What a joint shares
    JointKind {
        /// place shared, rotations apart
        Hinge = "hinge",
        /// place and rotation shared
        Weld = "weld",
    }
}

table! {
    /// A node whose motion goes into the history
    Probe("[[probe]]") {
        /// Unique among probes
        name: String as Name;
        /// The node
        node: String as Ref(Reference::Node);
        /// Columns beside position and velocity
        columns: Option<Vec<String>> as Words(PROBE_COLUMNS);
    }
}

const PROBE_COLUMNS: &[Choice] = &[
    word("u", "displacements `ux`, `uy`"),
    word("a", "accelerations `ax`, `ay`: change of velocity over the step size"),
];
