//! `carom completions`.

use super::{Cli, output};
use crate::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  carom completions bash > ~/.local/share/bash-completion/completions/carom\n  carom \
                        completions zsh > ~/.zfunc/_carom"
)]
pub struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    pub fn execute(&self) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "carom", &mut script);
        output::print(&String::from_utf8_lossy(&script))
    }
}
