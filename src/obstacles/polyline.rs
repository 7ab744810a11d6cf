//! A rigid polyline: the body is on its left, the solid on its right.

use super::values::{Fault, Key, Values, Wanted, key};
use super::{Facing, Obstacle, ObstacleKind, Surface, Window};
use crate::plane::{direction, inner, minus};
use std::sync::Arc;

pub(super) static KIND: ObstacleKind = ObstacleKind {
    name: "polyline",
    summary: "Rigid polyline",
    doc: "A rigid polyline; the body is on its left",
    keys: KEYS,
    in_one_dimension: false,
    searched: true,
    massless: false,
    check,
    build: |values| Arc::new(Polyline::new(values.points("points"))),
};

const KEYS: &[Key] = &[key("points", Wanted::Points, "Corner points")];

/// Surfaces of a polyline that one place may touch at once; more are not near one node.
const MOST_AT_ONCE: usize = 8;

fn check(values: &Values) -> Option<Fault> {
    let points = values.points("points");
    let k = (1..points.len()).find(|&k| points[k] == points[k - 1])?;
    let message = format!("points {k} and {} of the polyline are the same", k + 1);
    Some(Fault { key: "points", message, label: "a segment needs a length".into() })
}

#[derive(Debug)]
struct Polyline {
    points: Vec<[f64; 2]>,
    closed: bool,
    /// Axis along which it is longest, and the segments in the order of their lower ends there.
    axis: usize,
    lower: Vec<(f64, usize)>,
    /// Length of the longest segment along the axis.
    widest: f64,
}

/// Which part of a segment is nearest.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Feature {
    Inside,
    Start,
    End,
}

struct Near {
    feature: Feature,
    /// Distance from the line, positive on the left.
    signed: f64,
    /// Distance from the nearest point of the segment.
    closest: f64,
}

impl Polyline {
    fn new(points: Vec<[f64; 2]>) -> Polyline {
        let extent = |k: usize| {
            let along = points.iter().map(|p| p[k]);
            along.clone().fold(f64::NEG_INFINITY, f64::max) - along.fold(f64::INFINITY, f64::min)
        };
        let axis = usize::from(extent(1) > extent(0));
        let ends = |pair: &[[f64; 2]]| [pair[0][axis], pair[1][axis]];
        let mut lower: Vec<(f64, usize)> =
            points.windows(2).map(ends).enumerate().map(|(j, [a, b])| (a.min(b), j)).collect();
        lower.sort_by(|a, b| a.0.total_cmp(&b.0));
        let widest = points.windows(2).map(ends).map(|[a, b]| (b - a).abs()).fold(0.0, f64::max);
        let closed = points.len() > 3 && points.first() == points.last();
        Polyline { points, closed, axis, lower, widest }
    }

    fn segments(&self) -> usize {
        self.points.len() - 1
    }

    /// Segments that may be within `limit` of a place.
    fn near(&self, place: [f64; 2], limit: f64) -> impl Iterator<Item = usize> {
        let x = place[self.axis];
        let first = self.lower.partition_point(|&(low, _)| low < x - limit - self.widest);
        self.lower[first..].iter().take_while(move |&&(low, _)| low <= x + limit).map(|&(_, j)| j)
    }

    fn straight(&self, j: usize) -> Surface {
        let [a, b] = [self.points[j], self.points[j + 1]];
        let (_, along) = direction(minus(b, a));
        Surface::Straight { point: a, normal: [-along[1], along[0]] }
    }

    fn measure(&self, j: usize, place: [f64; 2]) -> Near {
        let [a, b] = [self.points[j], self.points[j + 1]];
        let (length, along) = direction(minus(b, a));
        let offset = minus(place, a);
        let s = inner(offset, along);
        let signed = offset[1] * along[0] - offset[0] * along[1];
        let (feature, closest) = if s <= 0.0 {
            (Feature::Start, direction(offset).0)
        } else if s >= length {
            (Feature::End, direction(minus(place, b)).0)
        } else {
            (Feature::Inside, signed.abs())
        };
        Near { feature, signed, closest }
    }

    fn previous(&self, j: usize) -> Option<usize> {
        if j > 0 { Some(j - 1) } else { self.closed.then(|| self.segments() - 1) }
    }

    fn is_last(&self, j: usize) -> bool {
        !self.closed && j + 1 == self.segments()
    }

    /// Turn from one segment to another, positive to the left.
    fn turn(&self, from: usize, to: usize) -> f64 {
        let [a, b] = [from, to].map(|j| direction(minus(self.points[j + 1], self.points[j])).1);
        a[0] * b[1] - a[1] * b[0]
    }

    /// Whether the start of segment `j` is what a place beyond it touches: a free end, or a corner that sticks out.
    fn is_corner(&self, j: usize, place: [f64; 2]) -> bool {
        match self.previous(j) {
            None => true,
            Some(before) => self.turn(before, j) < 0.0 && self.measure(before, place).feature == Feature::End,
        }
    }

    /// Whether segment `j` forms a hollow with a neighbour that is the nearest of all.
    fn hollow_with_nearest(&self, j: usize, place: [f64; 2], best: f64) -> bool {
        let next = if j + 1 < self.segments() { Some(j + 1) } else { self.closed.then_some(0) };
        let before = self.previous(j).filter(|&k| self.turn(k, j) > 0.0);
        let next = next.filter(|&k| self.turn(j, k) > 0.0);
        [before, next].into_iter().flatten().any(|k| self.measure(k, place).closest == best)
    }
}

impl Obstacle for Polyline {
    fn points(&self) -> Vec<[f64; 2]> {
        self.points.clone()
    }

    fn outline(&self, _: &Window) -> Vec<Vec<[f64; 2]>> {
        vec![self.points.clone()]
    }

    fn facing(&self) -> Facing {
        Facing::Several
    }

    fn surfaces(&self, place: [f64; 2], limit: f64, see: &mut dyn FnMut(u32, Surface)) {
        let mut nearest = f64::INFINITY;
        let mut count = 0;
        // Segments have even numbers, their starts odd ones.
        let mut add = |feature: usize| {
            if count < MOST_AT_ONCE {
                count += 1;
                let corner = || Surface::corner(self.points[feature / 2]);
                see(feature as u32, if feature.is_multiple_of(2) { self.straight(feature / 2) } else { corner() });
            }
        };
        for j in self.near(place, limit) {
            let near = self.measure(j, place);
            if near.closest > limit {
                continue;
            }
            nearest = nearest.min(near.closest);
            match near.feature {
                // In front of a segment: it can be touched, whatever else is near.
                Feature::Inside if near.signed >= 0.0 => add(2 * j),
                Feature::Inside => {}
                Feature::Start if self.is_corner(j, place) => add(2 * j + 1),
                Feature::End if self.is_last(j) => add(2 * j + 3),
                Feature::Start | Feature::End => {}
            }
        }
        // Behind the polyline: the nearest segment, and with it the next one where they form a hollow.
        for j in self.near(place, limit) {
            let near = self.measure(j, place);
            if near.feature == Feature::Inside
                && near.signed < 0.0
                && near.closest <= limit
                && (near.closest == nearest || self.hollow_with_nearest(j, place, nearest))
            {
                add(2 * j);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes around a step with a corner that sticks out and one that is hollow; the solid is on the right.
    #[test]
    fn a_polyline_is_touched_where_it_is_seen() {
        let line = Polyline::new(vec![[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [2.0, 0.0]]);
        let inside = |j: usize, place: [f64; 2]| line.measure(j, place).feature == Feature::Inside;
        assert!(inside(0, [0.5, 1.2]) && line.measure(0, [0.5, 1.2]).signed > 0.0);
        // Above right of the edge: the corner, from both segments' ends.
        assert!(line.is_corner(1, [1.1, 1.1]) && !inside(0, [1.1, 1.1]) && !inside(1, [1.1, 1.1]));
        // In the hollow both segments are in front.
        assert!(inside(1, [1.1, 0.1]) && inside(2, [1.1, 0.1]));
        assert!(line.turn(0, 1) < 0.0 && line.turn(1, 2) > 0.0);
        // Just below the top, near the edge: the top is nearest; the side does not form a hollow with it.
        let place = [0.9, 0.999];
        assert!(!line.hollow_with_nearest(1, place, line.measure(0, place).closest));
    }

    /// Segments that are near are those that a look at all of them finds.
    #[test]
    fn no_segment_within_reach_is_missed() {
        let mut seed: u64 = 11;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64
        };
        let line = Polyline::new((0..300).map(|_| [3.0 * random(), random()]).collect());
        for _ in 0..200 {
            let (place, limit) = ([3.0 * random(), random()], 0.1 * random());
            let found: Vec<usize> = line.near(place, limit).collect();
            let wanted = (0..line.segments()).filter(|&j| line.measure(j, place).closest <= limit);
            assert!(wanted.into_iter().all(|j| found.contains(&j)));
        }
    }
}
