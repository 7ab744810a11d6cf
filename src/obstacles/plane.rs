//! A rigid plane.

use super::values::{Key, Wanted, key};
use super::{Facing, Obstacle, ObstacleKind, Region, Surface, Window};
use crate::plane::{inner, minus, tangent};
use std::sync::Arc;

pub(super) static KIND: ObstacleKind = ObstacleKind {
    name: "plane",
    summary: "Rigid plane",
    doc: "A rigid plane; the body stays on the side of the normal",
    keys: KEYS,
    in_one_dimension: true,
    searched: false,
    massless: true,
    check: |_| None,
    build: |values| {
        Arc::new(Plane { point: values.point("point"), normal: values.direction("normal").unwrap_or([1.0, 0.0]) })
    },
};

const KEYS: &[Key] = &[
    key("point", Wanted::Point, "A point of the plane"),
    key("normal", Wanted::Direction, "Normal towards the body; its length does not matter"),
];

#[derive(Debug)]
struct Plane {
    point: [f64; 2],
    normal: [f64; 2],
}

impl Obstacle for Plane {
    fn points(&self) -> Vec<[f64; 2]> {
        vec![self.point]
    }

    fn outline(&self, window: &Window) -> Vec<Vec<[f64; 2]>> {
        // Around the point that is nearest to the middle, wherever on the plane the given one is.
        let depth = inner(self.normal, minus(window.centre, self.point));
        let near = [0, 1].map(|k| window.centre[k] - depth * self.normal[k]);
        let along = tangent(self.normal);
        vec![[-1.0, 1.0].map(|side| [0, 1].map(|k| near[k] + side * window.far() * along[k])).to_vec()]
    }

    fn facing(&self) -> Facing {
        Facing::Always
    }

    fn surfaces(&self, _: [f64; 2], _: f64, see: &mut dyn FnMut(u32, Surface)) -> Region {
        see(0, Surface::Straight { point: self.point, normal: self.normal });
        Region::Front
    }

    fn normal(&self) -> Option<[f64; 2]> {
        Some(self.normal)
    }
}
