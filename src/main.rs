//! The `carom` program.

use carom::cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(cli::owning_up(cli::main))
}
