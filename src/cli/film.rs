//! `carom film`.

use super::{Manners, output};
use crate::case::data::{FilmFormat, FilmOutput};
use crate::{Result, film};
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct Film {
    /// Directory of a finished run.
    dir: PathBuf,
    /// File format; what the case says in output.film unless given, or gif.
    #[arg(long, value_enum)]
    format: Option<FilmFormat>,
    /// Number of pictures over the run; what the case says unless given, or 120.
    #[arg(long, value_name = "N", value_parser = frames)]
    frames: Option<usize>,
    /// Width and height in pixels, as in 1280x720; what the case says unless given, or 800x450.
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<[u32; 2]>,
}

impl Film {
    pub fn execute(&self, manners: &Manners) -> Result<()> {
        let wish = film::FilmOptions { format: self.format, frames: self.frames, size: self.size };
        let made = film::make(&self.dir, &wish)?;
        if !manners.quiet {
            let path = self.dir.join(match made.format {
                FilmFormat::Gif => "film.gif".to_string(),
                FilmFormat::Png => format!("{}/{{000000 to {:06}}}.png", FilmOutput::FOLDER, made.frames - 1),
            });
            output::say(&format!("wrote {}", path.display()));
        }
        Ok(())
    }
}

fn frames(text: &str) -> std::result::Result<usize, String> {
    let [low, high] = FilmOutput::FRAMES;
    let number = text.parse().ok().filter(|number| (low..=high).contains(number));
    number.ok_or_else(|| format!("must be an integer from {low} to {high}"))
}

fn size(text: &str) -> std::result::Result<[u32; 2], String> {
    let [low, high] = FilmOutput::PIXELS;
    let side = |text: &str| text.parse().ok().filter(|side| (low..=high).contains(side));
    let size = text.split_once('x').and_then(|(width, height)| Some([side(width)?, side(height)?]));
    size.ok_or_else(|| format!("must be width x height, each from {low} to {high} pixels, as in 800x450"))
}
