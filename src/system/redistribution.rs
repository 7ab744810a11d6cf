//! Mass redistribution, (T90)–(T91): contact nodes without mass, so that an impact stops nothing at once.
//!
//! T gives the velocity of a massless degree of freedom from those of massive ones. M* = TᵀMT and body forces TᵀF replace
//! M and F; stiffness, loads on nodes and contact stay where they are.

use super::{Nodes, System};
use crate::case::data::{MassRule, MasslessLaw};
use crate::la::{Factor, Singular, Symmetric};
use crate::model::{Component, Contact, Model, Touched};
use crate::{Error, Result};
use nalgebra::DMatrix;

/// Least eigenvalue of the scaled stiffness of a massless node; below, some motion of it has no stiffness.
const REGULAR: f64 = 1e-13;

/// The matrix T of a system, and the law of its massless contacts.
pub struct Redistribution {
    /// Contact law.
    pub law: MasslessLaw,
    rows: Vec<Vec<(usize, f64)>>,
    massless: Vec<usize>,
}

/// Massless degrees of freedom of one node, with their rows.
type Rows = Vec<(usize, Vec<(usize, f64)>)>;

impl Redistribution {
    /// T from the rows of the massless degrees of freedom out of `total`, for systems that do not come from a model.
    pub fn new(total: usize, rows: &[(usize, Vec<(usize, f64)>)], law: MasslessLaw) -> Redistribution {
        let mut all: Vec<Vec<(usize, f64)>> = (0..total).map(|dof| vec![(dof, 1.0)]).collect();
        let mut massless: Vec<usize> = rows.iter().map(|(dof, _)| *dof).collect();
        massless.sort_unstable();
        rows.iter().for_each(|(dof, row)| all[*dof].clone_from(row));
        Redistribution { law, rows: all, massless }
    }

    /// T of a model; `None` if all its contacts keep their mass.
    pub(super) fn of(model: &Model, nodes: &Nodes) -> Result<Option<Redistribution>> {
        let mut rows: Rows = Vec::new();
        let mut law = None;
        for contact in &model.contacts {
            let Some(massless) = &contact.massless else { continue };
            law = Some(massless.law);
            for &node in &contact.nodes {
                let found = node_rows(model, nodes, node, normal(contact), massless.rule)
                    .map_err(|reason| Error::Input(format!("contact `{}`, mass: {reason}", contact.name)))?;
                for (dof, row) in found {
                    // Two contacts of one node give the same row.
                    if rows.iter().all(|(other, _)| *other != dof) {
                        rows.push((dof, row));
                    }
                }
            }
        }
        let Some(law) = law else { return Ok(None) };
        let redistribution = Redistribution::new(nodes.total, &rows, law);
        for (_, row) in &rows {
            if let Some((parent, _)) = row.iter().find(|(parent, _)| redistribution.is_massless(*parent)) {
                let place = nodes.place[nodes.owner(*parent).0];
                return Err(Error::Input(format!(
                    "mass = \"redistributed\": the contact node at ({}, {}) would take the mass of another contact node; \
                     give fewer nodes, every second one of a beam (`every = 2` in a [[set]])",
                    place[0], place[1]
                )));
            }
        }
        Ok(Some(redistribution))
    }

    /// Whether a degree of freedom has no mass.
    pub fn is_massless(&self, dof: usize) -> bool {
        self.massless.binary_search(&dof).is_ok()
    }

    /// Massless degrees of freedom in ascending order.
    pub fn massless(&self) -> &[usize] {
        &self.massless
    }

    /// Row of T: which velocities make that of a degree of freedom, and with which weight.
    pub fn row(&self, dof: usize) -> &[(usize, f64)] {
        &self.rows[dof]
    }

    /// Degrees of freedom between which an element with these has mass.
    pub(super) fn clique(&self, dofs: &[u32]) -> Vec<u32> {
        dofs.iter().flat_map(|&dof| self.row(dof as usize)).map(|&(dof, _)| dof as u32).collect()
    }
}

/// Whether the nodes of a contact could be massless.
pub fn possible(model: &Model, system: &System, contact: usize) -> bool {
    let contact = &model.contacts[contact];
    let fits = contact.plane().is_some() || matches!(contact.touched, Touched::Neighbours { .. });
    if !fits || contact.law.friction > 0.0 {
        return false;
    }
    let nodes = &system.nodes;
    let rows: std::result::Result<Vec<Rows>, String> =
        contact.nodes.iter().map(|&node| node_rows(model, nodes, node, normal(contact), None)).collect();
    rows.is_ok_and(|rows| {
        let rows: Rows = rows.into_iter().flatten().collect();
        let moved = Redistribution::new(nodes.total, &rows, MasslessLaw::Position);
        let apart = rows.iter().all(|(_, row)| row.iter().all(|&(parent, _)| !moved.is_massless(parent)));
        !rows.is_empty() && apart && system.without_stiffness(&moved).is_none()
    })
}

/// The normal of a contact of massless nodes: that of its plane, or the only direction that there is; none of a circle has one.
fn normal(contact: &Contact) -> Option<[f64; 2]> {
    match &contact.touched {
        Touched::Rigid(obstacle) => obstacle.normal(),
        Touched::Neighbours { .. } | Touched::Bodies { .. } => Some([1.0, 0.0]),
    }
}

/// Rows of the degrees of freedom that a contact node loses the mass of.
fn node_rows(
    model: &Model,
    nodes: &Nodes,
    node: usize,
    normal: Option<[f64; 2]>,
    rule: Option<MassRule>,
) -> std::result::Result<Rows, String> {
    let body = model.body_of(node);
    let here = |place: [f64; 2]| format!("({}, {})", place[0], place[1]);
    let at = here(nodes.place[node]);
    let same = |other: usize| other == node || nodes.find(other, Component::X) == nodes.find(node, Component::X);
    let owners = model.bodies.iter().filter(|body| !body.nodes.is_empty());
    if let Some(mass) = owners.clone().find(|body| body.lines.is_empty() && same(body.nodes.start)) {
        return Err(format!("`{}` is a point mass, which has no neighbours to give its mass to", mass.name));
    }
    let neighbours: Vec<usize> = owners
        .flat_map(|body| &body.lines)
        .filter_map(|&[a, b]| if same(a) { Some(b) } else { same(b).then_some(a) })
        .collect();
    let components = (body.kind.components)(model.dimension);
    let bends = components.contains(&Component::Theta);
    let exact = bends && body.kind.turns;
    let rule = rule.unwrap_or(if bends { MassRule::Full } else { MassRule::Const });
    match (bends, rule) {
        (true, MassRule::Const | MassRule::Lin) => {
            return Err(format!("rule \"const\" or \"lin\" does not go with the beam `{}`; allowed: full", body.name));
        }
        (false, MassRule::Full) => {
            return Err(format!("rule \"full\" does not go with the bar `{}`; allowed: const, lin", body.name));
        }
        _ => {}
    }
    // With large rotations the kinetic energy of all motions must stay together; with small ones the normal is fixed.
    let pushed = |c: Component| normal.is_none_or(|normal| normal[c as usize].abs() > 1e-12);
    let wanted = |c: Component| exact || c == Component::Theta || pushed(c);
    let place = |other: usize| nodes.place[other];
    let apart = |a: usize, b: usize| [place(b)[0] - place(a)[0], place(b)[1] - place(a)[1]];
    let size = |d: [f64; 2]| d[0].hypot(d[1]);
    let aligned = |d: [f64; 2], e: [f64; 2]| {
        (d[0] * e[1] - d[1] * e[0]).abs() <= 1e-6 * size(d) * size(e) && d[0] * e[0] + d[1] * e[1] > 0.0
    };
    // Weights of neighbours that reproduce a velocity field linear along the body.
    let weights: Vec<(usize, f64)> = match neighbours[..] {
        [next] if rule == MassRule::Const || (bends && !exact) => vec![(next, 1.0)],
        [next] => {
            let owner = model.body_of(next);
            let second = owner.lines.iter().filter_map(|&[a, b]| match (a == next, b == next) {
                (true, _) => Some(b),
                (_, true) => Some(a),
                _ => None,
            });
            let (to, mut second) = (apart(node, next), second.filter(|&other| !same(other)));
            let Some(second) = second.find(|&other| aligned(to, apart(next, other))) else {
                return Err(format!("the end node at {at} needs two elements on a straight line behind it"));
            };
            let ratio = size(to) / size(apart(next, second));
            vec![(next, 1.0 + ratio), (second, -ratio)]
        }
        [a, b] => {
            if !aligned(apart(a, node), apart(node, b)) {
                return Err(format!("the elements at {at} do not lie on one straight line"));
            }
            let (la, lb) = (size(apart(a, node)), size(apart(node, b)));
            vec![(a, lb / (la + lb)), (b, la / (la + lb))]
        }
        _ => return Err(format!("{} elements meet at {at}, and mass can move along one line only", neighbours.len())),
    };
    let tip = neighbours.len() == 1;
    let mut rows = Rows::new();
    for &component in components.iter().filter(|&&c| wanted(c)) {
        let dof = nodes.dof(node, component) as usize;
        if dof >= nodes.free {
            continue;
        }
        let mut row = Vec::new();
        let turns = tip && component == Component::Theta;
        let used = if turns { vec![(neighbours[0], 1.0)] } else { weights.clone() };
        for (other, weight) in used {
            let parent = nodes.find(other, component);
            let parent = parent.ok_or_else(|| format!("the neighbour of {at} has no `{}`", component.name()))?;
            row.push((parent, weight));
        }
        if tip && bends && !exact && component != Component::Theta {
            // The end of a linear beam follows its neighbour as a rigid body.
            let arm = apart(neighbours[0], node);
            let lever = if component == Component::X { -arm[1] } else { arm[0] };
            let turn = nodes.find(neighbours[0], Component::Theta);
            row.extend(turn.filter(|_| lever != 0.0).map(|turn| (turn, lever)));
        }
        rows.push((dof, row));
    }
    Ok(rows)
}

impl System {
    /// The mass matrix with a unit on the diagonal of massless rows: regular, and exact on the others.
    pub fn regular_mass(&self) -> Symmetric {
        let mut mass = self.mass.clone();
        for &dof in self.redistribution.iter().flat_map(|r| r.massless()) {
            mass.add(dof, dof, 1.0);
        }
        mass
    }

    /// Overwrites `matrix` with the stiffness at `q` between massless degrees of freedom, and unit rows elsewhere.
    pub fn massless_stiffness(&self, q: &[f64], matrix: &mut Symmetric) {
        self.effective(q, 0.0, 0.0, 1.0, matrix);
        let Some(redistribution) = &self.redistribution else { return };
        let pattern = matrix.pattern.clone();
        for j in 0..pattern.n {
            let own = redistribution.is_massless(j);
            for k in pattern.starts[j] as usize..pattern.starts[j + 1] as usize {
                let i = pattern.rows[k] as usize;
                if !own || !redistribution.is_massless(i) {
                    matrix.values[k] = if i == j { 1.0 } else { 0.0 };
                }
            }
        }
    }

    /// Fills in the massless part of `x` so that its rows of K x vanish.
    pub(super) fn follow(&self, stiffness: &mut Factor, x: &mut [f64], image: &mut [f64], scratch: &mut [f64]) {
        let Some(redistribution) = &self.redistribution else { return };
        redistribution.massless().iter().for_each(|&dof| x[dof] = 0.0);
        image.fill(0.0);
        self.add_stiffness_times(&self.q0, x, -1.0, scratch, image);
        for i in 0..image.len() {
            if !redistribution.is_massless(i) {
                image[i] = 0.0;
            }
        }
        stiffness.solve(image);
        redistribution.massless().iter().for_each(|&dof| x[dof] = image[dof]);
    }

    /// Factor of [`System::massless_stiffness`] at the initial state; `None` without massless degrees of freedom.
    pub(super) fn massless_factor(&self) -> std::result::Result<Option<Factor>, Singular> {
        if self.redistribution.is_none() {
            return Ok(None);
        }
        let mut stiffness = Symmetric::zeros(self.mass.pattern.clone());
        self.massless_stiffness(&self.q0, &mut stiffness);
        let mut factor = Factor::new(&stiffness.pattern, self.nodes.free);
        factor.factor(&stiffness)?;
        Ok(Some(factor))
    }

    /// Refuses massless motions without stiffness: nothing would say where they go.
    pub(super) fn check_massless(&self) -> Result<()> {
        let Some(dof) = self.redistribution.as_ref().and_then(|moved| self.without_stiffness(moved)) else {
            return Ok(());
        };
        Err(Error::Input(format!(
            "mass = \"redistributed\": {} has no stiffness of its own and cannot be without mass; keep the mass, or take \
             beams instead of bars",
            self.describe(dof)
        )))
    }

    /// A massless degree of freedom whose node has a motion without stiffness.
    fn without_stiffness(&self, redistribution: &Redistribution) -> Option<usize> {
        let mut stiffness = Symmetric::zeros(self.mass.pattern.clone());
        self.effective(&self.q0, 0.0, 0.0, 1.0, &mut stiffness);
        let entry = |i: usize, j: usize| stiffness.pattern.position(i, j).map_or(0.0, |k| stiffness.values[k]);
        let massless = redistribution.massless();
        let mut start = 0;
        while start < massless.len() {
            // Nodes number their motions in a row, and massless nodes are no neighbours.
            let node = self.nodes.owner(massless[start]).0;
            let own = |dof: &&usize| self.nodes.owner(**dof).0 == node;
            let dofs: Vec<usize> = massless[start..].iter().take_while(own).copied().collect();
            let scaled = DMatrix::from_fn(dofs.len(), dofs.len(), |i, j| {
                entry(dofs[i], dofs[j]) / (entry(dofs[i], dofs[i]) * entry(dofs[j], dofs[j])).sqrt()
            });
            let regular = scaled.iter().all(|x| x.is_finite()) && scaled.symmetric_eigenvalues().min() > REGULAR;
            if !regular {
                return Some(dofs[0]);
            }
            start += dofs.len();
        }
        None
    }
}
