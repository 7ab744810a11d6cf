//! All that the next step needs, as plain data that can be saved and restored.

use crate::la::Vector;
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
    /// Size of the step that led here; zero at the start.
    pub h: f64,
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
    /// On which side of what it may touch a node was in the last step, in the order of keys.
    pub sides: Vec<StoredSide>,
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
    /// What else the method must know of the past.
    pub memory: Memory,
}

/// What a method must know of the past beyond motion and forces at an instant; most need nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Memory {
    /// Nothing: the next step depends on this instant alone.
    #[default]
    OneStep,
    /// The last increment of positions, and the mean velocity of the step before: a two-step scheme. The increment is kept, not
    /// the place before, because differences of places lose digits.
    TwoStep {
        /// q − q₋.
        increment: Vector,
        /// The velocity that the scheme weighs as the old one.
        velocity: Vector,
    },
    /// Which contacts are kept closed, and which have just left or been left, so that a gap of round-off is none.
    ClosedContacts {
        /// Contacts whose gap stays closed, by their number among the candidates.
        closed: Vec<u32>,
        /// Contacts that have not yet been open since they pressed.
        fresh: Vec<u32>,
    },
}

/// Who touches what: the same from step to step, and the order of candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// Contact of the case.
    pub group: u32,
    /// The node that touches.
    pub node: u32,
    /// What it touches, as its search numbers it.
    pub feature: u32,
}

/// The side of one node at a surface with two sides or with an end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredSide {
    /// Contact and node; the feature is the number of the chain of segments, zero at a rigid obstacle.
    pub key: Key,
    /// At a chain 1 on its left and −1 on its right, zero while that is undecided; at an obstacle 1 in front of it, or held behind
    /// it, and −1 behind it without being held.
    pub side: i8,
    /// Length within which the node is behind the surface at the end of the step.
    pub depth: f64,
}

impl State {
    /// Overwrites this state with another, in the memory that it has.
    pub fn copy_from(&mut self, other: &State) {
        let copy = |to: &mut Vector, from: &Vector| {
            if to.len() == from.len() {
                to.copy_from_slice(from);
            } else {
                *to = from.clone();
            }
        };
        copy(&mut self.q, &other.q);
        copy(&mut self.v, &other.v);
        copy(&mut self.a, &other.a);
        (self.step, self.time, self.h, self.energy) = (other.step, other.time, other.h, other.energy);
        for (to, from) in [
            (&mut self.impulse, &other.impulse),
            (&mut self.force, &other.force),
            (&mut self.mean_rate, &other.mean_rate),
            (&mut self.internal, &other.internal),
            (&mut self.applied, &other.applied),
            (&mut self.viscous, &other.viscous),
            (&mut self.reaction, &other.reaction),
            (&mut self.inertia, &other.inertia),
        ] {
            to.clone_from(from);
        }
        self.found.clone_from(&other.found);
        self.sides.clone_from(&other.sides);
        self.obstacle_rates.clone_from(&other.obstacle_rates);
        self.storage.clone_from(&other.storage);
        self.memory.clone_from(&other.memory);
    }
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
