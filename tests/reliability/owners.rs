//! One owner at a time, and nothing deleted that is not ours.

use super::common::cases::{Altered, BAR};
use super::common::program::{Answer, Place, contents, demand_same};
use super::common::random::Random;
use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A short run that writes every kind of file.
fn case_text() -> String {
    BAR.altered("area = 1.0", "area = 1.0, inertia = 1.0").altered("every = 20", "every = 5, surface = true")
}

/// So many steps that no test waits for the end.
const LONG: [&str; 4] = ["--set", "time.step=1e-9", "--set", "output={ vtk = false }"];

fn place() -> Place {
    Place::empty().with("bar.toml", &case_text())
}

impl Place {
    /// Runs the program and demands success, whatever it says.
    fn done(&self, arguments: &[&str]) {
        let answer = self.carom(arguments);
        assert_eq!(answer.code, 0, "{arguments:?}: {}", answer.err);
    }

    /// A run or sweep that does not end by itself, once it has written a file.
    fn living(&self, arguments: &[&str], file: &str) -> Living {
        let mut child = self.command(&[arguments, &LONG].concat()).spawn().unwrap();
        while !self.path(file).exists() {
            assert!(child.try_wait().unwrap().is_none(), "{arguments:?}: ended by itself");
            std::thread::sleep(Duration::from_millis(2));
        }
        Living(child)
    }
}

/// A process that is ended with the test.
struct Living(Child);

impl Drop for Living {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_second_process_in_a_run_directory_exits_6_and_names_the_owner() {
    let place = place();
    place.done(&["run", "bar.toml", "-o", "whole"]);
    let owner = place.living(&["run", "bar.toml", "-o", "out"], "out/checkpoint.bin");
    let name = format!("error: cannot use out: it is in use by process {}", owner.0.id());
    for second in [
        &["run", "bar.toml", "-o", "out"][..],
        &["run", "bar.toml", "-o", "out", "--force"],
        &["resume", "out"],
        &["report", "out"],
        &["film", "out"],
        &["sweep", "bar.toml", "--vary", "scheme.rho_inf=0.5,0.6", "-o", "out", "--force"],
        &["modes", "bar.toml", "-o", "out", "--force"],
        &["compare", "bar.toml", "--scheme", "newmark", "-o", "out", "--force"],
        &["converge", "bar.toml", "--steps", "1e-2", "-o", "out", "--force"],
    ] {
        let Answer { code, err: message, .. } = place.carom(second);
        assert_eq!(code, 6, "{second:?}: {message}");
        assert!(message.starts_with(&name) && message.contains("run bar.toml -o out"), "{second:?}: {message}");
    }
    // Killed, it leaves its lock to nobody.
    drop(owner);
    place.done(&["run", "bar.toml", "-o", "out", "--force"]);
    demand_same("after a kill", &contents(&place.path("whole")), &contents(&place.path("out")));
}

#[test]
fn a_second_process_in_a_sweep_directory_exits_6_and_names_the_owner() {
    let place = place();
    let vary = ["--vary", "scheme.rho_inf=0.5,0.6"];
    place.done(&[&["sweep", "bar.toml", "-o", "shard", "--shard", "1/1"], &vary[..]].concat());
    let owner = place.living(&[&["sweep", "bar.toml", "-o", "out"], &vary[..]].concat(), "out/rows.journal");
    let name = format!("error: cannot use out: it is in use by process {}", owner.0.id());
    for second in [
        &[&["sweep", "bar.toml", "-o", "out"], &vary[..], &LONG].concat()[..],
        &[&["sweep", "bar.toml", "-o", "out", "--force"], &vary[..]].concat(),
        &["resume", "out"],
        &["merge", "shard", "-o", "out", "--force"],
        &["merge", "out", "-o", "merged"],
        &["run", "bar.toml", "-o", "out", "--force"],
    ] {
        let Answer { code, err: message, .. } = place.carom(second);
        assert_eq!(code, 6, "{second:?}: {message}");
        assert!(message.starts_with(&name), "{second:?}: {message}");
    }
}

/// What two processes in one directory are told to do, and what the directory must hold if the one or the other says
/// that all is well.
struct Pair<'a> {
    prepare: Option<&'a str>,
    commands: [&'a str; 2],
    results: [&'a str; 2],
}

/// Two processes at random offsets: whoever exits with 0 leaves the bytes of one run, whoever does not says why. 40
/// pairs, or as many as the environment variable CAROM_PAIRS says.
#[test]
fn two_processes_in_one_directory_never_mix_their_files() {
    let place = Place::in_memory().with("bar.toml", &case_text());
    let steps = "--set time.step=2e-4 --set output.vtk={every=100} --set output.checkpoint={steps=200}";
    let commands: BTreeMap<&str, String> = [
        ("a", format!("run bar.toml {steps}")),
        ("b", format!("run bar.toml {steps} --set scheme.rho_inf=0.5")),
        ("s", format!("sweep bar.toml {steps} --vary scheme.rho_inf=0.5,0.6,0.7,0.8")),
        ("t", format!("sweep bar.toml {steps} --vary scheme.rho_inf=0.5,0.6,0.7,0.9")),
        ("k", format!("sweep bar.toml {steps} --vary scheme.rho_inf=0.5,0.6 --keep-runs")),
    ]
    .into_iter()
    .collect();
    let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
    let start = |name: &str, dir: &str| -> Command {
        let force = name.strip_suffix('!');
        let text = match force.unwrap_or(name) {
            "resume" => format!("resume {dir}"),
            "report" => format!("report {dir}"),
            other => format!("{} -o {dir}", commands[other]),
        };
        let text = if force.is_some() { text + " --force" } else { text };
        place.command(&words(&text).iter().map(String::as_str).collect::<Vec<_>>())
    };
    let mut whole = BTreeMap::new();
    let mut longest = Duration::ZERO;
    for name in commands.keys().copied() {
        let clock = Instant::now();
        let Answer { code, err: message, .. } = Answer::of(start(name, name).output().unwrap());
        assert_eq!(code, 0, "{name}: {message}");
        longest = longest.max(clock.elapsed());
        whole.insert(name, contents(&place.path(name)));
    }
    let pairs = [
        Pair { prepare: None, commands: ["a", "b"], results: ["a", "b"] },
        Pair { prepare: None, commands: ["a", "b!"], results: ["a", "b"] },
        Pair { prepare: None, commands: ["a", "resume"], results: ["a", "a"] },
        Pair { prepare: Some("a"), commands: ["resume", "resume"], results: ["a", "a"] },
        Pair { prepare: Some("a"), commands: ["resume", "b!"], results: ["a", "b"] },
        Pair { prepare: Some("a"), commands: ["a!", "report"], results: ["a", "a"] },
        Pair { prepare: None, commands: ["s", "s"], results: ["s", "s"] },
        Pair { prepare: None, commands: ["s", "t!"], results: ["s", "t"] },
        Pair { prepare: Some("s"), commands: ["resume", "s"], results: ["s", "s"] },
        Pair { prepare: None, commands: ["k", "k"], results: ["k", "k"] },
        Pair { prepare: Some("k"), commands: ["k!", "resume"], results: ["k", "k"] },
        Pair { prepare: Some("k"), commands: ["a!", "k!"], results: ["a", "k"] },
    ];
    let count: u64 = std::env::var("CAROM_PAIRS").map_or(40, |count| count.parse().expect("CAROM_PAIRS is a number"));
    let mut draws = Random::new(16);
    let mut codes = BTreeMap::new();
    for k in 0..count {
        let Pair { prepare, commands, results } = &pairs[k as usize % pairs.len()];
        let dir = format!("pair-{k}");
        if let Some(name) = prepare {
            let Answer { code, err: message, .. } =
                Answer::of(start(name, &dir).args(["--max-wall", "0"]).output().unwrap());
            assert_eq!(code, 8, "{message}");
        }
        let offset = Duration::from_micros(draws.bits() % longest.as_micros() as u64);
        let first = start(commands[0], &dir).spawn().unwrap();
        // From both sides: as many pairs start at once as late.
        if draws.count(0, 2) > 0 {
            std::thread::sleep(offset);
        }
        let second = start(commands[1], &dir).spawn().unwrap();
        let ids = [first.id(), second.id()];
        let answers = [first, second].map(|child| Answer::of(child.wait_with_output().unwrap()));
        let what = format!("pair {k}: {commands:?} after {offset:?}: {answers:?}");
        let found = contents(&place.path(&dir));
        let well: Vec<&str> = (0..2).filter(|&i| answers[i].code == 0).map(|i| results[i]).collect();
        assert!(!well.is_empty(), "nobody got through: {what}");
        assert!(well.iter().any(|name| whole[name] == found), "mixed files: {what}: {:?}", found.keys());
        for (i, Answer { code, err: message, .. }) in answers.iter().enumerate() {
            *codes.entry(*code).or_insert(0) += 1;
            match code {
                0 => {}
                6 => {
                    let owner = format!("in use by process {}", ids[1 - i]);
                    // A report of a run that is not complete has nothing to read.
                    let early = commands[i] == "report" && message.contains("cannot read");
                    assert!(message.contains(&owner) || early, "{what}");
                }
                // Somebody else was there before, and is done.
                2 | 3 => assert!(message.starts_with("error: "), "{what}"),
                _ => panic!("{what}"),
            }
        }
        std::fs::remove_dir_all(place.path(&dir)).unwrap();
    }
    println!("{count} pairs; processes by exit code: {codes:?}");
    assert!(codes.get(&6).is_some_and(|&refused| refused > count / 8), "too few met: {codes:?}");
}

#[test]
fn everything_that_is_written_is_in_a_manifest() {
    let place = place();
    for (dir, command) in [
        ("run", &["run", "bar.toml"][..]),
        ("npy", &["run", "bar.toml", "--set", "output.history={ format = \"npy\" }"]),
        ("sweep", &["sweep", "bar.toml", "--vary", "scheme.rho_inf=0.5,0.6", "--keep-runs"]),
        ("shard", &["sweep", "bar.toml", "--vary", "scheme.rho_inf=0.5,0.6", "--shard", "1/1"]),
        ("modes", &["modes", "bar.toml", "--count", "3"]),
        ("compare", &["compare", "bar.toml", "--scheme", "newmark"]),
        ("converge", &["converge", "bar.toml", "--steps", "1e-2,5e-3"]),
    ] {
        place.done(&[command, &["-o", dir]].concat());
        assert!(place.path(dir).join("manifest.json").is_file(), "{dir}");
        assert_eq!(carom::directory::others(&place.path(dir)).unwrap(), [""; 0], "{dir}");
        // And so all of it goes.
        place.done(&["modes", "bar.toml", "--count", "1", "-o", dir, "--force"]);
        let left: Vec<String> = contents(&place.path(dir)).into_keys().collect();
        assert_eq!(left, ["frames/000000.vtu", "manifest.json", "series.pvd"], "{dir}");
    }
}

#[test]
fn force_leaves_and_names_what_is_not_of_the_earlier_run() {
    let place = place();
    let run = ["run", "bar.toml", "-o", "out"];
    place.done(&run);
    let expected = contents(&place.path("out"));
    let mine =
        ["animation.gif", "checkpoint.pt", "energy.png", "frames/mine.vtu", "000001/table.csv", "history.csv.bak"];
    for name in mine {
        let path = place.path("out").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "mine").unwrap();
    }
    let Answer { code, err: message, .. } = place.carom(&[&run[..], &["--force"]].concat());
    assert_eq!(code, 0, "{message}");
    assert!(message.starts_with("not of this run, and left in out: 000001/, animation.gif, "), "{message}");
    let mut found = contents(&place.path("out"));
    for name in mine {
        assert_eq!(found.remove(name).as_deref(), Some(&b"mine"[..]), "{name}");
    }
    demand_same("beside files of others", &expected, &found);
    // What the next run would overwrite is refused before anything is removed.
    std::fs::write(place.path("out/frames/000500.vtu"), "mine").unwrap();
    let Answer { code, err: message, .. } = place.carom(&[&run[..], &["--force"]].concat());
    assert!(code == 2 && message.contains("has `frames/000500.vtu`"), "{code}: {message}");
    assert!(place.path("out/summary.json").exists());
}

#[test]
fn force_refuses_a_directory_that_is_not_ours() {
    let place = place();
    std::fs::create_dir_all(place.path("mine/frames")).unwrap();
    for name in ["mine/history.csv", "mine/table.csv", "mine/frames/000000.vtu", "mine/summary.json"] {
        std::fs::write(place.path(name), "mine").unwrap();
    }
    let before = std::fs::read_dir(place.path("mine")).unwrap().count();
    for command in [
        &["run", "bar.toml"][..],
        &["sweep", "bar.toml", "--vary", "scheme.rho_inf=0.5,0.6"],
        &["modes", "bar.toml"],
        &["compare", "bar.toml", "--scheme", "newmark"],
    ] {
        let Answer { code, err: message, .. } = place.carom(&[command, &["-o", "mine", "--force"]].concat());
        assert!(code == 2 && message.contains("not the directory of an earlier run"), "{code}: {message}");
    }
    assert_eq!(std::fs::read_dir(place.path("mine")).unwrap().count(), before);
}

#[test]
fn runs_of_the_first_edition_have_no_manifest_and_are_replaced_all_the_same() {
    let place = place();
    place.done(&["run", "bar.toml", "-o", "whole"]);
    place.done(&["run", "bar.toml", "-o", "complete"]);
    assert_eq!(place.carom(&["run", "bar.toml", "-o", "stopped", "--max-wall", "0"]).code, 8);
    assert_eq!(place.carom(&["run", "bar.toml", "-o", "resumed", "--max-wall", "0"]).code, 8);
    for dir in ["complete", "stopped", "resumed"] {
        std::fs::remove_file(place.path(dir).join("manifest.json")).unwrap();
    }
    place.done(&["run", "bar.toml", "-o", "complete", "--force"]);
    place.done(&["run", "bar.toml", "-o", "stopped", "--force"]);
    place.done(&["resume", "resumed"]);
    for dir in ["complete", "stopped", "resumed"] {
        demand_same(dir, &contents(&place.path("whole")), &contents(&place.path(dir)));
    }
}

#[test]
fn a_run_that_was_killed_before_its_first_checkpoint_says_how_to_start_again() {
    let place = place();
    assert_eq!(place.carom(&["run", "bar.toml", "-o", "my out", "--max-wall", "0"]).code, 8);
    std::fs::remove_file(place.path("my out/checkpoint.bin")).unwrap();
    let Answer { code, err: message, .. } = place.carom(&["resume", "my out"]);
    assert!(code == 3 && message.contains("ended before its first step"), "{code}: {message}");
    assert!(message.contains("start it again with: carom run CASE -o 'my out' --force"), "{message}");
    place.done(&["run", "bar.toml", "-o", "my out", "--force"]);
}

/// The answer of a process that must not hang.
#[cfg(unix)]
fn soon(mut command: Command) -> Answer {
    let mut child = command.spawn().unwrap();
    let clock = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if clock.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("it hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Answer::of(child.wait_with_output().unwrap())
}

#[cfg(unix)]
#[test]
fn links_that_lead_in_a_circle_do_not_hang_force() {
    use std::os::unix::fs::symlink;
    let place = place();
    place.done(&["run", "bar.toml", "-o", "whole"]);
    place.done(&["run", "bar.toml", "-o", "o"]);
    for name in ["runs", "000000"] {
        symlink(".", place.path("o").join(name)).unwrap();
    }
    let Answer { code, err: message, .. } = soon(place.command(&["run", "bar.toml", "-o", "o", "--force"]));
    assert_eq!((code, message.as_str()), (0, "not of this run, and left in o: 000000, runs\n"));
    for name in ["runs", "000000"] {
        std::fs::remove_file(place.path("o").join(name)).unwrap();
    }
    demand_same("links", &contents(&place.path("whole")), &contents(&place.path("o")));
}

#[cfg(unix)]
#[test]
fn nothing_is_written_or_removed_through_a_link() {
    use std::os::unix::fs::symlink;
    let place = place();
    let mine = place.path("mine");
    std::fs::create_dir(&mine).unwrap();
    for (name, target) in [("history.csv", "mine/table"), ("animation.json", "mine/table"), ("frames", "mine")] {
        assert_eq!(place.carom(&["run", "bar.toml", "-o", name, "--max-wall", "0"]).code, 8);
        let path = place.path(name).join(name);
        // The content itself moves, so that only the link is wrong.
        std::fs::rename(&path, place.path("kept")).unwrap();
        if path.file_name().unwrap() == "frames" {
            for entry in std::fs::read_dir(place.path("kept")).unwrap() {
                let path = entry.unwrap().path();
                std::fs::copy(&path, mine.join(path.file_name().unwrap())).unwrap();
            }
            std::fs::remove_dir_all(place.path("kept")).unwrap();
        } else {
            std::fs::rename(place.path("kept"), place.path(target)).unwrap();
        }
        symlink(place.path(target), &path).unwrap();
        let before = contents(&mine);
        let Answer { code, err: message, .. } = place.carom(&["resume", name]);
        assert!(code == 6 && message.contains(&format!("{name}/{name}: it is a link")), "{name}: {code}: {message}");
        let Answer { code, err: message, .. } = place.carom(&["run", "bar.toml", "-o", name, "--force"]);
        assert!(code == 2 && message.contains(&format!("has `{name}`")), "{name}: {code}: {message}");
        demand_same(name, &before, &contents(&mine));
    }
    // A directory that is itself reached by a link is as good as any.
    std::fs::create_dir(place.path("real")).unwrap();
    symlink("real", place.path("way")).unwrap();
    assert_eq!(place.carom(&["run", "bar.toml", "-o", "way", "--max-wall", "0"]).code, 8);
    place.done(&["resume", "way"]);
    place.done(&["run", "bar.toml", "-o", "way", "--force"]);
}

#[cfg(unix)]
#[test]
fn a_directory_whose_name_is_no_text_is_as_good_as_any() {
    use std::os::unix::ffi::OsStrExt;
    let place = place();
    let odd = place.root().join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    std::fs::create_dir(&odd).unwrap();
    std::fs::write(odd.join("bar.toml"), format!("{}\n[expect]\n\"defect.max\" = {{ below = 1e-9 }}\n", case_text()))
        .unwrap();
    let vary = ["--vary", "scheme.rho_inf=0.5,0.6"];
    for (code, arguments) in [
        (0, &["run", "bar.toml", "-o", "whole"][..]),
        (8, &["run", "bar.toml", "-o", "parts", "--max-wall", "0"]),
        (0, &["resume", "parts"]),
        (0, &["report", "parts"]),
        (0, &["film", "whole", "--frames", "2"]),
        (0, &["film", "parts", "--frames", "2"]),
        (0, &[&["sweep", "bar.toml", "-o", "s", "--keep-runs"], &vary[..]].concat()),
        (8, &[&["sweep", "bar.toml", "-o", "t", "--max-wall", "0"], &vary[..]].concat()),
        (0, &["resume", "t"]),
        (0, &["merge", "t", "-o", "m"]),
        (0, &["check", "bar.toml"]),
        (0, &["check", "bar.toml", "--json"]),
        (0, &["test", "bar.toml", "--junit", "x.xml"]),
        (0, &["modes", "bar.toml", "--count", "2"]),
        (0, &["compare", "bar.toml", "--scheme", "newmark"]),
        (0, &["converge", "bar.toml", "--steps", "1e-2,5e-3"]),
        (0, &["new", "other"]),
    ] {
        let Answer { code: found, err: message, .. } =
            Answer::of(place.command(arguments).current_dir(&odd).output().unwrap());
        assert_eq!(found, code, "{arguments:?}: {message}");
        // And from outside, with the directory in every path.
        let inside = |word: &&str| odd.join(word);
        let mut command = place.command(&arguments[..1]);
        for (k, word) in arguments.iter().enumerate().skip(1) {
            let path = !word.starts_with('-') && (k == 1 || ["-o", "--junit"].contains(&arguments[k - 1]));
            if path {
                command.arg(inside(word))
            } else {
                command.arg(word)
            };
        }
        let Answer { code: found, err: message, .. } = Answer::of(command.output().unwrap());
        assert!(found != 101, "{arguments:?}: {message}");
    }
    demand_same("odd", &contents(&odd.join("whole")), &contents(&odd.join("parts")));
}

/// A stack that no machine has room for keeps threads from starting, as a limit on processes does.
#[cfg(target_os = "linux")]
#[test]
fn a_thread_that_cannot_start_is_an_error_and_no_bug() {
    let place = place();
    for arguments in [
        &["run", "bar.toml", "-o", "run"][..],
        &["sweep", "bar.toml", "--vary", "scheme.rho_inf=0.5,0.6", "-o", "sweep"],
        &["compare", "bar.toml", "--scheme", "newmark", "-o", "compare"],
        &["converge", "bar.toml", "--steps", "1e-2", "-o", "converge"],
        &["modes", "bar.toml", "-o", "modes"],
        &["test", "bar.toml"],
        &["verify"],
    ] {
        let output = place.command(arguments).env("RUST_MIN_STACK", "1152921504606846976").output().unwrap();
        let Answer { code, err: message, .. } = Answer::of(output);
        assert_eq!(code, 6, "{arguments:?}: {message}");
        assert!(message.starts_with("error: cannot start "), "{arguments:?}: {message}");
    }
    // A run that writes no frames needs none.
    let output = place.command(&["run", "bar.toml", "-o", "bare", "--set", "output.vtk=false"]);
    assert_eq!(Answer::of({ output }.env("RUST_MIN_STACK", "1152921504606846976").output().unwrap()).code, 0);
}

#[cfg(unix)]
#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_no_kill() {
    let place = place();
    let Answer { code, err: message, .. } = Answer::of(
        place.script("ulimit -f 64; exec \"$0\" run bar.toml -o out --set time.step=1e-4").output().unwrap(),
    );
    assert_eq!(code, 6, "{message}");
    assert!(message.starts_with("error: cannot write out/"), "{message}");
    assert!(place.path("out/checkpoint.bin").exists() && !place.path("out/summary.json").exists());
}

#[cfg(unix)]
#[test]
fn a_closed_terminal_leaves_a_checkpoint_unless_the_run_is_to_outlive_it() {
    let place = place();
    let signal = |child: &Living, name: &str| {
        assert!(Command::new("kill").args([format!("-{name}"), child.0.id().to_string()]).status().unwrap().success());
    };
    let mut command = place.command(&[&["run", "bar.toml", "-o", "out"], &LONG[..]].concat());
    if ignored(std::process::id()) & 1 != 0 {
        // These tests were started by nohup: the program would inherit that SIGHUP is ignored.
        let arguments: Vec<_> = command.get_args().map(|word| word.to_os_string()).collect();
        let program = command.get_program().to_os_string();
        command = Command::new("env");
        command.arg("--default-signal=HUP").arg(program).args(arguments).current_dir(place.path("."));
    }
    let mut run = Living(command.spawn().unwrap());
    while !place.path("out/checkpoint.bin").exists() {
        assert!(run.0.try_wait().unwrap().is_none(), "ended by itself");
        std::thread::sleep(Duration::from_millis(2));
    }
    signal(&run, "HUP");
    assert_eq!(run.0.wait().unwrap().code(), Some(129));
    assert!(place.path("out/checkpoint.bin").exists() && !place.path("out/.carom.lock").exists());
    // As nohup starts it.
    let script = "trap '' HUP; exec \"$0\" run bar.toml -o night --set time.step=1e-9 --set 'output={ vtk = false }'";
    let mut run = Living(place.script(script).stderr(Stdio::null()).spawn().unwrap());
    while !place.path("night/checkpoint.bin").exists() {
        std::thread::sleep(Duration::from_millis(2));
    }
    signal(&run, "HUP");
    // Had it been heard, this would come second.
    signal(&run, "TERM");
    assert_eq!(run.0.wait().unwrap().code(), Some(143));
}

/// A mask of signals from the status of a process; bit n−1 stands for signal n. Zero where the system has no such file.
#[cfg(unix)]
fn signals(process: u32, label: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix(label));
    mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap())
}

/// Signals that a process ignores.
#[cfg(unix)]
fn ignored(process: u32) -> u64 {
    signals(process, "SigIgn:")
}

/// Signals that a process handles.
#[cfg(target_os = "linux")]
fn heard(process: u32) -> u64 {
    signals(process, "SigCgt:")
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_while_a_sweep_is_checked_is_heard_at_once() {
    let place = place();
    let vary = ["--vary", "scheme.rho_inf=0:1:1000", "--vary", "time.step=1e-3:2e-3:10000"];
    let mut child = Living(place.command(&[&["sweep", "bar.toml", "-o", "out"], &vary[..]].concat()).spawn().unwrap());
    while heard(child.0.id()) & 1 << 1 == 0 {
        assert!(child.0.try_wait().unwrap().is_none(), "ended by itself");
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(Command::new("kill").args(["-INT", &child.0.id().to_string()]).status().unwrap().success());
    assert_eq!(child.0.wait().unwrap().code(), Some(130));
    let mut message = String::new();
    std::io::Read::read_to_string(child.0.stderr.as_mut().unwrap(), &mut message).unwrap();
    assert!(message.contains("stopped while the runs were checked"), "{message}");
    assert!(!place.path("out").exists());
}

#[test]
fn hints_can_be_copied_into_a_shell() {
    let place = place();
    for (dir, word) in [("my run; it's", r"'my run; it'\''s'"), ("plain", "plain")] {
        let Answer { code, err: message, .. } = place.carom(&["run", "bar.toml", "-o", dir, "--max-wall", "0"]);
        assert_eq!(
            (code, message),
            (8, format!("error: the time limit is reached; go on with: carom resume {word}\n"))
        );
    }
    #[cfg(unix)]
    {
        let Answer { code, err: message, .. } =
            Answer::of(place.script(r#""$0" resume 'my run; it'\''s'"#).output().unwrap());
        assert_eq!(code, 0, "{message}");
    }
}

#[test]
fn a_table_holds_no_formulas() {
    let place = place();
    place.done(&["sweep", "bar.toml", "--vary", r#"title="=1+1","@x","-x","+x","plain""#, "-o", "s"]);
    let table = std::fs::read_to_string(place.path("s/table.csv")).unwrap();
    let cells: Vec<&str> = table.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert_eq!(cells, ["'=1+1", "'@x", "'-x", "'+x", "plain"]);
    // Numbers are numbers, whatever their sign.
    place.done(&["sweep", "bar.toml", "--vary", "body.bar.velocity=[-1.0],[-2.0]", "-o", "n"]);
    place.done(&["sweep", "bar.toml", "--vary", "contact.wall.plane.point=[-1],[-2]", "-o", "i"]);
    let table = std::fs::read_to_string(place.path("n/table.csv")).unwrap();
    assert!(table.contains(",-") && !table.contains("'-"), "{table}");
}

#[cfg(unix)]
#[test]
fn blessing_keeps_permissions_and_parts_no_hard_links() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    let path = place.path("mine.toml");
    let text = format!("{}\n[expect]\n\"energy@0\" = {{ value = 501.0, rel = 1e-6 }}\n", case_text());
    std::fs::write(&path, &text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::hard_link(&path, place.path("same.toml")).unwrap();
    let Answer { code, err: message, .. } = place.carom(&["test", "mine.toml", "--bless"]);
    assert!(code == 6 && message.contains("mine.toml: it has several names (hard links)"), "{code}: {message}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    std::fs::remove_file(place.path("same.toml")).unwrap();
    place.done(&["test", "mine.toml", "--bless"]);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_ne!(std::fs::read_to_string(&path).unwrap(), text);
}

/// A file that is there but does not answer: a directory in its place.
#[test]
fn a_checkpoint_that_cannot_be_read_is_not_taken_for_absent() {
    let place = place();
    let sweep = ["sweep", "bar.toml", "--vary", "scheme.rho_inf=0.5,0.6", "-o", "s"];
    assert_eq!(place.carom(&[&sweep[..], &["--max-wall", "0"]].concat()).code, 8);
    let broken = place.path("s/unfinished-000000/checkpoint.bin");
    std::fs::create_dir_all(&broken).unwrap();
    let Answer { code, err: message, .. } = place.carom(&sweep);
    assert!(code == 6 && message.contains("unfinished-000000/checkpoint.bin"), "{code}: {message}");
    std::fs::remove_dir(&broken).unwrap();
    place.done(&sweep);
}

/// A link to itself is a file that is there and cannot be looked at.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_looked_at_is_not_taken_for_absent() {
    let place = place();
    place.done(&["run", "bar.toml", "-o", "out"]);
    for name in ["history.npy", "animation.json"] {
        let path = place.path("out").join(name);
        let _ = std::fs::remove_file(&path);
        std::os::unix::fs::symlink(name, &path).unwrap();
        let Answer { code, err: message, .. } = place.carom(&["report", "out"]);
        assert!(code == 6 && message.contains(&format!("cannot find out/{name}")), "{code}: {message}");
        std::fs::remove_file(&path).unwrap();
    }
}
