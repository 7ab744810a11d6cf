//! A rigid arc of a circle: a hump, or from inside a half pipe. Beyond its ends there are corners.

use super::values::{Fault, Key, Values, Wanted, key};
use super::{
    Entry, Facing, Obstacle, ObstacleKind, Region, Surface, Transit, Window, at_part, beside, round, smaller_share,
    too_thick,
};
use crate::plane::{direction, inner, minus};
use std::f64::consts::{FRAC_PI_2, TAU};

pub(super) static KIND: ObstacleKind = ObstacleKind {
    name: "arc",
    summary: "Rigid arc of a circle",
    doc: "A rigid arc, from one angle counter-clockwise to another; beyond its ends there are corners",
    keys: KEYS,
    in_one_dimension: false,
    searched: false,
    massless: false,
    check,
    build: |values| {
        let (centre, radius) = (values.point("centre"), values.number("radius"));
        let (from, to) = (values.number("from"), values.number("to"));
        std::sync::Arc::new(Arc { centre, radius, from, to, inside: values.flag("inside") })
    },
};

const KEYS: &[Key] = &[
    key("centre", Wanted::Point, "Centre of the circle"),
    key("radius", Wanted::Length, "Radius"),
    key("from", Wanted::Angle, "Angle at which it begins, in radians, counter-clockwise from the x axis"),
    key("to", Wanted::Angle, "Angle at which it ends, above `from` by less than a turn"),
    key("inside", Wanted::Flag, "Whether the body is inside"),
];

fn check(values: &Values) -> Option<Fault> {
    let turn = values.number("to") - values.number("from");
    if !values.have(&["from", "to"]) || (turn > 0.0 && turn < TAU) {
        return None;
    }
    let message = "an arc goes counter-clockwise, by less than a turn: `to` must be above `from` by less than 2 pi";
    let label = match turn > 0.0 {
        true => "a turn or more; take `circle` for a whole one".into(),
        false => format!("not above {}; add `2*pi` if it goes through the x axis", values.number("from")),
    };
    Some(Fault { key: "to", message: message.into(), label })
}

#[derive(Debug)]
struct Arc {
    centre: [f64; 2],
    radius: f64,
    from: f64,
    to: f64,
    inside: bool,
}

impl Arc {
    fn at(&self, angle: f64) -> [f64; 2] {
        let (sine, cosine) = angle.sin_cos();
        [self.centre[0] + self.radius * cosine, self.centre[1] + self.radius * sine]
    }

    fn ends(&self) -> [[f64; 2]; 2] {
        [self.at(self.from), self.at(self.to)]
    }

    fn face(&self) -> Surface {
        Surface::Round { centre: self.centre, radius: self.radius, inside: self.inside }
    }

    /// Distance from the circle, positive in front of it.
    fn height(&self, position: [f64; 2]) -> f64 {
        let outwards = direction(minus(position, self.centre)).0 - self.radius;
        if self.inside { -outwards } else { outwards }
    }

    /// The parts of a path, or of the line that continues it, that lead into the circle and out of it.
    fn crossings(&self, from: [f64; 2], to: [f64; 2]) -> Option<[f64; 2]> {
        // |from + s (to − from) − centre| = radius.
        let (away, way) = (minus(from, self.centre), minus(to, from));
        let (a, b, c) = (inner(way, way), inner(away, way), inner(away, away) - self.radius * self.radius);
        let square = b * b - a * c;
        // A path from one side to the other has a root, whatever rounding says.
        let misses = square < 0.0 && (self.height(from) >= 0.0) == (self.height(to) >= 0.0);
        let root = square.max(0.0).sqrt();
        (a > 0.0 && !misses).then(|| [-root, root].map(|root| (root - b) / a))
    }

    /// Whether the ray from the centre through a place meets the arc.
    fn faces(&self, place: [f64; 2]) -> bool {
        let [x, y] = minus(place, self.centre);
        (y.atan2(x) - self.from).rem_euclid(TAU) <= self.to - self.from
    }
}

impl Obstacle for Arc {
    fn points(&self) -> Vec<[f64; 2]> {
        // Its ends, and where it is farthest along an axis.
        let first = (self.from / FRAC_PI_2).ceil() as i64;
        let quarters = (first..first + 4).map(|k| k as f64 * FRAC_PI_2).filter(|&angle| angle < self.to);
        self.ends().into_iter().chain(quarters.map(|angle| self.at(angle))).collect()
    }

    fn outline(&self, _: &Window) -> Vec<Vec<[f64; 2]>> {
        let [from, to] = if self.inside { [self.from, self.to] } else { [self.to, self.from] };
        vec![round(self.centre, self.radius, from, to)]
    }

    fn facing(&self) -> Facing {
        Facing::ByPlace
    }

    fn surfaces(&self, position: [f64; 2], _: f64, see: &mut dyn FnMut(u32, Surface)) -> Region {
        let (faces, height) = (self.faces(position), self.height(position));
        if faces && height >= 0.0 {
            see(0, self.face());
            return Region::Front;
        }
        let [from, to] = self.ends();
        let [near, far] = [from, to].map(|end| direction(minus(position, end)).0);
        see(0, Surface::corner(if near <= far { from } else { to }));
        if faces { Region::Behind(-height) } else { Region::Beyond }
    }

    fn surfaces_behind(&self, _: [f64; 2], _: f64, see: &mut dyn FnMut(u32, Surface)) {
        see(0, self.face());
    }

    fn entry(&self, from: [f64; 2], to: [f64; 2]) -> Option<Entry> {
        if self.height(from) < 0.0 {
            return None;
        }
        let [into, out] = self.crossings(from, to)?;
        let part = if self.inside { out } else { into };
        let point = at_part(from, to, part);
        let meets = (0.0..=1.0).contains(&part) && self.faces(point);
        meets.then(|| Entry { part, normal: self.face().normal_at(point) })
    }

    fn transit(&self, from: [f64; 2], to: [f64; 2]) -> Transit {
        let [into, out] = self.crossings(from, to).unwrap_or([0.0, 1.0]);
        let part = if self.inside { 1.0 - out } else { out.min(1.0) - into };
        let margin = smaller_share(beside(from, to, self.points().into_iter()));
        Transit { part, leads_out: !self.inside && out <= 1.0, margin }
    }

    fn edges(&self, _: [f64; 2], _: f64, see: &mut dyn FnMut([f64; 2])) {
        self.ends().into_iter().for_each(see);
    }

    fn advice(&self, thickness: f64) -> Option<String> {
        if self.inside { too_thick("an arc", self.radius, thickness) } else { None }
    }
}
