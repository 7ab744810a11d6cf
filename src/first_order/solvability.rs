//! Whether the complementarity problems of a system have solutions, and why one has none: relative degrees, P-matrices.

use super::dense::Lu;
use super::system::{Point, Slopes, System};
use crate::{Error, Result};

/// Relative degree of every law: 0 if its dual depends on multipliers, 1 if its rate does, and so on; none if it never
/// comes to depend on one.
pub fn degrees(system: &System, point: &Point) -> Vec<Option<usize>> {
    let (n, m) = (system.size(), system.laws.len());
    let mut degrees = vec![None; m];
    let (mut slopes, mut values) = (Slopes::default(), Vec::new());
    // A slope that vanishes at the start by chance does not vanish nearby.
    for trial in 0..3 {
        let mut near = point.clone();
        for (k, x) in near.x.iter_mut().enumerate() {
            *x += f64::from(trial) * 1e-3 * (1.0 + x.abs()) * (1.0 + 0.37 * k as f64);
        }
        system.slopes(&near, f64::from(trial) * 1e-3, &mut slopes, &mut values);
        for i in 0..m {
            let row = &slopes.d[i * m..][..m];
            let mut chain = slopes.c[i * n..][..n].to_vec();
            let mut found = row.iter().any(|&d| d != 0.0).then_some(0);
            for degree in 1..=n {
                let input = |j: usize| (0..n).map(|k| chain[k] * slopes.b[k * m + j]).sum::<f64>();
                if found.is_none() && (0..m).any(|j| input(j) != 0.0) {
                    found = Some(degree);
                }
                chain = (0..n).map(|j| (0..n).map(|k| chain[k] * slopes.f_x[k * n + j]).sum()).collect();
            }
            degrees[i] = match (degrees[i], found) {
                (Some(known), Some(found)) => Some(usize::min(known, found)),
                (known, found) => known.or(found),
            };
        }
    }
    degrees
}

/// Refuses laws of relative degree two and more.
pub fn refuse_degree(system: &System, point: &Point) -> Result<()> {
    for (name, degree) in system.laws.iter().zip(degrees(system, point)) {
        let why = match degree {
            Some(0 | 1) => continue,
            Some(degree) => format!(
                "law `{name}` has relative degree {degree}: its multiplier would have to make states jump by impulses of \
                 impulses. Degrees 0 and 1 can run; for contact of masses use [[contact]]"
            ),
            None => format!("nothing that law `{name}` can do changes its own dual: no multiplier acts on it"),
        };
        return Err(Error::Value { path: format!("law.{name}.dual"), text: why });
    }
    Ok(())
}

/// What is known of a matrix of a complementarity problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// All principal minors are positive: one solution for every right-hand side.
    P,
    /// The symmetric part is not negative: pivoting finds a solution where there is one.
    Monotone,
    /// Neither, as far as was looked.
    Unknown,
}

/// Largest size for which all principal minors are computed.
const MINORS: usize = 12;

/// The class of an m × m matrix by rows.
pub fn class(m: usize, matrix: &[f64]) -> Class {
    if m == 0 {
        return Class::P;
    }
    let mut lu = Lu::default();
    let positive = |set: usize, lu: &mut Lu| {
        let rows: Vec<usize> = (0..m).filter(|k| set >> k & 1 == 1).collect();
        lu.factor(rows.len(), |i, j| matrix[rows[i] * m + rows[j]]).is_ok() && lu.determinant() > 0.0
    };
    if m <= MINORS && (1..1usize << m).all(|set| positive(set, &mut lu)) {
        return Class::P;
    }
    let symmetric = nalgebra::DMatrix::from_fn(m, m, |i, j| 0.5 * (matrix[i * m + j] + matrix[j * m + i]));
    let size = symmetric.amax();
    let least = symmetric.symmetric_eigenvalues().min();
    if least >= -1e-12 * size { Class::Monotone } else { Class::Unknown }
}

/// Why the complementarity problem of a step has no solution.
pub fn explain_ray(system: &System, matrix: &[f64], step: &str) -> String {
    let all = system.multipliers();
    let negative: Vec<String> = (0..all).filter(|&k| matrix[k * all + k] < 0.0).map(|k| system.name_of(k)).collect();
    let every: Vec<String> = (0..all).map(|k| system.name_of(k)).collect();
    let mut names = if negative.is_empty() { every } else { negative.clone() };
    names.dedup();
    let who = names.join(", ");
    let why = match class(all, matrix) {
        _ if !negative.is_empty() => {
            "W is not P: D or C·B has the wrong sign there, so that a multiplier drives its dual the wrong way"
        }
        Class::P | Class::Monotone if system.laws.is_empty() => "the constraints cannot be met together",
        Class::P | Class::Monotone => "the laws and constraints cannot be met together",
        Class::Unknown => "W is not P: D or C·B has the wrong sign, or the laws contradict each other",
    };
    format!("the complementarity problem of {step} has no solution ({who}): {why}")
}
