//! Studies: one case run several times, and the runs side by side.
//!
//! A study is made of variants of a case. Every variant runs by itself, in parallel with the others; one that fails
//! does not stop them. What is written to files holds no wall-clock times, so that the same study gives the same bytes
//! on any number of threads.

pub mod compare;
pub mod converge;
mod first_order;
pub mod known;
pub mod verify;

use crate::case::Loaded;
use crate::case::data::Analysis;
use crate::ledger::Ledger;
use crate::model::{Component, Model};
use crate::norms::{self, Graph};
use crate::run::{self, Prepared};
use crate::sinks::columns::Columns;
use crate::sinks::digest::Digest;
use crate::sinks::{Record, Sink};
use crate::{Error, Result};
use known::Known;
use std::time::Duration;

/// Which node a study follows, and along which axis: `NAME` or `NAME.x`.
#[derive(Clone, Debug, Default)]
pub struct Wish(pub Option<String>);

/// A run of a variant, as far as studies look at it.
pub struct Outcome {
    /// What was recorded at every step.
    pub track: Track,
    /// Counts and contact episodes.
    pub digest: Digest,
    /// Energy at the end.
    pub energy: f64,
    /// Works, and the worst defects.
    pub ledger: Ledger,
    /// Line elements.
    pub elements: usize,
    /// Unknowns.
    pub unknowns: usize,
    /// Time spent in steps.
    pub stepping: Duration,
    /// The exact motion of the node that was followed.
    pub known: Option<Known>,
}

/// Columns of a run that studies draw and measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    /// Instants.
    pub times: Vec<f64>,
    /// Coordinate of the probe.
    pub position: Vec<f64>,
    /// Velocity of the probe.
    pub velocity: Vec<f64>,
    /// Force of all contacts together, the mean over the step that ends there.
    pub force: Vec<f64>,
    /// Kinetic, strain and potential energy together.
    pub energy: Vec<f64>,
}

/// Runs a variant without files.
pub fn run(loaded: &Loaded, wish: &Wish) -> Result<Outcome> {
    if loaded.case.analysis == Analysis::FirstOrder {
        return first_order::run(loaded, wish);
    }
    let prepared = run::prepare(loaded)?;
    run_prepared(loaded, &prepared, wish, &mut [])
}

/// Runs a prepared variant without files; `more` sees every step too.
fn run_prepared(loaded: &Loaded, prepared: &Prepared, wish: &Wish, more: &mut [&mut dyn Sink]) -> Result<Outcome> {
    let Prepared { model, system, .. } = prepared;
    let columns = Columns::new(model, system);
    let (probe, component) = choose(model, wish)?;
    let (name, node) = (&model.probes[probe].name, model.probes[probe].node);
    let label = component.name();
    let find = |column: String| columns.find(&column);
    let (Some(position), Some(velocity)) =
        (find(format!("probe.{name}.{label}")), find(format!("probe.{name}.v{label}")))
    else {
        return Err(Error::Input(format!("probe `{name}` has no component `{label}`")));
    };
    let energy = find("energy".into()).expect("every run has this column");
    let forces = model.contacts.iter().filter_map(|contact| find(format!("contact.{}.force", contact.name)));
    let mut recorder = Recorder {
        picks: [position, velocity, energy],
        forces: forces.collect(),
        columns: &columns,
        values: Vec::new(),
        track: Track::default(),
    };
    let mut digest = Digest::new(system);
    let mut sinks: Vec<&mut dyn Sink> = vec![&mut digest, &mut recorder];
    for sink in more {
        sinks.push(*sink);
    }
    let (arrival, _) = run::march(&loaded.case, prepared, &mut sinks)?;
    drop(sinks);
    Ok(Outcome {
        track: recorder.track,
        digest,
        energy: arrival.state.energy.total(),
        ledger: arrival.ledger,
        elements: model.bodies.iter().map(|body| body.lines.len()).sum(),
        unknowns: system.nodes.free,
        stepping: arrival.stepping,
        known: exact(loaded, model, node, component),
    })
}

/// The probe and component that a wish means. Without one it is the first probe, along the normal of the first contact
/// if that has one for all places, otherwise along x; [`with_axis`] finds a better one.
pub fn choose(model: &Model, wish: &Wish) -> Result<(usize, Component)> {
    let names = || model.probes.iter().map(|probe| probe.name.as_str()).collect::<Vec<_>>();
    if model.probes.is_empty() {
        return Err(Error::Input("a study follows a probe, but the case has none; add a [[probe]]".into()));
    }
    let along = normal(model).map_or(Component::X, larger_part);
    let Some(wish) = &wish.0 else { return Ok((0, along)) };
    let find = |name: &str| model.probes.iter().position(|probe| probe.name == name);
    if let Some(probe) = find(wish) {
        return Ok((probe, along));
    }
    let split = wish.rsplit_once('.').and_then(|(name, part)| Some((find(name)?, Component::find(part)?)));
    split.ok_or_else(|| {
        Error::Usage(format!(
            "there is no probe `{wish}`\n  allowed: {}, each also with .x, .y or .theta",
            names().join(", ")
        ))
    })
}

/// Normal of the first contact, where its obstacle has only one.
fn normal(model: &Model) -> Option<[f64; 2]> {
    model.contacts.first()?.rigid()?.normal()
}

fn larger_part(direction: [f64; 2]) -> Component {
    if direction[1].abs() > direction[0].abs() { Component::Y } else { Component::X }
}

/// A wish with its axis. Where neither the wish nor an obstacle tells it, the case is run once: the axis is that along which
/// the first contact pushes, or, where it never does, that along which the probe moves most.
pub fn with_axis(loaded: &Loaded, wish: &Wish) -> Result<Wish> {
    if loaded.case.analysis == Analysis::FirstOrder {
        return Ok(wish.clone());
    }
    let model = Model::new(&loaded.case, &|name| loaded.path(name))?;
    let (probe, _) = choose(&model, wish)?;
    let name = &model.probes[probe].name;
    let told = wish.0.as_ref().is_some_and(|text| text != name);
    if told || model.dimension == 1 || normal(&model).is_some() {
        return Ok(wish.clone());
    }
    // A case that cannot run is told by the study, in its table.
    let Ok(prepared) = run::prepare(loaded) else { return Ok(wish.clone()) };
    let nodes = &prepared.system.nodes;
    let axes = [Component::X, Component::Y].map(|component| nodes.find(model.probes[probe].node, component));
    let mut directions = Directions { axes, pushed: [0.0; 2], low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2] };
    // A run that fails has been seen up to there; the study itself says why it failed.
    let _ = run::march(&loaded.case, &prepared, &mut [&mut directions]);
    Ok(Wish(Some(format!("{name}.{}", larger_part(directions.largest()).name()))))
}

/// Watches along which axis the first contact pushes and the probe moves.
struct Directions {
    /// Unknowns of the probe; an axis without one does not move.
    axes: [Option<usize>; 2],
    /// Sum of the impulses of the first contact along each axis, without their signs.
    pushed: [f64; 2],
    low: [f64; 2],
    high: [f64; 2],
}

impl Directions {
    fn largest(&self) -> [f64; 2] {
        let moved = [0, 1].map(|k| if self.axes[k].is_some() { self.high[k] - self.low[k] } else { 0.0 });
        if self.pushed == [0.0; 2] { moved } else { self.pushed }
    }
}

impl Sink for Directions {
    fn record(&mut self, record: &Record) -> Result<()> {
        let (state, scene) = (&record.attempt.state, &record.attempt.scene);
        for k in 0..2 {
            let place = self.axes[k].map_or(0.0, |dof| state.q[dof]);
            (self.low[k], self.high[k]) = (self.low[k].min(place), self.high[k].max(place));
        }
        if record.h > 0.0 {
            for (i, candidate) in scene.candidates.iter().enumerate().filter(|(_, c)| c.key.group == 0) {
                let impulse = state.impulse[scene.rows_of(i).start];
                (0..2).for_each(|k| self.pushed[k] += impulse * candidate.normal[k].abs());
            }
        }
        Ok(())
    }
}

/// Keeps the columns of a [`Track`].
struct Recorder<'a> {
    columns: &'a Columns,
    /// Position, velocity and energy.
    picks: [usize; 3],
    forces: Vec<usize>,
    values: Vec<f64>,
    track: Track,
}

impl Sink for Recorder<'_> {
    fn record(&mut self, record: &Record) -> Result<()> {
        self.columns.fill(record, &mut self.values);
        let [position, velocity, energy] = self.picks.map(|k| self.values[k]);
        let track = &mut self.track;
        track.times.push(record.attempt.state.time);
        track.position.push(position);
        track.velocity.push(velocity);
        track.energy.push(energy);
        track.force.push(self.forces.iter().map(|&k| self.values[k]).sum());
        Ok(())
    }
}

/// What runs are measured against: position and velocity of the probe over time, also as graphs.
pub struct Reference<'a> {
    position: Box<dyn Fn(f64) -> f64 + Sync + 'a>,
    velocity: Box<dyn Fn(f64) -> f64 + Sync + 'a>,
    graphs: [Graph; 2],
}

/// Error norms of a position or a velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Relative L1.
    pub l1: f64,
    /// Grid L2.
    pub l2: f64,
    /// Largest at an instant.
    pub max: f64,
    /// Hausdorff distance of the graphs.
    pub graph: f64,
}

impl Errors {
    /// Names of the norms, in the order of [`Errors::all`].
    pub const NAMES: [&'static str; 4] = ["l1", "l2", "max", "graph"];

    /// All norms.
    pub fn all(&self) -> [f64; 4] {
        [self.l1, self.l2, self.max, self.graph]
    }
}

/// Chords of the exact graph are right to this part of its largest value.
const CHORD: f64 = 1e-8;

impl<'a> Reference<'a> {
    /// The exact motion, until time `end`.
    pub fn exact(known: &'a Known, end: f64) -> Reference<'a> {
        Reference {
            graphs: [graph_of(&known.position, end, CHORD), graph_of(&known.velocity, end, CHORD)],
            position: Box::new(|t| (known.position)(t)),
            velocity: Box::new(|t| (known.velocity)(t)),
        }
    }

    /// Another run, straight between its instants.
    pub fn run(track: &'a Track) -> Reference<'a> {
        let rows = |values: &[f64]| -> Vec<[f64; 2]> {
            track.times.iter().copied().zip(values.iter().copied()).map(Into::into).collect()
        };
        let (position, velocity) = (rows(&track.position), rows(&track.velocity));
        Reference {
            position: Box::new(move |t| crate::table::interpolate(&position, t)),
            velocity: Box::new(move |t| crate::table::interpolate(&velocity, t)),
            graphs: graphs(track),
        }
    }

    /// Errors of a run's position and velocity.
    pub fn errors(&self, track: &Track) -> [Errors; 2] {
        let [position, velocity] = graphs(track);
        let measure = |values: &[f64], f: &dyn Fn(f64) -> f64, graph: &Graph, reference: &Graph| {
            let exact: Vec<f64> = track.times.iter().map(|&t| f(t)).collect();
            Errors {
                l1: norms::relative_l1(values, &exact),
                l2: norms::grid_l2(&track.times, values, &exact),
                max: norms::max(values, &exact),
                graph: graph.distance(reference),
            }
        };
        [
            measure(&track.position, &self.position, &position, &self.graphs[0]),
            measure(&track.velocity, &self.velocity, &velocity, &self.graphs[1]),
        ]
    }
}

/// The graph of a function until `end`, with chords right to `share` of its largest value.
fn graph_of(f: &dyn Fn(f64) -> f64, end: f64, share: f64) -> Graph {
    // More than the waves and impacts that anyone looks at in one picture; each is then refined by itself.
    let cells = 1024;
    let size = (0..=cells).map(|k| f(end * k as f64 / cells as f64).abs()).fold(0.0, f64::max);
    Graph::of(f, end, cells, share * size)
}

/// Position straight between instants, velocity a staircase.
fn graphs(track: &Track) -> [Graph; 2] {
    [Graph::polyline(&track.times, &track.position), Graph::staircase(&track.times, &track.velocity)]
}

/// What the runs of a study are measured against, before they run: the column that is followed, and the exact motion
/// where one is known. A wish that cannot be met is an error here, once, and not in every run.
pub fn prospect(loaded: &Loaded, wish: &Wish) -> Result<(String, Option<Known>)> {
    if loaded.case.analysis == Analysis::FirstOrder {
        return first_order::prospect(loaded, wish);
    }
    let model = Model::new(&loaded.case, &|name| loaded.path(name))?;
    let (probe, component) = choose(&model, wish)?;
    let probe = &model.probes[probe];
    let column = format!("probe.{}.{}", probe.name, component.name());
    Ok((column, exact(loaded, &model, probe.node, component)))
}

fn exact(loaded: &Loaded, model: &Model, node: usize, component: Component) -> Option<Known> {
    (component == Component::X).then(|| known::known(&loaded.case, model, node)).flatten()
}

/// A number in a CSV file: all its digits, or nothing.
fn cell(value: f64) -> String {
    if value.is_finite() { format!("{value:.16e}") } else { String::new() }
}

/// The first line of an error, for a table.
fn first_line(error: &Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_string()
}
