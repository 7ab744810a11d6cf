//! From the text of a case file to a checked [`Case`].
//!
//! ```text
//! text ── tree ── overrides ── resolve ── validate ── check ── Case
//!         spans     --set     expressions  tables    between
//! ```
//!
//! Every step collects what is wrong instead of stopping at it. Nothing here reads a mesh.

mod check;
pub mod columns;
pub mod diagnostic;
pub mod expect;
mod files;
pub mod first_order;
mod locate;
mod massless;
mod obstacles;
mod overrides;
pub mod reference;
mod resolve;
pub mod schema;
pub mod spec;
pub mod tables;
mod tree;
mod validate;
mod wrong;

pub use diagnostic::{Diagnostic, Failure, Format};
pub use files::resolve_path;
pub use reference::reference;
pub use resolve::{PLACE, TIME};
pub use schema::schema;
pub use tables as data;
pub use tables::{CASE, Case};

use crate::error::{Error, Result};
use diagnostic::{Place, Sources};
use files::Files;
use std::path::{Path, PathBuf};

/// Largest case file, in bytes; far beyond what anyone writes, far below what memory holds.
pub const MOST_BYTES: u64 = 16 << 20;

/// A checked case and where it came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The case, every default spelled out.
    pub case: Case,
    /// The case file, as an absolute path.
    pub file: PathBuf,
    /// Directory of the case file, to which its paths are relative.
    pub dir: PathBuf,
    /// File name without extension.
    pub name: String,
    /// Text of the file; overrides follow as comments if it is TOML.
    pub text: String,
    /// The `--set` arguments.
    pub overrides: Vec<String>,
    /// Whether paths may lead out of the directory above the case file's.
    pub allow_outside: bool,
}

impl Loaded {
    /// The file that the case calls `relative`.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.dir.join(relative)
    }
}

/// Loads and checks a case file; everything that is wrong with it is in the one [`Error::Input`].
pub fn load(path: &Path, set: &[String], allow_outside: bool) -> Result<Loaded> {
    inspect(path, set, allow_outside)?.map_err(|failure| Error::Input(failure.render(false)))
}

/// Like [`load`], with what is wrong as data. The outer error is for files that cannot be read at all.
pub fn inspect(path: &Path, set: &[String], allow_outside: bool) -> Result<std::result::Result<Loaded, Failure>> {
    let text = read(path)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let dir = parent.canonicalize().map_err(Error::io("enter", parent))?;
    let json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let format = if json { Format::Json } else { Format::Toml };
    let file = dir.join(path.file_name().unwrap_or_default());
    let files = Files { dir, allow_outside };
    Ok(build(&text, &path.display().to_string(), format, set, Some(&files)).map(|case| Loaded {
        case,
        file,
        dir: files.dir,
        name: path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default(),
        text: if json { text } else { annotated(text, set) },
        overrides: set.to_vec(),
        allow_outside,
    }))
}

/// A case from a text; files that it names are not looked for.
///
/// ```
/// use carom::case::{Format, parse};
/// let failure = parse("fromat = 1", "x.toml", Format::Toml, &[]).unwrap_err();
/// assert!(failure.render(false).contains("did you mean `format`?"));
/// ```
pub fn parse(text: &str, file: &str, format: Format, set: &[String]) -> std::result::Result<Case, Failure> {
    build(text, file, format, set, None)
}

fn read(path: &Path) -> Result<String> {
    let name = path.display();
    let bytes = crate::files::read_at_most(path, MOST_BYTES)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Error::Input(format!("{name}: a case file has at most {} MiB", MOST_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|&&byte| byte == b'\n').count();
        let byte = error.as_bytes()[good.len()];
        Error::Input(format!("{name}:{line}: not UTF-8 text (byte 0x{byte:02x} at offset {})", good.len()))
    })
}

/// The text with the overrides noted at its end.
fn annotated(mut text: String, set: &[String]) -> String {
    for argument in set {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text += &format!("# --set {}\n", argument.replace('\n', "\n# "));
    }
    text
}

fn build(
    text: &str,
    file: &str,
    format: Format,
    set: &[String],
    files: Option<&Files>,
) -> std::result::Result<Case, Failure> {
    let sources = Sources::new(file, format, text, set);
    let root = match format {
        Format::Toml => tree::from_toml(&sources.text),
        Format::Json => tree::from_json(&sources.text),
    };
    let mut root = match root {
        Ok(root) => root,
        Err(diagnostics) => return Err(Failure::new(sources, diagnostics)),
    };
    let mut diagnostics = Vec::new();
    for (index, argument) in set.iter().enumerate() {
        diagnostics.extend(overrides::apply(&mut root, argument, index).err().into_iter().flatten());
    }
    let resolved = resolve::resolve(&mut root, &sources);
    let (wrong, facts) = validate::validate(&root, files);
    let between = match first_order::is_first_order(&root) {
        true => first_order::check(&root, &sources),
        false => check::check(&root, &facts, &sources),
    };
    let later = wrong.into_iter().chain(between);
    diagnostics.extend(later.filter(|diagnostic| !resolved.explains(diagnostic)));
    diagnostics.extend(resolved.diagnostics);
    if !diagnostics.is_empty() {
        return Err(Failure::new(sources, diagnostics));
    }
    match serde_json::from_value::<Case>(root.to_json()) {
        Ok(case) => Ok(completed(case)),
        Err(error) => {
            let message = format!("this case passed all checks but cannot be used: {error}");
            let place = Place::file(0..0);
            let bug = Diagnostic::new(&place, "", message, "an error of carom itself");
            Err(Failure::new(sources, vec![bug.help("please report it, with this case file")]))
        }
    }
}

/// Spells out the defaults that depend on other values.
fn completed(mut case: Case) -> Case {
    if case.analysis == data::Analysis::FirstOrder {
        case.scheme.parameters.entry("theta".into()).or_insert(crate::schemes::Value::Number(1.0));
        case.output.vtk = data::Switch::Flag(false);
        return case;
    }
    if let Some(kind) = crate::schemes::find(&case.scheme.name) {
        case.scheme.parameters = kind.resolve(&case.scheme.parameters);
    }
    case.time.min_step.get_or_insert(case.time.step / 1024.0);
    if let data::Switch::On(vtk) = &mut case.output.vtk
        && vtk.every.is_none()
    {
        vtk.frames.get_or_insert(200);
    }
    for (name, values) in case.contact.iter_mut().flat_map(|contact| &mut contact.obstacle) {
        if let Some(kind) = crate::obstacles::find(name) {
            values.complete(kind.keys);
        }
    }
    for contact in case.contact.iter_mut().filter(|contact| contact.mass == data::ContactMass::Redistributed) {
        contact.law.get_or_insert(data::MasslessLaw::Position);
    }
    if let data::Switch::On(energy) = &mut case.guards.energy {
        energy.proven.get_or_insert((100.0 * case.solver.contact.tolerance).max(1e-9));
    }
    if let data::Switch::On(contact) = &mut case.guards.contact {
        contact.residual.get_or_insert((100.0 * case.solver.contact.tolerance).max(1e-6));
    }
    for body in case.body.iter_mut().filter(|body| body.spin.is_some()) {
        body.spin_centre.get_or_insert_with(|| vec![0.0; 2]);
    }
    case
}
