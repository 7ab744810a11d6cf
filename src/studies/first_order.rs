//! First-order systems in studies: a state stands for the position, its rate for the velocity, the first multiplier for the
//! force, the storage for the energy.

use super::known::Known;
use super::{Outcome, Track, Wish};
use crate::case::Loaded;
use crate::first_order::files::{prepare, watch};
use crate::first_order::record::{Reader, Row, names};
use crate::first_order::system::System;
use crate::ledger::{Balance, Ledger};
use crate::sinks::digest::Digest;
use crate::{Error, Result};

/// The column that is followed, and its exact values where the case states them.
pub fn prospect(loaded: &Loaded, wish: &Wish) -> Result<(String, Option<Known>)> {
    let system = prepare(loaded)?;
    let state = choose(&system, wish)?;
    Ok((format!("state.{}", system.states[state]), known(&system, state)))
}

/// The state that a wish means: the first one with an exact solution, or the first, unless it names one.
fn choose(system: &System, wish: &Wish) -> Result<usize> {
    let Some(name) = &wish.0 else {
        return Ok(system.exact.iter().position(Option::is_some).unwrap_or(0));
    };
    let found = system.states.iter().position(|state| state == name);
    found.ok_or_else(|| Error::Usage(format!("there is no state `{name}`\n  allowed: {}", system.states.join(", "))))
}

fn known(system: &System, state: usize) -> Option<Known> {
    let exact = system.exact[state].clone()?;
    let slope = exact.clone();
    Some(Known {
        problem: "stated in the case",
        position: Box::new(move |t| exact.value(&[t])),
        velocity: Box::new(move |t| slope.jet(&[t], 0)[1]),
        force: None,
    })
}

/// Runs a variant without files.
pub fn run(loaded: &Loaded, wish: &Wish) -> Result<Outcome> {
    let system = prepare(loaded)?;
    let state = choose(&system, wish)?;
    let columns = names(&system);
    let find = |name: String| columns.iter().position(|column| *column == name);
    let law = system.laws.first().and_then(|law| find(format!("law.{law}.u")));
    let picks = [find(format!("state.{}", system.states[state])), law, find("storage".into())];
    let mut recorder = Recorder { picks, track: Track::default() };
    let (system, course, stepping) = watch(loaded, &mut recorder)?;
    let sum = Balance { contact: course.sum.law, scheme: course.sum.scheme, ..Balance::default() };
    let ledger = Ledger {
        sum,
        worst_step: course.worst[0],
        worst_sum: course.worst[1],
        scale: course.scale,
        ..Ledger::default()
    };
    let mut digest = Digest::default();
    (digest.steps, digest.passes) = (course.step, course.all_passes);
    Ok(Outcome {
        track: recorder.finished(),
        digest,
        energy: if system.stores() { course.point.stored } else { f64::NAN },
        ledger,
        elements: 0,
        unknowns: system.size(),
        stepping,
        known: known(&system, state),
    })
}

struct Recorder {
    /// Columns of state, multiplier and storage.
    picks: [Option<usize>; 3],
    track: Track,
}

impl Reader for Recorder {
    fn take(&mut self, row: &Row) -> Result<()> {
        let [x, force, energy] = self.picks.map(|pick| pick.map_or(0.0, |k| row.values[k]));
        self.track.times.push(row.time);
        self.track.position.push(x);
        self.track.force.push(force);
        self.track.energy.push(if energy.is_nan() { 0.0 } else { energy });
        Ok(())
    }
}

impl Recorder {
    /// The track with rates: parabolas through three instants, which keep the second order of a scheme.
    fn finished(self) -> Track {
        let mut track = self.track;
        let (t, x) = (&track.times, &track.position);
        let slope = |k: usize| (x[k] - x[k - 1]) / (t[k] - t[k - 1]);
        let rate = |k: usize| match k {
            _ if t.len() < 2 => 0.0,
            _ if t.len() < 3 => slope(1),
            0 => slope(1) - (slope(2) - slope(1)) * (t[1] - t[0]) / (t[2] - t[0]),
            1 => slope(1) + (slope(2) - slope(1)) * (t[1] - t[0]) / (t[2] - t[0]),
            k => slope(k) + (slope(k) - slope(k - 1)) * (t[k] - t[k - 1]) / (t[k] - t[k - 2]),
        };
        track.velocity = (0..t.len()).map(rate).collect();
        track
    }
}
