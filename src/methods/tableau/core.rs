//! What every form of contact shares in a step: the equations with their weights, the motion, and the residual of (T3).

use super::Settings;
use super::identity::{self, Passage, Piece, Tally};
use super::motion::Motion;
use super::residual::{Residual, Sizes};
use crate::la::{CHUNK, Processor, dot};
use crate::methods::Attempt;
use crate::schemes::Tableau;
use crate::state::{Energy, State};
use crate::system::System;
use crate::system::operator::{Entries, Factored, Fields, Operator, Pass};
use crate::{Error, Result};
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Equations, scheme and motion of a stepper.
pub(in crate::methods) struct Core<'a> {
    pub equations: Equations<'a>,
    pub settings: Settings,
    pub motion: Motion,
    /// Residual of (T3), and what of it does not change in the step.
    pub residual: Vec<f64>,
    known: Vec<f64>,
    /// M a at the start of the step, where it matters and its state does not have it.
    inertia: Vec<f64>,
    pub has_storage: bool,
    /// What the form of contact adds to the matrix.
    pub entries: Vec<(usize, usize, f64)>,
    response: Response,
    processor: Processor,
}

/// The equations with the weights of a scheme, and the factor of Â.
pub(in crate::methods) struct Equations<'a> {
    pub system: &'a System,
    pub row: Tableau,
    pub operator: Box<dyn Operator + 'a>,
    pub factor: Factored,
    /// Step size that the factor belongs to, and the step that made it.
    pub made: Option<(f64, u64)>,
}

impl<'a> Equations<'a> {
    pub fn new(system: &'a System, row: Tableau, operator: Box<dyn Operator + 'a>) -> Equations<'a> {
        Equations { system, row, operator, factor: Factored::MASS, made: None }
    }

    /// Factors Â = (1−α_m) M + (1−α_c) h g1 C + (1−α_f) h² b1 K, and entries of the form of contact, unless it is kept.
    pub fn prepare(&mut self, h: f64, extra: Option<Entries>, to: &mut Attempt) -> Result<()> {
        let (system, row) = (self.system, &self.row);
        let weights = [1.0 - row.alpha_m, (1.0 - row.alpha_c) * h * row.g1, (1.0 - row.alpha_f) * h * h * row.b1];
        let factor = self.operator.prepare(&to.state.q, weights, extra).map_err(|s| {
            Error::Solver(format!("the matrix of the step is singular near {}", system.describe(s.row)))
        })?;
        if factor != self.factor {
            (self.factor, self.made) = (factor, Some((h, to.state.step)));
            to.factorizations += 1;
        }
        // A factor that is kept counts for the step that made it, also if that step has to be made again.
        if system.linear && self.made.is_some_and(|(_, step)| step == to.state.step) {
            to.factorizations = 1;
        }
        Ok(())
    }

    /// Makes the factor of a step again, as a stepper had it that was interrupted.
    pub fn restore(&mut self, made: Option<(f64, u64)>) -> Result<()> {
        if let Some((h, step)) = made.filter(|_| self.system.linear) {
            let mut attempt = Attempt { state: self.system.state(false), ..Default::default() };
            attempt.state.step = step;
            self.prepare(h, None, &mut attempt)?;
        }
        self.made = made;
        Ok(())
    }

    pub fn solve(&mut self, x: &mut [f64]) {
        self.operator.solve(self.factor, x);
    }

    pub fn solve_mass(&mut self, x: &mut [f64]) {
        self.operator.solve(Factored::MASS, x);
    }

    /// Energies of a state, and M a where it is asked for, piece by piece; `visit` is called behind every piece.
    pub fn energies(&self, asked: bool, state: &mut State, mut visit: impl FnMut(Range<usize>, &mut State)) {
        let (system, n) = (self.system, self.system.nodes.total);
        let (mut kinetic, mut height, mut momentum) = (0.0, 0.0, [0.0; CHUNK]);
        // Only a state from a file has no room yet.
        state.inertia.resize(n, 0.0);
        for start in (0..n).step_by(CHUNK) {
            let rows = start..n.min(start + CHUNK);
            let State { q, v, a, inertia, .. } = &mut *state;
            let (own, momentum) = (&mut inertia[rows.clone()], &mut momentum[..rows.len()]);
            if asked {
                system.inertia.rows_times(rows.clone(), [a, v], [own, momentum]);
            } else {
                system.inertia.rows_times(rows.clone(), [v], [momentum]);
            }
            kinetic += dot(momentum, &v[rows.clone()]);
            height += dot(&system.gravity[rows.clone()], &q[rows.clone()]);
            visit(rows, state);
        }
        // Subtracted from zero, because minus zero would be printed as such.
        state.energy = Energy { kinetic: 0.5 * kinetic, strain: state.energy.strain, potential: 0.0 - height };
    }

    /// The velocity that a unit impulse along a row makes in the end, (T5): Â⁻¹[(1−α_m) M + (1−α_f) h² (b1 − g1 c) K] M⁻¹ G.
    /// Both vectors are overwritten, and a third is scratch.
    pub fn impulse_response(
        &mut self,
        gradient: &crate::relations::candidate::Row,
        h: f64,
        q: &[f64],
        [response, jump, scratch]: [&mut Vec<f64>; 3],
    ) {
        let (row, free) = (&self.row, self.system.nodes.free);
        jump.fill(0.0);
        gradient.push(1.0, jump);
        jump[free..].fill(0.0);
        response.fill(0.0);
        for i in 0..free {
            response[i] = (1.0 - row.alpha_m) * jump[i];
        }
        let stiffness = (1.0 - row.alpha_f) * h * h * (row.b1 - row.g1 * row.c);
        let touched = || gradient.entries().iter().map(|(dof, _)| *dof as usize);
        if stiffness != 0.0 {
            self.operator.solve_at(Factored::MASS, &mut touched(), jump);
            self.system.add_stiffness_times(q, jump, stiffness, scratch, response);
        }
        self.operator.solve_at(self.factor, &mut touched(), response);
        response[free..].fill(0.0);
    }
}

impl<'a> Core<'a> {
    /// `shifts`: positions have a law of their own; `storage`: the storage function of the scheme holds with this contact.
    pub fn new(equations: Equations<'a>, settings: Settings, shifts: bool, storage: bool) -> Core<'a> {
        let (system, row) = (equations.system, &equations.row);
        let n = system.nodes.total;
        Core {
            motion: Motion::new(n, shifts),
            residual: vec![0.0; n],
            known: vec![0.0; n],
            inertia: vec![0.0; n],
            has_storage: storage && row.storage && system.linear && system.drives.is_empty(),
            entries: Vec::new(),
            response: Response {
                jumped: vec![0.0; n],
                shifted: vec![0.0; n],
                answer: vec![0.0; n],
                scratch: vec![0.0; n],
            },
            processor: Processor::new(),
            equations,
            settings,
        }
    }

    /// Prediction, loads, number and instant of a step.
    pub fn predict(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) {
        let (system, row) = (self.equations.system, &self.equations.row);
        if self.carries_inertia() && from.inertia.len() != system.nodes.total {
            system.inertia.multiply(&from.a, &mut self.inertia);
        }
        super::begin(from, t1, to);
        self.motion.predict(system, row, from, h, t1, &mut to.state);
        if system.is_loaded() {
            system.applied(t1, &mut to.state.applied);
        }
    }

    /// Whether steps need M a at their start.
    fn carries_inertia(&self) -> bool {
        self.equations.row.carries_acceleration() || self.has_storage
    }

    /// M a at the start of a step, zero where no step needs it.
    fn start_inertia<'b>(&'b self, from: &'b State) -> &'b [f64] {
        let known = self.carries_inertia() && from.inertia.len() == self.equations.system.nodes.total;
        if known { &from.inertia } else { &self.inertia }
    }

    /// Internal and damping forces and the strain energy of a state.
    pub fn forces(&mut self, state: &mut State) {
        let State { q, v, internal, viscous, .. } = state;
        state.energy.strain = self.equations.operator.forces(Fields { q, v, internal, viscous });
    }

    /// Forces at the prediction, which is where one pass that is enough starts from.
    pub fn forces_at_prediction(&mut self, to: &mut State) {
        let Motion { q_free, v_free, .. } = &self.motion;
        let State { internal, viscous, .. } = to;
        self.equations.operator.forces(Fields { q: q_free, v: v_free, internal, viscous });
    }

    /// Place, velocity and forces at the current acceleration.
    pub fn place(&mut self, h: f64, to: &mut State) {
        let (row, free) = (self.equations.row, self.equations.system.nodes.free);
        for start in (0..free).step_by(CHUNK) {
            self.motion.place(&row, h, start..free.min(start + CHUNK), to);
        }
        self.forces(to);
    }

    /// What of (T3) does not change in the step: old inertia and forces, and new loads, in some rows.
    pub fn begin_residual(&mut self, rows: Range<usize>, from: &State, to: &State) {
        let mut known = std::mem::take(&mut self.known);
        let own = &mut known[rows.clone()];
        self.known_forces(rows.clone(), from, to, own);
        let alpha_m = self.equations.row.alpha_m;
        if alpha_m != 0.0 {
            let inertia = &self.start_inertia(from)[rows];
            own.iter_mut().zip(inertia).for_each(|(known, force)| *known += alpha_m * force);
        }
        self.known = known;
    }

    /// Forces of (T3) that do not change in the step, inertia apart.
    #[inline(always)]
    fn known_forces(&self, rows: Range<usize>, from: &State, to: &State, known: &mut [f64]) {
        let (system, row, n) = (self.equations.system, &self.equations.row, rows.len());
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

    /// w = M⁻¹G p from the new impulses and u = M⁻¹G ν from what moves positions, or u = h c w without that; and the
    /// acceleration that responds to their change: Â δa = −(1−α_f) K δu − (1−α_c) C δw.
    pub fn respond(&mut self, h: f64, impulse: &[f64], moves: Option<&[f64]>, to: &mut Attempt) {
        let Core { equations, motion, response: Response { jumped, shifted, answer, scratch }, .. } = self;
        let (system, row, free) = (equations.system, equations.row, equations.system.nodes.free);
        to.state.impulse.copy_from_slice(impulse);
        motion.jumped = true;
        let mut change = |push: &[f64], total: &mut [f64], change: &mut [f64]| {
            change.fill(0.0);
            to.scene.push(push, change);
            equations.solve_mass(change);
            change[free..].fill(0.0);
            for i in 0..change.len() {
                let old = std::mem::replace(&mut total[i], change[i]);
                change[i] -= old;
            }
        };
        change(impulse, &mut motion.jump, jumped);
        match moves {
            Some(moves) => change(moves, &mut motion.shift, shifted),
            None => shifted.iter_mut().zip(&*jumped).for_each(|(shifted, jumped)| *shifted = h * row.c * jumped),
        }
        answer.fill(0.0);
        system.add_stiffness_times(&to.state.q, shifted, -(1.0 - row.alpha_f), scratch, answer);
        system.add_damping_times(&to.state.q, jumped, -(1.0 - row.alpha_c), answer);
        equations.solve(answer);
        for i in 0..free {
            to.state.a[i] += answer[i];
        }
    }

    /// Right-hand side of (T3) at the forces of the prediction, in place of the acceleration: what it asks for without contact.
    pub fn load_at_prediction(&self, from: &State, to: &mut State) {
        let (system, row, free) = (self.equations.system, &self.equations.row, self.equations.system.nodes.free);
        for start in (0..free).step_by(CHUNK) {
            let rows = start..free.min(start + CHUNK);
            self.processor.dispatch(LoadAtPrediction { core: self, from, to, rows });
        }
        // Of the new accelerations those of driven supports are known.
        let mass = &system.mass;
        for &(d, _) in &system.drives {
            let own = (1.0 - row.alpha_m) * to.a[d];
            for k in mass.pattern.starts[d] as usize..mass.pattern.starts[d + 1] as usize {
                let i = mass.pattern.rows[k] as usize;
                if i < free {
                    to.a[i] -= mass.values[k] * own;
                }
            }
        }
    }

    /// Motion, forces and residual of (T3) at the current acceleration, contact forces apart; returns the sizes of the residual.
    pub fn residual_at(&mut self, from: &State, h: f64, to: &mut State) -> Sizes {
        let Core { equations, motion, residual, known, processor, .. } = self;
        let Equations { system, row, operator, .. } = equations;
        let rows = ResidualRows { system, row, h, motion, known, processor: *processor, from };
        let mut pass = ResidualPass { rows, to, residual, sizes: Sizes::default() };
        let strain = operator.sweep(&mut pass);
        let sizes = pass.sizes;
        to.energy.strain = strain;
        sizes
    }

    /// The residual in the rows of supports: their reactions, contact forces apart.
    pub fn residual_of_supports(&mut self, from: &State, h: f64, to: &State) {
        let (system, free) = (self.equations.system, self.equations.system.nodes.free);
        self.begin_residual(free..system.nodes.total, from, to);
        let Core { equations, motion, residual, known, processor, .. } = self;
        let rows = ResidualRows { system, row: &equations.row, h, motion, known, processor: *processor, from };
        for start in (free..system.nodes.total).step_by(CHUNK) {
            let piece = start..system.nodes.total.min(start + CHUNK);
            rows.sizes(std::slice::from_ref(&piece), to, residual);
        }
    }

    /// Whether states need M a, for the next step or for the identity.
    pub fn weighs_inertia(&self) -> bool {
        self.carries_inertia() || identity::weighs_inertia(&self.equations.row, !self.motion.shift.is_empty())
    }

    /// Energies of the finished step and the sums of its identity.
    pub fn tally(&self, from: &State, h: f64, to: &mut State) -> Tally {
        let (system, passage, mut tally) = (self.equations.system, &self.passage(from, h), Tally::default());
        self.equations.energies(self.weighs_inertia(), to, |rows, to| {
            self.processor.dispatch(Piece { tally: &mut tally, system, from, to, passage, rows });
        });
        tally
    }

    /// What the identity needs to know of the step.
    pub fn passage<'b>(&'b self, from: &'b State, h: f64) -> Passage<'b> {
        let motion = &self.motion;
        let jump = motion.jumped.then_some(&motion.jump[..]);
        let shift = (!motion.shift.is_empty()).then_some(&motion.shift[..]);
        Passage { row: &self.equations.row, h, jump, shift, inertia: self.start_inertia(from) }
    }
}

/// Changes of velocity and of place by contact, and what accelerations do about them.
struct Response {
    jumped: Vec<f64>,
    shifted: Vec<f64>,
    answer: Vec<f64>,
    scratch: Vec<f64>,
}

/// What the residual of (T3) is made of.
struct ResidualRows<'a> {
    system: &'a System,
    row: &'a Tableau,
    h: f64,
    motion: &'a Motion,
    known: &'a [f64],
    processor: Processor,
    from: &'a State,
}

impl ResidualRows<'_> {
    /// Overwrites the residual in pieces of a [`CHUNK`] at most each, contact forces apart; returns its sizes there.
    fn sizes(&self, pieces: &[Range<usize>], to: &State, residual: &mut [f64]) -> Sizes {
        let (system, row) = (self.system, self.row);
        for rows in pieces {
            system.inertia.rows_times(rows.clone(), [&to.a], [&mut residual[rows.clone()]]);
        }
        self.processor.run(Residual {
            piece: pieces.iter().cloned(),
            nodes: &system.nodes,
            known: self.known,
            internal: &to.internal,
            viscous: if system.damped { &to.viscous } else { &[] },
            weights: [1.0 - row.alpha_m, 1.0 - row.alpha_f, 1.0 - row.alpha_c],
            q0: &self.from.q,
            q1: &to.q,
            residual,
        })
    }
}

/// Motion and residual of a pass, row by row.
struct ResidualPass<'a> {
    rows: ResidualRows<'a>,
    to: &'a mut State,
    residual: &'a mut [f64],
    sizes: Sizes,
}

impl Pass for ResidualPass<'_> {
    fn place(&mut self, rows: Range<usize>) {
        self.rows.motion.place(self.rows.row, self.rows.h, rows, self.to);
    }

    fn fields(&mut self) -> Fields<'_> {
        let State { q, v, internal, viscous, .. } = &mut *self.to;
        Fields { q, v, internal, viscous }
    }

    fn complete(&mut self, pieces: &[Range<usize>]) -> &[f64] {
        if !pieces.is_empty() {
            self.sizes.add(&self.rows.sizes(pieces, self.to, self.residual));
        }
        self.residual
    }
}

/// Right-hand side of (T3) at the forces of the prediction in some rows.
struct LoadAtPrediction<'a, 'b> {
    core: &'a Core<'b>,
    from: &'a State,
    to: &'a mut State,
    rows: Range<usize>,
}

impl WithSimd for LoadAtPrediction<'_, '_> {
    type Output = ();

    // Plain loops, for the vectors that the processor has.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let LoadAtPrediction { core, from, to, rows } = self;
        let (system, row, n) = (core.equations.system, &core.equations.row, rows.len());
        let mut known = [0.0; CHUNK];
        core.known_forces(rows.clone(), from, to, &mut known);
        let (a, internal, known) = (&mut to.a[rows.clone()], &to.internal[rows.clone()], &known[..n]);
        let elastic = 1.0 - row.alpha_f;
        (0..n).for_each(|i| a[i] = -(known[i] + elastic * internal[i]));
        if row.alpha_m != 0.0 {
            let inertia = &core.start_inertia(from)[rows.clone()];
            (0..n).for_each(|i| a[i] -= row.alpha_m * inertia[i]);
        }
        if system.damped {
            let viscous = &to.viscous[rows];
            (0..n).for_each(|i| a[i] -= (1.0 - row.alpha_c) * viscous[i]);
        }
    }
}
