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
        let mut scratch = vec![0.0; n];
        let mut full = vec![0.0; n];
        let operator = |x: &[f64], y: &mut [f64]| {
            full[..free].copy_from_slice(x);
            let mut image = vec![0.0; n];
            if let Some(massless) = &mut massless {
                self.follow(massless, &mut full, &mut image, &mut scratch);
                image.fill(0.0);
            }
            self.add_stiffness_times(&self.q0, &full, 1.0, &mut scratch, &mut image);
            factor.solve(&mut image);
            y.copy_from_slice(&image[..free]);
        };
        let metric = |x: &[f64], y: &mut [f64]| {
            let mut padded = vec![0.0; n];
            padded[..free].copy_from_slice(x);
            let mut image = vec![0.0; n];
            self.mass.multiply(&padded, &mut image);
            y.copy_from_slice(&image[..free]);
        };
        // The basis of a large system is what costs memory; the top of its spectrum is found early.
        let dimension = if free > 100_000 { 25 } else { 80 };
        let top = lanczos::largest(free, 1, dimension, operator, metric);
        Ok(top.first().map_or(0.0, |(value, _)| value.max(0.0).sqrt()))
    }
}
