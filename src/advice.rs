//! Advice on a case, and the refusal of what cannot work.
//!
//! A scheme outside its dissipation range runs, with advice; only what is unstable is an error. `REVIEW` lists what is asked
//! of every model: models that mean something else than they seem to.

mod mechanism;
mod review;

use crate::case::Loaded;
use crate::case::data::{Analysis, Case, MasslessLaw, Position};
use crate::ledger::Ledger;
use crate::march::{Arrival, ROUNDING};
use crate::methods::{self, tableau};
use crate::model::{Component, Model};
use crate::schemes;
use crate::sinks::digest::Digest;
use crate::system::{System, redistribution};
use crate::{Error, Result};

/// A piece of advice and the value of the case that caused it.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Key path of the value, such as `contact.floor.restitution`; empty for the case as a whole.
    pub path: String,
    /// The advice, in one sentence.
    pub text: String,
}

impl Advice {
    /// Advice on a value, or with an empty path on the case as a whole.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Advice {
        Advice { path: path.into(), text: text.into() }
    }
}

/// Pieces of advice, each with the line of the case that it is about.
pub fn placed(advice: &[Advice], loaded: &Loaded) -> Vec<String> {
    let places = loaded.locate_all(advice.iter().map(|advice| advice.path.as_str()));
    let told = |(advice, place): (&Advice, Option<String>)| match place {
        Some(place) => format!("{place}: {}", advice.text),
        None => advice.text.clone(),
    };
    advice.iter().zip(places).map(told).collect()
}

/// Pieces of advice of one kind that are given; a generated case may deserve thousands.
const MOST_OF_A_KIND: usize = 5;

/// The first of many pieces of one kind, and how many there are beside them.
fn shortened(mut advice: Vec<Advice>) -> Vec<Advice> {
    let more = advice.len().saturating_sub(MOST_OF_A_KIND);
    if more > 0 {
        advice.truncate(MOST_OF_A_KIND);
        advice.push(Advice::new("", format!("… and {more} more of this kind")));
    }
    advice
}

/// What a review looks at.
struct Subject<'a> {
    case: &'a Case,
    model: &'a Model,
    system: &'a System,
}

/// What is asked of every model, in the order in which the answers are given.
const REVIEW: &[fn(&Subject) -> Vec<Advice>] = &[
    review::begins_inside,
    review::obstacle_that_does_not_fit,
    review::contact_on_held_node,
    review::meeting_without_joint,
    review::body_that_nothing_holds,
    mechanism::loose_bars,
    review::doubtful_nearest,
    review::motion_that_begins_with_a_jump,
    review::linear_body_that_spins,
    review::impact_through_touching_bodies,
];

/// Advice on a case; an error if its step is unstable.
pub fn advise(case: &Case, model: &Model, system: &System) -> Result<Vec<Advice>> {
    let mut advice = Vec::new();
    let restitution = model.contacts.iter().map(|contact| contact.law.restitution).fold(0.0, f64::max);
    let moving = case.analysis == Analysis::Dynamic;
    let method = methods::find(&case.scheme.name).filter(|_| moving);
    if let Some(method) = method {
        advice.extend((method.fits)(case, system)?.into_iter().map(|text| Advice::new("scheme", text)));
    }
    let row = schemes::find(&case.scheme.name).and_then(|kind| Some((kind, kind.tableau(&case.scheme.parameters)?)));
    let limit = match (method, row) {
        (Some(method), None) => (method.facts)(&case.scheme.parameters).limit,
        _ => f64::INFINITY,
    };
    check_limit(case, system, limit)?;
    if let Some((kind, row)) = row.filter(|_| moving) {
        if case.scheme.position == Position::Ggl && !row.storage {
            return Err(Error::Input(format!(
                "scheme.position = \"ggl\" does not go with `{}`; allowed: newmark, hht, generalized-alpha, \
                 central-difference",
                kind.name
            )));
        }
        tableau::admit(&row, case.scheme.position, system)?;
        advice.extend(short_beams(model));
        advice.extend((kind.advice)(&row, restitution).map(|text| Advice::new("scheme", text)));
        let limit = row.stability_limit();
        if limit == 0.0 {
            return Err(Error::Input(format!(
                "scheme `{}` is unstable for every step with gamma = {}; allowed: gamma from \
                 1/2 + alpha_f - alpha_m = {} on",
                case.scheme.name,
                row.g1,
                0.5 + row.alpha_f - row.alpha_m
            )));
        }
        check_limit(case, system, limit)?;
    }
    for contact in &model.contacts {
        let flexible = contact.nodes.iter().any(|&node| !model.body_of(node).lines.is_empty());
        if contact.law.restitution > 0.0 && flexible {
            let text = format!(
                "contact `{}`: restitution = {} on a flexible body makes the contact force noise; take 0, the body \
                 rebounds by its own waves",
                contact.name, contact.law.restitution
            );
            advice.push(Advice::new(format!("contact.{}.restitution", contact.name), text));
        }
    }
    for contact in &model.contacts {
        if contact.law.restitution > 0.0 && contact.law.friction > 0.0 && !contact.law.moreau {
            let text = format!(
                "contact `{}`: friction together with Newton's restitution creates energy in about one impact in eight; take \
                 restitution = 0, or {{ e = {}, law = \"moreau\" }}",
                contact.name, contact.law.restitution
            );
            advice.push(Advice::new(format!("contact.{}.friction", contact.name), text));
        }
    }
    advice.extend(weak_axial_contact(case, model).map(|text| Advice::new("scheme.position", text)));
    advice.extend(weak_springs(case, model));
    let held = !model.supports.is_empty() || !model.contacts.is_empty();
    let loaded = !model.loads.is_empty() || model.gravity != [0.0; 2];
    if moving && !held && !loaded {
        advice.push(Advice::new("", "nothing holds, loads or touches the model: it has free rigid-body motions"));
    }
    if let Some(courant) = courant(case, model).filter(|_| moving)
        && !(0.05..=20.0).contains(&courant)
    {
        let text = format!(
            "the step is {courant:.3} times the transit time of a wave through the shortest element; waves are \
             resolved best near 1"
        );
        advice.push(Advice::new("time.step", text));
    }
    let subject = Subject { case, model, system };
    advice.extend(REVIEW.iter().flat_map(|question| shortened(question(&subject))));
    Ok(advice)
}

/// Refuses a step beyond the largest h ω for which the scheme is stable.
fn check_limit(case: &Case, system: &System, limit: f64) -> Result<()> {
    if limit.is_infinite() {
        return Ok(());
    }
    let highest = system
        .highest_frequency()
        .map_err(|s| Error::Solver(format!("the mass matrix is singular near {}", system.describe(s.row))))?;
    if case.time.step * highest > limit {
        return Err(Error::Input(format!(
            "time.step = {} is unstable for scheme `{}`: h omega = {:.4} with the highest frequency {highest:.6e} \
             exceeds the limit {limit:.4}\n  allowed: time.step below {:.4e}",
            case.time.step,
            case.scheme.name,
            case.time.step * highest,
            limit / highest
        )));
    }
    Ok(())
}

/// Beams with fewer elements rebound worse without the mass of their tip: its last element is a soft spring.
const FEW_BEAM_ELEMENTS: usize = 16;

/// More contact nodes than this are not a few known ones.
const FEW_NODES: usize = 8;

/// Whether a node belongs to a beam of few elements.
fn on_short_beam(model: &Model, node: usize) -> bool {
    let body = model.body_of(node);
    (body.kind.components)(model.dimension).contains(&Component::Theta) && body.lines.len() < FEW_BEAM_ELEMENTS
}

/// Beams that had better keep the mass of their contact nodes.
fn short_beams(model: &Model) -> Vec<Advice> {
    let massless = model.contacts.iter().filter(|contact| contact.massless.is_some());
    let found = massless.filter_map(|contact| {
        let body = model.body_of(*contact.nodes.iter().find(|&&node| on_short_beam(model, node))?);
        let text = format!(
            "contact `{}`: mass = \"redistributed\" on the beam `{}` needs {FEW_BEAM_ELEMENTS} elements or more; with {} \
             the massless element is a soft spring: keep the mass with restitution = 0, or refine",
            contact.name,
            body.name,
            body.lines.len()
        );
        Some(Advice::new(format!("contact.{}.mass", contact.name), text))
    });
    found.collect()
}

/// What a case could do better, for those who ask: contact nodes that should lose their mass.
pub fn suggest(case: &Case, model: &Model, system: &System) -> Option<Advice> {
    let row = schemes::find(&case.scheme.name)?.tableau(&case.scheme.parameters)?;
    // All contacts of a case keep their mass, or none.
    let kept = model.contacts.iter().all(|contact| contact.massless.is_none());
    let suited = |i: usize| {
        let nodes = &model.contacts[i].nodes;
        let few = nodes.len() <= FEW_NODES && !nodes.iter().any(|&node| on_short_beam(model, node));
        few && redistribution::possible(model, system, i)
    };
    let moving = case.analysis == Analysis::Dynamic && row.b1 > 0.0;
    if !(moving && kept && !model.contacts.is_empty() && (0..model.contacts.len()).all(suited)) {
        return None;
    }
    let names: Vec<String> = model.contacts.iter().map(|contact| format!("`{}`", contact.name)).collect();
    let text = format!(
        "contact {}: on a flexible body with few contact nodes mass = \"redistributed\" loses several times less energy in \
         impacts, and its contact force is smoother",
        names.join(", ")
    );
    Some(Advice::new(format!("contact.{}.mass", model.contacts[0].name), text))
}

/// Energy that impacts gave, of the energy scale, above which a run says so.
const GAIN: f64 = 1e-6;

/// What a finished run says where Newton's law of restitution gave energy.
pub fn restitution_gain(model: &Model, ledger: &Ledger) -> Option<String> {
    let restitution = model.contacts.iter().any(|contact| contact.law.restitution > 0.0 && !contact.law.moreau);
    let share = ledger.gained / ledger.scale;
    (restitution && share > GAIN).then(|| {
        format!(
            "contact gave {:.3e} in some steps, {share:.1e} of the energy scale: Newton's law of restitution can, with \
             friction, with unequal coefficients in one multiple impact, and where elastic forces turn a velocity within \
             the step; restitution = 0 cannot",
            ledger.gained
        )
    })
}

/// What a finished run says where a beam with a law for small rotations turned far.
pub fn large_rotation(system: &System, digest: &Digest) -> Option<Advice> {
    let (turn, dof) = digest.turn;
    (turn > review::LARGE_TURN).then(|| {
        let node = system.nodes.owner(dof as usize).0;
        let text = format!(
            "{} turned by {turn:.3}, where a linear beam knows small rotations only, up to about {}; take element = \"beam\"",
            system.describe_node(node),
            review::LARGE_TURN
        );
        Advice::new(format!("body.{}.element", system.body_of(node)), text)
    })
}

/// What a finished run says where its ledger does not close as promised.
pub fn open_ledger(model: &Model, system: &System, arrival: &Arrival) -> Option<String> {
    let (promise, worst) = (if system.linear { 1e-11 } else { 1e-10 }, arrival.ledger.worst_step);
    if worst <= promise {
        return None;
    }
    let (stiffness, body) = system.stiffest(&arrival.state.q)[0];
    let far = arrival.state.q.iter().fold(system.length, |far, q| far.max(q.abs()));
    let force = ROUNDING * stiffness * far;
    Some(format!(
        "the ledger closes to {worst:.1e} of the energy scale in a step, where {promise:e} is promised: the force of `{}`, \
         with a stiffness of {stiffness:.1e} the stiffest, is a difference of places and known to {force:.1e} only; make it \
         softer, or join what it holds together",
        model.bodies[body].name
    ))
}

/// Work of contact, of the energy scale, above which massless nodes do not do what they are for.
const NOTICEABLE: f64 = 1e-3;

/// What the works of a finished run say about its massless contact nodes.
pub fn contact_work(system: &System, ledger: &Ledger) -> Option<String> {
    system.redistribution.as_ref().filter(|moved| moved.law == MasslessLaw::Position)?;
    let share = ledger.sum.contact / ledger.scale;
    (share.abs() > NOTICEABLE).then(|| {
        format!(
            "contacts of massless nodes did work of {share:.1e} of the energy scale, where {NOTICEABLE:.0e} is usual at \
             most; take a smaller step"
        )
    })
}

/// Part of the length of the model within which a gap is zero.
const SILENT: f64 = 1e-9;

/// A contact that nodes entered, or came through from behind, without any force in the whole run: more likely a mistake than meant.
pub fn silent_contacts(system: &System, digest: &Digest) -> Vec<Advice> {
    let silent = digest.contacts.iter().filter(|contact| contact.count == 0);
    let words = silent.filter_map(|contact| {
        let name = &contact.name;
        let text = if let Some((time, node)) = contact.from_behind {
            format!(
                "contact `{name}`: {} came through from behind at t = {time}, and no force was felt in the whole run; an obstacle holds \
                 what comes from its front: the side of the normal, or the left of a polyline's direction",
                system.describe_node(node as usize)
            )
        } else if contact.penetration > contact.initial_depth + SILENT * system.length {
            format!(
                "contact `{name}` was entered {:.3e} deep, and no force was felt in the whole run: take a smaller step, or \
                 let the run go on if it ends there",
                contact.penetration
            )
        } else {
            return None;
        };
        Some(Advice::new(format!("contact.{name}"), text))
    });
    words.collect()
}

/// At velocity level the answer of a stiff body to an axial impulse tends to 1 − γ/(2β) of that of its mass.
fn weak_axial_contact(case: &Case, model: &Model) -> Option<String> {
    let row = schemes::find(&case.scheme.name)?.tableau(&case.scheme.parameters)?;
    let answer = 1.0 - row.g1 * row.c / row.b1;
    let flexible = model.contacts.iter().flat_map(|c| &c.nodes).any(|&node| !model.body_of(node).lines.is_empty());
    // Up to a few transit times per step the body is not stiff on the scale of the step.
    let stiff = courant(case, model)? > 5.0;
    let kept = model.contacts.iter().any(|contact| contact.massless.is_none());
    let concerned = kept && case.scheme.position == Position::Half && row.storage && row.b1 > 0.0 && answer < 0.25;
    // With restitution the position-corrected form gains energy step by step.
    let plastic = model.contacts.iter().all(|contact| contact.law.restitution == 0.0 && contact.law.friction == 0.0);
    let cure = if plastic {
        "scheme.position = \"ggl\" has no such weakness and no penetration"
    } else {
        "take a smaller step, or a scheme with 2 beta = gamma such as moreau-jean"
    };
    (case.analysis == Analysis::Dynamic && concerned && flexible && stiff).then(|| {
        format!(
            "with this step a stiff contact answers an impulse only to 1 - gamma/(2 beta) = {answer:.3} at velocity level \
             and impulses come out too large: {cure}"
        )
    })
}

/// The weakness of [`weak_axial_contact`] at point masses: one that is light for the spring behind it, on the scale of the
/// step. What answers is then the mass at the other end, and the half of the impulse that velocities do not see.
fn weak_springs(case: &Case, model: &Model) -> Vec<Advice> {
    let Some(row) = schemes::find(&case.scheme.name).and_then(|kind| kind.tableau(&case.scheme.parameters)) else {
        return Vec::new();
    };
    let answer = 1.0 - row.g1 * row.c / row.b1;
    let moving = case.analysis == Analysis::Dynamic && case.scheme.position == Position::Half;
    if !(moving && row.storage && row.b1 > 0.0 && answer > 1e-9 && answer < 0.25) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for contact in &model.contacts {
        let light = contact.nodes.iter().filter_map(|&node| {
            let mass = Some(model.body_of(node).properties.mass).filter(|mass| *mass > 0.0)?;
            let springs = model.bodies.iter().filter(|body| body.nodes.is_empty());
            let spring = springs.filter(|spring| spring.lines.iter().any(|line| line.contains(&node)));
            let stiffest = spring.max_by(|a, b| a.properties.stiffness.total_cmp(&b.properties.stiffness))?;
            // As many periods of the foot alone in a step as transit times of a wave are for an element.
            (case.time.step * (stiffest.properties.stiffness / mass).sqrt() > 5.0).then_some((node, stiffest))
        });
        if let Some((node, spring)) = light.into_iter().next() {
            let text = format!(
                "contact `{}`: `{}` is light for the spring `{}` and the step, so that it answers an impulse only to \
                 1 - gamma/(2 beta) = {answer:.3} and sinks into the obstacle; take moreau-jean, or newmark with its \
                 defaults, a shorter step, or a heavier mass",
                contact.name,
                model.body_of(node).name,
                spring.name
            );
            found.push(Advice::new(format!("contact.{}", contact.name), text));
        }
    }
    found
}

/// Step over the transit time of an axial wave through the shortest element; `None` without elastic bodies.
pub fn courant(case: &Case, model: &Model) -> Option<f64> {
    let mut shortest: Option<f64> = None;
    for body in model.bodies.iter().filter(|body| body.properties.line_mass > 0.0) {
        let speed = (body.properties.axial / body.properties.line_mass).sqrt();
        for &[a, b] in &body.lines {
            let (from, to) = (model.places[a], model.places[b]);
            let transit = (to[0] - from[0]).hypot(to[1] - from[1]) / speed;
            shortest = Some(shortest.map_or(transit, |t| t.min(transit)));
        }
    }
    shortest.map(|transit| case.time.step / transit)
}
