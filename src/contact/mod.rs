//! Unilateral contact: candidates with their gaps, the search for them, and solvers of the contact laws.
//!
//! Signs: a gap is positive when open, an impulse non-negative and pushing.

pub mod active_set;
pub mod candidate;
pub mod delassus;
mod dense;
mod doubled;
pub mod friction;
mod lemke;
mod packed;
mod pgs;
mod scene;
mod search;
pub mod shape;
pub mod solver;
pub mod turn;

pub use candidate::{Candidate, Key, Law};
pub use scene::Scene;

use crate::model::function::Function;
use crate::model::{Model, Obstacle};
use crate::system::Nodes;
use candidate::Corner;
use search::Search;
use shape::Shape;

/// All contacts of a system.
#[derive(Default)]
pub struct Contacts {
    /// Contacts of the case.
    pub groups: Vec<Group>,
    /// Candidates that are always there; those of searches come and go with the steps.
    pub candidates: Vec<Candidate>,
    searches: Vec<Search>,
    /// Half planes with an end: the candidates that lean on them, the end and the direction from it.
    ledges: Vec<Ledge>,
    /// Asked several times in every step, so they are found once.
    steady: bool,
    at_rest: bool,
    rough: bool,
}

/// A `[[contact]]` of the case.
#[derive(Clone, Default)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Directions and sizes of the motion of its obstacle.
    pub motion: Vec<([f64; 2], Function)>,
}

struct Ledge {
    candidate: usize,
    point: [f64; 2],
    normal: [f64; 2],
    direction: [f64; 2],
}

impl Contacts {
    /// Contacts of a model.
    pub fn new(model: &Model, nodes: &Nodes) -> Contacts {
        let mut contacts = Contacts::default();
        let shortest = shortest_elements(model, nodes);
        for (g, contact) in model.contacts.iter().enumerate() {
            contacts.groups.push(Group { name: contact.name.clone(), motion: contact.motion.clone() });
            if let Some(search) = Search::new(model, nodes, g, &shortest) {
                contacts.searches.push(search);
                continue;
            }
            if let Obstacle::Neighbours { pairs } = &contact.obstacle {
                for &[above, below] in pairs {
                    let key = Key { group: g as u32, node: above as u32, feature: below as u32 };
                    let corners = [above, below].map(|node| Corner::new(nodes, node));
                    let mut candidate = Candidate::above(key, contact.law, corners, 2.0 * contact.radius, nodes.free);
                    candidate.adjacent = shortest[above].min(shortest[below]);
                    contacts.candidates.push(candidate);
                }
                continue;
            }
            for &node in &contact.nodes {
                let key = Key { group: g as u32, node: node as u32, feature: 0 };
                let corners = [Corner::new(nodes, node); 3];
                let mut candidate = match contact.obstacle {
                    Obstacle::Plane { point, normal } => {
                        Candidate::plane(key, contact.law, nodes, (point, normal), contact.radius)
                    }
                    Obstacle::HalfPlane { point, normal, direction } => {
                        let candidate = contacts.candidates.len();
                        contacts.ledges.push(Ledge { candidate, point, normal, direction });
                        Candidate::plane(key, contact.law, nodes, (point, normal), contact.radius)
                    }
                    Obstacle::Circle { centre, radius, inside } => {
                        let shape = Shape::Circle { centre, radius, inside };
                        Candidate::shaped(key, contact.law, shape, corners, contact.radius, nodes.free)
                    }
                    Obstacle::Neighbours { .. } | Obstacle::Polyline { .. } | Obstacle::Bodies { .. } => {
                        unreachable!("these are pairs, or searched for")
                    }
                };
                candidate.adjacent = shortest[node];
                contacts.candidates.push(candidate);
            }
        }
        contacts.steady = contacts.searches.is_empty()
            && contacts.ledges.is_empty()
            && contacts.candidates.iter().all(|candidate| candidate.shape.is_affine());
        contacts.at_rest = contacts.steady && contacts.groups.iter().all(|group| group.motion.is_empty());
        contacts.rough =
            contacts.candidates.iter().any(Candidate::slides) || contacts.searches.iter().any(Search::rough);
        contacts
    }

    /// One contact of given candidates, for systems that do not come from a model.
    pub fn of(name: &str, candidates: Vec<Candidate>) -> Contacts {
        let group = Group { name: name.into(), ..Default::default() };
        let steady = candidates.iter().all(|candidate| candidate.shape.is_affine());
        let rough = candidates.iter().any(Candidate::slides);
        Contacts { groups: vec![group], candidates, steady, at_rest: steady, rough, ..Default::default() }
    }

    /// Number of candidates that are always there.
    pub fn len(&self) -> usize {
        self.candidates.len()
    }

    /// Whether nothing can touch.
    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty() && self.searches.is_empty()
    }

    /// Whether all gradients are the same in every step, so that what they lead to can be kept.
    pub fn steady(&self) -> bool {
        self.steady
    }

    /// Whether nothing about the candidates changes from step to step: gradients stay, and so do obstacles.
    pub fn at_rest(&self) -> bool {
        self.at_rest
    }

    /// Largest coefficient of restitution.
    pub fn restitution(&self) -> f64 {
        let searched = self.searches.iter().map(Search::restitution);
        self.candidates.iter().map(|candidate| candidate.law.restitution).chain(searched).fold(0.0, f64::max)
    }

    /// Whether any contact has friction.
    pub fn rough(&self) -> bool {
        self.rough
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
