//! Bars without gravity: free waves, and the impact on a wall.

/// A bar that flies at a rigid wall, touches it for one round trip of a wave, and leaves as it came, (T70).
///
/// With c = √(E/ρ), the first touch at t₀ = gap/speed and τ = t − t₀, a section has the displacement
/// −gap + speed·max(−τ, −x/c, τ − 2L/c).
///
/// ```
/// use carom::exact::ImpactingBar;
///
/// let bar = ImpactingBar { young: 900.0, density: 1.0, area: 1.0, length: 10.0, gap: 5.0, speed: 10.0 };
/// assert_eq!(bar.touch(), 0.5);
/// assert!((bar.release() - 7.0 / 6.0).abs() < 1e-15);
/// assert_eq!(bar.contact_force(1.0), 300.0);
/// assert_eq!(bar.velocity(2.0, 3.0), 10.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpactingBar {
    /// Young's modulus.
    pub young: f64,
    /// Mass density.
    pub density: f64,
    /// Area of the section.
    pub area: f64,
    /// Length.
    pub length: f64,
    /// Distance of the near end from the wall at t = 0.
    pub gap: f64,
    /// Speed towards the wall at t = 0.
    pub speed: f64,
}

impl ImpactingBar {
    /// Speed of a wave.
    pub fn wave_speed(&self) -> f64 {
        (self.young / self.density).sqrt()
    }

    /// Instant of the first touch.
    pub fn touch(&self) -> f64 {
        self.gap / self.speed
    }

    /// Instant of the release, when the wave is back from the far end.
    pub fn release(&self) -> f64 {
        self.touch() + 2.0 * self.length / self.wave_speed()
    }

    /// Displacement of section `x` since t = 0.
    pub fn displacement(&self, x: f64, t: f64) -> f64 {
        let tau = t - self.touch();
        let waves = (-tau).max(-x / self.wave_speed()).max(t - self.release());
        self.speed * waves - self.gap
    }

    /// Distance of section `x` from the wall.
    pub fn position(&self, x: f64, t: f64) -> f64 {
        self.gap + x + self.displacement(x, t)
    }

    /// Velocity of section `x`.
    pub fn velocity(&self, x: f64, t: f64) -> f64 {
        match self.phase(x, t) {
            Phase::Before => -self.speed,
            Phase::Stopped => 0.0,
            Phase::After => self.speed,
        }
    }

    /// Axial force at section `x`, tension positive.
    pub fn force(&self, x: f64, t: f64) -> f64 {
        match self.phase(x, t) {
            Phase::Stopped => -self.plateau(),
            _ => 0.0,
        }
    }

    /// Force of the wall on the bar.
    pub fn contact_force(&self, t: f64) -> f64 {
        if (self.touch()..self.release()).contains(&t) { self.plateau() } else { 0.0 }
    }

    /// Energy of the bar at any instant.
    pub fn energy(&self) -> f64 {
        0.5 * self.density * self.area * self.length * self.speed * self.speed
    }

    /// The constant force during the contact, ρ c A speed.
    fn plateau(&self) -> f64 {
        self.density * self.wave_speed() * self.area * self.speed
    }

    fn phase(&self, x: f64, t: f64) -> Phase {
        let transit = x / self.wave_speed();
        if t < self.touch() + transit {
            Phase::Before
        } else if t < self.release() - transit {
            Phase::Stopped
        } else {
            Phase::After
        }
    }
}

/// What a section knows of the impact.
enum Phase {
    Before,
    Stopped,
    After,
}

/// A bar with free ends that is released at rest from a given displacement, (T71).
///
/// d'Alembert: half of the shape runs each way, and free ends reflect it upright, so that the shape, continued evenly
/// beyond both ends with the period 2L, gives u(x, t) = ½ [s(x − ct) + s(x + ct)].
///
/// ```
/// use carom::exact::FreeBar;
///
/// let shape = |x: f64| (std::f64::consts::PI * x / 10.0).cos();
/// let slope = |x: f64| -std::f64::consts::PI / 10.0 * (std::f64::consts::PI * x / 10.0).sin();
/// let bar = FreeBar { young: 100.0, density: 1.0, area: 1.0, length: 10.0, shape, slope };
/// assert_eq!(bar.period(), 2.0);
/// assert!((bar.displacement(0.0, 1.0) + 1.0).abs() < 1e-15, "a standing wave, upside down after half a period");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FreeBar<S, D> {
    /// Young's modulus.
    pub young: f64,
    /// Mass density.
    pub density: f64,
    /// Area of the section.
    pub area: f64,
    /// Length.
    pub length: f64,
    /// Displacement at t = 0 as a function of x in [0, length].
    pub shape: S,
    /// Its derivative.
    pub slope: D,
}

impl<S: Fn(f64) -> f64, D: Fn(f64) -> f64> FreeBar<S, D> {
    /// Speed of a wave.
    pub fn wave_speed(&self) -> f64 {
        (self.young / self.density).sqrt()
    }

    /// Time after which everything repeats.
    pub fn period(&self) -> f64 {
        2.0 * self.length / self.wave_speed()
    }

    /// Displacement of section `x`.
    pub fn displacement(&self, x: f64, t: f64) -> f64 {
        let shape = |xi: f64| (self.shape)(self.folded(xi).0);
        let run = self.wave_speed() * t;
        0.5 * (shape(x - run) + shape(x + run))
    }

    /// Velocity of section `x`.
    pub fn velocity(&self, x: f64, t: f64) -> f64 {
        let run = self.wave_speed() * t;
        0.5 * self.wave_speed() * (self.continued_slope(run + x) + self.continued_slope(run - x))
    }

    /// Axial force at section `x`, tension positive.
    pub fn force(&self, x: f64, t: f64) -> f64 {
        let run = self.wave_speed() * t;
        0.5 * self.young * self.area * (self.continued_slope(run + x) - self.continued_slope(run - x))
    }

    /// Derivative of the continued shape, an odd function. Where it jumps, an argument that grows in time gives the value
    /// after the jump.
    fn continued_slope(&self, xi: f64) -> f64 {
        let (x, sign) = self.folded(xi);
        sign * (self.slope)(x)
    }

    /// The section whose value the even, periodic continuation has at `xi`, and the sign of the slope there.
    fn folded(&self, xi: f64) -> (f64, f64) {
        let r = xi.rem_euclid(2.0 * self.length);
        if r < self.length { (r, 1.0) } else { (2.0 * self.length - r, -1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    const BAR: ImpactingBar = ImpactingBar { young: 700.0, density: 1.3, area: 0.4, length: 8.0, gap: 3.0, speed: 7.0 };

    /// Sections and instants off all wave fronts: both grids are incommensurable with the waves.
    fn samples(length: f64, end: f64) -> impl Iterator<Item = (f64, f64)> {
        (0..40).flat_map(move |i| {
            (0..60).map(move |j| ((i as f64 + 0.37) * length / 40.3, (j as f64 + 0.41) * end / 60.7))
        })
    }

    #[test]
    fn velocity_and_force_are_derivatives_of_the_displacement() {
        let d = 1e-6;
        for (x, t) in samples(BAR.length, 2.0) {
            let u = |x, t| BAR.displacement(x, t);
            // The field is piecewise linear: differences are exact up to round-off / d, about 1e-9.
            let rate = (u(x, t + d) - u(x, t - d)) / (2.0 * d);
            let strain = (u(x + d, t) - u(x - d, t)) / (2.0 * d);
            assert!((rate - BAR.velocity(x, t)).abs() < 1e-8, "{x} {t}");
            assert!((BAR.young * BAR.area * strain - BAR.force(x, t)).abs() < 1e-5, "{x} {t}");
        }
    }

    #[test]
    fn the_wall_is_never_crossed_and_pushes_with_the_force_of_the_foot() {
        for k in 0..2000 {
            let t = (k as f64 + 0.5) * 1e-3;
            assert!(BAR.position(0.0, t) > -1e-14);
            assert_eq!(BAR.contact_force(t), -BAR.force(0.0, t));
            assert_eq!(BAR.force(BAR.length, t), 0.0, "the far end is free");
            if BAR.contact_force(t) > 0.0 {
                assert!(BAR.position(0.0, t).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn the_impulse_turns_the_momentum_round_and_the_energy_stays() {
        let impulse = BAR.contact_force(BAR.touch()) * (BAR.release() - BAR.touch());
        let mass = BAR.density * BAR.area * BAR.length;
        assert!((impulse - 2.0 * mass * BAR.speed).abs() < 1e-12 * impulse);
        // Midpoint sums over 4000 cells; a front lies inside one of them, hence the tolerance of a cell.
        let n = 4000;
        for t in [0.2, 0.6, 0.83, 1.0, 1.5] {
            let cell = BAR.length / n as f64;
            let energy: f64 = (0..n)
                .map(|i| (i as f64 + 0.5) * cell)
                .map(|x| {
                    let (v, force) = (BAR.velocity(x, t), BAR.force(x, t));
                    0.5 * cell * (BAR.density * BAR.area * v * v + force * force / (BAR.young * BAR.area))
                })
                .sum();
            assert!((energy - BAR.energy()).abs() < BAR.energy() / n as f64, "{t}: {energy}");
        }
    }

    /// A smooth shape that is even about both ends.
    fn free() -> FreeBar<impl Fn(f64) -> f64, impl Fn(f64) -> f64> {
        let (length, a) = (6.0, 0.02);
        FreeBar {
            young: 350.0,
            density: 2.0,
            area: 0.7,
            length,
            shape: move |x: f64| a * (2.0 * PI * x / length).cos() + a * (5.0 * PI * x / length).cos(),
            slope: move |x: f64| {
                -a * PI / length * (2.0 * (2.0 * PI * x / length).sin() + 5.0 * (5.0 * PI * x / length).sin())
            },
        }
    }

    #[test]
    fn a_free_bar_obeys_the_wave_equation() {
        let bar = free();
        let c = bar.wave_speed();
        for (x, t) in samples(bar.length, 3.0) {
            let u = |x, t| bar.displacement(x, t);
            let (dx, dt) = (1e-3, 1e-3 / c);
            let bend = (u(x + dx, t) - 2.0 * u(x, t) + u(x - dx, t)) / (dx * dx);
            let acceleration = (u(x, t + dt) - 2.0 * u(x, t) + u(x, t - dt)) / (dt * dt);
            // d'Alembert's solution satisfies the difference equation with dx = c dt exactly; round-off over dx² stays.
            assert!((acceleration - c * c * bend).abs() < 1e-7 * c * c, "{x} {t}");
            let d = 1e-5;
            // Truncation of central differences: d²/6 times third derivatives of at most 1 and c³.
            assert!(((u(x, t + d) - u(x, t - d)) / (2.0 * d) - bar.velocity(x, t)).abs() < 1e-6);
            let strain = (u(x + d, t) - u(x - d, t)) / (2.0 * d);
            assert!((bar.young * bar.area * strain - bar.force(x, t)).abs() < 1e-6);
        }
    }

    #[test]
    fn a_free_bar_starts_at_rest_with_its_shape_and_has_no_force_at_its_ends() {
        let bar = free();
        for (x, t) in samples(bar.length, 3.0) {
            assert_eq!(bar.displacement(x, 0.0), (bar.shape)(x));
            // Folding a section back rounds its coordinate once.
            assert!(bar.velocity(x, 0.0).abs() < 1e-14);
            assert!((bar.displacement(x, t + bar.period()) - bar.displacement(x, t)).abs() < 1e-14);
            // The shape has slope zero at the ends up to the rounding of sin(kπ); EA·slope stays below 1e-12.
            assert!(bar.force(0.0, t).abs() < 1e-12 && bar.force(bar.length, t).abs() < 1e-12);
        }
    }

    /// Stretched evenly and let go: relief runs in from both ends, and what it has passed twice is compressed.
    #[test]
    fn fronts_give_the_value_after_the_jump() {
        let (shape, slope) = (|x: f64| 0.01 * x, |_: f64| 0.01);
        let bar = FreeBar { young: 100.0, density: 1.0, area: 1.0, length: 10.0, shape, slope };
        assert_eq!([0.0, 5.0, 10.0].map(|x| bar.force(x, 0.0)), [0.0, 1.0, 0.0]);
        assert_eq!([0.0, 5.0, 10.0].map(|x| bar.velocity(x, 0.0)), [0.1, 0.0, -0.1]);
        assert_eq!([0.0, 5.0, 10.0].map(|x| bar.force(x, 0.5)), [0.0, -1.0, 0.0]);
        assert_eq!(bar.force(2.5, 0.25), 0.0);
    }
}
