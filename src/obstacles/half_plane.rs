//! A rigid plane that ends: beyond its end there is a corner.

use super::values::{Key, Wanted, key};
use super::{Entry, Facing, Obstacle, ObstacleKind, Region, Surface, Window, at_part, part_to_line};
use crate::plane::{inner, minus, tangent};
use std::sync::Arc;

pub(super) static KIND: ObstacleKind = ObstacleKind {
    name: "half_plane",
    summary: "Rigid half plane with an end",
    doc: "A rigid half plane; beyond its end there is a corner",
    keys: KEYS,
    in_one_dimension: false,
    searched: false,
    massless: false,
    check: |_| None,
    build: |values| {
        let normal = values.direction("normal").unwrap_or([1.0, 0.0]);
        let along = tangent(normal);
        // Only the side counts: what is given need not be square to the normal.
        let given = if values.have(&["direction"]) { inner(values.point("direction"), along) } else { 1.0 };
        let direction = along.map(|x| x.copysign(x * given));
        Arc::new(HalfPlane { point: values.point("point"), normal, direction })
    },
};

const KEYS: &[Key] = &[
    key("point", Wanted::Point, "Its end"),
    key("normal", Wanted::Direction, "Normal towards the body; its length does not matter"),
    key(
        "direction",
        Wanted::DirectionOrNone,
        "From the end along the surface; the normal turned clockwise unless given",
    ),
];

#[derive(Debug)]
struct HalfPlane {
    point: [f64; 2],
    normal: [f64; 2],
    /// Unit vector from the end along the surface.
    direction: [f64; 2],
}

impl HalfPlane {
    /// Coordinates from the end along the surface and along the normal.
    fn coordinates(&self, position: [f64; 2]) -> [f64; 2] {
        [self.direction, self.normal].map(|axis| inner(minus(position, self.point), axis))
    }

    fn face(&self) -> Surface {
        Surface::Straight { point: self.point, normal: self.normal }
    }
}

impl Obstacle for HalfPlane {
    fn points(&self) -> Vec<[f64; 2]> {
        vec![self.point]
    }

    fn outline(&self, window: &Window) -> Vec<Vec<[f64; 2]>> {
        let far = [0, 1].map(|k| self.point[k] + window.far() * self.direction[k]);
        let onwards = inner(self.direction, tangent(self.normal)) > 0.0;
        vec![if onwards { vec![self.point, far] } else { vec![far, self.point] }]
    }

    fn facing(&self) -> Facing {
        Facing::ByPlace
    }

    fn surfaces(&self, position: [f64; 2], _: f64, see: &mut dyn FnMut(u32, Surface)) -> Region {
        let [along, height] = self.coordinates(position);
        if along < 0.0 || height < 0.0 {
            see(0, Surface::corner(self.point));
        } else {
            see(0, self.face());
        }
        match along < 0.0 {
            true => Region::Beyond,
            false if height < 0.0 => Region::Behind(-height),
            false => Region::Front,
        }
    }

    fn surfaces_behind(&self, _: [f64; 2], _: f64, see: &mut dyn FnMut(u32, Surface)) {
        see(0, self.face());
    }

    fn entry(&self, from: [f64; 2], to: [f64; 2]) -> Option<Entry> {
        let [before, after] = [from, to].map(|position| self.coordinates(position)[1]);
        let part = part_to_line(before, after)?;
        (self.coordinates(at_part(from, to, part))[0] >= 0.0).then_some(Entry { part, normal: self.normal })
    }

    fn edges(&self, _: [f64; 2], _: f64, see: &mut dyn FnMut([f64; 2])) {
        see(self.point);
    }

    fn normal(&self) -> Option<[f64; 2]> {
        Some(self.normal)
    }
}
