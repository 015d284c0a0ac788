//! Garbage in, a typed error or a number out: no float, count, seed or shape makes the engine panic or hang.
//!
//! Spaces, acquisition functions and the bandit have suites of their own; here are the surrogate, the maximiser and the numerics.

#![allow(clippy::unwrap_used)] // Helpers of tests may fail loudly, too.

use proptest::prelude::*;
use stagetune::acquisition::{Ei, Lcb, LogEi, Maximiser, Objective, Region, Surface};
use stagetune::numeric::quasi_newton::{Options, QuasiNewton};
use stagetune::numeric::sobol::Sobol;
use stagetune::numeric::{Batch, normal};
use stagetune::space::{Module, Param, Space};
use stagetune::surrogate::{
    Family, Fantasy, Fit, GaussianProcess, Hyper, HyperBounds, LogNormal, OutputScale, Priors, SurrogateError,
};

/// Any double, the odd ones far more often than chance would bring them.
fn odd() -> impl Strategy<Value = f64> {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        5e-324,
        -5e-324,
        f64::EPSILON,
        1e-100,
        1e-101,
        1e-160,
        1e100,
        1e101,
        1e160,
        1e308,
        -1e308,
        f64::MAX,
        f64::MIN,
    ];
    prop_oneof![
        4 => prop::sample::select(special.to_vec()),
        3 => 0.0..1.0f64,
        1 => any::<f64>(),
    ]
}

/// Any double that a surrogate accepts as a coordinate or value.
fn usable() -> impl Strategy<Value = f64> {
    odd().prop_map(|v| if v.abs() <= 1e100 { v } else { 0.25 })
}

/// Any positive double that a surrogate accepts as a hyper-parameter.
fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![(-230.0..230.0f64).prop_map(f64::exp), odd().prop_map(|v| v.abs())]
        .prop_map(|v| if (1e-100..=1e100).contains(&v) { v } else { 1.0 })
}

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

/// Points with any coordinates.
fn batch(number: impl Strategy<Value = f64> + Clone + 'static, dim: usize) -> impl Strategy<Value = Batch> {
    prop::collection::vec(prop::collection::vec(number, dim), 0..7)
        .prop_map(move |rows| Batch::from_slices(dim, &rows).unwrap())
}

/// Any points of any dimension, none and zero included.
fn any_batch() -> impl Strategy<Value = Batch> {
    (0usize..4).prop_flat_map(|dim| batch(odd().boxed(), dim))
}

fn numbers(most: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(odd(), 0..most)
}

fn any_hyper() -> impl Strategy<Value = Hyper> {
    (numbers(4), odd(), odd(), odd()).prop_map(|(lengthscales, signal_variance, noise_variance, mean)| {
        Hyper { lengthscales, signal_variance, noise_variance, mean }
    })
}

/// A process on extreme but acceptable data, if its covariance can be factored.
fn process() -> impl Strategy<Value = Result<GaussianProcess, SurrogateError>> {
    (1usize..4, any::<bool>()).prop_flat_map(|(dim, shared)| {
        let hyper =
            (prop::collection::vec(positive(), if shared { 1 } else { dim }), positive(), positive(), odd());
        (family(), hyper, prop::collection::vec((prop::collection::vec(usable(), dim), usable()), 1..7))
            .prop_map(|(family, (lengthscales, signal_variance, noise_variance, mean), data)| {
                let mean = if mean.is_finite() { mean } else { 0.0 };
                let hyper = Hyper { lengthscales, signal_variance, noise_variance, mean };
                let (rows, y): (Vec<Vec<f64>>, Vec<f64>) = data.into_iter().unzip();
                GaussianProcess::new(family, hyper, Batch::from_slices(rows[0].len(), &rows).unwrap(), y)
            })
    })
}

/// Every question that a process answers.
fn ask_everything(gp: &GaussianProcess, at: &Batch) {
    let fits = at.dim() == gp.dim() && at.as_slice().iter().all(|v| v.abs() <= 1e100);
    let predicted = gp.predict(at);
    assert_eq!(predicted.is_ok(), fits, "{predicted:?}");
    assert_eq!(gp.predict_with_gradient(at).is_ok(), fits);
    assert_eq!(gp.joint(at).is_ok(), fits);
    assert_eq!(gp.joint_gradient(at).is_ok(), fits);
    if let Ok(predicted) = predicted {
        assert_eq!((predicted.mean.len(), predicted.variance.len()), (at.len(), at.len()));
        assert!(predicted.variance.iter().all(|v| !(*v < 0.0)), "{predicted:?}");
    }
    let _ = (gp.log_marginal_likelihood(), gp.likelihood_gradient(), gp.jitter(), gp.is_empty());
}

/// A space with every kind of parameter and a forbidden part.
fn mixed_space() -> Space {
    let params = [
        Param::float("rate", 1e-5, 1e-1).unwrap().log().unwrap(),
        Param::int("batch", 2, 14).unwrap().step(2).unwrap(),
        Param::int("width", 1, 4_000).unwrap().log().unwrap(),
        Param::choice("norm", ["batch", "group", "layer"]).unwrap(),
        Param::bool("augment").unwrap(),
    ];
    let module = Module::new("only", params).unwrap().forbid("rate > 0.01 and batch < 6").unwrap();
    Space::new([module]).unwrap()
}

/// Answers whatever it was made with.
#[derive(Debug)]
struct Oracle {
    values: Vec<f64>,
    slopes: Vec<f64>,
}

impl Oracle {
    fn pick(from: &[f64], x: &[f64]) -> f64 {
        let sum = x.iter().fold(0u64, |sum, v| sum.wrapping_mul(31).wrapping_add(v.to_bits() >> 7));
        if from.is_empty() { 0.0 } else { from[(sum % from.len() as u64) as usize] }
    }
}

impl Objective for Oracle {
    fn values(&self, at: &Batch) -> Result<Vec<f64>, SurrogateError> {
        Ok(at.rows().map(|x| Self::pick(&self.values, x)).collect())
    }

    fn values_and_gradients(&self, at: &Batch) -> Result<(Vec<f64>, Batch), SurrogateError> {
        let mut gradients = Batch::zeros(at.len(), at.dim());
        for (i, x) in at.rows().enumerate() {
            gradients.row_mut(i).fill(Self::pick(&self.slopes, x));
        }
        Ok((self.values(at)?, gradients))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_process_is_built_or_refused(
        family in family(), hyper in any_hyper(), x in any_batch(), y in numbers(7), at in any_batch(), value in odd(),
    ) {
        if let Ok(mut gp) = GaussianProcess::new(family, hyper, x, y) {
            ask_everything(&gp, &at);
            let _ = gp.append(at.rows().next().unwrap_or_default(), value);
            ask_everything(&gp, &at);
        }
    }

    #[test]
    fn a_process_on_extreme_data_answers_and_grows(
        gp in process(), at in any_batch(), more in prop::collection::vec((numbers(4), odd(), any::<bool>()), 0..6),
    ) {
        let Ok(mut gp) = gp else { return Ok(()) };
        ask_everything(&gp, &at);
        for (x, y, real) in more {
            let n = gp.len();
            let grown = if real {
                let open = gp.fantasies();
                gp.append(&x, y).map(|()| n + 1 - open)
            } else {
                gp.fantasise(&x, if y < 0.0 { Fantasy::Mean } else { Fantasy::Value(y) }).map(|()| n + 1)
            };
            if let Ok(length) = grown {
                prop_assert_eq!(gp.len(), length);
            }
            prop_assert_eq!(gp.x().len(), gp.y().len());
            ask_everything(&gp, &at);
        }
        if gp.take_back().is_err() {
            prop_assert_eq!(gp.fantasies(), 0);
        }
        gp.take_back_all();
        prop_assert_eq!(gp.fantasies(), 0);
        ask_everything(&gp, &at);
    }

    #[test]
    fn scales_and_priors_take_any_number(
        y in numbers(9), at in odd(), location in odd(), spread in odd(), dim in any::<usize>(), r2 in odd(), family in family(),
    ) {
        let scale = OutputScale::of(&y);
        prop_assert!(scale.scale > 0.0 && scale.scale.is_finite() && scale.offset.is_finite(), "{scale:?}");
        let _ = (scale.standardise(at), scale.standardise_all(&y), scale.restore(at), scale.restore_variance(at));
        let prior = LogNormal { location, spread };
        let _ = (prior.log_density(at), prior.mode(), Priors::dimension_scaled(dim), family.correlation(r2));
        let _ = (normal::pdf(at), normal::ln_pdf(at), normal::cdf(at), normal::ln_cdf(at), normal::pdf_over_cdf(at));
        let _ = (normal::h(at), normal::ln_h(at));
    }

    #[test]
    fn a_minimisation_ends_and_never_leaves_its_box(
        start in numbers(5), lower in numbers(5), upper in numbers(5),
        tolerances in (odd(), odd(), odd(), odd()), max_evaluations in 0usize..300, memory in prop_oneof![0usize..4, Just(usize::MAX)],
        answers in numbers(6), slopes in numbers(6), wrong_length in prop::bool::weighted(0.1), scale in odd(),
    ) {
        let options = Options {
            value_tolerance: tolerances.0,
            gradient_tolerance: tolerances.1,
            max_evaluations,
            memory,
            first_step: tolerances.2,
            max_step: tolerances.3,
        };
        let mut search = QuasiNewton::new(&start, &lower, &upper, options);
        let n = start.len().min(lower.len()).min(upper.len());
        let mut told = 0;
        while let Some(x) = search.ask() {
            prop_assert!(told < max_evaluations, "asked for more than it may");
            prop_assert_eq!(x.len(), n);
            for i in 0..n {
                let ordered = lower[i] <= upper[i];
                prop_assert!(!ordered || (lower[i]..=upper[i]).contains(&x[i]), "{:?} left the box", x);
            }
            let value = Oracle::pick(&answers, x);
            let slope = Oracle::pick(&slopes, x);
            search.tell(value, &vec![slope; if wrong_length { n + 1 } else { n }]);
            told += 1;
        }
        search.tell(1.0, &[]);
        prop_assert!(search.evaluations() <= max_evaluations);
        prop_assert_eq!(search.best().0.len(), n);
        let again = QuasiNewton::new(&start, &lower, &upper, options).with_memory_of(&search, scale);
        prop_assert_eq!(again.evaluations(), 0);
    }

    #[test]
    fn quasi_random_points_are_in_the_cube_or_refused(
        dim in 0usize..300, length in 0usize..300, seed in any::<u64>(), skip in prop_oneof![any::<u64>(), Just(u64::MAX), Just(u64::from(u32::MAX))],
        scrambled in any::<bool>(), at in any_batch(),
    ) {
        let mut sobol = if scrambled { Sobol::new(dim, seed) } else { Sobol::unscrambled(dim) };
        sobol.skip(skip);
        let mut point = vec![f64::NAN; length];
        for _ in 0..3 {
            prop_assert_eq!(sobol.next_into(&mut point).is_ok(), length == dim);
        }
        prop_assert!(length != dim || point.iter().all(|u| (0.0..1.0).contains(u)), "{:?}", point);
        let mut at = at;
        prop_assert_eq!(sobol.fill(&mut at).is_ok(), at.dim() == dim);
        let _ = Sobol::new(usize::MAX, seed).next_into(&mut point);
    }

    #[test]
    fn batches_keep_whole_rows_only(
        dim in prop_oneof![0usize..5, Just(usize::MAX)], data in numbers(12), row in numbers(5), keep in 0usize..9,
    ) {
        let mut batch = Batch::of(dim, &data);
        prop_assert_eq!(batch.len(), data.len().checked_div(dim).unwrap_or(0));
        prop_assert_eq!(batch.rows().len(), batch.len());
        let before = batch.len();
        let pushed = batch.push(&row);
        prop_assert_eq!(pushed, row.len() == dim);
        prop_assert!(batch.len() <= before + 1);
        if dim < 5 {
            batch.truncate(keep);
            prop_assert!(batch.len() <= keep);
        }
        prop_assert_eq!(batch.is_empty(), batch.as_slice().is_empty());
        prop_assert!(Batch::from_slices(dim, std::slice::from_ref(&row)).is_none_or(|batch| batch.dim() == dim));
    }

    #[test]
    fn regions_are_boxes_of_the_cube_or_refused(
        dim in 0usize..5, first in prop_oneof![0usize..6, Just(usize::MAX)], values in numbers(5),
        lower in numbers(5), upper in numbers(5), x in numbers(5),
    ) {
        let region = Region::cube(dim);
        let _ = region.contains(&x);
        let Ok(region) = region.freeze(first, &values) else { return Ok(()) };
        let Ok(region) = region.within(&lower, &upper) else { return Ok(()) };
        prop_assert_eq!(region.dim(), dim);
        for (l, u) in region.lower().iter().zip(region.upper()) {
            prop_assert!(0.0 <= *l && l <= u && *u <= 1.0);
        }
        let _ = region.contains(&x);
    }
}

proptest! {
    // These do real work for each case.
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn a_fit_ends_with_a_process_or_an_error(
        family in family(), x in any_batch(), y in numbers(7), bounds in prop::collection::vec((odd(), odd()), 3),
        priors in prop::option::of((odd(), odd(), odd(), odd())), spread in prop::option::of(odd()), warm in prop::option::of(any_hyper()),
        flags in (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()), tolerance in odd(),
        starts in 0usize..3, max_evaluations in 0usize..30, seed in any::<u64>(),
    ) {
        let usual = Fit::maximum_likelihood(family);
        let odd_bounds = HyperBounds { lengthscales: bounds[0], signal_variance: bounds[1], noise_variance: bounds[2] };
        let fit = Fit {
            shared_lengthscale: flags.0,
            learn_signal: flags.1,
            learn_mean: flags.2,
            bounds: if flags.3 { odd_bounds } else { usual.bounds },
            priors: priors.map(|(a, b, c, d)| Priors {
                lengthscale: LogNormal { location: a, spread: b },
                lengthscale_spread: spread,
                noise_variance: LogNormal { location: c, spread: d },
            }),
            starts,
            warm,
            tolerance,
            max_evaluations,
            seed,
            ..usual
        };
        // Half of the time with as many values as points, or hardly any case would get past the first check.
        let y = if seed.is_multiple_of(2) { y } else { (0..x.len()).map(|i| y.get(i).copied().unwrap_or(0.3)).collect() };
        if let Ok(fitted) = fit.run(&x, &y) {
            prop_assert!(fitted.objective.is_finite());
            prop_assert!(fitted.log_marginal_likelihood.is_finite());
            prop_assert_eq!(fitted.gp.len(), x.len());
        }
    }

    #[test]
    fn a_fit_to_extreme_values_ends(
        family in family(),
        data in prop::collection::vec((prop::collection::vec(usable(), 2), usable()), 1..7),
        many in any::<bool>(), with_priors in any::<bool>(), seed in any::<u64>(),
    ) {
        let (mut rows, mut y): (Vec<Vec<f64>>, Vec<f64>) = data.into_iter().unzip();
        if many {
            // Enough for the fit to begin on a subset: the same observations over and over.
            (rows, y) = (rows.into_iter().cycle().take(140).collect(), y.into_iter().cycle().take(140).collect());
        }
        let x = Batch::from_slices(2, &rows).unwrap();
        let fit = if with_priors { Fit::with_priors(family, 2) } else { Fit::maximum_likelihood(family) };
        let fit = Fit { seed, max_evaluations: 30, starts: 2, ..fit };
        if let Ok(fitted) = fit.run(&x, &y) {
            prop_assert!(fitted.objective.is_finite());
        }
    }

    #[test]
    fn the_maximiser_takes_any_objective_hints_and_counts(
        dim in 0usize..4, hints in any_batch(), values in numbers(6), slopes in numbers(6),
        frozen in prop::collection::vec(0.0..=1.0f64, 0..4), raw in 0usize..20, near_hints in 0usize..20, starts in 0usize..6,
        max_evaluations in 0usize..20, seed in prop_oneof![any::<u64>(), Just(u64::MAX)],
    ) {
        let maximiser = Maximiser { raw, near_hints, starts, max_evaluations, seed };
        let Ok(region) = Region::cube(dim).freeze(0, &frozen) else { return Ok(()) };
        if let Ok(best) = maximiser.maximise(&Oracle { values, slopes }, &region, &hints) {
            prop_assert!(region.contains(&best.x), "{best:?}");
            prop_assert!(best.value > f64::NEG_INFINITY);
        }
    }

    #[test]
    fn the_maximiser_takes_any_part_of_a_mixed_space(
        first in 0usize..8, frozen in prop::collection::vec(prop_oneof![0.0..=1.0f64, Just(0.0), Just(1.0)], 0..8),
        corners in prop::collection::vec(prop_oneof![2 => Just((0.0, 1.0)), 1 => (0.0..=1.0f64, 0.0..=1.0f64)], 7),
        values in numbers(6), slopes in numbers(6), hints in prop::collection::vec(odd(), 0..15), seed in any::<u64>(),
    ) {
        let space = mixed_space();
        let (lower, upper): (Vec<f64>, Vec<f64>) = corners.iter().map(|(a, b)| (a.min(*b), a.max(*b))).unzip();
        let frozen = &frozen[..frozen.len().min(space.dim().saturating_sub(first))];
        let corners = |side: &[f64]| -> Vec<f64> { (0..space.dim()).map(|i| side[i % side.len()]).collect() };
        let region = Region::of(&space).freeze(first.min(space.dim()), frozen).and_then(|r| r.within(&corners(&lower), &corners(&upper)));
        let Ok(region) = region else { return Ok(()) };
        let maximiser = Maximiser { raw: 16, near_hints: 4, starts: 3, max_evaluations: 10, seed };
        let hints = Batch::of(space.dim(), &hints);
        if let Ok(best) = maximiser.maximise(&Oracle { values, slopes }, &region, &hints) {
            prop_assert!(region.contains(&best.x), "{best:?}");
        }
    }

    #[test]
    fn the_maximiser_takes_any_process(gp in process(), best in odd(), beta in odd(), hints in any_batch(), seed in any::<u64>()) {
        let Ok(gp) = gp else { return Ok(()) };
        let maximiser = Maximiser { raw: 16, near_hints: 4, starts: 3, max_evaluations: 20, seed };
        let region = Region::cube(gp.dim());
        let check = |objective: &dyn Objective| {
            if let Ok(best) = maximiser.maximise(objective, &region, &hints) {
                assert!(region.contains(&best.x) && best.value > f64::NEG_INFINITY, "{best:?}");
            }
            let _ = (objective.values(&hints), objective.values_and_gradients(&hints));
        };
        if let (Ok(ei), Ok(log_ei)) = (Ei::new(best), LogEi::new(best)) {
            check(&Surface::new(&gp, ei));
            check(&Surface::new(&gp, log_ei));
        }
        if let Ok(lcb) = Lcb::new(beta) {
            check(&Surface::new(&gp, lcb));
        }
    }
}
