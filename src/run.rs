//! The straight line from a loaded case to its files.

use crate::case::Loaded;
use crate::case::data::{Analysis, Case, VtkOutput};
use crate::checkpoint::{Checkpoint, Identity, Keeper, Rhythm};
use crate::directory::{Directory, Manifest};
use crate::files::write_atomically;
use crate::march::{self, Escort, Fixed, Guards, Ladder};
use crate::memory::{Limit, Sizes};
use crate::methods::Method;
use crate::model::Model;
use crate::report;
use crate::schemes;
use crate::sinks::Sink;
use crate::sinks::animation::Animation;
use crate::sinks::columns::Columns;
use crate::sinks::digest::Digest;
use crate::sinks::frames::Frames;
use crate::sinks::history::History;
use crate::sinks::surface::Surface;
use crate::statics::{self, Statics};
use crate::step::{Settings, Stepper};
use crate::summary::{Parts, Summary, Timing};
use crate::system::System;
use crate::{Error, Result, advice, shell};
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
    /// Sentences of advice, each with the line of the case that it is about.
    pub advice: Vec<String>,
}

/// Builds model and equations of a case, and refuses what cannot run, or not in the memory of the machine; runs that are
/// made side by side share it.
pub fn prepare(loaded: &Loaded) -> Result<Prepared> {
    let together = rayon::current_thread_index().map_or(1, |_| rayon::current_num_threads());
    prepare_within(loaded, Limit::of_machine().map(|limit| limit.shared(together)).as_ref())
}

/// Builds model and equations of a case, and refuses what cannot run, or not within a limit of memory: by the case alone
/// before anything is built, by the equations before anything is factored.
pub fn prepare_within(loaded: &Loaded, limit: Option<&Limit>) -> Result<Prepared> {
    Sizes::of_case(loaded)?.demand(limit)?;
    let model = Model::new(&loaded.case, &|name| loaded.path(name)).map_err(|error| loaded.placed(error))?;
    let system = System::assemble(&model)?;
    Sizes::of_system(loaded, &model, &system)?.demand(limit)?;
    Guards::new(&loaded.case, &system).check_start().map_err(|error| loaded.placed(error))?;
    if loaded.case.analysis == Analysis::Static {
        statics::refuse_mechanism(&system)?;
    }
    let advice = advice::advise(&loaded.case, &model, &system)?;
    let advice = advice::all_placed(&advice, loaded);
    Ok(Prepared { model, system, advice })
}

/// What makes the steps of a case: its scheme, or the search for equilibrium.
pub fn method<'a>(case: &Case, system: &'a System) -> Result<Box<dyn Method + 'a>> {
    let kind = schemes::find(&case.scheme.name)
        .ok_or_else(|| Error::Input(format!("there is no scheme `{}`", case.scheme.name)))?;
    let row = kind.tableau(&case.scheme.parameters);
    let settings = Settings {
        forecast: case.scheme.forecast,
        position: case.scheme.position,
        newton: case.solver.newton.clone(),
        contact: case.solver.contact.clone(),
    };
    Ok(match case.analysis {
        Analysis::Dynamic => Box::new(Stepper::new(system, row, settings)?),
        Analysis::Static => Box::new(Statics::new(system, &settings)),
    })
}

/// The instants of a case.
pub fn grid(case: &Case) -> Fixed {
    let time = &case.time;
    Fixed::new(time.end, time.step).starting(time.first_step.unwrap_or(time.step))
}

/// The pace of a case: its grid of steps, with cuts for trouble.
pub fn pace(case: &Case) -> Ladder {
    let step = case.time.step;
    let cuts = case.guards.energy.get().map_or(GUARD_CUTS, |guard| guard.cuts as u32);
    Ladder::new(grid(case), step / case.time.min_step.unwrap_or(step / 1024.0), cuts)
}

/// Runs a prepared case with the given sinks only; no file is written but by them.
pub fn march(case: &Case, prepared: &Prepared, sinks: &mut [&mut dyn Sink]) -> Result<(march::Arrival, &'static str)> {
    march_with(case, prepared, sinks, Escort { keeper: None, from: None, stop: &|| None })
}

fn march_with(
    case: &Case,
    prepared: &Prepared,
    sinks: &mut [&mut dyn Sink],
    escort: Escort,
) -> Result<(march::Arrival, &'static str)> {
    let mut method = method(case, &prepared.system)?;
    let guards = Guards::new(case, &prepared.system);
    let arrival = march::march(method.as_mut(), &mut pace(case), &guards, sinks, escort)?;
    Ok((arrival, method.factorization()))
}

/// How a run is made, beside its case.
pub struct Manner<'a> {
    /// Whether an earlier run in the directory is removed.
    pub force: bool,
    /// Where to go on from, instead of the start. It is read again once the directory is this process's own, because
    /// another one may have gone on in between.
    pub from: Option<Checkpoint>,
    /// Asked after every step whether to stop, and why.
    pub stop: &'a dyn Fn() -> Option<Error>,
    /// Sees every accepted step too (a progress bar).
    pub extra: &'a mut dyn Sink,
}

/// How often a case wants checkpoints.
fn often(case: &Case) -> Rhythm {
    let wish = &case.output.checkpoint;
    wish.steps.map_or(Rhythm::Wall(wish.wall.unwrap_or(30.0)), Rhythm::Steps)
}

/// Runs a case for its summary alone. Nothing is written but a checkpoint into `dir`, made for it, if the run lasts or
/// is stopped; a run that was stopped goes on from there, and the directory goes with the end of the run.
pub fn measure(loaded: &Loaded, dir: Option<&Path>, stop: &dyn Fn() -> Option<Error>) -> Result<Summary> {
    let clock = Instant::now();
    let prepared = prepare(loaded)?;
    let Prepared { model, system, .. } = &prepared;
    let identity = Identity::new(loaded)?;
    // A checkpoint that does not fit is no loss but time.
    let from = dir.map(Checkpoint::usable).transpose()?.flatten().filter(|it| it.identity.demand(&identity).is_ok());
    let files = identity.files.clone();
    let mut digest = Digest::new(system);
    let mut keeper = dir.map(|dir| Keeper::late(dir, identity, often(&loaded.case)));
    let setup = clock.elapsed();
    let escort = Escort { keeper: keeper.as_mut(), from, stop };
    let (arrival, factorization) = march_with(&loaded.case, &prepared, &mut [&mut digest], escort)?;
    keeper.map_or(Ok(()), |keeper| keeper.done())?;
    let advice = prepared.advice.clone();
    let parts =
        Parts { loaded, files: &files, model, system, digest: &digest, arrival: &arrival, factorization, advice };
    let timing = Timing { output_s: 0.0, ..Timing::new(setup, arrival.stepping, clock.elapsed()) };
    Ok(Summary::new(parts, timing))
}

/// Runs a case and writes its files into `out`.
pub fn run(loaded: &Loaded, out: &Path, manner: Manner) -> Result<Summary> {
    run_within(loaded, out, None, manner)
}

/// Runs a case and writes its files into `out`, in at most so many bytes of memory; in what the machine has unless given.
pub fn run_within(loaded: &Loaded, out: &Path, max_memory: Option<u64>, manner: Manner) -> Result<Summary> {
    let clock = Instant::now();
    let prepared = match max_memory {
        Some(bytes) => prepare_within(loaded, Some(&Limit::given(bytes)))?,
        None => prepare(loaded)?,
    };
    let identity = Identity::new(loaded)?;
    let manifest = Manifest::of_case(&serde_json::to_value(&loaded.case).expect("a case is plain data"));
    // Only now: a case that cannot run must not cost the user the results of an earlier one. Held until all is written.
    let directory = if manner.from.is_none() { Directory::make(out)? } else { Directory::enter(out)? };
    let from = match manner.from {
        None => {
            directory.begin(&manifest, manner.force, manner.stop)?;
            None
        }
        Some(_) => {
            let checkpoint = Checkpoint::read(out)?;
            checkpoint.identity.demand(&identity)?;
            directory.go_on(&manifest)?;
            Some(checkpoint)
        }
    };
    let Prepared { model, system, .. } = &prepared;
    let case = &loaded.case;
    let columns = Columns::new(model, system);
    let mut digest = Digest::new(system);
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
    let time = (case.time.end, case.time.step);
    let animation = || Animation::new(&out.join("animation.json"), model, system, time);
    let mut animation = case.output.report.then(animation);
    let setup = clock.elapsed();
    let mut sinks: Vec<&mut dyn Sink> = vec![&mut digest, &mut history, manner.extra];
    if let Some(frames) = &mut frames {
        sinks.push(frames);
    }
    if let Some(surface) = &mut surface {
        sinks.push(surface);
    }
    if let Some(animation) = &mut animation {
        sinks.push(animation);
    }
    let files = identity.files.clone();
    let mut keeper = Keeper::new(out, identity, often(case));
    let escort = Escort { keeper: Some(&mut keeper), from, stop: manner.stop };
    let result = march_with(case, &prepared, &mut sinks, escort);
    // What was recorded before a failure is worth keeping, and complete up to there.
    let finished = sinks.iter_mut().try_for_each(|sink| sink.finish());
    drop(sinks);
    let (arrival, factorization) = result?;
    finished?;
    let mut advice = prepared.advice.clone();
    advice.extend(advice::contact_work(system, &arrival.ledger));
    advice.extend(advice::restitution_gain(model, &arrival.ledger));
    advice.extend(advice::large_rotation(system, &digest).map(|advice| advice.placed(loaded)));
    advice.extend(digest.unstable.map(|branch| statics::unstable_advice(system, &arrival.state, branch)));
    advice.extend(advice::open_ledger(model, system, &arrival));
    let parts =
        Parts { loaded, files: &files, model, system, digest: &digest, arrival: &arrival, factorization, advice };
    let total = clock.elapsed();
    let summary = Summary::new(parts, Timing::new(setup, arrival.stepping, total));
    let text = serde_json::to_string_pretty(&summary).expect("a summary is plain data");
    write_atomically(&out.join("summary.json"), text.as_bytes())?;
    // Last: a page that cannot be made must not cost the numbers.
    if case.output.report {
        report::write(out, &text).map_err(|error| but_complete(error, out))?;
    }
    keeper.done()?;
    Ok(summary)
}

/// What is wrong with the report of a run whose summary is written.
fn but_complete(error: Error, out: &Path) -> Error {
    let again = format!("the run itself is complete; make the page with: carom report {}", shell::argument(out));
    match error {
        Error::Io { action, path, source } => {
            Error::Io { action, path, source: std::io::Error::new(source.kind(), format!("{source}\n  {again}")) }
        }
        Error::Input(text) => Error::Input(format!("{text}\n  {again}")),
        other => other,
    }
}
