//! Chains of beams against the general pass: in lanes and in scalar code.

use super::Beams;
use crate::case::{Format, parse};
use crate::la::Symmetric;
use crate::methods::tableau::{Passes, Settings};
use crate::model::{Component, Model};
use crate::schemes;
use crate::system::System;
use crate::system::general::General;
use crate::system::operator::{Operator, operator};

/// Two beams welded at a corner; the second is of another stiffness.
const BEAMS: &str = r#"format = 1
gravity = [0.0, -9.81]
[time]
end = 1.0
step = 2e-4
[scheme]
name = "generalized-alpha"
rho_inf = 0.8
[[body]]
name = "first"
element = "beam"
line = { from = [0.0, 0.0], to = [1.0, 0.0], elements = FIRST }
material = { young = 1e9, poisson = 0.3, density = 1000.0 }
section = { shape = "rectangle", width = 0.02, height = 0.02 }
DAMPING
spin = -0.3
spin_centre = [0.0, 0.0]
[[body]]
name = "second"
element = "beam"
line = { from = [1.0, 0.0], to = [1.5, 0.7], elements = SECOND }
material = { young = YOUNG, poisson = 0.3, density = 1000.0 }
section = { shape = "rectangle", width = 0.02, height = 0.02 }
spin = -0.3
spin_centre = [0.0, 0.0]
"#;
const WELD: &str = r#"[[joint]]
name = "corner"
kind = "weld"
between = ["first.end", "second.start"]
"#;
const HINGE: &str = r#"[[joint]]
name = "corner"
kind = "hinge"
between = ["first.end", "second.start"]
"#;
const PIN: &str = r#"[[support]]
name = "pin"
nodes = "first.start"
fix = ["x", "y"]
"#;
const CLAMPS: &str = r#"[[support]]
name = "clamp"
nodes = "first.start"
fix = ["x", "y", "theta"]
[[support]]
name = "middle"
nodes = "first.end"
fix = ["y"]
[[support]]
name = "end"
nodes = "second.end"
motion = { x = { kind = "harmonic", amplitude = 1e-3, frequency = 20.0 } }
"#;
const LOAD: &str = r#"[[load]]
name = "tip"
nodes = "second.end"
force = [3.0, -2.0]
"#;
const MASS: &str = r#"[[body]]
name = "bob"
element = "mass"
at = [1.5, 0.7]
mass = 0.3
[[joint]]
name = "hang"
kind = "hinge"
between = ["second.end", "bob"]
"#;
const FLOOR: &str = r#"[[contact]]
name = "floor"
nodes = "first"
plane = { point = [0.0, -0.0001], normal = [0.0, 1.0] }
restitution = 0.3
"#;

fn system(elements: [usize; 2], young: f64, damping: &str, more: &str) -> (crate::case::data::Case, System) {
    let text = BEAMS
        .replace("FIRST", &elements[0].to_string())
        .replace("SECOND", &elements[1].to_string())
        .replace("YOUNG", &format!("{young:e}"))
        .replace("DAMPING", damping)
        + more;
    let case = parse(&text, "beams", Format::Toml, &[]).unwrap_or_else(|bad| panic!("{}", bad.render(false)));
    let model = Model::new(&case, &|name| name.into()).unwrap();
    let system = System::assemble(&model).unwrap();
    (case, system)
}

const SIZES: [[usize; 2]; 12] = [
    [1, 1],
    [2, 1],
    [4, 4],
    [9, 9],
    [9, 10],
    [10, 10],
    [11, 10],
    [11, 11],
    [40, 33],
    [128, 129],
    [700, 301],
    [1000, 1000],
];
const DAMPING: [&str; 2] = ["", "damping = { mass = 0.7, stiffness = 1e-4 }"];

/// Displacements of a curved and strained beam: smooth, so that strains stay moderate on fine meshes.
fn bend(system: &System) -> Vec<f64> {
    let mut q = system.q0.clone();
    for node in 0..system.nodes.place.len() {
        let [x, y] = system.nodes.place[node];
        for (component, value) in [Component::X, Component::Y, Component::Theta].into_iter().zip([
            0.1 * (3.0 * x + y).sin(),
            0.2 * (2.0 * x - y).cos(),
            1.5 * (x + 2.0 * y).sin() + 7.0,
        ]) {
            if let Some(dof) = system.nodes.find(node, component) {
                q[dof] = value;
            }
        }
    }
    q
}

/// Forces, energy and solutions at a bent place agree with those of the general code to round-off.
#[test]
fn forces_and_solutions_are_those_of_the_general_pass() {
    for elements in SIZES {
        // Bodies that are stiffer by 1e5 than their neighbours leave a few soft directions among stiff ones.
        for (young, allowed) in [(1e3, 2e-12), (1e9, 2e-12), (1e14, 1e-10)] {
            for (more, damping) in [(WELD, 0), ("", 1), (PIN, 0), (CLAMPS, 1), (MASS, 0), (LOAD, 1)] {
                let more = if more == MASS { [WELD, MASS].concat() } else { more.to_string() };
                let (_, system) = system(elements, young, DAMPING[damping], &more);
                let q = bend(&system);
                for lanes in [false, true] {
                    let what = format!("{elements:?}, young {young:e}, lanes {lanes}, damping {damping}: {more}");
                    let mut beams = Beams::of(&system, lanes).unwrap_or_else(|| panic!("no chain: {what}"));
                    let n = system.nodes.total;
                    let (mut f, mut expected) = (vec![7.0; n], vec![0.0; n]);
                    let energy = beams.internal(&q, &mut f);
                    let exact = system.internal(&q, &mut expected);
                    assert!((energy - exact).abs() <= 1e-13 * exact, "{energy:e} {exact:e}: {what}");
                    let size = expected.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
                    let worst = f.iter().zip(&expected).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
                    assert!(worst <= 1e-12 * size, "forces {:e}: {what}", worst / size);
                    for h in [1e-5, 1e-3] {
                        let residual = solve(&system, &q, &mut beams, [0.7, 0.5 * h, 0.3 * h * h], &what);
                        assert!(residual <= allowed, "residual {residual:e}: {what}");
                    }
                }
            }
        }
    }
}

/// More registers change no bits, and a body of equal elements has few kinds of rows.
#[test]
fn registers_and_equal_elements() {
    let (_, system) = system([700, 301], 1e9, "", WELD);
    let (q, n) = (bend(&system), system.nodes.total);
    let [roomy, cramped] = [false, true].map(|cramped| {
        let mut beams = Beams::of(&system, true).unwrap();
        if cramped {
            beams.arch = beams.arch.cramped();
        }
        let mut f = vec![0.0; n];
        let energy = beams.internal(&q, &mut f);
        assert!(beams.factor(0.7, 1e-4, 1e-8));
        let mut x = f.clone();
        beams.solve(&mut x);
        let kinds = beams.table.kinds.iter().max().copied();
        // Ends of the lanes, of the bodies and of the chain, and the rows between.
        assert!(kinds.is_some_and(|last| last < 12), "{kinds:?}");
        (energy, f, x)
    });
    assert_eq!(roomy, cramped);
}

/// Largest residual of a solution, of the products that it is the sum of.
fn solve(system: &System, q: &[f64], beams: &mut Beams, [m, c, k]: [f64; 3], what: &str) -> f64 {
    let n = system.nodes.total;
    let mut matrix = Symmetric::zeros(system.mass.pattern.clone());
    system.effective(q, m, c, k, &mut matrix);
    assert!(beams.factor(m, c, k), "{what}");
    let b: Vec<f64> = (0..n).map(|i| (0.37 * i as f64).sin() + 0.2).collect();
    let mut x = b.clone();
    beams.solve(&mut x);
    assert_eq!(x[system.nodes.free..], b[system.nodes.free..], "held: {what}");
    let mut a = vec![2.0; n];
    beams.correct(&b, &mut a);
    let shifted = |i: usize| if i < system.nodes.free { 2.0 - x[i] } else { 2.0 };
    assert!((0..n).all(|i| a[i] == shifted(i)), "correction: {what}");
    x[system.nodes.free..].fill(0.0);
    let moduli =
        Symmetric { values: matrix.values.iter().map(|value| value.abs()).collect(), pattern: matrix.pattern.clone() };
    let (mut image, mut sizes) = (vec![0.0; n], vec![0.0; n]);
    matrix.multiply(&x, &mut image);
    moduli.multiply(&x.iter().map(|x| x.abs()).collect::<Vec<_>>(), &mut sizes);
    (0..system.nodes.free).map(|i| (image[i] - b[i]).abs() / (sizes[i] + b[i].abs())).fold(0.0, f64::max)
}

/// Whole steps, with everything that stays outside the chain, agree to what Newton's method leaves.
#[test]
fn steps_are_those_of_the_general_pass() {
    for elements in [[1, 2], [5, 4], [12, 11], [60, 51], [300, 211]] {
        for young in [1e7, 1e11] {
            for (k, more) in [
                WELD.to_string(),
                PIN.to_string(),
                [WELD, PIN, LOAD].concat(),
                [WELD, CLAMPS].concat(),
                [WELD, FLOOR].concat(),
                [WELD, MASS, FLOOR].concat(),
            ]
            .into_iter()
            .enumerate()
            {
                for scheme in ["generalized-alpha", "moreau-jean"] {
                    let (mut case, system) = system(elements, young, DAMPING[k % 2], &more);
                    case.scheme.name = scheme.into();
                    // The usual step is too long for Newton's method on the finest mesh.
                    case.time.step = if elements[0] < 300 { case.time.step } else { 5e-5 };
                    let touched = steps(&case, &system, &format!("{scheme}, {elements:?}, {young:e}: {more}"));
                    assert_eq!(touched, more.contains("floor"), "{scheme} {elements:?} {young:e} {more}");
                }
            }
        }
    }
}

fn steps(case: &crate::case::data::Case, system: &System, what: &str) -> bool {
    let parameters =
        if case.scheme.name == "moreau-jean" { Default::default() } else { case.scheme.parameters.clone() };
    let row = schemes::find(&case.scheme.name).unwrap().tableau(&parameters).unwrap();
    let settings = Settings {
        forecast: case.scheme.forecast,
        position: case.scheme.position,
        newton: case.solver.newton.clone(),
        contact: case.solver.contact.clone(),
    };
    let operators: [Box<dyn Operator>; 3] =
        [operator(system, true).unwrap(), operator(system, false).unwrap(), Box::new(General::new(system).unwrap())];
    let mut steppers = operators.map(|operator| Passes::on(system, row, settings.clone(), operator).unwrap());
    let by_pieces = Beams::of(system, true).map(|beams| beams.goes_by_pieces());
    assert_eq!(
        by_pieces,
        Some(system.nodes.free == system.nodes.total && system.nodes.total > 1000),
        "a chain: {what}"
    );
    let h = case.time.step;
    let mut attempts = steppers.each_mut().map(|stepper| stepper.method().initial_attempt(h).unwrap());
    let mut from = attempts[2].state.clone();
    let mut touched = false;
    for step in 0..12 {
        let end = (step + 1) as f64 * h;
        for (stepper, attempt) in steppers.iter_mut().zip(&mut attempts) {
            stepper.method().attempt(&from, h, end, attempt).unwrap_or_else(|error| panic!("{error}; {what}"));
        }
        let [lanes, scalar, general] = &attempts;
        let size = |x: &[f64]| x.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        for (name, ours) in [("lanes", lanes), ("scalar", scalar)] {
            let near = |quantity: &str, x: &[f64], y: &[f64], scale: f64| {
                let worst = x.iter().zip(y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
                assert!(worst <= 1e-10 * scale, "{quantity} {:e}, {name}, step {step}: {what}", worst / scale);
            };
            let (x, y) = (&ours.state, &general.state);
            let rate = size(&y.v).max(size(steppers[2].jump()));
            near("q", &x.q, &y.q, size(&y.q).max(h * rate));
            near("v", &x.v, &y.v, rate);
            near("impulse", &x.impulse, &y.impulse, size(&y.impulse));
            let energy = |s: &crate::state::State| [s.energy.kinetic, s.energy.strain, s.energy.potential];
            near("energy", &energy(x), &energy(y), size(&energy(y)));
            let defects = [ours.balance.defect, general.balance.defect];
            assert!((defects[0] - defects[1]).abs() <= 1e-12 * size(&energy(y)), "{defects:?} {what}");
            assert_eq!(ours.active, general.active, "{what}");
        }
        touched |= general.state.impulse.iter().any(|&p| p != 0.0);
        std::mem::swap(&mut from, &mut attempts[2].state);
    }
    touched
}

/// What is no chain of exact beams takes the general pass.
#[test]
fn other_systems_are_not_taken_for_chains() {
    let (_, hinged) = system([3, 3], 1e9, "", HINGE);
    assert!(Beams::of(&hinged, true).is_none(), "a hinge has two rotations");
    for element in ["linear-beam", "bar"] {
        let text = BEAMS.replace("FIRST", "3").replace("SECOND", "3").replace("YOUNG", "1e9").replace("DAMPING", "");
        let text = text.replacen("element = \"beam\"", &format!("element = {element:?}"), 1);
        let case = parse(&text, "beams", Format::Toml, &[]).unwrap_or_else(|bad| panic!("{}", bad.render(false)));
        let system = System::assemble(&Model::new(&case, &|name| name.into()).unwrap()).unwrap();
        assert!(Beams::of(&system, true).is_none(), "{element}");
    }
}
