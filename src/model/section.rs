//! Cross-sections: area, second moment and shear factor from a named shape or from direct values.
//!
//! Default shear factors: rectangle 5/6; circle and tube by one formula of Cowper, `round_shear_factor`; I: the share of
//! the web, web · height / area.

use crate::case::data::Section;
use crate::elements::SectionValues;

impl SectionValues {
    /// Area and section modulus (second moment over half height), for stresses; zero where there is none.
    pub fn area_and_modulus(&self) -> [f64; 2] {
        [self.area, if self.half_height > 0.0 { self.inertia / self.half_height } else { 0.0 }]
    }
}

/// Shear factor of a circular section with a concentric hole, `hole` the inner radius over the outer one: Cowper (1966),
/// doi:10.1115/1.3625046. It is 6(1+ν)/(7+6ν) without a hole and tends to 2(1+ν)/(4+3ν) for a thin wall.
fn round_shear_factor(hole: f64, poisson: f64) -> f64 {
    let m2 = hole * hole;
    let square = (1.0 + m2) * (1.0 + m2);
    6.0 * (1.0 + poisson) * square / ((7.0 + 6.0 * poisson) * square + (20.0 + 12.0 * poisson) * m2)
}

/// Values of a section that the checker has accepted, in a material of Poisson's ratio `poisson`, on which the shear factor
/// of round sections depends; what an absent value would give is zero.
pub fn values(section: &Section, poisson: f64) -> SectionValues {
    let number = |value: Option<f64>| value.unwrap_or(0.0);
    let (area, inertia, factor, half_height) = match section.shape.as_deref() {
        Some("rectangle") => {
            let (b, d) = (number(section.width), number(section.height));
            (b * d, b * d * d * d / 12.0, 5.0 / 6.0, d / 2.0)
        }
        Some("circle") => {
            let r = number(section.radius);
            let area = std::f64::consts::PI * r * r;
            (area, area * r * r / 4.0, round_shear_factor(0.0, poisson), r)
        }
        Some("tube") => {
            let outer = number(section.radius);
            let inner = outer - number(section.thickness);
            let area = std::f64::consts::PI * (outer * outer - inner * inner);
            let factor = round_shear_factor(inner / outer, poisson);
            (area, area * (outer * outer + inner * inner) / 4.0, factor, outer)
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
        assert_eq!(
            values(&rectangle, 0.3),
            SectionValues { area: 6.0, inertia: 4.5, shear_area: 5.0, half_height: 1.5 }
        );
        let tube =
            Section { shape: Some("tube".into()), radius: Some(1.0), thickness: Some(1.0), ..Default::default() };
        let circle = Section { shape: Some("circle".into()), radius: Some(1.0), ..Default::default() };
        for poisson in [0.0, 0.3, 0.5] {
            assert_eq!(values(&tube, poisson), values(&circle, poisson), "a tube without a hole is a circle");
        }
        assert!((values(&circle, 0.3).inertia - std::f64::consts::PI / 4.0).abs() < 1e-15);
        // An I whose web is as wide as its flanges is a rectangle.
        let i = Section {
            shape: Some("i".into()),
            width: Some(2.0),
            height: Some(3.0),
            web: Some(2.0),
            flange: Some(0.5),
            ..Default::default()
        };
        assert_eq!((values(&i, 0.3).area, values(&i, 0.3).inertia), (6.0, 4.5));
        assert_eq!(values(&Section { shear_factor: Some(0.5), ..rectangle }, 0.3).shear_area, 3.0);
    }

    /// The limits that Cowper (1966) tabulates, at ν = 0.3: circle 0.886, thin-walled tube 0.531.
    #[test]
    fn round_shear_factors_have_cowpers_limits() {
        assert!((round_shear_factor(0.0, 0.3) - 7.8 / 8.8).abs() < 1e-15);
        assert!((round_shear_factor(1.0, 0.3) - 2.6 / 4.9).abs() < 1e-15);
        let factors: Vec<f64> = (0..=10).map(|k| round_shear_factor(0.1 * k as f64, 0.3)).collect();
        assert!(factors.windows(2).all(|pair| pair[1] < pair[0]), "{factors:?}");
    }
}
