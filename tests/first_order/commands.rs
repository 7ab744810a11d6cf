//! Every command on first-order systems, through the real binary.

use assert_cmd::Command;
use std::path::Path;

fn carom(arguments: &[&str]) -> std::process::Output {
    let mut command = Command::cargo_bin("carom").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().unwrap()
}

fn ok(arguments: &[&str]) -> String {
    let output = carom(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn read(dir: &Path, name: &str) -> Vec<u8> {
    std::fs::read(dir.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn a_run_writes_history_summary_and_report() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let text = ok(&["run", "cases/diode-bridge.toml", "-o", out.to_str().unwrap(), "--set", "time.end=1e-3"]);
    assert!(text.contains("states 2, laws 4"), "{text}");
    let history = String::from_utf8(read(&out, "history.csv")).unwrap();
    let head = "step,time,h,storage,work_smooth,work_source,work_law,work_jump,work_scheme,work_curvature,defect,active,newton,\
                sweeps,complementarity,state.v,state.i,law.r1.u,law.r1.w,law.r1.impulse,";
    assert!(history.starts_with(head), "{}", history.lines().next().unwrap());
    assert_eq!(history.lines().count(), 1 + 101, "every tenth step and the start");
    let summary: serde_json::Value = serde_json::from_slice(&read(&out, "summary.json")).unwrap();
    assert_eq!(summary["steps"], 1000);
    assert!(
        summary["columns"]["state.v"]["max"] == 10.0 && summary["columns"]["state.i"]["rms"].as_f64().unwrap() > 0.0
    );
    assert!(summary["energy"]["law_leak"].is_number());
    let page = String::from_utf8(read(&out, "report.html")).unwrap();
    for part in ["State v", "law r1: multiplier", "Phase plot", "states 2", "Stored energy"] {
        assert!(page.contains(part), "no {part}");
    }
    assert!(
        !out.join("animation.json").exists()
            && !out.join("series.pvd").exists()
            && !out.join("checkpoint.bin").exists()
    );
    // The resolved case is a case that runs to the same result.
    let case = place.path().join("again.json");
    std::fs::write(&case, summary["case"].to_string()).unwrap();
    let again = place.path().join("again");
    ok(&["run", case.to_str().unwrap(), "-o", again.to_str().unwrap()]);
    assert_eq!(read(&again, "history.csv"), read(&out, "history.csv"));
    ok(&["report", out.to_str().unwrap()]);
}

#[test]
fn a_stopped_run_goes_on_to_the_same_bytes() {
    for name in ["buck-converter", "tractrix", "bang-bang"] {
        let place = tempfile::tempdir().unwrap();
        let [whole, parts] = ["whole", "parts"].map(|name| place.path().join(name));
        let case = format!("cases/{name}.toml");
        let set = ["--set", "output.checkpoint={ steps = 37 }"];
        ok(&[&["run", &case, "-o", whole.to_str().unwrap()][..], &set].concat());
        let stopped = carom(&[&["run", &case, "-o", parts.to_str().unwrap(), "--max-wall", "0"][..], &set].concat());
        assert_eq!(stopped.status.code(), Some(8), "{}", String::from_utf8_lossy(&stopped.stderr));
        assert!(parts.join("checkpoint.bin").exists());
        ok(&["resume", parts.to_str().unwrap()]);
        for file in ["history.csv", "report.html"] {
            assert_eq!(read(&whole, file), read(&parts, file), "{name}: {file}");
        }
    }
}

#[test]
fn check_tells_degrees_solvability_passivity_and_time_constants() {
    let text = ok(&["check", "cases/diode-bridge.toml"]);
    for part in ["r1: 0, f2: 0, f1: 0, r2: 0", "passive", "true", "shortest time constant", "steps per time constant"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&ok(&["check", "cases/relay-oscillator.toml", "--json"])).unwrap();
    assert_eq!(json["relative_degrees"], "relay: 1");
    assert!(json["solvable"].as_str().unwrap().contains("P-matrix"), "{json}");
    let explicit = ok(&["check", "cases/diode-bridge.toml", "--set", "scheme.theta=0.0", "--set", "time.step=2.5e-4"]);
    assert!(explicit.contains("advice:") && explicit.contains("theta = 0 is stable"), "{explicit}");
}

#[test]
fn studies_sweeps_and_tests_work() {
    let place = tempfile::tempdir().unwrap();
    let out = |name: &str| place.path().join(name).to_str().unwrap().to_string();
    let text = ok(&["converge", "cases/diode-bridge.toml", "--steps", "4e-6,2e-6,1e-6", "-o", &out("converge")]);
    assert!(text.contains("state.v against the exact solution (stated in the case)"), "{text}");
    let orders = text.lines().last().unwrap();
    assert!(orders.contains("2.00"), "{orders}");
    let text = ok(&["compare", "cases/diode-bridge.toml", "-o", &out("compare"), "--set", "time.end=1e-3"]);
    assert!(text.contains("theta omega=1 theta=0.5") && text.contains("theta theta=1"), "{text}");
    ok(&["sweep", "cases/buck-converter.toml", "--vary", "constants.duty=0.2:0.6:3", "-o", &out("sweep")]);
    let table = String::from_utf8(read(&place.path().join("sweep"), "table.csv")).unwrap();
    assert!(table.lines().next().unwrap().contains("state.v.final"), "{table}");
    assert_eq!(table.lines().count(), 4);
    let names = carom::cases::CASES.iter().filter(|case| case.text.contains("analysis = \"first-order\""));
    let files: Vec<String> = names.map(|case| format!("cases/{}.toml", case.name)).collect();
    assert_eq!(files.len(), 12);
    let files: Vec<&str> = std::iter::once("test").chain(files.iter().map(String::as_str)).collect();
    ok(&files);
}
