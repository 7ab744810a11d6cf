//! Four numbers at once: the arithmetic of recurrences that run side by side, and the order in memory that suits them.
//!
//! A long line of unknowns is cut into four segments of equal length. The first unknowns of the segments lie side by
//! side in memory, then the second ones, and so on: neighbours of all four are then in the rows before and after, and a
//! recurrence along the line hides the latency of one segment behind the other three.

use super::Processor;
use std::ops::{Add, Mul, Sub};

/// Numbers in a row.
pub const LANES: usize = 4;

/// The same place of all segments.
pub type Row = [f64; LANES];

/// One number or a row of them, in the instructions `Set`. Products with sums are fused where the processor can.
pub trait Number: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// Token that the instructions exist.
    type Set: Copy;
    /// The same in memory.
    type Row: Copy;
    /// A number in all places.
    fn splat(set: Self::Set, x: f64) -> Self;
    /// From memory.
    fn load(set: Self::Set, row: &Self::Row) -> Self;
    /// To memory.
    fn store(self, row: &mut Self::Row);
    /// The same in memory.
    #[inline(always)]
    fn row(self) -> Self::Row
    where
        Self::Row: Default,
    {
        let mut row = Self::Row::default();
        self.store(&mut row);
        row
    }
    /// self·b + c.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// c − self·b.
    fn take_from(self, b: Self, c: Self) -> Self;
    /// The same number, or zero where it is below the last digit of `dust`.
    #[inline(always)]
    fn without(self, dust: Self) -> Self {
        (self + dust) - dust
    }
}

impl Number for f64 {
    type Set = ();
    type Row = f64;

    #[inline(always)]
    fn splat((): (), x: f64) -> f64 {
        x
    }

    #[inline(always)]
    fn load((): (), row: &f64) -> f64 {
        *row
    }

    #[inline(always)]
    fn store(self, row: &mut f64) {
        *row = self;
    }

    #[inline(always)]
    fn mul_add(self, b: f64, c: f64) -> f64 {
        // Not the method of the same name, which is slow where the processor has no such instruction.
        self * b + c
    }

    #[inline(always)]
    fn take_from(self, b: f64, c: f64) -> f64 {
        c - self * b
    }
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

impl Number for Plain {
    type Set = ();
    type Row = Row;

    #[inline(always)]
    fn splat((): (), x: f64) -> Plain {
        Plain([x; LANES])
    }

    #[inline(always)]
    fn load((): (), row: &Row) -> Plain {
        Plain(*row)
    }

    #[inline(always)]
    fn store(self, row: &mut Row) {
        *row = self.0;
    }

    #[inline(always)]
    fn mul_add(self, b: Plain, c: Plain) -> Plain {
        self * b + c
    }

    #[inline(always)]
    fn take_from(self, b: Plain, c: Plain) -> Plain {
        c - self * b
    }
}

impl Add for Plain {
    type Output = Plain;

    #[inline(always)]
    fn add(self, other: Plain) -> Plain {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for Plain {
    type Output = Plain;

    #[inline(always)]
    fn sub(self, other: Plain) -> Plain {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul for Plain {
    type Output = Plain;

    #[inline(always)]
    fn mul(self, other: Plain) -> Plain {
        self.zip(other, |a, b| a * b)
    }
}

/// A row in one register of AVX2, with fused multiply-add.
// The register itself, not four numbers: those the compiler may carry through a loop one by one.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Wide(pulp::x86::V3, std::arch::x86_64::__m256d);

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Add, Mul, Number, Row, Sub, Wide};
    use pulp::bytemuck::cast;
    use pulp::x86::V3;

    impl Number for Wide {
        type Set = V3;
        type Row = Row;

        #[inline(always)]
        fn splat(set: V3, x: f64) -> Wide {
            Wide(set, set.avx._mm256_set1_pd(x))
        }

        #[inline(always)]
        fn load(set: V3, row: &Row) -> Wide {
            Wide(set, cast(*row))
        }

        #[inline(always)]
        fn store(self, row: &mut Row) {
            *row = cast(self.1);
        }

        #[inline(always)]
        fn mul_add(self, b: Wide, c: Wide) -> Wide {
            Wide(self.0, self.0.fma._mm256_fmadd_pd(self.1, b.1, c.1))
        }

        #[inline(always)]
        fn take_from(self, b: Wide, c: Wide) -> Wide {
            Wide(self.0, self.0.fma._mm256_fnmadd_pd(self.1, b.1, c.1))
        }
    }

    impl Add for Wide {
        type Output = Wide;

        #[inline(always)]
        fn add(self, other: Wide) -> Wide {
            Wide(self.0, self.0.avx._mm256_add_pd(self.1, other.1))
        }
    }

    impl Sub for Wide {
        type Output = Wide;

        #[inline(always)]
        fn sub(self, other: Wide) -> Wide {
            Wide(self.0, self.0.avx._mm256_sub_pd(self.1, other.1))
        }
    }

    impl Mul for Wide {
        type Output = Wide;

        #[inline(always)]
        fn mul(self, other: Wide) -> Wide {
            Wide(self.0, self.0.avx._mm256_mul_pd(self.1, other.1))
        }
    }
}

/// Work that is written once for all instructions.
pub trait Task {
    /// What it gives.
    type Output;
    /// Does it; must be `#[inline(always)]`, so that it is compiled for the instructions.
    fn run<N: Number<Row = Row>>(self, set: N::Set) -> Self::Output;
}

/// A task as one for [`Processor::dispatch`].
#[cfg(target_arch = "x86_64")]
struct Inside<T>(pulp::x86::V3, T);

#[cfg(target_arch = "x86_64")]
impl<T: Task> pulp::WithSimd for Inside<T> {
    type Output = T::Output;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> T::Output {
        self.1.run::<Wide>(self.0)
    }
}

impl Processor {
    /// Does a task.
    #[inline(always)]
    pub fn run<T: Task>(self, task: T) -> T::Output {
        #[cfg(target_arch = "x86_64")]
        if let Some(set) = self.wide() {
            return self.dispatch_roomy(Inside(set, task));
        }
        task.run::<Plain>(())
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
        type Output = [Row; 5];

        #[inline(always)]
        fn run<N: Number<Row = Row>>(self, set: N::Set) -> [Row; 5] {
            let (a, b, c) = (N::load(set, &self.0), N::load(set, &self.1), N::splat(set, 3.0));
            [a + b, a - b, a * b, a.mul_add(b, c), a.take_from(b, c)].map(|x| {
                let mut row = [0.0; LANES];
                x.store(&mut row);
                row
            })
        }
    }

    #[test]
    fn all_instructions_compute_the_same() {
        let (a, b) = ([1.5, -2.0, 0.25, 7.0], [0.5, 3.0, -8.0, 1.0]);
        let one = |f: fn(f64, f64) -> f64| -> Row { std::array::from_fn(|k| f(a[k], b[k])) };
        let expected =
            [one(|a, b| a + b), one(|a, b| a - b), one(|a, b| a * b), one(|a, b| a * b + 3.0), one(|a, b| 3.0 - a * b)];
        let processor = Processor::new();
        assert_eq!(processor.run(Compute(a, b)), expected);
        assert_eq!(processor.cramped().run(Compute(a, b)), expected);
        assert_eq!(Compute(a, b).run::<Plain>(()), expected);
    }
}
