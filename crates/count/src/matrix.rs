//! Small square matrices of integers, with checked arithmetic: `None` is a number that is too large.

pub(crate) type Matrix = Vec<Vec<i128>>;

/// The greatest common divisor; 0 for zeros alone.
pub(crate) fn gcd(numbers: impl IntoIterator<Item = i128>) -> Option<i128> {
    numbers.into_iter().try_fold(0i128, |all, n| {
        let (mut a, mut b) = (all, n.checked_abs()?);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Some(a)
    })
}

pub(crate) fn dot(a: &[i128], b: &[i128]) -> Option<i128> {
    a.iter().zip(b).try_fold(0i128, |sum, (x, y)| sum.checked_add(x.checked_mul(*y)?))
}

/// `R` and `d >= 0` with `R * A = d * 1`; `d` is the determinant without its sign, 0 for a singular matrix.
///
/// Bareiss' elimination without fractions (Mathematics of Computation, 1968), above the diagonal as well.
pub(crate) fn inverse(a: &[Vec<i128>]) -> Option<(Matrix, i128)> {
    let n = a.len();
    let unit = |i: usize| (0..n).map(move |j| i128::from(i == j));
    let mut m: Matrix =
        a.iter().enumerate().map(|(i, row)| row.iter().copied().chain(unit(i)).collect()).collect();
    let mut before = 1i128;
    for k in 0..n {
        let Some(at) = (k..n).find(|&i| m[i][k] != 0) else { return Some((m, 0)) };
        m.swap(k, at);
        let pivot = std::mem::take(&mut m[k]);
        for (i, row) in m.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = row.get(k).copied()?;
            for (x, p) in row.iter_mut().zip(&pivot) {
                let product = pivot[k].checked_mul(*x)?.checked_sub(factor.checked_mul(*p)?)?;
                *x = product / before;
            }
            debug_assert!(row[k] == 0, "row {i}");
        }
        before = pivot[k];
        m[k] = pivot;
    }
    let sign = before.signum();
    let right = |row: &Vec<i128>| row[n..].iter().map(|x| x.checked_mul(sign)).collect::<Option<Vec<_>>>();
    Some((m.iter().map(right).collect::<Option<_>>()?, before.checked_abs()?))
}

/// Replaces a basis of a lattice by one of shorter vectors of the same lattice.
///
/// The method is that of Lenstra, Lenstra and Lovasz (Mathematische Annalen, 1982). Lengths are rounded, vectors are
/// exact: rounding costs shortness alone.
pub(crate) fn shorten(basis: &mut Matrix) -> Option<()> {
    let n = basis.len();
    let mut k = 1;
    // As many exchanges as the largest lattices of words take; what is left then is a basis, too.
    for _ in 0..200 * n {
        if k >= n {
            break;
        }
        for j in (0..k).rev() {
            let by = orthogonal(basis, k).1.get(j)?.round() as i128;
            if by != 0 {
                let other = basis.get(j)?.clone();
                for (x, y) in basis.get_mut(k)?.iter_mut().zip(&other) {
                    *x = x.checked_sub(by.checked_mul(*y)?)?;
                }
            }
        }
        let (lengths, factors) = orthogonal(basis, k);
        let factor = factors.get(k - 1)?;
        if lengths.get(k)? < &((0.75 - factor * factor) * lengths.get(k - 1)?) {
            basis.swap(k, k - 1);
            k = (k - 1).max(1);
        } else {
            k += 1;
        }
    }
    Some(())
}

/// The squared lengths of the first vectors, up to `k`, at right angles to those before; the factors of vector `k`.
fn orthogonal(basis: &Matrix, k: usize) -> (Vec<f64>, Vec<f64>) {
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let (mut stars, mut lengths, mut factors): (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) = Default::default();
    for row in basis.iter().take(k + 1) {
        let own: Vec<f64> = row.iter().map(|x| *x as f64).collect();
        let mut star = own.clone();
        factors.clear();
        for (other, length) in stars.iter().zip(&lengths) {
            let factor = product(&own, other) / length.max(f64::MIN_POSITIVE);
            star.iter_mut().zip(other).for_each(|(x, y)| *x -= factor * y);
            factors.push(factor);
        }
        lengths.push(product(&star, &star));
        stars.push(star);
    }
    (lengths, factors)
}
