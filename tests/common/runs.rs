//! Whole runs through the library, with every step kept.

#[allow(unused_imports, reason = "not every test binary loads by this name")]
pub use super::{load, shipped};
use carom::case::Loaded;
use carom::case::data::Case;
use carom::ledger::Balance;
use carom::march::Arrival;
use carom::model::{Component, Model};
use carom::run::{self, Prepared};
use carom::schemes::SchemeKind;
use carom::sinks::digest::Digest;
use carom::sinks::{Record, Sink};
use carom::state::{Energy, State};

/// One accepted step, or the initial state.
#[derive(Clone, Debug)]
pub struct Step {
    pub time: f64,
    pub h: f64,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub impulse: Vec<f64>,
    pub energy: Energy,
    /// Works of this step alone.
    pub balance: Balance,
    /// Newton passes, factorizations, sweeps and active contacts.
    pub counts: [usize; 4],
    pub complementarity: f64,
}

/// A finished run; step 0 is the initial state.
pub struct Run {
    pub case: Case,
    pub model: Model,
    pub steps: Vec<Step>,
    pub digest: Digest,
    pub arrival: Arrival,
    /// Degrees of freedom of the nodes: x and, in the plane, y.
    dofs: Vec<[usize; 2]>,
}

#[derive(Default)]
struct Recorder(Vec<Step>);

impl Sink for Recorder {
    fn record(&mut self, record: &Record) -> carom::Result<()> {
        let attempt = record.attempt;
        let State { time, q, v, impulse, energy, .. } = &attempt.state;
        self.0.push(Step {
            time: *time,
            h: record.h,
            q: q.to_vec(),
            v: v.to_vec(),
            impulse: impulse.clone(),
            energy: *energy,
            balance: attempt.balance,
            counts: [attempt.passes, attempt.factorizations, attempt.sweeps, attempt.active],
            complementarity: attempt.complementarity,
        });
        Ok(())
    }

    fn finish(&mut self) -> carom::Result<()> {
        Ok(())
    }
}

impl Run {
    /// Place of a node at a step, along one axis.
    pub fn place(&self, step: &Step, node: usize, axis: usize) -> f64 {
        self.model.places[node][axis] + self.displacement(step, node, axis)
    }

    /// Displacement of a node at a step, along one axis.
    pub fn displacement(&self, step: &Step, node: usize, axis: usize) -> f64 {
        step.q[self.dofs[node][axis]]
    }

    /// Velocity of a node at a step, along one axis.
    pub fn velocity(&self, step: &Step, node: usize, axis: usize) -> f64 {
        step.v[self.dofs[node][axis]]
    }

    /// Force of all contacts in each step.
    pub fn force(&self, step: &Step) -> f64 {
        if step.h > 0.0 { step.impulse.iter().sum::<f64>() / step.h } else { 0.0 }
    }

    /// Step during which the instant falls.
    pub fn at(&self, t: f64) -> &Step {
        self.steps.iter().find(|step| step.time >= t).expect("the instant lies within the run")
    }

    pub fn last(&self) -> &Step {
        self.steps.last().expect("a run has steps")
    }
}

/// Runs a case and keeps every step.
pub fn run(loaded: Loaded) -> Run {
    try_run(loaded).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a case that may fail.
pub fn try_run(loaded: Loaded) -> carom::Result<Run> {
    let prepared = run::prepare(&loaded)?;
    let mut recorder = Recorder::default();
    let mut digest = Digest::new(&prepared.system);
    let (arrival, _) = run::march(&loaded.case, &prepared, &mut [&mut recorder, &mut digest])?;
    let Prepared { model, system, .. } = prepared;
    let dof = |node, component| system.nodes.find(node, component).unwrap_or(usize::MAX);
    let dofs = (0..model.places.len()).map(|node| [dof(node, Component::X), dof(node, Component::Y)]).collect();
    Ok(Run { case: loaded.case, model, steps: recorder.0, digest, arrival, dofs })
}

/// The value of `scheme` in a case, with the required keys of the family at a middling value.
pub fn scheme(kind: &SchemeKind) -> String {
    let keys = match kind.name {
        "hht" => ", alpha = 0.1",
        "generalized-alpha" => ", rho_inf = 0.7",
        _ => "",
    };
    format!("{{ name = {:?}{keys} }}", kind.name)
}

/// Schemes of second order on smooth motions, as values of `scheme`.
pub const SECOND_ORDER: &[&str] = &[
    r#"{ name = "moreau-jean", theta = 0.5 }"#,
    r#"{ name = "moreau-jean-dissipative", theta = 0.5 }"#,
    r#"{ name = "newmark", gamma = 0.5, beta = 0.25 }"#,
    r#"{ name = "hht", alpha = 0.05 }"#,
    r#"{ name = "hht", alpha = -0.3 }"#,
    r#"{ name = "generalized-alpha", rho_inf = 0.0 }"#,
    r#"{ name = "generalized-alpha", rho_inf = 0.6 }"#,
    r#"{ name = "generalized-alpha", rho_inf = 0.9 }"#,
    r#"{ name = "generalized-alpha", rho_inf = 1.0 }"#,
    r#"{ name = "central-difference" }"#,
];

/// Schemes of first order, as values of `scheme`.
pub const FIRST_ORDER: &[&str] = &[
    r#"{ name = "moreau-jean", theta = 1.0 }"#,
    r#"{ name = "moreau-jean-dissipative", theta = 1.0 }"#,
    r#"{ name = "newmark", gamma = 1.0, beta = 0.5625 }"#,
];
