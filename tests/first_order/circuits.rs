//! Circuits: the numbers of the reference file, orders, ledgers, weights.

use super::*;

const CLAMP: &str = r#"
format = 1
analysis = "first-order"
time = { end = 1.0, step = 0.05 }
scheme = { name = "theta" }
constants = { C = 0.25, L = 1.0, R = 0.4 }
state = [{ name = "v", start = 1.0, rate = "i/C" }, { name = "i", start = -0.6, rate = "(-v - R*i + u)/L" }]
law = [{ name = "u", dual = "i" }]
storage = { value = "0.5*C*v^2 + 0.5*L*i^2" }
"#;

/// Compares a run with a list of the reference file: states, multipliers, duals, and the works of all steps in between.
fn agrees(run: &Run, data: &Value, states: &[&str], laws: &[&str]) {
    let every = data["every"].as_u64().unwrap() as usize;
    let check = |list: &Value, columns: Vec<String>| {
        let columns: Vec<Vec<f64>> = columns.iter().map(|name| run.column(name)).collect();
        for (k, row) in list.as_array().unwrap().iter().enumerate() {
            let row = numbers(row);
            for (column, wanted) in columns.iter().zip(&row) {
                let scale = column.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
                let found = column[k * every];
                assert!((found - wanted).abs() <= 1e-10 * scale.max(1e-12), "row {k}: {found:e} is not {wanted:e}");
            }
        }
    };
    check(&data["x"], states.iter().map(|name| format!("state.{name}")).collect());
    check(&data["lam"], laws.iter().map(|name| format!("law.{name}.u")).collect());
    check(&data["y"], laws.iter().map(|name| format!("law.{name}.w")).collect());
    let sums = numbers(&data["ledger_sum"]);
    let scale = run.course.scale;
    let stored = run.column("storage");
    let found = [
        stored[stored.len() - 1] - stored[0],
        run.last("work_smooth"),
        run.last("work_source"),
        run.last("work_law"),
        run.last("work_scheme"),
    ];
    for (found, wanted) in found.iter().zip(&sums) {
        assert!((found - wanted).abs() <= 1e-10 * scale, "{found:e} is not {wanted:e}");
    }
    assert!(run.course.worst[0] <= 1e-13 && run.course.worst[1] <= 1e-13, "{:?}", run.course.worst);
}

const BRIDGE: [&str; 4] = ["r1", "f2", "f1", "r2"];

#[test]
fn the_bridge_agrees_with_the_reference_for_all_weights() {
    let data = reference();
    for (name, scheme) in [
        ("theta 1", "scheme={ name = \"theta\", theta = 1.0 }"),
        ("theta .5", "scheme={ name = \"theta\", theta = 0.5 }"),
        ("theta .5 unweighted", "scheme={ name = \"theta\", theta = 0.5, omega = 1.0 }"),
    ] {
        let run = shipped("diode-bridge", &[scheme, "time={ end = 6e-4, step = 1e-5 }"]);
        agrees(&run, &data["bridge"][name], &["v", "i"], &BRIDGE);
        let whole = shipped("diode-bridge", &[scheme]);
        let wanted = &data["bridge full run, h=1e-6, 5000 steps"][name];
        for (state, x) in ["state.v", "state.i"].iter().zip(numbers(&wanted["x_end"])) {
            near(whole.last(state), x, 1e-10);
        }
        near(whole.last("work_law"), wanted["law"].as_f64().unwrap(), 1e-10);
    }
}

#[test]
fn the_tank_with_a_diode_agrees_with_the_reference_and_the_exact_solution() {
    let data = reference();
    for (name, theta) in [("theta 1", "scheme.theta=1.0"), ("theta .5", "scheme.theta=0.5")] {
        let run = shipped("rlc-diode", &[theta, "time={ end = 1e-3, step = 1e-5 }"]);
        agrees(&run, &data["rlcd"][name], &["v", "i"], &["u"]);
    }
    let fine = shipped("rlc-diode", &["time.end=2e-3"]);
    let (t, u) = (fine.column("time"), fine.column("law.u.u"));
    let switched: Vec<f64> = (1..t.len()).filter(|&k| (u[k] > 0.0) != (u[k - 1] > 0.0)).map(|k| t[k]).collect();
    let exact = numbers(&data["rlcd exact"]["switches"]);
    assert_eq!(switched.len(), exact.len());
    assert!(switched.iter().zip(&exact).all(|(found, exact)| (found - exact).abs() < 1.5e-6), "{switched:?} {exact:?}");
    let end = numbers(&data["rlcd exact"]["end_5ms"]);
    let errors: Vec<f64> = [1e-5, 5e-6, 2.5e-6, 1.25e-6]
        .map(|h| {
            let run = shipped("rlc-diode", &[&format!("time.step={h:e}")]);
            (run.last("state.v") - end[0]).abs().max(100.0 * (run.last("state.i") - end[1]).abs())
        })
        .to_vec();
    assert!(orders(&errors).iter().all(|order| (order - 2.0).abs() < 0.1), "{errors:?} {:?}", orders(&errors));
}

#[test]
fn a_law_of_degree_one_makes_the_state_jump_and_rest() {
    let data = &reference()["clamp"];
    let jump = run(CLAMP, &[]);
    agrees(&jump, &data["jump"]["theta 1"], &["v", "i"], &["u"]);
    // The impulse of the jump: h u = 0.6 + h.
    for n in [20, 40, 80, 160] {
        let jump = run(CLAMP, &[&format!("time.step={}", 1.0 / f64::from(n)), "scheme.theta=0.5"]);
        near(jump.column("law.u.impulse")[1], 0.6 + 1.0 / f64::from(n), 1e-12);
        assert_eq!((jump.column("state.v")[1], jump.column("state.i")[1]), (1.0, 0.0), "the first step is implicit");
    }
    let rest = ["state.v.start=-1.0", "state.i.start=0.3", "time={ end = 2.0, step = 0.02 }"];
    agrees(&run(CLAMP, &rest), &data["rest"], &["v", "i"], &["u"]);
    let exact = data["exact"]["x_rest"][0].as_f64().unwrap();
    // theta = 1/2: the multiplier is clean, because it acts with weight one where it is an impulse in disguise.
    let half =
        run(CLAMP, &["state.v.start=-1.0", "state.i.start=0.3", "time={ end = 2.0, step = 0.01 }", "scheme.theta=0.5"]);
    assert!((half.last("state.v") - exact).abs() < 1e-4, "{}", half.last("state.v"));
    let u = half.column("law.u.u");
    assert!(u[u.len() - 20..].iter().all(|u| (u - exact).abs() < 1e-3), "{:?}", &u[u.len() - 5..]);
    // Weights that the case sets are kept even where they are wrong: other programs' tables can be had.
    let wrong = run(CLAMP, &["scheme={ name = \"theta\", theta = 0.5, omega = 1.0 }"]);
    near(wrong.column("state.v")[1], 1.0 - 1.2 * 0.05, 1e-12);
}

#[test]
fn the_bridge_is_of_second_order_with_a_tiny_leak() {
    let exact = |t: f64| {
        let (d, w) = (500.0, f64::sqrt(1e8 - 250_000.0));
        10.0 * (-d * t).exp() * ((w * t).cos() - d / w * (w * t).sin())
    };
    let errors = |scheme: &str| -> Vec<f64> {
        let error = |n: u32| {
            let step = format!("time.step={:e}", 5e-3 / f64::from(n));
            shipped("diode-bridge", &[scheme, &step]).error("state.v", exact)
        };
        [1250, 2500, 5000, 10000].map(error).to_vec()
    };
    let half = errors("scheme.theta=0.5");
    assert!(orders(&half).iter().all(|order| (order - 2.0).abs() < 0.01), "{:?}", orders(&half));
    assert!((half[2] - 6.1e-4).abs() < 0.1e-4, "{half:?}");
    let unweighted = errors("scheme={ name = \"theta\", theta = 0.5, omega = 1.0 }");
    assert!(orders(&unweighted).iter().all(|order| (order - 1.0).abs() < 0.12), "{unweighted:?}");
    assert!(unweighted[2] > 25.0 * half[2], "averaged multipliers are thirty times better");
    let implicit = errors("scheme.theta=1.0");
    near(implicit[2], 0.350845, 0.01);
    for (h, leak) in [(5e-6, 7.1e-10), (2.5e-6, 7.3e-11), (1.25e-6, 9.9e-12)] {
        let run = shipped("diode-bridge", &["time.end=2.5e-3", &format!("time.step={h:e}")]);
        near(run.course.sum.leak, leak, 0.02);
    }
    assert!(shipped("diode-bridge", &["scheme.theta=1.0"]).course.sum.leak.abs() < 1e-20);
}

#[test]
fn the_buck_converter_is_of_second_order_although_its_degree_changes() {
    let data = &reference()["buck"];
    let exact = numbers(&data["exact_end_20_periods"]);
    let set = |theta: f64, n: u32| [format!("scheme.theta={theta:?}"), format!("time.step=\"period/{n}\"")];
    let error = |theta: f64, n: u32| {
        let [theta, step] = set(theta, n);
        (shipped("buck-converter", &[&theta, &step]).last("state.v") - exact[0]).abs()
    };
    for (n, wanted) in [(100, 0.0097337), (200, 0.0049847), (400, 0.0025342)] {
        near(error(1.0, n), wanted, 1e-4);
    }
    for (n, wanted) in [(100, 2.13e-3), (200, 5.18e-4), (400, 1.30e-4), (800, 3.23e-5)] {
        near(error(0.5, n), wanted, 0.02);
    }
    let first = shipped("buck-converter", &["scheme.theta=1.0", "time={ end = 2e-4, step = 1e-6 }"]);
    agrees(&first, &data["first_steps"], &["v", "i"], &["d"]);
    let long = shipped("buck-converter", &["scheme.theta=0.5"]);
    assert!(long.course.step == 8000 && long.course.worst[0] <= 1e-13, "{:?}", long.course.worst);
}

#[test]
fn matrices_and_expressions_make_the_same_run() {
    let matrices = r#"
format = 1
analysis = "first-order"
time = { end = 1e-3, step = 1e-6 }
scheme = { name = "theta", theta = 0.5 }
constants = { C = 1e-6, R = 1e3 }
[linear]
states = ["v", "i"]
laws = ["r1", "f2", "f1", "r2"]
start = [10.0, 0.0]
rate = [[0.0, "-1/C"], [100.0, 0.0]]
input = [[0.0, 0.0, "-1/C", "1/C"], [0.0, 0.0, 0.0, 0.0]]
output = [[0.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [1.0, 0.0]]
feedthrough = [["1/R", "1/R", -1.0, 0.0], ["1/R", "1/R", 0.0, -1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
[storage]
value = "0.5*C*v^2 + 0.5*1e-2*i^2"
"#;
    let (a, b) = (run(matrices, &[]), shipped("diode-bridge", &["time.end=1e-3"]));
    for name in ["state.v", "state.i", "law.f1.u", "work_law"] {
        near(a.last(name), b.last(name), 1e-11);
    }
}

#[test]
fn a_filter_with_an_equation_keeps_its_books() {
    let run = shipped("diode-bridge-filter", &[]);
    let gap = run.column("law.j.w").iter().fold(0.0, |size: f64, w| size.max(w.abs()));
    assert!(gap < 1e-11, "the voltages add up: {gap:e}");
    let (v, vr) = (run.column("state.v"), run.column("state.vr"));
    assert!(v.iter().zip(&vr).skip(1).all(|(v, vr)| v.abs() <= vr + 1e-9), "the tank is never above the capacitor");
}
