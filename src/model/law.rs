//! The law of a contact as data.

/// How a contact answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Law {
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Whether the coefficient acts on sliding velocities as well (Moreau's law).
    pub moreau: bool,
    /// Coefficient of friction.
    pub friction: f64,
}
