//! Refinement of step or mesh: errors of every level, observed orders, and what accuracy costs.

use super::{Errors, Outcome, Reference, Wish, cell, first_line, prospect, run, with_axis};
use crate::case::Loaded;
use crate::case::data::Case;
use crate::plot::{Axis, Curve, Plot};
use crate::{Result, norms};
use rayon::prelude::*;
use std::fmt::Write;

/// One refinement.
pub struct Level {
    /// Step, or one over the number of elements if only these vary.
    pub size: f64,
    /// Step of the case.
    pub step: f64,
    /// First step of the case, of the step: 1 for a grid that is not shifted.
    pub first: f64,
    /// What came of it, or why nothing.
    pub result: Result<Measured>,
}

/// Numbers of a run.
pub struct Measured {
    /// Line elements of the model.
    pub elements: usize,
    /// Accepted steps.
    pub steps: u64,
    /// Newton passes times unknowns: what the run costs, on any machine.
    pub work: f64,
    /// Wall-clock seconds in steps; never written to files.
    pub seconds: f64,
    /// Errors of position and velocity; the finest run has none if it is the reference.
    pub errors: Option<[Errors; 2]>,
}

/// A refinement study.
pub struct Convergence {
    /// Title of the case.
    pub title: String,
    /// What was followed.
    pub column: String,
    /// What it was compared with.
    pub against: String,
    /// Name of the sizes.
    pub axis: &'static str,
    /// The refinements as they were given.
    pub levels: Vec<Level>,
}

const PARTS: [&str; 2] = ["position", "velocity"];

/// `--set` arguments that give every meshed body of a case `elements` elements.
pub fn mesh_overrides(case: &Case, elements: usize) -> Vec<String> {
    let bodies = case.body.iter().filter_map(|body| {
        let kind = match (&body.line, &body.polyline) {
            (Some(_), _) => "line",
            (_, Some(_)) => "polyline",
            _ => return None,
        };
        Some(format!("body.\"{}\".{kind}.elements={elements}", body.name))
    });
    bodies.collect()
}

/// Runs all refinements on the threads of the current pool; `by_mesh` if the number of elements is all that varies, and
/// then it gives the sizes.
pub fn converge(variants: &[Loaded], wish: &Wish, by_mesh: bool) -> Result<Convergence> {
    let wish = &with_axis(&variants[0], wish)?;
    let (column, known) = prospect(&variants[0], wish)?;
    let outcomes: Vec<Result<Outcome>> = variants.par_iter().map(|loaded| run(loaded, wish)).collect();
    let size = |loaded: &Loaded, outcome: &Result<Outcome>| match outcome {
        Ok(outcome) if by_mesh => 1.0 / outcome.elements as f64,
        _ => loaded.case.time.step,
    };
    let sizes: Vec<f64> = variants.iter().zip(&outcomes).map(|(loaded, outcome)| size(loaded, outcome)).collect();
    let finest = (0..outcomes.len()).filter(|&k| outcomes[k].is_ok()).min_by(|&a, &b| sizes[a].total_cmp(&sizes[b]));
    let best = finest.and_then(|k| outcomes[k].as_ref().ok()).map(|outcome| Reference::run(&outcome.track));
    let errors = |k: usize| {
        let outcome = outcomes[k].as_ref().ok()?;
        match &outcome.known {
            Some(known) => Some(Reference::exact(known, variants[k].case.time.end).errors(&outcome.track)),
            // Shifted grids of the same step are no better than the reference is.
            None if finest.is_some_and(|finest| sizes[k] == sizes[finest]) => None,
            None => Some(best.as_ref()?.errors(&outcome.track)),
        }
    };
    let errors: Vec<_> = (0..outcomes.len()).into_par_iter().map(errors).collect();
    drop(best);
    let against = known.map_or("the finest run".into(), |known| format!("the exact solution ({})", known.problem));
    let measured = |outcome: Outcome, errors| Measured {
        elements: outcome.elements,
        steps: outcome.digest.steps,
        work: outcome.digest.passes as f64 * outcome.unknowns as f64,
        seconds: outcome.stepping.as_secs_f64(),
        errors,
    };
    let levels =
        outcomes.into_iter().zip(errors).zip(variants.iter().zip(sizes)).map(|((outcome, errors), (loaded, size))| {
            let step = loaded.case.time.step;
            let first = loaded.case.time.first_step.unwrap_or(step) / step;
            Level { size, step, first, result: outcome.map(|outcome| measured(outcome, errors)) }
        });
    let title = variants[0].case.title.clone();
    let axis = if by_mesh { "1 / elements" } else { "step" };
    Ok(Convergence { title, column, against, axis, levels: levels.collect() })
}

impl Convergence {
    /// Number of runs that failed.
    pub fn failures(&self) -> usize {
        self.levels.iter().filter(|level| level.result.is_err()).count()
    }

    /// Observed orders of position and velocity in all norms.
    pub fn orders(&self) -> [[Option<f64>; 4]; 2] {
        [0, 1].map(|part| {
            [0, 1, 2, 3].map(|norm| {
                let points: Vec<(f64, f64)> =
                    self.measured().filter_map(|(size, m)| Some((size, m.errors?[part].all()[norm]))).collect();
                norms::order(&points)
            })
        })
    }

    /// The table for the terminal, with wall-clock times.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n{} against {}\n\n", self.title, self.column, self.against);
        let mut line = |words: String| writeln!(text, "{}", words.trim_end()).expect("writing to a string cannot fail");
        let group = |name: &str| format!("  {name:-^38}");
        line(format!("{:>10} {:>6} {:>8} {:>8}{}{}", "", "", "", "", group(" position "), group(" velocity ")));
        let norms = Errors::NAMES.map(|name| format!("{name:>10}")).concat();
        let (step, first, elements, steps) = ("step", "first", "elements", "steps");
        line(format!("{step:>10} {first:>6} {elements:>8} {steps:>8}{norms}{norms} {:>10} {:>8}", "work", "time"));
        for level in &self.levels {
            let numbers = match &level.result {
                Err(error) => format!("{:>8} {:>8}  failed: {}", "-", "-", first_line(error)),
                Ok(m) => {
                    let errors = match &m.errors {
                        Some(errors) => {
                            errors.iter().flat_map(|part| part.all()).map(|e| format!("{e:>10.2e}")).collect()
                        }
                        None => format!("{:^80}", "(reference)"),
                    };
                    format!("{:>8} {:>8}{errors} {:>10.2e} {:>6.2} s", m.elements, m.steps, m.work, m.seconds)
                }
            };
            line(format!("{:>10} {:>6.3} {numbers}", format!("{:.3e}", level.step), level.first));
        }
        let orders = self.orders().into_iter().flatten();
        let orders: String =
            orders.map(|order| order.map_or(format!("{:>10}", "-"), |order| format!("{order:>10.2}"))).collect();
        line(format!("{:>35}{orders}", "order"));
        text
    }

    /// `converge.csv`: a row for every level, and one with the orders.
    pub fn csv(&self) -> String {
        let columns = PARTS.iter().flat_map(|part| Errors::NAMES.map(|norm| format!(",{part}_{norm}")));
        let mut text = format!("level,status,step,first,elements,steps,work{}\n", columns.collect::<String>());
        for (k, level) in self.levels.iter().enumerate() {
            let row = match &level.result {
                Err(_) => format!("failed,{},{}{}", cell(level.step), cell(level.first), ",".repeat(11)),
                Ok(m) => {
                    let errors: String = match &m.errors {
                        Some(errors) => {
                            errors.iter().flat_map(|part| part.all()).map(|e| ",".to_string() + &cell(e)).collect()
                        }
                        None => ",".repeat(8),
                    };
                    let [step, first, work] = [level.step, level.first, m.work].map(cell);
                    format!("ok,{step},{first},{},{},{work}{errors}", m.elements, m.steps)
                }
            };
            writeln!(text, "{},{row}", k + 1).expect("writing to a string cannot fail");
        }
        let orders = self.orders().into_iter().flatten();
        let orders: String = orders.map(|order| format!(",{}", cell(order.unwrap_or(f64::NAN)))).collect();
        text + &format!("order,,,,,,{orders}\n")
    }

    /// Errors over sizes and over work, each with the name of its file.
    pub fn figures(&self) -> [(&'static str, Plot); 2] {
        let plot = |what: &str, x: &str, abscissa: fn(f64, &Measured) -> f64| Plot {
            title: format!("{}: {what}", self.title),
            x: Axis::log(x),
            y: Axis::log(&format!("error of {}", self.column)),
            curves: self.curves(abscissa),
        };
        [
            ("error", plot("error", self.axis, |size, _| size)),
            ("work", plot("work and precision", "work: Newton passes × unknowns", |_, m| m.work)),
        ]
    }

    fn measured(&self) -> impl Iterator<Item = (f64, &Measured)> {
        self.levels.iter().filter_map(|level| Some((level.size, level.result.as_ref().ok()?)))
    }

    /// Runs that came through, ascending, those of one size together.
    fn sizes(&self) -> Vec<Vec<(f64, &Measured)>> {
        let mut all: Vec<(f64, &Measured)> = self.measured().collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.chunk_by(|a, b| a.0 == b.0).map(<[_]>::to_vec).collect()
    }

    fn curves(&self, abscissa: fn(f64, &Measured) -> f64) -> Vec<Curve> {
        let mut curves = Vec::new();
        for (norm, name) in ["L1", "L2", "max", "graph"].into_iter().enumerate() {
            for (part, what) in PARTS.into_iter().enumerate() {
                let mut points: Vec<[f64; 2]> = Vec::new();
                for group in self.sizes() {
                    // Where the fit sees them: at the geometric mean over shifted grids.
                    let logs = group.iter().filter_map(|(size, m)| {
                        let (x, error) = (abscissa(*size, m), m.errors?[part].all()[norm]);
                        (error > 0.0).then(|| [x.ln(), error.ln()])
                    });
                    let logs: Vec<[f64; 2]> = logs.collect();
                    let mean = |k: usize| (logs.iter().map(|p| p[k]).sum::<f64>() / logs.len() as f64).exp();
                    points.extend((!logs.is_empty()).then(|| [mean(0), mean(1)]));
                }
                let label = match self.orders()[part][norm] {
                    Some(order) => format!("{what} {name} (order {order:.2})"),
                    None => format!("{what} {name}"),
                };
                curves.push(Curve { color: Some(norm), dashed: part == 1, marks: true, ..Curve::new(&label, points) });
            }
        }
        curves
    }
}
