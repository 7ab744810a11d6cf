//! Cost of a step per unknown, as a ratio to that of two loops written by hand for this one problem.
//!
//! ```text
//! cargo bench --bench yardstick [-- ELEMENTS ...]
//! ```
//!
//! The loops by hand: one bar with consistent mass, the trapezoidal rule, one contact at the first node, no energies, no
//! output; arrays of stiffness by element, and fused multiply-add where the processor has it. The plain one solves with
//! couplings and pivots, as a textbook writes LDLᵀ; the sharp one has the multipliers stored, which takes a
//! multiplication out of its recurrence. carom, with every scheme: the whole run as a user gets it, with ledger, guards,
//! digest and a history line every 100 steps, on a bar of equal elements, whose constants it reads once, and on one of which
//! no two elements are equal. All walk by turns, and of each the best of many short stretches counts, because noise only
//! ever adds.

use carom::case::data::HistoryOutput;
use carom::case::{Format, parse};
use carom::cases;
use carom::model::Model;
use carom::run::{self, Prepared};
use carom::sinks::columns::Columns;
use carom::sinks::digest::Digest;
use carom::sinks::history::History;
use carom::sinks::{Record, Sink};
use carom::system::System;
use pulp::{Arch, Simd, WithSimd};
use std::time::{Duration, Instant};

/// Steps per run; the bar stays in contact for longer.
const STEPS: usize = 300;
/// Steps in a stretch times elements.
const STRETCH: usize = 40_000;
/// A size is measured for this long, and at least three times.
const PATIENCE: Duration = Duration::from_secs(6);

/// Every scheme, and its step as a part of the usual one.
const SCHEMES: [(&str, &str, f64); 6] = [
    ("moreau-jean", "", 1.0),
    ("mj-dissipative", "{ name = \"moreau-jean-dissipative\", theta = 0.8 }", 1.0),
    ("newmark", "", 1.0),
    ("hht", "{ name = \"hht\", alpha = 0.1 }", 1.0),
    ("generalized-alpha", "{ name = \"generalized-alpha\", rho_inf = 0.6 }", 1.0),
    // Explicit; the longest stable step is 0.48 of the usual one.
    ("central-difference", "", 0.4),
];

fn main() {
    println!("impacting bar in contact; ns per unknown and step, in brackets over the plain loop by hand");
    let wanted: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let sizes = if wanted.is_empty() { vec![200, 2_000, 20_000, 200_000] } else { wanted };
    table("equal", &sizes, 1.0);
    table("unequal", &sizes, 1.1);
}

/// A line for every size; `grading` is the length of the last element over that of the first.
fn table(title: &str, sizes: &[usize], grading: f64) {
    print!("{:>9} {:>6} {:>6}", title, "plain", "sharp");
    SCHEMES.iter().for_each(|(name, ..)| print!(" {name:>18}"));
    println!();
    for &elements in sizes {
        let (mut plain, mut sharp, mut own) = (f64::INFINITY, f64::INFINITY, [f64::INFINITY; SCHEMES.len()]);
        let (clock, mut rounds) = (Instant::now(), 0);
        while rounds < 3 || clock.elapsed() < PATIENCE {
            plain = plain.min(by_hand::<false>(elements));
            sharp = sharp.min(by_hand::<true>(elements));
            for (best, (name, scheme, part)) in own.iter_mut().zip(SCHEMES) {
                let scheme = if scheme.is_empty() { format!("{{ name = \"{name}\" }}") } else { scheme.into() };
                *best = best.min(carom(elements, grading, &scheme, part));
            }
            rounds += 1;
        }
        let each = 1e9 / (elements + 1) as f64;
        print!("{elements:>9} {:>6.2} {:>6.2}", plain * each, sharp * each);
        own.iter().for_each(|own| print!(" {:>18}", format!("{:.2} ({:.2})", own * each, own / plain)));
        println!();
    }
}

fn step_size(elements: usize) -> f64 {
    0.4 / elements as f64
}

fn stretch(elements: usize) -> usize {
    (STRETCH / elements).clamp(1, STEPS)
}

/// Seconds per step of a loop by hand.
fn by_hand<const SHARP: bool>(elements: usize) -> f64 {
    let mut bar = Bar::new(elements, step_size(elements));
    let mut best = f64::INFINITY;
    let arch = Arch::new();
    for _ in 0..STEPS / stretch(elements) {
        let begun = Instant::now();
        arch.dispatch(Walk::<SHARP> { bar: &mut bar, steps: stretch(elements) });
        best = best.min(begun.elapsed().as_secs_f64() / stretch(elements) as f64);
    }
    let speed = 30.0 * 10.0;
    assert!((bar.impulse / (bar.steps as f64 * bar.h) / speed - 1.0).abs() < 0.1, "the wall pushes with rho c v A");
    best
}

/// Bar of length 10 with stiffness 900 and line mass 1 that moves to the wall it touches.
struct Bar {
    h: f64,
    stiffness: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    /// Change of velocity without contact.
    y: Vec<f64>,
    coupling: Vec<f64>,
    multiplier: Vec<f64>,
    pivot: Vec<f64>,
    /// Velocity by impulse.
    column: Vec<f64>,
    impulse: f64,
    steps: usize,
}

impl Bar {
    fn new(elements: usize, h: f64) -> Bar {
        let (n, length) = (elements + 1, 10.0 / elements as f64);
        let stiffness = vec![900.0 / length; elements];
        let mut diagonal = vec![0.0; n];
        let mut off = vec![0.0; n];
        for e in 0..elements {
            for i in [e, e + 1] {
                diagonal[i] += length / 3.0 + 0.25 * h * h * stiffness[e];
            }
            off[e] = length / 6.0 - 0.25 * h * h * stiffness[e];
        }
        let (mut multiplier, mut pivot) = (vec![0.0; n], vec![0.0; n]);
        for i in 0..n {
            if i > 0 {
                multiplier[i] = off[i - 1] * pivot[i - 1];
                diagonal[i] -= multiplier[i] * off[i - 1];
            }
            pivot[i] = 1.0 / diagonal[i];
        }
        let mut column = vec![0.0; n];
        column[0] = 1.0;
        for i in 1..n {
            column[i] = -multiplier[i] * column[i - 1];
        }
        column[n - 1] *= pivot[n - 1];
        for i in (0..n - 1).rev() {
            column[i] = pivot[i] * column[i] - multiplier[i + 1] * column[i + 1];
        }
        let [q, y] = [(); 2].map(|()| vec![0.0; n]);
        let v = vec![-10.0; n];
        Bar { h, stiffness, q, v, y, coupling: off, multiplier, pivot, column, impulse: 0.0, steps: 0 }
    }
}

struct Walk<'a, const SHARP: bool> {
    bar: &'a mut Bar,
    steps: usize,
}

impl<const SHARP: bool> WithSimd for Walk<'_, SHARP> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let fma = |a: f64, b: f64, c: f64| if S::IS_SCALAR { a * b + c } else { a.mul_add(b, c) };
        let Bar { h, stiffness, q, v, y, coupling, multiplier, pivot, column, impulse, steps } = self.bar;
        let (n, h) = (q.len(), *h);
        let (q, v, y) = (&mut q[..n], &mut v[..n], &mut y[..n]);
        let (stiffness, multiplier, pivot, column) = (&stiffness[..n - 1], &multiplier[..n], &pivot[..n], &column[..n]);
        let coupling = &coupling[..n];
        for _ in 0..self.steps {
            let mut place = fma(0.5 * h, v[0], q[0]);
            let (mut force, mut last) = (0.0, 0.0);
            let mut before = 0.0;
            for i in 0..n - 1 {
                let next = fma(0.5 * h, v[i + 1], q[i + 1]);
                let tension = h * stiffness[i] * (next - place);
                if SHARP {
                    last = fma(-multiplier[i], last, tension - force);
                } else {
                    last = pivot[i] * fma(-before, last, tension - force);
                    before = coupling[i];
                }
                y[i] = last;
                (place, force) = (next, tension);
            }
            let factor = if SHARP { multiplier[n - 1] } else { before };
            y[n - 1] = pivot[n - 1] * fma(-factor, last, -force);
            for i in (0..n - 1).rev() {
                y[i] = match SHARP {
                    true => fma(-multiplier[i + 1], y[i + 1], pivot[i] * y[i]),
                    false => fma(-(pivot[i] * coupling[i]), y[i + 1], y[i]),
                };
            }
            let active = q[0] + 0.5 * h * v[0] <= 0.0;
            let p = if active { (-(v[0] + y[0]) / column[0]).max(0.0) } else { 0.0 };
            *impulse += p;
            for i in 0..n {
                let new = v[i] + fma(p, column[i], y[i]);
                q[i] = fma(0.5 * h, v[i] + new, q[i]);
                v[i] = new;
            }
            *steps += 1;
        }
    }
}

/// Seconds per step of a run with everything that a user gets without frames.
fn carom(elements: usize, grading: f64, scheme: &str, part: f64) -> f64 {
    let text = cases::find("impacting-bar").expect("it ships").text;
    let h = part * step_size(elements);
    let set = [
        format!("body.bar.line={{ from = [0.0], to = [10.0], elements = {elements}, grading = {grading} }}"),
        format!("time={{ end = {:e}, step = {h:e} }}", STEPS as f64 * h),
        format!("scheme={scheme}"),
    ];
    let case = parse(text, "impacting-bar", Format::Toml, &set).unwrap_or_else(|bad| panic!("{}", bad.render(false)));
    let model = Model::new(&case, &|name| name.into()).expect("the case ships");
    let system = System::assemble(&model).expect("the case ships");
    let prepared = Prepared { model, system, advice: Vec::new() };
    let columns = Columns::new(&prepared.model, &prepared.system);
    let directory = tempfile::tempdir().expect("a directory for the history");
    let settings = HistoryOutput { every: 100, ..case.output.history.clone() };
    let mut history = History::new(directory.path(), &columns, &settings, case.time.end);
    let mut digest = Digest::new(&prepared.system);
    let mut watch = Watch { stretch: stretch(elements) as u64, begun: Instant::now(), best: f64::INFINITY };
    run::march(&case, &prepared, &mut [&mut digest, &mut history, &mut watch]).expect("the case runs");
    assert!(watch.best.is_finite(), "the bar must be in contact");
    watch.best
}

/// The best stretch of a run.
struct Watch {
    stretch: u64,
    begun: Instant,
    best: f64,
}

impl Sink for Watch {
    fn record(&mut self, record: &Record) -> carom::Result<()> {
        // The first step factors.
        let step = record.attempt.state.step.saturating_sub(1);
        if step.is_multiple_of(self.stretch) {
            // Explicit steps open the contact once in the beginning.
            if step > 0 && record.attempt.active == 1 {
                self.best = self.best.min(self.begun.elapsed().as_secs_f64() / self.stretch as f64);
            }
            self.begun = Instant::now();
        }
        Ok(())
    }
}
