//! Fewer points for the eye, with every peak.

/// Points drawn at most per curve: smallest and largest value of so many buckets.
pub const BUCKETS: usize = 2000;

/// Chooses the rows to draw of columns that share their rows while the rows go by, so that a table need not be held:
/// the first, the last, and of each of `buckets` equal runs of rows those with the smallest and the largest value of every
/// column. A run without a value in some column keeps its first such row, so that the gap stays. All rows if they are not
/// more than that.
pub struct Sampler {
    /// Number of columns.
    columns: usize,
    buckets: usize,
    /// Number of rows of the table, and of those that have gone by.
    all: usize,
    seen: usize,
    /// The run that rows belong to, and the row behind its last.
    bucket: usize,
    end: usize,
    /// Of the run: first and last row of the table, then of every column the rows with the smallest and the largest value
    /// and the first one without a value.
    slots: Vec<Slot>,
    /// Rows that are kept, in order.
    rows: Vec<usize>,
    /// Their instants and values, those of a row together.
    values: Vec<f64>,
}

/// A row that may be kept: none, or its number, its instant and its values.
#[derive(Clone, Default)]
struct Slot {
    row: Option<usize>,
    values: Vec<f64>,
}

impl Slot {
    fn fill(&mut self, row: usize, time: f64, values: &[f64]) {
        self.row = Some(row);
        self.values.clear();
        self.values.push(time);
        self.values.extend_from_slice(values);
    }
}

impl Sampler {
    /// For `columns` columns of a table with `all` rows.
    pub fn new(columns: usize, all: usize, buckets: usize) -> Sampler {
        let buckets = if all <= 2 * buckets * columns { 0 } else { buckets };
        let slots = if buckets == 0 { 0 } else { 2 + 3 * columns };
        Sampler {
            columns,
            buckets,
            all,
            seen: 0,
            bucket: 0,
            end: all.checked_div(buckets).unwrap_or(0),
            slots: vec![Slot::default(); slots],
            rows: Vec::new(),
            values: Vec::new(),
        }
    }

    /// The first and the last row only, which are enough for a column that never changes.
    pub fn ends(all: usize) -> Sampler {
        let (slots, rows, values) = (vec![Slot::default(); 2], Vec::new(), Vec::new());
        Sampler { columns: 1, buckets: 1, all, seen: 0, bucket: 0, end: all, slots, rows, values }
    }

    /// Takes the next row: its instant and the values of the columns.
    pub fn take(&mut self, time: f64, values: &[f64]) {
        let row = self.seen;
        self.seen += 1;
        if self.buckets == 0 {
            self.rows.push(row);
            self.values.push(time);
            self.values.extend_from_slice(values);
            return;
        }
        let [first, last, extremes @ ..] = &mut self.slots[..] else { return };
        if row == 0 {
            first.fill(row, time, values);
        }
        if row + 1 == self.all {
            last.fill(row, time, values);
        }
        for (column, own) in extremes.chunks_exact_mut(3).enumerate() {
            let value = values[column];
            let beyond = |slot: &Slot, sign: f64| slot.row.is_none() || sign * value > sign * slot.values[1 + column];
            if value.is_nan() {
                if own[2].row.is_none() {
                    own[2].fill(row, time, values);
                }
                continue;
            }
            for (slot, sign) in own[..2].iter_mut().zip([-1.0, 1.0]) {
                if beyond(slot, sign) {
                    slot.fill(row, time, values);
                }
            }
        }
        if self.seen == self.end {
            self.close();
        }
    }

    /// Keeps what the run has to show.
    fn close(&mut self) {
        self.slots.sort_by_key(|slot| slot.row);
        for slot in &mut self.slots {
            let row = slot.row.take();
            if let Some(row) = row.filter(|row| self.rows.last() != Some(row)) {
                self.rows.push(row);
                self.values.extend_from_slice(&slot.values);
            }
        }
        self.bucket += 1;
        self.end = (self.bucket + 1) * self.all / self.buckets;
    }

    /// The rows that are kept.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Instants of the rows that are kept.
    pub fn times(&self) -> impl Iterator<Item = f64> {
        self.part(0)
    }

    /// Values of a column in the rows that are kept.
    pub fn column(&self, column: usize) -> impl Iterator<Item = f64> {
        self.part(1 + column)
    }

    fn part(&self, part: usize) -> impl Iterator<Item = f64> {
        self.values.iter().skip(part).step_by(1 + self.columns).copied()
    }
}

/// The rows that a [`Sampler`] keeps of a column at hand.
pub fn rows(column: &[f64], buckets: usize) -> Vec<usize> {
    let mut sampler = Sampler::new(1, column.len(), buckets);
    column.iter().for_each(|&value| sampler.take(0.0, &[value]));
    sampler.rows
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
        let mut sampler = Sampler::new(2, n, 500);
        (0..n).for_each(|row| sampler.take(row as f64, &[a[row], b[row]]));
        let kept = sampler.rows();
        let same = |kept: Vec<f64>, given: &dyn Fn(usize) -> f64| {
            let pairs = kept.into_iter().zip(sampler.rows().iter().map(|&row| given(row)));
            assert!(pairs.into_iter().all(|(one, two)| one.to_bits() == two.to_bits()));
        };
        same(sampler.times().collect(), &|row| row as f64);
        same(sampler.column(0).collect(), &|row| a[row]);
        same(sampler.column(1).collect(), &|row| b[row]);
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
        assert_eq!(rows(&values, 20), (0..40).collect::<Vec<_>>());
        assert!(rows(&values, 19).len() < 40);
        assert!(rows(&[], 20).is_empty());
    }
}
