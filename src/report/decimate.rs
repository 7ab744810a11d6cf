//! Fewer points for the eye, with every peak.

/// Points drawn at most per curve: smallest and largest value of so many buckets.
pub const BUCKETS: usize = 2000;

/// Rows to draw of columns that share their rows, in order: the first, the last, and of each of `buckets` equal runs of
/// rows those with the smallest and the largest value of every column. A run without a value in some column keeps its
/// first such row, so that the gap stays. All rows if they are not more than that.
pub fn rows(columns: &[&[f64]], buckets: usize) -> Vec<usize> {
    let n = columns.first().map_or(0, |column| column.len());
    if n <= 2 * buckets * columns.len() {
        return (0..n).collect();
    }
    let mut kept = vec![0, n - 1];
    for bucket in 0..buckets {
        let run = bucket * n / buckets..(bucket + 1) * n / buckets;
        for column in columns {
            let valued = || run.clone().filter(|&row| !column[row].is_nan());
            kept.extend(valued().reduce(|best, row| if column[row] < column[best] { row } else { best }));
            kept.extend(valued().reduce(|best, row| if column[row] > column[best] { row } else { best }));
            kept.extend(run.clone().find(|&row| column[row].is_nan()));
        }
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wave with one-row spikes at known rows, different in the two columns.
    fn spiky(n: usize, spikes: &[(usize, f64)]) -> Vec<f64> {
        let mut values: Vec<f64> = (0..n).map(|k| (k as f64 * 1e-3).sin()).collect();
        spikes.iter().for_each(|&(row, value)| values[row] = value);
        values
    }

    #[test]
    fn every_extreme_of_every_bucket_is_kept() {
        let n = 100_003;
        let (a, b) = (spiky(n, &[(1, 50.0), (77_777, -3.0)]), spiky(n, &[(n - 2, 9.0), (50_000, f64::NAN)]));
        let kept = rows(&[&a, &b], 500);
        assert_eq!((kept[0], kept[kept.len() - 1]), (0, n - 1));
        assert!(kept.is_sorted() && kept.len() <= 500 * 4 + 3, "{}", kept.len());
        for row in [1, 77_777, n - 2, 50_000] {
            assert!(kept.contains(&row), "row {row}");
        }
        for bucket in 0..500 {
            let run = bucket * n / 500..(bucket + 1) * n / 500;
            let most = |rows: &mut dyn Iterator<Item = usize>| rows.map(|row| a[row]).fold(f64::MIN, f64::max);
            let least = |rows: &mut dyn Iterator<Item = usize>| rows.map(|row| a[row]).fold(f64::MAX, f64::min);
            let shown = || kept.iter().copied().filter(|row| run.contains(row));
            assert_eq!(most(&mut shown()), most(&mut run.clone()));
            assert_eq!(least(&mut shown()), least(&mut run.clone()));
        }
    }

    #[test]
    fn few_rows_stay_as_they_are() {
        let values = spiky(40, &[]);
        assert_eq!(rows(&[&values], 20), (0..40).collect::<Vec<_>>());
        assert!(rows(&[&values], 19).len() < 40);
        assert!(rows(&[], 20).is_empty());
    }
}
