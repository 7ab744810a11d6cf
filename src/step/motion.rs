//! Motion of a step: prediction, (T1) and (T2), supports that are driven, and the forces and energies at a state.

use super::{Attempt, Stepper};
use crate::contact::solver::Method;
use crate::la::{CHUNK, dot};
use crate::state::{Energy, State};

impl Stepper<'_> {
    /// Predictions of (T1)–(T2), active contacts and first guess.
    pub(super) fn begin(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) {
        let carries = self.row.carries_acceleration();
        let known = carries || self.has_storage();
        let (system, row, work) = (self.system, &self.row, &mut self.work);
        if known {
            system.inertia.multiply(&from.a, &mut work.inertia[0]);
        }
        let n = system.nodes.total;
        let (q, v, a) = (&from.q[..n], &from.v[..n], &from.a[..n]);
        let (q_free, v_free) = (&mut work.q_free[..n], &mut work.v_free[..n]);
        for i in 0..n {
            q_free[i] = q[i] + h * v[i] + h * h * row.b0 * a[i];
            v_free[i] = v[i] + h * row.g0 * a[i];
        }
        if std::mem::take(&mut work.jumped) {
            work.jump.fill(0.0);
            work.shift.fill(0.0);
        }
        self.begin_contact(from, h, t1, to);
        self.count_from(from, t1, to);
        if carries && self.iterates() {
            to.state.a.copy_from_slice(&from.a);
        } else {
            to.state.a.fill(0.0);
        }
        for i in system.nodes.free..system.nodes.total {
            (to.state.q[i], to.state.v[i], to.state.a[i]) = (from.q[i], 0.0, 0.0);
        }
        self.drive(h, t1, to);
        let (work, free) = (&mut self.work, system.nodes.free);
        work.q_free[free..].copy_from_slice(&to.state.q[free..]);
        work.v_free[free..].copy_from_slice(&to.state.v[free..]);
        self.begin_force(from, h, to);
        if system.is_loaded() {
            system.applied(t1, &mut to.state.applied);
        }
        self.begin_residual(from, to);
    }

    /// Number and instant of the step, and its counters.
    pub(super) fn count_from(&self, from: &State, t1: f64, to: &mut Attempt) {
        (to.state.step, to.state.time) = (from.step + 1, t1);
        to.active = self.work.active.len();
        (to.passes, to.factorizations, to.sweeps) = (0, 0, 0);
        to.method = Method::None;
    }

    /// Driven degrees of freedom, (T9): the place from the function, acceleration and velocity from (T2) and (T1).
    fn drive(&self, h: f64, t1: f64, to: &mut Attempt) {
        let (row, work) = (&self.row, &self.work);
        for (dof, function) in &self.system.drives {
            let d = *dof;
            if row.b1 != 0.0 {
                to.state.q[d] = function.value(t1);
                to.state.a[d] = (to.state.q[d] - work.q_free[d]) / (h * h * row.b1);
            } else {
                // An explicit row has no freedom left in q1; its new acceleration leads to the place after that.
                to.state.q[d] = work.q_free[d];
                let next = function.value(t1 + h) - to.state.q[d] - h * work.v_free[d];
                to.state.a[d] = next / (h * h * (row.b0 + row.g1));
            }
            to.state.v[d] = work.v_free[d] + h * row.g1 * to.state.a[d];
        }
    }

    /// q1 from the current acceleration and shift, and the forces there; v1 as far as forces or contact ask for it.
    pub(super) fn place(&mut self, h: f64, state: &mut State) {
        let (work, free) = (&self.work, self.system.nodes.free);
        let (q, a, q_free) = (&mut state.q[..free], &state.a[..free], &work.q_free[..free]);
        let factor = h * h * self.row.b1;
        for i in 0..free {
            q[i] = q_free[i] + factor * a[i];
        }
        if work.jumped {
            q.iter_mut().zip(&work.shift).for_each(|(q, shift)| *q += shift);
        }
        if self.asks_for_rates() {
            self.rates(h, state);
        }
        self.forces(state);
    }

    /// Forces at the prediction: where one pass is enough, the first guess is no acceleration.
    pub(super) fn foresee(&mut self, state: &mut State) {
        let (system, work) = (self.system, &self.work);
        self.matrix.internal(system, &work.q_free, &mut state.internal);
        if system.damped {
            system.viscous(&work.q_free, &work.v_free, &mut state.viscous);
        }
    }

    pub(super) fn asks_for_rates(&self) -> bool {
        self.system.damped || !self.work.active.is_empty()
    }

    /// v1 from the current acceleration and jump.
    pub(super) fn rates(&self, h: f64, state: &mut State) {
        let (work, free) = (&self.work, self.system.nodes.free);
        let (v, a, v_free) = (&mut state.v[..free], &state.a[..free], &work.v_free[..free]);
        let factor = h * self.row.g1;
        for i in 0..free {
            v[i] = v_free[i] + factor * a[i];
        }
        if work.jumped {
            v.iter_mut().zip(&work.jump).for_each(|(v, jump)| *v += jump);
        }
    }

    /// Internal and damping forces and the strain energy of a state.
    pub(super) fn forces(&mut self, state: &mut State) {
        state.energy.strain = self.matrix.internal(self.system, &state.q, &mut state.internal);
        if self.system.damped {
            self.system.viscous(&state.q, &state.v, &mut state.viscous);
        }
    }

    /// Energies of a state, and M a on the way.
    pub(super) fn energies(&mut self, state: &mut State) {
        let (system, work) = (self.system, &mut self.work);
        let (mut kinetic, mut height) = (0.0, 0.0);
        for (k, inertia) in work.inertia[1].chunks_mut(CHUNK).enumerate() {
            let (rows, momentum) = (k * CHUNK..k * CHUNK + inertia.len(), &mut work.first[..inertia.len()]);
            system.inertia.rows_times(rows.clone(), &state.a, inertia);
            system.inertia.rows_times(rows.clone(), &state.v, momentum);
            kinetic += dot(momentum, &state.v[rows.clone()]);
            height += dot(&system.gravity[rows.clone()], &state.q[rows]);
        }
        // Subtracted from zero, because minus zero would be printed as such.
        state.energy = Energy { kinetic: 0.5 * kinetic, strain: state.energy.strain, potential: 0.0 - height };
    }
}
