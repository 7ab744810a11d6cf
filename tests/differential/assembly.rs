//! Mass, damping and elements of the bodies of a case, as dense matrices.

use super::elements::{Element, Strain, timoshenko_mass};
use super::problem::Problem;
use super::values::{number, section, tables, text};
use nalgebra::DMatrix;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// A line of an element.
struct Line {
    nodes: [usize; 2],
    length: f64,
    direction: [f64; 2],
    /// EA, GA_s, EI.
    rigidity: [f64; 3],
}

impl Problem {
    pub fn assemble(&mut self, case: &Table, sets: &BTreeMap<String, Vec<usize>>) {
        let mut next = 0;
        for body in tables(case, "body") {
            let kind = text(body, "element").unwrap();
            if kind == "spring" {
                self.spring(body, sets);
                continue;
            }
            let nodes = self.bodies[next].nodes.clone();
            next += 1;
            if kind == "mass" {
                for dof in self.translations(nodes[0]).into_iter().flatten() {
                    self.mass[(dof, dof)] += number(body, "mass").unwrap();
                }
                continue;
            }
            let material = body["material"].as_table().unwrap();
            let (young, density) = (number(material, "young").unwrap(), number(material, "density").unwrap());
            let shear = number(material, "shear");
            let poisson = number(material, "poisson").or(shear.map(|g| young / (2.0 * g) - 1.0)).unwrap_or(0.0);
            let shear = shear.unwrap_or(young / (2.0 * (1.0 + poisson)));
            let [area, inertia, shear_area] = section(body["section"].as_table().unwrap(), poisson);
            let lumped = text(body, "mass_matrix") == Some("lumped");
            let rayleigh = body.get("damping").and_then(Value::as_table);
            let rayleigh = ["mass", "stiffness"].map(|key| rayleigh.and_then(|r| number(r, key)).unwrap_or(0.0));
            self.damped |= rayleigh.iter().any(|part| *part > 0.0);
            for pair in nodes.windows(2) {
                let (a, b) = (self.places[pair[0]], self.places[pair[1]]);
                let length = (b[0] - a[0]).hypot(b[1] - a[1]);
                let [c, s] = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
                let rigidity = [young * area, shear * shear_area, young * inertia];
                let line = Line { nodes: [pair[0], pair[1]], length, direction: [c, s], rigidity };
                let (mass, linear) = match kind {
                    "bar" => (self.bar_mass(&line, density * area, None, lumped), self.bar(&line)),
                    "linear-beam" => (
                        self.linear_beam_mass(&line, density * area, density * inertia, lumped),
                        self.linear_beam(&line),
                    ),
                    _ => {
                        let bent = body.get("shear_correction").and_then(Value::as_bool) == Some(true);
                        let mut rigidity = rigidity;
                        if bent {
                            rigidity[1] = 1.0 / (1.0 / rigidity[1] + length * length / (12.0 * rigidity[2]));
                        }
                        let dofs = self.beam_dofs(line.nodes);
                        self.linear = false;
                        let beam = Element::Beam { dofs, length, angle: s.atan2(c), rigidity, damping: rayleigh[1] };
                        (self.bar_mass(&line, density * area, Some(density * inertia), lumped), beam)
                    }
                };
                self.mass += &mass;
                self.damping += mass * rayleigh[0];
                if linear.is_linear() {
                    let mut stiffness = DMatrix::zeros(self.count, self.count);
                    linear.stiffness(&self.q0, &mut stiffness);
                    self.damping += stiffness * rayleigh[1];
                }
                self.elements.push(linear);
            }
        }
    }

    fn beam_dofs(&self, [a, b]: [usize; 2]) -> [usize; 6] {
        [0, 1, 2, 3, 4, 5].map(|i| self.dofs[if i < 3 { a } else { b }][i % 3].unwrap())
    }

    /// (T31) for the translations and, if there is a rotary inertia, for the rotation.
    fn bar_mass(&self, line: &Line, per_length: f64, rotary: Option<f64>, lumped: bool) -> DMatrix<f64> {
        let mut mass = DMatrix::zeros(self.count, self.count);
        for c in 0..3 {
            let value = if c < 2 { Some(per_length) } else { rotary };
            let (Some(value), [Some(a), Some(b)]) = (value, line.nodes.map(|node| self.dofs[node][c])) else {
                continue;
            };
            let whole = value * line.length;
            let (own, other) = if lumped { (whole / 2.0, 0.0) } else { (whole / 3.0, whole / 6.0) };
            mass[(a, a)] += own;
            mass[(b, b)] += own;
            mass[(a, b)] += other;
            mass[(b, a)] += other;
        }
        mass
    }

    fn bar(&self, line: &Line) -> Element {
        let [c, s] = line.direction;
        let (mut dofs, mut row) = (vec![], vec![]);
        for (node, sign) in line.nodes.into_iter().zip([-1.0, 1.0]) {
            for (dof, part) in self.translations(node).into_iter().zip([c, s]) {
                dofs.extend(dof);
                row.extend(dof.map(|_| sign * part));
            }
        }
        let strain = Strain { stiffness: line.rigidity[0] / line.length, offset: 0.0, row };
        Element::Linear { dofs, strains: vec![strain] }
    }

    /// (T33).
    fn linear_beam(&self, line: &Line) -> Element {
        let (l, [c, s], [axial, shear, bending]) = (line.length, line.direction, line.rigidity);
        let phi = 12.0 * bending / (shear * l * l);
        let strain = |stiffness: f64, row: [f64; 6]| Strain { stiffness, offset: 0.0, row: row.to_vec() };
        Element::Linear {
            dofs: self.beam_dofs(line.nodes).to_vec(),
            strains: vec![
                strain(axial / l, [-c, -s, 0.0, c, s, 0.0]),
                strain(bending / l, [0.0, 0.0, -1.0, 0.0, 0.0, 1.0]),
                strain(12.0 * bending / ((1.0 + phi) * l), [-s / l, c / l, 0.5, s / l, -c / l, 0.5]),
            ],
        }
    }

    fn linear_beam_mass(&self, line: &Line, per_length: f64, rotary: f64, lumped: bool) -> DMatrix<f64> {
        if lumped {
            return self.bar_mass(line, per_length, Some(rotary), true);
        }
        let (l, [c, s], [_, shear, bending]) = (line.length, line.direction, line.rigidity);
        let across = timoshenko_mass(per_length, rotary, l, 12.0 * bending / (shear * l * l));
        let mut own = DMatrix::zeros(6, 6);
        for (i, &a) in [1, 2, 4, 5].iter().enumerate() {
            for (j, &b) in [1, 2, 4, 5].iter().enumerate() {
                own[(a, b)] = across[(i, j)];
            }
        }
        for (a, b) in [(0, 0), (3, 3), (0, 3), (3, 0)] {
            own[(a, b)] = per_length * l / if a == b { 3.0 } else { 6.0 };
        }
        let mut turn = DMatrix::zeros(6, 6);
        for k in [0, 3] {
            (turn[(k, k)], turn[(k, k + 1)], turn[(k + 1, k)], turn[(k + 1, k + 1)]) = (c, s, -s, c);
            turn[(k + 2, k + 2)] = 1.0;
        }
        let turned = turn.transpose() * own * turn;
        let dofs = self.beam_dofs(line.nodes);
        let mut mass = DMatrix::zeros(self.count, self.count);
        for i in 0..6 {
            for j in 0..6 {
                mass[(dofs[i], dofs[j])] += turned[(i, j)];
            }
        }
        mass
    }

    fn spring(&mut self, body: &Table, sets: &BTreeMap<String, Vec<usize>>) {
        let names = body["between"].as_array().unwrap();
        let [a, b] = [0, 1].map(|i| sets[names[i].as_str().unwrap()][0]);
        let reach = [0, 1].map(|k| self.places[b][k] - self.places[a][k]);
        let stiffness = number(body, "stiffness").unwrap();
        let dashpot = number(body, "damping").unwrap_or(0.0);
        self.damped |= dashpot > 0.0;
        let rest = number(body, "rest_length");
        if self.dimension == 1 {
            let dofs = [a, b].map(|node| self.dofs[node][0].unwrap());
            let strain = Strain { stiffness, offset: reach[0] - rest.unwrap_or(reach[0]), row: vec![-1.0, 1.0] };
            for (i, &row) in dofs.iter().enumerate() {
                for (j, &column) in dofs.iter().enumerate() {
                    self.damping[(row, column)] += if i == j { dashpot } else { -dashpot };
                }
            }
            self.elements.push(Element::Linear { dofs: dofs.to_vec(), strains: vec![strain] });
        } else {
            let dofs = [0, 1, 2, 3].map(|i| self.dofs[if i < 2 { a } else { b }][i % 2].unwrap());
            let rest = rest.unwrap_or(reach[0].hypot(reach[1]));
            self.linear = false;
            self.elements.push(Element::Spring { dofs, reach, stiffness, dashpot, rest });
        }
    }
}
