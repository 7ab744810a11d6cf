//! Feeds damaged input to the readers of cases, meshes, tables, expressions and checkpoints.
//!
//! ```text
//! cargo run --release --example fuzz -- [case|mesh|table|expression|checkpoint|all] [--seconds N] [--seed S]
//! ```
//!
//! Inputs are made from the shipped cases and meshes and from what is below, by a few random changes at a time: bits,
//! bytes, numbers, words of the format, pieces of another input, cuts. A reader may answer or refuse, but not panic, take
//! longer than [`PATIENCE`], or hold more memory at a time than a fixed multiple of what it was given. The same seed gives
//! the same inputs. Exit code 1 and the input in `target/fuzz/` if a reader misbehaves.

use carom::case::{Format, parse};
use carom::cases::{CASES, MESHES};
use carom::checkpoint::{self, Checkpoint};
use carom::expression::{Expression, Vocabulary};
use carom::run::{self, Manner};
use carom::sinks::{Record, Sink};
use carom::{Error, mesh, table};
use sha2::{Digest, Sha256};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// A reader that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(5);
/// Most memory at a time for every byte of input, and in any case.
const MEMORY: (u64, u64) = (256, 1 << 20);

/// A reader: its name, what its inputs are made from, words of its format, and the reader itself.
struct Target {
    name: &'static str,
    seeds: Vec<Vec<u8>>,
    words: &'static [&'static str],
    read: fn(&[u8]) -> bool,
}

const TOML_WORDS: &[&str] = &[
    "[[body]]",
    "[[contact]]",
    "[time]",
    "[scheme]",
    "[output]",
    "[expect]",
    "name",
    "element",
    "line",
    "from",
    "to",
    "elements",
    "grading",
    "polyline",
    "points",
    "mesh",
    "group",
    "material",
    "section",
    "shape",
    "between",
    "nodes",
    "plane",
    "normal",
    "\"\"\"",
    "'''",
    "{",
    "}",
    "[",
    "]",
    "=",
    ".",
    ",",
    "\n",
    "#",
    "\\u0000",
    "\u{feff}",
    "true",
    "nan",
    "-inf",
    "0x7fffffffffffffff",
    "9223372036854775808",
    "1e308",
    "1979-05-27T07:32:00Z",
    "{\"a\":",
    "null",
];
const MESH_WORDS: &[&str] = &[
    "$MeshFormat\n",
    "$EndMeshFormat\n",
    "$PhysicalNames\n",
    "$Entities\n",
    "$Nodes\n",
    "$EndNodes\n",
    "$Elements\n",
    "$EndElements\n",
    "4.1 0 8\n",
    "4.1 1 8\n",
    "2.2 0 8\n",
    "18446744073709551615",
    "-1",
    "0",
    "4294967296",
    "nan",
    "1e999",
];
const TABLE_WORDS: &[&str] =
    &["nan", "inf", "-", "1e999", ",", "\n", "\r\n", "#", "time,value\n", "\u{feff}", "0x1", "\"", ";"];
const EXPRESSIONS: &[&str] = &[
    "-x^2 + 3*sin(2*pi*t)/(1 + R)",
    "if(t < 0.5, 1.5e-3*x, max(x, y)^-2) >= mod(floor(t), 3)",
    "pulse(t, 0.2, 0.5)*atan2(y, x) - sqrt(abs(x)) + log(exp(t))",
    "((((((((x))))))))",
];
const EXPRESSION_WORDS: &[&str] = &[
    "(", ")", "((((((((", "^", "^-", "-", "<=", ",", "if(", "max(", "1e", "0x", "1_0", "pi", "R", "t", " ", "\u{2212}",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str, usual: u64| {
        let place = arguments.iter().position(|argument| argument == name);
        place.map_or(usual, |k| arguments.get(k + 1).and_then(|v| v.parse().ok()).expect("a number after the option"))
    };
    let (seconds, seed) = (option("--seconds", 10), option("--seed", 1));
    let wanted = arguments.first().map_or("all", String::as_str);
    let targets = targets();
    if wanted != "all" && targets.iter().all(|target| target.name != wanted) {
        eprintln!("there is no reader `{wanted}`; allowed: case, mesh, table, expression, checkpoint, all");
        return ExitCode::from(2);
    }
    // Panics are caught and counted; their own words would only be noise.
    std::panic::set_hook(Box::new(|_| ()));
    let mut findings = 0;
    for target in targets.iter().filter(|target| wanted == "all" || target.name == wanted) {
        findings += fuzz(target, Duration::from_secs(seconds), seed);
    }
    ExitCode::from(u8::from(findings > 0))
}

fn targets() -> Vec<Target> {
    let text = |text: &str| text.as_bytes().to_vec();
    let mut cases: Vec<Vec<u8>> = CASES.iter().map(|case| text(case.text)).collect();
    cases.push(text(include_str!("../tests/case_files/every.toml")));
    cases.push(text(r#"{"format":1,"time":{"end":1,"step":0.1},"scheme":{"name":"newmark"},"body":[]}"#));
    let mut meshes: Vec<Vec<u8>> = MESHES.iter().map(|mesh| mesh.bytes.to_vec()).collect();
    meshes.push(include_bytes!("../meshes/bar-binary.msh").to_vec());
    meshes.push(include_bytes!("../tests/data/plate.msh").to_vec());
    meshes.push(include_bytes!("../tests/data/plate-partitioned.msh").to_vec());
    let tables = ["time,value\n0,0\n0.5,1.5\n1e1,-2\n", "# x\n0 , 1, 2\r\n1,2,3\r\n", "0,1\n"];
    vec![
        Target { name: "case", seeds: cases, words: TOML_WORDS, read: read_case },
        Target { name: "mesh", seeds: meshes, words: MESH_WORDS, read: read_mesh },
        Target { name: "table", seeds: tables.map(text).to_vec(), words: TABLE_WORDS, read: read_table },
        Target {
            name: "expression",
            seeds: EXPRESSIONS.iter().copied().map(text).collect(),
            words: EXPRESSION_WORDS,
            read: read_expression,
        },
        Target {
            name: "checkpoint",
            seeds: checkpoints(),
            words: &["carom-checkpoint-2 ", "\n"],
            read: read_checkpoint,
        },
    ]
}

fn read_case(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let format = if text.trim_start().starts_with('{') { Format::Json } else { Format::Toml };
    // An error is only as good as its message.
    match parse(&text, "fuzz", format, &[]) {
        Ok(_) => true,
        Err(failure) => failure.render(false).is_empty(),
    }
}

fn read_mesh(bytes: &[u8]) -> bool {
    let groups = [None, Some("bar"), Some("start")];
    groups.iter().any(|group| mesh::gmsh::parse(bytes, "fuzz", *group).is_ok())
}

fn read_table(bytes: &[u8]) -> bool {
    table::parse(bytes, "fuzz", 2).is_ok_and(|rows| rows.iter().flatten().all(|value| value.is_finite()))
}

/// What is accepted must also be evaluated in every way; an error is only as good as its message.
fn read_expression(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let constants = [("R".to_string(), 2.0)];
    let names = Vocabulary { variables: &["x", "y", "t"], constants: &constants, refused: &[] };
    match Expression::parse(&text, &names) {
        Ok(expression) => {
            let (values, mut gradient) = ([0.3, -0.7, 0.0], [0.0; 3]);
            let value = expression.value(&values);
            let same = |other: f64| other.to_bits() == value.to_bits() || (other.is_nan() && value.is_nan());
            assert!(same(expression.gradient(&values, &mut gradient)) && same(expression.jet(&values, 2)[0]));
            let _ = expression.check_affine(&[0, 1]).map_err(|fault| fault.to_string());
            true
        }
        Err(fault) => fault.to_string().is_empty(),
    }
}

/// As it is, which the checksum mostly ends, and with a checksum that fits.
fn read_checkpoint(bytes: &[u8]) -> bool {
    let plain = Checkpoint::parse(bytes).is_ok();
    let body = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes, |end| &bytes[end + 1..]);
    let hash: String = Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut fitting = format!("carom-checkpoint-2 {hash}\n").into_bytes();
    fitting.extend_from_slice(body);
    plain | Checkpoint::parse(&fitting).is_ok()
}

/// Checkpoints of two short runs.
fn checkpoints() -> Vec<Vec<u8>> {
    struct Nothing;
    impl Sink for Nothing {
        fn record(&mut self, _: &Record) -> carom::Result<()> {
            Ok(())
        }
    }
    let root = std::env::temp_dir().join(format!("carom-fuzz-{}", std::process::id()));
    let made = ["bouncing-ball", "two-ball-oscillator"].map(|name| {
        let dir = root.join(name);
        std::fs::create_dir_all(&dir).expect("a directory for a while");
        let file = dir.join("case.toml");
        std::fs::write(&file, CASES.iter().find(|case| case.name == name).expect("a shipped case").text)
            .expect("written");
        let loaded = carom::case::load(&file, &[], false).expect("a shipped case loads");
        let stop = || Some(Error::Stopped { code: 8, text: String::new() });
        let out = dir.join("out");
        let _ = run::run(&loaded, &out, Manner { force: true, from: None, stop: &stop, extra: &mut Nothing });
        std::fs::read(out.join(checkpoint::FILE)).expect("a run that is stopped leaves a checkpoint")
    });
    let _ = std::fs::remove_dir_all(root);
    made.to_vec()
}

/// Lets a reader read for a while; returns the number of findings.
fn fuzz(target: &Target, time: Duration, seed: u64) -> usize {
    let mut random = Random(seed ^ 0x9e37_79b9_7f4a_7c15);
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
        let mut outcome = Ok(false);
        let memory = allocation_counter::measure(|| {
            outcome = catch_unwind(AssertUnwindSafe(|| (target.read)(&input)));
        });
        let took = begin.elapsed();
        runs += 1;
        slowest = slowest.max(took);
        let most = MEMORY.0 * input.len() as u64 + MEMORY.1;
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
            let path = std::path::PathBuf::from("target/fuzz").join(format!("{}-{trouble}-{findings}", target.name));
            std::fs::create_dir_all("target/fuzz").expect("a directory for findings");
            std::fs::write(&path, &input).expect("a finding is kept");
            println!("{}: {trouble}, kept as {}", target.name, path.display());
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
