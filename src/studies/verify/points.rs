//! Point masses: a smooth motion, a ball, an oscillator, two balls.

use super::{Criterion, Nobody, Part, Plan, Row, Scheme, case, shipped, watch};
use crate::Result;
use crate::exact::DrivenOscillator;
use crate::norms;
use crate::plot::{Axis, Curve};
use crate::studies::{Reference, Wish, known::Known, prospect, run};

pub(super) fn plans() -> Vec<Plan> {
    let errors = |y| [Axis::log("step"), Axis::log(y)];
    vec![
        Plan::schemes(
            "Driven oscillator",
            "A damped mass on a spring under a harmonic load: smooth, so that every scheme shows its own order. Exact: \
             closed form (`exact::DrivenOscillator`). Order: least squares through four steps; error: largest one at the \
             finest, until t = 2.",
            smooth,
        )
        .figure("driven-oscillator", errors("largest error of the position")),
        Plan::schemes(
            "Bouncing ball",
            "Infinitely many impacts before t = 3, restitution ½. Exact: closed form (`exact::BouncingBall`). Orders: least \
             squares through four steps, each on eight grids that are shifted against the impacts; through impacts one \
             is the most that any of these schemes has. Graph: Hausdorff distance of the filled-in graphs. That of the \
             velocity has a wider criterion: towards the accumulation of impacts errors pile up.",
            |scheme| impacts(scheme, "bouncing-ball", 3.5, 0.25),
        )
        .figure("bouncing-ball", errors("L1 error of the position")),
        Plan::schemes(
            "Impacting oscillator",
            "A mass on a spring with a wall where the spring is at rest, restitution 0.8. Exact: closed form \
             (`exact::ImpactingOscillator`). Orders as for the ball.",
            |scheme| impacts(scheme, "impacting-oscillator", 2.2, 0.15),
        )
        .figure("impacting-oscillator", errors("L1 error of the position")),
        Plan::schemes(
            "Two balls on a spring",
            "Two masses and a spring fall on the floor, restitution 0, h = 3e-5. Exact: events of the modal solution, \
             confirmed by an event-driven Runge–Kutta code to 6e-16. Times are late or early by this many steps.",
            two_balls,
        ),
        Plan::schemes(
            "Stiff pair of balls",
            "The same with a spring of 1e4 and restitution 0.8: two impacts per landing. Exact as above. Impacts are late or \
             early by this many steps; the later ones depend on the earlier, and first order is too coarse for them.",
            stiff_pair,
        ),
    ]
}

const DRIVEN: DrivenOscillator =
    DrivenOscillator { mass: 1.3, damping: 0.8, stiffness: 52.0, load: 7.0, frequency: 0.6, x0: 0.4, v0: -1.1 };

fn smooth(scheme: &'static Scheme) -> Result<Part> {
    let DrivenOscillator { mass, damping, stiffness, load, frequency, x0, v0 } = DRIVEN;
    let text = |h: f64| {
        format!(
            "format = 1\ntime = {{ end = 2.0, step = {h:e} }}\nscheme = {}\n\
             body = [{{ name = \"anchor\", element = \"mass\", at = [0.0], mass = 1.0 }},\n\
             {{ name = \"mass\", element = \"mass\", at = [1.0], mass = {mass}, displacement = [{x0}], velocity = [{v0}] }},\n\
             {{ name = \"spring\", element = \"spring\", between = [\"anchor\", \"mass\"], stiffness = {stiffness}, \
             damping = {damping} }}]\n\
             support = [{{ name = \"ground\", nodes = \"anchor\", fix = [\"x\"] }}]\n\
             load = [{{ name = \"shaker\", nodes = \"mass\", force = [{load}], \
             time = {{ kind = \"harmonic\", frequency = {frequency} }} }}]\n\
             probe = [{{ name = \"mass\", node = \"mass\" }}]\n",
            scheme.table
        )
    };
    // First order needs finer steps to be in its range.
    let coarsest = if scheme.order == 2 { 400 } else { 3200 };
    let mut points = Vec::new();
    let mut identities = Vec::new();
    for level in 0..4 {
        let h = 2.0 / f64::from(coarsest << level);
        let run = watch(&case(&text(h), &[])?, None, &mut Nobody)?;
        let track = &run.outcome.track;
        let exact = |t: &f64| 1.0 + DRIVEN.position(*t);
        let exact: Vec<f64> = track.times.iter().map(exact).collect();
        points.push((h, norms::max(&track.position, &exact)));
        identities = run.identities(scheme);
    }
    let wanted = f64::from(scheme.order);
    let order = norms::order(&points).unwrap_or(f64::NAN);
    let limit = if scheme.order == 2 { 1e-4 } else { 1e-2 };
    let mut rows = vec![
        Row::new(scheme.label, "order", order, Criterion::Near(wanted, 0.1)),
        Row::new(scheme.label, "error", points[3].1, Criterion::Below(limit)),
    ];
    rows.extend(identities);
    Ok(Part { rows, curves: vec![curve(scheme, &points)] })
}

fn curve(scheme: &Scheme, points: &[(f64, f64)]) -> Curve {
    let points = points.iter().map(|&(h, error)| [h, error]).collect();
    Curve { marks: true, dashed: scheme.order == 1, ..Curve::new(scheme.label, points) }
}

/// Grids that are shifted against each other by parts of a step.
const SHIFTS: u32 = 8;

fn impacts(scheme: &'static Scheme, name: &'static str, end: f64, slack: f64) -> Result<Part> {
    let set = |more: &[String]| {
        let set = [scheme.set(), format!("time.end={end}")];
        shipped(name, &[&set[..], more].concat())
    };
    let coarse = format!("time.step={:e}", end / 200.0);
    let (_, known) = prospect(&set(&[coarse])?, &Wish::default())?;
    let known: Known = known.expect("the book names problems with exact solutions");
    let reference = Reference::exact(&known, end);
    // Position in L1 and both graphs, means over the shifted grids.
    let mut levels = [(); 3].map(|()| Vec::new());
    // First order damps these oscillations: with coarser steps there is nothing left to converge.
    let coarsest = if scheme.order == 2 { 200 } else { 1600 };
    for level in 0..4 {
        // An odd number of steps keeps impacts off the grid.
        let h = end / f64::from((coarsest << level) + 1);
        let mut sums = [0.0; 3];
        for shift in 0..SHIFTS {
            let first = h * (1.0 - f64::from(shift) / f64::from(SHIFTS));
            let grid = [format!("time.step={h:e}"), format!("time.first_step={first:e}")];
            let outcome = run(&set(&grid)?, &Wish::default())?;
            let [position, velocity] = reference.errors(&outcome.track);
            for (sum, error) in sums.iter_mut().zip([position.l1, position.graph, velocity.graph]) {
                *sum += error / f64::from(SHIFTS);
            }
        }
        for (points, error) in levels.iter_mut().zip(sums) {
            points.push((h, error));
        }
    }
    let step = [format!("time.step={:e}", end / 1601.0)];
    let watched = watch(&set(&step)?, None, &mut Nobody)?;
    let order = |k: usize| norms::order(&levels[k]).unwrap_or(f64::NAN);
    let mut rows = vec![
        Row::new(scheme.label, "order, L1", order(0), Criterion::Near(1.0, 0.1)),
        Row::new(scheme.label, "order, graph", order(1), Criterion::Near(1.0, 0.15)),
        Row::new(scheme.label, "order, graph of v", order(2), Criterion::Near(1.0, slack)),
    ];
    rows.extend(watched.identities(scheme));
    Ok(Part { rows, curves: vec![curve(scheme, &levels[0])] })
}

fn two_balls(scheme: &'static Scheme) -> Result<Part> {
    let h = 3e-5;
    let watched =
        watch(&shipped("two-ball-oscillator", &[scheme.set(), format!("time.step={h:e}")])?, None, &mut Nobody)?;
    let spans = &watched.outcome.digest.contacts[0].spans;
    // A fully implicit ball that stops just above the floor closes the rest of the gap in small hops, so the event nearest
    // to an instant is taken.
    let late = |exact: f64, end: bool| {
        let instants = spans.iter().map(|span| if end { span.end } else { span.start });
        instants.map(|t| (t - exact).abs()).fold(f64::INFINITY, f64::min) / h
    };
    // The fully implicit fall is late by half a step on top of the forecast's half. The last digit is for rounding.
    let limits = if scheme.order == 2 { [0.501, 2.001, 2.001] } else { [1.001, 2.001, 12.001] };
    let events = [
        ("impact, steps", 0.4515236409857309, false),
        ("release, steps", 0.5575137663372677, true),
        ("next impact, steps", 0.9928027266611095, false),
    ];
    let row = |((quantity, exact, end), limit): ((&'static str, f64, bool), f64)| {
        Row::new(scheme.label, quantity, late(exact, end), Criterion::Below(limit))
    };
    let mut rows: Vec<Row> = events.into_iter().zip(limits).map(row).collect();
    rows.extend(watched.identities(scheme));
    Ok(Part { rows, curves: Vec::new() })
}

fn stiff_pair(scheme: &'static Scheme) -> Result<Part> {
    let loaded = shipped("two-ball-oscillator-stiff", &[scheme.set()])?;
    let watched = watch(&loaded, None, &mut Nobody)?;
    let h = loaded.case.time.step;
    let mut rows = Vec::new();
    if scheme.order == 2 {
        let spans = &watched.outcome.digest.contacts[0].spans;
        let exact = [0.40024992192379, 0.41970756407768, 1.0058669104444, 1.0315327027472];
        let names = ["impact 1, steps", "impact 2, steps", "impact 3, steps", "impact 4, steps"];
        for (k, limit) in [0.501, 1.501, 10.001, 40.001].into_iter().enumerate() {
            let late = spans.get(k).map_or(f64::NAN, |span| (span.start - exact[k]).abs() / h);
            rows.push(Row::new(scheme.label, names[k], late, Criterion::Below(limit)));
        }
    }
    rows.extend(watched.identities(scheme));
    Ok(Part { rows, curves: Vec::new() })
}
