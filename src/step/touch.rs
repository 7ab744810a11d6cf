//! What may touch in a step: which of it is active at the start, and what it did by the end.

use super::contact::{bound, shares};
use super::{ACTIVATION, Attempt, Settings, Stepper};
use crate::case::data::Position;
use crate::contact::active_set::ActiveSet;
use crate::contact::turn::Turn;
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
        let clear = |vector: &mut Vec<f64>| {
            vector.clear();
            vector.resize(rows, 0.0);
        };
        [&mut work.u0, &mut work.u1, &mut work.b, &mut work.y, &mut to.state.impulse].into_iter().for_each(clear);
        if self.settings.position == Position::Ggl {
            let gaps = [&mut work.gap_free, &mut work.gap_b, &mut work.rate_free];
            let corrections = [&mut work.correction, &mut work.correction_so_far];
            gaps.into_iter().chain(corrections).for_each(clear);
        }
        to.scene.note(&mut to.state.found);
        // Warm start of the contact solve; the step itself begins without impulse.
        to.scene.recall(from, &mut work.impulse);
        for (i, candidate) in to.scene.candidates.iter().enumerate() {
            for (row, entries) in candidate.rows_of() {
                work.u0[row] = entries.times(&from.v) - candidate.drift_of(row, 0);
            }
            let forecast =
                candidate.gap(&from.q, candidate.shift[0]) + self.settings.forecast * h * work.u0[candidate.row];
            // A point on the point of its plane has no length, but it moves.
            let path = h * (work.u0[candidate.row] + candidate.drift[0][0]).abs().max(candidate.drift[0][0].abs());
            let near = candidate.responds && forecast <= ACTIVATION * (system.length + path);
            if self.settings.position == Position::Half && self.force.is_none() && near {
                work.active.push(i as u32);
            } else {
                candidate.rows_of().for_each(|(row, _)| work.impulse[row] = 0.0);
            }
        }
    }

    /// Position-corrected contact with curved obstacles: discrete gradients for the coming pass, (T63).
    pub(super) fn bend(&mut self, from: &State, to: &mut Attempt) {
        if self.settings.position != Position::Ggl || self.system.contacts.steady() {
            return;
        }
        to.scene.secants(&from.q, &to.state.q);
        self.operators.clear();
        for candidate in &to.scene.candidates {
            for (row, entries) in candidate.rows_of() {
                self.work.u0[row] = entries.times(&from.v) - candidate.drift_of(row, 0);
            }
        }
    }

    /// Gaps, final velocities and complementarity of the finished step; returns the work of moving obstacles.
    pub(super) fn finish_contact(&mut self, to: &mut Attempt) -> f64 {
        let (work, c) = (&mut self.work, self.row.c);
        to.gaps.clear();
        let mut obstacles = 0.0;
        to.granted = 0.0;
        for candidate in &to.scene.candidates {
            to.gaps.push(candidate.gap_at_end(&to.state.q));
            for (row, entries) in candidate.rows_of() {
                let (impulse, drift) = (to.state.impulse[row], [0, 1].map(|end| candidate.drift_of(row, end)));
                work.u1[row] = entries.times(&to.state.v) - drift[1];
                obstacles += 0.5 * (drift[0] + drift[1]) * impulse;
                let receding = (1.0 - c * (1.0 + candidate.restitution_of(row))) * work.u0[row] * impulse;
                to.granted += receding.max(0.0) + (c - 0.5) * (drift[1] - drift[0]) * impulse;
            }
        }
        if self.force.is_some() {
            // Not velocities but gaps carry the work of a force.
            work.u0.fill(0.0);
            work.u1.fill(0.0);
            (obstacles, to.granted) = (0.0, 0.0);
        }
        to.complementarity = self.contact_residual(to).max(self.gap_residual(to));
        obstacles
    }
}

/// Active sets for the contacts of a system with a scheme, or why they cannot solve them.
pub(super) fn active_set(
    system: &System,
    row: &Tableau,
    settings: &Settings,
) -> std::result::Result<ActiveSet, &'static str> {
    let contacts = &system.contacts;
    let bounds: Option<Vec<_>> = contacts.candidates.iter().map(|c| bound(c, system.nodes.free)).collect();
    if settings.position == Position::Ggl {
        return Err("position-corrected contact has two laws at once");
    }
    let [s, rho] = shares(row);
    // Without a number for explicit schemes, so this is no question of signs alone.
    if !(rho >= 0.0 && s > 0.0) {
        return Err("the scheme needs 2 beta >= gamma");
    }
    if rho > 0.0 && system.damped {
        return Err("with damping the scheme needs 2 beta = gamma (moreau-jean, newmark with its defaults)");
    }
    let Some(bounds) = bounds.filter(|_| contacts.steady()) else {
        return Err("every contact must be a node on a plane, without friction");
    };
    let turns: Vec<Turn> = bounds.iter().filter_map(|(_, turn)| *turn).collect();
    let plain = bounds.iter().filter(|(_, turn)| turn.is_none()).map(|(bound, _)| bound.dof);
    let mut dofs: Vec<usize> = plain.chain(turns.iter().flat_map(|turn| turn.dofs)).collect();
    dofs.sort_unstable();
    if dofs.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("a node may touch one tilted plane, or one plane along each axis");
    }
    let found = ActiveSet::new(&system.mass, system.nodes.free, [s, rho], &turns);
    found.ok_or("the axes of a node cannot be turned to its plane")
}
