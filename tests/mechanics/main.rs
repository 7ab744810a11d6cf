//! The mechanics, against closed forms, independent implementations and mathematics: one module per subject.

#[path = "../common/mod.rs"]
mod common;

mod adaptive;
mod analytic;
mod beams;
mod cases;
mod contact;
mod convergence;
mod elements;
mod expressions;
mod golden;
mod modes;
mod redistribution;
mod statics;
mod supports;
mod two_step;
