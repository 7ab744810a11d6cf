//! Natural frequencies and mode shapes about the initial state.

use crate::case::data::Encoding;
use crate::la::{Singular, Symmetric, lanczos};
use crate::model::{Component, Model};
use crate::sinks::vtk::{Array, Frame, Series};
use crate::system::System;
use crate::{Error, Result};
use std::path::Path;

/// One natural mode.
#[derive(Clone, Debug)]
pub struct Mode {
    /// Angular frequency; zero for a rigid-body mode, and for one about an unstable state, which grows instead of oscillating.
    pub omega: f64,
    /// Whether the mode moves the structure without straining it.
    pub rigid: bool,
    /// Shape over all degrees of freedom, largest translation (or rotation, if there is none) one.
    pub shape: Vec<f64>,
}

/// The `count` lowest modes of (T25), rigid-body modes included, lowest first. A nonlinear model is linearised at its initial
/// state.
pub fn lowest(system: &System, count: usize) -> Result<Vec<Mode>> {
    let mut stiffness = Symmetric::zeros(system.mass.pattern.clone());
    system.effective(&system.q0, 0.0, 0.0, 1.0, &mut stiffness);
    let free = system.nodes.free;
    let singular =
        |s: Singular| Error::Solver(format!("no modes: a matrix is singular near {}", system.describe(s.row)));
    let pairs = lanczos::lowest(&stiffness, &system.mass, free, count).map_err(singular)?;
    let mut modes: Vec<Mode> = pairs
        .into_iter()
        .map(|(_, vector)| {
            let mut shape = vec![0.0; system.nodes.total];
            shape[..free].copy_from_slice(&vector);
            // The shape is of unit mass, so its energy is its eigenvalue, (T25): its error is the square of that of the
            // shape, where the eigenvalue of the iteration carries the rounding of the largest stiffness.
            let strain = Strain::of(system, &shape);
            let omega = strain.energy.max(0.0).sqrt();
            let size = |rotation: bool| {
                (0..free)
                    .filter(|&i| system.nodes.is_rotation(i) == rotation)
                    .map(|i| shape[i].abs())
                    .fold(0.0, f64::max)
            };
            let scale = if size(false) > 0.0 { size(false) } else { size(true) };
            shape.iter_mut().for_each(|x| *x /= scale);
            let rigid = strain.is_rounding();
            Mode { omega: if rigid { 0.0 } else { omega }, rigid, shape }
        })
        .collect();
    modes.sort_by(|a, b| b.rigid.cmp(&a.rigid).then(a.omega.total_cmp(&b.omega)));
    Ok(modes)
}

/// Twice the strain energy of a motion, and the size of the products that cancel in it.
struct Strain {
    energy: f64,
    products: f64,
}

impl Strain {
    /// xᵀ K x about the initial state, element by element and from differences between the ends of each: what a motion of
    /// both ends alike would leave as rounding does not arise.
    fn of(system: &System, x: &[f64]) -> Strain {
        let mut strain = Strain { energy: 0.0, products: 0.0 };
        for element in &system.elements {
            let block = element.block();
            let half = block.per / block.nodes_per_element;
            for e in 0..block.len() {
                let (stiffness, dofs) = (element.tangent(e, &system.q0).stiffness, block.element(e));
                let value = |j: usize| x[dofs[j] as usize];
                let relative = |j: usize| match (system.nodes.is_rotation(dofs[j] as usize), j < half) {
                    (true, _) => value(j),
                    (false, true) => 0.0,
                    (false, false) => value(j) - value(j - half),
                };
                for i in 0..dofs.len() {
                    for j in 0..dofs.len() {
                        strain.energy += relative(i) * stiffness[(i, j)] * relative(j);
                        strain.products += (value(i) * stiffness[(i, j)] * value(j)).abs();
                    }
                }
            }
        }
        strain
    }

    /// Whether the motion lies in the null space of K as far as a stiffness matrix can tell: that of rigid motions is the
    /// square of rounding, that of the softest true mode one over the condition of the matrix.
    fn is_rounding(&self) -> bool {
        self.energy.abs() <= f64::EPSILON * self.products
    }
}

/// Writes the shapes as a ParaView series, one frame per mode; its "time" is the number of the mode.
pub fn write(dir: &Path, model: &Model, system: &System, modes: &[Mode]) -> Result<()> {
    let points: Vec<[f64; 3]> = model.places.iter().map(|place| [place[0], place[1], 0.0]).collect();
    let lines: Vec<[u32; 2]> =
        model.bodies.iter().flat_map(|body| body.lines.iter().map(|line| line.map(|node| node as u32))).collect();
    let vertices: Vec<u32> =
        model.bodies.iter().filter(|body| body.lines.is_empty()).map(|body| body.nodes.start as u32).collect();
    let mut series = Series::create(dir, Encoding::Raw)?;
    let mut displacement = vec![0.0; 3 * points.len()];
    let mut rotation = vec![0.0; points.len()];
    for (k, mode) in modes.iter().enumerate() {
        for node in 0..points.len() {
            let value = |c| system.nodes.find(node, c).map_or(0.0, |dof| mode.shape[dof]);
            displacement[3 * node] = value(Component::X);
            displacement[3 * node + 1] = value(Component::Y);
            rotation[node] = value(Component::Theta);
        }
        let frame = Frame {
            points: &points,
            lines: &lines,
            quads: &[],
            vertices: &vertices,
            point_data: &[
                Array { name: "displacement", components: 3, values: &displacement },
                Array { name: "rotation", components: 1, values: &rotation },
            ],
            cell_data: &[],
            field_data: &[("TimeValue", (k + 1) as f64), ("omega", mode.omega)],
        };
        series.push((k + 1) as f64, &frame)?;
    }
    series.place().map(|_| ())
}
