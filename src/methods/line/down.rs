//! First pass of a step over the unknowns of a line: the right-hand side of (T3), and its elimination from the ends of
//! the lanes to their beginnings.
//!
//! What is written here for a row of all lanes serves as well, number by number, for the few unknowns behind all rows.

use super::unknowns::{DUST, Lanes, Line, after, before, from_last_lane, split, split_mut};
use crate::la::lanes::{Row, Task};
use crate::la::number::Number;
use crate::state::State;
use std::ops::Range;

/// Leaves the eliminated right-hand side in `y` and gives what is left for the separators. `CARRIES`: old accelerations
/// move the place that counts; `PUSHED`: there is a force from outside.
pub(super) struct Down<'a, const CARRIES: bool, const PUSHED: bool> {
    pub line: &'a Line,
    pub factor: &'a Lanes,
    pub from: &'a State,
    /// From outside; empty if there is none.
    pub force: &'a [f64],
    pub y: &'a mut [f64],
}

impl<const CARRIES: bool, const PUSHED: bool> Task for Down<'_, CARRIES, PUSHED> {
    type Output = Row;

    #[inline(always)]
    fn run<N: Number<Row = Row>>(self, set: N::Set) -> Row {
        let Down { line, factor, from, force, y } = self;
        let weights = factor.weights.middle;
        let n = line.n;
        let force = split(force, if PUSHED { n } else { 0 });
        let old = each([&from.q, &from.v, &from.a], |x| split(x, n));
        let (y, y_tail) = split_mut(y, n);
        let (length, tail) = (y.len(), y_tail.len());

        // Behind all rows, from the end of the line to the last lane.
        let mut end = Walk::<f64>::new((), weights);
        let (mut edge, mut beyond) = (line.last_stiffness, [0.0; 3]);
        if tail > 0 {
            end.own = end.place(each([0, 1, 2], |k| old[k].1[tail - 1]));
            end.tension = -line.last_stiffness * end.own;
            let below = each(old, |x| from_last_lane(x.0, x.1));
            let below = [&below[0][..tail], &below[1][..tail], &below[2][..tail]];
            let edges = &factor.edges.tail[..];
            let mut part = Part { below, edges, force: force.1, y: y_tail };
            end.eliminate::<CARRIES, PUSHED>((), &mut part, 0..tail, None);
            (edge, beyond) = (edges[0][0], each(old, |x| x.1[0]));
        }

        let edges = &factor.edges.rows[..];
        let rows = each(old, |x| x.0);
        let load = |row: &Row| N::load(set, row);
        // The row above the last one is the first, one lane further.
        let last = each([0, 1, 2], |k| rows[k][length - 1]);
        let next = each([0, 1, 2], |k| after(&rows[k][0], beyond[k]));
        let mut walk = Walk::<N>::new(set, weights);
        let above = walk.place([load(&next[0]), load(&next[1]), load(&next[2])]);
        walk.own = walk.place([load(&last[0]), load(&last[1]), load(&last[2])]);
        walk.tension = load(&after(&edges[0][0], edge)) * (above - walk.own);
        walk.lower = load(&[0.0, 0.0, 0.0, end.lower]);
        walk.y = load(&[0.0, 0.0, 0.0, end.y]);
        let [q, v, a] = each(rows, |x| &x[..length - 1]);
        let (first, others) = y.split_at_mut(1);
        let pushed = force.0.get(1..).unwrap_or(&[]);
        let mut part = Part { below: [q, v, a], edges, force: pushed, y: others };
        for piece in factor.pieces[1..].iter().rev() {
            let range = piece.rows.start - 1..piece.rows.end - 1;
            part.edges = &edges[piece.constants..];
            match piece.filled.map(|first| &factor.fill[first..]) {
                None => walk.eliminate::<CARRIES, PUSHED>(set, &mut part, range, None),
                fill => walk.eliminate::<CARRIES, PUSHED>(set, &mut part, range, fill),
            }
        }
        // What is below the first row lies elsewhere.
        let below = each(last, |x| [before(&x)]);
        let below = [&below[0][..], &below[1][..], &below[2][..]];
        let force = force.0.get(..1).unwrap_or(&[]);
        let mut part = Part { below, edges: &edges[..1], force, y: first };
        walk.eliminate::<CARRIES, PUSHED>(set, &mut part, 0..1, None);
        (walk.y - load(&before(&walk.filled.row()))).row()
    }
}

/// `map`, which the compiler does not always inline.
#[inline(always)]
fn each<T, U>([a, b, c]: [T; 3], f: impl Fn(T) -> U) -> [U; 3] {
    [f(a), f(b), f(c)]
}

/// Arrays of some rows, or of some numbers.
struct Part<'a, R> {
    /// Old motion of the rows before these.
    below: [&'a [R]; 3],
    /// Constants, from the first row of a range on.
    edges: &'a [[R; 2]],
    /// Empty where there is none.
    force: &'a [R],
    y: &'a mut [R],
}

/// Goes down the rows, or the numbers behind them; what a row needs of the one above.
struct Walk<N> {
    weights: [N; 2],
    dust: N,
    /// Place of the row itself, and tension of the edge above it.
    own: N,
    tension: N,
    /// Multiplier and eliminated right-hand side above.
    lower: N,
    y: N,
    /// What goes to the next separators.
    filled: N,
}

impl<N: Number> Walk<N> {
    #[inline(always)]
    fn new(set: N::Set, weights: [f64; 2]) -> Walk<N> {
        let zero = N::splat(set, 0.0);
        Walk {
            weights: weights.map(|weight| N::splat(set, weight)),
            dust: N::splat(set, DUST),
            own: zero,
            tension: zero,
            lower: zero,
            y: zero,
            filled: zero,
        }
    }

    /// The place that counts, (T27).
    #[inline(always)]
    fn place(&self, [q, v, a]: [N; 3]) -> N {
        a.mul_add(self.weights[1], v.mul_add(self.weights[0], q))
    }

    /// Right-hand side and elimination, from the last row to the first.
    #[inline(always)]
    fn eliminate<const CARRIES: bool, const PUSHED: bool>(
        &mut self,
        set: N::Set,
        part: &mut Part<N::Row>,
        range: Range<usize>,
        fill: Option<&[N::Row]>,
    ) {
        let load = |row: &N::Row| N::load(set, row);
        let [q, v, a] = each(part.below, |x| &x[range.clone()]);
        let (edges, y) = (&part.edges[..range.end - range.start], &mut part.y[range.clone()]);
        let outside = if PUSHED { &part.force[range.clone()] } else { &[] };
        let fill = fill.map(|fill| &fill[..edges.len()]);
        for j in (0..edges.len()).rev() {
            let [stiffness, lower] = &edges[j];
            let mut place = load(&v[j]).mul_add(self.weights[0], load(&q[j]));
            if CARRIES {
                place = load(&a[j]).mul_add(self.weights[1], place);
            }
            let tension = load(stiffness) * (self.own - place);
            let mut force = self.tension - tension;
            if PUSHED {
                force = force + load(&outside[j]);
            }
            self.y = self.lower.take_from(self.y, force);
            self.y.store(&mut y[j]);
            if let Some(fill) = fill {
                self.filled = load(&fill[j]).mul_add(self.y, self.filled);
            }
            (self.own, self.tension, self.lower) = (place, tension, load(lower));
        }
        self.y = self.y.without(self.dust);
    }
}
