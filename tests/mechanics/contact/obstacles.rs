//! Planes, half planes, circles, polylines, at rest and in motion.

use crate::common::history::{History, load, shipped, try_run};
use crate::common::runs;

/// A point mass in a field of gravity with one contact, given as the rest of the case.
fn bead(place: [f64; 2], velocity: [f64; 2], time: [f64; 2], rest: &str) -> History {
    let ([x, y], [vx, vy], [end, step]) = (place, velocity, time);
    let text = format!(
        "format = 1\ntitle = \"bead\"\ngravity = [0.0, -9.81]\n[time]\nend = {end}\nstep = {step}\n\
         [[body]]\nname = \"bead\"\nelement = \"mass\"\nat = [{x}, {y}]\nmass = 1.0\nvelocity = [{vx}, {vy}]\n\
         [[probe]]\nname = \"bead\"\nnode = \"bead\"\n{rest}"
    );
    let (history, result) = try_run(&load(&text, &[]));
    result.unwrap_or_else(|error| panic!("{error}"));
    history
}

const MIDPOINT: &str = "[scheme]\nname = \"moreau-jean\"\n";

/// A bead released at the rim of a unit bowl: e = 0 on a curved path loses energy in proportion to the step, the ledger
/// closes all the same, and the position-corrected form stays on the bowl to round-off. Without an impact law that takes
/// energy, its discrete gradient keeps the energy as well.
#[test]
fn a_bead_in_a_bowl() {
    let bowl = "[[contact]]\nname = \"bowl\"\nnodes = \"bead\"\ncircle = { centre = [0.0, 0.0], radius = 1.0, inside = true }\n";
    let mut losses = Vec::new();
    for step in [1e-2, 5e-3, 2.5e-3, 1e-3] {
        let run = bead([1.0, 0.0], [0.0; 2], [2.0, step], &format!("{MIDPOINT}{bowl}"));
        losses.push(-run.last("energy"));
        assert!(run.ledger.worst_step < 1e-13, "{:?}", run.ledger);
        let radius = |k: usize| run.column("probe.bead.x")[k].hypot(run.column("probe.bead.y")[k]);
        assert!((radius(run.rows.len() - 1) - 1.0).abs() < 10.0 * step, "{step}");
        let ggl = "[scheme]\nname = \"newmark\"\nposition = \"ggl\"\n";
        let run = bead([1.0, 0.0], [0.0; 2], [2.0, step], &format!("{ggl}{bowl}"));
        assert!(run.min("min_gap") > -1e-11, "{step}: {}", run.min("min_gap"));
        assert!(run.ledger.worst_sum < 1e-10, "{:?}", run.ledger);
        let run = bead([1.0, 0.0], [0.0; 2], [2.0, step], &format!("{ggl}{bowl}restitution = 1.0\n"));
        // An independent implementation of the discrete gradient at position level lost at most 7e-10.
        assert!(run.last("energy").abs() < 7e-10, "{step}: {:e}", run.last("energy"));
        // At the rim, where the force vanishes, it may leave for a step.
        assert!(run.min("min_gap") > -1e-12 && run.max("min_gap") < 1e-6, "{step}: {:e}", run.max("min_gap"));
    }
    // Losses of an independent implementation at the same steps.
    for (ours, theirs) in losses.iter().zip([1.90, 1.02, 0.527, 0.216]) {
        assert!((ours - theirs).abs() < 0.02 * theirs, "{losses:?}");
    }
}

/// A bead slides off the end of a half plane and falls as if nothing had been there.
#[test]
fn a_bead_slides_off_a_ledge() {
    let ledge = "[[contact]]\nname = \"ledge\"\nnodes = \"bead\"\n\
                 half_plane = { point = [0.0, 0.0], normal = [0.0, 1.0], direction = [-1.0, 0.0] }\n";
    let run = bead([-0.5, 0.0], [1.0, 0.0], [1.0, 1e-3], &format!("{MIDPOINT}{ledge}"));
    assert!(run.at("probe.bead.y", 0.49).abs() < 1e-4, "on the ledge");
    let fallen = run.last("probe.bead.y");
    assert!((fallen + 0.5 * 9.81 * 0.25).abs() < 0.01, "{fallen}");
    assert!((run.last("probe.bead.vx") - 1.0).abs() < 1e-6);
    assert!(run.ledger.worst_sum < 1e-12);
}

/// A ball leaves an arc at its end along the tangent with v² = 2gR sin 45°, lets go of the outside of one where cos φ = 2/3 if it
/// starts from rest, and bounces off an end as off a corner.
#[test]
fn a_ball_jumps_off_an_arc() {
    let scheme = "[scheme]\nname = \"newmark\"\nposition = \"ggl\"\n";
    let arc = |keys: &str| {
        format!("[[contact]]\nname = \"arc\"\nnodes = \"bead\"\nradius = 0.05\nrestitution = 1.0\narc = {{ {keys} }}\n")
    };
    let (g, speed) = (9.81_f64, (9.81_f64 / 2f64.sqrt()).sqrt());
    let hollow = arc("centre = [0.0, 0.0], radius = 1.05, from = \"pi\", to = \"7*pi/4\", inside = true");
    for step in [4e-3, 1e-3, 2.5e-4] {
        let run = bead([-1.0, 0.0], [0.0; 2], [1.2, step], &format!("{scheme}{hollow}"));
        // The end is met to within a step, in which the arc still turns the velocity: v²/R h cos 45° = g h along x.
        let error = run.last("probe.bead.vx") - speed;
        assert!(error.abs() < g * step, "{step}: {error}");
        assert!(run.last("energy").abs() < 1e-8 && run.ledger.worst_sum < 1e-10, "{:e}", run.last("energy"));
        assert!(run.min("min_gap") > -1e-11, "{:e}", run.min("min_gap"));
    }
    // Nudged off the top of a hump: it leaves where its weight no longer bends its path enough.
    let hump = arc("centre = [0.0, 0.0], radius = 0.95, from = 0.0, to = \"pi\"");
    let run = bead([0.0, 1.0], [0.3, 0.0], [2.0, 1e-3], &format!("{scheme}{hump}"));
    let cosine = (2.0 + 0.3 * 0.3 / g) / 3.0;
    let vx = (g * cosine).sqrt() * cosine;
    assert!((run.last("probe.bead.vx") - vx).abs() < 2e-3, "{} {vx}", run.last("probe.bead.vx"));
    // Down on an end, which is a corner: a ball of radius 0.5 that comes 0.3 off its middle meets it under the normal
    // (0.6, 0.8), and e = 1 mirrors its velocity there.
    let end = arc("centre = [0.0, 0.0], radius = 1.0, from = \"pi/2\", to = \"3*pi/2\"").replace("0.05", "0.5");
    let run = bead([0.3, 2.0], [0.0; 2], [0.6, 1e-4], &format!("[scheme]\nname = \"moreau-jean\"\n{end}"));
    let fallen = (2.0 * g * 0.6).sqrt();
    assert!((run.last("probe.bead.vx") - 0.96 * fallen).abs() < 2e-3 * fallen, "{}", run.last("probe.bead.vx"));
}

/// A ball in a V-groove comes to rest on both sides at once, each with its weight over the square root of two.
#[test]
fn a_ball_settles_in_a_groove() {
    let groove = "[[contact]]\nname = \"groove\"\nnodes = \"bead\"\nradius = 0.1\n\
                  polyline = { points = [[-1.0, 1.0], [0.0, 0.0], [1.0, 1.0]] }\n";
    let run = bead([0.3, 0.8], [0.0; 2], [1.5, 1e-3], &format!("{MIDPOINT}{groove}"));
    assert!(run.last("probe.bead.x").abs() < 1e-2 && run.last("probe.bead.vy").abs() < 1e-6);
    assert!((run.last("probe.bead.y") - 0.1 * 2f64.sqrt()).abs() < 1e-2, "{}", run.last("probe.bead.y"));
    assert_eq!(run.last("active"), 2.0);
    let force = run.last("contact.groove.force");
    assert!((force - 9.81 * 2f64.sqrt()).abs() < 1e-6, "{force}");
}

/// A bead on the convex corner of a polyline slides down on one side and never feels the other from behind.
#[test]
fn a_corner_is_rounded_and_not_entered() {
    let roof = "[[contact]]\nname = \"roof\"\nnodes = \"bead\"\nradius = 0.05\n\
                polyline = { points = [[-1.0, -1.0], [0.0, 0.0], [1.0, -1.0]] }\n";
    let run = bead([0.001, 0.06], [0.0; 2], [0.6, 2e-4], &format!("{MIDPOINT}{roof}"));
    assert!(run.last("probe.bead.x") > 0.1, "{}", run.last("probe.bead.x"));
    assert!(run.min("contact.roof.gap") > -1e-3, "{}", run.min("contact.roof.gap"));
    // Down a slope of 45 degrees, tangential acceleration g / sqrt 2.
    let speed = |t: f64| run.at("probe.bead.vx", t).hypot(run.at("probe.bead.vy", t));
    assert!(((speed(0.58) - speed(0.54)) / 0.04 - 9.81 / 2f64.sqrt()).abs() < 1e-6);
}

/// A node on a spring pressed on a circle: with the curvature of the gap in the tangent Newton's method needs few passes.
#[test]
fn equilibrium_on_a_circle() {
    let text = "format = 1\ntitle = \"press\"\nanalysis = \"static\"\n[time]\nend = 1.0\nstep = 0.25\n[scheme]\nname = \"newmark\"\n\
        [[body]]\nname = \"bead\"\nelement = \"mass\"\nat = [0.3, 1.1]\nmass = 1.0\n\
        [[body]]\nname = \"left\"\nelement = \"mass\"\nat = [-99.7, 1.1]\nmass = 1.0\n\
        [[body]]\nname = \"top\"\nelement = \"mass\"\nat = [0.3, 101.1]\nmass = 1.0\n\
        [[body]]\nname = \"x\"\nelement = \"spring\"\nbetween = [\"bead\", \"left\"]\nstiffness = 20.0\n\
        [[body]]\nname = \"y\"\nelement = \"spring\"\nbetween = [\"bead\", \"top\"]\nstiffness = 20.0\n\
        [[support]]\nname = \"a\"\nnodes = \"left\"\nfix = [\"x\", \"y\"]\n\
        [[support]]\nname = \"b\"\nnodes = \"top\"\nfix = [\"x\", \"y\"]\n\
        [[load]]\nname = \"push\"\nnodes = \"bead\"\nforce = [0.0, -12.0]\ntime = { kind = \"ramp\", end = 1.0 }\n\
        [[contact]]\nname = \"peg\"\nnodes = \"bead\"\ncircle = { centre = [0.0, 0.0], radius = 1.0 }\n\
        [[probe]]\nname = \"bead\"\nnode = \"bead\"\n";
    let (run, result) = try_run(&load(text, &[]));
    result.unwrap_or_else(|error| panic!("{error}"));
    let (x, y) = (run.last("probe.bead.x"), run.last("probe.bead.y"));
    assert!((x.hypot(y) - 1.0).abs() < 1e-12, "{x} {y}");
    let force = run.last("contact.peg.force");
    // Balance along the tangent; the springs are long, so their directions hardly turn.
    let along = -20.0 * (x - 0.3) * y - (-20.0 * (y - 1.1) - 12.0) * x;
    assert!(along.abs() < 0.05 && force > 1.0, "{along} {force}");
    assert!(run.max("newton") <= 8.0, "{}", run.max("newton"));
    assert!(run.ledger.worst_sum < 1e-10, "{:?}", run.ledger);
}

/// A bar and a wall that comes towards it with V_w = 2: force 360, energy 980 = 500 + 480 from the wall; at Courant ½ the
/// energies of an independent implementation, with kept and with redistributed mass.
#[test]
fn a_wall_that_moves_puts_its_work_into_the_ledger() {
    for (elements, kept, massless) in [(100, 974.79, 976.87), (200, 977.07, 977.94)] {
        let step = 0.5 * 10.0 / elements as f64 / 30.0;
        let set =
            [format!("body.bar.line.elements={elements}"), format!("time.step={step:?}"), "expect={}".to_string()];
        for (mass, wanted) in [("kept", kept), ("redistributed", massless)] {
            let mut set: Vec<&str> = set.iter().map(String::as_str).collect();
            if mass == "redistributed" {
                set.extend([
                    "contact.wall.mass=\"redistributed\"",
                    "body.bar.mass_matrix=\"lumped\"",
                    "scheme={ name = \"newmark\" }",
                ]);
            }
            let (run, result) = try_run(&shipped("bar-on-moving-wall", &set));
            result.unwrap_or_else(|error| panic!("{error}"));
            let energy = run.last("energy");
            assert!((energy - wanted).abs() < 0.3, "{elements} {mass}: {energy} against {wanted}");
            let support = run.last("work_support");
            assert!((energy - 500.0 - support - run.last("work_contact") - run.last("work_scheme")).abs() < 1e-9);
            assert!(run.ledger.worst_step < 1e-13, "{mass} {:?}", run.ledger);
        }
    }
}

/// A ball on an oscillating table, at both ends of the θ range and with restitution: the ledger closes, and with θ = 1
/// a lasting contact follows the table to round-off.
#[test]
fn tables_that_shake() {
    for theta in [0.5, 1.0] {
        for e in [0.0, 0.5] {
            let scheme = format!("scheme={{ name = \"moreau-jean\", theta = {theta:?} }}");
            let restitution = format!("contact.table.restitution={e:?}");
            let set = ["expect={}", scheme.as_str(), restitution.as_str(), "time.step=1e-3"];
            let (run, result) = try_run(&shipped("shaker", &set));
            result.unwrap_or_else(|error| panic!("{error}"));
            assert!(run.ledger.worst_step < 1e-12 && run.ledger.worst_sum < 1e-11, "{theta} {e}: {:?}", run.ledger);
            assert!(run.last("work_support") != 0.0);
        }
    }
    // Started a little below the table, because a gap that is open by the error of the quadrature ends the contact.
    let soft = "contact.table.motion={ normal = { kind = \"harmonic\", amplitude = 0.002, frequency = 5.0 } }";
    for (theta, spread) in [(0.5, 2e-6), (1.0, 1e-13)] {
        let scheme = format!("scheme={{ name = \"moreau-jean\", theta = {theta:?} }}");
        let set = [
            "expect={}",
            scheme.as_str(),
            soft,
            "time.step=1e-3",
            "body.mass.velocity=[0.0, 0.06283185307179587]",
            "body.mass.at=[0.0, -1e-4]",
        ];
        let (run, result) = try_run(&shipped("shaker", &set));
        result.unwrap_or_else(|error| panic!("{error}"));
        let gaps = &run.column("contact.table.gap")[10..];
        let (low, high) = gaps.iter().fold((f64::MAX, f64::MIN), |(l, h), g| (l.min(*g), h.max(*g)));
        assert!(high - low < spread, "{theta}: the gap varies by {:e}", high - low);
    }
}

/// The identity of the storage function with an obstacle that does work and a first step of another size; neither the
/// ledger nor the guards ask for it.
#[test]
fn storage_functions_know_moving_obstacles_and_other_steps() {
    for (name, scheme) in [
        ("bar-on-moving-wall", r#"scheme={ name = "newmark" }"#),
        ("bar-on-moving-wall", r#"scheme={ name = "generalized-alpha", rho_inf = 0.7 }"#),
        ("shaker", r#"scheme={ name = "hht", alpha = 0.2 }"#),
    ] {
        let step = shipped(name, &[]).case.time.step;
        let first = format!("time.first_step={}", 0.37 * step);
        let (run, result) = try_run(&shipped(name, &[scheme, &first, "expect={}"]));
        result.unwrap_or_else(|error| panic!("{name} {scheme}: {error}"));
        let defect = run.column("storage_defect").iter().fold(0.0_f64, |worst, x| worst.max(x.abs()));
        assert!(defect < 1e-10 * run.ledger.scale, "{name} {scheme}: {defect:e} of {:e}", run.ledger.scale);
        assert!(run.column("storage").iter().all(|x| x.is_finite()));
        assert!(run.last("work_support").abs() > 1e-2 * run.ledger.scale, "the obstacle does work");
    }
}

/// A beam that falls on a tilted floor is the same beam on a level one, turned; many contacts go to active sets in turned axes,
/// which give the impulses that Gauss–Seidel finds on W, for linear and for exact beams and for a W with a share of M⁻¹.
#[test]
fn a_tilted_floor_is_a_floor() {
    let level = ["body.beam.line={ from = [0.0, 0.005], to = [20.0, 0.015], elements = 63 }"];
    // Turned by the angle of a triangle with sides 3, 4 and 5.
    let tilted = [
        "body.beam.line={ from = [-0.003, 0.004], to = [15.991, 12.012], elements = 63 }",
        "body.beam.velocity=[0.6, -0.8]",
        "gravity=[5.886, -7.848]",
        "contact.floor.plane={ point = [0.0, 0.0], normal = [-0.6, 0.8] }",
    ];
    let schemes =
        [r#"scheme={ name = "moreau-jean", theta = 1.0 }"#, r#"scheme={ name = "generalized-alpha", rho_inf = 0.8 }"#];
    for (element, scheme) in ["linear-beam", "beam"].into_iter().flat_map(|e| schemes.map(|s| (e, s))) {
        let run = |set: &[&str], method: &str| {
            let element = format!("body.beam.element={element:?}");
            let method = format!("solver.contact={{ method = {method:?}, sweeps = 100000 }}");
            let set = [&["expect={}", scheme, &element, &method], set].concat();
            runs::run(runs::shipped("beam-on-floor", &set))
        };
        let [a, b, c] = [run(&level, "auto"), run(&tilted, "auto"), run(&tilted, "pgs")];
        let counted = [&a, &b].map(|run| run.digest.methods[2]);
        assert!(counted[0] == counted[1] && counted[0] > 100, "{element}: active sets {counted:?}");
        assert_eq!(c.digest.methods[2], 0);
        let active: Vec<usize> = b.steps.iter().map(|step| step.counts[3]).collect();
        assert!(
            active.iter().any(|&n| (16..64).contains(&n)) && active.iter().any(|&n| n > 60),
            "{element}: {active:?}"
        );
        for other in [&a, &c] {
            for (x, y) in b.steps.iter().zip(&other.steps) {
                assert!(x.complementarity <= 1e-10);
                let size = 4.0 * 1.1;
                let apart = x.impulse.iter().zip(&y.impulse).map(|(p, q)| (p - q).abs()).fold(0.0, f64::max);
                assert!(apart < 1e-7 * size, "{element}, {}: impulses differ by {apart:e}", x.time);
                assert!((x.energy.total() - y.energy.total()).abs() < 1e-9 * 2.2, "{element}, {}", x.time);
            }
        }
    }
}
