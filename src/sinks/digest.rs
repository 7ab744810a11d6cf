//! What a run comes down to: extremes, contact episodes, solver counts.

use super::{Record, Sink, pack, unpack};
use crate::Result;
use crate::contact::Key;
use crate::contact::solver::SOLVERS;
use crate::la::larger;
use crate::system::System;
use serde::{Deserialize, Serialize};

/// Collects what the summary and the expectations need.
#[derive(Serialize, Deserialize)]
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
    /// One entry per contact of the case.
    pub contacts: Vec<ContactDigest>,
    /// Times that opened contacts closed, over all candidates.
    pub closings: u64,
    /// Candidates that pushed in the last step, in order.
    closed: Vec<Key>,
    closing: Vec<Key>,
    impulses: Vec<f64>,
}

/// Episodes of one contact of the case.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ContactDigest {
    /// Name in the case.
    pub name: String,
    /// Largest force.
    pub peak: f64,
    /// End of the step with the largest force.
    pub peak_time: Option<f64>,
    /// Sum of impulses.
    pub impulse: f64,
    /// Intervals of consecutive steps with impulse.
    pub episodes: Vec<Episode>,
}

/// Consecutive steps with impulse.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Episode {
    /// Start of the first step with impulse.
    pub start: f64,
    /// End of the last step with impulse.
    pub end: f64,
    /// Largest force in it.
    pub peak: f64,
    /// Force (impulse over step size) of every step.
    pub forces: Vec<f64>,
}

impl Episode {
    /// Forces without the first and the last tenth; empty for episodes too short to have a plateau.
    fn inner(&self) -> &[f64] {
        let n = self.forces.len();
        if n < 10 { &[] } else { &self.forces[n / 10..n - n / 10] }
    }

    /// Mean force of the inner part.
    pub fn plateau(&self) -> Option<f64> {
        let inner = self.inner();
        (!inner.is_empty()).then(|| inner.iter().sum::<f64>() / inner.len() as f64)
    }

    /// Standard deviation over mean of the inner part.
    pub fn roughness(&self) -> Option<f64> {
        let mean = self.plateau()?;
        let inner = self.inner();
        let variance = inner.iter().map(|f| (f - mean) * (f - mean)).sum::<f64>() / inner.len() as f64;
        Some(variance.sqrt() / mean)
    }
}

impl ContactDigest {
    /// The episode that lasted longest, of which plateau and release are told.
    pub fn longest(&self) -> Option<&Episode> {
        self.episodes.iter().max_by(|a, b| (a.end - a.start).total_cmp(&(b.end - b.start)))
    }

    /// Worst roughness of any episode that has a plateau.
    pub fn roughness(&self) -> Option<f64> {
        self.episodes.iter().filter_map(Episode::roughness).reduce(f64::max)
    }
}

impl Digest {
    /// For the contacts of a system.
    pub fn new(system: &System) -> Digest {
        let contacts =
            system.contacts.groups.iter().map(|group| ContactDigest { name: group.name.clone(), ..Default::default() });
        Digest {
            steps: 0,
            passes: 0,
            factorizations: 0,
            sweeps: 0,
            complementarity: 0.0,
            penetration: 0.0,
            methods: [0; SOLVERS.len()],
            candidates: 0,
            contacts: contacts.collect(),
            closings: 0,
            closed: Vec::new(),
            closing: Vec::new(),
            impulses: vec![0.0; system.contacts.groups.len()],
        }
    }
}

impl Sink for Digest {
    fn begin(&mut self, saved: Option<&[u8]>) -> Result<()> {
        if let Some(saved) = saved {
            *self = unpack(saved)?;
        }
        Ok(())
    }

    fn save(&mut self) -> Result<Vec<u8>> {
        Ok(pack(self))
    }

    fn record(&mut self, record: &Record) -> Result<()> {
        let attempt = record.attempt;
        let state = &attempt.state;
        self.candidates = self.candidates.max(attempt.scene.candidates.len());
        self.penetration = attempt.gaps.iter().fold(self.penetration, |worst, gap| larger(worst, -gap));
        if record.h == 0.0 {
            return Ok(());
        }
        self.steps += 1;
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
        let begin = state.time - record.h;
        for (contact, &impulse) in self.contacts.iter_mut().zip(&self.impulses) {
            if impulse <= 0.0 {
                continue;
            }
            let force = impulse / record.h;
            if force > contact.peak {
                (contact.peak, contact.peak_time) = (force, Some(state.time));
            }
            contact.impulse += impulse;
            match contact.episodes.last_mut() {
                // The half step is slack for the rounding of instants.
                Some(episode) if begin < episode.end + 0.5 * record.h => {
                    episode.end = state.time;
                    episode.peak = episode.peak.max(force);
                    episode.forces.push(force);
                }
                _ => contact.episodes.push(Episode { start: begin, end: state.time, peak: force, forces: vec![force] }),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roughness_leaves_out_the_ends() {
        let mut forces = vec![300.0; 20];
        (forces[0], forces[1], forces[19]) = (900.0, 0.0, 1.0);
        let episode = Episode { start: 0.0, end: 1.0, peak: 900.0, forces };
        assert_eq!(episode.plateau(), Some(300.0));
        assert_eq!(episode.roughness(), Some(0.0));
        let rough =
            Episode { forces: (0..20).map(|k| if k % 2 == 0 { 1.0 } else { 3.0 }).collect(), ..Default::default() };
        assert_eq!(rough.roughness(), Some(0.5));
        assert_eq!(Episode { forces: vec![1.0; 9], ..Default::default() }.roughness(), None);
    }
}
