//! The program as its users meet it: the real binary, each test in a directory of its own.

#[path = "../common/mod.rs"]
mod common;

mod commands;
mod documentation;
mod exit_codes;
mod files;
mod regression;
mod report;
mod stopping;
mod studies;
mod sweep;
mod typos;
mod verify;

use common::cases::BAR;
use common::program::{Answer, Place, tree};

impl Place {
    /// A directory with the short bar in `bar.toml`.
    fn with_bar() -> Place {
        Place::empty().with("bar.toml", BAR)
    }
}
