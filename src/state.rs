//! All that the next step needs, as plain data that can be saved and restored.

use crate::contact::Key;
use crate::la::Vector;
use crate::system::System;
use serde::{Deserialize, Serialize};

/// Motion and forces at one instant.
///
/// Forces, energies and filters are functions of the past that a step would otherwise compute again; forces are absent,
/// empty, where it does not need them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Number of accepted steps.
    pub step: u64,
    /// Time.
    pub time: f64,
    /// Displacement from the reference configuration.
    pub q: Vector,
    /// Velocity; of a massless degree of freedom the mean of the last step.
    pub v: Vector,
    /// Algorithmic acceleration; it carries no contact force but that on massless nodes.
    pub a: Vector,
    /// Impulse of every contact row in the last step: normal, and tangential where there is friction.
    pub impulse: Vec<f64>,
    /// Contact candidates that the search of the last step found, with their rows.
    pub found: Vec<(Key, u32)>,
    /// Force of every contact candidate at this instant, in analyses where contact is a force.
    pub force: Vec<f64>,
    /// Mean rate of the gap of every contact candidate over the last step, for the mid-velocity law.
    pub mean_rate: Vec<f64>,
    /// Internal force at q.
    pub internal: Vec<f64>,
    /// Applied load, gravity apart.
    pub applied: Vec<f64>,
    /// Damping force at q and at the velocity of (T1), also where that of a massless node has been reset.
    pub viscous: Vec<f64>,
    /// Reactions of held degrees of freedom where some of them are driven: at this instant if the scheme carries
    /// accelerations, else the mean of the last step.
    pub reaction: Vec<f64>,
    /// Velocity of the obstacle of every contact with which the last step ended and the next begins, where one moves.
    pub obstacle_rates: Vec<[f64; 2]>,
    /// M a, where steps ask for it; a state that was read from a file has none.
    #[serde(skip)]
    pub inertia: Vec<f64>,
    /// Energies at this instant.
    pub energy: Energy,
    /// Filters and value of the storage function, where the scheme has one.
    pub storage: Option<Storage>,
}

/// Energies at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// ½ vᵀM v.
    pub kinetic: f64,
    /// From element strains.
    pub strain: f64,
    /// −(gravity force)·(displacement from the reference configuration).
    pub potential: f64,
}

impl Energy {
    /// Kinetic, strain and potential together.
    pub fn total(&self) -> f64 {
        self.kinetic + self.strain + self.potential
    }
}

/// Memory of the storage function ℋ, (T20)–(T22).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Storage {
    /// Value of ℋ for the step size that led here.
    pub value: f64,
    /// That step size.
    pub h: f64,
    /// ‖a‖²_M, which turns ℋ of one step size into that of another.
    pub inertia: f64,
    /// v·M a.
    pub power: f64,
    /// Growth of ℋ in the last step beyond the work of loads, gravity and damping.
    pub growth: f64,
    /// ‖z‖²_K, z the filter of the displacement increments.
    pub filter: f64,
    /// That filter.
    pub z: Vector,
    /// K z.
    pub stiffness_z: Vec<f64>,
    /// C x, x the filter of the velocity increments.
    pub damping_x: Vec<f64>,
    /// Filter y of the load increments.
    pub load: Vec<f64>,
}

impl State {
    /// The same without forces and filters, for steps that do not need those of the past; loads and damping stay where
    /// there are any.
    pub fn without_forces(self, system: &System) -> State {
        let only = |wanted: bool, vector: Vec<f64>| if wanted { vector } else { Vec::new() };
        let (loaded, damped) = (system.is_loaded(), system.damped);
        let storage = self.storage.map(|storage| Storage {
            z: Vector::default(),
            stiffness_z: Vec::new(),
            damping_x: only(damped, storage.damping_x),
            load: only(loaded, storage.load),
            ..storage
        });
        let (applied, viscous) = (only(loaded, self.applied), only(damped, self.viscous));
        State { internal: Vec::new(), applied, viscous, inertia: Vec::new(), storage, ..self }
    }

    /// A state of the right size, all zero; `storage` asks for the filters.
    pub fn zeros(system: &System, storage: bool) -> State {
        let n = system.nodes.total;
        let zero = || vec![0.0; n];
        State {
            step: 0,
            time: 0.0,
            q: Vector::zeros(n),
            v: Vector::zeros(n),
            a: Vector::zeros(n),
            impulse: Vec::new(),
            found: Vec::new(),
            force: vec![0.0; system.contacts.len()],
            mean_rate: vec![0.0; system.contacts.len()],
            internal: zero(),
            applied: zero(),
            viscous: zero(),
            reaction: if system.drives.is_empty() { Vec::new() } else { vec![0.0; n - system.nodes.free] },
            obstacle_rates: system.contacts.rates_at(0.0),
            inertia: zero(),
            energy: Energy::default(),
            storage: storage.then(|| Storage {
                value: 0.0,
                h: 0.0,
                inertia: 0.0,
                power: 0.0,
                growth: 0.0,
                filter: 0.0,
                z: Vector::zeros(n),
                stiffness_z: zero(),
                damping_x: zero(),
                load: zero(),
            }),
        }
    }
}
