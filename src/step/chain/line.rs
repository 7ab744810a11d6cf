//! A system as a line of unknowns, each coupled to its neighbours alone: its arrays, and the factor of its matrix.
//!
//! All arrays are woven, see [`crate::la::lanes`].

use crate::contact::Scene;
use crate::la::Factor;
use crate::la::lanes::{LANES, Row, Weave};
use crate::schemes::Tableau;
use crate::system::System;

/// Entries below this part of the largest change no digit; they are left out, before they become subnormal.
const NEGLIGIBLE: f64 = 1e-20;

/// Rows in a block.
pub(super) const BLOCK: usize = 64;

/// A carried value below this is zero: far ahead of a wave it would decay into subnormal numbers and stay there.
const VANISHED: f64 = 1e-200;

/// Sets carried values that have vanished to zero.
pub(super) fn settle(row: &mut Row) {
    if row.iter().any(|x| x.abs() < VANISHED) {
        *row = row.map(|x| if x.abs() < VANISHED { 0.0 } else { x });
    }
}

/// The rows of a woven array, and what is behind them.
pub(super) fn split(x: &[f64], n: usize) -> (&[Row], &[f64]) {
    x[..n].as_chunks()
}

/// The values of the unknowns after those of the last row: in the next lane, or behind all rows.
pub(super) fn after(first: &Row, behind: f64) -> Row {
    [first[1], first[2], first[3], behind]
}

/// The values of the unknowns before those of the first row.
pub(super) fn before(last: &Row) -> Row {
    [0.0, last[0], last[1], last[2]]
}

/// The last number in the rows of an array, and then those behind them; zeros if it is absent.
pub(super) fn from_last_lane(rows: &[Row], tail: &[f64]) -> Row {
    let [a, b, c] = [0, 1, 2].map(|k| tail.get(k).copied().unwrap_or(0.0));
    [rows.last().map_or(0.0, |row| row[LANES - 1]), a, b, c]
}

/// Masses and stiffnesses.
pub(super) struct Line {
    pub n: usize,
    pub weave: Weave,
    /// Diagonal of the mass matrix.
    pub mass: Vec<f64>,
    /// Entries of the mass matrix, and stiffnesses, between an unknown and the one before it. The first unknown may have
    /// a support before it.
    pub coupling: Vec<f64>,
    pub stiffness: Vec<f64>,
    /// Stiffness between the last unknown and a support after it.
    pub last_stiffness: f64,
    /// Force of gravity; empty if there is none.
    pub gravity: Vec<f64>,
}

impl Line {
    /// The line form of a system, if it has one.
    pub fn recognise(system: &System) -> Option<Line> {
        let (n, total) = (system.nodes.free, system.nodes.total);
        let weave = system.nodes.weave?;
        if !system.linear || system.damped || system.is_loaded() {
            return None;
        }
        let mut offset = vec![0.0; total];
        system.internal(&vec![0.0; total], &mut offset);
        if offset.iter().any(|&f| f != 0.0) {
            return None;
        }
        let gravity = &system.gravity[..n];
        let mut line = Line {
            n,
            weave,
            mass: vec![0.0; n],
            coupling: vec![0.0; n],
            stiffness: vec![0.0; n],
            last_stiffness: 0.0,
            gravity: if gravity.iter().any(|&f| f != 0.0) { gravity.to_vec() } else { Vec::new() },
        };
        let mut held = [None; 2];
        for element in &system.elements {
            let block = element.block();
            for e in 0..block.len() {
                let (mass, stiffness) = (element.mass(e), element.tangent(e, &system.q0).stiffness);
                let dofs = block.element(e);
                for (i, &dof) in dofs.iter().enumerate().filter(|(_, dof)| (**dof as usize) < n) {
                    line.mass[dof as usize] += mass[(i, i)];
                }
                match *dofs {
                    [_] if stiffness[(0, 0)] == 0.0 => {}
                    [a, b] => {
                        let k = stiffness[(0, 0)];
                        if stiffness[(0, 1)] != -k || stiffness[(1, 0)] != -k || stiffness[(1, 1)] != k {
                            return None;
                        }
                        line.join([a, b].map(|dof| dof as usize), k, mass[(0, 1)], &mut held)?;
                    }
                    _ => return None,
                }
            }
        }
        Some(line)
    }

    /// Adds an element; `held` are the supports beyond the ends.
    fn join(&mut self, dofs: [usize; 2], k: f64, m: f64, held: &mut [Option<usize>; 2]) -> Option<()> {
        let n = self.n;
        let [a, b] = dofs.map(|dof| if dof < n { self.weave.unknown(dof) } else { dof });
        let (low, high) = (a.min(b), a.max(b));
        if low >= n || (k == 0.0 && m == 0.0) {
            return Some(());
        }
        if high < n {
            let place = self.weave.place(high);
            self.stiffness[place] += k;
            self.coupling[place] += m;
            return (high == low + 1).then_some(());
        }
        let end = match low {
            0 => 0,
            _ if low == n - 1 => 1,
            _ => return None,
        };
        *(if end == 0 { &mut self.stiffness[0] } else { &mut self.last_stiffness }) += k;
        (*held[end].get_or_insert(high) == high).then_some(())
    }

    /// Stiffness between unknown i of the line and the one before it.
    fn stiffness_before(&self, i: usize) -> f64 {
        if i < self.n { self.stiffness[self.weave.place(i)] } else { self.last_stiffness }
    }
}

/// Factor of Â. The first unknown of each lane is a separator and is eliminated after all others, which are eliminated
/// from the end of their lane to its beginning. An unknown is eliminated from the one before it with `lower` of its own,
/// and from the next separator with `fill`.
pub(super) struct Lanes {
    /// Step size that it belongs to.
    pub h: f64,
    pub weave: Weave,
    pub lower: Vec<f64>,
    pub fill: Vec<f64>,
    pub pivot: Vec<f64>,
    /// Row before which `fill` is zero.
    pub filled_from: usize,
    /// Pivots and multipliers of the separators.
    reduced: Row,
    reduced_lower: Row,
    /// Answers to unit impulses, by contact row.
    pub responses: Vec<Response>,
}

/// What a unit impulse does in a step.
pub(super) struct Response {
    /// Velocity jump.
    pub jump: Sparse,
    /// Change of the eliminated right-hand side, and of the accelerations of the separators.
    pub load: Sparse,
    pub separators: Row,
}

/// A vector that is zero but for some rows.
pub(super) struct Sparse {
    pub rows: Vec<(u32, Row)>,
    /// Entries behind all rows.
    pub tail: Row,
}

impl Sparse {
    /// The entries of a vector along the line that matter.
    fn of(vector: &[f64], weave: Weave) -> Sparse {
        let floor = NEGLIGIBLE * vector.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        let at = |i: usize| vector.get(i).copied().filter(|x| x.abs() > floor).unwrap_or(0.0);
        let rows = (0..weave.rows).map(|j| (j as u32, std::array::from_fn(|lane| at(lane * weave.rows + j))));
        Sparse {
            rows: rows.filter(|(_, row)| *row != [0.0; LANES]).collect(),
            tail: std::array::from_fn(|k| at(LANES * weave.rows + k)),
        }
    }

    /// Its rows before `end`, without the first `done` of them.
    pub fn until(&self, done: usize, end: usize) -> &[(u32, Row)] {
        let left = &self.rows[done..];
        if left.last().is_none_or(|(row, _)| (*row as usize) < end) {
            return left;
        }
        let count = left.iter().take_while(|(row, _)| (*row as usize) < end).count();
        &left[..count]
    }
}

impl Lanes {
    /// Factor for a step size, with the answers to all contacts of a scene. Pivots of a matrix that the general factor
    /// accepted are taken as they are.
    pub fn new(line: &Line, row: &Tableau, h: f64, scene: &Scene, mass_factor: &mut Factor) -> Lanes {
        let (n, weave) = (line.n, line.weave);
        let (m, k) = (1.0 - row.alpha_m, (1.0 - row.alpha_f) * h * h * row.b1);
        let stiff = |i: usize| line.stiffness_before(i) + line.stiffness_before(i + 1);
        let mut diagonal: Vec<f64> = (0..n).map(|i| m * line.mass[weave.place(i)] + k * stiff(i)).collect();
        let off = |i: usize| m * line.coupling[weave.place(i)] - k * line.stiffness[weave.place(i)];
        let mut this = Lanes {
            h,
            weave,
            lower: vec![0.0; n],
            fill: vec![0.0; n],
            pivot: vec![1.0; n],
            filled_from: weave.rows,
            reduced: [0.0; LANES],
            reduced_lower: [0.0; LANES],
            responses: Vec::new(),
        };
        let mut couplings = [0.0; LANES];
        let mut added = [0.0; LANES + 1];
        for lane in 0..LANES {
            let (begin, end) = this.range(lane);
            let mut fill = if lane + 1 < LANES { off(end) } else { 0.0 };
            for i in (begin + 1..end).rev() {
                let place = weave.place(i);
                this.pivot[place] = 1.0 / diagonal[i];
                this.lower[place] = off(i) * this.pivot[place];
                diagonal[i - 1] -= this.lower[place] * off(i);
                if fill != 0.0 {
                    this.fill[place] = fill * this.pivot[place];
                    this.filled_from = this.filled_from.min(i - begin);
                    added[lane + 1] -= this.fill[place] * fill;
                }
                fill *= -this.lower[place];
                if fill.abs() < NEGLIGIBLE * diagonal[i - 1].abs() {
                    fill = 0.0;
                }
            }
            couplings[lane] = fill;
        }
        for s in 0..LANES {
            let own = diagonal[this.range(s).0] + added[s];
            this.reduced[s] = own - if s > 0 { this.reduced_lower[s - 1] * couplings[s - 1] } else { 0.0 };
            this.reduced_lower[s] = couplings[s] / this.reduced[s];
        }
        for (_, entries) in scene.candidates.iter().flat_map(|candidate| candidate.rows_of()) {
            let mut woven = vec![0.0; n];
            entries.entries().iter().filter(|(d, _)| (*d as usize) < n).for_each(|&(d, g)| woven[d as usize] += g);
            mass_factor.solve(&mut woven);
            let jump: Vec<f64> = (0..n).map(|i| woven[weave.place(i)]).collect();
            let tension = |i: usize| {
                let [before, own] = [i.wrapping_sub(1), i].map(|i| jump.get(i).copied().unwrap_or(0.0));
                line.stiffness_before(i) * (own - before)
            };
            let share = (1.0 - row.alpha_f) * h * row.c;
            let mut load: Vec<f64> = (0..n).map(|i| share * (tension(i + 1) - tension(i))).collect();
            let mut separators = this.eliminate(&mut load);
            this.solve_separators(&mut separators);
            let [jump, load] = [jump, load].map(|vector| Sparse::of(&vector, weave));
            this.responses.push(Response { jump, load, separators });
        }
        this
    }

    /// First unknown of a lane and the one after its last; the last lane goes on behind the rows.
    fn range(&self, lane: usize) -> (usize, usize) {
        let rows = self.weave.rows;
        (lane * rows, if lane + 1 == LANES { self.pivot.len() } else { (lane + 1) * rows })
    }

    /// Eliminates all but the separators from a right-hand side along the line and returns what is left for them.
    fn eliminate(&self, y: &mut [f64]) -> Row {
        let mut left = [0.0; LANES];
        for lane in 0..LANES {
            let (begin, end) = self.range(lane);
            for i in (begin + 1..end).rev() {
                let place = self.weave.place(i);
                y[i - 1] -= self.lower[place] * y[i];
                if lane + 1 < LANES {
                    left[lane + 1] -= self.fill[place] * y[i];
                }
            }
            left[lane] += y[begin];
        }
        left
    }

    /// Accelerations of the separators, in place.
    pub fn solve_separators(&self, z: &mut Row) {
        for s in 1..LANES {
            z[s] -= self.reduced_lower[s - 1] * z[s - 1];
        }
        z[LANES - 1] /= self.reduced[LANES - 1];
        for s in (0..LANES - 1).rev() {
            z[s] = z[s] / self.reduced[s] - self.reduced_lower[s] * z[s + 1];
        }
    }

    /// Acceleration at one place from the eliminated right-hand side, without that of all before it: only those are
    /// found again that still matter there.
    pub fn acceleration(&self, place: usize, y: &[f64], separators: &Row) -> f64 {
        if place < LANES {
            return separators[place];
        }
        let weave = self.weave;
        let i = weave.unknown(place);
        let lane = (i / weave.rows).min(LANES - 1);
        let begin = lane * weave.rows;
        let (mut from, mut reach) = (i, 1.0);
        while from > begin && reach > NEGLIGIBLE {
            reach *= self.lower[weave.place(from)].abs();
            from -= 1;
        }
        let next = if lane + 1 < LANES { separators[lane + 1] } else { 0.0 };
        let mut x = if from == begin { separators[lane] } else { 0.0 };
        for place in (from + 1..=i).map(|j| weave.place(j)) {
            x = self.pivot[place] * y[place] - self.lower[place] * x - self.fill[place] * next;
        }
        x
    }
}
