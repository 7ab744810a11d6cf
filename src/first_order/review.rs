//! What `carom check` says of a first-order system before it runs: degrees, solvability, passivity, time constants.

use super::march::start;
use super::solvability::{Class, class, degrees, refuse_degree};
use super::step::{Stepper, Stride};
use super::system::{Point, Slopes, System};
use super::weights::Weights;
use crate::Result;
use crate::advice::Advice;
use crate::case::{Case, Loaded};
use serde_json::{Value, json};

/// Steps per shortest time constant below which a run is said to be coarse.
const COARSE: f64 = 1.0;

/// Figures of a system at its start.
pub struct Review {
    degrees: Vec<Option<usize>>,
    class: Class,
    passive: Option<bool>,
    shortest: Option<f64>,
    consistent: bool,
}

/// Looks at a system at its start; nothing where it cannot be evaluated there.
pub fn review(case: &Case, system: &System) -> Option<Review> {
    let course = start(system).ok()?;
    let point = &course.point;
    let (mut slopes, mut values) = (Slopes::default(), Vec::new());
    system.slopes(point, 0.0, &mut slopes, &mut values);
    let theta = crate::schemes::number(&case.scheme.parameters, "theta").unwrap_or(1.0);
    let mut stepper = Stepper::new(system, 1.0, 1);
    let h = case.time.step;
    let mut to = point.clone();
    // The matrix of the first step, whether that comes to its end or not.
    let _ = stepper.step(point, Stride { h, end: h, data: h }, Weights { theta, omega: 1.0 }, &mut to);
    Some(Review {
        degrees: degrees(system, point),
        class: class(system.multipliers(), stepper.matrix()),
        passive: passive(system, point, &slopes),
        shortest: shortest(system.size(), &slopes.f_x),
        consistent: course.consistent,
    })
}

/// Whether P B = Cᵀ, sym P A ≤ 0 and sym D ≥ 0, P the second derivative of the storage: then laws alone cannot give energy.
fn passive(system: &System, point: &Point, slopes: &Slopes) -> Option<bool> {
    if !system.stores() || system.laws.is_empty() {
        return None;
    }
    let (n, m) = (system.size(), system.laws.len());
    // Of a quadratic storage differences of gradients are exact.
    let at = |x: &[f64]| {
        let mut gradient = vec![0.0; n];
        system.gradient_at(x, &mut gradient);
        gradient
    };
    let mut p = vec![0.0; n * n];
    let here = at(&point.x);
    for k in 0..n {
        let mut x = point.x.clone();
        let step = 1.0 + x[k].abs();
        x[k] += step;
        let there = at(&x);
        (0..n).for_each(|i| p[i * n + k] = (there[i] - here[i]) / step);
    }
    let product = |a: &[f64], rows: usize, inner: usize, b: &[f64], columns: usize| -> Vec<f64> {
        let entry = |i: usize, j: usize| (0..inner).map(|k| a[i * inner + k] * b[k * columns + j]).sum();
        (0..rows * columns).map(|k| entry(k / columns, k % columns)).collect()
    };
    let pb = product(&p, n, n, &slopes.b, m);
    let pa = product(&p, n, n, &slopes.f_x, n);
    let size = |v: &[f64]| v.iter().fold(0.0, |s: f64, x| s.max(x.abs()));
    let c = &slopes.c[..m * n];
    let matches = (0..n).all(|i| (0..m).all(|j| (pb[i * m + j] - c[j * n + i]).abs() <= 1e-9 * size(&pb).max(size(c))));
    let least = |k: usize, a: &[f64], sign: f64| {
        let symmetric = nalgebra::DMatrix::from_fn(k, k, |i, j| 0.5 * sign * (a[i * k + j] + a[j * k + i]));
        symmetric.symmetric_eigenvalues().min() >= -1e-9 * size(a)
    };
    Some(matches && least(n, &pa, -1.0) && least(m, &slopes.d, 1.0))
}

/// Shortest time constant, one over the largest modulus of the eigenvalues of ∂f/∂x.
fn shortest(n: usize, f_x: &[f64]) -> Option<f64> {
    let (mut a, mut square) = (f_x.to_vec(), vec![0.0; n * n]);
    let radius = super::dense::spectral_radius(n, &mut a, &mut square);
    (radius > 0.0 && radius.is_finite()).then(|| 1.0 / radius)
}

/// Figures for `carom check`.
pub fn figures(loaded: &Loaded, system: &System) -> Result<Value> {
    let case = &loaded.case;
    let course = start(system).map_err(|error| loaded.placed(error))?;
    refuse_degree(system, &course.point).map_err(|error| loaded.placed(error))?;
    let review = review(case, system);
    let review = review.as_ref();
    let degree =
        |name: &String, degree: &Option<usize>| format!("{name}: {}", degree.map_or("none".into(), |d| d.to_string()));
    let degrees =
        review.map(|r| system.laws.iter().zip(&r.degrees).map(|(n, d)| degree(n, d)).collect::<Vec<_>>().join(", "));
    Ok(json!({
        "title": case.title,
        "states": system.size(),
        "laws": system.laws.len(),
        "constraints": system.constraints.len(),
        "linear": system.steady,
        "relative_degrees": degrees.filter(|text| !text.is_empty()),
        "start_fits_the_laws": review.map(|r| r.consistent),
        "solvable": review.map(|r| match r.class {
            Class::P => "always, and uniquely (P-matrix)",
            Class::Monotone => "where it is possible at all (monotone)",
            Class::Unknown => "not proved",
        }),
        "passive": review.and_then(|r| r.passive),
        "shortest_time_constant": review.and_then(|r| r.shortest),
        "steps_per_time_constant": review.and_then(|r| r.shortest).map(|t| t / case.time.step),
        "steps": super::grid::Grid::new(case).count(),
    }))
}

/// Advice on a case.
pub fn advise(case: &Case, system: &System) -> Vec<Advice> {
    let Some(review) = review(case, system) else { return Vec::new() };
    let mut advice = Vec::new();
    let theta = crate::schemes::number(&case.scheme.parameters, "theta").unwrap_or(1.0);
    if let Some(shortest) = review.shortest {
        let steps = shortest / case.time.step;
        if theta < 0.5 && steps < 0.5 {
            let text = format!(
                "theta = {theta} is stable for steps below about {:.3e} only (twice the shortest time constant); take theta >= 1/2",
                2.0 * shortest
            );
            advice.push(Advice::new("scheme.theta", text));
        } else if steps < COARSE && theta >= 0.5 {
            let text = format!(
                "the step is longer than the shortest time constant {shortest:.3e}: what is that fast is not resolved"
            );
            advice.push(Advice::new("time.step", text));
        }
    }
    if review.class == Class::Unknown {
        let text =
            "it is not proved that every step has a solution: W = D + hωCB is neither P nor monotone at the start";
        advice.push(Advice::new("law", text.to_string()));
    }
    if !review.consistent {
        let text = "the start does not fit the laws or constraints: the first step is fully implicit and makes the states jump";
        advice.push(Advice::new("state", text.to_string()));
    }
    advice
}
