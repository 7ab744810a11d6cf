//! (T135), (T136) by brute force for bodies: over random bent bodies and positions of a node the least gap is the signed distance
//! from the line of the body, less the thickness, on the side that is stored.

use crate::common::history::build;
use crate::common::random::Random;
use carom::relations::Scene;
use carom::state::{Key, StoredSide};

const THICKNESS: f64 = 2.0 * 0.004;

/// Distance and nearest point of a position and a line of points, and whether that point is a vertex or an end of the line.
fn nearest(points: &[[f64; 2]], [x, y]: [f64; 2]) -> (f64, [f64; 2], Option<usize>) {
    let mut best = (f64::INFINITY, [0.0; 2], None);
    for (j, ends) in points.windows(2).enumerate() {
        let [way, from] = [[ends[1][0] - ends[0][0], ends[1][1] - ends[0][1]], [x - ends[0][0], y - ends[0][1]]];
        let part = (way[0] * from[0] + way[1] * from[1]) / (way[0] * way[0] + way[1] * way[1]);
        let inside = part.clamp(0.0, 1.0);
        let point = [ends[0][0] + inside * way[0], ends[0][1] + inside * way[1]];
        let far = (x - point[0]).hypot(y - point[1]);
        if far < best.0 {
            // Rounding decides on which side of a border a position exactly on it is.
            let vertex = if part <= 1e-9 { Some(j) } else { (part >= 1.0 - 1e-9).then_some(j + 1) };
            best = (far, point, vertex);
        }
    }
    best
}

/// Whether a position is above the graph of a function given by points; none beside its ends.
fn is_above(points: &[[f64; 2]], [x, y]: [f64; 2]) -> Option<bool> {
    let ends = points.windows(2).find(|ends| ends[0][0] <= x && x <= ends[1][0])?;
    let part = (x - ends[0][0]) / (ends[1][0] - ends[0][0]);
    Some(y > ends[0][1] + part * (ends[1][1] - ends[0][1]))
}

/// 60 bodies and 2,000 positions each: near segments, near vertices, and exactly on the borders of segments.
#[test]
fn the_least_gap_to_a_body_is_the_signed_distance() {
    let (mut front, mut behind, mut wedges, mut corners) = (0, 0, 0, 0);
    for seed in 0..60 {
        let mut random = Random::new(900 + seed);
        let count = random.count(2, 6);
        let mut x = 0.0;
        let points: Vec<[f64; 2]> = (0..count)
            .map(|_| {
                x += random.between(0.1, 0.4);
                [x, random.between(-0.3, 0.3)]
            })
            .collect();
        let thick = seed % 2 == 0;
        let mut written = points.clone();
        if seed % 3 == 0 {
            written.reverse();
        }
        let text = format!(
            "format = 1\n[time]\nend = 1.0\nstep = 0.1\n[scheme]\nname = \"newmark\"\n\
             [[body]]\nname = \"beam\"\nelement = \"beam\"\npolyline = {{ points = {written:?}, elements = {} }}\n\
             material = {{ young = 2e8, poisson = 0.3, density = 1000.0 }}\n\
             section = {{ shape = \"rectangle\", width = 0.04, height = 0.04 }}\n\
             [[body]]\nname = \"mass\"\nelement = \"mass\"\nat = [0.0, 5.0]\nmass = 1.0\n\
             [[contact]]\nname = \"touch\"\nbetween = [\"mass\", \"beam\"]\nradius = {:?}\n",
            3 * (count - 1),
            if thick { 0.5 * THICKNESS } else { 0.0 }
        );
        let (model, system) = build(&text, &[]).unwrap();
        let thickness = if thick { THICKNESS } else { 0.0 };
        let node = model.bodies[1].nodes.start;
        let mut state = system.state(false);
        let mut scene = Scene::new(&system.contacts, &system.nodes);
        for k in 0..2000 {
            // Near a segment, near a vertex, exactly on the border of a segment.
            let j = random.count(0, count - 2);
            let [a, b] = [points[j], points[j + 1]];
            let way = [b[0] - a[0], b[1] - a[1]];
            let (part, far) = (random.between(0.0, 1.0), random.between(-0.006, 0.006));
            let length = way[0].hypot(way[1]);
            let position = match k % 3 {
                0 => [a[0] + part * way[0] - far * way[1] / length, a[1] + part * way[1] + far * way[0] / length],
                1 => [b[0] + random.between(-0.006, 0.006), b[1] + random.between(-0.006, 0.006)],
                _ => [b[0] - far * way[1] / length, b[1] + far * way[0] / length],
            };
            let (distance, point, corner) = nearest(&points, position);
            let Some(above) = is_above(&points, position).filter(|_| distance > 1e-6) else { continue };
            let is_end = corner.is_some_and(|i| i == 0 || i == count - 1);
            state.q[..].fill(0.0);
            for axis in 0..2 {
                let dof =
                    system.nodes.dof(node, [carom::nodes::Component::X, carom::nodes::Component::Y][axis]) as usize;
                state.q[dof] = position[axis] - [0.0, 5.0][axis];
            }
            let what = || {
                format!("seed {seed}, position {k} {position:?}, {points:?}: distance {distance}, nearest {point:?}")
            };
            let mut gaps = |state: &carom::state::State| -> Vec<f64> {
                scene.look_at(&system.contacts, &system.nodes, state);
                scene.candidates.iter().map(|candidate| candidate.gap_at_end(&state.q)).collect()
            };
            let least = |gaps: &[f64]| gaps.iter().copied().fold(f64::INFINITY, f64::min);
            // On its own side. An edge or an end without thickness has no gap of its own.
            state.sides.clear();
            let found = gaps(&state);
            // On a border the segment has the position, or the vertex.
            if thick || corner.is_none() {
                assert!((least(&found) - (distance - thickness)).abs() < 1e-12, "{}: {found:?}", what());
                front += 1;
            } else {
                // A thin end reaches farther by 1e-4 of the length of the line, which is less than three here.
                let overhang = if is_end { 3e-4 } else { 0.0 };
                assert!(least(&found).hypot(overhang) > distance - 1e-12, "{}: {found:?}", what());
                corners += 1;
            }
            if is_end {
                continue;
            }
            // Pushed through from the other side.
            let left = if seed % 3 == 0 { !above } else { above };
            let key = Key { group: 0, node: node as u32, feature: 0 };
            state.sides.push(StoredSide { key, side: if left { -1 } else { 1 }, depth: 0.1 });
            let found = gaps(&state);
            if corner.is_none() {
                assert!((least(&found) + distance + thickness).abs() < 1e-12, "{}: {found:?}", what());
                behind += 1;
            } else {
                // Behind a vertex the lines of both segments hold, on a border at least one; none is deeper than the distance.
                let least = least(&found) + thickness;
                let count = if k % 3 == 2 { 1 } else { 2 };
                assert!(found.len() >= count && (-distance - 1e-12..0.0).contains(&least), "{}: {found:?}", what());
                wedges += 1;
            }
        }
    }
    println!("{front} in front, {behind} behind, {wedges} of them behind vertices, {corners} beside edges");
    assert!(
        front > 60_000 && behind > 50_000 && wedges > 2_000 && corners > 2_000,
        "{front} {behind} {wedges} {corners}"
    );
}
