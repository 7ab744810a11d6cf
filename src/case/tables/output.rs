//! `[output]` and `[expect]`.

use super::MOST_STEPS;
use crate::keys::*;

table! {
    /// What a run writes
    Output("[output]") {
        /// ParaView frames
        vtk: Switch<VtkOutput> = empty();
        /// The table of every step
        history: HistoryOutput = empty();
        /// Whether report.html is written
        report: bool = true;
        /// A film of the run, drawn at its end; `carom film` draws one later
        film: Option<FilmOutput>;
        // Often enough to lose little of a night, seldom enough to cost nothing.
        /// How often a checkpoint is written
        checkpoint: CheckpointOutput = CheckpointOutput { wall: Some(30.0), steps: None };
        /// Sections whose forces and stress go into the history
        sections: Vec<SectionOutput> = none();
    }
}

table! {
    /// A place of a body whose section forces go into the history
    SectionOutput("output.sections") {
        /// Unique among sections
        name: String as Name;
        /// A body with sections, all in one row
        body: String as Ref(Reference::Body);
        /// How far along the body from its first node
        distance: f64 as Number(NON_NEGATIVE);
    }
}

table! {
    /// ParaView frames; `frames` or `every`, not both
    VtkOutput("output.vtk") {
        /// About this many frames over the run
        frames: Option<usize> as Integer(1, MOST_STEPS) => "200";
        /// One frame every so many steps
        every: Option<usize> as Integer(1, MOST_STEPS);
        /// Encoding of the arrays
        encoding: Encoding = Encoding::Raw;
        /// Also the deformed bodies with their height, as surface.pvd
        surface: bool = false;
    }
}

words! {
    /// Encoding of VTU arrays
    Encoding {
        /// raw bytes: fast
        Raw = "raw",
        /// compressed: small
        Lz4 = "lz4",
    }
}

table! {
    /// The table of every step
    HistoryOutput("output.history") {
        /// One row every so many steps; the last is always there
        every: usize as Integer(1, MOST_STEPS) = 1;
        /// File format
        format: HistoryFormat = HistoryFormat::Csv;
    }
}

words! {
    /// File format of the history
    HistoryFormat {
        /// comma-separated values
        Csv = "csv",
        /// binary, read by `numpy.load`: many times faster
        Npy = "npy",
    }
}

impl HistoryFormat {
    /// Name of the file in the output directory.
    pub fn file(self) -> &'static str {
        match self {
            HistoryFormat::Csv => "history.csv",
            HistoryFormat::Npy => "history.npy",
        }
    }
}

table! {
    /// The film of a run, drawn at its end
    FilmOutput("output.film") {
        /// File format
        format: FilmFormat = FilmFormat::Gif;
        /// Number of pictures over the run
        frames: usize as Integer(FilmOutput::FRAMES[0] as i64, FilmOutput::FRAMES[1] as i64) = 120;
        /// Width and height in pixels
        size: [u32; 2] as Integers(2, FilmOutput::PIXELS[0] as i64, FilmOutput::PIXELS[1] as i64) = [800, 450];
    }
}

words! {
    /// File format of a film
    FilmFormat {
        /// one file that moves: film.gif
        Gif = "gif",
        /// pictures: film/000000.png and so on
        Png = "png",
    }
}

impl Default for FilmOutput {
    fn default() -> Self {
        empty()
    }
}

impl FilmOutput {
    /// Directory of the pictures of a film that is not one file.
    pub const FOLDER: &str = "film";
    /// Fewest and most pictures.
    pub const FRAMES: [usize; 2] = [2, 10_000];
    /// Fewest and most pixels along a side.
    pub const PIXELS: [u32; 2] = [64, 4096];

    /// The settings that JSON holds, or what is wrong with them.
    pub fn parse(json: &serde_json::Value) -> Result<FilmOutput, String> {
        let film: FilmOutput =
            serde_json::from_value(json.clone()).map_err(|error| format!("`output.film`: {error}"))?;
        let within = |value: usize, [low, high]: [usize; 2]| (low..=high).contains(&value);
        let pixels = FilmOutput::PIXELS.map(|pixels| pixels as usize);
        match within(film.frames, FilmOutput::FRAMES) && film.size.iter().all(|&side| within(side as usize, pixels)) {
            true => Ok(film),
            false => Err(format!("`output.film` is out of range: {json}")),
        }
    }

    /// The files that it consists of, by names relative to the directory of the run.
    pub fn files(&self) -> Vec<String> {
        match self.format {
            FilmFormat::Gif => vec!["film.gif".into()],
            FilmFormat::Png => (0..self.frames).map(|k| format!("{}/{k:06}.png", FilmOutput::FOLDER)).collect(),
        }
    }
}

impl FilmFormat {
    /// Whether a file that carom wrote is of a film of this format.
    pub fn is_file(self, name: &str) -> bool {
        match self {
            FilmFormat::Gif => name == "film.gif",
            FilmFormat::Png => name.strip_prefix(FilmOutput::FOLDER).is_some_and(|rest| rest.starts_with('/')),
        }
    }
}

impl clap::ValueEnum for FilmFormat {
    fn value_variants<'a>() -> &'a [FilmFormat] {
        &[FilmFormat::Gif, FilmFormat::Png]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(match self {
            FilmFormat::Gif => clap::builder::PossibleValue::new("gif").help("One file that moves: film.gif"),
            FilmFormat::Png => clap::builder::PossibleValue::new("png").help("Pictures: film/000000.png and so on"),
        })
    }
}

table! {
    /// How often a checkpoint is written
    CheckpointOutput("output.checkpoint", one_of: &[&["wall", "steps"]]) {
        /// Seconds between checkpoints
        wall: Option<f64> as Number(POSITIVE);
        /// Steps between checkpoints
        steps: Option<u64> as Integer(1, MOST_STEPS);
    }
}

table! {
    /// One expectation: `value` with `rel` and/or `abs`; or `below` and/or `above`; or `between`
    Expect("[expect]") {
        /// Expected value
        value: Option<f64>;
        /// Relative tolerance
        rel: Option<f64> as Number(NON_NEGATIVE);
        /// Absolute tolerance
        abs: Option<f64> as Number(NON_NEGATIVE);
        /// Upper bound
        below: Option<f64>;
        /// Lower bound
        above: Option<f64>;
        /// Both bounds
        between: Option<[f64; 2]>;
    }
}

impl Default for Expect {
    fn default() -> Self {
        empty()
    }
}
