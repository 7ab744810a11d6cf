//! From the start to the end of time: weights, step, books, rows.

use super::grid::{Grid, Next};
use super::ledger::{Bookkeeper, Works};
use super::record::{self, Extremes, Reader, Row};
use super::step::{Stepper, Stride, Trouble, consistent};
use super::system::{Point, System};
use super::weights::Rule;
use super::{boundary, solvability};
use crate::case::data::Case;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// A run at the end of an accepted step: all that the next step and the summary depend on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Course {
    /// Number of accepted steps.
    pub step: u64,
    /// Number of equal steps that are complete.
    pub reached: u64,
    /// The system at this instant.
    pub point: Point,
    /// Whether the multipliers fit the laws.
    pub consistent: bool,
    /// Size of the last step.
    pub h: f64,
    /// Stored energy at the start.
    pub start: f64,
    /// Works since the start.
    pub sum: Works,
    /// Largest stored energy so far: the measure of defects.
    pub scale: f64,
    /// Largest defect of a step and of the sum, of the scale.
    pub worst: [f64; 2],
    /// Newton passes and pivots of the last step.
    pub passes: usize,
    /// Pivots of the last step.
    pub pivots: usize,
    /// Residual of laws and constraints in the last step.
    pub complementarity: f64,
    /// Newton passes of all steps.
    pub all_passes: u64,
    /// Pivots of all steps.
    pub all_pivots: u64,
    /// Worst residual of laws and constraints.
    pub worst_complementarity: f64,
    /// Length of the way of the states.
    pub variation: f64,
    /// Figures of all columns.
    pub extremes: Extremes,
    /// Newton passes of every level of a boundary value problem, coarsest first: steps and passes.
    pub levels: Vec<[u64; 2]>,
}

/// Looks at a run after an accepted step, with those who take its rows; an error ends it.
pub type After<'a> = dyn FnMut(&Course, &mut [&mut dyn Reader]) -> Result<()> + 'a;

/// What goes along with a run.
pub struct Company<'a> {
    /// Takes the rows.
    pub readers: Vec<&'a mut dyn Reader>,
    /// Where to go on from, instead of the start.
    pub from: Option<Course>,
    /// Called after every accepted step.
    pub after: &'a mut After<'a>,
}

/// Time that steps took, sampled so that the clock does not count.
#[derive(Default)]
struct Stopwatch {
    total: Duration,
    seen: u64,
}

impl Stopwatch {
    /// Measures one call in so many.
    const SAMPLE: u64 = 64;

    fn measure<T>(&mut self, work: impl FnOnce() -> T) -> T {
        self.seen += 1;
        if self.seen > Self::SAMPLE && !self.seen.is_multiple_of(Self::SAMPLE) {
            return work();
        }
        let clock = Instant::now();
        let result = work();
        let weight = if self.seen > Self::SAMPLE { Self::SAMPLE as u32 } else { 1 };
        self.total += clock.elapsed() * weight;
        result
    }
}

/// The system at t = 0.
pub fn start(system: &System) -> Result<Course> {
    let mut point = system.point();
    let mut values = Vec::new();
    let fits = consistent(system, &mut point, 0.0).is_some();
    if !fits {
        point.z = system.point().z;
    }
    system.evaluate(&mut point, 0.0, &mut values);
    system.complete(&mut point, 0.0, &mut values);
    system.demand_finite(&point, 0.0)?;
    let stored = point.stored;
    Ok(Course { point, consistent: fits, start: stored, scale: stored.abs(), ..Course::default() })
}

/// Runs to the end of time; the time spent in steps comes back too.
pub fn march(system: &System, case: &Case, company: Company) -> Result<(Course, Duration)> {
    let Company { mut readers, from, after } = company;
    // A boundary value problem has nothing to go on from before it is solved.
    if case.first_order.boundary.is_some() {
        return boundary::run(system, case, start(system)?, &mut readers, after);
    }
    let mut values = Vec::new();
    let mut course = match from {
        Some(course) => course,
        None => {
            let mut course = start(system)?;
            solvability::refuse_degree(system, &course.point)?;
            show(system, &mut course, &mut values, &mut readers)?;
            after(&course, &mut readers)?;
            course
        }
    };
    let newton = &case.solver.newton;
    let mut stepper = Stepper::new(system, newton.tolerance, newton.passes);
    let parameter = |key: &str| crate::schemes::number(&case.scheme.parameters, key);
    let mut rule = Rule::new(system, parameter("theta").unwrap_or(1.0), parameter("omega"));
    let mut books = Bookkeeper::new(system);
    let grid = Grid::new(case);
    let mut stopwatch = Stopwatch::default();
    let mut to = course.point.clone();
    while let Some(next) = grid.next(course.reached, course.point.time) {
        let Next { stride, reached, after_jump } = next;
        let result = stopwatch.measure(|| {
            let smooth = course.consistent && !after_jump && !system.jumps_between(course.point.time, stride.data);
            let weights = rule.weights(&course.point, stride.h, smooth);
            let counts = stepper.step(&course.point, stride, weights, &mut to)?;
            let works = books.works(&course.point, &to, stride, weights, &stepper.push);
            Ok((counts, works))
        });
        let (counts, works) = match result {
            Ok(done) => done,
            Err(trouble) => return Err(explain(system, &stepper, &course, stride, trouble, &mut to)),
        };
        (course.passes, course.pivots, course.complementarity) = (counts.passes, counts.pivots, counts.complementarity);
        course.reached = reached;
        course.accept(&mut to, stride.h, &works);
        show(system, &mut course, &mut values, &mut readers)?;
        after(&course, &mut readers)?;
    }
    Ok((course, stopwatch.total))
}

impl Course {
    /// Takes a finished step over; `to` gets the old point for the next one.
    pub fn accept(&mut self, to: &mut Point, h: f64, works: &Works) {
        let way = |(a, b): (&f64, &f64)| (a - b) * (a - b);
        self.variation += self.point.x.iter().zip(&to.x).map(way).sum::<f64>().sqrt();
        std::mem::swap(&mut self.point, to);
        self.step += 1;
        self.h = h;
        self.consistent = true;
        self.sum.add(works);
        self.scale = self.scale.max(self.point.stored.abs());
        if self.scale > 0.0 {
            self.worst[0] = self.worst[0].max(works.defect.abs() / self.scale);
            self.worst[1] = self.worst[1].max(self.sum.defect.abs() / self.scale);
        }
        self.all_passes += self.passes as u64;
        self.all_pivots += self.pivots as u64;
        self.worst_complementarity = self.worst_complementarity.max(self.complementarity);
    }
}

/// Fills the row of the run so far and shows it.
pub fn show(
    system: &System,
    course: &mut Course,
    values: &mut Vec<f64>,
    readers: &mut [&mut dyn Reader],
) -> Result<()> {
    record::fill(system, course, values);
    let (time, h) = (course.point.time, course.h);
    course.extremes.take(time, h, values);
    let row = Row { step: course.step, reached: course.reached, time, h, values };
    readers.iter_mut().try_for_each(|reader| reader.take(&row))
}

/// The error of a step that failed.
fn explain(
    system: &System,
    stepper: &Stepper,
    course: &Course,
    stride: Stride,
    trouble: Trouble,
    to: &mut Point,
) -> Error {
    let step = format!("step {} (t = {})", course.step + 1, stride.end);
    match trouble {
        Trouble::Ray => Error::Solver(solvability::explain_ray(system, stepper.matrix(), &step)),
        Trouble::Singular(state) => Error::Solver(format!(
            "the matrix I − hθA of {step} is singular near state `{}`; take another step size",
            system.states[state]
        )),
        Trouble::Slow(left) => Error::Solver(format!(
            "Newton's method does not converge in {step}: {left:.1e} is left; take a smaller step, or more \
             solver.newton.passes"
        )),
        Trouble::NotFinite => {
            let mut values = Vec::new();
            system.evaluate(to, stride.data, &mut values);
            match system.demand_finite(to, stride.data) {
                Err(Error::Value { text, .. } | Error::Input(text)) => Error::Guard(format!("in {step}: {text}")),
                _ => Error::Guard(format!("something is not a number in {step}")),
            }
        }
    }
}
