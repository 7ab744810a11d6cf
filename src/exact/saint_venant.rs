//! A rigid mass that hits the end of a clamped bar: Saint-Venant's problem.

/// A rigid mass in contact with the free end of a bar from t = 0, moving at the bar with `speed`; the bar is at rest and
/// clamped at its far end, (T140)–(T143).
///
/// Describes the first contact and the free flight of the mass after it, until the bar catches up with the mass, if it does:
/// the fronts in the bar return at multiples of [`SaintVenant::round_trip`], and with 4 times the mass of the bar the one
/// after the release hits the mass again.
///
/// ```
/// use carom::exact::SaintVenant;
///
/// let impact = SaintVenant { young: 1.0, density: 1.0, area: 1.0, length: 1.0, mass: 1.0, speed: 1.0 };
/// // In closed form: the force vanishes when 2 + e⁻² = 2 (t − 2).
/// assert!((impact.release() - 3.0 - 0.5 * (-2.0_f64).exp()).abs() < 1e-14);
/// assert_eq!(impact.force(0.0), 1.0);
/// assert!((impact.velocity(4.0) + 0.687619).abs() < 5e-7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SaintVenant {
    /// Young's modulus.
    pub young: f64,
    /// Mass density.
    pub density: f64,
    /// Area of the section.
    pub area: f64,
    /// Length.
    pub length: f64,
    /// The rigid mass.
    pub mass: f64,
    /// Its speed towards the bar at t = 0.
    pub speed: f64,
}

/// The wave that leaves the end of the bar during the contact, (T141): in round trip k at local time s it has the velocity
/// `e^(−a s)` times polynomial k, whose coefficients rise with the power of s.
struct Wave {
    /// Rate a = Z/M.
    rate: f64,
    polynomials: Vec<Vec<f64>>,
    release: f64,
}

impl SaintVenant {
    /// Speed of a wave.
    pub fn wave_speed(&self) -> f64 {
        (self.young / self.density).sqrt()
    }

    /// Time in which a wave runs to the clamped end and back.
    pub fn round_trip(&self) -> f64 {
        2.0 * self.length / self.wave_speed()
    }

    /// Instant at which the contact force vanishes, (T143).
    pub fn release(&self) -> f64 {
        self.wave().release
    }

    /// Velocity of the mass, positive towards the bar.
    pub fn velocity(&self, t: f64) -> f64 {
        let wave = self.wave();
        let t = t.clamp(0.0, wave.release);
        let [outgoing, before] = self.waves(&wave, t);
        outgoing - before
    }

    /// Contact force.
    pub fn force(&self, t: f64) -> f64 {
        let wave = self.wave();
        if !(0.0..wave.release).contains(&t) {
            return 0.0;
        }
        self.impedance() * self.waves(&wave, t).iter().sum::<f64>()
    }

    /// Z = ρ c A.
    fn impedance(&self) -> f64 {
        self.density * self.wave_speed() * self.area
    }

    /// Velocities of the wave that leaves the end at `t`, and of the one that left it a round trip before.
    fn waves(&self, wave: &Wave, t: f64) -> [f64; 2] {
        let trip = self.round_trip();
        let k = ((t / trip) as usize).min(wave.polynomials.len() - 1);
        let s = t - k as f64 * trip;
        let decay = (-wave.rate * s).exp();
        [decay * value(&wave.polynomials[k], s), if k > 0 { decay * value(&wave.polynomials[k - 1], s) } else { 0.0 }]
    }

    /// Solves (T141) one round trip after the other, up to the one in which the force vanishes.
    fn wave(&self) -> Wave {
        let (rate, trip) = (self.impedance() / self.mass, self.round_trip());
        let decay = (-rate * trip).exp();
        let mut polynomials = vec![vec![self.speed]];
        loop {
            let last = &polynomials[polynomials.len() - 1];
            let before = polynomials.len().checked_sub(2).map(|k| &polynomials[k]);
            let at_end = |polynomial: &Vec<f64>| decay * value(polynomial, trip);
            // The velocity of the mass does not jump when a front arrives, (T142).
            let start = last[0] + at_end(last) - before.map_or(0.0, at_end);
            let mut next = vec![start; last.len() + 1];
            for power in 1..next.len() {
                let rise = last.get(power).copied().unwrap_or(0.0);
                next[power] = rise - 2.0 * rate * last[power - 1] / power as f64;
            }
            let force: Vec<f64> =
                next.iter().enumerate().map(|(k, p)| p + last.get(k).copied().unwrap_or(0.0)).collect();
            let release = roots(&force, trip).first().map(|s| polynomials.len() as f64 * trip + s);
            polynomials.push(next);
            if let Some(release) = release {
                return Wave { rate, polynomials, release };
            }
        }
    }
}

/// Value of a polynomial whose coefficients rise with the power.
fn value(polynomial: &[f64], s: f64) -> f64 {
    polynomial.iter().rev().fold(0.0, |sum, coefficient| sum * s + coefficient)
}

/// Zeros with a change of sign of a polynomial in (0, end), rising: one between two neighbouring extrema at most.
fn roots(polynomial: &[f64], end: f64) -> Vec<f64> {
    if polynomial.len() < 2 {
        return Vec::new();
    }
    let derivative: Vec<f64> = polynomial.iter().enumerate().skip(1).map(|(k, c)| k as f64 * c).collect();
    let mut stations = vec![0.0];
    stations.extend(roots(&derivative, end));
    stations.push(end);
    let mut found = Vec::new();
    for pair in stations.windows(2) {
        let (mut low, mut high) = (pair[0], pair[1]);
        let sign = value(polynomial, low).is_sign_negative();
        if sign == value(polynomial, high).is_sign_negative() {
            continue;
        }
        // Bisection, until the interval has no number inside.
        loop {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if value(polynomial, middle).is_sign_negative() == sign { low = middle } else { high = middle }
        }
        found.push(high);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(mass: f64) -> SaintVenant {
        SaintVenant { young: 1.0, density: 1.0, area: 1.0, length: 1.0, mass, speed: 1.0 }
    }

    /// Releases and speeds of an independent program: classical Runge–Kutta on the delay differential equation in 8000 steps
    /// per round trip, equal to 2000 steps in all digits here.
    #[test]
    fn release_and_speed_are_those_of_an_independent_integration() {
        let known = [
            (1.0, 3.067667642, -0.687618940),
            (2.0, 4.708567244, -0.925246997),
            (4.0, 5.899590440, -0.816911552),
            (6.0, 7.407591891, -0.929680854),
        ];
        for (mass, release, speed) in known {
            let impact = unit(mass);
            assert!((impact.release() - release).abs() <= 5.1e-10, "{mass}: {}", impact.release());
            assert!((impact.velocity(impact.release()) - speed).abs() <= 5.1e-10, "{mass}: {}", impact.velocity(9.0));
        }
    }

    /// The equation of motion with the reflected wave, M v' = −F and F = Z (v + 2 w(t − T)), integrated by the trapezoidal
    /// rule with the wave w = v + w(t − T) kept on the grid, in other units than one.
    #[test]
    fn it_solves_the_delay_differential_equation() {
        for mass in [0.3, 1.7, 5.0, 20.0] {
            let impact = SaintVenant { young: 6.0, density: 1.5, area: 0.4, length: 3.0, mass: 1.8 * mass, speed: 0.7 };
            let (steps, trip, impedance) = (4000, 3.0, 1.2);
            assert!((impact.round_trip() - trip).abs() < 1e-14 && (impact.impedance() - impedance).abs() < 1e-14);
            let h = trip / steps as f64;
            let weight = 0.5 * h * impedance / impact.mass;
            let (mut v, mut left, mut waves) = (impact.speed, f64::INFINITY, vec![impact.speed]);
            for k in 1.. {
                // Within a step the reflected wave is continuous: fronts arrive at grid points, where both values are taken.
                let back = |k: usize, after: bool| match k.checked_sub(steps) {
                    Some(j) if j % steps == 0 && !after => waves[j] - impact.speed,
                    Some(j) => waves[j],
                    None => 0.0,
                };
                let pull = 2.0 * (back(k - 1, true) + back(k, false));
                let [before, after] = [back(k, false), back(k, true)];
                v = ((1.0 - weight) * v - weight * pull) / (1.0 + weight);
                waves.push(v + after);
                let t = k as f64 * h;
                if v + 2.0 * before < 0.0 {
                    left = t;
                    break;
                }
                assert!((v - impact.velocity(t)).abs() < 1e-6, "{mass} {t}: {v} {}", impact.velocity(t));
                let force = impedance * (v + 2.0 * after);
                assert!(k % steps == 0 || (force - impact.force(t)).abs() < 1e-5, "{mass} {t}: {force}");
            }
            assert!((left - impact.release()).abs() < 2.0 * h, "{mass}: {left} {}", impact.release());
        }
    }

    #[test]
    fn the_impulse_is_the_change_of_momentum_and_fronts_double_the_force() {
        for mass in [0.5, 2.0, 6.0] {
            let impact = unit(mass);
            let (n, end) = (200_000, impact.release());
            let h = end / f64::from(n);
            let impulse: f64 = (0..n).map(|k| h * impact.force((f64::from(k) + 0.5) * h)).sum();
            // Midpoint rule with jumps of at most 2 inside a few of its cells.
            assert!((impulse - mass * (1.0 - impact.velocity(end))).abs() < 4.0 * 2.0 * h, "{mass}");
            // Front and reflection: 2 Z V each time it comes back.
            let jump = impact.force(2.0) - impact.force(2.0 - 1e-12);
            assert!((jump - 2.0).abs() < 1e-9, "{mass}: {jump}");
            assert_eq!([-1.0, end, end + 1.0].map(|t| impact.force(t)), [0.0; 3]);
        }
    }
}
