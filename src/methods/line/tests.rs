//! The step of a line against the general one, step by step.

use crate::case::{Case, Format, parse};
use crate::methods::Method;
use crate::methods::line::LineStepper;
use crate::methods::tableau::{Impulse, Stepper, operator_of};
use crate::model::Model;
use crate::schemes;
use crate::state::State;
use crate::system::System;

const BARS: &str = r#"format = 1
gravity = [GRAVITY]
[time]
end = 1.0
step = 1e-3
[scheme]
name = "moreau-jean"
[[body]]
name = "left"
element = "bar"
line = { from = [0.0], to = [1.0], elements = LEFT }
material = { young = 900.0, density = 1.0 }
section = { area = 1.0 }
mass_matrix = "MASS"
velocity = [-3.0]
damping = DAMPING
[[body]]
name = "right"
element = "bar"
line = { from = [1.0], to = [2.0], elements = RIGHT }
material = { young = YOUNG, density = 2.0 }
section = { area = 1.0 }
velocity = [1.0]
[[joint]]
name = "joint"
kind = "hinge"
between = ["left.end", "right.start"]
[[contact]]
name = "wall"
nodes = "left.start"
plane = { point = [0.0], normal = [1.0] }
restitution = RESTITUTION
"#;
const STOP: &str = r#"[[contact]]
name = "stop"
nodes = "right.end"
plane = { point = [2.0005], normal = [-1.0] }
restitution = 0.3
"#;
const CEILING: &str = r#"[[contact]]
name = "ceiling"
nodes = "left.end"
plane = { point = [1.0], normal = [1.0] }
motion = { normal = { kind = "ramp", from = 0.0, to = 0.5, end = 1.0 } }
"#;
const PUSH: &str = r#"[[load]]
name = "push"
nodes = "right.end"
force = [-200.0]
time = { kind = "harmonic", amplitude = 1.0, frequency = 40.0, phase = 0.3 }
[[load]]
name = "wind"
body = "left"
per_length = [30.0]
time = { kind = "ramp", from = 0.0, to = 1.0, end = 0.01 }
"#;
const CLAMP: &str = r#"[[support]]
name = "clamp"
nodes = "right.end"
fix = ["x"]
"#;

struct Setting {
    elements: [usize; 2],
    young: f64,
    gravity: f64,
    mass: &'static str,
    damping: [f64; 2],
    restitution: f64,
    more: &'static str,
}

fn assemble(setting: &Setting) -> (Case, System) {
    let text = BARS
        .replace("GRAVITY", &format!("{:?}", setting.gravity))
        .replace("LEFT", &setting.elements[0].to_string())
        .replace("RIGHT", &setting.elements[1].to_string())
        .replace("YOUNG", &format!("{:?}", setting.young))
        .replace("MASS", setting.mass)
        .replace("DAMPING", &format!("{{ mass = {:?}, stiffness = {:?} }}", setting.damping[0], setting.damping[1]))
        .replace("RESTITUTION", &format!("{:?}", setting.restitution))
        + setting.more;
    let case = parse(&text, "bars", Format::Toml, &[]).unwrap_or_else(|bad| panic!("{}", bad.render(false)));
    let system = System::assemble(&Model::new(&case, &|name| name.into()).unwrap()).unwrap();
    (case, system)
}

/// The step of a line, and the general one.
fn steppers<'a>(
    case: &Case,
    system: &'a System,
    (name, keys): (&str, &[(&str, f64)]),
) -> (LineStepper<'a>, Stepper<'a, Impulse>) {
    let given = keys.iter().map(|(key, value)| (key.to_string(), schemes::Value::Number(*value))).collect();
    let settings = super::Settings {
        forecast: case.scheme.forecast,
        position: case.scheme.position,
        newton: case.solver.newton.clone(),
        contact: case.solver.contact.clone(),
    };
    let row = schemes::find(name).unwrap().tableau(&given).unwrap();
    let line = LineStepper::new(system, &row, &settings).unwrap().expect("the line is recognised");
    (line, Stepper::new(system, row, settings, operator_of(system, true).unwrap()).unwrap())
}

/// Walks with the general step and makes every step with both; returns the largest number of contacts at once and the
/// number of steps with an impulse.
fn compare(setting: &Setting, scheme: (&str, &[(&str, f64)]), courant: f64) -> (usize, usize) {
    let (case, system) = assemble(setting);
    let (mut fast, mut general) = steppers(&case, &system, scheme);
    let row = fast.equations.row;
    // Both bars at the speed of waves in the stiffer one.
    let speed = 30.0_f64.max((setting.young / 2.0).sqrt());
    let h = courant / (speed * setting.elements[0].max(setting.elements[1]) as f64);
    // The condition of Â grows like the square of the Courant number, about 1e4 at 50, and both solutions with it.
    let allowed = 1e-12 * f64::max(1.0, 1e-2 * courant * courant);
    let mut expected = general.initial_attempt(h).unwrap();
    let mut got = fast.initial_attempt(h).unwrap();
    let mut from = expected.state.clone();
    let (mut most, mut pressed) = (0, 0);
    for step in 0..40 {
        let end = (step + 1) as f64 * h;
        general.attempt(&from, h, end, &mut expected).unwrap();
        fast.attempt(&from, h, end, &mut got).unwrap();
        let what = format!("{scheme:?}, {:?} elements, courant {courant}, step {step}", setting.elements);
        let (a, b) = (&expected.state, &got.state);
        let size = |x: &[f64]| x.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        let near = |name: &str, a: &[f64], b: &[f64], scale: f64| {
            assert_eq!(a.len(), b.len(), "{name}: {what}");
            let worst = a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            assert!(worst <= allowed * scale, "{name}: {worst:e} of {scale:e}; {what}");
        };
        // Strains are differences of displacements and round like those; what follows from them is measured by that.
        // With large steps most of a jump is taken back by the acceleration of the same step, and rounds before that.
        let rate = size(&a.v).max(size(&general.core.motion.jump));
        let reach = size(&a.q).max(h * rate);
        near("q", &a.q, &b.q, reach);
        near("v", &a.v, &b.v, rate);
        near("a", &a.a, &b.a, size(&a.a).max(rate / h));
        assert!(b.internal.is_empty(), "{what}");
        let drag = system.damping.as_ref().map_or(0.0, |damping| size(&damping.values)) * rate;
        if system.damped {
            near("damping", &a.viscous, &b.viscous, drag);
        }
        assert_eq!((b.viscous.is_empty(), b.applied.is_empty()), (!system.damped, !system.is_loaded()), "{what}");
        near("loads", if system.is_loaded() { &a.applied } else { &[] }, &b.applied, 1.0);
        // The impulse that would change a velocity by its own size.
        let whole = |&i: &u32| rate / general.form.law.delassus.diagonal(expected.scene.candidates[i as usize].row);
        let impulse = general.form.law.active.iter().map(whole).fold(size(&a.impulse), f64::max);
        near("impulse", &a.impulse, &b.impulse, impulse);
        near("gaps", &expected.gaps, &got.gaps, 1.0);
        let energies = |s: &State| [s.energy.kinetic, s.energy.strain, s.energy.potential];
        // An element has at most this mass, and the rounding of its velocity shows in its energy.
        let heaviest = (1.0 / setting.elements[0] as f64).max(2.0 / setting.elements[1] as f64);
        let scale = energies(a).iter().map(|e| e.abs()).sum::<f64>() + heaviest * rate * rate;
        near("energy", &energies(a), &energies(b), scale);
        if let (Some(a), Some(b)) = (&a.storage, &b.storage) {
            assert!(b.z.is_empty(), "{what}");
            near("storage", &[a.value, a.h, a.filter], &[b.value, b.h, b.filter], scale.max(a.value.abs()));
            near("power", &[h * a.power], &[h * b.power], scale);
            // Filters of forces round like the forces.
            let loads = size(&got.state.applied);
            for (name, a, b, scale) in [("x", &a.damping_x, &b.damping_x, drag), ("y", &a.load, &b.load, loads)] {
                near(name, if b.is_empty() { &[] } else { a }, b, scale);
            }
        }
        assert_eq!(a.storage.is_some(), b.storage.is_some());
        let works = |b: &super::Balance| {
            [b.external, b.damping, b.support, b.contact, b.friction, b.scheme, b.curvature, b.defect, b.storage_defect]
        };
        near("balance", &works(&expected.balance), &works(&got.balance), scale);
        let law = &general.form.law;
        let missed = got.complementarity * [&law.u0, &law.u1, &law.b].map(|u| size(u)).into_iter().fold(0.0, f64::max);
        assert!(missed <= allowed * rate, "{missed:e} of {rate:e}: {what}");
        let counts = |a: &super::Attempt| (a.state.step, a.state.time, a.active, a.passes, a.factorizations, a.method);
        assert_eq!(counts(&expected), counts(&got), "{what}");
        most = most.max(got.active);
        pressed += usize::from(b.impulse.iter().any(|&p| p != 0.0));
        std::mem::swap(&mut from, &mut expected.state);
    }
    // On its own the fast step carries the norm of the filter on; it must stay that of the filter.
    let mut force = vec![0.0; system.nodes.total];
    let mut z = from.storage.as_ref().map(|storage| storage.z.clone());
    let mut from = std::mem::replace(&mut got.state, system.without_forces(from));
    for step in 40..80 {
        std::mem::swap(&mut from, &mut got.state);
        fast.attempt(&from, h, (step + 1) as f64 * h, &mut got).unwrap();
        if let (Some(storage), Some(z)) = (&got.state.storage, &mut z) {
            for (z, (q1, q0)) in z.iter_mut().zip(got.state.q.iter().zip(&from.q[..])) {
                *z = ((row.alpha_f - row.alpha_m) * (q1 - q0) - row.alpha_m * *z) / (1.0 - row.alpha_m);
            }
            let norm = 2.0 * system.internal(z, &mut force);
            let scale = got.state.energy.total().abs() + storage.value.abs();
            assert!((norm - storage.filter).abs() <= allowed * scale, "{norm} {}, {scheme:?}", storage.filter);
        }
    }
    (most, pressed)
}

type Scheme = (&'static str, &'static [(&'static str, f64)]);

const IMPLICIT: [Scheme; 9] = [
    ("moreau-jean", &[]),
    ("moreau-jean", &[("theta", 0.7)]),
    ("moreau-jean-dissipative", &[("theta", 0.8)]),
    ("newmark", &[]),
    ("newmark", &[("gamma", 0.6), ("beta", 0.35)]),
    ("hht", &[("alpha", 0.1)]),
    ("hht", &[("alpha", 0.1), ("gamma", 1.0), ("beta", 0.5)]),
    ("generalized-alpha", &[("rho_inf", 0.6)]),
    ("generalized-alpha", &[("rho_inf", 0.0)]),
];

const PLAIN: Setting = Setting {
    elements: [16, 16],
    young: 900.0,
    gravity: 0.0,
    mass: "consistent",
    damping: [0.0; 2],
    restitution: 0.0,
    more: "",
};

#[test]
fn every_scheme_and_size() {
    for scheme in IMPLICIT {
        for elements in [[16, 16], [17, 17], [20, 13], [9, 25], [100, 101], [130, 127], [400, 203]] {
            for courant in [0.1, 1.0, 50.0] {
                let (most, pressed) = compare(&Setting { elements, ..PLAIN }, scheme, courant);
                assert!(most == 1 && pressed > 0, "{scheme:?} {elements:?} {courant}: {most} {pressed}");
            }
        }
    }
    let (most, pressed) = compare(&Setting { elements: [60, 41], ..PLAIN }, ("central-difference", &[]), 0.4);
    assert!(most == 1 && pressed > 0);
}

#[test]
fn stiffness_ratios_gravity_restitution_and_lumped_masses() {
    for scheme in IMPLICIT {
        for young in [0.09, 9e6] {
            for (gravity, mass, restitution) in [(-10.0, "consistent", 0.5), (0.0, "lumped", 0.0), (7.0, "lumped", 0.2)]
            {
                let setting = Setting { elements: [150, 90], young, gravity, mass, restitution, ..PLAIN };
                compare(&setting, scheme, 1.0);
            }
        }
    }
}

#[test]
fn contacts_anywhere_and_supports() {
    for scheme in IMPLICIT {
        for courant in [0.3, 20.0] {
            let both = compare(&Setting { elements: [70, 60], more: STOP, ..PLAIN }, scheme, courant);
            assert!(both.0 == 2 && both.1 > 0, "{scheme:?}: {both:?}");
            let middle = compare(&Setting { elements: [70, 60], more: CEILING, ..PLAIN }, scheme, courant);
            assert!(middle.0 == 2 && middle.1 > 0, "{scheme:?}: {middle:?}");
            compare(&Setting { elements: [70, 60], more: CLAMP, gravity: -10.0, ..PLAIN }, scheme, courant);
        }
    }
}

#[test]
fn loads_and_damping() {
    for scheme in IMPLICIT {
        for (damping, more) in [([0.0; 2], PUSH), ([5.0, 0.0], ""), ([0.0, 1e-4], ""), ([5.0, 1e-4], PUSH)] {
            let mut impacts = 0;
            for (gravity, elements) in [(0.0, [16, 17]), (-10.0, [150, 90])] {
                for courant in [0.3, 20.0] {
                    impacts += compare(&Setting { elements, gravity, damping, more, ..PLAIN }, scheme, courant).1;
                }
            }
            assert!(impacts > 0, "{scheme:?} {damping:?}");
        }
    }
}

#[test]
fn no_subnormal_numbers_ahead_of_a_wave() {
    let (case, system) = assemble(&Setting { elements: [800, 800], ..PLAIN });
    for scheme in IMPLICIT {
        for h in [3e-6, 3e-5] {
            let (mut fast, _) = steppers(&case, &system, scheme);
            let mut to = fast.initial_attempt(h).unwrap();
            let mut from = to.state.clone();
            for step in 0..200 {
                fast.attempt(&from, h, (step + 1) as f64 * h, &mut to).unwrap();
                let numbers = to.state.q.iter().chain(&to.state.v[..]).chain(&to.state.a[..]);
                assert!(!numbers.clone().any(|x| x.is_subnormal()), "{scheme:?}, step {step}");
                std::mem::swap(&mut from, &mut to.state);
            }
        }
    }
}
