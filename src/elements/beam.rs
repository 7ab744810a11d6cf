//! Geometrically exact beam of Reissner and Simo in the plane, (T35)–(T37): two nodes, one integration point, rotations
//! of any size. Its mass matrix is constant: in the plane there are no gyroscopic terms.

use super::section::{Section, Stiffness, Strains};
use super::{Block, Element, ElementKind, Extent, Local, Resultants, Tangent, gather, planar_beam};
use super::{Body, Properties};
use crate::nodes::Nodes;

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
    own: &[],
    extent: Extent::Line,
    turns: true,
    components: planar_beam,
    build,
};

struct Beams {
    block: Block,
    properties: Properties,
}

fn build(body: &Body, nodes: &Nodes) -> Box<dyn Element> {
    let mut block = Block::new(nodes, body.lines.iter().map(|l| l.as_slice()), planar_beam(2), 2);
    let p = body.properties;
    let sections = nodes.lines(&body.lines).into_iter().map(|(length, direction)| {
        // Residual bending flexibility: with it the linearisation is the exact linear element, (T37).
        let flexibility = 1.0 / p.shear + if p.shear_correction { length * length / (12.0 * p.bending) } else { 0.0 };
        Section { length, per_length: 1.0 / length, direction, stiffness: [p.axial, 1.0 / flexibility, p.bending] }
    });
    block.sections = sections.collect();
    let lengths = || block.sections.iter().map(|section| section.length);
    (block.floor, block.shortest) =
        ([p.axial, p.axial * lengths().fold(0.0, f64::max)], lengths().fold(f64::INFINITY, f64::min));
    block.linear = false;
    block.rate = p.stiffness_damping;
    block.damped = p.stiffness_damping != 0.0;
    Box::new(Beams { block, properties: p })
}

impl Beams {
    fn strains(&self, e: usize, q: &[f64]) -> Strains<f64> {
        let [x1, y1, t1, x2, y2, t2] = gather(self.block.element(e), q);
        self.block.sections[e].strains(&[x1, y1, t1], &[x2, y2, t2])
    }
}

impl Element for Beams {
    fn block(&self) -> &Block {
        &self.block
    }

    fn mass(&self, e: usize) -> Local {
        let p = &self.properties;
        let length = self.block.sections[e].length;
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
        for (e, section) in self.block.sections.iter().enumerate() {
            let (own, forces) = section.forces(&self.strains(e, q));
            energy += own;
            for (dof, force) in self.block.element(e).iter().zip(forces.as_flattened()) {
                f[*dof as usize] += force;
            }
        }
        energy
    }

    fn tangent(&self, e: usize, q: &[f64]) -> Tangent {
        let (section, strains) = (&self.block.sections[e], self.strains(e, q));
        // Damping acts on strain rates, so that a rigid spin is not braked, (T38).
        let rate = self.properties.stiffness_damping;
        let [stretch, slip, _] = strains.values;
        let tangent = |material: f64, geometric: f64| {
            local(&section.rigidity(material, geometric).tangent([stretch, slip], strains.angle))
        };
        Tangent { stiffness: tangent(1.0, 1.0), damping: if rate == 0.0 { Local::zeros() } else { tangent(rate, 0.0) } }
    }

    fn resultants(&self, e: usize, q: &[f64]) -> Resultants {
        let [axial, shear, moment] = self.block.sections[e].stresses(&self.strains(e, q));
        Resultants { axial, shear, moment }
    }
}

fn local(stiffness: &Stiffness<f64>) -> Local {
    let Stiffness { places: [xx, xy, yy], mixed: [x, y], own, cross } = *stiffness;
    Local::from_row_slice(
        [
            [xx, xy, -x, -xx, -xy, -x],
            [xy, yy, -y, -xy, -yy, -y],
            [-x, -y, own, x, y, cross],
            [-xx, -xy, x, xx, xy, x],
            [-xy, -yy, y, xy, yy, y],
            [-x, -y, cross, x, y, own],
        ]
        .as_flattened(),
    )
}
