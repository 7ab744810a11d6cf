//! Tells the program which commit it was built from, for `carom --version`: that of `CAROM_COMMIT` if it is set, else what git
//! says, else none. Nothing else of the machine gets in, so that the same commit gives the same program.
//!
//! Incremental builds, which developers make many of, are told nothing: every commit would compile the whole crate again.

use std::process::Command;

fn main() {
    for variable in ["CAROM_COMMIT", "CARGO_INCREMENTAL"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    let given = std::env::var("CAROM_COMMIT").ok();
    let incremental = std::env::var("CARGO_INCREMENTAL").is_ok_and(|value| value == "1");
    let commit = given.or_else(|| if incremental { None } else { of_checkout() });
    // Anything but a name of a commit would be somebody's slip.
    let named = |commit: &String| !commit.is_empty() && commit.chars().all(|letter| letter.is_ascii_alphanumeric());
    let words = commit.filter(named).map_or(String::new(), |commit| format!(" ({commit})"));
    println!("cargo:rustc-env=CAROM_VERSION={}{words}", env!("CARGO_PKG_VERSION"));
}

/// The commit that is checked out here; none outside of a checkout of carom itself, or without git.
fn of_checkout() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_string())
    };
    // A directory below somebody else's checkout, as cargo makes them for packages, is none of ours.
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let here = std::env::var("CARGO_MANIFEST_DIR").ok()?;
    if std::fs::canonicalize(top).ok()? != std::fs::canonicalize(here).ok()? {
        return None;
    }
    for path in ["HEAD", "logs/HEAD"] {
        println!("cargo:rerun-if-changed={}", git(&["rev-parse", "--git-path", path])?);
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}
