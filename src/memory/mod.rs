//! What a run takes of memory, before it takes it: the large arrays of model, equations, factors, steps and frames, counted.
//!
//! Knows how many numbers of each kind the parts of a run hold, and must be told when they hold more: the comparison with
//! what runs really take is `tests/external/memory.py`. Small arrays are left out; a program without a model has
//! `PROGRAM` bytes.

mod limit;

pub use limit::{Limit, Size, parse_size};

use crate::case::Loaded;
use crate::case::data::Case;
use crate::la::Factor;
use crate::methods::tableau::active_set_bytes;
use crate::model::Model;
use crate::relations::{Candidate, Scene};
use crate::schemes::{self, Tableau};
use crate::system::System;
use crate::{Result, elements, files};

/// The program itself, and a small model.
const PROGRAM: u64 = 12_000_000;

/// Bytes of a number.
const NUMBER: u64 = 8;

/// How many there are of everything that a run keeps in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sizes {
    /// Bodies.
    pub bodies: u64,
    /// Nodes.
    pub nodes: u64,
    /// Elements.
    pub elements: u64,
    /// Degrees of freedom of all elements together.
    pub element_dofs: u64,
    /// Entries of the upper triangles of all elements together.
    pub element_entries: u64,
    /// Degrees of freedom.
    pub dofs: u64,
    /// Entries of a matrix, upper triangle.
    pub entries: u64,
    /// Bytes of a factor.
    pub factor: u64,
    /// Bytes of what the search for active sets keeps.
    pub active_set: u64,
    /// Contact candidates, those near at the start included.
    pub candidates: u64,
    /// Whether the storage function is computed.
    pub storage: bool,
    /// Whether it is a line of bars, whose steps keep no forces.
    pub line: bool,
    /// Whether anything damps.
    pub damped: bool,
    /// Whether there are frames for ParaView.
    pub frames: bool,
    /// Bytes of the case and mesh files.
    pub files: u64,
}

impl Sizes {
    /// What the case alone tells, before anything is built: elements of lines, at their least. Meshes are known by the lengths
    /// of their files only.
    pub fn of_case(loaded: &Loaded) -> Result<Sizes> {
        let case = &loaded.case;
        // At the least: nothing is refused here that the equations would let pass.
        let mut sizes = Sizes { bodies: case.body.len() as u64, line: true, ..Sizes::about(case) };
        sizes.files = file_bytes(loaded)?;
        let dimension = if case.body.iter().any(is_planar) { 2 } else { 1 };
        for body in &case.body {
            let line = body.line.as_ref().map(|line| line.elements);
            let count = line.or(body.polyline.as_ref().map(|line| line.elements)).unwrap_or(0) as u64;
            let per = elements::find(&body.element).map_or(0, |kind| (kind.components)(dimension).len()) as u64;
            sizes.nodes += count + 1;
            sizes.elements += count;
            sizes.element_dofs += 2 * per * count;
            sizes.element_entries += per * (2 * per + 1) * count;
            sizes.dofs += per * (count + 1);
            sizes.entries += per * (per + 1) / 2 * (count + 1) + per * per * count;
            // Three blocks for each node, whatever its order.
            sizes.factor += 3 * NUMBER * per * per * (count + 1);
        }
        Ok(sizes)
    }

    /// All of a case whose equations are assembled. The pattern of the factor is found, but nothing is factored.
    pub fn of_system(loaded: &Loaded, model: &Model, system: &System) -> Result<Sizes> {
        let case = &loaded.case;
        let blocks = || system.elements.iter().map(|element| element.block());
        let dofs = |block: &elements::Block| block.dofs.len() as u64;
        let pattern = &system.mass.pattern;
        let factor = Factor::bytes(pattern, system.nodes.free);
        let mut sizes = Sizes {
            bodies: model.bodies.len() as u64,
            nodes: model.places.len() as u64,
            elements: blocks().map(|block| block.len() as u64).sum(),
            element_dofs: blocks().map(dofs).sum(),
            element_entries: blocks().map(|block| dofs(block) * (block.per as u64 + 1) / 2).sum(),
            dofs: system.nodes.total as u64,
            entries: pattern.len() as u64,
            factor,
            candidates: near(case, system),
            line: system.nodes.weave.is_some(),
            damped: system.damped,
            files: file_bytes(loaded)?,
            ..Sizes::about(case)
        };
        sizes.storage &= system.linear && system.drives.is_empty();
        sizes.active_set = tableau(case).map_or(0, |row| active_set_bytes(system, &row, case.scheme.position, factor));
        Ok(sizes)
    }

    /// What the settings of a case tell.
    fn about(case: &Case) -> Sizes {
        let storage = tableau(case).is_some_and(|row| row.storage);
        let damped = case.body.iter().any(|body| body.damping.is_some());
        Sizes { storage, damped, frames: case.output.vtk.get().is_some(), ..Sizes::default() }
    }

    /// Bytes of all parts, by name.
    pub fn parts(&self) -> [(&'static str, u64); 8] {
        let vectors = |count: u64| NUMBER * count * self.dofs;
        // Position, velocity, acceleration and four forces; the storage function has four more vectors. A line of bars keeps
        // none of its forces.
        let state = if self.line { vectors(4) } else { vectors(7 + if self.storage { 4 } else { 0 }) };
        [
            ("program", PROGRAM),
            // Places, initial displacements and velocities; places and numbers of the unknowns; names. A file is read as a
            // whole, and what was read is kept twice for a while.
            ("model", 92 * self.nodes + 16 * self.elements + 2000 * self.bodies + 4 * self.files),
            // Numbers of the unknowns, constants and places of the entries of each element; vectors of the system.
            ("elements", 4 * self.element_dofs + 56 * self.elements + 4 * self.element_entries + vectors(5)),
            // Pattern and mass, the mass by bands, the matrix of the step, damping.
            ("matrices", (20 + 8 + 8 + if self.damped { 8 } else { 0 }) * self.entries + vectors(3)),
            // Those of the mass and of the step.
            ("factors", 2 * self.factor + self.active_set),
            // The state, the attempt, a checkpoint as such and as bytes; the scratch of a step, of which a line has less.
            ("steps", 2 * state + vectors(if self.line { 5 } else { 15 })),
            // In the system and in the attempt, and once more while the step is made ready; rows, laws and scratch.
            ("contacts", self.candidates * (3 * size_of::<Candidate>() as u64 + 200)),
            ("frames", if self.frames { 500 * self.nodes } else { 0 }),
        ]
    }

    /// Bytes of all parts together.
    pub fn bytes(&self) -> u64 {
        self.parts().iter().map(|(_, bytes)| bytes).sum()
    }

    /// Refuses a run that would not fit.
    pub fn demand(&self, limit: Option<&Limit>) -> Result<()> {
        let what = format!("{} nodes, {} elements, {} degrees of freedom", self.nodes, self.elements, self.dofs);
        limit.map_or(Ok(()), |limit| limit.demand(self.bytes(), &what))
    }
}

fn tableau(case: &Case) -> Option<Tableau> {
    schemes::find(&case.scheme.name).and_then(|kind| kind.tableau(&case.scheme.parameters))
}

fn is_planar(body: &crate::case::data::Body) -> bool {
    let point = body.line.as_ref().map(|line| &line.from).or(body.at.as_ref());
    point.or(body.polyline.as_ref().and_then(|line| line.points.first())).is_some_and(|point| point.len() == 2)
}

fn file_bytes(loaded: &Loaded) -> Result<u64> {
    let named = loaded.case.files().into_iter().map(|file| files::length(&loaded.path(file)));
    Ok(loaded.text.len() as u64 + named.sum::<Result<u64>>()?)
}

/// Candidates at the start: those that are always there, and those that a search finds.
fn near(case: &Case, system: &System) -> u64 {
    let mut state = system.state(false);
    state.q.copy_from_slice(&system.q0);
    state.v.copy_from_slice(&system.v0);
    let mut scene = Scene::new(&system.contacts, &system.nodes);
    scene.look(&system.contacts, &system.nodes, &state, case.time.step, 0.5);
    scene.candidates.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_of_anything_takes_more() {
        let base = Sizes { nodes: 10, elements: 9, dofs: 30, entries: 100, ..Sizes::default() };
        let more = [
            Sizes { nodes: 11, ..base.clone() },
            Sizes { factor: 1, ..base.clone() },
            Sizes { candidates: 1, ..base.clone() },
            Sizes { storage: true, ..base.clone() },
            Sizes { damped: true, ..base.clone() },
            Sizes { frames: true, ..base.clone() },
        ];
        assert!(more.iter().all(|sizes| sizes.bytes() > base.bytes()));
    }
}
