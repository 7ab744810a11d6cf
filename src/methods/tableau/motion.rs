//! Motion within a step: the prediction, (T1) and (T2) without what is new, and the motion that accelerations, jumps and
//! shifts make of it.

use crate::la::Processor;
use crate::schemes::Tableau;
use crate::state::State;
use crate::system::System;
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// The motion of the step under way.
pub(in crate::methods) struct Motion {
    processor: Processor,
    /// q1 and v1 without the new acceleration and without contact.
    pub q_free: Vec<f64>,
    pub v_free: Vec<f64>,
    /// Velocity jump w.
    pub jump: Vec<f64>,
    /// Position shift u where it has a law of its own; empty where it is h c w.
    pub shift: Vec<f64>,
    /// Whether jump and shift are not zero.
    pub jumped: bool,
}

impl Motion {
    /// For n degrees of freedom; `shifts` have a law of their own, or follow from jumps.
    pub fn new(n: usize, shifts: bool) -> Motion {
        let zeros = |length: usize| vec![0.0; length];
        Motion {
            processor: Processor::new(),
            q_free: zeros(n),
            v_free: zeros(n),
            jump: zeros(n),
            shift: zeros(if shifts { n } else { 0 }),
            jumped: false,
        }
    }

    /// The prediction of a step, without jumps. Held degrees of freedom stay, and driven ones go where they are told.
    pub fn predict(&mut self, system: &System, row: &Tableau, from: &State, h: f64, t1: f64, to: &mut State) {
        let n = system.nodes.total;
        let (q, v, a) = (&from.q[..n], &from.v[..n], &from.a[..n]);
        let (q_free, v_free) = (&mut self.q_free[..n], &mut self.v_free[..n]);
        if [row.b0, row.g0] == [0.0; 2] {
            (0..n).for_each(|i| q_free[i] = q[i] + h * v[i]);
            v_free.copy_from_slice(v);
        } else {
            for i in 0..n {
                q_free[i] = q[i] + h * v[i] + h * h * row.b0 * a[i];
                v_free[i] = v[i] + h * row.g0 * a[i];
            }
        }
        if std::mem::take(&mut self.jumped) {
            self.jump.fill(0.0);
            self.shift.fill(0.0);
        }
        let free = system.nodes.free;
        for i in free..n {
            (to.q[i], to.v[i], to.a[i]) = (from.q[i], 0.0, 0.0);
        }
        self.drive(system, row, h, t1, to);
        self.q_free[free..].copy_from_slice(&to.q[free..]);
        self.v_free[free..].copy_from_slice(&to.v[free..]);
    }

    /// Driven degrees of freedom, (T9): the place from the function, acceleration and velocity from (T2) and (T1).
    fn drive(&self, system: &System, row: &Tableau, h: f64, t1: f64, to: &mut State) {
        for (dof, function) in &system.drives {
            let d = *dof;
            if row.b1 != 0.0 {
                to.q[d] = function.value(t1);
                to.a[d] = (to.q[d] - self.q_free[d]) / (h * h * row.b1);
            } else {
                // An explicit row has no freedom left in q1; its new acceleration leads to the place after that.
                to.q[d] = self.q_free[d];
                let next = function.value(t1 + h) - to.q[d] - h * self.v_free[d];
                to.a[d] = next / (h * h * (row.b0 + row.g1));
            }
            to.v[d] = self.v_free[d] + h * row.g1 * to.a[d];
        }
    }

    /// Place and velocity in some free rows from the acceleration, the jump and the shift there.
    pub fn place(&self, row: &Tableau, h: f64, rows: Range<usize>, to: &mut State) {
        let State { q, v, a, .. } = to;
        let a = &a[rows.clone()];
        let (factor, shift) = if self.shift.is_empty() { (h * row.c, &self.jump) } else { (1.0, &self.shift) };
        let [place, speed] = [(factor, shift), (1.0, &self.jump)].map(|(factor, x)| (factor, &x[rows.clone()]));
        let [place, speed] = [place, speed].map(|jump| self.jumped.then_some(jump));
        let (q_free, v_free) = (&self.q_free[rows.clone()], &self.v_free[rows.clone()]);
        let position = Sum { x: &mut q[rows.clone()], free: q_free, a: (h * h * row.b1, a), jump: place };
        self.processor.dispatch(position);
        self.processor.dispatch(Sum { x: &mut v[rows], free: v_free, a: (h * row.g1, a), jump: speed });
    }

    /// Overwrites `v` with the velocity of the pass so far.
    pub fn velocity(&self, row: &Tableau, h: f64, free: usize, to: &State, v: &mut [f64]) {
        for i in 0..free {
            v[i] = self.v_free[i] + h * row.g1 * to.a[i] + self.jump[i];
        }
        v[free..].copy_from_slice(&to.v[free..]);
    }

    /// Overwrites `q` with the place of the pass so far, shifts included where they have a law of their own.
    pub fn position(&self, row: &Tableau, h: f64, free: usize, to: &State, q: &mut [f64]) {
        for i in 0..free {
            q[i] = self.q_free[i] + h * h * row.b1 * to.a[i];
        }
        self.shift.iter().zip(&mut *q).take(free).for_each(|(shift, q)| *q += shift);
        q[free..].copy_from_slice(&to.q[free..]);
    }
}

/// x = what it would be without new acceleration and jump, and these, each with its factor.
struct Sum<'a> {
    x: &'a mut [f64],
    free: &'a [f64],
    a: (f64, &'a [f64]),
    jump: Option<(f64, &'a [f64])>,
}

impl WithSimd for Sum<'_> {
    type Output = ();

    // Plain loops, for the vectors that the processor has.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let n = self.x.len();
        let (x, free, (s, a)) = (self.x, &self.free[..n], (self.a.0, &self.a.1[..n]));
        if let Some((t, jump)) = self.jump {
            let jump = &jump[..n];
            (0..n).for_each(|i| x[i] = free[i] + s * a[i] + t * jump[i]);
        } else {
            (0..n).for_each(|i| x[i] = free[i] + s * a[i]);
        }
    }
}
