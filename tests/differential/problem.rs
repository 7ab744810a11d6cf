//! A case file as dense matrices and lists: read from its text without carom's reader, mesh or assembly.

use super::elements::{Element, Strain, timoshenko_mass};
use nalgebra::{DMatrix, DVector};
use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};
use toml::{Table, Value};

/// A function of time, with its first two derivatives.
#[derive(Clone, Debug)]
pub enum Function {
    Constant,
    Ramp { from: f64, to: f64, start: f64, end: f64 },
    Harmonic { amplitude: f64, frequency: f64, phase: f64 },
    Table(Vec<[f64; 2]>),
}

impl Function {
    fn read(table: &Table, files: &BTreeMap<String, String>) -> Function {
        let or = |key: &str, default: f64| number(table, key).unwrap_or(default);
        match text(table, "kind") {
            Some("ramp") => Function::Ramp {
                from: or("from", 0.0),
                to: or("to", 1.0),
                start: or("start", 0.0),
                end: or("end", 1.0),
            },
            Some("harmonic") => Function::Harmonic {
                amplitude: or("amplitude", 1.0),
                frequency: or("frequency", 0.0),
                phase: or("phase", 0.0),
            },
            Some("table") => {
                let lines = files[text(table, "file").unwrap()].lines();
                let values = lines.map(|line| line.split(',').map(|cell| cell.trim().parse::<f64>()).collect());
                let rows = values.filter_map(|row: Result<Vec<f64>, _>| row.ok());
                Function::Table(rows.map(|row| [row[0], row[1]]).collect())
            }
            _ => Function::Constant,
        }
    }

    pub fn value(&self, t: f64) -> f64 {
        match self {
            Function::Constant => 1.0,
            &Function::Ramp { from, to, start, end } => {
                from + (to - from) * ((t - start) / (end - start)).clamp(0.0, 1.0)
            }
            Function::Harmonic { amplitude, frequency, phase } => amplitude * (TAU * frequency * t + phase).sin(),
            Function::Table(rows) => {
                let (first, last) = (rows[0], rows[rows.len() - 1]);
                match rows.windows(2).find(|w| t >= w[0][0] && t < w[1][0]) {
                    Some(w) => w[0][1] + (w[1][1] - w[0][1]) * (t - w[0][0]) / (w[1][0] - w[0][0]),
                    None => {
                        if t < first[0] {
                            first[1]
                        } else {
                            last[1]
                        }
                    }
                }
            }
        }
    }

    pub fn rate(&self, t: f64) -> f64 {
        match self {
            Function::Constant => 0.0,
            &Function::Ramp { from, to, start, end } => {
                if t >= start && t < end {
                    (to - from) / (end - start)
                } else {
                    0.0
                }
            }
            Function::Harmonic { amplitude, frequency, phase } => {
                amplitude * TAU * frequency * (TAU * frequency * t + phase).cos()
            }
            Function::Table(rows) => {
                let piece = rows.windows(2).find(|w| t >= w[0][0] && t < w[1][0]);
                piece.map_or(0.0, |w| (w[1][1] - w[0][1]) / (w[1][0] - w[0][0]))
            }
        }
    }

    pub fn second_rate(&self, t: f64) -> f64 {
        match self {
            Function::Harmonic { frequency, .. } => -(TAU * frequency).powi(2) * self.value(t),
            _ => 0.0,
        }
    }
}

/// The numbers of a scheme, `docs/theory.md` 3.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub g0: f64,
    pub g1: f64,
    pub b0: f64,
    pub b1: f64,
    pub c: f64,
    pub alpha_m: f64,
    pub alpha_f: f64,
    pub alpha_c: f64,
    /// Whether old accelerations take part: every row but those of Moreau and Jean.
    pub remembers: bool,
}

fn scheme(table: &Table) -> Row {
    let or = |key: &str, default: f64| number(table, key).unwrap_or(default);
    let newmark = |gamma: f64, beta: f64, alpha_m: f64, alpha_f: f64| Row {
        g0: 1.0 - gamma,
        g1: gamma,
        b0: 0.5 - beta,
        b1: beta,
        c: 0.5,
        alpha_m,
        alpha_f,
        alpha_c: alpha_f,
        remembers: true,
    };
    let jean = |b1: f64, theta: f64, alpha_c: f64| Row {
        g0: 0.0,
        g1: 1.0,
        b0: 0.0,
        b1,
        c: b1,
        alpha_m: 0.0,
        alpha_f: 1.0 - theta,
        alpha_c,
        remembers: false,
    };
    match text(table, "name").unwrap() {
        "moreau-jean" => {
            let theta = or("theta", 0.5);
            jean(theta, theta, 1.0 - theta)
        }
        "moreau-jean-dissipative" => jean(0.5, or("theta", 1.0), 0.5),
        "newmark" => newmark(or("gamma", 0.5), or("beta", 0.25), 0.0, 0.0),
        "hht" => {
            let alpha = number(table, "alpha").unwrap().abs();
            newmark(or("gamma", 0.5 + alpha), or("beta", (1.0 + alpha).powi(2) / 4.0), 0.0, alpha)
        }
        "generalized-alpha" => {
            let rho = number(table, "rho_inf").unwrap();
            let (alpha_m, alpha_f) = ((2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0));
            let gamma = 0.5 + alpha_f - alpha_m;
            newmark(gamma, (gamma + 0.5).powi(2) / 4.0, alpha_m, alpha_f)
        }
        "central-difference" => newmark(0.5, 0.0, 0.0, 0.0),
        other => panic!("the dense code does not know the scheme {other}"),
    }
}

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

pub fn number(table: &Table, key: &str) -> Option<f64> {
    table.get(key).and_then(as_number)
}

fn as_number(value: &Value) -> Option<f64> {
    value.as_float().or(value.as_integer().map(|i| i as f64))
}

pub fn text<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    table.get(key).and_then(Value::as_str)
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map_or(vec![], |list| list.iter().filter_map(as_number).collect())
}

fn vector(table: &Table, key: &str) -> Option<[f64; 2]> {
    table.get(key).map(|value| {
        let list = numbers(value);
        [list[0], list.get(1).copied().unwrap_or(0.0)]
    })
}

fn tables<'a>(table: &'a Table, key: &str) -> Vec<&'a Table> {
    let list = table.get(key).and_then(Value::as_array);
    list.map_or(vec![], |list| list.iter().filter_map(Value::as_table).collect())
}

fn points(table: &Table, key: &str) -> Vec<[f64; 2]> {
    let list = table[key].as_array().unwrap();
    list.iter().map(numbers).map(|p| [p[0], p.get(1).copied().unwrap_or(0.0)]).collect()
}

fn unit(v: [f64; 2]) -> [f64; 2] {
    let length = v[0].hypot(v[1]);
    v.map(|x| x / length)
}

/// Area, inertia, shear area of a section; shear factors of circle and tube after Cowper.
fn section(table: &Table, poisson: f64) -> [f64; 3] {
    let get = |key: &str| number(table, key).unwrap_or(0.0);
    let round = |outer: f64, inner: f64| {
        let area = PI * (outer * outer - inner * inner);
        let m2 = (inner / outer).powi(2);
        let square = (1.0 + m2).powi(2);
        let factor = 6.0 * (1.0 + poisson) * square / ((7.0 + 6.0 * poisson) * square + (20.0 + 12.0 * poisson) * m2);
        [area, area * (outer * outer + inner * inner) / 4.0, factor]
    };
    let [area, inertia, factor] = match text(table, "shape") {
        Some("rectangle") => {
            let (b, d) = (get("width"), get("height"));
            [b * d, b * d.powi(3) / 12.0, 5.0 / 6.0]
        }
        Some("circle") => round(get("radius"), 0.0),
        Some("tube") => round(get("radius"), get("radius") - get("thickness")),
        Some("i") => {
            let (b, d, web, flange) = (get("width"), get("height"), get("web"), get("flange"));
            let clear = d - 2.0 * flange;
            let area = 2.0 * b * flange + web * clear;
            [area, (b * d.powi(3) - (b - web) * clear.powi(3)) / 12.0, web * d / area]
        }
        _ => [get("area"), get("inertia"), get("shear_area") / get("area")],
    };
    [area, inertia, number(table, "shear_factor").unwrap_or(factor) * area]
}

/// Nodes of a line or a polyline.
fn mesh(body: &Table) -> Vec<[f64; 2]> {
    let along = |a: [f64; 2], b: [f64; 2], s: f64| [a[0] + (b[0] - a[0]) * s, a[1] + (b[1] - a[1]) * s];
    if let Some(line) = body.get("line").and_then(Value::as_table) {
        let (from, to) = (vector(line, "from").unwrap(), vector(line, "to").unwrap());
        let elements = number(line, "elements").unwrap() as usize;
        let grading = number(line, "grading").unwrap_or(1.0);
        let ratio = if elements > 1 { grading.powf(1.0 / (elements as f64 - 1.0)) } else { 1.0 };
        let whole: f64 = (0..elements).map(|i| ratio.powi(i as i32)).sum();
        let part = |i: usize| (0..i).map(|j| ratio.powi(j as i32)).sum::<f64>() / whole;
        (0..=elements).map(|i| along(from, to, part(i))).collect()
    } else if let Some(line) = body.get("polyline").and_then(Value::as_table) {
        let corners = points(line, "points");
        let lengths: Vec<f64> = corners.windows(2).map(|w| (w[1][0] - w[0][0]).hypot(w[1][1] - w[0][1])).collect();
        let counts = share(&lengths, number(line, "elements").unwrap() as usize);
        let mut nodes = vec![corners[0]];
        for (w, count) in corners.windows(2).zip(counts) {
            nodes.extend((1..=count).map(|i| along(w[0], w[1], i as f64 / count as f64)));
        }
        nodes
    } else {
        vec![vector(body, "at").unwrap()]
    }
}

/// Elements for pieces by length: one for each piece that deserves no more, the rest by largest remainder.
fn share(lengths: &[f64], elements: usize) -> Vec<usize> {
    let mut short: Vec<usize> = vec![];
    loop {
        let long: Vec<usize> = (0..lengths.len()).filter(|i| !short.contains(i)).collect();
        let (left, total) = (elements - short.len(), long.iter().map(|&i| lengths[i]).sum::<f64>());
        let quota = |i: usize| left as f64 * lengths[i] / total;
        let more: Vec<usize> = long.iter().copied().filter(|&i| quota(i) < 1.0).collect();
        if more.is_empty() {
            let mut counts = vec![1; lengths.len()];
            long.iter().for_each(|&i| counts[i] = quota(i).floor() as usize);
            let spare = elements - counts.iter().sum::<usize>();
            let mut order = long;
            order.sort_by(|&a, &b| quota(b).fract().total_cmp(&quota(a).fract()));
            order.into_iter().take(spare).for_each(|i| counts[i] += 1);
            return counts;
        }
        short.extend(more);
    }
}

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
        problem.conditions(&case, &sets, files, &displacement, &velocity);
        problem.contacts(&case, &sets, files, &displacement);
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

    fn assemble(&mut self, case: &Table, sets: &BTreeMap<String, Vec<usize>>) {
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
            self.loads.push((force, time));
        }
    }

    fn contacts(
        &mut self,
        case: &Table,
        sets: &BTreeMap<String, Vec<usize>>,
        files: &BTreeMap<String, String>,
        displacement: &[[f64; 3]],
    ) {
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
            } else if let Some(line) = shape("polyline") {
                corners.extend(points(line, "points"));
                Obstacle::Polyline { points: points(line, "points") }
            } else {
                let names = contact["between"].as_array().unwrap();
                let [first, second] = [0, 1].map(|i| sets[names[i].as_str().unwrap()].clone());
                nodes = first.clone();
                if self.dimension == 1 {
                    Obstacle::Order { pairs: self.pairs(&first, &second, displacement) }
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

    /// Who follows whom along a line: each body with the one below it.
    fn pairs(&self, first: &[usize], second: &[usize], displacement: &[[f64; 3]]) -> Vec<[usize; 2]> {
        let at = |node: usize| self.places[node][0] + displacement[node][0];
        let mut parts = vec![];
        for (which, set) in [(0, first), (1, second)] {
            for body in &self.bodies {
                let mut own: Vec<usize> = set.iter().copied().filter(|node| body.nodes.contains(node)).collect();
                own.sort_by(|&a, &b| at(a).total_cmp(&at(b)));
                if let (Some(&low), Some(&high)) = (own.first(), own.last()) {
                    parts.push((which, low, high));
                }
            }
        }
        parts.sort_by(|a, b| at(a.1).total_cmp(&at(b.1)));
        parts.dedup_by_key(|part| part.1);
        let facing = parts.windows(2).filter(|pair| first == second || pair[0].0 != pair[1].0);
        facing.map(|pair| [pair[1].1, pair[0].2]).collect()
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

/// A line of an element.
struct Line {
    nodes: [usize; 2],
    length: f64,
    direction: [f64; 2],
    /// EA, GA_s, EI.
    rigidity: [f64; 3],
}

fn component(name: &str) -> usize {
    ["x", "y", "theta"].iter().position(|c| *c == name).unwrap()
}

/// Instants of the grid: multiples of the step, after a first step of its own size, the last one cut at the end.
fn instants(time: &Table) -> Vec<f64> {
    let (end, step) = (number(time, "end").unwrap(), number(time, "step").unwrap());
    let first = number(time, "first_step").unwrap_or(step);
    let mut all = vec![0.0];
    loop {
        let k = all.len() - 1;
        let next = if first == step { (k + 1) as f64 * step } else { first + k as f64 * step };
        if next >= end - 1e-9 * end {
            all.push(end);
            return all;
        }
        all.push(next);
    }
}
