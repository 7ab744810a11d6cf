//! What single tables of a case file mean: functions of time, schemes, sections, meshes and instants.

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
    pub fn read(table: &Table, files: &BTreeMap<String, String>) -> Function {
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

pub fn scheme(table: &Table) -> Row {
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

pub fn number(table: &Table, key: &str) -> Option<f64> {
    table.get(key).and_then(as_number)
}

fn as_number(value: &Value) -> Option<f64> {
    value.as_float().or(value.as_integer().map(|i| i as f64))
}

pub fn text<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    table.get(key).and_then(Value::as_str)
}

pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map_or(vec![], |list| list.iter().filter_map(as_number).collect())
}

pub fn vector(table: &Table, key: &str) -> Option<[f64; 2]> {
    table.get(key).map(|value| {
        let list = numbers(value);
        [list[0], list.get(1).copied().unwrap_or(0.0)]
    })
}

pub fn tables<'a>(table: &'a Table, key: &str) -> Vec<&'a Table> {
    let list = table.get(key).and_then(Value::as_array);
    list.map_or(vec![], |list| list.iter().filter_map(Value::as_table).collect())
}

pub fn points(table: &Table, key: &str) -> Vec<[f64; 2]> {
    let list = table[key].as_array().unwrap();
    list.iter().map(numbers).map(|p| [p[0], p.get(1).copied().unwrap_or(0.0)]).collect()
}

pub fn unit(v: [f64; 2]) -> [f64; 2] {
    let length = v[0].hypot(v[1]);
    v.map(|x| x / length)
}

/// Area, inertia, shear area of a section; shear factors of circle and tube after Cowper.
pub fn section(table: &Table, poisson: f64) -> [f64; 3] {
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
pub fn mesh(body: &Table) -> Vec<[f64; 2]> {
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

/// Number of a component by its name.
pub fn component(name: &str) -> usize {
    ["x", "y", "theta"].iter().position(|c| *c == name).unwrap()
}

/// Instants of the grid: multiples of the step, after a first step of its own size, the last one cut at the end.
pub fn instants(time: &Table) -> Vec<f64> {
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
