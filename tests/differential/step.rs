//! One step of any row, dense and slow: Newton's method on (T1)–(T4), or (T7) with position correction.

use super::law::{self, Rows};
use super::obstacles::{self, Touch, spread, tangent};
use super::problem::Problem;
use nalgebra::{DMatrix, DVector};

/// Part of the model's length below which a gap counts as closed.
const CLOSED: f64 = 1e-11;
/// Part of the model's length within which contacts that are searched for are looked at.
const NEAR: f64 = 0.01;
/// Most passes of Newton's method.
const PASSES: usize = 200;

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
    /// Velocity of every obstacle.
    pub drift: Vec<[f64; 2]>,
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
    /// Whether the law has several solutions.
    pub ambiguous: bool,
}

impl Problem {
    pub fn forces(&self, q: &DVector<f64>, v: &DVector<f64>) -> (f64, DVector<f64>, DVector<f64>) {
        let mut internal = DVector::zeros(self.count);
        let strain = self.elements.iter().map(|element| element.internal(q, &mut internal)).sum();
        (strain, internal, self.damping_at(q) * v)
    }

    fn damping_at(&self, q: &DVector<f64>) -> DMatrix<f64> {
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

    /// Solves with the free rows of a matrix; other rows of the answer are zero.
    fn solve(&self, matrix: &DMatrix<f64>, right: &DMatrix<f64>) -> DMatrix<f64> {
        let free = &self.free;
        let part = DMatrix::from_fn(free.len(), free.len(), |i, j| matrix[(free[i], free[j])]);
        let rows = DMatrix::from_fn(free.len(), right.ncols(), |i, j| right[(free[i], j)]);
        let answer = part.full_piv_lu().solve(&rows).expect("the effective matrix is regular");
        let mut whole = DMatrix::zeros(self.count, right.ncols());
        for (i, &dof) in free.iter().enumerate() {
            whole.set_row(dof, &answer.row(i));
        }
        whole
    }

    fn solve_one(&self, matrix: &DMatrix<f64>, right: &DVector<f64>) -> DVector<f64> {
        self.solve(matrix, &DMatrix::from_column_slice(self.count, 1, right.as_slice())).column(0).into()
    }

    /// Displacement of an obstacle.
    fn shift(&self, group: usize, t: f64) -> [f64; 2] {
        let motion = &self.contacts[group].motion;
        [0, 1].map(|k| motion.iter().map(|(axis, function)| axis[k] * function.value(t)).sum())
    }

    fn drift(&self, group: usize, t: f64) -> [f64; 2] {
        let motion = &self.contacts[group].motion;
        [0, 1].map(|k| motion.iter().map(|(axis, function)| axis[k] * function.rate(t)).sum())
    }

    /// The state at t = 0: accelerations balance all forces but those of contact.
    pub fn start(&self) -> State {
        let (q, v) = (self.q0.clone(), self.v0.clone());
        let (strain, internal, viscous) = self.forces(&q, &v);
        let applied = self.applied(0.0);
        let mut a = DVector::zeros(self.count);
        self.drives.iter().for_each(|(dof, function)| a[*dof] = function.second_rate(0.0));
        let rest = &applied + &self.weight - &internal - &viscous;
        a += self.solve_one(&self.mass, &(&rest - &self.mass * &a));
        let whole = &self.mass * &a - rest;
        let mut reaction = DVector::zeros(self.count);
        self.drives.iter().for_each(|(dof, _)| reaction[*dof] = whole[*dof]);
        let drift = (0..self.contacts.len()).map(|group| self.drift(group, 0.0)).collect();
        State { time: 0.0, q, v, a, strain, internal, viscous, applied, reaction, drift }
    }

    /// The step from `from` to `t1`; an error says what did not converge.
    pub fn step(&self, from: &State, t1: f64, h: f64) -> Result<Step, String> {
        let row = &self.row;
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
        let Trial { q, v, a, mut contacts, jump, shift, margin, ambiguous, .. } = step;
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
        let state = State { time: t1, q, v, a, strain, internal, viscous, applied, reaction, drift };
        Ok(Step { state, h, contacts, jump, shift, margin, ambiguous })
    }
}

/// (T59).
fn end_drift(problem: &Problem, group: usize, t0: f64, t1: f64, h: f64) -> [f64; 2] {
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

/// A step in the making.
struct Trial<'a> {
    problem: &'a Problem,
    from: &'a State,
    t1: f64,
    h: f64,
    /// What (T1) and (T2) give without the new acceleration.
    q_old: DVector<f64>,
    v_old: DVector<f64>,
    q: DVector<f64>,
    v: DVector<f64>,
    a: DVector<f64>,
    contacts: Vec<Contact>,
    jump: DVector<f64>,
    shift: DVector<f64>,
    margin: f64,
    ambiguous: bool,
}

/// What a multiplier of size one does: to positions and velocities at once, and through the step.
struct Answer {
    q: DVector<f64>,
    v: DVector<f64>,
    a: DVector<f64>,
}

/// Which multiplier of a contact a column belongs to.
enum Part {
    Normal,
    Tangent,
    Position,
}

struct Column {
    contact: usize,
    part: Part,
    answer: Answer,
    /// The multiplier of the pass before.
    old: f64,
}

impl<'a> Trial<'a> {
    fn new(problem: &'a Problem, from: &'a State, t1: f64, h: f64) -> Trial<'a> {
        let row = &problem.row;
        let q_old = &from.q + &from.v * h + &from.a * (h * h * row.b0);
        let v_old = &from.v + &from.a * (h * row.g0);
        let mut a = if row.remembers { from.a.clone() } else { DVector::zeros(problem.count) };
        for (dof, function) in &problem.drives {
            let dof = *dof;
            a[dof] = if row.b1 != 0.0 {
                (function.value(t1) - q_old[dof]) / (h * h * row.b1)
            } else {
                (function.value(t1 + h) - q_old[dof] - h * v_old[dof]) / (h * h * (row.b0 + row.g1))
            };
        }
        let middle = &from.q + &from.v * (0.5 * h);
        let half = from.time + 0.5 * (t1 - from.time);
        let shifts: Vec<[f64; 2]> = (0..problem.contacts.len()).map(|group| problem.shift(group, half)).collect();
        let fastest = (0..problem.dofs.len()).map(|node| {
            let v = problem.translations(node).map(|dof| dof.map_or(0.0, |dof| from.v[dof]));
            v[0].hypot(v[1])
        });
        let reach = 2.0 * h * fastest.fold(0.0, f64::max) + NEAR * problem.length;
        let touches = obstacles::find(problem, &middle, &shifts, reach);
        let contacts = touches.into_iter().map(|touch| {
            let measure = touch.measure(problem, &middle, shifts[touch.group]);
            let drifts = [from.drift[touch.group], end_drift(problem, touch.group, from.time, t1, h)];
            Contact {
                normal: spread(problem, &measure.parts, measure.normal),
                sliding: (problem.contacts[touch.group].friction > 0.0)
                    .then(|| spread(problem, &measure.parts, tangent(measure.normal))),
                drift: along(drifts, measure.normal),
                active: false,
                impulse: [0.0; 2],
                correction: 0.0,
                gap: f64::NAN,
                touch,
            }
        });
        let zero = DVector::zeros(problem.count);
        Trial {
            contacts: contacts.collect(),
            q: from.q.clone(),
            v: from.v.clone(),
            jump: zero.clone(),
            shift: zero,
            margin: f64::INFINITY,
            ambiguous: false,
            problem,
            from,
            t1,
            h,
            q_old,
            v_old,
            a,
        }
    }

    /// Jump, shift, velocities and positions for the multipliers and accelerations at hand.
    fn move_to(&mut self) {
        let (problem, row, h) = (self.problem, &self.problem.row, self.h);
        let (mut pushed, mut shifted) = (DVector::zeros(problem.count), DVector::zeros(problem.count));
        for contact in &self.contacts {
            pushed += &contact.normal * contact.impulse[0];
            shifted += &contact.normal * contact.correction;
            if let Some(sliding) = &contact.sliding {
                pushed += sliding * contact.impulse[1];
                shifted += sliding * (h * row.c * contact.impulse[1]);
            }
        }
        self.jump = problem.solve_one(&problem.mass, &pushed);
        self.shift = if problem.ggl { problem.solve_one(&problem.mass, &shifted) } else { &self.jump * (h * row.c) };
        self.v = &self.v_old + &self.a * (h * row.g1) + &self.jump;
        self.q = &self.q_old + &self.a * (h * h * row.b1) + &self.shift;
    }

    /// With position correction gradients are those over the step.
    fn take_secants(&mut self) {
        let (problem, from) = (self.problem, self.from);
        for contact in &mut self.contacts {
            let group = contact.touch.group;
            let shifts = [problem.shift(group, from.time), problem.shift(group, self.t1)];
            let (measure, normal, sliding) = contact.touch.secant(problem, [&from.q, &self.q], shifts);
            contact.normal = normal;
            contact.sliding = contact.sliding.is_some().then_some(sliding);
            let drifts = [from.drift[group], end_drift(problem, group, from.time, self.t1, self.h)];
            contact.drift = along(drifts, measure.normal);
        }
    }

    /// Newton's method; `touching` says whether contacts take part.
    fn iterate(&mut self, touching: bool) -> Result<(), String> {
        let (problem, from, h) = (self.problem, self.from, self.h);
        let row = problem.row;
        let applied = problem.applied(self.t1);
        let mut last = f64::INFINITY;
        for pass in 0..PASSES {
            self.move_to();
            if problem.ggl && touching {
                self.take_secants();
                self.move_to();
            }
            let (_, internal, viscous) = problem.forces(&self.q, &self.v);
            let rest = residual(problem, from, [&self.a, &internal, &viscous, &applied]);
            let (stiffness, damping) = (problem.stiffness_at(&self.q), problem.damping_at(&self.q));
            let effective = &problem.mass * (1.0 - row.alpha_m)
                + &damping * ((1.0 - row.alpha_c) * h * row.g1)
                + &stiffness * ((1.0 - row.alpha_f) * h * h * row.b1);
            let mut change = -problem.solve_one(&effective, &rest);
            let mut kick = 0.0_f64;
            if touching {
                let answer = |direction: &DVector<f64>, jump: f64, shift: f64| {
                    let moved = problem.solve_one(&problem.mass, direction);
                    let force = &stiffness * &moved * ((1.0 - row.alpha_f) * shift)
                        + &damping * &moved * ((1.0 - row.alpha_c) * jump);
                    let a = -problem.solve_one(&effective, &force);
                    Answer { q: &moved * shift + &a * (h * h * row.b1), v: &moved * jump + &a * (h * row.g1), a }
                };
                let (more, size) = self.contact(&change, &answer)?;
                change += more;
                kick = size;
            }
            self.a += &change;
            let moved = (h * change.amax()).max(kick);
            let speed = self.v.amax().max(from.v.amax()).max(h * self.a.amax()).max(self.q.amax() * 1e-3 / h);
            let settled = moved <= 1e-15 * speed || (moved <= 1e-9 * speed && moved > 0.3 * last);
            last = moved;
            if pass > 0 && settled {
                self.move_to();
                return Ok(());
            }
        }
        Err(format!("Newton's method of the dense code at t = {}", self.t1))
    }

    /// Solves the laws for the motion after `change`; returns what that adds to the accelerations, and the largest
    /// velocity that any impulse or correction changed by.
    ///
    /// With position correction ν/h stands beside p and g/h beside U, so that one problem of one unit holds both laws; a
    /// contact that is not active has its ν once the others would close it.
    fn contact(
        &mut self,
        change: &DVector<f64>,
        answer: &dyn Fn(&DVector<f64>, f64, f64) -> Answer,
    ) -> Result<(DVector<f64>, f64), String> {
        let (problem, h, c) = (self.problem, self.h, self.problem.row.c);
        let dq = change * (h * h * problem.row.b1);
        let v = &self.v + change * (h * problem.row.g1);
        let mut closing: Vec<bool> = match problem.ggl {
            true => self.contacts.iter().map(|contact| contact.active || contact.correction != 0.0).collect(),
            false => vec![false; self.contacts.len()],
        };
        loop {
            let mut columns: Vec<Column> = vec![];
            let mut rows = vec![];
            for (i, contact) in self.contacts.iter().enumerate().filter(|(_, contact)| contact.active) {
                let friction = problem.contacts[contact.touch.group].friction;
                let tangent = contact.sliding.is_some().then_some(columns.len() + 1);
                rows.push(Rows { normal: columns.len(), tangent, friction });
                let shift = if problem.ggl { 0.0 } else { h * c };
                let old = contact.impulse;
                let answer_of = |direction, shift| answer(direction, 1.0, shift);
                columns.push(Column {
                    contact: i,
                    part: Part::Normal,
                    answer: answer_of(&contact.normal, shift),
                    old: old[0],
                });
                if let Some(sliding) = &contact.sliding {
                    let answer = answer_of(sliding, h * c);
                    columns.push(Column { contact: i, part: Part::Tangent, answer, old: old[1] });
                }
            }
            for (i, contact) in self.contacts.iter().enumerate().filter(|(i, _)| closing[*i]) {
                rows.push(Rows { normal: columns.len(), tangent: None, friction: 0.0 });
                let (answer, old) = (answer(&contact.normal, 0.0, h), contact.correction / h);
                columns.push(Column { contact: i, part: Part::Position, answer, old });
            }
            let w = DMatrix::from_fn(columns.len(), columns.len(), |r, s| {
                let (row, answer) = (&columns[r], &columns[s].answer);
                let contact = &self.contacts[row.contact];
                match row.part {
                    Part::Normal => contact.normal.dot(&answer.v),
                    Part::Tangent => contact.sliding.as_ref().expect("a row of friction").dot(&answer.v),
                    Part::Position => contact.normal.dot(&answer.q) / h,
                }
            });
            let old = DVector::from_iterator(columns.len(), columns.iter().map(|column| column.old));
            let now = columns.iter().map(|column| self.law_value(column, &dq, &v));
            let b = DVector::from_iterator(columns.len(), now) - &w * &old;
            let solution = law::solve(&w, &b, &rows)?;
            let steps = &solution.impulse - &old;
            let moved = columns.iter().zip(&steps).fold(dq.clone(), |q, (column, step)| q + &column.answer.q * *step);
            let open = |i: &usize| problem.ggl && !closing[*i];
            let missing = (0..self.contacts.len())
                .filter(open)
                .find(|&i| self.gap_at_end(i) + self.contacts[i].normal.dot(&moved) < -1e-13 * problem.length);
            if let Some(i) = missing {
                closing[i] = true;
                continue;
            }
            let (mut more, mut kick) = (DVector::zeros(problem.count), 0.0_f64);
            for (column, (&value, step)) in columns.iter().zip(solution.impulse.iter().zip(&steps)) {
                more += &column.answer.a * *step;
                kick = kick.max((&column.answer.v * *step).amax()).max((&column.answer.q * *step).amax() / h);
                let contact = &mut self.contacts[column.contact];
                match column.part {
                    Part::Normal => contact.impulse[0] = value,
                    Part::Tangent => contact.impulse[1] = value,
                    Part::Position => contact.correction = h * value,
                }
            }
            self.ambiguous = solution.ambiguous;
            return Ok((more, kick));
        }
    }

    fn gap_at_end(&self, contact: usize) -> f64 {
        let touch = &self.contacts[contact].touch;
        touch.measure(self.problem, &self.q, self.problem.shift(touch.group, self.t1)).gap
    }

    /// What the law of a row asks to be zero or positive, after a further displacement `dq` and with velocities `v`.
    fn law_value(&self, column: &Column, dq: &DVector<f64>, v: &DVector<f64>) -> f64 {
        let contact = &self.contacts[column.contact];
        let law = &self.problem.contacts[contact.touch.group];
        let rate = |direction: &DVector<f64>, k: usize, e: f64| {
            let before = direction.dot(&self.from.v) - contact.drift[0][k];
            direction.dot(v) - contact.drift[1][k] + e * before
        };
        match column.part {
            Part::Normal => rate(&contact.normal, 0, law.restitution),
            Part::Tangent => {
                let sliding = contact.sliding.as_ref().expect("a row of friction");
                rate(sliding, 1, if law.moreau { law.restitution } else { 0.0 })
            }
            Part::Position => (self.gap_at_end(column.contact) + contact.normal.dot(dq)) / self.h,
        }
    }
}

fn along(drifts: [[f64; 2]; 2], normal: [f64; 2]) -> [[f64; 2]; 2] {
    let t = tangent(normal);
    drifts.map(|d| [d[0] * normal[0] + d[1] * normal[1], d[0] * t[0] + d[1] * t[1]])
}
