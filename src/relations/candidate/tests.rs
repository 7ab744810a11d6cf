//! Derivatives of every gap, with and without arms.

use super::*;
use crate::plane::turned;

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

const SHAPES: [Shape; 7] = [
    Shape::Straight { point: [0.3, -0.9], normal: [0.6, 0.8] },
    Shape::Circle { centre: [0.3, -0.2], radius: 0.5, inside: false },
    Shape::Circle { centre: [0.3, -0.2], radius: 2.0, inside: true },
    Shape::Circle { centre: [0.3, -0.2], radius: 0.0, inside: false },
    Shape::Segment { side: 1.0 },
    Shape::Segment { side: 0.0 },
    Shape::Point,
];

/// Nothing, arms on some, arms on all, and a disc without arm against an arm.
const ARMS: [[[f64; 2]; 3]; 4] = [
    [[0.0; 2]; 3],
    [[0.2, -0.3], [0.0; 2], [0.0; 2]],
    [[0.2, -0.3], [-0.1, 0.25], [0.3, 0.1]],
    [[0.0; 2], [0.3, 0.15], [0.0; 2]],
];

/// A point and the two that it may touch, with degrees of freedom of their own: three each where they have arms.
fn candidate(shape: Shape, arms: [[f64; 2]; 3]) -> Candidate {
    let place = [[0.1, 0.9], [-0.7, -0.1], [0.8, 0.2]];
    let corners = [0, 1, 2].map(|i| {
        let (first, arm) = (3 * i, arms[i as usize]);
        let turn = if arm == [0.0; 2] { NONE } else { first + 2 };
        Corner { node: i, place: place[i as usize], dofs: [first, first + 1, turn], arm, disc: 0.0 }
    });
    let law = Law { friction: 0.3, ..Default::default() };
    Candidate { shift: [[0.01, -0.02], [0.05, 0.03]], ..Candidate::shaped(Key::default(), law, shape, corners, 0.1, 9) }
}

fn dense(row: &Row) -> [f64; 9] {
    let mut values = [0.0; 9];
    row.entries().iter().for_each(|&(dof, part)| values[dof as usize] += part);
    values
}

/// Gradients and Hessians of every gap by central differences, with and without arms, turned by any angle.
#[test]
fn rows_and_curvatures_are_derivatives_with_arms_too() {
    let (mut seed, h, mut tried) = (3, 1e-5, 0);
    for (shape, arms) in SHAPES.iter().flat_map(|shape| ARMS.map(|arms| (*shape, arms))) {
        let mut candidate = candidate(shape, arms);
        let shift = candidate.shift[0];
        for _ in 0..20 {
            let q: Vec<f64> = (0..9).map(|i| if i % 3 == 2 { 6.0 } else { 0.2 } * random(&mut seed)).collect();
            let mut curvature = [[0.0; 9]; 9];
            candidate.freeze(&q, shift);
            let (gradient, gap) = (dense(&candidate.gap_row), candidate.gap(&q, shift));
            candidate.each_curvature(&q, shift, |i, j, value| curvature[i][j] += value);
            let largest = curvature.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
            // Near a corner, or where a segment is short, the difference quotient has no digits.
            if largest > 20.0 || gap.abs() < 0.05 {
                continue;
            }
            tried += 1;
            for i in 0..9 {
                let mut at = |step: f64| {
                    let mut moved = q.clone();
                    moved[i] += step;
                    candidate.freeze(&moved, shift);
                    (candidate.gap(&moved, shift), dense(&candidate.gap_row))
                };
                let (up, down) = (at(h), at(-h));
                let slope = (up.0 - down.0) / (2.0 * h);
                assert!((slope - gradient[i]).abs() < 1e-8, "{shape:?} {arms:?}: {slope} {}", gradient[i]);
                for j in 0..9 {
                    let bend = (up.1[j] - down.1[j]) / (2.0 * h);
                    assert!((bend - curvature[i][j]).abs() < 2e-6, "{shape:?} {arms:?} {i} {j}: {bend} {curvature:?}");
                }
            }
        }
    }
    assert!(tried > 300, "{tried}");
}

/// The sliding of discs is that of the points of their rims that touch: moved on by rigid motions, they part at the rate
/// that the row says, and discs that roll on each other do not slide.
#[test]
fn discs_slide_at_their_rims() {
    let (mut seed, h, radii) = (9, 1e-6, [0.07, 0.03]);
    for (shape, arms) in [Shape::Point, SHAPES[0], SHAPES[1]].iter().flat_map(|s| ARMS.map(|arms| (*s, arms))) {
        let mut candidate = candidate(shape, arms);
        for (i, radius) in radii.into_iter().enumerate() {
            candidate.corners[i].dofs[2] = 3 * i as u32 + 2;
            candidate.corners[i].disc = radius;
        }
        let shift = candidate.shift[0];
        let q: Vec<f64> = (0..9).map(|_| 0.4 * random(&mut seed)).collect();
        let v: Vec<f64> = (0..9).map(|_| 2.0 * random(&mut seed)).collect();
        candidate.freeze(&q, shift);
        let (n, t) = (candidate.normal, tangent(candidate.normal));
        let rim = |i: usize, side: f64, step: f64| {
            let moved: Vec<f64> = q.iter().zip(&v).map(|(q, v)| q + step * v).collect();
            let (middle, angle) = (candidate.corners[i].at(&moved), step * v[3 * i + 2]);
            let spoke = turned(n.map(|x| side * radii[i] * x), angle);
            [middle[0] + spoke[0], middle[1] + spoke[1]]
        };
        let along = |i: usize, side: f64| inner(t, minus(rim(i, side, h), rim(i, side, -h))) / (2.0 * h);
        let expected = along(0, -1.0) - if shape == Shape::Point { along(1, 1.0) } else { 0.0 };
        let rate = candidate.slip_row.times(&v);
        assert!((rate - expected).abs() < 1e-8, "{shape:?} {arms:?}: {rate} {expected}");
        // On a line: a disc of radius r that turns clockwise by one per time rolls by r along the tangent.
        if shape == SHAPES[0] && arms == ARMS[0] {
            let mut rolling = [0.0; 9];
            [rolling[0], rolling[1]] = t.map(|x| radii[0] * x);
            rolling[2] = -1.0;
            assert!(candidate.slip_row.times(&rolling).abs() < 1e-16);
        }
    }
}

/// Along a discrete gradient the gap changes as it does, for every kind, however long the step; over short steps it is
/// the gradient, with an error that falls like the square of the step.
#[test]
fn discrete_gradients_are_exact_over_a_step() {
    let mut seed = 5;
    for (shape, arms) in SHAPES.iter().flat_map(|shape| ARMS.map(|arms| (*shape, arms))) {
        let straight = matches!(shape, Shape::Straight { .. }) && arms[0] == [0.0; 2];
        let mut errors = [0.0_f64; 2];
        for _ in 0..50 {
            let mut candidate = candidate(shape, arms);
            let q0: Vec<f64> = (0..9).map(|_| 0.2 * random(&mut seed)).collect();
            let step: Vec<f64> = (0..9).map(|_| 0.4 * random(&mut seed)).collect();
            for (error, part) in errors.iter_mut().zip([1e-1, 1e-2]) {
                candidate.shift[1] = [0, 1].map(|k| candidate.shift[0][k] + part * 0.04);
                let q1: Vec<f64> = q0.iter().zip(&step).map(|(q, s)| q + part * s).collect();
                candidate.secant(&q0, &q1);
                assert!(candidate.strays(&q1).abs() < 1e-14, "{shape:?}: {:e}", candidate.strays(&q1));
                let discrete = candidate.gap_row;
                let middle: Vec<f64> = q0.iter().zip(&q1).map(|(a, b)| 0.5 * (a + b)).collect();
                candidate.freeze(&middle, [0, 1].map(|k| 0.5 * (candidate.shift[0][k] + candidate.shift[1][k])));
                let pairs = discrete.entries().iter().zip(candidate.gap_row.entries());
                *error = pairs.map(|(a, b)| (a.1 - b.1).abs()).fold(*error, f64::max);
            }
        }
        // The gradient of a straight gap without arms is its discrete gradient.
        let falls = errors[1] < 0.02 * errors[0] && errors[1] > 0.0;
        assert!(falls || (straight && errors[0] < 1e-13), "{shape:?} {arms:?}: {errors:?}");
        let mut still = candidate(shape, arms);
        still.shift[1] = still.shift[0];
        still.secant(&[0.0; 9], &[0.0; 9]);
        assert!(still.gap_row.entries().iter().all(|(_, part)| part.is_finite()), "a step without motion");
    }
}

/// Between bodies the entries of a discrete gradient sum to zero along both axes, so that impulses leave the common momentum alone,
/// and a motion that all nodes have in common changes nothing.
#[test]
fn discrete_gradients_between_bodies_leave_momentum_alone() {
    let mut seed = 6;
    for shape in [Shape::Point, Shape::Segment { side: 1.0 }, Shape::Segment { side: -1.0 }] {
        for _ in 0..50 {
            let mut candidate = candidate(shape, [[0.0; 2]; 3]);
            candidate.shift = [[0.0; 2]; 2];
            let q0: Vec<f64> = (0..9).map(|_| 0.2 * random(&mut seed)).collect();
            let q1: Vec<f64> = q0.iter().map(|q| q + 0.2 * random(&mut seed)).collect();
            candidate.secant(&q0, &q1);
            let row = candidate.gap_row;
            for axis in 0..2 {
                let sum: f64 = row.entries().iter().skip(axis).step_by(2).map(|(_, part)| part).sum();
                assert!(sum.abs() < 1e-14, "{shape:?}: {sum:e}");
            }
            let carried: Vec<f64> = q1.iter().enumerate().map(|(i, q)| q + [0.7, -0.4][i % 3 % 2]).collect();
            candidate.secant(&q0, &carried);
            let pairs = || candidate.gap_row.entries().iter().zip(row.entries());
            assert!(pairs().all(|(a, b)| (a.1 - b.1).abs() < 1e-12), "{shape:?}");
            let alone: Vec<f64> = q0.iter().enumerate().map(|(i, q)| q + [0.7, -0.4][i % 3 % 2]).collect();
            candidate.secant(&q0, &alone);
            assert!(candidate.gap_row.entries().iter().all(|(_, part)| part.abs() <= 1.0 + 1e-12), "{shape:?}");
        }
    }
}
