//! Boxes by the cells of a uniform grid, so that what is near a place is found without a look at everything.
//!
//! Cells are as wide as the middle one of the boxes and share a table of buckets by a fixed rule, so that neither one large
//! box nor one that flew away decides about memory or time; boxes over many cells are kept aside. Two cells in one bucket
//! only make the user look at boxes that are not near. Everything follows from the boxes: equal boxes, equal order.

/// Cells that a box may cover before it is kept aside, and a place before it looks at everything.
const MOST_CELLS: f64 = 64.0;

/// Boxes sorted into cells.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    boxes: Vec<[[f64; 2]; 2]>,
    cell: f64,
    mask: u32,
    /// Where the entries of each bucket end.
    ends: Vec<u32>,
    entries: Vec<u32>,
    aside: Vec<u32>,
    widths: Vec<f64>,
}

impl Grid {
    /// Sorts boxes, each given by its lower and its upper corner.
    pub fn sort(&mut self, boxes: impl Iterator<Item = [[f64; 2]; 2]>) {
        self.boxes.clear();
        self.boxes.extend(boxes);
        self.widths.clear();
        self.widths.extend(self.boxes.iter().map(|[low, high]| (high[0] - low[0]).max(high[1] - low[1])));
        let middle = self.widths.len() / 2;
        self.cell = match self.widths.is_empty() {
            true => 1.0,
            false => *self.widths.select_nth_unstable_by(middle, f64::total_cmp).1,
        };
        if !(self.cell > 0.0 && self.cell.is_finite()) {
            self.cell = 1.0;
        }
        let buckets = (2 * self.boxes.len()).next_power_of_two().max(16);
        self.mask = buckets as u32 - 1;
        self.ends.clear();
        self.ends.resize(buckets + 1, 0);
        self.aside.clear();
        let Grid { boxes, cell, mask, ends, entries, aside, .. } = self;
        for (i, &[low, high]) in boxes.iter().enumerate() {
            match Cells::new(low, high, *cell) {
                Some(cells) => cells.each(*mask, |bucket| ends[bucket + 1] += 1),
                None => aside.push(i as u32),
            }
        }
        for bucket in 1..ends.len() {
            ends[bucket] += ends[bucket - 1];
        }
        entries.clear();
        entries.resize(ends[buckets] as usize, 0);
        // Each bucket is filled from its beginning, which moves on to its end.
        for (i, &[low, high]) in boxes.iter().enumerate() {
            if let Some(cells) = Cells::new(low, high, *cell) {
                cells.each(*mask, |bucket| {
                    entries[ends[bucket] as usize] = i as u32;
                    ends[bucket] += 1;
                });
            }
        }
    }

    /// Numbers of all boxes within `reach` of a place along both axes; some may come twice.
    pub fn each_near(&self, place: [f64; 2], reach: f64, mut see: impl FnMut(usize)) {
        let near = |i: u32| {
            let [low, high] = self.boxes[i as usize];
            (0..2).all(|k| low[k] - reach <= place[k] && place[k] <= high[k] + reach)
        };
        let (low, high) = (place.map(|x| x - reach), place.map(|x| x + reach));
        let Some(cells) = Cells::new(low, high, self.cell) else {
            return (0..self.boxes.len() as u32).filter(|&i| near(i)).for_each(|i| see(i as usize));
        };
        self.aside.iter().filter(|&&i| near(i)).for_each(|&i| see(i as usize));
        cells.each(self.mask, |bucket| {
            let from = if bucket == 0 { 0 } else { self.ends[bucket - 1] };
            let own = &self.entries[from as usize..self.ends[bucket] as usize];
            own.iter().filter(|&&i| near(i)).for_each(|&i| see(i as usize));
        });
    }
}

/// The cells of a box.
struct Cells {
    from: [i64; 2],
    to: [i64; 2],
}

impl Cells {
    /// None if there are too many.
    fn new(low: [f64; 2], high: [f64; 2], cell: f64) -> Option<Cells> {
        let [from, to] = [low, high].map(|corner| corner.map(|x| (x / cell).floor()));
        // Beyond 2^53 cells are not told apart any more, which makes their number zero; not a number is not below either.
        let few = (to[0] - from[0] + 1.0) * (to[1] - from[1] + 1.0) <= MOST_CELLS;
        few.then(|| Cells { from: from.map(|x| x as i64), to: to.map(|x| x as i64) })
    }

    fn each(&self, mask: u32, mut see: impl FnMut(usize)) {
        for i in self.from[0]..=self.to[0] {
            for j in self.from[1]..=self.to[1] {
                let mixed = (i.wrapping_mul(73_856_093) ^ j.wrapping_mul(19_349_663)) as u64;
                see(((mixed ^ (mixed >> 17)) as u32 & mask) as usize);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Boxes of very different size, some far away: what a look at everything finds is found, and little else.
    #[test]
    fn a_grid_finds_what_a_look_at_everything_finds() {
        let mut seed: u64 = 11;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut grid = Grid::default();
        for trial in 0..20 {
            let mut boxes: Vec<[[f64; 2]; 2]> = (0..300)
                .map(|k| {
                    let (x, y) = (random() - 0.5, random() - 0.5);
                    let far = if k % 97 == 0 { 1e9 } else { 1.0 };
                    let size = if k % 50 == 0 { 1.0 } else { 0.02 };
                    [[far * x, y], [far * x + size * random(), y + size * random()]]
                })
                .collect();
            if trial == 0 {
                boxes.clear();
            }
            grid.sort(boxes.iter().copied());
            let mut seen = 0;
            for k in 0..100 {
                let reach = if k % 25 == 0 { 1.0 } else { 0.02 } * random();
                let place = if k % 9 == 0 { [1e9 * random(), 0.0] } else { [random() - 0.5, random() - 0.5] };
                let wanted = |i: &usize| {
                    let [low, high] = boxes[*i];
                    (0..2).all(|k| low[k] <= place[k] + reach && place[k] - reach <= high[k])
                };
                let mut found = Vec::new();
                grid.each_near(place, reach, |i| found.push(i));
                seen += found.len();
                found.sort_unstable();
                found.dedup();
                assert_eq!(found, (0..boxes.len()).filter(wanted).collect::<Vec<_>>());
            }
            assert!(seen < 100 * 300 / 4, "{seen}");
        }
    }
}
