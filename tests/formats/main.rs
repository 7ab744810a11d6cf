//! What carom reads and writes: case files, Gmsh meshes, VTK frames.

#[path = "../common/mod.rs"]
mod common;

mod cases;
mod gmsh;
mod hostile;
mod vtk;
