//! A scheme is a row of numbers: the [`Tableau`] of equations (T1)–(T4), and the registry [`SCHEMES`].
//!
//! Nothing here knows a system, a contact or a file; the algebra that uses these numbers is in `step`.

mod parameters;

pub use parameters::{Allowed, Key, KeyDefault, Lookup, Parameters, Value, flag, number, word};

use nalgebra::Matrix3;

/// The numbers of a one-step scheme, (T1)–(T4).
///
/// ```
/// let row = carom::schemes::find("newmark").unwrap().tableau(&Default::default()).unwrap();
/// assert_eq!((row.g1, row.b1, row.alpha_f), (0.5, 0.25, 0.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tableau {
    /// Weight of the old acceleration in the velocity update.
    pub g0: f64,
    /// Weight of the new acceleration in the velocity update (γ of Newmark).
    pub g1: f64,
    /// Weight of the old acceleration in the position update.
    pub b0: f64,
    /// Weight of the new acceleration in the position update (β of Newmark).
    pub b1: f64,
    /// Share of a velocity jump in the position update, u = h c w.
    pub c: f64,
    /// Weight of the old inertia force.
    pub alpha_m: f64,
    /// Weight of the old internal and applied force.
    pub alpha_f: f64,
    /// Weight of the old damping force.
    pub alpha_c: f64,
    /// Whether the storage function (T20) belongs to this row.
    pub storage: bool,
}

/// One entry of the registry: a named family of tableaux, or a method of its own.
pub struct SchemeKind {
    /// Name in case files.
    pub name: &'static str,
    /// One line for `carom list`.
    pub summary: &'static str,
    /// The family's own keys; a later default may use an earlier key.
    pub keys: &'static [Key],
    /// The tableau for these keys; none if the scheme is a method of its own, which `METHODS` then has.
    pub row: Option<fn(Lookup) -> Tableau>,
    /// Sentence of advice when parameters leave the range in which the theorem proves dissipation,
    /// given the largest restitution of the case.
    pub advice: fn(&Tableau, f64) -> Option<String>,
}

/// Every scheme that carom has.
pub const SCHEMES: &[SchemeKind] = &[
    SchemeKind {
        name: "moreau-jean",
        summary: "Moreau-Jean theta-scheme; theta = 1/2 loses energy in impacts alone",
        keys: &[Key {
            name: "theta",
            doc: "1/2 midpoint, 1 fully implicit",
            allowed: Allowed::Between(0.5, 1.0),
            default: KeyDefault::Value(0.5),
        }],
        row: Some(|key| {
            let theta = key("theta");
            Tableau {
                g0: 0.0,
                g1: 1.0,
                b0: 0.0,
                b1: theta,
                c: theta,
                alpha_m: 0.0,
                alpha_f: 1.0 - theta,
                alpha_c: 1.0 - theta,
                storage: false,
            }
        }),
        advice: |row, e| {
            (!row.cannot_grow(e)).then(|| {
                format!(
                    "theta = {} lies above 1/(1+e) = {:.6}: dissipation is proved for 1/2 <= theta <= 1/(1+e) \
                     only, and impacts may create energy",
                    row.b1,
                    1.0 / (1.0 + e)
                )
            })
        },
    },
    SchemeKind {
        name: "moreau-jean-dissipative",
        summary: "Moreau-Jean variant that dissipates for every restitution",
        keys: &[Key {
            name: "theta",
            doc: "1/2 conservative, 1 most dissipative",
            allowed: Allowed::Between(0.5, 1.0),
            default: KeyDefault::Value(1.0),
        }],
        row: Some(|key| {
            let theta = key("theta");
            Tableau {
                g0: 0.0,
                g1: 1.0,
                b0: 0.0,
                b1: 0.5,
                c: 0.5,
                alpha_m: 0.0,
                alpha_f: 1.0 - theta,
                alpha_c: 0.5,
                storage: false,
            }
        }),
        advice: |_, _| None,
    },
    SchemeKind {
        name: "newmark",
        summary: "nonsmooth Newmark; (1/2, 1/4) is the trapezoidal rule",
        keys: &[
            Key {
                name: "gamma",
                doc: "gamma of Newmark",
                allowed: Allowed::Between(0.5, 1.0),
                default: KeyDefault::Value(0.5),
            },
            Key {
                name: "beta",
                doc: "beta of Newmark",
                allowed: Allowed::Between(0.0, 1.0),
                default: KeyDefault::Value(0.25),
            },
        ],
        row: Some(|key| newmark_like(key("gamma"), key("beta"), 0.0, 0.0)),
        advice: storage_advice,
    },
    SchemeKind {
        name: "hht",
        summary: "Hilber-Hughes-Taylor; alpha in [0, 1/3], or Hughes' sign in [-1/3, 0]",
        keys: &[
            Key {
                name: "alpha",
                doc: "weight of the old forces; a negative value is read in Hughes' convention, alpha = -alpha_H",
                allowed: Allowed::Between(-1.0 / 3.0, 1.0 / 3.0),
                default: KeyDefault::Required,
            },
            Key {
                name: "gamma",
                doc: "gamma of Newmark",
                allowed: Allowed::Between(0.5, 1.0),
                default: KeyDefault::Rule("1/2 + |alpha|", |key| 0.5 + key("alpha").abs()),
            },
            Key {
                name: "beta",
                doc: "beta of Newmark",
                allowed: Allowed::Between(0.0, 1.0),
                default: KeyDefault::Rule("(1 + |alpha|)^2 / 4", |key| (1.0 + key("alpha").abs()).powi(2) / 4.0),
            },
        ],
        row: Some(|key| newmark_like(key("gamma"), key("beta"), 0.0, key("alpha").abs())),
        advice: storage_advice,
    },
    SchemeKind {
        name: "generalized-alpha",
        summary: "nonsmooth generalized-alpha (Chung-Hulbert parameters)",
        keys: &[Key {
            name: "rho_inf",
            doc: "spectral radius at infinite frequency: 1 no damping, 0 strongest",
            allowed: Allowed::Between(0.0, 1.0),
            default: KeyDefault::Required,
        }],
        row: Some(|key| {
            let rho = key("rho_inf");
            let alpha_m = (2.0 * rho - 1.0) / (rho + 1.0);
            let alpha_f = rho / (rho + 1.0);
            let gamma = 0.5 + alpha_f - alpha_m;
            newmark_like(gamma, (gamma + 0.5).powi(2) / 4.0, alpha_m, alpha_f)
        }),
        advice: storage_advice,
    },
    SchemeKind {
        name: "central-difference",
        summary: "explicit central differences; stable for h omega < 2",
        keys: &[],
        row: Some(|_| newmark_like(0.5, 0.0, 0.0, 0.0)),
        advice: |_, _| None,
    },
    SchemeKind {
        name: "schatzman-paoli",
        summary: "two-step scheme, contact by positions; order 1 with impacts, 1.3 to 4 times the error of Moreau-Jean",
        keys: &[
            Key {
                name: "theta",
                doc: "weight of the new place; unless symmetric it damps stiff motions to first order",
                allowed: Allowed::Between(0.0, 1.0),
                default: KeyDefault::Value(0.0),
            },
            Key {
                name: "symmetric",
                doc: "whether old and new places have the same weight; theta = 1/4 then keeps the energy",
                allowed: Allowed::Flag,
                default: KeyDefault::Flag(false),
            },
        ],
        row: None,
        advice: |_, _| None,
    },
];

/// Newmark kinematics with the weights of generalized-α; the damping force is weighted like the others.
fn newmark_like(gamma: f64, beta: f64, alpha_m: f64, alpha_f: f64) -> Tableau {
    Tableau {
        g0: 1.0 - gamma,
        g1: gamma,
        b0: 0.5 - beta,
        b1: beta,
        c: 0.5,
        alpha_m,
        alpha_f,
        alpha_c: alpha_f,
        storage: true,
    }
}

/// Where the storage function may grow, (T22).
fn storage_advice(row: &Tableau, e: f64) -> Option<String> {
    (!row.cannot_grow(e)).then(|| {
        format!(
            "gamma = {}, beta = {} lie outside 1/2 + alpha_f - alpha_m <= gamma <= 1 - alpha_m, 2 beta >= gamma: \
             the dissipation of this scheme is not proved there",
            row.g1, row.b1
        )
    })
}

/// The registry entry of that name.
pub fn find(name: &str) -> Option<&'static SchemeKind> {
    SCHEMES.iter().find(|kind| kind.name == name)
}

impl SchemeKind {
    /// `given` with every absent key at its default. Required keys are the checker's business: one that is
    /// absent here counts as zero.
    pub fn resolve(&self, given: &Parameters) -> Parameters {
        let mut all = Parameters::new();
        for key in self.keys {
            let default = || match &key.default {
                KeyDefault::Required => Some(Value::Number(0.0)),
                KeyDefault::Value(value) => Some(Value::Number(*value)),
                KeyDefault::Rule(_, rule) => Some(Value::Number(rule(&|name| number(&all, name).unwrap_or(0.0)))),
                KeyDefault::Word(word) => Some(Value::Word(word.to_string())),
                KeyDefault::Flag(flag) => Some(Value::Flag(*flag)),
                KeyDefault::Absent(_) => None,
            };
            if let Some(value) = given.get(key.name).cloned().or_else(default) {
                all.insert(key.name.to_string(), value);
            }
        }
        all
    }

    /// The tableau for these parameters, if the scheme is a row of one.
    pub fn tableau(&self, given: &Parameters) -> Option<Tableau> {
        let all = self.resolve(given);
        self.row.map(|row| row(&|name| number(&all, name).unwrap_or(0.0)))
    }
}

impl Tableau {
    /// Whether the old acceleration enters the step at all; if not, zero is the better first guess for the
    /// new one (with the old one a Moreau–Jean row with theta = 1/2 fails on exact beams).
    pub fn carries_acceleration(&self) -> bool {
        self.g0 != 0.0 || self.b0 != 0.0 || self.alpha_m != 0.0
    }

    /// Power of h with which errors of smooth motions fall.
    pub fn order(&self) -> u32 {
        let second =
            (0.5 + self.alpha_f - self.alpha_m - self.g1).abs() < 1e-12 && (self.b0 + self.b1 - 0.5).abs() < 1e-12;
        if second { 2 } else { 1 }
    }

    /// Weights of old forces, and of old damping forces, in the mean over a step: those of both ends alike where accelerations
    /// are carried, else those of (T3), (T29).
    pub fn mean_weights(&self) -> [f64; 2] {
        if self.carries_acceleration() { [0.5; 2] } else { [self.alpha_f, self.alpha_c] }
    }

    /// Weights of the old value and of the increment in the filters of (T21).
    pub fn filter(&self) -> [f64; 2] {
        [-self.alpha_m, self.alpha_f - self.alpha_m].map(|weight| weight / (1.0 - self.alpha_m))
    }

    /// Whether a theorem says that the energy of a linear model, or its storage function, cannot grow in a step whose
    /// impacts have coefficients of restitution up to `e`: section 7.
    pub fn cannot_grow(&self, e: f64) -> bool {
        // Chung–Hulbert parameters lie exactly on the boundary.
        let (spread, slack) = (self.alpha_f - self.alpha_m, 1e-12);
        if self.storage {
            return 2.0 * self.b1 >= self.g1 - slack
                && self.g1 >= 0.5 + spread - slack
                && (spread <= slack || self.g1 <= 1.0 - self.alpha_m + slack && self.alpha_m <= 0.5 + slack);
        }
        // The slack keeps theta = 1/(1+e), typed with finitely many digits, within the range. The variant has c = ½
        // for every theta.
        self.c * (1.0 + e) <= 1.0 + 1e-9
    }

    /// Amplification matrix, (T23), of one contact-free step of q'' + ω² q = 0 on (q, h v, h² a / (1 + x²)), x = h ω;
    /// the last scaling keeps the entries of order one for stiff modes.
    fn amplification(&self, x: f64) -> Matrix3<f64> {
        let x2 = x * x;
        let Tableau { g0, g1, b0, b1, alpha_m, alpha_f, .. } = *self;
        // h² a1 from (T3): (1−α_m) a1 + α_m a0 + α_f x² q0 + (1−α_f) x² (q0 + hv0 + b0 h²a0 + b1 h²a1) = 0.
        let s = 1.0 / ((1.0 - alpha_m) + (1.0 - alpha_f) * x2 * b1);
        let a = [-s * x2, -s * (1.0 - alpha_f) * x2, -s * (alpha_m + (1.0 - alpha_f) * x2 * b0)];
        let scale = 1.0 + x2;
        Matrix3::new(
            1.0 + b1 * a[0],
            1.0 + b1 * a[1],
            (b0 + b1 * a[2]) * scale,
            g1 * a[0],
            1.0 + g1 * a[1],
            (g0 + g1 * a[2]) * scale,
            a[0] / scale,
            a[1] / scale,
            a[2],
        )
    }

    /// Largest modulus of an eigenvalue of the amplification matrix at x = h ω.
    pub fn spectral_radius(&self, x: f64) -> f64 {
        self.amplification(x).complex_eigenvalues().iter().map(|z| z.norm()).fold(0.0, f64::max)
    }

    /// Largest h ω, (T24), for which a contact-free oscillation stays bounded; infinite if there is no limit.
    pub fn stability_limit(&self) -> f64 {
        // Roots that meet on the unit circle are found to the square root of round-off only.
        let stable = |x: f64| self.spectral_radius(x) <= 1.0 + 1e-6;
        let mut low = 1e-2;
        if !stable(low) {
            return 0.0;
        }
        while low < 1e3 {
            let mut high = low * 1.25;
            if !stable(high) {
                for _ in 0..60 {
                    let mid = 0.5 * (low + high);
                    if stable(mid) { low = mid } else { high = mid }
                }
                return low;
            }
            low = high;
        }
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, parameters: &[(&str, f64)]) -> Tableau {
        let given = parameters.iter().map(|(key, value)| (key.to_string(), Value::Number(*value))).collect();
        find(name).unwrap().tableau(&given).unwrap()
    }

    #[test]
    fn names_are_unique_and_every_default_is_in_range() {
        for (i, kind) in SCHEMES.iter().enumerate() {
            assert!(SCHEMES[..i].iter().all(|other| other.name != kind.name));
            for (key, value) in kind.resolve(&Parameters::new()) {
                let spec = kind.keys.iter().find(|k| k.name == key).unwrap();
                let fits = match (&spec.allowed, &value) {
                    (Allowed::Between(min, max), Value::Number(x)) => min <= x && x <= max,
                    (Allowed::Positive, Value::Number(x)) => *x > 0.0,
                    (Allowed::Words(words), Value::Word(word)) => words.iter().any(|choice| choice.name == *word),
                    (Allowed::Flag, Value::Flag(_)) => true,
                    _ => false,
                };
                assert!(fits || matches!(spec.default, KeyDefault::Required), "{} {key}", kind.name);
            }
        }
    }

    #[test]
    fn explicit_limits_are_those_of_the_textbook() {
        // Newmark with gamma = 1/2: h omega <= 1/sqrt(gamma/2 - beta).
        assert!((row("central-difference", &[]).stability_limit() - 2.0).abs() < 1e-5);
        let limit = row("newmark", &[("gamma", 0.5), ("beta", 1.0 / 6.0)]).stability_limit();
        assert!((limit - 12f64.sqrt()).abs() < 1e-5, "{limit}");
    }

    #[test]
    fn implicit_rows_are_unconditionally_stable() {
        for theta in [0.5, 0.7, 1.0] {
            assert_eq!(row("moreau-jean", &[("theta", theta)]).stability_limit(), f64::INFINITY);
            assert_eq!(row("moreau-jean-dissipative", &[("theta", theta)]).stability_limit(), f64::INFINITY);
        }
        for rho in [0.0, 0.3, 0.6, 1.0] {
            let row = row("generalized-alpha", &[("rho_inf", rho)]);
            assert_eq!(row.stability_limit(), f64::INFINITY);
            assert!((row.spectral_radius(1e6) - rho).abs() < 1e-3, "rho_inf is the radius at infinity");
            assert!(storage_advice(&row, 0.0).is_none());
        }
        assert_eq!(row("hht", &[("alpha", 0.1)]), row("hht", &[("alpha", -0.1)]));
    }

    #[test]
    fn advice_names_the_condition() {
        let kind = find("moreau-jean").unwrap();
        assert!((kind.advice)(&row("moreau-jean", &[("theta", 0.5)]), 1.0).is_none());
        let text = (kind.advice)(&row("moreau-jean", &[("theta", 1.0)]), 0.8).unwrap();
        assert!(text.contains("1/(1+e) = 0.555556"), "{text}");
        assert!(storage_advice(&row("newmark", &[("gamma", 0.6), ("beta", 0.25)]), 0.0).is_some());
    }
}
