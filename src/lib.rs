//! carom: impact of flexible structures.

pub mod case;
pub mod error;
pub mod files;
pub mod sinks;

pub use error::{Error, Result};
