//! Where the numbers of a chain are in lanes, and the way there and back.

use pulp::{Simd, WithSimd};
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

/// Numbers that begin with a line of the cache, so that no vector lies across two.
pub(super) struct Aligned {
    numbers: Vec<f64>,
    first: usize,
    count: usize,
}

impl Aligned {
    pub fn zeros(count: usize) -> Aligned {
        let numbers = vec![0.0; count + 7];
        // Where it cannot be told, any place will do.
        let first = numbers.as_ptr().align_offset(64).min(7);
        Aligned { numbers, first, count }
    }
}

impl Deref for Aligned {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.numbers[self.first..self.first + self.count]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.numbers[self.first..self.first + self.count]
    }
}

/// Where the numbers of nodes are: rows and lanes.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub lanes: usize,
    pub rows: usize,
}

impl Layout {
    /// Kind of each of so many rows, and the numbers of the kinds.
    pub fn kinds<const N: usize>(self, rows: usize, value: impl Fn(usize) -> [f64; N]) -> (Vec<u32>, Aligned) {
        let mut known = HashMap::new();
        let mut numbers = Vec::new();
        let mut kinds = Vec::with_capacity(rows);
        for row in 0..rows {
            let lanes: Vec<[f64; N]> = (0..self.lanes).map(|lane| value(lane * self.rows + row)).collect();
            let bits: Vec<u64> = lanes.as_flattened().iter().map(|x| x.to_bits()).collect();
            let next = known.len() as u32;
            kinds.push(*known.entry(bits).or_insert_with(|| {
                (0..N).for_each(|k| numbers.extend(lanes.iter().map(|lane| lane[k])));
                next
            }));
        }
        let mut array = Aligned::zeros(numbers.len());
        array.copy_from_slice(&numbers);
        (kinds, array)
    }
}

/// From numbers along the chain to lanes, the last of which may be shorter; a row more for the first nodes of the next
/// lanes.
pub(super) struct Interleave<'a> {
    pub lanes: usize,
    pub line: &'a [f64],
    pub rows: &'a mut [f64],
}

impl WithSimd for Interleave<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Interleave { lanes, line, rows } = self;
        match lanes {
            4 => interleave::<S, 4>(simd, line, rows),
            2 => interleave::<S, 2>(simd, line, rows),
            _ => rows[..line.len()].copy_from_slice(line),
        }
        let beyond = rows.len() - 3 * lanes;
        for k in 0..3 {
            for lane in 0..lanes {
                rows[beyond + k * lanes + lane] = if lane + 1 < lanes { rows[k * lanes + lane + 1] } else { 0.0 };
            }
        }
    }
}

#[inline(always)]
fn interleave<S: Simd, const K: usize>(simd: S, line: &[f64], rows: &mut [f64])
where
    [S::f64s; K]: pulp::Interleave,
{
    let (length, zero) = (rows.len() / K - 3, simd.splat_f64s(0.0));
    let last = line.len() - (K - 1) * length;
    let even = last - last % K;
    let mut parts = [S::as_simd_f64s(line).0; K];
    for lane in 0..K {
        parts[lane] = &S::as_simd_f64s(&line[lane * length..][..even]).0[..even / K];
    }
    let blocks = S::as_mut_simd_f64s(&mut rows[..even * K]).0.as_chunks_mut::<K>().0;
    for (t, block) in blocks[..even / K].iter_mut().enumerate() {
        let mut numbers = [zero; K];
        for lane in 0..K {
            numbers[lane] = parts[lane][t];
        }
        *block = simd.deinterleave_shfl_f64s(numbers);
    }
    for (t, row) in rows.as_chunks_mut::<K>().0[..length].iter_mut().enumerate().skip(even) {
        for lane in 0..K {
            row[lane] = if lane + 1 < K || t < last { line[lane * length + t] } else { 0.0 };
        }
    }
}

/// From lanes to numbers along the chain: these are overwritten, or the others subtracted from them.
pub(super) struct Separate<'a, const SUBTRACT: bool> {
    pub lanes: usize,
    pub rows: &'a [f64],
    pub line: &'a mut [f64],
}

impl<const SUBTRACT: bool> WithSimd for Separate<'_, SUBTRACT> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Separate { lanes, rows, line } = self;
        match lanes {
            4 => separate::<S, 4, SUBTRACT>(simd, rows, line),
            2 => separate::<S, 2, SUBTRACT>(simd, rows, line),
            _ => line.iter_mut().zip(rows).for_each(|(x, y)| put::<SUBTRACT>(x, *y)),
        }
    }
}

#[inline(always)]
fn separate<S: Simd, const K: usize, const SUBTRACT: bool>(simd: S, rows: &[f64], line: &mut [f64])
where
    [S::f64s; K]: pulp::Interleave,
{
    let length = rows.len() / K - 3;
    let last = line.len() - (K - 1) * length;
    let even = last - last % K;
    let blocks = S::as_simd_f64s(&rows[..even * K]).0.as_chunks::<K>().0;
    for (t, block) in blocks.iter().enumerate() {
        let numbers = simd.interleave_shfl_f64s(*block);
        for lane in 0..K {
            let x = &mut S::as_mut_simd_f64s(&mut line[lane * length + t * K..][..K]).0[0];
            *x = if SUBTRACT { simd.sub_f64s(*x, numbers[lane]) } else { numbers[lane] };
        }
    }
    for (t, row) in rows.as_chunks::<K>().0[..length].iter().enumerate().skip(even) {
        for lane in 0..if t < last { K } else { K - 1 } {
            put::<SUBTRACT>(&mut line[lane * length + t], row[lane]);
        }
    }
}

#[inline(always)]
fn put<const SUBTRACT: bool>(x: &mut f64, y: f64) {
    *x = if SUBTRACT { *x - y } else { y };
}
