//! What is fuzzed: every reader with inputs that it accepts and words of its format.

use carom::case::data::FilmFormat;
use carom::case::{Format, parse};
use carom::cases::{CASES, MESHES};
use carom::checkpoint::{self, Checkpoint};
use carom::expression::{Expression, Vocabulary};
use carom::run::{self, RunOptions};
use carom::sinks::{Record, Sink};
use carom::sweep::{Sweep, SweepOptions, merge};
use carom::{Error, film, mesh, report, table};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Reads bytes; says whether they were accepted.
pub type Reader = Box<dyn Fn(&[u8]) -> bool>;

/// A reader: its name, what its inputs are made from, words of its format, and the reader itself.
pub struct Target {
    pub name: &'static str,
    pub seeds: Vec<Vec<u8>>,
    pub words: &'static [&'static str],
    pub read: Reader,
    /// Bytes that it takes whatever it reads.
    pub fixed: u64,
}

/// A figure as PNG: its pixels, and as much again to write them.
const FIGURE: u64 = 16 << 20;

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
const JSON_WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "null",
    "1e999",
    "-1",
    "\\ud800",
    "\n",
    "\"schema\":1",
    "18446744073709551616",
    "nan",
];
const NPY_WORDS: &[&str] =
    &["\u{93}NUMPY", "'shape': (", "18446744073709551615,", "('time', '<f8')", "], 'fortran_order': False"];

/// Every reader; `work` is a directory for files that they read.
pub fn targets(work: &Path) -> Vec<Target> {
    let text = |text: &str| text.as_bytes().to_vec();
    let mut cases: Vec<Vec<u8>> = CASES.iter().map(|case| text(case.text)).collect();
    cases.push(text(include_str!("../../tests/case_files/every.toml")));
    cases.push(text(r#"{"format":1,"time":{"end":1,"step":0.1},"scheme":{"name":"newmark"},"body":[]}"#));
    let mut meshes: Vec<Vec<u8>> = MESHES.iter().map(|mesh| mesh.bytes.to_vec()).collect();
    meshes.push(include_bytes!("../../meshes/bar-binary.msh").to_vec());
    meshes.push(include_bytes!("../../tests/data/plate.msh").to_vec());
    meshes.push(include_bytes!("../../tests/data/plate-partitioned.msh").to_vec());
    let tables = ["time,value\n0,0\n0.5,1.5\n1e1,-2\n", "# x\n0 , 1, 2\r\n1,2,3\r\n", "0,1\n"];
    let (checkpoints, word) = checkpoints(work);
    let checkpoint = move |bytes: &[u8]| read_checkpoint(bytes, &word);
    let (run, run_files) = Files::new(finished(work), &["summary.json", "history.csv", "animation.json"]);
    let (filmed, film_files) = Files::new(to_be_filmed(work), &["animation.json", "summary.json"]);
    let (binary, binary_files) = Files::new(finished_with(work, "npy"), &["history.npy"]);
    let (stopped, stopped_files) = Files::new(stopped_sweep(work), &["sweep.json", "rows.journal"]);
    let shards = shards(work);
    let (shard, shard_files) = Files::new(shards[0].clone(), &["sweep.json", "table.jsonl"]);
    let merged = work.join("merged");
    let target = |name, seeds, words, read| Target { name, seeds, words, read, fixed: 0 };
    let sets =
        ["time.step=1e-3", "body.bar.line.elements=7", "scheme={ name = \"newmark\", gamma = 0.5 }", "contact=[]"];
    vec![
        target("case", cases, TOML_WORDS, Box::new(read_case)),
        target("set", sets.map(text).to_vec(), TOML_WORDS, Box::new(read_set)),
        target(
            "expression",
            EXPRESSIONS.iter().copied().map(text).collect(),
            EXPRESSION_WORDS,
            Box::new(read_expression),
        ),
        target("mesh", meshes, MESH_WORDS, Box::new(read_mesh)),
        target("table", tables.map(text).to_vec(), TABLE_WORDS, Box::new(read_table)),
        target("checkpoint", checkpoints, &["carom-checkpoint-", "\n"], Box::new(checkpoint)),
        target("report", run_files, JSON_WORDS, run.reader(|dir| report::rebuild(dir).is_ok())),
        target("film", film_files, JSON_WORDS, filmed.reader(|dir| film::make(dir, &SMALL_FILM).is_ok())),
        target("report-npy", binary_files, NPY_WORDS, binary.reader(|dir| report::rebuild(dir).is_ok())),
        target("journal", stopped_files, JSON_WORDS, stopped.reader(goes_on)),
        Target {
            fixed: FIGURE,
            ..target(
                "shard",
                shard_files,
                JSON_WORDS,
                shard.reader(move |_| merge(&shards, Some(&merged), true).is_ok()),
            )
        },
    ]
}

/// A directory whose files are damaged one at a time.
struct Files {
    dir: PathBuf,
    whole: Vec<(String, Vec<u8>)>,
}

impl Files {
    /// The directory, and inputs made of these of its files: the name in a line, then the content.
    fn new(dir: PathBuf, names: &[&str]) -> (Files, Vec<Vec<u8>>) {
        let read = |name: &&str| (name.to_string(), fs::read(dir.join(name)).unwrap_or_else(|e| panic!("{name}: {e}")));
        let whole: Vec<(String, Vec<u8>)> = names.iter().map(read).collect();
        let seeds = whole.iter().map(|(name, bytes)| [name.as_bytes(), b"\n", bytes].concat()).collect();
        (Files { dir, whole }, seeds)
    }

    /// Puts an input in the place of its file, lets the directory be read, and puts the file back. An input without the name
    /// of a file is one of the first.
    fn reader(self, read: impl Fn(&Path) -> bool + 'static) -> Reader {
        Box::new(move |input| {
            let end = input.iter().position(|&byte| byte == b'\n').unwrap_or(0);
            let known = self.whole.iter().find(|(name, _)| name.as_bytes() == &input[..end]);
            let (damaged, _) = known.unwrap_or(&self.whole[0]);
            let content = if known.is_some() { &input[end + 1..] } else { input };
            fs::write(self.dir.join(damaged), content).expect("written");
            let good = read(&self.dir);
            for (name, bytes) in &self.whole {
                fs::write(self.dir.join(name), bytes).expect("written");
            }
            good
        })
    }
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
    table::parse(bytes, "fuzz", 2..=4).is_ok_and(|rows| rows.iter().flatten().all(|value| value.is_finite()))
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

fn read_set(bytes: &[u8]) -> bool {
    let set = [String::from_utf8_lossy(bytes).into_owned()];
    let bar = CASES.iter().find(|case| case.name == "impacting-bar").expect("a shipped case");
    match parse(bar.text, "fuzz", Format::Toml, &set) {
        Ok(_) => true,
        Err(failure) => failure.render(false).is_empty(),
    }
}

/// As it is, which the checksum mostly ends, and with a checksum that fits; `word` is the first of a checkpoint.
fn read_checkpoint(bytes: &[u8], word: &str) -> bool {
    let plain = Checkpoint::parse(bytes).is_ok();
    let body = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes, |end| &bytes[end + 1..]);
    let hash: String = Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut fitting = format!("{word} {hash}\n").into_bytes();
    fitting.extend_from_slice(body);
    let fitting = Checkpoint::parse(&fitting).is_ok();
    assert!(fitting || !plain, "a checksum that fits is not taken for one");
    plain | fitting
}

/// Sees nothing.
struct Nothing;

impl Sink for Nothing {
    fn record(&mut self, _: &Record) -> carom::Result<()> {
        Ok(())
    }
}

/// Runs a shipped case below `work`; returns its directory.
fn ran(work: &Path, name: &str, label: &str, set: &[&str], stop: &dyn Fn() -> Option<Error>) -> PathBuf {
    let (file, out) = (work.join(format!("{name}.toml")), work.join(label));
    let case = CASES.iter().find(|case| case.name == name).expect("a shipped case");
    fs::write(&file, case.text).expect("written");
    let set: Vec<String> = set.iter().map(|text| text.to_string()).collect();
    let loaded = carom::case::load(&file, &set, false).expect("a shipped case loads");
    let _ = run::run(&loaded, &out, RunOptions { force: true, from: None, branch: None, stop, extra: &mut Nothing });
    out
}

fn at_once() -> Option<Error> {
    Some(Error::Stopped { code: 8, text: String::new() })
}

/// Checkpoints of two short runs, and their first word.
fn checkpoints(work: &Path) -> (Vec<Vec<u8>>, String) {
    let made = ["bouncing-ball", "two-ball-oscillator"].map(|name| {
        let out = ran(work, name, &format!("{name}-stopped"), &[], &at_once);
        fs::read(out.join(checkpoint::FILE)).expect("a run that is stopped leaves a checkpoint")
    });
    let word = made[0].split(|&byte| byte == b' ').next().expect("a first word");
    let word = String::from_utf8(word.to_vec()).expect("a word is text");
    (made.to_vec(), word)
}

/// A finished run with a short table.
fn finished(work: &Path) -> PathBuf {
    finished_with(work, "csv")
}

fn finished_with(work: &Path, format: &str) -> PathBuf {
    let table = format!("output.history={{ format = \"{format}\", every = 60 }}");
    let set = ["output.vtk=false", "expect={}", "time.step=1.5e-2", &table];
    ran(work, "bouncing-ball", &format!("finished-{format}"), &set, &|| None)
}

/// A finished run with few frames, and every kind of thing in them.
fn to_be_filmed(work: &Path) -> PathBuf {
    let set = ["output.vtk=false", "expect={}", "time.end=0.02"];
    ran(work, "peg-board", "filmed", &set, &|| None)
}

const SMALL_FILM: film::FilmOptions =
    film::FilmOptions { format: Some(FilmFormat::Png), frames: Some(2), size: Some([64, 64]) };

/// Forty steps of a ball, or one of so many parts of them.
fn sweep(work: &Path, shard: [usize; 2]) -> Sweep {
    let case = work.join("swept.toml");
    let ball = CASES.iter().find(|case| case.name == "bouncing-ball").expect("a shipped case");
    fs::write(&case, ball.text).expect("written");
    let (set, vary) = (vec!["expect={}".into()], vec!["time.step=1e-3:2e-2:40".into()]);
    let wish = SweepOptions { case, set, allow_outside: false, vary, plot: None, keep_runs: false, shard };
    Sweep::new(&wish).expect("a sweep of a shipped case")
}

/// A sweep that was stopped half-way: after ten thousand of its twenty thousand steps, however busy the machine is.
fn stopped_sweep(work: &Path) -> PathBuf {
    let (out, asked) = (work.join("stopped"), AtomicUsize::new(0));
    let half_way = || (asked.fetch_add(1, SeqCst) > 10_000).then(at_once).flatten();
    let _ = sweep(work, [1, 1]).run(&out, true, &half_way, &|_| ());
    out
}

/// Both parts of a sweep.
fn shards(work: &Path) -> Vec<PathBuf> {
    [1, 2]
        .map(|part| {
            let out = work.join(format!("part-{part}"));
            sweep(work, [part, 2]).run(&out, true, &|| None, &|_| ()).expect("a sweep of a shipped case runs");
            out
        })
        .to_vec()
}

/// Whether a sweep that was stopped can be taken up; it is stopped again at once.
fn goes_on(dir: &Path) -> bool {
    let went = Sweep::reopen(dir, &|| None).and_then(|sweep| sweep.run(dir, false, &at_once, &|_| ()).map(|_| ()));
    matches!(went, Ok(()) | Err(Error::Stopped { .. }))
}
