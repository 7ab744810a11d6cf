//! Spring and dashpot between two nodes, (T32).
//!
//! In one dimension the length is signed and the force affine; in the plane the spring turns with its nodes.

use super::Body;
use super::{Block, Element, ElementKind, Extent, Local, Resultants, Tangent, translations};
use crate::keys::{Kind, NON_NEGATIVE, optional};
use crate::nodes::Nodes;

pub(super) const KIND: ElementKind = ElementKind {
    name: "spring",
    summary: "spring and dashpot between two nodes; in the plane it turns with them",
    required: &["between", "stiffness"],
    optional: &["damping", "rest_length"],
    own: &[optional("damping", Kind::Number(NON_NEGATIVE), "Dashpot constant")],
    extent: Extent::Link,
    turns: true,
    components: translations,
    build,
};

struct Spring {
    block: Block,
    stiffness: f64,
    dashpot: f64,
    rest_length: f64,
    /// From the first node to the second in the reference configuration.
    reference: [f64; 2],
}

fn build(body: &Body, nodes: &Nodes) -> Box<dyn Element> {
    let [a, b] = body.lines[0];
    let mut block = Block::new(nodes, body.lines.iter().map(|l| l.as_slice()), translations(nodes.dimension), 2);
    let p = &body.properties;
    block.damped = p.dashpot != 0.0;
    block.linear = nodes.dimension == 1;
    let (from, to) = (nodes.place[a], nodes.place[b]);
    let length = (to[0] - from[0]).hypot(to[1] - from[1]).max(p.rest_length.abs());
    block.floor = [p.stiffness * length, 0.0];
    block.shortest = length;
    Box::new(Spring {
        block,
        stiffness: p.stiffness,
        dashpot: p.dashpot,
        rest_length: p.rest_length,
        reference: [to[0] - from[0], to[1] - from[1]],
    })
}

impl Spring {
    /// Elongation, unit vector and length.
    fn stretch(&self, q: &[f64]) -> (f64, [f64; 2], f64) {
        let d = self.block.element(0);
        let u = |k: usize| q[d[k] as usize];
        if self.block.per == 2 {
            let length = self.reference[0] + (u(1) - u(0));
            return (length - self.rest_length, [1.0, 0.0], length);
        }
        let x = [self.reference[0] + (u(2) - u(0)), self.reference[1] + (u(3) - u(1))];
        let length = x[0].hypot(x[1]);
        // A spring of no length has no direction: its force is zero or, with a rest length, undefined (NaN).
        let direction =
            if length == 0.0 && self.rest_length == 0.0 { [0.0; 2] } else { [x[0] / length, x[1] / length] };
        (length - self.rest_length, direction, length)
    }
}

impl Element for Spring {
    fn block(&self) -> &Block {
        &self.block
    }

    fn mass(&self, _: usize) -> Local {
        Local::zeros()
    }

    fn internal(&self, q: &[f64], f: &mut [f64]) -> f64 {
        let (elongation, t, _) = self.stretch(q);
        let force = self.stiffness * elongation;
        let d = self.block.element(0);
        let n = self.block.per / 2;
        for k in 0..n {
            f[d[k] as usize] -= force * t[k];
            f[d[n + k] as usize] += force * t[k];
        }
        0.5 * force * elongation
    }

    fn tangent(&self, _: usize, q: &[f64]) -> Tangent {
        let (elongation, t, length) = self.stretch(q);
        let n = self.block.per / 2;
        // Turning a spring under tension takes force: k e / l across, and k for a spring of zero rest length.
        let across = match (n, self.rest_length == 0.0) {
            (1, _) => 0.0,
            (_, true) => self.stiffness,
            _ => self.stiffness * elongation / length,
        };
        let (mut stiffness, mut damping) = (Local::zeros(), Local::zeros());
        for i in 0..2 * n {
            for j in 0..2 * n {
                let sign = if (i < n) == (j < n) { 1.0 } else { -1.0 };
                let along = t[i % n] * t[j % n];
                let unit = if i % n == j % n { 1.0 } else { 0.0 };
                stiffness[(i, j)] = sign * (self.stiffness * along + across * (unit - along));
                damping[(i, j)] = sign * self.dashpot * along;
            }
        }
        Tangent { stiffness, damping }
    }

    fn resultants(&self, _: usize, q: &[f64]) -> Resultants {
        Resultants { axial: self.stiffness * self.stretch(q).0, ..Default::default() }
    }
}
