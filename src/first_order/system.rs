//! The equations of a first-order system, (F1)–(F2), from the texts of its case: values and exact derivatives.
//!
//! It knows expressions and bounds; it must not know steps.

use super::constraints::{Row, rows};
use crate::case::data::{Amount, Case};
use crate::case::first_order::FirstOrder;
use crate::expression::{Expression, Vocabulary};
use crate::{Error, Result};

/// States, laws, constraints and storage of a case.
pub struct System {
    /// Names of the states.
    pub states: Vec<String>,
    /// Names of the laws.
    pub laws: Vec<String>,
    /// Names of the constraints.
    pub constraints: Vec<String>,
    /// Rows of all constraints.
    pub rows: Vec<Row>,
    /// Lower bounds of the multipliers: those of laws, then zero for each row of the constraints.
    pub low: Vec<f64>,
    /// Upper bounds.
    pub high: Vec<f64>,
    /// States at t = 0.
    pub start: Vec<f64>,
    /// Exact solutions, where the case states them.
    pub exact: Vec<Option<Expression>>,
    /// Whether all slopes are constant, so that one matrix serves all steps of one size.
    pub steady: bool,
    /// Whether B depends on the states.
    coupled: bool,
    rates: Vec<Expression>,
    duals: Vec<Expression>,
    storage: Option<Expression>,
    /// What makes data jump in time.
    switches: Vec<Expression>,
}

/// All that is known of the system at one instant.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Point {
    /// Time.
    pub time: f64,
    /// States.
    pub x: Vec<f64>,
    /// Multipliers of the laws, then impulses of the constraint rows in the step that ended here.
    pub z: Vec<f64>,
    /// Duals of the laws, then gaps of the constraint rows.
    pub w: Vec<f64>,
    /// f(t, x): rates without multipliers.
    pub f: Vec<f64>,
    /// B u.
    pub bu: Vec<f64>,
    /// f(t, 0): what drives the system from outside.
    pub source: Vec<f64>,
    /// Stored energy; zero without `[storage]`.
    pub stored: f64,
    /// Its gradient.
    pub gradient: Vec<f64>,
}

/// Slopes of the equations at a point, by rows: f_x, (B u)_x, B, and of laws and constraint rows C and D.
#[derive(Default)]
pub struct Slopes {
    /// ∂f/∂x.
    pub f_x: Vec<f64>,
    /// ∂(B u)/∂x.
    pub bu_x: Vec<f64>,
    /// B.
    pub b: Vec<f64>,
    /// ∂w/∂x of laws and constraint rows.
    pub c: Vec<f64>,
    /// ∂w/∂u of the laws.
    pub d: Vec<f64>,
    gradient: Vec<f64>,
}

impl System {
    /// The system of a case.
    pub fn new(case: &Case) -> Result<System> {
        let constants: Vec<(String, f64)> = case.constants.iter().map(|(name, value)| (name.clone(), *value)).collect();
        let own = super::linear::expanded(&case.first_order);
        let FirstOrder { state, law, constraint, storage, .. } = &own;
        let states: Vec<String> = state.iter().map(|state| state.name.clone()).collect();
        let laws: Vec<String> = law.iter().map(|law| law.name.clone()).collect();
        let (n, m) = (states.len(), laws.len());
        let all: Vec<&str> = std::iter::once("t").chain(states.iter().chain(&laws).map(String::as_str)).collect();
        let parse = |amount: &Amount, names: &[&str], path: String| {
            let text = match amount {
                Amount::Number(value) => format!("{value:?}"),
                Amount::Expression(text) => text.clone(),
            };
            let names = Vocabulary { variables: names, constants: &constants, refused: &[] };
            Expression::parse(&text, &names).map_err(|fault| Error::from(fault).at(&path))
        };
        let of_all = |amount: &Amount, path| parse(amount, &all, path);
        let rates: Vec<Expression> =
            state.iter().map(|s| of_all(&s.rate, format!("state.{}.rate", s.name))).collect::<Result<_>>()?;
        let duals: Vec<Expression> =
            law.iter().map(|l| of_all(&l.dual, format!("law.{}.dual", l.name))).collect::<Result<_>>()?;
        let exact = |amount: &Option<Amount>| amount.as_ref().map(|a| parse(a, &["t"], String::new())).transpose();
        let exact = state.iter().map(|state| exact(&state.exact)).collect::<Result<_>>()?;
        let rows = rows(constraint, &states, &|amount, path| parse(amount, &all[..1 + n], path), &|amount, path| {
            parse(amount, &["t"], path)
        })?;
        let names: Vec<&str> = states.iter().map(String::as_str).collect();
        let storage = storage.as_ref().map(|s| parse(&s.value, &names, "storage.value".into())).transpose()?;
        let everything: Vec<usize> = (1..=n + m).collect();
        let steady =
            rates.iter().chain(&duals).all(|e| e.has_constant_slopes(&everything)) && rows.iter().all(Row::steady);
        let linear_input =
            |rate: &Expression| !rate.uses_any(1 + n..1 + n + m) || rate.check_affine(&everything).is_ok();
        let coupled = !rates.iter().all(linear_input);
        let switches = rates.iter().chain(&duals).flat_map(|e| e.switches(0)).collect::<Vec<_>>();
        let switches = switches.into_iter().chain(rows.iter().flat_map(Row::switches)).collect();
        let bound = |k: usize| law.iter().map(move |law| law.within.0[k]);
        Ok(System {
            low: bound(0).chain(rows.iter().map(|_| 0.0)).collect(),
            high: bound(1).chain(rows.iter().map(|_| f64::INFINITY)).collect(),
            start: state.iter().map(|state| state.start).collect(),
            constraints: constraint.iter().map(|constraint| constraint.name.clone()).collect(),
            states,
            laws,
            rows,
            exact,
            steady,
            coupled,
            rates,
            duals,
            storage,
            switches,
        })
    }

    /// Number of states.
    pub fn size(&self) -> usize {
        self.states.len()
    }

    /// Number of laws and constraint rows.
    pub fn multipliers(&self) -> usize {
        self.low.len()
    }

    /// Whether the energy ledger is kept.
    pub fn stores(&self) -> bool {
        self.storage.is_some()
    }

    /// A point at t = 0 with multipliers as near to zero as their bounds allow; nothing is evaluated.
    pub fn point(&self) -> Point {
        let (n, all) = (self.size(), self.multipliers());
        Point {
            time: 0.0,
            x: self.start.clone(),
            z: self.low.iter().zip(&self.high).map(|(&low, &high)| 0.0f64.clamp(low, high)).collect(),
            w: vec![0.0; all],
            f: vec![0.0; n],
            bu: vec![0.0; n],
            source: vec![0.0; n],
            stored: 0.0,
            gradient: vec![0.0; n],
        }
    }

    /// Evaluates rates, duals and gaps where a point has time, states and multipliers. `data` is the instant at which
    /// data are taken, which differs from the time just before a jump.
    pub fn evaluate(&self, point: &mut Point, data: f64, values: &mut Vec<f64>) {
        let (n, m) = (self.size(), self.laws.len());
        fill(values, data, &point.x, &point.z[..m]);
        for (w, dual) in point.w.iter_mut().zip(&self.duals) {
            *w = dual.value(values);
        }
        for (bu, rate) in point.bu.iter_mut().zip(&self.rates) {
            *bu = rate.value(values);
        }
        values[1 + n..].fill(0.0);
        for i in 0..n {
            // Rates are linear in the multipliers: what they add is B u.
            point.f[i] = if m > 0 { self.rates[i].value(values) } else { point.bu[i] };
            point.bu[i] -= point.f[i];
        }
        for (row, gap) in self.rows.iter().zip(&mut point.w[m..]) {
            *gap = row.gap(data, &point.x);
        }
    }

    /// Completes a point: what drives it from outside, and the stored energy with its gradient.
    pub fn complete(&self, point: &mut Point, data: f64, values: &mut Vec<f64>) {
        let Some(storage) = &self.storage else { return };
        values.clear();
        values.resize(1 + self.size() + self.laws.len(), 0.0);
        values[0] = data;
        for (source, rate) in point.source.iter_mut().zip(&self.rates) {
            let value = rate.value(values);
            // Rates that have no value without states have nothing from outside.
            *source = if value.is_finite() { value } else { 0.0 };
        }
        point.stored = storage.gradient(&point.x, &mut point.gradient);
    }

    /// Gradient of the stored energy at some states.
    pub fn gradient_at(&self, x: &[f64], gradient: &mut [f64]) {
        if let Some(storage) = &self.storage {
            storage.gradient(x, gradient);
        }
    }

    /// Slopes where a point has time, states and multipliers.
    pub fn slopes(&self, point: &Point, data: f64, slopes: &mut Slopes, values: &mut Vec<f64>) {
        let (n, m, all) = (self.size(), self.laws.len(), self.multipliers());
        let Slopes { f_x, bu_x, b, c, d, gradient } = slopes;
        for (vector, size) in
            [(&mut *f_x, n * n), (bu_x, n * n), (b, n * m), (c, all * n), (d, m * m), (gradient, 1 + n + m)]
        {
            vector.resize(size, 0.0);
        }
        fill(values, data, &point.x, &point.z[..m]);
        for i in 0..n {
            self.rates[i].gradient(values, gradient);
            b[i * m..][..m].copy_from_slice(&gradient[1 + n..]);
            f_x[i * n..][..n].copy_from_slice(&gradient[1..=n]);
        }
        for i in 0..m {
            self.duals[i].gradient(values, gradient);
            c[i * n..][..n].copy_from_slice(&gradient[1..=n]);
            d[i * m..][..m].copy_from_slice(&gradient[1 + n..]);
        }
        for (row, c) in self.rows.iter().zip(c[m * n..].chunks_mut(n.max(1))) {
            row.gradient(data, &point.x, c);
        }
        bu_x.fill(0.0);
        if self.coupled {
            fill(values, data, &point.x, &point.z[..m]);
            values[1 + n..].fill(0.0);
            for i in 0..n {
                self.rates[i].gradient(values, gradient);
                for j in 0..n {
                    bu_x[i * n + j] = f_x[i * n + j] - gradient[1 + j];
                    f_x[i * n + j] = gradient[1 + j];
                }
            }
        }
    }

    /// Whether data jump between two instants, as far as the texts tell.
    pub fn jumps_between(&self, from: f64, to: f64) -> bool {
        self.switches.iter().any(|switch| {
            let at = |t: f64| switch.value_at_time(t);
            at(from) != at(to)
        })
    }

    /// Refuses a point at which something has no finite value; the error shows the expression.
    pub fn demand_finite(&self, point: &Point, data: f64) -> Result<()> {
        let finite = |vector: &[f64]| vector.iter().all(|x| x.is_finite());
        if finite(&point.f)
            && finite(&point.bu)
            && finite(&point.w)
            && point.stored.is_finite()
            && finite(&point.gradient)
        {
            return Ok(());
        }
        let mut values = Vec::new();
        let m = self.laws.len();
        fill(&mut values, data, &point.x, &point.z[..m]);
        for (kind, names, all) in [("state", &self.states, &self.rates), ("law", &self.laws, &self.duals)] {
            for (name, expression) in names.iter().zip(all) {
                let part = if kind == "state" { "rate" } else { "dual" };
                expression
                    .judge(&values, expression.value(&values))
                    .map_err(|e| e.at(&format!("{kind}.{name}.{part}")))?;
            }
        }
        if let Some(storage) = &self.storage {
            let slope = point.gradient.iter().sum::<f64>();
            storage.judge(&point.x, point.stored + slope).map_err(|error| error.at("storage.value"))?;
        }
        if let Some((row, gap)) = self.rows.iter().zip(&point.w[m..]).find(|(_, gap)| !gap.is_finite()) {
            let name = &self.constraints[row.owner];
            let text = format!("constraint `{name}` is {gap} at t = {data:?}");
            return Err(Error::Value { path: format!("constraint.{name}"), text });
        }
        Err(Error::Input(format!("a rate is not a number at t = {data:?}")))
    }

    /// What a multiplier is called in messages.
    pub fn name_of(&self, multiplier: usize) -> String {
        match self.laws.get(multiplier) {
            Some(law) => format!("law `{law}`"),
            None => format!("constraint `{}`", self.constraints[self.rows[multiplier - self.laws.len()].owner]),
        }
    }
}

fn fill(values: &mut Vec<f64>, t: f64, x: &[f64], u: &[f64]) {
    values.clear();
    values.push(t);
    values.extend_from_slice(x);
    values.extend_from_slice(u);
}
