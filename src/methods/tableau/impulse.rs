//! Contact by impulses, (T4): jumps M w = G p, and positions that follow them by u = h c w.

use super::core::{Core, Equations};
use super::step::Form;
use super::velocity_law::{VelocityLaw, accept, check_diagonal};
use super::{Settings, shares};
use crate::case::data::{ContactMethod, Position};
use crate::laws::solvers::active_set::{ActiveSet, Bound};
use crate::laws::{Delassus, Outcome};
use crate::ledger::Works;
use crate::methods::Attempt;
use crate::relations::turn::Turn;
use crate::relations::{Candidate, Scene};
use crate::schemes::Tableau;
use crate::state::State;
use crate::system::System;
use crate::{Error, Result};

/// From so many contacts on active sets are faster than Gauss–Seidel on columns of W.
const MANY: usize = 16;

/// Contact by impulses.
pub(in crate::methods) struct Impulse {
    pub law: VelocityLaw,
    pub responses: Responses,
    bounds: Option<Bounds>,
}

impl Form for Impulse {
    const SHIFTS: bool = false;
    const STORAGE: bool = true;

    fn new(system: &System, row: &Tableau, settings: &Settings, scene: &Scene) -> Result<Impulse> {
        Ok(Impulse {
            law: VelocityLaw::new(scene),
            responses: Responses::new(system.nodes.total),
            bounds: Bounds::new(system, row, settings, scene)?,
        })
    }

    /// Gradients are frozen, so the law is affine whatever the obstacle.
    fn is_affine(&self, _: &System) -> bool {
        true
    }

    fn activate(&mut self, core: &Core, from: &State, h: f64, t1: f64, to: &mut Attempt) {
        let Equations { system, row, .. } = &core.equations;
        self.law.begin(system, row, from, t1, to);
        self.law.activate(system, &core.settings, h, to);
    }

    fn solve(&mut self, core: &mut Core, h: f64, to: &mut Attempt) -> Result<()> {
        if self.law.active.is_empty() {
            return Ok(());
        }
        if self.solve_bounds(core, h, to) {
            return Ok(());
        }
        self.responses.update(&mut core.equations, &mut self.law, h, to)?;
        let (Core { equations, motion, settings, .. }, law) = (&mut *core, &mut self.law);
        let (row, free) = (&equations.row, equations.system.nodes.free);
        let (v_free, jump, a, held) = (&motion.v_free, &motion.jump, &to.state.a, &to.state.v);
        law.set_free_rates(&to.scene, |i| if i < free { v_free[i] + h * row.g1 * a[i] + jump[i] } else { held[i] });
        law.delassus.add_product(-1.0, &to.state.impulse, &mut law.b);
        let outcome = law.solve(equations.system.contacts.rough(), &settings.contact, &to.scene);
        accept(outcome, &law.active, equations.system, settings.contact.tolerance, to)?;
        self.respond(core, h, to);
        Ok(())
    }

    fn residuals(&mut self, _: &Core, to: &Attempt) -> [f64; 2] {
        self.law.update_end_rates(to);
        [self.law.residual(to), 0.0]
    }

    fn finish(&mut self, core: &Core, _: &State, _: f64, to: &mut Attempt, works: &mut Works) {
        self.law.finish(core.equations.system.contacts.rough(), core.equations.row.c, to, works);
        to.complementarity = self.law.residual(to);
    }

    fn velocity_operator(&mut self, core: &mut Core, h: f64, to: &mut Attempt) -> Result<&Delassus> {
        self.law.delassus.resize(to.scene.rows);
        self.law.active.clear();
        self.law.active.extend(0..to.scene.candidates.len() as u32);
        self.responses.update(&mut core.equations, &mut self.law, h, to)?;
        Ok(&self.law.delassus)
    }
}

impl Impulse {
    /// The motion by the new impulses, unless there are none and were none.
    fn respond(&mut self, core: &mut Core, h: f64, to: &mut Attempt) {
        if self.law.impulse.iter().chain(&to.state.impulse).any(|&p| p != 0.0) {
            core.respond(h, &self.law.impulse, None, to);
        }
    }

    /// Solves on active sets inside the factorization, without W, (T62), where that is possible and worth it; whether it was.
    fn solve_bounds(&mut self, core: &mut Core, h: f64, to: &mut Attempt) -> bool {
        let wanted = match core.settings.contact.method {
            ContactMethod::Auto => self.law.active.len() >= MANY,
            method => method == ContactMethod::ActiveSet,
        };
        let Some(bounds) = self.bounds.as_mut().filter(|_| wanted) else { return false };
        let outcome = bounds.solve(core, &mut self.law, h, to);
        to.sweeps += outcome.sweeps;
        to.method = outcome.method;
        if !outcome.converged {
            return false;
        }
        let change = bounds.active_set.change().filter(|_| core.equations.system.linear);
        let Some(change) = change else {
            self.respond(core, h, to);
            return true;
        };
        if self.law.impulse.iter().all(|&p| p == 0.0) {
            return true;
        }
        // The only pass of the step: there is no jump yet. The velocities that the active set changed are w + h g1 δa.
        let Core { equations, motion, .. } = core;
        let free = equations.system.nodes.free;
        to.state.impulse.copy_from_slice(&self.law.impulse);
        motion.jumped = true;
        to.scene.push(&self.law.impulse, &mut motion.jump);
        motion.jump[free..].fill(0.0);
        equations.solve_mass(&mut motion.jump);
        let (change, w, a) = (&change[..free], &motion.jump[..free], &mut to.state.a[..free]);
        let rate = 1.0 / (h * equations.row.g1);
        (0..free).for_each(|i| a[i] += (change[i] - w[i]) * rate);
        true
    }
}

/// Finds columns of W as contacts become active.
pub(in crate::methods) struct Responses {
    response: Vec<f64>,
    jump: Vec<f64>,
    scratch: Vec<f64>,
}

impl Responses {
    pub fn new(n: usize) -> Responses {
        Responses { response: vec![0.0; n], jump: vec![0.0; n], scratch: vec![0.0; n] }
    }

    /// Columns of W of the active contacts, as far as they are not known.
    pub fn update(&mut self, equations: &mut Equations, law: &mut VelocityLaw, h: f64, to: &Attempt) -> Result<()> {
        let Responses { response, jump, scratch } = self;
        let (candidates, system) = (&to.scene.candidates, equations.system);
        law.delassus.keep_for(equations.factor.stamp);
        for k in 0..law.active.len() {
            let candidate = &candidates[law.active[k] as usize];
            if law.delassus.knows(candidate.row) {
                continue;
            }
            for own in candidate.rows_of() {
                equations.impulse_response(own.1, h, &to.state.q, [response, jump, scratch]);
                if system.contacts.steady() {
                    law.delassus.insert(own, candidates.iter(), |entries| entries.times(response));
                } else {
                    // Such a column lives for this pass only, and nobody asks it for more.
                    let active = law.active.iter().map(|&i| &candidates[i as usize]);
                    law.delassus.insert(own, active, |entries| entries.times(response));
                }
            }
            check_diagonal(system, &law.delassus, candidate)?;
        }
        Ok(())
    }
}

/// Many contacts, each a bound on one degree of freedom.
struct Bounds {
    active_set: ActiveSet,
    /// Stamp of the matrix that it knows.
    stamp: u64,
    /// What earlier impulses do through Â, and through M.
    effective: Vec<f64>,
    massive: Vec<f64>,
}

/// Refuses active sets that do not fit.
pub(super) fn check_active_set(system: &System, row: &Tableau, settings: &Settings) -> Result<()> {
    Bounds::new(system, row, settings, &Scene::new(&system.contacts, &system.nodes)).map(drop)
}

impl Bounds {
    /// Active sets for the contacts of a system with a scheme; none if they are too few or do not fit.
    fn new(system: &System, row: &Tableau, settings: &Settings, scene: &Scene) -> Result<Option<Bounds>> {
        match active_set(system, scene, row, settings) {
            Ok(found) => {
                let zeros = || vec![0.0; system.nodes.total];
                Ok(found.map(|active_set| Bounds { active_set, stamp: 0, effective: zeros(), massive: zeros() }))
            }
            Err(reason) if settings.contact.method == ContactMethod::ActiveSet => Err(Error::Input(format!(
                "solver.contact.method = \"active-set\" does not fit: {reason}; take \"auto\""
            ))),
            Err(_) => Ok(None),
        }
    }

    fn solve(&mut self, core: &mut Core, law: &mut VelocityLaw, h: f64, to: &Attempt) -> Outcome {
        let Core { equations, motion, .. } = core;
        let Bounds { effective, massive, .. } = self;
        let (scene, free, row) = (&to.scene, equations.system.nodes.free, equations.row);
        law.delassus.keep_for(equations.factor.stamp);
        if self.stamp != equations.factor.stamp {
            self.stamp = equations.factor.stamp;
            self.active_set.clear();
        }
        let [s, rho] = shares(&row);
        // Impulses of earlier passes are in the velocities and have to be taken out again.
        let pressed = motion.jumped;
        if pressed {
            effective.fill(0.0);
            scene.push(&to.state.impulse, effective);
            effective[free..].fill(0.0);
            massive.copy_from_slice(effective);
            equations.solve(effective);
            equations.solve_mass(massive);
            (0..free).for_each(|i| effective[i] = motion.jump[i] - (s * effective[i] + rho * massive[i]));
        }
        let (v, factor) = (&to.state.v[free..], h * row.g1);
        let (v_free, a, earlier) = (&motion.v_free[..free], &to.state.a[..free], &effective[..free]);
        law.set_free_rates(scene, |dof| {
            let rate = if dof < free { v_free[dof] + factor * a[dof] } else { v[dof - free] };
            if pressed && dof < free { rate + earlier[dof] } else { rate }
        });
        let VelocityLaw { delassus, active, b, impulse, .. } = law;
        let matrix = equations.operator.matrix(&to.state.q);
        self.active_set.solve(matrix, active, b, impulse, |row, answer| delassus.estimate(row, answer))
    }
}

/// A contact as a bound on one free degree of freedom, if that is all that it is, and how axes must be turned for that.
fn bound(candidate: &Candidate, free: usize) -> Option<(Bound, Option<Turn>)> {
    let entries = candidate.gap_row.entries().iter();
    let mut moving = entries.filter(|&&(dof, part)| (dof as usize) < free && part != 0.0);
    let (&(dof, part), second, None) = (moving.next()?, moving.next(), moving.next()) else { return None };
    let plain = !candidate.slides() && candidate.shape.is_affine();
    let Some(&(across, other)) = second else {
        return plain.then_some((Bound { row: candidate.row, dof: dof as usize, part }, None));
    };
    let size = part.hypot(other);
    let turn = Turn { dofs: [dof as usize, across as usize], along: [part / size, other / size] };
    plain.then_some((Bound { row: candidate.row, dof: dof as usize, part: size }, Some(turn)))
}

/// Active sets for the contacts of a system with a scheme, none if they are too few, or why it cannot be.
fn active_set(
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
