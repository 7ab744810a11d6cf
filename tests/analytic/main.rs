//! Real runs against exact answers.

#[path = "../common/mod.rs"]
mod common;

mod bars;
mod naive;
mod points;
mod units;
