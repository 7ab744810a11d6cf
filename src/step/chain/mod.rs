//! The step of a line of unknowns, bars in one dimension, in two passes over memory and four lanes.
//!
//! The same equations as in the general step, and the same state and balance to round-off; what differs is that
//! nothing is computed that such a system does not need. An impulse p acts near its contact only: w = M⁻¹G p decays
//! by a factor of almost four per unknown, and so does −(1−α_f) h c K w, which is added to the eliminated right-hand side
//! between the passes. The velocity that the contact law asks for is known after the first pass.

mod book;
mod down;
mod kick;
mod line;
#[cfg(test)]
mod tests;
mod up;

use super::{Attempt, Settings, Stepper};
use crate::Result;
use crate::case::data::{ContactMethod, Position};
use crate::la::lanes::{Processor, Row};
use crate::ledger::{self, Balance, StorageSums};
use crate::schemes::Tableau;
use crate::state::{Energy, State};
use crate::system::System;
use book::Sums;
use down::Down;
use kick::{Answers, Kick};
use line::{Lanes, Line};
use up::Up;

/// Contacts up to which their answers are kept one by one.
const FEW: usize = 8;

/// A system that is a line, and the factor of its matrix once there is one.
pub(super) struct Chain {
    line: Line,
    factor: Option<(Lanes, Answers)>,
    processor: Processor,
}

impl Chain {
    /// For systems and settings that this step can do.
    pub fn of(system: &System, row: &Tableau, settings: &Settings) -> Option<Chain> {
        let contacts = &system.contacts;
        let simple = contacts.steady() && !contacts.rough() && contacts.len() <= FEW;
        let half = settings.position == Position::Half && settings.contact.method != ContactMethod::ActiveSet;
        // What the sums of the ledger take for granted.
        let consistent = (row.g0 + row.g1 - 1.0).abs() < 1e-14;
        // They begin with those of the last step, which the storage function keeps.
        let remembered = row.storage || !row.carries_acceleration();
        let fits = simple && half && consistent && remembered;
        fits.then(|| Line::recognise(system)).flatten().map(|line| Chain {
            line,
            factor: None,
            processor: Processor::new(),
        })
    }
}

impl Stepper<'_> {
    /// The step of a line.
    pub(super) fn attempt_chain(
        &mut self,
        chain: &mut Chain,
        from: &State,
        h: f64,
        t1: f64,
        to: &mut Attempt,
    ) -> Result<()> {
        self.begin_contact(from, h, t1, to);
        self.count_from(from, t1, to);
        self.prepare(h, to)?;
        to.passes = 1;
        let (system, row) = (self.system, self.row);
        if chain.factor.as_ref().is_none_or(|(factor, _)| factor.weights.h != h) {
            chain.factor = Some(Lanes::new(&chain.line, &row, h, &to.scene, &mut self.mass_factor));
        }
        let (Some((factor, answers)), line, processor) = (&mut chain.factor, &chain.line, chain.processor) else {
            return Ok(());
        };
        for i in line.n..system.nodes.total {
            (to.state.q[i], to.state.v[i], to.state.a[i]) = (from.q[i], 0.0, 0.0);
        }
        let mut separators = factor.separators(&go_down(processor, &row, line, factor, from, &mut to.state.a));
        if !self.work.active.is_empty() {
            self.active_columns(h, to)?;
            let (work, state) = (&mut self.work, &to.state);
            let free = |dof: usize| from.v[dof] + h * row.g0 * from.a[dof];
            let rate = |dof: usize| match dof < line.n {
                true => free(dof) + h * row.g1 * factor.acceleration(dof, &state.a, &separators),
                false => state.v[dof],
            };
            for contact in work.active.iter().map(|&i| to.scene.rows_of(i as usize).start) {
                work.b[contact] = to.scene.law_rate(contact, to.scene.rate(contact, rate), &work.u0);
            }
            let outcome = self.solve_law(&to.scene);
            self.count(outcome, to)?;
            to.state.impulse.copy_from_slice(&self.work.impulse);
        }
        let kick = answers.kick(&to.state.impulse);
        (0..separators.len()).for_each(|s| separators[s] += kick.p * kick.response.separators[s]);
        let sums = go_up(processor, &row, (line, factor), (&separators, &kick), from, &mut to.state);
        to.state.energy =
            Energy { kinetic: 0.5 * sums.kinetic, strain: 0.5 * sums.strain, potential: 0.0 - sums.height };
        let obstacles = self.finish_contact(to);
        let work = &self.work;
        let impulses = &to.state.impulse;
        let contact = (0..impulses.len()).map(|i| 0.5 * (work.u0[i] + work.u1[i]) * impulses[i]).sum();
        // G·a of the old and of the new acceleration, along the impulses.
        let pushed = |a: &[f64]| -> f64 {
            let pressed = impulses.iter().enumerate().filter(|(_, p)| **p != 0.0);
            pressed.map(|(contact, p)| to.scene.rate(contact, |dof| a[dof]) * p).sum()
        };
        let off_centre = h * (row.c - 0.5);
        let [pushed0, pushed1] = if off_centre == 0.0 { [0.0; 2] } else { [pushed(&from.a), pushed(&to.state.a)] };
        let change = from.storage.as_ref().map_or(0.0, |old| sums.change(old.inertia));
        let scheme =
            scheme(&row, h, &sums, change) - off_centre * (row.alpha_m * pushed0 + (1.0 - row.alpha_m) * pushed1);
        to.balance = Balance { contact, scheme, ..Default::default() };
        to.balance.close(from, &to.state);
        to.balance.support += obstacles;
        to.balance.defect -= obstacles;
        if let (Some(old), Some(new)) = (&from.storage, &mut to.state.storage) {
            let [filter, filter_change] = sums.filter(factor.weights.filter, old.filter);
            let storage = StorageSums {
                supply: sums.fall,
                viscous: 0.0,
                dq: sums.drift,
                dz: filter_change,
                z: filter,
                a: sums.inertia,
                da: change,
                position: -off_centre * ((1.0 - row.g1) * pushed0 + row.g1 * pushed1),
            };
            to.balance.storage_defect =
                ledger::close_storage(&row, h, &to.state.energy, contact + obstacles, &storage, old, new);
        }
        self.finite(&to.state)
    }
}

/// The first pass with what the scheme needs of it.
fn go_down(processor: Processor, row: &Tableau, line: &Line, factor: &Lanes, from: &State, y: &mut [f64]) -> Row {
    match ((1.0 - row.alpha_f) * row.b0 != 0.0, row.alpha_m != 0.0) {
        (_, true) => processor.run(Down::<true, true> { line, factor, from, y }),
        (true, false) => processor.run(Down::<true, false> { line, factor, from, y }),
        (false, false) => processor.run(Down::<false, false> { line, factor, from, y }),
    }
}

/// The second pass with what the scheme needs of it.
fn go_up(
    processor: Processor,
    row: &Tableau,
    (line, factor): (&Line, &Lanes),
    (separators, kick): (&Row, &Kick),
    from: &State,
    to: &mut State,
) -> Sums {
    let filter = row.alpha_f != row.alpha_m && to.storage.is_some();
    let loses = row.b0 + row.b1 != 0.5 || row.alpha_f != 0.5 || row.storage;
    match (row.carries_acceleration(), loses, filter) {
        (true, _, true) => processor.run(Up::<true, true, true> { line, factor, separators, kick, from, to }),
        (true, _, false) => processor.run(Up::<true, true, false> { line, factor, separators, kick, from, to }),
        (false, _, true) => processor.run(Up::<false, true, true> { line, factor, separators, kick, from, to }),
        (false, true, false) => processor.run(Up::<false, true, false> { line, factor, separators, kick, from, to }),
        (false, false, false) => processor.run(Up::<false, false, false> { line, factor, separators, kick, from, to }),
    }
}

/// Numerical dissipation but for what jumps add to it, (T13), written in a1 and da = a1 − a0.
fn scheme(row: &Tableau, h: f64, sums: &Sums, change: f64) -> f64 {
    let (excess, lag) = (row.b0 + row.b1 - 0.5, row.b0 - 0.5 * row.g0);
    let position =
        excess * sums.inertia - (lag + row.alpha_m * excess) * sums.inertia_change + row.alpha_m * lag * change;
    0.5 * h * (row.alpha_m - row.g0) * sums.rate_change - h * h * position + (row.alpha_f - 0.5) * sums.drift
}
