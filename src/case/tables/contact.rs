//! `[[contact]]`; the keys of its obstacles are declared in [`crate::obstacles::OBSTACLES`].

use super::Function;
use crate::case::obstacles;
use crate::keys::*;
use crate::obstacles::Values;
use std::collections::BTreeMap;

table! {
    /// A unilateral contact of nodes with one obstacle, or between bodies
    Contact("[[contact]]", one_of: &[&obstacles::names_and("between")]) {
        /// Unique among contacts
        name: String as Name;
        /// Nodes that may touch; not with `between`
        nodes: Option<String> as Ref(Reference::Nodes);
        /// Thickness of the body at its nodes; of both with `between`
        radius: f64 as Number(NON_NEGATIVE) = 0.0;
        /// Rigid obstacle, by its key; none with `between`
        [flatten] obstacle: BTreeMap<String, Values> as More(obstacles::fields);
        /// Two bodies or node sets; twice the same for all in it
        between: Option<[String; 2]>;
        /// Coefficient of restitution
        restitution: NumberOr<Restitution> as NumberOr(between(0.0, 1.0), Restitution::TABLE) = NumberOr::Number(0.0);
        /// Coefficient of friction
        friction: f64 as Number(NON_NEGATIVE) = 0.0;
        /// Motion of the obstacle; `normal` and `tangent` of planes only
        motion: BTreeMap<String, Function> as Motions(&["normal", "tangent", "x", "y"], Function::TABLE) = none();
        /// Mass of the contact nodes
        mass: ContactMass = ContactMass::Kept;
        /// How the mass is redistributed; by default `const` on bars, `full` on beams
        rule: Option<MassRule>;
        /// Contact law of massless nodes; by default `position`
        law: Option<MasslessLaw>;
        /// Whether the history has a column `node<k>.force` for every one of `nodes`, from 0 on
        per_node: Option<bool>;
    }
}

words! {
    /// What becomes of the mass of contact nodes
    ContactMass {
        /// as it is
        Kept = "kept",
        /// moved off the contact nodes
        Redistributed = "redistributed",
    }
}

words! {
    /// How the velocity of a massless node follows from those of its neighbours, (T90)
    MassRule {
        /// an end of a bar moves like its neighbour
        Const = "const",
        /// an end of a bar moves as two neighbours extrapolate
        Lin = "lin",
        /// the node of a beam, its rotation included, as rigid motions ask
        Full = "full",
    }
}

words! {
    /// Contact law of massless nodes, (T92) and (T97)
    MasslessLaw {
        /// gap and force: no penetration
        Position = "position",
        /// mean rate and impulse: exact energy, some penetration; moreau-jean with theta = 1/2
        MidVelocity = "mid-velocity",
    }
}

table! {
    /// Coefficient and law of restitution
    Restitution("restitution") {
        /// Coefficient of restitution
        e: f64 as Number(between(0.0, 1.0));
        /// Which velocities the coefficient relates
        law: RestitutionLaw = RestitutionLaw::Newton;
    }
}

words! {
    /// Which velocities a coefficient of restitution relates
    RestitutionLaw {
        /// normal
        Newton = "newton",
        /// normal and sliding
        Moreau = "moreau",
    }
}

impl NumberOr<Restitution> {
    /// The coefficient.
    pub fn e(&self) -> f64 {
        match self {
            NumberOr::Number(e) => *e,
            NumberOr::Table(restitution) => restitution.e,
        }
    }

    /// Which velocities it relates.
    pub fn law(&self) -> RestitutionLaw {
        match self {
            NumberOr::Number(_) => RestitutionLaw::Newton,
            NumberOr::Table(restitution) => restitution.law,
        }
    }
}
