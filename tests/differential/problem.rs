//! A case file as dense matrices and lists: read from its text without carom's reader, mesh or assembly.

use super::elements::Element;
use super::massless::{Massless, Rule};
use super::values::{
    Function, Row, component, instants, mesh, number, numbers, points, scheme, tables, text, unit, vector,
};
use nalgebra::{DMatrix, DVector};
use std::collections::BTreeMap;
use std::f64::consts::PI;
use toml::{Table, Value};

pub enum Obstacle {
    Plane {
        point: [f64; 2],
        normal: [f64; 2],
    },
    HalfPlane {
        point: [f64; 2],
        normal: [f64; 2],
        direction: [f64; 2],
    },
    Circle {
        centre: [f64; 2],
        radius: f64,
        inside: bool,
    },
    Arc {
        centre: [f64; 2],
        radius: f64,
        /// Angles at which it begins and ends.
        turn: [f64; 2],
        inside: bool,
    },
    Polyline {
        points: Vec<[f64; 2]>,
    },
    /// In one dimension: nodes and those that they stay above.
    Order {
        pairs: Vec<[usize; 2]>,
    },
    /// In the plane.
    Bodies {
        others: Vec<usize>,
    },
}

pub struct Contact {
    pub name: String,
    pub nodes: Vec<usize>,
    pub obstacle: Obstacle,
    pub radius: f64,
    pub restitution: f64,
    pub moreau: bool,
    pub friction: f64,
    pub motion: Vec<([f64; 2], Function)>,
}

pub struct Body {
    pub nodes: Vec<usize>,
    pub lines: Vec<[usize; 2]>,
}

pub struct Problem {
    pub dimension: usize,
    pub places: Vec<[f64; 2]>,
    /// Numbers of the degrees of freedom x, y, θ of each node.
    pub dofs: Vec<[Option<usize>; 3]>,
    pub count: usize,
    /// Rows that are solved for.
    pub free: Vec<usize>,
    pub drives: Vec<(usize, Function)>,
    pub bodies: Vec<Body>,
    pub elements: Vec<Element>,
    pub mass: DMatrix<f64>,
    /// Constant part of the damping.
    pub damping: DMatrix<f64>,
    pub weight: DVector<f64>,
    pub loads: Vec<(DVector<f64>, Function)>,
    pub q0: DVector<f64>,
    pub v0: DVector<f64>,
    pub contacts: Vec<Contact>,
    pub massless: Option<Massless>,
    pub probes: Vec<(String, usize)>,
    pub row: Row,
    pub ggl: bool,
    pub forecast: f64,
    pub instants: Vec<f64>,
    /// Diagonal of the box around nodes and obstacle points.
    pub length: f64,
    pub linear: bool,
    pub damped: bool,
}

/// Tables by file name, initial displacements and initial velocities.
type Fields<'a> = (&'a BTreeMap<String, String>, &'a [[f64; 3]], &'a [[f64; 3]]);

/// What is read step by step before degrees of freedom have numbers.
struct Reader<'a> {
    case: &'a Table,
    dimension: usize,
    places: Vec<[f64; 2]>,
    sets: BTreeMap<String, Vec<usize>>,
    bodies: Vec<Body>,
    exists: Vec<[bool; 3]>,
    displacement: Vec<[f64; 3]>,
    velocity: Vec<[f64; 3]>,
}

impl Reader<'_> {
    fn bodies(&mut self) {
        for body in tables(self.case, "body") {
            if body.contains_key("between") {
                continue;
            }
            let name = text(body, "name").unwrap();
            let own = mesh(body);
            let first = self.places.len();
            let nodes: Vec<usize> = (first..first + own.len()).collect();
            let turns = text(body, "element").unwrap().ends_with("beam");
            let v = vector(body, "velocity").unwrap_or_default();
            let u = vector(body, "displacement").unwrap_or_default();
            let centre = vector(body, "spin_centre").unwrap_or_default();
            let spin = number(body, "spin").unwrap_or(0.0);
            for place in &own {
                self.exists.push([true, self.dimension == 2, turns]);
                self.displacement.push([u[0], u[1], 0.0]);
                self.velocity.push([v[0] - spin * (place[1] - centre[1]), v[1] + spin * (place[0] - centre[0]), spin]);
            }
            self.places.extend(own);
            self.sets.insert(format!("{name}.start"), vec![nodes[0]]);
            self.sets.insert(format!("{name}.end"), vec![nodes[nodes.len() - 1]]);
            self.sets.insert(name.into(), nodes.clone());
            let lines = nodes.windows(2).map(|w| [w[0], w[1]]).collect();
            self.bodies.push(Body { nodes, lines });
        }
        for set in tables(self.case, "set") {
            let mut nodes: Vec<usize> = if let Some(near) = vector(set, "nearest") {
                let far = |i: &usize| (self.places[*i][0] - near[0]).hypot(self.places[*i][1] - near[1]);
                vec![(0..self.places.len()).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap()]
            } else if let Some(names) = set.get("nodes").and_then(Value::as_array) {
                names.iter().flat_map(|name| self.sets[name.as_str().unwrap()].clone()).collect()
            } else {
                let corners = points(set, "box");
                let inside = |i: &usize| {
                    (0..self.dimension).all(|k| {
                        let x = self.places[*i][k];
                        x >= corners[0][k].min(corners[1][k]) && x <= corners[0][k].max(corners[1][k])
                    })
                };
                (0..self.places.len()).filter(inside).collect()
            };
            nodes.sort_unstable();
            nodes.dedup();
            let every = number(set, "every").unwrap_or(1.0) as usize;
            self.sets.insert(text(set, "name").unwrap().into(), nodes.into_iter().step_by(every).collect());
        }
        for initial in tables(self.case, "initial") {
            let nodes = self.sets[text(initial, "nodes").unwrap()].clone();
            for (key, target) in [("displacement", &mut self.displacement), ("velocity", &mut self.velocity)] {
                let Some(field) = initial.get(key).and_then(Value::as_table) else { continue };
                let along = unit(vector(field, "direction").unwrap());
                let get = |key: &str| number(field, key).unwrap();
                let origin = self.places[nodes[0]];
                for &node in &nodes {
                    let place = self.places[node];
                    let s = (place[0] - origin[0]).hypot(place[1] - origin[1]) - get("centre");
                    if s.abs() < get("width") {
                        let height = 0.5 * get("amplitude") * (1.0 + (PI * s / get("width")).cos());
                        (0..2).for_each(|k| target[node][k] += height * along[k]);
                    }
                }
            }
        }
    }

    /// Degrees of freedom: those that joints share have one number.
    fn number(&self) -> (Vec<[Option<usize>; 3]>, usize) {
        let mut label: Vec<usize> = (0..3 * self.places.len()).collect();
        for joint in tables(self.case, "joint") {
            let names = joint["between"].as_array().unwrap();
            let [a, b] = [0, 1].map(|i| self.sets[names[i].as_str().unwrap()][0]);
            for c in 0..if text(joint, "kind") == Some("weld") { 3 } else { 2 } {
                if self.exists[a][c] && self.exists[b][c] {
                    let (from, to) = (label[3 * b + c], label[3 * a + c]);
                    label.iter_mut().filter(|l| **l == from).for_each(|l| *l = to);
                }
            }
        }
        let mut numbers = BTreeMap::new();
        let mut dofs = vec![[None; 3]; self.places.len()];
        for (node, own) in dofs.iter_mut().enumerate() {
            for c in (0..3).filter(|&c| self.exists[node][c]) {
                let next = numbers.len();
                own[c] = Some(*numbers.entry(label[3 * node + c]).or_insert(next));
            }
        }
        (dofs, numbers.len())
    }
}

impl Problem {
    /// Reads a case; `files` holds the tables that it names.
    pub fn read(case: &str, files: &BTreeMap<String, String>) -> Problem {
        let case: Table = case.parse().expect("the generator writes TOML");
        let dimension = tables(&case, "body").iter().find_map(|body| {
            let line = body.get("line").and_then(Value::as_table).map(|line| numbers(&line["from"]).len());
            let at = body.get("at").map(|at| numbers(at).len());
            line.or(at).or(body.contains_key("polyline").then_some(2))
        });
        let mut reader = Reader {
            case: &case,
            dimension: dimension.unwrap(),
            places: vec![],
            sets: BTreeMap::new(),
            bodies: vec![],
            exists: vec![],
            displacement: vec![],
            velocity: vec![],
        };
        reader.bodies();
        let (dofs, count) = reader.number();
        let Reader { places, sets, bodies, displacement, velocity, dimension, .. } = reader;
        let scheme_table = case["scheme"].as_table().unwrap();
        let mut problem = Problem {
            dimension,
            dofs,
            count,
            free: vec![],
            drives: vec![],
            bodies,
            elements: vec![],
            mass: DMatrix::zeros(count, count),
            damping: DMatrix::zeros(count, count),
            weight: DVector::zeros(count),
            loads: vec![],
            q0: DVector::zeros(count),
            v0: DVector::zeros(count),
            contacts: vec![],
            massless: None,
            probes: vec![],
            row: scheme(scheme_table),
            ggl: text(scheme_table, "position") == Some("ggl"),
            forecast: number(scheme_table, "forecast").unwrap_or(0.5),
            instants: instants(case["time"].as_table().unwrap()),
            length: 0.0,
            linear: true,
            damped: false,
            places,
        };
        problem.assemble(&case, &sets);
        problem.contacts(&case, &sets, (files, &displacement, &velocity));
        let ends = massless_ends(&case, &sets);
        if !ends.is_empty() {
            problem.take_mass(&ends);
        }
        problem.conditions(&case, &sets, files, &displacement, &velocity);
        problem.probes = tables(&case, "probe")
            .into_iter()
            .map(|probe| (text(probe, "name").unwrap().into(), sets[text(probe, "node").unwrap()][0]))
            .collect();
        problem
    }

    /// Whether forces or gaps are not affine.
    pub fn is_curved(&self) -> bool {
        let straight = |contact: &Contact| matches!(contact.obstacle, Obstacle::Plane { .. } | Obstacle::Order { .. });
        !self.linear || !self.contacts.iter().all(straight)
    }

    /// Both translations of a node; `None` stands for y in one dimension.
    pub fn translations(&self, node: usize) -> [Option<usize>; 2] {
        [self.dofs[node][0], self.dofs[node][1]]
    }

    pub fn place(&self, node: usize, q: &DVector<f64>) -> [f64; 2] {
        [0, 1].map(|k| self.places[node][k] + self.dofs[node][k].map_or(0.0, |dof| q[dof]))
    }

    fn conditions(
        &mut self,
        case: &Table,
        sets: &BTreeMap<String, Vec<usize>>,
        files: &BTreeMap<String, String>,
        displacement: &[[f64; 3]],
        velocity: &[[f64; 3]],
    ) {
        let mut held = vec![false; self.count];
        for support in tables(case, "support") {
            for &node in &sets[text(support, "nodes").unwrap()] {
                for name in support.get("fix").and_then(Value::as_array).into_iter().flatten() {
                    held[self.dofs[node][component(name.as_str().unwrap())].unwrap()] = true;
                }
                for (name, function) in support.get("motion").and_then(Value::as_table).into_iter().flatten() {
                    let dof = self.dofs[node][component(name)].unwrap();
                    held[dof] = true;
                    self.drives.push((dof, Function::read(function.as_table().unwrap(), files)));
                }
            }
        }
        self.free = (0..self.count).filter(|&dof| !held[dof]).collect();
        for (node, own) in self.dofs.iter().enumerate() {
            for (c, dof) in own.iter().enumerate() {
                if let Some(dof) = dof.filter(|&dof| !held[dof]) {
                    self.q0[dof] = displacement[node][c];
                    self.v0[dof] = velocity[node][c];
                }
            }
        }
        for (dof, function) in &self.drives {
            self.q0[*dof] = function.value(0.0);
            self.v0[*dof] = function.rate(0.0);
        }
        let gravity = vector(case, "gravity").unwrap_or_default();
        let mut field = DVector::zeros(self.count);
        for own in &self.dofs {
            (0..2).for_each(|k| own[k].into_iter().for_each(|dof| field[dof] = gravity[k]));
        }
        self.weight = &self.mass * field;
        for load in tables(case, "load") {
            let mut force = DVector::zeros(self.count);
            let mut add = |node: usize, value: [f64; 3]| {
                (0..3).for_each(|c| self.dofs[node][c].into_iter().for_each(|dof| force[dof] += value[c]));
            };
            if let Some(nodes) = text(load, "nodes") {
                let [x, y] = vector(load, "force").unwrap_or_default();
                sets[nodes].iter().for_each(|&node| add(node, [x, y, number(load, "moment").unwrap_or(0.0)]));
            } else {
                let [x, y] = vector(load, "per_length").unwrap();
                for pair in sets[text(load, "body").unwrap()].windows(2) {
                    let (a, b) = (self.places[pair[0]], self.places[pair[1]]);
                    let half = 0.5 * (b[0] - a[0]).hypot(b[1] - a[1]);
                    pair.iter().for_each(|&node| add(node, [half * x, half * y, 0.0]));
                }
            }
            let time = load.get("time").and_then(Value::as_table);
            let time = time.map_or(Function::Constant, |time| Function::read(time, files));
            if let Some(massless) = self.massless.as_ref().filter(|_| load.contains_key("body")) {
                force = massless.transform.transpose() * force;
            }
            self.loads.push((force, time));
        }
    }

    fn contacts(&mut self, case: &Table, sets: &BTreeMap<String, Vec<usize>>, fields: Fields) {
        let files = fields.0;
        let mut corners = self.places.clone();
        for contact in tables(case, "contact") {
            let shape = |key: &str| contact.get(key).and_then(Value::as_table);
            let mut nodes = text(contact, "nodes").map_or(vec![], |name| sets[name].clone());
            let mut axes = BTreeMap::from([("x", [1.0, 0.0]), ("y", [0.0, 1.0])]);
            let obstacle = if let Some(plane) = shape("plane").or(shape("half_plane")) {
                let (point, normal) = (vector(plane, "point").unwrap(), unit(vector(plane, "normal").unwrap()));
                let along = [normal[1], -normal[0]];
                axes.extend([("normal", normal), ("tangent", along)]);
                corners.push(point);
                if contact.contains_key("plane") {
                    Obstacle::Plane { point, normal }
                } else {
                    let given = vector(plane, "direction").unwrap_or(along);
                    let sign = (given[0] * along[0] + given[1] * along[1]).signum();
                    Obstacle::HalfPlane { point, normal, direction: along.map(|x| sign * x) }
                }
            } else if let Some(circle) = shape("circle") {
                let (centre, radius) = (vector(circle, "centre").unwrap(), number(circle, "radius").unwrap());
                corners.extend([-1.0, 1.0].map(|s| [centre[0] + s * radius, centre[1] + s * radius]));
                let inside = circle.get("inside").and_then(Value::as_bool) == Some(true);
                Obstacle::Circle { centre, radius, inside }
            } else if let Some(arc) = shape("arc") {
                let (centre, radius) = (vector(arc, "centre").unwrap(), number(arc, "radius").unwrap());
                let turn = [number(arc, "from").unwrap(), number(arc, "to").unwrap()];
                let at = |angle: f64| [centre[0] + radius * angle.cos(), centre[1] + radius * angle.sin()];
                corners.extend(turn.map(at));
                let quarter = std::f64::consts::FRAC_PI_2;
                corners
                    .extend((-8..=8).map(|k| f64::from(k) * quarter).filter(|a| *a >= turn[0] && *a < turn[1]).map(at));
                let inside = arc.get("inside").and_then(Value::as_bool) == Some(true);
                Obstacle::Arc { centre, radius, turn, inside }
            } else if let Some(line) = shape("polyline") {
                corners.extend(points(line, "points"));
                Obstacle::Polyline { points: points(line, "points") }
            } else {
                let names = contact["between"].as_array().unwrap();
                let [first, second] = [0, 1].map(|i| sets[names[i].as_str().unwrap()].clone());
                nodes = first.clone();
                if self.dimension == 1 {
                    Obstacle::Order { pairs: self.pairs([&first, &second], case, sets, fields) }
                } else {
                    Obstacle::Bodies { others: second }
                }
            };
            let motion = contact.get("motion").and_then(Value::as_table).into_iter().flatten();
            let motion = motion
                .map(|(axis, function)| (axes[axis.as_str()], Function::read(function.as_table().unwrap(), files)));
            let law = shape("restitution");
            self.contacts.push(Contact {
                name: text(contact, "name").unwrap().into(),
                nodes,
                obstacle,
                radius: number(contact, "radius").unwrap_or(0.0),
                restitution: law.map_or(number(contact, "restitution"), |law| number(law, "e")).unwrap_or(0.0),
                moreau: law.is_some_and(|law| text(law, "law") == Some("moreau")),
                friction: number(contact, "friction").unwrap_or(0.0),
                motion: motion.collect(),
            });
        }
        let extent = |k: usize| {
            let values = corners.iter().map(|corner| corner[k]);
            values.clone().fold(f64::MIN, f64::max) - values.fold(f64::MAX, f64::min)
        };
        self.length = extent(0).hypot(extent(1));
    }

    /// Who follows whom along a line: each body with the one below it. A body is below another if it ends where the other
    /// begins or before; at one point the middles of the whole bodies decide, and if they agree, the faster one is below.
    fn pairs(
        &self,
        sides: [&[usize]; 2],
        case: &Table,
        sets: &BTreeMap<String, Vec<usize>>,
        fields: Fields,
    ) -> Vec<[usize; 2]> {
        let (x, v) = self.line_start(case, sets, fields);
        let reach = |nodes: &[usize]| {
            let by = |a: &&usize, b: &&usize| x[**a].total_cmp(&x[**b]);
            Some([*nodes.iter().min_by(by)?, *nodes.iter().max_by(by)?])
        };
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let [lowest, highest] = [f64::min, f64::max].map(|pick| x.iter().copied().reduce(pick).unwrap());
        let same_place = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (highest - lowest) + 4e-15 * largest(&x);
        let mut parts: Vec<([bool; 2], [usize; 2], f64)> = vec![];
        for body in &self.bodies {
            let Some(whole) = reach(&body.nodes) else { continue };
            let middle = 0.5 * (x[whole[0]] + x[whole[1]]);
            let own =
                sides.map(|side| body.nodes.iter().copied().filter(|node| side.contains(node)).collect::<Vec<_>>());
            match own.each_ref().map(|own| reach(own)) {
                [Some(a), Some(b)] if own[0].iter().any(|node| own[1].contains(node)) => {
                    let both = reach(&[a, b].concat()).unwrap();
                    parts.push(([true; 2], both, middle));
                }
                [a, b] => {
                    parts.extend(a.map(|a| ([true, false], a, middle)));
                    parts.extend(b.map(|b| ([false, true], b, middle)));
                }
            }
        }
        let below = |(_, a, middle_a): &([bool; 2], [usize; 2], f64),
                     (_, b, middle_b): &([bool; 2], [usize; 2], f64)| {
            let touch = same_place(x[a[1]], x[b[0]]);
            if touch && same_place(x[a[0]], x[b[1]]) {
                let speeds = [a, b].map(|it| 0.5 * (v[it[0]] + v[it[1]]));
                return if same_place(*middle_a, *middle_b) { speeds[0] > speeds[1] } else { middle_a < middle_b };
            }
            touch || x[a[1]] < x[b[0]]
        };
        let mut row: Vec<_> =
            parts.iter().map(|part| (parts.iter().filter(|other| below(other, part)).count(), part)).collect();
        row.sort_by_key(|(count, _)| *count);
        let facing = row.windows(2).filter(|pair| {
            let [one, other] = [pair[0].1.0, pair[1].1.0];
            (one[0] && other[1]) || (one[1] && other[0])
        });
        facing.map(|pair| [pair[1].1.1[0], pair[0].1.1[1]]).collect()
    }

    /// Positions and velocities of all nodes on a line at the start: what supports prescribe comes before initial fields.
    fn line_start(
        &self,
        case: &Table,
        sets: &BTreeMap<String, Vec<usize>>,
        (files, displacement, velocity): Fields,
    ) -> (Vec<f64>, Vec<f64>) {
        let mut u: Vec<f64> = displacement.iter().map(|u| u[0]).collect();
        let mut v: Vec<f64> = velocity.iter().map(|v| v[0]).collect();
        for support in tables(case, "support") {
            for &node in &sets[text(support, "nodes").unwrap()] {
                let fixed = support.get("fix").and_then(Value::as_array);
                if fixed.is_some_and(|names| names.iter().any(|name| name.as_str() == Some("x"))) {
                    (u[node], v[node]) = (0.0, 0.0);
                }
                if let Some(function) = support.get("motion").and_then(|motion| motion.get("x")) {
                    let function = Function::read(function.as_table().unwrap(), files);
                    (u[node], v[node]) = (function.value(0.0), function.rate(0.0));
                }
            }
        }
        let x = self.places.iter().zip(u).map(|(place, u)| place[0] + u).collect();
        (x, v)
    }

    /// Highest natural frequency of the free unknowns at the start.
    pub fn highest_frequency(&self) -> f64 {
        let mut stiffness = DMatrix::zeros(self.count, self.count);
        self.elements.iter().for_each(|element| element.stiffness(&self.q0, &mut stiffness));
        let free = &self.free;
        let part = |m: &DMatrix<f64>| DMatrix::from_fn(free.len(), free.len(), |i, j| m[(free[i], free[j])]);
        let root = part(&self.mass).cholesky().expect("free rows have mass").l();
        let half = root.solve_lower_triangular(&part(&stiffness)).unwrap();
        let whole = root.solve_lower_triangular(&half.transpose()).unwrap();
        whole.symmetric_eigenvalues().max().max(0.0).sqrt()
    }
}

/// Nodes whose mass is redistributed: each with its rule, and whether it belongs to a linear beam.
fn massless_ends(case: &Table, sets: &BTreeMap<String, Vec<usize>>) -> Vec<(usize, Rule, bool)> {
    let mut ends: Vec<(usize, Rule, bool)> = vec![];
    for contact in tables(case, "contact").into_iter().filter(|it| text(it, "mass") == Some("redistributed")) {
        let name = text(contact, "nodes").unwrap();
        let owner = name.split('.').next().unwrap();
        let body = tables(case, "body").into_iter().find(|body| text(body, "name") == Some(owner)).unwrap();
        let rule = match (text(contact, "rule"), text(body, "element").unwrap()) {
            (Some("lin"), _) => Rule::Lin,
            (_, "bar") => Rule::Const,
            _ => Rule::Full,
        };
        let node = sets[name][0];
        if ends.iter().all(|(other, ..)| *other != node) {
            ends.push((node, rule, text(body, "element") == Some("linear-beam")));
        }
    }
    ends
}
