//! Axial bar, (T30): in one dimension, or a truss member in the plane with small rotations.

use super::Body;
use super::{Block, Element, ElementKind, Extent, Local, Resultants, Tangent, translations, two_node_mass};
use crate::nodes::Nodes;

pub(super) const KIND: ElementKind = ElementKind {
    name: "bar",
    summary: "axial bar in one dimension, or truss member in the plane (small rotations)",
    required: &["line|polyline|mesh", "material", "section"],
    optional: &["group", "mass_matrix", "damping", "displacement", "velocity", "spin", "spin_centre"],
    own: &[],
    extent: Extent::Line,
    turns: false,
    components: translations,
    build,
};

struct Bars {
    block: Block,
    dimension: usize,
    /// EA / L.
    stiffness: Vec<f64>,
    /// ρAL.
    mass: Vec<f64>,
    /// Unit vector from the first node to the second.
    direction: Vec<[f64; 2]>,
    lumped: bool,
    /// Damping per stiffness.
    viscosity: f64,
}

fn build(body: &Body, nodes: &Nodes) -> Box<dyn Element> {
    let dimension = nodes.dimension;
    let mut block = Block::new(nodes, body.lines.iter().map(|l| l.as_slice()), translations(dimension), 2);
    let p = &body.properties;
    block.damped = p.stiffness_damping != 0.0;
    block.floor = [p.axial, 0.0];
    let geometry = nodes.lines(&body.lines);
    Box::new(Bars {
        block,
        dimension,
        stiffness: geometry.iter().map(|(length, _)| p.axial / length).collect(),
        mass: geometry.iter().map(|(length, _)| p.line_mass * length).collect(),
        direction: geometry.iter().map(|&(_, direction)| direction).collect(),
        lumped: p.lumped,
        viscosity: p.stiffness_damping,
    })
}

impl Bars {
    /// Elongation from differences of displacement, so that a rigid translation leaves no digits behind.
    fn elongation(&self, e: usize, q: &[f64]) -> f64 {
        let d = self.block.element(e);
        let t = self.direction[e];
        if self.dimension == 1 {
            t[0] * (q[d[1] as usize] - q[d[0] as usize])
        } else {
            t[0] * (q[d[2] as usize] - q[d[0] as usize]) + t[1] * (q[d[3] as usize] - q[d[1] as usize])
        }
    }
}

impl Bars {
    /// Internal forces in one dimension. Bars mostly follow each other, and the force at the node between them stays in a
    /// register: to read again what was just written would take longer than all the rest.
    fn internal_along_line(&self, q: &[f64], f: &mut [f64]) -> f64 {
        let (mut twice_energy, mut own, mut at, mut place) = (0.0, 0.0, usize::MAX, 0.0);
        let constants = self.stiffness.iter().zip(&self.direction);
        for (&[from, to], (stiffness, [direction, _])) in self.block.dofs.as_chunks::<2>().0.iter().zip(constants) {
            let (from, to) = (from as usize, to as usize);
            if from != at {
                if let Some(f) = f.get_mut(at) {
                    *f = own;
                }
                (own, place) = (f[from], q[from]);
            }
            let end = q[to];
            let elongation = direction * (end - place);
            let force = stiffness * elongation;
            twice_energy += force * elongation;
            let component = force * direction;
            f[from] = own - component;
            (own, at, place) = (f[to] + component, to, end);
        }
        if let Some(f) = f.get_mut(at) {
            *f = own;
        }
        0.5 * twice_energy
    }
}

impl Element for Bars {
    fn block(&self) -> &Block {
        &self.block
    }

    fn mass(&self, e: usize) -> Local {
        two_node_mass(self.mass[e], self.dimension, self.lumped)
    }

    fn internal(&self, q: &[f64], f: &mut [f64]) -> f64 {
        if self.dimension == 1 {
            return self.internal_along_line(q, f);
        }
        let mut twice_energy = 0.0;
        for e in 0..self.block.len() {
            let elongation = self.elongation(e, q);
            let force = self.stiffness[e] * elongation;
            twice_energy += force * elongation;
            let d = self.block.element(e);
            for k in 0..self.dimension {
                let component = force * self.direction[e][k];
                f[d[k] as usize] -= component;
                f[d[self.dimension + k] as usize] += component;
            }
        }
        0.5 * twice_energy
    }

    fn tangent(&self, e: usize, _: &[f64]) -> Tangent {
        let n = self.dimension;
        let t = self.direction[e];
        let mut stiffness = Local::zeros();
        for i in 0..2 * n {
            for j in 0..2 * n {
                let sign = if (i < n) == (j < n) { 1.0 } else { -1.0 };
                stiffness[(i, j)] = sign * self.stiffness[e] * (t[i % n] * t[j % n]);
            }
        }
        Tangent { damping: stiffness * self.viscosity, stiffness }
    }

    fn resultants(&self, e: usize, q: &[f64]) -> Resultants {
        Resultants { axial: self.stiffness[e] * self.elongation(e, q), ..Default::default() }
    }
}
