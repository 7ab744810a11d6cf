//! Sweeping processes, unilateral inclusions, relays, nonlinear rates.

use super::*;

#[test]
fn sweeping_processes_agree_with_the_reference() {
    let data = &reference()["sweeping"];
    let ball = &data["ball along a line (tractrix)"];
    let run_ball = shipped("tractrix", &[]);
    for (name, x) in ["state.x", "state.y"].iter().zip(numbers(&ball["catching_up_end"])) {
        assert!((run_ball.last(name) - x).abs() < 1e-12);
    }
    let square = &data["rotating square (involute)"];
    let run_square = shipped("particle-in-rotating-square", &[]);
    for (name, x) in ["state.x", "state.y"].iter().zip(numbers(&square["catching_up_end"])) {
        assert!((run_square.last(name) - x).abs() < 1e-12);
    }
    let sides = ["east", "north", "west", "south"].map(|side| run_square.column(&format!("constraint.{side}.impulse")));
    let sum: f64 = sides.iter().flatten().sum();
    near(sum, square["sum_mu"].as_f64().unwrap(), 1e-12);
    let play = &data["play"];
    let input = "constraint.frame.box={ states = [\"x\"], from = [\"3*sin(t) - r\"], to = [\"3*sin(t) + r\"] }";
    let run_play = shipped("play-operator", &[input, "time.step=\"15/90\""]);
    let x = run_play.column("state.x");
    for (k, wanted) in numbers(&play["catching_up"]).iter().enumerate() {
        assert!((x[15 * k] - wanted).abs() < 1e-12, "{k}: {} {wanted}", x[15 * k]);
    }
}

#[test]
fn a_dragged_ball_is_of_first_order() {
    let exact = |t: f64| 2.0 * t - 0.5 * (2.0 * (0.7f64.tan() * (-4.0 * t).exp()).atan()).cos();
    let errors = [50, 100, 200, 400].map(|n| {
        let step = format!("time.step={}", 1.5 / f64::from(n));
        shipped("tractrix", &[&step]).error("state.x", exact)
    });
    assert!(orders(&errors).iter().all(|order| (order - 1.0).abs() < 0.1), "{errors:?}");
}

#[test]
fn a_set_that_jumps_takes_the_state_along_at_once() {
    let text = r#"
format = 1
analysis = "first-order"
time = { end = 2.0, step = 0.3 }
scheme = { name = "theta", theta = 0.5 }
state = [{ name = "x", start = 0.3, rate = 0.0 }, { name = "y", start = 0.4, rate = 0.0 }]
jumps = { at = [1.0] }
[[constraint]]
name = "wall"
above = "x - 2*step(t - 1)"
[[constraint]]
name = "slope"
above = "y - x + if(t < 1, 9, 1)"
"#;
    let run = run(text, &[]);
    let times = run.column("time");
    let k = times.iter().position(|&t| t == 1.0).expect("the grid has the jump");
    assert_eq!((run.column("state.x")[k], run.column("state.y")[k]), (0.3, 0.4), "before the jump nothing moves");
    let (x, y) = (run.column("state.x")[k + 1], run.column("state.y")[k + 1]);
    assert!((x - 2.0).abs() < 1e-15 && (y - 1.0).abs() < 1e-15, "{x} {y}");
    let [wall, slope] = ["wall", "slope"].map(|name| run.column(&format!("constraint.{name}.impulse"))[k + 1]);
    assert!((wall - 2.3).abs() < 1e-15 && (slope - 0.6).abs() < 1e-15, "{wall} {slope}");
    assert_eq!(times[k + 1], 1.2, "the grid goes on as if there had been no jump");
}

#[test]
fn a_unilateral_inclusion_lands_and_lifts() {
    let text = "format = 1\nanalysis = \"first-order\"\ntime = { end = 8.0, step = 0.04 }\nscheme = { name = \"theta\" }\n\
        state = [{ name = \"x\", start = 1.0, rate = \"2*cos(2*t) - x\" }]\n\
        constraint = [{ name = \"floor\", above = \"x\" }]\n";
    let data = &reference()["udi"];
    let landing = numbers(&data["exact_events"]);
    // Between events x = particular + c exp(-t): from a start, or from a lift at which x is zero.
    let particular = |t: f64| 0.4 * (2.0 * t).cos() + 0.8 * (2.0 * t).sin();
    let flight = |t: f64, t0: f64, x0: f64| particular(t) + (x0 - particular(t0)) * (t0 - t).exp();
    let exact = |t: f64| match t {
        t if t <= landing[0] => flight(t, 0.0, 1.0),
        t if t <= landing[1] => 0.0,
        t if t <= landing[2] => flight(t, landing[1], 0.0),
        t if t <= landing[3] => 0.0,
        t => flight(t, landing[3], 0.0).max(0.0),
    };
    for (n, wanted) in data["err"].as_object().unwrap() {
        let step = format!("time.step={}", 8.0 / n.parse::<f64>().unwrap());
        near(run(text, &[&step]).error("state.x", exact), wanted.as_f64().unwrap(), 1e-6);
    }
}

#[test]
fn a_relay_slides_without_chattering() {
    let text = "format = 1\nanalysis = \"first-order\"\ntime = { end = 3.0, step = 0.01 }\n\
        scheme = { name = \"theta\", theta = 0.5 }\n\
        state = [{ name = \"x\", start = 1.0, rate = \"0.4 + u\" }]\nlaw = [{ name = \"u\", within = [-1, 1], dual = \"x\" }]\n";
    let run = run(text, &[]);
    let (t, x, u) = (run.column("time"), run.column("state.x"), run.column("law.u.u"));
    for k in (0..t.len()).filter(|&k| t[k] > 1.0 / 0.6 + 0.02) {
        assert!(x[k].abs() < 1e-15 && (u[k] + 0.4).abs() < 1e-12, "{} {} {}", t[k], x[k], u[k]);
    }
}

#[test]
fn a_nonlinear_rate_keeps_the_order_of_its_weights() {
    let text = "format = 1\nanalysis = \"first-order\"\ntime = { end = 4.0, step = 0.04 }\nscheme = { name = \"theta\" }\n\
        state = [{ name = \"x\", start = 2.0, rate = \"-x^2 + u\" }]\nlaw = [{ name = \"u\", dual = \"x - 0.4\" }]\n";
    let exact = |t: f64| if t < 2.0 { 1.0 / (t + 0.5) } else { 0.4 };
    let data = &reference()["dvi"]["err"];
    let error = |theta: f64, n: usize| {
        let run = run(text, &[&format!("scheme.theta={theta:?}"), &format!("time.step={}", 4.0 / n as f64)]);
        assert!((run.last("law.u.u") - 0.16).abs() < 1e-10);
        run.error("state.x", exact)
    };
    for (name, theta) in [("theta 0", 0.0), ("theta 1", 1.0)] {
        for (n, wanted) in [100, 200].into_iter().zip(numbers(&data[name])) {
            near(error(theta, n), wanted, 1e-6);
        }
    }
    // The trapezoidal form; the reference has the midpoint form at 1/2.
    for (n, wanted) in [(100, 9.51e-4), (200, 2.37e-4)] {
        near(error(0.5, n), wanted, 5e-3);
    }
}

#[test]
fn infinitely_many_switches_end_at_the_origin() {
    let run = shipped("filippov-spiral", &[]);
    for (t, (x, y)) in run.column("time").iter().zip(run.column("state.x").iter().zip(run.column("state.y"))) {
        let exact = (2.0 - 2.0 * t).max(0.0);
        assert!((x.abs() + y.abs() - exact).abs() < 0.02, "{t}: {x} {y}");
    }
}

#[test]
fn intersections_of_balls_and_half_spaces_are_met() {
    let mut seed = 7u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as f64 / (1u64 << 31) as f64 * 2.0 - 1.0
    };
    let mut most = 0.0f64;
    for _ in 0..300 {
        // Both contain the origin, or almost: there is something to project on.
        let (cx, cy, a, b) = (0.8 * random(), 0.8 * random(), random(), random());
        let text = format!(
            "format = 1\nanalysis = \"first-order\"\ntime = {{ end = 1.0, step = 1.0 }}\nscheme = {{ name = \"theta\" }}\n\
             state = [{{ name = \"x\", start = {:?}, rate = 0 }}, {{ name = \"y\", start = {:?}, rate = 0 }}]\n\
             [[constraint]]\nname = \"disc\"\nball = {{ states = [\"x\", \"y\"], centre = [{cx:?}, {cy:?}], radius = 1.2 }}\n\
             [[constraint]]\nname = \"half\"\nabove = \"({a:?})*x + ({b:?})*y + 0.05\"\n",
            3.0 * random(),
            3.0 * random()
        );
        let run = run(&text, &[]);
        let (x, y) = (run.last("state.x"), run.last("state.y"));
        let (disc, half) = (run.last("constraint.disc.gap"), run.last("constraint.half.gap"));
        assert!(disc > -1e-10 && half > -1e-10, "{disc} {half}");
        // What moved is a sum of outward normals with the impulses as factors.
        let (p, q) = (run.last("constraint.disc.impulse"), run.last("constraint.half.impulse"));
        let (x0, y0) = (run.column("state.x")[0], run.column("state.y")[0]);
        let left = (x - x0 + p * (x - cx) / 1.2 - q * a).abs() + (y - y0 + p * (y - cy) / 1.2 - q * b).abs();
        assert!(p >= 0.0 && q >= 0.0 && left < 1e-9 && (p * disc).abs() < 1e-9 && (q * half).abs() < 1e-9);
        most = most.max(run.last("newton"));
    }
    assert!(most <= 15.0, "{most} passes");
}
