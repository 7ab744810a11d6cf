//! carom: impact of flexible structures.

pub mod case;
pub mod error;
pub mod mesh;

pub use error::{Error, Result};
