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
mod outside;
#[cfg(test)]
mod tests;
mod up;
mod works;

use super::{Settings, Stepper};
use crate::Result;
use crate::case::data::{ContactMethod, Position};
use crate::la::Processor;
use crate::la::lanes::Row;
use crate::ledger::{self, Balance, StorageSums};
use crate::methods::Attempt;
use crate::schemes::Tableau;
use crate::state::{Energy, State};
use crate::system::System;
use book::Sums;
use down::Down;
use kick::{Answers, Kick};
use line::{Lanes, Line};
use outside::Outside;
use up::Up;
use works::Works;

/// Contacts up to which their answers are kept one by one.
const FEW: usize = 8;

/// A system that is a line, and the factor of its matrix once there is one.
pub(super) struct Chain {
    line: Line,
    outside: Outside,
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
            outside: Outside::of(system),
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
        let Chain { line, outside, factor: Some((factor, answers)), processor } = chain else { return Ok(()) };
        let processor = *processor;
        if system.is_loaded() {
            system.applied(t1, &mut to.state.applied);
        }
        for i in line.n..system.nodes.total {
            (to.state.q[i], to.state.v[i], to.state.a[i]) = (from.q[i], 0.0, 0.0);
        }
        let force = outside.force(line, &row, &factor.weights, from, &to.state);
        let mut separators = factor.separators(&go_down(processor, (line, factor), from, force, &mut to.state.a));
        if !self.work.active.is_empty() {
            self.active_columns(h, to)?;
            let (work, state) = (&mut self.work, &to.state);
            let [old, new] = factor.weights.g;
            let rate = |dof: usize| match dof < line.n {
                true => from.v[dof] + old * from.a[dof] + new * factor.solution(dof, &state.a, &separators),
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
        self.finish_chain(h, from, &sums, outside, to)
    }

    /// Energies, gaps, balance and complementarity of the finished step of a line.
    fn finish_chain(&mut self, h: f64, from: &State, sums: &Sums, outside: &Outside, to: &mut Attempt) -> Result<()> {
        let row = self.row;
        to.state.energy = Energy { kinetic: sums.kinetic, strain: 0.5 * sums.strain, potential: 0.0 - sums.height };
        let obstacles = self.finish_contact(to);
        let work = &self.work;
        let impulses = &to.state.impulse;
        let contact = (0..impulses.len()).map(|i| 0.5 * (work.u0[i] + work.u1[i]) * impulses[i]).sum();
        let pushed = |a: &[f64]| -> f64 {
            let pressed = impulses.iter().enumerate().filter(|(_, p)| **p != 0.0);
            pressed.map(|(contact, p)| to.scene.rate(contact, |dof| a[dof]) * p).sum()
        };
        let pushed = [pushed(&from.a), pushed(&to.state.a)];
        let works = Works::new(&row, h, from, sums, pushed, outside.finish(&row, from, &mut to.state));
        to.balance = Balance {
            external: 0.5 * (works.load.old + works.load.new),
            // Subtracted from zero, because minus zero would be printed as such.
            damping: 0.0 - 0.5 * (works.drag.old + works.drag.new),
            contact,
            scheme: works.scheme(&row, h, sums),
            ..Default::default()
        };
        to.balance.close(from, &to.state);
        to.balance.support += obstacles;
        to.balance.defect -= obstacles;
        if let (Some(old), Some(new)) = (&from.storage, &mut to.state.storage) {
            let [z, dz] = works.filter(&row, sums, old.filter);
            let storage = StorageSums {
                supply: sums.fall + works.load.left(&row),
                viscous: works.drag.left(&row),
                dq: sums.drift,
                dz,
                z,
                a: works.inertia,
                da: works.change,
                position: works.shifted(&row, h, row.g1),
            };
            new.power = sums.power;
            to.balance.storage_defect =
                ledger::close_storage(&row, h, &to.state.energy, contact + obstacles, &storage, old, new);
        }
        self.finite(&to.state)
    }
}

/// The first pass with what the scheme needs of it.
fn go_down(processor: Processor, (line, factor): (&Line, &Lanes), from: &State, force: &[f64], y: &mut [f64]) -> Row {
    match (factor.weights.middle[1] != 0.0, force.is_empty()) {
        (true, true) => processor.run(Down::<true, false> { line, factor, from, force, y }),
        (false, true) => processor.run(Down::<false, false> { line, factor, from, force, y }),
        (true, false) => processor.run(Down::<true, true> { line, factor, from, force, y }),
        (false, false) => processor.run(Down::<false, true> { line, factor, from, force, y }),
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
    // The storage function asks for old accelerations, too.
    let carries = row.carries_acceleration() || row.storage;
    let loses = row.b0 + row.b1 != 0.5 || row.alpha_f != 0.5;
    match (carries, loses) {
        (true, _) => processor.run(Up::<true, true> { line, factor, separators, kick, from, to }),
        (false, true) => processor.run(Up::<false, true> { line, factor, separators, kick, from, to }),
        (false, false) => processor.run(Up::<false, false> { line, factor, separators, kick, from, to }),
    }
}
