//! Which weights a step gets: θ for the smooth part, ω for the multipliers, (F5).
//!
//! Multipliers that the laws alone determine from the states (relative degree zero) follow the states and may be averaged
//! over the step; others are impulses in disguise and act with weight one. The rule looks at the laws that are active at
//! the start of the step.

use super::dense::{Lu, spectral_radius};
use super::system::{Point, Slopes, System};

/// Weights of the end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Of the smooth part.
    pub theta: f64,
    /// Of the multipliers.
    pub omega: f64,
}

impl Weights {
    /// All at the end of the step: for jumps and starts that do not fit the laws.
    pub const IMPLICIT: Weights = Weights { theta: 1.0, omega: 1.0 };
}

/// Largest h ρ(B D⁻¹ C) with which averaged multipliers are stable.
const LIMIT: f64 = 2.0;

/// The rule, with what it found for the laws that were active last.
pub struct Rule<'a> {
    system: &'a System,
    theta: f64,
    /// What the case says.
    omega: Option<f64>,
    /// Laws that were active, their h, and what came of it, where slopes are constant.
    last: Option<(f64, f64)>,
    pattern: Vec<usize>,
    active: Vec<usize>,
    slopes: Slopes,
    factor: Lu,
    product: Vec<f64>,
    square: Vec<f64>,
    column: Vec<f64>,
    values: Vec<f64>,
}

impl<'a> Rule<'a> {
    /// The rule of a case with this θ, and ω where the case sets it.
    pub fn new(system: &'a System, theta: f64, omega: Option<f64>) -> Rule<'a> {
        let m = system.laws.len();
        Rule {
            system,
            theta,
            omega,
            last: None,
            pattern: Vec::with_capacity(m),
            active: Vec::with_capacity(m),
            slopes: Slopes::default(),
            factor: Lu::default(),
            product: vec![0.0; m * m],
            square: vec![0.0; m * m],
            column: vec![0.0; m],
            values: Vec::new(),
        }
    }

    /// Weights of a step of size h from a point; `smooth` tells that the point fits its laws and no data jump in the step.
    pub fn weights(&mut self, from: &Point, h: f64, smooth: bool) -> Weights {
        let theta = self.theta;
        match self.omega {
            Some(omega) => Weights { theta, omega },
            None if !smooth => Weights::IMPLICIT,
            // With less than half of the end, multipliers that begin to act within the step would have too little to act with.
            None if theta == 1.0 || theta < 0.5 => Weights { theta, omega: 1.0 },
            None => Weights { theta, omega: self.omega_of(from, h) },
        }
    }

    fn omega_of(&mut self, from: &Point, h: f64) -> f64 {
        let (system, m) = (self.system, self.system.laws.len());
        self.active.clear();
        self.active.extend((0..m).filter(|&k| from.z[k] > system.low[k] && from.z[k] < system.high[k]));
        if self.active.is_empty() {
            return self.theta;
        }
        if let Some((known, omega)) = self.last.filter(|_| self.active == self.pattern)
            && known == h
        {
            return omega;
        }
        system.slopes(from, from.time, &mut self.slopes, &mut self.values);
        let omega = if self.follows(h) { self.theta } else { 1.0 };
        if system.steady {
            self.last = Some((h, omega));
            self.pattern.clone_from(&self.active);
        }
        omega
    }

    /// Whether D of the active laws is regular and h ρ(D⁻¹ C B) within the limit.
    fn follows(&mut self, h: f64) -> bool {
        let (n, m, active) = (self.system.size(), self.system.laws.len(), &self.active);
        let Slopes { b, c, d, .. } = &self.slopes;
        let k = active.len();
        if self.factor.factor(k, |i, j| d[active[i] * m + active[j]]).is_err() {
            return false;
        }
        for j in 0..k {
            let column = &mut self.column[..k];
            for (i, entry) in column.iter_mut().enumerate() {
                *entry = (0..n).map(|x| c[active[i] * n + x] * b[x * m + active[j]]).sum();
            }
            self.factor.solve(column);
            (0..k).for_each(|i| self.product[i * k + j] = self.column[i]);
        }
        h * spectral_radius(k, &mut self.product, &mut self.square) <= LIMIT
    }
}
