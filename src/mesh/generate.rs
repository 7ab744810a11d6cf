//! Meshes made from a few numbers: straight lines and polylines.
//!
//! Nodes are numbered from one end to the other, and their coordinates are formed so that scaling
//! the input by a power of two scales them to the bit. Knows nothing of case files: sizes are
//! checked by the caller.

use std::collections::BTreeMap;

use super::Mesh;

/// A straight line of `elements` elements, with the node sets `start` and `end`.
///
/// `grading` is the length of the last element over that of the first; the lengths between form a
/// geometric series. The end nodes are `from` and `to`, bit by bit.
///
/// The caller has made sure that `elements >= 1`, that `from` and `to` differ and that `grading` is
/// positive and finite.
///
/// ```
/// use carom::mesh::generate::line;
///
/// let graded = line([0.0, 0.0], [7.0, 0.0], 3, 4.0);
/// assert_eq!(graded.nodes, [[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [7.0, 0.0]]);
/// ```
pub fn line(from: [f64; 2], to: [f64; 2], elements: usize, grading: f64) -> Mesh {
    let mut nodes = vec![from];
    for s in fractions(elements, grading) {
        nodes.push(between(from, to, s));
    }
    nodes.push(to);
    chain(nodes)
}

/// Straight pieces through `points`, with the node sets `start` and `end`.
///
/// The elements are shared out over the pieces by length (largest remainder, at least one per
/// piece) and have equal lengths within a piece. Every point is a node, bit by bit.
///
/// The caller has made sure that there are at least two points, no piece without length, and
/// `elements >= points.len() - 1`.
///
/// ```
/// use carom::mesh::generate::polyline;
///
/// let corner = polyline(&[[0.0, 0.0], [3.0, 0.0], [3.0, 1.0]], 4);
/// assert_eq!(corner.nodes, [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [3.0, 1.0]]);
/// ```
pub fn polyline(points: &[[f64; 2]], elements: usize) -> Mesh {
    let lengths: Vec<f64> = points.windows(2).map(|ends| length(ends[0], ends[1])).collect();
    let mut nodes = vec![points[0]];
    for (ends, count) in points.windows(2).zip(share(&lengths, elements)) {
        for s in fractions(count, 1.0) {
            nodes.push(between(ends[0], ends[1], s));
        }
        nodes.push(ends[1]);
    }
    chain(nodes)
}

/// Positions of the inner nodes, as fractions of the whole length.
fn fractions(elements: usize, grading: f64) -> Vec<f64> {
    let n = elements as f64;
    if grading == 1.0 {
        return (1..elements).map(|i| i as f64 / n).collect();
    }
    // Relative to the longest element, so that no grading overflows.
    let longest = if grading > 1.0 { 1.0 } else { 0.0 };
    let sums: Vec<f64> = (0..elements)
        .scan(0.0, |sum, i| {
            *sum += grading.powf(i as f64 / (n - 1.0).max(1.0) - longest);
            Some(*sum)
        })
        .collect();
    sums[..elements - 1].iter().map(|sum| sum / sums[elements - 1]).collect()
}

/// The place at fraction `s` of the way.
fn between(from: [f64; 2], to: [f64; 2], s: f64) -> [f64; 2] {
    [from[0] + (to[0] - from[0]) * s, from[1] + (to[1] - from[1]) * s]
}

/// Length of a piece; a plain root rather than `hypot`, whose last bit need not scale with the input.
fn length(from: [f64; 2], to: [f64; 2]) -> f64 {
    let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    (dx * dx + dy * dy).sqrt()
}

/// Shares `elements` out in proportion to `lengths`: largest remainder, at least one each.
fn share(lengths: &[f64], elements: usize) -> Vec<usize> {
    let mut counts = vec![1; lengths.len()];
    let mut open: Vec<usize> = (0..lengths.len()).collect();
    let mut left = elements;
    // A piece that deserves less than one element gets one and leaves; the rest is shared anew.
    let quotas = loop {
        let total: f64 = open.iter().map(|&i| lengths[i]).sum();
        let quota = |i: usize| left as f64 * (lengths[i] / total);
        let (large, small): (Vec<usize>, Vec<usize>) = open.iter().partition(|&&i| quota(i) >= 1.0);
        if small.is_empty() {
            break open.iter().map(|&i| (i, quota(i))).collect::<Vec<_>>();
        }
        left -= small.len();
        open = large;
    };
    for &(i, quota) in &quotas {
        counts[i] = quota.floor() as usize;
    }
    let spare = left - quotas.iter().map(|&(i, _)| counts[i]).sum::<usize>();
    let mut by_remainder = quotas;
    by_remainder.sort_by(|(_, a), (_, b)| b.fract().total_cmp(&a.fract()));
    for &(i, _) in by_remainder.iter().take(spare) {
        counts[i] += 1;
    }
    counts
}

/// Lines from each node to the next, and the sets of the two ends.
fn chain(nodes: Vec<[f64; 2]>) -> Mesh {
    let last = nodes.len() - 1;
    let sets = BTreeMap::from([("start".into(), vec![0]), ("end".into(), vec![last])]);
    Mesh { lines: (0..last).map(|i| [i, i + 1]).collect(), nodes, sets, tags: vec![] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn share_gives_short_pieces_one_element_and_the_rest_by_largest_remainder() {
        assert_eq!(share(&[1.0], 7), [7]);
        assert_eq!(share(&[3.0, 1.0], 8), [6, 2]);
        assert_eq!(share(&[1.0, 1.0, 1.0], 5), [2, 2, 1]);
        // Quotas 2.55, 3.25, 4.2 of 10: one spare element, to the largest remainder.
        assert_eq!(share(&[2.55, 3.25, 4.2], 10), [3, 3, 4]);
        // The two short pieces deserve less than one each; 98 are left for the long one.
        assert_eq!(share(&[1e-3, 1.0, 1e-3], 100), [1, 98, 1]);
        // Once the first leaves, the second deserves 9·1.1/10.1 < 1 as well, though 10·1.1/10.2 > 1.
        assert_eq!(share(&[0.1, 1.1, 9.0], 10), [1, 1, 8]);
        assert_eq!(share(&[1.0, 5.0, 9.0], 3), [1, 1, 1]);
    }

    #[test]
    fn line_keeps_both_ends_to_the_bit() {
        // 0.2 + (0.9 - 0.2)·1 is not 0.9, and -0.0 + 0.0 is not -0.0.
        let mesh = line([-0.0, 0.2], [0.7, 0.9], 3, 1.0);
        assert_eq!(mesh.nodes[0].map(f64::to_bits), [-0.0_f64, 0.2].map(f64::to_bits));
        assert_eq!(mesh.nodes[3], [0.7, 0.9]);
        assert_eq!(mesh.sets, BTreeMap::from([("start".into(), vec![0]), ("end".into(), vec![3])]));
        assert!(mesh.tags.is_empty());
    }

    #[test]
    fn one_element_ignores_the_grading() {
        assert_eq!(line([0.0, 0.0], [1.0, 2.0], 1, 3.0), line([0.0, 0.0], [1.0, 2.0], 1, 1.0));
    }

    proptest! {
        #[test]
        fn graded_lengths_form_a_geometric_series(n in 2usize..50, grading in 0.01..100.0f64) {
            let mesh = line([0.0, 0.0], [1.0, 0.0], n, grading);
            let lengths: Vec<f64> = mesh.lines.iter().map(|&[a, b]| mesh.nodes[b][0] - mesh.nodes[a][0]).collect();
            let ratio = (grading.ln() / (n as f64 - 1.0)).exp();
            for pair in lengths.windows(2) {
                // A length is a difference of numbers up to 1: about 1e-16 absolute.
                prop_assert!((pair[1] - ratio * pair[0]).abs() < 1e-14);
            }
            prop_assert!((lengths[n - 1] - grading * lengths[0]).abs() < 1e-13);
        }

        #[test]
        fn powers_of_two_scale_the_nodes_to_the_bit(
            ends in prop::array::uniform4(-10.0..10.0f64),
            (n, grading) in (1usize..40, 0.1..10.0f64),
            power in -30i32..30,
        ) {
            let [a, b, c, d] = ends;
            let scale = 2.0_f64.powi(power);
            let scaled = |points: &[[f64; 2]]| -> Vec<_> { points.iter().map(|p| p.map(|x| x * scale)).collect() };
            for grading in [1.0, grading] {
                let mesh = line([a, b], [c, d], n, grading);
                let big = line([a * scale, b * scale], [c * scale, d * scale], n, grading);
                prop_assert_eq!(scaled(&mesh.nodes), big.nodes);
            }
            let points = [[a, b], [c, d], [d, a]];
            prop_assert_eq!(scaled(&polyline(&points, n + 2).nodes), polyline(&scaled(&points), n + 2).nodes);
        }

        #[test]
        fn polyline_has_the_asked_elements_and_every_point(
            points in prop::collection::vec(prop::array::uniform2(-5.0..5.0f64), 2..12), extra in 0usize..60,
        ) {
            let elements = points.len() - 1 + extra;
            let mesh = polyline(&points, elements);
            prop_assert_eq!(mesh.lines.len(), elements);
            prop_assert_eq!(&mesh.sets["end"], &[elements]);
            let mut nodes = mesh.nodes.iter();
            for point in &points {
                prop_assert!(nodes.any(|node| node == point), "{:?} is no node, or out of order", point);
            }
        }
    }
}
