//! Whether an equilibrium is stable, and what is said where it is not.
//!
//! The tangent K must be positive along every motion that is free. Closed contacts hold their normals G, so the free motions
//! are those with Gᵀ x = 0; by the inertia of the matrix [K G; Gᵀ 0], K has on them as many negative directions as it has
//! negative pivots less the negative eigenvalues of the compliance C = Gᵀ K⁻¹ G.

use super::Statics;
use crate::Error;
use crate::la::{Factor, Symmetric, dot};
use crate::laws::solvers::active_set::diagonal;
use crate::methods::Attempt;
use crate::model::Component;
use crate::relations::Scene;
use crate::state::State;
use crate::system::System;
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

/// A compliance below this part of the largest is rounding: of contacts that hold the same motion.
const ROUNDING: f64 = 1e-12;

/// A load of this part of the largest shows which way a structure buckles and does not change where.
const NUDGE: f64 = 1e-4;

/// Along a load that brought the stiffness below this part of its first value a failure is that of a limit point.
const SOFT: f64 = 0.25;

/// The part of an equilibrium path on which the tangent has negative pivots.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnstableBranch {
    /// Load parameter at the first of its equilibria.
    pub from: f64,
    /// Load parameter at the last.
    pub to: f64,
    /// Largest number of negative pivots, closed contacts taken into account.
    pub most: usize,
}

impl Statics<'_> {
    /// Independent motions along which the equilibrium that was just found is unstable. The factor is that of the last pass,
    /// whose correction was rounding.
    pub(super) fn unstable(&self) -> usize {
        let negative = if self.factored.is_some() { self.operator.negative() } else { 0 };
        if negative == 0 {
            return 0;
        }
        let closed: Vec<usize> = (0..self.presses.force.len()).filter(|&i| self.presses.force[i] > 0.0).collect();
        if closed.is_empty() || closed.iter().any(|&i| !self.presses.compliance.knows(i)) {
            return negative;
        }
        let place = |row: u32| closed.iter().position(|&i| i == row as usize);
        let mut compliance = DMatrix::<f64>::zeros(closed.len(), closed.len());
        for (j, &contact) in closed.iter().enumerate() {
            for &(row, value) in self.presses.compliance.column(contact) {
                if let Some(i) = place(row) {
                    compliance[(i, j)] = value;
                }
            }
        }
        left(negative, compliance)
    }

    /// The error of a step that failed because the structure lost its stiffness. At a limit point the tangent turned during the
    /// step, and at its stable start had already lost most of its stiffness along the load, against that at t = 0. Contacts
    /// may hold a structure beyond that point, but not their solver, which needs the structure without them.
    pub(super) fn lost_stiffness(&self, from: &State, to: &Attempt) -> Option<Error> {
        let first = self.softness(&self.system.q0, None, from, to)?;
        let share = |closed: Option<&State>| self.softness(&from.q, closed, from, to).map(|now| first / now);
        let failed = format!("no equilibrium found in step {} (t = {})", to.state.step, to.state.time);
        let held = share(Some(from)).filter(|share| self.turned && (0.0..SOFT).contains(share));
        if let Some(share) = held {
            return Some(Error::Solver(format!(
                "{failed}: a limit point lies between t = {} and there. The tangent stiffness along the load had fallen to \
                 {share:.1e} of its first value and turned negative within the step. Static load control ends here: run a \
                 transient (analysis = \"dynamic\"), or drive the displacement by a support with `motion` instead of \
                 applying the load",
                from.time
            )));
        }
        let closed = from.force.iter().any(|force| *force > 0.0);
        (closed && share(None).is_none_or(|share| share < SOFT)).then(|| {
            Error::Solver(format!(
                "{failed}: without its closed contacts the structure loses its stability near t = {}, and a static analysis \
                 finds contact forces by the structure without them; run a transient",
                from.time
            ))
        })
    }

    /// Work of the load increment of a step on the displacement that it causes at `q`, with the contacts that are closed in a
    /// state, or with none; `None` where that equilibrium is not stable.
    fn softness(&self, q: &[f64], closed: Option<&State>, from: &State, to: &Attempt) -> Option<f64> {
        let mut held = Held::new(self.system, q, closed, 0.0)?;
        if held.unstable() > 0 {
            return None;
        }
        let force = increment(self.system, from, &to.state, &held.tangent);
        let mut moved = force.clone();
        held.solve(&mut moved);
        let free = self.system.nodes.free;
        Some(dot(&force[..free], &moved[..free]))
    }
}

/// Negative directions that closed contacts leave of so many, by their compliance.
fn left(negative: usize, compliance: DMatrix<f64>) -> usize {
    let values = compliance.symmetric_eigenvalues();
    negative.saturating_sub(values.iter().filter(|value| **value < -ROUNDING * values.amax()).count())
}

/// What changes the equilibrium from one load parameter to the next: loads, and supports that move.
fn increment(system: &System, from: &State, to: &State, tangent: &Symmetric) -> Vec<f64> {
    let mut driven = vec![0.0; system.nodes.total];
    for (dof, function) in &system.drives {
        driven[*dof] = function.value(to.time) - function.value(from.time);
    }
    let mut load = vec![0.0; system.nodes.total];
    tangent.multiply(&driven, &mut load);
    for i in 0..system.nodes.total {
        load[i] = to.applied[i] - from.applied[i] - load[i];
    }
    load
}

/// The tangent at an equilibrium with its closed contacts, which do not move.
struct Held<'a> {
    system: &'a System,
    tangent: Symmetric,
    factor: Factor,
    /// Directions that closed contacts hold, and the answers of the structure to unit forces along them.
    normals: Vec<Vec<f64>>,
    answers: Vec<Vec<f64>>,
    compliance: Option<DMatrix<f64>>,
}

impl<'a> Held<'a> {
    /// Tangent at `q` plus `shift` times its diagonal at the start; `None` if it is singular.
    fn new(system: &'a System, q: &[f64], state: Option<&State>, shift: f64) -> Option<Held<'a>> {
        let (free, total) = (system.nodes.free, system.nodes.total);
        let mut tangent = Symmetric::zeros(system.mass.pattern.clone());
        system.effective(q, 0.0, 0.0, 1.0, &mut tangent);
        let mut normals = Vec::new();
        if let Some(state) = state {
            let mut scene = Scene::new(&system.contacts, &system.nodes);
            scene.look_at(&system.contacts, &system.nodes, state);
            for (candidate, &force) in scene.candidates.iter().zip(&state.force).filter(|(_, force)| **force > 0.0) {
                candidate.each_curvature(q, candidate.shift[1], |i, j, value| {
                    if i <= j && j < free {
                        tangent.add(i, j, -force * value);
                    }
                });
                let mut normal = vec![0.0; total];
                candidate.push(1.0, &mut normal);
                normal[free..].fill(0.0);
                normals.push(normal);
            }
        }
        let mut shifted = tangent.clone();
        let metric = metric(system);
        (0..free).for_each(|i| shifted.add(i, i, shift * metric[i]));
        let mut factor = Factor::new(&shifted.pattern, free);
        factor.factor(&shifted).ok()?;
        let mut answers = normals.clone();
        answers.iter_mut().for_each(|answer| factor.solve(answer));
        let m = normals.len();
        let compliance = (m > 0).then(|| DMatrix::from_fn(m, m, |i, j| dot(&normals[i][..free], &answers[j][..free])));
        Some(Held { system, tangent, factor, normals, answers, compliance })
    }

    /// Independent motions along which it is unstable.
    fn unstable(&self) -> usize {
        let negative = self.factor.negative();
        self.compliance.as_ref().map_or(negative, |compliance| left(negative, compliance.clone()))
    }

    /// Overwrites a force by the displacement that it causes.
    fn solve(&mut self, x: &mut [f64]) {
        let free = self.system.nodes.free;
        x[free..].fill(0.0);
        self.factor.solve(x);
        let Some(compliance) = &self.compliance else { return };
        let moved = self.normals.iter().map(|normal| dot(&normal[..free], &x[..free]));
        let moved = nalgebra::DVector::from_iterator(self.normals.len(), moved);
        // Contacts that hold the same motion have a singular compliance; the free motion is then only near.
        let Some(forces) = compliance.clone().lu().solve(&moved) else { return };
        for (answer, force) in self.answers.iter().zip(forces.iter()) {
            (0..free).for_each(|i| x[i] -= force * answer[i]);
        }
    }
}

/// The diagonal of the stiffness at the start: a measure of motions that is free of units.
fn metric(system: &System) -> Vec<f64> {
    let mut stiffness = Symmetric::zeros(system.mass.pattern.clone());
    system.effective(&system.q0, 0.0, 0.0, 1.0, &mut stiffness);
    (0..system.nodes.free).map(|i| diagonal(&stiffness, i).abs()).collect()
}

/// The motion along which an equilibrium is least stable, by inverse iteration with a shift that makes the tangent positive.
fn weakest_motion(system: &System, state: &State) -> Option<Vec<f64>> {
    let free = system.nodes.free;
    let metric = metric(system);
    // The eigenvalues of K in this measure are of the order of one at most.
    let shifts = std::iter::successors(Some(1e-12), |shift| Some(4.0 * shift)).take(30);
    let positive = |shift| Held::new(system, &state.q, Some(state), shift).filter(|held| held.factor.negative() == 0);
    let mut held = shifts.into_iter().find_map(positive)?;
    let mut x = vec![0.0; system.nodes.total];
    (0..free).for_each(|i| x[i] = (1.0 + (i % 7) as f64) / metric[i].sqrt());
    for _ in 0..100 {
        let size = (0..free).map(|i| metric[i] * x[i] * x[i]).sum::<f64>().sqrt();
        (0..free).for_each(|i| x[i] *= metric[i] / size);
        held.solve(&mut x);
    }
    x.iter().all(|x| x.is_finite()).then_some(x)
}

/// What a finished run says of the part of its path that is not stable. The load that it suggests follows the least stable
/// motion of the last equilibrium.
pub fn unstable_advice(system: &System, state: &State, branch: UnstableBranch) -> String {
    let UnstableBranch { from, to, most } = branch;
    let pivots = if most == 1 { "1 negative pivot".to_string() } else { format!("{most} negative pivots") };
    let span = if to == state.time { format!("from t = {from} on") } else { format!("from t = {from} to t = {to}") };
    let start = format!(
        "the equilibrium is unstable {span}: the tangent stiffness has {pivots} there, so a real structure leaves this branch"
    );
    match weakest_motion(system, state).filter(|_| to == state.time).and_then(|motion| nudge(system, state, &motion)) {
        Some(load) => {
            format!(
                "{start}; to follow the stable one add a load of {NUDGE:e} of the largest along the motion: {load}, with \
                 smaller steps if this advice comes again"
            )
        }
        None => format!("{start}; to follow the stable one add a small load across the first"),
    }
}

/// A small load along the largest translation of a motion, as the keys of a case say it, and where.
fn nudge(system: &System, state: &State, motion: &[f64]) -> Option<String> {
    let nodes = &system.nodes;
    let places = || (0..nodes.free).filter(|&i| !nodes.is_rotation(i));
    let most = places().max_by(|&i, &j| motion[i].abs().total_cmp(&motion[j].abs())).filter(|&i| motion[i] != 0.0)?;
    let largest = |force: &dyn Fn(usize) -> f64| {
        let sizes = (0..nodes.total).map(|i| force(i).abs() / if nodes.is_rotation(i) { system.length } else { 1.0 });
        sizes.fold(0.0, f64::max)
    };
    let weight: f64 = (0..nodes.total).map(|i| system.gravity[i].abs()).sum();
    let loads = largest(&|i| state.applied[i]).max(weight);
    // Supports that move press with what the structure answers.
    let size = NUDGE * if loads > 0.0 { loads } else { largest(&|i| state.internal[i]) };
    let (node, _) = nodes.owner(most);
    let along = nodes.translation(node, motion);
    let length = along[0].hypot(along[1]);
    let part = |k: usize| {
        let part = along[k] / length;
        // A motion along an axis is told as one.
        if part.abs() < 1e-6 { "0.0".to_string() } else { format!("{:.3e}", size * part) }
    };
    let dimension = if nodes.find(node, Component::Y).is_some() { 2 } else { 1 };
    let parts: Vec<String> = (0..dimension).map(part).collect();
    Some(format!("force = [{}] on {}", parts.join(", "), system.describe_node(node)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random symmetric matrices and constraints: the count against the eigenvalues on the null space of Gᵀ.
    #[test]
    fn closed_contacts_take_negative_directions_away() {
        let mut seed = 3_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let negative = |m: &DMatrix<f64>| m.clone().symmetric_eigenvalues().iter().filter(|v| **v < 0.0).count();
        let mut fewer = 0;
        for trial in 0..200 {
            let (n, m) = (6, 1 + trial % 3);
            let a = DMatrix::from_fn(n, n, |_, _| random());
            let k = &a + a.transpose() + DMatrix::identity(n, n) * 0.5;
            let g = DMatrix::from_fn(n, m, |_, _| random());
            let compliance = g.transpose() * k.clone().lu().solve(&g).unwrap();
            // The last n − m columns of a full orthogonal basis that begins with the range of G.
            let full = DMatrix::from_fn(n, n, |i, j| if j < m { g[(i, j)] } else { random() });
            let free = full.qr().q().columns(m, n - m).into_owned();
            let wanted = negative(&(free.transpose() * &k * &free));
            assert_eq!(left(negative(&k), compliance), wanted, "trial {trial}");
            fewer += usize::from(wanted < negative(&k));
        }
        assert!(fewer > 50, "constraints must matter in many of them: {fewer}");
    }
}
