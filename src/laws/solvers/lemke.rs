//! Lemke's complementary pivoting on a dense tableau: exact for small problems, the referee of the others.

use crate::laws::Complementarity;
use nalgebra::DMatrix;

/// Solves the problem into `z`; returns the number of pivots, or `None` if it ends on a ray or cycles.
pub fn solve(problem: &Complementarity, z: &mut [f64]) -> Option<usize> {
    let m = problem.active.len();
    let b: Vec<f64> = problem.active.iter().map(|&i| problem.b[i as usize]).collect();
    problem.active.iter().for_each(|&i| z[i as usize] = 0.0);
    if b.iter().all(|&b| b >= 0.0) {
        return Some(0);
    }
    // Columns of the tableau: y (0..m), z (m..2m), the artificial variable (2m), right-hand side (2m + 1);
    // rows: y − W z − z0 = b.
    let mut table = DMatrix::<f64>::zeros(m, 2 * m + 2);
    let mut place = vec![usize::MAX; 1 + problem.active.iter().max().map_or(0, |&i| i as usize)];
    problem.active.iter().enumerate().for_each(|(k, &i)| place[i as usize] = k);
    for (k, &i) in problem.active.iter().enumerate() {
        table[(k, k)] = 1.0;
        table[(k, 2 * m)] = -1.0;
        table[(k, 2 * m + 1)] = b[k];
        for &(j, w) in problem.delassus.column(i as usize) {
            if let Some(&row) = place.get(j as usize).filter(|&&row| row != usize::MAX) {
                table[(row, m + k)] = -w;
            }
        }
    }
    let mut basis: Vec<usize> = (0..m).collect();
    let mut row = (0..m).min_by(|&i, &j| b[i].total_cmp(&b[j])).expect("there is a contact");
    let mut entering = 2 * m;
    // A problem of this kind needs about m pivots; many times that is a cycle.
    for pivots in 1..=50 * (m + 1) {
        let leaving = basis[row];
        pivot(&mut table, row, entering);
        basis[row] = entering;
        if leaving == 2 * m {
            for (k, &variable) in basis.iter().enumerate() {
                if (m..2 * m).contains(&variable) {
                    z[problem.active[variable - m] as usize] = table[(k, 2 * m + 1)].max(0.0);
                }
            }
            return Some(pivots);
        }
        entering = if leaving < m { leaving + m } else { leaving - m };
        row = ratio_test(&table, entering, &basis, 2 * m)?;
    }
    None
}

fn pivot(table: &mut DMatrix<f64>, row: usize, column: usize) {
    let scale = 1.0 / table[(row, column)];
    for c in 0..table.ncols() {
        table[(row, c)] *= scale;
    }
    for r in 0..table.nrows() {
        let factor = table[(r, column)];
        if r != row && factor != 0.0 {
            for c in 0..table.ncols() {
                table[(r, c)] -= factor * table[(row, c)];
            }
        }
    }
}

/// Row of the smallest ratio; the artificial variable wins a tie, because then the problem is solved.
fn ratio_test(table: &DMatrix<f64>, column: usize, basis: &[usize], artificial: usize) -> Option<usize> {
    let last = table.ncols() - 1;
    let largest = (0..table.nrows()).map(|r| table[(r, column)]).fold(0.0, f64::max);
    let mut best: Option<(usize, f64)> = None;
    for r in 0..table.nrows() {
        let entry = table[(r, column)];
        if entry > 1e-12 * largest {
            let ratio = table[(r, last)] / entry;
            let better = match best {
                None => true,
                Some((_, least)) => {
                    ratio < least * (1.0 - 1e-13) || (ratio <= least * (1.0 + 1e-13) && basis[r] == artificial)
                }
            };
            if better {
                best = Some((r, ratio));
            }
        }
    }
    best.map(|(r, _)| r)
}
