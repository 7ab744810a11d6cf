//! One-step schemes: a row of numbers ([`crate::schemes`]) on the equations of a system, with contact in one of three forms.
//!
//! `step` is the step from top to bottom, `core` the parts that all forms of contact share, `identity` where the energy
//! goes. Nothing here knows how forces and solutions are found: that is the operator's business.

mod core;
mod corrected;
mod force;
pub(in crate::methods) mod identity;
mod impulse;
mod motion;
mod newton;
mod residual;
mod start;
mod step;
mod velocity_law;

pub(in crate::methods) use self::core::Equations;
pub use force::admit;
pub(in crate::methods) use impulse::Responses;
pub(crate) use impulse::active_set_bytes;
pub(in crate::methods) use newton::{STALLED, newton_limit, squares};
pub(in crate::methods) use residual::Sizes;
pub(in crate::methods) use step::{finite, show};
pub(in crate::methods) use velocity_law::{VelocityLaw, accept};

use super::{Attempt, Method};
use crate::case::data::{self, ContactMethod, Position};
use crate::schemes::Tableau;
use crate::state::State;
use crate::system::System;
use crate::system::operator::{Operator, operator};
use crate::{Error, Result};
use corrected::Corrected;
use force::Force;
pub(in crate::methods) use impulse::Impulse;
pub(in crate::methods) use step::Stepper;

/// Tolerance on gaps at activation, of the length of the model: closed contacts sit at round-off on either side.
const ACTIVATION: f64 = 1e-11;

/// Settings of a stepper beyond the tableau.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Activation forecast γ_a.
    pub forecast: f64,
    /// How an impact moves positions.
    pub position: Position,
    /// Newton iteration.
    pub newton: data::Newton,
    /// Contact solver.
    pub contact: data::ContactSolver,
}

impl Settings {
    /// The settings of a case.
    pub fn of(case: &data::Case) -> Settings {
        Settings {
            forecast: case.scheme.forecast,
            position: case.scheme.position,
            newton: case.solver.newton.clone(),
            contact: case.solver.contact.clone(),
        }
    }
}

/// The stepper of a scheme on a system, in the form of contact that they ask for.
pub fn stepper<'a>(system: &'a System, row: Tableau, settings: Settings) -> Result<Box<dyn Method + 'a>> {
    admit(&row, settings.position, system)?;
    if settings.contact.method == ContactMethod::ActiveSet {
        impulse::check_active_set(system, &row, &settings)?;
    }
    let operator = operator_of(system, true)?;
    Ok(match (&system.redistribution, settings.position) {
        (Some(_), _) => Box::new(Stepper::<Force>::new(system, row, settings, operator)?),
        (None, Position::Ggl) => Box::new(Stepper::<Corrected>::new(system, row, settings, operator)?),
        (None, Position::Half) => Box::new(Stepper::<Impulse>::new(system, row, settings, operator)?),
    })
}

/// The operator of a system for schemes with inertia.
pub(in crate::methods) fn operator_of(system: &System, lanes: bool) -> Result<Box<dyn Operator + '_>> {
    operator(system, lanes)
        .map_err(|s| Error::Solver(format!("the mass matrix is singular near {}", system.describe(s.row))))
}

/// The whole Delassus operator of a step from a state, row by row: for tests and diagnostics.
pub fn delassus_matrix(system: &System, row: Tableau, settings: Settings, at: &State, h: f64) -> Result<Vec<Vec<f64>>> {
    Stepper::<Impulse>::new(system, row, settings, operator_of(system, true)?)?.delassus_matrix(at, h)
}

/// Passes of Newton's method one by one, for benches.
pub struct Passes<'a>(Stepper<'a, Impulse>);

impl<'a> Passes<'a> {
    /// Steps of a nonlinear system; `lanes` asks for vectors in chains of beams.
    pub fn new(system: &'a System, row: Tableau, settings: Settings, lanes: bool) -> Result<Passes<'a>> {
        Passes::on(system, row, settings, operator_of(system, lanes)?)
    }

    /// Steps with an operator of one's own.
    pub fn on(
        system: &'a System,
        row: Tableau,
        settings: Settings,
        operator: Box<dyn Operator + 'a>,
    ) -> Result<Passes<'a>> {
        Ok(Passes(Stepper::new(system, row, settings, operator)?))
    }

    /// The method that makes whole steps.
    pub fn method(&mut self) -> &mut dyn Method {
        &mut self.0
    }

    /// One pass of the step under way; whether the step is done.
    pub fn pass(&mut self, from: &State, h: f64, to: &mut Attempt) -> Result<bool> {
        self.0.newton_pass(from, h, to)
    }

    /// The velocity jump of the last step.
    pub fn jump(&self) -> &[f64] {
        &self.0.core.motion.jump
    }
}

/// Shares s and ρ of W = s GᵀÂ⁻¹G + ρ GᵀM⁻¹G, (T64), which (T5) is without damping, or with ρ = 0.
fn shares(row: &Tableau) -> [f64; 2] {
    let rho = if row.alpha_f == 1.0 { 0.0 } else { (row.b1 - row.g1 * row.c) / row.b1 };
    // Parameters with 2β = γ need not be so to the last digit.
    let rho = if rho.abs() < 1e-12 { 0.0 } else { rho };
    [(1.0 - rho) * (1.0 - row.alpha_m), rho]
}

/// Number and instant of a step that begins, and its counters.
pub(in crate::methods) fn begin(from: &State, t1: f64, to: &mut Attempt) {
    (to.state.step, to.state.time) = (from.step + 1, t1);
    (to.passes, to.factorizations, to.sweeps) = (0, 0, 0);
    to.method = Default::default();
}
