//! Massless nodes on circles: gradients at the end of the step, or discrete ones over it.

use crate::common::cases::Altered;
use crate::common::history::{History, run};

/// A cantilever whose tip swings against a peg.
const PEG: &str = r#"format = 1
time = { end = 0.05, step = 1e-4 }
scheme = { name = "newmark" }
[[body]]
name = "beam"
element = "linear-beam"
line = { from = [0.0, 0.0], to = [1.0, 0.0], elements = 20 }
material = { young = 1e9, poisson = 0.3, density = 1000.0 }
section = { shape = "rectangle", width = 0.02, height = 0.02 }
velocity = [0.0, -2.0]
[[support]]
name = "clamp"
nodes = "beam.start"
fix = ["x", "y", "theta"]
[[contact]]
name = "peg"
nodes = "beam.end"
circle = { centre = [1.02, -0.06], radius = 0.05 }
mass = "redistributed"
"#;

const EXACT: &str = "body.beam.element=\"beam\"";
const MOREAU: &str = "scheme={ name = \"moreau-jean\" }";
const MID_VELOCITY: &str = "contact.peg.law=\"mid-velocity\"";
const MOTION: &str = "contact.peg.motion={ x = { kind = \"harmonic\", amplitude = 0.01, frequency = 30.0 }, \
                      y = { kind = \"harmonic\", amplitude = 0.02, frequency = 20.0 } }";

/// The ledger closes, nothing is penetrated, and the law holds, whatever the scheme, the element and the motion of the peg.
#[test]
fn the_ledger_closes_on_a_peg() {
    for scheme in [
        "scheme={ name = \"newmark\" }",
        "scheme={ name = \"hht\", alpha = 0.1 }",
        "scheme={ name = \"generalized-alpha\", rho_inf = 0.6 }",
        "scheme={ name = \"moreau-jean\", theta = 0.7 }",
    ] {
        for more in [&[][..], &[EXACT], &[MOTION], &[EXACT, MOTION]] {
            let run = run(PEG, &[&[scheme], more].concat());
            let what = format!("{scheme} {more:?}");
            assert!(run.ledger.worst_sum < 1e-10, "{what}: {:?}", run.ledger);
            assert!(run.min("min_gap") > -1e-13, "{what}: {:e}", run.min("min_gap"));
            assert!(run.max("complementarity") < 1e-13, "{what}: {:e}", run.max("complementarity"));
            assert!(run.column("active").iter().sum::<f64>() > 20.0, "{what}: it must touch");
            assert!((run.last("work_support") != 0.0) == more.contains(&MOTION), "{what}");
            assert!(run.max("newton") <= 5.0, "{what}: {} passes", run.max("newton"));
        }
    }
}

/// With the discrete gradient the contacts of the mid-velocity law do no work on a curve either.
#[test]
fn the_mid_velocity_law_keeps_energy_on_a_peg() {
    for step in ["time.step=2e-4", "time.step=1e-4", "time.step=5e-5"] {
        for more in [&[][..], &[MOTION]] {
            let run = run(PEG, &[&[MOREAU, MID_VELOCITY, step], more].concat());
            let gain = run.last("energy") - run.column("energy")[0] - run.last("work_support");
            assert!(gain.abs() < 1e-10, "{step} {more:?}: {gain:e} of {:e}", run.ledger.scale);
            assert!(run.last("work_contact").abs() < 1e-10 && run.ledger.worst_sum < 1e-10, "{step}: {:?}", run.ledger);
            assert!(run.max("impulse") > 1e-3, "it must touch");
        }
    }
}

/// A circle of a thousand kilometres is a plane.
#[test]
fn a_large_circle_is_a_plane() {
    let circle = "circle = { centre = [1.02, -0.06], radius = 0.05 }";
    let plane = PEG.altered(circle, "plane = { point = [0.0, -0.01], normal = [0.0, 1.0] }");
    let large = PEG.altered(circle, "circle = { centre = [1.0, -1000000.01], radius = 1e6 }");
    assert!(plane != PEG && large != PEG);
    let [a, b] = [plane, large].map(|text| run(&text, &[EXACT]));
    let sum = |run: &History| run.column("impulse").iter().sum::<f64>();
    assert!((sum(&a) / sum(&b) - 1.0).abs() < 1e-6, "{} {}", sum(&a), sum(&b));
    assert!((a.last("energy") - b.last("energy")).abs() < 1e-6 * a.ledger.scale);
}

/// A tip that is bent over the peg at the start lies on it before the first step, and Newton's matrix knows how the normal turns:
/// on a sharp peg the force over its radius counts beside the stiffness of the node (30 passes and cut steps without).
#[test]
fn a_start_on_the_peg_and_a_sharp_one() {
    let bent = ["contact.peg.circle={ centre = [1.01, -0.048], radius = 0.05 }", "body.beam.velocity=[0.0, 0.0]"];
    for more in [&[][..], &[EXACT]] {
        let run = run(PEG, &[&bent, more].concat());
        assert!(run.column("min_gap")[0].abs() < 1e-12, "{more:?}: {:e}", run.column("min_gap")[0]);
        assert!(run.ledger.worst_sum < 1e-10, "{:?}", run.ledger);
    }
    for more in [&[][..], &[EXACT], &[MOREAU, MID_VELOCITY]] {
        let sharp = "contact.peg.circle={ centre = [1.0, -0.012], radius = 2e-3 }";
        let run = run(PEG, &[&[sharp, "time.end=0.02"], more].concat());
        assert!(run.max("newton") <= 8.0, "{more:?}: {} passes", run.max("newton"));
        assert!(run.column("active").iter().sum::<f64>() > 5.0 && run.ledger.worst_sum < 1e-10, "{:?}", run.ledger);
    }
}
