//! Point masses: the ball, the oscillator, two balls on a spring.

use crate::common::runs::{FIRST_ORDER, Run, SECOND_ORDER, run, shipped};
use carom::exact::{BouncingBall, ImpactingOscillator};
use std::f64::consts::PI;

/// Schemes with the order of each.
fn schemes() -> impl Iterator<Item = (&'static str, u32)> {
    SECOND_ORDER.iter().map(|&scheme| (scheme, 2)).chain(FIRST_ORDER.iter().map(|&scheme| (scheme, 1)))
}

fn with_scheme(name: &str, scheme: &str, step: Option<f64>) -> Run {
    let mut set = vec!["expect={}".to_string(), format!("scheme={scheme}")];
    set.extend(step.map(|step| format!("time.step={step:e}")));
    run(shipped(name, &set.iter().map(String::as_str).collect::<Vec<_>>()))
}

/// Starts and ends of the contact's episodes.
fn events(run: &Run) -> Vec<[f64; 2]> {
    run.digest.contacts[0].spans.iter().map(|span| [span.start, span.end]).collect()
}

#[test]
fn ball_bounces_and_comes_to_rest_with_every_scheme() {
    let exact = BouncingBall { height: 1.0, gravity: 2.0, restitution: 0.5 };
    for (scheme, _) in schemes() {
        let run = with_scheme("bouncing-ball", scheme, None);
        let h = run.case.time.step;
        let episodes = events(&run);
        // An impact is taken within half a step of its instant, and each one shifts those after it by less than that.
        for n in 1..=4 {
            let (start, wanted) = (episodes[n - 1][0], exact.impact(n as u32));
            assert!((start - wanted).abs() < (0.5 + 0.4 * (n - 1) as f64) * h, "{scheme}: impact {n} at {start}");
        }
        // A shift of half a step at the largest speed, 2, before, and 1 after.
        let worst = run.steps.iter().map(|s| (run.place(s, 0, 0) - exact.position(s.time)).abs()).fold(0.0, f64::max);
        assert!(worst < 1.5 * h, "{scheme}: {} h", worst / h);
        for step in run.steps.iter().filter(|step| step.time > 3.1) {
            assert!(
                (run.force(step) - 2.0).abs() < 1e-7,
                "{scheme}: the floor carries the weight, {}",
                run.force(step)
            );
            assert!(run.velocity(step, 0, 0).abs() < 1e-9, "{scheme}: at rest");
        }
    }
}

#[test]
fn oscillator_keeps_time_with_every_scheme() {
    let exact = ImpactingOscillator { mass: 1.0, stiffness: 4.0 * PI * PI, restitution: 0.8, amplitude: 1.0 };
    for (scheme, order) in schemes() {
        let run = with_scheme("impacting-oscillator", scheme, None);
        let h = run.case.time.step;
        let episodes = events(&run);
        assert_eq!(episodes.len(), 4, "{scheme}");
        // The mass leaves from where it is when the impact is noticed, up to a step too deep, and has to make up for
        // it: about two steps per impact.
        for (n, episode) in episodes.iter().enumerate() {
            let delay = (episode[0] - exact.impact(n as u32 + 1)).abs();
            assert!(delay < (0.5 + 2.0 * n as f64) * h, "{scheme}: impact {} late by {} h", n + 1, delay / h);
        }
        // The same delays at the largest velocity, 2π.
        let worst = run.steps.iter().map(|s| (run.place(s, 1, 0) - exact.position(s.time)).abs()).fold(0.0, f64::max);
        assert!(worst < 20.0 * h, "{scheme}: {} h", worst / h);
        let energy = run.last().energy.total() / (2.0 * PI * PI * 0.64_f64.powi(4));
        assert!((energy - 1.0).abs() < if order == 2 { 2e-3 } else { 0.2 }, "{scheme}: energy {energy} of the exact");
    }
}

/// Events of the exact modal solution, found by root finding and confirmed by an event-driven Runge–Kutta code to
/// 6e-16: impact, release, and the next impact.
#[test]
fn two_balls_touch_and_part_in_time() {
    let h = 3e-5;
    for (scheme, order) in schemes() {
        let run = with_scheme("two-ball-oscillator", scheme, Some(h));
        let episodes = events(&run);
        // A fully implicit ball that stops just above the floor closes the rest of the gap in small hops, so the
        // event nearest to an instant is taken.
        let nearest = |t: f64, end: usize| {
            episodes.iter().map(|episode| episode[end]).min_by(|a, b| (a - t).abs().total_cmp(&(b - t).abs())).unwrap()
        };
        // The fully implicit fall is late by half a step on top of the forecast's half.
        let limits = if order == 2 { [0.5, 2.0, 2.0] } else { [1.0, 2.0, 12.0] };
        let exact = [(0.4515236409857309, 0), (0.5575137663372677, 1), (0.9928027266611095, 0)];
        for ((exact, end), limit) in exact.into_iter().zip(limits) {
            let measured = nearest(exact, end);
            assert!((measured - exact).abs() < limit * h * 1.001, "{scheme}: {measured} for {exact}");
        }
        // The lower ball stops dead at the first impact: half of all energy, 9.81, to first order in h. Schemes of first
        // order also damp the spring until 0.5.
        let lost = run.at(0.5).energy.total();
        assert!((lost + 9.81).abs() < if order == 2 { 2e-3 } else { 3e-2 }, "{scheme}: {lost}");
    }
}

/// Impacts of the stiff pair, from the same exact solution. Late impacts depend on early ones, and more so the closer
/// the lower ball comes to missing the floor.
#[test]
fn stiff_pair_makes_two_impacts_per_landing() {
    let exact = [0.40024992192379, 0.41970756407768, 1.0058669104444, 1.0315327027472];
    for &scheme in SECOND_ORDER {
        let run = with_scheme("two-ball-oscillator-stiff", scheme, None);
        let h = run.case.time.step;
        let episodes = events(&run);
        assert_eq!(episodes.len(), 4, "{scheme}: {episodes:?}");
        for ((episode, exact), limit) in episodes.iter().zip(exact).zip([0.5, 1.5, 10.0, 40.0]) {
            assert!((episode[0] - exact).abs() < limit * h * 1.001, "{scheme}: {} for {exact}", episode[0]);
        }
    }
}
