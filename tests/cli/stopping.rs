//! Runs that are stopped from outside, and go on to the same bytes.

use super::{Place, tree};
use serde_json::Value;

#[test]
fn code_8_at_the_time_limit_and_resume_to_the_same_bytes() {
    let place = Place::with_bar();
    place.good(&["run", "bar.toml", "-o", "whole"]);
    let message = place.bad(8, &["run", "bar.toml", "-o", "parts", "--max-wall", "0"]);
    assert_eq!(message, "error: the time limit is reached; go on with: carom resume parts\n");
    assert!(!place.path("parts/summary.json").exists());
    assert!(place.path("parts/checkpoint.bin").is_file());
    // A limit of zero lets one step through at a time.
    place.bad(8, &["resume", "parts", "--max-wall", "0"]);
    assert!(place.good(&["resume", "parts"]).starts_with("short bar\n"));
    place.same_bytes("whole", "parts");
    let message = "error: cannot resume parts: the run is complete; a longer one goes on with: -o NEW --until T\n";
    assert_eq!(place.bad(3, &["resume", "parts"]), message);
}

/// Beyond the end of a complete run, off the grid or on it, and of one that was stopped: the history and the numbers of a run
/// with that end.
#[test]
fn a_longer_run_goes_on_from_the_last_checkpoint_to_the_same_bytes() {
    let place = Place::with_bar();
    let ends = [("0.5", "0.7"), ("0.503", "0.711"), ("0.3", "0.5"), ("0.5", "0.505")];
    for (k, (short, long)) in ends.into_iter().enumerate() {
        let [from, to, whole] = ["from", "to", "whole"].map(|name| format!("{name}{k}"));
        let end = format!("time.end={long}");
        place.good(&["run", "bar.toml", "-o", &from, "--set", &format!("time.end={short}")]);
        let before = bytes(&place, &from);
        let out = place.good(&["resume", &from, "-o", &to, "--until", long]);
        assert!(out.contains(&format!("goes on from            {from}, step ")), "{out}");
        place.good(&["run", "bar.toml", "-o", &whole, "--set", &end]);
        assert_eq!(bytes(&place, &from), before, "the earlier run stays as it is");
        assert!(
            place.read(&format!("{to}/history.csv")) == place.read(&format!("{whole}/history.csv")),
            "{short} {long}"
        );
        let [one, two] = [&to, &whole].map(|dir| {
            let mut summary: Value = serde_json::from_str(&place.read(&format!("{dir}/summary.json"))).unwrap();
            let origin = summary.as_object_mut().unwrap().shift_remove("origin");
            summary.as_object_mut().unwrap().shift_remove("timing");
            (summary, origin)
        });
        assert_eq!(one.0, two.0, "{short} {long}");
        assert_eq!((&one.1.unwrap()["directory"], two.1), (&Value::from(from.as_str()), None));
        assert!(place.path(&format!("{to}/report.html")).is_file());
    }
    // From where a run was stopped, which can still go on by itself, and the new one can be stopped too.
    place.bad(8, &["run", "bar.toml", "-o", "stopped", "--max-wall", "0"]);
    place.bad(8, &["resume", "stopped", "-o", "branch", "--until", "0.7", "--max-wall", "0"]);
    place.good(&["resume", "branch"]);
    assert!(place.read("branch/history.csv") == place.read("whole0/history.csv"));
    assert!(place.read("branch/summary.json").contains("\"directory\": \"stopped\""));
    place.good(&["resume", "stopped"]);
}

/// Names and bytes of the files of a run.
fn bytes(place: &Place, dir: &str) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| (name.clone(), std::fs::read(place.path(dir).join(name)).unwrap());
    tree(&place.path(dir)).into_iter().map(read).collect()
}

#[test]
fn what_a_run_from_a_checkpoint_may_not_change_is_named() {
    let place = Place::with_bar();
    place.good(&["run", "bar.toml", "-o", "from"]);
    let message =
        place.bad(3, &["resume", "from", "-o", "to", "--until", "1.0", "--set", "body.bar.material.young=1.0"]);
    assert!(message.contains("body[0].material.young was 900.0, is 1.0"), "{message}");
    let message = place.bad(2, &["resume", "from", "-o", "to", "--until", "0.2"]);
    assert!(message.contains("must end behind it, not at 0.2"), "{message}");
    assert!(!place.path("to").exists());
    place.bad(2, &["resume", "from", "--until", "1.0"]);
    place.bad(3, &["resume", "absent", "-o", "to", "--until", "1.0"]);
    // Guards and solvers may change.
    place.good(&["resume", "from", "-o", "to", "--until", "1.0", "--set", "guards.energy=false"]);
    let message = place.bad(2, &["resume", "from", "-o", "to", "--until", "1.0"]);
    assert!(message.contains("is not empty"), "{message}");
}

/// Massless nodes carry more from step to step: forces, the damping of velocities that were reset, mean rates.
#[test]
fn massless_nodes_resume_to_the_same_bytes() {
    let place = Place::with_bar();
    let mass = ["--set", "contact.wall.mass=\"redistributed\"", "--set", "body.bar.damping={ stiffness = 1e-3 }"];
    let middle = ["--set", "contact.wall.law=\"mid-velocity\"", "--set", "scheme={ name = \"moreau-jean\" }"];
    for (k, law) in [&[][..], &middle].into_iter().enumerate() {
        let [whole, parts] = [format!("whole{k}"), format!("parts{k}")];
        let run = |out: &'static str| [&["run", "bar.toml"][..], &mass, law, &[out]].concat();
        place.good(&[&run("-o")[..], &[&whole]].concat());
        place.bad(8, &[&run("-o")[..], &[&parts, "--max-wall", "0"]].concat());
        (0..5).for_each(|_| drop(place.bad(8, &["resume", &parts, "--max-wall", "0"])));
        place.good(&["resume", &parts]);
        place.same_bytes(&whole, &parts);
    }
}

#[test]
fn code_3_for_what_cannot_be_resumed() {
    let place = Place::with_bar();
    let message = place.bad(3, &["resume", "absent"]);
    assert!(message.contains("there is no checkpoint"), "{message}");
    place.bad(8, &["run", "bar.toml", "--max-wall", "0"]);
    let path = place.path("out/bar/checkpoint.bin");
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let message = place.bad(3, &["resume", "out/bar"]);
    assert!(message.starts_with("error: out/bar/checkpoint.bin: "), "{message}");
    assert!(!tree(&place.path("out/bar")).contains(&"summary.json".to_string()));
}

#[cfg(unix)]
#[test]
fn codes_130_and_143_for_signals() {
    use std::io::Read;
    use std::process::Command;
    let place = Place::with_bar();
    for (signal, code, name) in [("INT", 130, "an interrupt"), ("TERM", 143, "a request to terminate")] {
        // So many steps that it cannot be over before the signal comes.
        let arguments = ["run", "bar.toml", "-o", signal, "--set", "time.step=1e-9", "--set", "output.vtk=false"];
        let mut child = place.command(&arguments).spawn().unwrap();
        // Signals are caught before the directory is made.
        while !place.path(signal).join("checkpoint.bin").exists() {
            assert!(child.try_wait().unwrap().is_none(), "ended by itself");
            std::thread::yield_now();
        }
        assert!(Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code));
        let mut message = String::new();
        child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
        assert_eq!(message, format!("error: stopped by {name}; go on with: carom resume {signal}\n"));
        assert_eq!(tree(&place.path(signal)), ["animation.json", "checkpoint.bin", "history.csv", "manifest.json"]);
    }
}
