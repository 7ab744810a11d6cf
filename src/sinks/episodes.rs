//! Episodes of contacts: runs of consecutive steps with an impulse, in memory that does not grow with the run.

use serde::{Deserialize, Serialize};

/// Episodes of which starts and ends are kept one by one, the first of a contact.
const EPISODES: usize = 1000;

/// Episodes of one contact of the case: intervals of consecutive steps with impulse. What is kept does not grow with the
/// run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ContactDigest {
    /// Name in the case.
    pub name: String,
    /// Largest force.
    pub peak: f64,
    /// Deepest penetration, zero or positive.
    pub penetration: f64,
    /// End of the step with the largest force.
    pub peak_time: Option<f64>,
    /// Sum of impulses.
    pub impulse: f64,
    /// Depth at the start, zero or positive.
    pub initial_depth: f64,
    /// End of the first step in which a node behind the obstacle, where nothing holds it, came through to the front, and the node.
    pub from_behind: Option<(f64, u32)>,
    /// Number of episodes.
    pub count: u64,
    /// The first thousand of them.
    pub spans: Vec<Span>,
    /// The last episode, which may continue.
    last: Option<Episode>,
    /// The longest of those before it.
    longest: Option<Episode>,
}

/// What is kept of every episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Start of its first step.
    pub start: f64,
    /// End of its last step.
    pub end: f64,
    /// Largest force.
    pub peak: f64,
    /// Sum of impulses.
    pub impulse: f64,
}

/// Consecutive steps with impulse.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Episode {
    /// Start of the first step with impulse.
    pub start: f64,
    /// End of the last step with impulse.
    pub end: f64,
    /// Largest force in it.
    pub peak: f64,
    forces: Forces,
}

impl Episode {
    /// Mean force over time from a tenth of the duration to nine tenths; none for episodes of less than ten steps.
    pub fn plateau(&self) -> Option<f64> {
        let (mean, _) = self.forces.inner()?;
        Some(mean)
    }

    /// Standard deviation over mean of the force over that time.
    pub fn roughness(&self) -> Option<f64> {
        let (mean, variance) = self.forces.inner()?;
        Some(variance.sqrt() / mean)
    }

    fn duration(&self) -> f64 {
        self.end - self.start
    }
}

/// Blocks of steps of which an episode keeps the forces; an even number.
const BLOCKS: usize = 1 << 14;

/// Fewer steps than these have no plateau.
const FEWEST: u64 = 10;

/// The forces (impulse over step size) of an episode in bounded memory: those of single steps up to [`BLOCKS`], and beyond
/// that of blocks of two, four, eight steps and so on.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Forces {
    /// Steps in a block.
    size: u64,
    /// Duration and mean of each block.
    means: Vec<(f64, f64)>,
    /// Integrals of squares of each block; none while a block is one step, because checkpoints are written and hashed with all of this.
    squares: Vec<f64>,
    /// The block that is not full yet, and its steps.
    open: Block,
    filled: u64,
}

/// Forces of some steps; each is constant within its step.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Block {
    duration: f64,
    /// Mean over time.
    mean: f64,
    /// Integral over time of the squares of the differences from the mean.
    squares: f64,
}

impl Block {
    /// Both blocks as one.
    fn with(self, other: Block) -> Block {
        let duration = self.duration + other.duration;
        let share = other.duration / duration;
        let apart = other.mean - self.mean;
        Block {
            duration,
            mean: self.mean + share * apart,
            squares: self.squares + other.squares + share * self.duration * apart * apart,
        }
    }

    /// A part of its duration.
    fn part(self, duration: f64) -> Block {
        Block { duration, squares: self.squares * duration / self.duration, ..self }
    }
}

impl Default for Forces {
    fn default() -> Forces {
        Forces { size: 1, means: Vec::new(), squares: Vec::new(), open: Block::default(), filled: 0 }
    }
}

impl Forces {
    fn push(&mut self, duration: f64, force: f64) {
        self.filled += 1;
        let step = Block { duration, mean: force, squares: 0.0 };
        self.open = if self.filled == 1 { step } else { self.open.with(step) };
        if self.filled < self.size {
            return;
        }
        if self.means.len() == BLOCKS {
            self.halve();
            // The open block is now half of one.
            return;
        }
        self.means.push((self.open.duration, self.open.mean));
        if self.size > 1 {
            self.squares.push(self.open.squares);
        }
        self.filled = 0;
    }

    fn block(&self, k: usize) -> Block {
        let (duration, mean) = self.means[k];
        Block { duration, mean, squares: self.squares.get(k).copied().unwrap_or(0.0) }
    }

    /// Makes one block of every two.
    fn halve(&mut self) {
        let halves: Vec<Block> = (0..BLOCKS / 2).map(|k| self.block(2 * k).with(self.block(2 * k + 1))).collect();
        self.means.clear();
        self.means.extend(halves.iter().map(|block| (block.duration, block.mean)));
        self.squares.clear();
        self.squares.extend(halves.iter().map(|block| block.squares));
        self.size *= 2;
    }

    /// Mean and variance over time without the first and the last tenth of the duration; none of an episode of few steps.
    fn inner(&self) -> Option<(f64, f64)> {
        let steps = self.size * self.means.len() as u64 + self.filled;
        let open = (self.filled > 0).then_some(self.open);
        let blocks = || (0..self.means.len()).map(|k| self.block(k)).chain(open);
        let whole: f64 = blocks().map(|block| block.duration).sum();
        let (begin, end) = (0.1 * whole, 0.9 * whole);
        let mut time = 0.0_f64;
        let parts = blocks().filter_map(|block| {
            let [from, to] = [time.max(begin), (time + block.duration).min(end)];
            time += block.duration;
            (to > from).then(|| block.part(to - from))
        });
        let inner = parts.reduce(Block::with).filter(|_| steps >= FEWEST)?;
        Some((inner.mean, inner.squares / inner.duration))
    }

    /// Forgets all but its memory.
    fn clear(&mut self) {
        self.means.clear();
        self.squares.clear();
        (self.size, self.filled) = (1, 0);
    }
}

impl ContactDigest {
    /// Of a contact of this name before the first step.
    pub fn new(name: &str) -> ContactDigest {
        ContactDigest { name: name.into(), ..Default::default() }
    }

    /// The longest episode, which defines plateau and release; of several with equal duration the last one.
    pub fn longest(&self) -> Option<&Episode> {
        match (&self.longest, &self.last) {
            (Some(longest), Some(last)) if longest.duration() > last.duration() => Some(longest),
            (longest, last) => last.as_ref().or(longest.as_ref()),
        }
    }

    /// Takes a step with impulse; it goes on with the last episode if it begins where that ends.
    pub(super) fn take(&mut self, begin: f64, end: f64, force: f64) {
        match &mut self.last {
            Some(episode) if begin == episode.end => {
                episode.end = end;
                episode.peak = episode.peak.max(force);
                episode.forces.push(end - begin, force);
                if let Some(span) = self.spans.get_mut(self.count as usize - 1) {
                    let impulse = span.impulse + force * (end - begin);
                    *span = Span { end, peak: span.peak.max(force), impulse, ..*span };
                }
            }
            _ => self.start(begin, end, force),
        }
    }

    /// Begins an episode, in the memory of one that is not needed any more.
    fn start(&mut self, begin: f64, end: f64, force: f64) {
        if self.longest().is_some_and(|longest| self.last.as_ref().is_some_and(|last| std::ptr::eq(longest, last))) {
            std::mem::swap(&mut self.longest, &mut self.last);
        }
        let mut forces = self.last.take().unwrap_or_default().forces;
        forces.clear();
        forces.push(end - begin, force);
        self.last = Some(Episode { start: begin, end, peak: force, forces });
        self.count += 1;
        if self.spans.len() < EPISODES {
            self.spans.push(Span { start: begin, end, peak: force, impulse: force * (end - begin) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episode(forces: impl IntoIterator<Item = f64>) -> Episode {
        let mut episode = Episode::default();
        forces.into_iter().for_each(|force| episode.forces.push(1.0, force));
        episode
    }

    #[test]
    fn roughness_leaves_out_the_ends() {
        let mut forces = vec![300.0; 20];
        (forces[0], forces[1], forces[19]) = (900.0, 0.0, 1.0);
        let smooth = episode(forces);
        assert_eq!((smooth.plateau(), smooth.roughness()), (Some(300.0), Some(0.0)));
        assert_eq!(episode((0..20).map(|k| if k % 2 == 0 { 1.0 } else { 3.0 })).roughness(), Some(0.5));
        assert_eq!(episode([1.0; 9]).roughness(), None);
    }

    /// A step that was cut into many counts by its time, and the tenths end within steps.
    #[test]
    fn plateaus_are_means_over_time() {
        let mut cut = Episode::default();
        (0..9).for_each(|_| cut.forces.push(1.0, 2.0));
        (0..1000).for_each(|_| cut.forces.push(1e-3, 7.0));
        (0..5).for_each(|_| cut.forces.push(1.0, 4.0));
        // From 1.5 to 13.5: 7.5 of 2, 1 of 7, 3.5 of 4.
        let mean = (7.5 * 2.0 + 7.0 + 3.5 * 4.0) / 12.0;
        let square = |force: f64| (force - mean) * (force - mean);
        let variance = (7.5 * square(2.0) + square(7.0) + 3.5 * square(4.0)) / 12.0;
        let [plateau, roughness] = [cut.plateau().unwrap(), cut.roughness().unwrap()];
        assert!((plateau / mean - 1.0).abs() < 1e-12, "{plateau}");
        assert!((roughness * mean / variance.sqrt() - 1.0).abs() < 1e-12, "{roughness}");
    }

    /// Mean and standard deviation over mean of all numbers but the first and the last tenth, from the numbers themselves.
    fn plainly(forces: &[f64]) -> [f64; 2] {
        let inner = &forces[forces.len() / 10..forces.len() - forces.len() / 10];
        let n = inner.len() as f64;
        let mean = inner.iter().sum::<f64>() / n;
        [mean, (inner.iter().map(|force| (force - mean).powi(2)).sum::<f64>() / n).sqrt() / mean]
    }

    #[test]
    fn a_contact_of_a_million_steps_keeps_its_plateau_in_little_memory() {
        let forces = |n: usize| (0..n).map(|k| 300.0 + (0.37 * k as f64).sin() + 1e-6 * k as f64).collect::<Vec<f64>>();
        for n in [BLOCKS - 4, BLOCKS + 1, 2 * BLOCKS, 100_003, 1_000_000] {
            let many = forces(n);
            let (long, [plateau, roughness]) = (episode(many.iter().copied()), plainly(&many));
            assert!(long.forces.means.len() <= BLOCKS, "{n}: {}", long.forces.means.len());
            // The tenths end with a block instead of a step: at most a block, 1/8192 of the steps, at each end.
            let found = [long.plateau().unwrap(), long.roughness().unwrap()];
            assert!((found[0] / plateau - 1.0).abs() < 1e-6, "{n}: {found:?}, not {plateau}");
            assert!((found[1] / roughness - 1.0).abs() < 1e-3, "{n}: {found:?}, not {roughness}");
        }
    }

    #[test]
    fn episodes_without_end_keep_count_longest_and_worst_in_little_memory() {
        let mut contact = ContactDigest::default();
        // Hops of one step, then a long contact, then hops again.
        let mut step = 0;
        let mut push = |contact: &mut ContactDigest, force: f64, skip: u64| {
            step += 1 + skip;
            contact.take((step - 1) as f64, step as f64, force);
        };
        (0..5000).for_each(|_| push(&mut contact, 1.0, 1));
        (0..20).for_each(|k| push(&mut contact, if k % 2 == 0 { 1.0 } else { 3.0 }, u64::from(k == 0)));
        (0..5000).for_each(|_| push(&mut contact, 1.0, 1));
        assert_eq!((contact.count, contact.spans.len()), (10_001, EPISODES));
        assert_eq!(
            contact.spans[..2],
            [1.0, 3.0].map(|start| Span { start, end: start + 1.0, peak: 1.0, impulse: 1.0 })
        );
        let mut pair = ContactDigest::default();
        [(0.0, 3.0), (1.0, 5.0)].into_iter().for_each(|(start, force)| pair.take(start, start + 1.0, force));
        assert_eq!(pair.spans, [Span { start: 0.0, end: 2.0, peak: 5.0, impulse: 8.0 }]);
        let longest = contact.longest().unwrap();
        assert_eq!((longest.start, longest.end, longest.plateau()), (10_001.0, 10_021.0, Some(2.0)));
        assert_eq!(longest.roughness(), Some(0.5));
        // The next step is ten times as long as the one without impulse before it: another episode all the same.
        let mut short = ContactDigest::default();
        [(0.0, 1.0), (1.1, 2.1)].into_iter().for_each(|(start, end)| short.take(start, end, 1.0));
        assert_eq!((short.count, short.longest().unwrap().start), (2, 1.1));
    }
}
