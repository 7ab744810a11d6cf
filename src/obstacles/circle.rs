//! A rigid circle: a peg, or from inside a bowl.

use super::values::{Key, Wanted, key};
use super::{Facing, Obstacle, ObstacleKind, Region, Surface, Window, round, too_thick};
use std::f64::consts::TAU;
use std::sync::Arc;

pub(super) static KIND: ObstacleKind = ObstacleKind {
    name: "circle",
    summary: "Rigid circle",
    doc: "A rigid circle",
    keys: KEYS,
    in_one_dimension: false,
    searched: false,
    massless: true,
    check: |_| None,
    build: |values| {
        let (centre, radius) = (values.point("centre"), values.number("radius"));
        Arc::new(Circle { centre, radius, inside: values.flag("inside") })
    },
};

const KEYS: &[Key] = &[
    key("centre", Wanted::Point, "Centre"),
    key("radius", Wanted::Length, "Radius"),
    key("inside", Wanted::Flag, "Whether the body is inside"),
];

#[derive(Debug)]
struct Circle {
    centre: [f64; 2],
    radius: f64,
    inside: bool,
}

impl Obstacle for Circle {
    fn points(&self) -> Vec<[f64; 2]> {
        let ([x, y], radius) = (self.centre, self.radius);
        vec![[x - radius, y - radius], [x + radius, y + radius]]
    }

    fn outline(&self, _: &Window) -> Vec<Vec<[f64; 2]>> {
        let mut points = round(self.centre, self.radius, 0.0, if self.inside { TAU } else { -TAU });
        // Closed to the bit.
        points.pop();
        points.push(points[0]);
        vec![points]
    }

    fn facing(&self) -> Facing {
        Facing::Always
    }

    fn surfaces(&self, _: [f64; 2], _: f64, see: &mut dyn FnMut(u32, Surface)) -> Region {
        see(0, Surface::Round { centre: self.centre, radius: self.radius, inside: self.inside });
        Region::Front
    }

    fn advice(&self, thickness: f64) -> Option<String> {
        if self.inside { too_thick("a circle", self.radius, thickness) } else { None }
    }
}
