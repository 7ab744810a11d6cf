//! Residual of a step and when Newton's method may stop.

use super::{Attempt, Stepper};
use crate::state::State;
use crate::system::System;
use crate::{Error, Result};

/// Rounding of a strain: while stresses are tiny, no residual can be smaller than what it makes of the stiffness.
const ROUNDING: f64 = 2e-16;

/// Scaled contact residual below which a nonlinear pass may be the last; gaps are affine, so it is met to round-off
/// as soon as a pass found an answer.
const CONTACT: f64 = 1e-10;

/// A residual this close to its limit that a further pass does not halve is rounding, and the step is done.
pub(crate) const STALLED: f64 = 10.0;

impl Stepper<'_> {
    /// Residual of (T3) at the current state in every row; returns the sizes of the inertia forces and moments.
    pub(super) fn residual(&mut self, from: &State, to: &Attempt) -> [f64; 2] {
        let (system, row, work) = (self.system, &self.row, &mut self.work);
        let state = &to.state;
        for i in 0..system.nodes.total {
            work.first[i] = row.alpha_m * from.a[i] + (1.0 - row.alpha_m) * state.a[i];
        }
        system.mass.multiply(&work.first, &mut work.residual);
        let mut inertia = [0.0; 2];
        for i in 0..system.nodes.total {
            if i < system.nodes.free {
                inertia[system.nodes.is_rotation(i) as usize] += work.residual[i].powi(2);
            }
            let f0 = from.internal[i] - from.applied[i] - system.gravity[i];
            let f1 = state.internal[i] - state.applied[i] - system.gravity[i];
            work.residual[i] += row.alpha_f * f0 + (1.0 - row.alpha_f) * f1;
            work.residual[i] += row.alpha_c * from.viscous[i] + (1.0 - row.alpha_c) * state.viscous[i];
        }
        self.force_residual(from, &to.state);
        inertia.map(f64::sqrt)
    }

    /// Whether the iteration may stop at the current state, (T6); the residual is found on the way.
    pub(super) fn converged(&mut self, from: &State, to: &Attempt) -> Result<bool> {
        let inertia = self.residual(from, to);
        let (system, work) = (self.system, &mut self.work);
        let state = &to.state;
        if system.linear || to.passes == 0 {
            work.residuals.clear();
            return Ok(false);
        }
        let (residual, limit) = newton_limit(system, state, &work.residual, inertia, self.settings.newton.tolerance);
        let mut worst = 0.0_f64;
        for class in 0..2 {
            if residual[class] > 0.0 {
                worst = worst.max(residual[class] / limit[class]);
            }
            if residual[class].is_nan() {
                worst = f64::NAN;
            }
        }
        let stalled = worst <= STALLED && work.residuals.last().is_some_and(|last| worst > 0.5 * last);
        work.residuals.push(worst);
        if (worst <= 1.0 || stalled) && self.contact_residual(state) <= CONTACT {
            return Ok(true);
        }
        if to.passes >= self.settings.newton.passes || worst.is_nan() {
            return Err(self.not_converged(to));
        }
        Ok(false)
    }

    /// Natural-map residual of (T4) at the velocities of a state, of the largest relative velocity.
    pub(super) fn contact_residual(&self, state: &State) -> f64 {
        if self.force.is_some() {
            return self.gap_residual(state);
        }
        let work = &self.work;
        let (mut worst, mut scale) = (0.0_f64, 0.0_f64);
        for &i in &work.active {
            let i = i as usize;
            let candidate = &self.system.contacts.candidates[i];
            let u1 = candidate.rate(&state.v);
            let law = u1 + candidate.restitution * work.u0[i];
            let natural = law.min(self.operators.velocity.diagonal(i).abs() * state.impulse[i]).abs();
            worst = if natural.is_nan() { f64::INFINITY } else { worst.max(natural) };
            scale = scale.max(work.u0[i].abs()).max(u1.abs()).max(work.b[i].abs());
        }
        if worst == 0.0 { 0.0 } else { worst / scale }
    }

    fn not_converged(&self, to: &Attempt) -> Error {
        let residual = &self.work.residual[..self.system.nodes.free];
        let worst = residual.iter().position(|r| r.is_nan()).unwrap_or_else(|| {
            (0..residual.len()).max_by(|&i, &j| residual[i].abs().total_cmp(&residual[j].abs())).unwrap_or(0)
        });
        let history: Vec<String> = self.work.residuals.iter().map(|r| format!("{r:.1e}")).collect();
        let law = self.contact_residual(&to.state);
        let contact = if law > CONTACT { format!("; contact law missed by {law:.1e}") } else { String::new() };
        Error::Solver(format!(
            "Newton's method did not converge in step {} (t = {}) after {} passes; worst at {}; residuals over their \
             limit: {}{contact}",
            to.state.step,
            to.state.time,
            to.passes,
            self.system.describe(worst),
            history.join(", ")
        ))
    }
}

/// Sizes of the residual forces and moments, and below what they may be left, (T6). Forces and moments have different
/// units and are judged apart.
pub(crate) fn newton_limit(
    system: &System,
    state: &State,
    residual: &[f64],
    inertia: [f64; 2],
    tolerance: f64,
) -> ([f64; 2], [f64; 2]) {
    let mut sums = [[0.0; 2]; 3];
    let (mut counts, mut farthest) = ([0.0; 2], 0.0_f64);
    for i in 0..system.nodes.free {
        let class = system.nodes.is_rotation(i) as usize;
        counts[class] += 1.0;
        if class == 0 {
            farthest = farthest.max(state.q[i].abs());
        }
        let load = state.applied[i] + system.gravity[i];
        for (sum, value) in sums.iter_mut().zip([residual[i], state.internal[i], load]) {
            sum[class] += value * value;
        }
    }
    // A strain is a difference of displacements over a length, and rounds like the displacements.
    let rounding = ROUNDING * (1.0 + farthest / system.shortest);
    let limit = [0, 1].map(|class| {
        let floor = rounding * system.floor[class] * f64::sqrt(counts[class]);
        tolerance * (sums[1][class].sqrt() + inertia[class] + sums[2][class].sqrt()) + floor
    });
    (sums[0].map(f64::sqrt), limit)
}
