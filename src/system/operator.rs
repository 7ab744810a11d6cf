//! The equations as a method may ask them: forces, and solutions with m M + c C + k K. How these are found is a matter of
//! the implementation, and so is speed.

use super::System;
use super::beams::Beams;
use super::general::General;
use crate::la::{Singular, Symmetric};
use std::ops::Range;

/// Handle of a factor. Factors with the same stamp are the same, so that what was found with one may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factored {
    /// Number of the factor among all that were made.
    pub stamp: u64,
}

impl Factored {
    /// The factor of the mass matrix, regular also where nodes are massless. It is there from the beginning.
    pub const MASS: Factored = Factored { stamp: 0 };
}

/// Gives entries on and above the diagonal to what it is called with.
pub type Entries<'e> = &'e dyn Fn(&mut dyn FnMut(usize, usize, f64));

/// Motion and forces of a pass.
pub struct Fields<'f> {
    /// Displacements.
    pub q: &'f [f64],
    /// Velocities.
    pub v: &'f [f64],
    /// Internal forces, to be overwritten.
    pub internal: &'f mut [f64],
    /// Damping forces, to be overwritten if anything damps.
    pub viscous: &'f mut [f64],
}

/// A pass over the free rows of the equations: it makes the motion and uses the forces in pieces that fit the cache.
pub trait Pass {
    /// Sets the motion in these rows.
    fn place(&mut self, rows: Range<usize>);

    /// Motion and forces of all rows.
    fn fields(&mut self) -> Fields<'_>;

    /// Uses the forces in these rows, which are complete; gives the residual of the pass as far as it is known.
    fn complete(&mut self, pieces: &[Range<usize>]) -> &[f64];
}

/// The equations of a system.
pub trait Operator {
    /// Overwrites internal and damping forces; returns the strain energy.
    fn forces(&mut self, fields: Fields) -> f64;

    /// Forces of a pass, which is told when they are complete; returns the strain energy. The next [`Operator::prepare`] is at
    /// this place, and the next [`Operator::correct`] is for the residual of the pass.
    fn sweep(&mut self, pass: &mut dyn Pass) -> f64;

    /// Factors m M + c C + k K at `q`, where forces have been found last, with further entries if there are any. The factor of
    /// a linear system is kept while the weights are the same.
    fn prepare(&mut self, q: &[f64], weights: [f64; 3], extra: Option<Entries>) -> Result<Factored, Singular>;

    /// Solves in place; held degrees of freedom are left alone.
    fn solve(&mut self, factor: Factored, x: &mut [f64]);

    /// Solves in place where the right-hand side is zero but for parts of the structure with these rows.
    fn solve_at(&mut self, factor: Factored, rows: &mut dyn Iterator<Item = usize>, x: &mut [f64]);

    /// a −= A⁻¹ b with the factor that was prepared last.
    fn correct(&mut self, b: &[f64], a: &mut [f64]);

    /// The matrix that was prepared last, at `q`.
    fn matrix(&mut self, q: &[f64]) -> &Symmetric;

    /// Name of the factorization.
    fn factorization(&self) -> &'static str;
}

/// The fastest operator of a system; `lanes` asks for vectors in chains of beams.
pub fn operator<'a>(system: &'a System, lanes: bool) -> Result<Box<dyn Operator + 'a>, Singular> {
    let general = General::new(system)?;
    Ok(match Beams::of(system, lanes) {
        Some(beams) => Box::new(BeamChains { general, beams, pending: Vec::new(), chained: None }),
        None => Box::new(general),
    })
}

/// Systems that are chains of geometrically exact beams: forces, factor and solution without a sparse matrix.
struct BeamChains<'a> {
    /// For the mass, and where the chain has no factor.
    general: General<'a>,
    beams: Beams,
    /// The residual of the last pass, if the chain does not have it yet.
    pending: Vec<f64>,
    /// The factor that the chain has.
    chained: Option<Factored>,
}

impl BeamChains<'_> {
    fn is_chained(&self, factor: Factored) -> bool {
        self.chained == Some(factor)
    }
}

impl Operator for BeamChains<'_> {
    fn forces(&mut self, fields: Fields) -> f64 {
        self.pending.clear();
        self.pending.resize(fields.q.len(), 0.0);
        self.general.viscous(fields.q, fields.v, fields.viscous);
        self.beams.internal(fields.q, fields.internal)
    }

    fn sweep(&mut self, pass: &mut dyn Pass) -> f64 {
        let BeamChains { general, beams, pending, .. } = self;
        pending.clear();
        if general.damped() || !beams.goes_by_pieces() {
            general.chunks().for_each(|rows| pass.place(rows));
            let Fields { q, v, internal, viscous } = pass.fields();
            general.viscous(q, v, viscous);
            let energy = beams.internal(q, internal);
            for rows in general.chunks() {
                pass.complete(&[rows]);
            }
            pending.extend_from_slice(pass.complete(&[]));
            return energy;
        }
        let mut energy = 0.0;
        for piece in beams.pieces() {
            let ahead = if piece.start == 0 { 0 } else { piece.start + 1 }..piece.end + 1;
            beams.ranges(ahead).for_each(|rows| pass.place(rows));
            let Fields { q, internal, .. } = pass.fields();
            energy += beams.strain(piece.clone(), q, internal);
            // The first row is complete in the end.
            let residual = complete(pass, beams.ranges(piece.start.max(1)..piece.end));
            beams.bring_rows(piece, residual);
        }
        let residual = complete(pass, beams.ranges(0..1));
        beams.bring_rows(0..1, residual);
        energy
    }

    fn prepare(&mut self, q: &[f64], weights: [f64; 3], extra: Option<Entries>) -> Result<Factored, Singular> {
        let [m, c, k] = weights;
        if extra.is_none() && self.beams.factor_for(&self.pending, m, c, k) {
            let factor = self.general.skip(weights);
            self.chained = Some(factor);
            return Ok(factor);
        }
        // The matrix of the chain is singular, and the general factor says where.
        self.general.prepare(q, weights, extra)
    }

    fn solve(&mut self, factor: Factored, x: &mut [f64]) {
        if self.is_chained(factor) { self.beams.solve(x) } else { self.general.solve(factor, x) }
    }

    fn solve_at(&mut self, factor: Factored, rows: &mut dyn Iterator<Item = usize>, x: &mut [f64]) {
        if self.is_chained(factor) { self.beams.solve(x) } else { self.general.solve_at(factor, rows, x) }
    }

    fn correct(&mut self, b: &[f64], a: &mut [f64]) {
        if self.is_chained(self.general.last()) { self.beams.correct(b, a) } else { self.general.correct(b, a) }
    }

    fn matrix(&mut self, q: &[f64]) -> &Symmetric {
        self.general.matrix(q)
    }

    fn factorization(&self) -> &'static str {
        self.general.factorization()
    }
}

/// Completes one piece in every lane, at most four.
fn complete(pass: &mut dyn Pass, ranges: impl Iterator<Item = Range<usize>>) -> &[f64] {
    let (mut pieces, mut count) = ([const { 0..0 }; 4], 0);
    for range in ranges {
        pieces[count] = range;
        count += 1;
    }
    pass.complete(&pieces[..count])
}
