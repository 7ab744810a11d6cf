//! Point mass.

use super::Body;
use super::{Block, Element, ElementKind, Extent, Local, Resultants, Tangent, translations};
use crate::nodes::Nodes;

pub(super) const KIND: ElementKind = ElementKind {
    name: "mass",
    summary: "point mass",
    required: &["at", "mass"],
    optional: &["displacement", "velocity"],
    own: &[],
    extent: Extent::Point,
    turns: false,
    components: translations,
    build,
};

struct PointMass {
    block: Block,
    mass: f64,
}

fn build(body: &Body, nodes: &Nodes) -> Box<dyn Element> {
    let own = [body.nodes.start];
    let block = Block::new(nodes, [own.as_slice()].into_iter(), translations(nodes.dimension), 1);
    Box::new(PointMass { block, mass: body.properties.mass })
}

impl Element for PointMass {
    fn block(&self) -> &Block {
        &self.block
    }

    fn mass(&self, _: usize) -> Local {
        let mut m = Local::zeros();
        for k in 0..self.block.per {
            m[(k, k)] = self.mass;
        }
        m
    }

    fn internal(&self, _: &[f64], _: &mut [f64]) -> f64 {
        0.0
    }

    fn tangent(&self, _: usize, _: &[f64]) -> Tangent {
        Tangent { stiffness: Local::zeros(), damping: Local::zeros() }
    }

    fn resultants(&self, _: usize, _: &[f64]) -> Resultants {
        Resultants::default()
    }
}
