//! Linear equations of a chain of steps with conditions at its two ends, solved from left to right by Householder
//! transformations: work and memory grow linearly with the number of steps, and nothing grows exponentially.
//!
//! Every step brings a [`Block`]: n + m equations between the states at its start, those at its end, and m multipliers.

use super::dense::Lu;

/// Equations of one step, by rows: multipliers, states at the end, states at the start, right-hand side.
pub struct Block {
    n: usize,
    m: usize,
    a: Vec<f64>,
}

impl Block {
    /// For n states and m multipliers.
    pub fn new(n: usize, m: usize) -> Block {
        Block { n, m, a: vec![0.0; (n + m) * (m + 2 * n + 1)] }
    }

    fn wide(&self) -> usize {
        self.m + 2 * self.n + 1
    }

    /// Sets everything to zero.
    pub fn begin(&mut self) {
        self.a.fill(0.0);
    }

    /// Coefficient of a multiplier.
    pub fn set_multiplier(&mut self, row: usize, k: usize, value: f64) {
        let at = row * self.wide() + k;
        self.a[at] = value;
    }

    /// Coefficient of a state at the end.
    pub fn set_new(&mut self, row: usize, state: usize, value: f64) {
        let at = row * self.wide() + self.m + state;
        self.a[at] = value;
    }

    /// Adds to the coefficient of a state at the end.
    pub fn add_new(&mut self, row: usize, state: usize, value: f64) {
        let at = row * self.wide() + self.m + state;
        self.a[at] += value;
    }

    /// Coefficient of a state at the start.
    pub fn set_old(&mut self, row: usize, state: usize, value: f64) {
        let at = row * self.wide() + self.m + self.n + state;
        self.a[at] = value;
    }

    /// Right-hand side.
    pub fn set_right(&mut self, row: usize, value: f64) {
        let at = row * self.wide() + self.wide() - 1;
        self.a[at] = value;
    }
}

/// The chain with its eliminated equations.
pub struct Chain {
    n: usize,
    m: usize,
    steps: usize,
    /// Equations that give the multipliers of a step: m rows as those of a block.
    laws: Vec<f64>,
    /// Equations that give the states at the end of a step but the last: n rows of that state, the first, the next, right.
    inner: Vec<f64>,
    /// What is left between the first states and the last so far: n rows of last, first, right.
    front: Vec<f64>,
    pair: Vec<f64>,
    states: Vec<f64>,
    multipliers: Vec<f64>,
    pushed: usize,
}

impl Chain {
    /// For so many states, multipliers and steps.
    pub fn new(n: usize, m: usize, steps: usize) -> Chain {
        Chain {
            n,
            m,
            steps,
            laws: Vec::with_capacity(steps * m * (m + 2 * n + 1)),
            inner: Vec::with_capacity(steps * n * (3 * n + 1)),
            front: vec![0.0; n * (2 * n + 1)],
            pair: vec![0.0; 2 * n * (3 * n + 1)],
            states: vec![0.0; (steps + 1) * n],
            multipliers: vec![0.0; steps * m],
            pushed: 0,
        }
    }

    /// Forgets all steps.
    pub fn begin(&mut self) {
        self.laws.clear();
        self.inner.clear();
        self.pushed = 0;
    }

    /// Takes the equations of the next step, which are overwritten.
    pub fn push(&mut self, block: &mut Block) {
        let (n, m) = (self.n, self.m);
        let wide = block.wide();
        triangular(n + m, wide, m, &mut block.a);
        self.laws.extend_from_slice(&block.a[..m * wide]);
        let rest = &block.a[m * wide..];
        let front = 2 * n + 1;
        if self.pushed == 0 {
            for i in 0..n {
                let row = &rest[i * wide..][..wide];
                self.front[i * front..][..n].copy_from_slice(&row[m..m + n]);
                self.front[i * front + n..][..n + 1].copy_from_slice(&row[m + n..]);
            }
            self.pushed = 1;
            return;
        }
        // Columns: states between the two steps, first states, states at the end of this step, right-hand side.
        let all = 3 * n + 1;
        self.pair.fill(0.0);
        for i in 0..n {
            let (old, row) = (&self.front[i * front..][..front], &mut self.pair[i * all..][..all]);
            row[..2 * n].copy_from_slice(&old[..2 * n]);
            row[3 * n] = old[2 * n];
            let (new, row) = (&rest[i * wide..][..wide], &mut self.pair[(n + i) * all..][..all]);
            row[..n].copy_from_slice(&new[m + n..m + 2 * n]);
            row[2 * n..3 * n].copy_from_slice(&new[m..m + n]);
            row[3 * n] = new[wide - 1];
        }
        triangular(2 * n, all, n, &mut self.pair);
        self.inner.extend_from_slice(&self.pair[..n * all]);
        for i in 0..n {
            let row = &self.pair[(n + i) * all..][..all];
            let front = &mut self.front[i * front..][..front];
            front[..n].copy_from_slice(&row[2 * n..3 * n]);
            front[n..2 * n].copy_from_slice(&row[n..2 * n]);
            front[2 * n] = row[3 * n];
        }
        self.pushed += 1;
    }

    /// Solves with conditions at the ends, by rows: first states, last states. The error tells that they do not fix all.
    pub fn solve(&mut self, conditions: &[f64], right: &[f64]) -> Result<(), ()> {
        let (n, m, steps) = (self.n, self.m, self.steps);
        let front = 2 * n + 1;
        let mut lu = Lu::default();
        let entry = |i: usize, j: usize| match i < n {
            true if j < n => self.front[i * front + n + j],
            true => self.front[i * front + j - n],
            false => conditions[(i - n) * 2 * n + j],
        };
        lu.factor(2 * n, entry).map_err(|_| ())?;
        let mut ends: Vec<f64> = (0..n).map(|i| self.front[i * front + 2 * n]).chain(right.iter().copied()).collect();
        lu.solve(&mut ends);
        self.states[..n].copy_from_slice(&ends[..n]);
        self.states[steps * n..].copy_from_slice(&ends[n..]);
        let all = 3 * n + 1;
        for k in (1..steps).rev() {
            let rows = &self.inner[(k - 1) * n * all..][..n * all];
            let (head, tail) = self.states.split_at_mut((k + 1) * n);
            let (first, own) = head.split_at_mut(k * n);
            for i in (0..n).rev() {
                let row = &rows[i * all..][..all];
                let mut sum = row[3 * n] - dot(&row[n..2 * n], &first[..n]) - dot(&row[2 * n..3 * n], &tail[..n]);
                sum -= dot(&row[i + 1..n], &own[i + 1..n]);
                own[i] = divided(sum, row[i])?;
            }
        }
        let wide = m + 2 * n + 1;
        for k in 0..steps {
            let rows = &self.laws[k * m * wide..][..m * wide];
            let (old, new) = (&self.states[k * n..][..n], &self.states[(k + 1) * n..][..n]);
            let own = &mut self.multipliers[k * m..][..m];
            for i in (0..m).rev() {
                let row = &rows[i * wide..][..wide];
                let mut sum = row[wide - 1] - dot(&row[m..m + n], new) - dot(&row[m + n..m + 2 * n], old);
                sum -= dot(&row[i + 1..m], &own[i + 1..m]);
                own[i] = divided(sum, row[i])?;
            }
        }
        Ok(())
    }

    /// States at instant `k`.
    pub fn states(&self, k: usize) -> &[f64] {
        &self.states[k * self.n..][..self.n]
    }

    /// Multipliers of the step that ends at instant `k`.
    pub fn multipliers(&self, k: usize) -> &[f64] {
        &self.multipliers[(k - 1) * self.m..][..self.m]
    }
}

fn divided(sum: f64, pivot: f64) -> Result<f64, ()> {
    if pivot == 0.0 { Err(()) } else { Ok(sum / pivot) }
}

/// Makes the first columns of a matrix by rows upper triangular, by Householder transformations.
fn triangular(rows: usize, wide: usize, columns: usize, a: &mut [f64]) {
    for k in 0..columns.min(rows) {
        let norm = (k..rows).map(|i| a[i * wide + k] * a[i * wide + k]).sum::<f64>().sqrt();
        if norm == 0.0 {
            continue;
        }
        let pivot = a[k * wide + k];
        let length = if pivot > 0.0 { -norm } else { norm };
        // v = column − length e_k; H = I − 2 v vᵀ / vᵀv.
        let head = pivot - length;
        let square = head * head + (k + 1..rows).map(|i| a[i * wide + k] * a[i * wide + k]).sum::<f64>();
        for j in k + 1..wide {
            let below = (k + 1..rows).map(|i| a[i * wide + k] * a[i * wide + j]).sum::<f64>();
            let factor = 2.0 * (head * a[k * wide + j] + below) / square;
            a[k * wide + j] -= factor * head;
            for i in k + 1..rows {
                a[i * wide + j] -= factor * a[i * wide + k];
            }
        }
        a[k * wide + k] = length;
        (k + 1..rows).for_each(|i| a[i * wide + k] = 0.0);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x' = diag(λ, −λ) x over a long time: shooting from either end would lose all digits.
    #[test]
    fn what_grows_in_both_directions_of_time_is_solved() {
        let (steps, h, rate) = (2000, 0.05, 3.0);
        let (mut chain, mut block) = (Chain::new(2, 1, steps), Block::new(2, 1));
        for _ in 0..steps {
            block.begin();
            for (i, sign) in [(0, 1.0), (1, -1.0)] {
                block.set_new(i, i, 1.0 - h * 0.5 * sign * rate);
                block.set_old(i, i, -1.0 - h * 0.5 * sign * rate);
            }
            // A multiplier that only watches: u = x0 + x1.
            block.set_multiplier(2, 0, 1.0);
            block.set_new(2, 0, -1.0);
            block.set_new(2, 1, -1.0);
            chain.push(&mut block);
        }
        // x0 = 1 at the end, x1 = 1 at the start.
        chain.solve(&[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0], &[1.0, 1.0]).unwrap();
        let factor: f64 = (1.0 - 0.075) / (1.0 + 0.075);
        for k in [1, 10, 100, 1000, 1990, 2000] {
            let exact = [factor.powi((steps - k) as i32), factor.powi(k as i32)];
            let found = chain.states(k);
            assert!((0..2).all(|i| (found[i] - exact[i]).abs() < 1e-12), "{k}: {found:?} {exact:?}");
            assert!((chain.multipliers(k)[0] - exact[0] - exact[1]).abs() < 1e-12);
        }
        assert!(
            chain.solve(&[1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0], &[1.0, 1.0]).is_err(),
            "twice the same condition"
        );
    }
}
