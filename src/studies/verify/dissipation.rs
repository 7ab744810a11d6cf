//! What cannot grow, and where it does: section 7 of `docs/theory.md`.

use super::{Criterion, Nobody, Oracle, Part, Plan, Row, Scheme, case, shipped, watch};
use crate::case::Loaded;
use crate::growth::{Quantity, Theorem};
use crate::model::Model;
use crate::plot::{Axis, Curve};
use crate::system::System;
use crate::{Result, run};

pub(super) fn plans() -> Vec<Plan> {
    vec![moreau_jean(), dissipative(), runs()]
}

/// Coefficients of restitution of the single steps.
const RESTITUTIONS: [f64; 4] = [0.0, 0.5, 0.8, 1.0];

/// Energy gained in one step by a unit mass that touches a wall with velocity −1, on a spring at rest with k h² = `kappa`.
fn gain(scheme: &str, theta: f64, restitution: f64, kappa: f64) -> Result<f64> {
    let text = format!(
        "format = 1\ntime = {{ end = 0.1, step = 0.1, min_step = 0.1 }}\nscheme = {{ name = \"{scheme}\", theta = {theta} }}\n\
         body = [{{ name = \"ball\", element = \"mass\", at = [0.0], mass = 1.0, velocity = [-1.0] }},\n\
         {{ name = \"anchor\", element = \"mass\", at = [1.0], mass = 1.0 }},\n\
         {{ name = \"link\", element = \"spring\", between = [\"ball\", \"anchor\"], stiffness = {}, rest_length = 1.0 }}]\n\
         support = [{{ name = \"hold\", nodes = \"anchor\", fix = [\"x\"] }}]\n\
         contact = [{{ name = \"wall\", nodes = \"ball\", plane = {{ point = [0.0], normal = [1.0] }}, \
         restitution = {restitution} }}]\n\
         guards = {{ energy = false }}\n",
        100.0 * kappa
    );
    let loaded = case(&text, &[])?;
    let prepared = run::prepare(&loaded)?;
    let (arrival, _) = run::march(&loaded.case, &prepared, &mut [])?;
    Ok(arrival.state.energy.total() - arrival.start.total())
}

/// Energy that one step of Moreau–Jean gains, by hand: v1 = e, dq = h (θ(1+e) − 1).
fn by_hand(theta: f64, e: f64, kappa: f64) -> f64 {
    0.5 * (e * e - 1.0) + 0.5 * kappa * (theta * (1.0 + e) - 1.0).powi(2)
}

/// Stiffness of the counterexample.
const KAPPA: f64 = 4.0;

fn moreau_jean() -> Plan {
    let job = || {
        let mut part = Part::default();
        let mut row = |theta: f64, e: f64, kappa: f64, quantity: &'static str| -> Result<()> {
            let name = format!("e = {e}, θ = {}", (theta * 1e4).round() / 1e4);
            let criterion = Criterion::Near(by_hand(theta, e, kappa), 1e-12);
            part.rows.push(Row::new(&name, quantity, gain("moreau-jean", theta, e, kappa)?, criterion));
            Ok(())
        };
        for e in RESTITUTIONS {
            row(1.0 / (1.0 + e), e, KAPPA, "at the bound")?;
            if e > 0.0 {
                row(1.0, e, KAPPA, "beyond it")?;
            }
        }
        for theta in [0.6, 0.8, 1.0] {
            row(theta, 1.0, 1.0, "example of theory.md")?;
        }
        for e in &RESTITUTIONS[1..] {
            let thetas: Vec<f64> = (0..=20).map(|k| 0.5 + 0.025 * f64::from(k)).collect();
            let measured = thetas.iter().map(|&theta| Ok([theta, gain("moreau-jean", theta, *e, KAPPA)?]));
            let label = format!("e = {e}, bound {:.3}", 1.0 / (1.0 + e));
            let curve = Curve { marks: true, ..Curve::new(&label, measured.collect::<Result<_>>()?) };
            part.curves.push(curve);
        }
        part.curves.push(Curve { color: None, dashed: true, ..Curve::new("no gain", vec![[0.5, 0.0], [1.0, 0.0]]) });
        Ok(part)
    };
    let plan = Plan {
        title: "Moreau–Jean at and beyond θ = 1/(1+e)",
        text: "One step of a mass on a spring that hits a wall, k h² = 4 (1 in the example of theory.md), energy ½ before. \
               The change of energy is ½(e²−1) + ½ k h² (θ(1+e)−1)², computed by hand: at θ = 1/(1+e) what the impact itself \
               takes, beyond it more with every k, so that a stiff spring or a long step turns the loss into a gain. A row \
               passes if the run gives exactly that: with e = 1 and θ = 1 the energy of the counterexample rises from ½ to \
               2½.",
        figure: None,
        jobs: vec![("moreau-jean".into(), Box::new(job))],
    };
    plan.figure("counterexample", [Axis::linear("θ"), Axis::linear("energy gained in one step")])
}

fn dissipative() -> Plan {
    let job = || {
        let mut part = Part::default();
        for e in RESTITUTIONS {
            for theta in [0.5, 0.75, 1.0] {
                // v1 = e and dq = ½ h (e − 1) whatever θ is.
                let exact = 0.5 * (e * e - 1.0) + 0.125 * (1.0 - e) * (1.0 - e);
                let measured = gain("moreau-jean-dissipative", theta, e, 1.0)?;
                let name = format!("e = {e}, θ = {theta}");
                part.rows.push(Row::new(&name, "energy gained", measured, Criterion::Near(exact, 1e-12)));
                part.rows.push(Row::new(&name, "does not grow", measured, Criterion::RoundOff(1e-12)));
            }
        }
        Ok(part)
    };
    Plan {
        title: "The dissipative variant never gains",
        text: "The same step with the dissipative variant, k h² = 1: for every θ and e it loses ½(1−e²) − ⅛ k h² (1−e)², \
               computed by hand.",
        figure: None,
        jobs: vec![("moreau-jean-dissipative".into(), Box::new(job))],
    }
}

fn runs() -> Plan {
    Plan::schemes(
        "What cannot grow in a run",
        "Largest growth in any step of a run without loads, of the energy scale: of the energy itself for Moreau–Jean with \
         θ ≤ 1/(1+e) and for the variant, of the storage function ℋ (T20) for the α family. Bar: restitution 0; oscillator: \
         0.8. Schemes outside their range of dissipation have no row: Moreau–Jean θ = 1 with restitution, and central \
         differences.",
        largest_gain,
    )
}

fn largest_gain(scheme: &'static Scheme) -> Result<Part> {
    let mut part = Part::default();
    for (name, quantity, step) in
        [("impacting-bar", "bar", None), ("impacting-oscillator", "oscillator", Some("time.step=1e-3"))]
    {
        let set: Vec<String> = [scheme.set()].into_iter().chain(step.map(str::to_string)).collect();
        let loaded = shipped(name, &set)?;
        let Some(theorem) = theorem(&loaded)? else { continue };
        let watched = watch(&loaded, None, &mut Nobody)?;
        let Oracle { gains: [energy, storage], .. } = watched.oracle;
        let gain = if theorem.quantity == Quantity::Storage { storage } else { energy } / watched.outcome.ledger.scale;
        part.rows.push(Row::new(scheme.label, quantity, gain, Criterion::RoundOff(1e-12)));
    }
    Ok(part)
}

/// What cannot grow in a run; asked before the run is made ready, because not every scheme could make it.
fn theorem(loaded: &Loaded) -> Result<Option<Theorem>> {
    let model = Model::new(&loaded.case, &|name| loaded.path(name))?;
    Ok(Theorem::of(&loaded.case, &System::assemble(&model)?))
}

#[cfg(test)]
mod tests {
    use super::super::SCHEMES;
    use super::*;

    #[test]
    fn theorems_have_their_ranges() {
        let holds = |k: usize, e: f64| {
            let set = [SCHEMES[k].set(), format!("contact.wall.restitution={e}"), "time.step=1e-3".into()];
            theorem(&shipped("impacting-oscillator", &set).unwrap()).unwrap().is_some()
        };
        assert!(holds(0, 1.0) && holds(1, 0.0) && !holds(1, 0.8), "Moreau-Jean");
        assert!(holds(3, 1.0), "the variant, theta = 1");
        assert!(holds(4, 1.0) && holds(9, 1.0) && !holds(SCHEMES.len() - 1, 0.0), "central differences have none");
    }
}
