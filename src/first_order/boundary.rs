//! Boundary value problems, (F8): all steps at once by a semismooth Newton method, in time that grows linearly with them.
//!
//! In every pass each law is an equation or a bound, whichever its natural map says; multipliers are eliminated step by
//! step, then states from left to right by orthogonal transformations, which do not let what grows in either direction of
//! time spoil the rest. Coarse grids give the start for fine ones.

use super::chain::{Block, Chain};
use super::ledger::Bookkeeper;
use super::march::{After, Course, show};
use super::record::Reader;
use super::solvability::refuse_degree;
use super::step::{Stride, consistent};
use super::system::{Point, Slopes, System};
use super::weights::Weights;
use crate::case::data::{Amount, Case};
use crate::expression::{Expression, Vocabulary};
use crate::memory::Limit;
use crate::{Error, Result};
use std::time::{Duration, Instant};

/// The coarsest grid has at most this many steps.
const COARSEST: usize = 100;

/// The equations of a grid with one number of steps.
struct Problem<'a> {
    system: &'a System,
    conditions: &'a Conditions,
    theta: f64,
    h: f64,
    points: Vec<Point>,
    /// Largest value of every state on the grid.
    sizes: Vec<f64>,
    /// Largest residual of a law or constraint in the last pass, of the terms that it is made of.
    complementarity: f64,
    slopes: [Slopes; 2],
    block: Block,
    chain: Chain,
    curvature: Vec<f64>,
    values: Vec<f64>,
}

/// Conditions at the ends, linear: value at zero, and slopes in the states at both ends.
struct Conditions {
    offset: Vec<f64>,
    /// By rows: states at the start, then at the end.
    slopes: Vec<f64>,
}

impl Conditions {
    fn new(case: &Case, system: &System) -> Result<Conditions> {
        let equations = case.first_order.boundary.as_ref().map_or(&[][..], |boundary| &boundary.equations);
        let constants: Vec<(String, f64)> = case.constants.iter().map(|(name, value)| (name.clone(), *value)).collect();
        let end = |end: &str| system.states.iter().map(|name| format!("{name}_{end}")).collect::<Vec<_>>();
        let names = [end("start"), end("end")].concat();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let zero = vec![0.0; names.len()];
        let (mut offset, mut slopes) = (Vec::new(), Vec::new());
        for (k, equation) in equations.iter().enumerate() {
            let text = match equation {
                Amount::Number(value) => format!("{value:?}"),
                Amount::Expression(text) => text.replace('@', "_"),
            };
            let words = Vocabulary { variables: &names, constants: &constants, refused: &[] };
            let path = format!("boundary.equations[{k}]");
            let expression = Expression::parse(&text, &words).map_err(|fault| Error::from(fault).at(&path))?;
            let mut row = vec![0.0; names.len()];
            let value = expression.gradient(&zero, &mut row);
            if !value.is_finite() || row.iter().any(|slope| !slope.is_finite()) || row.iter().all(|&slope| slope == 0.0)
            {
                let text = "this says nothing of the states at the start or the end".to_string();
                return Err(Error::Value { path: "boundary.equations".into(), text });
            }
            offset.push(value);
            slopes.extend(row);
        }
        Ok(Conditions { offset, slopes })
    }

    /// Residual of condition `k`.
    fn residual(&self, k: usize, start: &[f64], end: &[f64]) -> f64 {
        let row = self.row(k, start.len()).iter().zip(start.iter().chain(end));
        row.fold(self.offset[k], |sum, (a, x)| sum + a * x)
    }

    /// Size of the terms of condition `k` for states of these sizes.
    fn size(&self, k: usize, sizes: &[f64]) -> f64 {
        let row = self.row(k, sizes.len()).iter().zip(sizes.iter().chain(sizes));
        row.fold(self.offset[k].abs(), |sum, (a, x)| sum + (a * x).abs())
    }

    fn row(&self, k: usize, n: usize) -> &[f64] {
        &self.slopes[k * 2 * n..][..2 * n]
    }
}

/// Numbers of steps of all grids, coarsest first.
fn levels(count: usize) -> Vec<usize> {
    let mut all = vec![count];
    while let Some(&last) = all.last().filter(|&&last| last > COARSEST) {
        all.push(last.div_ceil(2));
    }
    all.reverse();
    all
}

/// Solves a boundary value problem and shows its grid as if it had been marched through.
pub fn run(
    system: &System,
    case: &Case,
    mut course: Course,
    readers: &mut [&mut dyn Reader],
    after: &mut After,
) -> Result<(Course, Duration)> {
    let clock = Instant::now();
    refuse_degree(system, &course.point)?;
    let conditions = Conditions::new(case, system)?;
    let theta = crate::schemes::number(&case.scheme.parameters, "theta").unwrap_or(1.0);
    let newton = &case.solver.newton;
    let count = super::grid::Grid::new(case).count() as usize;
    demand_memory(system, count)?;
    after(&course, readers)?;
    let mut points = vec![course.point.clone(); 2];
    let mut passes = 0;
    for steps in levels(count) {
        let points_now = refined(&points, steps, case.time.end, system.laws.len());
        let mut problem = Problem::new(system, &conditions, theta, points_now, case.time.end / steps as f64);
        passes = problem.solve(newton.tolerance, newton.passes, &mut || after(&course, readers))?;
        course.complementarity = problem.complementarity;
        course.levels.push([steps as u64, passes as u64]);
        points = problem.points;
    }
    let stepping = clock.elapsed();
    let weights = Weights { theta, omega: 1.0 };
    let h = case.time.end / count as f64;
    let mut values = Vec::new();
    let mut books = Bookkeeper::new(system);
    let mut slopes = Slopes::default();
    // Before the first step no multiplier acts; the laws tell those that fit, or else the first ones are shown.
    let first = points[1].z.clone();
    if consistent(system, &mut points[0], 0.0).is_none() {
        points[0].z = first;
    }
    for (k, point) in points.iter_mut().enumerate() {
        system.evaluate(point, point.time, &mut values);
        system.complete(point, point.time, &mut values);
        system.demand_finite(point, point.time)?;
        if k == 0 {
            (course.start, course.scale) = (point.stored, point.stored.abs());
            course.point = point.clone();
            show(system, &mut course, &mut values, readers)?;
            continue;
        }
        system.slopes(point, point.time, &mut slopes, &mut values);
        let (n, m) = (system.size(), system.laws.len());
        let push = |i: usize| (m..point.z.len()).map(|row| slopes.c[row * n + i] * point.z[row]).sum();
        let push: Vec<f64> = (0..n).map(push).collect();
        let stride = Stride { h, end: point.time, data: point.time };
        let works = books.works(&course.point, point, stride, weights, &push);
        (course.passes, course.reached) = (passes, k as u64);
        course.accept(&mut point.clone(), h, &works);
        show(system, &mut course, &mut values, readers)?;
    }
    course.all_passes = course.levels.iter().map(|level| level[1]).sum();
    Ok((course, stepping))
}

/// Refuses a problem that does not fit into memory: all steps are unknowns at once.
fn demand_memory(system: &System, steps: usize) -> Result<()> {
    let (n, all) = (system.size() as u64, system.multipliers() as u64);
    let point = 200 + 8 * (5 * n + 2 * all);
    let chain = 8 * (n * (3 * n + 2) + all * (all + 2 * n + 2));
    let together = rayon::current_thread_index().map_or(1, |_| rayon::current_num_threads());
    let limit = Limit::of_machine().map(|limit| limit.shared(together));
    // Points of the coarser grid are there while those of the finer one are made.
    let bytes = (steps as u64).saturating_mul(2 * point + chain);
    limit
        .map_or(Ok(()), |limit| limit.demand(bytes, &format!("{steps} steps of a boundary value problem, all at once")))
}

/// Points of a grid with so many steps from those of another: states straight between instants, multipliers repeated,
/// impulses shared out.
fn refined(points: &[Point], steps: usize, end: f64, laws: usize) -> Vec<Point> {
    let coarse = points.len() - 1;
    let share = coarse as f64 / steps as f64;
    let point = |k: usize| {
        let place = k as f64 * share;
        let before = (place.floor() as usize).min(coarse - 1);
        let part = place - before as f64;
        let (a, b) = (&points[before], &points[before + 1]);
        let mut point = if part > 0.0 { b.clone() } else { a.clone() };
        for (i, x) in point.x.iter_mut().enumerate() {
            *x = a.x[i] + part * (b.x[i] - a.x[i]);
        }
        point.z[laws..].iter_mut().for_each(|impulse| *impulse *= share);
        point.time = if k == steps { end } else { k as f64 * (end / steps as f64) };
        point
    };
    (0..=steps).map(point).collect()
}

impl<'a> Problem<'a> {
    fn new(system: &'a System, conditions: &'a Conditions, theta: f64, points: Vec<Point>, h: f64) -> Problem<'a> {
        let (n, all) = (system.size(), system.multipliers());
        let chain = Chain::new(n, all, points.len() - 1);
        let (sizes, block) = (vec![0.0; n], Block::new(n, all));
        let (slopes, values) = ([Slopes::default(), Slopes::default()], Vec::new());
        let curvature = vec![0.0; n * n];
        Problem {
            system,
            conditions,
            theta,
            h,
            points,
            sizes,
            complementarity: 0.0,
            slopes,
            block,
            chain,
            curvature,
            values,
        }
    }

    /// Iterates until all equations hold; returns the number of passes.
    fn solve(&mut self, tolerance: f64, most: usize, stopped: &mut dyn FnMut() -> Result<()>) -> Result<usize> {
        let steps = self.points.len() - 1;
        let mut left = f64::INFINITY;
        for pass in 0..=most {
            let before = left;
            left = self.fill()?;
            if left.is_nan() {
                let wild = |point: &&Point| point.x.iter().chain(&point.f).any(|value| !value.is_finite());
                let instant = self.points.iter().find(wild).map_or(0.0, |point| point.time);
                return Err(Error::Guard(format!(
                    "a state or its rate is not a number in the boundary value problem (pass {pass}), first at t = {instant}"
                )));
            }
            // Rounding of a long chain is all that is left if a pass does not help any more.
            if left <= tolerance || (left <= 1e3 * tolerance && left >= 0.5 * before) {
                return Ok(pass);
            }
            if pass == most {
                break;
            }
            self.advance().map_err(|()| {
                Error::Solver(format!(
                    "the boundary value problem with {steps} steps is singular in pass {}: the boundary equations leave a \
                     state open, or contradict each other",
                    pass + 1
                ))
            })?;
            stopped()?;
        }
        Err(Error::Solver(format!(
            "the boundary value problem with {steps} steps does not converge in {most} passes: {left:.1e} is left; give a \
             better `start` of the states, or more solver.newton.passes"
        )))
    }

    /// Linearises all equations and eliminates on the way; returns the largest residual, of the terms that it is made of.
    fn fill(&mut self) -> Result<f64> {
        let (n, m, all) = (self.system.size(), self.system.laws.len(), self.system.multipliers());
        let (h, theta, system) = (self.h, self.theta, self.system);
        for (i, size) in self.sizes.iter_mut().enumerate() {
            *size = self.points.iter().fold(0.0, |size: f64, point| size.max(point.x[i].abs()));
        }
        let mut worst: f64 = 0.0;
        let larger = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) };
        for (k, point) in self.points.iter_mut().enumerate() {
            system.evaluate(point, point.time, &mut self.values);
            if k == 0 {
                system.slopes(point, point.time, &mut self.slopes[1], &mut self.values);
            }
        }
        self.chain.begin();
        self.complementarity = 0.0;
        for k in 1..self.points.len() {
            let (before, rest) = self.points.split_at_mut(k);
            let (from, to) = (&before[k - 1], &mut rest[0]);
            let [old, new] = &mut self.slopes;
            std::mem::swap(old, new);
            system.slopes(to, to.time, new, &mut self.values);
            let block = &mut self.block;
            block.begin();
            for i in 0..n {
                let push: f64 = (m..all).map(|row| new.c[row * n + i] * to.z[row]).sum();
                let way = h * (theta * to.f[i] + (1.0 - theta) * from.f[i] + to.bu[i]) + push;
                let residual = to.x[i] - from.x[i] - way;
                let input: f64 = new.b[i * m..][..m].iter().zip(&to.z).map(|(b, u)| (b * u).abs()).sum();
                let size = self.sizes[i] + way.abs() + h * input;
                worst = if residual == 0.0 { worst } else { larger(worst, residual.abs() / size) };
                for j in 0..n {
                    let own = if i == j { 1.0 } else { 0.0 };
                    let at = i * n + j;
                    block.set_old(i, j, -own - h * (1.0 - theta) * old.f_x[at]);
                    block.set_new(i, j, own - h * (theta * new.f_x[at] + new.bu_x[at]));
                }
                for j in 0..all {
                    block.set_multiplier(i, j, if j < m { -h * new.b[i * m + j] } else { -new.c[j * n + i] });
                }
                block.set_right(i, -residual);
            }
            for (row, constraint) in system.rows.iter().enumerate().filter(|(row, _)| to.z[m + row] != 0.0) {
                self.curvature.fill(0.0);
                constraint.add_curvature(to.time, &mut to.x, to.z[m + row], &mut self.curvature, &mut self.values);
                (0..n * n).for_each(|at| block.add_new(at / n, at % n, -self.curvature[at]));
            }
            for i in 0..all {
                let c = &new.c[i * n..][..n];
                // W of the step without what the states do to each other in it: enough for a scale.
                let entry = |j: usize| match (i < m, j < m) {
                    (true, true) => new.d[i * m + j] + h * (0..n).map(|x| c[x] * new.b[x * m + j]).sum::<f64>(),
                    (_, false) => (0..n).map(|x| c[x] * new.c[j * n + x]).sum(),
                    (false, true) => h * (0..n).map(|x| c[x] * new.b[x * m + j]).sum::<f64>(),
                };
                let scale = (0..all).fold(0.0, |size: f64, j| size.max(entry(j).abs()));
                let scale = if scale > 0.0 { scale } else { 1.0 };
                let (u, w, low, high) = (to.z[i], to.w[i], system.low[i], system.high[i]);
                let target = u - w / scale;
                let natural = u - target.clamp(low, high);
                let terms: f64 = (0..n).map(|x| c[x].abs() * self.sizes[x]).sum::<f64>() + scale * u.abs() + w.abs();
                if natural != 0.0 {
                    self.complementarity = larger(self.complementarity, scale * natural.abs() / terms);
                }
                if target <= low || target >= high {
                    block.set_multiplier(n + i, i, 1.0);
                    block.set_right(n + i, if target <= low { low - u } else { high - u });
                } else {
                    (0..n).for_each(|x| block.set_new(n + i, x, c[x] / scale));
                    (0..m).filter(|_| i < m).for_each(|j| block.set_multiplier(n + i, j, new.d[i * m + j] / scale));
                    block.set_right(n + i, -w / scale);
                }
            }
            self.chain.push(&mut self.block);
        }
        let (start, end) = (&self.points[0].x, &self.points[self.points.len() - 1].x);
        for k in 0..n {
            let (residual, size) = (self.conditions.residual(k, start, end), self.conditions.size(k, &self.sizes));
            worst = if residual == 0.0 { worst } else { larger(worst, residual.abs() / size) };
        }
        Ok(larger(self.complementarity, worst))
    }

    /// Moves all states and multipliers by the solution of the linearised equations.
    fn advance(&mut self) -> std::result::Result<(), ()> {
        let n = self.system.size();
        let (start, end) = (&self.points[0].x, &self.points[self.points.len() - 1].x);
        let right: Vec<f64> = (0..n).map(|k| -self.conditions.residual(k, start, end)).collect();
        self.chain.solve(&self.conditions.slopes, &right)?;
        for (k, point) in self.points.iter_mut().enumerate() {
            point.x.iter_mut().zip(self.chain.states(k)).for_each(|(x, dx)| *x += dx);
            if k > 0 {
                let bounds = self.system.low.iter().zip(&self.system.high);
                for ((z, dz), (&low, &high)) in point.z.iter_mut().zip(self.chain.multipliers(k)).zip(bounds) {
                    // A bound that was meant is met exactly.
                    let next = *z + dz;
                    let near =
                        |bound: f64| bound.is_finite() && (next - bound).abs() <= 1e-14 * (z.abs() + bound.abs());
                    *z = if near(low) {
                        low
                    } else if near(high) {
                        high
                    } else {
                        next
                    };
                }
            }
        }
        Ok(())
    }
}
