//! Forecasts: what they promise, and when there is none.

use super::*;
use crate::space::{CostModel, Module, Param, RunHistory, Space};
use crate::trial::{Proposed, TrialId};

/// A module of two variables for each cost.
fn space(costs: &[f64]) -> Space {
    let module = |(m, cost): (usize, &f64)| {
        let params = ["a", "b"].map(|v| Param::float(&format!("{v}{m}"), 0.0, 1.0).unwrap());
        Module::new(&format!("m{m}"), params).unwrap().cost(Cost::Given(*cost)).unwrap()
    };
    Space::new(costs.iter().enumerate().map(module)).unwrap()
}

/// Stages of one variable each.
fn stages(count: usize) -> Space {
    let stage = |m: usize| {
        let param = Param::float(&format!("x{m}"), 0.0, 1.0).unwrap();
        Module::new(&format!("m{m}"), [param]).unwrap().cost(Cost::Given(1.0)).unwrap()
    };
    Space::new((0..count).map(stage)).unwrap()
}

#[test]
fn over_a_hundred_stages_few_prefixes_and_places_are_looked_at() {
    let told = Told::new(stages(100), 40, |u| u.iter().map(|u| (u - 0.4).powi(2)).sum());
    let view = told.view();
    let prefixes = crate::strategy::parts::prefix::prefixes(&view).unwrap();
    assert!(prefixes.len() <= 16, "{}", prefixes.len());
    let model = belief::believed(&view, 1).unwrap().unwrap();
    let costs = StageCosts::of(&view, 1, 1).unwrap();
    let places = places::places(&view, &model, &costs, 0.0, 1).unwrap();
    assert!(places.points.len() <= 160, "{}", places.points.len());
}

struct Told {
    space: Space,
    trials: Vec<Trial>,
    history: RunHistory,
    cost_model: CostModel,
}

impl Told {
    /// Points that fill the cube with values of `f`.
    fn new(space: Space, n: usize, f: impl Fn(&[f64]) -> f64) -> Self {
        let mut new =
            Self { space, trials: Vec::new(), history: RunHistory::new(), cost_model: CostModel::Cache };
        for i in 0..n {
            let u = crate::strategy::parts::design::quasi_random(&new.space, 5, i);
            new.tell(&u, Some(f(&u)));
        }
        new
    }

    fn tell(&mut self, u: &[f64], value: Option<f64>) {
        let point = self.space.decode(u).unwrap();
        self.history
            .record_until(&self.space, &point, if value.is_some() { self.space.modules().len() } else { 0 })
            .unwrap();
        let trial = Proposed::new(TrialId::new(self.trials.len() as u64), point);
        self.trials.push(match value {
            Some(value) => Trial::Observed(trial.observe(value).unwrap()),
            None => Trial::Failed(trial.fail("broke")),
        });
    }

    fn view(&self) -> View<'_> {
        View {
            space: &self.space,
            trials: &self.trials,
            costs: None,
            cost_model: self.cost_model,
            history: &self.history,
            spent: 0.0,
            budget: None,
            most_trials: None,
        }
    }

    fn ahead(&self, horizon: f64) -> Forecast {
        forecast(&self.view(), Horizon::Cost(horizon), 1).unwrap()
    }
}

fn bowl(u: &[f64]) -> f64 {
    u.iter().map(|u| (u - 0.4).powi(2)).sum()
}

fn wavy(u: &[f64]) -> f64 {
    u.iter().enumerate().map(|(i, u)| (7.0 * u + i as f64).sin()).sum()
}

#[test]
fn without_values_costs_or_differences_it_says_why_there_is_none() {
    let why = |told: &Told, horizon| forecast(&told.view(), horizon, 1).unwrap_err();
    let ten = Horizon::Cost(10.0);
    let few = Told::new(space(&[1.0]), 4, bowl);
    assert_eq!(why(&few, ten), NoForecast::TooFew { values: 4 });
    assert!(why(&few, ten).to_string().contains("4 of the 5"));
    assert_eq!(why(&Told::new(space(&[1.0]), 9, |_| 2.5), ten), NoForecast::AllEqual);
    assert_eq!(why(&Told::new(space(&[0.0]), 9, bowl), ten), NoForecast::Free);
    let unknown = Space::new([Module::new("new", [Param::float("x", 0.0, 1.0).unwrap()]).unwrap()]).unwrap();
    let unknown = why(&Told::new(unknown, 9, bowl), ten);
    assert_eq!(unknown, NoForecast::UnknownCost { module: "new".into() });
    for horizon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let told = Told::new(space(&[1.0]), 9, bowl);
        assert!(matches!(why(&told, Horizon::Cost(horizon)), NoForecast::Horizon { .. }));
    }
}

#[test]
fn where_everything_was_tried_nothing_is_to_be_gained() {
    let module = Module::new("only", [Param::int("i", 0, 20).unwrap()]).unwrap().cost(Cost::Given(1.0));
    let mut told = Told::new(Space::new([module.unwrap()]).unwrap(), 0, bowl);
    for i in 0..=20 {
        let u = told.space.grid_code(0, i).unwrap();
        told.tell(&[u], Some((i as f64 - 7.0).powi(2)));
    }
    let ahead = told.ahead(10.0);
    assert!(ahead.expected_gain < 1e-3 * ahead.spread, "{ahead:?}");
    assert!(!ahead.extrapolated && ahead.trials == 1);
}

#[test]
fn more_cost_never_gains_less_and_the_first_trial_is_the_next_one() {
    for (costs, n) in [(&[10.0, 3.0, 1.0][..], 30), (&[2.0], 12)] {
        let told = Told::new(space(costs), n, wavy);
        let mut last = 0.0;
        for horizon in [0.01, 0.5, 1.0, 3.0, 10.0, 14.0, 20.0, 40.0, 100.0, 1e3, 1e5, 1e9] {
            let ahead = told.ahead(horizon);
            assert!(ahead.expected_gain >= last, "{horizon}: {ahead:?} after {last}");
            assert!(ahead.expected_gain.is_finite() && ahead.next_gain > 0.0);
            last = ahead.expected_gain;
            assert_eq!(ahead.best_rate, ahead.next_gain / ahead.next_cost);
            assert!(ahead.campaign.rate() >= ahead.best_rate);
        }
        let next = told.ahead(1.0);
        let first = told.ahead(next.next_cost);
        assert!((first.expected_gain - first.next_gain).abs() < 1e-12 * first.next_gain);
        // Even for ever, no more than the places looked at can bring: well inside of what the function has.
        assert!(last < 3.0 * (2 * costs.len()) as f64, "{last}");
        assert!(told.ahead(1e9).extrapolated && !told.ahead(1.0).extrapolated);
    }
}

#[test]
fn the_same_view_gives_the_same_answer_whatever_the_number_of_threads() {
    let told = Told::new(space(&[10.0, 3.0, 1.0]), 25, wavy);
    let here = told.ahead(40.0);
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(alone.install(|| told.ahead(40.0)), here);
    assert_eq!(told.ahead(40.0), here);
}

#[test]
fn gains_are_in_units_of_the_metric_and_costs_in_those_of_the_study() {
    let small = Told::new(space(&[10.0, 1.0]), 20, wavy).ahead(22.0);
    let large = Told::new(space(&[1e3, 1e2]), 20, |u| 5.0 + 8.0 * wavy(u)).ahead(2_200.0);
    for (a, b) in [
        (large.next_gain, 8.0 * small.next_gain),
        (large.expected_gain, 8.0 * small.expected_gain),
        (large.next_cost, 100.0 * small.next_cost),
        (large.incumbent, 5.0 + 8.0 * small.incumbent),
        (large.full_run, 1_100.0),
    ] {
        assert!((a - b).abs() < 1e-6 * b.abs(), "{a} {b}");
    }
}

#[test]
fn followers_of_a_dear_first_trial_are_cheap() {
    // Late values at one early value are known well; everything else is open, since they act together. Of a sum nothing would be left for followers.
    let together = |u: &[f64]| (7.0 * u[0] + 3.0 * u[2]).sin() * (7.0 * u[1] + 3.0 * u[3]).cos();
    let mut told = Told::new(space(&[100.0, 1.0]), 6, together);
    told.cost_model = CostModel::Previous;
    for i in 0..30 {
        let mut u = crate::strategy::parts::design::quasi_random(&told.space, 9, i);
        u[0] = 0.5;
        u[1] = 0.5;
        told.tell(&u, Some(together(&u)));
    }
    // The best late values, and their neighbours.
    for (c, d) in [(0.0, 0.0), (0.04, 0.0), (-0.04, 0.0), (0.0, 0.04), (0.0, -0.04)] {
        let u = [0.5, 0.5, 0.404 + c, 0.929 + d];
        told.tell(&u, Some(together(&u)));
    }
    let ahead = told.ahead(101.0);
    assert!(ahead.campaign.trials > 1, "{ahead:?}");
    assert!(ahead.campaign.rate() > 1.01 * ahead.best_rate, "{ahead:?}");
    // One new value of the first module, and seven of the second after it.
    assert!(ahead.campaign.cost < 2.0 * 101.0, "{ahead:?}");
}

#[test]
fn failures_and_open_trials_are_borne_and_open_ones_are_not_proposed_again() {
    let mut told = Told::new(space(&[10.0, 1.0]), 15, wavy);
    told.tell(&[0.9, 0.9, 0.9, 0.9], None);
    let before = told.ahead(30.0);
    let places = |told: &Told| {
        let view = told.view();
        let model = belief::believed(&view, 1).unwrap().unwrap();
        let (_, lowest) = incumbent(&view, &model).unwrap();
        let costs = StageCosts::of(&view, 1, 1).unwrap();
        places::places(&view, &model, &costs, lowest, 1).unwrap().points
    };
    let point = places(&told).swap_remove(0);
    told.history.record(&told.space, &point).unwrap();
    told.trials.push(Trial::Proposed(Proposed::new(TrialId::new(16), point)));
    let after = told.ahead(30.0);
    assert!(after.next_gain > 0.0 && before.next_gain > 0.0);
    assert_ne!(after, before);
}

#[test]
fn a_lucky_observation_is_not_the_incumbent() {
    let mut told = Told::new(space(&[1.0]), 0, bowl);
    for i in 0..48 {
        let u = crate::strategy::parts::design::quasi_random(&told.space, 7, i / 6);
        told.tell(&u, Some(bowl(&u) + [0.3, -0.1, 0.2, -0.3, 0.1, -0.2][(i * i + i / 6) % 6]));
    }
    let lowest = told.trials.iter().filter_map(Trial::value).fold(f64::INFINITY, f64::min);
    let ahead = told.ahead(10.0);
    assert!(ahead.incumbent > lowest + 0.1, "{lowest}: {ahead:?}");
}

#[test]
fn many_trials_are_thinned_to_the_best_and_the_latest() {
    let told = Told::new(space(&[1.0]), 1_000, wavy);
    let kept = thinned(&told.trials, MOST_MODELLED).unwrap();
    assert_eq!(kept.len(), MOST_MODELLED);
    let lowest = |trials: &[Trial]| trials.iter().filter_map(Trial::value).fold(f64::INFINITY, f64::min);
    assert_eq!(lowest(&kept), lowest(&told.trials));
    assert_eq!(kept.last(), told.trials.last());
    assert!(kept.windows(2).all(|pair| pair[0].id() < pair[1].id()));
    assert_eq!(thinned(&told.trials[..400], MOST_MODELLED), None);
}

#[test]
fn the_spread_is_robust_and_never_vanishes_while_values_differ() {
    assert_eq!(spread(&[1.0, 1e9, 3.0, 2.0, 4.0]), 2.0);
    assert_eq!(spread(&[1.0, 1.0, 1.0, 1.0, 4.0]), 3.0);
    assert_eq!(spread(&[1.0; 6]), 0.0);
    // Many good values later it is what it was.
    let values = |late: usize| [&[5.0, 2.0, 9.0, 1.0, 4.0][..], &vec![1.0; late]].concat();
    assert_eq!((spread(&values(0)), spread(&values(40))), (3.0, 3.0));
}

#[test]
fn failures_by_chance_hardly_change_what_is_expected() {
    let mut told = Told::new(space(&[10.0, 1.0]), 40, bowl);
    let before = told.ahead(30.0);
    for i in 0..5 {
        let u = crate::strategy::parts::design::quasi_random(&told.space, 11, i);
        told.tell(&u, None);
    }
    let after = told.ahead(30.0);
    assert!(after.expected_gain < 2.0 * before.expected_gain, "{before:?} {after:?}");
    assert!((after.incumbent - before.incumbent).abs() < 0.1 * before.spread, "{before:?} {after:?}");
}

#[test]
fn what_is_less_than_half_a_step_is_not_expected() {
    let coarse = |u: &[f64]| (16.0 * bowl(u)).round() / 4.0;
    // The same but for differences that nobody sees: no two values are equal, and nothing is a step.
    let blurred = |u: &[f64]| coarse(u) + 1e-3 * (1e3 * u.iter().sum::<f64>()).sin();
    let ahead = |f: &dyn Fn(&[f64]) -> f64| {
        let mut told = Told::new(space(&[10.0, 1.0]), 60, f);
        // Nothing is below 0, and 0 was found.
        for i in 0..10 {
            let u = [0.4, 0.4, 0.3 + 0.02 * i as f64, 0.4];
            told.tell(&u, Some(f(&u)));
        }
        told.ahead(110.0)
    };
    let (steps, none) = (ahead(&coarse), ahead(&blurred));
    assert!(steps.expected_gain < 0.01 * steps.spread, "{steps:?}");
    assert!(none.expected_gain > 2.0 * steps.expected_gain, "{none:?} {steps:?}");
}
