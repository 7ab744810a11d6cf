//! One step of the θ-method, (F3)–(F4), by the method of Josephy and Newton: equations are linearised at the iterate, and
//! what is left is a small mixed complementarity problem for the multipliers.
//!
//! ```text
//! x1 = x0 + h [θ f1 + (1−θ) f0] + h [ω B1 u1 + (1−ω) B0 u0] + J1ᵀ μ
//! w1 = dual(t1, x1, u1) with its law;    0 ≤ g(t1, x1) ⊥ μ ≥ 0
//! ```
//!
//! Where slopes are constant, one pass is exact and its matrices are kept.

use super::dense::Lu;
use super::lemke::Ray;
use super::mcp::{Data, Mcp};
use super::system::{Point, Slopes, System};
use super::weights::Weights;

/// Passes after which only half of the way is gone, so that iterates that jump to and fro come to rest.
const FULL: usize = 8;

/// A step in time.
#[derive(Clone, Copy, Debug)]
pub struct Stride {
    /// Its size.
    pub h: f64,
    /// Instant at its end.
    pub end: f64,
    /// Instant at which data are taken at the end: a little before it where they jump there.
    pub data: f64,
}

/// What a step took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Newton passes.
    pub passes: usize,
    /// Pivots of their complementarity problems.
    pub pivots: usize,
    /// Largest residual of a law or constraint, of the terms that it is made of.
    pub complementarity: f64,
}

/// Why there is no step.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// The complementarity problem of a pass has no solution that pivoting finds.
    Ray,
    /// The matrix I − hθA is singular at that state.
    Singular(usize),
    /// Newton's method does not converge; what is left.
    Slow(f64),
    /// Something is not a number.
    NotFinite,
}

/// Makes steps of a system.
pub struct Stepper<'a> {
    system: &'a System,
    tolerance: f64,
    most: usize,
    /// Step size and weights of the matrices that are kept.
    kept: Option<[f64; 3]>,
    stamp: u64,
    slopes: Slopes,
    curvature: Vec<f64>,
    factor: Lu,
    /// Â⁻¹ [hωB, Jᵀ], by columns.
    response: Vec<f64>,
    /// W of the complementarity problem, by rows.
    matrix: Vec<f64>,
    /// Largest entry of each of its rows.
    sizes: Vec<f64>,
    /// Largest entry of each of its columns, of the sizes of the rows.
    weights: Vec<f64>,
    free: Vec<f64>,
    residual: Vec<f64>,
    shift: Vec<f64>,
    z: Vec<f64>,
    mcp: Mcp,
    values: Vec<f64>,
    /// Jᵀ μ of the last step.
    pub push: Vec<f64>,
}

impl<'a> Stepper<'a> {
    /// Steps with this tolerance and at most so many passes.
    pub fn new(system: &'a System, tolerance: f64, most: usize) -> Stepper<'a> {
        let (n, all) = (system.size(), system.multipliers());
        Stepper {
            system,
            tolerance,
            most,
            kept: None,
            stamp: 0,
            slopes: Slopes::default(),
            curvature: vec![0.0; n * n],
            factor: Lu::default(),
            response: vec![0.0; n * all],
            matrix: vec![0.0; all * all],
            sizes: vec![0.0; all],
            weights: vec![0.0; all],
            free: vec![0.0; all],
            residual: vec![0.0; n],
            shift: vec![0.0; n],
            z: vec![0.0; all],
            mcp: Mcp::new(&system.low, &system.high),
            values: Vec::with_capacity(1 + n + all),
            push: vec![0.0; n],
        }
    }

    /// W of the last step, by rows.
    pub fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    /// Makes a step from one point to another, which is overwritten.
    pub fn step(&mut self, from: &Point, stride: Stride, weights: Weights, to: &mut Point) -> Result<Counts, Trouble> {
        let system = self.system;
        to.time = stride.end;
        to.x.copy_from_slice(&from.x);
        to.z.copy_from_slice(&from.z);
        // From the point alone, so that a run that was stopped goes on with the same bits.
        self.mcp.recall(&from.z, &system.low, &system.high);
        let mut counts = Counts::default();
        let mut left = f64::INFINITY;
        for pass in 0..=self.most {
            system.evaluate(to, stride.data, &mut self.values);
            if pass > 0 {
                // Impulses act along the gradients of this very point.
                self.update_gradients(to, stride.data);
                let (motion, law) = self.residuals(from, stride, weights, to);
                left = motion.max(law);
                if left.is_nan() {
                    return Err(Trouble::NotFinite);
                }
                if left <= self.tolerance {
                    system.complete(to, stride.data, &mut self.values);
                    if !to.stored.is_finite() {
                        return Err(Trouble::NotFinite);
                    }
                    return Ok(Counts { passes: pass, complementarity: law, ..counts });
                }
            }
            let key = [stride.h, weights.theta, weights.omega];
            if self.kept != Some(key) {
                self.linearise(to, stride, weights)?;
                self.kept = system.steady.then_some(key);
            }
            if pass == 0 {
                self.residuals(from, stride, weights, to);
            }
            let (n, all) = (to.x.len(), to.z.len());
            self.shift.iter_mut().zip(&self.residual).for_each(|(shift, residual)| *shift = -residual);
            self.factor.solve(&mut self.shift);
            for i in 0..all {
                let row = &self.matrix[i * all..][..all];
                self.free[i] = to.w[i] + dot(&self.slopes.c[i * n..][..n], &self.shift) - dot(row, &to.z);
            }
            if self.free.iter().chain(&self.shift).any(|value| value.is_nan()) {
                return Err(Trouble::NotFinite);
            }
            let data = Data {
                matrix: &self.matrix,
                stamp: self.stamp,
                free: &self.free,
                low: &system.low,
                high: &system.high,
            };
            counts.pivots += self.mcp.solve(&data, &mut self.z).map_err(|Ray| Trouble::Ray)?;
            let share = if pass < FULL || system.steady { 1.0 } else { 0.5 };
            for k in 0..all {
                let change = self.z[k] - to.z[k];
                if change != 0.0 {
                    let column = &self.response[k * n..][..n];
                    self.shift.iter_mut().zip(column).for_each(|(shift, y)| *shift += y * change);
                }
                to.z[k] = if share == 1.0 { self.z[k] } else { to.z[k] + share * change };
            }
            to.x.iter_mut().zip(&self.shift).for_each(|(x, shift)| *x += share * shift);
        }
        Err(Trouble::Slow(left))
    }

    fn update_gradients(&mut self, to: &Point, data: f64) {
        let (n, m) = (to.x.len(), self.system.laws.len());
        for (row, c) in
            self.system.rows.iter().zip(self.slopes.c[m * n..].chunks_mut(n)).filter(|(row, _)| !row.steady())
        {
            row.gradient(data, &to.x, c);
        }
    }

    /// Fills the residual of the motion; returns its largest entry and that of the laws, each of the terms that it is
    /// made of.
    fn residuals(&mut self, from: &Point, stride: Stride, weights: Weights, to: &Point) -> (f64, f64) {
        let (n, m, all) = (to.x.len(), self.system.laws.len(), to.z.len());
        let Weights { theta, omega } = weights;
        let h = stride.h;
        let c = &self.slopes.c;
        // Multipliers are solved for together: the largest of them, in common units, rounds all others.
        let common = to.z.iter().zip(&self.weights).fold(0.0, |size: f64, (z, weight)| size.max((z * weight).abs()));
        let size_of = |k: usize| if self.weights[k] > 0.0 { common / self.weights[k] } else { to.z[k].abs() };
        let mut motion: f64 = 0.0;
        for i in 0..n {
            let push: f64 = (m..all).map(|k| c[k * n + i] * to.z[k]).sum();
            self.push[i] = push;
            let smooth = h * (theta * to.f[i] + (1.0 - theta) * from.f[i]);
            let law = h * (omega * to.bu[i] + (1.0 - omega) * from.bu[i]);
            let residual = to.x[i] - from.x[i] - smooth - law - push;
            self.residual[i] = residual;
            let input: f64 = self.slopes.b[i * m..][..m].iter().enumerate().map(|(k, b)| b.abs() * size_of(k)).sum();
            let size = to.x[i].abs() + from.x[i].abs() + smooth.abs() + law.abs() + h * input + push.abs();
            motion = larger(motion, relative(residual, size));
        }
        let mut laws: f64 = 0.0;
        for i in 0..all {
            let (w, u) = (to.w[i], to.z[i]);
            let row = self.matrix[i * all..][..all].iter().enumerate().map(|(k, a)| a.abs() * size_of(k)).sum::<f64>();
            let terms = c[i * n..][..n].iter().zip(&to.x).map(|(c, x)| (c * x).abs()).sum::<f64>();
            let scale = if self.sizes[i] > 0.0 { self.sizes[i] } else { 1.0 };
            let natural = u - (u - w / scale).clamp(self.system.low[i], self.system.high[i]);
            laws = larger(laws, relative(scale * natural, w.abs() + row + terms));
        }
        (motion, laws)
    }

    /// Matrices of a pass: Â = I − hθ f_x − hω (Bu)_x − Σ μ g_xx and W = [D 0; 0 0] + [C; J] Â⁻¹ [hωB, Jᵀ].
    fn linearise(&mut self, to: &mut Point, stride: Stride, weights: Weights) -> Result<(), Trouble> {
        let system = self.system;
        let (n, m, all) = (to.x.len(), system.laws.len(), to.z.len());
        let (h, theta, omega) = (stride.h, weights.theta, weights.omega);
        system.slopes(to, stride.data, &mut self.slopes, &mut self.values);
        self.curvature.fill(0.0);
        for (k, row) in system.rows.iter().enumerate().filter(|(k, _)| to.z[m + k] != 0.0) {
            row.add_curvature(stride.data, &mut to.x, to.z[m + k], &mut self.curvature, &mut self.values);
        }
        let (slopes, curvature) = (&self.slopes, &self.curvature);
        let entry = |i: usize, j: usize| {
            let at = i * n + j;
            let smooth = h * (theta * slopes.f_x[at] + omega * slopes.bu_x[at]);
            if i == j { 1.0 - smooth - curvature[at] } else { -smooth - curvature[at] }
        };
        self.factor.factor(n, entry).map_err(Trouble::Singular)?;
        for k in 0..all {
            let column = &mut self.response[k * n..][..n];
            for (i, y) in column.iter_mut().enumerate() {
                *y = if k < m { h * omega * slopes.b[i * m + k] } else { slopes.c[k * n + i] };
            }
            self.factor.solve(column);
        }
        for i in 0..all {
            for k in 0..all {
                let own = if i < m && k < m { slopes.d[i * m + k] } else { 0.0 };
                self.matrix[i * all + k] = own + dot(&slopes.c[i * n..][..n], &self.response[k * n..][..n]);
            }
            self.sizes[i] = self.matrix[i * all..][..all].iter().fold(0.0, |size: f64, a| size.max(a.abs()));
        }
        for k in 0..all {
            let entry =
                |i: usize| if self.sizes[i] > 0.0 { self.matrix[i * all + k].abs() / self.sizes[i] } else { 0.0 };
            self.weights[k] = (0..all).fold(0.0, |size: f64, i| size.max(entry(i)));
        }
        self.stamp += 1;
        Ok(())
    }
}

/// Multipliers of the laws at a point with given states, from the laws alone: w(t, x, u) with its law. None where these
/// leave them open or cannot be met, as with laws of relative degree one that are violated.
pub fn consistent(system: &System, point: &mut Point, data: f64) -> Option<()> {
    let (n, m) = (system.size(), system.laws.len());
    let (low, high) = (&system.low[..m], &system.high[..m]);
    let mut mcp = Mcp::new(low, high);
    let (mut values, mut slopes) = (Vec::new(), Slopes::default());
    let (mut free, mut z) = (vec![0.0; m], vec![0.0; m]);
    for pass in 0..40 {
        system.evaluate(point, data, &mut values);
        system.slopes(point, data, &mut slopes, &mut values);
        let size = |i: usize| {
            let row = slopes.d[i * m..][..m].iter().zip(&point.z).map(|(d, u)| (d * u).abs()).sum::<f64>();
            point.w[i].abs()
                + row
                + slopes.c[i * n..][..n].iter().zip(&point.x).map(|(c, x)| (c * x).abs()).sum::<f64>()
        };
        let natural = |i: usize| {
            let scale = slopes.d[i * m..][..m].iter().fold(0.0, |s: f64, d| s.max(d.abs()));
            let scale = if scale > 0.0 { scale } else { 1.0 };
            let u = point.z[i];
            relative(scale * (u - (u - point.w[i] / scale).clamp(low[i], high[i])), size(i))
        };
        // A law of degree one that holds with its multiplier at the bound leaves nothing to solve.
        if (0..m).all(|i| natural(i) <= 1e-12) {
            let inside =
                (m..point.w.len()).all(|k| point.w[k] >= -1e-12 * size_of_row(&slopes.c[k * n..][..n], point, k));
            return inside.then_some(());
        }
        if pass > 0 && !(0..m).all(|i| natural(i).is_finite()) {
            return None;
        }
        for i in 0..m {
            free[i] = point.w[i] - dot(&slopes.d[i * m..][..m], &point.z[..m]);
        }
        let problem = Data { matrix: &slopes.d, stamp: pass, free: &free, low, high };
        mcp.solve(&problem, &mut z).ok()?;
        point.z[..m].copy_from_slice(&z);
    }
    None
}

fn size_of_row(gradient: &[f64], point: &Point, row: usize) -> f64 {
    point.w[row].abs() + gradient.iter().zip(&point.x).map(|(c, x)| (c * x).abs()).sum::<f64>()
}

fn relative(residual: f64, size: f64) -> f64 {
    if residual == 0.0 { 0.0 } else { residual.abs() / size }
}

/// The larger of two, and not a number if one of them is none.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
