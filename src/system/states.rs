//! States with room for the unknowns of a system.

use super::System;
use crate::la::Vector;
use crate::state::{Energy, Memory, State, Storage};

impl System {
    /// A state of this system, all zero but for the velocities of obstacles at t = 0; `storage` asks for the filters of
    /// the storage function.
    pub fn state(&self, storage: bool) -> State {
        let n = self.nodes.total;
        let zero = || vec![0.0; n];
        State {
            step: 0,
            time: 0.0,
            h: 0.0,
            q: Vector::zeros(n),
            v: Vector::zeros(n),
            a: Vector::zeros(n),
            impulse: Vec::new(),
            found: Vec::new(),
            sides: Vec::new(),
            force: vec![0.0; self.contacts.len()],
            mean_rate: vec![0.0; self.contacts.len()],
            internal: zero(),
            applied: zero(),
            viscous: zero(),
            reaction: if self.drives.is_empty() { Vec::new() } else { vec![0.0; n - self.nodes.free] },
            obstacle_rates: self.contacts.rates_at(0.0),
            inertia: zero(),
            energy: Energy::default(),
            memory: Memory::default(),
            storage: storage.then(|| Storage {
                z: Vector::zeros(n),
                stiffness_z: zero(),
                damping_x: zero(),
                load: zero(),
                ..Storage::default()
            }),
        }
    }

    /// Displacements and velocities at t = 0, without forces.
    pub fn initial_motion(&self) -> State {
        let (q, v, a) = (self.q0[..].into(), self.v0[..].into(), Vector::zeros(self.nodes.total));
        State { q, v, a, ..State::default() }
    }

    /// A state less its forces and filters, for steps that do not need those of the past; loads and damping stay where
    /// there are any.
    pub fn without_forces(&self, state: State) -> State {
        let only = |wanted: bool, vector: Vec<f64>| if wanted { vector } else { Vec::new() };
        let (loaded, damped) = (self.is_loaded(), self.damped);
        let storage = state.storage.map(|storage| Storage {
            z: Vector::default(),
            stiffness_z: Vec::new(),
            damping_x: only(damped, storage.damping_x),
            load: only(loaded, storage.load),
            ..storage
        });
        let (applied, viscous) = (only(loaded, state.applied), only(damped, state.viscous));
        State { internal: Vec::new(), applied, viscous, inertia: Vec::new(), storage, ..state }
    }
}
