//! Sample problems shared by tests: each returns what the library needs, with its exact answer where there is one.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod dense;
pub mod history;
pub mod runs;
