//! `Case`: the checked case file as plain data, every default spelled out.
//!
//! It knows names, numbers and paths; it must not know matrices or degrees of freedom.
//! Serialised, it is the *resolved case* of `summary.json`: a case file that runs to the same result.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A whole case file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Version of the file format; only 1 exists.
    pub format: u32,
    /// One line for summaries and reports.
    #[serde(default)]
    pub title: String,
    /// Transient or static.
    #[serde(default)]
    pub analysis: Analysis,
    /// Names that expressions of time and place use.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub constants: BTreeMap<String, f64>,
    /// Acceleration of gravity; its length is the dimension of the model. Empty means none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gravity: Vec<f64>,
    /// End time and step.
    pub time: Time,
    /// The time scheme.
    pub scheme: Scheme,
    /// Newton and contact solver.
    #[serde(default)]
    pub solver: Solver,
    /// Bodies, in the order of the file.
    pub body: Vec<Body>,
    /// Named node sets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<Set>,
    /// Initial fields beyond a body's uniform ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub initial: Vec<Initial>,
    /// Supports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub support: Vec<Support>,
    /// Hinges and welds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joint: Vec<Joint>,
    /// Loads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<Load>,
    /// Unilateral contacts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contact: Vec<Contact>,
    /// Nodes whose motion goes into the history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probe: Vec<Probe>,
    /// Limits that stop a run gone wrong.
    #[serde(default)]
    pub guards: Guards,
    /// What is written.
    #[serde(default)]
    pub output: Output,
    /// Expectations for `carom test`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub expect: BTreeMap<String, Expect>,
}

impl Case {
    /// Every file that the case names, in order, each once.
    pub fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = self.body.iter().filter_map(|body| body.mesh.as_deref()).collect();
        let times = self.load.iter().map(|load| &load.time);
        let supports = self.support.iter().flat_map(|support| support.motion.values());
        let obstacles = self.contact.iter().flat_map(|contact| contact.motion.values());
        for function in times.chain(supports).chain(obstacles) {
            if let Function::Table { file } = function {
                files.push(file);
            }
        }
        for field in self.initial.iter().flat_map(|initial| [&initial.displacement, &initial.velocity]) {
            if let Some(Field::Table { file }) = field {
                files.push(file);
            }
        }
        files.sort_unstable();
        files.dedup();
        files
    }
}

/// Kind of analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Analysis {
    /// Transient: inertia counts.
    #[default]
    Dynamic,
    /// Equilibrium paths: `[time]` is the load parameter.
    Static,
}

/// End and step of the time axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    /// Last instant.
    pub end: f64,
    /// Step size.
    pub step: f64,
    /// Floor of step cuts; `step / 1024` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_step: Option<f64>,
    /// Size of the first step, if it is to be a shorter one: shifts the grid of all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_step: Option<f64>,
}

/// The `[scheme]` table: a name, the keys of that scheme, and the common keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scheme {
    /// Name in the registry `SCHEMES`.
    pub name: String,
    /// Position rule.
    #[serde(default)]
    pub position: Position,
    /// Activation forecast γ_a: a contact is active if gap + γ_a h U ≤ tolerance.
    #[serde(default = "half")]
    pub forecast: f64,
    /// The scheme's own keys (`theta`, `rho_inf`, …), checked against the registry.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, f64>,
}

/// How an impact moves positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Position {
    /// u = h c w.
    #[default]
    Half,
    /// Position-corrected (Gear–Gupta–Leimkuhler): no penetration.
    Ggl,
}

/// Tolerances of the nonlinear and the contact solver.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Solver {
    /// Newton iteration.
    #[serde(default)]
    pub newton: Newton,
    /// Contact solver.
    #[serde(default)]
    pub contact: ContactSolver,
}

/// Newton iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Newton {
    /// Relative tolerance on the residual.
    #[serde(default = "tolerance")]
    pub tolerance: f64,
    /// Most passes before the step is cut.
    #[serde(default = "passes")]
    pub passes: usize,
}

/// Contact solver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactSolver {
    /// Which solver.
    #[serde(default)]
    pub method: ContactMethod,
    /// Tolerance on the scaled natural-map residual.
    #[serde(default = "tolerance")]
    pub tolerance: f64,
    /// Most sweeps.
    #[serde(default = "sweeps")]
    pub sweeps: usize,
    /// Over-relaxation of Gauss–Seidel, in (0, 2).
    #[serde(default = "one")]
    pub relaxation: f64,
}

/// Contact solver by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContactMethod {
    /// Chosen by a stated rule.
    #[default]
    Auto,
    /// Projected Gauss–Seidel.
    Pgs,
    /// Active sets inside the factorization.
    ActiveSet,
    /// Lemke's pivoting, exact.
    Lemke,
}

/// One body: where it is, what it is made of, how it moves at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Body {
    /// Unique name.
    pub name: String,
    /// Name in the registry `ELEMENTS`.
    pub element: String,
    /// Straight line of elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Line>,
    /// Several straight pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polyline: Option<Polyline>,
    /// Gmsh file, relative to the case file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<String>,
    /// Physical group of lines in that file; all lines unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Place of a point mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Vec<f64>>,
    /// The two node references that a spring joins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<Vec<String>>,
    /// Material.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<Material>,
    /// Cross-section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<Section>,
    /// Consistent or lumped.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mass_matrix: MassMatrix,
    /// Residual bending flexibility of the one-point beam.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shear_correction: bool,
    /// Point mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Spring stiffness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<f64>,
    /// Rayleigh damping `{ mass, stiffness }`, or a number for a spring's dashpot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<Damping>,
    /// Unstretched length of a spring; its initial length unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_length: Option<f64>,
    /// Uniform initial displacement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub displacement: Option<Vec<f64>>,
    /// Uniform initial velocity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity: Option<Vec<f64>>,
    /// Initial angular velocity about `spin_centre`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spin: Option<f64>,
    /// Centre of the initial spin; the origin unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spin_centre: Option<Vec<f64>>,
}

/// Straight line of elements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// First node.
    pub from: Vec<f64>,
    /// Last node.
    pub to: Vec<f64>,
    /// Number of elements.
    pub elements: usize,
    /// Length of the last element over that of the first; lengths grow geometrically.
    #[serde(default = "one")]
    pub grading: f64,
}

/// Several straight pieces with a common number of elements, shared out by length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Polyline {
    /// Corner points.
    pub points: Vec<Vec<f64>>,
    /// Elements of the whole line; at least one per piece.
    pub elements: usize,
}

/// Linear elastic material.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Young's modulus.
    pub young: f64,
    /// Poisson's ratio, for beams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poisson: Option<f64>,
    /// Shear modulus instead of Poisson's ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shear: Option<f64>,
    /// Mass density.
    pub density: f64,
}

/// Cross-section, by shape or directly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// rectangle, circle, tube or i; absent for direct values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// Width of a rectangle or of an I's flanges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// Height of a rectangle or an I, in the plane of bending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<f64>,
    /// Outer radius of a circle or a tube.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Wall thickness of a tube.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f64>,
    /// Web thickness of an I.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web: Option<f64>,
    /// Flange thickness of an I.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flange: Option<f64>,
    /// Area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<f64>,
    /// Second moment of area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia: Option<f64>,
    /// Shear area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shear_area: Option<f64>,
    /// Overrides the shape's shear factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shear_factor: Option<f64>,
}

/// Mass matrix of a body's elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MassMatrix {
    /// From the shape functions.
    #[default]
    Consistent,
    /// Diagonal.
    Lumped,
}

/// Damping of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Damping {
    /// Dashpot constant of a spring.
    Dashpot(f64),
    /// Rayleigh damping.
    Rayleigh {
        /// Times the mass matrix.
        #[serde(default)]
        mass: f64,
        /// Times the stiffness (on strain rates).
        #[serde(default)]
        stiffness: f64,
    },
}

/// A named node set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Set {
    /// Unique name.
    pub name: String,
    /// The node nearest to this point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Vec<f64>>,
    /// Union of node references.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<String>>,
    /// All nodes inside a box given by two corners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#box: Option<Vec<Vec<f64>>>,
    /// Every how many nodes of the above.
    #[serde(default = "one_usize")]
    pub every: usize,
}

/// An initial field on a node set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Initial {
    /// Body or set.
    pub nodes: String,
    /// Displacement field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub displacement: Option<Field>,
    /// Velocity field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity: Option<Field>,
}

/// A field over a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Field {
    /// Raised-cosine pulse: amplitude·½(1 + cos(π s/width)) for |s| < width, s the distance from the
    /// centre along the body's first axis.
    Pulse {
        /// Direction of the field.
        direction: Vec<f64>,
        /// Peak value.
        amplitude: f64,
        /// Place of the peak, as a distance along the body from its first node.
        centre: f64,
        /// Half width.
        width: f64,
    },
    /// Columns `distance, x[, y]` in a CSV file, linear between rows.
    Table {
        /// Path relative to the case file.
        file: String,
    },
    /// Expressions of the place `x`, `y` and the distance `s` from the first node.
    Expression {
        /// First component.
        #[serde(default)]
        x: Amount,
        /// Second component.
        #[serde(default)]
        y: Amount,
    },
}

/// A support.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Support {
    /// Unique name.
    pub name: String,
    /// Body, set or node reference.
    pub nodes: String,
    /// Components held at their reference value: x, y, theta.
    #[serde(default)]
    pub fix: Vec<String>,
    /// Prescribed motion per component.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub motion: BTreeMap<String, Function>,
}

/// A joint between coinciding nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Joint {
    /// Unique name.
    pub name: String,
    /// Hinge or weld.
    pub kind: JointKind,
    /// Two node references.
    pub between: Vec<String>,
}

/// What a joint shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JointKind {
    /// Place shared, rotations apart.
    Hinge,
    /// Place and rotation shared.
    Weld,
}

/// A load on nodes or along a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Unique name.
    pub name: String,
    /// Node reference; each of its nodes carries the force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<String>,
    /// Body that carries `per_length`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Force per node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<Vec<Amount>>,
    /// Moment per node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moment: Option<Amount>,
    /// Force per length of the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_length: Option<Vec<Amount>>,
    /// Factor over time.
    #[serde(default)]
    pub time: Function,
}

/// A number, or an expression that makes one of time or place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Amount {
    /// A number.
    Number(f64),
    /// The text of an expression.
    Expression(String),
}

impl Default for Amount {
    fn default() -> Self {
        Amount::Number(0.0)
    }
}

/// A function of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Function {
    /// 1 (loads), or 0 rate (motions).
    #[default]
    Constant,
    /// Linear from one value to another, constant outside.
    Ramp {
        /// Value before `start`.
        #[serde(default)]
        from: f64,
        /// Value after `end`.
        #[serde(default = "one")]
        to: f64,
        /// Start of the ramp.
        #[serde(default)]
        start: f64,
        /// End of the ramp.
        end: f64,
    },
    /// amplitude · sin(2π frequency t + phase).
    Harmonic {
        /// Peak value.
        #[serde(default = "one")]
        amplitude: f64,
        /// Cycles per unit of time.
        frequency: f64,
        /// Phase in radians.
        #[serde(default)]
        phase: f64,
    },
    /// Two CSV columns `time, value`, linear between rows, constant outside.
    Table {
        /// Path relative to the case file.
        file: String,
    },
    /// An expression of `t`.
    Expression {
        /// Its text, or the number that it is.
        value: Amount,
    },
}

/// A unilateral contact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    /// Unique name.
    pub name: String,
    /// Body, set or node reference whose nodes may touch; none with `between`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<String>,
    /// Thickness of the body at its nodes.
    #[serde(default)]
    pub radius: f64,
    /// Rigid plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<Plane>,
    /// Rigid half plane with an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_plane: Option<HalfPlane>,
    /// Rigid circle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circle: Option<Circle>,
    /// Rigid polyline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polyline: Option<Corners>,
    /// Two bodies or node sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<[String; 2]>,
    /// Coefficient and law of restitution.
    #[serde(default)]
    pub restitution: Restitution,
    /// Coefficient of friction.
    #[serde(default)]
    pub friction: f64,
    /// Motion of the obstacle along its normal and tangent, or along x and y.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub motion: BTreeMap<String, Function>,
    /// What becomes of the mass of its nodes.
    #[serde(default)]
    pub mass: ContactMass,
    /// How mass is moved off its nodes; by element unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<MassRule>,
    /// Contact law of massless nodes; `position` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<MasslessLaw>,
}

/// What becomes of the mass of contact nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContactMass {
    /// It stays.
    #[default]
    Kept,
    /// It is moved to neighbouring nodes.
    Redistributed,
}

/// How the velocity of a massless end node follows from those of its neighbours, (T90).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MassRule {
    /// Bars: that of the neighbour.
    Const,
    /// Bars: linear extrapolation from two neighbours.
    Lin,
    /// Beams: all motions of the node, so that a rigid motion keeps its energy.
    Full,
}

/// Contact law of massless nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MasslessLaw {
    /// Gap and force at the end of the step, (T92).
    #[default]
    Position,
    /// Mean rate and impulse of the step, (T97).
    MidVelocity,
}

/// Coefficient and law of restitution: `0.8`, or `{ e = 0.8, law = "moreau" }`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "RestitutionForm", into = "RestitutionForm")]
pub struct Restitution {
    /// Coefficient.
    pub e: f64,
    /// Which velocities it relates.
    pub law: RestitutionLaw,
}

/// Which velocities a coefficient of restitution relates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RestitutionLaw {
    /// The normal ones.
    #[default]
    Newton,
    /// The normal and the sliding ones.
    Moreau,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum RestitutionForm {
    Number(f64),
    Table {
        e: f64,
        #[serde(default)]
        law: RestitutionLaw,
    },
}

impl From<RestitutionForm> for Restitution {
    fn from(form: RestitutionForm) -> Restitution {
        match form {
            RestitutionForm::Number(e) => Restitution { e, law: RestitutionLaw::Newton },
            RestitutionForm::Table { e, law } => Restitution { e, law },
        }
    }
}

impl From<Restitution> for RestitutionForm {
    fn from(restitution: Restitution) -> RestitutionForm {
        match restitution.law {
            RestitutionLaw::Newton => RestitutionForm::Number(restitution.e),
            law => RestitutionForm::Table { e: restitution.e, law },
        }
    }
}

/// A rigid half plane with an end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HalfPlane {
    /// Its end.
    pub point: Vec<f64>,
    /// Normal towards the body; its length does not matter.
    pub normal: Vec<f64>,
    /// From the end along the surface; the normal turned clockwise unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Vec<f64>>,
}

/// A rigid circle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Circle {
    /// Centre.
    pub centre: Vec<f64>,
    /// Radius.
    pub radius: f64,
    /// Whether the body is inside.
    #[serde(default)]
    pub inside: bool,
}

/// A rigid polyline; the body is on its left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Corners {
    /// Corner points.
    pub points: Vec<Vec<f64>>,
}

/// A rigid plane; the body stays on the side of the normal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plane {
    /// A point of the plane.
    pub point: Vec<f64>,
    /// Normal towards the body; its length does not matter.
    pub normal: Vec<f64>,
}

/// A node whose motion is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// Unique name.
    pub name: String,
    /// Node reference with exactly one node.
    pub node: String,
}

/// Limits that stop a run gone wrong.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Guards {
    /// Energy gain; `false` turns it off.
    #[serde(default)]
    pub energy: Switch<EnergyGuard>,
    /// Penetration; `false` turns it off.
    #[serde(default)]
    pub penetration: Switch<PenetrationGuard>,
    /// Contact conditions that are not met; `false` turns it off.
    #[serde(default)]
    pub contact: Switch<ContactGuard>,
    /// A nonlinear step that lands far away; `false` turns it off.
    #[serde(default)]
    pub newton: Switch<NewtonGuard>,
}

/// Energy gained beyond external and support work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnergyGuard {
    /// Largest gain in one step, of the energy scale.
    #[serde(default = "tenth")]
    pub gain: f64,
    /// Largest gain since the start, of the energy scale.
    #[serde(default = "tenth")]
    pub total: f64,
    /// Largest growth in one step of what provably cannot grow, of the energy scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proven: Option<f64>,
    /// How often the step is halved before the run stops.
    #[serde(default = "cuts")]
    pub cuts: usize,
}

impl Default for EnergyGuard {
    fn default() -> Self {
        EnergyGuard { gain: tenth(), total: tenth(), proven: None, cuts: cuts() }
    }
}

/// Penetration beyond a fraction of the shortest adjacent element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PenetrationGuard {
    /// Fraction of the shortest adjacent element.
    #[serde(default = "one")]
    pub fraction: f64,
}

impl Default for PenetrationGuard {
    fn default() -> Self {
        PenetrationGuard { fraction: one() }
    }
}

/// Contact conditions that are not met.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContactGuard {
    /// Largest scaled residual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
}

/// A nonlinear step that lands far away: Newton's method found another branch, or ran away.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewtonGuard {
    /// Longest way in a step beyond what the velocity makes, of the length of the model.
    #[serde(default = "one")]
    pub reach: f64,
}

impl Default for NewtonGuard {
    fn default() -> Self {
        NewtonGuard { reach: one() }
    }
}

/// Settings, or `false` for off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Switch<T> {
    /// `false`.
    Flag(bool),
    /// A table of settings.
    On(T),
}

impl<T: Default> Default for Switch<T> {
    fn default() -> Self {
        Switch::On(T::default())
    }
}

impl<T> Switch<T> {
    /// The settings, if on.
    pub fn get(&self) -> Option<&T> {
        match self {
            Switch::On(settings) => Some(settings),
            Switch::Flag(_) => None,
        }
    }
}

/// What a run writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// ParaView frames; `false` for none.
    #[serde(default)]
    pub vtk: Switch<VtkOutput>,
    /// The table of every step.
    #[serde(default)]
    pub history: HistoryOutput,
    /// Whether `report.html` and its frames are written.
    #[serde(default = "yes")]
    pub report: bool,
    /// How often a checkpoint is written.
    #[serde(default)]
    pub checkpoint: CheckpointOutput,
}

impl Default for Output {
    fn default() -> Self {
        Output {
            vtk: Switch::default(),
            history: HistoryOutput::default(),
            report: yes(),
            checkpoint: CheckpointOutput::default(),
        }
    }
}

/// How often a checkpoint is written; one is always written before the first step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointOutput {
    /// Every so many seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall: Option<f64>,
    /// Every so many steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
}

impl Default for CheckpointOutput {
    fn default() -> Self {
        // Often enough to lose little of a night, seldom enough to cost nothing.
        CheckpointOutput { wall: Some(30.0), steps: None }
    }
}

/// ParaView frames.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VtkOutput {
    /// About this many frames over the run; 200 unless `every` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<usize>,
    /// One frame every so many steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<usize>,
    /// Encoding of the arrays.
    #[serde(default)]
    pub encoding: Encoding,
    /// Whether the deformed bodies with their height are written too, as `surface.pvd`.
    #[serde(default)]
    pub surface: bool,
}

/// Encoding of VTU arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// Appended raw bytes: fast.
    #[default]
    Raw,
    /// Compressed: small.
    Lz4,
}

/// The history table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryOutput {
    /// One row every so many steps (the last step is always written).
    #[serde(default = "one_usize")]
    pub every: usize,
    /// File format.
    #[serde(default)]
    pub format: HistoryFormat,
}

impl Default for HistoryOutput {
    fn default() -> Self {
        HistoryOutput { every: 1, format: HistoryFormat::default() }
    }
}

/// File format of the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HistoryFormat {
    /// Text: for everyone.
    #[default]
    Csv,
    /// NumPy's binary format: fast.
    Npy,
}

impl HistoryFormat {
    /// Name of the file in the output directory.
    pub fn file(self) -> &'static str {
        match self {
            HistoryFormat::Csv => "history.csv",
            HistoryFormat::Npy => "history.npy",
        }
    }
}

/// One expectation of `carom test`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Expect {
    /// Expected value, with `rel` and/or `abs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Relative tolerance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rel: Option<f64>,
    /// Absolute tolerance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abs: Option<f64>,
    /// Upper bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// Lower bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// Both bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<[f64; 2]>,
}

impl Default for Newton {
    fn default() -> Self {
        Newton { tolerance: tolerance(), passes: passes() }
    }
}

impl Default for ContactSolver {
    fn default() -> Self {
        ContactSolver { method: ContactMethod::Auto, tolerance: tolerance(), sweeps: sweeps(), relaxation: one() }
    }
}

/// Not every element has every key, so a body spells out only what differs.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
fn half() -> f64 {
    0.5
}
fn one() -> f64 {
    1.0
}
fn tenth() -> f64 {
    0.1
}
fn tolerance() -> f64 {
    1e-11
}
fn passes() -> usize {
    40
}
fn cuts() -> usize {
    8
}
fn sweeps() -> usize {
    1000
}
fn yes() -> bool {
    true
}
fn one_usize() -> usize {
    1
}
