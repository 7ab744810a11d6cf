//! What may touch in a step: gaps and their gradients, `docs/theory.md` 10.

use super::problem::{Obstacle, Problem};
use nalgebra::DVector;

/// What a node may touch.
#[derive(Clone, Debug)]
enum Shape {
    Line {
        point: [f64; 2],
        normal: [f64; 2],
    },
    Round {
        centre: [f64; 2],
        radius: f64,
        inside: bool,
    },
    /// Two nodes, and the side that is touched: 0 for whichever the node is on.
    Segment {
        ends: [usize; 2],
        side: f64,
    },
    End {
        node: usize,
    },
    Above {
        node: usize,
    },
}

/// A node and what it may touch.
#[derive(Clone, Debug)]
pub struct Touch {
    pub group: usize,
    pub node: usize,
    shape: Shape,
    thickness: f64,
}

/// A gap, the normal towards the node, and the part that each node has in it.
pub struct Measure {
    pub gap: f64,
    pub normal: [f64; 2],
    pub parts: Vec<(usize, f64)>,
}

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

fn norm(a: [f64; 2]) -> f64 {
    a[0].hypot(a[1])
}

/// The normal turned clockwise.
pub fn tangent(normal: [f64; 2]) -> [f64; 2] {
    [normal[1], -normal[0]]
}

impl Touch {
    /// Whether the gap is affine in the places of the nodes.
    fn is_affine(&self) -> bool {
        matches!(self.shape, Shape::Line { .. } | Shape::Above { .. })
    }

    /// Nodes that take part.
    fn nodes(&self) -> Vec<usize> {
        match self.shape {
            Shape::Line { .. } | Shape::Round { .. } => vec![self.node],
            Shape::Segment { ends, .. } => vec![self.node, ends[0], ends[1]],
            Shape::End { node } | Shape::Above { node } => vec![self.node, node],
        }
    }

    /// Measured at places of the nodes that take part, as the obstacle sees them.
    fn measure_at(&self, at: &[[f64; 2]]) -> Measure {
        let nodes = self.nodes();
        let (distance, normal, weights) = match self.shape {
            Shape::Line { point, normal } => (dot(normal, minus(at[0], point)), normal, vec![1.0]),
            Shape::Round { centre, radius, inside } => {
                let away = minus(at[0], centre);
                let length = norm(away);
                let sign = if inside { -1.0 } else { 1.0 };
                (sign * (length - radius), away.map(|x| sign * x / length), vec![1.0])
            }
            Shape::Segment { side, .. } => {
                let way = minus(at[2], at[1]);
                let length = norm(way);
                let left = cross(way, minus(at[0], at[1])) / length;
                let side = if side == 0.0 { left.signum() } else { side };
                let xi = dot(way, minus(at[0], at[1])) / (length * length);
                (side * left, [-side * way[1] / length, side * way[0] / length], vec![1.0, xi - 1.0, -xi])
            }
            Shape::End { .. } => {
                let away = minus(at[0], at[1]);
                (norm(away), away.map(|x| x / norm(away)), vec![1.0, -1.0])
            }
            Shape::Above { .. } => (at[0][0] - at[1][0], [1.0, 0.0], vec![1.0, -1.0]),
        };
        Measure { gap: distance - self.thickness, normal, parts: nodes.into_iter().zip(weights).collect() }
    }

    fn places(&self, problem: &Problem, q: &DVector<f64>, shift: [f64; 2]) -> Vec<[f64; 2]> {
        let mut at: Vec<[f64; 2]> = self.nodes().into_iter().map(|node| problem.place(node, q)).collect();
        at[0] = minus(at[0], shift);
        at
    }

    pub fn measure(&self, problem: &Problem, q: &DVector<f64>, shift: [f64; 2]) -> Measure {
        self.measure_at(&self.places(problem, q, shift))
    }

    /// Gradients of gap and sliding with the discrete correction (T63) over a step, and the normal in its middle.
    pub fn secant(
        &self,
        problem: &Problem,
        ends: [&DVector<f64>; 2],
        shifts: [[f64; 2]; 2],
    ) -> (Measure, DVector<f64>, DVector<f64>) {
        let [from, to] = [0, 1].map(|k| self.places(problem, ends[k], shifts[k]));
        let middle: Vec<[f64; 2]> = from.iter().zip(&to).map(|(a, b)| [0, 1].map(|k| 0.5 * (a[k] + b[k]))).collect();
        let measure = self.measure_at(&middle);
        let mut normal = spread(problem, &measure.parts, measure.normal);
        let sliding = spread(problem, &measure.parts, tangent(measure.normal));
        if !self.is_affine() {
            let path: Vec<[f64; 2]> = to.iter().zip(&from).map(|(b, a)| minus(*b, *a)).collect();
            let along: f64 = measure.parts.iter().zip(&path).map(|((_, w), d)| w * dot(measure.normal, *d)).sum();
            let square: f64 = path.iter().map(|d| dot(*d, *d)).sum();
            let missing = self.measure_at(&to).gap - self.measure_at(&from).gap - along;
            if square > 0.0 {
                for ((node, _), d) in measure.parts.iter().zip(&path) {
                    for (dof, d) in problem.translations(*node).into_iter().zip(d) {
                        dof.into_iter().for_each(|dof| normal[dof] += missing * d / square);
                    }
                }
            }
        }
        (measure, normal, sliding)
    }
}

/// A direction on the translations of some nodes.
pub fn spread(problem: &Problem, parts: &[(usize, f64)], direction: [f64; 2]) -> DVector<f64> {
    let mut row = DVector::zeros(problem.count);
    for &(node, weight) in parts {
        for (dof, part) in problem.translations(node).into_iter().zip(direction) {
            dof.into_iter().for_each(|dof| row[dof] += weight * part);
        }
    }
    row
}

/// How far a step looks where contacts are searched for: two steps at the speeds at its start, and more.
pub struct Reach {
    /// Twice the step.
    pub two_steps: f64,
    /// Speed of the fastest node of each body, and of each obstacle.
    pub bodies: Vec<f64>,
    pub obstacles: Vec<f64>,
}

impl Reach {
    /// Of the body of a node, with such a radius: what it moves in two steps, or what the fastest would if it hit it, but not
    /// more than its size; and two hundredths of that. A node without any size has that of the model.
    fn of(&self, problem: &Problem, node: usize, radius: f64) -> f64 {
        let body = problem.bodies.iter().position(|body| body.nodes.contains(&node)).unwrap();
        let places = || problem.bodies[body].nodes.iter().map(|&node| problem.places[node]);
        let span = |k: usize| {
            places().map(|p| p[k]).fold(f64::NEG_INFINITY, f64::max)
                - places().map(|p| p[k]).fold(f64::INFINITY, f64::min)
        };
        let own = span(0).hypot(span(1)) + 2.0 * radius;
        let size = if own > 0.0 { own } else { problem.length };
        let fastest = self.two_steps * self.bodies.iter().copied().fold(0.0, f64::max);
        (self.two_steps * self.bodies[body]).max(fastest.min(size)) + 0.02 * size
    }
}

/// All that may touch in a step whose middle is `middle`, the obstacles displaced by `shifts`; gaps beyond `reach` are left
/// out where contacts are searched for.
pub fn find(problem: &Problem, middle: &DVector<f64>, shifts: &[[f64; 2]], reach: &Reach) -> Vec<Touch> {
    let mut all = vec![];
    for (group, contact) in problem.contacts.iter().enumerate() {
        let shift = shifts[group];
        let touch = |node: usize, shape: Shape, thickness: f64| Touch { group, node, shape, thickness };
        let r = contact.radius;
        match &contact.obstacle {
            &Obstacle::Plane { point, normal } => {
                all.extend(contact.nodes.iter().map(|&node| touch(node, Shape::Line { point, normal }, r)));
            }
            &Obstacle::HalfPlane { point, normal, direction } => all.extend(contact.nodes.iter().map(|&node| {
                let beyond = dot(minus(minus(problem.place(node, middle), shift), point), direction) < 0.0;
                let corner = Shape::Round { centre: point, radius: 0.0, inside: false };
                touch(node, if beyond { corner } else { Shape::Line { point, normal } }, r)
            })),
            &Obstacle::Circle { centre, radius, inside } => {
                let round = Shape::Round { centre, radius, inside };
                all.extend(contact.nodes.iter().map(|&node| touch(node, round.clone(), r)));
            }
            &Obstacle::Arc { centre, radius, turn, inside } => all.extend(contact.nodes.iter().map(|&node| {
                let place = minus(minus(problem.place(node, middle), shift), centre);
                // Some whole turns of the angle of the place lie on the arc.
                let angle = place[1].atan2(place[0]);
                let on = (-3..=3)
                    .map(|k| angle + f64::from(k) * std::f64::consts::TAU)
                    .any(|a| turn[0] <= a && a <= turn[1]);
                let ends = turn.map(|a| [radius * a.cos(), radius * a.sin()]);
                let far = ends.map(|end| (place[0] - end[0]).hypot(place[1] - end[1]));
                let end = ends[usize::from(far[1] < far[0])];
                let corner = Shape::Round { centre: [0, 1].map(|k| centre[k] + end[k]), radius: 0.0, inside: false };
                touch(node, if on { Shape::Round { centre, radius, inside } } else { corner }, r)
            })),
            Obstacle::Order { pairs } => {
                all.extend(pairs.iter().map(|&[up, down]| touch(up, Shape::Above { node: down }, 2.0 * r)));
            }
            Obstacle::Polyline { points } => {
                for &node in &contact.nodes {
                    let place = minus(problem.place(node, middle), shift);
                    let far = reach.of(problem, node, r) + reach.two_steps * reach.obstacles[group];
                    let shapes = against_polyline(place, points, far + r);
                    all.extend(shapes.into_iter().map(|shape| touch(node, shape, r)));
                }
            }
            Obstacle::Bodies { others } => {
                let limit = |a: usize, b: usize| reach.of(problem, a, r) + reach.of(problem, b, r) + 2.0 * r;
                let shapes = against_bodies(problem, middle, [&contact.nodes, others], 2.0 * r, &limit);
                all.extend(shapes.into_iter().map(|(node, shape)| touch(node, shape, 2.0 * r)));
            }
        }
    }
    all
}

/// A position against the segments of a polyline, (T135): every segment in front of which it is; convex vertices beyond both
/// of their segments; from behind the nearest segment, a re-entrant neighbour of it that is not farther than twice the depth,
/// and behind a re-entrant vertex the lines of both segments.
fn against_polyline(place: [f64; 2], points: &[[f64; 2]], limit: f64) -> Vec<Shape> {
    let last = points.len() - 2;
    let ways: Vec<[f64; 2]> = points.windows(2).map(|w| minus(w[1], w[0])).collect();
    // Distance along a segment from its start, to its left, and beyond its end.
    let along = |j: usize| dot(ways[j], minus(place, points[j])) / norm(ways[j]);
    let left = |j: usize| cross(ways[j], minus(place, points[j])) / norm(ways[j]);
    let after = |j: usize| along(j) - norm(ways[j]);
    let inside = |j: usize| along(j) >= 0.0 && after(j) <= 0.0;
    let closest = |j: usize| left(j).hypot((-along(j)).max(after(j)).max(0.0));
    let hollow = |j: usize| cross(ways[j - 1], ways[j]) > 0.0;
    let line =
        |j: usize| Shape::Line { point: points[j], normal: [-ways[j][1] / norm(ways[j]), ways[j][0] / norm(ways[j])] };
    let corner = |i: usize| Shape::Round { centre: points[i], radius: 0.0, inside: false };
    let distance = |i: usize| norm(minus(place, points[i]));
    let mut front: Vec<(f64, Shape)> =
        (0..=last).filter(|&j| inside(j) && left(j) >= 0.0).map(|j| (left(j), line(j))).collect();
    for i in 0..=last + 1 {
        let beyond = (i == 0 || after(i - 1) > 0.0) && (i > last || along(i) < 0.0);
        if beyond && (i == 0 || i > last || !hollow(i)) {
            front.push((distance(i), corner(i)));
        }
    }
    front.retain(|(far, _)| *far <= limit);
    let best = (0..=last).map(closest).fold(f64::INFINITY, f64::min);
    let mut shapes: Vec<Shape> = front.iter().map(|(_, shape)| shape.clone()).collect();
    if best > limit || front.iter().any(|(far, _)| *far <= best * (1.0 + 1e-9)) {
        return shapes;
    }
    let mut behind = vec![false; last + 1];
    for j in (0..=last).filter(|&j| closest(j) <= best * (1.0 + 1e-9)) {
        if inside(j) {
            behind[j] = true;
            let within = |past: f64, left: f64| past.max(-left) <= 2.0 * closest(j);
            if j > 0 && hollow(j) && along(j - 1) >= 0.0 {
                behind[j - 1] |= within(after(j - 1), left(j - 1));
            }
            if j < last && hollow(j + 1) && after(j + 1) <= 0.0 {
                behind[j + 1] |= within(-along(j + 1), left(j + 1));
            }
        }
        for i in [j, j + 1].into_iter().filter(|&i| i > 0 && i <= last && hollow(i)) {
            if after(i - 1) > 0.0 && along(i) < 0.0 {
                (behind[i - 1], behind[i]) = (true, true);
            }
        }
    }
    shapes.extend((0..=last).filter(|&j| behind[j]).map(line));
    shapes
}

/// Nodes of two sets against the lines and ends of each other.
fn against_bodies(
    problem: &Problem,
    middle: &DVector<f64>,
    sets: [&[usize]; 2],
    thickness: f64,
    limit: &dyn Fn(usize, usize) -> f64,
) -> Vec<(usize, Shape)> {
    let at = |node: usize| problem.place(node, middle);
    let body = |node: usize| problem.bodies.iter().position(|body| body.nodes.contains(&node));
    let apart = |a: usize, b: usize| body(a) != body(b) && problem.translations(a) != problem.translations(b);
    let lines: Vec<[usize; 2]> = problem.bodies.iter().flat_map(|body| body.lines.clone()).collect();
    // Whether a place is beyond a node along all lines of a set that meet there.
    let beyond = |place: [f64; 2], node: usize, set: &[usize]| {
        let own = lines.iter().filter(|line| line.contains(&node) && line.iter().all(|end| set.contains(end)));
        own.into_iter().all(|line| {
            let other = if line[0] == node { line[1] } else { line[0] };
            dot(minus(place, at(node)), minus(at(other), at(node))) <= 0.0
        })
    };
    let mut found: Vec<(usize, Shape)> = vec![];
    let ways = if sets[0] == sets[1] { vec![[0, 0]] } else { vec![[0, 1], [1, 0]] };
    for [own, other] in ways {
        for &node in sets[own] {
            for line in lines.iter().filter(|line| line.iter().all(|end| sets[other].contains(end))) {
                let [a, b] = line.map(at);
                let way = minus(b, a);
                let xi = dot(way, minus(at(node), a)) / dot(way, way);
                let left = cross(way, minus(at(node), a)) / norm(way);
                let start = |node: usize| problem.place(node, &problem.q0);
                let began = cross(minus(start(line[1]), start(line[0])), minus(start(node), start(line[0])));
                let side = if thickness > 0.0 { 0.0 } else { 1.0_f64.copysign(began) };
                let distance = if side == 0.0 { left.abs() } else { side * left };
                if line.iter().all(|&end| apart(node, end)) && xi > 0.0 && xi < 1.0 && distance <= limit(node, line[0])
                {
                    found.push((node, Shape::Segment { ends: *line, side }));
                }
            }
            for &end in sets[other] {
                let near = norm(minus(at(node), at(end))) <= limit(node, end);
                if apart(node, end) && near && beyond(at(node), end, sets[other]) {
                    // Two ends that face each other count once.
                    let both = sets[own].contains(&node) && sets[other].contains(&end);
                    let mutual = both && beyond(at(end), node, sets[own]);
                    if !mutual || node < end {
                        found.push((node, Shape::End { node: end }));
                    }
                }
            }
        }
    }
    found
}
