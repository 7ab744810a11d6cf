//! Vectors of a state, laid out for rows of four.

use aligned_vec::{AVec, avec};
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// Numbers that begin where a cache line does, so that none of their rows lies across two lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vector(AVec<f64>);

impl Vector {
    /// So many zeros.
    pub fn zeros(n: usize) -> Vector {
        Vector(avec![0.0; n])
    }
}

impl Default for Vector {
    fn default() -> Vector {
        Vector::zeros(0)
    }
}

impl From<&[f64]> for Vector {
    fn from(numbers: &[f64]) -> Vector {
        Vector(AVec::from_slice(0, numbers))
    }
}

impl Deref for Vector {
    type Target = [f64];

    #[inline(always)]
    fn deref(&self) -> &[f64] {
        &self.0
    }
}

impl DerefMut for Vector {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.0
    }
}
