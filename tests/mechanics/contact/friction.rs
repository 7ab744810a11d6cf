//! Friction: reference problems, random problems against all states, the law of Moreau, inclines, belts.

use crate::common::history::{run_shipped, try_run};
use crate::common::random::Random;
use crate::common::{numbers, reference};
use carom::case::data::ContactSolver;
use carom::laws::{Delassus, Local, Outcome, Problem, Scratch, Solver, law_of};
use carom::model::Law;
use nalgebra::{DMatrix, DVector};

fn solve(w: &[Vec<f64>], b: &[f64], mu: &[f64]) -> (Outcome, Vec<f64>) {
    let delassus = Delassus::full(w);
    let contact = |(i, &friction): (usize, &f64)| {
        let (law, constant) = law_of(&Law { friction, ..Default::default() });
        Local { row: 2 * i, law, constant }
    };
    let contacts: Vec<Local> = mu.iter().enumerate().map(contact).collect();
    let problem = Problem { delassus: &delassus, contacts: &contacts, b };
    let (mut r, mut u) = (vec![0.0; b.len()], vec![0.0; b.len()]);
    let settings = ContactSolver { tolerance: 1e-10, ..Default::default() };
    let outcome = problem.solve(&settings, &mut Scratch::default(), &mut r, &mut u);
    (outcome, r)
}

/// `data/golden-friction.json`: 40 problems of an independent implementation with a unique solution.
#[test]
fn reference_problems() {
    let all = reference("golden-friction.json");
    assert_eq!(all.as_array().unwrap().len(), 40);
    for (k, problem) in all.as_array().unwrap().iter().enumerate() {
        let w: Vec<Vec<f64>> = problem["W"].as_array().unwrap().iter().map(numbers).collect();
        let (outcome, r) = solve(&w, &numbers(&problem["b"]), &numbers(&problem["mu"]));
        assert!(outcome.converged, "problem {k}: {outcome:?}");
        let reference = numbers(&problem["r"]);
        assert_eq!(r.len(), reference.len(), "problem {k}");
        for (ours, theirs) in r.iter().zip(reference) {
            assert!((ours - theirs).abs() <= 1e-8 * theirs.abs().max(1.0), "problem {k}: {ours} {theirs}");
        }
    }
}

/// All solutions of a problem by trying every state of every contact; written apart from the solver's own.
fn enumerate(w: &[Vec<f64>], b: &[f64], mu: &[f64]) -> Vec<Vec<f64>> {
    let m = mu.len();
    let size = b.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    let mut found = Vec::new();
    for code in 0..4usize.pow(m as u32) {
        let states: Vec<usize> = (0..m).map(|i| code / 4usize.pow(i as u32) % 4).collect();
        // r = S x with one unknown per sliding and two per sticking contact.
        let mut columns: Vec<DVector<f64>> = Vec::new();
        let mut rows = Vec::new();
        for (i, &state) in states.iter().enumerate() {
            let mut unit = |entries: &[(usize, f64)], row: usize| {
                let mut column = DVector::zeros(2 * m);
                entries.iter().for_each(|&(k, value)| column[k] = value);
                columns.push(column);
                rows.push(row);
            };
            match state {
                0 => {}
                1 => {
                    unit(&[(2 * i, 1.0)], 2 * i);
                    unit(&[(2 * i + 1, 1.0)], 2 * i + 1);
                }
                _ => unit(&[(2 * i, 1.0), (2 * i + 1, if state == 2 { mu[i] } else { -mu[i] })], 2 * i),
            }
        }
        let full = DMatrix::from_fn(2 * m, 2 * m, |i, j| w[i][j]);
        let k = columns.len();
        let a = DMatrix::from_fn(k, k, |i, j| (full.row(rows[i]) * &columns[j])[0]);
        let right = DVector::from_fn(k, |i, _| -b[rows[i]]);
        let Some(x) = (if k == 0 { Some(right) } else { a.lu().solve(&right) }) else { continue };
        let mut r = DVector::zeros(2 * m);
        columns.iter().zip(x.iter()).for_each(|(column, value)| r += column * *value);
        let u = &full * &r + DVector::from_column_slice(b);
        let slack = 1e-9 * size;
        let fits = (0..m).all(|i| {
            let (rn, rt, un, ut) = (r[2 * i], r[2 * i + 1], u[2 * i], u[2 * i + 1]);
            rn >= -1e-9
                && un >= -slack
                && match states[i] {
                    0 => true,
                    1 => rt.abs() <= mu[i] * rn + 1e-9,
                    2 => ut <= slack,
                    _ => ut >= -slack,
                }
        });
        if fits {
            found.push(r.iter().copied().collect());
        }
    }
    found
}

/// 10,000 random problems of 1 to 6 contacts, μ in [0, 1]: every answer is one of all possible ones; the ladder
/// alone solves at least 99.97 %, with the last rung all of them; failures would be reported as such.
#[test]
fn random_problems_against_all_states() {
    let mut random = Random::new(9);
    let (mut solved, mut enumerated, mut checked) = (0, 0, 0);
    for trial in 0..10_000 {
        let m = 1 + trial % 6;
        let n = 2 * m + 2;
        let masses: Vec<f64> = (0..n).map(|_| 10f64.powf(random.between(-1.0, 1.0))).collect();
        let h: Vec<Vec<f64>> = (0..2 * m).map(|_| (0..n).map(|_| random.between(-1.0, 1.0)).collect()).collect();
        let w: Vec<Vec<f64>> = (0..2 * m)
            .map(|i| (0..2 * m).map(|j| (0..n).map(|k| h[i][k] * h[j][k] / masses[k]).sum()).collect())
            .collect();
        let b: Vec<f64> = (0..2 * m).map(|_| random.between(-1.0, 1.0)).collect();
        let mu: Vec<f64> = (0..m).map(|_| random.between(1e-3, 1.0)).collect();
        let (outcome, r) = solve(&w, &b, &mu);
        solved += usize::from(outcome.converged);
        enumerated += usize::from(outcome.method == Solver::Enumeration);
        // All states of six contacts are 4096 solves: every answer of up to four contacts, a sample of the others.
        if outcome.converged && (m <= 4 || trial % 60 < 6) {
            let all = enumerate(&w, &b, &mu);
            let size = r.iter().fold(1.0_f64, |a, x| a.max(x.abs()));
            let nearest = all.iter().map(|s| s.iter().zip(&r).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max));
            let nearest = nearest.fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-6 * size, "trial {trial} ({m} contacts): {nearest:e} from {} solutions", all.len());
            checked += 1;
        }
    }
    println!("{solved} solved, {enumerated} of them by trying all states, {checked} compared");
    assert_eq!(solved, 10_000);
    // 0.03 % is what the four variants together are known to leave.
    assert!(enumerated <= 10, "{enumerated}");
}

/// A block on two corners at 30 degrees sticks exactly if μ ≥ tan 30°, to a thousandth; else it slides with
/// g (sin α − μ cos α) on average.
#[test]
fn a_block_sticks_up_to_the_angle_of_friction() {
    let (g, tangent) = (9.81, (std::f64::consts::PI / 6.0).tan());
    let slope = |mu: f64| g * (0.5 - mu * 0.75_f64.sqrt());
    for mu in [1.001 * tangent, 0.6, 0.9] {
        let run = run_shipped("incline", &[&format!("contact.block.friction={mu}")]);
        assert!(run.max("probe.block.vx").abs() < 1e-8, "{mu}: {}", run.max("probe.block.vx"));
    }
    for mu in [0.999 * tangent, 0.5, 0.2] {
        let run = run_shipped("incline", &[&format!("contact.block.friction={mu}")]);
        let speed = run.last("probe.block.vx");
        assert!((speed - 0.5 * slope(mu)).abs() < 0.01 * speed, "{mu}: {speed} against {}", 0.5 * slope(mu));
    }
    for mu in [0.1, 0.3, 0.5] {
        let run = run_shipped("incline", &[&format!("contact.point.friction={mu}")]);
        let speed = run.last("probe.point.vx");
        assert!((speed / 0.5 - slope(mu)).abs() < 1e-10 * slope(mu), "{mu}: {speed}");
    }
}

/// With enough friction the square block tips over its lower corner beyond 45 degrees, and not before.
#[test]
fn a_block_tips_where_it_should() {
    for (degrees, tips) in [(44.0_f64, false), (46.0, true), (55.0, true)] {
        let (sine, cosine) = degrees.to_radians().sin_cos();
        let gravity = format!("gravity=[{:?}, {:?}]", 9.81 * sine, -9.81 * cosine);
        let run = run_shipped(
            "incline",
            &[&gravity, "contact.block.friction=3.0", "contact.point.friction=3.0", "time.end=0.3"],
        );
        // Height of the upper corner on the side of the slope's top, where the block opens first.
        let risen = run.last("probe.block.y") - run.at("probe.block.y", 0.0);
        assert_eq!(risen > 1e-3, tips, "{degrees}: {risen}");
        if degrees == 55.0 {
            // Four masses at the corners of a square of half width 0.1: about the corner 8 m (0.1² + 0.1²)·2 of inertia.
            let inertia = 4.0 * 0.02 + 4.0 * 0.02;
            let turn = 9.81 * 4.0 * 0.1 * (sine - cosine) / inertia;
            let t: f64 = 0.1;
            let rise = 0.2 * 0.5 * turn * t * t;
            let ours = run.at("probe.block.y", t) - run.at("probe.block.y", 0.0);
            assert!((ours - rise).abs() < 0.1 * rise, "{ours} against {rise}");
        }
    }
}

/// Energy per cycle that the belt loses to friction, 0.10438 J, from an independent computation; in step and mesh.
#[test]
fn a_whisker_on_a_belt_loses_what_it_should() {
    for (set, wanted) in [
        (["time.step=1e-3", "body.beam.line.elements=8"], 0.104378),
        (["time.step=1e-3", "body.beam.line.elements=4"], 0.104377),
        (["time.step=2e-3", "body.beam.line.elements=8"], 0.104381),
    ] {
        let run = run_shipped("whisker", &set);
        let loss = run.at("work_friction", 2.0) - run.at("work_friction", 4.0);
        assert!((loss - wanted).abs() < 3e-6, "{set:?}: {loss}");
        let belt = run.at("work_support", 4.0) - run.at("work_support", 2.0);
        let damped = run.at("work_damping", 2.0) - run.at("work_damping", 4.0);
        // The motion is nearly periodic by then.
        assert!((belt - loss - damped).abs() < 2e-3 * loss, "belt {belt}, friction {loss}, damping {damped}");
        assert!(run.ledger.worst_sum < 1e-10, "{:?}", run.ledger);
    }
}

/// Random impacts of one contact: Newton's restitution with friction gains energy in some, with e = 0 in none, and Moreau's law
/// with one coefficient on both components in none.
#[test]
fn who_gains_energy_in_an_impact() {
    let mut random = Random::new(21);
    let mut gains = [0; 3];
    for _ in 0..4000 {
        let masses = [random.between(0.5, 5.0), random.between(0.5, 5.0), random.between(0.5, 5.0)];
        let rows: Vec<Vec<f64>> = (0..2).map(|_| (0..3).map(|_| random.between(-1.0, 1.0)).collect()).collect();
        let entry = |i: usize, j: usize| (0..3).map(|k| rows[i][k] * rows[j][k] / masses[k]).sum();
        let w: Vec<Vec<f64>> = (0..2).map(|i| (0..2).map(|j| entry(i, j)).collect()).collect();
        let u0 = [random.between(-1.0, 0.0), random.between(-1.0, 1.0)];
        let mu = random.between(0.05, 1.0);
        for (k, (e, moreau)) in [(0.8, false), (0.0, false), (0.8, true)].into_iter().enumerate() {
            let b = [(1.0 + e) * u0[0], if moreau { (1.0 + e) * u0[1] } else { u0[1] }];
            let (outcome, r) = solve(&w, &b, &[mu]);
            assert!(outcome.converged);
            let work: f64 = (0..2).map(|i| r[i] * (u0[i] + 0.5 * (w[i][0] * r[0] + w[i][1] * r[1]))).sum();
            gains[k] += usize::from(work > 1e-9);
        }
    }
    assert!(gains[0] > 100, "Newton: {gains:?}");
    assert_eq!(gains[1..], [0, 0]);
}

/// A mass thrown obliquely on a floor that is rough enough to stick: Newton's law turns the normal velocity by −e and stops
/// the sliding, Moreau's turns both.
#[test]
fn the_law_of_restitution_decides_about_sliding() {
    for (law, slides) in [("newton", 0.0), ("moreau", -0.4)] {
        let text = format!(
            "format = 1\ntitle = \"throw\"\n[time]\nend = 0.02\nstep = 1e-3\n[scheme]\nname = \"moreau-jean\"\n\
             [[body]]\nname = \"ball\"\nelement = \"mass\"\nat = [0.0, 0.01]\nmass = 2.0\nvelocity = [0.5, -1.0]\n\
             [[contact]]\nname = \"floor\"\nnodes = \"ball\"\nplane = {{ point = [0.0, 0.0], normal = [0.0, 1.0] }}\n\
             restitution = {{ e = 0.8, law = \"{law}\" }}\nfriction = 3.0\n[[probe]]\nname = \"ball\"\nnode = \"ball\"\n"
        );
        let (run, result) = try_run(&crate::common::history::load(&text, &[]));
        result.unwrap_or_else(|error| panic!("{law}: {error}"));
        assert!((run.last("probe.ball.vy") - 0.8).abs() < 1e-12, "{law}: {}", run.last("probe.ball.vy"));
        assert!((run.last("probe.ball.vx") - slides).abs() < 1e-12, "{law}: {}", run.last("probe.ball.vx"));
    }
}
