//! Runs that are stopped from outside, and go on to the same bytes.

use super::files::same_bytes;
use super::{Place, tree};

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
    same_bytes(&place, "whole", "parts");
    assert_eq!(place.bad(3, &["resume", "parts"]), "error: cannot resume parts: the run is complete\n");
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
        same_bytes(&place, &whole, &parts);
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
    use std::process::{Command, Stdio};
    let place = Place::with_bar();
    for (signal, code, name) in [("INT", 130, "an interrupt"), ("TERM", 143, "a request to terminate")] {
        // So many steps that it cannot be over before the signal comes.
        let arguments = ["run", "bar.toml", "-o", signal, "--set", "time.step=1e-9", "--set", "output.vtk=false"];
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("carom"))
            .args(arguments)
            .current_dir(place.0.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
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
