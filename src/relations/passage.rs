//! What a node passed through within one step without a force: the swept test, (T137) and (T138).
//!
//! A step solves its laws with the gradients of its middle. What is smaller than the path of a node within the step may
//! already be behind the node there, and its law then says that both separate. Called for finished steps only.

use super::candidate::Candidate;
use super::sides::stored_for;
use super::{Contacts, Scene};
use crate::nodes::Component::{Theta, X, Y};
use crate::nodes::Nodes;
use crate::obstacles::{Obstacle, Region};
use crate::plane::{direction, inner, minus, quarter};
use crate::state::{Key, State};

/// Part of the size of an obstacle or a body by which a path must lead inside its outline. Nearer to the outline a small change of the
/// path decides whether it meets the obstacle at all.
pub(super) const GRAZING: f64 = 0.02;

/// A contact that a node passed through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassedContact {
    /// Contact of the case.
    pub group: u32,
    /// The node.
    pub node: u32,
    /// The part of the path of the node in the step from the surface to the middle of what is behind it: steps of this part of the step
    /// have a middle there.
    pub part: f64,
}

/// The path of a point in one step, as what it passes sees it.
#[derive(Clone, Copy, Debug)]
struct PointPath {
    start: [f64; 2],
    end: [f64; 2],
    /// Where it was before the last step if neither that nor this one made an impulse, by the velocity of this one.
    before: Option<[f64; 2]>,
    /// Whether the front of an obstacle held the point at the start and at the end.
    is_held: [bool; 2],
}

impl PointPath {
    fn way(&self) -> [f64; 2] {
        minus(self.end, self.start)
    }

    /// The part of the path between the rim of a disc around `centre`, which it passes through, and its nearest point to the
    /// centre, (T137).
    fn part_in_disc(&self, centre: [f64; 2], radius: f64) -> Option<f64> {
        let (start, way) = (minus(self.start, centre), self.way());
        let (approach, length2) = (-inner(start, way), inner(way, way));
        if approach <= 0.0 || approach >= length2 {
            return None;
        }
        let length = length2.sqrt();
        let least = inner(start, quarter(way)).abs() / length;
        let is_inside = |position: [f64; 2]| inner(position, position) < radius * radius;
        // What begins inside has just come there.
        let is_old = is_inside(start) && self.before.is_none_or(|before| is_inside(minus(before, centre)));
        if radius - least <= GRAZING * radius || is_old {
            return None;
        }
        Some(((radius - least) * (radius + least)).sqrt() / length)
    }

    /// Half of the part of the path behind the surface of an obstacle through which it leads, and the normal of that surface, if
    /// no surface at its end would apply an impulse towards the side where it came from, (T138).
    fn part_behind_front(&self, obstacle: &dyn Obstacle) -> Option<(f64, [f64; 2])> {
        let PointPath { start, end, .. } = self.begun_in_front(obstacle)?;
        let entry = obstacle.entry(start, end)?;
        let length = direction(minus(end, start)).0;
        let region = obstacle.surfaces(end, length, &mut |_, _| ());
        let mut holds = false;
        if let (Region::Behind(nearest), true) = (region, self.is_held[1]) {
            obstacle.surfaces_behind(end, nearest, &mut |_, surface| {
                holds |= inner(surface.normal_at(end), entry.normal) > 0.0;
            });
        }
        if holds {
            return None;
        }
        let transit = obstacle.transit(start, end);
        // In front without leading out: on the surface, behind it by rounding.
        if region == Region::Front && !transit.leads_out {
            return None;
        }
        let part = 0.5 * transit.part * length / direction(self.way()).0;
        (transit.margin > GRAZING).then_some((part, entry.normal))
    }

    /// The part of the path within the round edge of an obstacle, up to its middle, and a normal of the edge, for a thick point in
    /// front of the obstacle or beyond its end, (T137).
    fn part_in_edge(&self, obstacle: &dyn Obstacle, thickness: f64) -> Option<(f64, [f64; 2])> {
        if thickness == 0.0 {
            return None;
        }
        let (mut found, reach) = (None, direction(self.way()).0 + thickness);
        obstacle.edges(self.start, reach, &mut |edge| {
            let part = self.part_in_disc(edge, thickness);
            found = found.or_else(|| part.map(|part| (part, minus(self.start, edge))));
        });
        let is_behind = || matches!(obstacle.surfaces(self.start, reach, &mut |_, _| ()), Region::Behind(_));
        found.filter(|_| !is_behind())
    }

    /// This path from a position in front of the obstacle; none if it begins behind and did not just come there.
    fn begun_in_front(&self, obstacle: &dyn Obstacle) -> Option<PointPath> {
        let before = self.before.filter(|_| self.is_held[0]).unwrap_or(self.start);
        let limit = direction(minus(self.end, before)).0;
        let is_behind =
            |position: [f64; 2]| matches!(obstacle.surfaces(position, limit, &mut |_, _| ()), Region::Behind(_));
        if !is_behind(self.start) {
            return Some(*self);
        }
        (!is_behind(before)).then_some(PointPath { start: before, ..*self })
    }
}

/// How far nodes moved in a step.
struct NodeMotion<'a> {
    nodes: &'a Nodes,
    /// Displacements at its start and at its end.
    from: &'a [f64],
    to: &'a [f64],
    longest_arm: f64,
}

impl NodeMotion<'_> {
    /// A length that no point of a node exceeded; zero for a number that is no node's.
    fn bound(&self, node: usize) -> f64 {
        if node >= self.nodes.place.len() {
            return 0.0;
        }
        let way = |dof: usize| (self.to[dof] - self.from[dof]).abs();
        let turned = if self.longest_arm > 0.0 { self.nodes.find(node, Theta).map_or(0.0, way) } else { 0.0 };
        let [x, y] = [X, Y].map(|component| way(self.nodes.dof(node, component) as usize));
        x + y + self.longest_arm * turned
    }
}

impl Scene {
    /// The first contact that a node passed through in the step that led from `from` to `to`, in the order of candidates, whose gaps at
    /// `to` are given.
    pub fn passage(
        &self,
        contacts: &Contacts,
        nodes: &Nodes,
        [from, to]: [&State; 2],
        gaps: &[f64],
    ) -> Option<PassedContact> {
        if contacts.steady() {
            return None;
        }
        let motion = NodeMotion { nodes, from: &from.q, to: &to.q, longest_arm: contacts.longest_arm };
        let obstacle = || self.passed_obstacle(contacts, &motion, [from, to], gaps);
        let disc = self.passed_disc(&motion, [from, to], gaps);
        disc.or_else(obstacle).or_else(|| self.passed_chain(contacts, &motion, [from, to], gaps))
    }

    /// A disc among the candidates: a circle, a vertex or a body with thickness.
    fn passed_disc(&self, motion: &NodeMotion, [from, to]: [&State; 2], gaps: &[f64]) -> Option<PassedContact> {
        // Searches give straight features even numbers. Nothing that is farther from a node than both moved was passed by it.
        let is_near = |i: usize| {
            let may_be_disc = i < self.permanent || self.key(i).feature % 2 == 1;
            may_be_disc && gaps[i] < self.path_at(motion, i)
        };
        (0..self.candidates.len()).filter(|&i| is_near(i) && self.responds(i)).find_map(|i| {
            let candidate = &self.candidates[i];
            let (radius, [start, end]) = candidate.path_at_disc(&from.q, &to.q)?;
            let pressed = to.impulse[candidate.row] > 0.0 || self.pushed_before(i, from);
            let before = if pressed { None } else { before([start, end], from, to) };
            let point = PointPath { start, end, before, is_held: [false; 2] };
            let part = point.part_in_disc([0.0; 2], radius)?;
            let is_held = self.candidates.iter().any(|other| {
                let pushes = other.key.group == candidate.key.group && to.impulse[other.row] > 0.0;
                // A normal is towards the node of its candidate.
                let sign = if other.key.node == candidate.key.node { 1.0 } else { -1.0 };
                pushes && candidate.shares_node(other) && sign * inner(other.normal, start) > 0.0
            });
            (!is_held).then_some(PassedContact { group: candidate.key.group, node: candidate.key.node, part })
        })
    }

    /// A bound of how far the node of a candidate and another node that it touches, or an obstacle, moved relative to each other.
    fn path_at(&self, motion: &NodeMotion, candidate: usize) -> f64 {
        let Key { group, node, feature } = self.key(candidate);
        let [before, _, after] = self.shifts[group as usize];
        let obstacle = minus(after, before).iter().map(|x| x.abs()).sum::<f64>();
        let other = if candidate < self.permanent { 0.0 } else { motion.bound(feature as usize / 2) };
        motion.bound(node as usize) + other + obstacle
    }

    /// Whether a candidate had an impulse in the step that led to `from`.
    fn pushed_before(&self, candidate: usize, from: &State) -> bool {
        let key = self.candidates[candidate].key;
        let row = if candidate < self.permanent {
            Some(self.candidates[candidate].row)
        } else {
            from.found.binary_search_by_key(&key, |(key, _)| *key).ok().map(|k| from.found[k].1 as usize)
        };
        row.and_then(|row| from.impulse.get(row)).is_some_and(|&impulse| impulse > 0.0)
    }

    /// A line of elements through which a node came so that it has no side of it any more, or is beyond its end.
    fn passed_chain(
        &self,
        contacts: &Contacts,
        motion: &NodeMotion,
        [from, to]: [&State; 2],
        gaps: &[f64],
    ) -> Option<PassedContact> {
        let mut after = to.sides.iter().peekable();
        let lost = from.sides.iter().filter(|stored| {
            while after.next_if(|other| other.key < stored.key).is_some() {}
            after.peek().is_none_or(|other| other.key != stored.key)
        });
        let behind = (self.permanent..self.candidates.len()).filter(|&i| gaps[i] < 0.0).flat_map(|i| {
            let Key { group, node, .. } = self.key(i);
            stored_for(&to.sides, group, node as usize).iter()
        });
        let is_lost = |is_lost: bool| move |stored| (stored, is_lost);
        lost.map(is_lost(true)).chain(behind.map(is_lost(false))).find_map(|(stored, is_lost)| {
            let Key { group, node, .. } = stored.key;
            let search = contacts.searches.iter().find(|search| search.group() == group as usize)?;
            if found_pushing(to, [group, node]) || !motion.nodes.can_move(node as usize) {
                return None;
            }
            let is_new = is_lost && !found_pushing(from, [group, node]);
            let ratio = if is_new { from.h / (to.time - from.time) } else { 0.0 };
            let at = |node: usize, part: f64| {
                let [start, end] = [motion.from, motion.to].map(|q| motion.nodes.place_at(node, q));
                [0, 1].map(|k| start[k] + part * (end[k] - start[k]))
            };
            let part = search.part_behind_chain(stored, ratio, is_lost, &at)?;
            Some(PassedContact { group, node, part })
        })
    }

    /// Whether a node of a search may have come through its obstacle, by how far both moved from where the search looked.
    fn may_pass(&self, motion: &NodeMotion, group: usize, node: usize, gaps: &[f64]) -> bool {
        let moved = motion.bound(node);
        let [start, middle] = [self.starts[node], self.positions[node]];
        let [before, halfway, after] = self.shifts[group];
        let (expected, carried) = (direction(minus(middle, start)).0, direction(minus(after, before)).0);
        let at = (group as u32, node as u32);
        let found = &self.candidates[self.permanent..];
        let first = self.permanent + found.partition_point(|candidate| (candidate.key.group, candidate.key.node) < at);
        let own = (first..self.candidates.len())
            .take_while(|&i| (self.candidates[i].key.group, self.candidates[i].key.node) == at);
        let path = moved + carried;
        // From the middle of the step no position of the path is farther than this.
        let away = expected + path + direction(minus(halfway, before)).0;
        match own.map(|i| gaps[i]).reduce(f64::min) {
            Some(gap) => gap < path + 2.0 * away,
            // The search looked four times as far as the node was expected to move to the middle, and twice as far as the obstacle.
            None => away > 4.0 * expected + 2.0 * carried,
        }
    }

    /// An obstacle with a front, or one of its edges.
    fn passed_obstacle(
        &self,
        contacts: &Contacts,
        motion: &NodeMotion,
        [from, to]: [&State; 2],
        gaps: &[f64],
    ) -> Option<PassedContact> {
        let nodes = motion.nodes;
        let turning = contacts.turning.iter().map(|turning| {
            let candidate = &self.candidates[turning.candidate];
            let pressed = to.impulse[candidate.row] > 0.0 || self.pushed_before(turning.candidate, from);
            let path = [&from.q, &to.q].map(|q| candidate.place(q));
            (turning.obstacle.as_ref(), [candidate.key.group, candidate.key.node], candidate.thickness(), path, pressed)
        });
        let searched = contacts.searches.iter().flat_map(|search| {
            let at_obstacle = search.at_obstacle().into_iter();
            at_obstacle.flat_map(move |(touching, obstacle, thickness)| {
                touching.iter().filter(move |&&node| self.may_pass(motion, search.group(), node, gaps)).map(
                    move |&node| {
                        let path = [&from.q, &to.q].map(|q| nodes.place_at(node, q));
                        let at = [search.group() as u32, node as u32];
                        (obstacle, at, thickness, path, found_pushing(from, at) || found_pushing(to, at))
                    },
                )
            })
        });
        turning.chain(searched).find_map(|(obstacle, [group, node], thickness, [start, end], pressed)| {
            let displaced = self.shifts[group as usize];
            let own = |key: Key| (key.group, key.node) == (group, node);
            let is_held = [from, to].map(|state| {
                stored_for(&state.sides, group, node as usize).first().is_some_and(|stored| stored.side > 0)
            });
            let [start, end] = [minus(start, displaced[0]), minus(end, displaced[2])];
            let before = if pressed { None } else { before([start, end], from, to) };
            let point = PointPath { start, end, before, is_held };
            let part = point.part_behind_front(obstacle);
            let (part, normal) = part.or_else(|| point.part_in_edge(obstacle, thickness))?;
            let mut candidates = self.candidates.iter().filter(|candidate| own(candidate.key)).peekable();
            // What no impulse can move is led through by its supports.
            let is_led = candidates.peek().is_some() && candidates.clone().all(|candidate| !candidate.responds);
            let pushes =
                |candidate: &Candidate| to.impulse[candidate.row] > 0.0 && inner(candidate.normal, normal) > 0.0;
            (!is_led && nodes.can_move(node as usize) && !candidates.any(pushes)).then_some(PassedContact {
                group,
                node,
                part,
            })
        })
    }
}

/// Whether a node had an impulse from a candidate that a search found in the step that led to `from`.
fn found_pushing(from: &State, [group, node]: [u32; 2]) -> bool {
    let first = from.found.partition_point(|(key, _)| (key.group, key.node) < (group, node));
    let own = from.found[first..].iter().take_while(|(key, _)| (key.group, key.node) == (group, node));
    own.into_iter().any(|&(_, row)| from.impulse[row as usize] > 0.0)
}

/// Where a point was before the step that led to `from`, if it moved as it does on its way from there to `to`; none before the first
/// step.
fn before([start, end]: [[f64; 2]; 2], from: &State, to: &State) -> Option<[f64; 2]> {
    let ratio = from.h / (to.time - from.time);
    (ratio > 0.0).then(|| [0, 1].map(|k| start[k] - ratio * (end[k] - start[k])))
}
