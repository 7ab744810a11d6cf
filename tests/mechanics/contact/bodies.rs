//! Bodies against bodies.

use crate::common::cases::Altered;
use crate::common::history::{History, load, run_shipped, try_run};
use crate::common::runs;

/// Mean velocities of two bars at the end, and the change of their momentum relative to the first.
fn velocities(run: &runs::Run) -> ([f64; 2], f64) {
    let last = run.steps.last().unwrap();
    let momentum = |state: &runs::Step, body: usize| {
        let body = &run.model.bodies[body];
        let weight = |line: &[usize; 2]| {
            (run.model.places[line[1]][0] - run.model.places[line[0]][0]).abs() * body.properties.line_mass
        };
        let mass: f64 = body.lines.iter().map(weight).sum();
        let sum: f64 = body
            .lines
            .iter()
            .map(|line| 0.5 * weight(line) * (run.velocity(state, line[0], 0) + run.velocity(state, line[1], 0)))
            .sum();
        (sum, mass)
    };
    let total = |state| momentum(state, 0).0 + momentum(state, 1).0;
    let drift = (total(last) - total(&run.steps[0])) / total(&run.steps[0]);
    ([0, 1].map(|body| momentum(last, body).0 / momentum(last, body).1), drift)
}

/// Equal bars, a longer target, a light and a heavy striker: closed forms of the wave equation, and the velocities of an
/// independent implementation on the same mesh (200 elements, Courant ½, initial gap 0.37 h V).
#[test]
fn colliding_bars() {
    let h = 0.5 * (10.0 / 200.0) / 30.0;
    let gap = 0.37 * h * 10.0;
    struct Row {
        set: Vec<String>,
        force: f64,
        exact: [f64; 2],
        meshed: [f64; 2],
    }
    let line = |from: f64, to: f64, elements: usize| {
        format!("body.target.line={{ from = [{:?}], to = [{:?}], elements = {elements} }}", from + gap, to + gap)
    };
    let rows = [
        Row { set: vec![line(10.0, 20.0, 200)], force: 150.0, exact: [0.0, 10.0], meshed: [0.0323, 9.968] },
        Row {
            set: vec![line(10.0, 30.0, 400), "time.end=1.6".into()],
            force: 150.0,
            exact: [0.0, 5.0],
            meshed: [-0.0191, 5.0095],
        },
        Row {
            set: vec![
                line(10.0, 40.0, 300),
                "time.end=1.2".into(),
                "body.target.material.young=3600.0".into(),
                "body.target.section.area=1.5".into(),
            ],
            force: 225.0,
            exact: [-5.0, 10.0 / 3.0],
            meshed: [-4.9568, 3.3237],
        },
        Row {
            set: vec![
                line(10.0, 30.0, 800),
                "time.end=1.6".into(),
                "body.striker.section.area=3.0".into(),
                "body.striker.line={ from = [5.0], to = [10.0], elements = 200 }".into(),
            ],
            force: 225.0,
            exact: [0.625, 7.03125],
            meshed: [0.6134, 7.04],
        },
    ];
    for row in rows {
        // The heavy striker is half as long and meshed as finely, so its step is half as large.
        let h = if row.exact[0] == 0.625 { 0.5 * h } else { h };
        let mut set = row.set.clone();
        set.extend([format!("time.step={h:?}"), "expect={}".to_string()]);
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let run = runs::run(runs::shipped("two-bars", &set));
        let (mean, drift) = velocities(&run);
        assert!(drift.abs() < 1e-12, "momentum {drift:e}");
        for k in 0..2 {
            assert!((mean[k] - row.exact[k]).abs() < 0.05, "{mean:?} against {:?}", row.exact);
            assert!((mean[k] - row.meshed[k]).abs() < 0.02, "{mean:?} against {:?} on that mesh", row.meshed);
        }
        let force = |t: f64| {
            let k = (t / h).round() as usize;
            run.steps[k].impulse[0] / h
        };
        let early = (20..40).map(|k| force(k as f64 * 0.0075)).sum::<f64>() / 20.0;
        assert!((early - row.force).abs() < 2e-3 * row.force, "{early} against {}", row.force);
        if row.exact[0] == 0.625 {
            // Staircase of the heavy striker, one step per transit of its bar.
            for (k, wanted) in [225.0, 112.5, 56.25, 28.125].into_iter().enumerate() {
                let mean = (0..20).map(|i| force(0.1 + k as f64 / 3.0 + 0.007 * i as f64)).sum::<f64>() / 20.0;
                assert!((mean - wanted).abs() < 0.02 * 225.0, "step {k}: {mean} against {wanted}");
            }
        }
    }
}

/// Velocities of equal bars converge to (0, 10) as they do in an independent implementation.
#[test]
fn velocities_converge_with_the_mesh() {
    for (elements, meshed) in [(50, [0.0823, 9.918]), (400, [0.0207, 9.979])] {
        let h = 0.5 * (10.0 / elements as f64) / 30.0;
        let gap = 0.37 * h * 10.0;
        let set = [
            format!("body.striker.line.elements={elements}"),
            format!("body.target.line={{ from = [{:?}], to = [{:?}], elements = {elements} }}", 10.0 + gap, 20.0 + gap),
            format!("time.step={h:?}"),
            "expect={}".to_string(),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let (mean, drift) = velocities(&runs::run(runs::shipped("two-bars", &set)));
        assert!((0..2).all(|k| (mean[k] - meshed[k]).abs() < 0.005), "{elements}: {mean:?} against {meshed:?}");
        assert!(drift.abs() < 1e-12);
    }
}

/// In one dimension bars can be massless at both ends that meet: less energy is lost.
#[test]
fn colliding_bars_without_mass_at_their_ends() {
    let kept = run_shipped("two-bars", &[]);
    let set = [
        "contact.touch.mass=\"redistributed\"",
        "scheme={ name = \"newmark\" }",
        "body.striker.mass_matrix=\"lumped\"",
        "body.target.mass_matrix=\"lumped\"",
    ];
    let massless = run_shipped("two-bars", &set);
    let lost = |run: &History| (500.0 - run.last("energy")).abs();
    assert!(lost(&massless) < 0.3 * lost(&kept), "{} {}", lost(&massless), lost(&kept));
    assert!(massless.ledger.worst_sum < 1e-12 && massless.min("min_gap") > -1e-12);
}

/// Which body is named first, and in which order bodies and contacts stand in the file, does not matter.
#[test]
fn the_order_of_bodies_does_not_matter() {
    let text = carom::cases::find("crossed-beams").unwrap().text.altered("end = 0.03", "end = 0.012");
    let bodies: Vec<usize> = text.match_indices("[[body]]").map(|(i, _)| i).collect();
    let end = text.find("[[support]]").unwrap();
    let swapped = [&text[..bodies[0]], &text[bodies[1]..end], &text[bodies[0]..bodies[1]], &text[end..]].concat();
    let renamed = text.altered("between = [\"a\", \"b\"]", "between = [\"b\", \"a\"]");
    let go = |text: &str| {
        let (history, result) = try_run(&load(text, &["expect={}"]));
        result.unwrap_or_else(|error| panic!("{error}"));
        history
    };
    let reference = go(&text);
    assert!(reference.max("impulse") > 0.0);
    for other in [swapped, renamed] {
        let other = go(&other);
        for column in ["probe.tip-a.y", "probe.tip-b.y", "energy", "work_friction"] {
            let (ours, theirs) = (reference.last(column), other.last(column));
            assert!((ours - theirs).abs() < 1e-7 * ours.abs().max(1e-3), "{column}: {ours} {theirs}");
        }
    }
}

/// A thin beam without thickness is touched from the side where the other was at the start, a thick one from any.
#[test]
fn a_ball_bounces_off_a_beam_from_above_and_below() {
    for (radius, from, speed) in [(0.0, 0.1, -2.0), (0.02, 0.1, -2.0), (0.02, -0.1, 2.0), (0.0, -0.1, 2.0)] {
        let text = format!(
            "format = 1\ntitle = \"ball\"\n[time]\nend = 0.12\nstep = 1e-4\n[scheme]\nname = \"moreau-jean\"\n\
             [[body]]\nname = \"beam\"\nelement = \"beam\"\nline = {{ from = [0.0, 0.0], to = [1.0, 0.0], elements = 8 }}\n\
             material = {{ young = 2e9, poisson = 0.3, density = 1000.0 }}\nsection = {{ shape = \"rectangle\", width = 0.04, height = 0.04 }}\n\
             [[body]]\nname = \"ball\"\nelement = \"mass\"\nat = [0.53, {from}]\nmass = 0.2\nvelocity = [0.0, {speed}]\n\
             [[support]]\nname = \"a\"\nnodes = \"beam.start\"\nfix = [\"x\", \"y\", \"theta\"]\n\
             [[support]]\nname = \"b\"\nnodes = \"beam.end\"\nfix = [\"x\", \"y\", \"theta\"]\n\
             [[contact]]\nname = \"hit\"\nbetween = [\"ball\", \"beam\"]\nradius = {radius:?}\n\
             [[probe]]\nname = \"ball\"\nnode = \"ball\"\n"
        );
        let (run, result) = try_run(&load(&text, &[]));
        result.unwrap_or_else(|error| panic!("{error}"));
        assert!(run.last("probe.ball.vy") * speed < 0.0, "{radius} {from}: {}", run.last("probe.ball.vy"));
        assert!(run.last("probe.ball.y") * from > 0.0);
        assert!(run.ledger.worst_step < 1e-10, "{:?}", run.ledger);
    }
}

/// Both ends of a stiff rod bounce on a floor: its own elasticity turns velocities within a step, Newton's law then gives
/// energy, and the run says so.
#[test]
fn a_multiple_impact_that_gains_energy_is_told() {
    let text = |e: [f64; 2], law: &str| {
        format!(
            "format = 1\ntitle = \"rod\"\n[time]\nend = 0.05\nstep = 1e-3\n[scheme]\nname = \"moreau-jean\"\n\
             [[body]]\nname = \"rod\"\nelement = \"linear-beam\"\nline = {{ from = [0.0, 0.01], to = [1.0, 0.01], elements = 2 }}\n\
             material = {{ young = 1e11, poisson = 0.3, density = 1000.0 }}\nsection = {{ shape = \"rectangle\", width = 0.1, height = 0.1 }}\n\
             velocity = [0.0, -1.0]\n\
             [[contact]]\nname = \"one\"\nnodes = \"rod.start\"\nplane = {{ point = [0.0, 0.0], normal = [0.0, 1.0] }}\n\
             restitution = {{ e = {}, law = \"{law}\" }}\n\
             [[contact]]\nname = \"two\"\nnodes = \"rod.end\"\nplane = {{ point = [0.0, 0.0], normal = [0.0, 1.0] }}\n\
             restitution = {{ e = {}, law = \"{law}\" }}\n[guards]\nenergy = false\n",
            e[0], e[1]
        )
    };
    let gained = |text: &str| {
        let loaded = load(text, &[]);
        let prepared = carom::run::prepare(&loaded).unwrap();
        let (arrival, _) = carom::run::march(&loaded.case, &prepared, &mut []).unwrap();
        carom::advice::restitution_gain(&prepared.model, &arrival.ledger)
    };
    assert_eq!(gained(&text([0.0, 0.0], "newton")), None);
    let told = gained(&text([0.5, 0.5], "newton")).expect("restitution gives energy here");
    assert!(told.contains("Newton's law of restitution can"), "{told}");
}

/// With position correction impulses between free bodies keep their momentum, and the same impact in a frame that moves is the same.
#[test]
fn corrected_contact_between_bodies_keeps_momentum_in_every_frame() {
    let go = |frame: [f64; 2]| {
        let velocity = |own: [f64; 2]| [own[0] + frame[0], own[1] + frame[1]];
        let text = format!(
            "format = 1\n[time]\nend = 0.02\nstep = 2e-4\n[scheme]\nname = \"newmark\"\nposition = \"ggl\"\n\
             [[body]]\nname = \"beam\"\nelement = \"beam\"\nline = {{ from = [0.0, 0.0], to = [1.0, 0.2], elements = 8 }}\n\
             material = {{ young = 2e8, poisson = 0.3, density = 1000.0 }}\nvelocity = {:?}\n\
             section = {{ shape = \"rectangle\", width = 0.04, height = 0.04 }}\n\
             [[body]]\nname = \"ball\"\nelement = \"mass\"\nat = [0.3, 0.1]\nmass = 0.4\nvelocity = {:?}\n\
             [[contact]]\nname = \"hit\"\nbetween = [\"ball\", \"beam\"]\nradius = 0.005\nfriction = 0.2\n\
             [[probe]]\nname = \"ball\"\nnode = \"ball\"\n",
            velocity([0.0; 2]),
            velocity([4.0, -20.0]),
        );
        runs::run(load(&text, &[]))
    };
    let frame = [30.0, -20.0];
    let (rest, moving) = (go([0.0; 2]), go(frame));
    let impulses = rest.steps.iter().flat_map(|step| &step.impulse).filter(|p| **p > 0.0).count();
    assert!(impulses >= 2, "{impulses} impulses");
    let ball = rest.model.bodies[1].nodes.start;
    for (one, other) in rest.steps.iter().zip(&moving.steps) {
        for axis in 0..2 {
            let [v, w] = [(&rest, one), (&moving, other)].map(|(run, step)| run.velocity(step, ball, axis));
            assert!((w - frame[axis] - v).abs() < 1e-9 * 20.0, "t = {}: {v} {w}", one.time);
        }
    }
}
