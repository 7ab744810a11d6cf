//! Questions to a model that runs but may mean something else than it seems to.

use super::{Advice, Subject};
use crate::case::data::Analysis;
use crate::model::function::Function;
use crate::model::references::nearest;
use crate::model::{Body, Component, Contact, Touched};
use crate::relations::Scene;
use crate::system::System;
use std::collections::{BTreeMap, BTreeSet};

/// Part of the model's length below which a difference of places is rounding.
pub(super) const ROUNDING: f64 = 1e-9;

/// Rotation, in radians, from which a linear law is off by half a percent.
pub const LARGE_TURN: f64 = 0.1;

/// The contacts as they are at the start.
fn scene_at_start(system: &System) -> Scene {
    let mut scene = Scene::new(&system.contacts, &system.nodes);
    scene.look_at(&system.contacts, &system.nodes, &system.initial_motion());
    scene
}

/// Contacts that begin behind their obstacle. An equilibrium takes an overlap away, so only motion is asked.
pub(super) fn begins_inside(subject: &Subject) -> Vec<Advice> {
    let Subject { case, model, system } = subject;
    if case.analysis != Analysis::Dynamic || system.contacts.is_empty() {
        return Vec::new();
    }
    let mut deepest: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
    for candidate in scene_at_start(system).candidates.iter().filter(|candidate| candidate.responds) {
        let depth = -candidate.gap_at_end(&system.q0);
        let worst = deepest.entry(candidate.key.group).or_insert((ROUNDING * system.length, u32::MAX));
        if depth > worst.0 {
            *worst = (depth, candidate.key.node);
        }
    }
    let inside = deepest.into_iter().filter(|(_, (_, node))| *node != u32::MAX);
    let advice = inside.map(|(group, (depth, node))| {
        let name = &model.contacts[group as usize].name;
        let text = format!(
            "contact `{name}` begins with {} {depth:.3e} inside what it touches: laws of velocity leave it there, laws of \
             position throw it out; move the body or the obstacle",
            system.describe_node(node as usize)
        );
        Advice::new(format!("contact.{name}"), text)
    });
    advice.collect()
}

/// Obstacles that say that the body is not made for them.
pub(super) fn obstacle_that_does_not_fit(subject: &Subject) -> Vec<Advice> {
    let advice = subject.model.contacts.iter().filter_map(|contact| {
        let text = contact.rigid()?.advice(contact.radius)?;
        Some(Advice::new(format!("contact.{}.radius", contact.name), format!("contact `{}`: {text}", contact.name)))
    });
    advice.collect()
}

/// Contacts on nodes that supports hold or drive along the normal: all of them, or some that are closed or in motion.
pub(super) fn contact_on_held_node(subject: &Subject) -> Vec<Advice> {
    let Subject { model, system, .. } = subject;
    if model.supports.is_empty() || system.contacts.is_empty() {
        return Vec::new();
    }
    let scene = scene_at_start(system);
    let mut advice = Vec::new();
    for (group, contact) in model.contacts.iter().enumerate() {
        let own = || scene.candidates.iter().filter(|candidate| candidate.key.group as usize == group);
        let idle = own().all(|candidate| !candidate.responds);
        let driven = |node: usize| {
            let supports = model.supports.iter().filter(|support| !support.motion.is_empty());
            supports.into_iter().any(|support| support.nodes.contains(&node))
        };
        let concerned = own().find(|candidate| {
            let closed = candidate.gap_at_end(&system.q0) <= ROUNDING * system.length;
            let moves = !contact.motion.is_empty() || driven(candidate.key.node as usize);
            !candidate.responds && (idle || closed || moves)
        });
        if let Some(candidate) = concerned {
            let text = format!(
                "contact `{}`: supports hold or drive {} along the normal, so they carry what the obstacle would, and the \
                 contact takes no part{}",
                contact.name,
                system.describe_node(candidate.key.node as usize),
                if idle { "; it has no other node" } else { "" }
            );
            advice.push(Advice::new(format!("contact.{}", contact.name), text));
        }
    }
    advice
}

/// Nodes of two bodies at one place that neither a joint, a spring nor a contact connects.
pub(super) fn meeting_without_joint(subject: &Subject) -> Vec<Advice> {
    let Subject { model, system, .. } = subject;
    if model.bodies.iter().filter(|body| !body.nodes.is_empty()).count() < 2 {
        return Vec::new();
    }
    let nodes = &system.nodes;
    let slack = ROUNDING * system.length;
    // Along a slanting axis, on which the nodes of a regular grid do not coincide.
    let along = |node: usize| 0.8 * model.places[node][0] + 0.6 * model.places[node][1];
    let mut order: Vec<usize> = (0..model.places.len()).collect();
    order.sort_by(|&a, &b| along(a).total_cmp(&along(b)));
    let held = |node: usize| {
        let free = |c: &Component| nodes.find(node, *c).is_some_and(|dof| dof < nodes.free);
        ![Component::X, Component::Y].iter().any(free)
    };
    let mut advice = Vec::new();
    let mut told = BTreeSet::new();
    for (k, &a) in order.iter().enumerate() {
        for &b in order[k + 1..].iter().take_while(|&&b| along(b) - along(a) <= slack) {
            let (from, to) = (model.places[a], model.places[b]);
            let apart = (to[0] - from[0]).hypot(to[1] - from[1]) > slack;
            let joined = nodes.find(a, Component::X) == nodes.find(b, Component::X);
            if apart || joined || (held(a) && held(b)) {
                continue;
            }
            let (first, second) = (model.body_of(a.min(b)), model.body_of(a.max(b)));
            let touch = model.contacts.iter().any(|contact| may_touch(contact, first, second));
            let spring =
                model.bodies.iter().any(|body| body.nodes.is_empty() && body.lines.iter().any(|l| ties(l, a, b)));
            if first.name == second.name || touch || spring || !told.insert((&first.name, &second.name)) {
                continue;
            }
            let place = if model.dimension == 1 { format!("{}", from[0]) } else { format!("{}, {}", from[0], from[1]) };
            let text = format!(
                "`{}` and `{}` meet at ({place}) but move apart freely: only bodies of one mesh file are welded where they \
                 meet; connect them with a [[joint]], or let them touch with a contact `between`",
                first.name, second.name
            );
            advice.push(Advice::new(format!("body.{}", second.name), text));
        }
    }
    advice
}

fn ties(line: &[usize; 2], a: usize, b: usize) -> bool {
    line.contains(&a) && line.contains(&b)
}

/// Whether a contact between bodies names nodes of both.
fn may_touch(contact: &Contact, first: &Body, second: &Body) -> bool {
    let has = |nodes: &[usize], body: &Body| nodes.iter().any(|node| body.nodes.contains(node));
    match &contact.touched {
        Touched::Bodies { others } => {
            (has(&contact.nodes, first) && has(others, second)) || (has(&contact.nodes, second) && has(others, first))
        }
        Touched::Neighbours { .. } => has(&contact.nodes, first) && has(&contact.nodes, second),
        Touched::Rigid(_) => false,
    }
}

/// Numbers of the parts of the model that lines, springs and joints connect, for every node.
pub(super) fn parts(subject: &Subject) -> Vec<usize> {
    let model = subject.model;
    let mut part: Vec<usize> = (0..model.places.len()).collect();
    fn root(part: &mut [usize], mut node: usize) -> usize {
        while part[node] != node {
            part[node] = part[part[node]];
            node = part[node];
        }
        node
    }
    let lines = model.bodies.iter().flat_map(|body| &body.lines);
    for &[a, b] in lines.chain(model.joints.iter().map(|joint| &joint.nodes)) {
        let (a, b) = (root(&mut part, a), root(&mut part, b));
        part[a.max(b)] = a.min(b);
    }
    (0..part.len()).map(|node| root(&mut part, node)).collect()
}

/// Parts of the model without support or contact on which gravity or a load acts.
pub(super) fn body_that_nothing_holds(subject: &Subject) -> Vec<Advice> {
    let Subject { case, model, .. } = subject;
    if case.analysis != Analysis::Dynamic {
        return Vec::new();
    }
    let part = parts(subject);
    let mut held: BTreeSet<usize> = model.supports.iter().flat_map(|s| &s.nodes).map(|&node| part[node]).collect();
    for contact in &model.contacts {
        held.extend(contact.all_nodes().map(|node| part[node]));
    }
    let loaded: BTreeSet<usize> =
        model.loads.iter().flat_map(|load| &load.forces).map(|&(node, ..)| part[node]).collect();
    let falls = model.gravity != [0.0; 2];
    let mut loose: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for body in model.bodies.iter().filter(|body| !body.nodes.is_empty()) {
        let own = part[body.nodes.start];
        if !held.contains(&own) && (falls || loaded.contains(&own)) {
            loose.entry(own).or_default().push(&body.name);
        }
    }
    let advice = loose.into_values().map(|names| {
        let text = format!(
            "nothing holds `{}` (no support, contact, or joint or spring to what is held): {} it away for ever",
            names.join("`, `"),
            if falls { "gravity carries" } else { "its load carries" }
        );
        Advice::new(format!("body.{}", names[0]), text)
    });
    advice.collect()
}

/// Sets whose `nearest` takes a node that is not near, or one of several.
pub(super) fn doubtful_nearest(subject: &Subject) -> Vec<Advice> {
    let Subject { case, model, system } = subject;
    let mut advice = Vec::new();
    for set in &case.set {
        let Some(point) = &set.nearest else { continue };
        let found = nearest(point, &model.places);
        let Some(&(node, distance)) = found.first() else { continue };
        let components = [Component::X, Component::Y, Component::Theta];
        let unknowns = |node: usize| components.map(|component| system.nodes.find(node, component));
        let path = format!("set.{}.nearest", set.name);
        let body = model.body_of(node);
        if let Some(&(other, _)) = found.iter().find(|(other, _)| unknowns(*other) != unknowns(node)) {
            let text = format!(
                "set `{}`: {} and {} are equally near, and only the order of the bodies decides for the first; name a part, \
                 such as `{}.end`, or move the point",
                set.name,
                system.describe_node(node),
                system.describe_node(other),
                body.name
            );
            advice.push(Advice::new(path, text));
            continue;
        }
        let length = |line: &&[usize; 2]| {
            let (from, to) = (model.places[line[0]], model.places[line[1]]);
            (to[0] - from[0]).hypot(to[1] - from[1])
        };
        let longest =
            body.lines.iter().filter(|line| line.contains(&node)).map(|line| length(&line)).fold(0.0, f64::max);
        if distance > longest.max(1e-3 * system.length) {
            let text = format!(
                "set `{}`: the nearest node is {}, {distance:.4e} away from the point",
                set.name,
                system.describe_node(node)
            );
            advice.push(Advice::new(path, text));
        }
    }
    advice
}

/// Part of the largest velocity of a motion by which it may begin with a jerk; a record of an earthquake does.
const JERK: f64 = 1e-3;

/// The largest velocity of a motion until the end of a run, as far as samples show it.
fn fastest(function: &Function, end: f64) -> f64 {
    (0..=SAMPLES).map(|k| function.rate(end * k as f64 / SAMPLES as f64).abs()).fold(0.0, f64::max)
}

/// Instants at which a motion is looked at.
const SAMPLES: usize = 1000;

/// Supports whose motion does not begin where their nodes are, or not with their velocity.
pub(super) fn motion_that_begins_with_a_jump(subject: &Subject) -> Vec<Advice> {
    let Subject { case, model, system } = subject;
    let mut advice = Vec::new();
    for support in &model.supports {
        for (component, function) in &support.motion {
            let Some(&node) = support.nodes.first() else { continue };
            let size = if *component == Component::Theta { 1.0 } else { system.length };
            let (place, body) = (function.value(0.0), model.displacement[node][*component as usize]);
            let (rate, velocity) = (function.rate(0.0), model.velocity[node][*component as usize]);
            let path = format!("support.{}.motion.{}", support.name, component.name());
            if (place - body).abs() > ROUNDING * size {
                let text = format!(
                    "support `{}` begins with a jump: its motion along {} is {place} at time 0, where the body is at {body}; \
                     let it begin there",
                    support.name,
                    component.name()
                );
                advice.push(Advice::new(path, text));
            } else if case.analysis == Analysis::Dynamic
                && (rate - velocity).abs() > JERK * fastest(function, case.time.end)
            {
                let text = format!(
                    "support `{}` begins with a jerk: its velocity along {} is {rate:.4e} at time 0, where the body has \
                     {velocity:.4e}; that sends a shock into the structure, so give the body this velocity or let the motion \
                     begin smoothly, if it is not meant",
                    support.name,
                    component.name()
                );
                advice.push(Advice::new(path, text));
            }
        }
    }
    advice
}

/// Bodies with a law for small rotations that are set to turn far.
pub(super) fn linear_body_that_spins(subject: &Subject) -> Vec<Advice> {
    let Subject { case, model, system } = subject;
    let linear = |name: &str| {
        let body = model.bodies.iter().position(|body| body.name == name);
        body.is_some_and(|b| system.elements[b].block().linear && !model.bodies[b].lines.is_empty())
    };
    let turns = case.body.iter().filter_map(|body| {
        let turn = (body.spin? * case.time.end).abs();
        (case.analysis == Analysis::Dynamic && turn > LARGE_TURN && linear(&body.name)).then(|| {
            let text = format!(
                "body `{}`: `{}` knows small rotations only, up to about {LARGE_TURN}, but this spin turns it by {turn:.3} \
                 until the end; it grows instead: take element = \"beam\"",
                body.name, body.element
            );
            Advice::new(format!("body.{}.spin", body.name), text)
        })
    });
    turns.collect()
}

/// Restitution among three or more bodies of which some touch at the start: Newton's law answers all of them at once.
pub(super) fn impact_through_touching_bodies(subject: &Subject) -> Vec<Advice> {
    let Subject { model, system, .. } = subject;
    let bouncing = |contact: &Contact| contact.law.restitution > 0.0 && contact.rigid().is_none();
    if !model.contacts.iter().any(bouncing) {
        return Vec::new();
    }
    let scene = scene_at_start(system);
    let mut advice = Vec::new();
    for (group, contact) in model.contacts.iter().enumerate().filter(|(_, contact)| bouncing(contact)) {
        let takes_part = |body: &&Body| contact.all_nodes().any(|node| body.nodes.contains(&node));
        let bodies = model.bodies.iter().filter(takes_part).count();
        let closed = scene.candidates.iter().any(|candidate| {
            let closed = candidate.gap_at_end(&system.q0) <= ROUNDING * system.length;
            candidate.key.group as usize == group && closed
        });
        if bodies > 2 && closed {
            let text = format!(
                "contact `{}`: bodies that touch answer an impact all at once by Newton's law of restitution, not one after \
                 the other as in Newton's cradle; leave small gaps between them, or model them as elastic bars with \
                 restitution = 0",
                contact.name
            );
            advice.push(Advice::new(format!("contact.{}.restitution", contact.name), text));
        }
    }
    advice
}
