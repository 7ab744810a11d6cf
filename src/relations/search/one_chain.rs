//! One node at one chain: on which side of it the node is, (T136), and which of its segments it may touch.

use super::bodies::Seeker;
use super::chain::{ChainContour, Chains};
use super::{Search, View};
use crate::contour::{self, Contour, Feature, Projection, VertexKind};
use crate::obstacles::Region;
use crate::plane::{direction, inner, minus, quarter};
use crate::relations::candidate::Candidate;
use crate::relations::shape::Shape;
use crate::state::StoredSide;

/// Part of the speeds of two points below which their relative velocity is rounding; also of accelerations.
const AT_REST: f64 = 1e-9;

/// A search of one node along one chain.
pub(super) struct ChainSearch<'a> {
    pub search: &'a Search,
    pub view: &'a View<'a>,
    pub chains: &'a Chains,
    /// Segments of the chain that may be near.
    pub near: &'a [u32],
    pub limit: f64,
    /// Depth that a node may have beyond that.
    pub depth: f64,
}

impl<'a> ChainSearch<'a> {
    fn contour(&self, positions: &'a [[f64; 2]], side: i8) -> ChainContour<'a> {
        ChainContour { chains: self.chains, positions, side: f64::from(side), near: self.near }
    }

    /// Adds the candidates of a node at this chain. Returns the side of the node, zero while it is undecided, and how deep it is
    /// behind the chain if the side is to be stored.
    pub fn find(
        &self,
        seeker: &Seeker,
        stored: Option<&StoredSide>,
        features: &mut Vec<Feature>,
        found: &mut Vec<Candidate>,
    ) -> (i8, Option<f64>) {
        let is_decided = |stored: &&StoredSide| stored.side != 0;
        let mut side = match stored.filter(is_decided) {
            Some(stored) => stored.side,
            None => match self.side_at_start(seeker.node, stored.is_some()) {
                Some(side) => side,
                None => return (0, None),
            },
        };
        if side == 0 {
            return (0, Some(0.0));
        }
        let mut region = self.features(seeker, side, features);
        if matches!(region, Region::Behind(_)) && self.went_around(seeker.node, side) {
            side = -side;
            region = self.features(seeker, side, features);
        }
        let contour = self.contour(self.view.positions, side);
        let mut is_over_end = false;
        for &feature in features.iter() {
            match feature {
                Feature::Segment(j) => self.push(seeker, j, side, found),
                // At the edge itself both sides of it hold; elsewhere it is a point, which has no gap without thickness.
                Feature::Vertex(j, end) if !self.chains.segments[j].is_free(end) => {
                    if contour.is_at(j, end, seeker.position) {
                        [j, contour.neighbour(j, end)].into_iter().for_each(|j| self.push(seeker, j, side, found));
                    }
                }
                Feature::Vertex(j, end) => {
                    let is_thin = self.search.thickness == 0.0;
                    let is_before_end = is_thin && self.is_before_end(seeker, j, end, side, stored.is_some());
                    let signed = contour.project(j, seeker.position).signed;
                    let other = self.chains.segments[j].line[0];
                    let path = self.view.step * (self.view.speed_of(seeker.node) + self.view.speed_of(other));
                    let is_through = signed.abs() <= path && self.leads_through(seeker.node, j, side);
                    let is_behind = signed < 0.0;
                    if is_before_end || (is_through && is_behind) {
                        self.push(seeker, j, side, found);
                    }
                    is_over_end |= is_before_end || is_through;
                }
            }
        }
        let depth = match region {
            Region::Front => Some(0.0),
            Region::Behind(depth) => Some(depth),
            Region::Beyond => is_over_end.then_some(0.0),
            Region::Far => None,
        };
        (side, depth)
    }

    /// Features of the chain at the middle of the step, as seen from one side.
    fn features(&self, seeker: &Seeker, side: i8, features: &mut Vec<Feature>) -> Region {
        features.clear();
        let contour = self.contour(self.view.positions, side);
        let mut region =
            contour::in_front(&contour, seeker.position, self.limit, &mut |feature| features.push(feature));
        if region == Region::Far && self.depth > 0.0 {
            // What was stopped behind a surface is slow, and may be deeper than a slow body looks.
            let farther = contour::in_front(&contour, seeker.position, self.limit + self.depth, &mut |_| ());
            region = if let Region::Behind(_) = farther { farther } else { Region::Far };
        }
        if let Region::Behind(nearest) = region {
            contour::behind(&contour, seeker.position, nearest, &mut |j| features.push(Feature::Segment(j)));
        }
        region
    }

    fn push(&self, seeker: &Seeker, j: usize, side: i8, found: &mut Vec<Candidate>) {
        let segment = &self.chains.segments[j];
        if self.search.is_apart(seeker, segment.line, self.view) {
            let shape = Shape::Segment { side: segment.side_of_line(f64::from(side)) };
            self.search.push(seeker.node, 2 * segment.number, shape, &segment.line, self.view, found);
        }
    }

    /// The side of a node at the start of the step by its position, zero if that does not tell; none if it is far.
    /// `was_undecided` says that it was on the chain before: any motion of a node on a line is towards it, because a body
    /// that leaves and one that arrives on the other side have the same position and velocity.
    fn side_at_start(&self, node: usize, was_undecided: bool) -> Option<i8> {
        let contour = self.contour(self.view.starts, 1);
        let (j, on) = contour.nearest(self.view.starts[node])?;
        let past = (0..2).find(|&end| on.beyond[end] > 0.0);
        let kind = past.map(|end| contour.corner(j, end));
        let signed = match kind {
            Some(VertexKind::Convex) => on.closest,
            Some(VertexKind::Reentrant) => -on.closest,
            _ => on.signed,
        };
        let sign = if signed > 0.0 { 1 } else { -1 };
        if signed.abs() > contour.tolerance() {
            let left = was_undecided && kind != Some(VertexKind::Free);
            return Some(if left { -sign } else { sign });
        }
        let motion = self.first_motion(node, j, &on);
        // On the middle of a thick body either side is as good, but the depth must be seen.
        Some(if motion == 0 && self.search.thickness > 0.0 { 1 } else { -motion })
    }

    /// The side to which a node on a segment moves first: 1 if its relative velocity leads to the left of the chain, −1 if it leads
    /// to the right; if the velocity is zero to rounding, by the relative acceleration.
    fn first_motion(&self, node: usize, j: usize, on: &Projection) -> i8 {
        let contour = self.contour(self.view.starts, 1);
        let along = |j: usize| {
            let [a, b] = self.chains.segments[j].nodes();
            direction(minus(self.view.starts[b], self.view.starts[a]))
        };
        let (length, own) = along(j);
        let xi = (-on.beyond[0] / length).clamp(0.0, 1.0);
        let [a, b] = self.chains.segments[j].nodes();
        let at = (0..2).find(|&end| contour.is_at(j, end, self.view.starts[node]));
        // At a vertex both segments tell which side it is.
        let other = at.map_or(own, |end| along(contour.neighbour(j, end)).1);
        let is_reentrant = at.is_some_and(|end| contour.corner(j, end) == VertexKind::Reentrant);
        for field in [self.view.velocity, self.view.acceleration] {
            let parts = [(node, 1.0), (a, xi - 1.0), (b, -xi)].map(|(node, weight)| {
                let [x, y] = self.view.nodes.translation(node, field);
                [weight * x, weight * y]
            });
            let relative = [0, 1].map(|k| parts.iter().map(|part| part[k]).sum());
            let scale: f64 = parts.iter().map(|part| part[0].hypot(part[1])).sum();
            let [one, two] = [own, other].map(|along| inner(relative, quarter(along)));
            let left = if is_reentrant { one.min(two) } else { one.max(two) };
            if left.abs() > AT_REST * scale {
                return if left > 0.0 { 1 } else { -1 };
            }
        }
        0
    }

    /// Whether a node that was beyond a free end at the start of the step came behind the chain around it.
    fn went_around(&self, node: usize, side: i8) -> bool {
        let start = self.contour(self.view.starts, side);
        let Region::Beyond = contour::in_front(&start, self.view.starts[node], self.limit, &mut |_| ()) else {
            return false;
        };
        let middle = self.contour(self.view.positions, side);
        let Some((j, after)) = middle.nearest(self.view.positions[node]) else { return false };
        let before = start.project(j, self.view.starts[node]);
        if before.signed < -start.tolerance() {
            return true;
        }
        // Where the path meets the line of the segment, in the coordinates of the segment.
        let part = before.signed / (before.signed - after.signed);
        (0..2).any(|end| {
            let beyond = before.beyond[end] + part * (after.beyond[end] - before.beyond[end]);
            self.chains.segments[j].is_free(end) && beyond > middle.margin(j, end, false)
        })
    }

    /// Whether the path of a node in the step, by the velocities at its start, leads through a segment from one side.
    fn leads_through(&self, node: usize, j: usize, side: i8) -> bool {
        let [start, middle] = [self.view.starts, self.view.positions]
            .map(|positions| self.contour(positions, side).project(j, positions[node]));
        let at_end = |start: f64, middle: f64| 2.0 * middle - start;
        let (before, after) = (start.signed, at_end(start.signed, middle.signed));
        let part = before / (before - after);
        let beyond =
            |end: usize| start.beyond[end] + part * (at_end(start.beyond[end], middle.beyond[end]) - start.beyond[end]);
        before >= 0.0 && after < 0.0 && (0..2).all(|end| beyond(end) <= 0.0)
    }

    /// Whether a node beyond the free end of a thin segment touches it all the same: it rests on an end that is tilted, or is about
    /// to cross the line where the segment is.
    fn is_before_end(&self, seeker: &Seeker, j: usize, end: usize, side: i8, is_stored: bool) -> bool {
        let contour = self.contour(self.view.positions, side);
        let on = contour.project(j, seeker.position);
        let overhang = self.chains.segments[j].overhang(end);
        if on.signed < -contour.tolerance() && !is_stored {
            return false;
        }
        if is_stored && on.beyond[end] <= overhang + on.signed.abs() {
            return true;
        }
        // On the line itself the instant at which it crosses the line is rounding.
        if on.signed.abs() <= contour.tolerance() {
            return false;
        }
        let [a, b] = self.chains.segments[j].nodes();
        let (_, along) = direction(minus(self.view.positions[b], self.view.positions[a]));
        let [own, other] = [seeker.node, [a, b][end]].map(|node| self.view.nodes.translation(node, self.view.velocity));
        let relative = minus(own, other);
        let rate = f64::from(side) * inner(relative, quarter(along));
        let time = -on.signed / rate;
        let moved = time * inner(relative, along) * if end == 0 { -1.0 } else { 1.0 };
        let inside = on.beyond[end] + moved <= overhang && on.beyond[1 - end] - moved <= 0.0;
        time.abs() <= 2.0 * self.view.step && inside
    }
}
