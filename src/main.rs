//! The `carom` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        eprintln!("carom: a bug, not your fault: {info}\nPlease report it with the case file and the command.");
    }));
    ExitCode::from(carom::cli::main())
}
