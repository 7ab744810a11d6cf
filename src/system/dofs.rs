//! Numbering of the unknowns.
//!
//! A degree of freedom exists only where an element needs it. Free ones come first, in the order of the nodes;
//! those that a support holds come last, so that the equations to be solved are the leading rows.

use crate::model::{Component, Model};
use crate::{Error, Result};

const NONE: u32 = u32::MAX;

/// Reference places of the nodes and the numbers of their unknowns.
pub struct Nodes {
    /// One or two.
    pub dimension: usize,
    /// Reference places.
    pub place: Vec<[f64; 2]>,
    /// Unknowns to solve for.
    pub free: usize,
    /// All degrees of freedom, the held ones included.
    pub total: usize,
    dofs: Vec<[u32; 3]>,
    rotations: Vec<bool>,
}

impl Nodes {
    /// Numbers the degrees of freedom of a model.
    pub fn number(model: &Model) -> Result<Nodes> {
        let mut exists = vec![[false; 3]; model.places.len()];
        for body in &model.bodies {
            for node in body.nodes.clone() {
                for &component in (body.kind.components)(model.dimension) {
                    exists[node][component as usize] = true;
                }
            }
        }
        let mut held = vec![[false; 3]; model.places.len()];
        for support in &model.supports {
            for &node in &support.nodes {
                for &component in &support.fix {
                    if !exists[node][component as usize] {
                        return Err(Error::Input(format!(
                            "support `{}`: a node of `{}` has no component `{}`",
                            support.name,
                            model.body_of(node).name,
                            component.name()
                        )));
                    }
                    held[node][component as usize] = true;
                }
            }
        }
        let mut dofs = vec![[NONE; 3]; model.places.len()];
        let mut count = 0;
        let mut free = 0;
        for want_held in [false, true] {
            for node in 0..dofs.len() {
                for c in 0..3 {
                    if exists[node][c] && held[node][c] == want_held {
                        dofs[node][c] = count;
                        count += 1;
                    }
                }
            }
            if !want_held {
                free = count as usize;
            }
        }
        Ok(Nodes {
            dimension: model.dimension,
            place: model.places.clone(),
            free,
            total: count as usize,
            rotations: rotations(&dofs, count as usize),
            dofs,
        })
    }

    /// Whether a degree of freedom is a rotation.
    pub fn is_rotation(&self, dof: usize) -> bool {
        self.rotations[dof]
    }

    /// Number of a degree of freedom that is known to exist.
    ///
    /// # Panics
    /// If the node has no such component.
    pub fn dof(&self, node: usize, component: Component) -> u32 {
        let dof = self.dofs[node][component as usize];
        assert!(dof != NONE, "node {node} has no component {}", component.name());
        dof
    }

    /// Number of a degree of freedom, if the node has it.
    pub fn find(&self, node: usize, component: Component) -> Option<usize> {
        let dof = self.dofs[node][component as usize];
        (dof != NONE).then_some(dof as usize)
    }

    /// Node and component of a degree of freedom, for messages.
    pub fn owner(&self, dof: usize) -> (usize, Component) {
        for (node, numbers) in self.dofs.iter().enumerate() {
            for component in [Component::X, Component::Y, Component::Theta] {
                if numbers[component as usize] == dof as u32 {
                    return (node, component);
                }
            }
        }
        unreachable!("every degree of freedom has an owner")
    }

    /// Length and unit vector of a line between two nodes.
    pub fn line(&self, [a, b]: [usize; 2]) -> (f64, [f64; 2]) {
        let d = [self.place[b][0] - self.place[a][0], self.place[b][1] - self.place[a][1]];
        // In one dimension the exact difference, so that scaled units give scaled bits.
        let length = if self.dimension == 1 { d[0].abs() } else { d[0].hypot(d[1]) };
        (length, [d[0] / length, d[1] / length])
    }
}

fn rotations(dofs: &[[u32; 3]], count: usize) -> Vec<bool> {
    let mut rotations = vec![false; count];
    for numbers in dofs {
        if numbers[Component::Theta as usize] != NONE {
            rotations[numbers[Component::Theta as usize] as usize] = true;
        }
    }
    rotations
}
