//! Costs that are measured instead of given, budgets that run out, and costs that nobody knows.

use super::contestants::{all, make, study};
use super::{bowl, spaces};
use stagetune::space::{Cost, CostModel, Module, Param, Point, Space};
use stagetune::strategy::{NAMES, by_name};
use stagetune::study::{Event, StopRules, Study};

/// What stage `m` costs at a point: more where its own first parameter is larger.
fn cost(space: &Space, m: usize, point: &Point) -> f64 {
    let u = space.encode(point).unwrap();
    [40.0, 10.0, 1.0][m] * u[space.module_coordinates(m).start].exp()
}

/// Asks and tells with what each stage that ran has cost; every seventh trial breaks in its second stage.
fn drive(study: &mut Study, trials: usize, cost: impl Fn(usize, &Point) -> f64) -> Vec<Point> {
    let space = study.space().clone();
    let number = study.events().len();
    (0..trials)
        .map_while(|i| {
            if study.stopped().is_some() {
                return None;
            }
            let trial = study.ask().unwrap();
            let point = trial.point().clone();
            let first = study.why(trial.id()).unwrap().first_changed.unwrap_or(2);
            let breaks = (number + i) % 7 == 5;
            let last = if breaks { 1 } else { 2 };
            let stage = |m: usize| (first <= m && m <= last).then(|| cost(m, &point));
            let stages: Vec<Option<f64>> = (0..3).map(stage).collect();
            if breaks {
                study.tell(trial.fail("out of memory").after(1).measured(stages).unwrap()).unwrap();
            } else {
                let value = bowl(&space, &point);
                study.tell(trial.observe(value).unwrap().measured(stages).unwrap()).unwrap();
            }
            Some(point)
        })
        .collect()
}

#[test]
fn measured_costs_are_learnt_under_both_cost_models() {
    let space = spaces::measured();
    for model in [CostModel::Previous, CostModel::Cache] {
        for name in all() {
            let mut study = study(name, &space, 1).cost_model(model).unwrap();
            let points = drive(&mut study, 26, |m, point| cost(&space, m, point));
            assert!(points.iter().all(|point| space.allows(point)), "{name}");
        }
    }
}

#[test]
fn stages_that_cost_nothing_almost_nothing_or_everything_are_survived() {
    let space = spaces::measured();
    for name in all() {
        drive(&mut study(name, &space, 2), 22, |_, _| 0.0);
        drive(&mut study(name, &space, 2), 22, |m, point| 1e-300 * cost(&space, m, point));
        drive(&mut study(name, &space, 2), 22, |m, point| 1e300 * cost(&space, m, point));
    }
}

#[test]
fn a_study_with_measured_costs_and_a_budget_goes_on_where_it_was_cut_off() {
    let space = spaces::measured();
    let new = |name: &str| {
        let rules = StopRules { cost: Some(2_500.0), ..StopRules::default() };
        Study::new(space.clone(), make(name, &space, 3)).stop(rules).unwrap()
    };
    for name in all() {
        let mut live = new(name);
        drive(&mut live, 19, |m, point| cost(&space, m, point));
        let text: Vec<String> = live.events().iter().map(|e| serde_json::to_string(e).unwrap()).collect();
        let events: Vec<Event> = text.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut resumed = new(name).replay(events).unwrap();
        let [resumed, live] =
            [&mut resumed, &mut live].map(|study| drive(study, 5, |m, point| cost(&space, m, point)));
        assert_eq!(resumed, live, "{name}");
    }
}

#[test]
fn a_budget_is_spent_to_its_end() {
    let space = spaces::plain();
    for name in all() {
        for budget in [5.0, 60.0, 250.0] {
            let rules = StopRules { cost: Some(budget), trials: Some(45), ..StopRules::default() };
            let mut study = study(name, &space, 4).stop(rules).unwrap();
            while study.stopped().is_none() {
                let trial = study.ask().unwrap();
                let value = bowl(&space, trial.point());
                study.tell(trial.observe(value).unwrap()).unwrap();
            }
            let account = study.account();
            assert!(account.spent() >= budget || account.charges().len() == 45, "{name}");
        }
    }
}

#[test]
fn unknown_costs_are_refused_by_name_or_not_needed() {
    let module =
        |name: &str, param: &str| Module::new(name, [Param::float(param, 0.0, 1.0).unwrap()]).unwrap();
    let space =
        Space::new([module("load", "a").cost(Cost::Given(3.0)).unwrap(), module("fit", "b")]).unwrap();
    for name in NAMES {
        match by_name(name, &space, 5) {
            Ok(strategy) => {
                let mut study = Study::new(space.clone(), strategy);
                super::drive(&mut study, 18, |_, point| Some(bowl(&space, point)));
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("`fit` is unknown") && text.contains("give it one"), "{name}: {text}");
            }
        }
    }
}
