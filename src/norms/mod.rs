//! How far two histories are apart: sums and maxima over instants, and the distance of graphs.
//!
//! A velocity that jumps one step late is wrong by the whole jump at one instant, however small the step. The Hausdorff
//! distance of the filled-in graphs says what is meant: late by one step. Nothing here knows runs or cases.

mod graph;

pub use graph::Graph;

/// Relative L1 error Σ|values − exact| / Σ|exact|; the plain sum if `exact` is zero throughout.
///
/// ```
/// assert_eq!(carom::norms::relative_l1(&[1.0, 2.5], &[1.0, 2.0]), 0.5 / 3.0);
/// ```
pub fn relative_l1(values: &[f64], exact: &[f64]) -> f64 {
    let size: f64 = exact.iter().map(|x| x.abs()).sum();
    let error: f64 = values.iter().zip(exact).map(|(a, b)| (a - b).abs()).sum();
    if size > 0.0 { error / size } else { error }
}

/// Grid L2 error (Σ h |values − exact|²)^½, each instant with the step that led to it; the first has none.
pub fn grid_l2(times: &[f64], values: &[f64], exact: &[f64]) -> f64 {
    let squares = (1..times.len()).map(|k| (times[k] - times[k - 1]) * (values[k] - exact[k]).powi(2));
    squares.sum::<f64>().sqrt()
}

/// Largest error at an instant.
pub fn max(values: &[f64], exact: &[f64]) -> f64 {
    values.iter().zip(exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Observed order: the slope of log error over log size by least squares; `None` with fewer than two usable points.
///
/// ```
/// let order = carom::norms::order(&[(0.1, 3e-2), (0.05, 7.5e-3), (0.025, 1.875e-3)]).unwrap();
/// assert!((order - 2.0).abs() < 1e-12);
/// ```
pub fn order(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points
        .iter()
        .filter(|(size, error)| *size > 0.0 && *error > 0.0 && error.is_finite())
        .map(|(size, error)| (size.ln(), error.ln()))
        .collect();
    let n = logs.len() as f64;
    let mean = |part: fn(&(f64, f64)) -> f64| logs.iter().map(part).sum::<f64>() / n;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let spread: f64 = logs.iter().map(|p| (p.0 - mx).powi(2)).sum();
    let slope: f64 = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    (logs.len() > 1 && spread > 0.0).then(|| slope / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_maxima() {
        assert_eq!(relative_l1(&[1.0, -1.0], &[0.0, 0.0]), 2.0);
        assert_eq!(grid_l2(&[0.0, 1.0, 1.25], &[9.0, 3.0, 2.0], &[0.0, 0.0, 0.0]), 10f64.sqrt());
        assert_eq!(max(&[1.0, -4.0, 2.0], &[0.0, -1.0, 3.0]), 3.0);
    }

    #[test]
    fn orders_need_two_sizes() {
        assert_eq!(order(&[(0.1, 1.0)]), None);
        assert_eq!(order(&[(0.1, 1.0), (0.1, 2.0)]), None);
        assert_eq!(order(&[(0.1, 1.0), (0.2, 0.0)]), None, "an error of zero has no logarithm");
    }
}
