//! The deformed bodies with the height of their sections, as a surface that needs no filter in ParaView.

use super::vtk::{Array, Frame, Series};
use super::{Record, Sink, pack, unpack};
use crate::Result;
use crate::case::data::Encoding;
use crate::model::{Component, Model};
use crate::system::System;
use std::path::{Path, PathBuf};

/// Writer of `surface.pvd` and `frames/surface-*.vtu`: one quadrilateral per element with a section.
pub struct Surface<'a> {
    /// Where the series goes, and in which encoding.
    place: (PathBuf, Encoding),
    series: Option<Series>,
    system: &'a System,
    every: u64,
    end: f64,
    strips: Vec<Strip>,
    points: Vec<[f64; 3]>,
    quads: Vec<[u32; 4]>,
    displacement: Vec<f64>,
    /// N, V and M.
    cells: [Vec<f64>; 3],
}

/// One element with a section: where it is, and how high.
struct Strip {
    body: usize,
    element: usize,
    nodes: [usize; 2],
    angle: f64,
    half_height: f64,
}

impl<'a> Surface<'a> {
    /// Frames come every `every` steps and at time `end`.
    pub fn new(
        dir: &Path,
        model: &Model,
        system: &'a System,
        (every, end, encoding): (u64, f64, Encoding),
    ) -> Surface<'a> {
        let mut strips = Vec::new();
        for (body, part) in model.bodies.iter().enumerate() {
            for (element, &nodes) in part.lines.iter().enumerate() {
                let [from, to] = nodes.map(|node| model.places[node]);
                let half_height = part.properties.half_height;
                if half_height > 0.0 {
                    let angle = (to[1] - from[1]).atan2(to[0] - from[0]);
                    strips.push(Strip { body, element, nodes, angle, half_height });
                }
            }
        }
        let count = strips.len();
        Surface {
            place: (dir.to_path_buf(), encoding),
            series: None,
            system,
            every,
            end,
            points: vec![[0.0; 3]; 4 * count],
            quads: (0..count as u32).map(|k| [4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3]).collect(),
            displacement: vec![0.0; 12 * count],
            cells: [0; 3].map(|_| vec![0.0; count]),
            strips,
        }
    }

    fn fill(&mut self, q: &[f64]) {
        let nodes = &self.system.nodes;
        for (k, strip) in self.strips.iter().enumerate() {
            // Around the strip: under the first node, under the second, above it, above the first.
            for (corner, (end, side)) in [(0, -1.0), (1, -1.0), (1, 1.0), (0, 1.0)].into_iter().enumerate() {
                let node = strip.nodes[end];
                let value = |c| nodes.find(node, c).map_or(0.0, |dof| q[dof]);
                let (sine, cosine) = (strip.angle + value(Component::Theta)).sin_cos();
                let (x, y) = (value(Component::X), value(Component::Y));
                let reach = side * strip.half_height;
                let place = nodes.place[node];
                self.points[4 * k + corner] = [place[0] + x - reach * sine, place[1] + y + reach * cosine, 0.0];
                self.displacement[12 * k + 3 * corner..12 * k + 3 * corner + 2].copy_from_slice(&[x, y]);
            }
            let forces = self.system.elements[strip.body].resultants(strip.element, q);
            for (array, value) in self.cells.iter_mut().zip([forces.axial, forces.shear, forces.moment]) {
                array[k] = value;
            }
        }
    }
}

impl Sink for Surface<'_> {
    fn begin(&mut self, saved: Option<&[u8]>) -> Result<()> {
        let mut series = Series::named(&self.place.0, ["surface.pvd", "surface-"], self.place.1)?;
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
        self.fill(&state.q);
        let scalar = |name, values| Array { name, components: 1, values };
        let frame = Frame {
            points: &self.points,
            lines: &[],
            quads: &self.quads,
            vertices: &[],
            point_data: &[Array { name: "displacement", components: 3, values: &self.displacement }],
            cell_data: &[scalar("N", &self.cells[0]), scalar("V", &self.cells[1]), scalar("M", &self.cells[2])],
            field_data: &[("TimeValue", state.time)],
        };
        self.series.as_mut().map_or(Ok(()), |series| series.push(state.time, &frame))
    }

    fn finish(&mut self) -> Result<()> {
        self.save().map(|_| ())
    }
}
