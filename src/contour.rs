//! Which features of connected segments a position may touch, (T135).
//!
//! The features of a contour cover its neighbourhood: every position near it has at least one. This module does not depend
//! on what the contour belongs to; rigid polylines and lines of elements both use it.

/// Connected segments, numbered, with the body on one side and the solid on the other.
pub(crate) trait Contour {
    /// Calls `see` with every segment within `limit` of a position, and with the projection of the position on it.
    fn each_near(&self, position: [f64; 2], limit: f64, see: &mut dyn FnMut(usize, Projection));

    /// Projection of a position on the line of a segment.
    fn project(&self, segment: usize, position: [f64; 2]) -> Projection;

    /// How the contour continues at the start (0) or at the end (1) of a segment.
    fn corner(&self, segment: usize, end: usize) -> VertexKind;

    /// The segment that shares the vertex at the start (0) or at the end (1) of a segment, where that is convex or re-entrant.
    fn neighbour(&self, segment: usize, end: usize) -> usize;

    /// By how much the region of a segment reaches beyond its start (0) or its end (1), in front or behind. Where two regions
    /// border on each other by rounding, at least one of them must have the position.
    fn margin(&self, segment: usize, end: usize, behind: bool) -> f64;

    /// Whether a position is that of the vertex at the start (0) or at the end (1) of a segment.
    fn is_at(&self, segment: usize, end: usize, position: [f64; 2]) -> bool;

    /// Length below which two positions are the same.
    fn tolerance(&self) -> f64;
}

/// How a contour continues at a vertex, as the body sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VertexKind {
    /// It ends there.
    Free,
    /// Its direction does not change there, or it branches.
    Straight,
    /// The solid has an edge there.
    Convex,
    /// The body is in a hollow there.
    Reentrant,
}

/// Projection of a position on the line of a segment, (T135).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Projection {
    /// Distance from the line of the segment, positive on the side of the body.
    pub signed: f64,
    /// Distance by which the position lies beyond the start and beyond the end; not positive where it projects into the
    /// segment.
    pub beyond: [f64; 2],
    /// Distance from the nearest point of the segment.
    pub closest: f64,
}

impl Projection {
    /// From the distance on the side of the body, the coordinate along the segment and the length of that.
    pub fn new(signed: f64, s: f64, length: f64) -> Projection {
        let beyond = [-s, s - length];
        Projection { signed, beyond, closest: signed.hypot(beyond[0].max(beyond[1]).max(0.0)) }
    }
}

/// What a position may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    /// The line of a segment.
    Segment(usize),
    /// The vertex at the start (0) or at the end (1) of a segment.
    Vertex(usize, usize),
}

/// Where a position is with respect to a contour or an obstacle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Region {
    /// Farther than the search looks.
    Far,
    /// In front of it.
    Front,
    /// Beyond a free end, which is the nearest point of it.
    Beyond,
    /// Behind it, with the distance from the nearest point.
    Behind(f64),
}

/// Calls `see` with the features in front of which a position is; returns where it is.
pub(crate) fn in_front<C: Contour>(
    contour: &C,
    position: [f64; 2],
    limit: f64,
    see: &mut dyn FnMut(Feature),
) -> Region {
    let mut front = f64::INFINITY;
    let mut free = f64::INFINITY;
    let mut nearest = f64::INFINITY;
    contour.each_near(position, limit, &mut |j, on| {
        nearest = nearest.min(on.closest);
        let is = |end: usize, kind: VertexKind| contour.corner(j, end) == kind;
        let is_close = on.closest <= contour.tolerance();
        let at_edge = |end: usize| is_close && is(end, VertexKind::Convex) && contour.is_at(j, end, position);
        let past = past(contour, j, &on, false);
        let vertex = if at_edge(0) || at_edge(1) {
            // Each vertex is handed over by the segment that starts there.
            front = 0.0;
            at_edge(0).then_some(0)
        } else if past == [false; 2] {
            if on.signed >= -contour.tolerance() {
                front = front.min(on.closest);
                see(Feature::Segment(j));
            }
            None
        } else if past[0] && is(0, VertexKind::Convex) {
            // Beyond both segments that meet there.
            let before = contour.project(contour.neighbour(j, 0), position);
            (before.beyond[1] > 0.0).then_some(0)
        } else {
            let end = (0..2).find(|&end| past[end] && is(end, VertexKind::Free));
            free = if end.is_some() { free.min(on.closest) } else { free };
            end
        };
        if let Some(end) = vertex {
            front = front.min(on.closest);
            see(Feature::Vertex(j, end));
        }
    });
    match nearest {
        f64::INFINITY => Region::Far,
        _ if nearest < front - contour.tolerance() => Region::Behind(nearest),
        _ if free <= front => Region::Beyond,
        _ => Region::Front,
    }
}

/// Calls `see` with the segments that hold a position behind them, whose nearest point of the contour is `nearest` away. Some
/// may come twice.
pub(crate) fn behind<C: Contour>(contour: &C, position: [f64; 2], nearest: f64, see: &mut dyn FnMut(usize)) {
    contour.each_near(position, nearest + contour.tolerance(), &mut |j, on| {
        let is_inside = past(contour, j, &on, true) == [false; 2];
        for end in (0..2).filter(|&end| contour.corner(j, end) == VertexKind::Reentrant) {
            let k = contour.neighbour(j, end);
            let other = contour.project(k, position);
            let beyond = other.beyond[1 - end];
            if on.beyond[end] > 0.0 {
                // Beyond both, behind the vertex: each of them, as a line that continues over it.
                if beyond > 0.0 {
                    see(j);
                }
            } else if is_inside && other.beyond[end] <= 0.0 {
                // Its line is never deeper than that of segment j here; only how far it ends before the position matters.
                if beyond <= BOTH * -on.signed {
                    see(k);
                }
            }
        }
        if is_inside {
            see(j);
        }
    });
}

/// How far a position behind a segment may be from a re-entrant neighbour of that segment, in parts of its depth, for
/// both to hold it.
const BOTH: f64 = 2.0;

/// Whether a position is beyond the region of segment `j` at its start and at its end.
fn past<C: Contour>(contour: &C, j: usize, on: &Projection, behind: bool) -> [bool; 2] {
    [0, 1].map(|end| on.beyond[end] > contour.margin(j, end, behind))
}
