//! ParaView frames of a run: fills the arrays of a [`Frame`] from the state.

use super::vtk::{Array, Frame, Series};
use super::{Record, Sink, pack, unpack};
use crate::Result;
use crate::case::data::Encoding;
use crate::elements::Resultants;
use crate::model::{Component, Model};
use crate::system::System;
use std::path::{Path, PathBuf};

/// Writer of `series.pvd` and `frames/*.vtu`.
pub struct Frames<'a> {
    /// Where the series goes, and in which encoding.
    place: (PathBuf, Encoding),
    series: Option<Series>,
    system: &'a System,
    every: u64,
    end: f64,
    points: Vec<[f64; 3]>,
    lines: Vec<[u32; 2]>,
    vertices: Vec<u32>,
    /// Area and section modulus (second moment over half height) of the body of each line; a spring has none.
    sections: Vec<[f64; 2]>,
    /// Half the height of the section at each node.
    radius: Vec<f64>,
    /// Angle of the director of each node in the reference configuration: that of the first line that it ends.
    angles: Vec<f64>,
    rotation: Vec<f64>,
    director: Vec<f64>,
    displacement: Vec<f64>,
    velocity: Vec<f64>,
    contact_force: Vec<f64>,
    /// N, V, M and stress of every cell.
    cells: [Vec<f64>; 4],
}

impl<'a> Frames<'a> {
    /// Frames come every `every` steps and at time `end`.
    pub fn new(
        dir: &Path,
        model: &Model,
        system: &'a System,
        (every, end, encoding): (u64, f64, Encoding),
    ) -> Frames<'a> {
        let lines: Vec<[u32; 2]> =
            model.bodies.iter().flat_map(|body| body.lines.iter().map(|line| line.map(|node| node as u32))).collect();
        let vertices: Vec<u32> =
            model.bodies.iter().filter(|body| body.lines.is_empty()).map(|body| body.nodes.start as u32).collect();
        let cells = lines.len() + vertices.len();
        let n = model.places.len();
        Frames {
            place: (dir.to_path_buf(), encoding),
            series: None,
            system,
            every,
            end,
            points: model.places.iter().map(|place| [place[0], place[1], 0.0]).collect(),
            sections: model
                .bodies
                .iter()
                .flat_map(|body| {
                    let section = body.properties.section.area_and_modulus();
                    body.lines.iter().map(move |_| section)
                })
                .collect(),
            radius: (0..n).map(|node| model.body_of(node).properties.half_height).collect(),
            angles: reference_angles(model),
            rotation: vec![0.0; n],
            director: vec![0.0; 3 * n],
            lines,
            vertices,
            displacement: vec![0.0; 3 * n],
            velocity: vec![0.0; 3 * n],
            contact_force: vec![0.0; 3 * n],
            cells: [0; 4].map(|_| vec![0.0; cells]),
        }
    }

    fn fill(&mut self, record: &Record) {
        let (system, state) = (self.system, &record.attempt.state);
        for node in 0..self.points.len() {
            for (k, component) in [Component::X, Component::Y].into_iter().enumerate() {
                if let Some(dof) = system.nodes.find(node, component) {
                    self.displacement[3 * node + k] = state.q[dof];
                    self.velocity[3 * node + k] = state.v[dof];
                }
            }
            let turned = system.nodes.find(node, Component::Theta).map_or(0.0, |dof| state.q[dof]);
            self.rotation[node] = turned;
            let (sine, cosine) = (self.angles[node] + turned).sin_cos();
            self.director[3 * node..3 * node + 2].copy_from_slice(&[-sine, cosine]);
        }
        self.contact_force.fill(0.0);
        for candidate in &record.attempt.scene.candidates {
            candidate.each_force(&state.impulse, |node, force| {
                for k in 0..2 {
                    self.contact_force[3 * node + k] += force[k] / record.h;
                }
            });
        }
        let mut cell = 0;
        for element in &system.elements {
            let block = element.block();
            // Point masses are cells of their own, after all lines, without section forces.
            for e in 0..if block.nodes_per_element == 2 { block.len() } else { 0 } {
                let forces = element.resultants(e, &state.q);
                let stress = extreme_stress(&forces, self.sections[cell]);
                for (array, value) in self.cells.iter_mut().zip([forces.axial, forces.shear, forces.moment, stress]) {
                    array[cell] = value;
                }
                cell += 1;
            }
        }
    }
}

impl Sink for Frames<'_> {
    fn begin(&mut self, saved: Option<&[u8]>) -> Result<()> {
        let mut series = Series::create(&self.place.0, self.place.1)?;
        if let Some(saved) = saved {
            series.go_on(unpack(saved)?)?;
        }
        self.series = Some(series);
        Ok(())
    }

    fn save(&mut self) -> Result<Vec<u8>> {
        Ok(pack(&self.series.as_mut().map(Series::place).transpose()?.unwrap_or_default()))
    }

    fn record(&mut self, record: &Record) -> Result<()> {
        let state = &record.attempt.state;
        if !record.is_due(self.every, self.end) {
            return Ok(());
        }
        self.fill(record);
        let vector = |name, values| Array { name, components: 3, values };
        let scalar = |name, values| Array { name, components: 1, values };
        let frame = Frame {
            points: &self.points,
            lines: &self.lines,
            quads: &[],
            vertices: &self.vertices,
            point_data: &[
                vector("displacement", &self.displacement),
                vector("velocity", &self.velocity),
                vector("contact_force", &self.contact_force),
                scalar("rotation", &self.rotation),
                vector("director", &self.director),
                scalar("radius", &self.radius),
            ],
            cell_data: &[
                scalar("N", &self.cells[0]),
                scalar("V", &self.cells[1]),
                scalar("M", &self.cells[2]),
                scalar("stress", &self.cells[3]),
            ],
            field_data: &[
                ("TimeValue", state.time),
                ("kinetic", state.energy.kinetic),
                ("strain", state.energy.strain),
                ("potential", state.energy.potential),
                ("energy", state.energy.total()),
            ],
        };
        self.series.as_mut().map_or(Ok(()), |series| series.push(state.time, &frame))
    }

    fn finish(&mut self) -> Result<()> {
        self.save().map(|_| ())
    }
}

/// The normal stress of largest modulus in a section: axial, and bending on the side where it adds.
pub(super) fn extreme_stress(forces: &Resultants, [area, modulus]: [f64; 2]) -> f64 {
    let axial = if area > 0.0 { forces.axial / area } else { 0.0 };
    let bending = if modulus > 0.0 { forces.moment.abs() / modulus } else { 0.0 };
    axial + bending.copysign(axial)
}

fn reference_angles(model: &Model) -> Vec<f64> {
    let mut angles = vec![0.0; model.places.len()];
    for body in &model.bodies {
        // Backwards, so that the first line at a node has the last word.
        for &[a, b] in body.lines.iter().rev() {
            let (from, to) = (model.places[a], model.places[b]);
            let angle = (to[1] - from[1]).atan2(to[0] - from[0]);
            (angles[a], angles[b]) = (angle, angle);
        }
    }
    angles
}
