//! carom: impact of flexible structures.
//!
//! Data flows one way: a case file becomes a [`case::Case`], that a [`model::Model`], that a
//! [`system::System`]; a [`step::Stepper`] makes steps on it.

pub mod advice;
pub mod case;
pub mod cases;
pub mod checkpoint;
pub mod cli;
pub mod contact;
pub mod directory;
pub mod elements;
pub mod error;
pub mod exact;
pub mod expect;
pub mod files;
pub mod la;
pub mod ledger;
pub mod march;
pub mod mesh;
pub mod model;
pub mod modes;
pub mod norms;
pub mod plot;
pub mod report;
pub mod run;
pub mod schemes;
pub mod sinks;
pub mod state;
pub mod statics;
pub mod step;
pub mod studies;
pub mod summary;
pub mod system;
pub mod table;

pub use error::{Error, Result};
