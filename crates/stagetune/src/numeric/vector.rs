//! The inner loops of the surrogate, compiled for the widest vector unit of the machine they run on.
//!
//! `pulp` picks the instruction set at run time; the loops below are plain Rust that the compiler vectorises inside
//! each choice. Every sum runs over [`LANES`] partial sums in a fixed order, so results do not depend on threads.
//!
//! Layout: `columns` holds one coordinate after the other (all points' first coordinate, then all points' second, …),
//! `stride` apart, so that one loop runs over many points with the same operation.

use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd};

/// Partial sums per reduction: one AVX-512 register of doubles, two of AVX2.
const LANES: usize = 8;

/// exp(x) below this is 0 here: the smallest normal double is exp(−708.4), and a covariance of 1e-308 is none.
const EXP_UNDERFLOW: f64 = -708.0;

/// exp(x) for x ≤ 0, to 2 units in the last place, as arithmetic that vectorises.
///
/// x = k·ln 2 + r with |r| ≤ ½ ln 2, then a Taylor polynomial of degree 12 (truncation below 2e-17 there).
/// Adding 1.5·2⁵² rounds to an integer and leaves k in the low bits, which become the exponent of 2ᵏ.
#[inline(always)]
pub(crate) fn exp_nonpositive(x: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0;
    // ln 2 in two parts, the first short enough that k·LN2_HIGH is exact (Cody & Waite).
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const TAYLOR: [f64; 12] = [
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];
    let clamped = x.max(EXP_UNDERFLOW);
    let shifted = clamped.mul_add(std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = k.mul_add(-LN2_LOW, k.mul_add(-LN2_HIGH, clamped));
    let mut p = 1.0 / 479_001_600.0;
    for c in TAYLOR {
        p = f64::mul_add(p, r, c);
    }
    let two_to_k = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    if x < EXP_UNDERFLOW { 0.0 } else { p * two_to_k }
}

/// out\[i\] += Σ_d (columns_d\[first + i\] − centre_d)².
pub(crate) fn add_squared_distances(
    columns: &[f64],
    stride: usize,
    first: usize,
    centre: &[f64],
    out: &mut [f64],
) {
    struct Op<'a>(&'a [f64], usize, usize, &'a [f64], &'a mut [f64]);
    impl WithSimd for Op<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Op(columns, stride, first, centre, out) = self;
            for (d, &c) in centre.iter().enumerate() {
                let start = d * stride + first;
                for (o, &u) in out.iter_mut().zip(&columns[start..]) {
                    let delta = u - c;
                    *o = delta.mul_add(delta, *o);
                }
            }
        }
    }
    Arch::new().dispatch(Op(columns, stride, first, centre, out));
}

/// out\[i\] += amount, where codes\[i\] is another than `code`.
pub(crate) fn add_where_unequal(codes: &[f64], code: f64, amount: f64, out: &mut [f64]) {
    for (o, &other) in out.iter_mut().zip(codes) {
        *o += if other == code { 0.0 } else { amount };
    }
}

/// Σ_i w_i over those i where codes\[i\] is another than `code`.
pub(crate) fn dot_where_unequal(codes: &[f64], code: f64, weights: &[f64]) -> f64 {
    codes.iter().zip(weights).map(|(&other, w)| if other == code { 0.0 } else { *w }).sum()
}

/// A function of one number with two results. Its method must be `#[inline(always)]` arithmetic: what is called from a vector loop and not
/// inlined there is compiled for the oldest processor, where a multiplication with addition is a call of a library. A closure may stay a
/// call; with three exponentials it did, and took half of an ask.
pub(crate) trait Curve {
    /// Both results.
    fn at(x: f64) -> (f64, f64);
}

/// Replaces every element by the first result of a curve.
pub(crate) fn map_in_place<C: Curve>(values: &mut [f64]) {
    struct Op<'a, C>(&'a mut [f64], PhantomData<C>);
    impl<C: Curve> WithSimd for Op<'_, C> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            for v in self.0.iter_mut() {
                *v = C::at(*v).0;
            }
        }
    }
    Arch::new().dispatch(Op::<C>(values, PhantomData));
}

/// (values\[i\], second\[i\]) = the two results at values\[i\].
pub(crate) fn map_to_pair<C: Curve>(values: &mut [f64], second: &mut [f64]) {
    struct Op<'a, C>(&'a mut [f64], &'a mut [f64], PhantomData<C>);
    impl<C: Curve> WithSimd for Op<'_, C> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            for (v, w) in self.0.iter_mut().zip(self.1.iter_mut()) {
                (*v, *w) = C::at(*v);
            }
        }
    }
    Arch::new().dispatch(Op::<C>(values, second, PhantomData));
}

/// Σ_i a_i b_i.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    struct Op<'a>(&'a [f64], &'a [f64]);
    impl WithSimd for Op<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> f64 {
            sum_over(self.0, self.1, |a, b, acc| a.mul_add(b, acc))
        }
    }
    Arch::new().dispatch(Op(a, b))
}

/// sums\[d\] += Σ_i w_i (columns_d\[first + i\] − centre_d)².
pub(crate) fn add_weighted_squares(
    columns: &[f64],
    stride: usize,
    first: usize,
    centre: &[f64],
    weights: &[f64],
    sums: &mut [f64],
) {
    struct Op<'a>(&'a [f64], usize, usize, &'a [f64], &'a [f64], &'a mut [f64]);
    impl WithSimd for Op<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Op(columns, stride, first, centre, weights, sums) = self;
            for (d, (&c, sum)) in centre.iter().zip(sums).enumerate() {
                let start = d * stride + first;
                *sum += sum_over(&columns[start..], weights, |u, w, acc| {
                    let delta = u - c;
                    (w * delta).mul_add(delta, acc)
                });
            }
        }
    }
    Arch::new().dispatch(Op(columns, stride, first, centre, weights, sums));
}

/// sums\[d\] = Σ_i w_i (centre_d − columns_d\[i\]).
pub(crate) fn weighted_differences(
    columns: &[f64],
    stride: usize,
    centre: &[f64],
    weights: &[f64],
    sums: &mut [f64],
) {
    struct Op<'a>(&'a [f64], usize, &'a [f64], &'a [f64], &'a mut [f64]);
    impl WithSimd for Op<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Op(columns, stride, centre, weights, sums) = self;
            for (d, (&c, sum)) in centre.iter().zip(sums).enumerate() {
                *sum = sum_over(&columns[d * stride..], weights, |u, w, acc| w.mul_add(c - u, acc));
            }
        }
    }
    Arch::new().dispatch(Op(columns, stride, centre, weights, sums));
}

/// Folds `step` over pairs, as long as both last, in [`LANES`] independent sums that the compiler keeps in a register.
#[inline(always)]
fn sum_over<F: Fn(f64, f64, f64) -> f64>(a: &[f64], b: &[f64], step: F) -> f64 {
    let n = a.len().min(b.len());
    let (a, a_rest) = a[..n].as_chunks::<LANES>();
    let (b, b_rest) = b[..n].as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            lanes[l] = step(a[l], b[l], lanes[l]);
        }
    }
    let mut sum = lanes.iter().sum();
    for (&a, &b) in a_rest.iter().zip(b_rest) {
        sum = step(a, b, sum);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vector_exponential_agrees_with_the_library_to_two_ulp() {
        for i in 0..400_000 {
            let x = -f64::from(i) * 0.001_77;
            let (ours, std) = (exp_nonpositive(x), x.exp());
            assert!((ours - std).abs() <= 2.0 * f64::EPSILON * std, "exp({x}) = {ours:e}, not {std:e}");
        }
        assert_eq!(exp_nonpositive(0.0), 1.0);
        assert_eq!(exp_nonpositive(-0.0), 1.0);
        assert_eq!(exp_nonpositive(-1e300), 0.0);
        assert_eq!(exp_nonpositive(f64::NEG_INFINITY), 0.0);
    }

    #[test]
    fn reductions_agree_with_plain_loops_for_every_remainder() {
        for n in 0..40 {
            let u: Vec<f64> = (0..2 * n).map(|i| (i as f64 * 0.7).sin()).collect();
            let w: Vec<f64> = (0..n).map(|i| (i as f64 * 1.3).cos()).collect();
            let centre = [0.25, -0.5];
            let mut squares = [0.0; 2];
            add_weighted_squares(&u, n, 0, &centre, &w, &mut squares);
            let mut differences = [0.0; 2];
            weighted_differences(&u, n, &centre, &w, &mut differences);
            for d in 0..2 {
                let plain =
                    |f: fn(f64) -> f64| -> f64 { (0..n).map(|i| w[i] * f(centre[d] - u[d * n + i])).sum() };
                assert!((squares[d] - plain(|x| x * x)).abs() < 1e-13);
                assert!((differences[d] - plain(|x| x)).abs() < 1e-13);
            }
            let plain: f64 = (0..n).map(|i| w[i] * u[i]).sum();
            assert!((dot(&w, &u) - plain).abs() < 1e-13);
        }
    }
}
