//! Rigid obstacles: one file each, and one line in [`OBSTACLES`].
//!
//! A file declares the keys of its obstacle with their documentation, checks what a case says, builds the obstacle, draws
//! its outline and tells which surfaces a place may touch. The case file, its reference page and schema, `carom list`,
//! the model, the search, the report and the ParaView files all read this one registry. Nothing here knows a case, a
//! model, nodes or time.

mod arc;
mod circle;
mod half_plane;
mod plane;
mod polyline;
mod values;

pub use crate::contour::Region;
pub use values::{Fault, Key, Value, Values, Wanted};

use crate::plane::{direction, inner, minus, quarter};
use std::f64::consts::PI;
use std::fmt::Debug;
use std::sync::Arc;

/// Every obstacle, in the order of the documentation.
pub const OBSTACLES: &[&ObstacleKind] = &[&plane::KIND, &half_plane::KIND, &circle::KIND, &arc::KIND, &polyline::KIND];

/// What one kind of obstacle declares.
pub struct ObstacleKind {
    /// Key of `[[contact]]` that gives it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    /// What the body may do there; a sentence without its full stop.
    pub doc: &'static str,
    /// Keys of its table.
    pub keys: &'static [Key],
    /// Whether it makes sense in one dimension too.
    pub in_one_dimension: bool,
    /// Whether a node may touch several of its surfaces at once: they come and go with the steps, which statics has not.
    pub searched: bool,
    /// Whether nodes that touch it may be massless.
    pub massless: bool,
    /// What is wrong between values that are each as they should be.
    pub check: fn(&Values) -> Option<Fault>,
    /// Makes it from checked values.
    pub build: fn(&Values) -> Arc<dyn Obstacle>,
}

/// The kind of a name.
pub fn find(name: &str) -> Option<&'static ObstacleKind> {
    OBSTACLES.iter().copied().find(|kind| kind.name == name)
}

/// A rigid thing that nodes may touch, at rest; its motion is a displacement that its user takes off the places.
pub trait Obstacle: Debug + Send + Sync {
    /// Points that belong to the size of the model.
    fn points(&self) -> Vec<[f64; 2]>;

    /// Lines to draw, with the body on their left and the solid on their right; closed where the last point is the first.
    fn outline(&self, window: &Window) -> Vec<Vec<[f64; 2]>>;

    /// How many surfaces a place may touch.
    fn facing(&self) -> Facing;

    /// Hands over the surfaces in front of which a position within `limit` of them is, each with a number of its own: exactly
    /// one, whatever the limit, unless there may be several. Returns where the position is. An obstacle without free ends has
    /// one surface for all positions and calls all of them in front.
    fn surfaces(&self, position: [f64; 2], limit: f64, see: &mut dyn FnMut(u32, Surface)) -> Region;

    /// Hands over the surfaces that hold a position behind them, whose nearest point of the obstacle is `nearest` away.
    fn surfaces_behind(&self, _position: [f64; 2], _nearest: f64, _see: &mut dyn FnMut(u32, Surface)) {}

    /// Where a straight path first leads through the surface, from the front to behind it; none for obstacles without free ends.
    fn entry(&self, _from: [f64; 2], _to: [f64; 2]) -> Option<Entry> {
        None
    }

    /// Where a path that leads through the surface runs behind it.
    fn transit(&self, _from: [f64; 2], _to: [f64; 2]) -> Transit {
        Transit { part: 1.0, leads_out: false, margin: 0.0 }
    }

    /// Hands over the convex vertices and free ends within `limit` of a position.
    fn edges(&self, _position: [f64; 2], _limit: f64, _see: &mut dyn FnMut([f64; 2])) {}

    /// Half of the distance from where a position is in front of or behind a surface of this number straight through the solid to its other
    /// side; infinite if that is farther than `limit` or does not exist.
    fn half_thickness(&self, _number: u32, _position: [f64; 2], _limit: f64) -> f64 {
        f64::INFINITY
    }

    /// Its normal, where it has only one.
    fn normal(&self) -> Option<[f64; 2]> {
        None
    }

    /// What may not be meant by a body of such a thickness.
    fn advice(&self, _thickness: f64) -> Option<String> {
        None
    }
}

/// How many surfaces of an obstacle a place may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Facing {
    /// One, the same for all places.
    Always,
    /// One, which depends on the place.
    ByPlace,
    /// None, one or several.
    Several,
}

/// A piece of an obstacle with a gap of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Surface {
    /// A straight line.
    Straight {
        /// A point of it.
        point: [f64; 2],
        /// Unit normal towards the body.
        normal: [f64; 2],
    },
    /// A circle, from outside or from inside; of radius zero it is a corner.
    Round {
        /// Its centre.
        centre: [f64; 2],
        /// Its radius.
        radius: f64,
        /// Whether the body is inside.
        inside: bool,
    },
}

/// Where a path leads through a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The part of the path up to there.
    pub part: f64,
    /// Unit normal of the surface there, towards the front.
    pub normal: [f64; 2],
}

/// A path behind a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transit {
    /// The part of the path that lies behind the surface.
    pub part: f64,
    /// Whether the path leads through the surface again, back to the front.
    pub leads_out: bool,
    /// By how much the path passes the nearest edge of the obstacle, in parts of the size that the obstacle has across the path; zero
    /// for an obstacle without end.
    pub margin: f64,
}

impl Surface {
    /// A corner.
    pub fn corner(centre: [f64; 2]) -> Surface {
        Surface::Round { centre, radius: 0.0, inside: false }
    }

    /// Its unit normal at the point that is nearest to a position.
    pub fn normal_at(&self, position: [f64; 2]) -> [f64; 2] {
        match *self {
            Surface::Straight { normal, .. } => normal,
            Surface::Round { centre, inside, .. } => {
                let (_, away) = direction(minus(position, centre));
                if inside { away.map(|x| -x) } else { away }
            }
        }
    }
}

/// What a picture shows: obstacles without end are drawn well beyond it.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Its middle.
    pub centre: [f64; 2],
    /// Its size.
    pub size: f64,
}

impl Window {
    /// How far lines without end are drawn from where they begin.
    fn far(&self) -> f64 {
        4.0 * self.size
    }
}

/// The part of a path from the distance `before` in front of a line to the distance `after` behind it that leads to the line; none if
/// it does not lead through.
fn part_to_line(before: f64, after: f64) -> Option<f64> {
    (before >= 0.0 && after < 0.0).then(|| before / (before - after))
}

/// The point at a part of a straight path.
fn at_part(from: [f64; 2], to: [f64; 2], part: f64) -> [f64; 2] {
    [0, 1].map(|k| from[k] + part * (to[k] - from[k]))
}

/// The larger distances of points from the line of a path, on its left and on its right.
fn beside(from: [f64; 2], to: [f64; 2], points: impl Iterator<Item = [f64; 2]>) -> [f64; 2] {
    let (_, along) = direction(minus(to, from));
    points.fold([0.0; 2], |[left, right]: [f64; 2], point| {
        let side = inner(quarter(along), minus(point, from));
        [left.max(side), right.max(-side)]
    })
}

/// The smaller of two distances, in parts of their sum.
fn smaller_share([one, two]: [f64; 2]) -> f64 {
    if one + two > 0.0 { one.min(two) / (one + two) } else { 0.0 }
}

/// Points of an arc, close enough to look round.
fn round(centre: [f64; 2], radius: f64, from: f64, to: f64) -> Vec<[f64; 2]> {
    let pieces = ((to - from).abs() / (PI / 60.0)).ceil().max(1.0) as usize;
    let at = |k: usize| (from + (to - from) * k as f64 / pieces as f64).sin_cos();
    (0..=pieces).map(at).map(|(sine, cosine)| [centre[0] + radius * cosine, centre[1] + radius * sine]).collect()
}

/// A body too thick for the hollow that it is to lie in.
fn too_thick(what: &str, radius: f64, thickness: f64) -> Option<String> {
    let text =
        || format!("a body of radius {thickness} does not fit into {what} of radius {radius}, which it is inside of");
    (thickness >= radius).then(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One obstacle of each kind, and where to look at it.
    fn samples() -> Vec<Arc<dyn Obstacle>> {
        let value = |text: &str| serde_json::from_str::<Values>(text).unwrap();
        let cases = [
            ("plane", r#"{ "point": [0.1, 0.2], "normal": [0.6, 0.8] }"#),
            ("half_plane", r#"{ "point": [0.1, 0.2], "normal": [0.6, 0.8] }"#),
            ("half_plane", r#"{ "point": [0.1, 0.2], "normal": [0.6, 0.8], "direction": [-1.0, 0.0] }"#),
            ("circle", r#"{ "centre": [0.1, -0.2], "radius": 0.7, "inside": false }"#),
            ("circle", r#"{ "centre": [0.1, -0.2], "radius": 0.7, "inside": true }"#),
            ("arc", r#"{ "centre": [0.1, -0.2], "radius": 0.7, "from": -2.0, "to": 1.0, "inside": false }"#),
            ("arc", r#"{ "centre": [0.1, -0.2], "radius": 0.7, "from": 3.0, "to": 8.0, "inside": true }"#),
            ("polyline", r#"{ "points": [[-1.0, 0.5], [0.0, 0.0], [1.0, 0.5], [1.0, -1.0]] }"#),
            ("polyline", r#"{ "points": [[-1.0, 0.5], [1.0, 0.5], [0.0, -1.0], [-1.0, 0.5]] }"#),
        ];
        for kind in OBSTACLES {
            assert!(cases.iter().any(|(name, _)| *name == kind.name), "no sample of `{}`", kind.name);
        }
        cases
            .iter()
            .map(|(name, text)| {
                let (kind, values) = (find(name).unwrap(), value(text));
                assert!((kind.check)(&values).is_none(), "{name}");
                (kind.build)(&values)
            })
            .collect()
    }

    /// All surfaces of a position that is held where it is behind the obstacle.
    pub(super) fn all_surfaces(obstacle: &dyn Obstacle, position: [f64; 2], limit: f64) -> Vec<(u32, Surface)> {
        let mut found = Vec::new();
        let region = obstacle.surfaces(position, limit, &mut |number, surface| found.push((number, surface)));
        if let Region::Behind(nearest) = region {
            if obstacle.facing() == Facing::ByPlace {
                found.clear();
            }
            obstacle.surfaces_behind(position, nearest, &mut |number, surface| found.push((number, surface)));
        }
        found
    }

    fn distance(surface: &Surface, place: [f64; 2]) -> f64 {
        match *surface {
            Surface::Straight { point, normal } => inner(normal, minus(place, point)),
            Surface::Round { centre, radius, inside } => {
                let away = direction(minus(place, centre)).0 - radius;
                if inside { -away } else { away }
            }
        }
    }

    /// Distance of a place from the lines of an outline, and whether it is on their left.
    fn from_outline(lines: &[Vec<[f64; 2]>], place: [f64; 2]) -> (f64, bool) {
        let pieces = lines.iter().flat_map(|line| line.windows(2));
        let near = pieces.map(|ends| {
            let (length, along) = direction(minus(ends[1], ends[0]));
            let offset = minus(place, ends[0]);
            let s = inner(offset, along).clamp(0.0, length);
            let nearest = [ends[0][0] + s * along[0], ends[0][1] + s * along[1]];
            (direction(minus(place, nearest)).0, along[0] * offset[1] - along[1] * offset[0] > 0.0)
        });
        near.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
    }

    /// What is drawn is what is touched: wherever a node is in front, its least gap is its distance from the outline, which
    /// has it on its left.
    #[test]
    fn outlines_are_where_the_gaps_are() {
        let mut seed: u64 = 7;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let window = Window { centre: [0.0; 2], size: 3.0 };
        for obstacle in samples() {
            let lines = obstacle.outline(&window);
            let mut front = 0;
            for _ in 0..400 {
                let place = [3.0 * random(), 3.0 * random()];
                let found = all_surfaces(obstacle.as_ref(), place, 10.0);
                let surfaces: Vec<Surface> = found.into_iter().map(|(_, surface)| surface).collect();
                assert!(obstacle.facing() == Facing::Several || surfaces.len() == 1);
                let least = surfaces.iter().map(|surface| distance(surface, place)).fold(f64::INFINITY, f64::min);
                // Behind an open line, or where nothing can be touched, the picture says nothing.
                if least < 1e-3 || !least.is_finite() {
                    continue;
                }
                let (drawn, left) = from_outline(&lines, place);
                if obstacle.facing() == Facing::Several && !left {
                    continue;
                }
                let corner = surfaces.iter().any(|s| matches!(s, Surface::Round { radius, .. } if *radius == 0.0));
                assert!((drawn - least).abs() < 1.5e-3, "{obstacle:?} at {place:?}: drawn {drawn}, gap {least}");
                assert!(left || corner, "{obstacle:?} at {place:?} has the body on its right");
                front += 1;
            }
            assert!(front > 50, "{obstacle:?}: {front}");
            let size = |p: &[f64; 2]| p[0].abs().max(p[1].abs());
            assert!(obstacle.points().iter().all(|point| size(point) < 2.0), "{obstacle:?}");
        }
    }
}
