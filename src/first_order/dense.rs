//! Small dense matrices by rows: factorization with pivots, into memory that is kept.

/// P A = L U of a square matrix.
#[derive(Clone, Debug, Default)]
pub struct Lu {
    n: usize,
    a: Vec<f64>,
    order: Vec<usize>,
    scratch: Vec<f64>,
}

/// Pivots that are smaller, of the largest entry of their row, are rounding.
const SINGULAR: f64 = 1e-13;

impl Lu {
    /// Factors the n × n matrix that `entry` gives; the error is a column without pivot.
    pub fn factor(&mut self, n: usize, entry: impl Fn(usize, usize) -> f64) -> Result<(), usize> {
        self.n = n;
        self.a.clear();
        self.a.extend((0..n * n).map(|k| entry(k / n, k % n)));
        self.order.clear();
        self.order.extend(0..n);
        self.scratch.clear();
        // Rows may have different units: pivots are compared relative to their rows.
        for row in self.a.chunks(n.max(1)) {
            self.scratch.push(row.iter().fold(0.0, |size: f64, x| size.max(x.abs())));
        }
        let (a, size) = (&mut self.a, &mut self.scratch);
        for k in 0..n {
            let weight = |i: usize| if size[i] > 0.0 { a[i * n + k].abs() / size[i] } else { 0.0 };
            let best = (k + 1..n).fold(k, |best, i| if weight(i) > weight(best) { i } else { best });
            // A number that is none must not pass.
            if weight(best).is_nan() || weight(best) <= SINGULAR {
                return Err(k);
            }
            if best != k {
                (0..n).for_each(|j| a.swap(k * n + j, best * n + j));
                self.order.swap(k, best);
                size.swap(k, best);
            }
            let pivot = 1.0 / a[k * n + k];
            for i in k + 1..n {
                let factor = a[i * n + k] * pivot;
                a[i * n + k] = factor;
                if factor != 0.0 {
                    for j in k + 1..n {
                        a[i * n + j] -= factor * a[k * n + j];
                    }
                }
            }
        }
        Ok(())
    }

    /// Solves A x = b in place.
    pub fn solve(&mut self, b: &mut [f64]) {
        let n = self.n;
        self.scratch.clear();
        self.scratch.extend(self.order.iter().map(|&k| b[k]));
        let y = &mut self.scratch;
        for i in 0..n {
            for j in 0..i {
                y[i] -= self.a[i * n + j] * y[j];
            }
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                y[i] -= self.a[i * n + j] * y[j];
            }
            y[i] /= self.a[i * n + i];
        }
        b[..n].copy_from_slice(y);
    }

    /// Determinant.
    pub fn determinant(&self) -> f64 {
        let n = self.n;
        let mut seen = self.order.clone();
        let mut sign = 1.0;
        for k in 0..n {
            while seen[k] != k {
                let other = seen[k];
                seen.swap(k, other);
                sign = -sign;
            }
        }
        (0..n).fold(sign, |product, k| product * self.a[k * n + k])
    }
}

/// Largest modulus of the eigenvalues of a square matrix, which is overwritten: by squaring it again and again.
pub fn spectral_radius(n: usize, a: &mut [f64], square: &mut [f64]) -> f64 {
    // log ρ is the limit of log |A^k| / k.
    let (mut log, mut power) = (0.0, 1.0);
    for _ in 0..30 {
        let size = a[..n * n].iter().fold(0.0, |size: f64, x| size.max(x.abs()));
        if size == 0.0 {
            return 0.0;
        }
        log += size.ln() / power;
        power *= 2.0;
        a[..n * n].iter_mut().for_each(|x| *x /= size);
        for i in 0..n {
            for j in 0..n {
                square[i * n + j] = (0..n).map(|k| a[i * n + k] * a[k * n + j]).sum();
            }
        }
        a[..n * n].copy_from_slice(&square[..n * n]);
    }
    log.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved_and_its_determinant_known() {
        let a = [[0.0, 2.0, 1.0], [1e6, 1.0, -2e6], [3.0, 0.0, 1.0]];
        let mut lu = Lu::default();
        lu.factor(3, |i, j| a[i][j]).unwrap();
        let mut x = [3.0, 1e6 + 1.0 - 2e6, 4.0];
        lu.solve(&mut x);
        assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-14), "{x:?}");
        let exact = 0.0 * (1.0 + 0.0) - 2.0 * (1e6 + 6e6) + (0.0 - 3.0);
        assert!((lu.determinant() - exact).abs() < 1e-8 * exact.abs());
        assert!(lu.factor(2, |i, j| [[1.0, 2.0], [2.0, 4.0]][i][j]).is_err());
        assert!(lu.factor(1, |_, _| f64::NAN).is_err());
    }

    #[test]
    fn the_spectral_radius_is_that_of_the_eigenvalues() {
        let mut square = [0.0; 9];
        // Rotation by a right angle, twice as long; nilpotent; real pair 3 and -1.
        for (mut a, exact) in [([0.0, -2.0, 2.0, 0.0], 2.0), ([0.0, 5.0, 0.0, 0.0], 0.0), ([1.0, 2.0, 2.0, 1.0], 3.0)] {
            let radius = spectral_radius(2, &mut a, &mut square);
            assert!((radius - exact).abs() < 1e-6 * (1.0 + exact), "{radius} {exact}");
        }
    }
}
