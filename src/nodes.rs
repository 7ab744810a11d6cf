//! Nodes: their reference places, and the numbers of their unknowns.
//!
//! A table that elements, contacts and results look things up in. It does not know what a model is: the numbers are given
//! to it by [`crate::system`].

use crate::la::lanes::Weave;
use crate::la::repeats::{earliest, repeating};
use std::ops::Range;

/// Marks a component that a node does not have.
pub(crate) const NONE: u32 = u32::MAX;

/// A component of a node's motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Component {
    /// Along x.
    X,
    /// Along y.
    Y,
    /// Rotation, counter-clockwise.
    Theta,
}

impl Component {
    /// Name in case files and columns.
    pub fn name(self) -> &'static str {
        ["x", "y", "theta"][self as usize]
    }

    /// The component of that name.
    pub fn find(name: &str) -> Option<Component> {
        [Component::X, Component::Y, Component::Theta].into_iter().find(|c| c.name() == name)
    }
}

/// Reference places of the nodes and the numbers of their unknowns.
pub struct Nodes {
    /// One or two.
    pub dimension: usize,
    /// Reference places.
    pub place: Vec<[f64; 2]>,
    /// Unknowns to solve for.
    pub free: usize,
    /// All degrees of freedom, the held ones included.
    pub total: usize,
    /// How free unknowns of a line are ordered; otherwise they follow the nodes.
    pub weave: Option<Weave>,
    dofs: Vec<[u32; 3]>,
    /// 1.0 for rotations, 0.0 for places.
    turns: Vec<f64>,
    repeating: Range<usize>,
    counts: [usize; 2],
}

impl Nodes {
    /// Nodes at these places with these numbers for x, y and rotation ([`NONE`] where there is no such component): the
    /// first `free` of `total` are unknowns, the rest is held.
    pub(crate) fn new(
        dimension: usize,
        place: Vec<[f64; 2]>,
        dofs: Vec<[u32; 3]>,
        [free, total]: [usize; 2],
        weave: Option<Weave>,
    ) -> Nodes {
        let mut turns = vec![0.0; total];
        for numbers in &dofs {
            if numbers[Component::Theta as usize] != NONE {
                turns[numbers[Component::Theta as usize] as usize] = 1.0;
            }
        }
        let turning = turns[..free].iter().filter(|turn| **turn != 0.0).count();
        Nodes {
            dimension,
            place,
            free,
            total,
            weave,
            counts: [free - turning, turning],
            repeating: repeating(&turns),
            turns,
            dofs,
        }
    }

    /// Whether a degree of freedom is a rotation.
    pub fn is_rotation(&self, dof: usize) -> bool {
        self.turns[dof] != 0.0
    }

    /// Of some degrees of freedom, 1.0 for every one that is a rotation, 0.0 for others.
    pub fn turns(&self, dofs: Range<usize>) -> &[f64] {
        earliest(&self.turns, &self.repeating, dofs)
    }

    /// Unknowns that are no rotations, and those that are.
    pub fn counts(&self) -> [usize; 2] {
        self.counts
    }

    /// Number of a degree of freedom that is known to exist.
    ///
    /// # Panics
    /// If the node has no such component.
    pub fn dof(&self, node: usize, component: Component) -> u32 {
        let dof = self.dofs[node][component as usize];
        assert!(dof != NONE, "node {node} has no component {}", component.name());
        dof
    }

    /// Number of a degree of freedom, if the node has it.
    pub fn find(&self, node: usize, component: Component) -> Option<usize> {
        let dof = self.dofs[node][component as usize];
        (dof != NONE).then_some(dof as usize)
    }

    /// The translations of a node in a vector over all degrees of freedom.
    pub fn translation(&self, node: usize, x: &[f64]) -> [f64; 2] {
        [Component::X, Component::Y].map(|c| self.find(node, c).map_or(0.0, |dof| x[dof]))
    }

    /// Whether a translation of a node is free.
    pub fn can_move(&self, node: usize) -> bool {
        [Component::X, Component::Y].iter().any(|&c| self.find(node, c).is_some_and(|dof| dof < self.free))
    }

    /// Place of a node at displacement `q`.
    pub fn place_at(&self, node: usize, q: &[f64]) -> [f64; 2] {
        let (place, moved) = (self.place[node], self.translation(node, q));
        [place[0] + moved[0], place[1] + moved[1]]
    }

    /// Node and component of a degree of freedom, for messages.
    pub fn owner(&self, dof: usize) -> (usize, Component) {
        for (node, numbers) in self.dofs.iter().enumerate() {
            for component in [Component::X, Component::Y, Component::Theta] {
                if numbers[component as usize] == dof as u32 {
                    return (node, component);
                }
            }
        }
        unreachable!("every degree of freedom has an owner")
    }

    /// Length and unit vector of every line. Lines that follow each other and that rounded places cannot tell apart are equal
    /// parts of the way from the first node to the last, to the bit: what is made of them needs to be kept only once.
    pub fn lines(&self, lines: &[[usize; 2]]) -> Vec<(f64, [f64; 2])> {
        let far = lines.iter().flatten().flat_map(|&node| self.place[node]).fold(0.0, |far: f64, x| far.max(x.abs()));
        let mut all = Vec::with_capacity(lines.len());
        while let [first, rest @ ..] = &lines[all.len()..] {
            let [x, y] = self.way(*first);
            // Where places are so coarse that lines of any direction could be the same, each keeps its own.
            let rounding = (4.0 * f64::EPSILON * far).min(1e-6 * x.abs().max(y.abs()));
            let equal = |next: &[usize; 2]| {
                let way = self.way(*next);
                (way[0] - x).abs().max((way[1] - y).abs()) <= rounding
            };
            let follows = |k: &usize| lines[all.len() + k][1] == rest[*k][0] && equal(&rest[*k]);
            let count = 1 + (0..rest.len()).take_while(follows).count();
            let last = lines[all.len() + count - 1][1];
            let way = self.way([first[0], last]);
            all.extend(std::iter::repeat_n(self.length(way.map(|x| x / count as f64)), count));
        }
        all
    }

    /// Length and unit vector of a line between two nodes.
    pub fn line(&self, line: [usize; 2]) -> (f64, [f64; 2]) {
        self.length(self.way(line))
    }

    fn way(&self, [a, b]: [usize; 2]) -> [f64; 2] {
        [self.place[b][0] - self.place[a][0], self.place[b][1] - self.place[a][1]]
    }

    /// Length and unit vector of a way.
    fn length(&self, d: [f64; 2]) -> (f64, [f64; 2]) {
        // In one dimension the exact difference, so that scaled units give scaled bits.
        let length = if self.dimension == 1 { d[0].abs() } else { d[0].hypot(d[1]) };
        (length, [d[0] / length, d[1] / length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(dimension: usize, place: Vec<[f64; 2]>) -> Nodes {
        Nodes::new(dimension, place, Vec::new(), [0, 0], None)
    }

    #[test]
    fn equal_lines_have_equal_bits_and_their_sum_is_the_way() {
        let corner = |s: f64| if s < 1.0 { [3.7 + 0.3 * s, 1.2 - 0.4 * s] } else { [4.0 + (s - 1.0), 0.8] };
        // Every second line of the third way is longer by a hundredth; the fourth has gaps; the last goes to and fro, where
        // places are no closer to each other than a line is long.
        let uneven = |s: f64| [s + if ((s * 1000.0).round() as usize).is_multiple_of(2) { 0.0 } else { 1e-5 }, 0.0];
        for (dimension, kinds, way, gaps) in [
            (1, 1, &(|s: f64| [0.1 + s / 3.0, 0.0]) as &dyn Fn(f64) -> [f64; 2], 1),
            (2, 2, &corner, 1),
            (2, 2000, &uneven, 1),
            (1, 1, &(|s: f64| [s, 0.0]), 2),
            (
                2,
                2000,
                &|s: f64| [1e13 + if ((s * 1000.0).round() as usize).is_multiple_of(2) { 0.0 } else { 0.002 }, 0.0],
                1,
            ),
        ] {
            let nodes = nodes(dimension, (0..=2000).map(|i| way(f64::from(i) / 1000.0)).collect());
            let lines: Vec<[usize; 2]> = (0..2000).step_by(gaps).map(|i| [i, i + 1]).collect();
            let all = nodes.lines(&lines);
            let changes = all.windows(2).filter(|pair| pair[0] != pair[1]).count();
            // Lines that do not follow each other keep their own rounding.
            assert!(gaps > 1 || changes + 1 == kinds, "{changes} changes");
            let (mut sum, mut worst) = (0.0, 0.0_f64);
            for (own, &line) in all.iter().zip(&lines) {
                let (length, direction) = nodes.line(line);
                worst = worst.max((own.0 - length).abs()).max((own.1[0] - direction[0]).abs() * length);
                sum += own.0;
            }
            let whole: f64 = lines.iter().map(|&line| nodes.line(line).0).sum();
            assert!((sum - whole).abs() < 1e-13 * whole && worst < 4e-15, "{sum} {whole} {worst:e}");
        }
    }
}
