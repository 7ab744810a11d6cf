//! Which columns go into which plot, decimated and encoded for the page.
//!
//! Knows the columns of the contract; must not know how a plot is drawn.

use super::decimate::{BUCKETS, rows};
use super::history::Table;
use crate::case::expect::PROBE_COLUMNS;
use base64::prelude::{BASE64_STANDARD, Engine};
use serde::Serialize;

/// All plots of a page and the curves that they share.
#[derive(Default, Serialize)]
pub struct Plots {
    /// Time axes: base64 of 32-bit floats.
    times: Vec<String>,
    curves: Vec<Curve>,
    plots: Vec<Plot>,
    /// Rows of every time axis, for finding the same again.
    #[serde(skip)]
    rows: Vec<Vec<usize>>,
}

/// One curve over time.
#[derive(Serialize)]
struct Curve {
    label: String,
    /// Index of its time axis.
    time: usize,
    /// Subtracted from the values before they are rounded to 32 bits, so that small changes of a large value stay.
    base: f64,
    /// base64 of 32-bit floats.
    values: String,
}

/// One plot.
#[derive(Serialize)]
struct Plot {
    id: String,
    title: String,
    kind: Kind,
    /// Indices of the curves; of a phase plot pairs of position and velocity.
    curves: Vec<usize>,
    /// Curves that are off at first.
    off: Vec<usize>,
    /// Names of the pairs of a phase plot.
    labels: Vec<String>,
    /// Whether the values are whole numbers.
    counts: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// Values over time.
    Lines,
    /// Areas on top of each other, and the last curve as a line.
    Stack,
    /// Velocity over position.
    Phase,
}

/// A column under the name that the reader sees.
struct Source<'a> {
    label: String,
    values: std::borrow::Cow<'a, [f64]>,
}

impl Plots {
    /// Chooses, decimates and encodes the curves of a run.
    pub fn new(table: &Table) -> Plots {
        let mut plots = Plots::default();
        let column = |name: &str, label: &str| {
            let values = table.column(name).filter(|values| values.iter().any(|value| !value.is_nan()))?;
            Some(Source { label: label.to_string(), values: values.into() })
        };
        let time = table.column("time").unwrap_or(&[]);
        let energies = [("kinetic", "kinetic"), ("strain", "strain"), ("potential", "potential"), ("energy", "total")];
        let energies: Vec<Source> = energies.iter().filter_map(|(name, label)| column(name, label)).collect();
        plots.add(time, ("energy", "Energy"), energies);
        if let Some(storage) = column("storage", "storage function") {
            plots.add_hidden("energy", time, storage);
        }
        plots.add_ledger(time, table);
        for (part, title) in [("force", "Contact force"), ("gap", "Gap")] {
            let sources = named(table, "contact").into_iter().filter(|(_, column)| *column == part);
            let sources = sources.filter_map(|(name, _)| column(&format!("contact.{name}.{part}"), name)).collect();
            plots.add(time, (part, title), sources);
        }
        plots.add_probes(time, table);
        let counts = [("newton", "Newton passes"), ("sweeps", "contact sweeps"), ("active", "active contacts")];
        let counts = counts.iter().filter_map(|(name, label)| column(name, label)).collect();
        plots.add(time, ("solver", "Work of the solver per step"), counts);
        plots.plots.iter_mut().filter(|plot| plot.id == "solver").for_each(|plot| plot.counts = true);
        plots.add(time, ("defect", "Energy defect"), column("defect", "defect").into_iter().collect());
        let residual = column("complementarity", "residual").into_iter().collect();
        plots.add(time, ("complementarity", "Complementarity residual"), residual);
        plots
    }

    /// Works on top of each other, with the change of energy that they must add up to.
    fn add_ledger(&mut self, time: &[f64], table: &Table) {
        let (Some(energy), Some(contact), Some(friction)) =
            (table.column("energy"), table.column("work_contact"), table.column("work_friction"))
        else {
            return;
        };
        let source = |label: &str, values: Vec<f64>| Source { label: label.to_string(), values: values.into() };
        let work = |name: &str| table.column(name).map(<[f64]>::to_vec).unwrap_or_default();
        let normal = contact.iter().zip(friction).map(|(all, tangential)| all - tangential).collect();
        let mut sources = vec![
            source("loads", work("work_external")),
            source("supports", work("work_support")),
            source("damping", work("work_damping")),
            source("contact", normal),
            source("friction", friction.to_vec()),
            source("scheme", work("work_scheme")),
            source("curvature", work("work_curvature")),
        ];
        sources.retain(|source| source.values.iter().any(|&value| value != 0.0));
        sources.push(source("change of energy", energy.iter().map(|value| value - energy[0]).collect()));
        // Areas can be added up only where all have a value: rows are chosen for all of them together.
        let columns: Vec<&[f64]> = sources.iter().map(|source| &*source.values).collect();
        let rows = rows(&columns, BUCKETS / columns.len());
        let curves = sources.iter().map(|source| self.curve(time, source, rows.clone())).collect();
        self.plot("ledger", "Where the energy came from and went", Kind::Stack, curves);
    }

    /// One plot per component with a curve for each probe, and the phase plot.
    fn add_probes(&mut self, time: &[f64], table: &Table) {
        let probes = named(table, "probe");
        let (mut pairs, mut labels, mut parts) = (Vec::new(), Vec::new(), vec![Vec::new(); PROBE_COLUMNS.len()]);
        for (name, part) in &probes {
            let values = |part: &str| table.column(&format!("probe.{name}.{part}"));
            let (Some(place), Some(velocity)) = (values(part), values(&format!("v{part}"))) else { continue };
            let rows = rows(&[place, velocity], BUCKETS / 2);
            let source = |values| Source { label: name.to_string(), values: std::borrow::Cow::Borrowed(values) };
            let pair = [place, velocity].map(|values| self.curve(time, &source(values), rows.clone()));
            for (part, curve) in [part.to_string(), format!("v{part}")].iter().zip(pair) {
                if let Some(at) = PROBE_COLUMNS.iter().position(|known| known == part) {
                    parts[at].push(curve);
                }
            }
            pairs.extend(pair);
            labels.push(format!("{name}.{part}"));
        }
        for (part, curves) in PROBE_COLUMNS.iter().zip(parts) {
            let what = if part.starts_with('v') { "Velocity" } else { "Position" };
            self.plot(&format!("probe-{part}"), &format!("{what} of the probes: {part}"), Kind::Lines, curves);
        }
        self.plot("phase", "Phase plot: velocity over position", Kind::Phase, pairs);
        if let Some(phase) = self.plots.last_mut().filter(|plot| plot.kind == Kind::Phase) {
            phase.labels = labels;
        }
    }

    fn add(&mut self, time: &[f64], (id, title): (&str, &str), sources: Vec<Source>) {
        let curves = sources.iter().map(|source| self.single(time, source)).collect();
        self.plot(id, title, Kind::Lines, curves);
    }

    fn plot(&mut self, id: &str, title: &str, kind: Kind, curves: Vec<usize>) {
        if !curves.is_empty() {
            let (off, labels) = (Vec::new(), Vec::new());
            self.plots.push(Plot {
                id: id.to_string(),
                title: title.to_string(),
                kind,
                curves,
                off,
                labels,
                counts: false,
            });
        }
    }

    fn add_hidden(&mut self, id: &str, time: &[f64], source: Source) {
        let curve = self.single(time, &source);
        if let Some(plot) = self.plots.iter_mut().find(|plot| plot.id == id) {
            plot.curves.push(curve);
            plot.off.push(curve);
        }
    }

    /// A curve of its own; one that never changes needs its ends only.
    fn single(&mut self, time: &[f64], source: &Source) -> usize {
        let values = &*source.values;
        let constant = values.iter().all(|value| *value == values[0]);
        let rows = if constant { vec![0, values.len() - 1] } else { rows(&[values], BUCKETS) };
        self.curve(time, source, rows)
    }

    fn curve(&mut self, time: &[f64], source: &Source, rows: Vec<usize>) -> usize {
        let base = source.values.iter().copied().find(|value| !value.is_nan()).unwrap_or(0.0);
        let values = floats(rows.iter().map(|&row| source.values[row] - base));
        let known = self.rows.iter().position(|earlier| *earlier == rows);
        let time = known.unwrap_or_else(|| {
            self.times.push(floats(rows.iter().map(|&row| time[row])));
            self.rows.push(rows);
            self.rows.len() - 1
        });
        self.curves.push(Curve { label: source.label.clone(), time, base, values });
        self.curves.len() - 1
    }
}

/// Name and part of the columns `<kind>.<name>.<part>`, in order.
fn named<'a>(table: &'a Table, kind: &str) -> Vec<(&'a str, &'a str)> {
    let columns = table.names().iter().filter_map(|column| column.strip_prefix(kind)?.strip_prefix('.'));
    columns.filter_map(|rest| rest.rsplit_once('.')).collect()
}

fn floats(values: impl Iterator<Item = f64>) -> String {
    BASE64_STANDARD.encode(values.flat_map(|value| (value as f32).to_le_bytes()).collect::<Vec<u8>>())
}
