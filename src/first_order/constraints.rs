//! Constraints as rows g(t, x) ≥ 0 with gradient and curvature: half spaces and other smooth sets, balls, boxes.

use crate::case::data::Amount;
use crate::case::first_order::Constraint;
use crate::expression::Expression;
use crate::{Error, Result};

/// One row of a constraint.
pub struct Row {
    /// Number of its constraint.
    pub owner: usize,
    shape: Shape,
}

enum Shape {
    /// An expression of t and all states.
    Above { value: Expression, curved: bool, steady: bool },
    /// (r² − |x − c|²)/2r, whose gradient has length one on the sphere.
    Ball { states: Vec<usize>, centre: Vec<Expression>, radius: Expression },
    /// sign·(x − end).
    Bound { state: usize, end: Expression, sign: f64 },
}

type Parse<'a> = &'a dyn Fn(&Amount, String) -> Result<Expression>;

/// The rows of all constraints.
pub fn rows(constraints: &[Constraint], states: &[String], of_states: Parse, of_time: Parse) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let place = |name: &String| {
        let found = states.iter().position(|state| state == name);
        found.ok_or_else(|| Error::Input(format!("there is no state `{name}`")))
    };
    let all: Vec<usize> = (1..=states.len()).collect();
    for (owner, constraint) in constraints.iter().enumerate() {
        let path = |part: &str| format!("constraint.{}.{part}", constraint.name);
        let several =
            |amounts: &[Amount], part: &str| amounts.iter().map(|a| of_time(a, path(part))).collect::<Result<Vec<_>>>();
        if let Some(above) = &constraint.above {
            let value = of_states(above, path("above"))?;
            let (curved, steady) = (value.check_affine(&all).is_err(), value.has_constant_slopes(&all));
            rows.push(Row { owner, shape: Shape::Above { value, curved, steady } });
        }
        if let Some(ball) = &constraint.ball {
            let states = ball.states.iter().map(place).collect::<Result<_>>()?;
            let (centre, radius) = (several(&ball.centre, "ball")?, of_time(&ball.radius, path("ball"))?);
            rows.push(Row { owner, shape: Shape::Ball { states, centre, radius } });
        }
        if let Some(set) = &constraint.cuboid {
            for (ends, sign) in [(several(&set.from, "box")?, 1.0), (several(&set.to, "box")?, -1.0)] {
                for (state, end) in set.states.iter().zip(ends) {
                    rows.push(Row { owner, shape: Shape::Bound { state: place(state)?, end, sign } });
                }
            }
        }
    }
    Ok(rows)
}

impl Row {
    /// Whether the gradient is the same everywhere at all times.
    pub fn steady(&self) -> bool {
        match &self.shape {
            Shape::Above { steady, .. } => *steady,
            Shape::Ball { .. } => false,
            Shape::Bound { .. } => true,
        }
    }

    /// What makes the row jump in time.
    pub fn switches(&self) -> Vec<Expression> {
        match &self.shape {
            Shape::Above { value, .. } => value.switches(0),
            Shape::Ball { centre, radius, .. } => centre.iter().chain([radius]).flat_map(|e| e.switches(0)).collect(),
            Shape::Bound { end, .. } => end.switches(0),
        }
    }

    /// g(t, x).
    pub fn gap(&self, t: f64, x: &[f64]) -> f64 {
        match &self.shape {
            Shape::Above { value, .. } => value.value_of(t, x),
            Shape::Ball { states, centre, radius } => {
                let r = radius.value(&[t]);
                let distance = states.iter().zip(centre).map(|(&k, c)| (x[k] - c.value(&[t])).powi(2)).sum::<f64>();
                // A ball without a radius holds nothing.
                if r > 0.0 { 0.5 * (r * r - distance) / r } else { f64::NAN }
            }
            Shape::Bound { state, end, sign } => sign * (x[*state] - end.value(&[t])),
        }
    }

    /// ∂g/∂x into `out`.
    pub fn gradient(&self, t: f64, x: &[f64], out: &mut [f64]) {
        match &self.shape {
            Shape::Above { value, .. } => value.gradient_of(t, x, out),
            Shape::Ball { states, centre, radius } => {
                out.fill(0.0);
                let r = radius.value(&[t]);
                states.iter().zip(centre).for_each(|(&k, c)| out[k] = -(x[k] - c.value(&[t])) / r);
            }
            Shape::Bound { state, sign, .. } => {
                out.fill(0.0);
                out[*state] = *sign;
            }
        }
    }

    /// Adds `factor` ∂²g/∂x² to the n × n matrix `out`. Of expressions it is a difference of gradients: it speeds Newton's
    /// method up and does not enter its result.
    pub fn add_curvature(&self, t: f64, x: &mut [f64], factor: f64, out: &mut [f64], work: &mut Vec<f64>) {
        let n = x.len();
        match &self.shape {
            Shape::Above { value, curved: true, .. } => {
                work.clear();
                work.resize(2 * n, 0.0);
                let mut values = std::mem::take(work);
                for k in 0..n {
                    let step = 1e-6 * (1e-3 + x[k].abs());
                    let here = x[k];
                    for (side, shift) in [step, -step].into_iter().enumerate() {
                        x[k] = here + shift;
                        let (_, gradient) = values.split_at_mut(side * n);
                        value.gradient_of(t, x, &mut gradient[..n]);
                    }
                    x[k] = here;
                    (0..n).for_each(|i| out[i * n + k] += factor * (values[i] - values[n + i]) / (2.0 * step));
                }
                *work = values;
            }
            Shape::Ball { states, radius, .. } => {
                let r = radius.value(&[t]);
                states.iter().for_each(|&k| out[k * n + k] -= factor / r);
            }
            _ => {}
        }
    }
}
