//! Feeds damaged input to every reader: cases, overrides, expressions, meshes, tables, checkpoints, the files of a run and of a sweep.
//!
//! ```text
//! cargo run --release --example fuzz -- [READER|all|list] [--seconds N] [--seed S]
//! cargo run --release --example fuzz -- READER --again FILE
//! ```
//!
//! Inputs are made from the shipped cases and meshes and from what is below, by a few random changes at a time: bits,
//! bytes, numbers, words of the format, pieces of another input, cuts. A reader may answer or refuse, but not panic, take
//! longer than [`PATIENCE`], or hold more memory at a time than a fixed multiple of what it was given. The same seed gives
//! the same inputs. Exit code 1 and the input in `target/fuzz/` if a reader misbehaves; one that does
//! not return within [`ENDLESS`] ends the program at once. `--again` reads such an input once more.

mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use targets::{Target, targets};

/// A reader that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(5);
/// Wall-clock time after which a reader that has not returned is ended with the program.
const ENDLESS: Duration = Duration::from_secs(120);
/// Most memory at a time for every byte of input, and in any case.
const MEMORY: (u64, u64) = (256, 1 << 20);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str, usual: u64| {
        let place = arguments.iter().position(|argument| argument == name);
        place.map_or(usual, |k| arguments.get(k + 1).and_then(|v| v.parse().ok()).expect("a number after the option"))
    };
    let (seconds, seed) = (option("--seconds", 10), option("--seed", 1));
    let wanted = arguments.first().map_or("all", String::as_str);
    let work = tempfile::tempdir().expect("a directory for a while");
    let targets = targets(work.path());
    let names: Vec<&str> = targets.iter().map(|target| target.name).collect();
    if wanted == "list" {
        println!("{}", names.join("\n"));
        return ExitCode::SUCCESS;
    }
    if wanted != "all" && !names.contains(&wanted) {
        eprintln!("there is no reader `{wanted}`; allowed: {}, all, list", names.join(", "));
        return ExitCode::from(2);
    }
    if let Some(file) = arguments.iter().position(|argument| argument == "--again").map(|k| &arguments[k + 1]) {
        let input = std::fs::read(file).expect("the input can be read");
        let target = targets.iter().find(|target| target.name == wanted).expect("one reader");
        let before = cpu();
        let accepted = (target.read)(&input);
        println!("{wanted}: {file}, {} bytes, accepted: {accepted}, {:?} of CPU", input.len(), cpu() - before);
        return ExitCode::SUCCESS;
    }
    // Panics are caught and counted; their own words would only be noise.
    std::panic::set_hook(Box::new(|_| ()));
    let mut findings = 0;
    for target in targets.iter().filter(|target| wanted == "all" || target.name == wanted) {
        findings += fuzz(target, Duration::from_secs(seconds), seed);
    }
    ExitCode::from(u8::from(findings > 0))
}

/// Lets a reader read for a while; returns the number of findings.
fn fuzz(target: &Target, time: Duration, seed: u64) -> usize {
    let mut random = Random(seed ^ 0x9e37_79b9_7f4a_7c15);
    // Inputs made from nothing that is accepted would meet the reader at its door only.
    if !target.seeds.iter().any(|seed| (target.read)(seed)) {
        println!("{}: none of its seeds is accepted", target.name);
        return 1;
    }
    let current = Arc::new(Mutex::new((Instant::now(), Vec::new())));
    end_if_endless(target.name, current.clone());
    let start = cpu();
    let mut spent = Duration::ZERO;
    let (mut runs, mut accepted, mut findings) = (0u64, 0u64, 0);
    let (mut slowest, mut hungriest) = (Duration::ZERO, 0.0f64);
    while spent < time {
        if runs.is_multiple_of(64) {
            spent = cpu() - start;
        }
        let input = damaged(target, &mut random);
        let begin = Instant::now();
        *current.lock().expect("nobody panics with the lock") = (begin, input.clone());
        let mut outcome = Ok(false);
        let memory = allocation_counter::measure(|| {
            outcome = catch_unwind(AssertUnwindSafe(|| (target.read)(&input)));
        });
        let mut took = begin.elapsed();
        if took > PATIENCE && outcome.is_ok() {
            // Others may have had the CPU: what counts is the time of the reader itself.
            let before = cpu();
            outcome = Ok((target.read)(&input));
            took = cpu() - before;
        }
        runs += 1;
        slowest = slowest.max(took);
        let most = MEMORY.0 * input.len() as u64 + MEMORY.1 + target.fixed;
        hungriest = hungriest.max(memory.bytes_max as f64 / most as f64);
        let trouble = match outcome {
            Err(_) => Some("panic"),
            Ok(_) if took > PATIENCE => Some("hang"),
            Ok(_) if memory.bytes_max > most => Some("memory"),
            Ok(good) => {
                accepted += u64::from(good);
                None
            }
        };
        if let Some(trouble) = trouble {
            findings += 1;
            keep(&format!("{}-{trouble}-{findings}", target.name), &input);
        }
    }
    println!(
        "{}: {runs} inputs in {:.0} s of CPU, {accepted} accepted, slowest {:.0} ms, memory up to {:.2} of what is allowed, \
         {findings} findings (seed {seed})",
        target.name,
        spent.as_secs_f64(),
        1e3 * slowest.as_secs_f64(),
        hungriest
    );
    findings
}

/// Writes a finding into `target/fuzz/` and prints its path.
fn keep(name: &str, input: &[u8]) {
    let path = std::path::PathBuf::from("target/fuzz").join(name);
    std::fs::create_dir_all("target/fuzz").expect("a directory for findings");
    std::fs::write(&path, input).expect("a finding is kept");
    println!("kept as {}", path.display());
}

/// Starts a thread that keeps the current input and ends the program with exit code 1 if the reader does not return within
/// [`ENDLESS`] of the given instant. Does nothing once the campaign has dropped its side.
fn end_if_endless(reader: &'static str, current: Arc<Mutex<(Instant, Vec<u8>)>>) {
    std::thread::spawn(move || {
        while Arc::strong_count(&current) > 1 {
            std::thread::sleep(Duration::from_secs(1));
            let (begin, input) = &*current.lock().expect("nobody panics with the lock");
            if Arc::strong_count(&current) > 1 && begin.elapsed() > ENDLESS {
                keep(&format!("{reader}-endless"), input);
                std::process::exit(1);
            }
        }
    });
}

/// Time that this program has been on a CPU, so that a busy machine does not make a campaign short; wall-clock time where
/// Linux does not tell.
fn cpu() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let told = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}

/// An input with a few things wrong.
fn damaged(target: &Target, random: &mut Random) -> Vec<u8> {
    let mut bytes = random.pick(&target.seeds).clone();
    for _ in 0..1 + random.below(6) {
        let at = random.below(bytes.len() + 1);
        let other = random.pick(&target.seeds);
        match random.below(10) {
            0 if !bytes.is_empty() => {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            1 if !bytes.is_empty() => {
                let at = random.below(bytes.len());
                let any = random.next() as u8;
                bytes[at] = *random.pick(&[0, 1, 0x7f, 0x80, 0xff, b'\n', b'"', b'[', any]);
            }
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..(at + random.below(64)).min(bytes.len()))),
            4 => {
                let piece: Vec<u8> = bytes[at..(at + random.below(256)).min(bytes.len())].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            5 => {
                let from = random.below(other.len() + 1);
                let piece = other[from..(from + random.below(512)).min(other.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            6 => drop(bytes.splice(at..at, random.pick(target.words).bytes())),
            7 => replace_number(&mut bytes, at, random),
            8 if at + 8 <= bytes.len() => {
                let any = random.next();
                let value = *random.pick(&[0, 1, u64::MAX, 1 << 31, 1 << 32, 1 << 62, f64::NAN.to_bits(), any]);
                bytes[at..at + 8].copy_from_slice(&if random.below(2) == 0 {
                    value.to_le_bytes()
                } else {
                    value.to_be_bytes()
                });
            }
            _ => {
                let end = (at + 1 + random.below(16)).min(bytes.len());
                bytes[at..end].reverse();
            }
        }
    }
    bytes
}

/// Another number in place of the next one in the text.
fn replace_number(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let digit = |byte: &u8| byte.is_ascii_digit() || b".-+e".contains(byte);
    let Some(start) = bytes[at..].iter().position(|byte| byte.is_ascii_digit()).map(|k| at + k) else { return };
    let end = bytes[start..].iter().position(|byte| !digit(byte)).map_or(bytes.len(), |k| start + k);
    let numbers = [
        "0",
        "-1",
        "1e308",
        "-1e-308",
        "nan",
        "inf",
        "18446744073709551616",
        "9007199254740993",
        "1",
        "2",
        "999999999",
    ];
    drop(bytes.splice(start..end, random.pick(&numbers).bytes()));
}

/// Xorshift: enough for inputs, and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n.max(1)
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
