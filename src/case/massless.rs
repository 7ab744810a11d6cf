//! What `mass = "redistributed"` on a contact goes with.

use super::check::At;
use super::diagnostic::Diagnostic;
use super::obstacles;

/// Whether a contact asks for massless nodes.
fn redistributed(contact: &At) -> bool {
    contact.text("mass") == Some("redistributed")
}

/// All that is wrong with the masses of the contacts of a case.
pub(super) fn check(root: &At, dimension: Option<usize>) -> Vec<Diagnostic> {
    let contacts = root.tables("contact");
    let mut diagnostics = Vec::new();
    for contact in contacts.iter().filter(|contact| !redistributed(contact)) {
        for key in ["rule", "law"].into_iter().filter(|key| contact.has(key)) {
            let message = format!("`{key}` goes with `mass = \"redistributed\"`");
            diagnostics.push(contact.wrong(key, message, "here the mass is kept"));
        }
    }
    let Some(first) = contacts.iter().find(|contact| redistributed(contact)) else { return diagnostics };
    let law = |contact: &At| contact.text("law").unwrap_or("position").to_string();
    for contact in &contacts {
        if !redistributed(contact) {
            let message = "all contacts of a case have their mass redistributed, or none";
            diagnostics.push(contact.wrong("mass", message, "kept here, redistributed in another contact"));
            continue;
        }
        if law(contact) != law(first) {
            let message = "all contacts of a case follow the same `law`";
            diagnostics.push(contact.wrong("law", message, format!("another contact has {:?}", law(first))));
        }
        diagnostics.extend(combinations(contact, dimension));
    }
    let with = "does not go with `mass = \"redistributed\"`";
    if root.text("analysis") == Some("static") {
        let message = format!("`analysis = \"static\"` {with}: an equilibrium knows no mass");
        diagnostics.push(root.wrong("analysis", message, "take `mass = \"kept\"`"));
    }
    if let Some(scheme) = root.get("scheme").filter(|scheme| scheme.text("position") == Some("ggl")) {
        let message = format!("`position = \"ggl\"` {with}: its law is one of positions already");
        diagnostics.push(scheme.wrong("position", message, "take \"half\""));
    }
    diagnostics
}

/// Keys of the same contact for which no verified formulas exist.
fn combinations(contact: &At, dimension: Option<usize>) -> Vec<Diagnostic> {
    let with = "does not go with `mass = \"redistributed\"`";
    let mut diagnostics = Vec::new();
    let restitution = contact.number("restitution").or_else(|| contact.get("restitution")?.number("e"));
    if restitution.is_some_and(|e| e > 0.0) {
        let message = format!("`restitution` {with}: a massless node brings no velocity into an impact");
        diagnostics.push(contact.wrong("restitution", message, "must be 0 here"));
    }
    if contact.number("friction").is_some_and(|mu| mu > 0.0) {
        let message = format!("`friction` {with}: carom has no verified law for the two together");
        diagnostics.push(contact.wrong("friction", message, "must be 0 here"));
    }
    // In one dimension bodies meet node to node, and that is verified.
    let between = (contact.has("between") && dimension != Some(1)).then_some("between");
    let unverified = obstacles::of(contact).filter(|kind| !kind.massless).map(|kind| kind.name);
    for key in between.into_iter().chain(unverified) {
        let message = format!("`{key}` {with}: carom has verified formulas for planes and circles only");
        diagnostics.push(contact.wrong(key, message, "take `plane` or `circle`, or keep the mass"));
    }
    diagnostics
}
