//! What may touch in a step: which of it is active at the start, and what it did by the end.

use super::contact::bound;
use super::{ACTIVATION, Attempt, Settings, Stepper};
use crate::case::data::Position;
use crate::la::sum;
use crate::schemes::Tableau;
use crate::state::State;
use crate::system::System;

impl Stepper<'_> {
    /// What may touch in this step, and what of it is active, (T51).
    pub(super) fn begin_contact(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) {
        let (system, work) = (self.system, &mut self.work);
        work.active.clear();
        if system.contacts.is_empty() {
            return;
        }
        to.scene.look(system, from, t1, self.row.c);
        let rows = to.scene.rows;
        if !system.contacts.steady() {
            self.operators.clear();
        }
        self.operators.resize(rows);
        for vector in
            [&mut work.u0, &mut work.u1, &mut work.y, &mut work.gap_free, &mut work.gap_b, &mut work.rate_free]
        {
            vector.resize(rows, 0.0);
        }
        for vector in [&mut work.b, &mut work.correction, &mut work.correction_so_far, &mut to.state.impulse] {
            vector.clear();
            vector.resize(rows, 0.0);
        }
        to.scene.note(&mut to.state.found);
        // Warm start of the contact solve; the step itself begins without impulse.
        to.scene.recall(from, &mut work.impulse);
        let scene = &to.scene;
        for i in 0..scene.candidates.len() {
            let rows = scene.rows_of(i);
            for row in rows.clone() {
                work.u0[row] = scene.rate(row, |dof| from.v[dof]) - scene.drift(row)[0];
            }
            let (rate, drift) = (work.u0[rows.start], scene.drift(rows.start)[0]);
            let forecast = scene.gap(i, &from.q, 0) + self.settings.forecast * h * rate;
            // A point on the point of its plane has no length, but it moves.
            let path = h * (rate + drift).abs().max(drift.abs());
            let near = scene.responds(i) && forecast <= ACTIVATION * (system.length + path);
            if self.settings.position == Position::Half && self.force.is_none() && near {
                work.active.push(i as u32);
            } else {
                work.impulse[rows].fill(0.0);
            }
        }
    }

    /// Relative velocities along all rows at a state, into `u1`.
    pub(super) fn end_rates(&mut self, to: &Attempt) {
        for (row, u1) in self.work.u1.iter_mut().enumerate() {
            *u1 = to.scene.rate(row, |dof| to.state.v[dof]) - to.scene.drift(row)[1];
        }
    }

    /// Gaps, final velocities and complementarity of the finished step; returns the work of moving obstacles.
    pub(super) fn finish_contact(&mut self, to: &mut Attempt) -> f64 {
        self.end_rates(to);
        let (work, scene, state) = (&mut self.work, &to.scene, &to.state);
        to.gaps.clear();
        to.gaps.extend((0..scene.candidates.len()).map(|i| scene.gap(i, &state.q, 1)));
        let moved = |row: usize| 0.5 * (scene.drift(row)[0] + scene.drift(row)[1]);
        let mut obstacles = sum(scene.rows, |row| moved(row) * state.impulse[row]);
        if self.force.is_some() {
            // Not velocities but gaps carry the work of a force.
            work.u0.fill(0.0);
            work.u1.fill(0.0);
            obstacles = 0.0;
        }
        to.complementarity = self.contact_residual(to).max(self.gap_residual(to));
        obstacles
    }
}

/// Why active sets cannot solve the contacts of a system with a scheme, if they cannot.
pub(super) fn misfit(system: &System, row: &Tableau, settings: &Settings) -> Option<&'static str> {
    let contacts = &system.contacts;
    let bounds: Vec<_> = contacts.candidates.iter().map(|c| bound(c, system.nodes.free)).collect();
    let mut dofs: Vec<usize> = bounds.iter().flatten().map(|bound| bound.dof).collect();
    dofs.sort_unstable();
    if settings.position == Position::Ggl {
        Some("position-corrected contact has two laws at once")
    } else if row.b1 != row.g1 * row.c && row.alpha_f != 1.0 {
        Some("the scheme needs 2 beta = gamma (moreau-jean, newmark with its defaults)")
    } else if !contacts.steady() || bounds.iter().any(Option::is_none) {
        Some("every contact must be a plane along an axis, without friction")
    } else if dofs.windows(2).any(|pair| pair[0] == pair[1]) {
        Some("a node may touch one plane only")
    } else {
        None
    }
}
