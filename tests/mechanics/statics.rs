//! Equilibrium paths against closed forms: full circle, elastica, contact, driven supports; and what is said where
//! there is no equilibrium.
#![allow(clippy::excessive_precision, reason = "tables are copied with all their digits")]

use crate::common::history::{load, run, run_shipped, shipped, try_run};
use crate::common::reference;
use std::f64::consts::TAU;

/// M = 2π EI/L rolls a cantilever up into a closed circle, to round-off for every mesh (`circle_ne*`).
#[test]
fn a_moment_rolls_a_cantilever_into_a_circle() {
    for elements in [4, 5, 10, 20] {
        let path = run_shipped("cantilever-roll-up", &[&format!("body.beam.line.elements={elements}")]);
        let tip = ["x", "y", "theta"].map(|c| path.last(&format!("probe.tip.{c}")));
        assert!(tip[0].abs() < 1e-12 && tip[1].abs() < 1e-12, "{elements}: {tip:?}");
        assert!((tip[2] - TAU).abs() < 1e-12, "{elements}: {tip:?}");
        assert_eq!(path.rows.len(), 21, "twenty increments, none of them cut");
        assert!(path.max("newton") <= 10.0, "{elements}: {}", path.max("newton"));
        // M²L/2EI, whatever the mesh.
        assert!((path.last("energy") - 0.5e-3 * TAU * TAU).abs() < 1e-14, "{elements}");
        assert!(path.ledger.worst_sum < 1e-10, "{elements}: {:e}", path.ledger.worst_sum);
    }
}

/// Error of the tip against the elastica at PL²/EI = 1, 2, 5, 10: the listed one of each mesh, so O(1/n²).
/// The listed ones are converged to 2e-8 only (compare `four_elements_to_the_last_digits`).
#[test]
fn a_tip_load_bends_a_cantilever_into_the_elastica() {
    let reference = reference("beam-elements.json");
    for elements in [4, 8, 16, 32, 64] {
        let path = run_shipped("cantilever-tip-load", &[&format!("body.beam.line.elements={elements}")]);
        for row in reference["elastica_tip_load"].as_array().unwrap() {
            let number = |key: &str| row[key].as_f64().unwrap();
            let tip = |c: &str| path.at(&format!("probe.tip.{c}"), number("alpha"));
            // The load of the case points down, that of the reference up.
            let errors =
                [tip("x") - number("exact_x"), -tip("y") - number("exact_y"), -tip("theta") - number("exact_theta")];
            for (k, error) in errors.into_iter().enumerate() {
                let listed = row[format!("ne{elements}")][k].as_f64().unwrap();
                assert!((error - listed).abs() < 1e-7, "{elements} elements [{k}]: {error:e} {listed:e}");
            }
        }
        // Of the energy of the first increment, although EA = 1e7 EI makes the rounding of a strain 1e-9 of that load.
        assert!(path.ledger.worst_step < 1e-10 && path.ledger.worst_sum < 1e-10, "{elements} {:?}", path.ledger);
    }
}

/// The same four elements solved with 40 digits (Newton's method in mpmath, the formulas of `beam` written again):
/// x, y, θ of the tip at PL²/EI = 2 and 10.
#[test]
fn four_elements_to_the_last_digits() {
    let path = run_shipped("cantilever-tip-load", &["body.beam.line.elements=4"]);
    for (load, exact) in [
        (2.0, [0.843322064170627463, 0.489602533705121431, 0.787594658729742172]),
        (10.0, [0.450928360042716507, 0.807885288852819537, 1.45065210296155097]),
    ] {
        for (component, exact) in ["x", "y", "theta"].into_iter().zip(exact) {
            let ours = path.at(&format!("probe.tip.{component}"), load).abs();
            assert!((ours - exact).abs() < 1e-14, "{component} at {load}: {ours:.17} {exact:.17}");
        }
    }
}

/// The whole load at once is more than Newton's method takes; cut increments reach the same equilibrium.
#[test]
fn increments_are_cut_where_newton_fails_and_lead_to_the_same_place() {
    let fine = run_shipped("cantilever-tip-load", &["body.beam.line.elements=8"]);
    let coarse =
        run_shipped("cantilever-tip-load", &["body.beam.line.elements=8", "time.step=10.0", "solver.newton.passes=12"]);
    assert!((3..40).contains(&coarse.rows.len()), "{} rows", coarse.rows.len());
    for column in ["probe.tip.x", "probe.tip.y", "probe.tip.theta", "energy"] {
        let (a, b) = (fine.last(column), coarse.last(column));
        assert!((a - b).abs() < 1e-9 * b.abs(), "{column}: {a} {b}");
    }
}

/// A clamped beam of length 1, loaded at its tip, with a stop below the point at `a`.
fn on_a_stop(element: &str, time: &str) -> String {
    format!(
        r#"
        format = 1
        analysis = "static"
        time = {{ end = 1.0, step = 0.05 }}
        scheme = {{ name = "newmark" }}
        [[body]]
        name = "beam"
        element = "{element}"
        line = {{ from = [0.0, 0.0], to = [1.0, 0.0], elements = 10 }}
        material = {{ young = 1.0, shear = 1.0, density = 1.0 }}
        section = {{ area = 1e4, inertia = 1.0, shear_area = 20.0 }}
        [[set]]
        name = "middle"
        nearest = [0.6, 0.0]
        [[support]]
        name = "clamp"
        nodes = "beam.start"
        fix = ["x", "y", "theta"]
        [[load]]
        name = "tip"
        nodes = "beam.end"
        force = [0.0, -1e-3]
        time = {time}
        [[contact]]
        name = "stop"
        nodes = "middle"
        plane = {{ point = [0.0, -5e-5], normal = [0.0, 1.0] }}
        [[probe]]
        name = "tip"
        node = "beam.end"
        "#
    )
}

/// Deflections at `a` by a unit force there, at `a` by one at the tip, at the tip by one there; EI = 1, GA = 20, L = 1.
fn compliances(a: f64) -> [f64; 3] {
    [a * a * a / 3.0 + a / 20.0, a * a * (3.0 - a) / 6.0 + a / 20.0, 1.0 / 3.0 + 1.0 / 20.0]
}

/// Loaded and unloaded again: the stop takes (w_P − gap)/compliance while it is closed, and nothing else.
#[test]
fn a_cantilever_pressed_on_a_stop() {
    let [own, cross, tip] = compliances(0.6);
    for (element, tolerance) in [("linear-beam", 1e-10), ("beam", 1e-2)] {
        let path = run(&on_a_stop(element, r#"{ kind = "harmonic", amplitude = 1.0, frequency = 0.5 }"#), &[]);
        let (mut open, mut closed) = (0, 0);
        for k in 1..path.rows.len() {
            let load = 1e-3 * (0.5 * TAU * path.column("time")[k]).sin();
            let force = ((load * cross - 5e-5) / own).max(0.0);
            let measured = path.column("contact.stop.force")[k];
            assert!((measured - force).abs() <= tolerance * 1e-3, "{element} {k}: {measured} {force}");
            let deflection = load * tip - force * cross;
            let y = path.column("probe.tip.y")[k];
            assert!((y + deflection).abs() <= tolerance * deflection.max(1e-9), "{element} {k}: {y} {deflection}");
            let gap = path.column("min_gap")[k];
            assert!(gap >= -1e-14, "{element} {k}: {gap}");
            assert!(force == 0.0 || gap < 1e-14, "{element} {k}: {gap}");
            if force > 0.0 { closed += 1 } else { open += 1 }
        }
        assert!(open >= 3 && closed >= 10, "{element}: the path must close and open the stop, {open} {closed}");
        // No friction, nothing slips: the way back is the way there.
        assert!(path.last("energy").abs() < 1e-12 * path.max("energy"), "{element}");
        assert!(path.ledger.worst_sum < 1e-10, "{element}: {:e}", path.ledger.worst_sum);
        assert_eq!(path.last("work_contact"), path.ledger.sum.contact);
    }
}

/// A linear model is done after one factorization: of the whole path, not of every step.
#[test]
fn a_linear_path_is_factored_once() {
    let path = run(&on_a_stop("linear-beam", r#"{ kind = "ramp", end = 1.0 }"#), &[]);
    assert_eq!(path.column("factorizations").iter().sum::<f64>(), 1.0);
    // The initial state has no load and needs no pass.
    assert_eq!(path.column("newton")[0], 0.0);
}

/// A support that moves does the work that is stored: ½ δ²/compliance with δ = 1e-3.
#[test]
fn a_moved_support_does_the_work_that_is_stored() {
    let text = r#"
        format = 1
        analysis = "static"
        time = { end = 1.0, step = 0.25 }
        scheme = { name = "newmark" }
        [[body]]
        name = "beam"
        element = "linear-beam"
        line = { from = [0.0, 0.0], to = [1.0, 0.0], elements = 3 }
        material = { young = 1.0, shear = 1.0, density = 1.0 }
        section = { area = 1e4, inertia = 1.0, shear_area = 20.0 }
        [[support]]
        name = "clamp"
        nodes = "beam.start"
        fix = ["x", "y", "theta"]
        [[support]]
        name = "jack"
        nodes = "beam.end"
        motion = { y = { kind = "ramp", to = 1e-3, end = 1.0 } }
        "#;
    let exact = 0.5 * 1e-6 / compliances(0.6)[2];
    for element in ["linear-beam", "beam"] {
        let path = run(text, &[&format!("body.beam.element={element:?}")]);
        let tolerance = if element == "beam" { 0.05 } else { 1e-12 };
        assert!((path.last("energy") / exact - 1.0).abs() < tolerance, "{element} {} {exact}", path.last("energy"));
        let explained = path.last("work_support") + path.last("work_curvature");
        assert!((explained - path.last("energy")).abs() < 1e-12 * exact, "{element} {explained}");
        assert!(path.ledger.worst_sum < 1e-11, "{element} {:?}", path.ledger);
    }
}

/// A beam on one pin turns under its weight; so does a chain of bars sideways. Both are named.
#[test]
fn a_mechanism_has_no_equilibrium() {
    let text = r#"
        format = 1
        analysis = "static"
        gravity = [0.0, -9.81]
        time = { end = 1.0, step = 1.0, min_step = 1.0 }
        scheme = { name = "newmark" }
        [[body]]
        name = "arm"
        element = "beam"
        line = { from = [0.0, 0.0], to = [1.0, 0.0], elements = 4 }
        material = { young = 2.1e11, poisson = 0.3, density = 7800.0 }
        section = { shape = "rectangle", width = 0.01, height = 0.01 }
        [[support]]
        name = "pin"
        nodes = "arm.start"
        fix = ["x", "y"]
        "#;
    // The free end of the pinned beams, and the first node that a bar leaves without stiffness across.
    for (element, node) in [("beam", "4 at (1, 0)"), ("linear-beam", "4 at (1, 0)"), ("bar", "1 at (0.25, 0)")] {
        let loaded = load(text, &[&format!("body.arm.element={element:?}")]);
        let Err(error) = carom::run::prepare(&loaded) else { panic!("{element}: a mechanism must be refused") };
        assert_eq!(error.exit_code(), 3, "{element}: {error}");
        let wanted = format!(
            "the structure has no static equilibrium: body `arm`, node {node}, component y moves without strain; support \
             it, or run a transient"
        );
        assert_eq!(error.to_string(), wanted, "{element}");
    }
    // A fine mesh of a slender cantilever is soft, but no mechanism.
    let held = r#"support.pin.fix=["x", "y", "theta"]"#;
    for element in ["beam", "linear-beam"] {
        let set = [&format!("body.arm.element={element:?}"), held, "body.arm.line.elements=2000"];
        assert!(carom::run::prepare(&load(text, &set)).is_ok(), "{element}");
    }
}

#[test]
fn too_few_passes_are_an_error_that_says_where() {
    let set = ["solver.newton.passes=1", "time.min_step=0.25", "body.beam.line.elements=4"];
    let (history, result) = try_run(&shipped("cantilever-tip-load", &set));
    let error = result.expect_err("one pass is not enough");
    assert_eq!(error.exit_code(), 4);
    let message = error.to_string();
    assert!(message.starts_with("no equilibrium found in step 1 (t = 0.25) after 1 passes (residual "), "{message}");
    assert!(message.ends_with("; apply the load in smaller steps"), "{message}");
    assert_eq!(history.rows.len(), 1, "the initial state only");
}
