//! What every element promises, looped over the registry: forces are gradients, tangents are their derivatives, rigid
//! motions cost nothing, mass adds up. Then what the two beams promise beyond that.
//!
//! Reference values are those of `data/beam-elements.json` where a name of that file is given.
#![allow(clippy::excessive_precision, reason = "tables are copied with all their digits")]

use crate::common::history;
use carom::elements::{ELEMENTS, Element, Local};
use carom::model::{Body, Component, Model};
use carom::system::System;
use nalgebra::{DMatrix, SymmetricEigen};

/// An element of the registry in a body, with nothing to hold it.
struct Sample {
    what: String,
    system: System,
    /// Which of the system's elements.
    index: usize,
    body: Body,
    /// Mass of the body itself.
    mass: f64,
}

impl Sample {
    fn new(what: &str, bodies: &str, mass: f64) -> Sample {
        let (model, system) = assemble(bodies);
        let kind = what.split(' ').next().unwrap();
        let index = model.bodies.iter().position(|body| body.kind.name == kind).unwrap();
        Sample { what: what.into(), system, index, body: model.bodies[index].clone(), mass }
    }

    fn element(&self) -> &dyn Element {
        self.system.elements[self.index].as_ref()
    }

    fn unknowns(&self) -> usize {
        self.system.nodes.total
    }

    /// Internal force of the element alone, and its energy.
    fn internal(&self, q: &[f64]) -> (f64, Vec<f64>) {
        let mut f = vec![0.0; q.len()];
        (self.element().internal(q, &mut f), f)
    }

    fn gather(&self, local: impl Fn(usize) -> Local) -> DMatrix<f64> {
        let mut matrix = DMatrix::zeros(self.unknowns(), self.unknowns());
        let block = self.element().block();
        for e in 0..block.len() {
            let (dofs, local) = (block.element(e), local(e));
            for i in 0..dofs.len() {
                for j in 0..dofs.len() {
                    matrix[(dofs[i] as usize, dofs[j] as usize)] += local[(i, j)];
                }
            }
        }
        matrix
    }

    fn stiffness(&self, q: &[f64]) -> DMatrix<f64> {
        self.gather(|e| self.element().tangent(e, q).stiffness)
    }

    fn damping(&self, q: &[f64]) -> DMatrix<f64> {
        self.gather(|e| self.element().tangent(e, q).damping)
    }

    fn mass_matrix(&self) -> DMatrix<f64> {
        self.gather(|e| self.element().mass(e))
    }

    /// A field over the nodes as a vector of unknowns: `field(place, displacement)` gives x, y and rotation.
    fn field(&self, q: &[f64], field: impl Fn([f64; 2], [f64; 3]) -> [f64; 3]) -> Vec<f64> {
        let nodes = &self.system.nodes;
        let mut vector = vec![0.0; self.unknowns()];
        for node in 0..nodes.place.len() {
            let dofs = [Component::X, Component::Y, Component::Theta].map(|c| nodes.find(node, c));
            let value = field(nodes.place[node], dofs.map(|dof| dof.map_or(0.0, |d| q[d])));
            for (dof, value) in dofs.into_iter().zip(value) {
                dof.into_iter().for_each(|d| vector[d] = value);
            }
        }
        vector
    }

    fn translation(&self, along: [f64; 2]) -> Vec<f64> {
        self.field(&vec![0.0; self.unknowns()], |_, _| [along[0], along[1], 0.0])
    }

    /// Velocities of a unit spin about the origin at the current places.
    fn spin(&self, q: &[f64]) -> Vec<f64> {
        self.field(q, |place, d| [-(place[1] + d[1]), place[0] + d[0], 1.0])
    }

    /// The state `q` turned about the origin and shifted.
    fn moved(&self, q: &[f64], angle: f64, shift: [f64; 2]) -> Vec<f64> {
        let (s, c) = angle.sin_cos();
        self.field(q, |place, d| {
            let now = [place[0] + d[0], place[1] + d[1]];
            [c * now[0] - s * now[1] + shift[0] - place[0], s * now[0] + c * now[1] + shift[1] - place[1], d[2] + angle]
        })
    }

    /// An irregular state of that size.
    fn state(&self, size: f64) -> Vec<f64> {
        (0..self.unknowns())
            .map(|i| size * (((i * i + 5 * i + 1) as f64 * 0.618_033_988_749_895).fract() - 0.5))
            .collect()
    }
}

/// A system made of `[[body]]` tables alone.
fn assemble(bodies: &str) -> (Model, System) {
    let text = format!("format = 1\n[time]\nend = 1.0\nstep = 1.0\n[scheme]\nname = \"newmark\"\n{bodies}");
    history::build(&text, &[]).unwrap()
}

/// Skew body with stiffnesses of one size, so that no part of a matrix hides behind another.
fn line_body(element: &str, dimension: usize, extra: &str) -> String {
    let ends = ["from = [0.5], to = [2.6]", "from = [0.5, -0.3], to = [2.1, 1.0]"][dimension - 1];
    format!(
        r#"
        [[body]]
        name = "body"
        element = "{element}"
        line = {{ {ends}, elements = 3, grading = 1.7 }}
        material = {{ young = 100.0, poisson = 0.3, density = 3.0 }}
        section = {{ area = 2.0, inertia = 0.3, shear_area = 1.5 }}
        damping = {{ stiffness = 0.02 }}
        {extra}
        "#
    )
}

/// Samples of an element of the registry; a new element must bring its own.
fn samples(kind: &str) -> Vec<Sample> {
    let plane = 6.0 * 1.6_f64.hypot(1.3);
    let with = |dimension: usize, extra: &str, mass: f64| {
        Sample::new(&format!("{kind} in {dimension}d {extra}"), &line_body(kind, dimension, extra), mass)
    };
    let lumped = r#"mass_matrix = "lumped""#;
    let masses = |a: &str, b: &str| {
        let ball = |name: &str, at: &str| {
            format!("[[body]]\nname = \"{name}\"\nelement = \"mass\"\nat = [{at}]\nmass = 2.5\n")
        };
        ball("a", a) + &ball("b", b)
    };
    let spring = |what: &str, a: &str, b: &str, extra: &str| {
        let link = "[[body]]\nname = \"link\"\nelement = \"spring\"\nbetween = [\"a\", \"b\"]\nstiffness = 30.0\ndamping = 4.0\n";
        Sample::new(&format!("spring {what}"), &format!("{}{link}{extra}\n", masses(a, b)), 0.0)
    };
    match kind {
        "bar" => vec![with(1, "", 6.0 * 2.1), with(1, lumped, 6.0 * 2.1), with(2, "", plane), with(2, lumped, plane)],
        "beam" => vec![with(2, "", plane), with(2, lumped, plane), with(2, "shear_correction = true", plane)],
        "linear-beam" => vec![with(2, "", plane), with(2, lumped, plane)],
        "spring" => vec![
            spring("1d", "0.2", "1.4", ""),
            spring("2d", "0.2, 0.3", "1.4, -0.5", ""),
            spring("2d prestressed", "0.2, 0.3", "1.4, -0.5", "rest_length = 1.1"),
            spring("2d without rest length", "0.2, 0.3", "1.4, -0.5", "rest_length = 0.0"),
        ],
        "mass" => vec![Sample::new("mass", &masses("0.3, 0.1", "1.0, 0.0"), 2.5)],
        other => panic!("the element `{other}` has no sample here: add one"),
    }
}

fn all_samples() -> Vec<Sample> {
    ELEMENTS.iter().flat_map(|kind| samples(kind.name)).collect()
}

fn size(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |a, v| a.max(v.abs()))
}

fn times(matrix: &DMatrix<f64>, x: &[f64]) -> Vec<f64> {
    (matrix * nalgebra::DVector::from_column_slice(x)).iter().copied().collect()
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

#[test]
fn forces_are_the_gradient_of_the_energy() {
    for sample in all_samples() {
        let q = sample.state(0.4);
        let (_, f) = sample.internal(&q);
        let d = 1e-5;
        for i in 0..q.len() {
            let energy = |shift: f64| {
                let mut near = q.clone();
                near[i] += shift;
                sample.internal(&near).0
            };
            let difference = (energy(d) - energy(-d)) / (2.0 * d);
            // Truncation d² and rounding 1e-16/d of an energy of the size of the force.
            assert!((f[i] - difference).abs() <= 1e-8 * size(&f), "{} [{i}]: {} {difference}", sample.what, f[i]);
        }
    }
}

#[test]
fn tangents_are_symmetric_derivatives_of_the_forces() {
    for sample in all_samples() {
        let q = sample.state(0.4);
        let tangent = sample.stiffness(&q);
        let largest = tangent.amax();
        assert!((&tangent - tangent.transpose()).amax() <= 1e-15 * largest, "{}", sample.what);
        let d = 1e-5;
        for j in 0..q.len() {
            let force = |shift: f64| {
                let mut near = q.clone();
                near[j] += shift;
                sample.internal(&near).1
            };
            let (above, below) = (force(d), force(-d));
            for i in 0..q.len() {
                let difference = (above[i] - below[i]) / (2.0 * d);
                assert!((tangent[(i, j)] - difference).abs() <= 1e-8 * largest, "{} [{i}, {j}]", sample.what);
            }
        }
    }
}

#[test]
fn damping_is_symmetric_dissipates_and_ignores_translations() {
    for sample in all_samples() {
        let damping = sample.damping(&sample.state(0.4));
        assert_eq!(damping.amax() > 0.0, sample.element().block().damped, "{}", sample.what);
        assert!((&damping - damping.transpose()).amax() <= 1e-15 * damping.amax(), "{}", sample.what);
        for along in [[1.0, 0.0], [0.0, 1.0]] {
            let drag = times(&damping, &sample.translation(along));
            assert!(size(&drag) <= 1e-15 * damping.amax(), "{}", sample.what);
        }
        for k in 1..20 {
            let v = sample.state(k as f64);
            assert!(dot(&v, &times(&damping, &v)) >= -1e-13 * damping.amax() * dot(&v, &v), "{}", sample.what);
        }
    }
}

#[test]
fn translations_are_free() {
    for sample in all_samples() {
        let (energy, f) = sample.internal(&sample.translation([3.0, -4.0]));
        let at_rest = sample.internal(&vec![0.0; sample.unknowns()]);
        assert_eq!((energy, &f), (at_rest.0, &at_rest.1), "{}: differences of equal numbers", sample.what);
        let p = &sample.body.properties;
        let prestressed = sample.what.contains("prestressed") || sample.what.contains("without rest length");
        assert_eq!(size(&f) <= 1e-15 * p.axial.max(p.stiffness), !prestressed, "{}", sample.what);
        let q = sample.state(0.4);
        let tangent = sample.stiffness(&q);
        for along in [[1.0, 0.0], [0.0, 1.0]] {
            assert!(size(&times(&tangent, &sample.translation(along))) <= 1e-14 * tangent.amax(), "{}", sample.what);
        }
    }
}

/// A straight free beam has two translations and one rotation that cost nothing, and no other such motion: neither a
/// hourglass mode of the one-point element nor a locked rotation.
#[test]
fn elements_with_rotations_have_exactly_three_rigid_modes() {
    let mut seen = 0;
    for sample in all_samples().iter().filter(|s| (s.body.kind.components)(2).contains(&Component::Theta)) {
        let at_rest = vec![0.0; sample.unknowns()];
        let stiffness = sample.stiffness(&at_rest);
        let largest = stiffness.amax();
        assert!(size(&times(&stiffness, &sample.spin(&at_rest))) <= 1e-14 * largest, "{}", sample.what);
        let mut eigenvalues: Vec<f64> = SymmetricEigen::new(stiffness).eigenvalues.iter().copied().collect();
        eigenvalues.sort_by(f64::total_cmp);
        assert!(eigenvalues[..3].iter().all(|x| x.abs() < 1e-14 * largest), "{} {eigenvalues:?}", sample.what);
        assert!(eigenvalues[3] > 1e-3 * largest, "{} {eigenvalues:?}", sample.what);
        seen += 1;
    }
    assert!(seen >= 5, "both beams must take part");
}

/// Elements for large rotations: a deformed state that is turned by any angle and shifted has the same energy, and the
/// forces turn with it.
#[test]
fn nonlinear_elements_are_objective() {
    let mut seen = 0;
    for sample in all_samples().iter().filter(|sample| !sample.element().block().linear) {
        let q = sample.state(0.5);
        let (energy, f) = sample.internal(&q);
        for angle in [0.3, 2.0, -4.0, 31.0] {
            let (turned_energy, turned) = sample.internal(&sample.moved(&q, angle, [7.0, -2.0]));
            assert!((energy - turned_energy).abs() <= 2e-14 * energy, "{} {angle}", sample.what);
            let (s, c) = f64::sin_cos(angle);
            let expected = sample.field(&f, |_, f| [c * f[0] - s * f[1], s * f[0] + c * f[1], f[2]]);
            let error = turned.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error <= 5e-14 * size(&f), "{} {angle}: {error:e}", sample.what);
        }
        seen += 1;
    }
    assert!(seen >= 5, "beam and plane springs must take part");
}

/// Damping of large-rotation elements acts on strain rates: a spin of the deformed body is not braked. `linear-beam` is
/// for small rotations: its damping leaves a spin alone at the reference configuration only, and brakes a beam that has
/// turned, as its stiffness then does.
#[test]
fn a_spin_is_not_braked() {
    for sample in all_samples().iter().filter(|s| s.element().block().damped && s.system.nodes.dimension == 2) {
        let deformed = sample.state(0.5);
        let turned = sample.moved(&deformed, 2.0, [0.4, 0.1]);
        let at_rest = vec![0.0; sample.unknowns()];
        let drag = |q: &[f64]| {
            let damping = sample.damping(q);
            size(&times(&damping, &sample.spin(q))) / damping.amax()
        };
        assert!(drag(&at_rest) <= 1e-14, "{}", sample.what);
        if sample.element().block().linear {
            assert!(drag(&turned) > 0.1, "{} is for small rotations", sample.what);
        } else {
            assert!(drag(&deformed) <= 1e-14 && drag(&turned) <= 1e-14, "{}", sample.what);
        }
    }
}

#[test]
fn mass_adds_up_in_every_direction() {
    for sample in all_samples() {
        let mass = sample.mass_matrix();
        assert!((&mass - mass.transpose()).amax() <= 1e-15 * mass.amax(), "{}", sample.what);
        let lowest = SymmetricEigen::new(mass.clone()).eigenvalues.min();
        assert!(lowest >= -1e-15 * mass.amax(), "{}: {lowest}", sample.what);
        let directions = [[1.0, 0.0], [0.0, 1.0]];
        for along in &directions[..sample.system.nodes.dimension] {
            let v = sample.translation(*along);
            let total = dot(&v, &times(&mass, &v));
            assert!((total - sample.mass).abs() <= 1e-14 * sample.mass, "{}: {total} {}", sample.what, sample.mass);
        }
        let lumped = sample.body.properties.lumped || sample.body.kind.name == "mass";
        let off_diagonal = (&mass - DMatrix::from_diagonal(&mass.diagonal())).amax();
        assert_eq!(off_diagonal == 0.0, lumped || sample.mass == 0.0, "{}", sample.what);
    }
}

/// Kinetic energy of a spin about one end. Consistent: ρAL³/3 + ρIL, `lin_rot_inertia_about_origin`. Lumped: the
/// trapezoidal rule in place of L³/3.
#[test]
fn rotary_inertia_of_beams() {
    let (mass, inertia) = (19.5, 0.0040625);
    for element in ["linear-beam", "beam"] {
        for angle in [0.0, 0.4, 2.2_f64] {
            for (lumping, elements) in [("consistent", 1), ("consistent", 5), ("lumped", 5)] {
                let sample = Sample::new(
                    element,
                    &format!(
                        r#"
                        [[body]]
                        name = "body"
                        element = "{element}"
                        line = {{ from = [0.0, 0.0], to = [{}, {}], elements = {elements} }}
                        material = {{ young = 2.1e11, poisson = 0.3, density = 7800.0 }}
                        section = {{ shape = "rectangle", width = 0.05, height = 0.05 }}
                        mass_matrix = "{lumping}"
                        "#,
                        angle.cos(),
                        angle.sin()
                    ),
                    mass,
                );
                let spin = sample.spin(&vec![0.0; sample.unknowns()]);
                let measured = dot(&spin, &times(&sample.mass_matrix(), &spin));
                let trapezoid = if lumping == "lumped" { mass / (6.0 * (elements * elements) as f64) } else { 0.0 };
                let exact = mass / 3.0 + inertia + trapezoid;
                assert!((measured - exact).abs() < 1e-13 * exact, "{element} {lumping}: {measured} {exact}");
                assert!(lumping == "lumped" || (exact - 6.5040625).abs() < 1e-15);
            }
        }
    }
}

/// Patch test: a uniform stretch of an irregular skew mesh is met exactly, with no force at the inner nodes.
#[test]
fn uniform_stretch_is_exact() {
    for sample in all_samples().iter().filter(|sample| sample.body.properties.axial > 0.0) {
        let (strain, axial) = (0.01, sample.body.properties.axial);
        let q = sample.field(&vec![0.0; sample.unknowns()], |place, _| [strain * place[0], strain * place[1], 0.0]);
        let elements = sample.element().block().len();
        for e in 0..elements {
            let forces = sample.element().resultants(e, &q);
            assert!((forces.axial - axial * strain).abs() < 1e-14 * axial, "{} {forces:?}", sample.what);
            assert!(forces.shear.abs().max(forces.moment.abs()) < 1e-14 * axial, "{} {forces:?}", sample.what);
        }
        assert_inner_forces_vanish(sample, &q, 1e-14 * axial);
        let length = sample.mass / sample.body.properties.line_mass;
        let energy = sample.internal(&q).0;
        assert!((energy - 0.5 * axial * strain * strain * length).abs() < 1e-13 * energy, "{}", sample.what);
    }
}

/// Patch test of beams: constant curvature, small for the linear element, and a polygon with equal turns per length,
/// more than a full circle of it, for the exact one.
#[test]
fn constant_curvature_is_exact() {
    for kind in ["linear-beam", "beam"] {
        for sample in samples(kind) {
            let nodes = &sample.system.nodes;
            let (bending, curvature) = (sample.body.properties.bending, if kind == "beam" { 4.0 } else { 1e-2 });
            let start = nodes.place[0];
            let axis = nodes.line([0, 1]).1;
            let mut places = vec![start];
            for node in 1..nodes.place.len() {
                let along =
                    |n: usize| (nodes.place[n][0] - start[0]) * axis[0] + (nodes.place[n][1] - start[1]) * axis[1];
                let (from, to) = (along(node - 1), along(node));
                let angle = axis[1].atan2(axis[0]) + curvature * 0.5 * (from + to);
                let last = places[node - 1];
                places.push([last[0] + (to - from) * angle.cos(), last[1] + (to - from) * angle.sin()]);
            }
            let q = sample.field(&vec![0.0; sample.unknowns()], |place, _| {
                let s = (place[0] - start[0]).hypot(place[1] - start[1]);
                let node = nodes.place.iter().position(|p| *p == place).unwrap();
                if kind == "beam" {
                    [places[node][0] - place[0], places[node][1] - place[1], curvature * s]
                } else {
                    let w = 0.5 * curvature * s * s;
                    [-axis[1] * w, axis[0] * w, curvature * s]
                }
            });
            for e in 0..sample.element().block().len() {
                let forces = sample.element().resultants(e, &q);
                assert!((forces.moment - bending * curvature).abs() < 1e-13 * bending, "{} {forces:?}", sample.what);
                assert!(forces.shear.abs().max(forces.axial.abs()) < 1e-12 * bending, "{} {forces:?}", sample.what);
            }
            assert_inner_forces_vanish(&sample, &q, 1e-12 * bending);
        }
    }
}

fn assert_inner_forces_vanish(sample: &Sample, q: &[f64], limit: f64) {
    let (_, f) = sample.internal(q);
    for node in sample.body.nodes.start + 1..sample.body.nodes.end - 1 {
        for component in [Component::X, Component::Y, Component::Theta] {
            let force = sample.system.nodes.find(node, component).map_or(0.0, |dof| f[dof]);
            assert!(force.abs() < limit, "{} node {node} {}: {force:e}", sample.what, component.name());
        }
    }
}

/// The case of a cantilever of length 1 at an angle, with a small dead load across its tip.
fn cantilever(element: &str, elements: usize, height: f64, extra: &str) -> String {
    let (s, c) = 0.7_f64.sin_cos();
    let load = 1e-6 * 2.1e11 * height.powi(4) / 12.0;
    format!(
        r#"
        format = 1
        analysis = "static"
        time = {{ end = 1.0, step = 1.0 }}
        scheme = {{ name = "newmark" }}
        [[body]]
        name = "body"
        element = "{element}"
        line = {{ from = [0.0, 0.0], to = [{c}, {s}], elements = {elements} }}
        material = {{ young = 2.1e11, poisson = 0.3, density = 7800.0 }}
        section = {{ shape = "rectangle", width = {height}, height = {height} }}
        {extra}
        [[support]]
        name = "clamp"
        nodes = "body.start"
        fix = ["x", "y", "theta"]
        [[load]]
        name = "tip"
        nodes = "body.end"
        force = [{}, {}]
        time = {{ kind = "ramp", end = 1.0 }}
        [[probe]]
        name = "tip"
        node = "body.end"
        "#,
        -load * s,
        load * c
    )
}

/// Deflection and rotation of the tip over those of the exact Timoshenko beam, PL³/3EI + PL/GA_s and PL²/2EI.
fn tip_ratios(element: &str, elements: usize, height: f64, extra: &str) -> [f64; 2] {
    let run = history::run(&cantilever(element, elements, height, extra), &[]);
    let (s, c) = 0.7_f64.sin_cos();
    let deflection = (run.last("probe.tip.y") - s) * c - (run.last("probe.tip.x") - c) * s;
    let load_by_bending = 1e-6;
    let shear_by_bending = 5.0 / 6.0 * height * height / (2.0 * 1.3) / (height.powi(4) / 12.0);
    let exact = load_by_bending / 3.0 + load_by_bending / shear_by_bending;
    [deflection / exact, run.last("probe.tip.theta") / (0.5 * load_by_bending)]
}

/// `cantilever_tip_relerr_ne*` and `slender_1e4_tip_ratio`: exact for every mesh, and without locking at slenderness
/// 1e4. Displacements of 1e-6 are read here as differences of places of size one, which leaves ten digits; ten elements
/// of a slender skew beam have a stiffness of condition 1e11, which leaves five.
#[test]
fn linear_beam_meets_the_cantilever_with_any_mesh() {
    for (elements, height, tolerance) in
        [(1, 0.05, 1e-9), (3, 0.05, 1e-9), (10, 0.05, 1e-9), (1, 0.5, 1e-9), (1, 1e-4, 1e-9), (10, 1e-4, 1e-5)]
    {
        let [deflection, rotation] = tip_ratios("linear-beam", elements, height, "");
        assert!((deflection - 1.0).abs() < tolerance, "{elements} elements, height {height}: {deflection}");
        assert!((rotation - 1.0).abs() < tolerance, "{elements} elements, height {height}: {rotation}");
    }
}

/// `GE_plain_ne4_tip_ratio_small` = 0.98437621844 and `GE_RBF_ne4_tip_ratio_small`: the one-point beam is too stiff by
/// 1/(4n²) in bending, and its correction removes just that.
#[test]
fn one_point_beam_is_stiff_by_a_known_factor_and_its_correction_removes_it() {
    let [plain, rotation] = tip_ratios("beam", 4, 0.01, "");
    assert!((plain - 0.9843762184412271).abs() < 1e-9, "{plain}");
    assert!((rotation - 1.0).abs() < 1e-9, "{rotation}");
    for elements in [1, 4] {
        let [corrected, rotation] = tip_ratios("beam", elements, 0.01, "shear_correction = true");
        assert!((corrected - 1.0).abs() < 1e-9 && (rotation - 1.0).abs() < 1e-9, "{corrected} {rotation}");
    }
}

/// `RBF_K_vs_exact_rel`.
#[test]
fn shear_correction_makes_the_linearisation_of_beam_that_of_linear_beam() {
    let stiffness = |kind: &str, extra: &str| {
        let sample = Sample::new(kind, &line_body(kind, 2, extra), 0.0);
        sample.stiffness(&vec![0.0; sample.unknowns()])
    };
    let linear = stiffness("linear-beam", "");
    let corrected = stiffness("beam", "shear_correction = true");
    assert!((&linear - corrected).amax() < 1e-15 * linear.amax());
    assert!((&linear - stiffness("beam", "")).amax() > 1e-2 * linear.amax(), "the correction must matter here");
}

/// Points and weights of the eight-point Gauss rule on (−1, 1), Abramowitz and Stegun, table 25.4; symmetric.
const GAUSS: [(f64, f64); 4] = [
    (0.1834346424956498, 0.3626837833783620),
    (0.5255324099163290, 0.3137066458778873),
    (0.7966664774136267, 0.2223810344533745),
    (0.9602898564975363, 0.1012285362903763),
];

/// Mass of `linear-beam` against quadrature of its shapes: the exact solutions of a shear-flexible beam without load,
/// deflection and rotation for a unit value of (w1, θ1, w2, θ2); `lin_M_vs_quadrature_rel`.
#[test]
fn consistent_mass_of_linear_beam_is_the_integral_of_its_shapes() {
    for shear_area in [1.5, 1e-2, 1e6] {
        let length = 0.8;
        let sample = Sample::new(
            "linear-beam",
            &format!(
                r#"
                [[body]]
                name = "body"
                element = "linear-beam"
                line = {{ from = [0.0, 0.0], to = [{length}, 0.0], elements = 1 }}
                material = {{ young = 100.0, poisson = 0.3, density = 3.0 }}
                section = {{ area = 2.0, inertia = 0.3, shear_area = {shear_area} }}
                "#
            ),
            0.0,
        );
        let p = &sample.body.properties;
        let phi = 12.0 * p.bending / (p.shear * length * length);
        let shapes = |s: f64| {
            let (bubble, scale) = (0.5 * phi * (s - s * s), 1.0 / (1.0 + phi));
            let deflection = [
                1.0 - 3.0 * s * s + 2.0 * s * s * s + phi * (1.0 - s),
                length * (s - 2.0 * s * s + s * s * s + bubble),
                3.0 * s * s - 2.0 * s * s * s + phi * s,
                length * (s * s * s - s * s - bubble),
            ];
            let rotation = [
                6.0 * (s * s - s) / length,
                1.0 - 4.0 * s + 3.0 * s * s + phi * (1.0 - s),
                6.0 * (s - s * s) / length,
                3.0 * s * s - 2.0 * s + phi * s,
            ];
            (deflection.map(|x| x * scale), rotation.map(|x| x * scale))
        };
        let mut expected = Local::zeros();
        for (place, weight) in GAUSS.iter().flat_map(|&(x, w)| [(x, w), (-x, w)]) {
            let s = 0.5 * (1.0 + place);
            let (deflection, rotation) = shapes(s);
            let axial = [1.0 - s, s];
            let (line_mass, line_inertia) =
                (0.5 * length * weight * p.line_mass, 0.5 * length * weight * p.line_inertia);
            for i in 0..4 {
                for j in 0..4 {
                    expected[([1, 2, 4, 5][i], [1, 2, 4, 5][j])] +=
                        line_mass * deflection[i] * deflection[j] + line_inertia * rotation[i] * rotation[j];
                }
            }
            for i in 0..2 {
                for j in 0..2 {
                    expected[(3 * i, 3 * j)] += line_mass * axial[i] * axial[j];
                }
            }
        }
        let mass = sample.element().mass(0);
        assert!((mass - expected).amax() < 2e-15 * mass.amax(), "shear area {shear_area}: {}", mass - expected);
    }
}
