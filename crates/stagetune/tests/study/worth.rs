//! Stopping when going on is not worth its cost, and forecasts that are held against what happens.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stagetune::forecast::Horizon;
use stagetune::space::{Batch, Cost, CostModel, Module, Param, Space};
use stagetune::study::{Direction, Event, StopReason, StopRules, Study, StudyError};
use stagetune::surrogate::{Family, GaussianProcess, Hyper};

fn modules(costs: &[f64], params: usize) -> Space {
    let module = |(m, cost): (usize, &f64)| {
        let params = (0..params).map(|p| Param::float(&format!("x{m}{p}"), 0.0, 1.0).unwrap());
        let params: Vec<Param> = params.collect();
        Module::new(&format!("m{m}"), params).unwrap().cost(Cost::Given(*cost)).unwrap()
    };
    Space::new(costs.iter().enumerate().map(module)).unwrap()
}

fn bowl(u: &[f64]) -> f64 {
    u.iter().map(|u| (u - 0.4).powi(2)).sum()
}

fn study(space: &Space, rules: StopRules) -> Study {
    Study::named(space.clone(), "eipu-prefix", 3).unwrap().stop(rules).unwrap()
}

/// Asks and tells until the study stops, at most so often.
fn play(study: &mut Study, most: usize, f: impl Fn(&[f64]) -> f64) -> usize {
    let space = study.space().clone();
    for n in 0..most {
        if study.stopped().is_some() {
            return n;
        }
        let trial = study.ask().unwrap();
        let value = f(&space.encode(trial.point()).unwrap());
        study.tell(trial.observe(value).unwrap()).unwrap();
    }
    most
}

#[test]
fn a_smooth_bowl_is_left_when_little_is_to_be_gained_and_says_so() {
    let space = modules(&[10.0, 1.0], 1);
    let mut played = study(&space, StopRules { price: Some(1e-3), ..StopRules::default() });
    let n = play(&mut played, 60, bowl);
    assert!((8..40).contains(&n), "{n}");
    let Some(StopReason::NotWorthIt { price, gain, cost, .. }) = played.stopped() else {
        unreachable!("{:?}", played.stopped())
    };
    assert!(price == 1e-3 && gain < price * cost && cost > 0.0);
    let said = played.stopped().unwrap().to_string();
    assert!(said.contains("expected to gain") && said.contains("for a cost of"), "{said}");
    assert!(matches!(played.ask(), Err(StudyError::Stopped { .. })));
    // What is left is about as little as was said.
    assert!(played.best().unwrap().value() < 0.05);
}

#[test]
fn at_no_price_or_a_tiny_one_it_goes_on() {
    let space = modules(&[10.0, 1.0], 1);
    for price in [0.0, 1e-30] {
        let mut played = study(&space, StopRules { price: Some(price), ..StopRules::default() });
        assert_eq!(play(&mut played, 30, bowl), 30);
    }
}

#[test]
fn a_share_of_the_spread_stops_whatever_the_units() {
    let space = modules(&[10.0, 1.0], 1);
    let rules = StopRules { price_share: Some(stagetune::study::PRICE_SHARE), ..StopRules::default() };
    let first = play(&mut study(&space, rules), 80, bowl);
    assert!((8..80).contains(&first), "{first}");
    let other = modules(&[1e4, 1e3], 1);
    let second = play(&mut study(&other, rules), 80, |u| 1e6 + 1e3 * bowl(u));
    assert!(first.abs_diff(second) <= 8, "{first} {second}");
}

#[test]
fn both_directions_stop_alike() {
    let space = modules(&[10.0, 1.0], 1);
    let rules = StopRules { price: Some(1e-3), ..StopRules::default() };
    let mut down = study(&space, rules);
    let mut up = study(&space, rules).direction(Direction::Maximize).unwrap();
    assert_eq!(play(&mut down, 60, bowl), play(&mut up, 60, |u| -bowl(u)));
    assert_eq!(down.stopped(), up.stopped());
    let ahead = |study: &Study| study.forecast(Horizon::FullRuns(10.0)).unwrap();
    let (down, up) = (ahead(&down), ahead(&up));
    assert_eq!(down.expected_gain, up.expected_gain);
    assert!(down.expected_gain >= 0.0 && down.incumbent == -up.incumbent);
}

#[test]
fn a_study_that_stopped_has_stopped_after_a_restart_too_and_not_before() {
    let space = modules(&[10.0, 1.0], 1);
    let rules = StopRules { price: Some(1e-3), ..StopRules::default() };
    let mut played = study(&space, rules);
    play(&mut played, 60, bowl);
    let reason = played.stopped();
    assert!(reason.is_some());
    let again = study(&space, rules).replay(played.events().to_vec()).unwrap();
    assert_eq!(again.stopped(), reason);
    // Neither did it stop at any trial before, wherever the process was killed.
    let told: Vec<usize> =
        (0..played.events().len()).filter(|&i| matches!(played.events()[i], Event::Ended { .. })).collect();
    for &at in told.iter().rev().skip(1).step_by(3) {
        let part = study(&space, rules).replay(played.events()[..=at].to_vec()).unwrap();
        assert_eq!(part.stopped(), None, "after event {at}");
    }
}

#[test]
fn open_trials_and_failures_do_not_decide() {
    let space = modules(&[10.0, 1.0], 1);
    let rules = StopRules { price: Some(1e-3), ..StopRules::default() };
    let mut played = study(&space, rules);
    for n in 0..60 {
        if played.stopped().is_some() {
            break;
        }
        let trial = played.ask().unwrap();
        let value = bowl(&space.encode(trial.point()).unwrap());
        if n % 7 == 3 {
            played.tell(trial.fail("now and then")).unwrap();
        } else {
            played.tell(trial.observe(value).unwrap()).unwrap();
        }
        let before = played.stopped();
        if before.is_none() && n % 5 == 0 {
            let open = played.ask().unwrap();
            assert_eq!(played.stopped(), None);
            let value = bowl(&space.encode(open.point()).unwrap());
            played.tell(open.observe(value).unwrap()).unwrap();
        }
    }
    assert!(matches!(played.stopped(), Some(StopReason::NotWorthIt { .. })));
}

#[test]
fn prices_that_make_no_sense_and_costs_that_nobody_knows_are_refused() {
    let refused = |space: Space, rules: StopRules| {
        let made = Study::named(space, "gp-ei", 1).unwrap().stop(rules);
        match made {
            Err(StudyError::Rule { rule, problem }) => (rule, problem),
            other => unreachable!("{other:?}"),
        }
    };
    for price in [-1.0, f64::NAN, f64::INFINITY] {
        let rules = StopRules { price: Some(price), ..StopRules::default() };
        assert_eq!(refused(modules(&[1.0], 1), rules).0, "price");
        let rules = StopRules { price_share: Some(price), ..StopRules::default() };
        assert_eq!(refused(modules(&[1.0], 1), rules).0, "price_share");
    }
    let unknown = || Space::new([Module::new("m", [Param::float("x", 0.0, 1.0).unwrap()]).unwrap()]).unwrap();
    let (rule, problem) = refused(unknown(), StopRules { price: Some(1.0), ..StopRules::default() });
    assert!(rule == "price" && problem.contains("`m`") && problem.contains("measured"), "{problem}");
    let (rule, problem) =
        refused(modules(&[0.0, 0.0], 1), StopRules { price_share: Some(1e-3), ..StopRules::default() });
    assert!(rule == "price_share" && problem.contains("free"), "{problem}");
}

#[test]
fn a_metric_that_never_moves_ends_a_study_with_a_price_and_says_so() {
    let rules = StopRules { price_share: Some(1e-3), ..StopRules::default() };
    for name in ["auto", "random"] {
        let mut played = Study::named(modules(&[10.0, 1.0], 1), name, 3).unwrap().stop(rules).unwrap();
        // The first look after a hundred values.
        assert_eq!(play(&mut played, 150, |_| 0.5), 101, "{name}");
        assert_eq!(played.stopped(), Some(StopReason::NoDifference { values: 101 }));
        assert!(played.stopped().unwrap().to_string().contains("all 101 values are the same"));
    }
}

#[test]
fn a_metric_that_explodes_away_from_its_optimum_promises_little_near_it() {
    let rules = StopRules { price_share: Some(1e-3), ..StopRules::default() };
    let mut played = Study::named(modules(&[10.0, 1.0], 1), "auto", 3).unwrap().stop(rules).unwrap();
    let n = play(&mut played, 80, |u| (20.0 * bowl(u)).exp());
    let ahead = played.forecast(Horizon::FullRuns(10.0)).unwrap();
    // Values go from 1 to a million, and half of them are far above 100: a thousandth of that is what a full run has to bring.
    assert!(n < 80 && played.best().unwrap().value() < 2.0, "{n}: {:?}", played.best());
    assert!(ahead.expected_gain < 2.0 && ahead.incumbent.abs() < 3.0, "{ahead:?}");
}

#[test]
fn dear_early_stages_do_not_end_a_study_before_its_followers_pay() {
    // A single new value of the first module is not worth its cost; with its followers it is.
    let space = modules(&[100.0, 1.0], 1);
    let f = |u: &[f64]| (9.0 * u[0]).sin() * 0.5 + (6.0 * u[1] + 3.0 * u[0]).sin();
    let mut played = Study::named(space, "eipu-prefix", 2)
        .unwrap()
        .cost_model(CostModel::Cache)
        .unwrap()
        .stop(StopRules { price: Some(2e-4), ..StopRules::default() })
        .unwrap();
    play(&mut played, 80, f);
    assert!(played.best().unwrap().value() < -1.3, "{:?} {:?}", played.best(), played.stopped());
}

#[test]
fn a_small_choice_is_tried_in_all_its_values_before_a_study_ends() {
    let choice = Param::choice("c", ["a", "b", "c"]).unwrap();
    let module = Module::new("m", [choice, Param::float("x", 0.0, 1.0).unwrap()]).unwrap();
    let space = Space::new([module.cost(Cost::Given(1.0)).unwrap()]).unwrap();
    // At a price like this anything else ends at once; the third value is forbidden, so that it never comes.
    let rules = StopRules { price: Some(1e6), ..StopRules::default() };
    let f = |u: &[f64]| u[0] + bowl(&u[3..]);
    let ends =
        |space: Space| play(&mut Study::named(space, "random", 3).unwrap().stop(rules).unwrap(), 60, f);
    let free = ends(space.clone());
    assert!((8..20).contains(&free), "{free}");
    let forbidden = ends(space.forbid("c == \"c\"").unwrap());
    assert_eq!(forbidden, 30);
}

#[test]
fn a_promise_that_is_not_kept_is_not_believed_for_ever() {
    // Noise that a model takes for something to be found.
    let space = modules(&[10.0, 1.0], 2);
    let noise = |u: &[f64]| (1e4 * u.iter().sum::<f64>()).sin();
    let rules = StopRules { price_share: Some(stagetune::study::PRICE_SHARE), ..StopRules::default() };
    let mut played = Study::named(space, "random", 3).unwrap().stop(rules).unwrap();
    let n = play(&mut played, 250, |u| 0.3 * noise(u) + bowl(u));
    assert!(n < 250, "{:?}", played.forecast(Horizon::FullRuns(1.0)));
    let reason = played.stopped();
    assert!(matches!(reason, Some(StopReason::NothingCame { .. })), "{reason:?}");
}

/// Functions drawn from a Gaussian process by random cosines: code of the surrogate, which no forecast uses.
fn drawn(seed: u64, dim: usize) -> impl Fn(&[f64]) -> f64 {
    let hyper = Hyper { lengthscales: vec![0.35], signal_variance: 1.0, noise_variance: 1e-6, mean: 0.0 };
    let far = Batch::of(dim, &vec![60.0; dim]);
    let gp = GaussianProcess::new(Family::Matern52, hyper, far, vec![0.0]).unwrap();
    move |u: &[f64]| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        gp.path(256, &mut rng).values(&Batch::of(dim, u)).unwrap()[0]
    }
}

#[test]
fn what_is_forecast_is_about_what_is_gained_on_average() {
    let (mut forecast, mut gained) = (0.0, 0.0);
    let runs = 20;
    for seed in 0..runs {
        let f = drawn(seed, 2);
        let mut played = Study::named(modules(&[3.0, 1.0], 1), "eipu-prefix", seed).unwrap();
        play(&mut played, 15, &f);
        let ahead = played.forecast(Horizon::Cost(16.0)).unwrap();
        let (before, spent) = (played.best().unwrap().value(), played.account().spent());
        while played.account().spent() < spent + 16.0 {
            play(&mut played, 1, &f);
        }
        forecast += ahead.expected_gain / runs as f64;
        gained += (before - played.best().unwrap().value()) / runs as f64;
    }
    assert!(gained > 0.01 && forecast < 3.0 * gained && gained < 3.0 * forecast, "{forecast} {gained}");
}
