//! The normal functions against numbers computed with 200 digits (mpmath), and on a grid.

use super::*;

/// Near enough for a double that went through a handful of operations.
fn close(got: f64, want: f64, relative: f64) -> bool {
    got == want || (got - want).abs() <= relative * want.abs()
}

/// z, ln Φ, ln h, Φ/h, φ/h.
const EXACT: [(f64, f64, f64, f64, f64); 20] = [
    (-1000000000.0, -5e+17, -5.0000000000000004e17, 1.0e9, 1.0e18),
    (-1000001.0, -500001000015.23444, -500001000029.05, 1.000001000002e6, 1.000002000004e12),
    (-1000000.0, -500000000014.73444, -500000000028.55, 1.000000000002e6, 1.000000000003e12),
    (-12345.678, -76207892.97984186, -76207902.4009032, 12345.67816200001, 152415768.27968395),
    (-1000.0, -500007.82669481216, -500014.73445209116, 1000.001999994, 1.000002999994e6),
    (-99.5, -4955.644197159426, -4960.24455673713, 99.52009441590732, 9903.249394382778),
    (-38.0, -726.5572160188201, -730.1961834021138, 38.05252276004133, 1446.9958648815705),
    (-10.000001, -53.231295248606192, -55.553132230505873, 10.194384015027652, 102.94385034466053),
    (-10.0, -53.23128515051247, -55.55312203612235, 10.194383033412553, 102.94383033412553),
    (-9.999999, -53.23127505241974, -55.55311184173982, 10.194382051797458, 102.94381032359254),
    (-5.0, -15.064998393988726, -16.74430116266099, 5.361816241288088, 27.809081206440443),
    (-1.000001, -1.84102317014494, -2.4851229299842355, 1.9042719553074502, 2.9042738595794054),
    (-1.0, -1.8410216450092635, -2.4851210257126413, 1.9042712333296918, 2.9042712333296918),
    (-0.999999, -1.8410201198743878, -2.4851191214417689, 1.9042705113520568, 2.9042686070815454),
    (-0.3, -0.9621028181688507, -1.3214012449190435, 1.4323241816484151, 1.4296972544945245),
    (0.0, -std::f64::consts::LN_2, -0.9189385332046728, 1.2533141373155003, 1.0),
    (0.9, -0.2034146097557469, 4.310441737820509e-4, 0.8155882443136637, 0.2659705801177026),
    (3.0, -0.0013508099647481938, 1.0987396653277078, 0.3328409684517952, 0.0014770946446142933),
    (8.0, -6.220960574271786e-16, 2.0794415416798359, 0.12499999999999992, 6.315338854421115e-16),
    (40.0, 0.0, 3.6888794541139363, 0.025, 0.0),
];

#[test]
fn values_and_slopes_meet_two_hundred_digits_from_minus_1e9_to_40() {
    for (z, ln_cdf_z, ln_h_z, slope, pdf_over_h) in EXACT {
        let got = ln_h(z);
        assert!(close(ln_cdf(z), ln_cdf_z, 1e-13), "ln Φ({z}) = {:e}, not {ln_cdf_z:e}", ln_cdf(z));
        // Near h = 1 the logarithm passes through 0, where only its absolute error can be small.
        assert!((got.value - ln_h_z).abs() <= 1e-13 * ln_h_z.abs().max(1.0), "ln h({z}) = {:e}", got.value);
        assert!(close(got.slope, slope, 1e-12), "Φ/h({z}) = {:e}, not {slope:e}", got.slope);
        assert!(close(got.pdf_over_h, pdf_over_h, 1e-12), "φ/h({z}) = {:e}", got.pdf_over_h);
        if ln_h_z > -700.0 {
            assert!(close(h(z), ln_h_z.exp(), 1e-12), "h({z}) = {:e}", h(z));
        }
    }
}

/// A grid that is dense near 0 and reaches ±1e300, rising.
fn grid() -> impl Iterator<Item = f64> {
    let far = (0..=3000).rev().map(|i| -(10f64.powf(f64::from(i) * 0.1)));
    let near = (-4000..=4000).map(|i| f64::from(i) * 0.000_25);
    far.chain(near).chain((0..=3000).map(|i| 10f64.powf(f64::from(i) * 0.1)))
}

#[test]
fn logarithms_rise_and_never_become_nan() {
    let (mut last_cdf, mut last_h) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for z in grid() {
        let (c, l) = (ln_cdf(z), ln_h(z));
        assert!(c >= last_cdf && c <= 0.0, "ln Φ({z}) = {c} after {last_cdf}");
        assert!(l.value >= last_h, "ln h({z}) = {} after {last_h}", l.value);
        assert!(l.slope > 0.0 && l.pdf_over_h >= 0.0, "slopes at {z}: {l:?}");
        assert!(!pdf(z).is_nan() && (0.0..=1.0).contains(&cdf(z)));
        assert!(pdf_over_cdf(z) >= 0.0 && h(z) >= 0.0);
        if z > -1e150 {
            assert!(c.is_finite() && l.value.is_finite() && l.pdf_over_h.is_finite(), "at {z}");
        }
        (last_cdf, last_h) = (c, l.value);
    }
}

#[test]
fn the_slope_of_ln_h_falls_through_every_branch() {
    // h is log-concave, so a jump at a branch boundary would show as a rise.
    for boundary in [-1.0_f64, -SERIES_FROM, -1e3, -1e6] {
        let step = boundary.abs() * 1e-7;
        let slopes: Vec<f64> = (-50..=50).map(|i| ln_h(boundary + f64::from(i) * step).slope).collect();
        assert!(slopes.windows(2).all(|w| w[1] < w[0]), "near {boundary}");
    }
}

#[test]
fn infinities_and_nan_pass_through() {
    assert_eq!(ln_cdf(f64::INFINITY), 0.0);
    assert_eq!(ln_cdf(f64::NEG_INFINITY), f64::NEG_INFINITY);
    assert_eq!(ln_h(f64::NEG_INFINITY).value, f64::NEG_INFINITY);
    assert_eq!(h(f64::INFINITY), f64::INFINITY);
    assert!(ln_cdf(f64::NAN).is_nan() && ln_h(f64::NAN).value.is_nan() && h(f64::NAN).is_nan());
}
