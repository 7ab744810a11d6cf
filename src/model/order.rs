//! Order of bodies on a line: which body is below which in a contact `between` in one dimension.
//!
//! Bodies on a line cannot pass each other, so the order at the start decides for the whole run. It depends on positions
//! and velocities at the start only, never on the order in which the case names bodies or sides.

use super::{Body, Component, Model, references};
use crate::{Error, Result};
use std::cmp::Reverse;

/// Positions closer than this part of the model's size coincide, and velocities closer than this part of the largest.
const ROUNDING: f64 = 1e-9;

/// The nodes of one body that take part in a contact, by their lowest and highest.
struct Part<'a> {
    body: &'a Body,
    /// Whether the part belongs to the first side of `between`, and to the second.
    sides: [bool; 2],
    low: usize,
    high: usize,
}

impl Part<'_> {
    /// Whether the parts are on opposite sides of `between`.
    fn faces(&self, other: &Part) -> bool {
        (self.sides[0] && other.sides[1]) || (self.sides[1] && other.sides[0])
    }
}

/// Positions and velocities of all nodes at the start, and the distance within which positions coincide.
struct LineStart {
    x: Vec<f64>,
    v: Vec<f64>,
    slack: f64,
}

impl Model {
    /// Pairs of nodes of neighbouring bodies, each with the node below it, in the order of their positions.
    ///
    /// Parts of bodies are ordered by the positions of their lowest and highest node. Parts at one position are ordered by
    /// the middle of the whole body, and if that is the same too, by the velocity: the faster one is below. Fails if bodies
    /// overlap, if their order cannot be told, and if there are not two bodies.
    pub(super) fn in_order(&self, contact: &str, nodes: &[usize], others: &[usize]) -> Result<Vec<[usize; 2]>> {
        let fail = |text: String| {
            Err(Error::Value {
                path: format!("contact.{contact}.between"),
                text: format!("contact `{contact}`: {text}"),
            })
        };
        let start = self.start();
        let mut parts = self.parts(&start, [nodes, others]);
        let position = |node: usize| start.x[node];
        let ends = ranks(parts.iter().flat_map(|part| [position(part.low), position(part.high)]), start.slack);
        let middles = ranks(
            parts.iter().map(|part| {
                let [low, high] = references::bounds(part.body.nodes.clone().map(|node| [position(node), 0.0]));
                0.5 * (low[0] + high[0])
            }),
            start.slack,
        );
        let fastest = start.v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        let velocity = |part: &Part| 0.5 * (start.v[part.low] + start.v[part.high]);
        let velocities = ranks(parts.iter().map(velocity), ROUNDING * fastest);
        let keys = |k: usize| (ends[2 * k], ends[2 * k + 1], middles[k], Reverse(velocities[k]));
        let mut keyed: Vec<_> = parts.drain(..).enumerate().map(|(k, part)| (keys(k), part)).collect();
        keyed.sort_by_key(|(key, _)| *key);

        for pair in keyed.windows(2) {
            let [(below_key, below), (above_key, above)] = pair else { continue };
            let names = format!("`{}` and `{}`", below.body.name, above.body.name);
            if below_key.1 > above_key.0 {
                return fail(format!("{names} overlap at the start"));
            }
            // Bodies that a joint holds together need no order between them.
            let [a, b] = [below.low, above.low];
            let joined = self.joints.iter().any(|joint| joint.nodes == [a, b] || joint.nodes == [b, a]);
            if below_key == above_key && !joined {
                return fail(format!(
                    "{names} are at the same position with the same velocity at the start, so that their order cannot be \
                     told; move one of them to the side where it belongs"
                ));
            }
        }
        let facing = keyed.windows(2).filter(|pair| pair[0].1.faces(&pair[1].1));
        let pairs: Vec<[usize; 2]> = facing.map(|pair| [pair[1].1.low, pair[0].1.high]).collect();
        if pairs.is_empty() {
            return fail("`between` needs nodes of two bodies".into());
        }
        Ok(pairs)
    }

    /// Positions and velocities along x at the start; supports overrule initial fields.
    fn start(&self) -> LineStart {
        let mut x: Vec<f64> = self.displacement.iter().map(|u| u[0]).collect();
        let mut v: Vec<f64> = self.velocity.iter().map(|v| v[0]).collect();
        for support in &self.supports {
            for &node in &support.nodes {
                if support.fix.contains(&Component::X) {
                    [x[node], v[node]] = [0.0; 2];
                }
                for (_, motion) in support.motion.iter().filter(|(component, _)| *component == Component::X) {
                    [x[node], v[node]] = [motion.value(0.0), motion.rate(0.0)];
                }
            }
        }
        x.iter_mut().zip(&self.places).for_each(|(x, place)| *x += place[0]);
        let farthest = x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        // Far from the origin, rounding of the positions themselves counts too.
        let slack = ROUNDING * references::diagonal(x.iter().map(|&x| [x, 0.0])) + 16.0 * f64::EPSILON * farthest;
        LineStart { x, v, slack }
    }

    /// The parts of all bodies in both sides; parts of one body that have a position in common are one.
    fn parts(&self, start: &LineStart, sides: [&[usize]; 2]) -> Vec<Part<'_>> {
        let by_position = |a: &usize, b: &usize| start.x[*a].total_cmp(&start.x[*b]);
        let mut parts = Vec::new();
        for body in &self.bodies {
            let part = |side: usize| {
                let own = || sides[side].iter().copied().filter(|node| body.nodes.contains(node));
                let (low, high) = own().min_by(by_position).zip(own().max_by(by_position))?;
                Some(Part { body, sides: [side == 0, side == 1], low, high })
            };
            match [part(0), part(1)] {
                [Some(a), Some(b)]
                    if start.x[a.low] <= start.x[b.high] + start.slack
                        && start.x[b.low] <= start.x[a.high] + start.slack =>
                {
                    let low = [a.low, b.low].into_iter().min_by(by_position).unwrap_or(a.low);
                    let high = [a.high, b.high].into_iter().max_by(by_position).unwrap_or(a.high);
                    parts.push(Part { body, sides: [true; 2], low, high });
                }
                own => parts.extend(own.into_iter().flatten()),
            }
        }
        parts
    }
}

/// Ranks of values from below; a value within `slack` of the next lower one has its rank, so that equality is transitive.
fn ranks(values: impl Iterator<Item = f64>, slack: f64) -> Vec<usize> {
    let values: Vec<f64> = values.collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0; values.len()];
    for pair in order.windows(2) {
        ranks[pair[1]] = ranks[pair[0]] + usize::from(values[pair[1]] - values[pair[0]] > slack);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::ranks;

    #[test]
    fn values_within_the_slack_share_a_rank() {
        assert_eq!(ranks([3.0, 1.0, 2.0, 1.0 + 1e-12].into_iter(), 1e-9), [2, 0, 1, 0]);
        assert_eq!(ranks([0.3, 0.1 * 3.0].into_iter(), 0.0), [0, 1], "no slack, no equality");
        // A chain of close values has one rank, whatever the order in which they are given.
        assert_eq!(ranks([1.2, 0.0, 0.6].into_iter(), 1.0), [0, 0, 0]);
    }
}
