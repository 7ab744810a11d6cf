//! Natural frequencies against closed forms and against the independent ones of `data/beam-elements.json`.

use crate::common::history::build;
use crate::common::reference;
use carom::modes::{Mode, lowest};
use carom::system::System;
use std::f64::consts::{FRAC_PI_2, PI};

/// A steel bar or beam from (0, 0) to `to`; `rest` holds further tables.
fn line(element: &str, to: &str, elements: usize, height: f64, rest: &str) -> System {
    let from = if to.contains(',') { "0.0, 0.0" } else { "0.0" };
    let text = format!(
        r#"
        format = 1
        time = {{ end = 1.0, step = 1.0 }}
        scheme = {{ name = "newmark" }}
        [[body]]
        name = "beam"
        element = "{element}"
        line = {{ from = [{from}], to = [{to}], elements = {elements} }}
        material = {{ young = 2.1e11, poisson = 0.3, density = 7800.0 }}
        section = {{ shape = "rectangle", width = {height}, height = {height} }}
        {rest}
        "#
    );
    build(&text, &[]).unwrap().1
}

fn support(node: &str, fix: &str) -> String {
    format!("[[support]]\nname = \"{node}\"\nnodes = \"beam.{node}\"\nfix = [{fix}]\n")
}

fn omegas(modes: &[Mode]) -> Vec<f64> {
    modes.iter().map(|mode| mode.omega).collect()
}

/// Lowest root of (ρA ρI/GA) ω⁴ − (ρA + (ρI + ρA EI/GA) k²) ω² + EI k⁴ = 0 with k = nπ/L.
fn simply_supported(n: usize, height: f64) -> f64 {
    let (e, rho, area, inertia) = (2.1e11, 7800.0, height * height, height.powi(4) / 12.0);
    let (shear, k2) = (e / 2.6 * area * 5.0 / 6.0, (n as f64 * PI).powi(2));
    let a = rho * area * rho * inertia / shear;
    let b = rho * area + (rho * inertia + rho * area * e * inertia / shear) * k2;
    let c = e * inertia * k2 * k2;
    (2.0 * c / (b + (b * b - 4.0 * a * c).sqrt())).sqrt()
}

/// `ss_freq_relerr`: four modes of four meshes have the listed errors, which fall with the square of the element.
#[test]
fn simply_supported_beam_against_the_exact_frequencies() {
    let reference = reference("beam-elements.json");
    for (k, listed) in reference["ss_freq_exact_rad_s"].as_array().unwrap().iter().enumerate() {
        let (ours, listed) = (simply_supported(k + 1, 0.05), listed.as_f64().unwrap());
        assert!((ours / listed - 1.0).abs() < 1e-11, "{ours} {listed}");
    }
    for row in reference["ss_freq_relerr"].as_array().unwrap() {
        let elements = row[0].as_u64().unwrap() as usize;
        // Both ends are held axially, which lifts the axial modes above the four of bending.
        let ends = support("start", r#""x", "y""#) + &support("end", r#""x", "y""#);
        for to in ["1.0, 0.0", "0.6, 0.8"] {
            let modes = lowest(&line("linear-beam", to, elements, 0.05, &ends), 4).unwrap();
            for (k, omega) in omegas(&modes).into_iter().enumerate() {
                let error = omega / simply_supported(k + 1, 0.05) - 1.0;
                let listed = row[k + 1].as_f64().unwrap();
                assert!((error - listed).abs() < 1e-9, "{elements} elements, mode {}: {error:e} {listed:e}", k + 1);
            }
        }
    }
}

/// Two translations and a rotation, in any orientation; the first elastic mode is that of a slender free beam, whose
/// (kL)² is 22.3732854.
#[test]
fn a_free_beam_has_exactly_three_rigid_modes() {
    for element in ["beam", "linear-beam"] {
        for to in ["1.0, 0.0", "-0.6, 0.8"] {
            let system = line(element, to, 40, 0.01, "");
            let modes = lowest(&system, 6).unwrap();
            assert_eq!(
                modes.iter().map(|mode| mode.rigid).collect::<Vec<_>>(),
                [true, true, true, false, false, false]
            );
            assert!(modes[..3].iter().all(|mode| mode.omega == 0.0));
            let slender = 22.373_285_448 * (2.1e11 * 1e-4 / 12.0 / 7800.0_f64).sqrt();
            assert!((modes[3].omega / slender - 1.0).abs() < 2e-3, "{element}: {} {slender}", modes[3].omega);
        }
    }
}

/// Each member of a chain brings a rotation of its own; a weld takes it away.
#[test]
fn a_hinge_adds_a_rigid_mode_and_a_weld_does_not() {
    for (kind, rigid) in [("hinge", 4), ("weld", 3)] {
        let second = format!(
            r#"
            [[body]]
            name = "other"
            element = "beam"
            line = {{ from = [1.0, 0.0], to = [1.0, 1.0], elements = 3 }}
            material = {{ young = 2.1e11, poisson = 0.3, density = 7800.0 }}
            section = {{ shape = "rectangle", width = 0.05, height = 0.05 }}
            [[joint]]
            name = "elbow"
            kind = "{kind}"
            between = ["beam.end", "other.start"]
            "#
        );
        let modes = lowest(&line("beam", "1.0, 0.0", 3, 0.05, &second), 6).unwrap();
        assert_eq!(modes.iter().filter(|mode| mode.rigid).count(), rigid, "{kind}");
    }
}

/// `bench_omega_ne*`: the pinned beam of the rotating-beam benchmark, linearised at its initial state.
#[test]
fn rotating_beam_about_its_initial_state() {
    let reference = reference("beam-elements.json");
    for elements in [4, 8, 16, 32] {
        let system = line("beam", "1.0, 0.0", elements, 0.01, &support("start", r#""x", "y""#));
        let listed = reference[format!("bench_omega_ne{elements}")].as_array().unwrap();
        let modes = lowest(&system, 8).unwrap();
        assert!(modes[0].rigid && modes[0].omega == 0.0, "it turns freely about its pin");
        for k in 1..8 {
            let (omega, listed) = (modes[k].omega, listed[k].as_f64().unwrap());
            assert!((omega / listed - 1.0).abs() < 1e-8, "{elements} elements, mode {k}: {omega} {listed}");
        }
        let (highest, listed) = (system.highest_frequency().unwrap(), listed[9].as_f64().unwrap());
        assert!((highest / listed - 1.0).abs() < 1e-4, "{elements} elements: {highest} {listed}");
    }
}

/// Fixed-free bar: wave number k = (i − ½)π/L. Consistent mass lies above c k, lumped below, each by its dispersion
/// relation, which is exact for a regular mesh.
#[test]
fn fixed_free_bar_against_the_exact_dispersion() {
    let (c, n) = ((2.1e11 / 7800.0_f64).sqrt(), 12);
    for (lumped, extra) in [(false, ""), (true, "mass_matrix = \"lumped\"\n")] {
        let system = line("bar", "1.0", n, 0.01, &format!("{extra}{}", support("start", r#""x""#)));
        let modes = lowest(&system, n).unwrap();
        assert_eq!(modes.len(), n);
        let h = 1.0 / n as f64;
        for (i, omega) in omegas(&modes).into_iter().enumerate() {
            let k = (2 * i + 1) as f64 * FRAC_PI_2;
            let (sine, cosine) = ((0.5 * k * h).sin(), (k * h).cos());
            let discrete = 2.0 * c / h * sine * if lumped { 1.0 } else { (3.0 / (2.0 + cosine)).sqrt() };
            assert!((omega / discrete - 1.0).abs() < 1e-9, "lumped {lumped}, mode {i}: {omega} {discrete}");
            assert_eq!(omega < c * k, lumped);
        }
        assert!((modes[0].omega / (c * FRAC_PI_2) - 1.0).abs() < 1e-3);
    }
}

/// K φ = ω² M φ, with the largest translation one and nothing where a support holds.
#[test]
fn shapes_belong_to_their_frequencies() {
    let system = line("linear-beam", "0.6, 0.8", 10, 0.05, &support("start", r#""x", "y", "theta""#));
    let n = system.nodes.total;
    for mode in lowest(&system, 5).unwrap() {
        let (mut stiff, mut heavy, mut scratch) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        system.add_stiffness_times(&system.q0, &mode.shape, 1.0, &mut scratch, &mut stiff);
        system.mass.multiply(&mode.shape, &mut heavy);
        let size = stiff.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        for i in 0..system.nodes.free {
            assert!((stiff[i] - mode.omega.powi(2) * heavy[i]).abs() < 1e-6 * size, "omega {}", mode.omega);
        }
        let translations = (0..n).filter(|&i| !system.nodes.is_rotation(i)).map(|i| mode.shape[i].abs());
        assert_eq!(translations.fold(0.0, f64::max), 1.0);
        assert!(mode.shape[system.nodes.free..].iter().all(|x| *x == 0.0));
    }
}
