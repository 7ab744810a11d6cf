//! `[solver]`.

use crate::keys::*;

table! {
    /// Tolerances of the nonlinear and the contact solver
    Solver("[solver]") {
        /// Newton iteration
        newton: Newton = empty();
        /// Contact solver
        contact: ContactSolver = empty();
    }
}

table! {
    /// Newton iteration
    Newton("solver.newton") {
        /// Relative tolerance on the residual
        tolerance: f64 as Number(inside(0.0, 1.0)) = 1e-11;
        /// Most passes before the step is cut
        passes: usize as Integer(1, 10_000) = 40;
    }
}

table! {
    /// Contact solver
    ContactSolver("solver.contact") {
        /// Which solver
        method: ContactMethod = ContactMethod::Auto;
        /// Tolerance on the scaled natural-map residual
        tolerance: f64 as Number(inside(0.0, 1.0)) = 1e-11;
        /// Most sweeps
        sweeps: usize as Integer(1, 1_000_000_000) = 1000;
        /// Over-relaxation of Gauss–Seidel
        relaxation: f64 as Number(inside(0.0, 2.0)) = 1.0;
    }
}

words! {
    /// Contact solver by name
    ContactMethod {
        /// chosen by a stated rule
        Auto = "auto",
        /// projected Gauss–Seidel
        Pgs = "pgs",
        /// active sets inside the factorization, for many planes
        ActiveSet = "active-set",
        /// Lemke's pivoting, exact
        Lemke = "lemke",
    }
}

impl Default for Newton {
    fn default() -> Self {
        empty()
    }
}

impl Default for ContactSolver {
    fn default() -> Self {
        empty()
    }
}
