//! The motion of a run between its recorded frames, and what colours show of it.

use crate::sinks::animation::recording::Recording;
use crate::sinks::animation::{Scene, Still};
use base64::prelude::{BASE64_STANDARD, Engine};

/// Largest 16-bit fraction.
const FULL: f64 = 65535.0;

/// Share of the frames whose largest value is within the scale of a quantity: one hard impact must not leave every other
/// frame grey.
const SHOWN: f64 = 0.95;

/// What a run did, frame by frame.
pub struct Motion {
    /// What is drawn.
    pub scene: Scene,
    frames: Vec<Frame>,
}

/// One recorded instant.
struct Frame {
    t: f64,
    /// Displacements, the components of a node together.
    u: Vec<f32>,
    fields: Vec<Field>,
    contacts: Vec<(usize, f32, f32)>,
    shifts: Vec<[f32; 2]>,
}

/// A field as fractions between two values; the lower one everywhere if there are none.
struct Field {
    range: [f64; 2],
    fractions: Vec<u16>,
}

/// An instant between two frames, and how far it is from the first to the second.
#[derive(Clone, Copy)]
pub struct Instant {
    frames: [usize; 2],
    share: f64,
}

/// What can be shown in colour.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    /// A field of the frames, by its number.
    Field(usize),
    /// Length of the velocity.
    Speed,
    /// Length of the displacement.
    Way,
}

/// A quantity with the scale of its colours.
pub struct Quantity {
    /// What it is.
    pub name: String,
    /// Whether it has a value on segments; at nodes otherwise.
    pub on_segments: bool,
    /// Whether it can be negative.
    pub signed: bool,
    /// Where the colours end.
    pub most: f64,
    /// Whether there are larger values.
    pub exceeded: bool,
    source: Source,
}

impl Motion {
    /// Decodes frames; an error says which one is damaged.
    pub fn new(recording: Recording) -> Result<Motion, String> {
        let frame = |(k, still): (usize, &Still)| Frame::new(still).map_err(|what| format!("frame {k}: {what}"));
        let frames = recording.frames.iter().enumerate().map(frame).collect::<Result<_, _>>()?;
        Ok(Motion { scene: recording.scene, frames })
    }

    /// Time of the last frame.
    pub fn end(&self) -> f64 {
        self.frames.last().map_or(0.0, |frame| frame.t)
    }

    /// The recorded instants.
    pub fn instants(&self) -> impl Iterator<Item = Instant> {
        (0..self.frames.len()).map(|k| Instant { frames: [k, k], share: 1.0 })
    }

    /// An instant at any time.
    pub fn at(&self, time: f64) -> Instant {
        let next = self.frames.partition_point(|frame| frame.t < time).min(self.frames.len() - 1);
        let last = next.saturating_sub(1);
        let span = self.frames[next].t - self.frames[last].t;
        let share = if span > 0.0 { ((time - self.frames[last].t) / span).clamp(0.0, 1.0) } else { 1.0 };
        Instant { frames: [last, next], share }
    }

    fn mixed(&self, instant: Instant, value: impl Fn(&Frame) -> f64) -> f64 {
        let [a, b] = instant.frames.map(|k| value(&self.frames[k]));
        (1.0 - instant.share) * a + instant.share * b
    }

    /// Displacement of a node.
    fn displacement(&self, instant: Instant, node: usize) -> [f64; 2] {
        let dimension = self.scene.dimension;
        let along = |axis: usize| match axis < dimension {
            true => self.mixed(instant, |frame| f64::from(frame.u[dimension * node + axis])),
            false => 0.0,
        };
        [along(0), along(1)]
    }

    /// Places of all nodes, displacements magnified.
    pub fn places(&self, instant: Instant, magnified: f64) -> Vec<[f64; 2]> {
        let moved = |(node, place): (usize, &[f64; 2])| {
            let u = self.displacement(instant, node);
            [place[0] + magnified * u[0], place[1] + magnified * u[1]]
        };
        self.scene.places.iter().enumerate().map(moved).collect()
    }

    /// Longest displacement of all.
    pub fn longest_way(&self) -> f64 {
        self.instants().map(|instant| self.largest(instant, Source::Way, false)).fold(0.0, f64::max)
    }

    /// How far an obstacle has moved.
    pub fn shift(&self, instant: Instant, obstacle: usize) -> [f64; 2] {
        let along = |axis: usize| {
            self.mixed(instant, |frame| frame.shifts.get(obstacle).map_or(0.0, |shift| f64::from(shift[axis])))
        };
        [along(0), along(1)]
    }

    /// Nodes and the mean forces of contacts on them since the frame before.
    pub fn contacts(&self, instant: Instant) -> &[(usize, f32, f32)] {
        &self.frames[instant.frames[1]].contacts
    }

    /// Value of a quantity at a node or on a segment.
    pub fn value(&self, instant: Instant, quantity: &Quantity, entry: usize) -> f64 {
        self.read(instant, quantity.source, entry)
    }

    fn read(&self, instant: Instant, source: Source, entry: usize) -> f64 {
        let field = |k: usize| self.mixed(instant, |frame| frame.fields[k].value(entry));
        match source {
            Source::Field(k) => field(k),
            Source::Speed => field(0).hypot(field(1)),
            Source::Way => {
                let [x, y] = self.displacement(instant, entry);
                x.hypot(y)
            }
        }
    }

    fn largest(&self, instant: Instant, source: Source, on_segments: bool) -> f64 {
        let count = if on_segments { self.scene.segments.len() } else { self.scene.places.len() };
        (0..count).map(|entry| self.read(instant, source, entry).abs()).fold(0.0, f64::max)
    }

    /// The quantity that tells most: the moment where there is bending, else the first that is not zero throughout.
    pub fn quantity(&self) -> Option<Quantity> {
        let scene = &self.scene;
        let nodes = scene.node_fields.len();
        let field =
            |name: &str| scene.segment_fields.iter().position(|field| field == name).map(|k| Source::Field(nodes + k));
        let velocity = match (scene.dimension, nodes) {
            (2, 2..) => Some(Source::Speed),
            (1, 1..) => Some(Source::Field(0)),
            _ => None,
        };
        let candidates =
            [("moment M", field("M"), true), ("axial force N", field("N"), true), ("velocity", velocity, false)];
        candidates.into_iter().find_map(|(name, source, on_segments)| {
            let source = source?;
            let mut sizes: Vec<f64> =
                self.instants().map(|instant| self.largest(instant, source, on_segments)).collect();
            sizes.sort_by(f64::total_cmp);
            let peak = *sizes.last()?;
            let usual = sizes[(SHOWN * sizes.len() as f64) as usize];
            let most = if usual > 0.0 { usual } else { peak };
            let signed = matches!(source, Source::Field(_));
            (peak > 0.0 && peak.is_finite()).then(|| Quantity {
                name: name.into(),
                on_segments,
                signed,
                most,
                exceeded: peak > most,
                source,
            })
        })
    }

    /// A force that few frames exceed; zero if nothing touches.
    pub fn strong_force(&self) -> f64 {
        let strongest = |frame: &Frame| frame.contacts.iter().map(force).fold(0.0, f64::max);
        let mut peaks: Vec<f64> = self.frames.iter().map(strongest).filter(|peak| *peak > 0.0).collect();
        peaks.sort_by(f64::total_cmp);
        peaks.get((SHOWN * peaks.len() as f64) as usize).copied().unwrap_or(0.0)
    }

    /// Largest number of contact forces in a frame.
    pub fn most_contacts(&self) -> usize {
        self.frames.iter().map(|frame| frame.contacts.len()).max().unwrap_or(0)
    }
}

/// Size of a contact force.
pub fn force(&(_, x, y): &(usize, f32, f32)) -> f64 {
    f64::from(x).hypot(f64::from(y))
}

impl Frame {
    fn new(still: &Still) -> Result<Frame, String> {
        let bytes = |what: &str, text: &str| BASE64_STANDARD.decode(text).map_err(|error| format!("`{what}`: {error}"));
        let u: Vec<f32> = bytes("u", &still.u)?.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
        if u.iter().any(|u| !u.is_finite()) {
            return Err("a displacement is not finite".into());
        }
        let field = |(k, (low, high, text)): (usize, &(f32, f32, String))| {
            let fractions =
                bytes(&format!("f[{k}]"), text)?.as_chunks().0.iter().map(|two| u16::from_le_bytes(*two)).collect();
            Ok(Field { range: [f64::from(*low), f64::from(*high)], fractions })
        };
        let fields = still.f.iter().enumerate().map(field).collect::<Result<_, String>>()?;
        Ok(Frame { t: still.t, u, fields, contacts: still.c.clone(), shifts: still.o.clone() })
    }
}

impl Field {
    fn value(&self, entry: usize) -> f64 {
        let [low, high] = self.range;
        self.fractions.get(entry).map_or(low, |&fraction| low + (high - low) * f64::from(fraction) / FULL)
    }
}
