//! What the program says: data to standard output, messages and progress to standard error.

use crate::plot::text::Sketch;
use crate::sinks::{Record, Sink};
use crate::{Error, Result};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Whether messages go to a person.
pub fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Writes data to standard output.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // A reader that has seen enough (`| head`) is no failure.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io("write", Path::new("standard output"))(error))
        }
        _ => Ok(()),
    }
}

/// Writes a message to standard error; nobody can be told if that fails.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Files that are named one by one.
const NAMED: usize = 10;

/// Says what is left in an output directory that was not empty, because carom did not write it.
pub fn say_what_stays(dir: &Path, manners: &super::Manners) {
    // Who asked for it is told of what went wrong elsewhere.
    let others = crate::directory::others(dir).unwrap_or_default();
    if others.is_empty() || manners.quiet {
        return;
    }
    let more = if others.len() > NAMED { format!(" and {} more", others.len() - NAMED) } else { String::new() };
    let names: Vec<&str> = others.iter().take(NAMED).map(String::as_str).collect();
    say(&format!("not of this run, and left in {}: {}{more}", dir.display(), names.join(", ")));
}

/// Writes an error to standard error.
pub fn report(error: &Error) {
    let text = error.to_string();
    // Diagnostics of case files bring their own heading.
    let heading = if text.starts_with("error") || text.starts_with('\u{1b}') { "" } else { "error: " };
    say(&format!("{heading}{}", text.trim_end()));
}

/// What follows a run for the reader: a progress bar over time with an estimate of what is left, on a terminal only, and
/// the energies for a drawing if one is wanted.
pub struct Progress {
    bar: ProgressBar,
    shown: bool,
    end: f64,
    /// Energies so far.
    pub sketch: Option<Sketch>,
}

impl Progress {
    /// Progress towards time `end`.
    pub fn new(end: f64, quiet: bool) -> Progress {
        let shown = !quiet && stderr_is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template("  {bar:40} {percent:>3} %  {elapsed} gone, {eta} left  {msg}")
            .expect("the template is well-formed");
        let bar = ProgressBar::with_draw_target(Some(1000), target).with_style(style);
        Progress { bar, shown, end, sketch: None }
    }

    /// Also collects the energies, for a drawing.
    pub fn with_sketch(self) -> Progress {
        let curves = [("p", "potential"), ("s", "strain"), ("k", "kinetic"), ("*", "total")];
        Progress { sketch: Some(Sketch::new(self.end, &curves)), ..self }
    }
}

impl Sink for Progress {
    fn record(&mut self, record: &Record) -> Result<()> {
        if self.shown {
            let share = (1000.0 * record.attempt.state.time / self.end) as u64;
            if share != self.bar.position() {
                self.bar.set_position(share);
            }
        }
        if let Some(sketch) = &mut self.sketch {
            let energy = &record.attempt.state.energy;
            let values = [energy.potential, energy.strain, energy.kinetic, energy.total()];
            sketch.add(record.attempt.state.time, &values);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.bar.finish_and_clear();
        Ok(())
    }
}
