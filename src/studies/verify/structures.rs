//! Beams: the smooth motion of the rotating beam, and equilibrium paths.

use super::{Criterion, Nobody, Part, Plan, Row, Scheme, case, shipped, watch};
use crate::expect::Watch;
use crate::sinks::columns::Columns;
use crate::sinks::digest::Digest;
use crate::{Result, run};

pub(super) fn plans() -> Vec<Plan> {
    vec![
        Plan::schemes(
            "Rotating beam before its first impact",
            "`cases/rotating-beam.toml` until t = 0.3, four geometrically exact elements, h = 1e-4. Reference: an \
             event-driven code in long double, whose two step sizes agree to 4e-13. Error: largest one of the tip's place \
             at six instants; energy: what the run lost, of the energy scale, where nothing should be lost. Central \
             differences are left out: their stable step is too short for this beam. What happens after the impact is in \
             [rotating-beam.md](rotating-beam.md).",
            rotating,
        ),
        path(
            "Cantilever rolled up",
            "`cases/cantilever-roll-up.toml`: an end moment of 2π EI/L makes a closed circle. Exact: closed form.",
            "cantilever-roll-up",
        ),
        path(
            "Cantilever under a tip load",
            "`cases/cantilever-tip-load.toml`: the elastica. Reference: shooting.",
            "cantilever-tip-load",
        ),
    ]
}

/// Tip of the beam at 0.05, 0.10, …, 0.30.
const TIP: [[f64; 2]; 6] = [
    [9.99830782290135e-1, -1.839637287307908e-2],
    [9.972952306020701e-1, -7.350035707403525e-2],
    [9.863541766308093e-1, -1.646378394047911e-1],
    [9.572513419484215e-1, -2.892579892639338e-1],
    [8.975390433585988e-1, -4.409355346807278e-1],
    [7.944412452358642e-1, -6.073415581507885e-1],
];

fn rotating(scheme: &'static Scheme) -> Result<Part> {
    if scheme.explicit() {
        return Ok(Part::default());
    }
    let set = [scheme.set(), "time.end=0.3".into(), "time.step=1e-4".into()];
    let loaded = shipped("rotating-beam", &set)?;
    let mut worst = 0.0_f64;
    let mut rows = Vec::new();
    for (axis, name) in ["tip.x", "tip.y"].into_iter().enumerate() {
        let watched = watch(&loaded, Some(name), &mut Nobody)?;
        for (k, tip) in TIP.iter().enumerate() {
            worst = worst.max((watched.outcome.track.position[500 * (k + 1)] - tip[axis]).abs());
        }
        if axis == 1 {
            let ledger = &watched.outcome.ledger;
            let lost = watched.outcome.energy.abs() / ledger.scale;
            // Second order, and first.
            let limits = if scheme.order == 2 { [5e-6, 1e-6] } else { [3e-4, 1e-3] };
            rows.push(Row::new(scheme.label, "tip, error", worst, Criterion::Below(limits[0])));
            rows.push(Row::new(scheme.label, "energy lost", lost, Criterion::Below(limits[1])));
            rows.extend(watched.identities(scheme));
        }
    }
    Ok(Part { rows, curves: Vec::new() })
}

/// A shipped static case whose expectations are exact values.
fn path(title: &'static str, text: &'static str, name: &'static str) -> Plan {
    let job = move || {
        let loaded = case(crate::cases::find(name).expect("the book names cases that ship").text, &[])?;
        let prepared = run::prepare(&loaded)?;
        let columns = Columns::new(&prepared.model, &prepared.system);
        let (mut digest, mut watch) = (Digest::new(&prepared.system), Watch::new(&loaded.case.expect, &columns));
        let (arrival, _) = run::march(&loaded.case, &prepared, &mut [&mut digest, &mut watch])?;
        let verdicts = watch.judge(&loaded.case.expect, &digest, &arrival);
        let row = |verdict: crate::expect::Verdict| {
            let expect = &loaded.case.expect[&verdict.key];
            let criterion = match (expect.value, expect.below) {
                (Some(value), _) => {
                    let relative = expect.rel.map_or(0.0, |rel| rel * value.abs());
                    Criterion::Near(value, relative.max(expect.abs.unwrap_or(0.0)))
                }
                (None, limit) => Criterion::RoundOff(limit.unwrap_or(f64::NAN)),
            };
            Row::new(&verdict.key, "value", verdict.measured, criterion)
        };
        Ok(Part { rows: verdicts.into_iter().map(row).collect(), curves: Vec::new() })
    };
    Plan { title, text, figure: None, jobs: vec![("static".into(), Box::new(job))] }
}
