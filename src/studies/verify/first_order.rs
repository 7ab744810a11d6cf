//! First-order systems: a bridge of diodes, a dragged point, infinitely many switches, a periodic regime.

use super::{Criterion, Job, Part, Plan, Row, shipped};
use crate::Result;
use crate::norms;
use crate::plot::{Axis, Curve};
use crate::studies::{Reference, Wish, prospect, run};

/// Weights: name in tables, the table of the scheme, order on the bridge.
const WEIGHTS: [(&str, &str, f64); 3] = [
    ("θ = 1", r#"{ name = "theta", theta = 1.0 }"#, 1.0),
    ("θ = ½", r#"{ name = "theta", theta = 0.5 }"#, 2.0),
    ("θ = ½, ω = 1", r#"{ name = "theta", theta = 0.5, omega = 1.0 }"#, 1.0),
];

pub(super) fn plans() -> Vec<Plan> {
    let bridge = WEIGHTS.iter().map(|&(label, table, order)| {
        let job: Job = Box::new(move || {
            // The implicit rule damps the tank: it needs finer steps to be in its range.
            let coarsest = if order == 2.0 || table.contains("omega") { 1250 } else { 80_000 };
            refined("diode-bridge", label, &[format!("scheme={table}")], (5e-3, coarsest), order)
        });
        (label.to_string(), job)
    });
    let tractrix: Job = Box::new(|| refined("tractrix", "θ = 1", &[], (1.5, 100), 1.0));
    vec![
        Plan {
            title: "Diode bridge",
            text: "Four ideal diodes and a resistor on an LC tank, case `diode-bridge`. Exact: a full bridge is linear to the \
                   tank, so that the circuit is a parallel RLC, stated in the case. Order: least squares through four steps; \
                   error: largest one of the voltage at the finest.",
            figure: None,
            jobs: bridge.collect(),
        }
        .figure("diode-bridge", [Axis::log("step"), Axis::log("largest error of the voltage")]),
        Plan {
            title: "Dragged point",
            text: "A disc drags a point along a tractrix, case `tractrix`: a sweeping process. Exact: closed form, stated in the \
                   case. Orders as above.",
            figure: None,
            jobs: vec![("θ = 1".into(), tractrix)],
        },
    ]
}

/// Errors of a case with an exact solution on four grids, each twice as fine.
fn refined(name: &str, label: &str, set: &[String], (end, coarsest): (f64, u32), order: f64) -> Result<Part> {
    let mut points = Vec::new();
    let mut ledger = [0.0; 2];
    for level in 0..4 {
        let h = end / f64::from(coarsest << level);
        let loaded = shipped(name, &[set, &[format!("time.step={h:e}")]].concat())?;
        let (_, known) = prospect(&loaded, &Wish::default())?;
        let known = known.expect("the case states its exact solution");
        let outcome = run(&loaded, &Wish::default())?;
        let [position, _] = Reference::exact(&known, end).errors(&outcome.track);
        points.push((h, position.max));
        ledger = [outcome.ledger.worst_step, outcome.ledger.worst_sum];
    }
    let found = norms::order(&points).unwrap_or(f64::NAN);
    let mut rows = vec![Row::new(label, "order", found, Criterion::Near(order, 0.1))];
    let limit = if order == 2.0 { 1e-3 } else { 0.05 };
    rows.push(Row::new(label, "error", points[3].1, Criterion::Below(limit)));
    rows.push(Row::new(label, "ledger, a step", ledger[0], Criterion::RoundOff(1e-13)));
    rows.push(Row::new(label, "ledger, sum", ledger[1], Criterion::RoundOff(1e-11)));
    let points = points.iter().map(|&(h, error)| [h, error]).collect();
    Ok(Part { rows, curves: vec![Curve { marks: true, dashed: order == 1.0, ..Curve::new(label, points) }] })
}
