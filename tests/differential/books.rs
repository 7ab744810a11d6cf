//! The history of a dense run: energies, works by (T10)–(T16) and `storage` by (T20)–(T22), contacts and probes.

use super::problem::Problem;
use super::step::{State, Step, residual};
use nalgebra::DVector;
use std::collections::BTreeMap;

/// One row of the history, and what could excuse a difference in it.
pub struct Record {
    pub values: BTreeMap<String, f64>,
    pub margin: f64,
    /// Why the step may have another solution.
    pub doubt: Option<&'static str>,
}

/// Filters of the storage function.
struct Storage {
    z: DVector<f64>,
    x: DVector<f64>,
    y: DVector<f64>,
}

/// A run in the making.
pub struct Run<'a> {
    problem: &'a Problem,
    sums: BTreeMap<&'static str, f64>,
    storage: Option<Storage>,
}

const WORKS: [&str; 9] = [
    "work_external",
    "work_damping",
    "work_support",
    "work_contact",
    "work_friction",
    "work_scheme",
    "work_curvature",
    "defect",
    "storage_defect",
];

/// All rows of a case, up to the first step that does not converge.
pub fn run(problem: &Problem) -> (Vec<Record>, Option<String>) {
    let mut state = match problem.start() {
        Ok(state) => state,
        Err(reason) => return (vec![], Some(reason)),
    };
    let zero = || DVector::zeros(problem.count);
    // Linear models on supports at rest have a storage function in all rows that remember accelerations.
    let stored = problem.row.remembers && problem.linear && problem.drives.is_empty() && problem.massless.is_none();
    let mut run = Run {
        problem,
        sums: WORKS.iter().map(|name| (*name, 0.0)).collect(),
        storage: stored.then(|| Storage { z: zero(), x: zero(), y: zero() }),
    };
    let h = problem.instants[1] - problem.instants[0];
    let mut records = vec![run.record(0, h, &state, None)];
    for (k, pair) in problem.instants.windows(2).enumerate() {
        let usual = if k == 0 { h } else { problem.instants.get(2).map_or(h, |t| t - problem.instants[1]) };
        // Steps of the grid have the same size to the last bit.
        let size = pair[1] - pair[0];
        let size =
            if (size - usual).abs() <= 1e-9 * problem.instants[problem.instants.len() - 1] { usual } else { size };
        match problem.step(&state, pair[1], size) {
            Err(reason) => return (records, Some(reason)),
            Ok(step) => {
                run.add(&state, &step);
                records.push(run.record(k + 1, size, &step.state, Some(&step)));
                state = step.state;
            }
        }
    }
    (records, None)
}

fn energies(problem: &Problem, state: &State) -> [f64; 3] {
    [0.5 * state.v.dot(&(&problem.mass * &state.v)), state.strain, -problem.weight.dot(&state.q)]
}

/// Works of contact forces and of the obstacles that they move with, (T95).
fn force_works(problem: &Problem, from: &State, to: &State) -> (f64, f64) {
    let (mut contact, mut support) = (0.0, 0.0);
    let (before, after) = (problem.massless_gaps(from), problem.massless_gaps(to));
    // The same places with obstacles that have moved on.
    let carried = problem.massless_gaps(&State { time: to.time, ..from.clone() });
    for i in 0..before.len() {
        let mean = 0.5 * (from.force[i] + to.force[i]);
        contact += mean * (after[i] - before[i]);
        support += mean * (before[i] - carried[i]);
    }
    (contact, support)
}

impl Run<'_> {
    fn book(&mut self, name: &'static str, value: f64) {
        *self.sums.get_mut(name).expect("a known work") += value;
    }

    /// Books the works of a step.
    fn add(&mut self, from: &State, step: &Step) {
        let (problem, to, h) = (self.problem, &step.state, step.h);
        let (row, mass) = (&problem.row, &problem.mass);
        let (dq, mean) = (&to.q - &from.q, (&from.v + &to.v) * 0.5);
        let a_g = &from.a * row.g0 + &to.a * row.g1;
        let a_b = &from.a * row.b0 + &to.a * row.b1;
        let a_m = &from.a * row.alpha_m + &to.a * (1.0 - row.alpha_m);
        let d = (&a_b - &a_g * 0.5) * h + &step.shift / h - &step.jump * 0.5;
        let [f0, f1] =
            [from, to].map(|state| &state.internal - &state.applied - &problem.weight - problem.pushed(&state.force));

        let external = 0.5 * (&from.applied + &to.applied).dot(&dq);
        let damping = -0.5 * (&from.viscous + &to.viscous).dot(&dq);
        let curvature = to.strain - from.strain - 0.5 * (&from.internal + &to.internal).dot(&dq);
        let mut scheme = h * mean.dot(&(mass * (&a_g - &a_m))) - h * a_m.dot(&(mass * &d))
            + (row.alpha_f - 0.5) * (f1 - f0).dot(&dq)
            + (row.alpha_c - 0.5) * (&to.viscous - &from.viscous).dot(&dq);

        let (mut contact, mut friction, mut support) = (0.0, 0.0, 0.0);
        let mut pushed = DVector::zeros(problem.count);
        for one in &step.contacts {
            for (k, direction) in [Some(&one.normal), one.sliding.as_ref()].into_iter().enumerate() {
                let Some(direction) = direction else { continue };
                let carried = 0.5 * (one.drift[0][k] + one.drift[1][k]);
                let work = (direction.dot(&mean) - carried) * one.impulse[k];
                contact += work;
                friction += if k == 1 { work } else { 0.0 };
                support += carried * one.impulse[k];
                pushed += direction * one.impulse[k];
            }
        }
        if problem.massless.is_some() {
            (contact, support) = force_works(problem, from, to);
        }
        let balance = residual(problem, from, [&to.a, &to.internal, &to.viscous, &to.applied]);
        let impulse = mass * &step.jump - pushed;
        for (dof, _) in &problem.drives {
            let (dof, taken) = (*dof, balance[*dof] * dq[*dof]);
            // Rows that remember accelerations: the mean of the reactions at both ends, and the rest from the scheme.
            let given = if row.remembers { 0.5 * (from.reaction[dof] + to.reaction[dof]) * dq[dof] } else { taken };
            support += given + mean[dof] * impulse[dof];
            scheme -= given - taken;
        }
        let change: f64 = energies(problem, to).iter().zip(energies(problem, from)).map(|(b, a)| b - a).sum();
        self.book("work_external", external);
        self.book("work_damping", damping);
        self.book("work_support", support);
        self.book("work_contact", contact);
        self.book("work_friction", friction);
        self.book("work_scheme", scheme);
        self.book("work_curvature", curvature);
        self.book("defect", change - (external + damping + support + contact + scheme + curvature));
        self.filter(from, to);
    }

    /// (T21).
    fn filter(&mut self, from: &State, to: &State) {
        let row = self.problem.row;
        let Some(Storage { z, x, y }) = &mut self.storage else { return };
        let changes = [(z, &to.q - &from.q), (x, &to.v - &from.v), (y, &to.applied - &from.applied)];
        for (filter, change) in changes {
            *filter = (change * (row.alpha_f - row.alpha_m) - &*filter * row.alpha_m) / (1.0 - row.alpha_m);
        }
    }

    /// (T20), with ‖z‖²_K as twice the strain energy that a displacement z alone would make.
    fn storage(&self, state: &State, h: f64) -> f64 {
        let (problem, row) = (self.problem, &self.problem.row);
        let Some(Storage { z, .. }) = &self.storage else { return f64::NAN };
        let [kinetic, strain, _] = energies(problem, state);
        let spread = row.alpha_f - row.alpha_m;
        let stiffness = problem.stiffness_at(&state.q);
        let inertia = state.a.dot(&(&problem.mass * &state.a));
        let filtered = match spread == 0.0 {
            true => 0.0,
            false => (1.0 - row.alpha_m - row.g1) / (2.0 * spread) * z.dot(&(stiffness * z)),
        };
        kinetic + strain + 0.25 * h * h * (2.0 * row.b1 - row.g1) * inertia + filtered
    }

    fn record(&self, number: usize, h: f64, state: &State, step: Option<&Step>) -> Record {
        let problem = self.problem;
        let mut values: BTreeMap<String, f64> = self.sums.iter().map(|(k, v)| (k.to_string(), *v)).collect();
        let [kinetic, strain, potential] = energies(problem, state);
        let storage = self.storage(state, h);
        for (name, value) in [
            ("step", number as f64),
            ("time", state.time),
            ("kinetic", kinetic),
            ("strain", strain),
            ("potential", potential),
            ("energy", kinetic + strain + potential),
            ("storage", storage),
        ] {
            values.insert(name.into(), value);
        }
        if storage.is_nan() {
            values.insert("storage_defect".into(), f64::NAN);
        }
        if let Some(step) = step {
            let contacts = || step.contacts.iter();
            let least = |gaps: &mut dyn Iterator<Item = f64>| gaps.fold(f64::NAN, f64::min);
            if problem.massless.is_some() {
                return self.force_record(values, state, step);
            }
            values.insert("min_gap".into(), least(&mut contacts().map(|one| one.gap)));
            values.insert("active".into(), contacts().filter(|one| one.active).count() as f64);
            values.insert("impulse".into(), contacts().map(|one| one.impulse[0]).sum());
            for (group, contact) in problem.contacts.iter().enumerate() {
                let own = || contacts().filter(|one| one.touch.group == group);
                let impulse: f64 = own().map(|one| one.impulse[0]).sum();
                let name = |part: &str| format!("contact.{}.{part}", contact.name);
                values.insert(name("impulse"), impulse);
                values.insert(name("force"), impulse / step.h);
                values.insert(name("gap"), least(&mut own().map(|one| one.gap)));
            }
        }
        self.probes(&mut values, state);
        Record {
            values,
            margin: step.map_or(f64::INFINITY, |step| step.margin),
            doubt: step.and_then(|step| step.doubt),
        }
    }

    fn probes(&self, values: &mut BTreeMap<String, f64>, state: &State) {
        let problem = self.problem;
        for (name, node) in &problem.probes {
            for (c, label) in ["x", "y", "theta"].into_iter().enumerate() {
                if let Some(dof) = problem.dofs[*node][c] {
                    let place = if c < 2 { problem.places[*node][c] } else { 0.0 };
                    values.insert(format!("probe.{name}.{label}"), place + state.q[dof]);
                    values.insert(format!("probe.{name}.v{label}"), state.v[dof]);
                }
            }
        }
    }

    /// The rest of a row where contact is a force; which contacts are active is no part of that law.
    fn force_record(&self, mut values: BTreeMap<String, f64>, state: &State, step: &Step) -> Record {
        let (problem, h) = (self.problem, step.h);
        let gaps = problem.massless_gaps(state);
        values.insert("min_gap".into(), gaps.iter().copied().fold(f64::NAN, f64::min));
        values.insert("impulse".into(), state.force.iter().sum::<f64>() * h);
        // The generator gives each such contact one node.
        for ((contact, gap), force) in problem.contacts.iter().zip(gaps).zip(&state.force) {
            let name = |part: &str| format!("contact.{}.{part}", contact.name);
            values.extend([(name("gap"), gap), (name("force"), *force), (name("impulse"), force * h)]);
        }
        self.probes(&mut values, state);
        Record { values, margin: f64::INFINITY, doubt: step.doubt }
    }
}
