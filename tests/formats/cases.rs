//! Case files: what is accepted, what is refused, and how the refusal reads.

use crate::common::cases::Altered;
use carom::case::{Case, Failure, Format, load, parse};
use std::fs;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// The bar of the manual.
const BAR: &str = include_str!("../case_files/bar.toml");

/// A truss with nearly every key that this version builds.
const TRUSS: &str = include_str!("../case_files/truss.toml");

/// "Every key, once" of the contract.
const EVERY: &str = include_str!("../case_files/every.toml");

fn good(text: &str, set: &[&str]) -> Case {
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    parse(text, "x.toml", Format::Toml, &set).unwrap_or_else(|failure| panic!("{}", failure.render(false)))
}

fn bad(text: &str, set: &[&str]) -> Failure {
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    parse(text, "x.toml", Format::Toml, &set).expect_err("this case must be refused")
}

/// The only error of a case: its place `line:column`, headline and label.
fn only(text: &str, set: &[&str]) -> (String, String, String) {
    let failure = bad(text, set);
    let [diagnostic] = failure.diagnostics.as_slice() else { panic!("{}", failure.render(false)) };
    (places(&failure).remove(0), diagnostic.message.clone(), diagnostic.label.clone())
}

/// `line:column` of every error, as rendered.
fn places(failure: &Failure) -> Vec<String> {
    let rendered = failure.render(false);
    let arrows = rendered.lines().filter_map(|line| line.trim_start().strip_prefix("--> "));
    arrows.map(|place| place.trim_start_matches("x.toml:").to_string()).collect()
}

#[test]
fn the_bar_parses_with_every_default() {
    let case = good(BAR, &[]);
    assert_eq!(case.time.min_step, Some(2e-3 / 1024.0));
    assert_eq!(carom::schemes::number(&case.scheme.parameters, "rho_inf").unwrap(), 0.6);
    assert_eq!(case.scheme.forecast, 0.5);
    assert_eq!(case.body[0].line.as_ref().unwrap().elements, 200);
    assert_eq!(case.contact[0].obstacle["plane"].direction("normal"), Some([1.0, 0.0]));
    assert_eq!(case.solver.newton.passes, 40);
    assert_eq!(case.output.vtk.get().unwrap().every, Some(10));
    assert_eq!(case.guards.energy.get().unwrap().cuts, 8);
    assert_eq!(case.expect["defect.max"].below, Some(1e-11));
}

#[test]
fn derived_defaults_are_spelled_out() {
    let case = good(TRUSS, &["output.vtk={}", "scheme={ name = \"hht\", alpha = -0.1 }"]);
    assert_eq!(case.output.vtk.get().unwrap().frames, Some(200));
    // (1 + |alpha|)²/4 and 1/2 + |alpha|.
    assert_eq!(carom::schemes::number(&case.scheme.parameters, "beta").unwrap(), (1.0f64 + 0.1).powi(2) / 4.0);
    assert_eq!(carom::schemes::number(&case.scheme.parameters, "gamma").unwrap(), 0.6);
    assert_eq!(case.contact[0].restitution.e(), 0.8);
    assert!(case.guards.penetration.get().is_none());
}

/// The reference of all keys is a case that can be run but for the files that it names.
#[test]
fn every_key_is_built() {
    good(EVERY, &[]);
    assert_eq!(only(TRUSS, &["output.history.format=\"xml\""]).1, "`output.history.format` cannot be \"xml\"");
}

/// Keys with their places, and places of numbers.
type Spans = (Vec<(String, Range<usize>)>, Vec<Range<usize>>);

/// Every key of a TOML text with its span, and the span of every number.
fn spans(text: &str) -> Spans {
    fn value(
        node: &toml::Spanned<DeValue<'_>>,
        keys: &mut Vec<(String, Range<usize>)>,
        numbers: &mut Vec<Range<usize>>,
    ) {
        match node.get_ref() {
            DeValue::Integer(_) | DeValue::Float(_) => numbers.push(node.span()),
            DeValue::Array(items) => items.iter().for_each(|item| value(item, keys, numbers)),
            DeValue::Table(inner) => table(inner, keys, numbers),
            _ => {}
        }
    }
    fn table(node: &DeTable<'_>, keys: &mut Vec<(String, Range<usize>)>, numbers: &mut Vec<Range<usize>>) {
        for (key, inner) in node.iter() {
            keys.push((key.get_ref().to_string(), key.span()));
            value(inner, keys, numbers);
        }
    }
    let (mut keys, mut numbers) = (Vec::new(), Vec::new());
    table(DeTable::parse(text).unwrap().get_ref(), &mut keys, &mut numbers);
    (keys, numbers)
}

#[test]
fn a_wrong_letter_in_any_key_is_found_and_mended() {
    let mut tried = 0;
    for text in [BAR, TRUSS] {
        for (key, span) in spans(text).0 {
            let quoted = text[span.clone()].starts_with('"');
            let letters = if quoted { span.start + 1..span.end - 1 } else { span.clone() };
            for position in letters {
                let mut changed = text.to_string();
                let letter = if &text[position..=position] == "q" { "z" } else { "q" };
                changed.replace_range(position..=position, letter);
                let failure = bad(&changed, &[]);
                let found = failure.diagnostics.iter().find(|d| d.place.span.start == span.start);
                let found = found.unwrap_or_else(|| panic!("{key} at {position}:\n{}", failure.render(false)));
                if !quoted && key.len() > 1 {
                    assert!(found.label.contains(&format!("did you mean `{key}`?")), "{key}: {}", found.label);
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 800, "{tried}");
}

#[test]
fn odd_values_for_any_number_are_reported_there_or_accepted_but_never_panic() {
    for text in [BAR, TRUSS] {
        for span in spans(text).1 {
            for odd in ["nan", "inf", "-inf", "0", "-1", "1e308", "1e999", "\"text\"", "[]", "{}", "true"] {
                let mut changed = text.to_string();
                changed.replace_range(span.clone(), odd);
                // A text is read as an expression, and what is wrong with it is shown inside its quotes.
                let start = span.start + usize::from(odd.starts_with('"'));
                let here = |failure: &Failure| {
                    let starts = failure.diagnostics.iter().map(|d| d.place.span.start);
                    starts.into_iter().any(|found| found == span.start || found == start)
                };
                match parse(&changed, "x.toml", Format::Toml, &[]) {
                    Ok(_) => assert!(
                        ["0", "-1", "1e308"].contains(&odd),
                        "{odd} accepted at {}",
                        &text[span.start - 20..span.end]
                    ),
                    Err(failure) => {
                        let rendered = failure.render(false);
                        assert!(!rendered.contains("carom itself"), "{rendered}");
                        assert!(here(&failure) || ["0", "-1", "1e308"].contains(&odd), "{odd}: {rendered}");
                    }
                }
            }
        }
    }
}

#[test]
fn all_errors_come_in_one_pass_with_their_places() {
    let text = BAR
        .altered("step = 2e-3", "step = \"fast\"")
        .altered("rho_inf = 0.6", "rho_inf = 1.5")
        .altered("elements = 200", "elements = 200.0")
        .altered("nodes       = \"bar.start\"", "nodes       = \"bar.strat\"")
        .altered("[output]", "[ouptut]")
        .altered("\"energy.final\"", "\"enrgy.final\"");
    let failure = bad(&text, &[]);
    assert_eq!(places(&failure), ["6:9", "10:11", "15:52", "22:15", "30:2", "34:1"]);
    let messages: Vec<&str> = failure.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "`time.step`: there is no constant or variable `fast` here (column 1 of \"fast\")",
            "`scheme.rho_inf` must be a number in [0, 1]",
            "`body.bar.line.elements` must be an integer from 1 to 10000000",
            "`bar` has no part `strat`",
            "unknown key `ouptut` in the case",
            "there is no column `enrgy`",
        ]
    );
    assert!(failure.render(false).ends_with("\n\n6 errors in x.toml"));
}

#[test]
fn an_error_reads_like_this() {
    let failure = bad(&BAR.altered("rho_inf", "rho_ifn"), &[]);
    assert_eq!(
        failure.render(false),
        "error: unknown key `rho_ifn` in [scheme] with name = \"generalized-alpha\"
  --> x.toml:10:1
   |
10 | rho_ifn = 0.6
   | ^^^^^^^ did you mean `rho_inf`?
   |
   = help: allowed keys: `name`, `position`, `forecast`, `rho_inf`

1 error in x.toml"
    );
    assert!(failure.render(true).contains('\u{1b}'));
    assert!(!failure.render(false).contains('\u{1b}'));
}

#[test]
fn a_missing_key_points_at_its_table() {
    assert_eq!(
        only(&BAR.altered("step = 2e-3", ""), &[]),
        ("4:1".into(), "missing key `step` in [time]".into(), "needs `step`".into())
    );
    let (place, message, _) = only(&BAR.altered("element  = \"bar\"", ""), &[]);
    assert_eq!((place.as_str(), message.as_str()), ("12:1", "missing key `element` in [[body]]"));
    let (place, message, _) = only(&BAR.altered("line     =", "line_ ="), &[]);
    assert_eq!((place.as_str(), message.as_str()), ("15:1", "unknown key `line_` in [[body]] with element = \"bar\""));
    let (place, message, _) = only(&BAR.altered("format = 1", "format = 2"), &[]);
    assert_eq!((place.as_str(), message.as_str()), ("1:10", "`format` must be 1"));
}

#[test]
fn an_arc_is_checked_with_its_line() {
    let text = carom::cases::find("ski-jump").unwrap().text;
    for (set, message) in [
        ("contact.arc.arc.to=3.0", "an arc goes counter-clockwise, by less than a turn"),
        ("contact.arc.arc.to=\"pi\"", "an arc goes counter-clockwise, by less than a turn"),
        ("contact.arc.arc.to=9.5", "a turn or more; take `circle` for a whole one"),
        ("contact.arc.arc.radius=-1.0", "`contact.arc.arc.radius` must be a positive number"),
        ("contact.arc.arc.centre=[0.0]", "`contact.arc.arc.centre` has 1 dimension, but the model has 2"),
        ("contact.arc.arc={ centre = [0, 0], radius = 1, from = 0 }", "missing key `to` in arc"),
        ("contact.arc.arc={ centre = [0, 0], radius = 1, form = 0, to = 1 }", "did you mean `from`?"),
        ("contact.arc.mass=\"redistributed\"", "`arc` does not go with `mass = \"redistributed\"`"),
        ("contact.arc.motion={ normal = \"t\" }", "only planes move along their normal"),
    ] {
        let shown = parse(text, "ski-jump.toml", Format::Toml, &[set.into()]).unwrap_err().render(false);
        assert!(shown.contains(message), "{set}\n{shown}");
    }
    let bad = text.replace("to = \"7*pi/4\"", "to = 1.0");
    let line = 1 + text.lines().position(|line| line.contains("7*pi/4")).unwrap();
    let shown = parse(&bad, "ski-jump.toml", Format::Toml, &[]).unwrap_err().render(false);
    assert!(shown.contains(&format!("ski-jump.toml:{line}:")), "{shown}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    for (set, message) in [
        ("gravity=[1.0]", "`gravity` has 1 dimension, but the model has 2"),
        ("time.step=2.0", "`time.step` must not exceed `time.end`"),
        ("time.step=1e-30", "`time.step` is too small for `time.end`: at most 1e10 steps"),
        ("time.min_step=1.0", "`time.min_step` must not exceed `time.step`"),
        ("time.first_step=1.0", "`time.first_step` must not exceed `time.step`"),
        ("solver.contact.relaxation=2.0", "`solver.contact.relaxation` must be a number in (0, 2)"),
        ("contact.floor.restitution=1.1", "`contact.floor.restitution` must be a number in [0, 1], or a table"),
        ("contact.floor.plane.normal=[0, 0]", "`contact.floor.plane.normal` must not be zero"),
        ("contact.floor.nodes=\"lwo\"", "there is no body or set named `lwo`"),
        ("contact.floor.nodes=\"low.end\"", "the set `low` has no parts"),
        ("contact.floor.nodes=\"link\"", "`link` has no nodes of its own"),
        ("contact.floor.nodes=\"ball.end\"", "`ball` is a single node and has no parts"),
        ("probe.tip.node=\"truss\"", "`truss` has many nodes"),
        ("load.wind.body=\"low\"", "there is no body named `low`"),
        ("load.wind.force=[1, 1]", "`force` goes with `nodes`"),
        ("load.tip.time.end=0.1", "`load.tip.time` must end after it starts"),
        ("load.tip.body=\"rod\"", "a load takes `nodes` or `body`, not both"),
        ("body.rod.name=\"ball\"", "the name `ball` is taken"),
        ("set.low.name=\"ball\"", "the name `ball` is taken"),
        ("body.ball.name=\"a.b\"", "\"a.b\" cannot be a name"),
        ("body.rod.line.to=[0.0, 2.0]", "`body.rod.line` has no length"),
        ("body.rod.group=\"x\"", "`group` goes with `mesh`"),
        ("body.rod.mesh=\"x.msh\"", "[[body]] with element = \"bar\" takes exactly one of `line`, `polyline`, `mesh`"),
        ("body.rod.material.poisson=0.3", "`material` takes `poisson` or `shear`, not both"),
        ("body.rod.section.flange=0.11", "twice `flange` exceeds `height` in `body.rod.section`"),
        ("body.truss.polyline.elements=1", "`body.truss.polyline` needs at least one element per piece"),
        ("body.link.between=[\"ball\", \"ball\"]", "`body.link` joins a node to itself"),
        ("body.link.damping={}", "`body.link.damping` must be a number >= 0"),
        ("body.truss.damping=1.0", "`body.truss.damping` must be a table"),
        ("set.low.nearest=[0, 0]", "[[set]] takes exactly one of `nearest`, `nodes`, `box`"),
        ("set.some.nodes=[\"low\"]", "the set `low` comes too late"),
        ("support.pin.fix=[]", "a support needs components to `fix`"),
        ("support.pin.fix=[\"x\", \"x\"]", "`support.pin.fix` names `x` twice"),
        ("support.pin.fix=[\"z\"]", "`support.pin.fix[0]` cannot be \"z\""),
        ("output.vtk.every=3", "`output.vtk` takes `frames` or `every`, not both"),
        ("output.vtk=true", "`output.vtk` must be false or a table"),
        ("expect.\"energy\"={ below = 1 }", "`energy` does not say which value of the column"),
        ("expect.\"energy.final\"={ value = 1 }", "`expect.\"energy.final\"` bounds nothing, or too much"),
        ("expect.\"energy@2.0\"={ below = 1 }", "2.0 is not a time of this run"),
        ("expect.\"contact.flor.peak\"={ below = 1 }", "there is no contact named `flor`"),
        ("expect.\"probe.tip.z.max\"={ below = 1 }", "there is no column `probe.tip.z`"),
        (
            "expect.\"energy.max\"={ between = [2, 1] }",
            "`expect.\"energy.max\".between` must be a list of two numbers, the second larger",
        ),
        ("body=[]", "a case needs at least one body"),
        ("time=1979-05-27", "`time` must be a table"),
    ] {
        let failure = bad(TRUSS, &[set]);
        let messages: Vec<&str> = failure.diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert!(messages.contains(&message), "{set}\n{}", failure.render(false));
        // The two last kinds point at the other of the two keys.
        let here = failure.render(false).contains(&format!("--> --set '{set}':1:"));
        assert!(here || message.contains("taken") || message.contains("not both"), "{set}");
    }
    let line = [
        ("support=[{ name = \"s\", nodes = \"bar\", fix = [\"y\"] }]", "there is only `x` to fix in one dimension"),
        ("body.bar.spin=1.0", "`spin` needs two dimensions"),
        ("expect.\"probe.foot.y.max\"={ below = 1 }", "there is no column `probe.foot.y`"),
    ];
    for (set, message) in line {
        assert_eq!(only(BAR, &[set]).1, message);
    }
}

#[test]
fn overrides_replace_create_and_address_by_name() {
    let case =
        good(BAR, &["time.step=1e-4", "body.bar.line.elements=1000", "scheme={ name = \"moreau-jean\", theta = 1 }"]);
    assert_eq!((case.time.step, case.body[0].line.as_ref().unwrap().elements), (1e-4, 1000));
    assert_eq!(
        case.scheme.parameters.iter().collect::<Vec<_>>(),
        [(&"theta".to_string(), &carom::schemes::Value::Number(1.0))]
    );
    let case =
        good(BAR, &["solver.newton.passes=7", "expect.\"energy.min\"={ above = 0 }", "expect.'energy.min'.above=1"]);
    assert_eq!((case.solver.newton.passes, case.expect["energy.min"].above), (7, Some(1.0)));
    assert_eq!(case.expect.len(), 3);
    assert!(good(BAR, &["output.vtk=false"]).output.vtk.get().is_none());
}

#[test]
fn overrides_that_make_no_sense_say_why() {
    let failure = bad(BAR, &["scheme.name=newmark"]);
    let text = failure.render(false);
    assert!(text.contains("error: `newmark` is not a TOML value\n --> --set 'scheme.name=newmark':1:13"), "{text}");
    assert!(text.contains("help: write --set 'scheme.name=\"newmark\"'"), "{text}");
    for (set, message) in [
        ("body.nosuch.mass=1", "`body` has no entry named `nosuch`"),
        ("time", "--set takes PATH=VALUE"),
        ("time.step.x=1", "`time.step` is 0.002 and has no keys"),
        ("[time]\nstep=1", "--set takes one PATH=VALUE"),
        ("time.step=1e-3\ntime.end=2", "--set takes one PATH=VALUE"),
        ("", "--set takes one PATH=VALUE"),
        ("time.step=123456789012345678901234567890", "this integer is too large"),
    ] {
        assert_eq!(only(BAR, &[set]).1, message, "{set}");
    }
    assert_eq!(bad(BAR, &["body.bra.line.elements=3"]).diagnostics[0].label, "did you mean `bar`?");
    let help = bad(BAR, &["body.nosuch.mass=1"]).diagnostics[0].help.clone();
    assert_eq!(help.as_deref(), Some("names in `body`: `bar`"));
    assert_eq!(only(BAR, &["time.step=-1"]).0, "--set 'time.step=-1':1:11");
    assert!(only(BAR, &["time..step=1"]).1.starts_with("not valid TOML"));
}

#[test]
fn json_is_the_same_case() {
    for text in [BAR, TRUSS] {
        let json = serde_json::to_string_pretty(&toml::from_str::<toml::Value>(text).unwrap()).unwrap();
        let twin = parse(&json, "x.json", Format::Json, &[]);
        assert_eq!(twin.unwrap_or_else(|failure| panic!("{}", failure.render(false))), good(text, &[]));
    }
    let json = serde_json::to_string_pretty(&toml::from_str::<toml::Value>(&BAR.altered("0.6", "6")).unwrap()).unwrap();
    let text = parse(&json, "x.json", Format::Json, &[]).unwrap_err().render(false);
    assert!(
        text.starts_with("error: `scheme.rho_inf` must be a number in [0, 1]\n--> x.json: scheme.rho_inf\n"),
        "{text}"
    );
    let text = parse("{ \"format\": 1,\n  \"time\": 1 2 }", "x.json", Format::Json, &[]).unwrap_err().render(false);
    assert!(text.contains(" --> x.json:2:13\n"), "{text}");
    for (json, message) in [
        ("{ \"format\": 1, \"format\": 1 }", "not a valid JSON case: duplicate key `format`"),
        ("{ \"format\": 18446744073709551615 }", "not a valid JSON case: this integer is too large"),
        ("", "not a valid JSON case: EOF while parsing a value"),
        (
            "{ \"format\": null }",
            "not a valid JSON case: invalid type: null, expected a number, a text, true, false, a list or a table",
        ),
    ] {
        assert_eq!(parse(json, "x.json", Format::Json, &[]).unwrap_err().diagnostics[0].message, message);
    }
}

#[test]
fn the_resolved_case_is_a_case_file_of_the_same_case() {
    for (text, set) in [(BAR, &[][..]), (TRUSS, &[]), (BAR, &["guards.energy=false", "output.vtk=false"])] {
        let case = good(text, set);
        assert_eq!(good(&toml::to_string(&case).unwrap(), &[]), case);
        let json = serde_json::to_string(&case).unwrap();
        assert_eq!(parse(&json, "x.json", Format::Json, &[]).unwrap(), case);
    }
}

#[test]
fn syntax_errors_show_their_place() {
    let failure = bad(&BAR.altered("[time]", "[time"), &[]);
    assert_eq!(places(&failure), ["4:6"]);
    let failure = bad(&BAR.altered("end  = 3.0", "end  = "), &[]);
    assert_eq!(places(&failure), ["5:8"]);
    let failure = bad(&format!("{BAR}[time]\n"), &[]);
    assert_eq!(places(&failure), ["36:2"]);
    assert_eq!(failure.diagnostics[0].message, "not valid TOML: duplicate key");
}

#[test]
fn byte_order_mark_and_windows_line_ends_are_fine() {
    let case = good(BAR, &[]);
    assert_eq!(good(&format!("\u{feff}{BAR}"), &[]), case);
    assert_eq!(good(&BAR.replace('\n', "\r\n"), &[]), case);
    let text = format!("\u{feff}{}", BAR.altered("rho_inf = 0.6", "rho_inf = 6").replace('\n', "\r\n"));
    assert_eq!(only(&text, &[]).0, "10:11");
}

#[test]
fn files_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let cases = dir.path().join("top/cases");
    fs::create_dir_all(&cases).unwrap();
    fs::create_dir_all(dir.path().join("top/meshes")).unwrap();
    fs::write(dir.path().join("top/meshes/x.msh"), "").unwrap();
    fs::write(dir.path().join("secret.msh"), "").unwrap();
    let path = cases.join("bar.toml");
    let with_mesh = |mesh: &str| {
        let line = "line     = { from = [5.0], to = [15.0], elements = 200 }";
        fs::write(&path, BAR.altered(line, &format!("mesh = {mesh:?}"))).unwrap();
    };
    let refusal = |outside: bool| load(&path, &[], outside).unwrap_err();

    with_mesh("../meshes/x.msh");
    let set = vec!["time.step=1e-3".to_string()];
    let loaded = load(&path, &set, false).unwrap();
    assert_eq!((loaded.name.as_str(), loaded.case.time.step), ("bar", 1e-3));
    assert!(loaded.path("../meshes/x.msh").is_file());
    assert!(loaded.text.ends_with("\n# --set time.step=1e-3\n"));
    assert_eq!(loaded.case.body[0].mesh.as_deref(), Some("../meshes/x.msh"));

    with_mesh("../meshes/y.msh");
    let error = refusal(false);
    assert_eq!(error.exit_code(), 3);
    assert!(error.to_string().contains("bar.toml:15:8\n"), "{error}");
    assert!(error.to_string().contains("not found"), "{error}");

    with_mesh("../../secret.msh");
    assert!(refusal(false).to_string().contains("leads out of the directory above the case file's"));
    assert!(load(&path, &[], true).is_ok());

    let absolute = dir.path().join("top/meshes/x.msh");
    with_mesh(absolute.to_str().unwrap());
    assert!(refusal(false).to_string().contains("is not relative to the case file"));
    assert!(load(&path, &[], true).is_ok());

    with_mesh("../meshes");
    assert!(refusal(false).to_string().contains("is not a file"));

    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(dir.path().join("secret.msh"), cases.join("link.msh")).unwrap();
        with_mesh("link.msh");
        assert!(refusal(false).to_string().contains("leads out of the directory above"));
        assert!(load(&path, &[], true).is_ok());
    }

    fs::write(&path, b"format = 1\ntitle = \"\xff\"\n").unwrap();
    assert!(refusal(false).to_string().ends_with("bar.toml:2: not UTF-8 text (byte 0xff at offset 20)"));
    fs::write(&path, " ".repeat((16 << 20) + 1)).unwrap();
    assert!(refusal(false).to_string().ends_with("bar.toml: a case file has at most 16 MiB"));
    assert_eq!(load(&cases.join("none.toml"), &[], false).unwrap_err().exit_code(), 6);
}

/// `docs/case-reference.md` is the output of `carom schema --markdown`.
#[test]
fn the_reference_page_is_up_to_date() {
    let page = include_str!("../../docs/case-reference.md");
    assert!(page == carom::case::reference(), "run: carom schema --markdown > docs/case-reference.md");
}

#[test]
fn a_run_may_be_made_shorter_than_its_expectations() {
    let set = ["expect.\"energy@0.9\"={ below = 1e9 }".to_string(), "time.end=0.5".to_string()];
    let case = parse(BAR, "x.toml", Format::Toml, &set).unwrap_or_else(|failure| panic!("{}", failure.render(false)));
    assert_eq!(case.time.end, 0.5);
}
