//! Names of node sets: bodies, `body.start`, Gmsh groups and the case's own `[[set]]` tables.

use crate::case::data::Set;
use crate::{Error, Result};
use std::collections::BTreeMap;

/// All node sets of a model by name.
#[derive(Default)]
pub(super) struct NodeSets(BTreeMap<String, Vec<usize>>);

impl NodeSets {
    pub fn add(&mut self, name: String, nodes: Vec<usize>) {
        self.0.insert(name, nodes);
    }

    /// The nodes of a set; `what` says in a message who asked.
    pub fn get(&self, name: &str, what: &str) -> Result<&[usize]> {
        self.0.get(name).map(Vec::as_slice).ok_or_else(|| {
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            let near = known.iter().max_by(|a, b| strsim::jaro(a, name).total_cmp(&strsim::jaro(b, name)));
            let hint = near.filter(|n| strsim::jaro(n, name) > 0.8).map(|n| format!("; did you mean `{n}`?"));
            Error::Input(format!(
                "{what}: there is no body or node set `{name}`{}\n  known: {}",
                hint.unwrap_or_default(),
                known.join(", ")
            ))
        })
    }

    /// The single node of a set.
    pub fn one(&self, name: &str, what: &str) -> Result<usize> {
        match self.get(name, what)? {
            &[node] => Ok(node),
            nodes => Err(Error::Input(format!("{what}: `{name}` has {} nodes, but one is needed", nodes.len()))),
        }
    }

    /// Adds a set of the case.
    pub fn add_set(&mut self, set: &Set, places: &[[f64; 2]]) -> Result<()> {
        let what = format!("set `{}`", set.name);
        let mut nodes: Vec<usize> = if let Some(point) = &set.nearest {
            let found = nearest(point, places);
            let size = diagonal(places.iter().copied());
            if let Some(&(node, distance)) = found.first()
                && distance > size
                && size > 0.0
            {
                let [x, y] = places[node];
                let place = if point.len() == 1 { format!("{x}") } else { format!("{x}, {y}") };
                return Err(Error::Value {
                    path: format!("set.{}.nearest", set.name),
                    text: format!(
                        "{what}: the nearest node, at ({place}), is {distance:.4e} away, farther than the whole model is \
                         long ({size:.4e}); give a place on a body"
                    ),
                });
            }
            found.first().map(|&(node, _)| node).into_iter().collect()
        } else if let Some(names) = &set.nodes {
            let mut all = Vec::new();
            for name in names {
                all.extend(self.get(name, &what)?);
            }
            all.sort_unstable();
            all.dedup();
            all
        } else {
            let corners = set.r#box.as_deref().unwrap_or(&[]);
            let inside = |place: &[f64; 2]| {
                (0..corners[0].len()).all(|k| {
                    let (a, b) = (corners[0][k], corners[1][k]);
                    place[k] >= a.min(b) && place[k] <= a.max(b)
                })
            };
            (0..places.len()).filter(|&i| inside(&places[i])).collect()
        };
        nodes = nodes.into_iter().step_by(set.every).collect();
        if nodes.is_empty() {
            return Err(Error::Input(format!("{what} has no nodes")));
        }
        self.add(set.name.clone(), nodes);
        Ok(())
    }
}

/// Part of the size of a model within which two distances are equal but for rounding.
const TIE: f64 = 1e-9;

/// The nodes nearest to a point, each with its distance: one, unless others are as near; among equals in the order of the
/// bodies.
pub(crate) fn nearest(point: &[f64], places: &[[f64; 2]]) -> Vec<(usize, f64)> {
    let y = point.get(1).copied().unwrap_or(0.0);
    let distance = |place: &[f64; 2]| (place[0] - point[0]).hypot(place[1] - y);
    let least = places.iter().map(distance).fold(f64::INFINITY, f64::min);
    let limit = least + TIE * diagonal(places.iter().copied());
    let all = places.iter().enumerate().map(|(node, place)| (node, distance(place)));
    let mut found: Vec<(usize, f64)> = all.filter(|(_, d)| *d <= limit).collect();
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    found
}

/// Diagonal of the box around some points; zero for none.
pub(crate) fn diagonal(points: impl Iterator<Item = [f64; 2]>) -> f64 {
    let [low, high] = bounds(points);
    if low[0] > high[0] { 0.0 } else { (high[0] - low[0]).hypot(high[1] - low[1]) }
}

/// Lower left and upper right corner of the box around some points.
pub(super) fn bounds(points: impl Iterator<Item = [f64; 2]>) -> [[f64; 2]; 2] {
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for point in points {
        for k in 0..2 {
            low[k] = low[k].min(point[k]);
            high[k] = high[k].max(point[k]);
        }
    }
    [low, high]
}
