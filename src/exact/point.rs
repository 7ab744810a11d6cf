//! Point masses that bounce.

use std::f64::consts::PI;

/// A ball dropped from rest that bounces infinitely often in finite time, (T73).
///
/// ```
/// use carom::exact::BouncingBall;
///
/// let ball = BouncingBall { height: 1.0, gravity: 2.0, restitution: 0.5 };
/// assert_eq!(ball.accumulation(), 3.0);
/// assert_eq!([1, 2, 3].map(|n| ball.impact(n)), [1.0, 2.0, 2.5]);
/// assert_eq!(ball.position(1.5), 0.25);
/// assert_eq!(ball.position(3.2), 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BouncingBall {
    /// Height at t = 0.
    pub height: f64,
    /// Acceleration of gravity, positive towards the floor.
    pub gravity: f64,
    /// Newton's coefficient of restitution, in [0, 1].
    pub restitution: f64,
}

impl BouncingBall {
    /// Instant of impact number `n`, from 1.
    pub fn impact(&self, n: u32) -> f64 {
        let mut flight = 2.0 * self.fall() * self.restitution;
        let mut t = self.fall();
        for _ in 1..n {
            t += flight;
            flight *= self.restitution;
        }
        t
    }

    /// Instant at which the ball comes to rest; infinite without loss.
    pub fn accumulation(&self) -> f64 {
        self.fall() * (1.0 + self.restitution) / (1.0 - self.restitution)
    }

    /// Height at time `t`.
    pub fn position(&self, t: f64) -> f64 {
        self.motion(t).0
    }

    /// Velocity at time `t`, upwards.
    pub fn velocity(&self, t: f64) -> f64 {
        self.motion(t).1
    }

    /// Duration of the first fall.
    fn fall(&self) -> f64 {
        (2.0 * self.height / self.gravity).sqrt()
    }

    fn motion(&self, t: f64) -> (f64, f64) {
        let g = self.gravity;
        let mut start = self.fall();
        if t < start {
            return (self.height - 0.5 * g * t * t, -g * t);
        }
        let mut speed = g * start;
        loop {
            speed *= self.restitution;
            let end = start + 2.0 * speed / g;
            // Flights that do not move the clock any more are at the accumulation, where rounding may hide it.
            if t >= self.accumulation() || end == start {
                return (0.0, 0.0);
            }
            if t < end {
                let s = t - start;
                return (speed * s - 0.5 * g * s * s, speed - g * s);
            }
            start = end;
        }
    }
}

/// A mass on a spring with a wall where the spring is at rest, (T74).
///
/// ```
/// use carom::exact::ImpactingOscillator;
///
/// let stiffness = 4.0 * std::f64::consts::PI.powi(2);
/// let oscillator = ImpactingOscillator { mass: 1.0, stiffness, restitution: 0.8, amplitude: 1.0 };
/// assert_eq!(oscillator.impact(2), 0.75);
/// assert!((oscillator.position(1.0) - 0.8 * 0.8).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpactingOscillator {
    /// Mass.
    pub mass: f64,
    /// Stiffness of the spring.
    pub stiffness: f64,
    /// Newton's coefficient of restitution, in [0, 1].
    pub restitution: f64,
    /// Distance from the wall at t = 0, where the mass is at rest.
    pub amplitude: f64,
}

impl ImpactingOscillator {
    /// Circular frequency.
    pub fn frequency(&self) -> f64 {
        (self.stiffness / self.mass).sqrt()
    }

    /// Instant of impact number `n`, from 1.
    pub fn impact(&self, n: u32) -> f64 {
        (f64::from(n) - 0.5) * PI / self.frequency()
    }

    /// Distance from the wall at time `t`.
    pub fn position(&self, t: f64) -> f64 {
        self.swing(t).0 * (self.frequency() * t).cos().abs()
    }

    /// Velocity at time `t`, away from the wall.
    pub fn velocity(&self, t: f64) -> f64 {
        let (height, sign) = self.swing(t);
        -sign * height * self.frequency() * (self.frequency() * t).sin()
    }

    /// Height of the swing under way, and the sign of the cosine in it.
    fn swing(&self, t: f64) -> (f64, f64) {
        let impacts = (self.frequency() * t / PI + 0.5).floor();
        let sign = if impacts % 2.0 == 0.0 { 1.0 } else { -1.0 };
        (self.amplitude * self.restitution.powf(impacts), sign)
    }
}

/// A damped mass on a spring under a harmonic load, m x'' + c x' + k x = f sin(2π ν t): the smooth problem of the book.
///
/// ```
/// use carom::exact::DrivenOscillator;
///
/// let free = DrivenOscillator { mass: 1.0, damping: 0.0, stiffness: 4.0, load: 0.0, frequency: 1.0, x0: 1.0, v0: 0.0 };
/// assert!((free.position(1.0) - 2f64.cos()).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrivenOscillator {
    /// Mass.
    pub mass: f64,
    /// Coefficient of the damper; less than critical.
    pub damping: f64,
    /// Stiffness of the spring.
    pub stiffness: f64,
    /// Amplitude of the load.
    pub load: f64,
    /// Its frequency, in cycles.
    pub frequency: f64,
    /// Displacement at t = 0.
    pub x0: f64,
    /// Velocity at t = 0.
    pub v0: f64,
}

impl DrivenOscillator {
    /// Displacement: a steady part plus a decaying one.
    pub fn position(&self, t: f64) -> f64 {
        let DrivenOscillator { mass, damping, stiffness, load, frequency, x0, v0 } = *self;
        let w = 2.0 * PI * frequency;
        let (a, b) = (stiffness - mass * w * w, damping * w);
        let (sine, cosine) = (load * a / (a * a + b * b), -load * b / (a * a + b * b));
        let decay = damping / (2.0 * mass);
        let omega = (stiffness / mass - decay * decay).sqrt();
        let p = x0 - cosine;
        let r = (v0 - w * sine + decay * p) / omega;
        let steady = sine * (w * t).sin() + cosine * (w * t).cos();
        steady + (-decay * t).exp() * (p * (omega * t).cos() + r * (omega * t).sin())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driven_oscillator_obeys_its_equation() {
        let o =
            DrivenOscillator { mass: 1.3, damping: 0.8, stiffness: 52.0, load: 7.0, frequency: 0.6, x0: 0.4, v0: -1.1 };
        let d = 1e-4;
        let x = |t| o.position(t);
        assert!((x(0.0) - o.x0).abs() < 1e-15);
        assert!(((x(d) - x(-d)) / (2.0 * d) - o.v0).abs() < 1e-5);
        for t in [0.3, 1.1, 1.9] {
            let inertia = o.mass * (x(t + d) - 2.0 * x(t) + x(t - d)) / (d * d);
            let others = o.damping * (x(t + d) - x(t - d)) / (2.0 * d) + o.stiffness * x(t);
            let load = o.load * (2.0 * PI * o.frequency * t).sin();
            // Differences over d: truncation and round-off of about 1e-6 of the forces.
            assert!((inertia + others - load).abs() < 1e-5, "{t}");
        }
    }

    const BALL: BouncingBall = BouncingBall { height: 1.0, gravity: 2.0, restitution: 0.5 };

    /// The closed form for this ball: between 3 − 2^(1−n) and 3 − 2^(−n), with s = t − 3,
    /// q = −s² − 3·2^(−n) s − 2^(1−2n) and v = −2 s − 3·2^(−n).
    #[test]
    fn the_ball_follows_its_closed_form() {
        let mut bounces = 0;
        for k in 0..4000 {
            let t = 1.0 + 2.2 * (f64::from(k) + 0.5) / 4000.0;
            let (q, v) = if t < 3.0 {
                let n = (1.0 - (3.0 - t).log2()).floor();
                bounces = bounces.max(n as i32);
                let (s, scale) = (t - 3.0, (-n).exp2());
                (-s * s - 3.0 * scale * s - 2.0 * scale * scale, -2.0 * s - 3.0 * scale)
            } else {
                (0.0, 0.0)
            };
            assert!((BALL.position(t) - q).abs() < 1e-14, "{t}: {} {q}", BALL.position(t));
            assert!((BALL.velocity(t) - v).abs() < 1e-13, "{t}: {} {v}", BALL.velocity(t));
        }
        assert!(bounces > 8, "the samples reach far into the accumulation: {bounces}");
    }

    #[test]
    fn impacts_obey_newtons_law_and_flights_gravity() {
        let ball = BouncingBall { height: 0.7, gravity: 9.81, restitution: 0.9 };
        let d = 1e-7;
        for n in 1..30 {
            let t = ball.impact(n);
            let (before, after) = (ball.velocity(t - d), ball.velocity(t + d));
            // Gravity changes velocities by 1e-6 within d, and the clock is off by rounding only.
            assert!((after + 0.9 * before).abs() < 3e-6, "{n}: {before} {after}");
            assert!(ball.position(t).abs() < 1e-12);
            let middle = 0.5 * (t + ball.impact(n + 1));
            let curvature = (ball.velocity(middle + d) - ball.velocity(middle - d)) / (2.0 * d);
            assert!((curvature + 9.81).abs() < 1e-6, "{curvature}");
        }
        assert!((ball.impact(600) - ball.accumulation()).abs() < 1e-12);
        assert_eq!(ball.position(ball.accumulation() - 1e-15), 0.0, "ends even where rounding hides the last bounces");
    }

    #[test]
    fn special_coefficients() {
        let dead = BouncingBall { restitution: 0.0, ..BALL };
        assert_eq!((dead.accumulation(), dead.position(1.5), dead.velocity(1.0)), (1.0, 0.0, 0.0));
        let elastic = BouncingBall { restitution: 1.0, ..BALL };
        assert_eq!((elastic.accumulation(), elastic.position(2.0), elastic.position(20.0)), (f64::INFINITY, 1.0, 1.0));
    }

    #[test]
    fn the_oscillator_obeys_its_equation_and_newtons_law() {
        let o = ImpactingOscillator { mass: 1.7, stiffness: 31.0, restitution: 0.8, amplitude: 0.6 };
        let d = 1e-6;
        for k in 0..500 {
            let t = f64::from(k) * 0.0071 + 0.0013;
            assert!(o.position(t) >= 0.0);
            let rate = (o.position(t + d) - o.position(t - d)) / (2.0 * d);
            let acceleration = (o.velocity(t + d) - o.velocity(t - d)) / (2.0 * d);
            let near_impact = (1..10).any(|n| (t - o.impact(n)).abs() < 2.0 * d);
            // Truncation d²/6·ω³ is below 1e-10, round-off over d about 1e-9.
            assert!(near_impact || (rate - o.velocity(t)).abs() < 1e-8, "{t}");
            assert!(near_impact || (1.7 * acceleration + 31.0 * o.position(t)).abs() < 1e-7, "{t}");
        }
        for n in 1..8 {
            let t = o.impact(n);
            assert!((o.velocity(t + 1e-12) + 0.8 * o.velocity(t - 1e-12)).abs() < 1e-10);
            assert!(o.position(t).abs() < 1e-14);
        }
    }
}
