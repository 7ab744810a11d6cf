//! Contact with positions corrected, (T7): jumps M w = G p by the law of velocities on closed contacts, and shifts M u = G ν by
//! 0 ≤ g(q1) ⊥ ν ≥ 0 on all. Along tangents positions follow the jumps by the half rule, so that what sticks does not creep.

use super::core::{Core, Equations};
use super::step::Form;
use super::velocity_law::{VelocityLaw, check_diagonal, clear, unsolved};
use super::{ACTIVATION, Settings};
use crate::case::data::ContactSolver;
use crate::laws::{Closing, Complementarity, Delassus, close};
use crate::ledger::Works;
use crate::methods::Attempt;
use crate::relations::Scene;
use crate::relations::candidate::Row;
use crate::schemes::Tableau;
use crate::state::State;
use crate::system::System;
use crate::{Error, Result};

/// Rounds in which corrections and impulses may find each other.
const ROUNDS: usize = 100;

/// Contact by impulses and corrections.
pub(super) struct Corrected {
    law: VelocityLaw,
    gaps: GapLaw,
    /// Contacts whose positions take part.
    closing: Vec<u32>,
    columns: Columns,
    /// Velocities and places of the pass without contact.
    velocity: Vec<f64>,
    position: Vec<f64>,
}

/// The law of gaps on all contacts.
struct GapLaw {
    /// Gap by correction, gap by impulse (zero without damping), and velocity by correction, (T8).
    by_correction: Delassus,
    by_impulse: Delassus,
    velocity_by_correction: Delassus,
    /// Corrections ν of this pass and of the last.
    correction: Vec<f64>,
    earlier: Vec<f64>,
    /// Gaps and velocities of the pass without contact.
    free: Vec<f64>,
    free_rates: Vec<f64>,
    /// Rows that take part, gaps without correction, and those with it.
    rows: Vec<u32>,
    b: Vec<f64>,
    y: Vec<f64>,
}

impl GapLaw {
    fn operators(&mut self) -> [&mut Delassus; 3] {
        [&mut self.by_correction, &mut self.by_impulse, &mut self.velocity_by_correction]
    }

    /// Gaps that are as good as zero. A model of one point has no length, but the step carries it some way.
    fn tolerance(&self, system: &System, row: usize, start: f64) -> f64 {
        ACTIVATION * (system.length + (self.free[row] - start).abs())
    }
}

/// Scratch for the columns of the operators, and what moves positions.
struct Columns {
    jump: Vec<f64>,
    moved: Vec<f64>,
    dragged: Vec<f64>,
    scratch: Vec<f64>,
    /// What moves positions along every row: ν, and for tangential rows h c p.
    shifts: Vec<f64>,
}

impl Form for Corrected {
    const SHIFTS: bool = true;
    const STORAGE: bool = true;

    fn new(system: &System, _: &Tableau, _: &Settings, scene: &Scene) -> Result<Corrected> {
        let (n, m) = (system.nodes.total, scene.rows);
        let (zeros, rows) = (|| vec![0.0; n], || vec![0.0; m]);
        let mut gaps = GapLaw {
            by_correction: Delassus::default(),
            by_impulse: Delassus::default(),
            velocity_by_correction: Delassus::default(),
            correction: rows(),
            earlier: rows(),
            free: rows(),
            free_rates: rows(),
            rows: Vec::with_capacity(m),
            b: rows(),
            y: rows(),
        };
        gaps.operators().into_iter().for_each(|operator| operator.resize(m));
        let columns = Columns { jump: zeros(), moved: zeros(), dragged: zeros(), scratch: zeros(), shifts: rows() };
        let law = VelocityLaw::new(scene);
        let closing = Vec::with_capacity(m);
        Ok(Corrected { law, gaps, closing, columns, velocity: zeros(), position: zeros() })
    }

    fn is_affine(&self, system: &System) -> bool {
        system.contacts.steady()
    }

    fn activate(&mut self, core: &Core, from: &State, _: f64, t1: f64, to: &mut Attempt) {
        let Equations { system, row, .. } = &core.equations;
        self.law.begin(system, row, from, t1, to);
        self.closing.clear();
        if system.contacts.is_empty() {
            return;
        }
        let rows = to.scene.rows;
        if !system.contacts.steady() {
            for operator in self.gaps.operators() {
                operator.clear();
                operator.resize(rows);
            }
        }
        let GapLaw { correction, earlier, free, free_rates, b, y, .. } = &mut self.gaps;
        let vectors = [correction, earlier, free, free_rates, b, y, &mut self.law.b, &mut self.columns.shifts];
        vectors.into_iter().for_each(|vector| clear(vector, rows));
        // Corrections decide what is active, and there is no warm start.
        self.law.impulse.fill(0.0);
    }

    /// Discrete gradients for the coming pass, (T63).
    fn update_gradients(&mut self, core: &Core, from: &State, to: &mut Attempt) {
        if core.equations.system.contacts.steady() {
            return;
        }
        to.scene.secants(&from.q, &to.state.q);
        self.law.delassus.clear();
        self.gaps.operators().into_iter().for_each(Delassus::clear);
        for (row, u0) in self.law.u0.iter_mut().enumerate() {
            *u0 = to.scene.rate(row, |dof| from.v[dof]) - to.scene.drift(row)[0];
        }
    }

    fn solve(&mut self, core: &mut Core, h: f64, to: &mut Attempt) -> Result<()> {
        if to.scene.candidates.is_empty() {
            return Ok(());
        }
        let Corrected { law, gaps, closing, columns, velocity, position } = self;
        let Core { equations, motion, settings, .. } = core;
        let (system, row) = (equations.system, equations.row);
        let free = system.nodes.free;
        law.delassus.keep_for(equations.factor.stamp);
        for operator in gaps.operators() {
            operator.keep_for(equations.factor.stamp);
        }
        for candidate in 0..to.scene.candidates.len() {
            let mut rows = to.scene.candidates[candidate].rows_of();
            if rows.any(|(row, _)| gaps.earlier[row] != 0.0 || to.state.impulse[row] != 0.0) {
                columns.find(equations, law, gaps, candidate, h, to)?;
            }
        }
        // Gaps and velocities that the pass would have without any contact.
        motion.velocity(&row, h, free, &to.state, velocity);
        motion.position(&row, h, free, &to.state, position);
        for candidate in &to.scene.candidates {
            gaps.free[candidate.row] = candidate.gap_at_end(position);
            for (row, entries) in candidate.rows_of() {
                gaps.free_rates[row] = to.scene.law_rate(row, entries.times(velocity), &law.u0);
            }
        }
        gaps.by_correction.add_product(-1.0, &gaps.earlier, &mut gaps.free);
        gaps.by_impulse.add_product(-1.0, &to.state.impulse, &mut gaps.free);
        gaps.velocity_by_correction.add_product(-1.0, &gaps.earlier, &mut gaps.free_rates);
        law.delassus.add_product(-1.0, &to.state.impulse, &mut gaps.free_rates);
        closing.clear();
        for (i, candidate) in to.scene.candidates.iter().enumerate() {
            let gap = gaps.free[candidate.row];
            if candidate.responds && gap <= gaps.tolerance(system, candidate.row, to.gaps[i]) {
                closing.push(i as u32);
            }
        }
        law.active.clear();
        law.active.extend_from_slice(closing);
        law.impulse.fill(0.0);
        gaps.correction.fill(0.0);
        to.active = law.active.len();
        let count = to.scene.candidates.len();
        let settings = &settings.contact;
        close(&mut Alternation { equations, settings, law, gaps, columns, h, to }, count, closing)?;
        let silent = |new: &[f64], old: &[f64]| new.iter().chain(old).all(|&x| x == 0.0);
        if silent(&self.law.impulse, &to.state.impulse) && silent(&self.gaps.correction, &self.gaps.earlier) {
            return Ok(());
        }
        // Along tangents by the half rule.
        let shifts = &mut self.columns.shifts;
        shifts.copy_from_slice(&self.gaps.correction);
        for (tangential, _) in to.scene.candidates.iter().flat_map(|c| c.rows_of().skip(1)) {
            shifts[tangential] = h * row.c * self.law.impulse[tangential];
        }
        core.respond(h, &self.law.impulse, Some(shifts), to);
        self.gaps.earlier.copy_from_slice(&self.gaps.correction);
        Ok(())
    }

    fn residuals(&mut self, core: &Core, to: &Attempt) -> [f64; 2] {
        self.law.update_end_rates(to);
        [self.law.residual(to), self.gap_residual(core.equations.system, to)]
    }

    fn finish(&mut self, core: &Core, _: &State, _: f64, to: &mut Attempt, works: &mut Works) {
        let system = core.equations.system;
        self.law.finish(system.contacts.rough(), core.equations.row.c, to, works);
        to.complementarity = self.law.residual(to).max(self.gap_residual(system, to));
    }
}

impl Corrected {
    /// Worst residual of the law of gaps, of the length of the model.
    fn gap_residual(&self, system: &System, to: &Attempt) -> f64 {
        let (gaps, mut worst, mut way) = (&self.gaps, 0.0_f64, 0.0_f64);
        for candidate in self.closing.iter().map(|&i| &to.scene.candidates[i as usize]) {
            let push = gaps.by_correction.diagonal(candidate.row) * gaps.correction[candidate.row];
            worst = worst.max(candidate.gap_at_end(&to.state.q).min(push).abs());
            worst = worst.max(candidate.strays(&to.state.q).abs());
            way = way.max(gaps.free[candidate.row].abs());
        }
        if !system.contacts.steady() {
            // A curved gap that the tangent of this pass saw open may be closed where the pass led.
            for (i, candidate) in to.scene.candidates.iter().enumerate().filter(|(_, candidate)| candidate.responds) {
                if !self.closing.contains(&(i as u32)) {
                    let depth = -candidate.gap_at_end(&to.state.q);
                    worst = worst.max(depth - ACTIVATION * system.length);
                }
            }
        }
        // A model of one point has no length, but the step would have carried it some way.
        if worst == 0.0 { 0.0 } else { worst / (system.length + way) }
    }
}

/// Corrections and impulses of a pass, in turns.
struct Alternation<'b, 'a> {
    equations: &'b mut Equations<'a>,
    settings: &'b ContactSolver,
    law: &'b mut VelocityLaw,
    gaps: &'b mut GapLaw,
    columns: &'b mut Columns,
    h: f64,
    to: &'b mut Attempt,
}

impl Closing for Alternation<'_, '_> {
    fn column(&mut self, contact: usize) -> Result<()> {
        self.columns.find(self.equations, self.law, self.gaps, contact, self.h, self.to)
    }

    fn solve(&mut self, active: &[u32]) -> Result<()> {
        self.alternate(active)?;
        let gaps = &mut *self.gaps;
        gaps.y.copy_from_slice(&gaps.free);
        gaps.by_correction.add_product(1.0, &gaps.correction, &mut gaps.y);
        gaps.by_impulse.add_product(1.0, &self.law.impulse, &mut gaps.y);
        Ok(())
    }

    /// A correction may close a contact that was open without it.
    fn is_missing(&self, contact: usize) -> bool {
        let candidate = &self.to.scene.candidates[contact];
        let limit = self.gaps.tolerance(self.equations.system, candidate.row, self.to.gaps[contact]);
        candidate.responds && self.gaps.y[candidate.row] < -limit
    }
}

impl Alternation<'_, '_> {
    /// Corrections for given impulses, impulses for given corrections, until both laws hold. Without damping and friction the
    /// first do not depend on the second.
    fn alternate(&mut self, active: &[u32]) -> Result<()> {
        let Alternation { law, gaps, to, settings, .. } = self;
        let system = self.equations.system;
        let coupled = system.damped || system.contacts.rough();
        gaps.rows.clear();
        gaps.rows.extend(active.iter().map(|&i| to.scene.candidates[i as usize].row as u32));
        for round in 0..ROUNDS {
            gaps.b.copy_from_slice(&gaps.free);
            gaps.by_impulse.add_product(1.0, &law.impulse, &mut gaps.b);
            let positions = Complementarity { delassus: &gaps.by_correction, active: &gaps.rows, b: &gaps.b };
            // After the first round the corrections may already fit the new impulses.
            if round > 0 && positions.residual(&gaps.correction, &mut gaps.y) <= settings.tolerance {
                return Ok(());
            }
            let positions = positions.solve(settings, &mut gaps.correction, &mut gaps.y);
            law.b.copy_from_slice(&gaps.free_rates);
            gaps.velocity_by_correction.add_product(1.0, &gaps.correction, &mut law.b);
            let velocities = law.solve(system.contacts.rough(), settings, &to.scene);
            to.sweeps += positions.sweeps + velocities.sweeps;
            to.method = velocities.method;
            let worst = if positions.converged { velocities } else { positions };
            if !worst.converged {
                return Err(unsolved(worst, &law.active, settings.tolerance, to));
            }
            if !coupled {
                return Ok(());
            }
        }
        Err(Error::Solver(format!(
            "positions and velocities of the contacts could not be reconciled in step {} (t = {})",
            to.state.step, to.state.time
        )))
    }
}

impl Columns {
    /// Columns of a contact unless they are known, (T8), with x = M⁻¹G:
    /// gap by correction GᵀÂ⁻¹[(1−α_m) G + (1−α_c) h g1 C x], gap by impulse −h² b1 (1−α_c) GᵀÂ⁻¹C x,
    /// velocity by correction −h g1 (1−α_f) GᵀÂ⁻¹K x, velocity by impulse Gᵀ[x − h g1 (1−α_c) Â⁻¹C x].
    /// A tangential impulse moves positions by h c x as well: its columns have both responses in one.
    fn find(
        &mut self,
        equations: &mut Equations,
        law: &mut VelocityLaw,
        gaps: &mut GapLaw,
        contact: usize,
        h: f64,
        to: &Attempt,
    ) -> Result<()> {
        let (candidates, q) = (&to.scene.candidates, &to.state.q);
        if law.delassus.knows(candidates[contact].row) {
            return Ok(());
        }
        let (system, row, free) = (equations.system, equations.row, equations.system.nodes.free);
        let Columns { jump: x, moved: y, dragged: z, scratch, .. } = self;
        for own in candidates[contact].rows_of() {
            let unit = |vector: &mut Vec<f64>, size: f64| {
                vector.fill(0.0);
                own.1.push(size, vector);
                vector[free..].fill(0.0);
            };
            let moves = if own.0 == candidates[contact].row { 0.0 } else { h * row.c };
            unit(x, 1.0);
            equations.solve_mass(x);
            // y becomes Â⁻¹[(1−α_m) G + (1−α_c) h g1 C x], the motion by a correction.
            unit(y, 1.0 - row.alpha_m);
            system.add_damping_times(q, x, (1.0 - row.alpha_c) * h * row.g1, y);
            equations.solve(y);
            y[free..].fill(0.0);
            gaps.by_correction.insert(own, candidates.iter(), |entries| entries.times(y));
            // z becomes (1−α_c) Â⁻¹C x, and after it y (1−α_f) Â⁻¹K x.
            z.fill(0.0);
            system.add_damping_times(q, x, 1.0 - row.alpha_c, z);
            equations.solve(z);
            z[free..].fill(0.0);
            let gap = |entries: &Row| moves * entries.times(y) - h * h * row.b1 * entries.times(z);
            gaps.by_impulse.insert(own, candidates.iter(), gap);
            y.fill(0.0);
            system.add_stiffness_times(q, x, 1.0 - row.alpha_f, scratch, y);
            equations.solve(y);
            y[free..].fill(0.0);
            let by_correction = |entries: &Row| -h * row.g1 * entries.times(y);
            gaps.velocity_by_correction.insert(own, candidates.iter(), by_correction);
            let velocity =
                |entries: &Row| entries.times(x) - h * row.g1 * entries.times(z) + moves * by_correction(entries);
            law.delassus.insert(own, candidates.iter(), velocity);
        }
        check_diagonal(system, &law.delassus, &candidates[contact])
    }
}
