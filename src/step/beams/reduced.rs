//! The equations of the separators, which are left when all other nodes of the stretches are eliminated: block
//! tridiagonal, with as many blocks as there are lanes.

use crate::la::small::{
    Full, Pivot, backward, forward, halves, minus_columns, minus_product, minus_rows, pivot, scale,
};

/// Factor of the separators' equations.
pub(super) struct Reduced {
    pivots: Vec<Pivot<f64>>,
    /// Multipliers of a separator in the equations of the next.
    lower: Vec<Full<f64>>,
}

impl Reduced {
    /// For so many lanes.
    pub fn new(lanes: usize) -> Reduced {
        Reduced { pivots: vec![[0.0; 6]; lanes], lower: vec![[[0.0; 3]; 3]; lanes] }
    }

    /// From the separators' own blocks in the first row, what the stretches before add to them in the last one, and the
    /// couplings with the next; `false` if singular. Eliminates in `x` on the way.
    #[inline(never)]
    pub fn factor(&mut self, blocks: &[f64], coupling: &[f64], x: &mut [f64]) -> bool {
        let lanes = self.pivots.len();
        let next = &blocks[blocks.len() - 6 * lanes..];
        let (mut regular, mut change, mut y) = (true, [0.0; 6], [0.0; 3]);
        for lane in 0..lanes {
            let mut block = change;
            for k in 0..6 {
                block[k] += blocks[k * lanes + lane];
                if lane > 0 {
                    block[k] += next[k * lanes + lane - 1];
                }
            }
            let (eliminated, loss) = pivot(&block);
            regular &= loss < 1.0 && eliminated.iter().all(|x| x.is_finite());
            self.pivots[lane] = eliminated;
            y = self.eliminate_one(lane, y, x);
            let mut coupled = [[0.0; 3]; 3];
            for i in 0..3 {
                for j in 0..3 {
                    coupled[i][j] = coupling[(3 * i + j) * lanes + lane];
                }
            }
            let (half, multiplier) = halves(&coupled, &eliminated);
            change = minus_product(&[0.0; 6], &multiplier, &half);
            self.lower[lane] = multiplier;
        }
        regular
    }

    /// Eliminates in the separators of `x`, in its first row, with what the stretches before leave for them in the last.
    #[inline(never)]
    pub fn eliminate(&self, x: &mut [f64]) {
        (0..self.pivots.len()).fold([0.0; 3], |y, lane| self.eliminate_one(lane, y, x));
    }

    /// One of them, from what the one before left.
    #[inline(always)]
    fn eliminate_one(&self, lane: usize, before: [f64; 3], x: &mut [f64]) -> [f64; 3] {
        let (lanes, beyond) = (self.pivots.len(), x.len() - 3 * self.pivots.len());
        let mut y = at(x, 0, lane, lanes);
        if lane > 0 {
            let left = at(x, beyond, lane - 1, lanes);
            y = minus_rows(&[y[0] + left[0], y[1] + left[1], y[2] + left[2]], &self.lower[lane - 1], &before);
        }
        let y = forward(&self.pivots[lane], &y);
        put(x, 0, lane, lanes, scale(&self.pivots[lane], &y));
        y
    }

    /// The separators from what elimination left; the last row is overwritten with those of the next stretches.
    #[inline(never)]
    pub fn substitute(&self, x: &mut [f64]) {
        let (lanes, beyond) = (self.pivots.len(), x.len() - 3 * self.pivots.len());
        let mut next = [0.0; 3];
        for lane in (0..lanes).rev() {
            put(x, beyond, lane, lanes, next);
            let own = minus_columns(&at(x, 0, lane, lanes), &self.lower[lane], &next);
            next = backward(&self.pivots[lane], &own);
            put(x, 0, lane, lanes, next);
        }
    }
}

#[inline(always)]
fn at(x: &[f64], first: usize, lane: usize, lanes: usize) -> [f64; 3] {
    [x[first + lane], x[first + lanes + lane], x[first + 2 * lanes + lane]]
}

#[inline(always)]
fn put(x: &mut [f64], first: usize, lane: usize, lanes: usize, [a, b, c]: [f64; 3]) {
    (x[first + lane], x[first + lanes + lane], x[first + 2 * lanes + lane]) = (a, b, c);
}
