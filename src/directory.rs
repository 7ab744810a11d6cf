//! The output directory of a run: never mixed with an earlier one.

use crate::{Error, Result, files};
use std::fs;
use std::path::Path;

/// Files that carom writes, by name or by the part before their extension.
const OWN: [&str; 14] = [
    "history.csv",
    "history.npy",
    "series.pvd",
    "surface.pvd",
    "summary.json",
    "report.html",
    "compare.csv",
    "compare.html",
    "converge.csv",
    "sweep.json",
    "rows.journal",
    "table.csv",
    "table.jsonl",
    "figure.svg",
];
/// Figures, each as SVG and PNG.
const OWN_FIGURES: [&str; 6] = ["position", "velocity", "force", "energy", "error", "work"];
const OWN_STEMS: [&str; 2] = ["checkpoint", "animation"];

/// Makes `dir`, or empties it of what carom wrote if `force` is given. Anything else in it stays; without `force` a
/// directory that is not empty is refused.
pub fn claim(dir: &Path, force: bool) -> Result<()> {
    files::make_directories(dir)?;
    let entries = fs::read_dir(dir).map_err(Error::io("read", dir))?;
    let names: Vec<_> = entries
        .map(|entry| entry.map(|e| e.file_name()))
        .collect::<std::io::Result<_>>()
        .map_err(Error::io("read", dir))?;
    if names.is_empty() {
        return Ok(());
    }
    if !force {
        return Err(Error::Usage(format!(
            "{} is not empty; choose another directory with -o, or replace the earlier run with --force",
            dir.display()
        )));
    }
    clear(dir)
}

/// Removes what carom wrote, the runs of a sweep included.
fn clear(dir: &Path) -> Result<()> {
    for entry in fs::read_dir(dir).map_err(Error::io("read", dir))? {
        let path = entry.map_err(Error::io("read", dir))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        // What a killed process left of a file belongs to that file.
        let whole = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp")).unwrap_or(name);
        let (stem, ending) = whole.split_once('.').unwrap_or((whole, ""));
        let figure = OWN_FIGURES.contains(&stem) && ["svg", "png"].contains(&ending);
        if OWN.contains(&whole) || OWN_STEMS.contains(&stem) || figure {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        } else if name == "frames" {
            remove_frames(&path)?;
        } else if path.is_dir() && (name == "runs" || numbered(name)) {
            clear(&path)?;
            // Not empty if the user keeps something of their own there.
            let _ = fs::remove_dir(&path);
        }
    }
    Ok(())
}

/// Whether a directory is that of a run of a sweep: `000012` or `unfinished-000012`.
fn numbered(name: &str) -> bool {
    let number = name.strip_prefix("unfinished-").unwrap_or(name);
    number.len() >= 6 && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn remove_frames(dir: &Path) -> Result<()> {
    for entry in fs::read_dir(dir).map_err(Error::io("read", dir))? {
        let path = entry.map_err(Error::io("read", dir))?.path();
        if path.extension().is_some_and(|extension| extension == "vtu") {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    // Not empty if the user keeps something of their own there.
    let _ = fs::remove_dir(dir);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn force_removes_only_what_carom_wrote() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("out");
        claim(&dir, false).unwrap();
        fs::create_dir(dir.join("frames")).unwrap();
        for name in ["runs/000001", "runs/000002", "unfinished-000003"] {
            fs::create_dir_all(dir.join(name)).unwrap();
        }
        let own = [
            "history.csv",
            ".checkpoint.bin.tmp",
            "checkpoint.1",
            "force.png",
            "frames/000000.vtu",
            "unfinished-000003/checkpoint.bin",
        ];
        let others = ["notes.txt", "force.jpg", "frames/mine.png", "runs/000002/mine.txt"];
        for name in own.iter().chain(&["runs/000001/summary.json"]).chain(&others) {
            fs::write(dir.join(name), "x").unwrap();
        }
        let error = claim(&dir, false).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("--force"), "{error}");
        claim(&dir, true).unwrap();
        let left = |dir: &Path| {
            let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(left(&dir), ["force.jpg", "frames", "notes.txt", "runs"]);
        assert_eq!(left(&dir.join("runs")), ["000002"]);
        assert_eq!(left(&dir.join("frames")), ["mine.png"]);
    }
}
