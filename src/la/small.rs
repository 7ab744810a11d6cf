//! Matrices of order three, for the nodes of a beam, over any [`Number`].

use super::number::Number;

/// A full matrix by rows.
pub type Full<N> = [[N; 3]; 3];

/// Its numbers in a row.
#[inline(always)]
pub fn flat<T: Copy>(a: &Full<T>) -> [T; 9] {
    [a[0][0], a[0][1], a[0][2], a[1][0], a[1][1], a[1][2], a[2][0], a[2][1], a[2][2]]
}

/// A full matrix from its numbers in a row.
#[inline(always)]
pub fn full<T: Copy>(a: &[T; 9]) -> Full<T> {
    [[a[0], a[1], a[2]], [a[3], a[4], a[5]], [a[6], a[7], a[8]]]
}

/// A symmetric matrix: 00, 01, 02, 11, 12, 22.
pub type Upper<N> = [N; 6];

/// Place of entry (i, j) in an [`Upper`].
pub const PLACE: [[usize; 3]; 3] = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];

/// A pivot below this part of the entry that it came from is singular to working accuracy.
const SINGULAR: f64 = 1e-14;

/// x y − z w.
#[inline(always)]
fn minor<N: Number>(x: N, y: N, z: N, w: N) -> N {
    z.take_from(w, x * y)
}

/// Factor of a symmetric matrix: multipliers 01, 02, 12 and inverse pivots.
pub type Pivot<N> = [N; 6];

/// LDLᵀ of a symmetric matrix, and how far pivots are below the entries that they came from: not below 1e-14 of
/// them in lanes where it is less than one.
///
/// Elimination without fractions, so that the divisions do not wait for each other. An inverse would do for less waiting,
/// but on stiff beams it loses four digits.
#[inline(always)]
pub fn pivot<N: Number>(a: &Upper<N>) -> (Pivot<N>, N) {
    let [a00, a01, a02, a11, a12, a22] = *a;
    let (b11, b12, b22) = (minor(a00, a11, a01, a01), minor(a00, a12, a01, a02), minor(a00, a22, a02, a02));
    let c22 = minor(b11, b22, b12, b12);
    let one = a00.like(1.0);
    let (d0, over) = (one / a00, one / b11);
    let (d1, d2) = (a00 * over, a00 * b11 / c22);
    let loss = (a22 * d2).size().larger((a11 * d1).size()) * a00.like(SINGULAR);
    ([a01 * d0, a02 * d0, b12 * over, d0, d1, d2], loss)
}

/// L⁻¹ x, where A = L D Lᵀ.
#[inline(always)]
pub fn forward<N: Number>(a: &Pivot<N>, x: &[N; 3]) -> [N; 3] {
    let y = a[0].take_from(x[0], x[1]);
    [x[0], y, a[2].take_from(y, a[1].take_from(x[0], x[2]))]
}

/// D⁻¹ x.
#[inline(always)]
pub fn scale<N: Number>(a: &Pivot<N>, x: &[N; 3]) -> [N; 3] {
    [a[3] * x[0], a[4] * x[1], a[5] * x[2]]
}

/// L⁻ᵀ x.
#[inline(always)]
pub fn backward<N: Number>(a: &Pivot<N>, x: &[N; 3]) -> [N; 3] {
    let y = a[2].take_from(x[2], x[1]);
    [a[0].take_from(y, a[1].take_from(x[2], x[0])), y, x[2]]
}

/// A⁻¹ x.
#[inline(always)]
pub fn solve<N: Number>(a: &Pivot<N>, x: &[N; 3]) -> [N; 3] {
    backward(a, &scale(a, &forward(a, x)))
}

/// Y = B L⁻ᵀ and Y D⁻¹, so that B A⁻¹ Bᵀ is the product of the one with the other transposed.
#[inline(always)]
pub fn halves<N: Number>(b: &Full<N>, a: &Pivot<N>) -> (Full<N>, Full<N>) {
    let y = [forward(a, &b[0]), forward(a, &b[1]), forward(a, &b[2])];
    (y, [scale(a, &y[0]), scale(a, &y[1]), scale(a, &y[2])])
}

/// Aᵀ.
#[inline(always)]
pub fn transposed<N: Copy>(a: &Full<N>) -> Full<N> {
    [[a[0][0], a[1][0], a[2][0]], [a[0][1], a[1][1], a[2][1]], [a[0][2], a[1][2], a[2][2]]]
}

/// −A Bᵀ.
#[inline(always)]
pub fn minus_times<N: Number>(a: &Full<N>, b: &Full<N>) -> Full<N> {
    let mut c = *a;
    for i in 0..3 {
        for j in 0..3 {
            let first = -(a[i][0] * b[j][0]);
            c[i][j] = a[i][2].take_from(b[j][2], a[i][1].take_from(b[j][1], first));
        }
    }
    c
}

/// C − A Bᵀ, which is known to be symmetric.
#[inline(always)]
pub fn minus_product<N: Number>(c: &Upper<N>, a: &Full<N>, b: &Full<N>) -> Upper<N> {
    let mut result = *c;
    for (i, j) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)] {
        let place = PLACE[i][j];
        for k in 0..3 {
            result[place] = a[i][k].take_from(b[j][k], result[place]);
        }
    }
    result
}

/// y − A x.
#[inline(always)]
pub fn minus_rows<N: Number>(y: &[N; 3], a: &Full<N>, x: &[N; 3]) -> [N; 3] {
    let mut z = *y;
    for i in 0..3 {
        for k in 0..3 {
            z[i] = a[i][k].take_from(x[k], z[i]);
        }
    }
    z
}

/// y − Aᵀ x, the entry of x that `solve` finds last taken last.
#[inline(always)]
pub fn minus_columns<N: Number>(y: &[N; 3], a: &Full<N>, x: &[N; 3]) -> [N; 3] {
    let mut z = *y;
    for k in [2, 1, 0] {
        for i in 0..3 {
            z[i] = a[k][i].take_from(x[k], z[i]);
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn badly_scaled_matrices() {
        for scale in [1.0, 1e-30, 1e30] {
            // Two soft directions out of three, as at the free end of a slender beam.
            let stiff = [0.6, 0.8, 0.3];
            let mut a = [0.0; 6];
            for i in 0..3 {
                for j in i..3 {
                    a[PLACE[i][j]] = scale * (stiff[i] * stiff[j] + if i == j { 1e-8 * (1.0 + i as f64) } else { 0.0 });
                }
            }
            let (factor, loss) = pivot(&a);
            assert!(loss < 1.0);
            for j in 0..3 {
                let unit = [0, 1, 2].map(|i| if i == j { 1.0 } else { 0.0 });
                let x = solve(&factor, &unit);
                for i in 0..3 {
                    let (image, size) =
                        (0..3).map(|k| a[PLACE[i][k]] * x[k]).fold((0.0, 0.0), |(s, t), x| (s + x, t + x.abs()));
                    assert!((image - unit[i]).abs() < 1e-15 * (size + 1.0), "{scale:e}: {image} {size:e}");
                }
            }
        }
        let singular = [1.0, 2.0, 3.0, 4.0, 6.0, 9.0];
        assert!(pivot(&singular).1 >= 1.0 && pivot(&[0.0_f64; 6]).1.is_nan());
    }
}
