//! Residual of a step and when Newton's method may stop.

use super::contact::law_rate;
use super::{Attempt, Stepper};
use crate::contact::friction::{Rough, natural_map};
use crate::state::State;
use crate::system::System;
use crate::{Error, Result};

/// Rounding of a strain: while stresses are tiny, no residual can be smaller than what it makes of the stiffness.
const ROUNDING: f64 = 2e-16;

/// Scaled contact residual below which a nonlinear pass may be the last; the law is linear in a pass, so it is met to
/// round-off as soon as a pass found an answer.
const CONTACT: f64 = 1e-10;

/// Scaled residual of the gaps of the position-corrected form below which a pass may be the last.
const GAPS: f64 = 1e-13;

/// Work of the residual over the step, of the energy, below which a nonlinear pass may be the last: it is what the ledger
/// will show as the defect of the step.
const WORK: f64 = 1e-11;

/// A residual this close to its limit that a further pass does not halve is rounding, and the step is done.
pub(crate) const STALLED: f64 = 10.0;

impl Stepper<'_> {
    /// Residual of (T3) at the current state in every row; returns the sizes of the inertia forces and moments, and the
    /// work of the inertia forces over the step.
    pub(super) fn residual(&mut self, from: &State, to: &Attempt) -> ([f64; 2], f64) {
        let (system, row, work) = (self.system, &self.row, &mut self.work);
        let state = &to.state;
        for i in 0..system.nodes.total {
            work.first[i] = row.alpha_m * from.a[i] + (1.0 - row.alpha_m) * state.a[i];
        }
        system.mass.multiply(&work.first, &mut work.residual);
        let (mut inertia, mut work_of_inertia) = ([0.0; 2], 0.0);
        for i in 0..system.nodes.total {
            if i < system.nodes.free {
                work_of_inertia += work.residual[i] * (state.q[i] - from.q[i]);
                inertia[system.nodes.is_rotation(i) as usize] += work.residual[i].powi(2);
            }
            let f0 = from.internal[i] - from.applied[i] - system.gravity[i];
            let f1 = state.internal[i] - state.applied[i] - system.gravity[i];
            work.residual[i] += row.alpha_f * f0 + (1.0 - row.alpha_f) * f1;
            work.residual[i] += row.alpha_c * from.viscous[i] + (1.0 - row.alpha_c) * state.viscous[i];
        }
        self.force_residual(from, to);
        (inertia.map(f64::sqrt), work_of_inertia)
    }

    /// Whether the iteration may stop at the current state, (T6); the residual is found on the way.
    pub(super) fn converged(&mut self, from: &State, to: &Attempt) -> Result<bool> {
        let (inertia, work_of_inertia) = self.residual(from, to);
        let iterates = self.iterates();
        let (system, work) = (self.system, &mut self.work);
        let state = &to.state;
        if !iterates || to.passes == 0 {
            work.residuals.clear();
            work.left = f64::INFINITY;
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
        let left: f64 = (0..system.nodes.free).map(|i| work.residual[i] * (state.q[i] - from.q[i])).sum::<f64>().abs();
        let energy = from.energy.kinetic + from.energy.strain.max(state.energy.strain) + work_of_inertia.abs();
        // Where a further pass does not halve that work, it is rounding too.
        let closed = left <= WORK * energy || left > 0.5 * work.left;
        work.left = left;
        if (worst <= 1.0 || stalled) && closed && self.contact_residual(to) <= CONTACT && self.gap_residual(to) <= GAPS
        {
            return Ok(true);
        }
        if to.passes >= self.settings.newton.passes || worst.is_nan() {
            return Err(self.not_converged(to));
        }
        Ok(false)
    }

    /// Natural-map residual of (T4) at the velocities of a state, of the largest relative velocity.
    pub(super) fn contact_residual(&self, to: &Attempt) -> f64 {
        if self.force.is_some() {
            return self.force_gap_residual(to);
        }
        let (work, state) = (&self.work, &to.state);
        let (mut worst, mut scale) = (0.0_f64, 0.0_f64);
        for &i in &work.active {
            let candidate = &to.scene.candidates[i as usize];
            let mut law = [0.0; 2];
            let mut impulse = [0.0; 2];
            let mut w = [0.0, 0.0, 0.0, 1.0];
            for (row, entries) in candidate.rows_of() {
                let k = row - candidate.row;
                let rate = entries.times(&state.v);
                law[k] = law_rate(candidate, row, rate, &work.u0);
                impulse[k] = state.impulse[row];
                w[3 * k] = self.operators.velocity.diagonal(row);
                let u1 = rate - candidate.drift_of(row, 1);
                scale = scale.max(work.u0[row].abs()).max(u1.abs()).max(work.b[row].abs());
            }
            let natural = natural_map(&Rough { row: 0, friction: candidate.law.friction }, &w, &impulse, &law);
            worst = if natural.is_nan() { f64::INFINITY } else { worst.max(natural) };
        }
        if worst == 0.0 { 0.0 } else { worst / scale }
    }

    /// Natural-map residual of the gaps of (T7), or of curved ones of (T92), of the length of the model.
    pub(super) fn gap_residual(&self, to: &Attempt) -> f64 {
        if self.force.is_some() && !self.system.contacts.steady() {
            return self.force_gap_residual(to);
        }
        let Some(corrected) = &self.operators.corrected else { return 0.0 };
        let (work, mut worst) = (&self.work, 0.0_f64);
        for candidate in work.corrected.iter().map(|&i| &to.scene.candidates[i as usize]) {
            let push = corrected.gap.diagonal(candidate.row) * work.correction[candidate.row];
            worst = worst.max(candidate.gap_at_end(&to.state.q).min(push).abs());
            worst = worst.max(candidate.strays(&to.state.q).abs());
        }
        worst / self.system.length
    }

    fn not_converged(&self, to: &Attempt) -> Error {
        let residual = &self.work.residual[..self.system.nodes.free];
        let worst = residual.iter().position(|r| r.is_nan()).unwrap_or_else(|| {
            (0..residual.len()).max_by(|&i, &j| residual[i].abs().total_cmp(&residual[j].abs())).unwrap_or(0)
        });
        let history: Vec<String> = self.work.residuals.iter().map(|r| format!("{r:.1e}")).collect();
        let law = self.contact_residual(to).max(self.gap_residual(to));
        let contact = if law > GAPS { format!("; contact law missed by {law:.1e}") } else { String::new() };
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
