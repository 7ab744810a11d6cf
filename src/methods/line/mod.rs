//! The step of a line of unknowns, bars in one dimension, in two passes over memory and four lanes.
//!
//! The same equations as in the general step, and the same state and balance to round-off; what differs is that
//! nothing is computed that such a system does not need. An impulse p acts near its contact only: w = M⁻¹G p decays
//! by a factor of almost four per unknown, and so does −(1−α_f) h c K w, which is added to the eliminated right-hand side
//! between the passes. The velocity that the contact law asks for is known after the first pass.

mod book;
mod down;
mod kick;
mod outside;
#[cfg(test)]
mod tests;
mod unknowns;
mod up;
mod works;

use super::tableau::identity::{self, StorageSums};
use super::tableau::{self, Equations, Responses, Settings, VelocityLaw, accept, operator_of};
use super::{Attempt, KeptFactors, Method};
use crate::Result;
use crate::case::data::{ContactMethod, Position};
use crate::la::Processor;
use crate::la::lanes::Row;
use crate::ledger::{self, Balance};
use crate::relations::Scene;
use crate::schemes::Tableau;
use crate::state::{Energy, State};
use crate::system::System;
use book::Sums;
use down::Down;
use kick::{Answers, Kick};
use outside::Outside;
use unknowns::{Lanes, Line};
use up::Up;
use works::Works;

/// Contacts up to which their answers are kept one by one.
const FEW: usize = 8;

/// Makes steps of a line.
pub struct LineStepper<'a> {
    equations: Equations<'a>,
    settings: Settings,
    has_storage: bool,
    line: Line,
    outside: Outside,
    /// The factor of the matrix in lanes, once there is one, and the answers to unit impulses.
    factor: Option<(Lanes, Answers)>,
    law: VelocityLaw,
    responses: Responses,
    processor: Processor,
}

impl<'a> LineStepper<'a> {
    /// For systems and settings that this step can do.
    pub fn new(system: &'a System, row: &Tableau, settings: &Settings) -> Result<Option<LineStepper<'a>>> {
        let contacts = &system.contacts;
        let simple = contacts.steady() && !contacts.rough() && contacts.len() <= FEW;
        let half = settings.position == Position::Half && settings.contact.method != ContactMethod::ActiveSet;
        // What the sums of the ledger take for granted.
        let consistent = (row.g0 + row.g1 - 1.0).abs() < 1e-14;
        // They begin with those of the last step, which the storage function keeps.
        let remembered = row.storage || !row.carries_acceleration();
        let fits = simple && half && consistent && remembered;
        let Some(line) = fits.then(|| Line::recognise(system)).flatten() else { return Ok(None) };
        Ok(Some(LineStepper {
            equations: Equations::new(system, *row, operator_of(system, true)?),
            settings: settings.clone(),
            has_storage: row.storage,
            line,
            outside: Outside::of(system),
            factor: None,
            law: VelocityLaw::new(&Scene::new(contacts, &system.nodes)),
            responses: Responses::new(system.nodes.total),
            processor: Processor::new(),
        }))
    }

    /// Energies, gaps, balance and complementarity of the finished step.
    fn finish(&mut self, h: f64, from: &State, sums: &Sums, to: &mut Attempt) -> Result<()> {
        let (row, law) = (self.equations.row, &mut self.law);
        to.state.energy = Energy { kinetic: sums.kinetic, strain: 0.5 * sums.strain, potential: 0.0 - sums.height };
        let mut balanced = ledger::Works::default();
        law.finish(false, row.c, to, &mut balanced);
        to.complementarity = law.residual(to);
        let impulses = &to.state.impulse;
        let pushed = |a: &[f64]| -> f64 {
            let pressed = impulses.iter().enumerate().filter(|(_, p)| **p != 0.0);
            pressed.map(|(contact, p)| to.scene.rate(contact, |dof| a[dof]) * p).sum()
        };
        let pushed = [pushed(&from.a), pushed(&to.state.a)];
        let works = Works::new(&row, h, from, sums, pushed, self.outside.finish(&row, from, &mut to.state));
        balanced.external = 0.5 * (works.load.old + works.load.new);
        // Subtracted from zero, because minus zero would be printed as such.
        balanced.damping = 0.0 - 0.5 * (works.drag.old + works.drag.new);
        balanced.scheme = works.scheme(&row, h, sums);
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
            let contact = balanced.contact + balanced.obstacles;
            balanced.storage_defect = identity::close_storage(&row, h, &to.state.energy, contact, &storage, old, new);
        }
        to.balance = Balance::close(&from.energy, &to.state.energy, &balanced);
        tableau::finite(self.equations.system, &to.state)
    }
}

impl Method for LineStepper<'_> {
    fn initial_attempt(&mut self, h: f64) -> Result<Attempt> {
        let system = self.equations.system;
        let mut state = system.state(self.has_storage);
        let row = &self.equations.row;
        let weighed = self.has_storage || row.carries_acceleration() || identity::weighs_inertia(row, false);
        self.equations.start(&self.settings.contact, weighed, h, &mut state)?;
        let mut attempt = Attempt {
            state: system.without_forces(state),
            scene: Scene::new(&system.contacts, &system.nodes),
            old_weights: self.equations.row.mean_weights(),
            ..Default::default()
        };
        tableau::show(system, &mut attempt);
        Ok(attempt)
    }

    fn attempt(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) -> Result<()> {
        let LineStepper { equations, settings, law, responses, line, outside, factor, processor, .. } = self;
        let (system, row, processor) = (equations.system, equations.row, *processor);
        tableau::begin(from, t1, to);
        law.begin(system, &row, from, t1, to);
        law.activate(system, settings, h, to);
        equations.prepare(h, None, to)?;
        to.passes = 1;
        if factor.as_ref().is_none_or(|(factor, _)| factor.weights.h != h) {
            let mut solve_mass = |x: &mut Vec<f64>| equations.solve_mass(x);
            *factor = Some(Lanes::new(line, &row, h, &to.scene, &mut solve_mass));
        }
        let Some((factor, answers)) = factor else { return Ok(()) };
        if system.is_loaded() {
            system.applied(t1, &mut to.state.applied);
        }
        for i in line.n..system.nodes.total {
            (to.state.q[i], to.state.v[i], to.state.a[i]) = (from.q[i], 0.0, 0.0);
        }
        let force = outside.force(line, &row, &factor.weights, from, &to.state);
        let mut separators = factor.separators(&go_down(processor, (line, factor), from, force, &mut to.state.a));
        if !law.active.is_empty() {
            responses.update(equations, law, h, to)?;
            let (state, [old, new]) = (&to.state, factor.weights.g);
            law.set_free_rates(&to.scene, |dof| match dof < line.n {
                true => from.v[dof] + old * from.a[dof] + new * factor.solution(dof, &state.a, &separators),
                false => state.v[dof],
            });
            let outcome = law.solve(false, &settings.contact, &to.scene);
            accept(outcome, &law.active, system, settings.contact.tolerance, to)?;
            to.state.impulse.copy_from_slice(&law.impulse);
        }
        let kick = answers.kick(&to.state.impulse);
        (0..separators.len()).for_each(|s| separators[s] += kick.p * kick.response.separators[s]);
        let sums = go_up(processor, &row, (line, factor), (&separators, &kick), from, &mut to.state);
        self.finish(h, from, &sums, to)
    }

    fn kept(&self) -> KeptFactors {
        KeptFactors { factored: self.equations.made, due: None }
    }

    fn restore(&mut self, kept: KeptFactors) -> Result<()> {
        self.equations.restore(kept.factored)
    }

    fn factorization(&self) -> &'static str {
        self.equations.operator.factorization()
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
