//! Models that mean something else than they seem to, and properties that were computed wrongly.

use super::common::history::{build, run};
use super::common::program::{Answer, Place};
use crate::common::cases::Altered;
use carom::modes::{Mode, lowest};
use std::f64::consts::PI;

/// A case with this model, top-level keys first, a step of 1 ms and Moreau–Jean.
fn case(end: f64, model: &str) -> String {
    let (top, tables) = model.split_at(model.find("[[").expect("a model has a body"));
    format!("format = 1\n{top}\n[time]\nend = {end:?}\nstep = 1e-3\n\n[scheme]\nname = \"moreau-jean\"\n{tables}")
}

/// A steel wire, 10 m of 4 mm, in units of length and mass that are `length` and `mass` times smaller.
fn wire(name: &str, x: f64, elements: usize, [length, mass]: [f64; 2]) -> String {
    let (young, density) = (2.1e11 * mass / length, 7850.0 * mass / length.powi(3));
    let (from, to, radius) = (x * length, (x + 10.0) * length, 2e-3 * length);
    format!(
        r#"
        [[body]]
        name = "{name}"
        element = "beam"
        line = {{ from = [{from:e}, 0.0], to = [{to:e}, 0.0], elements = {elements} }}
        material = {{ young = {young:e}, poisson = 0.3, density = {density:e} }}
        section = {{ shape = "circle", radius = {radius:e} }}
        "#
    )
}

fn pin(name: &str, nodes: &str) -> String {
    format!("[[support]]\nname = \"{name}\"\nnodes = \"{nodes}\"\nfix = [\"x\", \"y\"]\n")
}

fn modes(model: &str, count: usize) -> Vec<Mode> {
    lowest(&build(&case(1.0, model), &[]).unwrap().1, count).unwrap()
}

fn rigid(modes: &[Mode]) -> usize {
    modes.iter().filter(|mode| mode.rigid).count()
}

/// √(E/ρ) r/2 of the wire: its frequencies are (kL)²/L² times this (Euler and Bernoulli; shear and rotary inertia change
/// them by 1e-8).
fn slender() -> f64 {
    (2.1e11 / 7850.0_f64).sqrt() * 1e-3
}

/// 0.5105 rad/s is far below 1e-13 of the square of the highest frequency, below which modes once counted as rigid.
#[test]
fn the_first_mode_of_a_pinned_wire_is_no_rigid_body() {
    for elements in [30, 100, 1000] {
        for units in [[1.0, 1.0], [1e6, 1.0], [1e-6, 1.0], [1.0, 1e6], [1e3, 1e-6]] {
            let pinned = wire("wire", 0.0, elements, units) + &pin("left", "wire.start") + &pin("right", "wire.end");
            let modes = modes(&pinned, 3);
            assert_eq!(rigid(&modes), 0, "{elements} elements, units {units:?}");
            for (k, mode) in modes.iter().enumerate() {
                let exact = slender() * ((k + 1) as f64 * PI / 10.0).powi(2);
                let mesh = ((k + 1) as f64 * PI / elements as f64).powi(2);
                assert!((mode.omega / exact - 1.0).abs() < 0.3 * mesh + 1e-5, "{} {exact}, {units:?}", mode.omega);
            }
        }
    }
}

/// Three rigid motions for every wire; what comes next is the bending of a free beam, (kL)² = 22.3732854.
#[test]
fn free_wires_have_three_rigid_motions_each_and_no_more() {
    for elements in [20, 100, 1000] {
        for units in [[1.0, 1.0], [1e6, 1.0], [1e-6, 1e6]] {
            let one = wire("one", 0.0, elements, units);
            let alone = modes(&one, 5);
            assert_eq!(rigid(&alone), 3, "{elements} elements, units {units:?}");
            let exact = slender() * 22.373_285_4 / 100.0;
            let mesh = (4.73 / elements as f64).powi(2);
            assert!((alone[3].omega / exact - 1.0).abs() < 0.3 * mesh + 1e-5, "{} {exact}", alone[3].omega);
            let both = modes(&(one + &wire("two", 20.0, elements, units)), 8);
            assert_eq!(rigid(&both), 6, "{elements} elements, units {units:?}");
        }
    }
}

/// Three links in a row: each hinge lets the links turn against each other, whether the ends are free or pinned.
#[test]
fn every_hinge_of_a_chain_is_a_motion_without_stiffness() {
    let links: String =
        [0.0, 10.0, 20.0].iter().enumerate().map(|(k, x)| wire(&format!("w{k}"), *x, 50, [1.0; 2])).collect();
    let hinge = |a: usize, b: usize| {
        format!("[[joint]]\nname = \"h{a}\"\nkind = \"hinge\"\nbetween = [\"w{a}.end\", \"w{b}.start\"]\n")
    };
    let chain = links + &hinge(0, 1) + &hinge(1, 2);
    assert_eq!(rigid(&modes(&chain, 7)), 5);
    assert_eq!(rigid(&modes(&(chain + &pin("left", "w0.start") + &pin("right", "w2.end")), 4)), 2);
}

fn section(shape: &str, material: &str) -> f64 {
    let body = format!(
        r#"
        [[body]]
        name = "rod"
        element = "beam"
        line = {{ from = [0.0, 0.0], to = [1.0, 0.0], elements = 2 }}
        material = {{ young = 2.6, {material}, density = 1.0 }}
        section = {{ {shape} }}
        "#
    );
    let properties = build(&case(1.0, &body), &[]).unwrap().0.bodies[0].properties;
    properties.section.shear_area / properties.section.area
}

/// Its shear factor was 0.5 at any thickness. Reference values: Cowper (1966), doi:10.1115/1.3625046, at ν = 0.3: 0.8864 for
/// a circle, 0.5306 for a thin wall, and his formula for what lies between.
#[test]
fn a_tube_without_a_hole_is_a_circle() {
    let circle = section("shape = \"circle\", radius = 0.1", "poisson = 0.3");
    assert!((circle - 0.88636).abs() < 1e-5, "{circle}");
    let tube = |thickness: f64, material: &str| {
        section(&format!("shape = \"tube\", radius = 0.1, thickness = {thickness}"), material)
    };
    assert_eq!(tube(0.1, "poisson = 0.3"), circle);
    // Shear modulus 1 is Poisson's ratio 0.3 where Young's modulus is 2.6.
    assert!((tube(0.1, "shear = 1.0") - circle).abs() < 1e-15);
    assert!((tube(1e-6, "poisson = 0.3") - 0.53061).abs() < 1e-4);
    // m = 1/2: 6·1.3·1.5625 / (8.8·1.5625 + 23.6·0.25).
    assert!((tube(0.05, "poisson = 0.3") - 12.1875 / 19.65).abs() < 1e-14);
}

/// A mass above a cantilever of steel, in the plane, both without thickness.
fn mass_above(x: f64, element: &str, elements: usize) -> String {
    case(
        0.4,
        &format!(
            r#"gravity = [0.0, -9.81]
            [[body]]
            name = "shelf"
            element = "{element}"
            line = {{ from = [0.0, 0.0], to = [1.0, 0.0], elements = {elements} }}
            material = {{ young = 2.1e11, poisson = 0.3, density = 7850.0 }}
            section = {{ shape = "rectangle", width = 0.05, height = 0.05 }}
            [[body]]
            name = "ball"
            element = "mass"
            at = [{x:?}, 0.2]
            mass = 1.0
            [[support]]
            name = "wall"
            nodes = "shelf.start"
            fix = ["x", "y", "theta"]
            [[contact]]
            name = "touch"
            between = ["ball", "shelf"]
            friction = 0.5
            [[probe]]
            name = "ball"
            node = "ball"
            "#
        ),
    )
}

/// Free fall reaches the shelf at t = 0.202 and would be 0.18 below it at t = 0.28. Later the mass may rightly leave the tip,
/// which throws it forward as it swings.
#[test]
fn a_mass_on_the_tip_or_above_a_node_of_a_beam_does_not_fall_through_it() {
    for element in ["linear-beam", "beam"] {
        for elements in [1, 2, 10] {
            for x in [1.0, 1.0 - 1e-13, 1.0 + 1e-13, 0.5, 0.5 + 1e-13, 0.5 - 1e-13] {
                let history = run(&mass_above(x, element, elements), &["time.end=0.28"]);
                let lowest = history.min("probe.ball.y");
                assert!(lowest > -0.01, "{element}, {elements} elements, mass at {x}: {lowest}");
            }
        }
    }
}

#[test]
fn a_mass_beside_the_tip_of_a_beam_falls_past_it_and_penetrates_nothing() {
    let history = run(&mass_above(1.01, "beam", 10), &[]);
    let fallen = 0.2 - 0.5 * 9.81 * 0.4 * 0.4;
    assert!((history.last("probe.ball.y") - fallen).abs() < 1e-2);
    // Past the tip and then under the beam: it is below, not inside.
    let under = mass_above(1.01, "beam", 10).altered("mass = 1.0\n", "mass = 1.0\nvelocity = [-0.2, 0.0]\n");
    let under = under.altered("at = [1.01, 0.2]", "at = [1.045, 0.2]");
    let history = run(&under, &[]);
    assert!((history.last("probe.ball.x") - 0.965).abs() < 1e-9, "nothing pushed it");
    assert!((history.last("probe.ball.y") - fallen).abs() < 1e-2);
}

/// What `carom check` must say of a mistake.
enum Says {
    /// Advice with this in it.
    Advice(&'static str),
    /// An error with this in it.
    Error(&'static str),
    /// Nothing at all.
    Nothing,
}

/// A mistake: its name, the model, which line caused it (a piece of that line), and what must be said.
type Mistake = (&'static str, String, &'static str, Says);

const BALL: &str = "[[body]]\nname = \"ball\"\nelement = \"mass\"\nat = [0.0, -0.5]\nmass = 1.0\n";
const FLOOR: &str =
    "[[contact]]\nname = \"floor\"\nnodes = \"ball\"\nplane = { point = [0.0, 0.0], normal = [0.0, 1.0] }\n";

fn bar(name: &str, element: &str, [from, to]: [[f64; 2]; 2], elements: usize) -> String {
    format!(
        "[[body]]\nname = \"{name}\"\nelement = \"{element}\"\nline = {{ from = {from:?}, to = {to:?}, elements = {elements} }}\n\
         material = {{ young = 2.1e11, poisson = 0.3, density = 7850.0 }}\n\
         section = {{ shape = \"rectangle\", width = 0.01, height = 0.01 }}\n"
    )
}

fn clamp(nodes: &str) -> String {
    format!("[[support]]\nname = \"clamp-{}\"\nnodes = \"{nodes}\"\nfix = [\"x\", \"y\"]\n", nodes.replace('.', "-"))
}

fn mistakes() -> Vec<Mistake> {
    let gravity = "gravity = [0.0, -9.81]\n";
    let shelf = bar("shelf", "linear-beam", [[0.0, 0.0], [1.0, 0.0]], 4);
    let fixed = |body: &str| {
        format!("[[support]]\nname = \"{body}\"\nnodes = \"{body}.start\"\nfix = [\"x\", \"y\", \"theta\"]\n")
    };
    let driven = |motion: &str| {
        let base = "[[support]]\nname = \"base\"\nnodes = \"shelf.start\"\nfix = [\"x\", \"theta\"]\n";
        format!("{shelf}{base}motion = {motion}\n")
    };
    let cable = bar("cable", "bar", [[0.0, 0.0], [1.0, 0.0]], 5) + &clamp("cable.start") + &clamp("cable.end");
    let square = |diagonal: &str| {
        let sides =
            [[[0.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [1.0, 1.0]], [[1.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 0.0]]];
        let bars: String = sides.iter().enumerate().map(|(k, side)| bar(&format!("s{k}"), "bar", *side, 1)).collect();
        let hinge = |a: &str, b: &str| {
            let name = format!("{a}-{b}").replace('.', "-");
            format!("[[joint]]\nname = \"{name}\"\nkind = \"hinge\"\nbetween = [\"{a}\", \"{b}\"]\n")
        };
        let hinges: String = (0..4).map(|k| hinge(&format!("s{k}.end"), &format!("s{}.start", (k + 1) % 4))).collect();
        let brace = match diagonal {
            "" => String::new(),
            _ => {
                bar("brace", "bar", [[0.0, 0.0], [1.0, 1.0]], 1)
                    + &hinge("brace.start", "s0.start")
                    + &hinge("brace.end", "s2.start")
            }
        };
        bars + &hinges + &brace + &clamp("s0.start") + &clamp("s0.end")
    };
    let balls = |gap: f64| {
        let ball =
            |k: usize, x: f64| format!("[[body]]\nname = \"b{k}\"\nelement = \"mass\"\nat = [{x:?}]\nmass = 1.0\n");
        let all: String = (0..3).map(|k| ball(k, k as f64 * (0.2 + gap) + if k > 0 { 0.1 } else { 0.0 })).collect();
        format!(
            "{all}[[set]]\nname = \"all\"\nnodes = [\"b0\", \"b1\", \"b2\"]\n[[contact]]\nname = \"row\"\n\
             between = [\"all\", \"all\"]\nradius = 0.1\nrestitution = 1.0\n"
        )
    };
    let nearest = |point: &str| format!("{shelf}{}[[set]]\nname = \"tip\"\nnearest = {point}\n", fixed("shelf"));
    let bowl = |radius: f64| {
        let arc = "arc = { centre = [0.0, 0.0], radius = 0.7, from = \"pi\", to = \"2*pi\", inside = true }";
        format!("{BALL}[[contact]]\nname = \"bowl\"\nnodes = \"ball\"\nradius = {radius:?}\n{arc}\n")
    };
    let spinning = |element: &str| bar("rod", element, [[0.0, 0.0], [1.0, 0.0]], 4) + "spin = 3.0\n";
    let above = |x: &str| {
        let point =
            |name: &str, at: &str| format!("[[body]]\nname = \"{name}\"\nelement = \"mass\"\nat = {at}\nmass = 1.0\n");
        format!(
            "{}{}[[contact]]\nname = \"touch\"\nbetween = [\"a\", \"b\"]\n{x}",
            point("a", "[0.0, 0.0]"),
            point("b", "[0.0, 1.0]")
        )
    };
    vec![
        (
            "a mass begins half a metre inside the floor",
            format!("{gravity}{BALL}{FLOOR}"),
            "[[contact]]",
            Says::Advice("5.000e-1 inside"),
        ),
        (
            "a mass begins two millimetres inside the floor",
            format!("{gravity}{BALL}{FLOOR}").altered("-0.5", "-0.002"),
            "[[contact]]",
            Says::Advice("2.000e-3 inside"),
        ),
        (
            "a mass that begins on the floor is right",
            format!("{gravity}{BALL}{FLOOR}").altered("-0.5", "0.0"),
            "",
            Says::Nothing,
        ),
        (
            "a ball that is thicker than its bowl is wide",
            bowl(0.7),
            "radius = 0.7",
            Says::Advice("a body of radius 0.7 does not fit into an arc of radius 0.7"),
        ),
        ("a ball that fits into its bowl is right", gravity.to_string() + &bowl(0.1), "", Says::Nothing),
        (
            "a contact on a clamped node",
            format!(
                "{shelf}{}[[contact]]\nname = \"stop\"\nnodes = \"shelf.start\"\nplane = {{ point = [0.0, -0.1], normal = [0.0, 1.0] }}\n",
                fixed("shelf")
            ),
            "[[contact]]",
            Says::Advice("takes no part"),
        ),
        (
            "a contact on a driven node",
            driven("{ y = { kind = \"ramp\", from = 0.0, to = -1.0, start = 0.1, end = 0.2 } }")
                + "[[contact]]\nname = \"stop\"\nnodes = \"shelf\"\nplane = { point = [0.0, -0.1], normal = [0.0, 1.0] }\n",
            "[[contact]]",
            Says::Advice("hold or drive body `shelf`, node 0"),
        ),
        (
            "two beams that meet without a joint",
            format!(
                "{shelf}{}{}{}",
                fixed("shelf"),
                bar("arm", "linear-beam", [[1.0, 0.0], [1.0, 1.0]], 3),
                fixed("arm")
            )
            .altered("nodes = \"arm.start\"", "nodes = \"arm.end\""),
            "name = \"arm\"",
            Says::Advice("`shelf` and `arm` meet at (1, 0)"),
        ),
        (
            "a mass at a node without a joint",
            format!("{gravity}{shelf}{}{}{FLOOR}", fixed("shelf"), BALL.altered("[0.0, -0.5]", "[1.0, 0.0]")),
            "name = \"ball\"",
            Says::Advice("meet at (1, 0)"),
        ),
        (
            "a mass with a joint is right",
            format!("{gravity}{shelf}{}{}", fixed("shelf"), BALL.altered("[0.0, -0.5]", "[1.0, 0.0]"))
                + "[[joint]]\nname = \"glue\"\nkind = \"hinge\"\nbetween = [\"shelf.end\", \"ball\"]\n",
            "",
            Says::Nothing,
        ),
        (
            "a body that nothing holds",
            format!("{gravity}{shelf}{}{BALL}", fixed("shelf")),
            "name = \"ball\"",
            Says::Advice("nothing holds `ball`"),
        ),
        (
            "a mistake made often is told five times",
            format!(
                "{gravity}{}",
                (0..7)
                    .map(|k| BALL.altered("ball", &format!("b{k}")).altered("0.0,", &format!("{k}.0,")))
                    .collect::<String>()
            ),
            "",
            Says::Advice("… and 2 more of this kind"),
        ),
        (
            "a body that nothing holds but a load moves",
            format!("{BALL}[[load]]\nname = \"push\"\nnodes = \"ball\"\nforce = [1.0, 0.0]\n"),
            "name = \"ball\"",
            Says::Advice("its load carries it away"),
        ),
        (
            "a cable of bars has nothing across",
            format!("{gravity}{cable}"),
            "name = \"cable\"",
            Says::Advice("4 motions meet no stiffness"),
        ),
        (
            "a square of bars without a diagonal",
            format!("{gravity}{}", square("")),
            "",
            Says::Advice("1 motion meet no stiffness"),
        ),
        ("a square of bars with a diagonal is right", format!("{gravity}{}", square("brace")), "", Says::Nothing),
        (
            "a bar in several elements that is pulled along itself is right",
            bar("rod", "bar", [[0.0, 0.0], [3.0, 4.0]], 5)
                + &clamp("rod.start")
                + "[[load]]\nname = \"pull\"\nnodes = \"rod.end\"\nforce = [3.0, 4.0]\n",
            "",
            Says::Nothing,
        ),
        (
            "bars that slide on rails as one are right",
            format!("{gravity}{}", bar("rod", "bar", [[0.0, 0.0], [1.0, 0.0]], 4))
                + "[[support]]\nname = \"rail\"\nnodes = \"rod\"\nfix = [\"y\"]\n",
            "",
            Says::Nothing,
        ),
        (
            "a bar begins deep inside the floor",
            bar("rod", "bar", [[0.0, -0.5], [1.0, -0.5]], 1)
                + "[[contact]]\nname = \"floor\"\nnodes = \"rod\"\nplane = { point = [0.0, 1.5], normal = [0.0, 1.0] }\n",
            "[[contact]]",
            Says::Error("a depth of 2.000e0 behind the obstacle"),
        ),
        ("the nearest node is 500 m away", nearest("[501.0, 0.0]"), "nearest =", Says::Error("5.0000e2 away")),
        ("the nearest node is 0.6 m away", nearest("[1.0, 0.6]"), "nearest =", Says::Advice("6.0000e-1 away")),
        (
            "a point between two nodes is not decided",
            nearest("[0.625, 0.0]"),
            "nearest =",
            Says::Advice("equally near"),
        ),
        (
            "two bodies are equally near",
            format!(
                "{shelf}{}{}{}[[set]]\nname = \"tip\"\nnearest = [1.0, 0.0]\n",
                fixed("shelf"),
                bar("arm", "linear-beam", [[1.0, 0.0], [1.0, 1.0]], 3),
                clamp("arm.end")
            ) + "[[joint]]\nname = \"elbow\"\nkind = \"hinge\"\nbetween = [\"shelf.end\", \"arm.start\"]\n",
            "nearest =",
            Says::Advice("only the order of the bodies decides"),
        ),
        ("the nearest node of a mesh is right", nearest("[0.6, 0.0]"), "", Says::Nothing),
        (
            "a support that begins elsewhere",
            driven("{ y = { kind = \"harmonic\", amplitude = 0.1, frequency = 1.0, phase = 1.5707963267948966 } }"),
            "motion =",
            Says::Advice("is 0.1 at time 0"),
        ),
        (
            "a support that begins with a velocity",
            driven("{ y = { kind = \"harmonic\", amplitude = 0.1, frequency = 1.0 } }"),
            "motion =",
            Says::Advice("begins with a jerk"),
        ),
        (
            "a support that begins with the velocity of its body is right",
            driven("{ y = { kind = \"ramp\", from = 0.0, to = 0.2, start = 0.0, end = 1.0 } }")
                .altered("element = \"linear-beam\"", "element = \"linear-beam\"\nvelocity = [0.0, 0.2]"),
            "",
            Says::Nothing,
        ),
        ("a linear beam that spins", spinning("linear-beam"), "spin =", Says::Advice("turns it by 3.000")),
        ("touching balls with e = 1 are no cradle", balls(0.0), "restitution =", Says::Advice("Newton's cradle")),
        ("balls apart with e = 1 are one", balls(0.01), "", Says::Nothing),
        (
            "points without radius never touch",
            above(""),
            "between = [\"a\"",
            Says::Error("points without thickness can never touch"),
        ),
        ("balls with radius touch", above("radius = 0.1\n"), "", Says::Nothing),
        (
            "a motion that does not say along what",
            driven("{ kind = \"harmonic\", amplitude = 0.1, frequency = 1.0 }"),
            "motion =",
            Says::Error("write `motion = { y = { kind = … } }`"),
        ),
    ]
}

/// Each goes through `carom check`, and what it says names the line that caused it.
#[test]
fn check_says_what_is_wrong_and_where() {
    let place = Place::empty();
    let mut failures = Vec::new();
    for (name, model, cause, says) in mistakes() {
        let text = case(1.0, &model);
        place.write("mistake.toml", &text);
        let line =
            1 + text.lines().position(|line| line.contains(cause)).unwrap_or_else(|| panic!("{name}: no {cause}"));
        // A table stands at its header, one line above its name.
        let line = if cause.starts_with("name =") { line - 1 } else { line };
        let Answer { code, out, err } = place.carom(&["check", "mistake.toml"]);
        let about_the_step = |line: &&str| line.contains("transit time of a wave");
        let advice: Vec<&str> =
            out.lines().filter(|line| line.starts_with("advice: ") && !about_the_step(line)).collect();
        let right = match says {
            Says::Nothing => code == 0 && advice.is_empty(),
            Says::Advice(words) => {
                let place = if cause.is_empty() { String::new() } else { format!("advice: line {line}: ") };
                code == 0 && advice.iter().any(|said| said.starts_with(&place) && said.contains(words))
            }
            Says::Error(words) => {
                let place = format!("mistake.toml:{line}:");
                code == 3 && err.contains(words) && err.contains(&place)
            }
        };
        if !right {
            failures.push(format!("{name} (line {line}):\n{}\n{err}", advice.join("\n")));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Lines around triangles became beams, and of three columns the first two were taken.
#[test]
fn a_boundary_is_no_frame_and_a_table_has_no_spare_columns() {
    let place = Place::empty()
        .with("plate.msh", include_str!("../data/plate.msh"))
        .with("quake.csv", "time, north, east\n0, 0, 0\n1, 0.1, 0.2\n");
    let check = |model: &str| {
        place.write("mistake.toml", &case(1.0, model));
        let answer = place.carom(&["check", "mistake.toml"]);
        (answer.code, answer.err)
    };
    let frame = bar("frame", "linear-beam", [[0.0, 0.0], [1.0, 0.0]], 1);
    let meshed = frame.altered("line = { from = [0.0, 0.0], to = [1.0, 0.0], elements = 1 }", "mesh = \"plate.msh\"");
    let (code, said) = check(&meshed);
    assert!(code == 3 && said.contains("the lines around them are a boundary"), "{code:?} {said}");
    assert!(said.contains("mistake.toml:12:"), "the line of `mesh`: {said}");
    let (code, said) = check(&meshed.altered("mesh =", "group = \"edge\"\nmesh ="));
    assert_eq!(code, 0, "{said}");
    let table = "[[support]]\nname = \"base\"\nnodes = \"frame.start\"\nmotion = { y = { kind = \"table\", file = \"quake.csv\" } }\n";
    let (code, said) = check(&(frame + table));
    assert!(code == 3 && said.contains("quake.csv:2: 3 columns, but only 2 are read"), "{code:?} {said}");
    assert!(said.contains("mistake.toml:18:"), "the line of `motion`: {said}");
}

/// Its mesh does not tell the dimension; its load does.
#[test]
fn a_meshed_bar_with_a_load_of_one_number_is_no_plane_model() {
    let bar = "[[body]]\nname = \"bar\"\nelement = \"bar\"\nmesh = \"../meshes/bar.msh\"\ngroup = \"bar\"\n\
               material = { young = 900.0, density = 1.0 }\nsection = { area = 1.0 }\n\
               [[load]]\nname = \"pull\"\nnodes = \"bar.end\"\nforce = [1.0]\n";
    assert_eq!(build(&case(1.0, bar), &[]).unwrap().0.dimension, 1);
}

/// The rotation of a linear beam is looked at during the run, too, and a contact behind its obstacle is not open.
#[test]
fn a_run_says_how_far_linear_beams_turned_and_how_deep_contacts_were() {
    let place = Place::empty();
    let whip = bar("whip", "linear-beam", [[0.0, 0.0], [1.0, 0.0]], 4)
        + "[[support]]\nname = \"root\"\nnodes = \"whip.start\"\nfix = [\"x\", \"y\", \"theta\"]\n\
           [[load]]\nname = \"tip\"\nnodes = \"whip.end\"\nforce = [0.0, 200.0]\n";
    let ball = format!("{BALL}{FLOOR}").altered("-0.5", "-0.002");
    let said = |model: &str| {
        place.write("run.toml", &case(0.5, model));
        let answer = place.carom(&["run", "run.toml", "--force"]);
        assert_eq!(answer.code, 0, "{}", answer.err);
        answer.out + &answer.err
    };
    let whipped = said(&whip);
    assert!(whipped.contains("line 11: body `whip`, node 4 at (1, 0) turned by"), "{whipped}");
    let sunk = said(&ball);
    // It begins that deep.
    assert!(!sunk.contains("was entered"), "{sunk}");
    assert!(!sunk.contains("never closed") && sunk.contains("no force, though 0.002000 deep"), "{sunk}");
}
