//! From a case, and the meshes and tables that it names, to a model.

use super::Law;
use super::function::{Function, Inputs};
use super::references::NodeSets;
use super::{Body, Component, Contact, Joint, Load, Massless, Model, Probe, Properties, Support, Touched};
use super::{section, sections};
use crate::case::PLACE;
use crate::case::data::{self, Case};
use crate::elements::{self, ElementKind};
use crate::expression::Expression;
use crate::mesh::{self, Mesh};
use crate::obstacles::{self, Values};
use crate::plane::tangent;
use crate::{Error, Result, table};
use std::path::PathBuf;

impl Model {
    /// Builds the model of a checked case; `path` resolves the names of files in it.
    pub fn new(case: &Case, path: &dyn Fn(&str) -> PathBuf) -> Result<Model> {
        let dimension = dimension(case);
        let mut model = Model {
            dimension,
            places: Vec::new(),
            bodies: Vec::new(),
            gravity: plane_vector(&case.gravity),
            supports: Vec::new(),
            joints: Vec::new(),
            loads: Vec::new(),
            contacts: Vec::new(),
            probes: Vec::new(),
            sections: Vec::new(),
            displacement: Vec::new(),
            velocity: Vec::new(),
            length: 0.0,
        };
        let mut sets = NodeSets::default();
        let mut shared = Meetings::new();
        for body in &case.body {
            if body.between.is_none() {
                let tags = model.add_body(body, &mut sets, path)?;
                for (node, tag) in tags {
                    shared.entry((body.mesh.clone().unwrap_or_default(), tag)).or_default().push(node);
                }
            }
        }
        for set in &case.set {
            sets.add_set(set, &model.places)?;
        }
        for (index, body) in case.body.iter().enumerate() {
            if body.between.is_some() {
                model.add_spring(index, body, &sets)?;
            }
        }
        model.add_joints(case, &sets, &shared)?;
        let constants = case.constants.iter().map(|(name, value)| (name.clone(), *value)).collect();
        let inputs = Inputs { path, constants };
        model.initial_fields(case, &sets, &inputs)?;
        model.add_conditions(case, &sets, &inputs)?;
        model.length = model.diagonal();
        Ok(model)
    }

    /// Adds a body with nodes of its own; returns their tags in the mesh file, if there is one.
    fn add_body(
        &mut self,
        body: &data::Body,
        sets: &mut NodeSets,
        path: &dyn Fn(&str) -> PathBuf,
    ) -> Result<Vec<(usize, u64)>> {
        let mesh = body_mesh(body, path).map_err(|error| error.at(&format!("body.{}.mesh", body.name)))?;
        let first = self.places.len();
        let nodes = first..first + mesh.nodes.len();
        if self.dimension == 1
            && let Some(place) = mesh.nodes.iter().find(|place| place[1] != 0.0)
        {
            return Err(Error::Input(format!(
                "body `{}`: the model has one dimension, but its mesh has a node at y = {}",
                body.name, place[1]
            )));
        }
        sets.add(body.name.clone(), nodes.clone().collect());
        for (name, members) in &mesh.sets {
            sets.add(format!("{}.{name}", body.name), members.iter().map(|i| first + i).collect());
        }
        let velocity = plane_vector(body.velocity.as_deref().unwrap_or(&[]));
        let displacement = plane_vector(body.displacement.as_deref().unwrap_or(&[]));
        let centre = plane_vector(body.spin_centre.as_deref().unwrap_or(&[]));
        let spin = body.spin.unwrap_or(0.0);
        for place in &mesh.nodes {
            self.displacement.push([displacement[0], displacement[1], 0.0]);
            self.velocity.push([
                velocity[0] - spin * (place[1] - centre[1]),
                velocity[1] + spin * (place[0] - centre[0]),
                spin,
            ]);
        }
        self.places.extend(&mesh.nodes);
        self.bodies.push(Body {
            name: body.name.clone(),
            kind: element_kind(body)?,
            nodes,
            lines: mesh.lines.iter().map(|[a, b]| [first + a, first + b]).collect(),
            properties: properties(body),
        });
        self.check_beam(body)?;
        Ok(mesh.tags.iter().enumerate().map(|(i, &tag)| (first + i, tag)).collect())
    }

    /// A beam needs more of its material and section than a bar.
    fn check_beam(&self, body: &data::Body) -> Result<()> {
        let last = self.bodies.last().expect("a body was just added");
        if !(last.kind.components)(self.dimension).contains(&Component::Theta) {
            return Ok(());
        }
        let fail = |what: &str| Err(Error::Input(format!("body `{}`: {what}", body.name)));
        let p = &last.properties;
        if self.dimension != 2 {
            return fail("a beam lives in the plane: give its points two coordinates");
        }
        if p.section.inertia <= 0.0 {
            return fail("a beam needs section.inertia, or a section.shape");
        }
        if p.section.shear_area <= 0.0 {
            return fail("a beam needs section.shear_area or section.shear_factor, or a section.shape");
        }
        if p.shear <= 0.0 {
            return fail("a beam needs material.poisson or material.shear");
        }
        Ok(())
    }

    /// Joints of the case, and welds where members of one mesh file meet without a hinge.
    fn add_joints(&mut self, case: &Case, sets: &NodeSets, shared: &Meetings) -> Result<()> {
        // Places that are meant to coincide differ by rounding at most.
        let slack = 1e-9 * self.diagonal();
        for joint in &case.joint {
            let what = format!("joint `{}`, between", joint.name);
            let [first, second] = [&joint.between[0], &joint.between[1]].map(|name| sets.get(name, &what));
            let (first, second) = (first?, second?);
            let mut found = 0;
            for &a in first {
                for &b in second {
                    let (from, to) = (self.places[a], self.places[b]);
                    if a != b && (to[0] - from[0]).hypot(to[1] - from[1]) <= slack {
                        self.joints.push(Joint { name: Some(joint.name.clone()), nodes: [a, b], kind: joint.kind });
                        found += 1;
                    }
                }
            }
            if found == 0 {
                return Err(Error::Input(format!(
                    "{what}: no node of `{}` coincides with one of `{}`; a joint needs nodes at the same place",
                    joint.between[0], joint.between[1]
                )));
            }
        }
        for nodes in shared.values() {
            for (k, &a) in nodes.iter().enumerate() {
                for &b in &nodes[k + 1..] {
                    let named = self.joints.iter().any(|joint| joint.nodes == [a, b] || joint.nodes == [b, a]);
                    if !named {
                        self.joints.push(Joint { name: None, nodes: [a, b], kind: data::JointKind::Weld });
                    }
                }
            }
        }
        Ok(())
    }

    /// Springs come after all bodies, because they may join any two nodes; they keep their place in the order.
    fn add_spring(&mut self, index: usize, body: &data::Body, sets: &NodeSets) -> Result<()> {
        let ends = body.between.as_deref().unwrap_or(&[]);
        let what = format!("body `{}`, between", body.name);
        let line = [sets.one(&ends[0], &what)?, sets.one(&ends[1], &what)?];
        if line[0] == line[1] {
            return Err(Error::Input(format!("{what}: both ends are the same node")));
        }
        let mut properties = properties(body);
        let [a, b] = line.map(|node| self.places[node]);
        properties.rest_length = body.rest_length.unwrap_or(match self.dimension {
            1 => b[0] - a[0],
            _ => (b[0] - a[0]).hypot(b[1] - a[1]),
        });
        let spring =
            Body { name: body.name.clone(), kind: element_kind(body)?, nodes: 0..0, lines: vec![line], properties };
        self.bodies.insert(index.min(self.bodies.len()), spring);
        Ok(())
    }

    fn initial_fields(&mut self, case: &Case, sets: &NodeSets, inputs: &Inputs) -> Result<()> {
        for (index, initial) in case.initial.iter().enumerate() {
            let nodes = sets.get(&initial.nodes, "initial, nodes")?.to_vec();
            for (field, target) in
                [(&initial.displacement, &mut self.displacement), (&initial.velocity, &mut self.velocity)]
            {
                let Some(field) = field else { continue };
                let origin = self.places[nodes[0]];
                let at = format!("initial.{index}");
                let values = sample(field, self.dimension, inputs).map_err(|error| error.at(&at))?;
                for &node in &nodes {
                    let place = self.places[node];
                    let distance = (place[0] - origin[0]).hypot(place[1] - origin[1]);
                    let value = values(place, distance).map_err(|error| error.at(&at))?;
                    target[node][0] += value[0];
                    target[node][1] += value[1];
                }
            }
        }
        Ok(())
    }

    fn add_conditions(&mut self, case: &Case, sets: &NodeSets, inputs: &Inputs) -> Result<()> {
        for support in &case.support {
            let nodes = sets.get(&support.nodes, &format!("support `{}`, nodes", support.name))?.to_vec();
            let fix = support.fix.iter().filter_map(|name| Component::find(name)).collect();
            let mut motion = Vec::new();
            for (name, function) in &support.motion {
                let at = format!("support.{}.motion.{name}", support.name);
                let function = motion_function(function, inputs, &at)?;
                motion.extend(Component::find(name).map(|component| (component, function)));
            }
            self.supports.push(Support { name: support.name.clone(), nodes, fix, motion });
        }
        for load in &case.load {
            self.add_load(load, sets, inputs)?;
        }
        for contact in &case.contact {
            self.add_contact(contact, sets, inputs)?;
        }
        for probe in &case.probe {
            let node = sets.one(&probe.node, &format!("probe `{}`, node", probe.name))?;
            let asks = |what: &str| probe.columns.iter().flatten().any(|column| column == what);
            self.probes.push(Probe {
                name: probe.name.clone(),
                node,
                displacement: asks("u"),
                acceleration: asks("a"),
            });
        }
        self.sections = case.output.sections.iter().map(|section| self.cut(section)).collect::<Result<_>>()?;
        Ok(())
    }

    /// A load as its numbers with their common factor, and one more for every component that is a function of its own.
    fn add_load(&mut self, load: &data::Load, sets: &NodeSets, inputs: &Inputs) -> Result<()> {
        let along_body = load.body.is_some();
        let vector = load.force.as_deref().or(load.per_length.as_deref()).unwrap_or(&[]);
        let mut numbers = Strength::default();
        let mut functions = Vec::new();
        for (place, amount) in [vector.first(), vector.get(1), load.moment.as_ref()].into_iter().enumerate() {
            match amount {
                None => {}
                Some(data::Amount::Number(value)) => numbers[place] = *value,
                Some(expression) => {
                    let value = expression.clone();
                    let function = Function::new(&data::Function::Expression { value }, inputs)?;
                    function.check(0.0, false).map_err(|error| error.at(&format!("load.{}", load.name)))?;
                    let mut one = Strength::default();
                    one[place] = 1.0;
                    functions.push((one, function));
                }
            }
        }
        if functions.is_empty() || numbers != Strength::default() {
            let at = format!("load.{}.time", load.name);
            let time = Function::new(&load.time, inputs).map_err(|error| error.at(&format!("{at}.file")))?;
            time.check(0.0, false).map_err(|error| error.at(&at))?;
            functions.insert(0, (numbers, time));
        }
        for (strength, time) in functions {
            let forces = self.forces(load, strength, sets)?;
            self.loads.push(Load { name: load.name.clone(), forces, time, along_body });
        }
        Ok(())
    }

    fn add_contact(&mut self, contact: &data::Contact, sets: &NodeSets, inputs: &Inputs) -> Result<()> {
        let what = format!("contact `{}`", contact.name);
        let (touching, other) = match (&contact.nodes, &contact.between) {
            (_, Some([first, second])) => (first, Some(second)),
            (Some(nodes), None) => (nodes, None),
            (None, None) => return Err(Error::Input(format!("{what} has no nodes"))),
        };
        let mut nodes = sets.get(touching, &format!("{what}, nodes"))?.to_vec();
        sections::check_per_node(contact, nodes.len())?;
        let touched = match other {
            Some(other) => {
                let others = sets.get(other, &format!("{what}, between"))?.to_vec();
                if self.dimension == 1 {
                    let pairs = self.in_order(&contact.name, &nodes, &others)?;
                    nodes = pairs.iter().flatten().copied().collect();
                    Touched::Neighbours { pairs }
                } else {
                    let body = |node: &usize| self.bodies.iter().position(|body| body.nodes.contains(node));
                    let first = nodes.first().and_then(body);
                    if nodes.iter().chain(&others).all(|node| body(node) == first) {
                        return Err(Error::Input(format!("{what}: `between` needs nodes of two bodies")));
                    }
                    let lines = self.has_line_among(&nodes) || self.has_line_among(&others);
                    if contact.radius == 0.0 && !lines {
                        return Err(Error::Value {
                            path: format!("contact.{}.between", contact.name),
                            text: format!(
                                "{what}: points without thickness can never touch each other in the plane; give `radius` a \
                                 value above 0, or let one side be a body with lines"
                            ),
                        });
                    }
                    Touched::Bodies { others }
                }
            }
            None => {
                let given = contact.obstacle.iter().find_map(|(name, values)| Some((obstacles::find(name)?, values)));
                let (kind, values) = given.ok_or_else(|| Error::Input(format!("{what} has no obstacle")))?;
                Touched::Rigid((kind.build)(values))
            }
        };
        let straight = if let Touched::Rigid(obstacle) = &touched { obstacle.normal() } else { None };
        let mut motion = Vec::new();
        for (name, function) in &contact.motion {
            let along = match (name.as_str(), straight) {
                ("x", _) => [1.0, 0.0],
                ("y", _) => [0.0, 1.0],
                ("normal", Some(normal)) => normal,
                ("tangent", Some(normal)) => tangent(normal),
                _ => return Err(Error::Input(format!("{what}: its obstacle cannot move along `{name}`"))),
            };
            let at = format!("contact.{}.motion.{name}", contact.name);
            motion.push((along, motion_function(function, inputs, &at)?));
        }
        let law = Law {
            restitution: contact.restitution.e(),
            moreau: contact.restitution.law() == data::RestitutionLaw::Moreau,
            friction: contact.friction,
        };
        self.contacts.push(Contact {
            name: contact.name.clone(),
            nodes,
            touched,
            radius: contact.radius,
            law,
            motion,
            massless: (contact.mass == data::ContactMass::Redistributed)
                .then(|| Massless { rule: contact.rule, law: contact.law.unwrap_or(data::MasslessLaw::Position) }),
            per_node: contact.per_node.unwrap_or(false),
        });
        Ok(())
    }

    /// Whether both ends of some line, springs apart, are among these nodes.
    fn has_line_among(&self, nodes: &[usize]) -> bool {
        let mut among = vec![false; self.places.len()];
        nodes.iter().for_each(|&node| among[node] = true);
        let bodies = self.bodies.iter().filter(|body| !body.nodes.is_empty());
        bodies.flat_map(|body| &body.lines).any(|line| line.iter().all(|&node| among[node]))
    }

    /// Forces on nodes of a load with such a strength.
    fn forces(
        &self,
        load: &data::Load,
        [x, y, moment]: Strength,
        sets: &NodeSets,
    ) -> Result<Vec<(usize, Component, f64)>> {
        let what = format!("load `{}`", load.name);
        let mut forces = Vec::new();
        let mut push = |node: usize, vector: [f64; 2]| {
            for (component, value) in [Component::X, Component::Y].into_iter().zip(vector).take(self.dimension) {
                if value != 0.0 {
                    forces.push((node, component, value));
                }
            }
        };
        if let Some(nodes) = &load.nodes {
            let nodes = sets.get(nodes, &format!("{what}, nodes"))?;
            nodes.iter().for_each(|&node| push(node, [x, y]));
            if load.moment.is_some() {
                forces.extend(nodes.iter().map(|&node| (node, Component::Theta, moment)));
            }
        } else if let Some(name) = &load.body {
            let body = self.bodies.iter().find(|body| body.name == *name);
            let body = body.ok_or_else(|| Error::Input(format!("{what}: there is no body `{name}`")))?;
            for &[a, b] in &body.lines {
                let (from, to) = (self.places[a], self.places[b]);
                let half = 0.5 * (to[0] - from[0]).hypot(to[1] - from[1]);
                push(a, [half * x, half * y]);
                push(b, [half * x, half * y]);
            }
        }
        for &(node, component, _) in &forces {
            let body = self.bodies.iter().find(|body| body.nodes.contains(&node));
            if body.is_some_and(|body| !(body.kind.components)(self.dimension).contains(&component)) {
                return Err(Error::Input(format!(
                    "{what}: its nodes have no component `{}` to load",
                    component.name()
                )));
            }
        }
        Ok(forces)
    }
}

/// Force along x and y, per node or per length, and moment.
type Strength = [f64; 3];

/// A function that something moves along, so that it needs derivatives at the start too; `at` is its key path.
fn motion_function(function: &data::Function, inputs: &Inputs, at: &str) -> Result<Function> {
    let function = Function::new(function, inputs).map_err(|error| error.at(&format!("{at}.file")))?;
    function.check(0.0, true).map_err(|error| error.at(at))?;
    Ok(function)
}

/// Nodes of different bodies by the file and the tag that they share.
type Meetings = std::collections::BTreeMap<(String, u64), Vec<usize>>;

/// Dimension of a case: the length of its vectors; two if it has none.
fn dimension(case: &Case) -> usize {
    let size = |vector: Option<&Vec<f64>>| vector.map_or(0, Vec::len);
    let bodies = case.body.iter().flat_map(|body| {
        let first = body.polyline.as_ref().and_then(|line| line.points.first());
        [body.line.as_ref().map(|line| &line.from), body.at.as_ref(), body.velocity.as_ref(), first].map(size)
    });
    let planes = case.contact.iter().flat_map(|contact| contact.obstacle.values().map(Values::dimension));
    let loads =
        case.load.iter().flat_map(|load| [&load.force, &load.per_length].map(|it| it.as_ref().map_or(0, Vec::len)));
    let sets = case.set.iter().map(|set| size(set.nearest.as_ref()));
    bodies.chain(planes).chain(loads).chain(sets).chain([case.gravity.len()]).find(|&n| n > 0).unwrap_or(2)
}

/// A vector of one or two numbers as a plane one.
fn plane_vector(vector: &[f64]) -> [f64; 2] {
    [vector.first().copied().unwrap_or(0.0), vector.get(1).copied().unwrap_or(0.0)]
}

fn element_kind(body: &data::Body) -> Result<&'static ElementKind> {
    elements::find(&body.element)
        .ok_or_else(|| Error::Input(format!("body `{}`: there is no element `{}`", body.name, body.element)))
}

fn body_mesh(body: &data::Body, path: &dyn Fn(&str) -> PathBuf) -> Result<Mesh> {
    if let Some(line) = &body.line {
        Ok(mesh::generate::line(plane_vector(&line.from), plane_vector(&line.to), line.elements, line.grading))
    } else if let Some(polyline) = &body.polyline {
        let points: Vec<[f64; 2]> = polyline.points.iter().map(|point| plane_vector(point)).collect();
        Ok(mesh::generate::polyline(&points, polyline.elements))
    } else if let Some(file) = &body.mesh {
        mesh::gmsh::read(&path(file), body.group.as_deref())
    } else {
        let place = plane_vector(body.at.as_deref().unwrap_or(&[]));
        Ok(Mesh { nodes: vec![place], ..Default::default() })
    }
}

fn properties(body: &data::Body) -> Properties {
    let (young, shear, density) = body.material.as_ref().map_or((0.0, 0.0, 0.0), |material| {
        let shear = material.shear.or(material.poisson.map(|nu| material.young / (2.0 * (1.0 + nu))));
        (material.young, shear.unwrap_or(0.0), material.density)
    });
    let ratio = |material: &data::Material| {
        material.poisson.or(material.shear.map(|shear| material.young / (2.0 * shear) - 1.0))
    };
    let poisson = body.material.as_ref().and_then(ratio).unwrap_or(0.0);
    let section = body.section.as_ref().map(|section| section::values(section, poisson)).unwrap_or_default();
    let (mass_damping, stiffness_damping, dashpot) = match body.damping {
        Some(data::NumberOr::Table(data::Rayleigh { mass, stiffness })) => (mass, stiffness, 0.0),
        Some(data::NumberOr::Number(constant)) => (0.0, 0.0, constant),
        None => (0.0, 0.0, 0.0),
    };
    Properties {
        axial: young * section.area,
        bending: young * section.inertia,
        shear: shear * section.shear_area,
        line_mass: density * section.area,
        line_inertia: density * section.inertia,
        half_height: section.half_height,
        section,
        lumped: body.mass_matrix == Some(data::MassMatrix::Lumped),
        shear_correction: body.shear_correction == Some(true),
        mass_damping,
        stiffness_damping,
        mass: body.mass.unwrap_or(0.0),
        stiffness: body.stiffness.unwrap_or(0.0),
        dashpot,
        rest_length: 0.0,
    }
}

type Sampled = Box<dyn Fn([f64; 2], f64) -> Result<[f64; 2]>>;

/// An initial field as a function of the place and the distance from the set's first node, (T40).
fn sample(field: &data::Field, dimension: usize, inputs: &Inputs) -> Result<Sampled> {
    match field {
        data::Field::Pulse { direction, amplitude, centre, width } => {
            let direction = plane_vector(direction);
            let norm = direction[0].hypot(direction[1]);
            let (amplitude, centre, width) = (*amplitude, *centre, *width);
            Ok(Box::new(move |_, distance| {
                let s = (distance - centre) / width;
                let height = if s.abs() < 1.0 { 0.5 * (1.0 + (std::f64::consts::PI * s).cos()) } else { 0.0 };
                Ok([amplitude * height * direction[0] / norm, amplitude * height * direction[1] / norm])
            }))
        }
        data::Field::Table { file } => {
            let rows = table::read(&(inputs.path)(file), 2..=1 + dimension)?;
            let column = |k: usize| -> Vec<[f64; 2]> {
                rows.iter().map(|row| [row[0], row.get(k).copied().unwrap_or(0.0)]).collect()
            };
            let (x, y) = (column(1), column(2));
            Ok(Box::new(move |_, distance| Ok([table::interpolate(&x, distance), table::interpolate(&y, distance)])))
        }
        data::Field::Expression { x, y } => {
            let (x, y) = (inputs.expression(x, PLACE)?, inputs.expression(y, PLACE)?);
            Ok(Box::new(move |place, distance| {
                let values = [place[0], place[1], distance];
                let at = |expression: &Expression| expression.judge(&values, expression.value(&values));
                Ok([at(&x)?, at(&y)?])
            }))
        }
    }
}
