//! Properties of the Gaussian process over random data: gradients meet central differences, growing equals rebuilding.

#![allow(clippy::unwrap_used)] // Helpers of tests may fail loudly, too.

use proptest::prelude::*;
use stagetune::numeric::sobol::Sobol;
use stagetune::space::Batch;
use stagetune::surrogate::{
    Family, Fantasy, Fit, GaussianProcess, Hyper, OutputScale, Priors, SurrogateError,
};

fn family() -> impl Strategy<Value = Family> {
    prop_oneof![
        Just(Family::SquaredExponential),
        Just(Family::Matern32),
        Just(Family::Matern52),
        Just(Family::AdditiveMatern52),
        Just(Family::RoughMatern52),
        Just(Family::AdditiveRoughMatern52)
    ]
}

/// Random data and hyper-parameters, conditioned well enough for finite differences to mean something.
#[derive(Clone, Debug)]
struct Case {
    family: Family,
    hyper: Hyper,
    x: Batch,
    y: Vec<f64>,
    test: Batch,
}

fn case() -> impl Strategy<Value = Case> {
    (family(), 1usize..6, 1usize..30, 1usize..4, any::<bool>()).prop_flat_map(
        |(family, dim, n, q, shared)| {
            let lengthscales = prop::collection::vec(-1.5f64..1.5, if shared { 1 } else { dim });
            let hyper =
                (lengthscales, -1.0f64..1.0, -7.0f64..-1.0, -1.0f64..1.0).prop_map(|(l, s, noise, mean)| {
                    Hyper {
                        lengthscales: l.iter().map(|l| l.exp()).collect(),
                        signal_variance: s.exp(),
                        noise_variance: noise.exp(),
                        mean,
                    }
                });
            let cube = |count: usize| {
                prop::collection::vec(prop::collection::vec(0.0f64..1.0, dim), count)
                    .prop_map(move |rows| Batch::from_slices(dim, &rows).unwrap())
            };
            (Just(family), hyper, cube(n), prop::collection::vec(-2.0f64..2.0, n), cube(q))
                .prop_map(|(family, hyper, x, y, test)| Case { family, hyper, x, y, test })
        },
    )
}

impl Case {
    /// Between a test point and any other point.
    fn least_distance(&self) -> f64 {
        let distance =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let others = |i: usize| self.x.rows().chain(self.test.rows().skip(i + 1));
        let pairs =
            (0..self.test.len()).flat_map(|i| others(i).map(move |other| distance(self.test.row(i), other)));
        pairs.fold(f64::INFINITY, f64::min)
    }

    fn process(&self) -> GaussianProcess {
        GaussianProcess::new(self.family, self.hyper.clone(), self.x.clone(), self.y.clone()).unwrap()
    }
}

/// To 1e-5 of the length of the gradient that the component belongs to; `rounding` is what the differences themselves cannot resolve.
fn assert_close(what: &str, got: f64, want: f64, gradient: &[f64], rounding: f64) {
    let length = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
    assert!((got - want).abs() <= 1e-5 * length + rounding, "{what}: {got} instead of {want}");
}

/// Richardson's combination of two central differences, so that their own error is far below the 1e-5 asked for.
fn difference(f: impl Fn(f64) -> f64, h: f64) -> f64 {
    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn gradients_in_x_meet_central_differences(case in case()) {
        // Matérn 3/2 has a kink in its second derivative where two points meet, over which no difference is exact.
        prop_assume!(case.family != Family::Matern32 || case.least_distance() > 0.02);
        let gp = case.process();
        let exact = gp.predict_with_gradient(&case.test).unwrap();
        let joint_gradient = gp.joint_gradient(&case.test).unwrap();
        let (q, dim) = (case.test.len(), case.test.dim());
        // Values of size 1 are known to some 1e-13 through an ill-conditioned solve, their differences over 2e-4 to 1e-9 or so.
        // The ripples of rough ones are a hundred times shorter.
        let (h, rounding) = if case.family.is_rough() { (4e-6, 1e-7) } else { (2e-4, 2e-9) };
        for i in 0..q {
            for d in 0..dim {
                let shifted = |by: f64| {
                    let mut at = case.test.clone();
                    at.row_mut(i)[d] += by;
                    gp.joint(&at).unwrap()
                };
                let mean = difference(|by| shifted(by).mean[i], h);
                assert_close("mean", exact.d_mean.row(i)[d], mean, exact.d_mean.row(i), rounding);
                for j in 0..q {
                    let row = joint_gradient.row(i * q + j);
                    let covariance = difference(|by| shifted(by).covariance[i * q + j], h);
                    assert_close("covariance", row[d], covariance, row, rounding);
                }
                let row = exact.d_variance.row(i);
                let variance = difference(|by| shifted(by).covariance[i * q + i], h);
                assert_close("variance", row[d], variance, row, rounding);
            }
        }
    }

    #[test]
    fn likelihood_gradients_meet_central_differences(case in case()) {
        let gradient = case.process().likelihood_gradient();
        let along = |change: &dyn Fn(&mut Hyper, f64)| {
            let at = |by: f64| {
                let mut hyper = case.hyper.clone();
                change(&mut hyper, by);
                GaussianProcess::new(case.family, hyper, case.x.clone(), case.y.clone())
                    .unwrap()
                    .log_marginal_likelihood()
            };
            difference(at, 1e-3)
        };
        let whole: Vec<f64> =
            gradient.lengthscales.iter().copied().chain([gradient.signal_variance, gradient.noise_variance]).collect();
        let rounding = 1e-10 * case.process().log_marginal_likelihood().abs().max(1.0);
        for d in 0..case.hyper.lengthscales.len() {
            let want = along(&|hyper, by| hyper.lengthscales[d] *= f64::exp(by));
            assert_close("lengthscale", gradient.lengthscales[d], want, &whole, rounding);
        }
        let want = along(&|hyper, by| hyper.signal_variance *= f64::exp(by));
        assert_close("signal", gradient.signal_variance, want, &whole, rounding);
        let want = along(&|hyper, by| hyper.noise_variance *= f64::exp(by));
        assert_close("noise", gradient.noise_variance, want, &whole, rounding);
        let want = along(&|hyper, by| hyper.mean += by);
        assert_close("mean", gradient.mean, want, &[gradient.mean], rounding);
    }

    #[test]
    fn appending_equals_rebuilding_and_fantasies_leave_no_trace(case in case()) {
        let whole = case.process();
        let mut first = Batch::new(case.x.dim());
        prop_assert!(first.push(case.x.row(0)));
        let mut grown = GaussianProcess::new(case.family, case.hyper.clone(), first, vec![case.y[0]]).unwrap();
        for i in 1..case.y.len() {
            grown.fantasise(case.test.row(0), Fantasy::Mean).unwrap();
            grown.fantasise(case.x.row(i), Fantasy::Value(3.0)).unwrap();
            prop_assert_eq!(grown.fantasies(), 2);
            grown.take_back().unwrap();
            grown.take_back().unwrap();
            prop_assert_eq!(grown.take_back(), Err(SurrogateError::NoFantasy));
            grown.append(case.x.row(i), case.y[i]).unwrap();
        }
        let (a, b) = (whole.predict(&case.test).unwrap(), grown.predict(&case.test).unwrap());
        for i in 0..case.test.len() {
            prop_assert!((a.mean[i] - b.mean[i]).abs() < 1e-8);
            prop_assert!((a.variance[i] - b.variance[i]).abs() < 1e-8);
        }
        prop_assert!((whole.log_marginal_likelihood() - grown.log_marginal_likelihood()).abs() < 1e-7);
    }

    #[test]
    fn a_believed_fantasy_keeps_the_mean_and_lowers_the_variance(case in case()) {
        let mut gp = case.process();
        let before = gp.predict(&case.test).unwrap();
        gp.fantasise(case.test.row(0), Fantasy::Mean).unwrap();
        let after = gp.predict(&case.test).unwrap();
        for i in 0..case.test.len() {
            prop_assert!((before.mean[i] - after.mean[i]).abs() < 1e-7);
            prop_assert!(after.variance[i] <= before.variance[i] + 1e-9);
        }
    }

    #[test]
    fn a_fit_stays_in_its_bounds_and_never_loses_to_its_warm_start(case in case()) {
        prop_assume!(case.y.len() > 2);
        let fit = Fit { starts: 2, ..Fit::maximum_likelihood(case.family) };
        let first = fit.run(&case.x, &case.y).unwrap();
        let hyper = first.gp.hyper();
        let within = |v: f64, (low, high): (f64, f64)| v >= low * (1.0 - 1e-12) && v <= high * (1.0 + 1e-12);
        prop_assert!(hyper.lengthscales.iter().all(|&l| within(l, fit.bounds.lengthscales)));
        prop_assert!(within(hyper.signal_variance, fit.bounds.signal_variance));
        prop_assert!(within(hyper.noise_variance, fit.bounds.noise_variance));
        let warm = Fit { warm: Some(hyper.clone()), starts: 1, ..fit };
        let second = warm.run(&case.x, &case.y).unwrap();
        prop_assert!(second.objective >= first.objective - 1e-9);
    }
}

fn one_dimension(points: &[f64]) -> Batch {
    Batch::from_slices(1, &points.iter().map(|&x| [x]).collect::<Vec<_>>()).unwrap()
}

#[test]
fn duplicates_constants_and_no_noise_are_handled_by_the_jitter_ladder() {
    let hyper = Hyper { lengthscales: vec![0.5], signal_variance: 1.0, noise_variance: 0.0, mean: 0.0 };
    let x = one_dimension(&[0.2, 0.2, 0.2, 0.7, 0.7]);
    let mut gp =
        GaussianProcess::new(Family::SquaredExponential, hyper.clone(), x, vec![1.0, 1.0, 1.0, 2.0, 2.0])
            .unwrap();
    assert!(gp.jitter() > 0.0 && gp.jitter() <= 1e-4);
    let at = gp.predict(&one_dimension(&[0.2, 0.7])).unwrap();
    assert!((at.mean[0] - 1.0).abs() < 1e-3 && (at.mean[1] - 2.0).abs() < 1e-3);
    gp.append(&[0.7], 2.0).unwrap();
    assert_eq!(gp.len(), 6);

    let mut fresh =
        GaussianProcess::new(Family::SquaredExponential, hyper, one_dimension(&[0.4]), vec![1.0]).unwrap();
    for _ in 0..20 {
        fresh.append(&[0.4], 1.0).unwrap();
    }
    assert!(fresh.jitter() > 0.0, "the same point twice without noise needs the ladder");
}

#[test]
fn constant_values_can_be_fitted() {
    let x = one_dimension(&[0.1, 0.4, 0.9, 0.95]);
    for fit in [Fit::maximum_likelihood(Family::Matern52), Fit::with_priors(Family::Matern52, 1)] {
        let fitted = fit.run(&x, &[0.0; 4]).unwrap();
        assert!(fitted.gp.predict(&x).unwrap().mean.iter().all(|m| m.abs() < 1e-6));
    }
}

#[test]
fn the_same_fit_with_one_and_two_threads_is_the_same_to_the_bit() {
    let n = 230;
    let rows: Vec<[f64; 3]> = (0..n)
        .map(|i| [(i as f64 * 0.377) % 1.0, (i as f64 * 0.619) % 1.0, (i as f64 * 0.913) % 1.0])
        .collect();
    let y: Vec<f64> = rows.iter().map(|r| (6.0 * r[0]).sin() + r[1] * r[2]).collect();
    let x = Batch::from_rows(&rows);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let fit = Fit {
            priors: Some(Priors::dimension_scaled(3)),
            starts: 4,
            ..Fit::maximum_likelihood(Family::Matern52)
        };
        pool.install(|| fit.run(&x, &y).unwrap().gp.hyper().clone())
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn data_without_noise_are_not_taken_for_noise_also_where_one_start_must_do() {
    let mut x = Batch::zeros(300, 8);
    Sobol::new(8, 1).fill(&mut x).unwrap();
    let y: Vec<f64> = x.rows().map(|x| (10.0 * (x[0] + x[1])).sin() + 0.5 * x[2]).collect();
    let z = OutputScale::of(&y).standardise_all(&y);
    let gp = Fit::with_priors(Family::SquaredExponential, 8).run(&x, &z).unwrap().gp;
    assert!(gp.hyper().noise_variance < 1e-2, "{:?}", gp.hyper());
}

#[test]
fn fantasies_that_needed_jitter_leave_no_trace_either() {
    let hyper = Hyper { lengthscales: vec![0.3], signal_variance: 1.0, noise_variance: 0.0, mean: 0.0 };
    let x = one_dimension(&[0.1, 0.35, 0.6, 0.85]);
    let mut gp =
        GaussianProcess::new(Family::SquaredExponential, hyper, x, vec![0.3, -1.0, 0.5, 2.0]).unwrap();
    let (before, jitter) = (gp.log_marginal_likelihood(), gp.jitter());
    gp.fantasise(&[0.35], Fantasy::Mean).unwrap();
    gp.fantasise(&[0.35], Fantasy::Value(0.0)).unwrap();
    assert!(gp.jitter() > jitter);
    gp.take_back_all();
    assert_eq!((gp.log_marginal_likelihood(), gp.jitter()), (before, jitter));
}

#[test]
fn a_refused_observation_leaves_fantasies_in_place() {
    let hyper = Hyper { lengthscales: vec![0.3], signal_variance: 1.0, noise_variance: 0.1, mean: 0.0 };
    let mut gp = GaussianProcess::new(Family::Matern32, hyper, one_dimension(&[0.1]), vec![0.3]).unwrap();
    gp.fantasise(&[0.5], Fantasy::Mean).unwrap();
    assert!(gp.append(&[0.2], f64::NAN).is_err());
    assert!(gp.append(&[0.2, 0.3], 1.0).is_err());
    assert_eq!(gp.fantasies(), 1);
}

#[test]
fn options_that_make_no_sense_are_typed_errors() {
    let (x, y) = (one_dimension(&[0.1, 0.4, 0.9]), [0.0, 1.0, 0.5]);
    let fit = Fit::with_priors(Family::Matern52, 1);
    let hyper = Hyper { lengthscales: vec![0.3, 0.3], signal_variance: 1.0, noise_variance: 0.1, mean: 0.0 };
    let wrong_shape = Fit { warm: Some(hyper.clone()), ..fit.clone() }.run(&x, &y);
    assert!(matches!(wrong_shape, Err(SurrogateError::LengthscaleCount { found: 2, dim: 1 })));
    let no_noise = Hyper { lengthscales: vec![0.3], noise_variance: 0.0, ..hyper };
    assert!(
        Fit { warm: Some(no_noise), ..fit.clone() }.run(&x, &y).is_ok(),
        "the bounds mend a variance of 0"
    );
    let mut priors = Priors::dimension_scaled(1);
    priors.lengthscale.spread = f64::NAN;
    assert!(matches!(
        Fit { priors: Some(priors), ..fit.clone() }.run(&x, &y),
        Err(SurrogateError::BadHyper { .. })
    ));
    let mut bounds = fit.bounds;
    bounds.noise_variance = (1.0, 0.1);
    assert!(matches!(Fit { bounds, ..fit }.run(&x, &y), Err(SurrogateError::BadBounds { .. })));
}

/// What GPyTorch 1.15.2 says of the same sums of scaled `MaternKernel(nu=2.5)`, in doubles: over `active_dims=[d]` where the family is additive, with ℓ/κ_k where
/// it is rough.
#[test]
fn sums_of_kernels_say_what_gpytorch_says() {
    let x = [[0.1, 0.2, 0.7], [0.8, 0.3, 0.1], [0.4, 0.9, 0.5], [0.5, 0.5, 0.95], [0.25, 0.65, 0.3]];
    let at = Batch::from_rows(&[[0.45, 0.55, 0.2], [0.95, 0.05, 0.85]]);
    let close = |ours: &[f64], theirs: &[f64]| {
        ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| (a - b).abs() < 1e-12)
    };
    let theirs = [
        (
            Family::AdditiveMatern52,
            -4.66767247439553,
            [0.27352599740655203, -0.32625561092087724],
            [0.10636921482489381, -0.09875280544934217, -0.09875280544934206, 0.3650572101094385],
        ),
        (
            Family::RoughMatern52,
            -5.6098353813317035,
            [0.3740608419988786, 0.054270220560462185],
            [0.726666250505756, -0.003174826257936969, -0.003174826257936969, 1.3152942096582954],
        ),
        (
            Family::AdditiveRoughMatern52,
            -5.035615609322075,
            [0.2890629444118691, -0.24536382718028227],
            [0.2824930182081067, -0.11541752996630145, -0.11541752996630167, 0.6119294551400043],
        ),
    ];
    for (family, likelihood, mean, covariance) in theirs {
        let lengthscales = vec![0.3, 0.6, 0.45];
        let hyper = Hyper { lengthscales, signal_variance: 1.4, noise_variance: 0.01, mean: 0.2 };
        let y = vec![0.3, -0.5, 1.0, 0.1, 0.6];
        let gp = GaussianProcess::new(family, hyper, Batch::from_rows(&x), y).unwrap();
        assert!((gp.log_marginal_likelihood() - likelihood).abs() < 1e-12, "{family:?}");
        let joint = gp.joint(&at).unwrap();
        assert!(close(&joint.mean, &mean), "{family:?}: {:?}", joint.mean);
        assert!(close(&joint.covariance, &covariance), "{family:?}: {:?}", joint.covariance);
    }
}

#[test]
fn a_rough_process_takes_ripples_for_a_function_and_a_smooth_one_for_noise() {
    // Two scales: a bowl, and ripples that points far apart cannot follow but neighbours can.
    let f = |a: f64, ripples: f64| 4.0 * (a - 0.4).powi(2) + ripples * (150.0 * a).cos();
    let at = |i: i32| if i < 24 { f64::from(i) / 23.0 } else { 0.4 + 0.002 * f64::from(i - 24) };
    let fitted = |family, ripples: f64| {
        let (mut x, mut y) = (Batch::new(1), Vec::new());
        for a in (0..44).map(at) {
            assert!(x.push(&[a]));
            y.push(f(a, ripples));
        }
        Fit::with_priors(family, 1).run(&x, &y).unwrap()
    };
    let [smooth, rough] = [Family::Matern52, Family::RoughMatern52].map(|family| fitted(family, 0.15));
    assert!(rough.objective > smooth.objective + 10.0);
    assert!(rough.gp.hyper().noise_variance < 0.1 * smooth.gp.hyper().noise_variance);
    // Between two neighbours it knows what comes.
    let between = 0.4 + 0.002 * 9.5;
    let miss = |fitted: &stagetune::surrogate::Fitted| {
        (fitted.gp.predict(&Batch::from_rows(&[[between]])).unwrap().mean[0] - f(between, 0.15)).abs()
    };
    assert!(miss(&rough) < 0.01, "{}", miss(&rough));
    // Without ripples it is the less likely explanation.
    assert!(fitted(Family::RoughMatern52, 0.0).objective < fitted(Family::Matern52, 0.0).objective);
}

#[test]
fn an_additive_process_foresees_a_combination_that_it_has_not_seen() {
    // Every coordinate was moved alone; what both do together is the sum of what each did.
    let (mut x, mut y) = (Batch::new(2), Vec::new());
    let f = |a: f64, b: f64| (5.0 * a).sin() + (b - 0.3).powi(2);
    for i in 0..9 {
        let at = f64::from(i) / 8.0;
        for point in [[at, 0.5], [0.5, at]] {
            assert!(x.push(&point));
            y.push(f(point[0], point[1]));
        }
    }
    let at = Batch::from_rows(&[[0.9, 0.1]]);
    let miss = |family| {
        let gp = Fit::with_priors(family, 2).run(&x, &y).unwrap().gp;
        (gp.predict(&at).unwrap().mean[0] - f(0.9, 0.1)).abs()
    };
    assert!(miss(Family::AdditiveMatern52) < 0.02 && miss(Family::AdditiveMatern52) < miss(Family::Matern52));
}
