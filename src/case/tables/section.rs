//! `section` of a body.

use crate::keys::*;

table! {
    /// Cross-section, by shape or, without `shape`, by its values
    Section("section") {
        /// Shape; absent for direct values
        shape: Option<String> as Tag(shapes);
        /// Width; that of the flanges of an I
        width: Option<f64> as Number(POSITIVE);
        /// Height over all, in the plane
        height: Option<f64> as Number(POSITIVE);
        /// Outer radius
        radius: Option<f64> as Number(POSITIVE);
        /// Wall thickness
        thickness: Option<f64> as Number(POSITIVE);
        /// Thickness of the web
        web: Option<f64> as Number(POSITIVE);
        /// Thickness of a flange
        flange: Option<f64> as Number(POSITIVE);
        /// Area
        area: Option<f64> as Number(POSITIVE);
        /// Second moment of area, for beams
        inertia: Option<f64> as Number(POSITIVE);
        /// Shear area, for beams
        shear_area: Option<f64> as Number(POSITIVE);
        /// Overrides the shape's shear factor: 5/6 for a rectangle; for circle and tube Cowper's
        /// 6(1+ν)(1+m²)²/((7+6ν)(1+m²)² + (20+12ν)m²) with m inner over outer radius and ν from `poisson`, or
        /// `young`/(2 `shear`) − 1; web·height/area for an I
        shear_factor: Option<f64> as Number(POSITIVE);
    }
}

fn shapes() -> Vec<Variant> {
    let shape = |name, doc, required, optional| Section::TABLE.variant((name, doc), (required, optional), &[]);
    vec![
        shape("", "direct values", &["area"], &["inertia", "shear_area"]),
        shape("rectangle", "full rectangle", &["width", "height"], &[]),
        shape("circle", "full circle", &["radius"], &[]),
        shape("tube", "circular tube", &["radius", "thickness"], &[]),
        shape("i", "doubly symmetric I", &["width", "height", "web", "flange"], &[]),
    ]
}

impl Default for Section {
    fn default() -> Self {
        empty()
    }
}
