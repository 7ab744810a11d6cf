//! What is claimed about the source itself: modules form one line, files open with what they are and stay short, one name
//! is one thing. The line is the block `order` in the docs of `src/lib.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files that may be longer than [`LIMIT`], with their reason.
const LONG: &[(&str, &str)] = &[
    ("checkpoint.rs", "a line over, tests included"),
    ("model/build.rs", "one function per table of the case; to be split by table"),
];
const LIMIT: usize = 500;

/// Type names that still mean several things. To be emptied.
const SHARED_NAMES: &str = "\
    Axis Beams Block Body Cells Chain Check Color Columns Command Contact Curve Element Entry Factor Factorize \
    Facts Fault Field Film Forces Found Frame General Given Grid Group Guards Held Instant Joint Key Kind Law \
    Layout Level Line Load Measure Motion Newton Node Outcome Part Pass Phase Piece Plan Plot Point \
    Polyline Probe Problem Quantity Recorder Reference Response Row Rows Run Scene Scheme Scope Scratch Section \
    Shape Side Sizes Solve Solver Source Stage State Stepper Stopwatch Strain Stride Sum Support Surface \
    System Table Tangent Trouble Value Values Verdict View Walk Wanted Watch Weights Works Written";

/// A file below `src`, read as far as this test needs to.
struct Source {
    /// Path below `src`.
    path: String,
    text: String,
    /// Words and signs without comments, texts and what is for tests only.
    tokens: Vec<String>,
    /// Files that a `mod` for tests only brings in, as paths without their ending.
    for_tests: Vec<String>,
}

impl Source {
    fn read(root: &Path, path: &Path) -> Source {
        let text = std::fs::read_to_string(path).unwrap();
        let path = path.strip_prefix(root).unwrap().to_str().unwrap().to_string();
        let (tokens, modules) = without_tests(tokens(&text));
        let stem = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let for_tests = modules.into_iter().map(|name| format!("{stem}/{name}")).collect();
        Source { path, text, tokens, for_tests }
    }

    /// The top-level module that it belongs to.
    fn module(&self) -> &str {
        self.path.split('/').next().unwrap().trim_end_matches(".rs")
    }

    /// How many `super` lead from it to the root of the crate.
    fn depth(&self) -> usize {
        self.path.split('/').filter(|part| *part != "mod.rs").count()
    }

    /// Names at the root of the crate that it uses: what stands behind `crate::`, or behind as many `super::` as lead there.
    fn names_at_root(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        let token = |k: usize| self.tokens.get(k).map_or("", String::as_str);
        let mut k = 0;
        while k < self.tokens.len() {
            let mut ups = 0;
            let root = token(k) == "crate";
            while token(k) == "super" && token(k + 1) == "::" {
                (ups, k) = (ups + 1, k + 2);
            }
            if root && token(k + 1) == "::" {
                k += 2;
            } else if ups < self.depth() {
                k += 1;
                continue;
            }
            if token(k) != "{" {
                names.insert(token(k));
                continue;
            }
            // The first word of each entry of the group.
            let mut level = 0;
            for (at, word) in self.tokens[k..].iter().enumerate() {
                level += usize::from(word == "{");
                level -= usize::from(word == "}");
                if level == 0 {
                    break;
                }
                if level == 1 && (word == "{" || word == ",") {
                    names.insert(token(k + at + 1));
                }
            }
        }
        names
    }

    /// Types that it defines, by a word of the language or by the declaration of a table of keys, `Name("[table]") {`.
    fn types(&self) -> Vec<&str> {
        let word = |k: usize| self.tokens.get(k).map_or("", String::as_str);
        let table = |k: usize| ["(", "\"\"", ")", "{"].iter().enumerate().all(|(i, sign)| word(k + 1 + i) == *sign);
        let defined = |k: usize| match word(k - 1) {
            "struct" | "enum" | "trait" | "union" => true,
            "{" | "}" | "]" => table(k),
            _ => false,
        };
        (1..self.tokens.len()).filter(|&k| word(k).starts_with(char::is_uppercase) && defined(k)).map(word).collect()
    }

    /// Paragraphs of documentation that begin with "The same".
    fn leaning(&self) -> usize {
        let lines: Vec<&str> = self.text.lines().map(str::trim_start).collect();
        let first = |k: usize, mark: &str| k == 0 || !lines[k - 1].starts_with(mark);
        let leans = |k: usize, mark: &str| {
            lines[k].strip_prefix(mark).is_some_and(|doc| doc.trim_start().starts_with("The same")) && first(k, mark)
        };
        (0..lines.len()).filter(|&k| leans(k, "///") || leans(k, "//!")).count()
    }
}

/// Words and signs of a Rust text. Texts become `""`, characters `''`; comments are gone.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let raw = rest.trim_start_matches(['b', 'c']).strip_prefix('r').map(|tail| tail.trim_start_matches('#'));
        let (length, token) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), "")
        } else if rest.starts_with("/*") {
            (2 + rest.find("*/").expect("a comment ends"), "")
        } else if first == '"' {
            (1 + end_of_text(&rest[1..]), "\"\"")
        } else if let Some(tail) = raw.filter(|tail| tail.starts_with('"')) {
            let begin = rest.len() - tail.len();
            let hashes = rest[..begin].matches('#').count();
            let close = format!("\"{}", "#".repeat(hashes));
            (begin + 1 + tail[1..].find(&close).expect("a text ends") + close.len(), "\"\"")
        } else if first == '\'' {
            // A character, or a lifetime.
            let inside = rest[1..].chars().next().expect("something behind a quote");
            let next = rest[1 + inside.len_utf8()..].starts_with('\'');
            if inside == '\\' {
                (3 + rest[3..].find('\'').expect("a character ends") + 1, "''")
            } else if next {
                (2 + inside.len_utf8(), "''")
            } else {
                (1, "")
            }
        } else if word > 0 {
            (word, &rest[..word])
        } else if rest.starts_with("::") {
            (2, "::")
        } else if first.is_whitespace() {
            (first.len_utf8(), "")
        } else {
            (first.len_utf8(), &rest[..first.len_utf8()])
        };
        if !token.is_empty() {
            tokens.push(token.to_string());
        }
        rest = &rest[length..];
    }
    tokens
}

/// Bytes up to and with the quote that ends a text.
fn end_of_text(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !escaped => return at + 1,
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    panic!("a text ends")
}

/// Leaves out the items behind `#[cfg(test)]`; also returns the modules among them that are files of their own.
fn without_tests(tokens: Vec<String>) -> (Vec<String>, Vec<String>) {
    let mark: Vec<String> = ["#", "[", "cfg", "(", "test", ")", "]"].map(String::from).into();
    let (mut kept, mut modules) = (Vec::new(), Vec::new());
    let mut k = 0;
    while k < tokens.len() {
        if !tokens[k..].starts_with(&mark) {
            kept.push(tokens[k].clone());
            k += 1;
            continue;
        }
        k += mark.len();
        if tokens[k] == "mod" && tokens[k + 2] == ";" {
            modules.push(tokens[k + 1].clone());
        }
        // An item ends with a semicolon or with the brace that closes it.
        let mut level = 0;
        loop {
            let token = tokens[k].as_str();
            level += i32::from(["{", "(", "["].contains(&token)) - i32::from(["}", ")", "]"].contains(&token));
            k += 1;
            if level == 0 && (token == ";" || token == "}") {
                break;
            }
        }
    }
    (kept, modules)
}

/// All files below `src`, those for tests only apart.
fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut ahead = vec![root.clone()];
    let mut paths: Vec<PathBuf> = Vec::new();
    while let Some(dir) = ahead.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                ahead.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let all: Vec<Source> = paths.iter().map(|path| Source::read(&root, path)).collect();
    let for_tests: Vec<String> = all.iter().flat_map(|source| source.for_tests.clone()).collect();
    let is_test = |source: &Source| {
        for_tests
            .iter()
            .any(|stem| source.path.starts_with(&format!("{stem}.rs")) || source.path.starts_with(&format!("{stem}/")))
    };
    all.into_iter().filter(|source| !is_test(source)).collect()
}

/// The modules in the order that `src/lib.rs` states, lowest first.
fn order(lib: &Source) -> Vec<&str> {
    let block = lib.text.split("//! ```order\n").nth(1).expect("lib.rs has a block `order`");
    let lines = block.lines().take_while(|line| *line != "//! ```");
    lines.flat_map(|line| line.trim_start_matches("//!").split_whitespace()).collect()
}

#[test]
fn modules_form_one_line() {
    let sources = sources();
    let lib = sources.iter().find(|source| source.path == "lib.rs").unwrap();
    let order = order(lib);
    let modules: BTreeSet<&str> = sources.iter().map(Source::module).filter(|m| !["lib", "main"].contains(m)).collect();
    let listed: BTreeSet<&str> = order.iter().copied().collect();
    assert_eq!(listed, modules, "the block `order` in src/lib.rs, and the modules that there are");
    assert_eq!(listed.len(), order.len(), "a module stands twice in the order");

    // `pub use error::{Error, Result}` makes `crate::Error` a use of `error`.
    let place = |name: &str| order.iter().position(|module| *module == name);
    let exported: BTreeMap<&str, &str> = lib
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("pub use ")?.split_once("::"))
        .flat_map(|(module, names)| {
            names.split(|c: char| !c.is_alphanumeric()).filter(|name| !name.is_empty()).map(move |name| (name, module))
        })
        .collect();
    let (mut edges, mut back) = (0, Vec::new());
    for source in &sources {
        let Some(here) = place(source.module()) else { continue };
        for name in source.names_at_root() {
            let Some(there) = place(exported.get(name).copied().unwrap_or(name)) else { continue };
            edges += usize::from(there != here);
            if there > here {
                back.push(format!("{} uses {name}", source.path));
            }
        }
    }
    assert!(edges > 500, "{edges} uses found: does this test still see them?");
    assert!(back.is_empty(), "{} uses point back:\n{}", back.len(), back.join("\n"));
}

#[test]
fn files_open_with_what_they_are_and_stay_short() {
    let long: BTreeSet<&str> = LONG.iter().map(|(path, _)| *path).collect();
    let mut found = BTreeSet::new();
    let sources = sources();
    for source in &sources {
        assert!(source.text.starts_with("//! "), "{} does not open with what it is", source.path);
        if source.text.lines().count() > LIMIT {
            found.insert(source.path.as_str());
        }
    }
    assert_eq!(found, long, "files of more than {LIMIT} lines, and those that may have them");
}

#[test]
fn documentation_stands_on_its_own() {
    let found: Vec<(String, usize)> =
        sources().iter().map(|source| (source.path.clone(), source.leaning())).filter(|(_, n)| *n > 0).collect();
    assert!(found.is_empty(), "docs that begin with \"The same\": {found:?}");
}

#[test]
fn one_name_is_one_thing() {
    let sources = sources();
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for source in &sources {
        for name in source.types() {
            places.entry(name).or_default().push(&source.path);
        }
    }
    assert!(places.len() > 300, "{} types found: does this test still see them?", places.len());
    places.retain(|_, paths| paths.len() > 1);
    let listed: BTreeSet<&str> = SHARED_NAMES.split_whitespace().collect();
    let new = places.iter().filter(|(name, _)| !listed.contains(*name));
    let new: Vec<String> = new.map(|(name, paths)| format!("{name}: {}", paths.join(", "))).collect();
    assert!(new.is_empty(), "defined more than once:\n{}", new.join("\n"));
    let gone: Vec<_> = listed.iter().filter(|name| !places.contains_key(*name)).collect();
    assert!(gone.is_empty(), "now one thing each, strike them out of the list: {gone:?}");
}

#[test]
fn what_the_reader_of_this_test_sees() {
    let text = "//! crate::a\nuse crate::{b, c::{d, e}, f as g};\n/* crate::h */ const I: &str = \"crate::j \\\" crate::k\";\n\
        fn l<'m>(n: &'m str) -> char { super::o::p(); super::super::q::r(); let _ = r#\"crate::s \" \"#; '\\'' }\n\
        #[cfg(test)]\nmod tests { use crate::t; fn u() { crate::v::w() } }\n#[cfg(test)]\nmod more;\nstruct X { y: crate::z::Z }\ndeclare! { Table(\"[table]\") { Other(\"x\") } }";
    let (tokens, modules) = without_tests(tokens(text));
    let source = Source { path: "x/y.rs".into(), text: text.into(), tokens, for_tests: vec![] };
    assert_eq!(source.names_at_root(), BTreeSet::from(["b", "c", "f", "q", "z"]));
    assert_eq!((modules, source.types()), (vec!["more".to_string()], vec!["X", "Table"]));
    let leaning = Source { text: "/// The same as x.\n/// The same.\nfn x() {}\n    /// The same y.".into(), ..source };
    assert_eq!(leaning.leaning(), 2);
}
