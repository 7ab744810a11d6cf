//! Rigid polylines: no position beside one is without contact, (T135), and how its points are written changes nothing.

use crate::common::history::{History, load, try_run};
use crate::common::random::Random;

const SCHEMES: [&str; 2] = ["name = \"moreau-jean\"", "name = \"newmark\""];

/// A run of a mass, with its gravity, time and contact as keys of a case.
fn mass(at: [f64; 2], velocity: [f64; 2], gravity: f64, [end, step]: [f64; 2], scheme: &str, contact: &str) -> History {
    let text = format!(
        "format = 1\ngravity = [0.0, {gravity:?}]\n[time]\nend = {end:?}\nstep = {step:?}\n[scheme]\n{scheme}\n\
         [[body]]\nname = \"mass\"\nelement = \"mass\"\nat = {at:?}\nvelocity = {velocity:?}\nmass = 1.0\n\
         [[contact]]\nname = \"stop\"\nnodes = \"mass\"\n{contact}\n\
         [[probe]]\nname = \"mass\"\nnode = \"mass\"\n"
    );
    let (run, result) = try_run(&load(&text, &[]));
    result.unwrap_or_else(|error| panic!("{error}\n{text}"));
    run
}

fn last(run: &History) -> ([f64; 2], [f64; 2]) {
    let value = |name: &str| run.last(&format!("probe.mass.{name}"));
    ([value("x"), value("y")], [value("vx"), value("vy")])
}

fn polyline(points: &[[f64; 2]]) -> String {
    format!("polyline = {{ points = {points:?} }}")
}

/// A mass that meets both walls of a box corner at once stops there, or comes back on its own path with e = 1.
#[test]
fn a_mass_does_not_leave_through_the_corner_of_a_box() {
    let corner = polyline(&[[0.0, 3.0], [0.0, 0.0], [3.0, 0.0]]);
    for scheme in SCHEMES {
        for step in [1e-3, 1.7e-3] {
            let run = mass([0.1, 0.1], [-1.0, -1.0], 0.0, [0.3, step], scheme, &corner);
            let (x, v) = last(&run);
            assert!(x.iter().chain(&v).all(|x| x.abs() < 2.0 * step), "{scheme} {step}: {x:?} {v:?}");
            let run = mass([0.1, 0.1], [-1.0, -1.0], 0.0, [0.3, step], scheme, &format!("{corner}\nrestitution = 1.0"));
            let (x, v) = last(&run);
            assert!(x.iter().all(|x| (x - 0.2).abs() < 4.0 * step), "{scheme} {step}: {x:?}");
            assert!(v.iter().all(|v| (v - 1.0).abs() < 1e-12), "{scheme} {step}: {v:?}");
        }
    }
}

/// Dropped exactly above the lowest vertex of a groove or of a bowl of segments, a mass comes to rest in it, with its weight on
/// both sides alike.
#[test]
fn a_mass_rests_in_the_lowest_vertex() {
    let groove = vec![[-1.0, 1.0], [0.0, 0.0], [1.0, 1.0]];
    let bowl: Vec<[f64; 2]> = (0..=12)
        .map(|k| (std::f64::consts::PI * (1.0 + f64::from(k) / 12.0)).sin_cos())
        .map(|(sine, cosine)| [cosine, 1.0 + sine])
        .collect();
    for (points, angle) in [(&groove, 45.0_f64), (&bowl, 7.5)] {
        for scheme in SCHEMES {
            for (step, radius) in [(1e-3, 0.0), (1.3e-3, 0.0), (1e-3, 0.05), (1.3e-3, 0.05)] {
                let cosine = angle.to_radians().cos();
                let rest = radius / cosine;
                let contact = format!("{}\nradius = {radius:?}", polyline(points));
                let run = mass([0.0, rest + 0.2], [0.0; 2], -10.0, [0.6, step], scheme, &contact);
                let (x, v) = last(&run);
                let what = format!("{scheme} {step} {radius}, {angle} degrees: {x:?} {v:?}");
                assert!(x[0].abs() < 1e-9 && v.iter().all(|v| v.abs() < 1e-9), "{what}");
                // It stops within the step in which it arrives, with 2 m/s.
                assert!((x[1] - rest).abs() < 2.0 * step, "{what}");
                // Both sides carry m g / (2 cos).
                assert!((run.last("contact.stop.force") - 10.0 / cosine).abs() < 1e-9, "{what}");
            }
        }
    }
}

/// A polyline along a line is that line, wherever its points are: a plane, and a half plane up to its end.
#[test]
fn a_straight_polyline_is_a_plane_and_a_half_plane() {
    let others = [
        "plane = { point = [0.0, 0.0], normal = [0.0, 1.0] }",
        "half_plane = { point = [1.0, 0.0], normal = [0.0, 1.0], direction = [-1.0, 0.0] }",
    ];
    let written: [&[f64]; 4] = [&[-1.0, 1.0], &[-1.0, 0.0, 1.0], &[-1.0, -0.3, 0.1, 0.3, 1.0], &[-1.0, 0.0, 0.1, 1.0]];
    let shapes: Vec<String> = written
        .iter()
        .map(|line| polyline(&line.iter().map(|&x| [x, 0.0]).collect::<Vec<_>>()))
        .chain(others.map(String::from))
        .collect();
    let columns = ["probe.mass.x", "probe.mass.y", "probe.mass.vx", "probe.mass.vy", "contact.stop.force"];
    for scheme in SCHEMES {
        for keys in ["", "radius = 0.03", "restitution = 0.6", "radius = 0.03\nfriction = 0.2"] {
            for (x, vx) in [(0.0, 0.0), (-0.3, 0.3), (0.0999, 0.2)] {
                let runs = shapes
                    .iter()
                    .map(|shape| mass([x, 0.13], [vx, 0.0], -10.0, [0.5, 1e-3], scheme, &format!("{shape}\n{keys}")));
                let runs: Vec<History> = runs.collect();
                assert!(runs[0].max("contact.stop.force") > 9.0, "{keys}: no contact");
                for (run, shape) in runs[1..].iter().zip(&shapes[1..]) {
                    for name in columns {
                        assert_eq!(run.column(name), runs[0].column(name), "{scheme} {keys} {x} {vx}: {name}, {shape}");
                    }
                }
            }
        }
    }
}

/// A beam comes to rest on a polyline whose vertices are exactly below its nodes: its whole weight is carried.
#[test]
fn a_polyline_carries_the_whole_weight_of_a_beam() {
    let run = |contact: &str| {
        let text = format!(
            "format = 1\ngravity = [0.0, -9.81]\n[time]\nend = 0.05\nstep = 1e-4\n[scheme]\nname = \"moreau-jean\"\n\
             [[body]]\nname = \"beam\"\nelement = \"beam\"\n\
             line = {{ from = [-1.0, 0.0], to = [1.0, 0.0], elements = 10 }}\n\
             material = {{ young = 1e8, poisson = 0.3, density = 2000.0 }}\n\
             section = {{ shape = \"rectangle\", width = 0.01, height = 0.02 }}\n\
             [[contact]]\nname = \"floor\"\nnodes = \"beam\"\n{contact}\n"
        );
        let (run, result) = try_run(&load(&text, &[]));
        result.unwrap_or_else(|error| panic!("{error}"));
        run.column("contact.floor.force")
    };
    // 2000 kg/m³ over 0.02 m · 0.01 m · 2 m.
    let weight = 0.8 * 9.81;
    let floor = run("plane = { point = [0.0, 0.0], normal = [0.0, 1.0] }");
    let points: Vec<[f64; 2]> = (-10..=10).map(|k| [f64::from(k) / 5.0, 0.0]).collect();
    let [fine, coarse] = [&points[..], &[[-2.0, 0.0], [0.0, 0.0], [2.0, 0.0]]].map(|points| run(&polyline(points)));
    assert!((floor.last().unwrap() - weight).abs() < 1e-9 * weight, "{:?}", floor.last());
    assert_eq!(fine, floor);
    assert_eq!(coarse, floor);
}

/// A mass shot into re-entrant vertices of all angles, from everywhere and often straight at the vertex, stays inside by what
/// it moves in two steps.
#[test]
fn no_mass_gets_through_a_reentrant_vertex() {
    let mut random = Random::new(35);
    let mut impacts = 0;
    for number in 0..400 {
        // Half the angle between the walls, 6 to 87 degrees, and the direction in which the vertex opens.
        let half = (6.0 + 81.0 * random.between(0.0, 1.0)).to_radians();
        let turn = std::f64::consts::TAU * random.between(0.0, 1.0);
        let at = |angle: f64, r: f64| [r * (turn + angle).cos(), r * (turn + angle).sin()];
        let start = at(half * (1.8 * random.between(0.0, 1.0) - 0.9), 0.05 + 0.3 * random.between(0.0, 1.0));
        let speed = 1.0 + 2.0 * random.between(0.0, 1.0);
        let aim = if number % 2 == 0 {
            [0.0; 2]
        } else {
            at(half * (2.0 * random.between(0.0, 1.0) - 1.0), 0.01 * random.between(0.0, 1.0))
        };
        let way = [aim[0] - start[0], aim[1] - start[1]];
        let velocity = way.map(|x| x * speed / way[0].hypot(way[1]));
        let step = 1e-3 * (1.0 + random.between(0.0, 1.0));
        // The body is on the left of the way from the wall at +half to the one at −half.
        let walls = polyline(&[at(half, 2.0), [0.0; 2], at(-half, 2.0)]);
        let restitution = [0.0, 0.5, 1.0][number % 3];
        let contact = format!("{walls}\nrestitution = {restitution:?}");
        // A mass at rest in an acute vertex has velocities that decay to subnormal numbers, on which solvers give up.
        let arrival = way[0].hypot(way[1]) / speed;
        let end = if restitution < 1.0 { arrival + 20.0 * step } else { 0.6 };
        let run = mass(start, velocity, 0.0, [end, step], SCHEMES[number / 2 % 2], &contact);
        let (x, y) = (run.column("probe.mass.x"), run.column("probe.mass.y"));
        impacts += usize::from(run.max("contact.stop.force") > 0.0);
        for (x, y) in x.into_iter().zip(y) {
            // Distance inside each wall.
            let inside = [1.0, -1.0].map(|side| {
                let wall = at(side * half, 1.0);
                side * (wall[1] * x - wall[0] * y)
            });
            let least = inside[0].min(inside[1]);
            assert!(least > -2.0 * speed * step, "model {number}: {least:e} at {x}, {y}, {contact}");
        }
    }
    assert_eq!(impacts, 400);
}
