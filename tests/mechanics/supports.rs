//! Supports that move, and joints: ledger, closed forms, and what is said about those that cannot be.

use crate::common::cases::Altered;
use crate::common::history::{History, build, load, run, run_edited, shipped, try_run};
use crate::common::runs;
use carom::Error;
use carom::case::data::JointKind;
use carom::model::Component;
use carom::schemes::SCHEMES;
use std::f64::consts::TAU;

/// An elastic bar of wave speed 1 and length 1, its left end driven.
const BAR: &str = r#"
    format = 1
    time = { end = 3.0, step = 0.02 }
    scheme = { name = "newmark" }
    [[body]]
    name = "bar"
    element = "bar"
    line = { from = [0.0], to = [1.0], elements = 10 }
    material = { young = 2.0, density = 2.0 }
    section = { area = 1.0 }
    damping = { stiffness = 0.0 }
    [[support]]
    name = "shaker"
    nodes = "bar.start"
    motion = { x = { kind = "harmonic", amplitude = 0.1, frequency = 0.3, phase = 0.4 } }
    [[probe]]
    name = "end"
    node = "bar.end"
    [[probe]]
    name = "start"
    node = "bar.start"
    "#;

const WALL: &str = r#"
    [[contact]]
    name = "wall"
    nodes = "bar.end"
    plane = { point = [1.05], normal = [-1.0] }
    "#;

/// A soft beam that hangs from a pin which is shaken both ways, far beyond small rotations.
const HANGING: &str = r#"
    format = 1
    gravity = [0.0, -9.81]
    time = { end = 1.0, step = 1e-3 }
    scheme = { name = "newmark" }
    [[body]]
    name = "beam"
    element = "beam"
    line = { from = [0.0, 0.0], to = [0.6, -0.8], elements = 6 }
    material = { young = 1e5, poisson = 0.3, density = 1000.0 }
    section = { shape = "rectangle", width = 0.1, height = 0.1 }
    damping = { stiffness = 0.0 }
    [[support]]
    name = "pin"
    nodes = "beam.start"
    [support.motion]
    x = { kind = "harmonic", amplitude = 0.1, frequency = 1.5 }
    y = { kind = "harmonic", amplitude = 0.05, frequency = 2.0, phase = 0.5 }
    [[probe]]
    name = "pin"
    node = "beam.start"
    "#;

const POST: &str = r#"
    [[contact]]
    name = "post"
    nodes = "beam"
    plane = { point = [0.05, 0.0], normal = [1.0, 0.0] }
    restitution = 0.3
    "#;

/// Runs with every scheme of the registry, and with the position correction where there is contact.
fn with_every_scheme(text: &str, set: &[&str], check: impl Fn(&str, &History)) {
    for kind in SCHEMES.iter().filter(|kind| kind.row.is_some()) {
        let scheme = runs::scheme(kind);
        let mut schemes = vec![scheme.clone()];
        if text.contains("[[contact]]") && ["newmark", "hht", "generalized-alpha"].contains(&kind.name) {
            schemes.push(scheme.replace(" }", ", position = \"ggl\" }"));
        }
        for scheme in schemes {
            let scheme = format!("scheme={scheme}");
            let all = [&[scheme.as_str()], set].concat();
            check(&format!("{scheme} {set:?}"), &run(text, &all));
        }
    }
}

/// The reaction of a driven row times its path is what the support puts in: with it the ledger closes to round-off for
/// every scheme, without it nothing would.
#[test]
fn work_of_a_driven_end_closes_the_ledger_of_a_bar() {
    for damping in ["0.0", "0.01"] {
        let damping = format!("body.bar.damping={{ stiffness = {damping} }}");
        for text in [BAR.to_string(), format!("{BAR}{WALL}")] {
            with_every_scheme(&text, &[&damping], |what, run| {
                assert!(run.ledger.worst_step < 1e-12 && run.ledger.worst_sum < 1e-11, "{what}: {:?}", run.ledger);
                let scale = run.ledger.scale;
                assert!(run.max("work_support") > 0.1 * scale, "{what}: the shaker must matter");
                if text.contains(WALL) {
                    assert!(run.max("impulse") > 0.0, "{what}: the bar must meet the wall");
                }
            });
        }
    }
}

#[test]
fn work_of_a_shaken_pin_closes_the_ledger_of_an_exact_beam() {
    for damping in ["0.0", "0.01"] {
        let damping = format!("body.beam.damping={{ stiffness = {damping} }}");
        for text in [HANGING.to_string(), format!("{HANGING}{POST}")] {
            with_every_scheme(&text, &[&damping], |what, run| {
                assert!(run.ledger.worst_step < 1e-10 && run.ledger.worst_sum < 1e-9, "{what}: {:?}", run.ledger);
                assert!(run.max("work_support") > 0.1 * run.ledger.scale, "{what}: the shaker must matter");
                if text.contains(POST) {
                    assert!(run.max("impulse") > 0.0, "{what}: the beam must meet the post");
                }
            });
        }
    }
}

/// A kink in the motion of a support is a velocity that jumps. Rows without numerical damping answer with a velocity that
/// alternates between 0 and twice the new rate and never settles; generalized-α settles within some steps. The ledger
/// closes in any case.
#[test]
fn a_kink_rings_without_numerical_damping() {
    let kink = r#"support.pin.motion={ y = { kind = "ramp", to = 0.2, start = 0.2, end = 0.6 } }"#;
    let ringing = |scheme: &str| {
        let run = run(HANGING, &[kink, "time.end=0.5", &format!("scheme={scheme}")]);
        assert!(run.ledger.worst_step < 1e-10 && run.ledger.worst_sum < 1e-9, "{scheme}: {:?}", run.ledger);
        let rates = run.column("probe.pin.vy");
        rates[rates.len() - 2..].iter().map(|v| (v - 0.5).abs()).fold(0.0, f64::max)
    };
    assert!((ringing(r#"{ name = "newmark" }"#) - 0.5).abs() < 1e-6);
    assert!((ringing(r#"{ name = "moreau-jean" }"#) - 0.5).abs() < 1e-6);
    assert!(ringing(r#"{ name = "generalized-alpha", rho_inf = 0.7 }"#) < 1e-6);
    assert!(ringing(r#"{ name = "moreau-jean", theta = 1.0 }"#) < 1e-6);
    assert!(ringing(r#"{ name = "central-difference" }"#) < 1e-6);
}

/// The touching node is itself driven, across the plane: a slider on a ramp. The support takes its share of the impulse.
#[test]
fn contact_at_a_driven_node() {
    let text = r#"
        format = 1
        gravity = [0.0, -9.81]
        time = { end = 2.0, step = 5e-3 }
        scheme = { name = "newmark" }
        [[body]]
        name = "slider"
        element = "mass"
        at = [0.0, 0.2]
        mass = 2.0
        [[support]]
        name = "drive"
        nodes = "slider"
        motion = { x = { kind = "harmonic", amplitude = 0.5, frequency = 0.5 } }
        [[contact]]
        name = "ramp"
        nodes = "slider"
        plane = { point = [0.0, 0.0], normal = [-0.6, 0.8] }
        restitution = 0.5
        [[probe]]
        name = "slider"
        node = "slider"
        "#;
    with_every_scheme(text, &[], |what, run| {
        assert!(run.ledger.worst_step < 1e-12 && run.ledger.worst_sum < 1e-11, "{what}: {:?}", run.ledger);
        let impulses = run.column("impulse").iter().filter(|p| **p > 0.0).count();
        assert!(impulses > 10, "{what}: {impulses} steps with contact");
    });
}

/// Contact with all nodes of a body includes those that a support holds, here on the floor itself: what they would carry
/// goes into the support. Transient with both position rules, and static.
#[test]
fn held_nodes_take_no_part_in_contact() {
    let text = r#"
        format = 1
        gravity = [0.0, -9.81]
        time = { end = 0.5, step = 1e-3 }
        scheme = { name = "generalized-alpha", rho_inf = 0.8 }
        [[body]]
        name = "beam"
        element = "linear-beam"
        line = { from = [0.0, 0.0], to = [1.0, 0.0], elements = 4 }
        material = { young = 1e6, poisson = 0.3, density = 1000.0 }
        section = { shape = "rectangle", width = 0.05, height = 0.05 }
        [[support]]
        name = "clamp"
        nodes = "beam.start"
        fix = ["x", "y", "theta"]
        [[contact]]
        name = "floor"
        nodes = "beam"
        plane = { point = [0.0, 0.0], normal = [0.0, 1.0] }
        "#;
    for element in ["linear-beam", "beam"] {
        for extra in ["scheme.position=\"half\"", "scheme.position=\"ggl\"", "analysis=\"static\""] {
            let run = run(text, &[extra, &format!("body.beam.element={element:?}")]);
            // Four nodes carry the weight from the middle of the first element on.
            let weight = 9.81 * 1000.0 * 0.05 * 0.05;
            let force = run.last("contact.floor.force");
            assert!(force > 0.8 * weight && force < weight, "{element} {extra}: {force} of {weight}");
            assert!(run.min("min_gap") > -5e-5, "{element} {extra}: {}", run.min("min_gap"));
        }
    }
}

/// q1 is the prescribed place at every step; central differences reach it to their order (their q1 is known before a1).
#[test]
fn a_driven_end_is_where_it_should_be() {
    with_every_scheme(BAR, &[], |what, run| {
        let tolerance = if what.contains("central") { 1e-3 * 0.1 } else { 1e-15 };
        for (t, x) in run.column("time").into_iter().zip(run.column("probe.start.x")) {
            let exact = 0.1 * (TAU * 0.3 * t + 0.4).sin();
            assert!((x - exact).abs() <= tolerance, "{what} at {t}: {x} {exact}");
        }
    });
}

/// A support at constant speed carries a body that moves along without strain, and does no work on it.
#[test]
fn a_support_at_constant_speed_carries_a_body() {
    for element in ["beam", "linear-beam"] {
        let text = format!(
            r#"
            format = 1
            time = {{ end = 1.0, step = 0.01 }}
            scheme = {{ name = "newmark" }}
            [[body]]
            name = "beam"
            element = "{element}"
            line = {{ from = [0.0, 0.0], to = [0.3, 0.4], elements = 3 }}
            material = {{ young = 1e5, poisson = 0.3, density = 1000.0 }}
            section = {{ shape = "rectangle", width = 0.1, height = 0.1 }}
            velocity = [2.0, -1.0]
            [[support]]
            name = "carrier"
            nodes = "beam.start"
            fix = ["theta"]
            [support.motion]
            x = {{ kind = "ramp", to = 4.0, end = 2.0 }}
            y = {{ kind = "ramp", to = -2.0, end = 2.0 }}
            [[probe]]
            name = "tip"
            node = "beam.end"
            "#
        );
        for kind in SCHEMES.iter().filter(|kind| kind.row.is_some() && kind.name != "central-difference") {
            let run = run(&text, &[&format!("scheme={}", runs::scheme(kind))]);
            let kinetic = 0.5 * 5.0 * 1000.0 * 0.01 * 0.5;
            assert!((run.last("probe.tip.x") - 2.3).abs() < 1e-9, "{element} {}", kind.name);
            assert!((run.last("probe.tip.y") + 0.6).abs() < 1e-9, "{element} {}", kind.name);
            assert!((run.last("kinetic") / kinetic - 1.0).abs() < 1e-9, "{element} {}", kind.name);
            assert!(run.max("strain") < 1e-12 * kinetic, "{element} {}: {:e}", kind.name, run.max("strain"));
            assert!(run.last("work_support").abs() < 1e-9 * kinetic, "{element} {}", kind.name);
        }
    }
}

/// Bar driven at one end, free at the other, on its steady motion u(x, t) = A sin(ωt) cos(k(L−x))/cos(kL) from the start.
/// Halving element and step together divides the error by four.
#[test]
fn steady_response_of_a_driven_bar() {
    let (amplitude, frequency) = (0.1, 0.6);
    let omega = TAU * frequency;
    // Wave speed 1, so k = ω. Between the first two resonances the end moves against the shaker.
    let ratio = 1.0 / omega.cos();
    assert!(ratio < -1.0);
    let mut errors = Vec::new();
    for n in [20, 40] {
        let set = [
            "support.shaker.motion={ x = { kind = \"harmonic\", amplitude = 0.1, frequency = 0.6 } }".to_string(),
            format!("body.bar.line.elements={n}"),
            format!("time.step={}", 0.4 / n as f64),
            "time.end=4.0".to_string(),
        ];
        let run = run_edited(BAR, &set.each_ref().map(String::as_str), |model| {
            for (place, velocity) in model.places.iter().zip(&mut model.velocity) {
                velocity[0] = amplitude * omega * (omega * (1.0 - place[0])).cos() / omega.cos();
            }
        });
        let end = run.column("time").into_iter().zip(run.column("probe.end.x"));
        errors.push(end.map(|(t, x)| (x - 1.0 - amplitude * ratio * (omega * t).sin()).abs()).fold(0.0, f64::max));
    }
    let order = (errors[0] / errors[1]).log2();
    assert!((order - 2.0).abs() < 0.1, "order {order}, {errors:?}");
    assert!(errors[1] < 1e-2 * amplitude, "{errors:?}");
}

/// Two beams end to end, from (0, 0) over (0.6, 0.3) to (1.2, 0.6), clamped and loaded at the far end, with a joint.
fn two_pieces(element: &str, joint: &str) -> String {
    let piece = |name: &str, from: &str, to: &str, elements: usize| {
        format!(
            r#"
            [[body]]
            name = "{name}"
            element = "{element}"
            line = {{ from = [{from}], to = [{to}], elements = {elements} }}
            material = {{ young = 1e6, poisson = 0.3, density = 1000.0 }}
            section = {{ shape = "rectangle", width = 0.05, height = 0.05 }}
            "#
        )
    };
    let bodies = if joint.is_empty() {
        piece("first", "0.0, 0.0", "1.2, 0.6", 8)
    } else {
        piece("first", "0.0, 0.0", "0.6, 0.3", 4)
            + &piece("second", "0.6, 0.3", "1.2, 0.6", 4)
            + &format!(
                "[[joint]]\nname = \"middle\"\nkind = \"{joint}\"\nbetween = [\"first.end\", \"second.start\"]\n"
            )
    };
    let tip = if joint.is_empty() { "first.end" } else { "second.end" };
    format!(
        r#"
        format = 1
        gravity = [0.0, -9.81]
        time = {{ end = 0.5, step = 2e-3 }}
        [scheme]
        name = "generalized-alpha"
        rho_inf = 0.8
        {bodies}
        [[support]]
        name = "clamp"
        nodes = "first.start"
        fix = ["x", "y", "theta"]
        [[load]]
        name = "tip"
        nodes = "{tip}"
        force = [3.0, 1.0]
        [[probe]]
        name = "tip"
        node = "{tip}"
        "#
    )
}

#[test]
fn two_welded_pieces_are_one_beam() {
    for element in ["linear-beam", "beam"] {
        let [one, welded, hinged] = ["", "weld", "hinge"].map(|joint| run(&two_pieces(element, joint), &[]));
        let mut largest = 0.0_f64;
        for column in ["probe.tip.x", "probe.tip.y", "probe.tip.theta", "probe.tip.vy", "energy", "strain"] {
            for (a, b) in one.column(column).into_iter().zip(welded.column(column)) {
                assert!((a - b).abs() < 1e-12, "{element} {column}: {a} {b}");
            }
            largest = largest.max((one.last(column) - hinged.last(column)).abs());
        }
        assert!(largest > 0.1, "{element}: a hinge must make a difference, {largest}");
    }
}

/// Clamped at both ends with a hinge and a load P in the middle: each half is a cantilever under P/2, because no moment
/// passes. Deflection (P/2)(l³/3EI + l/GA), rotations ±(P/2) l²/2EI.
#[test]
fn a_hinge_transmits_no_moment() {
    let text = r#"
        format = 1
        analysis = "static"
        time = { end = 1.0, step = 1.0 }
        scheme = { name = "newmark" }
        [[body]]
        name = "left"
        element = "linear-beam"
        line = { from = [0.0, 0.0], to = [1.0, 0.0], elements = 3 }
        material = { young = 1.0, shear = 1.0, density = 1.0 }
        section = { area = 1e3, inertia = 1.0, shear_area = 20.0 }
        [[body]]
        name = "right"
        element = "linear-beam"
        line = { from = [1.0, 0.0], to = [2.0, 0.0], elements = 2 }
        material = { young = 1.0, shear = 1.0, density = 1.0 }
        section = { area = 1e3, inertia = 1.0, shear_area = 20.0 }
        [[joint]]
        name = "middle"
        kind = "hinge"
        between = ["left.end", "right.start"]
        [[support]]
        name = "left"
        nodes = "left.start"
        fix = ["x", "y", "theta"]
        [[support]]
        name = "right"
        nodes = "right.end"
        fix = ["x", "y", "theta"]
        [[load]]
        name = "middle"
        nodes = "left.end"
        force = [0.0, -0.01]
        time = { kind = "ramp", end = 1.0 }
        [[probe]]
        name = "left"
        node = "left.end"
        [[probe]]
        name = "right"
        node = "right.start"
        "#;
    let hinged = run(text, &[]);
    let deflection = 0.005 * (1.0 / 3.0 + 1.0 / 20.0);
    for side in ["left", "right"] {
        let y = hinged.last(&format!("probe.{side}.y"));
        assert!((y + deflection).abs() < 1e-14, "{side}: {y} {deflection}");
    }
    assert!((hinged.last("probe.left.theta") + 0.0025).abs() < 1e-14);
    assert!((hinged.last("probe.right.theta") - 0.0025).abs() < 1e-14);
    let welded = run(text, &["joint.middle.kind=\"weld\""]);
    // The middle of a clamped beam of length 2: P (2³/192EI + 2/4GA).
    let deflection = 0.01 * (8.0 / 192.0 + 2.0 / 80.0);
    assert!((welded.last("probe.left.y") + deflection).abs() < 1e-14, "{}", welded.last("probe.left.y"));
    assert!(welded.last("probe.left.theta").abs() < 1e-15);
}

/// Columns and girder are two bodies of one Gmsh file: welded where they meet, unless the case says that it is a hinge.
#[test]
fn members_of_a_gmsh_frame_meet() {
    let knees = |set: &[&str]| {
        let loaded = shipped("portal-frame", set);
        let prepared = carom::run::prepare(&loaded).unwrap();
        let (model, nodes) = (prepared.model, prepared.system.nodes);
        let knee = |x: f64| -> [bool; 3] {
            let there: Vec<usize> = (0..model.places.len()).filter(|&n| model.places[n] == [x, 3.0]).collect();
            assert_eq!(there.len(), 2, "a node of the column and one of the girder");
            [Component::X, Component::Y, Component::Theta].map(|c| nodes.dof(there[0], c) == nodes.dof(there[1], c))
        };
        let kinds: Vec<(bool, JointKind)> = model.joints.iter().map(|j| (j.name.is_some(), j.kind)).collect();
        (knee(0.0), knee(4.0), kinds)
    };
    let (left, right, joints) = knees(&[]);
    assert_eq!(left, [true, true, true]);
    assert_eq!(right, [true, true, false], "the joint at the named point is a hinge");
    assert_eq!(joints, [(true, JointKind::Hinge), (false, JointKind::Weld)]);
    let (left, right, _) = knees(&["joint=[]"]);
    assert_eq!((left, right), ([true; 3], [true; 3]), "without it the frame is welded");
}

/// The message of a model that cannot be assembled.
fn refusal(text: &str, set: &[&str]) -> String {
    match build(text, set) {
        Err(Error::Input(message)) => message,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("this model must be refused: {set:?}"),
    }
}

#[test]
fn joints_that_cannot_be() {
    let apart = two_pieces("beam", "hinge").altered(r#"between = ["first.end", "#, r#"between = ["first.start", "#);
    assert_eq!(
        refusal(&apart, &[]),
        "joint `middle`, between: no node of `first.start` coincides with one of `second.start`; a joint needs nodes at \
         the same place"
    );
}

#[test]
fn supports_that_cannot_be() {
    let hold =
        |nodes: &str, rest: &str| format!("{HANGING}\n[[support]]\nname = \"more\"\nnodes = \"{nodes}\"\n{rest}\n");
    let twice = "body `beam`, node 0 at (0, 0), component x is held or moved twice";
    let wave = r#"motion = { x = { kind = "harmonic", amplitude = 0.1, frequency = 1.0 } }"#;
    for (what, rest) in [("fixed elsewhere", r#"fix = ["x"]"#), ("moved elsewhere", wave)] {
        let message = refusal(&hold("beam.start", rest), &[]);
        assert!(message.starts_with("support `") && message.ends_with(twice), "{what}: {message}");
    }
    let message = refusal(&hold("beam.end", &format!("fix = [\"x\"]\n{wave}")), &[]);
    assert!(message.starts_with("support `more`: body `beam`, node 6 at (0.6, -0.8), component x"), "{message}");
    // Two supports that hold the same component say the same thing twice, and agree.
    build(
        &hold("beam.start", r#"fix = ["x"]"#),
        &[r#"support.pin={ name = "pin", nodes = "beam.start", fix = ["x", "y"] }"#],
    )
    .unwrap();
    let bar = HANGING.altered("element = \"beam\"", "element = \"bar\"");
    let message = refusal(&(bar + "\n[[support]]\nname = \"more\"\nnodes = \"beam.end\"\nfix = [\"theta\"]\n"), &[]);
    assert_eq!(message, "support `more`: a node of `beam` has no component `theta`");
}

/// A weld makes the two nodes one: what holds the one holds the other, and may not be driven there.
#[test]
fn a_support_on_one_side_of_a_weld_holds_both() {
    let text = two_pieces("beam", "weld")
        + r#"
        [[support]]
        name = "post"
        nodes = "first.end"
        fix = ["y"]
        [[support]]
        name = "jack"
        nodes = "second.start"
        motion = { y = { kind = "ramp", to = 0.1, end = 1.0 } }
        "#;
    assert!(refusal(&text, &[]).ends_with("component y is held or moved twice"), "{}", refusal(&text, &[]));
}

/// What a support moves starts where its motion says, whatever the initial fields of the body.
#[test]
fn a_driven_component_starts_on_its_motion() {
    let (run, result) = try_run(&load(BAR, &["body.bar.velocity=[7.0]", "body.bar.displacement=[1.0]"]));
    result.unwrap();
    let rate = 0.1 * TAU * 0.3 * 0.4_f64.cos();
    assert!((run.column("probe.start.vx")[0] - rate).abs() < 1e-15);
    assert!((run.column("probe.start.x")[0] - 0.1 * 0.4_f64.sin()).abs() < 1e-15);
    assert_eq!((run.column("probe.end.vx")[0], run.column("probe.end.x")[0]), (7.0, 2.0));
}
