//! The columns of a history: names once, values per step.
//!
//! Which columns there are is declared in [`crate::case::columns`]; here is what fills them. New ones come behind those of
//! older versions, so that who reads by position still finds what he knows.

use super::Record;
use super::frames::extreme_stress;
use super::reactions::Reactions;
use crate::case::columns::{COLUMNS, family};
use crate::elements::{Element, Resultants};
use crate::model::{Body, Component, Model};
use crate::system::System;

/// What fills a column that every history has.
type Value = fn(&Record) -> f64;

/// The value of a column that every history has.
fn value(name: &str) -> Value {
    match name {
        "step" => |r| r.attempt.state.step as f64,
        "time" => |r| r.attempt.state.time,
        "h" => |r| if r.h > 0.0 { r.h } else { f64::NAN },
        "kinetic" => |r| r.attempt.state.energy.kinetic,
        "strain" => |r| r.attempt.state.energy.strain,
        "potential" => |r| r.attempt.state.energy.potential,
        "energy" => |r| r.attempt.state.energy.total(),
        "work_external" => |r| r.ledger.sum.external,
        "work_damping" => |r| r.ledger.sum.damping,
        "work_support" => |r| r.ledger.sum.support,
        "work_contact" => |r| r.ledger.sum.contact,
        "work_friction" => |r| r.ledger.sum.friction,
        "work_scheme" => |r| r.ledger.sum.scheme,
        "work_curvature" => |r| r.ledger.sum.curvature,
        "defect" => |r| r.ledger.sum.defect,
        "storage" => |r| r.attempt.state.storage.as_ref().map_or(f64::NAN, |storage| storage.value),
        "storage_defect" => |r| r.attempt.state.storage.as_ref().map_or(f64::NAN, |_| r.ledger.sum.storage_defect),
        "min_gap" => |r| r.attempt.gaps.iter().copied().fold(f64::NAN, f64::min),
        "active" => |r| r.attempt.active as f64,
        "impulse" => |r| {
            let attempt = r.attempt;
            attempt.scene.candidates.iter().map(|candidate| attempt.state.impulse[candidate.row]).sum()
        },
        "newton" => |r| r.attempt.passes as f64,
        "factorizations" => |r| r.attempt.factorizations as f64,
        "sweeps" => |r| r.attempt.sweeps as f64,
        "complementarity" => |r| r.attempt.complementarity,
        _ => unreachable!("a column without a value: {name}"),
    }
}

/// Names of the columns of a run, and how to fill them.
pub struct Columns {
    names: Vec<String>,
    /// Which of them hold whole numbers.
    whole: Vec<bool>,
    every: Vec<Value>,
    /// First column of every contact's impulse, force and gap.
    contacts: Vec<usize>,
    /// First column of every contact's tangential force, where it has one, and of its count.
    more: Vec<(Option<usize>, usize)>,
    /// Columns of single nodes: first column, and the node of each.
    nodes: Vec<Option<(usize, Vec<u32>)>>,
    /// Column, place and degree of freedom of positions of probes.
    positions: Vec<(usize, f64, usize)>,
    /// Column and degree of freedom of velocities, displacements and accelerations.
    velocities: Vec<(usize, usize)>,
    displacements: Vec<(usize, usize)>,
    accelerations: Vec<(usize, usize)>,
    /// First column of the supports, and what fills them.
    reactions: (usize, Reactions),
    sections: Vec<(usize, Section)>,
}

/// A section of which forces and stress are recorded.
struct Section {
    /// The element that it cuts, alone.
    element: Box<dyn Element>,
    /// Distance from the middle of the element.
    beyond: f64,
    /// Area and section modulus.
    values: [f64; 2],
}

/// Names as they are put one behind the other.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    whole: Vec<bool>,
}

impl Names {
    /// Adds a column, and returns its place.
    fn put(&mut self, name: String, whole: bool) -> usize {
        self.names.push(name);
        self.whole.push(whole);
        self.names.len() - 1
    }

    /// Adds a column of a contact, probe, support or section as declared, and returns its place.
    fn put_of(&mut self, kind: &str, owner: &str, part: &str) -> usize {
        let declared = family(kind).and_then(|columns| columns.iter().find(|column| column.name == part));
        let column = declared.unwrap_or_else(|| unreachable!("a column that is not declared: {kind}.<name>.{part}"));
        self.put(format!("{kind}.{owner}.{part}"), column.whole)
    }
}

impl Columns {
    /// Columns of a model.
    pub fn new(model: &Model, system: &System) -> Columns {
        let mut names = Names::default();
        for column in COLUMNS {
            names.put(column.name.to_string(), column.whole);
        }
        let groups = &system.contacts.groups;
        let first = |names: &mut Names, kind, owner: &str, parts: &[&str]| {
            let first = names.names.len();
            for part in parts {
                names.put_of(kind, owner, part);
            }
            first
        };
        let contacts =
            groups.iter().map(|g| first(&mut names, "contact", &g.name, &["impulse", "force", "gap"])).collect();
        let (mut positions, mut velocities) = (Vec::new(), Vec::new());
        for probe in &model.probes {
            let found = [Component::X, Component::Y, Component::Theta]
                .into_iter()
                .filter_map(|component| Some((component, system.nodes.find(probe.node, component)?)));
            for (component, dof) in found.clone() {
                let place =
                    if component == Component::Theta { 0.0 } else { model.places[probe.node][component as usize] };
                positions.push((names.put_of("probe", &probe.name, component.name()), place, dof));
            }
            for (component, dof) in found {
                let part = ["vx", "vy", "vtheta"][component as usize];
                velocities.push((names.put_of("probe", &probe.name, part), dof));
            }
        }
        let (reactions, supports) = Reactions::new(model, system);
        let support = names.names.len();
        for name in supports {
            names.put(name, false);
        }
        let mut more = Vec::new();
        let mut nodes = Vec::new();
        for contact in &model.contacts {
            let tangent = (model.dimension > 1).then(|| names.put_of("contact", &contact.name, "tangent"));
            more.push((tangent, names.put_of("contact", &contact.name, "count")));
            nodes.push(contact.per_node.then(|| {
                let first = names.names.len();
                for k in 0..contact.nodes.len() {
                    names.put(format!("contact.{}.node{k}.force", contact.name), false);
                }
                (first, contact.nodes.iter().map(|&node| node as u32).collect())
            }));
        }
        let (mut displacements, mut accelerations) = (Vec::new(), Vec::new());
        for probe in &model.probes {
            for (asked, parts, list) in [
                (probe.displacement, ["ux", "uy"], &mut displacements),
                (probe.acceleration, ["ax", "ay"], &mut accelerations),
            ] {
                for (component, part) in [Component::X, Component::Y].into_iter().zip(parts).filter(|_| asked) {
                    if let Some(dof) = system.nodes.find(probe.node, component) {
                        list.push((names.put_of("probe", &probe.name, part), dof));
                    }
                }
            }
        }
        let sections = model.sections.iter().map(|section| {
            let place = first(&mut names, "section", &section.name, &["N", "V", "M", "stress"]);
            let body = &model.bodies[section.body];
            let alone = Body { lines: vec![body.lines[section.element]], ..body.clone() };
            let element = (body.kind.build)(&alone, &system.nodes);
            (place, Section { element, beyond: section.beyond, values: body.properties.section.area_and_modulus() })
        });
        let sections = sections.collect();
        Columns {
            every: COLUMNS.iter().map(|column| value(column.name)).collect(),
            contacts,
            more,
            nodes,
            positions,
            velocities,
            displacements,
            accelerations,
            reactions: (support, reactions),
            sections,
            names: names.names,
            whole: names.whole,
        }
    }

    /// Names in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The place of a column.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|column| column == name)
    }

    /// Which columns hold whole numbers.
    pub fn whole(&self) -> &[bool] {
        &self.whole
    }

    /// Overwrites `values` with those of a step; NaN where there is none.
    pub fn fill(&self, record: &Record, values: &mut Vec<f64>) {
        let (attempt, state, h) = (record.attempt, &record.attempt.state, record.h);
        values.clear();
        values.resize(self.names.len(), 0.0);
        for (cell, value) in values.iter_mut().zip(&self.every) {
            *cell = value(record);
        }
        self.contacts.iter().for_each(|first| values[first + 2] = f64::NAN);
        for (candidate, gap) in attempt.scene.candidates.iter().zip(&attempt.gaps) {
            let (group, impulse) = (candidate.key.group as usize, state.impulse[candidate.row]);
            let own = &mut values[self.contacts[group]..][..3];
            own[0] += impulse;
            own[2] = own[2].min(*gap);
            let (tangent, count) = self.more[group];
            if impulse > 0.0 {
                values[count] += 1.0;
            }
            if h == 0.0 {
                continue;
            }
            if let Some(tangent) = tangent.filter(|_| candidate.slides()) {
                values[tangent] += state.impulse[candidate.row + 1] / h;
            }
            if let Some((first, nodes)) = &self.nodes[group]
                && let Some(k) = nodes.iter().position(|node| *node == candidate.key.node)
            {
                values[first + k] += impulse / h;
            }
        }
        for first in self.contacts.iter().filter(|_| h > 0.0) {
            values[first + 1] = values[*first] / h;
        }
        for &(column, place, dof) in &self.positions {
            values[column] = place + state.q[dof];
        }
        for &(column, dof) in &self.velocities {
            values[column] = state.v[dof];
        }
        self.reactions.1.fill(record, &mut values[self.reactions.0..]);
        for &(column, dof) in &self.displacements {
            values[column] = state.q[dof];
        }
        for &(column, dof) in &self.accelerations {
            values[column] = if h > 0.0 { (state.v[dof] - record.from.v[dof]) / h } else { state.a[dof] };
        }
        for (column, section) in &self.sections {
            let forces = section.element.resultants(0, &state.q);
            // Along an element without loads of its own the shear force is the slope of the moment, with the other sign.
            let forces = Resultants { moment: forces.moment - forces.shear * section.beyond, ..forces };
            let stress = extreme_stress(&forces, section.values);
            values[*column..*column + 4].copy_from_slice(&[forces.axial, forces.shear, forces.moment, stress]);
        }
    }
}
