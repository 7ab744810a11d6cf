//! What may touch in one step: candidates with their gradients frozen at its middle.

use super::Contacts;
use super::candidate::Candidate;
use super::packed::Packed;
use super::search::{Scratch, View};
use super::sides::{Path, stored_for, surface_at_obstacle};
use crate::nodes::Nodes;
use crate::plane::{inner, minus, tangent};
use crate::state::{Key, State, StoredSide};
use std::ops::Range;

/// Candidates of a step: those that are always there, then those that searches found, in the order of their keys.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// All candidates.
    pub candidates: Vec<Candidate>,
    /// Number of rows, normal and tangential.
    pub rows: usize,
    pub(super) permanent: usize,
    found: Vec<Candidate>,
    middle: Vec<f64>,
    /// Positions of all nodes at the start of the step and at its middle, where bodies are searched for.
    pub(super) starts: Vec<[f64; 2]>,
    pub(super) positions: Vec<[f64; 2]>,
    /// On which side of what it may touch a node is, in the order of keys.
    sides: Vec<StoredSide>,
    /// Speed of the fastest node of each body.
    speeds: Vec<f64>,
    pub(super) shifts: Vec<[[f64; 2]; 3]>,
    rates: Vec<[[f64; 2]; 2]>,
    packed: Packed,
    scratch: Scratch,
}

impl Scene {
    /// The scene of these contacts before the first step.
    pub fn new(contacts: &Contacts, nodes: &Nodes) -> Scene {
        let positions = if contacts.searches.is_empty() { Vec::new() } else { vec![[0.0; 2]; nodes.place.len()] };
        let mut scene = Scene {
            candidates: contacts.candidates.clone(),
            permanent: contacts.candidates.len(),
            middle: vec![0.0; nodes.total],
            starts: positions.clone(),
            positions,
            shifts: vec![[[0.0; 2]; 3]; contacts.groups.len()],
            rates: vec![[[0.0; 2]; 2]; contacts.groups.len()],
            ..Default::default()
        };
        scene.number();
        scene.pack();
        scene
    }

    /// Looks around before the step from `from` to `t1`: obstacles move, gradients are taken at the middle of the step,
    /// what is near is found. `c` is the part of the jump with which positions move, (T2).
    pub fn look(&mut self, contacts: &Contacts, nodes: &Nodes, from: &State, t1: f64, c: f64) {
        if contacts.at_rest() {
            return;
        }
        let h = t1 - from.time;
        self.move_obstacles(contacts, from.time, t1, c);
        // The velocity that ended the last step begins this one, (T59).
        self.rates.iter_mut().zip(&from.obstacle_rates).for_each(|(rates, &before)| rates[0] = before);
        self.update_gradients(contacts, nodes, from, 0.5 * h, 1);
        for candidate in &mut self.candidates {
            let g = candidate.key.group as usize;
            candidate.shift = [self.shifts[g][0], self.shifts[g][2]];
        }
        self.project_obstacle_rates();
    }

    /// Takes discrete gradients over the step from `q0` to `q1`, (T63).
    pub fn secants(&mut self, q0: &[f64], q1: &[f64]) {
        self.candidates.iter_mut().for_each(|candidate| candidate.secant(q0, q1));
        self.project_obstacle_rates();
    }

    /// Velocities of the obstacles along normals and tangents.
    fn project_obstacle_rates(&mut self) {
        for candidate in &mut self.candidates {
            let (n, t) = (candidate.normal, tangent(candidate.normal));
            let rates = self.rates[candidate.key.group as usize];
            candidate.drift = rates.map(|rate| [inner(n, rate), inner(t, rate)]);
        }
        self.pack();
    }

    /// Gradients at a place, the obstacles where they are at its instant; for analyses without steps in time.
    pub fn look_at(&mut self, contacts: &Contacts, nodes: &Nodes, state: &State) {
        self.move_obstacles(contacts, state.time, state.time, 0.5);
        self.update_gradients(contacts, nodes, state, 0.0, 2);
        for candidate in &mut self.candidates {
            candidate.shift = [self.shifts[candidate.key.group as usize][2]; 2];
        }
        self.pack();
    }

    fn move_obstacles(&mut self, contacts: &Contacts, t0: f64, t1: f64, c: f64) {
        let h = t1 - t0;
        for (g, group) in contacts.groups.iter().enumerate().filter(|(_, group)| !group.motion.is_empty()) {
            let (mut shifts, mut rate) = ([[0.0; 2]; 3], [0.0; 2]);
            for (direction, function) in &group.motion {
                let values = [t0, 0.5 * (t0 + t1), t1].map(|t| function.value(t));
                let end = function.rate(t1);
                // (T59): the analytic rate for c = ½, the difference quotient for c = 1.
                let mean = if h > 0.0 { (values[2] - values[0]) / h } else { end };
                let along = end + (2.0 * c - 1.0) * (mean - end);
                for k in 0..2 {
                    (0..3).for_each(|i| shifts[i][k] += values[i] * direction[k]);
                    rate[k] += along * direction[k];
                }
            }
            (self.shifts[g], self.rates[g][1]) = (shifts, rate);
        }
    }

    /// Freezes gradients after `ahead` of the motion and searches there; `when` says which instant obstacles are at.
    fn update_gradients(&mut self, contacts: &Contacts, nodes: &Nodes, from: &State, ahead: f64, when: usize) {
        if contacts.steady() {
            return;
        }
        for i in 0..self.middle.len() {
            self.middle[i] = from.q[i] + ahead * from.v[i];
        }
        self.candidates.truncate(self.permanent);
        self.sides.clear();
        let is_first = from.step == 0 || ahead == 0.0;
        for turning in &contacts.turning {
            let candidate = &mut self.candidates[turning.candidate];
            let Key { group, node, .. } = candidate.key;
            let [start, middle] = [&from.q[..], &self.middle[..]].map(|q| candidate.place(q));
            let end = [0, 1].map(|k| 2.0 * middle[k] - start[k]);
            let path = Path::new([start, middle, end], instants(self.shifts[group as usize], when));
            let stored = stored_for(&from.sides, group, node as usize).first();
            let (surface, side) = surface_at_obstacle(turning.obstacle.as_ref(), &path, stored, is_first);
            candidate.face(surface);
            if side != 0 {
                self.sides.push(StoredSide { key: candidate.key, side, depth: 0.0 });
            }
        }
        if !contacts.searches.is_empty() {
            self.search(contacts, nodes, from, ahead, when);
        }
        for candidate in &mut self.candidates {
            candidate.freeze(&self.middle, self.shifts[candidate.key.group as usize][when]);
        }
        self.number();
    }

    fn search(&mut self, contacts: &Contacts, nodes: &Nodes, from: &State, ahead: f64, when: usize) {
        let bodies = &contacts.bodies;
        self.speeds.clear();
        self.speeds.resize(bodies.sizes.len(), 0.0);
        for node in 0..self.positions.len() {
            self.starts[node] = nodes.place_at(node, &from.q);
            self.positions[node] = nodes.place_at(node, &self.middle);
            let [vx, vy] = nodes.translation(node, &from.v);
            let speed = &mut self.speeds[bodies.of_node[node] as usize];
            *speed = speed.max(vx * vx + vy * vy);
        }
        self.speeds.iter_mut().for_each(|speed| *speed = speed.sqrt());
        self.found.clear();
        for search in &contacts.searches {
            let [x, y] = self.rates[search.group()][1];
            let view = View {
                nodes,
                starts: &self.starts,
                positions: &self.positions,
                shifts: instants(self.shifts[search.group()], when),
                bodies,
                speeds: &self.speeds,
                obstacle_speed: x.hypot(y),
                velocity: &from.v,
                acceleration: &from.a,
                step: 2.0 * ahead,
                sides: &from.sides,
                is_first: from.step == 0 || ahead == 0.0,
            };
            search.find(&view, &mut self.scratch, &mut self.found, &mut self.sides);
        }
        self.sides.sort_unstable_by_key(|stored| stored.key);
        self.found.sort_unstable_by_key(|candidate| candidate.key);
        self.found.dedup_by_key(|candidate| candidate.key);
        self.candidates.extend_from_slice(&self.found);
    }

    fn number(&mut self) {
        self.rows = 0;
        for candidate in &mut self.candidates {
            candidate.row = self.rows;
            self.rows += 1 + usize::from(candidate.slides());
        }
    }

    /// Notes in a state which candidates were found, with their rows, and the sides of nodes.
    pub fn note(&self, State { found, sides, .. }: &mut State) {
        sides.clone_from(&self.sides);
        found.clear();
        found.extend(self.candidates[self.permanent..].iter().map(|candidate| (candidate.key, candidate.row as u32)));
    }

    /// Velocities of the obstacles at the end of the step, for the state there; none where all are at rest.
    pub fn end_rates(&self, rates: &mut [[f64; 2]]) {
        rates.iter_mut().zip(&self.rates).for_each(|(end, rates)| *end = rates[1]);
    }

    /// Overwrites `values` with those that rows had after the step that led to `from`, zero for new candidates.
    pub fn recall(&self, from: &State, values: &mut Vec<f64>) {
        values.clear();
        if self.candidates.len() == self.permanent && from.impulse.len() == self.rows {
            values.extend_from_slice(&from.impulse);
            return;
        }
        values.resize(self.rows, 0.0);
        let permanent = self.candidates.get(self.permanent).map_or(self.rows, |candidate| candidate.row);
        if from.impulse.len() < permanent {
            return;
        }
        values[..permanent].copy_from_slice(&from.impulse[..permanent]);
        let mut old = from.found.iter().peekable();
        for candidate in &self.candidates[self.permanent..] {
            while old.next_if(|(key, _)| *key < candidate.key).is_some() {}
            if let Some((_, row)) = old.next_if(|(key, _)| *key == candidate.key) {
                let (row, length) = (*row as usize, 1 + usize::from(candidate.slides()));
                values[candidate.row..candidate.row + length].copy_from_slice(&from.impulse[row..row + length]);
            }
        }
    }

    /// Must follow every change of the candidates.
    pub fn pack(&mut self) {
        self.packed.pack(&self.candidates);
    }

    /// Rows of a candidate: normal, and tangential with friction.
    #[inline]
    pub fn rows_of(&self, candidate: usize) -> Range<usize> {
        self.packed.rows_of(candidate)
    }

    /// A row of Gᵀ times a vector, given by its entries: a relative velocity, motion of the obstacle apart.
    #[inline]
    pub fn rate(&self, row: usize, x: impl Fn(usize) -> f64) -> f64 {
        self.packed.rate(row, x)
    }

    /// Velocity of the obstacle along a row at the start and at the end of the step.
    #[inline]
    pub fn drift(&self, row: usize) -> [f64; 2] {
        self.packed.drift(row)
    }

    /// Coefficient of restitution of a row: that of the contact, for sliding in Moreau's law alone.
    #[inline]
    pub fn restitution(&self, row: usize) -> f64 {
        self.packed.restitution[row]
    }

    /// Who touches what.
    #[inline]
    pub fn key(&self, candidate: usize) -> Key {
        self.packed.keys[candidate]
    }

    /// Relative velocity along a row at the end of the step, and what restitution adds to it in the law.
    #[inline]
    pub fn law_rate(&self, row: usize, rate: f64, u0: &[f64]) -> f64 {
        rate - self.packed.drift(row)[1] + self.packed.restitution[row] * u0[row]
    }

    /// Relative velocities along all rows for the velocities `v` at the start (0) or at the end (1) of the step.
    pub fn rates(&self, v: &[f64], end: usize, rates: &mut [f64]) {
        self.packed.rates(v, end, rates);
    }

    /// Overwrites `gaps` with those of all candidates at displacement `q`, the obstacles where they are at the start (0) or at
    /// the end (1) of the step.
    pub fn gaps(&self, q: &[f64], end: usize, gaps: &mut Vec<f64>) {
        self.packed.gaps(q, end, |candidate| self.curved_gap(candidate, q, end), gaps);
    }

    fn curved_gap(&self, candidate: usize, q: &[f64], end: usize) -> f64 {
        let candidate = &self.candidates[candidate];
        candidate.gap(q, candidate.shift[end])
    }

    /// The depth at which a node at displacement `q` is in the middle of what is behind the surface of a candidate: the radius of a circle, half of
    /// the thickness of a closed polyline; infinite if that is more than `limit`, or for other candidates.
    pub fn middle_depth(&self, contacts: &Contacts, candidate: &Candidate, q: &[f64], limit: f64) -> f64 {
        let group = candidate.key.group as usize;
        if let Some(radius) = candidate.shape.outer_radius() {
            return radius;
        }
        let search = contacts.searches.iter().find(|search| search.group() == group);
        let position = minus(candidate.place(q), candidate.shift[1]);
        search.map_or(f64::INFINITY, |search| search.half_thickness(candidate, position, 2.0 * limit))
    }

    /// Whether an impulse at a candidate can move anything at all.
    #[inline]
    pub fn responds(&self, candidate: usize) -> bool {
        self.packed.contacts[candidate].responds
    }

    /// f += G p for all rows.
    pub fn push(&self, p: &[f64], f: &mut [f64]) {
        self.packed.push(p, f);
    }
}

/// Displacements of an obstacle at the start, at the middle and at the end of the step; in analyses without steps all are those of the
/// instant `when`.
fn instants(shifts: [[f64; 2]; 3], when: usize) -> [[f64; 2]; 3] {
    if when == 1 { shifts } else { [shifts[when]; 3] }
}
