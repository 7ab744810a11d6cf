//! When Newton's method may stop, (T6).

use super::core::Core;
use super::residual::Sizes;
use super::velocity_law::CONTACT;
use crate::methods::Attempt;
use crate::state::State;
use crate::system::System;
use crate::{Error, Result};

/// Rounding of a strain: while stresses are tiny, no residual can be smaller than what it makes of the stiffness.
const ROUNDING: f64 = 2e-16;

/// Scaled residual of laws in gaps below which a pass may be the last.
const GAPS: f64 = 1e-13;

/// Work of the residual over the step, of the energy, below which a nonlinear pass may be the last: it is what the ledger
/// will show as the defect of the step.
const WORK: f64 = 1e-11;

/// A residual this close to its limit that a further pass does not halve is rounding, and the step is done.
pub(in crate::methods) const STALLED: f64 = 10.0;

/// The course of the iteration in a step.
pub(super) struct Newton {
    /// Residuals of the passes so far, over their limits.
    residuals: Vec<f64>,
    /// Work of the residual of the last pass over the step.
    left: f64,
    /// Sums of squares of the loads, forces and moments.
    load: Option<[f64; 2]>,
}

impl Newton {
    pub fn new() -> Newton {
        Newton { residuals: Vec::with_capacity(64), left: f64::INFINITY, load: None }
    }

    /// Before the first pass of a step whose loads are known.
    pub fn begin(&mut self, system: &System, to: &State) {
        self.residuals.clear();
        self.left = f64::INFINITY;
        if system.is_loaded() || self.load.is_none() {
            self.load = Some(squares(system, |i| to.applied[i] + system.gravity[i]));
        }
    }

    /// Whether the iteration may stop after a pass: the residual of (T3) has these sizes, and the laws of contact in velocities
    /// and in gaps have residuals, too.
    pub fn is_done(&mut self, core: &Core, from: &State, to: &Attempt, sizes: &Sizes, laws: [f64; 2]) -> Result<bool> {
        let (system, newton, state) = (core.equations.system, &core.settings.newton, &to.state);
        let (residual, limit) = newton_limit(system, sizes, self.load.unwrap_or_default(), newton.tolerance);
        let mut worst = 0.0_f64;
        for class in 0..2 {
            if residual[class] > 0.0 {
                worst = worst.max(residual[class] / limit[class]);
            }
            if residual[class].is_nan() {
                worst = f64::NAN;
            }
        }
        let stalled = worst <= STALLED && self.residuals.last().is_some_and(|last| worst > 0.5 * last);
        self.residuals.push(worst);
        let [work_of_inertia, left] = sizes.work.map(f64::abs);
        let energy = from.energy.kinetic + from.energy.strain.max(state.energy.strain) + work_of_inertia;
        // Where a further pass does not halve that work, it is rounding too.
        let closed = left <= WORK * energy || left > 0.5 * self.left;
        self.left = left;
        if (worst <= 1.0 || stalled) && closed && laws[0] <= CONTACT && laws[1] <= GAPS {
            return Ok(true);
        }
        if to.passes >= newton.passes || worst.is_nan() {
            return Err(self.not_converged(core, to, laws));
        }
        Ok(false)
    }

    fn not_converged(&self, core: &Core, to: &Attempt, laws: [f64; 2]) -> Error {
        let system = core.equations.system;
        let residual = &core.residual[..system.nodes.free];
        let worst = residual.iter().position(|r| r.is_nan()).unwrap_or_else(|| {
            (0..residual.len()).max_by(|&i, &j| residual[i].abs().total_cmp(&residual[j].abs())).unwrap_or(0)
        });
        let history: Vec<String> = self.residuals.iter().map(|r| format!("{r:.1e}")).collect();
        let law = laws[0].max(laws[1]);
        let contact = if law > GAPS { format!("; contact law missed by {law:.1e}") } else { String::new() };
        Error::Solver(format!(
            "Newton's method did not converge in step {} (t = {}) after {} passes; worst at {}; residuals over their \
             limit: {}{contact}",
            to.state.step,
            to.state.time,
            to.passes,
            system.describe(worst),
            history.join(", ")
        ))
    }
}

/// Sizes of the residual forces and moments, and below what they may be left, (T6), for loads with these sums of squares.
/// Forces and moments have different units and are judged apart.
pub(in crate::methods) fn newton_limit(
    system: &System,
    sizes: &Sizes,
    load: [f64; 2],
    tolerance: f64,
) -> ([f64; 2], [f64; 2]) {
    // A strain is a difference of displacements over a length, and rounds like the displacements.
    let rounding = ROUNDING * (1.0 + sizes.farthest / system.shortest);
    let counts = system.nodes.counts().map(|count| count as f64);
    let limit = [0, 1].map(|class| {
        let floor = rounding * system.floor[class] * f64::sqrt(counts[class]);
        let forces = [sizes.internal, sizes.inertia, load].map(|sums| sums[class].sqrt());
        tolerance * forces.iter().sum::<f64>() + floor
    });
    (sizes.residual.map(f64::sqrt), limit)
}

/// Sums of squares of free rows, of forces and of moments.
pub(in crate::methods) fn squares(system: &System, value: impl Fn(usize) -> f64) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for i in 0..system.nodes.free {
        sums[system.nodes.is_rotation(i) as usize] += value(i).powi(2);
    }
    sums
}
