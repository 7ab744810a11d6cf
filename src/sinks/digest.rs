//! What a run comes down to: extremes, contact episodes, solver counts.

use super::episodes::ContactDigest;
use super::{Record, Sink, pack, unpack};
use crate::Result;
use crate::la::larger;
use crate::laws::SOLVERS;
use crate::methods::Attempt;
use crate::methods::statics::UnstableBranch;
use crate::state::{Key, State};
use crate::system::System;
use serde::{Deserialize, Serialize};

/// Collects what the summary and the expectations need.
#[derive(Default, Serialize, Deserialize)]
pub struct Digest {
    /// Number of accepted steps.
    pub steps: u64,
    /// Newton passes, factorizations, and sweeps of all steps.
    pub passes: u64,
    /// Factorizations of all steps.
    pub factorizations: u64,
    /// Sweeps of all steps.
    pub sweeps: u64,
    /// Worst scaled complementarity residual.
    pub complementarity: f64,
    /// Deepest penetration, zero or positive.
    pub penetration: f64,
    /// Steps by the method that solved their last contact problem, in the order of [`SOLVERS`].
    pub methods: [u64; SOLVERS.len()],
    /// Largest number of candidates in a step: those of declared nodes and those that searches found near.
    pub candidates: usize,
    /// Equilibria that are not stable, if there were any.
    pub unstable: Option<UnstableBranch>,
    /// One entry per contact of the case.
    pub contacts: Vec<ContactDigest>,
    /// Times that opened contacts closed, over all candidates.
    pub closings: u64,
    /// Largest rotation seen of a beam with a law for small rotations, and its degree of freedom.
    pub turn: (f64, u32),
    /// Candidates that pushed in the last step, in order.
    closed: Vec<Key>,
    closing: Vec<Key>,
    impulses: Vec<f64>,
    /// Rotations that must stay small; found anew when a run goes on.
    #[serde(skip)]
    rotations: Vec<u32>,
    /// Whether the obstacle of a contact has a front alone; not saved, computed again when a run continues.
    #[serde(skip)]
    has_back: Vec<bool>,
}

/// More rotations than this are looked at less often than in every step.
const MOST_ROTATIONS: usize = 1000;

impl Digest {
    /// For the contacts of a system.
    pub fn new(system: &System) -> Digest {
        let contacts = system.contacts.groups.iter().map(|group| ContactDigest::new(&group.name));
        // Exact beams may turn as far as they like.
        let linear = system.elements.iter().map(|element| element.block()).filter(|block| block.linear);
        let dofs = linear.flat_map(|block| block.dofs.iter().copied());
        let mut rotations: Vec<u32> = dofs.filter(|&dof| system.nodes.is_rotation(dof as usize)).collect();
        rotations.sort_unstable();
        rotations.dedup();
        Digest {
            steps: 0,
            passes: 0,
            factorizations: 0,
            sweeps: 0,
            complementarity: 0.0,
            penetration: 0.0,
            methods: [0; SOLVERS.len()],
            candidates: 0,
            unstable: None,
            contacts: contacts.collect(),
            closings: 0,
            turn: (0.0, 0),
            rotations,
            has_back: (0..system.contacts.groups.len()).map(|group| system.contacts.has_back(group)).collect(),
            closed: Vec::new(),
            closing: Vec::new(),
            impulses: vec![0.0; system.contacts.groups.len()],
        }
    }
}

impl Digest {
    /// Takes up nodes that were behind an obstacle before the step and are in front of it now.
    fn note_from_behind(&mut self, from: &State, to: &State) {
        let mut before = from.sides.iter().filter(|stored| stored.side < 0).peekable();
        for now in to.sides.iter().filter(|stored| stored.side > 0) {
            while before.next_if(|stored| stored.key < now.key).is_some() {}
            if before.next_if(|stored| stored.key == now.key).is_none() {
                continue;
            }
            let group = now.key.group as usize;
            let first = &mut self.contacts[group].from_behind;
            if self.has_back[group] && first.is_none() {
                *first = Some((to.time, now.key.node));
            }
        }
    }

    /// Takes up how deep contacts are that can push; where supports carry what an obstacle would, depth means nothing.
    fn measure_depths(&mut self, attempt: &Attempt) {
        for (i, gap) in attempt.gaps.iter().enumerate().filter(|(i, _)| attempt.scene.responds(*i)) {
            let contact = &mut self.contacts[attempt.scene.key(i).group as usize];
            contact.penetration = larger(contact.penetration, -gap);
            self.penetration = larger(self.penetration, -gap);
        }
    }
}

impl Sink for Digest {
    fn begin(&mut self, saved: Option<&[u8]>) -> Result<()> {
        if let Some(saved) = saved {
            let (rotations, has_back) = (std::mem::take(&mut self.rotations), std::mem::take(&mut self.has_back));
            *self = Digest { rotations, has_back, ..unpack(saved)? };
        }
        Ok(())
    }

    fn save(&mut self) -> Result<Vec<u8>> {
        Ok(pack(self))
    }

    fn record(&mut self, record: &Record) -> Result<()> {
        let attempt = record.attempt;
        let state = &attempt.state;
        if attempt.gaps.iter().any(|gap| *gap < 0.0) {
            self.measure_depths(attempt);
        }
        self.candidates = self.candidates.max(attempt.scene.candidates.len());
        if attempt.unstable > 0 {
            let now = UnstableBranch { from: state.time, to: state.time, most: attempt.unstable };
            let before = self.unstable.unwrap_or(now);
            self.unstable = Some(UnstableBranch { to: state.time, most: before.most.max(attempt.unstable), ..before });
        }
        if record.h == 0.0 {
            self.contacts.iter_mut().for_each(|contact| contact.initial_depth = contact.penetration);
            return Ok(());
        }
        if self.has_back.contains(&true) {
            self.note_from_behind(record.from, state);
        }
        self.steps += 1;
        if self.steps.is_multiple_of(1 + (self.rotations.len() / MOST_ROTATIONS) as u64) {
            for &dof in &self.rotations {
                let turn = state.q[dof as usize].abs();
                if turn > self.turn.0 {
                    self.turn = (turn, dof);
                }
            }
        }
        self.passes += attempt.passes as u64;
        self.factorizations += attempt.factorizations as u64;
        self.sweeps += attempt.sweeps as u64;
        // A NaN must not pass for a small number.
        if attempt.complementarity.is_nan() || attempt.complementarity > self.complementarity {
            self.complementarity = attempt.complementarity;
        }
        // Not counted is what no contact asked for.
        if let Some(k) = SOLVERS.iter().position(|(method, ..)| *method == attempt.method) {
            self.methods[k] += 1;
        }
        self.closing.clear();
        self.impulses.fill(0.0);
        let scene = &attempt.scene;
        for i in 0..scene.candidates.len() {
            let impulse = state.impulse[scene.rows_of(i).start];
            if impulse > 0.0 {
                self.closing.push(scene.key(i));
                self.impulses[scene.key(i).group as usize] += impulse;
            }
        }
        self.closing.sort_unstable();
        if self.closing != self.closed {
            let new = self.closing.iter().filter(|key| self.closed.binary_search(key).is_err());
            self.closings += new.count() as u64;
        }
        std::mem::swap(&mut self.closed, &mut self.closing);
        let begin = record.from.time;
        for (contact, &impulse) in self.contacts.iter_mut().zip(&self.impulses) {
            if impulse <= 0.0 {
                continue;
            }
            let force = impulse / record.h;
            if force > contact.peak {
                (contact.peak, contact.peak_time) = (force, Some(state.time));
            }
            contact.impulse += impulse;
            contact.take(begin, state.time, force);
        }
        Ok(())
    }
}
