//! The scheme of Schatzman and Paoli in the form of a ledger, (T130)–(T134): two positions make the next, contact is a law of
//! positions, and the energy lives at half steps.
//!
//! ```text
//! (T130)  M (q₊ − 2q + q₋) + h² K q̂ + h² C v̂ = h² F̂ + G p,     0 ≤ g(q₊) + e g(q₋) ⊥ p ≥ 0 on all contacts,   P = p / h
//! ```
//!
//! Steps are of one size. The state that a step ends in has the place q₊ and the mean velocity of the step, (q₊ − q)/h, and
//! its energies are those of the middle of the step.

use super::registry::{Facts, MethodKind};
use super::tableau::{Equations, finite, operator_of, show};
use super::{Attempt, KeptFactors, Method};
use crate::case::data::{Case, ContactSolver, Position};
use crate::la::dot;
use crate::laws::{Complementarity, Delassus};
use crate::ledger::{Balance, Works};
use crate::relations::Scene;
use crate::schemes::{self, Parameters};
use crate::state::{Energy, Memory, State};
use crate::system::System;
use crate::system::operator::{Factored, Fields};
use crate::{Error, Result};

/// Its entry in the registry.
pub const SCHATZMAN_PAOLI: MethodKind = MethodKind {
    name: "schatzman-paoli",
    facts: |parameters| {
        let Weights { theta, symmetric } = Weights::of(parameters);
        // ℰ is positive as long as 1 + (hω)² (t − ¼) is.
        let share = if symmetric { theta } else { 0.5 * theta };
        let limit = if share < 0.25 { 1.0 / (0.25 - share).sqrt() } else { f64::INFINITY };
        Facts { order: if symmetric || theta == 0.0 { 2 } else { 1 }, limit, any_stride: false }
    },
    fits,
    build: |case, system| Ok(Box::new(TwoStep::new(case, system)?)),
};

/// Refuses what the scheme does not know; advice on what it does with rebounds.
fn fits(case: &Case, system: &System) -> Result<Vec<String>> {
    let time = &case.time;
    let whole = ((time.end / time.step).round() * time.step - time.end).abs() <= 1e-9 * time.end;
    let first = time.first_step.is_none_or(|first| first == time.step);
    let refusals = [
        (
            time.adaptive.is_some(),
            "steps that adapt: it needs two places at equal distance in time; remove time.adaptive",
        ),
        (case.scheme.position != Position::Half, "scheme.position: its contact is a law of positions already"),
        (!system.linear, "nonlinear models; take a row of the tableau"),
        (system.redistribution.is_some(), "mass = \"redistributed\"; keep the mass, or take a row of the tableau"),
        (!system.drives.is_empty(), "driven supports; take a row of the tableau"),
        (!system.contacts.is_empty() && system.contacts.rough(), "friction; take a row of the tableau"),
        (
            !(system.contacts.is_empty() || system.contacts.steady() && system.contacts.at_rest()),
            "contacts whose normals turn or whose obstacles move; take a row of the tableau",
        ),
        (!(whole && first), "steps of unequal size: make time.end a multiple of time.step, without time.first_step"),
    ];
    if let Some((_, what)) = refusals.iter().find(|(refused, _)| *refused) {
        return Err(Error::Input(format!("scheme `schatzman-paoli` does not go with {what}")));
    }
    let rebounds = !system.contacts.is_empty() && system.contacts.restitution() > 0.0;
    let text = "schatzman-paoli with restitution leaves gaps of -e times those before the impact: penetrations of the order of h \
                are its law, not an error, and an impulse that follows at once may give energy";
    Ok(if rebounds { vec![text.to_string()] } else { Vec::new() })
}

/// Where positions, loads and velocities of a step are weighed.
#[derive(Clone, Copy)]
struct Weights {
    theta: f64,
    symmetric: bool,
}

impl Weights {
    fn of(parameters: &Parameters) -> Weights {
        let theta = schemes::number(parameters, "theta").unwrap_or(0.0);
        Weights { theta, symmetric: schemes::flag(parameters, "symmetric") }
    }

    /// Share t of the stiffness in ℰ beside ¼.
    fn share(&self) -> f64 {
        if self.symmetric { self.theta } else { 0.5 * self.theta }
    }
}

/// Steps of the scheme.
struct TwoStep<'a> {
    equations: Equations<'a>,
    weights: Weights,
    settings: ContactSolver,
    factor: Factored,
    /// Step size of the factor, and the step that made it.
    made: Option<(f64, u64)>,
    /// Gap by contact force.
    compliance: Delassus,
    active: Vec<u32>,
    /// Gaps without contact force plus restitution, those with it, and the forces times h².
    b: Vec<f64>,
    y: Vec<f64>,
    force: Vec<f64>,
    gaps: Vec<f64>,
    /// Change of the increment of places; loads of the step; the weighted velocity; products.
    change: Vec<f64>,
    load: Vec<f64>,
    weighted: Vec<f64>,
    product: Vec<f64>,
    scratch: Vec<f64>,
    middle: Vec<f64>,
    /// The new increment of places.
    next: Vec<f64>,
}

impl<'a> TwoStep<'a> {
    fn new(case: &Case, system: &'a System) -> Result<TwoStep<'a>> {
        fits(case, system)?;
        let row = schemes::find("central-difference").and_then(|kind| kind.tableau(&Parameters::new()));
        let row = schemes::Tableau { storage: false, ..row.expect("it is in the registry") };
        let scene = Scene::new(&system.contacts, &system.nodes);
        let (zeros, rows) = (|| vec![0.0; system.nodes.total], || vec![0.0; scene.rows]);
        let mut compliance = Delassus::default();
        compliance.resize(scene.rows);
        Ok(TwoStep {
            equations: Equations::new(system, row, operator_of(system, true)?),
            weights: Weights::of(&case.scheme.parameters),
            settings: case.solver.contact.clone(),
            factor: Factored::MASS,
            made: None,
            compliance,
            active: (0..scene.candidates.len() as u32).filter(|&i| scene.responds(i as usize)).collect(),
            b: rows(),
            y: rows(),
            force: rows(),
            gaps: rows(),
            change: zeros(),
            load: zeros(),
            weighted: zeros(),
            product: zeros(),
            scratch: zeros(),
            middle: zeros(),
            next: zeros(),
        })
    }

    /// Factors A = M + θh²K + (θh/2)C, or with (h/2)C in the symmetric form, and finds gaps by forces.
    fn prepare(&mut self, h: f64, to: &mut Attempt) -> Result<()> {
        let (system, theta) = (self.equations.system, self.weights.theta);
        let damping = if self.weights.symmetric { 0.5 * h } else { 0.5 * theta * h };
        let weights = [1.0, damping, theta * h * h];
        let factor = self.equations.operator.prepare(&system.q0, weights, None).map_err(|s| {
            Error::Solver(format!("the matrix of the step is singular near {}", system.describe(s.row)))
        })?;
        if factor != self.factor {
            self.factor = factor;
            self.made.get_or_insert((h, to.state.step));
        }
        self.compliance.keep_for(factor.stamp);
        for &i in &self.active {
            let candidate = &to.scene.candidates[i as usize];
            if !self.compliance.knows(candidate.row) {
                self.product.fill(0.0);
                candidate.push(1.0, &mut self.product);
                self.product[system.nodes.free..].fill(0.0);
                self.equations.operator.solve(factor, &mut self.product);
                let (own, product) = ((candidate.row, &candidate.gap_row), &self.product);
                self.compliance.insert(own, to.scene.candidates.iter(), |row| row.times(product));
            }
        }
        to.factorizations = usize::from(self.made.is_some_and(|(_, step)| step == to.state.step));
        Ok(())
    }

    /// Solves A x = −h² f(q) + h² F̂ − (what the last increment d brings) + G p for x = d₊ − d, (T130).
    fn solve(&mut self, from: &State, increment: &[f64], h: f64, to: &mut Attempt) -> Result<()> {
        let system = self.equations.system;
        let (free, theta) = (system.nodes.free, self.weights.theta);
        for i in 0..free {
            self.change[i] = h * h * (self.load[i] + system.gravity[i] - from.internal[i]);
        }
        self.change[free..].fill(0.0);
        if !self.weights.symmetric {
            system.add_stiffness_times(&from.q, increment, -theta * h * h, &mut self.scratch, &mut self.change);
        }
        // What of h² C v̂ is known: the old velocity, and the last increment twice half.
        let (old, last) = if self.weights.symmetric { (0.0, h) } else { ((1.0 - theta) * h * h, theta * h) };
        system.add_damping_times(&from.q, increment, -last, &mut self.change);
        if let Memory::TwoStep { velocity, .. } = &from.memory {
            system.add_damping_times(&from.q, velocity, -old, &mut self.change);
        }
        self.change[free..].fill(0.0);
        self.equations.operator.solve(self.factor, &mut self.change);
        // The law: gaps at q₊, and e times those at q₋.
        to.scene.gaps(&from.q, 0, &mut self.gaps);
        for (i, candidate) in to.scene.candidates.iter().enumerate() {
            let (row, before) = (candidate.row, candidate.rate(increment));
            let ahead = self.gaps[i] + before + candidate.rate(&self.change);
            self.b[row] = ahead + to.scene.restitution(row) * (self.gaps[i] - before);
            self.force[row] = h * from.impulse.get(row).copied().unwrap_or(0.0);
        }
        let problem = Complementarity { delassus: &self.compliance, active: &self.active, b: &self.b };
        let outcome = problem.solve(&self.settings, &mut self.force, &mut self.y);
        to.sweeps = outcome.sweeps;
        to.method = outcome.method;
        to.complementarity = outcome.residual;
        if !outcome.converged {
            return Err(Error::Solver(format!(
                "contact not solved in step {} (t = {}): residual {:.3e}; allow more sweeps",
                to.state.step, to.state.time, outcome.residual
            )));
        }
        if self.force.iter().any(|&p| p != 0.0) {
            self.product.fill(0.0);
            to.scene.push(&self.force, &mut self.product);
            self.product[free..].fill(0.0);
            self.equations.operator.solve(self.factor, &mut self.product);
            (0..free).for_each(|i| self.change[i] += self.product[i]);
        }
        Ok(())
    }

    /// The first step, (T133): q₁ = q₀ + h v₀ + ½ h² a₀, without contact. Its energies are those of its middle.
    fn begin(&mut self, from: &State, h: f64, to: &mut Attempt) -> Works {
        let (system, free) = (self.equations.system, self.equations.system.nodes.free);
        for i in 0..system.nodes.total {
            let rate = if i < free { from.v[i] + 0.5 * h * from.a[i] } else { 0.0 };
            (to.state.v[i], to.state.a[i]) = (rate, if i < free { from.a[i] } else { 0.0 });
            self.next[i] = h * rate;
            to.state.q[i] = from.q[i] + self.next[i];
            self.middle[i] = 0.5 * self.next[i];
        }
        system.inertia.multiply(&from.a, &mut self.product);
        let inertia = dot(&from.a, &self.product);
        let elastic = stiffness(system, &to.state.v, [&mut self.product, &mut self.scratch]);
        Works {
            external: if system.is_loaded() { dot(&from.applied, &self.middle) } else { 0.0 },
            damping: if system.damped { 0.0 - dot(&from.viscous, &self.middle) } else { 0.0 },
            scheme: 0.125 * h * h * (elastic - inertia),
            ..Default::default()
        }
    }

    /// A step from two places, (T130), with the works of (T132).
    fn go_on(&mut self, from: &State, increment: &[f64], h: f64, to: &mut Attempt) -> Result<Works> {
        let (system, weights) = (self.equations.system, self.weights);
        self.set_load(from, h, &to.state.applied);
        self.prepare(h, to)?;
        self.solve(from, increment, h, to)?;
        let rate = 1.0 / h;
        let old = match &from.memory {
            Memory::TwoStep { velocity, .. } => velocity,
            _ => &from.v,
        };
        for i in 0..system.nodes.total {
            let next = increment[i] + self.change[i];
            self.next[i] = next;
            to.state.q[i] = from.q[i] + next;
            to.state.v[i] = rate * next;
            to.state.a[i] = rate * rate * self.change[i];
            // v_k, which belongs to the instant at which the step begins.
            self.middle[i] = 0.5 * rate * (increment[i] + next);
            let weight = if weights.symmetric { 1.0 } else { weights.theta };
            self.weighted[i] = (1.0 - weight) * old[i] + weight * self.middle[i];
        }
        let mut works = Works::default();
        if system.is_loaded() {
            works.external = h * dot(&self.middle, &self.load);
        }
        if system.damped {
            self.product.fill(0.0);
            system.add_damping_times(&from.q, &self.weighted, 1.0, &mut self.product);
            works.damping = 0.0 - h * dot(&self.middle, &self.product);
        }
        for candidate in &to.scene.candidates {
            let impulse = self.force[candidate.row] * rate;
            to.state.impulse[candidate.row] = impulse;
            works.contact += candidate.rate(&self.middle) * impulse;
        }
        let mut norm = |x: &[f64]| stiffness(system, x, [&mut self.product, &mut self.scratch]);
        let stored = 0.5 * h * h * (weights.share() - 0.25);
        works.scheme = stored * (norm(&from.v) - norm(&to.state.v));
        if !weights.symmetric && weights.theta != 0.0 {
            works.scheme -= weights.theta * h * h * norm(&self.middle);
        }
        Ok(works)
    }

    /// Overwrites the load of the step with F̂; gravity is constant and apart.
    fn set_load(&mut self, from: &State, h: f64, next: &[f64]) {
        let (system, theta) = (self.equations.system, self.weights.theta);
        if !system.is_loaded() {
            return;
        }
        if self.weights.symmetric {
            system.applied(from.time - h, &mut self.product);
            for i in 0..self.load.len() {
                self.load[i] = theta * (next[i] + self.product[i]) + (1.0 - 2.0 * theta) * from.applied[i];
            }
        } else {
            for i in 0..self.load.len() {
                self.load[i] = (1.0 - theta) * from.applied[i] + theta * next[i];
            }
        }
    }

    /// Forces at the end of the step, and the energies of its middle.
    fn finish(&mut self, from: &State, to: &mut Attempt) {
        let (system, operator) = (self.equations.system, &mut self.equations.operator);
        for i in 0..self.weighted.len() {
            self.weighted[i] = 0.5 * (from.q[i] + to.state.q[i]);
        }
        let State { q, v, internal, viscous, .. } = &mut to.state;
        let strain = operator.forces(Fields { q: &self.weighted, v, internal, viscous });
        operator.forces(Fields { q, v, internal, viscous });
        system.inertia.multiply(v, &mut self.product);
        to.state.energy = Energy {
            kinetic: 0.5 * dot(v, &self.product),
            strain,
            potential: 0.0 - dot(&system.gravity, &self.weighted),
        };
        to.scene.gaps(&to.state.q, 1, &mut to.gaps);
        to.active = to.state.impulse.iter().filter(|&&impulse| impulse != 0.0).count();
    }
}

impl Method for TwoStep<'_> {
    fn initial_attempt(&mut self, h: f64) -> Result<Attempt> {
        let system = self.equations.system;
        let mut attempt = Attempt {
            state: system.state(false),
            scene: Scene::new(&system.contacts, &system.nodes),
            gaps: vec![0.0; system.contacts.len()],
            // The acceleration belongs to the start of the step.
            old_weights: [1.0; 2],
            ..Default::default()
        };
        self.equations.start(&self.settings, false, h, &mut attempt.state)?;
        show(system, &mut attempt);
        Ok(attempt)
    }

    fn attempt(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) -> Result<()> {
        let system = self.equations.system;
        super::tableau::begin(from, t1, to);
        (to.passes, to.complementarity) = (1, 0.0);
        to.state.impulse.clear();
        to.state.impulse.resize(to.scene.rows, 0.0);
        if system.is_loaded() {
            system.applied(t1, &mut to.state.applied);
        }
        let works = match &from.memory {
            Memory::TwoStep { increment, .. } => self.go_on(from, increment, h, to)?,
            _ => self.begin(from, h, to),
        };
        let first = !matches!(from.memory, Memory::TwoStep { .. });
        remember(&self.next, if first { &from.v } else { &self.middle }, &mut to.state);
        self.finish(from, to);
        to.balance = Balance::close(&from.energy, &to.state.energy, &works);
        finite(system, &to.state)
    }

    fn kept(&self) -> KeptFactors {
        KeptFactors { factored: self.made, due: None }
    }

    fn restore(&mut self, kept: KeptFactors) -> Result<()> {
        self.made = kept.factored;
        Ok(())
    }

    fn factorization(&self) -> &'static str {
        self.equations.operator.factorization()
    }
}

/// xᵀK x.
fn stiffness(system: &System, x: &[f64], [product, scratch]: [&mut Vec<f64>; 2]) -> f64 {
    product.fill(0.0);
    system.add_stiffness_times(&system.q0, x, 1.0, scratch, product);
    dot(x, product)
}

/// Notes the increment of the step and the velocity at its beginning, in the memory that is there.
fn remember(next: &[f64], start: &[f64], state: &mut State) {
    if !matches!(state.memory, Memory::TwoStep { .. }) {
        state.memory = Memory::TwoStep { increment: state.q.clone(), velocity: state.v.clone() };
    }
    let Memory::TwoStep { increment, velocity } = &mut state.memory else { return };
    increment.copy_from_slice(next);
    velocity.copy_from_slice(start);
}
