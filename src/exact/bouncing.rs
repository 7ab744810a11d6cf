//! A bar that bounces for ever under gravity.

/// A bar that falls from rest on a rigid floor and whose motion is periodic, (T72).
///
/// The first contact leaves the bar vibrating; if its flight takes a whole number of round trips of a wave, it lands
/// as it left, and the second contact takes the vibration out again. The drop height follows from that number, so
/// that only periodic motions can be described:
///
/// ```text
/// fall · contact, force rising · flight, vibrating · contact, force falling · rise, undeformed
/// ```
///
/// ```
/// use carom::exact::BouncingBar;
///
/// let bar =
///     BouncingBar { young: 900.0, density: 1.0, area: 1.0, length: 10.0, gravity: 10.0, round_trips: 3 };
/// assert!((bar.gap() - 5.0).abs() < 1e-14 && (bar.period() - 16.0 / 3.0).abs() < 1e-14);
/// assert!((bar.position(0.0, 0.5) - 3.75).abs() < 1e-14);
/// assert!((bar.contact_force(4.0 / 3.0) - 400.0).abs() < 1e-9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BouncingBar {
    /// Young's modulus.
    pub young: f64,
    /// Mass density.
    pub density: f64,
    /// Area of the section.
    pub area: f64,
    /// Length.
    pub length: f64,
    /// Acceleration of gravity, positive towards the floor.
    pub gravity: f64,
    /// Round trips of a wave during the flight between two contacts.
    pub round_trips: u32,
}

/// Where in the period an instant lies, with the time since the phase began.
#[derive(Clone, Copy)]
enum Phase {
    Fall(f64),
    Loading(f64),
    Flight(f64),
    Unloading(f64),
    Rise(f64),
}

impl BouncingBar {
    /// Speed of a wave.
    pub fn wave_speed(&self) -> f64 {
        (self.young / self.density).sqrt()
    }

    /// Duration of a contact: one round trip of a wave.
    pub fn contact_time(&self) -> f64 {
        2.0 * self.length / self.wave_speed()
    }

    /// Duration of the flight between two contacts.
    pub fn flight_time(&self) -> f64 {
        f64::from(self.round_trips) * self.contact_time()
    }

    /// Speed at every touch and release.
    pub fn speed(&self) -> f64 {
        0.5 * self.gravity * self.flight_time()
    }

    /// Height of the lower end at t = 0.
    pub fn gap(&self) -> f64 {
        0.5 * self.speed() * self.speed() / self.gravity
    }

    /// Time after which everything repeats.
    pub fn period(&self) -> f64 {
        2.0 * (self.flight_time() + self.contact_time())
    }

    /// Touch and release of the two contacts within the first period.
    pub fn contacts(&self) -> [[f64; 2]; 2] {
        let (fall, contact, flight) = (0.5 * self.flight_time(), self.contact_time(), self.flight_time());
        [[fall, fall + contact], [fall + contact + flight, fall + flight + 2.0 * contact]]
    }

    /// Distance of section `x` from the floor.
    pub fn position(&self, x: f64, t: f64) -> f64 {
        x + self.offset(x, t)
    }

    /// Displacement of section `x` since t = 0.
    pub fn displacement(&self, x: f64, t: f64) -> f64 {
        self.offset(x, t) - self.gap()
    }

    /// Velocity of section `x`.
    pub fn velocity(&self, x: f64, t: f64) -> f64 {
        let (v0, g, c) = (self.speed(), self.gravity, self.wave_speed());
        match self.phase(t) {
            Phase::Fall(s) => -g * s,
            Phase::Loading(s) => {
                let [out, back] = self.arrivals(x, s).map(|s| self.loading_rate(s));
                -v0 - g * s + out + back
            }
            Phase::Flight(s) => v0 - g * s + 0.5 * c * (self.slope(c * s + x) + self.slope(c * s - x)),
            Phase::Unloading(s) => {
                let [out, back] = self.arrivals(x, s).map(|s| self.unloading_rate(s));
                -v0 - g * s + 0.5 * c * (self.slope(c * s + x) + self.slope(c * s - x)) + out + back
            }
            Phase::Rise(s) => v0 - g * s,
        }
    }

    /// Axial force at section `x`, tension positive.
    pub fn force(&self, x: f64, t: f64) -> f64 {
        let c = self.wave_speed();
        let strain = match self.phase(t) {
            Phase::Fall(_) | Phase::Rise(_) => 0.0,
            Phase::Loading(s) => {
                let [out, back] = self.arrivals(x, s).map(|s| self.loading_rate(s));
                (back - out) / c
            }
            Phase::Flight(s) => 0.5 * (self.slope(c * s + x) - self.slope(c * s - x)),
            Phase::Unloading(s) => {
                let [out, back] = self.arrivals(x, s).map(|s| self.unloading_rate(s));
                0.5 * (self.slope(c * s + x) - self.slope(c * s - x)) + (back - out) / c
            }
        };
        self.young * self.area * strain
    }

    /// Force of the floor on the bar.
    pub fn contact_force(&self, t: f64) -> f64 {
        let impedance = self.density * self.wave_speed() * self.area;
        match self.phase(t) {
            Phase::Loading(s) => impedance * (self.speed() + self.gravity * s),
            Phase::Unloading(s) => impedance * (self.speed() + self.gravity * (self.contact_time() - s)),
            _ => 0.0,
        }
    }

    /// Kinetic, strain and potential energy together, the last counted from the bar standing undeformed on the floor.
    pub fn energy(&self) -> f64 {
        self.density * self.area * self.length * self.gravity * self.gap()
    }

    /// Height of section `x` above its place in the bar that stands undeformed on the floor.
    fn offset(&self, x: f64, t: f64) -> f64 {
        let (v0, g, c) = (self.speed(), self.gravity, self.wave_speed());
        match self.phase(t) {
            Phase::Fall(s) => self.gap() - 0.5 * g * s * s,
            Phase::Loading(s) => {
                let [out, back] = self.arrivals(x, s).map(|s| s.max(0.0)).map(|s| v0 * s + 0.5 * g * s * s);
                -v0 * s - 0.5 * g * s * s + out + back
            }
            Phase::Flight(s) => v0 * s - 0.5 * g * s * s + 0.5 * (self.shape(x - c * s) + self.shape(x + c * s)),
            Phase::Unloading(s) => {
                let rate = v0 + g * self.contact_time();
                let [out, back] = self.arrivals(x, s).map(|s| s.max(0.0)).map(|s| rate * s - 0.5 * g * s * s);
                let vibration = 0.5 * (self.shape(x - c * s) + self.shape(x + c * s));
                vibration - v0 * s - 0.5 * g * s * s + out + back
            }
            Phase::Rise(s) => v0 * s - 0.5 * g * s * s,
        }
    }

    fn phase(&self, t: f64) -> Phase {
        let t = t.rem_euclid(self.period());
        let [[touch, release], [second, last]] = self.contacts();
        match t {
            _ if t < touch => Phase::Fall(t),
            _ if t < release => Phase::Loading(t - touch),
            _ if t < second => Phase::Flight(t - release),
            _ if t < last => Phase::Unloading(t - second),
            _ => Phase::Rise(t - last),
        }
    }

    /// Time since the wave from the foot reached section `x`, and since it came back from the far end; negative before.
    fn arrivals(&self, x: f64, s: f64) -> [f64; 2] {
        let transit = x / self.wave_speed();
        [s - transit, s - self.contact_time() + transit]
    }

    /// Velocity behind the front of the loading wave.
    fn loading_rate(&self, s: f64) -> f64 {
        if s >= 0.0 { self.speed() + self.gravity * s } else { 0.0 }
    }

    /// Velocity behind the front of the unloading wave.
    fn unloading_rate(&self, s: f64) -> f64 {
        if s >= 0.0 { self.speed() + self.gravity * (self.contact_time() - s) } else { 0.0 }
    }

    /// Shape of the bar at the first release, twice the static compression, continued evenly with period 2L.
    fn shape(&self, xi: f64) -> f64 {
        let r = xi.rem_euclid(2.0 * self.length);
        -self.gravity * self.density / self.young * r * (2.0 * self.length - r)
    }

    /// Derivative of the shape. It is odd and jumps at the ends; asked for with an argument that grows in time, it gives
    /// the value after the jump.
    fn slope(&self, xi: f64) -> f64 {
        let r = xi.rem_euclid(2.0 * self.length);
        -2.0 * self.gravity * self.density / self.young * (self.length - r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARS: [BouncingBar; 2] = [
        BouncingBar { young: 900.0, density: 1.0, area: 1.0, length: 10.0, gravity: 10.0, round_trips: 3 },
        BouncingBar { young: 500.0, density: 0.8, area: 2.5, length: 3.0, gravity: 7.0, round_trips: 4 },
    ];

    /// Fractions of length and period that no wave front meets.
    fn samples(bar: &BouncingBar) -> Vec<(f64, f64)> {
        let at =
            |i: i32, j: i32| ((f64::from(i) + 0.37) * bar.length / 30.3, (f64::from(j) + 0.41) * bar.period() / 90.7);
        (0..30).flat_map(|i| (0..200).map(move |j| (i, j))).map(|(i, j)| at(i, j)).collect()
    }

    #[test]
    fn velocity_and_force_are_derivatives_of_the_position() {
        for bar in &BARS {
            let d = 1e-6;
            let stiffness = bar.young * bar.area;
            for (x, t) in samples(bar) {
                // Piecewise quadratic: central differences are exact up to round-off over d, about 1e-9.
                let rate = (bar.position(x, t + d) - bar.position(x, t - d)) / (2.0 * d);
                let strain = (bar.position(x + d, t) - bar.position(x - d, t)) / (2.0 * d) - 1.0;
                assert!((rate - bar.velocity(x, t)).abs() < 1e-7, "{x} {t}: {rate}");
                assert!((strain - bar.force(x, t) / stiffness).abs() < 1e-7, "{x} {t}: {strain}");
            }
        }
    }

    #[test]
    fn the_wave_equation_with_gravity_holds_in_every_phase() {
        for bar in &BARS {
            let (c, d) = (bar.wave_speed(), 1e-4);
            let mut counted = 0;
            for (x, t) in samples(bar) {
                let rate = |t| bar.velocity(x, t);
                let acceleration = (rate(t + d / c) - rate(t - d / c)) * c / (2.0 * d);
                let force = |x| bar.force(x, t);
                let gradient = (force(x + d) - force(x - d)) / (2.0 * d) / (bar.density * bar.area);
                // A front within d spoils the differences by its jump / d; such a sample is not counted.
                if acceleration.abs() < 100.0 * bar.gravity && gradient.abs() < 100.0 * bar.gravity {
                    // Both fields are piecewise linear: round-off / d is left.
                    assert!((acceleration - gradient + bar.gravity).abs() < 1e-6 * c, "{x} {t}");
                    counted += 1;
                }
            }
            assert!(counted > 5990, "{counted} of 6000");
        }
    }

    #[test]
    fn the_floor_is_respected_and_the_ends_carry_the_right_force() {
        for bar in &BARS {
            let [[touch, _], [second, _]] = bar.contacts();
            let instants = samples(bar).into_iter().map(|(_, t)| t).chain([touch, second]);
            for t in instants {
                assert!(bar.position(0.0, t) > -1e-13);
                assert!((bar.contact_force(t) + bar.force(0.0, t)).abs() < 1e-9 * bar.young * bar.area);
                assert!(bar.force(bar.length, t).abs() < 1e-9 * bar.young * bar.area, "the far end is free");
                if bar.contact_force(t) > 0.0 {
                    assert!(bar.position(0.0, t).abs() < 1e-13, "{t}");
                }
            }
        }
    }

    #[test]
    fn phases_join_and_the_period_closes() {
        for bar in &BARS {
            let [[touch, release], [second, last]] = bar.contacts();
            let d = 1e-9;
            for t in [touch, release, second, last, bar.period()] {
                for k in 0..=20 {
                    let x = bar.length * f64::from(k) / 20.0;
                    // Positions are continuous, so they differ by at most 2 d times the speeds, below 30.
                    assert!((bar.position(x, t + d) - bar.position(x, t - d)).abs() < 60.0 * d, "{x} {t}");
                    // Sections away from the foot notice a touch or release later, so their velocity joins too.
                    if k > 0 && k < 20 {
                        assert!((bar.velocity(x, t + d) - bar.velocity(x, t - d)).abs() < 1e-6, "{x} {t}");
                    }
                }
            }
        }
    }

    #[test]
    fn energy_and_momentum_balance() {
        for bar in &BARS {
            let n = 2000;
            let cell = bar.length / f64::from(n);
            let mass = bar.density * bar.area;
            for k in 0..40 {
                let t = bar.period() * (f64::from(k) + 0.3) / 40.0;
                let (mut energy, mut momentum) = (0.0, 0.0);
                for x in (0..n).map(|i| (f64::from(i) + 0.5) * cell) {
                    let (v, force) = (bar.velocity(x, t), bar.force(x, t));
                    momentum += cell * mass * v;
                    energy += cell * 0.5 * (mass * v * v + force * force / (bar.young * bar.area));
                    energy += cell * mass * bar.gravity * (bar.position(x, t) - x);
                }
                // Midpoint sums miss what a front changes within its cell: a cell's share of the total.
                assert!((energy - bar.energy()).abs() < 3.0 * bar.energy() / f64::from(n), "{t}: {energy}");
                // dp/dt = contact force − weight, with the mean of rising and falling ramps in closed form.
                let [[touch, release], [second, last]] = bar.contacts();
                let within = |from: f64, to: f64| (t.min(to) - from).max(0.0);
                let (a, b) = (within(touch, release), within(second, last));
                let impedance = mass * bar.wave_speed();
                let high = bar.speed() + bar.gravity * bar.contact_time();
                let impulse =
                    impedance * (bar.speed() * a + 0.5 * bar.gravity * a * a + high * b - 0.5 * bar.gravity * b * b);
                let expected = impulse - mass * bar.length * bar.gravity * t;
                let scale = mass * bar.length * bar.speed();
                assert!((momentum - expected).abs() < 3.0 * scale / f64::from(n), "{t}: {momentum} {expected}");
            }
        }
    }
}
