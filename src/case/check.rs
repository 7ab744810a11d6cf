//! What must hold between the values of a case: dimensions, names, references, combinations of keys.
//!
//! It works on the tree, so that it has its say even where single values are wrong; those count as absent here.
//! Meshes are not read: what depends on them is the model's business.

use super::diagnostic::{Diagnostic, MOST_REPORTED, Place, Sources, listing, nearest};
use super::expect;
use super::massless;
use super::resolve::varies;
use super::spec::Reference;
use super::tree::{Node, Value};
use super::validate::{Facts, Found, join, join_item};
use std::collections::BTreeMap;

/// More steps than any machine will finish.
const MOST_STEPS: f64 = 1e10;

/// A node of the tree with its key path.
pub(super) struct At<'a> {
    pub node: &'a Node,
    pub path: String,
}

impl<'a> At<'a> {
    pub fn get(&self, key: &str) -> Option<At<'a>> {
        Some(At { node: self.node.get(key)?, path: join(&self.path, key) })
    }

    pub fn has(&self, key: &str) -> bool {
        self.node.get(key).is_some()
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        self.node.get(key)?.number()
    }

    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.node.get(key)?.text()
    }

    pub fn vector(&self, key: &str) -> Option<Vec<f64>> {
        self.node.get(key)?.vector()
    }

    /// The entries of an array of tables.
    pub fn tables(&self, key: &str) -> Vec<At<'a>> {
        let items = self.node.get(key).map_or(&[][..], Node::items);
        items.iter().enumerate().map(|(i, node)| At { node, path: join_item(key, node, i) }).collect()
    }

    /// A diagnostic at the value of `key`, or at the table if there is none.
    pub fn wrong(&self, key: &str, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        match self.get(key) {
            Some(at) => Diagnostic::new(&at.node.place, &at.path, message, label),
            None => Diagnostic::new(&self.node.place, &self.path, message, label),
        }
    }
}

/// All that is wrong between the values of the tree.
pub fn check(root: &Node, facts: &Facts, sources: &Sources) -> Vec<Diagnostic> {
    let root = At { node: root, path: String::new() };
    let mut check = Check { sources, dimension: None, diagnostics: Vec::new() };
    check.dimension(&root, facts);
    check.names(&root);
    check.references(&root, facts);
    check.time(&root);
    for body in root.tables("body") {
        check.body(&body);
    }
    for initial in root.tables("initial") {
        check.initial(&initial);
    }
    for support in root.tables("support") {
        check.support(&support);
    }
    for load in root.tables("load") {
        check.load(&load);
    }
    for contact in root.tables("contact") {
        check.contact(&contact, root.text("analysis") == Some("static"));
    }
    if let Some(vtk) = root.get("output").and_then(|output| output.get("vtk"))
        && vtk.has("frames")
        && vtk.has("every")
    {
        check.report(vtk.wrong(
            "every",
            "`output.vtk` takes `frames` or `every`, not both",
            "there is `frames` already",
        ));
    }
    check.diagnostics.extend(massless::check(&root, check.dimension));
    let dimension = check.dimension;
    check.diagnostics.extend(expect::check(&root, dimension));
    check.diagnostics
}

struct Check<'a> {
    sources: &'a Sources,
    /// Of the model, where some vector tells it.
    dimension: Option<usize>,
    diagnostics: Vec<Diagnostic>,
}

impl Check<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MOST_REPORTED {
            self.diagnostics.push(diagnostic);
        }
    }

    fn dimension(&mut self, root: &At, facts: &Facts) {
        let leader = facts.vectors.iter().find(|v| v.path.starts_with("body.")).or(facts.vectors.first());
        let Some(leader) = leader else { return };
        let dimension = leader.what;
        self.dimension = Some(dimension);
        for vector in facts.vectors.iter().filter(|vector| vector.what != dimension) {
            let place = self.sources.locate(&leader.place, &leader.path);
            let numbers = |n: usize| if n == 1 { "one number".to_string() } else { "two numbers".to_string() };
            let message = format!("`{}` has {}, but the model has {dimension}", vector.path, dimensions(vector.what));
            let help = format!("every vector needs {}, as `{}` has ({place})", numbers(dimension), leader.path);
            self.report(Diagnostic::new(&vector.place, &vector.path, message, numbers(vector.what)).help(help));
        }
        for body in root.tables("body") {
            if dimension == 1 && body.text("element").is_some_and(bends) {
                self.report(body.wrong("element", "a beam needs two dimensions", "in a model of one dimension"));
            }
        }
    }

    fn names(&mut self, root: &At) {
        for kinds in [&["body", "set"][..], &["support"], &["joint"], &["load"], &["contact"], &["probe"]] {
            let mut seen: BTreeMap<&str, At> = BTreeMap::new();
            for at in kinds.iter().flat_map(|kind| root.tables(kind)) {
                let Some(name) = at.text("name") else { continue };
                if let Some(first) = seen.get(name) {
                    let first = first.get("name").expect("only tables with a name are kept");
                    let place = self.sources.locate(&first.node.place, &first.path);
                    let message = format!("the name `{name}` is taken");
                    let help = format!("names are unique among {}", plural(kinds));
                    self.report(at.wrong("name", message, format!("first used in {place}")).help(help));
                } else {
                    seen.insert(name, at);
                }
            }
        }
        if root.node.get("body").is_some_and(|body| matches!(&body.value, Value::List(items) if items.is_empty())) {
            self.report(root.wrong("body", "a case needs at least one body", "none here"));
        }
    }

    fn references(&mut self, root: &At, facts: &Facts) {
        let (bodies, sets) = (root.tables("body"), root.tables("set"));
        // Where a name is missing, every reference to it would be reported once more.
        if bodies.iter().chain(&sets).any(|at| at.text("name").is_none()) || !root.has("body") {
            return;
        }
        let scope = Scope {
            bodies: bodies.iter().filter_map(|at| Some((at.text("name")?, at))).collect(),
            sets: sets.iter().enumerate().filter_map(|(i, at)| Some((at.text("name")?, i))).collect(),
        };
        let problems = facts.references.iter().filter_map(|reference| scope.problem(reference));
        self.diagnostics.extend(problems.take(MOST_REPORTED));
        for (index, set) in sets.iter().enumerate() {
            for item in set.node.get("nodes").map_or(&[][..], Node::items) {
                let name = item.text().unwrap_or_default();
                if scope.sets.get(name).is_some_and(|&other| other >= index) && !scope.bodies.contains_key(name) {
                    let message = format!("the set `{name}` comes too late");
                    let label = "sets are made in the order of the file";
                    self.report(Diagnostic::new(&item.place, &set.path, message, label));
                }
            }
        }
    }

    fn time(&mut self, root: &At) {
        let Some(time) = root.get("time") else { return };
        let (end, step, min_step) = (time.number("end"), time.number("step"), time.number("min_step"));
        if let (Some(end), Some(step)) = (end, step)
            && step > 0.0
            && end > 0.0
        {
            if step > end {
                self.report(time.wrong("step", "`time.step` must not exceed `time.end`", format!("larger than {end}")));
            } else if end / step > MOST_STEPS {
                let label = format!("makes {:.0e} steps", end / step);
                let message = format!("`time.step` is too small for `time.end`: at most {MOST_STEPS:e} steps");
                self.report(time.wrong("step", message, label));
            }
        }
        if let (Some(step), Some(min_step)) = (step, min_step)
            && min_step > step
        {
            let message = "`time.min_step` must not exceed `time.step`";
            self.report(time.wrong("min_step", message, format!("larger than {step}")));
        }
        if let (Some(step), Some(first_step)) = (step, time.number("first_step"))
            && first_step > step
        {
            let message = "`time.first_step` must not exceed `time.step`";
            self.report(time.wrong("first_step", message, format!("larger than {step}")));
        }
    }

    fn body(&mut self, body: &At) {
        if let Some(line) = body.get("line")
            && line.vector("from").is_some_and(|from| line.vector("to") == Some(from))
        {
            self.report(line.wrong("to", format!("`{}` has no length", line.path), "the same as `from`"));
        }
        if let Some(polyline) = body.get("polyline") {
            let points = polyline.node.get("points").map_or(&[][..], Node::items);
            for pair in points.windows(2) {
                if pair[0].vector().is_some() && pair[0].vector() == pair[1].vector() {
                    let message = format!("`{}` has a piece without length", polyline.path);
                    self.report(Diagnostic::new(
                        &pair[1].place,
                        &polyline.path,
                        message,
                        "the same as the point before",
                    ));
                }
            }
            let pieces = points.len().saturating_sub(1);
            if polyline.number("elements").is_some_and(|elements| elements < pieces as f64 && elements >= 1.0) {
                let message = format!("`{}` needs at least one element per piece", polyline.path);
                self.report(polyline.wrong("elements", message, format!("{pieces} pieces")));
            }
        }
        if let Some([first, second]) = body.node.get("between").map(Node::items)
            && first.text().is_some()
            && first.text() == second.text()
        {
            let message = format!("`{}` joins a node to itself", body.path);
            self.report(Diagnostic::new(&second.place, &body.path, message, "the same node"));
        }
        if body.has("group") && !body.has("mesh") {
            self.report(body.wrong("group", "`group` goes with `mesh`", "there is no `mesh`"));
        }
        if body.has("spin_centre") && !body.has("spin") {
            self.report(body.wrong("spin_centre", "`spin_centre` goes with `spin`", "there is no `spin`"));
        }
        if body.has("spin") && self.dimension == Some(1) {
            self.report(body.wrong("spin", "`spin` needs two dimensions", "in a model of one dimension"));
        }
        if let Some(material) = body.get("material")
            && material.has("poisson")
            && material.has("shear")
        {
            let message = "`material` takes `poisson` or `shear`, not both";
            self.report(material.wrong("shear", message, "there is `poisson` already"));
        }
        if body.text("element").is_some_and(bends) {
            self.beam(body);
        }
        self.section(body);
    }

    fn beam(&mut self, body: &At) {
        if let Some(material) = body.get("material")
            && !material.has("poisson")
            && !material.has("shear")
        {
            let message = "the material of a beam needs `poisson` or `shear`";
            self.report(Diagnostic::new(&material.node.place, &material.path, message, "has neither"));
        }
        if let Some(section) = body.get("section").filter(|section| !section.has("shape")) {
            for key in ["inertia", "shear_area"].into_iter().filter(|key| !section.has(key)) {
                let message = format!("the section of a beam needs `{key}`");
                self.report(Diagnostic::new(&section.node.place, &section.path, message, format!("no `{key}`")));
            }
        }
    }

    fn section(&mut self, body: &At) {
        let Some(section) = body.get("section") else { return };
        let mut at_most = |key: &str, times: f64, limit: &str| {
            if let (Some(value), Some(bound)) = (section.number(key), section.number(limit))
                && times * value > bound
            {
                let thing = if times == 1.0 { format!("`{key}`") } else { format!("twice `{key}`") };
                let message = format!("{thing} exceeds `{limit}` in `{}`", section.path);
                self.diagnostics.push(section.wrong(key, message, format!("`{limit}` is {bound}")));
            }
        };
        at_most("thickness", 1.0, "radius");
        at_most("web", 1.0, "width");
        at_most("flange", 2.0, "height");
    }

    fn initial(&mut self, initial: &At) {
        if !initial.has("displacement") && !initial.has("velocity") {
            let message = "[[initial]] needs `displacement` or `velocity`";
            self.report(Diagnostic::new(&initial.node.place, &initial.path, message, "has neither"));
        }
        for field in ["displacement", "velocity"].into_iter().filter_map(|key| initial.get(key)) {
            self.direction(&field, "direction");
            if self.dimension == Some(1) && field.text("kind") == Some("expression") && field.has("y") {
                self.report(field.wrong("y", "`y` needs two dimensions", "in a model of one dimension"));
            }
        }
    }

    fn support(&mut self, support: &At) {
        if !support.has("motion") && support.node.get("fix").is_none_or(|fix| fix.items().is_empty()) {
            self.report(support.wrong("fix", "a support needs components to `fix`", "fixes nothing"));
        }
        for item in support.node.get("fix").map_or(&[][..], Node::items) {
            if self.dimension == Some(1) && matches!(item.text(), Some("y" | "theta")) {
                let message = "there is only `x` to fix in one dimension";
                self.report(Diagnostic::new(&item.place, &support.path, message, "not in this model"));
            }
        }
    }

    fn load(&mut self, load: &At) {
        match (load.has("nodes"), load.has("body")) {
            (true, true) => {
                let message = "a load takes `nodes` or `body`, not both";
                self.report(load.wrong("body", message, "there is `nodes` already"));
            }
            (false, false) => {
                let message = "a load needs `nodes` with `force` or `moment`, or `body` with `per_length`";
                self.report(Diagnostic::new(&load.node.place, &load.path, message, "has neither `nodes` nor `body`"));
            }
            (true, false) => {
                if load.has("per_length") {
                    self.report(load.wrong("per_length", "`per_length` goes with `body`", "this load has `nodes`"));
                } else if !load.has("force") && !load.has("moment") {
                    self.report(load.wrong("nodes", "a load on nodes needs `force` or `moment`", "has neither"));
                }
            }
            (false, true) => {
                for key in ["force", "moment"].into_iter().filter(|key| load.has(key)) {
                    self.report(load.wrong(key, format!("`{key}` goes with `nodes`"), "this load has `body`"));
                }
                if !load.has("per_length") {
                    self.report(load.wrong("body", "a load on a body needs `per_length`", "has none"));
                }
            }
        }
        if load.has("moment") && self.dimension == Some(1) {
            self.report(load.wrong("moment", "a moment needs two dimensions", "in a model of one dimension"));
        }
        if let Some(key) =
            ["force", "moment", "per_length"].into_iter().find(|key| load.node.get(key).is_some_and(varies))
            && load.get("time").is_some_and(|time| time.text("kind") != Some("constant"))
        {
            let message = format!("`{}` has a factor over time twice", load.path);
            let label = format!("`{key}` is an expression of `t` already");
            self.report(load.wrong("time", message, label).help("write all of it into the expression"));
        }
        if let Some(time) = load.get("time")
            && let Some(end) = time.number("end")
            && end <= time.number("start").unwrap_or(0.0)
        {
            let message = format!("`{}` must end after it starts", time.path);
            self.report(time.wrong("end", message, format!("not after {}", time.number("start").unwrap_or(0.0))));
        }
    }

    fn contact(&mut self, contact: &At, statics: bool) {
        for key in ["plane", "half_plane"] {
            if let Some(plane) = contact.get(key) {
                self.direction(&plane, "normal");
                self.direction(&plane, "direction");
            }
        }
        let obstacle =
            ["plane", "half_plane", "circle", "polyline", "between"].into_iter().find(|key| contact.has(key));
        match (obstacle, contact.has("nodes")) {
            (Some("between"), true) => {
                let message = "a contact takes `nodes` with an obstacle, or `between`, not both";
                self.report(contact.wrong("nodes", message, "there is `between` already"));
            }
            (Some(obstacle), false) if obstacle != "between" => {
                let message = format!("`{}` needs `nodes`", contact.path);
                self.report(contact.wrong(obstacle, message, "which nodes may touch it?"));
            }
            _ => {}
        }
        if let Some(line) = contact.get("polyline") {
            let points = line.node.get("points").map_or(&[][..], Node::items);
            let same = |k: &usize| points[*k].vector().is_some_and(|p| points[k - 1].vector() == Some(p));
            if let Some(k) = (1..points.len()).find(same) {
                let message = format!("points {k} and {} of the polyline are the same", k + 1);
                self.report(line.wrong("points", message, "a segment needs a length"));
            }
        }
        let flat = self.dimension == Some(1);
        for key in ["half_plane", "circle", "polyline"].into_iter().filter(|key| flat && contact.has(key)) {
            self.report(contact.wrong(key, format!("`{key}` needs two dimensions"), "in a model of one dimension"));
        }
        if contact.number("friction").is_some_and(|friction| friction > 0.0) {
            if flat {
                self.report(contact.wrong("friction", "friction needs two dimensions", "in a model of one dimension"));
            }
            if statics {
                let message = "friction has no static analysis: which way things slid is a matter of their history";
                self.report(contact.wrong("friction", message, "run a dynamic analysis with damping instead"));
            }
        }
        for key in ["polyline", "between"].into_iter().filter(|key| statics && contact.has(key)) {
            let message = format!("`{key}` has no static analysis: what touches is searched for from step to step");
            self.report(contact.wrong(key, message, "take planes or circles, or run a dynamic analysis with damping"));
        }
        let Some(motion) = contact.get("motion") else { return };
        let straight = matches!(obstacle, Some("plane" | "half_plane"));
        for key in ["normal", "tangent", "x", "y"].into_iter().filter(|key| motion.has(key)) {
            if obstacle == Some("between") {
                self.report(motion.wrong(key, "bodies move by themselves", "`motion` belongs to rigid obstacles"));
            } else if !straight && matches!(key, "normal" | "tangent") {
                let message = format!("only planes move along their {key}");
                self.report(motion.wrong(key, message, "give the motion along `x` and `y`"));
            } else if flat && matches!(key, "tangent" | "y") {
                let message = format!("`{key}` needs two dimensions");
                self.report(motion.wrong(key, message, "in a model of one dimension"));
            }
        }
    }

    fn direction(&mut self, at: &At, key: &str) {
        if at.vector(key).is_some_and(|v| !v.is_empty() && v.iter().all(|&x| x == 0.0)) {
            self.report(at.wrong(key, format!("`{}` must not be zero", join(&at.path, key)), "has no direction"));
        }
    }
}

/// Whether elements of that name bend, and so need two dimensions and a section with inertia.
fn bends(element: &str) -> bool {
    element.rsplit('-').next() == Some("beam")
}

fn dimensions(n: usize) -> String {
    format!("{n} dimension{}", if n == 1 { "" } else { "s" })
}

fn plural(kinds: &[&str]) -> String {
    let words: Vec<String> =
        kinds.iter().map(|k| if *k == "body" { "bodies".into() } else { format!("{k}s") }).collect();
    words.join(" and ")
}

/// The names that a reference may use.
struct Scope<'a> {
    bodies: BTreeMap<&'a str, &'a At<'a>>,
    /// Sets and their numbers in the order of the file.
    sets: BTreeMap<&'a str, usize>,
}

impl Scope<'_> {
    /// What is wrong with a reference, as far as can be told without reading meshes.
    fn problem(&self, reference: &Found<(Reference, String)>) -> Option<Diagnostic> {
        let (kind, text) = &reference.what;
        let (owner, part) = match text.split_once('.') {
            Some((owner, part)) => (owner, Some(part)),
            None => (text.as_str(), None),
        };
        let wrong =
            |message: String, label: String| Some(Diagnostic::new(&reference.place, &reference.path, message, label));
        let Some(body) = self.bodies.get(owner) else {
            let set = *kind != Reference::Body && self.sets.contains_key(owner);
            return match part {
                None if set => None,
                Some(_) if set => wrong(format!("the set `{owner}` has no parts"), format!("write `{owner}`")),
                _ => Some(self.unknown(*kind, owner, &reference.place, &reference.path)),
            };
        };
        let lines = body.has("line") || body.has("polyline");
        match (kind, part) {
            _ if body.has("between") => {
                wrong(format!("`{owner}` has no nodes of its own"), "it joins nodes of others".into())
            }
            (Reference::Region | Reference::Body, Some(_)) => {
                wrong(format!("`{text}` must be {}", kind.describe()), "a part of a body".into())
            }
            (_, Some(_)) if body.has("at") => {
                wrong(format!("`{owner}` is a single node and has no parts"), format!("write `{owner}`"))
            }
            (_, Some(part)) if lines && !matches!(part, "start" | "end") => {
                let label = nearest(part, ["start", "end"]);
                let label = label.map_or("no such part".into(), |name| format!("did you mean `{owner}.{name}`?"));
                let help = format!("parts of `{owner}`: `{owner}.start`, `{owner}.end`");
                wrong(format!("`{owner}` has no part `{part}`"), label).map(|diagnostic| diagnostic.help(help))
            }
            (_, Some("")) => wrong(format!("`{text}` names no part"), "nothing after the dot".into()),
            (Reference::Node, None) if lines => {
                let help = format!("a single node: `{owner}.start`, `{owner}.end`, or a set with `nearest`");
                wrong(format!("`{owner}` has many nodes"), "one is needed".into()).map(|d| d.help(help))
            }
            _ => None,
        }
    }

    fn unknown(&self, kind: Reference, name: &str, place: &Place, path: &str) -> Diagnostic {
        let sets = self.sets.keys().filter(|_| kind != Reference::Body);
        let known = || self.bodies.keys().chain(sets.clone()).copied();
        let what = if kind == Reference::Body { "body" } else { "body or set" };
        let label = nearest(name, known());
        let label = label.map_or("no such name".into(), |near| format!("did you mean `{near}`?"));
        Diagnostic::new(place, path, format!("there is no {what} named `{name}`"), label)
            .help(format!("known names: {}", listing(known())))
    }
}
