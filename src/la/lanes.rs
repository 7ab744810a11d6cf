//! Four numbers at once: the arithmetic of recurrences that run side by side, and the order in memory that suits them.
//!
//! A long line of unknowns is cut into four segments of equal length. The first unknowns of the segments lie side by
//! side in memory, then the second ones, and so on: neighbours of all four are then in the rows before and after, and a
//! recurrence along the line hides the latency of one segment behind the other three.

use super::Processor;
use super::number::Number;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Numbers in a row.
pub const LANES: usize = 4;

/// One number of every segment, at the same place of each.
pub type Row = [f64; LANES];

/// Operators of a row, from what they make of two.
macro_rules! operators {
    ($type:ident, $($operator:ident $name:ident($x:ident, $y:ident) = $result:expr),*) => {
        $(impl $operator for $type {
            type Output = $type;

            #[inline(always)]
            fn $name(self, other: $type) -> $type {
                let ($x, $y) = (self, other);
                $result
            }
        })*
    };
}

/// What rows of all instructions share: how they lie in memory, and what is found from single places.
macro_rules! shared {
    () => {
        type Row = Row;
        const LANES: usize = LANES;

        #[inline(always)]
        fn rows(x: &[f64]) -> &[Row] {
            x.as_chunks().0
        }

        #[inline(always)]
        fn rows_mut(x: &mut [f64]) -> &mut [Row] {
            x.as_chunks_mut().0
        }

        #[inline(always)]
        fn sum(self) -> f64 {
            let [a, b, c, d] = self.row();
            (a + c) + (b + d)
        }

        #[inline(always)]
        fn most(self) -> f64 {
            let [a, b, c, d] = self.row();
            a.larger(c).larger(b.larger(d))
        }
    };
}

/// A row in plain code, for processors of which nothing is known.
#[derive(Clone, Copy)]
pub struct Plain(Row);

impl Plain {
    #[inline(always)]
    fn zip(self, other: Plain, f: impl Fn(f64, f64) -> f64) -> Plain {
        Plain(std::array::from_fn(|k| f(self.0[k], other.0[k])))
    }
}

operators!(
    Plain,
    Add add(x, y) = x.zip(y, |a, b| a + b),
    Sub sub(x, y) = x.zip(y, |a, b| a - b),
    Mul mul(x, y) = x.zip(y, |a, b| a * b),
    Div div(x, y) = x.zip(y, |a, b| a / b)
);

impl Neg for Plain {
    type Output = Plain;

    #[inline(always)]
    fn neg(self) -> Plain {
        Plain(self.0.map(|x| -x))
    }
}

impl Number for Plain {
    type Set = ();
    shared!();

    #[inline(always)]
    fn splat((): (), x: f64) -> Plain {
        Plain([x; LANES])
    }

    #[inline(always)]
    fn load((): (), row: &Row) -> Plain {
        Plain(*row)
    }

    #[inline(always)]
    fn row(self) -> Row {
        self.0
    }

    #[inline(always)]
    fn like(self, x: f64) -> Plain {
        Plain([x; LANES])
    }

    #[inline(always)]
    fn mul_add(self, b: Plain, c: Plain) -> Plain {
        self * b + c
    }

    #[inline(always)]
    fn take_from(self, b: Plain, c: Plain) -> Plain {
        c - self * b
    }

    #[inline(always)]
    fn size(self) -> Plain {
        Plain(self.0.map(f64::abs))
    }

    #[inline(always)]
    fn larger(self, other: Plain) -> Plain {
        self.zip(other, |a, b| a.larger(b))
    }
}

/// A row in one register of AVX2, with fused multiply-add.
// The register itself, not four numbers: those the compiler may carry through a loop one by one.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Wide(pulp::x86::V3, std::arch::x86_64::__m256d);

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::*;
    use pulp::bytemuck::cast;
    use pulp::x86::V3;

    operators!(
        Wide,
        Add add(x, y) = Wide(x.0, x.0.avx._mm256_add_pd(x.1, y.1)),
        Sub sub(x, y) = Wide(x.0, x.0.avx._mm256_sub_pd(x.1, y.1)),
        Mul mul(x, y) = Wide(x.0, x.0.avx._mm256_mul_pd(x.1, y.1)),
        Div div(x, y) = Wide(x.0, x.0.avx._mm256_div_pd(x.1, y.1))
    );

    impl Neg for Wide {
        type Output = Wide;

        #[inline(always)]
        fn neg(self) -> Wide {
            Wide(self.0, self.0.avx._mm256_xor_pd(self.1, self.like(-0.0).1))
        }
    }

    impl Number for Wide {
        type Set = V3;
        shared!();

        #[inline(always)]
        fn splat(set: V3, x: f64) -> Wide {
            Wide(set, set.avx._mm256_set1_pd(x))
        }

        #[inline(always)]
        fn load(set: V3, row: &Row) -> Wide {
            Wide(set, cast(*row))
        }

        #[inline(always)]
        fn row(self) -> Row {
            cast(self.1)
        }

        #[inline(always)]
        fn like(self, x: f64) -> Wide {
            Wide::splat(self.0, x)
        }

        #[inline(always)]
        fn mul_add(self, b: Wide, c: Wide) -> Wide {
            Wide(self.0, self.0.fma._mm256_fmadd_pd(self.1, b.1, c.1))
        }

        #[inline(always)]
        fn take_from(self, b: Wide, c: Wide) -> Wide {
            Wide(self.0, self.0.fma._mm256_fnmadd_pd(self.1, b.1, c.1))
        }

        #[inline(always)]
        fn size(self) -> Wide {
            Wide(self.0, self.0.avx._mm256_andnot_pd(self.like(-0.0).1, self.1))
        }

        #[inline(always)]
        fn larger(self, other: Wide) -> Wide {
            Wide(self.0, self.0.avx._mm256_max_pd(self.1, other.1))
        }
    }
}

/// Work that is written once for all instructions: on rows of four or, as `Task<f64>`, on single numbers.
pub trait Task<R = Row> {
    /// What it gives.
    type Output;
    /// Does it; must be `#[inline(always)]`, so that it is compiled for the instructions.
    fn run<N: Number<Row = R>>(self, set: N::Set) -> Self::Output;
}

/// A task in rows as one for [`Processor::dispatch_roomy`].
#[cfg(target_arch = "x86_64")]
struct InRows<T>(pulp::x86::V3, T);

#[cfg(target_arch = "x86_64")]
impl<T: Task> pulp::WithSimd for InRows<T> {
    type Output = T::Output;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> T::Output {
        self.1.run::<Wide>(self.0)
    }
}

/// A task number by number as one for [`Processor::dispatch`].
struct OneByOne<T>(T);

impl<T: Task<f64>> pulp::WithSimd for OneByOne<T> {
    type Output = T::Output;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> T::Output {
        self.0.run::<f64>(())
    }
}

impl Processor {
    /// Does a task in rows of four.
    #[inline(always)]
    pub fn run<T: Task>(self, task: T) -> T::Output {
        #[cfg(target_arch = "x86_64")]
        if let Some(set) = self.wide() {
            return self.dispatch_roomy(InRows(set, task));
        }
        task.run::<Plain>(())
    }

    /// Does a task number by number, with the instructions of this processor but the bits of any.
    #[inline(always)]
    pub fn run_one_by_one<T: Task<f64>>(self, task: T) -> T::Output {
        self.dispatch(OneByOne(task))
    }
}

/// The order in memory: unknown i of the line is in row i mod R of lane i / R. Up to three at the end stay behind all
/// rows, in their own order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weave {
    /// Number of rows R.
    pub rows: usize,
}

impl Weave {
    /// For a line of n unknowns.
    pub fn of(n: usize) -> Weave {
        Weave { rows: n / LANES }
    }

    /// Place in memory of unknown i of the line.
    pub fn place(self, i: usize) -> usize {
        if i < LANES * self.rows { LANES * (i % self.rows) + i / self.rows } else { i }
    }

    /// Unknown of the line at a place in memory.
    pub fn unknown(self, place: usize) -> usize {
        if place < LANES * self.rows { place % LANES * self.rows + place / LANES } else { place }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_a_permutation() {
        for n in [4, 32, 33, 34, 35, 1001] {
            let weave = Weave::of(n);
            let mut seen = vec![false; n];
            for i in 0..n {
                assert_eq!(weave.unknown(weave.place(i)), i);
                seen[weave.place(i)] = true;
            }
            assert!(seen.iter().all(|&seen| seen));
        }
    }

    struct Compute(Row, Row);

    impl Task for Compute {
        type Output = [Row; 9];

        #[inline(always)]
        fn run<N: Number<Row = Row>>(self, set: N::Set) -> [Row; 9] {
            let (a, b, c) = (N::load(set, &self.0), N::load(set, &self.1), N::splat(set, 3.0));
            [a + b, a - b, a * b, a / b, -a, a.mul_add(b, c), a.take_from(b, c), a.size(), a.larger(b)].map(N::row)
        }
    }

    #[test]
    fn all_instructions_compute_the_same() {
        let (a, b) = ([1.5, -2.0, 0.25, 7.0], [0.5, 3.0, -8.0, 1.0]);
        let one = |f: fn(f64, f64) -> f64| -> Row { std::array::from_fn(|k| f(a[k], b[k])) };
        let expected = [
            one(|a, b| a + b),
            one(|a, b| a - b),
            one(|a, b| a * b),
            one(|a, b| a / b),
            one(|a, _| -a),
            one(|a, b| a * b + 3.0),
            one(|a, b| 3.0 - a * b),
            one(|a, _| a.abs()),
            one(|a, b| if a > b { a } else { b }),
        ];
        let processor = Processor::new();
        assert_eq!(processor.run(Compute(a, b)), expected);
        assert_eq!(processor.cramped().run(Compute(a, b)), expected);
        assert_eq!(Compute(a, b).run::<Plain>(()), expected);
    }
}
