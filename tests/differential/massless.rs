//! Contact nodes without mass, (T90)–(T96): contact as a force that holds gaps open, on planes at ends of bodies.

use super::law::{self, Rows};
use super::obstacles::spread;
use super::problem::{Obstacle, Problem};
use super::step::State;
use nalgebra::{DMatrix, DVector};

/// Most passes of Newton's method.
const PASSES: usize = 200;

/// Massless degrees of freedom and where their velocities come from.
pub struct Massless {
    pub dofs: Vec<usize>,
    /// T of (T91).
    pub transform: DMatrix<f64>,
}

/// How the mass of a node is moved.
#[derive(Clone, Copy, PartialEq)]
pub enum Rule {
    Const,
    Lin,
    Full,
}

/// Gaps as functions of time and displacement: one row for each node on a plane.
struct Gaps {
    rows: Vec<DVector<f64>>,
    levels: Vec<f64>,
}

impl Problem {
    /// Takes the mass off the end nodes of bodies; `linear` says which of (T90) holds.
    pub fn take_mass(&mut self, ends: &[(usize, Rule, bool)]) {
        let mut transform = DMatrix::identity(self.count, self.count);
        let mut dofs = vec![];
        for &(node, rule, linear) in ends {
            let body = self.bodies.iter().find(|body| body.nodes.contains(&node)).expect("a node has a body");
            let (nodes, last) = (&body.nodes, body.nodes.len() - 1);
            let [one, two] =
                if nodes[last] == node { [nodes[last - 1], nodes[last - 2]] } else { [nodes[1], nodes[2]] };
            let way = |a: usize, b: usize| [0, 1].map(|k| self.places[b][k] - self.places[a][k]);
            let length = |way: [f64; 2]| way[0].hypot(way[1]);
            let (arm, ratio) = (way(one, node), length(way(one, node)) / length(way(two, one)));
            for c in (0..3).filter(|&c| self.dofs[node][c].is_some()) {
                let of = |node: usize, c: usize| self.dofs[node][c].expect("a neighbour moves like its node");
                let row = match (rule, linear) {
                    (Rule::Const, _) => vec![(of(one, c), 1.0)],
                    (Rule::Full, _) if c == 2 => vec![(of(one, 2), 1.0)],
                    (Rule::Full, true) => vec![(of(one, c), 1.0), (of(one, 2), [-arm[1], arm[0]][c])],
                    _ => vec![(of(one, c), 1.0 + ratio), (of(two, c), -ratio)],
                };
                let dof = of(node, c);
                transform.row_mut(dof).fill(0.0);
                row.into_iter().for_each(|(from, part)| transform[(dof, from)] += part);
                dofs.push(dof);
            }
        }
        self.mass = transform.transpose() * &self.mass * &transform;
        self.massless = Some(Massless { dofs, transform });
    }

    fn gaps_at(&self, t: f64) -> Gaps {
        let (mut rows, mut levels) = (vec![], vec![]);
        for (group, contact) in self.contacts.iter().enumerate() {
            let Obstacle::Plane { point, normal } = contact.obstacle else { panic!("massless nodes on planes only") };
            let shift = self.shift(group, t);
            for &node in &contact.nodes {
                let away = [0, 1].map(|k| self.places[node][k] - point[k] - shift[k]);
                rows.push(spread(self, &[(node, 1.0)], normal));
                levels.push(normal[0] * away[0] + normal[1] * away[1] - contact.radius);
            }
        }
        Gaps { rows, levels }
    }

    /// Gaps at the end of a step, by contact.
    pub fn massless_gaps(&self, state: &State) -> Vec<f64> {
        let gaps = self.gaps_at(state.time);
        gaps.rows.iter().zip(&gaps.levels).map(|(row, level)| level + row.dot(&state.q)).collect()
    }

    /// Sum of contact forces at their nodes.
    pub fn pushed(&self, forces: &[f64]) -> DVector<f64> {
        if forces.is_empty() {
            return DVector::zeros(self.count);
        }
        let gaps = self.gaps_at(0.0);
        gaps.rows.iter().zip(forces).fold(DVector::zeros(self.count), |sum, (row, force)| sum + row * *force)
    }

    /// (T96): massless unknowns in equilibrium at the start, then accelerations of the others.
    pub fn massless_start(&self, state: &mut State) -> Result<(), String> {
        let massless = &self.massless.as_ref().expect("a problem with massless nodes").dofs;
        let gaps = self.gaps_at(0.0);
        for _ in 0..PASSES {
            (state.strain, state.internal, state.viscous) = self.forces(&state.q, &state.v);
            let rest = &state.applied + &self.weight - &state.internal - &state.viscous;
            let stiffness = self.stiffness_at(&state.q);
            let part = DMatrix::from_fn(massless.len(), massless.len(), |i, j| stiffness[(massless[i], massless[j])]);
            let solve = |right: &DVector<f64>| {
                let own = DVector::from_iterator(massless.len(), massless.iter().map(|&dof| right[dof]));
                let answer = part.clone().full_piv_lu().solve(&own).expect("massless motions have stiffness");
                let mut whole = DVector::zeros(self.count);
                massless.iter().zip(&answer).for_each(|(&dof, value)| whole[dof] = *value);
                whole
            };
            let columns: Vec<DVector<f64>> = gaps.rows.iter().map(&solve).collect();
            let moved = solve(&rest);
            let free = &state.q + &moved;
            let forces = solve_forces(&gaps, &columns, &free)?;
            let change = columns.iter().zip(&forces).fold(moved, |sum, (column, force)| sum + column * *force);
            state.q += &change;
            state.force = forces;
            if change.amax() <= 1e-15 * self.length {
                break;
            }
        }
        (state.strain, state.internal, state.viscous) = self.forces(&state.q, &state.v);
        let mut rest = &state.applied + &self.weight - &state.internal - &state.viscous + self.pushed(&state.force);
        let mut given = DVector::zeros(self.count);
        self.drives.iter().for_each(|(dof, function)| given[*dof] = function.second_rate(0.0));
        // Rows without mass take the identity, and zero on the right.
        let mut mass = self.mass.clone();
        let whole = &self.mass * &given;
        for &dof in massless {
            mass[(dof, dof)] = 1.0;
            rest[dof] = whole[dof];
        }
        state.a = &given + self.solve_one(&mass, &(&rest - whole));
        let balance = &self.mass * &state.a - rest;
        self.drives.iter().for_each(|(dof, _)| state.reaction[*dof] = balance[*dof]);
        Ok(())
    }

    /// (T92)–(T94); driven rows of `a` are known.
    pub fn massless_step(&self, from: &State, t1: f64, h: f64, mut a: DVector<f64>) -> Result<State, String> {
        let (row, gaps) = (&self.row, self.gaps_at(t1));
        let massless = &self.massless.as_ref().expect("a problem with massless nodes").dofs;
        let applied = self.applied(t1);
        let rest = |applied: &DVector<f64>, internal: &DVector<f64>, viscous: &DVector<f64>, forces: &[f64]| {
            applied + &self.weight - internal - viscous + self.pushed(forces)
        };
        let mut r0 = rest(&from.applied, &from.internal, &from.viscous, &from.force);
        massless.iter().for_each(|&dof| r0[dof] = 0.0);
        let (mut forces, mut last) = (from.force.clone(), f64::INFINITY);
        for pass in 0..PASSES {
            let q = &from.q + &from.v * h + (&from.a * row.b0 + &a * row.b1) * (h * h);
            let v = &from.v + (&from.a * row.g0 + &a * row.g1) * h;
            let (strain, internal, viscous) = self.forces(&q, &v);
            let r1 = rest(&applied, &internal, &viscous, &forces);
            let balance = &self.mass * (&from.a * row.alpha_m + &a * (1.0 - row.alpha_m))
                - &r0 * row.alpha_f
                - &r1 * (1.0 - row.alpha_f);
            let effective = &self.mass * (1.0 - row.alpha_m)
                + self.damping_at(&q) * ((1.0 - row.alpha_c) * h * row.g1)
                + self.stiffness_at(&q) * ((1.0 - row.alpha_f) * h * h * row.b1);
            let mut change = -self.solve_one(&effective, &balance);
            let answers: Vec<DVector<f64>> =
                gaps.rows.iter().map(|row_| self.solve_one(&effective, row_) * (1.0 - row.alpha_f)).collect();
            let columns: Vec<DVector<f64>> = answers.iter().map(|answer| answer * (h * h * row.b1)).collect();
            let before = columns.iter().zip(&forces).fold(DVector::zeros(self.count), |sum, (c, f)| sum + c * *f);
            let free = &q + &change * (h * h * row.b1) - before;
            let new = solve_forces(&gaps, &columns, &free)?;
            for (answer, (new, old)) in answers.iter().zip(new.iter().zip(&forces)) {
                change += answer * (new - old);
            }
            let moved = h * change.amax();
            let speed = v.amax().max(from.v.amax()).max(h * a.amax()).max(1e-3 * q.amax() / h);
            let settled = moved <= 1e-15 * speed || (moved <= 1e-9 * speed && moved > 0.3 * last);
            if pass > 1 && settled {
                let mut state = from.clone();
                (state.time, state.strain, state.internal, state.viscous) = (t1, strain, internal, viscous);
                (state.applied, state.force) = (applied, forces);
                (state.q, state.v, state.a) = (q, v, a);
                for &dof in massless {
                    state.a[dof] = 0.0;
                    state.v[dof] = (state.q[dof] - from.q[dof]) / h;
                }
                return Ok(state);
            }
            last = moved;
            a += change;
            forces = new;
        }
        Err(format!("Newton's method of the dense code at t = {t1}"))
    }
}

/// Forces with 0 ≤ g ⊥ λ ≥ 0, if places are `free` without them.
fn solve_forces(gaps: &Gaps, columns: &[DVector<f64>], free: &DVector<f64>) -> Result<Vec<f64>, String> {
    let count = columns.len();
    let w = DMatrix::from_fn(count, count, |i, j| gaps.rows[i].dot(&columns[j]));
    let b = DVector::from_fn(count, |i, _| gaps.levels[i] + gaps.rows[i].dot(free));
    let rows: Vec<Rows> = (0..count).map(|normal| Rows { normal, tangent: None, friction: 0.0 }).collect();
    Ok(law::solve(&w, &b, &rows)?.impulse.as_slice().to_vec())
}
