//! From text to a checked [`Case`].

pub mod data;

pub use data::Case;
