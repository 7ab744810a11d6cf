//! The straight line from a loaded case to its files.

use crate::advice::{self, Advice};
use crate::case::Loaded;
use crate::case::data::{Analysis, Case, VtkOutput};
use crate::checkpoint::{Checkpoint, Checkpointer, Identity, Origin, Rhythm};
use crate::directory::{Directory, Manifest};
use crate::files::{Growing, write_atomically};
use crate::film;
use crate::first_order;
use crate::march::{self, Control, Grid, Guards, Ladder, RunControl};
use crate::memory::{Limit, Sizes};
use crate::methods::{self, statics};
use crate::model::Model;
use crate::report;
use crate::sinks::Sink;
use crate::sinks::animation::Animation;
use crate::sinks::columns::Columns;
use crate::sinks::digest::Digest;
use crate::sinks::frames::Frames;
use crate::sinks::history::History;
use crate::sinks::key_results::KeyResults;
use crate::sinks::obstacles::Obstacles;
use crate::sinks::surface::Surface;
use crate::state::State;
use crate::summary::{Collected, Parts, Summary, Timing};
use crate::system::System;
use crate::{Error, Result, shell};
use std::path::Path;
use std::time::Instant;

/// Frames of a run unless the case says otherwise.
const FRAMES: u64 = 200;

/// Cuts for the penetration guard where the energy guard, whose setting it shares, is off.
const GUARD_CUTS: u32 = 8;

/// A case made ready: model, equations and advice.
pub struct Prepared {
    /// The mechanical description.
    pub model: Model,
    /// The equations.
    pub system: System,
    /// Advice on it.
    pub advice: Vec<Advice>,
}

pub use crate::methods::method;

/// Builds model and equations of a case, and refuses what cannot run, or not in the memory of the machine; runs that are
/// made side by side share it.
pub fn prepare(loaded: &Loaded) -> Result<Prepared> {
    let together = rayon::current_thread_index().map_or(1, |_| rayon::current_num_threads());
    prepare_within(loaded, Limit::of_machine().map(|limit| limit.shared(together)).as_ref())
}

/// Builds model and equations of a case, and refuses what cannot run, or not within a limit of memory: by the case alone
/// before anything is built, by the equations before anything is factored.
pub fn prepare_within(loaded: &Loaded, limit: Option<&Limit>) -> Result<Prepared> {
    if loaded.case.analysis == Analysis::FirstOrder {
        let text = "a first-order system has no bodies: there is no structure to assemble, and there are no natural frequencies";
        return Err(Error::Input(text.into()));
    }
    Sizes::of_case(loaded)?.demand(limit)?;
    let model = Model::new(&loaded.case, &|name| loaded.path(name)).map_err(|error| loaded.placed(error))?;
    let system = System::assemble(&model)?;
    Sizes::of_system(loaded, &model, &system)?.demand(limit)?;
    Guards::new(&loaded.case, &system).check_start().map_err(|error| loaded.placed(error))?;
    if loaded.case.analysis == Analysis::Static {
        statics::refuse_mechanism(&system)?;
    }
    let advice = advice::advise(&loaded.case, &model, &system)?;
    Ok(Prepared { model, system, advice })
}

/// The instants of a case.
pub fn grid(case: &Case) -> Grid {
    let time = &case.time;
    Grid::new(time.end, time.step).starting(time.first_step.unwrap_or(time.step))
}

/// The pace of a case: its grid of steps, with cuts for trouble.
pub fn pace(case: &Case, system: &System) -> Ladder {
    let step = case.time.step;
    let cuts = case.guards.energy.get().map_or(GUARD_CUTS, |guard| guard.cuts as u32);
    let rungs = |finest: f64| step / case.time.min_step.unwrap_or(step / finest);
    let any_stride =
        methods::find(&case.scheme.name).is_none_or(|kind| (kind.facts)(&case.scheme.parameters).any_stride);
    match &case.time.adaptive {
        // Where steps are of one size there is no smaller one to try.
        None if !any_stride => Ladder::new(grid(case), 1.0, 0),
        None => Ladder::new(grid(case), rungs(1024.0), cuts),
        Some(adaptive) => {
            let length = adaptive.length.unwrap_or(system.length);
            Ladder::new(grid(case), rungs(4096.0), cuts).adapting(Control::new(length, adaptive))
        }
    }
}

/// Runs a prepared case with the given sinks only; no file is written but by them.
pub fn march(case: &Case, prepared: &Prepared, sinks: &mut [&mut dyn Sink]) -> Result<(march::Arrival, &'static str)> {
    march_with(case, prepared, sinks, RunControl { checkpointer: None, from: None, stop: &|| None })
}

fn march_with(
    case: &Case,
    prepared: &Prepared,
    sinks: &mut [&mut dyn Sink],
    control: RunControl,
) -> Result<(march::Arrival, &'static str)> {
    let mut method = method(case, &prepared.system)?;
    let guards = Guards::new(case, &prepared.system);
    let arrival = march::march(method.as_mut(), &mut pace(case, &prepared.system), &guards, sinks, control)?;
    Ok((arrival, method.factorization()))
}

/// How a run is made, beside its case.
pub struct RunOptions<'a> {
    /// Whether an earlier run in the directory is removed.
    pub force: bool,
    /// Where to go on from, instead of the start. It is read again once the directory is this process's own, because
    /// another one may have gone on in between.
    pub from: Option<Checkpoint>,
    /// Another run's directory to begin from, with its checkpoint, instead of the start; the directory stays as it is.
    pub branch: Option<(&'a Path, Checkpoint)>,
    /// Asked after every step whether to stop, and why.
    pub stop: &'a dyn Fn() -> Option<Error>,
    /// Sees every accepted step too (a progress bar).
    pub extra: &'a mut dyn Sink,
}

/// Runs a case for its summary alone. Nothing is written but a checkpoint into `dir`, made for it, if the run lasts or
/// is stopped; a run that was stopped goes on from there, and the directory goes with the end of the run.
pub fn measure(loaded: &Loaded, dir: Option<&Path>, stop: &dyn Fn() -> Option<Error>) -> Result<Summary> {
    if loaded.case.analysis == Analysis::FirstOrder {
        return first_order::files::measure(loaded, dir, stop);
    }
    let clock = Instant::now();
    let prepared = prepare(loaded)?;
    let Prepared { model, system, .. } = &prepared;
    let identity = Identity::new(loaded)?;
    // A checkpoint that does not fit is no loss but time.
    let from = dir.map(Checkpoint::usable).transpose()?.flatten().filter(|it| it.identity.demand(&identity).is_ok());
    let files = identity.files.clone();
    let mut digest = Digest::new(system);
    let columns = Columns::new(model, system);
    let mut results = KeyResults::new(&columns);
    let mut checkpointer = dir.map(|dir| Checkpointer::late(dir, identity, Rhythm::of(&loaded.case)));
    let setup = clock.elapsed();
    let control = RunControl { checkpointer: checkpointer.as_mut(), from, stop };
    let (arrival, factorization) = march_with(&loaded.case, &prepared, &mut [&mut digest, &mut results], control)?;
    checkpointer.map_or(Ok(()), |checkpointer| checkpointer.done())?;
    let advice = prepared.advice.clone();
    let collected = Collected { digest: &digest, results: &results };
    let parts = Parts { loaded, files: &files, model, system, collected, arrival: &arrival, factorization, advice };
    let timing = Timing { output_s: 0.0, ..Timing::new(setup, arrival.stepping, clock.elapsed()) };
    Ok(Summary::new(parts, timing))
}

/// Runs a case and writes its files into `out`.
pub fn run(loaded: &Loaded, out: &Path, options: RunOptions) -> Result<Summary> {
    run_within(loaded, out, None, options)
}

/// Runs a case and writes its files into `out`, in at most so many bytes of memory; in what the machine has unless given.
pub fn run_within(loaded: &Loaded, out: &Path, max_memory: Option<u64>, options: RunOptions) -> Result<Summary> {
    if loaded.case.analysis == Analysis::FirstOrder {
        let page = |summary: &str| {
            report::write(out, summary).map_err(|error| but_complete(error, "make the page with: carom report", out))
        };
        let RunOptions { force, from, stop, extra, branch } = options;
        if branch.is_some() {
            return Err(Error::Input(
                "a first-order system cannot go on from another run yet; run it anew with the end that is wanted"
                    .into(),
            ));
        }
        let request = first_order::files::Request { force, resume: from.is_some(), stop, extra, page: &page };
        return first_order::files::run(loaded, out, request);
    }
    let clock = Instant::now();
    let prepared = match max_memory {
        Some(bytes) => prepare_within(loaded, Some(&Limit::given(bytes)))?,
        None => prepare(loaded)?,
    };
    let mut identity = Identity::new(loaded)?;
    if let Some((dir, checkpoint)) = &options.branch {
        checkpoint.identity.demand_branch(&identity)?;
        let State { step, time, .. } = checkpoint.state;
        identity.origin = Some(Origin { directory: dir.display().to_string(), step, time });
    }
    let manifest = Manifest::of_case(&serde_json::to_value(&loaded.case).expect("a case is plain data"));
    // Only now: a case that cannot run must not cost the user the results of an earlier one. Held until all is written.
    let directory = if options.from.is_none() { Directory::make(out)? } else { Directory::enter(out)? };
    let mut from = match options.from {
        None => {
            directory.begin(&manifest, options.force, options.stop)?;
            None
        }
        Some(_) => {
            let checkpoint = Checkpoint::read(out)?;
            checkpoint.identity.demand(&identity)?;
            identity.origin = checkpoint.identity.origin.clone();
            directory.go_on(&manifest)?;
            Some(checkpoint)
        }
    };
    let Prepared { model, system, .. } = &prepared;
    let case = &loaded.case;
    let columns = Columns::new(model, system);
    let (mut digest, mut results) = (Digest::new(system), KeyResults::new(&columns));
    let mut history = History::new(out, &columns, &case.output.history, case.time.end);
    let rhythm = |vtk: &VtkOutput| {
        let steps = grid(case).count();
        let wanted = vtk.frames.map_or(FRAMES, |n| n as u64);
        (vtk.every.map_or_else(|| steps.div_ceil(wanted), |n| n as u64), case.time.end, vtk.encoding)
    };
    let vtk = case.output.vtk.get();
    let mut frames = vtk.map(|vtk| Frames::new(out, model, system, rhythm(vtk)));
    let surface = vtk.filter(|vtk| vtk.surface);
    let mut surface = surface.map(|vtk| Surface::new(out, model, system, rhythm(vtk)));
    let mut obstacles = vtk.and_then(|vtk| Obstacles::new(out, model, rhythm(vtk)));
    let time = (case.time.end, case.time.step);
    let animation = || Animation::new(&out.join("animation.json"), model, system, time);
    let film = case.output.film.as_ref();
    let recorded = case.output.report || film.is_some();
    let mut animation = recorded.then(animation);
    if let Some((dir, checkpoint)) = options.branch {
        let grown = [Some(case.output.history.format.file()), recorded.then_some("animation.json")];
        for name in grown.into_iter().flatten() {
            Growing::copy(&dir.join(name), &out.join(name))?;
        }
        // Frames begin anew: those of the earlier run are where they are.
        let frames = frames.as_mut().map(|sink| sink as &mut dyn Sink);
        let surface = surface.as_mut().map(|sink| sink as &mut dyn Sink);
        let series = [frames, surface, obstacles.as_mut().map(|sink| sink as &mut dyn Sink)];
        let mut checkpoint = Checkpoint { pace: pace(case, system).take_over(&checkpoint.pace)?, ..checkpoint };
        // Behind the digest, the key results, the history and the one that the caller sees.
        for (saved, sink) in checkpoint.sinks.iter_mut().skip(4).zip(series.into_iter().flatten()) {
            sink.begin(None)?;
            *saved = sink.save()?;
        }
        checkpoint.identity.origin = identity.origin.clone();
        from = Some(checkpoint);
    }
    let origin = identity.origin.clone();
    let setup = clock.elapsed();
    let mut sinks: Vec<&mut dyn Sink> = vec![&mut digest, &mut results, &mut history, options.extra];
    if let Some(frames) = &mut frames {
        sinks.push(frames);
    }
    if let Some(surface) = &mut surface {
        sinks.push(surface);
    }
    if let Some(obstacles) = &mut obstacles {
        sinks.push(obstacles);
    }
    if let Some(animation) = &mut animation {
        sinks.push(animation);
    }
    let files = identity.files.clone();
    let mut checkpointer = Checkpointer::new(out, identity, Rhythm::of(case)).until(case.time.end);
    let control = RunControl { checkpointer: Some(&mut checkpointer), from, stop: options.stop };
    let result = march_with(case, &prepared, &mut sinks, control);
    // What was recorded before a failure is worth keeping, and complete up to there.
    let finished = sinks.iter_mut().try_for_each(|sink| sink.finish());
    drop(sinks);
    let (arrival, factorization) = result?;
    finished?;
    let mut advice = prepared.advice.clone();
    advice.extend(advice::large_rotation(system, &digest));
    advice.extend(advice::silent_contacts(system, &digest));
    let of_the_run = [
        advice::contact_work(system, &arrival.ledger),
        advice::restitution_gain(model, &arrival.ledger),
        digest.unstable.map(|branch| statics::unstable_advice(system, &arrival.state, branch)),
        advice::open_ledger(model, system, &arrival),
    ];
    advice.extend(of_the_run.into_iter().flatten().map(|text| Advice::new("", text)));
    let collected = Collected { digest: &digest, results: &results };
    let parts = Parts { loaded, files: &files, model, system, collected, arrival: &arrival, factorization, advice };
    let total = clock.elapsed();
    let summary = Summary { origin, ..Summary::new(parts, Timing::new(setup, arrival.stepping, total)) };
    let text = serde_json::to_string_pretty(&summary).expect("a summary is plain data");
    write_atomically(&out.join("summary.json"), text.as_bytes())?;
    // Last: pictures that cannot be made must not cost the numbers.
    if case.output.report {
        report::write(out, &text).map_err(|error| but_complete(error, "make the page with: carom report", out))?;
    }
    if let Some(film) = film {
        film::make_at_end(out, &text, film)
            .map_err(|error| but_complete(error, "make the film with: carom resume", out))?;
    }
    checkpointer.done()?;
    Ok(summary)
}

/// What is wrong with the report or the film of a run whose summary is written, and the command that makes it later.
fn but_complete(error: Error, command: &str, out: &Path) -> Error {
    let again = format!("the run itself is complete; {command} {}", shell::argument(out));
    match error {
        Error::Io { action, path, source } => {
            Error::Io { action, path, source: std::io::Error::new(source.kind(), format!("{source}\n  {again}")) }
        }
        Error::Input(text) => Error::Input(format!("{text}\n  {again}")),
        other => other,
    }
}
