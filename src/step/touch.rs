//! What may touch in a step: which of it is active at the start, and what it did by the end.

use super::contact::{MANY, bound, shares};
use super::{ACTIVATION, Settings, Stepper};
use crate::case::data::{ContactMethod, Position};
use crate::contact::Scene;
use crate::contact::active_set::{ActiveSet, Bound};
use crate::contact::turn::Turn;
use crate::la::larger;
use crate::methods::Attempt;
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
        let clear = |vector: &mut Vec<f64>| {
            vector.clear();
            vector.resize(rows, 0.0);
        };
        if !system.contacts.steady() {
            self.operators.clear();
            self.operators.resize(rows);
            [&mut work.u0, &mut work.u1, &mut work.b, &mut work.y].into_iter().for_each(clear);
        }
        clear(&mut to.state.impulse);
        if self.settings.position == Position::Ggl {
            let gaps = [&mut work.gap_free, &mut work.gap_b, &mut work.rate_free];
            let corrections = [&mut work.correction, &mut work.correction_so_far, &mut work.moved];
            let both = [&mut work.b, &mut work.y];
            gaps.into_iter().chain(corrections).chain(both).for_each(clear);
        }
        to.scene.note(&mut to.state.found);
        to.scene.end_rates(&mut to.state.obstacle_rates);
        // Warm start of the contact solve; the step itself begins without impulse.
        to.scene.recall(from, &mut work.impulse);
        let (scene, half) = (&to.scene, self.settings.position == Position::Half && self.force.is_none());
        scene.rates(&from.v, 0, &mut work.u0);
        scene.gaps(&from.q, 0, &mut to.gaps);
        let (u0, ahead) = (&work.u0[..], self.settings.forecast * h);
        for (i, gap) in to.gaps.iter().enumerate() {
            let rows = scene.rows_of(i);
            let (rate, drift) = (u0[rows.start], scene.drift(rows.start)[0]);
            let forecast = gap + ahead * rate;
            // A point on the point of its plane has no length, but it moves.
            let path = h * larger((rate + drift).abs(), drift.abs());
            let near = scene.responds(i) && forecast <= ACTIVATION * (system.length + path);
            if half && near {
                work.active.push(i as u32);
            } else {
                work.impulse[rows].fill(0.0);
            }
        }
    }

    /// Relative velocities along all rows at a state, into `u1`.
    pub(super) fn end_rates(&mut self, to: &Attempt) {
        to.scene.rates(&to.state.v, 1, &mut self.work.u1);
    }

    /// Position-corrected contact with curved obstacles: discrete gradients for the coming pass, (T63).
    pub(super) fn bend(&mut self, from: &State, to: &mut Attempt) {
        if self.settings.position != Position::Ggl || self.system.contacts.steady() {
            return;
        }
        to.scene.secants(&from.q, &to.state.q);
        self.operators.clear();
        for (row, u0) in self.work.u0.iter_mut().enumerate() {
            *u0 = to.scene.rate(row, |dof| from.v[dof]) - to.scene.drift(row)[0];
        }
    }

    /// Gaps, final velocities and complementarity of the finished step; returns the work of moving obstacles.
    pub(super) fn finish_contact(&mut self, to: &mut Attempt) -> f64 {
        self.end_rates(to);
        let (work, c, scene, state) = (&mut self.work, self.row.c, &to.scene, &to.state);
        scene.gaps(&state.q, 1, &mut to.gaps);
        let (mut obstacles, mut granted, u0) = (0.0, 0.0, &work.u0[..]);
        for (row, &impulse) in state.impulse.iter().enumerate().filter(|(_, impulse)| **impulse != 0.0) {
            let drift = scene.drift(row);
            obstacles += 0.5 * (drift[0] + drift[1]) * impulse;
            let receding = (1.0 - c * (1.0 + scene.restitution(row))) * u0[row] * impulse;
            granted += larger(0.0, receding) + (c - 0.5) * (drift[1] - drift[0]) * impulse;
        }
        if self.force.is_some() {
            // Not velocities but gaps carry the work of a force.
            work.u0.fill(0.0);
            work.u1.fill(0.0);
            (obstacles, granted) = (0.0, 0.0);
        }
        to.granted = granted;
        to.complementarity = self.contact_residual(to).max(self.gap_residual(to));
        obstacles
    }
}

/// Active sets for the contacts of a system with a scheme, none if they are too few, or why it cannot be.
pub(super) fn active_set(
    system: &System,
    scene: &Scene,
    row: &Tableau,
    settings: &Settings,
) -> std::result::Result<Option<ActiveSet>, &'static str> {
    let contacts = &system.contacts;
    if settings.contact.method != ContactMethod::ActiveSet && contacts.len() < MANY {
        return Ok(None);
    }
    let bounds: Option<Vec<_>> = scene.candidates.iter().map(|c| bound(c, system.nodes.free)).collect();
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
    let bounds: Vec<Bound> = bounds.into_iter().map(|(bound, _)| bound).collect();
    let found = ActiveSet::new(&system.mass, system.nodes.free, [s, rho], &bounds, &turns);
    found.map(Some).ok_or("the axes of a node cannot be turned to its plane")
}

/// Bytes of the [`ActiveSet`] that a system gets with a scheme, from those of a factor of its matrix; zero if it gets none.
pub(crate) fn active_set_bytes(system: &System, row: &Tableau, position: Position, factor: u64) -> u64 {
    let contacts = &system.contacts;
    let [s, rho] = shares(row);
    let simple = contacts.len() >= MANY && contacts.steady() && !contacts.rough() && position != Position::Ggl;
    let shared = s > 0.0 && rho >= 0.0 && (rho == 0.0 || !system.damped);
    if !(simple && shared) {
        return 0;
    }
    let (dofs, entries) = (system.nodes.total as u64, system.mass.pattern.len() as u64);
    // Matrix and bands, a factor, and vectors; with a share of the mass all on twice the unknowns.
    match rho > 0.0 {
        false => 16 * entries + factor + 41 * dofs,
        true => 80 * entries + 4 * (28 * entries + factor) + 2 * 41 * dofs,
    }
}
