//! Solvers of contact problems, and how a solve went.

pub mod active_set;
pub(super) mod dense;
mod doubled;
pub(super) mod enumerate;
pub(super) mod lemke;
pub(super) mod pgs;

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Which solver gave the result.
    pub method: Solver,
    /// Gauss–Seidel sweeps or pivots.
    pub sweeps: usize,
    /// Natural-map residual in scaled units.
    pub residual: f64,
    /// Whether the residual is within the tolerance.
    pub converged: bool,
    /// Whether it is known that there is no solution.
    pub impossible: bool,
}

/// Solvers, as counted in the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solver {
    /// No active contact.
    #[default]
    None,
    /// One contact, in closed form.
    Closed,
    /// Projected Gauss–Seidel.
    Pgs,
    /// Lemke's pivoting.
    Lemke,
    /// Active sets inside the factorization.
    ActiveSet,
    /// All states of a frictional problem, one after the other.
    Enumeration,
}

/// Solvers in the order in which a run counts them: key in `summary.json`, and words for the terminal.
pub const SOLVERS: [(Solver, &str, &str); 5] = [
    (Solver::Closed, "closed", "closed form"),
    (Solver::Pgs, "pgs", "Gauss-Seidel"),
    (Solver::ActiveSet, "active-set", "active set"),
    (Solver::Lemke, "lemke", "Lemke"),
    (Solver::Enumeration, "enumeration", "enumeration"),
];
