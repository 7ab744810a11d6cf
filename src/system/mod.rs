//! The assembled equations M a + f(q, v, t) = G p, read-only during a run.
//!
//! A system knows unknowns, matrices, elements and contact candidates; it must not know which scheme or which
//! step asks.

mod beams;
pub mod bordered;
pub mod general;
mod numbering;
pub mod operator;
pub mod redistribution;
pub mod spectrum;
mod states;

pub use crate::nodes::Nodes;

use crate::elements::Element;
use crate::la::{Bands, Pattern, Symmetric};
use crate::model::function::Function;
use crate::model::{Component, Model};
use crate::relations::Contacts;
use crate::{Error, Result};
use redistribution::Redistribution;
use std::ops::Range;
use std::sync::Arc;

/// The assembled equations of a model.
pub struct System {
    /// Places and numbers of the unknowns.
    pub nodes: Nodes,
    /// Elements, one entry per body.
    pub elements: Vec<Box<dyn Element>>,
    /// Mass matrix over all degrees of freedom; M* where mass is redistributed.
    pub mass: Symmetric,
    /// The mass matrix in bands, for products.
    pub inertia: Bands,
    /// Constant damping: mass-proportional, and that of linear elements. `None` if there is none.
    pub damping: Option<Symmetric>,
    /// Force of gravity.
    pub gravity: Vec<f64>,
    /// Which degrees of freedom are massless, if any.
    pub redistribution: Option<Redistribution>,
    /// Contact candidates.
    pub contacts: Contacts,
    /// Whether anything damps.
    pub damped: bool,
    /// Whether all forces are affine in q and v.
    pub linear: bool,
    /// Initial displacement.
    pub q0: Vec<f64>,
    /// Initial velocity.
    pub v0: Vec<f64>,
    /// Length of the model, the measure of tolerances on gaps.
    pub length: f64,
    /// Forces, and moments, in which the rounding of a strain shows.
    pub floor: [f64; 2],
    /// Shortest element with a nonlinear law.
    pub shortest: f64,
    /// Held degrees of freedom that follow a function of time.
    pub drives: Vec<(usize, Function)>,
    loads: Vec<(Vec<(usize, f64)>, Function)>,
    /// Expressions of loads and motions, and whether their derivatives count.
    expressions: Vec<(Function, bool)>,
    /// For each body the places of its element entries in the pattern, upper triangles row by row.
    scatter: Vec<Vec<u32>>,
    /// Internal force of the linear elements at q = 0, the offset of their affine law.
    offset: Vec<f64>,
    bodies: Vec<(String, Range<usize>)>,
}

impl System {
    /// Numbers the unknowns of a model and assembles its constant matrices.
    pub fn assemble(model: &Model) -> Result<System> {
        let nodes = numbering::number(model)?;
        let elements: Vec<Box<dyn Element>> = model.bodies.iter().map(|body| (body.kind.build)(body, &nodes)).collect();
        let n = nodes.total;
        let redistribution = Redistribution::of(model, &nodes)?;
        let cliques = || elements.iter().flat_map(|e| e.block().dofs.chunks(e.block().per));
        let moved: Vec<Vec<u32>> = redistribution.iter().flat_map(|r| cliques().map(|dofs| r.clique(dofs))).collect();
        let pattern = Arc::new(Pattern::from_cliques(n, cliques().chain(moved.iter().map(Vec::as_slice))));
        let scatter = elements.iter().map(|e| scatter_map(&pattern, e.as_ref())).collect();
        let mut system = System {
            mass: Symmetric::zeros(pattern.clone()),
            inertia: Bands::new(&pattern),
            damping: None,
            gravity: vec![0.0; n],
            redistribution,
            contacts: Contacts::new(model, &nodes),
            damped: false,
            linear: elements.iter().all(|e| e.block().linear),
            q0: vec![0.0; n],
            v0: vec![0.0; n],
            length: model.length,
            floor: [0, 1].map(|class| elements.iter().map(|e| e.block().floor[class]).fold(0.0, f64::max)),
            shortest: elements
                .iter()
                .filter(|e| !e.block().linear)
                .map(|e| e.block().shortest)
                .fold(f64::INFINITY, f64::min),
            drives: Vec::new(),
            loads: Vec::new(),
            expressions: expressions(model),
            scatter,
            offset: vec![0.0; n],
            bodies: model.bodies.iter().map(|body| (body.name.clone(), body.nodes.clone())).collect(),
            nodes,
            elements,
        };
        system.assemble_constants(model, pattern);
        system.set_loads(model);
        system.set_initial_state(model);
        system.set_drives(model)?;
        system.check_mass()?;
        system.check_massless()?;
        Ok(system)
    }

    /// Largest diagonal entries of the element stiffness at `q`, of translations and of rotations, and the bodies that they
    /// belong to.
    pub fn stiffest(&self, q: &[f64]) -> [(f64, usize); 2] {
        let mut stiffest = [(0.0, 0); 2];
        for (body, element) in self.elements.iter().enumerate() {
            let block = element.block();
            for i in 0..block.len() {
                let stiffness = element.tangent(i, q).stiffness;
                for (k, &dof) in block.element(i).iter().enumerate() {
                    let class = usize::from(self.nodes.is_rotation(dof as usize));
                    let entry = stiffness[(k, k)].abs();
                    if entry > stiffest[class].0 {
                        stiffest[class] = (entry, body);
                    }
                }
            }
        }
        stiffest
    }

    fn assemble_constants(&mut self, model: &Model, pattern: Arc<Pattern>) {
        let mut damping = Symmetric::zeros(pattern);
        let mut damped = false;
        for (b, body) in model.bodies.iter().enumerate() {
            let element = &self.elements[b];
            let rate = body.properties.mass_damping;
            let viscous = element.block().linear && element.block().damped;
            damped |= rate != 0.0 || viscous;
            let mut position = self.scatter[b].iter();
            for e in 0..element.block().len() {
                let mass = element.mass(e);
                let dofs = element.block().element(e);
                let local = viscous.then(|| element.tangent(e, &self.q0).damping);
                if let Some(moved) = &self.redistribution {
                    add_moved(moved, dofs, &mass, 1.0, &mut self.mass);
                    add_moved(moved, dofs, &mass, rate, &mut damping);
                }
                let inertia = if self.redistribution.is_some() { 0.0 } else { 1.0 };
                for i in 0..dofs.len() {
                    for j in i..dofs.len() {
                        let k = *position.next().expect("the scatter map covers the upper triangle") as usize;
                        self.mass.values[k] += inertia * mass[(i, j)];
                        damping.values[k] += inertia * rate * mass[(i, j)] + local.map_or(0.0, |c| c[(i, j)]);
                    }
                }
            }
            if element.block().linear {
                element.internal(&self.q0, &mut self.offset);
            }
        }
        self.inertia.take(&self.mass);
        self.damping = damped.then_some(damping);
        self.damped = damped || self.elements.iter().any(|e| e.block().damped);
    }

    fn set_loads(&mut self, model: &Model) {
        let mut field = vec![0.0; self.nodes.total];
        for node in 0..model.places.len() {
            for (component, g) in [Component::X, Component::Y].into_iter().zip(model.gravity) {
                if let Some(dof) = self.nodes.find(node, component) {
                    field[dof] = g;
                }
            }
        }
        self.mass.multiply(&field, &mut self.gravity);
        for load in &model.loads {
            let forces = load.forces.iter().map(|&(node, c, value)| (self.nodes.dof(node, c) as usize, value));
            let moved = self.redistribution.as_ref().filter(|_| load.along_body);
            let forces = match moved {
                Some(moved) => {
                    forces.flat_map(|(dof, f)| moved.row(dof).iter().map(move |(d, t)| (*d, t * f))).collect()
                }
                None => forces.collect(),
            };
            self.loads.push((forces, load.time.clone()));
        }
    }

    fn set_initial_state(&mut self, model: &Model) {
        for node in 0..model.places.len() {
            for component in [Component::X, Component::Y, Component::Theta] {
                // What a support holds stays at its reference value whatever the initial fields say.
                if let Some(dof) = self.nodes.find(node, component).filter(|&dof| dof < self.nodes.free) {
                    self.q0[dof] = model.displacement[node][component as usize];
                    self.v0[dof] = model.velocity[node][component as usize];
                }
            }
        }
    }

    fn set_drives(&mut self, model: &Model) -> Result<()> {
        // Joints share degrees of freedom, so a clash may come from another support on another node.
        let mut taken = vec![false; self.nodes.total];
        for support in &model.supports {
            for &node in &support.nodes {
                for &component in &support.fix {
                    taken[self.nodes.dof(node, component) as usize] = true;
                }
            }
        }
        for support in &model.supports {
            for &node in &support.nodes {
                for (component, function) in &support.motion {
                    let dof = self.nodes.dof(node, *component) as usize;
                    if std::mem::replace(&mut taken[dof], true) {
                        return Err(Error::Input(format!(
                            "support `{}`: {} is held or moved twice",
                            support.name,
                            self.describe(dof)
                        )));
                    }
                    self.q0[dof] = function.value(0.0);
                    self.v0[dof] = function.rate(0.0);
                    self.drives.push((dof, function.clone()));
                }
            }
        }
        Ok(())
    }

    fn check_mass(&self) -> Result<()> {
        let massless = |dof: &usize| self.redistribution.as_ref().is_some_and(|r| r.is_massless(*dof));
        for dof in (0..self.nodes.free).filter(|dof| !massless(dof)) {
            let position = self.mass.pattern.position(dof, dof).expect("the diagonal is in every pattern");
            if self.mass.values[position] <= 0.0 {
                return Err(Error::Input(format!(
                    "{} has no mass: give its body a density or a point mass, or support it",
                    self.describe(dof)
                )));
            }
        }
        Ok(())
    }

    /// Body, node and component of a degree of freedom in words.
    pub fn describe(&self, dof: usize) -> String {
        let (node, component) = self.nodes.owner(dof);
        format!("{}, component {}", self.describe_node(node), component.name())
    }

    /// Name of the body that a node belongs to.
    pub fn body_of(&self, node: usize) -> &str {
        &self.owner_of(node).0
    }

    fn owner_of(&self, node: usize) -> &(String, Range<usize>) {
        self.bodies.iter().find(|(_, nodes)| nodes.contains(&node)).expect("every node belongs to a body")
    }

    /// Where a node is.
    pub fn describe_node(&self, node: usize) -> String {
        let (body, nodes) = self.owner_of(node);
        let place = self.nodes.place[node];
        let place =
            if self.nodes.dimension == 1 { format!("{}", place[0]) } else { format!("{}, {}", place[0], place[1]) };
        format!("body `{body}`, node {} at ({place})", node - nodes.start)
    }

    /// Overwrites `f` with the internal force at `q`; returns the strain energy.
    pub fn internal(&self, q: &[f64], f: &mut [f64]) -> f64 {
        f.fill(0.0);
        self.elements.iter().map(|element| element.internal(q, f)).sum()
    }

    /// Overwrites `f` with the applied loads at time `t`, gravity apart.
    pub fn applied(&self, t: f64, f: &mut [f64]) {
        f.fill(0.0);
        for (forces, time) in &self.loads {
            let factor = time.value(t);
            for &(dof, value) in forces {
                f[dof] += factor * value;
            }
        }
    }

    /// Loads on the degrees of freedom from `first` on: forces, and the function that all of a load follow.
    pub fn loads_on(&self, first: usize) -> Vec<(Vec<(usize, f64)>, Function)> {
        let there =
            |forces: &[(usize, f64)]| forces.iter().copied().filter(|(dof, _)| *dof >= first).collect::<Vec<_>>();
        let loads = self.loads.iter().map(|(forces, time)| (there(forces), time.clone()));
        loads.filter(|(forces, _)| !forces.is_empty()).collect()
    }

    /// An error if an expression of time has no finite value at `t`.
    pub fn check_expressions(&self, t: f64) -> Result<()> {
        self.expressions.iter().try_for_each(|(function, rates)| function.check(t, *rates))
    }

    /// Whether any load is applied, gravity apart.
    pub fn is_loaded(&self) -> bool {
        !self.loads.is_empty()
    }

    /// Overwrites `f` with the damping force at (q, v).
    pub fn viscous(&self, q: &[f64], v: &[f64], f: &mut [f64]) {
        f.fill(0.0);
        self.add_damping_times(q, v, 1.0, f);
    }

    /// y += s C(q) x.
    pub fn add_damping_times(&self, q: &[f64], x: &[f64], s: f64, y: &mut [f64]) {
        if let Some(damping) = &self.damping {
            damping.multiply_add(s, x, y);
        }
        for element in self.elements.iter().filter(|e| e.block().damped && !e.block().linear) {
            let block = element.block();
            for e in 0..block.len() {
                let local = element.tangent(e, q).damping;
                add_local(block.element(e), &local, s, x, y);
            }
        }
    }

    /// y += s K(q) x.
    pub fn add_stiffness_times(&self, q: &[f64], x: &[f64], s: f64, scratch: &mut [f64], y: &mut [f64]) {
        scratch.fill(0.0);
        for element in &self.elements {
            let block = element.block();
            if block.linear {
                element.internal(x, scratch);
            } else {
                for e in 0..block.len() {
                    add_local(block.element(e), &element.tangent(e, q).stiffness, 1.0, x, scratch);
                }
            }
        }
        for i in 0..y.len() {
            y[i] += s * (scratch[i] - self.offset[i]);
        }
    }

    /// Overwrites `matrix` with m M + c C(q) + k K(q).
    pub fn effective(&self, q: &[f64], m: f64, c: f64, k: f64, matrix: &mut Symmetric) {
        for (value, mass) in matrix.values.iter_mut().zip(&self.mass.values) {
            *value = m * mass;
        }
        if let Some(damping) = &self.damping {
            for (value, constant) in matrix.values.iter_mut().zip(&damping.values) {
                *value += c * constant;
            }
        }
        for (element, map) in self.elements.iter().zip(&self.scatter) {
            let block = element.block();
            let own_damping = block.damped && !block.linear;
            if k == 0.0 && !own_damping {
                continue;
            }
            let mut position = map.iter();
            for e in 0..block.len() {
                let tangent = element.tangent(e, q);
                for i in 0..block.per {
                    for j in i..block.per {
                        let place = *position.next().expect("the scatter map covers the upper triangle") as usize;
                        matrix.values[place] += k * tangent.stiffness[(i, j)];
                        if own_damping {
                            matrix.values[place] += c * tangent.damping[(i, j)];
                        }
                    }
                }
            }
        }
    }
}

/// matrix += s TᵀA T for the mass A of one element, (T91).
fn add_moved(moved: &Redistribution, dofs: &[u32], local: &crate::elements::Local, s: f64, matrix: &mut Symmetric) {
    for (i, &row) in dofs.iter().enumerate() {
        for (j, &column) in dofs.iter().enumerate().filter(|&(j, _)| local[(i, j)] != 0.0) {
            for &(a, from) in moved.row(row as usize) {
                for &(b, to) in moved.row(column as usize).iter().filter(|(b, _)| a <= *b) {
                    matrix.add(a, b, s * from * to * local[(i, j)]);
                }
            }
        }
    }
}

/// y += s A x for one element.
fn add_local(dofs: &[u32], local: &crate::elements::Local, s: f64, x: &[f64], y: &mut [f64]) {
    for (i, &row) in dofs.iter().enumerate() {
        let sum: f64 = dofs.iter().enumerate().map(|(j, &column)| local[(i, j)] * x[column as usize]).sum();
        y[row as usize] += s * sum;
    }
}

fn scatter_map(pattern: &Pattern, element: &dyn Element) -> Vec<u32> {
    let block = element.block();
    let mut map = Vec::with_capacity(block.len() * block.per * (block.per + 1) / 2);
    for e in 0..block.len() {
        let dofs = block.element(e);
        for i in 0..dofs.len() {
            for j in i..dofs.len() {
                let position = pattern.position(dofs[i] as usize, dofs[j] as usize);
                map.push(position.expect("an element's entries are in the pattern") as u32);
            }
        }
    }
    map
}

/// Functions that may fail to have a value, and whether their derivatives count too.
fn expressions(model: &Model) -> Vec<(Function, bool)> {
    let loads = model.loads.iter().map(|load| (&load.time, false));
    let supports = model.supports.iter().flat_map(|support| support.motion.iter().map(|(_, f)| (f, true)));
    let obstacles = model.contacts.iter().flat_map(|contact| contact.motion.iter().map(|(_, f)| (f, true)));
    let all = loads.chain(supports).chain(obstacles);
    all.filter(|(f, _)| matches!(f, Function::Expression(_))).map(|(f, rates)| (f.clone(), rates)).collect()
}
