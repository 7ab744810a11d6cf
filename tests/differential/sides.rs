//! On which side of what it may touch a node is, from step to step: (T136), by brute force.
//!
//! A node behind a surface was pushed through it or came around its end, which its position does not tell. So the side is
//! kept, and given up beyond an end.

use super::obstacles::{cross, dot, minus, norm};
use std::collections::BTreeMap;

/// Sides by contact, node and body; that of a rigid obstacle is body zero: 1 in front or held, −1 behind and free.
pub type Sides = BTreeMap<[usize; 3], f64>;

/// Where a position is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Where {
    Front,
    Behind,
    /// Beyond an end, which is the nearest point.
    Beyond,
}

/// Sine of an angle that counts as none.
const STRAIGHT: f64 = 1e-9;

/// Where a position is beside a line of points, seen from its left, and how far; `free` says that its ends are free.
pub fn beside(points: &[[f64; 2]], place: [f64; 2]) -> (Where, f64) {
    let last = points.len() - 2;
    let way = |j: usize| minus(points[j + 1], points[j]);
    let part = |j: usize| (dot(way(j), minus(place, points[j])) / dot(way(j), way(j))).clamp(0.0, 1.0);
    let point = |j: usize| [0, 1].map(|k| points[j][k] + part(j) * way(j)[k]);
    let far = |j: usize| norm(minus(place, point(j)));
    let j = (0..=last).min_by(|&a, &b| far(a).total_cmp(&far(b))).unwrap();
    let left = cross(way(j), minus(place, points[j]));
    let side = |left: f64| if left >= 0.0 { Where::Front } else { Where::Behind };
    let corner = if part(j) == 0.0 { Some(j) } else { (part(j) == 1.0).then_some(j + 1) };
    let found = match corner {
        Some(i) if i == 0 || i == last + 1 => Where::Beyond,
        Some(i) => {
            let turn = cross(way(i - 1), way(i)) / (norm(way(i - 1)) * norm(way(i)));
            if turn.abs() <= STRAIGHT { side(left) } else { side(-turn) }
        }
        None => side(left),
    };
    (found, far(j))
}

/// Whether a path leads through a line of points from its left.
pub fn leads_through(points: &[[f64; 2]], from: [f64; 2], to: [f64; 2]) -> bool {
    points.windows(2).any(|ends| {
        let way = minus(ends[1], ends[0]);
        let [before, after] = [from, to].map(|p| cross(way, minus(p, ends[0])));
        let part = before / (before - after);
        let at = [0, 1].map(|k| from[k] + part * (to[k] - from[k]));
        let along = dot(way, minus(at, ends[0])) / dot(way, way);
        before >= 0.0 && after < 0.0 && (0.0..=1.0).contains(&along)
    })
}

/// The side of a node at a rigid obstacle: `places` at the start, at the middle and at the end of a step, `known` the side in the
/// step before, `first` that there was none.
pub fn at_obstacle(
    places: [[f64; 2]; 3],
    known: Option<f64>,
    first: bool,
    whereabouts: &dyn Fn([f64; 2]) -> Where,
    through: &dyn Fn([f64; 2], [f64; 2]) -> bool,
) -> Option<f64> {
    let [start, middle, end] = places;
    let sign = |held: bool| Some(if held { 1.0 } else { -1.0 });
    match (whereabouts(middle), whereabouts(start), whereabouts(end)) {
        (Where::Front, ..) | (Where::Behind, Where::Front, _) => sign(true),
        (Where::Behind, Where::Behind, _) => sign(known.map_or(first, |side| side > 0.0)),
        (Where::Behind, Where::Beyond, _) => sign(through(start, middle)),
        (Where::Beyond, _, Where::Front) => sign(true),
        (Where::Beyond, _, Where::Behind) => sign(through(start, end)),
        (Where::Beyond, _, Where::Beyond) => None,
    }
}

/// The side of a node at a thick body with this line of nodes, at the start and at the middle of a step: 1 on its left.
pub fn at_body(places: [[f64; 2]; 2], lines: [&[[f64; 2]]; 2], known: Option<f64>) -> f64 {
    let seen = |k: usize, side: f64| {
        let mut points = lines[k].to_vec();
        if side < 0.0 {
            points.reverse();
        }
        beside(&points, places[k]).0
    };
    // Beyond an end: the side of the line that ends there.
    let left_of_end = |k: usize| {
        let points = lines[k];
        let last = points.len() - 1;
        let far = [0, last].map(|i| norm(minus(places[k], points[i])));
        let ends = if far[0] < far[1] { [points[0], points[1]] } else { [points[last - 1], points[last]] };
        cross(minus(ends[1], ends[0]), minus(places[k], ends[0]))
    };
    let side = known.unwrap_or_else(|| match seen(0, 1.0) {
        Where::Front => 1.0,
        Where::Behind => -1.0,
        Where::Beyond => left_of_end(0).signum(),
    });
    if seen(1, side) != Where::Behind || seen(0, side) != Where::Beyond {
        return side;
    }
    // From beyond an end to behind the body: around it, unless the path leads through a segment.
    let around = side * left_of_end(0) < 0.0 || {
        let through = (0..lines[0].len() - 1).any(|j| through_segment(places, lines, (j, side), 1.0).is_some());
        !through
    };
    if around { -side } else { side }
}

/// Whether the path of a node leads from one side through segment j, the node and the line as they move from the start of a step (0) over
/// its middle (1) to `last`; if so, whether the node is behind the segment at the middle.
pub fn through_segment(
    places: [[f64; 2]; 2],
    lines: [&[[f64; 2]]; 2],
    (j, side): (usize, f64),
    last: f64,
) -> Option<bool> {
    let moved = |s: f64, [a, b]: [[f64; 2]; 2]| [0, 1].map(|k| a[k] + s * (b[k] - a[k]));
    let left = |s: f64| {
        let [a, b] = [j, j + 1].map(|i| moved(s, [lines[0][i], lines[1][i]]));
        let at = moved(s, places);
        (side * cross(minus(b, a), minus(at, a)), dot(minus(b, a), minus(at, a)) / dot(minus(b, a), minus(b, a)))
    };
    let [mut low, mut high] = [0.0, last];
    if left(low).0 < 0.0 || left(high).0 >= 0.0 {
        return None;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if left(middle).0 >= 0.0 { low = middle } else { high = middle }
    }
    (0.0..=1.0).contains(&left(low).1).then(|| left(1.0).0 < 0.0)
}
