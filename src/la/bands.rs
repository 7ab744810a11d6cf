//! Products with a symmetric matrix by its bands: entries at one distance from the diagonal, which masses and stiffnesses
//! of a line of nodes are made of.
//!
//! A product with a band is one of slices, without indices. Entries that fill no band are multiplied by rows.

use super::Processor;
use super::repeats::{earliest, repeating};
use super::rows::Rows;
use super::symmetric::{Pattern, Symmetric};
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Of an eighth of the rows on, a band is faster than its entries alone.
const FILLED: usize = 8;

/// Rows whose products are found together, so that they stay in the nearest cache.
pub const CHUNK: usize = 256;

/// A symmetric matrix, written for products.
pub struct Bands {
    n: usize,
    bands: Vec<Band>,
    /// Band of every distance from the diagonal, if there is one.
    place: Vec<Option<u32>>,
    /// All other entries.
    rest: Rows,
    reach: usize,
    /// Scratch: entries that are not zero at every distance.
    counts: Vec<usize>,
    arch: Processor,
}

/// Entries (i, i + distance).
struct Band {
    distance: usize,
    values: Vec<f64>,
    /// Whether there are few that are not zero; they are multiplied with the rest.
    sparse: bool,
    repeating: Range<usize>,
}

impl Band {
    #[inline(always)]
    fn part(&self, range: Range<usize>) -> &[f64] {
        earliest(&self.values, &self.repeating, range)
    }
}

impl Bands {
    /// The zero matrix of a pattern.
    pub fn new(pattern: &Pattern) -> Bands {
        let n = pattern.n;
        let mut counts = vec![0; n];
        for column in 0..n {
            let rows = &pattern.rows[pattern.starts[column] as usize..pattern.starts[column + 1] as usize];
            rows.iter().for_each(|&row| counts[column - row as usize] += 1);
        }
        let (mut bands, mut place) = (Vec::new(), vec![None; n]);
        for distance in (0..n).filter(|&distance| FILLED * counts[distance] >= n) {
            place[distance] = Some(bands.len() as u32);
            bands.push(Band { distance, values: vec![0.0; n - distance], sparse: true, repeating: 0..0 });
        }
        Bands { n, bands, place, rest: Rows::default(), reach: 0, counts, arch: Processor::new() }
    }

    /// All of a matrix.
    pub fn of(matrix: &Symmetric) -> Bands {
        let mut bands = Bands::new(&matrix.pattern);
        bands.take(matrix);
        bands
    }

    /// Becomes another matrix on the same pattern.
    pub fn take(&mut self, matrix: &Symmetric) {
        let (pattern, n) = (&matrix.pattern, self.n);
        self.counts.fill(0);
        for column in 0..n {
            for k in pattern.starts[column] as usize..pattern.starts[column + 1] as usize {
                let (row, value) = (pattern.rows[k] as usize, matrix.values[k]);
                self.counts[column - row] += usize::from(value != 0.0);
                if let Some(band) = self.place[column - row] {
                    self.bands[band as usize].values[row] = value;
                }
            }
        }
        self.reach = self.counts.iter().rposition(|&count| count > 0).unwrap_or(0);
        for band in &mut self.bands {
            band.sparse = FILLED * self.counts[band.distance] < n;
            band.repeating = repeating(&band.values);
        }
        self.rest.take(matrix, |distance| self.place[distance].is_none_or(|band| self.bands[band as usize].sparse));
    }

    /// How far from a row its entries are at most.
    pub fn reach(&self) -> usize {
        self.reach
    }

    /// y = A x.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        for (k, y) in y[..self.n].chunks_mut(CHUNK).enumerate() {
            self.rows_times(k * CHUNK..k * CHUNK + y.len(), [x], [y]);
        }
    }

    /// y = A x in these rows, of which there should be a [`CHUNK`] at most, for one vector or several at once; each `y` begins
    /// with the first of the rows.
    pub fn rows_times<const K: usize>(&self, rows: Range<usize>, x: [&[f64]; K], y: [&mut [f64]; K]) {
        let mut y = y.map(|y| &mut y[..rows.len()]);
        self.arch.dispatch(Product { bands: self, rows: rows.clone(), x: x.map(|x| &x[..self.n]), y: &mut y });
        for &row in self.rest.filled(rows.clone()) {
            for k in 0..K {
                y[k][row as usize - rows.start] += self.rest.times(row as usize, x[k]);
            }
        }
    }
}

/// Vectors of several bands.
type Slices<'a, S, const B: usize> = [&'a [<S as Simd>::f64s]; B];

/// The product with the bands.
struct Product<'a, 'b, const K: usize> {
    bands: &'a Bands,
    rows: Range<usize>,
    x: [&'a [f64]; K],
    y: &'a mut [&'b mut [f64]; K],
}

impl<const K: usize> WithSimd for Product<'_, '_, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (n, Range { start, end }) = (self.bands.n, self.rows.clone());
        let mut bands = self.bands.bands.iter().filter(|band| !band.sparse).peekable();
        match bands.next_if(|band| band.distance == 0) {
            Some(diagonal) => {
                let values = diagonal.part(start..end);
                for k in 0..K {
                    let (x, y) = (&self.x[k][start..end], &mut self.y[k][..end - start]);
                    (0..end - start).for_each(|i| y[i] = values[i] * x[i]);
                }
            }
            None => self.y.iter_mut().for_each(|y| y.fill(0.0)),
        }
        let mut waiting = None;
        for band in bands {
            let distance = band.distance;
            if start >= distance && end + distance <= n {
                // By twos, so that sums are read and written half as often.
                match waiting.take() {
                    Some(before) => self.add_both(simd, [before, band]),
                    None => waiting = Some(band),
                }
                continue;
            }
            if let Some(before) = waiting.take() {
                self.add_both(simd, [before]);
            }
            let stop = end.min(n - distance);
            let begin = start.max(distance).min(end);
            let before = begin.saturating_sub(distance)..end.saturating_sub(distance);
            let (first, after) = (band.part(before.clone()), band.part(start.min(stop)..stop));
            for k in 0..K {
                let (x, y) = (self.x[k], &mut *self.y[k]);
                add(&mut y[begin - start..], first, &x[before.clone()]);
                add(y, after, &x[(start + distance).min(n)..]);
            }
        }
        if let Some(before) = waiting {
            self.add_both(simd, [before]);
        }
    }
}

impl<const K: usize> Product<'_, '_, K> {
    /// Adds the entries of bands on both sides of the diagonal, where all rows have them.
    #[inline(always)]
    fn add_both<S: Simd, const B: usize>(&mut self, simd: S, bands: [&Band; B]) {
        let Range { start, end } = self.rows.clone();
        let length = (end - start) / S::F64_LANES;
        let (whole, none): (_, &[f64]) = (length * S::F64_LANES, &[]);
        let (mut before, mut after) = ([none; B], [none; B]);
        let (mut a, mut b): (Slices<S, B>, Slices<S, B>) = ([&[]; B], [&[]; B]);
        for s in 0..B {
            let distance = bands[s].distance;
            (before[s], after[s]) = (bands[s].part(start - distance..end - distance), bands[s].part(start..end));
            (a[s], b[s]) = (&S::as_simd_f64s(before[s]).0[..length], &S::as_simd_f64s(after[s]).0[..length]);
        }
        for k in 0..K {
            let (mut x, mut z): (Slices<S, B>, Slices<S, B>) = ([&[]; B], [&[]; B]);
            for s in 0..B {
                let distance = bands[s].distance;
                x[s] = &S::as_simd_f64s(&self.x[k][start - distance..end - distance]).0[..length];
                z[s] = &S::as_simd_f64s(&self.x[k][start + distance..end + distance]).0[..length];
            }
            let y = &mut S::as_mut_simd_f64s(self.y[k]).0[..length];
            for i in 0..length {
                let mut sum = y[i];
                for s in 0..B {
                    sum = simd.mul_add_e_f64s(b[s][i], z[s][i], simd.mul_add_e_f64s(a[s][i], x[s][i], sum));
                }
                y[i] = sum;
            }
            for i in whole..end - start {
                for s in 0..B {
                    let (back, ahead) = (start + i - bands[s].distance, start + i + bands[s].distance);
                    self.y[k][i] += before[s][i] * self.x[k][back] + after[s][i] * self.x[k][ahead];
                }
            }
        }
    }
}

/// y += a x, as far as `a` goes.
#[inline(always)]
fn add(y: &mut [f64], a: &[f64], x: &[f64]) {
    let n = a.len();
    let (y, x) = (&mut y[..n], &x[..n]);
    for i in 0..n {
        y[i] += a[i] * x[i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(i: usize) -> f64 {
        (i as f64 * 0.7).sin() + 0.1
    }

    #[test]
    fn products_are_those_of_the_sparse_matrix() {
        let line = |n: u32, reach: u32| (0..n.saturating_sub(reach)).map(move |i| vec![i, i + reach]);
        let patterns: [(usize, Vec<Vec<u32>>); 6] = [
            // Bands, with more than a chunk of rows and less; single entries far from them; the diagonal alone.
            (1000, line(1000, 1).chain(line(1000, 3)).collect()),
            (700, line(700, 3).chain(line(600, 290)).chain([vec![0, 699], vec![5, 400]]).collect()),
            (300, line(300, 299).chain(line(300, 40)).collect()),
            (8, vec![vec![0, 3], vec![1, 4], vec![2, 5, 0], vec![3, 6], vec![4, 7]]),
            (3, Vec::new()),
            (1, Vec::new()),
        ];
        // Entries that are all different, some of them zero; and such that repeat themselves, but for one column.
        let different = |k: usize, _: usize, _: usize| if k % 7 == 4 { 0.0 } else { wave(k) };
        let repeating = |_: usize, column: usize, distance: usize| {
            if column == 420 { 7.0 } else { wave(column % 3 + 5 * distance) }
        };
        let fillings: [&dyn Fn(usize, usize, usize) -> f64; 2] = [&different, &repeating];
        for ((n, cliques), value) in patterns.iter().flat_map(|pattern| fillings.map(|value| (pattern, value))) {
            let n = *n;
            let pattern = Pattern::from_cliques(n, cliques.iter().map(Vec::as_slice));
            let mut values = vec![0.0; pattern.len()];
            for column in 0..n {
                for k in pattern.starts[column] as usize..pattern.starts[column + 1] as usize {
                    values[k] = value(k, column, column - pattern.rows[k] as usize);
                }
            }
            let a = Symmetric { pattern: pattern.into(), values };
            let x: Vec<f64> = (0..n).map(wave).collect();
            let (mut y, mut z) = (vec![9.0; n], vec![0.0; n]);
            let bands = Bands::of(&a);
            bands.multiply(&x, &mut y);
            a.multiply(&x, &mut z);
            assert!(y.iter().zip(&z).all(|(y, z)| (y - z).abs() < 1e-14), "{n} rows");
            let some = (0..=n).map(|end| end.saturating_sub(40)..end);
            for rows in some.chain(std::iter::once(n / 3..n - n / 4)) {
                bands.rows_times(rows.clone(), [&x], [&mut y]);
                assert!(rows.clone().all(|i| (y[i - rows.start] - z[i]).abs() < 1e-14), "{rows:?} of {n}");
            }
        }
    }
}
