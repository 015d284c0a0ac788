//! Every acquisition function under the same suite: slopes meet finite differences, and no float makes one panic or lie.

#![expect(clippy::unwrap_used, reason = "helpers of tests stand outside of what clippy takes for a test")]

use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stagetune::acquisition::{
    Acquisition, Ei, Gittins, GumbelMinimum, Lcb, LogEi, Mes, PerCost, Scale, Score, cooling_exponent,
    sample_minima,
};

/// Every function with settings from the same three numbers.
fn all(best: f64, cost: f64, exponent: f64) -> Vec<(&'static str, Box<dyn Acquisition>)> {
    let log_ei = LogEi::new(best).unwrap();
    let samples = vec![best - 0.01, best - 0.3, best - 1.0];
    vec![
        ("lcb", Box::new(Lcb::new(cost).unwrap())),
        ("ei", Box::new(Ei::new(best).unwrap())),
        ("log_ei", Box::new(log_ei)),
        ("mes", Box::new(Mes::new(samples).unwrap())),
        ("gittins", Box::new(Gittins::new(cost).unwrap())),
        ("ei per cost", Box::new(PerCost::new(Ei::new(best).unwrap(), cost).unwrap())),
        ("log_ei cooled", Box::new(PerCost::cooled(log_ei, cost, exponent).unwrap())),
    ]
}

/// Central difference of the value, with the error that curvature and the rounding of terms of this size leave in it.
fn difference(value: impl Fn(f64) -> f64, at: f64, step: f64, size: f64) -> (f64, f64) {
    let slope = |h: f64| (value(at + h) - value(at - h)) / (2.0 * h);
    let (coarse, fine) = (slope(2.0 * step), slope(step));
    // Subnormal values have lost digits: below 1e-290 nothing can be told.
    let rounding = 1e-15 * size / step + 1e-290;
    // Richardson: the error of the finer slope is a third of what halving the step changed.
    ((4.0 * fine - coarse) / 3.0, rounding + (coarse - fine).abs() * 1e-3)
}

proptest! {
    #[test]
    fn slopes_agree_with_central_differences(
        mean in -3.0..3.0f64, ln_sd in -3.0..1.5f64, best in -3.0..3.0f64, ln_cost in -6.0..3.0f64, exponent in 0.0..=1.0f64,
    ) {
        let sd = ln_sd.exp();
        for (name, function) in all(best, ln_cost.exp(), exponent) {
            let score = function.score(mean, sd);
            // Sums and logarithms cancel where they pass through 0: their terms, not they, say how much rounding to expect.
            let terms = match name {
                "lcb" | "gittins" => mean.abs() + sd * ln_cost.exp() + 40.0 * sd,
                "log_ei" | "log_ei cooled" => sd.ln().abs() + ln_cost.abs() + 1.0,
                _ => 0.0,
            };
            let size = score.value.abs() + terms;
            let by_mean = difference(|m| function.score(m, sd).value, mean, 1e-4 * sd, size);
            let by_sd = difference(|s| function.score(mean, s).value, sd, 1e-4 * sd, size);
            for (what, slope, (want, slack)) in [("mean", score.d_mean, by_mean), ("sd", score.d_sd, by_sd)] {
                prop_assert!(
                    (slope - want).abs() <= 1e-5 * want.abs() + 10.0 * slack,
                    "{} by {}: {:e}, not {:e} ± {:e}", name, what, slope, want, slack,
                );
            }
        }
    }

    #[test]
    fn a_lower_mean_is_never_worse(
        mean in -3.0..3.0f64, drop in 0.0..2.0f64, sd in 0.0..2.0f64, best in -3.0..3.0f64, cost in 1e-3..10.0f64,
    ) {
        for (name, function) in all(best, cost, 0.5) {
            let (low, high) = (function.score(mean - drop, sd).value, function.score(mean, sd).value);
            prop_assert!(low >= high - 1e-12 * high.abs() || high == f64::NEG_INFINITY, "{} {} {}", name, low, high);
        }
    }

    #[test]
    fn garbage_never_panics_and_never_looks_good(
        mean in any::<f64>(), sd in any::<f64>(), best in any::<f64>(), cost in any::<f64>(), exponent in any::<f64>(),
    ) {
        let mut functions: Vec<Box<dyn Acquisition>> = Vec::new();
        if let Ok(f) = Lcb::new(cost) { functions.push(Box::new(f)); }
        if let Ok(f) = Ei::new(best) { functions.push(Box::new(f)); }
        if let Ok(f) = LogEi::new(best) { functions.push(Box::new(f)); }
        if let Ok(f) = Mes::new(vec![best, exponent]) { functions.push(Box::new(f)); }
        if let Ok(f) = Gittins::new(cost) { functions.push(Box::new(f)); }
        if let Ok(f) = Ei::new(best).and_then(|ei| PerCost::cooled(ei, cost, exponent)) { functions.push(Box::new(f)); }
        if let Ok(f) = LogEi::new(best).and_then(|ei| PerCost::new(ei, cost)) { functions.push(Box::new(f)); }
        let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 5e-324, f64::MAX, f64::MIN, mean, sd];
        for function in &functions {
            for m in special {
                for s in special {
                    let Score { value, d_mean, d_sd } = function.score(m, s);
                    prop_assert!(!value.is_nan() && value < f64::INFINITY);
                    prop_assert!(d_mean.is_finite() && d_sd.is_finite());
                    if !m.is_finite() || !s.is_finite() || s < 0.0 {
                        prop_assert_eq!(function.score(m, s), Score::NEVER);
                    }
                }
            }
        }
        let _ = cooling_exponent(mean, sd, best);
    }

    #[test]
    fn the_law_of_the_minimum_takes_any_floats(
        means in prop::collection::vec(any::<f64>(), 0..5), sds in prop::collection::vec(any::<f64>(), 0..5),
        best in any::<f64>(), noise_sd in any::<f64>(), seed in any::<u64>(),
    ) {
        let sds: Vec<f64> = sds.iter().map(|s| s.abs()).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        if let Ok(samples) = sample_minima(&means, &sds, best, noise_sd.abs(), 4, &mut rng) {
            prop_assert!(samples.iter().all(|y| y.is_finite() && *y <= best));
        }
    }

    #[test]
    fn minima_lie_below_the_incumbent_by_the_margin(
        means in prop::collection::vec(-2.0..2.0f64, 1..20), sd in 0.0..1.0f64, best in -1.0..3.0f64, noise_sd in 0.0..0.2f64,
    ) {
        let law = GumbelMinimum::fit(&means, &vec![sd; means.len()], best, noise_sd).unwrap();
        prop_assert_eq!(law.ceiling(), best - 5.0 * noise_sd);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        prop_assert!((0..20).all(|_| law.sample(&mut rng) <= law.ceiling()));
    }
}

#[test]
fn only_logarithms_say_that_they_are() {
    let logs: Vec<&str> =
        all(0.0, 1.0, 0.5).iter().filter(|(_, f)| f.scale() == Scale::Log).map(|(name, _)| *name).collect();
    assert_eq!(logs, ["log_ei", "log_ei cooled"]);
}
