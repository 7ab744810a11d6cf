//! A rigid polyline: the body is on its left, the solid on its right.
//!
//! The features of a polyline cover its neighbourhood: every position near it has at least one surface, (T135).

use super::values::{Fault, Key, Values, Wanted, key};
use super::{
    Entry, Facing, Obstacle, ObstacleKind, Surface, Transit, Window, at_part, beside, part_to_line, smaller_share,
};
use crate::contour::{self, Contour, Feature, Projection, Region, VertexKind};
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
    /// Unit vector half way between the normals of both segments, at a convex vertex.
    normal: [f64; 2],
}

/// What a vertex between two segments is, by their directions, and the unit vector half way between their normals.
fn vertex_kind(before: [f64; 2], after: [f64; 2]) -> (VertexKind, [f64; 2]) {
    let (sine, cosine) = (inner(quarter(before), after), inner(before, after));
    // An outline that returns on itself is a solid without thickness.
    let is_reentrant = sine > 0.0 && (cosine > 0.0 || sine > SAME);
    // Of two formulas for the same direction the one that does not cancel.
    let [a, b] = [quarter(before), quarter(after)];
    let between = if cosine >= 0.0 { [a[0] + b[0], a[1] + b[1]] } else { minus(before, after) };
    (if is_reentrant { VertexKind::Reentrant } else { VertexKind::Convex }, direction(between).1)
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
            neighbours.map_or((VertexKind::Free, [0.0; 2]), |(j, after)| vertex_kind(segments[j].along, after.along))
        };
        let vertex = |(i, &point): (usize, &[f64; 2])| {
            let (kind, normal) = kind(i);
            Vertex { point, kind, normal }
        };
        let vertices: Vec<Vertex> = corners.iter().enumerate().map(vertex).collect();
        let along_axis = |segment: &Segment| segment.ends.map(|i| corners[i][axis]);
        let mut lower: Vec<(f64, usize)> =
            segments.iter().map(along_axis).enumerate().map(|(j, [a, b])| (a.min(b), j)).collect();
        lower.sort_by(|a, b| a.0.total_cmp(&b.0));
        let widest = segments.iter().map(along_axis).map(|[a, b]| (b - a).abs()).fold(0.0, f64::max);
        Polyline { vertices, tolerance: SAME * size, rounding, axis, lower, widest, segments, points }
    }

    /// The part of a path that first leads through a segment from its front, and the segment.
    fn first_entry(&self, from: [f64; 2], to: [f64; 2]) -> Option<(f64, usize)> {
        self.first_crossing(from, to, 1.0, 0.0)
    }

    /// The part of a path that leads out in front of a segment first after the part `after`, and the segment.
    fn first_exit(&self, from: [f64; 2], to: [f64; 2], after: f64) -> Option<(f64, usize)> {
        self.first_crossing(from, to, -1.0, after)
    }

    /// The first part of a path, not below `after`, that leads through a segment: from the front (1) or from behind (−1).
    fn first_crossing(&self, from: [f64; 2], to: [f64; 2], side: f64, after: f64) -> Option<(f64, usize)> {
        let mut first: Option<(f64, usize)> = None;
        self.each_near(from, direction(minus(to, from)).0, &mut |j, start| {
            let end = self.project(j, to);
            let Some(part) = part_to_line(side * start.signed, side * end.signed) else { return };
            let on = self.project(j, at_part(from, to, part));
            let is_inside = on.beyond.iter().all(|&beyond| beyond <= self.rounding);
            if is_inside && part >= after && first.is_none_or(|(earlier, _)| part < earlier) {
                first = Some((part, j));
            }
        });
        first
    }

    fn line(&self, j: usize) -> Surface {
        let Segment { ends, along, .. } = self.segments[j];
        Surface::Straight { point: self.vertices[ends[0]].point, normal: quarter(along) }
    }

    fn vertex(&self, j: usize, end: usize, position: [f64; 2]) -> (u32, Surface) {
        let i = self.segments[j].ends[end];
        let Vertex { point, kind, normal } = self.vertices[i];
        // The direction from a vertex to itself would be rounding.
        let is_at = kind == VertexKind::Convex && self.is_at(j, end, position);
        (2 * i as u32 + 1, if is_at { Surface::Straight { point, normal } } else { Surface::corner(point) })
    }
}

impl Contour for Polyline {
    fn each_near(&self, position: [f64; 2], limit: f64, see: &mut dyn FnMut(usize, Projection)) {
        let x = position[self.axis];
        let first = self.lower.partition_point(|&(low, _)| low < x - limit - self.widest);
        for &(_, j) in self.lower[first..].iter().take_while(|&&(low, _)| low <= x + limit) {
            let on = self.project(j, position);
            if on.closest <= limit {
                see(j, on);
            }
        }
    }

    fn project(&self, j: usize, position: [f64; 2]) -> Projection {
        let Segment { ends, along, length } = self.segments[j];
        let offset = minus(position, self.vertices[ends[0]].point);
        Projection::new(inner(offset, quarter(along)), inner(offset, along), length)
    }

    fn corner(&self, j: usize, end: usize) -> VertexKind {
        self.vertices[self.segments[j].ends[end]].kind
    }

    fn neighbour(&self, j: usize, end: usize) -> usize {
        let count = self.segments.len();
        (j + count + 2 * end - 1) % count
    }

    /// In a hollow both segments have a position that is there by rounding, at an edge the vertex has it.
    fn margin(&self, j: usize, end: usize, _: bool) -> f64 {
        if self.corner(j, end) == VertexKind::Convex { 0.0 } else { self.rounding }
    }

    fn is_at(&self, j: usize, end: usize, position: [f64; 2]) -> bool {
        let away = minus(position, self.vertices[self.segments[j].ends[end]].point);
        inner(away, away) <= self.tolerance * self.tolerance
    }

    fn tolerance(&self) -> f64 {
        self.tolerance
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
    fn surfaces(&self, position: [f64; 2], limit: f64, see: &mut dyn FnMut(u32, Surface)) -> Region {
        contour::in_front(self, position, limit, &mut |feature| match feature {
            Feature::Segment(j) => see(2 * j as u32, self.line(j)),
            Feature::Vertex(j, end) => {
                let (number, surface) = self.vertex(j, end, position);
                see(number, surface);
            }
        })
    }

    fn surfaces_behind(&self, position: [f64; 2], nearest: f64, see: &mut dyn FnMut(u32, Surface)) {
        contour::behind(self, position, nearest, &mut |j| see(2 * j as u32, self.line(j)));
    }

    fn entry(&self, from: [f64; 2], to: [f64; 2]) -> Option<Entry> {
        let (part, j) = self.first_entry(from, to)?;
        Some(Entry { part, normal: quarter(self.segments[j].along) })
    }

    /// The edges are what lies between the segment where the path leads in and the one where it leads out, or that is nearest to its
    /// end, and on the other side of a closed outline.
    fn transit(&self, from: [f64; 2], to: [f64; 2]) -> Transit {
        let Some((into, first)) = self.first_entry(from, to) else {
            return Transit { part: 0.0, leads_out: false, margin: 0.0 };
        };
        let exit = self.first_exit(from, to, into);
        let (is_open, leads_out) = (self.vertices[0].kind == VertexKind::Free, exit.is_some());
        let (out, mut last) = (exit.map_or(1.0, |(part, _)| part), exit.map(|(_, j)| j));
        if !is_open && !leads_out {
            let mut nearest = f64::INFINITY;
            self.each_near(to, direction(minus(to, from)).0, &mut |j, on| {
                if on.closest < nearest {
                    (nearest, last) = (on.closest, Some(j));
                }
            });
        }
        let [low, high] = match last {
            Some(last) => [first.min(last), first.max(last)],
            None => [first, self.segments.len()],
        };
        // Vertex i is the start of segment i.
        let farthest = |is_between: bool| {
            let those = (0..self.vertices.len()).filter(|i| (*i > low && *i <= high) == is_between);
            let [left, right] = beside(from, to, those.map(|i| self.vertices[i].point));
            left.max(right)
        };
        let [between, rest] = [true, false].map(farthest);
        let margin = if is_open && leads_out { between / (between + rest) } else { smaller_share([between, rest]) };
        Transit { part: out - into, leads_out, margin }
    }

    fn half_thickness(&self, number: u32, position: [f64; 2], limit: f64) -> f64 {
        let is_open = self.vertices[0].kind == VertexKind::Free;
        let j = number as usize / 2;
        if is_open || number % 2 == 1 {
            return f64::INFINITY;
        }
        let (normal, on) = (quarter(self.segments[j].along), self.project(j, position));
        let foot = [0, 1].map(|k| position[k] - on.signed * normal[k]);
        // Not quite on the line, which rounding could find on its own.
        let [begin, end] = [self.rounding, limit].map(|depth| [0, 1].map(|k| foot[k] - depth * normal[k]));
        let exit = self.first_exit(begin, end, 0.0);
        exit.map_or(f64::INFINITY, |(part, _)| 0.5 * (self.rounding + part * (limit - self.rounding)))
    }

    fn edges(&self, position: [f64; 2], limit: f64, see: &mut dyn FnMut([f64; 2])) {
        self.each_near(position, limit, &mut |j, _| {
            for i in self.segments[j].ends {
                if matches!(self.vertices[i].kind, VertexKind::Convex | VertexKind::Free) {
                    see(self.vertices[i].point);
                }
            }
        });
    }
}
