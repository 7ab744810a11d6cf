//! The columns of `history.csv`: names once, values per step.

use super::Record;
use crate::case::expect::COLUMNS;
use crate::model::{Component, Model};
use crate::system::System;

/// Columns that hold whole numbers.
pub const COUNTS: [&str; 5] = ["step", "active", "newton", "factorizations", "sweeps"];

/// Names of the columns of a run, and how to fill them.
pub struct Columns {
    names: Vec<String>,
    contacts: usize,
    /// Place and degrees of freedom of the probes' components.
    probes: Vec<Vec<(f64, usize)>>,
}

impl Columns {
    /// Columns of a model.
    pub fn new(model: &Model, system: &System) -> Columns {
        let mut names: Vec<String> = COLUMNS.iter().map(|name| name.to_string()).collect();
        for group in &system.contacts.groups {
            names.extend(["impulse", "force", "gap"].map(|part| format!("contact.{}.{part}", group.name)));
        }
        let mut probes = Vec::new();
        for probe in &model.probes {
            let mut components = Vec::new();
            let mut labels = Vec::new();
            for component in [Component::X, Component::Y, Component::Theta] {
                if let Some(dof) = system.nodes.find(probe.node, component) {
                    let place = match component {
                        Component::Theta => 0.0,
                        _ => model.places[probe.node][component as usize],
                    };
                    components.push((place, dof));
                    labels.push(component.name());
                }
            }
            names.extend(labels.iter().map(|label| format!("probe.{}.{label}", probe.name)));
            names.extend(labels.iter().map(|label| format!("probe.{}.v{label}", probe.name)));
            probes.push(components);
        }
        Columns { names, contacts: system.contacts.groups.len(), probes }
    }

    /// Names in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Overwrites `values` with those of a step; NaN where there is none.
    pub fn fill(&self, record: &Record, values: &mut Vec<f64>) {
        let (attempt, sum) = (record.attempt, &record.ledger.sum);
        let state = &attempt.state;
        let (storage, storage_defect) =
            state.storage.as_ref().map_or((f64::NAN, f64::NAN), |s| (s.value, sum.storage_defect));
        let min_gap = attempt.gaps.iter().copied().fold(f64::NAN, f64::min);
        values.clear();
        values.extend([
            state.step as f64,
            state.time,
            state.energy.kinetic,
            state.energy.strain,
            state.energy.potential,
            state.energy.total(),
            sum.external,
            sum.damping,
            sum.support,
            sum.contact,
            sum.friction,
            sum.scheme,
            sum.curvature,
            sum.defect,
            storage,
            storage_defect,
            min_gap,
            attempt.active as f64,
            attempt.scene.candidates.iter().map(|candidate| state.impulse[candidate.row]).sum(),
            attempt.passes as f64,
            attempt.factorizations as f64,
            attempt.sweeps as f64,
            attempt.complementarity,
        ]);
        let first = values.len();
        values.extend((0..self.contacts).flat_map(|_| [0.0, 0.0, f64::NAN]));
        for (candidate, gap) in attempt.scene.candidates.iter().zip(&attempt.gaps) {
            let own = &mut values[first + 3 * candidate.key.group as usize..][..3];
            own[0] += state.impulse[candidate.row];
            own[2] = own[2].min(*gap);
        }
        for own in values[first..].chunks_mut(3).filter(|_| record.h > 0.0) {
            own[1] = own[0] / record.h;
        }
        for probe in &self.probes {
            values.extend(probe.iter().map(|&(place, dof)| place + state.q[dof]));
            values.extend(probe.iter().map(|&(_, dof)| state.v[dof]));
        }
    }
}
