//! `[[load]]`, and functions of time.

use crate::keys::*;

table! {
    /// A load: `nodes` with `force` and/or `moment`, or `body` with `per_length`
    Load("[[load]]") {
        /// Unique among loads
        name: String as Name;
        /// Nodes that carry the force, each of them
        nodes: Option<String> as Ref(Reference::Nodes);
        /// Body that carries `per_length`
        body: Option<String> as Ref(Reference::Body);
        /// Force per node
        force: Option<Vec<Amount>>;
        /// Moment per node
        moment: Option<Amount>;
        /// Force per length of the body
        per_length: Option<Vec<Amount>>;
        /// Factor over time; not beside a force or moment that is an expression of `t` itself
        time: Function as Function(Function::TABLE) = Function::Constant;
    }
}

variants! {
    /// A function of time
    Function("the time function", "kind": "Kind of function") {
        /// 1 at all times
        Constant = "constant"
        /// linear from one value to another, constant outside
        Ramp = "ramp" {
            /// Value up to `start`
            from: f64 = 0.0;
            /// Value from `end` on
            to: f64 = 1.0;
            /// Start of the ramp
            start: f64 = 0.0;
            /// End of the ramp
            end: f64;
        }
        /// amplitude·sin(2π frequency t + phase)
        Harmonic = "harmonic" {
            /// Peak value
            amplitude: f64 = 1.0;
            /// Cycles per unit of time
            frequency: f64 as Number(NON_NEGATIVE);
            /// Phase in radians
            phase: f64 = 0.0;
        }
        /// columns `time, value`, linear between rows, constant outside
        Table = "table" {
            /// CSV file
            file: String as Path;
        }
        /// an expression of `t` with its first two derivatives; a text in place of the table is short for it
        Expression = "expression" {
            /// The expression
            value: Amount;
        }
    }
}
