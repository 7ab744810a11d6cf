//! What acts on a line beside its masses and stiffnesses: gravity, loads and damping.

use super::unknowns::{Line, Weights};
use crate::la::{Bands, Sum};
use crate::methods::tableau::identity;
use crate::schemes::Tableau;
use crate::state::State;
use crate::system::System;

/// Loads and damping of a line.
pub(super) struct Outside {
    damping: Option<Bands>,
    /// All of it as one force on the unknowns, and the velocity that counts for damping; empty if it is gravity alone.
    force: Vec<f64>,
    rate: Vec<f64>,
}

impl Outside {
    pub fn of(system: &System) -> Outside {
        let room = |wanted: bool| vec![0.0; if wanted { system.nodes.total } else { 0 }];
        Outside {
            damping: system.damping.as_ref().map(Bands::of),
            force: room(system.damped || system.is_loaded()),
            rate: room(system.damped),
        }
    }

    /// The force of a step to a state whose loads are known, (T27).
    pub fn force<'a>(
        &'a mut self,
        line: &'a Line,
        row: &Tableau,
        weights: &Weights,
        from: &State,
        to: &State,
    ) -> &'a [f64] {
        let Outside { damping, force, rate } = self;
        if force.is_empty() {
            return &line.gravity;
        }
        let n = line.n;
        match damping {
            Some(damping) => {
                for (rate, (v, a)) in rate.iter_mut().zip(from.v.iter().zip(&from.a[..])) {
                    *rate = v + weights.middle_rate * a;
                }
                damping.multiply(rate, force);
                force[..n].iter_mut().for_each(|force| *force = -*force);
            }
            None => force[..n].fill(0.0),
        }
        force.iter_mut().zip(&line.gravity).for_each(|(force, weight)| *force += weight);
        let (old, new) = (row.alpha_f, 1.0 - row.alpha_f);
        for (force, (f0, f1)) in force.iter_mut().zip(from.applied.iter().zip(&to.applied)) {
            *force += old * f0 + new * f1;
        }
        &force[..n]
    }

    /// Damping forces at the end of a step, the filters of (T21), and the works of both kinds of forces: of damping and of
    /// loads.
    pub fn finish(&self, row: &Tableau, from: &State, to: &mut State) -> [Along; 2] {
        if self.force.is_empty() {
            return Default::default();
        }
        let State { q, v, viscous, applied, storage, .. } = to;
        if let Some(damping) = &self.damping {
            damping.multiply(v, viscous);
        }
        let path = [&from.q[..], q];
        let (drag, load) = ([&from.viscous[..], viscous], [&from.applied[..], applied]);
        match from.storage.as_ref().zip(storage.as_mut()) {
            Some((old, new)) => [
                Along::new(row, drag, (&old.damping_x, &mut new.damping_x), path),
                Along::new(row, load, (&old.load, &mut new.load), path),
            ],
            None => [drag, load].map(|force| Along::new(row, force, (&[], &mut []), path)),
        }
    }
}

/// Products of a force with the path of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Along {
    /// The old force, the new one, and the old filter of its increments.
    pub old: f64,
    pub new: f64,
    pub filter: f64,
}

impl Along {
    /// Moves the filter on, if there is one.
    fn new(row: &Tableau, force: [&[f64]; 2], (x0, x1): (&[f64], &mut [f64]), path: [&[f64]; 2]) -> Along {
        identity::filter(row.filter(), force, x0, x1);
        let (n, filtered) = (force[1].len(), x1.len());
        let along = |x: &[f64]| {
            let mut sum = Sum::default();
            sum.add([x, &path[0][..x.len()], &path[1][..x.len()]], |[x, q0, q1]| x * (q1 - q0));
            sum.total()
        };
        Along { old: along(&force[0][..n]), new: along(force[1]), filter: along(&x0[..filtered]) }
    }

    /// Work of what the filter leaves of the force, as (T22) weighs it.
    pub fn left(&self, row: &Tableau) -> f64 {
        let [keep, gain] = row.filter();
        let moved = keep * self.filter + gain * (self.new - self.old);
        (1.0 - row.g1) * (self.old - self.filter) + row.g1 * (self.new - moved)
    }
}
