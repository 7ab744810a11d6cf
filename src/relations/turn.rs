//! Axes of nodes, turned to the normals of their contacts: each contact is then a bound on one unknown.
//!
//! With x = R x' the matrix of the unknowns x' is A' = RᵀA R, where R is the identity but for one rotation per node.

use crate::la::{Pattern, Symmetric};

/// Two degrees of freedom of a node and the direction that the first is turned to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// The degrees of freedom.
    pub dofs: [usize; 2],
    /// Unit vector.
    pub along: [f64; 2],
}

/// A turn and the entries of the matrix that it mixes.
struct Mixed {
    along: [f64; 2],
    /// Entries in the columns of the two degrees of freedom, for every other row.
    pairs: Vec<[usize; 2]>,
    /// The diagonal entry of the first, the one between them, the diagonal entry of the second.
    block: [usize; 3],
}

/// A matrix in turned axes, found when it is first asked for.
pub struct Turned {
    turns: Vec<Mixed>,
    matrix: Symmetric,
    fresh: bool,
}

impl Turned {
    /// For matrices on a pattern; `None` if some row has an entry for only one of the two degrees of freedom of a turn.
    pub fn new(matrix: &Symmetric, turns: &[Turn]) -> Option<Turned> {
        let pattern = &matrix.pattern;
        let columns = neighbours(pattern);
        let mixed = turns.iter().map(|turn| {
            let [i, j] = turn.dofs;
            let others = |dof: usize| columns[dof].iter().filter(move |(other, _)| *other != i && *other != j);
            let same = others(i).map(|(other, _)| other).eq(others(j).map(|(other, _)| other));
            let block = [pattern.position(i, i)?, pattern.position(i, j)?, pattern.position(j, j)?];
            let pairs = others(i).zip(others(j)).map(|(a, b)| [a.1, b.1]).collect();
            same.then_some(Mixed { along: turn.along, pairs, block })
        });
        Some(Turned { turns: mixed.collect::<Option<_>>()?, matrix: Symmetric::zeros(pattern.clone()), fresh: false })
    }

    /// The matrix has changed.
    pub fn clear(&mut self) {
        self.fresh = false;
    }

    /// The matrix in turned axes.
    pub fn of(&mut self, matrix: &Symmetric) -> &Symmetric {
        if !self.fresh {
            self.fresh = true;
            self.matrix.values.copy_from_slice(&matrix.values);
            for Mixed { along: [c, s], pairs, block } in &self.turns {
                let values = &mut self.matrix.values;
                for &[i, j] in pairs {
                    (values[i], values[j]) = (c * values[i] + s * values[j], c * values[j] - s * values[i]);
                }
                let [p, q, r] = block.map(|k| values[k]);
                values[block[0]] = c * c * p + 2.0 * c * s * q + s * s * r;
                values[block[1]] = (c * c - s * s) * q + c * s * (r - p);
                values[block[2]] = s * s * p - 2.0 * c * s * q + c * c * r;
            }
        }
        &self.matrix
    }
}

/// For every column of the whole matrix its rows in ascending order, with the places of the entries.
fn neighbours(pattern: &Pattern) -> Vec<Vec<(usize, usize)>> {
    let mut columns = vec![Vec::new(); pattern.n];
    for column in 0..pattern.n {
        for k in pattern.starts[column] as usize..pattern.starts[column + 1] as usize {
            let row = pattern.rows[k] as usize;
            columns[column].push((row, k));
            if row != column {
                columns[row].push((column, k));
            }
        }
    }
    columns.iter_mut().for_each(|entries| entries.sort_unstable());
    columns
}
