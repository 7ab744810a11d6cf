//! The unilateral law 0 ≤ u ⊥ r ≥ 0: a contact pushes or is open.

use super::{Law, Relaxation, Site};

/// Contact without friction.
pub struct Unilateral;

impl Law for Unilateral {
    fn name(&self) -> &'static str {
        "unilateral"
    }

    fn rows(&self) -> usize {
        1
    }

    fn relax(&self, site: &Site, how: Relaxation) -> [f64; 2] {
        let (old, new) = (site.r[0], (site.r[0] - site.u[0] / site.w[0]).max(0.0));
        [if how.part == 1.0 { new } else { old + how.part * (new - old) }, 0.0]
    }

    fn residual(&self, site: &Site) -> f64 {
        normal_residual(site)
    }

    fn states(&self, _: f64) -> Vec<Vec<[f64; 2]>> {
        vec![vec![], vec![[1.0, 0.0]]]
    }
}

/// Natural map of the normal row.
#[inline]
pub(super) fn normal_residual(site: &Site) -> f64 {
    (site.w[0].abs() * site.r[0]).min(site.u[0]).abs()
}
