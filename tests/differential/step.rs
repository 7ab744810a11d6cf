//! One step of any row, dense and slow: Newton's method on (T1)–(T4), or (T7) with position correction.

use super::obstacles::Touch;
use super::problem::Problem;
use super::sides::Sides;
use super::trial::{Trial, driven};
use nalgebra::{DMatrix, DVector};

/// Part of the model's length below which a gap counts as closed.
const CLOSED: f64 = 1e-11;
/// Turn of a section in one step beyond which a beam may have several equilibria.
const FAR: f64 = 0.5;

/// Motion and forces at an instant.
#[derive(Clone)]
pub struct State {
    pub time: f64,
    pub q: DVector<f64>,
    pub v: DVector<f64>,
    pub a: DVector<f64>,
    pub strain: f64,
    /// Internal, damping and applied forces.
    pub internal: DVector<f64>,
    pub viscous: DVector<f64>,
    pub applied: DVector<f64>,
    /// Reactions in driven rows; zero elsewhere.
    pub reaction: DVector<f64>,
    /// Forces of contacts on massless nodes.
    pub force: Vec<f64>,
    /// Velocity of every obstacle.
    pub drift: Vec<[f64; 2]>,
    /// On which side of what it may touch a node was.
    pub sides: Sides,
}

/// Gap and rows of a contact in a step.
pub struct Contact {
    pub touch: Touch,
    pub normal: DVector<f64>,
    pub sliding: Option<DVector<f64>>,
    /// Velocity of the obstacle along normal and tangent, at the start and at the end.
    pub drift: [[f64; 2]; 2],
    pub active: bool,
    /// Impulses along normal and tangent.
    pub impulse: [f64; 2],
    pub correction: f64,
    pub gap: f64,
}

pub struct Step {
    pub state: State,
    pub h: f64,
    pub contacts: Vec<Contact>,
    /// Jump of velocities and shift of positions.
    pub jump: DVector<f64>,
    pub shift: DVector<f64>,
    /// Least distance of a forecast from its threshold, in parts of the model's length.
    pub margin: f64,
    /// Why the step may have another solution.
    pub doubt: Option<&'static str>,
}

impl Problem {
    pub fn forces(&self, q: &DVector<f64>, v: &DVector<f64>) -> (f64, DVector<f64>, DVector<f64>) {
        let mut internal = DVector::zeros(self.count);
        let strain = self.elements.iter().map(|element| element.internal(q, &mut internal)).sum();
        (strain, internal, self.damping_at(q) * v)
    }

    pub fn damping_at(&self, q: &DVector<f64>) -> DMatrix<f64> {
        let mut damping = self.damping.clone();
        self.elements.iter().for_each(|element| element.damping(q, &mut damping));
        damping
    }

    pub fn stiffness_at(&self, q: &DVector<f64>) -> DMatrix<f64> {
        let mut stiffness = DMatrix::zeros(self.count, self.count);
        self.elements.iter().for_each(|element| element.stiffness(q, &mut stiffness));
        stiffness
    }

    pub fn applied(&self, t: f64) -> DVector<f64> {
        let mut applied = DVector::zeros(self.count);
        self.loads.iter().for_each(|(force, time)| applied += force * time.value(t));
        applied
    }

    /// Solves with the free rows of a matrix; other rows of the solution are zero. `None` if the matrix is singular.
    pub fn try_solve(&self, matrix: &DMatrix<f64>, right: &DVector<f64>) -> Option<DVector<f64>> {
        let free = &self.free;
        let part = DMatrix::from_fn(free.len(), free.len(), |i, j| matrix[(free[i], free[j])]);
        let rows = DVector::from_fn(free.len(), |i, _| right[free[i]]);
        let solution = part.full_piv_lu().solve(&rows)?;
        let mut whole = DVector::zeros(self.count);
        free.iter().zip(solution.iter()).for_each(|(&dof, &value)| whole[dof] = value);
        Some(whole)
    }

    /// Solves with the free rows of a matrix that is known to be regular.
    pub fn solve_one(&self, matrix: &DMatrix<f64>, right: &DVector<f64>) -> DVector<f64> {
        self.try_solve(matrix, right).expect("the matrix is regular")
    }

    /// Displacement of an obstacle.
    pub fn shift(&self, group: usize, t: f64) -> [f64; 2] {
        let motion = &self.contacts[group].motion;
        [0, 1].map(|k| motion.iter().map(|(axis, function)| axis[k] * function.value(t)).sum())
    }

    pub fn drift(&self, group: usize, t: f64) -> [f64; 2] {
        let motion = &self.contacts[group].motion;
        [0, 1].map(|k| motion.iter().map(|(axis, function)| axis[k] * function.rate(t)).sum())
    }

    /// The state at t = 0: accelerations balance all forces but those of contact.
    pub fn start(&self) -> Result<State, String> {
        let (q, v) = (self.q0.clone(), self.v0.clone());
        let (strain, internal, viscous) = self.forces(&q, &v);
        let applied = self.applied(0.0);
        let mut a = DVector::zeros(self.count);
        self.drives.iter().for_each(|(dof, function)| a[*dof] = function.second_rate(0.0));
        let rest = &applied + &self.weight - &internal - &viscous;
        if self.massless.is_none() {
            a += self.solve_one(&self.mass, &(&rest - &self.mass * &a));
        }
        let whole = &self.mass * &a - rest;
        let mut reaction = DVector::zeros(self.count);
        self.drives.iter().for_each(|(dof, _)| reaction[*dof] = whole[*dof]);
        let drift = (0..self.contacts.len()).map(|group| self.drift(group, 0.0)).collect();
        let sides = Sides::new();
        let mut state =
            State { time: 0.0, q, v, a, strain, internal, viscous, applied, reaction, force: vec![], drift, sides };
        if self.massless.is_some() {
            self.massless_start(&mut state)?;
        }
        Ok(state)
    }

    /// The step from `from` to `t1`; an error says what did not converge.
    pub fn step(&self, from: &State, t1: f64, h: f64) -> Result<Step, String> {
        let row = &self.row;
        if self.massless.is_some() {
            return self.force_step(from, t1, h);
        }
        let mut step = Trial::new(self, from, t1, h);
        if self.ggl {
            step.iterate(false)?;
            for contact in &mut step.contacts {
                let gap = contact.touch.measure(self, &step.q, self.shift(contact.touch.group, t1)).gap;
                let beyond = gap - CLOSED * self.length;
                contact.active = beyond <= 0.0;
                step.margin = step.margin.min(beyond.abs() / self.length);
            }
        } else {
            let speed = (0..self.dofs.len()).map(|node| {
                let v = self.translations(node).map(|dof| dof.map_or(0.0, |dof| from.v[dof]));
                v[0].hypot(v[1])
            });
            let tolerance = CLOSED * (self.length + h * speed.fold(0.0, f64::max));
            for contact in &mut step.contacts {
                let gap = contact.touch.measure(self, &from.q, self.shift(contact.touch.group, from.time)).gap;
                let rate = contact.normal.dot(&from.v) - contact.drift[0][0];
                let beyond = gap + self.forecast * h * rate - tolerance;
                contact.active = beyond <= 0.0;
                step.margin = step.margin.min(beyond.abs() / self.length);
            }
        }
        step.iterate(true)?;
        let Trial { q, v, a, mut contacts, sides, jump, shift, margin, ambiguous, .. } = step;
        let (strain, internal, viscous) = self.forces(&q, &v);
        let applied = self.applied(t1);
        let balance = residual(self, from, [&a, &internal, &viscous, &applied]);
        let mut reaction = DVector::zeros(self.count);
        for (dof, _) in &self.drives {
            reaction[*dof] = (balance[*dof] - row.alpha_f * from.reaction[*dof]) / (1.0 - row.alpha_f);
        }
        for contact in &mut contacts {
            contact.gap = contact.touch.measure(self, &q, self.shift(contact.touch.group, t1)).gap;
        }
        let drift = (0..self.contacts.len()).map(|group| end_drift(self, group, from.time, t1, h)).collect();
        let force = vec![];
        let state = State { time: t1, q, v, a, strain, internal, viscous, applied, reaction, force, drift, sides };
        let doubt = ambiguous.then_some("the law has several solutions").or_else(|| self.turns_far(from, &state));
        Ok(Step { state, h, contacts, jump, shift, margin, doubt })
    }

    /// Exact beams whose sections turn far in one step have several equilibria, and which of them Newton's method finds is a
    /// matter of its first guess.
    fn turns_far(&self, from: &State, to: &State) -> Option<&'static str> {
        let turned = self.dofs.iter().filter_map(|own| own[2]).map(|dof| (to.q[dof] - from.q[dof]).abs());
        (!self.linear && turned.fold(0.0, f64::max) > FAR).then_some("a section that turns far in one step")
    }

    /// A step in which contact is a force on massless nodes.
    fn force_step(&self, from: &State, t1: f64, h: f64) -> Result<Step, String> {
        let mut state = self.massless_step(from, t1, h, driven(self, from, t1, h))?;
        let balance = residual(self, from, [&state.a, &state.internal, &state.viscous, &state.applied]);
        for (dof, _) in &self.drives {
            state.reaction[*dof] = (balance[*dof] - self.row.alpha_f * from.reaction[*dof]) / (1.0 - self.row.alpha_f);
        }
        let zero = || DVector::zeros(self.count);
        let doubt = self.turns_far(from, &state);
        Ok(Step { state, h, contacts: vec![], jump: zero(), shift: zero(), margin: f64::INFINITY, doubt })
    }
}

/// (T59).
pub fn end_drift(problem: &Problem, group: usize, t0: f64, t1: f64, h: f64) -> [f64; 2] {
    let (rate, [before, after]) = (problem.drift(group, t1), [t0, t1].map(|t| problem.shift(group, t)));
    [0, 1].map(|k| rate[k] + (2.0 * problem.row.c - 1.0) * ((after[k] - before[k]) / h - rate[k]))
}

/// Left-hand side of (T3).
pub fn residual(problem: &Problem, from: &State, [a, internal, viscous, applied]: [&DVector<f64>; 4]) -> DVector<f64> {
    let row = &problem.row;
    let (f0, f1) = (&from.internal - &from.applied - &problem.weight, internal - applied - &problem.weight);
    &problem.mass * (&from.a * row.alpha_m + a * (1.0 - row.alpha_m))
        + f0 * row.alpha_f
        + f1 * (1.0 - row.alpha_f)
        + &from.viscous * row.alpha_c
        + viscous * (1.0 - row.alpha_c)
}
