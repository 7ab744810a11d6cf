//! Elements of the dense implementation: strain energy, forces and matrices, from the formulas of `docs/theory.md` 9.

use nalgebra::{DMatrix, DVector};

/// A strain that is affine in the displacements, with its stiffness: energy ½ stiffness (offset + row·q)².
pub struct Strain {
    pub stiffness: f64,
    pub offset: f64,
    pub row: Vec<f64>,
}

pub enum Element {
    /// Bars, linear beams, and springs in one dimension.
    Linear { dofs: Vec<usize>, strains: Vec<Strain> },
    /// A spring with a dashpot in the plane.
    Spring { dofs: [usize; 4], reach: [f64; 2], stiffness: f64, dashpot: f64, rest: f64 },
    /// The geometrically exact beam; `damping` is on strain rates.
    Beam { dofs: [usize; 6], length: f64, angle: f64, rigidity: [f64; 3], damping: f64 },
}

/// Strains of an exact beam and their gradients, (T35) and (T36).
struct BeamStrains {
    values: [f64; 3],
    rows: [[f64; 6]; 3],
    turn: [f64; 2],
}

fn beam_strains(q: &[f64; 6], length: f64, angle: f64) -> BeamStrains {
    let (s, c) = (angle + 0.5 * (q[2] + q[5])).sin_cos();
    let (dx, dy) = (length * angle.cos() + q[3] - q[0], length * angle.sin() + q[4] - q[1]);
    let stretch = (c * dx + s * dy) / length - 1.0;
    let slip = (c * dy - s * dx) / length;
    let (l, a, b) = (length, 0.5 * slip, -0.5 * (1.0 + stretch));
    BeamStrains {
        values: [stretch, slip, (q[5] - q[2]) / l],
        rows: [
            [-c / l, -s / l, a, c / l, s / l, a],
            [s / l, -c / l, b, -s / l, c / l, b],
            [0.0, 0.0, -1.0 / l, 0.0, 0.0, 1.0 / l],
        ],
        turn: [c, s],
    }
}

impl Element {
    pub fn is_linear(&self) -> bool {
        matches!(self, Element::Linear { .. })
    }

    /// Adds the internal force at `q` to `f` and returns the strain energy.
    pub fn internal(&self, q: &DVector<f64>, f: &mut DVector<f64>) -> f64 {
        match self {
            Element::Linear { dofs, strains } => {
                let mut energy = 0.0;
                for strain in strains {
                    // Differences first: the places of a row cancel in rigid motions.
                    let value: f64 = strain.offset + dofs.iter().zip(&strain.row).map(|(&d, r)| r * q[d]).sum::<f64>();
                    dofs.iter().zip(&strain.row).for_each(|(&d, r)| f[d] += strain.stiffness * value * r);
                    energy += 0.5 * strain.stiffness * value * value;
                }
                energy
            }
            Element::Spring { dofs, reach, stiffness, rest, .. } => {
                let ([nx, ny], length) = spring_line(q, dofs, reach);
                let force = stiffness * (length - rest);
                for (&dof, part) in dofs.iter().zip([-nx, -ny, nx, ny]) {
                    f[dof] += force * part;
                }
                0.5 * force * (length - rest)
            }
            Element::Beam { dofs, length, angle, rigidity, .. } => {
                let strains = beam_strains(&dofs.map(|d| q[d]), *length, *angle);
                let mut energy = 0.0;
                for k in 0..3 {
                    let stress = rigidity[k] * strains.values[k];
                    (0..6).for_each(|i| f[dofs[i]] += length * stress * strains.rows[k][i]);
                    energy += 0.5 * length * stress * strains.values[k];
                }
                energy
            }
        }
    }

    /// Adds the stiffness at `q`.
    pub fn stiffness(&self, q: &DVector<f64>, k: &mut DMatrix<f64>) {
        match self {
            Element::Linear { dofs, strains } => {
                for strain in strains {
                    for (i, &a) in dofs.iter().enumerate() {
                        for (j, &b) in dofs.iter().enumerate() {
                            k[(a, b)] += strain.stiffness * strain.row[i] * strain.row[j];
                        }
                    }
                }
            }
            Element::Spring { dofs, reach, stiffness, rest, .. } => {
                let ([nx, ny], length) = spring_line(q, dofs, reach);
                let turning = stiffness * (length - rest) / length;
                let n = [-nx, -ny, nx, ny];
                let t = [ny, -nx, -ny, nx];
                for i in 0..4 {
                    for j in 0..4 {
                        k[(dofs[i], dofs[j])] += stiffness * n[i] * n[j] + turning * t[i] * t[j];
                    }
                }
            }
            Element::Beam { dofs, length, angle, rigidity, .. } => {
                let BeamStrains { values, rows, turn: [c, s] } = beam_strains(&dofs.map(|d| q[d]), *length, *angle);
                let stress = [0, 1, 2].map(|m| rigidity[m] * values[m]);
                for i in 0..6 {
                    for j in 0..6 {
                        let material: f64 = (0..3).map(|m| rigidity[m] * rows[m][i] * rows[m][j]).sum();
                        k[(dofs[i], dofs[j])] += length * material;
                    }
                }
                let mixed = [(0, s, c), (1, -c, s), (3, -s, -c), (4, c, -s)];
                for (i, by_normal, by_shear) in mixed {
                    let entry = 0.5 * (stress[0] * by_normal + stress[1] * by_shear);
                    for turn in [2, 5] {
                        k[(dofs[i], dofs[turn])] += entry;
                        k[(dofs[turn], dofs[i])] += entry;
                    }
                }
                let both = -0.25 * length * (stress[0] * (1.0 + values[0]) + stress[1] * values[1]);
                for i in [2, 5] {
                    for j in [2, 5] {
                        k[(dofs[i], dofs[j])] += both;
                    }
                }
            }
        }
    }

    /// Adds the damping matrix at `q` of what is not linear; linear elements have theirs in a constant matrix.
    pub fn damping(&self, q: &DVector<f64>, c: &mut DMatrix<f64>) {
        match self {
            Element::Linear { .. } => {}
            Element::Spring { dofs, reach, dashpot, .. } => {
                let ([nx, ny], _) = spring_line(q, dofs, reach);
                let n = [-nx, -ny, nx, ny];
                for i in 0..4 {
                    for j in 0..4 {
                        c[(dofs[i], dofs[j])] += dashpot * n[i] * n[j];
                    }
                }
            }
            Element::Beam { dofs, length, angle, rigidity, damping } => {
                let strains = beam_strains(&dofs.map(|d| q[d]), *length, *angle);
                for i in 0..6 {
                    for j in 0..6 {
                        let rate: f64 = (0..3).map(|m| rigidity[m] * strains.rows[m][i] * strains.rows[m][j]).sum();
                        c[(dofs[i], dofs[j])] += damping * length * rate;
                    }
                }
            }
        }
    }
}

fn spring_line(q: &DVector<f64>, dofs: &[usize; 4], reach: &[f64; 2]) -> ([f64; 2], f64) {
    let way = [0, 1].map(|k| reach[k] + q[dofs[2 + k]] - q[dofs[k]]);
    let length = way[0].hypot(way[1]);
    (way.map(|x| x / length), length)
}

/// Mass of a linear beam in (w1, θ1, w2, θ2) of its own axes, (T34).
pub fn timoshenko_mass(line_mass: f64, line_inertia: f64, l: f64, phi: f64) -> DMatrix<f64> {
    let m1 = 13.0 / 35.0 + 7.0 * phi / 10.0 + phi * phi / 3.0;
    let m2 = 9.0 / 70.0 + 3.0 * phi / 10.0 + phi * phi / 6.0;
    let m3 = (11.0 / 210.0 + 11.0 * phi / 120.0 + phi * phi / 24.0) * l;
    let m4 = (13.0 / 420.0 + 3.0 * phi / 40.0 + phi * phi / 24.0) * l;
    let m5 = (1.0 / 105.0 + phi / 60.0 + phi * phi / 120.0) * l * l;
    let m6 = (1.0 / 140.0 + phi / 60.0 + phi * phi / 120.0) * l * l;
    let r1 = 6.0 / 5.0;
    let r2 = (0.1 - phi / 2.0) * l;
    let r3 = (2.0 / 15.0 + phi / 6.0 + phi * phi / 3.0) * l * l;
    let r4 = (-1.0 / 30.0 - phi / 6.0 + phi * phi / 6.0) * l * l;
    let square = (1.0 + phi) * (1.0 + phi);
    #[rustfmt::skip]
    let translation = DMatrix::from_row_slice(4, 4, &[
        m1, m3, m2, -m4,
        m3, m5, m4, -m6,
        m2, m4, m1, -m3,
        -m4, -m6, -m3, m5,
    ]);
    #[rustfmt::skip]
    let rotation = DMatrix::from_row_slice(4, 4, &[
        r1, r2, -r1, r2,
        r2, r3, -r2, r4,
        -r1, -r2, r1, -r2,
        r2, r4, -r2, r3,
    ]);
    translation * (line_mass * l / square) + rotation * (line_inertia / (l * square))
}
