//! Lemke's complementary pivoting, w = M z + q, 0 ≤ z ⊥ w ≥ 0, on a dense tableau that is kept.
//!
//! Rows and columns are brought to one size first, because laws of circuits mix units; ties of the ratio test are broken by
//! the lexicographic order, so that degenerate problems do not cycle.

/// The pivoting ended on a secondary ray: the problem has no solution, or its matrix is of no class that pivoting solves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ray;

/// Tableau and basis.
#[derive(Default)]
pub struct Lemke {
    n: usize,
    /// M by rows.
    matrix: Vec<f64>,
    free: Vec<f64>,
    row_scale: Vec<f64>,
    column_scale: Vec<f64>,
    /// Columns: w (0..n), z (n..2n), the artificial variable (2n), right-hand side (2n + 1).
    table: Vec<f64>,
    basis: Vec<usize>,
    solution: Vec<f64>,
}

/// Entries that are smaller, of the largest in their column, are no pivots.
const PIVOT: f64 = 1e-11;
/// Ratios that differ by less are equal.
const TIE: f64 = 1e-12;

impl Lemke {
    /// Memory for problems of at most this size.
    pub fn new(most: usize) -> Lemke {
        let with = Vec::with_capacity;
        Lemke {
            n: 0,
            matrix: with(most * most),
            free: with(most),
            row_scale: with(most),
            column_scale: with(most),
            table: with(most * (2 * most + 2)),
            basis: Vec::with_capacity(most),
            solution: with(most),
        }
    }

    /// Begins a problem of this size with M = 0 and q = 0.
    pub fn begin(&mut self, n: usize) {
        self.n = n;
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        self.free.clear();
        self.free.resize(n, 0.0);
    }

    /// Sets an entry of M.
    pub fn set(&mut self, row: usize, column: usize, value: f64) {
        self.matrix[row * self.n + column] = value;
    }

    /// Sets an entry of q.
    pub fn set_free(&mut self, row: usize, value: f64) {
        self.free[row] = value;
    }

    /// An entry of z.
    pub fn value(&self, k: usize) -> f64 {
        self.solution[k]
    }

    /// Solves the problem; returns the number of pivots.
    pub fn solve(&mut self) -> Result<usize, Ray> {
        let n = self.n;
        self.solution.clear();
        self.solution.resize(n, 0.0);
        if self.free.iter().all(|&q| q >= 0.0) {
            return Ok(0);
        }
        if self.free.iter().chain(&self.matrix).any(|value| !value.is_finite()) {
            return Err(Ray);
        }
        self.scale();
        self.fill();
        let wide = 2 * n + 2;
        let last = wide - 1;
        let q = |row: usize| self.table[row * wide + last];
        let mut row = (0..n).fold(0, |least, i| if q(i) < q(least) { i } else { least });
        let mut entering = 2 * n;
        // A problem of this kind needs about n pivots; many times that is a cycle after all.
        for pivots in 1..=50 * (n + 1) {
            let leaving = self.basis[row];
            self.pivot(row, entering);
            self.basis[row] = entering;
            if leaving == 2 * n {
                for (k, &variable) in self.basis.iter().enumerate() {
                    if (n..2 * n).contains(&variable) {
                        let z = self.table[k * wide + last].max(0.0);
                        self.solution[variable - n] = z * self.column_scale[variable - n];
                    }
                }
                return Ok(pivots);
            }
            entering = if leaving < n { leaving + n } else { leaving - n };
            row = self.ratio_test(entering).ok_or(Ray)?;
        }
        Err(Ray)
    }

    fn scale(&mut self) {
        let n = self.n;
        let inverse = |size: f64| if size > 0.0 { 1.0 / size } else { 1.0 };
        self.row_scale.clear();
        for row in self.matrix.chunks(n) {
            self.row_scale.push(inverse(row.iter().fold(0.0, |size: f64, x| size.max(x.abs()))));
        }
        self.column_scale.clear();
        for j in 0..n {
            let size = (0..n).fold(0.0, |size: f64, i| size.max((self.row_scale[i] * self.matrix[i * n + j]).abs()));
            self.column_scale.push(inverse(size));
        }
    }

    /// The tableau of w − M z − z0 = q.
    fn fill(&mut self) {
        let n = self.n;
        self.table.clear();
        for i in 0..n {
            let scale = self.row_scale[i];
            self.table.extend((0..n).map(|j| if i == j { 1.0 } else { 0.0 }));
            let row = &self.matrix[i * n..][..n];
            self.table.extend(row.iter().zip(&self.column_scale).map(|(m, column)| -scale * m * column));
            self.table.extend([-1.0, scale * self.free[i]]);
        }
        self.basis.clear();
        self.basis.extend(0..n);
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let wide = 2 * self.n + 2;
        let scale = 1.0 / self.table[row * wide + column];
        self.table[row * wide..][..wide].iter_mut().for_each(|x| *x *= scale);
        for r in (0..self.n).filter(|&r| r != row) {
            let factor = self.table[r * wide + column];
            if factor != 0.0 {
                for c in 0..wide {
                    self.table[r * wide + c] -= factor * self.table[row * wide + c];
                }
            }
        }
    }

    /// Row of the smallest ratio; the artificial variable wins a tie, because then the problem is solved.
    fn ratio_test(&self, column: usize) -> Option<usize> {
        let (n, wide) = (self.n, 2 * self.n + 2);
        let entry = |row: usize, column: usize| self.table[row * wide + column];
        let largest = (0..n).fold(0.0, |size: f64, row| size.max(entry(row, column)));
        let mut best: Option<usize> = None;
        for row in (0..n).filter(|&row| entry(row, column) > PIVOT * largest) {
            let Some(other) = best else {
                best = Some(row);
                continue;
            };
            let ratio = |row: usize, of: usize| entry(row, of) / entry(row, column);
            let differ = |of: usize| {
                let (a, b) = (ratio(row, of), ratio(other, of));
                if (a - b).abs() <= TIE * (a.abs() + b.abs()) { None } else { Some(a < b) }
            };
            let better = match differ(wide - 1) {
                Some(less) => less,
                None if self.basis[other] == 2 * n => false,
                None if self.basis[row] == 2 * n => true,
                None => (0..n).find_map(differ).unwrap_or(false),
            };
            if better {
                best = Some(row);
            }
        }
        best
    }
}
