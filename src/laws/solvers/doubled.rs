//! One matrix of twice the size whose answer is s GᵀA⁻¹G + ρ GᵀM⁻¹G, (T64), for schemes whose impulses act through both.
//!
//! ```text
//! B = [ A/s   −A/s       ]      on pairs (u, ζ) of every degree of freedom:   (B⁻¹)_uu = s A⁻¹ + ρ M⁻¹
//!     [ −A/s   A/s + M/ρ ]
//! ```

use crate::la::{Pattern, Symmetric};

/// The doubled matrix, found when it is first asked for.
pub struct Doubled {
    shares: [f64; 2],
    mass: Vec<f64>,
    /// Where each entry goes: (u, u), (u, ζ), (ζ, u), (ζ, ζ).
    places: Vec<[usize; 4]>,
    matrix: Symmetric,
    fresh: bool,
}

impl Doubled {
    /// For matrices on the pattern of the mass matrix; `shares` are s and ρ, both positive.
    pub fn new(mass: &Symmetric, shares: [f64; 2]) -> Doubled {
        let pattern = &mass.pattern;
        let entries = (0..pattern.n).flat_map(|j| {
            let range = pattern.starts[j] as usize..pattern.starts[j + 1] as usize;
            pattern.rows[range].iter().map(move |&i| [2 * i, 2 * i + 1, 2 * j as u32, 2 * j as u32 + 1])
        });
        let cliques: Vec<[u32; 4]> = entries.collect();
        let doubled = Pattern::from_cliques(2 * pattern.n, cliques.iter().map(|clique| clique.as_slice()));
        let place = |i: u32, j: u32| doubled.position(i as usize, j as usize).expect("made from the same pairs");
        let places = cliques.iter().map(|&[a, b, c, d]| [place(a, c), place(a, d), place(b, c), place(b, d)]).collect();
        let (mass, matrix) = (mass.values.clone(), Symmetric::zeros(doubled.into()));
        Doubled { shares, mass, places, matrix, fresh: false }
    }

    /// A matrix on the doubled pattern.
    pub fn like(&self) -> &Symmetric {
        &self.matrix
    }

    /// The matrix has changed.
    pub fn clear(&mut self) {
        self.fresh = false;
    }

    /// The doubled matrix.
    pub fn of(&mut self, matrix: &Symmetric) -> &Symmetric {
        if !self.fresh {
            self.fresh = true;
            let [s, rho] = self.shares;
            for (k, &[uu, uz, zu, zz]) in self.places.iter().enumerate() {
                let a = matrix.values[k] / s;
                let values = &mut self.matrix.values;
                (values[uu], values[uz], values[zu], values[zz]) = (a, -a, -a, a + self.mass[k] / rho);
            }
        }
        &self.matrix
    }
}
