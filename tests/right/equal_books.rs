//! Equal motion, equal books: schemes that make the same motion give the same columns, and all tend to the same ones.

use crate::books::{DRIVEN, SAME_MOTION, with_scheme};
use crate::common::cases::Altered;
use crate::common::random::Random;
use crate::common::runs::{Run, run, try_run};
use carom::ledger::Balance;
use carom::state::Energy;

/// A column by name, from what a step leaves.
type Column<T> = (&'static str, fn(&T) -> f64);

/// Every column over the whole run, works since the start.
fn columns(run: &Run) -> Vec<(&'static str, Vec<f64>)> {
    let works: [Column<Balance>; 7] = [
        ("external", |b| b.external),
        ("damping", |b| b.damping),
        ("support", |b| b.support),
        ("contact", |b| b.contact),
        ("friction", |b| b.friction),
        ("scheme", |b| b.scheme),
        ("curvature", |b| b.curvature),
    ];
    let energies: [Column<Energy>; 3] =
        [("kinetic", |e| e.kinetic), ("strain", |e| e.strain), ("potential", |e| e.potential)];
    let energies = energies.map(|(name, of)| (name, run.steps.iter().map(|step| of(&step.energy)).collect()));
    let works = works.map(|(name, of)| {
        let mut sum = 0.0;
        (name, run.steps.iter().map(|step| (sum += of(&step.balance), sum).1).collect())
    });
    energies.into_iter().chain(works).collect()
}

/// Largest difference between two columns, of which the second has `every` rows for one of the first.
fn apart(a: &[f64], b: &[f64], every: usize) -> f64 {
    assert_eq!((a.len() - 1) * every, b.len() - 1, "rows of both");
    a.iter().zip(b.iter().step_by(every)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// A small model with loads, damping, driven supports, moving obstacles, several contacts and friction, by its number.
fn random_model(number: u64) -> String {
    use std::fmt::Write;
    let mut random = Random::new(number);
    let mut between = move |from: f64, to: f64| random.between(from, to);
    let element = ["bar", "linear-beam", "beam"][number as usize % 3];
    let plane = element != "bar";
    let mut text = String::from("format = 1\n");
    let vector = |x: f64, y: f64| if plane { format!("[{x}, {y}]") } else { format!("[{x}]") };
    let _ = writeln!(text, "gravity = {}", vector(between(-1.0, 1.0), between(-8.0, -2.0)));
    let _ = writeln!(text, "[time]\nend = 0.4\nstep = 1e-3");
    let young = if plane { 1e5 } else { 1e3 };
    let _ = write!(
        text,
        "[[body]]\nname = \"b\"\nelement = \"{element}\"\nline = {{ from = {}, to = {}, elements = {} }}\n\
         material = {{ young = {young}, poisson = 0.3, density = 10.0 }}\n",
        vector(0.0, 0.3),
        vector(1.0, 0.3),
        3 + number % 3,
    );
    text += if plane {
        "section = { shape = \"rectangle\", width = 0.1, height = 0.1 }\n"
    } else {
        "section = { area = 0.01 }\n"
    };
    let _ = writeln!(text, "damping = {{ mass = {}, stiffness = {} }}", between(0.0, 0.3), between(0.0, 1e-3));
    let _ = writeln!(text, "velocity = {}", vector(0.0, between(-1.0, 0.0)));
    let _ = writeln!(
        text,
        "[[load]]\nname = \"l\"\nnodes = \"b.end\"\nforce = {}\ntime = {{ kind = \"harmonic\", amplitude = 1.0, frequency = {}, \
         phase = {} }}",
        vector(between(-1.0, 1.0), between(-0.5, 0.5)),
        between(0.5, 4.0),
        between(0.0, 6.0)
    );
    let driven = match number / 3 % 3 {
        0 => format!(
            "kind = \"harmonic\", amplitude = 0.02, frequency = {}, phase = 1.5707963267948966",
            between(0.5, 3.0)
        ),
        1 => format!("kind = \"table\", file = {:?}", crate::common::at_root("tests/data/sawtooth.csv")),
        _ => String::new(),
    };
    if !driven.is_empty() {
        let _ = writeln!(text, "[[support]]\nname = \"s\"\nnodes = \"b.start\"\nmotion = {{ x = {{ {driven} }} }}");
    }
    let wall = |name: &str, point: String, normal: String, more: &str| {
        format!(
            "[[contact]]\nname = \"{name}\"\nnodes = \"b\"\nplane = {{ point = {point}, normal = {normal} }}\n{more}\n"
        )
    };
    let moved = format!(
        "motion = {{ normal = {{ kind = \"harmonic\", amplitude = 0.01, frequency = {} }} }}",
        between(1.0, 4.0)
    );
    if plane {
        let friction = format!("friction = {}\n{moved}", between(0.1, 0.6));
        text += &wall(
            "floor",
            "[0.0, 0.25]".into(),
            "[0.0, 1.0]".into(),
            if number.is_multiple_of(2) { &friction } else { &moved },
        );
        text += &wall("ceiling", "[0.0, 0.4]".into(), "[0.0, -1.0]".into(), "restitution = 0.3");
    } else {
        text += &wall("east", "[1.02]".into(), "[-1.0]".into(), &format!("restitution = 0.4\n{moved}"));
        text += &wall("west", "[-0.6]".into(), "[1.0]".into(), "");
    }
    text + "[solver]\nnewton = { tolerance = 1e-14 }\n[output]\nvtk = false\n"
}

/// Two schemes that make the same motion give the same columns, whatever acts on the model.
#[test]
fn schemes_of_one_motion_gave_different_books() {
    for number in 0..36 {
        let text = random_model(number);
        let runs: Vec<(&str, Run)> = SAME_MOTION
            .iter()
            .filter_map(|scheme| Some((*scheme, try_run(with_scheme(&text, scheme, "1e-3")).ok()?)))
            .collect();
        assert!(runs.len() == SAME_MOTION.len(), "model {number}: {} of the schemes run\n{text}", runs.len());
        let first = columns(&runs[0].1);
        let scale = runs[0].1.arrival.ledger.scale;
        for (scheme, run) in &runs[1..] {
            for ((name, a), (_, b)) in first.iter().zip(columns(run)) {
                let (size, off) = (a.iter().fold(scale, |most, value| most.max(value.abs())), apart(a, &b, 1));
                assert!(off <= 1e-9 * size, "model {number}, {scheme}: {name} is off by {off:e} of {size:e}\n{text}");
            }
        }
    }
}

/// Every column of every scheme of second order tends to that of a fine run at second order, works of supports included.
#[test]
fn works_of_supports_were_of_first_order() {
    let beam = DRIVEN
        .altered("element = \"bar\"", "element = \"beam\"")
        .altered("from = [0.0], to = [3.0]", "from = [0.0, 0.0], to = [1.5, 0.3]")
        .altered("young = 40.0, density = 1.0", "young = 400.0, poisson = 0.3, density = 1.0")
        .altered("section = { area = 1.0 }", "section = { shape = \"rectangle\", width = 1.0, height = 0.4 }")
        .altered("displacement = [0.5]", "displacement = [0.5, 0.0]")
        .altered("nodes = \"bar.start\"", "nodes = \"bar.start\"\n    fix = [\"y\", \"theta\"]");
    let pull = r#"
    [[load]]
    name = "pull"
    nodes = "bar.end"
    force = FORCE
    time = { kind = "harmonic", amplitude = 1.0, frequency = 0.7 }
    "#;
    let bar = DRIVEN.to_string() + &pull.altered("FORCE", "[2.0]");
    let beam = beam + &pull.altered("FORCE", "[0.5, 1.0]");
    for text in [bar, beam] {
        let text = text + "[solver]\nnewton = { tolerance = 1e-13 }\n";
        let of = |scheme: &str, step: &str| columns(&run(with_scheme(&text, scheme, step)));
        let fine = of(SAME_MOTION[0], "1.5625e-5");
        for scheme in crate::common::runs::SECOND_ORDER {
            let [coarse, half] = ["5e-4", "2.5e-4"].map(|step| of(scheme, step));
            for (k, (name, exact)) in fine.iter().enumerate() {
                let [a, b] = [apart(&coarse[k].1, exact, 32), apart(&half[k].1, exact, 16)];
                // What is zero but for rounding has no order.
                if a < 1e-9 {
                    continue;
                }
                let order = (a / b).log2();
                assert!((order - 2.0).abs() < 0.1, "{scheme}: {name} is off by {a:e} and {b:e}, order {order:.2}");
            }
        }
    }
}
