//! Errors of steps by comparison with two half steps, (T114): a [`Method`] around a method.
//!
//! It arrives early, with the first half; the second half follows when it is asked for the rest, already made. Three steps
//! are made for two that are taken. Must not know the tolerance.

use super::embedded::Measure;
use super::{Attempt, Estimate, KeptFactors, Method};
use crate::Result;
use crate::case::data::Adaptive;
use crate::state::State;
use crate::system::System;

/// A method whose steps come in halves, with an estimate of their error in the first.
pub struct Doubling<'a> {
    inner: Box<dyn Method + 'a>,
    measure: Measure<'a>,
    /// Order of the scheme, and the one that is to be assumed instead.
    order: u32,
    forced: Option<u32>,
    whole: Attempt,
    /// The second half, if it has been made since its first was returned.
    second: Attempt,
    made: bool,
    /// Where the second half that is due begins and ends.
    due: Option<[f64; 2]>,
    difference: Vec<f64>,
    before: Vec<f64>,
}

impl<'a> Doubling<'a> {
    /// Estimates for the steps of `inner`, which are of this order.
    pub fn new(
        inner: Box<dyn Method + 'a>,
        order: u32,
        system: &'a System,
        settings: &Adaptive,
    ) -> Result<Doubling<'a>> {
        let measure = Measure::new(system, settings.norm)?;
        Ok(Doubling {
            inner,
            measure,
            order,
            forced: settings.order.forced(),
            whole: Attempt::default(),
            second: Attempt::default(),
            made: false,
            due: None,
            difference: vec![0.0; system.nodes.total],
            before: Vec::new(),
        })
    }

    fn estimate(&mut self, from: &State, first: &Attempt) -> Estimate {
        let (whole, second) = (&self.whole, &self.second);
        for ((x, fine), coarse) in self.difference.iter_mut().zip(&second.state.q[..]).zip(&whole.state.q[..]) {
            *x = fine - coarse;
        }
        let size = self.measure.of_positions(&second.state.q, &mut self.difference);
        let violation = self.measure.violation(from, first) + self.measure.violation(&first.state, second);
        first.scene.recall(from, &mut self.before);
        let event = !agree(&self.before, whole, first, second);
        let order = self.forced.unwrap_or(if event { 0 } else { self.order });
        // An impact is placed within the step, and halving it halves the error.
        let error = if order == 0 { 2.0 * size } else { size / f64::from((1u32 << order) - 1) };
        let [smooth, contact] = if event { [0.0, error] } else { [error, 0.0] };
        Estimate { smooth, contact, violation, order: self.order }
    }
}

/// Whether a step and its halves press at the same contacts, and at those at which the last step did, with these impulses.
fn agree(before: &[f64], whole: &Attempt, first: &Attempt, second: &Attempt) -> bool {
    let pressed = |impulse: &[f64], row: usize| impulse.get(row).is_some_and(|&p| p != 0.0);
    let of = |attempt: &Attempt, contact: usize| {
        let row = attempt.scene.rows_of(contact).start;
        pressed(&attempt.state.impulse, row)
    };
    let same = |a: &Attempt, b: &Attempt| {
        a.scene.candidates.len() == b.scene.candidates.len()
            && (0..a.scene.candidates.len()).all(|i| a.scene.key(i) == b.scene.key(i) && of(a, i) == of(b, i))
    };
    let lasts =
        (0..first.scene.candidates.len()).all(|i| pressed(before, first.scene.rows_of(i).start) == of(first, i));
    same(whole, first) && same(first, second) && lasts
}

impl Method for Doubling<'_> {
    fn initial_attempt(&mut self, h: f64) -> Result<Attempt> {
        let attempt = self.inner.initial_attempt(h)?;
        (self.whole, self.second) = (attempt.clone(), attempt.clone());
        Ok(attempt)
    }

    fn attempt(&mut self, from: &State, h: f64, t1: f64, to: &mut Attempt) -> Result<()> {
        if self.due.take() == Some([from.time, t1]) {
            if std::mem::take(&mut self.made) {
                std::mem::swap(to, &mut self.second);
            } else {
                self.inner.attempt(from, h, t1, to)?;
            }
            to.error = None;
            return Ok(());
        }
        self.inner.attempt(from, h, t1, &mut self.whole)?;
        let middle = from.time + 0.5 * h;
        self.inner.attempt(from, 0.5 * h, middle, to)?;
        to.state.h = 0.5 * h;
        self.inner.attempt(&to.state, 0.5 * h, t1, &mut self.second)?;
        to.error = Some(self.estimate(from, to));
        (self.made, self.due) = (true, Some([middle, t1]));
        Ok(())
    }

    fn kept(&self) -> KeptFactors {
        KeptFactors { due: self.due, ..self.inner.kept() }
    }

    fn restore(&mut self, kept: KeptFactors) -> Result<()> {
        (self.made, self.due) = (false, kept.due);
        self.inner.restore(kept)
    }

    fn factorization(&self) -> &'static str {
        self.inner.factorization()
    }
}
