//! Unilateral contact: candidates with their gaps, and solvers of the complementarity problem.
//!
//! Signs: a gap is positive when open, an impulse non-negative and pushing.

pub mod delassus;
mod lemke;
mod pgs;
pub mod solver;

use crate::model::{Component, Model};
use crate::system::Nodes;
use std::ops::Range;

/// All contact candidates of a system.
pub struct Contacts {
    /// Contacts of the case, each a range of candidates.
    pub groups: Vec<Group>,
    /// Candidates, one per node that may touch.
    pub candidates: Vec<Candidate>,
}

/// A `[[contact]]` of the case.
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its candidates.
    pub range: Range<usize>,
}

/// A gap that is affine in q: offset + Σ coefficient · displacement, (T50).
pub struct Candidate {
    /// The node that touches.
    pub node: usize,
    /// Direction in which a positive impulse pushes that node.
    pub normal: [f64; 2],
    /// Newton's coefficient of restitution.
    pub restitution: f64,
    /// Length of the shortest element at that node; infinite without one.
    pub adjacent: f64,
    /// Whether an impulse can move the node at all. Where supports hold or drive it along the normal, they carry what
    /// the obstacle would, and the contact takes no part.
    pub responds: bool,
    offset: f64,
    gradient: Vec<(u32, f64)>,
}

impl Contacts {
    /// Candidates of all contacts of a model.
    pub fn new(model: &Model, nodes: &Nodes) -> Contacts {
        let (mut groups, mut candidates) = (Vec::new(), Vec::new());
        let shortest = shortest_elements(model, nodes);
        for contact in &model.contacts {
            let start = candidates.len();
            for &node in &contact.nodes {
                let place = nodes.place[node];
                let components = [Component::X, Component::Y].into_iter().take(nodes.dimension);
                let gradient: Vec<(u32, f64)> =
                    components.map(|c| (nodes.dof(node, c), contact.normal[c as usize])).collect();
                let distance: f64 =
                    (0..nodes.dimension).map(|k| contact.normal[k] * (place[k] - contact.point[k])).sum();
                candidates.push(Candidate {
                    node,
                    normal: contact.normal,
                    restitution: contact.restitution,
                    adjacent: shortest[node],
                    responds: gradient.iter().any(|&(dof, part)| (dof as usize) < nodes.free && part != 0.0),
                    offset: distance - contact.radius,
                    gradient,
                });
            }
            groups.push(Group { name: contact.name.clone(), range: start..candidates.len() });
        }
        Contacts { groups, candidates }
    }

    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.candidates.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }
}

/// Length of the shortest element at every node, springs apart; infinite for a point mass.
fn shortest_elements(model: &Model, nodes: &Nodes) -> Vec<f64> {
    let mut shortest = vec![f64::INFINITY; nodes.place.len()];
    // A spring has no nodes of its own, and its length says nothing about how deep a contact may be.
    for body in model.bodies.iter().filter(|body| !body.nodes.is_empty()) {
        for &line in &body.lines {
            let (length, _) = nodes.line(line);
            line.iter().for_each(|&node| shortest[node] = shortest[node].min(length));
        }
    }
    shortest
}

impl Candidate {
    /// A candidate of any affine gap, for systems that do not come from a model.
    pub fn affine(offset: f64, gradient: &[(u32, f64)], restitution: f64) -> Candidate {
        Candidate {
            node: 0,
            normal: [0.0; 2],
            restitution,
            adjacent: f64::INFINITY,
            responds: true,
            offset,
            gradient: gradient.to_vec(),
        }
    }

    /// Gap at displacement `q`.
    pub fn gap(&self, q: &[f64]) -> f64 {
        self.offset + self.rate(q)
    }

    /// Gradient of the gap times `x`: the relative velocity Gᵀv.
    pub fn rate(&self, x: &[f64]) -> f64 {
        self.gradient.iter().map(|&(dof, coefficient)| coefficient * x[dof as usize]).sum()
    }

    /// Entry of the gradient for one degree of freedom.
    pub fn gradient(&self, dof: usize) -> f64 {
        self.gradient.iter().filter(|(d, _)| *d as usize == dof).map(|(_, coefficient)| coefficient).sum()
    }

    /// f += p G.
    pub fn push(&self, p: f64, f: &mut [f64]) {
        for &(dof, coefficient) in &self.gradient {
            f[dof as usize] += p * coefficient;
        }
    }
}
