//! Units are the user's own: another consistent set gives the same motion.

use crate::common::runs::{Run, load, run};

/// Sizes of the reference units of length, mass and time in the units of a case.
#[derive(Clone, Copy)]
struct Units {
    length: f64,
    mass: f64,
    time: f64,
}

const METRES: Units = Units { length: 1.0, mass: 1.0, time: 1.0 };
const MILLIMETRES_TONNES: Units = Units { length: 1e3, mass: 1e-3, time: 1.0 };
/// All different, so that no two factors can stand for each other.
const POWERS_OF_TWO: Units = Units { length: 8.0, mass: 0.03125, time: 64.0 };

impl Units {
    /// A quantity of dimension length^l mass^m time^t in these units.
    fn of(&self, value: f64, [l, m, t]: [i32; 3]) -> f64 {
        value * self.length.powi(l) * self.mass.powi(m) * self.time.powi(t)
    }

    /// The same, as it stands in a case: every bit of it.
    fn text(&self, value: f64, dimension: [i32; 3]) -> String {
        format!("{:?}", self.of(value, dimension))
    }
}

const LENGTH: [i32; 3] = [1, 0, 0];
const AREA: [i32; 3] = [2, 0, 0];
const TIME: [i32; 3] = [0, 0, 1];
const VELOCITY: [i32; 3] = [1, 0, -1];
const ACCELERATION: [i32; 3] = [1, 0, -2];
const DENSITY: [i32; 3] = [-3, 1, 0];
const PRESSURE: [i32; 3] = [-1, 1, -2];
const RATE: [i32; 3] = [0, 0, -1];
const IMPULSE: [i32; 3] = [1, 1, -1];
const ENERGY: [i32; 3] = [2, 1, -2];

const SCHEMES: &[&str] = &[
    r#"{ name = "generalized-alpha", rho_inf = 0.6 }"#,
    r#"{ name = "moreau-jean" }"#,
    r#"{ name = "hht", alpha = 0.1 }"#,
];

/// A damped bar under gravity against a wall, in one dimension.
fn bar(units: Units, scheme: &str) -> Run {
    let n = |value, dimension| units.text(value, dimension);
    run(load(
        &format!(
            r#"
        format = 1
        gravity = [{}]
        time = {{ end = {}, step = {} }}
        scheme = {scheme}
        [[body]]
        name = "bar"
        element = "bar"
        line = {{ from = [{}], to = [{}], elements = 60 }}
        material = {{ young = {}, density = {} }}
        section = {{ area = {} }}
        damping = {{ mass = {}, stiffness = {} }}
        velocity = [{}]
        [[contact]]
        name = "wall"
        nodes = "bar"
        plane = {{ point = [0.0], normal = [1.0] }}
        "#,
            n(-9.81, ACCELERATION),
            n(1.5, TIME),
            n(3e-3, TIME),
            n(1.3, LENGTH),
            n(8.1, LENGTH),
            n(900.0, PRESSURE),
            n(1.1, DENSITY),
            n(0.7, AREA),
            n(0.05, RATE),
            n(1e-4, TIME),
            n(-10.0, VELOCITY),
        ),
        &[],
    ))
}

/// The shipped truss, its mesh rewritten in other units.
fn truss(units: Units, scheme: &str) -> Run {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("truss.msh");
    std::fs::write(&file, scaled_mesh(units)).unwrap();
    let n = |value, dimension| units.text(value, dimension);
    run(load(
        &format!(
            r#"
        format = 1
        gravity = [0.0, {}]
        time = {{ end = {}, step = {} }}
        scheme = {scheme}
        [[body]]
        name = "truss"
        element = "bar"
        mesh = {:?}
        group = "truss"
        material = {{ young = {}, density = {} }}
        section = {{ area = {} }}
        [[contact]]
        name = "floor"
        nodes = "truss"
        plane = {{ point = [0.0, 0.0], normal = [0.0, 1.0] }}
        "#,
            n(-9.81, ACCELERATION),
            n(1.0, TIME),
            n(1e-3, TIME),
            file.to_str().unwrap(),
            n(1e7, PRESSURE),
            n(1e3, DENSITY),
            n(1e-3, AREA),
        ),
        &[],
    ))
}

/// The mesh of the truss with all coordinates in other units: those lines of `$Nodes` and `$Entities` that have any.
fn scaled_mesh(units: Units) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/meshes/truss.msh");
    let mut section = "";
    let text = std::fs::read_to_string(path).unwrap();
    let mut scaled = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        // Coordinates: alone on a line of nodes; after the tag of a point, and of a curve with its box.
        let coordinates = match (section, words.len()) {
            ("$Nodes", 3) => 0..3,
            ("$Entities", 5..=6) => 1..4,
            ("$Entities", 7..) => 1..7,
            _ => 0..0,
        };
        let scale = |(i, word): (usize, &&str)| match coordinates.contains(&i) {
            true => units.text(word.parse().unwrap(), LENGTH),
            false => word.to_string(),
        };
        scaled += &words.iter().enumerate().map(scale).collect::<Vec<_>>().join(" ");
        scaled.push('\n');
        if line.starts_with('$') {
            section = line;
        }
    }
    scaled
}

/// Compares q, v, impulses and energies of all steps, `ours` in `units` and `reference` in metres.
fn compare(ours: &Run, reference: &Run, units: Units, same: impl Fn(&str, f64, f64, f64)) {
    assert_eq!(ours.steps.len(), reference.steps.len());
    let largest = |values: &dyn Fn(usize) -> Vec<f64>| {
        (0..reference.steps.len()).flat_map(values).fold(0.0_f64, |largest, x| largest.max(x.abs()))
    };
    let scale = [
        largest(&|k| reference.steps[k].q.clone()),
        largest(&|k| reference.steps[k].v.clone()),
        largest(&|k| reference.steps[k].impulse.clone()),
    ];
    let mut impulses = 0;
    for (a, b) in ours.steps.iter().zip(&reference.steps) {
        assert_eq!(a.counts, b.counts, "passes, factorizations, sweeps and active contacts at {}", b.time);
        for (name, dimension, ours, wanted, scale) in [
            ("q", LENGTH, &a.q, &b.q, scale[0]),
            ("v", VELOCITY, &a.v, &b.v, scale[1]),
            ("impulse", IMPULSE, &a.impulse, &b.impulse, scale[2]),
        ] {
            for (x, y) in ours.iter().zip(wanted) {
                let what = format!("{name} at {}", b.time);
                same(&what, *x, units.of(*y, dimension), units.of(scale, dimension));
            }
        }
        let energies =
            |step: &crate::common::runs::Step| [step.energy.kinetic, step.energy.strain, step.energy.potential];
        for (x, y) in energies(a).into_iter().zip(energies(b)) {
            same(
                &format!("energy at {}", b.time),
                x,
                units.of(y, ENERGY),
                units.of(reference.arrival.ledger.scale, ENERGY),
            );
        }
        impulses += b.impulse.iter().filter(|p| **p > 0.0).count();
    }
    assert!(impulses > 50, "the run must meet contact, {impulses}");
}

#[test]
fn powers_of_two_give_the_same_bits() {
    let bits = |what: &str, ours: f64, wanted: f64, _: f64| {
        assert_eq!(ours.to_bits(), wanted.to_bits(), "{what}: {ours:e} for {wanted:e}");
    };
    for scheme in SCHEMES {
        compare(&bar(POWERS_OF_TWO, scheme), &bar(METRES, scheme), POWERS_OF_TWO, bits);
        compare(&truss(POWERS_OF_TWO, scheme), &truss(METRES, scheme), POWERS_OF_TWO, bits);
    }
}

#[test]
fn millimetres_and_tonnes_give_the_same_numbers_and_the_same_work() {
    let near = |what: &str, ours: f64, wanted: f64, scale: f64| {
        assert!((ours - wanted).abs() <= 1e-9 * scale, "{what}: {ours:e} for {wanted:e} of {scale:e}");
    };
    for scheme in SCHEMES {
        compare(&bar(MILLIMETRES_TONNES, scheme), &bar(METRES, scheme), MILLIMETRES_TONNES, near);
        compare(&truss(MILLIMETRES_TONNES, scheme), &truss(METRES, scheme), MILLIMETRES_TONNES, near);
    }
}
