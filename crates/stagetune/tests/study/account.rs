//! What trials are charged.

use stagetune::space::{Cost, CostModel, StageSet};
use stagetune::study::{MovementRegret, Study};

use crate::script::*;

fn costs(study: &Study) -> Vec<Option<f64>> {
    study.account().charges().iter().map(|charge| charge.cost).collect()
}

const WALK: [[i64; 3]; 5] = [[0, 0, 0], [0, 0, 1], [0, 1, 1], [0, 0, 1], [0, 0, 1]];

#[test]
fn under_previous_only_the_outputs_of_the_last_trial_are_at_hand() {
    let mut study = scripted(given(), &WALK);
    (0..5).for_each(|_| drop(step(&mut study, 0.0)));
    assert_eq!(costs(&study), [Some(111.0), Some(1.0), Some(11.0), Some(11.0), Some(1.0)]);
    let cumulative: Vec<f64> = study.account().charges().iter().map(|charge| charge.cumulative).collect();
    assert_eq!(cumulative, [111.0, 112.0, 123.0, 134.0, 135.0]);
    assert_eq!((study.account().spent(), study.account().unknown()), (135.0, 0));
}

#[test]
fn under_cache_a_prefix_is_paid_for_once() {
    let mut study = scripted(given(), &WALK).cost_model(CostModel::Cache).unwrap();
    (0..5).for_each(|_| drop(step(&mut study, 0.0)));
    assert_eq!(costs(&study), [Some(111.0), Some(1.0), Some(11.0), Some(0.0), Some(0.0)]);
}

#[test]
fn a_failure_is_charged_up_to_the_module_that_broke() {
    let expected = [
        // The second module broke; the first need not run again.
        (CostModel::Previous, [Some(110.0), Some(11.0), Some(111.0)]),
        (CostModel::Cache, [Some(110.0), Some(11.0), Some(111.0)]),
    ];
    for (model, expected) in expected {
        let mut study = scripted(given(), &[[0, 0, 0], [0, 1, 0], [1, 0, 0]]).cost_model(model).unwrap();
        let trial = study.ask().unwrap();
        study.tell(trial.fail("broke").after(1)).unwrap();
        step(&mut study, 0.0);
        step(&mut study, 0.0);
        assert_eq!(costs(&study), expected);
        assert_eq!(study.account().charges()[0].movement.runs, StageSet::first(2));
    }
}

#[test]
fn only_what_broke_must_run_again() {
    for (model, again) in [(CostModel::Previous, 11.0), (CostModel::Cache, 11.0)] {
        let mut study = scripted(given(), &[[0, 0, 0], [0, 0, 0]]).cost_model(model).unwrap();
        let trial = study.ask().unwrap();
        study.tell(trial.fail("broke").after(1)).unwrap();
        step(&mut study, 0.0);
        assert_eq!(costs(&study), [Some(110.0), Some(again)]);
    }
}

#[test]
fn a_failure_without_details_is_charged_the_first_module_that_had_to_run() {
    // The outputs that were at hand before still are.
    let mut study = scripted(given(), &[[0, 0, 0], [0, 1, 0], [0, 2, 0]]);
    step(&mut study, 0.0);
    let trial = study.ask().unwrap();
    study.tell(trial.fail("broke")).unwrap();
    step(&mut study, 0.0);
    assert_eq!(costs(&study), [Some(111.0), Some(10.0), Some(11.0)]);
}

#[test]
fn trials_are_charged_in_the_order_told() {
    let mut study = scripted(given(), &[[0, 0, 0], [0, 0, 1]]);
    let (first, second) = (study.ask().unwrap(), study.ask().unwrap());
    study.tell(second.observe(0.0).unwrap()).unwrap();
    study.tell(first.observe(0.0).unwrap()).unwrap();
    assert_eq!(costs(&study), [Some(111.0), Some(1.0)]);
}

#[test]
fn proposals_count_on_open_trials_until_one_fails() {
    let points = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1], [0, 0, 2]];
    let mut study = scripted(given(), &points).cost_model(CostModel::Cache).unwrap();
    let trials: Vec<_> = (0..3).map(|_| study.ask().unwrap()).collect();
    let expected = |study: &Study, i: usize| study.why(trial_id(i)).unwrap().expected_cost.unwrap();
    assert_eq!([expected(&study, 0), expected(&study, 1), expected(&study, 2)], [111.0, 111.0, 1.0]);
    // The prefix a=1 was being run and is lost; a=0 is still being run.
    study.tell(trials[1].clone().fail("broke")).unwrap();
    study.ask().unwrap();
    study.ask().unwrap();
    assert_eq!([expected(&study, 3), expected(&study, 4)], [111.0, 1.0]);
}

fn trial_id(i: usize) -> stagetune::trial::TrialId {
    stagetune::trial::TrialId::new(i as u64)
}

#[test]
fn what_was_measured_is_what_is_charged() {
    let space = space([Cost::Measured, Cost::Measured, Cost::Given(1.0)]);
    let mut study = scripted(space, &[[0, 0, 0], [0, 1, 0], [0, 2, 0], [1, 0, 0]]);
    let trial = study.ask().unwrap();
    assert_eq!(study.why(trial.id()).unwrap().expected_cost, None);
    study
        .tell(trial.observe(0.0).unwrap().measured(vec![Some(50.0), Some(4.0), Some(0.5)]).unwrap())
        .unwrap();
    let trial = study.ask().unwrap();
    assert_eq!(study.why(trial.id()).unwrap().expected_cost, Some(5.0));
    // It broke in the second module: that is paid for, and says nothing about a whole run.
    study.tell(trial.fail("broke").after(1).measured(vec![None, Some(1.0), None]).unwrap()).unwrap();
    let trial = study.ask().unwrap();
    assert_eq!(study.why(trial.id()).unwrap().expected_cost, Some(5.0));
    study.tell(trial.observe(0.0).unwrap().measured(vec![None, Some(2.0), Some(0.5)]).unwrap()).unwrap();
    let trial = study.ask().unwrap();
    assert_eq!(study.why(trial.id()).unwrap().expected_cost, Some(50.0 + 3.0 + 1.0));
    // Nobody measured this one.
    study.tell(trial.observe(0.0).unwrap()).unwrap();
    assert_eq!(costs(&study), [Some(54.5), Some(1.0), Some(2.5), None]);
    assert_eq!((study.account().spent(), study.account().unknown()), (58.0, 1));
}

#[test]
fn a_cost_is_known_where_the_modules_that_ran_have_one() {
    let space = space([Cost::Unknown, Cost::Given(10.0), Cost::Given(1.0)]);
    let mut study = scripted(space, &[[0, 0, 0], [0, 1, 0]]);
    step(&mut study, 0.0);
    step(&mut study, 0.0);
    assert_eq!(costs(&study), [None, Some(11.0)]);
}

#[test]
fn movement_regret_is_recomputed_from_the_account_with_other_costs() {
    let mut study = scripted(given(), &WALK);
    [3.0, 2.0, 1.0, 1.0, 2.0].into_iter().for_each(|value| drop(step(&mut study, value)));
    let gammas = study.account().movement_costs(&[100.0, 10.0, 0.0]).unwrap();
    assert_eq!(gammas, [110.0, 0.0, 10.0, 10.0, 0.0]);
    let mut regret = MovementRegret::new(0.1, 1.0).unwrap();
    for (charge, gamma) in study.account().charges().iter().zip(gammas) {
        regret.record(charge.value.unwrap(), gamma).unwrap();
    }
    assert_eq!(regret.curve(), [13.0, 14.0, 15.0, 16.0, 17.0]);
    assert_eq!(regret.simple(), Some(0.0));
    assert!(study.account().movement_costs(&[1.0]).is_err());
}
