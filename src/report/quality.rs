//! Whether to trust a run, in plain words, from its summary.
//!
//! Knows the keys of `summary.json`; must not know how the words are shown.

use super::short;
use crate::summary::{WORKS, cut_words, never_closed, way};
use serde_json::Value;

/// Cumulative defect, of the energy scale, that is still round-off.
const DEFECT: f64 = 1e-9;
/// Residual of the contact conditions, of the largest relative velocity, that is still small.
const COMPLEMENTARITY: f64 = 1e-8;
/// Share of the energy scale that a scheme may take before the reader should know.
const SCHEME: f64 = 0.05;
/// Share of the energy scale that a scheme may add.
const GAIN: f64 = 1e-6;
/// Penetration, of the length of the model, that is still out of sight.
const PENETRATION: f64 = 0.01;
/// Roughness up to which a contact force is smooth, and above which it is noise.
const ROUGHNESS: [f64; 2] = [0.1, 0.5];

/// Share of a whole that is not worth a word.
const NOTHING: f64 = 1e-9;

/// How much a sentence asks for attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// As it should be.
    Good,
    /// Worth a look.
    Watch,
    /// A reason not to trust the run.
    Bad,
}

/// One sentence on a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// How much it asks for attention.
    pub level: Level,
    /// The sentence.
    pub text: String,
}

/// What there is to say of a run; `length` is that of the model.
pub fn findings(summary: &Value, length: f64) -> Vec<Finding> {
    let mut all = vec![defect(summary), balance(&summary["energy"])];
    let cuts = cut_words(&summary["counts"]["cuts"]);
    all.extend(cuts.map(|words| Finding { level: Level::Watch, text: format!("Steps were {words}.") }));
    if summary["contacts"].as_object().is_some_and(|contacts| !contacts.is_empty()) {
        all.push(penetration(number(&summary["penetration"]), length));
        all.extend(
            summary["contacts"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, contact)| force(name, contact, &summary["key_results"])),
        );
        all.push(complementarity(number(&summary["complementarity"])));
    }
    let advice = summary["advice"].as_array().into_iter().flatten().filter_map(Value::as_str);
    all.extend(advice.map(|text| Finding { level: Level::Watch, text: format!("Advice: {text}") }));
    all
}

/// What there is to say of a run of a first-order system.
pub fn first_order_findings(summary: &Value) -> Vec<Finding> {
    let energy = &summary["energy"];
    let mut all = Vec::new();
    if energy["scale"].is_number() {
        all.push(defect(summary));
        let scale = number(&energy["scale"]);
        let ends = ["initial", "final", "scale"].map(|key| short(number(&energy[key])));
        let text = format!("Stored energy {} at the start, {} at the end (largest {}).", ends[0], ends[1], ends[2]);
        all.push(Finding { level: Level::Good, text });
        let scheme = number(&energy["work_scheme"]);
        if scheme.abs() > SCHEME * scale {
            let text = format!(
                "The scheme made up {} of the largest storage: try a smaller step.",
                percent(scheme.abs() / scale)
            );
            all.push(Finding { level: Level::Watch, text });
        }
        let leak = number(&energy["law_leak"]);
        if leak.abs() > GAIN * scale {
            let text = format!(
                "Laws that switched inside a step gave {} ({} of the largest storage), which exact ones would not: it falls \
                 with the third power of the step.",
                short(leak),
                percent(leak.abs() / scale)
            );
            all.push(Finding { level: Level::Watch, text });
        }
    } else {
        let text = "There is no energy ledger: the case has no [storage].".to_string();
        all.push(Finding { level: Level::Good, text });
    }
    let residual = number(&summary["complementarity"]);
    let (level, only) = if residual <= COMPLEMENTARITY { (Level::Good, "") } else { (Level::Bad, " only") };
    all.push(Finding { level, text: format!("Laws and constraints hold to {residual:.1e} of their terms{only}.") });
    let advice = summary["advice"].as_array().into_iter().flatten().filter_map(Value::as_str);
    all.extend(advice.map(|text| Finding { level: Level::Watch, text: format!("Advice: {text}") }));
    all
}

fn defect(summary: &Value) -> Finding {
    let (step, run) = (number(&summary["defect"]["step"]), number(&summary["defect"]["run"]));
    let sizes = format!("{run:.1e} of the energy scale over the run, {step:.1e} in the worst step");
    if run <= DEFECT {
        Finding { level: Level::Good, text: format!("The energy ledger closes to round-off: {sizes}.") }
    } else {
        let text = format!("The energy ledger does not close: {sizes}. Tighten solver.newton.tolerance.");
        Finding { level: Level::Bad, text }
    }
}

/// Where the energy went, as shares of the energy scale.
fn balance(energy: &Value) -> Finding {
    let scale = number(&energy["scale"]);
    let share = |work: f64| if scale > 0.0 { work.abs() / scale } else { 0.0 };
    let mut parts = Vec::new();
    for (key, _) in WORKS {
        let work = number(&energy[key]);
        if share(work) > NOTHING {
            let verb = if work > 0.0 { "came" } else { "went" };
            parts.push(format!("{} ({}) {verb} {}", short(work.abs()), percent(share(work)), way(key, work)));
        }
    }
    let level = |value: f64| short(if value.abs() <= NOTHING * scale { 0.0 } else { value });
    let ends = ["initial", "final", "scale"].map(|key| level(number(&energy[key])));
    let ends = format!("Energy {} at the start, {} at the end (energy scale {})", ends[0], ends[1], ends[2]);
    let scheme = number(&energy["work_scheme"]);
    let (level, remark) = if scheme > 0.0 && share(scheme) > GAIN {
        (Level::Watch, " A scheme that adds energy may become unstable: try a smaller step, or more damping in it.")
    } else if share(scheme) > SCHEME {
        (Level::Watch, " That is much for a scheme: try a smaller step, or less damping in it.")
    } else {
        (Level::Good, "")
    };
    let text = match parts.is_empty() {
        true => format!("{ends}: conserved."),
        false => format!("{ends}: {}.{remark}", parts.join(", ")),
    };
    Finding { level, text }
}

fn penetration(depth: f64, length: f64) -> Finding {
    let share = if length > 0.0 { depth / length } else { 0.0 };
    if share <= NOTHING {
        return Finding { level: Level::Good, text: "No penetration beyond round-off.".into() };
    }
    let text = format!("Deepest penetration {}: {} of the model's length.", short(depth), percent(share));
    if share <= PENETRATION {
        Finding { level: Level::Good, text }
    } else {
        Finding { level: Level::Watch, text: text + " It falls with the step." }
    }
}

fn force(name: &str, contact: &Value, results: &Value) -> Finding {
    let (Some(closed), Some(release)) = (contact["closed"].as_f64(), contact["release"].as_f64()) else {
        let gap = &results[format!("contact.{name}.gap")];
        let text = format!("Contact {name}: {}.", never_closed(contact, gap, short));
        let level = if number(&contact["penetration"]) > 0.0 { Level::Watch } else { Level::Good };
        return Finding { level, text };
    };
    let times = contact["episodes"].as_u64().unwrap_or(0);
    let span = format!("from {} to {}", short(closed), short(release));
    let closings = if times == 1 {
        format!("closed once, {span}")
    } else {
        let own = short(number(&contact["longest_peak"]));
        format!("closed {times} times, the longest {span} with a peak of {own}")
    };
    let (peak, at) = (short(number(&contact["peak"])), short(number(&contact["peak_time"])));
    let start = format!("Contact {name} {closings}; peak force {peak} at {at}");
    let Some(roughness) = contact["roughness"].as_f64() else {
        return Finding { level: Level::Good, text: format!("{start}; too short to have a plateau.") };
    };
    let [smooth, noise] = ROUGHNESS;
    let (level, word) = match roughness {
        r if r <= smooth => (Level::Good, "the force is smooth"),
        r if r <= noise => (Level::Watch, "the force ripples"),
        _ => (Level::Watch, "the force is noise, only its mean means something"),
    };
    Finding { level, text: format!("{start}; {word} (roughness {}).", percent(roughness)) }
}

fn complementarity(residual: f64) -> Finding {
    if residual <= COMPLEMENTARITY {
        Finding { level: Level::Good, text: format!("Contact conditions hold to {residual:.1e}.") }
    } else {
        let text = format!("Contact conditions hold to {residual:.1e} only. Tighten solver.contact.tolerance.");
        Finding { level: Level::Bad, text }
    }
}

/// A number of the summary; one that is missing is no number, and no comparison with it is good.
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// Three digits, however small the share; the sign stays on the line of its number.
fn percent(share: f64) -> String {
    match 100.0 * share {
        p if p == 0.0 || p >= 100.0 => format!("{p:.0}\u{a0}%"),
        p if p >= 0.01 => format!("{p:.*}\u{a0}%", (2 - p.log10().floor() as i32).max(0) as usize),
        p => format!("{p:.1e}\u{a0}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sample() -> Value {
        json!({
            "energy": { "initial": 500.0, "final": 494.43, "scale": 500.0, "work_external": 0.0, "work_support": 0.0,
                        "work_damping": 0.0, "work_contact": -1.648, "work_scheme": -3.92, "work_curvature": 0.0 },
            "defect": { "step": 1e-15, "run": 2e-14 },
            "candidates": 1, "penetration": 0.015, "complementarity": 1e-16,
            "contacts": { "wall": { "closed": 0.5, "release": 1.172, "episodes": 1, "longest_peak": 314.0,
                                    "peak": 314.0, "peak_time": 0.502, "roughness": 0.2 } },
            "advice": ["take a smaller step"]
        })
    }

    #[test]
    fn a_run_in_words() {
        let found = findings(&sample(), 15.0);
        let texts: Vec<&str> = found.iter().map(|finding| finding.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "The energy ledger closes to round-off: 2.0e-14 of the energy scale over the run, 1.0e-15 in the worst \
                 step.",
                "Energy 500 at the start, 494.43 at the end (energy scale 500): 1.648 (0.330\u{a0}%) went to contact, 3.92 \
                 (0.784\u{a0}%) went to the scheme.",
                "Deepest penetration 0.015: 0.100\u{a0}% of the model's length.",
                "Contact wall closed once, from 0.5 to 1.172; peak force 314 at 0.502; the force ripples (roughness \
                 20.0\u{a0}%).",
                "Contact conditions hold to 1.0e-16.",
                "Advice: take a smaller step",
            ]
        );
        let levels: Vec<Level> = found.iter().map(|finding| finding.level).collect();
        use Level::{Good, Watch};
        assert_eq!(levels, [Good, Good, Good, Watch, Good, Watch]);
    }

    #[test]
    fn what_is_wrong_or_missing_is_not_good() {
        let level = |pointer: &str, value: Value, index: usize| {
            let mut summary = sample();
            *summary.pointer_mut(pointer).unwrap() = value;
            findings(&summary, 15.0)[index].level
        };
        assert_eq!(level("/defect/run", json!(1e-6), 0), Level::Bad);
        assert_eq!(level("/defect/run", Value::Null, 0), Level::Bad);
        assert_eq!(level("/energy/work_scheme", json!(0.1), 1), Level::Watch);
        assert_eq!(level("/energy/work_scheme", json!(-50.0), 1), Level::Watch);
        assert_eq!(level("/penetration", json!(1.0), 2), Level::Watch);
        assert_eq!(level("/contacts/wall/roughness", json!(0.7), 3), Level::Watch);
        assert_eq!(level("/complementarity", json!(1e-3), 4), Level::Bad);
    }
}
