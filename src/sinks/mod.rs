//! What a run leaves behind: each sink turns committed states into files of one kind.
//!
//! A sink sees plain arrays and numbers. It must not know schemes, elements or contact laws, and nothing that it does
//! may change the run.

pub mod vtk;
