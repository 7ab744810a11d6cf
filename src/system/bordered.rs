//! Equations with a border of few conditions: [[A, −s B̄], [Bᵀ, 0]], by the Schur complement of the matrix.
//!
//! Rows along which multipliers push, B̄, may differ from those that conditions feel, B: discrete gradients over a step push,
//! gradients at its end are felt. Where they come from is not known here.

use super::operator::{Factored, Operator};
use crate::relations::candidate::Row;
use nalgebra::{DMatrix, DVector, Dyn, LU};

/// The border of a matrix that an operator has factored.
#[derive(Default)]
pub struct Bordered {
    feel: Vec<Row>,
    /// s A⁻¹ B̄ by columns.
    responses: Vec<Vec<f64>>,
    /// Schur complement s Bᵀ A⁻¹ B̄.
    complement: Option<LU<f64, Dyn, Dyn>>,
}

/// Conditions depend on each other, up to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependent;

/// A pivot below this part of the largest is rounding.
const ROUNDING: f64 = 1e-13;

impl Bordered {
    /// Prepares solutions with a factor; `push` and `feel` are rows over the free degrees of freedom and as many of both.
    /// Without rows nothing is done, here and in solutions.
    pub fn prepare(
        &mut self,
        operator: &mut dyn Operator,
        factor: Factored,
        size: usize,
        s: f64,
        [push, feel]: [&[Row]; 2],
    ) -> Result<(), Dependent> {
        self.feel.clear();
        self.feel.extend_from_slice(feel);
        self.responses.resize_with(push.len(), Vec::new);
        for (row, response) in push.iter().zip(&mut self.responses) {
            response.clear();
            response.resize(size, 0.0);
            row.push(s, response);
            operator.solve(factor, response);
        }
        if push.is_empty() {
            self.complement = None;
            return Ok(());
        }
        let complement = DMatrix::from_fn(feel.len(), push.len(), |i, j| feel[i].times(&self.responses[j])).lu();
        let pivots = complement.u().diagonal().abs();
        let regular = pivots.min() > ROUNDING * pivots.max();
        self.complement = Some(complement).filter(|_| regular);
        if regular { Ok(()) } else { Err(Dependent) }
    }

    /// Solves A x − s B̄ μ = f, Bᵀ x = g in place: `x` holds f and `multipliers` hold g.
    pub fn solve(&self, operator: &mut dyn Operator, factor: Factored, x: &mut [f64], multipliers: &mut [f64]) {
        operator.solve(factor, x);
        let Some(complement) = &self.complement else { return };
        let missing = DVector::from_fn(self.feel.len(), |i, _| multipliers[i] - self.feel[i].times(x));
        let solution = complement.solve(&missing).expect("its pivots are not zero");
        for (response, (value, multiplier)) in self.responses.iter().zip(solution.iter().zip(multipliers)) {
            *multiplier = *value;
            x.iter_mut().zip(response).for_each(|(x, response)| *x += value * response);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Format, parse};
    use crate::la::Symmetric;
    use crate::model::Model;
    use crate::system::System;
    use crate::system::general::General;

    fn bar() -> System {
        let text = crate::cases::find("impacting-bar").unwrap().text;
        let set = ["body.bar.line.elements=12".to_string(), "expect={}".into()];
        let case = parse(text, "bar", Format::Toml, &set).unwrap_or_else(|bad| panic!("{}", bad.render(false)));
        System::assemble(&Model::new(&case, &|name| name.into()).unwrap()).unwrap()
    }

    /// Both equations hold, with different rows that push and are felt.
    #[test]
    fn both_equations_hold() {
        let system = bar();
        let n = system.nodes.total;
        let mut operator = General::new(&system).unwrap();
        let weights = [1.0, 0.0, 0.3];
        let factor = operator.prepare(&system.q0, weights, None).unwrap();
        let push = [Row::new(&[(0, 1.0), (5, -1.0)]), Row::new(&[(3, 0.5), (9, 2.0)])];
        let feel = [Row::new(&[(0, 1.1), (5, -0.9)]), Row::new(&[(3, 0.6), (9, 1.8)])];
        let mut bordered = Bordered::default();
        bordered.prepare(&mut operator, factor, n, 0.7, [&push, &feel]).unwrap();
        let f: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let (mut x, mut multipliers) = (f.clone(), [0.4, -0.2]);
        bordered.solve(&mut operator, factor, &mut x, &mut multipliers);
        let mut matrix = Symmetric::zeros(system.mass.pattern.clone());
        system.effective(&system.q0, weights[0], weights[1], weights[2], &mut matrix);
        let mut left = vec![0.0; n];
        matrix.multiply(&x, &mut left);
        push.iter().zip(multipliers).for_each(|(row, multiplier)| row.push(-0.7 * multiplier, &mut left));
        let worst = left.iter().zip(&f).map(|(left, f)| (left - f).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-12, "{worst:e}");
        for (row, wanted) in feel.iter().zip([0.4, -0.2]) {
            assert!((row.times(&x) - wanted).abs() < 1e-13);
        }
    }

    /// Without rows a solution is that of the matrix alone, and rows that say the same are refused.
    #[test]
    fn no_rows_and_dependent_rows() {
        let system = bar();
        let n = system.nodes.total;
        let mut operator = General::new(&system).unwrap();
        let factor = operator.prepare(&system.q0, [1.0, 0.0, 0.3], None).unwrap();
        let mut bordered = Bordered::default();
        bordered.prepare(&mut operator, factor, n, 1.0, [&[], &[]]).unwrap();
        let (mut x, mut alone) = (vec![1.0; n], vec![1.0; n]);
        bordered.solve(&mut operator, factor, &mut x, &mut []);
        operator.solve(factor, &mut alone);
        assert_eq!(x, alone);
        let row = Row::new(&[(0, 1.0)]);
        let twice = Row::new(&[(0, 2.0)]);
        assert_eq!(bordered.prepare(&mut operator, factor, n, 1.0, [&[row, twice], &[row, twice]]), Err(Dependent));
    }
}
