//! Cases that many tests begin with, and how they are altered.

/// A bar of ten elements that touches the wall when the run begins: small, and every column is in use.
pub const BAR: &str = r#"format = 1
title = "short bar"

[time]
end = 0.5
step = 1e-2

[scheme]
name = "generalized-alpha"
rho_inf = 0.6

[[body]]
name = "bar"
element = "bar"
line = { from = [0.0], to = [10.0], elements = 10 }
material = { young = 900.0, density = 1.0 }
section = { area = 1.0 }
velocity = [-10.0]

[[contact]]
name = "wall"
nodes = "bar.start"
plane = { point = [0.0], normal = [1.0] }

[[probe]]
name = "foot"
node = "bar.start"

[output]
vtk = { every = 20 }
"#;

/// Texts of cases with something changed.
pub trait Altered {
    /// The text with every `from` replaced. A `from` that is not there is a slip of the test: it would test something else
    /// than it says.
    fn altered(&self, from: &str, to: &str) -> String;
}

impl Altered for str {
    fn altered(&self, from: &str, to: &str) -> String {
        assert!(self.contains(from), "there is no `{from}` in\n{self}");
        self.replace(from, to)
    }
}
