//! What of this processor the loops use: vectors of four numbers at most, so that results depend on whether multiplications
//! and additions are fused, and on nothing else.

use pulp::{Arch, WithSimd};

#[cfg(target_arch = "x86_64")]
use pulp::{
    Simd,
    x86::{V3, V4},
};

/// The best instructions of this processor.
#[derive(Clone, Copy, Debug)]
pub struct Processor(Set);

#[derive(Clone, Copy, Debug)]
enum Set {
    /// AVX-512 for its registers, of which there are twice as many; the vectors are those of AVX2, and so are the bits.
    #[cfg(target_arch = "x86_64")]
    Roomy(V4, V3),
    #[cfg(target_arch = "x86_64")]
    Wide(V3),
    Other(Arch),
}

/// Work in the vectors of AVX2, whatever it is called with.
#[cfg(target_arch = "x86_64")]
struct Narrow<T>(V3, T);

#[cfg(target_arch = "x86_64")]
impl<T: WithSimd> WithSimd for Narrow<T> {
    type Output = T::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> T::Output {
        self.1.with_simd(self.0)
    }
}

impl Default for Processor {
    fn default() -> Processor {
        Processor::new()
    }
}

impl Processor {
    /// Finds out what there is.
    pub fn new() -> Processor {
        #[cfg(target_arch = "x86_64")]
        match (V4::try_new(), V3::try_new()) {
            (Some(roomy), Some(wide)) => return Processor(Set::Roomy(roomy, wide)),
            (None, Some(wide)) => return Processor(Set::Wide(wide)),
            _ => {}
        }
        Processor(Set::Other(Arch::new()))
    }

    /// Does work with these instructions; it must be `#[inline(always)]`, so that it is compiled for them.
    #[inline(always)]
    pub fn dispatch<T: WithSimd>(self, task: T) -> T::Output {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Roomy(_, wide) | Set::Wide(wide) => Simd::vectorize(wide, task),
            Set::Other(arch) => arch.dispatch(task),
        }
    }

    /// Does work written with explicit vectors, with all registers that there are. Of plain loops the compiler would make longer vectors
    /// here, half of which lie across two lines of the cache.
    #[inline(always)]
    pub fn dispatch_roomy<T: WithSimd>(self, task: T) -> T::Output {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Roomy(roomy, wide) => Simd::vectorize(roomy, Narrow(wide, task)),
            _ => self.dispatch(task),
        }
    }

    /// Whether it has the vectors of AVX2.
    #[cfg(target_arch = "x86_64")]
    pub fn wide(self) -> Option<V3> {
        match self.0 {
            Set::Roomy(_, wide) | Set::Wide(wide) => Some(wide),
            Set::Other(_) => None,
        }
    }

    /// Whether rows of four are vectors here; elsewhere they are plain code.
    pub fn has_vectors(self) -> bool {
        !matches!(self.0, Set::Other(_))
    }

    /// This processor without the registers of AVX-512: for tests.
    #[cfg(test)]
    pub fn cramped(self) -> Processor {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Roomy(_, wide) => Processor(Set::Wide(wide)),
            _ => self,
        }
    }
}
