//! The command line: one file per subcommand, each a thin shell around the library.

mod check;
mod compare;
mod completions;
mod converge;
mod film;
mod list;
mod modes;
mod new;
mod output;
mod report;
mod run;
mod stop;
mod sweep;
mod test;
mod verify;

use crate::case::Failure;
use crate::directory::{Directory, Manifest};
use crate::studies::Wish;
use crate::{Error, Result};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};

/// Impact of flexible structures, with an energy ledger that closes to round-off.
#[derive(Parser)]
#[command(name = "carom", version = env!("CAROM_VERSION"), max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Print errors only.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Print more: solver counts of a run, all rows of a test or a verification.
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Threads for studies of many runs; one run uses one.
    #[arg(long, global = true, value_name = "N")]
    threads: Option<usize>,
    /// Colours in messages.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    color: Color,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
enum Command {
    /// Run a case and write its files.
    #[command(after_help = "Examples:\n  carom run cases/impacting-bar.toml\n  carom run cases/impacting-bar.toml \
                            --set time.step=1e-3 -o out/fine --plot\n  carom run cases/impacting-bar.toml \
                            --set 'scheme={ name = \"moreau-jean\", theta = 0.5 }' --force")]
    Run(run::Run),
    /// Continue an interrupted run from its last checkpoint, or a sweep with its missing rows.
    Resume(run::Resume),
    /// Validate a case without running it: sizes, time scales, advice.
    Check(check::Check),
    /// Run cases and check their [expect] tables.
    #[command(after_help = "Examples:\n  carom test cases/\n  carom test cases/ --junit carom.xml\n  carom test \
                            cases/mine.toml --bless")]
    Test(test::Test),
    /// Run a case with several schemes: a table and figures side by side.
    #[command(
        after_help = "Examples:\n  carom compare cases/impacting-bar.toml\n  carom compare cases/impacting-bar.toml \
                            --scheme moreau-jean --scheme 'name = \"newmark\", gamma = 1.0, beta = 0.5625'\n  carom \
                            compare cases/free-bar.toml --scheme newmark --scheme 'newmark; time.step=1e-3'"
    )]
    Compare(compare::Compare),
    /// Refine step or mesh: error norms, observed orders, work and precision.
    #[command(after_help = "Examples:\n  carom converge cases/bouncing-ball.toml --steps 1e-2,5e-3,2.5e-3\n  carom \
                            converge cases/free-bar.toml --elements 50,100,200 --steps 1e-2,5e-3,2.5e-3")]
    Converge(converge::Converge),
    /// The verification book: every scheme against every exact or independent solution.
    #[command(after_help = "Examples:\n  carom verify\n  carom verify --json\n  carom verify --markdown docs")]
    Verify(verify::Verify),
    /// Run a case with every combination of some values: one row of a table each.
    #[command(
        after_help = "Examples:\n  carom sweep cases/impacting-bar.toml --vary scheme.rho_inf=0:1:11\n  carom sweep \
                            cases/impacting-bar.toml --vary time.step=1e-3,2e-3,4e-3 --vary scheme.rho_inf=0:1:11 \
                            --plot contact.wall.roughness"
    )]
    Sweep(sweep::Command),
    /// Join the shards of a sweep into one table.
    Merge(sweep::Merge),
    /// Write report.html of a finished run again, from its files.
    Report(report::Report),
    /// Draw the film of a finished run from its files.
    #[command(
        after_help = "Examples:\n  carom film out/rotating-beam\n  carom film out/rotating-beam --format png --frames \
                            240 --size 1280x720"
    )]
    Film(film::Film),
    /// Natural frequencies and mode shapes of a case.
    Modes(modes::Modes),
    /// What exists: schemes, elements, contacts, cases.
    List(list::List),
    /// The JSON schema of case files, for editors.
    Schema(Schema),
    /// Write a starter case.
    New(new::New),
    /// Print the completions of a shell.
    Completions(completions::Completions),
}

/// In which form the keys of case files are printed.
#[derive(Args)]
struct Schema {
    /// A page for people instead: every key with its meaning, as Markdown.
    #[arg(long)]
    markdown: bool,
}

/// A case and its overrides, as most subcommands take it.
#[derive(Args)]
struct CaseArgs {
    /// Case file (TOML, or JSON by its extension).
    case: PathBuf,
    /// Replace a value: a dotted path and a TOML value; entries of arrays by their name.
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Allow files outside the directory above the case file's.
    #[arg(long)]
    allow_outside: bool,
}

/// What holds for every subcommand.
struct Manners {
    quiet: bool,
    verbose: bool,
    color: bool,
}

impl CaseArgs {
    fn load(&self, manners: &Manners) -> Result<crate::case::Loaded> {
        self.load_with(&[], manners)
    }

    /// The case with further overrides.
    fn load_with(&self, more: &[String], manners: &Manners) -> Result<crate::case::Loaded> {
        self.inspect(more)?.map_err(|failure| Error::Input(failure.render(manners.color)))
    }

    /// The case with further overrides, or all that is wrong with it.
    fn inspect(&self, more: &[String]) -> Result<std::result::Result<crate::case::Loaded, Failure>> {
        let set: Vec<String> = self.set.iter().chain(more).cloned().collect();
        crate::case::inspect(&self.case, &set, self.allow_outside)
    }
}

/// What studies of many runs share.
#[derive(Args)]
struct StudyArgs {
    /// Probe to follow, NAME or NAME.x, .y, .theta; unless given, the first one along the normal of the first contact, or
    /// along its largest motion where nothing touches.
    #[arg(long, value_name = "NAME")]
    probe: Option<String>,
    /// Output directory; `out/<case name>-<command>` unless given.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace the files of an earlier study in the output directory.
    #[arg(long)]
    force: bool,
}

impl StudyArgs {
    fn wish(&self) -> Wish {
        Wish(self.probe.clone())
    }

    /// Takes the output directory, `out/<name>` unless another was given, for some files and some figures.
    fn claim(&self, name: &str, files: &[&str], figures: &[&str]) -> Result<(PathBuf, Directory)> {
        let out = self.output.clone().unwrap_or_else(|| PathBuf::from("out").join(name));
        let directory = Directory::make(&out)?;
        let figures: Vec<String> =
            figures.iter().flat_map(|stem| ["svg", "png"].map(|end| format!("{stem}.{end}"))).collect();
        let all: Vec<&str> = files.iter().copied().chain(figures.iter().map(String::as_str)).collect();
        directory.begin(&Manifest::new(&all), self.force, &|| None)?;
        Ok((out, directory))
    }
}

/// Threads for many runs; all cores unless told.
fn pool(threads: Option<usize>) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    pool.map_err(|error| Error::io("start", Path::new("threads"))(std::io::Error::other(error)))
}

/// Writes a file of a study.
fn write_in(out: &Path, name: &str, text: &str) -> Result<()> {
    crate::files::write_atomically(&out.join(name), text.as_bytes())
}

/// Writes a figure of a study as SVG and as PNG.
fn write_figure(out: &Path, stem: &str, plot: &crate::plot::Plot) -> Result<()> {
    write_in(out, &format!("{stem}.svg"), &plot.svg())?;
    crate::files::write_atomically(&out.join(format!("{stem}.png")), &plot.png())
}

/// What a study says at its end if not all its runs came through.
fn failures(failed: usize, all: usize) -> Result<()> {
    if failed == 0 { Ok(()) } else { Err(Error::Study(format!("{failed} of {all} runs failed; the table says which"))) }
}

/// Exit code of a bug.
const BUG: u8 = 101;

/// The exit code of some work; a panic is a bug, and is told as one.
pub fn owning_up(work: impl FnOnce() -> u8 + std::panic::UnwindSafe) -> u8 {
    std::panic::set_hook(Box::new(|info| output::say(&bug(info))));
    std::panic::catch_unwind(work).unwrap_or(BUG)
}

fn bug(what: &dyn std::fmt::Display) -> String {
    format!("carom: a bug, not your fault: {what}\nPlease report it with the case file and the command.")
}

/// Parses the command line, does what it says, and returns the exit code.
pub fn main() -> u8 {
    if let Err(error) = stop::outlive_file_size_limit() {
        output::report(&error);
        return error.exit_code();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, everything else is a usage error; a closed pipe is nobody's fault.
            let _ = error.print();
            return if error.use_stderr() { 2 } else { 0 };
        }
    };
    let color = match cli.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => output::stderr_is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
    };
    let manners = Manners { quiet: cli.quiet, verbose: cli.verbose, color };
    let result = match cli.command {
        Command::Run(command) => command.execute(&manners),
        Command::Resume(command) => command.execute(&manners, cli.threads),
        Command::Check(command) => command.execute(&manners),
        Command::Test(command) => command.execute(&manners, cli.threads),
        Command::Compare(command) => command.execute(&manners, cli.threads),
        Command::Converge(command) => command.execute(&manners, cli.threads),
        Command::Verify(command) => command.execute(&manners, cli.threads),
        Command::Sweep(command) => command.execute(&manners, cli.threads),
        Command::Merge(command) => command.execute(&manners),
        Command::Report(command) => command.execute(&manners),
        Command::Film(command) => command.execute(&manners),
        Command::Modes(command) => command.execute(&manners),
        Command::List(command) => command.execute(),
        Command::Schema(command) if command.markdown => output::print(&crate::case::reference()),
        Command::Schema(_) => output::print(&format!("{:#}\n", crate::case::schema())),
        Command::New(command) => command.execute(&manners),
        Command::Completions(command) => command.execute(),
    };
    match result {
        Ok(()) => 0,
        Err(error) => {
            output::report(&error);
            error.exit_code()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_has_its_own_exit_code_and_asks_to_be_reported() {
        let previous = std::panic::take_hook();
        let codes = [owning_up(|| panic!("on purpose")), owning_up(|| 3)];
        std::panic::set_hook(previous);
        assert_eq!(codes, [101, 3]);
        let text = bug(&"index out of bounds");
        assert!(text.contains("a bug") && text.contains("index out of bounds") && text.contains("report"), "{text}");
    }
}
