//! Works of a finished step from the sums over its unknowns: products of vectors that follow from others by (T28) are not
//! summed.

use super::book::Sums;
use super::outside::Along;
use crate::schemes::Tableau;
use crate::state::State;

/// Products of a step.
pub(super) struct Works {
    /// a1·M a1 and da·M da, da = a1 − a0.
    pub inertia: f64,
    pub change: f64,
    /// (v0 + v1)·M da and a1·M da.
    rate_change: f64,
    inertia_change: f64,
    /// z0·K dq with the filter z of (T21).
    filter_drift: f64,
    /// The impulses times the old and the new accelerations where they push.
    pushed: [f64; 2],
    /// Damping and loads.
    pub drag: Along,
    pub load: Along,
}

impl Works {
    /// Of a step from a state.
    pub fn new(row: &Tableau, h: f64, from: &State, sums: &Sums, pushed: [f64; 2], [drag, load]: [Along; 2]) -> Works {
        // A scheme without this memory carries no acceleration.
        let [old, power] = from.storage.as_ref().map_or([0.0; 2], |old| [old.inertia, old.power]);
        let [inertia, change] = [2.0 * sums.inertia, 2.0 * sums.change];
        let overlap = 0.5 * (old + inertia - change);
        let along = row.g0 * (old + overlap) + row.g1 * (overlap + inertia);
        let pull = h * (power + h * (row.b0 * old + row.b1 * overlap) + row.c * pushed[0]);
        let stretched = 0.5 * (sums.strain - sums.drift) - from.energy.strain;
        let others = (drag.old - drag.filter) - (load.old - load.filter) - sums.fall;
        Works {
            inertia,
            change,
            rate_change: 2.0 * (sums.power - power) - h * along - (pushed[0] + pushed[1]),
            inertia_change: inertia - overlap,
            filter_drift: pull + stretched + others,
            pushed,
            drag,
            load,
        }
    }

    /// Numerical dissipation, (T13), written in a1 and da.
    pub fn scheme(&self, row: &Tableau, h: f64, sums: &Sums) -> f64 {
        let (excess, lag) = (row.b0 + row.b1 - 0.5, row.b0 - 0.5 * row.g0);
        let place = excess * self.inertia - (lag + row.alpha_m * excess) * self.inertia_change
            + row.alpha_m * lag * self.change;
        0.5 * h * (row.alpha_m - row.g0) * self.rate_change - h * h * place
            + (row.alpha_f - 0.5) * (sums.drift - (self.load.new - self.load.old))
            + (row.alpha_c - 0.5) * (self.drag.new - self.drag.old)
            + self.shifted(row, h, 1.0 - row.alpha_m)
    }

    /// Work of the shift u − ½h w on the acceleration between the old and the new one.
    pub fn shifted(&self, row: &Tableau, h: f64, new: f64) -> f64 {
        h * (0.5 - row.c) * ((1.0 - new) * self.pushed[0] + new * self.pushed[1])
    }

    /// z1·K z1 and dz·K dz, with the old z0·K z0.
    pub fn filter(&self, row: &Tableau, sums: &Sums, old: f64) -> [f64; 2] {
        let [keep, gain] = row.filter();
        let (drift, mixed) = (gain * gain * sums.drift, 2.0 * gain * self.filter_drift);
        [keep, keep - 1.0].map(|part| part * (part * old + mixed) + drift)
    }
}
