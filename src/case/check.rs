//! What must hold between the values of a case: dimensions, names, references, combinations of keys.
//!
//! It works on the tree, so that it has its say even where single values are wrong; those count as absent here.
//! Meshes are not read: what depends on them is the model's business.

mod body;
mod references;

use super::diagnostic::{Diagnostic, MOST_REPORTED, Sources};
use super::expect;
use super::massless;
use super::obstacles;
use super::resolve::varies;
use super::tree::{Node, Value};
use super::validate::{Facts, join, join_item};
use references::Scope;
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
        items
            .iter()
            .enumerate()
            .map(|(i, node)| At { node, path: join_item(&join(&self.path, key), node, i) })
            .collect()
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
    root.tables("body").iter().for_each(|body| check.body(body));
    root.tables("initial").iter().for_each(|initial| check.initial(initial));
    root.tables("support").iter().for_each(|support| check.support(support));
    root.tables("load").iter().for_each(|load| check.load(load));
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
            if dimension == 1 && body::bends(&body) {
                self.report(body.wrong("element", "a beam needs two dimensions", "in a model of one dimension"));
            }
        }
    }

    fn names(&mut self, root: &At) {
        let sections = root.get("output").map_or(Vec::new(), |output| output.tables("sections"));
        let kinds = [&["body", "set"][..], &["support"], &["joint"], &["load"], &["contact"], &["probe"]];
        let named = kinds.map(|kinds| (kinds, kinds.iter().flat_map(|kind| root.tables(kind)).collect()));
        for (kinds, tables) in named.into_iter().chain([(&["section"][..], sections)]) {
            let mut seen: BTreeMap<&str, At> = BTreeMap::new();
            for at in tables {
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
        for kind in obstacles::of(contact) {
            let wrong = obstacles::check(contact, kind, self.dimension, statics);
            wrong.into_iter().for_each(|diagnostic| self.report(diagnostic));
        }
        let rigid = obstacles::of(contact).next();
        let obstacle = rigid.map(|kind| kind.name).or(contact.has("between").then_some("between"));
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
        let flat = self.dimension == Some(1);
        if contact.number("friction").is_some_and(|friction| friction > 0.0) {
            if flat {
                self.report(contact.wrong("friction", "friction needs two dimensions", "in a model of one dimension"));
            }
            if statics {
                let message = "friction has no static analysis: which way things slid is a matter of their history";
                self.report(contact.wrong("friction", message, "run a dynamic analysis with damping instead"));
            }
        }
        if statics && contact.has("between") {
            self.report(obstacles::no_statics(contact, "between"));
        }
        let Some(motion) = contact.get("motion") else { return };
        let straight = rigid.is_some_and(|kind| kind.keys.iter().any(|key| key.name == "normal"));
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

fn dimensions(n: usize) -> String {
    format!("{n} dimension{}", if n == 1 { "" } else { "s" })
}

fn plural(kinds: &[&str]) -> String {
    let words: Vec<String> =
        kinds.iter().map(|k| if *k == "body" { "bodies".into() } else { format!("{k}s") }).collect();
    words.join(" and ")
}
