use super::*;
use crate::obstacles::tests::all_surfaces;
use crate::plane::turned;
use std::f64::consts::{PI, TAU};

/// A generator of numbers between zero and one.
fn random(mut seed: u64) -> impl FnMut() -> f64 {
    move || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Surfaces that a position may touch, each once.
fn surfaces(line: &Polyline, position: [f64; 2]) -> Vec<Surface> {
    let mut found = all_surfaces(line, position, 100.0);
    found.sort_by_key(|(number, _)| *number);
    found.dedup_by_key(|(number, _)| *number);
    found.into_iter().map(|(_, surface)| surface).collect()
}

/// Gap and normal of a position at a surface.
fn gap(surface: &Surface, position: [f64; 2]) -> (f64, [f64; 2]) {
    match *surface {
        Surface::Straight { point, normal } => (inner(normal, minus(position, point)), normal),
        Surface::Round { centre, radius, .. } => {
            assert_eq!(radius, 0.0);
            direction(minus(position, centre))
        }
    }
}

/// An outline for the oracle, and what must hold for it.
struct RandomOutline {
    points: Vec<[f64; 2]>,
    closed: bool,
    /// The direction that was up before it was turned.
    up: [f64; 2],
    /// Whether all its vertices are straight but for rounding, or bent by much more than that.
    clear: bool,
}

/// A star around the origin, with the body outside or inside.
fn star(random: &mut impl FnMut() -> f64, outside: bool) -> Vec<[f64; 2]> {
    let count = 3 + (12.0 * random()) as usize;
    let angle = |k: usize, by: f64| TAU * (k as f64 + 0.8 * by) / count as f64;
    let mut points: Vec<[f64; 2]> = (0..count)
        .map(|k| {
            let (sine, cosine) = angle(k, random()).sin_cos();
            let radius = 0.3 + random();
            [radius * cosine, radius * sine]
        })
        .collect();
    points.push(points[0]);
    if outside {
        points.reverse();
    }
    points
}

/// A function of x, turned by an angle; the body is above it or below it.
fn graph(random: &mut impl FnMut() -> f64, above: bool) -> Vec<[f64; 2]> {
    let count = 2 + (10.0 * random()) as usize;
    let mut x = -1.0;
    let mut points: Vec<[f64; 2]> = (0..count)
        .map(|_| {
            x += 0.02 + 0.3 * random();
            [x, random() - 0.5]
        })
        .collect();
    if !above {
        points.reverse();
    }
    points
}

/// Points more between others: on the line between them, or beside it by so much.
fn refine(points: &[[f64; 2]], random: &mut impl FnMut() -> f64, beside: f64) -> Vec<[f64; 2]> {
    let mut refined = Vec::new();
    for pair in points.windows(2) {
        refined.push(pair[0]);
        let (length, along) = direction(minus(pair[1], pair[0]));
        let mut s = 0.0;
        while random() < 0.4 && s < 0.8 {
            s += 0.1 + 0.1 * random();
            let by = beside * length * (random() - 0.5);
            let n = quarter(along);
            refined.push([0, 1].map(|k| pair[0][k] + s * length * along[k] + by * n[k]));
        }
    }
    refined.push(points[points.len() - 1]);
    refined
}

fn moved(points: &[[f64; 2]], angle: f64, by: [f64; 2]) -> Vec<[f64; 2]> {
    points.iter().map(|&p| turned(p, angle)).map(|p| [p[0] + by[0], p[1] + by[1]]).collect()
}

/// Distance and nearest point of a position and a segment.
fn to_segment(position: [f64; 2], ends: &[[f64; 2]]) -> (f64, [f64; 2]) {
    let way = minus(ends[1], ends[0]);
    let part = (inner(minus(position, ends[0]), way) / inner(way, way)).clamp(0.0, 1.0);
    let nearest = [0, 1].map(|k| (1.0 - part) * ends[0][k] + part * ends[1][k]);
    let away = minus(position, nearest);
    (inner(away, away).sqrt(), nearest)
}

impl RandomOutline {
    fn random(number: u64) -> RandomOutline {
        let mut next = random(number);
        let closed = number.is_multiple_of(2);
        let side = next() < 0.5;
        let points = if closed { star(&mut next, side) } else { graph(&mut next, side) };
        let beside = [0.0, 1e-12, 1e-11, 1e-9, 1e-7, 1e-5][(6.0 * next()) as usize];
        let points = refine(&points, &mut next, beside);
        let (angle, shift) = (PI * next(), [next(), next()]);
        let mut points = moved(&points, angle, shift);
        if closed {
            *points.last_mut().unwrap() = points[0];
            // The outline may begin anywhere.
            let by = (next() * (points.len() - 1) as f64) as usize;
            points.pop();
            points.rotate_left(by);
            points.push(points[0]);
        }
        RandomOutline { points, closed, up: turned([0.0, 1.0], angle), clear: beside == 0.0 }
    }

    /// Whether the body may be at a position: by the number of crossings of a ray where the outline is closed, and by the
    /// side of the first or last crossing of a line where it is open. None where such a line misses the outline.
    fn is_free(&self, position: [f64; 2]) -> Option<bool> {
        let up = self.up;
        let along = quarter(up);
        let x = |p: [f64; 2]| inner(minus(p, position), along);
        let (mut winding, mut open) = (0, None);
        for pair in self.points.windows(2) {
            let [a, b] = [x(pair[0]), x(pair[1])];
            if (a < 0.0) == (b < 0.0) {
                continue;
            }
            let part = a / (a - b);
            let height = inner(minus([0, 1].map(|k| pair[0][k] + part * (pair[1][k] - pair[0][k])), position), up);
            // The body is on the left: above what goes against `along`, 90 degrees counter-clockwise from up.
            let above = b < a;
            open = Some(above == (height < 0.0));
            if height > 0.0 {
                winding += if b > a { -1 } else { 1 };
            }
        }
        match self.closed {
            true => {
                let area: f64 = self.points.windows(2).map(|p| p[0][0] * p[1][1] - p[0][1] * p[1][0]).sum();
                Some((winding != 0) == (area > 0.0))
            }
            false => open,
        }
    }
}

/// (T135) by brute force, written apart: over random outlines, open and closed, from both sides, with straight, nearly straight,
/// convex and re-entrant vertices, and a million positions, some of them exactly above vertices and segments, the least gap is
/// the signed distance. Behind a re-entrant vertex both segments hold, and nothing holds from farther than twice the depth.
#[test]
fn the_least_gap_is_the_signed_distance_everywhere() {
    let (mut seen, mut wedges, mut behind, mut skipped) = (0, 0, 0, 0);
    for number in 0..1200 {
        let outline = RandomOutline::random(number);
        let line = Polyline::new(outline.points.clone());
        let mut next = random(number + 77);
        for k in 0..1000 {
            let points = &outline.points;
            let segment = &points[k % (points.len() - 1)..][..2];
            let (length, along) = direction(minus(segment[1], segment[0]));
            let size = 10.0_f64.powf(-6.0 * next());
            let position = match k % 4 {
                0 => [3.0 * next() - 1.0, 3.0 * next() - 1.0],
                // Beside a segment, near one of its ends, and exactly at the border of its region.
                1 => [0, 1].map(|i| {
                    segment[0][i] + next() * length * along[i] + size * quarter(along)[i] * [1.0, -1.0][k / 4 % 2]
                }),
                2 => [0, 1].map(|i| segment[1][i] + size * (next() - 0.5)),
                _ => [0, 1].map(|i| segment[1][i] + size * quarter(along)[i] * [1.0, -1.0][k / 4 % 2]),
            };
            let near: Vec<(f64, [f64; 2])> = points.windows(2).map(|ends| to_segment(position, ends)).collect();
            let distance = near.iter().map(|(d, _)| *d).fold(f64::INFINITY, f64::min);
            let found = surfaces(&line, position);
            let gaps: Vec<(f64, [f64; 2])> = found.iter().map(|surface| gap(surface, position)).collect();
            let least = gaps.iter().map(|(g, _)| *g).fold(f64::INFINITY, f64::min);
            let what =
                || format!("outline {number}, position {k} {position:?}: distance {distance:e}, {gaps:?}, {points:?}");
            let free = if distance < 1e-8 { Some(true) } else { outline.is_free(position) };
            let exact = gaps.iter().any(|(g, _)| (g.abs() - distance).abs() < 1e-12);
            // Behind a re-entrant vertex: the lines of both segments that meet there, extended over it.
            let in_wedge = || {
                let (_, nearest) = near.iter().find(|(d, _)| *d == distance).unwrap();
                let meets = |ends: &&[[f64; 2]]| ends.iter().any(|p| direction(minus(*p, *nearest)).0 < 1e-12);
                let lines = points.windows(2).filter(meets).map(|ends| {
                    let (_, along) = direction(minus(ends[1], ends[0]));
                    inner(quarter(along), minus(position, ends[0]))
                });
                let lines: Vec<f64> = lines.collect();
                lines.len() == 2
                    && lines.iter().all(|line| gaps.iter().any(|(g, _)| (g - line).abs() < 1e-8))
                    && (-distance - 1e-12..0.0).contains(&least)
            };
            let Some(free) = free else {
                // Beside an open outline no ray tells the side.
                assert!(exact || in_wedge(), "{}", what());
                skipped += 1;
                continue;
            };
            seen += 1;
            assert!(!gaps.is_empty(), "{}", what());
            if distance < 1e-8 {
                assert!(least.abs() < distance + 1e-12, "{}", what());
                continue;
            }
            if free {
                assert!((least - distance).abs() < 1e-12, "{}", what());
            } else {
                behind += 1;
                assert!(least >= -2.0 * distance - 1e-12, "{}", what());
                if !exact {
                    assert!(in_wedge(), "{}", what());
                    wedges += 1;
                }
            }
            if outline.clear {
                // Each of them once.
                for (i, (a, n)) in gaps.iter().enumerate() {
                    let again =
                        gaps[..i].iter().any(|(b, m)| (a - b).abs() < 1e-9 && direction(minus(*n, *m)).0 < 1e-9);
                    assert!(!again, "{}", what());
                }
            }
        }
    }
    println!("{seen} positions, {behind} behind, {wedges} of them behind vertices, {skipped} beside");
    assert!(seen > 1_000_000 && behind > 400_000 && wedges > 50_000, "{seen} {behind} {wedges} {skipped}");
}

/// Segments that are near are those that a look at all of them finds.
#[test]
fn no_segment_within_reach_is_missed() {
    let mut next = random(11);
    let line = Polyline::new((0..300).map(|_| [3.0 * next(), next()]).collect());
    assert_eq!(line.segments.len(), 299);
    for _ in 0..200 {
        let (position, limit) = ([3.0 * next(), next()], 0.1 * next());
        let mut found = Vec::new();
        line.each_near(position, limit, &mut |j, _| found.push(j));
        let mut wanted = (0..299).filter(|&j| line.project(j, position).closest <= limit);
        assert!(wanted.all(|j| found.contains(&j)));
    }
}

/// Points on one line are no vertices, wherever a closed outline begins; the tip of a solid without thickness is one.
#[test]
fn points_on_a_line_are_no_vertices() {
    let vertices = |points: &[[f64; 2]]| Polyline::new(points.to_vec()).vertices.len();
    assert_eq!(vertices(&[[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]), 2);
    assert_eq!(vertices(&[[0.0, 0.0], [0.1, 0.3], [0.2, 0.6], [0.4, 1.2]]), 2);
    assert_eq!(vertices(&[[0.0, 0.0], [1.0, 0.0], [0.5, 0.0]]), 3);
    let square = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [0.0, 1.0]];
    for first in 0..6 {
        let mut points = square.to_vec();
        points.rotate_left(first);
        points.push(points[0]);
        assert_eq!(vertices(&points), 4, "{first}");
    }
    let plate = Polyline::new(vec![[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 0.0]]);
    assert_eq!(plate.vertices.len(), 2);
    assert_eq!((plate.vertices[1].kind, plate.vertices[1].normal), (VertexKind::Convex, [1.0, 0.0]));
}

/// The tip of a solid without thickness is a convex vertex in every direction, though its two faces are opposite only to
/// rounding.
#[test]
fn the_tip_of_a_thin_solid_is_convex() {
    let mut next = random(5);
    for number in 0..1000 {
        let (angle, shift) = (TAU * next(), [next(), next()]);
        let line = Polyline::new(moved(&[[0.0; 2], [1.0 + next(), 0.0], [next(), 0.0]], angle, shift));
        let Vertex { kind, normal, .. } = line.vertices[1];
        assert_eq!(kind, VertexKind::Convex, "{number}");
        assert!(direction(minus(normal, turned([1.0, 0.0], angle))).0 < 1e-12, "{number}: {normal:?}");
    }
}

/// A position exactly above or below a free end is in the region of the segment that ends there.
#[test]
fn the_border_at_a_free_end_belongs_to_the_segment() {
    let mut next = random(6);
    for number in 0..1000 {
        let (angle, shift) = (TAU * next(), [next(), next()]);
        let points = moved(&[[0.0; 2], [1.0 + next(), 0.0]], angle, shift);
        let line = Polyline::new(points.clone());
        for end in points {
            for height in [0.1, 1e-3, -1e-3, -0.1] {
                let normal = turned([0.0, 1.0], angle);
                let position = [0, 1].map(|k| end[k] + height * normal[k]);
                let found = surfaces(&line, position);
                let [Surface::Straight { .. }] = found[..] else { panic!("{number}, {height}: {found:?}") };
                assert!((gap(&found[0], position).0 - height).abs() < 1e-14, "{number}, {height}: {found:?}");
            }
        }
    }
}

/// A position at the edge of a solid is held in the direction between the normals of both faces.
#[test]
fn an_edge_has_a_normal() {
    let line = Polyline::new(vec![[-1.0, 0.0], [0.0, 0.0], [0.0, -1.0]]);
    let half = 0.5_f64.sqrt();
    let [Surface::Straight { point: [0.0, 0.0], normal: [x, y] }] = surfaces(&line, [1e-12, 0.0])[..] else {
        panic!("not one straight surface")
    };
    assert!((x - half).abs() < 1e-15 && (y - half).abs() < 1e-15);
    assert_eq!(surfaces(&line, [0.1, 0.1]), [Surface::corner([0.0; 2])]);
}

/// A position behind one side of a flat groove is held by the other side too, as a line over the vertex, while that is no
/// farther than twice the depth.
#[test]
fn both_sides_of_a_groove_hold_near_its_vertex() {
    let line = Polyline::new(vec![[-5.0, 1.0], [0.0, 0.0], [5.0, 1.0]]);
    let right = line.segments[1].along;
    let behind = |s: f64, depth: f64| [0, 1].map(|k| s * right[k] - depth * quarter(right)[k]);
    // The line of the left side is 0.92 s + 0.38 d past its end there.
    for (s, depth, count) in [(0.01, 0.02, 2), (0.034, 0.02, 2), (0.036, 0.02, 1), (0.1, 0.02, 1), (0.1, 0.1, 2)] {
        let position = behind(s, depth);
        let mut gaps: Vec<f64> = surfaces(&line, position).iter().map(|surface| gap(surface, position).0).collect();
        gaps.sort_by(f64::total_cmp);
        assert_eq!(gaps.len(), count, "{s} {depth}: {gaps:?}");
        assert!((gaps[0] + depth).abs() < 1e-15, "{s} {depth}: {gaps:?}");
    }
}
