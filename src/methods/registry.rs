//! The registry [`METHODS`]: every way of making steps, with what is known of it before a run and what it is built from.
//!
//! Names and keys of methods stand in [`crate::schemes::SCHEMES`], beside the rows of the tableau, because case files are
//! checked by them. A row of the tableau needs no entry here: one method makes the steps of all rows.

use super::line::LineStepper;
use super::statics::Statics;
use super::tableau::{Settings, stepper};
use super::two_step::SCHATZMAN_PAOLI;
use super::{Doubling, Embedded, Method};
use crate::case::data::{Analysis, Case, ErrorEstimate};
use crate::schemes::{self, Parameters, Tableau};
use crate::system::System;
use crate::{Error, Result};

/// One way of making steps.
pub struct MethodKind {
    /// Name, as in [`crate::schemes::SCHEMES`]; `tableau` for all rows.
    pub name: &'static str,
    /// What is known of it before anything is built.
    pub facts: fn(&Parameters) -> Facts,
    /// Refuses a case that it does not fit; else advice on it.
    pub fits: fn(&Case, &System) -> Result<Vec<String>>,
    /// Builds it for the equations of a case.
    pub build: for<'a> fn(&Case, &'a System) -> Result<Box<dyn Method + 'a>>,
}

/// What is known of a method before a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// Power of h with which errors of smooth motions fall.
    pub order: u32,
    /// Largest h ω for which oscillations stay bounded; infinite without limit.
    pub limit: f64,
    /// Whether steps may be of unequal size.
    pub any_stride: bool,
}

/// Every method beside statics.
pub const METHODS: &[MethodKind] = &[TABLEAU, SCHATZMAN_PAOLI];

/// Steps of all rows of the tableau.
const TABLEAU: MethodKind = MethodKind {
    name: "tableau",
    facts: |_| Facts { order: 1, limit: f64::INFINITY, any_stride: true },
    fits: |_, _| Ok(Vec::new()),
    build: |case, system| {
        let row = schemes::find(&case.scheme.name).and_then(|kind| kind.tableau(&case.scheme.parameters));
        let row = row.ok_or_else(|| Error::Input(format!("`{}` is no row of the tableau", case.scheme.name)))?;
        // The storage function is one of steps of equal size.
        let row = if case.time.adaptive.is_some() { Tableau { storage: false, ..row } } else { row };
        match LineStepper::new(system, &row, &Settings::of(case))? {
            Some(line) => Ok(Box::new(line)),
            None => stepper(system, row, Settings::of(case)),
        }
    },
};

/// The method that makes the steps of a scheme, if there is such a scheme.
pub fn find(scheme: &str) -> Option<&'static MethodKind> {
    let kind = schemes::find(scheme)?;
    METHODS.iter().find(|method| method.name == if kind.row.is_some() { "tableau" } else { scheme })
}

/// What makes the steps of a case: its scheme, with estimates of errors if steps adapt to them, or the search for equilibrium.
pub fn method<'a>(case: &Case, system: &'a System) -> Result<Box<dyn Method + 'a>> {
    let name = &case.scheme.name;
    let kind = find(name).ok_or_else(|| Error::Input(format!("there is no scheme `{name}`")))?;
    if case.analysis == Analysis::Static {
        return Ok(Box::new(Statics::new(system, &Settings::of(case))));
    }
    let inner = (kind.build)(case, system)?;
    let Some(adaptive) = &case.time.adaptive else { return Ok(inner) };
    let row = schemes::find(name).and_then(|kind| kind.tableau(&case.scheme.parameters));
    Ok(match (adaptive.estimate, row) {
        (ErrorEstimate::Embedded, Some(row)) => Box::new(Embedded::new(inner, row, system, adaptive.norm)?),
        (_, row) => {
            let order = row.map_or((kind.facts)(&case.scheme.parameters).order, |row| row.order());
            Box::new(Doubling::new(inner, order, system, adaptive)?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What case files may name, something makes the steps of; and nothing is registered that they may not.
    #[test]
    fn every_scheme_has_its_method() {
        for scheme in schemes::SCHEMES {
            let method = find(scheme.name).unwrap_or_else(|| panic!("{} has no method", scheme.name));
            assert_eq!(method.name, if scheme.row.is_some() { "tableau" } else { scheme.name });
        }
        for method in METHODS.iter().filter(|method| method.name != "tableau") {
            assert!(schemes::find(method.name).is_some_and(|kind| kind.row.is_none()), "{}", method.name);
        }
    }
}
