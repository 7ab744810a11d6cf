//! A system as a line of unknowns, each coupled to its neighbours alone: its arrays, and the factor of its matrix.

use crate::contact::Scene;
use crate::la::Factor;
use crate::schemes::Tableau;
use crate::system::System;

/// Segments that are eliminated side by side: the recurrence of one hides the latency of the others.
pub(super) const SEGMENTS: usize = 4;

/// Shorter lines gain nothing.
const SHORTEST: usize = 32;

/// Entries below this part of the largest change no digit; they are left out, before they become subnormal.
const NEGLIGIBLE: f64 = 1e-20;

/// Masses and stiffnesses. Edge i joins unknowns i − 1 and i; the first and the last lead to supports or nowhere.
pub(super) struct Line {
    pub n: usize,
    /// Diagonal of the mass matrix, and its entries on the edges.
    pub mass: Vec<f64>,
    pub coupling: Vec<f64>,
    pub stiffness: Vec<f64>,
    /// Held degrees of freedom beyond the ends.
    pub held: [Option<usize>; 2],
    /// Force of gravity, if there is any.
    pub gravity: Option<Vec<f64>>,
}

impl Line {
    /// The line form of a system, if it has one.
    pub fn recognise(system: &System) -> Option<Line> {
        let (n, total) = (system.nodes.free, system.nodes.total);
        let plain = system.linear && !system.damped && !system.is_loaded() && system.drives.is_empty();
        if n < SHORTEST || !plain || system.redistribution.is_some() {
            return None;
        }
        let mut offset = vec![0.0; total];
        system.internal(&vec![0.0; total], &mut offset);
        if offset.iter().any(|&f| f != 0.0) {
            return None;
        }
        let gravity = system.gravity[..n].to_vec();
        let mut line = Line {
            n,
            mass: vec![0.0; n],
            coupling: vec![0.0; n + 1],
            stiffness: vec![0.0; n + 1],
            held: [None; 2],
            gravity: gravity.iter().any(|&f| f != 0.0).then_some(gravity),
        };
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
                        line.join(a.min(b) as usize, a.max(b) as usize, k, mass[(0, 1)])?;
                    }
                    _ => return None,
                }
            }
        }
        Some(line)
    }

    fn join(&mut self, low: usize, high: usize, k: f64, m: f64) -> Option<()> {
        let n = self.n;
        if low >= n || (k == 0.0 && m == 0.0) {
            return Some(());
        }
        if high < n {
            self.stiffness[high] += k;
            self.coupling[high] += m;
            return (high == low + 1).then_some(());
        }
        let (end, edge) = match low {
            0 => (0, 0),
            _ if low == n - 1 => (1, n),
            _ => return None,
        };
        self.stiffness[edge] += k;
        (*self.held[end].get_or_insert(high) == high).then_some(())
    }

    /// y = K x.
    fn stiffness_times(&self, x: &[f64], y: &mut [f64]) {
        let (n, k) = (self.n, &self.stiffness);
        for i in 0..n {
            let left = if i > 0 { x[i - 1] } else { 0.0 };
            let right = if i + 1 < n { x[i + 1] } else { 0.0 };
            y[i] = k[i] * (x[i] - left) - k[i + 1] * (right - x[i]);
        }
    }
}

/// Factor of Â. The unknowns are cut into segments; the first of each is a separator and is eliminated after all others,
/// which are eliminated from the end of their segment to its beginning. Row i − 1 gets `lower[i]` times row i, and the
/// next separator gets `fill[i]` times row i.
pub(super) struct Segments {
    /// Step size that it belongs to.
    pub h: f64,
    /// Length of all segments but the last, which takes up to three unknowns more.
    pub length: usize,
    pub lower: Vec<f64>,
    pub fill: Vec<f64>,
    pub pivot: Vec<f64>,
    /// The same, side by side.
    pub rows: Rows,
    /// Place in a segment before which `fill` is zero.
    pub filled_from: usize,
    /// Pivots and multipliers of the separators.
    reduced: [f64; SEGMENTS],
    reduced_lower: [f64; SEGMENTS],
    /// Answers to unit impulses, by contact row.
    pub responses: Vec<Response>,
}

/// The factor at the same place of all segments in one row, so that the passes read it in one stream.
#[derive(Default)]
pub(super) struct Rows {
    /// One row more than a segment has: the last one leads to what the last segment is longer.
    pub lower: Vec<[f64; SEGMENTS]>,
    pub fill: Vec<[f64; SEGMENTS]>,
    pub pivot: Vec<[f64; SEGMENTS]>,
}

/// What a unit impulse does in a step.
#[derive(Default)]
pub(super) struct Response {
    /// Velocity jump.
    pub jump: Stretch,
    /// Change of the eliminated right-hand side, and of the accelerations of the separators.
    pub load: Stretch,
    pub separators: [f64; SEGMENTS],
}

/// Part of a vector that is zero elsewhere.
#[derive(Default)]
pub(super) struct Stretch {
    start: usize,
    values: Vec<f64>,
}

impl Stretch {
    fn of(vector: &[f64]) -> Stretch {
        let floor = NEGLIGIBLE * vector.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        let Some(start) = vector.iter().position(|x| x.abs() > floor) else { return Stretch::default() };
        let end = vector.iter().rposition(|x| x.abs() > floor).map_or(start, |last| last + 1);
        Stretch { start, values: vector[start..end].to_vec() }
    }

    /// Adds s times this to the part of a vector that begins at `first`.
    #[inline(always)]
    pub fn add(&self, s: f64, first: usize, part: &mut [f64]) {
        let from = self.start.max(first);
        let to = (self.start + self.values.len()).min(first + part.len());
        for i in from..to {
            part[i - first] += s * self.values[i - self.start];
        }
    }
}

impl Segments {
    /// Factor for a step size, with the answers to all contacts of a scene. Pivots of a matrix that the general factor
    /// accepted are taken as they are.
    pub fn new(line: &Line, row: &Tableau, h: f64, scene: &Scene, mass_factor: &mut Factor) -> Segments {
        let n = line.n;
        let length = n / SEGMENTS;
        let (m, k) = (1.0 - row.alpha_m, (1.0 - row.alpha_f) * h * h * row.b1);
        let mut diagonal: Vec<f64> =
            (0..n).map(|i| m * line.mass[i] + k * (line.stiffness[i] + line.stiffness[i + 1])).collect();
        let off = |i: usize| m * line.coupling[i] - k * line.stiffness[i];
        let mut this = Segments {
            h,
            length,
            lower: vec![0.0; n + 1],
            fill: vec![0.0; n],
            pivot: vec![1.0; n],
            rows: Rows::default(),
            filled_from: length,
            reduced: [0.0; SEGMENTS],
            reduced_lower: [0.0; SEGMENTS],
            responses: Vec::new(),
        };
        let mut couplings = [0.0; SEGMENTS];
        let mut added = [0.0; SEGMENTS + 1];
        for s in 0..SEGMENTS {
            let (begin, end) = this.range(s);
            let mut fill = if s + 1 < SEGMENTS { off(end) } else { 0.0 };
            for i in (begin + 1..end).rev() {
                this.pivot[i] = 1.0 / diagonal[i];
                this.lower[i] = off(i) * this.pivot[i];
                diagonal[i - 1] -= this.lower[i] * off(i);
                if fill != 0.0 {
                    this.fill[i] = fill * this.pivot[i];
                    this.filled_from = this.filled_from.min(i - begin);
                    added[s + 1] -= this.fill[i] * fill;
                }
                fill *= -this.lower[i];
                if fill.abs() < NEGLIGIBLE * diagonal[i - 1].abs() {
                    fill = 0.0;
                }
            }
            couplings[s] = fill;
        }
        for s in 0..SEGMENTS {
            let own = diagonal[this.range(s).0] + added[s];
            this.reduced[s] = own - if s > 0 { this.reduced_lower[s - 1] * couplings[s - 1] } else { 0.0 };
            this.reduced_lower[s] = couplings[s] / this.reduced[s];
        }
        let gather = |x: &[f64], j: usize| std::array::from_fn(|s| x[s * length + j]);
        this.rows.lower = (0..=length).map(|j| gather(&this.lower, j)).collect();
        this.rows.fill = (0..length).map(|j| gather(&this.fill, j)).collect();
        this.rows.pivot = (0..length).map(|j| gather(&this.pivot, j)).collect();
        let share = -(1.0 - row.alpha_f) * h * row.c;
        for (_, entries) in scene.candidates.iter().flat_map(|candidate| candidate.rows_of()) {
            let (mut jump, mut load) = (vec![0.0; n], vec![0.0; n]);
            entries.entries().iter().filter(|(d, _)| (*d as usize) < n).for_each(|&(d, part)| jump[d as usize] += part);
            mass_factor.solve(&mut jump);
            line.stiffness_times(&jump, &mut load);
            load.iter_mut().for_each(|x| *x *= share);
            let mut separators = this.eliminate(&mut load);
            this.solve_separators(&mut separators);
            this.responses.push(Response { jump: Stretch::of(&jump), load: Stretch::of(&load), separators });
        }
        this
    }

    /// First unknown of a segment and the one after its last.
    pub fn range(&self, segment: usize) -> (usize, usize) {
        let end = if segment + 1 == SEGMENTS { self.pivot.len() } else { (segment + 1) * self.length };
        (segment * self.length, end)
    }

    /// Eliminates all but the separators from a right-hand side and returns what is left for them.
    fn eliminate(&self, y: &mut [f64]) -> [f64; SEGMENTS] {
        let mut left = [0.0; SEGMENTS];
        for s in 0..SEGMENTS {
            let (begin, end) = self.range(s);
            for i in (begin + 1..end).rev() {
                y[i - 1] -= self.lower[i] * y[i];
                if s + 1 < SEGMENTS {
                    left[s + 1] -= self.fill[i] * y[i];
                }
            }
            left[s] += y[begin];
        }
        left
    }

    /// Accelerations of the separators, in place.
    pub fn solve_separators(&self, z: &mut [f64; SEGMENTS]) {
        for s in 1..SEGMENTS {
            z[s] -= self.reduced_lower[s - 1] * z[s - 1];
        }
        z[SEGMENTS - 1] /= self.reduced[SEGMENTS - 1];
        for s in (0..SEGMENTS - 1).rev() {
            z[s] = z[s] / self.reduced[s] - self.reduced_lower[s] * z[s + 1];
        }
    }

    /// Acceleration of one unknown from the eliminated right-hand side, without that of all before it: only those are
    /// found again that still matter there.
    pub fn acceleration(&self, i: usize, y: &[f64], separators: &[f64; SEGMENTS]) -> f64 {
        let segment = (i / self.length).min(SEGMENTS - 1);
        let (begin, _) = self.range(segment);
        let (mut from, mut reach) = (i, 1.0);
        while from > begin && reach > NEGLIGIBLE {
            reach *= self.lower[from].abs();
            from -= 1;
        }
        let next = if segment + 1 < SEGMENTS { separators[segment + 1] } else { 0.0 };
        let mut x = if from == begin { separators[segment] } else { 0.0 };
        for j in from + 1..=i {
            x = self.pivot[j] * y[j] - self.lower[j] * x - self.fill[j] * next;
        }
        x
    }
}
