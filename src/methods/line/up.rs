//! Second pass of a step over the unknowns of a line: accelerations and motion, and the sums of the ledger.
//!
//! What is written here for a row of all lanes serves as well, number by number, for the few unknowns behind all rows.

use super::book::{Booking, Places, Rates, Sums};
use super::kick::Kick;
use super::unknowns::{DUST, Lanes, Line, Piece, Weights, after, before, split, split_mut};
use crate::la::lanes::{LANES, Row, Task};
use crate::la::number::Number;
use crate::state::State;
use std::ops::Range;

/// From the eliminated right-hand side in the new accelerations, with the separators solved, to the end of the step.
/// `CARRIES`: old accelerations matter; `LOSES`: the scheme dissipates by itself.
pub(super) struct Up<'a, const CARRIES: bool, const LOSES: bool> {
    pub line: &'a Line,
    pub factor: &'a Lanes,
    pub separators: &'a Row,
    pub kick: &'a Kick<'a>,
    pub from: &'a State,
    pub to: &'a mut State,
}

impl<const CARRIES: bool, const LOSES: bool> Task for Up<'_, CARRIES, LOSES> {
    type Output = Sums;

    #[inline(always)]
    fn run<N: Number<Row = Row>>(self, set: N::Set) -> Sums {
        let Up { line, factor, separators, kick, from, to } = self;
        let (mut rows, mut tail) = arrays(line, factor, from, to);
        let pressed = |piece: &Piece| piece.reached.filter(|_| kick.p != 0.0).map(|first| &kick.response.rows[first..]);
        let filled = |piece: &Piece| piece.filled.map(|first| &factor.fill[first..]);
        let [first, others @ ..] = &factor.pieces[..] else { return Sums::default() };
        // The row of the separators has unit pivots and no multipliers. It is booked at the end, when what is before
        // it is known.
        rows.new.a[0] = *separators;
        let mut walk = Walk::<N>::new(set, &factor.weights, kick.p, &after(separators, 0.0), separators);
        walk.advance::<CARRIES>(set, &mut rows, 0, (None, pressed(first).map(|kicks| &kicks[0])));
        let first = (walk.rates(set, &rows, 0), walk.places(set, &rows, 0));
        let mut booking = Booking::<N>::after(set, first.0, first.1);
        for piece in others {
            let (rows, booking) = (rows.within(piece.rows.clone(), piece.constants), &mut booking);
            // Written out, because each of them is a loop of its own.
            match (filled(piece), pressed(piece)) {
                (None, None) => walk.go::<CARRIES, LOSES>(set, rows, More::of(None, None), booking),
                (fill, None) => walk.go::<CARRIES, LOSES>(set, rows, More::of(fill, None), booking),
                (None, kicks) => walk.go::<CARRIES, LOSES>(set, rows, More::of(None, kicks), booking),
                (fill, kicks) => walk.go::<CARRIES, LOSES>(set, rows, More::of(fill, kicks), booking),
            }
        }
        // Back to the first row, and on to the unknowns behind all rows.
        let (rates, places) = (booking.rates, booking.places);
        booking.rates = rates.map(|x| N::load(set, &before(&x.row())));
        booking.places = places.map(|x| N::load(set, &before(&x.row())));
        booking.add::<CARRIES, LOSES>(rows.constants(set, 0), first);
        if let Some(weight) = rows.gravity.first() {
            booking.add_weight(N::load(set, weight), [first.1.q, first.1.dq]);
        }
        let last = |x: N| x.row()[LANES - 1];
        let mut few = Booking::<f64>::after((), rates.map(last), places.map(last));
        let mut walk = Walk::<f64>::new((), &factor.weights, kick.p, &0.0, &last(walk.x));
        let (tail, more) = (tail.within(0..tail.edges.len(), 0), More::of(None, Some(&kick.response.tail)));
        walk.go::<CARRIES, LOSES>((), tail, more, &mut few);
        // The edge after the last unknown.
        few.add_places::<LOSES>(line.last_stiffness, Places::default());
        booking.stored().total(&few.sums)
    }
}

/// Rows, or the numbers behind them; all of the same length, or empty if not needed.
struct Arrays<'a, R> {
    old: Motion<&'a [R]>,
    /// Its accelerations hold the eliminated right-hand side.
    new: Motion<&'a mut [R]>,
    edges: &'a [[R; 2]],
    masses: &'a [[R; 3]],
    gravity: &'a [R],
}

/// Vectors of a state.
struct Motion<T> {
    q: T,
    v: T,
    a: T,
}

/// Rows, and the numbers behind them.
#[inline(always)]
fn arrays<'a>(
    line: &'a Line,
    factor: &'a Lanes,
    from: &'a State,
    to: &'a mut State,
) -> (Arrays<'a, Row>, Arrays<'a, f64>) {
    let n = line.n;
    let (q0, v0, a0) = (split(&from.q, n), split(&from.v, n), split(&from.a, n));
    let (q1, v1, a1) = (split_mut(&mut to.q, n), split_mut(&mut to.v, n), split_mut(&mut to.a, n));
    let gravity = split(&line.gravity, line.gravity.len());
    let rows = Arrays {
        old: Motion { q: q0.0, v: v0.0, a: a0.0 },
        new: Motion { q: q1.0, v: v1.0, a: a1.0 },
        edges: &factor.edges.rows,
        masses: &factor.masses.rows,
        gravity: gravity.0,
    };
    let tail = Arrays {
        old: Motion { q: q0.1, v: v0.1, a: a0.1 },
        new: Motion { q: q1.1, v: v1.1, a: a1.1 },
        edges: &factor.edges.tail,
        masses: &factor.masses.tail,
        gravity: gravity.1,
    };
    (rows, tail)
}

impl<R: Copy> Arrays<'_, R> {
    /// Some of them, with constants from a place of their own; and the compiler sees that all have the same length.
    #[inline(always)]
    fn within(&mut self, range: Range<usize>, constants: usize) -> Arrays<'_, R> {
        // Not `len`, which the compiler does not see to be the length of what the range selects.
        let constants = constants..constants + (range.end - range.start);
        let (old, new) = (&self.old, &mut self.new);
        let [q, v, a] = [&old.q[range.clone()], &old.v[range.clone()], &old.a[range.clone()]];
        Arrays {
            old: Motion { q, v, a },
            new: Motion { q: &mut new.q[range.clone()], v: &mut new.v[range.clone()], a: &mut new.a[range.clone()] },
            edges: &self.edges[constants.clone()],
            masses: &self.masses[constants],
            gravity: if self.gravity.is_empty() { &[] } else { &self.gravity[range] },
        }
    }

    /// Stiffness to the row before, half mass, coupling to the row before.
    #[inline(always)]
    fn constants<N: Number<Row = R>>(&self, set: N::Set, j: usize) -> [N; 3] {
        let ([stiffness, _], [mass, coupling, _]) = (&self.edges[j], &self.masses[j]);
        [N::load(set, stiffness), N::load(set, mass), N::load(set, coupling)]
    }
}

/// What some rows have and others have not: their fill, and what kicks them.
struct More<'a, R> {
    fill: Option<&'a [R]>,
    kicks: Option<&'a [[R; 2]]>,
}

impl<'a, R> More<'a, R> {
    #[inline(always)]
    fn of(fill: Option<&'a [R]>, kicks: Option<&'a [[R; 2]]>) -> More<'a, R> {
        More { fill, kicks }
    }
}

/// Goes along the rows, or along the numbers behind them.
struct Walk<N> {
    h: N,
    g: [N; 2],
    b: [N; 2],
    /// Old acceleration in x of (T27).
    old: N,
    dust: N,
    /// Impulse, and what a unit jump by it moves.
    p: N,
    shift: N,
    /// x of the next separators, and of the row before.
    next: N,
    x: N,
}

impl<N: Number> Walk<N> {
    #[inline(always)]
    fn new(set: N::Set, weights: &Weights, p: f64, next: &N::Row, x: &N::Row) -> Walk<N> {
        let splat = |x: f64| N::splat(set, x);
        Walk {
            h: splat(weights.h),
            g: weights.g.map(splat),
            b: weights.b.map(splat),
            old: splat(weights.old),
            dust: splat(DUST),
            p: splat(p),
            shift: splat(weights.c * p),
            next: N::load(set, next),
            x: N::load(set, x),
        }
    }

    /// Moves and books some rows.
    #[inline(always)]
    fn go<const CARRIES: bool, const LOSES: bool>(
        &mut self,
        set: N::Set,
        mut x: Arrays<N::Row>,
        more: More<N::Row>,
        booking: &mut Booking<N>,
    ) {
        let len = x.edges.len();
        let (fill, kicks) = (more.fill.map(|x| &x[..len]), more.kicks.map(|x| &x[..len]));
        // As many sums in a loop as fit the registers.
        let apart = CARRIES;
        for j in 0..len {
            self.advance::<CARRIES>(set, &mut x, j, (fill.map(|x| &x[j]), kicks.map(|x| &x[j])));
            booking.add_rates::<CARRIES, LOSES>(x.constants(set, j), self.rates(set, &x, j));
            if !apart {
                booking.add_places::<LOSES>(x.constants(set, j)[0], self.places(set, &x, j));
            }
        }
        self.x = self.x.without(self.dust);
        if apart {
            for j in 0..len {
                booking.add_places::<LOSES>(x.constants(set, j)[0], self.places(set, &x, j));
            }
        }
        for (j, weight) in x.gravity.iter().enumerate() {
            let [q0, q1] = [&x.old.q[j], &x.new.q[j]].map(|q| N::load(set, q));
            booking.add_weight(N::load(set, weight), [q1, q1 - q0]);
        }
    }

    /// Acceleration, velocity and place of row j.
    #[inline(always)]
    fn advance<const CARRIES: bool>(
        &mut self,
        set: N::Set,
        x: &mut Arrays<N::Row>,
        j: usize,
        (fill, kick): (Option<&N::Row>, Option<&[N::Row; 2]>),
    ) {
        let load = |row: &N::Row| N::load(set, row);
        let ([_, lower], [_, _, pivot]) = (&x.edges[j], &x.masses[j]);
        let mut own = load(pivot) * load(&x.new.a[j]);
        if let Some(fill) = fill {
            own = load(fill).take_from(self.next, own);
        }
        if let Some([push, _]) = kick {
            own = self.p.mul_add(load(push), own);
        }
        self.x = load(lower).take_from(self.x, own);
        let (q0, v0) = (load(&x.old.q[j]), load(&x.old.v[j]));
        let (mut q, mut v, mut a) = (self.h.mul_add(v0, q0), v0, self.x);
        if CARRIES {
            let a0 = load(&x.old.a[j]);
            (q, v, a) = (self.b[0].mul_add(a0, q), self.g[0].mul_add(a0, v), self.old.take_from(a0, a));
        }
        (q, v) = (self.b[1].mul_add(self.x, q), self.g[1].mul_add(self.x, v));
        if let Some([_, jump]) = kick {
            (q, v) = (self.shift.mul_add(load(jump), q), self.p.mul_add(load(jump), v));
        }
        a.store(&mut x.new.a[j]);
        q.store(&mut x.new.q[j]);
        v.store(&mut x.new.v[j]);
    }

    #[inline(always)]
    fn rates(&self, set: N::Set, x: &Arrays<N::Row>, j: usize) -> Rates<N> {
        let [v, a, a0] = [&x.new.v[j], &x.new.a[j], &x.old.a[j]].map(|row| N::load(set, row));
        Rates { v, a, da: a - a0 }
    }

    #[inline(always)]
    fn places(&self, set: N::Set, x: &Arrays<N::Row>, j: usize) -> Places<N> {
        let [q0, q] = [&x.old.q[j], &x.new.q[j]].map(|row| N::load(set, row));
        Places { q, dq: q - q0 }
    }
}
