//! All states of a small problem, one after the other: the last resort, and the proof that there is no solution.

use crate::laws::Problem;
use nalgebra::{DMatrix, DVector};

/// A law that is missed by this part of the largest velocity is missed, whatever the rounding.
const MARGIN: f64 = 1e-6;

/// Singular values below this part of the largest are zero.
const RANK: f64 = 1e-10;

/// What every contact does, and the equations of that: unknowns are combinations of impulses, and some rows must vanish.
struct State {
    columns: Vec<Vec<(usize, f64)>>,
    rows: Vec<usize>,
    matrix: DMatrix<f64>,
}

impl State {
    fn right(&self, b: &[f64]) -> DVector<f64> {
        DVector::from_fn(self.rows.len(), |i, _| -b[self.rows[i]])
    }
}

/// Tries all states of all contacts; whether one of them has a solution, which `r` and `u` then are.
pub fn solve(problem: &Problem, tolerance: f64, r: &mut [f64], u: &mut [f64], blocks: &[[f64; 4]]) -> bool {
    states(problem).any(|state| {
        let right = state.right(problem.b);
        let solution = if state.rows.is_empty() { Some(right) } else { state.matrix.clone().lu().solve(&right) };
        solution.is_some_and(|solution| {
            set(problem, &state, &solution, r);
            problem.residual(r, u, blocks) <= tolerance
        })
    })
}

/// Whether no state of the contacts has a solution, by a margin far above rounding. Every solution belongs to a state, and a
/// state whose equations are regular has one candidate. Where they are singular, either they contradict each other, or
/// impulses that do nothing are left free; then only what does not depend on these can refute the state.
pub fn refute(problem: &Problem, r: &mut [f64], u: &mut [f64], blocks: &[[f64; 4]]) -> bool {
    let rows = || problem.contacts.iter().flat_map(|contact| contact.rows());
    let scale = rows().map(|row| problem.b[row].abs()).fold(0.0, f64::max);
    states(problem).all(|state| {
        let right = state.right(problem.b);
        if state.rows.is_empty() {
            set(problem, &state, &right, r);
            return problem.residual(r, u, blocks) > MARGIN;
        }
        let svd = state.matrix.clone().svd(true, true);
        let floor = RANK * svd.singular_values.amax();
        let Ok(solution) = svd.solve(&right, floor) else { return false };
        if (&state.matrix * &solution - &right).amax() > MARGIN * scale {
            return true;
        }
        set(problem, &state, &solution, r);
        let residual = problem.residual(r, u, blocks);
        let Some(v_t) = svd.v_t.as_ref().filter(|_| svd.singular_values.amin() <= floor) else {
            return residual > MARGIN;
        };
        // Velocities are the same for all solutions if the free impulses move nothing.
        let (speeds, mut idle) = (u.to_vec(), true);
        for k in (0..svd.singular_values.len()).filter(|&k| svd.singular_values[k] <= floor) {
            let more = &solution + v_t.row(k).transpose() * (1.0 + solution.amax());
            set(problem, &state, &more, r);
            problem.residual(r, u, blocks);
            idle &= rows().all(|row| (u[row] - speeds[row]).abs() <= MARGIN * scale);
        }
        idle && problem.contacts.iter().any(|contact| speeds[contact.row] < -MARGIN * scale)
    })
}

/// All combinations of the states of the contacts.
fn states<'a>(problem: &'a Problem<'a>) -> impl Iterator<Item = State> + 'a {
    let each: Vec<_> = problem.contacts.iter().map(|contact| contact.law.states(contact.constant)).collect();
    let count: usize = each.iter().map(|states| states.len()).product();
    (0..count).map(move |mut code| {
        let (mut columns, mut rows) = (Vec::new(), Vec::new());
        for (contact, states) in problem.contacts.iter().zip(&each) {
            let state = &states[code % states.len()];
            code /= states.len();
            for (k, combination) in state.iter().enumerate() {
                let parts = contact.rows().zip(combination).filter(|(_, factor)| **factor != 0.0);
                columns.push(parts.map(|(row, factor)| (row, *factor)).collect::<Vec<_>>());
                rows.push(contact.row + k);
            }
        }
        let mut matrix = DMatrix::zeros(rows.len(), rows.len());
        for (j, combination) in columns.iter().enumerate() {
            for &(column, factor) in combination {
                for (i, &row) in rows.iter().enumerate() {
                    let entry = problem.delassus.column(column).iter().find(|(at, _)| *at as usize == row);
                    matrix[(i, j)] += factor * entry.map_or(0.0, |(_, w)| *w);
                }
            }
        }
        State { columns, rows, matrix }
    })
}

/// Overwrites the impulses by those of a state.
fn set(problem: &Problem, state: &State, solution: &DVector<f64>, r: &mut [f64]) {
    problem.contacts.iter().for_each(|contact| r[contact.rows()].fill(0.0));
    for (value, combination) in solution.iter().zip(&state.columns) {
        combination.iter().for_each(|&(column, factor)| r[column] += factor * value);
    }
}
