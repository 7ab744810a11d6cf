//! What stops a run from outside: Ctrl-C, SIGTERM, a closed terminal, and the limit on its time.

use crate::{Error, Result, shell};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Watches for signals and the time limit. The first signal stops the run after the step at hand, with a checkpoint; a
/// second one ends the program at once.
pub fn watch(max_wall: Option<f64>, out: &Path) -> Result<impl Fn() -> Option<Error> + use<>> {
    let mut signals = Vec::new();
    let all = [(SIGINT, 130, "an interrupt"), (SIGTERM, 143, "a request to terminate"), (SIGHUP, 129, "a hang-up")];
    for (signal, code, name) in all {
        // Who started it with nohup does not want it to stop.
        if signal == SIGHUP && is_ignored(signal) {
            continue;
        }
        let seen = Arc::new(AtomicBool::new(false));
        // In this order: the shutdown looks whether the flag was set by an earlier signal.
        let registered = flag::register_conditional_shutdown(signal, code, seen.clone())
            .and_then(|_| flag::register(signal, seen.clone()));
        registered.map_err(|error| Error::Usage(format!("cannot listen for signals: {error}")))?;
        signals.push((seen, code as u8, name));
    }
    let clock = Instant::now();
    let go_on = format!("go on with: carom resume {}", shell::argument(out));
    Ok(move || {
        for (seen, code, name) in &signals {
            if seen.load(Ordering::Relaxed) {
                return Some(Error::Stopped { code: *code, text: format!("stopped by {name}; {go_on}") });
            }
        }
        let late = max_wall.is_some_and(|limit| clock.elapsed().as_secs_f64() >= limit);
        late.then(|| Error::Stopped { code: 8, text: format!("the time limit is reached; {go_on}") })
    })
}

/// Makes a write beyond the limit on the size of files an error like any other, instead of a kill.
pub fn outlive_file_size_limit() -> Result<()> {
    let registered = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    registered.map(|_| ()).map_err(|error| Error::Usage(format!("cannot listen for signals: {error}")))
}

/// Whether a signal was ignored when the program was started, where the system tells.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// A time in seconds, minutes or hours.
pub fn seconds(text: &str) -> std::result::Result<f64, String> {
    let (number, unit) = match text.as_bytes().last() {
        Some(b's') => (&text[..text.len() - 1], 1.0),
        Some(b'm') => (&text[..text.len() - 1], 60.0),
        Some(b'h') => (&text[..text.len() - 1], 3600.0),
        _ => (text, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value * unit),
        _ => Err("a time is a number of seconds, or one with s, m or h behind it".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(["5", "5s", "1.5m", "2h"].map(|t| seconds(t).unwrap()), [5.0, 5.0, 90.0, 7200.0]);
        for bad in ["", "x", "-1", "nan", "5d", "h"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
