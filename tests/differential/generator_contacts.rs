//! Contacts of random models: laws, bodies that fly at each other, and obstacles in the way of nodes.

use super::generator::{Maker, Piece};
use std::fmt::Write;

impl Maker {
    /// Keys of a law.
    pub(super) fn law(&mut self) -> String {
        let mut text = String::new();
        if self.massless {
            self.mark(format!("massless nodes of {}", self.pieces[0].element));
            let rule = self.random.pick(&["const", "lin"]);
            let rule = if self.dimension == 1 { format!("rule = \"{rule}\"\n") } else { String::new() };
            return format!("mass = \"redistributed\"\n{rule}");
        }
        let e = if self.random.chance(0.4) { 0.0 } else { self.random.between(0.0, 1.0) };
        if self.dimension == 2 && self.random.chance(0.3) {
            text += &format!("restitution = {{ e = {e:?}, law = \"moreau\" }}\n");
            self.mark("law moreau");
        } else {
            text += &format!("restitution = {e:?}\n");
            self.mark("law newton");
        }
        if self.dimension == 2 && self.random.chance(0.5) {
            text += &format!("friction = {:?}\n", self.random.between(0.05, 0.8));
            self.mark("friction");
        }
        text
    }

    /// The two bodies against each other: the second is brought near the first and flies towards it.
    pub(super) fn between(&mut self) {
        let speed = self.pieces[0].velocity[0].hypot(self.pieces[0].velocity[1]);
        let way = speed * self.step * self.random.between(0.5, 0.4 * self.steps as f64);
        let radius = if self.dimension == 2 { self.random.between(0.02, 0.1) } else { self.random.pick(&[0.0, 0.05]) };
        let (first, second) = (self.pieces[0].clone(), self.pieces[1].clone());
        let away = if self.dimension == 1 { [1.0, 0.0] } else { self.random.unit() };
        // In the plane somewhere along the first one, or round its end.
        let part = match self.dimension {
            1 => 1.0,
            _ => self.random.between(0.0, 1.0),
        };
        let from = [0, 1].map(|k| first.start[k] + part * (first.end[k] - first.start[k]));
        let line = [first.end[0] - first.start[0], first.end[1] - first.start[1]];
        let away = match self.dimension == 2 && first.element != "mass" {
            true => {
                let length = line[0].hypot(line[1]);
                let tilt = self.random.between(-0.3, 0.3);
                [
                    -line[1] / length * tilt.cos() + line[0] / length * tilt.sin(),
                    line[0] / length * tilt.cos() + line[1] / length * tilt.sin(),
                ]
            }
            false => away,
        };
        let place = [0, 1].map(|k| from[k] + away[k] * (2.0 * radius + way));
        let reach = [second.end[0] - second.start[0], second.end[1] - second.start[1]];
        let length = reach[0].hypot(reach[1]);
        // The second body stands on its start, away from the first.
        let to = [0, 1].map(|k| place[k] + length * away[k]);
        let towards = away.map(|x| -speed * x);
        let replace = |text: &str, old: [f64; 2], new: [f64; 2], maker: &Maker| {
            text.replace(&maker.vector(old), &maker.vector(new))
        };
        let mark = format!("name = \"{}\"", second.name);
        let at = self.text.find(&mark).expect("the second body is in the text");
        let (head, tail) = self.text.split_at(at);
        let stop = tail.find("\n\n").unwrap_or(tail.len());
        let (own, rest) = tail.split_at(stop);
        let mut own = replace(own, second.start, place, self);
        if second.element != "mass" {
            own = replace(&own, second.end, to, self);
            if own.contains("polyline") {
                let corner =
                    [0.5 * (second.start[0] + second.end[0]) + 0.1, 0.5 * (second.start[1] + second.end[1]) + 0.15];
                let middle = [0.5 * (place[0] + to[0]) + 0.1, 0.5 * (place[1] + to[1]) + 0.15];
                own = replace(&own, corner, middle, self);
            }
        }
        own = replace(&own, second.velocity, towards, self);
        self.text = format!("{head}{own}{rest}");
        self.pieces[1] = Piece { start: place, end: to, velocity: towards, ..second.clone() };
        let law = self.law();
        writeln!(
            self.text,
            "[[contact]]\nname = \"pair\"\nbetween = [\"{}\", \"{}\"]\nradius = {radius:?}\n{law}",
            first.name, second.name
        )
        .unwrap();
        self.mark(format!("between in {} d", self.dimension));
    }

    /// A rigid obstacle in the way of a node or of a whole body.
    pub(super) fn obstacle(&mut self) {
        let i = self.random.count(0, self.pieces.len() - 1);
        let piece = self.pieces[i].clone();
        let first = piece.element != "mass" && !piece.taken[0] && self.random.chance(0.3);
        let (node, place) = match first {
            true => (self.end_of(&piece, false), piece.start),
            false => (self.end_of(&piece, true), piece.end),
        };
        let arm = [place[0] - piece.start[0], place[1] - piece.start[1]];
        let velocity = [piece.velocity[0] - piece.spin * arm[1], piece.velocity[1] + piece.spin * arm[0]];
        let speed = velocity[0].hypot(velocity[1]).max(1e-3);
        let turn = if self.dimension == 1 { 0.0 } else { self.random.between(-0.8, 0.8) };
        let n = [-velocity[0] / speed, -velocity[1] / speed];
        let n = [n[0] * turn.cos() - n[1] * turn.sin(), n[0] * turn.sin() + n[1] * turn.cos()];
        let n = if self.dimension == 1 { [n[0].signum(), 0.0] } else { n };
        let t = [n[1], -n[0]];
        let approach = speed * turn.cos();
        let gap = approach * self.step * self.random.between(0.3, 0.5 * self.steps as f64);
        let radius = if self.random.chance(0.3) { self.random.between(0.0, 0.1) } else { 0.0 };
        let whole = !self.massless && piece.element != "mass" && piece.taken == [false; 2] && self.random.chance(0.3);
        let foot = [0, 1].map(|k| place[k] - (gap + radius) * n[k]);
        let kinds: &[&str] = if self.dimension == 1 || self.massless {
            &["plane"]
        } else {
            &["plane", "plane", "half_plane", "circle", "bowl", "arc", "polyline"]
        };
        let kind = self.random.pick(kinds);
        let shape = match kind {
            "plane" => format!("plane = {{ point = {}, normal = {} }}", self.vector(foot), self.vector(n)),
            "half_plane" => {
                let slip = self.random.between(-0.1, 0.3);
                let side = self.random.pick(&[-1.0, 1.0]);
                let point = [0, 1].map(|k| foot[k] - side * slip * t[k]);
                let direction = t.map(|x| side * x);
                let (point, normal) = (self.vector(point), self.vector(n));
                format!("half_plane = {{ point = {point}, normal = {normal}, direction = {} }}", self.vector(direction))
            }
            "circle" | "bowl" => {
                let round = self.random.between(0.3, 2.0);
                let inside = kind == "bowl";
                let sign = if inside { 1.0 } else { -1.0 };
                let centre = [0, 1].map(|k| foot[k] + sign * round * n[k]);
                let centre = self.vector(centre);
                format!("circle = {{ centre = {centre}, radius = {round:?}, inside = {inside} }}")
            }
            "arc" => {
                let round = self.random.between(0.3, 2.0);
                let inside = self.random.chance(0.5);
                let sign = if inside { 1.0 } else { -1.0 };
                let centre = [0, 1].map(|k| foot[k] + sign * round * n[k]);
                // The foot is on the arc or a little beyond its beginning.
                let angle = (-sign * n[1]).atan2(-sign * n[0]);
                let from = angle - self.random.between(-0.05, 0.8);
                let to = angle + self.random.between(0.1, 0.8);
                let centre = self.vector(centre);
                format!(
                    "arc = {{ centre = {centre}, radius = {round:?}, from = {from:?}, to = {to:?}, inside = {inside} }}"
                )
            }
            _ => {
                let slip = self.random.between(-0.3, 0.3);
                let [before, after] = [0, 1].map(|_| self.random.between(-0.4, 0.4));
                let points = [(-1.2, before), (slip, 0.0), (1.2, after)];
                let points = points.map(|(s, up)| self.vector([0, 1].map(|k| foot[k] + s * t[k] + up * n[k])));
                format!("polyline = {{ points = [{}] }}", points.join(", "))
            }
        };
        self.mark(format!("obstacle {kind}"));
        let law = self.law();
        let name = format!("c{}", self.contacts);
        self.contacts += 1;
        let nodes = if whole && kind == "plane" { piece.name.clone() } else { node };
        if nodes == piece.name && piece.element != "mass" {
            self.mark("contact of a whole body");
        }
        write!(self.text, "[[contact]]\nname = \"{name}\"\nnodes = \"{nodes}\"\n{shape}\n{law}").unwrap();
        if radius > 0.0 {
            writeln!(self.text, "radius = {radius:?}").unwrap();
            self.mark("contact with a radius");
        }
        if self.random.chance(0.4) {
            let axes: &[&str] = match (self.dimension, kind) {
                (1, _) => &["normal", "x"],
                (_, "plane" | "half_plane") => &["normal", "tangent", "x", "y"],
                _ => &["x", "y"],
            };
            let axis = self.random.pick(axes);
            let function = self.motion(0.1 * approach * self.duration());
            writeln!(self.text, "motion = {{ {axis} = {function} }}").unwrap();
            self.mark(format!("moving {kind}"));
        }
        self.text += "\n";
    }
}
