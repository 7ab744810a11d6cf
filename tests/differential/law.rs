//! The laws of contact by trying every combination of states, (T52) and (T57).

use nalgebra::{DMatrix, DVector};

/// Rows of one contact in the problem: normal and, with friction, tangential.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    pub normal: usize,
    pub tangent: Option<usize>,
    pub friction: f64,
}

pub struct Solution {
    pub impulse: DVector<f64>,
    /// Whether another combination of states gives another answer.
    pub ambiguous: bool,
}

/// More combinations than this are not tried.
const MOST: usize = 1 << 16;

/// Finds impulses with u = W p + b and the law of every contact; an error if no combination of states obeys it.
pub fn solve(w: &DMatrix<f64>, b: &DVector<f64>, contacts: &[Rows]) -> Result<Solution, &'static str> {
    let size = b.len();
    let scale = b.amax();
    if contacts.is_empty() || scale == 0.0 {
        return Ok(Solution { impulse: DVector::zeros(size), ambiguous: false });
    }
    let states: Vec<usize> = contacts.iter().map(|c| if c.tangent.is_some() { 4 } else { 2 }).collect();
    let combinations: usize = states.iter().product();
    if combinations > MOST {
        return Err("more contacts than can be tried");
    }
    // Impulse that makes a velocity of the size of the right-hand side.
    let unit = scale / w.diagonal().amax();
    let mut best: Option<(f64, DVector<f64>)> = None;
    let mut accepted: Vec<DVector<f64>> = vec![];
    for combination in 0..combinations {
        let mut rest = combination;
        let chosen: Vec<usize> = states
            .iter()
            .map(|n| {
                let state = rest % n;
                rest /= n;
                state
            })
            .collect();
        let Some(p) = candidate(w, b, contacts, &chosen) else { continue };
        let u = w * &p + b;
        let miss = violation(&u, &p, contacts, scale, unit);
        if miss <= 1e-9 {
            accepted.push(p.clone());
        }
        if best.as_ref().is_none_or(|(least, _)| miss < *least) {
            best = Some((miss, p));
        }
    }
    let (_, impulse) = best.filter(|(miss, _)| *miss <= 1e-9).ok_or("no solution of the law")?;
    let ambiguous = accepted.iter().any(|other| (other - &impulse).amax() > 1e-6 * unit.max(impulse.amax()));
    Ok(Solution { impulse, ambiguous })
}

/// Impulses if every contact is in a given state: 0 open, 1 closed (sticking), 2 and 3 sliding either way.
fn candidate(w: &DMatrix<f64>, b: &DVector<f64>, contacts: &[Rows], chosen: &[usize]) -> Option<DVector<f64>> {
    let size = b.len();
    let (mut matrix, mut right) = (DMatrix::identity(size, size), DVector::zeros(size));
    for (contact, &state) in contacts.iter().zip(chosen).filter(|(_, state)| **state > 0) {
        matrix.set_row(contact.normal, &w.row(contact.normal));
        right[contact.normal] = -b[contact.normal];
        if let Some(tangent) = contact.tangent {
            if state == 1 {
                matrix.set_row(tangent, &w.row(tangent));
                right[tangent] = -b[tangent];
            } else {
                // Sliding forwards is held back, and the other way round.
                let sign = if state == 2 { 1.0 } else { -1.0 };
                matrix[(tangent, contact.normal)] = sign * contact.friction;
            }
        }
    }
    let p = matrix.lu().solve(&right)?;
    p.iter().all(|x| x.is_finite()).then_some(p)
}

/// By how much the law is missed, in parts of the scales of velocity and impulse.
fn violation(u: &DVector<f64>, p: &DVector<f64>, contacts: &[Rows], scale: f64, unit: f64) -> f64 {
    let mut miss: f64 = 0.0;
    for contact in contacts {
        let n = contact.normal;
        let (un, pn) = (u[n] / scale, p[n] / unit);
        miss = miss.max(-un).max(-pn).max(un.min(pn));
        if let Some(t) = contact.tangent {
            let (ut, pt, limit) = (u[t] / scale, p[t] / unit, contact.friction * pn);
            miss = miss.max(pt.abs() - limit);
            // Sliding forwards needs the impulse −limit, backwards +limit.
            if ut > 0.0 {
                miss = miss.max(ut.min(pt + limit));
            } else {
                miss = miss.max((-ut).min(limit - pt));
            }
        }
    }
    miss
}
