//! `animation.json`: thinned frames of a run, from which the report draws the structure in motion.
//!
//! The file is one JSON document with a frame per line, written as the run goes. Arrays are base64 of little-endian
//! numbers: displacements as 32-bit floats, because the page magnifies them; what only colours the drawing as 16-bit
//! fractions of its range in the frame. The page gets this file as it is, so its layout is known here and in
//! `report/stage.js`.

pub mod recording;
pub mod thin;

use super::frames::extreme_stress;
use super::{Record, Sink, pack, unpack};
use crate::Result;
use crate::elements::Extent;
use crate::files::Growing;
use crate::model::function::Function;
use crate::model::{Body, Component, Contact, Model};
use crate::system::System;
use base64::prelude::{BASE64_STANDARD, Engine};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Frames over a run, the initial state apart.
const FRAMES: u64 = 240;
/// Frames of a model so large that [`VALUES`] allows no more.
const LEAST_FRAMES: u64 = 24;
/// Segments of one body.
const SEGMENTS: usize = 400;
/// Numbers in all frames together; about 8 MB of text.
const VALUES: u64 = 2_000_000;
/// Largest 16-bit fraction.
const FULL: f64 = 65535.0;

/// All but the frames: what is drawn, where it was at rest, and against what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// Version of this layout.
    pub format: u32,
    /// One or two.
    pub dimension: usize,
    /// Length of the model.
    pub length: f64,
    /// Reference places of the nodes that are kept.
    pub places: Vec<[f64; 2]>,
    /// Ends of the segments, as indices into the places.
    pub segments: Vec<[usize; 2]>,
    /// Bodies in the order of the case.
    pub bodies: Vec<Actor>,
    /// Nodes with a held or driven component.
    pub supports: Vec<usize>,
    /// Of each of them whether x, y and the rotation are held or driven; runs of earlier versions do not say.
    #[serde(default)]
    pub held: Vec<[bool; 3]>,
    /// Probes.
    pub probes: Vec<Mark>,
    /// What the structure may touch.
    pub obstacles: Vec<Drawn>,
    /// Names of the fields at nodes.
    pub node_fields: Vec<String>,
    /// Names of the fields on segments, which come after those at nodes.
    pub segment_fields: Vec<String>,
}

/// A body and what of the scene belongs to it, as first and count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Actor {
    /// Name in the case.
    pub name: String,
    /// What its elements are.
    pub element: String,
    /// Whether it joins nodes of others and is drawn as a spring.
    #[serde(default)]
    pub link: bool,
    /// Its nodes.
    pub nodes: [usize; 2],
    /// Its segments.
    pub segments: [usize; 2],
    /// Half the height of its section; zero if unknown.
    pub half_height: f64,
}

/// A named node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Name in the case.
    pub name: String,
    /// Index into the places.
    pub node: usize,
}

/// A rigid thing to be drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drawn {
    /// Name of its contact.
    pub name: String,
    /// Lines with the structure on their left; closed where the last point is the first.
    pub lines: Vec<Vec<[f64; 2]>>,
}

/// One instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Still {
    /// Time.
    pub t: f64,
    /// Displacements, the components of a node together: base64 of 32-bit floats.
    pub u: String,
    /// Every field: least and largest value, and base64 of 16-bit fractions between them.
    pub f: Vec<(f32, f32, String)>,
    /// Node and mean force since the frame before, wherever a contact pushed.
    pub c: Vec<(usize, f32, f32)>,
    /// Displacement of every obstacle, if any of them moves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub o: Vec<[f32; 2]>,
}

/// Writer of `animation.json`.
pub struct Animation<'a> {
    path: PathBuf,
    file: Option<Growing>,
    /// First line of the file.
    opening: String,
    system: &'a System,
    /// Nodes of the model that are kept.
    nodes: Vec<usize>,
    /// Body and lines of every segment.
    segments: Vec<(usize, Vec<usize>)>,
    /// Area and section modulus of every body, for stresses.
    sections: Vec<[f64; 2]>,
    /// Kept node next to every node of the model.
    nearest: Vec<usize>,
    /// Motion of every obstacle that is drawn.
    motions: Vec<Vec<([f64; 2], Function)>>,
    interval: f64,
    end: f64,
    next: f64,
    last: f64,
    /// Impulse on every kept node since the last frame.
    impulse: Vec<[f64; 2]>,
    frames: u64,
}

impl<'a> Animation<'a> {
    /// `end` and `step` are those of the case.
    pub fn new(path: &Path, model: &Model, system: &'a System, (end, step): (f64, f64)) -> Animation<'a> {
        let cast = Cast::new(model);
        let scene = scene(model, &cast);
        let per_node = scene.dimension + scene.node_fields.len();
        let values = cast.nodes.len() * per_node + cast.segments.len() * scene.segment_fields.len();
        let wanted = (VALUES / values.max(1) as u64).clamp(LEAST_FRAMES, FRAMES);
        // A whole number of steps, so that frames are evenly spaced as long as no step is cut.
        let interval = step * (end / step / wanted as f64).round().max(1.0);
        let text = serde_json::to_string(&scene).expect("a scene is plain data");
        Animation {
            path: path.to_path_buf(),
            file: None,
            opening: format!("{{\"scene\":{text},\n\"frames\":["),
            system,
            impulse: vec![[0.0; 2]; cast.nodes.len()],
            nodes: cast.nodes,
            segments: cast.segments,
            nearest: cast.nearest,
            sections: model.bodies.iter().map(section).collect(),
            motions: model
                .contacts
                .iter()
                .filter(|contact| contact.rigid().is_some())
                .map(|contact| contact.motion.clone())
                .collect(),
            interval,
            end,
            next: 0.0,
            last: 0.0,
            frames: 0,
        }
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.file.as_mut().map_or(Ok(()), |file| file.append(text.as_bytes()))
    }

    fn still(&mut self, record: &Record) -> Still {
        let (system, state) = (self.system, &record.attempt.state);
        let components = &[Component::X, Component::Y][..system.nodes.dimension];
        let of_nodes = |component: Component, values: &[f64]| -> Vec<f64> {
            let value = |&node: &usize| system.nodes.find(node, component).map_or(0.0, |dof| values[dof]);
            self.nodes.iter().map(value).collect()
        };
        let displacement: Vec<Vec<f64>> = components.iter().map(|&c| of_nodes(c, &state.q)).collect();
        let mut bytes = Vec::with_capacity(4 * components.len() * self.nodes.len());
        for node in 0..self.nodes.len() {
            displacement.iter().for_each(|values| bytes.extend((values[node] as f32).to_le_bytes()));
        }
        let mut fields: Vec<_> = components.iter().map(|&c| fractions(&of_nodes(c, &state.v))).collect();
        fields.extend(self.section_forces(&state.q).iter().map(|values| fractions(values)));
        let elapsed = state.time - self.last;
        let pushes = self.impulse.iter_mut().enumerate().filter(|(_, p)| **p != [0.0; 2]);
        let contacts = pushes.map(|(node, p)| {
            let [x, y] = std::mem::take(p).map(|impulse| (impulse / elapsed) as f32);
            (node, x, y)
        });
        let c = contacts.collect();
        Still { t: state.time, u: BASE64_STANDARD.encode(bytes), f: fields, c, o: self.shifts(state.time) }
    }

    /// Where obstacles are; nothing if all of them stand still.
    fn shifts(&self, t: f64) -> Vec<[f32; 2]> {
        if self.motions.iter().all(|motion| motion.is_empty()) {
            return Vec::new();
        }
        let shift = |motion: &Vec<([f64; 2], Function)>| {
            let along = |k: usize| motion.iter().map(|(direction, f)| direction[k] * f.value(t)).sum::<f64>() as f32;
            [along(0), along(1)]
        };
        self.motions.iter().map(shift).collect()
    }

    /// Axial force, moment and stress on every segment: of its elements' values the one farthest from zero, so that
    /// thinning hides no peak.
    fn section_forces(&self, q: &[f64]) -> [Vec<f64>; 3] {
        let mut all: [Vec<f64>; 3] = [0; 3].map(|_| vec![0.0; self.segments.len()]);
        for (k, (body, lines)) in self.segments.iter().enumerate() {
            for &line in lines {
                let forces = self.system.elements[*body].resultants(line, q);
                let stress = extreme_stress(&forces, self.sections[*body]);
                for (values, value) in all.iter_mut().zip([forces.axial, forces.moment, stress]) {
                    if value.abs() > values[k].abs() {
                        values[k] = value;
                    }
                }
            }
        }
        all
    }
}

impl Sink for Animation<'_> {
    fn begin(&mut self, saved: Option<&[u8]>) -> Result<()> {
        let length = match saved {
            Some(saved) => {
                let length;
                (length, self.next, self.last, self.impulse, self.frames) = unpack(saved)?;
                Some(length)
            }
            None => None,
        };
        self.file = Some(Growing::open(&self.path, length)?);
        if length.is_none() {
            let opening = std::mem::take(&mut self.opening);
            self.write(&opening)?;
        }
        Ok(())
    }

    fn save(&mut self) -> Result<Vec<u8>> {
        let length = self.file.as_mut().map_or(Ok(0), Growing::sync)?;
        Ok(pack(&(length, self.next, self.last, &self.impulse, self.frames)))
    }

    fn record(&mut self, record: &Record) -> Result<()> {
        let state = &record.attempt.state;
        for candidate in record.attempt.scene.candidates.iter().filter(|_| record.h > 0.0) {
            candidate.each_force(&state.impulse, |node, force| {
                let sum = &mut self.impulse[self.nearest[node]];
                (0..2).for_each(|k| sum[k] += force[k]);
            });
        }
        // The millionth is slack for the rounding of instants.
        if state.time < self.next - 1e-6 * self.interval && state.time < self.end {
            return Ok(());
        }
        let still = serde_json::to_string(&self.still(record)).expect("a frame is plain data");
        let comma = if self.frames == 0 { "" } else { "," };
        self.write(&format!("{comma}\n{still}"))?;
        self.frames += 1;
        self.last = state.time;
        self.next += self.interval;
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.write("\n]}\n")?;
        self.save().map(|_| ())
    }
}

/// Which nodes and lines of a model are shown.
struct Cast {
    nodes: Vec<usize>,
    segments: Vec<(usize, Vec<usize>)>,
    ends: Vec<[usize; 2]>,
    /// First and number of the segments of every body.
    parts: Vec<[usize; 2]>,
    nearest: Vec<usize>,
}

impl Cast {
    fn new(model: &Model) -> Cast {
        let mut keep = vec![false; model.places.len()];
        for &node in model.probes.iter().map(|probe| &probe.node).chain(model.joints.iter().flat_map(|j| &j.nodes)) {
            keep[node] = true;
        }
        // A set of contact nodes or supports as long as the body itself may be thinned like the rest of it.
        let sets = model.contacts.iter().map(|c| &c.nodes).chain(model.supports.iter().map(|s| &s.nodes));
        sets.filter(|nodes| nodes.len() <= SEGMENTS / 4).flatten().for_each(|&node| keep[node] = true);
        for spring in model.bodies.iter().filter(|body| body.nodes.is_empty()) {
            spring.lines.iter().flatten().for_each(|&node| keep[node] = true);
        }
        let mut nearest: Vec<usize> = (0..model.places.len()).collect();
        let (mut segments, mut ends, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        for (index, body) in model.bodies.iter().enumerate() {
            let thinned = thin::thin(&body.lines, SEGMENTS, &|node| keep[node]);
            parts.push([segments.len(), thinned.segments.len()]);
            segments.extend(thinned.lines.into_iter().map(|lines| (index, lines)));
            ends.extend(thinned.segments);
            thinned.dropped.iter().for_each(|&(node, kept)| nearest[node] = kept);
        }
        let nodes: Vec<usize> = (0..nearest.len()).filter(|&node| nearest[node] == node).collect();
        let number = |node: usize| nodes.binary_search(&node).expect("what is nearest is kept");
        let nearest = nearest.iter().map(|&node| number(node)).collect();
        let ends = ends.into_iter().map(|pair| pair.map(number)).collect();
        Cast { nodes, segments, ends, parts, nearest }
    }
}

/// Radius of a point mass, as its contacts see it; zero for other bodies.
fn ball(model: &Model, body: &Body) -> f64 {
    let touches = |contact: &&Contact| contact.all_nodes().any(|node| body.nodes.contains(&node));
    let radii = model.contacts.iter().filter(|_| body.lines.is_empty()).filter(touches).map(|contact| contact.radius);
    radii.fold(0.0, f64::max)
}

fn scene(model: &Model, cast: &Cast) -> Scene {
    let bodies = model.bodies.iter().zip(&cast.parts).map(|(body, &segments)| {
        let first = cast.nodes.partition_point(|&node| node < body.nodes.start);
        let count = cast.nodes.partition_point(|&node| node < body.nodes.end) - first;
        Actor {
            name: body.name.clone(),
            element: body.kind.name.to_string(),
            link: body.kind.extent == Extent::Link,
            nodes: [first, count],
            segments,
            half_height: body.properties.half_height.max(ball(model, body)),
        }
    });
    let mut supports: BTreeMap<usize, [bool; 3]> = BTreeMap::new();
    for support in &model.supports {
        for &node in &support.nodes {
            let held = supports.entry(cast.nearest[node]).or_default();
            let components = support.fix.iter().chain(support.motion.iter().map(|(component, _)| component));
            components.for_each(|&component| held[component as usize] = true);
        }
    }
    let marks = model.probes.iter().map(|probe| Mark { name: probe.name.clone(), node: cast.nearest[probe.node] });
    let window = model.window();
    let obstacles = model.contacts.iter().filter_map(|contact| {
        let lines = contact.rigid()?.outline(&window);
        Some(Drawn { name: contact.name.clone(), lines })
    });
    Scene {
        format: 1,
        dimension: model.dimension,
        length: model.length,
        places: cast.nodes.iter().map(|&node| model.places[node]).collect(),
        segments: cast.ends.clone(),
        bodies: bodies.collect(),
        supports: supports.keys().copied().collect(),
        held: supports.into_values().collect(),
        probes: marks.collect(),
        obstacles: obstacles.collect(),
        node_fields: ["vx", "vy"][..model.dimension].iter().map(|name| name.to_string()).collect(),
        segment_fields: ["N", "M", "stress"].map(String::from).to_vec(),
    }
}

/// Area and section modulus; zero where a body has none.
fn section(body: &Body) -> [f64; 2] {
    body.properties.section.area_and_modulus()
}

/// Least and largest value, and all values as fractions between them; no fractions where all are the same.
fn fractions(values: &[f64]) -> (f32, f32, String) {
    let range = |(low, high): (f32, f32), &value: &f64| (low.min(value as f32), high.max(value as f32));
    let first = values.first().map_or(0.0, |&value| value as f32);
    let (low, high) = values.iter().fold((first, first), range);
    if low == high {
        return (low, high, String::new());
    }
    let (from, span) = (f64::from(low), f64::from(high) - f64::from(low));
    let fraction = |&value: &f64| (((value - from) / span * FULL).round() as u16).to_le_bytes();
    (low, high, BASE64_STANDARD.encode(values.iter().flat_map(fraction).collect::<Vec<u8>>()))
}

impl Scene {
    /// Whether the arrays of a frame have the lengths that this scene asks for; what is wrong otherwise.
    pub fn accepts(&self, still: &Still) -> std::result::Result<(), String> {
        let coded = |bytes: usize| 4 * bytes.div_ceil(3);
        let check = |what: &str, text: &str, entries: usize, bytes: usize| match coded(entries * bytes) {
            wanted if text.len() == wanted => Ok(()),
            wanted => Err(format!("`{what}` has {} characters, but {wanted} are needed", text.len())),
        };
        check("u", &still.u, self.places.len() * self.dimension, 4)?;
        let at_nodes = self.node_fields.iter().map(|name| (name, self.places.len()));
        let on_segments = self.segment_fields.iter().map(|name| (name, self.segments.len()));
        let fields: Vec<_> = at_nodes.chain(on_segments).collect();
        if fields.len() != still.f.len() {
            return Err(format!("{} fields, but {} are needed", still.f.len(), fields.len()));
        }
        for ((name, entries), (low, high, text)) in fields.into_iter().zip(&still.f) {
            // A field that is the same everywhere has no array.
            check(name, text, if low == high { 0 } else { entries }, 2)?;
        }
        match still.c.iter().find(|(node, ..)| *node >= self.places.len()) {
            Some((node, ..)) => Err(format!("a contact at node {node}, but there are {} nodes", self.places.len())),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_span_the_range() {
        let (low, high, text) = fractions(&[-1.0, 3.0, 1.0]);
        assert_eq!((low, high), (-1.0, 3.0));
        // 0, 65535 and, half-way, 32768 as little-endian pairs.
        assert_eq!(BASE64_STANDARD.decode(text).unwrap(), [0, 0, 0xff, 0xff, 0x00, 0x80]);
        assert_eq!(fractions(&[2.5, 2.5]), (2.5, 2.5, String::new()));
        assert_eq!(fractions(&[]), (0.0, 0.0, String::new()));
    }
}
