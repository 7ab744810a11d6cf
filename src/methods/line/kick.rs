//! What impulses do to a line in a step.

use super::unknowns::{Lanes, Line, NEGLIGIBLE, split};
use crate::la::lanes::{LANES, Row};
use crate::relations::Scene;
use aligned_vec::{AVec, avec};

/// What a unit impulse does in a step, where any impulse reaches.
pub(super) struct Response {
    /// What it adds to x of (T27) if that of the row before is known, and to the velocity.
    pub rows: AVec<[Row; 2]>,
    /// What it adds to the few unknowns behind all rows.
    pub tail: [[f64; 2]; LANES],
    /// What it adds to x of (T27) at the separators.
    pub separators: Row,
}

/// The answer to the impulses of a step: p times that to a unit.
#[derive(Clone, Copy)]
pub(super) struct Kick<'a> {
    pub p: f64,
    pub response: &'a Response,
}

/// Answers to unit impulses.
pub(super) struct Answers {
    /// By contact row, and room for that to several at once.
    each: Vec<Response>,
    together: Response,
    /// Rows that are reached.
    pub reached: Vec<bool>,
}

impl Answers {
    /// For all contacts of a scene; of their jumps these parts count in the forces of the step, as places and as rates.
    pub fn new(
        factor: &Lanes,
        line: &Line,
        [moves, drags]: [f64; 2],
        scene: &Scene,
        solve_mass: &mut dyn FnMut(&mut Vec<f64>),
    ) -> Answers {
        let (n, weave) = (line.n, line.weave);
        let mut reached = vec![false; weave.rows];
        let mut answers = Vec::new();
        for (_, entries) in scene.candidates.iter().flat_map(|candidate| candidate.rows_of()) {
            let mut jump = vec![0.0; n];
            entries.entries().iter().filter(|(d, _)| (*d as usize) < n).for_each(|&(d, g)| jump[d as usize] += g);
            solve_mass(&mut jump);
            neglect(&mut jump);
            let tension = |i: usize| {
                let [before, own] = [i.wrapping_sub(1), i].map(|i| if i < n { jump[weave.place(i)] } else { 0.0 });
                line.stiffness_before(i) * (own - before)
            };
            let [own, coupling] = &line.damping;
            let dragged = |i: usize, j: usize| {
                let (place, entries) = (weave.place(i.max(j)), if i == j { own } else { coupling });
                entries.get(place).map_or(0.0, |c| c * jump[weave.place(j)])
            };
            let drag = |i: usize| (i.saturating_sub(1)..n.min(i + 2)).map(|j| dragged(i, j)).sum::<f64>();
            let load = |i: usize| moves * (tension(i + 1) - tension(i)) - drags * drag(i);
            let mut load: Vec<f64> = (0..n).map(load).collect();
            let separators = factor.separators(&factor.eliminate(&mut load));
            neglect(&mut load);
            let mut push: Vec<f64> = (0..n).map(|place| factor.at(place)[2] * load[weave.unknown(place)]).collect();
            // The separators have theirs already.
            push[..LANES].fill(0.0);
            for (row, reached) in reached.iter_mut().enumerate() {
                *reached |= [&push, &jump].iter().any(|x| split(x, n).0[row] != [0.0; LANES]);
            }
            answers.push(([push, jump], separators));
        }
        let rows: Vec<usize> = (0..weave.rows).filter(|&row| reached[row]).collect();
        let each = answers.iter().map(|(both, separators)| {
            let [push, jump] = [0, 1].map(|k| split(&both[k], n));
            let at = |x: &[f64], k: usize| x.get(k).copied().unwrap_or(0.0);
            Response {
                rows: AVec::from_iter(0, rows.iter().map(|&row| [push.0[row], jump.0[row]])),
                tail: std::array::from_fn(|k| [at(push.1, k), at(jump.1, k)]),
                separators: *separators,
            }
        });
        let together = Response {
            rows: avec![Default::default(); rows.len()],
            tail: Default::default(),
            separators: Default::default(),
        };
        Answers { each: each.collect(), together, reached }
    }

    /// The answer to the impulses of a step.
    pub fn kick(&mut self, impulses: &[f64]) -> Kick<'_> {
        let (each, sum) = (&self.each, &mut self.together);
        let pressed = || impulses.iter().zip(each).filter(|(p, _)| **p != 0.0);
        let mut few = pressed();
        match [few.next(), few.next()] {
            [None, _] => Kick { p: 0.0, response: sum },
            [Some((&p, response)), None] => Kick { p, response },
            _ => {
                sum.rows.fill(Default::default());
                (sum.tail, sum.separators) = Default::default();
                for (p, response) in pressed() {
                    let add = |sum: &mut f64, part: &f64| *sum += p * part;
                    let rows = sum.rows.as_flattened_mut().as_flattened_mut();
                    rows.iter_mut().zip(response.rows.as_flattened().as_flattened()).for_each(|(s, r)| add(s, r));
                    let tail = sum.tail.as_flattened_mut();
                    tail.iter_mut().zip(response.tail.as_flattened()).for_each(|(s, r)| add(s, r));
                    sum.separators.iter_mut().zip(&response.separators).for_each(|(s, r)| add(s, r));
                }
                Kick { p: 1.0, response: sum }
            }
        }
    }
}

/// Sets entries to zero that do not matter.
fn neglect(vector: &mut [f64]) {
    let floor = NEGLIGIBLE * vector.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
    vector.iter_mut().filter(|x| x.abs() <= floor).for_each(|x| *x = 0.0);
}
