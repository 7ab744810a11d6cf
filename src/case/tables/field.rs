//! `[[initial]]`.

use crate::keys::*;

table! {
    /// An initial field on a body or a set
    Initial("[[initial]]") {
        /// Where
        nodes: String as Ref(Reference::Region);
        /// Displacement field
        displacement: Option<Field>;
        /// Velocity field
        velocity: Option<Field>;
    }
}

variants! {
    /// A field along a body
    Field("the field", "kind": "Kind of field") {
        /// raised cosine, amplitude·½(1 + cos(π s/width)) for |s| < width, s measured from the centre
        Pulse = "pulse" {
            /// Direction of the field
            direction: Vec<f64>;
            /// Peak value
            amplitude: f64;
            /// Place of the peak: distance along the body from its first node
            centre: f64;
            /// Half width
            width: f64 as Number(POSITIVE);
        }
        /// columns `distance, x[, y]`, linear between rows
        Table = "table" {
            /// CSV file
            file: String as Path;
        }
        /// expressions of the place `x`, `y` of a node, undeformed, and its distance `s` from the first node
        Expression = "expression" {
            /// First component
            x: Amount as NumberOfPlace = Amount::Number(0.0);
            /// Second component; in the plane only
            y: Amount as NumberOfPlace = Amount::Number(0.0);
        }
    }
}
