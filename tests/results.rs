//! Results that engineers read: reactions, section forces, further columns and key results.

mod common;

use carom::Result;
use carom::model::Component;
use carom::run::{march, prepare};
use carom::sinks::columns::Columns;
use carom::sinks::{Record, Sink};
use carom::system::System;
use common::history::{load, run, shipped};

/// Checks of every step, along x and y, that supports, loads, gravity and contacts together change the momentum. Internal
/// forces are none of its business, so that they must have come into the reactions rightly.
struct Momentum<'a> {
    columns: &'a Columns,
    system: &'a System,
    row: Vec<f64>,
    /// Largest force that is missing, and the largest force there is.
    missing: f64,
    largest: f64,
    /// What is missing over the run, as an impulse.
    impulse: f64,
}

impl Momentum<'_> {
    fn sum(&self, component: Component, vector: &[f64]) -> f64 {
        let nodes = &self.system.nodes;
        let mut dofs: Vec<usize> = (0..nodes.place.len()).filter_map(|node| nodes.find(node, component)).collect();
        dofs.sort_unstable();
        dofs.dedup();
        dofs.into_iter().map(|dof| vector[dof]).sum()
    }
}

impl Sink for Momentum<'_> {
    fn record(&mut self, record: &Record) -> Result<()> {
        self.columns.fill(record, &mut self.row);
        if record.h == 0.0 {
            return Ok(());
        }
        let (system, attempt, h) = (self.system, record.attempt, record.h);
        let n = system.nodes.total;
        let momentum = |v: &[f64]| {
            let mut p = vec![0.0; n];
            system.mass.multiply(v, &mut p);
            p
        };
        let (before, after) = (momentum(&record.from.v), momentum(&attempt.state.v));
        let (mut old, mut new, mut pushed) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        system.applied(record.from.time, &mut old);
        system.applied(attempt.state.time, &mut new);
        attempt.scene.push(&attempt.state.impulse, &mut pushed);
        let weight = attempt.old_weights[0];
        for (component, part) in [(Component::X, ".fx"), (Component::Y, ".fy")] {
            let reactions: f64 = (self.columns.names().iter().zip(&self.row))
                .filter(|(name, _)| name.starts_with("support.") && name.ends_with(part))
                .map(|(_, value)| value)
                .sum();
            let load = weight * self.sum(component, &old) + (1.0 - weight) * self.sum(component, &new);
            let forces = [
                reactions,
                load,
                self.sum(component, &system.gravity),
                self.sum(component, &pushed) / h,
                (self.sum(component, &before) - self.sum(component, &after)) / h,
            ];
            let missing = forces.iter().sum::<f64>();
            self.missing = self.missing.max(missing.abs());
            self.impulse += h * missing;
            self.largest = forces.iter().fold(self.largest, |largest, force| largest.max(force.abs()));
        }
        Ok(())
    }
}

/// Largest missing force, of the largest force, and the missing impulse of the whole run.
fn missing(text: &str, set: &[&str]) -> (f64, f64) {
    let loaded = load(text, set);
    let prepared = prepare(&loaded).unwrap();
    let columns = Columns::new(&prepared.model, &prepared.system);
    let mut momentum = Momentum {
        columns: &columns,
        system: &prepared.system,
        row: Vec::new(),
        missing: 0.0,
        largest: 0.0,
        impulse: 0.0,
    };
    march(&loaded.case, &prepared, &mut [&mut momentum]).unwrap();
    assert!(momentum.largest > 0.0, "nothing happens in {}", loaded.case.title);
    (momentum.missing / momentum.largest, momentum.impulse)
}

/// A bar that hangs from the ceiling, falls onto a stop and is pulled: a line of unknowns, whose step keeps no forces.
const LINE: &str = r#"
format = 1
gravity = [-9.81]
[time]
end = 0.5
step = 2e-3
[scheme]
name = "moreau-jean"
[[body]]
name = "bar"
element = "bar"
line = { from = [10.0], to = [0.0], elements = 60 }
material = { young = 900.0, density = 1.0 }
section = { area = 1.0 }
velocity = [-3.0]
[[support]]
name = "ceiling"
nodes = "bar.start"
fix = ["x"]
[[contact]]
name = "stop"
nodes = "bar.end"
plane = { point = [-0.02], normal = [1.0] }
"#;

/// What a line may have besides, each a step of its own in the source.
const EXTRAS: [&str; 4] = [
    "",
    "[[load]]\nname = \"pull\"\nnodes = \"bar\"\nforce = [\"3*sin(20*t)\"]\n",
    "[[body]]\nname = \"other\"\nelement = \"spring\"\nbetween = [\"bar.start\", \"bar.end\"]\nstiffness = 5.0\nrest_length = -9.0\ndamping = 0.4\n",
    "[[set]]\nname = \"middle\"\nnearest = [5.0]\n[[support]]\nname = \"shaker\"\nnodes = \"middle\"\nmotion = { x = \"0.01*sin(30*t)\" }\n",
];

/// Schemes whose mean force over a step is known exactly.
const EXACT: [&str; 6] = [
    "{ name = \"moreau-jean\" }",
    "{ name = \"moreau-jean\", theta = 1.0 }",
    "{ name = \"moreau-jean-dissipative\", theta = 0.8 }",
    "{ name = \"newmark\" }",
    "{ name = \"generalized-alpha\", rho_inf = 1.0 }",
    "{ name = \"newmark\", position = \"ggl\" }",
];

#[test]
fn reactions_of_a_line_keep_the_balance_of_momentum() {
    for extra in EXTRAS {
        for scheme in EXACT {
            let text = format!("{LINE}{extra}");
            let (force, _) = missing(&text, &[&format!("scheme={scheme}")]);
            assert!(force < 1e-11, "{scheme} {extra}: {force:e}");
        }
    }
}

#[test]
fn reactions_of_shipped_cases_keep_the_balance_of_momentum() {
    // Frames, exact beams that hit, links, a driven beam, a mass on a spring; the names of the schemes that fit all.
    for name in ["portal-frame-impact", "rotating-beam", "swing", "whisker", "crossed-beams", "impacting-oscillator"] {
        for scheme in &EXACT[..4] {
            let text = shipped(name, &[]).text;
            let step = shipped(name, &[]).case.time.step;
            let set = ["expect={}".to_string(), format!("scheme={scheme}"), format!("time.end={:e}", 600.0 * step)];
            let (force, _) = missing(&text, &set.each_ref().map(String::as_str));
            assert!(force < 1e-9, "{name} {scheme}: {force:e}");
        }
    }
}

#[test]
fn other_schemes_keep_it_in_the_limit() {
    for scheme in ["{ name = \"hht\", alpha = 0.1 }", "{ name = \"generalized-alpha\", rho_inf = 0.6 }"] {
        let [coarse, fine] = [2e-3, 1e-3].map(|step| {
            let set =
                [format!("scheme={scheme}"), format!("time.step={step:e}"), "contact.stop.plane.point=[-9.0]".into()];
            missing(&format!("{LINE}{}", EXTRAS[1]), &set.each_ref().map(String::as_str)).1.abs()
        });
        // The weight of the bar is 98 over half a second.
        assert!(coarse < 0.05 && fine < 0.6 * coarse, "{scheme}: {coarse:e}, {fine:e}");
    }
}

#[test]
fn a_cantilever_shows_its_clamp_and_its_sections() {
    const TEXT: &str = r#"
format = 1
analysis = "static"
[time]
end = 1.0
step = 0.5
[scheme]
name = "newmark"
[[body]]
name = "beam"
element = "linear-beam"
line = { from = [0.0, 0.0], to = [2.0, 0.0], elements = 5 }
material = { young = 2.1e11, poisson = 0.3, density = 7800.0 }
section = { shape = "rectangle", width = 0.05, height = 0.1 }
[[support]]
name = "clamp"
nodes = "beam.start"
fix = ["x", "y", "theta"]
[[load]]
name = "tip"
nodes = "beam.end"
force = [300.0, -1000.0]
time = { kind = "ramp", from = 0.0, to = 1.0, start = 0.0, end = 1.0 }
[[probe]]
name = "tip"
node = "beam.end"
columns = ["u"]
[output]
sections = [{ name = "root", body = "beam", distance = 0.0 }, { name = "between", body = "beam", distance = 0.73 }]
"#;
    for element in ["linear-beam", "beam"] {
        let set = [format!("body.beam.element=\"{element}\"")];
        let history = run(TEXT, &set.each_ref().map(String::as_str));
        // Sections of the exact beam turn with it, those of its first element by 4e-4.
        let near = |name: &str, wanted: f64| {
            let found = history.last(name);
            assert!(
                (found - wanted).abs() < 2e-3 * wanted.abs().max(1.0),
                "{element}: {name} is {found}, not {wanted}"
            );
        };
        // Statics: the support answers 300 along the beam and −1000 across it at the arm 2.
        near("support.clamp.fx", -300.0);
        near("support.clamp.fy", 1000.0);
        near("support.clamp.moment", 2000.0);
        near("section.root.N", 300.0);
        near("section.root.M", -2000.0);
        near("section.between.M", -1000.0 * (2.0 - 0.73));
        near("section.between.V", -1000.0);
        // N/A + M/W with A = 5e-3 and W = 0.05·0.1²/6.
        near("section.root.stress", 300.0 / 5e-3 + 2000.0 / (0.05 * 0.1 * 0.1 / 6.0));
        assert_eq!(history.last("probe.tip.uy"), history.last("probe.tip.y"));
        assert!((history.last("probe.tip.ux") - (history.last("probe.tip.x") - 2.0)).abs() < 1e-15);
        // Half the load in the middle of the path.
        assert!((history.at("support.clamp.moment", 0.5) - 1000.0).abs() < 1.0);
    }
}

#[test]
fn a_mass_at_rest_on_a_support_weighs_what_it_weighs() {
    const TEXT: &str = r#"
format = 1
gravity = [0.0, -10.0]
[time]
end = 0.1
step = 1e-2
[scheme]
name = "moreau-jean"
[[body]]
name = "block"
element = "mass"
at = [0.0, 0.0]
mass = 3.0
[[body]]
name = "sledge"
element = "mass"
at = [1.0, 0.0]
mass = 2.0
velocity = [1.0, 0.0]
[[support]]
name = "ground"
nodes = "block"
fix = ["x", "y"]
[[contact]]
name = "floor"
nodes = "sledge"
plane = { point = [0.0, 0.0], normal = [0.0, 1.0] }
friction = 0.3
per_node = true
[[probe]]
name = "sledge"
node = "sledge"
columns = ["a"]
"#;
    let history = run(TEXT, &[]);
    assert!(history.column("support.ground.fy").iter().all(|force| (force - 30.0).abs() < 1e-12));
    assert!(history.column("support.ground.fx").iter().all(|force| *force == 0.0));
    // Friction holds it back: −x, which is against the normal turned clockwise.
    for (name, wanted) in [
        ("contact.floor.force", 20.0),
        ("contact.floor.node0.force", 20.0),
        ("contact.floor.tangent", -6.0),
        ("contact.floor.count", 1.0),
        ("probe.sledge.ax", -3.0),
        ("probe.sledge.ay", 0.0),
    ] {
        let column = history.column(name);
        assert!(column[1..].iter().all(|value| (value - wanted).abs() < 1e-11), "{name}: {column:?}");
    }
}
