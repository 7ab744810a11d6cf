//! A frame that owns its arrays, so that it can go to another thread.

use super::{Array, Frame};

/// A copy of a [`Frame`]; filled again, it keeps its memory.
#[derive(Debug, Default)]
pub struct Snapshot {
    points: Vec<[f64; 3]>,
    lines: Vec<[u32; 2]>,
    quads: Vec<[u32; 4]>,
    vertices: Vec<u32>,
    point_data: Vec<Owned>,
    cell_data: Vec<Owned>,
    field_data: Vec<(String, f64)>,
}

#[derive(Debug, Default)]
struct Owned {
    name: String,
    components: usize,
    values: Vec<f64>,
}

impl Snapshot {
    /// Copies a frame.
    pub fn fill(&mut self, frame: &Frame) {
        copy(&mut self.points, frame.points);
        copy(&mut self.lines, frame.lines);
        copy(&mut self.quads, frame.quads);
        copy(&mut self.vertices, frame.vertices);
        copy_arrays(&mut self.point_data, frame.point_data);
        copy_arrays(&mut self.cell_data, frame.cell_data);
        self.field_data.clear();
        self.field_data.extend(frame.field_data.iter().map(|&(name, value)| (name.to_string(), value)));
    }

    /// Shows the copy as a frame.
    pub fn with_frame<T>(&self, see: impl FnOnce(&Frame) -> T) -> T {
        let (point_data, cell_data) = (arrays(&self.point_data), arrays(&self.cell_data));
        let field_data: Vec<(&str, f64)> =
            self.field_data.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        see(&Frame {
            points: &self.points,
            lines: &self.lines,
            quads: &self.quads,
            vertices: &self.vertices,
            point_data: &point_data,
            cell_data: &cell_data,
            field_data: &field_data,
        })
    }
}

fn copy<T: Copy>(own: &mut Vec<T>, values: &[T]) {
    own.clear();
    own.extend_from_slice(values);
}

fn copy_arrays(own: &mut Vec<Owned>, arrays: &[Array]) {
    own.resize_with(arrays.len(), Owned::default);
    for (own, array) in own.iter_mut().zip(arrays) {
        own.name.clear();
        own.name.push_str(array.name);
        own.components = array.components;
        copy(&mut own.values, array.values);
    }
}

fn arrays(own: &[Owned]) -> Vec<Array<'_>> {
    own.iter().map(|own| Array { name: &own.name, components: own.components, values: &own.values }).collect()
}
