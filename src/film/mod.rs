//! The film of a run, drawn from `animation.json` without a browser: an animated GIF, or PNG pictures.
//!
//! It knows the files of a run; it must not know how the run was made.

mod gif;
mod motion;
mod stage;
mod view;

use crate::canvas::Raster;
use crate::case::data::{FilmFormat, FilmOutput};
use crate::directory::{Directory, Manifest};
use crate::files;
use crate::sinks::animation::recording::{self, Recording};
use crate::{Error, Result, shell};
use gif::{Film, Histogram, Palette};
use motion::Motion;
use serde_json::Value;
use stage::Stage;
use std::collections::BTreeSet;
use std::path::Path;

/// What of a film is asked for; the rest is what the case says, or the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct FilmOptions {
    /// File format.
    pub format: Option<FilmFormat>,
    /// Number of pictures.
    pub frames: Option<usize>,
    /// Width and height in pixels.
    pub size: Option<[u32; 2]>,
}

/// Size for which lines and letters are made; a larger picture has larger ones.
const SIZE: [f64; 2] = [800.0, 450.0];
/// A smaller picture has letters of this size of the usual at least: they must be read.
const SMALLEST: f64 = 0.75;
/// Hundredths of a second that a film lasts, that a picture is shown at most and at least, and that the last one is
/// longer.
const LASTS: usize = 600;
const SHORTEST: usize = 2;
const LONGEST: usize = 20;
const PAUSE: usize = 100;
/// Pictures from which the palette is chosen.
const SAMPLES: usize = 12;

/// Makes the film of the complete run in a directory, in place of an earlier one of that format, and adds its files to the
/// manifest. Returns the settings that it was made with.
pub fn make(dir: &Path, wish: &FilmOptions) -> Result<FilmOutput> {
    let owner = Directory::enter(dir)?;
    let path = dir.join("summary.json");
    let (Some(earlier), Some(summary)) = (Manifest::of_earlier(dir)?, files::find(&path)?) else {
        return Err(Error::Input(format!(
            "{}: there is no such file, so that this is no complete run",
            path.display()
        )));
    };
    if files::exists(&dir.join("checkpoint.bin"))? {
        let how = format!("bring it there with: carom resume {}", shell::argument(dir));
        return Err(Error::Input(format!("{}: the run has not come to its end; {how}", dir.display())));
    }
    let summary: Value =
        serde_json::from_slice(&summary).map_err(|error| Error::Input(format!("{}: {error}", path.display())))?;
    let of_case = match &summary["case"]["output"]["film"] {
        Value::Null => FilmOutput::default(),
        film => FilmOutput::parse(film).map_err(|what| Error::Input(format!("{}: {what}", path.display())))?,
    };
    let settings = FilmOutput {
        format: wish.format.unwrap_or(of_case.format),
        frames: wish.frames.unwrap_or(of_case.frames),
        size: wish.size.unwrap_or(of_case.size),
    };
    let stage = stage(dir, &summary, &settings)?;
    let is_film = |name: &&str| settings.format.is_file(name);
    let old: BTreeSet<String> = earlier.files().filter(is_film).map(String::from).collect();
    let new = settings.files();
    for path in new.iter().filter(|name| !old.contains(*name)).map(|name| dir.join(name)) {
        if files::exists(&path)? {
            let what = "is there, and carom did not write it; move it away";
            return Err(Error::Usage(format!("{} {what}", path.display())));
        }
    }
    let gone: BTreeSet<&str> = old.iter().filter(|name| !new.contains(name)).map(String::as_str).collect();
    // Listed before the first file is written, and until the last one is removed.
    let other = earlier.files().filter(|name| !is_film(name));
    let listed = earlier.with_files(other.chain(new.iter().map(String::as_str)));
    owner.go_on(&listed.with_files(listed.files().chain(gone.iter().copied())))?;
    owner.remove(&gone)?;
    write(dir, &stage, &settings)?;
    owner.go_on(&listed)?;
    Ok(settings)
}

/// Makes the film that a case asks for at the end of its run, whose summary is at hand as text; the manifest lists its
/// files already.
pub fn make_at_end(dir: &Path, summary: &str, settings: &FilmOutput) -> Result<()> {
    let summary: Value = serde_json::from_str(summary)
        .map_err(|error| Error::Input(format!("{}: {error}", dir.join("summary.json").display())))?;
    write(dir, &stage(dir, &summary, settings)?, settings)
}

/// Pixels per unit of length for a size in pixels.
fn sharpness(size: [u32; 2]) -> f64 {
    (f64::from(size[0]) / SIZE[0]).min(f64::from(size[1]) / SIZE[1]).max(SMALLEST)
}

fn stage(dir: &Path, summary: &Value, settings: &FilmOutput) -> Result<Stage> {
    let (recording, _) = Recording::read(dir)?;
    let motion = Motion::new(recording)
        .map_err(|what| Error::Input(format!("{}: {what}", dir.join(recording::FILE).display())))?;
    let size = settings.size.map(|pixels| f64::from(pixels) / sharpness(settings.size));
    Ok(Stage::new(motion, summary["title"].as_str().unwrap_or(""), size))
}

fn write(dir: &Path, stage: &Stage, settings: &FilmOutput) -> Result<()> {
    let scale = sharpness(settings.size);
    let mut canvas = Raster::new(settings.size.map(|pixels| f64::from(pixels) / scale), scale);
    let last = settings.frames - 1;
    let draw = |canvas: &mut Raster, k: usize| {
        canvas.clear();
        stage.draw(canvas, stage.end() * k as f64 / last as f64);
    };
    let names = settings.files();
    match settings.format {
        FilmFormat::Png => {
            let folder = dir.join(FilmOutput::FOLDER);
            files::make_directories(&folder)?;
            for (k, name) in names.iter().enumerate() {
                draw(&mut canvas, k);
                files::write_whole(&dir.join(name), &canvas.png())?;
            }
            files::sync_below(&folder)
        }
        FilmFormat::Gif => {
            let mut histogram = Histogram::new();
            let samples = settings.frames.min(SAMPLES);
            for k in 0..samples {
                draw(&mut canvas, k * last / (samples - 1));
                histogram.add(&canvas);
            }
            let size = settings.size.map(|pixels| u16::try_from(pixels).expect("sizes are checked"));
            let mut film = Film::new(Palette::new(histogram), size);
            let lasts = (LASTS / settings.frames).clamp(SHORTEST, LONGEST);
            for k in 0..settings.frames {
                draw(&mut canvas, k);
                let more = if k == last { PAUSE } else { 0 };
                film.add(&canvas, (lasts + more) as u16);
            }
            files::write_atomically(&dir.join(&names[0]), &film.finish())
        }
    }
}
