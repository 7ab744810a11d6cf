//! What may touch in a step: gaps and their gradients, `docs/theory.md` 10.

use super::problem::{Obstacle, Problem};
use super::sides::{self, Sides, Where};
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
    /// Two nodes, and the side that is touched: 1 on the left.
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

pub fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

pub fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

pub fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

pub fn norm(a: [f64; 2]) -> f64 {
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
            // Between bodies only what is left of the paths without their mean, which moves all alike.
            let mean = [0, 1].map(|k| path.iter().map(|d| d[k]).sum::<f64>() / path.len() as f64);
            let path: Vec<[f64; 2]> = path.iter().map(|d| if path.len() > 1 { minus(*d, mean) } else { *d }).collect();
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

/// The motion of a step as far as a search asks for it.
pub struct Look<'a> {
    /// Displacement at the start and at the middle.
    pub starts: &'a DVector<f64>,
    pub middle: &'a DVector<f64>,
    /// Displacements of the obstacles at the start, at the middle and at the end.
    pub shifts: &'a [[[f64; 2]; 3]],
    pub reach: &'a Reach,
    /// Sides in the step before; `first` says that there was none.
    pub known: &'a Sides,
    pub first: bool,
}

/// All that may touch in a step, gaps beyond the reach left out where contacts are searched for; and the sides of nodes.
pub fn find(problem: &Problem, look: &Look) -> (Vec<Touch>, Sides) {
    let mut all = vec![];
    let mut sides = Sides::new();
    let reach = look.reach;
    for (group, contact) in problem.contacts.iter().enumerate() {
        let touch = |node: usize, shape: Shape, thickness: f64| Touch { group, node, shape, thickness };
        let places = |node: usize| {
            let [start, middle] = [look.starts, look.middle].map(|q| problem.place(node, q));
            let end = [0, 1].map(|k| 2.0 * middle[k] - start[k]);
            [start, middle, end]
                .into_iter()
                .zip(look.shifts[group])
                .map(|(p, shift)| minus(p, shift))
                .collect::<Vec<_>>()
        };
        let held = |sides: &mut Sides,
                    node: usize,
                    whereabouts: &dyn Fn([f64; 2]) -> Where,
                    through: &dyn Fn([f64; 2], [f64; 2]) -> bool| {
            let key = [group, node, 0];
            let places: [[f64; 2]; 3] = places(node).try_into().unwrap();
            let side = sides::at_obstacle(places, look.known.get(&key).copied(), look.first, whereabouts, through);
            side.map(|side| sides.insert(key, side));
            (places[1], whereabouts(places[1]), side == Some(1.0))
        };
        let r = contact.radius;
        match &contact.obstacle {
            &Obstacle::Plane { point, normal } => {
                all.extend(contact.nodes.iter().map(|&node| touch(node, Shape::Line { point, normal }, r)));
            }
            &Obstacle::HalfPlane { point, normal, direction } => {
                let along = |p: [f64; 2]| dot(minus(p, point), direction);
                let height = |p: [f64; 2]| dot(minus(p, point), normal);
                let whereabouts = |p: [f64; 2]| match along(p) < 0.0 {
                    true => Where::Beyond,
                    false if height(p) < 0.0 => Where::Behind,
                    false => Where::Front,
                };
                let through = |from: [f64; 2], to: [f64; 2]| {
                    let part = height(from) / (height(from) - height(to));
                    height(from) >= 0.0 && height(to) < 0.0 && along(from) + part * (along(to) - along(from)) >= 0.0
                };
                for &node in &contact.nodes {
                    let (_, found, held) = held(&mut sides, node, &whereabouts, &through);
                    let face = found == Where::Front || (found == Where::Behind && held);
                    let corner = Shape::Round { centre: point, radius: 0.0, inside: false };
                    all.push(touch(node, if face { Shape::Line { point, normal } } else { corner }, r));
                }
            }
            &Obstacle::Circle { centre, radius, inside } => {
                let round = Shape::Round { centre, radius, inside };
                all.extend(contact.nodes.iter().map(|&node| touch(node, round.clone(), r)));
            }
            &Obstacle::Arc { centre, radius, turn, inside } => {
                // Some whole turns of the angle of the place lie on the arc.
                let on = |p: [f64; 2]| {
                    let angle = (p[1] - centre[1]).atan2(p[0] - centre[0]);
                    (-3..=3).map(|k| angle + f64::from(k) * std::f64::consts::TAU).any(|a| turn[0] <= a && a <= turn[1])
                };
                let sign = if inside { -1.0 } else { 1.0 };
                let height = |p: [f64; 2]| sign * (norm(minus(p, centre)) - radius);
                let whereabouts = |p: [f64; 2]| match on(p) {
                    false => Where::Beyond,
                    true if height(p) < 0.0 => Where::Behind,
                    true => Where::Front,
                };
                let through = |from: [f64; 2], to: [f64; 2]| {
                    let at = |s: f64| [0, 1].map(|k| from[k] + s * (to[k] - from[k]));
                    let [mut low, mut high] = [0.0, 1.0];
                    for _ in 0..60 {
                        let middle = 0.5 * (low + high);
                        if height(at(middle)) >= 0.0 { low = middle } else { high = middle }
                    }
                    height(from) >= 0.0 && height(to) < 0.0 && on(at(low))
                };
                for &node in &contact.nodes {
                    let (place, found, held) = held(&mut sides, node, &whereabouts, &through);
                    let ends = turn.map(|a| [centre[0] + radius * a.cos(), centre[1] + radius * a.sin()]);
                    let far = ends.map(|end| norm(minus(place, end)));
                    let corner =
                        Shape::Round { centre: ends[usize::from(far[1] < far[0])], radius: 0.0, inside: false };
                    let face = found == Where::Front || (found == Where::Behind && held);
                    all.push(touch(node, if face { Shape::Round { centre, radius, inside } } else { corner }, r));
                }
            }
            Obstacle::Order { pairs } => {
                all.extend(pairs.iter().map(|&[up, down]| touch(up, Shape::Above { node: down }, 2.0 * r)));
            }
            Obstacle::Polyline { points } => {
                for &node in &contact.nodes {
                    let whereabouts = |p: [f64; 2]| sides::beside(points, p).0;
                    let (place, found, held) =
                        held(&mut sides, node, &whereabouts, &|from, to| sides::leads_through(points, from, to));
                    let way = 2.0 * norm(minus(look.shifts[group][2], look.shifts[group][0]));
                    let far = reach.of(problem, node, r) + way.max(reach.two_steps * reach.obstacles[group]) + r;
                    // What was not near before is looked for within the reach alone.
                    let known = found == Where::Behind && look.known.contains_key(&[group, node, 0]);
                    let near = known || sides::beside(points, place).1 <= far;
                    if !near {
                        sides.remove(&[group, node, 0]);
                    }
                    let [lines, corners] = against_polyline(place, points, far, held && near);
                    let line = |j: usize| {
                        let way = minus(points[j + 1], points[j]).map(|x| x / norm(minus(points[j + 1], points[j])));
                        Shape::Line { point: points[j], normal: [-way[1], way[0]] }
                    };
                    let corner = |i: usize| Shape::Round { centre: points[i], radius: 0.0, inside: false };
                    let shapes = lines.into_iter().map(line).chain(corners.into_iter().map(corner));
                    all.extend(shapes.map(|shape| touch(node, shape, r)));
                }
            }
            Obstacle::Bodies { others } => {
                let limit = |a: usize, b: usize| reach.of(problem, a, r) + reach.of(problem, b, r) + 2.0 * r;
                assert!(r > 0.0, "the dense code has thick bodies only");
                let sets: [&[usize]; 2] = [&contact.nodes, others];
                let shapes = against_bodies(problem, look, group, sets, &limit, &mut sides);
                all.extend(shapes.into_iter().map(|(node, shape)| touch(node, shape, 2.0 * r)));
            }
        }
    }
    (all, sides)
}

/// A position against the segments of a polyline, (T135), as their numbers and those of vertices: every segment in front of
/// which it is; convex vertices beyond both of their segments; from behind, if it is held there, the nearest segment, a re-entrant
/// neighbour of it that is not farther than twice the depth, and behind a re-entrant vertex the lines of both segments.
fn against_polyline(place: [f64; 2], points: &[[f64; 2]], limit: f64, held: bool) -> [Vec<usize>; 2] {
    let last = points.len() - 2;
    let ways: Vec<[f64; 2]> = points.windows(2).map(|w| minus(w[1], w[0])).collect();
    // Distance along a segment from its start, to its left, and beyond its end.
    let along = |j: usize| dot(ways[j], minus(place, points[j])) / norm(ways[j]);
    let left = |j: usize| cross(ways[j], minus(place, points[j])) / norm(ways[j]);
    let after = |j: usize| along(j) - norm(ways[j]);
    let inside = |j: usize| along(j) >= 0.0 && after(j) <= 0.0;
    let closest = |j: usize| left(j).hypot((-along(j)).max(after(j)).max(0.0));
    let hollow = |j: usize| cross(ways[j - 1], ways[j]) > 1e-9 * norm(ways[j - 1]) * norm(ways[j]);
    let distance = |i: usize| norm(minus(place, points[i]));
    let mut lines: Vec<usize> = (0..=last).filter(|&j| inside(j) && left(j) >= 0.0).collect();
    let mut corners = vec![];
    for i in 0..=last + 1 {
        let beyond = (i == 0 || after(i - 1) > 0.0) && (i > last || along(i) < 0.0);
        if beyond && (i == 0 || i > last || !hollow(i)) {
            corners.push(i);
        }
    }
    let best = (0..=last).map(closest).fold(f64::INFINITY, f64::min);
    let front = lines.iter().map(|&j| left(j)).chain(corners.iter().map(|&i| distance(i)));
    let is_behind = front.fold(f64::INFINITY, f64::min) > best * (1.0 + 1e-9);
    lines.retain(|&j| left(j) <= limit);
    corners.retain(|&i| distance(i) <= limit);
    if !held || !is_behind {
        return [lines, corners];
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
    lines.extend((0..=last).filter(|&j| behind[j]));
    [lines, corners]
}

/// Nodes of two sets of thick bodies against the lines and ends of each other.
fn against_bodies(
    problem: &Problem,
    look: &Look,
    group: usize,
    sets: [&[usize]; 2],
    limit: &dyn Fn(usize, usize) -> f64,
    sides: &mut Sides,
) -> Vec<(usize, Shape)> {
    let at = |node: usize| problem.place(node, look.middle);
    let body = |node: usize| problem.bodies.iter().position(|body| body.nodes.contains(&node)).unwrap();
    let apart = |a: usize, b: usize| body(a) != body(b) && problem.translations(a) != problem.translations(b);
    // The nodes of a body in the order of its lines.
    let order = |b: usize| {
        let lines = &problem.bodies[b].lines;
        let mut order = vec![lines[0][0]];
        lines.iter().for_each(|line| order.push(line[1]));
        order
    };
    // Whether a place is beyond a node along all lines of a set that meet there.
    let lines: Vec<[usize; 2]> = problem.bodies.iter().flat_map(|body| body.lines.clone()).collect();
    let beyond = |place: [f64; 2], node: usize, set: &[usize]| {
        let own = lines.iter().filter(|line| line.contains(&node) && line.iter().all(|end| set.contains(end)));
        own.into_iter().all(|line| {
            let other = if line[0] == node { line[1] } else { line[0] };
            dot(minus(place, at(node)), minus(at(other), at(node))) <= 0.0
        })
    };
    let mut found: Vec<(usize, Shape)> = vec![];
    let ways = if sets[0] == sets[1] { vec![[0, 0]] } else { vec![[0, 1], [1, 0]] };
    for &[own, other] in &ways {
        for &node in sets[own] {
            for (b, other_body) in problem.bodies.iter().enumerate() {
                let touched =
                    !other_body.lines.is_empty() && other_body.nodes.iter().all(|node| sets[other].contains(node));
                if !touched || body(node) == b {
                    continue;
                }
                let order = order(b);
                let [before, after] = [look.starts, look.middle]
                    .map(|q| order.iter().map(|&node| problem.place(node, q)).collect::<Vec<[f64; 2]>>());
                let places = [look.starts, look.middle].map(|q| problem.place(node, q));
                let key = [group, node, b];
                let side = sides::at_body(places, [&before, &after], look.known.get(&key).copied());
                let mut seen = after.clone();
                if side < 0.0 {
                    seen.reverse();
                }
                let limit = limit(node, order[0]);
                let (whereabouts, far) = sides::beside(&seen, places[1]);
                // Deeper than it can have been pushed in a step, it is behind a line that turned, not pushed through it.
                let deep = whereabouts == Where::Behind && look.known.contains_key(&key);
                let near = far <= if deep { 2.0 * limit } else { limit };
                if whereabouts != Where::Beyond && near {
                    sides.insert(key, side);
                }
                let last = order.len() - 2;
                if whereabouts == Where::Beyond && near {
                    // Beyond an end, but through the segment there on the way, or about to come through it.
                    let far = [0, last + 1].map(|i| norm(minus(places[1], after[i])));
                    let j = if far[0] < far[1] { 0 } else { last };
                    let ends = [order[j], order[j + 1]];
                    let behind = sides::through_segment(places, [&before, &after], (j, side), 2.0);
                    if let Some(behind) = behind.filter(|_| ends.iter().all(|&end| apart(node, end))) {
                        sides.insert(key, side);
                        found.extend(behind.then_some((node, Shape::Segment { ends, side })));
                    }
                }
                for j in against_polyline(places[1], &seen, limit, near)[0].iter() {
                    let j = if side < 0.0 { last - j } else { *j };
                    let ends = [order[j], order[j + 1]];
                    if ends.iter().all(|&end| apart(node, end)) {
                        found.push((node, Shape::Segment { ends, side }));
                    }
                }
            }
        }
    }
    // Whether a node was pushed through the body of another one, or is in front of a hollow there.
    let through = |node: usize, end: usize| {
        let order = if problem.bodies[body(end)].lines.is_empty() { vec![end] } else { order(body(end)) };
        let i = order.iter().position(|&node| node == end).unwrap();
        let Some(side) = sides.get(&[group, node, body(end)]).filter(|_| i > 0 && i + 1 < order.len()) else {
            return false;
        };
        let [before, after] = [i - 1, i].map(|j| minus(at(order[j + 1]), at(order[j])));
        let sine = side * cross(before, after) / (norm(before) * norm(after));
        sine > 1e-9 || (sine.abs() <= 1e-9 && side * cross(after, minus(at(node), at(end))) < 0.0)
    };
    for &[own, other] in &ways {
        for &node in sets[own] {
            for &end in sets[other] {
                let near = norm(minus(at(node), at(end))) <= limit(node, end);
                if apart(node, end) && near && beyond(at(node), end, sets[other]) {
                    // Two ends that face each other count once.
                    let both = sets[own].contains(&node) && sets[other].contains(&end);
                    let mutual = both && beyond(at(end), node, sets[own]);
                    if !through(node, end) && !through(end, node) && (!mutual || node < end) {
                        found.push((node, Shape::End { node: end }));
                    }
                }
            }
        }
    }
    found
}
