//! Outlines of the rigid obstacles for ParaView, beside the frames of the structure.

use super::vtk::{Array, Frame, Series};
use super::{Record, Sink, pack, unpack};
use crate::Result;
use crate::case::data::Encoding;
use crate::model::function::Function;
use crate::model::{Contact, Model};
use std::path::{Path, PathBuf};

/// Writer of `obstacles.pvd` and `frames/obstacles-*.vtu`: every outline as lines, in each frame where it is by then; one
/// frame if none of them moves. Models without obstacles have none of these files.
pub struct Obstacles {
    /// Where the series goes, and in which encoding.
    place: (PathBuf, Encoding),
    series: Option<Series>,
    every: u64,
    end: f64,
    outlines: Vec<Outline>,
    moving: bool,
    points: Vec<[f64; 3]>,
    lines: Vec<[u32; 2]>,
    displacement: Vec<f64>,
    /// Number of the contact of each line.
    contact: Vec<f64>,
}

/// The obstacle of a contact: its points among all, and how it moves.
struct Outline {
    points: std::ops::Range<usize>,
    motion: Vec<([f64; 2], Function)>,
}

impl Obstacles {
    /// Frames come every `every` steps and at time `end`; none for a model without obstacles.
    pub fn new(dir: &Path, model: &Model, (every, end, encoding): (u64, f64, Encoding)) -> Option<Obstacles> {
        let window = model.window();
        let (mut points, mut lines, mut contact, mut outlines) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (number, Contact { motion, .. }, obstacle) in
            model.contacts.iter().enumerate().filter_map(|(k, contact)| Some((k, contact, contact.rigid()?)))
        {
            let first = points.len();
            for line in obstacle.outline(&window) {
                let from = points.len() as u32;
                points.extend(line.iter().map(|&[x, y]| [x, y, 0.0]));
                let pieces = from..points.len() as u32 - 1;
                contact.extend(pieces.clone().map(|_| number as f64));
                lines.extend(pieces.map(|k| [k, k + 1]));
            }
            outlines.push(Outline { points: first..points.len(), motion: motion.clone() });
        }
        let moving = outlines.iter().any(|outline| !outline.motion.is_empty());
        let displacement = vec![0.0; 3 * points.len()];
        let place = (dir.to_path_buf(), encoding);
        let some = !points.is_empty();
        let all = Obstacles { place, series: None, every, end, outlines, moving, points, lines, displacement, contact };
        some.then_some(all)
    }
}

impl Sink for Obstacles {
    fn begin(&mut self, saved: Option<&[u8]>) -> Result<()> {
        let mut series = Series::named(&self.place.0, ["obstacles.pvd", "obstacles-"], self.place.1)?;
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
        let due = state.step == 0 || (self.moving && (state.step.is_multiple_of(self.every) || state.time >= self.end));
        if !due {
            return Ok(());
        }
        for Outline { points, motion } in self.outlines.iter().filter(|outline| !outline.motion.is_empty()) {
            let along = |k: usize| motion.iter().map(|(direction, y)| y.value(state.time) * direction[k]).sum::<f64>();
            let shift = [along(0), along(1), 0.0];
            points.clone().for_each(|k| self.displacement[3 * k..3 * k + 3].copy_from_slice(&shift));
        }
        let frame = Frame {
            points: &self.points,
            lines: &self.lines,
            quads: &[],
            vertices: &[],
            point_data: &[Array { name: "displacement", components: 3, values: &self.displacement }],
            cell_data: &[Array { name: "contact", components: 1, values: &self.contact }],
            field_data: &[("TimeValue", state.time)],
        };
        self.series.as_mut().map_or(Ok(()), |series| series.push(state.time, &frame))
    }

    fn finish(&mut self) -> Result<()> {
        self.save().map(|_| ())
    }
}
