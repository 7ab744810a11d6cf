//! `carom modes`.

use super::{CaseArgs, Manners, output};
use crate::case::data::ContactMass;
use crate::directory::{Directory, Manifest};
use crate::{Result, modes, run};
use clap::Args;
use std::fmt::Write;
use std::path::PathBuf;

#[derive(Args)]
pub struct Modes {
    #[command(flatten)]
    case: CaseArgs,
    /// How many modes, rigid-body modes included.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    count: u16,
    /// Output directory of the shapes; `out/<case name>-modes` unless given.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace the files of an earlier run in the output directory.
    #[arg(long)]
    force: bool,
}

impl Modes {
    pub fn execute(&self, manners: &Manners) -> Result<()> {
        let mut loaded = self.case.load(manners)?;
        // Modes are those of the body itself, with all its mass in place.
        loaded.case.contact.iter_mut().for_each(|contact| contact.mass = ContactMass::Kept);
        let prepared = run::prepare(&loaded)?;
        let out = self.output.clone().unwrap_or_else(|| PathBuf::from("out").join(format!("{}-modes", loaded.name)));
        let directory = Directory::make(&out)?;
        directory.begin(&Manifest::new(&[]).with_series("series.pvd", "frames/#.vtu"), self.force, &|| None)?;
        let modes = modes::lowest(&prepared.system, self.count as usize)?;
        modes::write(&out, &prepared.model, &prepared.system, &modes)?;
        let mut text = format!("{:>6}  {:>18}  {:>18}  {:>14}\n", "mode", "omega", "frequency", "period");
        for (k, mode) in modes.iter().enumerate() {
            let frequency = mode.omega / std::f64::consts::TAU;
            let row = if mode.rigid {
                format!("{:>6}  {:>18}  {:>18}  {:>14}", k + 1, "0", "0", "rigid body")
            } else if mode.omega == 0.0 {
                format!("{:>6}  {:>18}  {:>18}  {:>14}", k + 1, "-", "-", "unstable")
            } else {
                format!("{:>6}  {:>18.10e}  {frequency:>18.10e}  {:>14.6e}", k + 1, mode.omega, 1.0 / frequency)
            };
            writeln!(text, "{row}").expect("writing to a string cannot fail");
        }
        output::print(&text)?;
        if !manners.quiet {
            output::say(&format!("shapes: {}", out.join("series.pvd").display()));
        }
        Ok(())
    }
}
