//! Small random models as case files: every element, scheme, position rule, section, joint, load, support, obstacle and law.
//!
//! A model is made around its step: masses and stiffnesses are drawn first, the step in parts of the shortest period, and then
//! speeds, gaps, loads and motions so that bodies meet within the steps that are made.

use super::common::random::Random;
use super::problem::Problem;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A case, the tables that it names, and what is in it.
pub struct Model {
    pub case: String,
    pub files: BTreeMap<String, String>,
    pub features: BTreeSet<String>,
}

/// A body as far as the rest of the case must know it.
#[derive(Clone)]
pub(super) struct Piece {
    pub(super) name: String,
    pub(super) element: &'static str,
    pub(super) start: [f64; 2],
    pub(super) end: [f64; 2],
    pub(super) velocity: [f64; 2],
    pub(super) spin: f64,
    /// Whether a support or a joint takes part of the motion of the first or the last node.
    pub(super) taken: [bool; 2],
}

/// A model in the making.
pub(super) struct Maker {
    pub(super) random: Random,
    pub(super) dimension: usize,
    pub(super) text: String,
    pub(super) pieces: Vec<Piece>,
    pub(super) files: BTreeMap<String, String>,
    pub(super) features: BTreeSet<String>,
    /// Whether contact nodes lose their mass.
    pub(super) massless: bool,
    pub(super) nonlinear: bool,
    pub(super) step: f64,
    pub(super) steps: usize,
    pub(super) contacts: usize,
}

/// The model of a seed.
pub fn model(seed: u64) -> Model {
    let mut random = Random::new(seed);
    let dimension = if random.chance(0.25) { 1 } else { 2 };
    let mut maker = Maker {
        random,
        dimension,
        text: String::new(),
        pieces: vec![],
        files: BTreeMap::new(),
        features: BTreeSet::new(),
        massless: false,
        nonlinear: false,
        step: 0.0,
        steps: 0,
        contacts: 0,
    };
    maker.massless = maker.random.chance(0.1);
    let meeting = !maker.massless && maker.random.chance(if dimension == 1 { 0.5 } else { 0.3 });
    maker.bodies(meeting);
    let scheme = maker.scheme();
    maker.supports_and_loads();
    if meeting {
        maker.between();
    }
    for _ in 0..maker.random.pick(&[0, 1, 1, 1, 2, 2]) {
        maker.obstacle();
    }
    maker.finish(&scheme)
}

impl Maker {
    pub(super) fn mark(&mut self, feature: impl Into<String>) {
        self.features.insert(feature.into());
    }

    pub(super) fn vector(&self, v: [f64; 2]) -> String {
        if self.dimension == 1 { format!("[{:?}]", v[0]) } else { format!("[{:?}, {:?}]", v[0], v[1]) }
    }

    /// Time over which a run lasts.
    pub(super) fn duration(&self) -> f64 {
        self.step * self.steps as f64
    }

    fn bodies(&mut self, meeting: bool) {
        let count = if self.massless {
            1
        } else if meeting {
            2
        } else {
            self.random.count(1, 3)
        };
        let mut at = [self.random.between(-1.0, 1.0), 0.0];
        for i in 0..count {
            let kinds: &[&'static str] = match (self.dimension, self.massless) {
                (1, false) => &["bar", "bar", "mass"],
                (1, true) => &["bar"],
                (_, false) => &["bar", "linear-beam", "beam", "mass"],
                (_, true) => &["linear-beam", "beam"],
            };
            let element = self.random.pick(kinds);
            let joined = !meeting && i > 0 && element != "mass" && self.random.chance(0.4);
            if joined {
                at = self.pieces[i - 1].end;
            }
            let name = format!("b{i}");
            let angle = if self.dimension == 1 { 0.0 } else { self.random.between(-1.2, 1.2) };
            let reach = self.random.between(0.6, 1.5);
            let end = if element == "mass" { at } else { [at[0] + reach * angle.cos(), at[1] + reach * angle.sin()] };
            self.body(&name, element, at, end);
            if joined {
                let kind = self.random.pick(&["hinge", "weld"]);
                let other = self.pieces[i - 1].clone();
                let [first, second] = [&other, &self.pieces[i]].map(|piece| piece.element);
                let first = if first == "mass" { other.name.clone() } else { format!("{}.end", other.name) };
                let second = if second == "mass" { name.clone() } else { format!("{name}.start") };
                writeln!(
                    self.text,
                    "[[joint]]\nname = \"j{i}\"\nkind = \"{kind}\"\nbetween = [\"{first}\", \"{second}\"]\n"
                )
                .unwrap();
                self.pieces[i - 1].taken[1] = true;
                self.pieces[i].taken[0] = true;
                // Nodes that share their motion start with one velocity.
                self.mark(format!("joint {kind}"));
            }
            at = match self.dimension {
                1 => [self.pieces[i].end[0] + self.random.between(0.3, 0.8), 0.0],
                _ => [self.random.between(-1.0, 1.0), self.pieces[i].end[1].max(self.pieces[i].start[1]) + 3.0],
            };
        }
        if count > 1 && !meeting && self.random.chance(0.5) {
            self.spring();
        }
    }

    pub(super) fn end_of(&self, piece: &Piece, last: bool) -> String {
        match (piece.element, last) {
            ("mass", _) => piece.name.clone(),
            (_, true) => format!("{}.end", piece.name),
            (_, false) => format!("{}.start", piece.name),
        }
    }

    fn spring(&mut self) {
        let (a, b) = (self.pieces[0].clone(), self.pieces[self.pieces.len() - 1].clone());
        if a.end == b.start {
            return;
        }
        let ends = [self.end_of(&a, true), self.end_of(&b, false)];
        let way = [b.start[0] - a.end[0], b.start[1] - a.end[1]];
        let stiffness = self.random.log(1.0, 100.0);
        let mut text = format!(
            "[[body]]\nname = \"s\"\nelement = \"spring\"\nbetween = [{:?}, {:?}]\nstiffness = {stiffness:?}\n",
            ends[0], ends[1]
        );
        if self.random.chance(0.5) {
            writeln!(text, "damping = {:?}", self.random.log(0.01, 1.0)).unwrap();
            self.mark("dashpot");
        }
        if self.random.chance(0.5) {
            let length = if self.dimension == 1 { way[0] } else { way[0].hypot(way[1]) };
            writeln!(text, "rest_length = {:?}", length * self.random.between(0.6, 1.3)).unwrap();
            self.mark("rest length");
        }
        self.nonlinear |= self.dimension == 2;
        self.mark(format!("spring in {} d", self.dimension));
        self.text += &(text + "\n");
    }

    fn body(&mut self, name: &str, element: &'static str, start: [f64; 2], end: [f64; 2]) {
        let r = &mut self.random;
        let mut text = format!("[[body]]\nname = \"{name}\"\nelement = \"{element}\"\n");
        let mut features = vec![format!("element {element}")];
        if element == "mass" {
            text += &format!("at = {}\nmass = {:?}\n", self.vector(start), self.random.log(0.1, 3.0));
        } else {
            let elements = if self.massless { r.count(3, 5) } else { r.count(1, 4) };
            if self.dimension == 2 && !self.massless && elements >= 2 && r.chance(0.2) {
                let corner = [0.5 * (start[0] + end[0]) + 0.1, 0.5 * (start[1] + end[1]) + 0.15];
                let points = [start, corner, end].map(|p| self.vector(p)).join(", ");
                // One more, so that no piece is left without.
                text += &format!("polyline = {{ points = [{points}], elements = {} }}\n", elements + 1);
                features.push("body along a polyline".into());
            } else {
                let grading = if self.random.chance(0.3) { self.random.between(0.5, 2.0) } else { 1.0 };
                text += &format!(
                    "line = {{ from = {}, to = {}, elements = {elements}, grading = {grading:?} }}\n",
                    self.vector(start),
                    self.vector(end)
                );
            }
            let r = &mut self.random;
            let young = r.log(50.0, 5000.0);
            let turns = element.ends_with("beam");
            let shear = match turns {
                false => String::new(),
                true if r.chance(0.5) => format!(", poisson = {:?}", r.between(0.0, 0.45)),
                true => format!(", shear = {:?}", young * r.between(0.34, 0.5)),
            };
            text += &format!("material = {{ young = {young:?}, density = {:?}{shear} }}\n", r.log(1.0, 20.0));
            let (section, feature) = section(r);
            features.push(feature);
            text += &section;
            if r.chance(0.4) {
                text += "mass_matrix = \"lumped\"\n";
                features.push(format!("lumped {element}"));
            }
            if element == "beam" && r.chance(0.3) {
                text += "shear_correction = true\n";
                features.push("shear correction".into());
            }
            if r.chance(0.4) {
                let (mass, stiffness) = (r.between(0.0, 0.5), r.log(1e-5, 1e-3));
                let part = if self.massless { "stiffness" } else { r.pick(&["mass", "stiffness", "both"]) };
                text += &match part {
                    "mass" => format!("damping = {{ mass = {mass:?} }}\n"),
                    "stiffness" => format!("damping = {{ stiffness = {stiffness:?} }}\n"),
                    _ => format!("damping = {{ mass = {mass:?}, stiffness = {stiffness:?} }}\n"),
                };
                features.push(format!("damping of {element}"));
            }
        }
        self.nonlinear |= element == "beam";
        features.into_iter().for_each(|feature| self.mark(feature));
        self.text += &text;
        // Velocities are filled in once the step is known: see `velocities`.
        self.text += &format!("#velocity {name}\n\n");
        let piece = Piece { name: name.into(), element, start, end, velocity: [0.0; 2], spin: 0.0, taken: [false; 2] };
        self.pieces.push(piece);
    }

    /// Draws the scheme, the step that suits it, and velocities.
    fn scheme(&mut self) -> String {
        let name = self.random.pick(&[
            "moreau-jean",
            "moreau-jean",
            "moreau-jean-dissipative",
            "newmark",
            "newmark",
            "hht",
            "generalized-alpha",
            "generalized-alpha",
            "central-difference",
        ]);
        // Massless nodes need a1 in q1 and one weight for all forces.
        let unfit = matches!(name, "central-difference" | "moreau-jean-dissipative");
        let name = if self.massless && unfit { "generalized-alpha" } else { name };
        // Explicit steps of models whose stiffness changes would need a step that is watched.
        let name = if name == "central-difference" && self.nonlinear { "newmark" } else { name };
        let r = &mut self.random;
        let keys = match name {
            "moreau-jean" | "moreau-jean-dissipative" => {
                format!(", theta = {:?}", r.pick(&[0.5, 1.0, 0.5 + 0.01 * 13.0, 0.8]))
            }
            "newmark" if r.chance(0.5) => String::new(),
            "newmark" => {
                let gamma = r.between(0.5, 1.0);
                format!(", gamma = {gamma:?}, beta = {:?}", 0.25 * (gamma + 0.5).powi(2) * r.between(1.0, 1.3))
            }
            "hht" => format!(", alpha = {:?}", r.between(-0.33, 0.33)),
            "generalized-alpha" => format!(", rho_inf = {:?}", r.pick(&[0.0, 0.3, 0.65, 0.8, 1.0])),
            _ => String::new(),
        };
        let mut text = format!("[scheme]\nname = \"{name}\"{}\n", keys.replace(", ", "\n"));
        self.mark(format!("scheme {name}"));
        // Rows of Moreau and Jean do not go with corrected positions.
        if self.random.chance(0.4) && !name.starts_with("moreau-jean") && !self.massless {
            text += "position = \"ggl\"\n";
            self.mark("position ggl");
        }
        if self.random.chance(0.3) {
            text += &format!("forecast = {:?}\n", self.random.between(0.0, 1.0));
            self.mark("forecast");
        }
        let probing = format!("{}[time]\nend = 1.0\nstep = 1.0\n\n{text}", self.text);
        let highest = Problem::read(&probing, &self.files).highest_frequency().max(1.0);
        let factor = match name {
            "central-difference" => self.random.between(0.1, 1.2),
            _ if self.nonlinear => self.random.log(0.2, 3.0),
            _ => self.random.log(0.2, 20.0),
        };
        // Short beside the sizes of bodies and obstacles, whatever the stiffness.
        self.step = (factor / highest).min(0.05);
        self.steps = self.random.count(12, 40);
        self.velocities();
        text
    }

    fn velocities(&mut self) {
        let speed = self.random.between(0.3, 2.0);
        let mut shared = [0.0; 2];
        for i in 0..self.pieces.len() {
            let mut piece = self.pieces[i].clone();
            let mut keys = String::new();
            let joined = i > 0 && piece.start == self.pieces[i - 1].end && piece.taken[0];
            if !joined {
                shared = self.random.unit().map(|x| speed * x);
                if self.dimension == 1 {
                    shared[1] = 0.0;
                }
            }
            piece.velocity = shared;
            keys += &format!("velocity = {}\n", self.vector(piece.velocity));
            let chained = joined || piece.taken[1];
            if !chained && self.dimension == 2 && piece.element != "mass" && self.random.chance(0.3) {
                piece.spin = self.random.between(-0.5, 0.5) * speed;
                let centre = self.vector(piece.start);
                keys += &format!("spin = {:?}\nspin_centre = {centre}\n", piece.spin);
                self.mark("spin");
            }
            self.text = self.text.replace(&format!("#velocity {}\n", piece.name), &keys);
            if piece.element != "mass" && !chained && self.random.chance(0.25) {
                let direction = if self.dimension == 1 { [1.0, 0.0] } else { self.random.unit() };
                let amplitude = 0.3 * speed * self.random.between(-1.0, 1.0);
                writeln!(
                    self.text,
                    "[[initial]]\nnodes = \"{}\"\nvelocity = {{ kind = \"pulse\", direction = {}, amplitude = \
                     {amplitude:?}, centre = {:?}, width = {:?} }}\n",
                    piece.name,
                    self.vector(direction),
                    self.random.between(0.0, 1.0),
                    self.random.between(0.4, 1.0)
                )
                .unwrap();
                self.mark("initial pulse");
            }
            self.pieces[i] = piece;
        }
    }

    /// A function of time with values of size `size`, zero at the start.
    pub(super) fn motion(&mut self, size: f64) -> String {
        let duration = self.duration();
        let kind = self.random.pick(&["harmonic", "harmonic", "ramp", "table"]);
        self.mark(format!("motion {kind}"));
        match kind {
            "harmonic" => format!(
                "{{ kind = \"harmonic\", amplitude = {size:?}, frequency = {:?} }}",
                self.random.between(0.3, 3.0) / duration
            ),
            "ramp" => format!(
                "{{ kind = \"ramp\", from = 0.0, to = {size:?}, start = {:?}, end = {:?} }}",
                self.random.between(0.0, 0.2) * duration,
                self.random.between(0.5, 1.2) * duration
            ),
            _ => {
                let name = format!("table{}.csv", self.files.len());
                let mut rows = String::from("time,value\n0.0,0.0\n");
                for i in 1..=4 {
                    let (t, y) = (0.3 * i as f64 * duration, size * self.random.between(-1.0, 1.0));
                    writeln!(rows, "{t:?},{y:?}").unwrap();
                }
                self.files.insert(name.clone(), rows);
                format!("{{ kind = \"table\", file = \"{name}\" }}")
            }
        }
    }

    fn supports_and_loads(&mut self) {
        let way = self.duration();
        for i in 0..self.pieces.len() {
            let piece = self.pieces[i].clone();
            if piece.element == "mass" || piece.taken[0] || !self.random.chance(0.5) {
                continue;
            }
            let mut axes = vec!["x"];
            axes.extend((self.dimension == 2).then_some("y"));
            axes.extend(piece.element.ends_with("beam").then_some("theta"));
            let (mut fix, mut driven) = (vec![], vec![]);
            for axis in axes {
                if self.random.chance(0.35) {
                    driven.push(format!("{axis} = {}", self.motion(0.1 * way)));
                    self.mark("driven support");
                } else if self.random.chance(0.6) {
                    fix.push(format!("{axis:?}"));
                }
            }
            if fix.is_empty() && driven.is_empty() {
                continue;
            }
            self.pieces[i].taken[0] = true;
            writeln!(self.text, "[[support]]\nname = \"u{i}\"\nnodes = \"{}.start\"", piece.name).unwrap();
            if !fix.is_empty() {
                writeln!(self.text, "fix = [{}]", fix.join(", ")).unwrap();
                self.mark("held support");
            }
            if !driven.is_empty() {
                writeln!(self.text, "motion = {{ {} }}", driven.join(", ")).unwrap();
            }
            self.text += "\n";
        }
        for i in 0..self.random.count(0, 2) {
            let piece = self.pieces[self.random.count(0, self.pieces.len() - 1)].clone();
            // Of the size that changes velocities of one within the run.
            let size = self.random.between(-1.0, 1.0) * 0.5 / self.duration();
            let along = self.random.unit().map(|x| size * x);
            let end = self.end_of(&piece, true);
            write!(self.text, "[[load]]\nname = \"l{i}\"\n").unwrap();
            if piece.element != "mass" && self.random.chance(0.4) {
                writeln!(self.text, "body = \"{}\"\nper_length = {}", piece.name, self.vector(along)).unwrap();
                self.mark("load per length");
            } else {
                writeln!(self.text, "nodes = \"{end}\"\nforce = {}", self.vector(along)).unwrap();
                self.mark("load on a node");
                if piece.element.ends_with("beam") && self.random.chance(0.5) {
                    writeln!(self.text, "moment = {:?}", 1e-3 * size).unwrap();
                    self.mark("moment");
                }
            }
            if self.random.chance(0.7) {
                let function = self.motion(1.0);
                writeln!(self.text, "time = {function}").unwrap();
            }
            self.text += "\n";
        }
        if self.random.chance(0.4) {
            let pull = self.random.unit().map(|x| x / self.duration());
            self.text = format!("gravity = {}\n\n{}", self.vector(pull), self.text);
            self.mark("gravity");
        }
    }

    fn finish(mut self, scheme: &str) -> Model {
        for piece in self.pieces.clone() {
            let end = self.end_of(&piece, true);
            writeln!(self.text, "[[probe]]\nname = \"{}\"\nnode = \"{end}\"\n", piece.name).unwrap();
            if piece.element != "mass" {
                writeln!(self.text, "[[probe]]\nname = \"{0}s\"\nnode = \"{0}.start\"\n", piece.name).unwrap();
            }
        }
        let steps = self.steps as f64;
        let end = if self.random.chance(0.2) { (steps - 0.37) * self.step } else { steps * self.step };
        // Steps must not be cut: the dense code makes them as the case says.
        let mut time = format!("[time]\nend = {end:?}\nstep = {0:?}\nmin_step = {0:?}\n", self.step);
        if self.random.chance(0.1) {
            time += &format!("first_step = {:?}\n", self.step * self.random.between(0.2, 0.9));
            self.mark("first step");
        }
        let rules = "[guards]\nenergy = { gain = 10.0, total = 1e9 }\npenetration = false\n\n[solver]\nnewton = { tolerance = 1e-13, \
                     passes = 100 }\ncontact = { tolerance = 1e-13, sweeps = 100000 }\n";
        // Keys outside of tables come first, and gravity is one of them.
        let (top, rest) = match self.text.split_once("\n\n") {
            Some((gravity, rest)) if gravity.starts_with("gravity") => (gravity.to_string(), rest.to_string()),
            _ => (String::new(), self.text.clone()),
        };
        let case = format!("format = 1\n{top}\n\n{time}\n{scheme}\n{rules}\n{rest}");
        Model { case, files: self.files, features: self.features }
    }
}

fn section(r: &mut Random) -> (String, String) {
    let (b, d) = (r.between(0.1, 0.3), r.between(0.1, 0.3));
    let shape = r.pick(&["rectangle", "circle", "tube", "i", "direct"]);
    let factor = if r.chance(0.3) { format!(", shear_factor = {:?}", r.between(0.4, 0.9)) } else { String::new() };
    let values = match shape {
        "rectangle" => format!("width = {b:?}, height = {d:?}"),
        "circle" => format!("radius = {:?}", 0.5 * b),
        "tube" => format!("radius = {:?}, thickness = {:?}", 0.5 * b, 0.5 * b * r.between(0.1, 0.9)),
        "i" => format!("width = {b:?}, height = {d:?}, web = {:?}, flange = {:?}", 0.3 * b, 0.2 * d),
        _ => {
            let area = b * d;
            return (
                format!(
                    "section = {{ area = {area:?}, inertia = {:?}, shear_area = {:?} }}\n",
                    area * d * d / 12.0,
                    0.8 * area
                ),
                "section direct".into(),
            );
        }
    };
    (format!("section = {{ shape = \"{shape}\", {values}{factor} }}\n"), format!("section {shape}"))
}
