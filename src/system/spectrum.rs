//! Natural frequencies of a system about its initial state.

use super::System;
use crate::la::{Factor, Singular, lanczos};

impl System {
    /// The highest natural frequency (radians per unit of time) about the initial state, to about four digits;
    /// zero without stiffness. Massless degrees of freedom follow the others in equilibrium.
    pub fn highest_frequency(&self) -> Result<f64, Singular> {
        let (n, free) = (self.nodes.total, self.nodes.free);
        let mut factor = Factor::new(&self.mass.pattern, free);
        factor.factor(&self.regular_mass())?;
        let mut massless = self.massless_factor()?;
        let (mut full, mut image, mut scratch) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let operator = |x: &[f64], y: &mut [f64]| {
            full[..free].copy_from_slice(x);
            image.fill(0.0);
            if let Some(massless) = &mut massless {
                self.follow(massless, &mut full, &mut image, &mut scratch);
                image.fill(0.0);
            }
            self.add_stiffness_times(&self.q0, &full, 1.0, &mut scratch, &mut image);
            factor.solve(&mut image);
            y.copy_from_slice(&image[..free]);
        };
        let (mut padded, mut momentum) = (vec![0.0; n], vec![0.0; n]);
        let metric = |x: &[f64], y: &mut [f64]| {
            padded[..free].copy_from_slice(x);
            self.mass.multiply(&padded, &mut momentum);
            y.copy_from_slice(&momentum[..free]);
        };
        // Each vector takes a few passes over a large system; the top of its spectrum is found early.
        let dimension = if free > 100_000 { 25 } else { 80 };
        Ok(lanczos::largest(free, dimension, operator, metric).max(0.0).sqrt())
    }
}
