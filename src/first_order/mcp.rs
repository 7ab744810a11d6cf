//! The small mixed complementarity problem of one Newton pass: w = W z + q, and z between bounds with w = 0 inside them,
//! w ≥ 0 at the lower and w ≤ 0 at the upper one.
//!
//! First the sides of the last solution are tried, then Lemke's pivoting. It knows numbers; it must not know time.

use super::dense::Lu;
use super::lemke::{Lemke, Ray};

/// Where a multiplier stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Low,
    Free,
    High,
}

/// What a multiplier may be, by its bounds.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Equation: no bounds.
    Free,
    /// Lower bound alone.
    Low,
    /// Upper bound alone.
    High,
    /// Both.
    Both,
}

fn kind(low: f64, high: f64) -> Kind {
    match (low > f64::NEG_INFINITY, high < f64::INFINITY) {
        (false, false) => Kind::Free,
        (true, false) => Kind::Low,
        (false, true) => Kind::High,
        (true, true) => Kind::Both,
    }
}

/// What is violated by less, of the sum of the sizes of the terms that make it, is rounding.
const ROUNDING: f64 = 1e-13;

/// Solver with its memory: the sides of the last solution, and what was factored for them.
pub struct Mcp {
    sides: Vec<Side>,
    tried: Vec<Side>,
    free: Vec<usize>,
    factor: Lu,
    /// Stamp of the matrix that is factored.
    factored: Option<u64>,
    right: Vec<f64>,
    guess: Vec<f64>,
    equations: Vec<usize>,
    others: Vec<usize>,
    elimination: Lu,
    /// W_EE⁻¹ W_EN and W_EE⁻¹ q_E.
    eliminated: Vec<f64>,
    lemke: Lemke,
}

/// One problem.
pub struct Data<'a> {
    /// W by rows.
    pub matrix: &'a [f64],
    /// Problems with equal stamps have equal matrices.
    pub stamp: u64,
    /// q.
    pub free: &'a [f64],
    /// Lower bounds.
    pub low: &'a [f64],
    /// Upper bounds.
    pub high: &'a [f64],
}

impl Mcp {
    /// A solver of problems with these bounds.
    pub fn new(low: &[f64], high: &[f64]) -> Mcp {
        let m = low.len();
        let of = |wanted: bool| (0..m).filter(move |&k| (kind(low[k], high[k]) == Kind::Free) == wanted);
        let both = (0..m).filter(|&k| kind(low[k], high[k]) == Kind::Both).count();
        let others: Vec<usize> = of(false).collect();
        Mcp {
            sides: (0..m).map(|k| if kind(low[k], high[k]) == Kind::Free { Side::Free } else { Side::Low }).collect(),
            tried: Vec::with_capacity(m),
            free: Vec::with_capacity(m),
            factor: Lu::default(),
            factored: None,
            right: vec![0.0; m],
            guess: vec![0.0; m],
            equations: of(true).collect(),
            elimination: Lu::default(),
            eliminated: vec![0.0; m * (m + 1)],
            lemke: Lemke::new(others.len() + both),
            others,
        }
    }

    /// Takes up the sides of a solution.
    pub fn recall(&mut self, z: &[f64], low: &[f64], high: &[f64]) {
        for (k, side) in self.sides.iter_mut().enumerate() {
            *side = side_of(z[k], low[k], high[k]);
        }
    }

    /// Solves into `z`; returns the number of pivots, one for a solution with the sides of the last.
    pub fn solve(&mut self, data: &Data, z: &mut [f64]) -> Result<usize, Ray> {
        if self.solve_with_sides(data, z) {
            return Ok(1);
        }
        let pivots = self.solve_by_pivoting(data, z)?;
        for (k, side) in self.sides.iter_mut().enumerate() {
            *side = side_of(z[k], data.low[k], data.high[k]);
        }
        // Once more with these sides, without the rounding of all pivots; where they are degenerate it stays as it is.
        self.factored = None;
        self.guess.copy_from_slice(z);
        if !self.solve_with_sides(data, z) {
            z.copy_from_slice(&self.guess);
        }
        Ok(pivots)
    }

    /// Whether there is a solution with the sides of the last one; `z` is left in disorder if not.
    fn solve_with_sides(&mut self, data: &Data, z: &mut [f64]) -> bool {
        let m = z.len();
        if self.factored != Some(data.stamp) || self.tried != self.sides {
            self.free.clear();
            self.free.extend((0..m).filter(|&k| self.sides[k] == Side::Free));
            let free = &self.free;
            if self.factor.factor(free.len(), |i, j| data.matrix[free[i] * m + free[j]]).is_err() {
                self.factored = None;
                return false;
            }
            self.tried.clone_from(&self.sides);
            self.factored = Some(data.stamp);
        }
        for k in 0..m {
            z[k] = match self.sides[k] {
                Side::Low => data.low[k],
                Side::High => data.high[k],
                Side::Free => 0.0,
            };
            if z[k].is_infinite() {
                return false;
            }
        }
        let right = &mut self.right;
        for (place, &i) in self.free.iter().enumerate() {
            right[place] = -data.free[i] - dot(&data.matrix[i * m..][..m], z);
        }
        self.factor.solve(&mut right[..self.free.len()]);
        for (place, &i) in self.free.iter().enumerate() {
            z[i] = right[place];
        }
        let largest = z.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
        for k in 0..m {
            match self.sides[k] {
                Side::Free => {
                    let slack = ROUNDING * largest;
                    // Also refuses what is not a number.
                    if !(z[k] >= data.low[k] - slack && z[k] <= data.high[k] + slack) {
                        return false;
                    }
                    z[k] = z[k].clamp(data.low[k], data.high[k]);
                }
                side => {
                    let row = &data.matrix[k * m..][..m];
                    let w = data.free[k] + dot(row, z);
                    let terms: f64 = row.iter().zip(&*z).map(|(a, z)| (a * z).abs()).sum();
                    let slack = ROUNDING * (terms + data.free[k].abs());
                    if !(if side == Side::Low { w >= -slack } else { w <= slack }) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Lemke's pivoting on what equations and bounds leave: u = low + s or high − s, and a row for every second bound.
    fn solve_by_pivoting(&mut self, data: &Data, z: &mut [f64]) -> Result<usize, Ray> {
        let (m, e) = (z.len(), self.equations.len());
        let (equations, others) = (&self.equations, &self.others);
        let (matrix, n) = (data.matrix, others.len());
        if e > 0 {
            if self.elimination.factor(e, |i, j| matrix[equations[i] * m + equations[j]]).is_err() {
                return Err(Ray);
            }
            for column in 0..=n {
                let entry = |row: usize| match others.get(column) {
                    Some(&other) => matrix[row * m + other],
                    None => data.free[row],
                };
                let place = &mut self.eliminated[column * e..][..e];
                place.iter_mut().zip(equations).for_each(|(x, &row)| *x = entry(row));
                self.elimination.solve(place);
            }
        }
        let eliminated = &self.eliminated;
        let inner = |row: usize, column: usize| -> f64 {
            (0..e).map(|k| matrix[row * m + equations[k]] * eliminated[column * e + k]).sum()
        };
        let kind = |k: usize| kind(data.low[others[k]], data.high[others[k]]);
        let sign = |k: usize| if kind(k) == Kind::High { -1.0 } else { 1.0 };
        let base = |k: usize| if kind(k) == Kind::High { data.high[others[k]] } else { data.low[others[k]] };
        let entry = |i: usize, j: usize| matrix[others[i] * m + others[j]] - inner(others[i], j);
        let both = || (0..n).filter(|&k| kind(k) == Kind::Both);
        self.lemke.begin(n + both().count());
        for i in 0..n {
            let mut q = data.free[others[i]] - inner(others[i], n);
            for j in 0..n {
                let value = entry(i, j);
                q += value * base(j);
                self.lemke.set(i, j, sign(i) * value * sign(j));
            }
            self.lemke.set_free(i, sign(i) * q);
        }
        for (extra, k) in both().enumerate() {
            self.lemke.set(k, n + extra, 1.0);
            self.lemke.set(n + extra, k, -1.0);
            self.lemke.set_free(n + extra, data.high[others[k]] - data.low[others[k]]);
        }
        let pivots = self.lemke.solve()?;
        for k in 0..n {
            let other = others[k];
            z[other] = (base(k) + sign(k) * self.lemke.value(k)).clamp(data.low[other], data.high[other]);
        }
        for (place, &i) in equations.iter().enumerate() {
            let sum: f64 = (0..n).map(|j| eliminated[j * e + place] * z[others[j]]).sum();
            z[i] = -(eliminated[n * e + place] + sum);
        }
        Ok(pivots)
    }
}

fn side_of(z: f64, low: f64, high: f64) -> Side {
    match z {
        z if z <= low => Side::Low,
        z if z >= high => Side::High,
        _ => Side::Free,
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    fn solve(matrix: &[f64], free: &[f64], low: &[f64], high: &[f64]) -> Result<Vec<f64>, Ray> {
        let mut z = vec![0.0; free.len()];
        Mcp::new(low, high).solve(&Data { matrix, stamp: 0, free, low, high }, &mut z)?;
        Ok(z)
    }

    #[test]
    fn bounds_of_all_kinds() {
        // One unknown, w = z + q: clamp of −q.
        for (low, high) in [(0.0, INF), (-1.0, 1.0), (-INF, INF), (-INF, 0.5), (0.25, 2.0)] {
            for q in [-3.0, -0.7, 0.0, 0.4, 2.0] {
                let z = solve(&[1.0], &[q], &[low], &[high]).unwrap();
                assert_eq!(z[0], (-q).clamp(low, high), "{low} {high} {q}");
            }
        }
    }

    #[test]
    fn the_matrix_of_the_diode_bridge_is_solved_although_its_diagonal_has_zeros() {
        let r = 1e-3;
        let d = [r, r, -1.0, 0.0, r, r, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        for v in [10.0, -10.0, 1e-9, 0.0] {
            let z = solve(&d, &[0.0, 0.0, -v, v], &[0.0; 4], &[INF; 4]).unwrap();
            let exact: [f64; 4] = if v > 0.0 { [v, 0.0, v * r, 0.0] } else { [0.0, -v, 0.0, -v * r] };
            assert!(z.iter().zip(exact).all(|(a, b)| (a - b).abs() <= 1e-15 * v.abs()), "{z:?} {exact:?}");
        }
    }

    #[test]
    fn what_has_no_solution_ends_on_a_ray() {
        assert!(solve(&[-1.0], &[-1.0], &[0.0], &[INF]).is_err());
        assert!(solve(&[0.0], &[-1.0], &[0.0], &[INF]).is_err());
        assert!(solve(&[0.0], &[1.0], &[-INF], &[INF]).is_err(), "an equation without its unknown");
    }

    #[test]
    fn random_problems_with_positive_matrices_are_solved() {
        let mut seed = 1u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as f64 / (1u64 << 31) as f64 * 2.0 - 1.0
        };
        for m in 1..8 {
            for _ in 0..100 {
                let half: Vec<f64> = (0..m * m).map(|_| random()).collect();
                let skew: Vec<f64> = (0..m * m).map(|_| random()).collect();
                // Semidefinite and skew parts: not symmetric, but positive.
                let entry = |i: usize, j: usize| {
                    let square: f64 = (0..m).map(|k| half[k * m + i] * half[k * m + j]).sum();
                    square + skew[i * m + j] - skew[j * m + i] + if i == j { 0.01 } else { 0.0 }
                };
                let matrix: Vec<f64> = (0..m * m).map(|k| entry(k / m, k % m)).collect();
                let free: Vec<f64> = (0..m).map(|_| random()).collect();
                let bounds: Vec<(f64, f64)> =
                    (0..m).map(|k| [(0.0, INF), (-0.5, 0.5), (-INF, INF), (-INF, 0.1)][k % 4]).collect();
                let (low, high): (Vec<f64>, Vec<f64>) = bounds.iter().copied().unzip();
                let z = solve(&matrix, &free, &low, &high).unwrap();
                for i in 0..m {
                    let w = free[i] + dot(&matrix[i * m..][..m], &z);
                    let natural = z[i] - (z[i] - w).clamp(low[i], high[i]);
                    assert!(natural.abs() < 1e-9, "{natural} of {z:?}");
                }
            }
        }
    }
}
