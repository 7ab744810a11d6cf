//! Gaps as functions of the places of one to three nodes: value, gradient and Hessian, (T53)–(T56).
//!
//! Every gradient has the same form: the normal n on the node that touches, −(1−ξ) n and −ξ n on the two ends of a
//! segment, −n on a node touched, nothing on what is rigid. Only the normal and the weights differ between kinds.

use crate::plane::{direction, inner, minus, tangent};
use nalgebra::{Matrix6, Vector6};

/// What a node may touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// A gap that is affine in q: nodes on planes and rigid segments, and in one dimension.
    Affine,
    /// A rigid straight line and a point with an arm, whose gap is not affine in q.
    Straight {
        /// A point of the line.
        point: [f64; 2],
        /// Unit normal.
        normal: [f64; 2],
    },
    /// A rigid circle, from outside or from inside; of radius zero it is a corner.
    Circle {
        /// Its centre.
        centre: [f64; 2],
        /// Its radius.
        radius: f64,
        /// Whether the node is inside.
        inside: bool,
    },
    /// The straight line through two nodes: on its left (1), on its right (−1), or on whichever side the node is (0).
    Segment {
        /// The side.
        side: f64,
    },
    /// Another node.
    Point,
}

/// Distance of a node from a shape, the normal towards the node, and the weights of the nodes in the gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Distance, before any thickness is taken off.
    pub distance: f64,
    /// Unit normal.
    pub normal: [f64; 2],
    /// Weight of the normal in the gradient for each node.
    pub weights: [f64; 3],
}

impl Shape {
    /// Whether the gradient never changes.
    pub fn is_affine(&self) -> bool {
        *self == Shape::Affine
    }

    /// Radius of a circle that is touched from outside.
    pub fn outer_radius(&self) -> Option<f64> {
        match *self {
            Shape::Circle { radius, inside: false, .. } if radius > 0.0 => Some(radius),
            _ => None,
        }
    }

    /// Measures at the places of the nodes: the one that touches, then those touched.
    ///
    /// # Panics
    /// For affine gaps, whose gradient is known without places.
    pub fn measure(&self, places: &[[f64; 2]; 3]) -> Measure {
        match *self {
            Shape::Affine => unreachable!("an affine gap has its gradient already"),
            Shape::Straight { point, normal } => {
                Measure { distance: inner(normal, minus(places[0], point)), normal, weights: [1.0, 0.0, 0.0] }
            }
            Shape::Circle { centre, radius, inside } => {
                let (length, away) = direction(minus(places[0], centre));
                if inside {
                    Measure { distance: radius - length, normal: [-away[0], -away[1]], weights: [1.0, 0.0, 0.0] }
                } else {
                    Measure { distance: length - radius, normal: away, weights: [1.0, 0.0, 0.0] }
                }
            }
            Shape::Point => {
                let (distance, normal) = direction(minus(places[0], places[1]));
                Measure { distance, normal, weights: [1.0, -1.0, 0.0] }
            }
            Shape::Segment { side } => {
                let (length, along) = direction(minus(places[2], places[1]));
                let offset = minus(places[0], places[1]);
                let xi = inner(offset, along) / length;
                let signed = offset[1] * along[0] - offset[0] * along[1];
                let side = if side == 0.0 { 1.0_f64.copysign(signed) } else { side };
                Measure {
                    distance: side * signed,
                    normal: [-side * along[1], side * along[0]],
                    weights: [1.0, xi - 1.0, -xi],
                }
            }
        }
    }

    /// Second derivatives of the gap with respect to the places of the three nodes, (T56).
    pub fn hessian(&self, places: &[[f64; 2]; 3]) -> Matrix6<f64> {
        if self.is_affine() {
            return Matrix6::zeros();
        }
        let m = self.measure(places);
        let spread = |weights: [f64; 3], v: [f64; 2]| {
            Vector6::from_fn(|i, _| weights[i / 2] * v[i % 2]) // x and y of each node in turn
        };
        let across = spread(m.weights, tangent(m.normal));
        match *self {
            Shape::Affine | Shape::Straight { .. } => Matrix6::zeros(),
            Shape::Circle { centre, .. } => {
                let (length, away) = direction(minus(places[0], centre));
                let sign = inner(away, m.normal);
                across * across.transpose() * (sign / length)
            }
            Shape::Point => across * across.transpose() / m.distance,
            Shape::Segment { .. } => {
                let (length, along) = direction(minus(places[2], places[1]));
                let slide = spread(m.weights, along);
                let turn = spread([0.0, -1.0, 1.0], m.normal);
                -(slide * turn.transpose() + turn * slide.transpose()) / length
                    - turn * turn.transpose() * (m.distance / (length * length))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: [Shape; 6] = [
        Shape::Circle { centre: [0.3, -0.2], radius: 0.5, inside: false },
        Shape::Circle { centre: [0.3, -0.2], radius: 4.0, inside: true },
        Shape::Circle { centre: [0.3, -0.2], radius: 0.0, inside: false },
        Shape::Segment { side: 1.0 },
        Shape::Segment { side: 0.0 },
        Shape::Point,
    ];

    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    fn flat(m: &Measure) -> Vector6<f64> {
        Vector6::from_fn(|i, _| m.weights[i / 2] * m.normal[i % 2])
    }

    /// Gradients and Hessians of every kind by central differences, at random places, beyond the ends of segments too.
    #[test]
    fn gradients_and_hessians_are_derivatives() {
        let (mut seed, mut beyond) = (3, 0);
        for shape in SHAPES {
            for _ in 0..200 {
                let mut places = [[0.0; 2]; 3];
                places.iter_mut().flatten().for_each(|x| *x = 3.0 * random(&mut seed));
                let here = shape.measure(&places);
                let apart = minus(places[2], places[1]);
                // Where the distance or the segment is too short for the difference quotient nothing is learnt.
                if here.distance.abs() < 0.2 || inner(apart, apart) < 0.25 || shape.hessian(&places).amax() > 5.0 {
                    continue;
                }
                beyond += usize::from(here.weights[2] > 0.0 || here.weights[1] > 0.0);
                let (gradient, hessian) = (flat(&here), shape.hessian(&places));
                let h = 1e-5;
                for i in 0..6 {
                    let at = |step: f64| {
                        let mut moved = places;
                        moved[i / 2][i % 2] += step;
                        shape.measure(&moved)
                    };
                    let (up, down) = (at(h), at(-h));
                    let slope = (up.distance - down.distance) / (2.0 * h);
                    assert!((slope - gradient[i]).abs() < 1e-8, "{shape:?}: {slope} {}", gradient[i]);
                    let bend = (flat(&up) - flat(&down)) / (2.0 * h);
                    assert!((bend - hessian.column(i)).amax() < 1e-7, "{shape:?} {i}: {bend} {hessian}");
                }
            }
        }
        assert!(beyond > 50, "{beyond} trials beyond an end");
    }

    /// At the end of a segment the gap to the line and that to its end point agree, and so do their gradients.
    #[test]
    fn gap_and_normal_are_continuous_across_an_end() {
        let ends = [[0.2, 0.1], [1.1, 0.7]];
        let (_, along) = direction(minus(ends[1], ends[0]));
        let above = |end: [f64; 2], along_by: f64| {
            [end[0] - 0.3 * along[1] + along_by * along[0], end[1] + 0.3 * along[0] + along_by * along[1]]
        };
        for (k, end) in ends.into_iter().enumerate() {
            for slip in [1e-9, -1e-9] {
                let node = above(end, slip);
                let line = Shape::Segment { side: 1.0 }.measure(&[node, ends[0], ends[1]]);
                let point = Shape::Point.measure(&[node, end, [0.0; 2]]);
                assert!((line.distance - point.distance).abs() < 1e-15);
                assert!((0..2).all(|c| (line.normal[c] - point.normal[c]).abs() < 1e-8));
                assert!((line.weights[1 + k] + 1.0).abs() < 1e-8, "{line:?}");
            }
        }
    }
}
