//! A rigid mass hits a clamped bar: Saint-Venant's problem, on three meshes.

use super::{Criterion, Nobody, Part, Plan, Row, Scheme, shipped, watch};
use crate::Result;
use crate::exact::SaintVenant;
use crate::norms;
use crate::plot::{Axis, Curve};

/// Labels of the schemes of this chapter.
const CHOSEN: [&str; 6] =
    ["Moreau–Jean θ=½", "Moreau–Jean θ=1", "Newmark ½, ¼", "HHT 0.3", "generalized-α 0.6", "central differences"];

/// Masses in masses of the bar, with the names of their rows.
const MASSES: [(f64, &str); 4] =
    [(1.0, "speed, mass 1"), (2.0, "speed, mass 2"), (4.0, "speed, mass 4"), (6.0, "speed, mass 6")];

/// Elements of the meshes; steps are 0.4 of the time in which a wave crosses an element, within the limit of
/// central differences.
const MESHES: [u32; 3] = [100, 200, 400];

pub(super) fn plans() -> Vec<Plan> {
    let plan = Plan::schemes(
        "Mass hits a clamped bar",
        "`cases/saint-venant.toml` with 1, 2, 4 and 6 times the mass of the bar; 100, 200 and 400 elements of size d, \
         h = 0.4 d. Exact: `exact::SaintVenant`, release at 3.06767, 4.70857, 5.89959, 7.40759. Speed: error at the exact \
         release over d, the largest of the three meshes; order: least squares through the means of the four errors, about \
         one for all schemes because fronts disperse. Release: distance of the last step with a force from the exact release, \
         over the width (t d²)^⅓ of a front on a mesh; late impulse: impulse after the exact release over d; both the \
         largest of the meshes and of the masses 1, 2 and 6. With 4 the next front arrives 0.1 after the release, and its \
         ripples on the mesh close the contact again. Central differences do not damp ripples: some close the contact \
         again for a few steps, up to two widths late, so that they have no row for the last step with a force.",
        saint_venant,
    );
    let jobs = plan.jobs.into_iter().filter(|(label, _)| CHOSEN.contains(&label.as_str())).collect();
    vec![Plan { jobs, ..plan }.figure("saint-venant", [Axis::linear("time"), Axis::linear("contact force")])]
}

fn saint_venant(scheme: &'static Scheme) -> Result<Part> {
    let mut speeds = [0.0_f64; MASSES.len()];
    let [mut release, mut late_impulse] = [0.0_f64; 2];
    let mut levels = Vec::new();
    let mut identities = Vec::new();
    let mut curves = Vec::new();
    for elements in MESHES {
        let d = 1.0 / f64::from(elements);
        let mut sum = 0.0;
        for (k, (mass, _)) in MASSES.into_iter().enumerate() {
            let exact = SaintVenant { young: 1.0, density: 1.0, area: 1.0, length: 1.0, mass, speed: 1.0 };
            let left = exact.release();
            // Until the front after the release is back.
            let end = (left / exact.round_trip()).ceil() * exact.round_trip();
            let loaded = shipped(
                "saint-venant",
                &[
                    scheme.set(),
                    format!("body.bar.line.elements={elements}"),
                    format!("body.ball.mass={mass:?}"),
                    format!("time.step={:e}", 0.4 * d),
                    format!("time.end={end:?}"),
                ],
            )?;
            let watched = watch(&loaded, Some("ball"), &mut Nobody)?;
            let track = &watched.outcome.track;
            let error = (at(&track.times, &track.velocity, left) - exact.velocity(left)).abs();
            // `max` would forget a NaN.
            speeds[k] = if error.is_nan() || speeds[k].is_nan() { f64::NAN } else { speeds[k].max(error / d) };
            sum += error;
            if mass != 4.0 {
                let last = track.force.iter().rposition(|&force| force > 0.0);
                let late = last.map_or(f64::NAN, |last| (track.times[last] - left).abs());
                // `max` would forget a run without contact.
                let steps = track.times.windows(2).zip(&track.force[1..]);
                let after = steps.filter(|(pair, _)| pair[0] >= left).map(|(pair, force)| force * (pair[1] - pair[0]));
                late_impulse = late_impulse.max(after.sum::<f64>() / d);
                let width = (left * d * d).cbrt();
                release = if late.is_nan() || release.is_nan() { f64::NAN } else { release.max(late / width) };
            }
            if mass == 2.0 && elements == MESHES[MESHES.len() - 1] {
                identities = watched.identities(scheme);
                curves = figure(scheme, &exact, &track.times, &track.force);
            }
        }
        levels.push((d, sum / MASSES.len() as f64));
    }
    // Schemes of first order smear fronts over more than the mesh does.
    let limit = if scheme.order == 2 { 1.0 } else { 3.0 };
    let row = |quantity, measured, criterion| Row::new(scheme.label, quantity, measured, criterion);
    let mut rows = vec![row("late impulse", late_impulse, Criterion::Below(1.0))];
    if !scheme.explicit() {
        rows.push(row("release", release, Criterion::Below(1.5)));
    }
    rows.extend(MASSES.iter().zip(speeds).map(|((_, name), speed)| row(name, speed, Criterion::Below(limit))));
    rows.push(row("order, speed", norms::order(&levels).unwrap_or(f64::NAN), Criterion::Near(1.0, 0.4)));
    rows.extend(identities);
    Ok(Part { rows, curves })
}

/// Linear interpolation in a track; NaN outside of it.
fn at(times: &[f64], values: &[f64], t: f64) -> f64 {
    let k = times.partition_point(|&time| time < t);
    if k == 0 || k == times.len() {
        return f64::NAN;
    }
    let part = (t - times[k - 1]) / (times[k] - times[k - 1]);
    values[k - 1] + part * (values[k] - values[k - 1])
}

/// The force on the finest mesh for one scheme, and beside the last scheme the exact one.
fn figure(scheme: &Scheme, exact: &SaintVenant, times: &[f64], force: &[f64]) -> Vec<Curve> {
    if scheme.label == CHOSEN[CHOSEN.len() - 1] {
        let points = (0..=1200).map(|k| 0.005 * f64::from(k)).map(|t| [t, exact.force(t)]).collect();
        return vec![Curve { dashed: true, ..Curve::new("exact", points) }];
    }
    if scheme.label != "generalized-α 0.6" {
        return Vec::new();
    }
    vec![Curve::new(scheme.label, times.iter().zip(force).map(|(&t, &f)| [t, f]).collect())]
}
