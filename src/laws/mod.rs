//! Laws of contact as local problems, and the solvers that put local problems together.
//!
//! A [`Law`] says what one contact does with the others standing still. Solvers see laws through that face alone, and laws see
//! neither a system nor a step: what they get are blocks of the operator W, velocities and impulses. Gaps in place of
//! velocities, and forces in place of impulses, make no difference here.

mod closing;
mod complementarity;
mod coulomb;
mod delassus;
mod problem;
pub mod solvers;
mod unilateral;

pub use closing::{Closing, close};
pub use complementarity::Complementarity;
pub use coulomb::Coulomb;
pub use delassus::Delassus;
pub use problem::{Local, Problem, Scratch};
pub use solvers::{Outcome, SOLVERS, Solver};
pub use unilateral::Unilateral;

use crate::model::Law as LawData;

/// Every law that carom has, the one without friction first.
pub const LAWS: &[&dyn Law] = &[&Unilateral, &Coulomb];

/// One contact while the others stand still.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site {
    /// W of the contact on itself: NN, NT, TN, TT.
    pub w: [f64; 4],
    /// The constant of its law: the coefficient of friction.
    pub constant: f64,
    /// Impulses, normal and tangential.
    pub r: [f64; 2],
    /// Velocities that belong to them, with what restitution adds.
    pub u: [f64; 2],
}

/// How a contact is solved while the others stand still.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relaxation {
    /// Normal and tangent together, or the normal first and then the tangent.
    pub together: bool,
    /// Part of the way to the solution.
    pub part: f64,
}

/// What a contact obeys.
pub trait Law: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Number of its rows: the normal one, and one along the tangent.
    fn rows(&self) -> usize;

    /// Impulses that solve the contact, or lead on from where it is.
    fn relax(&self, site: &Site, how: Relaxation) -> [f64; 2];

    /// How far the contact is from its law, as a velocity.
    fn residual(&self, site: &Site) -> f64;

    /// The states that it can be in, for its constant. The unknowns of a state are combinations of its impulses, and as many of
    /// its rows, from the normal one on, come to rest.
    fn states(&self, constant: f64) -> Vec<Vec<[f64; 2]>>;
}

/// The law of a contact, and its constant.
pub fn law_of(data: &LawData) -> (&'static dyn Law, f64) {
    if data.friction > 0.0 { (&Coulomb, data.friction) } else { (&Unilateral, 0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `relax` finds has no residual, whatever the block and the velocities, for every law.
    #[test]
    fn a_relaxed_contact_obeys_its_law() {
        let mut seed = 11_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for law in LAWS {
            let mut pressed = 0;
            for _ in 0..1000 {
                // Symmetric and positive, with a weak coupling: then a solution exists for every friction below one.
                let coupling = 0.2 * random();
                let w = [1.0 + random(), coupling, coupling, 1.0 + random()];
                let (r, constant) = ([0.0; 2], random() + 0.5);
                let u = [random(), if law.rows() > 1 { random() } else { 0.0 }];
                let new = law.relax(&Site { w, constant, r, u }, Relaxation { together: true, part: 1.0 });
                let after = [u[0] + w[0] * new[0] + w[1] * new[1], u[1] + w[2] * new[0] + w[3] * new[1]];
                let residual = law.residual(&Site { w, constant, r: new, u: after });
                assert!(residual < 1e-14, "{}: {residual:e}", law.name());
                pressed += usize::from(new[0] > 0.0);
            }
            assert!(pressed > 300, "{}: {pressed}", law.name());
        }
    }
}
