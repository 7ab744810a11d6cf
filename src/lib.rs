//! carom: impact of flexible structures.

pub mod case;
pub mod error;

pub use error::{Error, Result};
