//! Bars in the plane that hold nothing: motions without stiffness beyond those of a rigid body.

use super::review::{ROUNDING, parts};
use super::{Advice, Subject};
use crate::case::data::Analysis;
use crate::la::Symmetric;
use crate::model::{Component, Model};
use crate::system::Nodes;
use nalgebra::{Matrix2, Matrix3, RowVector3, SymmetricEigen};
use std::collections::BTreeMap;

/// Part of its stiffness that a degree of freedom keeps when all before it are eliminated, below which that is rounding.
const NULL: f64 = 1e-10;

/// Products that the elimination may take; more than that is not worth a word of advice.
const MOST: f64 = 1e9;

/// Parts of bars, with linear laws throughout, that are mechanisms. Parts that turn, of springs and exact beams, may be meant
/// to move far.
pub(super) fn loose_bars(subject: &Subject) -> Vec<Advice> {
    let Subject { case, model, system } = subject;
    let bars = model.bodies.iter().any(|body| body.kind.is_bar());
    if model.dimension != 2 || case.analysis != Analysis::Dynamic || !bars {
        return Vec::new();
    }
    let part = parts(subject);
    let mut owner = vec![0; system.nodes.total];
    for node in 0..model.places.len() {
        for dof in dofs(&system.nodes, node).into_iter().flatten() {
            owner[dof] = node;
        }
    }
    let mut stiffness = Symmetric::zeros(system.mass.pattern.clone());
    system.effective(&system.q0, 0.0, 0.0, 1.0, &mut stiffness);
    let mut loose: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for dof in null_pivots(&stiffness, system.nodes.free) {
        // A bar in several elements is loose across, which is nobody's concern while nothing pushes it there.
        if pushed(subject, &stiffness, owner[dof]) {
            loose.entry(part[owner[dof]]).or_default().push(dof);
        }
    }
    let mut advice = Vec::new();
    for (own, found) in loose {
        let turns = model.bodies.iter().zip(&system.elements).any(|(body, element)| {
            !element.block().linear && body.lines.first().is_some_and(|line| part[line[0]] == own)
        });
        let beyond = found.len().saturating_sub(rigid_motions(model, &system.nodes, &part, own));
        let of_bar = found.iter().find(|&&dof| model.body_of(owner[dof]).kind.is_bar());
        if let Some(&dof) = of_bar.filter(|_| beyond > 0 && !turns) {
            let body = model.body_of(owner[dof]);
            let text = format!(
                "the bars of `{}` are a mechanism: {beyond} motion{} meet no stiffness, one of them at {}; bars in the plane \
                 know small rotations only and do not stiffen as they turn: add members or supports, or take element = \"beam\"",
                body.name,
                if beyond == 1 { "" } else { "s" },
                system.describe(dof)
            );
            advice.push(Advice::new(format!("body.{}", body.name), text));
        }
    }
    advice
}

fn dofs(nodes: &Nodes, node: usize) -> [Option<usize>; 3] {
    [Component::X, Component::Y, Component::Theta].map(|component| nodes.find(node, component))
}

/// Whether gravity or a load pushes a node where it alone meets no stiffness; true where its lines are not all along one
/// direction, so that it is loose together with others only.
fn pushed(subject: &Subject, stiffness: &Symmetric, node: usize) -> bool {
    let Subject { model, system, .. } = subject;
    let nodes = &system.nodes;
    let [Some(x), Some(y), None] = dofs(nodes, node) else { return true };
    if x >= nodes.free || y >= nodes.free {
        return true;
    }
    let entry =
        |i: usize, j: usize| stiffness.pattern.position(i.min(j), i.max(j)).map_or(0.0, |k| stiffness.values[k]);
    let block = SymmetricEigen::new(Matrix2::new(entry(x, x), entry(x, y), entry(x, y), entry(y, y)));
    let loads = model.loads.iter().map(|load| {
        let own = load.forces.iter().filter(|(node, ..)| dofs(nodes, *node)[..2] == [Some(x), Some(y)]);
        own.fold([0.0; 2], |mut sum, &(_, component, force)| {
            // A moment pushes nothing aside.
            if let Some(sum) = sum.get_mut(component as usize) {
                *sum += force;
            }
            sum
        })
    });
    let forces: Vec<[f64; 2]> = loads.chain([[system.gravity[x], system.gravity[y]]]).collect();
    let stiff = block.eigenvalues.amax();
    (0..2).filter(|&k| block.eigenvalues[k] <= NULL * stiff).fold(None, |any, k| {
        let across = block.eigenvectors.column(k);
        let push = |f: &[f64; 2]| (f[0] * across[0] + f[1] * across[1]).abs() > ROUNDING * f[0].hypot(f[1]);
        Some(any.unwrap_or(false) || forces.iter().any(push))
    }) != Some(false)
}

/// Rigid motions of a part that its supports allow.
fn rigid_motions(model: &Model, nodes: &Nodes, part: &[usize], own: usize) -> usize {
    let length = model.length.max(f64::MIN_POSITIVE);
    let origin = model.places[own];
    let mut gram = Matrix3::zeros();
    for node in (0..part.len()).filter(|&node| part[node] == own) {
        let [x, y] = [0, 1].map(|k| (model.places[node][k] - origin[k]) / length);
        let motions = [RowVector3::new(1.0, 0.0, -y), RowVector3::new(0.0, 1.0, x), RowVector3::new(0.0, 0.0, 1.0)];
        for (motion, dof) in motions.iter().zip(dofs(nodes, node)) {
            if dof.is_some_and(|dof| dof >= nodes.free) {
                gram += motion.transpose() * motion;
            }
        }
    }
    let values = gram.symmetric_eigenvalues();
    values.iter().filter(|value| **value <= 1e-12 * values.amax()).count()
}

/// Degrees of freedom at which an elimination of the stiffness about the initial state finds nothing left, one for every
/// motion without stiffness; none if the elimination is too long.
fn null_pivots(stiffness: &Symmetric, free: usize) -> Vec<usize> {
    let pattern = &stiffness.pattern;
    let first: Vec<usize> = (0..free).map(|j| pattern.rows[pattern.starts[j] as usize] as usize).collect();
    if first.iter().enumerate().map(|(j, f)| ((j - f) as f64).powi(2)).sum::<f64>() > MOST {
        return Vec::new();
    }
    // Columns of L above the diagonal, from their first rows on, times D until their column is done.
    let mut columns: Vec<Vec<f64>> = Vec::with_capacity(free);
    let (mut pivots, mut null) = (Vec::with_capacity(free), Vec::new());
    for j in 0..free {
        let mut column = vec![0.0; j - first[j]];
        let range = pattern.starts[j] as usize..pattern.starts[j + 1] as usize - 1;
        for k in range.clone() {
            column[pattern.rows[k] as usize - first[j]] = stiffness.values[k];
        }
        for i in first[j]..j {
            let low = first[i].max(first[j]);
            let sum: f64 = (low..i).map(|k| columns[i][k - first[i]] * column[k - first[j]]).sum();
            column[i - first[j]] -= sum;
        }
        let own = stiffness.values[range.end];
        let mut pivot = own;
        for (k, entry) in column.iter_mut().enumerate() {
            let scaled = *entry / pivots[first[j] + k];
            pivot -= scaled * *entry;
            *entry = scaled;
        }
        if pivot <= NULL * own {
            null.push(j);
            // Held from here on.
            pivot = f64::INFINITY;
        }
        pivots.push(pivot);
        columns.push(column);
    }
    null
}
