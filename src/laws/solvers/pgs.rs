//! Projected Gauss–Seidel with over-relaxation, by columns: a change of one impulse updates the velocities that it
//! reaches, so contacts at rest cost nothing.

use crate::case::data::ContactSolver;
use crate::laws::Complementarity;

/// At most `most` sweeps, until the natural-map residual is within the tolerance; returns their number.
pub fn solve(problem: &Complementarity, settings: &ContactSolver, most: usize, z: &mut [f64], y: &mut [f64]) -> usize {
    let mut residual = problem.residual(z, y);
    let mut sweeps = 0;
    while residual > settings.tolerance && sweeps < most {
        for &i in problem.active {
            let i = i as usize;
            let step = (z[i] - settings.relaxation * y[i] / problem.delassus.diagonal(i)).max(0.0) - z[i];
            if step != 0.0 {
                z[i] += step;
                for &(j, w) in problem.delassus.column(i) {
                    y[j as usize] += w * step;
                }
            }
        }
        sweeps += 1;
        // From scratch, so that the stopping test sees the true residual and not an accumulated one.
        residual = problem.residual(z, y);
    }
    sweeps
}
