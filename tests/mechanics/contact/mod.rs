//! Contact between bodies, with friction, on curved and moving obstacles: solvers against enumeration, structures
//! against closed forms.

mod bodies;
mod coverage;
mod friction;
mod obstacles;
mod order;
mod passage;
mod polylines;
mod sides;
mod solvers;
