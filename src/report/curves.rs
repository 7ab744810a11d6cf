//! Which columns go into which plot, decimated and encoded for the page.
//!
//! Knows the columns of the contract; must not know how a plot is drawn. The table goes by twice: once to see how many rows
//! there are and which columns have something to show, once to choose the rows that are drawn.

mod first_order;

use super::decimate::{BUCKETS, Sampler};
use super::history::Table;
use crate::Result;
use base64::prelude::{BASE64_STANDARD, Engine};
use serde::Serialize;

/// All plots of a page and the curves that they share.
#[derive(Default, Serialize)]
pub struct Plots {
    /// Time axes: base64 of 32-bit floats.
    times: Vec<String>,
    curves: Vec<Curve>,
    plots: Vec<Plot>,
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
    /// Whether it has nothing to show but round-off, or how the solver worked, and is folded away.
    folded: bool,
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

/// Work of the contacts without that of friction, and energy gained since the start: columns that the ledger shows, computed
/// from those of the table and behind them.
const COMPUTED: [&str; 2] = ["contact work along normals", "change of energy"];

/// Columns of a probe that have a plot, rates behind places.
const MOTION: [&str; 6] = ["x", "y", "theta", "vx", "vy", "vtheta"];

/// Part of what is beside it that is round-off.
const ROUND_OFF: f64 = 1e-12;

/// The columns that plots are made of.
struct Columns<'a> {
    table: &'a Table,
    names: Vec<String>,
    /// Energy, work of contacts and of friction, where the table has them.
    ledger: Option<[usize; 3]>,
    time: usize,
}

impl<'a> Columns<'a> {
    fn new(table: &'a Table) -> Columns<'a> {
        let [energy, contact, friction] = ["energy", "work_contact", "work_friction"].map(|name| table.column(name));
        let ledger = energy.zip(contact).zip(friction).map(|((energy, contact), friction)| [energy, contact, friction]);
        let mut names = table.names().to_vec();
        names.extend(ledger.iter().flat_map(|_| COMPUTED.map(String::from)));
        Columns { table, names, ledger, time: table.column("time").expect("a table has instants") }
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Name and part of the columns `<kind>.<name>.<part>`, in order.
    fn named(&self, kind: &str) -> Vec<(String, String)> {
        let columns = self.names.iter().filter_map(|column| column.strip_prefix(kind)?.strip_prefix('.'));
        columns.filter_map(|rest| rest.rsplit_once('.')).map(|(name, part)| (name.into(), part.into())).collect()
    }

    fn each_row(&self, visit: &mut dyn FnMut(&[f64])) -> Result<()> {
        let (mut all, mut start) = (Vec::new(), None);
        self.table.each_row(&mut |row| {
            all.clear();
            all.extend_from_slice(row);
            if let Some([energy, contact, friction]) = self.ledger {
                let start = *start.get_or_insert(row[energy]);
                all.extend([row[contact] - row[friction], row[energy] - start]);
            }
            visit(&all);
        })
    }
}

/// What a column has to show.
#[derive(Clone, Default)]
struct Facts {
    /// First value.
    base: Option<f64>,
    /// Whether all rows are the same as the first.
    first: f64,
    constant: bool,
    /// Whether any row is not zero.
    nonzero: bool,
    /// Least and largest value.
    low: f64,
    high: f64,
}

/// Facts of all columns, and the number of rows.
fn survey(columns: &Columns) -> Result<(usize, Vec<Facts>)> {
    let unseen = Facts { low: f64::INFINITY, high: f64::NEG_INFINITY, ..Facts::default() };
    let (mut rows, mut all) = (0, vec![unseen; columns.names.len()]);
    columns.each_row(&mut |row| {
        for (facts, &value) in all.iter_mut().zip(row) {
            if rows == 0 {
                (facts.first, facts.constant) = (value, true);
            }
            // One without a value is never the same.
            facts.constant &= value == facts.first;
            facts.nonzero |= value != 0.0;
            (facts.low, facts.high) = (facts.low.min(value), facts.high.max(value));
            if facts.base.is_none() && !value.is_nan() {
                facts.base = Some(value);
            }
        }
        rows += 1;
    })?;
    Ok((rows, all))
}

/// Curves that share their rows: columns and labels.
struct Group {
    columns: Vec<usize>,
    labels: Vec<String>,
    sampler: Sampler,
}

/// The plots with curves that are still to be filled.
struct Plan<'a> {
    columns: &'a Columns<'a>,
    facts: Vec<Facts>,
    rows: usize,
    groups: Vec<Group>,
    curves: usize,
    plots: Vec<Plot>,
}

impl Plots {
    /// Chooses, decimates and encodes the curves of a run.
    pub fn new(table: &Table) -> Result<Plots> {
        let columns = Columns::new(table);
        let (rows, facts) = survey(&columns)?;
        let mut plan = Plan { columns: &columns, facts, rows, groups: Vec::new(), curves: 0, plots: Vec::new() };
        plan.choose();
        let Plan { facts, mut groups, plots, .. } = plan;
        let (mut values, mut seen) = (Vec::new(), 0);
        columns.each_row(&mut |row| {
            seen += 1;
            for group in groups.iter_mut().filter(|_| seen <= rows) {
                values.clear();
                values.extend(group.columns.iter().map(|&column| row[column]));
                group.sampler.take(row[columns.time], &values);
            }
        })?;
        if seen != rows {
            return Err(table.changed());
        }
        let mut filled = Plots { plots, ..Plots::default() };
        let mut axes: Vec<&[usize]> = Vec::new();
        for Group { columns, labels, sampler } in &groups {
            let time = axes.iter().position(|known| *known == sampler.rows()).unwrap_or_else(|| {
                axes.push(sampler.rows());
                filled.times.push(floats(sampler.times()));
                axes.len() - 1
            });
            for (k, (&column, label)) in columns.iter().zip(labels).enumerate() {
                let base = facts[column].base.unwrap_or(0.0);
                let values = floats(sampler.column(k).map(|value| value - base));
                filled.curves.push(Curve { label: label.clone(), time, base, values });
            }
        }
        Ok(filled)
    }
}

impl Plan<'_> {
    fn choose(&mut self) {
        let energies = [("kinetic", "kinetic"), ("strain", "strain"), ("potential", "potential"), ("energy", "total")];
        self.add("energy", "Energy", &energies);
        let storage = self.singles(&[("storage", "storage function")]);
        if let Some(plot) = self.plots.iter_mut().find(|plot| plot.id == "energy") {
            plot.curves.extend(&storage);
            plot.off.extend(storage);
        }
        self.add_ledger();
        for (part, title) in [("force", "Contact force"), ("gap", "Gap")] {
            let own = self.columns.named("contact").into_iter().filter(|(_, column)| column == part);
            let own: Vec<_> = own.map(|(name, _)| (format!("contact.{name}.{part}"), name)).collect();
            let own: Vec<_> = own.iter().map(|(column, name)| (column.as_str(), name.as_str())).collect();
            self.add(part, title, &own);
        }
        self.add_family(
            "support",
            &[("fx", "Reaction along x"), ("fy", "Reaction along y"), ("moment", "Reaction moment")],
        );
        self.add_family(
            "section",
            &[
                ("N", "Axial force of the sections"),
                ("V", "Shear force of the sections"),
                ("M", "Bending moment of the sections"),
                ("stress", "Extreme stress of the sections"),
            ],
        );
        self.add_probes();
        self.add_first_order();
        let counts = [("newton", "Newton passes"), ("sweeps", "contact sweeps"), ("active", "active contacts")];
        self.add("solver", "Work of the solver per step", &counts);
        self.plots.iter_mut().filter(|plot| plot.id == "solver").for_each(|plot| plot.counts = true);
        self.add("defect", "Energy defect", &[("defect", "defect")]);
        self.add("complementarity", "Complementarity residual", &[("complementarity", "residual")]);
        let inner = ["solver", "defect", "complementarity"];
        self.plots.iter_mut().filter(|plot| inner.contains(&plot.id.as_str())).for_each(|plot| plot.folded = true);
    }

    /// One plot per column of supports or sections, with a curve for each of them; those with round-off alone, beside the
    /// others of the same dimension, are folded away.
    fn add_family(&mut self, kind: &str, parts: &[(&str, &str)]) {
        let column = |name: &str, part: &str| format!("{kind}.{name}.{part}");
        let named = self.columns.named(kind);
        let largest = |part: &str| {
            let own = named.iter().filter(|(_, own)| own == part);
            let found = own.filter_map(|(name, part)| self.columns.find(&column(name, part)));
            found.map(|k| self.facts[k].high.abs().max(self.facts[k].low.abs())).fold(0.0, f64::max)
        };
        let forces = ["fx", "fy", "N", "V"].map(largest).into_iter().fold(0.0, f64::max);
        let noisy: Vec<bool> = parts
            .iter()
            .map(|(part, _)| {
                let beside = if ["fx", "fy", "N", "V"].contains(part) { forces } else { 0.0 };
                largest(part) <= ROUND_OFF * beside
            })
            .collect();
        for ((part, title), noisy) in parts.iter().zip(noisy) {
            let own: Vec<_> = named.iter().filter(|(_, own)| own == part).collect();
            let own: Vec<_> = own.iter().map(|(name, part)| (column(name, part), name.as_str())).collect();
            let own: Vec<_> = own.iter().map(|(column, name)| (column.as_str(), *name)).collect();
            self.add(&format!("{kind}-{part}"), title, &own);
            let id = format!("{kind}-{part}");
            self.plots.iter_mut().filter(|plot| plot.id == id).for_each(|plot| plot.folded = noisy);
        }
    }

    /// Works on top of each other, with the change of energy that they must add up to.
    fn add_ledger(&mut self) {
        if self.columns.ledger.is_none() {
            return;
        }
        let works = [
            ("work_external", "loads"),
            ("work_support", "supports"),
            ("work_damping", "damping"),
            (COMPUTED[0], "contact"),
            ("work_friction", "friction"),
            ("work_scheme", "scheme"),
            ("work_curvature", "curvature"),
        ];
        let mut shown: Vec<(usize, String)> = works
            .iter()
            .filter_map(|(name, label)| Some((self.columns.find(name)?, label.to_string())))
            .filter(|&(column, _)| self.facts[column].nonzero)
            .collect();
        shown.extend(self.columns.find(COMPUTED[1]).map(|column| (column, COMPUTED[1].to_string())));
        // Areas can be added up only where all have a value: rows are chosen for all of them together.
        let curves = self.together(shown);
        self.plot("ledger", "Where the energy came from and went", Kind::Stack, curves);
    }

    /// One plot per component with a curve for each probe, and the phase plot.
    fn add_probes(&mut self) {
        let span = |part: &str| {
            let own = self.columns.named("probe").into_iter().filter(|(_, own)| own == part);
            let found = own.filter_map(|(name, part)| self.columns.find(&format!("probe.{name}.{part}")));
            found.map(|k| self.facts[k].high - self.facts[k].low).fold(0.0, f64::max)
        };
        let spans = ["x", "y", "theta"].map(span);
        let (mut pairs, mut labels, mut parts) = (Vec::new(), Vec::new(), vec![Vec::new(); MOTION.len()]);
        for (name, part) in self.columns.named("probe") {
            let column = |part: &str| self.columns.find(&format!("probe.{name}.{part}"));
            let rate = format!("v{part}");
            let (Some(place), Some(velocity)) = (column(&part), column(&rate)) else { continue };
            let pair = self.together(vec![(place, name.clone()), (velocity, name.clone())]);
            for (part, &curve) in [&part, &rate].into_iter().zip(&pair) {
                if let Some(at) = MOTION.iter().position(|known| known == part) {
                    parts[at].push(curve);
                }
            }
            if !noise(&spans, &part) {
                pairs.extend(pair);
                labels.push(format!("{name}.{part}"));
            }
        }
        for (part, curves) in MOTION.iter().zip(parts) {
            let noisy = noise(&spans, part);
            let what = match *part {
                "theta" => "Rotation",
                "vtheta" => "Angular velocity",
                part if part.starts_with('v') => "Velocity",
                _ => "Position",
            };
            self.plot(&format!("probe-{part}"), &format!("{what} of the probes: {part}"), Kind::Lines, curves);
            let id = format!("probe-{part}");
            self.plots.iter_mut().filter(|plot| plot.id == id).for_each(|plot| plot.folded = noisy);
        }
        self.plot("phase", "Phase plot: velocity over position", Kind::Phase, pairs);
        if let Some(phase) = self.plots.last_mut().filter(|plot| plot.kind == Kind::Phase) {
            phase.labels = labels;
        }
    }

    /// A plot of columns under the names that the reader sees.
    fn add(&mut self, id: &str, title: &str, columns: &[(&str, &str)]) {
        let curves = self.singles(columns);
        self.plot(id, title, Kind::Lines, curves);
    }

    /// Curves with rows of their own, of the columns that have any value; one that never changes needs its ends only.
    fn singles(&mut self, columns: &[(&str, &str)]) -> Vec<usize> {
        let mut curves = Vec::new();
        for (name, label) in columns {
            let Some(column) = self.columns.find(name) else { continue };
            let facts = &self.facts[column];
            if facts.base.is_some() {
                let constant = facts.constant;
                let sampler = if constant { Sampler::ends(self.rows) } else { Sampler::new(1, self.rows, BUCKETS) };
                curves.extend(self.group(vec![(column, label.to_string())], sampler));
            }
        }
        curves
    }

    /// Curves that share their rows.
    fn together(&mut self, columns: Vec<(usize, String)>) -> Vec<usize> {
        let sampler = Sampler::new(columns.len(), self.rows, BUCKETS / columns.len());
        self.group(columns, sampler)
    }

    fn group(&mut self, columns: Vec<(usize, String)>, sampler: Sampler) -> Vec<usize> {
        let first = self.curves;
        self.curves += columns.len();
        let (columns, labels) = columns.into_iter().unzip();
        self.groups.push(Group { columns, labels, sampler });
        (first..self.curves).collect()
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
                folded: false,
            });
        }
    }
}

/// Whether what a component of all probes spans is round-off: rotations are compared with one, lengths with those of the other
/// direction, and a rate goes with its place.
fn noise(spans: &[f64; 3], part: &str) -> bool {
    match part {
        "theta" | "vtheta" => spans[2] <= ROUND_OFF,
        "x" | "vx" => spans[0] <= ROUND_OFF * spans[1],
        _ => spans[1] <= ROUND_OFF * spans[0],
    }
}

fn floats(values: impl Iterator<Item = f64>) -> String {
    BASE64_STANDARD.encode(values.flat_map(|value| (value as f32).to_le_bytes()).collect::<Vec<u8>>())
}
