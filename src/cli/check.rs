//! `carom check`.

use super::{CaseArgs, Manners, output};
use crate::case::Loaded;
use crate::case::data::{Analysis, HistoryFormat};
use crate::growth::Theorem;
use crate::memory::{Size, Sizes};
use crate::run::{Prepared, prepare};
use crate::sinks::columns::Columns;
use crate::{Error, Result, advice, first_order, run, summary};
use clap::Args;
use serde_json::json;

#[derive(Args)]
pub struct Check {
    #[command(flatten)]
    case: CaseArgs,
    /// Print the figures as JSON, and errors too: `{ "errors": [{ "file", "line", "column", … }] }`.
    #[arg(long)]
    json: bool,
}

impl Check {
    pub fn execute(&self, manners: &Manners) -> Result<()> {
        if !self.json {
            return self.examine(&self.case.load(manners)?);
        }
        let errors = match self.case.inspect(&[]) {
            Ok(Ok(loaded)) => match self.examine(&loaded) {
                // Found beyond the text of the case: in a mesh, or in the model as a whole.
                Err(error @ Error::Input(_)) => {
                    (json!([{ "file": self.case.case, "message": error.to_string() }]), error)
                }
                other => return other,
            },
            Ok(Err(failure)) => (failure.json(), Error::Input(failure.render(manners.color))),
            Err(error) => (json!([{ "file": self.case.case, "message": error.to_string() }]), error),
        };
        output::print(&format!("{:#}\n", json!({ "errors": errors.0 })))?;
        Err(errors.1)
    }

    fn examine(&self, loaded: &Loaded) -> Result<()> {
        if loaded.case.analysis == Analysis::FirstOrder {
            let system = first_order::files::prepare(loaded)?;
            let mut figures = first_order::review::figures(loaded, &system)?;
            let sentences = advice::placed(&first_order::review::advise(&loaded.case, &system), loaded);
            figures["advice"] = json!(sentences);
            return self.show(&figures, &sentences);
        }
        let Prepared { model, system, mut advice } = prepare(loaded)?;
        let case = &loaded.case;
        advice.extend(advice::suggest(case, &model, &system));
        let sentences = advice::placed(&advice, loaded);
        // Gone before the frequencies need memory.
        let factorization = run::method(case, &system)?.factorization();
        let highest = system
            .highest_frequency()
            .map_err(|s| Error::Solver(format!("the mass matrix is singular near {}", system.describe(s.row))))?;
        let period = (highest > 0.0).then(|| std::f64::consts::TAU / highest);
        let steps = run::grid(case).count();
        let elements: usize = system.elements.iter().map(|e| e.block().len()).sum();
        let columns = Columns::new(&model, &system).names().len() as u64;
        let digits = if case.output.history.format == HistoryFormat::Csv { 24 } else { 8 };
        let history = (steps / case.output.history.every as u64 + 1) * columns * digits;
        let frames = case.output.vtk.get().map_or(0, |vtk| {
            vtk.every.map_or(vtk.frames.unwrap_or(200) as u64, |every| steps / every as u64).min(steps) + 1
        });
        let frame_bytes = frames * (model.places.len() as u64 * 96 + elements as u64 * 60 + 2500);
        let sizes = Sizes::of_system(loaded, &model, &system)?;
        let figures = json!({
            "title": case.title,
            "nodes": model.places.len(),
            "elements": elements,
            "unknowns": system.nodes.free,
            "contact_candidates": system.contacts.len(),
            "linear": system.linear,
            "cannot_grow": Theorem::of(case, &system).map(|theorem| theorem.quantity.name()),
            "factorization": factorization,
            "steps": steps,
            "courant": advice::courant(case, &model),
            "shortest_period": period,
            "steps_per_shortest_period": period.map(|p| p / case.time.step),
            "memory_bytes": sizes.bytes(),
            "history_bytes": history,
            "frames_bytes": frame_bytes,
            "advice": sentences,
        });
        self.show(&figures, &sentences)
    }

    fn show(&self, figures: &serde_json::Value, sentences: &[String]) -> Result<()> {
        if self.json {
            return output::print(&format!("{figures:#}\n"));
        }
        let mut text = format!("{}: no errors\n", self.case.case.display());
        for (key, value) in figures.as_object().into_iter().flatten() {
            if key == "advice" || key == "title" || value.is_null() {
                continue;
            }
            let value = match value {
                serde_json::Value::String(words) => words.clone(),
                number if key.ends_with("bytes") => Size(number.as_u64().unwrap_or(0)).to_string(),
                serde_json::Value::Number(number) if number.is_f64() => {
                    summary::figure(number.as_f64().unwrap_or(f64::NAN))
                }
                other => other.to_string(),
            };
            text += &format!("  {:<28}{value}\n", key.trim_end_matches("_bytes").replace('_', " "));
        }
        for sentence in sentences {
            text += &format!("advice: {sentence}\n");
        }
        output::print(&text)
    }
}
