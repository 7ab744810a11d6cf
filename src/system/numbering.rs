//! Numbering of the unknowns.
//!
//! A degree of freedom exists only where an element needs it. Free ones come first, in an order of the nodes that keeps
//! neighbours together: that of the bodies if they are simple chains, else reverse Cuthill–McKee;
//! those that a support holds come last, so that the equations to be solved are the leading rows. A long line of bars
//! that nothing loads, damps or drives is woven, see [`crate::la::lanes`]: its step is made for that order.

use crate::case::data::JointKind;
use crate::la::lanes::Weave;
use crate::model::Model;
use crate::nodes::{NONE, Nodes};
use crate::{Error, Result};
use sprs::TriMat;
use sprs::linalg::reverse_cuthill_mckee;

/// Shorter lines gain nothing from being woven.
const SHORTEST: usize = 32;

/// Numbers the degrees of freedom of a model.
pub(super) fn number(model: &Model) -> Result<Nodes> {
    let mut exists = vec![[false; 3]; model.places.len()];
    for body in &model.bodies {
        for node in body.nodes.clone() {
            for &component in (body.kind.components)(model.dimension) {
                exists[node][component as usize] = true;
            }
        }
    }
    let mut classes = Classes::new(model.places.len());
    for joint in &model.joints {
        let [a, b] = joint.nodes;
        for c in 0..if joint.kind == JointKind::Weld { 3 } else { 2 } {
            if exists[a][c] && exists[b][c] {
                classes.join(3 * a + c, 3 * b + c);
            }
        }
    }
    let mut held = vec![false; 3 * model.places.len()];
    for support in &model.supports {
        let driven = support.motion.iter().map(|(component, _)| component);
        for &node in &support.nodes {
            for &component in support.fix.iter().chain(driven.clone()) {
                if !exists[node][component as usize] {
                    return Err(Error::Input(format!(
                        "support `{}`: a node of `{}` has no component `{}`",
                        support.name,
                        model.body_of(node).name,
                        component.name()
                    )));
                }
                held[classes.root(3 * node + component as usize)] = true;
            }
        }
    }
    let mut dofs = vec![[NONE; 3]; model.places.len()];
    let mut numbers = vec![NONE; held.len()];
    let mut count = 0;
    let mut free = 0;
    let (order, width) = narrow_order(model);
    for want_held in [false, true] {
        for &node in &order {
            for c in 0..3 {
                let root = classes.root(3 * node + c);
                if exists[node][c] && held[root] == want_held {
                    if numbers[root] == NONE {
                        numbers[root] = count;
                        count += 1;
                    }
                    dofs[node][c] = numbers[root];
                }
            }
        }
        if !want_held {
            free = count as usize;
        }
    }
    let weave = (free >= SHORTEST && width <= 1 && is_plain_line(model)).then(|| Weave::of(free));
    if let Some(weave) = weave {
        for dof in dofs.iter_mut().flatten().filter(|dof| (**dof as usize) < free) {
            *dof = weave.place(*dof as usize) as u32;
        }
    }
    Ok(Nodes::new(model.dimension, model.places.clone(), dofs, [free, count as usize], weave))
}

/// Whether everything is along one direction, supports are at rest and no node is massless.
fn is_plain_line(model: &Model) -> bool {
    let driven = model.supports.iter().any(|support| !support.motion.is_empty());
    let massless = model.contacts.iter().any(|contact| contact.massless.is_some());
    model.dimension == 1 && !driven && !massless
}

/// An order of the nodes in which lines and joints connect near neighbours, so that chains are recognised as such
/// however the case lists them; and how far they reach in it.
fn narrow_order(model: &Model) -> (Vec<usize>, usize) {
    let n = model.places.len();
    let lines = model.bodies.iter().flat_map(|body| body.lines.iter().copied());
    let edges: Vec<[usize; 2]> = lines.chain(model.joints.iter().map(|joint| joint.nodes)).collect();
    let width =
        |place: &dyn Fn(usize) -> usize| edges.iter().map(|&[a, b]| place(a).abs_diff(place(b))).max().unwrap_or(0);
    let natural = width(&|node| node);
    if natural <= 1 {
        return ((0..n).collect(), natural);
    }
    let mut graph = TriMat::new((n, n));
    for &[a, b] in &edges {
        graph.add_triplet(a, b, 1.0);
        graph.add_triplet(b, a, 1.0);
    }
    let ordering = reverse_cuthill_mckee(graph.to_csr::<usize>().view());
    let order = ordering.perm.vec();
    let mut place = vec![0; n];
    order.iter().enumerate().for_each(|(k, &node)| place[node] = k);
    let narrow = width(&|node| place[node]);
    if narrow < natural { (order, narrow) } else { ((0..n).collect(), natural) }
}

/// Degrees of freedom that joints make one.
struct Classes(Vec<usize>);

impl Classes {
    fn new(count: usize) -> Classes {
        Classes((0..3 * count).collect())
    }

    fn root(&self, mut i: usize) -> usize {
        while self.0[i] != i {
            i = self.0[i];
        }
        i
    }

    /// The smaller number stays the root, so that numbering follows the nodes.
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}
