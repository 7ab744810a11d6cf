//! A linear system given by dense matrices, for problems that no mesh describes.

use carom::elements::{Block, Element, ElementKind, Extent, Local, Resultants, Tangent};
use carom::model::function::Function;
use carom::model::{Body, Component, Load, Model, Properties};
use carom::relations::{Candidate, Contacts};
use carom::system::{Nodes, System};

/// The dense matrices of the problem at hand; an element kind has no way to carry them.
#[derive(Clone, Copy)]
struct Matrices {
    mass: [[f64; 3]; 3],
    stiffness: [[f64; 3]; 3],
    damping: [[f64; 3]; 3],
}

/// Problem of `golden-small.json`.
const GOLDEN: Matrices = Matrices {
    mass: [[2.0, 0.3, 0.0], [0.3, 1.5, 0.2], [0.0, 0.2, 1.0]],
    stiffness: [[100.0, -50.0, 0.0], [-50.0, 100.0, -50.0], [0.0, -50.0, 50.0]],
    damping: [[0.4, -0.1, 0.0], [-0.1, 0.5, -0.2], [0.0, -0.2, 0.3]],
};

static KIND: ElementKind = ElementKind {
    name: "dense",
    summary: "three unknowns with full matrices",
    required: &[],
    optional: &[],
    own: &[],
    extent: Extent::Line,
    turns: false,
    components: |_| &[Component::X],
    build: |body, nodes| {
        let all: Vec<usize> = body.nodes.clone().collect();
        let mut block = Block::new(nodes, [all.as_slice()].into_iter(), &[Component::X], 3);
        block.damped = true;
        Box::new(Dense { block, matrices: GOLDEN })
    },
};

struct Dense {
    block: Block,
    matrices: Matrices,
}

fn local(matrix: &[[f64; 3]; 3]) -> Local {
    Local::from_fn(|i, j| if i < 3 && j < 3 { matrix[i][j] } else { 0.0 })
}

impl Element for Dense {
    fn block(&self) -> &Block {
        &self.block
    }
    fn mass(&self, _: usize) -> Local {
        local(&self.matrices.mass)
    }
    fn internal(&self, q: &[f64], f: &mut [f64]) -> f64 {
        let mut twice = 0.0;
        for i in 0..3 {
            let force: f64 = (0..3).map(|j| self.matrices.stiffness[i][j] * q[j]).sum();
            f[i] += force;
            twice += force * q[i];
        }
        0.5 * twice
    }
    fn tangent(&self, _: usize, _: &[f64]) -> Tangent {
        Tangent { stiffness: local(&self.matrices.stiffness), damping: local(&self.matrices.damping) }
    }
    fn resultants(&self, _: usize, _: &[f64]) -> Resultants {
        Resultants::default()
    }
}

/// The three-unknown, two-contact problem of `golden-small.json`: F = (−5 cos 3t, −4, −6 + 2 sin 5t).
pub fn golden() -> System {
    let places = vec![[0.0; 2]; 3];
    let wave = |node, amplitude: f64, omega: f64, phase| Load {
        name: String::new(),
        forces: vec![(node, Component::X, 1.0)],
        time: Function::Harmonic { amplitude, frequency: omega / std::f64::consts::TAU, phase },
        along_body: false,
    };
    let constant = |node, value| Load {
        name: String::new(),
        forces: vec![(node, Component::X, value)],
        time: Function::Constant,
        along_body: false,
    };
    let model = Model {
        dimension: 1,
        places,
        bodies: vec![Body {
            name: "dense".into(),
            kind: &KIND,
            nodes: 0..3,
            lines: vec![],
            properties: Properties::default(),
        }],
        gravity: [0.0; 2],
        supports: vec![],
        joints: vec![],
        loads: vec![
            wave(0, -5.0, 3.0, std::f64::consts::FRAC_PI_2),
            constant(1, -4.0),
            constant(2, -6.0),
            wave(2, 2.0, 5.0, 0.0),
        ],
        contacts: vec![],
        probes: vec![],
        sections: vec![],
        displacement: vec![[0.0; 3]; 3],
        velocity: vec![[-0.5, 0.0, 0.0], [-0.8, 0.0, 0.0], [-1.0, 0.0, 0.0]],
        // The reference used an activation tolerance of 1e-11 on data of size one.
        length: 1.0,
    };
    let mut system = System::assemble(&model).unwrap();
    let candidates =
        vec![Candidate::affine(0.1, &[(0, 1.0)], 0.5), Candidate::affine(0.15, &[(1, 0.5), (2, 1.0)], 0.2)];
    system.contacts = Contacts::of("both", candidates);
    assert_eq!(system.nodes.total, 3);
    let _: &Nodes = &system.nodes;
    system
}
