//! carom: impact of flexible structures.

pub mod case;
pub mod elements;
pub mod error;
pub mod schemes;

pub use error::{Error, Result};
