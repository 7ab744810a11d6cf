//! Functions of time: factors of loads and prescribed motions, with their first two derivatives.

use crate::Result;
use crate::case::{TIME, data};
use crate::expression::{Expression, Vocabulary};
use crate::table;
use std::f64::consts::TAU;
use std::path::PathBuf;

/// A function of time, tables read.
#[derive(Clone, Debug, PartialEq)]
pub enum Function {
    /// Always one.
    Constant,
    /// Linear between two instants, constant outside.
    Ramp {
        /// Value before.
        from: f64,
        /// Value after.
        to: f64,
        /// First instant.
        start: f64,
        /// Last instant.
        end: f64,
    },
    /// amplitude · sin(2π frequency t + phase).
    Harmonic {
        /// Peak value.
        amplitude: f64,
        /// Cycles per unit of time.
        frequency: f64,
        /// Phase in radians.
        phase: f64,
    },
    /// Linear between rows (time, value), constant outside.
    Table(Vec<[f64; 2]>),
    /// An expression of time.
    Expression(Box<Expression>),
}

/// Where files and constants of a case are found.
pub struct Inputs<'a> {
    /// Resolves the name of a file.
    pub path: &'a dyn Fn(&str) -> PathBuf,
    /// Constants of the case.
    pub constants: Vec<(String, f64)>,
}

impl Inputs<'_> {
    /// The expression of such variables that an amount is.
    pub fn expression(&self, amount: &data::Amount, variables: &[&str]) -> Result<Expression> {
        let names = Vocabulary { variables, constants: &self.constants, refused: &[] };
        let text = match amount {
            data::Amount::Number(value) => format!("{value:?}"),
            data::Amount::Expression(text) => text.clone(),
        };
        Ok(Expression::parse(&text, &names)?)
    }
}

impl Function {
    /// Reads the table, if there is one.
    pub fn new(function: &data::Function, inputs: &Inputs) -> Result<Function> {
        Ok(match function {
            data::Function::Constant => Function::Constant,
            &data::Function::Ramp { from, to, start, end } => Function::Ramp { from, to, start, end },
            &data::Function::Harmonic { amplitude, frequency, phase } => {
                Function::Harmonic { amplitude, frequency, phase }
            }
            data::Function::Table { file } => {
                let rows = table::read(&(inputs.path)(file), 2..=2)?;
                Function::Table(rows.iter().map(|row| [row[0], row[1]]).collect())
            }
            data::Function::Expression { value } => Function::Expression(Box::new(inputs.expression(value, TIME)?)),
        })
    }

    /// An error if an expression has no finite value at time `t`, or with `rates` no finite derivatives.
    pub fn check(&self, t: f64, rates: bool) -> Result<()> {
        let Function::Expression(expression) = self else { return Ok(()) };
        let [value, first, second] = if rates { expression.jet(&[t], 0) } else { [expression.value(&[t]), 0.0, 0.0] };
        for result in [value, first, second] {
            expression.judge(&[t], result)?;
        }
        Ok(())
    }

    /// Value at time `t`.
    pub fn value(&self, t: f64) -> f64 {
        match self {
            Function::Constant => 1.0,
            &Function::Ramp { from, to, start, end } => {
                from + (to - from) * ((t - start) / (end - start)).clamp(0.0, 1.0)
            }
            Function::Harmonic { amplitude, frequency, phase } => amplitude * (TAU * (frequency * t) + phase).sin(),
            Function::Table(rows) => table::interpolate(rows, t),
            Function::Expression(expression) => expression.value(&[t]),
        }
    }

    /// First derivative at time `t`; where a piece ends, that of the piece which begins.
    pub fn rate(&self, t: f64) -> f64 {
        match self {
            Function::Constant => 0.0,
            &Function::Ramp { from, to, start, end } => {
                if (start..end).contains(&t) {
                    (to - from) / (end - start)
                } else {
                    0.0
                }
            }
            Function::Harmonic { amplitude, frequency, phase } => {
                amplitude * (TAU * frequency) * (TAU * (frequency * t) + phase).cos()
            }
            Function::Table(rows) => table::slope(rows, t),
            Function::Expression(expression) => expression.jet(&[t], 0)[1],
        }
    }

    /// Second derivative at time `t`; zero on every linear piece.
    pub fn second_rate(&self, t: f64) -> f64 {
        match self {
            Function::Harmonic { frequency, .. } => -(TAU * frequency).powi(2) * self.value(t),
            Function::Expression(expression) => expression.jet(&[t], 0)[2],
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let ramp = Function::Ramp { from: 1.0, to: 3.0, start: 2.0, end: 4.0 };
        assert_eq!([0.0, 2.0, 3.0, 4.0, 9.0].map(|t| ramp.value(t)), [1.0, 1.0, 2.0, 3.0, 3.0]);
        let wave = Function::Harmonic { amplitude: 2.0, frequency: 0.25, phase: 0.0 };
        assert!((wave.value(1.0) - 2.0).abs() < 1e-15);
        let rows = Function::Table(vec![[0.0, 1.0], [1.0, 5.0], [3.0, 1.0]]);
        assert_eq!([-1.0, 0.5, 1.0, 2.0, 7.0].map(|t| rows.value(t)), [1.0, 3.0, 5.0, 3.0, 1.0]);
    }

    #[test]
    fn rates_are_derivatives() {
        let names = Vocabulary { variables: TIME, ..Default::default() };
        let expression = Expression::parse("0.3*sin(2*t) + abs(t - 2)", &names).unwrap();
        let functions = [
            Function::Constant,
            Function::Expression(Box::new(expression)),
            Function::Ramp { from: 1.0, to: 3.0, start: 2.0, end: 4.0 },
            Function::Harmonic { amplitude: 2.0, frequency: 0.3, phase: 0.4 },
            Function::Table(vec![[0.0, 1.0], [1.0, 5.0], [3.0, 1.0]]),
        ];
        let d = 1e-4;
        for function in &functions {
            for t in [-0.5, 0.3, 1.7, 2.9, 3.3, 5.1] {
                let difference = (function.value(t + d) - function.value(t - d)) / (2.0 * d);
                assert!((function.rate(t) - difference).abs() < 1e-6, "{function:?} at {t}");
                let difference = (function.rate(t + d) - function.rate(t - d)) / (2.0 * d);
                assert!((function.second_rate(t) - difference).abs() < 1e-6, "{function:?} at {t}");
            }
        }
    }
}
