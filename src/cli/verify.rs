//! `carom verify`.

use super::{Manners, output, pool, write_in};
use crate::studies::verify;
use crate::{Error, Result};
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct Verify {
    /// Print every row with all its digits, as JSON.
    #[arg(long)]
    json: bool,
    /// Write the book into this directory, as verification.md with figures in verification/.
    #[arg(long, value_name = "DIR")]
    markdown: Option<PathBuf>,
}

impl Verify {
    pub fn execute(&self, manners: &Manners, threads: Option<usize>) -> Result<()> {
        let book = pool(threads)?.install(verify::verify);
        if let Some(dir) = &self.markdown {
            let figures = dir.join("verification");
            crate::files::make_directories(&figures)?;
            for (name, plot) in book.chapters.iter().filter_map(|chapter| chapter.figure.as_ref()) {
                write_in(&figures, &format!("{name}.svg"), &plot.svg())?;
            }
            write_in(dir, "verification.md", &book.markdown("verification"))?;
        }
        if self.json {
            output::print(&format!("{:#}\n", book.json()))?;
        } else {
            output::print(&book.table(manners.verbose))?;
        }
        match book.counts() {
            [_, 0] => Ok(()),
            [_, 1] => Err(Error::Expectation("1 row of the verification fails".into())),
            [_, failed] => Err(Error::Expectation(format!("{failed} rows of the verification fail"))),
        }
    }
}
