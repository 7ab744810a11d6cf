//! Filled-in graphs and their Hausdorff distance in the metric max(|Δt|, |Δx|).

/// A function of time as a polyline whose times never descend: a jump is a vertical segment.
///
/// ```
/// use carom::norms::Graph;
///
/// let step = |at: f64| Graph::staircase(&[0.0, at, 2.0], &[0.0, 1.0, 1.0]);
/// assert!((step(1.0).distance(&step(1.1)) - 0.1).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    points: Vec<[f64; 2]>,
}

impl Graph {
    /// Straight between instants.
    pub fn polyline(times: &[f64], values: &[f64]) -> Graph {
        Graph { points: times.iter().zip(values).map(|(&t, &x)| [t, x]).collect() }
    }

    /// Constant from each instant to the next, where it jumps.
    pub fn staircase(times: &[f64], values: &[f64]) -> Graph {
        let mut points = Vec::with_capacity(2 * times.len());
        for k in 0..times.len() {
            if k > 0 && values[k] != values[k - 1] {
                points.push([times[k], values[k - 1]]);
            }
            points.push([times[k], values[k]]);
        }
        Graph { points }
    }

    /// The graph of `f` on [0, end], halved from `cells` equal pieces on until chords are right to `tolerance`. A jump
    /// is enclosed to the last digits of its time, and so becomes a vertical segment by itself.
    pub fn of(f: &dyn Fn(f64) -> f64, end: f64, cells: usize, tolerance: f64) -> Graph {
        let mut points = vec![[0.0, f(0.0)]];
        for cell in 1..=cells {
            let t = end * (cell as f64 / cells as f64);
            let from = points[points.len() - 1];
            refine(f, from, [t, f(t)], tolerance, 1e-14 * end, &mut points);
        }
        Graph { points }
    }

    /// Its corners, as (time, value).
    pub fn points(&self) -> &[[f64; 2]] {
        &self.points
    }

    /// Hausdorff distance: the farthest that any point of one graph is from the other. Both need a point.
    pub fn distance(&self, other: &Graph) -> f64 {
        let there = directed(&self.points, &other.points, 0.0);
        // What is known already lets the way back skip all that cannot be farther.
        directed(&other.points, &self.points, there)
    }
}

fn refine(
    f: &dyn Fn(f64) -> f64,
    from: [f64; 2],
    to: [f64; 2],
    tolerance: f64,
    shortest: f64,
    points: &mut Vec<[f64; 2]>,
) {
    let t = 0.5 * (from[0] + to[0]);
    let middle = [t, f(t)];
    if to[0] - from[0] <= shortest || (middle[1] - 0.5 * (from[1] + to[1])).abs() <= tolerance {
        points.push(to);
        return;
    }
    refine(f, from, middle, tolerance, shortest, points);
    refine(f, middle, to, tolerance, shortest, points);
}

/// Relative width at which a bracket of the distance is closed.
const CLOSED: f64 = 1e-13;

/// The larger of `floor` and the farthest that any point of the polyline `p` is from the polyline `q`, by branch and
/// bound: a piece [a, b] of `p` is no farther than ½(d_a + d_b + its length), since the distance is 1-Lipschitz, and no
/// farther than max(d(a, s), d(b, s)) for any segment s, since the distance from a segment is convex.
fn directed(p: &[[f64; 2]], q: &[[f64; 2]], floor: f64) -> f64 {
    let mut low = floor;
    let mut ends = Vec::with_capacity(p.len());
    for &a in p {
        let near = nearest(a, q, low);
        low = low.max(near.distance);
        ends.push((a, near));
    }
    let mut pieces: Vec<_> = ends.windows(2).map(|pair| [pair[0], pair[1]]).collect();
    while let Some([(a, near_a), (b, near_b)]) = pieces.pop() {
        let length = metric([b[0] - a[0], b[1] - a[1]]);
        let lipschitz = 0.5 * (near_a.distance + near_b.distance + length);
        let convex = |s: usize| to_segment(a, q, s).max(to_segment(b, q, s));
        let bound = lipschitz.min(convex(near_a.segment)).min(convex(near_b.segment));
        let middle = [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])];
        if bound <= low * (1.0 + CLOSED) || middle == a || middle == b {
            continue;
        }
        let near = nearest(middle, q, low);
        low = low.max(near.distance);
        pieces.extend([[(a, near_a), (middle, near)], [(middle, near), (b, near_b)]]);
    }
    low
}

/// A segment of a polyline near a point.
#[derive(Clone, Copy)]
struct Near {
    distance: f64,
    segment: usize,
}

/// The nearest segment of `q`, or the first one met that is not farther than `enough`. Times ascend along `q`, so the
/// walk from the point's own time ends on each side where time alone is farther than the best.
fn nearest(a: [f64; 2], q: &[[f64; 2]], enough: f64) -> Near {
    let last = q.len().saturating_sub(2);
    let start = q.partition_point(|point| point[0] <= a[0]).saturating_sub(1).min(last);
    let mut best = Near { distance: to_segment(a, q, start), segment: start };
    let (mut left, mut right) = (start.checked_sub(1), (start < last).then_some(start + 1));
    while best.distance > enough && (left.is_some() || right.is_some()) {
        // A segment on the left ends at its second point, one on the right begins at its first.
        left = left.filter(|&s| a[0] - q[s + 1][0] < best.distance);
        right = right.filter(|&s| q[s][0] - a[0] < best.distance);
        for segment in left.into_iter().chain(right) {
            let distance = to_segment(a, q, segment);
            if distance < best.distance {
                best = Near { distance, segment };
            }
        }
        left = left.and_then(|s| s.checked_sub(1));
        right = right.filter(|&s| s < last).map(|s| s + 1);
    }
    best
}

/// Distance of a point from segment `s` of `q`. Along the segment it is convex and piecewise linear, with kinks where a
/// component vanishes or both are equally large: one of these, or an end, is the minimum.
fn to_segment(a: [f64; 2], q: &[[f64; 2]], s: usize) -> f64 {
    let from = [q[s][0] - a[0], q[s][1] - a[1]];
    let Some(next) = q.get(s + 1) else { return metric(from) };
    let way = [next[0] - q[s][0], next[1] - q[s][1]];
    let to = [next[0] - a[0], next[1] - a[1]];
    let at = |kink: f64| {
        // Not finite where a component is constant: no kink there.
        let share = if kink.is_finite() { kink.clamp(0.0, 1.0) } else { 0.0 };
        metric([from[0] + share * way[0], from[1] + share * way[1]])
    };
    let kinks = [
        -from[0] / way[0],
        -from[1] / way[1],
        (from[1] - from[0]) / (way[0] - way[1]),
        -(from[0] + from[1]) / (way[0] + way[1]),
    ];
    kinks.into_iter().map(at).fold(metric(from).min(metric(to)), f64::min)
}

fn metric(way: [f64; 2]) -> f64 {
    way[0].abs().max(way[1].abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Directed distance from points every `gap` along `p` to points as dense along `q`: too large by up to `gap`
    /// through `q` and too small by as much through `p`.
    fn sampled(p: &Graph, q: &Graph, gap: f64) -> f64 {
        let dense = |graph: &Graph| -> Vec<[f64; 2]> {
            let along = |pair: &[[f64; 2]]| {
                let (a, b) = (pair[0], pair[1]);
                let n = (metric([b[0] - a[0], b[1] - a[1]]) / gap).ceil().max(1.0) as usize;
                let point = move |k| {
                    let share = k as f64 / n as f64;
                    [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])]
                };
                (0..=n).map(point).collect::<Vec<_>>()
            };
            graph.points.windows(2).flat_map(along).collect()
        };
        let (p, q) = (dense(p), dense(q));
        let from = |a: &[f64; 2]| q.iter().map(|b| metric([a[0] - b[0], a[1] - b[1]])).fold(f64::INFINITY, f64::min);
        p.iter().map(from).fold(0.0, f64::max)
    }

    /// Numbers in [0, 1) that look random: enough to vary shapes, the same every time.
    fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut x = seed;
        move || {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (x >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    #[test]
    fn shifted_jumps_are_apart_by_the_shift() {
        for (shift, height, distance) in [(0.1, 1.0, 0.1), (0.1, 0.04, 0.04), (0.3, -7.0, 0.3)] {
            let jump = |at: f64| Graph::staircase(&[0.0, at, 2.0], &[0.0, height, height]);
            let (a, b) = (jump(1.0), jump(1.0 + shift));
            assert!((a.distance(&b) - distance).abs() < 1e-12, "{shift} {height}: {}", a.distance(&b));
            assert_eq!(a.distance(&b), b.distance(&a));
            assert_eq!(a.distance(&a), 0.0);
        }
    }

    /// From the middle of a level below a tent of height 3, both flanks x = 3t are away by max(1 − t, 3t) = 3/4.
    #[test]
    fn the_farthest_point_need_not_be_a_corner() {
        let level = Graph::polyline(&[0.0, 2.0], &[0.0, 0.0]);
        let tent = Graph::polyline(&[0.0, 1.0, 2.0], &[0.0, 3.0, 0.0]);
        assert!((directed(&level.points, &tent.points, 0.0) - 0.75).abs() < 1e-12);
        assert_eq!(level.distance(&tent), 3.0);
    }

    #[test]
    fn agrees_with_dense_sampling() {
        let gap = 2e-3;
        for seed in 1..=12 {
            let mut next = numbers(seed);
            let mut graph = |n: usize, stairs: bool| {
                let times: Vec<f64> = (0..=n).map(|k| k as f64 / n as f64).collect();
                let values: Vec<f64> = (0..=n).map(|_| 0.8 * next()).collect();
                if stairs { Graph::staircase(&times, &values) } else { Graph::polyline(&times, &values) }
            };
            let (a, b) = (graph(7, seed % 2 == 0), graph(11, seed % 3 == 0));
            let dense = sampled(&a, &b, gap).max(sampled(&b, &a, gap));
            let exact = a.distance(&b);
            assert!((exact - dense).abs() <= gap, "{seed}: {exact} {dense}");
        }
    }

    #[test]
    fn a_function_becomes_a_polyline_with_vertical_jumps() {
        let f = |t: f64| if t < 0.3 { t * t } else { 5.0 + t };
        let graph = Graph::of(&f, 1.0, 4, 1e-6);
        let jump = graph.points.windows(2).find(|pair| (pair[1][1] - pair[0][1]).abs() > 1.0).unwrap();
        assert!((jump[0][0] - 0.3).abs() < 1e-13 && (jump[1][0] - 0.3).abs() < 1e-13, "{jump:?}");
        assert!(graph.points.is_sorted_by(|a, b| a[0] <= b[0]));
        assert!(graph.points.len() < 1000);
        let fine: Vec<f64> = (0..=4000).map(|k| k as f64 / 4000.0).collect();
        let values: Vec<f64> = fine.iter().map(|&t| f(t)).collect();
        // The steep piece of the fine polyline is one cell off the vertical.
        assert!(graph.distance(&Graph::polyline(&fine, &values)) <= 1.0 / 4000.0 + 1e-6);
    }
}
