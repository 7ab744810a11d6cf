//! Constants of the elements and nodes of a chain. Rows with the same constants are of one kind, as most of a body are, and
//! these are kept once: out of a distant cache, numbers cost more than what is made of them.

use crate::elements::section::{Rigidity, Section};
use crate::la::Vector;
use crate::la::number::{Number, groups, load};
use std::ops::Range;

/// Numbers of [`Constants`].
pub(super) const CONSTANTS: usize = 23;

/// Constants of a tangent: seven of [`Rigidity`], three each of m M + c C between the nodes and at the first of them.
pub(super) const TANGENT: usize = 13;

/// An element and its first node.
pub(super) struct Constants {
    pub section: Section<f64>,
    /// Damping per stiffness.
    pub rate: f64,
    /// Of every component, the entry on the diagonal and that beside it, of M and of C.
    pub mass: [[f64; 2]; 3],
    pub damping: [[f64; 2]; 3],
    /// Zeros for components that are held, ones for others.
    pub keep: [f64; 3],
}

impl Constants {
    pub fn numbers(&self) -> [f64; CONSTANTS] {
        let Constants { section: s, rate, mass: [m0, m1, m2], damping: [c0, c1, c2], keep } = *self;
        let ([x, y], [axial, shear, bending], [k0, k1, k2]) = (s.direction, s.stiffness, keep);
        [
            s.length,
            s.per_length,
            x,
            y,
            axial,
            shear,
            bending,
            rate,
            m0[0],
            m1[0],
            m2[0],
            m0[1],
            m1[1],
            m2[1],
            c0[0],
            c1[0],
            c2[0],
            c0[1],
            c1[1],
            c2[1],
            k0,
            k1,
            k2,
        ]
    }

    pub fn of(n: [f64; CONSTANTS]) -> Constants {
        let pairs = |first: usize| [0, 1, 2].map(|k| [n[first + k], n[first + 3 + k]]);
        Constants {
            section: Section { length: n[0], per_length: n[1], direction: [n[2], n[3]], stiffness: [n[4], n[5], n[6]] },
            rate: n[7],
            mass: pairs(8),
            damping: pairs(14),
            keep: [n[20], n[21], n[22]],
        }
    }

    /// Those of the tangent in m M + c C + k K.
    pub fn tangent(&self, [m, c, k]: [f64; 3]) -> [f64; TANGENT] {
        let r = self.section.rigidity(c * self.rate + k, k);
        let sum = |component: usize, place: usize| m * self.mass[component][place] + c * self.damping[component][place];
        // What is held is an equation of its own.
        let own = |component: usize| sum(component, 0) + (1.0 - self.keep[component]);
        [
            r.least,
            r.difference,
            r.along,
            r.across[0],
            r.across[1],
            r.arm,
            r.bending,
            sum(0, 1),
            sum(1, 1),
            sum(2, 1),
            own(0),
            own(1),
            own(2),
        ]
    }
}

/// The constants of all rows.
pub(super) struct Table {
    pub lanes: usize,
    /// Kind of every row, and whether its nodes have held degrees of freedom.
    pub kinds: Vec<u32>,
    pub held: Vec<bool>,
    /// Numbers of the kinds: their constants, and those of their tangents in m M + c C + k K with these three factors.
    pub constants: Vector,
    pub tangents: Vector,
    pub factors: Option<[f64; 3]>,
}

impl Table {
    /// Prepares for tangents with these factors.
    pub fn combine(&mut self, factors: [f64; 3]) {
        if self.factors.replace(factors) == Some(factors) {
            return;
        }
        let lanes = self.lanes;
        for kind in 0..self.constants.len() / (CONSTANTS * lanes) {
            for lane in 0..lanes {
                let numbers = std::array::from_fn(|i| self.constants[(kind * CONSTANTS + i) * lanes + lane]);
                for (i, x) in Constants::of(numbers).tangent(factors).into_iter().enumerate() {
                    self.tangents[(kind * TANGENT + i) * lanes + lane] = x;
                }
            }
        }
    }

    /// Of some rows, and the nodes of the one behind them.
    #[inline]
    pub fn rows(&self, rows: Range<usize>) -> Kinds<'_> {
        let of = &self.kinds[rows.start..=rows.end];
        let held = &self.held[rows.start..=rows.end];
        Kinds { of, held, constants: &self.constants, tangents: &self.tangents }
    }
}

/// A part of the table.
#[derive(Clone, Copy)]
pub(super) struct Kinds<'a> {
    of: &'a [u32],
    pub held: &'a [bool],
    constants: &'a [f64],
    tangents: &'a [f64],
}

/// A part of the table, as numbers are read from it.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, N: Number> {
    set: N::Set,
    kinds: &'a [u32],
    held: &'a [bool],
    constants: &'a [[N::Row; CONSTANTS]],
    tangents: &'a [[N::Row; TANGENT]],
}

/// What a tangent is found from: rigidity, then inertia between the nodes and at the first of them.
pub(super) struct Tangent<N>(pub Rigidity<N>, pub [N; 3], pub [N; 3]);

impl<'a, N: Number> Rows<'a, N> {
    #[inline(always)]
    pub fn new(set: N::Set, kinds: Kinds<'a>) -> Rows<'a, N> {
        let held = &kinds.held[..kinds.of.len()];
        Rows {
            set,
            kinds: kinds.of,
            held,
            constants: groups::<_, N>(kinds.constants),
            tangents: groups::<_, N>(kinds.tangents),
        }
    }

    /// Number of rows with elements.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.kinds.len() - 1
    }

    #[inline(always)]
    pub fn section(&self, row: usize) -> Section<N> {
        let numbers = &self.constants[self.kinds[row] as usize];
        let [length, per_length, x, y, axial, shear, bending, ..] = load(self.set, numbers);
        Section { length, per_length, direction: [x, y], stiffness: [axial, shear, bending] }
    }

    #[inline(always)]
    pub fn tangent(&self, row: usize) -> Tangent<N> {
        let numbers = &self.tangents[self.kinds[row] as usize];
        let [least, difference, along, first, second, arm, bending, mx, my, mt, x, y, t] = load(self.set, numbers);
        let rigidity = Rigidity { least, difference, along, across: [first, second], arm, bending };
        Tangent(rigidity, [mx, my, mt], [x, y, t])
    }

    /// Whether any nodes of an element are held.
    #[inline(always)]
    pub fn is_held(&self, row: usize) -> bool {
        self.held[row] || self.held[row + 1]
    }

    /// Whether any nodes of these elements, but the second of the last, are held.
    #[inline(always)]
    pub fn holds(&self, rows: Range<usize>) -> bool {
        self.held[rows].contains(&true)
    }

    /// Zeros for the held components of a row of nodes, ones for others.
    #[inline(always)]
    pub fn keep(&self, row: usize) -> [N; 3] {
        let [.., x, y, t] = load(self.set, &self.constants[self.kinds[row] as usize]);
        [x, y, t]
    }
}
