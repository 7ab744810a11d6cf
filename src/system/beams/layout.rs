//! Where the numbers of a chain are in lanes, and the way there and back.

use crate::la::Vector;
use pulp::{Simd, WithSimd};
use std::collections::HashMap;
use std::ops::Range;

/// Where the numbers of nodes are: rows and lanes.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub lanes: usize,
    pub rows: usize,
    /// Nodes of the chain, at most rows times lanes.
    pub nodes: usize,
}

impl Layout {
    /// Where the numbers of some rows are along the chain, lane by lane.
    pub fn ranges(self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> + Clone {
        let place = move |lane: usize, row: usize| 3 * (lane * self.rows + row).min(self.nodes);
        (0..self.lanes).map(move |lane| place(lane, rows.start)..place(lane, rows.end))
    }

    /// Kind of each of so many rows, and the numbers of the kinds.
    pub fn kinds<const N: usize>(self, rows: usize, value: impl Fn(usize) -> [f64; N]) -> (Vec<u32>, Vector) {
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
        (kinds, Vector::from(&numbers[..]))
    }
}

/// From numbers along the chain to some rows of lanes; zeros beyond its end. The row behind the last of a lane is the first
/// of the next.
pub(super) struct Interleave<'a> {
    pub layout: Layout,
    pub line: &'a [f64],
    pub first: usize,
    pub rows: &'a mut [f64],
}

impl WithSimd for Interleave<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (stride, first) = (3 * self.layout.rows, 3 * self.first);
        match self.layout.lanes {
            4 => interleave::<S, 4>(simd, self.line, stride, first, self.rows),
            _ => {
                let there = self.rows.len().min(self.line.len() - first);
                self.rows[..there].copy_from_slice(&self.line[first..][..there]);
                self.rows[there..].fill(0.0);
            }
        }
    }
}

#[inline(always)]
fn interleave<S: Simd, const K: usize>(simd: S, line: &[f64], stride: usize, first: usize, rows: &mut [f64])
where
    [S::f64s; K]: pulp::Interleave,
{
    let (count, zero) = (rows.len() / K, simd.splat_f64s(0.0));
    let whole = line.len().saturating_sub((K - 1) * stride + first).min(count);
    let even = whole - whole % K;
    let mut parts = [S::as_simd_f64s(line).0; K];
    for lane in 0..K {
        parts[lane] = &S::as_simd_f64s(&line[lane * stride + first..][..even]).0[..even / K];
    }
    let blocks = S::as_mut_simd_f64s(&mut rows[..even * K]).0.as_chunks_mut::<K>().0;
    for (t, block) in blocks[..even / K].iter_mut().enumerate() {
        let mut numbers = [zero; K];
        for lane in 0..K {
            numbers[lane] = parts[lane][t];
        }
        *block = simd.deinterleave_shfl_f64s(numbers);
    }
    for (t, row) in rows.as_chunks_mut::<K>().0.iter_mut().enumerate().skip(even) {
        for lane in 0..K {
            row[lane] = if lane + 1 < K || t < whole { line[lane * stride + first + t] } else { 0.0 };
        }
    }
}

/// From some rows of lanes to numbers along the chain: these are overwritten, or the others subtracted from them.
pub(super) struct Separate<'a, const SUBTRACT: bool> {
    pub layout: Layout,
    pub rows: &'a [f64],
    pub first: usize,
    pub line: &'a mut [f64],
}

impl<const SUBTRACT: bool> WithSimd for Separate<'_, SUBTRACT> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (stride, first) = (3 * self.layout.rows, 3 * self.first);
        match self.layout.lanes {
            4 => separate::<S, 4, SUBTRACT>(simd, self.rows, stride, first, self.line),
            _ => self.line[first..].iter_mut().zip(self.rows).for_each(|(x, y)| put::<SUBTRACT>(x, *y)),
        }
    }
}

#[inline(always)]
fn separate<S: Simd, const K: usize, const SUBTRACT: bool>(
    simd: S,
    rows: &[f64],
    stride: usize,
    first: usize,
    line: &mut [f64],
) where
    [S::f64s; K]: pulp::Interleave,
{
    let whole = line.len().saturating_sub((K - 1) * stride + first).min(rows.len() / K);
    let even = whole - whole % K;
    let blocks = S::as_simd_f64s(&rows[..even * K]).0.as_chunks::<K>().0;
    for (t, block) in blocks.iter().enumerate() {
        let numbers = simd.interleave_shfl_f64s(*block);
        for lane in 0..K {
            let x = &mut S::as_mut_simd_f64s(&mut line[lane * stride + first + t * K..][..K]).0[0];
            *x = if SUBTRACT { simd.sub_f64s(*x, numbers[lane]) } else { numbers[lane] };
        }
    }
    for (t, row) in rows.as_chunks::<K>().0.iter().enumerate().skip(even) {
        for lane in 0..if t < whole { K } else { K - 1 } {
            put::<SUBTRACT>(&mut line[lane * stride + first + t], row[lane]);
        }
    }
}

#[inline(always)]
fn put<const SUBTRACT: bool>(x: &mut f64, y: f64) {
    *x = if SUBTRACT { *x - y } else { y };
}
