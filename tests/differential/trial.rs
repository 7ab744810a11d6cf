//! Newton's method on one step, with the laws of contact in every pass.

use super::law::{self, Rows};
use super::obstacles::{self, Look, Reach, spread, tangent};
use super::problem::Problem;
use super::sides::Sides;
use super::step::{Contact, State, end_drift, residual};
use nalgebra::{DMatrix, DVector};

/// Most passes of Newton's method.
const PASSES: usize = 200;

/// A step in the making.
pub struct Trial<'a> {
    problem: &'a Problem,
    from: &'a State,
    t1: f64,
    h: f64,
    /// What (T1) and (T2) give without the new acceleration.
    q_old: DVector<f64>,
    v_old: DVector<f64>,
    pub q: DVector<f64>,
    pub v: DVector<f64>,
    pub a: DVector<f64>,
    pub contacts: Vec<Contact>,
    pub sides: Sides,
    pub jump: DVector<f64>,
    pub shift: DVector<f64>,
    pub margin: f64,
    pub ambiguous: bool,
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
    pub fn new(problem: &'a Problem, from: &'a State, t1: f64, h: f64) -> Trial<'a> {
        let row = &problem.row;
        let q_old = &from.q + &from.v * h + &from.a * (h * h * row.b0);
        let v_old = &from.v + &from.a * (h * row.g0);
        let a = driven(problem, from, t1, h);
        let middle = &from.q + &from.v * (0.5 * h);
        let half = from.time + 0.5 * (t1 - from.time);
        let shifts: Vec<[f64; 2]> = (0..problem.contacts.len()).map(|group| problem.shift(group, half)).collect();
        let speed = |node: &usize| {
            let v = problem.translations(*node).map(|dof| dof.map_or(0.0, |dof| from.v[dof]));
            v[0].hypot(v[1])
        };
        let bodies = problem.bodies.iter().map(|body| body.nodes.iter().map(speed).fold(0.0, f64::max)).collect();
        let drift = |group: usize| end_drift(problem, group, from.time, t1, h);
        let obstacles = (0..problem.contacts.len()).map(|group| drift(group)[0].hypot(drift(group)[1])).collect();
        let reach = Reach { two_steps: 2.0 * h, bodies, obstacles };
        let instants = (0..problem.contacts.len())
            .map(|group| [from.time, half, t1].map(|t| problem.shift(group, t)))
            .collect::<Vec<_>>();
        let look = Look {
            starts: &from.q,
            middle: &middle,
            shifts: &instants,
            reach: &reach,
            known: &from.sides,
            first: from.time == 0.0,
        };
        let (touches, sides) = obstacles::find(problem, &look);
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
            sides,
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
    pub fn iterate(&mut self, touching: bool) -> Result<(), String> {
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
            // Far from the solution of a nonlinear step the tangent may be singular.
            let Some(descent) = problem.try_solve(&effective, &rest) else {
                return Err(format!("a singular effective matrix in the dense code at t = {}", self.t1));
            };
            let mut change = -descent;
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

/// First guess of the accelerations, those of driven rows as (T9) asks.
pub fn driven(problem: &Problem, from: &State, t1: f64, h: f64) -> DVector<f64> {
    let row = &problem.row;
    let mut a = if row.remembers { from.a.clone() } else { DVector::zeros(problem.count) };
    for (dof, function) in &problem.drives {
        let dof = *dof;
        let q_old = from.q[dof] + h * from.v[dof] + h * h * row.b0 * from.a[dof];
        let v_old = from.v[dof] + h * row.g0 * from.a[dof];
        a[dof] = if row.b1 != 0.0 {
            (function.value(t1) - q_old) / (h * h * row.b1)
        } else {
            (function.value(t1 + h) - q_old - h * v_old) / (h * h * (row.b0 + row.g1))
        };
    }
    a
}
