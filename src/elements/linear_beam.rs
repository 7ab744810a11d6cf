//! Linear Timoshenko beam, (T33)–(T34): exact for constant shear, small rotations, any orientation in the plane.
//!
//! Forces come from three natural strains (elongation, curvature, rotation against the chord), so that a rigid motion
//! leaves no digits behind and a slender beam does not lock.

use super::{Block, Element, ElementKind, Extent, Local, Resultants, Tangent, gather, in_plane_frame, planar_beam};
use super::{Body, Properties};
use crate::la::Processor;
use crate::nodes::Nodes;
use nalgebra::SVector;
use pulp::{Simd, WithSimd};

pub(super) const KIND: ElementKind = ElementKind {
    name: "linear-beam",
    summary: "Timoshenko beam for small rotations, exact shear-flexible element",
    required: &["line|polyline|mesh", "material", "section"],
    optional: &["group", "mass_matrix", "damping", "displacement", "velocity", "spin", "spin_centre"],
    own: &[],
    extent: Extent::Line,
    turns: false,
    components: planar_beam,
    build,
};

struct LinearBeams {
    block: Block,
    properties: Properties,
    members: Vec<Member>,
    lengths: Vec<f64>,
    /// Elements one after the other, as far as those from a place on have the same kind of numbers.
    stretches: Vec<Stretch>,
    arch: Processor,
}

/// Elements from the end of the last stretch to this one.
struct Stretch {
    end: usize,
    /// First degree of freedom, if those of all nodes follow each other.
    first: Option<usize>,
}

/// Constants of one element.
struct Member {
    /// One over the length.
    slope: f64,
    /// Unit vector from the first node to the second.
    direction: [f64; 2],
    /// Stiffnesses against elongation, curvature and rotation against the chord.
    stiffness: [f64; 3],
}

fn build(body: &Body, nodes: &Nodes) -> Box<dyn Element> {
    let mut block = Block::new(nodes, body.lines.iter().map(|l| l.as_slice()), planar_beam(2), 2);
    let p = body.properties;
    let lines = nodes.lines(&body.lines);
    let members = lines.iter().map(|&line| Member::new(&p, line)).collect();
    let lengths: Vec<f64> = lines.iter().map(|(length, _)| *length).collect();
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    block.damped = p.stiffness_damping != 0.0;
    block.floor = [p.axial, p.axial * longest];
    Box::new(LinearBeams {
        stretches: stretches(&block),
        block,
        properties: p,
        members,
        lengths,
        arch: Processor::new(),
    })
}

/// The elements in stretches that are as long as can be.
fn stretches(block: &Block) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for e in 0..block.len() {
        let dofs = block.element(e);
        let first = dofs[0] as usize;
        let row = dofs.iter().zip(first..).all(|(&dof, next)| dof as usize == next);
        let begun = stretches.len().checked_sub(2).map_or(0, |before| stretches[before].end);
        let goes_on = |last: &Stretch| match last.first {
            Some(start) => row && first == start + 3 * (e - begun),
            None => !row,
        };
        match stretches.last_mut().filter(|last| goes_on(last)) {
            Some(last) => last.end = e + 1,
            None => stretches.push(Stretch { end: e + 1, first: row.then_some(first) }),
        }
    }
    stretches
}

impl Member {
    fn new(p: &Properties, (length, direction): (f64, [f64; 2])) -> Member {
        let phi = shear_ratio(p, length);
        let stiffness = [p.axial / length, p.bending / length, 12.0 * p.bending / ((1.0 + phi) * length)];
        Member { slope: 1.0 / length, direction, stiffness }
    }

    /// Rows that take (x1, y1, θ1, x2, y2, θ2) to the natural strains, (T33).
    fn strain_rows(&self) -> [[f64; 6]; 3] {
        let (slope, [c, s]) = (self.slope, self.direction);
        [
            [-c, -s, 0.0, c, s, 0.0],
            [0.0, 0.0, -1.0, 0.0, 0.0, 1.0],
            [-s * slope, c * slope, 0.5, s * slope, -c * slope, 0.5],
        ]
    }

    /// Natural strains from differences of displacement.
    #[inline(always)]
    fn strains(&self, a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
        let [c, s] = self.direction;
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        [c * dx + s * dy, b[2] - a[2], 0.5 * (a[2] + b[2]) - (c * dy - s * dx) * self.slope]
    }

    /// Twice the strain energy, and the forces on both ends.
    #[inline(always)]
    fn forces(&self, a: &[f64; 3], b: &[f64; 3]) -> (f64, [[f64; 3]; 2]) {
        let strains = self.strains(a, b);
        let [axial, moment, chord] = self.stresses(&strains);
        // The transposed strain rows, their equal entries taken once.
        let ([c, s], across) = (self.direction, chord * self.slope);
        let (x, y, half) = (c * axial + s * across, s * axial - c * across, 0.5 * chord);
        let twice_energy = axial * strains[0] + moment * strains[1] + chord * strains[2];
        (twice_energy, [[-x, -y, half - moment], [x, y, half + moment]])
    }

    /// Axial force, moment, and moment against the chord.
    #[inline(always)]
    fn stresses(&self, strains: &[f64; 3]) -> [f64; 3] {
        let [axial, bending, chord] = self.stiffness;
        [axial * strains[0], bending * strains[1], chord * strains[2]]
    }
}

impl Element for LinearBeams {
    fn block(&self) -> &Block {
        &self.block
    }

    fn mass(&self, e: usize) -> Local {
        let (length, direction) = (self.lengths[e], self.members[e].direction);
        let p = &self.properties;
        if p.lumped {
            let translation = p.line_mass * length / 2.0;
            let rotation = p.line_inertia * length / 2.0;
            let diagonal = [translation, translation, rotation, translation, translation, rotation];
            return Local::from_diagonal(&SVector::from(diagonal));
        }
        let phi = shear_ratio(p, length);
        let frame = in_plane_frame(direction);
        frame.transpose() * consistent_mass(p, length, phi) * frame
    }

    fn internal(&self, q: &[f64], f: &mut [f64]) -> f64 {
        self.arch.dispatch(Forces { beams: self, q, f })
    }

    fn tangent(&self, e: usize, _: &[f64]) -> Tangent {
        let (k, rows) = (&self.members[e].stiffness, self.members[e].strain_rows());
        let stiffness = Local::from_fn(|i, j| (0..3).map(|r| k[r] * rows[r][i] * rows[r][j]).sum());
        Tangent { damping: stiffness * self.properties.stiffness_damping, stiffness }
    }

    fn resultants(&self, e: usize, q: &[f64]) -> Resultants {
        let member = &self.members[e];
        let (a, b) = ends(self.block.element(e), q);
        let [axial, moment, chord] = member.stresses(&member.strains(&a, &b));
        Resultants { axial, moment, shear: -chord * member.slope }
    }
}

/// Adds the forces of all elements to `f` and returns their energy.
struct Forces<'a> {
    beams: &'a LinearBeams,
    q: &'a [f64],
    f: &'a mut [f64],
}

impl WithSimd for Forces<'_> {
    type Output = f64;

    // Plain loops, for the instructions that the processor has.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let Forces { beams, q, f } = self;
        let (mut twice_energy, mut begin) = (0.0, 0);
        for &Stretch { end, first } in &beams.stretches {
            let members = &beams.members[begin..end];
            twice_energy += match first {
                Some(first) => in_a_row(members, &q[first..], &mut f[first..]),
                None => scattered(members, &beams.block.dofs[6 * begin..6 * end], q, f),
            };
            begin = end;
        }
        0.5 * twice_energy
    }
}

/// Adds the forces of elements whose nodes follow each other, from the first degree of freedom on.
#[inline(always)]
fn in_a_row(members: &[Member], q: &[f64], f: &mut [f64]) -> f64 {
    let count = members.len();
    let (q, f) = (&q.as_chunks::<3>().0[..count + 1], &mut f.as_chunks_mut::<3>().0[..count + 1]);
    let (mut twice_energy, mut carried, mut a) = (0.0, [0.0; 3], q[0]);
    for (e, member) in members.iter().enumerate() {
        let b = q[e + 1];
        let (energy, [first, second]) = member.forces(&a, &b);
        twice_energy += energy;
        (0..3).for_each(|k| f[e][k] += carried[k] + first[k]);
        (carried, a) = (second, b);
    }
    (0..3).for_each(|k| f[count][k] += carried[k]);
    twice_energy
}

/// Adds the forces of elements with these degrees of freedom.
#[inline(always)]
fn scattered(members: &[Member], dofs: &[u32], q: &[f64], f: &mut [f64]) -> f64 {
    let mut twice_energy = 0.0;
    for (member, dofs) in members.iter().zip(dofs.chunks_exact(6)) {
        let (a, b) = ends(dofs, q);
        let (energy, forces) = member.forces(&a, &b);
        twice_energy += energy;
        for (dof, force) in dofs.iter().zip(forces.as_flattened()) {
            f[*dof as usize] += force;
        }
    }
    twice_energy
}

/// Values of an element's degrees of freedom by nodes.
#[inline(always)]
fn ends(dofs: &[u32], q: &[f64]) -> ([f64; 3], [f64; 3]) {
    let q = gather(dofs, q);
    ([q[0], q[1], q[2]], [q[3], q[4], q[5]])
}

/// Flexibility of an element in shear over that in bending.
fn shear_ratio(p: &Properties, length: f64) -> f64 {
    12.0 * p.bending / (p.shear * length * length)
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
