//! First pass of a step over the unknowns of a line: the right-hand side of (T3), and its elimination from the ends of
//! the lanes to their beginnings.
//!
//! What is written here for a row of all lanes serves as well, number by number, for the few unknowns behind all rows.

use super::line::{BLOCK, Lanes, Line, Sparse, after, before, from_last_lane, settle, split};
use crate::la::lanes::{LANES, Number, Plain, Processor, Row, Task};
use crate::schemes::Tableau;

/// Leaves the eliminated right-hand side in `y` and returns what is left for the separators. `old` are place, velocity
/// and acceleration. `CARRIES`: old accelerations move the place that counts; `WEIGHS`: they have inertia forces, too.
pub(super) fn down<const CARRIES: bool, const WEIGHS: bool>(
    processor: Processor,
    (line, factor, row): (&Line, &Lanes, &Tableau),
    old: [&[f64]; 3],
    y: &mut [f64],
) -> Row {
    let (n, h) = (line.n, factor.h);
    let weights = [(1.0 - row.alpha_f) * h, (1.0 - row.alpha_f) * h * h * row.b0, row.alpha_m];
    let constant = [&line.stiffness, &line.mass, &line.coupling, &factor.lower, &factor.fill].map(|x| split(x, n));
    let gravity = split(&line.gravity, line.gravity.len());
    let old = old.map(|x| split(x, n));
    let (y, y_tail) = y[..n].as_chunks_mut::<LANES>();
    let (length, tail) = (y.len(), y_tail.len());

    // Behind all rows, from the end of the line to the last lane.
    let mut end = Above::<f64>::default();
    if tail > 0 {
        let last = old.map(|x| x.1[tail - 1]);
        end = Above { place: place(weights, last), a: last[2], ..end };
        end.tension = -line.last_stiffness * end.place;
        let below = old.map(|x| from_last_lane(x.0, x.1));
        let [stiffness, mass, coupling, lower, fill] = constant.map(|x| x.1);
        let below = [0, 1, 2].map(|k| &below[k][..tail]);
        let part = Part { below, stiffness, mass, coupling, lower, fill, gravity: gravity.1, weights, y: y_tail };
        part.eliminate::<f64, CARRIES, WEIGHS, false>((), &mut end);
    }

    let [stiffness, _, coupling, ..] = constant.map(|x| x.0);
    let (edge, beyond) = match tail {
        0 => (line.last_stiffness, [0.0; 3]),
        _ => (constant[0].1[0], old.map(|x| x.1[0])),
    };
    // The row above the last one is the first, one lane further.
    let last = old.map(|x| x.0[length - 1]);
    let next: [Row; 3] = std::array::from_fn(|k| after(&old[k].0[0], beyond[k]));
    let place_of = |rows: &[Row; 3]| -> Row { std::array::from_fn(|s| place(weights, rows.map(|x| x[s]))) };
    let (own, next_place, edges) = (place_of(&last), place_of(&next), after(&stiffness[0], edge));
    let mut above = Above {
        place: own,
        a: last[2],
        tension: std::array::from_fn(|s| edges[s] * (next_place[s] - own[s])),
        a_above: next[2],
        coupling: after(&coupling[0], end.coupling),
        lower: [0.0, 0.0, 0.0, end.lower],
        y: [0.0, 0.0, 0.0, end.y],
        filled: [0.0; LANES],
    };
    let mut to = length;
    while to > 1 {
        let from = ((to - 1) / BLOCK * BLOCK).max(1);
        let [stiffness, mass, coupling, lower, fill] = constant.map(|x| &x.0[from..to]);
        let (below, gravity) = (old.map(|x| &x.0[from - 1..to - 1]), gravity.0.get(from..to).unwrap_or(&[]));
        let part = Part { below, stiffness, mass, coupling, lower, fill, gravity, weights, y: &mut y[from..to] };
        let above = &mut above;
        if to > factor.filled_from {
            processor.run(Eliminate::<CARRIES, WEIGHS, true> { part, above });
        } else {
            processor.run(Eliminate::<CARRIES, WEIGHS, false> { part, above });
        }
        settle(&mut above.y);
        to = from;
    }
    // What is below the first row lies elsewhere.
    let first = last.map(|x| [before(&x)]);
    let [stiffness, mass, coupling, lower, fill] = constant.map(|x| &x.0[..1]);
    let (below, gravity) = ([0, 1, 2].map(|k| &first[k][..]), gravity.0.get(..1).unwrap_or(&[]));
    let part = Part { below, stiffness, mass, coupling, lower, fill, gravity, weights, y: &mut y[..1] };
    part.eliminate::<Plain, CARRIES, WEIGHS, false>((), &mut above);
    let filled = before(&above.filled);
    std::array::from_fn(|s| above.y[s] - filled[s])
}

/// The place that counts, q + (1−α_f) (h v + h² b0 a).
fn place(weights: [f64; 3], motion: [f64; 3]) -> f64 {
    motion[0] + weights[0] * motion[1] + weights[1] * motion[2]
}

/// Arrays of some rows, or of some numbers.
struct Part<'a, R> {
    /// Old motion of the rows before these.
    below: [&'a [R]; 3],
    stiffness: &'a [R],
    mass: &'a [R],
    coupling: &'a [R],
    lower: &'a [R],
    fill: &'a [R],
    /// Empty where there is none.
    gravity: &'a [R],
    /// Of velocity and acceleration in the place that counts, and of the old inertia force.
    weights: [f64; 3],
    y: &'a mut [R],
}

/// What a row needs of the one above.
#[derive(Default)]
struct Above<R> {
    /// Place and acceleration of the row itself.
    place: R,
    a: R,
    /// Tension of the edge above it, acceleration beyond that edge, and its mass.
    tension: R,
    a_above: R,
    coupling: R,
    /// Multiplier and eliminated right-hand side above.
    lower: R,
    y: R,
    /// What goes to the next separators.
    filled: R,
}

impl<R: Copy> Part<'_, R> {
    /// Right-hand side and elimination, from the last row to the first.
    #[inline(always)]
    fn eliminate<N: Number<Row = R>, const CARRIES: bool, const WEIGHS: bool, const FILLED: bool>(
        self,
        set: N::Set,
        above: &mut Above<R>,
    ) {
        let load = |row: &R| N::load(set, row);
        let [cv, ca, alpha] = self.weights.map(|weight| N::splat(set, weight));
        let len = self.y.len();
        let [q, v, a] = self.below.map(|x| &x[..len]);
        let (stiffness, lower, gravity) = (&self.stiffness[..len], &self.lower[..len], self.gravity);
        let (mass, coupling, fill) = (&self.mass[..len], &self.coupling[..len], &self.fill[..len]);
        let (mut own, mut tension) = (load(&above.place), load(&above.tension));
        let (mut own_a, mut a_above, mut own_c) = (load(&above.a), load(&above.a_above), load(&above.coupling));
        let (mut multiplier, mut y, mut filled) = (load(&above.lower), load(&above.y), load(&above.filled));
        for j in (0..len).rev() {
            let mut place = load(&v[j]).mul_add(cv, load(&q[j]));
            let below_a = load(&a[j]);
            if CARRIES {
                place = below_a.mul_add(ca, place);
            }
            let below_tension = load(&stiffness[j]) * (own - place);
            let mut force = tension - below_tension;
            if WEIGHS {
                let c = load(&coupling[j]);
                let inertia = own_c.mul_add(a_above, c.mul_add(below_a, load(&mass[j]) * own_a));
                force = alpha.take_from(inertia, force);
                (a_above, own_a, own_c) = (own_a, below_a, c);
            }
            if gravity.len() == len {
                force = force + load(&gravity[j]);
            }
            y = multiplier.take_from(y, force);
            y.store(&mut self.y[j]);
            if FILLED {
                filled = load(&fill[j]).mul_add(y, filled);
            }
            (own, tension, multiplier) = (place, below_tension, load(&lower[j]));
        }
        own.store(&mut above.place);
        tension.store(&mut above.tension);
        own_a.store(&mut above.a);
        a_above.store(&mut above.a_above);
        own_c.store(&mut above.coupling);
        multiplier.store(&mut above.lower);
        y.store(&mut above.y);
        filled.store(&mut above.filled);
    }
}

struct Eliminate<'a, const CARRIES: bool, const WEIGHS: bool, const FILLED: bool> {
    part: Part<'a, Row>,
    above: &'a mut Above<Row>,
}

impl<const CARRIES: bool, const WEIGHS: bool, const FILLED: bool> Task for Eliminate<'_, CARRIES, WEIGHS, FILLED> {
    type Output = ();

    #[inline(always)]
    fn run<N: Number<Row = Row>>(self, set: N::Set) {
        self.part.eliminate::<N, CARRIES, WEIGHS, FILLED>(set, self.above);
    }
}

/// Adds to the eliminated right-hand side what the impulse p of a contact loads.
pub(super) fn load(processor: Processor, load: &Sparse, p: f64, y: &mut [f64]) {
    let (rows, tail) = y.as_chunks_mut::<LANES>();
    processor.run(Add { load: &load.rows, p, rows });
    tail.iter_mut().zip(&load.tail).for_each(|(y, load)| *y += p * load);
}

struct Add<'a> {
    load: &'a [(u32, Row)],
    p: f64,
    rows: &'a mut [Row],
}

impl Task for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn run<N: Number<Row = Row>>(self, set: N::Set) {
        let p = N::splat(set, self.p);
        for (row, load) in self.load {
            let y = &mut self.rows[*row as usize];
            p.mul_add(N::load(set, load), N::load(set, y)).store(y);
        }
    }
}
