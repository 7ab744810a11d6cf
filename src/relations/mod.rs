//! What may touch: gaps with their gradients and Hessians, the search for them, and the scene of one step.
//!
//! Geometry alone: no law is solved here, no step in time is made. Signs: a gap is positive when open, an impulse
//! non-negative and pushing.

pub mod candidate;
mod corner;
mod grid;
mod packed;
mod passage;
mod scene;
mod search;
pub mod shape;
mod sides;
pub mod turn;

pub use candidate::Candidate;
pub use passage::PassedContact;
pub use scene::Scene;

use crate::model::function::Function;
use crate::model::{Model, Touched};
use crate::nodes::Nodes;
use crate::obstacles::{Facing, Obstacle};
use crate::plane::direction;
use crate::state::Key;
use candidate::Corner;
use search::{Bodies, Search};
use sides::{Path, surface_at_obstacle};
use std::sync::Arc;

/// All contacts of a system.
#[derive(Default)]
pub struct Contacts {
    /// Contacts of the case.
    pub groups: Vec<Group>,
    /// Candidates that are always there; those of searches come and go with the steps.
    pub candidates: Vec<Candidate>,
    searches: Vec<Search>,
    /// Candidates of obstacles whose surface depends on the place.
    turning: Vec<Turning>,
    /// Sizes of the bodies, the measure of what is near; none without searches.
    bodies: Bodies,
    /// Asked several times in every step, so they are found once.
    steady: bool,
    at_rest: bool,
    rough: bool,
    /// Length of the longest arm of a point that touches.
    longest_arm: f64,
}

/// A `[[contact]]` of the case.
#[derive(Clone, Default)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Directions and sizes of the motion of its obstacle.
    pub motion: Vec<([f64; 2], Function)>,
}

impl Group {
    /// Velocity of the obstacle at an instant.
    fn rate(&self, t: f64) -> [f64; 2] {
        let along = |k: usize| self.motion.iter().map(|(direction, function)| function.rate(t) * direction[k]).sum();
        [along(0), along(1)]
    }
}

/// A candidate that touches one of several surfaces, whichever its place is in front of.
struct Turning {
    candidate: usize,
    obstacle: Arc<dyn Obstacle>,
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
            match &contact.touched {
                Touched::Neighbours { pairs } => {
                    for &[above, below] in pairs {
                        let key = Key { group: g as u32, node: above as u32, feature: below as u32 };
                        let corners = [above, below].map(|node| Corner::new(nodes, node));
                        let mut candidate =
                            Candidate::above(key, contact.law, corners, 2.0 * contact.radius, nodes.free);
                        candidate.adjacent = deepest(shortest[above].min(shortest[below]), contact.radius);
                        contacts.candidates.push(candidate);
                    }
                }
                Touched::Rigid(obstacle) => {
                    for point in contact.points() {
                        let key = Key { group: g as u32, node: point.node as u32, feature: 0 };
                        let corner = Corner::of(nodes, point);
                        let mut candidate = Candidate::rigid(key, contact.law, corner, contact.radius, nodes.free);
                        candidate.adjacent = deepest(shortest[point.node], contact.radius);
                        let path = Path::new([point.place(nodes); 3], [[0.0; 2]; 3]);
                        candidate.face(surface_at_obstacle(obstacle.as_ref(), &path, None, true).0);
                        if obstacle.facing() == Facing::ByPlace {
                            let candidate = contacts.candidates.len();
                            contacts.turning.push(Turning { candidate, obstacle: obstacle.clone() });
                        }
                        contacts.candidates.push(candidate);
                    }
                }
                Touched::Bodies { .. } => unreachable!("bodies are searched for"),
            }
        }
        let arms = model.contacts.iter().flat_map(|contact| contact.points()).map(|point| direction(point.arm).0);
        contacts.longest_arm = arms.fold(0.0, f64::max);
        if !contacts.searches.is_empty() {
            contacts.bodies = Bodies::new(model);
        }
        contacts.steady = contacts.searches.is_empty()
            && contacts.turning.is_empty()
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

    /// Velocities of the obstacles of all contacts at an instant; none where all obstacles are at rest.
    pub fn rates_at(&self, t: f64) -> Vec<[f64; 2]> {
        if self.groups.iter().all(|group| group.motion.is_empty()) {
            return Vec::new();
        }
        self.groups.iter().map(|group| group.rate(t)).collect()
    }

    /// Whether the obstacle of a contact has a front alone, behind which nodes may pass.
    pub fn has_back(&self, group: usize) -> bool {
        let at_obstacle = |search: &&Search| search.group() == group && search.at_obstacle().is_some();
        let turns = |turning: &Turning| self.candidates[turning.candidate].key.group as usize == group;
        self.searches.iter().any(|search| at_obstacle(&search)) || self.turning.iter().any(turns)
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

/// The length that a depth is measured by: that of an element, or the thickness of a body with such a radius if that is smaller.
fn deepest(element: f64, radius: f64) -> f64 {
    if radius > 0.0 { element.min(2.0 * radius) } else { element }
}

/// Length of the shortest element at every node; at a point mass that of the shortest spring, infinite without one.
fn shortest_elements(model: &Model, nodes: &Nodes) -> Vec<f64> {
    let mut shortest = vec![f64::INFINITY; nodes.place.len()];
    let (springs, others): (Vec<_>, Vec<_>) = model.bodies.iter().partition(|body| body.nodes.is_empty());
    for &line in others.iter().flat_map(|body| &body.lines) {
        let (length, _) = nodes.line(line);
        line.iter().for_each(|&node| shortest[node] = shortest[node].min(length));
    }
    // A spring has no nodes of its own; where there are elements, its length says nothing about how deep a contact may be.
    let bare: Vec<bool> = shortest.iter().map(|length| length.is_infinite()).collect();
    for (spring, &line) in springs.iter().flat_map(|spring| spring.lines.iter().map(move |line| (spring, line))) {
        let [from, to] = line.map(|node| nodes.place[node]);
        let length = (to[0] - from[0]).hypot(to[1] - from[1]).max(spring.properties.rest_length.abs());
        for node in line.into_iter().filter(|&node| bare[node] && length > 0.0) {
            shortest[node] = shortest[node].min(length);
        }
    }
    shortest
}
