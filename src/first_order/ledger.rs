//! Where the stored energy goes, (F6): every term from its own formula, none as the remainder.

use super::step::Stride;
use super::system::{Point, System};
use super::weights::Weights;
use serde::{Deserialize, Serialize};

/// Works of a step, or sums of them; positive enters the storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Works {
    /// Rates without multipliers and without what drives them.
    pub smooth: f64,
    /// What drives the system from outside.
    pub source: f64,
    /// Multipliers of the laws.
    pub law: f64,
    /// Impulses of the constraints.
    pub jump: f64,
    /// The scheme.
    pub scheme: f64,
    /// Storage that is not quadratic.
    pub curvature: f64,
    /// What is left: rounding.
    pub defect: f64,
    /// Part of `law` that comes from switching inside a step, which exact laws do not have.
    pub leak: f64,
}

impl Works {
    /// Adds the works of a step.
    pub fn add(&mut self, more: &Works) {
        for (sum, work) in [
            (&mut self.smooth, more.smooth),
            (&mut self.source, more.source),
            (&mut self.law, more.law),
            (&mut self.jump, more.jump),
            (&mut self.scheme, more.scheme),
            (&mut self.curvature, more.curvature),
            (&mut self.defect, more.defect),
            (&mut self.leak, more.leak),
        ] {
            *sum += work;
        }
    }
}

/// Computes works, with memory of its own.
pub struct Bookkeeper<'a> {
    system: &'a System,
    middle: Vec<f64>,
    gradient: Vec<f64>,
}

impl<'a> Bookkeeper<'a> {
    /// For the steps of a system.
    pub fn new(system: &'a System) -> Bookkeeper<'a> {
        let n = system.size();
        Bookkeeper { system, middle: vec![0.0; n], gradient: vec![0.0; n] }
    }

    /// Works of a step; `push` is Jᵀ μ. Nothing without storage.
    pub fn works(&mut self, from: &Point, to: &Point, stride: Stride, weights: Weights, push: &[f64]) -> Works {
        if !self.system.stores() {
            return Works::default();
        }
        let Weights { theta, omega } = weights;
        let h = stride.h;
        for (i, middle) in self.middle.iter_mut().enumerate() {
            *middle = theta * to.x[i] + (1.0 - theta) * from.x[i];
        }
        // At the ends of the step the gradient is known.
        match theta {
            1.0 => self.gradient.copy_from_slice(&to.gradient),
            _ => self.system.gradient_at(&self.middle, &mut self.gradient),
        }
        let mean = |end: f64, start: f64| theta * end + (1.0 - theta) * start;
        let mut works = Works::default();
        let mut trapezoid = 0.0;
        for (i, slope) in self.gradient.iter().enumerate() {
            let source = mean(to.source[i], from.source[i]);
            works.smooth += slope * (h * mean(to.f[i] - to.source[i], from.f[i] - from.source[i]));
            works.source += slope * (h * source);
            works.law += slope * (h * (omega * to.bu[i] + (1.0 - omega) * from.bu[i]));
            works.jump += slope * push[i];
            let (step, half) = (to.x[i] - from.x[i], 0.5 * (to.gradient[i] + from.gradient[i]));
            works.scheme += (half - slope) * step;
            trapezoid += half * step;
        }
        works.curvature = (to.stored - from.stored) - trapezoid;
        let booked = works.smooth + works.source + works.law + works.jump + works.scheme + works.curvature;
        works.defect = (to.stored - from.stored) - booked;
        for k in 0..self.system.laws.len() {
            let (low, high) = (self.system.low[k], self.system.high[k]);
            // A law with one bound gives and takes nothing while it holds at every instant.
            let bound = match (low.is_finite(), high.is_finite()) {
                (true, false) => low,
                (false, true) => high,
                _ => continue,
            };
            let (u0, u1) = (from.z[k] - bound, to.z[k] - bound);
            works.leak += h * mean(to.w[k], from.w[k]) * (omega * u1 + (1.0 - omega) * u0);
        }
        works
    }
}
