//! Stored sides, (T136): a node stays on its side of what it touches, however a model is written, and what comes around an end
//! is not inside.

use crate::common::history::{History, load, try_run};

const SCHEMES: [&str; 2] = ["name = \"moreau-jean\"", "name = \"newmark\""];
const STEPS: [f64; 2] = [1e-3, 7e-4];

fn run(text: &str) -> History {
    let (run, result) = try_run(&load(text, &[]));
    result.unwrap_or_else(|error| panic!("{error}\n{text}"));
    run
}

fn head(gravity: [f64; 2], [end, step]: [f64; 2], scheme: &str) -> String {
    format!("format = 1\ngravity = {gravity:?}\n[time]\nend = {end:?}\nstep = {step:?}\n[scheme]\n{scheme}\n")
}

fn mass(at: [f64; 2], velocity: [f64; 2]) -> String {
    format!(
        "[[body]]\nname = \"mass\"\nelement = \"mass\"\nat = {at:?}\nvelocity = {velocity:?}\nmass = 1.0\n\
         [[probe]]\nname = \"mass\"\nnode = \"mass\"\n"
    )
}

/// A stiff beam that is held at all nodes.
fn held(geometry: &str) -> String {
    format!(
        "[[body]]\nname = \"beam\"\nelement = \"beam\"\n{geometry}\nmaterial = {{ young = 2e9, poisson = 0.3, density = 1000.0 }}\n\
         section = {{ shape = \"rectangle\", width = 0.04, height = 0.04 }}\n\
         [[support]]\nname = \"held\"\nnodes = \"beam\"\nfix = [\"x\", \"y\", \"theta\"]\n"
    )
}

fn between(radius: f64) -> String {
    format!("[[contact]]\nname = \"touch\"\nbetween = [\"mass\", \"beam\"]\nradius = {radius:?}\n")
}

fn on(obstacle: &str) -> String {
    format!("[[contact]]\nname = \"touch\"\nnodes = \"mass\"\n{obstacle}\n")
}

fn last(run: &History) -> [f64; 2] {
    ["x", "y"].map(|name| run.last(&format!("probe.mass.{name}")))
}

fn each(mut check: impl FnMut(&str, f64)) {
    SCHEMES.iter().for_each(|scheme| STEPS.iter().for_each(|&step| check(scheme, step)));
}

/// A mass that begins at rest exactly on the line of a beam without thickness stays there, whatever the direction of the line
/// and of the axes; so it does on the other side of gravity, and in a frame that moves.
#[test]
fn a_mass_rests_on_a_line_that_it_begins_on() {
    each(|scheme, step| {
        for (angle, swapped, drift) in
            [(0.0, false, 0.0), (0.0, true, 0.0), (0.3, true, 0.0), (3.1, false, 0.0), (1.3, true, 7.0)]
        {
            let (sine, cosine) = f64::sin_cos(angle);
            let turned = |[x, y]: [f64; 2]| [cosine * x - sine * y, sine * x + cosine * y];
            let (from, to) = if swapped { ([1.0, 0.0], [0.0, 0.0]) } else { ([0.0, 0.0], [1.0, 0.0]) };
            let line = format!("line = {{ from = {:?}, to = {:?}, elements = 8 }}", turned(from), turned(to));
            let velocity = turned([drift, 0.0]);
            let support = match drift == 0.0 {
                true => held(&line),
                // Driven along at the velocity of the frame.
                false => {
                    held(&line).replace("fix = [\"x\", \"y\", \"theta\"]", "fix = [\"theta\"]")
                        + &format!(
                            "[support.motion]\nx = {{ kind = \"ramp\", to = {:?}, end = 1.0 }}\ny = {{ kind = \"ramp\", to = {:?}, end = 1.0 }}\n",
                            velocity[0], velocity[1]
                        )
                }
            };
            let support = support.replacen("[[support]]", &format!("velocity = {velocity:?}\n[[support]]"), 1);
            let text = head(turned([0.0, -9.81]), [0.05, step], scheme)
                + &support
                + &mass(turned([0.53, 0.0]), velocity)
                + &between(0.0);
            let run = run(&text);
            let [x, y] = last(&run);
            let height = -sine * x + cosine * y;
            assert!(height.abs() < 1e-12, "{scheme} {step} {angle} {swapped} {drift}: {height:e}");
            assert!((run.last("contact.touch.force") - 9.81).abs() < 1e-8, "{}", run.last("contact.touch.force"));
        }
    });
}

/// A fast mass is stopped some way behind the surface; it stays a candidate although it is slow then.
#[test]
fn a_mass_that_was_stopped_is_not_forgotten() {
    each(|scheme, step| {
        for (text, at) in [
            (on("polyline = { points = [[-0.1, 0.0], [0.1, 0.0]] }"), 0.1),
            (held("line = { from = [-0.1, 0.0], to = [0.1, 0.0], elements = 4 }") + &between(0.0), 0.1),
            (held("line = { from = [0.1, 0.0], to = [-0.1, 0.0], elements = 4 }") + &between(0.0), 0.09),
        ] {
            let guards = "[guards]\npenetration = false\n";
            let run =
                run(&(head([0.0, -10.0], [0.3, step], scheme) + &mass([0.02, at], [0.0, -30.0]) + &text + guards));
            let depth = -last(&run)[1];
            assert!(depth < 30.0 * step && run.last("contact.touch.force") > 9.9, "{scheme} {step}: depth {depth}");
        }
    });
}

/// A polyline that moves meets a mass at rest, also where its motion begins with a jump of its velocity.
#[test]
fn a_moving_polyline_takes_a_mass_along() {
    each(|scheme, step| {
        let polyline = "polyline = { points = [[-0.1, 0.0], [0.1, 0.0]] }";
        for motion in [
            "{ kind = \"ramp\", to = 20.0, start = 0.01, end = 1.01 }",
            "{ kind = \"harmonic\", amplitude = 2.0, frequency = 5.0 }",
        ] {
            let obstacle = format!(
                "{polyline}
motion = {{ y = {motion} }}"
            );
            let run = run(&(head([0.0; 2], [0.045, step], scheme) + &mass([0.02, 0.3], [0.0; 2]) + &on(&obstacle)));
            let y = last(&run)[1];
            assert!(y > if motion.contains("ramp") { 0.65 } else { 1.5 }, "{scheme} {step} {motion}: {y}");
        }
    });
}

/// Bent bodies without thickness have no holes at their corners: in a hollow a mass comes to rest, and from an edge it slides
/// down on the side where it came down.
#[test]
fn bent_bodies_hold_at_their_corners() {
    let fall = |scheme: &str, step: f64, points: &str, x: f64| {
        let body = held(&format!("polyline = {{ points = {points}, elements = 8 }}"));
        let guards = "[guards]\npenetration = false\n";
        last(&run(&(head([0.0, -10.0], [0.2, step], scheme)
            + &body
            + &mass([x, 0.4], [0.0, -10.0])
            + &between(0.0)
            + guards)))
    };
    each(|scheme, step| {
        for x in [0.0, 1e-4, -2e-3, 3e-3] {
            for points in ["[[-0.5, 0.5], [0.0, 0.0], [0.5, 0.5]]", "[[0.5, 0.5], [0.0, 0.0], [-0.5, 0.5]]"] {
                let [_, y] = fall(scheme, step, points, x);
                assert!(y > -0.013, "{scheme} {step} {x}: {y}");
            }
            if x != 0.0 {
                let [right, y] = fall(scheme, step, "[[-0.5, -0.5], [0.0, 0.0], [0.5, -0.5]]", x);
                assert!(
                    right.signum() == x.signum() && right.abs() > 0.5 && y + right.abs() > -0.06,
                    "{scheme} {step} {x}: {right} {y}"
                );
            }
        }
    });
}

/// A thick body is not pushed through another one: where it would go deeper than its thickness, the step is cut.
#[test]
fn thick_bodies_stay_on_their_side() {
    each(|scheme, step| {
        for speed in [90.0, 300.0, 2500.0] {
            for (from, sign) in [(0.2, 1.0), (-0.2, -1.0)] {
                let text = head([0.0; 2], [0.02, step], scheme)
                    + &held("line = { from = [0.0, 0.0], to = [1.0, 0.0], elements = 8 }")
                    + &mass([0.53, from], [0.0, -sign * speed])
                    + &between(0.025);
                let run = run(&text);
                assert!(sign * last(&run)[1] > 0.0, "{scheme} {step} {speed}: {:?}", last(&run));
                assert!(run.max("contact.touch.impulse") > 0.0);
            }
        }
    });
}

/// A mass in lasting contact with an elastic beam whose nodes are light beside it: it rebounds above the beam.
#[test]
fn a_heavy_mass_does_not_fall_through_a_light_beam() {
    for (scheme, position) in
        [("name = \"generalized-alpha\"\nrho_inf = 0.5", ""), ("name = \"newmark\"", "position = \"ggl\"\n")]
    {
        let text = head([0.0, -10.0], [0.3414213562, 1e-3], &format!("{scheme}\n{position}"))
            + "[[body]]\nname = \"beam\"\nelement = \"linear-beam\"\nline = { from = [0.0, 0.0], to = [2.0, 0.0], elements = 40 }\n\
               material = { young = 2e11, poisson = 0.3, density = 7800.0 }\n\
               section = { shape = \"rectangle\", width = 0.05, height = 0.02 }\n\
               [[support]]\nname = \"l\"\nnodes = \"beam.start\"\nfix = [\"x\", \"y\"]\n\
               [[support]]\nname = \"r\"\nnodes = \"beam.end\"\nfix = [\"y\"]\n"
            + &mass([1.0, 0.101], [0.0; 2]).replace("mass = 1.0", "mass = 10.0")
            + &between(0.0005);
        let run = run(&text);
        let lowest = run.min("probe.mass.y");
        assert!(run.last("probe.mass.y") > 0.0 && lowest > -0.05, "{scheme}: {} {lowest}", run.last("probe.mass.y"));
        assert!(run.min("contact.touch.gap") > -1e-3 - 1e-12, "{scheme}: {}", run.min("contact.touch.gap"));
    }
}

/// What comes from beside the end of an obstacle and goes below it falls freely there, to round-off; what comes through its
/// surface is held.
#[test]
fn nothing_holds_behind_an_end() {
    let obstacles = [
        "half_plane = { point = [0.0, 0.0], normal = [0.0, 1.0] }",
        "polyline = { points = [[0.0, 0.0], [1.0, 0.0]] }",
        "arc = { centre = [0.5, -1.0], radius = 1.118033988749895, from = 1.1071487177940904, to = 2.0344439357957027, inside = false }",
    ];
    each(|scheme, step| {
        for obstacle in obstacles {
            let end = 0.2;
            let below =
                run(&(head([0.0, -10.0], [end, step], scheme) + &mass([-0.1, -0.05], [2.0, 0.0]) + &on(obstacle)));
            let [x, y] = last(&below);
            assert!((x - 0.3).abs() < 1e-12 && (y + 0.25).abs() < 1e-12, "{scheme} {step} {obstacle}: {x} {y}");
            assert_eq!(below.max("contact.touch.impulse"), 0.0);
            // From beside the end, above it, onto the surface.
            let above =
                run(&(head([0.0, -10.0], [end, step], scheme) + &mass([-0.1, 0.05], [3.0, 0.0]) + &on(obstacle)));
            let [_, y] = last(&above);
            assert!(y > -10.0 * step && above.max("contact.touch.impulse") > 0.0, "{scheme} {step} {obstacle}: {y}");
        }
    });
}

/// A mass that begins exactly on the vertex of a bent beam without thickness, in motion in any direction: the direction in which
/// the beam is written changes nothing.
#[test]
fn at_a_vertex_the_direction_of_the_body_does_not_matter() {
    let mut decided = [0, 0];
    for (k, scheme) in SCHEMES.iter().cycle().take(24).enumerate() {
        let (sine, cosine) = (k as f64 * std::f64::consts::TAU / 24.0 + 0.1).sin_cos();
        for height in [0.4, -0.4] {
            let fall = |points: [[f64; 2]; 3]| {
                let body = held(&format!("polyline = {{ points = {points:?}, elements = 8 }}"));
                let ball = mass([0.0, height], [3.0 * cosine, 3.0 * sine]);
                run(&(head([0.0, -10.0], [0.1, 1e-3], scheme) + &body + &ball + &between(0.0)))
            };
            let run = fall([[-0.5, 0.0], [0.0, height], [0.5, 0.0]]);
            let other = fall([[0.5, 0.0], [0.0, height], [-0.5, 0.0]]);
            let ([x, y], [a, b]) = (last(&run), last(&other));
            // Round-off, which a hollow with two contacts makes a little larger.
            assert!((x - a).abs() < 1e-10 && (y - b).abs() < 1e-10, "{scheme} {k} {height}: {x} {y}, {a} {b}");
            // The first motion is taken for an arrival, wherever it leads.
            assert!(run.column("contact.touch.impulse")[1] > 0.0, "{scheme} {k} {height}");
            decided[usize::from(y > height - 1.2 * x.abs())] += 1;
        }
    }
    assert!(decided.iter().all(|&count| count > 5), "{decided:?}");
}

/// What comes around the free end of a body without thickness is on its other side: it falls freely below it, and is held from
/// below when it rises. In one long step from beside the end to below, the place where the path meets the line decides.
#[test]
fn around_the_end_of_a_body_is_its_other_side() {
    for scheme in SCHEMES {
        for line in ["from = [0.0, 0.0], to = [1.0, 0.0]", "from = [1.0, 0.0], to = [0.0, 0.0]"] {
            let body = held(&format!("line = {{ {line}, elements = 8 }}"));
            let go = |gravity: [f64; 2], end: f64, at: [f64; 2], velocity: [f64; 2]| {
                let guards = "[guards]\npenetration = false\n";
                let text = head(gravity, [end, 1e-3], scheme) + &body + &mass(at, velocity) + &between(0.0) + guards;
                let run = run(&text);
                (last(&run), run.max("contact.touch.impulse"))
            };
            let ([x, y], impulse) = go([0.0, -10.0], 0.2, [-0.1, -0.05], [2.0, 0.0]);
            assert!((x - 0.3).abs() < 1e-12 && (y + 0.25).abs() < 1e-12 && impulse == 0.0, "{scheme}: {x} {y}");
            let ([_, y], impulse) = go([0.0, 10.0], 0.2, [-0.1, -0.05], [2.0, 0.0]);
            assert!(y.abs() < 0.01 && impulse > 0.0, "{scheme}: {y}");
            // From (−0.05, 0.02) the path meets the line at x = −0.0167, beside the beam, or at 0.0167, on it.
            let ([_, y], impulse) = go([0.0; 2], 4e-3, [-0.05, 0.02], [100.0, -60.0]);
            assert!((y + 0.22).abs() < 1e-12 && impulse == 0.0, "{scheme}: {y}");
            let ([_, y], impulse) = go([0.0; 2], 4e-3, [-0.05, 0.02], [200.0, -60.0]);
            assert!(y > -0.06 && impulse > 0.0, "{scheme}: {y}");
        }
    }
}
