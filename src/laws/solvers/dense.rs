//! Active sets on the Delassus operator itself: for contacts that couple several degrees of freedom. The closed contacts
//! are solved for exactly, what contradicts them is opened or closed, until nothing does.

use crate::laws::Complementarity;
use nalgebra::{DMatrix, DVector};

/// Passes after which the set is taken to cycle.
const PASSES: usize = 40;

/// Part of the diagonal that is added to it: contacts may depend on each other, and their shares are then undetermined.
const SHARE: f64 = 1e-13;

/// Improves `z`; returns the number of passes, or `None` (and leaves `z`) if it does not get within the tolerance.
pub fn solve(problem: &Complementarity, tolerance: f64, z: &mut [f64], y: &mut [f64]) -> Option<usize> {
    let m = problem.active.len();
    let size = problem.active.iter().fold(0.0_f64, |size, &i| size.max(problem.b[i as usize].abs()));
    let mut place = vec![usize::MAX; problem.active.iter().map(|&i| i as usize + 1).max().unwrap_or(0)];
    problem.active.iter().enumerate().for_each(|(k, &i)| place[i as usize] = k);
    problem.product(z, y);
    let weight = |i: usize| problem.delassus.diagonal(i).abs();
    let mut closed: Vec<bool> = problem.active.iter().map(|&i| i as usize).map(|i| weight(i) * z[i] > y[i]).collect();
    let mut trial = z.to_vec();
    for pass in 1..=PASSES {
        let set: Vec<usize> = (0..m).filter(|&k| closed[k]).collect();
        let mut number = vec![usize::MAX; m];
        set.iter().enumerate().for_each(|(n, &k)| number[k] = n);
        let mut matrix = DMatrix::zeros(set.len(), set.len());
        for (column, &k) in set.iter().enumerate() {
            let i = problem.active[k] as usize;
            for &(j, w) in problem.delassus.column(i) {
                let known = place.get(j as usize).copied().filter(|&k| k != usize::MAX).map(|k| number[k]);
                if let Some(row) = known.filter(|&row| row != usize::MAX) {
                    matrix[(row, column)] = w;
                }
            }
            matrix[(column, column)] += SHARE * weight(i);
        }
        let right = DVector::from_fn(set.len(), |n, _| -problem.b[problem.active[set[n]] as usize]);
        let solution = if set.is_empty() { right } else { matrix.lu().solve(&right)? };
        for (k, &i) in problem.active.iter().enumerate() {
            trial[i as usize] = if closed[k] { solution[number[k]].max(0.0) } else { 0.0 };
        }
        let residual = problem.residual(&trial, y);
        if residual <= tolerance {
            z.copy_from_slice(&trial);
            return Some(pass);
        }
        let mut wrong = false;
        for (k, &i) in problem.active.iter().enumerate() {
            let contradicted = if closed[k] { solution[number[k]] < 0.0 } else { y[i as usize] < -1e-14 * size };
            closed[k] ^= contradicted;
            wrong |= contradicted;
        }
        if !wrong {
            return None;
        }
    }
    None
}
