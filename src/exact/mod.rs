//! Exact solutions of the shipped cases: what a run is measured against.
//!
//! Everything here is closed formulas of the continuous problems; nothing knows meshes, schemes or runs. Bars are
//! described by the coordinate x of a section, counted from the end that faces the wall; the wall is at position
//! zero. Where a velocity or a force jumps, the value after the jump is given.

mod bar;
mod bouncing;
mod point;
mod saint_venant;

pub use bar::{FreeBar, ImpactingBar};
pub use bouncing::BouncingBar;
pub use point::{BouncingBall, DrivenOscillator, ImpactingOscillator};
pub use saint_venant::SaintVenant;
