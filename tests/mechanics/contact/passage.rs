//! The swept test, (T137) and (T138): what is smaller than the path of a node within a step is not passed through.

use crate::common::history::{load, try_run};

const SCHEMES: [&str; 4] = [
    "name = \"moreau-jean\"",
    "name = \"newmark\"",
    "name = \"generalized-alpha\"\nrho_inf = 0.8",
    "name = \"newmark\"\nposition = \"ggl\"",
];
const STEPS: [f64; 3] = [1e-3, 7e-4, 3.1e-3];

fn head(end: f64, step: f64, scheme: &str, guards: &str) -> String {
    format!(
        "format = 1\n[time]\nend = {end:?}\nstep = {step:?}\nmin_step = 1e-9\n[scheme]\n{scheme}\n\
         [guards]\nenergy = {{ cuts = 30 }}\n{guards}\n"
    )
}

fn mass(name: &str, at: [f64; 2], velocity: [f64; 2]) -> String {
    format!(
        "[[body]]\nname = \"{name}\"\nelement = \"mass\"\nat = {at:?}\nvelocity = {velocity:?}\nmass = 1.0\n\
         [[probe]]\nname = \"{name}\"\nnode = \"{name}\"\n"
    )
}

fn on(obstacle: &str) -> String {
    format!("[[contact]]\nname = \"touch\"\nnodes = \"mass\"\n{obstacle}\n")
}

/// Obstacles that a mass at x = 0.003 falls on, thinner than its path in a step.
const SMALL: [&str; 6] = [
    "circle = { centre = [0.0, 0.0], radius = 0.02 }",
    "polyline = { points = [[-0.5, 0.0], [-0.5, 0.01], [0.5, 0.01], [0.5, 0.0], [-0.5, 0.0]] }",
    "polyline = { points = [[-0.5, 0.0], [-0.5, 0.01], [0.5, 0.01], [0.5, 0.0], [-0.5, 0.0]] }\nradius = 0.01",
    "polyline = { points = [[-0.02, 0.0], [0.0, 0.02], [0.02, 0.0], [-0.02, 0.0]] }",
    "arc = { centre = [0.0, -0.03], radius = 0.04, from = 0.2, to = 3.0 }",
    "arc = { centre = [0.0, 0.0], radius = 0.005, from = -3.0, to = 3.0 }\nradius = 0.01",
];

fn falling(obstacle: &str, [speed, step]: [f64; 2], scheme: &str, guards: &str) -> String {
    head(1.0 / speed, step, scheme, guards) + &mass("mass", [0.003, 0.48], [0.0, -speed]) + &on(obstacle)
}

/// The impulse of the first impact takes the whole approach, wherever the instants of the grid fall.
#[test]
fn small_obstacles_stop_what_falls_on_them() {
    let mut cut = 0;
    for obstacle in SMALL {
        for scheme in SCHEMES {
            for step in STEPS {
                for speed in [30.0, 90.0, 173.0] {
                    let text = falling(obstacle, [speed, step], scheme, "penetration = false");
                    let (run, result) = try_run(&load(&text, &[]));
                    result.unwrap_or_else(|error| panic!("{error}\n{text}"));
                    assert!(
                        run.last("impulse") >= 0.0 && run.max("impulse") > 0.1 * speed,
                        "{}\n{text}",
                        run.max("impulse")
                    );
                    cut += usize::from(run.rows.len() as f64 > (1.0 / speed / step).ceil() + 1.0);
                }
            }
        }
    }
    assert!(cut > 100, "{cut} runs had steps made smaller");
}

/// Two masses with a radius that fly at each other, both lighter and heavier, meet at any step.
#[test]
fn fast_discs_meet() {
    for scheme in SCHEMES {
        for step in STEPS {
            for (offset, ratio) in [(0.0, 1.0), (0.011, 0.2), (-0.013, 5.0)] {
                let second =
                    mass("other", [0.51, offset], [-90.0, 0.0]).replace("mass = 1.0", &format!("mass = {ratio:?}"));
                let text = head(9e-3, step, scheme, "")
                    + &mass("mass", [-0.5, 0.0], [50.0, 0.0])
                    + &second
                    + "[[contact]]\nname = \"touch\"\nbetween = [\"mass\", \"other\"]\nradius = 0.01\n";
                let (run, result) = try_run(&load(&text, &[]));
                result.unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert!(run.max("impulse") > 1.0, "{}\n{text}", run.max("impulse"));
            }
        }
    }
}

/// Without cuts the run stops, and says which step would do: that one does.
#[test]
fn the_error_says_which_step_is_small_enough() {
    let mut stopped = 0;
    for obstacle in SMALL {
        for speed in [60.0, 90.0, 140.0] {
            let text =
                falling(obstacle, [speed, 1.01e-3], SCHEMES[0], "penetration = false").replace("cuts = 30", "cuts = 0");
            let Err(error) = try_run(&load(&text, &[])).1 else { continue };
            let message = error.to_string();
            assert!(
                message.contains("guard `crossing`: body `mass`") && message.contains("contact `touch` in step"),
                "{message}"
            );
            let enough = message.split("a step of ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
            let (run, result) = try_run(&load(&text, &[&format!("time.step={enough}")]));
            result.unwrap_or_else(|error| panic!("{message}\n{error}"));
            assert!(run.max("impulse") > 0.1 * speed, "{message}");
            // Without the guard the mass is behind what it fell on, as if nothing were there.
            let (run, result) = try_run(&load(&text, &["guards.crossing=false"]));
            result.unwrap();
            assert_eq!((run.max("impulse"), run.last("probe.mass.vy")), (0.0, -speed));
            stopped += 1;
        }
    }
    assert!(stopped > 9, "{stopped} of 18 runs stopped");
}

/// What grazes a disc, leaves it, or slides along it is left alone at ordinary steps.
#[test]
fn nothing_else_is_made_smaller() {
    let circle = on("circle = { centre = [0.0, 0.0], radius = 0.2 }");
    for scheme in SCHEMES {
        for (at, velocity) in [([-0.5, 0.199], [20.0, 0.0]), ([0.0, 0.2], [5.0, 0.0]), ([0.0, 0.21], [5.0, -1.0])] {
            let text = head(0.05, 1e-3, scheme, "energy.cuts = 0").replace("energy = { cuts = 30 }\n", "")
                + &mass("mass", at, velocity)
                + &circle;
            let (run, result) = try_run(&load(&text, &[]));
            result.unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(run.rows.len(), 51);
        }
    }
}

/// A node that is pushed into a small or thin obstacle may be as deep as its middle; in a longer outline or a larger circle the same
/// depth is allowed.
#[test]
fn depth_is_limited_by_the_thickness_of_the_obstacle() {
    let plate = |thickness: f64| {
        format!(
            "polyline = {{ points = [[-0.5, {:?}], [-0.5, 0.0], [0.5, 0.0], [0.5, {0:?}], [-0.5, {0:?}]] }}",
            -thickness
        )
    };
    let circle = |radius: f64| format!("circle = {{ centre = [0.0, {:?}], radius = {radius:?} }}", -radius);
    let run = |obstacle: &str| {
        // Stopped within one step, half a path deep: 0.015.
        let text = head(2e-2, 1e-3, SCHEMES[0], "penetration = { fraction = 0.9 }").replace("cuts = 30", "cuts = 0")
            + &mass("mass", [0.0, 0.03], [0.0, -30.0])
            + &on(obstacle);
        try_run(&load(&text, &[])).1
    };
    for (thin, thick) in [(plate(0.033), plate(0.034)), (circle(0.0165), circle(0.017))] {
        run(&thick).unwrap_or_else(|error| panic!("{error}\n{thick}"));
        let message = run(&thin).expect_err(&thin).to_string();
        assert!(message.contains("guard `penetration`: gap -1."), "{message}\n{thin}");
    }
}

/// What masses are shot at: held beams without and with thickness, straight and bent, and rigid obstacles.
const TARGETS: [(&str, f64); 8] = [
    ("beam", 0.0),
    ("beam", 0.01),
    ("beam", 0.03),
    ("polyline = { points = [[0.0, 0.01], [1.0, 0.01], [1.0, 0.0], [0.0, 0.0], [0.0, 0.01]] }", 0.0),
    ("polyline = { points = [[0.0, 0.01], [1.0, 0.01], [1.0, 0.0], [0.0, 0.0], [0.0, 0.01]] }", 0.02),
    ("circle = { centre = [0.5, 0.0], radius = 0.02 }", 0.0),
    ("circle = { centre = [0.5, 0.0], radius = 0.02 }", 0.02),
    ("mass", 0.02),
];

/// 4,800 masses that are shot from anywhere in front, with paths from 2 to 60 cm within a step, at points that they must hit. A contact
/// that is missed has a perfect ledger; here it has no impulse.
#[test]
fn shots_at_random_hit() {
    let mut seed: u64 = 5;
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    for (target, radius) in TARGETS {
        let is_line = target == "beam" || target.starts_with("polyline");
        for shot in 0..600 {
            // A point of the target that is clearly hit, the direction from which, and where the shot begins.
            let aim = [if is_line { 0.06 + 0.88 * random() } else { 0.5 + 0.02 * (random() - 0.5) }, 0.0];
            let angle = 0.4 + 2.3 * random();
            let away = 0.1 + random();
            let at = [aim[0] + away * angle.cos(), aim[1] + away * angle.sin()];
            let (speed, step) = (100.0, 1e-3 * 10f64.powf(1.5 * random() - 0.7));
            let velocity = [-speed * angle.cos(), -speed * angle.sin()];
            let scheme = SCHEMES[shot % 4];
            let contact = match target {
                "beam" => format!(
                    "[[body]]\nname = \"beam\"\nelement = \"beam\"\nline = {{ from = [0.0, 0.0], to = [1.0, 0.0], elements = 4 }}\n\
                     material = {{ young = 2e9, poisson = 0.3, density = 1000.0 }}\n\
                     section = {{ shape = \"rectangle\", width = 0.04, height = 0.04 }}\n\
                     [[support]]\nname = \"held\"\nnodes = \"beam\"\nfix = [\"x\", \"y\", \"theta\"]\n\
                     [[contact]]\nname = \"touch\"\nbetween = [\"mass\", \"beam\"]\nradius = {radius:?}\n"
                ),
                "mass" => {
                    mass("other", [0.5, 0.0], [0.0, 0.0])
                        + &format!(
                            "[[contact]]\nname = \"touch\"\nbetween = [\"mass\", \"other\"]\nradius = {radius:?}\n"
                        )
                }
                _ => on(target) + &format!("radius = {radius:?}\n"),
            };
            let text = head(2.5 * away / speed + step, step, scheme, "penetration = false")
                + &mass("mass", at, velocity)
                + &contact;
            let (run, result) = try_run(&load(&text, &[]));
            result.unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert!(run.max("impulse") > 0.0, "no impulse\n{text}");
        }
    }
}

/// A thick mass that comes down beside a box, nearer than its radius, meets the round edge, wherever the instants of the grid fall.
#[test]
fn round_edges_are_not_passed() {
    let block =
        "polyline = { points = [[0.0, -1.0], [0.0, 0.0], [1.0, 0.0], [1.0, -1.0], [0.0, -1.0]] }\nradius = 0.05";
    for scheme in SCHEMES {
        for step in STEPS {
            for k in 0..10 {
                let at = [1.02, 0.4 + 0.009 * f64::from(k)];
                let text =
                    head(8e-3, step, scheme, "penetration = false") + &mass("mass", at, [0.0, -90.0]) + &on(block);
                let (run, result) = try_run(&load(&text, &[]));
                result.unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert!(run.max("impulse") > 0.0, "{}\n{text}", run.max("impulse"));
            }
        }
    }
}
