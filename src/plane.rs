//! Vectors of the plane.

/// From `a` to `b`.
pub(crate) fn minus(b: [f64; 2], a: [f64; 2]) -> [f64; 2] {
    [b[0] - a[0], b[1] - a[1]]
}

pub(crate) fn inner(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// The direction of positive sliding for a normal: turned clockwise, so that on a floor it points to the right.
pub fn tangent(normal: [f64; 2]) -> [f64; 2] {
    [normal[1], -normal[0]]
}

/// Length and direction of a vector; a vector of no length points along x.
pub(crate) fn direction(v: [f64; 2]) -> (f64, [f64; 2]) {
    let length = v[0].hypot(v[1]);
    if length == 0.0 { (0.0, [1.0, 0.0]) } else { (length, [v[0] / length, v[1] / length]) }
}

/// A vector turned by an angle, counter-clockwise.
pub(crate) fn turned(v: [f64; 2], angle: f64) -> [f64; 2] {
    let (sine, cosine) = angle.sin_cos();
    [cosine * v[0] - sine * v[1], sine * v[0] + cosine * v[1]]
}

/// A vector turned by a quarter, counter-clockwise: the velocity of an arm that turns with unit rate.
pub(crate) fn quarter([x, y]: [f64; 2]) -> [f64; 2] {
    [-y, x]
}
