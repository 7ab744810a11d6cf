use super::*;
use crate::case::validate::validate;
use crate::case::{Format, parse, tree};
use crate::keys::Field;

/// Calls `see` with all keys of a table and of the tables inside it, together with its title.
fn visit(table: &'static Table, see: &mut impl FnMut(&[Field], &str)) {
    let mut lists = vec![table.common(&[])];
    if let Some((tag, variants)) = table.tag() {
        let common = table.common(&variants);
        lists = variants.iter().map(|variant| [&[*tag], &common[..], &variant.fields[..]].concat()).collect();
    }
    for fields in lists {
        see(&fields, table.title);
        fields.iter().filter_map(|field| field.kind.table()).for_each(|inner| visit(inner, see));
    }
}

/// Also shows that every key that an element or a shape asks for is declared.
#[test]
fn every_table_declares_each_key_once() {
    let mut keys = 0;
    visit(CASE, &mut |fields, title| {
        keys += fields.len();
        for (i, field) in fields.iter().enumerate() {
            assert!(fields[..i].iter().all(|other| other.name != field.name), "{} twice in {title}", field.name);
            assert!(!field.doc.is_empty() && !field.doc.ends_with('.'), "{}", field.name);
        }
    });
    assert!(keys > 150);
}

/// Keys that no element asks for would be keys of all bodies.
#[test]
fn bodies_have_their_name_in_common_and_sections_their_shear_factor() {
    for (table, common) in [(Body::TABLE, "name"), (Section::TABLE, "shear_factor")] {
        let (_, variants) = table.tag().unwrap();
        assert_eq!(table.common(&variants).iter().map(|field| field.name).collect::<Vec<_>>(), [common]);
    }
}

const SAMPLE: &str = r#"
    format = 1
    time = { end = 1, step = 1e-3 }
    scheme = { name = "moreau-jean" }
    [[body]]
    name = "bar"
    element = "bar"
    line = { from = [0], to = [1], elements = 2 }
    material = { young = 1, density = 1 }
    section = { area = 1 }
    damping = {}
    [[set]]
    name = "all"
    nodes = ["bar"]
    [[load]]
    name = "pull"
    nodes = "bar.end"
    force = [1]
    [[contact]]
    name = "wall"
    nodes = "bar.start"
    plane = { point = [0], normal = [1] }
"#;

/// The defaults as the reference page has them, written into a case, change nothing: also those that are rules.
#[test]
fn a_default_can_be_written_into_the_case() {
    let resolved =
        |set: &[String]| parse(SAMPLE, "x.toml", Format::Toml, set).unwrap_or_else(|f| panic!("{}", f.render(false)));
    let plain = resolved(&[]);
    let mut written = Vec::new();
    for (path, table) in [
        ("time", Time::TABLE),
        ("scheme", Scheme::TABLE),
        ("solver", Solver::TABLE),
        ("solver.newton", Newton::TABLE),
        ("solver.contact", ContactSolver::TABLE),
        ("body.bar.line", Line::TABLE),
        ("body.bar.damping", Rayleigh::TABLE),
        ("set.all", Set::TABLE),
        ("load.pull", Load::TABLE),
        ("contact.wall", Contact::TABLE),
        ("guards", Guards::TABLE),
        ("guards.energy", EnergyGuard::TABLE),
        ("guards.penetration", PenetrationGuard::TABLE),
        ("guards.contact", ContactGuard::TABLE),
        ("guards.newton", NewtonGuard::TABLE),
        ("output", Output::TABLE),
        ("output.vtk", VtkOutput::TABLE),
        ("output.history", HistoryOutput::TABLE),
    ] {
        for field in table.fields {
            let Some(text) = field.default_text() else { continue };
            // Rules such as `step / 1024` are no TOML; other tests compute them.
            if toml::from_str::<toml::Table>(&format!("x = {text}")).is_ok() {
                written.push(format!("{path}.{}={text}", field.name));
                assert_eq!(resolved(&written[written.len() - 1..]), plain, "{path}.{}", field.name);
            }
        }
    }
    assert_eq!(resolved(&written), plain);
    assert!(written.len() >= 24, "only {} defaults were written", written.len());
}

/// The resolved case is itself a case file, to the last default.
#[test]
fn a_resolved_case_is_a_case() {
    let case = parse(SAMPLE, "x.toml", Format::Toml, &[]).unwrap_or_else(|f| panic!("{}", f.render(false)));
    let text = serde_json::to_string(&case).unwrap();
    let (wrong, _) = validate(&tree::from_json(&text).unwrap_or_else(|_| panic!("{text}")), None);
    assert!(wrong.is_empty(), "{}", wrong[0].message);
    let again = parse(&text, "x.json", Format::Json, &[]).unwrap_or_else(|f| panic!("{}", f.render(false)));
    assert_eq!(again, case);
}
