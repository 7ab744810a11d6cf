//! Reactions of supports, from the states at both ends of a step.
//!
//! ```text
//! (T45) R = [M (v1 − v0) − G p] / h + w f0 + (1−w) f1 + w' d0 + (1−w') d1      in the rows of held degrees of freedom
//! ```
//!
//! f is the internal force less loads and gravity, d the damping force: R h is the impulse that the support gives in the
//! step, impacts included, so that a history obeys the balance of momentum. At t = 0 it is M a + f + d less contact forces.

use super::Record;
use crate::model::function::Function;
use crate::model::{Component, Model};
use crate::state::State;
use crate::system::System;

/// Rows of held degrees of freedom, and the supports that they belong to.
pub(super) struct Reactions {
    free: usize,
    rows: Vec<Row>,
    /// Loads on them.
    loads: Vec<(Vec<(usize, f64)>, Function)>,
}

/// One held degree of freedom.
struct Row {
    /// The column that its reaction belongs to, counted from the first of all supports.
    column: usize,
    gravity: f64,
    /// Internal force without displacement; of linear systems.
    offset: f64,
    entries: Vec<Entry>,
}

/// What one degree of freedom adds to a row: mass, and of linear systems damping and stiffness.
struct Entry {
    dof: u32,
    mass: f64,
    damping: f64,
    stiffness: f64,
}

impl Reactions {
    /// Reactions of the supports of a model and the names of their columns. A degree of freedom that several supports hold
    /// belongs to the first of them.
    pub fn new(model: &Model, system: &System) -> (Reactions, Vec<String>) {
        let free = system.nodes.free;
        let mut names = Vec::new();
        let mut columns = vec![None; system.nodes.total - free];
        for support in &model.supports {
            let exists = |component| support.nodes.iter().any(|&node| system.nodes.find(node, component).is_some());
            for (component, part) in [(Component::X, "fx"), (Component::Y, "fy"), (Component::Theta, "moment")] {
                if !exists(component) {
                    continue;
                }
                if support.fix.contains(&component) || support.motion.iter().any(|(driven, _)| *driven == component) {
                    for dof in support.nodes.iter().filter_map(|&node| system.nodes.find(node, component)) {
                        columns[dof - free].get_or_insert(names.len());
                    }
                }
                names.push(format!("support.{}.{part}", support.name));
            }
        }
        let stiffness = stiffness_rows(system);
        let mut offset = vec![0.0; system.nodes.total];
        system.internal(&vec![0.0; system.nodes.total], &mut offset);
        let constant = |matrix: &crate::la::Symmetric, i: usize, j: usize| {
            matrix.pattern.position(i, j).map_or(0.0, |place| matrix.values[place])
        };
        let rows = (free..system.nodes.total).zip(columns).zip(stiffness).map(|((dof, column), entries)| Row {
            column: column.expect("what is held, a support holds"),
            gravity: system.gravity[dof],
            offset: offset[dof],
            entries: entries
                .into_iter()
                .map(|(other, stiffness)| Entry {
                    dof: other,
                    mass: constant(&system.mass, dof, other as usize),
                    damping: system.damping.as_ref().map_or(0.0, |damping| constant(damping, dof, other as usize)),
                    stiffness,
                })
                .collect(),
        });
        (Reactions { free, rows: rows.collect(), loads: system.loads_on(free) }, names)
    }

    /// Adds the reactions of a step to the columns of the supports.
    pub fn fill(&self, record: &Record, columns: &mut [f64]) {
        if self.rows.is_empty() {
            return;
        }
        let (from, to, h) = (record.from, &record.attempt.state, record.h);
        let [old, old_damping] = if h > 0.0 { record.attempt.old_weights } else { [0.0; 2] };
        for (i, row) in self.rows.iter().enumerate() {
            let dof = self.free + i;
            let [f0, d0] = row.forces(from, dof);
            let [f1, d1] = row.forces(to, dof);
            let inertia: f64 = row
                .entries
                .iter()
                .map(|entry| {
                    let k = entry.dof as usize;
                    entry.mass * if h > 0.0 { (to.v[k] - from.v[k]) / h } else { to.a[k] }
                })
                .sum();
            columns[row.column] +=
                inertia - row.gravity + (old * f0 + (1.0 - old) * f1) + (old_damping * d0 + (1.0 - old_damping) * d1);
        }
        for (forces, time) in &self.loads {
            let factor = old * time.value(from.time) + (1.0 - old) * time.value(to.time);
            forces.iter().for_each(|&(dof, value)| columns[self.rows[dof - self.free].column] -= factor * value);
        }
        let mut push = |dof: u32, force: f64| {
            if let Some(row) = (dof as usize).checked_sub(self.free) {
                columns[self.rows[row].column] -= force;
            }
        };
        for (k, candidate) in record.attempt.scene.candidates.iter().enumerate() {
            let mut along = |row: &[(u32, f64)], force: f64| {
                if force != 0.0 {
                    row.iter().for_each(|&(dof, part)| push(dof, part * force));
                }
            };
            if h == 0.0 {
                along(candidate.gap_row.entries(), to.force.get(k).copied().unwrap_or(0.0));
                continue;
            }
            along(candidate.gap_row.entries(), to.impulse[candidate.row] / h);
            if candidate.slides() {
                along(candidate.slip_row.entries(), to.impulse[candidate.row + 1] / h);
            }
        }
    }
}

impl Row {
    /// Internal force and damping force at a state: those that the step computed, or of lines of bars, whose step keeps none,
    /// from the constant rows.
    fn forces(&self, state: &State, dof: usize) -> [f64; 2] {
        if !state.internal.is_empty() {
            return [state.internal[dof], state.viscous[dof]];
        }
        let (mut internal, mut viscous) = (self.offset, 0.0);
        for entry in &self.entries {
            internal += entry.stiffness * state.q[entry.dof as usize];
            viscous += entry.damping * state.v[entry.dof as usize];
        }
        [internal, viscous]
    }
}

/// Entries of the stiffness in the rows of held degrees of freedom, at the start: degree of freedom and value, and all that
/// are in the pattern of the mass.
fn stiffness_rows(system: &System) -> Vec<Vec<(u32, f64)>> {
    let free = system.nodes.free;
    let mut rows: Vec<std::collections::BTreeMap<u32, f64>> = vec![Default::default(); system.nodes.total - free];
    let pattern = &system.mass.pattern;
    for j in 0..pattern.n {
        for &i in &pattern.rows[pattern.starts[j] as usize..pattern.starts[j + 1] as usize] {
            for (row, column) in [(i as usize, j), (j, i as usize)] {
                if row >= free {
                    rows[row - free].entry(column as u32).or_insert(0.0);
                }
            }
        }
    }
    for element in &system.elements {
        let block = element.block();
        for e in 0..block.len() {
            let dofs = block.element(e);
            if dofs.iter().all(|&dof| (dof as usize) < free) {
                continue;
            }
            let stiffness = element.tangent(e, &system.q0).stiffness;
            for (i, &row) in dofs.iter().enumerate().filter(|(_, row)| **row as usize >= free) {
                for (j, &column) in dofs.iter().enumerate() {
                    *rows[row as usize - free].entry(column).or_insert(0.0) += stiffness[(i, j)];
                }
            }
        }
    }
    rows.into_iter().map(|row| row.into_iter().collect()).collect()
}
