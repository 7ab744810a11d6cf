//! The matrix form of a system, written out as states and laws.

use crate::case::data::Amount;
use crate::case::first_order::{FirstOrder, LinearSystem, MultiplierLaw, StateVariable, Within};

/// A system given by matrices, as one of states and laws.
pub fn expanded(system: &FirstOrder) -> FirstOrder {
    let Some(linear) = &system.linear else { return system.clone() };
    let LinearSystem { states, laws, start, rate, input, output, feedthrough, source, offset } = linear;
    let sum = |row: usize, x: &[Vec<Amount>], u: &[Vec<Amount>], more: &[Amount]| {
        let mut terms = Vec::new();
        for (matrix, names) in [(x, states), (u, laws)] {
            for (entry, name) in matrix.get(row).into_iter().flatten().zip(names) {
                match entry {
                    Amount::Number(0.0) => {}
                    Amount::Number(value) => terms.push(format!("({value:?})*{name}")),
                    Amount::Expression(text) => terms.push(format!("({text})*{name}")),
                }
            }
        }
        match more.get(row) {
            None | Some(Amount::Number(0.0)) => {}
            Some(Amount::Number(value)) => terms.push(format!("({value:?})")),
            Some(Amount::Expression(text)) => terms.push(format!("({text})")),
        }
        if terms.is_empty() { Amount::Number(0.0) } else { Amount::Expression(terms.join(" + ")) }
    };
    let state = |k: usize| StateVariable {
        name: states[k].clone(),
        start: start.get(k).copied().unwrap_or(0.0),
        rate: sum(k, rate, input, source),
        exact: None,
    };
    let law = |k: usize| MultiplierLaw {
        name: laws[k].clone(),
        within: Within::default(),
        dual: sum(k, output, feedthrough, offset),
    };
    FirstOrder {
        state: (0..states.len()).map(state).collect(),
        law: (0..laws.len()).map(law).collect(),
        linear: None,
        ..system.clone()
    }
}
