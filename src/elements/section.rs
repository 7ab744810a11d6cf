//! The law of one geometrically exact beam element, (T35)–(T37), over any [`Number`]: plain for the loops over elements,
//! in lanes for the fast pass of chains.

use crate::la::number::{Number, sin_cos};

/// Constants of one element.
#[derive(Clone, Copy, Debug)]
pub struct Section<N> {
    /// Length of the element.
    pub length: N,
    /// One over the length.
    pub per_length: N,
    /// Direction from the first node to the second in the reference configuration.
    pub direction: [N; 2],
    /// Stiffnesses against elongation, shear and curvature.
    pub stiffness: [N; 3],
}

/// Strains of one element and the angle of its section.
#[derive(Clone, Copy, Debug)]
pub struct Strains<N> {
    /// Stretch, shear, curvature.
    pub values: [N; 3],
    /// Cosine and sine of the angle.
    pub angle: [N; 2],
}

/// Constants of the tangent of one element.
#[derive(Clone, Copy, Debug)]
pub struct Rigidity<N> {
    /// Stiffness of places against shear.
    pub least: N,
    /// What elongation has more.
    pub difference: N,
    /// Part of w along the section, over the slip.
    pub along: N,
    /// Part of w across the section, with the other sign: without strain, and over the stretch.
    pub across: [N; 2],
    /// Half the length.
    pub arm: N,
    /// Stiffness of rotations against each other.
    pub bending: N,
}

/// Tangent of one element. Translations push both ends against each other, rotations act alike on both:
///
/// ```text
///      place 1  turn 1     place 2  turn 2
/// 1      A       −w          −A       −w
///       −wᵀ     own           wᵀ     cross
/// 2     −A        w           A        w
///       −wᵀ     cross         wᵀ     own
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Stiffness<N> {
    /// A: xx, xy, yy.
    pub places: [N; 3],
    /// w.
    pub mixed: [N; 2],
    /// Rotation with itself.
    pub own: N,
    /// Rotation of one end with that of the other.
    pub cross: N,
}

/// Sine and cosine of half the turn of the section, from the rotations of both ends.
#[inline(always)]
pub fn half_turn<N: Number>(a: N, b: N) -> [N; 2] {
    let (sine, cosine) = sin_cos(a.like(0.25) * (a + b));
    [sine, cosine]
}

impl<N: Number> Section<N> {
    /// (T35), written in the displacements and the turn of the section, so that strains do not come out as differences
    /// of numbers near one: what they lose to rounding is multiplied by EA.
    #[inline(always)]
    pub fn strains(&self, a: &[N; 3], b: &[N; 3]) -> Strains<N> {
        self.strains_at(a, b, half_turn(a[2], b[2]))
    }

    /// (T35) where [`half_turn`] of the rotations is known.
    #[inline(always)]
    pub fn strains_at(&self, a: &[N; 3], b: &[N; 3], [half_sine, half_cosine]: [N; 2]) -> Strains<N> {
        let ([along, across], per) = (self.direction, self.per_length);
        let two = per.like(2.0);
        let (x, y) = (b[0] - a[0], b[1] - a[1]);
        let (u, v) = (along.mul_add(x, across * y), along.mul_add(y, -(across * x)));
        let versine = two * half_sine * half_sine;
        let (sine, cosine) = (two * half_sine * half_cosine, per.like(1.0) - versine);
        Strains {
            values: [
                cosine.mul_add(u, sine * v).mul_add(per, -versine),
                cosine.mul_add(v, -(sine * u)).mul_add(per, -sine),
                (b[2] - a[2]) * per,
            ],
            angle: [along.mul_add(cosine, -(across * sine)), across.mul_add(cosine, along * sine)],
        }
    }

    /// Axial force, shear force, moment.
    #[inline(always)]
    pub fn stresses(&self, strains: &Strains<N>) -> [N; 3] {
        let ([axial, shear, bending], [stretch, slip, curvature]) = (self.stiffness, strains.values);
        [axial * stretch, shear * slip, bending * curvature]
    }

    /// Strain energy, and the forces on both ends.
    #[inline(always)]
    pub fn forces(&self, strains: &Strains<N>) -> (N, [[N; 3]; 2]) {
        let ([axial, shear, moment], [stretch, slip, curvature]) = (self.stresses(strains), strains.values);
        let [c, s] = strains.angle;
        let half = self.length.like(0.5) * self.length;
        let energy = half * axial.mul_add(stretch, shear.mul_add(slip, moment * curvature));
        let (x, y) = (c.mul_add(axial, -(s * shear)), s.mul_add(axial, c * shear));
        let turn = half * axial.mul_add(slip, -(shear.mul_add(stretch, shear)));
        (energy, [[-x, -y, turn - moment], [x, y, turn + moment]])
    }

    /// What of the tangent (T36) does not depend on strains: `material` times what strains and their rates share,
    /// `geometric` times the rest.
    #[inline(always)]
    pub fn rigidity(&self, material: N, geometric: N) -> Rigidity<N> {
        let (per, half) = (self.per_length, self.length.like(0.5));
        let [axial, shear, bending] = self.stiffness;
        let (stretching, shearing) = (material * axial, material * shear);
        Rigidity {
            least: shearing * per,
            difference: (stretching - shearing) * per,
            along: half * (stretching - geometric * shear),
            across: [half * shearing, half * (shearing - geometric * axial)],
            arm: half * self.length,
            bending: material * bending * per,
        }
    }
}

impl<N: Number> Rigidity<N> {
    /// Tangent (T36); it does not depend on the curvature.
    #[inline(always)]
    pub fn tangent(&self, [stretch, slip]: [N; 2], [c, s]: [N; 2]) -> Stiffness<N> {
        // Parts of w along and, with the other sign, across the section.
        let (along, across) = (self.along * slip, self.across[1].mul_add(stretch, self.across[0]));
        let turning = self.arm * along.mul_add(slip, across.mul_add(stretch, across));
        let (x, y) = (self.difference * c, self.difference * s);
        Stiffness {
            places: [x.mul_add(c, self.least), x * s, y.mul_add(s, self.least)],
            mixed: [along.mul_add(c, across * s), along.mul_add(s, -(across * c))],
            own: turning + self.bending,
            cross: turning - self.bending,
        }
    }
}
