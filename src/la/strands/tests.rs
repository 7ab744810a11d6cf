//! Lanes against plain code.

use super::*;
use crate::la::Symmetric;

/// Directions of beams.
const TILTED: [f64; 2] = [0.8, 0.6];
const LEVEL: [f64; 2] = [1.0, 0.0];

/// Masses of one and beam stiffnesses of about `ratio` on so many nodes, without the first and the last few rows.
fn beam(nodes: usize, ratio: f64, cut: [usize; 2], [c, s]: [f64; 2]) -> Symmetric {
    let n = 3 * nodes - cut[0] - cut[1];
    let local = |node: usize| move |k: usize| (3 * node + k).checked_sub(cut[0]).filter(|&i| i < n);
    let cliques: Vec<Vec<u32>> =
        (0..nodes - 1).map(|e| (0..6).filter_map(local(e)).map(|i| i as u32).collect()).collect();
    let mut a = Symmetric::zeros(Pattern::from_cliques(n, cliques.iter().map(Vec::as_slice)).into());
    (0..n).for_each(|i| a.add(i, i, 1.0 + (i as f64).sin().abs()));
    for e in 0..nodes - 1 {
        // Strain rows as those of a beam, stiffnesses from element to element by a factor of three.
        let strains = [[-c, -s, 0.0, c, s, 0.0], [0.0, 0.0, -1.0, 0.0, 0.0, 1.0], [-s, c, 0.5, s, -c, 0.5]];
        for (strain, size) in strains.iter().zip([1.0, 0.1, 0.3]) {
            let k = ratio * size * (2.0 + (e as f64 * 0.7).cos());
            for (i, j) in (0..6).flat_map(|j| (0..=j).map(move |i| (i, j))) {
                if let (Some(row), Some(column)) = (local(e)(i), local(e)(j)) {
                    a.add(row, column, k * strain[i] * strain[j]);
                }
            }
        }
    }
    a
}

#[test]
fn lanes_solve_as_plain_code_does() {
    let most = |x: &[f64]| x.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let sizes = [LONG, LONG + 1, LONG + 2, LONG + 3, 100, 1001, 4000];
    let cuts = [[0, 0], [1, 0], [2, 1], [0, 2], [1, 1]];
    for (nodes, cut) in sizes.into_iter().flat_map(|nodes| cuts.map(|cut| (nodes, cut))) {
        for (ratio, along) in [0.0, 1e-3, 1.0, 1e3, 1e6, 1e9].into_iter().flat_map(|r| [(r, TILTED), (r, LEVEL)]) {
            let a = beam(nodes, ratio, cut, along);
            let (pattern, n) = (&a.pattern, a.pattern.n);
            let Some(mut strands) = Strands::recognise(pattern) else {
                assert!(n < 3 * LONG || !Processor::new().has_vectors(), "{nodes} nodes are a chain");
                continue;
            };
            let mut plain = Chain::<3>::recognise(pattern, n).unwrap();
            // A factor leaves nothing behind for the next.
            strands.factor(pattern, &beam(nodes, 7.0, cut, [along[1], along[0]]).values).unwrap();
            strands.factor(pattern, &a.values).unwrap();
            assert_eq!(strands.level, ratio == 0.0 || along == LEVEL);
            plain.factor(pattern, &a.values).unwrap();
            let b: Vec<f64> = (0..n).map(|i| (i as f64 * 0.37).sin() + 0.1).collect();
            let (mut x, mut y, mut image) = (b.clone(), b.clone(), vec![0.0; n]);
            strands.solve(&mut x);
            plain.solve(&mut y);
            let mut left = |x: &[f64]| {
                a.multiply(x, &mut image);
                let size = most(&a.values) * most(x) + 1.0;
                (0..n).map(|i| (image[i] - b[i]).abs()).fold(0.0, f64::max) / size
            };
            let (ours, theirs) = (left(&x), left(&y));
            assert!(ours <= 4e-15, "{nodes} {cut:?} {ratio:e}: left {ours:e}, by plain code {theirs:e}");
            // What a backward error of round-off makes of the solution.
            let apart = (0..n).map(|i| (x[i] - y[i]).abs()).fold(0.0, f64::max) / most(&y);
            let limit = 1e-14 * (1.0 + ratio);
            assert!(apart <= limit, "{nodes} {cut:?} {ratio:e}: {apart:e} apart");
        }
    }
}

#[test]
fn singular_rows_are_named() {
    let mut a = beam(60, 0.0, [0, 0], TILTED);
    let Some(mut strands) = Strands::recognise(&a.pattern) else { return };
    a.add(100, 100, -(1.0 + 100.0_f64.sin().abs()));
    let Err(singular) = strands.factor(&a.pattern, &a.values) else { panic!("row 100 is zero") };
    assert!(singular.row.abs_diff(100) < 3, "{singular:?}");
}
