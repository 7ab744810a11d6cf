//! What must hold between the values of one body.

use super::{At, Check};
use crate::case::diagnostic::Diagnostic;
use crate::case::tree::Node;

/// Whether the elements of a body bend, and so need two dimensions and a section with inertia.
pub(super) fn bends(body: &At) -> bool {
    body.text("element").and_then(crate::elements::find).is_some_and(|kind| kind.bends())
}

impl Check<'_> {
    pub(super) fn body(&mut self, body: &At) {
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
        if bends(body) {
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
}
