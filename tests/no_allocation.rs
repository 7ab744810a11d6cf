//! No memory is taken in the step loop of a linear model: what a step needs is there before the first.

use carom::case::{Format, parse};
use carom::cases;
use carom::methods::{Attempt, Method};
use carom::model::Model;
use carom::run;
use carom::schemes::{Allowed, Key, KeyDefault, SCHEMES, SchemeKind};
use carom::state::State;
use carom::system::System;

/// Allocations of 100 steps after `before` steps, and the least and the largest number of contacts in them.
fn count(method: &mut dyn Method, h: f64, before: u64) -> (u64, [usize; 2]) {
    let mut attempt: Attempt = method.initial_attempt(h).unwrap();
    let mut state: State = attempt.state.clone();
    let mut go = |steps: u64| {
        let mut range = [usize::MAX, 0];
        for _ in 0..steps {
            let end = (state.step + 1) as f64 * h;
            method.attempt(&state, h, end, &mut attempt).unwrap();
            std::mem::swap(&mut state, &mut attempt.state);
            range = [range[0].min(attempt.active), range[1].max(attempt.active)];
        }
        range
    };
    go(before);
    let mut range = [0; 2];
    let info = allocation_counter::measure(|| range = go(100));
    (info.count_total, range)
}

fn measure(text: &str, set: &[String], before: u64) -> (u64, [usize; 2]) {
    let case = parse(text, "case", Format::Toml, set).unwrap_or_else(|failure| panic!("{}", failure.render(false)));
    let model = Model::new(&case, &|name| name.into()).unwrap();
    let system = System::assemble(&model).unwrap();
    assert!(system.linear);
    let mut method = run::method(&case, &system).unwrap();
    count(method.as_mut(), case.time.step, before)
}

/// The `--set` that chooses a scheme, with the middle of the range for a key that has no default.
fn choice(kind: &SchemeKind) -> String {
    let required = kind.keys.iter().filter(|key| matches!(key.default, KeyDefault::Required));
    let middle = |key: &Key| match key.allowed {
        Allowed::Between(min, max) => 0.5 * (min + max),
        _ => panic!("required keys are numbers in a range"),
    };
    let keys: String = required.map(|key| format!(", {} = {:?}", key.name, middle(key))).collect();
    format!("scheme={{ name = \"{}\"{keys} }}", kind.name)
}

#[test]
fn the_counter_counts() {
    let info = allocation_counter::measure(|| drop(std::hint::black_box(vec![0u8; 10])));
    assert_eq!(info.count_total, 1);
}

#[test]
fn the_bar_in_and_out_of_contact_with_every_scheme() {
    let bar = cases::find("impacting-bar").unwrap().text;
    for kind in SCHEMES.iter().filter(|kind| kind.row.is_some()) {
        // Small enough for the explicit scheme; the bar touches the wall in step 1000, and stays there for 1333.
        let set = ["time.step=5e-4".to_string(), choice(kind)];
        assert_eq!(measure(bar, &set, 200), (0, [0, 0]), "{}: in flight", kind.name);
        assert_eq!(measure(bar, &set, 1200), (0, [1, 1]), "{}: in contact", kind.name);
        let damping = "body.bar.damping={ mass = 0.1, stiffness = 1e-6 }".to_string();
        let load = "load=[{ name = \"push\", nodes = \"bar.end\", force = [-1.0] }]".to_string();
        let set = [&set[..], &[damping, load]].concat();
        assert_eq!(measure(bar, &set, 1200).0, 0, "{}: with damping and a load", kind.name);
        let load = "load=[{ name = \"push\", nodes = \"bar.end\", force = [\"-1 - 0.1*sin(3*t)^2\"] }]".to_string();
        let motion = "contact.wall.motion={ normal = \"if(t < 1e-9, 0, 1e-4*cos(t) - 1e-4)\" }".to_string();
        let set = [&set[..], &[load, motion]].concat();
        assert_eq!(measure(bar, &set, 1200).0, 0, "{}: with expressions", kind.name);
    }
}

#[test]
fn a_massless_foot_in_and_out_of_contact_with_every_implicit_scheme() {
    let bar = cases::find("impacting-bar-redistributed").unwrap().text;
    for kind in SCHEMES.iter().filter(|kind| kind.row.is_some() && kind.name != "central-difference") {
        let set = ["time.step=5e-4".to_string(), choice(kind)];
        assert_eq!(measure(bar, &set, 200), (0, [0, 0]), "{}: in flight", kind.name);
        assert_eq!(measure(bar, &set, 1200), (0, [1, 1]), "{}: in contact", kind.name);
    }
}

/// A square of bars with a diagonal, which falls on its side: no chain of unknowns, and two contacts at once.
const SQUARE: &str = r#"format = 1
gravity = [0.0, -10.0]
time = { end = 1.0, step = 1e-3 }
[scheme]
name = "generalized-alpha"
rho_inf = 0.6
SIDES
[[contact]]
name = "floor"
nodes = "feet"
plane = { point = [0.0, 0.0], normal = [0.0, 1.0] }
[[set]]
name = "feet"
nodes = ["bottom.start", "bottom.end"]
"#;

#[test]
fn a_truss_in_and_out_of_contact() {
    let mut sides = String::new();
    let corners = [("bottom", [0, 0], [1, 0]), ("right", [1, 0], [1, 1]), ("top", [1, 1], [0, 1])];
    for (name, from, to) in corners.into_iter().chain([("left", [0, 1], [0, 0]), ("brace", [0, 0], [1, 1])]) {
        let place = |[x, y]: [i32; 2]| format!("[{x}.0, {}.1]", y);
        sides += &format!(
            "[[body]]\nname = \"{name}\"\nelement = \"bar\"\nline = {{ from = {}, to = {}, elements = 1 }}\n\
             material = {{ young = 900.0, density = 1.0 }}\nsection = {{ area = 1.0 }}\n",
            place(from),
            place(to)
        );
    }
    for (k, (a, b)) in [("bottom.end", "right.start"), ("right.end", "top.start"), ("top.end", "left.start")]
        .into_iter()
        .chain([("left.end", "bottom.start"), ("brace.start", "bottom.start"), ("brace.end", "top.start")])
        .enumerate()
    {
        sides += &format!("[[joint]]\nname = \"j{k}\"\nkind = \"hinge\"\nbetween = [\"{a}\", \"{b}\"]\n");
    }
    let text = SQUARE.replace("SIDES", &sides);
    assert_eq!(measure(&text, &[], 20), (0, [0, 0]), "falling");
    // It falls for 0.141 and then shakes on both feet.
    let (allocations, [_, most]) = measure(&text, &[], 200);
    assert_eq!((allocations, most), (0, 2), "on the floor");
}

#[test]
fn steps_of_first_order_systems_allocate_nothing() {
    use carom::first_order::march::{Company, march};
    use carom::first_order::system::System;
    // Kept matrices, matrices that change in time, bent constraints with Newton passes.
    for name in ["diode-bridge", "buck-converter", "tractrix", "filippov-spiral"] {
        let text = carom::cases::find(name).unwrap().text;
        let count = |end: f64| {
            let set = [format!("time={{ end = {end:e}, step = {:e} }}", 1e-3), "expect={}".to_string()];
            let case = carom::case::parse(text, name, carom::case::Format::Toml, &set)
                .unwrap_or_else(|bad| panic!("{}", bad.render(false)));
            let system = System::new(&case).unwrap();
            let mut steps = 0;
            let counted = allocation_counter::measure(|| {
                let company = Company { readers: Vec::new(), from: None, after: &mut |_, _| Ok(()) };
                steps = march(&system, &case, company).unwrap().0.step;
            });
            (steps, counted.count_total)
        };
        let (short, long) = (count(0.3), count(0.9));
        assert!(short.0 == 300 && long.0 == 900 && short.1 == long.1, "{name}: {short:?} {long:?}");
    }
}
