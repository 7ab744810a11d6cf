//! Where a value of a checked case stands, for what shows only in the model: advice, and errors with their lines.

use super::diagnostic::{Diagnostic, Failure, Format, Place, Sources};
use super::tree::{self, Node, Value};
use super::{Loaded, overrides};
use crate::Error;

impl Loaded {
    /// The place of the value at a key path such as `contact.floor.restitution`, in words: `line 12`. Where the case does not
    /// write that value, the place of the table that would hold it; `None` for an empty path.
    ///
    /// ```
    /// # use carom::case::{Format, Loaded, parse};
    /// let text = "format = 1\n[time]\nend = 1.0\nstep = 0.1\n[scheme]\nname = \"newmark\"\n[[body]]\nname = \"ball\"\n\
    ///             element = \"mass\"\nat = [0.0]\nmass = 1.0\n";
    /// let case = parse(text, "ball.toml", Format::Toml, &[]).unwrap();
    /// # let (file, dir, name) = ("ball.toml".into(), ".".into(), "ball".into());
    /// # let (text, overrides) = (text.to_string(), vec![]);
    /// let loaded = Loaded { case, file, dir, name, text, overrides, allow_outside: false };
    /// assert_eq!(loaded.locate("body.ball.mass").unwrap(), "line 11");
    /// assert_eq!(loaded.locate("body.ball.spin").unwrap(), "line 7");
    /// ```
    pub fn locate(&self, path: &str) -> Option<String> {
        self.locate_all([path]).pop().flatten()
    }

    /// The places of several values, as [`Loaded::locate`] tells them; the text is read once.
    pub fn locate_all<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> Vec<Option<String>> {
        let mut paths = paths.into_iter().peekable();
        // Most cases have nothing to look for.
        let tree = paths.peek().and_then(|_| self.tree());
        let place = |path| tree.as_ref().and_then(|(sources, root)| Some(sources.locate(&find(root, path)?, path)));
        paths.map(place).collect()
    }

    /// An error of the model with the place of the value that caused it, where it names one.
    pub(crate) fn placed(&self, error: Error) -> Error {
        let Error::Value { path, text } = error else { return error };
        let Some((sources, root)) = self.tree() else { return Error::Input(text) };
        let Some(place) = find(&root, &path) else { return Error::Input(text) };
        let diagnostic = Diagnostic::new(&place, &path, text, "here");
        Error::Input(Failure::new(sources, vec![diagnostic]).render(false))
    }

    /// The texts of the case and its values with their places; the text passed all checks when the case was loaded.
    fn tree(&self) -> Option<(Sources, Node)> {
        let json = self.file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        let format = if json { Format::Json } else { Format::Toml };
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        let sources = Sources::new(&name, format, &self.text, &self.overrides);
        let mut root = match format {
            Format::Toml => tree::from_toml(&sources.text),
            Format::Json => tree::from_json(&sources.text),
        }
        .ok()?;
        for (index, argument) in self.overrides.iter().enumerate() {
            overrides::apply(&mut root, argument, index).ok()?;
        }
        Some((sources, root))
    }
}

/// The place of the value at a path, or of the deepest table on the way to it; tables of a list go by their names, or by
/// their numbers from 0 if they have none.
fn find(root: &Node, path: &str) -> Option<Place> {
    let (mut node, mut place) = (root, None);
    for key in path.split('.') {
        let next = match &node.value {
            Value::List(items) => {
                let named = items.iter().find(|item| item.get("name").and_then(Node::text) == Some(key));
                named.or_else(|| items.get(key.parse::<usize>().ok()?))
            }
            _ => node.get(key),
        };
        let Some(next) = next else { break };
        node = next;
        // A list of tables stands nowhere; its tables do.
        if !matches!(&node.value, Value::List(items) if items.iter().any(|item| matches!(item.value, Value::Table(_))))
        {
            place = Some(node.place.clone());
        }
    }
    place
}
