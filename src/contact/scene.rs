//! What may touch in one step: candidates with their gradients frozen at its middle.

use super::candidate::{Candidate, Key};
use super::packed::Packed;
use super::search::{Scratch, View};
use super::shape::{Shape, inner, minus, tangent};
use crate::state::State;
use crate::system::System;
use std::ops::Range;

/// Part of the model's length within which gaps are looked at, whatever the speed.
const NEAR: f64 = 0.01;

/// Candidates of a step: those that are always there, then those that searches found, in the order of their keys.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// All candidates.
    pub candidates: Vec<Candidate>,
    /// Number of rows, normal and tangential.
    pub rows: usize,
    permanent: usize,
    found: Vec<Candidate>,
    middle: Vec<f64>,
    places: Vec<[f64; 2]>,
    shifts: Vec<[[f64; 2]; 3]>,
    rates: Vec<[[f64; 2]; 2]>,
    packed: Packed,
    scratch: Scratch,
}

impl Scene {
    /// The scene of a system before its first step.
    pub fn new(system: &System) -> Scene {
        let contacts = &system.contacts;
        let mut scene = Scene {
            candidates: contacts.candidates.clone(),
            permanent: contacts.candidates.len(),
            middle: vec![0.0; system.nodes.total],
            places: if contacts.searches.is_empty() { Vec::new() } else { vec![[0.0; 2]; system.nodes.place.len()] },
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
    pub fn look(&mut self, system: &System, from: &State, t1: f64, c: f64) {
        if system.contacts.at_rest() {
            return;
        }
        let h = t1 - from.time;
        self.move_obstacles(system, from.time, t1, c);
        // The velocity that ended the last step begins this one, (T59).
        self.rates.iter_mut().zip(&from.obstacle_rates).for_each(|(rates, &before)| rates[0] = before);
        self.settle(system, from, 0.5 * h, 1);
        for candidate in &mut self.candidates {
            let g = candidate.key.group as usize;
            candidate.shift = [self.shifts[g][0], self.shifts[g][2]];
        }
        self.carry();
    }

    /// Takes discrete gradients over the step from `q0` to `q1`, (T63).
    pub fn secants(&mut self, q0: &[f64], q1: &[f64]) {
        self.candidates.iter_mut().for_each(|candidate| candidate.secant(q0, q1));
        self.carry();
    }

    /// Velocities of the obstacles along normals and tangents.
    fn carry(&mut self) {
        for candidate in &mut self.candidates {
            let (n, t) = (candidate.normal, tangent(candidate.normal));
            let rates = self.rates[candidate.key.group as usize];
            candidate.drift = rates.map(|rate| [inner(n, rate), inner(t, rate)]);
        }
        self.pack();
    }

    /// Gradients at a place, the obstacles where they are at its instant; for analyses without steps in time.
    pub fn look_at(&mut self, system: &System, state: &State) {
        self.move_obstacles(system, state.time, state.time, 0.5);
        self.settle(system, state, 0.0, 2);
        for candidate in &mut self.candidates {
            candidate.shift = [self.shifts[candidate.key.group as usize][2]; 2];
        }
        self.pack();
    }

    fn move_obstacles(&mut self, system: &System, t0: f64, t1: f64, c: f64) {
        let h = t1 - t0;
        for (g, group) in system.contacts.groups.iter().enumerate().filter(|(_, group)| !group.motion.is_empty()) {
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
    fn settle(&mut self, system: &System, from: &State, ahead: f64, when: usize) {
        let contacts = &system.contacts;
        if contacts.steady() {
            return;
        }
        for i in 0..self.middle.len() {
            self.middle[i] = from.q[i] + ahead * from.v[i];
        }
        self.candidates.truncate(self.permanent);
        for ledge in &contacts.ledges {
            let candidate = &mut self.candidates[ledge.candidate];
            let shift = self.shifts[candidate.key.group as usize][when];
            let beyond = inner(minus(minus(candidate.place(&self.middle), ledge.point), shift), ledge.direction) < 0.0;
            if beyond {
                candidate.shape = Shape::Circle { centre: ledge.point, radius: 0.0, inside: false };
            } else {
                candidate.lean((ledge.point, ledge.normal));
            }
        }
        if !contacts.searches.is_empty() {
            self.search(system, from, ahead, when);
        }
        for candidate in &mut self.candidates {
            candidate.freeze(&self.middle, self.shifts[candidate.key.group as usize][when]);
        }
        self.number();
    }

    fn search(&mut self, system: &System, from: &State, ahead: f64, when: usize) {
        let nodes = &system.nodes;
        let (mut fastest, mut low, mut high) = (0.0_f64, [f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for (node, place) in self.places.iter_mut().enumerate() {
            *place = nodes.place_at(node, &self.middle);
            let [vx, vy] = nodes.translation(node, &from.v);
            fastest = fastest.max(vx * vx + vy * vy);
            (0..2).for_each(|k| (low[k], high[k]) = (low[k].min(place[k]), high[k].max(place[k])));
        }
        let reach = 4.0 * ahead * fastest.sqrt() + NEAR * system.length;
        let axis = usize::from(high[1] - low[1] > high[0] - low[0]);
        self.found.clear();
        for search in &system.contacts.searches {
            let shift = self.shifts[search.group()][when];
            let known = (from.step > 0).then_some(&from.found[..]);
            let velocity = (&from.v[..], 2.0 * ahead);
            let view = View { nodes, places: &self.places, shift, reach, axis, velocity, known };
            search.find(&view, &mut self.scratch, &mut self.found);
        }
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

    /// Notes in a state which candidates were found, and their rows.
    pub fn note(&self, found: &mut Vec<(Key, u32)>) {
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
