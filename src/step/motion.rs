//! Motion of a step: prediction, (T1) and (T2), supports that are driven, and the forces and energies at a state.

use super::{Attempt, Stepper};
use crate::case::data::Position;
use crate::contact::solver::Method;
use crate::la::{CHUNK, dot};
use crate::state::{Energy, State};
use std::ops::Range;

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
        if [row.b0, row.g0] == [0.0; 2] {
            (0..n).for_each(|i| q_free[i] = q[i] + h * v[i]);
            v_free.copy_from_slice(v);
        } else {
            for i in 0..n {
                q_free[i] = q[i] + h * v[i] + h * h * row.b0 * a[i];
                v_free[i] = v[i] + h * row.g0 * a[i];
            }
        }
        if std::mem::take(&mut work.jumped) {
            work.jump.fill(0.0);
            if self.settings.position == Position::Ggl {
                work.shift.fill(0.0);
            }
        }
        self.begin_contact(from, h, t1, to);
        self.count_from(from, t1, to);
        if carries && self.iterates() {
            to.state.a.copy_from_slice(&from.a);
        } else if !self.is_plain() {
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
        let (row, work, free) = (&self.row, &self.work, self.system.nodes.free);
        let (reach, asked) = (h * h * row.b1, self.asks_for_rates());
        let State { q, v, a, .. } = &mut *state;
        // Piece by piece, so that what both motions read stays near.
        for start in (0..free).step_by(CHUNK) {
            let rows = start..free.min(start + CHUNK);
            let (q, a) = (&mut q[rows.clone()], &a[rows.clone()]);
            add_scaled(q, Some(&work.q_free[rows.clone()]), reach, a);
            if work.jumped && self.settings.position == Position::Ggl {
                add_scaled(q, None, 1.0, &work.shift[rows.clone()]);
            } else if work.jumped {
                add_scaled(q, None, h * row.c, &work.jump[rows.clone()]);
            }
            if asked {
                self.rates_of(h, rows.clone(), a, &mut v[rows]);
            }
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
        let free = 0..self.system.nodes.free;
        self.rates_of(h, free.clone(), &state.a[free.clone()], &mut state.v[free]);
    }

    /// The same in some rows.
    fn rates_of(&self, h: f64, rows: Range<usize>, a: &[f64], v: &mut [f64]) {
        add_scaled(v, Some(&self.work.v_free[rows.clone()]), h * self.row.g1, a);
        if self.work.jumped {
            add_scaled(v, None, 1.0, &self.work.jump[rows]);
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
            system.inertia.rows_times(rows.clone(), [&state.a, &state.v], [inertia, momentum]);
            let momentum = &work.first[..rows.len()];
            kinetic += dot(momentum, &state.v[rows.clone()]);
            height += dot(&system.gravity[rows.clone()], &state.q[rows]);
        }
        // Subtracted from zero, because minus zero would be printed as such.
        state.energy = Energy { kinetic: 0.5 * kinetic, strain: state.energy.strain, potential: 0.0 - height };
    }
}

/// x = y + s z, from x itself without a y.
fn add_scaled(x: &mut [f64], y: Option<&[f64]>, s: f64, z: &[f64]) {
    let z = &z[..x.len()];
    match y {
        Some(y) => {
            let y = &y[..x.len()];
            (0..x.len()).for_each(|i| x[i] = y[i] + s * z[i]);
        }
        None => (0..x.len()).for_each(|i| x[i] += s * z[i]),
    }
}
