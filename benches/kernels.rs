//! Wall times of the hot kernels, one by one, to see which of them a change made slower.
//!
//! ```text
//! cargo bench --bench kernels            # all of them
//! cargo bench --bench kernels beam       # those with `beam` in their names
//! ```
//!
//! Every round does the same again: steps start from one state and are not committed.

use carom::case::data::{Case, Encoding, HistoryOutput};
use carom::case::{Format, parse};
use carom::cases;
use carom::expression::{Expression, Vocabulary};
use carom::first_order::march::{Company, march};
use carom::la::{Factor, Symmetric};
use carom::laws::solvers::active_set::{ActiveSet, Bound};
use carom::ledger::Ledger;
use carom::methods::Attempt;
use carom::methods::tableau::{Passes, Settings};
use carom::model::{Component, Model};
use carom::run;
use carom::schemes;
use carom::sinks::columns::Columns;
use carom::sinks::history::History;
use carom::sinks::vtk::{Array, Frame, encode};
use carom::sinks::{Record, Sink};
use carom::system::System;
use divan::Bencher;
use divan::counter::ItemsCount;
use std::path::Path;

fn main() {
    divan::main();
}

const MOREAU_JEAN: &str = "scheme={ name = \"moreau-jean\" }";
const GENERALIZED_ALPHA: &str = "scheme={ name = \"generalized-alpha\", rho_inf = 0.8 }";

/// Steps before the one that is timed: contact has settled, and what is kept from step to step is there.
const BEFORE: usize = 6;

/// A shipped case with some settings.
fn prepare(name: &str, set: &[String]) -> (Case, Model, System) {
    let text = cases::find(name).expect("it ships").text;
    let case = parse(text, name, Format::Toml, set).unwrap_or_else(|bad| panic!("{}", bad.render(false)));
    let model = Model::new(&case, &|name| Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(name))
        .expect("the case is sound");
    let system = System::assemble(&model).expect("the case is sound");
    (case, model, system)
}

/// Times the same step again and again; items are unknowns.
fn time_step(bencher: Bencher, case: &Case, system: &System, active: usize) {
    let mut method = run::method(case, system).expect("the case is sound");
    let h = case.time.step;
    let mut attempt = method.initial_attempt(h).expect("the case runs");
    let mut state = attempt.state.clone();
    for _ in 0..BEFORE {
        method.attempt(&state, h, (state.step + 1) as f64 * h, &mut attempt).expect("the case runs");
        std::mem::swap(&mut state, &mut attempt.state);
    }
    assert_eq!(attempt.active, active, "contacts");
    let end = (state.step + 1) as f64 * h;
    bencher
        .counter(ItemsCount::new(system.nodes.free))
        .bench_local(|| method.attempt(&state, h, end, &mut attempt).expect("the case runs"));
}

fn bar(bencher: Bencher, elements: usize, scheme: &str) {
    let set = [
        format!("body.bar.line={{ from = [0.0], to = [10.0], elements = {elements} }}"),
        format!("time={{ end = 3.0, step = {:e} }}", 0.4 / elements as f64),
        scheme.to_string(),
    ];
    let (case, _, system) = prepare("impacting-bar", &set);
    time_step(bencher, &case, &system, 1);
}

#[divan::bench(args = [200, 20_000])]
fn step_of_a_bar_moreau_jean(bencher: Bencher, elements: usize) {
    bar(bencher, elements, MOREAU_JEAN);
}

#[divan::bench(args = [200, 20_000])]
fn step_of_a_bar_generalized_alpha(bencher: Bencher, elements: usize) {
    bar(bencher, elements, GENERALIZED_ALPHA);
}

#[divan::bench]
fn step_of_a_frame(bencher: Bencher) {
    let (case, _, system) = prepare("portal-frame", &[]);
    time_step(bencher, &case, &system, 0);
}

/// A Newton pass, from where a step ended; items are nodes.
fn pass(bencher: Bencher, elements: usize, lanes: bool) {
    let (case, _, system) = prepare("rotating-beam", &[format!("body.beam.line.elements={elements}")]);
    let row =
        schemes::find(&case.scheme.name).expect("it is there").tableau(&case.scheme.parameters).expect("it is a row");
    let settings = Settings {
        forecast: case.scheme.forecast,
        position: case.scheme.position,
        newton: case.solver.newton.clone(),
        contact: case.solver.contact.clone(),
    };
    let mut passes = Passes::new(&system, row, settings, lanes).expect("the case is sound");
    let h = case.time.step;
    let mut attempt = passes.method().initial_attempt(h).expect("the case runs");
    let state = attempt.state.clone();
    passes.method().attempt(&state, h, h, &mut attempt).expect("the case runs");
    bencher.counter(ItemsCount::new(elements + 1)).bench_local(|| {
        // A first pass is always made.
        attempt.passes = 0;
        passes.pass(&state, h, &mut attempt).expect("the case runs")
    });
}

#[divan::bench(args = [100, 20_000])]
fn pass_of_an_exact_beam_in_scalar_code(bencher: Bencher, elements: usize) {
    pass(bencher, elements, false);
}

#[divan::bench(args = [100, 20_000])]
fn pass_of_an_exact_beam_in_lanes(bencher: Bencher, elements: usize) {
    pass(bencher, elements, true);
}

/// Linear beam of so many nodes on the floor, and M + h²/4 K.
fn floor(nodes: usize) -> (System, Symmetric) {
    let end = 0.01 * nodes as f64;
    let line = format!("body.beam.line={{ from = [0.0, 0.0], to = [{end:?}, 0.0], elements = {} }}", nodes - 1);
    let (case, _, system) = prepare("beam-on-floor", &[line]);
    let mut matrix = Symmetric::zeros(system.mass.pattern.clone());
    system.effective(&system.q0, 1.0, 0.0, 0.25 * case.time.step.powi(2), &mut matrix);
    (system, matrix)
}

/// Nodes of the beam on the floor.
const NODES: usize = 2_000;

#[divan::bench]
fn factor_of_a_block_tridiagonal_matrix(bencher: Bencher) {
    let (system, matrix) = floor(NODES);
    let mut factor = Factor::new(&matrix.pattern, system.nodes.free);
    assert_eq!(factor.name(), "chain of 3x3 blocks");
    bencher.counter(ItemsCount::new(NODES)).bench_local(|| factor.factor(&matrix).is_ok());
}

#[divan::bench]
fn solve_with_a_block_tridiagonal_matrix(bencher: Bencher) {
    let (system, matrix) = floor(NODES);
    let mut factor = Factor::new(&matrix.pattern, system.nodes.free);
    factor.factor(&matrix).expect("the matrix is regular");
    let mut x = system.gravity.clone();
    bencher.counter(ItemsCount::new(NODES)).bench_local(|| {
        x.copy_from_slice(&system.gravity);
        factor.solve(&mut x);
    });
}

/// Contacts at all nodes, every other one pressed: from an empty set and without a factor.
#[divan::bench]
fn active_set_from_nothing(bencher: Bencher) {
    let (system, matrix) = floor(NODES);
    let dof = |node: usize| system.nodes.find(node, Component::Y).expect("beams have it");
    let bounds: Vec<Bound> = (0..NODES).map(|row| Bound { row, dof: dof(row), part: 1.0 }).collect();
    let b: Vec<f64> = (0..NODES).map(|row| if row % 2 == 0 { -1.0 } else { 0.1 }).collect();
    let active_set = ActiveSet::new(&system.mass, system.nodes.free, [1.0, 0.0], &bounds, &[]);
    let mut active_set = active_set.expect("the axes are not turned");
    let (mut p, active) = (vec![0.0; NODES], Vec::from_iter(0..NODES as u32));
    bencher.counter(ItemsCount::new(NODES)).bench_local(|| {
        active_set.clear();
        p.fill(0.0);
        active_set.solve(&matrix, &active, &b, &mut p, |_, _| {})
    });
}

/// Points of a frame, with displacements and velocities, and a force per line.
#[divan::bench(args = [Encoding::Raw, Encoding::Lz4])]
fn encode_a_frame(bencher: Bencher, encoding: Encoding) {
    const POINTS: usize = 10_000;
    let points: Vec<[f64; 3]> = (0..POINTS).map(|k| [0.01 * k as f64, 0.0, 0.0]).collect();
    let lines: Vec<[u32; 2]> = (1..POINTS as u32).map(|k| [k - 1, k]).collect();
    let wave = |count: usize| (0..count).map(|k| (0.001 * k as f64).sin()).collect::<Vec<f64>>();
    let (vectors, forces) = (wave(3 * POINTS), wave(POINTS - 1));
    let array = |name, components, values| Array { name, components, values };
    let frame = Frame {
        points: &points,
        lines: &lines,
        quads: &[],
        vertices: &[],
        point_data: &[array("displacement", 3, &vectors), array("velocity", 3, &vectors)],
        cell_data: &[array("N", 1, &forces)],
        field_data: &[("TimeValue", 0.25)],
    };
    let mut bytes = Vec::new();
    bencher
        .counter(ItemsCount::new(POINTS))
        .bench_local(|| encode(&frame, encoding, &mut bytes).expect("the frame is sound"));
}

/// A row of the table of the rotating beam, and its way to the file.
#[divan::bench]
fn write_a_history_line(bencher: Bencher) {
    let (case, model, system) = prepare("rotating-beam", &[]);
    let mut method = run::method(&case, &system).expect("the case is sound");
    let attempt: Attempt = method.initial_attempt(case.time.step).expect("the case runs");
    let (columns, ledger) = (Columns::new(&model, &system), Ledger::default());
    let directory = tempfile::tempdir().expect("a directory for the history");
    let settings = HistoryOutput { every: 1, ..case.output.history.clone() };
    let mut history = History::new(directory.path(), &columns, &settings, case.time.end);
    history.begin(None).expect("the file can be written");
    let record = Record { h: case.time.step, grid: Some(1), from: &attempt.state, attempt: &attempt, ledger: &ledger };
    bencher
        .counter(ItemsCount::new(columns.names().len()))
        .bench_local(|| history.record(&record).expect("the file can be written"));
}

/// Steps of the diode bridge with their books, rows and figures, but without files; a million per second are wanted.
#[divan::bench]
fn bridge_steps(bencher: Bencher) {
    let text = cases::find("diode-bridge").expect("it ships").text;
    let case = parse(text, "bridge", Format::Toml, &[]).unwrap_or_else(|bad| panic!("{}", bad.render(false)));
    let system = carom::first_order::system::System::new(&case).expect("the case is sound");
    bencher.counter(ItemsCount::new(5000u32)).bench(|| {
        let company = Company { readers: Vec::new(), from: None, after: &mut |_, _| Ok(()) };
        march(&system, &case, company).expect("the case runs").0.step
    });
}

/// A short expression; 60 ns are allowed, of which the sine itself takes a good part.
#[divan::bench(sample_size = 1000)]
fn expression_value(bencher: Bencher) {
    let expression = short_expression();
    bencher.bench(|| expression.value(&[divan::black_box(0.37)]));
}

/// The same with its first and second derivative, as driven supports want it.
#[divan::bench(sample_size = 1000)]
fn expression_jet(bencher: Bencher) {
    let expression = short_expression();
    bencher.bench(|| expression.jet(&[divan::black_box(0.37)], 0));
}

fn short_expression() -> Expression {
    let names = Vocabulary { variables: &["t"], ..Default::default() };
    Expression::parse("10*sin(314.15*t)", &names).expect("it is an expression")
}
