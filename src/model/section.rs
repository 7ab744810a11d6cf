//! Cross-sections: area, second moment and shear factor from a named shape or from direct values.

use crate::case::data::Section;

/// What an element needs to know of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SectionValues {
    /// Area.
    pub area: f64,
    /// Second moment of area about the axis normal to the plane.
    pub inertia: f64,
    /// Shear area.
    pub shear_area: f64,
    /// Half the height in the plane.
    pub half_height: f64,
}

/// Values of a section that the checker has accepted; what an absent value would give is zero.
pub fn values(section: &Section) -> SectionValues {
    let number = |value: Option<f64>| value.unwrap_or(0.0);
    let (area, inertia, factor, half_height) = match section.shape.as_deref() {
        Some("rectangle") => {
            let (b, d) = (number(section.width), number(section.height));
            (b * d, b * d * d * d / 12.0, 5.0 / 6.0, d / 2.0)
        }
        Some("circle") => {
            let r = number(section.radius);
            let area = std::f64::consts::PI * r * r;
            (area, area * r * r / 4.0, 0.9, r)
        }
        Some("tube") => {
            let outer = number(section.radius);
            let inner = outer - number(section.thickness);
            let area = std::f64::consts::PI * (outer * outer - inner * inner);
            (area, area * (outer * outer + inner * inner) / 4.0, 0.5, outer)
        }
        Some("i") => {
            let (b, d) = (number(section.width), number(section.height));
            let (web, flange) = (number(section.web), number(section.flange));
            let inside = d - 2.0 * flange;
            let area = 2.0 * b * flange + web * inside;
            let inertia = (b * d * d * d - (b - web) * inside * inside * inside) / 12.0;
            // The web carries the shear of an I.
            (area, inertia, web * d / area, d / 2.0)
        }
        _ => {
            let (area, inertia) = (number(section.area), number(section.inertia));
            // Without a shape the radius of gyration is all that is known of the height: that of a rectangle.
            let half_height = if area > 0.0 { (3.0 * inertia / area).sqrt() } else { 0.0 };
            (area, inertia, number(section.shear_area) / area, half_height)
        }
    };
    SectionValues { area, inertia, shear_area: section.shear_factor.unwrap_or(factor) * area, half_height }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_agree_with_their_textbook_values() {
        let rectangle =
            Section { shape: Some("rectangle".into()), width: Some(2.0), height: Some(3.0), ..Default::default() };
        assert_eq!(values(&rectangle), SectionValues { area: 6.0, inertia: 4.5, shear_area: 5.0, half_height: 1.5 });
        let tube =
            Section { shape: Some("tube".into()), radius: Some(1.0), thickness: Some(1.0), ..Default::default() };
        let circle = Section { shape: Some("circle".into()), radius: Some(1.0), ..Default::default() };
        assert_eq!(values(&tube).inertia, values(&circle).inertia, "a tube without a hole is a circle");
        assert!((values(&circle).inertia - std::f64::consts::PI / 4.0).abs() < 1e-15);
        // An I whose web is as wide as its flanges is a rectangle.
        let i = Section {
            shape: Some("i".into()),
            width: Some(2.0),
            height: Some(3.0),
            web: Some(2.0),
            flange: Some(0.5),
            ..Default::default()
        };
        assert_eq!((values(&i).area, values(&i).inertia), (6.0, 4.5));
        assert_eq!(values(&Section { shear_factor: Some(0.5), ..rectangle }).shear_area, 3.0);
    }
}
