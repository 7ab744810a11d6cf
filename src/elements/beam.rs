//! Geometrically exact beam of Reissner and Simo in the plane, (T35)–(T37): two nodes, one integration point, rotations
//! of any size. Its mass matrix is constant: in the plane there are no gyroscopic terms.

use super::{Block, Element, ElementKind, Local, Resultants, Tangent, gather, planar_beam};
use crate::model::{Body, Properties};
use crate::system::Nodes;

pub(super) const KIND: ElementKind = ElementKind {
    name: "beam",
    summary: "geometrically exact Timoshenko beam, rotations of any size",
    required: &["line|polyline|mesh", "material", "section"],
    optional: &[
        "group",
        "mass_matrix",
        "shear_correction",
        "damping",
        "displacement",
        "velocity",
        "spin",
        "spin_centre",
    ],
    components: planar_beam,
    build,
};

struct Beams {
    block: Block,
    properties: Properties,
    elements: Vec<Constants>,
}

/// Constants of one element.
struct Constants {
    length: f64,
    /// Direction from the first node to the second in the reference configuration.
    direction: [f64; 2],
    /// Stiffnesses against elongation, shear and curvature.
    stiffness: [f64; 3],
}

/// Strains of one element and the angle of its section.
struct Strains {
    values: [f64; 3],
    cosine: f64,
    sine: f64,
}

fn build(body: &Body, nodes: &Nodes) -> Box<dyn Element> {
    let mut block = Block::new(nodes, body.lines.iter().map(|l| l.as_slice()), planar_beam(2), 2);
    let p = body.properties;
    let elements: Vec<Constants> = body
        .lines
        .iter()
        .map(|&line| {
            let (length, direction) = nodes.line(line);
            // Residual bending flexibility: with it the linearisation is the exact linear element, (T37).
            let flexibility =
                1.0 / p.shear + if p.shear_correction { length * length / (12.0 * p.bending) } else { 0.0 };
            Constants { length, direction, stiffness: [p.axial, 1.0 / flexibility, p.bending] }
        })
        .collect();
    let longest = elements.iter().map(|e| e.length).fold(0.0, f64::max);
    block.linear = false;
    block.damped = p.stiffness_damping != 0.0;
    block.floor = [p.axial, p.axial * longest];
    block.shortest = elements.iter().map(|e| e.length).fold(f64::INFINITY, f64::min);
    Box::new(Beams { block, properties: p, elements })
}

impl Constants {
    /// (T35), written in the displacements and the turn of the section, so that strains do not come out as differences
    /// of numbers near one: what they lose to rounding is multiplied by EA.
    fn strains(&self, q: &[f64; 6]) -> Strains {
        let ([along, across], l) = (self.direction, self.length);
        let (x, y) = (q[3] - q[0], q[4] - q[1]);
        let (u, v) = (along * x + across * y, along * y - across * x);
        let (half_sine, half_cosine) = (0.25 * (q[2] + q[5])).sin_cos();
        let versine = 2.0 * half_sine * half_sine;
        let (sine, cosine) = (2.0 * half_sine * half_cosine, 1.0 - versine);
        let values = [(cosine * u + sine * v) / l - versine, (cosine * v - sine * u) / l - sine, (q[5] - q[2]) / l];
        Strains { values, cosine: along * cosine - across * sine, sine: across * cosine + along * sine }
    }

    /// Axial force, shear force, moment.
    fn stresses(&self, strains: &Strains) -> [f64; 3] {
        [0, 1, 2].map(|k| self.stiffness[k] * strains.values[k])
    }

    /// Derivatives of the strains with respect to (x1, y1, θ1, x2, y2, θ2), (T36).
    fn strain_rows(&self, strains: &Strains) -> [[f64; 6]; 3] {
        let l = self.length;
        let (c, s) = (strains.cosine / l, strains.sine / l);
        let (half_shear, half_stretch) = (0.5 * strains.values[1], 0.5 * (1.0 + strains.values[0]));
        [
            [-c, -s, half_shear, c, s, half_shear],
            [s, -c, -half_stretch, -s, c, -half_stretch],
            [0.0, 0.0, -1.0 / l, 0.0, 0.0, 1.0 / l],
        ]
    }
}

impl Element for Beams {
    fn block(&self) -> &Block {
        &self.block
    }

    fn mass(&self, e: usize) -> Local {
        let p = &self.properties;
        let length = self.elements[e].length;
        let (own, cross) = if p.lumped { (length / 2.0, 0.0) } else { (length / 3.0, length / 6.0) };
        let mut m = Local::zeros();
        for (k, density) in [p.line_mass, p.line_mass, p.line_inertia].into_iter().enumerate() {
            (m[(k, k)], m[(k + 3, k + 3)]) = (own * density, own * density);
            (m[(k, k + 3)], m[(k + 3, k)]) = (cross * density, cross * density);
        }
        m
    }

    fn internal(&self, q: &[f64], f: &mut [f64]) -> f64 {
        let mut energy = 0.0;
        for (e, element) in self.elements.iter().enumerate() {
            let dofs = self.block.element(e);
            let strains = element.strains(&gather(dofs, q));
            let [n, v, m] = element.stresses(&strains);
            let [stretch, shear, curvature] = strains.values;
            energy += 0.5 * element.length * (n * stretch + v * shear + m * curvature);
            let (fx, fy) = (strains.cosine * n - strains.sine * v, strains.sine * n + strains.cosine * v);
            let turn = 0.5 * element.length * (n * shear - v * (1.0 + stretch));
            for (dof, force) in dofs.iter().zip([-fx, -fy, turn - m, fx, fy, turn + m]) {
                f[*dof as usize] += force;
            }
        }
        energy
    }

    fn tangent(&self, e: usize, q: &[f64]) -> Tangent {
        let element = &self.elements[e];
        let strains = element.strains(&gather(self.block.element(e), q));
        let [n, v, _] = element.stresses(&strains);
        let rows = element.strain_rows(&strains);
        let material = Local::from_fn(|i, j| {
            (0..3).map(|k| element.length * element.stiffness[k] * rows[k][i] * rows[k][j]).sum()
        });
        let mut stiffness = material;
        // Geometric part: the strains are bilinear in places and trigonometric in rotations.
        let (c, s) = (strains.cosine, strains.sine);
        let places = [0, 1, 3, 4];
        let stretch = [s, -c, -s, c];
        let shear = [c, s, -c, -s];
        for (k, &i) in places.iter().enumerate() {
            let mixed = 0.5 * (n * stretch[k] + v * shear[k]);
            for rotation in [2, 5] {
                stiffness[(i, rotation)] += mixed;
                stiffness[(rotation, i)] += mixed;
            }
        }
        let turning = -0.25 * element.length * (n * (1.0 + strains.values[0]) + v * strains.values[1]);
        for i in [2, 5] {
            for j in [2, 5] {
                stiffness[(i, j)] += turning;
            }
        }
        // Damping acts on strain rates, so that a rigid spin is not braked, (T38).
        Tangent { damping: material * self.properties.stiffness_damping, stiffness }
    }

    fn resultants(&self, e: usize, q: &[f64]) -> Resultants {
        let element = &self.elements[e];
        let [axial, shear, moment] = element.stresses(&element.strains(&gather(self.block.element(e), q)));
        Resultants { axial, shear, moment }
    }
}
