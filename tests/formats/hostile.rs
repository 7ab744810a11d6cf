//! Case files that want to do harm: endless nesting, many errors, damaged bytes.

use crate::common::cases::Altered;
use carom::case::{Failure, Format, parse};

const BAR: &str = include_str!("../case_files/bar.toml");
const TRUSS: &str = include_str!("../case_files/truss.toml");

fn bad(text: &str, set: &[&str]) -> Failure {
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    parse(text, "x.toml", Format::Toml, &set).expect_err("this case must be refused")
}

#[test]
fn hostile_texts_are_refused_without_harm() {
    let deep = 100_000;
    for text in [
        format!("a = {}", "[".repeat(deep)),
        format!("a = {}{}", "[".repeat(deep), "]".repeat(deep)),
        format!("a = {}", "{ a = ".repeat(deep)),
        format!("{}a = 1", "a.".repeat(deep)),
        format!("[{}a]", "a.".repeat(deep)),
        format!("{} = 1", "x".repeat(1 << 20)),
        "a = 1\n".repeat(deep),
        "\0".into(),
        "\u{feff}\u{feff}".into(),
        "ö = 'ä".into(),
    ] {
        let [file, set] = [bad(&text, &[]), bad(BAR, &[&text])].map(|failure| failure.render(false));
        assert!(file.starts_with("error: ") && file.contains("x.toml"), "{file:.300}");
        assert!(set.starts_with("error: ") && set.contains("--set"), "{set:.300}");
    }
    for open in ["[", "{\"a\":"] {
        assert!(
            parse(&open.repeat(deep), "x.json", Format::Json, &[]).unwrap_err().render(false).contains("recursion")
        );
    }
    // More errors than anyone reads.
    let many: String = (0..900).map(|i| format!("k{i} = 1\n")).collect();
    let text = bad(&format!("{many}{BAR}"), &[]).render(false);
    assert!(text.ends_with("… and 850 others\n900 errors in x.toml"), "{}", &text[text.len() - 100..]);
}

#[test]
fn many_errors_are_not_compared_with_one_another() {
    let sets: String = (0..50_000).map(|i| format!("[[set]]\nname = 's{i}'\nnodes = ['n{i}', 'x']\n")).collect();
    let expects: String = (0..50_000).map(|i| format!("'contact.c{i}.peak' = {{ below = 'x' }}\n")).collect();
    let twice: String = "[[probe]]\nname = 'p'\nnode = 'p'\n".repeat(50_000);
    let points = "[0], [1, 2], ".repeat(200_000);
    let start = std::time::Instant::now();
    for text in [
        format!("{BAR}{expects}{sets}"),
        format!("{BAR}{twice}"),
        BAR.altered("[0.0]", &format!("[{points}]")),
        BAR.altered("line     = { from = [5.0], to = [15.0],", &format!("polyline = {{ points = [{points}],")),
    ] {
        assert!(bad(&text, &[]).render(false).ends_with(" in x.toml"));
    }
    // Measured: 2.6 s; anything quadratic takes minutes.
    assert!(start.elapsed().as_secs() < 60);
}

#[test]
fn no_single_changed_byte_makes_it_panic() {
    for position in (0..TRUSS.len()).filter(|&position| TRUSS.is_char_boundary(position)) {
        for insert in ["\"", "[", "}", "=", "\n", "é", "9", ""] {
            let text = format!("{}{insert}{}", &TRUSS[..position], &TRUSS[position + 1..]);
            if let Err(failure) = parse(&text, "x.toml", Format::Toml, &[]) {
                let rendered = failure.render(false);
                assert!(rendered.contains("x.toml") && !rendered.contains("carom itself"), "{rendered}");
            }
        }
    }
}
