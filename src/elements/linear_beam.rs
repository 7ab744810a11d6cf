//! Linear Timoshenko beam, (T33)–(T34): exact for constant shear, small rotations, any orientation in the plane.
//!
//! Forces come from three natural strains (elongation, curvature, rotation against the chord), so that a rigid motion
//! leaves no digits behind and a slender beam does not lock.

use super::{Block, Element, ElementKind, Local, Resultants, Tangent, gather, in_plane_frame, planar_beam};
use crate::model::{Body, Properties};
use crate::system::Nodes;
use nalgebra::SVector;

pub(super) const KIND: ElementKind = ElementKind {
    name: "linear-beam",
    summary: "Timoshenko beam for small rotations, exact shear-flexible element",
    required: &["line|polyline|mesh", "material", "section"],
    optional: &["group", "mass_matrix", "damping", "displacement", "velocity", "spin", "spin_centre"],
    components: planar_beam,
    build,
};

struct LinearBeams {
    block: Block,
    properties: Properties,
    /// Length and unit vector of every element.
    geometry: Vec<(f64, [f64; 2])>,
}

fn build(body: &Body, nodes: &Nodes) -> Box<dyn Element> {
    let mut block = Block::new(nodes, body.lines.iter().map(|l| l.as_slice()), planar_beam(2), 2);
    let geometry: Vec<_> = body.lines.iter().map(|&line| nodes.line(line)).collect();
    let p = body.properties;
    let longest = geometry.iter().map(|(length, _)| *length).fold(0.0, f64::max);
    block.damped = p.stiffness_damping != 0.0;
    block.floor = [p.axial, p.axial * longest];
    Box::new(LinearBeams { block, properties: p, geometry })
}

impl LinearBeams {
    /// Stiffnesses against elongation, curvature and rotation against the chord.
    fn stiffnesses(&self, e: usize) -> [f64; 3] {
        let (length, _) = self.geometry[e];
        let p = &self.properties;
        let phi = 12.0 * p.bending / (p.shear * length * length);
        [p.axial / length, p.bending / length, 12.0 * p.bending / ((1.0 + phi) * length)]
    }

    /// Rows that take (x1, y1, θ1, x2, y2, θ2) to the natural strains, (T33).
    fn strain_rows(&self, e: usize) -> [[f64; 6]; 3] {
        let (length, [c, s]) = self.geometry[e];
        [
            [-c, -s, 0.0, c, s, 0.0],
            [0.0, 0.0, -1.0, 0.0, 0.0, 1.0],
            [-s / length, c / length, 0.5, s / length, -c / length, 0.5],
        ]
    }

    /// Natural strains from differences of displacement.
    fn strains(&self, e: usize, q: &[f64; 6]) -> [f64; 3] {
        let (length, [c, s]) = self.geometry[e];
        let (dx, dy) = (q[3] - q[0], q[4] - q[1]);
        [c * dx + s * dy, q[5] - q[2], 0.5 * (q[2] + q[5]) - (c * dy - s * dx) / length]
    }
}

impl Element for LinearBeams {
    fn block(&self) -> &Block {
        &self.block
    }

    fn mass(&self, e: usize) -> Local {
        let (length, direction) = self.geometry[e];
        let p = &self.properties;
        if p.lumped {
            let translation = p.line_mass * length / 2.0;
            let rotation = p.line_inertia * length / 2.0;
            let diagonal = [translation, translation, rotation, translation, translation, rotation];
            return Local::from_diagonal(&SVector::from(diagonal));
        }
        let phi = 12.0 * p.bending / (p.shear * length * length);
        let frame = in_plane_frame(direction);
        frame.transpose() * consistent_mass(p, length, phi) * frame
    }

    fn internal(&self, q: &[f64], f: &mut [f64]) -> f64 {
        let mut twice_energy = 0.0;
        for e in 0..self.block.len() {
            let dofs = self.block.element(e);
            let strains = self.strains(e, &gather(dofs, q));
            let (stiffnesses, rows) = (self.stiffnesses(e), self.strain_rows(e));
            for k in 0..3 {
                let stress = stiffnesses[k] * strains[k];
                twice_energy += stress * strains[k];
                for i in 0..6 {
                    f[dofs[i] as usize] += stress * rows[k][i];
                }
            }
        }
        0.5 * twice_energy
    }

    fn tangent(&self, e: usize, _: &[f64]) -> Tangent {
        let (stiffnesses, rows) = (self.stiffnesses(e), self.strain_rows(e));
        let stiffness = Local::from_fn(|i, j| (0..3).map(|k| stiffnesses[k] * rows[k][i] * rows[k][j]).sum());
        Tangent { damping: stiffness * self.properties.stiffness_damping, stiffness }
    }

    fn resultants(&self, e: usize, q: &[f64]) -> Resultants {
        let (length, _) = self.geometry[e];
        let strains = self.strains(e, &gather(self.block.element(e), q));
        let k = self.stiffnesses(e);
        Resultants { axial: k[0] * strains[0], moment: k[1] * strains[1], shear: -k[2] * strains[2] / length }
    }
}

/// Consistent mass of the exact shear-flexible shapes with rotary inertia, in the element's own axes, (T34).
fn consistent_mass(p: &Properties, length: f64, phi: f64) -> Local {
    let scale = 1.0 / ((1.0 + phi) * (1.0 + phi));
    let t = p.line_mass * length * scale;
    let r = p.line_inertia / length * scale;
    let phi2 = phi * phi;
    let m1 = 13.0 / 35.0 + 7.0 * phi / 10.0 + phi2 / 3.0;
    let m2 = 9.0 / 70.0 + 3.0 * phi / 10.0 + phi2 / 6.0;
    let m3 = (11.0 / 210.0 + 11.0 * phi / 120.0 + phi2 / 24.0) * length;
    let m4 = (13.0 / 420.0 + 3.0 * phi / 40.0 + phi2 / 24.0) * length;
    let m5 = (1.0 / 105.0 + phi / 60.0 + phi2 / 120.0) * length * length;
    let m6 = (1.0 / 140.0 + phi / 60.0 + phi2 / 120.0) * length * length;
    let r1 = 6.0 / 5.0;
    let r2 = (1.0 / 10.0 - phi / 2.0) * length;
    let r3 = (2.0 / 15.0 + phi / 6.0 + phi2 / 3.0) * length * length;
    let r4 = (-1.0 / 30.0 - phi / 6.0 + phi2 / 6.0) * length * length;
    let bending = [
        [t * m1 + r * r1, t * m3 + r * r2, t * m2 - r * r1, -t * m4 + r * r2],
        [t * m3 + r * r2, t * m5 + r * r3, t * m4 - r * r2, -t * m6 + r * r4],
        [t * m2 - r * r1, t * m4 - r * r2, t * m1 + r * r1, -t * m3 - r * r2],
        [-t * m4 + r * r2, -t * m6 + r * r4, -t * m3 - r * r2, t * m5 + r * r3],
    ];
    let mut m = Local::zeros();
    let places = [1, 2, 4, 5];
    for i in 0..4 {
        for j in 0..4 {
            m[(places[i], places[j])] = bending[i][j];
        }
    }
    let axial = p.line_mass * length / 6.0;
    (m[(0, 0)], m[(3, 3)], m[(0, 3)], m[(3, 0)]) = (2.0 * axial, 2.0 * axial, axial, axial);
    m
}
