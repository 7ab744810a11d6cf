//! Scratch memory of the steps.

use crate::contact::friction::Rough;

/// Vectors that live from step to step so that none is allocated in the loop.
pub(super) struct Work {
    /// Contact-free prediction of q1 and v1 without the new acceleration.
    pub q_free: Vec<f64>,
    pub v_free: Vec<f64>,
    /// Velocity jump w, position shift u where it is not h c w, and whether they are not zero.
    pub jump: Vec<f64>,
    pub shift: Vec<f64>,
    pub jumped: bool,
    /// M a at the start of the step, where it matters and its state does not have it.
    pub inertia: Vec<f64>,
    /// What of the residual does not change in the step, and the sums of squares of its loads.
    pub known: Vec<f64>,
    pub load: Option<[f64; 2]>,
    pub residual: Vec<f64>,
    pub delta: Vec<f64>,
    pub first: Vec<f64>,
    pub second: Vec<f64>,
    pub third: Vec<f64>,
    /// Relative velocities at the start and at the end, right-hand side and velocities of the contact solve.
    pub u0: Vec<f64>,
    pub u1: Vec<f64>,
    pub b: Vec<f64>,
    pub y: Vec<f64>,
    pub impulse: Vec<f64>,
    /// Active candidates, their normal rows, the same with their friction, and their blocks of W.
    pub active: Vec<u32>,
    pub rows: Vec<u32>,
    pub rough: Vec<Rough>,
    /// Whether the active set has found the velocities that answer the impulses.
    pub answered: bool,
    pub blocks: Vec<[f64; 4]>,
    /// Position corrections ν of this pass and of the last, the rows and contacts that they may close, the gaps and
    /// velocities without any contact, and the right-hand side of the solve for ν (that for impulses is `b`).
    pub correction: Vec<f64>,
    pub correction_so_far: Vec<f64>,
    /// What moves positions along every row: ν, and for tangential rows h c p.
    pub moved: Vec<f64>,
    pub closing: Vec<u32>,
    pub corrected: Vec<u32>,
    pub gap_free: Vec<f64>,
    pub gap_b: Vec<f64>,
    pub rate_free: Vec<f64>,
    /// Residuals of the passes so far, over their limits.
    pub residuals: Vec<f64>,
    /// Work of the residual of the last pass over the step.
    pub left: f64,
}

impl Work {
    /// For `n` degrees of freedom and `m` contact rows.
    pub fn new(n: usize, m: usize) -> Work {
        let zeros = |length: usize| vec![0.0; length];
        Work {
            q_free: zeros(n),
            v_free: zeros(n),
            jump: zeros(n),
            shift: zeros(n),
            jumped: false,
            inertia: zeros(n),
            known: zeros(n),
            load: None,
            residual: zeros(n),
            delta: zeros(n),
            first: zeros(n),
            second: zeros(n),
            third: zeros(n),
            u0: zeros(m),
            u1: zeros(m),
            b: zeros(m),
            y: zeros(m),
            impulse: zeros(m),
            active: Vec::with_capacity(m),
            rows: Vec::with_capacity(m),
            rough: Vec::with_capacity(m),
            answered: false,
            blocks: Vec::with_capacity(m),
            correction: zeros(m),
            correction_so_far: zeros(m),
            moved: zeros(m),
            closing: Vec::with_capacity(m),
            corrected: Vec::with_capacity(m),
            gap_free: zeros(m),
            gap_b: zeros(m),
            rate_free: zeros(m),
            residuals: Vec::with_capacity(64),
            left: f64::INFINITY,
        }
    }
}
