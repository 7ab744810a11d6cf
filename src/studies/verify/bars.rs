//! Bars: the impact, the bounces under gravity, the free wave.

use super::{Criterion, Part, Plan, Row, SCHEMES, Scheme, shipped, watch};
use crate::Result;
use crate::exact::{BouncingBar, FreeBar, ImpactingBar};
use crate::model::{Component, Model};
use crate::plot::{Axis, Curve};
use crate::sinks::{Record, Sink};
use crate::system::System;
use std::f64::consts::PI;

pub(super) fn plans() -> Vec<Plan> {
    vec![
        Plan::schemes(
            "Bar hits a wall",
            "`cases/impacting-bar.toml`, 200 elements, h = 2e-3. Exact: `exact::ImpactingBar`, force 300 from t = ½ to 7/6. \
             Errors: relative L1 over all nodes and steps; a mesh has a front of a few elements with a tail of ripples, \
             and schemes of first order smear it over a fifth of the bar. Release: late or early by this many steps.",
            impacting,
        )
        .figure("impacting-bar", [Axis::linear("time"), Axis::linear("contact force")]),
        Plan::schemes(
            "Bar bounces under gravity",
            "`cases/bouncing-bar.toml` over a period, two contacts. Exact: `exact::BouncingBar`. Impulses are relative to the \
             exact 800/3 of each contact.",
            bouncing,
        ),
        Plan::schemes(
            "Wave in a free bar",
            "`cases/free-bar.toml`, a pulse with kinks in its velocity. Exact: d'Alembert (`exact::FreeBar`). Largest errors \
             over the bar, of the height of the pulse and of its largest velocity, after an eighth of a period and after a \
             whole one, when first order has damped the wave away.",
            free,
        ),
        siconos(),
    ]
}

const IMPACTING: ImpactingBar =
    ImpactingBar { young: 900.0, density: 1.0, area: 1.0, length: 10.0, gap: 5.0, speed: 10.0 };
const BOUNCING: BouncingBar =
    BouncingBar { young: 900.0, density: 1.0, area: 1.0, length: 10.0, gravity: 10.0, round_trips: 3 };

/// Exact place and velocity of a section, counted from the near end, at a time.
type Field = dyn Fn(f64, f64) -> [f64; 2];

/// Sums of |run − exact| and of |exact| over all nodes and steps, for places and velocities.
struct Compared<'a> {
    /// Distance from the first node, place and degree of freedom of every node.
    nodes: Vec<(f64, f64, usize)>,
    exact: &'a Field,
    errors: [f64; 2],
    sizes: [f64; 2],
    /// Largest errors in displacement and velocity at the first step that ends at these times.
    instants: Vec<(f64, Option<[f64; 2]>)>,
}

impl<'a> Compared<'a> {
    fn new(loaded: &crate::case::Loaded, exact: &'a Field, instants: &[f64]) -> Result<Compared<'a>> {
        let model = Model::new(&loaded.case, &|name| name.into())?;
        let system = System::assemble(&model)?;
        let dof = |node| system.nodes.find(node, Component::X).expect("a bar moves along its axis");
        let first = model.places[0][0];
        let nodes = (0..model.places.len()).map(|k| (model.places[k][0] - first, model.places[k][0], dof(k))).collect();
        let instants = instants.iter().map(|&t| (t, None)).collect();
        Ok(Compared { nodes, exact, errors: [0.0; 2], sizes: [0.0; 2], instants })
    }

    fn l1(&self, part: usize) -> f64 {
        self.errors[part] / self.sizes[part]
    }
}

impl Sink for Compared<'_> {
    fn record(&mut self, record: &Record) -> Result<()> {
        let state = &record.attempt.state;
        let mut worst = [0.0_f64; 2];
        for &(x, place, dof) in &self.nodes {
            let exact = (self.exact)(x, state.time);
            let run = [place + state.q[dof], state.v[dof]];
            for k in 0..2 {
                let error = (run[k] - exact[k]).abs();
                self.errors[k] += error;
                self.sizes[k] += exact[k].abs();
                worst[k] = worst[k].max(error);
            }
        }
        for (t, errors) in &mut self.instants {
            if errors.is_none() && state.time >= *t {
                *errors = Some(worst);
            }
        }
        Ok(())
    }
}

/// The shipped case with a scheme; an explicit one gets a step that it can stand.
fn with_scheme(name: &str, scheme: &Scheme) -> Result<crate::case::Loaded> {
    let mut set = vec![scheme.set()];
    if scheme.explicit() && name != "free-bar" {
        set.push("time.step=9e-4".into());
    }
    shipped(name, &set)
}

fn impacting(scheme: &'static Scheme) -> Result<Part> {
    let loaded = with_scheme("impacting-bar", scheme)?;
    let exact = |x: f64, t: f64| [IMPACTING.position(x, t), IMPACTING.velocity(x, t)];
    let mut compared = Compared::new(&loaded, &exact, &[])?;
    let watched = watch(&loaded, None, &mut compared)?;
    let episode = watched.outcome.digest.contacts[0].longest();
    let late = episode.map_or(f64::NAN, |e| (e.end - IMPACTING.release()).abs() / loaded.case.time.step);
    let plateau = episode.and_then(|e| e.plateau()).unwrap_or(f64::NAN);
    let second = scheme.order == 2;
    let row = |quantity, measured, criterion| Row::new(scheme.label, quantity, measured, criterion);
    let mut rows = vec![
        row("position, L1", compared.l1(0), Criterion::Below(if second { 0.015 } else { 0.05 })),
        row("velocity, L1", compared.l1(1), Criterion::Below(0.08)),
        row("plateau", plateau, Criterion::Near(IMPACTING.contact_force(1.0), 0.6)),
        row("release, steps", late, Criterion::Below(5.0)),
    ];
    rows.extend(watched.identities(scheme));
    let mut curves = Vec::new();
    if ["Moreau–Jean θ=1", "generalized-α 0.6"].contains(&scheme.label) {
        let track = &watched.outcome.track;
        let points = track.times.iter().zip(&track.force).map(|(&t, &f)| [t, f]).collect();
        curves.push(Curve::new(scheme.label, points));
    }
    if scheme.label == SCHEMES[SCHEMES.len() - 1].label {
        let (touch, release, force) = (IMPACTING.touch(), IMPACTING.release(), IMPACTING.contact_force(1.0));
        let corners = [[0.0, 0.0], [touch, 0.0], [touch, force], [release, force], [release, 0.0], [3.0, 0.0]];
        curves.push(Curve { color: None, dashed: true, ..Curve::new("exact", corners.to_vec()) });
    }
    Ok(Part { rows, curves })
}

/// Sums the impulses of all contacts within windows.
struct Impulses {
    windows: [[f64; 2]; 2],
    sums: [f64; 2],
}

impl Sink for Impulses {
    fn record(&mut self, record: &Record) -> Result<()> {
        let state = &record.attempt.state;
        for (window, sum) in self.windows.iter().zip(&mut self.sums) {
            if (window[0]..window[1]).contains(&state.time) {
                *sum += state.impulse.iter().sum::<f64>();
            }
        }
        Ok(())
    }
}

/// Both of two sinks.
struct Both<'a>(&'a mut dyn Sink, &'a mut dyn Sink);

impl Sink for Both<'_> {
    fn record(&mut self, record: &Record) -> Result<()> {
        self.0.record(record)?;
        self.1.record(record)
    }
}

fn bouncing(scheme: &'static Scheme) -> Result<Part> {
    let loaded = with_scheme("bouncing-bar", scheme)?;
    let exact = |x: f64, t: f64| [BOUNCING.position(x, t), BOUNCING.velocity(x, t)];
    let mut compared = Compared::new(&loaded, &exact, &[])?;
    let windows = BOUNCING.contacts().map(|[touch, release]| [touch - 0.3, release + 0.3]);
    let mut impulses = Impulses { windows, sums: [0.0; 2] };
    let watched = watch(&loaded, None, &mut Both(&mut compared, &mut impulses))?;
    let [touch, second] = BOUNCING.contacts().map(|[touch, _]| BOUNCING.contact_force(touch));
    let wanted = 0.5 * (touch + second) * BOUNCING.contact_time();
    let smooth = scheme.order == 2;
    // The second contact meets what scheme and mesh left of the vibration and the speed.
    let limits = if smooth { [0.015, 0.015] } else { [0.025, 0.11] };
    let row = |quantity, measured, criterion| Row::new(scheme.label, quantity, measured, criterion);
    let mut rows = vec![
        row("position, L1", compared.l1(0), Criterion::Below(if smooth { 0.015 } else { 0.08 })),
        row("impulse 1", impulses.sums[0] / wanted, Criterion::Near(1.0, limits[0])),
        row("impulse 2", impulses.sums[1] / wanted, Criterion::Near(1.0, limits[1])),
    ];
    rows.extend(watched.identities(scheme));
    Ok(Part { rows, curves: Vec::new() })
}

fn free(scheme: &'static Scheme) -> Result<Part> {
    let loaded = with_scheme("free-bar", scheme)?;
    let (amplitude, centre, width) = (0.1, 3.0, 1.0);
    let phase = move |x: f64| PI * (x - centre) / width;
    let wave = FreeBar {
        young: 100.0,
        density: 1.0,
        area: 1.0,
        length: 10.0,
        shape: move |x: f64| if phase(x).abs() < PI { 0.5 * amplitude * (1.0 + phase(x).cos()) } else { 0.0 },
        slope: move |x: f64| {
            if phase(x).abs() < PI { -0.5 * amplitude * PI / width * phase(x).sin() } else { 0.0 }
        },
    };
    let exact = move |x: f64, t: f64| [x + wave.displacement(x, t), wave.velocity(x, t)];
    let mut compared = Compared::new(&loaded, &exact, &[0.25, 2.0])?;
    let watched = watch(&loaded, None, &mut compared)?;
    let top = wave.wave_speed() * PI * amplitude / (4.0 * width);
    let names = [["position at ¼", "velocity at ¼"], ["position at 2", "velocity at 2"]];
    let limits = if scheme.order == 2 { [[0.01, 0.12], [0.035, 0.35]] } else { [[0.08, 0.6], [0.55, 0.05]] };
    let mut rows = Vec::new();
    for (k, (_, errors)) in compared.instants.iter().enumerate() {
        let errors = errors.unwrap_or([f64::NAN; 2]);
        for (part, size) in [amplitude, top].into_iter().enumerate() {
            let criterion = Criterion::Below(limits[k][part]);
            rows.push(Row::new(scheme.label, names[k][part], errors[part] / size, criterion));
        }
    }
    rows.extend(watched.identities(scheme));
    Ok(Part { rows, curves: Vec::new() })
}

/// The one run for which other programs gave a number.
fn siconos() -> Plan {
    let job = || {
        let loaded = shipped("impacting-bar", &[SCHEMES[0].set()])?;
        let watched = watch(&loaded, None, &mut super::Nobody)?;
        let row = Row::new(SCHEMES[0].label, "energy at 3", watched.outcome.energy, Criterion::Near(498.3354, 5e-5));
        Ok(Part { rows: vec![row], curves: Vec::new() })
    };
    Plan {
        title: "Bar hits a wall, other programs",
        text: "`cases/impacting-bar.toml` with Moreau–Jean θ = ½. Reference: 498.3354 from Siconos 4.4.0 and from an \
               independent code.",
        figure: None,
        jobs: vec![(SCHEMES[0].label.into(), Box::new(job))],
    }
}
