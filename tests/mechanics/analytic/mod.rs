//! Real runs against exact answers.

mod bars;
mod naive;
mod points;
mod units;
