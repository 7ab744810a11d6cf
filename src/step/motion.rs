//! Motion of a step: prediction, (T1) and (T2), supports that are driven, and the forces and energies at a state.

use super::Stepper;
use crate::case::data::Position;
use crate::contact::solver::Method;
use crate::la::{CHUNK, dot};
use crate::ledger::{self, Passage, Piece, Tally};
use crate::methods::Attempt;
use crate::state::{Energy, State};
use pulp::{Simd, WithSimd};
use std::ops::Range;

impl Stepper<'_> {
    /// Predictions of (T1)–(T2), active contacts and first guess.
    pub(super) fn begin(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) {
        let carries = self.row.carries_acceleration();
        let unknown = self.carries_inertia() && !self.knows_inertia(from);
        let (system, row, work) = (self.system, &self.row, &mut self.work);
        if unknown {
            system.inertia.multiply(&from.a, &mut work.inertia);
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
        if !self.is_plain() {
            self.begin_residual(from, to);
        }
    }

    /// Whether steps need M a at their start.
    fn carries_inertia(&self) -> bool {
        self.row.carries_acceleration() || self.has_storage()
    }

    /// Whether a state brings M a along; where contact is a force, the acceleration of massless nodes is set later.
    fn knows_inertia(&self, from: &State) -> bool {
        self.force.is_none() && from.inertia.len() == self.system.nodes.total
    }

    /// M a at the start of a step, zero where no step needs it.
    pub(super) fn start_inertia<'b>(&'b self, from: &'b State) -> &'b [f64] {
        if self.carries_inertia() && self.knows_inertia(from) { &from.inertia } else { &self.work.inertia }
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
        let free = self.system.nodes.free;
        for start in (0..free).step_by(CHUNK) {
            self.place_rows(h, start..free.min(start + CHUNK), state);
        }
        self.forces(state);
    }

    /// The motion in some rows.
    pub(super) fn place_rows(&self, h: f64, rows: Range<usize>, state: &mut State) {
        let (row, work) = (&self.row, &self.work);
        let (factor, shift) =
            if self.settings.position == Position::Ggl { (1.0, &work.shift) } else { (h * row.c, &work.jump) };
        let State { q, v, a, .. } = state;
        let (a, free) = (&a[rows.clone()], &work.q_free[rows.clone()]);
        let jump = work.jumped.then(|| (factor, &shift[rows.clone()]));
        self.arch.dispatch(Motion { x: &mut q[rows.clone()], free, a: (h * h * row.b1, a), jump });
        if self.asks_for_rates() {
            self.rates_of(h, rows.clone(), a, &mut v[rows]);
        }
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
        !self.iterates() || self.system.damped || !self.work.active.is_empty()
    }

    /// v1 from the current acceleration and jump.
    pub(super) fn rates(&self, h: f64, state: &mut State) {
        let free = 0..self.system.nodes.free;
        self.rates_of(h, free.clone(), &state.a[free.clone()], &mut state.v[free]);
    }

    /// The same in some rows.
    fn rates_of(&self, h: f64, rows: Range<usize>, a: &[f64], v: &mut [f64]) {
        let jump = self.work.jumped.then(|| (1.0, &self.work.jump[rows.clone()]));
        self.arch.dispatch(Motion { x: v, free: &self.work.v_free[rows], a: (h * self.row.g1, a), jump });
    }

    /// Internal and damping forces and the strain energy of a state.
    pub(super) fn forces(&mut self, state: &mut State) {
        state.energy.strain = self.matrix.internal(self.system, &state.q, &mut state.internal);
        if self.system.damped {
            self.system.viscous(&state.q, &state.v, &mut state.viscous);
        }
    }

    /// Energies of a state, and M a where it is asked for.
    pub(super) fn energies(&mut self, state: &mut State) {
        self.add_energies(state, |_, _| {});
    }

    /// Energies of the finished step and the sums of its balance.
    pub(super) fn tally(&self, from: &State, h: f64, state: &mut State) -> Tally {
        let (system, passage, mut tally) = (self.system, &self.passage(from, h), Tally::default());
        self.add_energies(state, |rows, to| {
            self.arch.dispatch(Piece { tally: &mut tally, system, from, to, passage, rows });
        });
        tally
    }

    /// What the balance needs to know of the step.
    pub(super) fn passage<'b>(&'b self, from: &'b State, h: f64) -> Passage<'b> {
        let (work, inertia) = (&self.work, self.start_inertia(from));
        let jump = work.jumped.then_some(&work.jump[..]);
        let shift = (self.settings.position == Position::Ggl).then_some(&work.shift[..]);
        Passage { row: &self.row, h, jump, shift, inertia }
    }

    /// Energies of a state, and M a where it is asked for, piece by piece; `visit` is called behind every piece.
    fn add_energies(&self, state: &mut State, mut visit: impl FnMut(Range<usize>, &mut State)) {
        let (system, n) = (self.system, self.system.nodes.total);
        let corrected = self.settings.position == Position::Ggl;
        let asked = self.carries_inertia() || ledger::weighs_inertia(&self.row, corrected);
        let (mut kinetic, mut height, mut momentum) = (0.0, 0.0, [0.0; CHUNK]);
        // Only a state from a file has no room yet.
        state.inertia.resize(n, 0.0);
        for start in (0..n).step_by(CHUNK) {
            let rows = start..n.min(start + CHUNK);
            let State { q, v, a, inertia, .. } = &mut *state;
            let (own, momentum) = (&mut inertia[rows.clone()], &mut momentum[..rows.len()]);
            if asked {
                system.inertia.rows_times(rows.clone(), [a, v], [own, momentum]);
            } else {
                system.inertia.rows_times(rows.clone(), [v], [momentum]);
            }
            kinetic += dot(momentum, &v[rows.clone()]);
            height += dot(&system.gravity[rows.clone()], &q[rows.clone()]);
            visit(rows, state);
        }
        // Subtracted from zero, because minus zero would be printed as such.
        state.energy = Energy { kinetic: 0.5 * kinetic, strain: state.energy.strain, potential: 0.0 - height };
    }
}

/// x = what it would be without new acceleration and jump, and these, each with its factor.
struct Motion<'a> {
    x: &'a mut [f64],
    free: &'a [f64],
    a: (f64, &'a [f64]),
    jump: Option<(f64, &'a [f64])>,
}

impl WithSimd for Motion<'_> {
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
