//! Works that were booked wrongly, and guards that stopped good runs or let bad ones go on.

use crate::common::cases::Altered;
use crate::common::runs::{Run, load, run, shipped, try_run};
use carom::Error;
use carom::case::Loaded;

/// Final value of a column since the start.
fn total(run: &Run, work: impl Fn(&carom::ledger::Balance) -> f64) -> f64 {
    run.steps.iter().map(|step| work(&step.balance)).sum()
}

/// Schemes that make the same motion: the trapezoidal rule in different clothes.
pub const SAME_MOTION: [&str; 5] = [
    r#"{ name = "moreau-jean", theta = 0.5 }"#,
    r#"{ name = "moreau-jean-dissipative", theta = 0.5 }"#,
    r#"{ name = "newmark" }"#,
    r#"{ name = "hht", alpha = 0.0 }"#,
    r#"{ name = "generalized-alpha", rho_inf = 1.0 }"#,
];

/// Three free unknowns with a consistent mass, the fourth driven, damped.
pub const DRIVEN: &str = r#"
    format = 1
    time = { end = 2.0, step = 4e-3 }
    scheme = { name = "newmark" }
    [[body]]
    name = "bar"
    element = "bar"
    line = { from = [0.0], to = [3.0], elements = 3 }
    material = { young = 40.0, density = 1.0 }
    section = { area = 1.0 }
    damping = { mass = 0.1, stiffness = 0.01 }
    displacement = [0.5]
    [[support]]
    name = "shaker"
    nodes = "bar.start"
    motion = { x = { kind = "harmonic", amplitude = 0.5, frequency = 0.8, phase = 1.5707963267948966 } }
    [output]
    vtk = false
    "#;

/// A case with another scheme and step.
pub fn with_scheme(text: &str, scheme: &str, step: &str) -> Loaded {
    load(text, &[&format!("scheme={scheme}"), &format!("time.step={step}")])
}

/// The reaction was taken where the scheme weighs it, at the end of the step for Newmark: supports −2.394, scheme +2.606.
#[test]
fn newmark_booked_the_reactions_of_the_end_of_the_step() {
    let books: Vec<[f64; 2]> = SAME_MOTION
        .iter()
        .map(|scheme| {
            let run = run(shipped("portal-frame", &[&format!("scheme={scheme}"), "output.vtk=false"]));
            [total(&run, |b| b.support), total(&run, |b| b.scheme)]
        })
        .collect();
    for [support, scheme] in &books {
        // 0.2123 as Moreau–Jean with θ = ½ always had it.
        assert!((support - 0.21233).abs() < 1e-5, "{books:?}");
        assert!(scheme.abs() < 1e-12, "{books:?}");
    }
}

/// With a table of places, velocities jump at its corners, and the false work grew like 1/h until guards stopped the run.
#[test]
fn a_tabulated_motion_was_stopped_for_work_that_nobody_did() {
    let table = crate::common::at_root("tests/data/sawtooth.csv");
    let motion = format!("kind = \"table\", file = {:?}", table.to_str().expect("a path in UTF-8"));
    let text =
        DRIVEN.altered(r#"kind = "harmonic", amplitude = 0.5, frequency = 0.8, phase = 1.5707963267948966"#, &motion);
    let text = text.altered("displacement = [0.5]", "displacement = [0.0]");
    let works = |scheme: &str| -> Vec<f64> {
        let of = |step| total(&run(with_scheme(&text, scheme, step)), |b| b.support);
        ["5e-3", "2.5e-3", "1.25e-3"].map(of).to_vec()
    };
    let exact = works(SAME_MOTION[0]);
    for scheme in &SAME_MOTION[1..] {
        for (a, b) in works(scheme).iter().zip(&exact) {
            assert!((a - b).abs() < 1e-8 * b.abs(), "{scheme}: {a} is not {b}");
        }
    }
    for scheme in [r#"{ name = "hht", alpha = 0.1 }"#, r#"{ name = "generalized-alpha", rho_inf = 0.8 }"#] {
        // What ringing behind a corner takes is a matter of the scheme, but not of the step.
        let works = works(scheme);
        for pair in works.windows(2) {
            assert!((pair[1] - pair[0]).abs() < 0.02 * pair[0].abs(), "{scheme}: {works:?}");
        }
    }
}

/// Of a dissipative scheme the sum of `scheme` is never positive and of second order, and so is the work of the support.
#[test]
fn a_dissipative_scheme_gained_energy_from_a_support() {
    let steps = ["4e-3", "2e-3", "1e-3"];
    let fine = total(&run(with_scheme(DRIVEN, SAME_MOTION[0], "5e-5")), |b| b.support);
    for scheme in [r#"{ name = "hht", alpha = 0.1 }"#, r#"{ name = "generalized-alpha", rho_inf = 0.8 }"#] {
        let mut works = Vec::new();
        for step in steps {
            let run = run(with_scheme(DRIVEN, scheme, step));
            let mut sum = 0.0;
            for step in &run.steps {
                sum += step.balance.scheme;
                assert!(sum <= 1e-14, "{scheme}: {sum} at {}", step.time);
            }
            works.push([total(&run, |b| b.support) - fine, sum]);
        }
        for pair in works.windows(2) {
            for k in 0..2 {
                let order = (pair[0][k] / pair[1][k]).log2();
                assert!((order - 2.0).abs() < 0.1, "{scheme}: {works:?}");
            }
        }
    }
}

const STICKING: &str = r#"
    format = 1
    gravity = [0.0, -10.0]
    time = { end = 1.0, step = 1e-2 }
    [[body]]
    name = "block"
    element = "mass"
    at = [0.0, 0.0]
    mass = 1.0
    [[load]]
    name = "push"
    nodes = "block"
    force = [2.0, 0.0]
    [[contact]]
    name = "floor"
    nodes = "block"
    plane = { point = [0.0, 0.0], normal = [0.0, 1.0] }
    friction = 0.5
    [output]
    vtk = false
    "#;

/// The correction of positions replaced the whole shift, and a block that sticks (limit 5 N) crept by F h t/(2m).
#[test]
fn what_stuck_crept_under_ggl() {
    for scheme in
        [r#"name = "newmark""#, r#"name = "hht", alpha = 0.1"#, r#"name = "generalized-alpha", rho_inf = 0.8"#]
    {
        for step in ["1e-2", "1e-3", "1e-4"] {
            let run = run(with_scheme(STICKING, &format!("{{ {scheme}, position = \"ggl\" }}"), step));
            let worst = run.steps.iter().map(|step| run.displacement(step, 0, 0).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-12, "{scheme}, h = {step}: crept {worst:e}");
        }
    }
}

/// A frame of linear beams that is shaken sideways on a rough floor by its own start and rocks from foot to foot: with and
/// without corrected positions it is one motion, up to the step.
#[test]
fn a_rocking_frame_was_held_down_under_ggl() {
    let text = r#"
    format = 1
    gravity = [0.0, -10.0]
    time = { end = 0.6, step = 5e-4 }
    [[body]]
    name = "frame"
    element = "linear-beam"
    polyline = { points = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]], elements = 3 }
    material = { young = 1e7, poisson = 0.3, density = 1000.0 }
    section = { shape = "rectangle", width = 0.1, height = 0.1 }
    damping = { stiffness = 1e-3 }
    velocity = [2.5, 0.0]
    [[set]]
    name = "feet"
    nodes = ["frame.start", "frame.end"]
    [[contact]]
    name = "floor"
    nodes = "feet"
    plane = { point = [0.0, 0.0], normal = [0.0, 1.0] }
    friction = 2.0
    [output]
    vtk = false
    "#;
    let lift = |position: &str, step: &str| -> f64 {
        let scheme = format!("{{ name = \"generalized-alpha\", rho_inf = 0.8, position = \"{position}\" }}");
        let run = run(with_scheme(text, &scheme, step));
        run.steps.iter().map(|step| run.displacement(step, 0, 1)).fold(0.0, f64::max)
    };
    let half = lift("half", "2e-4");
    assert!(half > 0.02, "the frame lifts its foot: {half}");
    let ggl = lift("ggl", "2e-4");
    assert!((ggl - half).abs() < 0.03 * half, "ggl {ggl}, half {half}");
}

/// A mass that rests on a shaken table: what ends one step begins the next, so contact does no work.
#[test]
fn a_table_that_carried_a_mass_did_false_work() {
    let text = r#"
    format = 1
    gravity = [0.0, -10.0]
    time = { end = 3.0, step = 1e-2 }
    [[body]]
    name = "block"
    element = "mass"
    at = [0.0, 0.1]
    mass = 1.0
    [[contact]]
    name = "table"
    nodes = "block"
    plane = { point = [0.0, 0.0], normal = [0.0, 1.0] }
    motion = { normal = { kind = "harmonic", amplitude = 0.1, frequency = 1.0, phase = 1.5707963267948966 } }
    restitution = 0.0
    [output]
    vtk = false
    "#;
    let run_with = |e: &str| {
        let text = text.altered("restitution = 0.0", &format!("restitution = {e}"));
        run(with_scheme(&text, r#"{ name = "moreau-jean", theta = 1.0 }"#, "1e-2"))
    };
    let (dull, lively) = (run_with("0.0"), run_with("0.5"));
    let (contact, support) = (total(&dull, |b| b.contact), total(&dull, |b| b.support));
    assert!(contact.abs() < 1e-12, "contact {contact}");
    // A whole number of periods: the energy comes back to what it was, but for the first order of the scheme.
    assert!(support.abs() < 5e-3, "support {support}");
    // In lasting contact restitution has nothing to act on: U0 = 0 in every step but the first.
    for (a, b) in dull.steps.iter().zip(&lively.steps).skip(2) {
        assert!((a.impulse.iter().sum::<f64>() - b.impulse.iter().sum::<f64>()).abs() < 1e-12, "t = {}", a.time);
    }
}

/// "gained 1.3e-25, more than 0.1 of the scale 0".
#[test]
fn a_mass_at_rest_on_a_rough_floor_was_stopped() {
    for scheme in SAME_MOTION.iter().chain(crate::common::runs::SECOND_ORDER) {
        for push in ["[2.0, 0.0]", "[0.3, 0.0]", "[0.0, 0.0]"] {
            let loaded = with_scheme(&STICKING.altered("[2.0, 0.0]", push), scheme, "1e-3");
            let run = try_run(loaded).unwrap_or_else(|error| panic!("{scheme}, {push}: {error}"));
            assert_eq!(run.last().time, 1.0);
        }
    }
}

/// A single mass has no length to measure a gap by: "contact law missed by inf".
#[test]
fn one_mass_on_a_harmonic_plane_was_missed_by_inf_under_ggl() {
    let text = STICKING
        .altered("friction = 0.5", r#"motion = { normal = { kind = "harmonic", amplitude = 0.1, frequency = 1.0 } }"#);
    for text in [text.altered("[2.0, 0.0]", "[0.0, 0.0]"), STICKING.altered("[2.0, 0.0]", "[0.0, 0.0]")] {
        let run = run(with_scheme(&text, r#"{ name = "newmark", position = "ggl" }"#, "1e-2"));
        let worst = run.steps.iter().map(|step| step.complementarity).fold(0.0, f64::max);
        assert!(worst < 1e-12, "{worst}");
    }
}

/// Two masses on a spring as stiff as 1e12: energy is known to rounding only, and what provably cannot grow grew by that.
#[test]
fn rounding_of_a_stiff_spring_was_taken_for_growth() {
    let text = r#"
    format = 1
    time = { end = 1.0, step = 1e-3 }
    [[body]]
    name = "left"
    element = "mass"
    at = [0.1]
    mass = 1.0
    velocity = [-1.0]
    [[body]]
    name = "right"
    element = "mass"
    at = [1.4]
    mass = 1.0
    velocity = [-1.0]
    [[body]]
    name = "link"
    element = "spring"
    between = ["left", "right"]
    stiffness = 1e12
    rest_length = 1.3
    [[contact]]
    name = "wall"
    nodes = "left"
    plane = { point = [0.0], normal = [1.0] }
    [output]
    vtk = false
    "#;
    let mut open = 0;
    for scheme in SAME_MOTION {
        let loaded = with_scheme(text, scheme, "1e-3");
        let (model, system) = carom::run::prepare(&loaded).map(|it| (it.model, it.system)).expect("the case is legal");
        let run = try_run(loaded).unwrap_or_else(|error| panic!("{scheme}: {error}"));
        // Where rounding shows in the ledger, the run says whose it is.
        let said = carom::advice::open_ledger(&model, &system, &run.arrival);
        assert_eq!(said.is_some(), run.arrival.ledger.worst_step > 1e-11);
        if let Some(sentence) = said {
            open += 1;
            assert!(sentence.contains("`link`") && sentence.contains("1.0e12"), "{sentence}");
        }
    }
    assert!(open > 0, "the premise of this test: a spring of 1e12 rounds");
    // Free, and swinging along the spring: what cannot grow grew by 1.4e-9 of the scale, which is rounding.
    let swinging = text
        .altered("at = [0.1]", "at = [0.1208161681148491]")
        .altered("at = [1.4]", "at = [2.0511533618555179]")
        .replacen("velocity = [-1.0]", "velocity = [0.0017881669416417445]", 1)
        .replacen("velocity = [-1.0]", "velocity = [0.10178816694164175]", 1)
        .altered("rest_length = 1.3", "rest_length = 1.9303371937406688")
        .altered("end = 1.0", "end = 0.04");
    let uncut = swinging + "[guards]\nenergy = { cuts = 0 }\n";
    try_run(with_scheme(&uncut, r#"{ name = "newmark" }"#, "1e-4")).unwrap_or_else(|error| panic!("{error}"));
}

/// Corrected positions with e = 1 gain a little in every step: 0.99 became 5.93 in 2,000 s, below any guard of a step.
#[test]
fn energy_crept_up_step_by_step_under_ggl() {
    let text = r#"
    format = 1
    time = { end = 100.0, step = 2e-2 }
    [[body]]
    name = "left"
    element = "mass"
    at = [0.7]
    mass = 1.0
    velocity = [-1.8]
    [[body]]
    name = "right"
    element = "mass"
    at = [1.7]
    mass = 0.5
    velocity = [0.8]
    [[body]]
    name = "link"
    element = "spring"
    between = ["left", "right"]
    stiffness = 1.0
    rest_length = 1.0
    [[contact]]
    name = "west"
    nodes = "left"
    plane = { point = [0.0], normal = [1.0] }
    restitution = 1.0
    [[contact]]
    name = "east"
    nodes = "right"
    plane = { point = [2.4], normal = [-1.0] }
    restitution = 1.0
    [[contact]]
    name = "middle"
    between = ["left", "right"]
    restitution = 1.0
    [output]
    vtk = false
    "#;
    let scheme = r#"{ name = "newmark", position = "ggl" }"#;
    let run = run(with_scheme(&format!("{text}\n[guards]\nenergy = false\n"), scheme, "2e-2"));
    let gained = run.last().energy.total() / run.steps[0].energy.total();
    assert!(gained > 1.5, "the premise of this test: the energy grows, {gained}");
    let Err(Error::Guard(message)) = try_run(with_scheme(text, scheme, "2e-2")) else {
        panic!("energy grew without a word")
    };
    assert!(message.contains("in all") && message.contains("ggl"), "{message}");
}

/// Masses 1e-6 and 1e6 on a spring of 1e12: the light one answers impulses weakly and sank to −18.6 in a model of length 2.
#[test]
fn a_light_foot_on_a_stiff_spring_sank_through_the_floor() {
    let text = r#"
    format = 1
    gravity = [0.0, -10.0]
    time = { end = 2.0, step = 1e-3 }
    [[body]]
    name = "foot"
    element = "mass"
    at = [0.0, 0.1]
    mass = 1e-6
    [[body]]
    name = "body"
    element = "mass"
    at = [0.0, 2.1]
    mass = 1e6
    [[body]]
    name = "leg"
    element = "spring"
    between = ["foot", "body"]
    stiffness = 1e12
    rest_length = 2.0
    [[support]]
    name = "rail"
    nodes = "foot"
    fix = ["x"]
    [[support]]
    name = "guide"
    nodes = "body"
    fix = ["x"]
    [[contact]]
    name = "floor"
    nodes = "foot"
    plane = { point = [0.0, 0.0], normal = [0.0, 1.0] }
    [output]
    vtk = false
    "#;
    let loaded = with_scheme(text, r#"{ name = "generalized-alpha", rho_inf = 0.8 }"#, "1e-3");
    let advice = carom::run::prepare(&loaded).expect("the case is legal").advice;
    assert!(advice.iter().any(|it| it.text.contains("leg") && it.text.contains("gamma/(2 beta)")), "{advice:?}");
    match try_run(loaded) {
        Err(Error::Guard(message)) => assert!(message.contains("penetration"), "{message}"),
        Err(error) => panic!("{error}"),
        Ok(run) => {
            let deepest = run.steps.iter().map(|step| run.place(step, 0, 1)).fold(0.0, f64::min);
            assert!(deepest > -2.0, "sank to {deepest} without a word");
        }
    }
}

/// "allowed: time.step below 0.0000e0".
#[test]
fn a_scheme_that_no_step_makes_stable_asked_for_a_step_below_zero() {
    let loaded = with_scheme(DRIVEN, r#"{ name = "hht", alpha = 0.3, gamma = 0.5, beta = 0.25 }"#, "1e-3");
    let error = try_run(loaded).err().expect("it is refused").to_string();
    assert!(error.contains("unstable for every step") && error.contains("0.8") && !error.contains("below"), "{error}");
}

/// What moves along with its obstacle has relative velocities that are rounding, and the law was measured by these: "missed by
/// 1.000e0".
#[test]
fn a_ball_that_rides_on_a_plane_was_stopped() {
    let text = r#"
    format = 1
    time = { end = 2.0, step = 0.05 }
    [[body]]
    name = "ball"
    element = "mass"
    at = [0.0, 0.003]
    mass = 1.0
    velocity = [0.1, -0.3]
    [[contact]]
    name = "lift"
    nodes = "ball"
    plane = { point = [0.0, 0.0], normal = [0.3, 1.0] }
    motion = { y = { kind = "ramp", to = 0.1, end = 3.0 } }
    [output]
    vtk = false
    "#;
    for scheme in SAME_MOTION {
        let run = run(with_scheme(text, scheme, "0.05"));
        let worst = run.steps.iter().map(|step| step.complementarity).fold(0.0, f64::max);
        assert!(worst < 1e-12, "{scheme}: {worst}");
    }
}

/// A node that a support guides can move in one direction only: normal and tangent of a rough slope are then one, and the
/// displacement became NaN.
#[test]
fn friction_on_a_guided_node_gave_nan() {
    let text = r#"
    format = 1
    time = { end = 0.2, step = 0.01 }
    [[body]]
    name = "ball"
    element = "mass"
    at = [0.0, 0.05]
    mass = 1.0
    velocity = [0.0, -1.0]
    [[support]]
    name = "guide"
    nodes = "ball"
    fix = ["x"]
    [[contact]]
    name = "slope"
    nodes = "ball"
    plane = { point = [0.0, 0.0], normal = [0.5, 0.7] }
    friction = 0.3
    [output]
    vtk = false
    "#;
    for scheme in SAME_MOTION {
        let run = run(with_scheme(text, scheme, "0.01"));
        // The slope stops it where it is: below zero by half a step at most, and at rest.
        let (place, speed) = (run.place(run.last(), 0, 1), run.velocity(run.last(), 0, 1));
        assert!(place.abs() < 0.01 && speed.abs() < 1e-12, "{scheme}: {place}, {speed}");
    }
}

/// Carried up from rest, a mass has hardly any energy, and what a scheme of first order books of the work of its table under
/// `scheme` is a large part of that; it is given back on the way.
#[test]
fn a_mass_that_a_table_lifts_from_rest_was_stopped() {
    for theta in ["0.6", "0.8", "1.0"] {
        let scheme = format!("scheme={{ name = \"moreau-jean\", theta = {theta} }}");
        let run = try_run(shipped("thrown-mass", &[&scheme, "output.vtk=false"]));
        let run = run.unwrap_or_else(|error| panic!("theta = {theta}: {error}"));
        assert_eq!(run.arrival.cuts, Default::default(), "theta = {theta}");
    }
}
