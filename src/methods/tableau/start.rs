//! The state at t = 0: accelerations balance all forces but impulses, and massless nodes are in equilibrium.

use super::core::{Core, Equations};
use super::force::add_forces;
use super::identity::initial_storage;
use crate::case::data::{ContactSolver, MasslessLaw};
use crate::la::{Factor, Symmetric};
use crate::laws::{Complementarity, Delassus};
use crate::relations::{Candidate, Scene};
use crate::state::State;
use crate::system::operator::Fields;
use crate::{Error, Result};

/// Passes of the static start of a nonlinear model; its massless nodes are few and near their places.
const STATIC_PASSES: usize = 30;

impl Core<'_> {
    /// Overwrites a state by that at t = 0, before a step of size `h`.
    pub fn start(&mut self, h: f64, state: &mut State) -> Result<()> {
        let weighed = self.weighs_inertia();
        self.equations.start(&self.settings.contact, weighed, h, state)
    }

    /// The first guess of a new acceleration.
    pub fn guess(&mut self, from: &State, to: &mut State) {
        let (system, free) = (self.equations.system, self.equations.system.nodes.free);
        if self.equations.row.carries_acceleration() {
            to.a[..free].copy_from_slice(&from.a[..free]);
        } else {
            to.a[..free].fill(0.0);
        }
        self.begin_residual(0..system.nodes.total, from, to);
    }
}

impl Equations<'_> {
    /// Overwrites a state by that at t = 0, before a step of size `h`; `weighed` asks for M a.
    pub fn start(&mut self, settings: &ContactSolver, weighed: bool, h: f64, state: &mut State) -> Result<()> {
        let system = self.system;
        state.q.copy_from_slice(&system.q0);
        state.v.copy_from_slice(&system.v0);
        system.applied(0.0, &mut state.applied);
        let mut scene = Scene::new(&system.contacts, &system.nodes);
        if system.redistribution.is_some() {
            self.static_start(settings, &mut scene, state)?;
            for (rate, candidate) in state.mean_rate.iter_mut().zip(&scene.candidates) {
                *rate = candidate.rate(&state.v);
            }
        } else {
            scene.candidates.clear();
        }
        self.forces(state);
        self.initial_acceleration(&scene.candidates, state);
        self.energies(weighed, state, |_, _| {});
        initial_storage(state, &self.row, h);
        Ok(())
    }

    fn forces(&mut self, state: &mut State) {
        let State { q, v, internal, viscous, .. } = state;
        state.energy.strain = self.operator.forces(Fields { q, v, internal, viscous });
    }

    /// The acceleration from the forces of a state, those of contact included, zero where there is no mass; and the reactions
    /// of supports.
    fn initial_acceleration(&mut self, candidates: &[Candidate], state: &mut State) {
        let (system, free) = (self.system, self.system.nodes.free);
        let (mut inertia, mut pushed) = (vec![0.0; state.q.len()], vec![0.0; state.q.len()]);
        state.a.fill(0.0);
        for (dof, function) in &system.drives {
            state.a[*dof] = function.second_rate(0.0);
        }
        system.inertia.multiply(&state.a, &mut inertia);
        for (candidate, &force) in candidates.iter().zip(&state.force) {
            candidate.push(force, &mut pushed);
        }
        for i in 0..free {
            let force = system.gravity[i] + state.applied[i] - state.internal[i] - state.viscous[i] + pushed[i];
            state.a[i] = force - inertia[i];
        }
        system.redistribution.iter().flat_map(|r| r.massless()).for_each(|&i| state.a[i] = 0.0);
        self.solve_mass(&mut state.a);
        system.inertia.multiply(&state.a, &mut inertia);
        for (reaction, i) in state.reaction.iter_mut().zip(free..) {
            let load = system.gravity[i] + state.applied[i] + pushed[i];
            *reaction = inertia[i] + state.internal[i] + state.viscous[i] - load;
        }
    }

    /// Static start, (T96): massless degrees of freedom and contact forces in equilibrium with the others.
    fn static_start(&mut self, settings: &ContactSolver, scene: &mut Scene, state: &mut State) -> Result<()> {
        let system = self.system;
        let Some(moved) = &system.redistribution else { return Ok(()) };
        let count = scene.candidates.len();
        let law = moved.law;
        let mut matrix = Symmetric::zeros(system.mass.pattern.clone());
        let mut factor = Factor::new(&matrix.pattern, system.nodes.free);
        let (mut residual, mut gaps) = (vec![0.0; state.q.len()], vec![0.0; count]);
        let mut y = gaps.clone();
        // Only massless motions respond here.
        let masked = |x: &mut [f64]| {
            for i in (0..x.len()).filter(|&i| !moved.is_massless(i)) {
                x[i] = 0.0;
            }
        };
        let mut moves = f64::INFINITY;
        for _ in 0..STATIC_PASSES {
            self.forces(state);
            scene.look_at(&system.contacts, &system.nodes, state);
            let candidates = &scene.candidates;
            system.massless_stiffness(&state.q, &mut matrix);
            factor.factor(&matrix).map_err(|s| {
                Error::Solver(format!("a massless node has no stiffness near {}", system.describe(s.row)))
            })?;
            for i in 0..residual.len() {
                residual[i] = state.applied[i] + system.gravity[i] - state.internal[i] - state.viscous[i];
            }
            masked(&mut residual);
            factor.solve(&mut residual);
            let before: Vec<f64> = moved.massless().iter().map(|&i| state.q[i]).collect();
            // Gaps along the tangents at this place, where passes end.
            for (gap, candidate) in gaps.iter_mut().zip(candidates) {
                *gap = candidate.gap_at_end(&state.q) + candidate.rate(&residual);
            }
            moved.massless().iter().for_each(|&i| state.q[i] += residual[i]);
            let mut compliance = Delassus::default();
            compliance.resize(count);
            let mut all = Vec::new();
            for (i, candidate) in candidates.iter().enumerate() {
                residual.fill(0.0);
                candidate.push(1.0, &mut residual);
                masked(&mut residual);
                factor.solve(&mut residual);
                compliance.insert((i, &candidate.gap_row), candidates.iter(), |row| row.times(&residual));
                // The mid-velocity law knows no force at an instant.
                if candidate.responds && compliance.diagonal(i) > 0.0 && law == MasslessLaw::Position {
                    all.push(i as u32);
                }
            }
            let problem = Complementarity { delassus: &compliance, active: &all, b: &gaps };
            let outcome = problem.solve(settings, &mut state.force, &mut y);
            if !outcome.converged {
                return Err(Error::Solver("the contacts of massless nodes have no equilibrium at the start".into()));
            }
            residual.fill(0.0);
            add_forces(scene, 1.0, &state.force, &mut residual);
            masked(&mut residual);
            factor.solve(&mut residual);
            moved.massless().iter().for_each(|&i| state.q[i] += residual[i]);
            let last = moves;
            let change = moved.massless().iter().zip(before).map(|(&i, old)| (state.q[i] - old).abs());
            moves = change.fold(0.0, f64::max) / system.length;
            // Passes that no longer help have reached rounding.
            if (system.linear && system.contacts.steady()) || moves <= 1e-15 || (moves <= 1e-11 && moves > 0.25 * last)
            {
                moves = 0.0;
                break;
            }
        }
        if moves > 0.0 {
            return Err(Error::Solver(format!(
                "no equilibrium of the massless nodes at the start (moves {moves:.1e})"
            )));
        }
        Ok(())
    }
}
