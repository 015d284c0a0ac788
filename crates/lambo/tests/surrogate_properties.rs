//! Properties of the Gaussian process over random data: gradients meet central differences, growing equals rebuilding.

#![allow(clippy::unwrap_used)] // Helpers of tests may fail loudly, too.

use lambo::space::Batch;
use lambo::surrogate::{Family, Fantasy, Fit, GaussianProcess, Hyper, Priors, SurrogateError};
use proptest::prelude::*;

fn family() -> impl Strategy<Value = Family> {
    prop_oneof![Just(Family::SquaredExponential), Just(Family::Matern32), Just(Family::Matern52)]
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
    fn process(&self) -> GaussianProcess {
        GaussianProcess::new(self.family, self.hyper.clone(), self.x.clone(), self.y.clone()).unwrap()
    }
}

/// Relative to the size of the quantities involved: differences of numbers of size `size` carry its rounding.
fn assert_close(what: &str, got: f64, want: f64, size: f64) {
    assert!((got - want).abs() <= 1e-5 * size.max(got.abs()).max(1e-3), "{what}: {got} instead of {want}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn gradients_in_x_meet_central_differences(case in case()) {
        let gp = case.process();
        let exact = gp.predict_with_gradient(&case.test).unwrap();
        let joint_gradient = gp.joint_gradient(&case.test).unwrap();
        let (q, dim, h) = (case.test.len(), case.test.dim(), 1e-5);
        for i in 0..q {
            for d in 0..dim {
                let shifted = |by: f64| {
                    let mut at = case.test.clone();
                    at.row_mut(i)[d] += by;
                    gp.joint(&at).unwrap()
                };
                let (up, down) = (shifted(h), shifted(-h));
                let d_mean = (up.mean[i] - down.mean[i]) / (2.0 * h);
                assert_close("mean", exact.d_mean.row(i)[d], d_mean, 1.0);
                for j in 0..q {
                    let difference = (up.covariance[i * q + j] - down.covariance[i * q + j]) / (2.0 * h);
                    assert_close("covariance", joint_gradient.row(i * q + j)[d], difference, 1.0);
                }
                let variance = (up.covariance[i * q + i] - down.covariance[i * q + i]) / (2.0 * h);
                assert_close("variance", exact.d_variance.row(i)[d], variance, 1.0);
            }
        }
    }

    #[test]
    fn likelihood_gradients_meet_central_differences(case in case()) {
        let gradient = case.process().likelihood_gradient().unwrap();
        let h = 1e-5;
        let difference = |change: &dyn Fn(&mut Hyper, f64)| {
            let at = |by: f64| {
                let mut hyper = case.hyper.clone();
                change(&mut hyper, by);
                GaussianProcess::new(case.family, hyper, case.x.clone(), case.y.clone()).unwrap().log_marginal_likelihood()
            };
            (at(h) - at(-h)) / (2.0 * h)
        };
        let size = case.process().log_marginal_likelihood().abs().max(1.0);
        for d in 0..case.hyper.lengthscales.len() {
            let want = difference(&|hyper, by| hyper.lengthscales[d] *= f64::exp(by));
            assert_close("lengthscale", gradient.lengthscales[d], want, size);
        }
        let want = difference(&|hyper, by| hyper.signal_variance *= f64::exp(by));
        assert_close("signal", gradient.signal_variance, want, size);
        let want = difference(&|hyper, by| hyper.noise_variance *= f64::exp(by));
        assert_close("noise", gradient.noise_variance, want, size);
        let want = difference(&|hyper, by| hyper.mean += by);
        assert_close("mean", gradient.mean, want, size);
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
