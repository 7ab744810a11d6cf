//! `[guards]`.

use crate::keys::*;

table! {
    /// Limits that stop a run gone wrong
    Guards("[guards]") {
        /// Energy gained beyond external and support work
        energy: Switch<EnergyGuard> = empty();
        /// Depth of penetration
        penetration: Switch<PenetrationGuard> = empty();
        /// A contact that a node passes through within one step
        crossing: bool = true;
        /// Contact conditions that are not met
        contact: Switch<ContactGuard> = empty();
        /// A nonlinear step that lands far away
        newton: Switch<NewtonGuard> = empty();
    }
}

table! {
    /// Guard against energy gained from nothing
    EnergyGuard("guards.energy") {
        /// Largest gain in one step, of the energy scale
        gain: f64 as Number(POSITIVE) = 0.1;
        /// Largest gain since the start, of the energy scale
        total: f64 as Number(POSITIVE) = 0.1;
        /// Largest growth in one step of what the scheme provably cannot let grow, of the energy scale
        proven: Option<f64> as Number(POSITIVE) => "1e-9, or 100 solver.contact.tolerance if that is more";
        /// How often the step is halved before the run stops
        cuts: usize as Integer(0, 60) = 8;
    }
}

table! {
    /// Guard against penetration
    PenetrationGuard("guards.penetration") {
        /// Largest depth, of the smallest of: the shortest adjacent element, `2*radius` of the contact, the radius of a circle, half the thickness of a closed polyline
        fraction: f64 as Number(POSITIVE) = 1.0;
    }
}

table! {
    /// Guard against contact conditions that are not met
    ContactGuard("guards.contact") {
        /// Largest scaled residual of a step, the column `complementarity`
        residual: Option<f64> as Number(POSITIVE) => "1e-6, or 100 solver.contact.tolerance if that is more";
    }
}

table! {
    /// Guard against a Newton iteration that runs away, or ends on another branch
    NewtonGuard("guards.newton") {
        /// Longest way of a node in a step beyond what its velocity makes, of the length of the model
        reach: f64 as Number(POSITIVE) = 1.0;
    }
}
