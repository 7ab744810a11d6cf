//! A rigid polyline: the body is on its left, the solid on its right.
//!
//! The features of a polyline cover its neighbourhood: every position near it has at least one surface, (T135).

use super::values::{Fault, Key, Values, Wanted, key};
use super::{Facing, Obstacle, ObstacleKind, Surface, Window};
use crate::plane::{direction, inner, minus, quarter};
use std::sync::Arc;

#[cfg(test)]
mod tests;

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

/// Part of the size of a polyline below which two of its points are the same position.
const SAME: f64 = 1e-9;

/// Rounding of a distance in parts of that size and of the largest coordinate. A point that lies beside the line between its
/// neighbours by no more is no vertex.
const ROUNDING: [f64; 2] = [1e-13, 4.0 * f64::EPSILON];

/// How far a position behind a segment may be from a re-entrant neighbour of that segment, in parts of its depth, for
/// both to hold it.
const BOTH: f64 = 2.0;

fn check(values: &Values) -> Option<Fault> {
    let points = values.points("points");
    let k = (1..points.len()).find(|&k| points[k] == points[k - 1])?;
    let message = format!("points {k} and {} of the polyline are the same", k + 1);
    Some(Fault { key: "points", message, label: "a segment needs a length".into() })
}

#[derive(Debug)]
struct Polyline {
    /// All points as they were given.
    points: Vec<[f64; 2]>,
    /// Segment j goes from vertex j to the next one. Points between two segments of one line are no vertices.
    segments: Vec<Segment>,
    vertices: Vec<Vertex>,
    /// Length below which two positions are the same.
    tolerance: f64,
    /// Rounding of a distance.
    rounding: f64,
    /// Axis along which the polyline is longest, and the segments in the order of their lower ends there.
    axis: usize,
    lower: Vec<(f64, usize)>,
    /// Length of the longest segment along the axis.
    widest: f64,
}

#[derive(Debug)]
struct Segment {
    /// Vertices at its start and at its end.
    ends: [usize; 2],
    /// Unit vector from its start to its end.
    along: [f64; 2],
    length: f64,
}

#[derive(Debug)]
struct Vertex {
    point: [f64; 2],
    kind: VertexKind,
}

/// How the outline continues at a vertex, as the body on its left sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum VertexKind {
    /// It ends there.
    Free,
    /// The solid has an edge there; the unit vector is half way between the normals of both segments.
    Convex([f64; 2]),
    /// The body is in a hollow there.
    Reentrant,
}

/// Projection of a position on the line of a segment, (T135).
#[derive(Clone, Copy, Debug)]
struct Projection {
    /// Distance from the line of the segment, positive on its left.
    signed: f64,
    /// Distance by which the position lies beyond the start and beyond the end; not positive where it projects into the
    /// segment.
    beyond: [f64; 2],
    /// Distance from the nearest point of the segment.
    closest: f64,
}

/// What a vertex between two segments is, by their directions.
fn vertex_kind(before: [f64; 2], after: [f64; 2]) -> VertexKind {
    let (sine, cosine) = (inner(quarter(before), after), inner(before, after));
    // An outline that returns on itself is a solid without thickness.
    if sine > 0.0 && (cosine > 0.0 || sine > SAME) {
        return VertexKind::Reentrant;
    }
    // Of two formulas for the same direction the one that does not cancel.
    let [a, b] = [quarter(before), quarter(after)];
    let between = if cosine >= 0.0 { [a[0] + b[0], a[1] + b[1]] } else { minus(before, after) };
    VertexKind::Convex(direction(between).1)
}

/// The points of a polyline at which its direction changes, and both ends of an open one.
fn corners(points: &[[f64; 2]], closed: bool, rounding: f64) -> Vec<[f64; 2]> {
    let is_straight = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
        let (_, along) = direction(minus(c, a));
        inner(minus(b, a), minus(c, b)) > 0.0 && inner(quarter(along), minus(b, a)).abs() <= rounding
    };
    let distinct = if closed { &points[..points.len() - 1] } else { points };
    let mut kept: Vec<[f64; 2]> = Vec::with_capacity(distinct.len());
    for &point in distinct {
        while let [.., a, b] = kept[..]
            && is_straight(a, b, point)
        {
            kept.pop();
        }
        kept.push(point);
    }
    // A closed outline may begin and end within a straight part.
    let at = |kept: &[[f64; 2]], i: usize| kept[i % kept.len()];
    while closed && kept.len() > 2 {
        let n = kept.len();
        let straight = |i: usize| is_straight(at(&kept, i + n - 1), at(&kept, i), at(&kept, i + 1));
        let Some(i) = [n - 1, 0].into_iter().find(|&i| straight(i)) else { break };
        kept.remove(i);
    }
    kept
}

impl Polyline {
    fn new(points: Vec<[f64; 2]>) -> Polyline {
        let extent = |k: usize| {
            let along = points.iter().map(|p| p[k]);
            along.clone().fold(f64::NEG_INFINITY, f64::max) - along.fold(f64::INFINITY, f64::min)
        };
        let (axis, size) = (usize::from(extent(1) > extent(0)), extent(0).hypot(extent(1)));
        let closed = points.len() > 3 && points.first() == points.last();
        let largest = points.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
        let rounding = ROUNDING[0] * size + ROUNDING[1] * largest;
        let corners = corners(&points, closed, rounding);
        let count = corners.len();
        let pairs = (0..count - usize::from(!closed)).map(|j| [j, (j + 1) % count]);
        let segments: Vec<Segment> = pairs
            .map(|ends| {
                let (length, along) = direction(minus(corners[ends[1]], corners[ends[0]]));
                Segment { ends, along, length }
            })
            .collect();
        let kind = |i: usize| {
            let before = if closed { Some((i + count - 1) % count) } else { i.checked_sub(1) };
            let neighbours = before.zip(segments.get(i));
            neighbours.map_or(VertexKind::Free, |(j, after)| vertex_kind(segments[j].along, after.along))
        };
        let vertices: Vec<Vertex> =
            corners.iter().enumerate().map(|(i, &point)| Vertex { point, kind: kind(i) }).collect();
        let along_axis = |segment: &Segment| segment.ends.map(|i| corners[i][axis]);
        let mut lower: Vec<(f64, usize)> =
            segments.iter().map(along_axis).enumerate().map(|(j, [a, b])| (a.min(b), j)).collect();
        lower.sort_by(|a, b| a.0.total_cmp(&b.0));
        let widest = segments.iter().map(along_axis).map(|[a, b]| (b - a).abs()).fold(0.0, f64::max);
        Polyline { vertices, tolerance: SAME * size, rounding, axis, lower, widest, segments, points }
    }

    /// Segments that may be within `limit` of a position.
    fn near(&self, position: [f64; 2], limit: f64) -> impl Iterator<Item = (usize, Projection)> {
        let x = position[self.axis];
        let first = self.lower.partition_point(|&(low, _)| low < x - limit - self.widest);
        let near = self.lower[first..].iter().take_while(move |&&(low, _)| low <= x + limit);
        near.map(move |&(_, j)| (j, self.project(j, position))).filter(move |(_, on)| on.closest <= limit)
    }

    fn project(&self, j: usize, position: [f64; 2]) -> Projection {
        let Segment { ends, along, length } = self.segments[j];
        let offset = minus(position, self.vertices[ends[0]].point);
        let (s, signed) = (inner(offset, along), inner(offset, quarter(along)));
        let beyond = [-s, s - length];
        let past = beyond[0].max(beyond[1]).max(0.0);
        Projection { signed, beyond, closest: signed.hypot(past) }
    }

    fn line(&self, j: usize) -> Surface {
        let Segment { ends, along, .. } = self.segments[j];
        Surface::Straight { point: self.vertices[ends[0]].point, normal: quarter(along) }
    }

    fn vertex(&self, i: usize, position: [f64; 2]) -> Surface {
        let Vertex { point, kind } = self.vertices[i];
        match kind {
            // The direction from the vertex would be rounding.
            VertexKind::Convex(normal) if self.is_at(i, position) => Surface::Straight { point, normal },
            _ => Surface::corner(point),
        }
    }

    /// Whether a position is that of a vertex.
    fn is_at(&self, i: usize, position: [f64; 2]) -> bool {
        let away = minus(position, self.vertices[i].point);
        inner(away, away) <= self.tolerance * self.tolerance
    }

    /// By how much the region of a segment reaches beyond one of its ends. Where two regions border on each other by rounding,
    /// one of them has the position; in a hollow, both.
    fn margin(&self, vertex: usize) -> f64 {
        if let VertexKind::Convex(_) = self.vertices[vertex].kind { 0.0 } else { self.rounding }
    }

    /// Whether a position is beyond the region of segment `j` at its start and at its end.
    fn past(&self, j: usize, on: &Projection) -> [bool; 2] {
        [0, 1].map(|end| on.beyond[end] > self.margin(self.segments[j].ends[end]))
    }

    /// The segment that shares a vertex with segment `j`: the one before it at its start (0), the next one at its end (1).
    fn neighbour(&self, j: usize, end: usize) -> usize {
        let count = self.segments.len();
        (j + count + 2 * end - 1) % count
    }

    /// Hands over the surfaces in front of which a position is; returns the distance of the nearest one.
    fn in_front(&self, position: [f64; 2], limit: f64, see: &mut dyn FnMut(u32, Surface)) -> f64 {
        let mut nearest = f64::INFINITY;
        for (j, on) in self.near(position, limit) {
            let Segment { ends, .. } = self.segments[j];
            let kinds = ends.map(|i| self.vertices[i].kind);
            let edge = |end: usize| matches!(kinds[end], VertexKind::Convex(_));
            let at_edge = |end: usize| edge(end) && on.closest <= self.tolerance && self.is_at(ends[end], position);
            let past = self.past(j, &on);
            let vertex = if at_edge(0) || at_edge(1) {
                // Each vertex is handed over by the segment that starts there.
                nearest = 0.0;
                at_edge(0).then_some(ends[0])
            } else if past == [false; 2] {
                if on.signed >= -self.tolerance {
                    nearest = nearest.min(on.closest);
                    see(2 * j as u32, self.line(j));
                }
                None
            } else if past[0] && edge(0) {
                // Beyond both segments that meet there.
                let before = self.project(self.neighbour(j, 0), position);
                (before.beyond[1] > 0.0).then_some(ends[0])
            } else {
                [0, 1].into_iter().find(|&end| past[end] && kinds[end] == VertexKind::Free).map(|end| ends[end])
            };
            if let Some(i) = vertex {
                nearest = nearest.min(on.closest);
                see(2 * i as u32 + 1, self.vertex(i, position));
            }
        }
        nearest
    }

    /// Hands over the segments that hold a position behind them, whose nearest point of the polyline is `nearest` away.
    fn behind(&self, position: [f64; 2], nearest: f64, see: &mut dyn FnMut(u32, Surface)) {
        let mut hold = |j: usize| see(2 * j as u32, self.line(j));
        for (j, on) in self.near(position, nearest + self.tolerance) {
            let ends = self.segments[j].ends;
            let is_inside = self.past(j, &on) == [false; 2];
            for end in [0, 1].into_iter().filter(|&end| self.vertices[ends[end]].kind == VertexKind::Reentrant) {
                let k = self.neighbour(j, end);
                let other = self.project(k, position);
                let past = other.beyond[1 - end];
                if on.beyond[end] > 0.0 {
                    // Beyond both, behind the vertex: each of them, as a line that continues over it.
                    if past > 0.0 {
                        hold(j);
                    }
                } else if is_inside && other.beyond[end] <= 0.0 {
                    // Its line is never deeper than that of segment j here; only how far it ends before the position matters.
                    if past <= BOTH * -on.signed {
                        hold(k);
                    }
                }
            }
            if is_inside {
                hold(j);
            }
        }
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

    /// Segments have even numbers, vertices odd ones.
    fn surfaces(&self, position: [f64; 2], limit: f64, see: &mut dyn FnMut(u32, Surface)) {
        let front = self.in_front(position, limit, see);
        let nearest = self.near(position, limit.min(front)).map(|(_, on)| on.closest).fold(front, f64::min);
        if nearest < front - self.tolerance {
            self.behind(position, nearest, see);
        }
    }
}
