//! The list of what a run writes into its directory: `manifest.json`, there before any of the files that it lists.
//!
//! It says which files are ours, and so which ones `--force` may remove.

use crate::case::data::FilmOutput;
use crate::checkpoint::Checkpoint;
use crate::files::{find, write_atomically};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// File name in the output directory.
pub const FILE: &str = "manifest.json";

/// Directory of the runs of a sweep that keeps their files.
pub(super) const RUNS: &str = "runs";

/// What a run, a study or a sweep writes, by names relative to its directory.
///
/// ```
/// use carom::directory::Manifest;
/// let manifest = Manifest::new(&["table.csv"]).with_series("series.pvd", "frames/#.vtu");
/// assert!(manifest.lists("table.csv") && manifest.lists("frames/000012.vtu"));
/// assert!(!manifest.lists("frames/mine.vtu") && !manifest.lists("table.txt"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of this layout.
    format: u32,
    /// Single files.
    files: Vec<String>,
    /// Lists of frames, each with the names of its frames: `#` stands for a number of six digits or more.
    series: Vec<[String; 2]>,
    /// Runs of a sweep: `runs/#`, each a run with a manifest of its own, and `unfinished-#/checkpoint.bin`, for every
    /// number below this.
    runs: u64,
}

impl Manifest {
    /// Single files by name.
    pub fn new(files: &[&str]) -> Manifest {
        let files = files.iter().map(|name| name.to_string()).collect();
        Manifest { format: 1, files, series: vec![], runs: 0 }
    }

    /// Adds a list of frames, and their names with `#` for the number.
    pub fn with_series(mut self, list: &str, frames: &str) -> Manifest {
        self.series.push([list.into(), frames.into()]);
        self
    }

    /// This manifest with other single files.
    pub fn with_files<'a>(&self, files: impl Iterator<Item = &'a str>) -> Manifest {
        Manifest { files: files.map(String::from).collect(), ..self.clone() }
    }

    /// Single files that are listed.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// Adds so many runs of a sweep.
    pub fn with_runs(mut self, runs: usize) -> Manifest {
        self.runs = runs as u64;
        self
    }

    /// What a run of a case writes; the case as JSON, with every default spelled out, as the summary has it.
    pub fn of_case(case: &Value) -> Manifest {
        let output = &case["output"];
        let history = if output["history"]["format"] == "npy" { "history.npy" } else { "history.csv" };
        let mut manifest = Manifest::new(&[history, "summary.json", "checkpoint.bin", "checkpoint.last.bin"]);
        let film = FilmOutput::parse(&output["film"]).ok();
        if output["report"] != false || film.is_some() {
            manifest.files.push("animation.json".into());
        }
        if output["report"] != false {
            manifest.files.push("report.html".into());
        }
        manifest.files.extend(film.iter().flat_map(FilmOutput::files));
        if output["vtk"].is_object() {
            manifest = manifest.with_series("series.pvd", "frames/#.vtu");
            manifest = manifest.with_series("obstacles.pvd", "frames/obstacles-#.vtu");
        }
        if output["vtk"]["surface"] == true {
            manifest = manifest.with_series("surface.pvd", "frames/surface-#.vtu");
        }
        manifest
    }

    /// What a run of a first-order system writes: no frames, and nothing to animate.
    pub fn of_first_order(case: &Value) -> Manifest {
        let mut manifest = Manifest::of_case(case);
        manifest.files.retain(|name| name != "animation.json");
        manifest
    }

    /// All that a run may write, for one of which nothing more is known.
    fn of_any_run() -> Manifest {
        let files = [
            "history.csv",
            "history.npy",
            "summary.json",
            "checkpoint.bin",
            "checkpoint.last.bin",
            "animation.json",
            "report.html",
        ];
        let manifest = Manifest::new(&files).with_series("series.pvd", "frames/#.vtu");
        let manifest = manifest.with_series("obstacles.pvd", "frames/obstacles-#.vtu");
        manifest.with_series("surface.pvd", "frames/surface-#.vtu")
    }

    /// What an earlier run wrote into a directory: by its manifest or, in one of the first edition, which had none, by
    /// its summary, its checkpoint, or its plan of a sweep. Nothing if the directory is not ours.
    pub fn of_earlier(dir: &Path) -> Result<Option<Manifest>> {
        let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap_or_default();
        if let Some(bytes) = find(&dir.join(FILE))? {
            let manifest = Manifest::parse(&bytes);
            return manifest.map(Some).map_err(|what| {
                Error::Usage(format!(
                    "{} cannot be read, so that nothing says which files are of an earlier run ({what}); choose another \
                     directory with -o",
                    dir.join(FILE).display()
                ))
            });
        }
        if let Some(summary) = find(&dir.join("summary.json"))?.map(|bytes| json(&bytes))
            && summary["schema"].is_number()
            && summary["case"]["output"].is_object()
        {
            return Ok(Some(Manifest::of_case(&summary["case"]).complete(dir)?));
        }
        if let Some(bytes) = find(&dir.join("checkpoint.bin"))?.filter(|bytes| bytes.starts_with(b"carom-checkpoint-"))
        {
            let case = Checkpoint::parse(&bytes).map(|checkpoint| json(checkpoint.identity.case.as_bytes()));
            return Ok(Some(case.map_or_else(|_| Manifest::of_any_run(), |case| Manifest::of_case(&case))));
        }
        if let Some(plan) = find(&dir.join("sweep.json"))?.map(|bytes| json(&bytes))
            && plan["vary"].is_array()
            && plan["identity"].is_object()
        {
            let files = ["sweep.json", "rows.journal", "table.csv", "table.jsonl", "figure.svg"];
            return Ok(Some(Manifest { runs: u64::MAX, ..Manifest::new(&files) }));
        }
        Ok(None)
    }

    /// Narrowed to the frames that were written, if the run is complete: its lists name every one of them. A run with a
    /// checkpoint may be on its way to its end again.
    pub(super) fn complete(mut self, dir: &Path) -> Result<Manifest> {
        let has = |name: &str| find(&dir.join(name)).map(|bytes| bytes.is_some());
        if !self.lists("summary.json") || !has("summary.json")? || has("checkpoint.bin")? {
            return Ok(self);
        }
        let mut named = Vec::new();
        for [list, frames] in std::mem::take(&mut self.series) {
            let bytes = find(&dir.join(&list))?.unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            let names = text.split("file=\"").skip(1).filter_map(|rest| rest.split('"').next());
            named.extend(names.filter(|name| number_in(name, &frames).is_some()).map(String::from));
            named.push(list);
        }
        self.files.extend(named);
        Ok(self)
    }

    fn parse(bytes: &[u8]) -> std::result::Result<Manifest, String> {
        let manifest: Manifest = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if manifest.format != 1 {
            return Err(format!("`format` is {}, but this version reads 1", manifest.format));
        }
        let below = |name: &str| Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        match manifest.files.iter().chain(manifest.series.iter().flatten()).find(|name| name.is_empty() || !below(name))
        {
            Some(name) => Err(format!("{name:?} is no name within the directory")),
            None => Ok(manifest),
        }
    }

    /// Writes the manifest of a directory unless it is there.
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(FILE);
        let text = serde_json::to_string_pretty(self).expect("a manifest is plain data") + "\n";
        if find(&path)?.as_deref() == Some(text.as_bytes()) { Ok(()) } else { write_atomically(&path, text.as_bytes()) }
    }

    /// Whether a file is listed; the name is relative to the directory.
    pub fn lists(&self, name: &str) -> bool {
        let checkpoint = || number_in(name, "unfinished-#/checkpoint.bin").is_some_and(|run| run < self.runs);
        let frame = |[list, frames]: &[String; 2]| name == list || number_in(name, frames).is_some();
        self.files.iter().any(|file| file == name) || self.series.iter().any(frame) || checkpoint()
    }

    /// Whether a directory is one for listed files.
    pub(super) fn holds(&self, name: &str) -> bool {
        let parents: BTreeSet<&str> = self
            .files
            .iter()
            .chain(self.series.iter().flatten())
            .filter_map(|file| Some(file.split_once('/')?.0))
            .collect();
        parents.contains(name) || number_in(name, "unfinished-#").is_some_and(|run| run < self.runs)
    }

    /// Whether something of that name is in the way of what is listed.
    pub(super) fn needs(&self, name: &str) -> bool {
        let name = name.trim_end_matches('/');
        let whole = whole_name(name);
        name == FILE || self.lists(&whole) || self.holds(name) || self.is_run(name) || (self.runs > 0 && name == RUNS)
    }

    /// Whether a directory is that of a run of the sweep.
    pub(super) fn is_run(&self, name: &str) -> bool {
        number_in(name, "runs/#").is_some_and(|run| run < self.runs)
    }

    /// Whether it lists runs.
    pub(super) fn has_runs(&self) -> bool {
        self.runs > 0
    }
}

/// The name of the file whose next content a killed process left under this one.
pub(super) fn whole_name(name: &str) -> String {
    let (dir, file) = name.rsplit_once('/').map_or(("", name), |(dir, file)| (dir, file));
    let whole = file.strip_prefix('.').and_then(|rest| rest.strip_suffix(".tmp")).unwrap_or(file);
    if dir.is_empty() { whole.to_string() } else { format!("{dir}/{whole}") }
}

/// The number that stands for `#` in a name, written with six digits or more and no other zeros in front.
fn number_in(name: &str, pattern: &str) -> Option<u64> {
    let (front, back) = pattern.split_once('#')?;
    let digits = name.strip_prefix(front)?.strip_suffix(back)?;
    let number = digits.parse().ok()?;
    (digits == format!("{number:06}")).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits_or_more_and_no_sign() {
        let frame = |name| number_in(name, "frames/#.vtu");
        assert_eq!(frame("frames/000012.vtu"), Some(12));
        assert_eq!(frame("frames/1234567.vtu"), Some(1234567));
        for other in ["frames/12.vtu", "frames/0000012.vtu", "frames/+00012.vtu", "frames/000012.vtu.gz", "000012.vtu"]
        {
            assert_eq!(frame(other), None, "{other}");
        }
    }

    #[test]
    fn a_manifest_that_names_a_file_elsewhere_is_refused() {
        for name in ["../x", "/etc/passwd", "a/../../b", "", "./x"] {
            let text = serde_json::json!({ "format": 1, "files": [name], "series": [], "runs": 0 }).to_string();
            let error = Manifest::parse(text.as_bytes()).unwrap_err();
            assert!(error.contains("is no name within the directory"), "{name}: {error}");
        }
        assert!(
            Manifest::parse(br#"{ "format": 2, "files": [], "series": [], "runs": 0 }"#)
                .unwrap_err()
                .contains("reads 1")
        );
        assert!(Manifest::parse(b"{").is_err());
    }
}
