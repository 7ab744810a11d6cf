//! One step of any scheme: the only file with the algebra of a step.
//!
//! ```text
//! (T1)  v1 = v0 + h (g0 a0 + g1 a1) + w
//! (T2)  q1 = q0 + h v0 + h² (b0 a0 + b1 a1) + u,                   u = h c w
//! (T3)  M [α_m a0 + (1−α_m) a1] + [α_f f0 + (1−α_f) f1] + [α_c d0 + (1−α_c) d1] = 0
//! (T4)  M w = G p,   0 ≤ U1 + e U0 ⊥ p ≥ 0 on active contacts
//! ```
//!
//! f is the internal force less loads and gravity, d the damping force. Newton's method on (T3) is exact after one
//! pass when both are affine: a linear model differs only in that its factor and Delassus operator are kept.

use crate::case::data;
use crate::contact::delassus::Delassus;
use crate::contact::solver::{Method, Problem};
use crate::la::{Factor, Symmetric, dot};
use crate::ledger::{self, Balance, Passage};
use crate::schemes::Tableau;
use crate::state::{Energy, State};
use crate::system::System;
use crate::{Error, Result};

/// Tolerance on gaps at activation, of the length of the model: closed contacts sit at round-off on either side.
const ACTIVATION: f64 = 1e-11;

/// Floor of the Newton residual, of the forces in which the rounding of a strain shows: while stresses are tiny, no
/// relative test can be met.
const FLOOR: f64 = 1e-14;

/// Settings of the stepper beyond the tableau.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Activation forecast γ_a.
    pub forecast: f64,
    /// Newton iteration.
    pub newton: data::Newton,
    /// Contact solver.
    pub contact: data::ContactSolver,
}

/// One finished, uncommitted step.
#[derive(Clone, Debug, Default)]
pub struct Attempt {
    /// The state at its end.
    pub state: State,
    /// Its works.
    pub balance: Balance,
    /// Gap of every candidate at the end.
    pub gaps: Vec<f64>,
    /// Number of contacts that took part.
    pub active: usize,
    /// Newton passes.
    pub passes: usize,
    /// Numerical factorizations.
    pub factorizations: usize,
    /// Sweeps or pivots of the contact solver.
    pub sweeps: usize,
    /// Natural-map residual of (T4) at the final velocities, of the largest relative velocity.
    pub complementarity: f64,
    /// Contact solver that was used.
    pub method: Method,
}

/// Makes steps of one scheme on one system.
pub struct Stepper<'a> {
    system: &'a System,
    row: Tableau,
    settings: Settings,
    mass_factor: Factor,
    effective: Symmetric,
    factor: Factor,
    /// Step size that the factor belongs to, while it is valid.
    factored: Option<f64>,
    delassus: Delassus,
    work: Work,
}

/// Vectors that live from step to step so that none is allocated in the loop.
struct Work {
    /// Contact-free prediction of q1 and v1 without the new acceleration.
    q_free: Vec<f64>,
    v_free: Vec<f64>,
    /// Velocity jump w and position shift u.
    jump: Vec<f64>,
    shift: Vec<f64>,
    residual: Vec<f64>,
    delta: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    /// Relative velocities at the start and at the end, right-hand side and velocities of the contact solve.
    u0: Vec<f64>,
    u1: Vec<f64>,
    b: Vec<f64>,
    y: Vec<f64>,
    impulse: Vec<f64>,
    active: Vec<u32>,
    /// Residuals of the passes so far, over their limits.
    residuals: Vec<f64>,
    ledger: ledger::Scratch,
}

impl<'a> Stepper<'a> {
    /// A stepper; factors the mass matrix.
    pub fn new(system: &'a System, row: Tableau, settings: Settings) -> Result<Stepper<'a>> {
        let n = system.nodes.total;
        let m = system.contacts.len();
        let mut mass_factor = Factor::new(&system.mass.pattern, system.nodes.free);
        mass_factor
            .factor(&system.mass)
            .map_err(|s| Error::Solver(format!("the mass matrix is singular near {}", system.describe(s.row))))?;
        let zeros = |length: usize| vec![0.0; length];
        Ok(Stepper {
            row,
            settings,
            mass_factor,
            effective: Symmetric::zeros(system.mass.pattern.clone()),
            factor: Factor::new(&system.mass.pattern, system.nodes.free),
            factored: None,
            delassus: Delassus::new(m),
            work: Work {
                q_free: zeros(n),
                v_free: zeros(n),
                jump: zeros(n),
                shift: zeros(n),
                residual: zeros(n),
                delta: zeros(n),
                first: zeros(n),
                second: zeros(n),
                u0: zeros(m),
                u1: zeros(m),
                b: zeros(m),
                y: zeros(m),
                impulse: zeros(m),
                active: Vec::with_capacity(m),
                residuals: Vec::with_capacity(64),
                ledger: ledger::Scratch::new(n),
            },
            system,
        })
    }

    /// Which factorization the step's matrix gets.
    pub fn factorization(&self) -> &'static str {
        self.factor.name()
    }

    /// The state at t = 0: the acceleration balances all forces but those of contact.
    pub fn start(&mut self, h: f64) -> State {
        let system = self.system;
        let mut state = State::zeros(system, self.has_storage());
        state.q.copy_from_slice(&system.q0);
        state.v.copy_from_slice(&system.v0);
        system.applied(0.0, &mut state.applied);
        self.forces(&mut state);
        for i in 0..system.nodes.free {
            state.a[i] = system.gravity[i] + state.applied[i] - state.internal[i] - state.viscous[i];
        }
        self.mass_factor.solve(&mut state.a);
        self.energies(&mut state);
        if state.storage.is_some() {
            let value = ledger::initial_storage(system, &state, &self.row, h, &mut self.work.ledger);
            state.storage.as_mut().expect("just seen").value = value;
        }
        state
    }

    /// The state at t = 0 in the form of a finished step, for those who record steps.
    pub fn initial_attempt(&mut self, h: f64) -> Attempt {
        let mut attempt = self.attempt_for();
        attempt.state = self.start(h);
        for (gap, candidate) in attempt.gaps.iter_mut().zip(&self.system.contacts.candidates) {
            *gap = candidate.gap(&attempt.state.q);
        }
        attempt
    }

    /// An attempt of the right size for [`Stepper::attempt`].
    pub fn attempt_for(&self) -> Attempt {
        Attempt {
            state: State::zeros(self.system, self.has_storage()),
            gaps: vec![0.0; self.system.contacts.len()],
            ..Default::default()
        }
    }

    /// Whether the storage function and its identity hold for this run: they need a linear system.
    fn has_storage(&self) -> bool {
        self.row.storage && self.system.linear
    }

    /// Makes the step from `from` to time `t1 = from.time + h`; `to` is overwritten.
    pub fn attempt(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) -> Result<()> {
        let system = self.system;
        self.begin(from, h, t1, to);
        loop {
            self.place(h, &mut to.state);
            let done = self.converged(from, to)?;
            if done {
                break;
            }
            self.prepare(h, to)?;
            self.pass(h, to)?;
            to.passes += 1;
            if system.linear {
                self.place(h, &mut to.state);
                break;
            }
        }
        self.finish(from, h, to)
    }

    /// Predictions of (T1)–(T2), active contacts and first guess.
    fn begin(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) {
        let (system, row, work) = (self.system, &self.row, &mut self.work);
        for i in 0..system.nodes.total {
            work.q_free[i] = from.q[i] + h * from.v[i] + h * h * row.b0 * from.a[i];
            work.v_free[i] = from.v[i] + h * row.g0 * from.a[i];
        }
        work.jump.fill(0.0);
        work.shift.fill(0.0);
        work.active.clear();
        for (i, candidate) in system.contacts.candidates.iter().enumerate() {
            work.u0[i] = candidate.rate(&from.v);
            let forecast = candidate.gap(&from.q) + self.settings.forecast * h * work.u0[i];
            let active = forecast <= ACTIVATION * system.length;
            if active {
                work.active.push(i as u32);
            }
            // Warm start of the contact solve; the step itself begins without impulse.
            work.impulse[i] = if active { from.impulse[i] } else { 0.0 };
        }
        to.state.step = from.step + 1;
        to.state.time = t1;
        to.state.impulse.fill(0.0);
        if row.carries_acceleration() {
            to.state.a.copy_from_slice(&from.a);
        } else {
            to.state.a.fill(0.0);
        }
        system.applied(t1, &mut to.state.applied);
        to.active = work.active.len();
        (to.passes, to.factorizations, to.sweeps) = (0, 0, 0);
        to.method = Method::None;
    }

    /// q1 and v1 from the current acceleration and jump, and the forces there.
    fn place(&mut self, h: f64, state: &mut State) {
        let (row, work) = (&self.row, &self.work);
        for i in 0..self.system.nodes.free {
            state.q[i] = work.q_free[i] + h * h * row.b1 * state.a[i] + work.shift[i];
            state.v[i] = work.v_free[i] + h * row.g1 * state.a[i] + work.jump[i];
        }
        for i in self.system.nodes.free..self.system.nodes.total {
            (state.q[i], state.v[i], state.a[i]) = (self.system.q0[i], 0.0, 0.0);
        }
        self.forces(state);
    }

    /// Internal and damping forces and the strain energy of a state.
    fn forces(&self, state: &mut State) {
        state.energy.strain = self.system.internal(&state.q, &mut state.internal);
        self.system.viscous(&state.q, &state.v, &mut state.viscous);
    }

    fn energies(&mut self, state: &mut State) {
        let momentum = &mut self.work.first;
        self.system.mass.multiply(&state.v, momentum);
        state.energy = Energy {
            kinetic: 0.5 * dot(&state.v, momentum),
            strain: state.energy.strain,
            // Subtracted from zero, because minus zero would be printed as such.
            potential: 0.0 - dot(&self.system.gravity, &state.q),
        };
    }

    /// Residual of (T3) at the current state, and whether the iteration may stop there.
    fn converged(&mut self, from: &State, to: &Attempt) -> Result<bool> {
        let (system, row, work) = (self.system, &self.row, &mut self.work);
        let state = &to.state;
        for i in 0..system.nodes.total {
            work.first[i] = row.alpha_m * from.a[i] + (1.0 - row.alpha_m) * state.a[i];
        }
        system.mass.multiply(&work.first, &mut work.residual);
        let mut inertia = [0.0; 2];
        for i in 0..system.nodes.free {
            inertia[system.nodes.is_rotation(i) as usize] += work.residual[i].powi(2);
            let f0 = from.internal[i] - from.applied[i] - system.gravity[i];
            let f1 = state.internal[i] - state.applied[i] - system.gravity[i];
            work.residual[i] += row.alpha_f * f0 + (1.0 - row.alpha_f) * f1;
            work.residual[i] += row.alpha_c * from.viscous[i] + (1.0 - row.alpha_c) * state.viscous[i];
        }
        if system.linear || to.passes == 0 {
            work.residuals.clear();
            return Ok(false);
        }
        // Forces and moments have different units and are judged apart, (T6).
        let mut sums = [[0.0; 2]; 3];
        for i in 0..system.nodes.free {
            let class = system.nodes.is_rotation(i) as usize;
            let load = state.applied[i] + system.gravity[i];
            for (sum, value) in sums.iter_mut().zip([work.residual[i], state.internal[i], load]) {
                sum[class] += value * value;
            }
        }
        let mut worst = 0.0_f64;
        for class in 0..2 {
            let size = sums[1][class].sqrt() + inertia[class].sqrt() + sums[2][class].sqrt();
            let limit = self.settings.newton.tolerance * size + FLOOR * system.floor[class];
            let residual = sums[0][class].sqrt();
            if residual > 0.0 {
                worst = worst.max(residual / limit);
            }
            if residual.is_nan() {
                worst = f64::NAN;
            }
        }
        work.residuals.push(worst);
        if worst <= 1.0 {
            return Ok(true);
        }
        if to.passes >= self.settings.newton.passes || worst.is_nan() {
            return Err(self.not_converged(to));
        }
        Ok(false)
    }

    fn not_converged(&self, to: &Attempt) -> Error {
        let residual = &self.work.residual[..self.system.nodes.free];
        let worst = residual.iter().position(|r| r.is_nan()).unwrap_or_else(|| {
            (0..residual.len()).max_by(|&i, &j| residual[i].abs().total_cmp(&residual[j].abs())).unwrap_or(0)
        });
        let history: Vec<String> = self.work.residuals.iter().map(|r| format!("{r:.1e}")).collect();
        Error::Solver(format!(
            "Newton's method did not converge in step {} (t = {}) after {} passes; worst at {}; residuals over their \
             limit: {}",
            to.state.step,
            to.state.time,
            to.passes,
            self.system.describe(worst),
            history.join(", ")
        ))
    }

    /// Factor and Delassus columns for this pass; kept from step to step in linear runs.
    fn prepare(&mut self, h: f64, to: &mut Attempt) -> Result<()> {
        let (system, row) = (self.system, &self.row);
        if !(system.linear && self.factored == Some(h)) {
            let (m, c, k) = (1.0 - row.alpha_m, (1.0 - row.alpha_c) * h * row.g1, (1.0 - row.alpha_f) * h * h * row.b1);
            system.effective(&to.state.q, m, c, k, &mut self.effective);
            self.factor.factor(&self.effective).map_err(|s| {
                Error::Solver(format!("the matrix of the step is singular near {}", system.describe(s.row)))
            })?;
            to.factorizations += 1;
            self.factored = Some(h);
            self.delassus.clear();
        }
        for k in 0..self.work.active.len() {
            let contact = self.work.active[k] as usize;
            if !self.delassus.knows(contact) {
                self.column(contact, h, &to.state.q)?;
            }
        }
        Ok(())
    }

    /// The whole Delassus operator at a state, row by row: for tests and diagnostics.
    pub fn delassus_matrix(&mut self, at: &State, h: f64) -> Result<Vec<Vec<f64>>> {
        let m = self.system.contacts.len();
        let mut attempt = self.attempt_for();
        attempt.state.q.copy_from_slice(&at.q);
        self.work.active = (0..m as u32).collect();
        self.prepare(h, &mut attempt)?;
        let mut rows = vec![vec![0.0; m]; m];
        for column in 0..m {
            for &(row, value) in self.delassus.column(column) {
                rows[row as usize][column] = value;
            }
        }
        Ok(rows)
    }

    /// Column of the Delassus operator, (T5): W = GᵀÂ⁻¹[(1−α_m) M + (1−α_f) h² (b1 − g1 c) K] M⁻¹ G.
    fn column(&mut self, contact: usize, h: f64, q: &[f64]) -> Result<()> {
        let (system, row, work) = (self.system, &self.row, &mut self.work);
        let candidates = &system.contacts.candidates;
        work.delta.fill(0.0);
        candidates[contact].push(1.0, &mut work.delta);
        work.delta[system.nodes.free..].fill(0.0);
        work.first.fill(0.0);
        for i in 0..system.nodes.free {
            work.first[i] = (1.0 - row.alpha_m) * work.delta[i];
        }
        let stiffness = (1.0 - row.alpha_f) * h * h * (row.b1 - row.g1 * row.c);
        if stiffness != 0.0 {
            self.mass_factor.solve(&mut work.delta);
            system.add_stiffness_times(q, &work.delta, stiffness, &mut work.second, &mut work.first);
        }
        self.factor.solve(&mut work.first);
        work.first[system.nodes.free..].fill(0.0);
        let column = &work.first;
        self.delassus.insert(contact, |j| candidates[j].rate(column));
        if self.delassus.diagonal(contact) <= 0.0 {
            return Err(Error::Solver(format!(
                "an impulse at {} does not separate the contact (Delassus entry {:e}): the step is too large for \
                 this scheme, take a smaller one or parameters with 2 beta >= gamma",
                system.describe(system.nodes.dof(candidates[contact].node, crate::model::Component::X) as usize),
                self.delassus.diagonal(contact)
            )));
        }
        Ok(())
    }

    /// One Newton pass: acceleration without impulses, contact, acceleration with them.
    fn pass(&mut self, h: f64, to: &mut Attempt) -> Result<()> {
        let (system, row, work) = (self.system, &self.row, &mut self.work);
        let free = system.nodes.free;
        for i in 0..free {
            work.delta[i] = -work.residual[i];
        }
        self.factor.solve(&mut work.delta);
        for i in 0..free {
            to.state.a[i] += work.delta[i];
        }
        if work.active.is_empty() {
            return Ok(());
        }
        // Relative velocity of the pass without any impulse: U1 less what the impulses so far contribute.
        work.first[free..].fill(0.0);
        for i in 0..free {
            work.first[i] = work.v_free[i] + h * row.g1 * to.state.a[i] + work.jump[i];
        }
        for &i in &work.active {
            let i = i as usize;
            let candidate = &system.contacts.candidates[i];
            work.b[i] = candidate.rate(&work.first) + candidate.restitution * work.u0[i];
        }
        for &i in &work.active {
            let so_far = to.state.impulse[i as usize];
            if so_far != 0.0 {
                for &(j, w) in self.delassus.column(i as usize) {
                    work.b[j as usize] -= w * so_far;
                }
            }
        }
        let problem = Problem { delassus: &self.delassus, active: &work.active, b: &work.b };
        let outcome = problem.solve(&self.settings.contact, &mut work.impulse, &mut work.y);
        to.sweeps += outcome.sweeps;
        to.method = outcome.method;
        if !outcome.converged {
            return Err(Error::Solver(format!(
                "contact not solved in step {} (t = {}): {} active contacts, {} sweeps, residual {:.3e} above the \
                 tolerance {:.3e}; allow more sweeps or choose solver.contact.method = \"lemke\"",
                to.state.step,
                to.state.time,
                work.active.len(),
                outcome.sweeps,
                outcome.residual,
                self.settings.contact.tolerance
            )));
        }
        if work.active.iter().all(|&i| work.impulse[i as usize] == 0.0 && to.state.impulse[i as usize] == 0.0) {
            return Ok(());
        }
        self.apply_impulses(h, to);
        Ok(())
    }

    /// w = M⁻¹ G p and u from the new impulses, and the acceleration that answers their change.
    fn apply_impulses(&mut self, h: f64, to: &mut Attempt) {
        let (system, row, work) = (self.system, &self.row, &mut self.work);
        let n = system.nodes.total;
        work.first.fill(0.0);
        for &i in &work.active {
            let i = i as usize;
            to.state.impulse[i] = work.impulse[i];
            system.contacts.candidates[i].push(work.impulse[i], &mut work.first);
        }
        self.mass_factor.solve(&mut work.first);
        work.first[system.nodes.free..].fill(0.0);
        for i in 0..n {
            work.second[i] = work.first[i] - work.jump[i];
            work.jump[i] = work.first[i];
            work.shift[i] = h * row.c * work.first[i];
        }
        // Â δa = −[(1−α_f) h c K + (1−α_c) C] δw
        work.delta.fill(0.0);
        system.add_stiffness_times(
            &to.state.q,
            &work.second,
            -(1.0 - row.alpha_f) * h * row.c,
            &mut work.first,
            &mut work.delta,
        );
        system.add_damping_times(&to.state.q, &work.second, -(1.0 - row.alpha_c), &mut work.delta);
        self.factor.solve(&mut work.delta);
        for i in 0..system.nodes.free {
            to.state.a[i] += work.delta[i];
        }
    }

    /// Energies, gaps, balance and complementarity of the finished step.
    fn finish(&mut self, from: &State, h: f64, to: &mut Attempt) -> Result<()> {
        self.energies(&mut to.state);
        let (system, work) = (self.system, &mut self.work);
        let mut scale = 0.0_f64;
        for (i, candidate) in system.contacts.candidates.iter().enumerate() {
            to.gaps[i] = candidate.gap(&to.state.q);
            work.u1[i] = candidate.rate(&to.state.v);
        }
        to.complementarity = 0.0;
        for &i in &work.active {
            let i = i as usize;
            let law = work.u1[i] + system.contacts.candidates[i].restitution * work.u0[i];
            let natural = law.min(self.delassus.diagonal(i) * to.state.impulse[i]).abs();
            to.complementarity = if natural.is_nan() { f64::NAN } else { to.complementarity.max(natural) };
            scale = scale.max(work.u0[i].abs()).max(work.b[i].abs());
        }
        if scale > 0.0 {
            to.complementarity /= scale;
        }
        let passage = Passage { row: &self.row, h, jump: &work.jump, shift: &work.shift, rates: [&work.u0, &work.u1] };
        to.balance = ledger::balance(system, from, &to.state, &passage, &mut work.ledger);
        if from.storage.is_some() {
            let contact = to.balance.contact;
            to.balance.storage_defect =
                ledger::advance_storage(system, from, &mut to.state, &passage, contact, &mut work.ledger);
        }
        self.finite(&to.state)
    }

    /// Stops at the step that made a NaN or an infinity, and says where.
    fn finite(&self, state: &State) -> Result<()> {
        if state.energy.total().is_finite() {
            return Ok(());
        }
        for (quantity, values) in [("displacement", &state.q), ("velocity", &state.v), ("acceleration", &state.a)] {
            if let Some(dof) = values.iter().position(|x| !x.is_finite()) {
                return Err(Error::Guard(format!(
                    "the {quantity} became {} in step {} (t = {}) at {}",
                    values[dof],
                    state.step,
                    state.time,
                    self.system.describe(dof)
                )));
            }
        }
        Err(Error::Guard(format!("the energy became infinite in step {} (t = {})", state.step, state.time)))
    }
}
