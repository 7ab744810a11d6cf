//! `animation.json` read back.

use super::{Scene, Still};
use crate::files::{exists, read_text};
use crate::{Error, Result};
use serde::Deserialize;
use std::path::Path;

/// File name in the output directory.
pub const FILE: &str = "animation.json";

/// The thinned frames of a run, with what they show.
#[derive(Clone, Debug, Deserialize)]
pub struct Recording {
    /// What is drawn.
    pub scene: Scene,
    /// Its instants, at least one.
    pub frames: Vec<Still>,
}

impl Recording {
    /// The frames of the run in a directory, and their text; an error says what is missing or does not fit.
    pub fn read(dir: &Path) -> Result<(Recording, String)> {
        let path = dir.join(FILE);
        let broken = |what: String| Error::Input(format!("{}: {what}", path.display()));
        if !exists(&path)? {
            let cause = "the run was made with output.report = false; run the case again without that";
            return Err(broken(format!("there is no such file: {cause}")));
        }
        let text = read_text(&path)?;
        let recording: Recording = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
        recording.check().map_err(broken)?;
        Ok((recording, text))
    }

    /// Whether what the frames and the scene refer to is there.
    fn check(&self) -> std::result::Result<(), String> {
        let scene = &self.scene;
        let (nodes, segments) = (scene.places.len(), scene.segments.len());
        if self.frames.is_empty() {
            return Err("there is no frame".into());
        }
        if !(1..=2).contains(&scene.dimension) {
            return Err(format!("`dimension` is {}, but must be 1 or 2", scene.dimension));
        }
        let named = [
            ("a segment ends", scene.segments.as_flattened().iter().max()),
            ("a support is", scene.supports.iter().max()),
            ("a probe is", scene.probes.iter().map(|probe| &probe.node).max()),
        ];
        if let Some((what, node)) =
            named.into_iter().find_map(|(what, node)| Some((what, *node.filter(|k| **k >= nodes)?)))
        {
            return Err(format!("{what} at node {node}, but there are {nodes} nodes"));
        }
        for body in &scene.bodies {
            for (what, [first, count], all) in [("nodes", body.nodes, nodes), ("segments", body.segments, segments)] {
                if first.checked_add(count).is_none_or(|end| end > all) {
                    return Err(format!(
                        "body `{}` has {count} {what} from {first} on, but there are {all}",
                        body.name
                    ));
                }
            }
        }
        let mut before = f64::NEG_INFINITY;
        for (k, still) in self.frames.iter().enumerate() {
            scene.accepts(still).map_err(|what| format!("frame {k}: {what}"))?;
            if still.t < std::mem::replace(&mut before, still.t) {
                return Err(format!("frame {k}: its time {} is before that of the last one", still.t));
            }
            if !still.o.is_empty() && still.o.len() != scene.obstacles.len() {
                return Err(format!(
                    "frame {k}: {} obstacles moved, but there are {}",
                    still.o.len(),
                    scene.obstacles.len()
                ));
            }
        }
        Ok(())
    }
}
