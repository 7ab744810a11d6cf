//! Coulomb's law: unilateral contact with |r_T| ≤ μ r_N, and r_T = −μ r_N sign(u_T) where something slides.

use super::unilateral::normal_residual;
use super::{Law, Relaxation, Site};

/// Part of its diagonal below which the determinant of a block is rounding.
const SINGULAR: f64 = 1e-12;

/// Contact with dry friction.
pub struct Coulomb;

impl Law for Coulomb {
    fn name(&self) -> &'static str {
        "coulomb"
    }

    fn rows(&self) -> usize {
        2
    }

    fn relax(&self, site: &Site, how: Relaxation) -> [f64; 2] {
        let Site { w, constant: mu, r, u } = *site;
        let block = how.together.then(|| solve_block(site)).flatten();
        let new = block.unwrap_or_else(|| {
            let normal = (r[0] - u[0] / w[0]).max(0.0);
            // The change of the normal part moves the contact along the tangent as well.
            let sliding = u[1] + w[2] * (normal - r[0]);
            [normal, (r[1] - sliding / w[3]).clamp(-mu * normal, mu * normal)]
        });
        if how.part == 1.0 {
            return new;
        }
        let normal = r[0] + how.part * (new[0] - r[0]);
        [normal, (r[1] + how.part * (new[1] - r[1])).clamp(-mu * normal, mu * normal)]
    }

    fn residual(&self, site: &Site) -> f64 {
        let Site { w, constant: mu, r, u } = *site;
        let bound = mu * r[0].max(0.0);
        let tangential = w[3].abs() * (r[1] - (r[1] - u[1] / w[3].abs()).clamp(-bound, bound)).abs();
        normal_residual(site).max(tangential)
    }

    /// Open, sticking, sliding either way.
    fn states(&self, mu: f64) -> Vec<Vec<[f64; 2]>> {
        vec![vec![], vec![[1.0, 0.0], [0.0, 1.0]], vec![[1.0, -mu]], vec![[1.0, mu]]]
    }
}

/// Solves one contact exactly while the others stand still; `None` where no state fits, and where the node can move in one
/// direction only, so that sticking leaves the impulses undetermined.
fn solve_block(site: &Site) -> Option<[f64; 2]> {
    let Site { w: [nn, nt, tn, tt], constant: mu, r, u } = *site;
    let b = [u[0] - nn * r[0] - nt * r[1], u[1] - tn * r[0] - tt * r[1]];
    if b[0] >= 0.0 {
        return Some([0.0, 0.0]);
    }
    let determinant = nn * tt - nt * tn;
    if determinant.abs() <= SINGULAR * (nn * tt).abs() {
        return None;
    }
    let stick = [(nt * b[1] - tt * b[0]) / determinant, (tn * b[0] - nn * b[1]) / determinant];
    if stick[1].abs() <= mu * stick[0] {
        return Some(stick);
    }
    [1.0, -1.0].into_iter().find_map(|sign| {
        let denominator = nn - sign * mu * nt;
        let normal = -b[0] / denominator;
        let tangent = -sign * mu * normal;
        let sliding = b[1] + tn * normal + tt * tangent;
        (denominator > 0.0 && sign * sliding >= 0.0).then_some([normal, tangent])
    })
}
