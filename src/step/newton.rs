//! Residual of a step and when Newton's method may stop.

use super::sums::{Residual, Sizes};
use super::{ACTIVATION, Stepper};
use crate::contact::candidate::Row;
use crate::contact::friction::{Rough, natural_map};
use crate::la::{CHUNK, larger};
use crate::methods::Attempt;
use crate::state::State;
use crate::system::System;
use crate::{Error, Result};
use pulp::{Simd, WithSimd};
use std::ops::Range;

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
    /// What of (T3) does not change in the step: old inertia and forces, and new loads.
    pub(super) fn begin_residual(&mut self, from: &State, to: &Attempt) {
        let (system, alpha_m) = (self.system, self.row.alpha_m);
        let mut known = std::mem::take(&mut self.work.known);
        self.known_forces(0..system.nodes.total, from, &to.state, &mut known);
        if alpha_m != 0.0 {
            known.iter_mut().zip(self.start_inertia(from)).for_each(|(known, force)| *known += alpha_m * force);
        }
        self.work.known = known;
        if system.is_loaded() || self.work.load.is_none() {
            self.work.load = Some(squares(system, |i| to.state.applied[i] + system.gravity[i]));
        }
    }

    /// The same in some rows, inertia apart.
    #[inline(always)]
    fn known_forces(&self, rows: Range<usize>, from: &State, to: &State, known: &mut [f64]) {
        let (system, row, n) = (self.system, &self.row, rows.len());
        let (gravity, internal, known) = (&system.gravity[rows.clone()], &from.internal[rows.clone()], &mut known[..n]);
        let (old, new) = (row.alpha_f, 1.0 - row.alpha_f);
        // Sums with what is zero throughout are left out.
        if old == 0.0 {
            (0..n).for_each(|i| known[i] = -new * gravity[i]);
        } else {
            (0..n).for_each(|i| known[i] = old * (internal[i] - gravity[i]) - new * gravity[i]);
        }
        if system.is_loaded() {
            let (before, applied) = (&from.applied[rows.clone()], &to.applied[rows.clone()]);
            (0..n).for_each(|i| known[i] -= old * before[i] + new * applied[i]);
        }
        if system.damped {
            let viscous = &from.viscous[rows];
            (0..n).for_each(|i| known[i] += row.alpha_c * viscous[i]);
        }
    }

    /// The acceleration that (T3) asks for at the forces of the prediction, without contact.
    pub(super) fn accelerate_freely(&mut self, from: &State, state: &mut State) {
        let free = self.system.nodes.free;
        for start in (0..free).step_by(CHUNK) {
            let rows = start..free.min(start + CHUNK);
            self.arch.dispatch(Freely { stepper: self, from, state, rows });
        }
        self.matrix.solve(&mut state.a);
    }

    /// Motion, forces and residual at the current acceleration; returns the sizes of the residual.
    pub(super) fn look(&mut self, from: &State, h: f64, to: &mut Attempt) -> Sizes {
        let damped = self.system.damped;
        let Some(mut beams) = self.matrix.beams.take_if(|beams| beams.goes_by_pieces() && !damped) else {
            self.place(h, &mut to.state);
            self.bend_forces(from, to);
            return self.residual(from, to);
        };
        // Piece by piece, so that what a loop leaves is near for the next.
        let mut sizes = Sizes::default();
        to.state.energy.strain = 0.0;
        for piece in beams.pieces() {
            let (first, last) = (piece.start == 0, piece.end);
            let ahead = if first { 0 } else { piece.start + 1 }..last + 1;
            beams.ranges(ahead).for_each(|rows| self.place_rows(h, rows, &mut to.state));
            let State { q, internal, energy, .. } = &mut to.state;
            energy.strain += beams.strain(piece.clone(), q, internal);
            // The first row is complete in the end.
            sizes.add(&self.residual_piece(beams.ranges(piece.start.max(1)..last), from, &to.state));
            beams.bring_rows(piece, &self.work.residual);
        }
        sizes.add(&self.residual_piece(beams.ranges(0..1), from, &to.state));
        beams.bring_rows(0..1, &self.work.residual);
        self.matrix.beams = Some(beams);
        sizes
    }

    /// Residual of (T3) at the current state in the free rows, and its sizes.
    pub(super) fn residual(&mut self, from: &State, to: &Attempt) -> Sizes {
        let sizes = self.residual_rows(0..self.system.nodes.free, from, &to.state);
        self.force_residual(from, to);
        sizes
    }

    /// The same in all rows: in those of driven supports it is the reaction.
    pub(super) fn reactions(&mut self, from: &State, to: &Attempt) {
        self.residual_rows(self.system.nodes.free..self.system.nodes.total, from, &to.state);
        self.residual(from, to);
    }

    /// Residual in some rows but for contact forces, and its sizes.
    fn residual_rows(&mut self, rows: Range<usize>, from: &State, state: &State) -> Sizes {
        let mut sizes = Sizes::default();
        for start in rows.clone().step_by(CHUNK) {
            let chunk = start..rows.end.min(start + CHUNK);
            sizes.add(&self.residual_piece(std::iter::once(chunk), from, state));
        }
        sizes
    }

    /// The same in a piece: ranges of rows with a [`CHUNK`] at most each.
    fn residual_piece(
        &mut self,
        piece: impl Iterator<Item = Range<usize>> + Clone,
        from: &State,
        state: &State,
    ) -> Sizes {
        let (system, row, work) = (self.system, &self.row, &mut self.work);
        for rows in piece.clone() {
            system.inertia.rows_times(rows.clone(), [&state.a], [&mut work.residual[rows]]);
        }
        self.arch.dispatch_roomy(Residual {
            piece,
            nodes: &system.nodes,
            known: &work.known,
            internal: &state.internal,
            viscous: if system.damped { &state.viscous } else { &[] },
            weights: [1.0 - row.alpha_m, 1.0 - row.alpha_f, 1.0 - row.alpha_c],
            q0: &from.q,
            q1: &state.q,
            residual: &mut work.residual,
        })
    }

    /// Whether the iteration may stop at the current state, (T6), where the residual has these sizes.
    pub(super) fn converged(&mut self, from: &State, to: &Attempt, mut sizes: Sizes) -> Result<bool> {
        let iterates = self.iterates();
        let (system, work) = (self.system, &mut self.work);
        let state = &to.state;
        if !iterates || to.passes == 0 {
            work.residuals.clear();
            work.left = f64::INFINITY;
            return Ok(false);
        }
        if self.force.is_some() {
            // Contact forces have come to the residual since.
            sizes.residual = squares(system, |i| work.residual[i]);
            sizes.work[1] = (0..system.nodes.free).map(|i| work.residual[i] * (state.q[i] - from.q[i])).sum();
        }
        let (residual, limit) =
            newton_limit(system, &sizes, work.load.unwrap_or_default(), self.settings.newton.tolerance);
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
        let [work_of_inertia, left] = sizes.work.map(f64::abs);
        let energy = from.energy.kinetic + from.energy.strain.max(state.energy.strain) + work_of_inertia;
        // Where a further pass does not halve that work, it is rounding too.
        let closed = left <= WORK * energy || left > 0.5 * work.left;
        work.left = left;
        self.end_rates(to);
        if (worst <= 1.0 || stalled) && closed && self.contact_residual(to) <= CONTACT && self.gap_residual(to) <= GAPS
        {
            return Ok(true);
        }
        if to.passes >= self.settings.newton.passes || worst.is_nan() {
            return Err(self.not_converged(to));
        }
        Ok(false)
    }

    /// Natural-map residual of (T4) at the final velocities `u1`, of the largest relative velocity, or of the velocities that
    /// it is a difference of, where it is no more than their rounding.
    pub(super) fn contact_residual(&self, to: &Attempt) -> f64 {
        if self.force.is_some() {
            return self.force_gap_residual(to);
        }
        let (work, scene) = (&self.work, &to.scene);
        let (mut worst, mut scale) = (0.0_f64, 0.0_f64);
        for &i in &work.active {
            let rows = scene.rows_of(i as usize);
            for row in rows.clone() {
                scale = larger(larger(scale, work.u0[row].abs()), larger(work.u1[row].abs(), work.b[row].abs()));
            }
            let natural = if rows.len() == 1 {
                let push = self.operators.velocity.diagonal(rows.start).abs() * to.state.impulse[rows.start];
                push.min(self.law(rows.start, to)).abs()
            } else {
                self.rough_residual(i as usize, rows, to)
            };
            worst = if natural.is_nan() { f64::INFINITY } else { larger(worst, natural) };
        }
        if worst == 0.0 {
            return 0.0;
        }
        // What moves along with its obstacle has relative velocities that are rounding.
        if worst > CONTACT * scale {
            scale = larger(scale, self.contact_speed(to));
        }
        worst / scale
    }

    /// Largest velocity of an active contact, of its nodes and of the obstacle each by itself.
    fn contact_speed(&self, to: &Attempt) -> f64 {
        let speed = |(row, entries): (usize, &Row)| {
            let nodes: f64 = entries.entries().iter().map(|&(dof, part)| (part * to.state.v[dof as usize]).abs()).sum();
            nodes + to.scene.drift(row)[1].abs()
        };
        let active = self.work.active.iter().map(|&i| &to.scene.candidates[i as usize]);
        active.flat_map(|candidate| candidate.rows_of().map(speed)).fold(0.0, f64::max)
    }

    /// Velocity along a row that the law of contact is about.
    #[inline]
    fn law(&self, row: usize, to: &Attempt) -> f64 {
        self.work.u1[row] + to.scene.restitution(row) * self.work.u0[row]
    }

    fn rough_residual(&self, contact: usize, rows: Range<usize>, to: &Attempt) -> f64 {
        let (mut law, mut impulse, mut w) = ([0.0; 2], [0.0; 2], [0.0, 0.0, 0.0, 1.0]);
        for (k, row) in rows.enumerate() {
            (law[k], impulse[k]) = (self.law(row, to), to.state.impulse[row]);
            w[3 * k] = self.operators.velocity.diagonal(row);
        }
        natural_map(&Rough { row: 0, friction: to.scene.candidates[contact].law.friction }, &w, &impulse, &law)
    }

    /// Natural-map residual of the gaps of (T7), or of curved ones of (T92), of the length of the model.
    pub(super) fn gap_residual(&self, to: &Attempt) -> f64 {
        if self.force.is_some() && !self.system.contacts.steady() {
            return self.force_gap_residual(to);
        }
        let Some(corrected) = &self.operators.corrected else { return 0.0 };
        let (work, mut worst, mut way) = (&self.work, 0.0_f64, 0.0_f64);
        for candidate in work.corrected.iter().map(|&i| &to.scene.candidates[i as usize]) {
            let push = corrected.gap.diagonal(candidate.row) * work.correction[candidate.row];
            worst = worst.max(candidate.gap_at_end(&to.state.q).min(push).abs());
            worst = worst.max(candidate.strays(&to.state.q).abs());
            way = way.max(work.gap_free[candidate.row].abs());
        }
        if !self.system.contacts.steady() {
            // A curved gap that the tangent of this pass saw open may be closed where the pass led.
            for (i, candidate) in to.scene.candidates.iter().enumerate().filter(|(_, candidate)| candidate.responds) {
                if !work.corrected.contains(&(i as u32)) {
                    let depth = -candidate.gap_at_end(&to.state.q);
                    worst = worst.max(depth - ACTIVATION * self.system.length);
                }
            }
        }
        // A model of one point has no length, but the step would have carried it some way.
        if worst == 0.0 { 0.0 } else { worst / (self.system.length + way) }
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

/// Right-hand side of (T3) at the forces of the prediction in some rows, in place of the acceleration.
struct Freely<'a, 'b> {
    stepper: &'a Stepper<'b>,
    from: &'a State,
    state: &'a mut State,
    rows: Range<usize>,
}

impl WithSimd for Freely<'_, '_> {
    type Output = ();

    // Plain loops, for the vectors that the processor has.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Freely { stepper, from, state, rows } = self;
        let (system, row, n) = (stepper.system, &stepper.row, rows.len());
        let mut known = [0.0; CHUNK];
        stepper.known_forces(rows.clone(), from, state, &mut known);
        let (a, internal, known) = (&mut state.a[rows.clone()], &state.internal[rows.clone()], &known[..n]);
        let elastic = 1.0 - row.alpha_f;
        (0..n).for_each(|i| a[i] = -(known[i] + elastic * internal[i]));
        if row.alpha_m != 0.0 {
            let inertia = &stepper.start_inertia(from)[rows.clone()];
            (0..n).for_each(|i| a[i] -= row.alpha_m * inertia[i]);
        }
        if system.damped {
            let viscous = &state.viscous[rows];
            (0..n).for_each(|i| a[i] -= (1.0 - row.alpha_c) * viscous[i]);
        }
    }
}

/// Sizes of the residual forces and moments, and below what they may be left, (T6), for loads with these sums of squares.
/// Forces and moments have different units and are judged apart.
pub(crate) fn newton_limit(system: &System, sizes: &Sizes, load: [f64; 2], tolerance: f64) -> ([f64; 2], [f64; 2]) {
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
pub(crate) fn squares(system: &System, value: impl Fn(usize) -> f64) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for i in 0..system.nodes.free {
        sums[system.nodes.is_rotation(i) as usize] += value(i).powi(2);
    }
    sums
}
