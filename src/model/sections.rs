//! What a history is asked for beyond its usual columns: sections of bodies, and forces of single contact nodes.

use super::{Body, Model, Section};
use crate::case::data::{self, SectionOutput};
use crate::{Error, Result};

/// Part of a body's length by which a distance may be beyond its end, for rounding.
const ROUNDING: f64 = 1e-9;

/// Contact nodes that may have a column each.
const MOST_NODES: usize = 1000;

/// Refuses columns for every node where there are none of its own, or too many.
pub(super) fn check_per_node(contact: &data::Contact, nodes: usize) -> Result<()> {
    let refuse = |text: String| {
        let path = format!("contact.{}.per_node", contact.name);
        Err(Error::Value { path, text: format!("contact `{}`: {text}", contact.name) })
    };
    if contact.per_node == Some(true) && contact.between.is_some() {
        return refuse("`per_node` goes with `nodes` and an obstacle, not with `between`".into());
    }
    if contact.per_node == Some(true) && nodes > MOST_NODES {
        return refuse(format!("`per_node` would make {nodes} columns; at most {MOST_NODES} are allowed"));
    }
    Ok(())
}

impl Model {
    /// The element that a section cuts.
    pub(super) fn cut(&self, section: &SectionOutput) -> Result<Section> {
        let wrong = |key: &str, text: String| Error::Value {
            path: format!("output.sections.{}.{key}", section.name),
            text: format!("section `{}`: {text}", section.name),
        };
        let Some(body) = self.bodies.iter().position(|body| body.name == section.body) else {
            return Err(wrong("body", format!("there is no body `{}`", section.body)));
        };
        let Body { lines, nodes, properties, .. } = &self.bodies[body];
        if nodes.is_empty() || lines.is_empty() || properties.section.area == 0.0 {
            return Err(wrong("body", format!("`{}` has no section; allowed: bars and beams", section.body)));
        }
        if lines.windows(2).any(|pair| pair[0][1] != pair[1][0]) {
            let text = format!(
                "the elements of `{}` are not one row, so that no distance along them says where",
                section.body
            );
            return Err(wrong("body", text));
        }
        let length = |line: &[usize; 2]| {
            let [a, b] = line.map(|node| self.places[node]);
            (b[0] - a[0]).hypot(b[1] - a[1])
        };
        let total: f64 = lines.iter().map(length).sum();
        if section.distance > total * (1.0 + ROUNDING) {
            return Err(wrong(
                "distance",
                format!("{} is beyond the end of `{}`, which is {total} long", section.distance, section.body),
            ));
        }
        let mut start = 0.0;
        for (element, line) in lines.iter().enumerate() {
            let end = start + length(line);
            if section.distance <= end || element + 1 == lines.len() {
                let beyond = section.distance.min(end) - 0.5 * (start + end);
                return Ok(Section { name: section.name.clone(), body, element, beyond });
            }
            start = end;
        }
        unreachable!("the last element takes what the others do not")
    }
}
