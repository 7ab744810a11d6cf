//! Which exact solution a case has, if any: told from its model alone, and strictly.
//!
//! A model that differs in anything from the problem that was solved exactly has no exact solution here: a wrong
//! reference would be worse than none.

use crate::case::data::{Analysis, Case, Field};
use crate::elements::Extent;
use crate::exact::{BouncingBall, BouncingBar, FreeBar, ImpactingBar, ImpactingOscillator};
use crate::model::{Body, Contact, Model};
use std::f64::consts::PI;

/// A function of time.
pub type Curve = Box<dyn Fn(f64) -> f64 + Send + Sync>;

/// The exact motion of one node, in the coordinates of the case.
pub struct Known {
    /// The problem, in words.
    pub problem: &'static str,
    /// Coordinate.
    pub position: Curve,
    /// Velocity; where it jumps, the value after the jump.
    pub velocity: Curve,
    /// Force of the contact, where it is a function.
    pub force: Option<Curve>,
}

/// Name of the problem of a bar on a wall, for which the source paper has a set of schemes.
pub const IMPACTING_BAR: &str = "bar hits a wall";

/// The exact motion of `node` in a model, if there is one.
pub fn known(case: &Case, model: &Model, node: usize) -> Option<Known> {
    let plain = case.analysis == Analysis::Dynamic
        && model.dimension == 1
        && model.joints.is_empty()
        && model.loads.is_empty()
        && model.displacement.iter().zip(&model.velocity).all(|(q, v)| q[1..] == [0.0; 2] && v[1..] == [0.0; 2]);
    if !plain {
        return None;
    }
    match (&model.bodies[..], &model.contacts[..]) {
        ([bar], [wall]) if bar.kind.is_bar() => bar_on_wall(model, bar, wall, node),
        ([bar], []) if bar.kind.is_bar() => free_bar(case, model, bar, node),
        ([ball], [floor]) if ball.kind.extent == Extent::Point => ball_on_floor(model, floor, node),
        ([_, _, _], [wall]) => oscillator(model, wall, node),
        _ => None,
    }
}

/// An elastic bar in one straight piece: no damping, no supports, length by its outermost nodes.
struct Straight {
    young: f64,
    density: f64,
    area: f64,
    ends: [f64; 2],
}

impl Straight {
    fn new(model: &Model, bar: &Body) -> Option<Straight> {
        let p = &bar.properties;
        let places = || bar.nodes.clone().map(|node| model.places[node][0]);
        let ends = [places().fold(f64::INFINITY, f64::min), places().fold(f64::NEG_INFINITY, f64::max)];
        // Nodes of one chain; a mesh file could hold several pieces.
        let chain = bar.lines.len() + 1 == bar.nodes.len();
        let total: f64 = bar.lines.iter().map(|&[a, b]| (model.places[b][0] - model.places[a][0]).abs()).sum();
        let whole = chain && (total - (ends[1] - ends[0])).abs() <= 1e-9 * total;
        let elastic = p.mass_damping == 0.0 && p.stiffness_damping == 0.0 && model.supports.is_empty();
        let area = p.section.area;
        (whole && elastic && area > 0.0).then(|| Straight {
            young: p.axial / area,
            density: p.line_mass / area,
            area,
            ends,
        })
    }

    fn length(&self) -> f64 {
        self.ends[1] - self.ends[0]
    }
}

/// The wall as the moving body sees it: which way is away from it, and where the touching node then is.
struct Wall {
    away: f64,
    place: f64,
}

impl Wall {
    /// Of a contact with a plane at rest without friction; exact solutions know nothing else.
    fn new(contact: &Contact) -> Option<Wall> {
        let (point, normal) = contact.plane()?;
        let away = normal[0].signum();
        let plain = contact.motion.is_empty() && contact.law.friction == 0.0;
        plain.then(|| Wall { away, place: point[0] + away * contact.radius })
    }

    /// Distance from the wall of a place.
    fn distance(&self, place: f64) -> f64 {
        self.away * (place - self.place)
    }

    fn known(
        self,
        problem: &'static str,
        position: impl Fn(f64) -> f64 + Send + Sync + 'static,
        velocity: impl Fn(f64) -> f64 + Send + Sync + 'static,
        force: Option<Curve>,
    ) -> Option<Known> {
        let Wall { away, place } = self;
        let position = Box::new(move |t: f64| place + away * position(t));
        Some(Known { problem, position, velocity: Box::new(move |t: f64| away * velocity(t)), force })
    }
}

/// The value that all nodes of a body share.
fn uniform(values: &[[f64; 3]], body: &Body) -> Option<f64> {
    let mut all = body.nodes.clone().map(|node| values[node][0]);
    let first = all.next()?;
    all.all(|value| value == first).then_some(first)
}

fn bar_on_wall(model: &Model, body: &Body, contact: &Contact, node: usize) -> Option<Known> {
    let bar = Straight::new(model, body)?;
    let wall = Wall::new(contact)?;
    let &[foot] = &contact.nodes[..] else { return None };
    let gap = bar.ends.map(|end| wall.distance(end)).into_iter().fold(f64::INFINITY, f64::min);
    let at_rest = uniform(&model.displacement, body) == Some(0.0);
    if contact.law.restitution != 0.0 || gap < 0.0 || wall.distance(model.places[foot][0]) != gap || !at_rest {
        return None;
    }
    let Straight { young, density, area, .. } = bar;
    let length = bar.length();
    let x = wall.distance(model.places[node][0]) - gap;
    let speed = -wall.away * uniform(&model.velocity, body)?;
    let gravity = -wall.away * model.gravity[0];
    if gravity == 0.0 && speed > 0.0 {
        let exact = ImpactingBar { young, density, area, length, gap, speed };
        let force: Curve = Box::new(move |t| exact.contact_force(t));
        return wall.known(IMPACTING_BAR, move |t| exact.position(x, t), move |t| exact.velocity(x, t), Some(force));
    }
    if gravity > 0.0 && speed == 0.0 && gap > 0.0 {
        let flight = 2.0 * (2.0 * gap / gravity).sqrt();
        let round_trips = (flight / (2.0 * length / (young / density).sqrt())).round();
        let exact = BouncingBar { young, density, area, length, gravity, round_trips: round_trips as u32 };
        if round_trips < 1.0 || (exact.gap() - gap).abs() > 1e-9 * gap {
            return None;
        }
        let force: Curve = Box::new(move |t| exact.contact_force(t));
        let problem = "bar bounces under gravity";
        return wall.known(problem, move |t| exact.position(x, t), move |t| exact.velocity(x, t), Some(force));
    }
    None
}

fn free_bar(case: &Case, model: &Model, body: &Body, node: usize) -> Option<Known> {
    let bar = Straight::new(model, body)?;
    let [initial] = &case.initial[..] else { return None };
    let Some(Field::Pulse { direction, amplitude, centre, width }) = &initial.displacement else { return None };
    let own = &case.body[0];
    let still = uniform(&model.velocity, body) == Some(0.0) && model.gravity[0] == 0.0;
    if initial.nodes != body.name || initial.velocity.is_some() || own.displacement.is_some() || !still {
        return None;
    }
    let height = amplitude * direction.first()?.signum();
    let (centre, width) = (*centre, *width);
    let start = model.places[body.nodes.start][0];
    // The pulse counts its distance from the first node, whichever way the bar then runs.
    if start != bar.ends[0] && start != bar.ends[1] {
        return None;
    }
    let shape = move |x: f64| {
        let s = (x - centre) / width;
        if s.abs() < 1.0 { 0.5 * height * (1.0 + (PI * s).cos()) } else { 0.0 }
    };
    let slope = move |x: f64| {
        let s = (x - centre) / width;
        if s.abs() < 1.0 { -0.5 * height * PI / width * (PI * s).sin() } else { 0.0 }
    };
    let exact = FreeBar { young: bar.young, density: bar.density, area: bar.area, length: bar.length(), shape, slope };
    let place = model.places[node][0];
    let x = (place - start).abs();
    Some(Known {
        problem: "free bar",
        position: Box::new(move |t| place + exact.displacement(x, t)),
        velocity: Box::new(move |t| exact.velocity(x, t)),
        force: None,
    })
}

fn ball_on_floor(model: &Model, contact: &Contact, node: usize) -> Option<Known> {
    let wall = Wall::new(contact)?;
    let height = wall.distance(model.places[node][0]);
    let gravity = -wall.away * model.gravity[0];
    let rest = model.displacement[node][0] == 0.0 && model.velocity[node][0] == 0.0;
    if !model.supports.is_empty() || !rest || height <= 0.0 || gravity <= 0.0 {
        return None;
    }
    let exact = BouncingBall { height, gravity, restitution: contact.law.restitution };
    wall.known("ball bounces on a floor", move |t| exact.position(t), move |t| exact.velocity(t), None)
}

fn oscillator(model: &Model, contact: &Contact, node: usize) -> Option<Known> {
    let spring = model.bodies.iter().find(|body| body.kind.extent == Extent::Link)?;
    let masses = model.bodies.iter().filter(|body| body.kind.extent == Extent::Point).count();
    let &[[a, b]] = &spring.lines[..] else { return None };
    let [support] = &model.supports[..] else { return None };
    let anchor = if b == node { a } else { b };
    let held = support.nodes == [anchor] && support.fix.len() == 1 && support.motion.is_empty();
    let still = [a, b].iter().all(|&n| model.displacement[n][0] == 0.0 && model.velocity[n][0] == 0.0);
    let p = &spring.properties;
    let free = p.dashpot == 0.0 && model.gravity[0] == 0.0;
    if masses != 2 || ![a, b].contains(&node) || contact.nodes != [node] || !held || !still || !free {
        return None;
    }
    let wall = Wall::new(contact)?;
    // Where the spring is at rest; in one dimension its length has a sign.
    let rest = model.places[anchor][0] + if node == b { p.rest_length } else { -p.rest_length };
    let amplitude = wall.distance(model.places[node][0]);
    if amplitude <= 0.0 || wall.distance(rest).abs() > 1e-12 * amplitude {
        return None;
    }
    let mass = model.body_of(node).properties.mass;
    let exact = ImpactingOscillator { mass, stiffness: p.stiffness, restitution: contact.law.restitution, amplitude };
    wall.known("mass on a spring hits a wall", move |t| exact.position(t), move |t| exact.velocity(t), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Format, parse};

    fn of(name: &str, set: &[&str]) -> Option<Known> {
        let set: Vec<String> = set.iter().map(|argument| argument.to_string()).collect();
        let text = crate::cases::find(name).unwrap().text;
        let case = parse(text, name, Format::Toml, &set).unwrap_or_else(|failure| panic!("{}", failure.render(false)));
        let model = Model::new(&case, &|name| name.into()).unwrap();
        known(&case, &model, model.probes[0].node)
    }

    #[test]
    fn the_shipped_problems_are_known() {
        for (name, problem) in [
            ("impacting-bar", IMPACTING_BAR),
            ("bouncing-bar", "bar bounces under gravity"),
            ("free-bar", "free bar"),
            ("bouncing-ball", "ball bounces on a floor"),
            ("impacting-oscillator", "mass on a spring hits a wall"),
        ] {
            assert_eq!(of(name, &[]).map(|known| known.problem), Some(problem), "{name}");
        }
        for name in ["two-ball-oscillator", "rotating-beam", "beam-on-stop", "swing"] {
            assert!(of(name, &[]).is_none(), "{name}");
        }
    }

    #[test]
    fn a_change_of_the_problem_is_noticed() {
        for (name, set) in [
            ("impacting-bar", "contact.wall.restitution=0.5"),
            ("impacting-bar", "contact.wall.nodes=\"bar.end\""),
            ("impacting-bar", "gravity=[-1.0]"),
            ("impacting-bar", "body.bar.velocity=[10.0]"),
            ("impacting-bar", "body.bar.displacement=[0.1]"),
            ("impacting-bar", "body.bar.damping={ stiffness = 1e-4 }"),
            ("impacting-bar", "support=[{ name = \"s\", nodes = \"bar.end\", fix = [\"x\"] }]"),
            ("impacting-bar", "load=[{ name = \"l\", nodes = \"bar.end\", force = [1.0] }]"),
            ("bouncing-bar", "gravity=[-9.0]"),
            ("bouncing-bar", "body.bar.velocity=[-1.0]"),
            ("free-bar", "gravity=[1.0]"),
            ("free-bar", "body.bar.velocity=[1.0]"),
            ("bouncing-ball", "gravity=[2.0]"),
            ("bouncing-ball", "body.ball.velocity=[0.1]"),
            ("impacting-oscillator", "body.spring.rest_length=0.1"),
            ("impacting-oscillator", "body.spring.damping=0.1"),
            ("impacting-oscillator", "body.mass.velocity=[0.1]"),
        ] {
            assert!(of(name, &[set]).is_none(), "{name} with {set}");
        }
    }

    #[test]
    fn a_mirrored_problem_has_the_mirrored_motion() {
        let mirror = [
            "body.bar.line={ from = [-5.0], to = [-15.0], elements = 10 }",
            "body.bar.velocity=[10.0]",
            "contact.wall.plane={ point = [0.0], normal = [-2.0] }",
        ];
        let (plain, mirrored) = (of("impacting-bar", &[]).unwrap(), of("impacting-bar", &mirror).unwrap());
        for t in [0.0, 0.3, 0.8, 2.0] {
            assert_eq!((plain.position)(t), -(mirrored.position)(t));
            assert_eq!((plain.velocity)(t), -(mirrored.velocity)(t));
        }
        assert_eq!((mirrored.velocity)(2.0), -10.0);
        assert_eq!((mirrored.force.unwrap())(0.8), 300.0);
    }
}
