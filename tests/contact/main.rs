//! Contact between bodies, with friction, on curved and moving obstacles: solvers against enumeration, structures
//! against closed forms.

#[path = "../common/mod.rs"]
mod common;

mod bodies;
mod friction;
mod obstacles;
mod solvers;
