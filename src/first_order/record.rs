//! Columns of a run: names once, values per step; and what each column comes down to.

use super::march::Course;
use super::system::System;
use crate::Result;
use crate::case::first_order::columns;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// One accepted step, or the start.
pub struct Row<'a> {
    /// Number of the step.
    pub step: u64,
    /// Number of equal steps that are complete.
    pub reached: u64,
    /// Time.
    pub time: f64,
    /// Size of the step; zero at the start.
    pub h: f64,
    /// Values of the columns; not a number where there is none.
    pub values: &'a [f64],
}

/// Takes the rows of a run.
pub trait Reader {
    /// Takes one row.
    fn take(&mut self, row: &Row) -> Result<()>;

    /// Brings everything to the disk; returns what is needed to go on from here.
    fn save(&mut self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

/// Names of the columns of a system.
pub fn names(system: &System) -> Vec<String> {
    columns(system.states.clone(), system.laws.clone(), system.constraints.clone())
}

/// Overwrites `values` with those of a step.
pub fn fill(system: &System, course: &Course, values: &mut Vec<f64>) {
    let Course { point, sum, step, h, .. } = course;
    let m = system.laws.len();
    let booked = |work: f64| if system.stores() { work } else { f64::NAN };
    values.clear();
    values.extend([*step as f64, point.time, if *step > 0 { *h } else { f64::NAN }]);
    values.extend(
        [point.stored, sum.smooth, sum.source, sum.law, sum.jump, sum.scheme, sum.curvature, sum.defect].map(booked),
    );
    let active = (0..point.z.len()).filter(|&k| point.z[k] > system.low[k] && point.z[k] < system.high[k]).count();
    values.extend([active as f64, course.passes as f64, course.pivots as f64, course.complementarity]);
    values.extend_from_slice(&point.x);
    for k in 0..m {
        values.extend([point.z[k], point.w[k], h * point.z[k]]);
    }
    let first = values.len();
    values.extend(system.constraints.iter().flat_map(|_| [f64::INFINITY, 0.0]));
    for (k, row) in system.rows.iter().enumerate() {
        let own = &mut values[first + 2 * row.owner..][..2];
        own[0] = own[0].min(point.w[m + k]);
        own[1] += point.z[m + k];
    }
}

/// What a column comes down to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Figures {
    least: f64,
    least_time: f64,
    most: f64,
    most_time: f64,
    /// Sum of h times the square.
    squares: f64,
    last: f64,
}

/// Figures of all columns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Extremes {
    all: Vec<Figures>,
    time: f64,
}

impl Extremes {
    /// Takes one row.
    pub fn take(&mut self, time: f64, h: f64, values: &[f64]) {
        let nothing =
            Figures { least: f64::NAN, least_time: 0.0, most: f64::NAN, most_time: 0.0, squares: 0.0, last: f64::NAN };
        self.all.resize(values.len(), nothing);
        self.time += h;
        for (figures, &value) in self.all.iter_mut().zip(values) {
            if value.is_nan() {
                continue;
            }
            // A first value is both; of equal ones the first counts.
            if figures.last.is_nan() || value < figures.least {
                (figures.least, figures.least_time) = (value, time);
            }
            if figures.last.is_nan() || value > figures.most {
                (figures.most, figures.most_time) = (value, time);
            }
            figures.squares += h * value * value;
            figures.last = value;
        }
    }

    /// The figures under the names of their columns, those aside that have no value.
    pub fn json(&self, names: &[String]) -> Map<String, Value> {
        let entry = |figures: &Figures| {
            json!({
                "final": figures.last,
                "min": figures.least,
                "min_time": figures.least_time,
                "max": figures.most,
                "max_time": figures.most_time,
                "rms": if self.time > 0.0 { (figures.squares / self.time).sqrt() } else { 0.0 },
            })
        };
        let told = names.iter().zip(&self.all).filter(|(_, figures)| !figures.last.is_nan());
        told.map(|(name, figures)| (name.clone(), entry(figures))).collect()
    }
}
